//! Kernel arguments from Python's values, and results back to arrays.
//!
//! Arrays are copied to the device before a launch, and back after it. An array that the copy could not represent is refused
//! with its name, because the kernel would compute on other elements than the caller sees.

use std::slice;

use ferrowave_launch::{
    BufferAfter, BufferData, Element, KernelArgument, KernelParameter, LoadedKernel,
};
use numpy::{PyArrayDescrMethods as _, PyUntypedArray, PyUntypedArrayMethods as _, npyffi};
use pyo3::{
    prelude::*,
    types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt},
};

use crate::error::ArgumentError;

/// The arguments of a launch.
pub(crate) struct Call<'py> {
    pub(crate) arguments: Vec<KernelArgument>,
    arrays: Vec<Array<'py>>,
}

/// An array among the arguments.
struct Array<'py> {
    index: usize,
    array: Bound<'py, PyUntypedArray>,
    /// Whether the kernel may write to it.
    is_written: bool,
}

impl<'py> Call<'py> {
    /// Reads the arguments of a kernel.
    pub(crate) fn new(kernel: &LoadedKernel, values: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut call = Call {
            arguments: Vec::new(),
            arrays: Vec::new(),
        };
        if values.is_instance_of::<PyUntypedArray>() {
            return Err(ArgumentError::new_err(
                "args is one array; it must be a list or tuple with all arguments, as in [x]",
            ));
        }
        let values: Vec<Bound<'py, PyAny>> = values
            .try_iter()
            .map_err(|_| {
                ArgumentError::new_err("args must be a list or tuple with the kernel's arguments")
            })?
            .collect::<PyResult<_>>()?;
        for (index, value) in values.iter().enumerate() {
            // The launch itself complains about a wrong number.
            let argument = match kernel.parameters().get(index) {
                Some(parameter) => call.argument(kernel, index, parameter, value)?,
                None => KernelArgument::Bytes(Vec::new()),
            };
            call.arguments.push(argument);
        }
        call.check_overlap(kernel)?;
        Ok(call)
    }

    fn argument(
        &mut self,
        kernel: &LoadedKernel,
        index: usize,
        parameter: &KernelParameter,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<KernelArgument> {
        let wrong = |complaint: String| {
            let kind = parameter.kind();
            ArgumentError::new_err(format!(
                "argument {index} of `{}` is {kind}, {complaint}",
                kernel.kernel().name()
            ))
        };
        if let Some(array) = as_array(value)
            .map_err(|error| wrong(format!("but its DLPack cannot be used: {error}")))?
        {
            let data = contents(&array)
                .map_err(|complaint| wrong(format!("but the array {complaint}")))?;
            let is_written = !parameter.is_read_only();
            if is_written && fields(&array).1 & npyffi::NPY_ARRAY_WRITEABLE == 0 {
                return Err(wrong(
                    "which the kernel may write to, but the array is read-only; pass a copy"
                        .to_owned(),
                ));
            }
            self.arrays.push(Array {
                index,
                array,
                is_written,
            });
            return Ok(KernelArgument::Data(data));
        }
        let given = value.get_type().name()?.to_string();
        if parameter.is_buffer() {
            return match value.is_none() {
                true => Ok(KernelArgument::Value(Element::U64, vec![0; 8])),
                false => Err(wrong(format!(
                    "but {given} is given; give an array, or None for a null pointer"
                ))),
            };
        }
        scalar(parameter, value).map_err(|complaint| {
            wrong(complaint.unwrap_or_else(|| {
                format!(
                    "but {given} is given; give int, float, a NumPy scalar, or bytes of a struct"
                )
            }))
        })
    }

    /// The device has a copy of each array, so that a write to one would not reach another that shares its memory.
    fn check_overlap(&self, kernel: &LoadedKernel) -> PyResult<()> {
        let range = |array: &Array<'py>| {
            let start = fields(&array.array).0 as usize;
            start..start + array.array.len() * array.array.dtype().itemsize()
        };
        for (number, one) in self.arrays.iter().enumerate() {
            for other in &self.arrays[number + 1..] {
                let (a, b) = (range(one), range(other));
                if (one.is_written || other.is_written) && a.start < b.end && b.start < a.end {
                    return Err(ArgumentError::new_err(format!(
                        "arguments {} and {} of `{}` share memory, and the kernel may write to it; pass a copy of one",
                        one.index,
                        other.index,
                        kernel.kernel().name()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Copies what the kernel may have written back to the arrays.
    ///
    /// # Errors
    /// If an array is no longer as it was: `resize(refcheck=False)` frees memory that others use.
    pub(crate) fn write_back(&self, after: &[BufferAfter]) -> PyResult<()> {
        for buffer in after {
            let array = self
                .arrays
                .iter()
                .find(|array| array.index == buffer.argument);
            let Some(Array { array, .. }) = array.filter(|array| array.is_written) else {
                continue;
            };
            let bytes = &buffer.data.bytes;
            let (data, flags) = fields(array);
            if array.len() * array.dtype().itemsize() != bytes.len()
                || !array.is_c_contiguous()
                || flags & npyffi::NPY_ARRAY_WRITEABLE == 0
            {
                return Err(ArgumentError::new_err(format!(
                    "argument {}: the array was resized or made read-only during the launch, so that it cannot take the result",
                    buffer.argument
                )));
            }
            // SAFETY: the array is contiguous and writable, and has as many bytes as are copied. The interpreter is attached, so
            // that no other thread runs Python code.
            unsafe { data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        Ok(())
    }
}

/// An array's first byte and flags.
fn fields(array: &Bound<'_, PyUntypedArray>) -> (*mut u8, i32) {
    // SAFETY: the object is an array, and the interpreter is attached, as `Bound` proves.
    let fields = unsafe { &*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
    (fields.data.cast(), fields.flags)
}

/// The array that a value is, or shares its memory through DLPack.
fn as_array<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(Some(array.clone()));
    }
    // NumPy's scalars have the attribute too, in some versions.
    if is_numpy_scalar(value)? || !value.hasattr("__dlpack__")? {
        return Ok(None);
    }
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("from_dlpack", (value,))?;
    Ok(Some(array.cast_into::<PyUntypedArray>()?))
}

fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.is_instance(&value.py().import("numpy")?.getattr("generic")?)
}

/// The type of a NumPy array's or scalar's elements. Types of one byte without a name here pass as bytes, which fit any type.
fn element(name: &str, bytes: usize) -> Result<Element, String> {
    let known = match name {
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float32" => "f32",
        "float64" => "f64",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int64" => "i64",
        "uint8" | "bool" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        name if bytes == 1 && name.starts_with("float8") => "u8",
        _ => {
            return Err(format!(
                "has elements of {name}; allowed are integers, floats of 8 to 64 bits, and bool: `.view(numpy.uint8)` passes others \
                 as bytes"
            ));
        }
    };
    Element::named(known)
}

fn contents(array: &Bound<'_, PyUntypedArray>) -> Result<BufferData, String> {
    let dtype = array.dtype();
    let name = dtype
        .getattr("name")
        .map_or_else(|_| dtype.to_string(), |name| name.to_string());
    let element = element(&name, dtype.itemsize())?;
    if dtype.is_native_byteorder() == Some(false) {
        return Err(
            "has elements in the other byte order; `.astype` of the native type copies them"
                .to_owned(),
        );
    }
    if !array.is_c_contiguous() {
        return Err(match array.is_fortran_contiguous() {
            true => "is in Fortran's order; its transpose, `.T`, is the same memory in C's order"
                .to_owned(),
            false => format!(
                "is not contiguous (shape {:?}, strides {:?}); `numpy.ascontiguousarray` makes a copy that is",
                array.shape(),
                array.strides()
            ),
        });
    }
    let bytes = array.len() * dtype.itemsize();
    let (data, _) = fields(array);
    let bytes = match bytes {
        0 => Vec::new(),
        // SAFETY: the array is contiguous, so that it has these bytes, and they are its elements. The interpreter is attached.
        bytes => unsafe { slice::from_raw_parts(data, bytes) }.to_vec(),
    };
    Ok(BufferData {
        element,
        shape: array.shape().to_vec(),
        bytes,
    })
}

/// A value's bytes for a parameter. The error is nothing if the value has a type that is none of those allowed.
fn scalar(
    parameter: &KernelParameter,
    value: &Bound<'_, PyAny>,
) -> Result<KernelArgument, Option<String>> {
    let bytes = parameter.bytes();
    let known = parameter.scalar();
    let failed = |error: PyErr| Some(format!("but {error}"));
    if is_numpy_scalar(value).map_err(failed)? {
        let dtype = value.getattr("dtype").map_err(failed)?;
        let name = dtype.getattr("name").map_err(failed)?.to_string();
        let raw: Vec<u8> = value
            .call_method0("tobytes")
            .and_then(|bytes| bytes.extract())
            .map_err(failed)?;
        let element = element(&name, raw.len())
            .map_err(|complaint| Some(format!("but the value {complaint}")))?;
        return Ok(KernelArgument::Value(element, raw));
    }
    if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        return Ok(KernelArgument::Bytes(value.extract().map_err(failed)?));
    }
    let float = |known: bool| match bytes {
        2 if known => Some(Element::F16),
        4 => Some(Element::F32),
        8 => Some(Element::F64),
        _ => None,
    };
    if value.is_instance_of::<PyFloat>() {
        let number: f64 = value.extract().map_err(failed)?;
        let element = match known {
            Some(scalar) if !scalar.is_float => {
                return Err(Some("but a float is given".to_owned()));
            }
            known => float(known.is_some()),
        };
        let element = element.ok_or_else(|| {
            Some("but a float is given, whose type is not known here; give a NumPy scalar, such as numpy.float16(1)".to_owned())
        })?;
        return Ok(KernelArgument::Value(element, element.float(number)));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
        let number = value.call_method0("__int__").map_err(failed)?.to_string();
        if known.is_some_and(|scalar| scalar.is_float) {
            let element = float(true).ok_or_else(|| Some("but int is given".to_owned()))?;
            let number: f64 = value.extract().map_err(failed)?;
            return Ok(KernelArgument::Value(element, element.float(number)));
        }
        let kind = if number.starts_with('-') { "i" } else { "u" };
        let element = Element::named(&format!("{kind}{}", 8 * bytes))
            .map_err(|_| Some("but int is given; give the struct's bytes".to_owned()))?;
        let value = element
            .parse(&number)
            .map_err(|_| Some(format!("but {number} does not fit into {bytes} bytes")))?;
        return Ok(KernelArgument::Value(element, value));
    }
    Err(None)
}
