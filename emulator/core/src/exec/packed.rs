//! Packed operations of the vector unit (VOP3P without the matrix instructions): pairs of 16-bit values in a register,
//! pairs of f32 in two registers, dot products of integers.

pub(super) mod mixed;

use std::simd::{StdFloat, prelude::*};

use rustc_apfloat::ieee::Half;

use super::{
    Wave,
    array::{Mapped, array},
    float::{Arithmetic, Format, evaluate},
    float32, half,
    lanes::{Binder, chunks, sext16},
    mfma::Element,
    minifloat::{Bf8, Fp8},
    operation::{Flow, Handler, Operation},
    simd::{F, I, U},
    wave::Fetched,
};
use ferrowave_isa::run::{PackedDot, PackedEights, PackedHalves, PackedIntegers, PackedSingles};

/// The 16-bit halves of source `slot` for the low and the high result, zero-extended.
#[inline(always)]
fn halves_of(o: &Operation, slot: usize, value: U) -> [U; 2] {
    let high = value >> U::splat(16);
    let low = value & U::splat(0xffff);
    let pick = |select: u8| if select >> slot & 1 == 1 { high } else { low };
    [pick(o.op_sel), pick(o.op_sel_hi)]
}

/// The same as f16, with signs inverted by `neg_lo` and `neg_hi`.
#[inline(always)]
fn negated_halves(o: &Operation, slot: usize, value: U) -> [U; 2] {
    let [low, high] = halves_of(o, slot, value);
    let sign = |neg: u8| U::splat(u32::from(neg >> slot & 1) << 15);
    [low ^ sign(o.neg), high ^ sign(o.neg_hi)]
}

#[inline(always)]
fn pack(low: U, high: U) -> U {
    (low & U::splat(0xffff)) | high << U::splat(16)
}

/// The registers of f32 pairs for the low and the high result.
#[inline(always)]
fn picked_pairs<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
) -> [[Fetched; N]; 2] {
    let pairs: [[Fetched; 2]; N] = array(|slot| w.fetch64(slot as u16, &o.src[slot]));
    [o.op_sel, o.op_sel_hi]
        .mapped(|select| array(|slot| pairs[slot][usize::from(select >> slot & 1)]))
}

#[inline(always)]
fn commit_pair<const C: usize>(w: &mut Wave<C>, o: &Operation, low: [U; C], high: [U; C]) -> Flow {
    w.commit(o.dst, low);
    w.commit(o.dst + 1, high);
    Flow::Next
}

/// An operation on f32 pairs where the host's results are not right in all lanes.
#[inline(always)]
fn careful_pairs<const N: usize, G, const C: usize>(w: &mut Wave<C>, o: &Operation, f: G) -> Flow
where
    G: Fn([F; N]) -> F,
{
    let [low, high] = picked_pairs(w, o);
    let low = float32::careful_results(w, o, low, 0, o.neg, &f);
    let high = float32::careful_results(w, o, high, 0, o.neg_hi, f);
    commit_pair(w, o, low, high)
}

impl<const C: usize> Binder<C> {
    /// f16 pairs; `f` computes f16 bits from the sources as f32.
    fn packed_f16<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([F; N]) -> U + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let s: [Fetched; N] = array(|i| w.fetch(i as u16, &o.src[i]));
                let plain = w.mode.plain16() && !o.clamp;
                let settings = Half::settings(w.mode);
                let what = Arithmetic::from_detail(o.detail);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let sources: [[U; 2]; N] =
                            array(|i| negated_halves(o, i, w.chunk(s[i], c)));
                        let [low, high] = [0, 1].mapped(|part| {
                            let fast = f(array(|i| half::to_f32(sources[i][part])));
                            let nan = (fast & U::splat(0x7fff)).simd_gt(U::splat(0x7c00));
                            if plain && !nan.any() {
                                fast
                            } else {
                                U::from_array(array(|lane| {
                                    let mut bits = [0; 3];
                                    for i in 0..N {
                                        bits[i] = u64::from(sources[i][part][lane]);
                                    }
                                    let value = evaluate::<Half>(what, bits, settings);
                                    super::float::modify_result::<Half>(value, 0, o.clamp, settings)
                                        as u32
                                }))
                            }
                        });
                        pack(low, high)
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// f32 pairs in register pairs; the parts of a source are selected as with halves.
    fn packed_f32<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([F; N]) -> F + Copy + 'static,
    {
        if self.plain {
            return self.bind(
                #[inline(always)]
                move |w, c, o| {
                    let picked = |select: u8| {
                        array(|slot| {
                            let part = u16::from(select >> slot & 1);
                            Fetched::vector(o.src[slot].register + part)
                        })
                    };
                    let fast = |sources| float32::fast_results(w, false, sources, 0, 0, f);
                    let (low, high) = (fast(picked(o.op_sel)), fast(picked(o.op_sel_hi)));
                    match (low, high) {
                        (Some(low), Some(high)) => commit_pair(w, o, low, high),
                        _ => c.cold_path(
                            w,
                            o,
                            #[inline(always)]
                            move |w, _, o| careful_pairs(w, o, f),
                        ),
                    }
                },
            );
        }
        self.bind(
            #[inline(always)]
            move |w, c, o| {
                let [low, high] = picked_pairs(w, o);
                let fast = |sources, neg| float32::fast_results(w, o.clamp, sources, 0, neg, f);
                match (fast(low, o.neg), fast(high, o.neg_hi)) {
                    (Some(low), Some(high)) => commit_pair(w, o, low, high),
                    _ => c.cold_path(
                        w,
                        o,
                        #[inline(always)]
                        move |w, _, o| careful_pairs(w, o, f),
                    ),
                }
            },
        )
    }

    /// 16-bit integer pairs; `f` gets the sources zero-extended, and whether to clamp.
    fn packed_integers<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([U; N], bool) -> U + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let s: [Fetched; N] = array(|i| w.fetch(i as u16, &o.src[i]));
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let sources: [[U; 2]; N] = array(|i| halves_of(o, i, w.chunk(s[i], c)));
                        let [low, high] =
                            [0, 1].mapped(|part| f(array(|i| sources[i][part]), o.clamp));
                        pack(low, high)
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from three sources; `f` unpacks the first two.
    fn dot3<G: Fn(&Operation, U, U, U) -> U + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let s = w.fetch(2, &o.src[2]);
                let result = chunks(
                    #[inline(always)]
                    |c| f(o, w.chunk(a, c), w.chunk(b, c), w.chunk(s, c)),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }
}

pub(super) fn halves<const C: usize>(b: Binder<C>, op: PackedHalves) -> (Handler, Arithmetic) {
    match op {
        PackedHalves::v_pk_fma_f16 | PackedHalves::v_pk_fmac_f16 => (
            b.packed_f16(|[x, y, z]| half::fma(x, y, z)),
            Arithmetic::Fma,
        ),
        PackedHalves::v_pk_add_f16 => (
            b.packed_f16(|[x, y]| half::from_f32(x + y)),
            Arithmetic::Add,
        ),
        PackedHalves::v_pk_mul_f16 => (
            b.packed_f16(|[x, y]| half::from_f32(x * y)),
            Arithmetic::Mul,
        ),
        PackedHalves::v_pk_min_f16 => (
            b.packed_f16(|[x, y]| half::from_f32(half::min2(x, y))),
            Arithmetic::Min,
        ),
        PackedHalves::v_pk_max_f16 => (
            b.packed_f16(|[x, y]| half::from_f32(half::max2(x, y))),
            Arithmetic::Max,
        ),
        PackedHalves::v_pk_minimum_f16 => (
            b.packed_f16(|[x, y]| half::from_f32(half::min2(x, y))),
            Arithmetic::Minimum,
        ),
        PackedHalves::v_pk_maximum_f16 => (
            b.packed_f16(|[x, y]| half::from_f32(half::max2(x, y))),
            Arithmetic::Maximum,
        ),
        PackedHalves::v_pk_minimum3_f16 => (
            b.packed_f16(|[x, y, z]| half::from_f32(half::min2(half::min2(x, y), z))),
            Arithmetic::Minimum3,
        ),
        PackedHalves::v_pk_maximum3_f16 => (
            b.packed_f16(|[x, y, z]| half::from_f32(half::max2(half::max2(x, y), z))),
            Arithmetic::Maximum3,
        ),
    }
}

pub(super) fn singles<const C: usize>(b: Binder<C>, op: PackedSingles) -> (Handler, Arithmetic) {
    match op {
        PackedSingles::v_pk_fma_f32 => (b.packed_f32(|[x, y, z]| x.mul_add(y, z)), Arithmetic::Fma),
        PackedSingles::v_pk_mul_f32 => (b.packed_f32(|[x, y]| x * y), Arithmetic::Mul),
        PackedSingles::v_pk_add_f32 => (b.packed_f32(|[x, y]| x + y), Arithmetic::Add),
        PackedSingles::v_pk_mov_b32 => (
            b.bind(
                #[inline(always)]
                |w, _, o| {
                    let (x, y) = (w.fetch64(0, &o.src[0]), w.fetch64(1, &o.src[1]));
                    let (low, high) = (
                        x[usize::from(o.op_sel & 1)],
                        y[usize::from(o.op_sel >> 1 & 1)],
                    );
                    let low = chunks(
                        #[inline(always)]
                        |c| w.chunk(low, c),
                    );
                    let high = chunks(
                        #[inline(always)]
                        |c| w.chunk(high, c),
                    );
                    w.commit(o.dst, low);
                    w.commit(o.dst + 1, high);
                    Flow::Next
                },
            ),
            Arithmetic::Add,
        ),
    }
}

#[inline(always)]
fn clamp16(value: I, clamp: bool, low: i32, high: i32) -> U {
    let value = if clamp {
        value.simd_clamp(I::splat(low), I::splat(high))
    } else {
        value
    };
    value.cast::<u32>()
}

pub(super) fn integers<const C: usize>(b: Binder<C>, op: PackedIntegers) -> Handler {
    match op {
        PackedIntegers::v_pk_mad_i16 => b.packed_integers(|[x, y, z], clamp| {
            clamp16(sext16(x) * sext16(y) + sext16(z), clamp, -0x8000, 0x7fff)
        }),
        PackedIntegers::v_pk_mad_u16 => b.packed_integers(|[x, y, z], clamp| {
            let exact = x.cast::<u64>() * y.cast::<u64>() + z.cast::<u64>();
            exact
                .simd_min(Simd::splat(if clamp { 0xffff } else { u64::MAX }))
                .cast::<u32>()
        }),
        PackedIntegers::v_pk_mul_lo_u16 => b.packed_integers(|[x, y], _| x * y),
        PackedIntegers::v_pk_add_i16 => b.packed_integers(|[x, y], clamp| {
            clamp16(sext16(x) + sext16(y), clamp, -0x8000, 0x7fff)
        }),
        PackedIntegers::v_pk_sub_i16 => b.packed_integers(|[x, y], clamp| {
            clamp16(sext16(x) - sext16(y), clamp, -0x8000, 0x7fff)
        }),
        PackedIntegers::v_pk_add_u16 => {
            b.packed_integers(|[x, y], clamp| clamp16((x + y).cast::<i32>(), clamp, 0, 0xffff))
        }
        PackedIntegers::v_pk_sub_u16 => b.packed_integers(|[x, y], clamp| {
            clamp16(x.cast::<i32>() - y.cast::<i32>(), clamp, 0, 0xffff)
        }),
        PackedIntegers::v_pk_lshlrev_b16 => b.packed_integers(|[x, y], _| y << (x & U::splat(15))),
        PackedIntegers::v_pk_lshrrev_b16 => b.packed_integers(|[x, y], _| y >> (x & U::splat(15))),
        PackedIntegers::v_pk_ashrrev_i16 => b.packed_integers(|[x, y], _| {
            (sext16(y) >> (x & U::splat(15)).cast::<i32>()).cast::<u32>()
        }),
        PackedIntegers::v_pk_max_i16 => {
            b.packed_integers(|[x, y], _| sext16(x).simd_max(sext16(y)).cast::<u32>())
        }
        PackedIntegers::v_pk_min_i16 => {
            b.packed_integers(|[x, y], _| sext16(x).simd_min(sext16(y)).cast::<u32>())
        }
        PackedIntegers::v_pk_max_u16 => b.packed_integers(|[x, y], _| x.simd_max(y)),
        PackedIntegers::v_pk_min_u16 => b.packed_integers(|[x, y], _| x.simd_min(y)),
    }
}

/// Part `index` of `bits` bits, sign-extended.
#[inline(always)]
fn signed_part(value: U, index: u32, bits: u32) -> I {
    (value << U::splat(32 - bits * (index + 1))).cast::<i32>() >> I::splat(32 - bits as i32)
}

#[inline(always)]
fn unsigned_part(value: U, index: u32, bits: u32) -> U {
    (value << U::splat(32 - bits * (index + 1))) >> U::splat(32 - bits)
}

#[inline(always)]
fn signed_dot(x: U, y: U, z: U, bits: u32, clamp: bool) -> U {
    let mut sum = z.cast::<i32>().cast::<i64>();
    for part in 0..32 / bits {
        let product = signed_part(x, part, bits) * signed_part(y, part, bits);
        sum += product.cast::<i64>();
    }
    if clamp {
        sum = sum.simd_clamp(
            Simd::splat(i64::from(i32::MIN)),
            Simd::splat(i64::from(i32::MAX)),
        );
    }
    sum.cast::<u32>()
}

#[inline(always)]
fn unsigned_dot(x: U, y: U, z: U, bits: u32, clamp: bool) -> U {
    let mut sum = z.cast::<u64>();
    for part in 0..32 / bits {
        let product = unsigned_part(x, part, bits) * unsigned_part(y, part, bits);
        sum += product.cast::<u64>();
    }
    if clamp {
        sum = sum.simd_min(Simd::splat(u64::from(u32::MAX)));
    }
    sum.cast::<u32>()
}

/// `neg` says which of the first two sources are signed.
#[inline(always)]
fn mixed_dot(o: &Operation, x: U, y: U, z: U, bits: u32) -> U {
    let part = |slot: u8, value: U, index: u32| match o.neg >> slot & 1 {
        0 => unsigned_part(value, index, bits).cast::<i32>(),
        _ => signed_part(value, index, bits),
    };
    let mut sum = z.cast::<i32>().cast::<i64>();
    for index in 0..32 / bits {
        sum += (part(0, x, index) * part(1, y, index)).cast::<i64>();
    }
    if o.clamp {
        sum = sum.simd_clamp(
            Simd::splat(i64::from(i32::MIN)),
            Simd::splat(i64::from(i32::MAX)),
        );
    }
    sum.cast::<u32>()
}

/// Dot products of four fp8 or bf8: each product is added to the sum with one rounding.
pub(super) fn eights<const C: usize>(b: Binder<C>, op: PackedEights) -> Handler {
    match op {
        PackedEights::v_dot4_f32_fp8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| eight_dot::<Fp8, Fp8, C>(w, o),
        ),
        PackedEights::v_dot4_f32_fp8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| eight_dot::<Fp8, Bf8, C>(w, o),
        ),
        PackedEights::v_dot4_f32_bf8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| eight_dot::<Bf8, Fp8, C>(w, o),
        ),
        PackedEights::v_dot4_f32_bf8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| eight_dot::<Bf8, Bf8, C>(w, o),
        ),
    }
}

#[inline(always)]
fn eight_dot<A: Element, B: Element, const C: usize>(w: &mut Wave<C>, o: &Operation) -> Flow {
    let sources: [Fetched; 3] = array(|slot| w.fetch(slot as u16, &o.src[slot]));
    let results = chunks(
        #[inline(always)]
        |c| {
            let [x, y, z] = array(|slot| w.chunk(sources[slot], c));
            let positive = z & !U::splat(u32::from(o.neg_hi >> 2 & 1) << 31);
            let mut sum = F::from_bits(positive ^ U::splat(u32::from(o.neg >> 2 & 1) << 31));
            for n in 0..4 {
                sum = A::read(x, 8 * n).mul_add(B::read(y, 8 * n), sum);
            }
            sum.is_nan().select(U::splat(0x7fc0_0000), sum.to_bits())
        },
    );
    w.commit(o.dst, results);
    Flow::Next
}

pub(super) fn dot<const C: usize>(b: Binder<C>, op: PackedDot) -> Handler {
    match op {
        PackedDot::v_dot2_i32_i16 | PackedDot::v_dot2c_i32_i16 => {
            b.dot3(|o, x, y, z| signed_dot(x, y, z, 16, o.clamp))
        }
        PackedDot::v_dot4_i32_i8 | PackedDot::v_dot4c_i32_i8 => {
            b.dot3(|o, x, y, z| signed_dot(x, y, z, 8, o.clamp))
        }
        PackedDot::v_dot8_i32_i4 | PackedDot::v_dot8c_i32_i4 => {
            b.dot3(|o, x, y, z| signed_dot(x, y, z, 4, o.clamp))
        }
        PackedDot::v_dot4_i32_iu8 => b.dot3(|o, x, y, z| mixed_dot(o, x, y, z, 8)),
        PackedDot::v_dot8_i32_iu4 => b.dot3(|o, x, y, z| mixed_dot(o, x, y, z, 4)),
        PackedDot::v_dot2_u32_u16 => b.dot3(|o, x, y, z| unsigned_dot(x, y, z, 16, o.clamp)),
        PackedDot::v_dot4_u32_u8 => b.dot3(|o, x, y, z| unsigned_dot(x, y, z, 8, o.clamp)),
        PackedDot::v_dot8_u32_u4 => b.dot3(|o, x, y, z| unsigned_dot(x, y, z, 4, o.clamp)),
    }
}
