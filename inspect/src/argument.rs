//! Parses kernel arguments from the command line.

use std::{path::Path, str::FromStr};

use crate::{BufferData, Element};

/// Maximum bytes of one buffer. A larger request is most likely a typing error. Hosts of 32 bits cannot hold more.
const MAX_BUFFER_BYTES: u64 = match usize::BITS {
    32 => 1 << 30,
    _ => 1 << 36,
};

/// A kernel argument as the command line gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelArgument {
    /// A value: its type and its bytes.
    Value(Element, Vec<u8>),
    /// A value whose bytes, for example of a struct, are a file's contents.
    ValueOfFile(String),
    /// A buffer of elements, with its extent along each axis.
    Buffer(Contents, Element, Vec<usize>),
    /// A value, for example a struct, as bytes.
    Bytes(Vec<u8>),
    /// A buffer with these contents.
    Data(BufferData),
    /// A buffer with a file's contents: an array if the name ends in `.npy`, otherwise plain bytes.
    File(String),
}

/// The initial contents of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Zeros.
    Zeros,
    /// Floats in -1..1; integers with all bits random.
    Random,
    /// Not initialized.
    Uninitialized,
}

impl KernelArgument {
    /// Replaces the name of a file by the file's contents.
    ///
    /// # Errors
    /// If it cannot be read, or has no contents for a buffer. The error names the file.
    pub fn with_file(
        self,
        read: impl FnOnce(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Self, String> {
        let of = |path: &str| read(path).map_err(|error| format!("{path}: {error}"));
        match self {
            Self::File(path) => {
                let data = BufferData::of_file(Path::new(&path), of(&path)?);
                Ok(Self::Data(
                    data.map_err(|error| format!("{path}: {error}"))?,
                ))
            }
            Self::ValueOfFile(path) => Ok(Self::Bytes(of(&path)?)),
            other => Ok(other),
        }
    }
}

impl FromStr for KernelArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A file's name may contain `=`.
        let is_file = text.starts_with("file:") || text.starts_with("value:");
        if let Some((element, value)) = text.split_once('=').filter(|_| !is_file) {
            let element = Element::named(element)?;
            return Ok(Self::Value(element, element.parse(value)?));
        }
        let form =
            "write f32=1.5, zeros:64xf32, random:4x16xf32, uninit:64xf32, file:PATH or value:PATH";
        let (contents, rest) = text.split_once(':').ok_or(form)?;
        let contents = match contents {
            "file" => return Ok(Self::File(rest.to_owned())),
            "value" => return Ok(Self::ValueOfFile(rest.to_owned())),
            "zeros" => Contents::Zeros,
            "random" => Contents::Random,
            "uninit" => Contents::Uninitialized,
            _ => return Err(format!("`{contents}` is no kind of buffer; {form}")),
        };
        let (extents, element) = rest.rsplit_once('x').ok_or(form)?;
        let element = Element::named(element)?;
        let shape = extents
            .split('x')
            .map(|extent| extent.parse::<usize>().map_err(|_| extent))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|extent| format!("`{extent}` is no number of elements"))?;
        let bytes = shape
            .iter()
            .try_fold(element.bytes(), |bytes, &extent| bytes.checked_mul(extent));
        match bytes.map(|bytes| bytes as u64) {
            Some(1..=MAX_BUFFER_BYTES) => Ok(Self::Buffer(contents, element, shape)),
            _ => Err(format!(
                "{extents} elements; a buffer has from 1 to {MAX_BUFFER_BYTES} bytes"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_values_and_buffers() {
        let parse = |text: &str| text.parse::<KernelArgument>();
        assert_eq!(
            parse("f32=1.5"),
            Ok(KernelArgument::Value(
                Element::F32,
                1.5_f32.to_le_bytes().to_vec()
            ))
        );
        assert_eq!(
            parse("i16=-2"),
            Ok(KernelArgument::Value(Element::I16, vec![0xfe, 0xff]))
        );
        assert_eq!(
            parse("u64=0x10"),
            Ok(KernelArgument::Value(
                Element::U64,
                vec![16, 0, 0, 0, 0, 0, 0, 0]
            ))
        );
        assert_eq!(
            parse("random:64xbf16"),
            Ok(KernelArgument::Buffer(
                Contents::Random,
                Element::Bf16,
                vec![64]
            ))
        );
        assert_eq!(
            parse("zeros:4x16xf32"),
            Ok(KernelArgument::Buffer(
                Contents::Zeros,
                Element::F32,
                vec![4, 16]
            ))
        );
        assert_eq!(parse("file:a:b"), Ok(KernelArgument::File("a:b".into())));
        assert_eq!(parse("file:a=b"), Ok(KernelArgument::File("a=b".into())));
        assert_eq!(
            parse("value:a=b"),
            Ok(KernelArgument::ValueOfFile("a=b".into()))
        );
        for (text, complaint) in [
            (
                "u8=256",
                "`256` is no u8: write a whole number from 0 to 255",
            ),
            ("i8=-129", "`-129` is no i8"),
            ("u32=x", "`x` is no u32"),
            ("f80=1", "there are u8"),
            ("ones:3xf32", "`ones` is no kind of buffer"),
            ("zeros:xf32", "`` is no number"),
            ("zeros:0xf32", "from 1 to"),
            ("zeros:4xxf32", "`` is no number"),
            ("zeros:99999999999x99999999999xf32", "from 1 to"),
            ("zeros:3", "write f32=1.5"),
            ("zeros", "write f32=1.5"),
            ("zeros:99999999999999999999xf32", "is no number"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
