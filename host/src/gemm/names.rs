//! Kernels by name.

use ferrowave_shared::{CATALOGUE, ElementTypes, Kernel};
use thiserror::Error;

/// The kernel of the variant called `name` for these element types, or the kernel with the symbol `name`.
///
/// # Errors
/// If there is none; the error lists the kernels of `gpu` for these types.
pub fn kernel_named(
    name: &str,
    types: ElementTypes,
    gpu: &str,
) -> Result<&'static Kernel, UnknownKernel> {
    find(name, types)
        .filter(|kernel| kernel.gpus.contains(gpu))
        .ok_or_else(|| UnknownKernel {
            name: name.to_owned(),
            types,
            gpu: gpu.to_owned(),
        })
}

fn find(name: &str, types: ElementTypes) -> Option<&'static Kernel> {
    Kernel::by_variant(name, types.of_kernels()).or_else(|| Kernel::by_symbol(name))
}

/// No kernel has this name for these element types and this GPU.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}; for {} on {gpu} there are {}", reason(.name, .types, .gpu), .types.name(), others(.types, .gpu))]
pub struct UnknownKernel {
    /// The requested name.
    pub name: String,
    /// The element types.
    pub types: ElementTypes,
    /// The GPU whose kernels are suggested, by LLVM's name.
    pub gpu: String,
}

fn reason(name: &str, types: &ElementTypes, gpu: &str) -> String {
    if let Some(kernel) = find(name, *types) {
        return format!("the kernel `{name}` is for {}, not for {gpu}", kernel.gpus);
    }
    let variants = CATALOGUE
        .iter()
        .filter(|kernel| kernel.variant.name() == name);
    let mut inputs: Vec<_> = variants.map(|kernel| kernel.types.name()).collect();
    inputs.dedup();
    match inputs.is_empty() {
        true => format!("unknown kernel `{name}`"),
        false => format!(
            "the kernel `{name}` is for {}, not for {}",
            inputs.join(", "),
            types.name()
        ),
    }
}

fn others(types: &ElementTypes, gpu: &str) -> String {
    let others: Vec<_> = CATALOGUE
        .iter()
        .filter(|kernel| kernel.computes(*types) && kernel.gpus.contains(gpu))
        .map(|kernel| kernel.variant.name())
        .collect();
    match others.is_empty() {
        true => "none".to_owned(),
        false => others.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_shared::catalogue::MFMA_FRAGMENT_F32;

    fn named(name: &str, types: ElementTypes, gpu: &str) -> Result<&'static Kernel, String> {
        kernel_named(name, types, gpu).map_err(|error| error.to_string())
    }

    #[test]
    fn kernels_go_by_variant_and_by_symbol() {
        for name in ["mfma_fragment", "gemm_mfma_fragment_f32"] {
            let found = named(name, ElementTypes::F32, "gfx942");
            assert_eq!(found, Ok(&MFMA_FRAGMENT_F32));
        }
    }

    #[test]
    fn errors_name_the_kernels_that_the_gpu_has() {
        let error = named("fastest", ElementTypes::F32, "gfx942").unwrap_err();
        let expected = "unknown kernel `fastest`; for f32 on gfx942 there are naive, lds_tiled, register_tiled";
        assert!(
            error.starts_with(expected) && error.contains(", mfma_fragment"),
            "{error}"
        );
        // This kernel is built for gfx950 only.
        assert!(!error.contains("mfma_direct_to_lds"), "{error}");
        let error = named("naive", ElementTypes::BF16, "gfx950").unwrap_err();
        let expected =
            "the kernel `naive` is for f32, not for bf16; for bf16 on gfx950 there are mfma_wide";
        assert!(
            error.starts_with(expected) && error.contains(", mfma_direct_to_lds"),
            "{error}"
        );
        for name in ["mfma_fragment", "gemm_mfma_fragment_f32"] {
            let error = named(name, ElementTypes::F32, "gfx1100").unwrap_err();
            let expected = format!(
                "the kernel `{name}` is for gfx908, gfx90a, gfx942, gfx950, not for gfx1100; for f32 on gfx1100 there are naive"
            );
            assert!(
                error.starts_with(&expected) && !error.contains("there are naive, mfma"),
                "{error}"
            );
        }
    }
}
