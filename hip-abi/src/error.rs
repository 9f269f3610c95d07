//! `hipError_t`.

use core::ffi::CStr;

/// The result of a HIP call. A struct because a library may return any value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct hipError_t(pub u32);

/// An error code with its name and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HipErrorRow {
    /// The code.
    pub code: hipError_t,
    /// HIP's name.
    pub name: &'static CStr,
    /// The text of `hipGetErrorString`, which programs show and compare (CLR's `hip_error.cpp`).
    pub meaning: &'static CStr,
}

/// Converts a NUL-terminated text to a C string.
const fn c_text(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a name or meaning holds a NUL"),
    }
}

/// Defines the codes, their aliases and the table of all codes.
macro_rules! errors {
    (
        codes { $($name:ident = $code:literal, $meaning:literal;)* }
        former { $($old:ident = $new:ident,)* }
    ) => {
        impl hipError_t {
            $(#[doc = concat!("Code ", $code, ": ", $meaning, ".")] pub const $name: Self = Self($code);)*
            $(
                #[doc = concat!("Former name of [`Self::", stringify!($new), "`].")]
                pub const $old: Self = Self::$new;
            )*

            /// All codes, in ascending order.
            pub const ALL: &'static [HipErrorRow] = &[$(HipErrorRow {
                code: Self::$name,
                name: c_text(concat!(stringify!($name), "\0")),
                meaning: c_text(concat!($meaning, "\0")),
            },)*];
        }
    };
}

impl hipError_t {
    /// The code's row in [`Self::ALL`], if it is a HIP code.
    pub fn row(self) -> Option<&'static HipErrorRow> {
        let index = Self::ALL.binary_search_by_key(&self.0, |row| row.code.0);
        index.ok().map(|index| &Self::ALL[index])
    }
}

errors! {
    codes {
        hipSuccess = 0, "no error";
        hipErrorInvalidValue = 1, "invalid argument";
        hipErrorOutOfMemory = 2, "out of memory";
        hipErrorNotInitialized = 3, "initialization error";
        hipErrorDeinitialized = 4, "driver shutting down";
        hipErrorProfilerDisabled = 5, "profiler disabled while using external profiling tool";
        hipErrorProfilerNotInitialized = 6, "profiler is not initialized";
        hipErrorProfilerAlreadyStarted = 7, "profiler already started";
        hipErrorProfilerAlreadyStopped = 8, "profiler already stopped";
        hipErrorInvalidConfiguration = 9, "invalid configuration argument";
        hipErrorInvalidPitchValue = 12, "invalid pitch argument";
        hipErrorInvalidSymbol = 13, "invalid device symbol";
        hipErrorInvalidDevicePointer = 17, "invalid device pointer";
        hipErrorInvalidMemcpyDirection = 21, "invalid copy direction for memcpy";
        hipErrorInsufficientDriver = 35, "driver version is insufficient for runtime version";
        hipErrorMissingConfiguration = 52, "__global__ function call is not configured";
        hipErrorPriorLaunchFailure = 53, "unspecified launch failure in prior launch";
        hipErrorInvalidDeviceFunction = 98, "invalid device function";
        hipErrorNoDevice = 100, "no ROCm-capable device is detected";
        hipErrorInvalidDevice = 101, "invalid device ordinal";
        hipErrorInvalidImage = 200, "device kernel image is invalid";
        hipErrorInvalidContext = 201, "invalid device context";
        hipErrorContextAlreadyCurrent = 202, "context is already current context";
        hipErrorMapFailed = 205, "mapping of buffer object failed";
        hipErrorUnmapFailed = 206, "unmapping of buffer object failed";
        hipErrorArrayIsMapped = 207, "array is mapped";
        hipErrorAlreadyMapped = 208, "resource already mapped";
        hipErrorNoBinaryForGpu = 209, "no kernel image is available for execution on the device";
        hipErrorAlreadyAcquired = 210, "resource already acquired";
        hipErrorNotMapped = 211, "resource not mapped";
        hipErrorNotMappedAsArray = 212, "resource not mapped as array";
        hipErrorNotMappedAsPointer = 213, "resource not mapped as pointer";
        hipErrorECCNotCorrectable = 214, "uncorrectable ECC error encountered";
        hipErrorUnsupportedLimit = 215, "limit is not supported on this architecture";
        hipErrorContextAlreadyInUse = 216, "exclusive-thread device already in use by a different thread";
        hipErrorPeerAccessUnsupported = 217, "peer access is not supported between these two devices";
        hipErrorInvalidKernelFile = 218, "invalid kernel file";
        hipErrorInvalidGraphicsContext = 219, "invalid OpenGL or DirectX context";
        hipErrorInvalidSource = 300, "device kernel image is invalid";
        hipErrorFileNotFound = 301, "file not found";
        hipErrorSharedObjectSymbolNotFound = 302, "shared object symbol not found";
        hipErrorSharedObjectInitFailed = 303, "shared object initialization failed";
        hipErrorOperatingSystem = 304, "OS call failed or operation not supported on this OS";
        hipErrorInvalidHandle = 400, "invalid resource handle";
        hipErrorIllegalState = 401, "the operation cannot be performed in the present state";
        hipErrorNotFound = 500, "named symbol not found";
        hipErrorNotReady = 600, "device not ready";
        hipErrorIllegalAddress = 700, "an illegal memory access was encountered";
        hipErrorLaunchOutOfResources = 701, "too many resources requested for launch";
        hipErrorLaunchTimeOut = 702, "the launch timed out and was terminated";
        hipErrorPeerAccessAlreadyEnabled = 704, "peer access is already enabled";
        hipErrorPeerAccessNotEnabled = 705, "peer access has not been enabled";
        hipErrorSetOnActiveProcess = 708, "cannot set while device is active in this process";
        hipErrorContextIsDestroyed = 709, "context is destroyed";
        hipErrorAssert = 710, "device-side assert triggered";
        hipErrorHostMemoryAlreadyRegistered = 712, "part or all of the requested memory range is already mapped";
        hipErrorHostMemoryNotRegistered = 713, "pointer does not correspond to a registered memory region";
        hipErrorLaunchFailure = 719, "unspecified launch failure";
        hipErrorCooperativeLaunchTooLarge = 720, "too many blocks in cooperative launch";
        hipErrorNotSupported = 801, "operation not supported";
        hipErrorStreamCaptureUnsupported = 900, "operation not permitted when stream is capturing";
        hipErrorStreamCaptureInvalidated = 901, "operation failed due to a previous error during capture";
        hipErrorStreamCaptureMerge = 902, "operation would result in a merge of separate capture sequences";
        hipErrorStreamCaptureUnmatched = 903, "capture was not ended in the same stream as it began";
        hipErrorStreamCaptureUnjoined = 904, "capturing stream has unjoined work";
        hipErrorStreamCaptureIsolation = 905, "dependency created on uncaptured work in another stream";
        hipErrorStreamCaptureImplicit = 906, "operation would make the legacy stream depend on a capturing blocking stream";
        hipErrorCapturedEvent = 907, "operation not permitted on an event last recorded in a capturing stream";
        hipErrorStreamCaptureWrongThread = 908, "attempt to terminate a thread-local capture sequence from another thread";
        hipErrorGraphExecUpdateFailure = 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
        hipErrorInvalidChannelDescriptor = 911, "not a channel descriptor";
        hipErrorInvalidTexture = 912, "not a texture";
        hipErrorInvalidResourceType = 914, "not a type of resource that is supported here";
        hipErrorInvalidResourceConfiguration = 915, "resources that cannot be had or combined";
        hipErrorUnknown = 999, "unknown error";
        hipErrorRuntimeMemory = 1052, "runtime memory call returned error";
        hipErrorRuntimeOther = 1053, "runtime call other than memory returned error";
        hipErrorTbd = 1054, "an error without a code of its own";
    }
    former {
        hipErrorMemoryAllocation = hipErrorOutOfMemory,
        hipErrorInitializationError = hipErrorNotInitialized,
        hipErrorMapBufferObjectFailed = hipErrorMapFailed,
        hipErrorInvalidResourceHandle = hipErrorInvalidHandle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_so_that_a_search_finds_them() {
        assert!(hipError_t::ALL.is_sorted_by_key(|row| row.code.0));
        for row in hipError_t::ALL {
            assert_eq!(row.code.row(), Some(row));
        }
        assert_eq!(hipError_t(7777).row(), None);
    }

    /// Values from the header, repeated independently.
    #[test]
    fn names_go_with_codes() {
        for (code, name) in [
            (0, c"hipSuccess"),
            (2, c"hipErrorOutOfMemory"),
            (100, c"hipErrorNoDevice"),
            (209, c"hipErrorNoBinaryForGpu"),
            (700, c"hipErrorIllegalAddress"),
            (999, c"hipErrorUnknown"),
            (1054, c"hipErrorTbd"),
        ] {
            assert_eq!(hipError_t(code).row().map(|row| row.name), Some(name));
        }
        assert_eq!(hipError_t::hipErrorInvalidResourceHandle.0, 400);
    }
}
