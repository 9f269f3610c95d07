//! Names the library as HIP programs ask for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Programs that were linked to ROCm 6 ask for this name. Those that load it by path or under another name don't care.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so.6");
        // Its threads outlive a `dlclose`: what they run must stay.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
