//! A replayed wave: its position in the trace, and when its next instruction can issue.

use std::collections::VecDeque;

use super::{
    instruction::{Awaited, Delayed, Range, Timed, Unit, VECTOR_COUNTERS},
    parameters::{InOrder, Pipeline},
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
    /// Whether a matrix instruction wrote it last.
    by_matrix: bool,
}

/// The cycles of a wave's last instructions, for which later ones wait on RDNA whatever their registers are.
#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    /// The results of the last vector instructions, the latest first, transcendental ones apart.
    vector: [u64; 4],
    transcendental: [u64; 3],
    /// The last of all these results.
    vector_done_at: Option<u64>,
    /// The start of the last vector instruction.
    vector_at: Option<u64>,
    /// The issue of the last scalar instruction.
    scalar_at: Option<u64>,
    /// The issue of the last memory instruction with operands in vector registers.
    memory_at: Option<u64>,
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
    issued: Issued,
    /// The waits of `s_delay_alu` and `s_wait_alu` that are left.
    delays: [Delayed; 4],
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
            issued: Issued::default(),
            delays: [Delayed::NOTHING; 4],
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

    /// The wave has come to an `s_delay_alu` or `s_wait_alu`.
    pub(super) fn delay(&mut self, delays: [Delayed; 2]) {
        let is_free = |delayed: &&mut Delayed| delayed.awaited == Awaited::Nothing;
        for (free, new) in self.delays.iter_mut().filter(is_free).zip(delays) {
            *free = new;
        }
    }

    /// The cycle in which all operands can be read, and the cause of the wait for the last one.
    pub(super) fn operands_at(&self, timed: &Timed, pipeline: &Pipeline) -> (u64, Stall) {
        let mut last = (0, Stall::Dependency);
        let mut later = |at: u64, register: &RegisterState| {
            if at > last.0 {
                last = (at, register.cause());
            }
        };
        // RDNA's vector unit forwards carries, conditions and other scalars.
        let reads_vectors = timed.is_vector() || timed.is_vector_memory();
        let only_vectors = pipeline.in_order.is_some() && reads_vectors;
        for range in &timed.reads {
            if only_vectors && !range.is_vector() {
                continue;
            }
            for register in &self.registers[registers(*range)] {
                later(register.at, register);
            }
        }
        if let Some(sum) = timed.accumulator {
            for register in &self.registers[registers(sum)] {
                later(register.as_sum, register);
            }
        }
        last
    }

    /// The cycle from which the wave's last instructions let the next one issue, on RDNA.
    fn may_issue_at(&mut self, timed: &Timed, pipeline: &Pipeline, in_order: &InOrder) -> u64 {
        let issued = &self.issued;
        let after = |event: Option<u64>, cycles: u64| event.map_or(0, |at| at + cycles);
        let scalars_done_at = after(issued.scalar_at, in_order.scalar_done_cycles);
        let mut at = 0;
        for delayed in &mut self.delays {
            if delayed.skipped > 0 {
                delayed.skipped -= 1;
                continue;
            }
            at = at.max(
                match std::mem::replace(&mut delayed.awaited, Awaited::Nothing) {
                    Awaited::Nothing => 0,
                    Awaited::Vector(before) => issued.vector[before],
                    Awaited::Transcendental(before) => issued.transcendental[before],
                    Awaited::Scalar => after(issued.scalar_at, pipeline.scalar_result_cycles),
                    Awaited::Scalars => scalars_done_at,
                    Awaited::ScalarsOfVectors => {
                        after(issued.vector_at, in_order.vector_to_scalar_cycles)
                    }
                },
            );
        }
        at.max(match timed.unit {
            Unit::Vector | Unit::Matrix => {
                after(issued.memory_at, in_order.memory_to_vector_cycles)
            }
            _ if timed.is_vector_memory() => {
                let vector = after(issued.vector_done_at, in_order.vector_to_memory_cycles);
                match timed.reads_scalars {
                    true => vector.max(scalars_done_at),
                    false => vector,
                }
            }
            Unit::ScalarMemory => scalars_done_at,
            Unit::Branch if timed.reads_scalars => {
                after(issued.scalar_at, in_order.scalar_to_branch_cycles)
            }
            _ if timed.is_end => after(issued.vector_done_at, 0),
            _ => 0,
        })
    }

    /// Computes when the next instruction is ready, at the earliest at `from`.
    pub(super) fn prepare(&mut self, timed: &Timed, pipeline: &Pipeline, from: u64, cause: Stall) {
        (self.ready_at, self.cause) = (from, cause);
        let in_wave = match &pipeline.in_order {
            Some(in_order) => (
                self.may_issue_at(timed, pipeline, in_order),
                Stall::Dependency,
            ),
            None => (0, cause),
        };
        let (operands_at, of_operands) = self.operands_at(timed, pipeline);
        let operands_at = match &pipeline.in_order {
            Some(_) if timed.is_vector() => 0,
            // A cycle more than after an instruction whose result it does not read.
            Some(in_order) if timed.is_vector_memory() && operands_at > 0 => {
                operands_at + in_order.vector_to_memory_cycles + 1
            }
            _ => operands_at,
        };
        let mut later = |at: u64, cause: Stall| {
            if at > self.ready_at {
                (self.ready_at, self.cause) = (at, cause);
            }
        };
        later(in_wave.0, in_wave.1);
        later(operands_at, of_operands);
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

    /// Records when the results of an instruction are available that starts at `start`.
    pub(super) fn write(&mut self, timed: &Timed, pipeline: &Pipeline, start: u64) {
        let by_matrix = timed.unit == Unit::Matrix;
        let result_at = start + timed.latency;
        let as_sum = match by_matrix {
            true => start + timed.chained,
            false => result_at,
        };
        let scalar_at = match &pipeline.in_order {
            Some(in_order) if timed.is_vector() => start + in_order.vector_to_scalar_cycles,
            // Branches and memory instructions wait for all scalar instructions, others for none.
            Some(_) => start,
            None => result_at,
        };
        for range in &timed.writes {
            let at = match range.is_vector() {
                true => result_at,
                false => scalar_at,
            };
            for register in &mut self.registers[registers(*range)] {
                *register = RegisterState {
                    at,
                    as_sum,
                    by_matrix,
                };
            }
        }
        let issued = &mut self.issued;
        match timed.unit {
            Unit::Vector | Unit::Matrix => {
                let results = match timed.is_transcendental {
                    true => &mut issued.transcendental[..],
                    false => &mut issued.vector[..],
                };
                results.rotate_right(1);
                results[0] = result_at;
                issued.vector_done_at = issued.vector_done_at.max(Some(result_at));
                issued.vector_at = Some(start);
            }
            Unit::Scalar => issued.scalar_at = Some(start),
            _ => {}
        }
    }

    /// Records that a memory instruction with operands in vector registers issues.
    pub(super) const fn read_vectors(&mut self, now: u64) {
        self.issued.memory_at = Some(now);
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
