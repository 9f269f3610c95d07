//! Texture references: variables of type `texture` in the program or in a module.
//!
//! Binding memory makes a texture object, and copies the reference to its device variable, from which device code takes the
//! object (HIP's `texture_fetch_functions.h`). Order of steps and error codes are those of CLR's `hip_texture.cpp`.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use ferrowave_hip_abi::{
    HIP_ARRAY_DESCRIPTOR, hipArray_Format, hipArray_const_t, hipArray_t, hipChannelFormatDesc,
    hipDeviceptr_t, hipError_t, hipModule_t, hipResourceDesc, hipResourceType as Type,
    hipResourceViewDesc, hipTextureDesc, textureReference,
};

use super::{
    array,
    error::{Failure, Out, out, read, text},
    objects::{
        array::array as array_of,
        module::{Module, module},
    },
    registry::variable,
    runtime::{Device, Runtime},
    texture::{
        ALIGNMENT, NORMALIZED_COORDINATES, NORMALIZED_FLOAT, READ_AS_INTEGER, SRGB, create_texture,
        described, destroy_texture, device_with_images, view,
    },
};

const BYTES: usize = size_of::<textureReference>();
/// `HIP_TRSA_OVERRIDE_FORMAT`.
const OVERRIDE_FORMAT: c_uint = 1;

/// A reference that `hipModuleGetTexRef` has made.
struct OfModule {
    /// Its address. The reference is the program's to change.
    reference: usize,
    module: Weak<Module>,
    /// The address of the module's variable.
    variable: u64,
}

static OF_MODULES: Mutex<Vec<OfModule>> = Mutex::new(Vec::new());

fn of_modules() -> MutexGuard<'static, Vec<OfModule>> {
    // A poisoned lock is ignored: the list is valid between statements.
    OF_MODULES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the references of a module that is unloaded.
pub(super) fn forget(module: &Module) -> Result<(), Failure> {
    let is_its = |of: &mut OfModule| ptr::eq(of.module.as_ptr(), module);
    let gone: Vec<_> = of_modules().extract_if(.., is_its).collect();
    gone.into_iter().try_for_each(|of| {
        let reference = ptr::with_exposed_provenance_mut::<textureReference>(of.reference);
        // SAFETY: `hipModuleGetTexRef` made it from a box, and nothing else frees it. HIP's contract: the program does not
        // use it any more.
        let reference = unsafe { Box::from_raw(reference) };
        destroy_texture(reference.textureObject)
    })
}

/// The device variable of a module's reference.
fn variable_of(reference: *const textureReference) -> Result<u64, Failure> {
    let found = of_modules()
        .iter()
        .find(|of| of.reference == reference.addr())
        .map(|of| of.variable);
    found.ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorNotFound,
            format_args!("{reference:p} is not from hipModuleGetTexRef"),
        )
    })
}

/// The device variable of the program's reference.
fn registered(reference: *const textureReference) -> Result<u64, Failure> {
    let (place, bytes) = variable(reference.cast())?;
    match bytes as usize == BYTES {
        true => Ok(place),
        false => Err(Failure::new(
            hipError_t::hipErrorInvalidSymbol,
            format_args!("a variable of {bytes} bytes; a texture reference has {BYTES}"),
        )),
    }
}

fn sampling(reference: &textureReference) -> hipTextureDesc {
    hipTextureDesc {
        addressMode: reference.addressMode,
        filterMode: reference.filterMode,
        readMode: reference.readMode,
        sRGB: reference.sRGB,
        normalizedCoords: reference.normalized,
        maxAnisotropy: reference.maxAnisotropy,
        mipmapFilterMode: reference.mipmapFilterMode,
        mipmapLevelBias: reference.mipmapLevelBias,
        minMipmapLevelClamp: reference.minMipmapLevelClamp,
        maxMipmapLevelClamp: reference.maxMipmapLevelClamp,
        ..hipTextureDesc::ZERO
    }
}

/// The address to bind for one that may be misaligned; the distance to the next aligned address goes to the caller. As in
/// CLR, what is bound begins that far before.
fn aligned(address: *const c_void, offset: Option<Out<usize>>) -> Result<*mut c_void, Failure> {
    device_with_images()?;
    let start = address.addr() as u64;
    let to_next = start.wrapping_neg() % ALIGNMENT;
    match offset {
        Some(offset) => offset.set(to_next as usize),
        None if to_next != 0 => {
            return Err(Failure::value(format_args!(
                "{address:p} is not a multiple of {ALIGNMENT}, and offset is null"
            )));
        }
        None => (),
    }
    Ok(address.cast_mut().wrapping_byte_sub(to_next as usize))
}

/// Makes the texture object of a reference, and copies the reference to its device variable.
///
/// # Safety
/// `reference` is the address of a reference.
unsafe fn bind(
    reference: *const textureReference,
    variable: u64,
    resource: hipResourceDesc,
    view: Option<hipResourceViewDesc>,
) -> Result<(), Failure> {
    let described = read!(reference);
    let object = create_texture(resource, sampling(&described), view)?;
    // SAFETY: guaranteed by the caller. HIP's signatures have `const`, but the object is part of what is bound.
    let bytes = unsafe {
        (&raw mut (*reference.cast_mut()).textureObject).write_unaligned(object);
        reference.cast::<[u8; BYTES]>().read_unaligned()
    };
    let device: Arc<Device> = Runtime::get().current()?;
    Ok(device.memory.write(variable, &bytes)?)
}

/// Destroys the object of a reference.
///
/// # Safety
/// `reference` is the address of a reference.
unsafe fn unbind(reference: *const textureReference) -> Result<(), Failure> {
    destroy_texture(read!(reference).textureObject)?;
    // SAFETY: guaranteed by the caller; `const` as in `bind`.
    unsafe { (&raw mut (*reference.cast_mut()).textureObject).write_unaligned(ptr::null_mut()) };
    Ok(())
}

pub(super) unsafe fn hipBindTexture(
    offset: *mut usize,
    texref: *const textureReference,
    address: *const c_void,
    desc: *const hipChannelFormatDesc,
    size: usize,
) -> Result<(), Failure> {
    let variable = registered(texref)?;
    let desc = read!(desc);
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }?;
    let resource = linear(aligned(address, optional(offset)?)?, desc, size);
    // SAFETY: as above.
    unsafe { bind(texref, variable, resource, None) }
}

fn linear(address: *mut c_void, desc: hipChannelFormatDesc, bytes: usize) -> hipResourceDesc {
    hipResourceDesc {
        resType: Type::hipResourceTypeLinear,
        devPtr: address,
        desc,
        sizeInBytes: bytes,
        ..hipResourceDesc::ZERO
    }
}

/// A result that the caller may not want.
fn optional<T>(result: *mut T) -> Result<Option<Out<T>>, Failure> {
    Ok(match result.is_null() {
        true => None,
        false => Some(out!(result)),
    })
}

pub(super) unsafe fn hipBindTexture2D(
    offset: *mut usize,
    texref: *const textureReference,
    address: *const c_void,
    desc: *const hipChannelFormatDesc,
    width: usize,
    height: usize,
    pitch: usize,
) -> Result<(), Failure> {
    let variable = registered(texref)?;
    let desc = read!(desc);
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }?;
    let resource = hipResourceDesc {
        resType: Type::hipResourceTypePitch2D,
        devPtr: aligned(address, optional(offset)?)?,
        desc,
        sizeInBytes: width,
        height,
        pitchInBytes: pitch,
    };
    // SAFETY: as above.
    unsafe { bind(texref, variable, resource, None) }
}

fn of_array(array: hipArray_const_t) -> hipResourceDesc {
    hipResourceDesc {
        resType: Type::hipResourceTypeArray,
        devPtr: array.cast_mut().cast(),
        ..hipResourceDesc::ZERO
    }
}

pub(super) unsafe fn hipBindTextureToArray(
    texref: *const textureReference,
    array: hipArray_const_t,
    desc: *const hipChannelFormatDesc,
) -> Result<(), Failure> {
    if array.is_null() {
        return Err(Failure::value("the array is null"));
    }
    let desc = read!(desc);
    let variable = registered(texref)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }?;
    let view = view(array::format(desc)?)?;
    // SAFETY: as above.
    unsafe { bind(texref, variable, of_array(array), Some(view)) }
}

pub(super) unsafe fn hipUnbindTexture(texref: *const textureReference) -> Result<(), Failure> {
    read!(texref);
    device_with_images()?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }
}

pub(super) unsafe fn hipGetTextureAlignmentOffset(
    offset: *mut usize,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let offset = out!(offset);
    get(texref)?;
    offset.set(0);
    Ok(())
}

pub(super) unsafe fn hipGetTextureReference(
    texref: *mut *const textureReference,
    symbol: *const c_void,
) -> Result<(), Failure> {
    let texref = out!(texref);
    device_with_images()?;
    texref.set(symbol.cast());
    Ok(())
}

pub(super) unsafe fn hipModuleGetTexRef(
    texref: *mut *mut textureReference,
    module: hipModule_t,
    name: *const c_char,
) -> Result<(), Failure> {
    let texref = out!(texref);
    // SAFETY: the caller upholds HIP's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    if name.is_empty() {
        return Err(Failure::value("name is empty"));
    }
    let module = self::module(module)?;
    device_with_images()?;
    let found = module.variable(&name);
    let Some((variable, _)) = found.filter(|(_, bytes)| *bytes as usize == BYTES) else {
        return Err(Failure::new(
            hipError_t::hipErrorNotFound,
            format_args!("no texture reference `{name}` in the module"),
        ));
    };
    let reference = Box::into_raw(Box::new(textureReference {
        readMode: NORMALIZED_FLOAT,
        addressMode: [1; 3],
        channelDesc: array::channels(hipArray_Format::HIP_AD_FORMAT_SIGNED_INT8, 1)?,
        numChannels: 1,
        format: hipArray_Format::HIP_AD_FORMAT_FLOAT,
        ..textureReference::ZERO
    }));
    of_modules().push(OfModule {
        reference: reference.expose_provenance(),
        module: Arc::downgrade(&module),
        variable,
    });
    texref.set(reference);
    Ok(())
}

/// Reads a reference.
fn get(texref: *const textureReference) -> Result<textureReference, Failure> {
    let reference = read!(texref);
    device_with_images()?;
    Ok(reference)
}

/// Changes a reference. Device code sees it when memory is bound the next time.
fn change(
    texref: *mut textureReference,
    change: impl FnOnce(&mut textureReference),
) -> Result<(), Failure> {
    let mut reference = get(texref)?;
    change(&mut reference);
    // SAFETY: HIP's contract: the address is a reference's.
    unsafe { texref.write_unaligned(reference) };
    Ok(())
}

pub(super) unsafe fn hipTexRefGetAddress(
    address: *mut hipDeviceptr_t,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let address = out!(address);
    let resource = described(get(texref)?.textureObject)?.resource;
    match resource.resType {
        Type::hipResourceTypeLinear | Type::hipResourceTypePitch2D => {
            address.set(resource.devPtr.cast());
            Ok(())
        }
        _ => Err(Failure::value("an array is bound, which has no address")),
    }
}

pub(super) unsafe fn hipTexRefGetAddressMode(
    mode: *mut c_uint,
    texref: *const textureReference,
    dim: c_int,
) -> Result<(), Failure> {
    let mode = out!(mode);
    let reference = get(texref)?;
    match dim {
        0 | 1 => mode.set(reference.addressMode[dim as usize]),
        _ => {
            return Err(Failure::value(format_args!(
                "dimension {dim}; it must be 0 or 1"
            )));
        }
    }
    Ok(())
}

pub(super) unsafe fn hipTexRefGetArray(
    array: *mut hipArray_t,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let array = out!(array);
    let resource = described(get(texref)?.textureObject)?.resource;
    match resource.resType {
        Type::hipResourceTypeArray => array.set(resource.devPtr.cast()),
        _ => return Err(Failure::value("what is bound is no array")),
    }
    Ok(())
}

pub(super) unsafe fn hipTexRefGetFilterMode(
    mode: *mut c_uint,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let mode = out!(mode);
    mode.set(get(texref)?.filterMode);
    Ok(())
}

pub(super) unsafe fn hipTexRefGetFlags(
    flags: *mut c_uint,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let flags = out!(flags);
    let reference = get(texref)?;
    let bit = |set: bool, bit| if set { bit } else { 0 };
    flags.set(
        bit(reference.readMode == 0, READ_AS_INTEGER)
            | bit(reference.normalized == 1, NORMALIZED_COORDINATES)
            | bit(reference.sRGB == 1, SRGB),
    );
    Ok(())
}

pub(super) unsafe fn hipTexRefGetFormat(
    format: *mut hipArray_Format,
    channels: *mut c_int,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let (format, channels) = (out!(format), out!(channels));
    let reference = get(texref)?;
    format.set(reference.format);
    channels.set(reference.numChannels);
    Ok(())
}

pub(super) unsafe fn hipTexRefGetMaxAnisotropy(
    anisotropy: *mut c_int,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let anisotropy = out!(anisotropy);
    anisotropy.set(get(texref)?.maxAnisotropy as c_int);
    Ok(())
}

/// CLR's result of functions that tell what a reference says of mipmaps, which they have written.
fn of_mipmaps() -> Result<(), Failure> {
    Err(Failure::value(
        "as in CLR, what a reference says of mipmaps comes with an error",
    ))
}

pub(super) unsafe fn hipTexRefGetMipmapFilterMode(
    mode: *mut c_uint,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let mode = out!(mode);
    mode.set(get(texref)?.mipmapFilterMode);
    of_mipmaps()
}

pub(super) unsafe fn hipTexRefGetMipmapLevelBias(
    bias: *mut f32,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let bias = out!(bias);
    bias.set(get(texref)?.mipmapLevelBias);
    of_mipmaps()
}

pub(super) unsafe fn hipTexRefGetMipmapLevelClamp(
    low: *mut f32,
    high: *mut f32,
    texref: *const textureReference,
) -> Result<(), Failure> {
    let (low, high) = (out!(low), out!(high));
    let reference = get(texref)?;
    low.set(reference.minMipmapLevelClamp);
    high.set(reference.maxMipmapLevelClamp);
    of_mipmaps()
}

/// A reference's elements, in the driver's functions.
fn elements(format: hipArray_Format, channels: c_int) -> Result<hipChannelFormatDesc, Failure> {
    array::channels(format, channels as c_uint)
}

pub(super) unsafe fn hipTexRefSetAddress(
    offset: *mut usize,
    texref: *mut textureReference,
    address: hipDeviceptr_t,
    bytes: usize,
) -> Result<(), Failure> {
    let reference = read!(texref);
    let variable = variable_of(texref)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }?;
    let desc = elements(reference.format, reference.numChannels)?;
    let address = aligned(address.cast_const().cast(), optional(offset)?)?;
    // SAFETY: as above.
    unsafe { bind(texref, variable, linear(address, desc, bytes), None) }
}

pub(super) unsafe fn hipTexRefSetAddress2D(
    texref: *mut textureReference,
    desc: *const HIP_ARRAY_DESCRIPTOR,
    address: hipDeviceptr_t,
    pitch: usize,
) -> Result<(), Failure> {
    let desc = read!(desc);
    read!(texref);
    let variable = variable_of(texref)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }?;
    let resource = hipResourceDesc {
        resType: Type::hipResourceTypePitch2D,
        devPtr: address.cast(),
        desc: array::channels(desc.Format, desc.NumChannels)?,
        sizeInBytes: desc.Width,
        height: desc.Height,
        pitchInBytes: pitch,
    };
    // SAFETY: as above.
    unsafe { bind(texref, variable, resource, None) }
}

pub(super) unsafe fn hipTexRefSetAddressMode(
    texref: *mut textureReference,
    dim: c_int,
    mode: c_uint,
) -> Result<(), Failure> {
    if !(0..3).contains(&dim) {
        return Err(Failure::value(format_args!(
            "dimension {dim}; it must be 0, 1 or 2"
        )));
    }
    change(texref, |reference| {
        reference.addressMode[dim as usize] = mode;
    })
}

pub(super) unsafe fn hipTexRefSetArray(
    texref: *mut textureReference,
    array: hipArray_const_t,
    flags: c_uint,
) -> Result<(), Failure> {
    read!(texref);
    if array.is_null() || flags != OVERRIDE_FORMAT {
        return Err(Failure::value(format_args!(
            "array {array:p}, flags {flags}; flags must be {OVERRIDE_FORMAT}"
        )));
    }
    let variable = variable_of(texref)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { unbind(texref) }?;
    let found = array_of(array.cast_mut().cast())?;
    let (format, channels) = (found.description.Format, found.description.NumChannels);
    change(texref, |reference| {
        (reference.format, reference.numChannels) = (format, channels as c_int);
    })?;
    let view = view((format, channels))?;
    // SAFETY: as above.
    unsafe { bind(texref, variable, of_array(array), Some(view)) }
}

pub(super) unsafe fn hipTexRefSetFilterMode(
    texref: *mut textureReference,
    mode: c_uint,
) -> Result<(), Failure> {
    change(texref, |reference| reference.filterMode = mode)
}

pub(super) unsafe fn hipTexRefSetFlags(
    texref: *mut textureReference,
    flags: c_uint,
) -> Result<(), Failure> {
    let has = |bit: c_uint| flags & bit != 0;
    change(texref, |reference| {
        reference.readMode = match has(READ_AS_INTEGER) {
            true => 0,
            false => NORMALIZED_FLOAT,
        };
        reference.normalized = has(NORMALIZED_COORDINATES).into();
        reference.sRGB = has(SRGB).into();
    })
}

pub(super) unsafe fn hipTexRefSetFormat(
    texref: *mut textureReference,
    format: hipArray_Format,
    channels: c_int,
) -> Result<(), Failure> {
    change(texref, |reference| {
        (reference.format, reference.numChannels) = (format, channels);
    })
}

pub(super) unsafe fn hipTexRefSetMaxAnisotropy(
    texref: *mut textureReference,
    anisotropy: c_uint,
) -> Result<(), Failure> {
    change(texref, |reference| reference.maxAnisotropy = anisotropy)
}

pub(super) unsafe fn hipTexRefSetMipmapFilterMode(
    texref: *mut textureReference,
    mode: c_uint,
) -> Result<(), Failure> {
    change(texref, |reference| reference.mipmapFilterMode = mode)
}

pub(super) unsafe fn hipTexRefSetMipmapLevelBias(
    texref: *mut textureReference,
    bias: f32,
) -> Result<(), Failure> {
    change(texref, |reference| reference.mipmapLevelBias = bias)
}

pub(super) unsafe fn hipTexRefSetMipmapLevelClamp(
    texref: *mut textureReference,
    low: f32,
    high: f32,
) -> Result<(), Failure> {
    change(texref, |reference| {
        (reference.minMipmapLevelClamp, reference.maxMipmapLevelClamp) = (low, high);
    })
}
