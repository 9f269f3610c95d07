//! The code objects that the build script compiled.

use ferrowave_gpu::Gpu;
use ferrowave_host::hip::{Device, DeviceSelector, OpenError};

/// The code object of each GPU that `FERROWAVE_GPUS` named at build time. If it was not set, of the GPUs of the computer that
/// built, or of gfx942 where it has none.
pub static CODE_OBJECTS: &[(Gpu, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/code_objects.rs"));

/// The code object for the GPU that LLVM calls `gpu`, if it was built.
pub fn code_object(gpu: &str) -> Option<&'static [u8]> {
    CODE_OBJECTS
        .iter()
        .find(|(built, _)| built.name() == gpu)
        .map(|&(_, bytes)| bytes)
}

/// The GPUs that kernels were built for.
pub fn gpus() -> Vec<Gpu> {
    CODE_OBJECTS.iter().map(|&(gpu, _)| gpu).collect()
}

/// Opens the requested device; `auto` takes the first of HIP's that kernels were built for, or else the emulator.
///
/// # Errors
/// If it cannot be used.
pub fn open(selector: &DeviceSelector) -> Result<Device, OpenError> {
    Device::open_for(selector, &gpus())
}

/// Opens the device that `FERROWAVE_DEVICE` requests, as [`open`] does.
///
/// # Errors
/// If it cannot be used, or the variable does not name a device.
pub fn device_from_environment() -> Result<Device, OpenError> {
    open(&DeviceSelector::from_environment()?)
}

/// The compiler that built the kernels, and its LLVM version.
pub const TOOLCHAIN: &str = env!("FERROWAVE_TOOLCHAIN");

/// The commit of this build, with `-dirty` if tracked files were changed; `None` outside of a repository.
pub const COMMIT: Option<&str> = option_env!("FERROWAVE_COMMIT");
