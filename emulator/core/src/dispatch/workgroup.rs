//! One workgroup: its waves take turns until all have ended.

use std::mem;

use rand::{RngExt as _, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg32;

use super::{Standing, UNDEFINED, meter::Meter, start::Start};
use crate::exec::{
    Code, Context, Fault, FaultKind, GlobalSync, GlobalWait, GroupStart, ObservedAccesses,
    Observer, Stop, Turn, Wave, run,
};
use crate::memory::View;

/// What a worker keeps from one workgroup to the next; of one that is under way, its state.
#[derive(Default)]
pub(super) struct Workspace {
    waves: Vec<Wave>,
    lds: Vec<u32>,
    /// What accesses looked like, for observers.
    accesses: ObservedAccesses,
    states: Vec<State>,
    /// The waves, in the order of their turns.
    order: Vec<usize>,
    shuffle: Option<Pcg32>,
}

/// How long a workgroup runs before others may.
#[derive(Clone, Copy)]
pub(super) struct Slice {
    /// Instructions of the workgroup.
    pub(super) instructions: u64,
    /// Instructions that a wave runs before the next gets its turn, so that one which waits for another by looking at
    /// memory does not wait forever.
    pub(super) turn: u64,
    /// Whether others may run as soon as a wave sleeps.
    pub(super) ends_with_sleep: bool,
}

/// Instructions that a wave's sleep counts for, so that one which sleeps again and again comes to the end of its slice.
const SLEEP: u64 = 64;

/// As [`Slice::turn`], while a wave waits for others to read LDS: they do so soon behind the barrier, and may as well spin until
/// it has stored.
const READING_TURN: u64 = 1 << 10;

/// As [`Slice::turn`], where a seed decides: so short that waves come between each other's instructions.
const LONGEST_SHUFFLED_TURN: u64 = 128;

/// How a workgroup's slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All waves have ended.
    Ended,
    /// The slice is used up.
    Ran,
    /// All waves that have not ended wait, some of them for other workgroups.
    Waits,
}

/// Why a workgroup came to no good end.
pub(super) enum End {
    /// A wave faulted.
    Fault { wave: u32, fault: Box<Fault> },
    /// A limit of the launch is reached.
    Limit,
}

/// A workgroup to run.
pub(super) struct Group<'a> {
    pub(super) start: &'a Start<'a>,
    pub(super) code: &'a Code,
    pub(super) view: &'a View,
    pub(super) workgroup: [u32; 3],
    /// Its place in the order of the grid.
    pub(super) number: u64,
    /// Address of its private memory.
    pub(super) private: u64,
    pub(super) seed: u64,
    /// What counts the launch's instructions, if something does.
    pub(super) meter: Option<&'a Meter>,
    /// Barriers and semaphores of all workgroups, if the launch is cooperative.
    pub(super) global_sync: Option<&'a GlobalSync>,
}

impl Group<'_> {
    /// Instructions of the next turn.
    fn turn(&self, slice: Slice) -> u64 {
        match self.meter {
            None => slice.turn,
            Some(meter) => slice.turn.min(meter.turn()),
        }
    }
}

/// A wave's place in the schedule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    /// Queued at a barrier or semaphore of the launch.
    Queued(GlobalWait),
    Ended,
}

impl Workspace {
    /// Sets up a workgroup.
    pub(super) fn begin<O: Observer>(&mut self, group: &Group<'_>, observer: &mut O) {
        let count = group.start.waves() as usize;
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
            .resize(group.start.allocated_lds_bytes() as usize / 4, UNDEFINED);
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

    /// Runs a slice of a workgroup that has begun, and adds to `instructions` what it took.
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
            let (mut ran, mut slept, mut gave_way) = (false, false, false);
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
                ran = true;
                let mut turn = group.turn(slice);
                if O::ACTIVE {
                    turn = turn.min(observer.turn());
                }
                if gave_way {
                    turn = turn.min(READING_TURN);
                }
                if let Some(rng) = &mut self.shuffle {
                    turn = turn.min(rng.random_range(1..=LONGEST_SHUFFLED_TURN));
                }
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
                states[index] = match stop {
                    Stop::Ended => State::Ended,
                    Stop::Barrier => State::AtBarrier,
                    Stop::Budget => State::Ready,
                    Stop::Later => {
                        gave_way = true;
                        State::Ready
                    }
                    Stop::Yield => {
                        slept = true;
                        spent += SLEEP;
                        State::Ready
                    }
                    Stop::Wait => match waves[index].global_wait.take() {
                        Some(wait) => State::Queued(wait),
                        None => State::Ready,
                    },
                    Stop::Fault => {
                        if let Some(fault) = context.take_fault() {
                            observer.end(waves, context);
                            return Err(End::Fault {
                                wave: index as u32,
                                fault,
                            });
                        }
                        State::Ended
                    }
                };
            }
            if !states.contains(&State::Ready) {
                if states.iter().any(|state| matches!(state, State::Queued(_))) {
                    // Those at a barrier wait for them, too.
                    if !ran {
                        return Ok(Progress::Waits);
                    }
                } else if states.contains(&State::AtBarrier) {
                    // All live waves wait: the barrier is complete, as ended ones do not count (CDNA4 ISA guide,
                    // «Workgroups», 4.3). So there is none that can never complete.
                    if O::ACTIVE {
                        let waiting: Vec<bool> = states
                            .iter()
                            .map(|state| *state == State::AtBarrier)
                            .collect();
                        observer.barrier(waves, &waiting, context);
                    }
                    for (state, wave) in states.iter_mut().zip(&mut *waves) {
                        if *state == State::AtBarrier {
                            *state = State::Ready;
                            wave.lds_turn = behind_barrier;
                        }
                    }
                } else {
                    observer.end(waves, context);
                    return Ok(Progress::Ended);
                }
            }
            if spent >= slice.instructions || slept && slice.ends_with_sleep {
                return Ok(Progress::Ran);
            }
        }
    }

    /// What each wave does, and the number of its next instruction.
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

    /// The first wave that waits for other workgroups, as one that waits forever.
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

/// What a wave that has not used LDS since a barrier has to do: only several waves that take turns in order give way.
fn behind_barrier(is_shuffled: bool, waves: usize) -> Turn {
    match !is_shuffled && waves > 1 {
        true => Turn::Before,
        false => Turn::Given,
    }
}

/// A workgroup's own seed.
fn mixed(seed: u64, workgroup: [u32; 3]) -> u64 {
    workgroup.iter().fold(seed, |seed, &id| {
        (seed ^ u64::from(id))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
    })
}

fn as_bytes(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: every byte pattern is a `u8` and the length is the same memory's.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 4 * words.len()) }
}
