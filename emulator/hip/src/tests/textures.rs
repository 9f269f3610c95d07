//! Textures and surfaces, read and written as device code does.

use super::*;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// The GPUs with images, one of each generation.
const GPUS: [Gpu; 4] = [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx1100, Gpu::Gfx1201];

/// `run(object, out: *mut [u32; 4], points: *const [f32; 4])`: runs instructions for 64 work-items. The work-item's point is
/// in v[0:3] and goes as integers to v[10:13], the object's resource in s[12:19], its sampler in s[20:23]; the result is
/// v[4:7]. The code object has the variable of a texture reference, too, and another one.
fn object_of(gpu: Gpu, body: &str) -> Vec<u8> {
    let cdna = gpu.family() == Family::Cdna;
    let (sizes, wait, lanes) = match (cdna, gpu) {
        (true, _) => (
            ["dwordx2", "dwordx4", "dwordx8"],
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            64,
        ),
        (false, Gpu::Gfx1201) => (
            ["b64", "b128", "b256"],
            "s_wait_loadcnt 0x0\n  s_wait_samplecnt 0x0\n  s_wait_kmcnt 0x0",
            32,
        ),
        (false, _) => (["b64", "b128", "b256"], "s_waitcnt vmcnt(0) lgkmcnt(0)", 32),
    };
    let [two, four, eight] = sizes;
    let registers = match (cdna, gpu) {
        (true, Gpu::Gfx90a) => ".amdhsa_accum_offset 16\n  .amdhsa_next_free_sgpr 24",
        (true, _) => ".amdhsa_next_free_sgpr 24",
        (false, _) => ".amdhsa_wavefront_size32 1\n  .amdhsa_next_free_sgpr 24",
    };
    let text = format!(
        "
.text
.globl run
.p2align 8
.type run,@function
run:
  s_load_{four} s[4:7], s[0:1], 0x0
  s_load_{two} s[8:9], s[0:1], 0x10
  v_and_b32_e32 v8, 0x3ff, v0
  v_lshlrev_b32_e32 v9, 4, v8
  {wait}
  s_load_{eight} s[12:19], s[4:5], 0x0
  s_load_{four} s[20:23], s[4:5], 0x30
  global_load_{four} v[0:3], v9, s[8:9]
  {wait}
  v_cvt_i32_f32_e32 v10, v0
  v_cvt_i32_f32_e32 v11, v1
  v_cvt_i32_f32_e32 v12, v2
  v_cvt_i32_f32_e32 v13, v3
  {body}
  {wait}
  global_store_{four} v9, v[4:7], s[6:7]
  s_endpgm
.Lend:
.size run, .Lend-run
.data
.globl reference
.type reference,@object
.p2align 3
reference:
  .zero 88
.size reference, 88
.globl number
.type number,@object
number:
  .long 0
.size number, 4
.rodata
.p2align 6
.amdhsa_kernel run
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  {registers}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: run
    .symbol: run.kd
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: by_value }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }}
    .kernarg_segment_size: 24
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: {lanes}
    .sgpr_count: 24
    .vgpr_count: 16
    .max_flat_workgroup_size: 64
...
.end_amdgpu_metadata
"
    );
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let object = Assembly::new(gpu, &text).assemble(&toolchain);
    object.expect("LLVM assembles the test")
}

fn kernel_of(gpu: Gpu, body: &str) -> hipFunction_t {
    kernel(load(&object_of(gpu, body)), c"run")
}

/// What a kernel reads of linear memory, at integer points.
fn fetch(gpu: Gpu) -> String {
    let no_offset = if gpu == Gpu::Gfx1201 { "null" } else { "0" };
    format!("buffer_load_format_xyzw v[4:7], v10, s[12:15], {no_offset} idxen")
}

/// An image instruction for a GPU. The addresses are registers from v0, or for integers from v10 on.
fn image(gpu: Gpu, name: &str, first: usize, dimension: &str) -> String {
    let count = match dimension {
        "1D" => 1,
        "2D" | "1D_ARRAY" => 2,
        _ => 3,
    };
    let addresses = match gpu {
        Gpu::Gfx1201 => {
            let registers: Vec<_> = (first..first + count).map(|n| format!("v{n}")).collect();
            format!("[{}]", registers.join(", "))
        }
        _ => format!("v[{first}:{}]", first + count - 1),
    };
    let addresses = match count {
        1 => format!("v{first}"),
        _ => addresses,
    };
    let samples = name.contains("sample") || name.contains("gather");
    let sampler = if samples { ", s[20:23]" } else { "" };
    let (name, dmask) = match (name, gpu) {
        ("image_sample_lz", Gpu::Gfx90a) => ("image_sample", "0xf"),
        ("image_gather4_lz", _) => (name, "0x2"),
        _ => (name, "0xf"),
    };
    let array = if dimension.ends_with("ARRAY") {
        " da"
    } else {
        ""
    };
    let rest = match gpu.family() {
        Family::Cdna if samples => array.to_string(),
        Family::Cdna => format!(" unorm{array}"),
        Family::Rdna => format!(" dim:SQ_RSRC_IMG_{dimension}"),
    };
    format!("{name} v[4:7], {addresses}, s[12:19]{sampler} dmask:{dmask}{rest}")
}

/// Runs a kernel of [`kernel_of`] on 64 points and returns what it wrote.
fn run(function: hipFunction_t, object: usize, points: &[[f32; 4]; 64]) -> Vec<[u32; 4]> {
    let words: Vec<u32> = points.as_flattened().iter().map(|x| x.to_bits()).collect();
    let (points, out) = (buffer(&words), allocate(1024));
    let arguments: Vec<u8> = [object, out.addr(), points.addr()]
        .iter()
        .flat_map(|address| address.to_le_bytes())
        .collect();
    let launch = Launch {
        function,
        grid: [1; 3],
        block: [64, 1, 1],
        lds_bytes: 0,
        stream: ptr::null_mut(),
        arguments: &arguments,
    };
    succeeds(launch.run());
    let out = contents(out, 256);
    out.chunks(4)
        .map(|texel| [texel[0], texel[1], texel[2], texel[3]])
        .collect()
}

/// Linear memory with elements of these bits per channel and this kind.
fn linear(memory: *mut c_void, bytes: usize, bits: [c_int; 4], kind: u32) -> hipResourceDesc {
    let [x, y, z, w] = bits;
    let f = hipChannelFormatKind(kind);
    hipResourceDesc {
        resType: hipResourceType::hipResourceTypeLinear,
        devPtr: memory,
        desc: hipChannelFormatDesc { x, y, z, w, f },
        sizeInBytes: bytes,
        ..hipResourceDesc::ZERO
    }
}

fn create(object: *mut hipTextureObject_t, resource: &hipResourceDesc, mode: c_uint) -> hipError_t {
    let texture = hipTextureDesc {
        readMode: mode,
        ..hipTextureDesc::ZERO
    };
    // SAFETY: all pointers are valid.
    unsafe { hipCreateTextureObject(object, resource, &texture, ptr::null()) }
}

const SIGNED: c_uint = 0;
const UNSIGNED: c_uint = 1;
const FLOAT: c_uint = 2;

#[test]
fn elements_are_read_in_their_format_and_none_behind_the_last() {
    // 40 bytes: dwords from 0x83828180 on.
    let bytes: Vec<u8> = (0x80..0xa8).collect();
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let one = 1_f32.to_bits();
    let word = |i: usize| words[i];
    let unorm = |i: usize| (f32::from(bytes[i]) / 255.0).to_bits();
    // Channel bits, kind, read mode, bytes per element, element i.
    type Element<'a> = &'a dyn Fn(usize) -> [u32; 4];
    let cases: [([c_int; 4], c_uint, c_uint, usize, Element<'_>); 6] = [
        ([32, 0, 0, 0], UNSIGNED, 0, 4, &|i| [word(i), 0, 0, 1]),
        ([32, 32, 0, 0], FLOAT, 0, 8, &|i| {
            [word(2 * i), word(2 * i + 1), 0, one]
        }),
        ([8, 0, 0, 0], SIGNED, 0, 1, &|i| {
            [bytes[i] as i8 as u32, 0, 0, 1]
        }),
        ([16, 16, 0, 0], SIGNED, 0, 4, &|i| {
            [word(i) as i16 as u32, ((word(i) as i32) >> 16) as u32, 0, 1]
        }),
        ([8; 4], UNSIGNED, 0, 4, &|i| {
            word(i).to_le_bytes().map(u32::from)
        }),
        ([8, 8, 0, 0], UNSIGNED, 1, 2, &|i| {
            [unorm(2 * i), unorm(2 * i + 1), 0, one]
        }),
    ];
    let points = std::array::from_fn(|i| [i as f32; 4]);
    for gpu in GPUS {
        let _device = TestDevice::new(gpu);
        let function = kernel_of(gpu, &fetch(gpu));
        let memory = buffer(&words);
        for (case, &(bits, kind, mode, size, element)) in cases.iter().enumerate() {
            let resource = linear(memory, bytes.len(), bits, kind);
            let object: hipTextureObject_t = result(|object| create(object, &resource, mode));
            for (i, read) in run(function, object.addr(), &points).iter().enumerate() {
                let last = match i < bytes.len() / size {
                    true => element(i),
                    // For an element out of range, only a component with selector 1 is not 0.
                    false => [0, 0, 0, element(0)[3] * u32::from(bits[3] == 0)],
                };
                assert_eq!(*read, last, "{gpu}, case {case}, element {i}");
            }
            // SAFETY: HIP checks the handles.
            unsafe {
                let invalid = hipError_t::hipErrorInvalidValue;
                fails(hipFree(object.cast()), invalid, "not from hipMalloc");
                fails(
                    hipDestroyTextureObject(memory.cast()),
                    invalid,
                    "not from hipCreateTextureObject",
                );
                succeeds(hipDestroyTextureObject(object));
            }
        }
    }
}

/// The texels of a test's image: f32, in one channel.
struct Texels {
    size: [usize; 3],
    texels: Vec<f32>,
}

impl Texels {
    fn random(size: [usize; 3], rng: &mut Pcg64Mcg) -> Self {
        let count = size.iter().product();
        let texels = (0..count).map(|_| rng.random_range(-4.0..4.0)).collect();
        Texels { size, texels }
    }

    /// OpenCL's address modes and filters (OpenCL C 3.0, 8.2), with 8 fractional bits.
    fn sample(
        &self,
        point: [f32; 3],
        axes: usize,
        mode: c_uint,
        linear: bool,
        normalized: bool,
    ) -> f64 {
        let along = |axis: usize| -> Vec<(Option<usize>, f64)> {
            let size = self.size[axis] as i64;
            if axis >= axes {
                return vec![(Some(point[axis] as usize), 1.0)];
            }
            let scale = if normalized { size as f64 } else { 1.0 };
            let at = f64::from(point[axis]) * scale;
            let texel = |n: i64| match mode {
                0 => Some(n.rem_euclid(size) as usize),
                1 => Some(n.clamp(0, size - 1) as usize),
                2 if n.div_euclid(size) % 2 == 0 => Some(n.rem_euclid(size) as usize),
                2 => Some((size - 1 - n.rem_euclid(size)) as usize),
                _ => (0..size).contains(&n).then_some(n as usize),
            };
            if !linear {
                return vec![(texel(at.floor() as i64), 1.0)];
            }
            let at = (at * 256.0).round() / 256.0 - 0.5;
            let first = at.floor();
            let part = at - first;
            vec![
                (texel(first as i64), 1.0 - part),
                (texel(first as i64 + 1), part),
            ]
        };
        let (xs, ys, zs) = (along(0), along(1), along(2));
        let mut sum = 0.0;
        for (x, a) in &xs {
            for (y, b) in &ys {
                for (z, c) in &zs {
                    let texel = match (x, y, z) {
                        (Some(x), Some(y), Some(z)) => {
                            self.texels[(z * self.size[1] + y) * self.size[0] + x]
                        }
                        _ => 0.0,
                    };
                    sum += a * b * c * f64::from(texel);
                }
            }
        }
        sum
    }
}

/// An array of one channel of f32, with a test's texels. Sizes of 0 are missing dimensions.
fn array_of(texels: &Texels, [width, height, depth]: [usize; 3], flags: c_uint) -> hipArray_t {
    let channels = hipChannelFormatDesc {
        x: 32,
        f: hipChannelFormatKind::hipChannelFormatKindFloat,
        ..hipChannelFormatDesc::ZERO
    };
    let extent = hipExtent {
        width,
        height,
        depth,
    };
    // SAFETY: the pointers are valid.
    let array = result(|array| unsafe { hipMalloc3DArray(array, &channels, extent, flags) });
    let copy = hipMemcpy3DParms {
        srcPtr: hipPitchedPtr {
            ptr: texels.texels.as_ptr().cast_mut().cast(),
            pitch: 4 * width,
            xsize: width,
            ysize: texels.size[1],
        },
        dstArray: array,
        extent: hipExtent {
            width,
            height: texels.size[1],
            depth: texels.size[2],
        },
        kind: hipMemcpyKind::hipMemcpyHostToDevice,
        ..hipMemcpy3DParms::ZERO
    };
    // SAFETY: the texels are as many as the copy reads.
    succeeds(unsafe { hipMemcpy3D(&copy) });
    array
}

fn resource_of(array: hipArray_t) -> hipResourceDesc {
    hipResourceDesc {
        resType: hipResourceType::hipResourceTypeArray,
        devPtr: array.cast(),
        ..hipResourceDesc::ZERO
    }
}

/// Names of dimensions, an array's size, its flags, and how many axes are not layers.
const SHAPES: [(&str, [usize; 3], c_uint, usize); 5] = [
    ("1D", [37, 0, 0], 0, 1),
    ("2D", [37, 11, 0], 0, 2),
    ("3D", [13, 7, 5], 0, 3),
    ("1D_ARRAY", [37, 0, 5], hipArrayLayered, 1),
    ("2D_ARRAY", [13, 7, 5], hipArrayLayered, 2),
];

#[test]
fn arrays_are_sampled_as_opencl_says() {
    let mut rng = Pcg64Mcg::seed_from_u64(41);
    for gpu in GPUS {
        let _device = TestDevice::new(gpu);
        for (dimension, size, flags, axes) in SHAPES {
            let texels = Texels::random(size.map(|size| size.max(1)), &mut rng);
            let array = array_of(&texels, size, flags);
            let function = kernel_of(gpu, &image(gpu, "image_sample_lz", 0, dimension));
            for (mode, linear, normalized) in [
                (0, false, true),
                (0, true, true),
                (1, false, false),
                (1, true, false),
                (2, false, true),
                (2, true, true),
                (3, false, false),
                (3, true, true),
            ] {
                if gpu == Gpu::Gfx90a && linear && size[2] > 0 {
                    continue;
                }
                let texture = hipTextureDesc {
                    // Those of the other axes do not count.
                    addressMode: [mode, 1, 9],
                    filterMode: linear.into(),
                    normalizedCoords: normalized.into(),
                    ..hipTextureDesc::ZERO
                };
                let resource = resource_of(array);
                // SAFETY: all pointers are valid.
                let object = result(|object| unsafe {
                    hipCreateTextureObject(object, &resource, &texture, ptr::null())
                });
                // Away from the middle between two texels, where f32 and f64 may disagree.
                let mut points = [[0.0; 4]; 64];
                let mut samples = [[0.0; 3]; 64];
                for (point, sample) in points.iter_mut().zip(&mut samples) {
                    for axis in 0..3 {
                        let count = texels.size[axis] as f32;
                        if axis < axes {
                            let at =
                                rng.random_range(-2 * 64 * count as i32..3 * 64 * count as i32);
                            let at = at as f32 / 64.0 + 1.0 / 1024.0;
                            sample[axis] = if normalized { at / count } else { at };
                        } else {
                            sample[axis] = rng.random_range(0..texels.size[axis]) as f32;
                        }
                    }
                    let layer = if size[1] == 0 && size[2] > 0 { 1 } else { 2 };
                    *point = [sample[0], sample[1], sample[2], 0.0];
                    if flags != 0 {
                        point[layer] = sample[2];
                    }
                }
                let read = run(function, object.addr(), &points);
                for (read, sample) in read.iter().zip(samples) {
                    let what = format!(
                        "{gpu} {dimension}, mode {mode}, {linear} {normalized}, {sample:?}"
                    );
                    let expected = texels.sample(sample, axes, mode, linear, normalized);
                    let value = f64::from(f32::from_bits(read[0]));
                    assert!(
                        (value - expected).abs() < 1e-5,
                        "{value} instead of {expected}: {what}"
                    );
                    assert_eq!(&read[1..], [0, 0, 1_f32.to_bits()], "{what}");
                }
                // SAFETY: HIP checks the handle.
                succeeds(unsafe { hipDestroyTextureObject(object) });
            }
            // SAFETY: HIP checks the handle.
            succeeds(unsafe { hipFreeArray(array) });
        }
    }
}

#[test]
fn surfaces_are_read_and_written_inside_only() {
    let mut rng = Pcg64Mcg::seed_from_u64(42);
    for gpu in GPUS {
        let _device = TestDevice::new(gpu);
        for (dimension, size, flags, axes) in SHAPES {
            let texels = Texels::random(size.map(|size| size.max(1)), &mut rng);
            let array = array_of(&texels, size, flags | hipArraySurfaceLoadStore);
            let resource = resource_of(array);
            // SAFETY: all pointers are valid.
            let object =
                result(|object| unsafe { hipCreateSurfaceObject(object, &resource) }).addr();
            let load = kernel_of(gpu, &image(gpu, "image_load", 10, dimension));
            // Writes the point's last number where the point says.
            let body = format!(
                "v_mov_b32_e32 v4, v3\n  {}",
                image(gpu, "image_store", 10, dimension)
            );
            let store = kernel_of(gpu, &body);
            let places: [_; 64] = std::array::from_fn(|_| {
                texels
                    .size
                    .map(|size| rng.random_range(-2..size as i32 + 2))
            });
            let points = std::array::from_fn(|n| {
                let mut point = [places[n][0], places[n][1], places[n][2], n as i32];
                if dimension == "1D_ARRAY" {
                    point[1] = places[n][2];
                }
                point.map(|x| x as f32)
            });
            let place = |n: usize| {
                let mut place = places[n];
                for (axis, at) in place.iter_mut().enumerate().skip(axes) {
                    if flags == 0 || axis < 2 {
                        *at = 0;
                    }
                }
                let inside = place
                    .iter()
                    .zip(texels.size)
                    .all(|(&at, size)| (0..size as i32).contains(&at));
                let [x, y, z] = place.map(|at| at as usize);
                inside.then(|| (z * texels.size[1] + y) * texels.size[0] + x)
            };
            for (n, read) in run(load, object, &points).iter().enumerate() {
                let expected = place(n).map_or(0, |index| texels.texels[index].to_bits());
                let what = format!("{gpu} {dimension}, {:?}", places[n]);
                assert_eq!(*read, [expected, 0, 0, 1_f32.to_bits()], "{what}");
            }
            run(store, object, &points);
            let mut written = texels.texels.clone();
            let last: Vec<_> = (0..64)
                .filter_map(|n| Some((place(n)?, n as f32)))
                .collect();
            let mut stored = vec![0.0; written.len()];
            let copy = hipMemcpy3DParms {
                srcArray: array,
                dstPtr: hipPitchedPtr {
                    ptr: stored.as_mut_ptr().cast(),
                    pitch: 4 * size[0],
                    xsize: size[0],
                    ysize: texels.size[1],
                },
                extent: hipExtent {
                    width: size[0],
                    height: texels.size[1],
                    depth: texels.size[2],
                },
                kind: hipMemcpyKind::hipMemcpyDeviceToHost,
                ..hipMemcpy3DParms::ZERO
            };
            // SAFETY: the vector has as many texels as the copy writes.
            succeeds(unsafe { hipMemcpy3D(&copy) });
            for &(index, value) in &last {
                // Of several lanes that write one texel, any may win.
                let all: Vec<_> = last.iter().filter(|(at, _)| *at == index).collect();
                assert!(
                    all.iter().any(|(_, value)| *value == stored[index]),
                    "{gpu} {dimension}"
                );
                written[index] = stored[index];
                let _ = value;
            }
            assert_eq!(stored, written, "{gpu} {dimension}");
            // SAFETY: HIP checks the handles.
            unsafe {
                succeeds(hipDestroySurfaceObject(ptr::without_provenance_mut(object)));
                succeeds(hipFreeArray(array));
            }
        }
    }
}

#[test]
fn rows_are_gathered_and_srgb_is_linear() {
    for gpu in GPUS {
        let _device = TestDevice::new(gpu);
        // Three rows of three texels of four bytes, 256 bytes apart.
        let mut words = vec![0_u32; 3 * 64];
        for (n, row) in words.chunks_mut(64).enumerate() {
            for (x, word) in row.iter_mut().take(3).enumerate() {
                *word = u32::from_le_bytes([
                    10 * n as u8 + x as u8,
                    100 + 10 * n as u8 + x as u8,
                    200,
                    128,
                ]);
            }
        }
        let memory = buffer(&words);
        let resource = hipResourceDesc {
            resType: hipResourceType::hipResourceTypePitch2D,
            devPtr: memory,
            desc: hipChannelFormatDesc {
                x: 8,
                y: 8,
                z: 8,
                w: 8,
                f: hipChannelFormatKind::hipChannelFormatKindUnsigned,
            },
            sizeInBytes: 3,
            height: 3,
            pitchInBytes: 256,
        };
        let texture = hipTextureDesc {
            addressMode: [1; 3],
            readMode: 1,
            sRGB: 1,
            ..hipTextureDesc::ZERO
        };
        let points = [[1.5, 1.5, 0.0, 0.0]; 64];
        // SAFETY: all pointers are valid.
        unsafe {
            let object =
                result(|object| hipCreateTextureObject(object, &resource, &texture, ptr::null()));
            let function = kernel_of(gpu, &image(gpu, "image_sample_lz", 0, "2D"));
            let read = run(function, object.addr(), &points)[5].map(f32::from_bits);
            // IEC 61966-2-1.
            let linear = |byte: u8| {
                let c = f64::from(byte) / 255.0;
                if c <= 0.04045 {
                    c / 12.92
                } else {
                    ((c + 0.055) / 1.055).powf(2.4)
                }
            };
            for (read, expected) in
                read.iter()
                    .zip([linear(11), linear(111), linear(200), 128.0 / 255.0])
            {
                assert!(
                    (f64::from(*read) - expected).abs() < 1e-6,
                    "{read} instead of {expected}"
                );
            }
            succeeds(hipDestroyTextureObject(object));
            if gpu == Gpu::Gfx90a {
                continue;
            }
            let texture = hipTextureDesc {
                sRGB: 0,
                readMode: 0,
                ..texture
            };
            let object =
                result(|object| hipCreateTextureObject(object, &resource, &texture, ptr::null()));
            let function = kernel_of(gpu, &image(gpu, "image_gather4_lz", 0, "2D"));
            // Around the corner of four texels: lower left, lower right, upper right, upper left.
            let points = [[1.0, 2.0, 0.0, 0.0]; 64];
            assert_eq!(
                run(function, object.addr(), &points)[0],
                [120, 121, 111, 110],
                "{gpu}"
            );
            succeeds(hipDestroyTextureObject(object));
        }
    }
}

#[test]
fn textures_say_what_they_were_made_from() {
    let _device = TestDevice::new(Gpu::Gfx1100);
    let memory = allocate(1 << 12);
    let resource = HIP_RESOURCE_DESC {
        resType: 3,
        devPtr: memory,
        format: hipArray_Format::HIP_AD_FORMAT_SIGNED_INT16,
        numChannels: 2,
        sizeInBytes: 20,
        height: 7,
        pitchInBytes: 512,
        ..HIP_RESOURCE_DESC::ZERO
    };
    let texture = HIP_TEXTURE_DESC {
        addressMode: [3, 0, 0],
        filterMode: 1,
        flags: 1 | 2,
        ..HIP_TEXTURE_DESC::ZERO
    };
    // SAFETY: the pointers are valid or null; HIP checks the handles.
    unsafe {
        for channels in [0, 3, 5, c_uint::MAX] {
            let wrong = HIP_RESOURCE_DESC {
                numChannels: channels,
                ..resource
            };
            let mut object = ptr::null_mut();
            let code = hipTexObjectCreate(&mut object, &wrong, &texture, ptr::null());
            fails(code, hipError_t::hipErrorInvalidValue, "channels");
        }
        let object = result(|object| hipTexObjectCreate(object, &resource, &texture, ptr::null()));
        let same = result(|same| hipTexObjectGetResourceDesc(same, object));
        assert_eq!((same.resType, same.devPtr, same.format.0), (3, memory, 9));
        assert_eq!(
            (same.sizeInBytes, same.height, same.pitchInBytes),
            (20, 7, 512)
        );
        assert_eq!(
            result(|same| hipTexObjectGetTextureDesc(same, object)).flags,
            3
        );
        assert_eq!(
            result(|view| hipTexObjectGetResourceViewDesc(view, object))
                .view
                .format,
            0
        );
        let other = result(|same| hipGetTextureObjectResourceDesc(same, object));
        assert_eq!([other.desc.x, other.desc.y, other.desc.z], [16, 16, 0]);
        let other = result(|same| hipGetTextureObjectTextureDesc(same, object));
        assert_eq!(
            (other.readMode, other.normalizedCoords, other.filterMode),
            (0, 1, 1)
        );
        assert_eq!(
            result(|view| hipGetTextureObjectResourceViewDesc(view, object)).width,
            0
        );
        succeeds(hipTexObjectDestroy(object));
        let mut same = hipTextureDesc::ZERO;
        let other = hipGetTextureObjectTextureDesc(&mut same, memory.cast());
        let reason = "not from hipCreateTextureObject";
        fails(other, hipError_t::hipErrorInvalidValue, reason);
    }
}

#[test]
fn what_no_texture_has_is_refused() {
    let mut object = ptr::null_mut();
    let (unsupported, invalid) = (
        hipError_t::hipErrorNotSupported,
        hipError_t::hipErrorInvalidValue,
    );
    for (gpu, reason) in [
        (Gpu::Gfx942, "gfx942 has no images"),
        (Gpu::Gfx950, "gfx950 has no images"),
    ] {
        let _device = TestDevice::new(gpu);
        let resource = linear(allocate(256), 256, [32, 0, 0, 0], FLOAT);
        fails(create(&mut object, &resource, 0), unsupported, reason);
        // SAFETY: all pointers are valid.
        let code = unsafe { hipCreateSurfaceObject(&mut ptr::null_mut(), &resource) };
        fails(code, unsupported, reason);
    }
    let _device = TestDevice::new(Gpu::Gfx90a);
    let memory = allocate(1000);
    let good = linear(memory, 1000, [32, 0, 0, 0], FLOAT);
    let mipmapped = hipResourceDesc {
        resType: hipResourceType::hipResourceTypeMipmappedArray,
        ..good
    };
    let reason = "a resource of type 1";
    fails(create(&mut object, &mipmapped, 0), unsupported, reason);
    let stale = hipResourceDesc {
        resType: hipResourceType::hipResourceTypeArray,
        ..good
    };
    let handle = hipError_t::hipErrorInvalidHandle;
    fails(create(&mut object, &stale, 0), handle, "live array");
    let rows = |width, height, pitch| hipResourceDesc {
        resType: hipResourceType::hipResourceTypePitch2D,
        sizeInBytes: width,
        height,
        pitchInBytes: pitch,
        ..good
    };
    for (width, height, pitch) in [
        (0, 1, 256),
        (1, 0, 256),
        (65, 1, 256),
        (1, 1, 100),
        (16385, 1, 1 << 17),
    ] {
        let resource = rows(width, height, pitch);
        fails(create(&mut object, &resource, 0), invalid, "rows of");
    }
    fails(
        create(&mut object, &rows(8, 9, 256), 0),
        invalid,
        "bytes at",
    );
    // SAFETY: all pointers are valid.
    let code = unsafe { hipCreateSurfaceObject(&mut ptr::null_mut(), &good) };
    fails(code, invalid, "a surface is an array");
    let texels = Texels {
        size: [4, 4, 4],
        texels: vec![0.0; 64],
    };
    let deep = resource_of(array_of(&texels, [4, 4, 4], 0));
    let plain = hipTextureDesc::ZERO;
    let modes = [
        (
            hipTextureDesc {
                maxAnisotropy: 1,
                ..plain
            },
            unsupported,
            "anisotropy",
        ),
        (
            hipTextureDesc {
                mipmapLevelBias: 1.0,
                ..plain
            },
            unsupported,
            "bias",
        ),
        (
            hipTextureDesc {
                filterMode: 1,
                ..plain
            },
            unsupported,
            "no linear filter",
        ),
        (
            hipTextureDesc {
                filterMode: 2,
                ..plain
            },
            invalid,
            "filter mode",
        ),
        (
            hipTextureDesc {
                addressMode: [4, 0, 0],
                ..plain
            },
            invalid,
            "address mode",
        ),
        (
            hipTextureDesc {
                readMode: 2,
                ..plain
            },
            invalid,
            "read mode",
        ),
    ];
    for (texture, code, reason) in modes {
        // SAFETY: all pointers are valid.
        let result = unsafe { hipCreateTextureObject(&mut object, &deep, &texture, ptr::null()) };
        fails(result, code, reason);
    }
    for (format, reason) in [
        (0, "a view of format"),
        (25, "a view of format"),
        (23, "8 bytes"),
    ] {
        let view = hipResourceViewDesc {
            format,
            ..hipResourceViewDesc::ZERO
        };
        // SAFETY: all pointers are valid.
        let result = unsafe { hipCreateTextureObject(&mut object, &deep, &plain, &view) };
        fails(result, invalid, reason);
    }
    for bits in [
        [0; 4],
        [64, 0, 0, 0],
        [8, 16, 0, 0],
        [8, 0, 8, 0],
        [32, 32, 32, 0],
    ] {
        let resource = linear(memory, 1000, bits, UNSIGNED);
        fails(create(&mut object, &resource, 0), invalid, "elements of");
    }
    for (bits, kind) in [(8, FLOAT), (32, 3)] {
        let resource = linear(memory, 1000, [bits, 0, 0, 0], kind);
        fails(create(&mut object, &resource, 0), invalid, "elements of");
    }
    for (start, bytes) in [(0, 1001), (0, 0), (4, 8), (1024, 8)] {
        let resource = linear(memory.wrapping_byte_add(start), bytes, [32, 0, 0, 0], FLOAT);
        fails(create(&mut object, &resource, 0), invalid, "bytes at");
    }
    let (texture, view) = (hipTextureDesc::ZERO, hipResourceViewDesc::ZERO);
    // SAFETY: the pointers are valid or null.
    unsafe {
        let code = hipCreateTextureObject(&mut object, &good, &texture, &view);
        fails(code, invalid, "only an array has a view");
        let code = hipCreateTextureObject(&mut object, ptr::null(), &texture, ptr::null());
        fails(code, invalid, "null");
        succeeds(hipDestroyTextureObject(ptr::null_mut()));
    }
    assert!(object.is_null());
}

/// The object that device code finds in a reference's variable.
fn object_in(variable: *mut c_void) -> usize {
    let words = contents(variable, 22);
    words[18] as usize | (words[19] as usize) << 32
}

#[test]
fn references_of_a_program_are_bound() {
    let points = std::array::from_fn(|i| [i as f32 + 0.5; 4]);
    for gpu in GPUS {
        let _device = TestDevice::new(gpu);
        let object = object_of(gpu, &fetch(gpu));
        let wrapper = FatBinaryWrapper {
            magic: FatBinaryWrapper::MAGIC,
            version: 1,
            binary: object.as_ptr().cast(),
            ..FatBinaryWrapper::ZERO
        };
        let words: Vec<u32> = (100..200).collect();
        let desc = linear(ptr::null_mut(), 0, [32, 0, 0, 0], UNSIGNED).desc;
        // As the constructor of `texture<unsigned, 1>` makes it.
        let mut reference = textureReference {
            addressMode: [1; 3],
            channelDesc: desc,
            ..textureReference::ZERO
        };
        let texref = &raw mut reference;
        let (invalid, symbol) = (
            hipError_t::hipErrorInvalidValue,
            hipError_t::hipErrorInvalidSymbol,
        );
        // SAFETY: the pointers are valid or null, and the code object lives until it is unregistered.
        unsafe {
            let modules = __hipRegisterFatBinary((&raw const wrapper).cast());
            let names = [c"reference", c"number"].map(|name| name.as_ptr().cast_mut());
            let mut number = 0;
            let no_reference: *mut textureReference = (&raw mut number).cast();
            for (variable, name) in [(texref, names[0]), (no_reference, names[1])] {
                __hipRegisterTexture(modules, variable.cast(), name, name, 1, 0, 0);
            }
            let memory = buffer(&words);
            let not_its = hipBindTexture(ptr::null_mut(), no_reference, memory, &desc, 400);
            fails(not_its, symbol, "a variable of 4 bytes");
            let no_symbol = hipBindTexture(ptr::null_mut(), ptr::null(), memory, &desc, 400);
            fails(no_symbol, symbol, "is not registered");
            let mut offset = 7;
            succeeds(hipBindTexture(&mut offset, texref, memory, &desc, 400));
            assert_eq!(offset, 0);
            let variable = result(|address| hipGetSymbolAddress(address, texref.cast()));
            let bound = (*texref).textureObject.addr();
            assert_eq!(object_in(variable), bound);
            let function = kernel_of(gpu, &fetch(gpu));
            let read = run(function, bound, &points)
                .iter()
                .map(|x| x[0])
                .collect::<Vec<_>>();
            assert_eq!(read, words[..64], "{gpu}");
            // Misaligned: the offset tells the next aligned address.
            let beyond = memory.wrapping_byte_add(128).cast_const();
            let no_offset = hipBindTexture(ptr::null_mut(), texref, beyond, &desc, 100);
            fails(no_offset, invalid, "not a multiple of 256");
            assert!((*texref).textureObject.is_null(), "unbound before");
            succeeds(hipBindTexture(&mut offset, texref, beyond, &desc, 100));
            assert_eq!(offset, 128);
            // Rows, then an array.
            succeeds(hipBindTexture2D(
                ptr::null_mut(),
                texref,
                memory,
                &desc,
                5,
                1,
                256,
            ));
            let sampled = &image(gpu, "image_sample_lz", 0, "2D");
            let function = kernel_of(gpu, sampled);
            let read = run(function, (*texref).textureObject.addr(), &points);
            assert_eq!(read[3][0], 103, "{gpu}");
            let texels = Texels {
                size: [4, 4, 1],
                texels: (0..16).map(|x| x as f32).collect(),
            };
            let array = array_of(&texels, [4, 4, 0], 0);
            let float = linear(ptr::null_mut(), 0, [32, 0, 0, 0], FLOAT).desc;
            succeeds(hipBindTextureToArray(texref, array, &float));
            let bound = (*texref).textureObject.addr();
            assert_eq!(object_in(variable), bound);
            let read = run(function, bound, &points);
            assert_eq!(f32::from_bits(read[2][0]), 10.0, "{gpu}");
            assert_eq!(result(|found| hipTexRefGetArray(found, texref)), array);
            succeeds(hipUnbindTexture(texref));
            assert!((*texref).textureObject.is_null());
            __hipUnregisterFatBinary(modules);
        }
    }
}

#[test]
fn references_of_a_module_are_set() {
    let gpu = Gpu::Gfx1100;
    let _device = TestDevice::new(gpu);
    let module = load(&object_of(gpu, &fetch(gpu)));
    let function = kernel(module, c"run");
    let (invalid, missing) = (
        hipError_t::hipErrorInvalidValue,
        hipError_t::hipErrorNotFound,
    );
    let words: Vec<u32> = (0..64).map(|x| x * 0x0101_0101).collect();
    let memory = buffer(&words);
    // SAFETY: the pointers are valid or null.
    unsafe {
        let mut none = ptr::null_mut();
        let code = hipModuleGetTexRef(&mut none, module, c"number".as_ptr());
        fails(code, missing, "no texture reference");
        let texref = result(|texref| hipModuleGetTexRef(texref, module, c"reference".as_ptr()));
        // The defaults of the driver's references: one float, read as normalized.
        assert_eq!(result(|flags| hipTexRefGetFlags(flags, texref)), 0);
        let (mut format, mut channels) = (hipArray_Format(0), 0);
        succeeds(hipTexRefGetFormat(&mut format, &mut channels, texref));
        let float = hipArray_Format::HIP_AD_FORMAT_FLOAT;
        assert_eq!((format, channels), (float, 1));
        let nothing = hipTexRefGetAddress(&mut ptr::null_mut(), texref);
        assert_eq!(nothing, invalid);
        let bytes = hipArray_Format::HIP_AD_FORMAT_UNSIGNED_INT8;
        succeeds(hipTexRefSetFormat(texref, bytes, 4));
        succeeds(hipTexRefSetFlags(texref, 1));
        succeeds(hipTexRefSetAddress(ptr::null_mut(), texref, memory, 256));
        assert_eq!(
            result(|address| hipTexRefGetAddress(address, texref)),
            memory
        );
        let bound = (*texref).textureObject.addr();
        let variable = result(|start| {
            hipModuleGetGlobal(start, ptr::null_mut(), module, c"reference".as_ptr())
        });
        assert_eq!(object_in(variable), bound);
        let points = std::array::from_fn(|i| [i as f32; 4]);
        assert_eq!(run(function, bound, &points)[37], [37; 4]);
        // What a reference has no meaning for, and others than the module's.
        let mut other = *texref;
        let code = hipTexRefSetAddress(ptr::null_mut(), &mut other, memory, 256);
        fails(code, missing, "is not from hipModuleGetTexRef");
        let code = hipTexRefSetAddressMode(texref, 3, 0);
        fails(code, invalid, "dimension 3");
        succeeds(hipTexRefSetAddressMode(texref, 1, 3));
        assert_eq!(result(|mode| hipTexRefGetAddressMode(mode, texref, 1)), 3);
        let mut bias = 1.0;
        succeeds(hipTexRefSetMipmapLevelBias(texref, 0.5));
        assert_eq!(hipTexRefGetMipmapLevelBias(&mut bias, texref), invalid);
        assert_eq!(bias, 0.5, "written although it is an error");
        let code = hipTexRefSetAddress(ptr::null_mut(), texref, memory, 256);
        fails(code, hipError_t::hipErrorNotSupported, "a bias of levels");
        succeeds(hipModuleUnload(module));
    }
}
