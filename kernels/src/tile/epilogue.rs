//! The epilogue's formula: from sums to the elements of C.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::element::{Accumulator, Activation, each};

/// The most runs that are updated together.
pub const MOST_RUNS: usize = 4;

/// The elements of runs that are updated together; those beyond their number mean nothing.
pub type RunElements<T, const RUN: usize> = [[T; RUN]; MOST_RUNS];

/// Where the runs are that a lane updates together. They are loaded at once and stored at once.
#[derive(Clone, Copy)]
pub struct Runs {
    /// The row and the first column of the first run.
    pub first: (u32, u32),
    /// The distance from one run to the next.
    pub step: (u32, u32),
    /// How many runs there are, at most [`MOST_RUNS`].
    pub count: usize,
}

impl Runs {
    /// The row and the first column of a run.
    #[inline(always)]
    pub fn place(&self, number: usize) -> (u32, u32) {
        let (row, column) = self.first;
        let (down, right) = self.step;
        (row + number as u32 * down, column + number as u32 * right)
    }

    /// How many rows the runs have: one if they are side by side.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        if self.step.0 == 0 { 1 } else { self.count }
    }

    /// How many different columns they begin at: one if they are below each other.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        if self.step.1 == 0 { 1 } else { self.count }
    }
}

/// An operation on every element: one formula with uniform constants. Code that branches for each element, or keeps a whole
/// fragment live across branches, would take longer than the operation and need more registers than there are.
#[derive(Clone, Copy)]
pub struct Operation<A> {
    /// The element is multiplied by this.
    pub factor: A,
    /// Negative elements become 0.
    pub relu: bool,
    /// Whether the element becomes the value.
    pub set: bool,
    /// The value.
    pub value: A,
}

impl<A: Accumulator> Operation<A> {
    /// The result for one element.
    #[inline(always)]
    fn of(&self, element: A) -> A {
        let scaled = element.mul(self.factor);
        let rectified = if self.relu { scaled.relu() } else { scaled };
        if self.set { self.value } else { rectified }
    }
}

/// The result that is stored: `epilogue(α · product + β · prologue(old) + bias)`, or with a gate
/// `epilogue(α · product + bias) · β · prologue(old)`.
#[derive(Clone, Copy)]
pub struct Epilogue<A> {
    /// The factor of the product.
    pub alpha: A,
    /// The factor of the old element. With 0 the old element is not read.
    pub beta: A,
    /// The operation on the old element.
    pub prologue: Operation<A>,
    /// Whether ReLU's derivative at the old element takes its place before this operation.
    pub relu_gradient: bool,
    /// Whether another function's derivative does.
    pub gradient: bool,
    /// That function.
    pub gradient_of: Activation,
    /// The operation on the sum of all that.
    pub epilogue: Operation<A>,
    /// Whether the activation function comes before this operation.
    pub activated: bool,
    /// The activation function.
    pub activation: Activation,
    /// Whether the scaled old element is multiplied by the result instead of added.
    pub gate: bool,
    /// Whether what the activation and the operation are applied to is kept.
    pub keeps_input: bool,
}

impl<A: Accumulator> Epilogue<A> {
    /// The results of `runs`. All branches are uniform, and not for each run: taken ones cost more than the results.
    #[inline(always)]
    pub fn results<const RUN: usize>(
        &self,
        runs: &Runs,
        mut sums: RunElements<A, RUN>,
        load_old: impl Fn() -> RunElements<A, RUN>,
        add_bias: impl FnOnce(RunElements<A, RUN>) -> RunElements<A, RUN>,
        keep_input: impl FnOnce(RunElements<A, RUN>),
    ) -> RunElements<A, RUN> {
        // With β = 0, a NaN in the old element does not propagate.
        if self.beta != A::ZERO && !self.gate {
            let old = self.scaled_old(runs, &load_old);
            for n in 0..runs.count {
                for k in 0..RUN {
                    sums[n][k] = self.alpha.mul_add(sums[n][k], old[n][k]);
                }
            }
        } else {
            for n in 0..runs.count {
                sums[n] = each(sums[n], |sum| self.alpha.mul(sum));
            }
        }
        let mut results = add_bias(sums);
        if self.keeps_input {
            keep_input(results);
        }
        if self.activated {
            for n in 0..runs.count {
                results[n] = each(results[n], |result| result.activated(self.activation));
            }
        }
        for n in 0..runs.count {
            results[n] = each(results[n], |result| self.epilogue.of(result));
        }
        // The old elements are loaded here: before, they would need registers during the activation.
        if self.gate {
            let old = self.scaled_old(runs, &load_old);
            for n in 0..runs.count {
                for k in 0..RUN {
                    results[n][k] = results[n][k].mul(old[n][k]);
                }
            }
        }
        results
    }

    /// `β · prologue(old)`.
    #[inline(always)]
    fn scaled_old<const RUN: usize>(
        &self,
        runs: &Runs,
        load_old: &impl Fn() -> RunElements<A, RUN>,
    ) -> RunElements<A, RUN> {
        let mut old = [[A::ZERO; RUN]; MOST_RUNS];
        if !self.prologue.set {
            old = load_old();
        }
        if self.relu_gradient {
            for n in 0..runs.count {
                old[n] = each(old[n], A::relu_gradient);
            }
        } else if self.gradient {
            for n in 0..runs.count {
                old[n] = each(old[n], |old| old.gradient(self.gradient_of));
            }
        }
        for n in 0..runs.count {
            old[n] = each(old[n], |old| self.beta.mul(self.prologue.of(old)));
        }
        old
    }
}
