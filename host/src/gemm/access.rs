//! What a kernel requires of the layout and alignment of A and B.

use super::{
    layout::{Layout, Order},
    operands::Addresses,
    problem::Problem,
};
use ferrowave_shared::catalogue::Access;
use thiserror::Error;

/// Bytes of a lane's load.
const WIDTH_BYTES: u64 = 16;

/// Why a kernel can't read a matrix in its layout or alignment.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The kernel reads along k, but k is not contiguous.
    #[error("{matrix} is {is}, but must be {must}")]
    Order {
        /// Which matrix.
        matrix: &'static str,
        /// What it is.
        is: Order,
        /// What it must be.
        must: Order,
    },
    /// The kernel loads 16 bytes at a time, and a leading dimension or stride is no multiple of that.
    #[error("{what} is {bytes} bytes, no multiple of {WIDTH_BYTES}")]
    Alignment {
        /// What: a leading dimension or a stride.
        what: &'static str,
        /// Its size.
        bytes: u64,
    },
    /// The kernel loads 16 bytes at a time, and a matrix does not begin at a multiple of that.
    #[error("{matrix} begins at {address:#x}, no multiple of {WIDTH_BYTES}")]
    Address {
        /// Which matrix.
        matrix: &'static str,
        /// Where it begins.
        address: u64,
    },
}

/// Checks that a kernel with this access can read matrices with `problem`'s layouts.
///
/// # Errors
/// The first [`Misfit`] of A and then of B.
pub(super) fn check_layouts(access: Access, problem: &Problem) -> Result<(), Misfit> {
    match access {
        Access::Elements | Access::Wide => Ok(()),
        Access::WideAlongK => {
            along_k("A", problem.a(), Order::RowMajor)?;
            along_k("B", problem.b(), Order::ColumnMajor)?;
            lines_aligned(problem)
        }
    }
}

/// Checks that a kernel with this access can read matrices at these addresses.
///
/// # Errors
/// The [`Misfit`] of A or of B.
pub(super) fn check_addresses(access: Access, addresses: &Addresses) -> Result<(), Misfit> {
    match access {
        Access::Elements | Access::Wide => Ok(()),
        Access::WideAlongK => begins_aligned(addresses),
    }
}

/// Checks that every line of A and B begins at a multiple of 16 bytes, so that no load of 16 bytes straddles two
/// cache lines.
///
/// # Errors
/// The first [`Misfit`].
pub(super) fn is_aligned(problem: &Problem, addresses: Option<&Addresses>) -> Result<(), Misfit> {
    lines_aligned(problem)?;
    addresses.map_or(Ok(()), begins_aligned)
}

fn along_k(matrix: &'static str, layout: &Layout, must: Order) -> Result<(), Misfit> {
    if layout.order == must {
        return Ok(());
    }
    Err(Misfit::Order {
        matrix,
        is: layout.order,
        must,
    })
}

fn lines_aligned(problem: &Problem) -> Result<(), Misfit> {
    let types = problem.types();
    for (leading, stride, layout, element) in [
        ("lda", "stride_a", problem.a(), types.a),
        ("ldb", "stride_b", problem.b(), types.b),
    ] {
        let bytes = |elements| {
            let size = element.size_bytes() as u64;
            element.counted(elements).wrapping_mul(size)
        };
        // The leading dimension of a single line, and the stride of a single matrix, are not used. Elements fit in
        // the address space, so values that are used do not overflow; others may wrap around.
        if layout.lines() > 1 {
            multiple(leading, bytes(layout.leading.into()))?;
        }
        if layout.batch > 1 {
            multiple(stride, bytes(layout.stride))?;
        }
    }
    Ok(())
}

fn multiple(what: &'static str, bytes: u64) -> Result<(), Misfit> {
    if bytes.is_multiple_of(WIDTH_BYTES) {
        return Ok(());
    }
    Err(Misfit::Alignment { what, bytes })
}

fn begins_aligned(addresses: &Addresses) -> Result<(), Misfit> {
    for (matrix, address) in [("A", addresses.a), ("B", addresses.b)] {
        if !address.is_multiple_of(WIDTH_BYTES) {
            return Err(Misfit::Address { matrix, address });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;
    use ferrowave_shared::ElementTypes;

    const FITTING: Request = Request {
        order_b: Order::ColumnMajor,
        types: ElementTypes::F16,
        ..Request::new(10, 20, 64)
    };

    fn misfit(request: Request) -> String {
        let problem = request.check().expect("valid");
        assert_eq!(check_layouts(Access::Wide, &problem), Ok(()));
        check_layouts(Access::WideAlongK, &problem)
            .expect_err("misfit")
            .to_string()
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let problem = FITTING.check().expect("valid");
        assert_eq!(check_layouts(Access::WideAlongK, &problem), Ok(()));
        assert_eq!(
            misfit(Request {
                order_a: Order::ColumnMajor,
                ..FITTING
            }),
            "A is column-major, but must be row-major"
        );
        assert_eq!(
            misfit(Request {
                order_b: Order::RowMajor,
                ..FITTING
            }),
            "B is row-major, but must be column-major"
        );
        assert_eq!(
            misfit(Request {
                ldb: Some(65),
                ..FITTING
            }),
            "ldb is 130 bytes, no multiple of 16"
        );
        assert_eq!(
            misfit(Request {
                batch: 2,
                stride_a: Some(641),
                ..FITTING
            }),
            "stride_a is 1282 bytes, no multiple of 16"
        );
    }

    #[test]
    fn what_is_not_used_need_not_be_aligned() {
        let request = Request {
            lda: Some(65),
            stride_a: Some(3),
            m: 1,
            ..FITTING
        };
        let problem = request.check().expect("valid");
        assert_eq!(check_layouts(Access::WideAlongK, &problem), Ok(()));
    }

    #[test]
    fn addresses_are_checked_where_that_matters() {
        let addresses = Addresses {
            a: 0x1000,
            b: 0x2002,
            ..Addresses::default()
        };
        assert_eq!(check_addresses(Access::Wide, &addresses), Ok(()));
        assert_eq!(
            check_addresses(Access::WideAlongK, &addresses)
                .unwrap_err()
                .to_string(),
            "B begins at 0x2002, no multiple of 16"
        );
    }
}
