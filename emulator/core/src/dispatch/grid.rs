//! All workgroups of a launch, on all cores.

use std::sync::LazyLock;

use ferrowave_gpu::GpuLimits;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{
    LaunchError, Limits,
    arguments::{self, LaunchData},
    meter::Meter,
    scratch::PrivateMemory,
    start::Start,
    workers::{Grid, MOST_SUSPENDED, Outcome},
};
use crate::exec::{Observer, Unobserved};
use crate::program::Kernel;

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
    /// After what the launch is given up.
    pub limits: Limits,
    /// Whether all workgroups run side by side, so that they may wait for each other as much as they like.
    pub cooperative: bool,
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
/// The most workgroups that run side by side: ROCm's grid barrier counts them in sixteen bits.
const MAX_COOPERATIVE: u64 = 0xffff;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // Without threads of its own a launch runs on the caller's.
    ThreadPoolBuilder::new()
        .thread_name(|index| format!("ferrowave-{index}"))
        .build()
        .ok()
});

/// Runs what divides its work among host threads on those that launches run on.
pub fn on_all_threads<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match &*POOL {
        Some(pool) => pool.install(work),
        None => work(),
    }
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
    /// The observers, whatever the outcome. Each has seen one workgroup after the other.
    pub observers: Vec<O>,
}

/// As [`launch`], watched: each workgroup that is under way has an observer, which may then watch another. `observer` is
/// told the host thread. Those of a cooperative launch are all under way at once. An error is a launch that did not begin.
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
pub fn launch_some<O, F>(
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
    let workgroups = match chosen {
        Some(chosen) => chosen.len() as u64,
        None => config.grid.iter().map(|&n| u64::from(n)).product(),
    };
    let all = usize::try_from(workgroups).unwrap_or(usize::MAX);
    let (needed, wanted) = match config.cooperative {
        true => (all, all),
        false => (workers, all.min(workers + MOST_SUSPENDED)),
    };
    let waves = threads.div_ceil(64);
    let private = PrivateMemory::new(kernel, kernel.memory(), waves, needed, wanted)?;
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
    let meter = Meter::start(kernel.name(), workgroups, config.limits);
    let grid = Grid::new(kernel, config, &start, &view, chosen, meter.as_deref());
    let mut observers: Vec<O> = match pool {
        Some(pool) => {
            let observers = pool.broadcast(|worker| match worker.index() < workers {
                true => grid.work(worker.index(), &observer),
                false => Vec::new(),
            });
            observers.into_iter().flatten().collect()
        }
        None => grid.work(0, &observer),
    };
    let Outcome {
        error,
        instructions,
        observers: left,
    } = grid.outcome();
    if let Some(meter) = &meter {
        meter.stop();
    }
    observers.extend(left);
    let outcome = match error {
        Some(error) => Err(error),
        None => Ok(LaunchSummary {
            wave_instructions: instructions,
            workgroups,
            waves: workgroups * u64::from(start.waves()),
        }),
    };
    Ok(Observed { outcome, observers })
}

/// The LDS of a workgroup, if the launch is one that the kernel and the GPU allow.
fn check(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<u32, LaunchError> {
    let metadata = &kernel.description().metadata;
    let max_workgroup_size = GpuLimits::of(kernel.gpu()).max_workgroup_size;
    let shapes = [
        ("grid", config.grid, MAX_GRID),
        ("block", config.block, max_workgroup_size),
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
    if config.cooperative && groups > u128::from(MAX_COOPERATIVE) {
        return Err(LaunchError::TooManyAtOnce {
            workgroups: groups as u64,
            limit: MAX_COOPERATIVE,
        });
    }
    let threads = config.block.iter().map(|&n| u64::from(n)).product();
    let limit = metadata.max_flat_workgroup_size.min(max_workgroup_size);
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
