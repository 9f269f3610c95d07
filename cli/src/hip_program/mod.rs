//! Any HIP program on the emulator: where its library is, what to set for the program, and what the program is.

mod library;
mod program;
mod settings;

pub(crate) use library::Library;
pub(crate) use program::{Program, Refused};
pub(crate) use settings::{LIBRARY_PATH, Settings, quoted, set, variables};
