//! Waves of 32 lanes: the same operations, compiled for two host vectors.
//!
//! No GPU of the emulator has such waves yet, so CDNA's instructions stand for those of a second family. AMD's RDNA 3
//! ISA guide is the source: masks of 32 lanes are EXEC_LO, VCC_LO and one SGPR; lane numbers count modulo 32
//! (pseudocode of `V_READLANE_B32`, `V_READFIRSTLANE_B32`, `DS_BPERMUTE_B32`).

use std::collections::BTreeSet;

use ferrowave_gpu::{Family, Gpu};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{
    assembled,
    effects::{
        Bytes, CODE, Done, FORMS, SCALARS, VECTORS, aim, copied, done, random_wave,
        reaches_private, reason, shuffle,
        words::{Opcode, opcodes},
    },
    wave,
};
use crate::exec::{
    Code, Context, SimdLevel, Unobserved, VCC, Wave, code::Size, jit::Policy, run, simd::CHUNKS,
    state::Segment, wave::EXEC,
};
use crate::memory::{AllocationKind, DeviceMemory};
use ferrowave_isa::{Category, Format, Instruction, Register, Registers, run::Run};

/// Lanes 0 to 31.
const LOW: u64 = 0xffff_ffff;

fn code(gpu: Gpu, level: SimdLevel, size: Size, text: &[u8]) -> Code {
    // Each instruction that the JIT knows is a region of its own.
    let policy = Policy::AT_ONCE;
    Code::divided(gpu, level, size, CODE, text, &[], policy)
}

fn small() -> Size {
    Size::of::<2>()
}

/// Runs assembled instructions, one after the other, on a wave of 32 lanes.
fn run_all(wave: &mut Wave, lines: &[&str]) {
    let text = assembled(Gpu::Gfx942, lines);
    let code = code(Gpu::Gfx942, SimdLevel::detect(), small(), &text);
    let memory = DeviceMemory::new(0).view();
    let mut context = Context::new(&code, &memory, &mut []);
    wave.set_lane_count(32);
    wave.pc = 0;
    run(
        wave,
        &mut context,
        &mut (lines.len() as u64),
        &mut Unobserved,
    );
    assert_eq!(context.take_fault(), None);
}

/// A wave whose `v0` and `v1` are different in each lane, and whose upper halves of EXEC and VCC are no masks.
fn prepared() -> Wave {
    let mut wave = wave();
    for lane in 0..64 {
        wave.lanes_mut(0).as_mut_array()[lane] = 100 + lane as u32;
        wave.lanes_mut(1).as_mut_array()[lane] = 3 * lane as u32;
    }
    wave.exec = 0xdead_beef_0000_0000 | LOW;
    wave.set_scalar_pair(VCC, 0x1234_5678_0000_0000);
    wave
}

#[test]
fn masks_are_one_register() {
    let mut wave = prepared();
    wave.set_scalar(EXEC, 0x0fff_fff0);
    wave.set_scalar(5, 77);
    run_all(
        &mut wave,
        &[
            "v_cmp_gt_u32_e32 vcc, v0, v1",
            "v_cmp_gt_u32_e64 s[4:5], 40, v1",
            "v_cndmask_b32_e64 v2, v0, v1, s[4:5]",
            "v_add_co_u32_e32 v3, vcc, -1, v1",
            "v_addc_co_u32_e32 v4, vcc, v0, v1, vcc",
        ],
    );
    // 3 lane < 40 up to lane 13.
    assert_eq!(wave.scalar(4), 0x3ff0);
    assert_eq!(wave.scalar(5), 77, "the register behind the mask");
    // All additions with -1 carry: 3 lane is not 0 in an active lane. The last one does not carry.
    assert_eq!(wave.scalar_pair(VCC), 0x1234_5678_0000_0000);
    assert_eq!(wave.exec, 0xdead_beef_0fff_fff0);
    for lane in 0..64 {
        let [selected, sum, with_carry] = [2, 3, 4].map(|r| wave.lanes(r).as_array()[lane]);
        let (a, b) = (100 + lane as u32, 3 * lane as u32);
        let expected = match lane {
            4..14 => [b, b - 1, a + b + 1],
            14..28 => [a, b - 1, a + b + 1],
            _ => [super::UNTOUCHED; 3],
        };
        assert_eq!([selected, sum, with_carry], expected, "lane {lane}");
    }
}

#[test]
fn compares_write_32_bits_of_exec() {
    let mut wave = prepared();
    run_all(&mut wave, &["v_cmpx_gt_u32_e32 vcc, v0, v1"]);
    // 100 + lane > 3 lane in all 32 lanes; not so in lanes 50 to 63.
    assert_eq!(wave.exec, 0xdead_beef_ffff_ffff);
    assert_eq!(wave.scalar_pair(VCC), 0x1234_5678_ffff_ffff);
    run_all(&mut wave, &["v_cmpx_lt_u32_e32 vcc, v0, v1"]);
    assert_eq!(wave.exec, 0xdead_beef_0000_0000);
    assert_eq!((wave.active(), wave.all_active()), (0, false));
}

/// `vccz`, `execz` and branches look at 32 bits.
#[test]
fn upper_halves_are_no_masks() {
    let mut wave = prepared();
    wave.set_scalar(EXEC, 0);
    let lines = ["s_cbranch_execz 1", "s_mov_b32 s0, 1", "s_nop 0"];
    wave.set_scalar(0, 0);
    let text = assembled(Gpu::Gfx942, &lines);
    let code = code(Gpu::Gfx942, SimdLevel::detect(), small(), &text);
    let memory = DeviceMemory::new(0).view();
    let mut context = Context::new(&code, &memory, &mut []);
    wave.set_lane_count(32);
    run(&mut wave, &mut context, &mut 1, &mut Unobserved);
    assert_eq!(wave.pc, 2, "execz");
    run_all(
        &mut wave,
        &["s_mov_b32 s1, src_vccz", "s_mov_b32 s2, src_execz"],
    );
    assert_eq!((wave.scalar(1), wave.scalar(2)), (1, 1));
}

#[test]
fn lane_numbers_count_modulo_32() {
    let mut wave = prepared();
    wave.set_scalar(0, 37);
    wave.set_scalar(EXEC, 0xff00);
    run_all(
        &mut wave,
        &[
            "v_readlane_b32 s1, v0, s0",
            "v_readfirstlane_b32 s2, v0",
            "v_writelane_b32 v5, s0, 63",
            "v_mbcnt_lo_u32_b32 v6, -1, 0",
            "v_mbcnt_hi_u32_b32 v6, -1, v6",
            // Lanes 8 to 15 read lanes (3 lane) mod 128 / 4 of 32, of which 8 to 15 are active.
            "v_lshlrev_b32_e32 v7, 4, v1",
            "ds_bpermute_b32 v8, v7, v0",
        ],
    );
    assert_eq!((wave.scalar(1), wave.scalar(2)), (105, 108));
    let lanes = |register: u16| *wave.lanes(register).as_array();
    assert_eq!((lanes(5)[31], lanes(5)[63]), (37, super::UNTOUCHED));
    for lane in 8..16 {
        assert_eq!(lanes(6)[lane], lane as u32);
        let from = 12 * lane % 32;
        let expected = if (8..16).contains(&from) {
            100 + from
        } else {
            0
        };
        assert_eq!(lanes(8)[lane], expected as u32, "lane {lane}");
    }
    wave.set_scalar(EXEC, 0);
    run_all(&mut wave, &["v_readfirstlane_b32 s2, v0"]);
    assert_eq!(wave.scalar(2), 100, "lane 0, although EXEC_HI is not 0");
}

/// Lanes that access one private address reach adjacent dwords (LLVM's `AMDGPUUsage`, «Address Spaces»): a wave's rows
/// have as many dwords as it has lanes.
#[test]
fn private_memory_has_rows_of_32_dwords() {
    let text = assembled(
        Gpu::Gfx942,
        &[
            "scratch_store_dword off, v0, off offset:8",
            "scratch_load_dword v2, off, off offset:8",
        ],
    );
    let code = code(Gpu::Gfx942, SimdLevel::detect(), small(), &text);
    let memory = DeviceMemory::new(1 << 16);
    let base = memory
        .allocate(32 * 16, AllocationKind::Device)
        .expect("memory");
    let mut wave = prepared();
    wave.set_lane_count(32);
    wave.private = Segment {
        base: Some(base),
        bytes: 16,
    };
    let view = memory.view();
    let mut context = Context::new(&code, &view, &mut []);
    run(&mut wave, &mut context, &mut 2, &mut Unobserved);
    assert_eq!(context.take_fault(), None);
    let mut bytes = [0; 32 * 16];
    memory.read(base, &mut bytes).expect("its own memory");
    for (at, dword) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let expected = if (64..96).contains(&at) {
            100 + at - 64
        } else {
            0
        };
        assert_eq!(u32::from_le_bytes(*dword) as usize, expected, "dword {at}");
    }
    assert_eq!(
        wave.lanes(2).as_array()[..32],
        wave.lanes(0).as_array()[..32]
    );
    assert_eq!(wave.lanes(2).as_array()[32], super::UNTOUCHED);
}

/// Whether an instruction exists for 64 lanes only, or depends on lanes 32 to 63 of a wave of 64.
fn is_for_64_lanes(i: &Instruction) -> bool {
    let swaps = matches!(i.run(), Run::PermlaneSwap(_) | Run::LdsTranspose(_));
    let is_matrix = i.category() == Category::Matrix;
    swaps || is_matrix || i.crosses_lanes() || reaches_private(i)
}

/// Whether a source is EXEC, as a number.
fn reads_exec(i: &Instruction) -> bool {
    let is_exec = |registers: Registers| registers.iter().any(|r| r.0 >= Register::EXEC.0);
    let mut reads = i.uses().reads.into_iter();
    reads.any(|read| {
        read.slot.is_some()
            && read.registers.first.0 >= Register::SCALARS
            && is_exec(read.registers)
    })
}

/// What differs between a wave of 32 lanes and the same lanes of a wave of 64 whose others are inactive.
fn differences(i: &Instruction, wide: &Done, narrow: &Done, before: &Wave) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut note = |what: String| {
        found.insert(what);
    };
    for register in 0..VECTORS {
        let [wide, narrow, before] =
            [&wide.after, &narrow.after, before].map(|wave| wave.lanes(register).as_array());
        if wide[..32] != narrow[..32] {
            note(format!("v{register} differs"));
        }
        if narrow[32..] != before[32..] {
            note(format!("v{register} has changed behind lane 31"));
        }
    }
    let uses = i.uses();
    for register in 0..SCALARS + 2 {
        let code = Register(Register::SCALARS + register);
        // The second register of a vector instruction's pair holds the mask of lanes 32 to 63.
        let is_upper = |w: &Registers| w.count == 2 && w.first.0 + 1 == code.0;
        let is_kept = register == EXEC + 1 || uses.writes.iter().any(is_upper);
        let expected = match i.is_vector() && is_kept {
            true => before.scalar(register),
            false => wide.after.scalar(register),
        };
        if narrow.after.scalar(register) != expected {
            note(format!("{code:?} differs"));
        }
    }
    let state = |wave: &Wave| (wave.scc, wave.mode, wave.pc);
    if (state(&wide.after), wide.stop) != (state(&narrow.after), narrow.stop) {
        note("goes another way".to_string());
    }
    if wide.memory != narrow.memory || wide.lds != narrow.lds {
        note("memory differs".to_string());
    }
    found
}

/// Every instruction of every GPU that works on lanes alone does the same in a wave of 32 lanes as in the lower half of
/// a wave of 64, and leaves the upper half alone.
#[test]
fn waves_of_32_lanes_do_what_half_a_wave_of_64_does() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let bytes = Bytes::new(&mut random);
    let view = bytes.memory.view();
    let start = random_wave(&mut random);
    let levels: Vec<_> = SimdLevel::ALL
        .into_iter()
        .filter(|level| level.is_available())
        .collect();
    let (mut wrong, mut tried) = (BTreeSet::new(), BTreeSet::new());
    for &gpu in Family::Cdna.gpus() {
        for opcode in opcodes(gpu) {
            if reason(&opcode).is_some() {
                continue;
            }
            let Opcode { name, encoding, .. } = &opcode;
            let mut runs = 0;
            for form in 0..FORMS {
                let words = opcode.words(gpu, form, &mut random);
                let text: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let Ok(i) = ferrowave_isa::decode(gpu, &words, 0) else {
                    continue;
                };
                let text = &text[..usize::from(i.size)];
                let level = levels[form % levels.len()];
                let [wide, narrow] =
                    [Size::of::<CHUNKS>(), small()].map(|size| code(gpu, level, size, text));
                if !opcode.is(&i) || is_for_64_lanes(&i) || !wide.unsupported().is_empty() {
                    continue;
                }
                assert_eq!(narrow.unsupported(), [], "{name} of 32 lanes");
                let mut a = copied(&start);
                shuffle(&mut a, &mut random);
                aim(gpu, &i, &mut a, &bytes, &mut random);
                let mut b = copied(&a);
                b.set_lane_count(32);
                a.exec &= LOW;
                b.exec &= LOW;
                if i.is_vector() && !reads_exec(&i) {
                    b.exec |= random.random::<u64>() << 32;
                }
                if !i.is_vector() {
                    for wave in [&mut a, &mut b] {
                        wave.set_scalar(VCC + 1, 0);
                    }
                }
                let before = copied(&b);
                let data = &bytes.filled;
                let ran = [(wide, a), (narrow, b)]
                    .map(|(code, wave)| done(&i, &code, wave, &bytes, data, &view));
                let what = match &ran {
                    [Some(wide), Some(narrow)] => differences(&i, wide, narrow, &before),
                    [None, None] => continue,
                    _ => BTreeSet::from(["faults in one".to_string()]),
                };
                for what in what {
                    wrong.insert(format!("{encoding} {gpu} {level} {}: {what}", i.text(gpu)));
                }
                tried.insert(i.op);
                runs += 1;
                if runs == 2 * levels.len() {
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(tried.len() > 900, "only {} instructions ran", tried.len());
}

/// What only waves of 64 lanes have is refused by name.
#[test]
fn matrix_instructions_need_64_lanes() {
    let line = "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]";
    let text = assembled(Gpu::Gfx942, &[line]);
    let code = code(Gpu::Gfx942, SimdLevel::detect(), small(), &text);
    let [refused] = &code.unsupported()[..] else {
        panic!("{:?}", code.unsupported());
    };
    assert!(
        refused.what.contains("v_mfma_f32_32x32x8_f16"),
        "{refused:?}"
    );
    assert_eq!(code.instruction(0).map(|i| i.format), Some(Format::Mai));
}
