//! Measures the best few kernels on the device, and uses what was measured before.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ferrowave_shared::{CATALOGUE, ElementType, Kernel};

use super::{
    access::is_aligned,
    choose::{Choice, Decision, NoKernel, Second, choose, ranked},
    launch::{Gemm, GemmError},
    machine::Machine,
    operands::{Addresses, Operands, Source, Target},
    plan::Plan,
    problem::Problem,
    tuned::{
        cache::{self, Cache, Mode, Winner},
        checksum,
    },
};
use crate::hip::Context;

/// The kernels that are measured: the best by the table or the rule.
const CANDIDATES: usize = 5;
/// Timed runs of each on a GPU; the fastest counts.
const RUNS: usize = 10;

/// Winners, and what is done with them.
#[derive(Debug)]
pub(super) struct Tuning {
    mode: Mode,
    cache: Mutex<Cache>,
}

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

impl Tuning {
    /// The winners for a device and a code object.
    pub(super) fn new(
        context: &Context,
        machine: &Machine,
        code_object: &[u8],
    ) -> Result<Self, GemmError> {
        let mode = Mode::from_environment().map_err(GemmError::Tuning)?;
        let cache = match mode {
            Mode::Off => Cache::default(),
            Mode::Read | Mode::On => {
                let device = context.device();
                let driver = match device.is_emulated() {
                    true => "emulated".to_owned(),
                    false => format!("HIP runtime {}", device.api().runtime_version()?),
                };
                let identity = format!(
                    "{} ({}, {} compute units), {driver}, kernels {:08x}",
                    device.properties().name,
                    machine.gpu,
                    machine.compute_units,
                    checksum(code_object)
                );
                Cache::open(cache::folder().as_deref(), &machine.gpu, &identity)
            }
        };
        Ok(Self {
            mode,
            cache: Mutex::new(cache),
        })
    }

    fn with_cache<R>(&self, run: impl FnOnce(&mut Cache) -> R) -> R {
        run(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Gemm {
    /// The kernel for a problem: the winner that was measured on this device, or else what [`choose`] takes.
    ///
    /// # Errors
    /// As [`choose`].
    pub fn choice(
        &self,
        problem: &Problem,
        addresses: Option<&Addresses>,
    ) -> Result<Choice, NoKernel> {
        let choice = choose(problem, self.machine(), addresses)?;
        let key = cache::key(problem, is_aligned(problem, addresses).is_ok());
        let winner = self.tuning().with_cache(|cache| cache.winner(&key));
        let fits = |winner: &Winner| {
            let plan = Plan::with_parts(winner.kernel, problem, self.machine(), winner.parts);
            let can_read = |plan: &Plan| addresses.is_none_or(|a| plan.check_addresses(a).is_ok());
            plan.as_ref().is_ok_and(can_read)
        };
        Ok(match winner.filter(fits) {
            Some(Winner {
                kernel,
                parts,
                time,
            }) => Choice {
                kernel,
                parts,
                decision: Decision::Measured { time, second: None },
                ..choice
            },
            None => choice,
        })
    }

    /// What is wrong with the file of measured winners, if something is.
    pub fn tuning_note(&self) -> Option<String> {
        self.tuning()
            .with_cache(|cache| cache.note().map(str::to_owned))
    }

    /// [`choice`](Self::choice), after a problem without a winner was measured if the environment asks for it
    /// (`FERROWAVE_TUNING=on`).
    pub(super) fn tuned_choice(
        &self,
        problem: &Problem,
        addresses: &Addresses,
    ) -> Result<Choice, GemmError> {
        let choice = self.choice(problem, Some(addresses))?;
        let is_empty = problem.m() == 0 || problem.n() == 0 || problem.batch() == 0;
        let is_measured = matches!(choice.decision, Decision::Measured { .. });
        // Measured operands are aligned as whole buffers are.
        let is_wanted = self.tuning().mode == Mode::On && !is_empty && !is_measured;
        if !is_wanted || is_aligned(problem, Some(addresses)) != is_aligned(problem, None) {
            return Ok(choice);
        }
        self.tune(problem)?;
        Ok(self.choice(problem, Some(addresses))?)
    }

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
        let key = cache::key(problem, is_aligned(problem, None).is_ok());
        let winner = Winner {
            kernel,
            parts,
            time,
        };
        let kept = self.tuning().with_cache(|cache| {
            cache.keep(key, winner)?;
            Ok(cache.path().map(PathBuf::from))
        });
        let choice = self.choice(problem, None)?;
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
