//! AVX-512: sixteen lanes. The mask is `k1`; `k7` collects the lanes that were NaN.

use iced_x86::{Code as X, Instruction as Host, MemoryOperand, Register as R};

use super::{
    LDS, at,
    emitter::{Emitter, Fixed},
    vectors::{Addresses, Fused, Source, Vectors},
};
use crate::exec::jit::ir::{Operator, Relation};

pub(super) struct Avx512;

const SPARE: usize = Avx512::SPARE;
const DISTANCE: usize = Avx512::DISTANCE;

const LESS: Relation = Relation::Unsigned(1);
const ABOVE: Relation = Relation::Unsigned(6);
const UNORDERED: Relation = Relation::F32(3);

/// Where [`gather_four`] leaves the dwords.
const GATHERED: [usize; 4] = [SPARE + 3, SPARE, SPARE + 1, SPARE + 2];

fn zmm(number: usize) -> R {
    R::ZMM0 + number as u32
}

fn ymm(number: usize) -> R {
    R::YMM0 + number as u32
}

fn xmm(number: usize) -> R {
    R::XMM0 + number as u32
}

fn three(out: &mut Emitter, code: X, result: usize, first: usize, second: Source) -> Option<()> {
    out.emit(match second {
        Source::Register(second) => Host::with3(code, zmm(result), zmm(first), zmm(second)),
        Source::Memory(memory) => Host::with3(code, zmm(result), zmm(first), memory),
    })
}

fn compare(out: &mut Emitter, mask: R, a: usize, relation: Relation, b: Source) -> Option<()> {
    let (code, predicate) = match relation {
        Relation::Unsigned(predicate) => (X::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, predicate),
        Relation::Signed(predicate) => (X::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, predicate),
        Relation::F32(predicate) => (X::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, predicate),
    };
    let predicate = u32::from(predicate);
    out.emit(match b {
        Source::Register(b) => Host::with4(code, mask, zmm(a), zmm(b), predicate),
        Source::Memory(b) => Host::with4(code, mask, zmm(a), b, predicate),
    })
}

/// Leaves the chunk to the operations if a bit of either mask is set.
fn leave_if_any(out: &mut Emitter, a: R, b: R) -> Option<()> {
    out.emit(Host::with2(X::VEX_Kortestw_kr_kr, a, b))?;
    out.jump(X::Jne_rel32_64, Emitter::BAIL)
}

/// The instruction that was emitted last is done for the lanes of `k1`.
fn masked(out: &mut Emitter) -> Option<()> {
    out.last()?.set_op_mask(R::K1);
    Some(())
}

/// Picks dwords of two registers.
fn pick(out: &mut Emitter, result: usize, pick: Fixed, a: usize, b: usize) -> Option<()> {
    let pick = out.fixed(pick);
    Avx512::fill(out, result, pick)?;
    let code = X::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32;
    three(out, code, result, a, Source::Register(b))
}

impl Vectors for Avx512 {
    const LANES: usize = 16;
    const HELD: usize = 27;
    const SPREAD_64: X = X::EVEX_Vpbroadcastq_zmm_k1z_xmmm64;
    const SPREAD_128: X = X::EVEX_Vbroadcasti32x4_zmm_k1z_m128;
    const SHUFFLE: X = X::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8;

    fn register(number: usize) -> R {
        zmm(number)
    }

    fn fill(out: &mut Emitter, to: usize, memory: MemoryOperand) -> Option<()> {
        let code = match memory.is_broadcast {
            true => X::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
            false => X::EVEX_Vmovdqa32_zmm_k1z_zmmm512,
        };
        let mut memory = memory;
        memory.is_broadcast = false;
        out.emit(Host::with2(code, zmm(to), memory))
    }

    fn store(out: &mut Emitter, memory: MemoryOperand, from: usize) -> Option<()> {
        let code = X::EVEX_Vmovdqa32_zmmm512_k1z_zmm;
        out.emit(Host::with2(code, memory, zmm(from)))
    }

    fn copy(out: &mut Emitter, to: usize, from: usize) -> Option<()> {
        let code = X::EVEX_Vmovdqa32_zmm_k1z_zmmm512;
        out.emit(Host::with2(code, zmm(to), zmm(from)))
    }

    fn spread_first(out: &mut Emitter, to: usize, from: usize) -> Option<()> {
        let code = X::EVEX_Vpbroadcastd_zmm_k1z_xmmm32;
        out.emit(Host::with2(code, zmm(to), xmm(from)))
    }

    fn first(out: &mut Emitter, from: usize) -> Option<()> {
        out.emit(Host::with2(X::EVEX_Vmovd_rm32_xmm, R::EAX, xmm(from)))
    }

    fn binary(
        out: &mut Emitter,
        operator: Operator,
        result: usize,
        first: usize,
        second: Source,
    ) -> Option<()> {
        let code = match operator {
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
            Fused::Sum => X::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
            Fused::Factor => X::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        };
        three(out, code, result, first, second)
    }

    /// Even and odd lanes separately, then blended.
    fn mul_high(out: &mut Emitter, result: usize, a: usize, b: usize) -> Option<()> {
        let (odd_a, odd_b) = (SPARE, SPARE + 1);
        let shift = X::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
        let product = X::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
        out.emit(Host::with3(shift, zmm(odd_a), zmm(a), 32))?;
        out.emit(Host::with3(shift, zmm(odd_b), zmm(b), 32))?;
        three(out, product, result, a, Source::Register(b))?;
        three(out, product, odd_a, odd_a, Source::Register(odd_b))?;
        out.emit(Host::with3(shift, zmm(result), zmm(result), 32))?;
        let mut odd = out.constant(0xaaaa);
        odd.is_broadcast = false;
        Self::load_mask(out, odd)?;
        Self::blend(out, result, result, Source::Register(odd_a))
    }

    fn compare(out: &mut Emitter, first: usize, relation: Relation, second: Source) -> Option<()> {
        compare(out, R::K1, first, relation, second)
    }

    fn test(out: &mut Emitter, flags: usize) -> Option<()> {
        let code = X::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
        out.emit(Host::with3(code, R::K1, zmm(flags), zmm(flags)))
    }

    fn load_mask(out: &mut Emitter, bits: MemoryOperand) -> Option<()> {
        out.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, bits))
    }

    fn store_mask(out: &mut Emitter, bits: MemoryOperand) -> Option<()> {
        out.emit(Host::with2(X::VEX_Kmovw_m16_kr, bits, R::K1))
    }

    fn flags(out: &mut Emitter, result: usize) -> Option<()> {
        let one = out.constant(1);
        Self::fill(out, result, one)?;
        masked(out)?;
        out.last()?.set_zeroing_masking(true);
        Some(())
    }

    fn blend(out: &mut Emitter, result: usize, first: usize, second: Source) -> Option<()> {
        let code = X::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
        three(out, code, result, first, second)?;
        masked(out)
    }

    fn forget_nans(out: &mut Emitter) -> Option<()> {
        out.emit(Host::with3(X::VEX_Kxorw_kr_kr_kr, R::K7, R::K7, R::K7))
    }

    fn note_nans(out: &mut Emitter, register: usize) -> Option<()> {
        compare(out, R::K1, register, UNORDERED, Source::Register(register))?;
        out.emit(Host::with3(X::VEX_Korw_kr_kr_kr, R::K7, R::K7, R::K1))
    }

    fn leave_if_nan(out: &mut Emitter) -> Option<()> {
        leave_if_any(out, R::K7, R::K7)
    }

    fn leave_if_above(out: &mut Emitter, lanes: usize) -> Option<()> {
        let code = X::EVEX_Vpbroadcastd_zmm_k1z_r32;
        out.emit(Host::with2(code, zmm(SPARE), R::EAX))?;
        compare(out, R::K1, lanes, ABOVE, Source::Register(SPARE))?;
        leave_if_any(out, R::K1, R::K1)
    }

    fn check_distances(
        out: &mut Emitter,
        low: usize,
        high: Option<usize>,
        [lower, upper]: [MemoryOperand; 2],
        limit: MemoryOperand,
    ) -> Option<()> {
        let add = X::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
        three(out, add, DISTANCE, low, Source::Memory(lower))?;
        compare(out, R::K1, DISTANCE, LESS, Source::Memory(lower))?;
        // The upper half of the sum must be 0.
        match high {
            Some(high) => three(out, add, SPARE, high, Source::Memory(upper))?,
            None => Self::fill(out, SPARE, upper)?,
        }
        let one = Source::Memory(out.constant(1));
        three(out, add, SPARE, SPARE, one)?;
        masked(out)?;
        Self::test(out, SPARE)?;
        compare(out, R::K2, DISTANCE, ABOVE, Source::Memory(limit))?;
        leave_if_any(out, R::K1, R::K2)
    }

    fn all_equal(out: &mut Emitter, a: usize, b: usize, fact: MemoryOperand) -> Option<()> {
        let code = X::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32;
        out.emit(Host::with3(code, R::K1, zmm(a), zmm(b)))?;
        out.emit(Host::with2(X::VEX_Kortestw_kr_kr, R::K1, R::K1))?;
        // The carry flag says that all bits are 1.
        out.emit(Host::with1(X::Setb_rm8, fact))
    }

    fn load_row(out: &mut Emitter, offset: i64, results: &[Option<usize>]) -> Option<()> {
        let unaligned = X::EVEX_Vmovdqu32_zmm_k1z_zmmm512;
        let vector = |out: &mut Emitter, to: usize, number: i64| {
            let memory = at(R::R10, offset + 64 * number);
            out.emit(Host::with2(unaligned, zmm(to), memory))
        };
        let (a, b) = (SPARE, SPARE + 1);
        match *results {
            [Some(result)] => vector(out, result, 0),
            [low, high] => {
                vector(out, a, 0)?;
                vector(out, b, 1)?;
                for (result, indices) in [(low, Fixed::Even), (high, Fixed::Odd)] {
                    if let Some(result) = result {
                        pick(out, result, indices, a, b)?;
                    }
                }
                Some(())
            }
            [_, _, _, _] => {
                let (first, last, upper_lanes) = (SPARE + 2, SPARE + 3, SPARE + 4);
                vector(out, a, 0)?;
                vector(out, b, 1)?;
                pick(out, first, Fixed::FirstTwo, a, b)?;
                pick(out, last, Fixed::LastTwo, a, b)?;
                vector(out, a, 2)?;
                vector(out, b, 3)?;
                for (pair, indices, lower_lanes) in
                    [(0, Fixed::FirstTwo, first), (2, Fixed::LastTwo, last)]
                {
                    if results[pair].or(results[pair + 1]).is_none() {
                        continue;
                    }
                    pick(out, upper_lanes, indices, a, b)?;
                    const LOWER: u32 = 0x44;
                    const UPPER: u32 = 0xee;
                    for (place, halves) in [(pair, LOWER), (pair + 1, UPPER)] {
                        if let Some(result) = results[place] {
                            let code = X::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8;
                            let (lower, upper) = (zmm(lower_lanes), zmm(upper_lanes));
                            out.emit(Host::with4(code, zmm(result), lower, upper, halves))?;
                        }
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    fn gathers_from_stack(dwords: usize) -> bool {
        dwords == 4
    }

    fn gather(
        out: &mut Emitter,
        base: R,
        offset: i64,
        addresses: Addresses,
        results: &[Option<usize>],
    ) -> Option<()> {
        match (addresses, results) {
            (Addresses::Stack(place), _) => {
                let gather = match out.gather {
                    Some(label) => label,
                    None => {
                        let label = out.label();
                        out.gather = Some(label);
                        label
                    }
                };
                out.emit(Host::with2(X::Lea_r64_m, R::R10, at(R::RSP, place)))?;
                if base != R::R11 || offset != 0 {
                    out.emit(Host::with2(X::Lea_r64_m, R::R11, at(base, offset)))?;
                }
                out.jump(X::Call_rel32_64, gather)?;
                for (result, gathered) in results.iter().zip(GATHERED) {
                    if let Some(result) = *result {
                        Self::copy(out, result, gathered)?;
                    }
                }
            }
            // Other host threads store to global memory, but not to LDS.
            (Addresses::Register, [low, high]) if base != LDS => {
                gather_two(out, base, offset, [*low, *high])?;
            }
            (Addresses::Register, _) => {
                for (place, part) in results.iter().zip(0_i64..) {
                    if let Some(place) = *place {
                        let memory = indexed(base, zmm(DISTANCE), offset + 4 * part);
                        gather_vector(out, X::EVEX_Vpgatherdd_zmm_k1_vm32z, place, memory)?;
                    }
                }
            }
        }
        Some(())
    }

    fn finish(out: &mut Emitter) -> Option<()> {
        match out.gather {
            Some(gather) => {
                out.here(gather);
                gather_four(out)
            }
            None => Some(()),
        }
    }
}

fn indexed(base: R, index: R, displacement: i64) -> MemoryOperand {
    MemoryOperand::with_base_index_scale_displ_size(base, index, 1, displacement, 1)
}

fn gather_vector(out: &mut Emitter, code: X, to: usize, memory: MemoryOperand) -> Option<()> {
    out.emit(Host::with3(X::VEX_Kxnorw_kr_kr_kr, R::K1, R::K1, R::K1))?;
    out.emit(Host::with2(code, zmm(to), memory))?;
    masked(out)
}

/// Loads two dwords per lane in one piece.
fn gather_two(out: &mut Emitter, base: R, offset: i64, results: [Option<usize>; 2]) -> Option<()> {
    let (first, last, rest) = (SPARE, SPARE + 2, SPARE + 3);
    let upper = X::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
    out.emit(Host::with3(upper, ymm(rest), zmm(DISTANCE), 1))?;
    for (lanes, distances) in [(first, DISTANCE), (last, rest)] {
        let memory = indexed(base, ymm(distances), offset);
        gather_vector(out, X::EVEX_Vpgatherdq_zmm_k1_vm32y, lanes, memory)?;
    }
    for (result, indices) in results.into_iter().zip([Fixed::Even, Fixed::Odd]) {
        if let Some(result) = result {
            pick(out, result, indices, first, last)?;
        }
    }
    Some(())
}

/// A function that loads four dwords per lane: `r10` points to the lanes' addresses, `r11` is their base.
fn gather_four(out: &mut Emitter) -> Option<()> {
    let [a, b, c, d] = [1, 2, 3, 4].map(|n| SPARE + n);
    let spare = SPARE;
    // Each block of four dwords is one lane's. Lanes 0, 4, 8 and 12 are in one vector, and so on, so that
    // transposing blocks of four lanes gives vectors of dwords in the lanes' order.
    for (column, vector) in [a, b, c, d].into_iter().enumerate() {
        for block in 0..4 {
            let lane = 4 * block + column;
            let address = at(R::R10, 4 * lane as i64);
            out.emit(Host::with2(X::Mov_r32_rm32, R::EAX, address))?;
            let memory = MemoryOperand::with_base_index(R::R11, R::RAX);
            out.emit(match block {
                0 => Host::with2(X::EVEX_Vmovdqu32_xmm_k1z_xmmm128, xmm(vector), memory),
                _ => Host::with4(
                    X::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
                    zmm(vector),
                    zmm(vector),
                    memory,
                    block as u32,
                ),
            })?;
        }
    }
    let low = X::EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32;
    let high = X::EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32;
    let lows = X::EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64;
    let highs = X::EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64;
    for (code, result, first, second) in [
        (low, spare, a, b),
        (high, b, a, b),
        (low, a, c, d),
        (high, d, c, d),
        (lows, c, spare, a),
        (highs, spare, spare, a),
        (lows, a, b, d),
        (highs, b, b, d),
    ] {
        three(out, code, result, first, Source::Register(second))?;
    }
    out.emit(Ok(Host::with(X::Retnq)))
}
