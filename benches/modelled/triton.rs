//! Kernels that Triton compiles without a GPU.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use ferrowave_kernel_build::user_cache;

/// The version of Triton that is installed if there is none.
const TRITON: &str = "triton==3.9.0";

/// A compiled kernel.
pub(crate) struct Compiled {
    pub(crate) file: String,
    pub(crate) symbol: String,
    pub(crate) lds_bytes: u32,
    pub(crate) waves: u32,
}

/// A Python with Triton: `TRITON_PYTHON`, or a virtual environment in the user's cache folder, which is made if it is
/// missing.
fn python() -> Result<PathBuf, String> {
    if let Some(python) = env::var_os("TRITON_PYTHON") {
        return Ok(python.into());
    }
    let cache = user_cache().ok_or("there is no cache folder: HOME is not set")?;
    let environment = cache.join("triton");
    let python = environment.join("bin/python");
    if run(Command::new(&python).args(["-c", "import triton"])).is_err() {
        println!("{TRITON} is installed in {}, once", environment.display());
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", TRITON]))?;
    }
    Ok(python)
}

/// Runs a command. If it fails, returns the end of what it says.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("{name}: {}", last.join("; ")))
}

/// Compiles the kernels of a script, which writes them and their list to the folder.
pub(crate) fn compile(directory: &Path, name: &str, script: &str) -> Result<Vec<Compiled>, String> {
    let source = directory.join(name);
    fs::write(&source, script).map_err(|error| error.to_string())?;
    let mut triton = Command::new(python()?);
    triton.env("TRITON_DEFAULT_FP_FUSION", "1");
    run(triton.arg(&source).arg(directory))?;
    let list =
        fs::read_to_string(directory.join("kernels.tsv")).map_err(|error| error.to_string())?;
    let compiled = list.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[file, symbol, lds_bytes, waves] = fields.as_slice() else {
            return Err(format!("kernels.tsv has the line {line:?}"));
        };
        let number = |text: &str| text.parse().map_err(|error| format!("{text:?}: {error}"));
        Ok(Compiled {
            file: file.to_owned(),
            symbol: symbol.to_owned(),
            lds_bytes: number(lds_bytes)?,
            waves: number(waves)?,
        })
    });
    compiled.collect()
}
