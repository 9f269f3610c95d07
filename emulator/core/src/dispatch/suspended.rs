//! Workgroups that have started, have not ended and are not running. They allow workgroups of a launch to wait for each
//! other.

use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A queue of suspended workgroups with their state.
pub(super) struct Suspended<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// The number of suspended workgroups, readable without the lock.
    count: AtomicUsize,
}

struct State<T> {
    /// Workgroups that can run, in the order of their arrival.
    ready: VecDeque<T>,
    /// Workgroups that cannot run before another one makes a change, each with the number of changes that it has seen.
    waiting: Vec<(T, u64)>,
    /// The number of workgroups that were taken and not given back.
    running: usize,
    /// The latest number of changes reported by a workgroup.
    changes: u64,
    stopped: bool,
}

/// What a thread does next.
pub(super) enum Next<T> {
    /// Run this workgroup.
    Run(T),
    /// Nothing: other threads run the rest.
    Nothing,
    /// No workgroup can run, because each waits for another.
    Stuck,
}

impl<T> Suspended<T> {
    /// A queue of workgroups that can run.
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
        // A panic elsewhere cannot leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a workgroup to run. Blocks while only running workgroups can make one ready.
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

    /// A taken workgroup has ended; `changes` is the number of changes so far.
    pub(super) fn ended(&self, changes: u64) {
        let mut state = self.state();
        state.running -= 1;
        self.wake(&mut state, changes);
    }

    /// Gives back a taken workgroup. It is ready, or waits until there are more changes than `waits`.
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

    /// Adds a workgroup that was not taken from here.
    pub(super) fn add(&self, workgroup: T) {
        self.state().ready.push_back(workgroup);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of suspended workgroups.
    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// From now on, no workgroup is taken.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    /// The remaining workgroups.
    pub(super) fn into_rest(self) -> impl Iterator<Item = T> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let waiting = state.waiting.into_iter().map(|(workgroup, _)| workgroup);
        state.ready.into_iter().chain(waiting)
    }

    /// Wakes waiting workgroups that have missed a change. Must be called after every change.
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
