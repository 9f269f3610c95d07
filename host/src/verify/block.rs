//! Blocks of the reference product in f64.
//!
//! For 8-bit integers it is exact: sums of fewer than 2³¹ products of at most 2¹⁴ are integers below 2⁵³, in any order.

use super::{elements::Elements, inputs::Inputs};
use crate::gemm::{Layout, Problem};
use ferrowave_shared::{SCALE_BLOCK, sparse};
use std::ops::Range;

/// A factor of the product.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a> {
    elements: &'a Elements,
    layout: &'a Layout,
    scales: Option<Scales<'a>>,
    /// Of A, if it is sparse.
    indices: Option<Indices<'a>>,
}

/// Where the elements of a sparse factor are.
#[derive(Clone, Copy)]
struct Indices<'a> {
    bytes: &'a [u8],
    stored: sparse::Elements,
    layout: sparse::Indices,
    /// Bytes from the indices of one matrix of the batch to those of the next.
    stride: u64,
}

/// The scales of a factor.
#[derive(Clone, Copy)]
struct Scales<'a> {
    scales: &'a Elements,
    layout: Layout,
    /// Whether they are those of B, whose columns are rows of the layout.
    of_b: bool,
}

impl<'a> Factor<'a> {
    /// A and B of a problem.
    pub(super) fn both(problem: &'a Problem, inputs: &'a Inputs) -> [Self; 2] {
        let scales = |number: usize, layout: Option<Layout>| {
            Some(Scales {
                scales: &inputs.scales.as_ref()?[number],
                layout: layout?,
                of_b: number == 1,
            })
        };
        let factor = |elements, layout, scales| Self {
            elements,
            layout,
            scales,
            indices: None,
        };
        let layouts = problem.sparse_a().zip(problem.indices());
        let indices = layouts.zip(inputs.indices.as_deref());
        [
            Self {
                indices: indices.map(|((stored, layout), bytes)| Indices {
                    bytes,
                    stored,
                    layout,
                    stride: match problem.a().stride {
                        0 => 0,
                        _ => layout.size_bytes(),
                    },
                }),
                ..factor(&inputs.a, problem.a(), scales(0, problem.scales_a()))
            },
            factor(&inputs.b, problem.b(), scales(1, problem.scales_b())),
        ]
    }

    /// The value of an element, with its scale.
    pub(super) fn value(&self, batch: u32, row: u32, column: u32) -> f64 {
        // Offsets are below the length of the matrix.
        let offset = match &self.indices {
            Some(indices) => match indices.place(batch, row, column) {
                Some(place) => self.layout.offset(batch, 0, 0) + place,
                None => return 0.0,
            },
            None => self.layout.offset(batch, row, column),
        };
        let value = self.elements.value(offset as usize);
        match &self.scales {
            Some(scales) => value * scales.value(batch, row, column),
            None => value,
        }
    }
}

impl Indices<'_> {
    /// Where an element is stored; `None` if it is 0.
    fn place(&self, batch: u32, row: u32, column: u32) -> Option<u64> {
        let (group, place) = (column / sparse::GROUP, column % sparse::GROUP);
        let (byte, bit) = self.layout.place(row, group);
        let byte = self.bytes[(u64::from(batch) * self.stride + byte) as usize] >> bit;
        let number = [byte & 3, byte >> 2 & 3]
            .iter()
            .position(|&stored| u32::from(stored) == place)?;
        Some(self.stored.place(row, 2 * group + number as u32))
    }
}

impl Scales<'_> {
    fn value(&self, batch: u32, row: u32, column: u32) -> f64 {
        let (row, k) = match self.of_b {
            true => (column, row),
            false => (row, column),
        };
        let offset = self.layout.offset(batch, row, k / SCALE_BLOCK);
        self.scales.value(offset as usize)
    }
}

/// The largest block that is multiplied at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSize {
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) k: u32,
}

impl BlockSize {
    /// Copies of 4 MiB of A and 8 MiB of B, and 2 MiB for both products.
    pub(super) const DEFAULT: Self = Self {
        m: 256,
        n: 512,
        k: 2048,
    };
}

/// Rows and columns of a product of the batch.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Which product of the batch.
    pub(super) batch: u32,
    /// Which rows of C, in any order.
    pub(super) rows: Vec<u32>,
    /// Which columns of C.
    pub(super) columns: Range<u32>,
}

impl Part {
    /// All of C, in blocks of this size.
    pub(super) fn all(problem: &Problem, size: BlockSize) -> Vec<Self> {
        let mut all = Vec::new();
        for batch in 0..problem.batch() {
            for columns in parts(problem.n(), size.n) {
                all.extend(parts(problem.m(), size.m).map(|rows| Part {
                    batch,
                    rows: rows.collect(),
                    columns: columns.clone(),
                }));
            }
        }
        all
    }
}

/// A block of A·B and of |A|·|B|.
pub(super) struct Block {
    /// Which block.
    pub(super) part: Part,
    /// A·B, row by row.
    product: Vec<f64>,
    /// |A|·|B|, row by row.
    magnitude: Vec<f64>,
}

impl Block {
    /// Multiplies a block of both factors, in steps of `step` along k.
    ///
    /// The f64 product of shorter floats is exact up to a few units in the last place of an f64, which
    /// is 2²⁹ times better than the f32 sums that it is compared with.
    pub(super) fn of(problem: &Problem, [a, b]: [Factor<'_>; 2], part: Part, step: u32) -> Self {
        let Part {
            batch,
            ref rows,
            ref columns,
        } = part;
        let length = rows.len() * columns.len();
        let [mut product, mut magnitude] = [vec![0.0; length], vec![0.0; length]];
        let [mut a_copy, mut b_copy] = [Vec::new(), Vec::new()];
        for p in parts(problem.k(), step) {
            let rows_of_a = rows.iter().copied();
            copy(&mut a_copy, a, batch, rows_of_a, p.clone());
            copy(&mut b_copy, b, batch, p.clone(), columns.clone());
            let shape = (rows.len(), p.len(), columns.len());
            add_product(shape, &a_copy, &b_copy, &mut product);
            for x in a_copy.iter_mut().chain(&mut b_copy) {
                *x = x.abs();
            }
            add_product(shape, &a_copy, &b_copy, &mut magnitude);
        }
        Block {
            part,
            product,
            magnitude,
        }
    }

    /// The elements of the block: row and column in C, and the elements of A·B and of |A|·|B|.
    pub(super) fn elements(&self) -> impl Iterator<Item = (u32, u32, f64, f64)> {
        let columns = &self.part.columns;
        let rows = self.part.rows.iter();
        let places = rows.flat_map(move |&row| columns.clone().map(move |column| (row, column)));
        places
            .zip(self.product.iter().zip(&self.magnitude))
            .map(|((row, column), (&product, &magnitude))| (row, column, product, magnitude))
    }
}

/// Ranges of at most `length`.
pub(super) fn parts(extent: u32, length: u32) -> impl Iterator<Item = Range<u32>> {
    (0..extent)
        .step_by(length as usize)
        .map(move |first| first..first + length.min(extent - first))
}

/// Copies a block of a matrix, without padding.
pub(super) fn copy(
    to: &mut Vec<f64>,
    from: Factor<'_>,
    batch: u32,
    rows: impl Iterator<Item = u32>,
    columns: Range<u32>,
) {
    to.clear();
    for row in rows {
        to.extend(columns.clone().map(|column| from.value(batch, row, column)));
    }
}

/// c ← a·b + c, for packed row-major matrices of m × k, k × n and m × n elements.
pub(super) fn add_product((m, k, n): (usize, usize, usize), a: &[f64], b: &[f64], c: &mut [f64]) {
    add_product_within((m, k, n), (a, k), (b, n), (c, n));
}

/// The same for matrices with these numbers of elements from one row to the next.
pub(super) fn add_product_within(
    (m, k, n): (usize, usize, usize),
    (a, lda): (&[f64], usize),
    (b, ldb): (&[f64], usize),
    (c, ldc): (&mut [f64], usize),
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(lda >= k && ldb >= n && ldc >= n);
    assert!(a.len() >= (m - 1) * lda + k);
    assert!(b.len() >= (k - 1) * ldb + n);
    assert!(c.len() >= (m - 1) * ldc + n);
    // SAFETY: by the assertions, the slices hold matrices of these shapes, whose strides fit `isize` as the slices'
    // lengths do; c overlaps neither a nor b, since it is borrowed mutably.
    unsafe {
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            a.as_ptr(),
            lda as isize,
            1,
            b.as_ptr(),
            ldb as isize,
            1,
            1.0,
            c.as_mut_ptr(),
            ldc as isize,
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
        for part in Part::all(&problem, size) {
            let batch = part.batch;
            let (floats_a, floats_b) = (floats(&a), floats(&b));
            let factor = |elements, layout| Factor {
                elements,
                layout,
                scales: None,
                indices: None,
            };
            let factors = [
                factor(&floats_a, problem.a()),
                factor(&floats_b, problem.b()),
            ];
            let block = Block::of(&problem, factors, part, size.k);
            for (i, j, product, magnitude) in block.elements() {
                let factors = (0..problem.k()).map(|p| {
                    let a = a[problem.a().offset(batch, i, p) as usize];
                    let b = b[problem.b().offset(batch, p, j) as usize];
                    (a, b)
                });
                let exact: i64 = factors.clone().map(|(a, b)| a * b).sum();
                let exact_magnitude: i64 = factors.map(|(a, b)| (a * b).abs()).sum();
                assert_eq!(product, exact as f64, "({i}, {j})");
                assert_eq!(magnitude, exact_magnitude as f64, "({i}, {j})");
                visited += 1;
            }
        }
        assert_eq!(visited, problem.m() * problem.n() * problem.batch());
    }

    #[test]
    fn blocks_are_the_exact_product() {
        let small = BlockSize { m: 4, n: 8, k: 16 };
        for size in [small, BlockSize::DEFAULT] {
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
