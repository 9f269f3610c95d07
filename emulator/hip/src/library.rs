//! Libraries: code objects that belong to no context, and their kernels.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    hipDevice_t, hipError_t, hipFuncAttribute, hipFunction_attribute, hipFunction_t, hipJitOption,
    hipKernel_t, hipLibrary_t, hipLibraryOption, hipModule_t,
};

use super::{
    error::{Failure, Out, out, present, text},
    function::int,
    image::Image,
    module::{unload, write_variable},
    objects::{
        library::{LIBRARIES, Library, library},
        module::{Function, Module, function},
    },
    runtime::Runtime,
};

/// AMD's runtime has no JIT, and so no options for it.
fn check_options(count: c_uint) -> Result<(), Failure> {
    match count {
        0 => Ok(()),
        _ => Err(Failure::value(format_args!(
            "{count} options of the JIT, but AMD's GPUs have none"
        ))),
    }
}

fn set(library: Out<hipLibrary_t>, new: Arc<Library>) {
    library.set(ptr::without_provenance_mut(LIBRARIES.insert(new)));
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipLibraryLoadData(
    library: *mut hipLibrary_t,
    code: *const c_void,
    _jit_options: *mut hipJitOption,
    _jit_values: *mut *mut c_void,
    jit_count: c_uint,
    _options: *mut hipLibraryOption,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> Result<(), Failure> {
    let library = out!(library);
    check_options(jit_count)?;
    present(code, "code")?;
    let code = code.expose_provenance();
    // SAFETY: HIP's contract: a code object, until the library is loaded.
    let image = move || unsafe { Image::at(ptr::with_exposed_provenance(code)) };
    set(library, Library::new(image));
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipLibraryLoadFromFile(
    library: *mut hipLibrary_t,
    path: *const c_char,
    _jit_options: *mut hipJitOption,
    _jit_values: *mut *mut c_void,
    jit_count: c_uint,
    _options: *mut hipLibraryOption,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> Result<(), Failure> {
    let library = out!(library);
    // SAFETY: the caller upholds HIP's contract.
    let path = unsafe { text(path, "file_name") }?;
    let path = String::from_utf8_lossy(path.to_bytes()).into_owned();
    check_options(jit_count)?;
    // CLR's code, which differs from that of `hipModuleLoad`.
    Image::open(&path).map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))?;
    set(library, Library::new(move || Image::open(&path)));
    Ok(())
}

pub(super) unsafe fn hipLibraryUnload(library: hipLibrary_t) -> Result<(), Failure> {
    let gone = LIBRARIES.remove(library.addr());
    let gone = gone.ok_or_else(|| Failure::handle("library", library.addr()))?;
    gone.loaded().map_or(Ok(()), |module| unload(&module))
}

/// The library of an argument that must not be null.
fn given(handle: hipLibrary_t) -> Result<Arc<Library>, Failure> {
    if handle.is_null() {
        return Err(Failure::value("library is null"));
    }
    library(handle)
}

pub(super) unsafe fn hipLibraryGetKernel(
    kernel: *mut hipKernel_t,
    library: hipLibrary_t,
    name: *const c_char,
) -> Result<(), Failure> {
    let kernel = out!(kernel);
    let found = given(library)?;
    // SAFETY: the caller upholds HIP's contract.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    // As in `hipModuleGetFunction`: another thread may unload the library.
    let handle = found
        .module()?
        .function(&name, || self::library(library).map(drop))?;
    kernel.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipLibraryGetKernelCount(
    count: *mut c_uint,
    library: hipLibrary_t,
) -> Result<(), Failure> {
    let count = out!(count);
    let module = given(library)?.module()?;
    count.set(module.program.kernel_names().count() as c_uint);
    Ok(())
}

pub(super) unsafe fn hipLibraryEnumerateKernels(
    kernels: *mut hipKernel_t,
    num_kernels: c_uint,
    library: hipLibrary_t,
) -> Result<(), Failure> {
    present(kernels, "kernels")?;
    let module = given(library)?.module()?;
    let names = module.program.kernel_names().take(num_kernels as usize);
    for (index, name) in names.enumerate() {
        // As in `hipLibraryGetKernel`.
        let handle = module.function(name, || self::library(library).map(drop))?;
        // SAFETY: HIP's contract: a list of `num_kernels`.
        unsafe {
            let place = kernels.add(index);
            place.write_unaligned(ptr::without_provenance_mut(handle));
        }
    }
    Ok(())
}

pub(super) unsafe fn hipKernelGetLibrary(
    library: *mut hipLibrary_t,
    kernel: hipKernel_t,
) -> Result<(), Failure> {
    let library = out!(library);
    let handle = self::kernel(kernel).map(|_| kernel.addr())?;
    let has = |module: Arc<Module>| module.has_function(handle);
    let found = LIBRARIES
        .all()
        .into_iter()
        .find(|library| library.loaded().is_some_and(has))
        .and_then(|library| LIBRARIES.handle_of(&library));
    let found = found
        .ok_or_else(|| Failure::value(format_args!("the kernel {kernel:p} is of no library")))?;
    library.set(ptr::without_provenance_mut(found));
    Ok(())
}

/// The kernel of an argument that must not be null.
fn kernel(handle: hipKernel_t) -> Result<Arc<Function>, Failure> {
    if handle.is_null() {
        return Err(Failure::value("kernel is null"));
    }
    function(ptr::without_provenance_mut(handle.addr()))
}

pub(super) unsafe fn hipKernelGetName(
    name: *mut *const c_char,
    kernel: hipKernel_t,
) -> Result<(), Failure> {
    let name = out!(name);
    name.set(self::kernel(kernel)?.name.as_ptr());
    Ok(())
}

pub(super) unsafe fn hipKernelGetFunction(
    function: *mut hipFunction_t,
    kernel: hipKernel_t,
) -> Result<(), Failure> {
    let function = out!(function);
    self::kernel(kernel)?;
    function.set(ptr::without_provenance_mut(kernel.addr()));
    Ok(())
}

pub(super) unsafe fn hipKernelGetParamInfo(
    kernel: hipKernel_t,
    index: usize,
    offset: *mut usize,
    bytes: *mut usize,
) -> Result<(), Failure> {
    let offset = out!(offset);
    let found = self::kernel(kernel)?;
    let args = &found.kernel.description().metadata.args;
    let mut explicit = args.iter().filter(|arg| !arg.value_kind.is_hidden());
    let parameter = explicit.nth(index).ok_or_else(|| {
        Failure::value(format_args!(
            "the kernel {} has no parameter {index}",
            found.name.to_string_lossy()
        ))
    })?;
    offset.set(parameter.offset as usize);
    if !bytes.is_null() {
        out!(bytes).set(parameter.size as usize);
    }
    Ok(())
}

/// The kernel, which must be loaded on this device.
fn kernel_on(kernel: hipKernel_t, device: hipDevice_t) -> Result<Arc<Function>, Failure> {
    let found = self::kernel(kernel)?;
    let device = Runtime::get().device(device)?;
    if Arc::ptr_eq(&found.device, &device) {
        return Ok(found);
    }
    Err(Failure::new(
        hipError_t::hipErrorMissingConfiguration,
        format_args!(
            "the kernel {} is loaded on device {}, not on {}",
            found.name.to_string_lossy(),
            found.device.ordinal,
            device.ordinal
        ),
    ))
}

pub(super) unsafe fn hipKernelGetAttribute(
    value: *mut c_int,
    attribute: hipFunction_attribute,
    kernel: hipKernel_t,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let value = out!(value);
    if kernel.is_null() {
        return Err(Failure::handle("kernel", 0));
    }
    value.set(int(kernel_on(kernel, device)?.known_attribute(attribute)?));
    Ok(())
}

pub(super) unsafe fn hipKernelSetAttribute(
    attribute: hipFunction_attribute,
    value: c_int,
    kernel: hipKernel_t,
    device: hipDevice_t,
) -> Result<(), Failure> {
    // Both kinds of attributes have the same numbers.
    kernel_on(kernel, device)?.set_attribute(hipFuncAttribute(attribute.0), value)
}

/// Writes what `find` finds of a library's variable.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn get_variable(
    address: *mut *mut c_void,
    bytes: *mut usize,
    library: hipLibrary_t,
    name: *const c_char,
    find: fn(&Module, &str) -> Option<(u64, u64)>,
) -> Result<(), Failure> {
    if address.is_null() && bytes.is_null() {
        return Err(Failure::value("device_pointer and bytes are both null"));
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { text(name, "name") }?.to_string_lossy();
    if name.is_empty() {
        return Err(Failure::value("name is empty"));
    }
    // Not `given`: null has the code of other handles here.
    let module = self::library(library)?.module()?;
    write_variable(address, bytes, &name, find(&module, &name))
}

pub(super) unsafe fn hipLibraryGetGlobal(
    address: *mut *mut c_void,
    bytes: *mut usize,
    library: hipLibrary_t,
    name: *const c_char,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    unsafe { get_variable(address, bytes, library, name, Module::variable) }
}

pub(super) unsafe fn hipLibraryGetManaged(
    address: *mut *mut c_void,
    bytes: *mut usize,
    library: hipLibrary_t,
    name: *const c_char,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    unsafe { get_variable(address, bytes, library, name, Module::managed) }
}

pub(super) unsafe fn hipLibraryGetModule(
    module: *mut hipModule_t,
    library: hipLibrary_t,
) -> Result<(), Failure> {
    let module = out!(module);
    let library = self::library(library)?;
    library.module()?;
    let handle = library.module_handle().unwrap_or_default();
    module.set(ptr::without_provenance_mut(handle));
    Ok(())
}
