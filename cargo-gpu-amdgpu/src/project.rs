//! The crate that a command works on, and how its kernels are built.

use std::{
    env,
    io::{IsTerminal as _, stderr},
    path::{Path, PathBuf},
};

use clap::Args;
use ferrowave_kernel_build::{Build, BuildError, Gpu, KernelCrate, Toolchain};
use ferrowave_launch::{Failure, say};

use crate::{
    bounds::Bounds,
    install::install,
    object::{self, Product},
};

/// The GPU if neither the command line nor the manifest names one.
const DEFAULT_GPU: Gpu = Gpu::Gfx942;

/// How a crate of kernels is built.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ProjectOptions {
    /// The crate's Cargo.toml [default: in this directory or above].
    #[arg(long, value_name = "PATH", help_heading = "Crate")]
    manifest_path: Option<PathBuf>,
    /// Directory for build products [default: cargo's, usually `target`].
    #[arg(long, value_name = "DIR", help_heading = "Crate")]
    target_dir: Option<PathBuf>,
    /// Launch bounds of a kernel: the work-items of its workgroups and, optionally, the minimum number of waves per
    /// SIMD, as in `softmax=256` or `softmax=256,2`. `package.metadata.gpu-amdgpu.launch-bounds` in Cargo.toml does the
    /// same.
    #[arg(long, value_name = "KERNEL=THREADS", help_heading = "Crate")]
    launch_bounds: Vec<Bounds>,
    /// An LLVM option, as in `--llvm-arg=-amdgpu-unroll-threshold-private=40000`.
    #[arg(
        long,
        value_name = "OPTION",
        allow_hyphen_values = true,
        help_heading = "Crate"
    )]
    llvm_arg: Vec<String>,
    /// Features of the crate, separated by commas.
    #[arg(
        long,
        value_name = "FEATURES",
        value_delimiter = ',',
        help_heading = "Crate"
    )]
    features: Vec<String>,
    /// Disable the crate's default features.
    #[arg(long, help_heading = "Crate")]
    no_default_features: bool,
    /// Fail if Cargo.lock would have to change.
    #[arg(long, help_heading = "Crate")]
    locked: bool,
    /// Accepted for compatibility with cargo's commands. Kernels are always built with optimizations.
    #[arg(long, help_heading = "Crate")]
    release: bool,
    /// Install the toolchain or its components with rustup if they are missing.
    #[arg(long, help_heading = "Crate")]
    install: bool,
}

/// A crate of kernels, ready to be built.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) krate: KernelCrate,
    pub(crate) toolchain: Toolchain,
    /// `gpu-amdgpu` in the target directory.
    pub(crate) products: PathBuf,
    build: Build,
}

impl Project {
    /// Finds the crate and its toolchain. A missing toolchain is installed if `--install` was given.
    pub(crate) fn find(options: &ProjectOptions) -> Result<Self, Failure> {
        let dir = directory(options.manifest_path.as_deref())?;
        let toolchain = match Toolchain::find(&dir) {
            Err(error) if options.install => {
                install(&error)?;
                Toolchain::find(&dir)
            }
            other => other,
        }
        .map_err(|error| match error.command() {
            Some(_) => Failure::failed(format!("{error}, or add --install")),
            None => Failure::failed(error),
        })?;
        let krate = KernelCrate::find(&dir, &toolchain).map_err(Failure::usage)?;
        let target = match &options.target_dir {
            Some(dir) => std::path::absolute(dir).map_err(Failure::failed)?,
            None => krate.target_dir.clone(),
        };
        let products = target.join("gpu-amdgpu");
        let mut build = Build::new(&krate.dir)
            .toolchain(toolchain.clone())
            .types()
            // Separate from the directories of the cargo that builds the crate's host part.
            .target_dir(products.join("build"));
        for Bounds { kernel, bounds } in &options.launch_bounds {
            build = build.launch_bounds(kernel, *bounds);
        }
        for arg in &options.llvm_arg {
            build = build.llvm_arg(arg);
        }
        if !options.features.is_empty() {
            let features: Vec<_> = options.features.iter().map(String::as_str).collect();
            build = build.features(&features);
        }
        if options.no_default_features {
            build = build.no_default_features();
        }
        if options.locked {
            build = build.locked();
        }
        if stderr().is_terminal() {
            build = build.color();
        }
        Ok(Project {
            krate,
            toolchain,
            products,
            build,
        })
    }

    /// The GPUs to build for: the given ones, or else the manifest's.
    pub(crate) fn gpus(&self, asked: &[Gpu]) -> Vec<Gpu> {
        let of_manifest = &self.krate.settings.gpus;
        match (asked, of_manifest.as_slice()) {
            ([], []) => vec![DEFAULT_GPU],
            ([], of_manifest) => of_manifest.to_vec(),
            (asked, _) => {
                // Several products may have the same GPU.
                let mut gpus = Vec::new();
                for gpu in asked {
                    if !gpus.contains(gpu) {
                        gpus.push(*gpu);
                    }
                }
                gpus
            }
        }
    }

    /// Builds for these GPUs and puts each code object at `gpu-amdgpu/<gpu>/<crate>.elf` in the target directory.
    /// Prints the compiler's warnings unchanged to standard error.
    pub(crate) fn build(&self, gpus: &[Gpu]) -> Result<Vec<Product>, Failure> {
        let names: Vec<_> = gpus.iter().map(|gpu| gpu.name()).collect();
        // A first build also compiles `core`, which takes a minute.
        say(format_args!(
            "building {} for {}\n",
            self.krate.name,
            names.join(", ")
        ));
        let built = self
            .build
            .clone()
            .gpus(gpus.iter().copied())
            .run()
            .map_err(failure)?;
        let mut said: Vec<&str> = Vec::new();
        for built in &built {
            let messages = built.messages.as_str();
            // Warnings are usually the same for each GPU; print them once.
            if !messages.is_empty() && !said.contains(&messages) {
                say(messages);
                said.push(messages);
            }
        }
        built
            .iter()
            .map(|built| {
                let dir = self.products.join(built.gpu.name());
                let path = dir.join(format!("{}.elf", self.krate.name));
                object::write(&path, built.code_object.bytes())?;
                Ok(Product {
                    path,
                    object: built.code_object.clone(),
                })
            })
            .collect()
    }

    /// Builds for one GPU.
    pub(crate) fn build_one(&self, gpu: Gpu) -> Result<Product, Failure> {
        let mut products = self.build(&[gpu])?;
        products
            .pop()
            .ok_or_else(|| Failure::failed(format!("nothing was built for {gpu}")))
    }
}

/// Invalid requests have exit code 2, other failures 1.
fn failure(error: BuildError) -> Failure {
    match error {
        BuildError::LaunchBounds { .. }
        | BuildError::UnknownKernel { .. }
        | BuildError::NoKernels { .. }
        | BuildError::SpaceInPath { .. } => Failure::usage(error),
        error => Failure::failed(error),
    }
}

/// The directory of the manifest, or else the current one.
fn directory(manifest: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(manifest) = manifest else {
        let dir = env::current_dir().map_err(Failure::failed)?;
        // Before the toolchain is looked for: outside of a crate, rustup's default one is often not a nightly.
        return match dir.ancestors().any(|dir| dir.join("Cargo.toml").is_file()) {
            true => Ok(dir),
            false => Err(Failure::usage(format!(
                "could not find `Cargo.toml` in `{}` or above it; `cargo gpu-amdgpu new` makes a crate, and --manifest-path names one",
                dir.display()
            ))),
        };
    };
    if !manifest.ends_with("Cargo.toml") {
        return Err(Failure::usage(format!(
            "--manifest-path {}: it must be a path to a Cargo.toml",
            manifest.display()
        )));
    }
    if !manifest.is_file() {
        return Err(Failure::usage(format!(
            "--manifest-path {}: there is no such file",
            manifest.display()
        )));
    }
    let manifest = std::path::absolute(manifest).map_err(Failure::failed)?;
    Ok(manifest.parent().unwrap_or(&manifest).to_owned())
}
