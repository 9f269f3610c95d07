//! Launches a kernel with arguments that are checked against its parameters.

use std::{fmt::Display, path::Path};

use ferrowave_host::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};
use ferrowave_inspect::{
    BufferAfter, BufferData, Element, KernelArgument, check_count, is_npy, kernarg, unwritable,
};

use crate::{Failure, LoadedKernel, OutputFile, ProgressLine, Shape, kernel, read_file};

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
struct Placed {
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
        check_count(
            kernel.kernel.name(),
            kernel.parameters(),
            self.call.arguments.len(),
        )?;
        self.check_outputs(outputs)?;
        let after = self.call.run_and_read(&kernel)?;
        for output in outputs {
            let buffer = after.iter().find(|after| after.argument == output.argument);
            buffer.map_or(Ok(()), |buffer| output.write(buffer))?;
        }
        Ok(after)
    }

    fn load(&self, context: &Context) -> Result<LoadedKernel, Failure> {
        let file = self.file.display();
        let failed = |error: &dyn Display| Failure::failed(format!("{file}: {error}"));
        let bytes = read_file(self.file).map_err(|error| failed(&error))?;
        let module = kernel::load(context, &bytes).map_err(|error| failed(&error))?;
        LoadedKernel::find(&module, self.kernel)
            .map_err(|error| Failure::usage(format!("{file}: {error}")))
    }

    /// Checks that all outputs are buffers and can be written in the formats that their names ask for.
    fn check_outputs(&self, outputs: &[OutputFile]) -> Result<(), Failure> {
        let arguments = self.call.arguments;
        for OutputFile { argument, path } in outputs {
            let complaint = match arguments.get(*argument) {
                Some(KernelArgument::Buffer(_, element, _)) if is_npy(path) => {
                    match unwritable(*element) {
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

    fn launch(&self, loaded: &LoadedKernel) -> Result<Vec<Placed>, Failure> {
        let kernel = &loaded.kernel;
        let context = kernel.module().context();
        let read = |path: &str| read_file(Path::new(path)).map_err(|error| error.to_string());
        let arguments = self.arguments.iter().cloned();
        let arguments = arguments.map(|argument| argument.with_file(read));
        let arguments = arguments.collect::<Result<Vec<_>, _>>();
        let arguments = arguments.map_err(Failure::failed)?;
        let mut buffers = Vec::new();
        let place = |buffer: ferrowave_inspect::Buffer| {
            let memory = match &buffer.contents {
                Some(contents) => context.upload(contents),
                None => context.allocate(buffer.bytes),
            };
            let memory = memory.map_err(Failure::failed)?;
            let address = memory.address();
            buffers.push(Placed {
                argument: buffer.argument,
                element: buffer.element,
                shape: buffer.shape,
                memory,
            });
            Ok::<_, Failure>(address)
        };
        let parameters = loaded.parameters();
        let kernarg = kernarg(kernel.name(), parameters, arguments, self.seed, place)?;
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
}
