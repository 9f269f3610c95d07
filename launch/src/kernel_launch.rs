//! Launches a kernel that is known only from its code object.

use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use ferrowave_code_object::{
    Argument, CodeObject, FoundObject, KernelMetadata, Parameter, ValueKind, code_objects, nearest,
    parameters,
};
use ferrowave_host::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    BufferAfter, Contents, Element, Failure, KernelArgument, OutputFile, ProgressLine, Shape,
    array::BufferData, npy,
};

/// A launch of a kernel from a file.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    /// A code object, or a bundle with one for the device.
    pub file: &'a Path,
    /// The kernel's name.
    pub kernel: &'a str,
    /// Number of workgroups.
    pub grid: Shape,
    /// Workgroup size, in work-items.
    pub block: Shape,
    /// Dynamic LDS of a workgroup, in bytes.
    pub lds_bytes: u32,
    /// The arguments in order.
    pub arguments: &'a [KernelArgument],
    /// Seed of random data. Each argument uses a stream of its own.
    pub seed: u64,
}

/// A buffer on the device, with its element type and shape.
struct Buffer {
    argument: usize,
    element: Element,
    shape: Vec<usize>,
    memory: DeviceBuffer<u8>,
}

impl KernelLaunch<'_> {
    /// Launches the kernel and waits for it.
    ///
    /// # Errors
    /// If the file has no such kernel for the device, the arguments do not match the kernel's, or the launch fails.
    pub fn run(&self, context: &Context) -> Result<(), Failure> {
        self.launch(context, &[]).map(drop)
    }

    /// Launches the kernel, then reads all buffers and writes the `outputs` to files.
    ///
    /// # Errors
    /// As [`Self::run`], or if an output is not a buffer or its file cannot be written.
    pub fn run_and_read(
        &self,
        context: &Context,
        outputs: &[OutputFile],
    ) -> Result<Vec<BufferAfter>, Failure> {
        let mut after = Vec::new();
        for buffer in self.launch(context, outputs)? {
            let bytes = buffer.memory.to_vec().map_err(Failure::failed)?;
            after.push(BufferAfter {
                argument: buffer.argument,
                data: BufferData {
                    element: buffer.element,
                    shape: buffer.shape,
                    bytes,
                },
            });
        }
        for output in outputs {
            let buffer = after.iter().find(|after| after.argument == output.argument);
            buffer.map_or(Ok(()), |buffer| buffer.write(&output.path))?;
        }
        Ok(after)
    }

    fn launch(&self, context: &Context, outputs: &[OutputFile]) -> Result<Vec<Buffer>, Failure> {
        let failed =
            |error: &dyn Display| Failure::failed(format!("{}: {error}", self.file.display()));
        let bytes = fs::read(self.file).map_err(|error| failed(&error))?;
        let found = code_objects(&bytes).map_err(|error| failed(&error))?;
        let gpu = context.device().properties().gpu_name();
        let object = object_for(&found, gpu).ok_or_else(|| {
            let entries: Vec<_> = found.iter().filter_map(|f| f.entry.as_deref()).collect();
            failed(&format!(
                "it holds no code object for {gpu}, {}",
                match entries.is_empty() {
                    true => "choose the GPU with --device GPU, as in --device gfx90a".to_owned(),
                    false => format!("only: {}", entries.join(", ")),
                }
            ))
        })?;
        let module = context.load(object).map_err(|error| failed(&error))?;
        let kernel = module.kernel(self.kernel).map_err(|error| {
            let kernels = module.code_object().kernels().iter();
            let names = kernels.map(|kernel| kernel.metadata.name.as_str());
            let meant = nearest(self.kernel, names)
                .map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            Failure::usage(format!("{}: {error}{meant}", self.file.display()))
        })?;
        let found = module.code_object().kernel(self.kernel);
        let types = found.and_then(|kernel| parameters(object, kernel.code.start));
        let expected = self.expected(kernel.metadata(), types)?;
        self.check_outputs(outputs)?;
        let mut buffers = Vec::new();
        let mut kernarg = Vec::new();
        for (index, (argument, expected)) in self.arguments.iter().zip(&expected).enumerate() {
            let (element, value) = match argument {
                KernelArgument::Value(element, bytes) => (Some(*element), bytes.clone()),
                KernelArgument::ValueOfFile(path) => {
                    let bytes = fs::read(path);
                    let failed = |error| Failure::failed(format!("{path}: {error}"));
                    (None, bytes.map_err(failed)?)
                }
                buffer => {
                    let buffer = self.buffer(context, buffer, index)?;
                    let address = buffer.memory.address().to_le_bytes().to_vec();
                    // A buffer of bytes fits any element type.
                    let element = Some(buffer.element).filter(|&element| element != Element::U8);
                    buffers.push(buffer);
                    (element, address)
                }
            };
            self.check(index, element, &value, expected)?;
            let (offset, size) = (
                expected.argument.offset as usize,
                expected.argument.size as usize,
            );
            if kernarg.len() < offset + size {
                kernarg.resize(offset + size, 0);
            }
            kernarg[offset..offset + size].copy_from_slice(&value);
        }
        let config = LaunchConfig {
            grid: self.grid.0,
            block: self.block.0,
            dynamic_lds_bytes: self.lds_bytes,
        };
        let _line = ProgressLine::start();
        let stream = context.stream().map_err(Failure::failed)?;
        // SAFETY: the buffers outlive the launch, and nothing else uses the device. The caller who names the kernel and
        // its arguments vouches for its accesses; the emulator reports an access outside a buffer as an error.
        unsafe { kernel.launch(&stream, &config, &Arguments::from_bytes(kernarg)) }
            .map_err(Failure::usage)?;
        stream.synchronize().map_err(Failure::failed)?;
        Ok(buffers)
    }

    /// The arguments that the kernel takes. Errors if their number differs from the given one.
    fn expected<'a>(
        &self,
        metadata: &'a KernelMetadata,
        types: Option<Vec<Parameter>>,
    ) -> Result<Vec<Expected<'a>>, Failure> {
        let arguments = metadata.args.iter();
        let arguments: Vec<_> = arguments
            .filter(|argument| !argument.value_kind.is_hidden())
            .collect();
        // A parameter may lower to several arguments, as a slice does. The two lists then cannot be matched, and types
        // are ignored.
        let types = types.filter(|types| types.len() == arguments.len());
        let mut types = types.into_iter().flatten();
        let expected: Vec<_> = arguments
            .into_iter()
            .map(|argument| Expected {
                argument,
                parameter: types.next(),
            })
            .collect();
        if expected.len() == self.arguments.len() {
            return Ok(expected);
        }
        let kinds: Vec<_> = expected.iter().map(Expected::kind).collect();
        Err(Failure::usage(format!(
            "`{}` takes {} arguments, but --arg is given {} times; it takes: {}",
            self.kernel,
            expected.len(),
            self.arguments.len(),
            match kinds.is_empty() {
                true => "none".to_owned(),
                false => kinds.join(", "),
            }
        )))
    }

    /// Checks a given argument, with its type if known, against the one that the kernel takes.
    fn check(
        &self,
        index: usize,
        element: Option<Element>,
        value: &[u8],
        expected: &Expected<'_>,
    ) -> Result<(), Failure> {
        let kernel = self.kernel;
        let is_value = matches!(
            self.arguments.get(index),
            Some(KernelArgument::Value(..) | KernelArgument::ValueOfFile(_))
        );
        let size = expected.argument.size as usize;
        let complaint = match expected.argument.value_kind {
            // A null pointer stands for a missing buffer.
            ValueKind::GlobalBuffer if is_value && value.iter().any(|&byte| byte != 0) => {
                "but a value is given; u64=0 is a null pointer".to_owned()
            }
            ValueKind::ByValue if !is_value => "but a buffer is given".to_owned(),
            _ if value.len() != size => match value.len() {
                1 => "but 1 byte is given".to_owned(),
                bytes => format!("but {bytes} bytes are given"),
            },
            _ => match element.filter(|&element| expected.refuses(element, !is_value)) {
                Some(element) if is_value => format!("but {} is given", element.name()),
                Some(element) => format!("but a buffer of {} is given", element.name()),
                None => return Ok(()),
            },
        };
        Err(Failure::usage(format!(
            "argument {index} of `{kernel}` is {}, {complaint}",
            expected.kind()
        )))
    }

    /// Checks that all outputs are buffers and can be written in the formats that their names ask for.
    fn check_outputs(&self, outputs: &[OutputFile]) -> Result<(), Failure> {
        for OutputFile { argument, path } in outputs {
            let complaint = match self.arguments.get(*argument) {
                Some(KernelArgument::Buffer(_, element, _)) if npy::is_npy(path) => {
                    match npy::unwritable(*element) {
                        Some(reason) => reason,
                        None => continue,
                    }
                }
                Some(KernelArgument::Buffer(..) | KernelArgument::File(_)) => continue,
                Some(_) => "it is no buffer".to_owned(),
                None => format!("there are {} arguments, from 0", self.arguments.len()),
            };
            return Err(Failure::usage(format!(
                "argument {argument} cannot be written to `{}`: {complaint}",
                path.display()
            )));
        }
        Ok(())
    }

    fn buffer(
        &self,
        context: &Context,
        argument: &KernelArgument,
        index: usize,
    ) -> Result<Buffer, Failure> {
        let data = match argument {
            KernelArgument::File(path) => BufferData::read(&PathBuf::from(path))?,
            KernelArgument::Buffer(contents, element, shape) => {
                let length = shape.iter().product::<usize>() * element.bytes();
                let bytes = match contents {
                    Contents::Zeros => vec![0; length],
                    Contents::Random => self.random(*element, length, index),
                    Contents::Uninitialized => {
                        return Ok(Buffer {
                            argument: index,
                            element: *element,
                            shape: shape.clone(),
                            memory: context.allocate(length).map_err(Failure::failed)?,
                        });
                    }
                };
                BufferData {
                    element: *element,
                    shape: shape.clone(),
                    bytes,
                }
            }
            KernelArgument::Value(..) | KernelArgument::ValueOfFile(_) => {
                return Err(Failure::failed(format!("argument {index} is no buffer")));
            }
        };
        Ok(Buffer {
            argument: index,
            element: data.element,
            shape: data.shape,
            memory: context.upload(&data.bytes).map_err(Failure::failed)?,
        })
    }

    fn random(&self, element: Element, length: usize, index: usize) -> Vec<u8> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
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
}

/// An argument that the kernel takes.
struct Expected<'a> {
    argument: &'a Argument,
    /// The source-level parameter, if the code object describes it.
    parameter: Option<Parameter>,
}

impl Expected<'_> {
    /// Whether the parameter's type is known and does not take elements of this type, by value or in a buffer.
    fn refuses(&self, element: Element, in_buffer: bool) -> bool {
        let parameter = self.parameter.as_ref();
        let parameter = parameter.filter(|parameter| parameter.is_pointer == in_buffer);
        let scalar = parameter.and_then(|parameter| parameter.scalar);
        scalar.is_some_and(|scalar| !element.fits(scalar))
    }

    /// A description for messages.
    fn kind(&self) -> String {
        let argument = self.argument;
        let kind = match &argument.value_kind {
            ValueKind::ByValue => format!("a value of {} bytes", argument.size),
            ValueKind::GlobalBuffer => "a buffer".to_owned(),
            other => format!("{} of {} bytes", other.as_str(), argument.size),
        };
        match &self.parameter {
            Some(Parameter {
                name: Some(name),
                type_name,
                ..
            }) => format!("{kind} (`{name}: {type_name}`)"),
            Some(Parameter { type_name, .. }) => format!("{kind} (`{type_name}`)"),
            None => kind,
        }
    }
}

/// Finds the code object for a GPU.
fn object_for<'a>(found: &'a [FoundObject<'_>], gpu: &str) -> Option<&'a [u8]> {
    found
        .iter()
        .find(|found| {
            CodeObject::parse(&found.bytes).is_ok_and(|object| object.target().gpu.name() == gpu)
        })
        .map(|found| &*found.bytes)
}
