//! Finds the compiler and its tools.
//!
//! All of them come from one rustup toolchain, so that compiler, linker and disassembler have the same LLVM, and
//! neither ROCm nor a system LLVM is needed.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::environment;

/// A nightly toolchain with the components for building kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    sysroot: PathBuf,
    tools: PathBuf,
    release: String,
}

/// Why there is no usable toolchain. The message names the command to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// rustup can't be started.
    #[error(
        "rustup can't be started ({source}); kernels need a nightly toolchain with rust-src and llvm-tools: install rustup from https://rustup.rs, then run `{command}`"
    )]
    NoRustup {
        /// The command that installs the toolchain once rustup is there.
        command: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The directory to find a toolchain for does not exist.
    #[error("{} is not a directory", dir.display())]
    NoDirectory {
        /// The directory.
        dir: PathBuf,
    },
    /// rustup does not have the toolchain.
    #[error("rustup has no toolchain for {wanted} ({reason}); run `{command}`")]
    NotInstalled {
        /// The channel, or the directory to find a toolchain for.
        wanted: String,
        /// rustup's message.
        reason: String,
        /// The command that installs it.
        command: String,
    },
    /// The toolchain lacks a component.
    #[error("toolchain {toolchain} lacks {missing}; run `{command}`")]
    MissingComponents {
        /// The toolchain's name or directory.
        toolchain: String,
        /// The missing components.
        missing: String,
        /// The command that installs them.
        command: String,
    },
    /// The toolchain is not a nightly.
    #[error(
        "kernels need a nightly toolchain, because the amdgcn target is unstable, but {wanted} gives {release}; name one in rust-toolchain.toml, such as `channel = \"{}\"`",
        Toolchain::TESTED_CHANNEL
    )]
    NotNightly {
        /// The channel, or the directory to find a toolchain for.
        wanted: String,
        /// The release found.
        release: String,
    },
    /// A program of the toolchain can't be run.
    #[error("{} can't be run: {reason}", program.display())]
    Broken {
        /// The program.
        program: PathBuf,
        /// The cause.
        reason: String,
    },
}

impl ToolchainError {
    /// The command that installs what is missing, if there is one.
    pub fn command(&self) -> Option<&str> {
        match self {
            ToolchainError::NoRustup { command, .. }
            | ToolchainError::NotInstalled { command, .. }
            | ToolchainError::MissingComponents { command, .. } => Some(command),
            _ => None,
        }
    }
}

impl Toolchain {
    /// The nightly that this crate is tested with. Others may work, but names and ABIs of unstable features change.
    pub const TESTED_CHANNEL: &'static str = "nightly-2026-10-30";

    /// The toolchain that rustup selects in `dir`: that of `rust-toolchain.toml` there or above, or else the default.
    ///
    /// # Errors
    /// If rustup, the toolchain or a component is missing, or the toolchain is not a nightly. The message names the
    /// command that installs what is missing.
    pub fn find(dir: &Path) -> Result<Self, ToolchainError> {
        // Otherwise the error would look as if rustup were missing.
        if !dir.is_dir() {
            return Err(ToolchainError::NoDirectory {
                dir: dir.to_owned(),
            });
        }
        let mut command = Command::new("rustup");
        command.args(["which", "rustc"]).current_dir(dir);
        Self::locate(command, &dir.display().to_string(), None)
    }

    /// The toolchain of a channel, such as [`Self::TESTED_CHANNEL`].
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn channel(channel: &str) -> Result<Self, ToolchainError> {
        let mut command = Command::new("rustup");
        command.args(["which", "rustc", "--toolchain", channel]);
        Self::locate(command, channel, Some(channel))
    }

    fn locate(
        mut which: Command,
        wanted: &str,
        channel: Option<&str>,
    ) -> Result<Self, ToolchainError> {
        // A program that cargo started has that cargo's toolchain in this variable, which would override the kernels'
        // own.
        which.env_remove("RUSTUP_TOOLCHAIN");
        // The user decides about installing; without this variable rustup would install silently. A backtrace does not
        // help.
        which
            .env("RUSTUP_AUTO_INSTALL", "0")
            .env("RUST_BACKTRACE", "0");
        let output = which.output().map_err(|source| ToolchainError::NoRustup {
            command: install_command(channel.unwrap_or(Self::TESTED_CHANNEL)),
            source,
        })?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            let reason = message.lines().next().unwrap_or("rustup failed");
            let name = channel.or_else(|| {
                reason
                    .split('\'')
                    .nth(1)
                    .filter(|_| reason.contains("toolchain '"))
            });
            return Err(ToolchainError::NotInstalled {
                wanted: wanted.to_owned(),
                reason: reason.trim_start_matches("error: ").to_owned(),
                command: install_command(name.unwrap_or(Self::TESTED_CHANNEL)),
            });
        }
        let rustc = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end());
        let sysroot =
            rustc
                .parent()
                .and_then(Path::parent)
                .ok_or_else(|| ToolchainError::Broken {
                    program: rustc.clone(),
                    reason: "rustup gives a path that is not in a toolchain".to_owned(),
                })?;
        Self::at(sysroot, wanted)
    }

    /// The toolchain in `sysroot`, which rustup need not manage.
    ///
    /// # Errors
    /// If it does not run, lacks a component, or is not a nightly.
    pub fn at_sysroot(sysroot: &Path) -> Result<Self, ToolchainError> {
        Self::at(sysroot, &sysroot.display().to_string())
    }

    fn at(sysroot: &Path, wanted: &str) -> Result<Self, ToolchainError> {
        let rustc = sysroot.join("bin").join(executable("rustc"));
        let broken = |reason: String| ToolchainError::Broken {
            program: rustc.clone(),
            reason,
        };
        let output = Command::new(&rustc)
            .arg("-vV")
            .output()
            .map_err(|error| broken(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                .ok_or_else(|| broken(format!("`rustc -vV` prints no {name}")))
        };
        let release = field("release")?.to_owned();
        if !release.contains("nightly") && !release.contains("dev") {
            return Err(ToolchainError::NotNightly {
                wanted: wanted.to_owned(),
                release,
            });
        }
        let rustlib = sysroot.join("lib/rustlib");
        let tools = rustlib.join(field("host")?).join("bin");
        let mut missing = Vec::new();
        if !rustlib.join("src/rust/library/core/Cargo.toml").is_file() {
            missing.push("rust-src");
        }
        let wanted_tools = ["llc", "llvm-objdump", "llvm-readobj", "rust-lld"];
        if wanted_tools
            .into_iter()
            .any(|tool| !tools.join(executable(tool)).is_file())
        {
            missing.push("llvm-tools");
        }
        let toolchain = Toolchain {
            sysroot: sysroot.to_owned(),
            tools,
            release: format!("rustc {release}, LLVM {}", field("LLVM version")?),
        };
        if missing.is_empty() {
            return Ok(toolchain);
        }
        let name = toolchain.name();
        Err(ToolchainError::MissingComponents {
            command: format!(
                "rustup component add {} --toolchain {name}",
                missing.join(" ")
            ),
            toolchain: name,
            missing: missing.join(" and "),
        })
    }

    /// rustup's name for it, which is the name of its directory.
    pub fn name(&self) -> String {
        self.sysroot
            .file_name()
            .unwrap_or(self.sysroot.as_os_str())
            .to_string_lossy()
            .into_owned()
    }

    /// Compiler and LLVM version in one line, for reports.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The directory of the toolchain.
    pub fn sysroot(&self) -> &Path {
        &self.sysroot
    }

    /// The path of `cargo`.
    pub fn cargo(&self) -> PathBuf {
        self.sysroot.join("bin").join(executable("cargo"))
    }

    /// `cargo` with this toolchain's compiler, without what an outer cargo set for the crate that it builds.
    pub fn inner_cargo(&self) -> Command {
        let mut command = Command::new(self.cargo());
        environment::scrub(&mut command, env::vars_os().map(|(name, _)| name));
        command
            .env("RUSTC", self.rustc())
            .env("RUSTUP_TOOLCHAIN", self.name());
        command
    }

    /// The path of `rustc`.
    pub fn rustc(&self) -> PathBuf {
        self.sysroot.join("bin").join(executable("rustc"))
    }

    /// The path of `llc`, LLVM's compiler from IR.
    pub fn llc(&self) -> PathBuf {
        self.tools.join(executable("llc"))
    }

    /// The path of `llvm-objcopy`, which copies object files without some of their parts.
    pub fn llvm_objcopy(&self) -> PathBuf {
        self.tools.join(executable("llvm-objcopy"))
    }

    /// The path of `llvm-objdump`, LLVM's disassembler.
    pub fn llvm_objdump(&self) -> PathBuf {
        self.tools.join(executable("llvm-objdump"))
    }

    /// The path of `llvm-readobj`, which prints ELF structures.
    pub fn llvm_readobj(&self) -> PathBuf {
        self.tools.join(executable("llvm-readobj"))
    }

    /// The path of `rust-lld`, LLVM's linker.
    pub fn rust_lld(&self) -> PathBuf {
        self.tools.join(executable("rust-lld"))
    }
}

fn install_command(channel: &str) -> String {
    format!(
        "rustup toolchain install {channel} --profile minimal --component rust-src --component llvm-tools"
    )
}

fn executable(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}
