//! How an instruction treats undefined registers, computed once per launch.

use super::{
    conditions::{Effect, is_exec},
    definedness::{Cut, cut, merge},
};
use ferrowave_emulator::exec::Facts;
use ferrowave_isa::{Category, Instruction, Op, Register, Registers, Relative};

/// How an instruction's results depend on its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Each lane of the results depends on the same lane of the sources, and whole registers are written.
    Lanes,
    /// Any other computation: across lanes, keeping bits, on scalars.
    Compute,
    /// The results come from memory.
    Load,
    /// The results are always defined.
    Define,
}

/// The properties of an instruction for this check.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) action: Action,
    /// All registers that it reads or writes, except `exec` and registers that it names but does not use.
    touched: Box<[Cut]>,
    /// Whether it compares its first two sources.
    pub(super) compares: bool,
    /// The registers whose numbers `m0` changes.
    pub(super) relative: Option<Relative>,
    /// Its effect on conditions.
    pub(super) condition: Option<Effect>,
}

impl Plan {
    pub(super) fn touched(&self) -> &[Cut] {
        &self.touched
    }
}

/// Creates the plan of an instruction.
pub(super) fn plan(i: &Instruction, facts: &Facts) -> Plan {
    let mut touched: Vec<Cut> = Vec::new();
    let reads = facts.uses.reads.iter().map(|read| read.registers);
    let all = reads.chain(facts.uses.writes.iter().copied());
    let all = all.filter(|r| !is_exec(*r));
    merge(&mut touched, all.flat_map(cut));
    for register in idle(i, facts) {
        let one = Registers {
            first: register,
            count: 1,
        };
        for (idle, bit) in cut(one) {
            let words = touched.iter_mut().filter(|(word, _)| *word == idle);
            words.for_each(|(_, bits)| *bits &= !bit);
        }
    }
    Plan {
        relative: i.relative(),
        condition: Effect::of(facts),
        action: action(i, facts),
        touched: touched.into(),
        compares: i.compares(),
    }
}

/// Registers that an instruction names but does not use. With `op_sel`, packed f32 arithmetic takes the factors of both
/// operations from the same half of a pair (CDNA3 ISA guide, «Packed math»). The other half does not matter, and
/// compilers leave it undefined.
fn idle(i: &Instruction, facts: &Facts) -> Vec<Register> {
    let is_packed = matches!(i.op, Op::v_pk_fma_f32 | Op::v_pk_mul_f32 | Op::v_pk_add_f32);
    if !is_packed {
        return Vec::new();
    }
    let halves = facts.uses.reads.iter().filter_map(|read| {
        let slot = read.slot?;
        let [low, high] = [i.modifiers.op_sel, i.modifiers.op_sel_hi].map(|s| s >> slot & 1);
        let is_one = low == high && read.registers.count == 2 && read.registers.first.is_vector();
        is_one.then(|| Register(read.registers.first.0 + u16::from(1 - low)))
    });
    let mut idle: Vec<Register> = halves.collect();
    idle.retain(|register| {
        let reads = facts.uses.reads.iter().filter(|read| {
            // Another operand uses the register.
            read.registers.contains(*register)
                && !read.slot.is_some_and(|slot| {
                    let first = read.registers.first.0;
                    let low = i.modifiers.op_sel >> slot & 1;
                    let high = i.modifiers.op_sel_hi >> slot & 1;
                    low == high && register.0 == first + u16::from(1 - low)
                })
        });
        reads.count() == 0 && !facts.uses.writes.iter().any(|w| w.contains(*register))
    });
    idle
}

fn action(i: &Instruction, facts: &Facts) -> Action {
    match facts.category {
        _ if i.relative().is_some() => Action::Define,
        Category::Scalar => Action::Compute,
        Category::Vector if i.crosses_lanes() || facts.uses.partial => Action::Compute,
        Category::Vector => Action::Lanes,
        Category::Matrix => Action::Compute,
        Category::Lds if i.crosses_lanes() => Action::Compute,
        Category::Lds | Category::VectorMemory | Category::ScalarMemory => Action::Load,
        Category::Branch | Category::Barrier | Category::Wait | Category::Control => Action::Define,
    }
}
