//! The matrix instructions of the block GEMM: for each element type the widest that the GPU has, with its operands and
//! sums; in f32 on RDNA, multiply-adds of the vector unit.
//!
//! A product of blocks takes whole units of 16 bytes along k: one per lane, which feeds one or more instructions, or
//! two per lane for an instruction with operands of 32 bytes. The units of all lanes of a wave are a step of k. Which
//! lane multiplies which k does not matter, as long as A and B agree.
//!
//! | family | instructions | a wave | a block | lanes with the same row |
//! |---|---|---|---|---|
//! | CDNA | MFMA | 64 lanes | 32 × 32 sums; 16 × 16 in f64 and for some tiles of step 16 | hold different k |
//! | RDNA 3 and 3.5 | WMMA | 32 lanes | 16 × 16 sums | hold the same: operands are repeated in both halves of the wave |
//! | RDNA 4 | WMMA | 32 lanes | 16 × 16 sums | hold different k |
//! | RDNA, f32 | multiply-adds | 32 lanes | 16 × 16 sums | a lane has 2 rows and 4 columns, which others have, too |
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
    /// A lane's part of A in one step.
    type Operand: Copy;
    /// A lane's part of B in one step.
    type OperandB: Copy;

    /// Lanes of a wave.
    const LANES: usize;
    /// Rows, and columns, of a block.
    const EDGE: usize;
    /// Lanes that hold different k of the same row.
    const K_GROUPS: usize;
    /// Lanes in sequence that read the same unit of a step.
    const READERS: usize = Self::LANES / Self::K_GROUPS;
    /// Units of a lane in one step, of A.
    const OPERAND_UNITS: usize;
    /// Units of B for each unit of A: 2 if A is sparse, else 1.
    const B_UNITS: usize;
    /// Units of a row of B from those of one group of lanes to those of the next.
    const B_GROUP_UNITS: usize;
    /// Words of indices that a lane has for a block's row in a stage, if A is sparse; else 0.
    const INDEX_WORDS: usize;
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
    /// Whether they are instructions of the vector unit.
    const ON_VECTOR_UNIT: bool = false;
    /// Sums that are all 0.
    const ZERO: Self::Sums;

    /// The lane's row of a block of A, and its column of a block of B; of several the first.
    #[inline(always)]
    fn rows(lane: u32) -> (u32, u32) {
        (lane % Self::EDGE as u32, lane % Self::EDGE as u32)
    }

    /// A lane's part of A, where `unit(r, u)` reads unit `u + ⌊lane / EDGE⌋ mod K_GROUPS` of a step of the row `r` below the
    /// lane's, and `beside` the lane's scale or indices. `r` shares no bits with the lane's row.
    fn operand(unit: impl Fn(u32, u32) -> Unit, beside: impl Fn() -> u32) -> Self::Operand;

    /// A lane's part of B, likewise: unit `u + B_GROUP_UNITS · (⌊lane / EDGE⌋ mod K_GROUPS)` of a column.
    fn operand_b(unit: impl Fn(u32, u32) -> Unit, scale: impl Fn() -> u32) -> Self::OperandB;

    /// Instruction number `part` of the [`INSTRUCTIONS`](Self::INSTRUCTIONS) that compute `sums + a · b`. All lanes of
    /// the wave must reach it together.
    fn multiply(part: usize, a: Self::Operand, b: Self::OperandB, sums: Self::Sums) -> Self::Sums;

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
            type Operand = [$part; $parts];
            type OperandB = [$part; $parts];

            const OPERAND_UNITS: usize = [$($unit),*].len();
            const B_UNITS: usize = 1;
            const B_GROUP_UNITS: usize = 1;
            const INDEX_WORDS: usize = 0;
            const SCALE_BYTES: usize = 0 $(+ $scaled)?;
            const INSTRUCTIONS: usize = $parts;

            #[inline(always)]
            fn operand(unit: impl Fn(u32, u32) -> Unit, scale: impl Fn() -> u32) -> Self::Operand {
                operand!([$(unit(0, $unit)),*], scale $(, $scaled)?)
            }

            #[inline(always)]
            fn operand_b(unit: impl Fn(u32, u32) -> Unit, scale: impl Fn() -> u32) -> Self::OperandB {
                Self::operand(unit, scale)
            }

            #[inline(always)]
            fn multiply(
                part: usize,
                a: Self::Operand,
                b: Self::OperandB,
                sums: Self::Sums,
            ) -> Self::Sums {
                if <$map>::SWAPPED {
                    $instruction(b[part], a[part], sums)
                } else {
                    $instruction(a[part], b[part], sums)
                }
            }

            block!($element => $output, [$sum; $sums] in $map);
        }
    };
}

/// The same with a sparse A: a lane's part of A and of B as the instruction takes them, from one unit of A and these two of B,
/// and the words of a lane's indices in a stage.
#[cfg(all(
    target_arch = "amdgpu",
    any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950")
))]
macro_rules! sparse_product {
    (
        $(#[$doc:meta])*
        $name:ident: $element:ty => $output:ty, [$sum:ty; $sums:literal] in $map:ty,
        [$part:ty, $part_b:ty; $parts:literal] from [0, $second:literal] with $words:literal, $instruction:ident
    ) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Multiply for $name {
            type Operand = ([$part; $parts], u32);
            type OperandB = [$part_b; $parts];

            const OPERAND_UNITS: usize = 1;
            const B_UNITS: usize = 2;
            // Its units are next to each other, or those of the other group of lanes are between them.
            const B_GROUP_UNITS: usize = 3 - $second;
            const INDEX_WORDS: usize = $words;
            const SCALE_BYTES: usize = 0;
            const INSTRUCTIONS: usize = $parts;

            #[inline(always)]
            fn operand(unit: impl Fn(u32, u32) -> Unit, indices: impl Fn() -> u32) -> Self::Operand {
                // SAFETY: both have the same size, and any bits are elements.
                let elements = unsafe { core::mem::transmute::<Unit, [$part; $parts]>(unit(0, 0)) };
                (elements, indices())
            }

            #[inline(always)]
            fn operand_b(unit: impl Fn(u32, u32) -> Unit, _: impl Fn() -> u32) -> Self::OperandB {
                let units = [unit(0, 0), unit(0, $second)];
                // SAFETY: as above.
                unsafe { core::mem::transmute::<[Unit; 2], [$part_b; $parts]>(units) }
            }

            #[inline(always)]
            fn multiply(
                part: usize,
                (a, indices): Self::Operand,
                b: Self::OperandB,
                sums: Self::Sums,
            ) -> Self::Sums {
                const { assert!(!<$map>::SWAPPED, "A is the sparse operand") }
                // Each part has its bits of the indices.
                match part {
                    0 => mfma::$instruction::<0>(a[part], b[part], indices, sums),
                    _ => mfma::$instruction::<1>(a[part], b[part], indices, sums),
                }
            }

            block!($element => $output, [$sum; $sums] in $map);
        }
    };
}

/// The types and the blocks of sums of a product.
#[cfg(target_arch = "amdgpu")]
macro_rules! block {
    ($element:ty => $output:ty, [$sum:ty; $sums:literal] in $map:ty) => {
        type Element = $element;
        type Output = $output;
        type Sum = $sum;
        type Sums = [$sum; $sums];

        const LANES: usize = <$map>::LANES;
        const EDGE: usize = <$map>::EDGE;
        const K_GROUPS: usize = <$map>::K_GROUPS;
        const ZERO: Self::Sums = [0 as $sum; $sums];

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

/// Products of blocks in f32, for which RDNA has no matrix instructions.
#[cfg(all(target_arch = "amdgpu", not(ferrowave_family = "cdna")))]
mod fma;

#[cfg(all(target_arch = "amdgpu", not(ferrowave_family = "cdna")))]
pub(crate) use fma::F32;
#[cfg(target_arch = "amdgpu")]
pub(crate) use products::*;
