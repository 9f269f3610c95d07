//! Matrix instructions: D ← A·B + C over the registers of a whole wave.
//!
//! Lane maps, as AMD's «matrix instruction calculator» and the CDNA ISA guides give them. With M = N rows
//! and columns, 64/M groups of lanes, and k elements of A or B side by side in a lane:
//! - A[i][k] of block b is in lane `M·group + i`, B[k][j] in lane `N·group + j`, where the groups of a
//!   block follow each other in k.
//! - D[i][j] of a 32×32 block: register g, lane l with i = 8⌊g/4⌋ + 4⌊l/32⌋ + g mod 4, j = l mod 32; of a
//!   16×16 block: i = 4⌊l/16⌋ + g, j = l mod 16; of the sixteen 4×4 blocks: block ⌊l/4⌋, i = g, j = l mod 4.
//! - f64 16×16×4: i = 4g + ⌊l/16⌋, j = l mod 16.
//!
//! How the hardware orders its sums is not documented; here they follow k, each step one fused
//! multiply-add in f32 (f64, wrapping i32), which is exact for the products of f16 and bf16.

use std::simd::{StdFloat, prelude::*};

use super::{
    Wave, half,
    lanes::Binder,
    operation::{Flow, Handler, Operation, SourceKind},
    simd::{CHUNKS, F, I, U},
    wave::{Lanes, TEMPORARIES},
};
use crate::isa::Op;

/// Type of A's and B's elements.
trait Element: 'static {
    /// What products are summed in.
    type Sum: Sum;
    /// Elements side by side in a lane's register.
    const PER_REGISTER: usize;
    /// Element `index` of a chunk of registers, as the sum's type.
    fn unpack(bits: U, index: usize) -> <Self::Sum as Sum>::Vector;
}

/// Type of C's and D's elements, 32 bits.
trait Sum: 'static {
    type Vector: Copy;
    type Scalar: Copy + Default;
    const ZERO: Self::Vector;
    fn from_bits(bits: U) -> Self::Vector;
    fn to_bits(value: Self::Vector) -> U;
    fn to_array(value: Self::Vector) -> [Self::Scalar; 16];
    fn splat(value: Self::Scalar) -> Self::Vector;
    fn multiply_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
}

struct SumF32;
struct SumI32;

impl Sum for SumF32 {
    type Vector = F;
    type Scalar = f32;
    const ZERO: F = F::splat(0.0);
    #[inline(always)]
    fn from_bits(bits: U) -> F {
        F::from_bits(bits)
    }
    #[inline(always)]
    fn to_bits(value: F) -> U {
        value.to_bits()
    }
    #[inline(always)]
    fn to_array(value: F) -> [f32; 16] {
        value.to_array()
    }
    #[inline(always)]
    fn splat(value: f32) -> F {
        F::splat(value)
    }
    #[inline(always)]
    fn multiply_add(a: F, b: F, c: F) -> F {
        a.mul_add(b, c)
    }
}

impl Sum for SumI32 {
    type Vector = I;
    type Scalar = i32;
    const ZERO: I = I::splat(0);
    #[inline(always)]
    fn from_bits(bits: U) -> I {
        bits.cast::<i32>()
    }
    #[inline(always)]
    fn to_bits(value: I) -> U {
        value.cast::<u32>()
    }
    #[inline(always)]
    fn to_array(value: I) -> [i32; 16] {
        value.to_array()
    }
    #[inline(always)]
    fn splat(value: i32) -> I {
        I::splat(value)
    }
    #[inline(always)]
    fn multiply_add(a: I, b: I, c: I) -> I {
        a * b + c
    }
}

struct F32;
struct F16;
struct Bf16;
struct I8;
/// f16 whose denormals are zeros, as on gfx90a.
struct FlushedF16;
/// bf16 whose denormals are zeros, as on gfx90a.
struct FlushedBf16;

impl Element for F32 {
    type Sum = SumF32;
    const PER_REGISTER: usize = 1;
    #[inline(always)]
    fn unpack(bits: U, _: usize) -> F {
        F::from_bits(bits)
    }
}

impl Element for F16 {
    type Sum = SumF32;
    const PER_REGISTER: usize = 2;
    #[inline(always)]
    fn unpack(bits: U, index: usize) -> F {
        half::to_f32(bits >> U::splat(16 * index as u32))
    }
}

impl Element for Bf16 {
    type Sum = SumF32;
    const PER_REGISTER: usize = 2;
    #[inline(always)]
    fn unpack(bits: U, index: usize) -> F {
        F::from_bits((bits >> U::splat(16 * index as u32)) << U::splat(16))
    }
}

impl Element for FlushedF16 {
    type Sum = SumF32;
    const PER_REGISTER: usize = 2;
    #[inline(always)]
    fn unpack(bits: U, index: usize) -> F {
        let half = (bits >> U::splat(16 * index as u32)) & U::splat(0xffff);
        let denormal = (half & U::splat(0x7c00)).simd_eq(U::splat(0));
        half::to_f32(denormal.select(half & U::splat(0x8000), half))
    }
}

impl Element for FlushedBf16 {
    type Sum = SumF32;
    const PER_REGISTER: usize = 2;
    #[inline(always)]
    fn unpack(bits: U, index: usize) -> F {
        flushed(Bf16::unpack(bits, index))
    }
}

#[inline(always)]
fn flushed(value: F) -> F {
    let zero = F::from_bits(value.to_bits() & U::splat(0x8000_0000));
    value.is_subnormal().select(zero, value)
}

impl Element for I8 {
    type Sum = SumI32;
    const PER_REGISTER: usize = 4;
    #[inline(always)]
    fn unpack(bits: U, index: usize) -> I {
        (bits << U::splat(24 - 8 * index as u32)).cast::<i32>() >> I::splat(24)
    }
}

/// The lane that B's lane `lane` is read from (AMD's BLGP patterns).
fn b_lane(pattern: u8, lane: usize) -> usize {
    match pattern {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        4..=7 => lane % 16 + 16 * usize::from(pattern - 4),
        _ => lane,
    }
}

/// C's chunk of a register, or the constant that stands for all of C.
#[inline(always)]
fn c_bits(w: &Wave, o: &Operation, register: usize, chunk: usize) -> U {
    if o.src[2].kind == SourceKind::Vector {
        w.lanes(o.src[2].register + register as u16).0[chunk]
    } else {
        U::splat(w.read32(&o.src[2]))
    }
}

/// Registers that hold a copy of C while D is written.
const STAGED_C: u16 = TEMPORARIES + 64;

/// Where C can be read while D is written register by register: its own place, or a copy if D overlaps
/// it without being the same.
#[inline(always)]
fn safe_c(w: &mut Wave, o: &Operation, registers: u16) -> Option<Operation> {
    let c = o.src[2].register;
    if o.src[2].kind != SourceKind::Vector || c == o.dst || c.abs_diff(o.dst) >= registers {
        return None;
    }
    for register in 0..registers {
        *w.lanes_mut(STAGED_C + register) = *w.lanes(c + register);
    }
    let mut staged = o.clone();
    staged.src[2].register = STAGED_C;
    Some(staged)
}

/// The registers of A or B, copied: D may be written over them.
#[inline(always)]
fn operand<const R: usize>(w: &Wave, register: u16) -> [Lanes; R] {
    let mut registers = [Lanes::splat(0); R];
    for (index, lanes) in registers.iter_mut().enumerate() {
        *lanes = *w.lanes(register + index as u16);
    }
    registers
}

#[inline(always)]
fn permuted<const R: usize>(mut b: [Lanes; R], pattern: u8) -> [Lanes; R] {
    if pattern != 0 {
        for register in &mut b {
            let from = *register.as_array();
            for (lane, value) in register.as_mut_array().iter_mut().enumerate() {
                *value = from[b_lane(pattern, lane)];
            }
        }
    }
    b
}

/// M×M×K in `BLOCKS` blocks, M 16 or 32; A and B take `R` registers a lane.
///
/// `FLUSH` makes denormal results zeros.
#[inline(always)]
fn multiply<
    T,
    const M: usize,
    const K: usize,
    const BLOCKS: usize,
    const R: usize,
    const FLUSH: bool,
>(
    w: &mut Wave,
    o: &Operation,
) -> Flow
where
    T: Element,
{
    // Lanes of M hold one block's share of k; a row of M columns is `width` chunks.
    let groups = 64 / M / BLOCKS;
    let per_lane = K / groups;
    let width = M / 16;
    let [cbsz, abid, blgp] = o.control;
    let a: [Lanes; R] = operand(w, o.src[0].register);
    let b: [Lanes; R] = permuted(operand(w, o.src[1].register), blgp);
    // Chunk `part` of element k's row (or A's column) in a block.
    let element = #[inline(always)]
    |matrix: &[Lanes; R], block: usize, k: usize, part: usize| {
        let (group, index) = (k / per_lane, k % per_lane);
        let chunk = (block * groups + group) * width + part;
        T::unpack(
            matrix[index / T::PER_REGISTER].0[chunk],
            index % T::PER_REGISTER,
        )
    };
    let registers = M * M / 64;
    let staged = safe_c(w, o, (BLOCKS * registers) as u16);
    let o = staged.as_ref().unwrap_or(o);
    for block in 0..BLOCKS {
        // 2^cbsz blocks read A of the one that abid names.
        let a_block = (block >> cbsz << cbsz) + usize::from(abid);
        let a_block = if cbsz == 0 { block } else { a_block % BLOCKS };
        // Rows of B as vectors, columns of A as numbers to spread over a row.
        let mut b_rows = [[T::Sum::ZERO; 2]; K];
        let mut a_columns = [[Default::default(); 32]; K];
        for k in 0..K {
            for part in 0..width {
                b_rows[k][part] = element(&b, block, k, part);
                let column = T::Sum::to_array(element(&a, a_block, k, part));
                a_columns[k][16 * part..16 * (part + 1)].copy_from_slice(&column);
            }
        }
        for register in 0..registers {
            let index = block * registers + register;
            let mut sums = [T::Sum::ZERO; CHUNKS];
            for (chunk, sum) in sums.iter_mut().enumerate() {
                *sum = T::Sum::from_bits(c_bits(w, o, index, chunk));
            }
            for k in 0..K {
                for (chunk, sum) in sums.iter_mut().enumerate() {
                    let row = 4 * (64 / M) * (register / 4) + 4 * (chunk / width) + register % 4;
                    let a = T::Sum::splat(a_columns[k][row]);
                    *sum = T::Sum::multiply_add(a, b_rows[k][chunk % width], *sum);
                }
            }
            let result = sums.map(|sum| {
                let bits = T::Sum::to_bits(sum);
                if FLUSH {
                    flushed(F::from_bits(bits)).to_bits()
                } else {
                    bits
                }
            });
            w.lanes_mut(o.dst + index as u16).0 = result;
        }
    }
    Flow::Next
}

/// Sixteen blocks of 4×4×K, K elements a lane.
#[inline(always)]
fn multiply_small<T, const K: usize, const R: usize, const FLUSH: bool>(
    w: &mut Wave,
    o: &Operation,
) -> Flow
where
    T: Element,
{
    let [cbsz, abid, blgp] = o.control;
    let a: [Lanes; R] = operand(w, o.src[0].register);
    let b: [Lanes; R] = permuted(operand(w, o.src[1].register), blgp);
    let mut result = [Lanes::splat(0); 4];
    for (row, lanes) in result.iter_mut().enumerate() {
        for chunk in 0..CHUNKS {
            let mut sum = T::Sum::from_bits(c_bits(w, o, row, chunk));
            for k in 0..K {
                // Row `row` of each lane's own block of A, spread over the block's four lanes.
                let picked = U::from_array(std::array::from_fn(|lane| {
                    let block = 4 * chunk + lane / 4;
                    let block = if cbsz == 0 {
                        block
                    } else {
                        ((block >> cbsz << cbsz) + usize::from(abid)) % 16
                    };
                    a[k / T::PER_REGISTER].as_array()[4 * block + row]
                }));
                let (x, y) = (
                    T::unpack(picked, k % T::PER_REGISTER),
                    T::unpack(b[k / T::PER_REGISTER].0[chunk], k % T::PER_REGISTER),
                );
                sum = T::Sum::multiply_add(x, y, sum);
            }
            let bits = T::Sum::to_bits(sum);
            lanes.0[chunk] = if FLUSH {
                flushed(F::from_bits(bits)).to_bits()
            } else {
                bits
            };
        }
    }
    for (row, lanes) in result.into_iter().enumerate() {
        *w.lanes_mut(o.dst + row as u16) = lanes;
    }
    Flow::Next
}

/// One f64 of a register pair.
fn double(w: &Wave, register: u16, lane: usize) -> f64 {
    let low = w.lanes(register).as_array()[lane];
    let high = w.lanes(register + 1).as_array()[lane];
    f64::from_bits(u64::from(low) | u64::from(high) << 32)
}

fn c_double(w: &Wave, o: &Operation, register: u16, lane: usize) -> f64 {
    if o.src[2].kind == SourceKind::Vector {
        double(w, o.src[2].register + register, lane)
    } else {
        f64::from_bits(w.read64(&o.src[2]))
    }
}

fn set_double(w: &mut Wave, register: u16, lane: usize, value: f64) {
    let bits = value.to_bits();
    w.lanes_mut(register).as_mut_array()[lane] = bits as u32;
    w.lanes_mut(register + 1).as_mut_array()[lane] = (bits >> 32) as u32;
}

/// The f64 forms negate sources by the bits that others use for B's lanes.
fn sign(o: &Operation, source: u8) -> f64 {
    if o.control[2] >> source & 1 == 1 {
        -1.0
    } else {
        1.0
    }
}

fn multiply_f64_16(w: &mut Wave, o: &Operation) -> Flow {
    let a: [f64; 64] = std::array::from_fn(|lane| sign(o, 0) * double(w, o.src[0].register, lane));
    let b: [f64; 64] = std::array::from_fn(|lane| sign(o, 1) * double(w, o.src[1].register, lane));
    let mut result = [[0.0; 64]; 4];
    for (register, lanes) in result.iter_mut().enumerate() {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum = sign(o, 2) * c_double(w, o, 2 * register as u16, lane);
            for k in 0..4 {
                *sum = a[16 * k + 4 * register + lane / 16].mul_add(b[16 * k + lane % 16], *sum);
            }
        }
    }
    for (register, lanes) in result.into_iter().enumerate() {
        for (lane, value) in lanes.into_iter().enumerate() {
            set_double(w, o.dst + 2 * register as u16, lane, value);
        }
    }
    Flow::Next
}

/// Four blocks of 4×4×4: element (i, k) of block b in lane 16k + 4b + i, result (i, j) in 16i + 4b + j.
fn multiply_f64_4(w: &mut Wave, o: &Operation) -> Flow {
    let a: [f64; 64] = std::array::from_fn(|lane| sign(o, 0) * double(w, o.src[0].register, lane));
    let b: [f64; 64] = std::array::from_fn(|lane| sign(o, 1) * double(w, o.src[1].register, lane));
    let mut result = [0.0; 64];
    for (lane, sum) in result.iter_mut().enumerate() {
        let (row, block, column) = (lane / 16, lane / 4 % 4, lane % 4);
        *sum = sign(o, 2) * c_double(w, o, 0, lane);
        for k in 0..4 {
            *sum = a[16 * k + 4 * block + row].mul_add(b[16 * k + 4 * block + column], *sum);
        }
    }
    for (lane, value) in result.into_iter().enumerate() {
        set_double(w, o.dst, lane, value);
    }
    Flow::Next
}

/// The handler of a matrix instruction, if `op` is one that the emulator runs. `flush` says that the GPU
/// takes denormals of f16 and bf16 products for zeros.
pub(crate) fn handler(b: Binder, op: Op, flush: bool) -> Option<Handler> {
    if flush && let Some(handler) = flushing(b, op) {
        return Some(handler);
    }
    Some(match op {
        Op::v_mfma_f32_32x32x1_2b_f32 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F32, 32, 1, 2, 1, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x1_4b_f32 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F32, 16, 1, 4, 1, false>(w, o),
        ),
        Op::v_mfma_f32_4x4x1_16b_f32 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<F32, 1, 1, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x2_f32 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F32, 32, 2, 1, 1, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x4_f32 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F32, 16, 4, 1, 1, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x4_2b_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F16, 32, 4, 2, 2, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x4_4b_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F16, 16, 4, 4, 2, false>(w, o),
        ),
        Op::v_mfma_f32_4x4x4_16b_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<F16, 4, 2, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x8_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F16, 32, 8, 1, 2, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F16, 16, 16, 1, 2, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x32_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F16, 16, 32, 1, 4, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<F16, 32, 16, 1, 4, false>(w, o),
        ),
        // gfx908's bf16: two elements a lane.
        Op::v_mfma_f32_32x32x2bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 32, 2, 2, 1, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x2bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 16, 2, 4, 1, false>(w, o),
        ),
        Op::v_mfma_f32_4x4x2bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<Bf16, 2, 1, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x4bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 32, 4, 1, 1, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x8bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 16, 8, 1, 1, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x4_2b_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 32, 4, 2, 2, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x4_4b_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 16, 4, 4, 2, false>(w, o),
        ),
        Op::v_mfma_f32_4x4x4_16b_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<Bf16, 4, 2, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x8_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 32, 8, 1, 2, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 16, 16, 1, 2, false>(w, o),
        ),
        Op::v_mfma_f32_16x16x32_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 16, 32, 1, 4, false>(w, o),
        ),
        Op::v_mfma_f32_32x32x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<Bf16, 32, 16, 1, 4, false>(w, o),
        ),
        Op::v_mfma_i32_32x32x4_2b_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 32, 4, 2, 1, false>(w, o),
        ),
        Op::v_mfma_i32_16x16x4_4b_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 16, 4, 4, 1, false>(w, o),
        ),
        Op::v_mfma_i32_4x4x4_16b_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<I8, 4, 1, false>(w, o),
        ),
        Op::v_mfma_i32_32x32x8i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 32, 8, 1, 1, false>(w, o),
        ),
        Op::v_mfma_i32_16x16x16i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 16, 16, 1, 1, false>(w, o),
        ),
        Op::v_mfma_i32_32x32x16_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 32, 16, 1, 2, false>(w, o),
        ),
        Op::v_mfma_i32_16x16x32_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 16, 32, 1, 2, false>(w, o),
        ),
        Op::v_mfma_i32_32x32x32_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 32, 32, 1, 4, false>(w, o),
        ),
        Op::v_mfma_i32_16x16x64_i8 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<I8, 16, 64, 1, 4, false>(w, o),
        ),
        Op::v_mfma_f64_16x16x4_f64 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_f64_16(w, o),
        ),
        Op::v_mfma_f64_4x4x4_4b_f64 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_f64_4(w, o),
        ),
        _ => return None,
    })
}

/// gfx90a flushes denormal sources and results of its f16 and bf16 instructions (PyTorch's notes on
/// MI200 numerics, from AMD).
fn flushing(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_mfma_f32_32x32x4_2b_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedF16, 32, 4, 2, 2, true>(w, o),
        ),
        Op::v_mfma_f32_16x16x4_4b_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedF16, 16, 4, 4, 2, true>(w, o),
        ),
        Op::v_mfma_f32_4x4x4_16b_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<FlushedF16, 4, 2, true>(w, o),
        ),
        Op::v_mfma_f32_32x32x8_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedF16, 32, 8, 1, 2, true>(w, o),
        ),
        Op::v_mfma_f32_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedF16, 16, 16, 1, 2, true>(w, o),
        ),
        Op::v_mfma_f32_32x32x2bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 32, 2, 2, 1, true>(w, o),
        ),
        Op::v_mfma_f32_16x16x2bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 16, 2, 4, 1, true>(w, o),
        ),
        Op::v_mfma_f32_4x4x2bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<FlushedBf16, 2, 1, true>(w, o),
        ),
        Op::v_mfma_f32_32x32x4bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 32, 4, 1, 1, true>(w, o),
        ),
        Op::v_mfma_f32_16x16x8bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 16, 8, 1, 1, true>(w, o),
        ),
        Op::v_mfma_f32_32x32x4_2b_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 32, 4, 2, 2, true>(w, o),
        ),
        Op::v_mfma_f32_16x16x4_4b_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 16, 4, 4, 2, true>(w, o),
        ),
        Op::v_mfma_f32_4x4x4_16b_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply_small::<FlushedBf16, 4, 2, true>(w, o),
        ),
        Op::v_mfma_f32_32x32x8_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 32, 8, 1, 2, true>(w, o),
        ),
        Op::v_mfma_f32_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| multiply::<FlushedBf16, 16, 16, 1, 2, true>(w, o),
        ),
        _ => return None,
    })
}
