//! Takes the kernels that `ferrowave-prebuilt` contains.

use std::{fs, path::Path};

use ferrowave_gpu::Gpu;
use ferrowave_prebuilt::Prebuilt;
use ferrowave_shared::gpus_with_kernels;

use crate::CodeObjects;

/// The code objects for `requested`, or else for all GPUs that have kernels: they cost nothing but their size.
pub(crate) fn code_objects(
    out_dir: &Path,
    requested: Option<Vec<Gpu>>,
) -> Result<CodeObjects, String> {
    let directory = Path::new(ferrowave_prebuilt::DIRECTORY);
    println!("cargo::rerun-if-changed={}", directory.display());
    let prebuilt = Prebuilt::open(directory).map_err(|error| error.to_string())?;
    // What host and kernels must agree on. In the repository, the kernels are beside it.
    let mut sources = vec![
        ("gpu", Path::new(ferrowave_gpu::DIRECTORY)),
        ("shared", Path::new(ferrowave_shared::DIRECTORY)),
    ];
    if Path::new("kernels/Cargo.toml").is_file() {
        sources.push(("kernels", Path::new("kernels")));
    }
    for (name, directory) in sources {
        println!(
            "cargo::rerun-if-changed={}",
            directory.join("src").display()
        );
        prebuilt
            .check_source(name, directory)
            .map_err(|error| error.to_string())?;
    }
    let mut files = Vec::new();
    let all = || {
        let gpus = Gpu::ALL.into_iter();
        gpus.filter(|gpu| gpus_with_kernels().contains(gpu.name()))
            .collect()
    };
    for gpu in requested.unwrap_or_else(all) {
        let bytes = prebuilt
            .code_object(gpu.name())
            .map_err(|error| error.to_string())?;
        let file = out_dir.join(format!("kernels.{gpu}.elf"));
        fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        files.push((gpu, file));
    }
    Ok(CodeObjects {
        toolchain: prebuilt.toolchain().to_owned(),
        files,
    })
}
