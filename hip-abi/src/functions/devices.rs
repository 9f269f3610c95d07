//! Devices and contexts: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_devices {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// The number of devices.
            required fn hipGetDeviceCount(count: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// A Ferrowave extension: adds an emulated device with a name as in `FERROWAVE_DEVICE`, such as
            /// `emulator:MI250X`, and writes its ordinal. `hipErrorInvalidValue` if the emulator has none of that name.
            optional fn ferrowaveAddDevice(
                name: *const ::core::ffi::c_char,
                ordinal: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// A Ferrowave extension: removes an emulated device with its streams, events, modules and memory.
            optional fn ferrowaveRemoveDevice(ordinal: ::core::ffi::c_int) -> $crate::hipError_t;
            /// The device with an ordinal. Functions that take a device return `hipErrorInvalidDevice` if it does not
            /// exist.
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
            /// One attribute of a device. `hipErrorInvalidValue` if the attribute is unknown.
            required fn hipDeviceGetAttribute(
                value: *mut ::core::ffi::c_int,
                attribute: $crate::hipDeviceAttribute_t,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// All properties of a device, in the layout since ROCm 6.0.
            required fn hipGetDevicePropertiesR0600(
                properties: *mut $crate::hipDeviceProp_tR0600,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// All properties of a device, in the layout before ROCm 6.0.
            optional fn hipGetDevicePropertiesR0000(
                properties: *mut $crate::hipDeviceProp_tR0000,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The name of `hipGetDevicePropertiesR0000` in programs from before ROCm 6.0.
            optional fn hipGetDeviceProperties(
                properties: *mut $crate::hipDeviceProp_tR0000,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The device that has most of some properties.
            optional fn hipChooseDeviceR0600(
                device: *mut ::core::ffi::c_int,
                properties: *const $crate::hipDeviceProp_tR0600,
            ) -> $crate::hipError_t;
            /// As `hipChooseDeviceR0600`, with the layout before ROCm 6.0.
            optional fn hipChooseDeviceR0000(
                device: *mut ::core::ffi::c_int,
                properties: *const $crate::hipDeviceProp_tR0000,
            ) -> $crate::hipError_t;
            /// The name of `hipChooseDeviceR0000` in programs from before ROCm 6.0.
            optional fn hipChooseDevice(
                device: *mut ::core::ffi::c_int,
                properties: *const $crate::hipDeviceProp_tR0000,
            ) -> $crate::hipError_t;
            /// Makes a device the calling thread's current one.
            required fn hipSetDevice(device: ::core::ffi::c_int) -> $crate::hipError_t;
            /// The calling thread's current device.
            required fn hipGetDevice(device: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// Waits for all work on the current device, and returns its errors.
            required fn hipDeviceSynchronize() -> $crate::hipError_t;
            /// Major and minor version of a device's instruction set.
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
            /// Writes a device's PCI address, like `0000:0a:00.0`, and a NUL to `pci_bus_id`, cut to `len` bytes.
            optional fn hipDeviceGetPCIBusId(
                pci_bus_id: *mut ::core::ffi::c_char,
                len: ::core::ffi::c_int,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The device with a PCI address. `hipErrorInvalidValue` if there is none.
            optional fn hipDeviceGetByPCIBusId(
                device: *mut ::core::ffi::c_int,
                pci_bus_id: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// One attribute of the link between two devices.
            optional fn hipDeviceGetP2PAttribute(
                value: *mut ::core::ffi::c_int,
                attr: $crate::hipDeviceP2PAttr,
                src_device: ::core::ffi::c_int,
                dst_device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The kind of the link between two devices (HSA's numbers), and its length.
            optional fn hipExtGetLinkTypeAndHopCount(
                device1: ::core::ffi::c_int,
                device2: ::core::ffi::c_int,
                linktype: *mut u32,
                hopcount: *mut u32,
            ) -> $crate::hipError_t;
            /// Whether kernels of one device can access another device's memory.
            optional fn hipDeviceCanAccessPeer(
                can_access_peer: *mut ::core::ffi::c_int,
                device_id: ::core::ffi::c_int,
                peer_device_id: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Lets kernels of the current device access another device's memory. `hipErrorPeerAccessUnsupported` if
            /// they cannot.
            optional fn hipDeviceEnablePeerAccess(
                peer_device_id: ::core::ffi::c_int,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Disables peer access. `hipErrorPeerAccessNotEnabled` if it was not enabled.
            optional fn hipDeviceDisablePeerAccess(peer_device_id: ::core::ffi::c_int) -> $crate::hipError_t;
            /// Waits for the current device, frees all memory and streams created on it, and clears its errors.
            optional fn hipDeviceReset() -> $crate::hipError_t;
            /// The flags of the current device: how threads wait for it.
            optional fn hipGetDeviceFlags(flags: *mut ::core::ffi::c_uint) -> $crate::hipError_t;
            /// Sets the flags of the current device: how threads wait for it.
            optional fn hipSetDeviceFlags(flags: ::core::ffi::c_uint) -> $crate::hipError_t;
            /// Lists the devices to use; each must exist.
            optional fn hipSetValidDevices(
                device_arr: *mut ::core::ffi::c_int,
                len: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// A limit of the current device. `hipErrorUnsupportedLimit` if it does not have this limit.
            optional fn hipDeviceGetLimit(value: *mut usize, limit: $crate::hipLimit_t) -> $crate::hipError_t;
            /// Sets a limit of the current device. `hipErrorUnsupportedLimit` if it does not have this limit.
            optional fn hipDeviceSetLimit(limit: $crate::hipLimit_t, value: usize) -> $crate::hipError_t;
            /// The split of memory between cache and LDS, which are separate on AMD GPUs.
            optional fn hipDeviceGetCacheConfig(cache_config: *mut $crate::hipFuncCache_t) -> $crate::hipError_t;
            /// Accepted; has no effect on AMD GPUs.
            optional fn hipDeviceSetCacheConfig(cache_config: $crate::hipFuncCache_t) -> $crate::hipError_t;
            /// Width of LDS banks: always four bytes.
            optional fn hipDeviceGetSharedMemConfig(config: *mut $crate::hipSharedMemConfig) -> $crate::hipError_t;
            /// Accepted; has no effect on AMD GPUs.
            optional fn hipDeviceSetSharedMemConfig(config: $crate::hipSharedMemConfig) -> $crate::hipError_t;
            /// The lowest and the highest priority of a stream; either result may be null.
            optional fn hipDeviceGetStreamPriorityRange(
                least_priority: *mut ::core::ffi::c_int,
                greatest_priority: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Creates a context on a device, and makes it the calling thread's current context.
            optional fn hipCtxCreate(
                ctx: *mut $crate::hipCtx_t,
                flags: ::core::ffi::c_uint,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// Destroys a context of `hipCtxCreate`. Functions that take a context return `hipErrorInvalidContext` if
            /// it is invalid.
            optional fn hipCtxDestroy(ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// Pushes a context on the calling thread's stack. The topmost context is current.
            optional fn hipCtxPushCurrent(ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// Pops the topmost context from the calling thread's stack. `hipErrorInvalidContext` if it is empty.
            /// `ctx` may be null.
            optional fn hipCtxPopCurrent(ctx: *mut $crate::hipCtx_t) -> $crate::hipError_t;
            /// Replaces the topmost context of the calling thread's stack; null only pops it.
            optional fn hipCtxSetCurrent(ctx: $crate::hipCtx_t) -> $crate::hipError_t;
            /// The calling thread's current context: the topmost of its stack, or the current device's primary context
            /// if the stack is empty.
            optional fn hipCtxGetCurrent(ctx: *mut $crate::hipCtx_t) -> $crate::hipError_t;
            /// The device of the current context.
            optional fn hipCtxGetDevice(device: *mut $crate::hipDevice_t) -> $crate::hipError_t;
            /// The API version of a context.
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
            /// Releases a primary context, which stays valid.
            optional fn hipDevicePrimaryCtxRelease(dev: $crate::hipDevice_t) -> $crate::hipError_t;
            /// As `hipDeviceReset`, for any device.
            optional fn hipDevicePrimaryCtxReset(dev: $crate::hipDevice_t) -> $crate::hipError_t;
            /// Flags of a device's primary context, and whether it is in use; either result may be null.
            optional fn hipDevicePrimaryCtxGetState(
                dev: $crate::hipDevice_t,
                flags: *mut ::core::ffi::c_uint,
                active: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Accepted; has no effect.
            optional fn hipDevicePrimaryCtxSetFlags(
                dev: $crate::hipDevice_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
        }
    };
}
