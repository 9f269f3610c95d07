//! Chooses a device, and says why.

use ferrowave_gpu::{Gpu, Product};
use thiserror::Error;

use super::{Api, DeviceSelector, LoadError};
use crate::hip::HipError;

/// The GPU that is emulated by default.
const DEFAULT_GPU: Gpu = Gpu::Gfx942;

/// Why HIP's devices can't be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// The table of functions can't be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// HIP does not start, or fails to count its devices.
    #[error(transparent)]
    Hip(#[from] HipError),
    /// HIP found no device.
    #[error("HIP found no device")]
    NoDevice,
}

/// The chosen device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Choice {
    /// A device of a HIP library.
    Hip {
        /// Its functions.
        api: Api,
        /// The device's number; it is not checked against `count`.
        ordinal: u32,
        /// The number of devices.
        count: u32,
        /// Why it was chosen.
        why: String,
    },
    /// A new device of the emulator in this process.
    Emulator {
        /// The GPU to emulate.
        gpu: Gpu,
        /// The product to emulate, if it is not the GPU's default product.
        product: Option<Product>,
        /// Why it was chosen.
        why: String,
    },
}

/// Chooses a device. `auto` takes HIP if the library loads, starts and has a device, otherwise the emulator as gfx942.
/// (Asking the library for its version proves nothing: it answers even without a GPU.)
///
/// # Errors
/// If HIP is requested and cannot be used.
pub fn choose(
    selector: DeviceSelector,
    library: impl FnOnce() -> Result<Api, LoadError>,
) -> Result<Choice, Unusable> {
    let asked = "as asked for".to_owned();
    match selector {
        DeviceSelector::Emulator(gpu) => Ok(Choice::Emulator {
            gpu,
            product: None,
            why: asked,
        }),
        DeviceSelector::Product(product) => Ok(Choice::Emulator {
            gpu: product.gpu(),
            product: Some(product),
            why: asked,
        }),
        DeviceSelector::Hip(ordinal) => {
            let (api, count) = usable(library)?;
            Ok(Choice::Hip {
                api,
                ordinal,
                count,
                why: asked,
            })
        }
        DeviceSelector::Auto => Ok(match usable(library) {
            Ok((api, count)) => {
                let why = format!("the first of HIP's devices, of which there are {count}");
                Choice::Hip {
                    api,
                    ordinal: 0,
                    count,
                    why,
                }
            }
            Err(reason) => {
                // The system's message for each name of the library matters only to users who request HIP.
                let why = match reason {
                    Unusable::Load(LoadError::NotFound { .. }) => {
                        "as no HIP library was found".to_owned()
                    }
                    reason => format!("as HIP cannot be used: {reason}"),
                };
                Choice::Emulator {
                    gpu: DEFAULT_GPU,
                    product: None,
                    why,
                }
            }
        }),
    }
}

/// A HIP that has devices, and their number.
fn usable(library: impl FnOnce() -> Result<Api, LoadError>) -> Result<(Api, u32), Unusable> {
    let api = library()?;
    api.init()?;
    match api.device_count()? {
        0 => Err(Unusable::NoDevice),
        count => Ok((api, count)),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_int, c_uint};

    use ferrowave_hip_abi::{Functions, hipError_t};

    use super::*;
    use crate::hip::fake;

    unsafe extern "C" fn starts(_: c_uint) -> hipError_t {
        hipError_t::hipSuccess
    }

    unsafe extern "C" fn does_not_start(_: c_uint) -> hipError_t {
        hipError_t::hipErrorInvalidDevice
    }

    unsafe extern "C" fn counts<const N: c_int>(count: *mut c_int) -> hipError_t {
        // SAFETY: the caller passes a variable.
        unsafe { count.write(N) }
        hipError_t::hipSuccess
    }

    unsafe extern "C" fn does_not_count(_: *mut c_int) -> hipError_t {
        hipError_t::hipErrorNoDevice
    }

    fn choice(selector: DeviceSelector, functions: Functions) -> Result<String, String> {
        match choose(selector, || Ok(fake::api(functions))) {
            Ok(Choice::Hip {
                ordinal,
                count,
                why,
                ..
            }) => Ok(format!("hip:{ordinal} of {count}, {why}")),
            Ok(Choice::Emulator { gpu, why, .. }) => Ok(format!("emulator:{gpu}, {why}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Without a GPU, the real library returns errors 101 and 100, and still reports its version.
    #[test]
    fn auto_needs_a_hip_that_starts_and_counts_devices() {
        let good = Functions {
            hipInit: starts,
            hipGetDeviceCount: counts::<2>,
            ..fake::FUNCTIONS
        };
        let auto = |functions| choice(DeviceSelector::Auto, functions).unwrap();
        assert_eq!(
            auto(good),
            "hip:0 of 2, the first of HIP's devices, of which there are 2"
        );
        assert_eq!(
            auto(Functions {
                hipInit: does_not_start,
                ..good
            }),
            "emulator:gfx942, as HIP cannot be used: hipInit failed with hipErrorInvalidDevice (101): no device \
             has that number"
        );
        assert_eq!(
            auto(Functions {
                hipGetDeviceCount: does_not_count,
                ..good
            }),
            "emulator:gfx942, as HIP cannot be used: hipGetDeviceCount failed with hipErrorNoDevice (100): no \
             device was found"
        );
        assert_eq!(
            auto(Functions {
                hipGetDeviceCount: counts::<0>,
                ..good
            }),
            "emulator:gfx942, as HIP cannot be used: HIP found no device"
        );
    }

    #[test]
    fn a_missing_library_is_said() {
        let missing = || {
            Err(LoadError::NotFound {
                tried: vec!["libamdhip64.so.7: not there".to_owned()],
            })
        };
        let Ok(Choice::Emulator { why, .. }) = choose(DeviceSelector::Auto, missing) else {
            panic!("auto takes the emulator");
        };
        assert_eq!(why, "as no HIP library was found");
        let error = choose(DeviceSelector::Hip(0), missing).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no HIP library was found (libamdhip64.so.7: not there); install ROCm 6.0 or later, or name the library in \
             FERROWAVE_HIP_LIBRARY"
        );
    }

    #[test]
    fn what_is_asked_for_is_never_replaced() {
        let none = Functions {
            hipInit: starts,
            hipGetDeviceCount: counts::<0>,
            ..fake::FUNCTIONS
        };
        assert_eq!(
            choice(DeviceSelector::Hip(1), none),
            Err("HIP found no device".to_owned())
        );
        let two = Functions {
            hipGetDeviceCount: counts::<2>,
            ..none
        };
        assert_eq!(
            choice(DeviceSelector::Hip(1), two),
            Ok("hip:1 of 2, as asked for".to_owned())
        );
        let unasked = || -> Result<Api, LoadError> { panic!("the library is not looked for") };
        let chosen = choose(DeviceSelector::Emulator(Gpu::Gfx908), unasked);
        assert!(matches!(
            chosen,
            Ok(Choice::Emulator {
                gpu: Gpu::Gfx908,
                ..
            })
        ));
    }
}
