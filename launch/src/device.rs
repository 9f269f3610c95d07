//! Which device to run on, and how long: `--device`, `--timeout`, `--limit`.

use std::time::Duration;

use clap::Args;
use ferrowave_emulator::dispatch::{Limits, parse_instructions, parse_time};
use ferrowave_gpu::Gpu;
use ferrowave_hip::set_limits;
use ferrowave_host::hip::{Device, DeviceSelector, OpenError, Source};

use crate::Failure;

/// Which device to run on, and what launches may take of it.
#[derive(Debug, Args)]
pub struct DeviceOption {
    /// `auto`, `hip:0`, or a GPU to emulate: gfx90a, MI250X.
    ///
    /// `auto` takes the first GPU that HIP counts, and the emulator as gfx942 where there is none; `emulator:gfx90a` is
    /// the same as `gfx90a`. FERROWAVE_DEVICE does the same.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceSelector>,
    /// End each launch on the emulator that takes longer: seconds, or a number and ms, s, m or h. FERROWAVE_TIMEOUT does
    /// the same.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// End each launch on the emulator that runs more wave-instructions. FERROWAVE_INSTRUCTION_LIMIT does the same.
    #[arg(long, value_name = "INSTRUCTIONS", value_parser = parse_instructions)]
    pub limit: Option<u64>,
    /// Say more on standard error: what the device has, why it was chosen, and which kernel if that is chosen, too.
    #[arg(long)]
    pub verbose: bool,
}

impl DeviceOption {
    /// Opens the device and says on standard error which it is.
    ///
    /// # Errors
    /// If it cannot be opened, or FERROWAVE_DEVICE names none.
    pub fn open(&self) -> Result<Device, Failure> {
        self.open_selected(&self.selector()?)
    }

    /// As [`Self::open`], where only the emulator can do `what`.
    ///
    /// # Errors
    /// As [`Self::open`], and if a GPU is asked for.
    pub fn open_emulator(&self, what: &str) -> Result<Device, Failure> {
        let selector = match self.selector()? {
            DeviceSelector::Auto => DeviceSelector::Emulator(Gpu::Gfx942),
            selector @ (DeviceSelector::Emulator(_) | DeviceSelector::Product(_)) => selector,
            selector @ DeviceSelector::Hip(_) => {
                return Err(Failure::usage(format!(
                    "`{selector}`: only the emulator {what}; choose it with --device gfx942"
                )));
            }
        };
        self.open_selected(&selector)
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

    /// Limits launches by the options, or else by the environment. What a GPU runs cannot be ended.
    ///
    /// # Errors
    /// If the environment's limits are none, or an option is given for a device that is not the built-in emulator's.
    pub fn limit_launches(&self, device: &Device) -> Result<(), Failure> {
        let environment = Limits::from_environment().map_err(Failure::usage)?;
        set_limits(Limits {
            instructions: self.limit.or(environment.instructions),
            time: self.timeout.or(environment.time),
        });
        let given = [
            ("--timeout", self.timeout.is_some()),
            ("--limit", self.limit.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) if *device.api().source() != Source::Emulator => {
                Err(Failure::usage(format!(
                    "{option}: only launches on the built-in emulator can be ended, and the device is {}",
                    device.choice()
                )))
            }
            _ => Ok(()),
        }
    }

    fn open_selected(&self, selector: &DeviceSelector) -> Result<Device, Failure> {
        let device = Device::open(selector).map_err(|error| match error {
            // Only a device that was asked for by name can be missing: `auto` falls back to the emulator.
            OpenError::Unusable { .. } | OpenError::NoSuchDevice { .. } => Failure::usage(error),
            _ => Failure::failed(error),
        })?;
        self.limit_launches(&device)?;
        eprintln!("device {}", device.choice());
        if self.verbose {
            eprint!("{}", details(&device, selector));
        }
        Ok(device)
    }
}

/// What a device has, and for one that was taken for want of another, why that is not there.
fn details(device: &Device, selector: &DeviceSelector) -> String {
    let properties = device.properties();
    let mut text = format!(
        "  {}, {} compute units at up to {} MHz, {} work-items a wave\n  {} GiB of memory, {} KiB of LDS a workgroup, {} KiB of \
         L2\n",
        properties.target,
        properties.compute_units,
        properties.clock_khz / 1000,
        properties.wave_size,
        properties.memory_bytes >> 30,
        properties.lds_bytes >> 10,
        properties.l2_bytes >> 10
    );
    if *selector == DeviceSelector::Auto
        && device.is_emulated()
        && let Err(error) = Device::open(&DeviceSelector::Hip(0))
    {
        text += &format!("  no GPU: {error}\n");
    }
    text
}
