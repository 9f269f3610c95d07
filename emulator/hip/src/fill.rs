//! Memsets.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use ferrowave_hip_abi::{hipDeviceptr_t, hipExtent, hipPitchedPtr, hipStream_t};

use super::{
    error::Failure,
    graph::capture,
    objects::{
        operation::Operation,
        owner::{AddressOwner, owner_of},
        stream::{default_stream, stream},
        transfer::{Extent, Fill, Side},
    },
};

/// A memset of rows of elements.
pub(super) fn rows(
    to: *mut c_void,
    pitch: usize,
    (width, height): (usize, usize),
    value: u32,
    element_bytes: usize,
) -> Result<Fill, Failure> {
    let to = Side {
        address: to.expose_provenance() as u64,
        pitch,
        layer: 0,
    };
    let extent = Extent {
        width,
        height,
        depth: 1,
    };
    Fill::new(to, extent, value, element_bytes)
}

/// Whether a memset does not wait: that of device memory from an allocation's start (`ihipMemset` in CLR's
/// `hip_memory.cpp`), unless the program asked otherwise.
fn returns_at_once(fill: &Fill) -> Result<bool, Failure> {
    let (Side { address, .. }, ..) = fill.parts();
    let AddressOwner::Device(device, _) = owner_of(address)? else {
        return Ok(false);
    };
    let made = device.allocations.get(address);
    Ok(made.is_some_and(|made| made.is_device_memory() && !made.waits))
}

/// Submits a memset to the default stream.
fn submit(fill: Fill) -> Result<(), Failure> {
    let (stream, at_once) = (default_stream()?, returns_at_once(&fill)?);
    match at_once {
        true => stream.submit_now(Operation::Fill(fill)),
        false => stream.submit_and_wait(Operation::Fill(fill)),
    }
}

/// Memsets, each with its asynchronous form.
macro_rules! fills {
    ($($name:ident, $in_stream:ident($($argument:ident: $type:ty),*) = $fill:expr;)*) => {$(
        pub(super) unsafe fn $name($($argument: $type),*) -> Result<(), Failure> {
            capture::refuse_synchronous()?;
            submit($fill?)
        }

        pub(super) unsafe fn $in_stream($($argument: $type,)* stream: hipStream_t) -> Result<(), Failure> {
            self::stream(stream)?.submit(Operation::Fill($fill?))
        }
    )*};
}

fills! {
    hipMemset, hipMemsetAsync(to: *mut c_void, value: c_int, bytes: usize)
        = rows(to, 0, (bytes, 1), value as u32, 1);
    hipMemsetD8, hipMemsetD8Async(to: hipDeviceptr_t, value: c_uchar, count: usize)
        = rows(to, 0, (count, 1), value.into(), 1);
    hipMemsetD16, hipMemsetD16Async(to: hipDeviceptr_t, value: c_ushort, count: usize)
        = rows(to, 0, (count, 1), value.into(), 2);
    hipMemsetD32, hipMemsetD32Async(to: hipDeviceptr_t, value: c_int, count: usize)
        = rows(to, 0, (count, 1), value as u32, 4);
    hipMemset2D, hipMemset2DAsync(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize)
        = rows(to, pitch, (width, height), value as u32, 1);
    hipMemsetD2D8, hipMemsetD2D8Async(to: hipDeviceptr_t, pitch: usize, value: c_uchar, width: usize, height: usize)
        = rows(to, pitch, (width, height), value.into(), 1);
    hipMemsetD2D16, hipMemsetD2D16Async(to: hipDeviceptr_t, pitch: usize, value: c_ushort, width: usize, height: usize)
        = rows(to, pitch, (width, height), value.into(), 2);
    hipMemsetD2D32, hipMemsetD2D32Async(to: hipDeviceptr_t, pitch: usize, value: c_uint, width: usize, height: usize)
        = rows(to, pitch, (width, height), value, 4);
    hipMemset3D, hipMemset3DAsync(to: hipPitchedPtr, value: c_int, extent: hipExtent)
        = layers(to, value, extent);
}

fn layers(to: hipPitchedPtr, value: c_int, extent: hipExtent) -> Result<Fill, Failure> {
    let layer = to.pitch.checked_mul(to.ysize).ok_or_else(|| {
        Failure::value(format_args!(
            "a layer of {} rows, {} bytes apart",
            to.ysize, to.pitch
        ))
    })?;
    let side = Side {
        address: to.ptr.expose_provenance() as u64,
        pitch: to.pitch,
        layer,
    };
    let extent = Extent {
        width: extent.width,
        height: extent.height,
        depth: extent.depth,
    };
    Fill::new(side, extent, value as u32, 1)
}
