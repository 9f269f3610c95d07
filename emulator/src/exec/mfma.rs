//! Matrix instructions: D ← A·B + C over the registers of a whole wave.
//!
//! Lane maps, as AMD's «matrix instruction calculator» and the CDNA ISA guides give them. With M = N rows
//! and columns, 64/M groups of lanes, and k elements of A or B side by side in a lane:
//! - A[i][k] of block b is in lane `M·group + i`, B[k][j] in lane `N·group + j`, where the groups of a
//!   block follow each other in k (operands of 256 bits: [`panel::Panel::read`]).
//! - D[i][j] of a 32×32 block: register g, lane l with i = 8⌊g/4⌋ + 4⌊l/32⌋ + g mod 4, j = l mod 32; of a
//!   16×16 block: i = 4⌊l/16⌋ + g, j = l mod 16; of the sixteen 4×4 blocks: block ⌊l/4⌋, i = g, j = l mod 4.
//! - f64: [`double`]; sparse A: [`sparse`]; gfx950's formats below 8 bits and its scales: [`scaled`].
//!
//! How each GPU adds: [`sum`]. MODE's rounding and denormals are not looked at.

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

use ferrowave_code_object::Gpu;

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
    lanes::Binder,
    narrow::{Bf8, Bf8Fnuz, Fp8, Fp8Fnuz},
    operation::Handler,
};
use crate::isa::{Instruction, Op};

/// The handler of a matrix instruction, if it is one that the emulator runs.
pub(crate) fn handler(b: Binder, gpu: Gpu, i: &Instruction) -> Option<Handler> {
    if has_undocumented_bits(gpu, i) {
        return None;
    }
    let op = i.op;
    let [halves, eights, narrow]: [fn(Binder, Op) -> Option<Handler>; 3] = if b.fast_sums {
        // gfx90a flushes denormal sources and results of its f16 and bf16 instructions (PyTorch's notes on MI200
        // numerics, from AMD).
        let halves = match gpu {
            Gpu::Gfx90a => {
                halves::<FlushedF16, FlushedBf16, FlushedSingle, FlushedSingle, FlushedSingle>
            }
            _ => halves::<F16, Bf16, Single, Single, Single>,
        };
        let eights = match gpu {
            Gpu::Gfx942 => eights::<Fp8Fnuz, Bf8Fnuz, Single>,
            _ => eights::<Fp8, Bf8, Single>,
        };
        [halves, eights, narrow_fast]
    } else {
        let halves = match gpu {
            Gpu::Gfx908 => halves::<F16, Bf16, Exact<4>, Exact<4>, Exact<2>>,
            Gpu::Gfx90a => {
                halves::<FlushedF16, FlushedBf16, Pairs<4, false>, Pairs<4, true>, Pairs<2, true>>
            }
            Gpu::Gfx942 | Gpu::Gfx950 => {
                type Wide = Truncated<8, true>;
                halves::<F16, Bf16, Truncated<8, false>, Wide, Wide>
            }
        };
        let eights = match gpu {
            Gpu::Gfx942 => eights::<Fp8Fnuz, Bf8Fnuz, Halved<false>>,
            _ => eights::<Fp8, Bf8, Halved<false>>,
        };
        [halves, eights, narrow]
    };
    let reduced = if b.fast_sums {
        reduced::<Single>
    } else {
        reduced::<Truncated<4, true>>
    };
    singles(b, op)
        .or_else(|| reduced(b, op))
        .or_else(|| halves(b, op))
        .or_else(|| integers(b, op))
        .or_else(|| eights(b, op))
        .or_else(|| doubles(b, op))
        .or_else(|| narrow(b, op))
}

/// How many blocks an instruction multiplies.
fn blocks(op: Op) -> u32 {
    match op {
        Op::v_mfma_f32_32x32x2bf16 => 2,
        Op::v_mfma_f32_16x16x2bf16 => 4,
        Op::v_mfma_f32_4x4x2bf16 => 16,
        _ => op
            .name()
            .split('_')
            .find_map(|part| part.strip_suffix('b')?.parse().ok())
            .unwrap_or(1),
    }
}

/// Whether an instruction has bits set that AMD's documents give no meaning: broadcasts of A among fewer
/// blocks than they need, permutations of B on instructions that have none («matrix instruction
/// calculator», `--detail-instruction`).
fn has_undocumented_bits(gpu: Gpu, i: &Instruction) -> bool {
    let name = i.op.name();
    if name.starts_with("v_smfmac") || name.ends_with("f8f6f4") {
        return false;
    }
    let m = i.matrix;
    let blocks = blocks(i.op);
    let a = 1_u32.checked_shl(m.cbsz.into()).is_none_or(|n| n > blocks) || m.abid >> m.cbsz != 0;
    let before_gfx942 = matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a);
    let permutes = if name.ends_with("f64") {
        !before_gfx942
    } else {
        before_gfx942 || blocks > 1 || name.ends_with("x2_f32") || name.ends_with("x4_f32")
    };
    a || m.blgp != 0 && !permutes
}

/// Binds a dense product: types of A, B and the sum, M, K, blocks.
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

/// Binds a sparse product: types of A, B and the sum, M, K.
macro_rules! sparse {
    ($b:ident, $a:ty, $bt:ty, $sum:ty, $m:literal, $k:literal) => {
        $b.bind(
            #[inline(always)]
            |w, c, o| sparse::multiply::<$a, $bt, $sum, { $m / 16 }, $k, { $k / 2 }>(w, c, o),
        )
    };
}

fn singles(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f32_32x32x1_2b_f32 => singles!(b, 32, 1, 2),
        Op::v_mfma_f32_16x16x1_4b_f32 => singles!(b, 16, 1, 4),
        Op::v_mfma_f32_4x4x1_16b_f32 => dense!(b, F32, F32, Single, 4, 1, 16),
        Op::v_mfma_f32_32x32x2_f32 => singles!(b, 32, 2, 1),
        Op::v_mfma_f32_16x16x4_f32 => singles!(b, 16, 4, 1),
        _ => return None,
    })
}

fn reduced<S: Sum>(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f32_32x32x4_xf32 => dense!(b, Xf32, Xf32, S, 32, 4, 1),
        Op::v_mfma_f32_16x16x8_xf32 => dense!(b, Xf32, Xf32, S, 16, 8, 1),
        _ => return None,
    })
}

/// The products of f16 and bf16, with the sums of f16, bf16 and of gfx908's forms of bf16.
fn halves<H, Bf, Hs, Bs, Os>(b: Binder, op: Op) -> Option<Handler>
where
    H: Element,
    Bf: Element,
    Hs: Sum,
    Bs: Sum,
    Os: Sum,
{
    Some(match op {
        Op::v_mfma_f32_32x32x4_2b_f16 => dense!(b, H, H, Hs, 32, 4, 2),
        Op::v_mfma_f32_16x16x4_4b_f16 => dense!(b, H, H, Hs, 16, 4, 4),
        Op::v_mfma_f32_4x4x4_16b_f16 => dense!(b, H, H, Hs, 4, 4, 16),
        Op::v_mfma_f32_32x32x8_f16 => dense!(b, H, H, Hs, 32, 8, 1),
        Op::v_mfma_f32_16x16x16_f16 => dense!(b, H, H, Hs, 16, 16, 1),
        Op::v_mfma_f32_16x16x32_f16 => dense!(b, H, H, Hs, 16, 32, 1),
        Op::v_mfma_f32_32x32x16_f16 => dense!(b, H, H, Hs, 32, 16, 1),
        // gfx908's bf16: two elements a lane.
        Op::v_mfma_f32_32x32x2bf16 => dense!(b, Bf, Bf, Os, 32, 2, 2),
        Op::v_mfma_f32_16x16x2bf16 => dense!(b, Bf, Bf, Os, 16, 2, 4),
        Op::v_mfma_f32_4x4x2bf16 => dense!(b, Bf, Bf, Os, 4, 2, 16),
        Op::v_mfma_f32_32x32x4bf16 => dense!(b, Bf, Bf, Os, 32, 4, 1),
        Op::v_mfma_f32_16x16x8bf16 => dense!(b, Bf, Bf, Os, 16, 8, 1),
        Op::v_mfma_f32_32x32x4_2b_bf16 => dense!(b, Bf, Bf, Bs, 32, 4, 2),
        Op::v_mfma_f32_16x16x4_4b_bf16 => dense!(b, Bf, Bf, Bs, 16, 4, 4),
        Op::v_mfma_f32_4x4x4_16b_bf16 => dense!(b, Bf, Bf, Bs, 4, 4, 16),
        Op::v_mfma_f32_32x32x8_bf16 => dense!(b, Bf, Bf, Bs, 32, 8, 1),
        Op::v_mfma_f32_16x16x16_bf16 => dense!(b, Bf, Bf, Bs, 16, 16, 1),
        Op::v_mfma_f32_16x16x32_bf16 => dense!(b, Bf, Bf, Bs, 16, 32, 1),
        Op::v_mfma_f32_32x32x16_bf16 => dense!(b, Bf, Bf, Bs, 32, 16, 1),
        Op::v_smfmac_f32_16x16x32_f16 => sparse!(b, H, H, Hs, 16, 32),
        Op::v_smfmac_f32_32x32x16_f16 => sparse!(b, H, H, Hs, 32, 16),
        Op::v_smfmac_f32_16x16x64_f16 => sparse!(b, H, H, Hs, 16, 64),
        Op::v_smfmac_f32_32x32x32_f16 => sparse!(b, H, H, Hs, 32, 32),
        Op::v_smfmac_f32_16x16x32_bf16 => sparse!(b, Bf, Bf, Bs, 16, 32),
        Op::v_smfmac_f32_32x32x16_bf16 => sparse!(b, Bf, Bf, Bs, 32, 16),
        Op::v_smfmac_f32_16x16x64_bf16 => sparse!(b, Bf, Bf, Bs, 16, 64),
        Op::v_smfmac_f32_32x32x32_bf16 => sparse!(b, Bf, Bf, Bs, 32, 32),
        _ => return None,
    })
}

fn integers(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_i32_32x32x4_2b_i8 => dense!(b, I8, I8, Integer, 32, 4, 2),
        Op::v_mfma_i32_16x16x4_4b_i8 => dense!(b, I8, I8, Integer, 16, 4, 4),
        Op::v_mfma_i32_4x4x4_16b_i8 => dense!(b, I8, I8, Integer, 4, 4, 16),
        Op::v_mfma_i32_32x32x8i8 => dense!(b, I8, I8, Integer, 32, 8, 1),
        Op::v_mfma_i32_16x16x16i8 => dense!(b, I8, I8, Integer, 16, 16, 1),
        Op::v_mfma_i32_32x32x16_i8 => dense!(b, I8, I8, Integer, 32, 16, 1),
        Op::v_mfma_i32_16x16x32_i8 => dense!(b, I8, I8, Integer, 16, 32, 1),
        Op::v_mfma_i32_32x32x32_i8 => dense!(b, I8, I8, Integer, 32, 32, 1),
        Op::v_mfma_i32_16x16x64_i8 => dense!(b, I8, I8, Integer, 16, 64, 1),
        Op::v_smfmac_i32_16x16x64_i8 => sparse!(b, I8, I8, Integer, 16, 64),
        Op::v_smfmac_i32_32x32x32_i8 => sparse!(b, I8, I8, Integer, 32, 32),
        Op::v_smfmac_i32_16x16x128_i8 => sparse!(b, I8, I8, Integer, 16, 128),
        Op::v_smfmac_i32_32x32x64_i8 => sparse!(b, I8, I8, Integer, 32, 64),
        _ => return None,
    })
}

/// The products of fp8 and bf8, in the GPU's flavour of them.
fn eights<Fp: Element, Bf: Element, S: Sum>(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f32_16x16x32_bf8_bf8 => dense!(b, Bf, Bf, S, 16, 32, 1),
        Op::v_mfma_f32_16x16x32_bf8_fp8 => dense!(b, Bf, Fp, S, 16, 32, 1),
        Op::v_mfma_f32_16x16x32_fp8_bf8 => dense!(b, Fp, Bf, S, 16, 32, 1),
        Op::v_mfma_f32_16x16x32_fp8_fp8 => dense!(b, Fp, Fp, S, 16, 32, 1),
        Op::v_mfma_f32_32x32x16_bf8_bf8 => dense!(b, Bf, Bf, S, 32, 16, 1),
        Op::v_mfma_f32_32x32x16_bf8_fp8 => dense!(b, Bf, Fp, S, 32, 16, 1),
        Op::v_mfma_f32_32x32x16_fp8_bf8 => dense!(b, Fp, Bf, S, 32, 16, 1),
        Op::v_mfma_f32_32x32x16_fp8_fp8 => dense!(b, Fp, Fp, S, 32, 16, 1),
        Op::v_smfmac_f32_16x16x64_bf8_bf8 => sparse!(b, Bf, Bf, S, 16, 64),
        Op::v_smfmac_f32_16x16x64_bf8_fp8 => sparse!(b, Bf, Fp, S, 16, 64),
        Op::v_smfmac_f32_16x16x64_fp8_bf8 => sparse!(b, Fp, Bf, S, 16, 64),
        Op::v_smfmac_f32_16x16x64_fp8_fp8 => sparse!(b, Fp, Fp, S, 16, 64),
        Op::v_smfmac_f32_32x32x32_bf8_bf8 => sparse!(b, Bf, Bf, S, 32, 32),
        Op::v_smfmac_f32_32x32x32_bf8_fp8 => sparse!(b, Bf, Fp, S, 32, 32),
        Op::v_smfmac_f32_32x32x32_fp8_bf8 => sparse!(b, Fp, Bf, S, 32, 32),
        Op::v_smfmac_f32_32x32x32_fp8_fp8 => sparse!(b, Fp, Fp, S, 32, 32),
        Op::v_smfmac_f32_16x16x128_bf8_bf8 => sparse!(b, Bf, Bf, S, 16, 128),
        Op::v_smfmac_f32_16x16x128_bf8_fp8 => sparse!(b, Bf, Fp, S, 16, 128),
        Op::v_smfmac_f32_16x16x128_fp8_bf8 => sparse!(b, Fp, Bf, S, 16, 128),
        Op::v_smfmac_f32_16x16x128_fp8_fp8 => sparse!(b, Fp, Fp, S, 16, 128),
        Op::v_smfmac_f32_32x32x64_bf8_bf8 => sparse!(b, Bf, Bf, S, 32, 64),
        Op::v_smfmac_f32_32x32x64_bf8_fp8 => sparse!(b, Bf, Fp, S, 32, 64),
        Op::v_smfmac_f32_32x32x64_fp8_bf8 => sparse!(b, Fp, Bf, S, 32, 64),
        Op::v_smfmac_f32_32x32x64_fp8_fp8 => sparse!(b, Fp, Fp, S, 32, 64),
        _ => return None,
    })
}

fn doubles(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f64_16x16x4_f64 => b.bind(
            #[inline(always)]
            |w, _, o| double::multiply_16(w, o),
        ),
        Op::v_mfma_f64_4x4x4_4b_f64 => b.bind(
            #[inline(always)]
            |w, _, o| double::multiply_4(w, o),
        ),
        _ => return None,
    })
}

/// The products of gfx950's formats of 8 bits and below.
fn narrow(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Halved<false>, 1, 128>(w, c, o),
        ),
        Op::v_mfma_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Halved<false>, 2, 64>(w, c, o),
        ),
        Op::v_mfma_scale_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled::<1, 128>(w, c, o),
        ),
        Op::v_mfma_scale_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled::<2, 64>(w, c, o),
        ),
        _ => return None,
    })
}

fn narrow_fast(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Single, 1, 128>(w, c, o),
        ),
        Op::v_mfma_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply::<Single, 2, 64>(w, c, o),
        ),
        Op::v_mfma_scale_f32_16x16x128_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled_fast::<1, 128>(w, c, o),
        ),
        Op::v_mfma_scale_f32_32x32x64_f8f6f4 => b.bind(
            #[inline(always)]
            |w, c, o| scaled::multiply_scaled_fast::<2, 64>(w, c, o),
        ),
        _ => return None,
    })
}
