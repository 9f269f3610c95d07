//! Replays the workgroups of one compute unit cycle by cycle.
//!
//! The four SIMDs take turns, one per cycle. In its turn a SIMD issues at most one instruction of each kind (vector,
//! scalar with scalar memory, vector memory, LDS, branch) and at most one per wave. Of the ready waves, the one with
//! the highest priority (`s_setprio`) goes first, and among these the oldest. `s_nop`, `s_waitcnt` and `s_barrier` need
//! no unit; every wave executes them by itself (AMD's documentation of ROCm Compute Profiler, «Compute unit», and the
//! slides that it refers to, «Introduction to AMD GPU programming with HIP»). Turns in which nothing can happen are
//! skipped.

use std::cmp::Reverse;

use super::{
    instruction::{Timed, Unit},
    lds::{Lds, PAIRS, pair_of},
    memory::{Memory, Traffic},
    parameters::{Parameters, TURN},
    stall::{Stall, Stalls},
    tags::Tags,
    timeline::{Issue, Lane, Timeline},
    trace::{Recorded, WorkgroupTrace},
    wave::{Flight, Instructions, ReplayedWave, State},
};
use ferrowave_isa::Effect;

/// SIMDs of a compute unit.
const SIMDS: usize = 4;

/// Cycles from a taken branch to the next instruction (LLVM's `SISchedule.td`, `WriteBranch`).
const BRANCH_CYCLES: u64 = 8 * TURN;

/// Cycles after a branch that is not taken. The next instruction is already in the buffer: an estimate.
const PASSED_BRANCH_CYCLES: u64 = 4 * TURN;

/// Bytes of an instruction cache line.
const CODE_LINE: u64 = 64;

/// Statistics of an instruction, over all replayed waves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Issued {
    pub(super) count: u64,
    pub(super) stalls: Stalls,
}

/// The end of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The cycle.
    pub(super) at: u64,
    /// Instructions issued by all waves until then.
    pub(super) issued: u64,
}

/// The result of a replay.
pub(super) struct Replay {
    /// The ends of workgroups, in order of time.
    pub(super) ended: Vec<End>,
    /// The cycle at which the last store completed; waves do not wait for it.
    pub(super) stored_at: u64,
    /// By slot in the table of instructions.
    pub(super) issued: Vec<Issued>,
    /// Cycles in which each unit was busy, over all SIMDs.
    pub(super) vector_busy: u64,
    pub(super) matrix_busy: u64,
    pub(super) scalar_busy: u64,
    pub(super) lds_busy: u64,
    pub(super) traffic: Traffic,
    /// Resident cycles, summed over waves.
    pub(super) wave_cycles: u64,
    /// What each wave did, if recorded.
    pub(super) timeline: Option<Timeline>,
}

struct Simd {
    /// The indices of its waves, oldest first.
    waves: Vec<usize>,
    next_turn: u64,
    vector_free_at: u64,
    matrix_free_at: u64,
}

/// The SIMDs that wait for a place in the queue of a shared unit. The SIMD that has waited longest is next. Otherwise a
/// unit whose service time is a multiple of a SIMD's turn would always serve the same SIMD.
struct Line {
    /// The cycle since which each SIMD waits.
    since: [Option<u64>; SIMDS],
}

impl Line {
    const EMPTY: Line = Line {
        since: [None; SIMDS],
    };

    /// Whether the SIMD may enter the queue. If not, it waits.
    fn lets_in(&mut self, simd: usize, now: u64, has_room: bool) -> bool {
        let since = *self.since[simd].get_or_insert(now);
        let is_next = self.since.iter().flatten().all(|&other| since <= other);
        if has_room && is_next {
            self.since[simd] = None;
        }
        has_room && is_next
    }
}

struct Workgroup {
    live: usize,
    waiting: usize,
    waves: std::ops::Range<usize>,
}

/// The state of the compute unit in a replay.
pub(super) struct ComputeUnit<'a> {
    parameters: &'a Parameters,
    instructions: Instructions<'a>,
    recorded: &'a Recorded,
    memory: Memory<'a>,
    waves: Vec<ReplayedWave<'a>>,
    simds: [Simd; SIMDS],
    workgroups: Vec<Workgroup>,
    lds: Lds,
    waiting_for_memory: Line,
    /// For each pair of SIMDs.
    waiting_for_lds: [Line; PAIRS],
    /// The ready waves of the current SIMD, by priority. Kept to avoid allocations.
    by_priority: Vec<usize>,
    /// The instruction cache, if the code does not fit in it.
    code: Option<Tags<()>>,
    /// Instructions issued so far.
    issued: u64,
    replay: Replay,
}

impl<'a> ComputeUnit<'a> {
    pub(super) fn new(
        parameters: &'a Parameters,
        instructions: Instructions<'a>,
        recorded: &'a Recorded,
        memory: Memory<'a>,
        code_bytes: u64,
    ) -> Self {
        let capacity = u64::from(parameters.hardware.instruction_cache_bytes);
        ComputeUnit {
            parameters,
            instructions,
            recorded,
            memory,
            waves: Vec::new(),
            simds: std::array::from_fn(|number| Simd {
                waves: Vec::new(),
                next_turn: number as u64,
                vector_free_at: 0,
                matrix_free_at: 0,
            }),
            workgroups: Vec::new(),
            lds: Lds::new(parameters),
            waiting_for_memory: Line::EMPTY,
            waiting_for_lds: [Line::EMPTY; PAIRS],
            by_priority: Vec::new(),
            code: (code_bytes > capacity).then(|| Tags::new(capacity / CODE_LINE, 8)),
            issued: 0,
            replay: Replay {
                ended: Vec::new(),
                stored_at: 0,
                issued: vec![Issued::default(); instructions.len()],
                vector_busy: 0,
                matrix_busy: 0,
                scalar_busy: 0,
                lds_busy: 0,
                traffic: Traffic::default(),
                wave_cycles: 0,
                timeline: None,
            },
        }
    }

    /// Also records what each wave does.
    pub(super) fn with_timeline(mut self) -> Self {
        self.replay.timeline = Some(Timeline::default());
        self
    }

    /// Replays all workgroups, with `resident` of them at the same time.
    pub(super) fn run(mut self, all: &[&'a WorkgroupTrace], resident: usize) -> Replay {
        let mut next = all.iter();
        for workgroup in next.by_ref().take(resident) {
            self.start(workgroup, 0);
        }
        while let Some((number, now)) = self.next_turn() {
            let ended = self.turn(number, now);
            for _ in 0..ended {
                self.replay.ended.push(End {
                    at: now + TURN,
                    issued: self.issued,
                });
                if let Some(workgroup) = next.next() {
                    self.start(workgroup, now + TURN);
                }
            }
        }
        self.replay.traffic = self.memory.traffic();
        self.replay.lds_busy = self.lds.busy;
        self.replay
    }

    fn start(&mut self, workgroup: &'a WorkgroupTrace, now: u64) {
        let first = self.waves.len();
        let number = self.workgroups.len();
        for trace in &workgroup.waves {
            let simd = (0..SIMDS)
                .min_by_key(|simd| self.simds[*simd].waves.len())
                .unwrap_or(0);
            let mut wave = ReplayedWave::new(trace, number, simd, now);
            if let Some(timed) = self.instructions.get(wave.index()) {
                wave.prepare(timed, now, Stall::Fetch);
            }
            if let Some(timeline) = &mut self.replay.timeline {
                timeline.lanes.push(Lane {
                    workgroup: workgroup.number,
                    wave: self.waves.len() - first,
                    simd,
                });
            }
            self.simds[simd].waves.push(self.waves.len());
            self.waves.push(wave);
            self.wake(simd, now);
        }
        let waves = first..self.waves.len();
        let live = self.waves[waves.clone()]
            .iter()
            .filter(|wave| wave.state != State::Ended)
            .count();
        self.workgroups.push(Workgroup {
            live,
            waiting: 0,
            waves,
        });
    }

    /// Gives a SIMD a turn at `at` or soon after.
    fn wake(&mut self, simd: usize, at: u64) {
        let simd_at = at.next_multiple_of(TURN) + simd as u64;
        let simd = &mut self.simds[simd];
        simd.next_turn = simd.next_turn.min(simd_at);
    }

    /// The SIMD whose turn is next, and the cycle.
    fn next_turn(&self) -> Option<(usize, u64)> {
        let turns = self.simds.iter().enumerate();
        let next = turns.map(|(number, simd)| (simd.next_turn, number)).min()?;
        (next.0 != u64::MAX).then_some((next.1, next.0))
    }

    /// Runs one turn of a SIMD. Returns how many workgroups ended.
    fn turn(&mut self, number: usize, now: u64) -> usize {
        let mut order = std::mem::take(&mut self.simds[number].waves);
        let mut taken = [false; Unit::PORTS];
        let mut ended = 0;
        let mut ready = std::mem::take(&mut self.by_priority);
        ready.clear();
        ready.extend(order.iter().copied().filter(|&wave| {
            let wave = &self.waves[wave];
            wave.state == State::Runs && wave.ready_at <= now
        }));
        // The sort is stable: the oldest wave stays first.
        if ready.len() > 1 {
            ready.sort_by_key(|&wave| Reverse(self.waves[wave].priority));
        }
        // Issuing one wave's instruction never makes another ready wave unready. Waves released by a barrier have to
        // wait for a later turn.
        for &wave in &ready {
            ended += usize::from(self.try_issue(number, wave, now, &mut taken));
        }
        self.by_priority = ready;
        order.retain(|&wave| self.waves[wave].state != State::Ended);
        // The next turn in which this SIMD can issue, unless another SIMD wakes it earlier.
        let ready = order
            .iter()
            .map(|&wave| &self.waves[wave])
            .filter(|wave| wave.state == State::Runs)
            .map(|wave| wave.ready_at)
            .min();
        let earliest = now + TURN;
        self.simds[number].next_turn = match ready {
            None => u64::MAX,
            Some(at) if at <= earliest => earliest,
            Some(at) => (at - number as u64).next_multiple_of(TURN) + number as u64,
        };
        // Adds the waves of workgroups that have started in this turn.
        order.append(&mut self.simds[number].waves);
        self.simds[number].waves = order;
        ended
    }

    /// Issues a wave's next instruction if its unit accepts it. Returns whether the wave's workgroup has ended.
    fn try_issue(
        &mut self,
        simd: usize,
        number: usize,
        now: u64,
        taken: &mut [bool; Unit::PORTS],
    ) -> bool {
        let index = self.waves[number].index();
        let Some(timed) = self.instructions.get(index) else {
            return self.end(number, now);
        };
        if let Some(blocked_by) = self.blocked(simd, timed, now, taken) {
            self.waves[number].blocked_by = blocked_by;
            return false;
        }
        if let Some(port) = timed.unit.port() {
            taken[port] = true;
        }
        self.issued += 1;
        self.account(number, index, timed, now);
        self.execute(simd, number, timed, now);
        self.advance(number, timed, now)
    }

    /// The reason why a ready instruction cannot issue, if any.
    fn blocked(
        &mut self,
        number: usize,
        timed: &Timed,
        now: u64,
        taken: &[bool; Unit::PORTS],
    ) -> Option<Stall> {
        if timed.unit.port().is_some_and(|port| taken[port]) {
            return Some(Stall::Issue);
        }
        let simd = &self.simds[number];
        match timed.unit {
            Unit::Vector | Unit::Matrix if simd.vector_free_at > now => Some(Stall::Issue),
            Unit::Matrix if simd.matrix_free_at > now => Some(Stall::MatrixBusy),
            Unit::VectorMemory => {
                let has_room = self.memory.has_room(now);
                let goes = self.waiting_for_memory.lets_in(number, now, has_room);
                (!goes).then_some(Stall::MemoryQueue)
            }
            Unit::Lds => {
                let has_room = self.lds.has_room(number, now);
                let line = &mut self.waiting_for_lds[pair_of(number)];
                let goes = line.lets_in(number, now, has_room);
                (!goes).then_some(Stall::LdsQueue)
            }
            _ => None,
        }
    }

    /// Records how long the instruction that issues now has waited, and for what.
    fn account(&mut self, number: usize, index: u32, timed: &Timed, now: u64) {
        let wave = &mut self.waves[number];
        let slot = self.instructions.slot(index);
        if let Some(issued) = self.replay.issued.get_mut(slot) {
            issued.count += 1;
            let ready_at = wave.ready_at.max(wave.free_at);
            issued
                .stalls
                .add(wave.cause, ready_at.saturating_sub(wave.free_at));
            // A SIMD has a turn every four cycles: the time until its turn is no stall.
            let waited = now.saturating_sub(ready_at);
            issued.stalls.add(wave.blocked_by, waited - waited % TURN);
        }
        if let Some(timeline) = &mut self.replay.timeline {
            timeline.add(Issue {
                lane: number,
                index,
                free_at: wave.free_at,
                ready_at: wave.ready_at.max(wave.free_at),
                cause: wave.cause,
                blocked_by: wave.blocked_by,
                at: now,
                matrix_cycles: match timed.unit {
                    Unit::Matrix => timed.busy,
                    _ => 0,
                },
            });
        }
        wave.blocked_by = Stall::Issue;
        self.replay.wave_cycles += now + TURN - wave.free_at.min(now);
    }

    /// Occupies the units and computes when results are available.
    fn execute(&mut self, simd: usize, number: usize, timed: &Timed, now: u64) {
        match timed.unit {
            Unit::Vector => {
                self.simds[simd].vector_free_at = now + timed.busy;
                self.replay.vector_busy += timed.busy;
            }
            Unit::Matrix => {
                self.simds[simd].vector_free_at = now + TURN;
                self.simds[simd].matrix_free_at = now + timed.busy;
                self.replay.vector_busy += TURN;
                self.replay.matrix_busy += timed.busy;
            }
            Unit::Scalar => self.replay.scalar_busy += 1,
            Unit::ScalarMemory | Unit::VectorMemory => self.access(number, timed, now),
            Unit::Lds => {
                let access = self.waves[number].lds_access();
                let done_at = self.lds.issue(simd, now, access);
                let flight = Flight {
                    done_at,
                    is_lds: true,
                };
                self.waves[number].fly_lgkm(now, flight);
            }
            Unit::Branch | Unit::Barrier | Unit::Wait | Unit::Internal => {}
        }
        if !matches!(
            timed.unit,
            Unit::VectorMemory | Unit::ScalarMemory | Unit::Lds
        ) {
            self.waves[number].write(timed, now);
        }
    }

    fn access(&mut self, number: usize, timed: &Timed, now: u64) {
        let access = self.waves[number].access();
        let shape = access.and_then(|access| self.recorded.shapes.get(access.shape as usize));
        let (Some(access), Some(shape)) = (access, shape) else {
            return;
        };
        if timed.unit == Unit::ScalarMemory {
            let done_at = self
                .memory
                .scalar_load(now, access.index, shape, access.base);
            let flight = Flight {
                done_at,
                is_lds: false,
            };
            self.waves[number].fly_lgkm(now, flight);
            return;
        }
        let mut done_at = match timed.effect {
            Effect::Load => self.memory.load(now, access.index, shape, access.base),
            _ => self.memory.store(now, access.index, shape, access.base),
        };
        if timed.to_lds {
            // The data is written through the banks. This model occupies them now, and not when the data arrives.
            let access = self.waves[number].lds_access();
            self.lds.serve(now, access);
            done_at += u64::from(access.cycles);
        }
        self.replay.stored_at = self.replay.stored_at.max(done_at);
        self.waves[number].fly(now, done_at);
    }

    /// Moves the wave to its next instruction. Returns whether its workgroup has ended.
    fn advance(&mut self, number: usize, timed: &Timed, now: u64) -> bool {
        let wave = &mut self.waves[number];
        if let Some(priority) = timed.priority {
            wave.priority = priority;
        }
        let Some(jumped) = wave.step() else {
            return self.end(number, now);
        };
        wave.free_at = now + TURN;
        let (from, cause) = match timed.unit {
            Unit::Branch if jumped => (now + BRANCH_CYCLES, Stall::Fetch),
            Unit::Branch => (now + PASSED_BRANCH_CYCLES, Stall::Fetch),
            _ => (ReplayedWave::after(timed, now), Stall::Pause),
        };
        self.prepare(number, from, cause);
        if timed.unit == Unit::Barrier {
            self.arrive(number, now);
        }
        false
    }

    fn prepare(&mut self, number: usize, from: u64, cause: Stall) {
        let wave = &mut self.waves[number];
        let Some(timed) = self.instructions.get(wave.index()) else {
            (wave.ready_at, wave.cause) = (from, cause);
            return;
        };
        let (mut from, mut cause) = (from, cause);
        let line = timed.address / CODE_LINE;
        if let Some(code) = &mut self.code
            && wave.line != line
        {
            wave.line = line;
            if code.find(line).is_none() {
                code.insert(line, ());
                // The next line is prefetched.
                if code.find(line + 1).is_none() {
                    code.insert(line + 1, ());
                }
                (from, cause) = (from + self.parameters.l2_latency, Stall::Fetch);
            }
        }
        wave.prepare(timed, from, cause);
    }

    fn arrive(&mut self, number: usize, now: u64) {
        self.waves[number].state = State::AtBarrier;
        let workgroup = self.waves[number].workgroup;
        self.workgroups[workgroup].waiting += 1;
        self.release(workgroup, now);
    }

    /// Releases the waves of a workgroup if all of them are at the barrier.
    fn release(&mut self, workgroup: usize, now: u64) {
        let group = &mut self.workgroups[workgroup];
        if group.waiting < group.live {
            return;
        }
        group.waiting = 0;
        for number in group.waves.clone() {
            let wave = &mut self.waves[number];
            if wave.state != State::AtBarrier {
                continue;
            }
            wave.state = State::Runs;
            if wave.ready_at < now + TURN {
                (wave.ready_at, wave.cause) = (now + TURN, Stall::Barrier);
            }
            let (simd, at) = (wave.simd, wave.ready_at);
            self.wake(simd, at);
        }
    }

    /// Ends a wave. Returns whether its workgroup has ended.
    fn end(&mut self, number: usize, now: u64) -> bool {
        let wave = &mut self.waves[number];
        wave.state = State::Ended;
        let workgroup = wave.workgroup;
        let group = &mut self.workgroups[workgroup];
        group.live -= 1;
        if group.live == 0 {
            return true;
        }
        self.release(workgroup, now);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_longest_is_next() {
        let mut line = Line::EMPTY;
        assert!(line.lets_in(0, 0, true));
        assert!(!line.lets_in(3, 3, false));
        assert!(!line.lets_in(0, 4, false));
        // There is room, but another SIMD has waited longer.
        assert!(!line.lets_in(0, 8, true));
        assert!(!line.lets_in(1, 9, true));
        assert!(line.lets_in(3, 11, true));
        assert!(line.lets_in(0, 12, true));
        assert!(line.lets_in(1, 13, true));
        assert!(line.lets_in(1, 17, true));
    }
}
