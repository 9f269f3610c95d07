//! Random matrices with padding and canaries.

use super::{
    canary::canary,
    elements::{Elements, value},
    fp8::Encoding,
};
use crate::{
    gemm::{InputBuffers, Layout, Problem},
    hip::{BufferError, Context},
};
use ferrowave_shared::ElementType;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use std::borrow::Cow;
use thiserror::Error;

/// Canary elements past the end of C.
pub const TAIL_ELEMENTS: usize = 64;

/// The buffers of a problem, filled so that mistakes are found.
///
/// - Elements of A and B are random and never 0, so that a missing product changes the result.
/// - Elements of C are random, too, if the result depends on them. Otherwise they are NaN (integers: canaries), so that
///   elements that are not written, or are read although β is 0, are found.
/// - The padding of A and B is NaN (integers: 101), so that its use changes the result.
/// - The padding of C (between rows, between matrices, and [`TAIL_ELEMENTS`] past the end) contains canaries, which
///   must not be overwritten.
///
/// Floats are odd multiples of 2⁻ᵖ in (−1, 1), where p is the precision of the type, so that all of their bits are used
/// and none is denormal. For xf32, p is 11: AMD's documents do not specify how longer values are rounded, so no
/// reference could judge them. Floats of 8, 6 and 4 bits and 8-bit integers are any value but 0 and NaN, 32-bit integers any
/// value. Scales are powers of two from 2⁻⁸ to 2⁷.
///
/// The same seed and problem give the same elements on every computer. They come from ChaCha with 8 rounds, with a
/// separate stream for each matrix.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// A, without a tail.
    pub a: Elements,
    /// B, without a tail.
    pub b: Elements,
    /// C before the product, with its tail.
    pub c: Elements,
    /// The bias; empty if there is none.
    pub bias: Elements,
    /// The scales of A and of B; `None` for element types without scales.
    pub scales: Option<[Elements; 2]>,
    /// The indices of a sparse A, in the layout of [`Problem::indices`]. They are random.
    pub indices: Option<Vec<u8>>,
    /// The seed that they were made from, and from which [`Reference`](super::Reference) draws its projections.
    pub seed: u64,
    /// The largest magnitude of a product of an element of A and one of B of which one is denormal. A GPU may take such
    /// elements for 0.
    pub denormal_products: f64,
}

impl Inputs {
    /// Makes the matrices of `problem` from `seed`.
    ///
    /// # Errors
    /// If this computer does not have enough memory.
    pub fn random(problem: &Problem, seed: u64) -> Result<Self, InputsError> {
        let types = problem.types();
        let output = types.output;
        let canary = |offset| canary(output, offset);
        let c = problem.c();
        let mut random = [0, 1, 2, 3].map(|stream| Random::new(seed, stream));
        let [of_a, of_b, of_c, of_bias] = &mut random;
        let input = |name, element, layout, random: &mut Random| {
            matrix(
                name,
                element,
                layout,
                0,
                |_| random.next(element),
                |_| never_read(element),
            )
        };
        let mut a = input("A", types.a, problem.a(), of_a)?;
        zero_padding(problem, &mut a);
        Ok(Self {
            a,
            b: input("B", types.b, problem.b(), of_b)?,
            c: if problem.reads_c() {
                matrix("C", output, c, TAIL_ELEMENTS, |_| of_c.next(output), canary)?
            } else {
                let poison = |offset| match output {
                    ElementType::I32 => canary(offset),
                    _ => never_read(output),
                };
                matrix("C", output, c, TAIL_ELEMENTS, poison, canary)?
            },
            bias: matrix(
                "the bias",
                types.bias(),
                &vector(problem.bias_length()),
                0,
                |_| of_bias.next(types.bias()),
                canary,
            )?,
            scales: scales(problem, seed)?,
            indices: indices(problem, seed)?,
            seed,
            denormal_products: 0.0,
        })
    }

    /// The same with special elements in A and B, for types of floats: one of eight is denormal, one of eight a zero of
    /// either sign, and one element of A, in the middle of its first matrix, is NaN. If elements have scales, it is a scale
    /// that is NaN, and with it a block of 32 elements of which each may be 0.
    ///
    /// # Errors
    /// If this computer does not have enough memory.
    pub fn special(problem: &Problem, seed: u64) -> Result<Self, InputsError> {
        let mut inputs = Self::random(problem, seed)?;
        let types = [problem.types().a, problem.types().b];
        let [Some(of_a), Some(of_b)] = types.map(denormal_mantissa) else {
            return Ok(inputs);
        };
        let mantissas = [of_a, of_b];
        let mut largest = [0.0_f64; 2];
        let layouts = [problem.a(), problem.b()];
        let mut random = [4, 5].map(|stream| Random::new(seed, stream).0);
        let elements = [&mut inputs.a, &mut inputs.b];
        for (number, (elements, random)) in elements.into_iter().zip(&mut random).enumerate() {
            let (mantissa, sign) = (mantissas[number], 1 << (types[number].bits() - 1));
            // The FNUZ encodings have no -0: that is their NaN.
            let zero_signs = if types[number].is_fnuz() { 0 } else { sign };
            for offset in 0..elements.len() {
                if !layouts[number].contains(offset as u64) {
                    continue;
                }
                let bits = random.next_u64();
                match random.next_u32() % 8 {
                    0 => {
                        let nonzero = bits & mantissa | 1 << mantissa.trailing_zeros();
                        elements.set_bits(offset, bits & sign | nonzero);
                    }
                    1 => elements.set_bits(offset, bits & zero_signs),
                    _ => {}
                }
                largest[number] = largest[number].max(elements.value(offset).abs());
            }
        }
        let [of_a, of_b] = [0, 1].map(|number| value(types[number], mantissas[number]));
        inputs.denormal_products = (of_a * largest[1]).max(of_b * largest[0]);
        if let (Some([of_a, of_b]), Some(layout)) = (&mut inputs.scales, problem.scales_a()) {
            // Twice as large as any.
            inputs.denormal_products *= 2.0_f64.powi(2 * (LARGEST_SCALE + 1 - 127));
            let middle = layout.offset(0, layout.rows / 2, layout.columns / 2) as usize;
            if middle < of_a.len() && !of_b.is_empty() {
                of_a.set_bits(middle, NAN_SCALE);
            }
        } else if !problem.a().is_empty() {
            let (row, column) = (problem.m() / 2, problem.k() / 2);
            let middle = match problem.sparse_a() {
                Some(stored) => stored.place(row, column / 2),
                None => problem.a().offset(0, row, column),
            };
            inputs.a.set_bits(middle as usize, never_read(types[0]));
        }
        zero_padding(problem, &mut inputs.a);
        Ok(inputs)
    }

    /// Copies them to a device, all but C, each matrix behind the bytes of `lead` elements.
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    pub fn upload(&self, context: &Context, lead: usize) -> Result<InputBuffers, BufferError> {
        let led = |elements: &Elements| context.upload(&behind(elements, lead));
        Ok(InputBuffers {
            a: led(&self.a)?,
            b: led(&self.b)?,
            bias: led(&self.bias)?,
            scales: match &self.scales {
                Some([a, b]) => Some([led(a)?, led(b)?]),
                None => None,
            },
            indices: match &self.indices {
                Some(indices) => Some(context.upload(indices)?),
                None => None,
            },
            lead,
        })
    }
}

/// The bytes in front of a matrix that does not begin at the start of its buffer.
pub(super) const LEAD: u8 = 0xa5;

/// The bytes of elements behind those of `lead` others, rounded up to as many as fill whole bytes.
pub(super) fn behind(elements: &Elements, lead: usize) -> Cow<'_, [u8]> {
    if lead == 0 {
        return elements.bytes().into();
    }
    let mut bytes = vec![LEAD; elements.element().bytes_of_packs(lead as u128) as usize];
    bytes.extend(elements.bytes());
    bytes.into()
}

/// The bits of the mantissa that denormals use; `None` for integers. xf32 has the 10 upper ones of f32.
const fn denormal_mantissa(element: ElementType) -> Option<u64> {
    match element {
        ElementType::F32 => Some((1 << 23) - 1),
        ElementType::Xf32 => Some(((1 << 10) - 1) << 13),
        ElementType::F16 => Some((1 << 10) - 1),
        ElementType::Bf16 => Some((1 << 7) - 1),
        ElementType::F64 => Some((1 << 52) - 1),
        ElementType::Fp8 | ElementType::Fp8Fnuz | ElementType::Mxfp8 | ElementType::Mxfp6 => {
            Some((1 << 3) - 1)
        }
        ElementType::Mxfp4 => Some(1),
        ElementType::Bf8 | ElementType::Bf8Fnuz | ElementType::Mxbf8 | ElementType::Mxbf6 => {
            Some((1 << 2) - 1)
        }
        _ => None,
    }
}

/// A matrix does not fit in this computer's memory.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{matrix} has {bytes} bytes, more than this computer can allocate")]
pub struct InputsError {
    /// Which matrix.
    pub matrix: &'static str,
    /// Its size in bytes.
    pub bytes: u128,
}

/// The bits of an element that makes a result that uses it NaN, or wrong.
fn never_read(element: ElementType) -> u64 {
    match element {
        ElementType::F32 | ElementType::Xf32 => f32::NAN.to_bits().into(),
        ElementType::F16 => half::f16::NAN.to_bits().into(),
        ElementType::Bf16 => half::bf16::NAN.to_bits().into(),
        ElementType::F64 => f64::NAN.to_bits(),
        ElementType::Fp8 | ElementType::Mxfp8 => Encoding::OCP.nan().into(),
        // These have no NaN: the largest number.
        ElementType::Mxfp4 => 7,
        ElementType::Mxfp6 | ElementType::Mxbf6 => 0x1f,
        ElementType::Fp8Fnuz => Encoding::FNUZ.nan().into(),
        ElementType::Bf8Fnuz => Encoding::E5M2_FNUZ.nan().into(),
        ElementType::Bf8 | ElementType::Mxbf8 => Encoding::E5M2.nan().into(),
        _ => 101,
    }
}

/// A generator of random elements.
pub(super) struct Random(pub(super) ChaCha8Rng);

impl Random {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        // The key is the seed itself, so that the elements depend only on ChaCha and not on how a
        // library expands a seed.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Self(generator)
    }

    /// The bits of the next element.
    fn next(&mut self, element: ElementType) -> u64 {
        match element {
            ElementType::F32 => (self.odd(24) as f32).to_bits().into(),
            ElementType::Xf32 => (self.odd(11) as f32).to_bits().into(),
            ElementType::F16 => half::f16::from_f64(self.odd(11)).to_bits().into(),
            ElementType::Bf16 => half::bf16::from_f64(self.odd(8)).to_bits().into(),
            ElementType::F64 => self.odd(53).to_bits(),
            ElementType::I32 => self.0.next_u32().into(),
            ElementType::Fp8 | ElementType::Mxfp8 => self.code(|code| Encoding::OCP.value(code)),
            ElementType::Mxfp4 => self.code(|code| Encoding::E2M1.value(code >> 4)) >> 4,
            ElementType::Mxfp6 => self.code(|code| Encoding::E2M3.value(code >> 2)) >> 2,
            ElementType::E8m0 => u64::from(self.0.next_u32() % 16) + LARGEST_SCALE as u64 - 15,
            ElementType::Fp8Fnuz => self.code(|code| Encoding::FNUZ.value(code)),
            ElementType::Bf8Fnuz => self.code(|code| Encoding::E5M2_FNUZ.value(code)),
            ElementType::Bf8 | ElementType::Mxbf8 => self.code(|code| Encoding::E5M2.value(code)),
            ElementType::Mxbf6 => self.code(|code| Encoding::E3M2.value(code >> 2)) >> 2,
            _ => self.code(f64::from),
        }
    }

    /// An odd multiple of 2 to the power of −`bits` between −1 and 1: exact in a float of that precision, and never 0.
    fn odd(&mut self, bits: u32) -> f64 {
        let number = match bits {
            ..=32 => (self.0.next_u32() >> (32 - bits)).into(),
            _ => self.0.next_u64() >> (64 - bits),
        };
        let half = 1_i64 << (bits - 1);
        // At most 53 bits.
        let number = number as i64 - half;
        (2 * number + 1) as f64 / (2 * half) as f64
    }

    /// A code of 8 bits whose value is finite and not 0.
    fn code(&mut self, value: impl Fn(u8) -> f64) -> u64 {
        loop {
            let code = (self.0.next_u32() >> 24) as u8;
            let value = value(code);
            if value != 0.0 && value.is_finite() {
                return code.into();
            }
        }
    }
}

/// The largest code of a random scale.
const LARGEST_SCALE: i32 = 127 + 7;
/// The scale that is NaN.
const NAN_SCALE: u64 = 0xff;
/// The streams of random numbers for scales; those before are taken.
const SCALE_STREAMS: [u64; 2] = [8, 9];

/// Random scales of A and B, if the elements have them.
fn scales(problem: &Problem, seed: u64) -> Result<Option<[Elements; 2]>, InputsError> {
    let (Some(a), Some(b)) = (problem.scales_a(), problem.scales_b()) else {
        return Ok(None);
    };
    let scales = |name, layout: &Layout, stream| {
        let (element, mut random) = (ElementType::E8m0, Random::new(seed, stream));
        let no_padding = |_| NAN_SCALE;
        matrix(
            name,
            element,
            layout,
            0,
            |_| random.next(element),
            no_padding,
        )
    };
    let [of_a, of_b] = SCALE_STREAMS;
    Ok(Some([
        scales("the scales of A", &a, of_a)?,
        scales("the scales of B", &b, of_b)?,
    ]))
}

/// The stream of random numbers for indices.
const INDEX_STREAM: u64 = 10;

/// Sets what is behind the end of the rows of a sparse A to 0.
fn zero_padding(problem: &Problem, a: &mut Elements) {
    let Some(stored) = problem.sparse_a() else {
        return;
    };
    for batch in 0..problem.batch() {
        let first = problem.a().offset(batch, 0, 0);
        for row in 0..stored.rows() {
            for column in problem.k() / 2..stored.columns() {
                let place = first + stored.place(row, column);
                if place < a.len() as u64 {
                    a.set_bits(place as usize, 0);
                }
            }
        }
    }
}

/// Random indices of a sparse A: two places of four, the smaller one first. Those of no element are random, too.
fn indices(problem: &Problem, seed: u64) -> Result<Option<Vec<u8>>, InputsError> {
    const PAIRS: [u8; 6] = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110];
    let Some(bytes) = problem.index_bytes() else {
        return Ok(None);
    };
    let no_memory = || InputsError {
        matrix: "the indices of A",
        bytes,
    };
    let length = usize::try_from(bytes).map_err(|_| no_memory())?;
    let mut indices = Vec::new();
    indices.try_reserve_exact(length).map_err(|_| no_memory())?;
    let mut random = Random::new(seed, INDEX_STREAM).0;
    let mut pair = || PAIRS[random.next_u32() as usize % PAIRS.len()];
    indices.extend((0..length).map(|_| pair() | pair() << 4));
    Ok(Some(indices))
}

/// A matrix of one row.
const fn vector(length: u32) -> Layout {
    Layout {
        rows: 1,
        columns: length,
        order: crate::gemm::Order::RowMajor,
        leading: length,
        batch: 1,
        stride: 0,
    }
}

fn matrix(
    name: &'static str,
    element: ElementType,
    layout: &Layout,
    tail: usize,
    mut bits: impl FnMut(u64) -> u64,
    padding: impl Fn(u64) -> u64,
) -> Result<Elements, InputsError> {
    let no_memory = || InputsError {
        matrix: name,
        bytes: element.bytes(layout.span() + tail as u128),
    };
    let length = usize::try_from(layout.span())
        .ok()
        .and_then(|span| span.checked_add(tail))
        .ok_or_else(no_memory)?;
    let mut buffer = Elements::with_capacity(element, length).ok_or_else(no_memory)?;
    for offset in 0..length as u64 {
        buffer.push_bits(padding(offset));
    }
    // A layout without elements may have any leading dimension.
    if layout.is_empty() {
        return Ok(buffer);
    }
    // Matrices that share elements are filled repeatedly; the last values remain.
    for batch in 0..layout.batch {
        for line in 0..layout.lines() {
            let start =
                u64::from(batch) * layout.stride + u64::from(line) * u64::from(layout.leading);
            for offset in start..start + u64::from(layout.line_length()) {
                // Offsets of elements are below the length, which is a `usize`.
                buffer.set_bits(offset as usize, bits(offset));
            }
        }
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::{Operation, Order, Request};
    use ferrowave_shared::{Bias, ElementTypes};

    fn inputs(request: Request, seed: u64) -> (Problem, Inputs) {
        let problem = request.check().expect("valid");
        let inputs = Inputs::random(&problem, seed).expect("small");
        (problem, inputs)
    }

    fn values(elements: &Elements) -> Vec<f64> {
        (0..elements.len())
            .map(|index| elements.value(index))
            .collect()
    }

    const PADDED: Request = Request {
        lda: Some(9),
        ldb: Some(9),
        order_b: Order::ColumnMajor,
        ldc: Some(7),
        stride_c: Some(30),
        batch: 2,
        ..Request::new(3, 5, 8)
    };

    #[test]
    fn elements_are_between_minus_one_and_one_and_never_zero() {
        for types in [
            ElementTypes::F32,
            ElementTypes::XF32,
            ElementTypes::F16,
            ElementTypes::BF16,
            ElementTypes::F64,
        ] {
            let request = Request {
                types,
                ..Request::new(100, 1, 1000)
            };
            let (_, inputs) = inputs(request, 1);
            let a = values(&inputs.a);
            assert!(a.iter().all(|&x| x != 0.0 && x.abs() < 1.0));
            let mean = a.iter().sum::<f64>() / 1e5;
            // The standard deviation of the mean is 1 / √(3 · 10⁵), about 0.0018.
            assert!(mean.abs() < 0.01, "{mean}");
            let negative = a.iter().filter(|x| x.is_sign_negative()).count();
            assert!((49_000..51_000).contains(&negative), "{negative}");
        }
    }

    #[test]
    fn every_finite_code_but_zero_is_an_element() {
        for (types, count) in [
            (ElementTypes::I8, 255),
            (ElementTypes::FP8, 252),
            (ElementTypes::FP8_FNUZ, 254),
            (ElementTypes::BF8, 246),
            (ElementTypes::BF8_FNUZ, 254),
        ] {
            let request = Request {
                types,
                ..Request::new(100, 1, 1000)
            };
            let (_, inputs) = inputs(request, 1);
            let codes: std::collections::HashSet<_> = inputs.a.bytes().iter().collect();
            assert_eq!(codes.len(), count, "{}", types.a);
            assert!(values(&inputs.a).iter().all(|&x| x != 0.0 && x.is_finite()));
        }
    }

    /// The elements of a seed must not change: these are the values of the first release.
    #[test]
    fn the_seed_fixes_the_elements() {
        let (_, first) = inputs(Request::new(4, 4, 4), 42);
        let (_, again) = inputs(Request::new(4, 4, 4), 42);
        assert_eq!(first.a, again.a);
        assert_eq!(first.b, again.b);
        assert_ne!(first.a, first.b);
        let (_, other) = inputs(Request::new(4, 4, 4), 43);
        assert_ne!(first.a, other.a);
        // From another implementation of ChaCha8, with key 42, streams 0 and 1.
        let numerators = |x: &Elements| [0, 1, 2].map(|i| x.value(i) * 16_777_216.0);
        assert_eq!(
            numerators(&first.a),
            [-13_426_863.0, -5_091_735.0, -13_812_753.0]
        );
        assert_eq!(
            numerators(&first.b),
            [13_667_633.0, 9_290_009.0, -4_183_337.0]
        );
    }

    #[test]
    fn padding_of_inputs_is_nan_and_of_the_output_a_canary() {
        for types in [
            ElementTypes::F32,
            ElementTypes::BF16,
            ElementTypes::FP8_FNUZ,
        ] {
            let (problem, inputs) = inputs(Request { types, ..PADDED }, 7);
            for (offset, x) in (0..).zip(values(&inputs.a)) {
                assert_eq!(x.is_nan(), !problem.a().contains(offset), "A at {offset}");
            }
            for (offset, x) in (0..).zip(values(&inputs.b)) {
                assert_eq!(x.is_nan(), !problem.b().contains(offset), "B at {offset}");
            }
            let mut canaries = 0;
            for (offset, x) in (0..).zip(values(&inputs.c)) {
                if problem.c().contains(offset) {
                    assert!(x.is_nan(), "poison at {offset}");
                } else {
                    let bits = inputs.c.bits(offset as usize);
                    assert_eq!(bits, canary(types.output, offset));
                    canaries += 1;
                }
            }
            // 2 rows with 2 elements of padding in each matrix, 30 − 19 between them, and the tail.
            assert_eq!(canaries, 2 * 2 * 2 + 11 + TAIL_ELEMENTS);
        }
    }

    #[test]
    fn an_output_that_counts_is_random() {
        let request = Request {
            beta: 0.5,
            ..PADDED
        };
        let (problem, scaled) = inputs(request, 7);
        for (offset, x) in (0..).zip(values(&scaled.c)) {
            let random = x.abs() >= f64::from(f32::EPSILON) / 2.0 && x.abs() < 1.0;
            assert_eq!(random, problem.c().contains(offset), "{x} at {offset}");
        }
        let request = Request {
            prologue: Operation::Set(1.0),
            ..request
        };
        let (problem, replaced) = inputs(request, 7);
        assert!(!problem.reads_c() && replaced.c.value(0).is_nan());
    }

    #[test]
    fn special_elements_are_denormal_zero_and_nan_and_the_padding_stays() {
        for (types, smallest_normal) in [
            (ElementTypes::F32, 2.0_f64.powi(-126)),
            (ElementTypes::XF32, 2.0_f64.powi(-126)),
            (ElementTypes::F16, 2.0_f64.powi(-14)),
            (ElementTypes::BF16, 2.0_f64.powi(-126)),
            (ElementTypes::F64, 2.0_f64.powi(-1022)),
            (ElementTypes::FP8, 2.0_f64.powi(-6)),
            (ElementTypes::FP8_FNUZ, 2.0_f64.powi(-7)),
            (ElementTypes::BF8, 2.0_f64.powi(-14)),
            (ElementTypes::BF8_FNUZ, 2.0_f64.powi(-15)),
        ] {
            let request = Request {
                types,
                lda: Some(70),
                ..Request::new(65, 66, 67)
            };
            let problem = request.check().expect("valid");
            let special = Inputs::special(&problem, 3).expect("small");
            let random = Inputs::random(&problem, 3).expect("small");
            let of_a = |offset| problem.a().contains(offset as u64);
            let a = values(&special.a);
            let nans: Vec<_> = (0..a.len()).filter(|&i| of_a(i) && a[i].is_nan()).collect();
            assert_eq!(nans, [problem.a().offset(0, 32, 33) as usize], "{types:?}");
            for (values, count) in [(&a, 65 * 67), (&values(&special.b), 66 * 67)] {
                let share = |is: &dyn Fn(f64) -> bool| {
                    values.iter().filter(|&&x| is(x)).count() as f64 / f64::from(count)
                };
                let denormal = share(&|x| x != 0.0 && x.abs() < smallest_normal);
                let zero = share(&|x| x == 0.0);
                assert!((0.1..0.2).contains(&denormal), "{types:?}: {denormal}");
                assert!((0.1..0.15).contains(&zero), "{types:?}: {zero}");
                let negative = share(&|x| x == 0.0 && x.is_sign_negative());
                let has_negative_zero = !types.a.is_fnuz();
                assert_eq!(negative > 0.03, has_negative_zero, "{types:?}: {negative}");
            }
            for offset in (0..a.len()).filter(|&offset| !of_a(offset)) {
                assert_eq!(special.a.bits(offset), random.a.bits(offset), "{types:?}");
            }
            assert!(special.denormal_products > 0.0);
        }
    }

    #[test]
    fn a_bias_is_as_long_as_a_row_or_a_column() {
        for (bias, length) in [(Bias::None, 0), (Bias::Row, 3), (Bias::Column, 5)] {
            let (_, inputs) = inputs(Request { bias, ..PADDED }, 7);
            assert_eq!(inputs.bias.len(), length);
        }
    }

    #[test]
    fn a_matrix_without_elements_may_have_a_leading_dimension() {
        let request = Request {
            lda: Some(3),
            beta: 1.0,
            ..Request::new(4, 5, 0)
        };
        let (_, inputs) = inputs(request, 7);
        assert!(inputs.a.is_empty() && inputs.b.is_empty());
        assert_eq!(inputs.c.len(), 20 + TAIL_ELEMENTS);
    }

    #[test]
    fn a_matrix_too_large_for_this_computer_is_an_error() {
        let request = Request {
            stride_a: Some(i64::MAX / 8),
            batch: 2,
            ..Request::new(1, 1, 1)
        };
        let problem = request.check().expect("can be addressed");
        let error = Inputs::random(&problem, 0).unwrap_err();
        assert_eq!(error.matrix, "A");
        assert_eq!(error.bytes, (i64::MAX as u128 / 8 + 1) * 4);
    }
}
