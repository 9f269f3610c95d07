//! The cases of a report: which kernels run on which problems.

use ferrowave::{
    gemm::{Machine as Host, Plan, PlanError, Problem, Request, choose, kernel_named},
    hip::Device,
};
use ferrowave_shared::{CATALOGUE, Kernel};

use super::Options;
use crate::cli::{
    Failure, memory,
    request::{ElementName, Preset, Size},
    say,
};

/// Extents of the cubes that are computed by default.
const STANDARD: [i64; 4] = [128, 256, 512, 1024];
/// The extent of a cube that fills the largest GPUs. Computing it would take the emulator minutes per kernel.
pub(super) const LARGE: i64 = 4096;
/// The kernels that are estimated at that size by default: those whose ideas show there. Estimating all kernels would
/// take longer than the rest of the report.
const AT_LARGE: [&str; 16] = [
    "naive",
    "register_tiled",
    "vectorized",
    "mfma_lds",
    "mfma_double_buffered",
    "mfma_fragment",
    "mfma_wide",
    "mfma_pingpong",
    "mfma_pingpong_160x256",
    "mfma_pingpong_224x256",
    "mfma_interleaved",
    "split_k",
    "stream_k",
    "wmma_wide",
    "wmma_interleaved",
    "wmma_split_k",
];
/// A default size that is no cube and no multiple of a tile.
const ODD: Size = Size {
    m: 257,
    n: 129,
    k: 100,
};

/// A kernel and a problem.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Case {
    pub(super) kernel: &'static Kernel,
    pub(super) request: Request,
    pub(super) problem: Problem,
    pub(super) estimated: bool,
}

fn has_default_sizes(options: &Options) -> bool {
    options.sizes.is_empty() && options.preset.is_none() && options.estimate.is_empty()
}

/// The sizes, and whether each is an estimate.
fn sizes(options: &Options, is_emulated: bool, is_modelled: bool) -> Vec<(Size, bool)> {
    let mut computed = options.sizes.clone();
    computed.extend(options.preset.map(Preset::size));
    let mut estimated = options.estimate.clone();
    if has_default_sizes(options) {
        computed.extend(STANDARD.map(Size::cube));
        computed.push(ODD);
        match (is_emulated, is_modelled) {
            (true, true) => estimated.push(Size::cube(LARGE)),
            // It would take the emulator minutes per kernel.
            (true, false) => {}
            (false, _) => computed.push(Size::cube(LARGE)),
        }
    }
    let computed = computed.into_iter().map(|size| (size, false));
    let estimated = estimated.into_iter().map(|size| (size, true));
    computed.chain(estimated).collect()
}

/// The types of the elements.
fn types(options: &Options) -> Vec<ElementName> {
    let mut types = options.types.clone();
    if types.is_empty() {
        types.push(ElementName::F32);
        if has_default_sizes(options) && options.kernels.is_empty() {
            types.push(ElementName::F16);
        }
    }
    types
}

/// The cases of a device. Kernels that are named must exist for the GPU and compute the problems; otherwise, all
/// kernels that do.
pub(super) fn plan(
    options: &Options,
    device: &Device,
    is_modelled: bool,
    host: &Host,
) -> Result<Vec<Case>, Failure> {
    let sizes = sizes(options, device.is_emulated(), is_modelled);
    let mut cases: Vec<Case> = Vec::new();
    for name in types(options) {
        for &(size, estimated) in &sizes {
            let types = name.types(&host.gpu);
            let request = options.product.request(types, size.m, size.n, size.k);
            for case in cases_of(options, device, host, request, estimated)? {
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
    }
    Ok(cases)
}

/// The cases of a problem.
fn cases_of(
    options: &Options,
    device: &Device,
    host: &Host,
    request: Request,
    estimated: bool,
) -> Result<Vec<Case>, Failure> {
    for (name, factor) in [
        ("alpha", request.alpha),
        ("beta", request.beta),
        ("output-scale", request.output_scale),
    ] {
        // Rows are found by their problem, and NaN is not equal to itself.
        if factor.is_nan() {
            return Err(Failure::usage(format!(
                "--{name} is NaN, but a report takes numbers and infinities; `ferrowave run` takes NaN, too"
            )));
        }
    }
    let problem = request.check().map_err(Failure::usage)?;
    memory::check(&problem, device)?;
    let case = |kernel| Case {
        kernel,
        request,
        problem,
        estimated: estimated && device.is_emulated(),
    };
    if !options.kernels.is_empty() {
        let named = options.kernels.iter().map(|name| {
            let kernel = kernel_named(name, request.types, &host.gpu).map_err(Failure::usage)?;
            Plan::new(kernel, &problem, host).map_err(Failure::usage)?;
            Ok(case(kernel))
        });
        return named.collect();
    }
    let by_default = estimated && options.estimate.is_empty();
    let kernels = CATALOGUE.iter().filter(|kernel| {
        kernel.computes(request.types)
            && kernel.gpus.contains(&host.gpu)
            && (!by_default || AT_LARGE.contains(&kernel.variant.name()))
    });
    let mut cases = Vec::new();
    for kernel in kernels {
        match Plan::new(kernel, &problem, host) {
            Ok(_) => cases.push(case(kernel)),
            Err(PlanError::Misfit { misfit, .. }) => say(format_args!(
                "{} is left out for {}×{}×{}: {misfit}\n",
                kernel.variant.name(),
                problem.m(),
                problem.n(),
                problem.k()
            )),
            Err(error) => return Err(Failure::usage(error)),
        }
    }
    if cases.is_empty() {
        // Its error lists the types that there are kernels for.
        choose(&problem, host, None).map_err(Failure::usage)?;
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_are_estimated_exist() {
        for name in AT_LARGE {
            let mut kernels = CATALOGUE.iter();
            assert!(
                kernels.any(|kernel| kernel.variant.name() == name),
                "{name}"
            );
        }
    }
}
