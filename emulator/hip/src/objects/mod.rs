//! The objects behind handles, and the operations of streams and graphs.
//!
//! Each file depends only on those above it, and on no HIP function.
//!
//! | module | contents |
//! |---|---|
//! | [`allocation`], [`owner`] | allocating and freeing a device's memory; the owner of an address |
//! | [`graph_memory`] | memory that graphs allocate and free |
//! | [`module`], [`library`], [`launch`] | code objects and their kernels; those that are loaded late; launches |
//! | [`transfer`], [`array`] | copies and memsets; arrays |
//! | [`value`] | values in memory that streams wait for or write |
//! | [`host_call`], [`shared_event`], [`event`] | host functions; events that processes share; events |
//! | [`operation`] | an operation: one of the above, or a host function |
//! | [`mapping`], [`opened`] | physical memory, and the addresses where it is mapped; memory of other processes |
//! | [`user_object`] | objects of the program that graphs keep alive |
//! | [`graph`], [`plan`] | graphs of operations; the order in which a graph runs |
//! | [`capture`], [`stream`] | streams that are being captured; all streams |

pub(crate) mod allocation;
pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod graph_memory;
pub(crate) mod host_call;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod mapping;
pub(crate) mod module;
pub(crate) mod opened;
pub(crate) mod operation;
pub(crate) mod owner;
pub(crate) mod plan;
pub(crate) mod shared_event;
pub(crate) mod stream;
pub(crate) mod transfer;
pub(crate) mod user_object;
pub(crate) mod value;
