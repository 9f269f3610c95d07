//! Queries of profilers and debuggers: names by number, and the library's build.
//!
//! Source of the results: `hip_intercept.cpp`, `hip_activity.cpp` and `hip_global.cpp` of ROCm's clr.

use std::{
    ffi::{CString, c_char, c_uint},
    ptr,
    sync::LazyLock,
};

use ferrowave_hip_abi::hipTracerCallback_t;

use super::error::{is_absent, warn};

/// Index `n` has the name of number `n` + 1; empty if the number is unused.
static API_NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
    let lines = include_str!("api_names.txt").lines();
    let names = lines.filter(|line| !line.starts_with('#'));
    names
        .map(|name| CString::new(name.trim_matches('-')).unwrap_or_default())
        .collect()
});

pub(super) unsafe fn hipApiName(id: u32) -> *const c_char {
    let name = (id as usize).checked_sub(1).and_then(|i| API_NAMES.get(i));
    let name = name.filter(|name| !name.is_empty());
    name.map_or(c"unknown".as_ptr(), |name| name.as_ptr())
}

/// Numbers are those of OpenCL's commands (`CL/cl.h`), names those of ROCm (`getOclCommandKindString` of
/// `rocclr/platform/activity.cpp`).
pub(super) unsafe fn hipGetCmdName(operation: c_uint) -> *const c_char {
    let name = match operation {
        0 => c"InternalMarker",
        0x11f0 => c"KernelExecution",
        0x11f1 => c"Task",
        0x11f2 => c"NativeKernel",
        0x11f3 => c"CopyDeviceToHost",
        0x11f4 => c"CopyHostToDevice",
        0x11f5 => c"CopyDeviceToDevice",
        0x11f6 => c"ReadImage",
        0x11f7 => c"WriteImage",
        0x11f8 => c"CopyImage",
        0x11f9 => c"CopyImageToBuffer",
        0x11fa => c"CopyBufferToImage",
        0x11fb => c"MapBuffer",
        0x11fc => c"MapImage",
        0x11fd => c"UnmapMemObject",
        0x11fe => c"Marker",
        0x11ff => c"AcquireGLObjects",
        0x1200 => c"ReleaseGLObjects",
        0x1201 => c"CopyDeviceToHost2D",
        0x1202 => c"CopyHostToDevice2D",
        0x1203 => c"CopyDeviceToDevice2D",
        0x1204 => c"User",
        0x1205 => c"Barrier",
        0x1206 => c"MigrateMemObjects",
        0x1207 => c"FillBuffer",
        0x1208 => c"FillImage",
        0x1209 => c"SvmFree",
        0x120a => c"SvmMemcpy",
        0x120b => c"SvmMemFill",
        0x120c => c"SvmMap",
        0x120d => c"SvmUnmap",
        0x4501 => c"StreamWait",
        0x4502 => c"StreamWrite",
        _ => c"Unknown command kind",
    };
    name.as_ptr()
}

/// ROCm's library asks the function at every call whether to report it. The emulator never calls it, and says so.
pub(super) unsafe fn hipRegisterTracerCallback(function: hipTracerCallback_t) {
    if function.is_some() {
        warn("hipRegisterTracerCallback: the emulator reports no calls to profilers");
    }
}

/// ROCm before 6.0 compiled with a precompiled header that the library holds. A program that gets none includes the
/// header's text instead.
pub(super) unsafe fn __hipGetPCH(pch: *mut *const c_char, size: *mut c_uint) {
    if !is_absent(pch) {
        // SAFETY: HIP's contract: null or a variable of that type.
        unsafe { pch.write_unaligned(ptr::null()) }
    }
    if !is_absent(size) {
        // SAFETY: as above.
        unsafe { size.write_unaligned(0) }
    }
}

pub(super) unsafe fn amd_dbgapi_get_build_name() -> *const c_char {
    c"Ferrowave".as_ptr()
}

pub(super) unsafe fn amd_dbgapi_get_git_hash() -> *const c_char {
    c"unknown".as_ptr()
}

pub(super) unsafe fn amd_dbgapi_get_build_id() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn names_by_number() {
        // SAFETY: the function returns static texts.
        let api = |id| unsafe { CStr::from_ptr(hipApiName(id)) };
        // SAFETY: the function returns static texts.
        let command = |id| unsafe { CStr::from_ptr(hipGetCmdName(id)) };
        // From hip_prof_str.h: HIP_API_ID_hipCtxCreate, HIP_API_ID_RESERVED_50, HIP_API_ID_LAST.
        assert_eq!(api(1), c"__hipPopCallConfiguration");
        assert_eq!(api(8), c"hipCtxCreate");
        assert_eq!(API_NAMES.len(), 418);
        for id in [0, 50, 419, u32::MAX] {
            assert_eq!(api(id), c"unknown");
        }
        assert_eq!(command(0x1207), c"FillBuffer");
        assert_eq!(command(1), c"Unknown command kind");
    }
}
