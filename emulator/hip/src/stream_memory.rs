//! Waits for values in memory, and writes of them, in stream order.

use std::ffi::{c_uint, c_void};

use ferrowave_hip_abi::{self as abi, hipError_t, hipStream_t, hipStreamBatchMemOpParams};

use super::{
    error::Failure,
    list::list,
    objects::{
        operation::Operation,
        owner::{AddressOwner, owner_of},
        stream::stream,
        value::{Condition, Value},
    },
};

/// The value at an address of device or pinned memory.
fn at(address: *mut c_void, value: u64, bytes: usize) -> Result<Value, Failure> {
    let address = address.expose_provenance() as u64;
    let AddressOwner::Device(device, _) = owner_of(address)? else {
        return Err(Failure::value(format_args!(
            "{address:#x} is not in memory that the device can access"
        )));
    };
    let inside = device.memory.find(address).is_some_and(|info| {
        let left = info.base + info.bytes as u64 - address;
        bytes as u64 <= left
    });
    if !inside {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {address:#x} are not inside one allocation"
        )));
    }
    Ok(Value {
        device,
        address,
        value,
        bytes,
        wait: None,
    })
}

/// A wait for a value of 4 or 8 bytes.
fn wait(
    address: *mut c_void,
    (value, mask): (u64, u64),
    bytes: usize,
    flags: c_uint,
) -> Result<Operation, Failure> {
    let condition = match flags {
        abi::hipStreamWaitValueGte => Condition::GreaterOrEqual,
        abi::hipStreamWaitValueEq => Condition::Equal,
        abi::hipStreamWaitValueAnd => Condition::And,
        abi::hipStreamWaitValueNor => Condition::Nor,
        other => {
            return Err(Failure::value(format_args!(
                "flags are {other:#x}, but must be 0 (>=), 1 (==), 2 (and) or 3 (nor)"
            )));
        }
    };
    Ok(Operation::Value(Value {
        wait: Some((condition, mask)),
        ..at(address, value, bytes)?
    }))
}

pub(super) unsafe fn hipStreamWaitValue32(
    stream: hipStream_t,
    address: *mut c_void,
    value: u32,
    flags: c_uint,
    mask: u32,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    stream.submit(wait(address, (value.into(), mask.into()), 4, flags)?)
}

pub(super) unsafe fn hipStreamWaitValue64(
    stream: hipStream_t,
    address: *mut c_void,
    value: u64,
    flags: c_uint,
    mask: u64,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    stream.submit(wait(address, (value, mask), 8, flags)?)
}

pub(super) unsafe fn hipStreamWriteValue32(
    stream: hipStream_t,
    address: *mut c_void,
    value: u32,
    _flags: c_uint,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    stream.submit(Operation::Value(at(address, value.into(), 4)?))
}

pub(super) unsafe fn hipStreamWriteValue64(
    stream: hipStream_t,
    address: *mut c_void,
    value: u64,
    _flags: c_uint,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    stream.submit(Operation::Value(at(address, value, 8)?))
}

/// The largest batch, by HIP's documentation.
const MAX_BATCH: c_uint = 255;

pub(super) unsafe fn hipStreamBatchMemOp(
    stream: hipStream_t,
    count: c_uint,
    list: *mut hipStreamBatchMemOpParams,
    flags: c_uint,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    if list.is_null() || !(1..=MAX_BATCH).contains(&count) || flags != 0 {
        return Err(Failure::value(format_args!(
            "{count} operations at {list:p} with flags {flags:#x}; there must be 1 to {MAX_BATCH}, without flags"
        )));
    }
    // SAFETY: HIP's contract: the list has `count` elements.
    let list = unsafe { self::list(list, count as usize, "paramArray") }?;
    let operations = list.iter().map(|p| {
        let low = u64::from(p.value as u32);
        match p.operation {
            1 => wait(p.address, (low, u32::MAX.into()), 4, p.flags),
            2 => at(p.address, low, 4).map(Operation::Value),
            4 => wait(p.address, (p.value, u64::MAX), 8, p.flags),
            5 => at(p.address, p.value, 8).map(Operation::Value),
            // HIP has barriers and flushes of remote writes, but not for AMD's GPUs.
            3 | 6 => Err(Failure::new(
                hipError_t::hipErrorNotSupported,
                format_args!("operation {} is not supported on AMD's GPUs", p.operation),
            )),
            other => Err(Failure::value(format_args!(
                "{other} is not an operation; expected 1, 2, 4 or 5"
            ))),
        }
    });
    // All are checked before the first is submitted.
    let operations: Vec<_> = operations.collect::<Result<_, _>>()?;
    operations
        .into_iter()
        .try_for_each(|operation| stream.submit(operation))
}
