//! `hipDeviceProp_t` as of before ROCm 6.0, which later headers call `hipDeviceProp_tR0000`.
//!
//! Programs that were compiled then ask for it under the plain name `hipGetDeviceProperties`.

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
        /// LDS of a workgroup, in bytes.
        264 sharedMemPerBlock: usize,
        /// 32-bit registers of a workgroup.
        272 regsPerBlock: c_int,
        /// Work-items of a wave.
        276 warpSize: c_int,
        /// Most work-items of a workgroup.
        280 maxThreadsPerBlock: c_int,
        /// Most work-items of a workgroup along x, y and z.
        284 maxThreadsDim: [c_int; 3],
        /// Most workgroups of a grid along x, y and z.
        296 maxGridSize: [c_int; 3],
        /// Highest engine clock, in kHz.
        308 clockRate: c_int,
        /// Memory clock, in kHz.
        312 memoryClockRate: c_int,
        /// Width of the memory bus, in bits.
        316 memoryBusWidth: c_int,
        /// Constant memory, in bytes.
        320 totalConstMem: usize,
        /// First number of the instruction set: 9 for gfx942.
        328 major: c_int,
        /// Second number of the instruction set: 4 for gfx942.
        332 minor: c_int,
        /// Compute units.
        336 multiProcessorCount: c_int,
        /// L2 cache, in bytes.
        340 l2CacheSize: c_int,
        /// Most work-items on a compute unit.
        344 maxThreadsPerMultiProcessor: c_int,
        /// Who may use it; 0 for everybody.
        348 computeMode: c_int,
        /// Rate of the clock that kernels read, in kHz.
        352 clockInstructionRate: c_int,
        /// What kernels may use.
        356 arch: hipDeviceArch_t,
        /// Whether several kernels run at once.
        360 concurrentKernels: c_int,
        /// PCI domain.
        364 pciDomainID: c_int,
        /// PCI bus.
        368 pciBusID: c_int,
        /// PCI device.
        372 pciDeviceID: c_int,
        /// LDS of a compute unit, in bytes.
        376 maxSharedMemoryPerMultiProcessor: usize,
        /// Whether its board has several GPUs.
        384 isMultiGpuBoard: c_int,
        /// Whether it reads host memory.
        388 canMapHostMemory: c_int,
        /// Number of the instruction set; superseded by `gcnArchName`.
        392 gcnArch: c_int,
        /// LLVM target with features, such as `gfx90a:sramecc+:xnack-`, NUL-terminated.
        396 gcnArchName: [c_char; 256],
        /// Whether it shares memory with the host.
        652 integrated: c_int,
        /// Whether there are cooperative launches.
        656 cooperativeLaunch: c_int,
        /// Whether cooperative launches span devices.
        660 cooperativeMultiDeviceLaunch: c_int,
        /// Largest 1D texture in linear memory.
        664 maxTexture1DLinear: c_int,
        /// Largest 1D texture.
        668 maxTexture1D: c_int,
        /// Largest 2D texture.
        672 maxTexture2D: [c_int; 2],
        /// Largest 3D texture.
        680 maxTexture3D: [c_int; 3],
        /// Register that flushes host writes to memory.
        696 hdpMemFlushCntl: *mut c_uint,
        /// Register that flushes host writes to registers.
        704 hdpRegFlushCntl: *mut c_uint,
        /// Largest pitch of a pitched copy, in bytes.
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
        /// Whether such launches may differ in the kernel.
        748 cooperativeMultiDeviceUnmatchedFunc: c_int,
        /// Whether such launches may differ in the grid.
        752 cooperativeMultiDeviceUnmatchedGridDim: c_int,
        /// Whether such launches may differ in the workgroup.
        756 cooperativeMultiDeviceUnmatchedBlockDim: c_int,
        /// Whether such launches may differ in LDS.
        760 cooperativeMultiDeviceUnmatchedSharedMem: c_int,
        /// Whether the host reaches all of its memory.
        764 isLargeBar: c_int,
        /// Revision of the chip.
        768 asicRevision: c_int,
        /// Whether there is managed memory.
        772 managedMemory: c_int,
        /// Whether the host reads managed memory in place.
        776 directManagedMemAccessFromHost: c_int,
        /// Whether host and device may use managed memory at once.
        780 concurrentManagedAccess: c_int,
        /// Whether it reads unregistered host memory.
        784 pageableMemoryAccess: c_int,
        /// Whether it uses the host's page tables.
        788 pageableMemoryAccessUsesHostPageTables: c_int,
    }
}
