//! Loads kernels that are known only from their code objects, with what is known of their parameters.

use std::borrow::Cow;

use ferrowave_code_object::{
    Argument, CodeObject, FoundObject, Parameter, Scalar, ValueKind, code_objects, nearest,
    parameters,
};
use ferrowave_host::hip::{Context, Kernel, Module};

use crate::{Element, Failure};

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
        let types = found.and_then(|kernel| parameters(object.bytes(), kernel.code.start));
        let arguments = kernel.metadata().args.iter();
        let arguments: Vec<_> = arguments
            .filter(|argument| !argument.value_kind.is_hidden())
            .cloned()
            .collect();
        // A parameter may lower to several arguments, as a slice does. The two lists then cannot be matched, and types
        // are ignored.
        let types = types.filter(|types| types.len() == arguments.len());
        let mut types = types.into_iter().flatten();
        let parameters = arguments
            .into_iter()
            .map(|argument| KernelParameter {
                argument,
                source: types.next(),
            })
            .collect();
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

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct KernelParameter {
    pub(crate) argument: Argument,
    /// The source-level parameter, if the code object describes it.
    source: Option<Parameter>,
}

impl KernelParameter {
    /// Whether it is a pointer to device memory.
    pub fn is_buffer(&self) -> bool {
        self.argument.value_kind == ValueKind::GlobalBuffer
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.argument.size as usize
    }

    /// Its type, or that of what it points to, if it is known and numeric.
    pub fn scalar(&self) -> Option<Scalar> {
        self.source.as_ref()?.scalar
    }

    /// Whether the kernel is known not to write to what it points to: by its type, or because the compiler says so.
    pub fn is_read_only(&self) -> bool {
        let read_only = Some("read_only");
        let Argument {
            access,
            actual_access,
            is_const,
            ..
        } = &self.argument;
        let is_const_pointer = |source: &Parameter| {
            source.is_pointer
                && (source.type_name.starts_with("*const ")
                    || source.type_name.starts_with("const "))
        };
        *is_const
            || access.as_deref() == read_only
            || actual_access.as_deref() == read_only
            || self.source.as_ref().is_some_and(is_const_pointer)
    }

    /// Its name in the source, if it is known.
    pub fn name(&self) -> Option<&str> {
        let source = self
            .source
            .as_ref()
            .and_then(|source| source.name.as_deref());
        source.or(self.argument.name.as_deref())
    }

    /// Whether its type is known and does not take elements of this type, by value or in a buffer.
    pub(crate) fn refuses(&self, element: Element, in_buffer: bool) -> bool {
        let source = self.source.as_ref();
        let source = source.filter(|source| source.is_pointer == in_buffer);
        let scalar = source.and_then(|source| source.scalar);
        scalar.is_some_and(|scalar| !element.fits(scalar))
    }

    /// A description for messages, such as «a buffer (`x: *const f32`)».
    pub fn kind(&self) -> String {
        let argument = &self.argument;
        let kind: Cow<'_, str> = match &argument.value_kind {
            ValueKind::ByValue => format!("a value of {} bytes", argument.size).into(),
            ValueKind::GlobalBuffer => "a buffer".into(),
            other => format!("{} of {} bytes", other.as_str(), argument.size).into(),
        };
        match &self.source {
            Some(Parameter {
                name: Some(name),
                type_name,
                ..
            }) => format!("{kind} (`{name}: {type_name}`)"),
            Some(Parameter { type_name, .. }) => format!("{kind} (`{type_name}`)"),
            None => kind.into_owned(),
        }
    }
}
