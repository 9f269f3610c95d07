//! Shared by both libraries' build scripts: names a library as programs load it.

use std::{env, fs, os::unix::fs::symlink, path::Path};

/// Gives `library` the soname `names[0]`, and creates links with these names beside it in Cargo's target folder, so
/// that the folder can be put on the library path.
pub(crate) fn set(library: &str, names: &[&str]) {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{}", names[0]);
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    // Cargo builds `target/PROFILE/libNAME.so`; the build scripts' folders are in `target/PROFILE/build`.
    let profile = Path::new(&out)
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "build"))
        .and_then(Path::parent);
    for name in names {
        let link = profile.map(|folder| folder.join(name));
        let Some(link) = link.filter(|link| {
            fs::read_link(link)
                .ok()
                .is_none_or(|to| to != Path::new(library))
        }) else {
            continue;
        };
        let _ = fs::remove_file(&link);
        if let Err(error) = symlink(library, &link) {
            println!(
                "cargo::warning={} cannot be a link to {library}: {error}",
                link.display()
            );
        }
    }
}
