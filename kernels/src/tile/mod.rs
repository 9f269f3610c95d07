//! Tiles in global memory, in LDS and in registers. Each of these is a type, and elements move from
//! one to another only through methods of these types.

#[cfg(test)]
pub(crate) mod banks;
pub mod element;
pub mod epilogue;
pub mod global;
pub mod index;
pub mod lds;
pub mod length;
pub mod operand;
pub mod output;
pub mod registers;
pub mod swizzle;
mod transpose;
pub mod vector_loader;
