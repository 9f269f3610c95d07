//! Launching a kernel that this program knows nothing of, but what its code object says.

use std::{fs, path::Path, str::FromStr};

use ferrowave::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};
use ferrowave_code_object::{CodeObject, FoundObject, code_objects};
use half::{bf16, f16};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Failure;

/// The most bytes of one buffer: what a command line asks for beyond is a slip.
const MAX_BUFFER_BYTES: usize = 1 << 36;

/// The type of a value or of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    const ALL: [(&'static str, Element); 12] = [
        ("u8", Element::U8),
        ("i8", Element::I8),
        ("u16", Element::U16),
        ("i16", Element::I16),
        ("u32", Element::U32),
        ("i32", Element::I32),
        ("u64", Element::U64),
        ("i64", Element::I64),
        ("f16", Element::F16),
        ("bf16", Element::Bf16),
        ("f32", Element::F32),
        ("f64", Element::F64),
    ];

    fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, element)| *element).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            format!("`{name}` is no type; there are {names}")
        })
    }

    const fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    const fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64
        )
    }

    fn float(self, value: f64) -> Vec<u8> {
        match self {
            Element::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
            Element::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
            Element::F32 => (value as f32).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        }
    }

    /// The value that a text stands for, as bytes.
    fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let error = || format!("`{text}` is no value of this type");
        if self.is_float() {
            return Ok(self.float(text.parse().map_err(|_| error())?));
        }
        let value: i128 = match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).map_err(|_| error())?,
            None => text.parse().map_err(|_| error())?,
        };
        let bits = 8 * self.bytes() as u32;
        let signed = matches!(
            self,
            Element::I8 | Element::I16 | Element::I32 | Element::I64
        );
        let range = match signed {
            true => -(1_i128 << (bits - 1))..1 << (bits - 1),
            false => 0..1 << bits,
        };
        match range.contains(&value) {
            true => Ok(value.to_le_bytes()[..self.bytes()].to_vec()),
            false => Err(error()),
        }
    }
}

/// An argument as the command line has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ForeignArgument {
    /// By value.
    Value(Vec<u8>),
    /// A buffer of so many elements.
    Buffer(Contents, Element, usize),
    /// A buffer with a file's contents.
    File(String),
}

/// What is in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    Zeros,
    /// Floats from -1 to 1, integers of all bits.
    Random,
    /// Nobody has written to it.
    Uninitialized,
}

impl FromStr for ForeignArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((element, value)) = text.split_once('=') {
            return Ok(Self::Value(Element::named(element)?.parse(value)?));
        }
        let form = "write f32=1.5, zeros:64xf32, random:64xf32, uninit:64xf32 or file:PATH";
        let (contents, rest) = text.split_once(':').ok_or(form)?;
        let contents = match contents {
            "file" => return Ok(Self::File(rest.to_owned())),
            "zeros" => Contents::Zeros,
            "random" => Contents::Random,
            "uninit" => Contents::Uninitialized,
            _ => return Err(format!("`{contents}` is no kind of buffer; {form}")),
        };
        let (count, element) = rest.split_once('x').ok_or(form)?;
        let element = Element::named(element)?;
        let count: usize = count
            .parse()
            .map_err(|_| format!("`{count}` is no number of elements"))?;
        match count.checked_mul(element.bytes()) {
            Some(1..=MAX_BUFFER_BYTES) => Ok(Self::Buffer(contents, element, count)),
            _ => Err(format!(
                "{count} elements; a buffer has from 1 to {MAX_BUFFER_BYTES} bytes"
            )),
        }
    }
}

/// A launch of a kernel of a file.
pub(crate) struct Launch<'a> {
    pub(crate) file: &'a Path,
    pub(crate) kernel: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) lds_bytes: u32,
    pub(crate) arguments: &'a [ForeignArgument],
    pub(crate) seed: u64,
}

impl Launch<'_> {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let file = self.file.display();
        let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("{file}: {error}"));
        let bytes = fs::read(self.file).map_err(|error| failed(&error))?;
        let found = code_objects(&bytes).map_err(|error| failed(&error))?;
        let gpu = context.device().properties().gpu_name();
        let object = object_for(&found, gpu).ok_or_else(|| {
            let entries: Vec<_> = found.iter().filter_map(|f| f.entry.as_deref()).collect();
            failed(&format!(
                "it holds no code object for {gpu}, {}",
                match entries.is_empty() {
                    true => "choose the GPU with --device emulator:GPU".to_owned(),
                    false => format!("only: {}", entries.join(", ")),
                }
            ))
        })?;
        let module = context.load(object).map_err(|error| failed(&error))?;
        let kernel = module.kernel(self.kernel).map_err(|error| failed(&error))?;
        let places: Vec<_> = kernel
            .metadata()
            .args
            .iter()
            .filter(|argument| !argument.value_kind.is_hidden())
            .map(|argument| (argument.offset as usize, argument.size as usize))
            .collect();
        if places.len() != self.arguments.len() {
            return Err(Failure::usage(format!(
                "`{}` takes {} arguments, but --arg stands {} times",
                self.kernel,
                places.len(),
                self.arguments.len()
            )));
        }
        let mut buffers = Vec::new();
        let mut kernarg = Vec::new();
        for (index, (argument, &(offset, size))) in self.arguments.iter().zip(&places).enumerate() {
            let value = match argument {
                ForeignArgument::Value(bytes) => bytes.clone(),
                buffer => {
                    let buffer = self.buffer(context, buffer, index)?;
                    let address = buffer.address().to_le_bytes().to_vec();
                    buffers.push(buffer);
                    address
                }
            };
            if value.len() != size {
                return Err(Failure::usage(format!(
                    "argument {index} of `{}` has {size} bytes, but {} are given",
                    self.kernel,
                    value.len()
                )));
            }
            if kernarg.len() < offset + size {
                kernarg.resize(offset + size, 0);
            }
            kernarg[offset..offset + size].copy_from_slice(&value);
        }
        let config = LaunchConfig {
            grid: self.grid,
            block: self.block,
            dynamic_lds_bytes: self.lds_bytes,
        };
        let stream = context.stream().map_err(Failure::failed)?;
        // SAFETY: on the emulator an access outside of a buffer is an error, and buffers live until the end.
        unsafe { kernel.launch(&stream, &config, &Arguments::from_bytes(kernarg)) }
            .map_err(Failure::usage)?;
        stream.synchronize().map_err(Failure::failed)
    }

    fn buffer(
        &self,
        context: &Context,
        argument: &ForeignArgument,
        index: usize,
    ) -> Result<DeviceBuffer<u8>, Failure> {
        let bytes = match argument {
            ForeignArgument::File(path) => {
                fs::read(path).map_err(|error| Failure::failed(format!("{path}: {error}")))?
            }
            ForeignArgument::Buffer(Contents::Zeros, element, count) => {
                vec![0; count * element.bytes()]
            }
            ForeignArgument::Buffer(Contents::Random, element, count) => {
                let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
                rng.set_stream(index as u64);
                let mut bytes = vec![0; count * element.bytes()];
                if element.is_float() {
                    for value in bytes.chunks_exact_mut(element.bytes()) {
                        value.copy_from_slice(&element.float(rng.random_range(-1.0..1.0)));
                    }
                } else {
                    rng.fill(&mut bytes[..]);
                }
                bytes
            }
            ForeignArgument::Buffer(Contents::Uninitialized, element, count) => {
                return context
                    .allocate(count * element.bytes())
                    .map_err(Failure::failed);
            }
            ForeignArgument::Value(_) => Vec::new(),
        };
        context.upload(&bytes).map_err(Failure::failed)
    }
}

/// The bytes of the code object for a GPU.
fn object_for<'a>(found: &'a [FoundObject<'_>], gpu: &str) -> Option<&'a [u8]> {
    found
        .iter()
        .find(|found| {
            CodeObject::parse(&found.bytes).is_ok_and(|object| object.target().gpu.name() == gpu)
        })
        .map(|found| &*found.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_values_and_buffers() {
        let parse = |text: &str| text.parse::<ForeignArgument>();
        assert_eq!(
            parse("f32=1.5"),
            Ok(ForeignArgument::Value(1.5_f32.to_le_bytes().to_vec()))
        );
        assert_eq!(
            parse("i16=-2"),
            Ok(ForeignArgument::Value(vec![0xfe, 0xff]))
        );
        assert_eq!(
            parse("u64=0x10"),
            Ok(ForeignArgument::Value(vec![16, 0, 0, 0, 0, 0, 0, 0]))
        );
        assert_eq!(
            parse("random:64xbf16"),
            Ok(ForeignArgument::Buffer(Contents::Random, Element::Bf16, 64))
        );
        assert_eq!(parse("file:a:b"), Ok(ForeignArgument::File("a:b".into())));
        for (text, complaint) in [
            ("u8=256", "`256` is no value"),
            ("i8=-129", "`-129` is no value"),
            ("u32=x", "`x` is no value"),
            ("f80=1", "there are u8"),
            ("ones:3xf32", "`ones` is no kind of buffer"),
            ("zeros:xf32", "`` is no number"),
            ("zeros:0xf32", "from 1 to"),
            ("zeros:3", "write f32=1.5"),
            ("zeros", "write f32=1.5"),
            ("zeros:99999999999999999999xf32", "is no number"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
