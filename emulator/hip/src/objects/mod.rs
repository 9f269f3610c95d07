//! What handles stand for, and the work that streams and graphs do with it.
//!
//! Each file knows only those above it, and no function of HIP's.
//!
//! | room | what is in it |
//! |---|---|
//! | [`allocation`], [`place`] | allocating and freeing a device's memory; the owner of an address |
//! | [`graph_memory`] | memory that graphs allocate and free |
//! | [`module`], [`launch`] | code objects and their kernels; launches |
//! | [`transfer`] | copies and fills |
//! | [`event`] | events |
//! | [`operation`] | a piece of work: one of the above, or a function of the program's |
//! | [`graph`], [`plan`] | graphs of operations; the order in which one runs |
//! | [`capture`], [`stream`] | streams whose work goes to a graph; all streams |

pub(crate) mod allocation;
pub(crate) mod capture;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod graph_memory;
pub(crate) mod launch;
pub(crate) mod module;
pub(crate) mod operation;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod stream;
pub(crate) mod transfer;
