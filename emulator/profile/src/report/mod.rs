//! Profiles: counts with the names of what was counted, for people and programs.

mod html;
mod lines;
mod summary;
mod text;
mod timed;
mod totals;

use std::collections::HashMap;

use ferrowave_gpu::{Gpu, Occupancy};
use serde::{Serialize, Serializer};
use serde_json::json;

pub use lines::Sources;
use totals::ratio;
pub use totals::{Class, Totals};

use super::{Counted, Counts, flops::Work};
use ferrowave_emulator::dispatch::LaunchConfig;
use ferrowave_emulator::program::{Kernel, Names, Place};
use ferrowave_isa::{Category, Effect};
use ferrowave_timing::Timing;

/// The version of the JSON's shape. 2 has `timings` beside `profiles`; who reads 1 and skips what it does not know finds
/// everything else where it was.
pub const JSON_VERSION: u32 = 2;

/// A kernel's launches, added up.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The kernel's name.
    pub kernel: String,
    /// The GPU that it is for.
    #[serde(serialize_with = "as_text")]
    pub gpu: Gpu,
    /// Launches.
    pub launches: u64,
    /// Workgroups of all launches.
    pub workgroups: u64,
    /// Waves of all launches.
    pub waves: u64,
    /// What the last launch took of a compute unit; nothing before the first.
    pub occupied: Option<Occupied>,
    /// The kernel's instructions in the order of the code, then those of functions that it called.
    pub instructions: Vec<InstructionProfile>,
    #[serde(skip)]
    identity: u64,
    /// Where the instruction with an index in the code stands.
    #[serde(skip)]
    places: HashMap<u32, usize>,
}

/// One instruction of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionProfile {
    /// Its text and where it comes from.
    #[serde(flatten)]
    pub place: Place,
    /// The unit that it goes to.
    #[serde(serialize_with = "as_name")]
    pub category: Category,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Floating-point operations of its active lanes on the vector unit.
    pub flops: u64,
    /// Integer operations of its active lanes, in dot products.
    pub integer_operations: u64,
    /// Floating-point operations on matrix cores.
    pub matrix_flops: u64,
    /// Integer operations on matrix cores.
    pub matrix_integer_operations: u64,
    #[serde(skip)]
    work: Work,
    #[serde(skip)]
    effect: Effect,
}

/// What a kernel takes of a compute unit, and how many waves that leaves room for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Occupied {
    /// Work-items of a workgroup.
    pub workgroup_size: u32,
    /// Vector registers, from gfx90a on with accumulation registers.
    pub vgprs: u32,
    /// Accumulation registers.
    pub agprs: u32,
    /// Scalar registers, with VCC and the like.
    pub sgprs: u32,
    /// LDS of a workgroup in bytes, with what the launch added.
    pub lds_bytes: u32,
    /// Waves that the fullest SIMD holds at once.
    pub waves_per_simd: u32,
    /// Workgroups that a compute unit holds at once.
    pub workgroups_per_compute_unit: u32,
    /// What there would have to be more of for another workgroup.
    pub limited_by: Vec<String>,
}

impl Occupied {
    pub(super) fn of(kernel: &Kernel, config: &LaunchConfig<'_>) -> Self {
        let description = kernel.description();
        // A launch that began has no more work-items in a workgroup than a GPU takes.
        let workgroup_size = config.block.iter().product();
        let resources = description.resources(workgroup_size, config.dynamic_lds_bytes);
        let occupancy = Occupancy::of(kernel.gpu(), resources);
        Occupied {
            workgroup_size,
            vgprs: description.metadata.vgpr_count,
            agprs: description.metadata.agpr_count.unwrap_or(0),
            sgprs: description.metadata.sgpr_count,
            lds_bytes: resources.lds_bytes,
            waves_per_simd: occupancy.waves_per_simd,
            workgroups_per_compute_unit: occupancy.workgroups_per_compute_unit,
            limited_by: occupancy.limiters(),
        }
    }
}

impl Profile {
    /// Of a kernel that has not run.
    pub fn new(kernel: &Kernel) -> Self {
        let mut profile = Profile::nothing(kernel.name(), kernel.gpu());
        profile.identity = kernel.identity();
        profile.describe(kernel, kernel.instructions());
        profile
    }

    fn nothing(kernel: &str, gpu: Gpu) -> Self {
        Profile {
            kernel: kernel.to_owned(),
            gpu,
            launches: 0,
            workgroups: 0,
            waves: 0,
            occupied: None,
            instructions: Vec::new(),
            identity: 0,
            places: HashMap::new(),
        }
    }

    /// Names instructions that are not there yet.
    fn describe(&mut self, kernel: &Kernel, indices: impl IntoIterator<Item = u32>) {
        let names = Names::new(kernel);
        for index in indices {
            let (Some(place), Some(instruction)) =
                (names.place(index), kernel.code().instruction(index))
            else {
                continue;
            };
            self.places.insert(index, self.instructions.len());
            self.instructions.push(InstructionProfile {
                place,
                category: instruction.category(),
                counts: Counts::default(),
                flops: 0,
                integer_operations: 0,
                matrix_flops: 0,
                matrix_integer_operations: 0,
                work: Work::of(instruction),
                effect: instruction.effect(),
            });
        }
    }

    /// Adds a launch of the same kernel.
    pub fn add(&mut self, kernel: &Kernel, counted: &Counted) {
        let called: Vec<u32> = counted
            .counts
            .iter()
            .map(|(index, _)| *index)
            .filter(|index| !self.places.contains_key(index))
            .collect();
        if !called.is_empty() {
            self.describe(kernel, called);
        }
        for (index, counts) in &counted.counts {
            let place = self.places.get(index);
            if let Some(instruction) = place.and_then(|&place| self.instructions.get_mut(place)) {
                instruction.add(*counts);
            }
        }
        self.launches += 1;
        self.workgroups += counted.workgroups;
        self.waves += counted.waves;
        self.occupied = Some(counted.occupied.clone());
    }

    /// What [`Kernel::identity`] says of its kernel.
    pub const fn identity(&self) -> u64 {
        self.identity
    }

    /// All instructions together.
    pub fn totals(&self) -> Totals {
        Totals::of(self)
    }

    /// Whether the code object has line tables for the kernel.
    pub fn has_lines(&self) -> bool {
        let mut instructions = self.instructions.iter();
        instructions.any(|instruction| !instruction.place.source.is_empty())
    }
}

impl InstructionProfile {
    fn add(&mut self, counts: Counts) {
        self.counts += counts;
        self.flops += self.work.lane_flops * counts.active_lanes;
        self.integer_operations += self.work.lane_integer_operations * counts.active_lanes;
        self.matrix_flops += self.work.matrix_flops * counts.executions;
        self.matrix_integer_operations += self.work.matrix_integer_operations * counts.executions;
    }

    /// Its text, with one space between its parts.
    fn text(&self) -> String {
        let parts: Vec<_> = self.place.text.split_whitespace().collect();
        parts.join(" ")
    }

    /// Operations of all kinds.
    const fn operations(&self) -> u64 {
        self.flops + self.integer_operations + self.matrix_flops + self.matrix_integer_operations
    }

    /// Active lanes, on average, where it matters and it ran.
    fn lanes_per_run(&self) -> Option<f64> {
        let lanes = ratio(self.counts.active_lanes, self.counts.executions);
        lanes.filter(|_| self.has_lanes())
    }

    /// Lines of the GPU's vector L1 cache that an access of its lanes touches, on average.
    fn lines_per_access(&self, gpu: Gpu) -> Option<f64> {
        let lines = match gpu.line_bytes() {
            64 => self.counts.lines_64,
            _ => self.counts.lines_128,
        };
        let lines = ratio(lines, self.counts.global_accesses);
        lines.filter(|_| self.category != Category::ScalarMemory)
    }

    /// Cycles that LDS takes for bank conflicts in a run, on average, where it accesses LDS.
    fn conflicts_per_run(&self) -> Option<f64> {
        let cycles = ratio(self.counts.lds_conflict_cycles, self.counts.executions);
        cycles.filter(|_| self.counts.lds_accesses > 0)
    }

    /// Whether it matters which lanes are active.
    fn has_lanes(&self) -> bool {
        matches!(
            self.category,
            Category::Vector | Category::VectorMemory | Category::Lds
        )
    }
}

/// How profiles are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The sums, and the source lines that run most.
    Summary,
    /// The same and all instructions with their counts.
    Listing,
    /// JSON of [`JSON_VERSION`].
    Json,
    /// One page with nothing outside of it.
    Html,
}

impl Format {
    /// Writes profiles.
    pub fn write(self, profiles: &[Profile]) -> String {
        self.write_with(profiles, &[])
    }

    /// Writes profiles, and in JSON and on the page the modelled times of their launches: there what instructions wait for
    /// stands beside how often they run.
    pub fn write_with(self, profiles: &[Profile], timings: &[Timing]) -> String {
        match self {
            Format::Summary => text::write(profiles, false),
            Format::Listing => text::write(profiles, true),
            Format::Json => json(profiles, timings),
            Format::Html => html::write(profiles, timings),
        }
    }
}

fn json(profiles: &[Profile], timings: &[Timing]) -> String {
    #[derive(Serialize)]
    struct WithTotals<'a> {
        #[serde(flatten)]
        profile: &'a Profile,
        totals: Totals,
    }
    let profiles: Vec<_> = profiles
        .iter()
        .map(|profile| WithTotals {
            profile,
            totals: profile.totals(),
        })
        .collect();
    let value = json!({ "version": JSON_VERSION, "profiles": profiles, "timings": timings });
    format!("{value:#}\n")
}

fn as_text<S: Serializer>(gpu: &Gpu, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(gpu)
}

fn as_name<S: Serializer>(category: &Category, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(category.name())
}
