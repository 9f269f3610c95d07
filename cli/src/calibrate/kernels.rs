//! Compiles the microbenchmarks. They are a crate of their own, which is compiled when it is needed, so that no other
//! build takes longer.

use std::{fs, io, path::Path};

use ferrowave::hip::{Context, Module};
use ferrowave_gpu::Gpu;
use ferrowave_kernel_build::Build;

use crate::cli::Failure;

/// The crate's files.
const FILES: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("../../calibration/Cargo.toml")),
    ("src/lib.rs", include_str!("../../calibration/src/lib.rs")),
    (
        "rust-toolchain.toml",
        include_str!("../../../rust-toolchain.toml"),
    ),
];

fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder.join("src"))?;
    FILES
        .iter()
        .try_for_each(|(name, text)| fs::write(folder.join(name), text))
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
