//! Allocations: device, host and managed memory, and registered host memory.

use std::{
    ffi::{c_uint, c_void},
    ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    self as abi, hipDeviceptr_t, hipError_t, hipExtent, hipMemPool_t, hipPitchedPtr, hipStream_t,
};

use super::{
    error::{Failure, out},
    graph::{capture, memory},
    list::is_mapped,
    objects::{
        allocation::{lend, set_fine_grained},
        graph_memory::GraphMemory,
        opened,
        operation::Operation,
        owner::{AddressOwner, owner_of},
        stream::{StreamRef, stream, stream_or},
    },
    pool::{self, Pool},
    runtime::{
        Device, Runtime,
        allocations::{Made, MadeBy},
    },
};
use ferrowave_emulator::memory::{AllocationKind, MemoryError};

/// Waits for all devices, any of which may be using the memory.
pub(super) fn wait_for_devices() -> Result<(), Failure> {
    let devices = Runtime::get()
        .with_devices(|devices| devices.iter().flatten().cloned().collect::<Vec<_>>());
    devices?
        .iter()
        .try_for_each(|device| device.queues.wait_for_all())
}

/// Frees an allocation of `from`.
pub(super) fn free(
    address: *mut c_void,
    is_it: impl Fn(&MadeBy) -> bool,
    from: &str,
) -> Result<(), Failure> {
    if address.is_null() {
        return Ok(());
    }
    let (device, made) = find(address, &is_it, from)?;
    wait_for_devices()?;
    // Another thread may have freed it meanwhile.
    let base = address.addr() as u64;
    device
        .allocations
        .take(base, is_it)
        .ok_or_else(|| gone(address, from))?;
    device.unlend(base, &made);
    let bytes = device.memory.find(base).map_or(0, |info| info.bytes);
    match made.is_kept((base, bytes), None, None) {
        true => Ok(()),
        false => device.release(base),
    }
}

fn gone(address: *mut c_void, from: &str) -> Failure {
    Failure::value(format_args!(
        "{address:p} is not from {from}, or was freed before"
    ))
}

/// The device and the record of an allocation.
pub(super) fn find(
    address: *mut c_void,
    is_it: impl Fn(&MadeBy) -> bool,
    from: &str,
) -> Result<(Arc<Device>, Made), Failure> {
    let base = address.addr() as u64;
    match owner_of(base)? {
        AddressOwner::Device(device, kind) => {
            let is_start = device
                .memory
                .find(base)
                .is_some_and(|info| info.base == base);
            match device.allocations.get(base) {
                Some(made) if is_it(&made.by) => Ok((device, made)),
                _ if !is_start => Err(MemoryError::NotAnAllocation { address: base }.into()),
                // Freed in a stream that has not executed the free yet.
                None if kind == AllocationKind::Device => Err(gone(address, from)),
                _ => Err(Failure::value(format_args!(
                    "{address:p} is in a {kind}, not from {from}"
                ))),
            }
        }
        AddressOwner::Host => Err(gone(address, from)),
    }
}

/// Whether an address is the first of an allocation that was imported from a pool of another process.
fn is_imported(address: *mut c_void) -> Result<bool, Failure> {
    let base = address.addr() as u64;
    Ok(match owner_of(base)? {
        AddressOwner::Device(device, _) => {
            let made = device.allocations.get(base);
            made.is_some_and(|made| matches!(made.by, MadeBy::Imported))
        }
        AddressOwner::Host => false,
    })
}

/// Unmaps an imported allocation.
fn close(address: *mut c_void) -> Result<(), Failure> {
    match opened::close(address.addr() as u64) {
        true => Ok(()),
        false => Err(gone(address, "hipMemPoolImportPointer")),
    }
}

fn is_device(by: &MadeBy) -> bool {
    matches!(
        by,
        MadeBy::Device | MadeBy::Pool(_) | MadeBy::Graph(_) | MadeBy::Managed
    )
}

pub(super) unsafe fn hipMalloc(address: *mut *mut c_void, bytes: usize) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    let address = out!(address);
    let device = Runtime::get().current()?;
    address.set(device.allocate(bytes, MadeBy::Device, 0)?);
    Ok(())
}

pub(super) unsafe fn hipExtMallocWithFlags(
    address: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), Failure> {
    let address = out!(address);
    // A signal has 8 bytes.
    if flags == abi::hipMallocSignalMemory && bytes != 8 {
        return Err(Failure::value(format_args!(
            "{bytes} bytes of memory for a signal, which has 8"
        )));
    }
    if flags > abi::hipDeviceMallocContiguous {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be from 0 to {}",
            abi::hipDeviceMallocContiguous
        )));
    }
    let device = Runtime::get().current()?;
    address.set(device.allocate(bytes, MadeBy::Device, flags)?);
    Ok(())
}

/// Also frees memory of `hipHostMalloc`, as `hipHostFree` also frees memory of `hipMalloc`: in ROCm's clr both call
/// `ihipFree` (`hip_memory.cpp`), which only checks the address. rocSPARSE's tests rely on this.
pub(super) unsafe fn hipFree(address: *mut c_void) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    if let Some(memory) = GraphMemory::find(address) {
        memory.will_be_free()?;
        wait_for_devices()?;
        return memory.free();
    }
    if is_imported(address)? {
        wait_for_devices()?;
        return close(address);
    }
    free(
        address,
        |by| is_device(by) || matches!(by, MadeBy::Host),
        "hipMalloc or hipHostMalloc",
    )
}

pub(super) unsafe fn hipMallocManaged(
    address: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    let address = out!(address);
    if flags != abi::hipMemAttachGlobal && flags != abi::hipMemAttachHost {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 1 (hipMemAttachGlobal) or 2 (hipMemAttachHost)"
        )));
    }
    if bytes == 0 {
        return Err(Failure::value("0 bytes of managed memory"));
    }
    let device = Runtime::get().current()?;
    address.set(device.allocate(bytes, MadeBy::Managed, flags)?);
    Ok(())
}

/// Alignment of a pitch, in bytes.
const PITCH_BYTES: usize = 256;

/// Allocates rows. Returns the address and the pitch.
fn pitched(width: usize, rows: usize) -> Result<(*mut c_void, usize), Failure> {
    let device = Runtime::get().current()?;
    let pitch = width.checked_next_multiple_of(PITCH_BYTES);
    let bytes = pitch.and_then(|pitch| Some((pitch, pitch.checked_mul(rows)?)));
    let (pitch, bytes) = bytes.ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorOutOfMemory,
            format_args!("{rows} rows of {width} bytes are more than an address space has"),
        )
    })?;
    Ok((device.allocate(bytes, MadeBy::Device, 0)?, pitch))
}

pub(super) unsafe fn hipMallocPitch(
    address: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    let (address, pitch) = (out!(address), out!(pitch));
    let (start, bytes) = pitched(width, height)?;
    address.set(start);
    pitch.set(bytes);
    Ok(())
}

pub(super) unsafe fn hipMemAllocPitch(
    address: *mut hipDeviceptr_t,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element_bytes: c_uint,
) -> Result<(), Failure> {
    if ![4, 8, 16].contains(&element_bytes) {
        return Err(Failure::value(format_args!(
            "elements of {element_bytes} bytes, but they must have 4, 8 or 16"
        )));
    }
    // SAFETY: the caller upholds the same contract.
    unsafe { hipMallocPitch(address, pitch, width, height) }
}

pub(super) unsafe fn hipMalloc3D(
    pointer: *mut hipPitchedPtr,
    extent: hipExtent,
) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    let pointer = out!(pointer);
    let rows = extent.height.checked_mul(extent.depth).ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorOutOfMemory,
            format_args!("{} layers of {} rows", extent.depth, extent.height),
        )
    })?;
    let (start, pitch) = pitched(extent.width, rows)?;
    pointer.set(hipPitchedPtr {
        ptr: start,
        pitch,
        xsize: extent.width,
        ysize: extent.height,
    });
    Ok(())
}

pub(super) unsafe fn hipMallocAsync(
    address: *mut *mut c_void,
    bytes: usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let address = out!(address);
    let stream = stream_or(stream, hipError_t::hipErrorInvalidHandle)?;
    let pool = pool::current(&stream.device)?;
    address.set(from_pool(&pool, bytes, &stream)?);
    Ok(())
}

pub(super) unsafe fn hipMallocFromPoolAsync(
    address: *mut *mut c_void,
    bytes: usize,
    pool: hipMemPool_t,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let address = out!(address);
    let stream = stream_or(stream, hipError_t::hipErrorInvalidHandle)?;
    let pool = pool::pool(pool)?;
    address.set(from_pool(&pool, bytes, &stream)?);
    Ok(())
}

/// Allocates from a pool, in a stream; null for 0 bytes.
fn from_pool(pool: &Pool, bytes: usize, stream: &StreamRef) -> Result<*mut c_void, Failure> {
    if capture::is_captured(stream) {
        if bytes == 0 {
            return Ok(ptr::null_mut());
        }
        let memory = GraphMemory::new(&pool.device, bytes, (0, 0))?;
        let address = memory.address();
        stream.submit(Operation::Allocate(memory))?;
        return Ok(address);
    }
    // Allocates immediately, which is at least as early as in stream order.
    let (memory, device) = (&pool.memory, &pool.device);
    let by = MadeBy::Pool(Arc::clone(memory));
    let own = Arc::ptr_eq(device, &stream.device).then_some(stream.id);
    if let Some(base) = memory.reuse(bytes as u64, own, || stream.mark().0) {
        device.allocations.keep(base, by, 0);
        return Ok(ptr::with_exposed_provenance_mut(base as usize));
    }
    pool.has_room(bytes)?;
    device.allocate(bytes, by.clone(), 0).or_else(|failure| {
        // What the pool keeps may be what lacks.
        memory.trim(0);
        match failure.code {
            hipError_t::hipErrorOutOfMemory => device.allocate(bytes, by, 0),
            _ => Err(failure),
        }
    })
}

pub(super) unsafe fn hipFreeAsync(
    address: *mut c_void,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = stream_or(stream, hipError_t::hipErrorInvalidHandle)?;
    if address.is_null() {
        return Ok(());
    }
    if let Some(graph) = capture::graph_of(&stream) {
        return stream.submit(memory::free_in(&graph, address)?);
    }
    if let Some(memory) = GraphMemory::find(address) {
        memory.will_be_free()?;
        return stream.submit(Operation::FreeGraphs(memory));
    }
    if is_imported(address)? {
        stream.synchronize()?;
        return close(address);
    }
    let (device, made) = find(address, is_device, "hipMalloc")?;
    let base = address.addr() as u64;
    device
        .allocations
        .take(base, is_device)
        .ok_or_else(|| gone(address, "hipMalloc"))?;
    device.unlend(base, &made);
    let is_own = Arc::ptr_eq(&device, &stream.device);
    if let MadeBy::Pool(_) = made.by {
        let id = is_own.then_some(stream.id);
        let bytes = device.memory.find(base).map_or(0, |info| info.bytes);
        if made.is_kept((base, bytes), id, Some(stream.mark().0)) {
            return Ok(());
        }
    }
    if !is_own {
        // Memory of another device is freed after the stream's work so far.
        stream.synchronize()?;
        return device.release(base);
    }
    stream.submit(Operation::Free(base))
}

pub(super) unsafe fn hipHostMalloc(
    address: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    let address = out!(address);
    let known = abi::hipHostMallocPortable
        | abi::hipHostMallocMapped
        | abi::hipHostMallocWriteCombined
        | abi::hipHostMallocUncached
        | abi::hipHostMallocNumaUser
        | abi::hipHostMallocCoherent
        | abi::hipHostMallocNonCoherent;
    if flags & !known != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {known:#x} are known"
        )));
    }
    let both = abi::hipHostMallocCoherent | abi::hipHostMallocNonCoherent;
    if flags & both == both {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}: memory is coherent or it is not"
        )));
    }
    let device = Runtime::get().current()?;
    address.set(device.allocate(bytes, MadeBy::Host, flags)?);
    Ok(())
}

pub(super) use hipHostMalloc as hipHostAlloc;

pub(super) unsafe fn hipMallocHost(address: *mut *mut c_void, bytes: usize) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipHostMalloc(address, bytes, abi::hipHostMallocDefault) }
}

pub(super) use hipMallocHost as hipMemAllocHost;

pub(super) unsafe fn hipHostFree(address: *mut c_void) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipFree(address) }
}

pub(super) use hipHostFree as hipFreeHost;

fn is_registered(by: &MadeBy) -> bool {
    matches!(by, MadeBy::Registered)
}

/// The device with which host memory that starts at an address was registered.
fn registrant(base: u64) -> Result<Option<Arc<Device>>, Failure> {
    Runtime::get().with_devices(|devices| {
        let has = |device: &&Arc<Device>| {
            let made = device.allocations.get(base);
            made.is_some_and(|made| is_registered(&made.by))
        };
        devices.iter().flatten().find(has).map(Arc::clone)
    })
}

pub(super) unsafe fn hipHostRegister(
    address: *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    if address.is_null() || bytes == 0 {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {address:p} are not memory"
        )));
    }
    let known = abi::hipHostRegisterPortable
        | abi::hipHostRegisterMapped
        | abi::hipHostRegisterIoMemory
        | abi::hipHostRegisterReadOnly
        | abi::hipExtHostRegisterUncached;
    if flags & !known != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {known:#x} are known"
        )));
    }
    let device = Runtime::get().current()?;
    if !is_mapped(address.addr(), bytes) {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {address:p} are not all memory of the program"
        )));
    }
    let base = address.expose_provenance() as u64;
    // As in CLR, memory that is registered already may be registered again, on any device.
    let registered = registrant(base)?.and_then(|device| device.memory.find(base));
    if registered.is_some_and(|info| bytes <= info.bytes) {
        return Ok(());
    }
    device.memory.register(base, bytes)?;
    if let Err(error) = lend(base, bytes, &device) {
        device.release(base)?;
        return Err(error.into());
    }
    if MadeBy::Registered.is_fine_grained(flags) {
        set_fine_grained(base, &device, true);
    }
    device.allocations.keep(base, MadeBy::Registered, flags);
    Ok(())
}

pub(super) unsafe fn hipHostUnregister(address: *mut c_void) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    if address.is_null() {
        return Err(Failure::value("host_ptr is null"));
    }
    let base = address.addr() as u64;
    let missing = || {
        Failure::new(
            hipError_t::hipErrorHostMemoryNotRegistered,
            format_args!("{address:p} is not from hipHostRegister, or was unregistered before"),
        )
    };
    let device = registrant(base)?.ok_or_else(missing)?;
    wait_for_devices()?;
    let made = device
        .allocations
        .take(base, is_registered)
        .ok_or_else(missing)?;
    device.unlend(base, &made);
    device.release(base)
}

pub(super) unsafe fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Result<(), Failure> {
    let memory = &Runtime::get().current()?.memory;
    let capacity = memory.capacity_bytes();
    // Null is allowed, as in CLR.
    if !free.is_null() {
        out!(free).set(capacity.saturating_sub(memory.used_bytes()) as usize);
    }
    if !total.is_null() {
        out!(total).set(capacity as usize);
    }
    Ok(())
}

pub(super) unsafe fn hipStreamAttachMemAsync(
    stream: hipStream_t,
    address: *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), Failure> {
    const SINGLE: c_uint = 4;
    self::stream(stream)?;
    if ![1, 2, 4].contains(&flags) {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 1, 2 or 4"
        )));
    }
    if flags == SINGLE && stream.is_null() {
        return Err(Failure::value(
            "memory cannot be attached to the default stream alone",
        ));
    }
    // The program's own memory, a part of any length.
    if bytes > 0
        && is_mapped(address.addr(), bytes)
        && Runtime::get().retries_faults()?.is_some()
        && matches!(owner_of(address.addr() as u64)?, AddressOwner::Host)
    {
        return Ok(());
    }
    let is_managed = |by: &MadeBy| matches!(by, MadeBy::Managed);
    let (device, _) = find(address, is_managed, "hipMallocManaged")?;
    let all = device.memory.find(address.addr() as u64);
    match all.map_or(0, |info| info.bytes) {
        all if bytes == 0 || bytes == all => Ok(()),
        all => Err(Failure::value(format_args!(
            "{bytes} bytes of an allocation of {all}, which is attached as a whole"
        ))),
    }
}
