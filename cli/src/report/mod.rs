//! What a run of many kernels found out: kept as facts, shown as tables, plots and a page.

pub(crate) mod compare;
pub(crate) mod figures;
pub(crate) mod files;
pub(crate) mod headline;
mod markdown;
pub(crate) mod measure;
mod page;
mod plots;
pub(crate) mod results;
pub(crate) mod tabular;
