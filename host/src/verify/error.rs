//! The error of a result against the reference, and whether rounding explains it.
//!
//! An element is wrong if and only if its error exceeds the bound of the rounding analysis (`bound`). Sums that lose
//! half a unit in each addition come close to the bound; sums of random elements stay at about 1/√k of it, since their
//! errors cancel.

use std::fmt;

use super::{canary::canary, elements::Elements, parallel::in_order};
use crate::gemm::Layout;

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// ‖out − ref‖ / ‖ref‖, with the Frobenius norm, over the compared elements whose reference is finite in C's type. Not
    /// finite if the device computed NaN or an infinity for one of them; `None` if there is no such element.
    pub relative_error: Option<f64>,
    /// The compared element with the largest error in units of its bound; `None` if there is no element.
    pub worst: Option<Worst>,
    /// Compared elements whose error exceeds their bound.
    pub wrong_elements: u64,
    /// The first of them, by product of the batch, row and column.
    pub first_wrong: Option<Worst>,
    /// Which elements were compared.
    pub method: Method,
    /// The first canary that was overwritten.
    pub damage: Option<Damage>,
    /// How many canaries were overwritten.
    pub damaged_canaries: u64,
}

impl Verdict {
    /// Whether every element is within its bound and no canary was overwritten.
    pub const fn passed(&self) -> bool {
        self.wrong_elements == 0 && self.damaged_canaries == 0
    }
}

/// How a result was verified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Every element was compared with the reference.
    Exact,
    /// Some elements were compared with the reference, and the projections of all on random vectors with those of the
    /// reference; see [`reference`](super::reference).
    Projected {
        /// The elements that were compared: the sampled rows, and groups whose projections differ.
        compared_elements: u64,
        /// The number of vectors. Elements that deviate by more than the resolution are missed with a probability of at
        /// most 2 to the power of −`vectors`.
        vectors: u32,
        /// The largest deviation of an element that is not compared, in units of the bound of a typical element of its
        /// group of 128. 0 for integers.
        resolution: f64,
    },
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("all elements compared with a product in f64"),
            Self::Projected {
                compared_elements,
                vectors,
                resolution,
            } => {
                write!(
                    f,
                    "{compared_elements} elements compared with a product in f64, all by {vectors} random projections: "
                )?;
                match resolution {
                    0.0 => f.write_str("any difference")?,
                    _ => write!(f, "an error above {resolution:.1} bounds")?,
                }
                write!(f, " is missed with a probability of at most 2^-{vectors}")
            }
        }
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
    /// The device's result.
    pub value: f64,
    /// The expected value, before rounding.
    pub reference: f64,
    /// The error in units of the bound; correct up to 1. Infinite if the device computed NaN or an
    /// infinity where a finite number is expected, or the other way round.
    pub error_in_bounds: f64,
}

impl Worst {
    fn place(&self) -> (u32, u32, u32) {
        (self.batch, self.row, self.column)
    }
}

/// A canary that was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the canary from the first element of C, in elements.
    pub offset: u64,
    /// Which product of the batch it follows.
    pub batch: u64,
    /// Its row in C; m or more between matrices and past the end.
    pub row: u64,
    /// Its column, up to the leading dimension.
    pub column: u64,
}

/// The errors of some elements.
#[derive(Default)]
pub(super) struct Errors {
    pub(super) compared: u64,
    squared_error: f64,
    squared_reference: f64,
    /// Elements whose reference is finite.
    finite: u64,
    pub(super) wrong: u64,
    pub(super) worst: Option<Worst>,
    pub(super) first_wrong: Option<Worst>,
}

impl Errors {
    /// The errors of several blocks. Sums depend on the blocks' order.
    pub(super) fn all(blocks: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Errors::default();
        for block in blocks {
            all.compared += block.compared;
            all.squared_error += block.squared_error;
            all.squared_reference += block.squared_reference;
            all.finite += block.finite;
            all.wrong += block.wrong;
            all.worst = match (all.worst, block.worst) {
                (Some(a), Some(b)) if b.error_in_bounds > a.error_in_bounds => Some(b),
                (a, b) => a.or(b),
            };
            all.first_wrong = match (all.first_wrong, block.first_wrong) {
                (Some(a), Some(b)) if b.place() < a.place() => Some(b),
                (a, b) => a.or(b),
            };
        }
        all
    }

    /// Adds an element. Elements of a block come row by row.
    pub(super) fn add(&mut self, element: Worst, is_number: bool) {
        self.compared += 1;
        if is_number {
            self.finite += 1;
            self.squared_error += (element.value - element.reference).powi(2);
            self.squared_reference += element.reference.powi(2);
        }
        if element.error_in_bounds > 1.0 {
            self.wrong += 1;
            self.first_wrong.get_or_insert(element);
        }
        if self
            .worst
            .is_none_or(|worst| element.error_in_bounds > worst.error_in_bounds)
        {
            self.worst = Some(element);
        }
    }

    pub(super) fn relative(&self) -> Option<f64> {
        match (self.finite, self.squared_error) {
            (0, _) => None,
            (_, 0.0) => Some(0.0),
            _ => Some((self.squared_error / self.squared_reference).sqrt()),
        }
    }
}

/// The first canary of C that was overwritten, and how many were.
pub(super) fn damage(layout: &Layout, output: &Elements, threads: usize) -> (Option<Damage>, u64) {
    const PART: usize = 1 << 20;
    let parts = in_order(output.len().div_ceil(PART), threads, |number| {
        let all = number * PART..output.len().min((number + 1) * PART);
        let mut damaged = all.map(|index| index as u64).filter(|&offset| {
            output.bits(offset as usize) != canary(output.element(), offset)
                && !layout.contains(offset)
        });
        (damaged.next(), damaged.count() as u64)
    });
    let first = parts.iter().find_map(|(first, _)| *first);
    let count = parts
        .iter()
        .map(|(first, others)| u64::from(first.is_some()) + others)
        .sum();
    let first = first.map(|offset| {
        let place = layout.place(offset);
        Damage {
            offset,
            batch: place.batch,
            row: place.row,
            column: place.column,
        }
    });
    (first, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gemm::{Operation, Order, Problem, Request},
        verify::{
            Inputs,
            block::Factor,
            elements::{nearest, value},
            verify,
        },
    };
    use ferrowave_shared::{Bias, ElementType, ElementTypes};

    const PADDED: Request = Request {
        lda: Some(33),
        ldb: Some(24),
        ldc: Some(26),
        batch: 3,
        stride_c: Some(500),
        ..Request::new(17, 23, 31)
    };

    fn set(elements: &mut Elements, index: u64, value: f64) {
        let bits = nearest(elements.element(), value);
        elements.set_bits(index as usize, bits);
    }

    /// The result of a correct device: sums in the accumulator type, from the first product to the last.
    fn computed(problem: &Problem, inputs: &Inputs) -> Elements {
        let sums = problem.types().accumulator;
        let round = |x: f64| value(sums, nearest(sums, x));
        let operation = |x: f64, operation| match operation {
            Operation::None => x,
            Operation::Set(constant) => constant,
            Operation::Scale(constant) => round(x * constant),
            Operation::Relu if x < 0.0 => 0.0,
            Operation::Relu => x,
            Operation::Gelu => {
                let u = 0.797_884_560_802_865_4 * (x + 0.044_715 * x.powi(3));
                round(0.5 * x * (1.0 + u.tanh()))
            }
            Operation::Silu => round(x / (1.0 + (-x).exp())),
            _ => unreachable!("not used here"),
        };
        let mut output = inputs.c.clone();
        let [a, b] = Factor::both(problem, inputs);
        for batch in 0..problem.batch() {
            for i in 0..problem.m() {
                for j in 0..problem.n() {
                    let sum = (0..problem.k()).fold(0.0, |sum: f64, p| {
                        round(sum + round(a.value(batch, i, p) * b.value(batch, p, j)))
                    });
                    let c = problem.c().offset(batch, i, j);
                    let mut result = round(problem.alpha() * sum);
                    let old = operation(output.value(c as usize), problem.prologue());
                    let old = round(problem.beta() * old);
                    if problem.beta() != 0.0 && !problem.gate() {
                        result = round(result + old);
                    }
                    let bias = match problem.bias() {
                        Bias::None => 0.0,
                        Bias::Row => inputs.bias.value(i as usize),
                        Bias::Column => inputs.bias.value(j as usize),
                    };
                    let mut result = operation(round(result + bias), problem.epilogue());
                    if problem.gate() {
                        result = round(result * old);
                    }
                    set(&mut output, c, result);
                }
            }
        }
        output
    }

    fn case(request: Request) -> (Problem, Inputs, Elements) {
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
            assert!(
                verdict.relative_error.is_some_and(|error| error < 1e-6),
                "{verdict:?}"
            );
            let worst = verdict.worst.expect("there are elements");
            assert!(worst.error_in_bounds < 0.5, "{worst:?}");
        }
    }

    #[test]
    fn one_product_left_out_is_found() {
        let (problem, inputs, mut output) = case(PADDED);
        let a = inputs.a.value(problem.a().offset(1, 4, 7) as usize);
        let b = inputs.b.value(problem.b().offset(1, 7, 9) as usize);
        let c = problem.c().offset(1, 4, 9);
        let less = output.value(c as usize) - a * b;
        set(&mut output, c, less);
        let verdict = verify(&problem, &inputs, &output);
        assert!(!verdict.passed());
        assert_eq!(verdict.wrong_elements, 1);
        let worst = verdict.worst.expect("there are elements");
        assert_eq!((worst.batch, worst.row, worst.column), (1, 4, 9));
    }

    #[test]
    fn an_element_that_was_not_written_is_found() {
        let (problem, inputs, mut output) = case(PADDED);
        set(&mut output, problem.c().offset(2, 16, 22), f64::NAN);
        let verdict = verify(&problem, &inputs, &output);
        assert_eq!(verdict.wrong_elements, 1);
        assert!(
            verdict
                .relative_error
                .is_some_and(|error| !error.is_finite())
        );
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
            ..inputs.clone()
        };
        assert!(verify(&problem, &inputs, &output).passed());
        assert!(!verify(&problem, &swapped, &output).passed());
    }

    #[test]
    fn damaged_canaries_are_found_between_rows_between_matrices_and_past_the_end() {
        let (problem, inputs, correct) = case(PADDED);
        let check = |offset: u64, batch, row, column| {
            let mut output = correct.clone();
            set(&mut output, offset, 0.0);
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

    /// Each addition of 2⁻²⁴ to 1 is a tie that rounds to 1, so all are lost.
    #[test]
    fn the_bound_is_close_to_the_worst_possible_sum() {
        const K: u32 = 1000;
        let problem = Request::new(1, 1, K.into()).check().expect("valid");
        let mut inputs = Inputs::random(&problem, 0).expect("small");
        for p in 0..K.into() {
            set(&mut inputs.a, p, f64::from(f32::EPSILON) / 2.0);
            set(&mut inputs.b, p, 1.0);
        }
        set(&mut inputs.a, 0, 1.0);
        let output = computed(&problem, &inputs);
        assert_eq!(output.value(0), 1.0);
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
            alpha: f64::INFINITY,
            beta: 0.5,
            ..Request::new(3, 4, 0)
        });
        assert_eq!(output.value(0), 0.5 * inputs.c.value(0));
        let verdict = verify(&problem, &inputs, &output);
        assert!(verdict.passed(), "{verdict:?}");
        assert_eq!(verdict.relative_error, Some(0.0));
        // The formula gives 0 · ∞, but the result must not be NaN.
        let mut output = output;
        set(&mut output, 0, f64::NAN);
        assert!(!verify(&problem, &inputs, &output).passed());
    }

    #[test]
    fn every_type_layout_bias_and_operation_is_judged() {
        let operations = [
            (Operation::None, Operation::Gelu),
            (Operation::None, Operation::Silu),
            (Operation::Relu, Operation::Relu),
            (Operation::Scale(-3.0), Operation::Scale(2.0)),
            (Operation::Set(2.0), Operation::None),
            (Operation::None, Operation::Set(-1.0)),
        ];
        let all = ElementTypes::ALL.iter().flat_map(|types| {
            let outputs = types.outputs().iter();
            outputs.map(|&output| types.with_output(output))
        });
        for types in all {
            // Integers, which wrap around, have their own tests.
            if types.a == ElementType::I8 {
                continue;
            }
            for (prologue, epilogue) in operations {
                if epilogue.is_activation() && types == ElementTypes::F64 {
                    continue;
                }
                for (bias, order, gate) in [
                    (Bias::Row, Order::RowMajor, false),
                    (Bias::Column, Order::ColumnMajor, false),
                    (Bias::Column, Order::RowMajor, true),
                ] {
                    // Types with blocks along k have one layout.
                    let (order_a, order_b) = match types.block() > 1 {
                        true => (Order::RowMajor, Order::ColumnMajor),
                        false => (order, order),
                    };
                    let k = if types.block() > 1 { 96 } else { 100 };
                    let (problem, inputs, output) = case(Request {
                        types,
                        alpha: -1.5,
                        beta: 0.5,
                        prologue,
                        epilogue,
                        bias,
                        gate,
                        order_a,
                        order_b,
                        ..Request::new(17, 23, k)
                    });
                    let verdict = verify(&problem, &inputs, &output);
                    assert!(verdict.passed(), "{problem:?}: {verdict:?}");
                    if epilogue == Operation::Set(-1.0) {
                        continue;
                    }
                    // Wrong by more than the rounding of any of the types.
                    let mut wrong = output.clone();
                    let place = (0..output.len() as u64)
                        .find(|&i| problem.c().contains(i) && output.value(i as usize) > 0.1)
                        .expect("some are");
                    let value = output.value(place as usize);
                    // An infinity would be a correct f16 there.
                    let value = match (types.output, value) {
                        (ElementType::F16, 50_000.0..) => 0.5,
                        // It would saturate, too.
                        (output, 100.0..) if output.is_float8() => 0.5,
                        (_, value) => value * 1.2 + 0.5,
                    };
                    set(&mut wrong, place, value);
                    let verdict = verify(&problem, &inputs, &wrong);
                    assert_eq!(verdict.wrong_elements, 1, "{problem:?}: {verdict:?}");
                }
            }
        }
    }

    #[test]
    fn integers_must_be_equal() {
        let (problem, inputs, mut output) = case(Request {
            types: ElementTypes::I8,
            bias: Bias::Column,
            ..Request::new(5, 6, 7)
        });
        // The products do not wrap; the sum with the bias, which is any integer, may.
        let exact = |i: u32, j: u32| {
            let products = (0..7).map(|p| {
                let a = inputs.a.value(problem.a().offset(0, i, p) as usize);
                a * inputs.b.value(problem.b().offset(0, p, j) as usize)
            });
            (products.sum::<f64>() + inputs.bias.value(j as usize)) as i64 as i32
        };
        for (i, j) in (0..30).map(|index| (index / 6, index % 6)) {
            set(&mut output, problem.c().offset(0, i, j), exact(i, j).into());
        }
        assert!(verify(&problem, &inputs, &output).passed());
        let off_by_one = output.value(8) - 1.0;
        set(&mut output, 8, off_by_one);
        assert_eq!(verify(&problem, &inputs, &output).wrong_elements, 1);
    }

    #[test]
    fn factors_that_are_no_numbers_give_none() {
        for alpha in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let (problem, inputs, mut output) = case(Request {
                alpha,
                ..Request::new(3, 4, 5)
            });
            let verdict = verify(&problem, &inputs, &output);
            assert!(verdict.passed(), "{alpha}: {verdict:?}");
            assert_eq!(verdict.relative_error, None, "{alpha}");
            set(&mut output, 0, 1.0);
            assert_eq!(verify(&problem, &inputs, &output).wrong_elements, 1);
        }
    }

    #[test]
    fn nothing_computed_is_nothing_wrong() {
        let (problem, inputs, output) = case(Request::new(0, 4, 5));
        let verdict = verify(&problem, &inputs, &output);
        assert!(verdict.passed());
        assert_eq!(verdict.worst, None);
        assert_eq!(verdict.relative_error, None);
    }
}
