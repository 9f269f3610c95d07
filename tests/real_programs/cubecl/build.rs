//! Finds cubek-matmul's tests in the source of its crate, in cargo's folder.

use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=Cargo.toml");
    let cargo = env::var_os("CARGO").expect("cargo sets it");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform"])
        .arg(env::var_os("TARGET").expect("cargo sets it"))
        .output()
        .expect("cargo runs");
    let metadata = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    // Only one field of one crate is needed: that of the only manifest whose folder has this name.
    let manifest = metadata
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.ends_with("/cubek-matmul-0.2.0/Cargo.toml"))
        .expect("cubek-matmul is a dependency");
    let suite = PathBuf::from(manifest).with_file_name("tests/suite/mod.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("suite.rs"), format!("#[path = {suite:?}]\nmod suite;\n")).expect("OUT_DIR can be written");
}
