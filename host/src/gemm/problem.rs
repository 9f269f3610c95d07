//! What is to be computed, checked.

use super::layout::Layout;
use ferrowave_shared::{ElementTypes, GemmParameters, Options, arguments::MAX_EXTENT};
use thiserror::Error;

/// A product that somebody asks for: C ← α·A·B + β·C, in numbers that nobody has checked.
///
/// ```
/// use ferrowave_host::gemm::Request;
///
/// let problem = Request { lda: Some(40), ..Request::new(37, 53, 29) }.check()?;
/// assert_eq!(problem.a().span(), 36 * 40 + 29);
///
/// let error = Request { lda: Some(28), ..Request::new(37, 53, 29) }.check().unwrap_err();
/// assert_eq!(error.to_string(), "lda is 28, but must be from 29 (k) to 2147483647");
/// # Ok::<(), ferrowave_host::gemm::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Rows of A and C.
    pub m: i64,
    /// Columns of B and C.
    pub n: i64,
    /// Columns of A, rows of B.
    pub k: i64,
    /// Elements from one row of A to the next; k if not given.
    pub lda: Option<i64>,
    /// Elements from one row of B to the next; n if not given.
    pub ldb: Option<i64>,
    /// Elements from one row of C to the next; n if not given.
    pub ldc: Option<i64>,
    /// How many products.
    pub batch: i64,
    /// Elements from one A to the next; m · lda if not given, 0 to use one A for all.
    pub stride_a: Option<i64>,
    /// Elements from one B to the next; k · ldb if not given, 0 to use one B for all.
    pub stride_b: Option<i64>,
    /// Elements from one C to the next; m · ldc if not given.
    pub stride_c: Option<i64>,
    /// Factor of the product. Passed on as IEEE says, whatever it is.
    pub alpha: f32,
    /// Factor of the old C. With 0, C is only written.
    pub beta: f32,
    /// The element types.
    pub types: ElementTypes,
}

impl Request {
    /// One product of matrices without padding, in f32, with α = 1 and β = 0.
    pub const fn new(m: i64, n: i64, k: i64) -> Self {
        Self {
            m,
            n,
            k,
            lda: None,
            ldb: None,
            ldc: None,
            batch: 1,
            stride_a: None,
            stride_b: None,
            stride_c: None,
            alpha: 1.0,
            beta: 0.0,
            types: ElementTypes::F32,
        }
    }

    /// Checks every number.
    ///
    /// # Errors
    /// A [`ProblemError`] names the first number that is out of its range, and the range.
    pub fn check(&self) -> Result<Problem, ProblemError> {
        let m = extent("m", self.m)?;
        let n = extent("n", self.n)?;
        let k = extent("k", self.k)?;
        let batch = extent("batch", self.batch)?;
        let matrix = |names: Names, rows, columns, leading, stride| {
            let leading = leading_dimension(names, columns, leading)?;
            Ok(Layout {
                rows,
                columns,
                leading,
                batch,
                stride: batch_stride(names, rows, leading, stride)?,
            })
        };
        let a = matrix(A, m, k, self.lda, self.stride_a)?;
        let b = matrix(B, k, n, self.ldb, self.stride_b)?;
        let c = matrix(C, m, n, self.ldc, self.stride_c)?;
        // Products that share elements of C would be computed into the same ones, in any order.
        if batch > 1 && c.stride < c.matrix_span() {
            return Err(ProblemError::OverlappingOutputs {
                stride: c.stride,
                span: c.matrix_span(),
            });
        }
        fits(A, a, self.types.input.size_bytes())?;
        fits(B, b, self.types.input.size_bytes())?;
        fits(C, c, self.types.output.size_bytes())?;
        Ok(Problem {
            a,
            b,
            c,
            alpha: self.alpha,
            beta: self.beta,
            types: self.types,
        })
    }
}

/// A product that can be computed: C ← α·A·B + β·C with row-major matrices.
///
/// Made by [`Request::check`] only, so that its extents agree, rows fit their leading dimensions,
/// and no offset overflows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    a: Layout,
    b: Layout,
    c: Layout,
    alpha: f32,
    beta: f32,
    types: ElementTypes,
}

impl Problem {
    /// Rows of A and C.
    pub const fn m(&self) -> u32 {
        self.c.rows
    }

    /// Columns of B and C.
    pub const fn n(&self) -> u32 {
        self.c.columns
    }

    /// Columns of A, rows of B.
    pub const fn k(&self) -> u32 {
        self.a.columns
    }

    /// How many products.
    pub const fn batch(&self) -> u32 {
        self.c.batch
    }

    /// Factor of the product.
    pub const fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Factor of the old C.
    pub const fn beta(&self) -> f32 {
        self.beta
    }

    /// The element types.
    pub const fn types(&self) -> ElementTypes {
        self.types
    }

    /// Where the elements of A are.
    pub const fn a(&self) -> &Layout {
        &self.a
    }

    /// Where the elements of B are.
    pub const fn b(&self) -> &Layout {
        &self.b
    }

    /// Where the elements of C are.
    pub const fn c(&self) -> &Layout {
        &self.c
    }

    /// Floating-point operations of the products: two for each multiplication and addition.
    pub const fn flops(&self) -> f64 {
        2.0 * self.m() as f64 * self.n() as f64 * self.k() as f64 * self.batch() as f64
    }

    /// The arguments that a kernel takes for the whole problem.
    pub(super) const fn parameters(&self) -> GemmParameters {
        GemmParameters {
            m: self.m(),
            n: self.n(),
            k: self.k(),
            lda: self.a.leading,
            ldb: self.b.leading,
            ldc: self.c.leading,
            // Without a product there is nothing that α could scale. Were it passed on, an infinite
            // α would make NaNs of the empty sums.
            alpha: if self.k() == 0 {
                0.0
            } else {
                self.alpha as f64
            },
            beta: self.beta as f64,
            options: Options::NONE,
            batch: self.batch(),
            stride_a: self.a.stride,
            stride_b: self.b.stride,
            stride_c: self.c.stride,
            prologue_value: 0.0,
            epilogue_value: 0.0,
            parts: 1,
            order: 8 << 16 | 1,
        }
    }
}

/// Why a [`Request`] can't be computed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemError {
    /// A number is out of its range.
    #[error("{name} is {value}, but must be from {min} to {max}")]
    OutOfRange {
        /// Which number.
        name: &'static str,
        /// What it is.
        value: i64,
        /// The smallest allowed.
        min: i64,
        /// The largest allowed.
        max: i64,
    },
    /// A leading dimension is smaller than a row, or too large.
    #[error("{name} is {value}, but must be from {row} ({row_name}) to {max}")]
    LeadingDimension {
        /// Which leading dimension.
        name: &'static str,
        /// What it is.
        value: i64,
        /// The length of a row.
        row: u32,
        /// What the length of a row is called.
        row_name: &'static str,
        /// The largest allowed.
        max: u32,
    },
    /// Two matrices C of the batch share elements.
    #[error("stride_c is {stride}, but must be at least {span}, so that the outputs don't overlap")]
    OverlappingOutputs {
        /// What the stride is, in elements.
        stride: u64,
        /// The elements of one output, padding between rows included.
        span: u64,
    },
    /// A matrix is too large to be addressed.
    #[error("{name} has {bytes} bytes from its first to its last element, but {max} are the most")]
    TooLarge {
        /// Which matrix.
        name: &'static str,
        /// Its size in bytes.
        bytes: u128,
        /// The largest allowed.
        max: u128,
    },
}

/// What the numbers of a matrix are called.
#[derive(Clone, Copy)]
struct Names {
    matrix: &'static str,
    leading: &'static str,
    columns: &'static str,
    stride: &'static str,
}

const A: Names = Names {
    matrix: "A",
    leading: "lda",
    columns: "k",
    stride: "stride_a",
};
const B: Names = Names {
    matrix: "B",
    leading: "ldb",
    columns: "n",
    stride: "stride_b",
};
const C: Names = Names {
    matrix: "C",
    leading: "ldc",
    columns: "n",
    stride: "stride_c",
};

/// A byte offset beyond this doesn't fit a pointer's signed distance.
const MAX_BYTES: u128 = i64::MAX as u128;

fn extent(name: &'static str, value: i64) -> Result<u32, ProblemError> {
    u32::try_from(value)
        .ok()
        .filter(|&value| value <= MAX_EXTENT)
        .ok_or(ProblemError::OutOfRange {
            name,
            value,
            min: 0,
            max: MAX_EXTENT.into(),
        })
}

fn leading_dimension(names: Names, columns: u32, value: Option<i64>) -> Result<u32, ProblemError> {
    let value = value.unwrap_or(columns.into());
    u32::try_from(value)
        .ok()
        .filter(|leading| (columns..=MAX_EXTENT).contains(leading))
        .ok_or(ProblemError::LeadingDimension {
            name: names.leading,
            value,
            row: columns,
            row_name: names.columns,
            max: MAX_EXTENT,
        })
}

fn batch_stride(
    names: Names,
    rows: u32,
    leading: u32,
    value: Option<i64>,
) -> Result<u64, ProblemError> {
    let Some(value) = value else {
        return Ok(u64::from(rows) * u64::from(leading));
    };
    u64::try_from(value).map_err(|_| ProblemError::OutOfRange {
        name: names.stride,
        value,
        min: 0,
        max: i64::MAX,
    })
}

fn fits(names: Names, layout: Layout, element_bytes: usize) -> Result<(), ProblemError> {
    // At most 2³² · 2⁶³ elements: far from overflowing 128 bits.
    let bytes = layout.span() * element_bytes as u128;
    if bytes > MAX_BYTES {
        return Err(ProblemError::TooLarge {
            name: names.matrix,
            bytes,
            max: MAX_BYTES,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(request: Request) -> String {
        match request.check() {
            Ok(problem) => panic!("accepted: {problem:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_not_given_is_packed() {
        let problem = Request {
            batch: 3,
            ..Request::new(2, 5, 7)
        };
        let problem = problem.check().expect("valid");
        let strides = [problem.a(), problem.b(), problem.c()].map(|layout| layout.stride);
        assert_eq!(strides, [14, 35, 10]);
        let spans = [problem.a(), problem.b(), problem.c()].map(Layout::span);
        assert_eq!(spans, [42, 105, 30]);
    }

    #[test]
    fn negative_and_huge_extents_are_named_with_the_range() {
        let expected = "m is -1, but must be from 0 to 2147483647";
        assert_eq!(error(Request::new(-1, 1, 1)), expected);
        let expected = "n is 2147483648, but must be from 0 to 2147483647";
        assert_eq!(error(Request::new(1, 1 << 31, 1)), expected);
        let expected = "k is -9223372036854775808, but must be from 0 to 2147483647";
        assert_eq!(error(Request::new(1, 1, i64::MIN)), expected);
        let batch = Request {
            batch: i64::MAX,
            ..Request::new(1, 1, 1)
        };
        let expected = "batch is 9223372036854775807, but must be from 0 to 2147483647";
        assert_eq!(error(batch), expected);
    }

    #[test]
    fn a_leading_dimension_under_the_row_is_refused() {
        let base = Request::new(2, 5, 7);
        let request = Request {
            ldb: Some(4),
            ..base
        };
        assert_eq!(
            error(request),
            "ldb is 4, but must be from 5 (n) to 2147483647"
        );
        let request = Request {
            ldc: Some(-5),
            ..base
        };
        assert_eq!(
            error(request),
            "ldc is -5, but must be from 5 (n) to 2147483647"
        );
        let request = Request {
            lda: Some(1 << 31),
            ..base
        };
        assert_eq!(
            error(request),
            "lda is 2147483648, but must be from 7 (k) to 2147483647"
        );
    }

    #[test]
    fn a_matrix_that_cannot_be_addressed_is_refused() {
        let largest = i64::from(MAX_EXTENT);
        assert_eq!(
            error(Request::new(largest, 1, largest)),
            "A has 18446744056529682436 bytes from its first to its last element, but \
             9223372036854775807 are the most"
        );
        let request = Request {
            batch: 2,
            stride_b: Some(i64::MAX),
            ..Request::new(1, 1, 1)
        };
        assert!(error(request).starts_with("B has 36893488147419103232 bytes"));
    }

    #[test]
    fn outputs_must_not_overlap_but_inputs_may() {
        let base = Request {
            batch: 2,
            stride_a: Some(0),
            stride_b: Some(1),
            ..Request::new(2, 3, 4)
        };
        assert!(base.check().is_ok());
        let request = Request {
            ldc: Some(8),
            stride_c: Some(10),
            ..base
        };
        assert_eq!(
            error(request),
            "stride_c is 10, but must be at least 11, so that the outputs don't overlap"
        );
        let request = Request {
            stride_a: Some(-1),
            ..base
        };
        assert_eq!(
            error(request),
            "stride_a is -1, but must be from 0 to 9223372036854775807"
        );
    }

    #[test]
    fn empty_products_are_problems_too() {
        for (m, n, k) in [(0, 4, 4), (4, 0, 4), (4, 4, 0), (0, 0, 0)] {
            let problem = Request::new(m, n, k).check().expect("valid");
            assert_eq!(problem.flops(), 0.0);
        }
        let problem = Request::new(4, 4, 0).check().expect("valid");
        assert_eq!(problem.a().span(), 0);
        assert_eq!(problem.c().span(), 16);
    }

    #[test]
    fn without_products_alpha_is_not_passed_on() {
        let request = Request {
            alpha: f32::INFINITY,
            ..Request::new(4, 4, 0)
        };
        assert_eq!(request.check().expect("valid").parameters().alpha, 0.0);
    }
}
