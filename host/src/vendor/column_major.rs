//! A problem in the form of the libraries' column-major interfaces.
//!
//! A row-major C, read as column-major, is Cᵀ, and Cᵀ = Bᵀ·Aᵀ. So B is the first factor and A the second. A row-major
//! factor, read as column-major, is already transposed; a column-major one must be transposed by the library.

use crate::gemm::{Layout, Order, Problem};

/// A factor as the library reads it, in column-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Factor {
    /// Whether the library must transpose it before it multiplies.
    pub(super) is_transposed: bool,
    /// Rows as stored.
    pub(super) rows: u32,
    /// Columns as stored.
    pub(super) columns: u32,
    /// Elements from one column to the next.
    pub(super) leading: u32,
    /// Elements from one matrix of the batch to the next.
    pub(super) stride: i64,
}

impl Factor {
    fn of(layout: &Layout) -> Self {
        Factor {
            is_transposed: layout.order == Order::ColumnMajor,
            rows: layout.line_length(),
            columns: layout.lines(),
            leading: layout.leading,
            // The stride is used only if there is a next matrix. Then it is within a buffer and fits.
            stride: match layout.batch {
                0 | 1 => 0,
                _ => layout.stride as i64,
            },
        }
    }
}

/// The call, for an m×n result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnMajor {
    /// Rows of the result: columns of C.
    pub(super) m: u32,
    /// Columns of the result: rows of C.
    pub(super) n: u32,
    pub(super) k: u32,
    /// B.
    pub(super) first: Factor,
    /// A.
    pub(super) second: Factor,
    /// C.
    pub(super) result: Factor,
    pub(super) batch: u32,
}

impl ColumnMajor {
    pub(super) fn of(problem: &Problem) -> Self {
        ColumnMajor {
            m: problem.n(),
            n: problem.m(),
            k: problem.k(),
            first: Factor::of(problem.b()),
            second: Factor::of(problem.a()),
            result: Factor::of(problem.c()),
            batch: problem.batch(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;

    #[test]
    fn row_major_factors_are_transposed_by_reading_them_column_by_column() {
        let request = Request {
            lda: Some(40),
            ..Request::new(3, 5, 7)
        };
        let call = ColumnMajor::of(&request.check().unwrap());
        assert_eq!((call.m, call.n, call.k), (5, 3, 7));
        // Bᵀ is 5×7, Aᵀ is 7×3, Cᵀ is 5×3.
        let of = |factor: Factor| {
            (
                factor.is_transposed,
                factor.rows,
                factor.columns,
                factor.leading,
            )
        };
        assert_eq!(of(call.first), (false, 5, 7, 5));
        assert_eq!(of(call.second), (false, 7, 3, 40));
        assert_eq!(of(call.result), (false, 5, 3, 5));
        let request = Request {
            order_a: Order::ColumnMajor,
            order_b: Order::ColumnMajor,
            batch: 2,
            ..Request::new(3, 5, 7)
        };
        let call = ColumnMajor::of(&request.check().unwrap());
        assert_eq!(of(call.first), (true, 7, 5, 7));
        assert_eq!(of(call.second), (true, 3, 7, 3));
        assert_eq!((call.first.stride, call.second.stride), (35, 21));
    }
}
