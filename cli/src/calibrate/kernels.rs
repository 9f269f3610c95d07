//! Compiles the microbenchmarks. They are a crate of their own, which is compiled when it is needed, so that no other
//! build takes longer.

use std::{fs, io, path::Path};

use ferrowave::hip::{Context, Module};
use ferrowave_gpu::Gpu;
use ferrowave_kernel_build::{Build, Toolchain};

use crate::cli::Failure;

fn write(folder: &Path) -> io::Result<()> {
    let channel = Toolchain::TESTED_CHANNEL;
    fs::create_dir(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), include_str!("Cargo.toml.in"))?;
    fs::write(folder.join("src/lib.rs"), include_str!("lib.rs.in"))?;
    fs::write(
        folder.join("rust-toolchain.toml"),
        format!("[toolchain]\nchannel = \"{channel}\"\n"),
    )
}

/// Compiles the kernels for a GPU and loads them.
pub(crate) fn load(context: &Context, gpu: Gpu) -> Result<Module, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::failed)?;
    write(folder.path()).map_err(Failure::failed)?;
    let built = Build::new(folder.path()).gpu(gpu).run();
    let built = built.map_err(Failure::failed)?;
    let built = built
        .first()
        .ok_or_else(|| Failure::failed(format!("the microbenchmarks were not built for {gpu}")))?;
    context
        .load(built.code_object.bytes())
        .map_err(Failure::failed)
}
