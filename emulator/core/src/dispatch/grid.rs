//! Runs all workgroups of a launch on the host's cores.

use std::sync::{
    LazyLock,
    atomic::{AtomicBool, Ordering},
};

use ferrowave_gpu::GpuLimits;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{
    LaunchError, Limits,
    arguments::{self, LaunchData},
    meter::Meter,
    printf_buffer::PrintfBuffer,
    scratch::PrivateMemory,
    start::Start,
    workers::{Grid, MOST_SUSPENDED, Outcome},
};
use crate::exec::{Observer, Unobserved};
use crate::program::Kernel;

/// The configuration of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig<'a> {
    /// Workgroups in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a workgroup, in each dimension.
    pub block: [u32; 3],
    /// LDS in addition to the kernel's static LDS, in bytes.
    pub dynamic_lds_bytes: u32,
    /// The explicit arguments in the layout of the kernarg segment; those that are missing at the end are 0. The hidden ones are
    /// added.
    pub kernarg: &'a [u8],
    /// Determines the order of workgroups, and of the turns of waves in a workgroup. With 0, they run in the order of
    /// their numbers.
    pub seed: u64,
    /// Maximum number of host threads; `None` means one per core.
    pub threads: Option<usize>,
    /// When to abort the launch.
    pub limits: Limits,
    /// Whether all workgroups run concurrently, so that they may wait for each other without limits.
    pub cooperative: bool,
    /// The launch's place in a group of cooperative launches on several devices.
    pub group: Option<GridGroup<'a>>,
    /// Work-items of the last workgroup along each axis, where it has fewer than the others; 0 where it does not.
    pub partial: [u32; 3],
}

/// The place of a launch in a group of launches that run at the same time and may wait for each other.
#[derive(Clone, Copy, Debug)]
pub struct GridGroup<'a> {
    /// Whether a launch of the group has failed, so that the others wait for nothing.
    pub failed: &'a AtomicBool,
    /// The address of 8 bytes that are 0 at first, which all devices access and the barrier of the group uses.
    pub meeting: u64,
    /// The launch's number in the group.
    pub rank: u32,
    /// The number of launches.
    pub count: u32,
    /// Work-items of the launches before this one.
    pub items_before: u64,
    /// Work-items of all launches.
    pub items: u64,
}

/// The statistics of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchSummary {
    /// Executed instructions, counted once per wave.
    pub wave_instructions: u64,
    /// Executed workgroups.
    pub workgroups: u64,
    /// Executed waves.
    pub waves: u64,
}

/// Maximum workgroups in one dimension: a dispatch packet has 32 bits for the work-items.
const MAX_GRID: u32 = u32::MAX;
/// Maximum workgroups of a cooperative launch: ROCm's grid barrier counts them in sixteen bits.
const MAX_COOPERATIVE: u64 = 0xffff;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // Without a thread pool, launches run on the caller's thread.
    ThreadPoolBuilder::new()
        .thread_name(|index| format!("ferrowave-{index}"))
        .build()
        .ok()
});

/// Whether a launch has the pool's threads.
static POOL_HELD: AtomicBool = AtomicBool::new(false);

/// The right to run a launch on the pool's threads. One launch has it at a time: launches on other streams and devices
/// may be what its workgroups wait for, so that none may queue for these threads.
struct PoolHeld;

impl PoolHeld {
    fn try_new() -> Option<Self> {
        let was_held = POOL_HELD.swap(true, Ordering::Acquire);
        // Not `then_some`: dropping a second one would free the pool.
        (!was_held).then(|| PoolHeld)
    }
}

impl Drop for PoolHeld {
    fn drop(&mut self) {
        POOL_HELD.store(false, Ordering::Release);
    }
}

/// Runs `work`, which may use rayon, on the threads that run launches.
pub fn on_all_threads<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match &*POOL {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Checks whether the kernel and the GPU allow a launch, without running anything.
pub fn check_launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), LaunchError> {
    check(kernel, config)?;
    arguments::kernarg(kernel, config).map(drop)
}

/// Runs a kernel over a grid until it ends.
pub fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<LaunchSummary, LaunchError> {
    launch_observed(kernel, config, |_| Unobserved)?.outcome
}

/// The result of an observed launch.
#[derive(Debug)]
pub struct Observed<O> {
    /// How the launch ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// The observers, whatever the outcome. Each observed its workgroups one after the other.
    pub observers: Vec<O>,
}

/// As [`launch`], with observers: each workgroup that has started has its own, which may observe another one
/// afterwards. `observer` creates one for a host thread. In a cooperative launch, all workgroups start at once. Returns
/// an error if the launch cannot start.
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

/// As [`launch_observed`], for all workgroups or only those with these numbers, in this order. If not all workgroups
/// run, the contents of memory are not results.
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
    let most = config.threads.unwrap_or(usize::MAX);
    // The launches of a group wait for each other, so that none may keep the pool's threads to itself: each runs on its
    // caller's thread.
    let pool = POOL
        .as_ref()
        .filter(|pool| most != 1 && config.group.is_none() && pool.current_num_threads() > 1);
    let workers = pool.map_or(1, |pool| pool.current_num_threads().min(most).max(1));
    let mut held = pool.and_then(|_| PoolHeld::try_new());
    // Until it has the pool, a launch runs on its caller's thread, which is one worker more.
    let callers = usize::from(pool.is_some() && held.is_none());
    let threads: u32 = config.block.iter().product();
    let workgroups = match chosen {
        Some(chosen) => chosen.len() as u64,
        None => config.grid.iter().map(|&n| u64::from(n)).product(),
    };
    let all = usize::try_from(workgroups).unwrap_or(usize::MAX);
    let (needed, wanted) = match config.cooperative {
        true => (all, all),
        false => (
            workers + callers,
            all.min(workers + callers + MOST_SUSPENDED),
        ),
    };
    let wave_size = kernel.wave_size();
    let waves = threads.div_ceil(wave_size);
    let most_waves = wanted.saturating_mul(waves as usize);
    let data = LaunchData::new(kernel, config, kernel.memory(), most_waves)?;
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
        grid: config.grid,
        block: config.block,
        partial: config.partial,
        preloaded: preloaded(kernel, &data),
        private: &private,
        lds_bytes,
        wave_size,
    };
    let meter = Meter::start(kernel.name(), workgroups, config.limits);
    let grid = Grid::new(kernel, config, &start, &view, chosen, meter.as_deref());
    let mut observers = Vec::new();
    if held.is_none() {
        let caller = workers + callers - 1;
        observers.extend(grid.work(caller, &observer, || {
            held = pool.and_then(|_| PoolHeld::try_new());
            held.is_some()
        }));
    }
    if let Some(pool) = pool
        && held.is_some()
    {
        let parts = pool.broadcast(|worker| match worker.index() < workers {
            true => grid.work(worker.index(), &observer, || false),
            false => Vec::new(),
        });
        observers.extend(parts.into_iter().flatten());
    }
    drop(held);
    let Outcome {
        error,
        instructions,
        observers: left,
    } = grid.outcome();
    if let Some(meter) = &meter {
        meter.stop();
    }
    observers.extend(left);
    let printed = data.printf.as_ref().map_or(Ok(()), PrintfBuffer::print);
    let outcome = match error.or(printed.err()) {
        Some(error) => Err(error),
        None => Ok(LaunchSummary {
            wave_instructions: instructions,
            workgroups,
            waves: start.waves_of_all(chosen),
        }),
    };
    Ok(Observed { outcome, observers })
}

/// Checks the launch. Returns the bytes of LDS of a workgroup.
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
    let is_partial = |(&partial, &whole)| partial < whole;
    if !config.partial.iter().zip(&config.block).all(is_partial) {
        return Err(LaunchError::Partial {
            partial: config.partial,
            block: config.block,
        });
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
        return Err(LaunchError::BlockTooLarge {
            kernel: kernel.name().to_owned(),
            threads,
            limit,
            gpu: kernel.gpu(),
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

/// The kernel arguments that the hardware preloads into SGPRs.
fn preloaded(kernel: &Kernel, data: &LaunchData<'_>) -> Vec<u32> {
    let descriptor = &kernel.description().descriptor;
    let first = data.kernarg + 4 * u64::from(descriptor.kernarg_preload_offset);
    (0..u64::from(descriptor.kernarg_preload_length))
        .map(|index| {
            let mut bytes = [0; 4];
            // After the end of the arguments there is nothing to load.
            let _ = kernel.memory().read(first + 4 * index, &mut bytes);
            u32::from_le_bytes(bytes)
        })
        .collect()
}
