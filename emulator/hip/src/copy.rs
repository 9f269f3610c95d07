//! Copies.

use std::{
    ffi::{c_int, c_void},
    sync::Arc,
};

use ferrowave_hip_abi::{
    self as abi, HIP_MEMCPY3D, hip_Memcpy2D, hipArray_t, hipDeviceptr_t, hipError_t,
    hipMemcpy3DParms, hipMemcpy3DPeerParms, hipMemcpyKind, hipMemoryType, hipStream_t,
};

use super::{
    error::{Failure, read},
    graph::capture,
    objects::{
        array::{Array, array},
        operation::Operation,
        stream::{StreamRef, default_stream, stream},
        transfer::{Extent, Side, Transfer},
    },
    registry,
    runtime::Runtime,
};

/// The address of a caller's pointer, for use by a worker thread.
fn address(pointer: *const c_void) -> u64 {
    pointer.expose_provenance() as u64
}

/// Waits for the stream's work, then copies. If that work failed, nothing is copied. Copies within a device do not wait.
pub(super) fn now(stream: &StreamRef, transfer: &Transfer) -> Result<(), Failure> {
    capture::refuse_synchronous()?;
    if transfer.is_within_device()? {
        return stream.submit_now(Operation::Transfer(transfer.clone()));
    }
    stream.finish()?;
    transfer.run()
}

/// Copies in a stream.
///
/// # Safety
/// An address outside device memory is valid memory of the caller until the copy is done.
pub(super) unsafe fn later(stream: &StreamRef, mut transfer: Transfer) -> Result<(), Failure> {
    // The program may change host memory as soon as the call returns. So HIP reads a short source before, and waits for
    // other copies of host memory. A graph stores addresses, not contents. SAFETY: guaranteed by the caller.
    if !capture::is_captured(stream) && unsafe { transfer.stage() } {
        return stream.submit_and_wait(Operation::Transfer(transfer));
    }
    stream.submit(Operation::Transfer(transfer))
}

/// A linear copy.
pub(super) fn bytes(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<Transfer, Failure> {
    let (to, from) = (Side::linear(address(to)), Side::linear(address(from)));
    Transfer::new(to, from, Extent::bytes(bytes), kind)
}

pub(super) unsafe fn hipMemcpy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    now(&default_stream()?, &self::bytes(to, from, bytes, kind)?)
}

pub(super) unsafe fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { later(&stream, self::bytes(to, from, bytes, kind)?) }
}

pub(super) unsafe fn hipMemcpyWithStream(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let transfer = self::bytes(to, from, bytes, kind)?;
    if capture::is_captured(&stream) {
        // SAFETY: the caller upholds HIP's contract.
        return unsafe { later(&stream, transfer) };
    }
    stream.finish()?;
    transfer.run()
}

/// Copies whose name states the kind, each with its asynchronous form.
macro_rules! copies {
    ($($name:ident, $in_stream:ident: $kind:ident, $to:ty, $from:ty;)*) => {$(
        pub(super) unsafe fn $name(to: $to, from: $from, bytes: usize) -> Result<(), Failure> {
            // SAFETY: the caller upholds the same contract.
            unsafe { hipMemcpy(to, from, bytes, hipMemcpyKind::$kind) }
        }

        pub(super) unsafe fn $in_stream(
            to: $to,
            from: $from,
            bytes: usize,
            stream: hipStream_t,
        ) -> Result<(), Failure> {
            // SAFETY: the caller upholds the same contract.
            unsafe { hipMemcpyAsync(to, from, bytes, hipMemcpyKind::$kind, stream) }
        }
    )*};
}

copies! {
    hipMemcpyHtoD, hipMemcpyHtoDAsync: hipMemcpyHostToDevice, hipDeviceptr_t, *const c_void;
    hipMemcpyDtoH, hipMemcpyDtoHAsync: hipMemcpyDeviceToHost, *mut c_void, hipDeviceptr_t;
    hipMemcpyDtoD, hipMemcpyDtoDAsync: hipMemcpyDeviceToDevice, hipDeviceptr_t, hipDeviceptr_t;
}

/// A copy of rows.
fn rows(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    (width, height): (usize, usize),
    kind: hipMemcpyKind,
) -> Result<Transfer, Failure> {
    let side = |address, pitch| Side {
        address,
        pitch,
        layer: 0,
    };
    let extent = Extent {
        width,
        height,
        depth: 1,
    };
    let (to, from) = (side(address(to), to_pitch), side(address(from), from_pitch));
    Transfer::new(to, from, extent, kind)
}

pub(super) unsafe fn hipMemcpy2D(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let transfer = rows(to, to_pitch, from, from_pitch, (width, height), kind)?;
    now(&default_stream()?, &transfer)
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let transfer = rows(to, to_pitch, from, from_pitch, (width, height), kind)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { later(&stream, transfer) }
}

/// One side of a copy, as a struct describes it.
struct Named {
    memory: hipMemoryType,
    host: *const c_void,
    device: *const c_void,
    array: hipArray_t,
    pitch: usize,
    /// Rows per layer.
    height: usize,
    /// Start of the copy: bytes, rows, layers.
    at: [usize; 3],
}

impl Named {
    /// The side, and whether it must be in device memory.
    fn side(&self, extent: Extent, what: &str) -> Result<(Side, bool), Failure> {
        let (pointer, device) = match self.memory {
            hipMemoryType::hipMemoryTypeHost | hipMemoryType::hipMemoryTypeUnregistered => {
                (self.host, false)
            }
            hipMemoryType::hipMemoryTypeDevice => (self.device, true),
            hipMemoryType::hipMemoryTypeUnified | hipMemoryType::hipMemoryTypeManaged => {
                (self.device, false)
            }
            hipMemoryType::hipMemoryTypeArray => {
                // The driver's functions have this code for what is no array.
                let array = array(self.array)
                    .map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))?;
                return Ok((array.side(self.at, extent, what)?, true));
            }
            hipMemoryType(other) => {
                return Err(Failure::value(format_args!(
                    "the {what}'s memory type is {other}; there are 0 to 3, 10 and 11"
                )));
            }
        };
        if pointer.is_null() {
            return Err(Failure::value(format_args!("the {what} is null")));
        }
        let [x, y, z] = self.at;
        // In HIP, pitch 0 means that rows are contiguous.
        let pitch = if self.pitch == 0 {
            extent.width.saturating_add(x)
        } else {
            self.pitch
        };
        let layer = pitch.checked_mul(self.height);
        let start = layer.and_then(|layer| {
            let offset = z
                .checked_mul(layer)?
                .checked_add(y.checked_mul(pitch)?)?
                .checked_add(x)?;
            pointer.expose_provenance().checked_add(offset)
        });
        let (Some(layer), Some(start)) = (layer, start) else {
            return Err(Failure::value(format_args!(
                "the copy starts outside of all memory: {x} bytes, {y} rows and {z} layers into the {what}"
            )));
        };
        let side = Side {
            address: start as u64,
            pitch,
            layer,
        };
        Ok((side, device))
    }
}

/// The copy between two described sides.
fn between(to: &Named, from: &Named, extent: Extent) -> Result<Transfer, Failure> {
    let (to, to_device) = to.side(extent, "copy's target")?;
    let (from, from_device) = from.side(extent, "copy's source")?;
    let kind = match (from_device, to_device) {
        (false, false) => hipMemcpyKind::hipMemcpyDefault,
        (false, true) => hipMemcpyKind::hipMemcpyHostToDevice,
        (true, false) => hipMemcpyKind::hipMemcpyDeviceToHost,
        (true, true) => hipMemcpyKind::hipMemcpyDeviceToDevice,
    };
    Transfer::new(to, from, extent, kind)
}

/// The copy that a struct describes.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
unsafe fn from_2d(parameters: *const hip_Memcpy2D) -> Result<Transfer, Failure> {
    let p = read!(parameters);
    let to = Named {
        memory: p.dstMemoryType,
        host: p.dstHost,
        device: p.dstDevice,
        array: p.dstArray,
        pitch: p.dstPitch,
        height: 0,
        at: [p.dstXInBytes, p.dstY, 0],
    };
    let from = Named {
        memory: p.srcMemoryType,
        host: p.srcHost,
        device: p.srcDevice,
        array: p.srcArray,
        pitch: p.srcPitch,
        height: 0,
        at: [p.srcXInBytes, p.srcY, 0],
    };
    let extent = Extent {
        width: p.WidthInBytes,
        height: p.Height,
        depth: 1,
    };
    // The driver's functions have no code for pitches (`ihipMemcpyParam3D` in CLR's `hip_memory.cpp`).
    between(&to, &from, extent).map_err(Failure::without_pitch)
}

/// The copy that a struct describes.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
pub(super) unsafe fn from_driver_3d(parameters: *const HIP_MEMCPY3D) -> Result<Transfer, Failure> {
    let p = read!(parameters);
    let to = Named {
        memory: p.dstMemoryType,
        host: p.dstHost,
        device: p.dstDevice,
        array: p.dstArray,
        pitch: p.dstPitch,
        height: if p.dstHeight == 0 {
            p.Height
        } else {
            p.dstHeight
        },
        at: [p.dstXInBytes, p.dstY, p.dstZ],
    };
    let from = Named {
        memory: p.srcMemoryType,
        host: p.srcHost,
        device: p.srcDevice,
        array: p.srcArray,
        pitch: p.srcPitch,
        height: if p.srcHeight == 0 {
            p.Height
        } else {
            p.srcHeight
        },
        at: [p.srcXInBytes, p.srcY, p.srcZ],
    };
    let extent = Extent {
        width: p.WidthInBytes,
        height: p.Height,
        depth: p.Depth,
    };
    between(&to, &from, extent)
}

/// The copy that a struct describes.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
pub(super) unsafe fn from_3d(parameters: *const hipMemcpy3DParms) -> Result<Transfer, Failure> {
    described_3d(&read!(parameters))
}

/// The copy that a struct describes.
pub(super) fn described_3d(p: &hipMemcpy3DParms) -> Result<Transfer, Failure> {
    let of = |handle: hipArray_t| match handle.is_null() {
        true => Ok(None),
        false => array(handle).map(Some),
    };
    let arrays = [of(p.dstArray)?, of(p.srcArray)?];
    let sizes = arrays
        .each_ref()
        .map(|array| array.as_ref().map(|array| array.element_bytes()));
    if let [Some(to), Some(from)] = sizes
        && to != from
    {
        return Err(Failure::value(format_args!(
            "elements of {from} bytes are copied to an array of elements of {to} bytes"
        )));
    }
    // If an array takes part, the width is in its elements. If its layers are rows, the copy's layers are, too.
    let mut extent = Extent {
        width: p
            .extent
            .width
            .saturating_mul(sizes[0].or(sizes[1]).unwrap_or(1)),
        height: p.extent.height,
        depth: p.extent.depth,
    };
    if arrays
        .iter()
        .flatten()
        .any(|array| array.has_layers_of_one_row())
    {
        (extent.height, extent.depth) = (extent.depth, extent.height);
    }
    let side = |array: &Option<Arc<Array>>, pointer: abi::hipPitchedPtr, at: abi::hipPos, what| {
        let mut at = [at.x, at.y, at.z];
        if let Some(array) = array {
            if !pointer.ptr.is_null() {
                return Err(Failure::value(format_args!(
                    "the {what} is an array and memory at {:p}, but must be one of them",
                    pointer.ptr
                )));
            }
            at[0] = at[0].saturating_mul(array.element_bytes());
            if array.has_layers_of_one_row() {
                at.swap(1, 2);
            }
            return array.side(at, extent, what);
        }
        let named = Named {
            memory: hipMemoryType::hipMemoryTypeUnified,
            host: std::ptr::null(),
            device: pointer.ptr,
            array: std::ptr::null_mut(),
            pitch: pointer.pitch,
            height: if pointer.ysize == 0 {
                extent.height
            } else {
                pointer.ysize
            },
            at,
        };
        named.side(extent, what).map(|(side, _)| side)
    };
    let to = side(&arrays[0], p.dstPtr, p.dstPos, "copy's target")?;
    let from = side(&arrays[1], p.srcPtr, p.srcPos, "copy's source")?;
    Transfer::new(to, from, extent, p.kind)
}

/// The struct that describes a copy.
pub(super) fn to_3d(transfer: &Transfer) -> hipMemcpy3DParms {
    let (to, from, extent) = transfer.parts();
    let pointer = |side: Side| abi::hipPitchedPtr {
        ptr: std::ptr::with_exposed_provenance_mut(side.address as usize),
        pitch: side.pitch,
        xsize: extent.width,
        ysize: side.layer.checked_div(side.pitch).unwrap_or(0),
    };
    hipMemcpy3DParms {
        srcPtr: pointer(from),
        dstPtr: pointer(to),
        extent: abi::hipExtent {
            width: extent.width,
            height: extent.height,
            depth: extent.depth,
        },
        kind: transfer.kind,
        ..hipMemcpy3DParms::ZERO
    }
}

/// The driver's struct that describes a copy.
pub(super) fn to_driver_3d(transfer: &Transfer) -> HIP_MEMCPY3D {
    let (to, from, extent) = transfer.parts();
    let (from_device, to_device) = match transfer.kind {
        hipMemcpyKind::hipMemcpyHostToDevice => (false, true),
        hipMemcpyKind::hipMemcpyDeviceToHost => (true, false),
        hipMemcpyKind::hipMemcpyDeviceToDevice => (true, true),
        _ => (false, false),
    };
    let memory = |is_device| match is_device {
        true => hipMemoryType::hipMemoryTypeDevice,
        false => hipMemoryType::hipMemoryTypeHost,
    };
    let pointer = |side: Side| std::ptr::with_exposed_provenance_mut(side.address as usize);
    let rows = |side: Side| side.layer.checked_div(side.pitch).unwrap_or(0);
    HIP_MEMCPY3D {
        srcMemoryType: memory(from_device),
        srcHost: pointer(from),
        srcDevice: pointer(from),
        srcPitch: from.pitch,
        srcHeight: rows(from),
        dstMemoryType: memory(to_device),
        dstHost: pointer(to),
        dstDevice: pointer(to),
        dstPitch: to.pitch,
        dstHeight: rows(to),
        WidthInBytes: extent.width,
        Height: extent.height,
        Depth: extent.depth,
        ..HIP_MEMCPY3D::ZERO
    }
}

/// As [`from_driver_3d`], which nodes of graphs use, with the codes of [`from_2d`].
///
/// # Safety
/// The pointer is null, or points to a valid struct.
unsafe fn driver_3d(parameters: *const HIP_MEMCPY3D) -> Result<Transfer, Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { from_driver_3d(parameters) }.map_err(Failure::without_pitch)
}

/// Copies described by a struct, each with its asynchronous form.
macro_rules! described {
    ($($name:ident, $in_stream:ident: $type:ty, $from:ident;)*) => {$(
        pub(super) unsafe fn $name(parameters: *const $type) -> Result<(), Failure> {
            // SAFETY: the caller upholds HIP's contract.
            now(&default_stream()?, &unsafe { $from(parameters) }?)
        }

        pub(super) unsafe fn $in_stream(parameters: *const $type, stream: hipStream_t) -> Result<(), Failure> {
            let stream = self::stream(stream)?;
            // SAFETY: the caller upholds HIP's contract.
            unsafe { later(&stream, $from(parameters)?) }
        }
    )*};
}

described! {
    hipMemcpyParam2D, hipMemcpyParam2DAsync: hip_Memcpy2D, from_2d;
    hipMemcpy3D, hipMemcpy3DAsync: hipMemcpy3DParms, from_3d;
    hipDrvMemcpy3D, hipDrvMemcpy3DAsync: HIP_MEMCPY3D, driver_3d;
}

pub(super) unsafe fn hipDrvMemcpy2DUnaligned(
    parameters: *const hip_Memcpy2D,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipMemcpyParam2D(parameters) }
}

/// A copy between two devices. The devices must exist; the memory is determined from the addresses.
fn peers(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
) -> Result<Transfer, Failure> {
    Runtime::get().device(to_device)?;
    Runtime::get().device(from_device)?;
    self::bytes(to, from, bytes, hipMemcpyKind::hipMemcpyDeviceToDevice)
}

pub(super) unsafe fn hipMemcpyPeer(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
) -> Result<(), Failure> {
    let transfer = peers(to, to_device, from, from_device, bytes)?;
    let runtime = Runtime::get();
    let default = |device| runtime.device(device).map(StreamRef::default_of);
    let ends = [default(to_device)?, default(from_device)?];
    if transfer.is_pageable() {
        for end in ends {
            end.synchronize()?;
        }
        return transfer.run();
    }
    // CLR does not wait (`hipMemcpyPeer` in `hip_peer.cpp`): the copy is work of the current device's default stream, for which
    // the target's waits.
    for end in &ends {
        capture::refuse_waiting(end)?;
    }
    let stream = StreamRef::default_of(runtime.current()?);
    for end in &ends {
        stream.wait_for(end.mark().0);
    }
    let (done, _) = stream.enqueue(Operation::Transfer(transfer))?;
    for end in &ends {
        end.wait_for(Arc::clone(&done));
    }
    Ok(())
}

pub(super) unsafe fn hipMemcpyPeerAsync(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    bytes: usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let transfer = peers(to, to_device, from, from_device, bytes)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { later(&stream, transfer) }
}

/// The copy between devices that a struct describes.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
unsafe fn from_peers(parameters: *const hipMemcpy3DPeerParms) -> Result<Transfer, Failure> {
    let p = read!(parameters);
    Runtime::get().device(p.dstDevice)?;
    Runtime::get().device(p.srcDevice)?;
    described_3d(&hipMemcpy3DParms {
        srcArray: p.srcArray,
        srcPos: p.srcPos,
        srcPtr: p.srcPtr,
        dstArray: p.dstArray,
        dstPos: p.dstPos,
        dstPtr: p.dstPtr,
        extent: p.extent,
        kind: hipMemcpyKind::hipMemcpyDeviceToDevice,
    })
}

pub(super) unsafe fn hipMemcpy3DPeer(parameters: *mut hipMemcpy3DPeerParms) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let transfer = unsafe { from_peers(parameters) }?;
    let p = read!(parameters);
    for device in [p.dstDevice, p.srcDevice] {
        StreamRef::default_of(Runtime::get().device(device)?).synchronize()?;
    }
    transfer.run()
}

pub(super) unsafe fn hipMemcpy3DPeerAsync(
    parameters: *mut hipMemcpy3DPeerParms,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { later(&stream, from_peers(parameters)?) }
}

/// A copy of `bytes` to a program's device variable, starting at `offset`.
pub(super) fn to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<Transfer, Failure> {
    direction(kind, hipMemcpyKind::hipMemcpyDeviceToHost)?;
    self::bytes(inside(symbol, bytes, offset)?, from, bytes, kind)
}

/// A copy of `bytes` from a program's device variable, starting at `offset`.
pub(super) fn from_symbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<Transfer, Failure> {
    direction(kind, hipMemcpyKind::hipMemcpyHostToDevice)?;
    self::bytes(to, inside(symbol, bytes, offset)?, bytes, kind)
}

/// Checks the kind of a copy to or from a variable, which must not go `against` it, nor between host memory.
fn direction(kind: hipMemcpyKind, against: hipMemcpyKind) -> Result<(), Failure> {
    if kind == against || kind == hipMemcpyKind::hipMemcpyHostToHost {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidMemcpyDirection,
            format_args!("{} is not the kind of a copy in this direction", kind.0),
        ));
    }
    Ok(())
}

/// The address of a part of a program's device variable.
fn inside(symbol: *const c_void, bytes: usize, offset: usize) -> Result<*mut c_void, Failure> {
    let (start, length) = registry::variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end as u64 <= length => Ok(std::ptr::with_exposed_provenance_mut(
            start as usize + offset,
        )),
        _ => Err(Failure::value(format_args!(
            "{bytes} bytes from byte {offset} on are not inside the variable, which has {length}"
        ))),
    }
}

pub(super) unsafe fn hipMemcpyToSymbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    now(
        &default_stream()?,
        &to_symbol(symbol, from, bytes, offset, kind)?,
    )
}

pub(super) unsafe fn hipMemcpyToSymbolAsync(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { later(&stream, to_symbol(symbol, from, bytes, offset, kind)?) }
}

pub(super) unsafe fn hipMemcpyFromSymbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    now(
        &default_stream()?,
        &from_symbol(to, symbol, bytes, offset, kind)?,
    )
}

pub(super) unsafe fn hipMemcpyFromSymbolAsync(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { later(&stream, from_symbol(to, symbol, bytes, offset, kind)?) }
}
