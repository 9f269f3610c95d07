//! What can be asked about devices and kernels one by one.

/// A question about a device; yes is 1 and no is 0.
///
/// Those about textures, surfaces and CUDA's hardware are left out: any value may be passed, and a device that has
/// nothing of the kind answers 0.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipDeviceAttribute_t(pub u32);

impl hipDeviceAttribute_t {
    /// Whether memory is error-corrected.
    pub const hipDeviceAttributeEccEnabled: Self = Self(0);
    /// Copy engines.
    pub const hipDeviceAttributeAsyncEngineCount: Self = Self(2);
    /// Whether it reads host memory.
    pub const hipDeviceAttributeCanMapHostMemory: Self = Self(3);
    /// Whether registered memory has one address on both sides.
    pub const hipDeviceAttributeCanUseHostPointerForRegisteredMem: Self = Self(4);
    /// Highest engine clock, in kHz.
    pub const hipDeviceAttributeClockRate: Self = Self(5);
    /// Who may use it; 0 for everybody.
    pub const hipDeviceAttributeComputeMode: Self = Self(6);
    /// Whether kernels are preempted.
    pub const hipDeviceAttributeComputePreemptionSupported: Self = Self(7);
    /// Whether several kernels run at once.
    pub const hipDeviceAttributeConcurrentKernels: Self = Self(8);
    /// Whether host and device may use managed memory at once.
    pub const hipDeviceAttributeConcurrentManagedAccess: Self = Self(9);
    /// Whether there are cooperative launches.
    pub const hipDeviceAttributeCooperativeLaunch: Self = Self(10);
    /// Whether cooperative launches span devices.
    pub const hipDeviceAttributeCooperativeMultiDeviceLaunch: Self = Self(11);
    /// Whether copies and kernels overlap.
    pub const hipDeviceAttributeDeviceOverlap: Self = Self(12);
    /// Whether the host reads managed memory in place.
    pub const hipDeviceAttributeDirectManagedMemAccessFromHost: Self = Self(13);
    /// Whether global memory is cached in L1.
    pub const hipDeviceAttributeGlobalL1CacheSupported: Self = Self(14);
    /// Whether atomics reach host memory.
    pub const hipDeviceAttributeHostNativeAtomicSupported: Self = Self(15);
    /// Whether it shares memory with the host.
    pub const hipDeviceAttributeIntegrated: Self = Self(16);
    /// Whether its board has several GPUs.
    pub const hipDeviceAttributeIsMultiGpuBoard: Self = Self(17);
    /// Whether kernels have a time limit.
    pub const hipDeviceAttributeKernelExecTimeout: Self = Self(18);
    /// L2 cache, in bytes.
    pub const hipDeviceAttributeL2CacheSize: Self = Self(19);
    /// Whether scratch is cached in L1.
    pub const hipDeviceAttributeLocalL1CacheSupported: Self = Self(20);
    /// First number of the instruction set.
    pub const hipDeviceAttributeComputeCapabilityMajor: Self = Self(23);
    /// Whether there is managed memory.
    pub const hipDeviceAttributeManagedMemory: Self = Self(24);
    /// Most workgroups on a compute unit.
    pub const hipDeviceAttributeMaxBlocksPerMultiProcessor: Self = Self(25);
    /// Most work-items of a workgroup along x.
    pub const hipDeviceAttributeMaxBlockDimX: Self = Self(26);
    /// Most work-items of a workgroup along y.
    pub const hipDeviceAttributeMaxBlockDimY: Self = Self(27);
    /// Most work-items of a workgroup along z.
    pub const hipDeviceAttributeMaxBlockDimZ: Self = Self(28);
    /// Most workgroups along x.
    pub const hipDeviceAttributeMaxGridDimX: Self = Self(29);
    /// Most workgroups along y.
    pub const hipDeviceAttributeMaxGridDimY: Self = Self(30);
    /// Most workgroups along z.
    pub const hipDeviceAttributeMaxGridDimZ: Self = Self(31);
    /// Most work-items of a workgroup.
    pub const hipDeviceAttributeMaxThreadsPerBlock: Self = Self(56);
    /// Most work-items on a compute unit.
    pub const hipDeviceAttributeMaxThreadsPerMultiProcessor: Self = Self(57);
    /// Largest pitch of a pitched copy, in bytes.
    pub const hipDeviceAttributeMaxPitch: Self = Self(58);
    /// Width of the memory bus, in bits.
    pub const hipDeviceAttributeMemoryBusWidth: Self = Self(59);
    /// Memory clock, in kHz.
    pub const hipDeviceAttributeMemoryClockRate: Self = Self(60);
    /// Second number of the instruction set.
    pub const hipDeviceAttributeComputeCapabilityMinor: Self = Self(61);
    /// Compute units.
    pub const hipDeviceAttributeMultiprocessorCount: Self = Self(63);
    /// Whether it reads unregistered host memory.
    pub const hipDeviceAttributePageableMemoryAccess: Self = Self(65);
    /// Whether it uses the host's page tables.
    pub const hipDeviceAttributePageableMemoryAccessUsesHostPageTables: Self = Self(66);
    /// PCI bus.
    pub const hipDeviceAttributePciBusId: Self = Self(67);
    /// PCI device.
    pub const hipDeviceAttributePciDeviceId: Self = Self(68);
    /// PCI domain.
    pub const hipDeviceAttributePciDomainId: Self = Self(69);
    /// 32-bit registers of a workgroup.
    pub const hipDeviceAttributeMaxRegistersPerBlock: Self = Self(71);
    /// 32-bit registers of a compute unit.
    pub const hipDeviceAttributeMaxRegistersPerMultiprocessor: Self = Self(72);
    /// LDS that the driver keeps, in bytes.
    pub const hipDeviceAttributeReservedSharedMemPerBlock: Self = Self(73);
    /// LDS of a workgroup, in bytes.
    pub const hipDeviceAttributeMaxSharedMemoryPerBlock: Self = Self(74);
    /// LDS of a workgroup on request, in bytes.
    pub const hipDeviceAttributeSharedMemPerBlockOptin: Self = Self(75);
    /// LDS of a compute unit, in bytes.
    pub const hipDeviceAttributeSharedMemPerMultiprocessor: Self = Self(76);
    /// Whether streams have priorities.
    pub const hipDeviceAttributeStreamPrioritiesSupported: Self = Self(78);
    /// Alignment of textures, in bytes.
    pub const hipDeviceAttributeTextureAlignment: Self = Self(81);
    /// Constant memory, in bytes.
    pub const hipDeviceAttributeTotalConstantMemory: Self = Self(83);
    /// Whether host and device share one address space.
    pub const hipDeviceAttributeUnifiedAddressing: Self = Self(85);
    /// Work-items of a wave.
    pub const hipDeviceAttributeWarpSize: Self = Self(87);
    /// Whether there are memory pools.
    pub const hipDeviceAttributeMemoryPoolsSupported: Self = Self(88);
    /// Whether addresses and memory can be had apart.
    pub const hipDeviceAttributeVirtualMemoryManagementSupported: Self = Self(89);
    /// Whether host memory can be registered.
    pub const hipDeviceAttributeHostRegisterSupported: Self = Self(90);
    /// Rate of the clock that kernels read, in kHz.
    pub const hipDeviceAttributeClockInstructionRate: Self = Self(10000);
    /// LDS of a compute unit, in bytes.
    pub const hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: Self = Self(10002);
    /// Whether the host reaches all of its memory.
    pub const hipDeviceAttributeIsLargeBar: Self = Self(10011);
    /// Revision of the chip.
    pub const hipDeviceAttributeAsicRevision: Self = Self(10012);
    /// Whether streams can wait for a value in memory.
    pub const hipDeviceAttributeCanUseStreamWaitValue: Self = Self(10013);
    /// Whether there are images.
    pub const hipDeviceAttributeImageSupport: Self = Self(10014);
    /// Compute units on the chip.
    pub const hipDeviceAttributePhysicalMultiProcessorCount: Self = Self(10015);
    /// Whether there is fine-grained memory.
    pub const hipDeviceAttributeFineGrainSupport: Self = Self(10016);
    /// Rate of the constant clock, in kHz.
    pub const hipDeviceAttributeWallClockRate: Self = Self(10017);
    /// Accelerator dies.
    pub const hipDeviceAttributeNumberOfXccs: Self = Self(10018);
    /// Vector registers that a work-item may have.
    pub const hipDeviceAttributeMaxAvailableVgprsPerThread: Self = Self(10019);
}

/// A question about a kernel.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipFunction_attribute(pub u32);

impl hipFunction_attribute {
    /// Most work-items of a workgroup.
    pub const HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: Self = Self(0);
    /// LDS of a workgroup without what a launch adds, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: Self = Self(1);
    /// Constant memory, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: Self = Self(2);
    /// Scratch of a work-item, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: Self = Self(3);
    /// Vector registers of a work-item.
    pub const HIP_FUNC_ATTRIBUTE_NUM_REGS: Self = Self(4);
    /// Version of the instruction set.
    pub const HIP_FUNC_ATTRIBUTE_PTX_VERSION: Self = Self(5);
    /// Version of the machine code.
    pub const HIP_FUNC_ATTRIBUTE_BINARY_VERSION: Self = Self(6);
    /// CUDA only.
    pub const HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: Self = Self(7);
    /// Most LDS that a launch may add, in bytes.
    pub const HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: Self = Self(8);
    /// CUDA only.
    pub const HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: Self = Self(9);
}
