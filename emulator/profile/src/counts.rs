//! The counts of an instruction.

use std::ops::AddAssign;

use serde::Serialize;

/// How often an instruction ran and what its runs did, over all waves and launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Runs, counted once per wave.
    pub executions: u64,
    /// Active lanes, summed over all runs.
    pub active_lanes: u64,
    /// Runs whose active lanes differ from those at the wave's start.
    pub divergent: u64,
    /// Runs after which the wave did not continue with the next instruction.
    pub taken: u64,
    /// Bytes of global memory that lanes read and wrote, including private memory.
    pub global_bytes: u64,
    /// The same, but each byte counts once per access, however many lanes use it.
    pub global_distinct_bytes: u64,
    /// 64-byte cache lines touched, summed over accesses.
    pub lines_64: u64,
    /// 128-byte cache lines touched, summed over accesses.
    pub lines_128: u64,
    /// Accesses of waves to global memory: one per run with an active lane; one per dword for private memory.
    pub global_accesses: u64,
    /// Bytes of LDS that lanes read and wrote.
    pub lds_bytes: u64,
    /// Accesses of waves to LDS; an instruction with two addresses makes two.
    pub lds_accesses: u64,
    /// LDS cycles due to bank conflicts.
    pub lds_conflict_cycles: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.active_lanes += other.active_lanes;
        self.divergent += other.divergent;
        self.taken += other.taken;
        self.global_bytes += other.global_bytes;
        self.global_distinct_bytes += other.global_distinct_bytes;
        self.lines_64 += other.lines_64;
        self.lines_128 += other.lines_128;
        self.global_accesses += other.global_accesses;
        self.lds_bytes += other.lds_bytes;
        self.lds_accesses += other.lds_accesses;
        self.lds_conflict_cycles += other.lds_conflict_cycles;
    }
}
