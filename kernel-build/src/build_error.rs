//! The errors of a build.

use std::path::PathBuf;

use ferrowave_code_object::{CodeObjectError, nearest};
use ferrowave_gpu::Gpu;

use crate::{CrateError, ToolchainError, tool::ToolError};

/// Why kernels could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No usable toolchain was found.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The crate's manifest is missing or wrong.
    #[error(transparent)]
    Crate(#[from] CrateError),
    /// A file can't be read or written, or a program can't be started.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// No GPU was named.
    #[error("no GPU to build for; known are {}", Gpu::ALL.map(Gpu::name).join(", "))]
    NoGpu,
    /// The directory has no crate.
    #[error("{} has no Cargo.toml", crate_dir.display())]
    NoCrate {
        /// The directory.
        crate_dir: PathBuf,
    },
    /// The GPU does not support the launch bounds.
    #[error("launch bounds of kernel `{kernel}` for {gpu}: {what} is {given}, expected {allowed}")]
    LaunchBounds {
        /// The kernel's symbol.
        kernel: String,
        /// The GPU.
        gpu: Gpu,
        /// The wrong value's name.
        what: &'static str,
        /// Its value.
        given: String,
        /// The allowed values.
        allowed: String,
    },
    /// Launch bounds can't be passed to LLVM, because rustc splits LLVM's arguments at spaces.
    #[error("launch bounds need a directory without spaces, but the target directory is {} and the one for temporary files {}", target_dir.display(), temporary.display())]
    SpaceInPath {
        /// The target directory.
        target_dir: PathBuf,
        /// The directory for temporary files.
        temporary: PathBuf,
    },
    /// The compiler found errors.
    #[error("the kernels in {} do not compile for {gpu}:\n{messages}{}", crate_dir.display(), no_std_hint(messages))]
    Compile {
        /// The crate.
        crate_dir: PathBuf,
        /// The GPU it was compiled for.
        gpu: Gpu,
        /// Messages of cargo and the compiler, unchanged; empty if they went to the terminal.
        messages: String,
    },
    /// cargo succeeded, but named no code object.
    #[error("cargo made no code object of {}: {reason}", crate_dir.display())]
    NoArtifact {
        /// The crate.
        crate_dir: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The linker's output can't be read.
    #[error("the code object {}", path.display())]
    CodeObject {
        /// The file.
        path: PathBuf,
        /// The parse error.
        #[source]
        source: CodeObjectError,
    },
    /// The crate has no kernel.
    #[error("{} has no kernel for {gpu}: a kernel is a `#[unsafe(no_mangle)] pub extern \"gpu-kernel\" fn`", crate_dir.display())]
    NoKernels {
        /// The crate.
        crate_dir: PathBuf,
        /// The GPU it was compiled for.
        gpu: Gpu,
    },
    /// Launch bounds name a kernel that the crate does not have on this GPU.
    #[error(
        "launch bounds are given for kernel `{kernel}`, which does not exist for {gpu}; {}kernels are {}",
        nearest(kernel, known.iter().map(String::as_str)).map_or_else(String::new, |name| format!("did you mean `{name}`? ")),
        known.join(", ")
    )]
    UnknownKernel {
        /// The name.
        kernel: String,
        /// The GPU.
        gpu: Gpu,
        /// Kernels that exist.
        known: Vec<String>,
    },
    /// The compiler did not apply the launch bounds.
    #[error(
        "launch bounds of kernel `{kernel}` were not applied: the workgroup size is at most {given} in the request, but {found} in the code object for {gpu}"
    )]
    BoundsIgnored {
        /// The kernel's symbol.
        kernel: String,
        /// The GPU.
        gpu: Gpu,
        /// The requested largest workgroup.
        given: u32,
        /// The largest workgroup in the metadata.
        found: u32,
    },
}

/// A hint for crates that were not written for a GPU.
fn no_std_hint(messages: &str) -> &'static str {
    match messages.contains("can't find crate for `std`") {
        true => {
            "A GPU has no `std`: kernels and all their dependencies must be `#![no_std]`. Is this crate meant for the host?"
        }
        false => "",
    }
}
