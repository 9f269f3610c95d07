//! Arrays: bytes with their type and shape.

use crate::Element;

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BufferData {
    pub(crate) element: Element,
    /// Its extent along each axis, in elements.
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}
