//! Kernels by name.

use ferrowave_shared::{CATALOGUE, ElementTypes, Kernel};
use std::fmt::Write as _;
use thiserror::Error;

/// The kernel of the variant called `name`, or with the symbol `name`, for these element types.
///
/// # Errors
/// There is none; the error lists those that there are.
pub fn kernel_named(name: &str, types: ElementTypes) -> Result<&'static Kernel, UnknownKernel> {
    Kernel::by_variant(name, types)
        .or_else(|| Kernel::by_symbol(name))
        .ok_or_else(|| UnknownKernel {
            name: name.to_owned(),
            types,
        })
}

/// There is no kernel of this name for these element types.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown kernel `{name}`; for {} there are {}", .types.input, kernels_for(.types))]
pub struct UnknownKernel {
    /// What was asked for.
    pub name: String,
    /// For these element types.
    pub types: ElementTypes,
}

fn kernels_for(types: &ElementTypes) -> String {
    let mut list = String::new();
    for kernel in CATALOGUE.iter().filter(|kernel| kernel.types == *types) {
        let separator = if list.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(list, "{separator}{}", kernel.variant.name());
    }
    if list.is_empty() {
        list.push_str("none");
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_shared::catalogue::MFMA_FRAGMENT_F32;

    #[test]
    fn kernels_go_by_variant_and_by_symbol() {
        for name in ["mfma_fragment", "gemm_mfma_fragment_f32"] {
            assert_eq!(
                kernel_named(name, ElementTypes::F32),
                Ok(&MFMA_FRAGMENT_F32)
            );
        }
        let error = kernel_named("fastest", ElementTypes::F32)
            .unwrap_err()
            .to_string();
        let expected =
            "unknown kernel `fastest`; for f32 there are naive, lds_tiled, register_tiled";
        assert!(
            error.starts_with(expected) && error.contains(", mfma_fragment"),
            "{error}"
        );
    }
}
