//! `ferrowave tune`: models launches of the kernels, and writes the table of their costs.

pub(crate) mod bench;
pub(crate) mod costs;
pub(crate) mod table_file;
