//! `ferrowave devices`

use std::process::ExitCode;

use clap::Args;
use ferrowave::{
    embedded,
    hip::{Device, DeviceSelector},
};
use ferrowave_gpu::Product;
use serde::Serialize;

use super::{Columns, Failure, print, print_json};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    device: String,
    name: String,
    gpu: String,
    compute_units: u32,
    memory_bytes: u64,
    lds_bytes: u32,
    emulated: bool,
    kernels_built: bool,
}

#[derive(Serialize)]
struct Devices {
    /// The device that `auto` takes, and why.
    auto: String,
    devices: Vec<Row>,
    /// Why HIP has no device, if it has none.
    hip_unusable: Option<String>,
}

fn row(selector: DeviceSelector, device: &Device) -> Row {
    let properties = device.properties();
    Row {
        device: selector.to_string(),
        name: properties.name.clone(),
        gpu: properties.gpu_name().to_owned(),
        compute_units: properties.compute_units,
        memory_bytes: properties.memory_bytes,
        lds_bytes: properties.lds_bytes,
        emulated: device.is_emulated(),
        kernels_built: embedded::code_object(properties.gpu_name()).is_some(),
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let mut devices = Vec::new();
    let mut hip_unusable = None;
    for ordinal in 0.. {
        let selector = DeviceSelector::Hip(ordinal);
        match Device::open(&selector) {
            Ok(device) => devices.push(row(selector, &device)),
            Err(error) => {
                // The first ordinal past the last device is not an error.
                hip_unusable = (ordinal == 0).then(|| error.to_string());
                break;
            }
        }
    }
    for product in Product::ALL {
        let selector = DeviceSelector::of_product(product);
        let device = Device::open(&selector).map_err(Failure::failed)?;
        devices.push(row(selector, &device));
    }
    let auto = embedded::open(&DeviceSelector::Auto).map_err(Failure::failed)?;
    let result = Devices {
        auto: auto.choice().to_owned(),
        devices,
        hip_unusable,
    };
    if options.json {
        print_json(&result)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new(&[
        "device",
        "name",
        "CUs:",
        "memory [GiB]:",
        "LDS [KiB]:",
        "kernels",
    ]);
    for row in &result.devices {
        table.row([
            row.device.clone(),
            row.name.clone(),
            row.compute_units.to_string(),
            (row.memory_bytes >> 30).to_string(),
            (row.lds_bytes >> 10).to_string(),
            if row.kernels_built {
                "built"
            } else {
                "not built"
            }
            .to_owned(),
        ]);
    }
    print(&format_args!("{table}auto is {}\n", result.auto))?;
    Ok(ExitCode::SUCCESS)
}
