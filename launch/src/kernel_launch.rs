//! Launches a kernel with arguments that are checked against its parameters.

use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use ferrowave_code_object::ValueKind;
use ferrowave_host::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    BufferAfter, BufferData, Contents, Element, Failure, KernelArgument, KernelParameter,
    LoadedKernel, OutputFile, ProgressLine, Shape, kernel, npy,
};

/// A launch of a kernel from a file.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    /// A code object, or a bundle with one for the device.
    pub file: &'a Path,
    /// The kernel's name.
    pub kernel: &'a str,
    /// How to launch it.
    pub call: KernelCall<'a>,
}

/// A kernel's arguments, and the shape of its launch.
#[derive(Clone, Copy, Debug)]
pub struct KernelCall<'a> {
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
        self.call.run(&self.load(context)?)
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
        let kernel = self.load(context)?;
        self.call.check_count(&kernel)?;
        self.check_outputs(outputs)?;
        let after = self.call.run_and_read(&kernel)?;
        for output in outputs {
            let buffer = after.iter().find(|after| after.argument == output.argument);
            buffer.map_or(Ok(()), |buffer| buffer.write(&output.path))?;
        }
        Ok(after)
    }

    fn load(&self, context: &Context) -> Result<LoadedKernel, Failure> {
        let file = self.file.display();
        let failed = |error: &dyn Display| Failure::failed(format!("{file}: {error}"));
        let bytes = fs::read(self.file).map_err(|error| failed(&error))?;
        let module = kernel::load(context, &bytes).map_err(|error| failed(&error))?;
        LoadedKernel::find(&module, self.kernel)
            .map_err(|error| Failure::usage(format!("{file}: {error}")))
    }

    /// Checks that all outputs are buffers and can be written in the formats that their names ask for.
    fn check_outputs(&self, outputs: &[OutputFile]) -> Result<(), Failure> {
        let arguments = self.call.arguments;
        for OutputFile { argument, path } in outputs {
            let complaint = match arguments.get(*argument) {
                Some(KernelArgument::Buffer(_, element, _)) if npy::is_npy(path) => {
                    match npy::unwritable(*element) {
                        Some(reason) => reason,
                        None => continue,
                    }
                }
                Some(
                    KernelArgument::Buffer(..) | KernelArgument::Data(_) | KernelArgument::File(_),
                ) => continue,
                Some(_) => "it is no buffer".to_owned(),
                None => format!("there are {} arguments, from 0", arguments.len()),
            };
            return Err(Failure::usage(format!(
                "argument {argument} cannot be written to `{}`: {complaint}",
                path.display()
            )));
        }
        Ok(())
    }
}

impl KernelCall<'_> {
    /// Launches the kernel and waits for it.
    ///
    /// # Errors
    /// If the arguments do not match the kernel's, or the launch fails.
    pub fn run(&self, kernel: &LoadedKernel) -> Result<(), Failure> {
        self.launch(kernel).map(drop)
    }

    /// Launches the kernel, then reads all buffers.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_and_read(&self, kernel: &LoadedKernel) -> Result<Vec<BufferAfter>, Failure> {
        let mut after = Vec::new();
        for buffer in self.launch(kernel)? {
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
        Ok(after)
    }

    fn launch(&self, loaded: &LoadedKernel) -> Result<Vec<Buffer>, Failure> {
        self.check_count(loaded)?;
        let kernel = &loaded.kernel;
        let context = kernel.module().context();
        let mut buffers = Vec::new();
        let mut kernarg = Vec::new();
        for (index, (argument, parameter)) in
            self.arguments.iter().zip(loaded.parameters()).enumerate()
        {
            let (element, value) = match argument {
                KernelArgument::Value(element, bytes) => (Some(*element), bytes.clone()),
                KernelArgument::Bytes(bytes) => (None, bytes.clone()),
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
            self.check(kernel.name(), index, element, &value, parameter)?;
            let (offset, size) = (parameter.argument.offset as usize, parameter.bytes());
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

    /// Errors if the number of arguments differs from the kernel's.
    fn check_count(&self, loaded: &LoadedKernel) -> Result<(), Failure> {
        let parameters = loaded.parameters();
        if parameters.len() == self.arguments.len() {
            return Ok(());
        }
        let kinds: Vec<_> = parameters.iter().map(KernelParameter::kind).collect();
        Err(Failure::usage(format!(
            "`{}` takes {} arguments, but {} are given; it takes: {}",
            loaded.kernel.name(),
            parameters.len(),
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
        kernel: &str,
        index: usize,
        element: Option<Element>,
        value: &[u8],
        expected: &KernelParameter,
    ) -> Result<(), Failure> {
        let is_value = matches!(
            self.arguments.get(index),
            Some(
                KernelArgument::Value(..)
                    | KernelArgument::Bytes(_)
                    | KernelArgument::ValueOfFile(_)
            )
        );
        let size = expected.bytes();
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

    fn buffer(
        &self,
        context: &Context,
        argument: &KernelArgument,
        index: usize,
    ) -> Result<Buffer, Failure> {
        let data = match argument {
            KernelArgument::File(path) => BufferData::read(&PathBuf::from(path))?,
            KernelArgument::Data(data) => data.clone(),
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
            KernelArgument::Value(..)
            | KernelArgument::Bytes(_)
            | KernelArgument::ValueOfFile(_) => {
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
