//! The reference product in f64, one block at a time.
//!
//! For 8-bit integers it is exact: sums of fewer than 2³¹ products of at most 2¹⁴ are integers below 2⁵³, in any order.
//!
//! Only the f64 copies of one block are held: 14 MiB, independent of the problem's size.

use super::elements::Elements;
use crate::gemm::{Layout, Problem};
use std::ops::Range;

/// The largest block that is multiplied at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSize {
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) k: u32,
}

impl Default for BlockSize {
    /// Copies of 4 MiB of A and 8 MiB of B, and 2 MiB for both products.
    fn default() -> Self {
        Self {
            m: 256,
            n: 512,
            k: 2048,
        }
    }
}

/// A block of A·B and of |A|·|B|.
pub(super) struct Block {
    /// Which product of the batch.
    pub(super) batch: u32,
    /// Which rows of C.
    pub(super) rows: Range<u32>,
    /// Which columns of C.
    pub(super) columns: Range<u32>,
    /// A·B, row by row.
    product: Vec<f64>,
    /// |A|·|B|, row by row.
    magnitude: Vec<f64>,
}

impl Block {
    /// The rows of the block: the row's number in C, its elements of A·B, and those of |A|·|B|.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, &[f64], &[f64])> {
        let columns = self.columns.len();
        self.rows
            .clone()
            .zip(self.product.chunks_exact(columns))
            .zip(self.magnitude.chunks_exact(columns))
            .map(|((row, product), magnitude)| (row, product, magnitude))
    }
}

/// Multiplies `a` and `b` and calls `visit` with every block of the product.
///
/// The f64 product of shorter floats is exact up to a few units in the last place of an f64, which
/// is 2²⁹ times better than the f32 sums that it is compared with.
pub(super) fn for_each_block(
    problem: &Problem,
    a: &Elements,
    b: &Elements,
    size: BlockSize,
    mut visit: impl FnMut(&Block),
) {
    let mut a_copy = Vec::new();
    let mut b_copy = Vec::new();
    let mut block = Block {
        batch: 0,
        rows: 0..0,
        columns: 0..0,
        product: Vec::new(),
        magnitude: Vec::new(),
    };
    for batch in 0..problem.batch() {
        for columns in parts(problem.n(), size.n) {
            for rows in parts(problem.m(), size.m) {
                block.batch = batch;
                block.rows = rows.clone();
                block.columns = columns.clone();
                let length = rows.len() * columns.len();
                for sums in [&mut block.product, &mut block.magnitude] {
                    sums.clear();
                    sums.resize(length, 0.0);
                }
                for p in parts(problem.k(), size.k) {
                    copy(&mut a_copy, a, problem.a(), batch, rows.clone(), p.clone());
                    copy(
                        &mut b_copy,
                        b,
                        problem.b(),
                        batch,
                        p.clone(),
                        columns.clone(),
                    );
                    let shape = (rows.len(), p.len(), columns.len());
                    add_product(shape, &a_copy, &b_copy, &mut block.product);
                    for x in a_copy.iter_mut().chain(&mut b_copy) {
                        *x = x.abs();
                    }
                    add_product(shape, &a_copy, &b_copy, &mut block.magnitude);
                }
                visit(&block);
            }
        }
    }
}

fn parts(extent: u32, length: u32) -> impl Iterator<Item = Range<u32>> {
    (0..extent)
        .step_by(length as usize)
        .map(move |first| first..first + length.min(extent - first))
}

/// Copies a block of a matrix, without padding.
fn copy(
    to: &mut Vec<f64>,
    from: &Elements,
    layout: &Layout,
    batch: u32,
    rows: Range<u32>,
    columns: Range<u32>,
) {
    to.clear();
    for row in rows {
        // Offsets are below the length of the matrix.
        to.extend(
            columns
                .clone()
                .map(|column| from.value(layout.offset(batch, row, column) as usize)),
        );
    }
}

/// c ← a·b + c, for packed row-major matrices of m × k, k × n and m × n elements.
fn add_product((m, k, n): (usize, usize, usize), a: &[f64], b: &[f64], c: &mut [f64]) {
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n);
    // A block's extents are far below `isize::MAX`.
    let (row_a, row_b) = (k as isize, n as isize);
    // SAFETY: by the assertion, the slices have the lengths of packed matrices; c overlaps neither a
    // nor b, since it is borrowed mutably.
    unsafe {
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            a.as_ptr(),
            row_a,
            1,
            b.as_ptr(),
            row_b,
            1,
            1.0,
            c.as_mut_ptr(),
            row_b,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gemm::{Order, Request},
        verify::elements::nearest,
    };
    use ferrowave_shared::ElementType;

    /// Products of small integers are exact in f64, in any order, so the blocks must equal the result of
    /// integer arithmetic.
    fn check(request: Request, size: BlockSize) {
        let problem = request.check().expect("valid");
        let integers = |layout: &Layout, factor: i64| -> Vec<i64> {
            (0..i64::try_from(layout.span()).expect("small"))
                .map(|i| (i * factor) % 41 - 20)
                .collect()
        };
        let (a, b) = (integers(problem.a(), 17), integers(problem.b(), 29));
        let floats = |x: &[i64]| {
            let mut elements = Elements::with_capacity(ElementType::F32, x.len()).expect("small");
            for &x in x {
                elements.push_bits(nearest(ElementType::F32, x as f64));
            }
            elements
        };
        let mut visited = 0;
        for_each_block(&problem, &floats(&a), &floats(&b), size, |block| {
            for (i, products, magnitudes) in block.rows() {
                for (j, (&product, &magnitude)) in
                    block.columns.clone().zip(products.iter().zip(magnitudes))
                {
                    let factors = (0..problem.k()).map(|p| {
                        let a = a[problem.a().offset(block.batch, i, p) as usize];
                        let b = b[problem.b().offset(block.batch, p, j) as usize];
                        (a, b)
                    });
                    let exact: i64 = factors.clone().map(|(a, b)| a * b).sum();
                    let exact_magnitude: i64 = factors.map(|(a, b)| (a * b).abs()).sum();
                    assert_eq!(product, exact as f64, "({i}, {j})");
                    assert_eq!(magnitude, exact_magnitude as f64, "({i}, {j})");
                    visited += 1;
                }
            }
        });
        assert_eq!(visited, problem.m() * problem.n() * problem.batch());
    }

    #[test]
    fn blocks_are_the_exact_product() {
        let small = BlockSize { m: 4, n: 8, k: 16 };
        for size in [small, BlockSize::default()] {
            check(Request::new(1, 1, 1), size);
            check(Request::new(37, 53, 29), size);
            check(Request::new(4, 8, 16), size);
            check(Request::new(5, 9, 17), size);
            check(Request::new(3, 7, 0), size);
            check(Request::new(0, 7, 3), size);
        }
    }

    #[test]
    fn layouts_and_batches_are_followed() {
        let request = Request {
            lda: Some(31),
            ldb: Some(25),
            batch: 3,
            stride_a: Some(1000),
            stride_b: Some(0),
            ..Request::new(13, 21, 19)
        };
        let orders = [Order::RowMajor, Order::ColumnMajor];
        for (order_a, order_b) in orders.into_iter().flat_map(|a| orders.map(|b| (a, b))) {
            let request = Request {
                order_a,
                order_b,
                ..request
            };
            check(request, BlockSize { m: 5, n: 8, k: 7 });
        }
    }
}
