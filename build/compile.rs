//! Compiles the kernels.

use std::{env, path::Path, process::Command};

use ferrowave_gpu::{KFD_GENERATION, known_gpus};
use ferrowave_kernel_build::{Build, Gpu, LaunchBounds, Policy, Toolchain};
use ferrowave_shared::{CATALOGUE, gpus_with_kernels};

use crate::{CodeObjects, sources};

/// With the value 0, the embedded kernels have no source lines, which are half of their compressed size. The wheel contains
/// the kernels of all GPUs twice.
const LINES: &str = "FERROWAVE_KERNEL_LINES";

/// LLVM options for gfx908, where matrix instructions add in AGPRs only, and other instructions can't use these.
const GFX908_ARGS: &[&str] = &[
    // Blocks of sums would begin as copies of one register with a zero. The register coalescer takes two blocks for one of
    // twice the size then, and copies them to VGPRs and back in the loop.
    "-disable-machine-cse",
    // Sums would go through VGPRs where loops end.
    "-amdgpu-codegenprepare-break-large-phis=0",
    // What is computed before a loop needs registers in it. There are 128 VGPRs for two waves per SIMD.
    "-disable-machine-licm",
];

/// Compiles the kernels for `requested`, or else for the GPUs of this computer, or else for gfx942 only, so that a first
/// build is quick.
pub(crate) fn code_objects(
    out_dir: &Path,
    requested: Option<Vec<Gpu>>,
) -> Result<CodeObjects, String> {
    let gpus = requested.unwrap_or_else(gpus_of_computer);
    let kernels = sources::kernels(&out_dir.join("kernel-sources"))?;
    let toolchain = Toolchain::find(&kernels).map_err(|error| {
        format!("{error}\n(ferrowave's feature `prebuilt` takes compiled kernels instead and needs no nightly.)")
    })?;
    let mut build = Build::new(kernels)
        .toolchain(toolchain.clone())
        .gpus(gpus.iter().copied())
        // Kernels for several GPUs are compiled at the same time anyway. The parts are in kernels/src/steps/mod.rs.
        .parts(if gpus.len() == 1 { 2 } else { 1 })
        // Tiles of sums are arrays. They stay in registers only if every loop over them is unrolled.
        .llvm_arg("-amdgpu-unroll-threshold-private=40000")
        // LLVM would wait for all loads at each barrier, as faults of loads in flight are not seen there. AMD's own kernels
        // for gfx908 do not wait.
        .features_on(Gpu::Gfx908, "+back-off-barrier");
    // Branches that all lanes of a wave take together stay branches. Without it, most of them set and test flags first, which
    // takes a tenth of the time before a workgroup's first load. On gfx908, tiles of 64 × 64 would spill; on Radeons, step 3 would
    // have fewer dual instructions.
    for gpu in [Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950] {
        build = build.llvm_arg_on(gpu, "-structurizecfg-skip-uniform-regions");
    }
    for arg in GFX908_ARGS {
        build = build.llvm_arg_on(Gpu::Gfx908, *arg);
    }
    for kernel in CATALOGUE {
        let bounds = kernel.launch_bounds();
        // The catalogue's tests check that both fit.
        let bounds = LaunchBounds::threads(bounds.threads as u32)
            .min_waves_per_eu(bounds.waves_per_simd as u32);
        for &gpu in gpus.iter().filter(|gpu| kernel.gpus.contains(gpu.name())) {
            build = build.launch_bounds_on(gpu, kernel.symbol, bounds);
        }
    }
    let policy = Policy {
        // stream_k spills scalar registers outside of its inner loops; tests/well_compiled.rs checks that no other kernel does.
        no_scalar_spills: false,
        ..Policy::STRICT
    };
    println!("cargo::rerun-if-env-changed={LINES}");
    let lines = env::var_os(LINES).unwrap_or_else(|| "1".into());
    let without_lines = match lines.to_str() {
        Some("0") => true,
        Some("1") => false,
        _ => {
            let lines = lines.display();
            return Err(format!("{LINES}={lines}: 0 and 1 are allowed"));
        }
    };
    let mut files = Vec::new();
    for embedded in build.embed_or_exit("kernels", policy) {
        if without_lines {
            objcopy(&toolchain, "--strip-debug", &embedded.path)?;
        } else if cfg!(not(feature = "compressed")) {
            // Half of the file. With the feature the whole of it is compressed, and better.
            objcopy(&toolchain, "--compress-debug-sections=zlib", &embedded.path)?;
        }
        files.push((embedded.built.gpu, embedded.path));
    }
    Ok(CodeObjects {
        toolchain: toolchain.release().to_owned(),
        files,
    })
}

/// Changes the debug information. A build without it might have other machine code.
fn objcopy(toolchain: &Toolchain, change: &str, file: &Path) -> Result<(), String> {
    let program = toolchain.llvm_objcopy();
    let status = Command::new(&program)
        .arg(change)
        .arg(file)
        .status()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!(
            "{} {change} {}: {status}",
            program.display(),
            file.display()
        )),
    }
}

fn gpus_of_computer() -> Vec<Gpu> {
    let root = Path::new("/");
    // Cargo would run this each time if the file did not exist.
    let generation = root.join(KFD_GENERATION);
    if generation.exists() {
        println!("cargo::rerun-if-changed={}", generation.display());
    }
    let mut gpus = known_gpus(root);
    gpus.retain(|gpu| gpus_with_kernels().contains(gpu.name()));
    if gpus.is_empty() {
        gpus.push(Gpu::Gfx942);
    }
    gpus
}
