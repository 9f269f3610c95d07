//! Arrays: bytes with an element type and a shape.

use crate::Element;

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BufferData {
    pub(crate) element: Element,
    /// Extent of each axis, in elements.
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}
