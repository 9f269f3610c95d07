//! Gives the library the soname `libhsa-runtime64.so`, under which programs open it. Cargo allows no hyphen in the name of a
//! library's file, so the file with this name is a link.

mod soname;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=soname.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        soname::set("libhsa_runtime64.so", &["libhsa-runtime64.so"]);
    }
}
