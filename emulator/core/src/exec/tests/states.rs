//! Indexed registers, skipped instructions, forks, hardware registers, halts; scalar stores and atomics.

use ferrowave_gpu::Gpu;

use super::{Bench, UNTOUCHED, wave};
use crate::exec::{Allocated, FaultKind, Mode, Stop, Wave};
use crate::memory::{AllocationKind, DeviceMemory};

const M0: u16 = 124;

#[test]
fn registers_are_indexed() {
    let lines = [
        "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)",
        "v_mov_b32_e32 v1, v10",
        "v_add_u32_e32 v1, v10, v11",
        "s_set_gpr_idx_mode gpr_idx(SRC1)",
        "s_set_gpr_idx_idx s3",
        "v_add_u32_e32 v30, v10, v11",
        "v_mac_f32_e32 v40, v41, v42",
        "s_set_gpr_idx_off",
        "v_mov_b32_e32 v31, v10",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        for register in 0..256 {
            let value = 1000 + u32::from(register);
            wave.lanes_mut(register).as_mut_array().fill(value);
        }
        for (register, value) in [(40, 1.0_f32), (41, 2.0), (42, 3.0), (44, 5.0)] {
            let lanes = wave.lanes_mut(register).as_mut_array();
            lanes.fill(value.to_bits());
        }
        wave.exec = !1;
        wave.set_scalar(M0, 0x0abc_0000);
        wave.set_scalar(2, 0x104);
        wave.set_scalar(3, 2);
        let value = |wave: &Wave, register| {
            let lanes = wave.lanes(register).as_array();
            (lanes[0], lanes[63])
        };
        bench.step(level, 0, &mut wave);
        assert_eq!(wave.scalar(M0), 0x0abc_9004);
        bench.step(level, 1, &mut wave);
        assert_eq!(value(&wave, 5), (1005, 1014));
        assert_eq!(value(&wave, 1), (1001, 1001));
        bench.step(level, 2, &mut wave);
        assert_eq!(value(&wave, 5), (1005, 1014 + 1011));
        bench.step(level, 3, &mut wave);
        bench.step(level, 4, &mut wave);
        assert_eq!(wave.scalar(M0), 0x0abc_2002);
        bench.step(level, 5, &mut wave);
        assert_eq!(value(&wave, 30), (1030, 1010 + 1013));
        bench.step(level, 6, &mut wave);
        assert_eq!(f32::from_bits(value(&wave, 40).1), 1.0 + 2.0 * 5.0);
        bench.step(level, 7, &mut wave);
        bench.step(level, 8, &mut wave);
        assert_eq!(value(&wave, 31), (1031, 1010));
    }
}

/// Where SDWA preserves bits, they are those of the indexed register; DPP permutes lanes of the indexed register.
#[test]
fn registers_of_sdwa_and_dpp_are_indexed() {
    let lines = [
        "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)",
        "v_mov_b32_sdwa v1, v10 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0",
        "v_add_u32_sdwa v2, v10, v11 dst_sel:DWORD src0_sel:WORD_0 src1_sel:WORD_0",
        "v_add_u32_dpp v3, v10, v11 row_shr:1 row_mask:0xf bank_mask:0xf",
        "s_set_gpr_idx_mode gpr_idx(SRC1)",
        "v_add_u32_dpp v20, v10, v11 row_shr:1 row_mask:0xf bank_mask:0xf",
        "v_add_f32_sdwa v21, v10, v11 mul:2 dst_sel:DWORD src0_sel:DWORD src1_sel:DWORD",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        for register in 0..64 {
            for lane in 0..64 {
                let value = 0x1000 * u32::from(register) + lane as u32;
                wave.lanes_mut(register).as_mut_array()[lane] = value;
            }
        }
        let old = |register: u32, lane: u32| 0x1000 * register + lane;
        let value = |wave: &Wave, register| wave.lanes(register).as_array()[21];
        wave.set_scalar(2, 4);
        bench.step(level, 0, &mut wave);
        bench.step(level, 1, &mut wave);
        assert_eq!(value(&wave, 5), old(5, 21) & 0xffff | 21 << 16);
        bench.step(level, 2, &mut wave);
        assert_eq!(
            value(&wave, 6),
            (old(14, 21) & 0xffff) + (old(11, 21) & 0xffff)
        );
        bench.step(level, 3, &mut wave);
        assert_eq!(value(&wave, 7), old(14, 20) + old(11, 21));
        for register in 1..4 {
            assert_eq!(value(&wave, register), old(register.into(), 21));
        }
        bench.step(level, 4, &mut wave);
        bench.step(level, 5, &mut wave);
        assert_eq!(value(&wave, 20), old(10, 20) + old(15, 21));
        wave.mode = Mode::from_bits(wave.mode.bits() & !0x2f0);
        wave.lanes_mut(10).as_mut_array().fill(1.5_f32.to_bits());
        wave.lanes_mut(15).as_mut_array().fill(0.25_f32.to_bits());
        bench.step(level, 6, &mut wave);
        assert_eq!(f32::from_bits(value(&wave, 21)), 3.5);
    }
}

#[test]
fn indices_past_the_last_register() {
    let lines = [
        "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)",
        "v_mov_b32_e32 v1, v250",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    for (index, [source, expected]) in [(5, [255, 77]), (6, [0, 66]), (255, [0, UNTOUCHED])] {
        let mut wave = wave();
        wave.lanes_mut(255).as_mut_array().fill(77);
        wave.lanes_mut(0).as_mut_array().fill(66);
        wave.set_scalar(2, index);
        bench.step(0, 0, &mut wave);
        bench.step(0, 1, &mut wave);
        // Index 255 leaves no destination, and no other register is written.
        let destination = 1 + index as u16;
        let result = match destination {
            256 => UNTOUCHED,
            _ => wave.lanes(destination).as_array()[9],
        };
        assert_eq!(result, expected, "index {index}, of v{source}");
        assert_eq!(wave.lanes(256).as_array()[9], 0, "an accumulator");
    }
}

/// `s_setvskip` sets a bit of MODE.
#[test]
fn mode_holds_whether_vector_instructions_are_skipped() {
    let lines = [
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1",
        "v_mov_b32_e32 v8, 1",
        "s_getreg_b32 s4, hwreg(HW_REG_MODE, 27, 2)",
        "s_setvskip 0, 0",
        "s_getreg_b32 s5, hwreg(HW_REG_MODE, 27, 2)",
        "v_mov_b32_e32 v9, 1",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        for line in 0..lines.len() {
            bench.step(level, line, &mut wave);
        }
        assert_eq!([8, 9].map(|r| wave.lanes(r).as_array()[0]), [UNTOUCHED, 1]);
        assert_eq!([4, 5].map(|r| wave.scalar(r)), [2, 0]);
    }
}

#[test]
fn vector_instructions_are_skipped() {
    let lines = [
        "s_setvskip s2, 3",
        "v_mov_b32_e32 v8, 1",
        "ds_read_b32 v8, v2",
        "global_load_dword v8, v[0:1], off",
        "s_mov_b32 s4, 9",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        wave.set_scalar(2, 8);
        for line in 0..lines.len() {
            bench.step(level, line, &mut wave);
        }
        assert_eq!(wave.lanes(8).as_array()[0], UNTOUCHED);
        assert_eq!(wave.scalar(4), 9);
        wave.set_scalar(2, 0);
        bench.step(level, 0, &mut wave);
        bench.step(level, 1, &mut wave);
        assert_eq!(wave.lanes(8).as_array()[0], 1);
    }
}

#[test]
fn forks_are_joined() {
    // Lanes of the mask in s[20:21] go to line 3, the others to line 1; all meet at the join in line 4.
    let lines = [
        "s_cbranch_i_fork s[20:21], 2",
        "v_mov_b32_e32 v8, 1",
        "s_branch 1",
        "v_mov_b32_e32 v8, 2",
        "s_cbranch_join s30",
        "v_mov_b32_e32 v9, 3",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    for (mask, exec) in [
        (0xff, !0),
        (!0xff, !0),
        (0, !0),
        (!0, !0),
        (0xff00, 0xfff0),
        (0, 0),
    ] {
        let mut wave = wave();
        wave.exec = exec;
        wave.set_scalar_pair(20, mask);
        wave.set_scalar(30, 0);
        for _ in 0..20 {
            let next = wave.pc as usize;
            if next == lines.len() {
                break;
            }
            bench.step(0, next, &mut wave);
        }
        // After the second join only the last group is active, as on the hardware.
        for lane in 0..64 {
            let active = exec >> lane & 1 == 1;
            let expected = match mask >> lane & 1 {
                _ if !active => UNTOUCHED,
                1 => 2,
                _ => 1,
            };
            assert_eq!(
                wave.lanes(8).as_array()[lane],
                expected,
                "{mask:#x}, {exec:#x}"
            );
        }
        assert_eq!(wave.pc as usize, lines.len());
        assert_eq!(wave.mode.forks(), 0);
    }
}

#[test]
fn hardware_registers_are_read() {
    let lines = [
        "s_getreg_b32 s4, hwreg(HW_REG_SH_MEM_BASES)",
        "s_getreg_b32 s5, hwreg(HW_REG_LDS_ALLOC, 12, 9)",
        "s_getreg_b32 s6, hwreg(HW_REG_GPR_ALLOC)",
        "s_getreg_b32 s7, hwreg(HW_REG_STATUS)",
        "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 4, 8), 0xabc",
        "s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS)",
        "s_getreg_b32 s9, hwreg(HW_REG_XCC_ID)",
        "s_getreg_b32 s10, hwreg(HW_REG_IB_STS)",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let mut wave = wave();
    wave.allocated = Allocated {
        gprs: 0x0300_0700,
        lds: 5 << 12,
        in_group: true,
    };
    wave.scc = true;
    for line in 0..lines.len() {
        bench.step(0, line, &mut wave);
    }
    let registers = [4, 5, 6, 7, 8, 9, 10].map(|register| wave.scalar(register));
    // Status: valid, in a group, vccz, not execz, scc.
    let status = 1 << 16 | 1 << 11 | 1 << 10 | 1;
    assert_eq!(registers, [0x1_0002, 5, 0x0300_0700, status, 0xbc0, 0, 0]);
}

#[test]
fn halts_and_traps() {
    let lines = [
        "s_sethalt 1",
        "s_sendmsghalt sendmsg(MSG_INTERRUPT)",
        "s_trap 2",
    ];
    let harmless = [
        "s_sethalt 0",
        "s_trap 3",
        "s_setkill 0",
        "s_sendmsg sendmsg(MSG_INTERRUPT)",
    ];
    let view = DeviceMemory::new(0).view();
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    let expected = [
        FaultKind::Halted,
        FaultKind::Halted,
        FaultKind::Trap { id: 2 },
    ];
    for (line, kind) in expected.into_iter().enumerate() {
        let fault = bench.step_with(0, line, &mut wave(), &view, &mut []);
        assert_eq!(fault.unwrap_err().kind, kind, "{}", lines[line]);
    }
    let bench = Bench::new(Gpu::Gfx90a, &harmless);
    for line in 0..harmless.len() {
        bench.step(0, line, &mut wave());
    }
    let bench = Bench::new(Gpu::Gfx90a, &["s_setkill 1"]);
    let stop = bench.step_with(0, 0, &mut wave(), &view, &mut []);
    assert_eq!(stop.unwrap(), Stop::Ended);
}

#[test]
fn scalar_stores_and_atomics() {
    let lines = [
        "s_atomic_add s4, s[8:9], 0x4 glc",
        "s_atomic_cmpswap_x2 s[4:7], s[8:9], 0x8 glc",
        "s_atomic_umax s4, s[8:9], 0x4",
        "s_buffer_store_dwordx2 s[4:5], s[12:15], 0xc",
        "s_buffer_atomic_swap s4, s[12:15], 0x8 glc",
        "s_buffer_atomic_swap s4, s[12:15], 0x10 glc",
        "s_scratch_store_dword s4, s[8:9], s2",
        "s_scratch_load_dwordx2 s[4:5], s[8:9], 0x8",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(256, AllocationKind::Device).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        let run = |line: usize, data: [u32; 4]| {
            let start: Vec<u8> = (0..64_u32).flat_map(|i| (100 + i).to_le_bytes()).collect();
            memory.write(base, &start).unwrap();
            let mut wave = wave();
            wave.set_scalar_pair(8, base);
            wave.set_scalar(2, 2);
            for (register, value) in (12..).zip([base as u32, (base >> 32) as u32, 16, 0]) {
                wave.set_scalar(register, value);
            }
            for (register, value) in (4..).zip(data) {
                wave.set_scalar(register, value);
            }
            bench
                .step_with(level, line, &mut wave, &view, &mut [])
                .unwrap();
            let mut after = [0; 256];
            memory.read(base, &mut after).unwrap();
            let words: Vec<u32> = (0..64)
                .map(|i| super::memory::dword(&after, 4 * i))
                .collect();
            (words, [4, 5].map(|register| wave.scalar(register)))
        };
        let (words, old) = run(0, [7, 1, 0, 0]);
        assert_eq!((&words[..4], old), (&[100, 108, 102, 103][..], [101, 1]));
        let (words, old) = run(1, [1, 2, 102, 103]);
        assert_eq!((&words[..5], old), (&[100, 101, 1, 2, 104][..], [102, 103]));
        let (words, old) = run(2, [500, 0, 0, 0]);
        assert_eq!((words[1], old[0]), (500, 500), "nothing is returned");
        // The buffer has 16 bytes: the second dword is dropped.
        let (words, _) = run(3, [8, 9, 0, 0]);
        assert_eq!(words[2..5], [102, 8, 104]);
        let (words, old) = run(4, [8, 9, 0, 0]);
        assert_eq!((&words[1..4], old[0]), (&[101, 8, 103][..], 102));
        let (words, old) = run(5, [8, 9, 0, 0]);
        assert_eq!((words[4], old[0]), (104, 0), "out of range");
        let (words, _) = run(6, [8, 0, 0, 0]);
        assert_eq!(words[32], 8, "registers count in 64 bytes");
        assert_eq!(run(7, [0; 4]).1, [102, 103]);
    }
}
