//! Attributes of addresses.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    hipDeviceptr_t, hipError_t, hipMemoryType, hipPointer_attribute as Attribute,
    hipPointerAttribute_t,
};

use super::{
    error::{Failure, out, read},
    list::list,
    objects::{
        array::ARRAYS,
        owner::{AddressOwner, owner_of},
    },
    runtime::{
        Device,
        allocations::{Made, MadeBy},
    },
};
use ferrowave_emulator::memory::AllocationInfo;

/// The allocation that contains an address.
struct Owner {
    device: Arc<Device>,
    info: AllocationInfo,
    /// How the program allocated it; `None` for a variable of a code object.
    made: Option<Made>,
}

fn owner(address: u64) -> Result<Option<Owner>, Failure> {
    let AddressOwner::Device(device, _) = owner_of(address)? else {
        return Ok(None);
    };
    let info = device.memory.find(address);
    Ok(info.map(|info| Owner {
        made: device.allocations.get(info.base),
        device,
        info,
    }))
}

/// The owner of an address. An error if there is none.
fn owned(address: *const c_void) -> Result<Owner, Failure> {
    owner(address.addr() as u64)?
        .ok_or_else(|| Failure::value(format_args!("{address:p} is not in memory that HIP knows")))
}

impl Owner {
    fn memory_type(&self) -> hipMemoryType {
        match self.made.as_ref().map(|made| &made.by) {
            Some(MadeBy::Host | MadeBy::Registered) => hipMemoryType::hipMemoryTypeHost,
            Some(made) if made.is_managed() => hipMemoryType::hipMemoryTypeManaged,
            Some(
                MadeBy::Array
                | MadeBy::Device
                | MadeBy::Managed
                | MadeBy::Pool(_)
                | MadeBy::Graph(_)
                | MadeBy::Imported
                | MadeBy::Mapped
                | MadeBy::Surface
                | MadeBy::Texture(_),
            )
            | None => hipMemoryType::hipMemoryTypeDevice,
        }
    }

    fn is_managed(&self) -> bool {
        self.memory_type() == hipMemoryType::hipMemoryTypeManaged
    }

    /// Whether the host can access the address.
    fn on_host(&self) -> bool {
        self.memory_type() != hipMemoryType::hipMemoryTypeDevice
    }

    fn flags(&self) -> c_uint {
        self.made.as_ref().map_or(0, |made| made.flags)
    }
}

pub(super) unsafe fn hipPointerGetAttributes(
    attributes: *mut hipPointerAttribute_t,
    address: *const c_void,
) -> Result<(), Failure> {
    let attributes = out!(attributes);
    if address.is_null() {
        return Err(Failure::value("address is null"));
    }
    let pointer = address.cast_mut();
    attributes.set(match owner(address.addr() as u64)? {
        Some(owner) => hipPointerAttribute_t {
            r#type: owner.memory_type(),
            device: owner.device.ordinal,
            devicePointer: pointer,
            hostPointer: if owner.on_host() {
                pointer
            } else {
                ptr::null_mut()
            },
            isManaged: c_int::from(owner.is_managed()),
            allocationFlags: owner.flags(),
        },
        None => hipPointerAttribute_t {
            r#type: hipMemoryType::hipMemoryTypeUnregistered,
            device: -2, // hipInvalidDeviceId
            ..hipPointerAttribute_t::ZERO
        },
    });
    Ok(())
}

/// The value of an attribute, in the attribute's type.
enum Answer {
    Pointer(*mut c_void),
    Number(u64),
    Int(c_int),
    Unsigned(c_uint),
    Bool(bool),
}

impl Answer {
    /// # Safety
    /// `data` is null or valid for a write of the attribute's type.
    unsafe fn write(self, data: *mut c_void) -> Result<(), Failure> {
        /// Writes a value of one type.
        ///
        /// # Safety
        /// As above.
        unsafe fn put<T>(data: *mut c_void, value: T) -> Result<(), Failure> {
            let data = data.cast::<T>();
            out!(data).set(value);
            Ok(())
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Answer::Pointer(value) => put(data, value),
                Answer::Number(value) => put(data, value),
                Answer::Int(value) => put(data, value),
                Answer::Unsigned(value) => put(data, value),
                Answer::Bool(value) => put(data, value),
            }
        }
    }
}

fn answer(owner: &Owner, attribute: Attribute, address: *mut c_void) -> Result<Answer, Failure> {
    Ok(match attribute {
        Attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => Answer::Unsigned(owner.memory_type().0),
        Attribute::HIP_POINTER_ATTRIBUTE_DEVICE_POINTER => Answer::Pointer(address),
        Attribute::HIP_POINTER_ATTRIBUTE_HOST_POINTER if owner.on_host() => {
            Answer::Pointer(address)
        }
        Attribute::HIP_POINTER_ATTRIBUTE_HOST_POINTER => {
            return Err(Failure::value(format_args!(
                "{address:p} is not a host address"
            )));
        }
        Attribute::HIP_POINTER_ATTRIBUTE_BUFFER_ID => {
            let made = owner.made.as_ref();
            Answer::Number(made.map_or(owner.info.base, |made| made.id))
        }
        Attribute::HIP_POINTER_ATTRIBUTE_IS_MANAGED => Answer::Bool(owner.is_managed()),
        Attribute::HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => Answer::Int(owner.device.ordinal),
        Attribute::HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => {
            Answer::Pointer(ptr::with_exposed_provenance_mut(owner.info.base as usize))
        }
        // 32 bits, as in CLR.
        Attribute::HIP_POINTER_ATTRIBUTE_RANGE_SIZE => Answer::Unsigned(owner.info.bytes as c_uint),
        Attribute::HIP_POINTER_ATTRIBUTE_MAPPED => Answer::Bool(true),
        Attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
            Answer::Bool(owner.made.as_ref().is_some_and(|made| made.waits))
        }
        // Read and write.
        Attribute::HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => Answer::Unsigned(3),
        // As in CLR, except for the pool.
        Attribute::HIP_POINTER_ATTRIBUTE_CONTEXT
        | Attribute::HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
        | Attribute::HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | Attribute::HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
        | Attribute::HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
        | Attribute::HIP_POINTER_ATTRIBUTE_P2P_TOKENS => {
            return Err(Failure::new(
                hipError_t::hipErrorNotSupported,
                format_args!("the emulator does not support attribute {}", attribute.0),
            ));
        }
        Attribute(other) => {
            return Err(Failure::value(format_args!(
                "{other} is not an attribute of an address; expected 1 to 17"
            )));
        }
    })
}

/// The value for an address in no allocation: 0, in the attribute's type.
fn nothing(attribute: Attribute) -> Answer {
    match attribute {
        Attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
        | Attribute::HIP_POINTER_ATTRIBUTE_RANGE_SIZE
        | Attribute::HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => Answer::Unsigned(0),
        Attribute::HIP_POINTER_ATTRIBUTE_BUFFER_ID
        | Attribute::HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => Answer::Number(0),
        Attribute::HIP_POINTER_ATTRIBUTE_CONTEXT
        | Attribute::HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
        | Attribute::HIP_POINTER_ATTRIBUTE_HOST_POINTER
        | Attribute::HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR
        | Attribute::HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => Answer::Pointer(ptr::null_mut()),
        Attribute::HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => Answer::Int(-2), // hipInvalidDeviceId
        _ => Answer::Bool(false),
    }
}

/// The memory type of an array, whose handle may be asked about like an address.
fn of_array(attribute: Attribute, address: hipDeviceptr_t) -> Option<Answer> {
    let is_type = attribute == Attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE;
    let is_array = is_type && ARRAYS.get(address.addr()).is_some();
    is_array.then_some(Answer::Unsigned(hipMemoryType::hipMemoryTypeArray.0))
}

pub(super) unsafe fn hipPointerGetAttribute(
    data: *mut c_void,
    attribute: Attribute,
    address: hipDeviceptr_t,
) -> Result<(), Failure> {
    if data.is_null() {
        return Err(Failure::value("data is null"));
    }
    let answer = match of_array(attribute, address) {
        Some(answer) => answer,
        None => answer(&owned(address)?, attribute, address)?,
    };
    // SAFETY: the caller upholds HIP's contract.
    unsafe { answer.write(data) }
}

pub(super) unsafe fn hipPointerSetAttribute(
    value: *const c_void,
    attribute: Attribute,
    address: hipDeviceptr_t,
) -> Result<(), Failure> {
    if address.is_null() {
        return Err(Failure::value("address is null"));
    }
    let value = value.cast::<c_uint>();
    let value = read!(value);
    if attribute != Attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS || value > 1 {
        return Err(Failure::value(format_args!(
            "attribute {} as {value}; only {} can be set, to 0 or 1",
            attribute.0,
            Attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS.0
        )));
    }
    let owner = owner(address.addr() as u64)?;
    let found = owner.is_some_and(|owner| {
        owner
            .device
            .allocations
            .set_waits(owner.info.base, value == 1)
    });
    match found {
        true => Ok(()),
        false => Err(Failure::new(
            hipError_t::hipErrorInvalidDevicePointer,
            format_args!("{address:p} is not in memory that HIP knows"),
        )),
    }
}

pub(super) unsafe fn hipDrvPointerGetAttributes(
    count: c_uint,
    attributes: *mut Attribute,
    data: *mut *mut c_void,
    address: hipDeviceptr_t,
) -> Result<(), Failure> {
    if address.is_null() || count == 0 {
        return Err(Failure::value(format_args!(
            "{count} attributes of {address:p}"
        )));
    }
    // SAFETY: HIP's contract: the lists have `count` elements.
    let (attributes, places) = unsafe {
        (
            list(attributes, count as usize, "attributes")?,
            list(data, count as usize, "data")?,
        )
    };
    let owner = owner(address.addr() as u64)?;
    for (attribute, place) in attributes.into_iter().zip(places) {
        let found = owner
            .as_ref()
            .map(|owner| answer(owner, attribute, address));
        // As in CLR, what has no answer is 0, and no error.
        let answer = of_array(attribute, address).or(found.and_then(Result::ok));
        // SAFETY: the caller upholds HIP's contract.
        unsafe { answer.unwrap_or_else(|| nothing(attribute)).write(place) }?;
    }
    Ok(())
}

pub(super) unsafe fn hipMemGetAddressRange(
    base: *mut hipDeviceptr_t,
    bytes: *mut usize,
    address: hipDeviceptr_t,
) -> Result<(), Failure> {
    let owner = owner(address.addr() as u64)?.ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorNotFound,
            format_args!("{address:p} is not in an allocation"),
        )
    })?;
    if !base.is_null() {
        out!(base).set(ptr::with_exposed_provenance_mut(owner.info.base as usize));
    }
    if !bytes.is_null() {
        out!(bytes).set(owner.info.bytes);
    }
    Ok(())
}

pub(super) unsafe fn hipMemPtrGetInfo(
    address: *mut c_void,
    bytes: *mut usize,
) -> Result<(), Failure> {
    let bytes = out!(bytes);
    // Also within an allocation, the size is the whole allocation's.
    bytes.set(match address.is_null() {
        true => 0,
        false => owned(address)?.info.bytes,
    });
    Ok(())
}

pub(super) unsafe fn hipHostGetDevicePointer(
    device_pointer: *mut *mut c_void,
    address: *mut c_void,
    flags: c_uint,
) -> Result<(), Failure> {
    let device_pointer = out!(device_pointer);
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    if !owned(address)?.on_host() {
        return Err(Failure::value(format_args!(
            "{address:p} is in device memory"
        )));
    }
    // Devices access it at the host's address.
    device_pointer.set(address);
    Ok(())
}

pub(super) unsafe fn hipHostGetFlags(
    flags: *mut c_uint,
    address: *mut c_void,
) -> Result<(), Failure> {
    let flags = out!(flags);
    let owner = owned(address)?;
    if !owner.on_host() || owner.is_managed() {
        return Err(Failure::value(format_args!(
            "{address:p} is not from hipHostMalloc or hipHostRegister"
        )));
    }
    flags.set(owner.flags());
    Ok(())
}
