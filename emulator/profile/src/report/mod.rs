//! Profiles: counts with the names of instructions and source lines, and their output.

mod html;
mod lines;
mod summary;
mod text;
mod timed;
mod totals;

use std::collections::HashMap;

use ferrowave_gpu::{Gpu, GpuLimits, Occupancy};
use serde::{Serialize, Serializer};
use serde_json::json;

pub use lines::Sources;
use totals::ratio;
pub use totals::{Class, Totals};

use super::{Counted, Counts, flops::Work};
use ferrowave_emulator::dispatch::LaunchConfig;
use ferrowave_emulator::program::{Kernel, Names, SymbolizedInstruction};
use ferrowave_isa::{Category, Effect};
use ferrowave_timing::Timing;

/// The version of the JSON format. Version 2 adds `timings` beside `profiles`; a reader of version 1 that ignores
/// unknown keys can read it.
pub const JSON_VERSION: u32 = 2;

/// The sums over a kernel's launches.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The kernel's name.
    pub kernel: String,
    /// The kernel's instruction set.
    #[serde(serialize_with = "as_text")]
    pub gpu: Gpu,
    /// The lanes of the kernel's waves.
    pub wave_size: u32,
    /// The number of launches.
    pub launches: u64,
    /// Workgroups of all launches.
    pub workgroups: u64,
    /// Waves of all launches.
    pub waves: u64,
    /// The resources and occupancy of the last launch; `None` before the first.
    pub occupied: Option<Occupied>,
    /// The kernel's instructions in the order of the code, then those of functions that it called.
    pub instructions: Vec<InstructionProfile>,
    #[serde(skip)]
    identity: u64,
    /// The position in `instructions` by index in the code.
    #[serde(skip)]
    places: HashMap<u32, usize>,
}

/// The counts of one instruction.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionProfile {
    /// Its text and source.
    #[serde(flatten)]
    pub place: SymbolizedInstruction,
    /// The unit that executes it.
    #[serde(serialize_with = "as_name")]
    pub category: Category,
    /// The counts.
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

/// The resources that a kernel uses on a compute unit, and the resulting occupancy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Occupied {
    /// Work-items in a workgroup.
    pub workgroup_size: u32,
    /// Vector registers; from gfx90a on, including accumulation registers.
    pub vgprs: u32,
    /// Accumulation registers.
    pub agprs: u32,
    /// Scalar registers, including VCC and the other extra SGPRs.
    pub sgprs: u32,
    /// LDS of a workgroup in bytes, static and dynamic.
    pub lds_bytes: u32,
    /// Waves that the fullest SIMD holds at once.
    pub waves_per_simd: u32,
    /// Workgroups that a compute unit holds at once.
    pub workgroups_per_compute_unit: u32,
    /// The resources that would have to be larger for another workgroup to fit.
    pub limited_by: Vec<String>,
}

impl Occupied {
    pub(super) fn of(kernel: &Kernel, config: &LaunchConfig<'_>) -> Self {
        let description = kernel.description();
        // A launch that started has a valid workgroup size.
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
    /// The profile of a kernel that has not run.
    pub fn new(kernel: &Kernel) -> Self {
        let mut profile = Profile::nothing(kernel.name(), kernel.gpu());
        profile.identity = kernel.identity();
        profile.wave_size = kernel.wave_size();
        profile.describe(kernel, kernel.instructions());
        profile
    }

    fn nothing(kernel: &str, gpu: Gpu) -> Self {
        Profile {
            kernel: kernel.to_owned(),
            gpu,
            wave_size: GpuLimits::of(gpu).wave_size,
            launches: 0,
            workgroups: 0,
            waves: 0,
            occupied: None,
            instructions: Vec::new(),
            identity: 0,
            places: HashMap::new(),
        }
    }

    /// Adds instructions that are not in the profile.
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

    /// Adds the counts of a launch of the same kernel.
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

    /// [`Kernel::identity`] of the kernel.
    pub const fn identity(&self) -> u64 {
        self.identity
    }

    /// The sums over all instructions.
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

    /// Its text, with single spaces.
    fn text(&self) -> String {
        let parts: Vec<_> = self.place.text.split_whitespace().collect();
        parts.join(" ")
    }

    /// Operations of all kinds.
    const fn operations(&self) -> u64 {
        self.flops + self.integer_operations + self.matrix_flops + self.matrix_integer_operations
    }

    /// Active lanes per run on average; `None` if lanes do not matter or it did not run.
    fn lanes_per_run(&self) -> Option<f64> {
        let lanes = ratio(self.counts.active_lanes, self.counts.executions);
        lanes.filter(|_| self.has_lanes())
    }

    /// Lines of the GPU's vector L1 cache per access, on average.
    fn lines_per_access(&self, gpu: Gpu) -> Option<f64> {
        let lines = match gpu.line_bytes() {
            64 => self.counts.lines_64,
            _ => self.counts.lines_128,
        };
        let lines = ratio(lines, self.counts.global_accesses);
        lines.filter(|_| self.category != Category::ScalarMemory)
    }

    /// LDS cycles due to bank conflicts per run, on average; `None` if it does not access LDS.
    fn conflicts_per_run(&self) -> Option<f64> {
        let cycles = ratio(self.counts.lds_conflict_cycles, self.counts.executions);
        cycles.filter(|_| self.counts.lds_accesses > 0)
    }

    /// Whether active lanes matter.
    fn has_lanes(&self) -> bool {
        matches!(
            self.category,
            Category::Vector | Category::VectorMemory | Category::Lds
        )
    }
}

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The totals, and the source lines that run most.
    Summary,
    /// The summary, and all instructions with their counts.
    Listing,
    /// JSON of [`JSON_VERSION`].
    Json,
    /// One self-contained HTML page.
    Html,
}

impl Format {
    /// Writes profiles.
    pub fn write(self, profiles: &[Profile]) -> String {
        self.write_with(profiles, &[])
    }

    /// Writes profiles. JSON and HTML include the modelled times of their launches; the page shows for each instruction
    /// how often it runs and for what it waits.
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
