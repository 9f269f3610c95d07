//! Small numbers with names. Structs, not enums: a caller may pass any value.

/// Defines number types and their values.
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
        /// The program's own.
        hipMemoryTypeUnregistered = 0,
        /// The host's, reached by devices.
        hipMemoryTypeHost = 1,
        /// A device's.
        hipMemoryTypeDevice = 2,
        /// Both's.
        hipMemoryTypeManaged = 3,
        /// An array's.
        hipMemoryTypeArray = 10,
        /// As the address says.
        hipMemoryTypeUnified = 11,
    }

    /// A question about an address.
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
        /// A number that no other allocation has (`unsigned long long`).
        HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
        /// Whether it is managed (`bool`).
        HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        /// The device's number (`int`).
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        /// Whether processes can share it (`bool`).
        HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE = 10,
        /// The allocation's start (`hipDeviceptr_t`).
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        /// The allocation's length (`size_t`).
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        /// Whether it is mapped (`bool`).
        HIP_POINTER_ATTRIBUTE_MAPPED = 13,
        /// Handles by which it can be shared (`unsigned long long`).
        HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
        /// Whether other devices reach it (`bool`).
        HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
        /// How it may be used (`unsigned`).
        HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
        /// The pool that it is from (`hipMemPool_t`).
        HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    }

    /// A limit of a device.
    hipLimit_t {
        /// Stack of a work-item, in bytes.
        hipLimitStackSize = 0,
        /// Room for what kernels print, in bytes.
        hipLimitPrintfFifoSize = 1,
        /// Memory that kernels may allocate, in bytes.
        hipLimitMallocHeapSize = 2,
    }

    /// What cache and LDS share.
    hipFuncCache_t {
        /// As it is.
        hipFuncCachePreferNone = 0,
    }

    /// The width of LDS banks.
    hipSharedMemConfig {
        /// As it is.
        hipSharedMemBankSizeDefault = 0,
        /// Four bytes.
        hipSharedMemBankSizeFourByte = 1,
        /// Eight bytes.
        hipSharedMemBankSizeEightByte = 2,
    }

    /// A question about two devices.
    hipDeviceP2PAttr {
        /// How fast the link is.
        hipDevP2PAttrPerformanceRank = 0,
        /// Whether one reaches the other.
        hipDevP2PAttrAccessSupported = 1,
        /// Whether atomics do.
        hipDevP2PAttrNativeAtomicSupported = 2,
        /// Whether arrays can be reached.
        hipDevP2PAttrHipArrayAccessSupported = 3,
    }

    /// Advice on how memory will be used.
    hipMemoryAdvise {
        /// Mostly read.
        hipMemAdviseSetReadMostly = 1,
        /// No fine-grained coherence needed.
        hipMemAdviseSetCoarseGrain = 100,
    }

    /// On what memory is.
    hipMemLocationType {
        /// Nothing.
        hipMemLocationTypeInvalid = 0,
        /// A device.
        hipMemLocationTypeDevice = 1,
        /// The host.
        hipMemLocationTypeHost = 2,
    }

    /// What may be done with memory.
    hipMemAccessFlags {
        /// Nothing.
        hipMemAccessFlagsProtNone = 0,
        /// Reading.
        hipMemAccessFlagsProtRead = 1,
        /// Reading and writing.
        hipMemAccessFlagsProtReadWrite = 3,
    }

    /// A number that a pool has.
    hipMemPoolAttr {
        /// Whether memory is used again once an event is past (`int`).
        hipMemPoolReuseFollowEventDependencies = 1,
        /// Whether it is once it happens to be free (`int`).
        hipMemPoolReuseAllowOpportunistic = 2,
        /// Whether streams may wait for it (`int`).
        hipMemPoolReuseAllowInternalDependencies = 3,
        /// Unused bytes that are kept (`u64`).
        hipMemPoolAttrReleaseThreshold = 4,
        /// Bytes that the pool holds (`u64`).
        hipMemPoolAttrReservedMemCurrent = 5,
        /// The most that it held (`u64`).
        hipMemPoolAttrReservedMemHigh = 6,
        /// Bytes in use (`u64`).
        hipMemPoolAttrUsedMemCurrent = 7,
        /// The most in use (`u64`).
        hipMemPoolAttrUsedMemHigh = 8,
    }

    /// What can be set of a kernel.
    hipFuncAttribute {
        /// Most LDS that a launch may add, in bytes.
        hipFuncAttributeMaxDynamicSharedMemorySize = 8,
        /// CUDA only.
        hipFuncAttributePreferredSharedMemoryCarveout = 9,
    }

    /// An option of a compiler at run time.
    hipJitOption {
        /// Most registers.
        hipJitOptionMaxRegisters = 0,
        /// Where what the linker says is written (`*mut c_char`).
        hipJitOptionInfoLogBuffer = 3,
        /// Bytes there, the NUL included.
        hipJitOptionInfoLogBufferSizeBytes = 4,
        /// Where errors are written (`*mut c_char`).
        hipJitOptionErrorLogBuffer = 5,
        /// Bytes there, the NUL included.
        hipJitOptionErrorLogBufferSizeBytes = 6,
        /// How much code is optimized, 0 to 3.
        hipJitOptionOptimizationLevel = 7,
        /// Options for the compiler from bitcode on (`*const *const c_char`).
        hipJitOptionIRtoISAOptExt = 10000,
        /// How many these are.
        hipJitOptionIRtoISAOptCountExt = 10001,
    }

    /// What a linker is given.
    hipJitInputType {
        /// LLVM's bitcode, or its IR as text.
        hipJitInputLLVMBitcode = 100,
        /// Bitcode for several targets in a bundle of clang's.
        hipJitInputLLVMBundledBitcode = 101,
        /// An archive of such bundles.
        hipJitInputLLVMArchivesOfBundledBitcode = 102,
    }

    /// What the parts of a texture's elements are.
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

    /// The memory of a texture.
    hipResourceType {
        /// An array.
        hipResourceTypeArray = 0,
        /// Arrays, one for each level.
        hipResourceTypeMipmappedArray = 1,
        /// Elements one behind the other.
        hipResourceTypeLinear = 2,
        /// Rows of elements.
        hipResourceTypePitch2D = 3,
    }

    /// What may go on elsewhere while a stream is captured.
    hipStreamCaptureMode {
        /// Nothing unsafe on any thread.
        hipStreamCaptureModeGlobal = 0,
        /// Nothing unsafe on this thread.
        hipStreamCaptureModeThreadLocal = 1,
        /// Everything.
        hipStreamCaptureModeRelaxed = 2,
    }

    /// Whether a stream is captured.
    hipStreamCaptureStatus {
        /// No.
        hipStreamCaptureStatusNone = 0,
        /// Yes.
        hipStreamCaptureStatusActive = 1,
        /// It was, until something went wrong.
        hipStreamCaptureStatusInvalidated = 2,
    }

    /// What a node does.
    hipGraphNodeType {
        /// A launch.
        hipGraphNodeTypeKernel = 0,
        /// A copy.
        hipGraphNodeTypeMemcpy = 1,
        /// A fill.
        hipGraphNodeTypeMemset = 2,
        /// A call of a host function.
        hipGraphNodeTypeHost = 3,
        /// Another graph.
        hipGraphNodeTypeGraph = 4,
        /// Nothing.
        hipGraphNodeTypeEmpty = 5,
        /// A wait for an event.
        hipGraphNodeTypeWaitEvent = 6,
        /// The recording of an event.
        hipGraphNodeTypeEventRecord = 7,
        /// An allocation.
        hipGraphNodeTypeMemAlloc = 10,
        /// The freeing of one.
        hipGraphNodeTypeMemFree = 11,
    }

    /// A question about the memory of graphs.
    hipGraphMemAttributeType {
        /// Bytes that are allocated.
        hipGraphMemAttrUsedMemCurrent = 0,
        /// The most that there were.
        hipGraphMemAttrUsedMemHigh = 1,
        /// Bytes that graphs have a place for.
        hipGraphMemAttrReservedMemCurrent = 2,
        /// The most that there were.
        hipGraphMemAttrReservedMemHigh = 3,
    }

    /// Why a graph was not updated.
    hipGraphExecUpdateResult {
        /// It was.
        hipGraphExecUpdateSuccess = 0,
        /// Something else.
        hipGraphExecUpdateError = 1,
        /// Other nodes or dependencies.
        hipGraphExecUpdateErrorTopologyChanged = 2,
        /// A node of another kind.
        hipGraphExecUpdateErrorNodeTypeChanged = 3,
        /// Something that cannot be changed.
        hipGraphExecUpdateErrorNotSupported = 6,
    }
}
