//! Tasks: work with dependencies, run by worker threads.
//!
//! A task only depends on tasks created before it, so there are no cycles. A task without work completes as soon as its
//! dependencies have.

use std::{
    cell::Cell,
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use ferrowave_hip_abi::hipError_t;

use super::error::{Failure, guarded_work};

type Work = Box<dyn FnOnce() + Send>;

/// A task.
pub(super) struct Task {
    /// Number of incomplete dependencies, plus one while [`Task::submit`] counts them.
    waits: AtomicUsize,
    state: Mutex<State>,
    over: Condvar,
}

#[derive(Default)]
struct State {
    work: Option<Work>,
    /// Tasks that depend on this one.
    after: Vec<Arc<Task>>,
    over_at: Option<Instant>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock is ignored: the state is valid between statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Task {
    /// Submits work that starts when all `dependencies` are complete.
    pub(super) fn submit(dependencies: &[Arc<Task>], work: Option<Work>) -> Arc<Self> {
        let task = Arc::new(Task {
            waits: AtomicUsize::new(1),
            state: Mutex::new(State {
                work,
                ..State::default()
            }),
            over: Condvar::new(),
        });
        for dependency in dependencies {
            let mut state = locked(&dependency.state);
            if state.over_at.is_none() {
                task.waits.fetch_add(1, Ordering::Relaxed);
                state.after.push(Arc::clone(&task));
            }
        }
        Self::release(vec![Arc::clone(&task)]);
        task
    }

    /// Subtracts one dependency from each of these tasks. A task without further dependencies runs, or completes if it
    /// has no work.
    fn release(mut tasks: Vec<Arc<Task>>) {
        while let Some(task) = tasks.pop() {
            // Acquires what all threads that completed a dependency have written.
            if task.waits.fetch_sub(1, Ordering::AcqRel) > 1 {
                continue;
            }
            let work = locked(&task.state).work.take();
            match work {
                Some(work) => WORKERS.push(Ready { task, work }),
                None => tasks.extend(task.end()),
            }
        }
    }

    /// Marks the task as complete, and returns the tasks that depend on it.
    fn end(&self) -> Vec<Arc<Task>> {
        let mut state = locked(&self.state);
        state.over_at = Some(Instant::now());
        self.over.notify_all();
        std::mem::take(&mut state.after)
    }

    /// When the task completed; `None` if it has not.
    pub(super) fn over_at(&self) -> Option<Instant> {
        locked(&self.state).over_at
    }

    pub(super) fn is_over(&self) -> bool {
        self.over_at().is_some()
    }

    /// Whether another task waits for this one, directly or through others. False if this one has ended.
    pub(super) fn is_awaited_by(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let (mut seen, mut next) = (HashSet::new(), vec![Arc::clone(self)]);
        while let Some(task) = next.pop() {
            if Arc::ptr_eq(&task, other) {
                return true;
            }
            if seen.insert(Arc::as_ptr(&task)) {
                next.extend(locked(&task.state).after.iter().map(Arc::clone));
            }
        }
        false
    }

    /// Waits for the task. An error in a host function that a stream called, because it would wait for itself.
    pub(super) fn wait(&self) -> Result<(), Failure> {
        if IS_WORKER.get() && !self.is_over() {
            return Err(Failure::new(
                hipError_t::hipErrorIllegalState,
                "a host function that a stream calls must not wait for the device",
            ));
        }
        let mut state = locked(&self.state);
        while state.over_at.is_none() {
            state = self
                .over
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }
}

/// A task whose dependencies are complete.
struct Ready {
    task: Arc<Task>,
    work: Work,
}

impl Ready {
    fn run(self) {
        guarded_work(self.work);
        Task::release(self.task.end());
    }
}

/// Worker threads. There are as many as there are running tasks, because a task may block until the program acts.
struct Workers {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<Ready>,
    idle: usize,
}

static WORKERS: LazyLock<Workers> = LazyLock::new(|| Workers {
    queue: Mutex::default(),
    arrived: Condvar::new(),
});

/// How long an idle thread waits for work.
const PATIENCE: Duration = Duration::from_secs(5);

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

impl Workers {
    fn push(&self, ready: Ready) {
        let mut queue = locked(&self.queue);
        queue.ready.push_back(ready);
        if queue.idle >= queue.ready.len() {
            drop(queue);
            self.arrived.notify_one();
            return;
        }
        drop(queue);
        let spawned = thread::Builder::new()
            .name("ferrowave-stream".to_owned())
            .spawn(|| WORKERS.work());
        if spawned.is_err() {
            // If no thread can be created, this thread runs the task, unless another thread has taken it.
            let ready = locked(&self.queue).ready.pop_front();
            if let Some(ready) = ready {
                let was_worker = IS_WORKER.replace(true);
                ready.run();
                IS_WORKER.set(was_worker);
            }
        }
    }

    fn work(&self) {
        IS_WORKER.set(true);
        let mut queue = locked(&self.queue);
        loop {
            if let Some(ready) = queue.ready.pop_front() {
                drop(queue);
                ready.run();
                queue = locked(&self.queue);
                continue;
            }
            queue.idle += 1;
            let (woken, waited) = self
                .arrived
                .wait_timeout(queue, PATIENCE)
                .unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle -= 1;
            if waited.timed_out() && queue.ready.is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_task_runs_after_those_it_waits_for() {
        let (said, heard) = mpsc::channel();
        let (open, gate) = mpsc::channel::<()>();
        let first = {
            let said = said.clone();
            let work = move || {
                let _ = gate.recv();
                let _ = said.send(1);
            };
            Task::submit(&[], Some(Box::new(work)))
        };
        let empty = Task::submit(&[Arc::clone(&first)], None);
        let last = {
            let said = said.clone();
            let dependencies = [Arc::clone(&empty), Arc::clone(&first)];
            Task::submit(
                &dependencies,
                Some(Box::new(move || {
                    let _ = said.send(2);
                })),
            )
        };
        let unrelated = Task::submit(
            &[],
            Some(Box::new(move || {
                let _ = said.send(0);
            })),
        );
        assert!(unrelated.wait().is_ok());
        assert!(!first.is_over() && !empty.is_over() && !last.is_over());
        assert!(open.send(()).is_ok());
        assert!(last.wait().is_ok());
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(first.over_at() <= empty.over_at() && empty.over_at() <= last.over_at());
    }

    #[test]
    fn a_long_chain_of_empty_tasks_is_no_recursion() {
        let (open, gate) = mpsc::channel::<()>();
        let mut last = Task::submit(
            &[],
            Some(Box::new(move || {
                let _ = gate.recv();
            })),
        );
        for _ in 0..100_000 {
            last = Task::submit(&[Arc::clone(&last)], None);
        }
        drop(open);
        assert!(last.wait().is_ok());
    }

    #[test]
    fn a_panic_ends_its_task_only() {
        let task = Task::submit(&[], Some(Box::new(|| panic!("as the test wants"))));
        assert!(task.wait().is_ok());
        let (said, heard) = mpsc::channel();
        let work = move || {
            let task = Task::submit(
                &[],
                Some(Box::new(|| thread::sleep(Duration::from_millis(200)))),
            );
            let _ = said.send(task.wait().map_err(|failure| failure.code));
        };
        Task::submit(&[task], Some(Box::new(work)));
        assert_eq!(heard.recv(), Ok(Err(hipError_t::hipErrorIllegalState)));
    }
}
