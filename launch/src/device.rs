//! The options `--device`, `--timeout` and `--limit`.

use std::time::Duration;

use clap::Args;
use ferrowave_emulator::dispatch::{Limits, parse_instructions, parse_time};
use ferrowave_gpu::Gpu;
use ferrowave_hip::set_limits;
use ferrowave_host::hip::{Device, DeviceSelector, OpenError, Source, load::emulated};

use crate::{Failure, environment, say};

/// The device to run on, and the limits of its launches.
#[derive(Debug, Args)]
pub struct DeviceOption {
    /// `auto`, `hip:0`, or a GPU to emulate: gfx90a, MI250X.
    ///
    /// `auto` is HIP's first GPU that there are kernels for, or else the emulator as gfx942. `emulator:gfx90a` is the same as `gfx90a`.
    /// The default is FERROWAVE_DEVICE, or else `auto`.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceSelector>,
    /// Time limit of each launch on the emulator, in seconds or with a unit: ms, s, m or h [default:
    /// FERROWAVE_TIMEOUT].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Limit of wave-instructions of each launch on the emulator [default: FERROWAVE_INSTRUCTION_LIMIT].
    #[arg(long, value_name = "INSTRUCTIONS", value_parser = parse_instructions)]
    pub limit: Option<u64>,
    /// Print more to standard error: the device's properties, why it was chosen, and the kernel if it was chosen too.
    #[arg(long)]
    pub verbose: bool,
}

impl DeviceOption {
    /// Opens the device and prints its name to standard error. `auto` takes one of the GPUs `built`, which there are
    /// kernels for.
    ///
    /// # Errors
    /// If the device cannot be opened, or FERROWAVE_DEVICE does not name a device.
    pub fn open(&self, built: &[Gpu]) -> Result<Device, Failure> {
        self.open_selected(&self.selector()?, built)
    }

    /// Opens an emulated device, where only the emulator can do `what`.
    ///
    /// # Errors
    /// As [`Self::open`], and if a GPU is asked for.
    pub fn open_emulator(&self, built: &[Gpu], what: &str) -> Result<Device, Failure> {
        let selector = match self.selector()? {
            DeviceSelector::Auto => DeviceSelector::Emulator(emulated(built)),
            selector @ (DeviceSelector::Emulator(_) | DeviceSelector::Product(_)) => selector,
            selector @ DeviceSelector::Hip(_) => {
                return Err(Failure::usage(format!(
                    "`{selector}`: only the emulator {what}; choose it with --device gfx942"
                )));
            }
        };
        self.open_selected(&selector, built)
    }

    /// The device that the option or else the environment names.
    ///
    /// # Errors
    /// If FERROWAVE_DEVICE does not name a device.
    pub fn selector(&self) -> Result<DeviceSelector, Failure> {
        match self.device {
            Some(selector) => Ok(selector),
            None => DeviceSelector::from_environment().map_err(Failure::usage),
        }
    }

    /// Sets the limits of launches from the options or else from the environment. Launches on a GPU cannot be limited.
    ///
    /// Every command that launches kernels calls it, so it is also where an invalid variable of the environment is an
    /// invalid request.
    ///
    /// # Errors
    /// If a variable that launches read is invalid, or an option is given for a device that the built-in emulator does
    /// not run.
    pub fn limit_launches(&self, device: &Device) -> Result<(), Failure> {
        environment::check()?;
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

    fn open_selected(&self, selector: &DeviceSelector, built: &[Gpu]) -> Result<Device, Failure> {
        let device = Device::open_for(selector, built).map_err(|error| match error {
            // Only a device that was asked for by name can be missing: `auto` falls back to the emulator.
            OpenError::Unusable { .. } | OpenError::NoSuchDevice { .. } => Failure::usage(error),
            _ => Failure::failed(error),
        })?;
        self.limit_launches(&device)?;
        say(format_args!("device {}\n", device.choice()));
        if self.verbose {
            say(details(&device, selector));
        }
        Ok(device)
    }
}

/// The device's properties, and why `auto` found no GPU.
fn details(device: &Device, selector: &DeviceSelector) -> String {
    let (properties, xcds) = (device.properties(), device.xcds());
    let mut text = format!(
        "  {}, {} compute units at up to {} MHz, XCDs: {} (by {}), {} work-items a wave\n  {} GiB of memory, {} KiB of LDS a workgroup, {} KiB of \
         L2\n",
        properties.target,
        properties.compute_units,
        properties.clock_khz / 1000,
        xcds.count,
        xcds.source,
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
