//! Contexts, which HIP keeps for programs ported from CUDA's driver API. A context is another name for a device; each
//! thread has a stack of contexts.

use std::{
    cell::RefCell,
    ffi::{c_int, c_uint},
    ptr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use ferrowave_hip_abi::{
    hipCtx_t, hipDevice_t, hipDeviceFlagsMask, hipDeviceScheduleMask, hipError_t, hipFuncCache_t,
    hipSharedMemConfig,
};

use super::{
    error::{Failure, out},
    handles::Handles,
    runtime::{Device, Runtime},
};

/// A context.
pub(super) struct Context {
    pub(super) device: Arc<Device>,
    /// Whether `hipCtxCreate` created it. Only such a context can be destroyed.
    made: bool,
}

/// Contexts by handle.
pub(super) static CONTEXTS: LazyLock<Handles<Context>> = LazyLock::new(Handles::new);

thread_local! {
    /// The handles of the thread's contexts, the current one last.
    static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Accesses the thread's stack. A destructor of the program may call HIP after the stack is gone; the stack is then
/// empty.
fn stack<R>(access: impl FnOnce(&mut Vec<usize>) -> R) -> R {
    match STACK.try_with(|_| ()) {
        Ok(()) => STACK.with_borrow_mut(access),
        Err(_) => access(&mut Vec::new()),
    }
}

/// The handle of a device's primary context.
pub(super) fn primary(device: &Arc<Device>) -> hipCtx_t {
    let handle = device.primary_context.get_or_init(|| {
        CONTEXTS.insert(Arc::new(Context {
            device: Arc::clone(device),
            made: false,
        }))
    });
    ptr::without_provenance_mut(*handle)
}

/// The context of a handle.
pub(super) fn context(handle: hipCtx_t) -> Result<Arc<Context>, Failure> {
    let found = CONTEXTS.get(handle.addr());
    found.ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorInvalidContext,
            format_args!("{:#x} is not a context, or was destroyed", handle.addr()),
        )
    })
}

/// Makes the topmost context's device the thread's current device.
fn follow_the_stack() -> Result<(), Failure> {
    let top = stack(|stack| stack.last().copied());
    let Some(top) = top else {
        return Ok(());
    };
    match CONTEXTS.get(top) {
        Some(context) => Runtime::get().set_current(context.device.ordinal),
        // The context was destroyed while it was on the stack.
        None => Ok(()),
    }
}

/// Replaces the topmost context when a thread selects a device by ordinal.
pub(super) fn device_was_set(device: &Arc<Device>) {
    stack(|stack| {
        if let Some(top) = stack.last_mut() {
            *top = primary(device).addr();
        }
    });
}

pub(super) unsafe fn hipCtxCreate(
    ctx: *mut hipCtx_t,
    flags: c_uint,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let ctx = out!(ctx);
    if flags & !hipDeviceFlagsMask != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {hipDeviceFlagsMask:#x} are known"
        )));
    }
    let device = Runtime::get().device(device)?;
    let handle = CONTEXTS.insert(Arc::new(Context { device, made: true }));
    stack(|stack| stack.push(handle));
    ctx.set(ptr::without_provenance_mut(handle));
    follow_the_stack()
}

pub(super) unsafe fn hipCtxDestroy(ctx: hipCtx_t) -> Result<(), Failure> {
    if !context(ctx)?.made {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidContext,
            "a device's primary context cannot be destroyed",
        ));
    }
    CONTEXTS.remove(ctx.addr());
    stack(|stack| stack.retain(|&handle| handle != ctx.addr()));
    follow_the_stack()
}

pub(super) unsafe fn hipCtxPushCurrent(ctx: hipCtx_t) -> Result<(), Failure> {
    /// Maximum depth of the stack. A deeper stack means that the program forgets to pop.
    const MAX_DEPTH: usize = 1 << 16;
    context(ctx)?;
    stack(|stack| {
        if stack.len() >= MAX_DEPTH {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidContext,
                format_args!("{MAX_DEPTH} contexts were pushed and none popped"),
            ));
        }
        stack.push(ctx.addr());
        Ok(())
    })?;
    follow_the_stack()
}

pub(super) unsafe fn hipCtxPopCurrent(ctx: *mut hipCtx_t) -> Result<(), Failure> {
    let top = stack(Vec::pop).ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorInvalidContext,
            "the thread's stack of contexts is empty",
        )
    })?;
    if !ctx.is_null() {
        out!(ctx).set(ptr::without_provenance_mut(top));
    }
    follow_the_stack()
}

pub(super) unsafe fn hipCtxSetCurrent(ctx: hipCtx_t) -> Result<(), Failure> {
    if !ctx.is_null() {
        context(ctx)?;
    }
    stack(|stack| {
        stack.pop();
        if !ctx.is_null() {
            stack.push(ctx.addr());
        }
    });
    follow_the_stack()
}

pub(super) unsafe fn hipCtxGetCurrent(ctx: *mut hipCtx_t) -> Result<(), Failure> {
    let ctx = out!(ctx);
    let top = stack(|stack| stack.last().copied());
    ctx.set(match top {
        Some(top) => ptr::without_provenance_mut(top),
        None => primary(&Runtime::get().current()?),
    });
    Ok(())
}

pub(super) unsafe fn hipCtxGetDevice(device: *mut hipDevice_t) -> Result<(), Failure> {
    let device = out!(device);
    device.set(Runtime::get().current()?.ordinal);
    Ok(())
}

pub(super) unsafe fn hipDevicePrimaryCtxRetain(
    ctx: *mut hipCtx_t,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let ctx = out!(ctx);
    let device = Runtime::get().device(device)?;
    device.primary_uses.fetch_add(1, Ordering::Relaxed);
    ctx.set(primary(&device));
    Ok(())
}

pub(super) unsafe fn hipDevicePrimaryCtxRelease(device: hipDevice_t) -> Result<(), Failure> {
    let device = Runtime::get().device(device)?;
    let less = |uses: u32| uses.checked_sub(1);
    // HIP accepts one release too many.
    let _ = device
        .primary_uses
        .try_update(Ordering::Relaxed, Ordering::Relaxed, less);
    Ok(())
}

pub(super) unsafe fn hipDevicePrimaryCtxGetState(
    device: hipDevice_t,
    flags: *mut c_uint,
    active: *mut c_int,
) -> Result<(), Failure> {
    let device = Runtime::get().device(device)?;
    if !flags.is_null() {
        out!(flags).set(device.flags.load(Ordering::Relaxed));
    }
    if !active.is_null() {
        out!(active).set(c_int::from(device.primary_uses.load(Ordering::Relaxed) > 0));
    }
    Ok(())
}

pub(super) unsafe fn hipDevicePrimaryCtxSetFlags(
    device: hipDevice_t,
    flags: c_uint,
) -> Result<(), Failure> {
    set_flags(&Runtime::get().device(device)?.flags, flags)
}

/// Stores flags, which select how threads wait and whether host memory is mapped. They have no effect.
fn set_flags(place: &AtomicU32, flags: c_uint) -> Result<(), Failure> {
    if flags & !hipDeviceFlagsMask != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {hipDeviceFlagsMask:#x} are known"
        )));
    }
    let waiting = flags & hipDeviceScheduleMask;
    if waiting.count_ones() > 1 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, which name more than one way to wait"
        )));
    }
    // CLR keeps no other flag (`hipSetDeviceFlags` in `hip_device_runtime.cpp`).
    place.store(waiting, Ordering::Relaxed);
    Ok(())
}

pub(super) unsafe fn hipSetDeviceFlags(flags: c_uint) -> Result<(), Failure> {
    set_flags(&Runtime::get().current()?.flags, flags)
}

pub(super) unsafe fn hipGetDeviceFlags(flags: *mut c_uint) -> Result<(), Failure> {
    let flags = out!(flags);
    flags.set(Runtime::get().current()?.flags.load(Ordering::Relaxed));
    Ok(())
}

pub(super) use hipGetDeviceFlags as hipCtxGetFlags;

pub(super) unsafe fn hipDeviceGetCacheConfig(config: *mut hipFuncCache_t) -> Result<(), Failure> {
    let config = out!(config);
    Runtime::get().current()?;
    config.set(hipFuncCache_t::hipFuncCachePreferNone);
    Ok(())
}

/// Rejects an invalid cache configuration.
pub(super) fn check_cache(config: hipFuncCache_t) -> Result<(), Failure> {
    match config.0 {
        0..=3 => Ok(()),
        other => Err(Failure::value(format_args!(
            "{other} is not a cache configuration; expected 0 to 3"
        ))),
    }
}

pub(super) unsafe fn hipDeviceSetCacheConfig(config: hipFuncCache_t) -> Result<(), Failure> {
    Runtime::get().current()?;
    check_cache(config)
}

pub(super) unsafe fn hipDeviceGetSharedMemConfig(
    config: *mut hipSharedMemConfig,
) -> Result<(), Failure> {
    let config = out!(config);
    Runtime::get().current()?;
    config.set(hipSharedMemConfig::hipSharedMemBankSizeFourByte);
    Ok(())
}

/// Rejects an invalid bank configuration.
pub(super) fn check_banks(config: hipSharedMemConfig) -> Result<(), Failure> {
    match config.0 {
        0..=2 => Ok(()),
        other => Err(Failure::value(format_args!(
            "{other} is not an LDS bank size; expected 0 to 2"
        ))),
    }
}

pub(super) unsafe fn hipDeviceSetSharedMemConfig(
    config: hipSharedMemConfig,
) -> Result<(), Failure> {
    Runtime::get().current()?;
    check_banks(config)
}

pub(super) use hipDeviceGetCacheConfig as hipCtxGetCacheConfig;
pub(super) use hipDeviceGetSharedMemConfig as hipCtxGetSharedMemConfig;
pub(super) use hipDeviceSetCacheConfig as hipCtxSetCacheConfig;
pub(super) use hipDeviceSetSharedMemConfig as hipCtxSetSharedMemConfig;
