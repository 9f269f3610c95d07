//! A device that was chosen.

use std::{ffi::c_int, fmt, sync::Arc};

use ferrowave_gpu::{Gpu, Product};
use thiserror::Error;

use super::DeviceProperties;
use crate::hip::{
    Api, DeviceSelector, HipError, LoadError, SelectorError,
    load::{Choice, Source, Unusable, choose},
};

/// A device. Clones are the same one.
#[derive(Clone)]
pub struct Device(Arc<Opened>);

struct Opened {
    api: Api,
    ordinal: c_int,
    properties: DeviceProperties,
    choice: String,
    /// The emulated device that was made for this.
    _emulated: Option<Emulated>,
}

/// Why there is no device to use.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The environment variable asks for nothing that there is.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// HIP was asked for and cannot be used.
    #[error("`{selector}` was asked for, but HIP cannot be used: {reason}")]
    Unusable {
        /// What was asked for.
        selector: DeviceSelector,
        /// Why it can't be had.
        reason: Unusable,
    },
    /// HIP has no device of that number.
    #[error("`hip:{ordinal}` was asked for, but HIP has only {}", devices(*.count))]
    NoSuchDevice {
        /// The number.
        ordinal: u32,
        /// Devices that there are.
        count: u32,
    },
    /// The emulator would have to be used, and is not there.
    #[error("{reason}, and HIP is not used {why}")]
    NoEmulator {
        /// That there is none.
        reason: LoadError,
        /// Why it would have been chosen.
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
    /// Opens the device that is asked for.
    ///
    /// # Errors
    /// If it cannot be had; another is never taken instead.
    pub fn open(selector: &DeviceSelector) -> Result<Self, OpenError> {
        let choice = choose(*selector, Api::library).map_err(|reason| OpenError::Unusable {
            selector: *selector,
            reason,
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
            Choice::Emulator { gpu, product, why } => {
                let api = Api::emulator().map_err(|reason| OpenError::NoEmulator {
                    reason,
                    why: why.clone(),
                })?;
                #[cfg(feature = "emulator")]
                {
                    let config = ferrowave_hip::DeviceConfig {
                        product,
                        ..ferrowave_hip::DeviceConfig::new(gpu)
                    };
                    Ok(Self::emulated(api, config, &why)?)
                }
                #[cfg(not(feature = "emulator"))]
                {
                    let name = emulated_name(gpu, product);
                    Ok(Self::new(api, 0, &name, &why, None)?)
                }
            }
        }
    }

    /// Opens the device that [`DEVICE_VARIABLE`](crate::hip::DEVICE_VARIABLE) asks for.
    ///
    /// # Errors
    /// As [`Self::open`], and if the variable holds no selector.
    pub fn from_environment() -> Result<Self, OpenError> {
        Self::open(&DeviceSelector::from_environment()?)
    }

    /// A device of the emulator in this process, with memory, threads and seed of the caller's choice.
    ///
    /// # Errors
    /// HIP's.
    #[cfg(feature = "emulator")]
    pub fn emulator(config: ferrowave_hip::DeviceConfig) -> Result<Self, OpenError> {
        let why = String::new();
        let api = Api::emulator().map_err(|reason| OpenError::NoEmulator { reason, why })?;
        Ok(Self::emulated(api, config, "as asked for")?)
    }

    #[cfg(feature = "emulator")]
    fn emulated(
        api: Api,
        config: ferrowave_hip::DeviceConfig,
        why: &str,
    ) -> Result<Self, HipError> {
        let emulated = Emulated(ferrowave_hip::add_device(config));
        let name = emulated_name(config.gpu, config.product);
        Self::new(api, emulated.0, &name, why, Some(emulated))
    }

    fn new(
        api: Api,
        ordinal: c_int,
        name: &str,
        why: &str,
        emulated: Option<Emulated>,
    ) -> Result<Self, HipError> {
        let properties = DeviceProperties::from(&*api.device_properties(ordinal)?);
        let through = match api.source() {
            // Its name says so.
            Source::Emulator => String::new(),
            source => format!(" through {source}"),
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

    /// Which device it is, through what, and why it was chosen, in one line.
    pub fn choice(&self) -> &str {
        &self.0.choice
    }

    /// What it is and has.
    pub fn properties(&self) -> &DeviceProperties {
        &self.0.properties
    }

    /// HIP's functions for it.
    pub fn api(&self) -> &Api {
        &self.0.api
    }

    /// HIP's number for it.
    pub fn ordinal(&self) -> c_int {
        self.0.ordinal
    }

    /// Whether it is emulated, so that times are the emulator's own; see [`Api::is_emulated`].
    pub fn is_emulated(&self) -> bool {
        self.0.api.is_emulated()
    }
}

/// By identity: two emulated devices that are alike are two.
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

/// An emulated device that was added for one [`Device`] and goes with it.
#[cfg_attr(
    not(feature = "emulator"),
    expect(dead_code, reason = "only the emulator makes one")
)]
struct Emulated(c_int);

#[cfg(feature = "emulator")]
impl Drop for Emulated {
    fn drop(&mut self) {
        ferrowave_hip::remove_device(self.0);
    }
}
