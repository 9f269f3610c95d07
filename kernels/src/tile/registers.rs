//! Tiles that one thread holds in registers.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{element::Accumulator, output::Fragment};
use core::{intrinsics::simd::simd_fma, simd::f32x2};

/// An element type that the vector unit multiplies.
pub trait Scalar: Accumulator {
    /// `self · factors[i] + addends[i]`, each rounded once.
    ///
    /// On GPUs with packed arithmetic a pair is one instruction, with twice the throughput. The compiler
    /// does not form the pairs by itself on all of these GPUs.
    #[must_use]
    fn mul_add_pair(self, factors: [Self; 2], addends: [Self; 2]) -> [Self; 2];
}

impl Scalar for f32 {
    #[inline(always)]
    fn mul_add_pair(self, factors: [Self; 2], addends: [Self; 2]) -> [Self; 2] {
        let [factors, addends] = [factors, addends].map(f32x2::from_array);
        // SAFETY: the intrinsic is defined for all vectors of floats.
        unsafe { simd_fma(f32x2::splat(self), factors, addends) }.to_array()
    }
}

/// A thread's sums of `M` × `N` elements of C.
///
/// All loops over it have constant bounds, so that after unrolling every index is a constant and the
/// elements live in registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegisterTile<T, const M: usize, const N: usize>(pub [[T; N]; M]);

impl<T: Scalar, const M: usize, const N: usize> RegisterTile<T, M, N> {
    /// All zeros.
    pub const ZERO: Self = Self([[T::ZERO; N]; M]);

    /// Adds the outer product: `self[i][j] ← a[i] · b[j] + self[i][j]`.
    #[inline(always)]
    pub fn add_outer_product(&mut self, a: [T; M], b: [T; N]) {
        // Counted loops unroll completely. Iterators over rows and pairs do not, and would put the tile
        // in memory.
        for i in 0..M {
            for j in (0..N - N % 2).step_by(2) {
                let sums = [self.0[i][j], self.0[i][j + 1]];
                [self.0[i][j], self.0[i][j + 1]] = a[i].mul_add_pair([b[j], b[j + 1]], sums);
            }
            if N % 2 == 1 {
                self.0[i][N - 1] = a[i].mul_add(b[N - 1], self.0[i][N - 1]);
            }
        }
    }

    /// The same in an order for RDNA's dual instructions, whose parts must read different banks of registers: two rows at once,
    /// one with a column of `b` and the other with the column beside it.
    ///
    /// An operand that the last instruction read at the same place is in its bank's cache. So every second pair of rows takes
    /// the columns backward: it begins with those that the pair before ended with.
    #[inline(always)]
    pub fn add_outer_product_by_pairs(&mut self, a: [T; M], b: [T; N]) {
        for i in (0..M).step_by(2) {
            for step in 0..N {
                let j = match i % 4 {
                    0 => step,
                    _ => N - 1 - step,
                };
                self.0[i][j] = a[i].mul_add(b[j], self.0[i][j]);
                if i + 1 < M {
                    let j = (j ^ 1).min(N - 1);
                    self.0[i + 1][j] = a[i + 1].mul_add(b[j], self.0[i + 1][j]);
                }
            }
        }
    }
}

impl<T: Accumulator, const M: usize, const N: usize> Fragment<N> for RegisterTile<T, M, N> {
    type Sum = T;

    #[inline(always)]
    fn for_each_run(&mut self, mut visit: impl FnMut(u32, u32, &mut [T; N])) {
        for i in 0..M {
            visit(i as u32, 0, &mut self.0[i]);
        }
    }
}

/// [`RegisterTile`] of `M` × `N` elements in blocks of 4 × 4 that are `APART` rows or columns apart in C, with the
/// blocks of other threads between them.
///
/// The first blocks of neighbouring threads are adjacent, so that a wave reads LDS without gaps.
pub struct ScatteredTile<T, const M: usize, const N: usize, const APART: usize>(
    pub RegisterTile<T, M, N>,
);

impl<T: Accumulator, const M: usize, const N: usize, const APART: usize> Fragment<4>
    for ScatteredTile<T, M, N, APART>
{
    type Sum = T;

    #[inline(always)]
    fn for_each_run(&mut self, mut visit: impl FnMut(u32, u32, &mut [T; 4])) {
        const {
            assert!(
                M.is_multiple_of(4) && N.is_multiple_of(4),
                "blocks are of 4 × 4"
            );
        }
        for i in 0..M {
            for block in 0..N / 4 {
                let mut run = [T::ZERO; 4];
                for j in 0..4 {
                    run[j] = self.0.0[i][4 * block + j];
                }
                visit(
                    (i / 4 * APART + i % 4) as u32,
                    (block * APART) as u32,
                    &mut run,
                );
                for j in 0..4 {
                    self.0.0[i][4 * block + j] = run[j];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn outer_products_add_up_to_the_matrix_product() {
        // [1 2; 3 4; 5 6] · [7 8; 9 10], by hand.
        let mut tile = RegisterTile::<f32, 3, 2>::ZERO;
        tile.add_outer_product([1.0, 3.0, 5.0], [7.0, 8.0]);
        tile.add_outer_product([2.0, 4.0, 6.0], [9.0, 10.0]);
        assert_eq!(tile.0, [[25.0, 28.0], [57.0, 64.0], [89.0, 100.0]]);
        // The same transposed, with a column left over from the pairs.
        let mut tile = RegisterTile::<f32, 2, 3>::ZERO;
        tile.add_outer_product([7.0, 8.0], [1.0, 3.0, 5.0]);
        tile.add_outer_product([9.0, 10.0], [2.0, 4.0, 6.0]);
        assert_eq!(tile.0, [[25.0, 57.0, 89.0], [28.0, 64.0, 100.0]]);
        // By pairs of rows, with a row and a column left over.
        let mut tile = RegisterTile::<f32, 3, 2>::ZERO;
        tile.add_outer_product_by_pairs([1.0, 3.0, 5.0], [7.0, 8.0]);
        tile.add_outer_product_by_pairs([2.0, 4.0, 6.0], [9.0, 10.0]);
        assert_eq!(tile.0, [[25.0, 28.0], [57.0, 64.0], [89.0, 100.0]]);
        let mut tile = RegisterTile::<f32, 2, 3>::ZERO;
        tile.add_outer_product_by_pairs([7.0, 8.0], [1.0, 3.0, 5.0]);
        tile.add_outer_product_by_pairs([9.0, 10.0], [2.0, 4.0, 6.0]);
        assert_eq!(tile.0, [[25.0, 57.0, 89.0], [28.0, 64.0, 100.0]]);
    }

    #[test]
    fn runs_of_a_scattered_tile_are_where_its_blocks_are() {
        let mut tile = ScatteredTile::<f32, 8, 8, 32>(RegisterTile::ZERO);
        for i in 0..8 {
            for j in 0..8 {
                tile.0.0[i][j] = (100 * (i + i / 4 * 28) + j + j / 4 * 28) as f32;
            }
        }
        let mut seen = std::vec::Vec::new();
        tile.for_each_run(|row, column, run| {
            for j in 0..4 {
                assert_eq!(run[j], (100 * row + column + j as u32) as f32);
                run[j] += 0.5;
            }
            seen.push((row, column));
        });
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 16);
        assert_eq!(tile.0.0[7][7], 3535.5, "what is done to a run stays");
    }

    #[test]
    fn products_are_not_rounded_before_they_are_added() {
        // (1 + ε)² = 1 + 2ε + ε²; rounded first, ε² would be lost.
        let x = 1.0 + f32::EPSILON;
        let mut tile = RegisterTile([[-1.0 - 2.0 * f32::EPSILON; 3]]);
        tile.add_outer_product([x], [x; 3]);
        assert_eq!(tile.0, [[f32::EPSILON * f32::EPSILON; 3]]);
    }
}
