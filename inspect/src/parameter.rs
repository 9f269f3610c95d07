//! What a kernel takes.

use std::borrow::Cow;

use ferrowave_code_object::{Argument, CodeObject, Kernel, Parameter, Scalar, ValueKind};

use crate::Element;

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct KernelParameter {
    argument: Argument,
    /// The source-level parameter, if the code object describes it.
    source: Option<Parameter>,
}

/// What a kernel of a code object takes, in order, without hidden arguments. A code object that was parsed without its
/// bytes tells no types.
pub fn parameters(object: &CodeObject, kernel: &Kernel) -> Vec<KernelParameter> {
    let arguments = kernel.metadata.args.iter();
    let arguments: Vec<_> = arguments
        .filter(|argument| !argument.value_kind.is_hidden())
        .cloned()
        .collect();
    let types = ferrowave_code_object::parameters(object.bytes(), kernel.code.start);
    // A parameter may lower to several arguments, as a slice does. The two lists then cannot be matched, and types
    // are ignored.
    let types = types.filter(|types| types.len() == arguments.len());
    let mut types = types.into_iter().flatten();
    let parameters = arguments.into_iter().map(|argument| KernelParameter {
        argument,
        source: types.next(),
    });
    parameters.collect()
}

impl KernelParameter {
    /// Whether it is a pointer to device memory.
    pub fn is_buffer(&self) -> bool {
        self.argument.value_kind == ValueKind::GlobalBuffer
    }

    /// How a launch passes it.
    pub fn value_kind(&self) -> &ValueKind {
        &self.argument.value_kind
    }

    /// Its offset in the kernarg segment.
    pub fn offset(&self) -> usize {
        self.argument.offset as usize
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.argument.size as usize
    }

    /// Its type in the source, if the code object's debug information has types.
    pub fn type_name(&self) -> Option<&str> {
        Some(&self.source.as_ref()?.type_name)
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
