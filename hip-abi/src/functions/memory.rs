//! Allocations: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_memory {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Allocates `bytes` on the current device; null for 0. `hipErrorOutOfMemory` if too little is free.
            required fn hipMalloc(
                address: *mut *mut ::core::ffi::c_void,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Frees memory of `hipMalloc`; null is ignored. `hipErrorInvalidValue` for any other address.
            required fn hipFree(address: *mut ::core::ffi::c_void) -> $crate::hipError_t;
            /// Allocates `bytes` of host memory that devices can access; null for 0.
            required fn hipHostMalloc(
                address: *mut *mut ::core::ffi::c_void,
                bytes: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Frees memory of `hipHostMalloc`; null is ignored. `hipErrorInvalidValue` for any other address.
            required fn hipHostFree(address: *mut ::core::ffi::c_void) -> $crate::hipError_t;
            /// Free and total memory of the current device, in bytes. Either pointer may be null.
            required fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> $crate::hipError_t;
            /// As `hipMalloc`. `hipErrorInvalidValue` for unknown flags.
            optional fn hipExtMallocWithFlags(
                ptr: *mut *mut ::core::ffi::c_void,
                size_bytes: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Allocates memory that host and devices access at the same address; null for 0 bytes. Freed by `hipFree`.
            optional fn hipMallocManaged(
                dev_ptr: *mut *mut ::core::ffi::c_void,
                size: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Allocates `height` rows of `width` bytes, each row at a multiple of the pitch in bytes.
            optional fn hipMallocPitch(
                ptr: *mut *mut ::core::ffi::c_void,
                pitch: *mut usize,
                width: usize,
                height: usize,
            ) -> $crate::hipError_t;
            /// As `hipMallocPitch`, for elements of 4, 8 or 16 bytes.
            optional fn hipMemAllocPitch(
                dptr: *mut $crate::hipDeviceptr_t,
                pitch: *mut usize,
                width_in_bytes: usize,
                height: usize,
                element_size_bytes: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Allocates layers of rows, each row at a multiple of the pitch in bytes.
            optional fn hipMalloc3D(
                pitched_dev_ptr: *mut $crate::hipPitchedPtr,
                extent: $crate::hipExtent,
            ) -> $crate::hipError_t;
            /// Allocates from the current device's pool, in a stream.
            optional fn hipMallocAsync(
                dev_ptr: *mut *mut ::core::ffi::c_void,
                size: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Allocates from a pool, in a stream.
            optional fn hipMallocFromPoolAsync(
                dev_ptr: *mut *mut ::core::ffi::c_void,
                size: usize,
                mem_pool: $crate::hipMemPool_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Frees device memory after the work already in a stream.
            optional fn hipFreeAsync(
                dev_ptr: *mut ::core::ffi::c_void,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipHostMalloc`.
            optional fn hipHostAlloc(
                ptr: *mut *mut ::core::ffi::c_void,
                size: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipHostMalloc` without flags.
            optional fn hipMallocHost(ptr: *mut *mut ::core::ffi::c_void, size: usize) -> $crate::hipError_t;
            /// As `hipHostMalloc` without flags.
            optional fn hipMemAllocHost(ptr: *mut *mut ::core::ffi::c_void, size: usize) -> $crate::hipError_t;
            /// As `hipHostFree`.
            optional fn hipFreeHost(ptr: *mut ::core::ffi::c_void) -> $crate::hipError_t;
            /// The address at which devices access host memory. `hipErrorInvalidValue` if they cannot.
            optional fn hipHostGetDevicePointer(
                dev_ptr: *mut *mut ::core::ffi::c_void,
                hst_ptr: *mut ::core::ffi::c_void,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// The flags that host memory was allocated or registered with.
            optional fn hipHostGetFlags(
                flags_ptr: *mut ::core::ffi::c_uint,
                host_ptr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Lets devices access the program's own memory, at the same addresses.
            /// `hipErrorHostMemoryAlreadyRegistered` if some of it is registered already.
            optional fn hipHostRegister(
                host_ptr: *mut ::core::ffi::c_void,
                size_bytes: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Unregisters host memory. `hipErrorHostMemoryNotRegistered` if no registration starts at that address.
            optional fn hipHostUnregister(host_ptr: *mut ::core::ffi::c_void) -> $crate::hipError_t;
            /// The memory that an address belongs to; the program's own is `hipMemoryTypeUnregistered`.
            optional fn hipPointerGetAttributes(
                attributes: *mut $crate::hipPointerAttribute_t,
                ptr: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// One attribute of the memory that an address belongs to; its type depends on the attribute.
            /// `hipErrorInvalidValue` if HIP does not know the memory.
            optional fn hipPointerGetAttribute(
                data: *mut ::core::ffi::c_void,
                attribute: $crate::hipPointer_attribute,
                ptr: $crate::hipDeviceptr_t,
            ) -> $crate::hipError_t;
            /// Sets an attribute of the memory that an address belongs to. The only one is
            /// `HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS`, a `c_uint` of 0 or 1. `hipErrorInvalidDevicePointer` if HIP does not know
            /// the memory.
            optional fn hipPointerSetAttribute(
                value: *const ::core::ffi::c_void,
                attribute: $crate::hipPointer_attribute,
                ptr: $crate::hipDeviceptr_t,
            ) -> $crate::hipError_t;
            /// Several attributes at once; all are 0 if HIP does not know the memory.
            optional fn hipDrvPointerGetAttributes(
                num_attributes: ::core::ffi::c_uint,
                attributes: *mut $crate::hipPointer_attribute,
                data: *mut *mut ::core::ffi::c_void,
                ptr: $crate::hipDeviceptr_t,
            ) -> $crate::hipError_t;
            /// Start and length of the allocation that contains an address; either result may be null.
            /// `hipErrorNotFound` if there is none.
            optional fn hipMemGetAddressRange(
                pbase: *mut $crate::hipDeviceptr_t,
                psize: *mut usize,
                dptr: $crate::hipDeviceptr_t,
            ) -> $crate::hipError_t;
            /// Length of the allocation that starts at an address.
            optional fn hipMemPtrGetInfo(ptr: *mut ::core::ffi::c_void, size: *mut usize) -> $crate::hipError_t;
            /// Accepted for allocated memory. `hipMemRangeGetAttribute` tells of it; it has no other effect.
            optional fn hipMemAdvise(
                dev_ptr: *const ::core::ffi::c_void,
                count: usize,
                advice: $crate::hipMemoryAdvise,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// As `hipMemAdvise`, with a location instead of a device's number.
            optional fn hipMemAdvise_v2(
                dev_ptr: *const ::core::ffi::c_void,
                count: usize,
                advice: $crate::hipMemoryAdvise,
                location: $crate::hipMemLocation,
            ) -> $crate::hipError_t;
            /// An attribute of a range of managed memory. `data_size` is the length of `data` in bytes: 4, or for the list
            /// of devices a multiple of it.
            optional fn hipMemRangeGetAttribute(
                data: *mut ::core::ffi::c_void,
                data_size: usize,
                attribute: $crate::hipMemRangeAttribute,
                dev_ptr: *const ::core::ffi::c_void,
                count: usize,
            ) -> $crate::hipError_t;
            /// Several attributes of a range of managed memory.
            optional fn hipMemRangeGetAttributes(
                data: *mut *mut ::core::ffi::c_void,
                data_sizes: *mut usize,
                attributes: *mut $crate::hipMemRangeAttribute,
                num_attributes: usize,
                dev_ptr: *const ::core::ffi::c_void,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemPrefetchAsync`, with a location instead of a device's number. `flags` must be 0.
            optional fn hipMemPrefetchAsync_v2(
                dev_ptr: *const ::core::ffi::c_void,
                count: usize,
                location: $crate::hipMemLocation,
                flags: ::core::ffi::c_uint,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemPrefetchAsync_v2`, of several ranges. Range `i` goes to the last location whose index in
            /// `location_indices` is not above `i`; the first index must be 0, and they must rise. `hipErrorInvalidValue` for
            /// the null stream, and for memory that is neither managed nor the host's, unless the devices retry page faults.
            optional fn hipMemPrefetchBatchAsync(
                dev_ptrs: *mut *mut ::core::ffi::c_void,
                sizes: *mut usize,
                count: usize,
                locations: *mut $crate::hipMemLocation,
                location_indices: *mut usize,
                num_locations: usize,
                flags: ::core::ffi::c_ulonglong,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Tells that the contents of ranges are not needed any more. They stay as they are here. Errors as for
            /// `hipMemPrefetchBatchAsync`.
            optional fn hipMemDiscardBatchAsync(
                dev_ptrs: *mut *mut ::core::ffi::c_void,
                sizes: *mut usize,
                count: usize,
                flags: ::core::ffi::c_ulonglong,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemDiscardBatchAsync`.
            optional fn hipDrvMemDiscardBatchAsync(
                dev_ptrs: *mut $crate::hipDeviceptr_t,
                sizes: *mut usize,
                count: usize,
                flags: ::core::ffi::c_ulonglong,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// `hipMemDiscardBatchAsync`, then `hipMemPrefetchBatchAsync`.
            optional fn hipMemDiscardAndPrefetchBatchAsync(
                dev_ptrs: *mut *mut ::core::ffi::c_void,
                sizes: *mut usize,
                count: usize,
                locations: *mut $crate::hipMemLocation,
                location_indices: *mut usize,
                num_locations: usize,
                flags: ::core::ffi::c_ulonglong,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemDiscardAndPrefetchBatchAsync`.
            optional fn hipDrvMemDiscardAndPrefetchBatchAsync(
                dev_ptrs: *mut $crate::hipDeviceptr_t,
                sizes: *mut usize,
                count: usize,
                locations: *mut $crate::hipMemLocation,
                location_indices: *mut usize,
                num_locations: usize,
                flags: ::core::ffi::c_ulonglong,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Accepted for allocated memory. `hipMemRangeGetAttribute` tells of it; it has no other effect.
            optional fn hipMemPrefetchAsync(
                dev_ptr: *const ::core::ffi::c_void,
                count: usize,
                device: ::core::ffi::c_int,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Accepted for managed memory; has no effect.
            optional fn hipStreamAttachMemAsync(
                stream: $crate::hipStream_t,
                dev_ptr: *mut ::core::ffi::c_void,
                length: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// A device's default pool.
            optional fn hipDeviceGetDefaultMemPool(
                mem_pool: *mut $crate::hipMemPool_t,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The pool that `hipMallocAsync` allocates from on a device.
            optional fn hipDeviceGetMemPool(
                mem_pool: *mut $crate::hipMemPool_t,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Sets the pool that `hipMallocAsync` allocates from on a device.
            optional fn hipDeviceSetMemPool(
                device: ::core::ffi::c_int,
                mem_pool: $crate::hipMemPool_t,
            ) -> $crate::hipError_t;
            /// The default pool of a device for pinned or managed memory.
            optional fn hipMemGetDefaultMemPool(
                mem_pool: *mut $crate::hipMemPool_t,
                location: *mut $crate::hipMemLocation,
                allocation_type: $crate::hipMemAllocationType,
            ) -> $crate::hipError_t;
            /// The current pool of a device for pinned or managed memory. That for pinned memory is `hipDeviceGetMemPool`'s.
            optional fn hipMemGetMemPool(
                mem_pool: *mut $crate::hipMemPool_t,
                location: *mut $crate::hipMemLocation,
                allocation_type: $crate::hipMemAllocationType,
            ) -> $crate::hipError_t;
            /// Sets the current pool. `hipErrorInvalidValue` if the pool is for another device or kind of memory.
            optional fn hipMemSetMemPool(
                location: *mut $crate::hipMemLocation,
                allocation_type: $crate::hipMemAllocationType,
                mem_pool: $crate::hipMemPool_t,
            ) -> $crate::hipError_t;
            /// Creates a pool on a device, for pinned or managed memory.
            optional fn hipMemPoolCreate(
                mem_pool: *mut $crate::hipMemPool_t,
                pool_props: *const $crate::hipMemPoolProps,
            ) -> $crate::hipError_t;
            /// Destroys a pool; its allocations stay valid. The default pools cannot be destroyed.
            optional fn hipMemPoolDestroy(mem_pool: $crate::hipMemPool_t) -> $crate::hipError_t;
            /// An attribute of a pool: `int` for the first three, `u64` bytes for the others.
            optional fn hipMemPoolGetAttribute(
                mem_pool: $crate::hipMemPool_t,
                attr: $crate::hipMemPoolAttr,
                value: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Sets an attribute of a pool. Of the counts, only the maxima can be set, and only to 0.
            optional fn hipMemPoolSetAttribute(
                mem_pool: $crate::hipMemPool_t,
                attr: $crate::hipMemPoolAttr,
                value: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Releases the pool's unused memory. Pools keep none, so this has no effect.
            optional fn hipMemPoolTrimTo(
                mem_pool: $crate::hipMemPool_t,
                min_bytes_to_hold: usize,
            ) -> $crate::hipError_t;
            /// Writes a new file descriptor (`int`), by which other processes import a pool that was created with handle type 1.
            optional fn hipMemPoolExportToShareableHandle(
                shared_handle: *mut ::core::ffi::c_void,
                mem_pool: $crate::hipMemPool_t,
                handle_type: $crate::hipMemAllocationHandleType,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Makes a pool on the current device for allocations of another process, with the settings of its pool. The handle
            /// is the value of a file descriptor, which stays open. `hipErrorOutOfMemory` for any other.
            optional fn hipMemPoolImportFromShareableHandle(
                mem_pool: *mut $crate::hipMemPool_t,
                shared_handle: *mut ::core::ffi::c_void,
                handle_type: $crate::hipMemAllocationHandleType,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Tells where an allocation is for `hipMemPoolImportPointer`. `hipErrorOutOfMemory` if there is none.
            optional fn hipMemPoolExportPointer(
                export_data: *mut $crate::hipMemPoolPtrExportData,
                ptr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Maps an allocation of another process, whose pool was imported. It is freed by `hipFree` or `hipFreeAsync`,
            /// before the other process frees it.
            optional fn hipMemPoolImportPointer(
                ptr: *mut *mut ::core::ffi::c_void,
                mem_pool: $crate::hipMemPool_t,
                export_data: *mut $crate::hipMemPoolPtrExportData,
            ) -> $crate::hipError_t;
            /// Sets which devices can access a pool's memory; its own device always can.
            optional fn hipMemPoolSetAccess(
                mem_pool: $crate::hipMemPool_t,
                desc_list: *const $crate::hipMemAccessDesc,
                count: usize,
            ) -> $crate::hipError_t;
            /// Which accesses a device has to a pool's memory.
            optional fn hipMemPoolGetAccess(
                flags: *mut $crate::hipMemAccessFlags,
                mem_pool: $crate::hipMemPool_t,
                location: *mut $crate::hipMemLocation,
            ) -> $crate::hipError_t;
            /// The granularity of physical memory and of reserved addresses, in bytes.
            optional fn hipMemGetAllocationGranularity(
                granularity: *mut usize,
                prop: *const $crate::hipMemAllocationProp,
                option: $crate::hipMemAllocationGranularity_flags,
            ) -> $crate::hipError_t;
            /// Reserves addresses. `hipErrorMemoryAllocation` for a wrong size or alignment.
            optional fn hipMemAddressReserve(
                ptr: *mut *mut ::core::ffi::c_void,
                size: usize,
                alignment: usize,
                addr: *mut ::core::ffi::c_void,
                flags: ::core::ffi::c_ulonglong,
            ) -> $crate::hipError_t;
            /// Frees reserved addresses, where nothing may be mapped.
            optional fn hipMemAddressFree(
                dev_ptr: *mut ::core::ffi::c_void,
                size: usize,
            ) -> $crate::hipError_t;
            /// Allocates physical memory on a device.
            optional fn hipMemCreate(
                handle: *mut $crate::hipMemGenericAllocationHandle_t,
                size: usize,
                prop: *const $crate::hipMemAllocationProp,
                flags: ::core::ffi::c_ulonglong,
            ) -> $crate::hipError_t;
            /// Releases a handle. The memory is freed when it is mapped nowhere.
            optional fn hipMemRelease(
                handle: $crate::hipMemGenericAllocationHandle_t,
            ) -> $crate::hipError_t;
            /// The handle of the memory that is mapped at an address; it must be released once more.
            optional fn hipMemRetainAllocationHandle(
                handle: *mut $crate::hipMemGenericAllocationHandle_t,
                addr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// The properties of physical memory.
            optional fn hipMemGetAllocationPropertiesFromHandle(
                prop: *mut $crate::hipMemAllocationProp,
                handle: $crate::hipMemGenericAllocationHandle_t,
            ) -> $crate::hipError_t;
            /// Maps the first bytes of physical memory at reserved addresses. The offset must be 0, as in ROCm.
            optional fn hipMemMap(
                ptr: *mut ::core::ffi::c_void,
                size: usize,
                offset: usize,
                handle: $crate::hipMemGenericAllocationHandle_t,
                flags: ::core::ffi::c_ulonglong,
            ) -> $crate::hipError_t;
            /// Unmaps whole mappings, after the work of all devices.
            optional fn hipMemUnmap(
                ptr: *mut ::core::ffi::c_void,
                size: usize,
            ) -> $crate::hipError_t;
            /// Sets the accesses that devices have to whole mappings. At first they have none.
            optional fn hipMemSetAccess(
                ptr: *mut ::core::ffi::c_void,
                size: usize,
                desc: *const $crate::hipMemAccessDesc,
                count: usize,
            ) -> $crate::hipError_t;
            /// The accesses that a device has to the memory that is mapped at an address.
            optional fn hipMemGetAccess(
                flags: *mut ::core::ffi::c_ulonglong,
                location: *const $crate::hipMemLocation,
                ptr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// A file descriptor of physical memory, for other processes.
            optional fn hipMemExportToShareableHandle(
                shareable_handle: *mut ::core::ffi::c_void,
                handle: $crate::hipMemGenericAllocationHandle_t,
                handle_type: $crate::hipMemAllocationHandleType,
                flags: ::core::ffi::c_ulonglong,
            ) -> $crate::hipError_t;
            /// The memory of a file descriptor: `os_handle` is its address, or the descriptor itself.
            optional fn hipMemImportFromShareableHandle(
                handle: *mut $crate::hipMemGenericAllocationHandle_t,
                os_handle: *mut ::core::ffi::c_void,
                handle_type: $crate::hipMemAllocationHandleType,
            ) -> $crate::hipError_t;
            /// A handle with which other processes can open the allocation that contains an address, until it is freed.
            /// `hipErrorInvalidValue` for memory that is not `hipMalloc`'s. No other thread may write it meanwhile.
            optional fn hipIpcGetMemHandle(
                handle: *mut $crate::hipIpcMemHandle_t,
                dev_ptr: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Opens an allocation of another process on the current device, at an address of its own. `flags` must be
            /// `hipIpcMemLazyEnablePeerAccess`. `hipErrorInvalidContext` in the process of the handle,
            /// `hipErrorInvalidDevicePointer` if the allocation was freed or the process has ended.
            optional fn hipIpcOpenMemHandle(
                dev_ptr: *mut *mut ::core::ffi::c_void,
                handle: $crate::hipIpcMemHandle_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Closes memory of `hipIpcOpenMemHandle`, after the work of all devices.
            optional fn hipIpcCloseMemHandle(dev_ptr: *mut ::core::ffi::c_void) -> $crate::hipError_t;
        }
    };
}
