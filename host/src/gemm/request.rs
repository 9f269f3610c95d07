//! A product as the caller describes it, and its checks.

use super::{
    layout::{Layout, Order},
    operation::Operation,
    problem::Problem,
};
use ferrowave_shared::{
    Bias, ElementType, ElementTypes, SCALE_BLOCK, arguments::MAX_EXTENT, sparse,
};
use thiserror::Error;

/// A requested product, C ← epilogue(α·A·B + β·prologue(C) + bias), with unchecked numbers. With a [`gate`](Self::gate) it is
/// C ← epilogue(α·A·B + bias) · β·prologue(C).
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
    /// Whether A is row- or column-major.
    pub order_a: Order,
    /// Whether B is row- or column-major.
    pub order_b: Order,
    /// Elements from one row of a row-major A to the next, or from one column of a column-major A to the next. Default:
    /// the length of a row or column.
    pub lda: Option<i64>,
    /// The same for B.
    pub ldb: Option<i64>,
    /// Elements from one row of C to the next. Default: n.
    pub ldc: Option<i64>,
    /// The number of products.
    pub batch: i64,
    /// Elements from one A to the next; 0 to use one A for all products. Default: lda times its rows (column-major:
    /// columns).
    pub stride_a: Option<i64>,
    /// Elements from one B to the next; likewise.
    pub stride_b: Option<i64>,
    /// Elements from one C to the next. Default: m · ldc.
    pub stride_c: Option<i64>,
    /// Factor of the product, rounded to the accumulator type. Infinities and NaN are allowed. With integer
    /// accumulators it must be an integer that they can represent.
    pub alpha: f64,
    /// Factor of the old C, likewise. With 0, C is not read.
    pub beta: f64,
    /// Whether a vector of C's element type is added, the same for all products of the batch.
    pub bias: Bias,
    /// The operation on the old C before it is scaled.
    pub prologue: Operation,
    /// The operation on the result.
    pub epilogue: Operation,
    /// Whether the old C is multiplied by the result, element by element, instead of added before the epilogue. With SiLU as
    /// the epilogue this is SwiGLU, with GELU GEGLU: the first product is stored in C, the second is the gate. β must not
    /// be 0.
    pub gate: bool,
    /// Factor of the result before it is stored, if C is of 8-bit floats; else 1. The old C does not have it: β may undo that
    /// of an earlier product.
    pub output_scale: f64,
    /// The element types. C may have each of [`ElementTypes::outputs`], and the bias has C's type, or that of the sums if C is
    /// of 8-bit floats. Results saturate then: a number beyond the largest one becomes it, and an infinity becomes NaN in E4M3.
    ///
    /// Types with scales ([`ElementType::is_scaled`]) need a row-major A, a column-major B, and k, `lda`, `ldb`, `stride_a` and
    /// `stride_b` that are multiples of 32: [`SCALE_BLOCK`]. So do types with a sparse A ([`ElementTypes::sparse`]), of which
    /// only k must be a multiple of 32. Their A is stored as [`sparse::Elements`] without
    /// padding, so that `lda` must not be given; `stride_a` counts stored elements.
    pub types: ElementTypes,
}

impl Request {
    /// One product of row-major matrices without padding, in f32, with α = 1, β = 0, no bias and no operations.
    pub const fn new(m: i64, n: i64, k: i64) -> Self {
        Self {
            m,
            n,
            k,
            order_a: Order::RowMajor,
            order_b: Order::RowMajor,
            lda: None,
            ldb: None,
            ldc: None,
            batch: 1,
            stride_a: None,
            stride_b: None,
            stride_c: None,
            alpha: 1.0,
            beta: 0.0,
            bias: Bias::None,
            prologue: Operation::None,
            epilogue: Operation::None,
            gate: false,
            output_scale: 1.0,
            types: ElementTypes::F32,
        }
    }

    /// Checks every number.
    ///
    /// # Errors
    /// A [`ProblemError`] with the first number that is out of its range, and the range; or with types that no kernel has, or
    /// an operation that the types don't support, and those that there are.
    pub fn check(&self) -> Result<Problem, ProblemError> {
        if !self.types.has_kernels() {
            return Err(ProblemError::Types { types: self.types });
        }
        let m = extent("m", self.m)?;
        let n = extent("n", self.n)?;
        let k = extent("k", self.k)?;
        let batch = extent("batch", self.batch)?;
        let matrix = |names: Names, rows, columns, order, leading, stride| {
            let mut layout = Layout {
                rows,
                columns,
                order,
                leading: 0,
                batch,
                stride: 0,
            };
            layout.leading = leading_dimension(names, &layout, leading)?;
            layout.stride = batch_stride(names, &layout, stride)?;
            Ok(layout)
        };
        let a = match self.types.is_sparse {
            false => matrix(A, m, k, self.order_a, self.lda, self.stride_a)?,
            true => {
                let stored = sparse::Elements::new(m, k, self.types.a);
                let (rows, columns) = (stored.rows(), stored.columns());
                if let Some(lda) = self.lda.filter(|&lda| lda != i64::from(columns)) {
                    return Err(ProblemError::SparseLeading { lda, columns });
                }
                matrix(A, rows, columns, self.order_a, None, self.stride_a)?
            }
        };
        let b = matrix(B, k, n, self.order_b, self.ldb, self.stride_b)?;
        let c = matrix(C, m, n, Order::RowMajor, self.ldc, self.stride_c)?;
        // Products that share elements of C would overwrite each other in any order.
        if batch > 1 && c.stride < c.matrix_span() {
            return Err(ProblemError::OverlappingOutputs {
                stride: c.stride,
                span: c.matrix_span(),
            });
        }
        fits(A, a, self.types.a)?;
        fits(B, b, self.types.b)?;
        fits(C, c, self.types.output)?;
        if self.types.block() > 1 {
            whole_blocks(self.types, &a, &b)?;
        }
        let sums = self.types.accumulator;
        let beta = factor("beta", self.beta, sums)?;
        if self.gate && beta == 0.0 {
            return Err(ProblemError::Gate);
        }
        if !self.types.output.is_float8() && self.output_scale != 1.0 {
            return Err(ProblemError::OutputScale {
                scale: self.output_scale,
                output: self.types.output,
            });
        }
        let problem = Problem {
            a,
            b,
            c,
            alpha: factor("alpha", self.alpha, sums)?,
            beta,
            bias: self.bias,
            prologue: operation("prologue", self.prologue, sums)?,
            epilogue: operation("epilogue", self.epilogue, sums)?,
            gate: self.gate,
            output_scale: factor("output_scale", self.output_scale, sums)?,
            types: self.types,
        };
        // Products may share elements of A or B, and still have scales and indices of their own.
        let scales = [problem.scales_a(), problem.scales_b()];
        let [scales_a, scales_b] = scales.map(|scales| scales.as_ref().map(Layout::span));
        for (name, bytes) in [
            ("the scale vector of A", scales_a),
            ("the scale vector of B", scales_b),
            ("the index vector of A", problem.index_bytes()),
        ] {
            addressable(name, bytes.unwrap_or(0))?;
        }
        Ok(problem)
    }
}

/// Why a [`Request`] can't be computed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ProblemError {
    /// A number is out of its range.
    #[error("{name} is {value}, but must be from {min} to {max}")]
    OutOfRange {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: i64,
        /// The smallest allowed.
        min: i64,
        /// The largest allowed.
        max: i64,
    },
    /// A leading dimension is smaller than a row or column, or too large.
    #[error("{name} is {value}, but must be from {line} ({line_name}) to {max}")]
    LeadingDimension {
        /// Which leading dimension.
        name: &'static str,
        /// Its value.
        value: i64,
        /// The length of a line: a row, or a column of a column-major matrix.
        line: u32,
        /// The name of that length.
        line_name: &'static str,
        /// The largest allowed.
        max: u32,
    },
    /// The outputs of the batch share elements.
    #[error("stride_c is {stride}, but must be at least {span}, so that the outputs don't overlap")]
    OverlappingOutputs {
        /// The stride, in elements.
        stride: u64,
        /// The elements of one output, with the padding between rows.
        span: u64,
    },
    /// A matrix is too large to be addressed.
    #[error(
        "{name} has {bytes} bytes from its first to its last element, but at most {max} are allowed"
    )]
    TooLarge {
        /// Which matrix.
        name: &'static str,
        /// Its size in bytes.
        bytes: u128,
        /// The largest allowed.
        max: u128,
    },
    /// A factor or constant of integer sums is not an integer in their range.
    #[error(
        "{name} is {value}, but sums are i32, so that it must be an integer from {} to {}",
        i32::MIN,
        i32::MAX
    )]
    NoInteger {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Elements that share a scale, or of which two of four are stored, would not be contiguous.
    #[error(
        "{matrix} is {is}, but must be {must} for {}: elements along k {}, and are contiguous", .types.name(), why(*.types)
    )]
    ScaledOrder {
        /// Which matrix.
        matrix: &'static str,
        /// What it is.
        is: Order,
        /// What it must be.
        must: Order,
        /// The types.
        types: ElementTypes,
    },
    /// k, or a distance of elements that share a scale, would not be whole blocks.
    #[error(
        "{name} is {value}, but must be a multiple of {SCALE_BLOCK} for {}{}", .types.name(), if .types.is_sparse { "" } else { ": so many elements along k share a scale" }
    )]
    ScaledBlocks {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The types.
        types: ElementTypes,
    },
    /// The rows of a sparse A have another distance.
    #[error(
        "lda is {lda}, but a sparse A is stored without padding; {columns} elements are stored of a row"
    )]
    SparseLeading {
        /// The leading dimension.
        lda: i64,
        /// What it would be.
        columns: u32,
    },
    /// There is a gate, and β is 0.
    #[error(
        "beta is 0, but a gate multiplies the result by beta · prologue(C): beta must be another number"
    )]
    Gate,
    /// There is a scale of C, and its type has none.
    #[error(
        "output_scale is {scale}, but must be 1 for a C of {output}: only 8-bit floats are scaled"
    )]
    OutputScale {
        /// The scale.
        scale: f64,
        /// The type of C.
        output: ElementType,
    },
    /// No GPU has kernels for these types.
    #[error("{}", no_kernels(*.types))]
    Types {
        /// The requested types.
        types: ElementTypes,
    },
    /// The operation is not supported in this place, or with these element types.
    #[error("the {place} {operation} is not supported with sums in {sums}; expected one of {}", .supported.join(", "))]
    Operation {
        /// `prologue` or `epilogue`.
        place: &'static str,
        /// The requested operation.
        operation: Operation,
        /// The accumulator type.
        sums: ElementType,
        /// The supported operations.
        supported: &'static [&'static str],
    },
}

/// What elements along k have in common, in types that need them to be contiguous.
const fn why(types: ElementTypes) -> &'static str {
    if types.is_sparse {
        "are stored in fours"
    } else {
        "share a scale"
    }
}

fn no_kernels(types: ElementTypes) -> String {
    let ElementTypes {
        a,
        b,
        output,
        accumulator,
        is_sparse,
    } = types;
    let mut like = ElementTypes::ALL
        .iter()
        .filter(|all| all.is_sparse == is_sparse && all.is_mixed() == types.is_mixed());
    let inputs: Vec<_> = like
        .clone()
        .map(|all| match all.is_mixed() {
            false => all.a.to_string(),
            true => format!("{} and {}", all.a, all.b),
        })
        .collect();
    let inputs = inputs.join(", ");
    match like.find(|all| all.a == a && all.b == b) {
        Some(all) if all.accumulator == accumulator => {
            let outputs: Vec<_> = types.outputs().iter().map(|output| output.name()).collect();
            format!(
                "C cannot be {output} for A and B of {}; it can be {}",
                types.name(),
                outputs.join(" or ")
            )
        }
        Some(all) => format!(
            "sums of {} are {}, not {accumulator}",
            types.name(),
            all.accumulator
        ),
        None if types.is_mixed() && is_sparse => {
            format!("B cannot be {b} beside a sparse A of {a}; it can be {a}")
        }
        None if types.is_mixed() => {
            format!("A and B cannot be {a} and {b}; they can be the same, or {inputs}")
        }
        None if is_sparse => {
            format!("a sparse A cannot be {a}; it can be {inputs}")
        }
        None => format!("A and B cannot be {a}; they can be {inputs}"),
    }
}

/// The names of a matrix and its numbers.
#[derive(Clone, Copy)]
struct Names {
    matrix: &'static str,
    rows: &'static str,
    columns: &'static str,
    leading: &'static str,
    stride: &'static str,
}

const A: Names = Names {
    matrix: "A",
    rows: "m",
    columns: "k",
    leading: "lda",
    stride: "stride_a",
};
const B: Names = Names {
    matrix: "B",
    rows: "k",
    columns: "n",
    leading: "ldb",
    stride: "stride_b",
};
const C: Names = Names {
    matrix: "C",
    rows: "m",
    columns: "n",
    leading: "ldc",
    stride: "stride_c",
};

/// The largest byte offset: a pointer's signed distance.
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

fn leading_dimension(
    names: Names,
    layout: &Layout,
    value: Option<i64>,
) -> Result<u32, ProblemError> {
    let line = layout.line_length();
    let value = value.unwrap_or(line.into());
    u32::try_from(value)
        .ok()
        .filter(|leading| (line..=MAX_EXTENT).contains(leading))
        .ok_or(ProblemError::LeadingDimension {
            name: names.leading,
            value,
            line,
            line_name: match layout.order {
                Order::RowMajor => names.columns,
                Order::ColumnMajor => names.rows,
            },
            max: MAX_EXTENT,
        })
}

fn batch_stride(names: Names, layout: &Layout, value: Option<i64>) -> Result<u64, ProblemError> {
    let Some(value) = value else {
        return Ok(u64::from(layout.lines()) * u64::from(layout.leading));
    };
    u64::try_from(value).map_err(|_| ProblemError::OutOfRange {
        name: names.stride,
        value,
        min: 0,
        max: i64::MAX,
    })
}

/// Checks that the elements that share a scale, or of which two are stored, are contiguous.
fn whole_blocks(types: ElementTypes, a: &Layout, b: &Layout) -> Result<(), ProblemError> {
    for (matrix, layout, must) in [("A", a, Order::RowMajor), ("B", b, Order::ColumnMajor)] {
        if layout.order != must {
            return Err(ProblemError::ScaledOrder {
                matrix,
                is: layout.order,
                must,
                types,
            });
        }
    }
    let distances = [
        ("lda", a.leading.into()),
        ("ldb", b.leading.into()),
        ("stride_a", a.stride),
        ("stride_b", b.stride),
    ];
    let distances = distances.into_iter().filter(|_| !types.is_sparse);
    for (name, value) in [("k", u64::from(b.rows))].into_iter().chain(distances) {
        if !value.is_multiple_of(types.block().into()) {
            return Err(ProblemError::ScaledBlocks { name, value, types });
        }
    }
    Ok(())
}

fn fits(names: Names, layout: Layout, element: ElementType) -> Result<(), ProblemError> {
    // At most 2³² · 2⁶³ elements, so 128 bits do not overflow.
    addressable(names.matrix, element.bytes(layout.span()))
}

fn addressable(name: &'static str, bytes: u128) -> Result<(), ProblemError> {
    if bytes > MAX_BYTES {
        return Err(ProblemError::TooLarge {
            name,
            bytes,
            max: MAX_BYTES,
        });
    }
    Ok(())
}

/// A factor or constant, rounded to the type of the sums.
fn factor(name: &'static str, value: f64, sums: ElementType) -> Result<f64, ProblemError> {
    match sums {
        ElementType::I32 if f64::from(value as i32) != value => {
            Err(ProblemError::NoInteger { name, value })
        }
        ElementType::I32 | ElementType::F64 => Ok(value),
        _ => Ok(f64::from(value as f32)),
    }
}

fn operation(
    place: &'static str,
    operation: Operation,
    sums: ElementType,
) -> Result<Operation, ProblemError> {
    let supported: &[_] = match place {
        _ if sums != ElementType::F32 => &["none", "set", "scale", "relu"],
        "epilogue" => &["none", "set", "scale", "relu", "gelu", "silu"],
        _ => &[
            "none",
            "set",
            "scale",
            "relu",
            "relu-gradient",
            "gelu-gradient",
            "silu-gradient",
        ],
    };
    if !supported.contains(&operation.name()) {
        return Err(ProblemError::Operation {
            place,
            operation,
            sums,
            supported,
        });
    }
    let name = match place {
        "prologue" => "the prologue's constant",
        _ => "the epilogue's constant",
    };
    let constant = factor(name, operation.constant(), sums)?;
    Ok(operation.with_constant(constant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_shared::OutputType;

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
            "A has 18446744056529682436 bytes from its first to its last element, but at most \
            9223372036854775807 are allowed"
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
            alpha: f64::INFINITY,
            ..Request::new(4, 4, 0)
        };
        assert_eq!(request.check().expect("valid").parameters().alpha, 0.0);
    }

    #[test]
    fn the_lines_of_a_column_major_matrix_must_fit_its_leading_dimension() {
        let base = Request {
            order_a: Order::ColumnMajor,
            order_b: Order::ColumnMajor,
            ..Request::new(2, 5, 7)
        };
        let problem = base.check().expect("valid");
        assert_eq!((problem.a().leading, problem.b().leading), (2, 7));
        assert_eq!((problem.a().stride, problem.b().stride), (14, 35));
        let request = Request {
            lda: Some(1),
            ..base
        };
        assert_eq!(
            error(request),
            "lda is 1, but must be from 2 (m) to 2147483647"
        );
        let request = Request {
            ldb: Some(6),
            ..base
        };
        assert_eq!(
            error(request),
            "ldb is 6, but must be from 7 (k) to 2147483647"
        );
    }

    #[test]
    fn integers_take_integers_that_they_hold() {
        let base = Request {
            types: ElementTypes::I8,
            ..Request::new(2, 3, 4)
        };
        for alpha in [-2_147_483_648.0, -3.0, 0.0, 2_147_483_647.0] {
            assert!(Request { alpha, ..base }.check().is_ok(), "{alpha}");
        }
        for alpha in [0.5, 2_147_483_648.0, f64::INFINITY, f64::NAN] {
            let message = error(Request { alpha, ..base });
            let expected = format!(
                "alpha is {alpha}, but sums are i32, so that it must be an integer from \
                 -2147483648 to 2147483647"
            );
            assert_eq!(message, expected);
        }
        let request = Request { gate: true, ..base };
        assert_eq!(
            error(request),
            "beta is 0, but a gate multiplies the result by beta · prologue(C): beta must be another number"
        );
        let tiny = Request {
            types: ElementTypes::F32,
            beta: 1e-60,
            ..request
        };
        assert!(error(tiny).starts_with("beta is 0"), "0 as an f32");
        assert!(
            Request {
                beta: 1.0,
                ..request
            }
            .check()
            .is_ok()
        );
        let request = Request {
            epilogue: Operation::Scale(0.5),
            ..base
        };
        assert!(error(request).starts_with("the epilogue's constant is 0.5, but sums are i32"));
        let request = Request {
            prologue: Operation::Set(f64::INFINITY),
            ..base
        };
        assert!(error(request).starts_with("the prologue's constant is inf, but"));
        let request = Request {
            prologue: Operation::Set(2_147_483_648.0),
            ..base
        };
        assert!(error(request).starts_with("the prologue's constant is 2147483648, but"));
    }

    #[test]
    fn factors_are_rounded_as_the_kernels_round_them() {
        let rounded = |types| {
            let request = Request {
                alpha: 0.1,
                beta: 1e-50,
                prologue: Operation::Set(0.1),
                epilogue: Operation::Scale(1e-50),
                types,
                ..Request::new(2, 3, 4)
            };
            let p = request.check().expect("valid").parameters();
            [p.alpha, p.beta, p.prologue_value, p.epilogue_value]
        };
        let short = f64::from(0.1_f32);
        assert_eq!(rounded(ElementTypes::F16), [short, 0.0, short, 0.0]);
        assert_eq!(rounded(ElementTypes::F64), [0.1, 1e-50, 0.1, 1e-50]);
    }

    /// The constant is 2²⁴ + 1, the first integer that f32 cannot represent.
    #[test]
    fn constants_of_integers_are_passed_on_exactly() {
        let request = Request {
            prologue: Operation::Set(16_777_217.0),
            epilogue: Operation::Scale(-16_777_217.0),
            types: ElementTypes::I8,
            ..Request::new(2, 3, 4)
        };
        let p = request.check().expect("valid").parameters();
        assert_eq!(p.prologue_value, 16_777_217.0);
        assert_eq!(p.epilogue_value, -16_777_217.0);
    }

    /// Matrices that overlap have scales and indices that do not.
    #[test]
    fn scales_and_indices_must_be_addressable() {
        for (types, name) in [
            (ElementTypes::MXFP8, "the scale vector of A"),
            (ElementTypes::SPARSE_F16, "the index vector of A"),
        ] {
            let most = i64::from(i32::MAX);
            let request = Request {
                batch: most,
                stride_a: Some(32),
                order_b: Order::ColumnMajor,
                types,
                ..Request::new(most, 0, most / 32 * 32)
            };
            let text = error(request);
            assert!(text.starts_with(&format!("{name} has ")), "{text}");
            assert!(text.contains(&format!("at most {MAX_BYTES}")), "{text}");
        }
    }

    #[test]
    fn elements_with_scales_are_along_k_in_whole_blocks() {
        for types in [
            ElementTypes::MXFP8,
            ElementTypes::MXBF8,
            ElementTypes::MXFP6,
            ElementTypes::MXBF6,
            ElementTypes::MXFP4,
        ] {
            let base = Request {
                order_b: Order::ColumnMajor,
                types,
                ..Request::new(3, 5, 96)
            };
            let problem = base.check().expect("valid");
            let scales =
                [problem.scales_a(), problem.scales_b()].map(|scales| scales.expect("some"));
            assert_eq!(scales.map(|scales| scales.span()), [9, 15]);
            let name = types.a;
            let refused = |request, expected: &str| {
                assert_eq!(error(request), expected.replace("TYPE", name.name()));
            };
            refused(
                Request { k: 40, ..base },
                "k is 40, but must be a multiple of 32 for TYPE: so many elements along k share a scale",
            );
            refused(
                Request {
                    lda: Some(112),
                    ..base
                },
                "lda is 112, but must be a multiple of 32 for TYPE: so many elements along k share a scale",
            );
            refused(
                Request {
                    stride_b: Some(1),
                    ..base
                },
                "stride_b is 1, but must be a multiple of 32 for TYPE: so many elements along k share a scale",
            );
            refused(
                Request {
                    order_b: Order::RowMajor,
                    ..base
                },
                "B is row-major, but must be column-major for TYPE: elements along k share a scale, and are contiguous",
            );
            refused(
                Request {
                    order_a: Order::ColumnMajor,
                    ..base
                },
                "A is column-major, but must be row-major for TYPE: elements along k share a scale, and are contiguous",
            );
            // Batches: shared with their matrix, or one behind the other.
            let batch = Request {
                batch: 2,
                stride_b: Some(0),
                ..base
            };
            let problem = batch.check().expect("valid");
            let scales =
                [problem.scales_a(), problem.scales_b()].map(|scales| scales.expect("some"));
            assert_eq!(scales.map(|scales| scales.span()), [18, 15]);
        }
        let problem = Request::new(3, 5, 96).check().expect("valid");
        assert_eq!(problem.scales_a(), None);
    }

    #[test]
    fn c_may_have_other_types() {
        let of = |types: ElementTypes, output| Request {
            types: types.with_output(output),
            ..Request::new(2, 3, 4)
        };
        let problem = of(ElementTypes::F16, ElementType::F32)
            .check()
            .expect("valid");
        assert_eq!(problem.parameters().options.output(), OutputType::F32);
        let problem = of(ElementTypes::FP8, ElementType::F32)
            .check()
            .expect("valid");
        assert_eq!(problem.parameters().options.output(), OutputType::OfKernel);
        let problem = of(ElementTypes::FP8, ElementType::Bf16)
            .check()
            .expect("valid");
        assert_eq!(problem.parameters().options.output(), OutputType::Bf16);
        let problem = of(ElementTypes::MXFP8, ElementType::Fp8);
        let problem = Request {
            k: 32,
            order_b: Order::ColumnMajor,
            ..problem
        };
        let problem = problem.check().expect("valid");
        assert_eq!(problem.parameters().options.output(), OutputType::Float8);
        assert_eq!(
            error(of(ElementTypes::FP8, ElementType::F64)),
            "C cannot be f64 for A and B of fp8; it can be f32 or f16 or bf16 or fp8"
        );
        assert_eq!(
            error(of(ElementTypes::F32, ElementType::F16)),
            "C cannot be f16 for A and B of f32; it can be f32"
        );
        let types = ElementTypes {
            accumulator: ElementType::F16,
            ..ElementTypes::F16
        };
        let request = Request {
            types,
            ..Request::new(2, 3, 4)
        };
        assert_eq!(error(request), "sums of f16 are f32, not f16");
        let with_factors = |a, b| Request {
            types: ElementTypes {
                a,
                b,
                ..ElementTypes::F32
            },
            ..Request::new(2, 3, 4)
        };
        let unknown = with_factors(ElementType::I32, ElementType::I32);
        assert!(error(unknown).starts_with("A and B cannot be i32; they can be f32, xf32, f16"));
        let unknown = with_factors(ElementType::Fp8, ElementType::Bf8Fnuz);
        assert_eq!(
            error(unknown),
            "A and B cannot be fp8 and bf8_fnuz; they can be the same, or fp8_fnuz and bf8_fnuz, bf8_fnuz and fp8_fnuz, fp8 and bf8, \
             bf8 and fp8, mxfp8 and mxbf8, mxbf8 and mxfp8"
        );
        let unknown = of(ElementTypes::FP8_BF8.sparse(), ElementType::F32);
        assert_eq!(
            error(unknown),
            "B cannot be bf8 beside a sparse A of fp8; it can be fp8"
        );
        assert_eq!(
            error(of(ElementTypes::FP8_BF8, ElementType::Fp8)),
            "C cannot be fp8 for A and B of fp8_bf8; it can be f32 or f16 or bf16"
        );
    }

    #[test]
    fn activations_are_epilogues_of_f32_sums() {
        let request = |types, prologue, epilogue| Request {
            types,
            prologue,
            epilogue,
            ..Request::new(2, 3, 4)
        };
        let (none, gelu, silu) = (Operation::None, Operation::Gelu, Operation::Silu);
        for types in [ElementTypes::F32, ElementTypes::BF16, ElementTypes::FP8] {
            assert!(request(types, none, gelu).check().is_ok());
            assert!(request(types, none, silu).check().is_ok());
        }
        assert_eq!(
            error(request(ElementTypes::F64, none, gelu)),
            "the epilogue gelu is not supported with sums in f64; expected one of none, set, scale, relu"
        );
        assert_eq!(
            error(request(ElementTypes::F64, none, silu)),
            "the epilogue silu is not supported with sums in f64; expected one of none, set, scale, relu"
        );
        assert_eq!(
            error(request(ElementTypes::F32, gelu, none)),
            "the prologue gelu is not supported with sums in f32; expected one of none, set, scale, relu, relu-gradient, gelu-gradient, silu-gradient"
        );
    }
}
