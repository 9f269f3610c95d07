//! Matrix-core instructions. What their lanes hold is the business of [`crate::mfma`].

use core::simd::{f32x4, f32x16};

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.mfma.f32.16x16x4f32"]
    fn llvm_mfma_f32_16x16x4f32(a: f32, b: f32, c: f32x4, cbsz: i32, abid: i32, blgp: i32)
    -> f32x4;

    #[link_name = "llvm.amdgcn.mfma.f32.16x16x1f32"]
    fn llvm_mfma_f32_16x16x1f32(
        a: f32,
        b: f32,
        c: f32x16,
        cbsz: i32,
        abid: i32,
        blgp: i32,
    ) -> f32x16;
}

/// `v_mfma_f32_16x16x4_f32` (gfx908: `v_mfma_f32_16x16x4f32`): `a · b + c` over the lanes of a wave.
///
/// Must be reached by all lanes of the wave together: it multiplies what inactive lanes hold, too.
#[inline(always)]
pub(crate) fn mfma_f32_16x16x4(a: f32, b: f32, c: [f32; 4]) -> [f32; 4] {
    // SAFETY: every GPU of the catalogue row that instantiates this has the instruction. No
    // broadcast of blocks and no lane permutation: all modifiers are 0.
    unsafe { llvm_mfma_f32_16x16x4f32(a, b, f32x4::from_array(c), 0, 0, 0) }.to_array()
}

/// `v_mfma_f32_16x16x1_4b_f32` (gfx908: `v_mfma_f32_16x16x1f32`): four blocks of `a · b + c` over the lanes of
/// a wave, all of which take block `BLOCK` of `a`.
///
/// Must be reached by all lanes of the wave together, as [`mfma_f32_16x16x4`].
#[inline(always)]
pub(crate) fn mfma_f32_16x16x1_4b<const BLOCK: i32>(a: f32, b: f32, c: [f32; 16]) -> [f32; 16] {
    /// CBSZ: one block of A for groups of 2² blocks.
    const FOUR_BLOCKS: i32 = 2;
    const { assert!(0 <= BLOCK && BLOCK < 4, "there are four blocks") }
    let c = f32x16::from_array(c);
    // SAFETY: every GPU of the catalogue row that instantiates this has the instruction. No lane
    // permutation: BLGP is 0.
    unsafe { llvm_mfma_f32_16x16x1f32(a, b, c, FOUR_BLOCKS, BLOCK, 0) }.to_array()
}
