//! Reads and writes NumPy array files (`.npy`).
//!
//! The crate `npyz` handles the headers. The elements follow as they are in memory.

use std::io::Write as _;

use npyz::{DType, NpyHeader, Order, TypeStr, WriteOptions, WriterBuilder as _};

use crate::{Element, array::BufferData};

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
pub(crate) fn is_npy(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

/// Parses an array file.
///
/// # Errors
/// If the bytes are not an array, it is in column-major order, or [`Element`] does not have its type.
pub(crate) fn read(mut bytes: &[u8]) -> Result<BufferData, String> {
    let header =
        NpyHeader::from_reader(&mut bytes).map_err(|error| format!("not an array: {error}"))?;
    let dtype = header.dtype().descr();
    let element = Element::all()
        .find(|&element| type_name(element).is_some_and(|name| dtype == format!("'{name}'")))
        .ok_or_else(|| {
            let names: Vec<_> = Element::all().filter_map(type_name).collect();
            format!(
                "its elements are {dtype}, but kernels take {}; convert it with `array.astype`",
                names.join(", ")
            )
        })?;
    if header.order() == Order::Fortran && header.shape().len() > 1 {
        return Err(
            "it is stored column by column; save `numpy.ascontiguousarray(array)`".to_owned(),
        );
    }
    let shape: Option<Vec<usize>> = header
        .shape()
        .iter()
        .map(|&extent| usize::try_from(extent).ok())
        .collect();
    let length = shape.as_ref().and_then(|shape| {
        shape
            .iter()
            .try_fold(element.bytes(), |bytes, &extent| bytes.checked_mul(extent))
    });
    match (shape, length) {
        (Some(shape), Some(length)) if length == bytes.len() => Ok(BufferData {
            element,
            shape,
            bytes: bytes.to_vec(),
        }),
        _ => Err(format!(
            "its header says {:?} elements of {dtype}, but {} bytes follow",
            header.shape(),
            bytes.len()
        )),
    }
}

/// The bytes of an array file.
///
/// # Errors
/// If NumPy has no such type.
pub(crate) fn write(data: &BufferData) -> Result<Vec<u8>, String> {
    let name = type_name(data.element).ok_or_else(|| no_type(data.element))?;
    let dtype: TypeStr = name.parse().map_err(|error| format!("{name}: {error}"))?;
    let shape: Vec<u64> = data.shape.iter().map(|&extent| extent as u64).collect();
    let mut file = WriteOptions::new_header_only()
        .dtype(DType::new_scalar(dtype))
        .shape(&shape)
        .writer(Vec::new())
        .write_header_only()
        .map_err(|error| error.to_string())?;
    file.write_all(&data.bytes)
        .map_err(|error| error.to_string())?;
    Ok(file)
}

/// The error for elements that NumPy does not have, otherwise `None`.
pub(crate) fn unwritable(element: Element) -> Option<String> {
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
        assert_eq!(read(&write(&data).expect("an array")), Ok(data));
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
