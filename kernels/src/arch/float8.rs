//! Conversions of 8-bit floats, in the encoding of the GPU: `v_cvt_f32_fp8`, `v_cvt_pk_fp8_f32`, and the same for bf8.

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.cvt.f32.fp8"]
    fn cvt_f32_fp8(bytes: u32, byte: u32) -> f32;
    #[link_name = "llvm.amdgcn.cvt.pk.fp8.f32"]
    fn cvt_pk_fp8_f32(low: f32, high: f32, old: u32, upper_half: bool) -> u32;
    #[link_name = "llvm.amdgcn.cvt.f32.bf8"]
    fn cvt_f32_bf8(bytes: u32, byte: u32) -> f32;
    #[link_name = "llvm.amdgcn.cvt.pk.bf8.f32"]
    fn cvt_pk_bf8_f32(low: f32, high: f32, old: u32, upper_half: bool) -> u32;
}

/// The value of an E4M3.
#[inline(always)]
pub(crate) fn from_fp8(code: u8) -> f32 {
    // SAFETY: the instruction is defined for all codes.
    unsafe { cvt_f32_fp8(code.into(), 0) }
}

/// The E4M3s nearest to two numbers, ties to even. Numbers that are too large, infinities and NaN become NaN.
#[inline(always)]
pub(crate) fn to_fp8(low: f32, high: f32) -> [u8; 2] {
    // SAFETY: the instruction is defined for all floats.
    unsafe { (cvt_pk_fp8_f32(low, high, 0, false) as u16).to_le_bytes() }
}

/// The value of an E5M2.
#[inline(always)]
pub(crate) fn from_bf8(code: u8) -> f32 {
    // SAFETY: the instruction is defined for all codes.
    unsafe { cvt_f32_bf8(code.into(), 0) }
}

/// The E5M2s nearest to two numbers, ties to even. Numbers that are too large become infinite, or NaN in FNUZ.
#[inline(always)]
pub(crate) fn to_bf8(low: f32, high: f32) -> [u8; 2] {
    // SAFETY: the instruction is defined for all floats.
    unsafe { (cvt_pk_bf8_f32(low, high, 0, false) as u16).to_le_bytes() }
}
