//! `hipDeviceProp_t` as of ROCm 6.0, which its headers call `hipDeviceProp_tR0600`.

use core::ffi::{c_char, c_int, c_uint};

use crate::{hipDeviceArch_t, hipUUID, layout::c_struct};

c_struct! {
    /// What a device is and has, as [`hipGetDevicePropertiesR0600`](crate::Functions::hipGetDevicePropertiesR0600)
    /// says. Numbers that answer a question with yes or no are 1 or 0.
    pub struct hipDeviceProp_tR0600 of 1472 bytes {
        /// Marketing name, NUL-terminated.
        0 name: [c_char; 256],
        /// Identifier that no other device has.
        256 uuid: hipUUID,
        /// Windows only.
        272 luid: [c_char; 8],
        /// Windows only.
        280 luidDeviceNodeMask: c_uint,
        /// Global memory, in bytes.
        288 totalGlobalMem: usize,
        /// LDS of a workgroup, in bytes.
        296 sharedMemPerBlock: usize,
        /// 32-bit registers of a workgroup.
        304 regsPerBlock: c_int,
        /// Work-items of a wave.
        308 warpSize: c_int,
        /// Largest pitch of a pitched copy, in bytes.
        312 memPitch: usize,
        /// Most work-items of a workgroup.
        320 maxThreadsPerBlock: c_int,
        /// Most work-items of a workgroup along x, y and z.
        324 maxThreadsDim: [c_int; 3],
        /// Most workgroups of a grid along x, y and z.
        336 maxGridSize: [c_int; 3],
        /// Highest engine clock, in kHz.
        348 clockRate: c_int,
        /// Constant memory, in bytes.
        352 totalConstMem: usize,
        /// First number of the instruction set: 9 for gfx942.
        360 major: c_int,
        /// Second number of the instruction set: 4 for gfx942.
        364 minor: c_int,
        /// Alignment of textures, in bytes.
        368 textureAlignment: usize,
        /// Alignment of pitched textures, in bytes.
        376 texturePitchAlignment: usize,
        /// Whether copies and kernels overlap.
        384 deviceOverlap: c_int,
        /// Compute units.
        388 multiProcessorCount: c_int,
        /// Whether kernels have a time limit.
        392 kernelExecTimeoutEnabled: c_int,
        /// Whether it shares memory with the host.
        396 integrated: c_int,
        /// Whether it reads host memory.
        400 canMapHostMemory: c_int,
        /// Who may use it; 0 for everybody.
        404 computeMode: c_int,
        /// Largest 1D texture.
        408 maxTexture1D: c_int,
        /// Largest 1D texture with mipmaps.
        412 maxTexture1DMipmap: c_int,
        /// Largest 1D texture in linear memory.
        416 maxTexture1DLinear: c_int,
        /// Largest 2D texture.
        420 maxTexture2D: [c_int; 2],
        /// Largest 2D texture with mipmaps.
        428 maxTexture2DMipmap: [c_int; 2],
        /// Largest 2D texture in pitched memory.
        436 maxTexture2DLinear: [c_int; 3],
        /// Largest 2D texture for gathers.
        448 maxTexture2DGather: [c_int; 2],
        /// Largest 3D texture.
        456 maxTexture3D: [c_int; 3],
        /// Largest 3D texture of the other shape.
        468 maxTexture3DAlt: [c_int; 3],
        /// Largest cube map.
        480 maxTextureCubemap: c_int,
        /// Largest layered 1D texture.
        484 maxTexture1DLayered: [c_int; 2],
        /// Largest layered 2D texture.
        492 maxTexture2DLayered: [c_int; 3],
        /// Largest layered cube map.
        504 maxTextureCubemapLayered: [c_int; 2],
        /// Largest 1D surface.
        512 maxSurface1D: c_int,
        /// Largest 2D surface.
        516 maxSurface2D: [c_int; 2],
        /// Largest 3D surface.
        524 maxSurface3D: [c_int; 3],
        /// Largest layered 1D surface.
        536 maxSurface1DLayered: [c_int; 2],
        /// Largest layered 2D surface.
        544 maxSurface2DLayered: [c_int; 3],
        /// Largest cube map surface.
        556 maxSurfaceCubemap: c_int,
        /// Largest layered cube map surface.
        560 maxSurfaceCubemapLayered: [c_int; 2],
        /// Alignment of surfaces, in bytes.
        568 surfaceAlignment: usize,
        /// Whether several kernels run at once.
        576 concurrentKernels: c_int,
        /// Whether memory is error-corrected.
        580 ECCEnabled: c_int,
        /// PCI bus.
        584 pciBusID: c_int,
        /// PCI device.
        588 pciDeviceID: c_int,
        /// PCI domain.
        592 pciDomainID: c_int,
        /// CUDA only.
        596 tccDriver: c_int,
        /// Copy engines.
        600 asyncEngineCount: c_int,
        /// Whether host and device share one address space.
        604 unifiedAddressing: c_int,
        /// Memory clock, in kHz.
        608 memoryClockRate: c_int,
        /// Width of the memory bus, in bits.
        612 memoryBusWidth: c_int,
        /// L2 cache, in bytes.
        616 l2CacheSize: c_int,
        /// CUDA only.
        620 persistingL2CacheMaxSize: c_int,
        /// Most work-items on a compute unit.
        624 maxThreadsPerMultiProcessor: c_int,
        /// Whether streams have priorities.
        628 streamPrioritiesSupported: c_int,
        /// Whether global memory is cached in L1.
        632 globalL1CacheSupported: c_int,
        /// Whether scratch is cached in L1.
        636 localL1CacheSupported: c_int,
        /// LDS of a compute unit, in bytes.
        640 sharedMemPerMultiprocessor: usize,
        /// 32-bit registers of a compute unit.
        648 regsPerMultiprocessor: c_int,
        /// Whether there is managed memory.
        652 managedMemory: c_int,
        /// Whether its board has several GPUs.
        656 isMultiGpuBoard: c_int,
        /// The same for all GPUs of a board.
        660 multiGpuBoardGroupID: c_int,
        /// Whether atomics reach host memory.
        664 hostNativeAtomicSupported: c_int,
        /// CUDA only.
        668 singleToDoublePrecisionPerfRatio: c_int,
        /// Whether it reads unregistered host memory.
        672 pageableMemoryAccess: c_int,
        /// Whether host and device may use managed memory at once.
        676 concurrentManagedAccess: c_int,
        /// Whether kernels are preempted.
        680 computePreemptionSupported: c_int,
        /// Whether registered memory has one address on both sides.
        684 canUseHostPointerForRegisteredMem: c_int,
        /// Whether there are cooperative launches.
        688 cooperativeLaunch: c_int,
        /// Whether cooperative launches span devices.
        692 cooperativeMultiDeviceLaunch: c_int,
        /// LDS of a workgroup on request, in bytes.
        696 sharedMemPerBlockOptin: usize,
        /// Whether it uses the host's page tables.
        704 pageableMemoryAccessUsesHostPageTables: c_int,
        /// Whether the host reads managed memory in place.
        708 directManagedMemAccessFromHost: c_int,
        /// Most workgroups on a compute unit.
        712 maxBlocksPerMultiProcessor: c_int,
        /// CUDA only.
        716 accessPolicyMaxWindowSize: c_int,
        /// LDS that the driver keeps, in bytes.
        720 reservedSharedMemPerBlock: usize,
        /// Whether host memory can be registered.
        728 hostRegisterSupported: c_int,
        /// Whether arrays may be sparse.
        732 sparseHipArraySupported: c_int,
        /// Whether host memory can be registered as read-only.
        736 hostRegisterReadOnlySupported: c_int,
        /// Whether timeline semaphores can be shared.
        740 timelineSemaphoreInteropSupported: c_int,
        /// Whether there are memory pools.
        744 memoryPoolsSupported: c_int,
        /// Whether other devices reach its memory.
        748 gpuDirectRDMASupported: c_int,
        /// How such writes are flushed.
        752 gpuDirectRDMAFlushWritesOptions: c_uint,
        /// How such writes are ordered.
        756 gpuDirectRDMAWritesOrdering: c_int,
        /// Handles by which pools are shared.
        760 memoryPoolSupportedHandleTypes: c_uint,
        /// Whether arrays may be mapped later.
        764 deferredMappingHipArraySupported: c_int,
        /// Whether processes can share events.
        768 ipcEventSupported: c_int,
        /// CUDA only.
        772 clusterLaunch: c_int,
        /// CUDA only.
        776 unifiedFunctionPointers: c_int,
        /// Kept for CUDA's fields.
        780 reserved: [c_int; 63],
        /// Kept for HIP's fields.
        1032 hipReserved: [c_int; 32],
        /// LLVM target with features, such as `gfx90a:sramecc+:xnack-`, NUL-terminated.
        1160 gcnArchName: [c_char; 256],
        /// LDS of a compute unit, in bytes.
        1416 maxSharedMemoryPerMultiProcessor: usize,
        /// Rate of the clock that kernels read, in kHz.
        1424 clockInstructionRate: c_int,
        /// What kernels may use.
        1428 arch: hipDeviceArch_t,
        /// Register that flushes host writes to memory.
        1432 hdpMemFlushCntl: *mut c_uint,
        /// Register that flushes host writes to registers.
        1440 hdpRegFlushCntl: *mut c_uint,
        /// Whether such launches may differ in the kernel.
        1448 cooperativeMultiDeviceUnmatchedFunc: c_int,
        /// Whether such launches may differ in the grid.
        1452 cooperativeMultiDeviceUnmatchedGridDim: c_int,
        /// Whether such launches may differ in the workgroup.
        1456 cooperativeMultiDeviceUnmatchedBlockDim: c_int,
        /// Whether such launches may differ in LDS.
        1460 cooperativeMultiDeviceUnmatchedSharedMem: c_int,
        /// Whether the host reaches all of its memory.
        1464 isLargeBar: c_int,
        /// Revision of the chip.
        1468 asicRevision: c_int,
    }
}
