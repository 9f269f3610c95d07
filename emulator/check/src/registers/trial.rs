//! Computes which result bits depend on undefined bits: runs the instruction several times on a copy of the wave, with
//! other values in place of the undefined bits. Result bits that differ are undefined.
//!
//! So the semantics of instructions are not described a second time. Results that do not depend on an undefined source
//! are defined: a lane that a mask takes from elsewhere, `x ^ x`, the rows of a matrix product. A trial may miss a
//! dependence that few values show; it never reports a false one.

use super::{conditions::is_exec, definedness::Definedness};
use crate::Step;
use ferrowave_emulator::exec::{Context, Flow, LANES, Lanes, Wave, run_one};
use ferrowave_isa::{Instruction, Operand, Register, Registers, Source, registers};

/// The values in place of undefined bits.
#[derive(Clone, Copy)]
enum Pattern {
    /// The same value everywhere.
    All(u32),
    /// A different value in each register and lane.
    Mixed(u32),
    /// The value with which the register is compared.
    Other,
}

const PATTERNS: [Pattern; 4] = [
    Pattern::All(0),
    Pattern::All(!0),
    Pattern::Mixed(1),
    Pattern::Mixed(2),
];

/// Additional patterns for comparisons: numbers that are large in every format, of both signs, and the other operand.
const COMPARED: [Pattern; 3] = [
    Pattern::All(0x7bff_7bff),
    Pattern::All(0xfbff_fbff),
    Pattern::Other,
];

/// Buffers for trials.
pub(super) struct Trial {
    wave: Wave,
    /// The results of the first run.
    vectors: Vec<Lanes>,
    scalars: Vec<u32>,
    /// The result bits that differed in other runs.
    vector_bits: Vec<[u32; LANES]>,
    scalar_bits: Vec<u32>,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Lanes of `exec` that depend on undefined bits.
    pub(super) exec: u64,
}

impl Trial {
    pub(super) fn new() -> Self {
        Trial {
            wave: Wave::default(),
            vectors: Vec::new(),
            scalars: Vec::new(),
            vector_bits: Vec::new(),
            scalar_bits: Vec::new(),
        }
    }

    /// Tries the instruction that `wave` is about to run, and marks the undefined bits of its results in `state`.
    pub(super) fn run(
        &mut self,
        step: &Step<'_>,
        compares: bool,
        wave: &Wave,
        context: &Context<'_>,
        state: &mut Definedness,
    ) -> Outcome {
        let uses = &step.facts.uses;
        let mut context = Context::new(context.code, context.memory, &mut []);
        let instruction = context.code.instruction(step.index);
        let (mut outcome, mut first_exec) = (Outcome::default(), None);
        let more: &[Pattern] = if compares { &COMPARED } else { &[] };
        for (number, &pattern) in PATTERNS.iter().chain(more).enumerate() {
            self.prepare(step, wave);
            let all = uses.reads.iter().map(|read| read.registers);
            for registers in all.chain(uses.writes.iter().copied()) {
                self.perturb(registers, pattern, wave, state, instruction);
            }
            let flow = run_one(&mut self.wave, &mut context, step.index);
            if !matches!(flow, Flow::Next | Flow::Changed) {
                // The instruction cannot run here: its results count as defined.
                for register in uses.writes.iter().flat_map(|r| r.iter()) {
                    state.define(register, !0);
                }
                return Outcome::default();
            }
            let exec = *first_exec.get_or_insert(self.wave.exec);
            outcome.exec |= exec ^ self.wave.exec;
            self.compare(&uses.writes, number == 0);
        }
        self.put(&uses.writes, state);
        outcome
    }

    /// Copies the state that the instruction may read.
    fn prepare(&mut self, step: &Step<'_>, wave: &Wave) {
        let copy = &mut self.wave;
        copy.pc = step.index + 1;
        copy.copy_scalar_state(wave);
        let uses = &step.facts.uses;
        let all = uses.reads.iter().map(|read| read.registers);
        for register in all
            .chain(uses.writes.iter().copied())
            .flat_map(Registers::iter)
            .filter(|register| register.is_vector())
        {
            *copy.lanes_mut(register.0) = *wave.lanes(register.0);
        }
    }

    /// Replaces undefined bits by a pattern.
    fn perturb(
        &mut self,
        registers: Registers,
        pattern: Pattern,
        wave: &Wave,
        state: &Definedness,
        instruction: Option<&Instruction>,
    ) {
        if is_exec(registers) {
            return;
        }
        for (word, register) in registers.iter().enumerate() {
            let value = |lane: usize| match pattern {
                Pattern::All(bits) => bits,
                Pattern::Mixed(seed) => mixed(register, lane, seed),
                Pattern::Other => instruction
                    .and_then(|i| other(i, registers))
                    .map_or(0, |operand| word_of(operand, word, lane, wave)),
            };
            let swap = |old: u32, bits: u32, new: u32| old & !bits | new & bits;
            if register.is_vector() {
                let copy = self.wave.lanes_mut(register.0).as_mut_array();
                let mut left = state.lanes(register);
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    copy[lane] = swap(copy[lane], state.lane(register, lane), value(lane));
                }
                continue;
            }
            let bits = state.scalar(register);
            if bits == 0 {
                continue;
            }
            if register == Register::SCC {
                self.wave.scc = value(0) & 1 == 1;
            } else {
                let code = register.0 - Register::SCALARS;
                let new = swap(self.wave.scalar(code), bits, value(0));
                self.wave.set_scalar(code, new);
            }
        }
    }

    fn result(&self, register: Register) -> u32 {
        match register {
            Register::SCC => u32::from(self.wave.scc),
            _ => self.wave.scalar(register.0 - Register::SCALARS),
        }
    }

    /// Keeps the results of the first run, and the bits that differ in another run.
    fn compare(&mut self, writes: &[Registers], first: bool) {
        if first {
            self.vectors.clear();
            self.vector_bits.clear();
            self.scalars.clear();
            self.scalar_bits.clear();
        }
        let (mut vector, mut scalar) = (0, 0);
        for register in writes.iter().flat_map(|r| r.iter()) {
            if register.is_vector() {
                let lanes = *self.wave.lanes(register.0);
                if first {
                    self.vectors.push(lanes);
                    self.vector_bits.push([0; LANES]);
                } else {
                    let (old, new) = (self.vectors[vector].as_array(), lanes.as_array());
                    let all = self.vector_bits[vector].iter_mut().zip(old.iter().zip(new));
                    for (bits, (old, new)) in all {
                        *bits |= old ^ new;
                    }
                }
                vector += 1;
            } else {
                let value = self.result(register);
                if first {
                    self.scalars.push(value);
                    self.scalar_bits.push(0);
                } else {
                    self.scalar_bits[scalar] |= self.scalars[scalar] ^ value;
                }
                scalar += 1;
            }
        }
    }

    fn put(&self, writes: &[Registers], state: &mut Definedness) {
        let (mut vectors, mut scalars) = (self.vector_bits.iter(), self.scalar_bits.iter());
        for register in writes.iter().flat_map(|r| r.iter()) {
            if register.is_vector() {
                if let Some(bits) = vectors.next() {
                    state.set_vector(register, bits);
                }
            } else if let Some(&bits) = scalars.next()
                && !matches!(register.0 - Register::SCALARS, 126 | 127)
            {
                state.set_scalar(register, bits);
            }
        }
    }
}

/// A deterministic pseudo-random number.
fn mixed(register: Register, lane: usize, seed: u32) -> u32 {
    let number = (u64::from(register.0) << 6 | lane as u64) << 8 | u64::from(seed);
    let product = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((product ^ product >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// The operand with which `compared` is compared.
fn other(i: &Instruction, compared: Registers) -> Option<&Operand> {
    let [a, b, ..] = &i.src;
    match (registers(a), registers(b)) {
        (Some(a), _) if a == compared => Some(b),
        (_, Some(b)) if b == compared => Some(a),
        _ => None,
    }
}

/// A 32-bit word of an operand.
fn word_of(operand: &Operand, word: usize, lane: usize, wave: &Wave) -> u32 {
    let at = word as u16;
    match operand.source {
        Source::Vgpr(_) | Source::Agpr(_) => registers(operand).map_or(0, |registers| {
            wave.lanes(registers.first.0 + at).as_array()[lane]
        }),
        Source::Sgpr(code) => wave.scalar(code + at),
        _ => (operand.constant().unwrap_or(0) >> (32 * (word & 1))) as u32,
    }
}
