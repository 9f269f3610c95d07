//! The stand-in `libamdhip64.so` (`stand_in.c`), and `ferrowave` run with it on a made-up computer.

use std::{
    fmt::Write as _,
    fs,
    mem::offset_of,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use ferrowave_hip_abi::{for_each_hip_function, hipDeviceProp_tR0600};
use tempfile::TempDir;

use crate::{
    built,
    child::{self, End},
};

/// A version of ROCm.
pub(crate) struct Rocm {
    /// 602 for 6.2.
    number: u32,
    /// What `hipRuntimeGetVersion` answers: that of HIP.
    hip: u32,
    library: OnceLock<PathBuf>,
}

const fn rocm(number: u32, hip: u32) -> Rocm {
    let library = OnceLock::new();
    Rocm {
        number,
        hip,
        library,
    }
}

// HIP's versions as `hipconfig --version` prints them for ROCm 5.7.0, 6.0.0, 6.2.0, Debian's 6.4.3, 7.1.0 and 10.0.0.
pub(crate) static ROCM_5_7: Rocm = rocm(507, 50_731_921);
pub(crate) static ROCM_6_0: Rocm = rocm(600, 60_032_830);
pub(crate) static ROCM_6_2: Rocm = rocm(602, 60_241_133);
pub(crate) static ROCM_6_4: Rocm = rocm(604, 60_443_484);
pub(crate) static ROCM_7_1: Rocm = rocm(701, 70_125_424);
pub(crate) static ROCM_10_0: Rocm = rocm(1000, 100_026_306);

macro_rules! functions {
    ($($(#[$meta:meta])* $kind:ident fn $name:ident($($arguments:tt)*) -> $result:ty;)*) => {
        [$((stringify!($name), stringify!($kind))),*]
    };
}

/// The functions that the host looks up, and whether they are `required` or `optional`.
const FUNCTIONS: &[(&str, &str)] = &for_each_hip_function!(functions);

/// The version with which ROCm's symbols came, such as `hip_6.0`, above their names.
const VERSIONS: &str = include_str!("../../../emulator/hip/lib/versions.txt");

impl Rocm {
    /// Whether the version has a function. Those of Ferrowave, which no version has, tell an emulator from a GPU.
    fn has(&self, function: &str) -> bool {
        let mut version = 0;
        for line in VERSIONS.lines() {
            if let Some(text) = line.strip_prefix("hip_") {
                let (major, minor) = text.split_once('.').expect("a version");
                version = major.parse::<u32>().expect("a number") * 100
                    + minor.parse::<u32>().expect("a number");
            } else if line.trim() == function {
                return version <= self.number;
            }
        }
        false
    }

    /// The functions that the host needs and the version does not have.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let needed = FUNCTIONS.iter().filter(|(_, kind)| *kind == "required");
        let missing = needed.map(|(name, _)| *name).filter(|name| !self.has(name));
        missing.collect()
    }

    /// The library, compiled when it is first needed.
    pub(crate) fn library(&self) -> &Path {
        self.library.get_or_init(|| self.compile())
    }

    /// Compiles with a C compiler, which building Rust also needs.
    fn compile(&self) -> PathBuf {
        let Rocm { number, hip, .. } = self;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stand-in-{number}"));
        fs::create_dir_all(&folder).expect("a folder for the library");
        let list = folder.join("functions.h");
        let mut functions = String::new();
        for (name, _) in FUNCTIONS.iter().filter(|(name, _)| self.has(name)) {
            let _ = writeln!(functions, "F({name})");
        }
        fs::write(&list, functions).expect("the folder can be written");
        let soname = format!("libamdhip64.so.{}", number / 100);
        let library = folder.join(&soname);
        let mut command = Command::new("cc");
        command
            .args([
                "-std=gnu11",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Wno-strict-prototypes",
                "-Werror",
            ])
            .args(["-shared", "-fPIC"])
            .arg(format!("-Wl,-soname,{soname}"))
            .arg(format!("-DFUNCTIONS=\"{}\"", list.display()))
            .arg(format!(
                "-DEMULATOR=\"{}\"",
                built::library("libamdhip64.so").display()
            ))
            .args([format!("-DROCM={number}"), format!("-DVERSION={hip}")]);
        for (name, offset) in [
            ("NAME", offset_of!(hipDeviceProp_tR0600, name)),
            ("TARGET", offset_of!(hipDeviceProp_tR0600, gcnArchName)),
            ("WAVE_SIZE", offset_of!(hipDeviceProp_tR0600, warpSize)),
            (
                "COMPUTE_UNITS_AT",
                offset_of!(hipDeviceProp_tR0600, multiProcessorCount),
            ),
        ] {
            command.arg(format!("-D{name}={offset}"));
        }
        command
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/stand_in/stand_in.c"
            ))
            .arg("-o")
            .arg(&library)
            .arg("-ldl");
        let status = command.status().expect("a C compiler, cc");
        assert!(status.success(), "{command:?}");
        library
    }
}

/// A computer.
pub(crate) struct Computer {
    rocm: &'static Rocm,
    machine: &'static str,
    fault: &'static str,
    root: TempDir,
}

/// What a command did.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) output: String,
    pub(crate) error: String,
}

/// No command may take longer: none of them hangs.
const LIMIT: Duration = Duration::from_secs(120);

impl Computer {
    /// A computer with this version of ROCm and an MI300X, and without the driver's files.
    pub(crate) fn new(rocm: &'static Rocm) -> Self {
        let root = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a root folder");
        Computer {
            rocm,
            machine: "",
            fault: "",
            root,
        }
    }

    /// Other GPUs: see `stand_in.c`.
    pub(crate) fn with(self, machine: &'static str) -> Self {
        Computer { machine, ..self }
    }

    /// What goes wrong: see `stand_in.c`.
    pub(crate) fn fault(self, fault: &'static str) -> Self {
        Computer { fault, ..self }
    }

    /// Writes a file of the driver.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the root can be written");
        fs::write(path, text).expect("the root can be written");
        self
    }

    /// A GPU that the driver lists, with the number of its node.
    pub(crate) fn driver(self, node: u32, target_version: u32, simds: u32, xccs: u32) -> Self {
        self.file("dev/kfd", "").file(
            &format!("sys/class/kfd/kfd/topology/nodes/{node}/properties"),
            &format!(
                "cpu_cores_count 0\nsimd_count {simds}\nsimd_per_cu 4\ngfx_target_version {target_version}\n\
                 num_xcc {xccs}\n"
            ),
        )
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Runs `ferrowave`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        let library = self.rocm.library();
        self.run_with(library, arguments)
    }

    /// Runs `ferrowave` with another library.
    pub(crate) fn run_with(&self, library: &Path, arguments: &[&str]) -> Answer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
        command
            .args(arguments)
            // Cargo's has folders that may hold the emulator's HIP library.
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("FERROWAVE_DEVICE")
            .env("FERROWAVE_HIP_LIBRARY", library)
            .env("FERROWAVE_SYSTEM_ROOT", self.root.path())
            .env("STAND_IN_MACHINE", self.machine)
            .env("STAND_IN_FAULT", self.fault);
        let ended = child::run(&mut command, LIMIT).expect("the binary runs");
        let End::Code(code) = ended.end else {
            panic!(
                "{arguments:?}: {}: {}{}",
                ended.end, ended.output, ended.error
            );
        };
        assert!(
            !ended.error.contains("panicked"),
            "{arguments:?}: {}",
            ended.error
        );
        Answer {
            code,
            output: ended.output,
            error: ended.error,
        }
    }
}

impl Answer {
    /// The answer, if the exit code is this and standard output and error have all of `parts`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32, parts: &[&str]) -> Self {
        let all = format!("{}{}", self.output, self.error);
        assert_eq!(self.code, code, "{all}");
        for part in parts {
            assert!(all.contains(part), "no `{part}` in: {all}");
        }
        self
    }

    /// Standard output, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.output)
            .unwrap_or_else(|error| panic!("{error}: {}", self.output))
    }
}
