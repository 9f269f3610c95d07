//! HIP's C interface: types, error codes, and one table of functions. Data only, no logic.
//!
//! Both sides use it. A host calls through [`Functions`], filled either from `libamdhip64.so`, loaded at run time, or
//! by an emulator in the same process. The emulator's table, its exported symbols and the host's table all derive from
//! [`for_each_hip_function!`], so a function that one side forgets is a compile error.
//!
//! Names are HIP's own, so that its documentation applies.
//!
//! # Why not `hip-runtime-sys`
//! That crate runs bindgen on ROCm's headers and links `libamdhip64` at build time, so a program that uses it neither
//! builds nor starts without ROCm. This crate needs nothing until a device is opened.
//!
//! # Sources
//! ROCm's public headers, HIP 7.1.25424, as distributed in the PyPI wheel `triton` 3.9.0
//! (`triton/backends/amd/include`; in ROCm itself `/opt/rocm/include`): `hip/hip_runtime_api.h`,
//! `hip/hip_deprecated.h`, `hip/driver_types.h`. Values, sizes and offsets were printed by a C program that clang 22
//! compiled against them with `__HIP_PLATFORM_AMD__` for `x86_64-linux-gnu`. The structs state every offset, and do not
//! compile where Rust's layout differs.

#![no_std]
#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "HIP's own names"
)]

mod attributes;
mod enums;
mod error;
mod flags;
mod functions;
mod layout;
mod properties;
mod properties_legacy;
mod rtc;
mod structs;
mod types;

pub use attributes::{hipDeviceAttribute_t, hipFunction_attribute};
pub use enums::*;
pub use error::{HipErrorRow, hipError_t};
pub use flags::*;
pub use functions::Functions;
pub use properties::hipDeviceProp_tR0600;
pub use properties_legacy::hipDeviceProp_tR0000;
pub use rtc::hiprtcResult;
pub use structs::*;
pub use types::*;
