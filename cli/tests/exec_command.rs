//! `ferrowave exec` and `ferrowave env`: small C programs that are linked as ROCm's releases link programs, and programs that
//! cannot run on the emulator.

#[path = "../../emulator/hip/lib/tests/built/mod.rs"]
mod built;

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, process::ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// Prints the first device's name and the arguments. Its exit code is 7; with `signal`, SIGTERM ends it.
const PROGRAM: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <string.h>
int hipDeviceGetName(char *name, int length, int device);
int main(int count, char **arguments) {
    char name[256] = "none";
    int error = hipDeviceGetName(name, sizeof name, 0);
    printf("%d %s\n", error, name);
    for (int i = 0; i < count; i++) printf("<%s>\n", arguments[i]);
    fflush(stdout);
    if (count > 1 && !strcmp(arguments[1], "signal")) raise(SIGTERM);
    return 7;
}
"#;

/// A folder with `ferrowave` and the emulator's library side by side, as a wheel or an archive has them.
struct Installed {
    folder: TempDir,
}

struct Answer {
    output: Output,
    text: String,
    error: String,
}

impl Installed {
    fn new() -> Self {
        Self::named("bin")
    }

    fn named(bin: &str) -> Self {
        let folder =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("the folder can be written");
        fs::create_dir(folder.path().join(bin)).expect("the folder can be written");
        let installed = Installed { folder };
        link(
            Path::new(env!("CARGO_BIN_EXE_ferrowave")),
            &installed.path(bin).join("ferrowave"),
        );
        link(
            &built::library("libamdhip64.so"),
            &installed.path(bin).join("libamdhip64.so"),
        );
        installed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/ferrowave"));
        command.args(arguments);
        self.set(&mut command);
        command
    }

    fn set(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("FERROWAVE_CACHE", self.path("cache"))
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("FERROWAVE_DEVICE");
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(&mut self.command(arguments))
    }

    /// A program that is linked with a library of this soname and with these linker options.
    fn program(&self, name: &str, soname: &str, options: &[&str]) -> PathBuf {
        let stub = self.path("libstub.so");
        let soname = format!("-Wl,-soname,{soname}");
        compile(
            "int hipDeviceGetName(char *n, int l, int d) { return -1; }",
            &stub,
            &["-shared", "-fPIC", &soname],
        );
        let program = self.path(name);
        compile(
            PROGRAM,
            &program,
            &[&[stub.to_str().expect("a plain path")], options].concat(),
        );
        fs::remove_file(stub).expect("the folder can be written");
        program
    }
}

impl Answer {
    fn of(command: &mut Command) -> Self {
        let output = command.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!error.contains("panicked"), "{error}");
        Answer {
            output,
            text,
            error,
        }
    }

    #[track_caller]
    fn expect(&self, code: i32, parts: &[&str]) {
        let all = format!("{}{}", self.text, self.error);
        assert_eq!(self.output.status.code(), Some(code), "{all}");
        for part in parts {
            assert!(all.contains(part), "no `{part}` in: {all}");
        }
    }
}

fn link(from: &Path, to: &Path) {
    fs::hard_link(from, to)
        .or_else(|_| fs::copy(from, to).map(drop))
        .expect("the folder can be written");
}

/// Compiles with a C compiler, which building Rust also needs.
fn compile(source: &str, output: &Path, options: &[&str]) {
    let file = output.with_extension("c");
    fs::write(&file, source).expect("the folder can be written");
    let mut command = Command::new("cc");
    command.arg(&file).arg("-o").arg(output).args(options);
    let done = command.output().expect("a C compiler, cc");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn programs_of_rocm_5_6_and_7_find_the_emulator() {
    let installed = Installed::new();
    for soname in [
        "libamdhip64.so.5",
        "libamdhip64.so.6",
        "libamdhip64.so.7",
        "libamdhip64.so",
    ] {
        installed.program("program", soname, &[]);
        let answer = installed.run(&[
            "exec",
            "--gpu",
            "gfx90a",
            "--",
            "./program",
            "--quiet",
            "two words",
        ]);
        answer.expect(
            7,
            &[
                "0 AMD Instinct MI210 (gfx90a, emulated by Ferrowave)",
                "<./program>\n<--quiet>\n<two words>\n",
            ],
        );
        let line =
            format!("./program is linked with {soname}; AMD Instinct MI210 (gfx90a), emulated by ");
        answer.expect(7, &[&line]);
        assert_eq!(answer.error.lines().count(), 1, "{}", answer.error);
    }
    let quiet = installed.run(&["exec", "--quiet", "./program"]);
    quiet.expect(7, &["0 AMD Instinct MI300X"]);
    assert_eq!(quiet.error, "");
}

#[test]
fn a_programs_signal_is_passed_on() {
    let installed = Installed::new();
    installed.program("program", "libamdhip64.so.6", &[]);
    let answer = installed.run(&["exec", "./program", "signal"]);
    assert_eq!(answer.output.status.signal(), Some(15));
    assert!(answer.text.contains("<signal>"));
}

/// Programs in PATH, scripts, and options for the emulator.
#[test]
fn scripts_run_and_options_become_variables() {
    let installed = Installed::new();
    let script = installed.path("print-settings");
    fs::write(&script, "#!/bin/sh\necho \"$FERROWAVE_DEVICE|$FERROWAVE_CHECK|$FERROWAVE_TIMING|$FERROWAVE_TIMING_ESTIMATE|$FERROWAVE_TRACE\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", installed.folder.path().display());
    let mut command = installed.command(&[
        "exec",
        "--gpu",
        "gfx942,MI250X",
        "--check",
        "races,memory",
        "--timing",
        "MI210",
        "--estimate",
        "--trace",
        "api,t.json",
        "print-settings",
    ]);
    let answer = Answer::of(command.env("PATH", path));
    answer.expect(
        0,
        &[
            "gfx942,MI250X|memory,races|MI210|1|api,t.json\n",
            "print-settings, run by /bin/sh, is not linked with HIP",
        ],
    );
}

#[test]
fn an_existing_library_path_is_kept_behind() {
    let installed = Installed::new();
    let mut command = installed.command(&[
        "exec",
        "--quiet",
        "sh",
        "-c",
        "echo $LD_LIBRARY_PATH; echo $HIP_PATH; echo $TRITON_LIBHIP_PATH",
    ]);
    let answer = Answer::of(command.env("LD_LIBRARY_PATH", "/one:/two"));
    let lines: Vec<_> = answer.text.lines().collect();
    let folder = lines[0]
        .strip_suffix(":/one:/two")
        .expect("the old folders");
    let file = format!("{folder}/libamdhip64.so");
    assert_eq!(lines[1..], [&*file, &*file]);
    assert_eq!(
        fs::canonicalize(&file).unwrap(),
        fs::canonicalize(installed.path("bin/libamdhip64.so")).unwrap()
    );
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "libamdhip64.so",
            "libamdhip64.so.5",
            "libamdhip64.so.6",
            "libamdhip64.so.7",
            "libhiprtc.so",
            "libhiprtc.so.6",
            "libhiprtc.so.7"
        ]
    );
}

/// A shell that evaluates the output runs programs on the emulator, also with odd characters in all folders.
#[test]
fn a_shell_takes_what_env_prints() {
    let installed = Installed::named("b i'n $x");
    installed.program("program", "libamdhip64.so.6", &[]);
    for (old, ends) in [(None, ""), (Some("/one"), ":/one")] {
        let mut shell = Command::new("sh");
        shell.args(["-euc", "eval \"$('./b i'\\''n $x/ferrowave' env --gpu gfx908)\"; echo \"$LD_LIBRARY_PATH\"; ./program || echo $?"]);
        installed.set(&mut shell);
        shell.env("FERROWAVE_CACHE", installed.path("it's a \"cache\""));
        if let Some(old) = old {
            shell.env("LD_LIBRARY_PATH", old);
        }
        let answer = Answer::of(&mut shell);
        answer.expect(0, &["0 AMD Instinct MI100 (gfx908", "\n7\n"]);
        assert!(
            answer.text.lines().next().unwrap().ends_with(ends),
            "{}",
            answer.text
        );
    }
    let mut command = Command::new(installed.path("b i'n $x/ferrowave"));
    installed.set(command.arg("env"));
    Answer::of(command.env("FERROWAVE_CACHE", "/tmp/a:b"))
        .expect(1, &["/tmp/a:b", "cannot be on the library path"]);
}

#[test]
fn programs_that_cannot_run_on_the_emulator_are_refused_with_the_reason() {
    let installed = Installed::new();
    let refused = |name: &str, code: i32, parts: &[&str]| {
        let answer = installed.run(&["exec", name]);
        answer.expect(code, parts);
        assert_eq!(answer.text, "", "{name} has run");
    };
    refused("./missing", 127, &["error: ./missing: no such file"]);
    refused(
        "no-such-program",
        127,
        &["no-such-program: no program of this name in PATH"],
    );
    refused(".", 127, &["in PATH"]);
    refused("./bin", 126, &["it is a folder"]);

    let plain = installed.program("program", "libamdhip64.so.6", &[]);
    refused("program", 127, &["in PATH; the file here is ./program"]);
    compile(
        "int main(void) { return 0; }",
        &installed.path("static"),
        &["-static"],
    );
    refused("./static", 126, &["./static: it is linked statically"]);
    installed.program("old", "libamdhip64.so.4", &[]);
    refused("./old", 126, &["libamdhip64.so.4", "libamdhip64.so.5"]);
    installed.program("by-path", "/opt/rocm/lib/libamdhip64.so.6", &[]);
    refused(
        "./by-path",
        126,
        &[
            "/opt/rocm/lib/libamdhip64.so.6, a path",
            "patchelf --replace-needed",
        ],
    );

    let bytes = fs::read(&plain).unwrap();
    let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        fs::write(installed.path(name), bytes).unwrap();
        fs::set_permissions(installed.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    changed("narrow", &|bytes| bytes[4] = 1);
    refused("./narrow", 126, &["32-bit"]);
    changed("foreign", &|bytes| bytes[18] = 0xf3);
    refused("./foreign", 126, &["another processor (ELF machine 243)"]);
    changed("cut", &|bytes| bytes.truncate(100));
    refused("./cut", 126, &["malformed ELF file"]);
    changed("text", &|bytes| *bytes = b"echo hello\n".to_vec());
    refused("./text", 126, &["neither an ELF program nor a script"]);
    changed("loop", &|bytes| *bytes = b"#!./loop\n".to_vec());
    refused("./loop", 126, &["a script of scripts"]);
    changed("lost", &|bytes| {
        *bytes = b"#!/no/such/interpreter\n".to_vec();
    });
    refused(
        "./lost",
        126,
        &["its interpreter cannot be run: no such file"],
    );
    changed("locked", &|_| ());
    fs::set_permissions(installed.path("locked"), fs::Permissions::from_mode(0o644)).unwrap();
    refused("./locked", 126, &["it is not executable"]);
    fs::write(installed.path("source.hip"), "int main() {}\n").unwrap();
    refused(
        "./source.hip",
        126,
        &["neither an ELF program nor a script"],
    );
    changed("kernels.elf", &|bytes| bytes[18] = 224);
    refused(
        "./kernels.elf",
        126,
        &["code for a GPU, not a program", "--code-object"],
    );
    fs::set_permissions(
        installed.path("kernels.elf"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    refused("./kernels.elf", 126, &["code for a GPU, not a program"]);
    refused("./bin/libamdhip64.so", 126, &["a library"]);
}

#[test]
fn a_program_that_brings_its_own_library_is_refused_only_if_the_loader_takes_it() {
    let installed = Installed::new();
    let rpath = "-Wl,-rpath,$ORIGIN/own";
    fs::create_dir(installed.path("own")).unwrap();
    installed.program(
        "rpath",
        "libamdhip64.so.6",
        &["-Wl,--disable-new-dtags", rpath],
    );
    installed.program(
        "runpath",
        "libamdhip64.so.6",
        &["-Wl,--enable-new-dtags", rpath],
    );
    // The folder has no such library yet.
    installed
        .run(&["exec", "./rpath"])
        .expect(7, &["0 AMD Instinct MI300X"]);
    let own = installed.path("own/libamdhip64.so.6");
    compile(
        "int hipDeviceGetName(char *n, int l, int d) { return 0; }",
        &own,
        &["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"],
    );
    let answer = installed.run(&["exec", "./rpath"]);
    answer.expect(
        126,
        &["it brings its own ", "own/libamdhip64.so.6", "DT_RPATH"],
    );
    assert_eq!(answer.text, "");
    installed
        .run(&["exec", "./runpath"])
        .expect(7, &["0 AMD Instinct MI300X"]);
}

#[test]
fn wrong_options_are_refused_before_the_program_runs() {
    let installed = Installed::new();
    let refused = |arguments: &[&str], parts: &[&str]| {
        let all = [&["exec"], arguments, &["--", "sh", "-c", "echo ran"]].concat();
        let answer = installed.run(&all);
        answer.expect(2, parts);
        assert_eq!(answer.text, "");
    };
    for gpu in ["gfx1030", "hip:0", "auto", "", "gfx942,"] {
        refused(&["--gpu", gpu], &["gfx942", "with commas between"]);
    }
    refused(&["--check", "speed"], &["speed", "races"]);
    refused(&["--timing", "H100"], &["H100", "MI300X"]);
    refused(&["--trace", "everything"], &["everything", "api"]);
    installed.run(&["exec"]).expect(2, &["PROGRAM"]);
    let mut command = installed.command(&["exec", "true"]);
    Answer::of(command.env("FERROWAVE_DEVICE", "gfx1")).expect(2, &["FERROWAVE_DEVICE is `gfx1`"]);
    let mut command = installed.command(&["exec", "true"]);
    Answer::of(command.env("FERROWAVE_CACHE", "/dev/null/x"))
        .expect(1, &["/dev/null/x", "FERROWAVE_CACHE names another"]);
    fs::remove_file(installed.path("bin/libamdhip64.so")).unwrap();
    installed.run(&["exec", "true"]).expect(
        1,
        &[
            "libamdhip64.so is not there",
            "lib/ferrowave",
            "cargo build --release",
        ],
    );
}

/// A checked program without findings keeps its own exit code.
#[test]
fn a_checked_programs_exit_code_is_its_own() {
    let installed = Installed::new();
    installed.program("program", "libamdhip64.so.6", &[]);
    installed
        .run(&["exec", "--check", "all", "./program"])
        .expect(7, &["0 AMD Instinct"]);
}
