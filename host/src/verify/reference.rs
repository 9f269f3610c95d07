//! The reference of a problem: computed once, compared with any number of results.
//!
//! Up to [`EXACT_MULTIPLY_ADDS`] multiply-adds, every element of C is compared with the product in f64, within its
//! rounding bound (`bound`). Above, that product would take too long. Then C is verified as follows.
//!
//! - **Canaries** are all checked.
//! - **[`SAMPLED_ROWS`] rows** are compared element by element, the first and the last one of all products among them.
//! - **Freivalds' check** (*Probabilistic machines can use less running time*, 1977) covers all elements. The elements
//!   c of a row in 128 adjacent columns are a group. For a random vector x of 1 and −1, c·x is compared with a·(B·x)·f,
//!   in f64, where f is α times the epilogue's factor and c is without β·C and bias. B·x serves all rows, so that
//!   20 vectors cost a twelfth of the product and the magnitudes.
//! - A group in which a projection differs by more than a threshold is **computed and compared element by element**. So a
//!   result is never wrong by the projections alone: a failed verdict names an element that exceeds its bound.
//!
//! What can be claimed: let δ be the deviations of a group's elements from the exact result, and t the threshold. If
//! |δⱼ| > t for some j, then for any signs of the others, c·x − a·(B·x)·f is beyond ±t for one of the two signs of xⱼ,
//! because both values differ by 2|δⱼ|. The vectors are independent, and drawn independently of the kernel. So **the
//! probability that such a group is not compared element by element is at most 2⁻²⁰**. An element that deviates by more
//! than t and the deviations of the other 127 together is certainly found.
//!
//! t is twice the bound of a typical sum of the group, plus three times the unit roundoff of the result times the
//! group's norm: rounding errors are independent of x, and those of a correct result stay below t but for a probability
//! of about 1e-8. t may only be too small for speed, not for correctness. [`Method::Projected`] states t in units of the
//! bound of a typical element of its group, and with the rounding of the projections themselves: smaller deviations are
//! seen only in the sampled rows.
//!
//! Integers are compared modulo 2³², with vectors of 1 and 0, and any difference counts: t is 0. If one element of a
//! group is wrong by d, two choices of its factor differ by d modulo 2³², so at most one of them hides it.
//!
//! If the result is no linear function of the product (ReLU, GELU, SiLU, a constant, infinite factors, 8-bit floats), or if more than
//! [`EXAMINED_GROUPS`] groups exceed the threshold and none of those examined is wrong, the whole product is computed.

use std::{borrow::Cow, sync::OnceLock};

use rand_chacha::rand_core::Rng as _;

use super::{
    block::{Block, BlockSize, Factor, Part, parts},
    bound::Rule,
    elements::Elements,
    error::{Errors, Method, Verdict, Worst, damage},
    inputs::{Inputs, InputsError, Random},
    parallel::{available, in_order},
    projection::{Projections, VECTORS},
};
use crate::gemm::Problem;

/// The largest product whose elements are all compared, in multiply-adds: 2580³. On two cores, its reference takes 2
/// seconds.
pub const EXACT_MULTIPLY_ADDS: u128 = 1 << 34;
/// The rows that are compared in larger products.
pub const SAMPLED_ROWS: u64 = 64;
/// The groups that are compared at first if their projections differ.
pub const EXAMINED_GROUPS: usize = 256;

/// The largest number of elements of C whose reference is kept, with 16 bytes for each.
const KEPT_ELEMENTS: u128 = 1 << 24;
/// Products below run on one thread, in multiply-adds.
const ALONE: u128 = 1 << 20;
/// The stream of random numbers for the sampled rows.
const STREAM: u64 = 7;

/// The inputs of a problem, and what results are compared with. That is computed at the first comparison, on all cores.
/// Verdicts do not depend on the number of cores.
pub struct Reference<'a> {
    problem: Problem,
    inputs: Cow<'a, Inputs>,
    threads: usize,
    /// Whether results are compared by projections where that is possible.
    projected: bool,
    blocks: OnceLock<Vec<Block>>,
    projections: OnceLock<(Projections, Vec<Block>)>,
}

impl Reference<'static> {
    /// The reference of a problem with random inputs.
    ///
    /// # Errors
    /// If this computer does not have enough memory.
    pub fn random(problem: &Problem, seed: u64) -> Result<Self, InputsError> {
        let inputs = Inputs::random(problem, seed)?;
        Ok(Self::of(problem, Cow::Owned(inputs)))
    }
}

impl<'a> Reference<'a> {
    /// The reference of a problem with these inputs.
    pub fn new(problem: &Problem, inputs: &'a Inputs) -> Self {
        Self::of(problem, Cow::Borrowed(inputs))
    }

    fn of(problem: &Problem, inputs: Cow<'a, Inputs>) -> Self {
        let threads = match multiply_adds(problem) {
            ..ALONE => 1,
            _ => available(),
        };
        Reference {
            problem: *problem,
            inputs,
            threads,
            projected: is_projected(problem),
            blocks: OnceLock::new(),
            projections: OnceLock::new(),
        }
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The matrices before the product.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The bytes of memory that comparisons take on this computer, besides inputs and output.
    pub fn bytes(problem: &Problem) -> u128 {
        // Copies of blocks in f64.
        let copies = (16 << 20) * available() as u128;
        let kept = match (elements(problem), is_projected(problem)) {
            (_, true) => {
                let samples = u128::from(SAMPLED_ROWS) * u128::from(problem.n()) * 16;
                Projections::bytes(problem) + samples
            }
            (elements @ ..=KEPT_ELEMENTS, _) => 16 * elements,
            _ => 0,
        };
        copies + kept
    }

    /// Compares `output`, which is C with its tail after a device computed the problem from the inputs, with the
    /// reference.
    ///
    /// # Panics
    /// If `output` does not have the length and type of `inputs().c`, or the inputs do not fit the problem.
    pub fn verify(&self, output: &Elements) -> Verdict {
        let problem = &self.problem;
        assert_eq!(
            output.len(),
            self.inputs.c.len(),
            "the output is C and its tail"
        );
        assert_eq!(
            output.element(),
            problem.types().output,
            "the output has C's type"
        );
        let rule = Rule::new(problem, &self.inputs.bias);
        let rule = rule.with_flushed(self.inputs.denormal_products);
        let by_projections = match self.projected {
            true => self.project(&rule, output),
            false => None,
        };
        let (errors, method) =
            by_projections.unwrap_or_else(|| (self.compare(&rule, output), Method::Exact));
        let (damage, damaged_canaries) = damage(problem.c(), output, self.threads);
        Verdict {
            relative_error: errors.relative(),
            worst: errors.worst,
            wrong_elements: errors.wrong,
            first_wrong: errors.first_wrong,
            method,
            damage,
            damaged_canaries,
        }
    }

    /// Compares all elements.
    fn compare(&self, rule: &Rule<'_>, output: &Elements) -> Errors {
        let parts = || Part::all(&self.problem, BlockSize::DEFAULT);
        let errors = if elements(&self.problem) <= KEPT_ELEMENTS {
            let blocks = self.blocks.get_or_init(|| self.blocks(&parts()));
            in_order(blocks.len(), self.threads, |number| {
                self.errors(rule, &blocks[number], output)
            })
        } else {
            let parts = parts();
            in_order(parts.len(), self.threads, |number| {
                self.errors(rule, &self.block(&parts[number]), output)
            })
        };
        Errors::all(errors)
    }

    /// Compares by projections; `None` if all elements must be compared.
    fn project(&self, rule: &Rule<'_>, output: &Elements) -> Option<(Errors, Method)> {
        let (problem, inputs) = (&self.problem, &*self.inputs);
        rule.factor()?;
        let (projections, sample) = self.projections.get_or_init(|| {
            let sample = self.blocks(&sample(problem, inputs.seed));
            (Projections::new(problem, inputs, self.threads), sample)
        });
        let screened = projections.screen(problem, inputs, rule, output, self.threads)?;
        let is_sampled = |suspect: &&Part| {
            let holds = |block: &Block| {
                block.part.batch == suspect.batch && block.part.rows.contains(&suspect.rows[0])
            };
            sample.iter().any(holds)
        };
        let mut suspects = screened
            .suspects
            .iter()
            .filter(|suspect| !is_sampled(suspect));
        let examined: Vec<_> = suspects.by_ref().take(EXAMINED_GROUPS).collect();
        let mut errors = in_order(sample.len(), self.threads, |number| {
            self.errors(rule, &sample[number], output)
        });
        errors.extend(in_order(examined.len(), self.threads, |number| {
            self.errors(rule, &self.block(examined[number]), output)
        }));
        let errors = Errors::all(errors);
        if errors.wrong == 0 && suspects.next().is_some() {
            return None;
        }
        let method = Method::Projected {
            compared_elements: errors.compared,
            vectors: VECTORS as u32,
            resolution: screened.resolution,
        };
        Some((errors, method))
    }

    fn blocks(&self, parts: &[Part]) -> Vec<Block> {
        in_order(parts.len(), self.threads, |number| {
            self.block(&parts[number])
        })
    }

    fn block(&self, part: &Part) -> Block {
        let step = BlockSize::DEFAULT.k;
        let factors = Factor::both(&self.problem, &self.inputs);
        Block::of(&self.problem, factors, part.clone(), step)
    }

    /// The errors of a block's elements.
    fn errors(&self, rule: &Rule<'_>, block: &Block, output: &Elements) -> Errors {
        let mut errors = Errors::default();
        let batch = block.part.batch;
        for (row, column, product, magnitude) in block.elements() {
            // Offsets of elements are below the length of C.
            let offset = self.problem.c().offset(batch, row, column) as usize;
            let old = self.inputs.c.bits(offset);
            let expected = rule.expected((row, column), product, magnitude, old);
            let value = output.value(offset);
            let element = Worst {
                batch,
                row,
                column,
                value,
                reference: expected.reference,
                error_in_bounds: rule.error_in_bounds(value, expected),
            };
            errors.add(element, rule.is_number(expected.reference));
        }
        errors
    }
}

/// Compares one result with the reference; see [`Reference::verify`].
///
/// # Panics
/// As [`Reference::verify`].
pub fn verify(problem: &Problem, inputs: &Inputs, output: &Elements) -> Verdict {
    Reference::new(problem, inputs).verify(output)
}

fn elements(problem: &Problem) -> u128 {
    [problem.m(), problem.n(), problem.batch()]
        .map(u128::from)
        .iter()
        .product()
}

fn multiply_adds(problem: &Problem) -> u128 {
    elements(problem) * u128::from(problem.k())
}

/// Whether projections take less time than the product.
fn is_projected(problem: &Problem) -> bool {
    let least = 4 * VECTORS as u32;
    multiply_adds(problem) > EXACT_MULTIPLY_ADDS && problem.m() >= least && problem.n() >= least
}

/// The rows that are always compared.
fn sample(problem: &Problem, seed: u64) -> Vec<Part> {
    let m = u64::from(problem.m());
    let all = m * u64::from(problem.batch());
    let Some(last) = all.checked_sub(1) else {
        return Vec::new();
    };
    let mut random = Random::new(seed, STREAM).0;
    let mut rows = vec![0, last];
    rows.extend((2..SAMPLED_ROWS).map(|_| random.next_u64() % all));
    rows.sort_unstable();
    rows.dedup();
    let mut sample = Vec::new();
    for rows in rows.chunk_by(|a, b| a / m == b / m) {
        for columns in parts(problem.n(), BlockSize::DEFAULT.n) {
            sample.push(Part {
                // Both are below the numbers of products and rows, which have 32 bits.
                batch: (rows[0] / m) as u32,
                rows: rows.iter().map(|row| (row % m) as u32).collect(),
                columns,
            });
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gemm::{Operation, Order, Request},
        verify::elements::nearest,
    };
    use ferrowave_shared::{Bias, ElementType, ElementTypes};

    /// Two products with groups of 128, 128 and 44 columns, and blocks of 128 and 72 rows.
    const SHAPE: Request = Request {
        batch: 2,
        ldc: Some(303),
        ..Request::new(200, 300, 70)
    };

    struct Case {
        problem: Problem,
        inputs: Inputs,
        output: Elements,
    }

    impl Case {
        /// A correct result: sums in f64, rounded once.
        fn new(request: Request) -> Self {
            let problem = request.check().unwrap();
            Self::of(problem, Inputs::random(&problem, 11).unwrap())
        }

        fn of(problem: Problem, inputs: Inputs) -> Self {
            let mut output = inputs.c.clone();
            let [a, b] = Factor::both(&problem, &inputs);
            let operation = |x: f64, operation| match operation {
                Operation::None => x,
                Operation::Scale(factor) => x * factor,
                Operation::Set(constant) => constant,
                Operation::Relu => x.max(0.0),
                _ => unreachable!("not used here"),
            };
            for (batch, row, column) in places(&problem) {
                let sum: f64 = (0..problem.k())
                    .map(|p| a.value(batch, row, p) * b.value(batch, p, column))
                    .sum();
                let offset = problem.c().offset(batch, row, column) as usize;
                let mut result = problem.alpha() * sum;
                if problem.beta() != 0.0 {
                    let old = operation(inputs.c.value(offset), problem.prologue());
                    result += problem.beta() * old;
                }
                result += match problem.bias() {
                    Bias::None => 0.0,
                    Bias::Row => inputs.bias.value(row as usize),
                    Bias::Column => inputs.bias.value(column as usize),
                };
                let result = operation(result, problem.epilogue());
                let bits = match problem.types().output {
                    ElementType::I32 => u64::from(result as i64 as u32),
                    element => nearest(element, result),
                };
                output.set_bits(offset, bits);
            }
            Case {
                problem,
                inputs,
                output,
            }
        }

        fn reference(&self, threads: usize) -> Reference<'_> {
            Reference {
                threads,
                projected: true,
                ..Reference::new(&self.problem, &self.inputs)
            }
        }

        /// The verdict with other values in some places.
        fn with(&self, reference: &Reference<'_>, places: &[(Coordinates, f64)]) -> Verdict {
            let mut output = self.output.clone();
            for &(place, value) in places {
                let bits = nearest(output.element(), value);
                output.set_bits(self.offset(place), bits);
            }
            reference.verify(&output)
        }

        fn offset(&self, (batch, row, column): Coordinates) -> usize {
            self.problem.c().offset(batch, row, column) as usize
        }

        fn value(&self, place: Coordinates) -> f64 {
            self.output.value(self.offset(place))
        }

        /// A row that is not compared, and one that is.
        fn rows(&self) -> (u32, u32) {
            let sample = sample(&self.problem, self.inputs.seed);
            let rows = &sample[0].rows;
            assert_eq!(sample[0].batch, 0);
            let other = (1..self.problem.m()).find(|row| !rows.contains(row));
            (other.unwrap(), rows[rows.len() / 2])
        }
    }

    type Coordinates = (u32, u32, u32);

    fn places(problem: &Problem) -> impl Iterator<Item = Coordinates> + use<> {
        let (m, n) = (problem.m(), problem.n());
        (0..problem.batch())
            .flat_map(move |batch| (0..m).map(move |row| (batch, row)))
            .flat_map(move |(batch, row)| (0..n).map(move |column| (batch, row, column)))
    }

    fn resolution(verdict: &Verdict) -> f64 {
        match verdict.method {
            Method::Projected { resolution, .. } => resolution,
            Method::Exact => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn a_correct_result_passes_with_the_sampled_rows_compared() {
        let case = Case::new(SHAPE);
        let verdict = case.reference(2).verify(&case.output);
        assert!(verdict.passed(), "{verdict:?}");
        let Method::Projected {
            compared_elements,
            vectors: 20,
            resolution,
        } = verdict.method
        else {
            panic!("{verdict:?}")
        };
        let rows = compared_elements / 300;
        assert!((55..=64).contains(&rows) && compared_elements % 300 == 0);
        assert!((2.0..40.0).contains(&resolution), "{resolution}");
        let text = verdict.method.to_string();
        assert!(text.contains("at most 2^-20"), "{text}");
    }

    #[test]
    fn verdicts_do_not_depend_on_the_number_of_threads() {
        let case = Case::new(SHAPE);
        for projected in [true, false] {
            let verdicts = [1, 2, 5].map(|threads| {
                let reference = Reference {
                    projected,
                    ..case.reference(threads)
                };
                case.with(&reference, &[((1, 77, 130), 100.0)])
            });
            assert!(!verdicts[0].passed());
            assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]));
            let bits = |verdict: &Verdict| verdict.relative_error.map(f64::to_bits);
            assert!(verdicts.iter().all(|v| bits(v) == bits(&verdicts[0])));
        }
    }

    /// Deviations in units of the element's bound (k + 2)u·Σ|a||b|.
    #[test]
    fn single_elements_are_found_from_the_stated_deviation_on() {
        let case = Case::new(SHAPE);
        let reference = case.reference(2);
        let resolution = resolution(&reference.verify(&case.output));
        let (row, sampled) = case.rows();
        let off_by = |(batch, row, column): Coordinates, bounds: f64| {
            let magnitude: f64 = (0..70)
                .map(|p| {
                    let a = case.problem.a().offset(batch, row, p);
                    let b = case.problem.b().offset(batch, p, column);
                    case.inputs.a.value(a as usize) * case.inputs.b.value(b as usize)
                })
                .map(f64::abs)
                .sum();
            let bound = 72.0 * f64::from(f32::EPSILON) / 2.0 * magnitude;
            let place = (batch, row, column);
            let verdict = case.with(&reference, &[(place, case.value(place) + bounds * bound)]);
            assert_eq!(verdict.wrong_elements, u64::from(!verdict.passed()));
            if let Some(first) = verdict.first_wrong {
                assert_eq!((first.batch, first.row, first.column), place);
            }
            verdict.passed()
        };
        for column in [0, 127, 128, 255, 256, 299] {
            assert!(off_by((0, row, column), 0.5), "within the bound");
            assert!(off_by((0, row, column), 1.3), "below the resolution");
            assert!(!off_by((0, sampled, column), 1.3), "compared");
            // Magnitudes in a group differ by less than a factor of 3.
            for factor in [3.0, 10.0, 1e4] {
                let place = (0, row, column);
                assert!(!off_by(place, factor * resolution), "{place:?} {factor}");
                assert!(!off_by(place, -factor * resolution), "{place:?} {factor}");
            }
        }
        for place in [(0, 0, 0), (1, 199, 0), (1, 199, 299), (1, 127, 299)] {
            assert!(!off_by(place, 3.0 * resolution), "{place:?}");
        }
    }

    #[test]
    fn swaps_transpositions_and_tiles_that_were_not_written_are_found() {
        let case = Case::new(Request {
            batch: 1,
            ..Request::new(200, 200, 70)
        });
        let reference = case.reference(2);
        let (row, _) = case.rows();
        let value = |row, column| case.value((0, row, column));
        let swap = [((0, row, 5), value(row, 6)), ((0, row, 6), value(row, 5))];
        let verdict = case.with(&reference, &swap);
        assert_eq!(verdict.wrong_elements, 2, "{verdict:?}");
        let transposed: Vec<_> = places(&case.problem)
            .map(|(_, row, column)| ((0, row, column), value(column, row)))
            .collect();
        let verdict = case.with(&reference, &transposed);
        assert!(verdict.wrong_elements > 1000, "{verdict:?}");
        let tile: Vec<_> = (0..16 * 16)
            .map(|i| ((0, 184 + i / 16, 184 + i % 16), 0.0))
            .collect();
        let verdict = case.with(&reference, &tile);
        assert!(verdict.wrong_elements > 240, "{verdict:?}");
        let first = verdict.first_wrong.unwrap();
        assert_eq!((first.row, first.column), (184, 184));
        for poison in [f64::NAN, f64::INFINITY] {
            let verdict = case.with(&reference, &[((0, row, 199), poison)]);
            assert_eq!(verdict.wrong_elements, 1, "{verdict:?}");
        }
    }

    /// The largest magnitude of an element of C.
    fn largest(case: &Case) -> f64 {
        places(&case.problem)
            .map(|place| case.value(place).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn every_type_layout_factor_bias_and_linear_operation_is_projected() {
        for &types in ElementTypes::ALL {
            let is_integer = types.accumulator == ElementType::I32;
            for (order, bias, prologue, epilogue) in [
                (Order::RowMajor, Bias::Row, Operation::None, Operation::None),
                (
                    Order::ColumnMajor,
                    Bias::Column,
                    Operation::Relu,
                    Operation::Scale(-2.0),
                ),
            ] {
                // Types with blocks along k have one layout.
                let (order_a, order_b, k) = match types.block() > 1 {
                    true => (Order::RowMajor, Order::ColumnMajor, 96),
                    false => (order, order, SHAPE.k),
                };
                let case = Case::new(Request {
                    order_a,
                    order_b,
                    k,
                    alpha: -3.0,
                    // The sum with random i32 would wrap around in the order of operations.
                    beta: if is_integer { 0.0 } else { 2.0 },
                    bias: if is_integer { Bias::None } else { bias },
                    prologue,
                    epilogue,
                    types,
                    ..SHAPE
                });
                let reference = case.reference(2);
                let verdict = reference.verify(&case.output);
                assert!(verdict.passed(), "{types:?}: {verdict:?}");
                resolution(&verdict);
                let place = (1, 150, 290);
                let delta = match is_integer {
                    true => 1.0,
                    // Scales make the other elements of the group much larger than this one may be.
                    false if types.a.is_scaled() => 1e3 * largest(&case),
                    false => 8.0 + case.value(place).abs(),
                };
                let verdict = case.with(&reference, &[(place, case.value(place) + delta)]);
                assert_eq!(verdict.wrong_elements, 1, "{types:?}: {verdict:?}");
            }
        }
    }

    #[test]
    fn integers_are_compared_modulo_their_size() {
        let case = Case::new(Request {
            types: ElementTypes::I8,
            alpha: 100_000_001.0,
            ..SHAPE
        });
        // 100,000,001 · 70 · 2¹² needs more than 32 bits.
        let reference = case.reference(2);
        let verdict = reference.verify(&case.output);
        assert!(verdict.passed(), "{verdict:?}");
        assert_eq!(resolution(&verdict), 0.0);
        let (row, _) = case.rows();
        let flipped = |column| {
            let value = case.value((0, row, column)) as i32 ^ i32::MIN;
            ((0, row, column), f64::from(value))
        };
        // Both differ by 2³¹, and the sum of both by 2³² = 0.
        let verdict = case.with(&reference, &[flipped(3), flipped(4)]);
        assert_eq!(verdict.wrong_elements, 2, "{verdict:?}");
    }

    #[test]
    fn what_cannot_be_projected_is_compared() {
        for epilogue in [Operation::Relu, Operation::Set(1.5)] {
            let case = Case::new(Request { epilogue, ..SHAPE });
            let verdict = case.reference(2).verify(&case.output);
            assert!(verdict.passed(), "{verdict:?}");
            assert_eq!(verdict.method, Method::Exact);
        }
    }

    #[test]
    fn nan_and_infinite_elements_are_compared_as_such() {
        let problem = SHAPE.check().unwrap();
        let mut inputs = Inputs::special(&problem, 11).unwrap();
        let infinite = problem.b().offset(1, 30, 40) as usize;
        let bits = nearest(ElementType::F32, f64::INFINITY);
        inputs.b.set_bits(infinite, bits);
        let case = Case::of(problem, inputs);
        assert!(case.value((0, 100, 299)).is_nan() && case.value((1, 3, 40)).is_infinite());
        let reference = case.reference(2);
        assert!(reference.verify(&case.output).passed());
        for place in [(0, 100, 299), (1, 3, 40)] {
            for wrong in [0.0, -case.value(place)] {
                let verdict = case.with(&reference, &[(place, wrong)]);
                let same = wrong.is_nan();
                assert_eq!(verdict.wrong_elements, u64::from(!same), "{verdict:?}");
            }
        }
    }

    /// All elements are too large by 0.9 bounds: far beyond what rounding does, but not wrong.
    #[test]
    fn a_result_at_its_bounds_is_compared_and_passes() {
        let case = Case::new(SHAPE);
        let exact = Reference {
            projected: false,
            ..case.reference(2)
        };
        let mut output = case.output.clone();
        let (a, b) = (&case.inputs.a, &case.inputs.b);
        for (batch, row, column) in places(&case.problem) {
            let magnitude: f64 = (0..70)
                .map(|p| {
                    let a = a.value(case.problem.a().offset(batch, row, p) as usize);
                    (a * b.value(case.problem.b().offset(batch, p, column) as usize)).abs()
                })
                .sum();
            let offset = case.offset((batch, row, column));
            let more = output.value(offset) + 0.9 * 70.0 * 2.0_f64.powi(-24) * magnitude;
            output.set_bits(offset, nearest(ElementType::F32, more));
        }
        let verdict = case.reference(2).verify(&output);
        assert!(verdict.passed(), "{verdict:?}");
        assert_eq!(verdict, exact.verify(&output));
    }

    #[test]
    fn large_products_are_projected_and_small_ones_compared() {
        let is_projected = |m, n, k| is_projected(&Request::new(m, n, k).check().unwrap());
        assert!(!is_projected(2048, 2048, 2048));
        assert!(!is_projected(2580, 2580, 2580));
        assert!(is_projected(2581, 2581, 2581));
        assert!(!is_projected(64, 1 << 15, 1 << 15));
    }
}
