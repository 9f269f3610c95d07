//! Gives the library the file name and soname of ROCm's.

mod soname;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=soname.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        soname::set("librocm_smi64.so", &["librocm_smi64.so.1"]);
    }
}
