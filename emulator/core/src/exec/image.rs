//! Image loads, stores and samples: those that HIP's device library uses.
//!
//! Scalar registers hold the resource and the sampler. The modules `resource` and `sampler` have their fields, and say
//! what is supported. An access outside the image reads 0 (and 1 in registers that select 1), as in typed buffers, and
//! writes nothing. The mipmap level of `image_load_mip` and `image_store_mip` must be 0; any other is outside the image.
//! Images have one level, as ROCm on Linux makes them.
//!
//! Derivatives and levels of samples choose a level, so they change nothing here.
//!
//! A store that has fewer components than the format sets the others to 0, or on gfx12 to the first one (LLVM's subtarget
//! features `DefaultComponentZero` and `DefaultComponentBroadcast`). The unused half of a last register of D16 data
//! becomes 0.

mod resource;
mod sampler;

use ferrowave_gpu::Gpu;
use ferrowave_isa::{Dimension, Instruction, run};

pub use self::{
    resource::{Elements, Image, Shape},
    sampler::{Clamp, Sampler},
};

use self::{
    resource::{Layout, NoImage},
    sampler::Place,
};
use super::{
    Context, FaultKind, Wave,
    access::{self, Access},
    buffer::{self, put_status},
    lanes::Binder,
    operation::{Flow, Handler, Operation, Source, SourceKind},
    simd::{D, LANES},
    wave::{Lanes, lanes_of},
};
use crate::memory::shared::Moves;

/// What the addresses of an instruction have besides coordinates: [`Operation::detail`].
const LEVEL: u8 = 1;
const DERIVATIVES: u8 = 2;
/// It fetches one component of four texels.
const GATHER: u8 = 4;

pub(super) fn access<const C: usize>(b: Binder<C>, op: run::ImageAccess) -> (Handler, u8) {
    use run::ImageAccess as Op;
    let detail = match op {
        Op::image_load | Op::image_store => 0,
        Op::image_load_mip | Op::image_store_mip => LEVEL,
    };
    let handler = match op {
        Op::image_load | Op::image_load_mip => b.bind(|w, c, o| flow(load(w, c, o))),
        Op::image_store | Op::image_store_mip => b.bind(|w, c, o| flow(store(w, c, o))),
    };
    (handler, detail)
}

pub(super) fn sample<const C: usize>(b: Binder<C>, op: run::ImageSample) -> (Handler, u8) {
    use run::ImageSample as Op;
    let detail = match op {
        Op::image_sample | Op::image_sample_lz => 0,
        Op::image_sample_l => LEVEL,
        Op::image_sample_d => DERIVATIVES,
        Op::image_gather4_lz => GATHER,
    };
    (b.bind(|w, c, o| flow(sampled(w, c, o))), detail)
}

/// What a wave does after an operation that may stop it.
fn flow(result: Result<(), Flow>) -> Flow {
    match result {
        Ok(()) => Flow::Next,
        Err(flow) => flow,
    }
}

/// The fields of an image instruction, packed for [`Operation::imm`].
pub(super) fn packed(gpu: Gpu, i: &Instruction) -> i64 {
    let image = &i.image;
    let bit = |set: bool, at: u32| u64::from(set) << at;
    let fields = u64::from(u32::from_le_bytes(image.first))
        | u64::from(image.first_count) << 32
        | u64::from(image.dmask) << 36
        | (image.dimension as u64) << 40
        | (Layout::of(gpu) as u64) << 44
        | bit(image.array, 48)
        | bit(image.unnormalized, 49)
        | bit(image.d16, 50);
    fields as i64
}

/// Whether an instruction has a setting that these handlers would ignore.
pub(super) fn ignores_something(i: &Instruction) -> bool {
    let image = &i.image;
    let msaa = matches!(image.dimension, Dimension::D2Msaa | Dimension::D2MsaaArray);
    let samples_cube =
        image.dimension == Dimension::Cube && i.src[3].source != ferrowave_isa::Source::None;
    image.a16 || image.r128 || image.lwe || image.dmask == 0 || msaa || samples_cube
}

/// An operation's fields.
struct Fields {
    first: [u8; 4],
    first_count: u16,
    /// The first register of the other addresses.
    rest: u16,
    dmask: u32,
    dimension: Dimension,
    layout: Layout,
    array: bool,
    unnormalized: bool,
    d16: bool,
}

/// Where the coordinates are among an operation's addresses.
struct Coordinates {
    first: u16,
    /// Those that are not a layer.
    spatial: u16,
    has_layer: bool,
}

impl Fields {
    fn of(o: &Operation) -> Self {
        let bits = o.imm as u64;
        let field = |at: u32| (bits >> at & 15) as u32;
        Fields {
            first: (bits as u32).to_le_bytes(),
            first_count: field(32) as u16,
            rest: o.src[0].register,
            dmask: field(36),
            dimension: Dimension::from_code(field(40)),
            layout: Layout::ALL[field(44) as usize],
            array: bits >> 48 & 1 != 0,
            unnormalized: bits >> 49 & 1 != 0,
            d16: bits >> 50 & 1 != 0,
        }
    }

    /// The register of an address.
    fn register(&self, address: u16) -> u16 {
        match self.first[..usize::from(self.first_count)].get(usize::from(address)) {
            Some(register) => u16::from(*register),
            None => self.rest + address - self.first_count,
        }
    }

    fn coordinates(&self, shape: Shape, more: u8) -> Coordinates {
        let (spatial, has_layer) = match self.layout {
            Layout::Gfx9 => (shape.axes(), self.array),
            _ => match self.dimension {
                Dimension::D1 => (1, false),
                Dimension::D2 | Dimension::D2Msaa => (2, false),
                Dimension::D3 => (3, false),
                Dimension::D1Array => (1, true),
                // The layer of a cube is a face.
                Dimension::Cube | Dimension::D2Array | Dimension::D2MsaaArray => (2, true),
            },
        };
        Coordinates {
            first: match more & DERIVATIVES != 0 {
                true => 2 * spatial,
                false => 0,
            },
            spatial,
            has_layer,
        }
    }

    /// The components that are loaded or stored, in the order of their registers.
    fn components(&self) -> impl Iterator<Item = usize> {
        let mask = self.dmask;
        (0..4).filter(move |component| mask >> component & 1 != 0)
    }
}

/// The scalar registers of a source; 0 for `null`.
fn words<const N: usize, const C: usize>(w: &Wave<C>, source: &Source) -> [u32; N] {
    std::array::from_fn(|n| match source.kind {
        SourceKind::Scalar => w.scalar(source.register + n as u16),
        _ => 0,
    })
}

/// The components of a lane's texel as registers get them.
type Texel = [u32; 4];

/// Reads a texel for each of some lanes.
fn texels<const C: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    image: &Image,
    places: &[Option<[u32; 3]>; LANES],
    lanes: u64,
) -> Result<[Texel; LANES], Flow> {
    let mut texels = [image.outside(); LANES];
    let found = reach::<C>(c, o, image, places, lanes, false)?;
    found.each(|lane, address| {
        let components = std::array::from_fn(|component| {
            if component >= image.format().components() {
                return 0;
            }
            let place = image.format().place(component);
            // SAFETY: the lane is active, so the texel's bytes were checked.
            let unit =
                unsafe { buffer::typed::read_unit(found.moves, address + place.at, place.bytes) };
            image.in_register(component, place, unit)
        });
        texels[lane] = image.selected(components);
    });
    Ok(texels)
}

/// The addresses of the texels at these places, checked.
fn reach<const C: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    image: &Image,
    places: &[Option<[u32; 3]>; LANES],
    lanes: u64,
    write: bool,
) -> Result<Access<C>, Flow> {
    let (mut addresses, mut inside) = ([[0; 16]; C], 0);
    for lane in lanes_of(lanes) {
        if let Some(place) = places[lane] {
            addresses[lane / 16][lane % 16] = image.address(place);
            inside |= 1 << lane;
        }
    }
    let access = Access {
        addresses: addresses.map(D::from_array),
        exec: inside,
        moves: c.moves,
    };
    if inside == 0 {
        return Ok(access);
    }
    match access::check_global(c, o, &access, image.format().bytes(), write) {
        Flow::Next => Ok(access),
        flow => Err(flow),
    }
}

/// The places that loads and stores name, for lanes whose place is in the image.
fn named<const C: usize>(
    w: &Wave<C>,
    fields: &Fields,
    image: &Image,
    more: u8,
) -> [Option<[u32; 3]>; LANES] {
    let Coordinates {
        spatial, has_layer, ..
    } = fields.coordinates(image.shape, more);
    let count = spatial + u16::from(has_layer);
    let mut places = [None; LANES];
    for lane in lanes_of(w.active()) {
        let address = |n: u16| w.lanes(fields.register(n)).as_array()[lane];
        let if_there = |there: bool, n: u16| if there { address(n) } else { 0 };
        let axis = |n: u16| if_there(n < spatial.min(image.shape.axes()), n);
        let last = match image.shape {
            Shape::D3 => axis(2),
            _ => if_there(has_layer, spatial),
        };
        let place = [axis(0), axis(1), last];
        let level = if_there(more & LEVEL != 0, count);
        places[lane] = image.inside(place).filter(|_| level == 0);
    }
    places
}

/// The image of an operation, unless there is none or no lane needs it.
fn image<const C: usize>(
    w: &Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    fields: &Fields,
) -> Result<Option<Image>, Flow> {
    if w.active() == 0 {
        return Ok(None);
    }
    match Image::of(fields.layout, &words(w, &o.src[2])) {
        Ok(image) => Ok(Some(image)),
        Err(NoImage::Unbound) => Ok(None),
        Err(NoImage::Unsupported(what)) => Err(c.fail(FaultKind::Unsupported { what })),
    }
}

fn load<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Result<(), Flow> {
    let fields = Fields::of(o);
    let image = image(w, c, o, &fields)?;
    let texels = match &image {
        None => [[0; 4]; LANES],
        Some(image) => {
            let places = named(w, &fields, image, o.detail);
            texels::<C>(c, o, image, &places, w.active())?
        }
    };
    put(w, o, &fields, image.as_ref(), &texels, fields.components());
    Ok(())
}

/// Writes components of texels to the result's registers.
fn put<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    fields: &Fields,
    image: Option<&Image>,
    texels: &[Texel; LANES],
    components: impl Iterator<Item = usize>,
) {
    let mut register = o.dst;
    let mut results = [Lanes::splat(0); 4];
    let mut count = 0;
    for component in components {
        for (result, texel) in results[count].as_mut_array().iter_mut().zip(texels) {
            *result = match image {
                Some(image) if fields.d16 => image.format().halved(texel[component]),
                _ => texel[component],
            };
        }
        count += 1;
    }
    let per_register = if fields.d16 { 2 } else { 1 };
    for halves in results[..count].chunks(per_register) {
        let mut merged = halves[0];
        if let Some(high) = halves.get(1) {
            for (value, high) in merged.as_mut_array().iter_mut().zip(high.as_array()) {
                *value |= high << 16;
            }
        }
        w.commit(register, *merged.chunks());
        register += 1;
    }
    put_status(w, o, register);
}

fn store<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Result<(), Flow> {
    let fields = Fields::of(o);
    let Some(image) = image(w, c, o, &fields)? else {
        return Ok(());
    };
    let places = named(w, &fields, &image, o.detail);
    let found = reach::<C>(c, o, &image, &places, w.active(), true)?;
    let value = |lane: usize, number: usize| {
        let first = o.src[1].register;
        if !fields.d16 {
            return w.lanes(first + number as u16).as_array()[lane];
        }
        let register = w.lanes(first + number as u16 / 2).as_array()[lane];
        image
            .format()
            .unhalved(register >> (number % 2 * 16) & 0xffff)
    };
    found.each(|lane, address| {
        let mut channels = match fields.layout {
            Layout::Gfx12 => [value(lane, 0); 4],
            _ => [0; 4],
        };
        for (number, component) in fields.components().enumerate() {
            channels[component] = value(lane, number);
        }
        write(found.moves, address, &image, &channels);
    });
    Ok(())
}

/// Writes a texel whose bytes were checked.
fn write(moves: Moves, address: u64, image: &Image, channels: &Texel) {
    let mut units = [0_u32; 4];
    let mut unit_bytes = 4;
    for component in 0..image.format().components() {
        let place = image.format().place(component);
        unit_bytes = place.bytes;
        let unit = &mut units[(place.at / u64::from(place.bytes)) as usize];
        *unit |= image
            .format()
            .in_unit(place, image.stored(component, channels));
    }
    let count = image.format().bytes() / unit_bytes;
    for (at, unit) in (0_u64..)
        .step_by(unit_bytes as usize)
        .zip(units)
        .take(count as usize)
    {
        // SAFETY: the texel's bytes were checked.
        unsafe { buffer::typed::write_unit(moves, address + at, unit_bytes, unit) };
    }
}

fn sampled<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Result<(), Flow> {
    let fields = Fields::of(o);
    let image = image(w, c, o, &fields)?;
    let gathers = o.detail & GATHER != 0;
    let mut result = [[0; 4]; LANES];
    if let Some(image) = &image {
        let sampler = Sampler::of(words(w, &o.src[3]), fields.unnormalized);
        let sampler = sampler.map_err(|what| c.fail(FaultKind::Unsupported { what }))?;
        let coordinates = fields.coordinates(image.shape, o.detail);
        let points = points(w, &fields, &coordinates, image.shape);
        result = match gathers {
            true => {
                let component = fields.dmask.trailing_zeros() as usize;
                gathered::<C>(w, c, o, image, &sampler, &points, component)?
            }
            false => filtered::<C>(w, c, o, image, &sampler, &points)?,
        };
    }
    match gathers {
        true => put(w, o, &fields, image.as_ref(), &result, 0..4),
        false => put(w, o, &fields, image.as_ref(), &result, fields.components()),
    }
    Ok(())
}

/// The coordinates of each lane, and the layer.
fn points<const C: usize>(
    w: &Wave<C>,
    fields: &Fields,
    coordinates: &Coordinates,
    shape: Shape,
) -> [([f32; 3], f32); LANES] {
    let mut points = [([0.0; 3], 0.0); LANES];
    for lane in lanes_of(w.active()) {
        let address = |n: u16| {
            let register = fields.register(coordinates.first + n);
            f32::from_bits(w.lanes(register).as_array()[lane])
        };
        let axes = coordinates.spatial.min(shape.axes());
        let (point, layer) = &mut points[lane];
        for (axis, n) in point.iter_mut().zip(0..axes) {
            *axis = address(n);
        }
        if coordinates.has_layer {
            *layer = address(coordinates.spatial);
        }
    }
    points
}

/// Reads the texels that one of the places of each lane names: `which` chooses between two along each axis. Returns them
/// with their weights.
fn tap<const C: usize>(
    w: &Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    image: &Image,
    sampler: &Sampler,
    places: &[Place; LANES],
    which: [usize; 3],
) -> Result<([Texel; LANES], [f64; LANES]), Flow> {
    let (mut wanted, mut weights) = ([None; LANES], [0.0; LANES]);
    let (mut lanes, mut border) = (0, 0);
    for lane in lanes_of(w.active()) {
        let (place, weight) = places[lane].choose(which);
        if weight == 0.0 {
            continue;
        }
        weights[lane] = weight;
        wanted[lane] = place;
        match place {
            Some(_) => lanes |= 1 << lane,
            None => border |= 1 << lane,
        }
    }
    let mut texels = texels::<C>(c, o, image, &wanted, lanes)?;
    for lane in lanes_of(border) {
        texels[lane] = image.selected(sampler.border(image.format().one()));
    }
    Ok((texels, weights))
}

fn filtered<const C: usize>(
    w: &Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    image: &Image,
    sampler: &Sampler,
    points: &[([f32; 3], f32); LANES],
) -> Result<[Texel; LANES], Flow> {
    let filter = sampler.filters(image);
    let places = points.map(|(point, layer)| sampler.places(image, point, layer, filter));
    if filter == [false; 3] {
        let (texels, _) = tap::<C>(w, c, o, image, sampler, &places, [0; 3])?;
        return Ok(texels);
    }
    // The weights have at most 24 bits, so that a product with an f32 is exact.
    let mut sums = [[0.0; 4]; LANES];
    for number in 0..8 {
        let which = [number & 1, number >> 1 & 1, number >> 2];
        if which
            .iter()
            .zip(filter)
            .any(|(second, linear)| *second == 1 && !linear)
        {
            continue;
        }
        let (texels, weights) = tap::<C>(w, c, o, image, sampler, &places, which)?;
        for lane in lanes_of(w.active()).filter(|&lane| weights[lane] != 0.0) {
            for (sum, value) in sums[lane].iter_mut().zip(texels[lane]) {
                *sum += weights[lane] * f64::from(f32::from_bits(value));
            }
        }
    }
    Ok(sums.map(|sums| sums.map(|sum| (sum as f32).to_bits())))
}

/// One component of the four texels that a linear filter would use, counterclockwise from the lower left one (RDNA 3 ISA
/// guide, «image_gather4»).
fn gathered<const C: usize>(
    w: &Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    image: &Image,
    sampler: &Sampler,
    points: &[([f32; 3], f32); LANES],
    component: usize,
) -> Result<[Texel; LANES], Flow> {
    let places = points.map(|(point, layer)| {
        let place = sampler.places(image, point, layer, [true, true, false]);
        place.with_equal_weights()
    });
    let mut result = [[0; 4]; LANES];
    let corners = [[0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]];
    for (n, which) in corners.into_iter().enumerate() {
        let (texels, _) = tap::<C>(w, c, o, image, sampler, &places, which)?;
        for (result, texel) in result.iter_mut().zip(texels) {
            result[n] = texel[component];
        }
    }
    Ok(result)
}
