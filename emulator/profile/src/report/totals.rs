//! The sums over a kernel's instructions.

use serde::Serialize;

use super::Profile;
use ferrowave_isa::{Category, Effect};

/// What a kernel did in all its launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Instructions, counted once per wave.
    pub wave_instructions: u64,
    /// Wave-instructions by category, in the order of [`Category::ALL`].
    pub classes: Vec<Class>,
    /// Active lanes in vector, vector memory and LDS instructions, summed over runs.
    pub active_lanes: u64,
    /// The possible lanes of these runs.
    pub lanes: u64,
    /// Runs of these instructions whose active lanes differ from those at the wave's start.
    pub divergent: u64,
    /// Branches.
    pub branches: u64,
    /// Branches after which the wave did not continue with the next instruction.
    pub branches_taken: u64,
    /// `s_barrier`, counted once per wave.
    pub barriers: u64,
    /// `s_waitcnt`, counted once per wave.
    pub waits: u64,
    /// Floating-point operations on the vector unit.
    pub flops: u64,
    /// Integer operations of dot products on the vector unit.
    pub integer_operations: u64,
    /// Floating-point operations on matrix cores.
    pub matrix_flops: u64,
    /// Integer operations on matrix cores.
    pub matrix_integer_operations: u64,
    /// Bytes that lanes read from global memory.
    pub global_read_bytes: u64,
    /// Bytes that lanes wrote to global memory, atomically or not.
    pub global_written_bytes: u64,
    /// Bytes of global memory that lanes read or wrote; each byte counts once per access.
    pub global_distinct_bytes: u64,
    /// Accesses of waves to global memory.
    pub global_accesses: u64,
    /// 64-byte cache lines touched, summed over accesses.
    pub lines_64: u64,
    /// 128-byte cache lines touched, summed over accesses.
    pub lines_128: u64,
    /// The line size in bytes of the GPU's vector L1 cache.
    pub line_bytes: u32,
    /// The share of the touched lines' bytes that lanes use, each byte counted once per access: 1 if every access uses
    /// whole lines.
    pub coalescing_efficiency: Option<f64>,
    /// Bytes accessed by scalar memory instructions.
    pub scalar_bytes: u64,
    /// Bytes of LDS that lanes read or wrote.
    pub lds_bytes: u64,
    /// Accesses of waves to LDS.
    pub lds_accesses: u64,
    /// LDS cycles due to bank conflicts.
    pub lds_conflict_cycles: u64,
    /// Operations of all kinds per byte that lanes read from or wrote to global memory.
    pub operations_per_global_byte: Option<f64>,
}

/// The instructions of one category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Class {
    /// Its name.
    pub name: &'static str,
    /// Instructions, counted once per wave.
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
                totals.lanes += u64::from(profile.wave_size) * counts.executions;
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

    /// Bytes of global memory that lanes read or wrote.
    pub const fn global_bytes(&self) -> u64 {
        self.global_read_bytes + self.global_written_bytes
    }

    /// Touched lines of the GPU's vector L1 cache.
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

/// `part / all`; `None` if `all` is 0.
pub(super) fn ratio(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}
