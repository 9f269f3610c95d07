//! Replays the workgroups of one compute unit cycle by cycle.
//!
//! CDNA's four SIMDs take turns, one per cycle; RDNA's, of the two compute units of a workgroup processor, have a turn in
//! every cycle. In its turn a SIMD issues at most one instruction of each kind (vector,
//! scalar with scalar memory, vector memory, LDS, branch) and at most one per wave. Of the ready waves, the one with
//! the highest priority (`s_setprio`) goes first, and among these the oldest. `s_nop`, `s_waitcnt` and `s_barrier` need
//! no unit; every wave executes them by itself (AMD's documentation of ROCm Compute Profiler, «Compute unit», and the
//! slides that it refers to, «Introduction to AMD GPU programming with HIP»). Turns in which nothing can happen are
//! skipped.

use std::{cmp::Reverse, collections::VecDeque};

use super::{
    instruction::{AtBarrier, Operands, Timed, Unit},
    lds::{Lds, pair_of},
    memory::{Memory, Traffic},
    parameters::{InOrder, Parameters},
    stall::{Stall, Stalls},
    tags::Tags,
    timeline::{Issue, Lane, Timeline},
    trace::{Recorded, WorkgroupTrace},
    wave::{Flight, Instructions, ReplayedWave, State},
};
use ferrowave_isa::Effect;

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
    transcendental_free_at: u64,
    matrix_free_at: u64,
    /// RDNA's queue: when the vector instructions in it start.
    starts: VecDeque<u64>,
    /// The cycle from which the next vector instruction can issue to the queue, and the next transcendental one.
    issue_at: u64,
    transcendental_issue_at: u64,
    /// The start of the last matrix instruction.
    matrix_started_at: u64,
    /// The wave of the last vector instruction, and its operands. The banks of registers have them in their caches.
    operands: (usize, Operands),
}

/// Why an instruction does not issue, and until when; 0 if that is not known.
struct Blocked {
    by: Stall,
    until: u64,
}

/// The SIMDs that wait for a place in the queue of a shared unit. The SIMD that has waited longest is next. Otherwise a
/// unit whose service time is a multiple of a SIMD's turn would always serve the same SIMD.
#[derive(Clone)]
struct Line {
    /// The cycle since which each SIMD waits.
    since: Vec<Option<u64>>,
}

impl Line {
    fn of(simds: usize) -> Line {
        Line {
            since: vec![None; simds],
        }
    }

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

/// Banks of vector registers (RDNA 3 ISA, «Dual Issue VALU»: the number of a register modulo 4).
const REGISTER_BANKS: usize = 4;

impl Simd {
    /// The reason why a vector instruction cannot issue to RDNA's queue, if any.
    fn queue_blocks(&mut self, in_order: &InOrder, timed: &Timed, now: u64) -> Option<Blocked> {
        while self.starts.front().is_some_and(|&start| start < now) {
            self.starts.pop_front();
        }
        let matrix_started_at = self.matrix_started_at;
        let mut until = self.issue_at;
        if timed.is_transcendental {
            until = until.max(self.transcendental_issue_at);
        }
        let mut by = Stall::Issue;
        let mut waits_for = |start: u64| {
            if start >= now {
                until = until.max(start + 1);
                if start <= matrix_started_at {
                    by = Stall::MatrixBusy;
                }
            }
        };
        if let Some(place) = self.starts.len().checked_sub(in_order.vector_queue) {
            waits_for(self.starts[place]);
        }
        // Only matrix instructions are queued behind matrix instructions.
        if timed.unit != Unit::Matrix {
            waits_for(matrix_started_at);
        }
        (until > now).then_some(Blocked { by, until })
    }

    /// Adds a vector instruction to RDNA's queue. Returns when it starts.
    fn queue(&mut self, wave: usize, timed: &Timed, now: u64, operands_at: u64) -> u64 {
        let mut start = now.max(self.vector_free_at).max(operands_at) + self.conflicts(wave, timed);
        if timed.is_transcendental {
            start = start.max(self.transcendental_free_at);
            self.transcendental_free_at = start + timed.transcendental;
            self.transcendental_issue_at = now + timed.transcendental;
        }
        self.vector_free_at = start + timed.busy;
        self.starts.push_back(start);
        match timed.unit {
            Unit::Matrix => self.matrix_started_at = start,
            _ => self.issue_at = now + timed.busy,
        }
        start
    }

    /// Cycles for which an instruction waits because several of its operands are in one bank of registers. A register that
    /// the wave's last instruction read as the same operand is in the bank's cache.
    fn conflicts(&mut self, wave: usize, timed: &Timed) -> u64 {
        let (last_wave, last) = std::mem::replace(&mut self.operands, (wave, timed.operands));
        let mut reads = [0_u64; REGISTER_BANKS];
        for (place, operand) in timed.operands.iter().enumerate() {
            let is_cached = wave == last_wave && last[place] == *operand;
            let is_read_already = timed.operands[..place].contains(operand);
            if let Some(register) = operand
                && !is_cached
                && !is_read_already
            {
                reads[usize::from(*register) % REGISTER_BANKS] += 1;
            }
        }
        timed.busy * reads.into_iter().max().unwrap_or(0).saturating_sub(1)
    }
}

struct Workgroup {
    live: usize,
    /// Waves that have arrived at its barrier.
    arrived: usize,
    /// How often all waves have arrived, and when they last did.
    phase: u64,
    released_at: u64,
    /// The half of LDS in which its bytes are.
    half: usize,
    waves: std::ops::Range<usize>,
}

/// The state of the compute unit in a replay.
pub(super) struct ComputeUnit<'a> {
    parameters: &'a Parameters,
    /// Cycles between two turns of a SIMD.
    turn: u64,
    /// Whether all waves of a workgroup are on one of the compute units of a workgroup processor.
    has_workgroups_apart: bool,
    instructions: Instructions<'a>,
    recorded: &'a Recorded,
    memory: Memory<'a>,
    waves: Vec<ReplayedWave<'a>>,
    simds: Vec<Simd>,
    workgroups: Vec<Workgroup>,
    lds: Lds,
    /// For each vector cache.
    waiting_for_memory: Vec<Line>,
    /// For each pair of SIMDs.
    waiting_for_lds: Vec<Line>,
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
        let turn = parameters.pipeline.turn;
        let line = Line::of(parameters.simds());
        ComputeUnit {
            parameters,
            turn,
            has_workgroups_apart: false,
            instructions,
            recorded,
            memory,
            waves: Vec::new(),
            simds: (0..parameters.simds())
                .map(|number| Simd {
                    waves: Vec::new(),
                    next_turn: number as u64 % turn,
                    vector_free_at: 0,
                    transcendental_free_at: 0,
                    matrix_free_at: 0,
                    starts: VecDeque::new(),
                    issue_at: 0,
                    transcendental_issue_at: 0,
                    matrix_started_at: 0,
                    operands: (usize::MAX, [None; 5]),
                })
                .collect(),
            workgroups: Vec::new(),
            lds: Lds::new(parameters),
            waiting_for_memory: vec![line.clone(); parameters.pipeline.compute_units],
            waiting_for_lds: vec![line; pair_of(parameters.simds() - 1) + 1],
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

    /// All waves of a workgroup are on one of the compute units of a workgroup processor.
    pub(super) const fn with_workgroups_apart(mut self) -> Self {
        self.has_workgroups_apart = true;
        self
    }

    /// Also records what each wave does.
    pub(super) fn with_timeline(mut self) -> Self {
        self.replay.timeline = Some(Timeline::new(self.turn));
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
                    at: now + self.turn,
                    issued: self.issued,
                });
                if let Some(workgroup) = next.next() {
                    self.start(workgroup, now + self.turn);
                }
            }
        }
        self.replay.traffic = self.memory.traffic();
        self.replay.lds_busy = self.lds.busy / self.lds.halves() as u64;
        self.replay
    }

    fn start(&mut self, workgroup: &'a WorkgroupTrace, now: u64) {
        let first = self.waves.len();
        let number = self.workgroups.len();
        let parts = self.parameters.pipeline.compute_units;
        let count = self.simds.len();
        let (half, simds) = match self.has_workgroups_apart {
            true => {
                let of_part = |part| part * count / parts..(part + 1) * count / parts;
                let waves_of = |part| -> usize {
                    let simds = &self.simds[of_part(part)];
                    simds.iter().map(|simd| simd.waves.len()).sum()
                };
                let part = (0..parts).min_by_key(|&part| waves_of(part)).unwrap_or(0);
                (part, of_part(part))
            }
            false => (number % parts, 0..count),
        };
        for trace in &workgroup.waves {
            let simd = simds
                .clone()
                .min_by_key(|simd| self.simds[*simd].waves.len())
                .unwrap_or(0);
            let mut wave = ReplayedWave::new(trace, number, simd, now);
            if let Some(timed) = self.instructions.get(wave.index()) {
                wave.prepare(timed, self.parameters.pipeline, now, Stall::Fetch);
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
            arrived: 0,
            phase: 0,
            released_at: now,
            half,
            waves,
        });
    }

    /// Gives a SIMD a turn at `at` or soon after.
    fn wake(&mut self, simd: usize, at: u64) {
        let simd_at = at.next_multiple_of(self.turn) + simd as u64 % self.turn;
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
            .map(|wave| wave.ready_at.max(wave.blocked_until))
            .min();
        let earliest = now + self.turn;
        let offset = number as u64 % self.turn;
        self.simds[number].next_turn = match ready {
            None => u64::MAX,
            Some(at) if at <= earliest => earliest,
            Some(at) => (at - offset).next_multiple_of(self.turn) + offset,
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
        if let Some(blocked) = self.blocked(simd, timed, now, taken) {
            let wave = &mut self.waves[number];
            (wave.blocked_by, wave.blocked_until) = (blocked.by, blocked.until);
            return false;
        }
        self.waves[number].blocked_until = 0;
        if let Some(port) = timed.unit.port() {
            taken[port] = true;
        }
        self.issued += 1;
        let start = self.execute(simd, number, timed, now);
        self.account(number, index, timed, now, start);
        self.advance(number, timed, now)
    }

    /// The reason why a ready instruction cannot issue, if any.
    fn blocked(
        &mut self,
        number: usize,
        timed: &Timed,
        now: u64,
        taken: &[bool; Unit::PORTS],
    ) -> Option<Blocked> {
        let blocked = |by, until| Some(Blocked { by, until });
        if timed.unit.port().is_some_and(|port| taken[port]) {
            return blocked(Stall::Issue, 0);
        }
        if let Some(in_order) = &self.parameters.pipeline.in_order
            && timed.is_vector()
        {
            return self.simds[number].queue_blocks(in_order, timed, now);
        }
        let simd = &self.simds[number];
        match timed.unit {
            Unit::Vector | Unit::Matrix if simd.vector_free_at > now => {
                blocked(Stall::Issue, simd.vector_free_at)
            }
            Unit::Matrix if simd.matrix_free_at > now => {
                blocked(Stall::MatrixBusy, simd.matrix_free_at)
            }
            Unit::VectorMemory => {
                let part = self.part_of(number);
                let has_room = self.memory.has_room(part, now);
                let goes = self.waiting_for_memory[part].lets_in(number, now, has_room);
                (!goes).then_some(Blocked {
                    by: Stall::MemoryQueue,
                    until: 0,
                })
            }
            Unit::Lds => {
                let has_room = self.lds.has_room(number, now);
                let line = &mut self.waiting_for_lds[pair_of(number)];
                let goes = line.lets_in(number, now, has_room);
                (!goes).then_some(Blocked {
                    by: Stall::LdsQueue,
                    until: 0,
                })
            }
            _ => None,
        }
    }

    /// The compute unit of a SIMD in a workgroup processor.
    const fn part_of(&self, simd: usize) -> usize {
        simd * self.parameters.pipeline.compute_units / self.simds.len()
    }

    /// Records how long the instruction that issues now has waited, and for what.
    fn account(&mut self, number: usize, index: u32, timed: &Timed, now: u64, start: u64) {
        let wave = &mut self.waves[number];
        let slot = self.instructions.slot(index);
        if let Some(issued) = self.replay.issued.get_mut(slot) {
            issued.count += 1;
            let ready_at = wave.ready_at.max(wave.free_at);
            issued
                .stalls
                .add(wave.cause, ready_at.saturating_sub(wave.free_at));
            // CDNA's SIMDs have a turn every four cycles: the time until its turn is no stall.
            let waited = now.saturating_sub(ready_at);
            issued
                .stalls
                .add(wave.blocked_by, waited - waited % self.turn);
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
                start,
                matrix_cycles: match timed.unit {
                    Unit::Matrix => timed.busy,
                    _ => 0,
                },
            });
        }
        wave.blocked_by = Stall::Issue;
        self.replay.wave_cycles += now + self.turn - wave.free_at.min(now);
    }

    /// Occupies the units and computes when results are available. Returns when the instruction starts.
    fn execute(&mut self, simd: usize, number: usize, timed: &Timed, now: u64) -> u64 {
        let pipeline = self.parameters.pipeline;
        let mut start = now;
        match timed.unit {
            Unit::Vector | Unit::Matrix if pipeline.in_order.is_some() => {
                let (operands_at, _) = self.waves[number].operands_at(timed, pipeline);
                start = self.simds[simd].queue(number, timed, now, operands_at);
                self.replay.vector_busy += timed.busy;
                if timed.unit == Unit::Matrix {
                    self.replay.matrix_busy += timed.busy;
                }
            }
            Unit::Vector => {
                self.simds[simd].vector_free_at = now + timed.busy;
                self.replay.vector_busy += timed.busy;
            }
            Unit::Matrix => {
                self.simds[simd].vector_free_at = now + self.turn;
                self.simds[simd].matrix_free_at = now + timed.busy;
                self.replay.vector_busy += self.turn;
                self.replay.matrix_busy += timed.busy;
            }
            Unit::Scalar => self.replay.scalar_busy += 1,
            Unit::ScalarMemory | Unit::VectorMemory => {
                self.access(simd, number, timed, now);
            }
            Unit::Lds => {
                let access = self.waves[number].lds_access();
                let half = self.half_of(number);
                let done_at = self.lds.issue(simd, half, now, access);
                let flight = Flight {
                    done_at,
                    is_lds: true,
                };
                self.waves[number].fly_lgkm(now, flight);
            }
            Unit::Branch | Unit::Barrier | Unit::Wait | Unit::Internal => {}
        }
        let wave = &mut self.waves[number];
        match timed.unit {
            _ if timed.is_vector_memory() => wave.read_vectors(now),
            Unit::ScalarMemory => {}
            _ => wave.write(timed, pipeline, start),
        }
        start
    }

    /// The half of LDS in which a wave's workgroup has its bytes.
    fn half_of(&self, number: usize) -> usize {
        self.workgroups[self.waves[number].workgroup].half
    }

    fn access(&mut self, simd: usize, number: usize, timed: &Timed, now: u64) {
        let part = self.part_of(simd);
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
            Effect::Load => self
                .memory
                .load(part, now, access.index, shape, access.base),
            _ => self
                .memory
                .store(part, now, access.index, shape, access.base),
        };
        if timed.to_lds {
            // The data is written through the banks. This model occupies them now, and not when the data arrives.
            let access = self.waves[number].lds_access();
            self.lds.serve(self.half_of(number), now, access);
            done_at += u64::from(access.cycles);
        }
        self.replay.stored_at = self.replay.stored_at.max(done_at);
        self.waves[number].fly(timed, now, done_at);
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
        wave.free_at = now + self.turn;
        while let Some(hint) = self.instructions.get(wave.index())
            && hint.is_hint
        {
            if let Some(delays) = hint.delays {
                wave.delay(delays);
            }
            let slot = self.instructions.slot(wave.index());
            if let Some(issued) = self.replay.issued.get_mut(slot) {
                issued.count += 1;
            }
            if wave.step().is_none() {
                return self.end(number, now);
            }
        }
        let pipeline = self.parameters.pipeline;
        let (from, cause) = match timed.unit {
            Unit::Branch if jumped => (now + pipeline.branch_cycles, Stall::Fetch),
            Unit::Branch => (now + pipeline.passed_branch_cycles, Stall::Fetch),
            _ => (now + self.turn + timed.pause, Stall::Pause),
        };
        self.prepare(number, from, cause);
        if let Some(at_barrier) = timed.at_barrier {
            self.at_barrier(number, at_barrier, now);
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
        wave.prepare(timed, self.parameters.pipeline, from, cause);
    }

    fn at_barrier(&mut self, number: usize, what: AtBarrier, now: u64) {
        let wave = &mut self.waves[number];
        let workgroup = wave.workgroup;
        let group = &mut self.workgroups[workgroup];
        if what != AtBarrier::Waits {
            wave.phase = group.phase + 1;
            group.arrived += 1;
        }
        if what != AtBarrier::Signals {
            if group.phase < wave.phase {
                wave.state = State::AtBarrier;
            } else {
                let released_at = group.released_at + self.parameters.pipeline.barrier_cycles;
                if wave.ready_at < released_at {
                    (wave.ready_at, wave.cause) = (released_at, Stall::Barrier);
                }
            }
        }
        self.release(workgroup, now);
    }

    /// Releases the waves of a workgroup if all of them have arrived at the barrier.
    fn release(&mut self, workgroup: usize, now: u64) {
        let group = &mut self.workgroups[workgroup];
        if group.arrived < group.live {
            return;
        }
        group.arrived = 0;
        group.phase += 1;
        group.released_at = now;
        let released_at = now + self.parameters.pipeline.barrier_cycles;
        for number in group.waves.clone() {
            let wave = &mut self.waves[number];
            if wave.state != State::AtBarrier {
                continue;
            }
            wave.state = State::Runs;
            if wave.ready_at < released_at {
                (wave.ready_at, wave.cause) = (released_at, Stall::Barrier);
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
        let mut line = Line::of(4);
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
