//! The scales of a stage: of 32 elements along k of each row of the tiles of A and B, a byte each.
//!
//! In memory the scales of a row follow each other, and so do in LDS those of a row in a stage: the rows of A's tile, then
//! those of B's. A thread moves pieces of them, of one, two or four bytes: neighbouring threads write neighbouring bytes,
//! and the lanes of a matrix instruction read the bytes of neighbouring rows, without bank conflicts. Behind the end of k,
//! scales are 2⁻¹²⁷: the elements there are zeros, which a NaN would not leave.

use super::{BlockGemm, Config};
use crate::{
    arch,
    matrix::Multiply,
    tile::{
        length::{Array, Length},
        operand::LdsLayout,
    },
};

/// A thread's pieces of the scales of a stage.
#[derive(Clone, Copy)]
pub(super) struct Scales<C: Config> {
    /// The first scale of the stage in the tile of A or of B, for each piece. Uniform: an access takes a scalar address and
    /// an offset of 32 bits, so that a loop advances one scalar.
    bases: Array<*const u8, C::Scales>,
    /// The lane's pieces, in bytes from there.
    offsets: Array<u32, C::Scales>,
}

/// The scales of a row in a stage, in bytes.
pub(super) const fn scales_of_a_row(row_bytes: usize, scale_bytes: usize) -> usize {
    match scale_bytes {
        0 => 0,
        bytes => row_bytes / bytes,
    }
}

/// Pieces of a thread, and the bytes of each, for this many scales in a stage. Pieces do not leave their row.
pub(super) const fn pieces(scales: usize, threads: usize, of_a_row: usize) -> (usize, usize) {
    if scales == 0 {
        return (0, 0);
    }
    let bytes = scales / threads;
    let mut piece = 4;
    while !(bytes.is_multiple_of(piece) && of_a_row.is_multiple_of(piece)) {
        piece /= 2;
    }
    (bytes / piece, piece)
}

impl<C: Config> BlockGemm<C> {
    /// Scales of a row in a stage.
    const SCALES: usize = scales_of_a_row(C::Layout::ROW_BYTES, C::Multiply::SCALE_BYTES);

    /// The first of a piece's scales in a stage: its row, with those of B behind those of A, and its number in the row.
    #[inline(always)]
    fn first_scale(&self, piece: usize) -> (u32, u32) {
        let number = self.thread + (piece * self.threads()) as u32;
        let byte = number * C::SCALE_PIECE as u32;
        let of_a_row = Self::SCALES.max(1) as u32;
        (byte / of_a_row, byte % of_a_row)
    }

    /// The scales of the stage at `k`, if the offsets within a tile fit in 32 bits, as they do where stages are whole.
    #[inline(always)]
    pub(super) fn scales(&self, k: u32) -> Scales<C> {
        let bytes = C::Multiply::SCALE_BYTES.max(1);
        let first = (k / bytes as u32) as usize;
        let blocks = self.product.k() / bytes as u32;
        let mut scales: Scales<C> = Scales {
            bases: C::Scales::splat(core::ptr::null()),
            offsets: C::Scales::splat(0),
        };
        for piece in 0..C::Scales::LEN {
            let (row, scale) = self.first_scale(piece);
            // The rows of a wave's piece are in one of the tiles.
            let is_b = arch::readfirstlane(row) >= self.product.kernel().tile.m as u32;
            let (start, row) = self.product.scales_of_row(row, is_b, bytes);
            scales.bases[piece] = start.wrapping_add(first);
            scales.offsets[piece] = row.wrapping_mul(blocks).wrapping_add(scale);
        }
        scales
    }

    /// The thread's pieces of the stage at `k`, with 0 behind the end of k.
    ///
    /// # Safety
    /// The scales exist up to the end of k.
    #[inline(always)]
    pub(super) unsafe fn scales_within(&self, k: u32) -> Array<u32, C::Scales> {
        let bytes = C::Multiply::SCALE_BYTES.max(1);
        let (blocks, before) = (self.product.k() / bytes as u32, k / bytes as u32);
        let left = blocks - before;
        C::Scales::from_fn(
            #[inline(always)]
            |piece| {
                let (row, first) = self.first_scale(piece);
                let is_b = row >= self.product.kernel().tile.m as u32;
                let (start, row) = self.product.scales_of_row(row, is_b, bytes);
                let start = start.wrapping_add(row as usize * blocks as usize + before as usize);
                let mut bits = 0;
                for byte in 0..C::SCALE_PIECE as u32 {
                    if first + byte < left {
                        let scale = start.wrapping_add((first + byte) as usize);
                        // SAFETY: the scale is before the end of k.
                        bits |= u32::from(unsafe { scale.read() }) << (8 * byte);
                    }
                }
                bits
            },
        )
    }

    /// The scales of stage buffer `stage`, behind the tiles of all of them.
    #[inline(always)]
    fn scale_buffer(&self, stage: usize) -> *mut u8 {
        let kernel = self.product.kernel();
        let rows = kernel.tile.m + kernel.tile.n;
        let stages = kernel.lds_bytes / (rows * (C::Layout::ROW_BYTES + Self::SCALES));
        let start = rows * (stages * C::Layout::ROW_BYTES + stage * Self::SCALES);
        self.lds.cast::<u8>().wrapping_add(start)
    }

    /// Writes the thread's pieces to a stage buffer.
    ///
    /// # Safety
    /// No thread reads the buffer until it has waited for this one.
    #[inline(always)]
    pub(in super::super) unsafe fn store_scales(
        &self,
        stage: usize,
        pieces: Array<u32, C::Scales>,
    ) {
        // Without scales there is no opaque value either: it would take a register.
        if C::Scales::LEN == 0 {
            return;
        }
        let buffer = self.scale_buffer(stage);
        // As in `TileLoader::store`: for stages so large that two exceed the offset of LDS instructions.
        let thread = match C::Layout::ROW_UNITS {
            ..=4 => self.thread,
            _ => self.thread + crate::opaque_zero(),
        };
        for piece in 0..C::Scales::LEN {
            let number = thread as usize + piece * self.threads();
            let place = buffer.wrapping_add(number * C::SCALE_PIECE);
            // SAFETY: the place is the thread's, and a multiple of the piece's size.
            unsafe {
                match C::SCALE_PIECE {
                    1 => place.write(pieces[piece] as u8),
                    2 => place.cast::<u16>().write(pieces[piece] as u16),
                    _ => place.cast::<u32>().write(pieces[piece]),
                }
            }
        }
    }

    /// Reads the lane's scale of a row of a stage buffer in a step; rows of B are behind those of A.
    ///
    /// # Safety
    /// The threads have written the scales.
    #[inline(always)]
    pub(super) unsafe fn scale(&self, stage: usize, row: u32, step: u32) -> u32 {
        let group = self.lane / C::Multiply::EDGE as u32 % C::Multiply::K_GROUPS as u32;
        let number = step * C::Multiply::K_GROUPS as u32 + group;
        let place = row * Self::SCALES as u32 + number;
        // SAFETY: the scale is in the buffer.
        unsafe { self.scale_buffer(stage).add(place as usize).read().into() }
    }
}

impl<C: Config> Scales<C> {
    /// Loads the thread's pieces of a stage.
    ///
    /// # Safety
    /// The stage is whole.
    #[inline(always)]
    pub(super) unsafe fn load(&self) -> Array<u32, C::Scales> {
        C::Scales::from_fn(
            #[inline(always)]
            |piece| {
                let offset = crate::opaque(self.offsets[piece]);
                let address = self.bases[piece].wrapping_add(offset as usize);
                // SAFETY: the scales exist; they need no alignment: amdhsa enables unaligned access.
                unsafe {
                    match C::SCALE_PIECE {
                        1 => address.read().into(),
                        2 => address.cast::<u16>().read_unaligned().into(),
                        _ => address.cast::<u32>().read_unaligned(),
                    }
                }
            },
        )
    }

    /// Advances by `stages` stages.
    #[inline(always)]
    pub(super) fn advance(&mut self, stages: u32) {
        let scales = scales_of_a_row(C::Layout::ROW_BYTES, C::Multiply::SCALE_BYTES);
        for piece in 0..C::Scales::LEN {
            self.bases[piece] = self.bases[piece].wrapping_add(stages as usize * scales);
        }
    }
}
