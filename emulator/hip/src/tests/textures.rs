//! Textures of linear memory, read as device code does.

use super::*;

/// `fetch(texture, out: *mut [u32; 4])`: out[i] = element i, for 64 work-items.
fn fetch(gpu: Gpu) -> hipFunction_t {
    let accumulators = match gpu {
        Gpu::Gfx908 => "",
        _ => ".amdhsa_accum_offset 8",
    };
    let text = format!(
        "
.text
.globl fetch
.p2align 8
.type fetch,@function
fetch:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  v_lshlrev_b32_e32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 idxen
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]
  s_endpgm
.Lend:
.size fetch, .Lend-fetch
.rodata
.p2align 6
.amdhsa_kernel fetch
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  {accumulators}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: fetch
    .symbol: fetch.kd
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: by_value }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }}
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
...
.end_amdgpu_metadata
"
    );
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let object = Assembly::new(gpu, &text).assemble(&toolchain);
    kernel(load(&object.expect("LLVM assembles the test")), c"fetch")
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
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a] {
        let _device = TestDevice::new(gpu);
        let function = fetch(gpu);
        let (memory, out) = (buffer(&words), allocate(1024));
        for (case, &(bits, kind, mode, size, element)) in cases.iter().enumerate() {
            let resource = linear(memory, bytes.len(), bits, kind);
            let object: hipTextureObject_t = result(|object| create(object, &resource, mode));
            let arguments: Vec<u8> = [object.addr(), out.addr()]
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
            let read = contents(out, 256);
            for (i, read) in read.chunks(4).enumerate() {
                let last = match i < bytes.len() / size {
                    true => element(i),
                    // For an element out of range, only a component with selector 1 is not 0.
                    false => [0, 0, 0, element(0)[3] * u32::from(bits[3] == 0)],
                };
                assert_eq!(read, last, "case {case}, element {i}");
            }
            // SAFETY: HIP checks the handles; the second one is stale.
            unsafe {
                let invalid = hipError_t::hipErrorInvalidValue;
                fails(hipFree(object.cast()), invalid, "not from hipMalloc");
                succeeds(hipDestroyTextureObject(object));
                fails(
                    hipDestroyTextureObject(object),
                    invalid,
                    // Another test may have memory there by now.
                    "not from hipCreateTextureObject",
                );
            }
        }
    }
}

#[test]
fn what_no_texture_has_is_refused() {
    let mut object = ptr::null_mut();
    let unsupported = hipError_t::hipErrorNotSupported;
    for (gpu, reason) in [
        (Gpu::Gfx942, "gfx942 has no images"),
        (Gpu::Gfx950, "gfx950 has no images"),
        (Gpu::Gfx1100, "the emulator has no textures on gfx1100"),
    ] {
        let _device = TestDevice::new(gpu);
        let resource = linear(allocate(256), 256, [32, 0, 0, 0], FLOAT);
        fails(create(&mut object, &resource, 0), unsupported, reason);
    }
    let _device = TestDevice::new(Gpu::Gfx90a);
    let memory = allocate(1000);
    let good = linear(memory, 1000, [32, 0, 0, 0], FLOAT);
    let array = hipResourceDesc {
        resType: hipResourceType::hipResourceTypeArray,
        ..good
    };
    fails(
        create(&mut object, &array, 0),
        unsupported,
        "a resource of type 0",
    );
    let plain = hipTextureDesc::ZERO;
    let samplers = [
        hipTextureDesc {
            addressMode: [3, 0, 0],
            ..plain
        },
        hipTextureDesc {
            maxAnisotropy: 1,
            ..plain
        },
        hipTextureDesc {
            mipmapLevelBias: 1.0,
            ..plain
        },
        hipTextureDesc {
            maxMipmapLevelClamp: 1.0,
            ..plain
        },
        hipTextureDesc { sRGB: 1, ..plain },
    ];
    for texture in samplers {
        // SAFETY: all pointers are valid.
        let code = unsafe { hipCreateTextureObject(&mut object, &good, &texture, ptr::null()) };
        fails(code, unsupported, "a texture with a border");
    }
    let invalid = hipError_t::hipErrorInvalidValue;
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
    for (bits, kind, mode) in [(8, FLOAT, 0), (32, UNSIGNED, 1), (32, FLOAT, 2), (32, 3, 0)] {
        let resource = linear(memory, 1000, [bits, 0, 0, 0], kind);
        fails(create(&mut object, &resource, mode), invalid, "elements of");
    }
    for (start, bytes) in [(0, 1001), (0, 0), (0, 3), (4, 8), (1024, 8)] {
        let resource = linear(memory.wrapping_byte_add(start), bytes, [32, 0, 0, 0], FLOAT);
        fails(create(&mut object, &resource, 0), invalid, "bytes at");
    }
    let (texture, view) = (hipTextureDesc::ZERO, [0_u64; 8]);
    // SAFETY: the pointers are valid or null.
    unsafe {
        let code = hipCreateTextureObject(&mut object, &good, &texture, view.as_ptr().cast());
        fails(code, invalid, "no view");
        let code = hipCreateTextureObject(&mut object, ptr::null(), &texture, ptr::null());
        fails(code, invalid, "null");
        succeeds(hipDestroyTextureObject(ptr::null_mut()));
    }
    assert!(object.is_null());
}
