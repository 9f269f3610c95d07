//! Sets the library's soname and its symbol versions.

mod soname;

use std::{env, fmt::Write as _, fs, path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=soname.rs");
    println!("cargo::rustc-check-cfg=cfg(symbol_versions)");
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    let out = Path::new(&out);
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    if is_linux {
        // Programs linked against ROCm 6 or 7 load the library by these names.
        soname::set("libamdhip64.so", &["libamdhip64.so.6", "libamdhip64.so.7"]);
        // The library's threads outlive a `dlclose`, so its code must stay mapped.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let versions = read_versions("versions.txt");
    if let Some(arguments) = lld() {
        // rustc passes an anonymous version script. LLD accepts one with named versions beside it, provided that the
        // object files assign symbols to the versions. GNU ld does not.
        let map = out.join("versions.map");
        fs::write(&map, version_script(&versions)).expect("OUT_DIR can be written");
        println!(
            "cargo::rustc-cdylib-link-arg=-Wl,--version-script={}",
            map.display()
        );
        for argument in arguments {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
        println!("cargo::rustc-cfg=symbol_versions");
    }
    fs::write(out.join("versions.rs"), version_macro(&versions)).expect("OUT_DIR can be written");
}

fn variable(name: &str) -> String {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).unwrap_or_default()
}

/// The arguments that make the linker the pinned toolchain's LLD, or nothing if it cannot be.
///
/// rustc takes it by itself on x86-64. Elsewhere it calls the C compiler with its usual linker, so the C compiler is asked.
fn lld() -> Option<Vec<String>> {
    const OTHERS: [&str; 4] = ["linker=", "linker-flavor=", "linker-features=", "-fuse-ld="];
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let target = variable("TARGET");
    if !target.ends_with("-linux-gnu") || OTHERS.iter().any(|other| flags.contains(other)) {
        return None;
    }
    let chosen = variable("RUSTC_LINKER");
    if target == "x86_64-unknown-linux-gnu" && chosen.is_empty() {
        return Some(Vec::new());
    }
    let host = env::var("HOST").expect("cargo sets it");
    if chosen.is_empty() && target != host {
        return None;
    }
    let compiler = if chosen.is_empty() { "cc" } else { &chosen };
    let output = |command: &mut Command| {
        let output = command
            .output()
            .ok()
            .filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let sysroot = output(Command::new(env::var_os("RUSTC")?).args(["--print", "sysroot"]))?;
    let folder = format!("{sysroot}/lib/rustlib/{host}/bin/gcc-ld");
    let arguments = vec![format!("-B{folder}"), "-fuse-ld=lld".to_owned()];
    let linker = output(Command::new(compiler).args(&arguments).arg("-Wl,--version"))?;
    linker.starts_with("LLD ").then_some(arguments)
}

/// The versions in order, each with its symbols.
fn read_versions(path: &str) -> Vec<(String, Vec<String>)> {
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(path).expect("the list of versions is there");
    let mut versions: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix("    "), versions.last_mut()) {
            (Some(symbol), Some((_, symbols))) => symbols.push(symbol.to_owned()),
            (None, _) if !line.is_empty() => versions.push((line.to_owned(), Vec::new())),
            _ => {}
        }
    }
    versions
}

/// The versions without symbols: the object files assign symbols to them.
fn version_script(versions: &[(String, Vec<String>)]) -> String {
    let mut script = String::new();
    let mut before = "";
    for (version, _) in versions {
        let _ = writeln!(script, "{version} {{ }} {before};");
        before = version;
    }
    script
}

/// `version!(NAME)`: the directive that gives a function's symbol its version, or an empty text if it has none.
fn version_macro(versions: &[(String, Vec<String>)]) -> String {
    let mut text = String::from("macro_rules! version {\n");
    for (version, symbols) in versions {
        for name in symbols {
            let _ = writeln!(
                text,
                "({name}) => {{ \".symver {name}, {name}@@{version}\" }};"
            );
        }
    }
    text + "($other:ident) => { \"\" };\n}\n"
}
