//! Arguments and results as text.
//!
//! The table of functions is a macro, which knows each argument's type but not what to write for it. [`Argument`] wraps
//! a value; of the methods that Rust finds for it, those of a type that is named here come before those of any type.

use std::{
    ffi::{CStr, c_char, c_void},
    fmt::Debug,
};

use ferrowave_code_object::{Argument as KernelArgument, ValueKind};
use ferrowave_hip_abi::{
    dim3, hipError_t, hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t, hipMemcpyKind,
    hipModule_t, hipStream_t,
};

use ferrowave_emulator::memory::DeviceMemory;

/// Bytes of a text that are shown.
const TEXT_BYTES: usize = 200;

/// An argument or a result.
pub(crate) struct Argument<T>(pub(crate) T);

/// Types with a form of their own.
pub(crate) trait ByValue {
    fn text(&self) -> String;
}

/// All others.
pub(crate) trait ByPointer {
    fn text(&self) -> String;
}

impl<T: Debug> ByPointer for &Argument<T> {
    fn text(&self) -> String {
        format!("{:?}", self.0)
    }
}

impl ByValue for Argument<hipError_t> {
    fn text(&self) -> String {
        match self.0.row() {
            Some(row) => row.name.to_string_lossy().into_owned(),
            None => format!("hipError_t {}", self.0.0),
        }
    }
}

impl ByValue for Argument<dim3> {
    fn text(&self) -> String {
        extents([self.0.x, self.0.y, self.0.z])
    }
}

impl ByValue for Argument<()> {
    fn text(&self) -> String {
        String::new()
    }
}

impl ByValue for Argument<hipMemcpyKind> {
    fn text(&self) -> String {
        let name = match self.0 {
            hipMemcpyKind::hipMemcpyHostToHost => "hipMemcpyHostToHost",
            hipMemcpyKind::hipMemcpyHostToDevice => "hipMemcpyHostToDevice",
            hipMemcpyKind::hipMemcpyDeviceToHost => "hipMemcpyDeviceToHost",
            hipMemcpyKind::hipMemcpyDeviceToDevice => "hipMemcpyDeviceToDevice",
            hipMemcpyKind::hipMemcpyDefault => "hipMemcpyDefault",
            hipMemcpyKind::hipMemcpyDeviceToDeviceNoCU => "hipMemcpyDeviceToDeviceNoCU",
            hipMemcpyKind(other) => return format!("hipMemcpyKind {other}"),
        };
        name.to_owned()
    }
}

/// HIP passes names and paths so, and results of functions that name something.
impl ByValue for Argument<*const c_char> {
    fn text(&self) -> String {
        if self.0.is_null() {
            return "null".to_owned();
        }
        // SAFETY: the caller of the HIP function promises a text that ends in NUL.
        let text = unsafe { CStr::from_ptr(self.0) }.to_bytes();
        let shown = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES)]);
        let rest = if text.len() > TEXT_BYTES { "…" } else { "" };
        format!("{shown:?}{rest}")
    }
}

/// What a call leaves where its first argument points: HIP's place for a new address or handle.
pub(crate) trait First {
    fn first(&self) -> Option<String>;
}

impl<T> First for &Argument<T> {
    fn first(&self) -> Option<String> {
        None
    }
}

/// As [`First`], of the types that are such places.
pub(crate) trait Place {
    fn first(&self) -> Option<String>;
}

macro_rules! places {
    ($($type:ty)*) => {$(
        impl Place for Argument<*mut $type> {
            fn first(&self) -> Option<String> {
                if self.0.is_null() {
                    return None;
                }
                // SAFETY: the call has succeeded, which writes a result to a first argument of this type.
                let value = unsafe { self.0.read_unaligned() };
                Some(format!("{value:?}"))
            }
        }
    )*};
}

places! { *mut c_void hipStream_t hipEvent_t hipModule_t hipFunction_t hipGraph_t hipGraphExec_t }

/// Three sizes.
pub(crate) fn extents([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

/// An argument of a kernel from its bytes in the kernarg segment.
pub(crate) fn of_kernel(argument: &KernelArgument, bytes: &[u8], memory: &DeviceMemory) -> String {
    let mut word = [0; 8];
    if bytes.len() > word.len() {
        return format!("{} bytes", bytes.len());
    }
    word[..bytes.len()].copy_from_slice(bytes);
    let value = u64::from_le_bytes(word);
    if argument.value_kind != ValueKind::GlobalBuffer {
        return format!("{value} ({value:#x})");
    }
    match memory.find(value) {
        Some(info) => format!("{value:#x}, byte {} of {info}", value - info.base),
        None => format!("{value:#x}"),
    }
}
