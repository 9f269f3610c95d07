//! Compiles `kernels/` for the requested GPUs and embeds the code objects.

use std::{env, fmt::Write as _, fs, path::Path, process, process::Command};

use ferrowave_gpu::{KFD_GENERATION, known_gpus};
use ferrowave_kernel_build::{Build, Gpu, LaunchBounds, Policy, Toolchain};
use ferrowave_shared::{CATALOGUE, gpus_with_kernels};

/// Names the GPUs to build for, separated by commas.
const GPUS: &str = "FERROWAVE_GPUS";

fn main() {
    println!("cargo::rerun-if-env-changed={GPUS}");
    let gpus = match requested_gpus() {
        Ok(gpus) => gpus,
        Err(error) => fail(&error),
    };
    match Toolchain::find(Path::new("kernels")) {
        Ok(toolchain) => println!(
            "cargo::rustc-env=FERROWAVE_TOOLCHAIN={}",
            toolchain.release()
        ),
        Err(error) => fail(&error.to_string()),
    }
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=FERROWAVE_COMMIT={commit}");
    }
    let mut build = Build::new("kernels")
        .gpus(gpus.iter().copied())
        // Tiles of sums are arrays. They stay in registers only if every loop over them is unrolled.
        .llvm_arg("-amdgpu-unroll-threshold-private=40000");
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
    let mut table = String::from("[\n");
    for embedded in build.embed_or_exit("kernels", policy) {
        let gpu = embedded.built.gpu;
        writeln!(
            table,
            "    (Gpu::{gpu:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/kernels.{gpu}.elf\")).as_slice()),"
        )
        .unwrap_or_else(|error| fail(&error.to_string()));
    }
    table.push(']');
    let out_dir = env::var("OUT_DIR").unwrap_or_else(|_| fail("cargo sets OUT_DIR"));
    fs::write(Path::new(&out_dir).join("code_objects.rs"), table)
        .unwrap_or_else(|error| fail(&error.to_string()));
}

/// The GPUs in the environment, or else of this computer, or else only gfx942, so that a first build is quick.
fn requested_gpus() -> Result<Vec<Gpu>, String> {
    let Ok(names) = env::var(GPUS) else {
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
        return Ok(gpus);
    };
    let mut gpus = Vec::new();
    for name in names.split(',').map(str::trim) {
        let gpu: Gpu = name
            .parse()
            .map_err(|error| format!("{GPUS}={names}: {error}"))?;
        if !gpus_with_kernels().contains(gpu.name()) {
            return Err(format!(
                "{GPUS}={names}: there are no kernels for {gpu} yet, only for {}",
                gpus_with_kernels()
            ));
        }
        if !gpus.contains(&gpu) {
            gpus.push(gpu);
        }
    }
    Ok(gpus)
}

/// The commit that is built, for reports; `None` outside of a repository.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // This file grows with every commit.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&[
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ])
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    process::exit(1);
}
