//! The code objects that the build script compiled.

#[cfg(feature = "compressed")]
use std::{io::Read as _, sync::OnceLock};

use ferrowave_gpu::Gpu;
use ferrowave_host::hip::{Device, DeviceSelector, OpenError};

/// What the build script embedded for a GPU.
struct Embedded {
    gpu: Gpu,
    bytes: &'static [u8],
    #[cfg(feature = "compressed")]
    unpacked: OnceLock<Vec<u8>>,
}

// The array `EMBEDDED`, with an element for each GPU.
include!(concat!(env!("OUT_DIR"), "/code_objects.rs"));

impl Embedded {
    const fn new(gpu: Gpu, bytes: &'static [u8]) -> Self {
        Self {
            gpu,
            bytes,
            #[cfg(feature = "compressed")]
            unpacked: OnceLock::new(),
        }
    }

    #[cfg(not(feature = "compressed"))]
    fn code_object(&self) -> &'static [u8] {
        self.bytes
    }

    #[cfg(feature = "compressed")]
    fn code_object(&'static self) -> &'static [u8] {
        self.unpacked.get_or_init(|| {
            let mut unpacked = Vec::new();
            lzma_rust2::XzReader::new(self.bytes, false)
                .read_to_end(&mut unpacked)
                .expect("the build script compressed it");
            unpacked
        })
    }
}

/// The code object of each GPU that `FERROWAVE_GPUS` named at build time. If it was not set, of the GPUs of the computer that
/// built, or of gfx942 where it has none. The feature `compressed` unpacks each when it is first asked for.
pub fn code_objects() -> impl Iterator<Item = (Gpu, &'static [u8])> {
    EMBEDDED
        .iter()
        .map(|embedded| (embedded.gpu, embedded.code_object()))
}

/// The code object for the GPU that LLVM calls `gpu`, if it was built.
pub fn code_object(gpu: &str) -> Option<&'static [u8]> {
    EMBEDDED
        .iter()
        .find(|embedded| embedded.gpu.name() == gpu)
        .map(Embedded::code_object)
}

/// The GPUs that kernels were built for.
pub fn gpus() -> Vec<Gpu> {
    EMBEDDED.iter().map(|embedded| embedded.gpu).collect()
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
