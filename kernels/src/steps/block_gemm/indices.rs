//! The indices of a sparse A, which say where its elements are along k.
//!
//! A lane's indices of a stage are next to each other in memory, and those of a wave's lanes for a block are a whole number of
//! cache lines ([`ferrowave_shared::sparse`]). They go to registers, past LDS: no other wave needs them.

use super::{BlockGemm, Config};
use crate::{
    arch,
    matrix::Multiply,
    tile::length::{Array, Length},
};
use ferrowave_shared::sparse;

/// A lane's indices of a stage.
#[derive(Clone, Copy)]
pub(super) struct Indices<C: Config> {
    /// The first index of the stage, for each word. Uniform.
    bases: Array<*const u32, C::Indices>,
    /// The lane's words, in words from there.
    offset: u32,
}

impl<C: Config> BlockGemm<C> {
    /// Words of a lane for a block.
    const WORDS: usize = C::Multiply::INDEX_WORDS;
    /// Words of a block of rows in a stage.
    const BLOCK_WORDS: usize = C::Multiply::LANES * Self::WORDS;

    /// The indices of the stage at `k`.
    #[inline(always)]
    pub(super) fn indices(&self, k: u32) -> Indices<C> {
        let mut indices = Indices {
            bases: C::Indices::splat(core::ptr::null()),
            offset: self.lane * Self::WORDS as u32,
        };
        if Self::WORDS == 0 {
            return indices;
        }
        const { assert!(Self::WORDS == 0 || C::Multiply::EDGE as u32 == sparse::BLOCK_ROWS) }
        let (start, first, last) = self.product.index_blocks();
        let stages = self.product.k().div_ceil(Self::STAGE_K) as usize;
        let wave = arch::readfirstlane(self.wave_row) * Self::M as u32;
        for word in 0..C::Indices::LEN {
            // Blocks outside the matrix have the indices of the last one.
            let block = (first + wave + (word / Self::WORDS) as u32).min(last) as usize;
            let stage = block * stages + (k / Self::STAGE_K) as usize;
            indices.bases[word] = start
                .wrapping_add(stage * Self::BLOCK_WORDS)
                .wrapping_add(word % Self::WORDS);
        }
        indices
    }

    /// The lane's indices of a block of rows in a step: those of its unit.
    #[inline(always)]
    pub(super) fn indices_of_block(&self, stage: usize, block: usize, step: u32) -> u32 {
        let words = &self.indices[stage];
        match Self::WORDS {
            // Both steps are in one word.
            1 => words[block] >> (16 * step),
            _ => words[block * Self::WORDS + step as usize],
        }
    }
}

impl<C: Config> Indices<C> {
    /// Loads those of a stage.
    ///
    /// # Safety
    /// The stage is in the matrix.
    #[inline(always)]
    pub(super) unsafe fn load(&self) -> Array<u32, C::Indices> {
        C::Indices::from_fn(
            #[inline(always)]
            |word| {
                let offset = crate::opaque(self.offset);
                // SAFETY: the indices exist, as the caller promises: the last stage is whole.
                unsafe { self.bases[word].wrapping_add(offset as usize).read() }
            },
        )
    }

    /// Advances by `stages` stages.
    #[inline(always)]
    pub(super) fn advance(&mut self, stages: u32) {
        for word in 0..C::Indices::LEN {
            let words = stages as usize * BlockGemm::<C>::BLOCK_WORDS;
            self.bases[word] = self.bases[word].wrapping_add(words);
        }
    }
}
