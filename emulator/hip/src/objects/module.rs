//! Loaded code objects and their kernels.

use std::{
    collections::HashMap,
    ffi::CString,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, atomic::AtomicU32},
};

use ferrowave_code_object::Target;
use ferrowave_gpu::Occupancy;
use ferrowave_hip_abi::{hipError_t, hipFunction_t, hipMemAttachGlobal, hipModule_t};

use crate::{
    error::Failure,
    handles::Handles,
    image::Image,
    runtime::{Device, allocations::MadeBy},
};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::program::{Kernel, LoadError, Program};

/// Maximum number of kernel names in an error.
const MOST_NAMES: usize = 16;

/// A loaded code object.
pub(crate) struct Module {
    pub(crate) device: Arc<Device>,
    pub(crate) program: Program,
    /// Handles of the kernels that were looked up, by name.
    functions: Mutex<HashMap<String, usize>>,
    /// Address and length of the memory of managed variables, by name.
    managed: HashMap<String, (u64, u64)>,
}

/// A kernel that was looked up.
pub(crate) struct Function {
    pub(crate) device: Arc<Device>,
    pub(crate) name: CString,
    pub(crate) kernel: Kernel,
    /// Maximum dynamic LDS of launches, in bytes; `u32::MAX` unless the program has set it.
    pub(crate) dynamic_lds_bytes: AtomicU32,
}

/// Modules by handle.
pub(crate) static MODULES: LazyLock<Handles<Module>> = LazyLock::new(Handles::new);

/// Kernels by handle.
pub(crate) static KERNELS: LazyLock<Handles<Function>> = LazyLock::new(Handles::new);

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let code = match error {
            LoadError::WrongGpu { .. } => hipError_t::hipErrorNoBinaryForGpu,
            LoadError::Memory(error) => return error.into(),
            LoadError::MatrixSetting(_) => hipError_t::hipErrorInvalidValue,
            _ => hipError_t::hipErrorInvalidImage,
        };
        Failure::new(code, error)
    }
}

/// The module of a handle.
pub(crate) fn module(handle: hipModule_t) -> Result<Arc<Module>, Failure> {
    let found = MODULES.get(handle.addr());
    found.ok_or_else(|| Failure::handle("module", handle.addr()))
}

/// The kernel of a handle.
pub(crate) fn function(handle: hipFunction_t) -> Result<Arc<Function>, Failure> {
    let found = KERNELS.get(handle.addr());
    found.ok_or_else(|| Failure::handle("kernel", handle.addr()))
}

impl Function {
    /// The number of workgroups of a size that fit on a compute unit at once.
    pub(crate) fn workgroups_per_compute_unit(&self, threads: u32, lds_bytes: u32) -> u32 {
        let resources = self.kernel.description().resources(threads, lds_bytes);
        Occupancy::of(self.kernel.gpu(), resources).workgroups_per_compute_unit
    }
}

impl Module {
    /// Loads a code object, or the entry of a bundle that best matches the device. The program that registered it tells
    /// of its managed variables.
    pub(crate) fn registered(device: Arc<Device>, image: &Image) -> Result<Arc<Self>, Failure> {
        Ok(Arc::new(Self::of(device, image)?))
    }

    /// As [`Self::registered`], for a code object that the program loads itself. Its managed variables get their memory
    /// here: `v.managed` has the initial value, and `v` gets the address (`DynCO::initDynManagedVars` in CLR).
    pub(crate) fn load(device: Arc<Device>, image: &Image) -> Result<Arc<Self>, Failure> {
        let mut module = Self::of(device, image)?;
        let names = module.program.object().symbols().iter();
        let names: Vec<_> = names
            .filter_map(|symbol| symbol.name.strip_suffix(".managed").map(str::to_owned))
            .collect();
        for name in names {
            let initial = module.program.global(&format!("{name}.managed"));
            let (Some((initial, bytes)), Some((pointer, 8))) =
                (initial, module.program.global(&name))
            else {
                continue;
            };
            let flags = hipMemAttachGlobal;
            let start = module
                .device
                .allocate(bytes as usize, MadeBy::Managed, flags);
            let start = start.inspect_err(|_| module.free_managed())?.addr() as u64;
            module.managed.insert(name, (start, bytes));
            let memory = &module.device.memory;
            memory.copy(start, initial, bytes as usize)?;
            memory.write(pointer, &start.to_le_bytes())?;
        }
        Ok(Arc::new(module))
    }

    /// Frees the memory of managed variables, which nothing may use any more.
    pub(crate) fn free_managed(&self) {
        for &(start, _) in self.managed.values() {
            let is_managed = |by: &MadeBy| matches!(by, MadeBy::Managed);
            if let Some(made) = self.device.allocations.take(start, is_managed) {
                self.device.unlend(start, &made);
                // The allocation has been removed from `allocations`, so no other thread frees it.
                let _ = self.device.release(start);
            }
        }
    }

    /// Whether it has managed variables.
    pub(crate) fn has_managed(&self) -> bool {
        !self.managed.is_empty()
    }

    fn of(device: Arc<Device>, image: &Image) -> Result<Self, Failure> {
        let object = image.object(&device)?;
        let level = SimdLevel::detect();
        let program = Program::load(&object, device.row.gpu, &device.memory, level)?;
        let Target { xnack, sramecc, .. } = program.object().target();
        if !xnack.allows(device.xnack) || !sramecc.allows(device.has_sramecc()) {
            return Err(Failure::new(
                hipError_t::hipErrorNoBinaryForGpu,
                format_args!(
                    "the code object is for {}, but the device is {}",
                    program.object().target(),
                    device.target()
                ),
            ));
        }
        Ok(Module {
            device,
            program,
            functions: Mutex::default(),
            managed: HashMap::new(),
        })
    }

    fn functions(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle of a kernel, which is always the same. `live` fails if the module was unloaded; it is called while no
    /// other thread can unload it.
    pub(crate) fn function(
        &self,
        name: &str,
        live: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let mut functions = self.functions();
        live()?;
        if let Some(&handle) = functions.get(name) {
            return Ok(handle);
        }
        let Some(kernel) = self.program.kernel(name) else {
            let mut names: Vec<_> = self.program.kernel_names().collect();
            // Libraries look up a kernel in several modules, some of which have thousands of kernels.
            let others = names.len().saturating_sub(MOST_NAMES);
            names.truncate(MOST_NAMES);
            let others = match others {
                0 => String::new(),
                others => format!(" and {others} others"),
            };
            return Err(Failure::new(
                hipError_t::hipErrorNotFound,
                format_args!(
                    "no kernel `{name}` in the module, which has: {}{others}",
                    names.join(", ")
                ),
            ));
        };
        let handle = KERNELS.insert(Arc::new(Function {
            device: Arc::clone(&self.device),
            // A name from a C string has no NUL.
            name: CString::new(name).unwrap_or_default(),
            kernel,
            dynamic_lds_bytes: AtomicU32::new(u32::MAX),
        }));
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// The handle of a kernel of a registered module, which has no handle and so is never unloaded through one.
    pub(crate) fn registered_function(&self, name: &str) -> Result<usize, Failure> {
        self.function(name, || Ok(()))
    }

    /// Whether a kernel's handle is one of the module's.
    pub(crate) fn has_function(&self, handle: usize) -> bool {
        self.functions().values().any(|its| *its == handle)
    }

    /// Removes the handles of the module's kernels.
    pub(crate) fn forget_functions(&self) {
        for &handle in self.functions().values() {
            KERNELS.remove(handle);
        }
    }

    /// Address and length of a variable; of the memory of a managed one.
    pub(crate) fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.managed(name).or_else(|| self.program.global(name))
    }

    /// Address and length of the memory of a managed variable.
    pub(crate) fn managed(&self, name: &str) -> Option<(u64, u64)> {
        self.managed.get(name).copied()
    }
}
