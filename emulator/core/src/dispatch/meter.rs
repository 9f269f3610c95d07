//! The progress of a launch: for its limits, and for callers that wait for it.
//!
//! Only launches with limits or with progress reports have a meter. It is updated between the turns of waves.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::limit::{Limit, Limits};

/// The maximum number of instructions in a turn, and so the number that may run beyond a limit.
const TURN: u64 = 1 << 14;

/// Whether launches report their progress.
static FOLLOWED: AtomicBool = AtomicBool::new(false);

/// The most recently started launch that has not ended.
static LATEST: Mutex<Option<Arc<Meter>>> = Mutex::new(None);

fn latest() -> std::sync::MutexGuard<'static, Option<Arc<Meter>>> {
    // A panic elsewhere cannot leave the value inconsistent.
    LATEST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The progress of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The kernel.
    pub kernel: String,
    /// Workgroups of the launch.
    pub workgroups: u64,
    /// Workgroups that have ended.
    pub ended: u64,
    /// Executed wave-instructions.
    pub instructions: u64,
    /// Time since its start.
    pub time: Duration,
}

/// Makes all launches that start from now on report their progress; see [`progress`].
pub fn follow_launches() {
    FOLLOWED.store(true, Ordering::Relaxed);
}

/// The progress of the most recently started launch, if one is running.
pub fn progress() -> Option<Progress> {
    let latest = latest();
    let meter = latest.as_ref()?;
    Some(Progress {
        kernel: meter.kernel.clone(),
        workgroups: meter.workgroups,
        ended: meter.ended.load(Ordering::Relaxed),
        instructions: meter.instructions(),
        time: meter.started.elapsed(),
    })
}

/// Counts the executed instructions of a launch.
pub(super) struct Meter {
    kernel: String,
    pub(super) workgroups: u64,
    limits: Limits,
    started: Instant,
    instructions: AtomicU64,
    pub(super) ended: AtomicU64,
}

impl Meter {
    /// Creates the meter of a launch, if it needs one.
    pub(super) fn start(kernel: &str, workgroups: u64, limits: Limits) -> Option<Arc<Self>> {
        let is_followed = FOLLOWED.load(Ordering::Relaxed);
        if limits == Limits::NONE && !is_followed {
            return None;
        }
        let meter = Arc::new(Meter {
            kernel: kernel.to_owned(),
            workgroups,
            limits,
            started: Instant::now(),
            instructions: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        });
        if is_followed {
            *latest() = Some(Arc::clone(&meter));
        }
        Some(meter)
    }

    /// Ends the launch.
    pub(super) fn stop(self: &Arc<Self>) {
        let mut latest = latest();
        if latest
            .as_ref()
            .is_some_and(|other| Arc::ptr_eq(self, other))
        {
            *latest = None;
        }
    }

    pub(super) fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// The maximum number of instructions in a wave's next turn: 0 when a limit is reached.
    pub(super) fn turn(&self) -> u64 {
        match self.reached() {
            Some(_) => 0,
            None => self.left().min(TURN),
        }
    }

    /// The limit that has been reached, if any.
    pub(super) fn reached(&self) -> Option<Limit> {
        let Limits { instructions, time } = self.limits;
        instructions
            .filter(|_| self.left() == 0)
            .map(Limit::Instructions)
            .or_else(|| {
                time.filter(|&time| self.started.elapsed() >= time)
                    .map(Limit::Time)
            })
    }

    fn left(&self) -> u64 {
        let limit = self.limits.instructions.unwrap_or(u64::MAX);
        limit.saturating_sub(self.instructions())
    }

    /// Adds executed instructions.
    pub(super) fn ran(&self, instructions: u64) {
        self.instructions.fetch_add(instructions, Ordering::Relaxed);
    }
}
