//! The header that every program gets implicitly, `hiprtc_runtime.h`: thread and block indices, vectors, atomics,
//! mathematics.
//!
//! ROCm's hiprtc embeds HIP's own headers as one preprocessed text. ROCm's `libhiprtc-builtins.so` (Debian:
//! libhiprtc-builtins6) contains exactly this text, which is loaded from there. If that library is missing, the
//! project's own `prelude.h` replaces it.

use std::{ffi::CStr, sync::LazyLock};

use super::libraries;

/// The header's name, as in ROCm; also used in messages.
pub(super) const NAME: &CStr = c"hiprtc_runtime.h";

const NAMES: [&str; 3] = [
    "libhiprtc-builtins.so.6",
    "libhiprtc-builtins.so.7",
    "libhiprtc-builtins.so",
];

const PRELUDE: &str = include_str!("prelude.h");

/// Headers that a program may include with `prelude.h`, which contains what they declare. They are passed as empty
/// files.
const COVERED: [&CStr; 3] = [
    c"hip/hip_runtime.h",
    c"hip/hip_fp16.h",
    c"hip/hip_vector_types.h",
];

/// The headers to pass to the compiler, by name.
pub(super) fn headers() -> Vec<(&'static CStr, &'static [u8])> {
    static OF_ROCM: LazyLock<Option<Vec<u8>>> = LazyLock::new(from_rocm);
    match &*OF_ROCM {
        Some(text) => vec![(NAME, text.as_slice())],
        None => {
            let covered = COVERED.map(|name| (name, &b"// In hiprtc_runtime.h.\n"[..]));
            [(NAME, PRELUDE.as_bytes())]
                .into_iter()
                .chain(covered)
                .collect()
        }
    }
}

fn from_rocm() -> Option<Vec<u8>> {
    let loaded = libraries::first(&libraries::places(&NAMES)).ok()?;
    // SAFETY: the library's two symbols are the text and its length in bytes, of 32 bits.
    unsafe {
        let start = loaded.library.get::<*const u8>(b"__hipRTC_header\0").ok()?;
        let bytes = loaded
            .library
            .get::<*const u32>(b"__hipRTC_header_size\0")
            .ok()?;
        let length = bytes.read_unaligned() as usize;
        Some(std::slice::from_raw_parts(*start, length).to_vec())
    }
}
