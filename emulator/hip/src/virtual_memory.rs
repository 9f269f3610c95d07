//! Virtual memory management: physical memory that the program maps at addresses that it reserved.

use std::{
    ffi::{c_int, c_ulonglong, c_void},
    io, ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    hipError_t, hipMemAccessDesc, hipMemAccessFlags as Access, hipMemAllocationGranularity_flags,
    hipMemAllocationHandleType as HandleType, hipMemAllocationProp, hipMemAllocationType,
    hipMemGenericAllocationHandle_t, hipMemLocation, hipMemLocationType,
};

use super::{
    allocation::wait_for_devices,
    error::{Failure, out, read},
    list::list,
    objects::mapping::{self, Memory, Span},
    runtime::{Device, Runtime},
};
use ferrowave_emulator::memory::{Addresses, PAGE_BYTES, Physical};

/// The unit of physical memory and of addresses: ROCm's is the page.
const GRANULARITY: usize = PAGE_BYTES;

/// The descriptors that a handle can hold itself: no address is that small.
const DESCRIPTORS: usize = 4096;

fn span(address: *mut c_void, bytes: usize) -> Result<Span, Failure> {
    if address.is_null() || bytes == 0 {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {address:p} are not memory"
        )));
    }
    Ok(Span {
        start: address.addr() as u64,
        bytes,
    })
}

fn no_flags(flags: c_ulonglong) -> Result<(), Failure> {
    match flags {
        0 => Ok(()),
        _ => Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        ))),
    }
}

/// The device of a location. These functions have one code for all wrong locations.
fn located(location: hipMemLocation) -> Result<Arc<Device>, Failure> {
    if location.r#type != hipMemLocationType::hipMemLocationTypeDevice {
        return Err(Failure::value(format_args!(
            "the location's type is {}, but must be 1 (hipMemLocationTypeDevice)",
            location.r#type.0
        )));
    }
    let device = Runtime::get().device(location.id);
    device.map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))
}

/// The device of properties.
fn device_of(properties: &hipMemAllocationProp) -> Result<Arc<Device>, Failure> {
    if properties.r#type != hipMemAllocationType::hipMemAllocationTypePinned {
        return Err(Failure::value(format_args!(
            "the memory's type is {}, but must be 1 (hipMemAllocationTypePinned)",
            properties.r#type.0
        )));
    }
    located(properties.location)
}

fn whole(bytes: usize) -> Result<(), Failure> {
    match bytes > 0 && bytes.is_multiple_of(GRANULARITY) {
        true => Ok(()),
        false => Err(Failure::value(format_args!(
            "{bytes} bytes are not a multiple of {GRANULARITY}"
        ))),
    }
}

pub(super) unsafe fn hipMemGetAllocationGranularity(
    granularity: *mut usize,
    properties: *const hipMemAllocationProp,
    option: hipMemAllocationGranularity_flags,
) -> Result<(), Failure> {
    let granularity = out!(granularity);
    device_of(&read!(properties))?;
    if option.0 > 1 {
        return Err(Failure::value(format_args!(
            "the option is {}, but must be 0 (minimum) or 1 (recommended)",
            option.0
        )));
    }
    granularity.set(GRANULARITY);
    Ok(())
}

pub(super) unsafe fn hipMemAddressReserve(
    address: *mut *mut c_void,
    bytes: usize,
    alignment: usize,
    wanted: *mut c_void,
    flags: c_ulonglong,
) -> Result<(), Failure> {
    let address = out!(address);
    no_flags(flags)?;
    Runtime::get().current()?;
    let code = hipError_t::hipErrorMemoryAllocation;
    whole(bytes).map_err(|failure| failure.coded(code))?;
    if alignment != 0 && !alignment.is_power_of_two() {
        return Err(Failure::new(
            code,
            format_args!("the alignment {alignment} is not a power of two"),
        ));
    }
    let alignment = alignment.max(GRANULARITY);
    let addresses = Addresses::reserve(bytes, alignment, wanted.addr() as u64);
    let addresses = addresses.map_err(|error| failed(&error))?;
    let start = mapping::reserve(addresses);
    address.set(ptr::with_exposed_provenance_mut(start as usize));
    Ok(())
}

/// The failure of a call of the operating system.
fn failed(error: &io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::Unsupported => hipError_t::hipErrorNotSupported,
        _ => hipError_t::hipErrorOutOfMemory,
    };
    Failure::new(code, error)
}

pub(super) unsafe fn hipMemAddressFree(address: *mut c_void, bytes: usize) -> Result<(), Failure> {
    let span = span(address, bytes)?;
    wait_for_devices()?;
    mapping::free(span)
}

pub(super) unsafe fn hipMemCreate(
    handle: *mut hipMemGenericAllocationHandle_t,
    bytes: usize,
    properties: *const hipMemAllocationProp,
    flags: c_ulonglong,
) -> Result<(), Failure> {
    let handle = out!(handle);
    no_flags(flags)?;
    let properties = read!(properties);
    let device = device_of(&properties)?;
    if properties.requestedHandleType.0 > HandleType::hipMemHandleTypePosixFileDescriptor.0 {
        return Err(Failure::new(
            hipError_t::hipErrorNotSupported,
            format_args!(
                "the handle type is {}, but must be 0 (none) or 1 (file descriptor)",
                properties.requestedHandleType.0
            ),
        ));
    }
    whole(bytes)?;
    let physical = Physical::new(&device.memory, bytes)?;
    let new = Memory::keep(physical, device, properties);
    handle.set(ptr::without_provenance_mut(new));
    Ok(())
}

pub(super) unsafe fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> Result<(), Failure> {
    Memory::release(handle.addr())
}

pub(super) unsafe fn hipMemRetainAllocationHandle(
    handle: *mut hipMemGenericAllocationHandle_t,
    address: *mut c_void,
) -> Result<(), Failure> {
    let handle = out!(handle);
    let found = mapping::retain(address.addr() as u64)?;
    handle.set(ptr::without_provenance_mut(found));
    Ok(())
}

pub(super) unsafe fn hipMemGetAllocationPropertiesFromHandle(
    properties: *mut hipMemAllocationProp,
    handle: hipMemGenericAllocationHandle_t,
) -> Result<(), Failure> {
    let properties = out!(properties);
    properties.set(Memory::of(handle.addr())?.properties);
    Ok(())
}

pub(super) unsafe fn hipMemMap(
    address: *mut c_void,
    bytes: usize,
    offset: usize,
    handle: hipMemGenericAllocationHandle_t,
    flags: c_ulonglong,
) -> Result<(), Failure> {
    let span = span(address, bytes)?;
    no_flags(flags)?;
    if offset != 0 {
        return Err(Failure::value(format_args!(
            "the offset is {offset}, but must be 0"
        )));
    }
    whole(bytes)?;
    whole(address.addr())?;
    mapping::map(span, Memory::of(handle.addr())?)
}

pub(super) unsafe fn hipMemUnmap(address: *mut c_void, bytes: usize) -> Result<(), Failure> {
    let span = span(address, bytes)?;
    wait_for_devices()?;
    mapping::unmap(span)
}

pub(super) unsafe fn hipMemSetAccess(
    address: *mut c_void,
    bytes: usize,
    list: *const hipMemAccessDesc,
    count: usize,
) -> Result<(), Failure> {
    let span = span(address, bytes)?;
    if count == 0 {
        return Err(Failure::value("desc has no accesses"));
    }
    // SAFETY: HIP's contract: the list has `count` elements.
    let access = unsafe { self::list(list, count, "desc") }?.into_iter();
    let access = access.map(|access| match access.flags {
        Access::hipMemAccessFlagsProtNone
        | Access::hipMemAccessFlagsProtRead
        | Access::hipMemAccessFlagsProtReadWrite => Ok((located(access.location)?, access.flags)),
        other => Err(Failure::value(format_args!(
            "the access is {}, but must be 0 (none), 1 (read) or 3 (read and write)",
            other.0
        ))),
    });
    let access = access.collect::<Result<Vec<_>, _>>()?;
    wait_for_devices()?;
    mapping::set_access(span, &access)
}

pub(super) unsafe fn hipMemGetAccess(
    flags: *mut c_ulonglong,
    location: *const hipMemLocation,
    address: *mut c_void,
) -> Result<(), Failure> {
    let flags = out!(flags);
    let device = located(read!(location))?;
    let access = mapping::access(address.addr() as u64, device.ordinal)?;
    flags.set(c_ulonglong::from(access.0));
    Ok(())
}

fn by_descriptor(kind: HandleType) -> Result<(), Failure> {
    match kind {
        HandleType::hipMemHandleTypePosixFileDescriptor => Ok(()),
        other => Err(Failure::value(format_args!(
            "the handle type is {}, but must be 1 (file descriptor)",
            other.0
        ))),
    }
}

pub(super) unsafe fn hipMemExportToShareableHandle(
    descriptor: *mut c_void,
    handle: hipMemGenericAllocationHandle_t,
    kind: HandleType,
    flags: c_ulonglong,
) -> Result<(), Failure> {
    let descriptor = descriptor.cast::<c_int>();
    let descriptor = out!(descriptor);
    no_flags(flags)?;
    by_descriptor(kind)?;
    let memory = Memory::of(handle.addr())?;
    if memory.properties.requestedHandleType != kind {
        return Err(Failure::value(format_args!(
            "the memory was created with handle type {}, not {}",
            memory.properties.requestedHandleType.0, kind.0
        )));
    }
    descriptor.set(memory.physical.share().map_err(|error| failed(&error))?);
    Ok(())
}

pub(super) unsafe fn hipMemImportFromShareableHandle(
    handle: *mut hipMemGenericAllocationHandle_t,
    descriptor: *mut c_void,
    kind: HandleType,
) -> Result<(), Failure> {
    let handle = out!(handle);
    by_descriptor(kind)?;
    if descriptor.is_null() {
        return Err(Failure::value("os_handle is null"));
    }
    // ROCm 6 reads the descriptor at the address; CUDA's programs pass the descriptor itself.
    let descriptor = match descriptor.addr() {
        value @ ..DESCRIPTORS => value as c_int,
        _ => {
            let descriptor = descriptor.cast::<c_int>();
            read!(descriptor)
        }
    };
    let device = Runtime::get().current()?;
    let physical = Physical::import(descriptor).map_err(|error| {
        Failure::value(format_args!(
            "file descriptor {descriptor} is not physical memory: {error}"
        ))
    })?;
    let properties = hipMemAllocationProp {
        r#type: hipMemAllocationType::hipMemAllocationTypePinned,
        requestedHandleType: kind,
        location: hipMemLocation {
            r#type: hipMemLocationType::hipMemLocationTypeDevice,
            id: device.ordinal,
        },
        ..hipMemAllocationProp::ZERO
    };
    let new = Memory::keep(physical, device, properties);
    handle.set(ptr::without_provenance_mut(new));
    Ok(())
}
