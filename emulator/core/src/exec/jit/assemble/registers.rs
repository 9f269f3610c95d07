//! Where values are: in a host register, on the stack, or where they came from.

use iced_x86::MemoryOperand;

use super::{Assembler, FILE, SCALARS, Source, Vectors, at, spread};
use crate::exec::{
    jit::ir::{Id, Value},
    wave::Lanes,
};

impl<V: Vectors> Assembler<'_, V> {
    fn next_use(&self, id: Id) -> usize {
        self.uses[id as usize].last().copied().unwrap_or(usize::MAX)
    }

    /// The memory that holds a value.
    pub(super) fn home(&mut self, id: Id) -> Option<MemoryOperand> {
        match self.region.values[id as usize] {
            Value::Register(register) => {
                Some(at(FILE, i64::from(register) * size_of::<Lanes>() as i64))
            }
            Value::Scalar(register) => Some(spread(SCALARS, 4 * i64::from(register))),
            Value::Constant(value) => Some(self.out.constant(value)),
            Value::Computed(..)
            | Value::Selected(..)
            | Value::SelectedBy(_)
            | Value::Flags(_)
            | Value::Loaded { .. } => {
                let slot = self.slot[id as usize]?;
                Some(self.stack(slot, 0))
            }
        }
    }

    fn free_register(&self) -> Option<usize> {
        self.holds.iter().position(Option::is_none)
    }

    /// A host register for a value, none of `kept`.
    pub(super) fn take(&mut self, id: Id, kept: &[usize]) -> Option<usize> {
        let register = match self.free_register() {
            Some(register) => register,
            None => self.evict(kept)?,
        };
        self.hold(register, id);
        Some(register)
    }

    pub(super) fn hold(&mut self, register: usize, id: Id) {
        self.holds[register] = Some(id);
        self.place[id as usize] = Some(register);
    }

    /// Frees the register whose value is needed last.
    fn evict(&mut self, kept: &[usize]) -> Option<usize> {
        let (register, id) = (0..V::HELD)
            .filter(|register| !kept.contains(register))
            .filter_map(|register| Some((register, self.holds[register]?)))
            .max_by_key(|&(_, id)| self.next_use(id))?;
        if self.home(id).is_none() {
            let slot = self.take_slot();
            self.slot[id as usize] = Some(slot);
            let memory = self.stack(slot, 0);
            V::store(&mut self.out, memory, register)?;
        }
        self.place[id as usize] = None;
        self.holds[register] = None;
        Some(register)
    }

    /// Puts a value in a host register.
    pub(super) fn ensure(&mut self, id: Id, kept: &[usize]) -> Option<usize> {
        if let Some(register) = self.place[id as usize] {
            return Some(register);
        }
        let memory = self.home(id)?;
        let register = self.take(id, kept)?;
        V::fill(&mut self.out, register, memory)?;
        Some(register)
    }

    /// A value as an instruction's last source, which may be in memory.
    pub(super) fn source(&mut self, id: Id, kept: &[usize]) -> Option<Source> {
        if let Some(register) = self.place[id as usize] {
            return Some(Source::Register(register));
        }
        let again = self.uses[id as usize].len() > 1;
        if again && self.free_register().is_some() {
            return Some(Source::Register(self.ensure(id, kept)?));
        }
        Some(Source::Memory(self.home(id)?))
    }

    /// Whether step `number` is the last to use a value.
    pub(super) fn dies(&self, id: Id, number: usize) -> bool {
        self.uses[id as usize].first() == Some(&number)
    }

    /// Removes the uses by step `number`, and frees values that are not used again.
    pub(super) fn used(&mut self, ids: &[Id], number: usize) {
        for &id in ids {
            let uses = &mut self.uses[id as usize];
            while uses.last() == Some(&number) {
                uses.pop();
            }
            if uses.is_empty() {
                self.forget(id);
            }
        }
    }

    fn forget(&mut self, id: Id) {
        if let Some(register) = self.place[id as usize].take() {
            self.holds[register] = None;
        }
        if let Some(slot) = self.slot[id as usize].take() {
            self.left_slots.push(slot);
        }
    }
}
