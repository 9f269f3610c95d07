//! What is counted of each instruction.

use std::ops::AddAssign;

use serde::Serialize;

/// How often an instruction ran and what its runs did, over all waves of all launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Runs, counted once a wave.
    pub executions: u64,
    /// Lanes that were active, over all runs.
    pub active_lanes: u64,
    /// Runs with other lanes than the wave began with.
    pub divergent: u64,
    /// Runs after which the wave went on elsewhere than behind the instruction.
    pub taken: u64,
    /// Bytes that the lanes asked of global memory, private memory included: read and written.
    pub global_bytes: u64,
    /// The same, but each byte once an access, however many lanes ask for it.
    pub global_distinct_bytes: u64,
    /// Cache lines of 64 bytes that they touched, each access on its own.
    pub lines_64: u64,
    /// Cache lines of 128 bytes that they touched.
    pub lines_128: u64,
    /// Accesses of waves to global memory: one a run in which a lane was active, but one a dword to private memory.
    pub global_accesses: u64,
    /// Bytes that the lanes read of LDS and wrote to it.
    pub lds_bytes: u64,
    /// Accesses of waves to LDS; an instruction with two addresses makes two.
    pub lds_accesses: u64,
    /// Cycles that LDS took for bank conflicts, beyond what it would have taken without.
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
