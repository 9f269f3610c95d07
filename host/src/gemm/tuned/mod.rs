//! Costs of the kernels that were modelled beforehand.
//!
//! `ferrowave tune` models some launches of each kernel on a machine and writes a [`Table`] of their [`Cost`]s, which is part
//! of the library. [`choose`](super::choose()) takes the kernel that costs least. Products without a table use the one of
//! the same GPU with the nearest number of compute units, and GPUs without a table the rule of [`choose`](mod@super::choose).

pub mod cache;
pub mod cost;
pub mod table;

pub use cost::{Cost, Line, Steps, modelled_steps};
pub use table::{Row, Table, TableError, checksum};
