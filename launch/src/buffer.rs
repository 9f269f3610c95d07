//! Contents of buffers before and after a launch.

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{Element, Failure, array::BufferData, npy};

impl BufferData {
    /// Reads a file: an array if the name ends in `.npy`, otherwise plain bytes.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let failed =
            |error: &dyn std::fmt::Display| Failure::failed(format!("{}: {error}", path.display()));
        let bytes = fs::read(path).map_err(|error| failed(&error))?;
        let data = match npy::is_npy(path) {
            true => npy::read(&bytes).map_err(|error| failed(&error))?,
            false => BufferData {
                element: Element::U8,
                shape: vec![bytes.len()],
                bytes,
            },
        };
        match data.bytes.is_empty() {
            true => Err(failed(&"it has no elements, and a buffer has one at least")),
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

    /// Writes the buffer to a file: an array if the name ends in `.npy`, otherwise plain bytes.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
        };
        let array = match npy::is_npy(path) {
            true => Some(npy::write(&self.data).map_err(|error| failed(&error))?),
            false => None,
        };
        fs::write(path, array.as_ref().unwrap_or(&self.data.bytes)).map_err(|error| failed(&error))
    }
}

/// The file to write a buffer to; `1=out.npy` on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The index of the buffer's argument, from 0.
    pub argument: usize,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for OutputFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write ARGUMENT=FILE with the argument's number from 0, as in 1=out.npy";
        let (argument, path) = text.split_once('=').ok_or(form)?;
        match path.is_empty() {
            true => Err(form.to_owned()),
            false => Ok(OutputFile {
                argument: argument
                    .parse()
                    .map_err(|_| format!("`{argument}` is no number; {form}"))?,
                path: path.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read() {
        let parse = |text: &str| text.parse::<OutputFile>();
        let expected = OutputFile {
            argument: 1,
            path: "a=b.npy".into(),
        };
        assert_eq!(parse("1=a=b.npy"), Ok(expected));
        for (text, complaint) in [
            ("out.npy", "write ARGUMENT=FILE"),
            ("x=out.npy", "`x` is no number"),
            ("1=", "write ARGUMENT=FILE"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
