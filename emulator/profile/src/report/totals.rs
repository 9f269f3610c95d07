//! A kernel's instructions, added up.

use serde::Serialize;

use super::Profile;
use ferrowave_emulator::exec::LANES;
use ferrowave_isa::{Category, Effect};

/// What a kernel did in all its launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Instructions, counted once a wave.
    pub wave_instructions: u64,
    /// The same by the unit that they go to, in the order of [`Category::ALL`].
    pub classes: Vec<Class>,
    /// Lanes that were active in instructions of the vector unit, of vector memory and of LDS.
    pub active_lanes: u64,
    /// Lanes that those instructions could have had.
    pub lanes: u64,
    /// Those instructions that ran with other lanes than their wave began with.
    pub divergent: u64,
    /// Branches.
    pub branches: u64,
    /// Branches after which the wave went on elsewhere.
    pub branches_taken: u64,
    /// `s_barrier`, counted once a wave.
    pub barriers: u64,
    /// `s_waitcnt`, counted once a wave.
    pub waits: u64,
    /// Floating-point operations on the vector unit.
    pub flops: u64,
    /// Integer operations of dot products on the vector unit.
    pub integer_operations: u64,
    /// Floating-point operations on matrix cores.
    pub matrix_flops: u64,
    /// Integer operations on matrix cores.
    pub matrix_integer_operations: u64,
    /// Bytes that lanes asked of global memory to read.
    pub global_read_bytes: u64,
    /// Bytes that lanes wrote to global memory, atomically or not.
    pub global_written_bytes: u64,
    /// Bytes of global memory that lanes asked for or wrote, each once an access.
    pub global_distinct_bytes: u64,
    /// Accesses of waves to global memory.
    pub global_accesses: u64,
    /// Cache lines of 64 bytes that those touched.
    pub lines_64: u64,
    /// Cache lines of 128 bytes that they touched.
    pub lines_128: u64,
    /// Bytes of a line of the GPU's vector L1 cache.
    pub line_bytes: u32,
    /// The share of the bytes of those lines that lanes ask for, each byte once an access: 1 where the lanes of each
    /// access take whole lines.
    pub coalescing_efficiency: Option<f64>,
    /// Bytes of the scalar unit's accesses.
    pub scalar_bytes: u64,
    /// Bytes that lanes read of LDS or wrote to it.
    pub lds_bytes: u64,
    /// Accesses of waves to LDS.
    pub lds_accesses: u64,
    /// Cycles that LDS took for bank conflicts.
    pub lds_conflict_cycles: u64,
    /// Operations of all kinds for each byte that lanes asked of global memory.
    pub operations_per_global_byte: Option<f64>,
}

/// The instructions of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Class {
    /// Its name.
    pub name: &'static str,
    /// Instructions, counted once a wave.
    pub wave_instructions: u64,
}

impl Totals {
    pub(super) fn of(profile: &Profile) -> Self {
        let mut totals = Totals {
            line_bytes: profile.gpu.line_bytes(),
            ..Totals::default()
        };
        let mut classes = [0; Category::ALL.len()];
        for instruction in &profile.instructions {
            let counts = &instruction.counts;
            totals.wave_instructions += counts.executions;
            classes[instruction.category as usize] += counts.executions;
            if instruction.has_lanes() {
                totals.active_lanes += counts.active_lanes;
                totals.lanes += LANES as u64 * counts.executions;
                totals.divergent += counts.divergent;
            }
            match instruction.category {
                Category::Branch => {
                    totals.branches += counts.executions;
                    totals.branches_taken += counts.taken;
                }
                Category::Barrier => totals.barriers += counts.executions,
                Category::Wait => totals.waits += counts.executions,
                _ => {}
            }
            totals.flops += instruction.flops;
            totals.integer_operations += instruction.integer_operations;
            totals.matrix_flops += instruction.matrix_flops;
            totals.matrix_integer_operations += instruction.matrix_integer_operations;
            totals.lds_bytes += counts.lds_bytes;
            totals.lds_accesses += counts.lds_accesses;
            totals.lds_conflict_cycles += counts.lds_conflict_cycles;
            match (instruction.category, instruction.effect) {
                (Category::ScalarMemory, _) => {
                    totals.scalar_bytes += counts.global_bytes;
                    continue;
                }
                (_, Effect::Store | Effect::Atomic) => {
                    totals.global_written_bytes += counts.global_bytes;
                }
                (_, Effect::Load | Effect::None) => totals.global_read_bytes += counts.global_bytes,
            }
            totals.global_distinct_bytes += counts.global_distinct_bytes;
            totals.global_accesses += counts.global_accesses;
            totals.lines_64 += counts.lines_64;
            totals.lines_128 += counts.lines_128;
        }
        totals.classes = Category::ALL
            .iter()
            .map(|category| Class {
                name: category.name(),
                wave_instructions: classes[*category as usize],
            })
            .collect();
        let bytes = totals.global_bytes();
        let fetched = totals.lines() * u64::from(totals.line_bytes);
        totals.coalescing_efficiency = ratio(totals.global_distinct_bytes, fetched);
        totals.operations_per_global_byte = ratio(totals.operations(), bytes);
        totals
    }

    /// Bytes that lanes asked of global memory.
    pub const fn global_bytes(&self) -> u64 {
        self.global_read_bytes + self.global_written_bytes
    }

    /// Lines of the GPU's vector L1 cache that accesses touched.
    pub const fn lines(&self) -> u64 {
        if self.line_bytes == 64 {
            self.lines_64
        } else {
            self.lines_128
        }
    }

    /// Operations of all kinds.
    pub const fn operations(&self) -> u64 {
        self.flops + self.integer_operations + self.matrix_flops + self.matrix_integer_operations
    }
}

/// The share of something; none of nothing.
pub(super) fn ratio(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}
