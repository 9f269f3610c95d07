//! A replayed wave: its position in the trace, and when its next instruction can issue.

use std::collections::VecDeque;

use super::{
    instruction::{Range, Timed, Unit},
    parameters::TURN,
    stall::Stall,
    trace::{Access, LdsAccess, WaveTrace},
};
use ferrowave_isa::{Counter, Register};

/// The instructions' properties, by index in the code.
#[derive(Clone, Copy)]
pub(super) struct Instructions<'a> {
    first: u32,
    table: &'a [Option<Timed>],
}

impl<'a> Instructions<'a> {
    pub(super) const fn new(first: u32, table: &'a [Option<Timed>]) -> Self {
        Instructions { first, table }
    }

    pub(super) fn get(&self, index: u32) -> Option<&'a Timed> {
        self.table.get(self.slot(index))?.as_ref()
    }

    /// The position of an instruction in the table.
    pub(super) const fn slot(&self, index: u32) -> usize {
        index.wrapping_sub(self.first) as usize
    }

    pub(super) const fn len(&self) -> usize {
        self.table.len()
    }
}

/// The state of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its next instruction waits to issue.
    Runs,
    /// It waits at a barrier.
    AtBarrier,
    /// It has ended.
    Ended,
}

/// An operation that `lgkmcnt` counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) done_at: u64,
    pub(super) is_lds: bool,
}

/// A replayed wave on its SIMD.
pub(super) struct ReplayedWave<'a> {
    trace: &'a WaveTrace,
    block: usize,
    index: u32,
    access: usize,
    lds: usize,
    pub(super) workgroup: usize,
    pub(super) simd: usize,
    /// The cycle from which the wave's own state allows the next instruction.
    pub(super) ready_at: u64,
    /// The cause of the wait until `ready_at`.
    pub(super) cause: Stall,
    /// The earliest cycle at which the next instruction could have issued.
    pub(super) free_at: u64,
    /// Why the next instruction did not issue when it was ready.
    pub(super) blocked_by: Stall,
    pub(super) priority: u8,
    pub(super) state: State,
    /// The completion cycles of vector memory operations in flight, in order.
    vm: VecDeque<u64>,
    lgkm: VecDeque<Flight>,
    /// For each register, the cycle at which it can be read, and at which a matrix instruction can use it as its sum.
    registers: Box<[(u64, u64)]>,
    /// For each register, whether a matrix instruction wrote it last.
    by_matrix: Box<[bool]>,
    /// The line of code in the wave's instruction buffer.
    pub(super) line: u64,
}

impl<'a> ReplayedWave<'a> {
    pub(super) fn new(trace: &'a WaveTrace, workgroup: usize, simd: usize, now: u64) -> Self {
        ReplayedWave {
            trace,
            block: 0,
            index: trace.blocks.first().map_or(0, |(first, _)| *first),
            access: 0,
            lds: 0,
            workgroup,
            simd,
            ready_at: now,
            cause: Stall::Fetch,
            free_at: now,
            blocked_by: Stall::Issue,
            priority: 0,
            state: match trace.blocks.is_empty() {
                true => State::Ended,
                false => State::Runs,
            },
            vm: VecDeque::new(),
            lgkm: VecDeque::new(),
            registers: vec![(0, 0); Register::COUNT].into(),
            by_matrix: vec![false; Register::COUNT].into(),
            line: u64::MAX,
        }
    }

    /// The next instruction, by index in the code.
    pub(super) const fn index(&self) -> u32 {
        self.index
    }

    /// The memory access of the current instruction.
    pub(super) fn access(&mut self) -> Option<Access> {
        let access = self.trace.accesses.get(self.access).copied();
        // If the trace has no access for it, the instruction does not access memory.
        let access = access.filter(|access| access.index == self.index);
        self.access += usize::from(access.is_some());
        access
    }

    /// What the current instruction needs of LDS.
    pub(super) fn lds_access(&mut self) -> LdsAccess {
        let access = self.trace.lds.get(self.lds).copied();
        self.lds += 1;
        access.unwrap_or(LdsAccess::PERMUTATION)
    }

    /// Moves to the next instruction. Returns whether it is elsewhere than after this one, or `None` at the end.
    pub(super) fn step(&mut self) -> Option<bool> {
        let &(_, end) = self.trace.blocks.get(self.block)?;
        self.index += 1;
        if self.index < end {
            return Some(false);
        }
        self.block += 1;
        let &(first, _) = self.trace.blocks.get(self.block)?;
        self.index = first;
        Some(true)
    }

    /// Computes when the next instruction is ready, at the earliest at `from`.
    pub(super) fn prepare(&mut self, timed: &Timed, from: u64, cause: Stall) {
        (self.ready_at, self.cause) = (from, cause);
        let mut later = |at: u64, cause: Stall| {
            if at > self.ready_at {
                (self.ready_at, self.cause) = (at, cause);
            }
        };
        for range in &timed.reads {
            for register in registers(*range) {
                let cause = match self.by_matrix[register] {
                    true => Stall::MatrixDependency,
                    false => Stall::Dependency,
                };
                later(self.registers[register].0, cause);
            }
        }
        if let Some(sum) = timed.accumulator {
            for register in registers(sum) {
                let cause = match self.by_matrix[register] {
                    true => Stall::MatrixDependency,
                    false => Stall::Dependency,
                };
                later(self.registers[register].1, cause);
            }
        }
        if let Some(wait) = &timed.wait {
            let left = wait.left(Counter::Vm).min(timed.most_in_flight) as usize;
            if let Some(place) = self.vm.len().checked_sub(left + 1)
                && let Some(&done_at) = self.vm.get(place)
            {
                later(done_at, Stall::VectorMemory);
            }
            let in_lds = || self.lgkm.iter().filter(|flight| flight.is_lds);
            let done = in_lds().count().saturating_sub(wait.lds_left() as usize);
            for flight in in_lds().take(done) {
                later(flight.done_at, Stall::Lds);
            }
            if wait.scalar_left() == 0 {
                for flight in self.lgkm.iter().filter(|flight| !flight.is_lds) {
                    later(flight.done_at, Stall::ScalarMemory);
                }
            }
        }
        if timed.unit == Unit::VectorMemory
            && self.vm.len() >= timed.most_in_flight as usize
            && let Some(&done_at) = self.vm.front()
        {
            later(done_at, Stall::VectorMemory);
        }
    }

    /// Records when the results of an issued instruction are available.
    pub(super) fn write(&mut self, timed: &Timed, now: u64) {
        let is_matrix = timed.unit == Unit::Matrix;
        let at = now + timed.latency;
        let as_sum = match is_matrix {
            true => now + timed.chained,
            false => at,
        };
        for range in &timed.writes {
            for register in registers(*range) {
                self.registers[register] = (at, as_sum);
                self.by_matrix[register] = is_matrix;
            }
        }
    }

    /// Adds an operation that `vmcnt` counts; these complete in order.
    pub(super) fn fly(&mut self, now: u64, done_at: u64) {
        while self.vm.front().is_some_and(|&done_at| done_at <= now) {
            self.vm.pop_front();
        }
        let done_at = self.vm.back().map_or(done_at, |&last| last.max(done_at));
        self.vm.push_back(done_at);
    }

    /// Adds an operation that `lgkmcnt` counts.
    pub(super) fn fly_lgkm(&mut self, now: u64, flight: Flight) {
        self.lgkm.retain(|flight| flight.done_at > now);
        self.lgkm.push_back(flight);
    }

    /// The cycle at which the wave can continue after an instruction.
    pub(super) const fn after(timed: &Timed, now: u64) -> u64 {
        now + TURN + timed.pause
    }
}

fn registers(range: Range) -> std::ops::Range<usize> {
    usize::from(range.first)..usize::from(range.first + range.count)
}
