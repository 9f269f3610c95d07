//! Files that a command writes buffers to.

use std::{fs, path::PathBuf, str::FromStr};

use ferrowave_inspect::BufferAfter;

use crate::Failure;

/// The file to write a buffer to; `1=out.npy` on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The index of the buffer's argument, from 0.
    pub argument: usize,
    /// The file.
    pub path: PathBuf,
}

impl OutputFile {
    /// Writes the buffer: an array if the name ends in `.npy`, otherwise plain bytes.
    pub(crate) fn write(&self, buffer: &BufferAfter) -> Result<(), Failure> {
        let path = &self.path;
        let failed = |error: &dyn std::fmt::Display| {
            Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
        };
        let file = buffer.file(path).map_err(|error| failed(&error))?;
        fs::write(path, file).map_err(|error| failed(&error))
    }
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
