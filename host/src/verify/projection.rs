//! Projections of the reference product on random vectors; see [`reference`](super::reference).

use std::ops::Range;

use ferrowave_shared::ElementType;
use rand_chacha::rand_core::Rng as _;

use super::{
    block::{Factor, Part, add_product, add_product_within, copy, parts},
    bound::{Rule, wrapped},
    elements::Elements,
    inputs::{Inputs, Random},
    parallel::in_order,
};
use crate::gemm::Problem;

/// How many vectors every group is projected on.
pub(super) const VECTORS: usize = 20;
/// Columns of a group.
pub(super) const WIDTH: u32 = 128;
/// Rows of C that are worked on at a time.
const ROWS: u32 = 128;
/// Rows of B that are worked on at a time.
const STEP: u32 = 256;
/// The stream of random numbers for the vectors; those before it are of the inputs.
const STREAM: u64 = 6;
/// 2⁻⁵³, the unit roundoff of f64.
const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// The projections of all groups: the elements of one row of A·B in up to [`WIDTH`] adjacent columns.
pub(super) struct Projections {
    /// A bit for each vector and column.
    bits: Vec<u32>,
    sums: Vec<Sums>,
}

/// The projections of some rows.
struct Sums {
    batch: u32,
    rows: Range<u32>,
    /// A·B·x, for each row, group and vector.
    projected: Vec<f64>,
    /// The sum of |A|·|B|, for each row and group.
    magnitude: Vec<f64>,
}

/// What the projections of a result show.
pub(super) struct Screened {
    /// The groups that may have a wrong element, by batch, row and column.
    pub(super) suspects: Vec<Part>,
    /// The largest deviation that could be missed in any group, in typical bounds of the group's elements.
    pub(super) resolution: f64,
}

impl Projections {
    pub(super) fn new(problem: &Problem, inputs: &Inputs, threads: usize) -> Self {
        let mut random = Random::new(inputs.seed, STREAM).0;
        let mut projections = Projections {
            bits: (0..problem.n()).map(|_| random.next_u32()).collect(),
            sums: Vec::new(),
        };
        let rows: Vec<_> = parts(problem.m(), ROWS).collect();
        let [a, b] = Factor::both(problem, inputs);
        for batch in 0..problem.batch() {
            let of_b = projections.of_b(problem, b, batch, threads);
            let sums = in_order(rows.len(), threads, |number| {
                Sums::new(problem, a, batch, rows[number].clone(), &of_b)
            });
            projections.sums.extend(sums);
        }
        projections
    }

    /// Bytes that projections take at most.
    pub(super) fn bytes(problem: &Problem) -> u128 {
        let (m, n, k) = (problem.m(), problem.n(), problem.k());
        let rows = u128::from(m) * u128::from(problem.batch()) + u128::from(k);
        rows * u128::from(n.div_ceil(WIDTH)) * (VECTORS as u128 + 1) * 8 + u128::from(n) * 4
    }

    /// B·x for each row of B, group and vector, and the sums of |B| for each row and group; in steps of rows.
    fn of_b(
        &self,
        problem: &Problem,
        b: Factor<'_>,
        batch: u32,
        threads: usize,
    ) -> Vec<(Vec<f64>, Vec<f64>)> {
        let steps: Vec<_> = parts(problem.k(), STEP).collect();
        let groups = groups(problem);
        in_order(steps.len(), threads, |number| {
            let step = steps[number].clone();
            let mut projected = vec![0.0; step.len() * groups * VECTORS];
            let mut magnitude = vec![0.0; step.len() * groups];
            let mut block = Vec::new();
            for (group, columns) in parts(problem.n(), WIDTH).enumerate() {
                copy(&mut block, b, batch, step.clone(), columns.clone());
                let width = columns.len();
                add_product_within(
                    (step.len(), width, VECTORS),
                    (&block, width),
                    (&self.vectors(problem, columns), VECTORS),
                    (&mut projected[group * VECTORS..], groups * VECTORS),
                );
                for (row, elements) in block.chunks_exact(width).enumerate() {
                    magnitude[row * groups + group] = elements.iter().map(|x| x.abs()).sum();
                }
            }
            (projected, magnitude)
        })
    }

    /// The vectors' elements, for each column and vector: 1 or −1, and for integers 1 or 0.
    fn vectors(&self, problem: &Problem, columns: Range<u32>) -> Vec<f64> {
        let zero = match problem.types().accumulator {
            ElementType::I32 => 0.0,
            _ => -1.0,
        };
        let bits = &self.bits[columns.start as usize..columns.end as usize];
        bits.iter()
            .flat_map(|bits| {
                (0..VECTORS).map(move |vector| if bits >> vector & 1 == 1 { 1.0 } else { zero })
            })
            .collect()
    }

    /// Compares the projections of `output` with those of the product. `None` if the result is not a linear function of
    /// the product.
    pub(super) fn screen(
        &self,
        problem: &Problem,
        inputs: &Inputs,
        rule: &Rule<'_>,
        output: &Elements,
        threads: usize,
    ) -> Option<Screened> {
        let factor = rule.factor()?;
        let blocks = in_order(self.sums.len(), threads, |number| {
            let mut screened = Screened {
                suspects: Vec::new(),
                resolution: 0.0,
            };
            for (group, columns) in parts(problem.n(), WIDTH).enumerate() {
                let vectors = self.vectors(problem, columns.clone());
                self.sums[number].screen(
                    problem,
                    (group, columns),
                    &vectors,
                    (inputs, rule, factor, output),
                    &mut screened,
                );
            }
            screened.suspects.sort_by_key(|part| part.rows[0]);
            screened
        });
        let mut all = Screened {
            suspects: Vec::new(),
            resolution: 0.0,
        };
        for block in blocks {
            all.suspects.extend(block.suspects);
            all.resolution = all.resolution.max(block.resolution);
        }
        Some(all)
    }
}

/// The groups of a row.
fn groups(problem: &Problem) -> usize {
    problem.n().div_ceil(WIDTH) as usize
}

impl Sums {
    fn new(
        problem: &Problem,
        a: Factor<'_>,
        batch: u32,
        rows: Range<u32>,
        of_b: &[(Vec<f64>, Vec<f64>)],
    ) -> Self {
        let groups = groups(problem);
        let mut projected = vec![0.0; rows.len() * groups * VECTORS];
        let mut magnitude = vec![0.0; rows.len() * groups];
        let mut block = Vec::new();
        for (step, (b, magnitude_of_b)) in parts(problem.k(), STEP).zip(of_b) {
            copy(&mut block, a, batch, rows.clone(), step.clone());
            let shape = |columns| (rows.len(), step.len(), columns);
            add_product(shape(groups * VECTORS), &block, b, &mut projected);
            for x in &mut block {
                *x = x.abs();
            }
            add_product(shape(groups), &block, magnitude_of_b, &mut magnitude);
        }
        Sums {
            batch,
            rows,
            projected,
            magnitude,
        }
    }

    /// Screens a group of columns in all rows.
    fn screen(
        &self,
        problem: &Problem,
        (group, columns): (usize, Range<u32>),
        vectors: &[f64],
        (inputs, rule, factor, output): (&Inputs, &Rule<'_>, f64, &Elements),
        screened: &mut Screened,
    ) {
        let is_integer = problem.types().accumulator == ElementType::I32;
        let (width, groups) = (columns.len(), groups(problem));
        let needs_rest = rule.rest_differs();
        // The part of C that comes from the product.
        let mut of_product = Vec::with_capacity(self.rows.len() * width);
        let mut norms = Vec::with_capacity(self.rows.len());
        for row in self.rows.clone() {
            let mut squares = 0.0;
            for column in columns.clone() {
                // Offsets of elements are below the length of C.
                let offset = problem.c().offset(self.batch, row, column) as usize;
                let value = output.value(offset);
                squares += value * value;
                let rest = match needs_rest {
                    true => rule.rest((row, column), inputs.c.bits(offset)),
                    false => 0.0,
                };
                of_product.push(match is_integer {
                    true => wrapped(value).wrapping_sub(wrapped(rest)).into(),
                    false => value - rest,
                });
            }
            norms.push(f64::sqrt(squares));
        }
        let mut projected = vec![0.0; self.rows.len() * VECTORS];
        let shape = (self.rows.len(), width, VECTORS);
        add_product(shape, &of_product, vectors, &mut projected);
        let depth = f64::from(problem.k()) + width as f64;
        for (number, row) in self.rows.clone().enumerate() {
            let place = number * groups + group;
            let expected = &self.projected[place * VECTORS..][..VECTORS];
            let projected = &projected[number * VECTORS..][..VECTORS];
            let pairs = projected.iter().zip(expected);
            let is_suspect = if is_integer {
                pairs.into_iter().any(|(&is, &product)| {
                    wrapped(is) != wrapped(factor).wrapping_mul(wrapped(product))
                })
            } else {
                let (magnitude, norm) = (self.magnitude[place], norms[number]);
                let typical = |value| rule.typical_bound(value, magnitude / width as f64);
                // What correct results reach with a probability of about 1e-8 or less.
                let threshold = 2.0 * typical(0.0) + 3.0 * rule.roundoff() * norm;
                let parts: f64 = of_product[number * width..][..width]
                    .iter()
                    .map(|x| x.abs())
                    .sum();
                let rounding = ROUNDOFF * depth * (factor.abs() * magnitude + parts);
                let resolution = (threshold + rounding) / typical(norm / (width as f64).sqrt());
                screened.resolution = screened.resolution.max(resolution);
                // A comparison with NaN is false.
                !pairs
                    .into_iter()
                    .all(|(is, product)| (is - factor * product).abs() <= threshold)
                    || !(magnitude + norm).is_finite()
            };
            if is_suspect {
                screened.suspects.push(Part {
                    batch: self.batch,
                    rows: vec![row],
                    columns: columns.clone(),
                });
            }
        }
    }
}
