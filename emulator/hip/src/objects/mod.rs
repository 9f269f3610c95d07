//! The objects behind handles, and the operations of streams and graphs.
//!
//! Each file depends only on those above it, and on no HIP function.
//!
//! | module | contents |
//! |---|---|
//! | [`allocation`], [`owner`] | allocating and freeing a device's memory; the owner of an address |
//! | [`graph_memory`] | memory that graphs allocate and free |
//! | [`module`], [`launch`] | code objects and their kernels; launches |
//! | [`transfer`] | copies and memsets |
//! | [`value`] | values in memory that streams wait for or write |
//! | [`event`] | events |
//! | [`operation`] | an operation: one of the above, or a host function |
//! | [`mapping`] | physical memory, and the addresses where it is mapped |
//! | [`user_object`] | objects of the program that graphs keep alive |
//! | [`graph`], [`plan`] | graphs of operations; the order in which a graph runs |
//! | [`capture`], [`stream`] | streams that are being captured; all streams |

pub(crate) mod allocation;
pub(crate) mod capture;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod graph_memory;
pub(crate) mod launch;
pub(crate) mod mapping;
pub(crate) mod module;
pub(crate) mod operation;
pub(crate) mod owner;
pub(crate) mod plan;
pub(crate) mod stream;
pub(crate) mod transfer;
pub(crate) mod user_object;
pub(crate) mod value;
