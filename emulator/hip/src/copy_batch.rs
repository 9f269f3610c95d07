//! Copies in batches: all of them are checked before the first is submitted.

use std::ffi::{c_uint, c_ulonglong, c_void};

use ferrowave_hip_abi::{
    hipError_t, hipExtent, hipMemcpy3DBatchOp, hipMemcpy3DOperand,
    hipMemcpy3DOperandType as OperandType, hipMemcpy3DParms, hipMemcpyAttributes, hipMemcpyKind,
    hipMemcpySrcAccessOrder as Order, hipPitchedPtr, hipPos, hipStream_t,
};

use super::{
    copy::{bytes, described_3d, later},
    error::{Failure, is_absent},
    graph::capture,
    list::list,
    objects::{array::array, operation::Operation, stream::stream, transfer::Transfer},
};

/// HIP's `hipMemcpyFlagPreferOverlapWithCompute`, which has no effect here. Higher ones are for SDMA engines of some GPUs.
const PREFER_OVERLAP: c_uint = 1;

/// Checks how a copy may be done.
fn allowed(order: Order, flags: c_uint) -> Result<(), Failure> {
    if !(1..=3).contains(&order.0) {
        return Err(Failure::value(format_args!(
            "the order of access to the source is {}, but must be 1 (stream), 2 (during the call) or 3 (any)",
            order.0
        )));
    }
    if flags & !PREFER_OVERLAP != 0 {
        return Err(Failure::new(
            hipError_t::hipErrorNotSupported,
            format_args!("flags are {flags:#x}, of which the emulator has only 1"),
        ));
    }
    Ok(())
}

/// Checks copies in turn, then submits them. Writes the index of the copy that failed.
///
/// # Safety
/// `failed` is null or valid; sides outside device memory are valid until the copies are done.
unsafe fn submit(
    stream: hipStream_t,
    failed: *mut usize,
    copies: impl Iterator<Item = Result<(Transfer, Order), Failure>>,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let tell = |index: usize, failure: Failure| {
        if !is_absent(failed) {
            // SAFETY: guaranteed by the caller.
            unsafe { failed.write_unaligned(index) };
        }
        failure
    };
    let mut ready = Vec::new();
    for (index, copy) in copies.enumerate() {
        ready.push(copy.map_err(|failure| tell(index, failure))?);
    }
    for (index, (transfer, order)) in ready.into_iter().enumerate() {
        let submitted = if transfer.is_pageable()
            && order != Order::hipMemcpySrcAccessOrderDuringApiCall
            && !capture::is_captured(&stream)
        {
            // The source may be written by the stream's work so far, and changed when the call returns.
            stream.submit_and_wait(Operation::Transfer(transfer))
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { later(&stream, transfer) }
        };
        submitted.map_err(|failure| tell(index, failure))?;
    }
    Ok(())
}

/// The attributes of each copy: those of the last index that is not above its own, or else HIP's default.
fn orders(
    attributes: &[hipMemcpyAttributes],
    from: &[usize],
    count: usize,
) -> Result<Vec<Order>, Failure> {
    let rises = from.first().is_none_or(|first| *first == 0) && from.is_sorted_by(|a, b| a < b);
    if !rises || from.last().is_some_and(|last| *last >= count) {
        return Err(Failure::value(format_args!(
            "attributes begin at the copies {from:?}; the first must be 0, and they must rise and be below {count}"
        )));
    }
    let mut orders = vec![Order::hipMemcpySrcAccessOrderStream; count];
    for (of, &start) in attributes.iter().zip(from) {
        allowed(of.srcAccessOrder, of.flags)?;
        orders[start..].fill(of.srcAccessOrder);
    }
    Ok(orders)
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipMemcpyBatchAsync(
    to: *mut *mut c_void,
    from: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    attributes: *mut hipMemcpyAttributes,
    indices: *mut usize,
    attribute_count: usize,
    failed: *mut usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    if to.is_null() || from.is_null() || sizes.is_null() || count == 0 {
        return Err(Failure::value(format_args!(
            "{count} copies to {to:p} from {from:p} of sizes {sizes:p}"
        )));
    }
    if attribute_count > count {
        return Err(Failure::value(format_args!(
            "{attribute_count} attributes at {attributes:p} from the copies at {indices:p} on, for {count} copies"
        )));
    }
    // SAFETY: HIP's contract: the lists have that many elements.
    let (to, from, sizes, attributes, indices) = unsafe {
        (
            list(to, count, "dsts")?,
            list(from, count, "srcs")?,
            list(sizes, count, "sizes")?,
            list(attributes, attribute_count, "attrs")?,
            list(indices, attribute_count, "attrsIdxs")?,
        )
    };
    let orders = orders(&attributes, &indices, count)?;
    let copies = to.into_iter().zip(from).zip(sizes).zip(orders);
    let copies = copies.map(|(((to, from), size), order)| {
        if size == 0 {
            return Err(Failure::value("a copy of 0 bytes"));
        }
        Ok((
            bytes(to, from, size, hipMemcpyKind::hipMemcpyDefault)?,
            order,
        ))
    });
    // SAFETY: the caller upholds HIP's contract.
    unsafe { submit(stream, failed, copies) }
}

/// A side of a copy as `hipMemcpy3D` takes it: an array and the position in it, or memory.
type Side = (ferrowave_hip_abi::hipArray_t, hipPos, hipPitchedPtr);

/// Describes a side for `hipMemcpy3D`. Rows of memory have elements of `element_bytes`.
fn side(
    operand: &hipMemcpy3DOperand,
    extent: hipExtent,
    element_bytes: usize,
) -> Result<Side, Failure> {
    let hipMemcpy3DOperand {
        r#type,
        place,
        layout: [x, y, z],
    } = *operand;
    let or = |given: usize, otherwise| if given == 0 { otherwise } else { given };
    match r#type {
        OperandType::hipMemcpyOperandTypePointer => {
            let row = or(x, extent.width);
            let memory = hipPitchedPtr {
                ptr: place,
                pitch: row.saturating_mul(element_bytes),
                xsize: row,
                ysize: or(y, extent.height),
            };
            Ok((std::ptr::null_mut(), hipPos::ZERO, memory))
        }
        OperandType::hipMemcpyOperandTypeArray => {
            array(place.cast())?;
            Ok((place.cast(), hipPos { x, y, z }, hipPitchedPtr::ZERO))
        }
        other => Err(Failure::value(format_args!(
            "an operand of type {}; there are 1 (pointer) and 2 (array)",
            other.0
        ))),
    }
}

/// The copy that an element of a batch describes.
fn described(copy: &hipMemcpy3DBatchOp) -> Result<Transfer, Failure> {
    allowed(copy.srcAccessOrder, copy.flags)?;
    let hipMemcpy3DBatchOp {
        src, dst, extent, ..
    } = copy;
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Err(Failure::value(format_args!(
            "a copy of {} × {} × {} elements",
            extent.width, extent.height, extent.depth
        )));
    }
    let of_array = |operand: &hipMemcpy3DOperand| match operand.r#type {
        OperandType::hipMemcpyOperandTypeArray => {
            Ok(Some(array(operand.place.cast())?.element_bytes()))
        }
        _ => Ok::<_, Failure>(None),
    };
    let element_bytes = of_array(dst)?.or(of_array(src)?).unwrap_or(1);
    let (srcArray, srcPos, srcPtr) = side(src, *extent, element_bytes)?;
    let (dstArray, dstPos, dstPtr) = side(dst, *extent, element_bytes)?;
    described_3d(&hipMemcpy3DParms {
        srcArray,
        srcPos,
        srcPtr,
        dstArray,
        dstPos,
        dstPtr,
        extent: *extent,
        kind: hipMemcpyKind::hipMemcpyDefault,
    })
}

pub(super) unsafe fn hipMemcpy3DBatchAsync(
    count: usize,
    copies: *mut hipMemcpy3DBatchOp,
    failed: *mut usize,
    flags: c_ulonglong,
    stream: hipStream_t,
) -> Result<(), Failure> {
    if count == 0 || copies.is_null() || flags != 0 {
        return Err(Failure::value(format_args!(
            "{count} copies at {copies:p} with flags {flags:#x}, which must be 0"
        )));
    }
    // SAFETY: HIP's contract: the list has that many elements.
    let copies = unsafe { list(copies, count, "opList") }?;
    let copies = copies
        .iter()
        .map(|copy| Ok((described(copy)?, copy.srcAccessOrder)));
    // SAFETY: the caller upholds HIP's contract.
    unsafe { submit(stream, failed, copies) }
}
