//! Tiles, by where their elements are. The place is the type: an element gets from global memory
//! to LDS to registers only through the methods that these types have.

#[cfg(test)]
pub(crate) mod banks;
pub mod element;
pub mod global;
pub mod index;
pub mod lds;
pub mod length;
pub mod operand;
pub mod output;
pub mod registers;
pub mod swizzle;
pub mod vector_loader;
