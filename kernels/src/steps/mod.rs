//! The kernels, in the order in which to read them. Their numbers are those of the ladder, on which
//! the matrix cores begin with 6.

mod product;
mod s01_naive;
mod s02_lds_tiled;
mod s03_register_tiled;
mod s09_mfma_fragment;

use crate::arch;
use ferrowave_shared::{CATALOGUE, GemmArguments, GemmParameters, Kernel, catalogue};
use product::{Pointers, Product};

/// Makes a kernel's entry point: the symbol in the code object, its arguments as
/// [`GemmArguments`] lays them out, and the call of the step. In brackets the GPUs that have it,
/// in parentheses the types of A's and B's and of C's elements.
///
/// There is one such table, so that it can be compared with the catalogue.
macro_rules! entries {
    ($([$($gpu:literal),*] $symbol:ident($input:ty => $output:ty) = $row:ident => $step:expr;)*) => {
        $(
            #[cfg(any($(ferrowave_gpu = $gpu),*))]
            #[expect(
                improper_gpu_kernel_arg,
                reason = "the parameters by value are laid out by the C rules; the host compares \
                          the segment's size with the metadata"
            )]
            #[unsafe(no_mangle)]
            unsafe extern "gpu-kernel" fn $symbol(
                a: *const $input,
                b: *const $input,
                c: *mut $output,
                bias: *const $output,
                workspace: *mut u8,
                parameters: GemmParameters,
            ) {
                // SAFETY: the host launches what `GemmArguments` and the row promise.
                unsafe {
                    let pointers = Pointers { a, b, c, bias, workspace };
                    $step(Product::of_workgroup(pointers, parameters, &catalogue::$row));
                }
            }
        )*

        /// The kernels that this crate has for its GPU.
        const ENTRIES: &[(&str, Kernel)] = &[
            $(#[cfg(any($(ferrowave_gpu = $gpu),*))] (stringify!($symbol), catalogue::$row),)*
        ];
    };
}

entries! {
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_naive_f32(f32 => f32) = NAIVE_F32 => s01_naive::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_lds_tiled_f32(f32 => f32) = LDS_TILED_F32 => s02_lds_tiled::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_register_tiled_f32(f32 => f32) = REGISTER_TILED_F32 => s03_register_tiled::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_fragment_f32(f32 => f32) = MFMA_FRAGMENT_F32 => s09_mfma_fragment::run;
}

/// The crate has the kernels of the catalogue for its GPU, under its symbols and in its order.
const _: () = {
    let mut next = 0;
    let mut i = 0;
    while i < CATALOGUE.len() {
        if CATALOGUE[i].gpus.intersects(arch::GPU) {
            assert!(next < ENTRIES.len(), "a row of the catalogue has no kernel");
            let (symbol, row) = ENTRIES[next];
            assert!(
                same(symbol, row.symbol),
                "a kernel must have the symbol of its row"
            );
            assert!(
                same(symbol, CATALOGUE[i].symbol),
                "kernels must stand in the catalogue's order"
            );
            next += 1;
        }
        i += 1;
    }
    assert!(
        next == ENTRIES.len(),
        "a kernel is built for a GPU that its row has not"
    );
    // The pointers, then the parameters: what the entry points take.
    assert!(core::mem::offset_of!(GemmArguments, parameters) == 40);
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
