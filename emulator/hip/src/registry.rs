//! Registration at program start: a program compiled for HIP registers its code objects, and the kernels and device
//! variables of its host stubs and host variables.
//!
//! A code object is loaded on a device when one of its kernels or variables is first used there.

use std::{
    collections::HashMap,
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use ferrowave_hip_abi::{FatBinaryWrapper, dim3, hipError_t, hipFunction_t, hipStream_t};

use super::{
    error::{Failure, is_absent, out, text, warn},
    handles,
    image::Image,
    list::list,
    objects::module::{Function, KERNELS, Module, function},
    runtime::{Device, Runtime, allocations::MadeBy},
};

/// The code objects of a translation unit or program.
struct Binary {
    /// The bundle's address in the program.
    image: usize,
    /// The loaded module of each device.
    loaded: Vec<(Arc<Device>, Arc<Module>)>,
    managed: Vec<Managed>,
}

/// A managed variable. The device's variable of this name holds the managed memory's address.
#[derive(Clone)]
struct Managed {
    name: String,
    /// The address of the program's pointer to the memory.
    pointer: usize,
    bytes: usize,
    /// The initial value; `None` for zeros.
    initial: Option<Vec<u8>>,
    /// The address of the memory, once it is allocated.
    address: Option<u64>,
}

/// The device-side name of a host stub or variable.
#[derive(Clone)]
struct Named {
    binary: usize,
    name: String,
}

#[derive(Default)]
struct Registered {
    binaries: HashMap<usize, Binary>,
    functions: HashMap<usize, Named>,
    variables: HashMap<usize, Named>,
}

static REGISTERED: LazyLock<Mutex<Registered>> = LazyLock::new(Mutex::default);

fn registered() -> MutexGuard<'static, Registered> {
    // A poisoned lock is ignored: the state is valid between statements.
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops the modules of a device that is being removed.
pub(super) fn forget(device: &Arc<Device>) {
    let mut gone = Vec::new();
    for binary in registered().binaries.values_mut() {
        gone.extend(
            binary
                .loaded
                .extract_if(.., |(of, _)| Arc::ptr_eq(of, device)),
        );
    }
    // Dropped after the lock is released, because dropping a module frees memory.
    drop(gone);
}

impl Registered {
    /// The module of a binary on a device, loaded on first use.
    fn module(&mut self, binary: usize, device: &Arc<Device>) -> Result<Arc<Module>, Failure> {
        let Some(binary) = self.binaries.get_mut(&binary) else {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidDeviceFunction,
                "the program has unregistered its code objects",
            ));
        };
        let on_device = |(of, _): &&(Arc<Device>, Arc<Module>)| Arc::ptr_eq(of, device);
        if let Some((_, module)) = binary.loaded.iter().find(on_device) {
            return Ok(Arc::clone(module));
        }
        // SAFETY: HIP's contract: the bundle stays until it is unregistered.
        let image = unsafe { Image::at(ptr::with_exposed_provenance(binary.image)) }?;
        let module = Module::registered(Arc::clone(device), &image)?;
        for managed in &mut binary.managed {
            let address = managed.allocate(device)?;
            if let Some((variable, 8)) = module.variable(&managed.name) {
                device.memory.write(variable, &address.to_le_bytes())?;
            }
        }
        binary
            .loaded
            .push((Arc::clone(device), Arc::clone(&module)));
        Ok(module)
    }
}

impl Managed {
    /// Allocates the memory with its initial value, and sets the program's pointer.
    fn allocate(&mut self, device: &Arc<Device>) -> Result<u64, Failure> {
        if let Some(address) = self.address {
            return Ok(address);
        }
        let flags = ferrowave_hip_abi::hipMemAttachGlobal;
        let start = device.allocate(self.bytes, MadeBy::Managed, flags)?;
        let address = start.addr() as u64;
        match &self.initial {
            Some(initial) => device.memory.write(address, initial)?,
            None => device.memory.fill(address, &[0], self.bytes)?,
        }
        let pointer = ptr::with_exposed_provenance_mut::<*mut c_void>(self.pointer);
        // SAFETY: HIP's contract: the program's pointer stays until the variable is unregistered.
        unsafe { pointer.write_unaligned(start) }
        self.address = Some(address);
        Ok(address)
    }
}

/// The kernel of a host stub on the current device. A module's kernel handle is accepted too.
pub(super) fn kernel(stub: *const c_void) -> Result<Arc<Function>, Failure> {
    kernel_on(&Runtime::get().current()?, stub)
}

/// As [`kernel`], on a given device.
pub(super) fn kernel_on(
    device: &Arc<Device>,
    stub: *const c_void,
) -> Result<Arc<Function>, Failure> {
    if stub.is_null() {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidDeviceFunction,
            "the kernel is null",
        ));
    }
    let mut registered = registered();
    let Some(named) = registered.functions.get(&stub.addr()).cloned() else {
        drop(registered);
        return function(ptr::without_provenance_mut(stub.addr())).map_err(|_| {
            Failure::new(
                hipError_t::hipErrorInvalidDeviceFunction,
                format_args!("{stub:p} is not a kernel of the program or of a module"),
            )
        });
    };
    let module = registered.module(named.binary, device)?;
    drop(registered);
    let handle = module
        .registered_function(&named.name)
        .map_err(|failure| Failure {
            code: hipError_t::hipErrorInvalidDeviceFunction,
            ..failure
        })?;
    function(ptr::without_provenance_mut(handle))
}

/// Address and length of a host variable's device variable, on the current device.
pub(super) fn variable(symbol: *const c_void) -> Result<(u64, u64), Failure> {
    let invalid =
        |detail: std::fmt::Arguments<'_>| Failure::new(hipError_t::hipErrorInvalidSymbol, detail);
    let device = Runtime::get().current()?;
    let mut registered = registered();
    let named = registered.variables.get(&symbol.addr()).cloned();
    let named = named.ok_or_else(|| {
        invalid(format_args!(
            "{symbol:p} is not registered for a device variable of the program"
        ))
    })?;
    let module = registered.module(named.binary, &device)?;
    module.variable(&named.name).ok_or_else(|| {
        invalid(format_args!(
            "the program's code object has no variable `{}`",
            named.name
        ))
    })
}

pub(super) unsafe fn hipKernelNameRefByPtr(
    stub: *const c_void,
    _stream: hipStream_t,
) -> *const c_char {
    // The name lives as long as the kernel's handle.
    kernel(stub).map_or(ptr::null(), |kernel| kernel.name.as_ptr())
}

pub(super) unsafe fn hipGetFuncBySymbol(
    function: *mut hipFunction_t,
    stub: *const c_void,
) -> Result<(), Failure> {
    let function = out!(function);
    let kernel = kernel(stub)?;
    let handle = KERNELS.handle_of(&kernel);
    let handle = handle.ok_or_else(|| Failure::handle("kernel", stub.addr()))?;
    function.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipGetSymbolAddress(
    address: *mut *mut c_void,
    symbol: *const c_void,
) -> Result<(), Failure> {
    let address = out!(address);
    let (start, _) = variable(symbol)?;
    address.set(ptr::with_exposed_provenance_mut(start as usize));
    Ok(())
}

pub(super) unsafe fn hipGetSymbolSize(
    size: *mut usize,
    symbol: *const c_void,
) -> Result<(), Failure> {
    let size = out!(size);
    let (_, length) = variable(symbol)?;
    size.set(length as usize);
    Ok(())
}

pub(super) unsafe fn __hipRegisterFatBinary(data: *const c_void) -> *mut *mut c_void {
    if is_absent(data) {
        warn("a program registers code objects at a null pointer");
        return ptr::null_mut();
    }
    // SAFETY: HIP's contract: the address is a clang wrapper's.
    let wrapper = unsafe { data.cast::<FatBinaryWrapper>().read_unaligned() };
    if wrapper.magic != FatBinaryWrapper::MAGIC {
        warn(format_args!(
            "a program registers code objects with the magic number {:#x} instead of {:#x}",
            wrapper.magic,
            FatBinaryWrapper::MAGIC
        ));
        return ptr::null_mut();
    }
    let handle = handles::unused();
    // Errors in the code object are reported when one of its kernels is used, because programs do not check for errors
    // as they start.
    let binary = Binary {
        image: wrapper.binary.expose_provenance(),
        loaded: Vec::new(),
        managed: Vec::new(),
    };
    registered().binaries.insert(handle, binary);
    ptr::without_provenance_mut(handle)
}

/// Registers the device-side name of a host stub or variable.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn name(
    modules: *mut *mut c_void,
    host: *const c_void,
    name: *const c_char,
    place: impl FnOnce(&mut Registered) -> &mut HashMap<usize, Named>,
) {
    // SAFETY: guaranteed by the caller.
    let Ok(name) = (unsafe { text(name, "name") }) else {
        return;
    };
    let named = Named {
        binary: modules.addr(),
        name: name.to_string_lossy().into_owned(),
    };
    let mut registered = registered();
    if !host.is_null() && registered.binaries.contains_key(&named.binary) {
        place(&mut registered).insert(host.addr(), named);
    }
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn __hipRegisterFunction(
    modules: *mut *mut c_void,
    stub: *const c_void,
    _host_name: *mut c_char,
    device_name: *const c_char,
    _thread_limit: c_uint,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_dim: *mut dim3,
    _grid_dim: *mut dim3,
    _wave_size: *mut c_int,
) {
    // SAFETY: the caller upholds HIP's contract.
    unsafe { name(modules, stub, device_name, |all| &mut all.functions) }
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn __hipRegisterVar(
    modules: *mut *mut c_void,
    variable: *mut c_void,
    _host_name: *mut c_char,
    device_name: *mut c_char,
    _is_extern: c_int,
    _bytes: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    // SAFETY: the caller upholds HIP's contract.
    unsafe { name(modules, variable, device_name, |all| &mut all.variables) }
}

pub(super) unsafe fn __hipRegisterSurface(
    _modules: *mut *mut c_void,
    _surface: *mut c_void,
    _host_name: *mut c_char,
    _device_name: *mut c_char,
    _kind: c_int,
    _is_extern: c_int,
) {
}

pub(super) unsafe fn __hipRegisterTexture(
    modules: *mut *mut c_void,
    texture: *mut c_void,
    _host_name: *mut c_char,
    device_name: *mut c_char,
    _kind: c_int,
    _is_normalized: c_int,
    _is_extern: c_int,
) {
    // SAFETY: the caller upholds HIP's contract.
    unsafe { name(modules, texture, device_name, |all| &mut all.variables) }
}

pub(super) unsafe fn __hipRegisterManagedVar(
    modules: *mut *mut c_void,
    pointer: *mut *mut c_void,
    initial: *mut c_void,
    device_name: *const c_char,
    bytes: usize,
    _alignment: c_uint,
) {
    // SAFETY: the caller upholds HIP's contract.
    let Ok(name) = (unsafe { text(device_name, "name") }) else {
        return;
    };
    if is_absent(pointer) || bytes == 0 {
        return;
    }
    let initial = match initial.is_null() {
        true => None,
        // SAFETY: HIP's contract: the initial value has `bytes` bytes.
        false => match unsafe { list(initial.cast::<u8>(), bytes, "init_value") } {
            Ok(initial) => Some(initial),
            Err(failure) => return warn(failure.detail),
        },
    };
    let mut managed = Managed {
        name: name.to_string_lossy().into_owned(),
        pointer: pointer.expose_provenance(),
        bytes,
        initial,
        address: None,
    };
    // The program may use the variable before it launches a kernel.
    let allocated = Runtime::get()
        .current()
        .and_then(|device| managed.allocate(&device));
    if let Err(failure) = allocated {
        warn(format_args!(
            "no memory for the managed variable `{}`: {}",
            managed.name, failure.detail
        ));
    }
    let mut registered = registered();
    if let Some(binary) = registered.binaries.get_mut(&modules.addr()) {
        binary.managed.push(managed);
    }
}

pub(super) unsafe fn __hipUnregisterFatBinary(modules: *mut *mut c_void) {
    let mut registered = registered();
    let gone = registered.binaries.remove(&modules.addr());
    let others = |_: &usize, named: &mut Named| named.binary != modules.addr();
    registered.functions.retain(others);
    registered.variables.retain(others);
    drop(registered);
    for (_, module) in gone.iter().flat_map(|binary| &binary.loaded) {
        module.forget_functions();
    }
}
