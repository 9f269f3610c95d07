//! Functions that compute a value.

use std::ffi::c_int;

use ferrowave_hip_abi::{hipChannelFormatDesc, hipChannelFormatKind};
use rustc_apfloat::{
    Float, FloatConvert,
    ieee::{Half, Single},
};

pub(super) unsafe fn hipCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    f: hipChannelFormatKind,
) -> hipChannelFormatDesc {
    hipChannelFormatDesc { x, y, z, w, f }
}

/// A NaN becomes the quiet NaN with its sign, as in `hip_platform.cpp` of ROCm's clr.
pub(super) unsafe fn __gnu_f2h_ieee(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7e00 | ((value.to_bits() >> 16) as u16 & 0x8000);
    }
    let half: Half = Single::from_bits(value.to_bits().into())
        .convert(&mut false)
        .value;
    half.to_bits() as u16
}

pub(super) unsafe fn __gnu_h2f_ieee(bits: u16) -> f32 {
    let single: Single = Half::from_bits(bits.into()).convert(&mut false).value;
    f32::from_bits(single.to_bits() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_ieee_binary16() {
        // Limits of the format and ties to even, by the format's definition.
        let table = [
            (0.0, 0x0000),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (2f32.powi(-24), 0x0001),
            (-2f32.powi(-14), 0x8400),
            (1.0 + 2f32.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2f32.powi(-11), 0x3c02),
            (f32::NAN, 0x7e00),
        ];
        for (value, bits) in table {
            // SAFETY: the function takes no pointers.
            assert_eq!(unsafe { __gnu_f2h_ieee(value) }, bits, "{value}");
        }
        for bits in 0..=u16::MAX {
            // SAFETY: the function takes no pointers.
            let (value, back) = unsafe {
                let value = __gnu_h2f_ieee(bits);
                (value, __gnu_f2h_ieee(value))
            };
            assert!(back == bits || value.is_nan() && bits & 0x7fff > 0x7c00);
        }
    }
}
