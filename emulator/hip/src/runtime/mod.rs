//! The devices of this process, and each thread's current device.
//!
//! | module | contents |
//! |---|---|
//! | this file | devices, their list, and each thread's current device |
//! | [`advice`] | what a program advised about memory |
//! | [`allocations`] | a device's record of its allocations |
//! | [`graph_memories`] | a device's record of its graphs' memory |
//! | [`count`] | current and maximum number of bytes in use |

pub(crate) mod advice;
pub(crate) mod allocations;
pub(crate) mod count;
pub(crate) mod graph_memories;
pub(crate) mod pool_memory;

use std::{
    cell::Cell,
    env,
    ffi::c_int,
    sync::{
        Arc, LazyLock, OnceLock, PoisonError, RwLock, RwLockWriteGuard,
        atomic::{AtomicU32, AtomicUsize},
    },
};

use ferrowave_gpu::{Family, Gpu, Product, Specifications};
use ferrowave_hip_abi::{hipError_t, hipSynchronizationPolicy};

use advice::Advised;
use allocations::Allocations;
use graph_memories::GraphMemories;

use crate::{
    check,
    error::{Failure, no_such_device},
    fault::Faults,
    queue::Queues,
    timing, trace,
};
use ferrowave_emulator::memory::DeviceMemory;

/// Environment variable: the emulated devices of a process that adds none itself. `emulator:gfx90a`, or several
/// separated by commas. The default is one gfx942, also for `auto` and `hip:N`, which only select the library.
pub const DEVICE_VARIABLE: &str = "FERROWAVE_DEVICE";

/// Environment variable of ROCm: 1 if kernels reach all memory of the program, on GPUs that can retry page faults.
const XNACK_VARIABLE: &str = "HSA_XNACK";

/// The GPU if the environment does not name one.
const DEFAULT_GPU: Gpu = Gpu::Gfx942;

/// Configuration of an emulated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// The GPU whose instruction set it runs.
    pub gpu: Gpu,
    /// The product; `None` for the one whose time is modelled, or else for [`Product::of`] the GPU.
    pub product: Option<Product>,
    /// Memory in bytes; `None` for the product's. Host memory is only used for pages that are written.
    pub memory_bytes: Option<u64>,
    /// Maximum number of host threads for a launch; `None` for one per core.
    pub threads: Option<usize>,
    /// Seed for the order in which waves of a workgroup run; 0 for the order of their numbers.
    pub seed: u64,
}

impl DeviceConfig {
    /// A device with the GPU's default product.
    pub const fn new(gpu: Gpu) -> Self {
        DeviceConfig {
            gpu,
            product: None,
            memory_bytes: None,
            threads: None,
            seed: 0,
        }
    }

    /// A device with the properties of a product.
    pub const fn of_product(product: Product) -> Self {
        DeviceConfig {
            product: Some(product),
            ..Self::new(product.gpu())
        }
    }

    /// A device with a name as in [`DEVICE_VARIABLE`]. A GPU's default product leaves the product open, because another
    /// product of the same GPU may be modelled.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.strip_prefix("emulator:").unwrap_or(name);
        let product: Product = name.parse().ok()?;
        Some(match product.is_default() {
            true => Self::new(product.gpu()),
            false => Self::of_product(product),
        })
    }

    fn row(&self) -> &'static Specifications {
        match self.product {
            Some(product) => product.specifications(),
            None => timing::device(self.gpu),
        }
    }
}

/// A device.
pub(crate) struct Device {
    pub(crate) ordinal: c_int,
    pub(crate) config: DeviceConfig,
    pub(crate) row: &'static Specifications,
    pub(crate) memory: Arc<DeviceMemory>,
    pub(crate) allocations: Allocations,
    pub(crate) queues: Queues,
    pub(crate) faults: Faults,
    /// Number of captures in progress of streams that synchronize with the default stream.
    pub(crate) captures: AtomicUsize,
    /// The handles of its default pools, of pinned and of managed memory, created on first use.
    pub(crate) default_pools: [OnceLock<usize>; 2],
    /// The handles of its current pools; 0 for a default pool.
    pub(crate) pools: [AtomicUsize; 2],
    pub(crate) graph_memories: Arc<GraphMemories>,
    /// The handle of its primary context, created on first use.
    pub(crate) primary_context: OnceLock<usize>,
    /// The handle of its own execution context, likewise.
    pub(crate) execution_context: OnceLock<usize>,
    pub(crate) primary_uses: AtomicU32,
    /// Flags for how threads wait. They are only stored.
    pub(crate) flags: AtomicU32,
    /// How threads wait for the default stream (`hipSynchronizationPolicy`). It is only stored.
    pub(crate) default_policy: AtomicU32,
    /// What the program advised about ranges of managed memory.
    pub(crate) advised: Advised,
    /// The limits of `hipDeviceSetLimit`. They are only stored.
    pub(crate) stack_limit: AtomicUsize,
    pub(crate) heap_limit: AtomicUsize,
    /// Whether failures are also printed to standard error. HIP's codes say little, and a program that did not add its
    /// devices itself does not know `last_error_detail`.
    pub(crate) is_loud: bool,
    /// Whether it retries accesses after page faults, so that kernels reach all memory of the program.
    pub(crate) xnack: bool,
}

/// Whether the program asks for page faults that are retried (ROCr's `flag.h`).
fn asks_for_retries() -> bool {
    env::var_os(XNACK_VARIABLE).is_some_and(|value| value == "1")
}

/// Whether a GPU retries page faults if a process asks for it. Not gfx908: Linux's driver has retries on or off for all
/// processes there (`KFD_SUPPORT_XNACK_PER_PROCESS`), and by default off (`amdgpu_gmc_noretry_set`).
fn can_retry(gpu: Gpu) -> bool {
    // Without the list of mappings, no address of the program is known.
    cfg!(target_os = "linux") && matches!(gpu, Gpu::Gfx90a | Gpu::Gfx942 | Gpu::Gfx950)
}

impl Device {
    /// LLVM's target ID with this device's features.
    pub(crate) fn target(&self) -> String {
        let sign = |on| if on { '+' } else { '-' };
        match self.row.gpu.family() {
            Family::Cdna => format!(
                "{}:sramecc{}:xnack{}",
                self.row.gpu,
                sign(self.has_sramecc()),
                sign(self.xnack)
            ),
            // It has neither feature.
            Family::Rdna => self.row.gpu.to_string(),
        }
    }

    /// Whether SRAM has error correction.
    pub(crate) fn has_sramecc(&self) -> bool {
        self.row.gpu.family() == Family::Cdna
    }
}

/// The devices of this process.
pub(crate) struct Runtime {
    devices: RwLock<Devices>,
}

#[derive(Default)]
struct Devices {
    /// Whether devices were added, by a call or from the environment.
    known: bool,
    /// The devices by ordinal. A new device takes the ordinal of a removed one.
    list: Vec<Option<Arc<Device>>>,
    /// The error if the environment variable does not name devices.
    misnamed: Option<Failure>,
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime {
    devices: RwLock::default(),
});

thread_local! {
    static CURRENT: Cell<c_int> = const { Cell::new(0) };
}

/// Adds a device and returns its ordinal. The environment variable is then ignored.
pub fn add_device(config: DeviceConfig) -> c_int {
    let mut devices = RUNTIME.devices_mut();
    devices.known = true;
    devices.misnamed = None;
    let xnack = asks_for_retries() && can_retry(config.gpu);
    devices.add(config, false, xnack)
}

impl Devices {
    fn add(&mut self, config: DeviceConfig, is_loud: bool, xnack: bool) -> c_int {
        let free = self.list.iter().position(Option::is_none);
        let index = free.unwrap_or(self.list.len());
        // Memory runs out long before ordinals do.
        let ordinal = index as c_int;
        let row = config.row();
        let memory_bytes = config.memory_bytes.unwrap_or(row.memory_bytes);
        let memory = match check::needs_account() {
            true => DeviceMemory::with_account(memory_bytes),
            false => DeviceMemory::new(memory_bytes),
        };
        let memory = if xnack {
            memory.reaching_host()
        } else {
            memory
        };
        let device = Some(Arc::new(Device {
            ordinal,
            config,
            row,
            memory: Arc::new(memory),
            allocations: Allocations::default(),
            queues: Queues::default(),
            faults: Faults::default(),
            captures: AtomicUsize::new(0),
            default_pools: Default::default(),
            pools: Default::default(),
            graph_memories: Arc::default(),
            primary_context: OnceLock::new(),
            execution_context: OnceLock::new(),
            primary_uses: AtomicU32::new(0),
            flags: AtomicU32::new(0),
            default_policy: AtomicU32::new(hipSynchronizationPolicy::hipSyncPolicyAuto.0),
            advised: Advised::default(),
            // CLR's defaults (`device.hpp`, `HIP_INITIAL_DM_SIZE`).
            stack_limit: AtomicUsize::new(1024),
            heap_limit: AtomicUsize::new(8 << 20),
            is_loud,
            xnack,
        }));
        match self.list.get_mut(index) {
            Some(place) => *place = device,
            None => self.list.push(device),
        }
        ordinal
    }

    fn add_from_environment(&mut self) {
        self.known = true;
        if let Some(failure) = check::misnamed().or_else(trace::misnamed) {
            self.misnamed = Some(failure);
            return;
        }
        match environment_configs() {
            Ok(configs) => {
                // One GPU that cannot retry keeps the process from it (`kfd_process_xnack_mode` of Linux's driver).
                let xnack =
                    asks_for_retries() && configs.iter().all(|config| can_retry(config.gpu));
                for config in configs {
                    self.add(config, true, xnack);
                }
            }
            Err(failure) => self.misnamed = Some(failure),
        }
    }
}

/// Parses the environment variable.
fn environment_configs() -> Result<Vec<DeviceConfig>, Failure> {
    let text = env::var_os(DEVICE_VARIABLE).unwrap_or_default();
    text.to_str().and_then(configs).ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorNoDevice,
            format_args!(
                "{DEVICE_VARIABLE} is `{}`, but the emulator has only {}, and lists of them with commas, as in \
                 emulator:gfx90a,emulator:MI250X",
                text.to_string_lossy(),
                Product::names()
            ),
        )
    })
}

/// The devices, by ordinal, of a process that adds none itself: those of [`DEVICE_VARIABLE`]. The error lists the
/// allowed names.
pub fn environment_devices() -> Result<Vec<&'static Specifications>, String> {
    let configs = environment_configs().map_err(|failure| failure.detail)?;
    Ok(configs.into_iter().map(|config| config.row()).collect())
}

/// The devices that a text names in the form of [`DEVICE_VARIABLE`]; `None` if it names none.
pub fn devices_named(text: &str) -> Option<Vec<&'static Specifications>> {
    let configs = configs(text)?;
    Some(configs.into_iter().map(|config| config.row()).collect())
}

/// The name of an emulated device, which states that it is emulated.
pub fn device_name(row: &Specifications) -> String {
    let (gpu, name) = (row.gpu, row.full_name);
    format!("{name} ({gpu}, emulated by Ferrowave)")
}

impl Runtime {
    pub(crate) fn get() -> &'static Self {
        &RUNTIME
    }

    fn devices_mut(&self) -> RwLockWriteGuard<'_, Devices> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.devices.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `look` with the devices by ordinal. On first use, reads the environment.
    pub(crate) fn with_devices<R>(
        &self,
        look: impl FnOnce(&[Option<Arc<Device>>]) -> R,
    ) -> Result<R, Failure> {
        let mut devices = self.devices.read().unwrap_or_else(PoisonError::into_inner);
        if !devices.known {
            drop(devices);
            let mut unknown = self.devices_mut();
            if !unknown.known {
                unknown.add_from_environment();
            }
            devices = RwLockWriteGuard::downgrade(unknown);
        }
        match &devices.misnamed {
            Some(failure) => Err(failure.clone()),
            None => Ok(look(&devices.list)),
        }
    }

    pub(crate) fn device(&self, ordinal: c_int) -> Result<Arc<Device>, Failure> {
        self.with_devices(|devices| {
            usize::try_from(ordinal)
                .ok()
                .and_then(|index| devices.get(index).cloned().flatten())
                .ok_or_else(|| no_such_device(ordinal, devices.len()))
        })?
    }

    /// The first device, if it retries page faults: CLR asks it where no device is named.
    pub(crate) fn retries_faults(&self) -> Result<Option<Arc<Device>>, Failure> {
        self.with_devices(|devices| devices.iter().flatten().next().cloned())
            .map(|device| device.filter(|device| device.xnack))
    }

    /// The calling thread's current device.
    pub(crate) fn current(&self) -> Result<Arc<Device>, Failure> {
        self.device(CURRENT.get())
    }

    /// Removes a device from the list.
    pub(crate) fn take(&self, ordinal: c_int) -> Option<Arc<Device>> {
        let index = usize::try_from(ordinal).ok()?;
        self.devices_mut().list.get_mut(index)?.take()
    }

    pub(crate) fn set_current(&self, ordinal: c_int) -> Result<(), Failure> {
        self.device(ordinal)?;
        CURRENT.set(ordinal);
        Ok(())
    }
}

/// Parses a list of devices.
fn configs(text: &str) -> Option<Vec<DeviceConfig>> {
    let others_choice = |text: &str| {
        let ordinal = text.strip_prefix("hip:");
        text.is_empty() || text == "auto" || ordinal.is_some_and(|n| n.parse::<u32>().is_ok())
    };
    if others_choice(text) {
        return Some(vec![DeviceConfig::new(DEFAULT_GPU)]);
    }
    text.split(',')
        .map(|part| DeviceConfig::named(part.trim()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_devices() {
        let gpus = |text| {
            configs(text).map(|configs| configs.into_iter().map(|c| c.gpu).collect::<Vec<_>>())
        };
        assert_eq!(gpus("emulator:gfx90a"), Some(vec![Gpu::Gfx90a]));
        assert_eq!(
            gpus("emulator:gfx908, emulator:gfx942"),
            Some(vec![Gpu::Gfx908, Gpu::Gfx942])
        );
        for text in ["", "auto", "hip:3"] {
            assert_eq!(gpus(text), Some(vec![Gpu::Gfx942]));
        }
        assert_eq!(gpus("gfx90a, MI300X"), Some(vec![Gpu::Gfx90a, Gpu::Gfx942]));
        let die = configs("emulator:mi250x").map(|configs| configs[0].row().compute_units);
        assert_eq!(die, Some(110));
        for text in [
            "emulator:",
            "emulator:gfx90b",
            "emulator:gfx90a,",
            "hip:",
            "hip:x",
            "Auto",
        ] {
            assert_eq!(gpus(text), None, "{text}");
        }
    }
}
