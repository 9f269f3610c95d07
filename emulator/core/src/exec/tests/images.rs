//! Image instructions: registers of data and addresses, places outside, and resources that the emulator refuses.
//! What samplers compute is tested where HIP makes them (`emulator/hip`), and with AMD's compiler (`tests/real_programs`).

use ferrowave_gpu::{Gpu, GpuLimits};

use super::{Bench, UNTOUCHED, wave};
use crate::exec::{
    FaultKind, Number, Wave,
    image::{Clamp, Elements, Image, Sampler, Shape},
};
use crate::memory::{AllocationKind, DeviceMemory};

const GPUS: [Gpu; 4] = [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx1100, Gpu::Gfx1201];
const RESOURCE: u16 = 8;
const SAMPLER: u16 = 16;
const WIDTH: u32 = 5;
const HEIGHT: u32 = 3;
const ROW: u64 = 256;

/// An image of four bytes each, and its memory: byte `c` of the texel in column x and row y is 64 · c + 8 · y + x.
fn bytes(gpu: Gpu) -> (DeviceMemory, Image) {
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(HEIGHT as usize * ROW as usize, AllocationKind::Device);
    let base = base.expect("memory");
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let texel = [0, 1, 2, 3].map(|c| (64 * c + 8 * y + x) as u8);
            let at = base + u64::from(y) * ROW + 4 * u64::from(x);
            memory.write(at, &texel).expect("its own memory");
        }
    }
    let elements = Elements::new(4, 8, Number::Unorm).expect("a format");
    assert_eq!(Image::row_alignment(gpu).max(256), ROW);
    let image = Image::new(base, Shape::D2, elements, [WIDTH, HEIGHT, 1], ROW);
    (memory, image)
}

/// A wave with resource and sampler. Lanes are at x = lane - 1, y = lane / 16, in v0 and v1, also as floats in v2 and v3.
fn prepared(gpu: Gpu, image: &Image) -> Wave {
    let mut wave = wave();
    wave.set_lane_count(GpuLimits::of(gpu).wave_size);
    let sampler = Sampler::new(Clamp::Border, false, true);
    for (register, word) in (RESOURCE..).zip(image.words(gpu)) {
        wave.set_scalar(register, word);
    }
    for (register, word) in (SAMPLER..).zip(sampler.words()) {
        wave.set_scalar(register, word);
    }
    for lane in 0..64 {
        let (x, y) = (lane % 16 - 1, lane / 16);
        let values = [
            x as u32,
            y as u32,
            (x as f32 + 0.5).to_bits(),
            (y as f32 + 0.5).to_bits(),
        ];
        for (register, value) in (0..).zip(values) {
            wave.lanes_mut(register).as_mut_array()[lane as usize] = value;
        }
    }
    wave
}

/// The byte that a lane reads, or `None` outside.
fn byte(lane: i32, component: i32) -> Option<i32> {
    let (x, y) = (lane % 16 - 1, lane / 16);
    let inside = (0..WIDTH as i32).contains(&x) && y < HEIGHT as i32;
    inside.then_some(64 * component + 8 * y + x)
}

fn unorm(lane: i32, component: i32) -> f32 {
    byte(lane, component).map_or(0.0, |byte| byte as f32 / 255.0)
}

/// An instruction's line: addresses and modifiers as the GPU has them.
fn line(gpu: Gpu, name: &str, data: &str, rest: &str) -> String {
    let samples = name.contains("sample");
    let (addresses, sampler) = match (samples, gpu) {
        (true, Gpu::Gfx1201) => ("[v2, v3]", ", s[16:19]"),
        (true, _) => ("v[2:3]", ", s[16:19]"),
        (false, Gpu::Gfx1201) => ("[v0, v1]", ""),
        (false, _) => ("v[0:1]", ""),
    };
    let dimension = match gpu {
        Gpu::Gfx908 | Gpu::Gfx90a if samples => "",
        Gpu::Gfx908 | Gpu::Gfx90a => " unorm",
        _ => " dim:SQ_RSRC_IMG_2D",
    };
    // d16 and tfe come last.
    let (mask, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    format!("{name} {data}, {addresses}, s[8:15]{sampler} dmask:{mask}{dimension} {rest}")
}

#[test]
fn loads_put_the_components_of_their_mask_into_registers() {
    for gpu in GPUS {
        let (memory, image) = bytes(gpu);
        let masked = line(gpu, "image_load", "v[8:9]", "0xa");
        let halves = line(gpu, "image_load", "v[12:13]", "0x7 d16");
        let status = line(gpu, "image_load", "v[16:17]", "0x4 tfe");
        let sampled = match gpu {
            Gpu::Gfx90a => line(gpu, "image_sample", "v[20:21]", "0x9"),
            _ => line(gpu, "image_sample_lz", "v[20:21]", "0x9"),
        };
        let mut lines = vec![masked, halves, sampled];
        // gfx90a has accumulators where others have the status.
        if gpu != Gpu::Gfx90a {
            lines.push(status);
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let bench = Bench::new(gpu, &lines);
        for level in bench.levels() {
            let mut wave = prepared(gpu, &image);
            wave.exec &= !(1 << 5);
            for index in 0..lines.len() {
                let result = bench.step_with(level, index, &mut wave, &memory.view(), &mut []);
                assert!(result.is_ok(), "{gpu}, {}: {result:?}", lines[index]);
            }
            for lane in 0..GpuLimits::of(gpu).wave_size as i32 {
                let get = |register: u16| wave.lanes(register).as_array()[lane as usize];
                if lane == 5 {
                    assert!((8..22).all(|register| get(register) == UNTOUCHED), "{gpu}");
                    continue;
                }
                let (y, w) = (unorm(lane, 1), unorm(lane, 3));
                assert_eq!(
                    [get(8), get(9)].map(f32::from_bits),
                    [y, w],
                    "{gpu} lane {lane}"
                );
                // Towards zero, as in buffers.
                let half = |register: u16, part: u32| {
                    let bits = (get(register) >> (16 * part)) as u16;
                    f64::from(f16::from_bits(bits) as f32)
                };
                let near = |a: f64, b: f32| {
                    (f64::from(b) - a) <= f64::from(b) / 1024.0 && a <= f64::from(b)
                };
                assert!(near(half(12, 0), unorm(lane, 0)), "{gpu} lane {lane}");
                assert!(
                    near(half(12, 1), y) && near(half(13, 0), unorm(lane, 2)),
                    "{gpu} lane {lane}"
                );
                assert_eq!(get(13) >> 16, 0, "{gpu} lane {lane}");
                let (x, w) = (unorm(lane, 0), unorm(lane, 3));
                assert_eq!(
                    [get(20), get(21)].map(f32::from_bits),
                    [x, w],
                    "{gpu} lane {lane}"
                );
                if gpu != Gpu::Gfx90a {
                    assert_eq!(f32::from_bits(get(16)), unorm(lane, 2), "{gpu} lane {lane}");
                    assert_eq!(get(17), 0, "the status");
                }
            }
        }
    }
}

#[test]
fn missing_components_are_stored_as_the_gpu_has_it() {
    for gpu in GPUS {
        let (memory, image) = bytes(gpu);
        let store = line(gpu, "image_store", "v[4:5]", "0x5");
        let bench = Bench::new(gpu, &[store.as_str()]);
        for level in bench.levels() {
            let mut wave = prepared(gpu, &image);
            for lane in 0..64 {
                wave.lanes_mut(4).as_mut_array()[lane] = 1_f32.to_bits();
                wave.lanes_mut(5).as_mut_array()[lane] = 0.2_f32.to_bits();
            }
            let result = bench.step_with(level, 0, &mut wave, &memory.view(), &mut []);
            assert!(result.is_ok(), "{gpu}: {result:?}");
            let mut texel = [7; 4];
            let words = image.words(gpu);
            let base = u64::from(words[0]) << 8 | u64::from(words[1] & 0xff) << 40;
            let at = base + ROW + 4 * 2;
            memory.read(at, &mut texel).expect("its own memory");
            let rest = if gpu == Gpu::Gfx1201 { 255 } else { 0 };
            assert_eq!(texel, [255, rest, 51, rest], "{gpu}");
            // Behind the row's end there is no texel.
            memory
                .read(base + 4 * 5, &mut texel)
                .expect("its own memory");
            assert_eq!(texel, [0; 4], "{gpu}");
        }
    }
}

#[test]
fn addresses_may_be_in_any_registers_on_rdna() {
    for (gpu, load) in [
        (
            Gpu::Gfx1100,
            "image_load v8, [v1, v0], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D",
        ),
        (
            Gpu::Gfx1201,
            "image_load v8, [v1, v0], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D",
        ),
        (
            Gpu::Gfx1100,
            "image_sample_d v8, [v4, v4, v4, v4, v[2:3]], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D",
        ),
        (
            Gpu::Gfx1201,
            "image_sample_d v8, [v4, v4, v4, v[1:3]], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D",
        ),
    ] {
        let (memory, image) = bytes(gpu);
        let bench = Bench::new(gpu, &[load]);
        for level in bench.levels() {
            let mut wave = prepared(gpu, &image);
            // x = 1 in row 2; the load has them swapped.
            let swapped = load.starts_with("image_load");
            for lane in 0..64 {
                let (x, y) = if swapped { (2, 1) } else { (1, 2) };
                wave.lanes_mut(0).as_mut_array()[lane] = x;
                wave.lanes_mut(1).as_mut_array()[lane] = y;
                wave.lanes_mut(2).as_mut_array()[lane] = 1.5_f32.to_bits();
                wave.lanes_mut(3).as_mut_array()[lane] = 2.5_f32.to_bits();
            }
            let result = bench.step_with(level, 0, &mut wave, &memory.view(), &mut []);
            assert!(result.is_ok(), "{gpu}: {result:?}");
            let read = f32::from_bits(wave.lanes(8).as_array()[3]);
            assert_eq!(read, 17.0 / 255.0, "{gpu} {load}");
        }
    }
}

#[test]
fn what_is_not_supported_stops_the_launch_by_name() {
    for gpu in GPUS {
        let (memory, image) = bytes(gpu);
        let load = line(gpu, "image_load", "v8", "0x1");
        let sample = match gpu {
            Gpu::Gfx90a => line(gpu, "image_sample", "v8", "0x1"),
            _ => line(gpu, "image_sample_lz", "v8", "0x1"),
        };
        let bench = Bench::new(gpu, &[load.as_str(), sample.as_str()]);
        let kind =
            |code: u32| move |words: &mut [u32; 12]| words[3] = words[3] & 0x0fff_ffff | code << 28;
        let set = |word: usize, bits: u32| move |words: &mut [u32; 12]| words[word] |= bits;
        type Change<'a> = &'a dyn Fn(&mut [u32; 12]);
        let level_bit = if gpu == Gpu::Gfx1201 {
            1 << 15
        } else {
            1 << 16
        };
        let cases: [(usize, Change<'_>, &str); 8] = [
            (0, &kind(11), "cube images"),
            (0, &kind(15), "several samples"),
            (0, &kind(3), "type 3"),
            (0, &set(3, 9 << 20), "swizzle mode 9"),
            (0, &set(3, level_bit), "mipmap levels"),
            (1, &set(10, 2 << 20 | 2 << 22), "anisotropic"),
            (1, &set(10, 1 << 22), "address mode"),
            (1, &set(11, 3 << 30), "border colors"),
        ];
        for (index, change, what) in cases {
            let mut wave = prepared(gpu, &image);
            let mut words: [u32; 12] = std::array::from_fn(|n| wave.scalar(RESOURCE + n as u16));
            // A point filter, so that the cases can set the other one.
            words[10] &= !(3 << 20 | 3 << 22);
            if what == "address mode" {
                words[8] |= 4;
                words[8] &= !3;
            } else {
                change(&mut words);
            }
            for (register, word) in (RESOURCE..).zip(words) {
                wave.set_scalar(register, word);
            }
            let level = 0;
            let result = bench.step_with(level, index, &mut wave, &memory.view(), &mut []);
            let fault = result.expect_err(what);
            assert!(
                matches!(&fault.kind, FaultKind::Unsupported { what: text } if text.contains(what)),
                "{gpu} {what}: {fault:?}"
            );
        }
        // Without lanes, nothing is read.
        let mut wave = prepared(gpu, &image);
        wave.exec = 0;
        wave.set_scalar(RESOURCE + 3, 11 << 28);
        for index in 0..2 {
            let result = bench.step_with(0, index, &mut wave, &memory.view(), &mut []);
            assert!(result.is_ok(), "{gpu}: {result:?}");
            assert_eq!(wave.lanes(8).as_array()[0], UNTOUCHED, "{gpu}");
        }
        // An unbound image reads 0.
        let mut wave = prepared(gpu, &image);
        for register in RESOURCE..RESOURCE + 8 {
            wave.set_scalar(register, 0);
        }
        let level = 0;
        let result = bench.step_with(level, 0, &mut wave, &memory.view(), &mut []);
        assert!(result.is_ok(), "{gpu}: {result:?}");
        assert_eq!(wave.lanes(8).as_array()[0], 0, "{gpu}");
    }
}

#[test]
fn buffers_get_missing_components_like_images() {
    for gpu in [Gpu::Gfx90a, Gpu::Gfx1100, Gpu::Gfx1201] {
        let memory = DeviceMemory::new(1 << 20);
        let base = memory
            .allocate(4096, AllocationKind::Device)
            .expect("memory");
        memory.fill(base, &[7], 4096).expect("its own memory");
        let elements = Elements::new(4, 8, Number::Unorm).expect("a format");
        let words = elements.buffer(gpu, base, 64).expect("a buffer");
        let offset = if gpu == Gpu::Gfx1201 { "null" } else { "0" };
        let store = format!("buffer_store_format_x v4, v0, s[8:11], {offset} idxen");
        let bench = Bench::new(gpu, &[store.as_str()]);
        for level in bench.levels() {
            let mut wave = wave();
            wave.set_lane_count(GpuLimits::of(gpu).wave_size);
            for (register, word) in (RESOURCE..).zip(words) {
                wave.set_scalar(register, word);
            }
            for lane in 0..64 {
                wave.lanes_mut(0).as_mut_array()[lane] = lane as u32;
                wave.lanes_mut(4).as_mut_array()[lane] = 0.2_f32.to_bits();
            }
            let result = bench.step_with(level, 0, &mut wave, &memory.view(), &mut []);
            assert!(result.is_ok(), "{gpu}: {result:?}");
            let mut element = [7; 4];
            memory
                .read(base + 4 * 9, &mut element)
                .expect("its own memory");
            let rest = if gpu == Gpu::Gfx1201 { 51 } else { 0 };
            assert_eq!(element, [51, rest, rest, rest], "{gpu}");
        }
    }
}
