//! Enumerations. They are structs because a caller may pass any value.

/// Defines enumerations and their values.
macro_rules! numbers {
    ($($(#[$meta:meta])* $type:ident { $($(#[$value_meta:meta])* $name:ident = $value:literal,)* })*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type(pub u32);

        impl $type {
            $($(#[$value_meta])* pub const $name: Self = Self($value);)*
        }
    )*};
}

numbers! {
    /// A kind of memory.
    hipMemoryType {
        /// Ordinary host memory, unknown to HIP.
        hipMemoryTypeUnregistered = 0,
        /// Host memory that devices can access.
        hipMemoryTypeHost = 1,
        /// Device memory.
        hipMemoryTypeDevice = 2,
        /// Managed memory.
        hipMemoryTypeManaged = 3,
        /// An array.
        hipMemoryTypeArray = 10,
        /// Determined from the address.
        hipMemoryTypeUnified = 11,
    }

    /// An attribute of an address.
    hipPointer_attribute {
        /// The context (`hipCtx_t`).
        HIP_POINTER_ATTRIBUTE_CONTEXT = 1,
        /// The kind of memory (`hipMemoryType`).
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
        /// The address on the device (`hipDeviceptr_t`).
        HIP_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
        /// The address on the host (`void*`).
        HIP_POINTER_ATTRIBUTE_HOST_POINTER = 4,
        /// Tokens for Linux's peer-to-peer interface.
        HIP_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
        /// Whether copies wait (`bool`).
        HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
        /// A unique number of the allocation (`unsigned long long`).
        HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
        /// Whether the memory is managed (`bool`).
        HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        /// The device ordinal (`int`).
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        /// Whether the allocation supports legacy IPC (`bool`).
        HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE = 10,
        /// The allocation's start (`hipDeviceptr_t`).
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        /// The allocation's length (`size_t`).
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        /// Whether the memory is mapped (`bool`).
        HIP_POINTER_ATTRIBUTE_MAPPED = 13,
        /// Handle types for sharing the allocation (`unsigned long long`).
        HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
        /// Whether other PCIe devices can access the memory (`bool`).
        HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
        /// Allowed accesses (`unsigned`).
        HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
        /// The memory pool (`hipMemPool_t`).
        HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    }

    /// A limit of a device.
    hipLimit_t {
        /// Stack size per work-item, in bytes.
        hipLimitStackSize = 0,
        /// Size of the `printf` buffer, in bytes.
        hipLimitPrintfFifoSize = 1,
        /// Size of the device-side heap, in bytes.
        hipLimitMallocHeapSize = 2,
    }

    /// The split of memory between L1 cache and LDS.
    hipFuncCache_t {
        /// The default.
        hipFuncCachePreferNone = 0,
    }

    /// The width of LDS banks.
    hipSharedMemConfig {
        /// The default.
        hipSharedMemBankSizeDefault = 0,
        /// Four bytes.
        hipSharedMemBankSizeFourByte = 1,
        /// Eight bytes.
        hipSharedMemBankSizeEightByte = 2,
    }

    /// An attribute of the link between two devices.
    hipDeviceP2PAttr {
        /// The performance rank of the link.
        hipDevP2PAttrPerformanceRank = 0,
        /// Whether peer access is supported.
        hipDevP2PAttrAccessSupported = 1,
        /// Whether native atomics are supported.
        hipDevP2PAttrNativeAtomicSupported = 2,
        /// Whether peer access to arrays is supported.
        hipDevP2PAttrHipArrayAccessSupported = 3,
    }

    /// Advice on how memory will be used.
    hipMemoryAdvise {
        /// Mostly read.
        hipMemAdviseSetReadMostly = 1,
        /// No fine-grained coherence needed.
        hipMemAdviseSetCoarseGrain = 100,
    }

    /// The kind of a memory location.
    hipMemLocationType {
        /// None.
        hipMemLocationTypeInvalid = 0,
        /// A device.
        hipMemLocationTypeDevice = 1,
        /// The host.
        hipMemLocationTypeHost = 2,
    }

    /// When a copy of a batch reads its source.
    hipMemcpySrcAccessOrder {
        /// In stream order.
        hipMemcpySrcAccessOrderStream = 1,
        /// Before the call returns.
        hipMemcpySrcAccessOrderDuringApiCall = 2,
        /// At any time until the copy is done.
        hipMemcpySrcAccessOrderAny = 3,
    }

    /// What a side of a copy in a batch is.
    hipMemcpy3DOperandType {
        /// Memory.
        hipMemcpyOperandTypePointer = 1,
        /// An array.
        hipMemcpyOperandTypeArray = 2,
    }

    /// What `hipMemRangeGetAttribute` tells of a range of memory.
    hipMemRangeAttribute {
        /// Whether all of it is mostly read (`u32`).
        hipMemRangeAttributeReadMostly = 1,
        /// Its preferred location (`int`): a device, `hipCpuDeviceId`, or `hipInvalidDeviceId` for none.
        hipMemRangeAttributePreferredLocation = 2,
        /// The devices that access it (a list of `int`), then `hipInvalidDeviceId`.
        hipMemRangeAttributeAccessedBy = 3,
        /// Where it was prefetched last (`int`), as the preferred location.
        hipMemRangeAttributeLastPrefetchLocation = 4,
        /// Its coherence (`u32`): fine-grained (0), coarse-grained (1), or not the same everywhere (2).
        hipMemRangeAttributeCoherencyMode = 100,
    }

    /// The type of an array's channels.
    hipArray_Format {
        /// Unsigned, 8 bits.
        HIP_AD_FORMAT_UNSIGNED_INT8 = 1,
        /// Unsigned, 16 bits.
        HIP_AD_FORMAT_UNSIGNED_INT16 = 2,
        /// Unsigned, 32 bits.
        HIP_AD_FORMAT_UNSIGNED_INT32 = 3,
        /// Signed, 8 bits.
        HIP_AD_FORMAT_SIGNED_INT8 = 8,
        /// Signed, 16 bits.
        HIP_AD_FORMAT_SIGNED_INT16 = 9,
        /// Signed, 32 bits.
        HIP_AD_FORMAT_SIGNED_INT32 = 10,
        /// f16.
        HIP_AD_FORMAT_HALF = 16,
        /// f32.
        HIP_AD_FORMAT_FLOAT = 32,
    }

    /// An option of a library.
    hipLibraryOption {
        /// A table of functions and data for all hosts.
        hipLibraryHostUniversalFunctionAndDataTable = 0,
        /// The code object in memory stays as it is.
        hipLibraryBinaryIsPreserved = 1,
    }

    /// How host threads wait for a stream.
    hipSynchronizationPolicy {
        /// HIP's choice.
        hipSyncPolicyAuto = 1,
        /// They spin.
        hipSyncPolicySpin = 2,
        /// They spin, and yield to others.
        hipSyncPolicyYield = 3,
        /// They sleep.
        hipSyncPolicyBlockingSync = 4,
    }

    /// Allowed accesses to memory.
    hipMemAccessFlags {
        /// None.
        hipMemAccessFlagsProtNone = 0,
        /// Read.
        hipMemAccessFlagsProtRead = 1,
        /// Read and write.
        hipMemAccessFlagsProtReadWrite = 3,
    }

    /// The kind of physical memory.
    hipMemAllocationType {
        /// Memory that is not moved.
        hipMemAllocationTypePinned = 1,
        /// Managed memory.
        hipMemAllocationTypeManaged = 2,
    }

    /// The kind of a device's resource.
    hipDevResourceType {
        /// None.
        hipDevResourceTypeInvalid = 0,
        /// Compute units.
        hipDevResourceTypeSm = 1,
        /// How queues are shared.
        hipDevResourceTypeWorkqueueConfig = 1000,
        /// Queues.
        hipDevResourceTypeWorkqueue = 10000,
    }

    /// How physical memory is shared with other processes.
    hipMemAllocationHandleType {
        /// Not at all.
        hipMemHandleTypeNone = 0,
        /// By a file descriptor.
        hipMemHandleTypePosixFileDescriptor = 1,
    }

    /// Which granularity of physical memory is asked for.
    hipMemAllocationGranularity_flags {
        /// The smallest.
        hipMemAllocationGranularityMinimum = 0,
        /// The one with the best performance.
        hipMemAllocationGranularityRecommended = 1,
    }

    /// An attribute of a memory pool.
    hipMemPoolAttr {
        /// Whether freed memory is reused after an event dependency (`int`).
        hipMemPoolReuseFollowEventDependencies = 1,
        /// Whether freed memory is reused if its work happens to be complete (`int`).
        hipMemPoolReuseAllowOpportunistic = 2,
        /// Whether a stream may be made to wait so that memory can be reused (`int`).
        hipMemPoolReuseAllowInternalDependencies = 3,
        /// Unused bytes that the pool keeps (`u64`).
        hipMemPoolAttrReleaseThreshold = 4,
        /// Reserved bytes (`u64`).
        hipMemPoolAttrReservedMemCurrent = 5,
        /// Maximum of the reserved bytes (`u64`).
        hipMemPoolAttrReservedMemHigh = 6,
        /// Used bytes (`u64`).
        hipMemPoolAttrUsedMemCurrent = 7,
        /// Maximum of the used bytes (`u64`).
        hipMemPoolAttrUsedMemHigh = 8,
    }

    /// A kernel attribute that can be set.
    hipFuncAttribute {
        /// Maximum dynamic LDS, in bytes.
        hipFuncAttributeMaxDynamicSharedMemorySize = 8,
        /// CUDA only.
        hipFuncAttributePreferredSharedMemoryCarveout = 9,
    }

    /// An option of the run-time compiler or linker.
    hipJitOption {
        /// Maximum number of registers.
        hipJitOptionMaxRegisters = 0,
        /// Buffer for the linker's messages (`*mut c_char`).
        hipJitOptionInfoLogBuffer = 3,
        /// Size of that buffer in bytes, including the NUL.
        hipJitOptionInfoLogBufferSizeBytes = 4,
        /// Buffer for error messages (`*mut c_char`).
        hipJitOptionErrorLogBuffer = 5,
        /// Size of that buffer in bytes, including the NUL.
        hipJitOptionErrorLogBufferSizeBytes = 6,
        /// Optimization level, 0 to 3.
        hipJitOptionOptimizationLevel = 7,
        /// Options for compiling bitcode to machine code (`*const *const c_char`).
        hipJitOptionIRtoISAOptExt = 10000,
        /// Number of these options.
        hipJitOptionIRtoISAOptCountExt = 10001,
    }

    /// A kind of linker input.
    hipJitInputType {
        /// LLVM bitcode or textual IR.
        hipJitInputLLVMBitcode = 100,
        /// A clang offload bundle of bitcode for several targets.
        hipJitInputLLVMBundledBitcode = 101,
        /// An archive of such bundles.
        hipJitInputLLVMArchivesOfBundledBitcode = 102,
    }

    /// The type of the channels of a texture's elements.
    hipChannelFormatKind {
        /// Signed integers.
        hipChannelFormatKindSigned = 0,
        /// Unsigned integers.
        hipChannelFormatKindUnsigned = 1,
        /// Floating-point numbers.
        hipChannelFormatKindFloat = 2,
        /// None.
        hipChannelFormatKindNone = 3,
    }

    /// A kind of texture memory.
    hipResourceType {
        /// An array.
        hipResourceTypeArray = 0,
        /// A mipmapped array.
        hipResourceTypeMipmappedArray = 1,
        /// Linear memory.
        hipResourceTypeLinear = 2,
        /// Pitched rows.
        hipResourceTypePitch2D = 3,
    }

    /// Which potentially unsafe calls are allowed during a capture.
    hipStreamCaptureMode {
        /// None, on any thread.
        hipStreamCaptureModeGlobal = 0,
        /// None on the capturing thread.
        hipStreamCaptureModeThreadLocal = 1,
        /// All.
        hipStreamCaptureModeRelaxed = 2,
    }

    /// Whether a stream is being captured.
    hipStreamCaptureStatus {
        /// Not capturing.
        hipStreamCaptureStatusNone = 0,
        /// Capturing.
        hipStreamCaptureStatusActive = 1,
        /// The capture has failed and must be ended.
        hipStreamCaptureStatusInvalidated = 2,
    }

    /// The type of a graph node.
    hipGraphNodeType {
        /// A kernel launch.
        hipGraphNodeTypeKernel = 0,
        /// A copy.
        hipGraphNodeTypeMemcpy = 1,
        /// A memset.
        hipGraphNodeTypeMemset = 2,
        /// A host function call.
        hipGraphNodeTypeHost = 3,
        /// Another graph.
        hipGraphNodeTypeGraph = 4,
        /// An empty node.
        hipGraphNodeTypeEmpty = 5,
        /// A wait for an event.
        hipGraphNodeTypeWaitEvent = 6,
        /// The recording of an event.
        hipGraphNodeTypeEventRecord = 7,
        /// A signal of an external semaphore.
        hipGraphNodeTypeExtSemaphoreSignal = 8,
        /// A wait for an external semaphore.
        hipGraphNodeTypeExtSemaphoreWait = 9,
        /// An allocation.
        hipGraphNodeTypeMemAlloc = 10,
        /// A free.
        hipGraphNodeTypeMemFree = 11,
        /// Waits for values, and writes of them.
        hipGraphNodeTypeBatchMemOp = 14,
    }

    /// An attribute of the memory of graphs.
    hipGraphMemAttributeType {
        /// Allocated bytes.
        hipGraphMemAttrUsedMemCurrent = 0,
        /// Maximum of the allocated bytes.
        hipGraphMemAttrUsedMemHigh = 1,
        /// Reserved bytes.
        hipGraphMemAttrReservedMemCurrent = 2,
        /// Maximum of the reserved bytes.
        hipGraphMemAttrReservedMemHigh = 3,
    }

    /// The result of updating an executable graph.
    hipGraphExecUpdateResult {
        /// Success.
        hipGraphExecUpdateSuccess = 0,
        /// Another error.
        hipGraphExecUpdateError = 1,
        /// Nodes or dependencies differ.
        hipGraphExecUpdateErrorTopologyChanged = 2,
        /// A node has another type.
        hipGraphExecUpdateErrorNodeTypeChanged = 3,
        /// A parameter differs that an update cannot change.
        hipGraphExecUpdateErrorParametersChanged = 5,
        /// The change is not supported.
        hipGraphExecUpdateErrorNotSupported = 6,
    }
}
