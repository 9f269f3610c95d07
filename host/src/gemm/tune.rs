//! Measures the best few kernels on the device.

use std::{path::PathBuf, time::Duration};

use ferrowave_shared::{CATALOGUE, ElementType, Kernel};

use super::{
    choose::{Choice, Decision, Second, choose, ranked},
    error::GemmError,
    launch::Gemm,
    operands::{Operands, Source, Target},
    plan::Plan,
    problem::Problem,
    tuned::cache::Winner,
};

/// The kernels that are measured: the best by the table or the rule.
const CANDIDATES: usize = 5;
/// Timed runs of each on a GPU; the fastest counts.
const RUNS: usize = 10;

/// What was measured of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The fastest kernel.
    pub choice: Choice,
    /// All that were measured, in the order of the table or the rule.
    pub measured: Vec<Measured>,
    /// The file in which the winner is kept; `None` if there is no cache directory; or why it is not kept.
    pub kept: Result<Option<PathBuf>, String>,
}

/// A kernel that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Into how many parts it divided k.
    pub parts: u32,
    /// Its shortest time, or why it failed.
    pub time: Result<Duration, String>,
}

impl Gemm {
    /// Measures the best few kernels by the table or the rule on the device, with operands of its own, and keeps the fastest
    /// in the user's cache directory: [`run`](Self::run) uses it from then on. A kernel that fails is left out; if all of
    /// them fail, the other kernels are tried until one does not. On the emulator times are those of the emulation.
    ///
    /// # Errors
    /// If there is no kernel for the problem, there is no memory for its operands, or every kernel fails.
    pub fn tune(&self, problem: &Problem) -> Result<Tuned, GemmError> {
        let candidates = self.candidates(problem)?;
        let types = problem.types();
        let matrix = |elements: u128, element: ElementType| {
            let bytes = usize::try_from(elements).unwrap_or(usize::MAX);
            let bytes = bytes.saturating_mul(element.size_bytes());
            // Zeros: what memory held before could be NaN, or another problem's numbers.
            let buffer = self.context().allocate::<u8>(bytes).and_then(|mut buffer| {
                buffer.fill_bytes(0)?;
                Ok(buffer)
            });
            buffer.map_err(|error| GemmError::Workspace {
                bytes: bytes as u64,
                error,
            })
        };
        let a = matrix(problem.a().span(), types.input)?;
        let b = matrix(problem.b().span(), types.input)?;
        let bias = matrix(problem.bias_length().into(), types.output)?;
        let mut c = matrix(problem.c().span(), types.output)?;
        let mut operands = Operands::new(
            Source::of_bytes(&a, types.input),
            Source::of_bytes(&b, types.input),
            Target::of_bytes(&mut c, types.output),
        )
        .with_bias(Source::of_bytes(&bias, types.output));
        let mut measured: Vec<Measured> = Vec::new();
        for (number, (kernel, parts)) in candidates.into_iter().enumerate() {
            if number >= CANDIDATES && measured.iter().any(|measured| measured.time.is_ok()) {
                break;
            }
            let time = self
                .shortest(kernel, parts, problem, &mut operands)
                .map_err(|error| error.to_string());
            measured.push(Measured {
                kernel,
                parts,
                time,
            });
        }
        self.keep(problem, measured)
    }

    /// The kernels that can compute a problem on whole buffers, best first.
    fn candidates(&self, problem: &Problem) -> Result<Vec<(&'static Kernel, u32)>, GemmError> {
        let machine = self.machine();
        let choice = choose(problem, machine, None)?;
        let ranked = ranked(problem, machine, None).unwrap_or_default();
        let mut all = vec![(choice.kernel, choice.parts)];
        let fitting = ranked.iter().filter(|ranked| ranked.misfit.is_none());
        let ranked = fitting.map(|ranked| (ranked.kernel, ranked.parts));
        // Without a table, the last steps of the ladder first.
        let others = CATALOGUE.iter().rev().filter_map(|kernel| {
            let plan = Plan::new(kernel, problem, machine).ok()?;
            Some((kernel, plan.parts()))
        });
        for (kernel, parts) in ranked.chain(others) {
            if !all.iter().any(|(other, _)| other.symbol == kernel.symbol) {
                all.push((kernel, parts));
            }
        }
        Ok(all)
    }

    fn shortest(
        &self,
        kernel: &'static Kernel,
        parts: u32,
        problem: &Problem,
        operands: &mut Operands<'_>,
    ) -> Result<Duration, GemmError> {
        let plan = Plan::with_parts(kernel, problem, self.machine(), parts)?;
        let mut shortest = self.run_plan(&plan, operands.reborrow())?;
        let runs = match self.context().device().is_emulated() {
            true => 0,
            false => RUNS,
        };
        for _ in 0..runs {
            shortest = shortest.min(self.run_plan(&plan, operands.reborrow())?);
        }
        Ok(shortest)
    }

    fn keep(&self, problem: &Problem, measured: Vec<Measured>) -> Result<Tuned, GemmError> {
        let mut ran: Vec<_> = measured
            .iter()
            .filter_map(|m| Some((m.kernel, m.parts, *m.time.as_ref().ok()?)))
            .collect();
        ran.sort_by_key(|(.., time)| *time);
        let Some(&(kernel, parts, time)) = ran.first() else {
            let failures = measured.iter().filter_map(|m| {
                let error = m.time.as_ref().err()?;
                Some(format!("{}: {error}", m.kernel.variant.name()))
            });
            return Err(GemmError::NoneRuns(failures.collect()));
        };
        let second = ran.get(1).map(|&(kernel, parts, other)| Second {
            kernel,
            parts,
            ratio: other.as_secs_f64() / time.as_secs_f64().max(1e-9),
        });
        let winner = Winner {
            kernel,
            parts,
            time,
        };
        let kept = self.winners().keep(problem, winner);
        let choice = self.winners().choice(problem, self.machine(), None)?;
        Ok(Tuned {
            choice: Choice {
                decision: Decision::Measured { time, second },
                ..choice
            },
            measured,
            kept,
        })
    }
}
