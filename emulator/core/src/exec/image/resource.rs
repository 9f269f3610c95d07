//! Image resources (T#): what an image is, and where its texels are.
//!
//! Fields are those that AMD's runtime writes (ROCR-Runtime, `image/resource_ai.h`, `resource_gfx11.h`,
//! `resource_gfx12.h`): eight dwords, in a layout for each generation.
//!
//! Images are linear and have one level. Tiled ones, those with more levels or samples, and cubes stop the launch. The
//! pitch of a linear image is a field of the resource on GFX9; on later GPUs only for images of one and two dimensions.
//! Rows of others are padded there to 256 bytes, on gfx12 to 128 (AMD's addrlib).

use ferrowave_gpu::{Family, Gpu};

use crate::exec::format::{ComponentPlace, Format, NoFormat, Number};

/// A field of a resource: its dword, lowest bit and width.
#[derive(Clone, Copy)]
struct Field {
    word: usize,
    low: u32,
    bits: u32,
}

const fn field(word: usize, low: u32, bits: u32) -> Field {
    Field { word, low, bits }
}

impl Field {
    fn of(self, words: &[u32; 8]) -> u32 {
        let ones = u32::MAX.checked_shr(32 - self.bits).unwrap_or(0);
        words[self.word] >> self.low & ones
    }

    /// Sets the field, which was 0, to the lowest bits of a value.
    fn set(self, words: &mut [u32; 8], value: u32) {
        let ones = u32::MAX.checked_shr(32 - self.bits).unwrap_or(0);
        words[self.word] |= (value & ones) << self.low;
    }
}

/// The fields whose places depend on the GPU.
struct Fields {
    /// The data format and number format; or the unified format.
    format: [Field; 2],
    /// The lower bits, and the others.
    width: [Field; 2],
    height: Field,
    depth: Field,
    pitch: Field,
    first_layer: Field,
    first_level: Field,
    last_level: Field,
}

const BASE: [Field; 2] = [field(0, 0, 32), field(1, 0, 8)];
const SELECT: Field = field(3, 0, 12);
const TILING: Field = field(3, 20, 5);
const KIND: Field = field(3, 28, 4);
const NONE: Field = field(0, 0, 0);

const GFX9: Fields = Fields {
    format: [field(1, 20, 6), field(1, 26, 4)],
    width: [field(2, 0, 2), field(2, 2, 12)],
    height: field(2, 14, 14),
    depth: field(4, 0, 13),
    pitch: field(4, 13, 16),
    first_layer: field(5, 0, 13),
    first_level: field(3, 12, 4),
    last_level: field(3, 16, 4),
};
const GFX11: Fields = Fields {
    format: [field(1, 20, 8), NONE],
    width: [field(1, 30, 2), field(2, 0, 12)],
    height: field(2, 14, 14),
    depth: field(4, 0, 13),
    pitch: field(4, 0, 14),
    first_layer: field(4, 16, 13),
    first_level: field(3, 12, 4),
    last_level: field(3, 16, 4),
};
const GFX12: Fields = Fields {
    format: [field(1, 17, 8), NONE],
    width: [field(1, 30, 2), field(2, 0, 14)],
    height: field(2, 14, 16),
    depth: field(4, 0, 14),
    pitch: field(4, 0, 16),
    first_layer: field(4, 16, 14),
    first_level: field(1, 25, 5),
    last_level: field(3, 15, 5),
};

/// The layout of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Gfx9,
    Gfx11,
    Gfx12,
}

impl Layout {
    pub(super) const ALL: [Layout; 3] = [Layout::Gfx9, Layout::Gfx11, Layout::Gfx12];

    pub(super) const fn of(gpu: Gpu) -> Self {
        match gpu.family() {
            Family::Cdna => Layout::Gfx9,
            Family::Rdna if gpu.is_rdna4() => Layout::Gfx12,
            Family::Rdna => Layout::Gfx11,
        }
    }

    const fn fields(self) -> &'static Fields {
        match self {
            Layout::Gfx9 => &GFX9,
            Layout::Gfx11 => &GFX11,
            Layout::Gfx12 => &GFX12,
        }
    }

    /// The alignment of rows whose pitch is not in the resource, in bytes.
    const fn row_alignment(self) -> u64 {
        match self {
            Layout::Gfx9 | Layout::Gfx11 => 256,
            Layout::Gfx12 => 128,
        }
    }

    const fn states_pitch(self, shape: Shape) -> bool {
        matches!(self, Layout::Gfx9) || matches!(shape, Shape::D1 | Shape::D2)
    }
}

/// The dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A row.
    D1,
    /// Rows.
    D2,
    /// Planes of rows.
    D3,
    /// Layers that are a row each.
    D1Array,
    /// Layers of rows.
    D2Array,
}

impl Shape {
    /// With their codes.
    const ALL: [(u32, Shape); 5] = [
        (8, Shape::D1),
        (9, Shape::D2),
        (10, Shape::D3),
        (12, Shape::D1Array),
        (13, Shape::D2Array),
    ];

    /// The number of dimensions that are not layers.
    pub(super) const fn axes(self) -> u16 {
        match self {
            Shape::D1 | Shape::D1Array => 1,
            Shape::D2 | Shape::D2Array => 2,
            Shape::D3 => 3,
        }
    }
}

/// What the texels of an image, or the elements of a typed buffer, are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    format: Format,
    /// All components but the last are sRGB's.
    srgb: bool,
}

/// GFX9's number format of sRGB, and the unified format of four 8-bit components of it.
const SRGB: u32 = 9;
const UNIFIED_SRGB: u32 = 66;

impl Elements {
    /// Elements of components of some bits, if there is such a format.
    pub fn new(components: usize, bits: u8, number: Number) -> Option<Self> {
        let format = Format::of(components, bits, number)?;
        Some(Elements {
            format,
            srgb: false,
        })
    }

    /// The same, stored as sRGB. Only four normalized bytes can be.
    pub fn in_srgb(self) -> Option<Self> {
        let bytes = Format::of(4, 8, Number::Unorm);
        (Some(self.format) == bytes).then_some(Elements { srgb: true, ..self })
    }

    /// Bytes of an element.
    pub fn bytes(&self) -> u32 {
        self.format.bytes()
    }

    /// What registers get: missing components are 0, a missing last one is 1 (OpenCL's image channel orders, as in CLR).
    fn select(&self) -> u32 {
        let components = self.format.components() as u32;
        let selects = (0..4).map(|register| match register {
            _ if register < components => FIRST_COMPONENT + register,
            3 => 1,
            _ => 0,
        });
        selects.rev().fold(0, |bits, select| bits << 3 | select)
    }

    /// The resource (V#) of a buffer of elements. `None` for sRGB, which buffers do not have.
    pub fn buffer(&self, gpu: Gpu, base: u64, count: u32) -> Option<[u32; 4]> {
        let format = match gpu.family() {
            _ if self.srgb => return None,
            Family::Cdna => {
                let (data, number) = self.format.codes();
                u32::from(number) << 12 | u32::from(data) << 15
            }
            Family::Rdna => u32::from(self.format.unified_code()?) << 12,
        };
        Some([
            base as u32,
            (base >> 32) as u32 & 0xffff | self.bytes() << 16,
            count,
            self.select() | format,
        ])
    }
}

/// The format of a resource.
fn elements(layout: Layout, words: &[u32; 8]) -> Result<Elements, NoImage> {
    let unsupported = |what: String| {
        move |reason| match reason {
            NoFormat::Unbound => NoImage::Unbound,
            NoFormat::Unknown => NoImage::Unsupported(what),
        }
    };
    let [code, number] = layout.fields().format.map(|field| field.of(words));
    let bytes = Format::of(4, 8, Number::Unorm);
    let (srgb, format, what) = match layout {
        Layout::Gfx9 => (
            number == SRGB && bytes.is_some_and(|bytes| u32::from(bytes.codes().0) == code),
            Format::new(code as u8, number as u8),
            format!("images of data format {code} and number format {number} are not supported"),
        ),
        _ => (
            code == UNIFIED_SRGB,
            Format::unified(code as u8),
            format!("images of format {code} are not supported"),
        ),
    };
    let format = match bytes {
        Some(bytes) if srgb => bytes,
        _ => format.map_err(unsupported(what))?,
    };
    Ok(Elements { format, srgb })
}

/// A linear image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    base: u64,
    pub(super) shape: Shape,
    elements: Elements,
    /// What each register gets: 0, 1, or from 4 on a component; 3 bits each.
    select: u32,
    /// Width, height, and depth or layers.
    pub(super) size: [u32; 3],
    first_layer: u32,
    /// Texels from a row to the next.
    pitch: u64,
}

/// Why there is no image.
pub(super) enum NoImage {
    /// The invalid format: loads read 0, stores write nothing.
    Unbound,
    Unsupported(String),
}

/// The first code of a selection that is a component.
const FIRST_COMPONENT: u32 = 4;

impl Image {
    /// The largest width, height, and depth or number of layers that all GPUs have.
    pub const LIMITS: [u32; 3] = [1 << 14, 1 << 14, 1 << 13];

    /// The alignment of the rows of images on a GPU, in bytes.
    pub const fn row_alignment(gpu: Gpu) -> u64 {
        Layout::of(gpu).row_alignment()
    }

    /// An image of a size (width, height, depth or layers; 1 for those that the shape lacks), at a multiple of 256 bytes. Its
    /// rows are `row_bytes` apart: a multiple of [`Self::row_alignment`], and for images with planes or layers the
    /// lowest that fits.
    pub fn new(
        base: u64,
        shape: Shape,
        elements: Elements,
        size: [u32; 3],
        row_bytes: u64,
    ) -> Self {
        Image {
            base,
            shape,
            elements,
            select: elements.select(),
            size,
            first_layer: 0,
            pitch: row_bytes / u64::from(elements.bytes()),
        }
    }

    /// The resource.
    pub fn words(&self, gpu: Gpu) -> [u32; 8] {
        let layout = Layout::of(gpu);
        let fields = layout.fields();
        let mut words = [0; 8];
        let format = self.elements.format;
        let codes = match layout {
            Layout::Gfx9 if self.elements.srgb => [u32::from(format.codes().0), SRGB],
            Layout::Gfx9 => {
                let (data, number) = format.codes();
                [data.into(), number.into()]
            }
            _ if self.elements.srgb => [UNIFIED_SRGB, 0],
            _ => [format.unified_code().unwrap_or(0).into(), 0],
        };
        for (field, code) in fields.format.into_iter().zip(codes) {
            field.set(&mut words, code);
        }
        let base = self.base >> 8;
        let kind = Shape::ALL.iter().find(|(_, shape)| *shape == self.shape);
        let last = self.size.map(|count| count - 1);
        BASE[0].set(&mut words, base as u32);
        BASE[1].set(&mut words, (base >> 32) as u32);
        SELECT.set(&mut words, self.select);
        KIND.set(&mut words, kind.map_or(0, |(code, _)| *code));
        fields.width[0].set(&mut words, last[0]);
        fields.width[1].set(&mut words, last[0] >> fields.width[0].bits);
        fields.height.set(&mut words, last[1]);
        fields.depth.set(&mut words, last[2]);
        fields.first_layer.set(&mut words, self.first_layer);
        if layout.states_pitch(self.shape) {
            fields.pitch.set(&mut words, (self.pitch - 1) as u32);
        }
        words
    }

    /// The image of a resource.
    pub(super) fn of(layout: Layout, words: &[u32; 8]) -> Result<Self, NoImage> {
        let unsupported = |what: String| Err(NoImage::Unsupported(what));
        let elements = elements(layout, words)?;
        let kind = KIND.of(words);
        let shape = match kind {
            11 => return unsupported("cube images are not supported".into()),
            14 | 15 => return unsupported("images with several samples are not supported".into()),
            _ => Shape::ALL.iter().find(|(code, _)| *code == kind),
        };
        let Some(&(_, shape)) = shape else {
            return unsupported(format!("a resource of type {kind} is not an image's"));
        };
        let fields = layout.fields();
        let tiling = TILING.of(words);
        if tiling != 0 {
            return unsupported(format!(
                "images with swizzle mode {tiling} are not supported, only linear ones (0)"
            ));
        }
        if fields.first_level.of(words) != 0 || fields.last_level.of(words) != 0 {
            return unsupported("images with mipmap levels are not supported".into());
        }
        let [low, high] = fields.width;
        let width = low.of(words) | high.of(words) << low.bits;
        let (height, depth) = (fields.height.of(words), fields.depth.of(words));
        let last = match shape {
            Shape::D1 => [width, 0, 0],
            Shape::D2 => [width, height, 0],
            Shape::D1Array => [width, 0, depth],
            Shape::D3 | Shape::D2Array => [width, height, depth],
        };
        let first_layer = match shape {
            Shape::D1 | Shape::D2 | Shape::D3 => 0,
            Shape::D1Array | Shape::D2Array => fields.first_layer.of(words),
        };
        let size = last.map(|last| last + 1);
        let bytes = u64::from(elements.bytes());
        let pitch = match layout.states_pitch(shape) {
            true => u64::from(fields.pitch.of(words)) + 1,
            false => (u64::from(size[0]) * bytes).next_multiple_of(layout.row_alignment()) / bytes,
        };
        let base = u64::from(BASE[0].of(words)) | u64::from(BASE[1].of(words)) << 32;
        Ok(Image {
            base: base << 8,
            shape,
            elements,
            select: SELECT.of(words),
            size,
            first_layer,
            pitch,
        })
    }

    pub(super) fn format(&self) -> &Format {
        &self.elements.format
    }

    /// A place that exists, counted from the resource's first layer.
    pub(super) fn inside(&self, [x, y, z]: [u32; 3]) -> Option<[u32; 3]> {
        let z = z.checked_add(self.first_layer)?;
        let [width, height, depth] = self.size;
        (x < width && y < height && z < depth).then_some([x, y, z])
    }

    /// The layer that is closest to one, counted from the resource's first layer.
    pub(super) fn layer(&self, layer: u32) -> u32 {
        layer.saturating_add(self.first_layer).min(self.size[2] - 1)
    }

    /// The address of the texel at a place.
    pub(super) fn address(&self, [x, y, z]: [u32; 3]) -> u64 {
        let row = u64::from(z) * u64::from(self.size[1]) + u64::from(y);
        let texel = row * self.pitch + u64::from(x);
        self.base + texel * u64::from(self.elements.bytes())
    }

    /// Converts a component to its value in a register.
    pub(super) fn in_register(&self, component: usize, place: ComponentPlace, unit: u32) -> u32 {
        let value = self.format().in_register(place, unit);
        if !self.elements.srgb || component == 3 {
            return value;
        }
        // IEC 61966-2-1.
        let value = f64::from(f32::from_bits(value));
        let linear = match value <= 0.04045 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        };
        (linear as f32).to_bits()
    }

    /// What registers get of a texel with these components.
    pub(super) fn selected(&self, components: [u32; 4]) -> [u32; 4] {
        std::array::from_fn(|register| match self.select >> (3 * register) & 7 {
            1 => self.format().one(),
            select @ FIRST_COMPONENT.. => components[(select - FIRST_COMPONENT) as usize],
            _ => 0,
        })
    }

    /// What registers get outside the image.
    pub(super) fn outside(&self) -> [u32; 4] {
        self.selected([0; 4])
    }

    /// The register that is stored as a component: that from which a load would get it.
    pub(super) fn stored(&self, component: usize, channels: &[u32; 4]) -> u32 {
        let wanted = FIRST_COMPONENT + component as u32;
        let register = (0..4).find(|register| self.select >> (3 * register) & 7 == wanted);
        register.map_or(0, |register| channels[register])
    }
}
