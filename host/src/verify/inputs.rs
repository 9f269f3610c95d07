//! Random matrices, and what surrounds them.

use crate::gemm::{Layout, Problem};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use thiserror::Error;

/// Canary elements past the end of C.
pub const TAIL_ELEMENTS: usize = 64;

/// The buffers of a problem, filled so that mistakes show.
///
/// - Elements of A and B are random in (−1, 1), never 0, so that none can be left out unnoticed.
/// - Elements of C are random, too, if β ≠ 0. If β = 0 they are NaN: what is not written, and what
///   is read against the rules, stays NaN.
/// - The padding of A and B is NaN: whatever uses it becomes NaN.
/// - The padding of C, between rows, between matrices and [`TAIL_ELEMENTS`] past the end, holds
///   canaries, which must survive.
///
/// The same seed and problem give the same elements on every computer, from ChaCha with 8 rounds,
/// each matrix from a stream of its own.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// A, without a tail.
    pub a: Vec<f32>,
    /// B, without a tail.
    pub b: Vec<f32>,
    /// C before the product, with its tail.
    pub c: Vec<f32>,
}

impl Inputs {
    /// Makes the matrices of `problem` from `seed`.
    ///
    /// # Errors
    /// This computer has not enough memory.
    pub fn random(problem: &Problem, seed: u64) -> Result<Self, InputsError> {
        let a = matrix("A", problem.a(), 0, Random::new(seed, 0), |_| f32::NAN)?;
        let b = matrix("B", problem.b(), 0, Random::new(seed, 1), |_| f32::NAN)?;
        let c = if problem.beta() == 0.0 {
            matrix("C", problem.c(), TAIL_ELEMENTS, Poison, canary)?
        } else {
            matrix(
                "C",
                problem.c(),
                TAIL_ELEMENTS,
                Random::new(seed, 2),
                canary,
            )?
        };
        Ok(Self { a, b, c })
    }
}

/// This computer can't hold a matrix.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{matrix} has {bytes} bytes, for which this computer has no memory")]
pub struct InputsError {
    /// Which matrix.
    pub matrix: &'static str,
    /// Its size in bytes.
    pub bytes: u128,
}

/// What stands at `offset` in the padding of C.
///
/// Different at each place, so that canaries moved by a shifted write show; and of the order of
/// 1e-13, so that anything added to them shows: had they the size of the elements or more, a sum
/// could round back to the canary.
pub fn canary(offset: u64) -> f32 {
    const EXPONENT: u32 = 0x2a00_0000;
    // An odd factor permutes the 2²³ mantissas.
    let mantissa = (offset as u32).wrapping_mul(0x9e37_79b1) & 0x7f_ffff;
    f32::from_bits(EXPONENT | mantissa)
}

/// Where elements come from, one after the other.
trait Source {
    fn next(&mut self) -> f32;
}

struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        // The key is the seed itself, so that the elements depend on ChaCha alone and not on how a
        // library turns a number into a key.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Self(generator)
    }
}

impl Source for Random {
    /// An odd multiple of 2⁻²⁴ between −1 and 1: exact in f32, and never 0.
    fn next(&mut self) -> f32 {
        const HALF: i32 = 1 << 23;
        let number = (self.0.next_u32() >> 8) as i32 - HALF;
        (2 * number + 1) as f32 / (2 * HALF) as f32
    }
}

struct Poison;

impl Source for Poison {
    fn next(&mut self) -> f32 {
        f32::NAN
    }
}

fn matrix(
    name: &'static str,
    layout: &Layout,
    tail: usize,
    mut elements: impl Source,
    padding: impl Fn(u64) -> f32,
) -> Result<Vec<f32>, InputsError> {
    let no_memory = || InputsError {
        matrix: name,
        bytes: (layout.span() + tail as u128) * size_of::<f32>() as u128,
    };
    let length = usize::try_from(layout.span())
        .ok()
        .and_then(|span| span.checked_add(tail))
        .ok_or_else(no_memory)?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|_| no_memory())?;
    buffer.extend((0..length as u64).map(padding));
    // Rows without elements may have leading dimensions, which lead nowhere.
    if layout.is_empty() {
        return Ok(buffer);
    }
    // Matrices that all are the same one, or overlap, are filled again and again; the last time
    // counts.
    for batch in 0..layout.batch {
        for row in 0..layout.rows {
            // Offsets of elements are below the length, and so fit.
            let start = layout.offset(batch, row, 0) as usize;
            for element in &mut buffer[start..start + layout.columns as usize] {
                *element = elements.next();
            }
        }
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;

    fn inputs(request: Request, seed: u64) -> (Problem, Inputs) {
        let problem = request.check().expect("valid");
        let inputs = Inputs::random(&problem, seed).expect("small");
        (problem, inputs)
    }

    const PADDED: Request = Request {
        lda: Some(9),
        ldb: Some(6),
        ldc: Some(7),
        stride_c: Some(30),
        batch: 2,
        ..Request::new(3, 5, 8)
    };

    #[test]
    fn elements_are_between_minus_one_and_one_and_never_zero() {
        let (_, inputs) = inputs(Request::new(100, 1, 1000), 1);
        assert!(inputs.a.iter().all(|&x| x != 0.0 && x.abs() < 1.0));
        let mean = inputs.a.iter().map(|&x| f64::from(x)).sum::<f64>() / 1e5;
        // The standard deviation of the mean is 1 / √(3 · 10⁵), about 0.0018.
        assert!(mean.abs() < 0.01, "{mean}");
        let negative = inputs.a.iter().filter(|x| x.is_sign_negative()).count();
        assert!((49_000..51_000).contains(&negative), "{negative}");
    }

    /// The stream must not change under anybody's seeds: these are the values of the first release.
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
        let numerators = |x: &[f32]| x[..3].iter().map(|x| x * 16_777_216.0).collect::<Vec<_>>();
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
        let (problem, inputs) = inputs(PADDED, 7);
        for (offset, x) in (0..).zip(&inputs.a) {
            assert_eq!(x.is_nan(), !problem.a().contains(offset), "A at {offset}");
        }
        for (offset, x) in (0..).zip(&inputs.b) {
            assert_eq!(x.is_nan(), !problem.b().contains(offset), "B at {offset}");
        }
        let mut canaries = 0;
        for (offset, x) in (0..).zip(&inputs.c) {
            if problem.c().contains(offset) {
                assert!(x.is_nan(), "poison at {offset}");
            } else {
                assert_eq!(x.to_bits(), canary(offset).to_bits());
                canaries += 1;
            }
        }
        // 2 rows with 2 elements of padding in each matrix, 30 − 19 between them, and the tail.
        assert_eq!(canaries, 2 * 2 * 2 + 11 + TAIL_ELEMENTS);
    }

    #[test]
    fn with_beta_the_output_is_random() {
        let request = Request {
            beta: 0.5,
            ..PADDED
        };
        let (problem, inputs) = inputs(request, 7);
        for (offset, x) in (0..).zip(&inputs.c) {
            let random = x.abs() >= f32::EPSILON / 2.0 && x.abs() < 1.0;
            assert_eq!(random, problem.c().contains(offset), "{x} at {offset}");
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
    fn canaries_differ_and_drown_in_any_sum() {
        let mut seen = std::collections::HashSet::new();
        for offset in 0..100_000 {
            let x = canary(offset);
            assert!(x.is_normal() && x > 0.0 && x < 1e-12);
            assert_ne!(x + f32::EPSILON * f32::EPSILON, x);
            assert!(seen.insert(x.to_bits()));
        }
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
