//! Launching a kernel of which nothing is known but what its code object says.

use std::{fs, path::Path};

use ferrowave_code_object::{CodeObject, FoundObject, code_objects};
use ferrowave_host::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Contents, Failure, KernelArgument, Shape};

/// A launch of a kernel of a file.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    /// A code object, or a bundle with one for the device.
    pub file: &'a Path,
    /// The kernel's name.
    pub kernel: &'a str,
    /// Workgroups.
    pub grid: Shape,
    /// Work-items of a workgroup.
    pub block: Shape,
    /// LDS of a workgroup on top of the kernel's own, in bytes.
    pub lds_bytes: u32,
    /// Its arguments, in their order.
    pub arguments: &'a [KernelArgument],
    /// Seed of random data; each argument draws from a stream of its own.
    pub seed: u64,
}

impl KernelLaunch<'_> {
    /// Launches it, and waits for its end.
    ///
    /// # Errors
    /// If the file has no such kernel for the device, the arguments are not the kernel's, or it fails.
    pub fn run(&self, context: &Context) -> Result<(), Failure> {
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
                KernelArgument::Value(bytes) => bytes.clone(),
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
            grid: self.grid.0,
            block: self.block.0,
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
        argument: &KernelArgument,
        index: usize,
    ) -> Result<DeviceBuffer<u8>, Failure> {
        let bytes = match argument {
            KernelArgument::File(path) => {
                fs::read(path).map_err(|error| Failure::failed(format!("{path}: {error}")))?
            }
            KernelArgument::Buffer(Contents::Zeros, element, count) => {
                vec![0; count * element.bytes()]
            }
            KernelArgument::Buffer(Contents::Random, element, count) => {
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
            KernelArgument::Buffer(Contents::Uninitialized, element, count) => {
                return context
                    .allocate(count * element.bytes())
                    .map_err(Failure::failed);
            }
            KernelArgument::Value(_) => Vec::new(),
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
