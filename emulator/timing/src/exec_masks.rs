//! What is known of `exec`, and of the masks that scalar registers keep of it: compilers narrow `exec` for a branch, and
//! restore it behind the branch.

use std::collections::BTreeMap;

use ferrowave_emulator::exec::Facts;
use ferrowave_isa::{Instruction, Op, Operand, Register, Registers, registers};

/// A pair of registers, or the register that a mask of 32 lanes takes.
pub(super) const EXEC: Registers = Registers {
    first: Register::EXEC,
    count: 2,
};

/// A set of the lanes that are active when a wave starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// All of them.
    Full,
    /// Those that the instruction with this number left active when it last ran.
    Kept(usize),
    /// Those that it deactivated.
    Dropped(usize),
    /// Some of them.
    Part,
}

/// What is known before an instruction of a wave.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Masks {
    /// How many registers a mask takes.
    registers: u16,
    /// By the first register.
    known: BTreeMap<Register, Mask>,
    /// For each instruction that deactivated lanes: those that were active before.
    before: BTreeMap<usize, Mask>,
}

impl Masks {
    /// At the first instruction of a wave with this many lanes.
    pub(super) fn at_start(lanes: u32) -> Self {
        Masks {
            registers: lanes.div_ceil(32) as u16,
            known: BTreeMap::from([(Register::EXEC, Mask::Full)]),
            before: BTreeMap::new(),
        }
    }

    /// `exec`, if it has no other lanes than at the wave's start.
    pub(super) fn exec(&self) -> Option<Mask> {
        self.known.get(&Register::EXEC).copied()
    }

    fn of(&self, operand: &Operand) -> Option<Mask> {
        match operand.constant() {
            Some(0) => Some(Mask::Part),
            _ => self.known.get(&registers(operand)?.first).copied(),
        }
    }

    /// Keeps what is known here and there, and says whether that changed anything. Compilers merge equal ends of branches,
    /// so that the same registers may hold what different instructions kept and dropped.
    pub(super) fn keep_common(&mut self, other: &Masks) -> bool {
        let old = self.clone();
        // The number here of an instruction there.
        let mut names = BTreeMap::new();
        self.known.retain(|register, mask| {
            let there = other.known.get(register);
            if let Some(&there) = there
                && !old.is_same(*mask, other, there, &mut names)
            {
                *mask = Mask::Part;
            }
            there.is_some()
        });
        self.before
            .retain(|number, _| names.values().any(|name| name == number));
        *self != old
    }

    /// Whether a mask is the same as one there, if instructions there have other numbers.
    fn is_same(
        &self,
        here: Mask,
        other: &Masks,
        there: Mask,
        names: &mut BTreeMap<usize, usize>,
    ) -> bool {
        match (here, there) {
            (Mask::Kept(a), Mask::Kept(b)) | (Mask::Dropped(a), Mask::Dropped(b)) => {
                if let Some(&name) = names.get(&b) {
                    return name == a;
                }
                let is_new = names.values().all(|&name| name != a)
                    && self.is_same(self.before(a), other, other.before(b), names);
                if is_new {
                    names.insert(b, a);
                }
                is_new
            }
            _ => here == there,
        }
    }

    /// The lanes in either.
    fn union(&self, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            _ if self.is_within(a, b) => b,
            _ if self.is_within(b, a) => a,
            (Mask::Kept(by), Mask::Dropped(other)) | (Mask::Dropped(by), Mask::Kept(other))
                if by == other =>
            {
                self.before(by)
            }
            _ => Mask::Part,
        }
    }

    /// The lanes of `a` that are not in `b`.
    fn without(&self, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            (Mask::Kept(by), Mask::Dropped(other)) | (Mask::Dropped(by), Mask::Kept(other))
                if by == other =>
            {
                a
            }
            (_, Mask::Kept(by)) if a == self.before(by) && a != Mask::Part => Mask::Dropped(by),
            (_, Mask::Dropped(by)) if a == self.before(by) && a != Mask::Part => Mask::Kept(by),
            _ => Mask::Part,
        }
    }

    fn before(&self, number: usize) -> Mask {
        self.before.get(&number).copied().unwrap_or(Mask::Part)
    }

    /// Whether all lanes of `a` are known to be in `b`.
    fn is_within(&self, mut a: Mask, b: Mask) -> bool {
        if b == Mask::Full {
            return true;
        }
        // Each step leads to an instruction that ran earlier.
        for _ in 0..=self.before.len() {
            match a {
                Mask::Part | Mask::Full => return false,
                _ if a == b => return true,
                Mask::Kept(by) | Mask::Dropped(by) => a = self.before(by),
            }
        }
        false
    }

    /// The lanes that an instruction leaves active. Nothing has its number before: [`Self::keep_common`] keeps the numbers
    /// of the way on which the instruction is first reached.
    fn narrow(&mut self, number: usize, exec: Option<Mask>) -> Option<Mask> {
        self.before.insert(number, exec?);
        Some(Mask::Kept(number))
    }

    /// Runs the instruction with a number.
    pub(super) fn run(&mut self, number: usize, i: &Instruction, facts: &Facts) {
        let [exec, a, b] = [self.exec(), self.of(&i.src[0]), self.of(&i.src[1])];
        let union = |a: Option<Mask>, b: Option<Mask>| Some(self.union(a?, b?));
        // The result, and `exec` if that is another one.
        let (result, new_exec) = match i.op {
            Op::s_mov_b32 | Op::s_mov_b64 => (a, None),
            Op::s_or_b32 | Op::s_or_b64 => (union(a, b), None),
            Op::s_andn2_b32 | Op::s_andn2_b64 => {
                let exact = a.zip(b).map(|(a, b)| self.without(a, b));
                (exact.or(a.and(Some(Mask::Part))), None)
            }
            Op::s_and_b32 | Op::s_and_b64 => (a.or(b).and(Some(Mask::Part)), None),
            Op::s_xor_b32 | Op::s_xor_b64 => {
                let difference = a.zip(b).map(|(a, b)| {
                    if self.is_within(a, b) {
                        self.without(b, a)
                    } else if self.is_within(b, a) {
                        self.without(a, b)
                    } else {
                        Mask::Part
                    }
                });
                (difference, None)
            }
            Op::s_and_saveexec_b32 | Op::s_and_saveexec_b64 => {
                (exec, Some(self.narrow(number, exec)))
            }
            Op::s_andn2_saveexec_b64 | Op::s_and_not1_saveexec_b32 => {
                let new = a.zip(exec).map(|(a, exec)| self.without(a, exec));
                (exec, Some(new))
            }
            Op::s_or_saveexec_b32 | Op::s_or_saveexec_b64 => (exec, Some(union(a, exec))),
            // The bits of inactive lanes are 0.
            _ if i.writes_exec() && i.is_vector() => {
                (Some(Mask::Part), Some(self.narrow(number, exec)))
            }
            _ if i.is_vector() && i.compares() => (Some(Mask::Part), None),
            _ => (None, None),
        };
        let count = self.registers;
        for &written in &facts.uses.writes {
            self.known
                .retain(|&first, _| !written.overlap(Registers { first, count }));
            let mask = match new_exec {
                Some(new) if written.overlap(EXEC) => new,
                _ => result,
            };
            if let Some(mask) = mask
                && written.count == count
                && written.first != Register::SCC
            {
                self.known.insert(written.first, mask);
            }
        }
    }
}
