//! The matrix instructions of the block GEMM: for each element type the widest that the GPU has, with its operands and
//! sums.
//!
//! A product of blocks takes whole units of 16 bytes along k: one per lane, which feeds one or more instructions, or
//! two per lane for an instruction with operands of 32 bytes. The units of all lanes of a wave are a step of k. Which
//! lane multiplies which k does not matter, as long as A and B agree.
//!
//! | family | instructions | a wave | a block | lanes with the same row |
//! |---|---|---|---|---|
//! | CDNA | MFMA | 64 lanes | 32 × 32 sums; 16 × 16 in f64 and for tiles of 80 rows and of 32 × 32 | hold different k |
//! | RDNA 3 and 3.5 | WMMA | 32 lanes | 16 × 16 sums | hold the same: operands are repeated in both halves of the wave |
//! | RDNA 4 | WMMA | 32 lanes | 16 × 16 sums | hold different k |
//!
//! The intrinsics are in `arch::mfma` and `arch::wmma`, the maps of lanes to elements in [`lane_map`].

pub mod lane_map;

pub use lane_map::{F32x16x16x1By4, F32x16x16x4, FourBlocks, LaneMap};

use crate::tile::{
    element::{Accumulator, Stored},
    operand::{Bits, UNIT_BYTES, Unit},
};

/// A product of blocks.
pub trait Multiply {
    /// The type of the elements of A and B, as bits.
    type Element: Bits;
    /// The type of the elements of C.
    type Output: Stored<Sum = Self::Sum>;
    /// The type of a sum.
    type Sum: Accumulator;
    /// A lane's sums of one block.
    type Sums: Copy;
    /// A lane's part of an operand in one step.
    type Operand: Copy;

    /// Lanes of a wave.
    const LANES: usize;
    /// Rows, and columns, of a block.
    const EDGE: usize;
    /// Lanes that hold different k of the same row.
    const K_GROUPS: usize;
    /// Lanes in sequence that read the same unit of a step.
    const READERS: usize = Self::LANES / Self::K_GROUPS;
    /// Units of a lane in one step.
    const OPERAND_UNITS: usize;
    /// Bytes of a row that share a scale; 0 for types without scales. A step has as many scales of a row as lanes that
    /// share the row: lane `l` takes number `⌊l / EDGE⌋ mod K_GROUPS`.
    const SCALE_BYTES: usize;
    /// Units of a row in one step, over all lanes that share the row.
    const STEP_UNITS: usize = Self::OPERAND_UNITS * Self::K_GROUPS;
    /// Units of a row of sums of a block.
    const SUM_UNITS: u32 = (Self::EDGE * size_of::<Self::Sum>() / UNIT_BYTES) as u32;
    /// Whether blocks are of 16 × 16 sums of 4 bytes, in waves of 64 lanes.
    const SMALL_BLOCKS: bool = Self::K_GROUPS == 4 && size_of::<Self::Sum>() == 4;
    /// Instructions of one product of blocks.
    const INSTRUCTIONS: usize;
    /// Sums that are all 0.
    const ZERO: Self::Sums;

    /// A lane's part of an operand, where `unit(u)` reads unit `u + ⌊lane / EDGE⌋ mod K_GROUPS` of a step of the
    /// lane's row, and `scale` reads the lane's scale.
    fn operand(unit: impl Fn(u32) -> Unit, scale: impl Fn() -> u32) -> Self::Operand;

    /// Instruction number `part` of the [`INSTRUCTIONS`](Self::INSTRUCTIONS) that compute `sums + a · b`. All lanes of
    /// the wave must reach it together.
    fn multiply(part: usize, a: Self::Operand, b: Self::Operand, sums: Self::Sums) -> Self::Sums;

    /// The position of unit `unit` of row `row` in a block of sums in LDS: [`LaneMap::sum_position`] for the GPU's banks.
    fn sum_position(row: u32, unit: u32, beside: u32) -> u32;

    /// Writes a lane's sums to the block of sums at `block`: `EDGE` rows of `SUM_UNITS` units, at
    /// [`sum_position`](Self::sum_position).
    ///
    /// # Safety
    /// `block` points to `SUM_UNITS · EDGE` units, and no other thread writes the part of this `lane`.
    unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit, beside: u32);

    /// [`LaneMap::beside`].
    fn beside(number: u32, blocks: u32) -> u32;
}

/// Makes the type of a product of blocks from the element types of A and B and of C, a lane's sums, their lane map, the
/// lane's part of an operand as the instruction takes it, the units of a step in this part, the bytes that share a scale
/// if there are scales, and the instruction.
#[cfg(target_arch = "amdgpu")]
macro_rules! product {
    (
        $(#[$doc:meta])*
        $name:ident: $element:ty => $output:ty, [$sum:ty; $sums:literal] in $map:ty,
        [$part:ty; $parts:literal] from [$($unit:literal),*] $(scaled $scaled:literal)?, $instruction:path
    ) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Multiply for $name {
            type Element = $element;
            type Output = $output;
            type Sum = $sum;
            type Sums = [$sum; $sums];
            type Operand = [$part; $parts];

            const LANES: usize = <$map>::LANES;
            const EDGE: usize = <$map>::EDGE;
            const K_GROUPS: usize = <$map>::K_GROUPS;
            const OPERAND_UNITS: usize = [$($unit),*].len();
            const SCALE_BYTES: usize = 0 $(+ $scaled)?;
            const INSTRUCTIONS: usize = $parts;
            const ZERO: Self::Sums = [0 as $sum; $sums];

            #[inline(always)]
            fn operand(unit: impl Fn(u32) -> Unit, scale: impl Fn() -> u32) -> Self::Operand {
                operand!([$(unit($unit)),*], scale $(, $scaled)?)
            }

            #[inline(always)]
            fn multiply(
                part: usize,
                a: Self::Operand,
                b: Self::Operand,
                sums: Self::Sums,
            ) -> Self::Sums {
                if <$map>::SWAPPED {
                    $instruction(b[part], a[part], sums)
                } else {
                    $instruction(a[part], b[part], sums)
                }
            }

            #[inline(always)]
            fn sum_position(row: u32, unit: u32, beside: u32) -> u32 {
                <$map>::sum_position::<{ arch::LDS_BANKS }>(Self::SUM_UNITS, row, unit, beside)
            }

            #[inline(always)]
            fn beside(number: u32, blocks: u32) -> u32 {
                <$map>::beside(number, blocks)
            }

            #[inline(always)]
            unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit, beside: u32) {
                // SAFETY: as the caller promises.
                unsafe {
                    <$map>::stage_to_lds::<_, $sums, { arch::LDS_BANKS }>(lane, sums, block, beside);
                }
            }
        }
    };
}

/// A lane's part of an operand from its units, and from its scale if there are scales.
#[cfg(target_arch = "amdgpu")]
macro_rules! operand {
    ($units:expr, $scale:ident) => {{
        let _ = $scale;
        // SAFETY: both have the same size, and any bits are elements.
        unsafe { core::mem::transmute($units) }
    }};
    ($units:expr, $scale:ident, $scaled:literal) => {{
        #[expect(
            clippy::missing_transmute_annotations,
            reason = "the rows of `product!` have the types"
        )]
        // SAFETY: as above.
        let elements = unsafe { core::mem::transmute($units) };
        [Scaled {
            elements,
            scale: $scale(),
        }]
    }};
}

/// The products of blocks that the GPU has instructions for.
#[cfg(all(target_arch = "amdgpu", ferrowave_family = "cdna"))]
#[path = "mfma.rs"]
mod products;
#[cfg(all(target_arch = "amdgpu", not(ferrowave_family = "cdna")))]
#[cfg_attr(ferrowave_family = "rdna4", path = "wmma_gfx12.rs")]
#[cfg_attr(not(ferrowave_family = "rdna4"), path = "wmma.rs")]
mod products;

#[cfg(target_arch = "amdgpu")]
pub(crate) use products::*;
