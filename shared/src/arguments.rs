//! A kernel's arguments, as laid out in its kernel argument segment (kernarg).

use crate::Options;

/// The whole kernel argument segment: seven device addresses, then [`GemmParameters`].
///
/// On the device these are eight arguments: seven pointers and the parameters by value. The pointers
/// stay outside the struct so that the code object's metadata lists them as global buffers, and
/// because they are not addresses on the host.
///
/// ```
/// # use ferrowave_shared::GemmArguments;
/// assert_eq!(size_of::<GemmArguments>(), 160);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct GemmArguments {
    /// Device address of A's first element.
    pub a: u64,
    /// Device address of B's first element.
    pub b: u64,
    /// Device address of C's first element.
    pub c: u64,
    /// Device address of the bias vector, of C's element type, or of the kernel's if that is [`OutputType::Float8`]; not read
    /// when the options have no bias.
    ///
    /// [`OutputType::Float8`]: crate::OutputType::Float8
    pub bias: u64,
    /// Device address of the workspace of a kernel that divides k, or of a group's [`GroupMember`]s
    /// ([`Options::is_group`]); else not accessed.
    pub workspace: u64,
    /// Device address of a binary32, not negative, that becomes the largest of itself and the magnitudes of all results if
    /// the options [have it](Options::has_amax). A NaN counts as larger than every number. Else not accessed.
    pub amax: u64,
    /// Device address of the first element of a matrix for the epilogue's input, if the options [have it](Options::keeps_input);
    /// else not accessed. It has the layout of C, and the type of the bias.
    pub input: u64,
    /// The problem.
    pub parameters: GemmParameters,
}

/// The kernel argument segment of kernels whose elements have scales ([`ElementType::is_scaled`]): two more addresses,
/// then [`ScaleParameters`].
///
/// [`ElementType::is_scaled`]: crate::ElementType::is_scaled
///
/// ```
/// # use ferrowave_shared::ScaledGemmArguments;
/// assert_eq!(size_of::<ScaledGemmArguments>(), 192);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct ScaledGemmArguments {
    /// The matrices and the problem.
    pub gemm: GemmArguments,
    /// Device address of A's first scale.
    pub scale_a: u64,
    /// Device address of B's first scale.
    pub scale_b: u64,
    /// The layout of the scales.
    pub scales: ScaleParameters,
}

/// The layout of scales: those of a row of A or of a column of B follow each other, k / [`SCALE_BLOCK`] of them.
///
/// [`SCALE_BLOCK`]: crate::element::SCALE_BLOCK
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct ScaleParameters {
    /// Scales from those of one A of the batch to those of the next; 0 when all products share them.
    pub stride_a: u64,
    /// The same for B.
    pub stride_b: u64,
}

/// The problem that a launch computes. Extents, leading dimensions and strides are in elements; for types of less than a
/// byte, k and all of these of A and B count bytes.
///
/// The host guarantees that each extent and leading dimension is at most [`MAX_EXTENT`] and that
/// every element of the three matrices has a byte offset below 2⁶³. So the device may compute
/// rows and columns in 32 bits, tile overhang included, and element offsets in 64.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct GemmParameters {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// Elements from one row of A to the next, at least k; with
    /// [`Options::column_major_a`] from one column to the next, at least m.
    pub lda: u32,
    /// Elements from one row of B to the next, at least n; with
    /// [`Options::column_major_b`] from one column to the next, at least k.
    pub ldb: u32,
    /// Elements from one row of C to the next, at least n.
    pub ldc: u32,
    /// Layouts, bias, and operations before and after the product.
    pub options: Options,
    /// Products in this launch; the extent of the grid along z.
    pub batch: u32,
    /// Factor of the product. A kernel rounds it to its accumulator type; for integer accumulators
    /// the host passes only values that the type can represent.
    pub alpha: f64,
    /// Factor of the old C, likewise. When it is 0, C is not read.
    pub beta: f64,
    /// The constant of [`Options::prologue`], rounded likewise.
    pub prologue_value: f64,
    /// The constant of [`Options::epilogue`], rounded likewise.
    pub epilogue_value: f64,
    /// Elements from one A of the batch to the next; 0 when all products share it.
    pub stride_a: u64,
    /// Elements from one B of the batch to the next; 0 when all products share it.
    pub stride_b: u64,
    /// Elements from one C of the batch to the next.
    pub stride_c: u64,
    /// For kernels that divide k: the number of parts per tile ([`Reduction::SplitK`]) or of
    /// workgroups ([`Reduction::StreamK`]). Other kernels ignore it.
    ///
    /// [`Reduction::SplitK`]: crate::catalogue::Reduction::SplitK
    /// [`Reduction::StreamK`]: crate::catalogue::Reduction::StreamK
    pub parts: u32,
    /// For kernels in linear tile order: the base-2 logarithm of the rows of tiles in a group, at most 31, and the number of XCDs
    /// over which the hardware distributes workgroups round-robin, from 1 to 65535, as `logarithm << 16 | xcds`; or
    /// [`PLANE_GRID`](crate::tile::TileOrder::PLANE_GRID). See [`TileOrder`](crate::tile::TileOrder).
    pub order: u32,
    /// Factor of the results before they are converted to [`OutputType::Float8`]; else not read.
    ///
    /// [`OutputType::Float8`]: crate::OutputType::Float8
    pub output_scale: f64,
}

/// A product of a group ([`Options::is_group`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct GroupMember {
    /// The problem. Its strides are the distances of A, B and C from those in the launch's arguments, in elements and modulo
    /// 2⁶⁴.
    pub parameters: GemmParameters,
    /// The distance of the bias, likewise.
    pub distance_bias: u64,
    /// The distance of the largest magnitude, likewise.
    pub distance_amax: u64,
    /// The distance of the epilogue's input, likewise.
    pub distance_input: u64,
    /// The distances of the scales of A and B, or of the indices of a sparse A, in bytes and modulo 2⁶⁴.
    pub scales: ScaleParameters,
}

/// The largest extent and leading dimension: a tile that starts below it ends below 2³².
pub const MAX_EXTENT: u32 = i32::MAX as u32;

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{align_of, offset_of};

    /// Offsets by the C layout rules, counted by hand.
    #[test]
    fn the_layout_is_the_c_layout_without_padding() {
        assert_eq!(offset_of!(GemmArguments, b), 8);
        assert_eq!(offset_of!(GemmArguments, c), 16);
        assert_eq!(offset_of!(GemmArguments, amax), 40);
        assert_eq!(offset_of!(GemmArguments, parameters), 56);
        assert_eq!(offset_of!(GemmParameters, options), 24);
        assert_eq!(offset_of!(GemmParameters, alpha), 32);
        assert_eq!(offset_of!(GemmParameters, beta), 40);
        assert_eq!(offset_of!(GemmParameters, prologue_value), 48);
        assert_eq!(offset_of!(GemmParameters, epilogue_value), 56);
        assert_eq!(offset_of!(GemmParameters, stride_a), 64);
        assert_eq!(offset_of!(GemmParameters, stride_b), 72);
        assert_eq!(offset_of!(GemmParameters, stride_c), 80);
        assert_eq!(offset_of!(GemmParameters, parts), 88);
        assert_eq!(offset_of!(GemmParameters, order), 92);
        assert_eq!(offset_of!(GemmParameters, output_scale), 96);
        assert_eq!(size_of::<GemmParameters>(), 104);
        assert_eq!(offset_of!(GroupMember, distance_bias), 104);
        assert_eq!(size_of::<GroupMember>(), 144);
        assert_eq!(align_of::<GemmArguments>(), 8);
        assert_eq!(offset_of!(ScaledGemmArguments, scale_a), 160);
        assert_eq!(offset_of!(ScaledGemmArguments, scales), 176);
    }
}
