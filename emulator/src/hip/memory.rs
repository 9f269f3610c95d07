//! Allocation, copies and fills.

use std::{
    ffi::{c_int, c_uchar, c_uint, c_void},
    ptr, slice,
    sync::Arc,
};

use ferrowave_hip_abi::{self as abi, hipDeviceptr_t, hipError_t, hipMemcpyKind, hipStream_t};

use super::{
    error::{Failure, out},
    fault::Waits,
    runtime::{Device, Runtime},
    stream::stream,
};
use crate::memory::AllocationKind;

/// Bytes that go from one device to another at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Whose an address is.
enum Place {
    Device(Arc<Device>, AllocationKind),
    /// Nobody's here: the program's own memory.
    Host,
}

fn place(address: usize) -> Result<Place, Failure> {
    Runtime::get().with_devices(|devices| {
        devices
            .iter()
            .flatten()
            .find_map(|device| {
                let info = device.memory.find(address as u64)?;
                Some(Place::Device(Arc::clone(device), info.kind))
            })
            // A launch's own data is no allocation to anybody else.
            .filter(|place| !matches!(place, Place::Device(_, AllocationKind::Launch)))
            .unwrap_or(Place::Host)
    })
}

fn allocate(bytes: usize, kind: AllocationKind) -> Result<*mut c_void, Failure> {
    let device = Runtime::get().current()?;
    if bytes == 0 {
        return Ok(ptr::null_mut());
    }
    let address = device.memory.allocate(bytes, kind)?;
    Ok(ptr::with_exposed_provenance_mut(address as usize))
}

/// Frees an allocation that `from` made.
fn free(address: *mut c_void, kind: AllocationKind, from: &str) -> Result<(), Failure> {
    if address.is_null() {
        return Ok(());
    }
    match place(address.addr())? {
        Place::Device(device, found) if found == kind => {
            // Freeing waits for the device on a GPU; here nothing runs that could still use the memory, and a kernel
            // that another thread runs keeps it alive.
            Ok(device.memory.free(address.addr() as u64)?)
        }
        Place::Device(_, found) => Err(Failure::value(format_args!(
            "{address:p} is in a {found}, not from {from}"
        ))),
        Place::Host => Err(Failure::value(format_args!(
            "{address:p} is not from {from}, or was freed before"
        ))),
    }
}

pub(super) unsafe fn hipMalloc(address: *mut *mut c_void, bytes: usize) -> Result<(), Failure> {
    let address = out!(address);
    address.set(allocate(bytes, AllocationKind::Device)?);
    Ok(())
}

pub(super) unsafe fn hipFree(address: *mut c_void) -> Result<(), Failure> {
    free(address, AllocationKind::Device, "hipMalloc")
}

pub(super) unsafe fn hipHostMalloc(
    address: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> Result<(), Failure> {
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
    address.set(allocate(bytes, AllocationKind::Host)?);
    Ok(())
}

pub(super) unsafe fn hipHostFree(address: *mut c_void) -> Result<(), Failure> {
    free(address, AllocationKind::Host, "hipHostMalloc")
}

pub(super) unsafe fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Result<(), Failure> {
    let (free, total) = (out!(free), out!(total));
    let memory = &Runtime::get().current()?.memory;
    let capacity = memory.capacity_bytes();
    free.set(capacity.saturating_sub(memory.used_bytes()) as usize);
    total.set(capacity as usize);
    Ok(())
}

/// Which side a copy's address must be on: devices' memory, or anywhere.
fn on_device(address: usize, must: bool, what: &str) -> Result<Option<Arc<Device>>, Failure> {
    match place(address)? {
        Place::Device(device, _) => Ok(Some(device)),
        Place::Host if must => Err(Failure::value(format_args!(
            "the copy's {what} {address:#x} is not in device memory"
        ))),
        Place::Host => Ok(None),
    }
}

/// Copies `bytes`, which the kind says are on a device or not.
///
/// # Safety
/// Where an address is in no device's memory, it is valid for `bytes` bytes of the caller's.
unsafe fn copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let (from_device, to_device) = match kind {
        hipMemcpyKind::hipMemcpyHostToHost | hipMemcpyKind::hipMemcpyDefault => (false, false),
        hipMemcpyKind::hipMemcpyHostToDevice => (false, true),
        hipMemcpyKind::hipMemcpyDeviceToHost => (true, false),
        hipMemcpyKind::hipMemcpyDeviceToDevice | hipMemcpyKind::hipMemcpyDeviceToDeviceNoCU => {
            (true, true)
        }
        hipMemcpyKind(other) => {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidMemcpyDirection,
                format_args!("{other} is no kind of copy; there are 0 to 4 and 1024"),
            ));
        }
    };
    if bytes == 0 {
        return Ok(());
    }
    for (address, what) in [(to.cast_const(), "target"), (from, "source")] {
        if address.is_null() {
            return Err(Failure::value(format_args!("the copy's {what} is null")));
        }
    }
    if isize::try_from(bytes).is_err() {
        return Err(Failure::value(format_args!(
            "{bytes} bytes are more than an address space has"
        )));
    }
    let target = on_device(to.addr(), to_device, "target")?;
    let source = on_device(from.addr(), from_device, "source")?;
    let (to_address, from_address) = (to.addr() as u64, from.addr() as u64);
    match (target, source) {
        (Some(target), Some(source)) if Arc::ptr_eq(&target, &source) => {
            target.memory.copy(to_address, from_address, bytes)?;
        }
        (Some(target), Some(source)) => {
            let mut chunk = vec![0; CHUNK_BYTES.min(bytes)];
            let mut done = 0;
            while done < bytes {
                let part = CHUNK_BYTES.min(bytes - done);
                source
                    .memory
                    .read(from_address + done as u64, &mut chunk[..part])?;
                target
                    .memory
                    .write(to_address + done as u64, &chunk[..part])?;
                done += part;
            }
        }
        (Some(target), None) => {
            // SAFETY: the caller promises `bytes` bytes of its own at `from`.
            let from = unsafe { slice::from_raw_parts(from.cast(), bytes) };
            target.memory.write(to_address, from)?;
        }
        (None, Some(source)) => {
            // SAFETY: the caller promises `bytes` bytes of its own at `to`.
            let to = unsafe { slice::from_raw_parts_mut(to.cast(), bytes) };
            source.memory.read(from_address, to)?;
        }
        // SAFETY: the caller promises `bytes` bytes of its own at both, which may overlap.
        (None, None) => unsafe { to.cast::<u8>().copy_from(from.cast(), bytes) },
    }
    Ok(())
}

/// Waits for the default stream, and so for all work; after a failure nothing is copied.
fn synchronize() -> Result<(), Failure> {
    Runtime::get().current()?.faults.report(Waits::Device)
}

pub(super) unsafe fn hipMemcpy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    synchronize()?;
    // SAFETY: HIP's contract is `copy`'s.
    unsafe { copy(to, from, bytes, kind) }
}

pub(super) unsafe fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), Failure> {
    self::stream(stream)?;
    // SAFETY: HIP's contract is `copy`'s.
    unsafe { copy(to, from, bytes, kind) }
}

/// Copies whose kind is in the function's name, each with its form in a stream.
macro_rules! copies {
    ($($name:ident, $in_stream:ident: $kind:ident, $to:ty, $from:ty;)*) => {$(
        pub(super) unsafe fn $name(to: $to, from: $from, bytes: usize) -> Result<(), Failure> {
            // SAFETY: the same contract.
            unsafe { hipMemcpy(to, from, bytes, hipMemcpyKind::$kind) }
        }

        pub(super) unsafe fn $in_stream(
            to: $to,
            from: $from,
            bytes: usize,
            stream: hipStream_t,
        ) -> Result<(), Failure> {
            // SAFETY: the same contract.
            unsafe { hipMemcpyAsync(to, from, bytes, hipMemcpyKind::$kind, stream) }
        }
    )*};
}

copies! {
    hipMemcpyHtoD, hipMemcpyHtoDAsync: hipMemcpyHostToDevice, hipDeviceptr_t, *const c_void;
    hipMemcpyDtoH, hipMemcpyDtoHAsync: hipMemcpyDeviceToHost, *mut c_void, hipDeviceptr_t;
    hipMemcpyDtoD, hipMemcpyDtoDAsync: hipMemcpyDeviceToDevice, hipDeviceptr_t, hipDeviceptr_t;
}

/// Writes `count` copies of `pattern`.
fn fill(address: *mut c_void, pattern: &[u8], count: usize) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    let Place::Device(device, _) = place(address.addr())? else {
        return Err(Failure::value(format_args!(
            "{address:p} is not in device memory"
        )));
    };
    // Few long pieces instead of many short ones.
    let repeat = count.min(4096);
    let piece = pattern.repeat(repeat);
    let start = address.addr() as u64;
    // One check of the whole range first, so that nothing is written if it is too long.
    let inside = device.memory.find(start).is_some_and(|info| {
        let room = info.base + info.bytes as u64 - start;
        pattern
            .len()
            .checked_mul(count)
            .is_some_and(|bytes| bytes as u64 <= room)
    });
    if !inside {
        return Err(Failure::value(format_args!(
            "{count} times {} bytes at {address:p} are not inside one allocation",
            pattern.len()
        )));
    }
    device.memory.fill(start, &piece, count / repeat)?;
    let done = count / repeat * piece.len();
    device
        .memory
        .fill(start + done as u64, pattern, count % repeat)?;
    Ok(())
}

/// Fills of one kind, on the default stream and in any.
macro_rules! fills {
    ($($name:ident, $in_stream:ident: $address:ty, $value:ty, |$v:ident| $pattern:expr;)*) => {$(
        pub(super) unsafe fn $name(address: $address, $v: $value, count: usize) -> Result<(), Failure> {
            Runtime::get().current()?;
            fill(address, &$pattern, count)
        }

        pub(super) unsafe fn $in_stream(
            address: $address,
            $v: $value,
            count: usize,
            stream: hipStream_t,
        ) -> Result<(), Failure> {
            self::stream(stream)?;
            fill(address, &$pattern, count)
        }
    )*};
}

fills! {
    hipMemset, hipMemsetAsync: *mut c_void, c_int, |value| [value as u8];
    hipMemsetD8, hipMemsetD8Async: hipDeviceptr_t, c_uchar, |value| [value];
    hipMemsetD32, hipMemsetD32Async: hipDeviceptr_t, c_int, |value| value.to_le_bytes();
}
