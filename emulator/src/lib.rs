//! Runs AMD GPU code objects on a CPU behind the HIP API.

pub mod isa;
