//! A chosen device.

use std::{
    ffi::{CString, c_int},
    fmt,
    sync::Arc,
};

use ferrowave_gpu::{Gpu, Product};
use thiserror::Error;

use super::DeviceProperties;
use crate::hip::{
    Api, DeviceSelector, HipError, LoadError, SelectorError,
    load::{Choice, Unusable, choose},
    system::{System, Trouble},
};

/// A device. Clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<Opened>);

struct Opened {
    api: Api,
    ordinal: c_int,
    properties: DeviceProperties,
    choice: String,
    /// The emulated device that was added for this one.
    _emulated: Option<Emulated>,
}

/// Why a device can't be opened.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The environment variable is not a selector.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// HIP is requested but cannot be used.
    #[error(
        "`{selector}` was asked for, but HIP cannot be used: {reason}{}",
        .access.iter().map(|trouble| format!("; {trouble}")).collect::<String>()
    )]
    Unusable {
        /// The request.
        selector: DeviceSelector,
        /// Why HIP can't be used.
        reason: Unusable,
        /// Why this process may not use the computer's GPUs.
        access: Vec<Trouble>,
    },
    /// HIP has no device with that number.
    #[error("`hip:{ordinal}` was asked for, but HIP has only {}", devices(*.count))]
    NoSuchDevice {
        /// The number.
        ordinal: u32,
        /// The number of HIP's devices.
        count: u32,
    },
    /// The emulator is chosen, but this program was built without it.
    #[error("{reason}, and HIP is not used {why}")]
    NoEmulator {
        /// The missing emulator.
        reason: LoadError,
        /// Why it was chosen.
        why: String,
    },
    /// The device does not answer.
    #[error(transparent)]
    Hip(#[from] HipError),
}

fn devices(count: u32) -> String {
    match count {
        1 => "hip:0".to_owned(),
        _ => format!("hip:0 to hip:{}", count.saturating_sub(1)),
    }
}

fn emulated_name(gpu: Gpu, product: Option<Product>) -> String {
    let selector = product.map_or(DeviceSelector::Emulator(gpu), DeviceSelector::Product);
    selector.to_string()
}

impl Device {
    /// Opens the requested device; `auto` takes the first whose GPU this project knows.
    ///
    /// # Errors
    /// As [`Self::open_for`].
    pub fn open(selector: &DeviceSelector) -> Result<Self, OpenError> {
        Self::open_for(selector, &Gpu::ALL)
    }

    /// Opens the requested device for a program that has kernels for the GPUs `built`. Only `auto` looks at them: it takes
    /// the first device that has one of them, and otherwise the emulator.
    ///
    /// # Errors
    /// If it cannot be used. Another device is never used instead.
    pub fn open_for(selector: &DeviceSelector, built: &[Gpu]) -> Result<Self, OpenError> {
        let choice =
            choose(*selector, built, Api::library).map_err(|reason| OpenError::Unusable {
                selector: *selector,
                reason,
                access: System::here().access(),
            })?;
        match choice {
            Choice::Hip {
                api,
                ordinal,
                count,
                why,
            } => {
                let number = c_int::try_from(ordinal).ok().filter(|_| ordinal < count);
                let number = number.ok_or(OpenError::NoSuchDevice { ordinal, count })?;
                let name = DeviceSelector::Hip(ordinal);
                Ok(Self::new(api, number, &name.to_string(), &why, None)?)
            }
            Choice::Emulator {
                gpu,
                product,
                why,
                instead,
            } => {
                if let Some(reason) = instead {
                    System::here().warn(&reason);
                }
                let none = |reason| OpenError::NoEmulator {
                    reason,
                    why: why.clone(),
                };
                let api = Api::emulator().map_err(none)?;
                let name = emulated_name(gpu, product);
                let added = api.add_device(&CString::new(&*name).unwrap_or_default());
                let ordinal = added.ok_or_else(|| none(LoadError::NoEmulator))??;
                Ok(Self::emulated(api, ordinal, &name, &why)?)
            }
        }
    }

    /// Opens the device that [`DEVICE_VARIABLE`](crate::hip::DEVICE_VARIABLE) requests.
    ///
    /// # Errors
    /// As [`Self::open`], and if the variable is not a selector.
    pub fn from_environment() -> Result<Self, OpenError> {
        Self::open(&DeviceSelector::from_environment()?)
    }

    /// A device of the emulator in this process, with the caller's configuration, such as memory, threads and seed.
    ///
    /// # Errors
    /// HIP's.
    #[cfg(feature = "emulator")]
    pub fn emulator(config: ferrowave_hip::DeviceConfig) -> Result<Self, OpenError> {
        let why = String::new();
        let api = Api::emulator().map_err(|reason| OpenError::NoEmulator { reason, why })?;
        let ordinal = ferrowave_hip::add_device(config);
        let name = emulated_name(config.gpu, config.product);
        Ok(Self::emulated(api, ordinal, &name, "as asked for")?)
    }

    /// A device that was added to the emulator.
    pub(super) fn emulated(
        api: Api,
        ordinal: c_int,
        name: &str,
        why: &str,
    ) -> Result<Self, HipError> {
        let emulated = Emulated {
            api: api.clone(),
            ordinal,
        };
        Self::new(api, ordinal, name, why, Some(emulated))
    }

    fn new(
        api: Api,
        ordinal: c_int,
        name: &str,
        why: &str,
        emulated: Option<Emulated>,
    ) -> Result<Self, HipError> {
        let properties = DeviceProperties::from(&*api.device_properties(ordinal)?);
        let through = match &emulated {
            // The device's name says that it is emulated.
            Some(_) => String::new(),
            None => format!(" through {}", api.source()),
        };
        let choice = format!("{name}: {}{through}, {why}", properties.name);
        Ok(Device(Arc::new(Opened {
            api,
            ordinal,
            properties,
            choice,
            _emulated: emulated,
        })))
    }

    /// The device, the library that it is used through, and why it was chosen, in one line.
    pub fn choice(&self) -> &str {
        &self.0.choice
    }

    /// The device's properties.
    pub fn properties(&self) -> &DeviceProperties {
        &self.0.properties
    }

    /// HIP's functions for the device.
    pub fn api(&self) -> &Api {
        &self.0.api
    }

    /// HIP's number of the device.
    pub fn ordinal(&self) -> c_int {
        self.0.ordinal
    }

    /// Whether the device is emulated, so that times are those of the emulation; see [`Api::is_emulated`].
    pub fn is_emulated(&self) -> bool {
        self.0.api.is_emulated()
    }
}

/// By identity: two emulated devices with the same configuration are different.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.ordinal() == other.ordinal() && self.api().source() == other.api().source()
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.0.choice).finish()
    }
}

/// An emulated device that was added for one [`Device`] and is removed with it.
struct Emulated {
    api: Api,
    ordinal: c_int,
}

impl Drop for Emulated {
    fn drop(&mut self) {
        // Fails only if the program has removed the device itself.
        let _ = self.api.remove_device(self.ordinal);
    }
}
