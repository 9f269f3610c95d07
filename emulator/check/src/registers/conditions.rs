//! Which scalar registers hold conditions that depend on lanes.
//!
//! Compilers use `vcc` for conditions of whole waves and of lanes; the computation of the mask distinguishes them.

use ferrowave_emulator::exec::{Facts, Wave};
use ferrowave_isa::{Category, Register, Registers};

/// Codes of scalar registers, one bit each. Without `scc`, whose conditions are always per wave.
type Codes = u128;

fn codes(registers: impl Iterator<Item = Registers>) -> Codes {
    registers
        .filter(|registers| !is_exec(*registers))
        .flat_map(Registers::iter)
        .filter(|register| !register.is_vector() && *register != Register::SCC)
        .fold(0, |codes, register| {
            codes | 1 << (register.0 - Register::SCALARS)
        })
}

/// The effect of an instruction on conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    reads: Codes,
    writes: Codes,
    /// Whether it computes a mask from lanes.
    from_lanes: bool,
}

impl Effect {
    /// `None` if it writes no scalar register.
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        let writes = codes(facts.uses.writes.iter().copied());
        let single = facts.uses.writes.iter().all(|written| written.count == 1);
        (writes != 0).then(|| Effect {
            reads: codes(facts.uses.reads.iter().map(|read| read.registers)),
            writes,
            // A value read from one lane (`v_readlane`) is per wave.
            from_lanes: facts.category == Category::Vector && !single,
        })
    }
}

/// The scalar registers that depend on lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conditions(Codes);

impl Conditions {
    /// The wave is about to run an instruction.
    pub(super) fn before(&mut self, effect: Effect, facts: &Facts, wave: &Wave) {
        let of_lanes = self.0 & effect.reads != 0
            || effect.from_lanes
                && facts
                    .uses
                    .reads
                    .iter()
                    .flat_map(|read| read.registers.iter())
                    .any(|register| register.is_vector() && varies(register, wave));
        if of_lanes {
            self.0 |= effect.writes;
        } else {
            self.0 &= !effect.writes;
        }
    }

    /// Whether `vcc` depends on lanes.
    pub(super) fn vcc(self) -> bool {
        self.0 >> (Register::VCC.0 - Register::SCALARS) & 3 != 0
    }
}

/// Whether active lanes hold different values.
fn varies(register: Register, wave: &Wave) -> bool {
    let lanes = wave.lanes(register.0).as_array();
    let mut active = wave.active_lanes();
    let first = active.next().map(|lane| lanes[lane]);
    active.any(|lane| Some(lanes[lane]) != first)
}

/// Whether the registers are `exec`, which is always defined.
pub(super) fn is_exec(registers: Registers) -> bool {
    registers.contains(Register::EXEC) || registers.first == Register(Register::EXEC.0 + 1)
}
