//! The library as other programs use it: its symbols, its names, and that it behaves as the emulator in the same
//! process.
//!
//! The environment decides which library is loaded, so each such test runs this program again in a child process, with
//! only the test [`the_program_runs_to_its_end`].

mod built;
mod program;

use std::{collections::BTreeSet, env, fs, os::unix::fs::symlink, path::Path, process::Command};

use built::library;
use ferrowave_gpu::Gpu;
use ferrowave_hip_abi::{
    for_each_hip_function, for_each_hiprtc_function, for_each_unsupported_hip_function,
};
use ferrowave_host::hip::{DEVICE_VARIABLE, Device, DeviceSelector, LIBRARY_VARIABLE};
use object::{Endianness, Object, ObjectSymbol, read::elf::ElfFile64};

/// The device that the child opens.
const SELECTOR_VARIABLE: &str = "FERROWAVE_TEST_SELECTOR";
/// The library's file.
const NAME: &str = "libamdhip64.so";
/// Precedes each line of the child's answer.
const ANSWER: &str = "answer: ";

/// A run of [`the_program_runs_to_its_end`] in a child process.
struct Child(Command);

impl Child {
    fn new(selector: &str) -> Self {
        let mut command = Command::new(env::current_exe().expect("the test has a path"));
        command
            .args([
                "--exact",
                "the_program_runs_to_its_end",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(SELECTOR_VARIABLE, selector)
            .env_remove(LIBRARY_VARIABLE)
            .env_remove(DEVICE_VARIABLE);
        Child(command)
    }

    fn with(mut self, variable: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(variable, value);
        self
    }

    /// The lines of its answer.
    fn answer(mut self) -> Vec<String> {
        let output = self.0.output().expect("the child starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let lines = text.lines().filter_map(|line| line.strip_prefix(ANSWER));
        lines.map(str::to_owned).collect()
    }
}

/// Without the variable the test uses an emulated device; with it, the requested device, and it answers another test.
#[test]
fn the_program_runs_to_its_end() {
    let Ok(selector) = env::var(SELECTOR_VARIABLE) else {
        let device = Device::open(&DeviceSelector::Emulator(Gpu::Gfx942)).expect("the emulator");
        let lines = program::run(&device);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("drops: []"),
            "{lines:#?}"
        );
        return;
    };
    // The test harness may have begun a line.
    println!();
    match Device::open(&selector.parse().expect("a selector")) {
        Ok(device) => {
            println!("{ANSWER}{}", device.choice());
            for line in program::run(&device) {
                println!("{ANSWER}{line}");
            }
        }
        Err(error) => println!("{ANSWER}{error}"),
    }
}

#[test]
fn the_library_does_what_the_emulator_in_process_does() {
    let path = library(NAME);
    for gpu in ["gfx908", "gfx90a", "gfx942", "gfx950"] {
        let emulator = format!("emulator:{gpu}");
        let loaded = Child::new("hip:0")
            .with(LIBRARY_VARIABLE, &path)
            .with(DEVICE_VARIABLE, &emulator)
            .answer();
        let in_process = Child::new(&emulator).answer();
        assert!(
            loaded[0].starts_with("hip:0: AMD Instinct "),
            "{}",
            loaded[0]
        );
        let through = format!(
            "({gpu}, emulated by Ferrowave) through {}, as asked for",
            path.display()
        );
        assert!(loaded[0].ends_with(&through), "{}", loaded[0]);
        assert!(in_process.len() > 10, "{in_process:#?}");
        assert_eq!(loaded[1..], in_process[1..]);
    }
}

#[test]
fn it_is_found_by_each_of_its_names() {
    for name in ["libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7"] {
        let directory = env::temp_dir().join(format!("ferrowave-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        symlink(library(NAME), directory.join(name)).expect("a link");
        let answer = Child::new("auto")
            .with("LD_LIBRARY_PATH", &directory)
            .answer();
        fs::remove_dir_all(&directory).expect("the directory goes");
        // The file that a link leads to is named if it has the link's name, perhaps with more of the version.
        let through = match name {
            NAME => library(NAME).display().to_string(),
            other => other.to_owned(),
        };
        assert_eq!(
            answer[0],
            format!(
                "hip:0: AMD Instinct MI300X (gfx942, emulated by Ferrowave) through {through}, the first of HIP's devices, \
                 of which there are 1"
            )
        );
    }
}

#[test]
fn the_variable_may_list_devices() {
    let second = |selector| {
        let child = Child::new(selector).with(LIBRARY_VARIABLE, library(NAME));
        child
            .with(DEVICE_VARIABLE, "emulator:gfx942,emulator:gfx908")
            .answer()
            .remove(0)
    };
    assert!(second("hip:1").contains("gfx908"));
    assert_eq!(
        second("hip:2"),
        "`hip:2` was asked for, but HIP has only hip:0 to hip:1"
    );
}

#[test]
fn a_device_that_the_emulator_has_not_is_said_and_not_replaced() {
    let child = Child::new("hip:0").with(LIBRARY_VARIABLE, library(NAME));
    assert_eq!(
        child.with(DEVICE_VARIABLE, "emulator:gfx1030").answer(),
        [
            "`hip:0` was asked for, but HIP cannot be used: hipInit failed with hipErrorNoDevice (100): \
             no ROCm-capable device is detected: FERROWAVE_DEVICE is `emulator:gfx1030`, but the emulator has only gfx908 (MI100), \
             gfx90a (MI210, MI250X), gfx942 (MI300X), gfx950 (MI355X), gfx1100 (RX 7900 XTX, RX 7900 XT, PRO W7900), \
             gfx1101 (RX 7800 XT), gfx1102 (RX 7600), gfx1150 (Radeon 890M), gfx1151 (Radeon 8060S), gfx1200 (RX 9060 XT), gfx1201 (RX 9070 XT, \
             RX 9070, AI PRO R9700), and lists of them with commas, as in \
             emulator:gfx90a,emulator:MI250X"
        ]
    );
}

#[test]
fn what_is_no_hip_library_is_refused() {
    let answer = |library: &str| {
        Child::new("hip:0")
            .with(LIBRARY_VARIABLE, library)
            .answer()
            .remove(0)
    };
    let other = answer("libc.so.6");
    let end = "/libc.so.6` lacks the function hipInit; ROCm 6.0 or later has it";
    assert!(
        other.starts_with("`hip:0` was asked for, but HIP cannot be used: `/"),
        "{other}"
    );
    assert!(other.ends_with(end), "{other}");
    let missing = answer("/nowhere/libamdhip64.so");
    let start = "`hip:0` was asked for, but HIP cannot be used: FERROWAVE_HIP_LIBRARY names \
                 `/nowhere/libamdhip64.so`, which cannot be loaded: ";
    assert!(missing.starts_with(start), "{missing}");
    // The system's own error message.
    assert!(missing.contains("No such file"), "{missing}");
    let auto = Child::new("auto")
        .with(LIBRARY_VARIABLE, "/nowhere/libamdhip64.so")
        .answer()
        .remove(0);
    let start = "emulator:gfx942: AMD Instinct MI300X (gfx942, emulated by Ferrowave), as HIP cannot be used: FERROWAVE_HIP_LIBRARY names";
    assert!(auto.starts_with(start), "{auto}");
}

macro_rules! names {
    ($($(#[$meta:meta])* $kind:ident fn $name:ident($($arguments:tt)*) -> $result:ty;)*) => {
        [$(stringify!($name)),*]
    };
}

macro_rules! plain_names {
    ($($name:ident $(($($pointer:ident),*))?)*) => {
        [$(stringify!($name)),*]
    };
}

#[test]
fn it_exports_the_table_and_nothing_else() {
    let bytes = fs::read(library(NAME)).expect("the library is there");
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).expect("it is an ELF file");
    let exported: BTreeSet<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| symbol.name().expect("symbols have names"))
        .collect();
    let offered = BTreeSet::from(for_each_hip_function!(names));
    let refused = BTreeSet::from(for_each_unsupported_hip_function!(plain_names));
    assert!(offered.is_disjoint(&refused));
    let mut expected: BTreeSet<_> = offered.union(&refused).copied().collect();
    expected.extend(for_each_hiprtc_function!(names));
    // Also under their C++ names.
    let listed = listed_versions().into_iter().flat_map(|(_, names)| names);
    expected.extend(listed.filter(|name| name.starts_with("_Z")));
    let differences: Vec<_> = exported.symmetric_difference(&expected).collect();
    assert!(differences.is_empty(), "{differences:?}");
    // Programs linked against ROCm 6 load this name.
    let name = b"\0libamdhip64.so.6\0";
    let strings = file
        .section_by_name_bytes(b".dynstr")
        .expect("it has dynamic strings");
    let strings = object::ObjectSection::data(&strings).expect("they are in the file");
    assert!(strings.windows(name.len()).any(|window| window == name));
}

/// The list of versions, read independently of the build script.
fn listed_versions() -> Vec<(&'static str, Vec<&'static str>)> {
    let text = include_str!("../versions.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut versions: Vec<(&str, Vec<&str>)> = Vec::new();
    for word in lines.map(str::trim).filter(|line| !line.is_empty()) {
        match versions.last_mut() {
            Some((_, symbols)) if !word.starts_with("hip_") => symbols.push(word),
            _ => versions.push((word, Vec::new())),
        }
    }
    versions
}

#[test]
#[cfg_attr(not(symbol_versions), ignore = "only LLD gives versions")]
fn symbols_have_the_versions_of_rocm() {
    let bytes = fs::read(library(NAME)).expect("the library is there");
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).expect("it is an ELF file");
    let versions = file
        .elf_section_table()
        .versions(Endianness::Little, &*bytes)
        .expect("its versions can be read")
        .expect("it has versions");
    let listed = listed_versions();
    assert!(
        listed.len() > 10 && listed[0].1.contains(&"hipInit"),
        "{listed:?}"
    );
    let expected = |name: &str| {
        let mut listed = listed.iter();
        listed.find_map(|(version, symbols)| symbols.contains(&name).then_some(*version))
    };
    let mut with_version = 0;
    for symbol in file.dynamic_symbols().filter(ObjectSymbol::is_definition) {
        let name = symbol.name().expect("symbols have names");
        let index = versions.version_index(Endianness::Little, symbol.index());
        let version = versions.version(index.into()).expect("it is defined");
        let version = version.map(|version| String::from_utf8_lossy(version.name()).into_owned());
        assert_eq!(version.as_deref(), expected(name), "{name}");
        assert!(!index.is_hidden(), "{name}");
        with_version += usize::from(version.is_some());
    }
    // Every name of ROCm's library is exported.
    let listed: usize = listed.iter().map(|(_, symbols)| symbols.len()).sum();
    assert_eq!(with_version, listed);
}

/// `FERROWAVE_ROCM_LIBRARY` may name ROCm's own `libamdhip64.so.6`, as in the long tests.
#[test]
#[ignore = "needs ROCm's library in FERROWAVE_ROCM_LIBRARY"]
fn rocms_library_exports_no_other_names_and_versions() {
    let path =
        env::var_os("FERROWAVE_ROCM_LIBRARY").expect("FERROWAVE_ROCM_LIBRARY names ROCm's library");
    let of = |path: &Path| {
        let bytes = fs::read(path).expect("the library is there");
        exported_versions(&bytes)
    };
    let rocm = of(Path::new(&path));
    assert!(rocm.len() > 400, "{}", rocm.len());
    let ours = of(&library(NAME));
    let missing: Vec<_> = rocm.difference(&ours).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The symbols that a library defines, with their versions.
fn exported_versions(bytes: &[u8]) -> BTreeSet<(String, String)> {
    let file: ElfFile64<'_> = ElfFile64::parse(bytes).expect("it is an ELF file");
    let versions = file
        .elf_section_table()
        .versions(Endianness::Little, bytes)
        .expect("its versions can be read")
        .expect("it has versions");
    let defined = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    let named = defined.map(|symbol| {
        let name = symbol.name().expect("symbols have names").to_owned();
        let index = versions.version_index(Endianness::Little, symbol.index());
        let version = versions.version(index.into()).expect("it is defined");
        let version = version.map_or_else(String::new, |version| {
            String::from_utf8_lossy(version.name()).into_owned()
        });
        (name, version)
    });
    // The version definition itself is a symbol of that name.
    named.filter(|(name, version)| name != version).collect()
}

/// Links a C program against a library with ROCm's versions, and runs it on ours. The dynamic linker finds each
/// version.
#[test]
#[cfg_attr(not(symbol_versions), ignore = "only LLD gives versions")]
fn a_program_that_was_linked_to_rocm_runs_without_complaint() {
    let directory = env::temp_dir().join(format!("ferrowave-{}-versions", std::process::id()));
    fs::create_dir_all(directory.join("ours")).expect("a directory");
    let write = |name: &str, text: &str| fs::write(directory.join(name), text).expect("a file");
    let called = [
        "hipInit",
        "hipGraphCreate",
        "hipMallocAsync",
        "hipGetDevicePropertiesR0600",
        "hipGetProcAddress",
        "hipLaunchKernelExC",
    ];
    let mut script = String::new();
    let mut before = "";
    for (version, symbols) in listed_versions() {
        let here: Vec<_> = symbols.iter().filter(|s| called.contains(s)).collect();
        let here: String = here
            .iter()
            .map(|symbol| format!("global: {symbol};"))
            .collect();
        script += &format!("{version} {{ {here} }} {before};\n");
        before = version;
    }
    let define = |name: &&str| format!("int {name}() {{ return 1; }}\n");
    write("stub.c", &called.iter().map(define).collect::<String>());
    write("stub.map", &script);
    // The stub's hipInit fails. All other functions reject their null arguments.
    let calls: String = called[1..]
        .iter()
        .map(|name| format!("  if ({name}(0, 0, 0, 0, 0) != 1) return 2;\n"))
        .collect();
    let declare = |name: &&str| format!("int {name}();\n");
    let declarations: String = called.iter().map(declare).collect();
    write(
        "program.c",
        &format!(
            "{declarations}int main(void) {{\n  if (hipInit(0) != 0) return 3;\n{calls}  return 0;\n}}\n"
        ),
    );
    let compile = |arguments: &[&str]| {
        let output = Command::new("cc")
            .current_dir(&directory)
            .arg("-w")
            .args(arguments)
            .output()
            .expect("the linker of Rust programs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    compile(&[
        "-shared",
        "-fPIC",
        "-Wl,--version-script=stub.map",
        "-Wl,-soname,libamdhip64.so.6",
        "-o",
        "libamdhip64.so",
        "stub.c",
    ]);
    compile(&["program.c", "-o", "program", "-L.", "-lamdhip64"]);
    symlink(library(NAME), directory.join("ours/libamdhip64.so.6")).expect("a link");
    let output = Command::new(directory.join("program"))
        .env("LD_LIBRARY_PATH", directory.join("ours"))
        .env("LD_BIND_NOW", "1")
        .env_remove(DEVICE_VARIABLE)
        .output()
        .expect("it starts");
    fs::remove_dir_all(&directory).expect("the directory goes");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    assert!(!said.contains("version"), "{said}");
}
