//! Host code for the arithmetic on a chunk's values.

use iced_x86::{Code as X, Instruction as Host, MemoryOperand, Register as R};

use super::{Assembler, FILE, MASKS, SPARE, Source, UNORDERED, at, zmm};
use crate::exec::{
    jit::ir::{Id, Operator, Step, Value},
    wave::Lanes,
};

/// The host instruction of an operator with two sources.
fn instruction(operator: Operator) -> Option<X> {
    Some(match operator {
        Operator::AddF32 => X::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        Operator::SubF32 => X::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        Operator::MulF32 => X::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        Operator::Add => X::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        Operator::Sub => X::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        Operator::Mul => X::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        Operator::And => X::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
        Operator::Or => X::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        Operator::Xor => X::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        Operator::ShiftLeft => X::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
        Operator::ShiftRight => X::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        Operator::ShiftRightSigned => X::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        Operator::Min => X::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        Operator::Max => X::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        Operator::MinSigned => X::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        Operator::MaxSigned => X::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        Operator::Copy | Operator::FmaF32 | Operator::MulHigh | Operator::Compare(_) => {
            return None;
        }
    })
}

impl Assembler<'_> {
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
        self.emit(Host::with2(X::VEX_Kortestw_kr_kr, R::K7, R::K7))?;
        self.jump(X::Jne_rel32_64, self.bail)?;
        let written = self.written;
        for &(register, id) in &written.registers {
            let from = self.found(id)?;
            let memory = at(FILE, i64::from(register) * size_of::<Lanes>() as i64);
            self.emit(Host::with2(
                X::EVEX_Vmovdqa32_zmmm512_k1z_zmm,
                memory,
                zmm(from),
            ))?;
        }
        for &(mask, id) in &written.masks {
            let flags = self.found(id)?;
            self.test(R::K1, flags)?;
            let memory = at(MASKS, 4 * i64::from(mask));
            self.emit(Host::with2(X::VEX_Kmovw_m16_kr, memory, R::K1))?;
        }
        Some(())
    }

    /// A register with a value that is used for the last time.
    fn found(&mut self, id: Id) -> Option<usize> {
        if let Some(place) = self.place[id as usize] {
            return Some(place);
        }
        let memory = self.home(id)?;
        self.fill(SPARE, memory)?;
        Some(SPARE)
    }

    /// A mask of the lanes that are not 0.
    pub(super) fn test(&mut self, mask: R, lanes: usize) -> Option<()> {
        let code = X::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
        self.emit(Host::with3(code, mask, zmm(lanes), zmm(lanes)))
    }

    /// Copies memory into a register for the lanes of `k1`, and 0 into the others.
    fn fill_masked(&mut self, register: usize, memory: MemoryOperand) -> Option<()> {
        self.fill(register, memory)?;
        let last = self.host.last_mut()?;
        last.set_op_mask(R::K1);
        last.set_zeroing_masking(true);
        Some(())
    }

    pub(super) fn three(
        &mut self,
        code: X,
        result: usize,
        first: usize,
        second: Source,
    ) -> Option<()> {
        self.emit(match second {
            Source::Register(second) => Host::with3(code, zmm(result), zmm(first), zmm(second)),
            Source::Memory(memory) => Host::with3(code, zmm(result), zmm(first), memory),
        })
    }

    /// Lanes of the second source where `k1` is 1, else of the first.
    fn blend(&mut self, result: usize, first: usize, second: Source) -> Option<()> {
        let code = X::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
        self.three(code, result, first, second)?;
        self.host.last_mut()?.set_op_mask(R::K1);
        Some(())
    }

    fn compute(&mut self, id: Id, number: usize) -> Option<()> {
        let sources = self.region.sources(id).to_vec();
        let result = match self.region.values[id as usize] {
            Value::Computed(Operator::FmaF32, [a, b, c]) => self.fma(id, number, [a, b, c])?,
            Value::Computed(Operator::Copy, [a, ..]) => {
                let memory = self.home(a)?;
                let result = self.take(id, &[])?;
                self.fill(result, memory)?;
                self.used(&sources, number);
                result
            }
            Value::Computed(Operator::Compare(relation), [a, b, _]) => {
                let first = self.ensure(a, &[])?;
                let second = self.source(b, &[first])?;
                self.compare(R::K1, first, relation, second)?;
                self.used(&sources, number);
                let result = self.take(id, &[])?;
                let one = self.constant(1);
                self.fill_masked(result, one)?;
                result
            }
            Value::Computed(Operator::MulHigh, [a, b, _]) => {
                let first = self.ensure(a, &[])?;
                let second = self.ensure(b, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &[first, second])?;
                self.mul_high(result, first, second)?;
                result
            }
            Value::Flags(mask) => {
                let lanes = at(MASKS, 4 * i64::from(mask));
                self.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, lanes))?;
                let result = self.take(id, &[])?;
                let one = self.constant(1);
                self.fill_masked(result, one)?;
                result
            }
            Value::SelectedBy([flags, yes, no]) => {
                let flags = self.ensure(flags, &[])?;
                let first = self.ensure(no, &[flags])?;
                let second = self.source(yes, &[flags, first])?;
                self.test(R::K1, flags)?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                self.blend(result, first, second)?;
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
                self.three(instruction(operator)?, result, first, second)?;
                result
            }
            Value::Selected(mask, [yes, no]) => {
                let first = self.ensure(no, &[])?;
                let second = self.source(yes, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                let lanes = at(MASKS, 4 * i64::from(mask));
                self.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, lanes))?;
                self.blend(result, first, second)?;
                result
            }
            Value::Register(_) | Value::Scalar(_) | Value::Constant(_) | Value::Loaded { .. } => {
                return None;
            }
        };
        if self.is_to_be_checked(id) {
            self.compare(R::K1, result, UNORDERED, Source::Register(result))?;
            self.emit(Host::with3(X::VEX_Korw_kr_kr_kr, R::K7, R::K7, R::K1))?;
        }
        Some(())
    }

    /// The upper halves of products: even and odd lanes separately, then blended.
    fn mul_high(&mut self, result: usize, a: usize, b: usize) -> Option<()> {
        let (odd_a, odd_b) = (SPARE, SPARE + 1);
        let shift = X::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
        let product = X::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
        self.emit(Host::with3(shift, zmm(odd_a), zmm(a), 32))?;
        self.emit(Host::with3(shift, zmm(odd_b), zmm(b), 32))?;
        self.three(product, result, a, Source::Register(b))?;
        self.three(product, odd_a, odd_a, Source::Register(odd_b))?;
        self.emit(Host::with3(shift, zmm(result), zmm(result), 32))?;
        let mut odd = self.constant(0xaaaa);
        odd.is_broadcast = false;
        self.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, odd))?;
        self.blend(result, result, Source::Register(odd_a))
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
        const SUM: X = X::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
        const FACTOR: X = X::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
        let (mut a, mut b) = (a, b);
        let ends = |this: &Self, id: Id| this.place[id as usize].is_some() && this.dies(id, number);
        if ends(self, c) && c != a && c != b {
            if self.place[a as usize].is_none() {
                (a, b) = (b, a);
            }
            let sum = self.place[c as usize]?;
            let first = self.ensure(a, &[sum])?;
            let second = self.source(b, &[sum, first])?;
            self.three(SUM, sum, first, second)?;
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
            self.three(FACTOR, factor, first, second)?;
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
            Source::Register(sum) => {
                self.emit(Host::with2(
                    X::EVEX_Vmovdqa32_zmm_k1z_zmmm512,
                    zmm(result),
                    zmm(sum),
                ))?;
            }
            Source::Memory(memory) => self.fill(result, memory)?,
        }
        self.three(SUM, result, first, second)?;
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
