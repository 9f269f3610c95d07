//! Integer products and sums that the clamp keeps in range.

use std::simd::prelude::*;

use super::{
    lanes::{Binder, sext16, sext24},
    operation::Handler,
    simd::{D, I, U},
};
use ferrowave_isa::Op;

type L = Simd<i64, 16>;

fn signed(exact: L) -> U {
    let limit = |value: i32| L::splat(value.into());
    exact
        .simd_clamp(limit(i32::MIN), limit(i32::MAX))
        .cast::<u32>()
}

fn unsigned(exact: D) -> U {
    exact.simd_min(D::splat(u32::MAX.into())).cast::<u32>()
}

fn wide(value: I) -> L {
    value.cast::<i64>()
}

fn bits(value: U, count: u32) -> D {
    (value & U::splat((1 << count) - 1)).cast::<u64>()
}

/// The handler of an integer operation with clamp.
pub(crate) fn handler<const C: usize>(b: Binder<C>, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mul_i32_i24 => b.u2(|x, y| signed(wide(sext24(x)) * wide(sext24(y)))),
        Op::v_mul_u32_u24 => b.u2(|x, y| unsigned(bits(x, 24) * bits(y, 24))),
        Op::v_mad_i32_i24 => {
            b.u3(|x, y, z| signed(wide(sext24(x)) * wide(sext24(y)) + wide(z.cast::<i32>())))
        }
        Op::v_mad_u32_u24 => b.u3(|x, y, z| unsigned(bits(x, 24) * bits(y, 24) + z.cast::<u64>())),
        Op::v_mad_u32_u16 => b.u3(|x, y, z| unsigned(bits(x, 16) * bits(y, 16) + z.cast::<u64>())),
        Op::v_mad_i32_i16 => {
            b.u3(|x, y, z| signed(wide(sext16(x)) * wide(sext16(y)) + wide(z.cast::<i32>())))
        }
        Op::v_mad_u64_u32 => long(b, |x, y, z| {
            let product = x.cast::<u64>() * y.cast::<u64>();
            let sum = product + z;
            let over = sum.simd_lt(product);
            (over.select(D::splat(u64::MAX), sum), over)
        }),
        Op::v_mad_i64_i32 => long(b, |x, y, z| {
            let product = wide(x.cast::<i32>()) * wide(y.cast::<i32>());
            let z = z.cast::<i64>();
            let sum = product + z;
            let over = ((product ^ sum) & (z ^ sum)).simd_lt(L::splat(0));
            let carry = sum.simd_lt(L::splat(0)) ^ over;
            // An overflow goes past the end on the side where both terms are.
            let end = z
                .simd_lt(L::splat(0))
                .select(L::splat(i64::MIN), L::splat(i64::MAX));
            (over.select(end, sum).cast::<u64>(), carry)
        }),
        _ => return None,
    })
}

/// Two 32-bit sources and a 64-bit one, to a 64-bit result with a carry out.
fn long<G, const C: usize>(b: Binder<C>, f: G) -> Handler
where
    G: Fn(U, U, D) -> (D, Mask<i64, 16>) + Copy + 'static,
{
    b.uud_d_carry(move |x, y, z| {
        let (value, carry) = f(x, y, z);
        (value, carry.cast::<i32>())
    })
}
