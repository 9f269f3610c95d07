//! Arguments as a launch passes them.

use ferrowave_code_object::ValueKind;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Contents, Element, KernelArgument, KernelParameter};

/// Arguments that a kernel does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArgumentError(String);

/// A buffer that a launch needs.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The index of its argument, from 0.
    pub argument: usize,
    /// The elements' type.
    pub element: Element,
    /// Extent of each axis, in elements.
    pub shape: Vec<usize>,
    /// Its length in bytes.
    pub bytes: usize,
    /// The initial contents; `None` if it is not initialized.
    pub contents: Option<Vec<u8>>,
}

/// Checks the arguments of `kernel` against its parameters, and lays them out as the kernarg segment has them. `place`
/// makes a buffer on the device and returns its address. Each random buffer has a stream of its own of `seed`. Arguments
/// that name files are read before ([`KernelArgument::with_file`]).
///
/// # Errors
/// If the kernel takes other arguments, or the error of `place`.
pub fn kernarg<E: From<ArgumentError>>(
    kernel: &str,
    parameters: &[KernelParameter],
    arguments: Vec<KernelArgument>,
    seed: u64,
    mut place: impl FnMut(Buffer) -> Result<u64, E>,
) -> Result<Vec<u8>, E> {
    check_count(kernel, parameters, arguments.len())?;
    let mut kernarg = Vec::new();
    for (index, (argument, parameter)) in arguments.into_iter().zip(parameters).enumerate() {
        let (element, value, is_value) = match argument {
            KernelArgument::Value(element, bytes) => (Some(element), bytes, true),
            KernelArgument::Bytes(bytes) => (None, bytes, true),
            other => {
                let buffer = buffer(index, other, seed)?;
                // A buffer of bytes fits any element type.
                let element = Some(buffer.element).filter(|&element| element != Element::U8);
                (element, place(buffer)?.to_le_bytes().to_vec(), false)
            }
        };
        let given = Given {
            element,
            value: &value,
            is_value,
        };
        if let Some(complaint) = given.complaint(parameter) {
            return Err(E::from(ArgumentError(format!(
                "argument {index} of `{kernel}` is {}, {complaint}",
                parameter.kind()
            ))));
        }
        let (offset, size) = (parameter.offset(), parameter.bytes());
        if kernarg.len() < offset + size {
            kernarg.resize(offset + size, 0);
        }
        kernarg[offset..offset + size].copy_from_slice(&value);
    }
    Ok(kernarg)
}

/// Checks the number of arguments that are given.
///
/// # Errors
/// If `kernel` takes another number of them; the error lists what it takes.
pub fn check_count(
    kernel: &str,
    parameters: &[KernelParameter],
    given: usize,
) -> Result<(), ArgumentError> {
    if parameters.len() == given {
        return Ok(());
    }
    let kinds: Vec<_> = parameters.iter().map(KernelParameter::kind).collect();
    Err(ArgumentError(format!(
        "`{kernel}` takes {} arguments, but {given} are given; it takes: {}",
        parameters.len(),
        match kinds.is_empty() {
            true => "none".to_owned(),
            false => kinds.join(", "),
        }
    )))
}

/// An argument, with its type if known.
struct Given<'a> {
    element: Option<Element>,
    /// A buffer's is its address.
    value: &'a [u8],
    is_value: bool,
}

impl Given<'_> {
    /// Why it is not what the kernel takes.
    fn complaint(&self, expected: &KernelParameter) -> Option<String> {
        let is_value = self.is_value;
        Some(match expected.value_kind() {
            // A null pointer stands for a missing buffer.
            ValueKind::GlobalBuffer if is_value && self.value.iter().any(|&byte| byte != 0) => {
                "but a value is given; u64=0 is a null pointer".to_owned()
            }
            ValueKind::ByValue if !is_value => "but a buffer is given".to_owned(),
            _ if self.value.len() != expected.bytes() => match self.value.len() {
                1 => "but 1 byte is given".to_owned(),
                bytes => format!("but {bytes} bytes are given"),
            },
            _ => {
                let refused = |&element: &Element| expected.refuses(element, !is_value);
                match self.element.filter(refused)? {
                    element if is_value => format!("but {} is given", element.name()),
                    element => format!("but a buffer of {} is given", element.name()),
                }
            }
        })
    }
}

fn buffer(index: usize, argument: KernelArgument, seed: u64) -> Result<Buffer, ArgumentError> {
    match argument {
        KernelArgument::Data(data) => Ok(Buffer {
            argument: index,
            element: data.element,
            shape: data.shape,
            bytes: data.bytes.len(),
            contents: Some(data.bytes),
        }),
        KernelArgument::Buffer(contents, element, shape) => {
            let bytes = shape.iter().product::<usize>() * element.bytes();
            Ok(Buffer {
                argument: index,
                element,
                shape,
                bytes,
                contents: match contents {
                    Contents::Zeros => Some(vec![0; bytes]),
                    Contents::Random => Some(random(element, bytes, seed, index)),
                    Contents::Uninitialized => None,
                },
            })
        }
        KernelArgument::File(path) | KernelArgument::ValueOfFile(path) => {
            Err(ArgumentError(format!("`{path}` has not been read")))
        }
        KernelArgument::Value(..) | KernelArgument::Bytes(_) => {
            Err(ArgumentError(format!("argument {index} is no buffer")))
        }
    }
}

fn random(element: Element, length: usize, seed: u64, index: usize) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index as u64);
    let mut bytes = vec![0; length];
    if element.is_float() {
        for value in bytes.chunks_exact_mut(element.bytes()) {
            value.copy_from_slice(&element.float(rng.random_range(-1.0..1.0)));
        }
    } else {
        rng.fill(&mut bytes[..]);
    }
    bytes
}
