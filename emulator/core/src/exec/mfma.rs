//! Matrix instructions: D ← A·B + C over the registers of a whole wave.
//!
//! Lane maps, from AMD's «matrix instruction calculator» and the CDNA ISA guides. With M = N rows and columns, 64/M
//! groups of lanes, and k adjacent elements of A or B in a lane:
//! - `A[i][k]` of block b is in lane `M·group + i`, `B[k][j]` in lane `N·group + j`. The groups of a block follow each
//!   other in k (operands of 256 bits: [`panel::Panel::read`]).
//! - `D[i][j]` of a 32×32 block: register g, lane l with i = 8⌊g/4⌋ + 4⌊l/32⌋ + g mod 4, j = l mod 32; of a 16×16
//!   block: i = 4⌊l/16⌋ + g, j = l mod 16; of the sixteen 4×4 blocks: block ⌊l/4⌋, i = g, j = l mod 4.
//! - f64: [`double`]; sparse A: [`sparse`]; gfx950's formats below 8 bits and its scales: [`scaled`].
//!
//! How each GPU adds: [`sum`]. MODE's rounding and denormal settings have no effect.

mod double;
mod element;
mod exact;
mod pairs;
mod panel;
mod product;
mod scaled;
mod setting;
mod small;
mod sparse;
mod sum;
mod truncated;

use ferrowave_gpu::Gpu;

pub(crate) use self::element::{Bf16, Element, F16, F32};
pub use self::setting::{MATRIX_VARIABLE, MatrixSettingError, MatrixSums};
use self::{
    element::{FlushedBf16, FlushedF16, I8, Xf32},
    exact::Exact,
    pairs::Pairs,
    sum::{FlushedSingle, Integer, Single, Sum},
    truncated::{Halved, Truncated},
};
use super::{
    lanes::Binder64,
    minifloat::{Bf8, Bf8Fnuz, Fp8, Fp8Fnuz},
    operation::Handler,
};
use ferrowave_isa::{
    Instruction,
    run::{
        MfmaDoubles, MfmaEights, MfmaHalves, MfmaIntegers, MfmaNarrow, MfmaReduced, MfmaSingles,
        Run,
    },
};

/// The handler of a product of f32 with reduced precision.
pub(super) fn reduced(b: Binder64, op: MfmaReduced) -> Handler {
    match b.fast_sums {
        true => reduced_to::<Single>(b, op),
        false => reduced_to::<Truncated<4, true>>(b, op),
    }
}

/// The handler of a product of f16 or bf16. gfx90a's instructions flush denormal sources and results (PyTorch's notes
/// on MI200 numerics, from AMD).
pub(super) fn halves(b: Binder64, gpu: Gpu, op: MfmaHalves) -> Handler {
    type Wide = Truncated<8, true>;
    let halves = match (gpu, b.fast_sums) {
        (Gpu::Gfx90a, true) => {
            halves_to::<FlushedF16, FlushedBf16, FlushedSingle, FlushedSingle, FlushedSingle>
        }
        (_, true) => halves_to::<F16, Bf16, Single, Single, Single>,
        (Gpu::Gfx908, false) => halves_to::<F16, Bf16, Exact<4>, Exact<4>, Exact<2>>,
        (Gpu::Gfx90a, false) => {
            halves_to::<FlushedF16, FlushedBf16, Pairs<4, false>, Pairs<4, true>, Pairs<2, true>>
        }
        // Only CDNA has these instructions, and no GPU of it is left but gfx942 and gfx950.
        (_, false) => halves_to::<F16, Bf16, Truncated<8, false>, Wide, Wide>,
    };
    halves(b, op)
}

/// The handler of a product of fp8 or bf8.
pub(super) fn eights(b: Binder64, gpu: Gpu, op: MfmaEights) -> Handler {
    let eights = match (gpu, b.fast_sums) {
        (Gpu::Gfx942, true) => eights_to::<Fp8Fnuz, Bf8Fnuz, Single>,
        (_, true) => eights_to::<Fp8, Bf8, Single>,
        (Gpu::Gfx942, false) => eights_to::<Fp8Fnuz, Bf8Fnuz, Halved<false>>,
        (_, false) => eights_to::<Fp8, Bf8, Halved<false>>,
    };
    eights(b, op)
}

/// The handler of a product of gfx950's formats of 8 bits and below.
pub(super) fn narrow(b: Binder64, op: MfmaNarrow) -> Handler {
    match b.fast_sums {
        true => narrow_fast(b, op),
        false => narrow_exact(b, op),
    }
}

/// Whether an instruction has bits set that AMD's documents give no meaning: broadcasts of A among fewer blocks than
/// they need, permutations of B on instructions without them («matrix instruction calculator», `--detail-instruction`).
pub(super) fn has_undocumented_bits(gpu: Gpu, i: &Instruction) -> bool {
    let blocks = i.blocks();
    let before_gfx942 = matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a);
    let permutes = match i.run() {
        Run::MfmaSingles(_) => true,
        Run::MfmaReduced(_) | Run::MfmaHalves(_) | Run::MfmaIntegers(_) | Run::MfmaEights(_) => {
            before_gfx942 || blocks > 1
        }
        Run::MfmaDoubles(_) => !before_gfx942,
        _ => return false,
    };
    if i.is_sparse() {
        return false;
    }
    let m = i.matrix;
    let a = 1_u32.checked_shl(m.cbsz.into()).is_none_or(|n| n > blocks) || m.abid >> m.cbsz != 0;
    a || m.blgp != 0 && !permutes
}

/// Binds a dense product: types of A, B and sum; M, K, blocks.
macro_rules! dense {
    ($b:ident, $a:ty, $bt:ty, $sum:ty, 4, $k:literal, 16) => {
        $b.bind(
            #[inline(always)]
            |w, c, o| small::multiply::<$a, $sum, $k>(w, c, o),
        )
    };
    ($b:ident, $a:ty, $bt:ty, $sum:ty, $m:literal, $k:literal, $blocks:literal) => {
        $b.bind(
            #[inline(always)]
            |w, c, o| product::multiply::<$a, $bt, $sum, { $m / 16 }, $k, $blocks>(w, c, o),
        )
    };
}

/// Binds a product of f32: M, K, blocks.
macro_rules! singles {
    ($b:ident, $m:literal, $k:literal, $blocks:literal) => {
        $b.bind(
            #[inline(always)]
            |w, _, o| product::multiply_here::<F32, Single, { $m / 16 }, $k, $blocks>(w, o),
        )
    };
}

/// Binds a sparse product: types of A, B and sum; M, K.
macro_rules! sparse {
    ($b:ident, $a:ty, $bt:ty, $sum:ty, $m:literal, $k:literal) => {
        $b.bind(
            #[inline(always)]
            |w, c, o| sparse::multiply::<$a, $bt, $sum, { $m / 16 }, $k, { $k / 2 }>(w, c, o),
        )
    };
}

pub(super) fn singles(b: Binder64, op: MfmaSingles) -> Handler {
    match op {
        MfmaSingles::v_mfma_f32_32x32x1_2b_f32 => singles!(b, 32, 1, 2),
        MfmaSingles::v_mfma_f32_16x16x1_4b_f32 => singles!(b, 16, 1, 4),
        MfmaSingles::v_mfma_f32_4x4x1_16b_f32 => dense!(b, F32, F32, Single, 4, 1, 16),
        MfmaSingles::v_mfma_f32_32x32x2_f32 => singles!(b, 32, 2, 1),
        MfmaSingles::v_mfma_f32_16x16x4_f32 => singles!(b, 16, 4, 1),
    }
}

fn reduced_to<S: Sum>(b: Binder64, op: MfmaReduced) -> Handler {
    match op {
        MfmaReduced::v_mfma_f32_32x32x4_xf32 => dense!(b, Xf32, Xf32, S, 32, 4, 1),
        MfmaReduced::v_mfma_f32_16x16x8_xf32 => dense!(b, Xf32, Xf32, S, 16, 8, 1),
    }
}

/// The products of f16 and bf16, given how f16, bf16 and gfx908's forms of bf16 are added.
fn halves_to<H, Bf, Hs, Bs, Os>(b: Binder64, op: MfmaHalves) -> Handler
where
    H: Element,
    Bf: Element,
    Hs: Sum,
    Bs: Sum,
    Os: Sum,
{
    match op {
        MfmaHalves::v_mfma_f32_32x32x4_2b_f16 => dense!(b, H, H, Hs, 32, 4, 2),
        MfmaHalves::v_mfma_f32_16x16x4_4b_f16 => dense!(b, H, H, Hs, 16, 4, 4),
        MfmaHalves::v_mfma_f32_4x4x4_16b_f16 => dense!(b, H, H, Hs, 4, 4, 16),
        MfmaHalves::v_mfma_f32_32x32x8_f16 => dense!(b, H, H, Hs, 32, 8, 1),
        MfmaHalves::v_mfma_f32_16x16x16_f16 => dense!(b, H, H, Hs, 16, 16, 1),
        MfmaHalves::v_mfma_f32_16x16x32_f16 => dense!(b, H, H, Hs, 16, 32, 1),
        MfmaHalves::v_mfma_f32_32x32x16_f16 => dense!(b, H, H, Hs, 32, 16, 1),
        // gfx908's bf16: two elements per lane.
        MfmaHalves::v_mfma_f32_32x32x2bf16 => dense!(b, Bf, Bf, Os, 32, 2, 2),
        MfmaHalves::v_mfma_f32_16x16x2bf16 => dense!(b, Bf, Bf, Os, 16, 2, 4),
        MfmaHalves::v_mfma_f32_4x4x2bf16 => dense!(b, Bf, Bf, Os, 4, 2, 16),
        MfmaHalves::v_mfma_f32_32x32x4bf16 => dense!(b, Bf, Bf, Os, 32, 4, 1),
        MfmaHalves::v_mfma_f32_16x16x8bf16 => dense!(b, Bf, Bf, Os, 16, 8, 1),
        MfmaHalves::v_mfma_f32_32x32x4_2b_bf16 => dense!(b, Bf, Bf, Bs, 32, 4, 2),
        MfmaHalves::v_mfma_f32_16x16x4_4b_bf16 => dense!(b, Bf, Bf, Bs, 16, 4, 4),
        MfmaHalves::v_mfma_f32_4x4x4_16b_bf16 => dense!(b, Bf, Bf, Bs, 4, 4, 16),
        MfmaHalves::v_mfma_f32_32x32x8_bf16 => dense!(b, Bf, Bf, Bs, 32, 8, 1),
        MfmaHalves::v_mfma_f32_16x16x16_bf16 => dense!(b, Bf, Bf, Bs, 16, 16, 1),
        MfmaHalves::v_mfma_f32_16x16x32_bf16 => dense!(b, Bf, Bf, Bs, 16, 32, 1),
        MfmaHalves::v_mfma_f32_32x32x16_bf16 => dense!(b, Bf, Bf, Bs, 32, 16, 1),
        MfmaHalves::v_smfmac_f32_16x16x32_f16 => sparse!(b, H, H, Hs, 16, 32),
        MfmaHalves::v_smfmac_f32_32x32x16_f16 => sparse!(b, H, H, Hs, 32, 16),
        MfmaHalves::v_smfmac_f32_16x16x64_f16 => sparse!(b, H, H, Hs, 16, 64),
        MfmaHalves::v_smfmac_f32_32x32x32_f16 => sparse!(b, H, H, Hs, 32, 32),
        MfmaHalves::v_smfmac_f32_16x16x32_bf16 => sparse!(b, Bf, Bf, Bs, 16, 32),
        MfmaHalves::v_smfmac_f32_32x32x16_bf16 => sparse!(b, Bf, Bf, Bs, 32, 16),
        MfmaHalves::v_smfmac_f32_16x16x64_bf16 => sparse!(b, Bf, Bf, Bs, 16, 64),
        MfmaHalves::v_smfmac_f32_32x32x32_bf16 => sparse!(b, Bf, Bf, Bs, 32, 32),
    }
}

pub(super) fn integers(b: Binder64, op: MfmaIntegers) -> Handler {
    match op {
        MfmaIntegers::v_mfma_i32_32x32x4_2b_i8 => dense!(b, I8, I8, Integer, 32, 4, 2),
        MfmaIntegers::v_mfma_i32_16x16x4_4b_i8 => dense!(b, I8, I8, Integer, 16, 4, 4),
        MfmaIntegers::v_mfma_i32_4x4x4_16b_i8 => dense!(b, I8, I8, Integer, 4, 4, 16),
        MfmaIntegers::v_mfma_i32_32x32x8i8 => dense!(b, I8, I8, Integer, 32, 8, 1),
        MfmaIntegers::v_mfma_i32_16x16x16i8 => dense!(b, I8, I8, Integer, 16, 16, 1),
        MfmaIntegers::v_mfma_i32_32x32x16_i8 => dense!(b, I8, I8, Integer, 32, 16, 1),
        MfmaIntegers::v_mfma_i32_16x16x32_i8 => dense!(b, I8, I8, Integer, 16, 32, 1),
        MfmaIntegers::v_mfma_i32_32x32x32_i8 => dense!(b, I8, I8, Integer, 32, 32, 1),
        MfmaIntegers::v_mfma_i32_16x16x64_i8 => dense!(b, I8, I8, Integer, 16, 64, 1),
        MfmaIntegers::v_smfmac_i32_16x16x64_i8 => sparse!(b, I8, I8, Integer, 16, 64),
        MfmaIntegers::v_smfmac_i32_32x32x32_i8 => sparse!(b, I8, I8, Integer, 32, 32),
        MfmaIntegers::v_smfmac_i32_16x16x128_i8 => sparse!(b, I8, I8, Integer, 16, 128),
        MfmaIntegers::v_smfmac_i32_32x32x64_i8 => sparse!(b, I8, I8, Integer, 32, 64),
    }
}

/// The products of fp8 and bf8, in the GPU's variant of these formats.
fn eights_to<Fp: Element, Bf: Element, S: Sum>(b: Binder64, op: MfmaEights) -> Handler {
    match op {
        MfmaEights::v_mfma_f32_16x16x32_bf8_bf8 => dense!(b, Bf, Bf, S, 16, 32, 1),
        MfmaEights::v_mfma_f32_16x16x32_bf8_fp8 => dense!(b, Bf, Fp, S, 16, 32, 1),
        MfmaEights::v_mfma_f32_16x16x32_fp8_bf8 => dense!(b, Fp, Bf, S, 16, 32, 1),
        MfmaEights::v_mfma_f32_16x16x32_fp8_fp8 => dense!(b, Fp, Fp, S, 16, 32, 1),
        MfmaEights::v_mfma_f32_32x32x16_bf8_bf8 => dense!(b, Bf, Bf, S, 32, 16, 1),
        MfmaEights::v_mfma_f32_32x32x16_bf8_fp8 => dense!(b, Bf, Fp, S, 32, 16, 1),
        MfmaEights::v_mfma_f32_32x32x16_fp8_bf8 => dense!(b, Fp, Bf, S, 32, 16, 1),
        MfmaEights::v_mfma_f32_32x32x16_fp8_fp8 => dense!(b, Fp, Fp, S, 32, 16, 1),
        MfmaEights::v_smfmac_f32_16x16x64_bf8_bf8 => sparse!(b, Bf, Bf, S, 16, 64),
        MfmaEights::v_smfmac_f32_16x16x64_bf8_fp8 => sparse!(b, Bf, Fp, S, 16, 64),
        MfmaEights::v_smfmac_f32_16x16x64_fp8_bf8 => sparse!(b, Fp, Bf, S, 16, 64),
        MfmaEights::v_smfmac_f32_16x16x64_fp8_fp8 => sparse!(b, Fp, Fp, S, 16, 64),
        MfmaEights::v_smfmac_f32_32x32x32_bf8_bf8 => sparse!(b, Bf, Bf, S, 32, 32),
        MfmaEights::v_smfmac_f32_32x32x32_bf8_fp8 => sparse!(b, Bf, Fp, S, 32, 32),
        MfmaEights::v_smfmac_f32_32x32x32_fp8_bf8 => sparse!(b, Fp, Bf, S, 32, 32),
        MfmaEights::v_smfmac_f32_32x32x32_fp8_fp8 => sparse!(b, Fp, Fp, S, 32, 32),
        MfmaEights::v_smfmac_f32_16x16x128_bf8_bf8 => sparse!(b, Bf, Bf, S, 16, 128),
        MfmaEights::v_smfmac_f32_16x16x128_bf8_fp8 => sparse!(b, Bf, Fp, S, 16, 128),
        MfmaEights::v_smfmac_f32_16x16x128_fp8_bf8 => sparse!(b, Fp, Bf, S, 16, 128),
        MfmaEights::v_smfmac_f32_16x16x128_fp8_fp8 => sparse!(b, Fp, Fp, S, 16, 128),
        MfmaEights::v_smfmac_f32_32x32x64_bf8_bf8 => sparse!(b, Bf, Bf, S, 32, 64),
        MfmaEights::v_smfmac_f32_32x32x64_bf8_fp8 => sparse!(b, Bf, Fp, S, 32, 64),
        MfmaEights::v_smfmac_f32_32x32x64_fp8_bf8 => sparse!(b, Fp, Bf, S, 32, 64),
        MfmaEights::v_smfmac_f32_32x32x64_fp8_fp8 => sparse!(b, Fp, Fp, S, 32, 64),
    }
}

pub(super) fn doubles(b: Binder64, op: MfmaDoubles) -> Handler {
    match op {
        MfmaDoubles::v_mfma_f64_16x16x4_f64 => b.bind(
            #[inline(always)]
            |w, _, o| double::multiply_16(w, o),
        ),
        MfmaDoubles::v_mfma_f64_4x4x4_4b_f64 => b.bind(
            #[inline(always)]
            |w, _, o| double::multiply_4(w, o),
        ),
    }
}

/// The products of gfx950's formats of 8 bits and below.
fn narrow_exact(b: Binder64, op: MfmaNarrow) -> Handler {
    match op {
        MfmaNarrow::v_mfma_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Halved<false>, 1, 128>(w, c, o),
        ),
        MfmaNarrow::v_mfma_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Halved<false>, 2, 64>(w, c, o),
        ),
        MfmaNarrow::v_mfma_scale_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled::<1, 128>(w, c, o),
        ),
        MfmaNarrow::v_mfma_scale_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled::<2, 64>(w, c, o),
        ),
    }
}

fn narrow_fast(b: Binder64, op: MfmaNarrow) -> Handler {
    match op {
        MfmaNarrow::v_mfma_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Single, 1, 128>(w, c, o),
        ),
        MfmaNarrow::v_mfma_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Single, 2, 64>(w, c, o),
        ),
        MfmaNarrow::v_mfma_scale_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled_fast::<1, 128>(w, c, o),
        ),
        MfmaNarrow::v_mfma_scale_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled_fast::<2, 64>(w, c, o),
        ),
    }
}
