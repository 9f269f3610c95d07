//! Runs one workgroup: its waves take turns until all have ended.

use std::mem;

use rand::{RngExt as _, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg32;

use super::{INITIAL, Standing, meter::Meter, start::Start};
use crate::exec::{
    BarrierPhase, Code, Context, Fault, FaultKind, GlobalSync, GlobalWait, GroupStart,
    ObservedAccesses, Observer, Stop, Turn, Wave, run,
};
use crate::memory::View;

/// The state of a workgroup that has started. A thread reuses the workspace of a workgroup that has ended.
#[derive(Default)]
pub(super) struct Workspace {
    waves: Vec<Wave>,
    lds: Vec<u32>,
    /// The observed accesses of the last instruction.
    accesses: ObservedAccesses,
    states: Vec<State>,
    /// The order of the waves' turns.
    order: Vec<usize>,
    shuffle: Option<Pcg32>,
}

/// How long a workgroup runs before others may run.
#[derive(Clone, Copy)]
pub(super) struct Slice {
    /// Maximum instructions of the workgroup.
    pub(super) instructions: u64,
    /// Maximum instructions of a wave's turn: a wave that polls memory for another wave's store must not run forever.
    pub(super) turn: u64,
    /// Whether the slice ends when a wave sleeps.
    pub(super) ends_with_sleep: bool,
}

/// The number of instructions that a sleep counts for, so that a wave that sleeps in a loop uses up its slice.
const SLEEP: u64 = 64;

/// Maximum of [`Slice::turn`] while a wave waits for others to read LDS. They read soon after the barrier; one that polls
/// for the waiting wave's store instead must not run for long.
const READING_TURN: u64 = 1 << 10;

/// Maximum of [`Slice::turn`] with a seed: short, so that the waves' instructions interleave.
const LONGEST_SHUFFLED_TURN: u64 = 128;

/// How a workgroup's slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All waves have ended.
    Ended,
    /// The slice was used up.
    Ran,
    /// All waves that have not ended wait, at least one for other workgroups.
    Waits,
}

/// Why a workgroup did not end normally.
pub(super) enum End {
    /// A wave faulted.
    Fault { wave: u32, fault: Box<Fault> },
    /// A limit of the launch was reached.
    Limit,
}

/// A workgroup to run.
pub(super) struct Group<'a> {
    pub(super) start: &'a Start<'a>,
    pub(super) code: &'a Code,
    pub(super) view: &'a View,
    pub(super) workgroup: [u32; 3],
    /// Its number in the grid.
    pub(super) number: u64,
    /// The address of its private memory.
    pub(super) private: u64,
    pub(super) seed: u64,
    /// Counts instructions, if the launch has a meter.
    pub(super) meter: Option<&'a Meter>,
    /// Global wave sync, if the launch is cooperative.
    pub(super) global_sync: Option<&'a GlobalSync>,
}

impl Group<'_> {
    /// The maximum number of instructions in the next turn.
    fn turn(&self, slice: Slice) -> u64 {
        match self.meter {
            None => slice.turn,
            Some(meter) => slice.turn.min(meter.turn()),
        }
    }
}

/// The scheduling state of a wave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    /// Waits at a barrier or semaphore of the whole launch.
    Queued(GlobalWait),
    Ended,
}

impl Workspace {
    /// Initializes the workspace for a workgroup.
    pub(super) fn begin<O: Observer>(&mut self, group: &Group<'_>, observer: &mut O) {
        let count = group.start.waves(group.workgroup) as usize;
        while self.waves.len() < count {
            self.waves.push(Wave::default());
        }
        let waves = &mut self.waves[..count];
        for (index, wave) in waves.iter_mut().enumerate() {
            group
                .start
                .wave(wave, index as u32, group.workgroup, group.private);
        }
        self.lds.clear();
        self.lds
            .resize(group.start.allocated_lds_bytes() as usize / 4, INITIAL);
        self.states.clear();
        self.states.resize(count, State::Ready);
        self.order.clear();
        self.order.extend(0..count);
        self.shuffle =
            (group.seed != 0).then(|| Pcg32::seed_from_u64(mixed(group.seed, group.workgroup)));
        for wave in &mut *waves {
            wave.lds_turn = behind_barrier(self.shuffle.is_some(), count);
        }
        if O::ACTIVE {
            observer.begin(&GroupStart {
                workgroup: group.workgroup,
                number: group.number,
                waves,
                lds_bytes: group.start.lds_bytes,
                prepared: group.start.prepared(),
            });
        }
    }

    /// Runs a slice of a workgroup that has started, and adds the executed instructions to `instructions`.
    pub(super) fn run<O: Observer>(
        &mut self,
        group: &Group<'_>,
        observer: &mut O,
        slice: Slice,
        instructions: &mut u64,
    ) -> Result<Progress, End> {
        let mut lds = mem::take(&mut self.lds);
        let mut context = Context::new(group.code, group.view, as_bytes(&mut lds));
        context.watched = O::ACTIVE;
        context.global_sync = group.global_sync;
        context.accesses = mem::take(&mut self.accesses);
        let progress = self.take_turns(group, observer, slice, instructions, &mut context);
        self.accesses = context.accesses;
        self.lds = lds;
        progress
    }

    fn take_turns<O: Observer>(
        &mut self,
        group: &Group<'_>,
        observer: &mut O,
        slice: Slice,
        instructions: &mut u64,
        context: &mut Context<'_>,
    ) -> Result<Progress, End> {
        let behind_barrier = behind_barrier(self.shuffle.is_some(), self.states.len());
        let states = &mut self.states[..];
        let waves = &mut self.waves[..states.len()];
        let mut spent = 0;
        loop {
            if let Some(rng) = &mut self.shuffle {
                self.order.shuffle(rng);
            }
            let mut round = Round::default();
            for &index in &self.order {
                if let State::Queued(wait) = states[index] {
                    if !group.global_sync.is_some_and(|sync| sync.is_released(wait)) {
                        continue;
                    }
                    observer.released(index as u32, wait.resource);
                    states[index] = State::Ready;
                }
                if states[index] != State::Ready {
                    continue;
                }
                round.ran = true;
                let turn = turn(group, slice, observer, &mut self.shuffle, &round);
                if turn == 0 {
                    observer.end(waves, context);
                    return Err(End::Limit);
                }
                let mut budget = turn;
                let stop = run(&mut waves[index], context, &mut budget, observer);
                if let Some(meter) = group.meter {
                    meter.ran(turn - budget);
                }
                *instructions += turn - budget;
                spent += turn - budget;
                if O::ACTIVE && observer.is_done() {
                    observer.end(waves, context);
                    return Ok(Progress::Ended);
                }
                if stop == Stop::Fault
                    && let Some(fault) = context.take_fault()
                {
                    observer.end(waves, context);
                    return Err(End::Fault {
                        wave: index as u32,
                        fault,
                    });
                }
                if stop == Stop::Yield {
                    spent += SLEEP;
                }
                states[index] = state_after(stop, index, group, waves, &mut round);
                if is_complete(waves, states) {
                    complete(waves, states, behind_barrier, observer, context);
                }
            }
            if !states.contains(&State::Ready) {
                if states.iter().any(|state| matches!(state, State::Queued(_))) {
                    // Waves at a barrier wait for these waves as well.
                    if !round.ran {
                        return Ok(Progress::Waits);
                    }
                } else if states.contains(&State::AtBarrier) {
                    // All live waves wait at a barrier, so it is complete: ended waves do not count (CDNA4 ISA guide,
                    // «Workgroups», 4.3). So no barrier can wait forever.
                    complete(waves, states, behind_barrier, observer, context);
                } else {
                    observer.end(waves, context);
                    return Ok(Progress::Ended);
                }
            }
            if spent >= slice.instructions || round.slept && slice.ends_with_sleep {
                return Ok(Progress::Ran);
            }
        }
    }

    /// The state of each wave, and the index of its next instruction.
    pub(super) fn standings(&self) -> Vec<(Standing, u32)> {
        let standing = |state: &State| match state {
            State::Ready => Standing::Runs,
            State::AtBarrier => Standing::Waits,
            State::Queued(_) => Standing::Queued,
            State::Ended => Standing::Ended,
        };
        self.waves
            .iter()
            .zip(&self.states)
            .map(|(wave, state)| (standing(state), wave.pc))
            .collect()
    }

    /// The fault of the first wave that waits for other workgroups, if it waits forever.
    pub(super) fn never_released(&self) -> Option<(u32, Fault)> {
        let mut states = self.states.iter().zip(&self.waves).enumerate();
        states.find_map(|(index, (state, wave))| match state {
            State::Queued(wait) => Some((
                index as u32,
                Fault {
                    kind: FaultKind::NeverReleased {
                        resource: wait.resource,
                    },
                    operation: wave.pc.wrapping_sub(1),
                },
            )),
            _ => None,
        })
    }
}

/// What has happened since all waves could last run.
#[derive(Default)]
struct Round {
    ran: bool,
    slept: bool,
    /// A wave lets the others read LDS before it writes there.
    gave_way: bool,
}

/// The maximum number of instructions in a wave's next turn; 0 if a limit is reached.
fn turn<O: Observer>(
    group: &Group<'_>,
    slice: Slice,
    observer: &O,
    shuffle: &mut Option<Pcg32>,
    round: &Round,
) -> u64 {
    let mut turn = group.turn(slice);
    if O::ACTIVE {
        turn = turn.min(observer.turn());
    }
    if round.gave_way {
        turn = turn.min(READING_TURN);
    }
    if let Some(rng) = shuffle {
        turn = turn.min(rng.random_range(1..=LONGEST_SHUFFLED_TURN));
    }
    turn
}

/// The state of a wave that has stopped.
fn state_after(
    stop: Stop,
    index: usize,
    group: &Group<'_>,
    waves: &mut [Wave],
    round: &mut Round,
) -> State {
    match stop {
        Stop::Ended | Stop::Fault => State::Ended,
        Stop::Barrier => State::AtBarrier,
        Stop::Signal => {
            signalled(waves, index);
            State::Ready
        }
        Stop::Budget => State::Ready,
        Stop::Later => {
            round.gave_way = true;
            State::Ready
        }
        Stop::Yield => {
            round.slept = true;
            if let Some(hostcalls) = &group.start.data.hostcalls {
                // Only a kernel that damaged the buffer causes an error. It then waits forever, as on a GPU.
                let _ = hostcalls.answer();
            }
            State::Ready
        }
        Stop::Wait => match waves[index].global_wait.take() {
            Some(wait) => State::Queued(wait),
            None => State::Ready,
        },
    }
}

/// Notes that a wave has signalled the barrier, and tells it whether it is the first.
fn signalled(waves: &mut [Wave], index: usize) {
    if waves[index].barrier == BarrierPhase::AsksForFirst {
        let mut phases = waves.iter().map(|wave| wave.barrier);
        let is_first = !phases.any(|phase| phase == BarrierPhase::Signalled);
        waves[index].scc = is_first;
        waves[index].barrier = BarrierPhase::Signalled;
    }
}

/// Whether all waves that have not ended have signalled the barrier.
fn is_complete(waves: &[Wave], states: &[State]) -> bool {
    let mut live = waves
        .iter()
        .zip(states)
        .filter(|(_, state)| **state != State::Ended)
        .peekable();
    live.peek().is_some() && live.all(|(wave, _)| wave.barrier == BarrierPhase::Signalled)
}

/// Lets the waves at a barrier go on, and tells those that have only signalled that it is complete.
fn complete<O: Observer>(
    waves: &mut [Wave],
    states: &mut [State],
    behind_barrier: Turn,
    observer: &mut O,
    context: &mut Context<'_>,
) {
    if O::ACTIVE {
        let taking_part: Vec<bool> = states.iter().map(|state| *state != State::Ended).collect();
        observer.barrier(waves, &taking_part, context);
    }
    for (state, wave) in states.iter_mut().zip(waves) {
        wave.lds_turn = behind_barrier;
        wave.barrier = match *state {
            State::AtBarrier => {
                *state = State::Ready;
                BarrierPhase::Idle
            }
            _ => BarrierPhase::Complete,
        };
    }
}

/// The state of `lds_turn` after a barrier: waves give way to each other only if there are several and they run in
/// order.
fn behind_barrier(is_shuffled: bool, waves: usize) -> Turn {
    match !is_shuffled && waves > 1 {
        true => Turn::Before,
        false => Turn::Given,
    }
}

/// The seed of a workgroup.
fn mixed(seed: u64, workgroup: [u32; 3]) -> u64 {
    workgroup.iter().fold(seed, |seed, &id| {
        (seed ^ u64::from(id))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
    })
}

fn as_bytes(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: every byte pattern is a valid `u8`, and the length is that of the same memory.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 4 * words.len()) }
}
