//! A wave that is replayed: where it is in its trace, and when its next instruction can be issued.

use std::collections::VecDeque;

use super::{
    instruction::{Range, Timed, Unit},
    parameters::TURN,
    stall::Stall,
    trace::{Access, WaveTrace},
};
use ferrowave_isa::Register;

/// Instructions by their index in the code.
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

    /// Where an instruction stands in the table.
    pub(super) const fn slot(&self, index: u32) -> usize {
        index.wrapping_sub(self.first) as usize
    }

    pub(super) const fn len(&self) -> usize {
        self.table.len()
    }
}

/// What a wave does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its next instruction waits to be issued.
    Runs,
    /// It waits for the others of its workgroup.
    AtBarrier,
    /// It is through.
    Ended,
}

/// What `lgkmcnt` counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) done_at: u64,
    pub(super) is_lds: bool,
}

/// A wave on its SIMD.
pub(super) struct ReplayedWave<'a> {
    trace: &'a WaveTrace,
    block: usize,
    index: u32,
    access: usize,
    lds: usize,
    pub(super) workgroup: usize,
    pub(super) simd: usize,
    /// When the next instruction can be issued as far as the wave itself goes.
    pub(super) ready_at: u64,
    /// Why not before.
    pub(super) cause: Stall,
    /// From when on the next instruction could have been issued at best.
    pub(super) free_at: u64,
    /// What kept it from being issued when it was ready.
    pub(super) blocked_by: Stall,
    pub(super) priority: u8,
    pub(super) state: State,
    /// When vector memory operations in flight are done: in their order.
    vm: VecDeque<u64>,
    lgkm: VecDeque<Flight>,
    /// When each register can be read, and when a matrix instruction can take it as its sum.
    registers: Box<[(u64, u64)]>,
    /// Whether a matrix instruction wrote it last.
    by_matrix: Box<[bool]>,
    /// Bytes of the code that its instruction buffer has come to.
    pub(super) line: u64,
}

/// The most operations that `vmcnt` counts.
const MOST_IN_FLIGHT: usize = 63;

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

    /// The memory access that belongs to it.
    pub(super) fn access(&mut self) -> Option<Access> {
        let access = self.trace.accesses.get(self.access).copied();
        // What the trace skips is an instruction without effect on memory.
        let access = access.filter(|access| access.index == self.index);
        self.access += usize::from(access.is_some());
        access
    }

    /// The cycles of LDS that belong to it.
    pub(super) fn lds_cycles(&mut self) -> u64 {
        let cycles = self.trace.lds_cycles.get(self.lds).copied();
        self.lds += 1;
        cycles.map_or(2, u64::from)
    }

    /// Goes on to the next instruction; whether it is elsewhere than behind this one, if there is one.
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

    /// Finds when the next instruction is ready, which is not before a time.
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
            let left = wait.vm.min(MOST_IN_FLIGHT as u32) as usize;
            if let Some(place) = self.vm.len().checked_sub(left + 1)
                && let Some(&done_at) = self.vm.get(place)
            {
                later(done_at, Stall::VectorMemory);
            }
            let in_lds = || self.lgkm.iter().filter(|flight| flight.is_lds);
            let done = in_lds().count().saturating_sub(wait.lgkm as usize);
            for flight in in_lds().take(done) {
                later(flight.done_at, Stall::Lds);
            }
            if wait.lgkm == 0 {
                for flight in self.lgkm.iter().filter(|flight| !flight.is_lds) {
                    later(flight.done_at, Stall::ScalarMemory);
                }
            }
        }
        if timed.unit == Unit::VectorMemory
            && self.vm.len() >= MOST_IN_FLIGHT
            && let Some(&done_at) = self.vm.front()
        {
            later(done_at, Stall::VectorMemory);
        }
    }

    /// Takes note of what an instruction that was issued writes.
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

    /// An operation that `vmcnt` counts; they are done in order.
    pub(super) fn fly(&mut self, now: u64, done_at: u64) {
        while self.vm.front().is_some_and(|&done_at| done_at <= now) {
            self.vm.pop_front();
        }
        let done_at = self.vm.back().map_or(done_at, |&last| last.max(done_at));
        self.vm.push_back(done_at);
    }

    /// An operation that `lgkmcnt` counts.
    pub(super) fn fly_lgkm(&mut self, now: u64, flight: Flight) {
        self.lgkm.retain(|flight| flight.done_at > now);
        self.lgkm.push_back(flight);
    }

    /// When it has waited long enough behind an instruction that it runs by itself.
    pub(super) const fn after(timed: &Timed, now: u64) -> u64 {
        now + TURN + timed.pause
    }
}

fn registers(range: Range) -> std::ops::Range<usize> {
    usize::from(range.first)..usize::from(range.first + range.count)
}
