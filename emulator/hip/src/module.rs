//! Modules: code objects, their kernels and variables.

use std::{
    collections::HashMap,
    ffi::{CString, c_char, c_uint, c_void},
    ptr,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, atomic::AtomicU32},
};

use ferrowave_code_object::Target;
use ferrowave_hip_abi::{hipDeviceptr_t, hipError_t, hipFunction_t, hipJitOption, hipModule_t};

use super::{
    error::{Failure, out, text},
    handles::Handles,
    image::Image,
    properties::{SRAMECC, XNACK},
    runtime::{Device, Runtime},
};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::program::{Kernel, LoadError, Program};

/// Kernels that an error names.
const MOST_NAMES: usize = 16;

/// A loaded code object.
pub(super) struct Module {
    pub(super) device: Arc<Device>,
    program: Program,
    /// Handles of the kernels that were asked for, by name.
    functions: Mutex<HashMap<String, usize>>,
}

/// A kernel that a program asked for.
pub(super) struct Function {
    pub(super) device: Arc<Device>,
    pub(super) name: CString,
    pub(super) kernel: Kernel,
    /// LDS that launches may add, in bytes, as the program has set it; all that there is if it has not.
    pub(super) dynamic_lds_bytes: AtomicU32,
}

/// Modules by handle.
pub(super) static MODULES: LazyLock<Handles<Module>> = LazyLock::new(Handles::new);

/// Kernels by handle.
pub(super) static KERNELS: LazyLock<Handles<Function>> = LazyLock::new(Handles::new);

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
fn module(handle: hipModule_t) -> Result<Arc<Module>, Failure> {
    let found = MODULES.get(handle.addr());
    found.ok_or_else(|| Failure::handle("module", handle.addr()))
}

/// The kernel of a handle.
pub(super) fn function(handle: hipFunction_t) -> Result<Arc<Function>, Failure> {
    let found = KERNELS.get(handle.addr());
    found.ok_or_else(|| Failure::handle("kernel", handle.addr()))
}

impl Module {
    /// Loads a code object, or the entry of a bundle that suits the device best.
    pub(super) fn load(device: Arc<Device>, image: &Image) -> Result<Arc<Self>, Failure> {
        let object = image.object(&device)?;
        let level = SimdLevel::detect();
        let program = Program::load(&object, device.row.gpu, &device.memory, level)?;
        let Target { xnack, sramecc, .. } = program.object().target();
        if !xnack.allows(XNACK) || !sramecc.allows(SRAMECC) {
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

    /// The handle of a kernel, which is the same each time. `live` is asked whether the module is still loaded, once
    /// nobody else can be unloading it.
    fn function(
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
            // Libraries ask their modules in turn, and some have thousands.
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
            // A name with a NUL was not asked for as a C string.
            name: CString::new(name).unwrap_or_default(),
            kernel,
            dynamic_lds_bytes: AtomicU32::new(u32::MAX),
        }));
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// The handle of a kernel of a module that is never unloaded by its handle.
    pub(super) fn registered_function(&self, name: &str) -> Result<usize, Failure> {
        self.function(name, || Ok(()))
    }

    /// Takes its kernels' handles away.
    pub(super) fn forget_functions(&self) {
        for &handle in self.functions().values() {
            KERNELS.remove(handle);
        }
    }

    /// Address and length of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.program.global(name)
    }
}

/// Loads a module on the current device.
fn load(image: &Image) -> Result<hipModule_t, Failure> {
    let module = Module::load(Runtime::get().current()?, image)?;
    Ok(ptr::without_provenance_mut(MODULES.insert(module)))
}

pub(super) unsafe fn hipModuleLoad(
    module: *mut hipModule_t,
    path: *const c_char,
) -> Result<(), Failure> {
    let module = out!(module);
    // SAFETY: HIP's contract.
    let path = unsafe { text(path, "path") }?;
    let file = String::from_utf8_lossy(path.to_bytes());
    let image = Image::open(&file)?;
    module.set(load(&image).map_err(|failure| Failure {
        detail: format!("{file}: {}", failure.detail),
        ..failure
    })?);
    Ok(())
}

pub(super) unsafe fn hipModuleLoadData(
    module: *mut hipModule_t,
    image: *const c_void,
) -> Result<(), Failure> {
    let module = out!(module);
    // SAFETY: HIP's contract: a code object is there.
    let image = unsafe { Image::at(image) }?;
    module.set(load(&image)?);
    Ok(())
}

pub(super) unsafe fn hipModuleLoadDataEx(
    module: *mut hipModule_t,
    image: *const c_void,
    _count: c_uint,
    _options: *mut hipJitOption,
    _values: *mut *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: the same contract.
    unsafe { hipModuleLoadData(module, image) }
}

pub(super) use hipModuleLoadData as hipModuleLoadFatBinary;

pub(super) unsafe fn hipModuleUnload(module: hipModule_t) -> Result<(), Failure> {
    let gone = MODULES.remove(module.addr());
    let module = gone.ok_or_else(|| Failure::handle("module", module.addr()))?;
    // Launches under way keep what they run.
    module.forget_functions();
    Ok(())
}

pub(super) unsafe fn hipModuleGetFunction(
    function: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> Result<(), Failure> {
    let function = out!(function);
    // SAFETY: HIP's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    let loaded = self::module(module)?;
    // Unloading takes the module away first and its kernels next; whoever came between would leave one behind.
    let handle = loaded.function(&name, || self::module(module).map(drop))?;
    function.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipModuleGetFunctionCount(
    count: *mut c_uint,
    module: hipModule_t,
) -> Result<(), Failure> {
    let count = out!(count);
    count.set(self::module(module)?.program.kernel_names().count() as c_uint);
    Ok(())
}

pub(super) unsafe fn hipModuleGetGlobal(
    address: *mut hipDeviceptr_t,
    bytes: *mut usize,
    module: hipModule_t,
    name: *const c_char,
) -> Result<(), Failure> {
    // SAFETY: HIP's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    let module = self::module(module)?;
    let Some((start, length)) = module.variable(&name) else {
        return Err(Failure::new(
            hipError_t::hipErrorNotFound,
            format_args!("no variable `{name}` in the module"),
        ));
    };
    if !address.is_null() {
        out!(address).set(ptr::with_exposed_provenance_mut(start as usize));
    }
    if !bytes.is_null() {
        out!(bytes).set(length as usize);
    }
    Ok(())
}
