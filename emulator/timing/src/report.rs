//! The result of the model, and its output as text and JSON.

use std::{collections::HashMap, fmt::Write as _, sync::Arc};

use ferrowave_gpu::{Gpu, Product};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::{
    accuracy::{Class, ClassError},
    bound::{Bound, Unit},
    clock::{MatrixType, SustainedClock},
    compute_unit::Replay,
    parameter_file::Changed,
    parameters::Parameters,
    placement::Placement,
    stall::{Stall, Stalls},
    symbolized::{InstructionTiming, Instructions},
    timeline::{IssuedInstruction, Timeline},
};
use ferrowave_emulator::program::Kernel;

/// Serializes a machine by its name.
fn by_name<S: Serializer>(machine: &Product, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(machine)
}

/// The version of the JSON format. It increases when something is removed or changes its meaning.
pub const JSON_VERSION: u32 = 1;

/// The note beside every time from this model.
pub const MODELLED: &str = "modelled by Ferrowave, not measured on a GPU";

/// The busy share of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// The unit.
    pub unit: Unit,
    /// The share of the replayed cycles in which it is busy, from 0 to 1.
    pub share: f64,
}

/// The modelled time of a launch.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// States that the numbers are not measured: [`MODELLED`].
    pub modelled: &'static str,
    /// The kernel.
    pub kernel: String,
    /// Its instruction set.
    #[serde(serialize_with = "as_text")]
    pub gpu: Gpu,
    /// [`Kernel::identity`] of the kernel.
    #[serde(skip)]
    pub identity: u64,
    /// The machine.
    #[serde(serialize_with = "by_name")]
    pub machine: Product,
    /// The parameters whose values are not those of [`Parameters::of`] the machine, as a file may set them.
    pub changed_parameters: Vec<Changed>,
    /// The machine's highest clock in Hz.
    pub clock_hz: f64,
    /// Cycles from the start of the first workgroup to the end of the last one.
    pub cycles: u64,
    /// The same time in seconds, at the highest clock.
    pub seconds: f64,
    /// The clock that the power allows, and the time at it.
    pub sustained: SustainedClock,
    /// How far the modelled times of published kernels with the same bound are from the published ones.
    pub error: Option<ClassError>,
    /// Workgroups in the grid.
    pub workgroups: u64,
    /// Workgroups on the fullest compute unit.
    pub workgroups_of_unit: u64,
    /// Those of them that were replayed cycle by cycle.
    pub workgroups_modelled: u64,
    /// Cycles that the replay took.
    pub cycles_modelled: u64,
    /// Maximum waves on the fullest SIMD.
    pub waves_per_simd: u32,
    /// What bounds the kernel.
    pub bound_by: Bound,
    /// The busy shares of the units.
    pub usage: Vec<Usage>,
    /// The share of lines requested from L1 that hit.
    pub l1_hit_rate: Option<f64>,
    /// Bytes that the replayed workgroups requested from L2.
    pub l2_bytes: u64,
    /// Bytes that they requested from the Infinity Cache.
    pub infinity_bytes: u64,
    /// Bytes that they requested from memory.
    pub memory_bytes: u64,
    /// Resident cycles, summed over all replayed waves.
    pub wave_cycles: u64,
    /// The waiting cycles among these, by cause.
    pub stalls: Stalls,
    /// The executed instructions, in the order of the code.
    pub instructions: Instructions,
    /// What the replayed waves did, if recorded. Shared, because it may be large.
    #[serde(skip)]
    pub(super) timeline: Option<Arc<Timeline>>,
}

/// The parts of a [`Timing`].
pub(super) struct Modelled<'a> {
    pub(super) placement: Placement,
    pub(super) waves_per_simd: u32,
    pub(super) cycles: u64,
    /// The index in the code of the first replayed instruction.
    pub(super) first: u32,
    pub(super) replay: &'a Replay,
    /// Cycles of the matrix cores, by [`MatrixType::ALL`].
    pub(super) matrix_cycles: [u64; MatrixType::ALL.len()],
    pub(super) timeline: Option<Timeline>,
}

impl Timing {
    pub(super) fn new(kernel: &Kernel, parameters: &Parameters, modelled: Modelled<'_>) -> Self {
        let replay = modelled.replay;
        let ended_at = replay.ended.last().map_or(0, |end| end.at);
        let cycles_modelled = ended_at.max(replay.stored_at);
        let mut stalls = Stalls::default();
        for issued in &replay.issued {
            for (stall, cycles) in issued.stalls.iter() {
                stalls.add(stall, cycles);
            }
        }
        let simds = parameters.simds() as f64;
        let usage = usage(replay, cycles_modelled, simds);
        let bound_by = bound(&usage, &stalls);
        let of_simds = simds * cycles_modelled.max(1) as f64;
        // Power is that of all compute units, of which others have fewer workgroups.
        let placement = &modelled.placement;
        let units = placement.units() * placement.xcds();
        let places = (placement.of_fullest() * units).max(1);
        let filled = placement.workgroups as f64 / places as f64;
        let share = |cycles: u64| filled * cycles as f64 / of_simds;
        let shares = modelled.matrix_cycles.map(share);
        let traffic = &replay.traffic;
        Timing {
            modelled: MODELLED,
            kernel: kernel.name().to_owned(),
            gpu: kernel.gpu(),
            identity: kernel.identity(),
            machine: parameters.machine,
            changed_parameters: parameters.changed(),
            clock_hz: parameters.hardware.clock_hz(),
            cycles: modelled.cycles,
            seconds: modelled.cycles as f64 / parameters.hardware.clock_hz(),
            workgroups: modelled.placement.workgroups,
            workgroups_of_unit: modelled.placement.of_fullest(),
            workgroups_modelled: replay.ended.len() as u64,
            cycles_modelled,
            waves_per_simd: modelled.waves_per_simd,
            sustained: SustainedClock::of(parameters.machine, &shares, modelled.cycles),
            error: Class::of(bound_by).map(|class| class.error(kernel.gpu().family())),
            bound_by,
            usage,
            l1_hit_rate: (traffic.l1_lines > 0)
                .then(|| traffic.l1_hits as f64 / traffic.l1_lines as f64),
            l2_bytes: traffic.l2_bytes,
            infinity_bytes: traffic.infinity_bytes,
            memory_bytes: traffic.memory_bytes,
            wave_cycles: replay.wave_cycles,
            stalls,
            instructions: Instructions::new(kernel, modelled.first, replay.issued.clone()),
            timeline: modelled.timeline.map(Arc::new),
        }
    }

    /// The instructions that the replayed waves issued, in order of time. Empty if the timeline was not recorded
    /// ([`Plan::with_timeline`](crate::Plan::with_timeline)), and only the first [`MOST_TIMELINE_INSTRUCTIONS`](crate::MOST_TIMELINE_INSTRUCTIONS).
    pub fn issued(&self) -> Vec<IssuedInstruction> {
        let Some(timeline) = &self.timeline else {
            return Vec::new();
        };
        let names = self.instructions.names();
        let mut offsets = HashMap::new();
        let issues = timeline.issues.iter();
        issues
            .filter_map(|issue| {
                let offset = offsets
                    .entry(issue.index)
                    .or_insert_with(|| Some(names.place(issue.index)?.offset));
                Some(IssuedInstruction {
                    wave: issue.lane,
                    simd: timeline.lanes.get(issue.lane)?.simd,
                    offset: (*offset)?,
                    cycle: issue.at,
                })
            })
            .collect()
    }

    /// The busy share of a unit, from 0 to 1.
    pub fn share(&self, unit: Unit) -> f64 {
        let usage = self.usage.iter().find(|usage| usage.unit == unit);
        usage.map_or(0.0, |usage| usage.share)
    }
}

fn usage(replay: &Replay, cycles: u64, simds: f64) -> Vec<Usage> {
    let share = |busy: f64| match cycles {
        0 => 0.0,
        cycles => (busy / cycles as f64).min(1.0),
    };
    let traffic = &replay.traffic;
    Unit::ALL
        .into_iter()
        .map(|unit| Usage {
            unit,
            share: share(match unit {
                Unit::Vector => replay.vector_busy as f64 / simds,
                Unit::Matrix => replay.matrix_busy as f64 / simds,
                Unit::Scalar => replay.scalar_busy as f64,
                Unit::Lds => replay.lds_busy as f64,
                Unit::L1 => traffic.l1_busy,
                Unit::L2 => traffic.l2_busy,
                Unit::InfinityCache => traffic.infinity_busy,
                Unit::Memory => traffic.memory_busy,
            }),
        })
        .collect()
}

fn bound(usage: &[Usage], stalls: &Stalls) -> Bound {
    let busiest = usage
        .iter()
        .max_by(|a, b| a.share.total_cmp(&b.share))
        .filter(|usage| usage.share >= Bound::BUSY);
    match (busiest, stalls.most()) {
        (Some(usage), _) => Bound::Unit(usage.unit),
        (None, Some(stall)) => Bound::Latency(stall),
        (None, None) => Bound::Nothing,
    }
}

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The time, the bound, the stalls, and the instructions that waited longest.
    Summary,
    /// The summary and all instructions.
    Listing,
    /// JSON of [`JSON_VERSION`].
    Json,
}

/// The number of instructions in a summary.
const WORST: usize = 8;

impl Format {
    /// Writes timings.
    pub fn write(self, timings: &[Timing]) -> String {
        if self == Format::Json {
            let value = json!({ "version": JSON_VERSION, "timings": timings });
            return format!("{value:#}\n");
        }
        let mut text = String::new();
        for (index, timing) in timings.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            summary(timing, self == Format::Listing, &mut text);
        }
        text
    }
}

/// A time with a suitable unit.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", 1e3 * s),
        s => format!("{:.3} µs", 1e6 * s),
    }
}

fn summary(timing: &Timing, with_listing: bool, text: &mut String) {
    let mut line = |line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(&format!(
        "{} on {} ({}), {MODELLED}",
        timing.kernel, timing.machine, timing.gpu
    ));
    line(&format!(
        "  modelled cycles   {}; matrix cores work in {:.1} % of them",
        timing.cycles,
        100.0 * timing.share(Unit::Matrix)
    ));
    line(&format!(
        "  modelled time     {} at the highest clock, {:.3} GHz",
        duration(timing.seconds),
        timing.clock_hz / 1e9
    ));
    let note = timing.sustained.note();
    line(&match timing.sustained.seconds() {
        Some(seconds) => format!(
            "                    {} at the sustained clock, {note}",
            duration(seconds)
        ),
        None => format!("                    the sustained clock is unknown: {note}"),
    });
    if !timing.changed_parameters.is_empty() {
        let changed = timing.changed_parameters.iter().map(Changed::to_string);
        let changed: Vec<_> = changed.collect();
        line(&format!("  parameters        {}", changed.join(", ")));
    }
    line(&format!("  bound by          {}", timing.bound_by.text()));
    if let Some(error) = &timing.error {
        line(&format!("  error             {}", error.text()));
    }
    line(&format!(
        "  workgroups        {}; {} of {} of one compute unit replayed, {} waves per SIMD",
        timing.workgroups,
        timing.workgroups_modelled,
        timing.workgroups_of_unit,
        timing.waves_per_simd
    ));
    line("  units, share of the time in which they work");
    for usage in timing.usage.iter().filter(|usage| usage.share >= 0.0005) {
        let mut row = String::new();
        let (name, share) = (usage.unit.name(), 100.0 * usage.share);
        // Writing to a string cannot fail.
        let _ = write!(row, "    {name:22} {share:5.1} %");
        line(&row);
    }
    if let Some(rate) = timing.l1_hit_rate {
        line(&format!("    {:22} {:5.1} %", "hits in L1", 100.0 * rate));
    }
    line("  cycles of waves");
    let all = timing.wave_cycles.max(1) as f64;
    let percent = |cycles: u64| 100.0 * cycles as f64 / all;
    let issuing = timing.wave_cycles.saturating_sub(timing.stalls.total());
    line(&format!("    {:22} {:5.1} %", "issuing", percent(issuing)));
    for (stall, cycles) in timing.stalls.iter() {
        line(&format!(
            "    {:22} {:5.1} %",
            stall.name(),
            percent(cycles)
        ));
    }
    let mut shown: Vec<&InstructionTiming> = timing.instructions.iter().collect();
    if !with_listing {
        shown.sort_by_key(|instruction| std::cmp::Reverse(instruction.stalls.total()));
        shown.truncate(WORST);
        line("  instructions that waited longest");
    }
    line("       share     issued     waited  offset  instruction");
    for instruction in shown {
        let waited = instruction.stalls.total();
        let cause = instruction.stalls.most().map_or("", Stall::name);
        let words: Vec<_> = instruction.place.text.split_whitespace().collect();
        line(&format!(
            "    {:6.1} % {:>10} {:>10}  {:>6x}  {}  {cause}",
            percent(waited),
            instruction.issued,
            waited,
            instruction.place.offset,
            words.join(" ")
        ));
        let source = instruction.place.own_source().into_iter().next();
        if let Some(source) = source.filter(|_| !with_listing) {
            line(&format!("{:47}{}:{}", "", source.file, source.line));
        }
    }
}

fn as_text<S: Serializer>(gpu: &Gpu, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(gpu)
}
