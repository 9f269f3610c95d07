//! Integer and bit operations of the vector unit, 32 and 64 bits.

use std::simd::prelude::*;

use super::{
    array::{Mapped, array},
    lanes::{Binder, chunks, sext16, sext24},
    operation::{Flow, Handler},
    simd::{D, I, M, U, chunk_mask},
};
use ferrowave_isa::run::{IntegerArithmetic, IntegerBits, IntegerLanes, IntegerWide};

fn s(a: U) -> I {
    a.cast::<i32>()
}

fn u(a: I) -> U {
    a.cast::<u32>()
}

fn k(a: u32) -> U {
    U::splat(a)
}

#[inline(always)]
fn mul_hi(a: U, b: U) -> U {
    ((a.cast::<u64>() * b.cast::<u64>()) >> D::splat(32)).cast::<u32>()
}

#[inline(always)]
fn mul_hi_signed(a: I, b: I) -> U {
    ((a.cast::<i64>() * b.cast::<i64>()) >> Simd::splat(32)).cast::<u32>()
}

#[inline(always)]
fn med3<T: Ord3>(a: T, b: T, c: T) -> T {
    a.least(b).greatest(a.greatest(b).least(c))
}

/// Minimum and maximum, alike for signed and unsigned vectors.
trait Ord3: Copy {
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
}

impl Ord3 for U {
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.simd_min(other)
    }
    #[inline(always)]
    fn greatest(self, other: Self) -> Self {
        self.simd_max(other)
    }
}

impl Ord3 for I {
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.simd_min(other)
    }
    #[inline(always)]
    fn greatest(self, other: Self) -> Self {
        self.simd_max(other)
    }
}

pub(super) fn arithmetic<const C: usize>(b: Binder<C>, op: IntegerArithmetic) -> Handler {
    match op {
        IntegerArithmetic::v_add_u32 => b.clamped(|x, y| x + y, U::saturating_add),
        IntegerArithmetic::v_sub_u32 => b.clamped(|x, y| x - y, U::saturating_sub),
        IntegerArithmetic::v_subrev_u32 => b.clamped(|x, y| y - x, |x, y| y.saturating_sub(x)),
        IntegerArithmetic::v_add_i32 => {
            b.clamped(|x, y| x + y, |x, y| u(s(x).saturating_add(s(y))))
        }
        IntegerArithmetic::v_sub_i32 => {
            b.clamped(|x, y| x - y, |x, y| u(s(x).saturating_sub(s(y))))
        }
        IntegerArithmetic::v_add_co_u32 => b.carry_out::<{ !0 }, _>(|x, y| {
            let sum = x + y;
            (sum, sum.simd_lt(x))
        }),
        IntegerArithmetic::v_sub_co_u32 => b.carry_out::<0, _>(|x, y| (x - y, y.simd_gt(x))),
        IntegerArithmetic::v_subrev_co_u32 => b.carry_out::<0, _>(|x, y| (y - x, x.simd_gt(y))),
        IntegerArithmetic::v_addc_co_u32 => b.carry_in_out::<{ !0 }, _>(|x, y, carry| {
            let sum = x + y;
            let total = sum + carry;
            (total, sum.simd_lt(x) | total.simd_lt(sum))
        }),
        IntegerArithmetic::v_subb_co_u32 => b.carry_in_out::<0, _>(subtract_with_borrow),
        IntegerArithmetic::v_subbrev_co_u32 => {
            b.carry_in_out::<0, _>(|x, y, carry| subtract_with_borrow(y, x, carry))
        }
        IntegerArithmetic::v_mul_lo_u32 => b.u2(|x, y| x * y),
        IntegerArithmetic::v_mul_hi_u32 => b.u2(mul_hi),
        IntegerArithmetic::v_mul_hi_i32 => b.u2(|x, y| mul_hi_signed(s(x), s(y))),
        IntegerArithmetic::v_mul_i32_i24 => b.u2(|x, y| u(sext24(x) * sext24(y))),
        IntegerArithmetic::v_mul_hi_i32_i24 => b.u2(|x, y| mul_hi_signed(sext24(x), sext24(y))),
        IntegerArithmetic::v_mul_u32_u24 => b.u2(|x, y| (x & k(0xff_ffff)) * (y & k(0xff_ffff))),
        IntegerArithmetic::v_mul_hi_u32_u24 => {
            b.u2(|x, y| mul_hi(x & k(0xff_ffff), y & k(0xff_ffff)))
        }
        IntegerArithmetic::v_mad_i32_i24 => b.u3(|x, y, z| u(sext24(x) * sext24(y)) + z),
        IntegerArithmetic::v_mad_u32_u24 => {
            b.u3(|x, y, z| (x & k(0xff_ffff)) * (y & k(0xff_ffff)) + z)
        }
        IntegerArithmetic::v_mad_u32_u16 => b.u3(|x, y, z| (x & k(0xffff)) * (y & k(0xffff)) + z),
        IntegerArithmetic::v_mad_i32_i16 => b.u3(|x, y, z| u(sext16(x) * sext16(y)) + z),
        IntegerArithmetic::v_add3_u32 => b.u3(|x, y, z| x + y + z),
        IntegerArithmetic::v_lshl_add_u32 => b.u3(|x, y, z| (x << (y & k(31))) + z),
        IntegerArithmetic::v_add_lshl_u32 => b.u3(|x, y, z| (x + y) << (z & k(31))),
        IntegerArithmetic::v_xad_u32 => b.u3(|x, y, z| (x ^ y) + z),
        IntegerArithmetic::v_min_i32 => b.u2(|x, y| u(s(x).simd_min(s(y)))),
        IntegerArithmetic::v_max_i32 => b.u2(|x, y| u(s(x).simd_max(s(y)))),
        IntegerArithmetic::v_min_u32 => b.u2(|x, y| x.simd_min(y)),
        IntegerArithmetic::v_max_u32 => b.u2(|x, y| x.simd_max(y)),
        IntegerArithmetic::v_min3_i32 => b.u3(|x, y, z| u(s(x).simd_min(s(y)).simd_min(s(z)))),
        IntegerArithmetic::v_max3_i32 => b.u3(|x, y, z| u(s(x).simd_max(s(y)).simd_max(s(z)))),
        IntegerArithmetic::v_min3_u32 => b.u3(|x, y, z| x.simd_min(y).simd_min(z)),
        IntegerArithmetic::v_max3_u32 => b.u3(|x, y, z| x.simd_max(y).simd_max(z)),
        IntegerArithmetic::v_minmax_i32 => b.u3(|x, y, z| u(s(x).simd_min(s(y)).simd_max(s(z)))),
        IntegerArithmetic::v_maxmin_i32 => b.u3(|x, y, z| u(s(x).simd_max(s(y)).simd_min(s(z)))),
        IntegerArithmetic::v_minmax_u32 => b.u3(|x, y, z| x.simd_min(y).simd_max(z)),
        IntegerArithmetic::v_maxmin_u32 => b.u3(|x, y, z| x.simd_max(y).simd_min(z)),
        IntegerArithmetic::v_med3_i32 => b.u3(|x, y, z| u(med3(s(x), s(y), s(z)))),
        IntegerArithmetic::v_med3_u32 => b.u3(med3::<U>),
    }
}

#[inline(always)]
fn subtract_with_borrow(x: U, y: U, borrow: U) -> (U, M) {
    // y + borrow > x without overflow: equal operands borrow exactly when a borrow comes in.
    (
        x - y - borrow,
        y.simd_gt(x) | (y.simd_eq(x) & borrow.simd_ne(k(0))),
    )
}

pub(super) fn bits<const C: usize>(b: Binder<C>, op: IntegerBits) -> Handler {
    match op {
        IntegerBits::v_mov_b32
        | IntegerBits::v_movrels_b32
        | IntegerBits::v_movreld_b32
        | IntegerBits::v_movrelsd_b32
        | IntegerBits::v_movrelsd_2_b32
        | IntegerBits::v_accvgpr_read
        | IntegerBits::v_accvgpr_write
        | IntegerBits::v_accvgpr_mov_b32 => b.u1(|x| x),
        IntegerBits::v_nop => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Next,
        ),
        IntegerBits::v_prng_b32 => b.u1(next_random),
        IntegerBits::v_not_b32 => b.u1(|x| !x),
        IntegerBits::v_bfrev_b32 => b.u1(|x| x.reverse_bits()),
        IntegerBits::v_ffbh_u32 => b.u1(|x| x.simd_eq(k(0)).select(k(!0), x.leading_zeros())),
        IntegerBits::v_ffbl_b32 => b.u1(|x| x.simd_eq(k(0)).select(k(!0), x.trailing_zeros())),
        IntegerBits::v_ffbh_i32 => b.u1(|x| {
            // Bits that differ from the sign; 0 and -1 have none.
            let differing = u(s(x) >> I::splat(31)) ^ x;
            differing
                .simd_eq(k(0))
                .select(k(!0), differing.leading_zeros())
        }),
        IntegerBits::v_and_b32 => b.u2(|x, y| x & y),
        IntegerBits::v_or_b32 => b.u2(|x, y| x | y),
        IntegerBits::v_xor_b32 => b.u2(|x, y| x ^ y),
        IntegerBits::v_xor3_b32 => b.u3(|x, y, z| x ^ y ^ z),
        IntegerBits::v_cvt_i32_i16 => b.u1(|x| u(sext16(x))),
        IntegerBits::v_cvt_u32_u16 => b.u1(|x| x & k(0xffff)),
        IntegerBits::v_xnor_b32 => b.u2(|x, y| !(x ^ y)),
        IntegerBits::v_lshlrev_b32 => b.u2(|x, y| y << (x & k(31))),
        IntegerBits::v_lshrrev_b32 => b.u2(|x, y| y >> (x & k(31))),
        IntegerBits::v_ashrrev_i32 => b.u2(|x, y| u(s(y) >> s(x & k(31)))),
        IntegerBits::v_bfm_b32 => b.u2(|x, y| ((k(1) << (x & k(31))) - k(1)) << (y & k(31))),
        IntegerBits::v_bcnt_u32_b32 => b.u2(|x, y| x.count_ones() + y),
        IntegerBits::v_bfe_u32 => {
            b.u3(|x, y, z| (x >> (y & k(31))) & ((k(1) << (z & k(31))) - k(1)))
        }
        IntegerBits::v_bfe_i32 => b.u3(|x, y, z| {
            let width = z & k(31);
            let field = (x >> (y & k(31))) & ((k(1) << width) - k(1));
            // The sign of a field of `width` bits; a field of no bits is 0.
            let sign = (k(1) << width) >> k(1);
            (field ^ sign) - sign
        }),
        IntegerBits::v_bfi_b32 => b.u3(|x, y, z| (x & y) | (!x & z)),
        IntegerBits::v_alignbit_b32 => b.u3(|x, y, z| align(x, y, z & k(31))),
        IntegerBits::v_alignbyte_b32 => b.u3(|x, y, z| align(x, y, (z & k(3)) * k(8))),
        IntegerBits::v_lshl_or_b32 => b.u3(|x, y, z| (x << (y & k(31))) | z),
        IntegerBits::v_and_or_b32 => b.u3(|x, y, z| (x & y) | z),
        IntegerBits::v_or3_b32 => b.u3(|x, y, z| x | y | z),
        IntegerBits::v_perm_b32 => b.u3(|x, y, z| {
            let data = join_halves(y, x);
            let mut result = k(0);
            for byte in 0..4 {
                let select = (z >> k(8 * byte)) & k(0xff);
                let picked =
                    (data >> ((select & k(7)).cast::<u64>() * D::splat(8))).cast::<u32>() & k(0xff);
                // 8 to 11 repeat the sign of bytes 1, 3, 5 and 7.
                let sign_shift = (select - k(8)) * k(16) + k(15);
                let sign = (data >> (sign_shift & k(63)).cast::<u64>()).cast::<u32>() & k(1);
                let value = select.simd_lt(k(8)).select(
                    picked,
                    select
                        .simd_lt(k(12))
                        .select(sign * k(0xff), select.simd_eq(k(12)).select(k(0), k(0xff))),
                );
                result |= value << k(8 * byte);
            }
            result
        }),
        IntegerBits::v_cndmask_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (x, y) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = w.read_lane_mask(&o.src[2]);
                let modified = |value: U, slot: u8| {
                    let and = if o.abs >> slot & 1 == 1 {
                        0x7fff_ffff
                    } else {
                        !0
                    };
                    let xor = u32::from(o.neg >> slot & 1) << 31;
                    (value & k(and)) ^ k(xor)
                };
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        chunk_mask(mask, c)
                            .select(modified(w.chunk(y, c), 1), modified(w.chunk(x, c), 0))
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        IntegerBits::v_swap_b32 | IntegerBits::v_swaprel_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (x, y) = (*w.lanes(o.src[0].register), *w.lanes(o.dst));
                w.commit(o.dst, *x.chunks());
                w.commit(o.src[0].register, *y.chunks());
                Flow::Next
            },
        ),
        // The halves that `op_sel` selects.
        IntegerBits::v_swap_b16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let half = |high: u8| if high == 0 { 0 } else { 16 };
                let (from, to) = (half(o.op_sel & 1), half(o.op_sel & 8));
                let source = o.src[0].register;
                let part = |bits: U, at: u32| (bits >> k(at)) & k(0xffff);
                let put = |old: U, at: u32, part: U| old & k(!(0xffff << at)) | part << k(at);
                let x: [U; C] = *w.lanes(source).chunks();
                let y: [U; C] = *w.lanes(o.dst).chunks();
                w.commit(
                    source,
                    chunks(
                        #[inline(always)]
                        |c| put(x[c], from, part(y[c], to)),
                    ),
                );
                // The same register, if both halves are its.
                let y: [U; C] = *w.lanes(o.dst).chunks();
                w.commit(
                    o.dst,
                    chunks(
                        #[inline(always)]
                        |c| put(y[c], to, part(x[c], from)),
                    ),
                );
                Flow::Next
            },
        ),
        IntegerBits::v_sat_pk_u8_i16 => b.u1(|x| {
            let byte = |v: I| u(v.simd_clamp(I::splat(0), I::splat(255)));
            byte(sext16(x)) | byte(sext16(x >> k(16))) << k(8)
        }),
        IntegerBits::v_lerp_u8 => b.u3(|x, y, z| {
            // The mean of each byte, rounded up where bit 0 of the last source's byte is 1.
            let mut result = k(0);
            for shift in [0, 8, 16, 24] {
                let byte = |v: U| (v >> k(shift)) & k(0xff);
                let sum = byte(x) + byte(y) + (byte(z) & k(1));
                result |= (sum >> k(1)) << k(shift);
            }
            result
        }),
        IntegerBits::v_cvt_pk_u16_u32 => {
            b.u2(|x, y| x.simd_min(k(0xffff)) | y.simd_min(k(0xffff)) << k(16))
        }
        IntegerBits::v_cvt_pk_i16_i32 => b.u2(|x, y| {
            let clamp = |v: U| u(s(v).simd_clamp(I::splat(-0x8000), I::splat(0x7fff)));
            (clamp(x) & k(0xffff)) | clamp(y) << k(16)
        }),
    }
}

/// The random number generator of `v_prng_b32`.
#[inline(always)]
pub(crate) fn next_random(seed: U) -> U {
    let top = s(seed) >> I::splat(31);
    (seed << k(1)) ^ (u(top) & k(197))
}

#[inline(always)]
fn join_halves(low: U, high: U) -> D {
    super::wave::join(low, high)
}

#[inline(always)]
fn align(high: U, low: U, shift: U) -> U {
    (join_halves(low, high) >> shift.cast::<u64>()).cast::<u32>()
}

pub(super) fn wide<const C: usize>(b: Binder<C>, op: IntegerWide) -> Handler {
    match op {
        IntegerWide::v_mov_b64 => b.d1(|x| x),
        IntegerWide::v_lshlrev_b64 => b.ud_d(|x, y| y << (x & k(63)).cast::<u64>()),
        IntegerWide::v_lshrrev_b64 => b.ud_d(|x, y| y >> (x & k(63)).cast::<u64>()),
        IntegerWide::v_ashrrev_i64 => {
            b.ud_d(|x, y| (y.cast::<i64>() >> (x & k(63)).cast::<i64>()).cast::<u64>())
        }
        // The hardware shifts by at most 4 (three bits, values above 4 are reserved). In 32-bit halves with a carry,
        // because a host vector holds twice as many of them.
        IntegerWide::v_lshl_add_u64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let x = w.fetch64(0, &o.src[0]);
                let y = w.fetch(1, &o.src[1]);
                let z = w.fetch64(2, &o.src[2]);
                let sums = chunks(
                    #[inline(always)]
                    |c| {
                        let shift = w.chunk(y, c) & k(7);
                        let (low, high) = (w.chunk(x[0], c), w.chunk(x[1], c));
                        let shifted_high = (high << shift) | ((low >> k(1)) >> (k(31) - shift));
                        let shifted_low = low << shift;
                        let low = shifted_low + w.chunk(z[0], c);
                        let carry = low.simd_lt(shifted_low).select(k(1), k(0));
                        (low, shifted_high + w.chunk(z[1], c) + carry)
                    },
                );
                w.commit(o.dst, sums.mapped(|s| s.0));
                w.commit(o.dst + 1, sums.mapped(|s| s.1));
                Flow::Next
            },
        ),
        IntegerWide::v_mad_u64_u32 => b.uud_d_carry(|x, y, z| {
            let product = x.cast::<u64>() * y.cast::<u64>();
            let sum = product + z;
            (sum, sum.simd_lt(product).cast::<i32>())
        }),
        IntegerWide::v_mad_i64_i32 => b.uud_d_carry(|x, y, z| {
            let product = s(x).cast::<i64>() * s(y).cast::<i64>();
            let z = z.cast::<i64>();
            let sum = product + z;
            // Bit 64 of the exact 65-bit sum: the sum's sign, corrected where 64 bits overflowed.
            let overflow = ((product ^ sum) & (z ^ sum)).simd_lt(Simd::splat(0));
            let carry = sum.simd_lt(Simd::splat(0)) ^ overflow;
            (sum.cast::<u64>(), carry.cast::<i32>())
        }),
    }
}

pub(super) fn lanes<const C: usize>(b: Binder<C>, op: IntegerLanes) -> Handler {
    match op {
        IntegerLanes::v_readfirstlane_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let lane = if w.active() == 0 {
                    0
                } else {
                    w.active().trailing_zeros()
                };
                let value = read_lane(w, o, lane);
                w.set_scalar(o.dst, value);
                Flow::Next
            },
        ),
        IntegerLanes::v_readlane_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let lane = w.read32(&o.src[1]);
                let value = read_lane(w, o, lane);
                w.set_scalar(o.dst, value);
                Flow::Next
            },
        ),
        IntegerLanes::v_writelane_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (value, lane) = (w.read32(&o.src[0]), w.read32(&o.src[1]));
                w.lanes_mut(o.dst).as_mut_array()[lane as usize % (16 * C)] = value;
                Flow::Next
            },
        ),
        IntegerLanes::v_mbcnt_lo_u32_b32 => b.bind(
            #[inline(always)]
            |w, _, o| masked_bit_count(w, o, false),
        ),
        IntegerLanes::v_mbcnt_hi_u32_b32 => b.bind(
            #[inline(always)]
            |w, _, o| masked_bit_count(w, o, true),
        ),
    }
}

#[inline(always)]
fn read_lane<const C: usize>(
    w: &super::Wave<C>,
    o: &super::operation::Operation,
    lane: u32,
) -> u32 {
    match o.src[0].kind {
        super::operation::SourceKind::Vector => {
            w.lanes(o.src[0].register).as_array()[lane as usize % (16 * C)]
        }
        _ => w.read32(&o.src[0]),
    }
}

#[inline(always)]
fn masked_bit_count<const C: usize>(
    w: &mut super::Wave<C>,
    o: &super::operation::Operation,
    high: bool,
) -> Flow {
    let (x, y) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
    let result = chunks(
        #[inline(always)]
        |c| {
            // The mask bits of the lanes below each lane, within the mask's half.
            let below = U::from_array(array(|i| {
                let mask = (1_u64 << (16 * c + i)) - 1;
                if high {
                    (mask >> 32) as u32
                } else {
                    mask as u32
                }
            }));
            (w.chunk(x, c) & below).count_ones() + w.chunk(y, c)
        },
    );
    w.commit(o.dst, result);
    Flow::Next
}
