//! `hipDeviceProp_t` before ROCm 6.0, `hipDeviceProp_tR0000` in later headers.
//!
//! Programs compiled then request it with `hipGetDeviceProperties`.

use core::ffi::{c_char, c_int, c_uint};

use crate::{hipDeviceArch_t, layout::c_struct};

c_struct! {
    /// What a device is and has, as [`hipGetDeviceProperties`](crate::Functions::hipGetDeviceProperties) says.
    /// Numbers that answer a question with yes or no are 1 or 0.
    pub struct hipDeviceProp_tR0000 of 792 bytes {
        /// Marketing name, NUL-terminated.
        0 name: [c_char; 256],
        /// Global memory, in bytes.
        256 totalGlobalMem: usize,
        /// Maximum LDS per workgroup, in bytes.
        264 sharedMemPerBlock: usize,
        /// Number of 32-bit registers per workgroup.
        272 regsPerBlock: c_int,
        /// Wave size, in work-items.
        276 warpSize: c_int,
        /// Maximum number of work-items per workgroup.
        280 maxThreadsPerBlock: c_int,
        /// Maximum workgroup size along x, y and z, in work-items.
        284 maxThreadsDim: [c_int; 3],
        /// Maximum grid size along x, y and z, in workgroups.
        296 maxGridSize: [c_int; 3],
        /// Highest engine clock, in kHz.
        308 clockRate: c_int,
        /// Memory clock, in kHz.
        312 memoryClockRate: c_int,
        /// Width of the memory bus, in bits.
        316 memoryBusWidth: c_int,
        /// Size of constant memory, in bytes.
        320 totalConstMem: usize,
        /// Major version of the instruction set: 9 for gfx942.
        328 major: c_int,
        /// Minor version of the instruction set: 4 for gfx942.
        332 minor: c_int,
        /// Number of compute units.
        336 multiProcessorCount: c_int,
        /// Size of the L2 cache, in bytes.
        340 l2CacheSize: c_int,
        /// Maximum number of work-items per compute unit.
        344 maxThreadsPerMultiProcessor: c_int,
        /// Compute mode; 0 is unrestricted.
        348 computeMode: c_int,
        /// Frequency of the clock that kernels read, in kHz.
        352 clockInstructionRate: c_int,
        /// Features that kernels may use.
        356 arch: hipDeviceArch_t,
        /// Whether kernels can run concurrently.
        360 concurrentKernels: c_int,
        /// PCI domain number.
        364 pciDomainID: c_int,
        /// PCI bus number.
        368 pciBusID: c_int,
        /// PCI device number.
        372 pciDeviceID: c_int,
        /// LDS per compute unit, in bytes.
        376 maxSharedMemoryPerMultiProcessor: usize,
        /// Whether the board has several GPUs.
        384 isMultiGpuBoard: c_int,
        /// Whether the device can access host memory.
        388 canMapHostMemory: c_int,
        /// Number of the instruction set; superseded by `gcnArchName`.
        392 gcnArch: c_int,
        /// LLVM target ID, for example `gfx90a:sramecc+:xnack-`, NUL-terminated.
        396 gcnArchName: [c_char; 256],
        /// Whether the GPU is integrated and shares memory with the host.
        652 integrated: c_int,
        /// Whether cooperative launches are supported.
        656 cooperativeLaunch: c_int,
        /// Whether multi-device cooperative launches are supported.
        660 cooperativeMultiDeviceLaunch: c_int,
        /// Maximum size of 1D textures in linear memory.
        664 maxTexture1DLinear: c_int,
        /// Maximum size of 1D textures.
        668 maxTexture1D: c_int,
        /// Maximum size of 2D textures.
        672 maxTexture2D: [c_int; 2],
        /// Maximum size of 3D textures.
        680 maxTexture3D: [c_int; 3],
        /// Register that flushes host writes to memory.
        696 hdpMemFlushCntl: *mut c_uint,
        /// Register that flushes host writes to registers.
        704 hdpRegFlushCntl: *mut c_uint,
        /// Maximum pitch of a pitched copy, in bytes.
        712 memPitch: usize,
        /// Alignment of textures, in bytes.
        720 textureAlignment: usize,
        /// Alignment of pitched textures, in bytes.
        728 texturePitchAlignment: usize,
        /// Whether kernels have a time limit.
        736 kernelExecTimeoutEnabled: c_int,
        /// Whether memory is error-corrected.
        740 ECCEnabled: c_int,
        /// CUDA only.
        744 tccDriver: c_int,
        /// Whether the kernels of a multi-device cooperative launch may differ.
        748 cooperativeMultiDeviceUnmatchedFunc: c_int,
        /// Whether the grids of a multi-device cooperative launch may differ.
        752 cooperativeMultiDeviceUnmatchedGridDim: c_int,
        /// Whether the workgroup sizes of a multi-device cooperative launch may differ.
        756 cooperativeMultiDeviceUnmatchedBlockDim: c_int,
        /// Whether the dynamic LDS of a multi-device cooperative launch may differ.
        760 cooperativeMultiDeviceUnmatchedSharedMem: c_int,
        /// Whether the host can access all device memory (large BAR).
        764 isLargeBar: c_int,
        /// Revision of the chip.
        768 asicRevision: c_int,
        /// Whether managed memory is supported.
        772 managedMemory: c_int,
        /// Whether the host can access managed memory without migration.
        776 directManagedMemAccessFromHost: c_int,
        /// Whether host and device may access managed memory concurrently.
        780 concurrentManagedAccess: c_int,
        /// Whether the device can access unregistered host memory.
        784 pageableMemoryAccess: c_int,
        /// Whether accesses to pageable memory use the host's page tables.
        788 pageableMemoryAccessUsesHostPageTables: c_int,
    }
}
