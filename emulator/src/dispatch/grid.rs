//! All workgroups of a launch, on all cores.

use std::{
    cell::RefCell,
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use ferrowave_code_object::GpuLimits;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{
    FaultReport, LaunchError, LimitReport,
    arguments::{self, LaunchData},
    private::PrivateMemory,
    start::Start,
    workgroup::{End, Group, Workspace},
};
use crate::{
    exec::{Observer, Unobserved},
    gpu::MAX_WORKGROUP_SIZE,
    memory::View,
    program::Kernel,
};

/// What a launch asks for.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig<'a> {
    /// Workgroups in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension.
    pub block: [u32; 3],
    /// LDS on top of the kernel's own, in bytes.
    pub dynamic_lds_bytes: u32,
    /// The explicit arguments as they lie in the kernarg segment; the hidden ones are filled in.
    pub kernarg: &'a [u8],
    /// Decides the order in which workgroups run, and in which the waves of one take turns; 0 is that of their numbers.
    pub seed: u64,
    /// Host threads to use at most; `None` for one a core.
    pub threads: Option<usize>,
    /// Wave-instructions after which the launch is given up; each host thread may run some ten thousand more.
    pub instruction_limit: Option<u64>,
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchSummary {
    /// Instructions run, counted once a wave.
    pub wave_instructions: u64,
    /// Workgroups run.
    pub workgroups: u64,
    /// Waves run.
    pub waves: u64,
}

/// The most workgroups in one dimension (HIP's limit on x; y and z take fewer on real devices).
const MAX_GRID: u32 = i32::MAX as u32;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // Without threads of its own a launch runs on the caller's.
    ThreadPoolBuilder::new()
        .thread_name(|index| format!("ferrowave-{index}"))
        .build()
        .ok()
});

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Refuses a launch that the kernel or the GPU does not allow, before anything runs.
pub fn check_launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), LaunchError> {
    check(kernel, config)?;
    arguments::kernarg(kernel, config).map(drop)
}

/// Runs a kernel over a grid, to its end.
pub fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<LaunchSummary, LaunchError> {
    launch_observed(kernel, config, |_| Unobserved)?.outcome
}

/// What came of a launch that was watched.
#[derive(Debug)]
pub struct Observed<O> {
    /// How it ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// The observer of each host thread, whatever the outcome.
    pub observers: Vec<O>,
}

/// As [`launch`], watched: each host thread gets an observer of its own. An error is a launch that did not begin.
pub fn launch_observed<O, F>(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    observer: F,
) -> Result<Observed<O>, LaunchError>
where
    O: Observer + Send,
    F: Fn(usize) -> O + Sync,
{
    launch_some(kernel, config, None, observer)
}

/// As [`launch_observed`], of all workgroups or only those with these numbers, in their order. What a launch of some leaves
/// in memory is no result.
pub(crate) fn launch_some<O, F>(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    chosen: Option<&[u64]>,
    observer: F,
) -> Result<Observed<O>, LaunchError>
where
    O: Observer + Send,
    F: Fn(usize) -> O + Sync,
{
    let lds_bytes = check(kernel, config)?;
    let data = LaunchData::new(kernel, config, kernel.memory())?;
    let most = config.threads.unwrap_or(usize::MAX);
    let pool = POOL
        .as_ref()
        .filter(|pool| most != 1 && pool.current_num_threads() > 1);
    let workers = pool.map_or(1, |pool| pool.current_num_threads().min(most).max(1));
    let threads: u32 = config.block.iter().product();
    let private = PrivateMemory::new(kernel, kernel.memory(), threads.div_ceil(64), workers)?;
    let view = kernel.memory().view();
    let descriptor = &kernel.description().descriptor;
    let start = Start {
        gpu: kernel.gpu(),
        descriptor,
        data: &data,
        entry: kernel
            .code()
            .index_of(kernel.entry())
            .unwrap_or(u32::MAX - 1),
        block: config.block,
        preloaded: preloaded(kernel, &data),
        private: &private,
        lds_bytes,
    };
    let grid = Grid {
        kernel,
        config,
        start: &start,
        view: &view,
        lds_bytes,
        chosen,
        next: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        error: Mutex::new(None),
        instructions: AtomicU64::new(0),
        left: config.instruction_limit.map(AtomicU64::new),
    };
    let observers = match pool {
        Some(pool) => {
            let observers = pool.broadcast(|worker| {
                (worker.index() < workers).then(|| {
                    let mut observer = observer(worker.index());
                    grid.work(worker.index(), &mut observer);
                    observer
                })
            });
            observers.into_iter().flatten().collect()
        }
        None => {
            let mut observer = observer(0);
            grid.work(0, &mut observer);
            vec![observer]
        }
    };
    let error = grid
        .error
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let workgroups = match chosen {
        Some(chosen) => chosen.len() as u64,
        None => config.grid.iter().map(|&n| u64::from(n)).product(),
    };
    let outcome = match error {
        Some((_, error)) => Err(error),
        None => Ok(LaunchSummary {
            wave_instructions: grid.instructions.into_inner(),
            workgroups,
            waves: workgroups * u64::from(start.waves()),
        }),
    };
    Ok(Observed { outcome, observers })
}

/// The LDS of a workgroup, if the launch is one that the kernel and the GPU allow.
fn check(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<u32, LaunchError> {
    let metadata = &kernel.description().metadata;
    let shapes = [
        ("grid", config.grid, MAX_GRID),
        ("block", config.block, MAX_WORKGROUP_SIZE),
    ];
    for (what, value, limit) in shapes {
        if value.iter().any(|n| !(1..=limit).contains(n)) {
            return Err(LaunchError::Shape { what, value, limit });
        }
    }
    let groups = config.grid.iter().map(|&n| u128::from(n)).product::<u128>();
    if groups > u128::from(u32::MAX) * u128::from(u32::MAX) {
        return Err(LaunchError::Shape {
            what: "grid",
            value: config.grid,
            limit: MAX_GRID,
        });
    }
    let threads = config.block.iter().map(|&n| u64::from(n)).product();
    let limit = metadata.max_flat_workgroup_size.min(MAX_WORKGROUP_SIZE);
    if threads > u64::from(limit) {
        let kernel = kernel.name().to_owned();
        return Err(LaunchError::BlockTooLarge {
            kernel,
            threads,
            limit,
        });
    }
    let gpu = kernel.gpu();
    let limit = GpuLimits::of(gpu).lds_bytes;
    let requested =
        u64::from(metadata.group_segment_fixed_size) + u64::from(config.dynamic_lds_bytes);
    if requested > u64::from(limit) {
        return Err(LaunchError::TooMuchLds {
            requested,
            gpu,
            limit,
        });
    }
    Ok(requested as u32)
}

/// The arguments that the hardware loads into SGPRs before a wave starts.
fn preloaded(kernel: &Kernel, data: &LaunchData<'_>) -> Vec<u32> {
    let descriptor = &kernel.description().descriptor;
    let first = data.kernarg + 4 * u64::from(descriptor.kernarg_preload_offset);
    (0..u64::from(descriptor.kernarg_preload_length))
        .map(|index| {
            let mut bytes = [0; 4];
            // Past the arguments there is nothing to load.
            let _ = kernel.memory().read(first + 4 * index, &mut bytes);
            u32::from_le_bytes(bytes)
        })
        .collect()
}

/// The workgroup whose turn it is as number `index` of `count`, in the order of a seed: each has one place.
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
    // A step that shares no factor with the count comes by every place once.
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = (mixed >> 17) % count;
    let step = (0..count)
        .map(|more| (step + more) % count)
        .find(|&step| gcd(step, count) == 1)
        .unwrap_or(1);
    let place = u128::from(index) * u128::from(step) + u128::from(mixed >> 3);
    (place % u128::from(count)) as u64
}

/// A launch under way.
struct Grid<'a> {
    kernel: &'a Kernel,
    config: &'a LaunchConfig<'a>,
    start: &'a Start<'a>,
    view: &'a View,
    lds_bytes: u32,
    /// The workgroups that run, if not all do.
    chosen: Option<&'a [u64]>,
    next: AtomicU64,
    stopped: AtomicBool,
    /// The error of the lowest workgroup that had one, so that reports do not depend on which thread was first.
    error: Mutex<Option<(u64, LaunchError)>>,
    instructions: AtomicU64,
    /// Instructions that the launch may still run, if they are limited.
    left: Option<AtomicU64>,
}

impl Grid<'_> {
    /// Runs workgroups until none is left.
    fn work<O: Observer>(&self, worker: usize, observer: &mut O) {
        WORKSPACE.with_borrow_mut(|workspace| {
            let [gx, gy, gz] = self.config.grid.map(u64::from);
            while !self.stopped.load(Ordering::Relaxed) {
                let turn = self.next.fetch_add(1, Ordering::Relaxed);
                let index = match self.chosen {
                    Some(chosen) => chosen.get(turn as usize).copied(),
                    None if turn < gx * gy * gz => {
                        Some(shuffled(turn, gx * gy * gz, self.config.seed))
                    }
                    None => None,
                };
                let Some(index) = index.filter(|&index| index < gx * gy * gz) else {
                    break;
                };
                let workgroup = [index % gx, index / gx % gy, index / gx / gy].map(|id| id as u32);
                let ran = match !O::ACTIVE || observer.wants(index) {
                    true => self.run(worker, workspace, (workgroup, index), observer),
                    false => self.run(worker, workspace, (workgroup, index), &mut Unobserved),
                };
                match ran {
                    Ok(instructions) => {
                        self.instructions.fetch_add(instructions, Ordering::Relaxed);
                    }
                    Err(error) => self.stop(index, error),
                }
            }
        });
    }

    /// Runs a workgroup and returns the wave-instructions that it took.
    fn run<O: Observer>(
        &self,
        worker: usize,
        workspace: &mut Workspace,
        (workgroup, number): ([u32; 3], u64),
        observer: &mut O,
    ) -> Result<u64, LaunchError> {
        let private = self.start.private.workgroup(worker)?;
        let group = Group {
            start: self.start,
            code: self.kernel.code(),
            view: self.view,
            lds_bytes: self.lds_bytes,
            workgroup,
            number,
            private,
            seed: self.config.seed,
            left: self.left.as_ref(),
        };
        workspace.run(&group, observer).map_err(|end| match end {
            End::Fault { wave, fault } => LaunchError::Fault(Box::new(FaultReport::new(
                self.kernel,
                *fault,
                self.view,
                workgroup,
                wave,
            ))),
            End::Limit(waves) => LaunchError::InstructionLimit(Box::new(LimitReport::new(
                self.kernel,
                self.config.instruction_limit.unwrap_or(u64::MAX),
                workgroup,
                &waves,
            ))),
        })
    }

    fn stop(&self, index: u64, error: LaunchError) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(number, _)| index < *number) {
            *first = Some((index, error));
        }
    }
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
