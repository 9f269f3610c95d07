//! The one table of functions, and the struct that it makes.

/// Calls the macro `callback` with all HIP functions that this project uses or offers.
///
/// Each has the form `KIND fn NAME(ARGUMENT: TYPE, …) -> TYPE;` behind its doc comment. Types are absolute paths, so
/// that the callback needs no imports. `KIND` is
/// - `required`: every `libamdhip64.so` since ROCm 6.0 has it, and a library without it is none of them;
/// - `optional`: some have it not, or nobody here needs it from them. What isn't there is `None` in [`Functions`].
///
/// Tokens after the callback's name go in front of the list: `for_each_hip_function!(export, prefix tokens)` calls
/// `export! { prefix tokens; … }`.
///
/// Unless a function says otherwise, it returns `hipErrorInvalidValue` for a null pointer to a result,
/// `hipErrorInvalidHandle` for a handle that is none, and `hipErrorNoDevice` if there is no device.
#[macro_export]
macro_rules! for_each_hip_function {
    ($callback:ident $(, $($prefix:tt)*)?) => {
        $callback! {
            $($($prefix)*;)?

            // Start and versions

            /// Initializes HIP, for which `flags` must be 0. Other calls do so themselves.
            /// `hipErrorNoDevice` or `hipErrorInvalidDevice` if there is no GPU.
            required fn hipInit(flags: ::core::ffi::c_uint) -> $crate::hipError_t;
            /// The driver's version: major × 10⁷ + minor × 10⁵ + patch.
            required fn hipDriverGetVersion(version: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The runtime's version, likewise.
            required fn hipRuntimeGetVersion(version: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The address of the function `symbol` as a program compiled for `version` (major × 100 + minor) means it.
            /// `hipErrorInvalidValue` if there is none; `status`, unless null, says why.
            optional fn hipGetProcAddress(
                symbol: *const ::core::ffi::c_char,
                function: *mut *mut ::core::ffi::c_void,
                version: ::core::ffi::c_int,
                flags: u64,
                status: *mut $crate::hipDriverProcAddressQueryResult,
            ) -> $crate::hipError_t;

            // Errors

            /// The name of an error code; never null.
            required fn hipGetErrorName(error: $crate::hipError_t) -> *const ::core::ffi::c_char;
            /// What an error code means; never null.
            required fn hipGetErrorString(error: $crate::hipError_t) -> *const ::core::ffi::c_char;
            /// The error of the calling thread's last call that failed, which is then forgotten.
            required fn hipGetLastError() -> $crate::hipError_t;
            /// The error of the calling thread's last call that failed.
            required fn hipPeekAtLastError() -> $crate::hipError_t;
            /// Ferrowave's own: what exactly was wrong in the calling thread's last call that failed, as UTF-8. Returns
            /// the text's length in bytes without the NUL, 0 if there is none, and writes at most `bytes` bytes of
            /// text and NUL to `text`, which may be null if `bytes` is 0.
            optional fn ferrowaveGetLastErrorDetail(text: *mut ::core::ffi::c_char, bytes: usize) -> usize;

            // Devices

            /// The number of devices.
            required fn hipGetDeviceCount(count: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The device with a number. `hipErrorInvalidDevice` if there is none, as from all that take one.
            required fn hipDeviceGet(
                device: *mut $crate::hipDevice_t,
                ordinal: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Writes the device's name and a NUL to `name`, cut to `bytes` bytes.
            required fn hipDeviceGetName(
                name: *mut ::core::ffi::c_char,
                bytes: ::core::ffi::c_int,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// The device's memory in bytes.
            required fn hipDeviceTotalMem(bytes: *mut usize, device: $crate::hipDevice_t) -> $crate::hipError_t;
            /// One property of a device. `hipErrorInvalidValue` for what is none.
            required fn hipDeviceGetAttribute(
                value: *mut ::core::ffi::c_int,
                attribute: $crate::hipDeviceAttribute_t,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// All properties of a device, as of ROCm 6.0.
            required fn hipGetDevicePropertiesR0600(
                properties: *mut $crate::hipDeviceProp_tR0600,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// All properties of a device, as of before ROCm 6.0.
            optional fn hipGetDevicePropertiesR0000(
                properties: *mut $crate::hipDeviceProp_tR0000,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The name of `hipGetDevicePropertiesR0000` in programs from before ROCm 6.0.
            optional fn hipGetDeviceProperties(
                properties: *mut $crate::hipDeviceProp_tR0000,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Makes a device the calling thread's current one.
            required fn hipSetDevice(device: ::core::ffi::c_int) -> $crate::hipError_t;
            /// The calling thread's current device.
            required fn hipGetDevice(device: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// Waits for all work on the current device, and returns its errors.
            required fn hipDeviceSynchronize() -> $crate::hipError_t;

            // Memory

            /// Allocates `bytes` on the current device; null for 0. `hipErrorOutOfMemory` if there is not that much.
            required fn hipMalloc(
                address: *mut *mut ::core::ffi::c_void,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Frees what `hipMalloc` gave; nothing for null. `hipErrorInvalidValue` for any other address.
            required fn hipFree(address: *mut ::core::ffi::c_void) -> $crate::hipError_t;
            /// Allocates `bytes` of host memory that devices reach; null for 0.
            required fn hipHostMalloc(
                address: *mut *mut ::core::ffi::c_void,
                bytes: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Frees what `hipHostMalloc` gave; nothing for null. `hipErrorInvalidValue` for any other address.
            required fn hipHostFree(address: *mut ::core::ffi::c_void) -> $crate::hipError_t;
            /// Bytes free and in all on the current device.
            required fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> $crate::hipError_t;
            /// Copies after all work on the default stream. `hipErrorInvalidMemcpyDirection` for an unknown kind.
            required fn hipMemcpy(
                to: *mut ::core::ffi::c_void,
                from: *const ::core::ffi::c_void,
                bytes: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Copies in a stream.
            required fn hipMemcpyAsync(
                to: *mut ::core::ffi::c_void,
                from: *const ::core::ffi::c_void,
                bytes: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from host to device.
            required fn hipMemcpyHtoD(
                to: $crate::hipDeviceptr_t,
                from: *const ::core::ffi::c_void,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Copies from device to host.
            required fn hipMemcpyDtoH(
                to: *mut ::core::ffi::c_void,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Copies from device to device.
            required fn hipMemcpyDtoD(
                to: $crate::hipDeviceptr_t,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Copies from host to device in a stream.
            required fn hipMemcpyHtoDAsync(
                to: $crate::hipDeviceptr_t,
                from: *const ::core::ffi::c_void,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from device to host in a stream.
            required fn hipMemcpyDtoHAsync(
                to: *mut ::core::ffi::c_void,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from device to device in a stream.
            required fn hipMemcpyDtoDAsync(
                to: $crate::hipDeviceptr_t,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `bytes` bytes to the low 8 bits of `value`.
            required fn hipMemset(
                address: *mut ::core::ffi::c_void,
                value: ::core::ffi::c_int,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemset`, in a stream.
            required fn hipMemsetAsync(
                address: *mut ::core::ffi::c_void,
                value: ::core::ffi::c_int,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `count` bytes.
            required fn hipMemsetD8(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_uchar,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD8`, in a stream.
            required fn hipMemsetD8Async(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_uchar,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `count` words of 4 bytes.
            required fn hipMemsetD32(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_int,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD32`, in a stream.
            required fn hipMemsetD32Async(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_int,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;

            // Modules

            /// Loads a file. `hipErrorFileNotFound` without it, otherwise as `hipModuleLoadData`.
            required fn hipModuleLoad(
                module: *mut $crate::hipModule_t,
                path: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// Loads a code object from memory; its own header says how long it is. `hipErrorInvalidImage` if it is
            /// malformed, `hipErrorNoBinaryForGpu` if it is for another GPU than the current device's.
            required fn hipModuleLoadData(
                module: *mut $crate::hipModule_t,
                image: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Unloads a module; its kernels and variables are then gone.
            required fn hipModuleUnload(module: $crate::hipModule_t) -> $crate::hipError_t;
            /// A module's kernel. `hipErrorNotFound` if it has none of that name.
            required fn hipModuleGetFunction(
                function: *mut $crate::hipFunction_t,
                module: $crate::hipModule_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// A module's variable: address and length; either result may be null. `hipErrorNotFound` if there is none.
            required fn hipModuleGetGlobal(
                address: *mut $crate::hipDeviceptr_t,
                bytes: *mut usize,
                module: $crate::hipModule_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// One property of a kernel. `hipErrorInvalidValue` for what is none.
            required fn hipFuncGetAttribute(
                value: *mut ::core::ffi::c_int,
                attribute: $crate::hipFunction_attribute,
                function: $crate::hipFunction_t,
            ) -> $crate::hipError_t;
            /// Workgroups of a kernel that a compute unit holds at once.
            required fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                workgroups: *mut ::core::ffi::c_int,
                function: $crate::hipFunction_t,
                block_size: ::core::ffi::c_int,
                dynamic_lds_bytes: usize,
            ) -> $crate::hipError_t;
            /// Launches a grid of workgroups. Arguments are either `parameters`, a pointer to each, or `extra`, a buffer
            /// of all of them between the markers [`HIP_LAUNCH_PARAM_BUFFER_POINTER`]($crate::HIP_LAUNCH_PARAM_BUFFER_POINTER)
            /// and so on; the other is null. `hipErrorInvalidValue` if grid, block, LDS or arguments are not such that
            /// the kernel runs with them on this device.
            required fn hipModuleLaunchKernel(
                function: $crate::hipFunction_t,
                grid_x: ::core::ffi::c_uint,
                grid_y: ::core::ffi::c_uint,
                grid_z: ::core::ffi::c_uint,
                block_x: ::core::ffi::c_uint,
                block_y: ::core::ffi::c_uint,
                block_z: ::core::ffi::c_uint,
                dynamic_lds_bytes: ::core::ffi::c_uint,
                stream: $crate::hipStream_t,
                parameters: *mut *mut ::core::ffi::c_void,
                extra: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;

            // Streams

            /// Makes a stream on the current device.
            required fn hipStreamCreate(stream: *mut $crate::hipStream_t) -> $crate::hipError_t;
            /// Makes a stream on the current device. `hipErrorInvalidValue` for unknown flags.
            required fn hipStreamCreateWithFlags(
                stream: *mut $crate::hipStream_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys a stream after its work; the default streams cannot be destroyed.
            required fn hipStreamDestroy(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// Waits for a stream's work, and returns its errors.
            required fn hipStreamSynchronize(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// `hipSuccess` if a stream has no work left, `hipErrorNotReady` if it has.
            required fn hipStreamQuery(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// Lets a stream wait for an event, for which `flags` must be 0.
            required fn hipStreamWaitEvent(
                stream: $crate::hipStream_t,
                event: $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;

            // Events

            /// Makes an event with a time.
            required fn hipEventCreate(event: *mut $crate::hipEvent_t) -> $crate::hipError_t;
            /// Makes an event. `hipErrorInvalidValue` for unknown flags.
            required fn hipEventCreateWithFlags(
                event: *mut $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys an event.
            required fn hipEventDestroy(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// Puts an event in a stream.
            required fn hipEventRecord(
                event: $crate::hipEvent_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Waits until a stream has come to the event, and returns the stream's errors.
            required fn hipEventSynchronize(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// `hipSuccess` if the stream has come to the event or it was never recorded, `hipErrorNotReady` if not.
            required fn hipEventQuery(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// Milliseconds from one event to another. `hipErrorInvalidHandle` if one was never recorded or has no time.
            required fn hipEventElapsedTime(
                milliseconds: *mut f32,
                start: $crate::hipEvent_t,
                stop: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
        }
    };
}

/// A field's type: what some libraries lack may be absent.
macro_rules! field {
    (required, $type:ty) => { $type };
    (optional, $type:ty) => { Option<$type> };
}

macro_rules! functions {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {
        /// The addresses of all HIP functions, from whichever library or emulator.
        ///
        /// Whoever fills it promises that each has this signature and stays where it is as long as the table is used.
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $(
                $(#[$meta])*
                pub $name: field!($kind, unsafe extern "C" fn($($argument: $type),*) -> $result),
            )*
        }
    };
}

for_each_hip_function!(functions);
