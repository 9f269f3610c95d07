//! Loads kernels that are known only from their code objects, with what is known of their parameters.

use ferrowave_code_object::{CodeObject, FoundObject, code_objects, nearest};
use ferrowave_host::hip::{Context, Kernel, Module};
use ferrowave_inspect::{KernelParameter, parameters};

use crate::Failure;

/// Loads the code object for the context's device from a code object, a bundle, or a program with bundles in it.
///
/// # Errors
/// If it holds none for the device.
pub fn load(context: &Context, bytes: &[u8]) -> Result<Module, Failure> {
    let found = code_objects(bytes).map_err(Failure::failed)?;
    let gpu = context.device().properties().gpu_name();
    let object = object_for(&found, gpu).ok_or_else(|| {
        let entries: Vec<_> = found.iter().filter_map(|f| f.entry.as_deref()).collect();
        let objects = found
            .iter()
            .filter_map(|f| CodeObject::parse(&f.bytes).ok());
        let gpus: Vec<_> = objects.map(|object| object.target().gpu.name()).collect();
        Failure::failed(format!(
            "it holds no code object for {gpu}, {}",
            match (entries.is_empty(), gpus.first()) {
                (true, Some(gpu)) => format!("but one for {gpu}; choose that GPU as the device"),
                (true, None) => "or none that can be read".to_owned(),
                (false, _) => format!("only: {}", entries.join(", ")),
            }
        ))
    })?;
    context.load(object).map_err(Failure::failed)
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

/// A kernel of a module, with its parameters.
#[derive(Clone, Debug)]
pub struct LoadedKernel {
    pub(crate) kernel: Kernel,
    parameters: Vec<KernelParameter>,
}

impl LoadedKernel {
    /// A kernel by its name.
    ///
    /// # Errors
    /// If the module has none of that name. The error has a similar name.
    pub fn find(module: &Module, name: &str) -> Result<Self, Failure> {
        let object = module.code_object();
        let kernel = module.kernel(name).map_err(|error| {
            let names = object
                .kernels()
                .iter()
                .map(|kernel| kernel.metadata.name.as_str());
            let meant = nearest(name, names)
                .map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            Failure::usage(format!("{error}{meant}"))
        })?;
        let found = object.kernel(name);
        let parameters = found.map_or_else(Vec::new, |kernel| parameters(object, kernel));
        Ok(LoadedKernel { kernel, parameters })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What it takes, in order.
    pub fn parameters(&self) -> &[KernelParameter] {
        &self.parameters
    }
}
