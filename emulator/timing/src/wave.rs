//! A replayed wave: its position in the trace, and when its next instruction can issue.

use std::collections::VecDeque;

use super::{
    instruction::{Range, Timed, Unit, VECTOR_COUNTERS},
    stall::Stall,
    trace::{Access, LdsAccess, WaveTrace},
};
use ferrowave_isa::Register;

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

/// What a wave knows of a register.
#[derive(Clone, Copy, Debug, Default)]
struct RegisterState {
    /// The cycle at which it can be read.
    at: u64,
    /// The same for a matrix instruction's sum.
    as_sum: u64,
    /// The same for memory instructions.
    for_memory: u64,
    /// The cycle until which vector instructions may still read it.
    used_until: u64,
    /// Whether a matrix instruction wrote it last.
    by_matrix: bool,
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
    /// The cycle until which it cannot issue because its unit is busy.
    pub(super) blocked_until: u64,
    pub(super) priority: u8,
    pub(super) state: State,
    /// The phase of the workgroup's barrier that it waits for.
    pub(super) phase: u64,
    /// The completion cycles of vector memory operations in flight, in order, by [`VECTOR_COUNTERS`].
    vm: [VecDeque<u64>; 3],
    lgkm: VecDeque<Flight>,
    registers: Box<[RegisterState]>,
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
            blocked_until: 0,
            priority: 0,
            state: match trace.blocks.is_empty() {
                true => State::Ended,
                false => State::Runs,
            },
            phase: 0,
            vm: Default::default(),
            lgkm: VecDeque::new(),
            registers: vec![RegisterState::default(); Register::COUNT].into(),
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

    /// What the current instruction needs of LDS. The trace has it for each instruction that uses LDS.
    pub(super) fn lds_access(&mut self) -> LdsAccess {
        let access = self.trace.lds.get(self.lds).copied();
        self.lds += 1;
        access.unwrap_or_default()
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
            for register in &self.registers[registers(*range)] {
                let at = match timed.waits_for_vector {
                    true => register.for_memory,
                    false => register.at,
                };
                later(at, register.cause());
            }
        }
        if timed.waits_for_vector {
            for range in &timed.writes {
                for register in &self.registers[registers(*range)] {
                    later(register.used_until, Stall::Dependency);
                }
            }
        }
        if let Some(sum) = timed.accumulator {
            for register in &self.registers[registers(sum)] {
                later(register.as_sum, register.cause());
            }
        }
        if let Some(wait) = &timed.wait {
            let counters = VECTOR_COUNTERS.into_iter();
            for ((counter, vm), most) in counters.zip(&self.vm).zip(timed.most_in_flight) {
                let left = wait.left(counter).min(most) as usize;
                if let Some(place) = vm.len().checked_sub(left + 1)
                    && let Some(&done_at) = vm.get(place)
                {
                    later(done_at, Stall::VectorMemory);
                }
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
        let queue = timed.vector_counter;
        if timed.unit == Unit::VectorMemory
            && self.vm[queue].len() >= timed.most_in_flight[queue] as usize
            && let Some(&done_at) = self.vm[queue].front()
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
        if timed.uses_for > 0 {
            let used_until = now + timed.uses_for;
            for range in &timed.reads {
                for register in &mut self.registers[registers(*range)] {
                    register.used_until = used_until;
                }
            }
        }
        let for_memory = at.max(now + timed.uses_for);
        for range in &timed.writes {
            for register in &mut self.registers[registers(*range)] {
                *register = RegisterState {
                    at,
                    as_sum,
                    for_memory,
                    used_until: register.used_until,
                    by_matrix: is_matrix,
                };
            }
        }
    }

    /// Adds a vector memory operation. Those of a counter complete in order.
    pub(super) fn fly(&mut self, timed: &Timed, now: u64, done_at: u64) {
        let vm = &mut self.vm[timed.vector_counter];
        while vm.front().is_some_and(|&done_at| done_at <= now) {
            vm.pop_front();
        }
        let done_at = vm.back().map_or(done_at, |&last| last.max(done_at));
        vm.push_back(done_at);
    }

    /// Adds an operation that `lgkmcnt` counts.
    pub(super) fn fly_lgkm(&mut self, now: u64, flight: Flight) {
        self.lgkm.retain(|flight| flight.done_at > now);
        self.lgkm.push_back(flight);
    }
}

impl RegisterState {
    /// What an instruction waits for that needs it.
    const fn cause(&self) -> Stall {
        match self.by_matrix {
            true => Stall::MatrixDependency,
            false => Stall::Dependency,
        }
    }
}

fn registers(range: Range) -> std::ops::Range<usize> {
    usize::from(range.first)..usize::from(range.first + range.count)
}
