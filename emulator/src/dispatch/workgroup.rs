//! One workgroup: its waves take turns until all have ended.

use rand::{SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg32;

use super::start::{Start, UNDEFINED};
use crate::{
    exec::{Code, Context, Fault, Observer, Stop, Wave, run},
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

/// A wave's fault, and its number.
pub(super) struct WaveFault {
    pub(super) wave: u32,
    pub(super) fault: Fault,
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
    #[expect(
        clippy::too_many_arguments,
        reason = "the launch's parts, each of its own kind"
    )]
    pub(super) fn run<O: Observer>(
        &mut self,
        start: &Start<'_>,
        code: &Code,
        view: &View,
        lds_bytes: u32,
        workgroup: [u32; 3],
        seed: u64,
        observer: &mut O,
    ) -> Result<u64, WaveFault> {
        let count = start.waves();
        while self.waves.len() < count as usize {
            self.waves.push(Wave::new());
        }
        let waves = &mut self.waves[..count as usize];
        for (index, wave) in waves.iter_mut().enumerate() {
            start.wave(wave, index as u32, workgroup);
        }
        self.lds.clear();
        self.lds.resize((lds_bytes as usize).div_ceil(4), UNDEFINED);
        let lds = &mut as_bytes(&mut self.lds)[..lds_bytes as usize];
        let mut context = Context::new(code, view, lds);
        let mut states = vec![State::Ready; count as usize];
        let mut order: Vec<usize> = (0..count as usize).collect();
        let mut shuffle = (seed != 0).then(|| Pcg32::seed_from_u64(mixed(seed, workgroup)));
        let mut instructions = 0;
        loop {
            if let Some(rng) = &mut shuffle {
                order.shuffle(rng);
            }
            for &index in &order {
                if states[index] != State::Ready {
                    continue;
                }
                let mut budget = TURN;
                let stop = run(&mut waves[index], &mut context, &mut budget, observer);
                instructions += TURN - budget;
                states[index] = match stop {
                    Stop::Ended => State::Ended,
                    Stop::Barrier => State::AtBarrier,
                    Stop::Budget => State::Ready,
                    Stop::Fault => {
                        if let Some(fault) = context.take_fault() {
                            return Err(WaveFault {
                                wave: index as u32,
                                fault: *fault,
                            });
                        }
                        State::Ended
                    }
                };
            }
            if !states.contains(&State::Ready) {
                // Waves that have ended do not hold up a barrier.
                if !states.contains(&State::AtBarrier) {
                    return Ok(instructions);
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
