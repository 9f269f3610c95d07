//! Copies to and from arrays. Those that structs describe are in `copy`.

#![expect(clippy::too_many_arguments, reason = "HIP's signatures")]

use std::ffi::c_void;

use ferrowave_hip_abi::{
    hipArray_const_t, hipArray_t, hipDeviceptr_t, hipError_t, hipMemcpyKind as Kind, hipStream_t,
};

use super::{
    copy::{later, now},
    error::Failure,
    objects::{
        array::array,
        stream::{default_stream, stream},
        transfer::{Extent, Side, Transfer},
    },
};

/// Rows of memory beside an array's.
fn side(pointer: *const c_void, pitch: usize, width: usize) -> Result<Side, Failure> {
    if pointer.is_null() {
        return Err(Failure::value("the copy's memory is null"));
    }
    if pitch < width {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidPitchValue,
            format_args!("the memory's pitch is {pitch} bytes, but its rows have {width}"),
        ));
    }
    Ok(Side {
        address: pointer.expose_provenance() as u64,
        pitch,
        layer: 0,
    })
}

const fn rows(width: usize, height: usize) -> Extent {
    Extent {
        width,
        height,
        depth: 1,
    }
}

/// A copy of rows to an array, from a byte and a row of it on.
fn to_array(
    to: hipArray_t,
    (x, y): (usize, usize),
    from: *const c_void,
    pitch: usize,
    extent: Extent,
    kind: Kind,
) -> Result<Transfer, Failure> {
    let from = side(from, pitch, extent.width)?;
    let to = array(to)?.side([x, y, 0], extent, "copy's target")?;
    Transfer::new(to, from, extent, kind)
}

/// A copy of rows from an array.
fn from_array(
    to: *mut c_void,
    pitch: usize,
    from: hipArray_const_t,
    (x, y): (usize, usize),
    extent: Extent,
    kind: Kind,
) -> Result<Transfer, Failure> {
    let from = array(from)?.side([x, y, 0], extent, "copy's source")?;
    let to = side(to, pitch, extent.width)?;
    Transfer::new(to, from, extent, kind)
}

/// A copy of rows between arrays.
fn between(
    to: hipArray_t,
    (to_x, to_y): (usize, usize),
    from: hipArray_const_t,
    (from_x, from_y): (usize, usize),
    extent: Extent,
    kind: Kind,
) -> Result<Transfer, Failure> {
    let from = array(from)?.side([from_x, from_y, 0], extent, "copy's source")?;
    let to = array(to)?.side([to_x, to_y, 0], extent, "copy's target")?;
    Transfer::new(to, from, extent, kind)
}

/// The rows of an array that `count` bytes fill.
fn rows_of(array: hipArray_const_t, count: usize) -> Result<Extent, Failure> {
    let all = self::array(array)?.extent();
    Ok(rows(count / all.height, count / all.width))
}

/// The driver's functions have the code of a wrong value for what is no array, unlike the others (`ihipMemcpyHtoAValidate`
/// and its like in CLR's `hip_memory.cpp`).
fn drivers(transfer: Result<Transfer, Failure>) -> Result<Transfer, Failure> {
    transfer.map_err(|failure| match failure.code {
        hipError_t::hipErrorInvalidHandle => failure.coded(hipError_t::hipErrorInvalidValue),
        _ => failure,
    })
}

/// Copies that wait.
macro_rules! waiting {
    ($($name:ident($($argument:ident: $type:ty),*) = $transfer:expr;)*) => {$(
        pub(super) unsafe fn $name($($argument: $type),*) -> Result<(), Failure> {
            now(&default_stream()?, &$transfer?)
        }
    )*};
}

/// Copies in a stream.
macro_rules! in_stream {
    ($($name:ident($($argument:ident: $type:ty),*) = $transfer:expr;)*) => {$(
        pub(super) unsafe fn $name($($argument: $type,)* stream: hipStream_t) -> Result<(), Failure> {
            let stream = self::stream(stream)?;
            // SAFETY: the caller upholds HIP's contract.
            unsafe { later(&stream, $transfer?) }
        }
    )*};
}

waiting! {
    hipMemcpy2DToArray(to: hipArray_t, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: Kind)
        = to_array(to, (x, y), from, pitch, rows(width, height), kind);
    hipMemcpy2DFromArray(to: *mut c_void, pitch: usize, from: hipArray_const_t, x: usize, y: usize, width: usize, height: usize, kind: Kind)
        = from_array(to, pitch, from, (x, y), rows(width, height), kind);
    hipMemcpy2DArrayToArray(to: hipArray_t, to_x: usize, to_y: usize, from: hipArray_const_t, x: usize, y: usize, width: usize, height: usize, kind: Kind)
        = between(to, (to_x, to_y), from, (x, y), rows(width, height), kind);
    hipMemcpyToArray(to: hipArray_t, x: usize, y: usize, from: *const c_void, count: usize, kind: Kind)
        = rows_of(to, count).and_then(|extent| to_array(to, (x, y), from, extent.width, extent, kind));
    hipMemcpyFromArray(to: *mut c_void, from: hipArray_const_t, x: usize, y: usize, count: usize, kind: Kind)
        = rows_of(from, count).and_then(|extent| from_array(to, extent.width, from, (x, y), extent, kind));
    hipMemcpyAtoA(to: hipArray_t, to_x: usize, from: hipArray_t, x: usize, count: usize)
        = drivers(between(to, (to_x, 0), from, (x, 0), rows(count, 1), Kind::hipMemcpyDeviceToDevice));
    hipMemcpyAtoD(to: hipDeviceptr_t, from: hipArray_t, x: usize, count: usize)
        = drivers(from_array(to, count, from, (x, 0), rows(count, 1), Kind::hipMemcpyDeviceToDevice));
    hipMemcpyAtoH(to: *mut c_void, from: hipArray_t, x: usize, count: usize)
        = drivers(from_array(to, count, from, (x, 0), rows(count, 1), Kind::hipMemcpyDeviceToHost));
    hipMemcpyDtoA(to: hipArray_t, x: usize, from: hipDeviceptr_t, count: usize)
        = drivers(to_array(to, (x, 0), from, count, rows(count, 1), Kind::hipMemcpyDeviceToDevice));
    hipMemcpyHtoA(to: hipArray_t, x: usize, from: *const c_void, count: usize)
        = drivers(to_array(to, (x, 0), from, count, rows(count, 1), Kind::hipMemcpyHostToDevice));
}

in_stream! {
    hipMemcpy2DToArrayAsync(to: hipArray_t, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: Kind)
        = to_array(to, (x, y), from, pitch, rows(width, height), kind);
    hipMemcpy2DFromArrayAsync(to: *mut c_void, pitch: usize, from: hipArray_const_t, x: usize, y: usize, width: usize, height: usize, kind: Kind)
        = from_array(to, pitch, from, (x, y), rows(width, height), kind);
    hipMemcpyAtoHAsync(to: *mut c_void, from: hipArray_t, x: usize, count: usize)
        = drivers(from_array(to, count, from, (x, 0), rows(count, 1), Kind::hipMemcpyDeviceToHost));
    hipMemcpyHtoAAsync(to: hipArray_t, x: usize, from: *const c_void, count: usize)
        = drivers(to_array(to, (x, 0), from, count, rows(count, 1), Kind::hipMemcpyHostToDevice));
}
