//! Embeds the code objects of the kernels: compiles them for the requested GPUs, or takes those of `ferrowave-prebuilt`.

#[path = "build/commit.rs"]
mod commit;
#[cfg(all(feature = "build-kernels", not(feature = "prebuilt")))]
#[path = "build/compile.rs"]
mod compile;
#[cfg(feature = "prebuilt")]
#[path = "build/prebuilt.rs"]
mod compile;
#[cfg(all(feature = "build-kernels", not(feature = "prebuilt")))]
#[path = "build/sources.rs"]
mod sources;

#[cfg(not(any(feature = "build-kernels", feature = "prebuilt")))]
compile_error!(
    "ferrowave needs one of its features: `build-kernels` compiles the kernels with the pinned nightly, `prebuilt` takes compiled ones"
);

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process,
};

use ferrowave_gpu::Gpu;
use ferrowave_shared::gpus_with_kernels;

/// Names the GPUs to embed kernels for, separated by commas.
const GPUS: &str = "FERROWAVE_GPUS";

/// The code objects to embed.
struct CodeObjects {
    /// The compiler that made them.
    toolchain: String,
    /// A file for each GPU.
    files: Vec<(Gpu, PathBuf)>,
}

fn main() {
    println!("cargo::rerun-if-env-changed={GPUS}");
    if let Err(message) = run() {
        eprintln!("{message}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let variable = |name: &str| env::var_os(name).ok_or_else(|| format!("cargo sets {name}"));
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out_dir = PathBuf::from(variable("OUT_DIR")?);
    if let Some(commit) = commit::commit(&root) {
        println!("cargo::rustc-env=FERROWAVE_COMMIT={commit}");
    }
    let objects = compile::code_objects(&out_dir, requested_gpus()?)?;
    #[cfg(feature = "compressed")]
    let objects = compressed(objects)?;
    println!("cargo::rustc-env=FERROWAVE_TOOLCHAIN={}", objects.toolchain);
    write_table(&out_dir.join("code_objects.rs"), &objects.files)
}

/// The GPUs in the environment, if it names any.
fn requested_gpus() -> Result<Option<Vec<Gpu>>, String> {
    let Ok(names) = env::var(GPUS) else {
        return Ok(None);
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
    Ok(Some(gpus))
}

/// Compresses the files in the XZ format.
#[cfg(feature = "compressed")]
fn compressed(mut objects: CodeObjects) -> Result<CodeObjects, String> {
    use lzma_rust2::{XzOptions, XzWriter};

    for (_, file) in &mut objects.files {
        let path = file.with_added_extension("xz");
        let write = || {
            let mut writer = XzWriter::new(fs::File::create(&path)?, XzOptions::with_preset(9))?;
            std::io::copy(&mut fs::File::open(&file)?, &mut writer)?;
            writer.finish().map(drop)
        };
        write().map_err(|error| format!("{}: {error}", path.display()))?;
        *file = path;
    }
    Ok(objects)
}

/// Writes the array that src/embedded.rs includes.
fn write_table(path: &Path, files: &[(Gpu, PathBuf)]) -> Result<(), String> {
    let mut table = format!("static EMBEDDED: [Embedded; {}] = [\n", files.len());
    for (gpu, file) in files {
        let file = file
            .to_str()
            .ok_or_else(|| format!("{} is not UTF-8", file.display()))?;
        let _ = writeln!(
            table,
            "    Embedded::new(Gpu::{gpu:?}, include_bytes!({file:?})),"
        );
    }
    table.push_str("];\n");
    fs::write(path, table).map_err(|error| format!("{}: {error}", path.display()))
}
