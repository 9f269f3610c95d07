//! `libhsa-runtime64.so`: what programs ask AMD's HSA runtime about the emulated devices.
//!
//! Mojo and MAX take a GPU's architecture from there before they compile. The agents are a CPU and the devices of
//! `libamdhip64.so` in the same environment, in its order; a GPU's instruction set architecture is the target that HIP reports.
//!
//! Functions, attributes and statuses are those of ROCm 6.4's `hsa.h` and `hsa_ext_amd.h`. There are no queues, signals or memory:
//! programs launch kernels through HIP. The library has the name that programs open at run time. It does not have the name
//! `libhsa-runtime64.so.1`: programs that are linked with that name need the other functions.

pub mod abi;
mod state;
mod statuses;

use std::{
    ffi::{CStr, c_char, c_void},
    time::{SystemTime, UNIX_EPOCH},
};

use abi::{Agent, Isa, Status, agent, isa, system};
use ferrowave_gpu::GpuLimits;
use state::{Gpu, Value, gpu_of, guarded, value};

/// `HSA_MACHINE_MODEL_LARGE`: 64-bit addresses.
const LARGE: u32 = 1;
/// `HSA_PROFILE_BASE`.
const BASE: u32 = 0;
/// `HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR`.
const NEAR: u32 = 2;
/// `HSA_AGENT_FEATURE_KERNEL_DISPATCH`.
const KERNEL_DISPATCH: u32 = 1;
/// `HSA_DEVICE_TYPE_CPU`.
const CPU: u32 = 0;
/// `HSA_DEVICE_TYPE_GPU`.
const GPU: u32 = 1;
/// The largest grid in each direction, and in all.
const GRID_MAX: u32 = u32::MAX;
/// Barriers of some waves of a workgroup («fbarriers»), as ROCr counts them.
const FBARRIERS: u32 = 32;
/// The version of HSA that ROCr implements.
const VERSION: (u16, u16) = (1, 1);

/// Begins the use of the library. Calls are counted; each needs its own [`hsa_shut_down`].
#[unsafe(no_mangle)]
pub extern "C" fn hsa_init() -> Status {
    guarded(state::open)
}

/// Undoes one [`hsa_init`]; [`Status::NOT_INITIALIZED`] if there is none to undo.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_shut_down() -> Status {
    guarded(state::close)
}

/// A status as text; [`Status::INVALID_ARGUMENT`] if this library does not return it.
///
/// # Safety
/// `text` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_status_string(status: Status, text: *mut *const c_char) -> Status {
    guarded(|| {
        let known = status.text().ok_or(Status::INVALID_ARGUMENT)?;
        // SAFETY: as the caller promises.
        unsafe { value(text.cast())?.set(known.as_ptr()) };
        Ok(())
    })
}

/// An attribute of the whole system, as `hsa.h` defines it.
///
/// # Safety
/// `to` is null or valid for a write of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_system_get_info(attribute: u32, to: *mut c_void) -> Status {
    guarded(|| {
        state::initialized()?;
        let to = value(to)?;
        // SAFETY: as the caller promises.
        unsafe {
            match attribute {
                system::VERSION_MAJOR => to.set(VERSION.0),
                system::VERSION_MINOR => to.set(VERSION.1),
                system::TIMESTAMP => {
                    let now = SystemTime::now()
                        .duration_since(UNIX_EPOCH)
                        .unwrap_or_default();
                    to.set(now.as_nanos() as u64);
                }
                system::TIMESTAMP_FREQUENCY => to.set(1_000_000_000_u64),
                system::SIGNAL_MAX_WAIT => to.set(u64::MAX),
                system::ENDIANNESS => to.set(0_u32),
                system::MACHINE_MODEL => to.set(LARGE),
                system::EXTENSIONS => to.set([0_u8; 128]),
                _ => return Err(Status::INVALID_ARGUMENT),
            }
        }
        Ok(())
    })
}

/// Calls `callback` with the CPU and with each GPU until it returns another status than success, which is returned.
///
/// # Safety
/// `callback` is null or a function that may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_iterate_agents(
    callback: Option<unsafe extern "C" fn(Agent, *mut c_void) -> Status>,
    data: *mut c_void,
) -> Status {
    guarded(|| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        // The callback may call this library.
        for agent in state::agents()? {
            // SAFETY: as the caller promises.
            match unsafe { callback(agent, data) } {
                Status::SUCCESS => {}
                status => return Err(status),
            }
        }
        Ok(())
    })
}

/// An attribute of an agent, as `hsa.h` and `hsa_ext_amd.h` define it. The largest number of queues is 0. Other attributes of queues,
/// and those of caches and of measurements, are not supported.
///
/// # Safety
/// `to` is null or valid for a write of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_agent_get_info(
    agent: Agent,
    attribute: u32,
    to: *mut c_void,
) -> Status {
    guarded(|| {
        let gpu = gpu_of(agent)?;
        let to = value(to)?;
        // SAFETY: as the caller promises.
        unsafe {
            match gpu {
                Some(gpu) => gpu_info(&gpu, attribute, to),
                None => cpu_info(attribute, to),
            }
        }
    })
}

/// # Safety
/// As [`hsa_agent_get_info`].
unsafe fn cpu_info(attribute: u32, to: Value) -> Result<(), Status> {
    // SAFETY: as the caller promises.
    unsafe {
        match attribute {
            agent::NAME | agent::PRODUCT_NAME | agent::VENDOR_NAME => to.set(text::<64>("CPU")),
            agent::FEATURE | agent::QUEUES_MAX | agent::NODE | agent::DRIVER_NODE_ID => {
                to.set(0_u32);
            }
            agent::DEVICE => to.set(CPU),
            agent::MACHINE_MODEL => to.set(LARGE),
            agent::PROFILE => to.set(BASE),
            _ => return Err(Status::INVALID_ARGUMENT),
        }
    }
    Ok(())
}

/// # Safety
/// As [`hsa_agent_get_info`].
unsafe fn gpu_info(gpu: &Gpu, attribute: u32, to: Value) -> Result<(), Status> {
    let (row, limits) = (gpu.row, GpuLimits::of(gpu.row.gpu));
    // SAFETY: as the caller promises.
    unsafe {
        match attribute {
            agent::NAME => to.set(text::<64>(row.gpu.name())),
            agent::VENDOR_NAME => to.set(text::<64>("AMD")),
            agent::PRODUCT_NAME => to.set(text::<64>(row.full_name)),
            agent::FEATURE => to.set(KERNEL_DISPATCH),
            agent::DEFAULT_FLOAT_ROUNDING_MODE => to.set(NEAR),
            agent::WAVEFRONT_SIZE => to.set(limits.wave_size),
            agent::QUEUES_MAX => to.set(0_u32),
            // The CPU has number 0.
            agent::NODE | agent::DRIVER_NODE_ID => to.set(gpu.ordinal + 1),
            agent::DEVICE => to.set(GPU),
            agent::ISA => to.set(gpu.isa()),
            agent::EXTENSIONS => to.set([0_u8; 128]),
            agent::VERSION_MAJOR => to.set(VERSION.0),
            agent::VERSION_MINOR => to.set(VERSION.1),
            agent::CHIP_ID => to.set(u32::from(row.pci_device_id)),
            agent::COMPUTE_UNIT_COUNT | agent::COOPERATIVE_COMPUTE_UNIT_COUNT => {
                to.set(row.compute_units);
            }
            agent::MAX_CLOCK_FREQUENCY => to.set(row.clock_mhz),
            agent::BDFID => to.set(u32::from(gpu.pci().1) << 8),
            agent::DOMAIN => to.set(gpu.pci().0),
            agent::MEMORY_WIDTH => to.set(row.memory_bus_bits),
            agent::MEMORY_MAX_FREQUENCY => to.set(row.memory_clock_mhz),
            agent::MAX_WAVES_PER_CU => to.set(limits.max_waves_per_simd * limits.simds),
            agent::NUM_SIMDS_PER_CU => to.set(limits.simds),
            agent::NUM_XCC => to.set(row.xcds),
            agent::NEAREST_CPU => to.set(state::CPU),
            agent::MACHINE_MODEL => to.set(LARGE),
            agent::PROFILE => to.set(BASE),
            agent::FAST_F16_OPERATION => to.set(true),
            agent::WORKGROUP_MAX_DIM => to.set([limits.max_workgroup_size as u16; 3]),
            agent::WORKGROUP_MAX_SIZE => to.set(limits.max_workgroup_size),
            agent::GRID_MAX_DIM => to.set([GRID_MAX; 3]),
            agent::GRID_MAX_SIZE => to.set(GRID_MAX),
            agent::FBARRIER_MAX_SIZE => to.set(FBARRIERS),
            _ => return Err(Status::INVALID_ARGUMENT),
        }
    }
    Ok(())
}

/// Calls `callback` with the instruction set architecture of a GPU; of the CPU, none is known.
///
/// # Safety
/// `callback` is null or a function that may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_agent_iterate_isas(
    agent: Agent,
    callback: Option<unsafe extern "C" fn(Isa, *mut c_void) -> Status>,
    data: *mut c_void,
) -> Status {
    guarded(|| {
        let gpu = gpu_of(agent)?;
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let Some(gpu) = gpu else { return Ok(()) };
        // SAFETY: as the caller promises.
        match unsafe { callback(gpu.isa(), data) } {
            Status::SUCCESS => Ok(()),
            status => Err(status),
        }
    })
}

/// The architecture with this name, such as `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`, if a device has it.
///
/// # Safety
/// `name` is null or a string, and `to` null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_isa_from_name(name: *const c_char, to: *mut Isa) -> Status {
    guarded(|| {
        state::initialized()?;
        if name.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: as the caller promises.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        let gpu = state::gpus()
            .into_iter()
            .find(|gpu| gpu.isa_name().as_bytes() == name);
        let gpu = gpu.ok_or(Status::INVALID_ISA_NAME)?;
        // SAFETY: as the caller promises.
        unsafe { value(to.cast())?.set(gpu.isa()) };
        Ok(())
    })
}

/// An attribute of an architecture, as `hsa.h` defines it. The name's length counts its NUL, as in ROCm.
///
/// # Safety
/// `to` is null or valid for a write of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_isa_get_info_alt(isa: Isa, attribute: u32, to: *mut c_void) -> Status {
    guarded(|| {
        state::initialized()?;
        let gpu = state::gpus().into_iter().find(|gpu| gpu.isa() == isa);
        let gpu = gpu.ok_or(Status::INVALID_ISA)?;
        let (to, limits) = (value(to)?, GpuLimits::of(gpu.row.gpu));
        // SAFETY: as the caller promises.
        unsafe {
            match attribute {
                isa::NAME_LENGTH => to.set(gpu.isa_name().len() as u32 + 1),
                isa::NAME => to.set_text(&gpu.isa_name()),
                // Whether it has the small and the large model, and the base and the full profile.
                isa::MACHINE_MODELS => to.set([false, true]),
                isa::PROFILES => to.set([true, false]),
                isa::FAST_F16_OPERATION => to.set(true),
                isa::WORKGROUP_MAX_DIM => to.set([limits.max_workgroup_size as u16; 3]),
                isa::WORKGROUP_MAX_SIZE => to.set(limits.max_workgroup_size),
                isa::GRID_MAX_DIM => to.set([GRID_MAX; 3]),
                isa::GRID_MAX_SIZE => to.set(u64::from(GRID_MAX)),
                isa::FBARRIER_MAX_SIZE => to.set(FBARRIERS),
                _ => return Err(Status::INVALID_ARGUMENT),
            }
        }
        Ok(())
    })
}

/// A string of the header's size, with NULs behind it.
fn text<const SIZE: usize>(text: &str) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    let length = text.len().min(SIZE - 1);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    bytes
}
