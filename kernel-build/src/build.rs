//! Compiles a crate of kernels.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{CrateType, Message};
use ferrowave_code_object::{CodeObject, CodeObjectError};
use ferrowave_gpu::{Family, Gpu};

use crate::{
    BuildError, KernelCrate, LaunchBounds, Settings, Toolchain, ToolchainError, bounds, cache,
    dep_info,
    parallel::in_parallel,
    tool::{ToolError, file_error, link},
    version,
};

/// A code object that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The GPU of the code object.
    pub gpu: Gpu,
    /// The file of the code object.
    pub path: PathBuf,
    /// The parsed code object, including its bytes.
    pub code_object: CodeObject,
    /// The source files of the crate and its path dependencies, with manifests and lock file.
    pub sources: Vec<PathBuf>,
    /// Messages of cargo and the compiler, such as warnings; empty if they went to the terminal.
    pub messages: String,
    /// Whether the code object was up to date and nothing was compiled.
    pub fresh: bool,
}

/// A build for one GPU.
struct Prepared<'a> {
    gpu: Gpu,
    target_dir: PathBuf,
    bounds: Vec<(&'a str, LaunchBounds)>,
    /// The file with the bounds.
    csv: Option<PathBuf>,
    parts: u32,
}

/// What cargo compiled: a part, or all of the crate.
struct Compiled {
    /// The code object, with cargo's `.d` file beside it.
    path: PathBuf,
    /// The object file from which it was linked, if it is a part.
    object: PathBuf,
    messages: String,
    fresh: bool,
}

impl Prepared<'_> {
    /// Links the parts, and checks the code object.
    fn finish(
        &self,
        parts: &[Compiled],
        crate_dir: &Path,
        toolchain: &Toolchain,
    ) -> Result<Built, BuildError> {
        let gpu = self.gpu;
        let sources = dep_info::sources(&parts[0].path)?;
        let path = match parts {
            [whole] => whole.path.clone(),
            _ => {
                let path = self.target_dir.join("kernels.elf");
                link(toolchain, parts.iter().map(|part| &part.object), &path)?;
                path
            }
        };
        // Parts have mostly the same messages.
        let mut messages = String::new();
        for part in parts {
            if !messages.contains(&part.messages) {
                messages.push_str(&part.messages);
            }
        }
        let bytes = fs::read(&path).map_err(file_error(&path))?;
        let no_kernels = || BuildError::NoKernels {
            crate_dir: crate_dir.to_owned(),
            gpu,
        };
        let code_object =
            CodeObject::parse_shared(bytes.into()).map_err(|source| match source {
                // LLVM writes no metadata if there are no kernels.
                CodeObjectError::NoMetadata => no_kernels(),
                source => BuildError::CodeObject {
                    path: path.clone(),
                    source,
                },
            })?;
        if code_object.kernels().is_empty() {
            return Err(no_kernels());
        }
        check_bounds(&self.bounds, &code_object)?;
        Ok(Built {
            gpu,
            sources,
            path,
            code_object,
            messages,
            fresh: parts.iter().all(|part| part.fresh),
        })
    }
}

/// A build of one crate for one or several GPUs.
///
/// The crate is compiled as a `cdylib` in release mode, with one codegen unit, link-time optimization and line tables;
/// `core` is built from source. The crate sees its GPU as `cfg(ferrowave_gpu = "gfx942")` and its
/// family as `cfg(ferrowave_family = "cdna")`, `"rdna3"` (RDNA 3.5, too) or `"rdna4"`.
/// `package.metadata.gpu-amdgpu` in its manifest ([`Settings`]) has the defaults for what is not set here.
///
/// ```no_run
/// use ferrowave_gpu::Gpu;
/// use ferrowave_kernel_build::{Build, LaunchBounds};
///
/// for built in Build::new("kernels")
///     .gpu(Gpu::Gfx942)
///     .launch_bounds("saxpy", LaunchBounds::threads(256))
///     .run()?
/// {
///     println!("{}: {}", built.gpu, built.path.display());
/// }
/// # Ok::<(), ferrowave_kernel_build::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    crate_dir: PathBuf,
    toolchain: Option<Toolchain>,
    target_dir: Option<PathBuf>,
    cache_dir: Option<PathBuf>,
    gpus: Vec<Gpu>,
    bounds: Vec<(Option<Gpu>, String, LaunchBounds)>,
    features: Vec<(Gpu, String)>,
    llvm_args: Vec<(Option<Gpu>, String)>,
    rustc_args: Vec<OsString>,
    cargo_args: Vec<OsString>,
    parts: u32,
    show: bool,
    color: bool,
}

impl Build {
    /// A build of the crate in `crate_dir` with the toolchain that rustup selects there, by default for the GPUs in its
    /// manifest.
    pub fn new(crate_dir: impl Into<PathBuf>) -> Self {
        Build {
            crate_dir: crate_dir.into(),
            toolchain: None,
            target_dir: None,
            cache_dir: None,
            gpus: Vec::new(),
            bounds: Vec::new(),
            features: Vec::new(),
            llvm_args: Vec::new(),
            rustc_args: Vec::new(),
            cargo_args: Vec::new(),
            parts: 1,
            show: false,
            color: false,
        }
    }

    /// Builds with this toolchain.
    #[must_use]
    pub fn toolchain(mut self, toolchain: Toolchain) -> Self {
        self.toolchain = Some(toolchain);
        self
    }

    /// Also builds for this GPU.
    #[must_use]
    pub fn gpu(self, gpu: Gpu) -> Self {
        self.gpus([gpu])
    }

    /// Also builds for these GPUs.
    #[must_use]
    pub fn gpus(mut self, gpus: impl IntoIterator<Item = Gpu>) -> Self {
        for gpu in gpus {
            if !self.gpus.contains(&gpu) {
                self.gpus.push(gpu);
            }
        }
        self
    }

    /// Sets a kernel's launch bounds on all GPUs. Later bounds override earlier ones.
    #[must_use]
    pub fn launch_bounds(mut self, symbol: impl Into<String>, bounds: LaunchBounds) -> Self {
        self.bounds.push((None, symbol.into(), bounds));
        self
    }

    /// Sets a kernel's launch bounds on one GPU, for example if it exists only there. Later bounds override earlier
    /// ones.
    #[must_use]
    pub fn launch_bounds_on(
        mut self,
        gpu: Gpu,
        symbol: impl Into<String>,
        bounds: LaunchBounds,
    ) -> Self {
        self.bounds.push((Some(gpu), symbol.into(), bounds));
        self
    }

    /// Sets the directory for compilation, by default `target/gpu-kernels` in the crate. Each GPU has a directory in
    /// it. It must not be the target directory of a running cargo: the two would wait for each other.
    #[must_use]
    pub fn target_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(dir.into());
        self
    }

    /// Sets the directory where each toolchain's and GPU's compiled `core` is kept. The default is
    /// [`CACHE_VARIABLE`](crate::CACHE_VARIABLE), or else the user's cache directory (`~/.cache/ferrowave`). If it
    /// cannot be written, each target directory compiles its own `core`.
    #[must_use]
    pub fn cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(dir.into());
        self
    }

    /// Adds an LLVM option, such as `-amdgpu-unroll-threshold-private=40000`. It must not contain spaces.
    #[must_use]
    pub fn llvm_arg(mut self, arg: impl Into<String>) -> Self {
        self.llvm_args.push((None, arg.into()));
        self
    }

    /// Adds an LLVM option on one GPU.
    #[must_use]
    pub fn llvm_arg_on(mut self, gpu: Gpu, arg: impl Into<String>) -> Self {
        self.llvm_args.push((Some(gpu), arg.into()));
        self
    }

    /// Sets LLVM's features of a GPU, such as `+back-off-barrier`, beyond those that it has by its name. They are for the
    /// kernels with launch bounds. They must not contain spaces.
    #[must_use]
    pub fn features_on(mut self, gpu: Gpu, features: impl Into<String>) -> Self {
        self.features.push((gpu, features.into()));
        self
    }

    /// Adds a `--cfg` for the crate itself, but not for its dependencies.
    #[must_use]
    pub fn cfg(mut self, cfg: &str) -> Self {
        self.rustc_args.extend(["--cfg".into(), cfg.into()]);
        self
    }

    /// Keeps the types of the crate's functions in the debug information, so that tools know a kernel's parameters
    /// (`ferrowave_code_object::parameters`). The code is the same; the file grows by some kilobytes.
    #[must_use]
    pub fn types(mut self) -> Self {
        self.rustc_args.push("-Cdebuginfo=2".into());
        self
    }

    /// Enables features of the crate.
    #[must_use]
    pub fn features(mut self, features: &[&str]) -> Self {
        self.cargo_args
            .extend(["--features".into(), features.join(",").into()]);
        self
    }

    /// Disables the crate's default features.
    #[must_use]
    pub fn no_default_features(mut self) -> Self {
        self.cargo_args.push("--no-default-features".into());
        self
    }

    /// Compiles the crate in `count` parts at the same time, each with another `cfg(ferrowave_part = "…")`, from `"0"` on. The
    /// code object contains the kernels of all parts. Each kernel must be in exactly one part, and no static variable may be
    /// used in two.
    #[must_use]
    pub fn parts(mut self, count: u32) -> Self {
        self.parts = count.max(1);
        self
    }

    /// Fails if `Cargo.lock` would have to change.
    #[must_use]
    pub fn locked(mut self) -> Self {
        self.cargo_args.push("--locked".into());
        self
    }

    /// Lets cargo write its messages and progress to standard error instead of keeping them.
    #[must_use]
    pub fn show_progress(mut self) -> Self {
        self.show = true;
        self
    }

    /// Lets the compiler color the messages that are kept, for a program that prints them to a terminal.
    #[must_use]
    pub fn color(mut self) -> Self {
        self.color = true;
        self
    }

    /// Builds for each GPU. The results are in the order of the GPUs.
    ///
    /// # Errors
    /// If something is missing, the crate does not compile, or the code object does not have the requested bounds.
    pub fn run(&self) -> Result<Vec<Built>, BuildError> {
        // Cargo resolves relative paths against its own directory.
        let crate_dir =
            std::path::absolute(&self.crate_dir).map_err(file_error(&self.crate_dir))?;
        if !crate_dir.join("Cargo.toml").is_file() {
            return Err(BuildError::NoCrate { crate_dir });
        }
        let toolchain = self.find_toolchain()?;
        let settings = KernelCrate::find(&crate_dir, &toolchain)?.settings;
        let gpus = match self.gpus.is_empty() {
            true => &settings.gpus,
            false => &self.gpus,
        };
        if gpus.is_empty() {
            return Err(BuildError::NoGpu);
        }
        let prepared = gpus
            .iter()
            .map(|&gpu| self.prepare(gpu, &crate_dir, &settings));
        let prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        // Each has a target directory of its own.
        let jobs = prepared.iter().flat_map(|prepared| {
            let parts = 0..prepared.parts;
            parts.map(move |part| (prepared, part))
        });
        let jobs: Vec<_> = jobs.collect();
        let compiled = in_parallel(&jobs, self.at_once(), |&(prepared, part)| {
            self.compile(prepared, part, &crate_dir, &toolchain, &settings)
        })?;
        let mut compiled = compiled.into_iter();
        let finished = prepared.iter().map(|prepared| {
            let parts = compiled.by_ref().take(prepared.parts as usize);
            prepared.finish(&parts.collect::<Vec<_>>(), &crate_dir, &toolchain)
        });
        finished.collect()
    }

    /// How many compilers may run at once. With progress shown one, because the output of several would be unreadable.
    fn at_once(&self) -> usize {
        match self.show {
            true => 1,
            false => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// The given toolchain, or the one that rustup selects for the crate.
    pub(crate) fn find_toolchain(&self) -> Result<Toolchain, ToolchainError> {
        match &self.toolchain {
            Some(toolchain) => Ok(toolchain.clone()),
            None => Toolchain::find(&self.crate_dir),
        }
    }

    pub(crate) fn crate_dir(&self) -> &Path {
        &self.crate_dir
    }

    pub(crate) fn has_target_dir(&self) -> bool {
        self.target_dir.is_some()
    }

    /// Checks what is asked for on a GPU, and makes its target directory.
    fn prepare<'a>(
        &'a self,
        gpu: Gpu,
        crate_dir: &Path,
        settings: &'a Settings,
    ) -> Result<Prepared<'a>, BuildError> {
        let target_dir = match &self.target_dir {
            Some(dir) => std::path::absolute(dir).map_err(file_error(dir))?,
            None => crate_dir.join("target/gpu-kernels"),
        }
        .join(gpu.name());
        fs::create_dir_all(&target_dir).map_err(file_error(&target_dir))?;
        let bounds = self.bounds_on(gpu, settings);
        for (symbol, bounds) in &bounds {
            bounds.check(symbol, gpu)?;
        }
        let features = self.features.iter().filter(|(only, _)| *only == gpu);
        let features: Vec<_> = features.map(|(_, features)| features.as_str()).collect();
        let csv = bounds::write_csv(&bounds, &features.join(","), &target_dir)?;
        // rustc takes no other paths for objects.
        let parts = match target_dir.to_str() {
            Some(path) if !path.contains(',') => self.parts,
            _ => 1,
        };
        Ok(Prepared {
            gpu,
            target_dir,
            bounds,
            csv,
            parts,
        })
    }

    /// Compiles a part, or all of the crate if it is not divided.
    fn compile(
        &self,
        prepared: &Prepared<'_>,
        part: u32,
        crate_dir: &Path,
        toolchain: &Toolchain,
        settings: &Settings,
    ) -> Result<Compiled, BuildError> {
        let gpu = prepared.gpu;
        let target_dir = match prepared.parts {
            1 => prepared.target_dir.clone(),
            _ => prepared.target_dir.join(format!("part{part}")),
        };
        let object = target_dir.join("kernels.o");
        let csv = prepared.csv.as_deref();
        let mut command = self.command(gpu, toolchain, crate_dir, &target_dir, csv, settings);
        if self.parts > 1 {
            let known: Vec<_> = (0..self.parts).map(|part| format!("\"{part}\"")).collect();
            command.arg(format!(
                "--check-cfg=cfg(ferrowave_part,values({}))",
                known.join(",")
            ));
        }
        if prepared.parts > 1 {
            command
                .arg(format!("--cfg=ferrowave_part=\"{part}\""))
                .arg(format!("--emit=obj={}", object.display()));
        }
        let cache = cache::directory(self.cache_dir.as_deref(), toolchain, gpu);
        if let Some(cache) = &cache {
            cache::take(cache, &target_dir);
        }
        let program = PathBuf::from(command.get_program());
        let output = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(if self.show {
                Stdio::inherit()
            } else {
                Stdio::piped()
            })
            .spawn()
            .and_then(|child| child.wait_with_output())
            .map_err(|source| ToolError::Start { program, source })?;
        let messages = without_csv_notices(&String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(BuildError::Compile {
                crate_dir: crate_dir.to_owned(),
                gpu,
                messages,
            });
        }
        if let Some(cache) = &cache {
            cache::keep(cache, &target_dir);
        }
        let (path, fresh) = artifact(&output.stdout, crate_dir)?;
        Ok(Compiled {
            path,
            object,
            messages,
            fresh,
        })
    }

    /// The bounds for a GPU, each symbol once: the manifest's, overridden by those set on the build.
    fn bounds_on<'a>(&'a self, gpu: Gpu, settings: &'a Settings) -> Vec<(&'a str, LaunchBounds)> {
        let of_manifest = settings.launch_bounds.iter();
        let mut bounds: Vec<_> = of_manifest
            .map(|(symbol, bounds)| (symbol.as_str(), *bounds))
            .collect();
        for (only, symbol, new) in &self.bounds {
            if only.is_some_and(|only| only != gpu) {
                continue;
            }
            match bounds.iter_mut().find(|(known, _)| known == symbol) {
                Some((_, present)) => *present = *new,
                None => bounds.push((symbol, *new)),
            }
        }
        bounds
    }

    fn command(
        &self,
        gpu: Gpu,
        toolchain: &Toolchain,
        crate_dir: &Path,
        target_dir: &Path,
        csv: Option<&Path>,
        settings: &Settings,
    ) -> Command {
        let mut command = toolchain.inner_cargo();
        let known_gpus = Gpu::ALL.map(|gpu| format!("{:?}", gpu.name())).join(",");
        command
            .current_dir(crate_dir)
            // For all crates including core: device code can't be compiled without knowing its GPU.
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                [
                    format!("-Ctarget-cpu={gpu}"),
                    // Its lists of address ranges take less than half of the bytes of those of version 4, LLVM's default for the target.
                    "-Cdwarf-version=5".into(),
                    format!("--cfg=ferrowave_gpu=\"{gpu}\""),
                    format!("--check-cfg=cfg(ferrowave_gpu,values({known_gpus}))"),
                    format!("--cfg=ferrowave_family=\"{}\"", family(gpu)),
                    "--check-cfg=cfg(ferrowave_family,values(\"cdna\",\"rdna3\",\"rdna4\"))"
                        .to_owned(),
                ]
                .join("\x1f"),
            )
            .args(["rustc", "--release", "--lib", "--crate-type", "cdylib"])
            .args(["--target", "amdgcn-amd-amdhsa", "-Zbuild-std=core"])
            .args(["--message-format", "json-render-diagnostics"])
            .arg("--target-dir")
            .arg(target_dir);
        // Overrides the user's configuration; see `cache`.
        command.env("CARGO_BUILD_BUILD_DIR", target_dir);
        // The crate's profile is for the host. On the device, any other settings give slower code or none.
        for setting in [
            "lto=\"fat\"",
            "panic=\"abort\"",
            "opt-level=3",
            "codegen-units=1",
            "debug=\"line-tables-only\"",
            "strip=\"none\"",
        ] {
            command.args(["--config", &format!("profile.release.{setting}")]);
        }
        if !self.show {
            command.arg("--quiet");
        }
        if self.color {
            command.args(["--color", "always"]);
        }
        command.args(&self.cargo_args);
        // Only for the crate itself, so that changed bounds do not compile core again.
        command.arg("--").args(&self.rustc_args);
        let mut llvm_args = settings.llvm_args.clone();
        let own = self.llvm_args.iter();
        let own = own.filter(|(only, _)| only.is_none_or(|only| only == gpu));
        llvm_args.extend(own.map(|(_, arg)| arg.clone()));
        // The crate's own choice, if it has one: LLVM takes the option once.
        if !llvm_args.iter().any(|arg| arg.contains(version::OPTION)) {
            let version = version::version_for(gpu) as u8;
            llvm_args.push(format!("-{}={version}", version::OPTION));
        }
        if let Some(csv) = csv {
            command.arg("-Cpasses=forceattrs");
            llvm_args.push(format!("-forceattrs-csv-path={}", csv.display()));
        }
        // No index of names: debuggers make one where there is none. Unless the crate chooses, as above.
        if !llvm_args.iter().any(|arg| arg.contains("-accel-tables")) {
            llvm_args.push("-accel-tables=Disable".into());
        }
        for arg in llvm_args {
            command.arg(format!("-Cllvm-args={arg}"));
        }
        command
    }
}

/// The value of `cfg(ferrowave_family)`.
const fn family(gpu: Gpu) -> &'static str {
    match gpu.family() {
        Family::Cdna => "cdna",
        Family::Rdna if gpu.is_rdna4() => "rdna4",
        Family::Rdna => "rdna3",
    }
}

/// Removes what the pass `forceattrs` prints for every module that lacks a kernel, which all dependencies do. A kernel
/// that exists nowhere is reported by `check_bounds`.
fn without_csv_notices(messages: &str) -> String {
    messages
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("Function in CSV file at line"))
        .collect()
}

/// The code object among cargo's artifacts, and whether it was up to date.
fn artifact(stdout: &[u8], crate_dir: &Path) -> Result<(PathBuf, bool), BuildError> {
    let error = |reason: String| BuildError::NoArtifact {
        crate_dir: crate_dir.to_owned(),
        reason,
    };
    let mut found = None;
    for message in Message::parse_stream(io::Cursor::new(stdout)) {
        let message = message.map_err(|source| error(format!("it printed {source}")))?;
        // The crate comes last; a dependency may also be a cdylib.
        if let Message::CompilerArtifact(artifact) = message
            && artifact.target.crate_types.contains(&CrateType::CDyLib)
        {
            found = Some(artifact);
        }
    }
    let artifact = found.ok_or_else(|| error("it built no cdylib".to_owned()))?;
    let path = artifact
        .filenames
        .first()
        .ok_or_else(|| error("its cdylib has no file".to_owned()))?;
    Ok((path.into(), artifact.fresh))
}

/// Checks the bounds in the code object, because LLVM does not report bounds that it did not apply.
fn check_bounds(
    bounds: &[(&str, LaunchBounds)],
    code_object: &CodeObject,
) -> Result<(), BuildError> {
    let gpu = code_object.target().gpu;
    for (symbol, bounds) in bounds {
        let kernel = code_object
            .kernel(symbol)
            .ok_or_else(|| BuildError::UnknownKernel {
                kernel: (*symbol).to_owned(),
                gpu,
                known: code_object
                    .kernels()
                    .iter()
                    .map(|kernel| kernel.metadata.name.clone())
                    .collect(),
            })?;
        let found = kernel.metadata.max_flat_workgroup_size;
        if found != bounds.flat_workgroup_size.1 {
            return Err(BuildError::BoundsIgnored {
                kernel: (*symbol).to_owned(),
                gpu,
                given: bounds.flat_workgroup_size.1,
                found,
            });
        }
    }
    Ok(())
}
