//! Rust types of matrix elements.

use bytemuck::{Pod, Zeroable};
use ferrowave_shared::ElementType;
use half::{bf16, f16};

/// A type whose values have the memory layout of matrix elements, or of as many as fill whole bytes.
pub trait Element: Pod {
    /// The element types with this layout.
    const TYPES: &'static [ElementType];
}

/// The code of an 8-bit float of the OCP with three fraction bits, [`ElementType::Fp8`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Fp8(pub u8);

/// The code of an 8-bit float of gfx942, [`ElementType::Fp8Fnuz`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Fp8Fnuz(pub u8);

/// The code of an 8-bit float of the OCP with two fraction bits, [`ElementType::Bf8`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bf8(pub u8);

/// The code of an 8-bit float of gfx942 with two fraction bits, [`ElementType::Bf8Fnuz`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bf8Fnuz(pub u8);

/// The code of an element of MXFP8, [`ElementType::Mxfp8`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Mxfp8(pub u8);

/// The code of an element of MXFP8 in E5M2, [`ElementType::Mxbf8`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Mxbf8(pub u8);

/// The codes of two elements of MXFP4, [`ElementType::Mxfp4`], the first one in the low half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Mxfp4Pair(pub u8);

/// The codes of four elements of MXFP6, [`ElementType::Mxfp6`] or [`ElementType::Mxbf6`], the first one in the lowest bits of the first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Mxfp6Quad(pub [u8; 3]);

/// The code of a scale of 32 elements, [`ElementType::E8m0`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct E8m0(pub u8);

macro_rules! elements {
    ($($type:ty: $($element:ident),*;)*) => {
        $(impl Element for $type {
            const TYPES: &'static [ElementType] = &[$(ElementType::$element),*];
        })*
    };
}

elements! {
    f32: F32, Xf32;
    f64: F64;
    f16: F16;
    bf16: Bf16;
    i8: I8;
    i32: I32;
    Fp8: Fp8;
    Fp8Fnuz: Fp8Fnuz;
    Bf8: Bf8;
    Bf8Fnuz: Bf8Fnuz;
    Mxfp8: Mxfp8;
    Mxbf8: Mxbf8;
    Mxfp4Pair: Mxfp4;
    Mxfp6Quad: Mxfp6, Mxbf6;
    E8m0: E8m0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>() {
        for element in T::TYPES {
            let elements = u128::from(element.packed());
            assert_eq!(size_of::<T>() as u128, element.bytes(elements), "{element}");
        }
    }

    #[test]
    fn elements_have_the_size_that_kernels_take_them_to_have() {
        check::<f32>();
        check::<f64>();
        check::<f16>();
        check::<bf16>();
        check::<i8>();
        check::<i32>();
        check::<Fp8>();
        check::<Fp8Fnuz>();
        check::<Bf8>();
        check::<Bf8Fnuz>();
        check::<Mxfp8>();
        check::<Mxbf8>();
        check::<Mxfp4Pair>();
        check::<Mxfp6Quad>();
        check::<E8m0>();
    }
}
