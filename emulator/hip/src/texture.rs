//! Texture and surface objects.
//!
//! Device code uses an object as the address of its resource in memory (HIP's `texture_indirect_functions.h`), which the
//! texture unit reads: a buffer's for linear memory (`tex1Dfetch`), otherwise an image's, with a sampler behind it. What
//! is refused, and with which error, follows CLR's `ihipCreateTextureObject`. gfx942 and gfx950 have no images.

use std::{ffi::c_uint, sync::Arc};

use ferrowave_emulator::exec::{
    Number,
    image::{Clamp, Elements, Image, Sampler, Shape},
};
use ferrowave_gpu::Gpu;
use ferrowave_hip_abi::{
    HIP_RESOURCE_DESC, HIP_RESOURCE_VIEW_DESC, HIP_TEXTURE_DESC, hipArray_Format as Format,
    hipArraySurfaceLoadStore, hipError_t, hipResourceDesc, hipResourceType as Type,
    hipResourceViewDesc, hipSurfaceObject_t, hipTextureDesc, hipTextureObject_t,
};

use super::{
    allocation::{find, free},
    array,
    error::{Failure, out, read},
    objects::array::{Array, array as array_of, has_images},
    runtime::{
        Device, Runtime,
        allocations::{Described, MadeBy},
    },
};

/// Required alignment of an address: `textureAlignment` of the device.
pub(super) const ALIGNMENT: u64 = 256;
/// Required alignment of rows: `texturePitchAlignment` of the device.
const ROW_ALIGNMENT: usize = 256;
/// Dwords of an object: an image's resource with three dwords for device code, and a sampler (HIP's
/// `HIP_IMAGE_OBJECT_SIZE_DWORD`, `HIP_SAMPLER_OBJECT_SIZE_DWORD`).
const IMAGE_DWORDS: usize = 12;
const SAMPLER_DWORDS: usize = 8;

/// `hipReadModeNormalizedFloat`.
pub(super) const NORMALIZED_FLOAT: c_uint = 1;
/// `hipAddressMode…` and `hipFilterMode…`.
const WRAP: c_uint = 0;
const CLAMP: c_uint = 1;
const MIRROR: c_uint = 2;
const BORDER: c_uint = 3;
const POINT: c_uint = 0;
const LINEAR: c_uint = 1;

fn not_supported(what: std::fmt::Arguments<'_>) -> Failure {
    Failure::new(hipError_t::hipErrorNotSupported, what)
}

/// Channels as arrays have them: a format, and how many.
type Channels = (Format, u32);

/// A format's bits, what they mean when read in a mode, and HSA's number of both.
fn meaning(format: Format, read_mode: c_uint) -> Result<(u8, Number, u32), Failure> {
    let normalized = read_mode == NORMALIZED_FLOAT;
    Ok(match format {
        Format::HIP_AD_FORMAT_SIGNED_INT8 if normalized => (8, Number::Snorm, 0),
        Format::HIP_AD_FORMAT_SIGNED_INT16 if normalized => (16, Number::Snorm, 1),
        Format::HIP_AD_FORMAT_UNSIGNED_INT8 if normalized => (8, Number::Unorm, 2),
        Format::HIP_AD_FORMAT_UNSIGNED_INT16 if normalized => (16, Number::Unorm, 3),
        Format::HIP_AD_FORMAT_SIGNED_INT8 => (8, Number::Sint, 8),
        Format::HIP_AD_FORMAT_SIGNED_INT16 => (16, Number::Sint, 9),
        Format::HIP_AD_FORMAT_SIGNED_INT32 => (32, Number::Sint, 10),
        Format::HIP_AD_FORMAT_UNSIGNED_INT8 => (8, Number::Uint, 11),
        Format::HIP_AD_FORMAT_UNSIGNED_INT16 => (16, Number::Uint, 12),
        Format::HIP_AD_FORMAT_UNSIGNED_INT32 => (32, Number::Uint, 13),
        Format::HIP_AD_FORMAT_HALF => (16, Number::Float, 14),
        Format::HIP_AD_FORMAT_FLOAT => (32, Number::Float, 15),
        Format(other) => {
            return Err(Failure::value(format_args!(
                "{other:#x} is not a format of elements"
            )));
        }
    })
}

/// What the elements of some channels are when read in a mode, and HSA's numbers of their type and order, which surface
/// functions read.
fn elements(
    (format, count): Channels,
    read_mode: c_uint,
    srgb: bool,
) -> Result<(Elements, [u32; 2]), Failure> {
    let (bits, number, hsa_type) = meaning(format, read_mode)?;
    // CLR ignores it for fewer channels.
    let srgb = srgb && count == 4;
    let hsa_order = match count {
        1 => Some(1),
        2 => Some(3),
        4 if srgb => Some(14),
        4 => Some(8),
        _ => None,
    };
    let elements = Elements::new(count as usize, bits, number);
    let (Some(elements), Some(hsa_order)) = (elements, hsa_order) else {
        return Err(Failure::value(format_args!(
            "elements of {count} channels of {bits} bits; a texture has 1, 2 or 4 channels"
        )));
    };
    let stored = match srgb {
        true => elements.in_srgb(),
        false => Some(elements),
    };
    let stored = stored.ok_or_else(|| {
        Failure::value("sRGB is for four channels of 8 bits, read as normalized floats (1)")
    })?;
    Ok((stored, [hsa_type, hsa_order]))
}

/// The formats of `hipResourceViewFormat`, each with 1, 2 and 4 channels, from 1 on.
const VIEW_FORMATS: [Format; 8] = [
    Format::HIP_AD_FORMAT_UNSIGNED_INT8,
    Format::HIP_AD_FORMAT_SIGNED_INT8,
    Format::HIP_AD_FORMAT_UNSIGNED_INT16,
    Format::HIP_AD_FORMAT_SIGNED_INT16,
    Format::HIP_AD_FORMAT_UNSIGNED_INT32,
    Format::HIP_AD_FORMAT_SIGNED_INT32,
    Format::HIP_AD_FORMAT_HALF,
    Format::HIP_AD_FORMAT_FLOAT,
];

/// The channels of `hipResourceViewFormat`. Compressed ones have none.
fn view_channels(format: c_uint) -> Result<Channels, Failure> {
    let index = format.wrapping_sub(1) as usize;
    let found = VIEW_FORMATS
        .get(index / 3)
        .map(|found| (*found, 1 << (index % 3)));
    found.ok_or_else(|| {
        Failure::value(format_args!(
            "a view of format {format}; the emulator has those from 1 to 24"
        ))
    })
}

/// A view of an array as elements of some channels.
pub(super) fn view(channels: Channels) -> Result<hipResourceViewDesc, Failure> {
    let format = (1..=24).find(|format| view_channels(*format).is_ok_and(|has| has == channels));
    let (format_of, count) = channels;
    let format = format.ok_or_else(|| {
        Failure::value(format_args!(
            "elements of {count} channels of format {:#x}; a texture has 1, 2 or 4 channels",
            format_of.0
        ))
    })?;
    Ok(hipResourceViewDesc {
        format,
        ..hipResourceViewDesc::ZERO
    })
}

/// The words of an array's image, read in a mode, as elements of some channels.
fn array_words(
    gpu: Gpu,
    array: &Array,
    channels: Channels,
    read_mode: c_uint,
    srgb: bool,
) -> Result<Vec<u32>, Failure> {
    let (elements, hsa) = elements(channels, read_mode, srgb)?;
    if elements.bytes() as usize != array.element_bytes() {
        return Err(Failure::value(format_args!(
            "a view with elements of {} bytes; the array has {}",
            elements.bytes(),
            array.element_bytes()
        )));
    }
    let size = array.image_size();
    let fits = size
        .iter()
        .zip(Image::LIMITS)
        .all(|(size, limit)| *size <= limit as usize);
    if !fits {
        let [width, height, depth] = size;
        let [w, h, d] = Image::LIMITS;
        return Err(Failure::value(format_args!(
            "an array of {width} × {height} × {depth} elements; a texture or surface has at most {w} × {h} × {d}"
        )));
    }
    let size = size.map(|size| size as u32);
    let row_bytes = array.row_bytes() as u64;
    let image = Image::new(array.base(), array.shape(), elements, size, row_bytes);
    Ok(with_hsa(&image.words(gpu), hsa, size[0]))
}

/// A resource with what device code reads behind it: HSA's numbers and the width.
fn with_hsa(resource: &[u32], hsa: [u32; 2], width: u32) -> Vec<u32> {
    let mut words = resource.to_vec();
    words.resize(8, 0);
    words.extend(hsa);
    words.push(width);
    words
}

/// Memory that a resource names, if it is allocated, aligned and large enough.
fn memory(device: &Device, resource: &hipResourceDesc, bytes: usize) -> Result<u64, Failure> {
    let base = resource.devPtr.addr() as u64;
    let room = device.memory.find(base).map_or(0, |info| info.end() - base);
    if bytes == 0 || bytes as u64 > room || !base.is_multiple_of(ALIGNMENT) {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {base:#x}, of which {room} are allocated; a texture has at least one element, in one \
             allocation, from a multiple of {ALIGNMENT} on"
        )));
    }
    Ok(base)
}

/// The words of a texture's resource.
fn resource_words(
    device: &Device,
    resource: &hipResourceDesc,
    texture: &hipTextureDesc,
    view: Option<&hipResourceViewDesc>,
) -> Result<Vec<u32>, Failure> {
    let gpu = device.config.gpu;
    let (mode, srgb) = (texture.readMode, texture.sRGB == 1);
    match resource.resType {
        Type::hipResourceTypeArray => {
            let array = array_of(resource.devPtr.cast())?;
            if array.description.Depth > 0 && texture.filterMode == LINEAR && gpu == Gpu::Gfx90a {
                return Err(not_supported(format_args!(
                    "{gpu} has no linear filter for arrays with a depth"
                )));
            }
            let channels = match view {
                Some(view) => view_channels(view.format)?,
                None => (array.description.Format, array.description.NumChannels),
            };
            array_words(gpu, &array, channels, mode, srgb)
        }
        Type::hipResourceTypeLinear => {
            let (elements, hsa) = elements(array::format(resource.desc)?, mode, srgb)?;
            let bytes = resource.sizeInBytes;
            let base = memory(device, resource, bytes)?;
            let count = u32::try_from(bytes / elements.bytes() as usize).unwrap_or(0);
            if count == 0 {
                return Err(Failure::value(format_args!(
                    "{bytes} bytes for elements of {}; a texture has from 1 to {} elements",
                    elements.bytes(),
                    u32::MAX
                )));
            }
            let buffer = elements.buffer(gpu, base, count);
            let buffer = buffer.ok_or_else(|| Failure::value("linear memory is not sRGB"))?;
            Ok(with_hsa(&buffer, hsa, count))
        }
        Type::hipResourceTypePitch2D => {
            let (elements, hsa) = elements(array::format(resource.desc)?, mode, srgb)?;
            let (width, height) = (resource.sizeInBytes, resource.height);
            let (row, pitch) = (
                width.saturating_mul(elements.bytes() as usize),
                resource.pitchInBytes,
            );
            let [most_columns, most_rows, _] = Image::LIMITS.map(|limit| limit as usize);
            let sizes = (1..=most_columns).contains(&width) && (1..=most_rows).contains(&height);
            let most = most_columns * elements.bytes() as usize;
            let rows = pitch >= row && pitch <= most && pitch.is_multiple_of(ROW_ALIGNMENT);
            if !sizes || !rows {
                return Err(Failure::value(format_args!(
                    "{height} rows of {width} elements of {} bytes, {pitch} bytes apart; a texture has up to \
                     {most_rows} rows of up to {most_columns} elements, a multiple of {ROW_ALIGNMENT} bytes and at \
                     most {most} bytes apart",
                    elements.bytes(),
                )));
            }
            let base = memory(device, resource, pitch * (height - 1) + row)?;
            let size = [width as u32, height as u32, 1];
            let image = Image::new(base, Shape::D2, elements, size, pitch as u64);
            Ok(with_hsa(&image.words(gpu), hsa, size[0]))
        }
        other => Err(not_supported(format_args!(
            "a resource of type {}; ROCm on Linux has arrays (0), linear memory (2) and pitched memory (3)",
            other.0
        ))),
    }
}

/// The sampler of a texture. All axes have the address mode of the first.
fn sampler(kind: Type, texture: &hipTextureDesc) -> Result<Sampler, Failure> {
    let normalized = texture.normalizedCoords != 0;
    // CLR ignores both for linear memory.
    let is_linear = kind == Type::hipResourceTypeLinear;
    let clamp = match texture.addressMode[0] {
        _ if is_linear => Clamp::Wrap,
        WRAP | MIRROR if !normalized => Clamp::LastTexel,
        WRAP => Clamp::Wrap,
        CLAMP => Clamp::LastTexel,
        MIRROR => Clamp::Mirror,
        BORDER => Clamp::Border,
        other => {
            return Err(Failure::value(format_args!(
                "{other} is not an address mode; they are 0 to 3"
            )));
        }
    };
    let linear = match texture.filterMode {
        _ if is_linear => false,
        POINT => false,
        LINEAR => true,
        other => {
            return Err(Failure::value(format_args!(
                "{other} is not a filter mode; they are 0 and 1"
            )));
        }
    };
    Ok(Sampler::new(clamp, normalized, linear))
}

/// Puts an object into device memory.
fn make(device: &Arc<Device>, words: &[u32], by: MadeBy) -> Result<*mut (), Failure> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let all = 4 * (IMAGE_DWORDS + SAMPLER_DWORDS);
    let place = device.allocate(all, by, 0)?;
    let address = place.addr() as u64;
    device.memory.fill(address, &[0], all)?;
    device.memory.write(address, &bytes)?;
    Ok(place.cast())
}

pub(super) fn device_with_images() -> Result<Arc<Device>, Failure> {
    let device = Runtime::get().current()?;
    let gpu = device.config.gpu;
    match has_images(gpu) {
        true => Ok(device),
        false => Err(not_supported(format_args!("{gpu} has no images"))),
    }
}

pub(super) fn create_texture(
    resource: hipResourceDesc,
    texture: hipTextureDesc,
    view: Option<hipResourceViewDesc>,
) -> Result<hipTextureObject_t, Failure> {
    let device = device_with_images()?;
    if view.is_some() && resource.resType != Type::hipResourceTypeArray {
        return Err(Failure::value("only an array has a view"));
    }
    if texture.maxAnisotropy != 0 || texture.mipmapLevelBias != 0.0 {
        return Err(not_supported(format_args!(
            "a texture with anisotropy or a bias of levels; ROCm has neither"
        )));
    }
    if texture.readMode > NORMALIZED_FLOAT {
        return Err(Failure::value(format_args!(
            "{} is not a read mode; they are 0 and 1",
            texture.readMode
        )));
    }
    let mut words = resource_words(&device, &resource, &texture, view.as_ref())?;
    words.resize(IMAGE_DWORDS, 0);
    words.extend(sampler(resource.resType, &texture)?.words());
    let described = Described {
        resource,
        texture,
        view: view.unwrap_or(hipResourceViewDesc::ZERO),
    };
    Ok(make(&device, &words, MadeBy::Texture(described.into()))?.cast())
}

/// What a texture object was made from.
pub(super) fn described(object: hipTextureObject_t) -> Result<Described, Failure> {
    device_with_images()?;
    let is_texture = |by: &MadeBy| matches!(by, MadeBy::Texture(_));
    match find(object.cast(), is_texture, "hipCreateTextureObject")?
        .1
        .by
    {
        MadeBy::Texture(described) => Ok(*described),
        _ => Err(Failure::value("not a texture object")),
    }
}

pub(super) unsafe fn hipCreateTextureObject(
    object: *mut hipTextureObject_t,
    resource: *const hipResourceDesc,
    texture: *const hipTextureDesc,
    view: *const hipResourceViewDesc,
) -> Result<(), Failure> {
    let object = out!(object);
    let (resource, texture) = (read!(resource), read!(texture));
    let view = match view.is_null() {
        true => None,
        false => Some(read!(view)),
    };
    object.set(create_texture(resource, texture, view)?);
    Ok(())
}

pub(super) fn destroy_texture(object: hipTextureObject_t) -> Result<(), Failure> {
    let is_texture = |by: &MadeBy| matches!(by, MadeBy::Texture(_));
    free(object.cast(), is_texture, "hipCreateTextureObject")
}

pub(super) unsafe fn hipDestroyTextureObject(object: hipTextureObject_t) -> Result<(), Failure> {
    destroy_texture(object)
}

pub(super) unsafe fn hipGetTextureObjectResourceDesc(
    resource: *mut hipResourceDesc,
    object: hipTextureObject_t,
) -> Result<(), Failure> {
    let resource = out!(resource);
    resource.set(described(object)?.resource);
    Ok(())
}

pub(super) unsafe fn hipGetTextureObjectResourceViewDesc(
    view: *mut hipResourceViewDesc,
    object: hipTextureObject_t,
) -> Result<(), Failure> {
    let view = out!(view);
    view.set(described(object)?.view);
    Ok(())
}

pub(super) unsafe fn hipGetTextureObjectTextureDesc(
    texture: *mut hipTextureDesc,
    object: hipTextureObject_t,
) -> Result<(), Failure> {
    let texture = out!(texture);
    texture.set(described(object)?.texture);
    Ok(())
}

/// Bits of a driver's texture description.
pub(super) const READ_AS_INTEGER: c_uint = 1;
pub(super) const NORMALIZED_COORDINATES: c_uint = 2;
pub(super) const SRGB: c_uint = 0x10;

/// The runtime's form of a driver's description.
fn from_driver(resource: &HIP_RESOURCE_DESC) -> Result<hipResourceDesc, Failure> {
    let kind = Type(resource.resType);
    let common = hipResourceDesc {
        resType: kind,
        devPtr: resource.devPtr,
        ..hipResourceDesc::ZERO
    };
    Ok(match kind {
        Type::hipResourceTypeLinear | Type::hipResourceTypePitch2D
            if !matches!(resource.numChannels, 1 | 2 | 4) =>
        {
            return Err(Failure::value(format_args!(
                "elements of {} channels; a texture has 1, 2 or 4",
                resource.numChannels
            )));
        }
        Type::hipResourceTypeLinear | Type::hipResourceTypePitch2D => hipResourceDesc {
            desc: array::channels(resource.format, resource.numChannels)?,
            sizeInBytes: resource.sizeInBytes,
            height: resource.height,
            pitchInBytes: resource.pitchInBytes,
            ..common
        },
        _ => common,
    })
}

fn texture_from_driver(texture: &HIP_TEXTURE_DESC) -> hipTextureDesc {
    let has = |bit: c_uint| texture.flags & bit != 0;
    hipTextureDesc {
        addressMode: texture.addressMode,
        filterMode: texture.filterMode,
        readMode: c_uint::from(!has(READ_AS_INTEGER)),
        sRGB: has(SRGB).into(),
        borderColor: texture.borderColor,
        normalizedCoords: has(NORMALIZED_COORDINATES).into(),
        maxAnisotropy: texture.maxAnisotropy,
        mipmapFilterMode: texture.mipmapFilterMode,
        mipmapLevelBias: texture.mipmapLevelBias,
        minMipmapLevelClamp: texture.minMipmapLevelClamp,
        maxMipmapLevelClamp: texture.maxMipmapLevelClamp,
    }
}

fn texture_for_driver(texture: &hipTextureDesc) -> HIP_TEXTURE_DESC {
    let bit = |set: bool, bit| if set { bit } else { 0 };
    HIP_TEXTURE_DESC {
        addressMode: texture.addressMode,
        filterMode: texture.filterMode,
        flags: bit(texture.readMode == 0, READ_AS_INTEGER)
            | bit(texture.sRGB != 0, SRGB)
            | bit(texture.normalizedCoords != 0, NORMALIZED_COORDINATES),
        maxAnisotropy: texture.maxAnisotropy,
        mipmapFilterMode: texture.mipmapFilterMode,
        mipmapLevelBias: texture.mipmapLevelBias,
        minMipmapLevelClamp: texture.minMipmapLevelClamp,
        maxMipmapLevelClamp: texture.maxMipmapLevelClamp,
        borderColor: texture.borderColor,
        ..HIP_TEXTURE_DESC::ZERO
    }
}

pub(super) unsafe fn hipTexObjectCreate(
    object: *mut hipTextureObject_t,
    resource: *const HIP_RESOURCE_DESC,
    texture: *const HIP_TEXTURE_DESC,
    view: *const HIP_RESOURCE_VIEW_DESC,
) -> Result<(), Failure> {
    let object = out!(object);
    let (resource, texture) = (read!(resource), read!(texture));
    let view = match view.is_null() {
        true => None,
        false => Some(read!(view).view),
    };
    let (resource, texture) = (from_driver(&resource)?, texture_from_driver(&texture));
    object.set(create_texture(resource, texture, view)?);
    Ok(())
}

pub(super) unsafe fn hipTexObjectDestroy(object: hipTextureObject_t) -> Result<(), Failure> {
    // SAFETY: the same function.
    unsafe { hipDestroyTextureObject(object) }
}

pub(super) unsafe fn hipTexObjectGetResourceDesc(
    resource: *mut HIP_RESOURCE_DESC,
    object: hipTextureObject_t,
) -> Result<(), Failure> {
    let out = out!(resource);
    let resource = described(object)?.resource;
    let common = HIP_RESOURCE_DESC {
        resType: resource.resType.0,
        devPtr: resource.devPtr,
        ..HIP_RESOURCE_DESC::ZERO
    };
    out.set(match resource.resType {
        Type::hipResourceTypeLinear | Type::hipResourceTypePitch2D => {
            let (format, count) = array::format(resource.desc)?;
            HIP_RESOURCE_DESC {
                format,
                numChannels: count,
                sizeInBytes: resource.sizeInBytes,
                height: resource.height,
                pitchInBytes: resource.pitchInBytes,
                ..common
            }
        }
        _ => common,
    });
    Ok(())
}

pub(super) unsafe fn hipTexObjectGetResourceViewDesc(
    view: *mut HIP_RESOURCE_VIEW_DESC,
    object: hipTextureObject_t,
) -> Result<(), Failure> {
    let out = out!(view);
    out.set(HIP_RESOURCE_VIEW_DESC {
        view: described(object)?.view,
        ..HIP_RESOURCE_VIEW_DESC::ZERO
    });
    Ok(())
}

pub(super) unsafe fn hipTexObjectGetTextureDesc(
    texture: *mut HIP_TEXTURE_DESC,
    object: hipTextureObject_t,
) -> Result<(), Failure> {
    let out = out!(texture);
    out.set(texture_for_driver(&described(object)?.texture));
    Ok(())
}

pub(super) unsafe fn hipCreateSurfaceObject(
    object: *mut hipSurfaceObject_t,
    resource: *const hipResourceDesc,
) -> Result<(), Failure> {
    let device = device_with_images()?;
    let (object, resource) = (out!(object), read!(resource));
    if resource.resType != Type::hipResourceTypeArray {
        return Err(Failure::value(format_args!(
            "a resource of type {}; a surface is an array (0)",
            resource.resType.0
        )));
    }
    let array = array_of(resource.devPtr.cast())?;
    let flags = array.description.Flags;
    if flags != 0 && flags & hipArraySurfaceLoadStore == 0 {
        return Err(Failure::value(format_args!(
            "an array with flags {flags:#x}; that of a surface has {hipArraySurfaceLoadStore:#x}, or none"
        )));
    }
    let channels = (array.description.Format, array.description.NumChannels);
    let words = array_words(device.config.gpu, &array, channels, 0, false)?;
    object.set(make(&device, &words, MadeBy::Surface)?.cast());
    Ok(())
}

pub(super) unsafe fn hipDestroySurfaceObject(object: hipSurfaceObject_t) -> Result<(), Failure> {
    let is_surface = |by: &MadeBy| matches!(by, MadeBy::Surface);
    free(object.cast(), is_surface, "hipCreateSurfaceObject")
}
