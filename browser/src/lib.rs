//! The emulator for a web page.
//!
//! A page opens one file at a time: a code object, a bundle, or a HIP program. It asks by [`Session::answer`], with
//! [`Request`]s as JSON, what the file's kernels are, what their code is, and what they do when they run. In a browser, the module's
//! two functions carry requests and answers; the system's functions (WASI) are the page's.

#![feature(alloc_error_hook)]

mod abi;
mod file;
mod launch;
mod request;

pub use request::{Answer, Request, Session};
