//! Kernels that are known only from their code objects: parameters, registers, occupancy and code; and arguments as text,
//! which are checked against the parameters.
//!
//! This crate launches nothing. The command lines launch by HIP, the page in a browser by the emulator alone.

mod argument;
mod array;
mod code;
mod element;
mod kernarg;
mod npy;
mod parameter;
mod shape;
mod summary;

pub use argument::{Contents, KernelArgument};
pub use array::{BufferAfter, BufferData};
pub use code::{CodeLine, code};
pub use element::Element;
pub use kernarg::{ArgumentError, Buffer, check_count, kernarg};
pub use npy::{is_npy, unwritable};
pub use parameter::{KernelParameter, parameters};
pub use shape::Shape;
pub use summary::{ArgumentSummary, KernelSummary};
