//! The causes of waiting.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize};

/// The cause for which a wave's next instruction waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stall {
    /// Its SIMD issued another wave's instruction of this kind, or the vector unit was busy or its queue full.
    Issue,
    /// The result of a vector or scalar instruction.
    Dependency,
    /// The result of a matrix instruction.
    MatrixDependency,
    /// The matrix core was busy.
    MatrixBusy,
    /// `s_waitcnt` for vector memory.
    VectorMemory,
    /// `s_waitcnt` for LDS.
    Lds,
    /// `s_waitcnt` for scalar memory.
    ScalarMemory,
    /// Other waves of the workgroup were not at the barrier.
    Barrier,
    /// A branch, or an instruction that was not in the instruction cache.
    Fetch,
    /// `s_nop` or `s_sleep`.
    Pause,
    /// The queue before L1 was full.
    MemoryQueue,
    /// The queue before LDS was full.
    LdsQueue,
}

impl Stall {
    /// All causes, in the order of reports.
    pub const ALL: [Stall; 12] = [
        Stall::Issue,
        Stall::Dependency,
        Stall::MatrixDependency,
        Stall::MatrixBusy,
        Stall::VectorMemory,
        Stall::Lds,
        Stall::ScalarMemory,
        Stall::Barrier,
        Stall::Fetch,
        Stall::Pause,
        Stall::MemoryQueue,
        Stall::LdsQueue,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Stall::Issue => "issue",
            Stall::Dependency => "dependency",
            Stall::MatrixDependency => "matrix dependency",
            Stall::MatrixBusy => "matrix core busy",
            Stall::VectorMemory => "wait for vector memory",
            Stall::Lds => "wait for LDS",
            Stall::ScalarMemory => "wait for scalar memory",
            Stall::Barrier => "barrier",
            Stall::Fetch => "instruction fetch",
            Stall::Pause => "pause",
            Stall::MemoryQueue => "memory queue full",
            Stall::LdsQueue => "LDS queue full",
        }
    }
}

/// Cycles that waves waited, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls([u64; Stall::ALL.len()]);

impl Stalls {
    /// The cycles of one cause.
    pub const fn of(&self, stall: Stall) -> u64 {
        self.0[stall as usize]
    }

    /// The cycles of all causes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The causes with nonzero cycles, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Stall, u64)> {
        let all = Stall::ALL.into_iter().map(|stall| (stall, self.of(stall)));
        all.filter(|(_, cycles)| *cycles > 0)
    }

    /// The cause with the most cycles.
    pub fn most(&self) -> Option<Stall> {
        let most = self.iter().max_by_key(|(_, cycles)| *cycles);
        most.map(|(stall, _)| stall)
    }

    /// Adds the cycles of `others`.
    pub fn add_all(&mut self, others: &Stalls) {
        for (sum, cycles) in self.0.iter_mut().zip(others.0) {
            *sum += cycles;
        }
    }

    pub(super) const fn add(&mut self, stall: Stall, cycles: u64) {
        self.0[stall as usize] += cycles;
    }
}

impl Serialize for Stalls {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Stalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut stalls = Stalls::default();
        let by_cause: HashMap<Stall, u64> = HashMap::deserialize(deserializer)?;
        for (stall, cycles) in by_cause {
            stalls.add(stall, cycles);
        }
        Ok(stalls)
    }
}
