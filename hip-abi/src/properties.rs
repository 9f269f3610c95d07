//! `hipDeviceProp_t` since ROCm 6.0, `hipDeviceProp_tR0600` in the headers.

use core::ffi::{c_char, c_int, c_uint};

use crate::{hipDeviceArch_t, hipUUID, layout::c_struct};

c_struct! {
    /// What a device is and has, as [`hipGetDevicePropertiesR0600`](crate::Functions::hipGetDevicePropertiesR0600)
    /// says. Numbers that answer a question with yes or no are 1 or 0.
    pub struct hipDeviceProp_tR0600 of 1472 bytes {
        /// Marketing name, NUL-terminated.
        0 name: [c_char; 256],
        /// Unique identifier of the device.
        256 uuid: hipUUID,
        /// Windows only.
        272 luid: [c_char; 8],
        /// Windows only.
        280 luidDeviceNodeMask: c_uint,
        /// Global memory, in bytes.
        288 totalGlobalMem: usize,
        /// Maximum LDS per workgroup, in bytes.
        296 sharedMemPerBlock: usize,
        /// Number of 32-bit registers per workgroup.
        304 regsPerBlock: c_int,
        /// Wave size, in work-items.
        308 warpSize: c_int,
        /// Maximum pitch of a pitched copy, in bytes.
        312 memPitch: usize,
        /// Maximum number of work-items per workgroup.
        320 maxThreadsPerBlock: c_int,
        /// Maximum workgroup size along x, y and z, in work-items.
        324 maxThreadsDim: [c_int; 3],
        /// Maximum grid size along x, y and z, in workgroups.
        336 maxGridSize: [c_int; 3],
        /// Highest engine clock, in kHz.
        348 clockRate: c_int,
        /// Size of constant memory, in bytes.
        352 totalConstMem: usize,
        /// Major version of the instruction set: 9 for gfx942.
        360 major: c_int,
        /// Minor version of the instruction set: 4 for gfx942.
        364 minor: c_int,
        /// Alignment of textures, in bytes.
        368 textureAlignment: usize,
        /// Alignment of pitched textures, in bytes.
        376 texturePitchAlignment: usize,
        /// Whether copies can overlap kernels.
        384 deviceOverlap: c_int,
        /// Number of compute units.
        388 multiProcessorCount: c_int,
        /// Whether kernels have a time limit.
        392 kernelExecTimeoutEnabled: c_int,
        /// Whether the GPU is integrated and shares memory with the host.
        396 integrated: c_int,
        /// Whether the device can access host memory.
        400 canMapHostMemory: c_int,
        /// Compute mode; 0 is unrestricted.
        404 computeMode: c_int,
        /// Maximum size of 1D textures.
        408 maxTexture1D: c_int,
        /// Maximum size of mipmapped 1D textures.
        412 maxTexture1DMipmap: c_int,
        /// Maximum size of 1D textures in linear memory.
        416 maxTexture1DLinear: c_int,
        /// Maximum size of 2D textures.
        420 maxTexture2D: [c_int; 2],
        /// Maximum size of mipmapped 2D textures.
        428 maxTexture2DMipmap: [c_int; 2],
        /// Maximum size of 2D textures in pitched memory.
        436 maxTexture2DLinear: [c_int; 3],
        /// Maximum size of 2D textures for gathers.
        448 maxTexture2DGather: [c_int; 2],
        /// Maximum size of 3D textures.
        456 maxTexture3D: [c_int; 3],
        /// Alternative maximum size of 3D textures.
        468 maxTexture3DAlt: [c_int; 3],
        /// Maximum size of cubemap textures.
        480 maxTextureCubemap: c_int,
        /// Maximum size of layered 1D textures.
        484 maxTexture1DLayered: [c_int; 2],
        /// Maximum size of layered 2D textures.
        492 maxTexture2DLayered: [c_int; 3],
        /// Maximum size of layered cubemap textures.
        504 maxTextureCubemapLayered: [c_int; 2],
        /// Maximum size of 1D surfaces.
        512 maxSurface1D: c_int,
        /// Maximum size of 2D surfaces.
        516 maxSurface2D: [c_int; 2],
        /// Maximum size of 3D surfaces.
        524 maxSurface3D: [c_int; 3],
        /// Maximum size of layered 1D surfaces.
        536 maxSurface1DLayered: [c_int; 2],
        /// Maximum size of layered 2D surfaces.
        544 maxSurface2DLayered: [c_int; 3],
        /// Maximum size of cubemap surfaces.
        556 maxSurfaceCubemap: c_int,
        /// Maximum size of layered cubemap surfaces.
        560 maxSurfaceCubemapLayered: [c_int; 2],
        /// Alignment of surfaces, in bytes.
        568 surfaceAlignment: usize,
        /// Whether kernels can run concurrently.
        576 concurrentKernels: c_int,
        /// Whether memory is error-corrected.
        580 ECCEnabled: c_int,
        /// PCI bus number.
        584 pciBusID: c_int,
        /// PCI device number.
        588 pciDeviceID: c_int,
        /// PCI domain number.
        592 pciDomainID: c_int,
        /// CUDA only.
        596 tccDriver: c_int,
        /// Number of copy engines.
        600 asyncEngineCount: c_int,
        /// Whether host and device share one address space.
        604 unifiedAddressing: c_int,
        /// Memory clock, in kHz.
        608 memoryClockRate: c_int,
        /// Width of the memory bus, in bits.
        612 memoryBusWidth: c_int,
        /// Size of the L2 cache, in bytes.
        616 l2CacheSize: c_int,
        /// CUDA only.
        620 persistingL2CacheMaxSize: c_int,
        /// Maximum number of work-items per compute unit.
        624 maxThreadsPerMultiProcessor: c_int,
        /// Whether streams have priorities.
        628 streamPrioritiesSupported: c_int,
        /// Whether global memory is cached in L1.
        632 globalL1CacheSupported: c_int,
        /// Whether scratch is cached in L1.
        636 localL1CacheSupported: c_int,
        /// LDS per compute unit, in bytes.
        640 sharedMemPerMultiprocessor: usize,
        /// Number of 32-bit registers per compute unit.
        648 regsPerMultiprocessor: c_int,
        /// Whether managed memory is supported.
        652 managedMemory: c_int,
        /// Whether the board has several GPUs.
        656 isMultiGpuBoard: c_int,
        /// Identifier shared by all GPUs of a board.
        660 multiGpuBoardGroupID: c_int,
        /// Whether native atomics on host memory are supported.
        664 hostNativeAtomicSupported: c_int,
        /// CUDA only.
        668 singleToDoublePrecisionPerfRatio: c_int,
        /// Whether the device can access unregistered host memory.
        672 pageableMemoryAccess: c_int,
        /// Whether host and device may access managed memory concurrently.
        676 concurrentManagedAccess: c_int,
        /// Whether kernels can be preempted.
        680 computePreemptionSupported: c_int,
        /// Whether registered memory has the same address on host and device.
        684 canUseHostPointerForRegisteredMem: c_int,
        /// Whether cooperative launches are supported.
        688 cooperativeLaunch: c_int,
        /// Whether multi-device cooperative launches are supported.
        692 cooperativeMultiDeviceLaunch: c_int,
        /// Maximum LDS per workgroup with opt-in, in bytes.
        696 sharedMemPerBlockOptin: usize,
        /// Whether accesses to pageable memory use the host's page tables.
        704 pageableMemoryAccessUsesHostPageTables: c_int,
        /// Whether the host can access managed memory without migration.
        708 directManagedMemAccessFromHost: c_int,
        /// Maximum number of workgroups per compute unit.
        712 maxBlocksPerMultiProcessor: c_int,
        /// CUDA only.
        716 accessPolicyMaxWindowSize: c_int,
        /// LDS that the driver reserves per workgroup, in bytes.
        720 reservedSharedMemPerBlock: usize,
        /// Whether host memory can be registered.
        728 hostRegisterSupported: c_int,
        /// Whether sparse arrays are supported.
        732 sparseHipArraySupported: c_int,
        /// Whether host memory can be registered as read-only.
        736 hostRegisterReadOnlySupported: c_int,
        /// Whether timeline semaphores can be shared.
        740 timelineSemaphoreInteropSupported: c_int,
        /// Whether memory pools are supported.
        744 memoryPoolsSupported: c_int,
        /// Whether other PCIe devices can access device memory (GPUDirect RDMA).
        748 gpuDirectRDMASupported: c_int,
        /// Options to flush GPUDirect RDMA writes.
        752 gpuDirectRDMAFlushWritesOptions: c_uint,
        /// Ordering of GPUDirect RDMA writes.
        756 gpuDirectRDMAWritesOrdering: c_int,
        /// Handle types for sharing pools.
        760 memoryPoolSupportedHandleTypes: c_uint,
        /// Whether deferred mapping of arrays is supported.
        764 deferredMappingHipArraySupported: c_int,
        /// Whether events can be shared between processes.
        768 ipcEventSupported: c_int,
        /// CUDA only.
        772 clusterLaunch: c_int,
        /// CUDA only.
        776 unifiedFunctionPointers: c_int,
        /// Reserved for CUDA's fields.
        780 reserved: [c_int; 63],
        /// Reserved for HIP's fields.
        1032 hipReserved: [c_int; 32],
        /// LLVM target ID, for example `gfx90a:sramecc+:xnack-`, NUL-terminated.
        1160 gcnArchName: [c_char; 256],
        /// LDS per compute unit, in bytes.
        1416 maxSharedMemoryPerMultiProcessor: usize,
        /// Frequency of the clock that kernels read, in kHz.
        1424 clockInstructionRate: c_int,
        /// Features that kernels may use.
        1428 arch: hipDeviceArch_t,
        /// Register that flushes host writes to memory.
        1432 hdpMemFlushCntl: *mut c_uint,
        /// Register that flushes host writes to registers.
        1440 hdpRegFlushCntl: *mut c_uint,
        /// Whether the kernels of a multi-device cooperative launch may differ.
        1448 cooperativeMultiDeviceUnmatchedFunc: c_int,
        /// Whether the grids of a multi-device cooperative launch may differ.
        1452 cooperativeMultiDeviceUnmatchedGridDim: c_int,
        /// Whether the workgroup sizes of a multi-device cooperative launch may differ.
        1456 cooperativeMultiDeviceUnmatchedBlockDim: c_int,
        /// Whether the dynamic LDS of a multi-device cooperative launch may differ.
        1460 cooperativeMultiDeviceUnmatchedSharedMem: c_int,
        /// Whether the host can access all device memory (large BAR).
        1464 isLargeBar: c_int,
        /// Revision of the chip.
        1468 asicRevision: c_int,
    }
}
