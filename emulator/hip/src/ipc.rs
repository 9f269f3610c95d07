//! Device memory and events that processes share.

use std::{
    ffi::{c_uint, c_void},
    io, process, ptr,
};

use ferrowave_hip_abi::{
    hipError_t, hipEvent_t, hipIpcEventHandle_t, hipIpcMemHandle_t, hipIpcMemLazyEnablePeerAccess,
};

use super::{
    allocation::wait_for_devices,
    error::{Failure, out},
    event::make,
    objects::{
        event::event,
        opened,
        owner::{AddressOwner, owner_of},
        shared_event::SharedEvent,
    },
    runtime::{Runtime, allocations::MadeBy},
};
use ferrowave_emulator::memory::{Physical, Shared};

/// The first words of handles.
const MEMORY: u64 = u64::from_le_bytes(*b"FWmemory");
const EVENT: u64 = u64::from_le_bytes(*b"FW event");

/// The words of a handle: what it is of, this process, where the memory is, and what is left.
pub(super) fn words(mark: u64, shared: &Shared, rest: u64) -> [u64; 8] {
    [
        mark,
        process::id().into(),
        shared.descriptor as u64,
        shared.inode,
        shared.offset as u64,
        shared.bytes as u64,
        rest,
        0,
    ]
}

/// The process, the memory and the rest of a handle.
pub(super) fn parts(
    words: [u64; 8],
    expected: u64,
    from: &str,
) -> Result<(u32, Shared, u64), Failure> {
    let [mark, owner, descriptor, inode, offset, bytes, rest, _] = words;
    let foreign = || Failure::value(format_args!("the handle is not from {from}"));
    let (Ok(owner), Ok(descriptor)) = (u32::try_from(owner), i32::try_from(descriptor)) else {
        return Err(foreign());
    };
    if mark != expected || bytes == 0 {
        return Err(foreign());
    }
    let shared = Shared {
        descriptor,
        inode,
        offset: offset as usize,
        bytes: bytes as usize,
    };
    if rest >= shared.bytes as u64 {
        return Err(Failure::value(format_args!(
            "the handle is of byte {rest} of {}",
            shared.bytes
        )));
    }
    Ok((owner, shared, rest))
}

/// The same, of another process.
fn foreign(words: [u64; 8], expected: u64, from: &str) -> Result<(u32, Shared, u64), Failure> {
    let parts = parts(words, expected, from)?;
    match parts.0 == process::id() {
        true => Err(Failure::new(
            hipError_t::hipErrorInvalidContext,
            "the handle is of this process",
        )),
        false => Ok(parts),
    }
}

/// The failure of sharing.
fn failed(error: io::Error) -> Failure {
    Failure::new(hipError_t::hipErrorOutOfMemory, error)
}

/// Makes the allocation that contains an address one that other processes can open. Returns also where the address is in
/// it.
pub(super) fn share(address: *mut c_void) -> Result<(Shared, u64), Failure> {
    let start = address.addr() as u64;
    let missing = || {
        Failure::value(format_args!(
            "{address:p} is not in memory of hipMalloc, which processes can share"
        ))
    };
    let AddressOwner::Device(device, _) = owner_of(start)? else {
        return Err(missing());
    };
    let info = device.memory.find(start).ok_or_else(missing)?;
    // A pool may keep memory that the program freed.
    device.allocations.get(info.base).ok_or_else(missing)?;
    // Kernels and copies must not write it while it is moved.
    wait_for_devices()?;
    let shared = device.memory.share(start).ok_or_else(missing)?;
    Ok((shared.map_err(failed)?, start - info.base))
}

pub(super) unsafe fn hipIpcGetMemHandle(
    handle: *mut hipIpcMemHandle_t,
    address: *mut c_void,
) -> Result<(), Failure> {
    let handle = out!(handle);
    let (shared, into) = share(address)?;
    handle.set(hipIpcMemHandle_t {
        reserved: words(MEMORY, &shared, into),
    });
    Ok(())
}

pub(super) unsafe fn hipIpcOpenMemHandle(
    address: *mut *mut c_void,
    handle: hipIpcMemHandle_t,
    flags: c_uint,
) -> Result<(), Failure> {
    let address = out!(address);
    if flags != hipIpcMemLazyEnablePeerAccess {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 1 (hipIpcMemLazyEnablePeerAccess)"
        )));
    }
    let (owner, shared, into) = foreign(handle.reserved, MEMORY, "hipIpcGetMemHandle")?;
    let device = Runtime::get().current()?;
    let gone = |error| {
        Failure::new(
            hipError_t::hipErrorInvalidDevicePointer,
            format_args!("the memory of process {owner} cannot be opened: {error}"),
        )
    };
    let memory = Physical::of_process(owner, &shared).map_err(gone)?;
    let base = opened::open(device, &memory, &shared, MadeBy::Mapped).map_err(gone)??;
    address.set(ptr::with_exposed_provenance_mut((base + into) as usize));
    Ok(())
}

pub(super) unsafe fn hipIpcCloseMemHandle(address: *mut c_void) -> Result<(), Failure> {
    wait_for_devices()?;
    match opened::close(address.addr() as u64) {
        true => Ok(()),
        false => Err(Failure::value(format_args!(
            "{address:p} is not in memory of hipIpcOpenMemHandle, or was closed"
        ))),
    }
}

pub(super) unsafe fn hipIpcGetEventHandle(
    handle: *mut hipIpcEventHandle_t,
    event: hipEvent_t,
) -> Result<(), Failure> {
    let handle = out!(handle);
    let event = self::event(event);
    let event = event.map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))?;
    let shared = event.shared.as_ref().ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorInvalidConfiguration,
            "the event was created without hipEventInterprocess, or this host shares no memory",
        )
    })?;
    handle.set(hipIpcEventHandle_t {
        reserved: words(EVENT, &shared.shared().map_err(failed)?, 0),
    });
    Ok(())
}

pub(super) unsafe fn hipIpcOpenEventHandle(
    event: *mut hipEvent_t,
    handle: hipIpcEventHandle_t,
) -> Result<(), Failure> {
    let event = out!(event);
    let (owner, shared, _) = foreign(handle.reserved, EVENT, "hipIpcGetEventHandle")?;
    let device = Runtime::get().current()?;
    let shared = SharedEvent::open(owner, &shared).map_err(|error| {
        Failure::value(format_args!(
            "the event of process {owner} cannot be opened: {error}"
        ))
    })?;
    event.set(make(device, false, Some(shared)));
    Ok(())
}
