//! `ferrowave parameters`

use std::process::ExitCode;

use clap::Args;
use ferrowave_gpu::Product;

use super::{Failure, ParametersOption, print};

/// Print the timing model's parameters of a machine as a file, with what each one means and where its value comes from.
///
/// `profile --timing`, `report` and FERROWAVE_TIMING_PARAMETERS take the file, with other values if you know better ones.
/// With --parameters, the file's parameters are checked and printed, with the machine's own values beside those that
/// differ.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// MI100, MI210, MI250X, MI300X, MI355X, RX 7900 XTX, Radeon 8060S or RX 9070 XT, or its GPU's name [default: that of the
    /// file, or else MI300X].
    machine: Option<Product>,
    #[command(flatten)]
    parameters: ParametersOption,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let parameters = match options.machine {
        Some(machine) => options.parameters.of(machine)?,
        None => match options.parameters.read()? {
            Some(file) => file,
            None => options.parameters.of(Product::Mi300x)?,
        },
    };
    print(&parameters.to_toml())?;
    Ok(ExitCode::SUCCESS)
}
