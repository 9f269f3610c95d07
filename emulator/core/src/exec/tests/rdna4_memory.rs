//! Memory instructions that only RDNA 4 has: transposing loads and block loads and stores.

use ferrowave_gpu::Gpu;

use super::{
    assembled,
    effects::copied,
    rdna::{random_wave, run_words_on},
};
use crate::exec::{Code, SimdLevel, Wave, code::Size, jit::Policy, state::Segment, wave::M0};
use crate::memory::{AllocationKind, DeviceMemory};

const GPU: Gpu = Gpu::Gfx1200;

/// Memory with other bytes everywhere.
fn filled(bytes: usize) -> (DeviceMemory, u64, Vec<u8>) {
    let memory = DeviceMemory::new(1 << 16);
    let base = memory
        .allocate(bytes, AllocationKind::Device)
        .expect("memory");
    let data: Vec<u8> = (0..bytes)
        .map(|at| (197 * at + at / 256 * 31) as u8)
        .collect();
    memory.write(base, &data).expect("its own memory");
    (memory, base, data)
}

fn set_address(wave: &mut Wave, register: u16, lane: usize, address: u64) {
    wave.lanes_mut(register).as_mut_array()[lane] = address as u32;
    wave.lanes_mut(register + 1).as_mut_array()[lane] = (address >> 32) as u32;
}

fn bytes_of(wave: &Wave, registers: std::ops::Range<u16>, lane: usize) -> Vec<u8> {
    let dwords = registers.map(|register| wave.lanes(register).as_array()[lane]);
    dwords.flat_map(u32::to_le_bytes).collect()
}

/// AMD's documentation of `__builtin_amdgcn_global_load_tr_b128_v8f16`: lane `t` passes the address of row `t / 4`, column
/// `t % 4 * 8`, and its element `e` is that of row `t / 8 * 2 + e / 4`, column `e % 4 * 8 + t % 8`.
#[test]
fn elements_of_16_bits_are_transposed() {
    const PITCH: usize = 80;
    let (memory, base, data) = filled(1024);
    let mut wave = random_wave(1);
    for lane in 0..32 {
        let at = lane / 4 * PITCH + lane % 4 * 16;
        set_address(&mut wave, 2, lane, base + at as u64);
    }
    let text = assembled(GPU, &["global_load_tr_b128 v[8:11], v[2:3], off offset:16"]);
    run_words_on(GPU, &memory.view(), &mut wave, 32, &text, 1);
    for lane in 0..32 {
        let expected: Vec<u8> = (0..8)
            .flat_map(|element| {
                let (row, column) = (lane / 8 * 2 + element / 4, element % 4 * 8 + lane % 8);
                let at = 16 + row * PITCH + 2 * column;
                [data[at], data[at + 1]]
            })
            .collect();
        assert_eq!(bytes_of(&wave, 8..12, lane), expected, "lane {lane}");
    }
}

/// As measured on an RX 9070 XT: if lane `t` passes the address of byte `8 t`, its element `e` is byte `t % 8 + t / 8 % 2 *
/// 32 + t / 16 * 128 + e % 4 * 8 + e / 4 * 64`.
#[test]
fn elements_of_8_bits_are_transposed() {
    let (memory, base, data) = filled(512);
    let mut wave = random_wave(2);
    wave.set_scalar_pair(4, base);
    for lane in 0..32 {
        wave.lanes_mut(2).as_mut_array()[lane] = 8 * lane as u32;
    }
    // The result may be where the address was.
    let text = assembled(GPU, &["global_load_tr_b64 v[2:3], v2, s[4:5]"]);
    run_words_on(GPU, &memory.view(), &mut wave, 32, &text, 1);
    for lane in 0..32 {
        let first = lane % 8 + lane / 8 % 2 * 32 + lane / 16 * 128;
        let expected: Vec<u8> = (0..8)
            .map(|element| data[first + element % 4 * 8 + element / 4 * 64])
            .collect();
        assert_eq!(bytes_of(&wave, 2..4, lane), expected, "lane {lane}");
    }
}

#[test]
fn waves_of_64_lanes_have_no_transposing_loads() {
    let text = assembled(GPU, &["global_load_tr_b64 v[2:3], v2, s[4:5]"]);
    for (size, count) in [(Size::of::<2>(), 0), (Size::of::<4>(), 1)] {
        let level = SimdLevel::detect();
        let code = Code::divided(GPU, level, size, 0x1000, &text, &[], Policy::default());
        let refused = code.unsupported();
        let first = refused.iter().filter(|refused| refused.offset == 0);
        assert_eq!(first.count(), count);
    }
}

/// Dwords without a bit in `m0` are neither read nor written, nor need there be memory.
#[test]
fn blocks_leave_out_dwords_without_a_bit() {
    const SELECTED: u32 = 0x0006_8131;
    let offsets = (0..32_usize).filter(|dword| SELECTED >> dword & 1 == 1);
    let offsets: Vec<usize> = offsets.collect();
    for lanes in [32, 64] {
        // The last lane's block ends with the allocation, after dword 18.
        let bytes = 128 * (lanes - 1) + 4 * 19;
        let (memory, base, data) = filled(bytes);
        let mut wave = random_wave(3);
        wave.exec = 0x8fff_0f0f_8fff_f0ff;
        wave.set_scalar(M0, SELECTED);
        for lane in 0..lanes {
            set_address(&mut wave, 10, lane, base + 128 * lane as u64 - 8);
        }
        let before = copied(&wave);
        // Its registers are also the address.
        let text = assembled(GPU, &["global_load_block v[2:33], v[10:11], off offset:8"]);
        run_words_on(GPU, &memory.view(), &mut wave, lanes, &text, 1);
        for lane in 0..lanes {
            for dword in 0..32 {
                let register = 2 + dword as u16;
                let moves = wave.exec >> lane & 1 == 1 && offsets.contains(&dword);
                let expected = match moves {
                    true => data[128 * lane + 4 * dword..][..4].to_vec(),
                    false => bytes_of(&before, register..register + 1, lane),
                };
                let loaded = bytes_of(&wave, register..register + 1, lane);
                assert_eq!(loaded, expected, "dword {dword} of lane {lane}");
            }
        }
        let mut wave = copied(&before);
        let text = assembled(
            GPU,
            &["global_store_block v[10:11], v[34:65], off offset:8"],
        );
        for register in 34..66 {
            for lane in 0..lanes {
                let value = u32::from(register) << 16 | lane as u32;
                wave.lanes_mut(register).as_mut_array()[lane] = value;
            }
        }
        run_words_on(GPU, &memory.view(), &mut wave, lanes, &text, 1);
        let mut expected = data;
        for dword in 0..32 {
            for lane in (0..lanes).filter(|lane| wave.exec >> lane & 1 == 1) {
                if offsets.contains(&dword) {
                    let value = (34 + dword as u32) << 16 | lane as u32;
                    expected[128 * lane + 4 * dword..][..4].copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        let mut stored = vec![0; bytes];
        memory.read(base, &mut stored).expect("its own memory");
        assert_eq!(stored, expected, "{lanes} lanes");
    }
}

/// As compilers spill registers with them.
#[test]
fn blocks_of_registers_are_spilled_and_come_back() {
    for lanes in [32, 64] {
        let memory = DeviceMemory::new(1 << 16);
        let bytes = 4 * 24;
        let base = memory
            .allocate(bytes as usize * lanes, AllocationKind::Device)
            .expect("memory");
        let mut wave = random_wave(4);
        wave.exec = 0xffff_0fff_7fff_f0ff;
        // Dwords 0 to 3 and 17; the block begins at byte 16, and private memory ends after byte 96.
        wave.set_scalar(M0, 0x2000f);
        wave.set_scalar(32, 16);
        wave.private = Segment {
            base: Some(base),
            bytes,
        };
        let before = copied(&wave);
        let lines = [
            "scratch_store_block off, v[4:35], s32",
            "v_mov_b32_e32 v4, 0",
            "v_mov_b32_e32 v8, 0",
            "v_mov_b32_e32 v21, 0",
            "scratch_load_block v[4:35], off, s32",
        ];
        let text = assembled(GPU, &lines);
        run_words_on(GPU, &memory.view(), &mut wave, lanes, &text, lines.len());
        for lane in (0..lanes).filter(|lane| wave.exec >> lane & 1 == 1) {
            for register in 4..32 {
                let expected = match register {
                    8 => 0,
                    _ => before.lanes(register).as_array()[lane],
                };
                let value = wave.lanes(register).as_array()[lane];
                assert_eq!(value, expected, "v{register} of lane {lane}");
            }
            let place = base + ((16 + 4 * 17) / 4 * lanes + lane) as u64 * 4;
            let mut dword = [0; 4];
            memory.read(place, &mut dword).expect("its own memory");
            let expected = before.lanes(21).as_array()[lane];
            assert_eq!(u32::from_le_bytes(dword), expected, "lane {lane}");
        }
    }
}
