//! Attributes of devices and kernels.

/// A device attribute. Booleans are 1 and 0.
///
/// Attributes of surfaces and CUDA hardware are left out. Any value may be passed; a device without the
/// feature returns 0.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipDeviceAttribute_t(pub u32);

impl hipDeviceAttribute_t {
    /// Whether memory is error-corrected.
    pub const hipDeviceAttributeEccEnabled: Self = Self(0);
    /// Number of copy engines.
    pub const hipDeviceAttributeAsyncEngineCount: Self = Self(2);
    /// Whether the device can access host memory.
    pub const hipDeviceAttributeCanMapHostMemory: Self = Self(3);
    /// Whether registered memory has the same address on host and device.
    pub const hipDeviceAttributeCanUseHostPointerForRegisteredMem: Self = Self(4);
    /// Highest engine clock, in kHz.
    pub const hipDeviceAttributeClockRate: Self = Self(5);
    /// Compute mode; 0 is unrestricted.
    pub const hipDeviceAttributeComputeMode: Self = Self(6);
    /// Whether kernels can be preempted.
    pub const hipDeviceAttributeComputePreemptionSupported: Self = Self(7);
    /// Whether kernels can run concurrently.
    pub const hipDeviceAttributeConcurrentKernels: Self = Self(8);
    /// Whether host and device may access managed memory concurrently.
    pub const hipDeviceAttributeConcurrentManagedAccess: Self = Self(9);
    /// Whether cooperative launches are supported.
    pub const hipDeviceAttributeCooperativeLaunch: Self = Self(10);
    /// Whether multi-device cooperative launches are supported.
    pub const hipDeviceAttributeCooperativeMultiDeviceLaunch: Self = Self(11);
    /// Whether copies can overlap kernels.
    pub const hipDeviceAttributeDeviceOverlap: Self = Self(12);
    /// Whether the host can access managed memory without migration.
    pub const hipDeviceAttributeDirectManagedMemAccessFromHost: Self = Self(13);
    /// Whether global memory is cached in L1.
    pub const hipDeviceAttributeGlobalL1CacheSupported: Self = Self(14);
    /// Whether native atomics on host memory are supported.
    pub const hipDeviceAttributeHostNativeAtomicSupported: Self = Self(15);
    /// Whether the GPU is integrated and shares memory with the host.
    pub const hipDeviceAttributeIntegrated: Self = Self(16);
    /// Whether the board has several GPUs.
    pub const hipDeviceAttributeIsMultiGpuBoard: Self = Self(17);
    /// Whether kernels have a time limit.
    pub const hipDeviceAttributeKernelExecTimeout: Self = Self(18);
    /// Size of the L2 cache, in bytes.
    pub const hipDeviceAttributeL2CacheSize: Self = Self(19);
    /// Whether scratch is cached in L1.
    pub const hipDeviceAttributeLocalL1CacheSupported: Self = Self(20);
    /// Major version of the instruction set.
    pub const hipDeviceAttributeComputeCapabilityMajor: Self = Self(23);
    /// Whether managed memory is supported.
    pub const hipDeviceAttributeManagedMemory: Self = Self(24);
    /// Maximum number of workgroups per compute unit.
    pub const hipDeviceAttributeMaxBlocksPerMultiProcessor: Self = Self(25);
    /// Maximum workgroup size along x, in work-items.
    pub const hipDeviceAttributeMaxBlockDimX: Self = Self(26);
    /// Maximum workgroup size along y, in work-items.
    pub const hipDeviceAttributeMaxBlockDimY: Self = Self(27);
    /// Maximum workgroup size along z, in work-items.
    pub const hipDeviceAttributeMaxBlockDimZ: Self = Self(28);
    /// Maximum grid size along x, in workgroups.
    pub const hipDeviceAttributeMaxGridDimX: Self = Self(29);
    /// Maximum grid size along y, in workgroups.
    pub const hipDeviceAttributeMaxGridDimY: Self = Self(30);
    /// Maximum grid size along z, in workgroups.
    pub const hipDeviceAttributeMaxGridDimZ: Self = Self(31);
    /// Maximum width of 1D surfaces.
    pub const hipDeviceAttributeMaxSurface1D: Self = Self(32);
    /// Maximum number of work-items per workgroup.
    pub const hipDeviceAttributeMaxThreadsPerBlock: Self = Self(56);
    /// Maximum number of work-items per compute unit.
    pub const hipDeviceAttributeMaxThreadsPerMultiProcessor: Self = Self(57);
    /// Maximum pitch of a pitched copy, in bytes.
    pub const hipDeviceAttributeMaxPitch: Self = Self(58);
    /// Width of the memory bus, in bits.
    pub const hipDeviceAttributeMemoryBusWidth: Self = Self(59);
    /// Memory clock, in kHz.
    pub const hipDeviceAttributeMemoryClockRate: Self = Self(60);
    /// Minor version of the instruction set.
    pub const hipDeviceAttributeComputeCapabilityMinor: Self = Self(61);
    /// Number of compute units.
    pub const hipDeviceAttributeMultiprocessorCount: Self = Self(63);
    /// Whether the device can access unregistered host memory.
    pub const hipDeviceAttributePageableMemoryAccess: Self = Self(65);
    /// Whether accesses to pageable memory use the host's page tables.
    pub const hipDeviceAttributePageableMemoryAccessUsesHostPageTables: Self = Self(66);
    /// PCI bus number.
    pub const hipDeviceAttributePciBusId: Self = Self(67);
    /// PCI device number.
    pub const hipDeviceAttributePciDeviceId: Self = Self(68);
    /// PCI domain number.
    pub const hipDeviceAttributePciDomainId: Self = Self(69);
    /// The largest part of the L2 cache that may be set aside, in bytes.
    pub const hipDeviceAttributePersistingL2CacheMaxSize: Self = Self(70);
    /// Number of 32-bit registers per workgroup.
    pub const hipDeviceAttributeMaxRegistersPerBlock: Self = Self(71);
    /// Number of 32-bit registers per compute unit.
    pub const hipDeviceAttributeMaxRegistersPerMultiprocessor: Self = Self(72);
    /// LDS that the driver reserves per workgroup, in bytes.
    pub const hipDeviceAttributeReservedSharedMemPerBlock: Self = Self(73);
    /// Maximum LDS per workgroup, in bytes.
    pub const hipDeviceAttributeMaxSharedMemoryPerBlock: Self = Self(74);
    /// Maximum LDS per workgroup with opt-in, in bytes.
    pub const hipDeviceAttributeSharedMemPerBlockOptin: Self = Self(75);
    /// LDS per compute unit, in bytes.
    pub const hipDeviceAttributeSharedMemPerMultiprocessor: Self = Self(76);
    /// Whether streams have priorities.
    pub const hipDeviceAttributeStreamPrioritiesSupported: Self = Self(78);
    /// Maximum size of 1D textures.
    pub const hipDeviceAttributeMaxTexture1DWidth: Self = Self(39);
    /// Maximum size of 1D textures in linear memory.
    pub const hipDeviceAttributeMaxTexture1DLinear: Self = Self(41);
    /// Maximum width of 2D textures.
    pub const hipDeviceAttributeMaxTexture2DWidth: Self = Self(43);
    /// Maximum height of 2D textures.
    pub const hipDeviceAttributeMaxTexture2DHeight: Self = Self(44);
    /// Maximum width of 3D textures.
    pub const hipDeviceAttributeMaxTexture3DWidth: Self = Self(49);
    /// Maximum height of 3D textures.
    pub const hipDeviceAttributeMaxTexture3DHeight: Self = Self(50);
    /// Maximum depth of 3D textures.
    pub const hipDeviceAttributeMaxTexture3DDepth: Self = Self(51);
    /// Alignment of textures, in bytes.
    pub const hipDeviceAttributeTextureAlignment: Self = Self(81);
    /// Alignment of the rows of a texture of pitched memory, in bytes.
    pub const hipDeviceAttributeTexturePitchAlignment: Self = Self(82);
    /// Size of constant memory, in bytes.
    pub const hipDeviceAttributeTotalConstantMemory: Self = Self(83);
    /// Size of the memory, in bytes.
    pub const hipDeviceAttributeTotalGlobalMem: Self = Self(84);
    /// Whether host and device share one address space.
    pub const hipDeviceAttributeUnifiedAddressing: Self = Self(85);
    /// Wave size, in work-items.
    pub const hipDeviceAttributeWarpSize: Self = Self(87);
    /// Whether memory pools are supported.
    pub const hipDeviceAttributeMemoryPoolsSupported: Self = Self(88);
    /// Whether virtual memory management is supported.
    pub const hipDeviceAttributeVirtualMemoryManagementSupported: Self = Self(89);
    /// Whether host memory can be registered.
    pub const hipDeviceAttributeHostRegisterSupported: Self = Self(90);
    /// Kinds of handles that memory pools can have, as bits.
    pub const hipDeviceAttributeMemoryPoolSupportedHandleTypes: Self = Self(91);
    /// Frequency of the clock that kernels read, in kHz.
    pub const hipDeviceAttributeClockInstructionRate: Self = Self(10000);
    /// LDS per compute unit, in bytes.
    pub const hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: Self = Self(10002);
    /// Whether the kernels of a cooperative launch on several devices may differ.
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc: Self = Self(10007);
    /// Whether their grids may differ.
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim: Self = Self(10008);
    /// Whether their workgroups may differ.
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim: Self = Self(10009);
    /// Whether their dynamic LDS may differ.
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem: Self = Self(10010);
    /// Whether the host can access all device memory (large BAR).
    pub const hipDeviceAttributeIsLargeBar: Self = Self(10011);
    /// Revision of the chip.
    pub const hipDeviceAttributeAsicRevision: Self = Self(10012);
    /// Whether streams can wait for a value in memory.
    pub const hipDeviceAttributeCanUseStreamWaitValue: Self = Self(10013);
    /// Whether images are supported.
    pub const hipDeviceAttributeImageSupport: Self = Self(10014);
    /// Number of physical compute units.
    pub const hipDeviceAttributePhysicalMultiProcessorCount: Self = Self(10015);
    /// Whether fine-grained memory is supported.
    pub const hipDeviceAttributeFineGrainSupport: Self = Self(10016);
    /// Frequency of the constant clock, in kHz.
    pub const hipDeviceAttributeWallClockRate: Self = Self(10017);
    /// Number of accelerator dies (XCCs).
    pub const hipDeviceAttributeNumberOfXccs: Self = Self(10018);
    /// Maximum number of vector registers per work-item.
    pub const hipDeviceAttributeMaxAvailableVgprsPerThread: Self = Self(10019);
}

/// A kernel attribute.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipFunction_attribute(pub u32);

impl hipFunction_attribute {
    /// Maximum number of work-items per workgroup.
    pub const HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: Self = Self(0);
    /// Static LDS per workgroup, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: Self = Self(1);
    /// Size of constant memory, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: Self = Self(2);
    /// Scratch per work-item, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: Self = Self(3);
    /// Vector registers per work-item.
    pub const HIP_FUNC_ATTRIBUTE_NUM_REGS: Self = Self(4);
    /// Version of the instruction set.
    pub const HIP_FUNC_ATTRIBUTE_PTX_VERSION: Self = Self(5);
    /// Version of the machine code.
    pub const HIP_FUNC_ATTRIBUTE_BINARY_VERSION: Self = Self(6);
    /// CUDA only.
    pub const HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: Self = Self(7);
    /// Maximum dynamic LDS, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: Self = Self(8);
    /// CUDA only.
    pub const HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: Self = Self(9);
}
