//! Devices and contexts: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_devices {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
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
            /// The two numbers of a device's instruction set.
            optional fn hipDeviceComputeCapability(
                major: *mut ::core::ffi::c_int,
                minor: *mut ::core::ffi::c_int,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// A device's identifier.
            optional fn hipDeviceGetUuid(
                uuid: *mut $crate::hipUUID,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// Writes a device's place on the bus, as `0000:0a:00.0`, and a NUL to `pci_bus_id`, cut to `len` bytes.
            optional fn hipDeviceGetPCIBusId(
                pci_bus_id: *mut ::core::ffi::c_char,
                len: ::core::ffi::c_int,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The device at a place on the bus. `hipErrorInvalidValue` if there is none.
            optional fn hipDeviceGetByPCIBusId(
                device: *mut ::core::ffi::c_int,
                pci_bus_id: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// One property of the link between two devices.
            optional fn hipDeviceGetP2PAttribute(
                value: *mut ::core::ffi::c_int,
                attr: $crate::hipDeviceP2PAttr,
                src_device: ::core::ffi::c_int,
                dst_device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Whether kernels of a device reach another's memory.
            optional fn hipDeviceCanAccessPeer(
                can_access_peer: *mut ::core::ffi::c_int,
                device_id: ::core::ffi::c_int,
                peer_device_id: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Lets kernels of the current device reach another's memory. `hipErrorPeerAccessUnsupported` if they
            /// cannot.
            optional fn hipDeviceEnablePeerAccess(
                peer_device_id: ::core::ffi::c_int,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Ends that. `hipErrorPeerAccessNotEnabled` if it had not begun.
            optional fn hipDeviceDisablePeerAccess(peer_device_id: ::core::ffi::c_int) -> $crate::hipError_t;
            /// Waits for the current device, then frees all memory and streams that were made on it, and forgets its
            /// errors.
            optional fn hipDeviceReset() -> $crate::hipError_t;
            /// How threads wait for the current device.
            optional fn hipGetDeviceFlags(flags: *mut ::core::ffi::c_uint) -> $crate::hipError_t;
            /// Chooses how threads wait for the current device.
            optional fn hipSetDeviceFlags(flags: ::core::ffi::c_uint) -> $crate::hipError_t;
            /// Names the devices to use; each must exist.
            optional fn hipSetValidDevices(
                device_arr: *mut ::core::ffi::c_int,
                len: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// A limit of the current device. `hipErrorUnsupportedLimit` if it has not that one.
            optional fn hipDeviceGetLimit(value: *mut usize, limit: $crate::hipLimit_t) -> $crate::hipError_t;
            /// Sets a limit of the current device. `hipErrorUnsupportedLimit` if it has not that one.
            optional fn hipDeviceSetLimit(limit: $crate::hipLimit_t, value: usize) -> $crate::hipError_t;
            /// How cache and LDS share memory, which they don't on AMD's GPUs.
            optional fn hipDeviceGetCacheConfig(cache_config: *mut $crate::hipFuncCache_t) -> $crate::hipError_t;
            /// Accepted, and without effect on AMD's GPUs.
            optional fn hipDeviceSetCacheConfig(cache_config: $crate::hipFuncCache_t) -> $crate::hipError_t;
            /// Width of LDS banks: always four bytes.
            optional fn hipDeviceGetSharedMemConfig(config: *mut $crate::hipSharedMemConfig) -> $crate::hipError_t;
            /// Accepted, and without effect on AMD's GPUs.
            optional fn hipDeviceSetSharedMemConfig(config: $crate::hipSharedMemConfig) -> $crate::hipError_t;
            /// The lowest and the highest priority of a stream; either result may be null.
            optional fn hipDeviceGetStreamPriorityRange(
                least_priority: *mut ::core::ffi::c_int,
                greatest_priority: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Makes a context on a device, and it the calling thread's current one.
            optional fn hipCtxCreate(
                ctx: *mut $crate::hipCtx_t,
                flags: ::core::ffi::c_uint,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// Destroys a context that `hipCtxCreate` made. `hipErrorInvalidContext` for what is none, as from all
            /// that take one.
            optional fn hipCtxDestroy(ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// Puts a context on the calling thread's stack; the topmost is the current one.
            optional fn hipCtxPushCurrent(ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// Takes the topmost context from the calling thread's stack. `hipErrorInvalidContext` if it is empty.
            /// `ctx` may be null.
            optional fn hipCtxPopCurrent(ctx: *mut $crate::hipCtx_t) -> $crate::hipError_t;
            /// Replaces the topmost context of the calling thread's stack; null only takes it away.
            optional fn hipCtxSetCurrent(ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// The calling thread's current context: the topmost of its stack, or else the current device's primary
            /// one.
            optional fn hipCtxGetCurrent(ctx: *mut $crate::hipCtx_t) -> $crate::hipError_t;
            /// The device of the current context.
            optional fn hipCtxGetDevice(device: *mut $crate::hipDevice_t) -> $crate::hipError_t;
            /// The version of the interface that a context was made for.
            optional fn hipCtxGetApiVersion(
                ctx: $crate::hipCtx_t,
                api_version: *mut ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Flags of the current context.
            optional fn hipCtxGetFlags(flags: *mut ::core::ffi::c_uint) -> $crate::hipError_t;
            /// As `hipDeviceGetCacheConfig`.
            optional fn hipCtxGetCacheConfig(cache_config: *mut $crate::hipFuncCache_t) -> $crate::hipError_t;
            /// As `hipDeviceSetCacheConfig`.
            optional fn hipCtxSetCacheConfig(cache_config: $crate::hipFuncCache_t) -> $crate::hipError_t;
            /// As `hipDeviceGetSharedMemConfig`.
            optional fn hipCtxGetSharedMemConfig(config: *mut $crate::hipSharedMemConfig) -> $crate::hipError_t;
            /// As `hipDeviceSetSharedMemConfig`.
            optional fn hipCtxSetSharedMemConfig(config: $crate::hipSharedMemConfig) -> $crate::hipError_t;
            /// As `hipDeviceSynchronize`.
            optional fn hipCtxSynchronize() -> $crate::hipError_t;
            /// As `hipDeviceEnablePeerAccess`, for a context's device.
            optional fn hipCtxEnablePeerAccess(
                peer_ctx: $crate::hipCtx_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipDeviceDisablePeerAccess`, for a context's device.
            optional fn hipCtxDisablePeerAccess(peer_ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// A device's primary context.
            optional fn hipDevicePrimaryCtxRetain(
                pctx: *mut $crate::hipCtx_t,
                dev: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// Gives a primary context back; it stays.
            optional fn hipDevicePrimaryCtxRelease(dev: $crate::hipDevice_t) -> $crate::hipError_t;
            /// As `hipDeviceReset`, for any device.
            optional fn hipDevicePrimaryCtxReset(dev: $crate::hipDevice_t) -> $crate::hipError_t;
            /// Flags of a device's primary context, and whether it is in use; either result may be null.
            optional fn hipDevicePrimaryCtxGetState(
                dev: $crate::hipDevice_t,
                flags: *mut ::core::ffi::c_uint,
                active: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Accepted, and without effect.
            optional fn hipDevicePrimaryCtxSetFlags(
                dev: $crate::hipDevice_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
        }
    };
}
