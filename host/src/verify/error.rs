//! How far a result is from the reference, and whether rounding explains it.
//!
//! For one element of C ← αAB + βC, computed in a floating-point format with unit roundoff u (half
//! the distance from 1 to the next larger number; 2⁻²⁴ for f32), whatever the order of the sum and
//! whether multiply-adds are fused or not:
//!
//! - the sum s of k products has an error of at most ku · S with S = Σ|aₚ||bₚ| (Jeannerod and Rump,
//!   *Improved error bounds for inner products in floating-point arithmetic*, 2013);
//! - αs is rounded at most twice more, as a product and in the final sum, and so is βc.
//!
//! So the error is at most |α|S · ((1 + ku)(1 + u)² − 1) + |βc| · ((1 + u)² − 1), plus the smallest
//! normal number for each operation whose result may have been flushed to zero. An element is wrong
//! if and only if its error exceeds this bound. Sums that lose half a unit each time come close to
//! it; random elements stay at about 1/√k of it, since their errors cancel.

use super::{
    inputs::{Inputs, canary},
    reference::{BlockSize, for_each_block},
};
use crate::gemm::{Layout, Problem};

/// What became of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// ‖out − ref‖ / ‖ref‖, with the Frobenius norm, over the elements whose reference is a number in
    /// f32. 0 if there are none, and not finite if one of them is no number.
    pub relative_error: f64,
    /// The element with the largest error in units of its bound; `None` if there is no element.
    pub worst: Option<Worst>,
    /// Elements whose error exceeds their bound.
    pub wrong_elements: u64,
    /// The first canary that did not survive.
    pub damage: Option<Damage>,
    /// How many canaries did not survive.
    pub damaged_canaries: u64,
}

impl Verdict {
    /// Whether every element is within its bound and every canary survived.
    pub const fn passed(&self) -> bool {
        self.wrong_elements == 0 && self.damaged_canaries == 0
    }
}

/// An element and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Which product of the batch.
    pub batch: u32,
    /// Which row of C.
    pub row: u32,
    /// Which column of C.
    pub column: u32,
    /// What the device computed.
    pub value: f32,
    /// What it should be, before rounding.
    pub reference: f64,
    /// The error in units of the bound: right up to 1. Infinite if the device computed no number
    /// where there should be one, or the other way round.
    pub error_in_bounds: f64,
}

/// A canary that did not survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Elements from the first of C to the canary.
    pub offset: u64,
    /// Which product of the batch it follows.
    pub batch: u64,
    /// Which row of C it is in, or m and more between matrices and past the end.
    pub row: u64,
    /// Which column it is in, counted to the leading dimension.
    pub column: u64,
}

/// Compares `output`, which is C and its tail after the device computed `problem` from `inputs`,
/// with the reference.
///
/// # Panics
/// If `output` has not the length of `inputs.c`, or the inputs are not those of the problem.
pub fn verify(problem: &Problem, inputs: &Inputs, output: &[f32]) -> Verdict {
    assert_eq!(output.len(), inputs.c.len(), "the output is C and its tail");
    let mut errors = Errors::default();
    let bound = Bound::new(problem);
    for_each_block(
        problem,
        &inputs.a,
        &inputs.b,
        BlockSize::default(),
        |block| {
            for (row, products, magnitudes) in block.rows() {
                // Offsets of elements are below the length of C.
                let start = problem.c().offset(block.batch, row, block.columns.start) as usize;
                let elements = start..start + block.columns.len();
                let values = output[elements.clone()].iter().zip(&inputs.c[elements]);
                for (column, ((&value, &old), (&product, &magnitude))) in block
                    .columns
                    .clone()
                    .zip(values.zip(products.iter().zip(magnitudes)))
                {
                    let (reference, bound) = bound.of_element(product, magnitude, old);
                    errors.add(
                        Worst {
                            batch: block.batch,
                            row,
                            column,
                            value,
                            reference,
                            error_in_bounds: 0.0,
                        },
                        bound,
                    );
                }
            }
        },
    );
    let (damage, damaged_canaries) = damage(problem.c(), output);
    Verdict {
        relative_error: errors.relative(),
        worst: errors.worst,
        wrong_elements: errors.wrong,
        damage,
        damaged_canaries,
    }
}

/// The bound of the module's docs.
struct Bound {
    alpha: f64,
    beta: f64,
    /// (1 + ku)(1 + u)² − 1
    of_product: f64,
    /// (1 + u)² − 1
    of_old: f64,
    /// What flushing to zero may cost.
    of_flushing: f64,
}

impl Bound {
    fn new(problem: &Problem) -> Self {
        /// u
        const U: f64 = f32::EPSILON as f64 / 2.0;
        let k = f64::from(problem.k());
        // Without a product there is nothing that α could scale.
        let alpha = if problem.k() == 0 {
            0.0
        } else {
            f64::from(problem.alpha())
        };
        // Multiplied out, since subtracting 1 from 1 + 2u would cost the last 28 bits of 2u.
        let of_old = 2.0 * U + U * U;
        Self {
            alpha,
            beta: f64::from(problem.beta()),
            of_product: k * U * (1.0 + of_old) + of_old,
            of_old,
            // Each product and each partial sum, scaled; both terms of the result and their sum.
            of_flushing: (2.0 * k * alpha.abs() + 3.0) * f64::from(f32::MIN_POSITIVE),
        }
    }

    /// The reference of an element and the bound of its error.
    fn of_element(&self, product: f64, magnitude: f64, old: f32) -> (f64, f64) {
        let term = self.alpha * product;
        let old = if self.beta == 0.0 {
            0.0
        } else {
            self.beta * f64::from(old)
        };
        let bound = self.alpha.abs() * magnitude * self.of_product
            + old.abs() * self.of_old
            + self.of_flushing;
        (term + old, bound)
    }
}

/// Errors added up over the elements.
#[derive(Default)]
struct Errors {
    squared_error: f64,
    squared_reference: f64,
    wrong: u64,
    worst: Option<Worst>,
}

impl Errors {
    fn add(&mut self, element: Worst, bound: f64) {
        let value = f64::from(element.value);
        let reference = element.reference;
        let rounded = reference as f32;
        // Where no number is to come out, only the same NaN or infinity is right.
        let error = if rounded.is_finite() {
            (value - reference).abs()
        } else if rounded == element.value || rounded.is_nan() && value.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
        if rounded.is_finite() {
            self.squared_error += error * error;
            self.squared_reference += reference * reference;
        }
        let in_bounds = if error == 0.0 {
            0.0
        } else if error.is_finite() {
            error / bound
        } else {
            // The device computed no number, or one where there should be none.
            f64::INFINITY
        };
        if in_bounds > 1.0 {
            self.wrong += 1;
        }
        if self
            .worst
            .is_none_or(|worst| in_bounds > worst.error_in_bounds)
        {
            self.worst = Some(Worst {
                error_in_bounds: in_bounds,
                ..element
            });
        }
    }

    fn relative(&self) -> f64 {
        if self.squared_error == 0.0 {
            return 0.0;
        }
        (self.squared_error / self.squared_reference).sqrt()
    }
}

/// The first canary of C that is not what it was, and how many there are.
fn damage(layout: &Layout, output: &[f32]) -> (Option<Damage>, u64) {
    let mut first = None;
    let mut count = 0;
    for (offset, value) in (0..).zip(output) {
        if value.to_bits() == canary(offset).to_bits() || layout.contains(offset) {
            continue;
        }
        count += 1;
        first.get_or_insert_with(|| {
            let place = layout.place(offset);
            Damage {
                offset,
                batch: place.batch,
                row: place.row,
                column: place.column,
            }
        });
    }
    (first, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;

    const PADDED: Request = Request {
        lda: Some(33),
        ldb: Some(24),
        ldc: Some(26),
        batch: 3,
        stride_c: Some(500),
        ..Request::new(17, 23, 31)
    };

    /// What a correct device would do: sums in f32, from the first product to the last.
    fn computed(problem: &Problem, inputs: &Inputs) -> Vec<f32> {
        let mut output = inputs.c.clone();
        for batch in 0..problem.batch() {
            for i in 0..problem.m() {
                for j in 0..problem.n() {
                    let sum = (0..problem.k()).fold(0.0, |sum: f32, p| {
                        let a = inputs.a[problem.a().offset(batch, i, p) as usize];
                        let b = inputs.b[problem.b().offset(batch, p, j) as usize];
                        sum + a * b
                    });
                    let c = &mut output[problem.c().offset(batch, i, j) as usize];
                    *c = if problem.beta() == 0.0 {
                        problem.alpha() * sum
                    } else {
                        problem.alpha() * sum + problem.beta() * *c
                    };
                }
            }
        }
        output
    }

    fn case(request: Request) -> (Problem, Inputs, Vec<f32>) {
        let problem = request.check().expect("valid");
        let inputs = Inputs::random(&problem, 5).expect("small");
        let output = computed(&problem, &inputs);
        (problem, inputs, output)
    }

    #[test]
    fn a_correct_result_passes_far_below_the_bound() {
        for (alpha, beta) in [(1.0, 0.0), (-2.5, 0.5), (0.0, 1.0), (1.0, 1.0)] {
            let (problem, inputs, output) = case(Request {
                alpha,
                beta,
                ..PADDED
            });
            let verdict = verify(&problem, &inputs, &output);
            assert!(verdict.passed(), "{verdict:?}");
            assert!(verdict.relative_error < 1e-6, "{verdict:?}");
            let worst = verdict.worst.expect("there are elements");
            assert!(worst.error_in_bounds < 0.5, "{worst:?}");
        }
    }

    #[test]
    fn one_product_left_out_is_found() {
        let (problem, inputs, mut output) = case(PADDED);
        let a = inputs.a[problem.a().offset(1, 4, 7) as usize];
        let b = inputs.b[problem.b().offset(1, 7, 9) as usize];
        output[problem.c().offset(1, 4, 9) as usize] -= a * b;
        let verdict = verify(&problem, &inputs, &output);
        assert!(!verdict.passed());
        assert_eq!(verdict.wrong_elements, 1);
        let worst = verdict.worst.expect("there are elements");
        assert_eq!((worst.batch, worst.row, worst.column), (1, 4, 9));
    }

    #[test]
    fn an_element_that_was_not_written_is_found() {
        let (problem, inputs, mut output) = case(PADDED);
        output[problem.c().offset(2, 16, 22) as usize] = f32::NAN;
        let verdict = verify(&problem, &inputs, &output);
        assert_eq!(verdict.wrong_elements, 1);
        assert!(!verdict.relative_error.is_finite());
        let worst = verdict.worst.expect("there are elements");
        assert_eq!((worst.batch, worst.row, worst.column), (2, 16, 22));
        assert_eq!(worst.error_in_bounds, f64::INFINITY);
    }

    #[test]
    fn swapped_or_transposed_operands_are_found() {
        let (problem, inputs, output) = case(Request::new(8, 8, 8));
        let swapped = Inputs {
            a: inputs.b.clone(),
            b: inputs.a.clone(),
            c: inputs.c.clone(),
        };
        assert!(verify(&problem, &inputs, &output).passed());
        assert!(!verify(&problem, &swapped, &output).passed());
    }

    #[test]
    fn damaged_canaries_are_found_between_rows_between_matrices_and_past_the_end() {
        let (problem, inputs, correct) = case(PADDED);
        let check = |offset: u64, batch, row, column| {
            let mut output = correct.clone();
            output[offset as usize] = 0.0;
            let verdict = verify(&problem, &inputs, &output);
            assert!(!verdict.passed());
            assert_eq!((verdict.wrong_elements, verdict.damaged_canaries), (0, 1));
            let expected = Damage {
                offset,
                batch,
                row,
                column,
            };
            assert_eq!(verdict.damage, Some(expected));
        };
        check(problem.c().offset(1, 3, 22) + 1, 1, 3, 23);
        check(problem.c().offset(0, 16, 22) + 1, 0, 16, 23);
        check(499, 0, 19, 5);
        // The last matrix spans 16 · 26 + 23 elements, and the tail is 64.
        check(correct.len() as u64 - 1, 2, 19, 8);
    }

    /// Each addition of 2⁻²⁴ to 1 is a tie that rounds to 1: all are lost.
    #[test]
    fn the_bound_is_close_to_the_worst_possible_sum() {
        const K: u32 = 1000;
        let problem = Request::new(1, 1, K.into()).check().expect("valid");
        let mut inputs = Inputs::random(&problem, 0).expect("small");
        inputs.a.fill(f32::EPSILON / 2.0);
        inputs.a[0] = 1.0;
        inputs.b.fill(1.0);
        let output = computed(&problem, &inputs);
        assert_eq!(output[0], 1.0);
        let worst = verify(&problem, &inputs, &output).worst.expect("one");
        assert!(
            (0.99..1.0).contains(&worst.error_in_bounds),
            "{}",
            worst.error_in_bounds
        );
    }

    #[test]
    fn without_products_what_remains_is_beta_c() {
        let (problem, inputs, output) = case(Request {
            alpha: f32::INFINITY,
            beta: 0.5,
            ..Request::new(3, 4, 0)
        });
        // 0 · ∞ is what the formula gives and what must not come out.
        assert!(output[0].is_nan());
        assert!(!verify(&problem, &inputs, &output).passed());
        let halved: Vec<f32> = (0..)
            .zip(&inputs.c)
            .map(|(i, &c)| if problem.c().contains(i) { 0.5 * c } else { c })
            .collect();
        let verdict = verify(&problem, &inputs, &halved);
        assert!(verdict.passed(), "{verdict:?}");
        assert_eq!(verdict.relative_error, 0.0);
    }

    #[test]
    fn factors_that_are_no_numbers_give_none() {
        for alpha in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let (problem, inputs, mut output) = case(Request {
                alpha,
                ..Request::new(3, 4, 5)
            });
            let verdict = verify(&problem, &inputs, &output);
            assert!(verdict.passed(), "{alpha}: {verdict:?}");
            output[0] = 1.0;
            assert_eq!(verify(&problem, &inputs, &output).wrong_elements, 1);
        }
    }

    #[test]
    fn nothing_computed_is_nothing_wrong() {
        let (problem, inputs, output) = case(Request::new(0, 4, 5));
        let verdict = verify(&problem, &inputs, &output);
        assert!(verdict.passed());
        assert_eq!(verdict.worst, None);
        assert_eq!(verdict.relative_error, 0.0);
    }
}
