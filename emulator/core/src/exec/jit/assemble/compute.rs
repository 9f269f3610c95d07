//! Host code for the arithmetic on a chunk's values.

use super::{Assembler, FILE, MASKS, Source, Vectors, at, vectors::Fused};
use crate::exec::{
    jit::ir::{Id, Operator, Step, Value},
    wave::Lanes,
};

impl<V: Vectors> Assembler<'_, V> {
    /// The code for one chunk.
    pub(super) fn chunk(&mut self) -> Option<()> {
        for number in 0..self.region.steps.len() {
            self.free_slots.append(&mut self.left_slots);
            match self.region.steps[number] {
                Step::Compute(id) if self.needed[id as usize] => self.compute(id, number)?,
                Step::Compute(_) => {}
                Step::Load(load) => {
                    self.load(load, number)?;
                }
            }
        }
        V::leave_if_nan(&mut self.out)?;
        let written = self.written;
        for &(register, id) in &written.registers {
            let from = self.found(id)?;
            let memory = at(FILE, i64::from(register) * size_of::<Lanes>() as i64);
            V::store(&mut self.out, memory, from)?;
        }
        for &(mask, id) in &written.masks {
            let flags = self.found(id)?;
            V::test(&mut self.out, flags)?;
            V::store_mask(&mut self.out, at(MASKS, 4 * i64::from(mask)))?;
        }
        Some(())
    }

    /// A register with a value that is used for the last time.
    fn found(&mut self, id: Id) -> Option<usize> {
        if let Some(place) = self.place[id as usize] {
            return Some(place);
        }
        let memory = self.home(id)?;
        V::fill(&mut self.out, V::SPARE, memory)?;
        Some(V::SPARE)
    }

    fn compute(&mut self, id: Id, number: usize) -> Option<()> {
        let sources = self.region.sources(id).to_vec();
        let result = match self.region.values[id as usize] {
            Value::Computed(Operator::FmaF32, [a, b, c]) => self.fma(id, number, [a, b, c])?,
            Value::Computed(Operator::Copy, [a, ..]) => {
                let memory = self.home(a)?;
                let result = self.take(id, &[])?;
                V::fill(&mut self.out, result, memory)?;
                self.used(&sources, number);
                result
            }
            Value::Computed(Operator::Compare(relation), [a, b, _]) => {
                let first = self.ensure(a, &[])?;
                let second = self.source(b, &[first])?;
                V::compare(&mut self.out, first, relation, second)?;
                self.used(&sources, number);
                let result = self.take(id, &[])?;
                V::flags(&mut self.out, result)?;
                result
            }
            Value::Computed(Operator::MulHigh, [a, b, _]) => {
                let first = self.ensure(a, &[])?;
                let second = self.ensure(b, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &[first, second])?;
                V::mul_high(&mut self.out, result, first, second)?;
                result
            }
            Value::Flags(mask) => {
                V::load_mask(&mut self.out, at(MASKS, 4 * i64::from(mask)))?;
                let result = self.take(id, &[])?;
                V::flags(&mut self.out, result)?;
                result
            }
            Value::SelectedBy([flags, yes, no]) => {
                let flags = self.ensure(flags, &[])?;
                let first = self.ensure(no, &[flags])?;
                let second = self.source(yes, &[flags, first])?;
                V::test(&mut self.out, flags)?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                V::blend(&mut self.out, result, first, second)?;
                result
            }
            Value::Computed(operator, [a, b, _]) => {
                let (mut a, mut b) = (a, b);
                if operator.commutes() && self.place[a as usize].is_none() {
                    (a, b) = (b, a);
                }
                let first = self.ensure(a, &[])?;
                let second = self.source(b, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                V::binary(&mut self.out, operator, result, first, second)?;
                result
            }
            Value::Selected(mask, [yes, no]) => {
                let first = self.ensure(no, &[])?;
                let second = self.source(yes, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                V::load_mask(&mut self.out, at(MASKS, 4 * i64::from(mask)))?;
                V::blend(&mut self.out, result, first, second)?;
                result
            }
            Value::Register(_) | Value::Scalar(_) | Value::Constant(_) | Value::Loaded { .. } => {
                return None;
            }
        };
        if self.is_to_be_checked(id) {
            V::note_nans(&mut self.out, result)?;
        }
        Some(())
    }

    /// Whether a value must be checked for NaN. If only float operations use it, its NaN reaches a later check.
    fn is_to_be_checked(&self, id: Id) -> bool {
        let is_float = |id: Id| matches!(self.region.values[id as usize], Value::Computed(operator, _) if operator.is_float());
        let by_float = |&number: &usize| match self.region.steps.get(number) {
            Some(&Step::Compute(user)) => is_float(user),
            Some(Step::Load(_)) | None => false,
        };
        is_float(id) && !self.uses[id as usize].iter().all(by_float)
    }

    /// `a * b + c`, in the register of a source that is used for the last time, if there is one.
    fn fma(&mut self, id: Id, number: usize, [a, b, c]: [Id; 3]) -> Option<usize> {
        let (mut a, mut b) = (a, b);
        let ends = |this: &Self, id: Id| this.place[id as usize].is_some() && this.dies(id, number);
        if ends(self, c) && c != a && c != b {
            if self.place[a as usize].is_none() {
                (a, b) = (b, a);
            }
            let sum = self.place[c as usize]?;
            let first = self.ensure(a, &[sum])?;
            let second = self.source(b, &[sum, first])?;
            V::fma(&mut self.out, Fused::Sum, sum, first, second)?;
            self.used(&[a, b, c], number);
            self.hold(sum, id);
            return Some(sum);
        }
        if ends(self, b) && !ends(self, a) {
            (a, b) = (b, a);
        }
        if ends(self, a) && a != b && a != c {
            let factor = self.place[a as usize]?;
            let first = self.ensure(b, &[factor])?;
            let second = self.source(c, &[factor, first])?;
            V::fma(&mut self.out, Fused::Factor, factor, first, second)?;
            self.used(&[a, b, c], number);
            self.hold(factor, id);
            return Some(factor);
        }
        if self.place[a as usize].is_none() {
            (a, b) = (b, a);
        }
        let first = self.ensure(a, &[])?;
        let second = self.source(b, &[first])?;
        let sum = match self.place[c as usize] {
            Some(register) => Source::Register(register),
            None => Source::Memory(self.home(c)?),
        };
        let mut all = kept(first, second);
        all.extend(kept(first, sum));
        let result = self.take(id, &all)?;
        match sum {
            Source::Register(sum) => V::copy(&mut self.out, result, sum)?,
            Source::Memory(memory) => V::fill(&mut self.out, result, memory)?,
        }
        V::fma(&mut self.out, Fused::Sum, result, first, second)?;
        self.used(&[a, b, c], number);
        Some(result)
    }
}

/// Registers that an instruction still reads.
fn kept(first: usize, second: Source) -> Vec<usize> {
    match second {
        Source::Register(second) => vec![first, second],
        Source::Memory(_) => vec![first],
    }
}
