//! Reads and writes NumPy array files (`.npy`).
//!
//! A file is a magic number, a version, the header's length and the header, as `numpy.lib.format` describes them: a dictionary
//! in Python's notation, padded with spaces. The elements follow as they are in memory.

use crate::{BufferData, Element};

/// NumPy's type descriptor; bf16 has none.
fn type_name(element: Element) -> Option<&'static str> {
    Some(match element {
        Element::U8 => "|u1",
        Element::I8 => "|i1",
        Element::U16 => "<u2",
        Element::I16 => "<i2",
        Element::U32 => "<u4",
        Element::I32 => "<i4",
        Element::U64 => "<u8",
        Element::I64 => "<i8",
        Element::F16 => "<f2",
        Element::F32 => "<f4",
        Element::F64 => "<f8",
        Element::Bf16 => return None,
    })
}

/// Whether the file name ends in `.npy`.
pub fn is_npy(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

const MAGIC: &[u8] = b"\x93NUMPY";
/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// Parses an array file.
///
/// # Errors
/// If the bytes are not an array, it is in column-major order, or [`Element`] does not have its type.
pub(crate) fn read(bytes: &[u8]) -> Result<BufferData, String> {
    let (header, bytes) = split(bytes).map_err(|reason| format!("not an array: {reason}"))?;
    let header = Header::parse(header)
        .ok_or_else(|| format!("not an array: its header is {:?}", header.trim_end()))?;
    let dtype = header.dtype;
    let element = Element::all()
        .find(|&element| {
            type_name(element).is_some_and(|name| quoted(dtype).is_some_and(|given| given == name))
        })
        .ok_or_else(|| {
            let names: Vec<_> = Element::all().filter_map(type_name).collect();
            format!(
                "its elements are {dtype}, but kernels take {}; convert it with `array.astype`",
                names.join(", ")
            )
        })?;
    if header.by_columns && header.shape.len() > 1 {
        return Err(
            "it is stored column by column; save `numpy.ascontiguousarray(array)`".to_owned(),
        );
    }
    let mut extents = header.shape.iter();
    let length = extents.try_fold(element.bytes(), |bytes, &extent| bytes.checked_mul(extent));
    if length != Some(bytes.len()) {
        return Err(format!(
            "its header says {:?} elements of {dtype}, but {} bytes follow",
            header.shape,
            bytes.len()
        ));
    }
    Ok(BufferData {
        element,
        shape: header.shape,
        bytes: bytes.to_vec(),
    })
}

/// The header and the elements of an array file.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), &'static str> {
    const SHORT: &str = "it ends within its header";
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("it does not begin with NumPy's magic number")?;
    let (&[major, _minor], rest) = rest.split_first_chunk().ok_or(SHORT)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or(SHORT)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or(SHORT)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return Err("its version is not 1, 2 or 3"),
    };
    let (header, elements) = rest.split_at_checked(length).ok_or(SHORT)?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not UTF-8")?;
    Ok((header, elements))
}

/// What a header says. A dictionary without one of the three is not a header.
struct Header<'a> {
    /// In Python's notation: a text, or a list for structs.
    dtype: &'a str,
    by_columns: bool,
    shape: Vec<usize>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let entries = text.trim().strip_prefix('{')?.strip_suffix('}')?;
        let (mut dtype, mut by_columns, mut shape) = (None, None, None);
        for entry in elements(entries)? {
            let (key, value) = entry.split_once(':')?;
            let value = value.trim();
            match quoted(key.trim())? {
                "descr" => dtype = Some(value),
                "fortran_order" if value == "True" => by_columns = Some(true),
                "fortran_order" if value == "False" => by_columns = Some(false),
                "shape" => {
                    let extents = elements(value.strip_prefix('(')?.strip_suffix(')')?)?;
                    // Python 2 wrote some numbers with an L.
                    let extents = extents
                        .iter()
                        .map(|extent| extent.trim_end_matches('L').parse().ok());
                    shape = Some(extents.collect::<Option<_>>()?);
                }
                _ => return None,
            }
        }
        Some(Self {
            dtype: dtype?,
            by_columns: by_columns?,
            shape: shape?,
        })
    }
}

/// The elements of a list in Python's notation, which commas separate that are in no inner brackets and no texts. A comma may
/// be the last.
fn elements(list: &str) -> Option<Vec<&str>> {
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    let mut elements = Vec::new();
    for (at, character) in list.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, ',') if depth == 0 => {
                elements.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list[start..].trim();
    if !last.is_empty() {
        elements.push(last);
    }
    let is_whole = depth == 0 && quote.is_none() && !elements.contains(&"");
    is_whole.then_some(elements)
}

/// A text in Python's notation, without its quotes.
fn quoted(text: &str) -> Option<&str> {
    ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

/// The bytes of an array file.
///
/// # Errors
/// If NumPy has no such type.
pub(crate) fn write(data: &BufferData) -> Result<Vec<u8>, String> {
    let name = type_name(data.element).ok_or_else(|| no_type(data.element))?;
    let mut shape: String = data
        .shape
        .iter()
        .map(|extent| format!("{extent}, "))
        .collect();
    // Python takes `(3)` for a number.
    if data.shape.len() > 1 {
        shape.truncate(shape.len() - 2);
    } else {
        shape.truncate(shape.trim_end().len());
    }
    let header = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic number, version and length take ten bytes; a line feed ends the header.
    let length = (10 + header.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    let stored = u16::try_from(length)
        .map_err(|_| format!("an array file cannot have {} dimensions", data.shape.len()))?;
    let mut file = [MAGIC, &[1, 0], &stored.to_le_bytes()].concat();
    file.extend(format!("{header:<0$}\n", length - 1).bytes());
    file.extend(&data.bytes);
    Ok(file)
}

/// The error for elements that NumPy does not have, otherwise `None`.
pub fn unwritable(element: Element) -> Option<String> {
    type_name(element).is_none().then(|| no_type(element))
}

fn no_type(element: Element) -> String {
    format!(
        "NumPy has no type {}; write plain bytes, to a name without .npy",
        element.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `numpy.save` writes for `numpy.array([[1, 2, 3], [4, 5, 6]], dtype)`, from NumPy's description of the
    /// format (`numpy.lib.format`): magic, version 1.0, the header's length, a dictionary padded to 64 bytes, the
    /// elements.
    fn file(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((padded as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.resize(10 + padded - 1, b' ');
        bytes.push(b'\n');
        bytes.extend(elements);
        bytes
    }

    #[test]
    fn arrays_are_read_and_written_as_numpy_does() {
        let elements: Vec<u8> = (1..=6_u16).flat_map(u16::to_le_bytes).collect();
        let bytes = file("'<u2'", "False", "(2, 3)", &elements);
        let data = BufferData {
            element: Element::U16,
            shape: vec![2, 3],
            bytes: elements,
        };
        assert_eq!(read(&bytes), Ok(data.clone()));
        assert_eq!(write(&data), Ok(bytes));
    }

    #[test]
    fn shapes_and_versions_are_those_of_numpy() {
        for (shape, text) in [
            (vec![], "()"),
            (vec![4], "(4,)"),
            (vec![2, 2], "(2, 2)"),
            (vec![1, 4, 1], "(1, 4, 1)"),
        ] {
            let elements = vec![1; 4 * shape.iter().product::<usize>()];
            let bytes = file("'<f4'", "False", text, &elements);
            let data = BufferData {
                element: Element::F32,
                shape,
                bytes: elements,
            };
            assert_eq!(read(&bytes), Ok(data.clone()), "{text}");
            assert_eq!(write(&data), Ok(bytes), "{text}");
        }
        // Version 2 has a longer length; other writers order and quote as they like.
        let header = "{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"|u1\"}";
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend([8, 9]);
        let read = read(&bytes).expect("an array");
        assert_eq!((read.shape, read.bytes), (vec![2], vec![8, 9]));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = file("'<f4'", "False", "(1,)", &[0; 4]);
        for length in 0..whole.len() {
            let error = read(&whole[..length]).expect_err("a part");
            assert!(!error.is_empty(), "{length}");
        }
        for at in 0..whole.len() - 4 {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                // Some changes are spaces, or the minor version; whatever is read has the file's elements.
                if let Ok(data) = read(&damaged) {
                    assert_eq!(data.bytes, [0; 4], "{at}, {bit}");
                }
            }
        }
        for (shape, order) in [
            ("(1,,)", "False"),
            ("(-1,)", "False"),
            ("(1", "False"),
            ("1", "False"),
            ("(99999999999999999999,)", "False"),
            ("(1,)", "None"),
            ("(1,), 'more': 1", "False"),
        ] {
            let error = read(&file("'<f4'", order, shape, &[0; 4])).expect_err(shape);
            assert!(error.contains("its header is"), "{error}");
        }
        let error = read(&file(
            "[('a', '<f4'), ('b', '<f4')]",
            "False",
            "(1,)",
            &[0; 8],
        ));
        let error = error.expect_err("a struct");
        assert!(
            error.contains("its elements are [('a', '<f4'), ('b', '<f4')]"),
            "{error}"
        );
    }

    #[test]
    fn every_type_but_bf16_comes_back() {
        for element in Element::all() {
            let data = BufferData {
                element,
                shape: vec![3],
                bytes: vec![7; 3 * element.bytes()],
            };
            match write(&data) {
                Ok(bytes) => assert_eq!(read(&bytes), Ok(data)),
                Err(error) => {
                    assert_eq!(element, Element::Bf16);
                    assert!(error.contains("no type bf16"), "{error}");
                }
            }
        }
    }

    #[test]
    fn what_kernels_do_not_take_is_refused() {
        for (bytes, complaint) in [
            (b"no array".to_vec(), "not an array"),
            (
                file("'>f4'", "False", "(1,)", &[0; 4]),
                "its elements are '>f4'",
            ),
            (file("'<c8'", "False", "(1,)", &[0; 8]), "kernels take"),
            (
                file("'<f4'", "True", "(2, 3)", &[0; 24]),
                "column by column",
            ),
            (
                file("'<f4'", "False", "(2, 3)", &[0; 20]),
                "but 20 bytes follow",
            ),
        ] {
            let error = read(&bytes).expect_err(complaint);
            assert!(error.contains(complaint), "{error}");
        }
    }
}
