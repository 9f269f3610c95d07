//! Tiles, by where their elements are. The place is the type: an element gets from global memory
//! to LDS to registers only through the methods that these types have.

#[cfg(test)]
pub(crate) mod banks;
pub mod element;
pub mod exchange;
pub mod global;
pub mod index;
pub mod lds;
pub mod output;
pub mod panel;
pub mod pieces;
pub mod registers;
pub mod units;
