//! One workgroup: its waves take turns until all have ended.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::{RngExt as _, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg32;

use super::{
    Standing,
    start::{Start, UNDEFINED},
};
use crate::{
    exec::{Code, Context, Fault, GroupStart, Observer, Stop, Wave, run},
    memory::View,
};

/// Instructions that a wave runs before the next gets its turn, so that one which waits for another by
/// looking at memory does not wait forever.
const TURN: u64 = 1 << 20;

/// What a worker keeps from one workgroup to the next.
#[derive(Default)]
pub(super) struct Workspace {
    waves: Vec<Wave>,
    lds: Vec<u32>,
}

/// As [`TURN`], where the launch's instructions are limited: so many may run beyond the limit.
const LIMITED_TURN: u64 = 1 << 14;

/// As [`TURN`], where a seed decides: so short that waves come between each other's instructions.
const LONGEST_SHUFFLED_TURN: u64 = 128;

/// Why a workgroup came to no good end.
pub(super) enum End {
    /// A wave faulted.
    Fault { wave: u32, fault: Box<Fault> },
    /// The launch's instructions are used up: where each wave stands.
    Limit(Vec<(Standing, u32)>),
}

/// A workgroup to run.
pub(super) struct Group<'a> {
    pub(super) start: &'a Start<'a>,
    pub(super) code: &'a Code,
    pub(super) view: &'a View,
    pub(super) lds_bytes: u32,
    pub(super) workgroup: [u32; 3],
    /// Its place in the order of the grid.
    pub(super) number: u64,
    /// Address of its private memory.
    pub(super) private: u64,
    pub(super) seed: u64,
    /// Instructions that the launch may still run, if they are limited.
    pub(super) left: Option<&'a AtomicU64>,
}

impl Group<'_> {
    /// Instructions of the next turn.
    fn turn(&self) -> u64 {
        match self.left {
            None => TURN,
            Some(left) => LIMITED_TURN.min(left.load(Ordering::Relaxed)),
        }
    }

    /// Takes note of instructions that ran.
    fn used(&self, instructions: u64) {
        if let Some(left) = self.left {
            // Others take from it at the same time: it must not go below 0.
            let _ = left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left.saturating_sub(instructions))
            });
        }
    }
}

/// A wave's place in the schedule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    Ended,
}

impl Workspace {
    /// Runs a workgroup and returns the wave-instructions that it took.
    pub(super) fn run<O: Observer>(
        &mut self,
        group: &Group<'_>,
        observer: &mut O,
    ) -> Result<u64, End> {
        let count = group.start.waves();
        while self.waves.len() < count as usize {
            self.waves.push(Wave::new());
        }
        let waves = &mut self.waves[..count as usize];
        for (index, wave) in waves.iter_mut().enumerate() {
            group
                .start
                .wave(wave, index as u32, group.workgroup, group.private);
        }
        let lds_bytes = group.lds_bytes as usize;
        self.lds.clear();
        self.lds.resize(lds_bytes.div_ceil(4), UNDEFINED);
        let lds = &mut as_bytes(&mut self.lds)[..lds_bytes];
        let mut context = Context::new(group.code, group.view, lds);
        if O::ACTIVE {
            context.watched = true;
            observer.begin(&GroupStart {
                workgroup: group.workgroup,
                number: group.number,
                waves,
                lds_bytes: group.lds_bytes,
                prepared: group.start.prepared(),
            });
        }
        let mut states = vec![State::Ready; count as usize];
        let mut order: Vec<usize> = (0..count as usize).collect();
        let mut shuffle =
            (group.seed != 0).then(|| Pcg32::seed_from_u64(mixed(group.seed, group.workgroup)));
        let mut instructions = 0;
        loop {
            if let Some(rng) = &mut shuffle {
                order.shuffle(rng);
            }
            for &index in &order {
                if states[index] != State::Ready {
                    continue;
                }
                let mut turn = group.turn();
                if O::ACTIVE {
                    turn = turn.min(observer.turn());
                }
                if let Some(rng) = &mut shuffle {
                    turn = turn.min(rng.random_range(1..=LONGEST_SHUFFLED_TURN));
                }
                if turn == 0 {
                    observer.end(waves, &mut context);
                    return Err(End::Limit(standings(waves, &states)));
                }
                let mut budget = turn;
                let stop = run(&mut waves[index], &mut context, &mut budget, observer);
                group.used(turn - budget);
                instructions += turn - budget;
                if O::ACTIVE && observer.is_done() {
                    observer.end(waves, &mut context);
                    return Ok(instructions);
                }
                states[index] = match stop {
                    Stop::Ended => State::Ended,
                    Stop::Barrier => State::AtBarrier,
                    Stop::Budget => State::Ready,
                    Stop::Fault => {
                        if let Some(fault) = context.take_fault() {
                            observer.end(waves, &mut context);
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
                // All live waves wait: the barrier is complete, as ended ones do not count (CDNA4 ISA guide,
                // «Workgroups», 4.3). So there is none that can never complete.
                if !states.contains(&State::AtBarrier) {
                    observer.end(waves, &mut context);
                    return Ok(instructions);
                }
                if O::ACTIVE {
                    let waiting: Vec<bool> = states
                        .iter()
                        .map(|state| *state == State::AtBarrier)
                        .collect();
                    observer.barrier(waves, &waiting, &mut context);
                }
                for state in &mut states {
                    if *state == State::AtBarrier {
                        *state = State::Ready;
                    }
                }
            }
        }
    }
}

fn standings(waves: &[Wave], states: &[State]) -> Vec<(Standing, u32)> {
    let standing = |state: &State| match state {
        State::Ready => Standing::Runs,
        State::AtBarrier => Standing::Waits,
        State::Ended => Standing::Ended,
    };
    waves
        .iter()
        .zip(states)
        .map(|(wave, state)| (standing(state), wave.pc))
        .collect()
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
