//! Chooses a device, and says why.

use std::ffi::c_int;

use ferrowave_gpu::{Gpu, Product};
use ferrowave_shared::gpus_with_kernels;
use thiserror::Error;

use super::{Api, DeviceSelector, LoadError};
use crate::hip::{DeviceProperties, HipError};

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
    /// The program has kernels for none of HIP's devices. The text says what they are.
    #[error("{0}")]
    NoKernels(String),
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
        /// Why HIP is not used, if the emulator was not asked for.
        instead: Option<Unusable>,
    },
}

/// Chooses a device. `auto` takes the first of HIP's devices that is one of `built`, the GPUs that the program has kernels
/// for; otherwise the emulator, as gfx942 if that is one of them. (Asking the library for its version proves nothing: it
/// answers even without a GPU.)
///
/// # Errors
/// If HIP is requested and cannot be used.
pub fn choose(
    selector: DeviceSelector,
    built: &[Gpu],
    library: impl FnOnce() -> Result<Api, LoadError>,
) -> Result<Choice, Unusable> {
    let asked = "as asked for".to_owned();
    match selector {
        DeviceSelector::Emulator(gpu) => Ok(Choice::Emulator {
            gpu,
            product: None,
            why: asked,
            instead: None,
        }),
        DeviceSelector::Product(product) => Ok(Choice::Emulator {
            gpu: product.gpu(),
            product: Some(product),
            why: asked,
            instead: None,
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
        DeviceSelector::Auto => Ok(match usable(library).and_then(|hip| first(hip, built)) {
            Ok(choice) => choice,
            Err(reason) => {
                // The system's message for each name of the library matters only to users who request HIP.
                let why = match &reason {
                    Unusable::Load(LoadError::NotFound { .. }) => {
                        "as no HIP library was found".to_owned()
                    }
                    reason @ Unusable::NoKernels(_) => format!("as {reason}"),
                    reason => format!("as HIP cannot be used: {reason}"),
                };
                Choice::Emulator {
                    gpu: emulated(built),
                    product: None,
                    why,
                    instead: Some(reason),
                }
            }
        }),
    }
}

/// The GPU to emulate if none is named.
pub fn emulated(built: &[Gpu]) -> Gpu {
    match built {
        [first, ..] if !built.contains(&DEFAULT_GPU) => *first,
        _ => DEFAULT_GPU,
    }
}

/// The first device that there are kernels for.
fn first((api, count): (Api, u32), built: &[Gpu]) -> Result<Choice, Unusable> {
    let mut others = Vec::new();
    let mut buildable = built.to_vec();
    for ordinal in 0..count {
        let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        let properties = match api.device_properties(number) {
            Ok(properties) => DeviceProperties::from(&*properties),
            Err(error) => {
                others.push(format!("hip:{ordinal}, which does not answer ({error})"));
                continue;
            }
        };
        let gpu = properties.gpu();
        if gpu.is_some_and(|gpu| built.contains(&gpu)) {
            let kernels = match ordinal {
                0 => "",
                _ => " that there are kernels for",
            };
            let why = format!("the first of HIP's devices{kernels}, of which there are {count}");
            return Ok(Choice::Hip {
                api,
                ordinal,
                count,
                why,
            });
        }
        let gpu = gpu.filter(|gpu| gpus_with_kernels().contains(gpu.name()));
        buildable.extend(gpu);
        let lacks = match gpu {
            Some(_) => "this program is built without kernels for",
            None => "Ferrowave has no kernels for",
        };
        let (target, name) = (properties.gpu_name(), &properties.name);
        others.push(format!("{target} ({name}), which {lacks}"));
    }
    // Devices of one kind are named once.
    others.dedup();
    let verb = if count == 1 {
        "device is"
    } else {
        "devices are"
    };
    let mut text = format!("HIP's {verb} {}", others.join(", and "));
    if buildable.len() > built.len() {
        buildable.sort_unstable();
        buildable.dedup();
        let names: Vec<_> = buildable.iter().map(|gpu| gpu.name()).collect();
        text += &format!("; build with FERROWAVE_GPUS={} set", names.join(","));
    }
    Err(Unusable::NoKernels(text))
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
    use std::ffi::{c_char, c_uint};

    use ferrowave_gpu::Family;
    use ferrowave_hip_abi::{Functions, hipDeviceProp_tR0600, hipError_t};

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

    /// Device 0 is a Radeon, 1 an MI300X, and 2 an MI210; no other answers.
    unsafe extern "C" fn properties(to: *mut hipDeviceProp_tR0600, device: c_int) -> hipError_t {
        let (target, name) = match device {
            0 => ("gfx1030", "AMD Radeon RX 6900 XT"),
            1 => ("gfx942:sramecc+:xnack-", "AMD Instinct MI300X"),
            2 => ("gfx90a:sramecc+:xnack-", "AMD Instinct MI210"),
            _ => return hipError_t::hipErrorInvalidDevice,
        };
        let mut properties = hipDeviceProp_tR0600::ZERO;
        for (field, text) in [
            (&mut properties.gcnArchName, target),
            (&mut properties.name, name),
        ] {
            for (to, from) in field.iter_mut().zip(text.bytes()) {
                *to = from as c_char;
            }
        }
        // SAFETY: the caller passes a struct.
        unsafe { to.write(properties) }
        hipError_t::hipSuccess
    }

    unsafe extern "C" fn mi300x(to: *mut hipDeviceProp_tR0600, _: c_int) -> hipError_t {
        // SAFETY: as the caller promises.
        unsafe { properties(to, 1) }
    }

    /// The Radeon, and then the MI210.
    unsafe extern "C" fn others(to: *mut hipDeviceProp_tR0600, device: c_int) -> hipError_t {
        // SAFETY: as the caller promises.
        unsafe { properties(to, device * 2) }
    }

    fn choice(selector: DeviceSelector, functions: Functions) -> Result<String, String> {
        choice_of(selector, &Gpu::ALL, functions)
    }

    fn choice_of(
        selector: DeviceSelector,
        built: &[Gpu],
        functions: Functions,
    ) -> Result<String, String> {
        match choose(selector, built, || Ok(fake::api(functions))) {
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
            hipGetDevicePropertiesR0600: mi300x,
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
            "emulator:gfx942, as HIP cannot be used: hipInit failed with hipErrorInvalidDevice (101): invalid device \
             ordinal"
        );
        assert_eq!(
            auto(Functions {
                hipGetDeviceCount: does_not_count,
                ..good
            }),
            "emulator:gfx942, as HIP cannot be used: hipGetDeviceCount failed with hipErrorNoDevice (100): \
             no ROCm-capable device is detected"
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
    fn auto_takes_the_first_device_with_kernels() {
        let three = Functions {
            hipInit: starts,
            hipGetDeviceCount: counts::<3>,
            hipGetDevicePropertiesR0600: properties,
            ..fake::FUNCTIONS
        };
        let auto =
            |built: &[Gpu], functions| choice_of(DeviceSelector::Auto, built, functions).unwrap();
        assert_eq!(
            auto(Family::Cdna.gpus(), three),
            "hip:1 of 3, the first of HIP's devices that there are kernels for, of which there are 3"
        );
        assert!(auto(&[Gpu::Gfx90a], three).starts_with("hip:2 of 3, "));
        // A device that does not answer is passed over.
        let lost = Functions {
            hipGetDeviceCount: counts::<4>,
            ..three
        };
        assert!(auto(&[Gpu::Gfx90a], lost).starts_with("hip:2 of 4, "));
        assert!(auto(&[Gpu::Gfx950], lost).contains(
            ", and hip:3, which does not answer (hipGetDevicePropertiesR0600 failed with hipErrorInvalidDevice (101): \
             invalid device ordinal)"
        ));
    }

    #[test]
    fn without_kernels_auto_says_what_is_missing() {
        let auto =
            |built: &[Gpu], functions| choice_of(DeviceSelector::Auto, built, functions).unwrap();
        let radeon = Functions {
            hipInit: starts,
            hipGetDeviceCount: counts::<1>,
            hipGetDevicePropertiesR0600: properties,
            ..fake::FUNCTIONS
        };
        assert_eq!(
            auto(Family::Cdna.gpus(), radeon),
            "emulator:gfx942, as HIP's device is gfx1030 (AMD Radeon RX 6900 XT), which Ferrowave has no kernels for"
        );
        let both = Functions {
            hipGetDeviceCount: counts::<2>,
            hipGetDevicePropertiesR0600: others,
            ..radeon
        };
        assert_eq!(
            auto(&[Gpu::Gfx942], both),
            "emulator:gfx942, as HIP's devices are gfx1030 (AMD Radeon RX 6900 XT), which Ferrowave has no kernels for, \
             and gfx90a (AMD Instinct MI210), which this program is built without kernels for; build with \
             FERROWAVE_GPUS=gfx90a,gfx942 set"
        );
        // What is emulated has kernels, too.
        assert!(auto(&[Gpu::Gfx908], both).starts_with("emulator:gfx908, "));
        // Eight devices of one kind are named once.
        let eight = Functions {
            hipGetDeviceCount: counts::<8>,
            hipGetDevicePropertiesR0600: mi300x,
            ..radeon
        };
        assert_eq!(
            auto(&[Gpu::Gfx90a], eight),
            "emulator:gfx90a, as HIP's devices are gfx942 (AMD Instinct MI300X), which this program is built without \
             kernels for; build with FERROWAVE_GPUS=gfx90a,gfx942 set"
        );
    }

    #[test]
    fn a_missing_library_is_said() {
        let missing = || {
            Err(LoadError::NotFound {
                tried: vec!["libamdhip64.so.7: not there".to_owned()],
            })
        };
        let Ok(Choice::Emulator { why, .. }) = choose(DeviceSelector::Auto, &Gpu::ALL, missing)
        else {
            panic!("auto takes the emulator");
        };
        assert_eq!(why, "as no HIP library was found");
        let error = choose(DeviceSelector::Hip(0), &Gpu::ALL, missing).unwrap_err();
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
        let chosen = choose(DeviceSelector::Emulator(Gpu::Gfx908), &Gpu::ALL, unasked);
        assert!(matches!(
            chosen,
            Ok(Choice::Emulator {
                gpu: Gpu::Gfx908,
                ..
            })
        ));
    }
}
