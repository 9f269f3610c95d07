//! Arrays: bytes with an element type and a shape.

use std::path::Path;

use crate::{Element, npy};

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

impl BufferData {
    /// The contents of a file: an array if the name ends in `.npy`, otherwise plain bytes.
    ///
    /// # Errors
    /// If it is not an array that kernels take, or it is empty.
    pub fn of_file(path: &Path, bytes: Vec<u8>) -> Result<Self, String> {
        let data = match npy::is_npy(path) {
            true => npy::read(&bytes)?,
            false => BufferData {
                element: Element::U8,
                shape: vec![bytes.len()],
                bytes,
            },
        };
        match data.bytes.is_empty() {
            true => Err("it has no elements, and a buffer has one at least".to_owned()),
            false => Ok(data),
        }
    }
}

/// A buffer after a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferAfter {
    /// The index of its argument, from 0.
    pub argument: usize,
    /// Its contents.
    pub data: BufferData,
}

impl BufferAfter {
    /// Its extents and element type, for example `4x16xf32`.
    pub fn kind(&self) -> String {
        let extents = self.data.shape.iter().map(|extent| format!("{extent}x"));
        extents.collect::<String>() + self.data.element.name()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.data.bytes.len() / self.data.element.bytes()
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.data.bytes.is_empty()
    }

    /// The elements as text.
    pub fn elements(&self) -> impl Iterator<Item = String> {
        let element = self.data.element;
        let elements = self.data.bytes.chunks_exact(element.bytes());
        elements.map(move |bytes| element.text(bytes))
    }

    /// The contents of a file with the buffer: an array if the name ends in `.npy`, otherwise plain bytes.
    ///
    /// # Errors
    /// If NumPy has no such elements.
    pub fn file(&self, path: &Path) -> Result<Vec<u8>, String> {
        match npy::is_npy(path) {
            true => npy::write(&self.data),
            false => Ok(self.data.bytes.clone()),
        }
    }
}
