//! AVX2: eight lanes. The signs of one register are the mask; another collects the lanes that were NaN.

use iced_x86::{Code as X, Instruction as Host, MemoryOperand, Register as R};

use super::{
    at,
    emitter::{Emitter, Fixed},
    vectors::{Addresses, Fused, Source, Vectors},
};
use crate::exec::jit::ir::{Operator, Relation};

pub(super) struct Avx2;

const SPARE: usize = Avx2::SPARE;
const DISTANCE: usize = Avx2::DISTANCE;
const NEXT: usize = Avx2::NEXT;
const MASK: usize = NEXT + 1;
const NANS: usize = MASK + 1;

fn ymm(number: usize) -> R {
    R::YMM0 + number as u32
}

fn xmm(number: usize) -> R {
    R::XMM0 + number as u32
}

/// A source that an instruction can take: not one dword for all lanes, which is copied to [`SPARE`].
fn whole(out: &mut Emitter, source: Source) -> Option<Source> {
    match source {
        Source::Memory(memory) if memory.is_broadcast => {
            Avx2::fill(out, SPARE, memory)?;
            Some(Source::Register(SPARE))
        }
        _ => Some(source),
    }
}

fn three(out: &mut Emitter, code: X, result: usize, first: usize, second: Source) -> Option<()> {
    let second = whole(out, second)?;
    out.emit(match second {
        Source::Register(second) => Host::with3(code, ymm(result), ymm(first), ymm(second)),
        Source::Memory(memory) => Host::with3(code, ymm(result), ymm(first), memory),
    })
}

fn registers(out: &mut Emitter, code: X, result: usize, a: usize, b: usize) -> Option<()> {
    three(out, code, result, a, Source::Register(b))
}

/// Changes all bits of the mask.
fn invert(out: &mut Emitter) -> Option<()> {
    let (equal, xor) = (
        X::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
        X::VEX_Vpxor_ymm_ymm_ymmm256,
    );
    registers(out, equal, SPARE, SPARE, SPARE)?;
    registers(out, xor, MASK, MASK, SPARE)
}

/// Compares the mask of all lanes with all ones.
fn is_full(out: &mut Emitter) -> Option<()> {
    out.emit(Host::with2(X::VEX_Vmovmskps_r32_ymm, R::EAX, ymm(MASK)))?;
    out.emit(Host::with2(X::Cmp_AL_imm8, R::AL, 0xff_u32))
}

impl Vectors for Avx2 {
    const LANES: usize = 8;
    const HELD: usize = 11;
    const SPREAD_64: X = X::VEX_Vpbroadcastq_ymm_xmmm64;
    const SPREAD_128: X = X::VEX_Vbroadcasti128_ymm_m128;
    const SHUFFLE: X = X::VEX_Vpshufd_ymm_ymmm256_imm8;

    fn register(number: usize) -> R {
        ymm(number)
    }

    fn fill(out: &mut Emitter, to: usize, memory: MemoryOperand) -> Option<()> {
        let code = match memory.is_broadcast {
            true => X::VEX_Vpbroadcastd_ymm_xmmm32,
            false => X::VEX_Vmovdqa_ymm_ymmm256,
        };
        let mut memory = memory;
        memory.is_broadcast = false;
        out.emit(Host::with2(code, ymm(to), memory))
    }

    fn store(out: &mut Emitter, memory: MemoryOperand, from: usize) -> Option<()> {
        out.emit(Host::with2(X::VEX_Vmovdqa_ymmm256_ymm, memory, ymm(from)))
    }

    fn copy(out: &mut Emitter, to: usize, from: usize) -> Option<()> {
        out.emit(Host::with2(X::VEX_Vmovdqa_ymm_ymmm256, ymm(to), ymm(from)))
    }

    fn spread_first(out: &mut Emitter, to: usize, from: usize) -> Option<()> {
        let code = X::VEX_Vpbroadcastd_ymm_xmmm32;
        out.emit(Host::with2(code, ymm(to), xmm(from)))
    }

    fn first(out: &mut Emitter, from: usize) -> Option<()> {
        out.emit(Host::with2(X::VEX_Vmovd_rm32_xmm, R::EAX, xmm(from)))
    }

    fn binary(
        out: &mut Emitter,
        operator: Operator,
        result: usize,
        first: usize,
        second: Source,
    ) -> Option<()> {
        let code = match operator {
            Operator::AddF32 => X::VEX_Vaddps_ymm_ymm_ymmm256,
            Operator::SubF32 => X::VEX_Vsubps_ymm_ymm_ymmm256,
            Operator::MulF32 => X::VEX_Vmulps_ymm_ymm_ymmm256,
            Operator::Add => X::VEX_Vpaddd_ymm_ymm_ymmm256,
            Operator::Sub => X::VEX_Vpsubd_ymm_ymm_ymmm256,
            Operator::Mul => X::VEX_Vpmulld_ymm_ymm_ymmm256,
            Operator::And => X::VEX_Vpand_ymm_ymm_ymmm256,
            Operator::Or => X::VEX_Vpor_ymm_ymm_ymmm256,
            Operator::Xor => X::VEX_Vpxor_ymm_ymm_ymmm256,
            Operator::ShiftLeft => X::VEX_Vpsllvd_ymm_ymm_ymmm256,
            Operator::ShiftRight => X::VEX_Vpsrlvd_ymm_ymm_ymmm256,
            Operator::ShiftRightSigned => X::VEX_Vpsravd_ymm_ymm_ymmm256,
            Operator::Min => X::VEX_Vpminud_ymm_ymm_ymmm256,
            Operator::Max => X::VEX_Vpmaxud_ymm_ymm_ymmm256,
            Operator::MinSigned => X::VEX_Vpminsd_ymm_ymm_ymmm256,
            Operator::MaxSigned => X::VEX_Vpmaxsd_ymm_ymm_ymmm256,
            Operator::Copy | Operator::FmaF32 | Operator::MulHigh | Operator::Compare(_) => {
                return None;
            }
        };
        three(out, code, result, first, second)
    }

    fn fma(
        out: &mut Emitter,
        form: Fused,
        result: usize,
        first: usize,
        second: Source,
    ) -> Option<()> {
        let code = match form {
            Fused::Sum => X::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
            Fused::Factor => X::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        };
        three(out, code, result, first, second)
    }

    /// Even and odd lanes separately, then blended.
    fn mul_high(out: &mut Emitter, result: usize, a: usize, b: usize) -> Option<()> {
        let (odd_a, odd_b) = (SPARE, NEXT);
        let shift = X::VEX_Vpsrlq_ymm_ymm_imm8;
        let product = X::VEX_Vpmuludq_ymm_ymm_ymmm256;
        out.emit(Host::with3(shift, ymm(odd_a), ymm(a), 32))?;
        out.emit(Host::with3(shift, ymm(odd_b), ymm(b), 32))?;
        registers(out, product, result, a, b)?;
        registers(out, product, odd_a, odd_a, odd_b)?;
        out.emit(Host::with3(shift, ymm(result), ymm(result), 32))?;
        let blend = X::VEX_Vpblendd_ymm_ymm_ymmm256_imm8;
        let result = ymm(result);
        out.emit(Host::with4(blend, result, result, ymm(odd_a), 0xaa))
    }

    /// AVX2 has only equal and, for signed integers, greater.
    fn compare(out: &mut Emitter, first: usize, relation: Relation, second: Source) -> Option<()> {
        let equal = X::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
        let greater = X::VEX_Vpcmpgtd_ymm_ymm_ymmm256;
        // Which of the two numbers is the first one; or whether they are equal.
        let (extreme, is_inverted) = match relation {
            Relation::F32(predicate) => {
                let code = X::VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
                let (mask, first) = (ymm(MASK), ymm(first));
                let predicate = u32::from(predicate);
                return match whole(out, second)? {
                    Source::Register(b) => {
                        out.emit(Host::with4(code, mask, first, ymm(b), predicate))
                    }
                    Source::Memory(b) => out.emit(Host::with4(code, mask, first, b, predicate)),
                };
            }
            Relation::Unsigned(0) | Relation::Signed(0) => (None, false),
            Relation::Unsigned(4) | Relation::Signed(4) => (None, true),
            Relation::Unsigned(1) => (Some(Operator::Max), true),
            Relation::Unsigned(2) => (Some(Operator::Min), false),
            Relation::Unsigned(5) => (Some(Operator::Max), false),
            Relation::Unsigned(6) => (Some(Operator::Min), true),
            Relation::Signed(1) => (Some(Operator::MaxSigned), true),
            Relation::Signed(5) => (Some(Operator::MaxSigned), false),
            Relation::Signed(predicate @ (2 | 6)) => {
                three(out, greater, MASK, first, second)?;
                return match predicate {
                    2 => invert(out),
                    _ => Some(()),
                };
            }
            Relation::Unsigned(_) | Relation::Signed(_) => return None,
        };
        match extreme {
            Some(extreme) => {
                Self::binary(out, extreme, MASK, first, second)?;
                registers(out, equal, MASK, MASK, first)?;
            }
            None => three(out, equal, MASK, first, second)?,
        }
        match is_inverted {
            true => invert(out),
            false => Some(()),
        }
    }

    fn test(out: &mut Emitter, flags: usize) -> Option<()> {
        let code = X::VEX_Vpslld_ymm_ymm_imm8;
        out.emit(Host::with3(code, ymm(MASK), ymm(flags), 31))
    }

    fn load_mask(out: &mut Emitter, bits: MemoryOperand) -> Option<()> {
        // Each byte of the register has the bits of all lanes.
        let code = X::VEX_Vpbroadcastb_ymm_xmmm8;
        out.emit(Host::with2(code, ymm(MASK), bits))?;
        let shifts = Source::Memory(out.fixed(Fixed::ToSign));
        Self::binary(out, Operator::ShiftLeft, MASK, MASK, shifts)
    }

    fn store_mask(out: &mut Emitter, bits: MemoryOperand) -> Option<()> {
        out.emit(Host::with2(X::VEX_Vmovmskps_r32_ymm, R::EAX, ymm(MASK)))?;
        out.emit(Host::with2(X::Mov_rm8_r8, bits, R::AL))
    }

    fn flags(out: &mut Emitter, result: usize) -> Option<()> {
        let code = X::VEX_Vpsrld_ymm_ymm_imm8;
        out.emit(Host::with3(code, ymm(result), ymm(MASK), 31))
    }

    fn blend(out: &mut Emitter, result: usize, first: usize, second: Source) -> Option<()> {
        let code = X::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
        let (result, first, mask) = (ymm(result), ymm(first), ymm(MASK));
        match whole(out, second)? {
            Source::Register(second) => {
                out.emit(Host::with4(code, result, first, ymm(second), mask))
            }
            Source::Memory(memory) => out.emit(Host::with4(code, result, first, memory, mask)),
        }
    }

    fn forget_nans(out: &mut Emitter) -> Option<()> {
        registers(out, X::VEX_Vpxor_ymm_ymm_ymmm256, NANS, NANS, NANS)
    }

    fn note_nans(out: &mut Emitter, register: usize) -> Option<()> {
        const UNORDERED: Relation = Relation::F32(3);
        Self::compare(out, register, UNORDERED, Source::Register(register))?;
        registers(out, X::VEX_Vpor_ymm_ymm_ymmm256, NANS, NANS, MASK)
    }

    fn leave_if_nan(out: &mut Emitter) -> Option<()> {
        out.emit(Host::with2(X::VEX_Vptest_ymm_ymmm256, ymm(NANS), ymm(NANS)))?;
        out.jump(X::Jne_rel32_64, Emitter::BAIL)
    }

    fn leave_if_above(out: &mut Emitter, lanes: usize) -> Option<()> {
        out.emit(Host::with2(X::VEX_Vmovd_xmm_rm32, xmm(SPARE), R::EAX))?;
        Self::spread_first(out, SPARE, SPARE)?;
        Self::binary(out, Operator::Max, MASK, lanes, Source::Register(SPARE))?;
        registers(out, X::VEX_Vpcmpeqd_ymm_ymm_ymmm256, MASK, MASK, SPARE)?;
        is_full(out)?;
        out.jump(X::Jne_rel32_64, Emitter::BAIL)
    }

    fn check_distances(
        out: &mut Emitter,
        low: usize,
        high: Option<usize>,
        [lower, upper]: [MemoryOperand; 2],
        limit: MemoryOperand,
    ) -> Option<()> {
        let add = X::VEX_Vpaddd_ymm_ymm_ymmm256;
        let equal = X::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
        Self::fill(out, SPARE, lower)?;
        registers(out, add, DISTANCE, low, SPARE)?;
        // -1 without a carry.
        registers(out, X::VEX_Vpmaxud_ymm_ymm_ymmm256, MASK, DISTANCE, SPARE)?;
        registers(out, equal, MASK, MASK, DISTANCE)?;
        Self::fill(out, SPARE, upper)?;
        if let Some(high) = high {
            registers(out, add, SPARE, SPARE, high)?;
        }
        // The upper half of the sum must be 0: without what is added to -1 for a carry, -1.
        registers(out, add, SPARE, SPARE, MASK)?;
        Self::fill(out, NEXT, limit)?;
        registers(out, X::VEX_Vpminud_ymm_ymm_ymmm256, NEXT, NEXT, DISTANCE)?;
        registers(out, equal, NEXT, NEXT, DISTANCE)?;
        registers(out, X::VEX_Vpand_ymm_ymm_ymmm256, SPARE, SPARE, NEXT)?;
        registers(out, equal, MASK, MASK, MASK)?;
        // The carry flag says that all bits are 1.
        out.emit(Host::with2(
            X::VEX_Vptest_ymm_ymmm256,
            ymm(SPARE),
            ymm(MASK),
        ))?;
        out.jump(X::Jae_rel32_64, Emitter::BAIL)
    }

    fn all_equal(out: &mut Emitter, a: usize, b: usize, fact: MemoryOperand) -> Option<()> {
        registers(out, X::VEX_Vpcmpeqd_ymm_ymm_ymmm256, MASK, a, b)?;
        is_full(out)?;
        out.emit(Host::with1(X::Sete_rm8, fact))
    }

    fn load_row(out: &mut Emitter, offset: i64, results: &[Option<usize>]) -> Option<()> {
        let unaligned = X::VEX_Vmovdqu_ymm_ymmm256;
        match *results {
            [Some(result)] => {
                let memory = at(R::R10, offset);
                out.emit(Host::with2(unaligned, ymm(result), memory))
            }
            [low, high] => {
                for (to, number) in [(SPARE, 0), (NEXT, 1)] {
                    let memory = at(R::R10, offset + 32 * number);
                    out.emit(Host::with2(unaligned, ymm(to), memory))?;
                }
                divide(out, [low, high])
            }
            [a, b, c, d] => transpose(out, [a, b, c, d], |_, lane| {
                Some(at(R::R10, offset + 16 * lane))
            }),
            _ => None,
        }
    }

    fn gathers_from_stack(dwords: usize) -> bool {
        matches!(dwords, 2 | 4)
    }

    fn gather(
        out: &mut Emitter,
        base: R,
        offset: i64,
        addresses: Addresses,
        results: &[Option<usize>],
    ) -> Option<()> {
        match addresses {
            Addresses::Stack(place) => {
                let memory = |out: &mut Emitter, lane: i64| {
                    let address = at(R::RSP, place + 4 * lane);
                    out.emit(Host::with2(X::Mov_r32_rm32, R::EAX, address))?;
                    let lane =
                        MemoryOperand::with_base_index_scale_displ_size(base, R::RAX, 1, offset, 1);
                    Some(lane)
                };
                match *results {
                    [low, high] => {
                        pairs(out, memory)?;
                        divide(out, [low, high])
                    }
                    [a, b, c, d] => transpose(out, [a, b, c, d], memory),
                    _ => None,
                }
            }
            Addresses::Register => {
                for (result, part) in results.iter().zip(0_i64..) {
                    let Some(result) = *result else {
                        continue;
                    };
                    registers(out, X::VEX_Vpcmpeqd_ymm_ymm_ymmm256, MASK, MASK, MASK)?;
                    let memory = MemoryOperand::with_base_index_scale_displ_size(
                        base,
                        ymm(DISTANCE),
                        1,
                        offset + 4 * part,
                        1,
                    );
                    let code = X::VEX_Vpgatherdd_ymm_vm32y_ymm;
                    out.emit(Host::with3(code, ymm(result), memory, ymm(MASK)))?;
                }
                Some(())
            }
        }
    }

    fn finish(_: &mut Emitter) -> Option<()> {
        Some(())
    }
}

/// Loads two dwords of each lane: those of the first four lanes to [`SPARE`], the others to [`NEXT`].
fn pairs(
    out: &mut Emitter,
    memory: impl Fn(&mut Emitter, i64) -> Option<MemoryOperand>,
) -> Option<()> {
    for (to, first) in [(SPARE, 0), (NEXT, 4)] {
        for (half, lane) in [(to, first), (MASK, first + 2)] {
            let low = memory(out, lane)?;
            out.emit(Host::with2(X::VEX_Vmovq_xmm_xmmm64, xmm(half), low))?;
            let high = memory(out, lane + 1)?;
            let code = X::VEX_Vmovhps_xmm_xmm_m64;
            out.emit(Host::with3(code, xmm(half), xmm(half), high))?;
        }
        let code = X::VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
        out.emit(Host::with4(code, ymm(to), ymm(to), xmm(MASK), 1))?;
    }
    Some(())
}

/// Divides the dwords of [`SPARE`] and [`NEXT`] into those at even and at odd places.
fn divide(out: &mut Emitter, results: [Option<usize>; 2]) -> Option<()> {
    for (result, places) in results.into_iter().zip([0x88, 0xdd]) {
        if let Some(result) = result {
            // Of each half of both registers, then in order.
            let code = X::VEX_Vshufps_ymm_ymm_ymmm256_imm8;
            out.emit(Host::with4(
                code,
                ymm(result),
                ymm(SPARE),
                ymm(NEXT),
                places,
            ))?;
            let code = X::VEX_Vpermq_ymm_ymmm256_imm8;
            out.emit(Host::with3(code, ymm(result), ymm(result), 0xd8))?;
        }
    }
    Some(())
}

/// Loads four dwords of each lane, and puts those of the same place in one register.
fn transpose(
    out: &mut Emitter,
    results: [Option<usize>; 4],
    memory: impl Fn(&mut Emitter, i64) -> Option<MemoryOperand>,
) -> Option<()> {
    let mut others = [DISTANCE, NEXT, MASK].into_iter();
    let mut all = [SPARE; 4];
    for (place, result) in all.iter_mut().zip(results) {
        *place = result.or_else(|| others.next())?;
    }
    // Each half of a register is one lane's.
    for (&to, lane) in all.iter().zip(0..) {
        let lower = memory(out, lane)?;
        out.emit(Host::with2(X::VEX_Vmovdqu_xmm_xmmm128, xmm(to), lower))?;
        let upper = memory(out, lane + 4)?;
        let code = X::VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
        out.emit(Host::with4(code, ymm(to), ymm(to), upper, 1))?;
    }
    let [a, b, c, d] = all;
    let low = X::VEX_Vunpcklps_ymm_ymm_ymmm256;
    let high = X::VEX_Vunpckhps_ymm_ymm_ymmm256;
    let lows = X::VEX_Vunpcklpd_ymm_ymm_ymmm256;
    let highs = X::VEX_Vunpckhpd_ymm_ymm_ymmm256;
    for (code, result, first, second) in [
        (low, SPARE, a, b),
        (high, b, a, b),
        (low, a, c, d),
        (high, d, c, d),
        (lows, c, b, d),
        (highs, d, b, d),
        (highs, b, SPARE, a),
        (lows, a, SPARE, a),
    ] {
        registers(out, code, result, first, second)?;
    }
    Some(())
}
