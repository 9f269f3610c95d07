//! Rows of AMD's libraries on the emulator.
//!
//! A library is linked with `libamdhip64.so`. So it runs in a process of its own, this command again, in which the emulator's
//! library has that name. The process computes the product once. The emulator's library models all launches meanwhile, and
//! writes their times when the process ends.

use std::time::Duration;

use ferrowave::vendor::Vendor;
use ferrowave_hip::timing::{ESTIMATE_VARIABLE, PARAMETERS_VARIABLE};
use ferrowave_timing::Parameters;

use super::{Failure, ParametersOption};
use crate::{
    child::{self, End},
    hip_program::{Library, Settings, set, variables},
    report::{
        launches::{together, written},
        results::Row,
    },
};

/// The libraries for a modelled machine.
#[derive(Default)]
pub(crate) struct EmulatedLibraries<'a> {
    /// The emulator's library and the machine; `None` if no library can run.
    on: Option<(Library, Parameters, &'a ParametersOption)>,
    time_limit: Duration,
    /// Those that have not failed for good.
    vendors: Vec<Vendor>,
    /// Why libraries are left out.
    pub(crate) notes: Vec<String>,
}

impl<'a> EmulatedLibraries<'a> {
    /// Finds the emulator's library.
    pub(crate) fn find(
        machine: Parameters,
        parameters: &'a ParametersOption,
        time_limit: Duration,
    ) -> Self {
        let mut libraries = EmulatedLibraries {
            time_limit,
            ..Self::default()
        };
        match Library::find() {
            Ok(library) => {
                libraries.on = Some((library, machine, parameters));
                libraries.vendors = Vendor::ALL.to_vec();
            }
            Err(failure) => {
                let [first, second] = Vendor::ALL;
                let note = format!("{first} and {second} are left out: {failure}");
                libraries.notes.push(note);
            }
        }
        libraries
    }

    /// The libraries that may compute a product.
    pub(crate) fn usable(&self) -> Vec<Vendor> {
        self.vendors.clone()
    }

    /// The row of a library for the problem of a case of this report.
    pub(crate) fn row(
        &mut self,
        vendor: Vendor,
        case: usize,
        estimated: bool,
    ) -> Result<Row, Failure> {
        let Some((library, machine, parameters)) = &self.on else {
            return Err(Failure::failed("there is no library of the emulator"));
        };
        let folder = tempfile::tempdir().map_err(Failure::failed)?;
        let settings = Settings::modelled(machine.machine, folder.path().to_owned());
        let arguments = ["--row", &case.to_string(), "--library", vendor.name()];
        let mut command = child::this_command(&arguments).map_err(Failure::failed)?;
        set(&mut command, variables(&settings, library)?);
        // Also where the variable is set for this command.
        command.env(ESTIMATE_VARIABLE, if estimated { "1" } else { "0" });
        if let Some(file) = parameters.file() {
            command.env(PARAMETERS_VARIABLE, file);
        }
        let ended = child::run(&mut command, self.time_limit).map_err(Failure::failed)?;
        // HIP may write lines, too.
        let mut lines = ended.output.lines().rev();
        let row = lines.find_map(|line| serde_json::from_str::<Row>(line).ok());
        let (End::Code(0), Some(mut row)) = (ended.end, row) else {
            // Only a product that the library refuses leaves the others.
            if ended.end != End::Code(1) {
                self.vendors.retain(|other| *other != vendor);
            }
            let error = ended.error.lines().rev();
            let mut errors = error.filter_map(|line| line.strip_prefix("error: "));
            return Err(match (ended.end, errors.next()) {
                (End::Code(1 | 2), Some(error)) => Failure::failed(error),
                _ => Failure::failed(ended.complaint()),
            });
        };
        let launches = written(folder.path()).map_err(Failure::failed)?;
        row.modelled = together(&launches);
        if row.modelled.is_none() {
            return Err(Failure::failed("none of its launches was modelled"));
        }
        row.launched = launches.into_iter().map(|launch| launch.kernel).collect();
        Ok(row)
    }
}
