//! Textures of linear memory.
//!
//! Device code uses a texture object as the address of its resource in memory (HIP's `texture_indirect_functions.h`).
//! `tex1Dfetch` compiles to a buffer instruction with a format; its resource is the object's first four dwords
//! (`__ockl_image_load_1Db` of ROCm's device libraries). Textures of arrays and pitched memory need image instructions
//! and samplers, which the emulator does not support. gfx942 and gfx950 have no images either, and clr's
//! `hipCreateTextureObject` rejects them.

use std::ffi::{c_uint, c_void};

use ferrowave_hip_abi::{
    hipChannelFormatDesc, hipChannelFormatKind as Kind, hipError_t, hipResourceDesc,
    hipResourceType, hipTextureDesc, hipTextureObject_t,
};

use super::{
    allocation::free,
    error::{Failure, out, read},
    objects::array::has_images,
    runtime::{Runtime, allocations::MadeBy},
};
use ferrowave_gpu::{Family, Gpu};

/// Required alignment of the address in clr's `hipCreateTextureObject`: `textureAlignment` of the device.
const ALIGNMENT: u64 = 256;
/// Size of an object in bytes: an image's resource and a sampler's, as far as device code uses them (HIP's
/// `HIP_IMAGE_OBJECT_SIZE_DWORD` and `HIP_SAMPLER_OBJECT_SIZE_DWORD`).
const OBJECT_BYTES: usize = 4 * (12 + 8);

/// HIP's `hipAddressModeBorder`. clr rejects it for linear memory, as well as anisotropy and levels.
const ADDRESS_MODE_BORDER: c_uint = 3;

fn not_supported(what: std::fmt::Arguments<'_>) -> Failure {
    Failure::new(hipError_t::hipErrorNotSupported, what)
}

/// The element format of a buffer resource.
struct Elements {
    bytes: u32,
    components: u32,
    /// Codes of the data format and number format (AMD's CDNA4 ISA guide, table 41).
    formats: (u32, u32),
}

impl Elements {
    fn new(desc: hipChannelFormatDesc, read_mode: c_uint) -> Result<Self, Failure> {
        let hipChannelFormatDesc { x, y, z, w, f } = desc;
        let all = [x, y, z, w];
        let components = all.iter().take_while(|bits| **bits == x).count();
        let unlike = all[components..].iter().any(|bits| *bits != 0);
        let data = match (x, components) {
            _ if unlike => None,
            (8, 1) => Some(1),
            (16, 1) => Some(2),
            (8, 2) => Some(3),
            (32, 1) => Some(4),
            (16, 2) => Some(5),
            (8, 4) => Some(10),
            (32, 2) => Some(11),
            (16, 4) => Some(12),
            (32, 4) => Some(14),
            _ => None,
        };
        let number = match (f, read_mode, x) {
            (Kind::hipChannelFormatKindUnsigned, 1, 8 | 16) => Some(0),
            (Kind::hipChannelFormatKindSigned, 1, 8 | 16) => Some(1),
            (Kind::hipChannelFormatKindUnsigned, 0, _) => Some(4),
            (Kind::hipChannelFormatKindSigned, 0, _) => Some(5),
            (Kind::hipChannelFormatKindFloat, 0 | 1, 16 | 32) => Some(7),
            _ => None,
        };
        let (Some(data), Some(number)) = (data, number) else {
            return Err(Failure::value(format_args!(
                "elements of {x}, {y}, {z} and {w} bits, of kind {} and read in mode {read_mode}; a texture has 1, 2 \
                 or 4 components of the same 8, 16 or 32 bits, floats (2) of 16 or 32, and reads integers of 8 or 16 \
                 as floats (1)",
                f.0
            )));
        };
        Ok(Elements {
            bytes: x as u32 / 8 * components as u32,
            components: components as u32,
            formats: (data, number),
        })
    }

    /// The buffer resource for `count` elements. Fields: AMD's CDNA4 ISA guide, «Buffer resource descriptor». Missing
    /// components read as 0, a missing last one as 1 (OpenCL's image channel orders, as in clr).
    fn resource(&self, base: u64, count: u32) -> [u32; 4] {
        let selects = (0..4).map(|register| match register {
            _ if register < self.components => 4 + register,
            3 => 1,
            _ => 0,
        });
        let selects = selects.rev().fold(0, |bits, select| bits << 3 | select);
        let (data, number) = self.formats;
        [
            base as u32,
            (base >> 32) as u32 & 0xffff | self.bytes << 16,
            count,
            selects | number << 12 | data << 15,
        ]
    }
}

pub(super) unsafe fn hipCreateTextureObject(
    object: *mut hipTextureObject_t,
    resource: *const hipResourceDesc,
    texture: *const hipTextureDesc,
    view: *const c_void,
) -> Result<(), Failure> {
    let object = out!(object);
    let (resource, texture) = (read!(resource), read!(texture));
    let device = Runtime::get().current()?;
    let gpu = device.config.gpu;
    if !has_images(gpu) {
        return Err(not_supported(format_args!("{gpu} has no images")));
    }
    if gpu.family() != Family::Cdna {
        return Err(not_supported(format_args!(
            "the emulator has no textures on {gpu}, only on {} and {}",
            Gpu::Gfx908,
            Gpu::Gfx90a
        )));
    }
    if resource.resType != hipResourceType::hipResourceTypeLinear {
        return Err(not_supported(format_args!(
            "a resource of type {}; the emulator has textures of linear memory (2) only",
            resource.resType.0
        )));
    }
    if !view.is_null() {
        return Err(Failure::value("linear memory has no view"));
    }
    let levels = [
        texture.mipmapLevelBias,
        texture.minMipmapLevelClamp,
        texture.maxMipmapLevelClamp,
    ];
    let border = texture.addressMode[0] == ADDRESS_MODE_BORDER;
    if border || texture.maxAnisotropy != 0 || texture.sRGB != 0 || levels != [0.0; 3] {
        return Err(not_supported(format_args!(
            "a texture with a border, anisotropy, levels or colours in sRGB"
        )));
    }
    let elements = Elements::new(resource.desc, texture.readMode)?;
    let (base, bytes) = (resource.devPtr.addr() as u64, resource.sizeInBytes);
    let room = device.memory.find(base).map_or(0, |info| info.end() - base);
    let count = u32::try_from(bytes / elements.bytes as usize).unwrap_or(0);
    if count == 0 || bytes as u64 > room || base % ALIGNMENT != 0 {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {base:#x}, of which {room} are allocated; a texture has at least one element and at most \
             {} in one allocation, from a multiple of {ALIGNMENT} on",
            u32::MAX
        )));
    }
    let words = elements.resource(base, count);
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let place = device.allocate(OBJECT_BYTES, MadeBy::Texture, 0)?;
    let address = place.addr() as u64;
    device.memory.fill(address, &[0], OBJECT_BYTES)?;
    device.memory.write(address, &words)?;
    object.set(place.cast());
    Ok(())
}

pub(super) unsafe fn hipDestroyTextureObject(object: hipTextureObject_t) -> Result<(), Failure> {
    let is_texture = |by: &MadeBy| matches!(by, MadeBy::Texture);
    free(object.cast(), is_texture, "hipCreateTextureObject")
}
