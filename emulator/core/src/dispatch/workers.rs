//! The host threads of a launch, and the order in which they run workgroups.
//!
//! A thread runs one workgroup after the other. A workgroup that runs for long may wait for others, so it is suspended
//! in favour of those that have not started; later the suspended ones take turns. The workgroups of a cooperative
//! launch take turns from the start.

use std::{
    cell::RefCell,
    collections::VecDeque,
    mem,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    FaultReport, LaunchConfig, LaunchError, LimitReport,
    limit::Standings,
    meter::Meter,
    start::Start,
    suspended::{Next, Suspended},
    workgroup::{End, Group, Progress, Slice, Workspace},
};
use crate::exec::{Fault, GlobalSync, Observer, Unobserved};
use crate::memory::View;
use crate::program::Kernel;

/// Maximum suspended workgroups of a plain launch.
pub(super) const MOST_SUSPENDED: usize = 1024;

/// The first slice of a workgroup: probably no other waits for it.
const FIRST: Slice = Slice {
    instructions: 1 << 22,
    turn: 1 << 16,
    ends_with_sleep: false,
};

/// The slice of a workgroup that was suspended.
const NEXT: Slice = Slice {
    instructions: 1 << 18,
    turn: 1 << 16,
    ends_with_sleep: true,
};

/// The slice of a workgroup of a cooperative launch.
const COOPERATIVE: Slice = Slice {
    instructions: 1 << 12,
    turn: 1 << 11,
    ends_with_sleep: true,
};

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// A workgroup of a launch, and its state if it has started.
pub(super) struct LaunchedGroup<O> {
    workgroup: [u32; 3],
    /// Its number in the grid.
    number: u64,
    /// Its slot in private memory, known before it starts.
    private: usize,
    /// Its state, once it has started.
    begun: Option<Begun<O>>,
}

struct Begun<O> {
    workspace: Workspace,
    /// The address of its private memory.
    private: u64,
    /// Its observer.
    observer: Option<O>,
}

/// The state of a launch.
pub(super) struct Grid<'a, O> {
    kernel: &'a Kernel,
    config: &'a LaunchConfig<'a>,
    start: &'a Start<'a>,
    view: &'a View,
    /// The workgroups to run, if not all.
    chosen: Option<&'a [u64]>,
    next: AtomicU64,
    stopped: AtomicBool,
    /// The error of the lowest workgroup with an error, so that reports do not depend on the order of threads.
    error: Mutex<Option<(u64, LaunchError)>>,
    instructions: AtomicU64,
    /// Counts instructions, if the launch has a meter.
    meter: Option<&'a Meter>,
    /// Workgroups that had started when a limit was reached.
    given_up: Mutex<Vec<Standings>>,
    global_sync: Option<GlobalSync>,
    suspended: Suspended<LaunchedGroup<O>>,
    stuck: AtomicBool,
}

/// The result of a launch.
pub(super) struct Outcome<O> {
    pub(super) error: Option<LaunchError>,
    pub(super) instructions: u64,
    /// The observers of workgroups that did not end.
    pub(super) observers: Vec<O>,
}

impl<'a, O: Observer> Grid<'a, O> {
    /// Prepares a launch of all workgroups, or only of those with these numbers.
    pub(super) fn new(
        kernel: &'a Kernel,
        config: &'a LaunchConfig<'a>,
        start: &'a Start<'a>,
        view: &'a View,
        chosen: Option<&'a [u64]>,
        meter: Option<&'a Meter>,
    ) -> Self {
        let mut grid = Grid {
            kernel,
            config,
            start,
            view,
            chosen,
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            error: Mutex::new(None),
            instructions: AtomicU64::new(0),
            meter,
            given_up: Mutex::default(),
            global_sync: None,
            suspended: Suspended::new(VecDeque::new()),
            stuck: AtomicBool::new(false),
        };
        if config.cooperative {
            let all: VecDeque<_> = std::iter::from_fn(|| grid.fresh())
                .enumerate()
                .map(|(index, number)| grid.place(number, index))
                .collect();
            // `check` has verified that the number fits.
            grid.global_sync = Some(GlobalSync::new(all.len() as u32));
            grid.suspended = Suspended::new(all);
        }
        grid
    }

    /// Runs workgroups until none is left for this thread, or until `leaves`, which is asked between slices. Returns the
    /// observers.
    pub(super) fn work(
        &self,
        worker: usize,
        observers: &(impl Fn(usize) -> O + Sync),
        mut leaves: impl FnMut() -> bool,
    ) -> Vec<O> {
        let mut own = Some(observers(worker));
        let mut others = Vec::new();
        // The slot in private memory for the next workgroup that starts.
        let mut spare = (!self.config.cooperative).then_some(worker);
        WORKSPACE.with_borrow_mut(|kept| {
            while !self.stopped.load(Ordering::Relaxed) {
                if leaves() {
                    if let Some(private) = spare {
                        self.start.private.give(private);
                    }
                    break;
                }
                let group = self.config.group;
                if group.is_some_and(|group| group.failed.load(Ordering::Relaxed)) {
                    self.stop(0, LaunchError::GroupFailed);
                    break;
                }
                let fresh = match spare {
                    Some(private) if self.suspended.len() < MOST_SUSPENDED => {
                        self.fresh().map(|number| self.place(number, private))
                    }
                    _ => None,
                };
                let is_fresh = fresh.is_some();
                let mut place = match fresh {
                    Some(place) => {
                        spare = None;
                        place
                    }
                    None => match self.suspended.take() {
                        Next::Run(place) => place,
                        Next::Nothing => break,
                        Next::Stuck => {
                            self.stuck.store(true, Ordering::Relaxed);
                            self.halt();
                            break;
                        }
                    },
                };
                let slice = match (self.config.cooperative, is_fresh) {
                    (true, _) => COOPERATIVE,
                    (false, true) => FIRST,
                    (false, false) => NEXT,
                };
                let seen = self.changes();
                let mut instructions = 0;
                let ran = self.begin(&mut place, kept, || {
                    own.take().unwrap_or_else(|| observers(worker))
                });
                let ran = ran.and_then(|()| self.run(&mut place, slice, &mut instructions));
                self.instructions.fetch_add(instructions, Ordering::Relaxed);
                let waits = match ran {
                    Ok(Progress::Ran) => None,
                    Ok(Progress::Waits) => Some(seen),
                    ended => {
                        if let Err(error) = ended {
                            self.stop(place.number, error);
                        }
                        if !is_fresh {
                            self.suspended.ended(self.changes());
                        }
                        if let Some(begun) = place.begun.take() {
                            *kept = begun.workspace;
                            match &own {
                                None => own = begun.observer,
                                Some(_) => others.extend(begun.observer),
                            }
                        }
                        if !self.config.cooperative
                            && let Some(more) = spare.replace(place.private)
                        {
                            self.start.private.give(more);
                        }
                        continue;
                    }
                };
                match is_fresh {
                    true => self.suspended.add(place),
                    false => self.suspended.give_back(place, waits, self.changes()),
                }
                if !self.config.cooperative && spare.is_none() {
                    spare = self.start.private.take();
                }
            }
        });
        others.extend(own);
        others
    }

    /// The result, after all threads have finished.
    pub(super) fn outcome(mut self) -> Outcome<O> {
        let suspended = mem::replace(&mut self.suspended, Suspended::new(VecDeque::new()));
        let mut rest: Vec<_> = suspended.into_rest().collect();
        rest.sort_unstable_by_key(|place| place.number);
        let first = mem::take(&mut self.error);
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        let error = first
            .map(|(_, error)| error)
            .or_else(|| self.limit(&rest))
            .or_else(|| {
                if !self.stuck.load(Ordering::Relaxed) {
                    return None;
                }
                rest.iter().find_map(|place| {
                    let (wave, fault) = place.begun.as_ref()?.workspace.never_released()?;
                    Some(self.fault(place.workgroup, wave, fault))
                })
            });
        Outcome {
            error,
            instructions: self.instructions.into_inner(),
            observers: rest
                .into_iter()
                .filter_map(|place| place.begun?.observer)
                .collect(),
        }
    }

    /// The number of the next workgroup to start.
    fn fresh(&self) -> Option<u64> {
        let count = self.config.grid.iter().map(|&n| u64::from(n)).product();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        match self.chosen {
            Some(chosen) => chosen.get(turn as usize).copied(),
            None if turn < count => Some(shuffled(turn, count, self.config.seed)),
            None => None,
        }
        .filter(|&number| number < count)
    }

    fn place(&self, number: u64, private: usize) -> LaunchedGroup<O> {
        LaunchedGroup {
            workgroup: self.start.workgroup(number),
            number,
            private,
            begun: None,
        }
    }

    fn changes(&self) -> u64 {
        self.global_sync.as_ref().map_or(0, GlobalSync::changes)
    }

    fn group(&self, place: &LaunchedGroup<O>, private: u64) -> Group<'_> {
        Group {
            start: self.start,
            code: self.kernel.code(),
            view: self.view,
            workgroup: place.workgroup,
            number: place.number,
            private,
            seed: self.config.seed,
            meter: self.meter,
            global_sync: self.global_sync.as_ref(),
        }
    }

    /// Starts a workgroup in `kept`, the workspace of the thread's previous workgroup.
    fn begin(
        &self,
        place: &mut LaunchedGroup<O>,
        kept: &mut Workspace,
        observer: impl FnOnce() -> O,
    ) -> Result<(), LaunchError> {
        if place.begun.is_some() {
            return Ok(());
        }
        let private = self.start.private.workgroup(place.private)?;
        let group = self.group(place, private);
        let mut observer = observer();
        let mut workspace = mem::take(kept);
        let is_watched = O::ACTIVE && observer.wants(place.number);
        match is_watched {
            true => workspace.begin(&group, &mut observer),
            false => workspace.begin(&group, &mut Unobserved),
        }
        place.begun = Some(Begun {
            workspace,
            private,
            observer: Some(observer),
        });
        Ok(())
    }

    /// Runs a slice of a workgroup that has started.
    fn run(
        &self,
        place: &mut LaunchedGroup<O>,
        slice: Slice,
        instructions: &mut u64,
    ) -> Result<Progress, LaunchError> {
        let Some(mut begun) = place.begun.take() else {
            return Ok(Progress::Ended);
        };
        let group = self.group(place, begun.private);
        let watched = begun.observer.as_mut();
        let ran = match watched.filter(|observer| O::ACTIVE && observer.wants(place.number)) {
            Some(observer) => begun.workspace.run(&group, observer, slice, instructions),
            None => begun
                .workspace
                .run(&group, &mut Unobserved, slice, instructions),
        };
        let ended = match ran {
            Err(End::Limit) => {
                self.halt();
                let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
                given_up.push(standings(place, &begun));
                Ok(Progress::Ended)
            }
            Err(End::Fault { wave, fault }) => Err(self.fault(place.workgroup, wave, *fault)),
            Ok(progress) => {
                if progress == Progress::Ended
                    && let Some(meter) = self.meter
                {
                    meter.ended.fetch_add(1, Ordering::Relaxed);
                }
                Ok(progress)
            }
        };
        place.begun = Some(begun);
        ended
    }

    fn fault(&self, workgroup: [u32; 3], wave: u32, fault: Fault) -> LaunchError {
        let report = FaultReport::new(self.kernel, fault, self.view, workgroup, wave);
        LaunchError::Fault(Box::new(report))
    }

    /// The report if a limit was reached. `rest` are the workgroups that no thread was running then.
    fn limit(&self, rest: &[LaunchedGroup<O>]) -> Option<LaunchError> {
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        let meter = self.meter.filter(|_| !given_up.is_empty())?;
        let mut standings = mem::take(&mut *given_up);
        let set_aside = rest
            .iter()
            .filter_map(|place| Some(self::standings(place, place.begun.as_ref()?)));
        standings.extend(set_aside);
        Some(LaunchError::Limit(Box::new(LimitReport {
            kernel: self.kernel.name().to_owned(),
            limit: meter.reached()?,
            instructions: meter.instructions(),
            workgroups: meter.workgroups,
            ended: meter.ended.load(Ordering::Relaxed),
            under_way: standings.len() as u64,
            places: LimitReport::places(self.kernel, standings),
        })))
    }

    fn stop(&self, number: u64, error: LaunchError) {
        self.halt();
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(before, _)| number < *before) {
            *first = Some((number, error));
        }
    }

    /// Keeps all threads from starting or resuming workgroups.
    fn halt(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.suspended.stop();
    }
}

fn standings<O>(place: &LaunchedGroup<O>, begun: &Begun<O>) -> Standings {
    Standings {
        number: place.number,
        workgroup: place.workgroup,
        waves: begun.workspace.standings(),
    }
}

/// The number of the workgroup at position `index` of `count` in the order of a seed: a permutation.
fn shuffled(index: u64, count: u64, seed: u64) -> u64 {
    if seed == 0 || count < 2 {
        return index;
    }
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // With a step that is coprime to the count, every position occurs once.
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = (mixed >> 17) % count;
    let step = (0..count)
        .map(|more| (step + more) % count)
        .find(|&step| gcd(step, count) == 1)
        .unwrap_or(1);
    let place = u128::from(index) * u128::from(step) + u128::from(mixed >> 3);
    (place % u128::from(count)) as u64
}

#[cfg(test)]
mod tests {
    use super::shuffled;

    #[test]
    fn each_workgroup_has_its_turn() {
        for count in [1, 2, 3, 12, 97, 360] {
            for seed in 0..20 {
                let mut order: Vec<u64> = (0..count).map(|i| shuffled(i, count, seed)).collect();
                if seed == 0 {
                    assert!(order.iter().copied().eq(0..count));
                }
                order.sort_unstable();
                assert!(order.into_iter().eq(0..count), "{count} with seed {seed}");
            }
        }
        let orders = |seed| (0..97).map(move |i| shuffled(i, 97, seed));
        assert!(!orders(1).eq(orders(2)));
    }
}
