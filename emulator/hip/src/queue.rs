//! The order of a device's work: the last task of each stream, and how streams synchronize with the default stream.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{error::Failure, task::Task};

/// How a stream synchronizes with the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The default stream itself: it and all blocking streams wait for each other.
    Default,
    /// It and the default stream wait for each other.
    Blocking,
    /// It does not synchronize with the default stream.
    NonBlocking,
}

/// The default stream's ID, in place of a handle.
pub(super) const DEFAULT: usize = 0;

struct Tail {
    task: Arc<Task>,
    blocking: bool,
}

#[derive(Default)]
struct State {
    /// Number of submissions, which gives each its position in the order of submission.
    sequence: u64,
    default: Option<Arc<Task>>,
    tails: HashMap<usize, Tail>,
}

/// The streams of one device, with their last tasks.
#[derive(Default)]
pub(super) struct Queues(Mutex<State>);

impl State {
    fn dependencies(&self, stream: usize, order: Order) -> Vec<Arc<Task>> {
        let own = self.tails.get(&stream).map(|tail| &tail.task);
        let others: Vec<&Arc<Task>> = match order {
            Order::Default => {
                let blocking = self.tails.values().filter(|tail| tail.blocking);
                blocking
                    .map(|tail| &tail.task)
                    .chain(&self.default)
                    .collect()
            }
            Order::Blocking => self.default.iter().collect(),
            Order::NonBlocking => Vec::new(),
        };
        own.into_iter().chain(others).map(Arc::clone).collect()
    }
}

impl Queues {
    fn state(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits work to a stream. `submit` gets the tasks to wait for and the work's sequence number, and returns the
    /// work's last task.
    pub(super) fn submit(
        &self,
        stream: usize,
        order: Order,
        submit: impl FnOnce(Vec<Arc<Task>>, u64) -> Arc<Task>,
    ) -> (Arc<Task>, u64) {
        let mut state = self.state();
        state.sequence += 1;
        let sequence = state.sequence;
        let task = submit(state.dependencies(stream, order), sequence);
        if order == Order::Default {
            state.default = Some(Arc::clone(&task));
            // Completed tasks are not waited for.
            state.tails.retain(|_, tail| !tail.task.is_over());
        } else {
            let tail = Tail {
                task: Arc::clone(&task),
                blocking: order == Order::Blocking,
            };
            state.tails.insert(stream, tail);
        }
        (task, sequence)
    }

    /// The tasks that new work in a stream would wait for.
    pub(super) fn dependencies(&self, stream: usize, order: Order) -> Vec<Arc<Task>> {
        self.state().dependencies(stream, order)
    }

    /// Waits for a stream's work; for the default stream also for that of all blocking streams.
    pub(super) fn wait(&self, stream: usize, order: Order) -> Result<(), Failure> {
        wait_all(&self.dependencies(stream, order))
    }

    fn all(&self) -> Vec<Arc<Task>> {
        let state = self.state();
        let tails = state.tails.values().map(|tail| &tail.task);
        tails.chain(&state.default).map(Arc::clone).collect()
    }

    /// Waits for all of the device's work.
    pub(super) fn wait_for_all(&self) -> Result<(), Failure> {
        wait_all(&self.all())
    }
}

fn wait_all(tasks: &[Arc<Task>]) -> Result<(), Failure> {
    tasks.iter().try_for_each(|task| task.wait())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn work(queues: &Queues, stream: usize, order: Order, gate: mpsc::Receiver<()>) -> Arc<Task> {
        let work = move || {
            let _ = gate.recv();
        };
        let submit = |tasks: Vec<_>, _| Task::submit(&tasks, Some(Box::new(work)));
        queues.submit(stream, order, submit).0
    }

    fn nothing(queues: &Queues, stream: usize, order: Order) -> Arc<Task> {
        queues
            .submit(stream, order, |tasks, _| Task::submit(&tasks, None))
            .0
    }

    #[test]
    fn the_default_stream_and_the_blocking_ones_wait_for_each_other() {
        let queues = Queues::default();
        let (open, gate) = mpsc::channel();
        let blocking = work(&queues, 16, Order::Blocking, gate);
        assert!(nothing(&queues, 32, Order::Blocking).is_over());
        assert!(nothing(&queues, 48, Order::NonBlocking).is_over());
        let default = nothing(&queues, DEFAULT, Order::Default);
        let other = nothing(&queues, 32, Order::Blocking);
        assert!(nothing(&queues, 48, Order::NonBlocking).is_over());
        assert!(!blocking.is_over() && !default.is_over() && !other.is_over());
        drop(open);
        assert!(queues.wait_for_all().is_ok());
        assert!(blocking.is_over() && default.is_over() && other.is_over());
        assert!(blocking.over_at() <= default.over_at() && default.over_at() <= other.over_at());
    }
}
