//! The kernels, in the order in which to read them. Their numbers are those of the ladder, on which
//! the matrix cores begin with 6.

mod product;
mod s01_naive;
mod s02_lds_tiled;
mod s03_register_tiled;
mod s06_mfma;

use ferrowave_shared::{CATALOGUE, GemmArguments, GemmParameters, catalogue};
use product::Product;

/// Makes a kernel's entry point: the symbol in the code object, its arguments as
/// [`GemmArguments`] lays them out, and the call of the step.
///
/// There is one such table, so that it can be compared with the catalogue.
macro_rules! entries {
    ($($symbol:ident = $row:ident => $step:path;)*) => {
        $(
            #[expect(
                improper_gpu_kernel_arg,
                reason = "the parameters by value are laid out by the C rules; the host compares \
                          the segment's size with the metadata"
            )]
            #[unsafe(no_mangle)]
            unsafe extern "gpu-kernel" fn $symbol(
                a: *const f32,
                b: *const f32,
                c: *mut f32,
                parameters: GemmParameters,
            ) {
                // SAFETY: the host launches what `GemmArguments` and the row promise.
                unsafe { $step(Product::of_workgroup(a, b, c, parameters, catalogue::$row.tile)) }
            }
        )*

        /// The kernels that this crate has.
        const ENTRIES: &[(&str, &str)] =
            &[$((stringify!($symbol), catalogue::$row.symbol)),*];
    };
}

entries! {
    gemm_naive_f32 = NAIVE_F32 => s01_naive::run;
    gemm_lds_tiled_f32 = LDS_TILED_F32 => s02_lds_tiled::run;
    gemm_register_tiled_f32 = REGISTER_TILED_F32 => s03_register_tiled::run;
    gemm_mfma_f32 = MFMA_F32 => s06_mfma::run;
}

/// The crate has the kernels of the catalogue, under its symbols and in its order.
const _: () = {
    assert!(
        ENTRIES.len() == CATALOGUE.len(),
        "not one kernel for each row of the catalogue"
    );
    let mut i = 0;
    while i < ENTRIES.len() {
        let (symbol, row) = ENTRIES[i];
        assert!(
            same(symbol, row),
            "a kernel must have the symbol of its row"
        );
        assert!(
            same(symbol, CATALOGUE[i].symbol),
            "kernels must stand in the catalogue's order"
        );
        i += 1;
    }
    // The pointers, then the parameters: what the entry points take.
    assert!(core::mem::offset_of!(GemmArguments, parameters) == 24);
};

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut i = 0;
    while i < left.len() {
        if left[i] != right[i] {
            return false;
        }
        i += 1;
    }
    true
}
