//! Attributes and occupancy of kernels.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
    sync::{Arc, atomic::Ordering},
};

use ferrowave_gpu::GpuLimits;
use ferrowave_hip_abi::{
    hipFuncAttribute, hipFuncAttributes, hipFuncCache_t, hipFunction_attribute as Attribute,
    hipFunction_t, hipSharedMemConfig,
};

use super::{
    context::{check_banks, check_cache},
    error::{Failure, out},
    objects::module::{Function, function},
    properties::version,
    registry,
};

impl Function {
    /// Maximum dynamic LDS of a launch, in bytes.
    fn most_dynamic_lds_bytes(&self) -> u32 {
        let metadata = &self.kernel.description().metadata;
        let most = GpuLimits::of(self.device.row.gpu)
            .lds_bytes
            .saturating_sub(metadata.group_segment_fixed_size);
        most.min(self.dynamic_lds_bytes.load(Ordering::Relaxed))
    }

    fn attribute(&self, attribute: Attribute) -> Option<u32> {
        let description = self.kernel.description();
        let metadata = &description.metadata;
        Some(match attribute {
            Attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => metadata.max_flat_workgroup_size,
            Attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => metadata.group_segment_fixed_size,
            Attribute::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => metadata.private_segment_fixed_size,
            Attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS => description.descriptor.vgprs(),
            Attribute::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                self.most_dynamic_lds_bytes()
            }
            // As in CLR (`hipFuncGetAttribute` in `hip_module.cpp`): the GPU's version, 90 for gfx90a.
            Attribute::HIP_FUNC_ATTRIBUTE_PTX_VERSION
            | Attribute::HIP_FUNC_ATTRIBUTE_BINARY_VERSION => {
                let (major, minor) = version(self.kernel.gpu());
                (10 * major + minor).unsigned_abs()
            }
            // Cache and constant memory cannot be configured on these GPUs.
            Attribute::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES
            | Attribute::HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA
            | Attribute::HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => 0,
            _ => return None,
        })
    }

    /// An attribute; an error if there is no such one.
    pub(super) fn known_attribute(&self, attribute: Attribute) -> Result<u32, Failure> {
        self.attribute(attribute).ok_or_else(|| {
            Failure::value(format_args!(
                "{} is not a kernel attribute; expected 0 to 9",
                attribute.0
            ))
        })
    }

    pub(super) fn set_attribute(
        &self,
        attribute: hipFuncAttribute,
        value: c_int,
    ) -> Result<(), Failure> {
        match attribute {
            hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize => {
                let metadata = &self.kernel.description().metadata;
                let limit = GpuLimits::of(self.device.row.gpu).lds_bytes;
                let most = limit.saturating_sub(metadata.group_segment_fixed_size);
                let value = u32::try_from(value).ok().filter(|&value| value <= most);
                let value = value.ok_or_else(|| {
                    Failure::value(format_args!(
                        "dynamic LDS of this kernel must be from 0 to {most} bytes"
                    ))
                })?;
                self.dynamic_lds_bytes.store(value, Ordering::Relaxed);
                Ok(())
            }
            // LDS and cache are separate on these GPUs.
            hipFuncAttribute::hipFuncAttributePreferredSharedMemoryCarveout => Ok(()),
            hipFuncAttribute(other) => Err(Failure::value(format_args!(
                "attribute {other} of a kernel cannot be set; only 8 and 9 can"
            ))),
        }
    }
}

pub(super) unsafe fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: Attribute,
    function: hipFunction_t,
) -> Result<(), Failure> {
    let value = out!(value);
    let answer = self::function(function)?.known_attribute(attribute)?;
    value.set(int(answer));
    Ok(())
}

pub(super) fn int(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

pub(super) unsafe fn hipFuncGetAttributes(
    attributes: *mut hipFuncAttributes,
    stub: *const c_void,
) -> Result<(), Failure> {
    let attributes = out!(attributes);
    let function = registry::kernel(stub)?;
    let ask = |attribute| function.attribute(attribute).unwrap_or_default();
    attributes.set(hipFuncAttributes {
        binaryVersion: int(ask(Attribute::HIP_FUNC_ATTRIBUTE_BINARY_VERSION)),
        localSizeBytes: ask(Attribute::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) as usize,
        maxDynamicSharedSizeBytes: int(function.most_dynamic_lds_bytes()),
        maxThreadsPerBlock: int(ask(Attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)),
        ptxVersion: int(ask(Attribute::HIP_FUNC_ATTRIBUTE_PTX_VERSION)),
        numRegs: int(ask(Attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS)),
        sharedSizeBytes: ask(Attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) as usize,
        ..hipFuncAttributes::ZERO
    });
    Ok(())
}

pub(super) unsafe fn hipFuncSetAttribute(
    stub: *const c_void,
    attribute: hipFuncAttribute,
    value: c_int,
) -> Result<(), Failure> {
    registry::kernel(stub)?.set_attribute(attribute, value)
}

pub(super) unsafe fn hipFuncSetCacheConfig(
    stub: *const c_void,
    config: hipFuncCache_t,
) -> Result<(), Failure> {
    check_cache(config)?;
    registry::kernel(stub).map(drop)
}

pub(super) unsafe fn hipFuncSetSharedMemConfig(
    stub: *const c_void,
    config: hipSharedMemConfig,
) -> Result<(), Failure> {
    check_banks(config)?;
    registry::kernel(stub).map(drop)
}

pub(super) unsafe fn hipKernelNameRef(function: hipFunction_t) -> *const c_char {
    // The name lives as long as the kernel's handle.
    self::function(function).map_or(ptr::null(), |function| function.name.as_ptr())
}

fn threads(block_size: c_int) -> Result<u32, Failure> {
    u32::try_from(block_size)
        .ok()
        .filter(|&size| size > 0)
        .ok_or_else(|| {
            Failure::value(format_args!(
                "a block of {block_size} threads; it must have at least 1"
            ))
        })
}

fn active(
    workgroups: *mut c_int,
    function: impl FnOnce() -> Result<Arc<Function>, Failure>,
    block_size: c_int,
    dynamic_lds_bytes: usize,
) -> Result<(), Failure> {
    let workgroups = out!(workgroups);
    let function = function()?;
    let lds_bytes = u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX);
    let held = function.workgroups_per_compute_unit(threads(block_size)?, lds_bytes);
    workgroups.set(int(held));
    Ok(())
}

/// The workgroup size with the most concurrent waves, and the smallest grid that fills the device with it.
fn potential(
    grid_size: *mut c_int,
    block_size: *mut c_int,
    function: impl FnOnce() -> Result<Arc<Function>, Failure>,
    dynamic_lds_bytes: usize,
    limit: c_int,
) -> Result<(), Failure> {
    let (grid_size, block_size) = (out!(grid_size), out!(block_size));
    let function = function()?;
    let most = function
        .kernel
        .description()
        .metadata
        .max_flat_workgroup_size;
    let most = match u32::try_from(limit) {
        Ok(limit) if limit > 0 => most.min(limit),
        _ => most,
    };
    let lds_bytes = u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX);
    let wave_size = function.kernel.wave_size();
    // Multiples of the wave size, in descending order, so that the largest wins a tie.
    let sizes = (1..=most.div_ceil(wave_size)).rev();
    let held = sizes.map(|waves| {
        let threads = (waves * wave_size).min(most);
        let workgroups = function.workgroups_per_compute_unit(threads, lds_bytes);
        (workgroups * waves, threads, workgroups)
    });
    let best = held.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let Some((_, threads, workgroups)) = best.filter(|&(waves, ..)| waves > 0) else {
        return Err(Failure::value(format_args!(
            "no workgroup of this kernel with {lds_bytes} bytes of dynamic LDS fits on a compute unit"
        )));
    };
    block_size.set(int(threads));
    grid_size.set(int(workgroups * function.device.row.multiprocessors()));
    Ok(())
}

/// Occupancy queries for modules' and for programs' kernels. Flags have no effect on these GPUs.
macro_rules! occupancy {
    ($($active:ident, $active_flags:ident, $potential:ident: $type:ty, |$f:ident| $function:expr;)*) => {$(
        pub(super) unsafe fn $active(
            workgroups: *mut c_int,
            $f: $type,
            block_size: c_int,
            dynamic_lds_bytes: usize,
        ) -> Result<(), Failure> {
            active(workgroups, || $function, block_size, dynamic_lds_bytes)
        }

        pub(super) unsafe fn $active_flags(
            workgroups: *mut c_int,
            $f: $type,
            block_size: c_int,
            dynamic_lds_bytes: usize,
            flags: c_uint,
        ) -> Result<(), Failure> {
            check_flags(flags)?;
            active(workgroups, || $function, block_size, dynamic_lds_bytes)
        }

        pub(super) unsafe fn $potential(
            grid_size: *mut c_int,
            block_size: *mut c_int,
            $f: $type,
            dynamic_lds_bytes: usize,
            limit: c_int,
        ) -> Result<(), Failure> {
            potential(grid_size, block_size, || $function, dynamic_lds_bytes, limit)
        }
    )*};
}

fn check_flags(flags: c_uint) -> Result<(), Failure> {
    if flags > 1 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 or 1"
        )));
    }
    Ok(())
}

occupancy! {
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    hipModuleOccupancyMaxPotentialBlockSize: hipFunction_t, |f| function(f);
    hipOccupancyMaxActiveBlocksPerMultiprocessor,
    hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    hipOccupancyMaxPotentialBlockSize: *const c_void, |f| registry::kernel(f);
}

pub(super) unsafe fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    grid_size: *mut c_int,
    block_size: *mut c_int,
    function: hipFunction_t,
    dynamic_lds_bytes: usize,
    limit: c_int,
    flags: c_uint,
) -> Result<(), Failure> {
    check_flags(flags)?;
    potential(
        grid_size,
        block_size,
        || self::function(function),
        dynamic_lds_bytes,
        limit,
    )
}

/// As CLR (`hipamd/src/hip_platform.cpp`): `workgroups` is limited to the number whose threads fit on a compute unit.
pub(super) unsafe fn hipOccupancyAvailableDynamicSMemPerBlock(
    bytes: *mut usize,
    stub: *const c_void,
    workgroups: c_int,
    block_size: c_int,
) -> Result<(), Failure> {
    let bytes = out!(bytes);
    let threads = threads(block_size)?;
    let positive = u32::try_from(workgroups).ok().filter(|&count| count > 0);
    let workgroups = positive.ok_or_else(|| {
        Failure::value(format_args!(
            "{workgroups} workgroups; there must be at least 1"
        ))
    })?;
    let function = registry::kernel(stub)?;
    let limits = GpuLimits::of(function.device.row.gpu);
    let most_threads = limits.max_waves_per_simd * limits.simds * limits.wave_size;
    let held = match most_threads / threads {
        0 => {
            return Err(Failure::value(format_args!(
                "a block of {threads} threads; a compute unit holds {most_threads}"
            )));
        }
        most => most.min(workgroups),
    };
    let metadata = &function.kernel.description().metadata;
    let left = (limits.compute_unit_lds_bytes / held)
        .min(limits.lds_bytes)
        .saturating_sub(metadata.group_segment_fixed_size);
    let dynamic = left.min(function.most_dynamic_lds_bytes());
    bytes.set((dynamic - dynamic % limits.lds_granule_bytes) as usize);
    Ok(())
}
