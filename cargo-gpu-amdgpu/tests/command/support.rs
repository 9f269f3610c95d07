//! Crates to run the command in, and its output.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Mutex, OnceLock, PoisonError},
};

use ferrowave_kernel_build::Toolchain;

/// A directory for the tests. Its name has spaces, which every command must accept.
pub(crate) fn tmp(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cargo gpu amdgpu")
        .join(name);
    fs::create_dir_all(&dir).expect("creates");
    dir
}

/// One target directory for all crates, so that `core` is compiled once.
pub(crate) fn target_dir() -> PathBuf {
    tmp("shared target")
}

/// An empty directory.
pub(crate) fn empty(name: &str) -> PathBuf {
    let dir = tmp(name);
    fs::remove_dir_all(&dir).expect("removes");
    tmp(name)
}

/// The command with arguments in a directory, not started yet.
pub(crate) fn command<S: AsRef<OsStr>>(
    dir: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpu-amdgpu"));
    command
        .arg("gpu-amdgpu")
        .args(arguments)
        .current_dir(dir)
        .env("CARGO_TARGET_DIR", target_dir())
        .env("FERROWAVE_CACHE", tmp("cache"))
        .env_remove("FERROWAVE_DEVICE")
        .env_remove("FERROWAVE_KERNELS")
        // The tests use the emulator even if HIP has a GPU.
        .env("FERROWAVE_HIP_LIBRARY", "/nonexistent/libamdhip64.so");
    command
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Ran {
            code: output.status.code().expect("an exit code"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Its standard output, if it succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Its standard error, if it ended with this exit code and contains these texts.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, parts: &[&str]) -> String {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "{part:?} not in:\n{}",
                self.stderr
            );
        }
        assert!(!self.stderr.contains("thread '"), "{}", self.stderr);
        self.stderr
    }
}

/// Runs the command. One runs at a time.
pub(crate) fn run(dir: &Path, arguments: &[&str]) -> Ran {
    run_command(&mut command(dir, arguments))
}

pub(crate) fn run_command(command: &mut Command) -> Ran {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    Ran::of(&command.output().expect("it runs"))
}

/// The tutorial's crate, created by the command.
pub(crate) fn softmax() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let dir = empty("template");
        run(&dir, &["new", "softmax", "--template", "softmax"]).ok();
        let made = dir.join("softmax");
        lock(&made);
        made
    })
}

/// Gives a crate the workspace's lock file, so that new releases of dependencies do not matter.
pub(crate) fn lock(dir: &Path) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::copy(workspace.join("Cargo.lock"), dir.join("Cargo.lock")).expect("copies");
}

/// A crate without dependencies, with these lines in its manifest and its library.
pub(crate) fn bare_crate(name: &str, manifest: &str, library: &str) -> PathBuf {
    let dir = empty(name);
    let name = name.replace(' ', "-");
    fs::create_dir_all(dir.join("src")).expect("creates");
    let package = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
    let files = [
        ("Cargo.toml", format!("{package}{manifest}\n[workspace]\n")),
        ("src/lib.rs", library.to_owned()),
        (
            "rust-toolchain.toml",
            include_str!("../../../rust-toolchain.toml").to_owned(),
        ),
    ];
    for (file, text) in files {
        fs::write(dir.join(file), text).expect("writes");
    }
    dir
}

/// The first lines of a library of kernels.
pub(crate) const KERNELS: &str = "#![no_std]
#![feature(abi_gpu_kernel, stdarch_amdgpu)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }
";

/// A crate with the kernel `scale`, whose factor depends on the feature `tuned`.
pub(crate) fn scale() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let kernel = r#"
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn scale(data: *mut f32, factor: f32) {
    let index = core::arch::amdgpu::workitem_id_x() as usize;
    let added = if cfg!(feature = "tuned") { 1.0 } else { 0.0 };
    unsafe { *data.add(index) = *data.add(index) * factor + added };
}
"#;
        bare_crate(
            "scale",
            "[features]\ntuned = []\n[package.metadata.gpu-amdgpu.launch-bounds]\nscale = 64",
            &format!("{KERNELS}{kernel}"),
        )
    })
}

/// The toolchain of the tests.
pub(crate) fn toolchain() -> Toolchain {
    Toolchain::find(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("a toolchain")
}

/// The `console` commands of a page, each with the lines of output that the page shows.
pub(crate) fn page_commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = language == "console";
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command, Vec::new()));
        } else if let Some((_, shown)) = commands.last_mut() {
            shown.push(line);
        }
    }
    commands
}
