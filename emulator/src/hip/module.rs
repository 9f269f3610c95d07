//! Modules: code objects, their kernels and variables.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_int, c_void},
    fs, io, ptr,
    sync::{Arc, Mutex, PoisonError},
};

use ferrowave_code_object::{GpuLimits, Occupancy, Target};
use ferrowave_hip_abi::{
    hipDeviceptr_t, hipError_t, hipFunction_attribute as Attribute, hipFunction_t, hipModule_t,
};

use super::{
    error::{Failure, out},
    image,
    properties::{SRAMECC, XNACK},
    runtime::{Device, Runtime},
};
use crate::{
    exec::SimdLevel,
    program::{Kernel, LoadError, Program},
};

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
    pub(super) kernel: Kernel,
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let code = match error {
            LoadError::WrongGpu { .. } => hipError_t::hipErrorNoBinaryForGpu,
            LoadError::Memory(error) => return error.into(),
            _ => hipError_t::hipErrorInvalidImage,
        };
        Failure::new(code, error)
    }
}

/// The module of a handle.
fn module(handle: hipModule_t) -> Result<Arc<Module>, Failure> {
    let found = Runtime::get().modules.get(handle.addr());
    found.ok_or_else(|| Failure::handle("module", handle.addr()))
}

/// The kernel of a handle.
pub(super) fn function(handle: hipFunction_t) -> Result<Arc<Function>, Failure> {
    let found = Runtime::get().functions.get(handle.addr());
    found.ok_or_else(|| Failure::handle("kernel", handle.addr()))
}

/// A name that a caller passed.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn text<'a>(name: *const c_char, what: &str) -> Result<&'a CStr, Failure> {
    if name.is_null() {
        return Err(Failure::value(format_args!("{what} is null")));
    }
    // SAFETY: the caller promises a C string.
    Ok(unsafe { CStr::from_ptr(name) })
}

fn load(bytes: &[u8]) -> Result<hipModule_t, Failure> {
    let runtime = Runtime::get();
    let device = runtime.current()?;
    let program = Program::load(bytes, device.row.gpu, &device.memory, SimdLevel::detect())?;
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
    let module = Module {
        device,
        program,
        functions: Mutex::default(),
    };
    Ok(ptr::without_provenance_mut(
        runtime.modules.insert(Arc::new(module)),
    ))
}

pub(super) unsafe fn hipModuleLoad(
    module: *mut hipModule_t,
    path: *const c_char,
) -> Result<(), Failure> {
    let module = out!(module);
    // SAFETY: HIP's contract.
    let path = unsafe { text(path, "path") }?;
    let file = String::from_utf8_lossy(path.to_bytes());
    let bytes = fs::read(&*file).map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => hipError_t::hipErrorFileNotFound,
            _ => hipError_t::hipErrorOperatingSystem,
        };
        Failure::new(code, format_args!("{file}: {error}"))
    })?;
    module.set(load(&bytes)?);
    Ok(())
}

pub(super) unsafe fn hipModuleLoadData(
    module: *mut hipModule_t,
    image: *const c_void,
) -> Result<(), Failure> {
    let module = out!(module);
    // SAFETY: HIP's contract: a code object is there.
    let bytes = unsafe { image::read(image) }?;
    module.set(load(&bytes)?);
    Ok(())
}

pub(super) unsafe fn hipModuleUnload(module: hipModule_t) -> Result<(), Failure> {
    let runtime = Runtime::get();
    let gone = runtime.modules.remove(module.addr());
    let module = gone.ok_or_else(|| Failure::handle("module", module.addr()))?;
    let functions = module
        .functions
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for &handle in functions.values() {
        runtime.functions.remove(handle);
    }
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
    let runtime = Runtime::get();
    let loaded = self::module(module)?;
    let mut functions = loaded
        .functions
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    // Unloading takes the module away first and its kernels next; whoever came between would leave one behind.
    self::module(module)?;
    let handle = match functions.get(&*name) {
        Some(&handle) => handle,
        None => {
            let Some(kernel) = loaded.program.kernel(&name) else {
                let names: Vec<_> = loaded.program.kernel_names().collect();
                return Err(Failure::new(
                    hipError_t::hipErrorNotFound,
                    format_args!(
                        "no kernel `{name}` in the module, which has: {}",
                        names.join(", ")
                    ),
                ));
            };
            let device = Arc::clone(&loaded.device);
            let handle = runtime
                .functions
                .insert(Arc::new(Function { device, kernel }));
            functions.insert(name.into_owned(), handle);
            handle
        }
    };
    function.set(ptr::without_provenance_mut(handle));
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
    let Some((start, length)) = module.program.global(&name) else {
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

pub(super) unsafe fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: Attribute,
    function: hipFunction_t,
) -> Result<(), Failure> {
    let value = out!(value);
    let function = self::function(function)?;
    let description = function.kernel.description();
    let metadata = &description.metadata;
    let static_lds_bytes = metadata.group_segment_fixed_size;
    let answer = match attribute {
        Attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => metadata.max_flat_workgroup_size,
        Attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => static_lds_bytes,
        Attribute::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => metadata.private_segment_fixed_size,
        Attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS => description.descriptor.vgprs(),
        Attribute::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            GpuLimits::of(function.device.row.gpu)
                .lds_bytes
                .saturating_sub(static_lds_bytes)
        }
        // HIP's caches and constants are not the caller's to arrange on these GPUs, and there is no PTX.
        Attribute::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES
        | Attribute::HIP_FUNC_ATTRIBUTE_PTX_VERSION
        | Attribute::HIP_FUNC_ATTRIBUTE_BINARY_VERSION
        | Attribute::HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA
        | Attribute::HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => 0,
        Attribute(other) => {
            return Err(Failure::value(format_args!(
                "{other} is no attribute of a kernel; there are 0 to 9"
            )));
        }
    };
    value.set(c_int::try_from(answer).unwrap_or(c_int::MAX));
    Ok(())
}

pub(super) unsafe fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    workgroups: *mut c_int,
    function: hipFunction_t,
    block_size: c_int,
    dynamic_lds_bytes: usize,
) -> Result<(), Failure> {
    let workgroups = out!(workgroups);
    let function = self::function(function)?;
    let size = u32::try_from(block_size)
        .ok()
        .filter(|&size| size > 0)
        .ok_or_else(|| {
            Failure::value(format_args!(
                "a block of {block_size} threads; it must have at least 1"
            ))
        })?;
    let lds_bytes = u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX);
    let kernel = &function.kernel;
    let occupancy = Occupancy::of(
        kernel.gpu(),
        kernel.description().resources(size, lds_bytes),
    );
    workgroups.set(c_int::try_from(occupancy.workgroups_per_compute_unit).unwrap_or(c_int::MAX));
    Ok(())
}
