//! What stands for `emulated_library.rs` on systems other than Linux: AMD's libraries load `libamdhip64.so`, which only Linux
//! can give them.

use std::time::Duration;

use ferrowave::vendor::Vendor;
use ferrowave_timing::Parameters;

use super::{Failure, ParametersOption};
use crate::report::results::Row;

const REASON: &str = "on the emulator, they run on Linux only";

/// AMD's libraries on the emulator: here, none.
#[derive(Default)]
pub(crate) struct EmulatedLibraries {
    /// Why libraries are left out.
    pub(crate) notes: Vec<String>,
}

impl EmulatedLibraries {
    /// Notes why there are none.
    pub(crate) fn find(_: Parameters, _: &ParametersOption, _: Duration) -> Self {
        let [first, second] = Vendor::ALL;
        EmulatedLibraries {
            notes: vec![format!("{first} and {second} are left out: {REASON}")],
        }
    }

    /// The libraries that may compute a product.
    pub(crate) fn usable(&self) -> Vec<Vendor> {
        Vec::new()
    }

    /// The row of a library.
    pub(crate) fn row(&mut self, vendor: Vendor, _: usize, _: bool) -> Result<Row, Failure> {
        Err(Failure::failed(format!("{vendor}: {REASON}")))
    }
}
