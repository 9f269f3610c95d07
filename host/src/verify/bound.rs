//! The expected value of an element of C, and the bound of its rounding error.
//!
//! For C ← epilogue(αAB + β·prologue(C) + bias), accumulated in a float of unit roundoff u (half the distance from 1 to
//! the next larger number; 2⁻²⁴ for f32), in any order and with or without fused multiply-adds:
//!
//! - The sum s of k products has an error of at most ku · S with S = Σ|aₚ||bₚ| (Jeannerod and Rump, *Improved error
//!   bounds for inner products in floating-point arithmetic*, 2013). Products of f16, bf16, 8-bit floats and xf32 are
//!   exact in f32. Then only the sums are rounded, and the bound still holds.
//! - Matrix cores may add such products in groups, truncated at 2⁻²⁴ of the largest one's power of two (CDNA 3: at most
//!   16, `docs/matrix.md`). A group of n products whose Σ|aₚ||bₚ| is S' loses less than nu · S' by truncating products,
//!   another u · S' by truncating C if a product is larger, and is then rounded once, from 32 bits: (1 + 2⁻⁷)u of the
//!   result. Over all groups that is at most (k + 17)u · S.
//! - Each later operation, on a value x of error e, rounds once more, by at most u(|x| + e). Scaling by α, by β and by
//!   an operation's constant multiplies the error; adding adds the errors; ReLU does not change it.
//! - GELU's slope is below 1.13, and its own error is at most 8u|x|: with p = e⁻²ᵘ⁽ˣ⁾ it is x / (1 + p), and a relative
//!   error δ of p changes that by |x| · p/(1 + p)² · δ. The exponent has four roundings, so δ ≤ 4u|2u(x)| + 2u, of
//!   which p/(1 + p)² ≤ ¼ leaves at most 2u|x|. Quotient and sum round once each, the quotient with an error of up to
//!   an ulp.
//! - The derivatives of GELU and SiLU are below 1.13 and are taken at an element of C, which is exact. With x·σ(z), z a polynomial
//!   of x, they are σ(z) + x·z'·σ(z)·σ(−z). Their own error is below 32u: that of p as above, times |x·z'|·σ(z)·σ(−z) and times
//!   σ(z), each with |z| below 20, where σ(−z) is not yet 0, and some roundings.
//! - SiLU is x / (1 + p) with p = e⁻ˣ, so GELU's bounds hold for it: its slope is below 1.1, and its exponent has one rounding.
//! - A result that is stored in a shorter float is rounded to that: f16 has u = 2⁻¹¹, bf16 2⁻⁸, E4M3 2⁻⁴, E5M2 2⁻³.
//! - An 8-bit float is the scaled result, where numbers saturate: of an interval that ends beyond the largest number, only what
//!   is below counts. Infinities become NaN in E4M3.
//! - A result that is not a normal number may be flushed to zero instead of rounded.
//! - A matrix core may flush denormal elements of f16 and bf16 (CDNA 2, `docs/matrix.md`). Inputs that have some say how
//!   large the product of one is.
//! - An element of A or B that is not finite makes a sum NaN or infinite, whatever the order, and without an error.
//! - An infinite factor turns a sum of certain sign into an infinity. A sum within its bound of 0 may become anything;
//!   such elements are not judged.
//!
//! In f64 the reference has as many roundings, so the bound is doubled. Integers have no bound: they wrap around at 2³²
//! and must be equal.

use super::elements::{Elements, nearest, value};
use crate::gemm::{Operation, Problem};
use ferrowave_shared::{Bias, ElementType};

/// The expected value of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expected {
    /// The value before it is rounded to C's type.
    pub(super) reference: f64,
    /// The largest error of the stored value.
    pub(super) bound: f64,
}

/// How an element of C follows from the sum of its products.
pub(super) struct Rule<'a> {
    problem: &'a Problem,
    bias: &'a Elements,
    sums: Float,
    stored: Float,
    /// 2 if the reference is rounded as much as the result, else 1.
    of_reference: f64,
    /// The largest magnitude of a product that may be flushed because a factor is denormal.
    flushed: f64,
}

/// The error of truncated products in addition to k, in u · S.
const CUTS: f64 = 17.0;

/// A type of float.
#[derive(Clone, Copy)]
struct Float {
    element: ElementType,
    /// u
    roundoff: f64,
    /// The smallest normal number; of 8-bit floats, whose denormals are not flushed, half of the smallest number.
    tiny: f64,
    /// The largest finite number.
    largest: f64,
}

impl Float {
    const fn of(element: ElementType) -> Self {
        let (roundoff, tiny, largest) = match element {
            ElementType::F16 => (4.882_812_5e-4, 6.103_515_625e-5, 65504.0),
            ElementType::Bf16 => (
                3.906_25e-3,
                f32::MIN_POSITIVE as f64,
                3.389_531_389_251_535_5e38,
            ),
            ElementType::F64 => (f64::EPSILON / 2.0, f64::MIN_POSITIVE, f64::MAX),
            ElementType::Fp8 => (0.0625, 9.765_625e-4, 448.0),
            ElementType::Fp8Fnuz => (0.0625, 4.882_812_5e-4, 240.0),
            ElementType::Bf8 => (0.125, 7.629_394_531_25e-6, 57_344.0),
            ElementType::Bf8Fnuz => (0.125, 3.814_697_265_625e-6, 57_344.0),
            _ => (
                f32::EPSILON as f64 / 2.0,
                f32::MIN_POSITIVE as f64,
                f32::MAX as f64,
            ),
        };
        Self {
            element,
            roundoff,
            tiny,
            largest,
        }
    }

    /// The value, rounded to this type.
    fn round(self, x: f64) -> f64 {
        value(self.element, nearest(self.element, x))
    }
}

/// A value and the bound of its error.
#[derive(Clone, Copy)]
struct Uncertain {
    value: f64,
    error: f64,
}

impl Uncertain {
    /// After an operation whose result is rounded.
    fn rounded(self, float: Float) -> Self {
        // A value that overflows is infinite from here on; infinities and NaN have no error.
        let value = if self.value.abs() > float.largest {
            float.round(self.value)
        } else {
            self.value
        };
        if !value.is_finite() {
            let error = if self.error == f64::INFINITY {
                self.error
            } else {
                0.0
            };
            return Self { value, error };
        }
        Self {
            value,
            error: self.error + float.roundoff * (value.abs() + self.error) + float.tiny,
        }
    }

    fn scaled(self, factor: f64, float: Float) -> Self {
        if factor.is_infinite() && self.value.abs() <= self.error {
            // Rounding decides the sign, and whether it is 0: any infinity or NaN is correct.
            return Self {
                value: f64::NAN,
                error: f64::INFINITY,
            };
        }
        let scaled = Self {
            value: self.value * factor,
            // An infinity of known sign has no error.
            error: if factor.is_infinite() {
                0.0
            } else {
                self.error * factor.abs()
            },
        };
        scaled.rounded(float)
    }

    fn plus(self, other: Self, float: Float) -> Self {
        let sum = Self {
            value: self.value + other.value,
            error: self.error + other.error,
        };
        sum.rounded(float)
    }

    fn times(self, other: Self, float: Float) -> Self {
        if self.value.is_infinite() && other.value.abs() <= other.error {
            return other.scaled(self.value, float);
        }
        let product = self.scaled(other.value, float);
        let error = other.error * (self.value.abs() + self.error);
        Self {
            error: if product.value.is_finite() {
                product.error + error
            } else {
                product.error
            },
            ..product
        }
    }

    /// After numbers beyond the largest become it.
    fn saturated(self, largest: f64) -> Self {
        let Self { value, error } = self;
        if !value.is_finite() || !error.is_finite() {
            return self;
        }
        let saturated = |x: f64| x.clamp(-largest, largest);
        let (low, high) = (saturated(value - error), saturated(value + error));
        let value = saturated(value);
        Self {
            value,
            error: (value - low).max(high - value),
        }
    }

    fn after(self, operation: Operation, float: Float) -> Self {
        match operation {
            Operation::None => self,
            Operation::Set(constant) => Self {
                value: constant,
                error: 0.0,
            },
            Operation::Scale(constant) => self.scaled(constant, float),
            // Not `max`, which drops NaN.
            Operation::Relu if self.value < 0.0 => Self { value: 0.0, ..self },
            Operation::Relu => self,
            // Of an exact element.
            Operation::ReluGradient => Self {
                value: if self.value <= 0.0 { 0.0 } else { 1.0 },
                error: 0.0,
            },
            Operation::GeluGradient | Operation::SiluGradient => {
                let value = match operation {
                    Operation::GeluGradient => gelu_gradient(self.value),
                    _ => silu_gradient(self.value),
                };
                let error = if value.is_nan() {
                    0.0
                } else {
                    32.0 * float.roundoff
                };
                Self { value, error }
            }
            Operation::Gelu | Operation::Silu => {
                let own_error = if self.value.is_finite() {
                    8.0 * float.roundoff * self.value.abs()
                } else {
                    0.0
                };
                let function = match operation {
                    Operation::Gelu => gelu,
                    _ => silu,
                };
                let activated = Self {
                    value: function(self.value),
                    error: 1.13 * self.error + own_error,
                };
                activated.rounded(float)
            }
        }
    }
}

/// An integer modulo 2³². Products are below 2⁵³, other numbers have 32 bits: all are exact, and the last cast wraps.
pub(super) fn wrapped(x: f64) -> i32 {
    x as i64 as i32
}

/// The tanh form of the Gaussian error linear unit.
fn gelu(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        // −∞ · 0 would be NaN, where the limit is 0.
        return 0.0;
    }
    let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    0.5 * x * (1.0 + u.tanh())
}

/// The sigmoid linear unit.
fn silu(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return 0.0;
    }
    x / (1.0 + (-x).exp())
}

/// The derivative of [`gelu`]. Where it differs from 0 or 1 by less than 10⁻³⁰, it is that.
fn gelu_gradient(x: f64) -> f64 {
    if x.abs() > 20.0 {
        return f64::from(u8::from(x > 0.0));
    }
    let factor = (2.0 / std::f64::consts::PI).sqrt();
    let tanh = (factor * (x + 0.044_715 * x * x * x)).tanh();
    let slope = factor * (1.0 + 3.0 * 0.044_715 * x * x);
    0.5 * (1.0 + tanh) + 0.5 * x * slope * (1.0 - tanh * tanh)
}

/// The derivative of [`silu`], likewise.
fn silu_gradient(x: f64) -> f64 {
    if x.abs() > 80.0 {
        return f64::from(u8::from(x > 0.0));
    }
    let sigmoid = 1.0 / (1.0 + (-x).exp());
    sigmoid + x * sigmoid * (1.0 - sigmoid)
}

impl<'a> Rule<'a> {
    /// The rule of a problem with this bias.
    pub(super) fn new(problem: &'a Problem, bias: &'a Elements) -> Self {
        let types = problem.types();
        Self {
            problem,
            bias,
            sums: Float::of(types.accumulator),
            stored: Float::of(types.output),
            of_reference: match types.accumulator {
                ElementType::F64 => 2.0,
                _ => 1.0,
            },
            flushed: 0.0,
        }
    }

    /// The same for inputs with denormal elements, whose products are at most `flushed`.
    pub(super) fn with_flushed(self, flushed: f64) -> Self {
        Rule { flushed, ..self }
    }

    /// The expected value of the element `(row, column)`, from the sum of its products, the sum of their magnitudes and
    /// the bits of the old element.
    pub(super) fn expected(
        &self,
        (row, column): (u32, u32),
        product: f64,
        magnitude: f64,
        old: u64,
    ) -> Expected {
        let bias = match self.problem.bias() {
            Bias::None => None,
            Bias::Row => Some(self.bias.value(row as usize)),
            Bias::Column => Some(self.bias.value(column as usize)),
        };
        let old = value(self.problem.types().output, old);
        match self.problem.types().accumulator {
            ElementType::I32 => self.integer(product, old, bias),
            _ => self.float(product, magnitude, old, bias),
        }
    }

    fn float(&self, product: f64, magnitude: f64, old: f64, bias: Option<f64>) -> Expected {
        let (problem, float) = (self.problem, self.sums);
        let sum = Uncertain {
            value: product,
            error: if product.is_finite() {
                self.error_of_sum(magnitude)
            } else {
                0.0
            },
        };
        let exact = |value| Uncertain { value, error: 0.0 };
        let old = exact(old).after(problem.prologue(), float);
        let old = old.scaled(problem.beta(), float);
        let mut result = sum.scaled(problem.alpha(), float);
        if problem.beta() != 0.0 && !problem.gate() {
            result = result.plus(old, float);
        }
        if let Some(bias) = bias {
            result = result.plus(exact(bias), float);
        }
        result = result.after(problem.epilogue(), float);
        if problem.gate() {
            result = result.times(old, float);
        }
        if self.stored.element.is_float8() {
            result = result.scaled(problem.output_scale(), float);
            result = result.saturated(self.stored.largest);
        }
        self.stored(result)
    }

    /// The largest error of a sum of products of this magnitude.
    fn error_of_sum(&self, magnitude: f64) -> f64 {
        let (problem, float) = (self.problem, self.sums);
        let k = f64::from(problem.k());
        let cuts = match problem.types().a {
            ElementType::F32 | ElementType::F64 | ElementType::I32 => 0.0,
            _ => CUTS,
        };
        // Each factor, each product and each partial sum may have been flushed.
        let flushed = k * (2.0 * float.tiny + self.flushed);
        (k + cuts) * float.roundoff * magnitude + flushed
    }

    /// A result after it is stored in C's type.
    fn stored(&self, result: Uncertain) -> Expected {
        let stored = if self.stored.element == self.sums.element {
            result
        } else {
            // The value is not rounded here: `error_in_bounds` handles overflow.
            let error = self.stored.roundoff * (result.value.abs() + result.error);
            Uncertain {
                value: result.value,
                error: if result.value.is_finite() {
                    result.error + error + self.stored.tiny
                } else {
                    result.error
                },
            }
        };
        Expected {
            reference: stored.value,
            bound: stored.error * self.of_reference,
        }
    }

    /// Modulo 2³², like the accumulators.
    fn integer(&self, product: f64, old: f64, bias: Option<f64>) -> Expected {
        let operation = |x: i32, operation| match operation {
            Operation::Set(constant) => wrapped(constant),
            Operation::Scale(constant) => x.wrapping_mul(wrapped(constant)),
            Operation::Relu => x.max(0),
            // Only floats have the others.
            _ => x,
        };
        let problem = self.problem;
        let old = operation(wrapped(old), problem.prologue());
        let old = old.wrapping_mul(wrapped(problem.beta()));
        let (addend, factor) = match problem.gate() {
            true => (0, old),
            false => (old, 1),
        };
        let result = wrapped(product)
            .wrapping_mul(wrapped(problem.alpha()))
            .wrapping_add(addend)
            .wrapping_add(wrapped(bias.unwrap_or(0.0)));
        let result = operation(result, problem.epilogue());
        Expected {
            reference: result.wrapping_mul(factor).into(),
            bound: 0.0,
        }
    }

    /// f, if the result is f·AB + [`rest`](Self::rest) but for rounding, and f is finite. For integers, modulo 2³².
    pub(super) fn factor(&self) -> Option<f64> {
        // 8-bit floats saturate.
        if self.problem.gate() || self.stored.element.is_float8() {
            return None;
        }
        let scale = match self.problem.epilogue() {
            Operation::None => 1.0,
            Operation::Scale(constant) => constant,
            _ => return None,
        };
        let factor = match self.problem.types().accumulator {
            ElementType::I32 => wrapped(scale)
                .wrapping_mul(wrapped(self.problem.alpha()))
                .into(),
            _ => scale * self.problem.alpha(),
        };
        (factor.is_finite() && scale.is_finite()).then_some(factor)
    }

    /// Whether [`rest`](Self::rest) may differ from 0.
    pub(super) fn rest_differs(&self) -> bool {
        self.problem.beta() != 0.0 || self.problem.bias() != Bias::None
    }

    /// What is left of the element `(row, column)` without AB, from the bits of the old element.
    pub(super) fn rest(&self, place: (u32, u32), old: u64) -> f64 {
        self.expected(place, 0.0, 0.0, old).reference
    }

    /// The bound of an element of C near `value` whose products have this magnitude.
    pub(super) fn typical_bound(&self, value: f64, magnitude: f64) -> f64 {
        let types = self.problem.types();
        if types.accumulator == ElementType::I32 {
            return 0.0;
        }
        let factor = self.factor().unwrap_or(1.0);
        let sum = Uncertain {
            value: 0.0,
            error: self.error_of_sum(magnitude),
        };
        let scaled = sum.scaled(factor, self.sums);
        let near = Uncertain {
            value: value.abs(),
            ..scaled
        };
        self.stored(near.rounded(self.sums)).bound
    }

    /// The unit roundoff of an element of C, all roundings after the sum together.
    pub(super) fn roundoff(&self) -> f64 {
        4.0 * self.sums.roundoff + self.stored.roundoff
    }

    /// The error of a stored value in units of its bound; correct up to 1. Infinite if the value is NaN or an infinity
    /// where a finite number is expected, or the other way round.
    pub(super) fn error_in_bounds(&self, stored: f64, expected: Expected) -> f64 {
        let Expected { reference, bound } = expected;
        if bound == f64::INFINITY {
            // The product of an infinite factor and a sum whose sign rounding decides.
            return 0.0;
        }
        // A value near the largest finite number may or may not be rounded to infinity.
        let may_overflow = reference.abs() + bound > self.stored.largest;
        let rounded = match self.problem.types().output {
            ElementType::I32 => reference,
            _ => self.stored.round(reference),
        };
        let error = if stored.is_infinite() && may_overflow && stored.signum() == reference.signum()
        {
            0.0
        } else if rounded.is_finite() || stored.is_finite() && may_overflow {
            (stored - reference).abs()
        } else if rounded == stored || rounded.is_nan() && stored.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
        if error == 0.0 {
            0.0
        } else if error.is_finite() {
            error / bound
        } else {
            f64::INFINITY
        }
    }

    /// Whether a reference is finite in C's type.
    pub(super) fn is_number(&self, reference: f64) -> bool {
        reference.abs() <= self.stored.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;
    use ferrowave_shared::ElementTypes;

    const NO_BIAS: fn() -> Elements = || Elements::from_bytes(ElementType::F32, Vec::new());

    fn expected(request: Request, product: f64, old: f64) -> Expected {
        let problem = request.check().expect("valid");
        let bias = NO_BIAS();
        let rule = Rule::new(&problem, &bias);
        let old = nearest(problem.types().output, old);
        rule.expected((0, 0), product, product.abs(), old)
    }

    const INTEGERS: Request = Request {
        types: ElementTypes::I8,
        beta: 1.0,
        ..Request::new(1, 1, 4)
    };

    #[test]
    fn a_gate_multiplies_by_the_scaled_old_element() {
        let gated = Request {
            alpha: 2.0,
            beta: -0.5,
            prologue: Operation::Scale(4.0),
            epilogue: Operation::Relu,
            gate: true,
            ..Request::new(1, 1, 4)
        };
        let result = expected(gated, 3.0, 5.0);
        assert_eq!(result.reference, 6.0 * (5.0 * 4.0 * -0.5));
        // Errors of the sum and of the gate, relative to their values, and some roundings.
        let relative = result.bound / result.reference.abs();
        assert!((1e-7..1e-6).contains(&relative), "{relative}");
        assert_eq!(expected(gated, -3.0, 5.0).reference, 0.0);
        let infinite = expected(gated, 3.0, f64::INFINITY);
        assert_eq!(
            (infinite.reference, infinite.bound),
            (f64::NEG_INFINITY, 0.0)
        );
        let integers = Request {
            prologue: Operation::None,
            beta: 2.0,
            types: ElementTypes::I8,
            ..gated
        };
        assert_eq!(
            expected(integers, 1e9, 3.0).reference,
            f64::from(wrapped(12e9))
        );
    }

    #[test]
    fn integers_wrap_around_and_are_exact() {
        let request = Request {
            alpha: 3.0,
            beta: -2.0,
            epilogue: Operation::Scale(-1.0),
            ..INTEGERS
        };
        // 3 · 2³¹ is −2³¹ modulo 2³², and −2 · 5 more wraps to 2³¹ − 10.
        let expected = expected(request, 2_147_483_648.0, 5.0);
        assert_eq!(expected.reference, -2_147_483_638.0);
        assert_eq!(expected.bound, 0.0);
    }

    #[test]
    fn operations_of_integers_have_their_places() {
        let request = |prologue, epilogue| Request {
            prologue,
            epilogue,
            ..INTEGERS
        };
        let reference = |prologue, epilogue, product, old| {
            expected(request(prologue, epilogue), product, old).reference
        };
        let none = Operation::None;
        assert_eq!(reference(Operation::Relu, none, -3.0, -5.0), -3.0);
        assert_eq!(reference(none, Operation::Relu, -3.0, -5.0), 0.0);
        assert_eq!(reference(Operation::Set(7.0), none, 1.0, -5.0), 8.0);
        assert_eq!(
            reference(Operation::Scale(7.0), Operation::Set(2.0), 1.0, 1.0),
            2.0
        );
    }

    /// f32 represents neither 0.1 nor 2²⁴ + 1.
    #[test]
    fn constants_have_the_precision_of_the_sums() {
        let integers = Request {
            prologue: Operation::Set(16_777_217.0),
            epilogue: Operation::Scale(3.0),
            ..INTEGERS
        };
        assert_eq!(expected(integers, 1.0, 0.0).reference, 50_331_654.0);
        let scaled = |types| {
            let request = Request {
                types,
                epilogue: Operation::Scale(0.1),
                ..Request::new(1, 1, 1)
            };
            expected(request, 1.0, 0.0).reference
        };
        assert_eq!(scaled(ElementTypes::F64), 0.1);
        assert_eq!(scaled(ElementTypes::F32), f64::from(0.1_f32));
    }

    #[test]
    fn what_is_stored_short_is_rounded_once_more() {
        let bound = |types| {
            let request = Request {
                types,
                ..Request::new(1, 1, 1)
            };
            expected(request, 1.0, 0.0).bound
        };
        let u = f64::from(f32::EPSILON) / 2.0;
        assert!((bound(ElementTypes::F32) / u - 2.0).abs() < 0.01);
        assert!((bound(ElementTypes::F16) * 2048.0 - 1.0).abs() < 0.2);
        assert!((bound(ElementTypes::BF16) * 256.0 - 1.0).abs() < 0.01);
        assert!((bound(ElementTypes::F64) / f64::EPSILON - 2.0).abs() < 0.01);
    }

    #[test]
    fn overflow_is_right_on_both_sides_of_the_largest() {
        let request = Request {
            types: ElementTypes::F16,
            ..Request::new(1, 1, 1)
        };
        let problem = request.check().expect("valid");
        let bias = NO_BIAS();
        let rule = Rule::new(&problem, &bias);
        let in_bounds = |stored, product: f64| {
            let expected = rule.expected((0, 0), product, product.abs(), 0);
            rule.error_in_bounds(stored, expected)
        };
        assert!(in_bounds(65504.0, 65519.0) <= 1.0);
        assert!(in_bounds(f64::INFINITY, 65519.0) <= 1.0);
        assert!(in_bounds(f64::INFINITY, 1e6) <= 1.0);
        assert!(in_bounds(f64::NEG_INFINITY, 1e6) > 1.0);
        assert!(in_bounds(65504.0, 1e6) > 1.0);
        assert!(in_bounds(f64::INFINITY, 60000.0) > 1.0);
        assert!(in_bounds(f64::NAN, 60000.0) > 1.0);
    }

    #[test]
    fn infinite_factors_need_a_sum_of_certain_sign() {
        let request = Request {
            alpha: f64::INFINITY,
            epilogue: Operation::Relu,
            ..Request::new(1, 1, 4)
        };
        let problem = request.check().expect("valid");
        let bias = NO_BIAS();
        let rule = Rule::new(&problem, &bias);
        let in_bounds = |stored, product: f64| {
            let expected = rule.expected((0, 0), product, 1.0, 0);
            rule.error_in_bounds(stored, expected)
        };
        assert!(in_bounds(f64::INFINITY, 0.1) <= 1.0);
        assert!(in_bounds(0.0, -0.1) <= 1.0);
        assert!(in_bounds(0.0, 0.1) > 1.0);
        assert!(in_bounds(f64::INFINITY, -0.1) > 1.0);
        for stored in [f64::INFINITY, 0.0, f64::NAN] {
            assert!(in_bounds(stored, 1e-9) <= 1.0);
        }
    }

    #[test]
    fn gelu_is_its_tanh_form() {
        assert_eq!(gelu(0.0), 0.0);
        assert!((gelu(1.0) - 0.841_191_990_608_276_8).abs() < 1e-12);
        assert!((gelu(-1.0) + 0.158_808_009_391_723_24).abs() < 1e-12);
        assert_eq!(gelu(f64::INFINITY), f64::INFINITY);
        assert_eq!(gelu(f64::NEG_INFINITY), 0.0);
        // The bound assumes a slope below 1.13.
        let steepest = (-4000..4000)
            .map(|i| f64::from(i) / 1000.0)
            .map(|x| (gelu(x + 1e-6) - gelu(x - 1e-6)) / 2e-6)
            .fold(0.0, f64::max);
        assert!((1.12..1.13).contains(&steepest), "{steepest}");
    }

    #[test]
    fn gradients_are_those_of_the_functions() {
        for step in -2000..2000 {
            let x = f64::from(step) / 100.0;
            let difference =
                |function: fn(f64) -> f64| (function(x + 1e-6) - function(x - 1e-6)) / 2e-6;
            assert!((gelu_gradient(x) - difference(gelu)).abs() < 1e-8, "{x}");
            assert!((silu_gradient(x) - difference(silu)).abs() < 1e-8, "{x}");
        }
        assert_eq!(
            (
                gelu_gradient(f64::INFINITY),
                silu_gradient(f64::NEG_INFINITY)
            ),
            (1.0, 0.0)
        );
        assert!(gelu_gradient(f64::NAN).is_nan() && silu_gradient(f64::NAN).is_nan());
    }

    #[test]
    fn silu_is_a_product_with_a_sigmoid() {
        assert_eq!(silu(0.0), 0.0);
        assert!((silu(1.0) - 0.731_058_578_630_004_9).abs() < 1e-12);
        assert!((silu(-1.0) + 0.268_941_421_369_995_1).abs() < 1e-12);
        assert_eq!(silu(f64::INFINITY), f64::INFINITY);
        assert_eq!(silu(f64::NEG_INFINITY), 0.0);
        let steepest = (-8000..8000)
            .map(|i| f64::from(i) / 1000.0)
            .map(|x| (silu(x + 1e-6) - silu(x - 1e-6)) / 2e-6)
            .fold(0.0, f64::max);
        assert!((1.09..1.1).contains(&steepest), "{steepest}");
    }
}
