//! Samplers (S#): which texels a point in an image means, and with which weights.
//!
//! Fields are those that AMD's runtime writes (ROCR-Runtime, `image/resource_gfx11.h`): four dwords, alike on all GPUs as far
//! as they are used here.
//!
//! Coordinates have 8 fractional bits (Vulkan's `subTexelPrecisionBits` of AMD's drivers; hip-tests'
//! `texture_reference.hh`), to which they are rounded: for point filters, too. ROCm's device library rounds coordinates of
//! these down to whole texels, multiplies with a reciprocal, and relies on the sampler to get the same texels. How halves
//! are rounded is not documented. Integers are not filtered.

use super::resource::{Image, Shape};
use crate::exec::format::Number;

/// What a coordinate outside the image means (`SQ_TEX_CLAMP`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// The image is repeated.
    Wrap = 0,
    /// The image is repeated, every other time mirrored.
    Mirror = 1,
    /// The image's outermost texels.
    LastTexel = 2,
    /// The image is mirrored at 0, and beyond that [`Clamp::LastTexel`].
    MirrorOnceLastTexel = 3,
    /// The border's color.
    Border = 6,
}

impl Clamp {
    const ALL: [Clamp; 5] = [
        Clamp::Wrap,
        Clamp::Mirror,
        Clamp::LastTexel,
        Clamp::MirrorOnceLastTexel,
        Clamp::Border,
    ];
}

/// Where fields start: the address mode of x, with those of y and z above it; whether coordinates are not from 0 to 1
/// (dword 0); the filters of x and y for larger and for smaller images, and the filter of z (dword 2); the border's color
/// (dword 3).
const CLAMP: u32 = 0;
const UNNORMALIZED: u32 = 15;
const LARGER: u32 = 20;
const SMALLER: u32 = 22;
const DEPTH: u32 = 24;
const BORDER: u32 = 30;

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    clamp: [Clamp; 3],
    unnormalized: bool,
    /// Whether filters are linear: in x and y, in z.
    linear: [bool; 2],
    /// The border's color, and its alpha: whether they are 1.
    border: [bool; 2],
}

/// The texels that a point means along each axis: two, each with a weight; `None` is the border. A layer has no weight.
#[derive(Clone, Copy)]
pub(super) struct Place {
    axes: [[(Option<u32>, f64); 2]; 3],
}

impl Place {
    /// One of the texels, or the border, and its weight.
    pub(super) fn choose(&self, which: [usize; 3]) -> (Option<[u32; 3]>, f64) {
        let [(x, wx), (y, wy), (z, wz)]: [_; 3] =
            std::array::from_fn(|axis| self.axes[axis][which[axis]]);
        let place = match (x, y, z) {
            (Some(x), Some(y), Some(z)) => Some([x, y, z]),
            _ => None,
        };
        (place, wx * wy * wz)
    }

    /// The same texels, all with a weight.
    pub(super) fn with_equal_weights(mut self) -> Self {
        for (_, weight) in self.axes.as_flattened_mut() {
            *weight = 1.0;
        }
        self
    }
}

impl Sampler {
    /// A sampler with a border of zeros.
    pub fn new(clamp: Clamp, normalized: bool, linear: bool) -> Self {
        Sampler {
            clamp: [clamp; 3],
            unnormalized: !normalized,
            linear: [linear; 2],
            border: [false; 2],
        }
    }

    /// The sampler's dwords, like those that ROCR writes: z has no filter of its own, and all levels may be used.
    pub fn words(&self) -> [u32; 4] {
        let [linear, _] = self.linear.map(u32::from);
        let clamps = (0..).zip(self.clamp);
        let clamps = clamps.map(|(axis, clamp)| (clamp as u32) << (CLAMP + 3 * axis));
        [
            clamps.sum::<u32>() | u32::from(self.unnormalized) << UNNORMALIZED,
            4095 << 12,
            linear << LARGER | linear << SMALLER,
            0,
        ]
    }

    /// The sampler of some dwords, for an instruction that may say that its coordinates are in texels. Or what is not
    /// supported.
    pub(super) fn of(words: [u32; 4], unnormalized: bool) -> Result<Self, String> {
        let clamp = |axis: u32| {
            let code = words[0] >> (CLAMP + 3 * axis) & 7;
            let known = Clamp::ALL.into_iter().find(|clamp| *clamp as u32 == code);
            known.ok_or_else(|| format!("the address mode {code} of samplers is not supported"))
        };
        let filter = |low: u32| words[2] >> low & 3;
        let (larger, smaller, z) = (filter(LARGER), filter(SMALLER), filter(DEPTH));
        if larger != smaller {
            return Err("samplers with two filters are not supported".into());
        }
        if larger > 1 {
            return Err("anisotropic samplers are not supported".into());
        }
        let border = match words[3] >> BORDER {
            0 => [false, false],
            1 => [false, true],
            2 => [true, true],
            _ => return Err("border colors in memory are not supported".into()),
        };
        let linear = larger == 1;
        Ok(Sampler {
            clamp: [clamp(0)?, clamp(1)?, clamp(2)?],
            unnormalized: unnormalized || words[0] >> UNNORMALIZED & 1 != 0,
            // Without a filter of its own, z has that of the others: ROCm's samplers have none.
            linear: [linear, if z == 0 { linear } else { z == 2 }],
            border,
        })
    }

    /// Which axes of an image are filtered linearly.
    pub(super) fn filters(&self, image: &Image) -> [bool; 3] {
        let axes = usize::from(image.shape.axes());
        let integers = matches!(image.format().number, Number::Uint | Number::Sint);
        let [xy, z] = self.linear;
        let linear = [xy, xy, z];
        std::array::from_fn(|axis| axis < axes && linear[axis] && !integers)
    }

    /// The border's components.
    pub(super) fn border(&self, one: u32) -> [u32; 4] {
        let [color, alpha] = self.border.map(|is_one| if is_one { one } else { 0 });
        [color, color, color, alpha]
    }

    /// The texels that a point means.
    pub(super) fn places(
        &self,
        image: &Image,
        point: [f32; 3],
        layer: f32,
        linear: [bool; 3],
    ) -> Place {
        let axes = usize::from(image.shape.axes());
        let only = |n: u32| [(Some(n), 1.0), (Some(n), 0.0)];
        let mut place = Place {
            axes: std::array::from_fn(|axis| match axis < axes {
                true => self.axis(
                    point[axis],
                    image.size[axis],
                    self.clamp[axis],
                    linear[axis],
                ),
                false => only(0),
            }),
        };
        if matches!(image.shape, Shape::D1Array | Shape::D2Array) {
            // The conversion saturates, and NaN is 0.
            let layer = layer.round_ties_even() as u32;
            place.axes[2] = only(image.layer(layer));
        }
        place
    }

    /// The texels along an axis.
    fn axis(&self, at: f32, size: u32, clamp: Clamp, linear: bool) -> [(Option<u32>, f64); 2] {
        let at = match (self.unnormalized, clamp) {
            (true, _) => at,
            (false, Clamp::Wrap) => (at - at.floor()) * size as f32,
            (false, Clamp::Mirror) => (at - 2.0 * (at / 2.0).floor()) * size as f32,
            (false, _) => at * size as f32,
        };
        let texel = |n: i64| resolve(n, i64::from(size), clamp);
        // The conversion saturates, and NaN is 0.
        let fixed = (at * 256.0).round_ties_even() as i64;
        if !linear {
            return [(texel(fixed >> 8), 1.0), (None, 0.0)];
        }
        let fixed = fixed.saturating_sub(128);
        let (first, part) = (fixed >> 8, (fixed & 255) as f64 / 256.0);
        [(texel(first), 1.0 - part), (texel(first + 1), part)]
    }
}

/// The texel that stands for one that may be outside.
fn resolve(n: i64, size: i64, clamp: Clamp) -> Option<u32> {
    let last = size - 1;
    let inside = match clamp {
        Clamp::Wrap => n.rem_euclid(size),
        Clamp::Mirror => {
            let n = n.rem_euclid(2 * size);
            n.min(2 * size - 1 - n)
        }
        Clamp::LastTexel => n.clamp(0, last),
        Clamp::MirrorOnceLastTexel => n.max(-1 - n).min(last),
        Clamp::Border if (0..size).contains(&n) => n,
        Clamp::Border => return None,
    };
    Some(inside as u32)
}
