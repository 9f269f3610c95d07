//! Regions as host code, compared with the same instructions run one by one; the instructions' own tests compare those
//! with AMD's pseudocode.

use std::{ops::Range, sync::Arc};

use ferrowave_gpu::{Gpu, GpuLimits};

use super::{
    super::{
        Code, Context, Fault, SimdLevel, Stop, Unobserved, Wave, code::Size, jit::Policy, run,
        simd::CHUNKS,
    },
    Random, assembled, wave,
};
use crate::memory::{AllocationKind, DeviceMemory, View};

/// Bytes of LDS, and of an allocation; 12 bytes of the allocation's last page are unallocated.
const LDS: usize = 4096;
const GLOBAL: usize = 8180;

/// Registers for addresses in the allocation: VGPR pairs with an address, a VGPR with a distance from the base, an SGPR
/// pair with the base.
const POINTERS: Range<u64> = 60..62;
const DISTANCES: u16 = 62;
const BASE: u16 = 50;

/// Vector registers with numbers, with integers, and with addresses.
const NUMBERS: Range<u64> = 0..40;
const INTEGERS: Range<u64> = 40..56;
const ADDRESSES: Range<u64> = 56..60;

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Many programs in one code.
struct Programs {
    lanes: u32,
    /// With all regions as host code, and with none.
    codes: [Code; 2],
    starts: Vec<u32>,
    memory: Arc<View>,
    /// The allocation's address.
    base: u64,
}

/// The result of a program.
struct Outcome {
    wave: Wave,
    budget: u64,
    stop: Stop,
    fault: Option<Box<Fault>>,
}

/// The size of a GPU's waves.
fn size(gpu: Gpu) -> Size {
    match GpuLimits::of(gpu).wave_size {
        32 => Size::of::<2>(),
        _ => Size::of::<CHUNKS>(),
    }
}

/// The levels of this computer that have host code; a message if there is none.
fn levels() -> impl Iterator<Item = SimdLevel> {
    if !SimdLevel::Avx2.is_available() {
        eprintln!("nothing is compared: this computer has no AVX2");
    }
    let levels = [SimdLevel::Avx2, SimdLevel::Avx512];
    levels.into_iter().filter(|level| level.is_available())
}

/// Code whose instructions are translated at once, for each level.
pub(super) fn at_once(gpu: Gpu, words: &[u8]) -> impl Iterator<Item = (SimdLevel, Code)> {
    levels().map(move |level| {
        let policy = Policy::AT_ONCE;
        let code = Code::divided(gpu, level, size(gpu), 0x1000, words, &[], policy);
        (level, code)
    })
}

impl Programs {
    /// The programs for each level.
    fn all(gpu: Gpu, programs: &[Vec<String>]) -> impl Iterator<Item = Self> {
        levels().map(move |level| Self::new(gpu, level, programs))
    }

    fn new(gpu: Gpu, level: SimdLevel, programs: &[Vec<String>]) -> Self {
        let mut lines = Vec::new();
        let mut starts = Vec::new();
        for program in programs {
            starts.push(lines.len() as u32);
            lines.extend_from_slice(program);
            lines.push("s_endpgm".to_owned());
        }
        let words = assembled(gpu, &lines);
        let codes = [1, u32::MAX].map(|shortest| {
            let policy = Policy {
                shortest,
                patience: 0,
            };
            Code::divided(gpu, level, size(gpu), 0x1000, &words, &[], policy)
        });
        let memory = DeviceMemory::new(1 << 20);
        let base = memory
            .allocate(GLOBAL, AllocationKind::Host)
            .expect("memory for the test");
        let mut random = Random(9);
        let bytes: Vec<u8> = (0..GLOBAL / 4)
            .flat_map(|_| number(&mut random).to_le_bytes())
            .collect();
        memory
            .write(base, &bytes)
            .expect("the allocation is as long");
        Programs {
            lanes: GpuLimits::of(gpu).wave_size,
            codes,
            starts,
            memory: memory.view(),
            base,
        }
    }

    /// Runs a program twice: host code only finds allocations that the workgroup has used before.
    fn run(
        &self,
        code: usize,
        program: usize,
        make: &dyn Fn(u64) -> Wave,
        budget: u64,
    ) -> [Outcome; 2] {
        let mut random = Random(program as u64);
        let mut lds: Vec<u8> = (0..LDS / 4)
            .flat_map(|_| number(&mut random).to_le_bytes())
            .collect();
        let mut context = Context::new(&self.codes[code], &self.memory, &mut lds);
        std::array::from_fn(|_| {
            let (mut wave, mut budget) = (make(self.base), budget);
            wave.set_lane_count(self.lanes);
            wave.pc = self.starts[program];
            let stop = run(&mut wave, &mut context, &mut budget, &mut Unobserved);
            Outcome {
                wave,
                budget,
                stop,
                fault: context.take_fault(),
            }
        })
    }

    /// Runs a program both ways on waves for an allocation at an address, and requires all visible results to be equal.
    /// Returns whether there was a fault.
    fn compare(&self, program: usize, budget: u64, make: impl Fn(u64) -> Wave) -> bool {
        let [native, plain] = [0, 1].map(|code| self.run(code, program, &make, budget));
        let mut faulted = false;
        for (native, plain) in native.iter().zip(&plain) {
            let place = |outcome: &Outcome| {
                let fault = outcome.fault.as_ref();
                fault.map(|fault| (fault.operation, fault.kind.to_string()))
            };
            assert_eq!(native.stop, plain.stop, "program {program}");
            assert_eq!(place(native), place(plain), "program {program}");
            if plain.fault.is_some() {
                faulted = true;
                continue;
            }
            for register in 0..64 {
                let [native, plain] = [native, plain].map(|o| o.wave.lanes(register).as_array());
                assert_eq!(native, plain, "program {program}, v{register}");
            }
            let rest = |o: &Outcome| (o.wave.pc, o.wave.exec, o.wave.scc, o.wave.sgprs, o.budget);
            assert_eq!(rest(native), rest(plain), "program {program}");
        }
        faulted
    }

    /// How often host code did a whole region, and how often it left chunks to the operations, over all runs of all
    /// programs.
    fn counts(&self) -> [u32; 2] {
        self.codes[0].native_counts()
    }
}

/// A number from 1/2 to 2, of either sign.
fn number(random: &mut Random) -> u32 {
    let bits = random.next() as u32;
    bits & 0x807f_ffff | (126 + (bits >> 23 & 1)) << 23
}

/// A wave whose registers contain what [`NUMBERS`], [`INTEGERS`] and [`ADDRESSES`] say.
fn prepared(seed: u64, rows: &[Row; 4], base: u64) -> Wave {
    let mut random = Random(seed);
    let mut wave = wave();
    for register in NUMBERS {
        for lane in 0..64 {
            wave.lanes_mut(register as u16).as_mut_array()[lane] = number(&mut random);
        }
    }
    for register in INTEGERS {
        for lane in 0..64 {
            let value = super::Values::Integer.draw(&mut random) as u32;
            wave.lanes_mut(register as u16).as_mut_array()[lane] = value;
        }
    }
    for (register, row) in ADDRESSES.zip(rows) {
        for lane in 0..64 {
            let address = row.address(lane, &mut random);
            wave.lanes_mut(register as u16).as_mut_array()[lane] = address;
        }
    }
    for register in 0..64 {
        wave.sgprs[register] = match register % 2 {
            0 => number(&mut random),
            _ => random.next() as u32,
        };
    }
    for lane in 0..64 {
        let distance = rows[0].address(lane, &mut random);
        let address = base.wrapping_add(u64::from(distance));
        let [low, high] = [0, 1].map(|part| POINTERS.start as u16 + part);
        wave.lanes_mut(low).as_mut_array()[lane] = address as u32;
        wave.lanes_mut(high).as_mut_array()[lane] = (address >> 32) as u32;
        let distance = rows[1].address(lane, &mut random);
        wave.lanes_mut(DISTANCES).as_mut_array()[lane] = distance;
    }
    wave.set_scalar_pair(BASE, base);
    wave.set_scalar_pair(super::super::VCC, random.next());
    wave
}

/// How the lanes' addresses are arranged.
#[derive(Clone, Copy, Debug)]
enum Row {
    /// Sixteen lanes with a stride of this many bytes.
    Stride(u32),
    Anywhere,
    /// As [`Row::Anywhere`], except for one lane.
    But(usize, u32),
}

impl Row {
    fn address(self, lane: usize, random: &mut Random) -> u32 {
        match self {
            Row::Stride(stride) => 512 * (lane as u32 / 16) + stride * (lane as u32 % 16) + 8,
            Row::But(outside, address) if outside == lane => address,
            Row::Anywhere | Row::But(..) => 4 + random.below(2048) as u32,
        }
    }
}

/// A random instruction that can be part of a region.
fn instruction(random: &mut Random) -> String {
    let vector = |random: &mut Random, kind: Range<u64>| format!("v{}", random.of(kind));
    let pair = |random: &mut Random, kind: Range<u64>| {
        let first = random.of(kind) & !1;
        format!("v[{first}:{}]", first + 1)
    };
    // One of the sources may be scalar.
    let source =
        |random: &mut Random, kind: Range<u64>, constants: &[&'static str]| match random.below(6) {
            0 => format!("s{}", 2 * random.below(16)),
            1 => random.pick(constants).to_owned(),
            _ => vector(random, kind),
        };
    let number = |random: &mut Random| source(random, NUMBERS, &["0.5", "1.0", "-2.0"]);
    let integer = |random: &mut Random| source(random, INTEGERS, &["0", "1", "31", "-16", "64"]);
    let [a, b, d] = std::array::from_fn(|_| vector(random, NUMBERS));
    let [i, j, k] = std::array::from_fn(|_| vector(random, INTEGERS));
    let (n, m) = (number(random), integer(random));
    match random.below(28) {
        0 => format!("v_add_f32_e64 {d}, {n}, -{a}"),
        1 => format!("v_sub_f32_e64 {d}, |{n}|, {a}"),
        2 => format!("v_subrev_f32_e32 {d}, {n}, {a}"),
        3 => format!("v_mul_f32_e64 {d}, 0.5, {a}"),
        4 => format!("v_fma_f32 {d}, {n}, 0.5, {a}").replace("s0,", "v0,"),
        5 => format!("v_fma_f32 {d}, {n}, -{a}, |{b}|"),
        6 => format!("v_fmac_f32_e32 {d}, {n}, {a}"),
        7 | 8 => {
            let [a, b, c, d] = std::array::from_fn(|_| pair(random, NUMBERS));
            let modifiers = random.pick(&[
                "",
                "op_sel_hi:[0,1,1]",
                "op_sel:[1,0,0]",
                "op_sel:[0,1,1] op_sel_hi:[1,0,0] neg_lo:[1,0,0] neg_hi:[0,0,1]",
            ]);
            format!("v_pk_fma_f32 {d}, {a}, {b}, {c} {modifiers}")
        }
        9 => {
            let [a, b, d] = std::array::from_fn(|_| pair(random, NUMBERS));
            match random.below(4) {
                0 => format!("v_pk_add_f32 {d}, {a}, {b} neg_hi:[0,1]"),
                1 => format!("v_pk_mul_f32 {d}, {a}, {b}"),
                2 => format!("v_pk_mov_b32 {d}, {a}, {b} op_sel:[1,0]"),
                _ => format!("v_mov_b64_e32 {d}, {a}"),
            }
        }
        10 => format!("v_mov_b32_e32 {d}, {n}"),
        11 => format!(
            "v_cndmask_b32_e64 {d}, {a}, {b}, {}",
            random.pick(&["vcc", "s[2:3]", "s[40:41]"])
        ),
        12 => {
            let name = random.pick(&[
                "v_add_u32_e32",
                "v_sub_u32_e32",
                "v_subrev_u32_e32",
                "v_and_b32_e32",
                "v_or_b32_e32",
                "v_xor_b32_e32",
                "v_min_u32_e32",
                "v_max_u32_e32",
                "v_min_i32_e32",
                "v_max_i32_e32",
                "v_lshlrev_b32_e32",
                "v_lshrrev_b32_e32",
                "v_ashrrev_i32_e32",
                "v_xnor_b32_e32",
                "v_mul_u32_u24_e32",
            ]);
            format!("{name} {k}, {m}, {i}")
        }
        13 => {
            let name = random.pick(&[
                "v_add3_u32",
                "v_xad_u32",
                "v_or3_b32",
                "v_and_or_b32",
                "v_lshl_add_u32",
                "v_lshl_or_b32",
                "v_add_lshl_u32",
                "v_mad_u32_u24",
                "v_bfe_u32",
                "v_bfi_b32",
                "v_alignbit_b32",
            ]);
            format!("{name} {k}, {m}, {i}, {j}")
        }
        14 => match random.below(3) {
            0 => format!("v_mul_lo_u32 {k}, {i}, {m}"),
            1 => format!("v_not_b32_e32 {k}, {m}"),
            _ => format!("v_mov_b32_e32 {k}, {m}"),
        },
        15 => random
            .pick(&[
                "s_waitcnt lgkmcnt(0)",
                "s_nop 1",
                "s_add_u32 s60, s60, s61",
                "s_cmp_lt_i32 s60, s62",
                "s_lshl_b64 s[42:43], s[44:45], 3",
                "s_mov_b32 s30, 0x3f000000",
                "s_cselect_b32 s63, s60, s61",
                "s_and_b64 vcc, vcc, s[2:3]",
                "s_or_b64 s[46:47], s[2:3], s[40:41]",
            ])
            .to_owned(),
        16 => {
            let [a, c, d] = std::array::from_fn(|_| pair(random, INTEGERS));
            let shift = random.pick(&["0", "0", "2", "3", "v41"]);
            let c = random.pick(&[c.as_str(), "s[50:51]"]).to_owned();
            format!("v_lshl_add_u64 {d}, {a}, {shift}, {c}")
        }
        24 => {
            let mask = random.pick(&["vcc", "s[2:3]", "s[40:41]"]);
            let relation = random.pick(&["lt", "eq", "le", "gt", "ne", "ge"]);
            let ty = random.pick(&["u32", "i32"]);
            format!("v_cmp_{relation}_{ty}_e64 {mask}, {m}, {i}")
        }
        25 => {
            let mask = random.pick(&["vcc", "s[2:3]", "s[40:41]"]);
            let relation = random.pick(&[
                "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq",
                "nlt",
            ]);
            format!("v_cmp_{relation}_f32_e64 {mask}, {a}, -|{b}|")
        }
        26 => {
            let [to, from] = std::array::from_fn(|_| random.pick(&["vcc", "s[2:3]", "s[40:41]"]));
            match random.below(6) {
                0 => format!("v_add_co_u32_e64 {k}, {to}, {i}, {j}"),
                1 => format!("v_sub_co_u32_e64 {k}, {to}, {i}, {j}"),
                2 => format!("v_subrev_co_u32_e64 {k}, {to}, {i}, {j}"),
                3 => format!("v_addc_co_u32_e64 {k}, {to}, {i}, {j}, {from}"),
                4 => format!("v_subb_co_u32_e64 {k}, {to}, {i}, {j}, {from}"),
                _ => format!("v_subbrev_co_u32_e64 {k}, {to}, {i}, {j}, {from}"),
            }
        }
        27 => {
            let [c, d] = std::array::from_fn(|_| pair(random, INTEGERS));
            let mask = random.pick(&["vcc", "s[2:3]"]);
            match random.below(2) {
                0 => format!("v_mad_u64_u32 {d}, {mask}, {i}, {m}, {c}"),
                _ => format!("v_mul_hi_u32 {k}, {i}, {m}"),
            }
        }
        17 | 18 => {
            let (suffix, count) =
                [("", 1), ("x2", 2), ("x3", 3), ("x4", 4)][random.below(4) as usize];
            let first = random.of(0..36) & !1;
            let registers = match count {
                1 => format!("v{first}"),
                _ => format!("v[{first}:{}]", first + count - 1),
            };
            let address = random.pick(&["v[60:61], off", "v62, s[50:51]"]);
            let offset = random.pick(&["", "offset:16", "offset:1024", "offset:-4"]);
            format!("global_load_dword{suffix} {registers}, {address} {offset}")
        }
        _ => {
            let address = vector(random, ADDRESSES);
            let first = random.of(0..36) & !1;
            let registers = |count: u64| match count {
                1 => format!("v{first}"),
                _ => format!("v[{first}:{}]", first + count - 1),
            };
            let offset = random.pick(&["", "offset:16", "offset:1024", "offset:36"]);
            let offsets = random.pick(&["offset1:1", "offset0:3 offset1:7", "offset0:2"]);
            match random.below(7) {
                0 => format!("ds_read_b32 {}, {address} {offset}", registers(1)),
                1 => format!("ds_read_b64 {}, {address} {offset}", registers(2)),
                2 => format!("ds_read_b96 {}, {address} {offset}", registers(3)),
                3 | 4 => format!("ds_read_b128 {}, {address} {offset}", registers(4)),
                5 => format!("ds_read2_b32 {}, {address} {offsets}", registers(2)),
                _ => format!("ds_read2_b64 {}, {address} {offsets}", registers(4)),
            }
        }
    }
}

/// A random instruction of RDNA 3 that can be part of a region: mostly pairs.
fn rdna_instruction(random: &mut Random) -> String {
    let vector = |random: &mut Random, kind: Range<u64>| format!("v{}", random.of(kind));
    let [i, j, k] = std::array::from_fn(|_| vector(random, INTEGERS));
    match random.below(16) {
        0 => "s_delay_alu instid0(VALU_DEP_1)".to_owned(),
        1 => "s_waitcnt_vscnt null, 0x0".to_owned(),
        2 => "s_waitcnt vmcnt(0) lgkmcnt(0)".to_owned(),
        3 => format!("v_cmp_lt_u32_e64 s40, {i}, {j}"),
        4 => format!("v_add_co_u32 {k}, vcc_lo, {i}, {j}"),
        5 => format!("v_add_co_ci_u32_e64 {k}, null, {i}, {j}, vcc_lo"),
        6 => format!("global_load_b32 {k}, v62, s[50:51]"),
        7 => format!("ds_load_b32 {k}, {}", vector(random, ADDRESSES)),
        8 => "s_add_u32 s60, s60, s61".to_owned(),
        9 => format!("v_xor3_b32 {k}, {i}, {j}, {}", vector(random, INTEGERS)),
        _ => {
            // Result registers are an even and an odd one; sources of the same slot are in different banks.
            let first = random.of(0..40);
            let second = loop {
                let other = random.of(0..40);
                if other % 2 != first % 2 {
                    break other;
                }
            };
            let mut half = |dst: u64, bank: u64, other_dst: u64| {
                // The result of the other instruction is often a source.
                let mut source = |slot: u64| match random.below(3) {
                    0 if other_dst % 4 == (bank + slot) % 4 => other_dst,
                    _ => 4 * random.below(10) + (bank + slot) % 4,
                };
                let (a, b) = (source(0), source(1));
                match random.below(9) {
                    0 => format!("v_dual_fmac_f32 v{dst}, v{a}, v{b}"),
                    1 => format!("v_dual_fmaak_f32 v{dst}, v{a}, v{b}, 0x3f400000"),
                    2 => format!("v_dual_mul_f32 v{dst}, v{a}, v{b}"),
                    3 => format!("v_dual_add_f32 v{dst}, 1.0, v{b}"),
                    4 => format!("v_dual_sub_f32 v{dst}, v{a}, v{b}"),
                    5 => format!("v_dual_subrev_f32 v{dst}, v{a}, v{b}"),
                    6 => format!("v_dual_mov_b32 v{dst}, v{a}"),
                    7 => format!("v_dual_cndmask_b32 v{dst}, v{a}, v{b}"),
                    _ => format!("v_dual_fmac_f32 v{dst}, v{a}, v{b}"),
                }
            };
            let (x, y) = (half(first, 0, second), half(second, 2, first));
            format!("{x} :: {y}")
        }
    }
}

fn programs(count: u64, longest: u64) -> Vec<Vec<String>> {
    programs_of(count, longest, instruction)
}

fn programs_of(
    count: u64,
    longest: u64,
    instruction: fn(&mut Random) -> String,
) -> Vec<Vec<String>> {
    let mut random = Random(7);
    (0..count)
        .map(|_| {
            let length = random.of(1..longest);
            (0..length).map(|_| instruction(&mut random)).collect()
        })
        .collect()
}

const ROWS: [[Row; 4]; 3] = [
    [
        Row::Stride(0),
        Row::Stride(16),
        Row::Stride(4),
        Row::Stride(8),
    ],
    [
        Row::Anywhere,
        Row::Stride(20),
        Row::Stride(0),
        Row::Stride(16),
    ],
    [Row::Anywhere, Row::Anywhere, Row::Anywhere, Row::Anywhere],
];

/// Programs of up to a hundred instructions, which need more values at once than the host has registers.
#[test]
fn runs_leave_what_their_instructions_leave() {
    for programs in Programs::all(Gpu::Gfx942, &programs(300, 100)) {
        for program in 0..programs.starts.len() {
            for (seed, rows) in (0..).zip(&ROWS) {
                programs.compare(program, 1000, |base| prepared(seed, rows, base));
            }
        }
        // The other regions ran before their workgroup had used the allocation, or made a NaN.
        let [whole, _] = programs.counts();
        assert!(whole > 500, "host code did {whole} runs");
    }
}

/// The same in waves of 32 lanes, with pairs of which one may overwrite what the other reads.
#[test]
fn pairs_leave_what_their_instructions_leave() {
    let programs = programs_of(200, 60, rdna_instruction);
    for programs in Programs::all(Gpu::Gfx1100, &programs) {
        for program in 0..programs.starts.len() {
            for (seed, rows) in (0..).zip(&ROWS) {
                programs.compare(program, 1000, |base| prepared(seed, rows, base));
            }
        }
        let [whole, _] = programs.counts();
        assert!(whole > 300, "host code did {whole} runs");
    }
}

/// NaN and ∞ in some lanes: host code does the chunks before them and leaves the rest.
#[test]
fn lanes_with_nan_are_left_to_the_operations() {
    for programs in Programs::all(Gpu::Gfx942, &programs(100, 30)) {
        for program in 0..programs.starts.len() {
            for (seed, lane) in [3, 17, 40, 63].into_iter().enumerate() {
                programs.compare(program, 1000, |base| {
                    let mut wave = prepared(seed as u64, &ROWS[0], base);
                    let specials = [0x7fc0_1234, 0xffa0_0000, 0x7f80_0000, 0xff80_0000, 1];
                    for register in NUMBERS {
                        let special = specials[(register as usize + seed) % specials.len()];
                        wave.lanes_mut(register as u16).as_mut_array()[lane] = special;
                    }
                    wave
                });
            }
        }
        assert!(programs.counts()[1] > 50);
    }
}

/// Faults name the same instruction and lane. Addresses that wrap around to 0 by the offset are no faults.
#[test]
fn addresses_outside_are_left_to_the_operations() {
    for programs in Programs::all(Gpu::Gfx942, &programs(200, 20)) {
        let mut faults = 0;
        for program in 0..programs.starts.len() {
            for (lane, address) in [
                (0, 4096),
                (21, 4093),
                (50, 3080),
                (9, 8189),
                (34, 8178),
                (63, 0xffff_fff0),
            ] {
                let rows = [Row::But(lane, address); 4];
                let faulted = programs.compare(program, 1000, |base| prepared(3, &rows, base));
                faults += u32::from(faulted);
            }
        }
        assert!(faults > 100, "{faults}");
    }
}

/// A wave stops when its budget is used up, even inside a region. Inactive lanes and other f32 modes give the same
/// results as without host code.
#[test]
fn budgets_inactive_lanes_and_modes_are_kept() {
    for programs in Programs::all(Gpu::Gfx942, &programs(60, 40)) {
        for program in 0..programs.starts.len() {
            for budget in [1, 2, 5, 17] {
                programs.compare(program, budget, |base| prepared(budget, &ROWS[1], base));
            }
            for exec in [0, 1, 0xffff, !0 << 16, 0x5555_5555_5555_5555] {
                programs.compare(program, 1000, |base| {
                    let mut wave = prepared(5, &ROWS[1], base);
                    wave.exec = exec;
                    wave
                });
            }
            for mode in [0x3c0, 0x3ff, 0x3f5] {
                programs.compare(program, 1000, |base| {
                    let mut wave = prepared(6, &ROWS[0], base);
                    wave.mode = super::super::Mode::from_bits(mode);
                    wave
                });
            }
        }
    }
}
