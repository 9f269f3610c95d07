//! Matrix products of RDNA 4, dense and sparse, in waves of both sizes. Where elements are follows AMD's «matrix instruction
//! calculator» 1.3.2, formula by formula; products of whole numbers are exact in every type.

use ferrowave_gpu::Gpu;

use super::{
    Random, assembled,
    rdna::{bf16, f16, random_wave, run_words},
};
use crate::exec::Wave;

/// First registers of D, which is C, too, of A, of B and of the index.
const D: u16 = 0;
const A: u16 = 8;
const B: u16 = 16;
const INDEX: u16 = 24;

/// A type of elements: its name, bits, the largest number in the test, and a number's encoding.
#[derive(Clone, Copy)]
struct Type {
    name: &'static str,
    bits: usize,
    most: i32,
    encode: fn(i32) -> u32,
}

fn fp8(value: i32) -> u32 {
    [0, 0x38, 0x40, 0x44][value.unsigned_abs() as usize] | u32::from(value < 0) << 7
}

fn bf8(value: i32) -> u32 {
    [0, 0x3c, 0x40, 0x42][value.unsigned_abs() as usize] | u32::from(value < 0) << 7
}

const fn new(name: &'static str, bits: usize, most: i32, encode: fn(i32) -> u32) -> Type {
    Type {
        name,
        bits,
        most,
        encode,
    }
}

// Numbers of A and B are small, so that sums are exact in bf16.
const F16: Type = new("f16", 16, 3, f16);
const BF16: Type = new("bf16", 16, 3, bf16);
const FP8: Type = new("fp8", 8, 3, fp8);
const BF8: Type = new("bf8", 8, 3, bf8);
const IU8: Type = new("iu8", 8, 127, |value| value as u32);
const IU4: Type = new("iu4", 4, 7, |value| value as u32);
const F32: Type = new("f32", 32, 9, |value| (value as f32).to_bits());
const I32: Type = new("i32", 32, 1 << 20, |value| value as u32);

/// An instruction, and the wave it runs in.
struct Case {
    d: Type,
    a: Type,
    b: Type,
    inner: usize,
    sparse: bool,
    lanes: usize,
}

/// A register, a bit in it, and sixteen lanes by number.
type Place = (usize, usize, usize);

impl Case {
    /// Where `A[i][k]` is, in lane i of sixteen. Of a sparse A, the register and the bit of the first of the two elements that
    /// are stored of the four from k on.
    fn a(&self, k: usize) -> Place {
        let wave32 = self.lanes == 32;
        if !self.sparse {
            return self.dense(k);
        }
        let bits = self.a.bits;
        let register = match (bits, self.inner, wave32) {
            (16, _, true) => 2 * (k / 16) + k / 4 % 2,
            (16, _, false) => k / 4 % 2,
            (8, _, true) => k / 8 % 2,
            (4, 64, true) => k / 16 % 2,
            _ => 0,
        };
        let bit = match bits {
            16 => 0,
            _ => 2 * bits * (k / 4 % (16 / bits)),
        };
        (register, bit, self.sparse_lanes(k, true))
    }

    /// Where `B[k][j]` is, in lane j of sixteen.
    fn b(&self, k: usize) -> Place {
        let wave32 = self.lanes == 32;
        if !self.sparse {
            return self.dense(k);
        }
        let bits = self.b.bits;
        let register = match (bits, self.inner, wave32) {
            (16, _, true) => 4 * (k / 16) + k / 2 % 4,
            (16, _, false) => k / 2 % 4,
            (8, _, true) => k / 4 % 4,
            (8, _, false) => k / 4 % 2,
            (_, 32, true) => k / 8 % 2,
            (_, 32, false) => 0,
            (_, _, true) => k / 8 % 4,
            (_, _, false) => k / 8 % 2,
        };
        let bit = bits * (k % (32 / bits));
        (register, bit, self.sparse_lanes(k, false))
    }

    fn dense(&self, k: usize) -> Place {
        let bits = self.a.bits;
        let (register, lanes) = match (bits, self.inner, self.lanes) {
            (16, _, 32) => (2 * (k / 8) + k / 2 % 2, k / 4 % 2),
            (16, _, _) => (k / 2 % 2, 2 * (k / 8 % 2) + k / 4 % 2),
            (8, _, 32) => (k / 4 % 2, k / 8),
            (8, _, _) => (0, 2 * (k / 4 % 2) + k / 8 % 2),
            (_, 16, _) => (0, k / 8),
            (_, _, 32) => (k / 8 % 2, k / 16),
            (_, _, _) => (0, 2 * (k / 8 % 2) + k / 16 % 2),
        };
        (register, bits * (k % (32 / bits)), lanes)
    }

    /// The lanes of A and the index, or of B.
    fn sparse_lanes(&self, k: usize, of_a: bool) -> usize {
        match (self.a.bits, self.inner, self.lanes) {
            (16, _, 32) => k / 8 % 2,
            (16, _, _) => k / 8,
            (_, 32, 32) => k / 16,
            (4, 32, _) if of_a => k / 16,
            (_, 32, _) => 2 * (k / 8 % 2) + k / 16,
            (_, _, 32) => k / 32,
            (_, _, _) => 2 * (k / 16 % 2) + k / 32,
        }
    }

    /// The sets of indices in a register.
    fn sets(&self) -> usize {
        match (self.a.bits, self.inner, self.lanes) {
            (4, 64, 32) => 1,
            (4, ..) | (_, _, 32) => 2,
            _ => 4,
        }
    }

    /// The bit of the index of the four elements from k on.
    fn index_bit(&self, k: usize) -> usize {
        match (self.a.bits, self.inner, self.lanes) {
            (16, _, 32) => 8 * (k / 16) + 4 * (k / 4 % 2),
            (4, 64, 32) => 4 * (k / 4 % 8),
            (_, _, 32) | (4, ..) => 4 * (k / 4 % 4),
            _ => 4 * (k / 4 % 2),
        }
    }

    /// Where `C[i][j]` and `D[i][j]` are, in lane j of sixteen.
    fn d(&self, i: usize) -> Place {
        match (self.d.bits, self.lanes) {
            (32, 32) => (i % 8, 0, i / 8),
            (32, _) => (i % 4, 0, 2 * (i / 4 % 2) + i / 8),
            (_, 32) => (i / 2 % 4, 16 * (i % 2), i / 8),
            (_, _) => (i / 2 % 2, 16 * (i % 2), 2 * (i / 4 % 2) + i / 8),
        }
    }

    /// The instruction as LLVM writes it for a wave of 32 lanes. The words are the same for 64 lanes.
    fn line(&self) -> String {
        let span = |first: u16, bits: usize| match bits.div_ceil(32) {
            1 => format!("v{first}"),
            count => format!("v[{first}:{}]", usize::from(first) + count - 1),
        };
        let (kind, held, third) = match self.sparse {
            true => ("swmmac", self.inner / 2, format!("v{INDEX}")),
            false => ("wmma", self.inner, span(D, 8 * self.d.bits)),
        };
        let types = match self.a.bits == 8 && self.a.name != "iu8" {
            true => format!("{}_{}", self.a.name, self.b.name),
            false => self.a.name.to_string(),
        };
        format!(
            "v_{kind}_{}_16x16x{}_{types} {}, {}, {}, {third}{}",
            self.d.name,
            self.inner,
            span(D, 8 * self.d.bits),
            span(A, held / 2 * self.a.bits),
            span(B, self.inner / 2 * self.b.bits),
            match self.d.name {
                "i32" => " neg_lo:[1,1,0]",
                _ => "",
            }
        )
    }

    /// Runs it on random matrices with set `set` of the index, and compares all of D.
    fn check(&self, random: &mut Random, set: usize) {
        let line = format!("{} in {} lanes, set {set}", self.line(), self.lanes);
        let mut a = [[0; 64]; 16];
        let mut b = [[0; 16]; 64];
        let mut d = [[0; 16]; 16];
        let mut wave = random_wave(5);
        for i in 0..16 {
            for k in (0..self.inner).step_by(4) {
                let (register, bit, lanes) = self.a(k);
                let lane = 16 * lanes + i;
                let mut put = |register: u16, bit: usize, bits: usize, value: u32| {
                    set_bits(&mut wave, register, lane, bit, bits, value);
                };
                if self.sparse {
                    // Two different ones of four, in order.
                    let [first, second] = POSITIONS[(random.next() % 6) as usize];
                    for (n, at) in [first, second].into_iter().enumerate() {
                        let value = number(random, self.a.most);
                        a[i][k + at] = value;
                        let encoded = (self.a.encode)(value);
                        put(
                            A + register as u16,
                            bit + n * self.a.bits,
                            self.a.bits,
                            encoded,
                        );
                    }
                    let index = (first | second << 2) as u32;
                    put(INDEX, 32 / self.sets() * set + self.index_bit(k), 4, index);
                }
            }
            for k in 0..self.inner {
                if !self.sparse {
                    a[i][k] = number(random, self.a.most);
                    let (register, bit, lanes) = self.a(k);
                    let value = (self.a.encode)(a[i][k]);
                    let register = A + register as u16;
                    set_bits(&mut wave, register, 16 * lanes + i, bit, self.a.bits, value);
                }
                b[k][i] = number(random, self.b.most);
                let (register, bit, lanes) = self.b(k);
                let value = (self.b.encode)(b[k][i]);
                let register = B + register as u16;
                set_bits(&mut wave, register, 16 * lanes + i, bit, self.b.bits, value);
            }
            for j in 0..16 {
                d[i][j] = number(random, self.d.most);
                let (register, bit, lanes) = self.d(i);
                let value = (self.d.encode)(d[i][j]);
                let register = D + register as u16;
                set_bits(&mut wave, register, 16 * lanes + j, bit, self.d.bits, value);
            }
        }
        let mut text = assembled(Gpu::Gfx1201, &[self.line()]);
        // The lowest bits of op_sel.
        text[1] |= (set as u8) << 3;
        // EXEC has no effect.
        wave.exec = 1;
        run_words(Gpu::Gfx1201, &mut wave, self.lanes, &text, 1);
        for i in 0..16 {
            for j in 0..16 {
                let sum: i32 = (0..self.inner).map(|k| a[i][k] * b[k][j]).sum();
                let expected = (self.d.encode)(d[i][j] + sum);
                let (register, bit, lanes) = self.d(i);
                let bits = wave.lanes(D + register as u16).as_array()[16 * lanes + j] >> bit;
                let found = bits & u32::MAX >> (32 - self.d.bits);
                assert_eq!(found, expected, "{line}: row {i}, column {j}");
            }
        }
    }
}

/// Which two of four elements are stored.
const POSITIONS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// A random number of at most this size.
fn number(random: &mut Random, most: i32) -> i32 {
    (random.next() % (2 * most as u64 + 1)) as i32 - most
}

fn set_bits(wave: &mut Wave, register: u16, lane: usize, bit: usize, bits: usize, value: u32) {
    let mask = u32::MAX >> (32 - bits) << bit;
    let place = &mut wave.lanes_mut(register).as_mut_array()[lane];
    *place = *place & !mask | value << bit & mask;
}

#[test]
fn matrix_products_of_rdna4_have_amds_lanes() {
    let mut random = Random(4);
    let types = [
        (F32, F16, F16),
        (F32, BF16, BF16),
        (F16, F16, F16),
        (BF16, BF16, BF16),
        (F32, FP8, FP8),
        (F32, FP8, BF8),
        (F32, BF8, FP8),
        (F32, BF8, BF8),
        (I32, IU8, IU8),
        (I32, IU4, IU4),
    ];
    for (d, a, b) in types {
        // C's numbers are of the size of A's if its type is.
        let d = Type {
            most: if d.bits == 16 { 9 } else { d.most },
            ..d
        };
        for sparse in [false, true] {
            let first = if sparse { 32 } else { 16 };
            for inner in [first, 2 * first] {
                if inner != first && a.name != "iu4" {
                    continue;
                }
                for lanes in [32, 64] {
                    let case = Case {
                        d,
                        a,
                        b,
                        inner,
                        sparse,
                        lanes,
                    };
                    for set in 0..if sparse { case.sets() } else { 1 } {
                        case.check(&mut random, set);
                    }
                }
            }
        }
    }
}
