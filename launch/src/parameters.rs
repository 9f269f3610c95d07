//! The option `--parameters`.

use std::{
    env,
    path::{Path, PathBuf},
};

use clap::Args;
use ferrowave_gpu::Product;
use ferrowave_hip::timing::PARAMETERS_VARIABLE;
use ferrowave_timing::Parameters;

use crate::Failure;

/// The timing model's parameters, if they come from a file.
#[derive(Debug, Args)]
#[group(skip)]
pub struct ParametersOption {
    /// Take the timing model's parameters from this file, which must be for the modelled machine. `ferrowave parameters`
    /// prints one [default: FERROWAVE_TIMING_PARAMETERS, or else the machine's own].
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
}

impl ParametersOption {
    /// The parameters in the file of the option or else of the environment; `None` without a file.
    ///
    /// # Errors
    /// If the file has no parameters.
    pub fn read(&self) -> Result<Option<Parameters>, Failure> {
        let variable = || env::var_os(PARAMETERS_VARIABLE).filter(|value| !value.is_empty());
        let Some(path) = self
            .parameters
            .clone()
            .or_else(|| variable().map(PathBuf::from))
        else {
            return Ok(None);
        };
        let parameters = Parameters::read(&path);
        parameters
            .map(Some)
            .map_err(|error| Failure::usage(format!("{}: {error}", self.name())))
    }

    /// The parameters of a machine: those of the file, or else its own.
    ///
    /// # Errors
    /// As [`Self::read`], and if the file is for another machine, or there is no file and the machine has no parameters.
    pub fn of(&self, machine: Product) -> Result<Parameters, Failure> {
        match self.read()? {
            None => Parameters::try_from(machine).map_err(Failure::usage),
            Some(parameters) if parameters.machine == machine => Ok(parameters),
            Some(parameters) => Err(Failure::usage(format!(
                "{}: the parameters are of {}, but {machine} is modelled",
                self.name(),
                parameters.machine
            ))),
        }
    }

    /// The file, if the option is given on the command line.
    pub fn file(&self) -> Option<&Path> {
        self.parameters.as_deref()
    }

    /// Whether the option is given on the command line.
    pub fn is_given(&self) -> bool {
        self.parameters.is_some()
    }

    fn name(&self) -> &'static str {
        match self.is_given() {
            true => "--parameters",
            false => PARAMETERS_VARIABLE,
        }
    }
}
