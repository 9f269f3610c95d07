//! Launches on RDNA: the state in which waves of both sizes start, private memory, lane masks, and memory instructions whose
//! rules differ from CDNA's. Expected values are worked out here, from LLVM's `AMDGPUUsage` and AMD's pseudocode.

use std::sync::Arc;

use ferrowave_emulator::dispatch::{LaunchConfig, LaunchError, Limits, launch};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::{AllocationKind, DeviceMemory};
use ferrowave_emulator::program::{LoadError, Program};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_kernel_build::{Assembly, Toolchain};

/// Dwords of the buffer that kernels write.
const DWORDS: usize = 4096;

/// A kernel `k(out: *mut u32)`: `s[0:1]` has the arguments, then come the workgroup's coordinates.
struct Test<'a> {
    gpu: Gpu,
    wave_size: u32,
    body: &'a str,
    block: [u32; 3],
    grid: [u32; 3],
    private_bytes: u32,
    lds_bytes: u32,
}

impl<'a> Test<'a> {
    const fn new(gpu: Gpu, wave_size: u32, body: &'a str) -> Self {
        Test {
            gpu,
            wave_size,
            body,
            block: [64, 1, 1],
            grid: [1; 3],
            private_bytes: 0,
            lds_bytes: 1024,
        }
    }

    fn text(&self) -> String {
        let Test {
            wave_size,
            body,
            private_bytes,
            lds_bytes,
            ..
        } = self;
        let wait = match self.gpu {
            Gpu::Gfx1200 | Gpu::Gfx1201 => "s_wait_kmcnt 0",
            _ => "s_waitcnt lgkmcnt(0)",
        };
        let is_narrow = u8::from(*wave_size == 32);
        let scratch = u8::from(*private_bytes > 0);
        format!(
            "
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_b64 s[8:9], s[0:1], 0x0
  {wait}
{body}
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_enable_private_segment {scratch}
  .amdhsa_private_segment_fixed_size {private_bytes}
  .amdhsa_group_segment_fixed_size {lds_bytes}
  .amdhsa_wavefront_size32 {is_narrow}
  .amdhsa_next_free_vgpr 24
  .amdhsa_next_free_sgpr 64
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
    .kernarg_segment_size: 8
    .group_segment_fixed_size: {lds_bytes}
    .private_segment_fixed_size: {private_bytes}
    .kernarg_segment_align: 8
    .wavefront_size: {wave_size}
    .sgpr_count: 64
    .vgpr_count: 24
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
"
        )
    }

    fn object(&self, processor: &str, features: &str) -> Vec<u8> {
        let toolchain =
            Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
        let text = self.text();
        let wave = format!("{features}+wavefrontsize{}", self.wave_size);
        let mut assembly = Assembly::new(self.gpu, &text)
            .processor(processor)
            .features(&wave);
        if processor.ends_with("generic") {
            assembly = assembly.version(ferrowave_code_object::CodeObjectVersion::V6);
        }
        assembly.assemble(&toolchain).expect("LLVM assembles it")
    }

    fn run(&self) -> Vec<u32> {
        let object = self.object(self.gpu.name(), "");
        self.launch(&object).expect("it runs")
    }

    fn launch(&self, object: &[u8]) -> Result<Vec<u32>, LaunchError> {
        let memory = Arc::new(DeviceMemory::new(1 << 28));
        let program =
            Program::load(object, self.gpu, &memory, SimdLevel::detect()).expect("it loads");
        let kernel = program.kernel("k").expect("the kernel");
        assert_eq!(
            (kernel.wave_size(), kernel.gpu()),
            (self.wave_size, self.gpu)
        );
        let out = memory
            .allocate(4 * DWORDS, AllocationKind::Device)
            .expect("room");
        let config = LaunchConfig {
            grid: self.grid,
            block: self.block,
            dynamic_lds_bytes: 0,
            kernarg: &out.to_le_bytes(),
            seed: 0,
            threads: None,
            limits: Limits {
                instructions: Some(1 << 20),
                ..Limits::NONE
            },
            cooperative: false,
            group: None,
            partial: [0; 3],
        };
        launch(&kernel, &config)?;
        let mut data = vec![0; 4 * DWORDS];
        memory.read(out, &mut data).expect("the results");
        let words = data.as_chunks::<4>().0.iter();
        Ok(words.map(|word| u32::from_le_bytes(*word)).collect())
    }
}

const BOTH: [u32; 2] = [32, 64];

/// Stores `v4` at the thread's number plus `at`, of 64 threads; `v20` must have four times the number.
fn store(at: u32) -> String {
    format!("  global_store_b32 v20, v4, s[8:9] offset:{}\n", 4 * at)
}

const NUMBER: &str = "
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v20, 2, v0
";

/// On RDNA 4, a workgroup's coordinates are in trap temporaries (LLVM's `AMDGPUUsage`, «Trap temporaries»).
const COORDINATES: &str = "
  s_mov_b32 s2, ttmp9
  s_and_b32 s3, ttmp7, 0xffff
  s_lshr_b32 s4, ttmp7, 16
";

#[test]
fn waves_start_with_their_workgroup_and_their_work_items() {
    for gpu in Family::Rdna.gpus() {
        for wave_size in BOTH {
            // The number of the thread in the grid, from the coordinates: 3 × 2 × 2 workgroups of 5 × 7 × 2 work-items.
            let body = "
  s_mul_i32 s10, s4, 2
  s_add_u32 s10, s10, s3
  s_mul_i32 s10, s10, 3
  s_add_u32 s10, s10, s2
  s_mul_i32 s10, s10, 70
  v_bfe_u32 v1, v0, 10, 10
  v_bfe_u32 v2, v0, 20, 10
  v_and_b32_e32 v3, 0x3ff, v0
  v_mul_u32_u24_e32 v2, 7, v2
  v_add_nc_u32_e32 v1, v1, v2
  v_mul_u32_u24_e32 v1, 5, v1
  v_add_nc_u32_e32 v1, v1, v3
  v_add_nc_u32_e32 v1, s10, v1
  v_lshlrev_b32_e32 v5, 2, v1
  v_add_nc_u32_e32 v4, v0, v1
  global_store_b32 v5, v4, s[8:9]
";
            let body = match gpu {
                Gpu::Gfx1200 | Gpu::Gfx1201 => {
                    &(COORDINATES.to_string() + &body.replace("s_add_u32", "s_add_co_u32"))
                }
                _ => body,
            };
            let test = Test {
                block: [5, 7, 2],
                grid: [3, 2, 2],
                ..Test::new(*gpu, wave_size, body)
            };
            let found = test.run();
            for thread in 0..840 {
                let item = thread % 70;
                let id = (item % 5) + ((item / 5 % 7) << 10) + ((item / 35) << 20);
                assert_eq!(
                    found[thread as usize],
                    id + thread,
                    "{gpu}, {wave_size}: {thread}"
                );
            }
            assert_eq!(found[840], 0);
        }
    }
}

#[test]
fn private_memory_is_each_lanes_own_by_every_address() {
    for wave_size in BOTH {
        // The store has a vector and a scalar address (SVS), the loads a scalar one, none, and a flat address.
        let body = format!(
            "{NUMBER}
  v_mul_u32_u24_e32 v5, 3, v0
  v_mov_b32_e32 v6, 8
  s_mov_b32 s20, 16
  scratch_store_b32 v6, v5, s20 offset:4
  scratch_load_b32 v4, off, s20 offset:12
  s_waitcnt vmcnt(0)
{}
  scratch_load_b32 v4, off, off offset:28
  s_waitcnt vmcnt(0)
{}
  s_mov_b64 s[22:23], src_private_base
  v_mov_b32_e32 v2, 28
  v_mov_b32_e32 v3, s23
  flat_load_b32 v4, v[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)
{}",
            store(0),
            store(256),
            store(512)
        );
        let test = Test {
            block: [160, 1, 1],
            private_bytes: 64,
            ..Test::new(Gpu::Gfx1100, wave_size, &body)
        };
        let found = test.run();
        for thread in 0..160 {
            for at in [0, 256, 512] {
                assert_eq!(
                    found[at + thread],
                    3 * thread as u32,
                    "{wave_size}: {at}, {thread}"
                );
            }
        }
    }
}

#[test]
fn lane_masks_of_waves_of_32_lanes_have_32_bits() {
    // Every third lane, then the others. s31 is not part of any mask.
    let body = format!(
        "{NUMBER}
  s_mov_b32 s31, 77
  s_mov_b32 s10, 0x49249249
  v_mov_b32_e32 v4, 1
  s_and_saveexec_b32 s30, s10
  v_mov_b32_e32 v4, 2
  s_and_not1_saveexec_b32 s29, s30
  s_mov_b32 exec_lo, s30
  v_cmp_gt_u32_e32 vcc_lo, 8, v0
  v_cndmask_b32_e32 v5, 10, v4, vcc_lo
  v_mov_b32_e32 v4, v5
{}
  v_mov_b32_e32 v4, s30
{}
  v_mov_b32_e32 v4, s29
{}
  v_mov_b32_e32 v4, s31
{}
  s_mov_b32 exec_lo, 0
  s_cbranch_execz .Lnone
  s_mov_b32 s31, 78
.Lnone:
  s_mov_b32 exec_lo, -1
  v_mov_b32_e32 v4, s31
{}
  s_add_u32 null, s31, s31
  s_mov_b32 s11, null
  v_mov_b32_e32 v4, s11
{}",
        store(64),
        store(128),
        store(192),
        store(256),
        store(320),
        store(384)
    );
    let test = Test {
        block: [32, 1, 1],
        ..Test::new(Gpu::Gfx1100, 32, &body)
    };
    let found = test.run();
    for lane in 0..32 {
        let third = if lane % 3 == 0 { 2 } else { 1 };
        let expected = [
            if lane < 8 { third } else { 10 },
            u32::MAX,
            0x4924_9249,
            77,
            77,
            0,
        ];
        for (part, value) in expected.into_iter().enumerate() {
            assert_eq!(found[64 * (part + 1) + lane], value, "{part}, {lane}");
        }
    }
}

/// «RETURN_DATA[31:16] is preserved», and the reverse. Out of LDS, the half that is loaded is 0.
#[test]
fn loads_of_half_a_register_keep_the_other_half() {
    for wave_size in BOTH {
        let body = format!(
            "{NUMBER}
  v_mov_b32_e32 v5, 0x8182f3f4
  ds_store_b32 v20, v5
  global_store_b32 v20, v5, s[8:9]
  s_waitcnt lgkmcnt(0)
  s_waitcnt_vscnt null, 0x0
  v_mov_b32_e32 v4, 0x11112222
  ds_load_u16_d16 v4, v20
  s_waitcnt lgkmcnt(0)
{}
  v_mov_b32_e32 v4, 0x11112222
  ds_load_i8_d16_hi v4, v20 offset:1
  s_waitcnt lgkmcnt(0)
{}
  v_mov_b32_e32 v4, 0x11112222
  v_mov_b32_e32 v6, 0x20000
  ds_load_u16_d16_hi v4, v6
  s_waitcnt lgkmcnt(0)
{}
  v_mov_b32_e32 v4, 0x11112222
  global_load_d16_hi_b16 v4, v20, s[8:9]
  s_waitcnt vmcnt(0)
{}
  v_mov_b32_e32 v4, 0x11112222
  global_load_d16_u8 v4, v20, s[8:9] offset:3
  s_waitcnt vmcnt(0)
{}",
            store(64),
            store(128),
            store(192),
            store(256),
            store(320)
        );
        let found = Test::new(Gpu::Gfx1100, wave_size, &body).run();
        for lane in 0..64 {
            let parts: [usize; 5] = std::array::from_fn(|part| 64 * (part + 1) + lane);
            assert_eq!(
                parts.map(|at| found[at]),
                [0x1111_f3f4, 0xfff3_2222, 0x2222, 0xf3f4_2222, 0x1111_0081],
                "{wave_size}: {lane}"
            );
        }
    }
}

/// The kinds of range checks of RDNA 3's buffer resources, by `OOB_SELECT`: 16 records, or bytes; a stride of 8.
#[test]
fn buffers_are_checked_as_their_resource_says() {
    // Offsets of 4 bytes a lane; indices are the lanes.
    let load = |select: u32, stride: u32, records: u32, address: &str, at: u32| {
        format!(
            "
  s_mov_b32 s16, s8
  s_or_b32 s17, s9, {:#x}
  s_mov_b32 s18, {records}
  s_mov_b32 s19, {:#x}
  v_mov_b32_e32 v4, 7
  buffer_load_b32 v4, {address}
  s_waitcnt vmcnt(0)
  v_add_nc_u32_e32 v21, {at}, v20
  global_store_b32 v21, v4, s[8:9]
",
            stride << 16,
            select << 28 | 20 << 12,
        )
    };
    let raw = "v20, s[16:19], 0 offen";
    let reduced = "v20, s[16:19], s30 offen";
    let indexed = "v0, s[16:19], 0 idxen";
    let far = "v0, s[16:19], 0 idxen offset:8";
    // The first eight lanes' offsets are negative without the constant.
    let wrapping = "v6, s[16:19], 0 offen offset:32";
    let body = [
        NUMBER.to_owned(),
        "  s_mov_b32 s30, 32\n  v_add_nc_u32_e32 v5, 100, v0\n  global_store_b32 v20, v5, s[8:9]
  v_subrev_nc_u32_e32 v6, 32, v20\n"
            .to_owned(),
        load(3, 0, 64, raw, 1024),
        load(3, 0, 64, reduced, 2048),
        load(1, 8, 16, indexed, 3072),
        load(0, 8, 16, far, 4096 - 256),
        load(2, 0, 1, raw, 4096),
        load(2, 0, 0, raw, 4096 + 256),
        load(3, 0, 64, wrapping, 4096 + 512),
    ]
    .concat();
    for wave_size in BOTH {
        let found = Test::new(Gpu::Gfx1100, wave_size, &body).run();
        for lane in 0..64_usize {
            let value = |at: usize| if at < 64 { 100 + at as u32 } else { 0 };
            for (name, at, expected) in [
                ("raw", 256, if lane < 16 { value(lane) } else { 0 }),
                (
                    "raw, scalar offset",
                    512,
                    if lane < 8 { value(lane + 8) } else { 0 },
                ),
                (
                    "structured",
                    768,
                    if lane < 16 { value(2 * lane) } else { 0 },
                ),
                ("structured with offset", 960, 0),
                ("disabled", 1024, value(lane)),
                ("no records", 1088, 0),
                ("wrapping", 1152, if lane < 16 { value(lane) } else { 0 }),
            ] {
                assert_eq!(found[at + lane], expected, "{name}, {wave_size}: {lane}");
            }
        }
    }
}

#[test]
fn modes_messages_and_hardware_registers() {
    let body = format!(
        "{NUMBER}
  s_denorm_mode 6
  s_round_mode 9
  s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 8)
  v_mov_b32_e32 v4, s20
{}
  s_sendmsg_rtn_b64 s[20:21], sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
  s_sleep 1
  s_sendmsg_rtn_b64 s[22:23], sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s22, s22, s20
  s_subb_u32 s23, s23, s21
  v_mov_b32_e32 v4, s23
{}
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 8)
  v_mov_b32_e32 v4, s20
{}",
        store(0),
        store(64),
        store(128)
    );
    let found = Test::new(Gpu::Gfx1100, 32, &body).run();
    // Time does not run backwards, nor for as long as the upper half counts.
    assert_eq!([found[0], found[64], found[128]], [0x69, 0, 0x79]);
}

#[test]
fn atomic_operations_that_only_rdna_has() {
    let body = format!(
        "{NUMBER}
  v_mov_b32_e32 v5, 40
  global_store_b32 v20, v5, s[8:9]
  global_atomic_csub_u32 v4, v20, v0, s[8:9] glc
  s_waitcnt vmcnt(0)
{}
  v_cvt_f32_u32_e32 v6, v0
  v_mov_b32_e32 v5, 0x41a00000
  global_store_b32 v20, v5, s[8:9] offset:512
  global_atomic_min_f32 v20, v6, s[8:9] offset:512
  v_mov_b32_e32 v7, 0x40400000
  global_atomic_cmpswap_f32 v4, v20, v[6:7], s[8:9] offset:512 glc
  s_waitcnt vmcnt(0)
{}",
        store(64),
        store(192)
    );
    let found = Test::new(Gpu::Gfx1100, 32, &body).run();
    for lane in 0..64_u32 {
        let at = lane as usize;
        assert_eq!(found[at], 40_u32.saturating_sub(lane), "{lane}");
        assert_eq!(found[64 + at], 40, "{lane}");
        let least = (lane as f32).min(20.0);
        assert_eq!(found[192 + at], least.to_bits(), "{lane}");
        let now = if least == 3.0 { lane as f32 } else { least };
        assert_eq!(found[128 + at], now.to_bits(), "{lane}");
    }
}

/// Each half of a wave of 64 lanes permutes on its own (LLVM's `GCNSubtarget::supportsWaveWideBPermute`).
#[test]
fn permutes_stay_in_half_a_wave() {
    let body = format!(
        "{NUMBER}
  v_sub_nc_u32_e32 v5, 63, v0
  v_lshlrev_b32_e32 v5, 2, v5
  ds_bpermute_b32 v4, v5, v0
  s_waitcnt lgkmcnt(0)
{}",
        store(0)
    );
    for wave_size in BOTH {
        let found = Test::new(Gpu::Gfx1100, wave_size, &body).run();
        for (lane, &value) in found[..64].iter().enumerate() {
            assert_eq!(
                value,
                (lane as u32 & 32) + (31 - lane as u32 % 32),
                "{lane}"
            );
        }
    }
}

#[test]
fn generic_code_objects_run_and_others_are_refused() {
    let body = format!("{NUMBER}\n  v_mov_b32_e32 v4, v0\n{}", store(0));
    for &gpu in Family::Rdna.gpus() {
        let test = Test::new(gpu, 32, &body);
        let generic = match gpu {
            Gpu::Gfx1200 | Gpu::Gfx1201 => "gfx12-generic",
            _ => "gfx11-generic",
        };
        let object = test.object(generic, "");
        let found = test.launch(&object).expect("it runs");
        assert!((0..64).all(|lane| found[lane] == lane as u32), "{gpu}");
    }
    let memory = Arc::new(DeviceMemory::new(1 << 28));
    let load = |object: &[u8], gpu| {
        let program = Program::load(object, gpu, &memory, SimdLevel::detect());
        program.map(drop).expect_err("it does not load")
    };
    let test = Test::new(Gpu::Gfx1100, 32, &body);
    let own = load(&test.object("gfx1100", ""), Gpu::Gfx1151);
    assert!(matches!(own, LoadError::WrongGpu { .. }), "{own}");
    let generic = load(&test.object("gfx11-generic", ""), Gpu::Gfx942).to_string();
    assert!(
        generic.contains("gfx11-generic") && generic.contains("gfx942"),
        "{generic}"
    );
}

#[test]
fn a_workgroup_has_64_kib_of_lds() {
    let body = "  v_mov_b32_e32 v4, 0\n";
    let test = |lds_bytes| Test {
        lds_bytes,
        ..Test::new(Gpu::Gfx1100, 32, body)
    };
    let fits = test(64 << 10);
    fits.launch(&fits.object("gfx1100", "")).expect("it runs");
    // LLVM refuses more, so the launch asks for it.
    let memory = Arc::new(DeviceMemory::new(1 << 28));
    let object = test(64 << 10).object("gfx1100", "");
    let program =
        Program::load(&object, Gpu::Gfx1100, &memory, SimdLevel::detect()).expect("it loads");
    let config = LaunchConfig {
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_lds_bytes: 4,
        kernarg: &[0; 8],
        seed: 0,
        threads: None,
        limits: Limits::NONE,
        cooperative: false,
        group: None,
        partial: [0; 3],
    };
    let error = launch(&program.kernel("k").expect("the kernel"), &config);
    let error = error.expect_err("too much").to_string();
    assert!(
        error.contains("65540") && error.contains("65536"),
        "{error}"
    );
}

/// A test of RDNA 4, whose waves have 32 lanes.
fn rdna4(body: &str) -> Test<'_> {
    Test::new(Gpu::Gfx1201, 32, body)
}

/// One wave is the first to signal, and what waves store to LDS before they signal is there after the wait. The kernel chooses
/// a mode for hazards, as Tensile's do.
#[test]
fn barriers_of_rdna4_have_a_signal_and_a_wait() {
    let body = "
  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 0, 2), 2
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_nc_u32_e32 v2, 100, v0
  ds_store_b32 v1, v2
  s_wait_dscnt 0
  s_barrier_signal_isfirst -1
  s_cselect_b32 s10, 1, 0
  s_barrier_wait -1
  v_xor_b32_e32 v3, 0xfc, v1
  ds_load_b32 v4, v3
  s_wait_dscnt 0
  s_barrier_signal -1
  s_barrier_wait -1
  v_mov_b32_e32 v5, s10
  v_lshlrev_b32_e32 v6, 3, v0
  global_store_b64 v6, v[4:5], s[8:9]
";
    let found = rdna4(body).run();
    let mut first = 0;
    for item in 0..64 {
        assert_eq!(found[2 * item], 100 + (item as u32 ^ 63), "item {item}");
        first += found[2 * item + 1];
    }
    // All lanes of one of the two waves.
    assert_eq!(first, 32);
}

/// A wave may go on between signal and wait: the second one waits for what the first stores after its signal, in a loop.
#[test]
fn a_wave_that_has_signalled_goes_on() {
    let body = "
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s10, v0
  v_mov_b32_e32 v1, 0
  s_barrier_signal -1
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 .Lfirst
.Lagain:
  ds_load_b32 v2, v1
  s_wait_dscnt 0
  v_readfirstlane_b32 s11, v2
  s_cmp_eq_u32 s11, 9
  s_cbranch_scc0 .Lagain
  s_barrier_wait -1
  s_branch .Ldone
.Lfirst:
  s_barrier_wait -1
  v_mov_b32_e32 v2, 9
  ds_store_b32 v1, v2
.Ldone:
  v_lshlrev_b32_e32 v1, 2, v0
  global_store_b32 v1, v2, s[8:9]
";
    assert_eq!(rdna4(body).run()[..64], [9; 64]);
}

/// Scalar loads of bytes and halves, scalar arithmetic of 64 bits, and functions of scalars.
#[test]
fn the_scalar_unit_of_rdna4_loads_bytes_and_computes() {
    let body = "
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 0x80f1fe7f
  global_store_b32 v1, v2, s[8:9]
  s_wait_storecnt 0
  s_dcache_inv
  s_load_u8 s10, s[8:9], 0x1
  s_load_i8 s11, s[8:9], 0x1
  s_load_u16 s12, s[8:9], 0x2
  s_load_i16 s13, s[8:9], 0x2
  s_mov_b64 s[14:15], 0x12345678
  s_mul_u64 s[16:17], s[14:15], s[14:15]
  s_sub_nc_u64 s[18:19], 1, s[14:15]
  v_s_sqrt_f32 s20, 0x41100000
  v_s_exp_f16 s21, -2.0
  s_minimum_f32 s22, 0x7fc00001, 1.0
  s_min_num_f32 s23, 0x7fc00001, 1.0
  s_wait_kmcnt 0
"
    .to_string();
    let stores: String = (10..24)
        .map(|n| {
            format!(
                "  v_mov_b32_e32 v2, s{n}\n  global_store_b32 v1, v2, s[8:9] offset:{}\n",
                4 * (n - 9)
            )
        })
        .collect();
    let found = rdna4(&(body + &stores)).run();
    let square = 0x1234_5678_u64 * 0x1234_5678;
    let difference = 1_u64.wrapping_sub(0x1234_5678);
    let expected = [
        0xfe,
        0xffff_fffe,
        0x80f1,
        0xffff_80f1,
        0x1234_5678,
        0,
        square as u32,
        (square >> 32) as u32,
        difference as u32,
        (difference >> 32) as u32,
        3_f32.to_bits(),
        // A quarter.
        0x3400,
        // The minimum of IEEE 754-2019 is NaN, that of 2008 the number.
        0x7fc0_0001,
        1_f32.to_bits(),
    ];
    assert_eq!(found[1..15], expected);
}
