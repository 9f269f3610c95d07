//! The environment of the inner cargo.

use std::{ffi::OsString, process::Command};

/// Cargo settings that the user made for every build on this machine.
const KEPT: [&str; 9] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
    "CARGO_LOG",
    // The outer cargo's job server, so that the two share their number of jobs.
    "CARGO_MAKEFLAGS",
];

/// Variables that cargo sets for build scripts and for programs that it runs. They describe the crate that the outer
/// cargo builds, for another target. `CARGO_ENCODED_RUSTFLAGS` would even make the build fail: it hides the flags for
/// the GPU.
const SCRUBBED_PREFIXES: [&str; 4] = ["CARGO", "RUSTC", "RUSTDOC", "DEP_"];
const SCRUBBED: [&str; 10] = [
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "OUT_DIR",
    "TARGET",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "PROFILE",
    "DEBUG",
    "__CARGO_DEFAULT_LIB_METADATA",
];

/// Removes the outer cargo's variables from the environment of `command`.
pub(crate) fn scrub(command: &mut Command, variables: impl Iterator<Item = OsString>) {
    for name in variables {
        let text = name.to_string_lossy();
        let kept = KEPT
            .iter()
            .any(|kept| text == *kept || kept.ends_with('_') && text.starts_with(kept));
        let scrubbed = SCRUBBED.contains(&&*text)
            || SCRUBBED_PREFIXES
                .iter()
                .any(|prefix| text.starts_with(prefix));
        if scrubbed && !kept {
            command.env_remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_of_the_machine_remain() {
        let check = |name: &str, remains: bool| {
            let mut command = Command::new("cargo");
            scrub(&mut command, std::iter::once(name.into()));
            let removed = command
                .get_envs()
                .any(|(key, value)| key == name && value.is_none());
            assert_eq!(!removed, remains, "{name}");
        };
        for name in [
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_TARGET",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_TARGET_AMDGCN_AMD_AMDHSA_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_DEBUG",
            "CARGO_MANIFEST_DIR",
            "CARGO_FEATURE_SIMD",
            "RUSTUP_TOOLCHAIN",
            "OUT_DIR",
            "TARGET",
            "DEP_Z_ROOT",
        ] {
            check(name, false);
        }
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_HTTP_PROXY",
            "CARGO_REGISTRIES_MINE_INDEX",
            "CARGO_TERM_COLOR",
            "CARGO_MAKEFLAGS",
            "PATH",
            "HOME",
            "RUSTUP_HOME",
            "TARGETS",
        ] {
            check(name, true);
        }
    }
}
