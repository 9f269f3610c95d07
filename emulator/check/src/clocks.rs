//! Happens-before knowledge of waves: which accesses of other waves are ordered before a wave's current instruction, by
//! barriers of its workgroup and by atomic operations.
//!
//! An atomic operation acquires the knowledge left at its address; if it writes, it also releases: it leaves what its
//! wave knows. Loads and stores with a coherence bit count as atomic, because compilers emit them for atomic loads and
//! stores. Whether the program also waits for its stores and handles caches as the memory model demands is not checked
//! here.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::stamp::{Moment, Stamp};

/// What is known about one other workgroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    /// All accesses before this number of barriers have happened.
    epochs: u32,
    /// For single waves (wave, releases): all its accesses up to that release have happened.
    waves: Vec<(u32, u32)>,
}

/// What is known about other workgroups, by [`Stamp::group_of`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(HashMap<u32, Known>);

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (&group, theirs) in &other.0 {
            let ours = self.0.entry(group).or_default();
            ours.epochs = ours.epochs.max(theirs.epochs);
            for &(wave, releases) in &theirs.waves {
                match ours.waves.iter_mut().find(|(w, _)| *w == wave) {
                    Some((_, known)) => *known = releases.max(*known),
                    None => ours.waves.push((wave, releases)),
                }
            }
        }
    }

    /// Whether an access of another workgroup is known to have happened.
    #[inline]
    fn covers(&self, stamp: Stamp) -> bool {
        !self.0.is_empty() && self.covers_group(stamp)
    }

    fn covers_group(&self, stamp: Stamp) -> bool {
        let Some(known) = self.0.get(&stamp.group()) else {
            return false;
        };
        let (Some(epoch), Some(release)) = (stamp.epoch(), stamp.release()) else {
            // The counts are saturated: treat the access as ordered.
            return true;
        };
        epoch < known.epochs
            || known
                .waves
                .iter()
                .any(|&(wave, releases)| wave == stamp.wave() && release <= releases)
    }
}

/// The knowledge left by atomic operations, by address, for all workgroups of a launch.
#[derive(Default)]
pub(super) struct Passed {
    left: Mutex<HashMap<u64, Clock>>,
    /// Whether a thread has the turn.
    turn: AtomicBool,
}

impl Passed {
    /// Waits until no other thread has the turn. A turn lasts for one instruction.
    pub(super) fn take_turn(&self) {
        while self.turn.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
    }

    /// Ends this thread's turn.
    pub(super) fn end_turn(&self) {
        self.turn.store(false, Ordering::Release);
    }
}

/// The knowledge of the waves of one workgroup.
#[derive(Default)]
pub(super) struct Clocks {
    group: u64,
    /// `group`, as stamps encode it.
    group_code: u32,
    epoch: u32,
    /// What all waves have known since their last barrier.
    common: Clock,
    /// For each wave, what it has learned since, and its number of releases.
    waves: Vec<(Clock, u32)>,
}

impl Clocks {
    pub(super) fn begin(&mut self, group: u64, waves: usize) {
        (self.group, self.epoch) = (group, 0);
        self.group_code = Stamp::group_of(group);
        self.common.0.clear();
        self.waves.clear();
        self.waves.resize_with(waves, Default::default);
    }

    pub(super) fn now(&self, wave: u32) -> Moment {
        Moment {
            group: self.group,
            wave,
            epoch: self.epoch,
            release: self.waves.get(wave as usize).map_or(0, |wave| wave.1),
        }
    }

    /// All waves meet at a barrier: each learns what the others know.
    pub(super) fn barrier(&mut self) {
        self.epoch += 1;
        for (learned, _) in &mut self.waves {
            if !learned.0.is_empty() {
                self.common.join(learned);
                learned.0.clear();
            }
        }
    }

    /// Whether an access happened before the current instruction of a wave.
    #[inline]
    pub(super) fn is_ordered(&self, wave: u32, stamp: Stamp) -> bool {
        if stamp.group() == self.group_code {
            return stamp.wave() == wave || stamp.epoch().is_none_or(|epoch| epoch < self.epoch);
        }
        self.common.covers(stamp)
            || (self.waves.get(wave as usize)).is_some_and(|(learned, _)| learned.covers(stamp))
    }

    /// The wave acquires what was left at an address and releases what it knows.
    pub(super) fn pass(
        &mut self,
        wave: u32,
        address: u64,
        acquires: bool,
        releases: bool,
        passed: &Passed,
    ) {
        let Some((learned, count)) = self.waves.get_mut(wave as usize) else {
            return;
        };
        // A panic elsewhere cannot leave the map inconsistent.
        let mut passed = passed.left.lock().unwrap_or_else(PoisonError::into_inner);
        if acquires && let Some(left) = passed.get(&address) {
            learned.join(left);
            // The wave's own workgroup is not part of its clock.
            learned.0.remove(&Stamp::group_of(self.group));
        }
        if releases {
            let left = passed.entry(address).or_default();
            left.join(&self.common);
            left.join(learned);
            let mine = Known {
                epochs: self.epoch,
                waves: vec![(wave, *count)],
            };
            left.join(&Clock(HashMap::from([(Stamp::group_of(self.group), mine)])));
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(group: u64) -> Clocks {
        let mut clocks = Clocks::default();
        clocks.begin(group, 2);
        clocks
    }

    fn stamp(clocks: &Clocks, wave: u32) -> Stamp {
        Stamp::new(clocks.now(wave), 0, false)
    }

    #[test]
    fn waves_meet_at_barriers() {
        let mut clocks = clocks(5);
        let early = stamp(&clocks, 0);
        assert!(clocks.is_ordered(0, early));
        assert!(!clocks.is_ordered(1, early));
        clocks.barrier();
        assert!(clocks.is_ordered(1, early));
    }

    #[test]
    fn atomics_pass_what_a_wave_knows() {
        let passed = Passed::default();
        let (mut a, mut b, mut c) = (clocks(1), clocks(2), clocks(3));
        let other_wave = stamp(&a, 1);
        let early = stamp(&a, 0);
        a.pass(0, 64, true, true, &passed);
        let late = stamp(&a, 0);
        b.pass(1, 64, true, true, &passed);
        assert!(b.is_ordered(1, early));
        assert!(!b.is_ordered(1, late), "what came after the release");
        assert!(!b.is_ordered(1, other_wave), "a wave that met no other");
        assert!(!b.is_ordered(0, early), "the other wave was told nothing");
        b.barrier();
        assert!(b.is_ordered(0, early));
        // b acquired knowledge from a and now releases it to c.
        b.pass(0, 128, false, true, &passed);
        c.pass(0, 128, true, false, &passed);
        assert!(c.is_ordered(0, early));
        c.pass(1, 256, true, false, &passed);
        assert!(!c.is_ordered(1, early));
    }

    #[test]
    fn a_barrier_before_the_release_counts_for_all_waves() {
        let passed = Passed::default();
        let (mut a, mut b) = (clocks(1), clocks(2));
        let other_wave = stamp(&a, 1);
        a.barrier();
        a.pass(0, 64, false, true, &passed);
        b.pass(0, 64, true, false, &passed);
        assert!(b.is_ordered(0, other_wave));
    }
}
