//! The devices of this process, and which of them is current on a thread.
//!
//! | room | what is in it |
//! |---|---|
//! | this file | devices, their list, each thread's current one |
//! | [`allocations`] | what a device knows of its allocations |
//! | [`graph_memories`] | what a device knows of the memory of graphs |
//! | [`count`] | bytes in use, and the most that there were |

pub(crate) mod allocations;
pub(crate) mod count;
pub(crate) mod graph_memories;

use std::{
    cell::Cell,
    env,
    ffi::c_int,
    sync::{
        Arc, LazyLock, OnceLock, PoisonError, RwLock, RwLockWriteGuard,
        atomic::{AtomicU32, AtomicUsize},
    },
};

use ferrowave_gpu::{Gpu, Product, Specifications};
use ferrowave_hip_abi::hipError_t;

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

/// The environment variable that names the emulated devices of a process which adds none itself:
/// `emulator:gfx90a`, or several with commas between them. Without it there is one gfx942. So it is with `auto` and
/// `hip:N`, too, which choose among libraries, and here the choice has been made.
pub const DEVICE_VARIABLE: &str = "FERROWAVE_DEVICE";

/// The GPU if the environment names none.
const DEFAULT_GPU: Gpu = Gpu::Gfx942;

/// An emulated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Its instruction set.
    pub gpu: Gpu,
    /// The product that it is; `None` for the one whose time is modelled, or else [`Product::of`] the instruction set.
    pub product: Option<Product>,
    /// Its memory in bytes; `None` for what the product has. Host memory is taken only when it is written to.
    pub memory_bytes: Option<u64>,
    /// Host threads that a launch uses at most; `None` for one a core.
    pub threads: Option<usize>,
    /// Decides the order in which waves of a workgroup take turns; 0 for the order of their numbers.
    pub seed: u64,
}

impl DeviceConfig {
    /// A device with everything that the product has.
    pub const fn new(gpu: Gpu) -> Self {
        DeviceConfig {
            gpu,
            product: None,
            memory_bytes: None,
            threads: None,
            seed: 0,
        }
    }

    /// A product, with everything that it has.
    pub const fn of_product(product: Product) -> Self {
        DeviceConfig {
            product: Some(product),
            ..Self::new(product.gpu())
        }
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
    /// Captures under way of streams that wait for the default stream.
    pub(crate) captures: AtomicUsize,
    /// The handle of its own pool, once a call has needed it.
    pub(crate) default_pool: OnceLock<usize>,
    /// The handle of the pool that allocations in streams are from; 0 for its own.
    pub(crate) pool: AtomicUsize,
    pub(crate) graph_memories: Arc<GraphMemories>,
    /// The handle of its primary context, once a call has needed it.
    pub(crate) primary_context: OnceLock<usize>,
    pub(crate) primary_uses: AtomicU32,
    /// How threads wait for it: kept for calls that read it, and without effect.
    pub(crate) flags: AtomicU32,
    /// Whether its failures are written to standard error, too: HIP's codes say little, and a program that did not add
    /// its devices itself does not know of `last_error_detail`.
    pub(crate) is_loud: bool,
}

/// Whether SRAM is error-corrected, as it is on all of these cards.
pub(crate) const SRAMECC: bool = true;
/// Whether memory accesses are retried after page faults, as by default they are not.
pub(crate) const XNACK: bool = false;

impl Device {
    /// LLVM's target with the features as this device has them.
    pub(crate) fn target(&self) -> String {
        let sign = |on| if on { '+' } else { '-' };
        format!(
            "{}:sramecc{}:xnack{}",
            self.row.gpu,
            sign(SRAMECC),
            sign(XNACK)
        )
    }
}

/// The devices of this process.
pub(crate) struct Runtime {
    devices: RwLock<Devices>,
}

#[derive(Default)]
struct Devices {
    /// Whether devices were added, or read from the environment.
    known: bool,
    /// By ordinal. A device that was removed leaves its place to the next.
    list: Vec<Option<Arc<Device>>>,
    /// The environment variable holds something that names no devices.
    misnamed: Option<Failure>,
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime {
    devices: RwLock::default(),
});

thread_local! {
    static CURRENT: Cell<c_int> = const { Cell::new(0) };
}

/// Adds a device and returns its ordinal. The environment variable then has no say any more.
pub fn add_device(config: DeviceConfig) -> c_int {
    let mut devices = RUNTIME.devices_mut();
    devices.known = true;
    devices.misnamed = None;
    devices.add(config, false)
}

impl Devices {
    fn add(&mut self, config: DeviceConfig, is_loud: bool) -> c_int {
        let free = self.list.iter().position(Option::is_none);
        let index = free.unwrap_or(self.list.len());
        // Memory ends long before ordinals do.
        let ordinal = index as c_int;
        let row = config.row();
        let memory_bytes = config.memory_bytes.unwrap_or(row.memory_bytes);
        let memory = match check::needs_account() {
            true => DeviceMemory::with_account(memory_bytes),
            false => DeviceMemory::new(memory_bytes),
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
            default_pool: OnceLock::new(),
            pool: AtomicUsize::new(0),
            graph_memories: Arc::default(),
            primary_context: OnceLock::new(),
            primary_uses: AtomicU32::new(0),
            flags: AtomicU32::new(0),
            is_loud,
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
            Ok(configs) => configs.into_iter().for_each(|config| {
                self.add(config, true);
            }),
            Err(failure) => self.misnamed = Some(failure),
        }
    }
}

/// What the environment variable names.
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

/// The devices, by ordinal, of a process that adds none itself: those that [`DEVICE_VARIABLE`] names. The error says
/// what it may name.
pub fn environment_devices() -> Result<Vec<&'static Specifications>, String> {
    let configs = environment_configs().map_err(|failure| failure.detail)?;
    Ok(configs.into_iter().map(|config| config.row()).collect())
}

/// What an emulated device calls itself, so that it is not taken for a GPU.
pub fn device_name(row: &Specifications) -> String {
    let (gpu, name) = (row.gpu, row.full_name);
    format!("{name} ({gpu}, emulated by Ferrowave)")
}

impl Runtime {
    pub(crate) fn get() -> &'static Self {
        &RUNTIME
    }

    fn devices_mut(&self) -> RwLockWriteGuard<'_, Devices> {
        // Valid between statements, even after a panic.
        self.devices.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `look` with the devices by ordinal.
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

    /// The calling thread's current device.
    pub(crate) fn current(&self) -> Result<Arc<Device>, Failure> {
        self.device(CURRENT.get())
    }

    /// Takes a device out of the list.
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

/// The devices that the variable's text names.
fn configs(text: &str) -> Option<Vec<DeviceConfig>> {
    let others_choice = |text: &str| {
        let ordinal = text.strip_prefix("hip:");
        text.is_empty() || text == "auto" || ordinal.is_some_and(|n| n.parse::<u32>().is_ok())
    };
    if others_choice(text) {
        return Some(vec![DeviceConfig::new(DEFAULT_GPU)]);
    }
    text.split(',')
        .map(|part| {
            let part = part.trim();
            let product: Product = part
                .strip_prefix("emulator:")
                .unwrap_or(part)
                .parse()
                .ok()?;
            // The machine whose time is modelled may be another of the same instruction set.
            Some(match product.is_default() {
                true => DeviceConfig::new(product.gpu()),
                false => DeviceConfig::of_product(product),
            })
        })
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
