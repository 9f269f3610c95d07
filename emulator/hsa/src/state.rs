//! The agents between the first `hsa_init` and the last `hsa_shut_down`.

use std::{
    ffi::c_void,
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
};

use ferrowave_gpu::Specifications;
use ferrowave_hip as hip;
use ferrowave_hip_abi::{hipDeviceProp_tR0600, hipError_t};

use crate::abi::{Agent, Isa, Status};

/// The CPU's handle. Those of GPUs follow.
pub(crate) const CPU: Agent = Agent(1);

/// A GPU.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    pub(crate) row: &'static Specifications,
    pub(crate) ordinal: u32,
    /// HIP's name of the target: the instruction set with its features.
    target: String,
}

impl Gpu {
    pub(crate) fn agent(&self) -> Agent {
        Agent(CPU.0 + 1 + u64::from(self.ordinal))
    }

    /// Its instruction set architecture, with the number of the agent.
    pub(crate) fn isa(&self) -> Isa {
        Isa(self.agent().0)
    }

    /// The PCI domain and bus.
    pub(crate) fn pci(&self) -> (u32, u8) {
        hip::pci_location(self.ordinal)
    }

    /// The name of its instruction set architecture.
    pub(crate) fn isa_name(&self) -> String {
        format!("amdgcn-amd-amdhsa--{}", self.target)
    }
}

struct State {
    /// Calls of `hsa_init` without their `hsa_shut_down`.
    uses: u32,
    gpus: Vec<Gpu>,
}

static STATE: Mutex<State> = Mutex::new(State {
    uses: 0,
    gpus: Vec::new(),
});

fn state() -> MutexGuard<'static, State> {
    // No panic can leave the state inconsistent.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn open() -> Result<(), Status> {
    let mut state = state();
    if state.uses == 0 {
        state.gpus = find().map_err(|detail| {
            // No status expresses this, and programs end here.
            let _ = writeln!(io::stderr(), "ferrowave: libhsa-runtime64: {detail}");
            Status::ERROR
        })?;
    }
    state.uses = state.uses.checked_add(1).ok_or(Status::REFCOUNT_OVERFLOW)?;
    Ok(())
}

/// The devices of HIP in this environment.
fn find() -> Result<Vec<Gpu>, String> {
    let rows = hip::environment_devices()?;
    (0..)
        .zip(rows)
        .map(|(ordinal, row)| {
            Ok(Gpu {
                row,
                ordinal,
                target: target(ordinal)?,
            })
        })
        .collect()
}

fn target(ordinal: u32) -> Result<String, String> {
    let mut properties = hipDeviceProp_tR0600::ZERO;
    // SAFETY: the properties are valid for a write.
    let error =
        unsafe { (hip::FUNCTIONS.hipGetDevicePropertiesR0600)(&mut properties, ordinal as i32) };
    if error != hipError_t::hipSuccess {
        return Err(format!("device {ordinal} has no properties: {error:?}"));
    }
    let name = properties.gcnArchName.iter().take_while(|&&c| c != 0);
    Ok(name.map(|&c| char::from(c as u8)).collect())
}

pub(crate) fn close() -> Result<(), Status> {
    let mut state = state();
    state.uses = state.uses.checked_sub(1).ok_or(Status::NOT_INITIALIZED)?;
    if state.uses == 0 {
        state.gpus.clear();
    }
    Ok(())
}

pub(crate) fn initialized() -> Result<(), Status> {
    match state().uses {
        0 => Err(Status::NOT_INITIALIZED),
        _ => Ok(()),
    }
}

/// The GPUs, by ordinal.
pub(crate) fn gpus() -> Vec<Gpu> {
    state().gpus.clone()
}

/// All agents, the CPU first.
pub(crate) fn agents() -> Result<Vec<Agent>, Status> {
    initialized()?;
    let gpus = gpus().into_iter().map(|gpu| gpu.agent());
    Ok([CPU].into_iter().chain(gpus).collect())
}

/// The GPU of an agent; `None` for the CPU.
pub(crate) fn gpu_of(agent: Agent) -> Result<Option<Gpu>, Status> {
    initialized()?;
    if agent == CPU {
        return Ok(None);
    }
    let mut gpus = gpus().into_iter();
    gpus.find(|gpu| gpu.agent() == agent)
        .map(Some)
        .ok_or(Status::INVALID_AGENT)
}

/// Where an attribute goes.
#[derive(Clone, Copy)]
pub(crate) struct Value(*mut c_void);

/// The pointer to write a value to; an error if it is null.
pub(crate) fn value(pointer: *mut c_void) -> Result<Value, Status> {
    match pointer.is_null() {
        true => Err(Status::INVALID_ARGUMENT),
        false => Ok(Value(pointer)),
    }
}

impl Value {
    /// # Safety
    /// The pointer is valid for a write of a `T`.
    pub(crate) unsafe fn set<T>(self, value: T) {
        // SAFETY: the caller's promise. C callers may pass unaligned pointers.
        unsafe { self.0.cast::<T>().write_unaligned(value) }
    }

    /// Writes a string and its NUL.
    ///
    /// # Safety
    /// The pointer is valid for a write of as many bytes.
    pub(crate) unsafe fn set_text(self, text: &str) {
        let to = self.0.cast::<u8>();
        // SAFETY: as the caller promises.
        unsafe {
            to.copy_from_nonoverlapping(text.as_ptr(), text.len());
            to.add(text.len()).write(0);
        }
    }
}

/// Runs a function's body and catches panics: they must not unwind into C.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => Status::ERROR,
    }
}
