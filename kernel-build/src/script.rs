//! For build scripts: builds and checks kernels, and writes the code objects to where `include_bytes!` finds them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use ferrowave_gpu::Gpu;

use crate::{
    Build, BuildError, Built, Policy, PolicyError, inspect,
    tool::{ToolError, file_error},
};

/// Why a build script could not embed kernels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The build failed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A file can't be written or read, or the disassembler failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The kernels do what the policy refuses.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The program is not a build script.
    #[error("cargo sets {0} for build scripts, and it is not set here")]
    NoBuildScript(&'static str),
}

/// A code object that a build script wrote for its crate.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The built code object.
    pub built: Built,
    /// The file in `OUT_DIR`: `<name>.<gpu>.elf`.
    pub path: PathBuf,
}

impl Build {
    /// For a build script: builds, checks the kernels against `policy`, writes each code object to
    /// `$OUT_DIR/<name>.<gpu>.elf`, and tells cargo the files that it depends on.
    ///
    /// A `build.rs` for kernels in the directory `kernels`:
    ///
    /// ```no_run
    /// use ferrowave_kernel_build::{Build, Policy};
    ///
    /// fn main() {
    ///     Build::new("kernels").embed_or_exit("kernels", Policy::STRICT);
    /// }
    /// ```
    ///
    /// GPUs and launch bounds are in `kernels/Cargo.toml` ([`crate::Settings`]), or in the script by [`Self::gpu`] and
    /// [`Self::launch_bounds`]:
    ///
    /// ```toml
    /// [package.metadata.gpu-amdgpu]
    /// gpus = ["gfx942"]
    /// launch-bounds = { saxpy = 256 }
    /// ```
    ///
    /// The crate then includes the code object:
    ///
    /// ```text
    /// const KERNELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.gfx942.elf"));
    /// ```
    ///
    /// The compilation goes to a directory below `OUT_DIR` unless [`Build::target_dir`] names another.
    ///
    /// On an error, the script prints it to standard error, with the compiler's messages unchanged, and exits with code
    /// 1. (An error returned from `main` would be printed in its debug format, on one line.)
    pub fn embed_or_exit(self, name: &str, policy: Policy) -> Vec<Embedded> {
        match self.embed(name, policy) {
            Ok(embedded) => embedded,
            Err(error) => {
                eprintln!("{}", chain(&error));
                std::process::exit(1);
            }
        }
    }

    /// Like [`Self::embed_or_exit`], for a build script that does more.
    ///
    /// # Errors
    /// If the build fails, or a kernel does what the policy refuses. The message is meant for the user.
    pub fn embed(self, name: &str, policy: Policy) -> Result<Vec<Embedded>, EmbedError> {
        let out_dir =
            PathBuf::from(env::var_os("OUT_DIR").ok_or(EmbedError::NoBuildScript("OUT_DIR"))?);
        let build = if self.has_target_dir() {
            self
        } else {
            self.target_dir(out_dir.join("gpu-kernels"))
        };
        let toolchain = build.find_toolchain().map_err(BuildError::from)?;
        // The toolchain file selects the kernels' compiler, but cargo does not track it.
        for name in ["rust-toolchain.toml", "rust-toolchain"] {
            for dir in std::path::absolute(build.crate_dir())
                .unwrap_or_else(|_| build.crate_dir().to_owned())
                .ancestors()
            {
                let file = dir.join(name);
                if file.is_file() {
                    println!("cargo::rerun-if-changed={}", file.display());
                }
            }
        }
        let mut embedded = Vec::new();
        for built in build.toolchain(toolchain.clone()).run()? {
            for source in &built.sources {
                println!("cargo::rerun-if-changed={}", source.display());
            }
            // Warnings are printed unchanged: cargo shows a script's standard error with -vv or if it fails.
            eprint!("{}", built.messages);
            policy.check(&inspect(&toolchain, &built.code_object)?)?;
            let path = out_dir.join(file_name(name, built.gpu));
            write_if_changed(&path, built.code_object.bytes())?;
            embedded.push(Embedded { built, path });
        }
        Ok(embedded)
    }
}

/// An error and its causes as one text.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn file_name(name: &str, gpu: Gpu) -> String {
    format!("{name}.{gpu}.elf")
}

/// Does not touch an unchanged file: its modification time decides whether the including crate is compiled again.
fn write_if_changed(path: &Path, contents: &[u8]) -> Result<(), ToolError> {
    if fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(());
    }
    fs::write(path, contents).map_err(file_error(path))
}
