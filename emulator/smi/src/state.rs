//! The devices between the first `rsmi_init` and the last `rsmi_shut_down`.

use std::{
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
};

use ferrowave_gpu::Specifications;
use ferrowave_hip as hip;

use crate::abi::Status;

struct State {
    /// Calls of `rsmi_init` without their `rsmi_shut_down`.
    uses: i32,
    devices: Vec<&'static Specifications>,
}

static STATE: Mutex<State> = Mutex::new(State {
    uses: 0,
    devices: Vec::new(),
});

fn state() -> MutexGuard<'static, State> {
    // No panic can leave the state inconsistent.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn open() -> Result<(), Status> {
    let mut state = state();
    if state.uses == 0 {
        state.devices = hip::environment_devices().map_err(|detail| {
            // No status expresses this, and programs end here.
            let _ = writeln!(io::stderr(), "ferrowave: librocm_smi64: {detail}");
            Status::INIT_ERROR
        })?;
    }
    state.uses = state.uses.checked_add(1).ok_or(Status::REFCOUNT_OVERFLOW)?;
    Ok(())
}

pub(crate) fn close() -> Result<(), Status> {
    let mut state = state();
    if state.uses == 0 {
        return Err(Status::INIT_ERROR);
    }
    state.uses -= 1;
    if state.uses == 0 {
        state.devices.clear();
    }
    Ok(())
}

pub(crate) fn device_count() -> u32 {
    // The environment cannot name more than 2³² devices.
    state().devices.len() as u32
}

/// The device of an index. Before `rsmi_init` there is none, as in ROCm's library.
pub(crate) fn device(index: u32) -> Result<&'static Specifications, Status> {
    let device = state().devices.get(index as usize).copied();
    device.ok_or(Status::INVALID_ARGS)
}

/// The pointer to write a result to; an error if it is null.
pub(crate) fn out<T>(pointer: *mut T) -> Result<Out<T>, Status> {
    match pointer.is_null() {
        true => Err(Status::INVALID_ARGS),
        false => Ok(Out(pointer)),
    }
}

pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// The pointer is valid for a write of a `T`.
    pub(crate) unsafe fn set(self, value: T) {
        // SAFETY: the caller's promise. C callers may pass unaligned pointers.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// Runs a function's body and catches panics: they must not unwind into C.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => Status::INTERNAL_EXCEPTION,
    }
}
