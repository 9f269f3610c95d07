//! The option `--device`.

use clap::Args;
use ferrowave_code_object::Gpu;
use ferrowave_host::hip::{Device, DeviceSelector, OpenError};

use crate::Failure;

/// Which device to run on.
#[derive(Debug, Args)]
pub struct DeviceOption {
    /// `auto`, `hip:0` or `emulator:gfx90a`.
    ///
    /// `auto` takes the first GPU that HIP counts, and the emulator as gfx942 where there is none.
    /// FERROWAVE_DEVICE does the same.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceSelector>,
}

impl DeviceOption {
    /// Opens the device and says on standard error which it is.
    ///
    /// # Errors
    /// If it cannot be opened, or FERROWAVE_DEVICE names none.
    pub fn open(&self) -> Result<Device, Failure> {
        open(&self.selector()?)
    }

    /// As [`Self::open`], where only the emulator can do `what`.
    ///
    /// # Errors
    /// As [`Self::open`], and if a GPU is asked for.
    pub fn open_emulator(&self, what: &str) -> Result<Device, Failure> {
        let selector = match self.selector()? {
            DeviceSelector::Auto => DeviceSelector::Emulator(Gpu::Gfx942),
            selector @ DeviceSelector::Emulator(_) => selector,
            selector @ DeviceSelector::Hip(_) => {
                return Err(Failure::usage(format!(
                    "`{selector}`: only the emulator {what}; choose it with --device emulator:gfx942"
                )));
            }
        };
        open(&selector)
    }

    /// What is asked for, by the option or else by the environment.
    ///
    /// # Errors
    /// If FERROWAVE_DEVICE names no device.
    pub fn selector(&self) -> Result<DeviceSelector, Failure> {
        match self.device {
            Some(selector) => Ok(selector),
            None => DeviceSelector::from_environment().map_err(Failure::usage),
        }
    }
}

fn open(selector: &DeviceSelector) -> Result<Device, Failure> {
    let device = Device::open(selector).map_err(|error| match error {
        // Only a device that was asked for by name can be missing: `auto` falls back to the emulator.
        OpenError::Unusable { .. } | OpenError::NoSuchDevice { .. } => Failure::usage(error),
        _ => Failure::failed(error),
    })?;
    eprintln!("device {}", device.choice());
    Ok(device)
}
