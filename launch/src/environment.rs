//! The environment variables that commands read: their help, and whether their values are valid.

use ferrowave_hip::check_environment;
use ferrowave_host::tuning::Mode;

use crate::Failure;

/// Checks the variables that launches read, all but FERROWAVE_DEVICE, which an option replaces. An invalid value is an
/// invalid request, as an invalid option is.
///
/// # Errors
/// The first invalid variable, with its value and what is allowed.
pub(crate) fn check() -> Result<(), Failure> {
    check_environment().map_err(Failure::usage)?;
    Mode::from_environment().map(drop).map_err(Failure::usage)
}

/// The end of the commands' long help. `docs/emulator.md` lists all variables that the emulator reads.
pub const ENVIRONMENT: &str = "\
Environment:
  FERROWAVE_DEVICE             the device where --device names none: auto,
                               hip:0, emulator:gfx90a, MI300X
  FERROWAVE_TIMEOUT            ends each launch on the emulator that takes
                               longer: 30, 1.5s, 2m
  FERROWAVE_INSTRUCTION_LIMIT  ends each launch on the emulator that runs more
                               wave-instructions
  HSA_XNACK                    1 lets kernels on emulated gfx90a, gfx942 and
                               gfx950 reach all memory of the program
  FERROWAVE_MATRIX             how the emulator's matrix instructions add: exact
                               (the default) or fast
  FERROWAVE_HIP_LIBRARY        the HIP library to load
  FERROWAVE_TRACE              writes HIP calls and the work of streams: api,
                               launches, a file, with commas between
  FERROWAVE_ROCBLAS_LIBRARY, FERROWAVE_HIPBLASLT_LIBRARY
                               AMD's libraries for the rows of a report
  FERROWAVE_GPUS               when Ferrowave is built: the GPUs whose kernels
                               are embedded, with commas between
  FERROWAVE_EMULATOR_LIBRARY   the emulator's libamdhip64.so, for programs that
                               are built without the emulator
  FERROWAVE_TUNING             kernels that were measured on the device: off,
                               read (the default; they are used) or on (a
                               problem without one is measured first)
  FERROWAVE_CACHE              the directory of what is compiled once for all
                               crates: `core` for the GPUs, the emulator

Any HIP program on the emulator is checked, profiled and timed with
FERROWAVE_CHECK, FERROWAVE_CHECK_SEEDS, FERROWAVE_CHECK_SCHEDULE,
FERROWAVE_CHECK_OUTPUT, FERROWAVE_PROFILE, FERROWAVE_TIMING,
FERROWAVE_TIMING_PARAMETERS and FERROWAVE_TIMING_ESTIMATE; hiprtc needs
FERROWAVE_COMGR where it does not find AMD's compiler library.
docs/emulator.md says more.";

#[cfg(test)]
mod tests {
    use super::ENVIRONMENT;

    #[test]
    fn the_help_fits_a_terminal_of_80_columns() {
        for line in ENVIRONMENT.lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}
