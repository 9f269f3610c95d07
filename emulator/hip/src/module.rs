//! Modules: code objects, their kernels and variables.

use std::{
    ffi::{c_char, c_uint, c_void},
    ptr,
};

use ferrowave_hip_abi::{hipDeviceptr_t, hipError_t, hipFunction_t, hipJitOption, hipModule_t};

use super::{
    allocation::wait_for_devices,
    error::{Failure, out, text},
    image::Image,
    objects::module::{MODULES, Module, module},
    runtime::Runtime,
    texture_reference,
};

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
    // SAFETY: the caller upholds HIP's contract.
    let path = unsafe { text(path, "path") }?;
    let file = String::from_utf8_lossy(path.to_bytes());
    if file.is_empty() {
        return Err(Failure::value("path is empty"));
    }
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
    // SAFETY: HIP's contract: the address is a code object's.
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
    // SAFETY: the caller upholds the same contract.
    unsafe { hipModuleLoadData(module, image) }
}

pub(super) use hipModuleLoadData as hipModuleLoadFatBinary;

pub(super) unsafe fn hipModuleUnload(module: hipModule_t) -> Result<(), Failure> {
    if module.is_null() {
        return Err(Failure::handle("module", 0));
    }
    let gone = MODULES.remove(module.addr());
    let module = gone.ok_or_else(|| {
        // HIP's code for a stale module differs from that for other handles.
        Failure::handle("module", module.addr()).coded(hipError_t::hipErrorNotFound)
    })?;
    unload(&module)
}

/// Forgets a module's kernels, which launches in progress keep, ends its texture references and frees its managed variables.
pub(super) fn unload(module: &Module) -> Result<(), Failure> {
    module.forget_functions();
    texture_reference::forget(module)?;
    if module.has_managed() {
        wait_for_devices()?;
        module.free_managed();
    }
    Ok(())
}

pub(super) unsafe fn hipModuleGetFunction(
    function: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> Result<(), Failure> {
    let function = out!(function);
    // SAFETY: the caller upholds HIP's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    let loaded = self::module(module)?;
    // Unloading removes first the module, then its kernels. A kernel added in between would stay, so the module is
    // checked again.
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
    // SAFETY: the caller upholds HIP's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    write_variable(address, bytes, &name, self::module(module)?.variable(&name))
}

/// Writes a variable's address and length, each unless the place is null.
pub(super) fn write_variable(
    address: *mut hipDeviceptr_t,
    bytes: *mut usize,
    name: &str,
    variable: Option<(u64, u64)>,
) -> Result<(), Failure> {
    let Some((start, length)) = variable else {
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
