//! `ferrowave calibrate`

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use ferrowave::hip::{Context, Device};
use ferrowave_gpu::{Gpu, Product};
use ferrowave_timing::Parameters;

use super::{Columns, DeviceOption, Failure, ParametersOption, print};
use crate::calibrate::{
    bench::{Bench, MOST_SPREAD, Sample},
    kernels,
    measurements::{ALL, Measurement},
};

/// Measure the timing model's parameters on a device with microbenchmarks, and write them as a file for --parameters.
///
/// On a GPU, each figure is the median of five runs; if the runs differ by more than a tenth, the GPU is shared or its
/// clock changes, and no figure is kept. On the emulator, the model is measured, which must give back its parameters. The
/// microbenchmarks are compiled when the command runs, which needs the kernels' toolchain.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Write the parameters to this file. Those that no microbenchmark measures keep their values.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParametersOption,
    #[command(flatten)]
    device: DeviceOption,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if let Some(path) = &options.out {
        writable(path)?;
    }
    let device = options.device.open(&Gpu::ALL)?;
    let parameters = machine(options, &device)?;
    let context = Context::new(&device).map_err(Failure::failed)?;
    let module = kernels::load(&context, parameters.hardware.gpu)?;
    let bench = Bench::new(context, module, parameters)?;
    alone("the clock", bench.clock)?;
    let mut measured = parameters;
    let mut table = Columns::new(&[
        "what",
        "measured:",
        "unit",
        "spread [%]:",
        "parameter",
        "model:",
    ]);
    for measurement in ALL {
        let Some(sample) = measurement.measure(&bench)? else {
            continue;
        };
        alone(measurement.what, sample)?;
        keep(measurement, sample, &mut measured)?;
        let before = parameters.get(measurement.parameter);
        table.row([
            measurement.what.to_owned(),
            digits(sample.value),
            measurement.unit.to_owned(),
            format!("{:.1}", 100.0 * sample.spread),
            measurement.parameter.to_owned(),
            before.map_or_else(String::new, digits),
        ]);
    }
    let clock = bench.clock_hz() / 1e9;
    let is_modelled = bench.is_modelled();
    measured.check().map_err(Failure::failed)?;
    print(&table)?;
    let note = match is_modelled {
        true => format!(
            "\nModelled, not measured on a GPU: the model of {} at {clock:.3} GHz.\n",
            parameters.machine
        ),
        false => format!("\nMeasured on {}, at {clock:.3} GHz.\n", device.choice()),
    };
    print(&note)?;
    if let Some(path) = &options.out {
        let text = format!(
            "# {} by `ferrowave calibrate` on {}.\n{}",
            if is_modelled { "Modelled" } else { "Measured" },
            device.choice(),
            measured.to_toml()
        );
        fs::write(path, text).map_err(|error| unwritable(path, &error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The parameters of the device before it is measured.
fn machine(options: &Options, device: &Device) -> Result<Parameters, Failure> {
    let properties = device.properties();
    let gpu = properties
        .gpu()
        .ok_or_else(|| Failure::usage(format!("{} is not modelled", properties.gpu_name())))?;
    if device.is_emulated() {
        let asked = options.device.selector()?.product();
        return options.parameters.of(asked.unwrap_or(Product::of(gpu)));
    }
    let mut known = Parameters::MACHINES
        .into_iter()
        .filter(|product| product.gpu() == gpu);
    let same = known
        .find(|product| product.specifications().multiprocessors() == properties.compute_units);
    let product = same.ok_or_else(|| {
        Failure::usage(format!(
            "no machine with {gpu} and {} compute units is modelled; known are {}",
            properties.compute_units,
            Parameters::MACHINES.map(Product::name).join(", ")
        ))
    })?;
    options.parameters.of(product)
}

/// Fails if repeated runs differ.
fn alone(what: &str, sample: Sample) -> Result<(), Failure> {
    match sample.spread <= MOST_SPREAD {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "repeated runs of «{what}» differ by {:.0} % of their median, at most {:.0} % are allowed: the GPU is shared or \
             its clock changes; no figure is kept",
            100.0 * sample.spread,
            100.0 * MOST_SPREAD
        ))),
    }
}

/// Sets the parameter that was measured.
fn keep(
    measurement: &Measurement,
    sample: Sample,
    parameters: &mut Parameters,
) -> Result<(), Failure> {
    if measurement.parameter.is_empty() {
        return Ok(());
    }
    parameters
        .set(measurement.parameter, sample.value)
        .map_err(|error| {
            Failure::failed(format!(
                "«{}»: {error}; no figure is kept",
                measurement.what
            ))
        })
}

/// Fails if a file cannot be written in the folder, before anything runs.
fn writable(path: &Path) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if path.is_dir() {
        return Err(unwritable(path, &"it is a directory"));
    }
    match tempfile::tempfile_in(folder) {
        Ok(_) => Ok(()),
        Err(error) => Err(unwritable(path, &error)),
    }
}

fn unwritable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("`{}` cannot be written: {why}", path.display()))
}

/// Four digits, or all of a whole number.
fn digits(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{value:.3e}"),
        value if value >= 1000.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_differ_are_told_with_what_differed() {
        let sample = |spread| Sample {
            value: 300.0,
            spread,
        };
        assert!(alone("latency of L2", sample(0.1)).is_ok());
        for spread in [0.35, f64::INFINITY] {
            let error = alone("latency of L2", sample(spread))
                .unwrap_err()
                .to_string();
            assert!(error.contains("«latency of L2» differ by "), "{error}");
            assert!(
                error.contains("at most 10 % are allowed: the GPU is shared"),
                "{error}"
            );
        }
    }

    #[test]
    fn each_measured_parameter_exists_and_takes_only_what_is_allowed() {
        let own = *Parameters::of(Product::Mi300x).expect("a row");
        let mut parameters = own;
        let sample = |value| Sample { value, spread: 0.0 };
        for measurement in ALL
            .iter()
            .filter(|measurement| !measurement.parameter.is_empty())
        {
            let value = parameters.get(measurement.parameter).expect("a parameter");
            keep(measurement, sample(value), &mut parameters).expect("its own value is allowed");
            let error = keep(measurement, sample(-1.0), &mut parameters).unwrap_err();
            assert!(error.to_string().contains("no figure is kept"), "{error}");
        }
        assert_eq!(parameters, own);
    }
}
