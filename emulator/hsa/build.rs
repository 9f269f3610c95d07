//! Gives the library the file name and soname of ROCm's. Cargo allows no hyphen in the name of a library's file, so that
//! the name under which programs look for it is a link.

mod soname;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=soname.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        soname::set("libhsa_runtime64.so", &["libhsa-runtime64.so"]);
    }
}
