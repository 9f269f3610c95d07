//! Tests of single instructions: assembled by LLVM, run on a wave, compared with arithmetic written here.
//!
//! Expectations follow AMD's pseudocode and lane maps, rewritten in plain scalar Rust without any of the emulator's
//! arithmetic. Each check runs on all levels of host instructions that the host has, with all lanes active and with
//! some.

#![expect(
    clippy::needless_range_loop,
    reason = "a lane's number indexes several arrays at once"
)]
#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "the negated compares are what is tested"
)]
#![expect(
    clippy::precedence,
    reason = "expectations stand as AMD's pseudocode has them"
)]

mod buffer_formats;
mod buffers;
mod compares;
mod conversions;
mod coverage;
mod effects;
mod extensions;
mod floats;
mod formats;
mod halves;
mod images;
mod integers;
#[cfg(target_arch = "x86_64")]
mod jit;
mod lds_special;
mod matrix;
mod matrix_modifiers;
mod matrix_narrow;
mod matrix_sums;
mod memory;
mod modes;
mod narrow_conversions;
mod rarities;
mod rdna;
mod rdna4_matrices;
mod rdna4_memory;
mod sad;
mod scalar_floats;
mod scalars;
mod scratch;
mod states;
mod stretches;
mod wave32;

use ferrowave_code_object::CodeObject;
use ferrowave_gpu::Gpu;

use super::{Code, Context, Fault, SimdLevel, Stop, Unobserved, Wave, run};
use crate::memory::{DeviceMemory, View};

/// Initial register contents, which no check expects as a result.
const UNTOUCHED: u32 = 0xdead_beef;

/// MODE as compilers set it: round to nearest, denormals kept, DX10 clamp, IEEE.
pub(super) const DEFAULT_MODE: u32 = 0x3f0;

/// The machine code of instructions, assembled by LLVM.
fn assembled(gpu: Gpu, lines: &[impl std::borrow::Borrow<str>]) -> Vec<u8> {
    let text = format!(".text\n{}\n", lines.join("\n"));
    let bytes = ferrowave_kernel_build::assemble(gpu, &text).expect("LLVM assembles the test");
    let object = CodeObject::parse(&bytes).expect("LLVM's code object is one");
    let range = object.text_ranges()[0].clone();
    let text = object.file_bytes(range.start, range.end - range.start);
    text.expect("the text is in the file").to_vec()
}

/// Assembled instructions, ready to run one at a time.
pub(super) struct Bench {
    codes: Vec<(SimdLevel, Code)>,
}

impl Bench {
    /// Assembles one instruction per line.
    pub(super) fn new(gpu: Gpu, lines: &[&str]) -> Self {
        let words = assembled(gpu, lines);
        let available = SimdLevel::ALL.into_iter().filter(|l| l.is_available());
        let codes = available.map(|level| (level, Code::compile(gpu, level, 0x1000, &words)));
        // Also with each instruction that the JIT can translate as a region of its own.
        #[cfg(target_arch = "x86_64")]
        let codes = codes.chain(jit::at_once(gpu, &words));
        let codes: Vec<_> = codes.collect();
        for (index, line) in lines.iter().enumerate() {
            for problem in codes[0].1.unsupported() {
                let address = codes[0].1.address_of(index as u32) - 0x1000;
                assert_ne!(problem.offset, address, "{line}: {}", problem.what);
            }
        }
        Bench { codes }
    }

    /// Indices of the levels that the instructions can run on.
    pub(super) fn levels(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.codes.len()
    }

    /// Runs instruction `index` on a wave.
    pub(super) fn step(&self, level: usize, index: usize, wave: &mut Wave) {
        let memory = DeviceMemory::new(0).view();
        let result = self.step_with(level, index, wave, &memory, &mut []);
        assert!(result.is_ok(), "{result:?}");
    }

    /// Runs instruction `index` on a wave with memory.
    pub(super) fn step_with(
        &self,
        level: usize,
        index: usize,
        wave: &mut Wave,
        memory: &View,
        lds: &mut [u8],
    ) -> Result<Stop, Box<Fault>> {
        let mut context = Context::new(&self.codes[level].1, memory, lds);
        wave.pc = index as u32;
        let stop = run(wave, &mut context, &mut 1, &mut Unobserved);
        match context.take_fault() {
            Some(fault) => Err(fault),
            None => Ok(stop),
        }
    }
}

/// An instruction that the emulator does not run is refused by name when a wave reaches it.
#[test]
fn missing_instructions_are_named() {
    let cases: [(Gpu, &[&str]); 2] = [
        (
            Gpu::Gfx942,
            &[
                "s_setreg_b32 hwreg(HW_REG_HW_ID), s0",
                "v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3] cbsz:1",
            ],
        ),
        (
            Gpu::Gfx908,
            &["ds_ordered_count v2, v0 gds", "ds_swizzle_b32 v2, v0 gds"],
        ),
    ];
    for (gpu, lines) in cases {
        let words = assembled(gpu, &[lines, &["v_mov_b32_e32 v6, v0"]].concat());
        let code = Code::compile(gpu, SimdLevel::detect(), 0x1000, &words);
        let memory = DeviceMemory::new(0).view();
        let message = |index| {
            let mut wave = wave();
            wave.pc = index as u32;
            let mut context = Context::new(&code, &memory, &mut []);
            run(&mut wave, &mut context, &mut 1, &mut Unobserved);
            context.take_fault().map(|fault| fault.kind.to_string())
        };
        for (index, line) in lines.iter().enumerate() {
            let message = message(index).expect("the instruction is refused");
            let mnemonic = line.split(' ').next().unwrap();
            assert!(
                message.contains("does not run") && message.contains(mnemonic),
                "{message}"
            );
        }
        assert_eq!(message(lines.len()), None);
        assert_eq!(code.unsupported().len(), lines.len());
    }
}

/// A wave with all lanes active and recognizable registers.
pub(super) fn wave() -> Wave {
    let mut wave = Wave::default();
    wave.mode = super::Mode::from_bits(DEFAULT_MODE);
    for register in 0..64 {
        *wave.lanes_mut(register) = super::Lanes::splat(UNTOUCHED);
    }
    wave
}

/// Pseudo-random numbers, the same in every run (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The kinds of values that sources are drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values {
    Integer,
    F16,
    F32,
    F64,
    /// Zeros and ones of both signs, as f16 and as f32.
    Zeros16,
    Zeros32,
}

impl Values {
    fn specials(self) -> &'static [u64] {
        match self {
            Values::Integer => &[
                0,
                1,
                2,
                3,
                4,
                5,
                7,
                8,
                15,
                16,
                31,
                32,
                33,
                63,
                0x7f,
                0x80,
                0xff,
                0x7fff,
                0x8000,
                0xffff,
                0x1_0000,
                0x7f_ffff,
                0x80_0000,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
                0xffff_fffe,
                0x1_0000_0000,
                0x7fff_ffff_ffff_ffff,
                0x8000_0000_0000_0000,
                u64::MAX,
            ],
            Values::Zeros16 => &[0, 0x8000, 0x3c00, 0xbc00],
            Values::Zeros32 => &[0, 0x8000_0000, 0x3f80_0000, 0xbf80_0000],
            // Zeros, denormals, the smallest normal, ones and nearly ones, halves, limits, ∞, both kinds of NaN.
            Values::F16 => &[
                0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3e00,
                0x4100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7d00,
            ],
            Values::F32 => &[
                0,
                0x8000_0000,
                1,
                0x8000_0001,
                0x7f_ffff,
                0x80_0000,
                0x3f00_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x3f80_0001,
                0x3fc0_0000,
                0x4020_0000,
                0x4b80_0001,
                0x4f00_0000,
                0xcf00_0000,
                0x4f80_0000,
                0x7f7f_ffff,
                0xff7f_ffff,
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0000,
                0xffc0_0001,
                0x7f80_0001,
            ],
            Values::F64 => &[
                0,
                0x8000_0000_0000_0000,
                1,
                0xf_ffff_ffff_ffff,
                0x10_0000_0000_0000,
                0x3fe0_0000_0000_0000,
                0x3ff0_0000_0000_0000,
                0xbff0_0000_0000_0000,
                0x3ff0_0000_0000_0001,
                0x3ff8_0000_0000_0000,
                0x4004_0000_0000_0000,
                0x41e0_0000_0000_0000,
                0xc1e0_0000_0020_0000,
                0x7fef_ffff_ffff_ffff,
                0x7ff0_0000_0000_0000,
                0xfff0_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0xfff8_0000_0000_0001,
                0x7ff0_0000_0000_0001,
            ],
        }
    }

    fn draw(self, random: &mut Random) -> u64 {
        let bits = random.next();
        let specials = self.specials();
        if bits & 3 == 0 || matches!(self, Values::Zeros16 | Values::Zeros32) {
            return specials[(bits >> 8) as usize % specials.len()];
        }
        let (sign, fraction) = (bits >> 63, bits >> 2);
        match self {
            Values::Integer | Values::Zeros16 | Values::Zeros32 => {
                random.next() >> (bits >> 8 & 31)
            }
            // Exponents near 0, so that sums and products are rounded.
            Values::F16 => sign << 15 | (8 + (bits >> 40) % 14) << 10 | fraction & 0x3ff,
            Values::F32 => sign << 31 | (115 + (bits >> 40) % 24) << 23 | fraction & 0x7f_ffff,
            Values::F64 => {
                sign << 63 | (1000 + (bits >> 55) % 46) << 52 | fraction & 0xf_ffff_ffff_ffff
            }
        }
    }
}

/// A check of one vector instruction. Its sources are `v[0:1]`, `v[2:3]` and `v[4:5]` (the low registers if they have
/// 32 bits), its result is `v6` or `v[6:7]`, whose old value is the fourth source.
pub(super) struct Check<'a> {
    pub(super) gpu: Gpu,
    pub(super) text: &'a str,
    pub(super) values: Values,
    pub(super) mode: u32,
    /// Whether the result has 64 bits.
    pub(super) wide: bool,
}

impl<'a> Check<'a> {
    pub(super) fn new(text: &'a str, values: Values) -> Self {
        Check {
            gpu: Gpu::Gfx942,
            text,
            values,
            mode: DEFAULT_MODE,
            wide: false,
        }
    }

    pub(super) fn gpu(self, gpu: Gpu) -> Self {
        Check { gpu, ..self }
    }

    pub(super) fn mode(self, mode: u32) -> Self {
        Check { mode, ..self }
    }

    pub(super) fn wide(self) -> Self {
        Check { wide: true, ..self }
    }

    /// Runs the instruction on many values; `expect` computes a lane's result from its sources.
    pub(super) fn run(self, expect: impl Fn([u64; 4]) -> u64) {
        let bench = Bench::new(self.gpu, &[self.text]);
        for level in bench.levels() {
            let mut random = Random(level as u64 + 1);
            for round in 0..24 {
                let mut wave = wave();
                wave.mode = super::Mode::from_bits(self.mode);
                wave.exec = if round % 3 == 0 { random.next() } else { !0 };
                let sources: Vec<[u64; 4]> = (0..64)
                    .map(|_| std::array::from_fn(|_| self.values.draw(&mut random)))
                    .collect();
                for (lane, values) in sources.iter().enumerate() {
                    for (slot, value) in values.iter().enumerate() {
                        let register = 2 * slot as u16;
                        wave.lanes_mut(register).as_mut_array()[lane] = *value as u32;
                        wave.lanes_mut(register + 1).as_mut_array()[lane] = (*value >> 32) as u32;
                    }
                }
                bench.step(level, 0, &mut wave);
                for (lane, values) in sources.iter().enumerate() {
                    let active = wave.exec >> lane & 1 == 1;
                    let low = u64::from(wave.lanes(6).as_array()[lane]);
                    let high = u64::from(wave.lanes(7).as_array()[lane]);
                    let (result, expected) = if self.wide {
                        (
                            low | high << 32,
                            if active { expect(*values) } else { values[3] },
                        )
                    } else {
                        let expected = if active { expect(*values) } else { values[3] };
                        (low, expected & 0xffff_ffff)
                    };
                    assert_eq!(
                        result, expected,
                        "{} on {} level {level}, lane {lane} (active: {active}): {result:#x}, expected {expected:#x}, of {values:#x?}",
                        self.text, self.gpu
                    );
                }
            }
        }
    }
}

/// Applies a GPU's NaN rules to a result that the host computed from f32 sources.
pub(super) fn nan32(result: f32, sources: &[u32]) -> u64 {
    let source = sources.iter().find(|&&s| s & 0x7fff_ffff > 0x7f80_0000);
    u64::from(match source {
        Some(nan) => nan | 0x40_0000,
        None if result.is_nan() => 0x7fc0_0000,
        None => result.to_bits(),
    })
}

/// As [`nan32`], f64.
pub(super) fn nan64(result: f64, sources: &[u64]) -> u64 {
    let source = sources
        .iter()
        .find(|&&s| s & !(1 << 63) > 0x7ff0_0000_0000_0000);
    match source {
        Some(nan) => nan | 0x8_0000_0000_0000,
        None if result.is_nan() => 0x7ff8_0000_0000_0000,
        None => result.to_bits(),
    }
}

/// A 32-bit source as f32.
pub(super) fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// A 64-bit source as f64.
pub(super) fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}
