//! The results of a run of many kernels: the data, and tables, plots and a page of it.

pub(crate) mod compare;
pub(crate) mod figures;
pub(crate) mod files;
pub(crate) mod headline;
pub(crate) mod launches;
mod markdown;
pub(crate) mod measure;
mod page;
mod plots;
pub(crate) mod results;
pub(crate) mod tabular;
mod timed;
