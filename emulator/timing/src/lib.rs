//! The timing model: the time that a kernel would take on a GPU. **All times are modelled, never measured.**
//!
//! The model replays what the emulator runs. [`launch`] runs a kernel as [`ferrowave_emulator::dispatch::launch`] does
//! and records selected workgroups: their instructions, the cache lines of their accesses, and the LDS cycles including
//! bank conflicts. Then
//!
//! 1. the accesses of all workgroups that start on an empty machine go through the tags of all caches. This gives, for
//!    each instruction, the share of its loads that L2, the Infinity Cache and memory serve (`sharing`);
//! 2. one compute unit replays its workgroups cycle by cycle: four SIMDs that issue in order, busy units, dependences,
//!    barriers, its own L1 cache, and its share of L2, the Infinity Cache and memory (`compute_unit`, `memory`). It is
//!    the fullest one; or, if all workgroups start at once, that of the last one if it takes longer: the last one may
//!    have overhanging edges, or add up the sums of all others;
//! 3. if the compute unit has more than a few batches of workgroups, the remaining ones are extrapolated from the pace
//!    of the replayed ones after the first batch ([`Timing::workgroups_modelled`] is the number of replayed ones).
//!
//! Cycles are modelled. Their time is given at the highest clock and, where AMD published clocks under load, at the one
//! that the power allows (`clock`). Not modelled: the launch itself, address translation, the network between caches, DRAM
//! pages. Caches start cold, with two exceptions: the Infinity Cache holds what the same launch left in it ([`Start`]),
//! and the instruction cache the kernel, if it fits.

mod accuracy;
mod bound;
mod budget;
mod clock;
mod compute_unit;
mod exec_masks;
mod instruction;
mod layout;
mod lds;
mod memory;
mod parameter_file;
mod parameters;
mod placement;
mod replayed;
mod report;
mod sharing;
mod skipped;
mod stall;
mod symbolized;
mod tags;
mod timeline;
mod timeline_events;
mod trace;
pub mod trace_events;
mod wave;

pub use accuracy::{Class, ClassError, PublishedRow, error_table, published_rows};
pub use bound::{Bound, Unit};
pub use budget::MOST_TRACE_BYTES;
pub use clock::{MatrixType, SustainedClock};
pub use parameter_file::{Changed, ParameterError};
pub use parameters::{ArrayCache, NoParameters, Parameters, Pipeline, Start};
pub use report::duration;
pub use report::{Format, JSON_VERSION, MODELLED, Timing, Usage};
pub use stall::{Stall, Stalls};
pub use symbolized::{InstructionTiming, Instructions};
pub use timeline::{IssuedInstruction, MOST_TIMELINE_INSTRUCTIONS};
pub use timeline_events::{Shown, write_timelines};
pub use trace::Tracer;

use std::{convert::Infallible, sync::Arc};

use ferrowave_gpu::{Gpu, Occupancy, Product};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use budget::Budget;
use compute_unit::{ComputeUnit, Replay};
use instruction::{Timed, Unit as Executes};
use memory::{Memory, Traffic};
use placement::Placement;
use replayed::Replayed;
use sharing::Sources;
use skipped::Skipped;
use trace::{Chosen, Recorded};
use wave::Instructions as Table;

use ferrowave_emulator::dispatch::{
    LaunchConfig, LaunchError, Observed, launch_observed, launch_some, on_all_threads,
};
use ferrowave_emulator::{exec::Code, program::Kernel};
use ferrowave_isa::{Category, Effect, Instruction};

/// The maximum number of replayed batches of workgroups: the first, which starts on an idle machine, and those that
/// show the pace of the rest.
const BATCHES: u64 = 3;

/// Why a launch has no modelled time.
#[derive(Debug, thiserror::Error)]
pub enum TimingError {
    /// The launch is invalid or failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// There are no parameters of the machine.
    #[error(transparent)]
    NoParameters(#[from] NoParameters),
    /// The machine does not have the kernel's instruction set.
    #[error("{machine} runs {runs}, but kernel `{kernel}` is for {is_for}")]
    WrongMachine {
        /// The machine.
        machine: Product,
        /// Its instruction set.
        runs: Gpu,
        /// The kernel.
        kernel: String,
        /// The kernel's instruction set.
        is_for: Gpu,
    },
    /// The traces exceed the limit: [`MOST_TRACE_BYTES`], or the argument of [`launch_within`].
    #[error(
        "kernel `{kernel}` has no modelled time: its workgroups need more than {} MiB of traces, which is the limit; a \
         smaller problem needs less", .trace_bytes >> 20
    )]
    TooLong {
        /// The kernel.
        kernel: String,
        /// The limit in bytes.
        trace_bytes: u64,
    },
}

/// Runs a kernel as [`ferrowave_emulator::dispatch::launch`] does, and models its time on a machine: a [`Product`], or
/// its [`Parameters`] as they are, for example from a file ([`Parameters::read`]). Waiting for other workgroups is
/// not modelled: a loop that polls memory is replayed with as many iterations as it had in the emulator, and global
/// wave sync takes no time. If workgroups can observe their order, they run in order on one host thread, unless the
/// configuration sets the number of threads.
///
/// # Errors
/// If the machine has no parameters or another instruction set, or the launch fails.
pub fn launch(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    machine: impl TryInto<Parameters, Error: Into<TimingError>>,
) -> Result<Timing, TimingError> {
    launch_within(kernel, config, machine, MOST_TRACE_BYTES)
}

/// As [`launch`], with another limit for the bytes of traces.
///
/// # Errors
/// As [`launch`].
pub fn launch_within(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    machine: impl TryInto<Parameters, Error: Into<TimingError>>,
    trace_bytes: u64,
) -> Result<Timing, TimingError> {
    let mut plan = Plan::new(kernel, config, machine)?;
    plan.chosen.budget = Arc::new(Budget::new(trace_bytes));
    let config = plan.config(config);
    let Observed { outcome, observers } = launch_observed(kernel, &config, |_| plan.tracer())?;
    outcome?;
    plan.timing(kernel, observers)
}

/// Models the time of a launch and runs only what that needs. **The contents of memory afterwards are not results**:
/// most workgroups do not run, others stop before their end, and neither do matrix instructions run nor computations whose
/// results decide no branch and no address. (So where a kernel branches on the result of a matrix instruction, it may take
/// another way than in a whole run.) The workgroups of a cooperative launch may wait for each
/// other, so all of them run.
///
/// # Errors
/// As [`launch`].
pub fn estimate(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    machine: impl TryInto<Parameters, Error: Into<TimingError>>,
) -> Result<Timing, TimingError> {
    if config.cooperative {
        return launch(kernel, config, machine);
    }
    let mut plan = Plan::new(kernel, config, machine)?;
    plan.chosen.skipped = Skipped::of(kernel);
    // The last workgroup may do what remains when all others have ended.
    plan.chosen.may_stop = !(plan.is_order_seen && plan.placement.all_at_once());
    let chosen = plan.chosen.numbers();
    let config = plan.config(config);
    let Observed { outcome, observers } =
        launch_some(kernel, &config, Some(&chosen), |_| plan.tracer())?;
    outcome?;
    plan.timing(kernel, observers)
}

/// [`Parameters`] are what [`launch`] needs, and are converted without an error.
impl From<Infallible> for TimingError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// What to record of a launch, and the machine to model.
pub struct Plan {
    parameters: Parameters,
    placement: Placement,
    waves_per_simd: u32,
    /// Whether all waves of a workgroup are on one of the two compute units of RDNA's workgroup processor.
    in_one_compute_unit: bool,
    chosen: Chosen,
    /// Whether workgroups can observe their order, which may affect what they do.
    is_order_seen: bool,
    has_timeline: bool,
}

/// A replayed compute unit.
struct UnitTiming {
    /// The cycles of all its workgroups.
    cycles: u64,
    /// The index of the first instruction in `table`.
    first: u32,
    table: Vec<Option<Timed>>,
    replay: Replay,
}

/// Whether the instruction is an atomic operation on memory that returns the old value.
fn sees_order(instruction: &Instruction) -> bool {
    instruction.category() == Category::VectorMemory
        && instruction.effect() == Effect::Atomic
        && instruction.memory.sc0
}

impl Plan {
    /// Selects what to record of a launch for a machine.
    ///
    /// # Errors
    /// If the machine has no parameters or another instruction set, or the launch cannot start.
    pub fn new(
        kernel: &Kernel,
        config: &LaunchConfig<'_>,
        machine: impl TryInto<Parameters, Error: Into<TimingError>>,
    ) -> Result<Self, TimingError> {
        let parameters = machine.try_into().map_err(Into::into)?;
        if parameters.hardware.gpu != kernel.gpu() {
            return Err(TimingError::WrongMachine {
                machine: parameters.machine,
                runs: parameters.hardware.gpu,
                kernel: kernel.name().to_owned(),
                is_for: kernel.gpu(),
            });
        }
        ferrowave_emulator::dispatch::check_launch(kernel, config)?;
        let workgroups = config.grid.iter().map(|&n| u64::from(n)).product();
        let threads = config.block.iter().product();
        let resources = kernel
            .description()
            .resources(threads, config.dynamic_lds_bytes);
        let occupancy = Occupancy::of(kernel.gpu(), resources);
        let resident = u64::from(occupancy.workgroups_per_compute_unit);
        let placement = Placement::new(&parameters, workgroups, resident);
        let is_order_seen = kernel.instructions().any(|index| {
            let instruction = kernel.code().instruction(index);
            instruction.is_some_and(sees_order)
        });
        let mut chosen = Chosen {
            lines: placement.at_once().collect(),
            ..Chosen::new(kernel.code().lanes())
        };
        for first in placement.candidates() {
            let replayed = placement.on_unit_of(first, BATCHES * placement.resident);
            chosen.whole.extend(replayed);
        }
        Ok(Plan {
            parameters,
            placement,
            waves_per_simd: occupancy.waves_per_simd,
            in_one_compute_unit: resources.in_one_compute_unit,
            chosen,
            is_order_seen,
            has_timeline: false,
        })
    }

    /// Also records what each replayed wave does, for [`write_timelines`] and [`Timing::issued`].
    #[must_use]
    pub const fn with_timeline(mut self) -> Self {
        self.has_timeline = true;
        self
    }

    /// The configuration for the traced launch. If workgroups can observe their order (such as the last to
    /// count itself, which adds up all partial results), they run in order on one host thread, unless the caller sets
    /// the number of threads: so the modelled time is the same in every run.
    pub fn config<'a>(&self, config: &LaunchConfig<'a>) -> LaunchConfig<'a> {
        LaunchConfig {
            threads: config.threads.or(self.is_order_seen.then_some(1)),
            ..*config
        }
    }

    /// The observer of one host thread.
    pub fn tracer(&self) -> Tracer<'_> {
        Tracer::new(&self.parameters, &self.chosen)
    }

    /// Models the time from the recorded traces.
    ///
    /// # Errors
    /// If the traces are incomplete.
    pub fn timing(&self, kernel: &Kernel, tracers: Vec<Tracer<'_>>) -> Result<Timing, TimingError> {
        if self.chosen.budget.is_exceeded() {
            return Err(TimingError::TooLong {
                kernel: kernel.name().to_owned(),
                trace_bytes: self.chosen.budget.all(),
            });
        }
        let mut recorded = Recorded::of(tracers);
        let line_bytes = u64::from(self.parameters.hardware.gpu.line_bytes());
        let accessed = layout::place(&mut recorded, &kernel.memory().view(), line_bytes);
        let code = kernel.code();
        let sources = sharing::sources(
            &recorded,
            code.facts(),
            &self.placement,
            self.in_one_compute_unit,
            self.parameters.infinity_holds(accessed),
            &self.parameters,
        );
        let candidates = self.placement.candidates();
        let of_unit = |&first: &u64| self.of_unit(first, code, &recorded, &sources);
        let units: Vec<UnitTiming> =
            on_all_threads(|| candidates.par_iter().map(of_unit).collect());
        // The first of equally slow ones.
        let slowest = units.into_iter().rev().max_by_key(|unit| unit.cycles);
        let mut slowest = slowest.unwrap_or_else(|| of_unit(&0));
        let mut matrix_cycles = [0; MatrixType::ALL.len()];
        let issued = slowest.table.iter().zip(&slowest.replay.issued);
        for (index, (timed, issued)) in (slowest.first..).zip(issued) {
            if let (Some(timed), Some(instruction)) = (timed, code.instruction(index))
                && timed.unit == Executes::Matrix
            {
                matrix_cycles[MatrixType::of(instruction) as usize] += timed.busy * issued.count;
            }
        }
        Ok(Timing::new(
            kernel,
            &self.parameters,
            report::Modelled {
                placement: self.placement,
                waves_per_simd: self.waves_per_simd,
                cycles: slowest.cycles,
                first: slowest.first,
                timeline: slowest.replay.timeline.take(),
                replay: &slowest.replay,
                matrix_cycles,
            },
        ))
    }

    /// Replays the compute unit whose first workgroup is `first_workgroup`.
    fn of_unit(
        &self,
        first_workgroup: u64,
        code: &Code,
        recorded: &Recorded,
        sources: &Sources,
    ) -> UnitTiming {
        let chosen = Replayed::new(&self.placement, first_workgroup, sources);
        let replayed: Vec<_> = self
            .placement
            .on_unit_of(chosen.first, BATCHES * self.placement.resident)
            .filter_map(|number| recorded.whole(number))
            .collect();
        let blocks = || {
            let waves = replayed.iter().flat_map(|workgroup| &workgroup.waves);
            waves.flat_map(|wave| wave.blocks.iter())
        };
        let first = blocks().map(|(first, _)| *first).min().unwrap_or(0);
        let end = blocks().map(|(_, end)| *end).max().unwrap_or(0);
        let table = Timed::table(code, first..end, &self.parameters);
        let instructions = Table::new(first, &table);
        let mut is_run = vec![false; table.len()];
        for (first, end) in blocks() {
            is_run[instructions.slot(*first)..instructions.slot(*end)].fill(true);
        }
        let code_bytes = table
            .iter()
            .zip(&is_run)
            .filter(|(_, is_run)| **is_run)
            .filter_map(|(timed, _)| timed.as_ref())
            .map(|timed| timed.size)
            .sum();
        let memory = Memory::new(&self.parameters, &chosen, sources.shares.clone());
        let mut unit =
            ComputeUnit::new(&self.parameters, instructions, recorded, memory, code_bytes);
        if self.in_one_compute_unit {
            unit = unit.with_workgroups_apart();
        }
        if self.has_timeline {
            unit = unit.with_timeline();
        }
        let replay = unit.run(&replayed, self.placement.resident as usize);
        let cycles = self.cycles(self.placement.count_on_unit_of(chosen.first), &replay);
        UnitTiming {
            cycles,
            first,
            table,
            replay,
        }
    }

    /// Cycles of the whole grid: those of the replay, plus those of the same compute unit's workgroups that were not
    /// replayed. Their pace is that of issued instructions while the unit was full: from the end of the first batch,
    /// when caches are warm, to the start of the last workgroup. It is at most that of the busiest queue: workgroups do not
    /// wait for their stores, which may pile up in it.
    fn cycles(&self, of_unit: u64, replay: &Replay) -> u64 {
        let ended = &replay.ended;
        let Some(&last) = ended.last() else {
            return 0;
        };
        let end = last.at.max(replay.stored_at);
        let count = ended.len();
        let left = of_unit - count as u64;
        if left == 0 {
            return end;
        }
        // All batches were replayed, so the last workgroup started after the end of the first batch.
        let resident = self.placement.resident as usize;
        let starts = count.saturating_sub(resident + 1);
        let (Some(first), Some(full_until)) = (ended.get(resident - 1), ended.get(starts)) else {
            return end;
        };
        let issued = full_until.issued.saturating_sub(first.issued).max(1);
        let pace = full_until.at.saturating_sub(first.at) as f64 / issued as f64;
        let each = last.issued as f64 / count as f64;
        let Traffic {
            l2_busy,
            infinity_busy,
            memory_busy,
            ..
        } = replay.traffic;
        let busiest = l2_busy.max(infinity_busy).max(memory_busy) / count as f64;
        end + (left as f64 * busiest.max(each * pace)).round() as u64
    }
}
