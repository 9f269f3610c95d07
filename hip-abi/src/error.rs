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
    /// Its meaning, in this project's words.
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
        hipErrorInvalidValue = 1, "an argument is null or not in the allowed range";
        hipErrorOutOfMemory = 2, "out of memory";
        hipErrorNotInitialized = 3, "HIP is not initialized";
        hipErrorDeinitialized = 4, "HIP is shutting down";
        hipErrorProfilerDisabled = 5, "the profiler is disabled";
        hipErrorProfilerNotInitialized = 6, "the profiler is not initialized";
        hipErrorProfilerAlreadyStarted = 7, "the profiler was started before";
        hipErrorProfilerAlreadyStopped = 8, "the profiler was stopped before";
        hipErrorInvalidConfiguration = 9, "a launch with a configuration that the device does not have";
        hipErrorInvalidPitchValue = 12, "a pitch outside the allowed range";
        hipErrorInvalidSymbol = 13, "no device symbol of that name";
        hipErrorInvalidDevicePointer = 17, "not an address in device memory";
        hipErrorInvalidMemcpyDirection = 21, "not a direction of a copy";
        hipErrorInsufficientDriver = 35, "the driver is older than the runtime needs";
        hipErrorMissingConfiguration = 52, "a launch without a configuration";
        hipErrorPriorLaunchFailure = 53, "an earlier launch failed";
        hipErrorInvalidDeviceFunction = 98, "the kernel does not exist or is not for this device";
        hipErrorNoDevice = 100, "no device was found";
        hipErrorInvalidDevice = 101, "no device has that number";
        hipErrorInvalidImage = 200, "not a code object";
        hipErrorInvalidContext = 201, "not a context, or none is current";
        hipErrorContextAlreadyCurrent = 202, "the context is current already";
        hipErrorMapFailed = 205, "memory could not be mapped";
        hipErrorUnmapFailed = 206, "memory could not be unmapped";
        hipErrorArrayIsMapped = 207, "the array is mapped";
        hipErrorAlreadyMapped = 208, "it is mapped already";
        hipErrorNoBinaryForGpu = 209, "no code for this GPU";
        hipErrorAlreadyAcquired = 210, "it is acquired already";
        hipErrorNotMapped = 211, "it is not mapped";
        hipErrorNotMappedAsArray = 212, "it is not mapped as an array";
        hipErrorNotMappedAsPointer = 213, "it is not mapped as a pointer";
        hipErrorECCNotCorrectable = 214, "a memory error that could not be corrected";
        hipErrorUnsupportedLimit = 215, "not a limit of this device";
        hipErrorContextAlreadyInUse = 216, "the context is in use";
        hipErrorPeerAccessUnsupported = 217, "the devices cannot reach each other";
        hipErrorInvalidKernelFile = 218, "not a file of kernels";
        hipErrorInvalidGraphicsContext = 219, "not a graphics context";
        hipErrorInvalidSource = 300, "the kernel's source is invalid";
        hipErrorFileNotFound = 301, "the file was not found";
        hipErrorSharedObjectSymbolNotFound = 302, "a shared library lacks a symbol";
        hipErrorSharedObjectInitFailed = 303, "a shared library could not be initialized";
        hipErrorOperatingSystem = 304, "the operating system failed a request";
        hipErrorInvalidHandle = 400, "not a handle, or what it stood for is gone";
        hipErrorIllegalState = 401, "not in a state for this operation";
        hipErrorNotFound = 500, "there is nothing of that name";
        hipErrorNotReady = 600, "work is not done yet";
        hipErrorIllegalAddress = 700, "a kernel accessed memory that is not allocated";
        hipErrorLaunchOutOfResources = 701, "the launch needs more than the device has";
        hipErrorLaunchTimeOut = 702, "the kernel took too long";
        hipErrorPeerAccessAlreadyEnabled = 704, "access between the devices is enabled already";
        hipErrorPeerAccessNotEnabled = 705, "access between the devices is not enabled";
        hipErrorSetOnActiveProcess = 708, "too late: the device is in use";
        hipErrorContextIsDestroyed = 709, "the context was destroyed";
        hipErrorAssert = 710, "an assertion failed in a kernel";
        hipErrorHostMemoryAlreadyRegistered = 712, "the host memory is registered already";
        hipErrorHostMemoryNotRegistered = 713, "the host memory is not registered";
        hipErrorLaunchFailure = 719, "a kernel failed while it ran";
        hipErrorCooperativeLaunchTooLarge = 720, "the grid of a cooperative launch does not fit the device";
        hipErrorNotSupported = 801, "not supported";
        hipErrorStreamCaptureUnsupported = 900, "not allowed while the stream is captured";
        hipErrorStreamCaptureInvalidated = 901, "an earlier error ended the capture";
        hipErrorStreamCaptureMerge = 902, "two captures would become one";
        hipErrorStreamCaptureUnmatched = 903, "the capture was not begun in this stream";
        hipErrorStreamCaptureUnjoined = 904, "a fork of the capture was not joined";
        hipErrorStreamCaptureIsolation = 905, "a dependency would leave the capture";
        hipErrorStreamCaptureImplicit = 906, "the default stream would depend on a capture";
        hipErrorCapturedEvent = 907, "the event was recorded in a capture";
        hipErrorStreamCaptureWrongThread = 908, "the capture was begun by another thread";
        hipErrorGraphExecUpdateFailure = 910, "the graph cannot be updated so";
        hipErrorInvalidChannelDescriptor = 911, "not a channel descriptor";
        hipErrorInvalidTexture = 912, "not a texture";
        hipErrorUnknown = 999, "unknown error";
        hipErrorRuntimeMemory = 1052, "the HSA runtime failed a memory request";
        hipErrorRuntimeOther = 1053, "the HSA runtime failed a request";
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
