//! What the computer tells without HIP: where ROCm is, why HIP does not work, and the clock of a GPU.

mod clock;
pub(crate) mod rocm;
pub(crate) mod root_folder;
mod trouble;

pub use clock::engine_clock_hz;
pub use rocm::rocm_folders;
pub use root_folder::{ROOT_VARIABLE, root};
pub use trouble::{System, Trouble};
