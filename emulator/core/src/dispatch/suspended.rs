//! Workgroups that have begun, have not ended and are not running: what lets those of one launch wait for each other.

use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A workgroup with whatever it takes along, set aside.
pub(super) struct Suspended<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// How many there are, to be read without the lock.
    count: AtomicUsize,
}

struct State<T> {
    /// Those that can run, in the order in which they came.
    ready: VecDeque<T>,
    /// Those that can not before another workgroup has done something, each with the number of changes that it has seen.
    waiting: Vec<(T, u64)>,
    /// Workgroups that were taken and not given back.
    running: usize,
    /// The most changes that a workgroup was given back after.
    changes: u64,
    stopped: bool,
}

/// What there is to do.
pub(super) enum Next<T> {
    /// To run this one.
    Run(T),
    /// Nothing: the rest is in other hands.
    Nothing,
    /// None can run any more, as each waits for others.
    Stuck,
}

impl<T> Suspended<T> {
    /// Of workgroups that are ready.
    pub(super) fn new(ready: VecDeque<T>) -> Self {
        Suspended {
            count: AtomicUsize::new(ready.len()),
            state: Mutex::new(State {
                ready,
                waiting: Vec::new(),
                running: 0,
                changes: 0,
                stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        // Whole between statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a workgroup to run it. Waits where only others that run can let one go on.
    pub(super) fn take(&self) -> Next<T> {
        let mut state = self.state();
        loop {
            if state.stopped {
                return Next::Nothing;
            }
            if let Some(next) = state.ready.pop_front() {
                state.running += 1;
                self.count.fetch_sub(1, Ordering::Relaxed);
                return Next::Run(next);
            }
            if state.waiting.is_empty() {
                return Next::Nothing;
            }
            if state.running == 0 {
                return Next::Stuck;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A workgroup that was taken has ended, after so many changes.
    pub(super) fn ended(&self, changes: u64) {
        let mut state = self.state();
        state.running -= 1;
        self.wake(&mut state, changes);
    }

    /// Gives back one that was taken, after so many changes: ready, or waiting for more changes than it has seen.
    pub(super) fn give_back(&self, workgroup: T, waits: Option<u64>, changes: u64) {
        let mut state = self.state();
        state.running -= 1;
        self.count.fetch_add(1, Ordering::Relaxed);
        match waits {
            Some(seen) => state.waiting.push((workgroup, seen)),
            None => state.ready.push_back(workgroup),
        }
        self.wake(&mut state, changes);
    }

    /// Sets one aside that was not taken from here.
    pub(super) fn add(&self, workgroup: T) {
        self.state().ready.push_back(workgroup);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Nothing is taken any more.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    /// What is left.
    pub(super) fn into_rest(self) -> impl Iterator<Item = T> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let waiting = state.waiting.into_iter().map(|(workgroup, _)| workgroup);
        state.ready.into_iter().chain(waiting)
    }

    /// Wakes waiting workgroups that have missed a change. Every change is followed by a call of this.
    fn wake(&self, state: &mut State<T>, changes: u64) {
        state.changes = state.changes.max(changes);
        let changes = state.changes;
        let State { ready, waiting, .. } = state;
        ready.extend(
            waiting
                .extract_if(.., |(_, seen)| *seen < changes)
                .map(|(workgroup, _)| workgroup),
        );
        self.changed.notify_all();
    }
}
