//! Writes the kernels that this program contains to the package `ferrowave-prebuilt`. `make packages` runs it with the kernels
//! of all GPUs.

use std::{error::Error, path::Path};

use ferrowave::embedded::{TOOLCHAIN, code_objects};

fn main() -> Result<(), Box<dyn Error>> {
    let objects: Vec<_> = code_objects()
        .map(|(gpu, bytes)| (gpu.name(), bytes))
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = ["gpu", "kernels", "shared"].map(|name| (name, root.join(name)));
    let sources = sources
        .each_ref()
        .map(|(name, path)| (*name, path.as_path()));
    let directory = Path::new(ferrowave_prebuilt::DIRECTORY);
    ferrowave_prebuilt::write(directory, TOOLCHAIN, &objects, &sources)?;
    for (gpu, bytes) in code_objects() {
        println!("{gpu}: {} bytes", bytes.len());
    }
    Ok(())
}
