//! Device properties.

use std::ffi::{c_char, c_int};

use ferrowave_emulator::exec::image::Image;
use ferrowave_gpu::{Gpu, GpuLimits};
use ferrowave_hip_abi::{
    hipDeviceArch_t, hipDeviceAttribute_t as Attribute, hipDeviceProp_tR0000, hipDeviceProp_tR0600,
    hipMemAllocationHandleType, hipUUID,
};

use super::{
    error::{Failure, out, read},
    objects::array::has_images,
    runtime::{Device, Runtime, device_name},
};

/// Maximum grid size along x, y and z that a device reports and `hipModuleLaunchKernel` accepts, in workgroups (ROCm's
/// clr, `hipamd/src/hip_device_runtime.cpp` and `hip_module.cpp`).
pub(super) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 1 << 16, 1 << 16];

/// The number of engines for copies that a device reports (`kMaxAsyncQueues` in CLR's `rocdefs.hpp`).
const COPY_ENGINES: c_int = 8;

/// Frequency of the constant clock (`s_memrealtime`): 100 MHz on all supported GPUs.
const CONSTANT_CLOCK_KHZ: c_int = 100_000;

const ARCH: hipDeviceArch_t = hipDeviceArch_t::hasGlobalInt32Atomics
    .union(hipDeviceArch_t::hasGlobalFloatAtomicExch)
    .union(hipDeviceArch_t::hasSharedInt32Atomics)
    .union(hipDeviceArch_t::hasSharedFloatAtomicExch)
    .union(hipDeviceArch_t::hasFloatAtomicAdd)
    .union(hipDeviceArch_t::hasGlobalInt64Atomics)
    .union(hipDeviceArch_t::hasSharedInt64Atomics)
    .union(hipDeviceArch_t::hasDoubles)
    .union(hipDeviceArch_t::hasWarpVote)
    .union(hipDeviceArch_t::hasWarpBallot)
    .union(hipDeviceArch_t::hasWarpShuffle)
    .union(hipDeviceArch_t::hasThreadFenceSystem)
    .union(hipDeviceArch_t::has3dGrid);

/// `text`, padded with NULs.
fn c_array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    let end = text.floor_char_boundary(N - 1);
    for (to, &from) in array.iter_mut().zip(&text.as_bytes()[..end]) {
        *to = from as c_char;
    }
    array
}

/// `gfx942` is 9.4, `gfx90a` is 9.0. The last digit of the name is the stepping, which is left out.
pub(super) const fn version(gpu: Gpu) -> (c_int, c_int) {
    match gpu {
        Gpu::Gfx908 | Gpu::Gfx90a => (9, 0),
        Gpu::Gfx942 => (9, 4),
        Gpu::Gfx950 => (9, 5),
        Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1102 => (11, 0),
        Gpu::Gfx1150 | Gpu::Gfx1151 => (11, 5),
        Gpu::Gfx1200 | Gpu::Gfx1201 => (12, 0),
    }
}

/// The PCI domain and bus that the device with this ordinal reports; its device and function numbers are 0. There is no
/// real bus, so each device has a bus of its own.
pub fn pci_location(ordinal: u32) -> (u32, u8) {
    (ordinal >> 8, ordinal as u8)
}

impl Device {
    /// Its identifier: 16 bytes of text without a NUL, as in ROCm.
    pub(super) fn uuid(&self) -> hipUUID {
        let text: [c_char; 17] = c_array(&format!("ferrowave{:07}", self.ordinal));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&text[..16]);
        hipUUID { bytes }
    }

    fn properties(&self) -> hipDeviceProp_tR0600 {
        let (row, limits) = (self.row, GpuLimits::of(self.row.gpu));
        let int = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
        let (major, minor) = version(row.gpu);
        let registers = int(limits.vgprs * limits.wave_size * limits.simds);
        let lds_bytes = limits.lds_bytes as usize;
        let has_sramecc = self.has_sramecc();
        let memory_bytes = self.memory.capacity_bytes() as usize;
        let has_images = has_images(row.gpu);
        let limit = |limit| if has_images { int(limit) } else { 0 };
        let [width, height, depth] = Image::LIMITS.map(limit);
        let (pci_domain, pci_bus) = pci_location(self.ordinal as u32);
        hipDeviceProp_tR0600 {
            name: c_array(&device_name(self.row)),
            uuid: self.uuid(),
            totalGlobalMem: memory_bytes,
            sharedMemPerBlock: lds_bytes,
            regsPerBlock: registers,
            warpSize: int(limits.wave_size),
            memPitch: i32::MAX as usize,
            maxThreadsPerBlock: int(limits.max_workgroup_size),
            maxThreadsDim: [int(limits.max_workgroup_size); 3],
            maxGridSize: MAX_GRID.map(int),
            clockRate: int(row.clock_mhz * 1000),
            totalConstMem: memory_bytes.min(i32::MAX as usize),
            major,
            minor,
            textureAlignment: 256,
            texturePitchAlignment: 256,
            maxTexture1D: width,
            maxTexture1DLinear: if has_images { i32::MAX } else { 0 },
            maxTexture2D: [width, height],
            maxTexture3D: [width, height, depth],
            maxTexture1DLayered: [width, depth],
            maxTexture2DLayered: [width, height, depth],
            maxSurface1D: width,
            maxSurface2D: [width, height],
            maxSurface3D: [width, height, depth],
            maxSurface1DLayered: [width, depth],
            maxSurface2DLayered: [width, height, depth],
            multiProcessorCount: int(row.multiprocessors()),
            canMapHostMemory: 1,
            concurrentKernels: 1,
            cooperativeLaunch: 1,
            cooperativeMultiDeviceLaunch: 1,
            cooperativeMultiDeviceUnmatchedFunc: 1,
            cooperativeMultiDeviceUnmatchedGridDim: 1,
            cooperativeMultiDeviceUnmatchedBlockDim: 1,
            cooperativeMultiDeviceUnmatchedSharedMem: 1,
            asyncEngineCount: COPY_ENGINES,
            deviceOverlap: 1,
            streamPrioritiesSupported: 1,
            ipcEventSupported: c_int::from(cfg!(target_os = "linux")),
            // Atomic operations of kernels and of the host are atomic to each other: both are the host's.
            hostNativeAtomicSupported: 1,
            persistingL2CacheMaxSize: int(row.l2_bytes),
            managedMemory: 1,
            concurrentManagedAccess: 1,
            directManagedMemAccessFromHost: 1,
            pageableMemoryAccess: c_int::from(self.xnack),
            canUseHostPointerForRegisteredMem: 1,
            hostRegisterSupported: 1,
            memoryPoolsSupported: 1,
            memoryPoolSupportedHandleTypes: if cfg!(target_os = "linux") {
                hipMemAllocationHandleType::hipMemHandleTypePosixFileDescriptor.0
            } else {
                0
            },
            ECCEnabled: c_int::from(has_sramecc),
            pciDomainID: int(pci_domain),
            pciBusID: c_int::from(pci_bus),
            unifiedAddressing: 1,
            memoryClockRate: int(row.memory_clock_mhz * 1000),
            memoryBusWidth: int(row.memory_bus_bits),
            l2CacheSize: int(row.l2_bytes),
            maxThreadsPerMultiProcessor: int(limits.max_waves_per_simd
                * limits.simds
                * limits.wave_size),
            globalL1CacheSupported: 1,
            localL1CacheSupported: 1,
            sharedMemPerMultiprocessor: lds_bytes,
            regsPerMultiprocessor: registers,
            sharedMemPerBlockOptin: lds_bytes,
            // CLR's quotient (`hip_device.cpp`). A compute unit holds more of smaller workgroups.
            maxBlocksPerMultiProcessor: int(limits.max_waves_per_simd
                * limits.simds
                * limits.wave_size
                / limits.max_workgroup_size),
            gcnArchName: c_array(&self.target()),
            maxSharedMemoryPerMultiProcessor: lds_bytes,
            clockInstructionRate: CONSTANT_CLOCK_KHZ,
            arch: ARCH,
            isLargeBar: 1,
            ..hipDeviceProp_tR0600::ZERO
        }
    }

    fn legacy_properties(&self) -> hipDeviceProp_tR0000 {
        let now = self.properties();
        hipDeviceProp_tR0000 {
            name: now.name,
            totalGlobalMem: now.totalGlobalMem,
            sharedMemPerBlock: now.sharedMemPerBlock,
            regsPerBlock: now.regsPerBlock,
            warpSize: now.warpSize,
            maxThreadsPerBlock: now.maxThreadsPerBlock,
            maxThreadsDim: now.maxThreadsDim,
            maxGridSize: now.maxGridSize,
            clockRate: now.clockRate,
            memoryClockRate: now.memoryClockRate,
            memoryBusWidth: now.memoryBusWidth,
            totalConstMem: now.totalConstMem,
            major: now.major,
            minor: now.minor,
            multiProcessorCount: now.multiProcessorCount,
            l2CacheSize: now.l2CacheSize,
            maxThreadsPerMultiProcessor: now.maxThreadsPerMultiProcessor,
            clockInstructionRate: now.clockInstructionRate,
            arch: now.arch,
            concurrentKernels: now.concurrentKernels,
            cooperativeLaunch: now.cooperativeLaunch,
            pciDomainID: now.pciDomainID,
            pciBusID: now.pciBusID,
            maxSharedMemoryPerMultiProcessor: now.maxSharedMemoryPerMultiProcessor,
            canMapHostMemory: now.canMapHostMemory,
            managedMemory: now.managedMemory,
            concurrentManagedAccess: now.concurrentManagedAccess,
            directManagedMemAccessFromHost: now.directManagedMemAccessFromHost,
            // HIP's number for gfx90a, whose name is not a number.
            gcnArch: self.row.gpu.name()[3..].parse().unwrap_or(910),
            gcnArchName: now.gcnArchName,
            memPitch: now.memPitch,
            maxTexture1DLinear: now.maxTexture1DLinear,
            maxTexture1D: now.maxTexture1D,
            maxTexture2D: now.maxTexture2D,
            maxTexture3D: now.maxTexture3D,
            textureAlignment: now.textureAlignment,
            texturePitchAlignment: now.texturePitchAlignment,
            ECCEnabled: now.ECCEnabled,
            isLargeBar: now.isLargeBar,
            ..hipDeviceProp_tR0000::ZERO
        }
    }
}

/// The property for an attribute.
fn attribute(properties: &hipDeviceProp_tR0600, attribute: Attribute) -> Option<c_int> {
    let p = properties;
    let size = |bytes: usize| c_int::try_from(bytes).unwrap_or(c_int::MAX);
    Some(match attribute {
        Attribute::hipDeviceAttributeEccEnabled => p.ECCEnabled,
        Attribute::hipDeviceAttributeAsyncEngineCount => p.asyncEngineCount,
        Attribute::hipDeviceAttributeCanMapHostMemory => p.canMapHostMemory,
        Attribute::hipDeviceAttributeCanUseHostPointerForRegisteredMem => {
            p.canUseHostPointerForRegisteredMem
        }
        Attribute::hipDeviceAttributeClockRate => p.clockRate,
        Attribute::hipDeviceAttributeComputeMode => p.computeMode,
        Attribute::hipDeviceAttributeComputePreemptionSupported => p.computePreemptionSupported,
        Attribute::hipDeviceAttributeConcurrentKernels => p.concurrentKernels,
        Attribute::hipDeviceAttributeConcurrentManagedAccess => p.concurrentManagedAccess,
        Attribute::hipDeviceAttributeCooperativeLaunch => p.cooperativeLaunch,
        Attribute::hipDeviceAttributeCooperativeMultiDeviceLaunch => p.cooperativeMultiDeviceLaunch,
        Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc => {
            p.cooperativeMultiDeviceUnmatchedFunc
        }
        Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim => {
            p.cooperativeMultiDeviceUnmatchedGridDim
        }
        Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim => {
            p.cooperativeMultiDeviceUnmatchedBlockDim
        }
        Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem => {
            p.cooperativeMultiDeviceUnmatchedSharedMem
        }
        Attribute::hipDeviceAttributeDeviceOverlap => p.deviceOverlap,
        Attribute::hipDeviceAttributeDirectManagedMemAccessFromHost => {
            p.directManagedMemAccessFromHost
        }
        Attribute::hipDeviceAttributeGlobalL1CacheSupported => p.globalL1CacheSupported,
        Attribute::hipDeviceAttributeHostNativeAtomicSupported => p.hostNativeAtomicSupported,
        Attribute::hipDeviceAttributeIntegrated => p.integrated,
        Attribute::hipDeviceAttributeIsMultiGpuBoard => p.isMultiGpuBoard,
        Attribute::hipDeviceAttributeKernelExecTimeout => p.kernelExecTimeoutEnabled,
        Attribute::hipDeviceAttributeL2CacheSize => p.l2CacheSize,
        Attribute::hipDeviceAttributeLocalL1CacheSupported => p.localL1CacheSupported,
        Attribute::hipDeviceAttributeComputeCapabilityMajor => p.major,
        Attribute::hipDeviceAttributeManagedMemory => p.managedMemory,
        Attribute::hipDeviceAttributeMaxBlocksPerMultiProcessor => p.maxBlocksPerMultiProcessor,
        Attribute::hipDeviceAttributeMaxBlockDimX => p.maxThreadsDim[0],
        Attribute::hipDeviceAttributeMaxBlockDimY => p.maxThreadsDim[1],
        Attribute::hipDeviceAttributeMaxBlockDimZ => p.maxThreadsDim[2],
        Attribute::hipDeviceAttributeMaxGridDimX => p.maxGridSize[0],
        Attribute::hipDeviceAttributeMaxGridDimY => p.maxGridSize[1],
        Attribute::hipDeviceAttributeMaxGridDimZ => p.maxGridSize[2],
        Attribute::hipDeviceAttributeMaxThreadsPerBlock => p.maxThreadsPerBlock,
        Attribute::hipDeviceAttributeMaxThreadsPerMultiProcessor => p.maxThreadsPerMultiProcessor,
        Attribute::hipDeviceAttributeMaxPitch => size(p.memPitch),
        Attribute::hipDeviceAttributeMemoryBusWidth => p.memoryBusWidth,
        Attribute::hipDeviceAttributeMemoryClockRate => p.memoryClockRate,
        Attribute::hipDeviceAttributeComputeCapabilityMinor => p.minor,
        Attribute::hipDeviceAttributeMultiprocessorCount
        | Attribute::hipDeviceAttributePhysicalMultiProcessorCount => p.multiProcessorCount,
        Attribute::hipDeviceAttributePageableMemoryAccess => p.pageableMemoryAccess,
        Attribute::hipDeviceAttributePageableMemoryAccessUsesHostPageTables => {
            p.pageableMemoryAccessUsesHostPageTables
        }
        Attribute::hipDeviceAttributePciBusId => p.pciBusID,
        Attribute::hipDeviceAttributePciDeviceId => p.pciDeviceID,
        Attribute::hipDeviceAttributePciDomainId => p.pciDomainID,
        Attribute::hipDeviceAttributePersistingL2CacheMaxSize => p.persistingL2CacheMaxSize,
        Attribute::hipDeviceAttributeMaxRegistersPerBlock => p.regsPerBlock,
        Attribute::hipDeviceAttributeMaxRegistersPerMultiprocessor => p.regsPerMultiprocessor,
        Attribute::hipDeviceAttributeReservedSharedMemPerBlock => size(p.reservedSharedMemPerBlock),
        Attribute::hipDeviceAttributeMaxSharedMemoryPerBlock => size(p.sharedMemPerBlock),
        Attribute::hipDeviceAttributeSharedMemPerBlockOptin => size(p.sharedMemPerBlockOptin),
        Attribute::hipDeviceAttributeSharedMemPerMultiprocessor => {
            size(p.sharedMemPerMultiprocessor)
        }
        Attribute::hipDeviceAttributeStreamPrioritiesSupported => p.streamPrioritiesSupported,
        Attribute::hipDeviceAttributeTextureAlignment => size(p.textureAlignment),
        Attribute::hipDeviceAttributeTexturePitchAlignment => size(p.texturePitchAlignment),
        Attribute::hipDeviceAttributeTotalConstantMemory => size(p.totalConstMem),
        Attribute::hipDeviceAttributeTotalGlobalMem => size(p.totalGlobalMem),
        Attribute::hipDeviceAttributeUnifiedAddressing => p.unifiedAddressing,
        Attribute::hipDeviceAttributeWarpSize => p.warpSize,
        Attribute::hipDeviceAttributeMemoryPoolsSupported => p.memoryPoolsSupported,
        Attribute::hipDeviceAttributeHostRegisterSupported => p.hostRegisterSupported,
        Attribute::hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => {
            size(p.maxSharedMemoryPerMultiProcessor)
        }
        Attribute::hipDeviceAttributeIsLargeBar => p.isLargeBar,
        Attribute::hipDeviceAttributeAsicRevision => p.asicRevision,
        Attribute::hipDeviceAttributeClockInstructionRate
        | Attribute::hipDeviceAttributeWallClockRate => p.clockInstructionRate,
        Attribute::hipDeviceAttributeCanUseStreamWaitValue => 1,
        // Only Linux has memory that programs map.
        Attribute::hipDeviceAttributeVirtualMemoryManagementSupported => {
            c_int::from(cfg!(target_os = "linux"))
        }
        Attribute::hipDeviceAttributeMemoryPoolSupportedHandleTypes => {
            p.memoryPoolSupportedHandleTypes as c_int
        }
        // Memory that kernels and the host see alike at all times, as all memory here is.
        Attribute::hipDeviceAttributeFineGrainSupport => 1,
        Attribute::hipDeviceAttributeImageSupport => c_int::from(p.maxTexture1D > 0),
        Attribute::hipDeviceAttributeMaxTexture1DWidth => p.maxTexture1D,
        Attribute::hipDeviceAttributeMaxTexture1DLinear => p.maxTexture1DLinear,
        Attribute::hipDeviceAttributeMaxTexture2DWidth => p.maxTexture2D[0],
        Attribute::hipDeviceAttributeMaxTexture2DHeight => p.maxTexture2D[1],
        Attribute::hipDeviceAttributeMaxTexture3DWidth => p.maxTexture3D[0],
        Attribute::hipDeviceAttributeMaxTexture3DHeight => p.maxTexture3D[1],
        Attribute::hipDeviceAttributeMaxTexture3DDepth => p.maxTexture3D[2],
        Attribute::hipDeviceAttributeMaxSurface1D => p.maxSurface1D,
        // Attributes of other surfaces, which CLR does not answer, and CUDA's own.
        Attribute(0..=LAST_ATTRIBUTE | FIRST_AMD_ATTRIBUTE..=LAST_AMD_ATTRIBUTE) => 0,
        _ => return None,
    })
}

/// The range of attributes in HIP 7.1: those shared with CUDA, then AMD's own.
const LAST_ATTRIBUTE: u32 = 91;
const FIRST_AMD_ATTRIBUTE: u32 = 10_000;
const LAST_AMD_ATTRIBUTE: u32 = 10_020;

pub(super) unsafe fn hipDeviceGetAttribute(
    value: *mut c_int,
    attribute: Attribute,
    device: c_int,
) -> Result<(), Failure> {
    let value = out!(value);
    let device = Runtime::get().device(device)?;
    let answer = match attribute {
        // These have no field in the properties.
        Attribute::hipDeviceAttributeNumberOfXccs => c_int::try_from(device.row.xcds).ok(),
        Attribute::hipDeviceAttributeMaxAvailableVgprsPerThread => {
            c_int::try_from(GpuLimits::of(device.row.gpu).vgprs).ok()
        }
        _ => self::attribute(&device.properties(), attribute),
    };
    let answer = answer.ok_or_else(|| {
        Failure::value(format_args!(
            "the emulator has no device attribute {}",
            attribute.0
        ))
    })?;
    value.set(answer);
    Ok(())
}

pub(super) unsafe fn hipGetDevicePropertiesR0600(
    properties: *mut hipDeviceProp_tR0600,
    device: c_int,
) -> Result<(), Failure> {
    let properties = out!(properties);
    properties.set(Runtime::get().device(device)?.properties());
    Ok(())
}

pub(super) unsafe fn hipGetDevicePropertiesR0000(
    properties: *mut hipDeviceProp_tR0000,
    device: c_int,
) -> Result<(), Failure> {
    let properties = out!(properties);
    properties.set(Runtime::get().device(device)?.legacy_properties());
    Ok(())
}

pub(super) use hipGetDevicePropertiesR0000 as hipGetDeviceProperties;

/// Functions that choose the device with the most of the wanted properties, if it has all that are not 0
/// (`ihipChooseDevice` in CLR's `hip_device_runtime.cpp`).
macro_rules! choose {
    ($($name:ident: $type:ty, $properties:ident;)*) => {$(
        pub(super) unsafe fn $name(device: *mut c_int, wanted: *const $type) -> Result<(), Failure> {
            let device = out!(device);
            let wanted = read!(wanted);
            let count = Runtime::get().with_devices(|devices| devices.len())?;
            let (mut best, mut most) = (0, 0);
            for ordinal in (0..count).filter_map(|index| c_int::try_from(index).ok()) {
                let Ok(has) = Runtime::get().device(ordinal).map(|device| device.$properties()) else {
                    continue;
                };
                let mut asked = 0;
                let mut met = 0;
                macro_rules! compare {
                    ($field:ident) => {
                        if wanted.$field != 0 {
                            asked += 1;
                            met += u32::from(has.$field >= wanted.$field);
                        }
                    };
                }
                compare!(major);
                compare!(minor);
                compare!(totalGlobalMem);
                compare!(sharedMemPerBlock);
                compare!(maxThreadsPerBlock);
                compare!(totalConstMem);
                compare!(multiProcessorCount);
                compare!(maxThreadsPerMultiProcessor);
                compare!(memoryClockRate);
                compare!(memoryBusWidth);
                compare!(l2CacheSize);
                compare!(regsPerBlock);
                compare!(maxSharedMemoryPerMultiProcessor);
                compare!(warpSize);
                if met == asked && met > most {
                    (best, most) = (ordinal, met);
                }
            }
            device.set(best);
            Ok(())
        }
    )*};
}

choose! {
    hipChooseDeviceR0600: hipDeviceProp_tR0600, properties;
    hipChooseDeviceR0000: hipDeviceProp_tR0000, legacy_properties;
}

pub(super) use hipChooseDeviceR0000 as hipChooseDevice;
