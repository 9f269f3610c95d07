//! Formats arguments and results as text.
//!
//! The table macro passes each argument without knowing how to format its type. [`Argument`] wraps it. Method
//! resolution prefers [`ByValue`], which types with a format of their own implement, to [`ByPointer`], which all types
//! implement.

use std::{
    ffi::{CStr, c_char, c_void},
    fmt::Debug,
};

use ferrowave_code_object::{Argument as KernelArgument, ValueKind};
use ferrowave_hip_abi::{
    dim3, hipError_t, hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t, hipMemcpyKind,
    hipModule_t, hipStream_t,
};

use crate::error::is_absent;
use ferrowave_emulator::memory::DeviceMemory;

/// Maximum bytes of a text that are shown.
const TEXT_BYTES: usize = 200;

/// An argument or a result.
pub(crate) struct Argument<T>(pub(crate) T);

/// Types with a format of their own.
pub(crate) trait ByValue {
    fn text(&self) -> String;
}

/// All other types.
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

/// HIP passes names and paths in this form, and returns names.
impl ByValue for Argument<*const c_char> {
    fn text(&self) -> String {
        if self.0.is_null() {
            return "null".to_owned();
        }
        if is_absent(self.0) {
            return format!("{:p}", self.0);
        }
        // SAFETY: the caller of the HIP function guarantees a C string.
        let text = unsafe { CStr::from_ptr(self.0) }.to_bytes();
        let shown = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES)]);
        let rest = if text.len() > TEXT_BYTES { "…" } else { "" };
        format!("{shown:?}{rest}")
    }
}

/// The value that a call has written through its first argument: a new address or handle.
pub(crate) trait First {
    fn first(&self) -> Option<String>;
}

impl<T> First for &Argument<T> {
    fn first(&self) -> Option<String> {
        None
    }
}

/// Like [`First`], for the types that are such pointers.
pub(crate) trait FirstOfPointer {
    fn first(&self) -> Option<String>;
}

macro_rules! places {
    ($($type:ty)*) => {$(
        impl FirstOfPointer for Argument<*mut $type> {
            fn first(&self) -> Option<String> {
                if is_absent(self.0) {
                    return None;
                }
                // SAFETY: a successful call has written a result through a first argument of this type.
                let value = unsafe { self.0.read_unaligned() };
                Some(format!("{value:?}"))
            }
        }
    )*};
}

places! { *mut c_void hipStream_t hipEvent_t hipModule_t hipFunction_t hipGraph_t hipGraphExec_t }

/// Formats three sizes.
pub(crate) fn extents([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

/// Formats a kernel's argument from its bytes in the kernarg segment.
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
