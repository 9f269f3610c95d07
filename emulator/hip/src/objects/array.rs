//! Arrays: memory of elements in up to three dimensions, as linear images of their GPU.

use std::sync::{Arc, LazyLock};

use ferrowave_emulator::exec::image::{Image, Shape};
use ferrowave_gpu::Gpu;
use ferrowave_hip_abi::{
    HIP_ARRAY3D_DESCRIPTOR, hipArray, hipArray_Format as Format, hipArrayLayered,
    hipArraySurfaceLoadStore, hipArrayTextureGather, hipError_t,
};

use super::transfer::{Extent, Side};
use crate::{
    error::Failure,
    handles::Handles,
    runtime::{Device, allocations::MadeBy},
};

/// An array.
pub(crate) struct Array {
    pub(crate) device: Arc<Device>,
    pub(crate) description: HIP_ARRAY3D_DESCRIPTOR,
    /// The first element's address.
    base: u64,
    element_bytes: usize,
    /// Bytes from a row to the next.
    row_bytes: usize,
}

/// Arrays by handle.
pub(crate) static ARRAYS: LazyLock<Handles<Array>> = LazyLock::new(Handles::new);

/// The array of a handle.
pub(crate) fn array(handle: *const hipArray) -> Result<Arc<Array>, Failure> {
    let found = ARRAYS.get(handle.addr());
    found.ok_or_else(|| Failure::handle("array", handle.addr()))
}

fn failure(description: &HIP_ARRAY3D_DESCRIPTOR, why: &str) -> Failure {
    let HIP_ARRAY3D_DESCRIPTOR {
        Width,
        Height,
        Depth,
        ..
    } = description;
    Failure::value(format_args!(
        "an array of {Width} × {Height} × {Depth} elements {why}"
    ))
}

/// Whether a GPU has images, and so arrays in ROCm (`imageSupport_` in CLR's `rocdevice.cpp`).
pub(crate) fn has_images(gpu: Gpu) -> bool {
    !matches!(gpu, Gpu::Gfx942 | Gpu::Gfx950)
}

/// Bytes of a channel.
pub(crate) fn channel_bytes(format: Format) -> Result<usize, Failure> {
    match format {
        Format::HIP_AD_FORMAT_UNSIGNED_INT8 | Format::HIP_AD_FORMAT_SIGNED_INT8 => Ok(1),
        Format::HIP_AD_FORMAT_UNSIGNED_INT16
        | Format::HIP_AD_FORMAT_SIGNED_INT16
        | Format::HIP_AD_FORMAT_HALF => Ok(2),
        Format::HIP_AD_FORMAT_UNSIGNED_INT32
        | Format::HIP_AD_FORMAT_SIGNED_INT32
        | Format::HIP_AD_FORMAT_FLOAT => Ok(4),
        Format(other) => Err(Failure::value(format_args!(
            "{other:#x} is not a format of arrays; they are 1 to 3, 8 to 10, 0x10 and 0x20"
        ))),
    }
}

impl Array {
    /// Makes an array (`ihipArrayCreate` in CLR's `hip_memory.cpp`).
    pub(crate) fn new(
        device: Arc<Device>,
        description: HIP_ARRAY3D_DESCRIPTOR,
    ) -> Result<Arc<Self>, Failure> {
        let HIP_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: depth,
            NumChannels: channels,
            Flags: flags,
            ..
        } = description;
        if ![1, 2, 4].contains(&channels) {
            return Err(Failure::value(format_args!(
                "an array's elements have 1, 2 or 4 channels, not {channels}"
            )));
        }
        let known = hipArrayLayered | hipArraySurfaceLoadStore | hipArrayTextureGather;
        if flags & !known != 0 {
            return Err(Failure::value(format_args!(
                "flags are {flags:#x}, of which only {known:#x} are known"
            )));
        }
        if flags & hipArrayTextureGather != 0 && (height == 0 || depth > 0) {
            return Err(failure(
                &description,
                "cannot be gathered; it must have two dimensions",
            ));
        }
        let element_bytes = channel_bytes(description.Format)? * channels as usize;
        if !has_images(device.row.gpu) {
            return Err(Failure::new(
                hipError_t::hipErrorNotSupported,
                format_args!("{} has no images, and so no arrays", device.row.gpu),
            ));
        }
        let exists = match flags & hipArrayLayered != 0 {
            true => width > 0 && depth > 0,
            false => width > 0 && (height > 0 || depth == 0),
        };
        if !exists {
            return Err(failure(&description, "does not exist"));
        }
        let mut sizes = [width, height, depth].into_iter().zip(Image::LIMITS);
        if sizes.any(|(size, limit)| size > limit as usize) {
            return Err(failure(&description, "is larger than images can be"));
        }
        let alignment = Image::row_alignment(device.row.gpu) as usize;
        let row_bytes = width.checked_mul(element_bytes);
        let row_bytes = row_bytes.and_then(|bytes| bytes.checked_next_multiple_of(alignment));
        let counts = [height.max(1), depth.max(1)].into_iter();
        let bytes = counts.fold(row_bytes, |bytes, count| bytes?.checked_mul(count));
        let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
        let (Some(row_bytes), Some(bytes)) = (row_bytes, bytes) else {
            return Err(failure(&description, "is larger than an address space"));
        };
        let base = device.allocate(bytes, MadeBy::Array, 0)?.addr() as u64;
        Ok(Arc::new(Array {
            device,
            description,
            base,
            element_bytes,
            row_bytes,
        }))
    }

    /// Frees the memory of an array whose handle was removed.
    pub(crate) fn free(&self) -> Result<(), Failure> {
        let made = self
            .device
            .allocations
            .take(self.base, |by| matches!(by, MadeBy::Array));
        // A device that was reset has freed it.
        match made {
            Some(_) => self.device.release(self.base),
            None => Ok(()),
        }
    }

    pub(crate) const fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    pub(crate) const fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Its dimensions as an image's.
    pub(crate) const fn shape(&self) -> Shape {
        let HIP_ARRAY3D_DESCRIPTOR {
            Height,
            Depth,
            Flags,
            ..
        } = self.description;
        match (Flags & hipArrayLayered != 0, Height, Depth) {
            (true, 0, _) => Shape::D1Array,
            (true, ..) => Shape::D2Array,
            (false, 0, _) => Shape::D1,
            (false, _, 0) => Shape::D2,
            (false, ..) => Shape::D3,
        }
    }

    /// Width, height, and depth or layers; 1 for those that it lacks.
    pub(crate) fn image_size(&self) -> [usize; 3] {
        let HIP_ARRAY3D_DESCRIPTOR {
            Width,
            Height,
            Depth,
            ..
        } = self.description;
        [Width, Height.max(1), Depth.max(1)]
    }

    /// Whether its layers are rows, which copies address as such.
    pub(crate) const fn has_layers_of_one_row(&self) -> bool {
        self.description.Flags & hipArrayLayered != 0 && self.description.Height == 0
    }

    /// Bytes of a row, rows of a layer, layers.
    pub(crate) fn extent(&self) -> Extent {
        let HIP_ARRAY3D_DESCRIPTOR {
            Width,
            Height,
            Depth,
            ..
        } = self.description;
        let (height, depth) = match self.has_layers_of_one_row() {
            true => (Depth, 1),
            false => (Height.max(1), Depth.max(1)),
        };
        Extent {
            width: Width * self.element_bytes,
            height,
            depth,
        }
    }

    /// A region from a position on, in bytes, rows and layers. `what` names it in errors.
    pub(crate) fn side(
        &self,
        [x, y, z]: [usize; 3],
        of: Extent,
        what: &str,
    ) -> Result<Side, Failure> {
        let all = self.extent();
        let fits = |at: usize, length, all| at.checked_add(length).is_some_and(|end| end <= all);
        let inside = fits(x, of.width, all.width)
            && fits(y, of.height, all.height)
            && fits(z, of.depth, all.depth);
        if !inside {
            return Err(Failure::value(format_args!(
                "{} layers of {} rows of {} bytes from layer {z}, row {y} and byte {x} on are not inside the {what}, an \
                 array of {} × {} × {}",
                of.depth, of.height, of.width, all.depth, all.height, all.width
            )));
        }
        let layer = self.row_bytes * all.height;
        Ok(Side {
            address: self.base + (z * layer + y * self.row_bytes + x) as u64,
            pitch: self.row_bytes,
            layer,
        })
    }
}
