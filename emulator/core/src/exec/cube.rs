//! Coordinates on the faces of a cube, for vectors (x, y, z) in sources 0 to 2.

use std::simd::prelude::*;

use super::{
    array::{Mapped, array},
    float32,
    lanes::{Binder, chunks},
    operation::{Flow, Handler},
    simd::F,
};
use ferrowave_isa::run::Cube;

/// Selects by the axis with the largest coordinate: z before y before x.
#[inline(always)]
fn by_axis([x, y, z]: [F; 3], of_x: F, of_y: F, of_z: F) -> F {
    let [x, y, z] = [x.abs(), y.abs(), z.abs()];
    let is_z = z.simd_ge(x) & z.simd_ge(y);
    is_z.select(of_z, y.simd_ge(x).select(of_y, of_x))
}

/// `negative` where the coordinate is below zero, else `other`.
#[inline(always)]
fn by_sign(coordinate: F, negative: F, other: F) -> F {
    coordinate.simd_lt(F::splat(0.0)).select(negative, other)
}

fn bind<G: Fn([F; 3]) -> F + Copy + 'static, const C: usize>(b: Binder<C>, f: G) -> Handler {
    b.bind(
        #[inline(always)]
        move |w, _, o| {
            let sources = [0_u16, 1, 2].mapped(|slot| w.fetch(slot, &o.src[usize::from(slot)]));
            let results = chunks(|c| {
                let value = f(array(|i| float32::modified(o, i, w.chunk(sources[i], c))));
                float32::quieted(value).to_bits()
            });
            w.commit(o.dst, results);
            Flow::Next
        },
    )
}

/// The handler of a cube operation.
pub(super) fn handler<const C: usize>(b: Binder<C>, op: Cube) -> Handler {
    match op {
        Cube::v_cubeid_f32 => bind(b, |v| {
            let face = |coordinate: F, number: f32| {
                by_sign(coordinate, F::splat(number + 1.0), F::splat(number))
            };
            by_axis(v, face(v[0], 0.0), face(v[1], 2.0), face(v[2], 4.0))
        }),
        Cube::v_cubesc_f32 => bind(b, |v| {
            let [x, _, z] = v;
            by_axis(v, by_sign(x, z, -z), x, by_sign(z, -x, x))
        }),
        Cube::v_cubetc_f32 => bind(b, |v| {
            let [_, y, z] = v;
            by_axis(v, -y, by_sign(y, -z, z), -y)
        }),
        Cube::v_cubema_f32 => bind(b, |v| {
            let [x, y, z] = v;
            by_axis(v, x, y, z) * F::splat(2.0)
        }),
    }
}
