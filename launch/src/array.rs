//! Arrays: bytes with an element type and a shape.

use crate::Element;

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferData {
    /// The elements' type.
    pub element: Element,
    /// Extent of each axis, in elements.
    pub shape: Vec<usize>,
    /// The elements, the last axis contiguous.
    pub bytes: Vec<u8>,
}
