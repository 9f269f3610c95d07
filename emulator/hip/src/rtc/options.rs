//! Compiler options: those of the program, and those that hiprtc adds.
//!
//! Source: `RTCCompileProgram` and `hiprtcCompileProgram` of ROCm's clr, `hipamd/src/hiprtc`.

use std::ffi::{CStr, CString};

use super::builtin;
use crate::device::VERSION;

/// Environment variable: options for every program, separated by spaces. They follow hiprtc's own.
pub(super) const APPEND_VARIABLE: &str = "HIPRTC_COMPILE_OPTIONS_APPEND";

/// Environment variable: options for every link, separated by spaces.
pub(super) const LINK_APPEND_VARIABLE: &str = "HIPRTC_LINK_OPTIONS_APPEND";

/// Disables the built-in header, for programs that include HIP's headers.
const NO_BUILTIN: &[u8] = b"--hiprtc-no-builtin-header";

const BITCODE: &[u8] = b"-fgpu-rdc";

/// The options of a compilation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The target that the program names, like `gfx90a:xnack-`; `None` for the current device's.
    pub(super) target: Option<Vec<u8>>,
    /// The compiler options, in order.
    pub(super) list: Vec<CString>,
    /// Whether to produce bitcode, for linking.
    pub(super) is_bitcode: bool,
}

impl Options {
    /// Combines the program's options and those in `append`.
    pub(super) fn new(passed: &[&CStr], append: &str) -> Self {
        let (major, minor) = (VERSION / 10_000_000, VERSION / 100_000 % 100);
        let patch = VERSION % 100_000;
        let mut list: Vec<CString> = Vec::new();
        // Neither C strings nor the environment contain a NUL.
        let mut add = |option: &[u8]| list.extend(CString::new(option));
        add(b"-O3");
        add(format!("--hip-version={major}.{minor}.{patch}").as_bytes());
        for (part, value) in [("MAJOR", major), ("MINOR", minor), ("PATCH", patch)] {
            add(format!("-DHIP_VERSION_{part}={value}").as_bytes());
        }
        add(b"-std=c++14");
        add(b"-Wno-gnu-line-marker");
        add(b"-Wno-missing-prototypes");
        append
            .split_ascii_whitespace()
            .for_each(|option| add(option.as_bytes()));
        if !passed.iter().any(|option| option.to_bytes() == NO_BUILTIN) {
            add(b"-D__HIPCC_RTC__");
            add(b"-nogpuinc");
            add(b"-include");
            add(builtin::NAME.to_bytes());
        }
        for option in passed.iter().map(|option| option.to_bytes()) {
            match option.strip_prefix(b"--gpu-architecture=") {
                // CUDA's spelling of the option.
                Some(target) => add(&[b"--offload-arch=", target].concat()),
                None if matches!(option, NO_BUILTIN | b"-hip-pch" | b"") => {}
                None => add(option),
            }
        }
        let is_bitcode = passed.iter().any(|option| option.to_bytes() == BITCODE);
        let mut targets = list
            .iter()
            .filter_map(|option| option.to_bytes().strip_prefix(b"--offload-arch="));
        Options {
            target: targets.next().map(<[u8]>::to_vec),
            list,
            is_bitcode,
        }
    }
}

/// The target's name in comgr.
pub(super) fn isa(target: &[u8]) -> CString {
    // The target comes from a text without NULs.
    CString::new([b"amdgcn-amd-amdhsa--", target].concat()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_options_follow_the_defaults() {
        let options = Options::new(
            &[
                c"--gpu-architecture=gfx90a:xnack-",
                c"-hip-pch",
                c"-DN=3",
                c"--std=c++17",
                c"--offload-arch=gfx942",
            ],
            "-g  -O1",
        );
        let list: Vec<_> = options.list.iter().map(|o| o.to_str().unwrap()).collect();
        let expected = [
            "-O3",
            "--hip-version=6.4.0",
            "-DHIP_VERSION_MAJOR=6",
            "-DHIP_VERSION_MINOR=4",
            "-DHIP_VERSION_PATCH=0",
            "-std=c++14",
            "-Wno-gnu-line-marker",
            "-Wno-missing-prototypes",
            "-g",
            "-O1",
            "-D__HIPCC_RTC__",
            "-nogpuinc",
            "-include",
            "hiprtc_runtime.h",
            "--offload-arch=gfx90a:xnack-",
            "-DN=3",
            "--std=c++17",
            "--offload-arch=gfx942",
        ];
        assert_eq!(list, expected);
        assert_eq!(options.target.as_deref(), Some(&b"gfx90a:xnack-"[..]));
        assert!(!options.is_bitcode);
        assert_eq!(
            isa(b"gfx90a:xnack-").as_c_str(),
            c"amdgcn-amd-amdhsa--gfx90a:xnack-"
        );
    }

    #[test]
    fn the_builtin_header_can_be_left_out() {
        let options = Options::new(&[c"--hiprtc-no-builtin-header", c"-fgpu-rdc"], "");
        let has = |option: &CStr| options.list.iter().any(|other| **other == *option);
        assert!(!has(c"-include") && !has(c"-D__HIPCC_RTC__"));
        assert!(!has(c"--hiprtc-no-builtin-header") && has(c"-fgpu-rdc"));
        assert_eq!((options.target, options.is_bitcode), (None, true));
    }
}
