//! Arrays: making them, and what they are.

use std::{ffi::c_uint, ptr};

use ferrowave_hip_abi::{
    HIP_ARRAY_DESCRIPTOR, HIP_ARRAY3D_DESCRIPTOR, hipArray_Format as Format, hipArray_const_t,
    hipArray_t, hipChannelFormatDesc, hipChannelFormatKind as Kind, hipError_t, hipExtent,
};

use super::{
    allocation::wait_for_devices,
    error::{Failure, Out, out, read},
    graph::capture,
    objects::array::{ARRAYS, Array, array, channel_bytes},
    runtime::Runtime,
};

/// The formats of channels that have a type.
const FORMATS: [(Kind, usize, Format); 8] = [
    (
        Kind::hipChannelFormatKindUnsigned,
        8,
        Format::HIP_AD_FORMAT_UNSIGNED_INT8,
    ),
    (
        Kind::hipChannelFormatKindUnsigned,
        16,
        Format::HIP_AD_FORMAT_UNSIGNED_INT16,
    ),
    (
        Kind::hipChannelFormatKindUnsigned,
        32,
        Format::HIP_AD_FORMAT_UNSIGNED_INT32,
    ),
    (
        Kind::hipChannelFormatKindSigned,
        8,
        Format::HIP_AD_FORMAT_SIGNED_INT8,
    ),
    (
        Kind::hipChannelFormatKindSigned,
        16,
        Format::HIP_AD_FORMAT_SIGNED_INT16,
    ),
    (
        Kind::hipChannelFormatKindSigned,
        32,
        Format::HIP_AD_FORMAT_SIGNED_INT32,
    ),
    (
        Kind::hipChannelFormatKindFloat,
        16,
        Format::HIP_AD_FORMAT_HALF,
    ),
    (
        Kind::hipChannelFormatKindFloat,
        32,
        Format::HIP_AD_FORMAT_FLOAT,
    ),
];

/// The format and the number of channels.
pub(super) fn format(desc: hipChannelFormatDesc) -> Result<(Format, c_uint), Failure> {
    let hipChannelFormatDesc { x, y, z, w, f } = desc;
    let all = [x, y, z, w];
    let channels = all.iter().take_while(|bits| **bits != 0).count();
    let alike = all.iter().enumerate().all(|(index, bits)| {
        let expected = if index < channels { x } else { 0 };
        *bits == expected
    });
    let found = FORMATS
        .iter()
        .find(|(kind, bits, _)| alike && *kind == f && usize::try_from(x) == Ok(*bits));
    match found {
        Some(&(_, _, format)) => Ok((format, channels as c_uint)),
        None => Err(Failure::value(format_args!(
            "elements of {x}, {y}, {z} and {w} bits, of kind {}; there are 1, 2 or 4 channels of the same 8, 16 or \
             32 bits, floats (2) of 16 or 32",
            f.0
        ))),
    }
}

/// The channels of a format.
pub(super) fn channels(format: Format, count: c_uint) -> Result<hipChannelFormatDesc, Failure> {
    let kind = FORMATS.iter().find(|(_, _, other)| *other == format);
    let bits = 8 * channel_bytes(format)? as i32;
    let channel = |index| if index < count { bits } else { 0 };
    Ok(hipChannelFormatDesc {
        x: channel(0),
        y: channel(1),
        z: channel(2),
        w: channel(3),
        f: kind.map_or(Kind::hipChannelFormatKindNone, |(kind, ..)| *kind),
    })
}

fn make(array: Out<hipArray_t>, description: HIP_ARRAY3D_DESCRIPTOR) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    let new = Array::new(Runtime::get().current()?, description)?;
    array.set(ptr::without_provenance_mut(ARRAYS.insert(new)));
    Ok(())
}

pub(super) unsafe fn hipArrayCreate(
    array: *mut hipArray_t,
    descriptor: *const HIP_ARRAY_DESCRIPTOR,
) -> Result<(), Failure> {
    let (array, of) = (out!(array), read!(descriptor));
    make(
        array,
        HIP_ARRAY3D_DESCRIPTOR {
            Width: of.Width,
            Height: of.Height,
            Depth: 0,
            Format: of.Format,
            NumChannels: of.NumChannels,
            Flags: 0,
        },
    )
}

pub(super) unsafe fn hipArray3DCreate(
    array: *mut hipArray_t,
    descriptor: *const HIP_ARRAY3D_DESCRIPTOR,
) -> Result<(), Failure> {
    let (array, description) = (out!(array), read!(descriptor));
    make(array, description)
}

pub(super) unsafe fn hipMalloc3DArray(
    array: *mut hipArray_t,
    desc: *const hipChannelFormatDesc,
    extent: hipExtent,
    flags: c_uint,
) -> Result<(), Failure> {
    let (array, desc) = (out!(array), read!(desc));
    let (format, channels) = format(desc)?;
    make(
        array,
        HIP_ARRAY3D_DESCRIPTOR {
            Width: extent.width,
            Height: extent.height,
            Depth: extent.depth,
            Format: format,
            NumChannels: channels,
            Flags: flags,
        },
    )
}

pub(super) unsafe fn hipMallocArray(
    array: *mut hipArray_t,
    desc: *const hipChannelFormatDesc,
    width: usize,
    height: usize,
    flags: c_uint,
) -> Result<(), Failure> {
    let extent = hipExtent {
        width,
        height,
        depth: 0,
    };
    // SAFETY: the caller upholds the same contract.
    unsafe { hipMalloc3DArray(array, desc, extent, flags) }
}

pub(super) unsafe fn hipArrayDestroy(array: hipArray_t) -> Result<(), Failure> {
    capture::refuse_unsafe()?;
    if array.is_null() {
        return Err(Failure::value("array is null"));
    }
    // HIP's code for a stale array differs from that for other handles.
    let stale = hipError_t::hipErrorContextIsDestroyed;
    self::array(array).map_err(|failure| failure.coded(stale))?;
    wait_for_devices()?;
    // Another thread may have destroyed it meanwhile.
    let gone = ARRAYS.remove(array.addr());
    gone.ok_or_else(|| Failure::handle("array", array.addr()).coded(stale))?
        .free()
}

pub(super) use hipArrayDestroy as hipFreeArray;

pub(super) unsafe fn hipArray3DGetDescriptor(
    descriptor: *mut HIP_ARRAY3D_DESCRIPTOR,
    array: hipArray_t,
) -> Result<(), Failure> {
    let array = self::array(array)?;
    out!(descriptor).set(array.description);
    Ok(())
}

pub(super) unsafe fn hipArrayGetDescriptor(
    descriptor: *mut HIP_ARRAY_DESCRIPTOR,
    array: hipArray_t,
) -> Result<(), Failure> {
    let array = self::array(array)?;
    let of = array.description;
    out!(descriptor).set(HIP_ARRAY_DESCRIPTOR {
        Width: of.Width,
        Height: of.Height,
        Format: of.Format,
        NumChannels: of.NumChannels,
    });
    Ok(())
}

pub(super) unsafe fn hipArrayGetInfo(
    desc: *mut hipChannelFormatDesc,
    extent: *mut hipExtent,
    flags: *mut c_uint,
    array: hipArray_t,
) -> Result<(), Failure> {
    let array = self::array(array)?;
    let of = array.description;
    if !desc.is_null() {
        let of = &array.description;
        out!(desc).set(channels(of.Format, of.NumChannels)?);
    }
    if !extent.is_null() {
        out!(extent).set(hipExtent {
            width: of.Width,
            height: of.Height,
            depth: of.Depth,
        });
    }
    if !flags.is_null() {
        out!(flags).set(of.Flags);
    }
    Ok(())
}

pub(super) unsafe fn hipGetChannelDesc(
    desc: *mut hipChannelFormatDesc,
    array: hipArray_const_t,
) -> Result<(), Failure> {
    let desc = out!(desc);
    let of = self::array(array)?.description;
    desc.set(channels(of.Format, of.NumChannels)?);
    Ok(())
}
