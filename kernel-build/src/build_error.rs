//! What can go wrong in a build.

use std::path::PathBuf;

use ferrowave_code_object::{CodeObjectError, nearest};
use ferrowave_gpu::Gpu;

use crate::{CrateError, ToolchainError, tool::ToolError};

/// Why kernels could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no toolchain to build with.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The crate's manifest is not as it should be.
    #[error(transparent)]
    Crate(#[from] CrateError),
    /// A file can't be read or written, or a program not be started.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// No GPU was named.
    #[error("no GPU to build for; known are {}", Gpu::ALL.map(Gpu::name).join(", "))]
    NoGpu,
    /// There is no crate in the directory.
    #[error("{} has no Cargo.toml", crate_dir.display())]
    NoCrate {
        /// The directory.
        crate_dir: PathBuf,
    },
    /// Launch bounds that the GPU does not have.
    #[error("launch bounds of kernel `{kernel}` for {gpu}: {what} is {given}, expected {allowed}")]
    LaunchBounds {
        /// The kernel's symbol.
        kernel: String,
        /// The GPU.
        gpu: Gpu,
        /// What of them is wrong.
        what: &'static str,
        /// Its value.
        given: String,
        /// The values it may have.
        allowed: String,
    },
    /// Launch bounds can't be handed to LLVM, whose arguments rustc splits at spaces.
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
        /// What cargo and the compiler said, unchanged; empty if it went to the terminal.
        messages: String,
    },
    /// cargo succeeded without naming a code object.
    #[error("cargo made no code object of {}: {reason}", crate_dir.display())]
    NoArtifact {
        /// The crate.
        crate_dir: PathBuf,
        /// What was missing.
        reason: String,
    },
    /// What the linker made can't be read.
    #[error("the code object {}", path.display())]
    CodeObject {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
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
    /// Launch bounds were given for a kernel that the crate does not have on this GPU.
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
    /// The compiler did not act on launch bounds.
    #[error(
        "launch bounds of kernel `{kernel}` did not reach the compiler: at most {given} work-items were asked for, the code object says {found} for {gpu}"
    )]
    BoundsIgnored {
        /// The kernel's symbol.
        kernel: String,
        /// The GPU.
        gpu: Gpu,
        /// The largest workgroup asked for.
        given: u32,
        /// The largest workgroup in the metadata.
        found: u32,
    },
}

/// What to say of a crate that was not meant for a GPU.
fn no_std_hint(messages: &str) -> &'static str {
    match messages.contains("can't find crate for `std`") {
        true => {
            "A GPU has no `std`: kernels and all that they depend on are `#![no_std]`. Is this crate meant for the host?"
        }
        false => "",
    }
}
