//! Initialization, versions, devices.

use std::{
    ffi::{c_char, c_int, c_uint},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ferrowave_gpu::Product;
use ferrowave_hip_abi::{hipCtx_t, hipDevice_t, hipDeviceP2PAttr, hipError_t, hipLimit_t, hipUUID};

use super::{
    context,
    error::{Failure, copy_text, is_absent, out, text},
    fault::Waits,
    graph::capture,
    list::list,
    pool,
    properties::{pci_location, version},
    runtime::{Device, DeviceConfig, Runtime, add_device, device_name},
};

/// The HIP version that is implemented, in HIP's decimal form: 6.4.0.
pub(super) const VERSION: c_int = 60_400_000;

/// Succeeds if there is a device.
pub(super) unsafe fn hipInit(flags: c_uint) -> Result<(), Failure> {
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    Runtime::get().with_devices(|_| ())
}

pub(super) unsafe fn ferrowaveAddDevice(
    name: *const c_char,
    ordinal: *mut c_int,
) -> Result<(), Failure> {
    let ordinal = out!(ordinal);
    // SAFETY: null or a NUL-terminated text, by the function's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    let config = DeviceConfig::named(&name).ok_or_else(|| {
        Failure::value(format_args!(
            "the emulator has no `{name}`, only {}",
            Product::names()
        ))
    })?;
    ordinal.set(add_device(config));
    Ok(())
}

pub(super) unsafe fn hipDriverGetVersion(version: *mut c_int) -> Result<(), Failure> {
    out!(version).set(VERSION);
    Ok(())
}

pub(super) unsafe fn hipRuntimeGetVersion(version: *mut c_int) -> Result<(), Failure> {
    out!(version).set(VERSION);
    Ok(())
}

pub(super) unsafe fn hipCtxGetApiVersion(
    ctx: hipCtx_t,
    api_version: *mut c_uint,
) -> Result<(), Failure> {
    let api_version = out!(api_version);
    if !ctx.is_null() {
        context::context(ctx)?;
    }
    api_version.set(VERSION as c_uint);
    Ok(())
}

pub(super) unsafe fn hipGetDeviceCount(count: *mut c_int) -> Result<(), Failure> {
    let count = out!(count);
    // Removed devices count, because ordinals do not change.
    count.set(Runtime::get().with_devices(|devices| devices.len() as c_int)?);
    Ok(())
}

pub(super) unsafe fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> Result<(), Failure> {
    let device = out!(device);
    device.set(Runtime::get().device(ordinal)?.ordinal);
    Ok(())
}

pub(super) unsafe fn hipDeviceGetName(
    name: *mut c_char,
    bytes: c_int,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let device = Runtime::get().device(device)?;
    let room = usize::try_from(bytes)
        .ok()
        .and_then(|bytes| bytes.checked_sub(1));
    let (false, Some(room)) = (is_absent(name), room) else {
        return Err(Failure::value(format_args!(
            "no room for a name: {bytes} bytes at {name:p}"
        )));
    };
    // SAFETY: the caller guarantees `bytes` bytes at `name`.
    unsafe { copy_text(&device_name(device.row), name, room) }
    Ok(())
}

pub(super) unsafe fn hipDeviceTotalMem(
    bytes: *mut usize,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let bytes = out!(bytes);
    bytes.set(Runtime::get().device(device)?.memory.capacity_bytes() as usize);
    Ok(())
}

pub(super) unsafe fn hipSetDevice(device: c_int) -> Result<(), Failure> {
    let runtime = Runtime::get();
    runtime.set_current(device)?;
    context::device_was_set(&runtime.device(device)?);
    Ok(())
}

pub(super) unsafe fn hipGetDevice(device: *mut c_int) -> Result<(), Failure> {
    let device = out!(device);
    device.set(Runtime::get().current()?.ordinal);
    Ok(())
}

pub(super) unsafe fn hipSetValidDevices(devices: *mut c_int, count: c_int) -> Result<(), Failure> {
    let count = usize::try_from(count)
        .map_err(|_| Failure::value(format_args!("a list of {count} devices")))?;
    // SAFETY: HIP's contract: the list has `count` elements.
    for device in unsafe { list(devices, count, "device_arr") }? {
        Runtime::get().device(device)?;
    }
    // All devices keep their ordinals. HIP also treats the list as advice.
    Ok(())
}

pub(super) unsafe fn hipDeviceSynchronize() -> Result<(), Failure> {
    let device = Runtime::get().current()?;
    capture::refuse_waiting_for_all()?;
    device.queues.wait_for_all()?;
    pool::trim(&device);
    device.faults.report(Waits::Device)
}

pub(super) use hipDeviceSynchronize as hipCtxSynchronize;

pub(super) unsafe fn hipDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let (major, minor) = (out!(major), out!(minor));
    let numbers = version(Runtime::get().device(device)?.row.gpu);
    major.set(numbers.0);
    minor.set(numbers.1);
    Ok(())
}

pub(super) unsafe fn hipDeviceGetUuid(
    uuid: *mut hipUUID,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let uuid = out!(uuid);
    uuid.set(Runtime::get().device(device)?.uuid());
    Ok(())
}

fn bus_id(ordinal: c_int) -> String {
    let (domain, bus) = pci_location(ordinal as u32);
    format!("{domain:04x}:{bus:02x}:00.0")
}

pub(super) unsafe fn hipDeviceGetPCIBusId(
    text: *mut c_char,
    bytes: c_int,
    device: c_int,
) -> Result<(), Failure> {
    let device = Runtime::get().device(device)?;
    let room = usize::try_from(bytes)
        .ok()
        .and_then(|bytes| bytes.checked_sub(1));
    let (false, Some(room)) = (is_absent(text), room) else {
        return Err(Failure::value(format_args!(
            "no room for a PCI address: {bytes} bytes at {text:p}"
        )));
    };
    // SAFETY: the caller guarantees `bytes` bytes at `text`.
    unsafe { copy_text(&bus_id(device.ordinal), text, room) }
    Ok(())
}

pub(super) unsafe fn hipDeviceGetByPCIBusId(
    device: *mut c_int,
    text: *const c_char,
) -> Result<(), Failure> {
    let device = out!(device);
    // SAFETY: the caller upholds HIP's contract.
    let asked = unsafe { self::text(text, "pciBusId") }?.to_string_lossy();
    let count = Runtime::get().with_devices(|devices| devices.len() as c_int)?;
    let found = (0..count).find(|&ordinal| bus_id(ordinal).eq_ignore_ascii_case(&asked));
    let found = found
        .ok_or_else(|| Failure::value(format_args!("no device has the PCI address `{asked}`")))?;
    device.set(Runtime::get().device(found)?.ordinal);
    Ok(())
}

pub(super) unsafe fn hipDeviceGetP2PAttribute(
    value: *mut c_int,
    attribute: hipDeviceP2PAttr,
    from: c_int,
    to: c_int,
) -> Result<(), Failure> {
    let value = out!(value);
    Runtime::get().device(from)?;
    Runtime::get().device(to)?;
    if from == to {
        return Err(Failure::value(format_args!(
            "device {from} has no link to itself"
        )));
    }
    value.set(match attribute {
        // All links are equal. Atomic operations are atomic across devices, because all memory is host memory.
        hipDeviceP2PAttr::hipDevP2PAttrPerformanceRank => 0,
        hipDeviceP2PAttr::hipDevP2PAttrAccessSupported
        | hipDeviceP2PAttr::hipDevP2PAttrNativeAtomicSupported => 1,
        hipDeviceP2PAttr::hipDevP2PAttrHipArrayAccessSupported => 0,
        hipDeviceP2PAttr(other) => {
            return Err(Failure::value(format_args!(
                "attribute {other} of the link from device {from} to {to}; there are 0 to 3"
            )));
        }
    });
    Ok(())
}

pub(super) unsafe fn hipDeviceCanAccessPeer(
    can: *mut c_int,
    device: c_int,
    peer: c_int,
) -> Result<(), Failure> {
    let can = out!(can);
    Runtime::get().device(device)?;
    Runtime::get().device(peer)?;
    can.set(c_int::from(device != peer));
    Ok(())
}

/// The kind of the link between two devices, and its length. Emulated devices are as if on one PCIe bus.
pub(super) unsafe fn hipExtGetLinkTypeAndHopCount(
    first: c_int,
    second: c_int,
    kind: *mut u32,
    hops: *mut u32,
) -> Result<(), Failure> {
    /// `HSA_AMD_LINK_INFO_TYPE_PCIE`
    const PCIE: u32 = 2;
    let (kind, hops) = (out!(kind), out!(hops));
    if first == second || first < 0 || second < 0 {
        return Err(Failure::value(format_args!(
            "there is no link between device {first} and device {second}"
        )));
    }
    Runtime::get().device(first)?;
    Runtime::get().device(second)?;
    kind.set(PCIE);
    hops.set(1);
    Ok(())
}

pub(super) unsafe fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> Result<(), Failure> {
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    let device = Runtime::get().current()?;
    let peer = Runtime::get().device(peer)?;
    if Arc::ptr_eq(&peer, &device) {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidDevice,
            "a device cannot be its own peer",
        ));
    }
    if !device.memory.enable_peer(&peer.memory) {
        return Err(Failure::new(
            hipError_t::hipErrorPeerAccessAlreadyEnabled,
            format_args!(
                "device {} has access to the memory of device {} already",
                device.ordinal, peer.ordinal
            ),
        ));
    }
    Ok(())
}

pub(super) unsafe fn hipDeviceDisablePeerAccess(peer: c_int) -> Result<(), Failure> {
    let device = Runtime::get().current()?;
    let peer = Runtime::get().device(peer)?;
    // Launches that have already been submitted may use peer access.
    device.queues.wait_for_all()?;
    if !device.memory.disable_peer(&peer.memory) {
        return Err(Failure::new(
            hipError_t::hipErrorPeerAccessNotEnabled,
            format_args!(
                "device {} has no access to the memory of device {}",
                device.ordinal, peer.ordinal
            ),
        ));
    }
    Ok(())
}

pub(super) unsafe fn hipCtxEnablePeerAccess(peer: hipCtx_t, flags: c_uint) -> Result<(), Failure> {
    let peer = context::context(peer)?.device.ordinal;
    // SAFETY: the function takes no pointers.
    unsafe { hipDeviceEnablePeerAccess(peer, flags) }
}

pub(super) unsafe fn hipCtxDisablePeerAccess(peer: hipCtx_t) -> Result<(), Failure> {
    let peer = context::context(peer)?.device.ordinal;
    // SAFETY: the function takes no pointers.
    unsafe { hipDeviceDisablePeerAccess(peer) }
}

/// The place of a limit that programs can set, and its largest value. CLR has these two (`hipDeviceSetLimit` in
/// `hip_device_runtime.cpp`). They have no effect: a kernel's private memory has the size that the kernel needs, and the
/// heap of `malloc` the same size always.
fn limit(device: &Device, limit: hipLimit_t) -> Result<(&AtomicUsize, usize), Failure> {
    match limit {
        hipLimit_t::hipLimitStackSize => Ok((&device.stack_limit, MAX_STACK)),
        hipLimit_t::hipLimitMallocHeapSize => Ok((
            &device.heap_limit,
            device.memory.capacity_bytes() as usize - 1,
        )),
        hipLimit_t(other) => {
            // As CLR compares the enumeration, whose values are signed, with its end.
            let code = match other.cast_signed() {
                3.. => hipError_t::hipErrorInvalidValue,
                _ => hipError_t::hipErrorUnsupportedLimit,
            };
            Err(Failure::new(
                code,
                format_args!(
                    "{other} is not a limit of AMD's GPUs; expected 0 (stack) or 2 (heap of malloc)"
                ),
            ))
        }
    }
}

/// The most private memory of a work-item, in bytes (`Device::UpdateStackSize` of CLR's `device.cpp`).
const MAX_STACK: usize = (128 << 10) - 16;

pub(super) unsafe fn hipDeviceGetLimit(
    value: *mut usize,
    limit: hipLimit_t,
) -> Result<(), Failure> {
    let value = out!(value);
    let device = Runtime::get().current()?;
    let (place, _) = self::limit(&device, limit)?;
    value.set(place.load(Ordering::Relaxed));
    Ok(())
}

pub(super) unsafe fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> Result<(), Failure> {
    let device = Runtime::get().current()?;
    let (place, most) = self::limit(&device, limit)?;
    if value > most {
        return Err(Failure::value(format_args!(
            "limit {} cannot be {value}; the most is {most}",
            limit.0
        )));
    }
    let value = match limit {
        hipLimit_t::hipLimitStackSize => value.next_multiple_of(16),
        _ => value,
    };
    place.store(value, Ordering::Relaxed);
    Ok(())
}
