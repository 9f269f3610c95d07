//! How far a launch under way is: for its limits, and for those who wait for it.
//!
//! Only launches that have limits, or that are followed, have a meter; it is looked at between the turns of waves.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::limit::{Limit, Limits};

/// A wave's turn at most: so many instructions may run beyond a limit.
const TURN: u64 = 1 << 14;

/// Whether launches are followed.
static FOLLOWED: AtomicBool = AtomicBool::new(false);

/// The launch that began last, of those that have not ended.
static LATEST: Mutex<Option<Arc<Meter>>> = Mutex::new(None);

fn latest() -> std::sync::MutexGuard<'static, Option<Arc<Meter>>> {
    // Whole between statements.
    LATEST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far a launch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The kernel.
    pub kernel: String,
    /// Workgroups of the launch.
    pub workgroups: u64,
    /// Workgroups that have ended.
    pub ended: u64,
    /// Wave-instructions run.
    pub instructions: u64,
    /// Time since it began.
    pub time: Duration,
}

/// Has launches that begin from now on tell how far they are; see [`progress`].
pub fn follow_launches() {
    FOLLOWED.store(true, Ordering::Relaxed);
}

/// How far the launch is that began last, if one is under way.
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

/// Counts what a launch has run.
pub(super) struct Meter {
    kernel: String,
    pub(super) workgroups: u64,
    limits: Limits,
    started: Instant,
    instructions: AtomicU64,
    pub(super) ended: AtomicU64,
}

impl Meter {
    /// For a launch that begins, if it needs one.
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

    /// The launch is over.
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

    /// Instructions of a wave's next turn at most: none once a limit is reached.
    pub(super) fn turn(&self) -> u64 {
        match self.reached() {
            Some(_) => 0,
            None => self.left().min(TURN),
        }
    }

    /// The limit that is reached, if one is.
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

    /// Takes note of instructions that ran.
    pub(super) fn ran(&self, instructions: u64) {
        self.instructions.fetch_add(instructions, Ordering::Relaxed);
    }
}
