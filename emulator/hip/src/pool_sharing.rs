//! Memory pools that processes share: a pool by a file descriptor, its allocations by words as in `ipc`.

use std::{
    ffi::{c_int, c_uint, c_void},
    io, ptr,
    sync::atomic::{AtomicU64, Ordering},
};

use ferrowave_hip_abi::{
    hipError_t, hipMemAccessFlags, hipMemAllocationHandleType as HandleType, hipMemPool_t,
    hipMemPoolPtrExportData,
};

use super::{
    error::{Failure, out, read},
    ipc::{parts, share, words},
    objects::opened,
    pool::{Pool, pool},
    runtime::{Runtime, allocations::MadeBy},
};
use ferrowave_emulator::memory::{Addresses, PAGE_BYTES, Physical};

/// The first word of an allocation's data, and of a pool's page.
const MARK: u64 = u64::from_le_bytes(*b"FW  pool");

/// What a pool's file descriptor leads to: the mark, the settings, and the devices that can access the memory, each with the
/// kind of access in the upper half of its word; a word of 0 ends them.
type Page = [AtomicU64; PAGE_BYTES / 8];

/// Runs a function on the page of a pool, which is mapped meanwhile.
fn with_page<T>(memory: &Physical, function: impl FnOnce(&Page) -> T) -> io::Result<T> {
    if memory.bytes() != PAGE_BYTES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let addresses = Addresses::reserve(PAGE_BYTES, PAGE_BYTES, 0)?;
    addresses.map(&(0..PAGE_BYTES), memory)?;
    let page = ptr::with_exposed_provenance::<Page>(addresses.start() as usize);
    // SAFETY: the page is mapped until the function ends, and all processes access it by atomic operations only.
    Ok(function(unsafe { &*page }))
}

fn failed(error: io::Error) -> Failure {
    Failure::new(hipError_t::hipErrorOutOfMemory, error)
}

fn no_flags(flags: c_uint) -> Result<(), Failure> {
    match flags {
        0 => Ok(()),
        _ => Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        ))),
    }
}

pub(super) unsafe fn hipMemPoolExportToShareableHandle(
    descriptor: *mut c_void,
    pool: hipMemPool_t,
    kind: HandleType,
    flags: c_uint,
) -> Result<(), Failure> {
    let descriptor = descriptor.cast::<c_int>();
    let descriptor = out!(descriptor);
    no_flags(flags)?;
    let pool = self::pool(pool)?;
    if kind != pool.handle_type || kind == HandleType::hipMemHandleTypeNone {
        return Err(Failure::value(format_args!(
            "the pool was created with handle type {}, not {}",
            pool.handle_type.0, kind.0
        )));
    }
    let memory = Physical::of_host(PAGE_BYTES).map_err(failed)?;
    let devices = pool.accesses().into_iter();
    let devices = devices.map(|(device, flags)| u64::from(flags.0) << 32 | device as u64);
    let values = [MARK].into_iter().chain(pool.settings()).chain(devices);
    let write = |page: &Page| {
        for (word, value) in page.iter().zip(values) {
            word.store(value, Ordering::Release);
        }
    };
    with_page(&memory, write).map_err(failed)?;
    descriptor.set(memory.share().map_err(failed)?);
    Ok(())
}

pub(super) unsafe fn hipMemPoolImportFromShareableHandle(
    pool: *mut hipMemPool_t,
    descriptor: *mut c_void,
    kind: HandleType,
    flags: c_uint,
) -> Result<(), Failure> {
    let pool = out!(pool);
    no_flags(flags)?;
    if descriptor.is_null() || kind != HandleType::hipMemHandleTypePosixFileDescriptor {
        return Err(Failure::value(format_args!(
            "handle {descriptor:p} of type {}, which must be 1 (file descriptor)",
            kind.0
        )));
    }
    let device = Runtime::get().current()?;
    // CLR reads an `int`, and AMD's hip-tests pass a word of which only that half is set.
    let descriptor = descriptor.addr() as u32 as c_int;
    let words = Physical::import(descriptor).and_then(|memory| {
        with_page(&memory, |page| {
            page.each_ref().map(|word| word.load(Ordering::Acquire))
        })
    });
    match words {
        Ok([MARK, a, b, c, d, devices @ ..]) => {
            let new = Pool::with(device, false, kind, [a, b, c, d]);
            for word in devices.into_iter().take_while(|&word| word != 0) {
                // This process may have fewer devices.
                if let Ok(device) = Runtime::get().device(word as c_int) {
                    new.let_access(&device, hipMemAccessFlags((word >> 32) as u32));
                }
            }
            pool.set(new.keep());
            Ok(())
        }
        other => Err(Failure::new(
            hipError_t::hipErrorOutOfMemory,
            format_args!(
                "{descriptor} is not a file descriptor of a pool{}",
                other.map_or_else(|error| format!(": {error}"), |_| String::new())
            ),
        )),
    }
}

pub(super) unsafe fn hipMemPoolExportPointer(
    data: *mut hipMemPoolPtrExportData,
    address: *mut c_void,
) -> Result<(), Failure> {
    let data = out!(data);
    if address.is_null() {
        return Err(Failure::value("ptr is null"));
    }
    let shared = share(address).map_err(|failure| failure.coded(hipError_t::hipErrorOutOfMemory));
    let (shared, into) = shared?;
    data.set(hipMemPoolPtrExportData {
        reserved: words(MARK, &shared, into),
    });
    Ok(())
}

pub(super) unsafe fn hipMemPoolImportPointer(
    address: *mut *mut c_void,
    pool: hipMemPool_t,
    data: *mut hipMemPoolPtrExportData,
) -> Result<(), Failure> {
    let address = out!(address);
    let data = read!(data);
    let pool = self::pool(pool)?;
    // CLR has one code for all data that it cannot use.
    let gone = |detail: String| Failure::new(hipError_t::hipErrorOutOfMemory, detail);
    let (owner, shared, into) = parts(data.reserved, MARK, "hipMemPoolExportPointer")
        .map_err(|failure| gone(failure.detail))?;
    let unopened = |error| {
        gone(format!(
            "the memory of process {owner} cannot be opened: {error}"
        ))
    };
    let memory = Physical::of_process(owner, &shared).map_err(unopened)?;
    let device = pool.device.clone();
    let base = opened::open(device, &memory, &shared, MadeBy::Imported).map_err(unopened)??;
    address.set(ptr::with_exposed_provenance_mut((base + into) as usize));
    Ok(())
}
