//! Loaded code objects and their kernels.

use std::{
    collections::HashMap,
    ffi::CString,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, atomic::AtomicU32},
};

use ferrowave_code_object::Target;
use ferrowave_gpu::Occupancy;
use ferrowave_hip_abi::{hipError_t, hipFunction_t, hipModule_t};

use crate::{
    error::Failure,
    handles::Handles,
    image::Image,
    runtime::{Device, XNACK},
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
    /// Loads a code object, or the entry of a bundle that best matches the device.
    pub(crate) fn load(device: Arc<Device>, image: &Image) -> Result<Arc<Self>, Failure> {
        let object = image.object(&device)?;
        let level = SimdLevel::detect();
        let program = Program::load(&object, device.row.gpu, &device.memory, level)?;
        let Target { xnack, sramecc, .. } = program.object().target();
        if !xnack.allows(XNACK) || !sramecc.allows(device.has_sramecc()) {
            return Err(Failure::new(
                hipError_t::hipErrorNoBinaryForGpu,
                format_args!(
                    "the code object is for {}, but the device is {}",
                    program.object().target(),
                    device.target()
                ),
            ));
        }
        Ok(Arc::new(Module {
            device,
            program,
            functions: Mutex::default(),
        }))
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

    /// Removes the handles of the module's kernels.
    pub(crate) fn forget_functions(&self) {
        for &handle in self.functions().values() {
            KERNELS.remove(handle);
        }
    }

    /// Address and length of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.program.global(name)
    }
}
