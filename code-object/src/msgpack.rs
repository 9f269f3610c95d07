//! MessagePack values that know their path, for errors.

use std::fmt;

use rmpv::{ValueRef, decode::read_value_ref_with_max_depth};

use crate::CodeObjectError;

/// Maximum size of a metadata note. A kernel takes 1 to 3 KB, and libraries have up to a few thousand; a decoded value
/// takes about 40 times its bytes.
const MAX_BYTES: usize = 64 << 20;

/// Maximum nesting. AMD's metadata nests five levels.
const MAX_DEPTH: usize = 32;

/// Decodes a whole note.
pub(crate) fn decode(bytes: &[u8]) -> Result<ValueRef<'_>, CodeObjectError> {
    if bytes.len() > MAX_BYTES {
        return Err(CodeObjectError::MetadataTooLarge {
            size: bytes.len(),
            limit: MAX_BYTES,
        });
    }
    let mut rest = bytes;
    let value = read_value_ref_with_max_depth(&mut rest, MAX_DEPTH).map_err(|error| {
        CodeObjectError::MetadataEncoding {
            reason: error.to_string(),
        }
    })?;
    if !rest.is_empty() {
        return Err(CodeObjectError::MetadataEncoding {
            reason: format!("{} bytes follow the value", rest.len()),
        });
    }
    Ok(value)
}

/// The path of a value, as a chain to the root. It is only formatted for errors.
#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p Step<'p>, &'p str),
    Index(&'p Step<'p>, usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Root => Ok(()),
            Step::Key(Step::Root, key) => f.write_str(key),
            // Keys below the top level start with a dot already.
            Step::Key(parent, key) => write!(f, "{parent}{key}"),
            Step::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A value and its path.
pub(crate) struct Node<'p, 'v> {
    value: &'v ValueRef<'v>,
    step: Step<'p>,
}

impl<'p, 'v> Node<'p, 'v> {
    pub(crate) fn root(value: &'v ValueRef<'v>) -> Self {
        Node {
            value,
            step: Step::Root,
        }
    }

    /// The value itself.
    pub(crate) fn value(&self) -> &'v ValueRef<'v> {
        self.value
    }

    /// An error that names this value's path.
    pub(crate) fn error(&self, reason: impl Into<String>) -> CodeObjectError {
        CodeObjectError::Metadata {
            path: self.step.to_string(),
            reason: reason.into(),
        }
    }

    fn wrong_type(&self, expected: &str) -> CodeObjectError {
        let found = match self.value {
            ValueRef::Nil => "nil".to_owned(),
            ValueRef::Boolean(value) => value.to_string(),
            ValueRef::Integer(value) => value.to_string(),
            ValueRef::F32(value) => value.to_string(),
            ValueRef::F64(value) => value.to_string(),
            ValueRef::String(text) => match text.as_str() {
                Some(text) => format!("{text:?}"),
                None => "text that is not UTF-8".to_owned(),
            },
            ValueRef::Binary(_) => "binary data".to_owned(),
            ValueRef::Array(_) => "an array".to_owned(),
            ValueRef::Map(_) => "a map".to_owned(),
            ValueRef::Ext(..) => "an extension".to_owned(),
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    pub(crate) fn text(&self) -> Result<&'v str, CodeObjectError> {
        match self.value {
            ValueRef::String(text) => text.as_str(),
            _ => None,
        }
        .ok_or_else(|| self.wrong_type("a text"))
    }

    pub(crate) fn u32(&self) -> Result<u32, CodeObjectError> {
        self.value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.wrong_type("an integer from 0 to 4294967295"))
    }

    /// Reads a flag: a boolean, or 0 or 1, which some writers use.
    fn flag(&self) -> Result<bool, CodeObjectError> {
        match (self.value, self.value.as_u64()) {
            (ValueRef::Boolean(flag), _) => Ok(*flag),
            (_, Some(0)) => Ok(false),
            (_, Some(1)) => Ok(true),
            _ => Err(self.wrong_type("a boolean")),
        }
    }

    pub(crate) fn u32_array<const N: usize>(&self) -> Result<[u32; N], CodeObjectError> {
        let values = self.list(|node| node.u32())?;
        let count = values.len();
        values
            .try_into()
            .map_err(|_| self.error(format!("has {count} elements, expected {N}")))
    }

    pub(crate) fn list<T>(
        &self,
        mut each: impl FnMut(Node<'_, 'v>) -> Result<T, CodeObjectError>,
    ) -> Result<Vec<T>, CodeObjectError> {
        let ValueRef::Array(values) = self.value else {
            return Err(self.wrong_type("an array"));
        };
        values
            .iter()
            .enumerate()
            .map(|(index, value)| {
                each(Node {
                    value,
                    step: Step::Index(&self.step, index),
                })
            })
            .collect()
    }

    /// The value as a map. Entries whose key is not text are ignored.
    pub(crate) fn map(&self) -> Result<Map<'_, 'v>, CodeObjectError> {
        let ValueRef::Map(pairs) = self.value else {
            return Err(self.wrong_type("a map"));
        };
        let mut entries = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            if let ValueRef::String(key) = key
                && let Some(key) = key.as_str()
            {
                entries.push((key, value));
            }
        }
        entries.sort_unstable_by_key(|(key, _)| *key);
        if let Some([(key, _), _]) = entries.array_windows().find(|[(a, _), (b, _)]| a == b) {
            return Err(self.error(format!("has key {key:?} twice")));
        }
        Ok(Map {
            step: &self.step,
            entries,
        })
    }
}

/// A map with text keys.
pub(crate) struct Map<'p, 'v> {
    step: &'p Step<'p>,
    /// Sorted by key.
    entries: Vec<(&'v str, &'v ValueRef<'v>)>,
}

impl<'p, 'v> Map<'p, 'v> {
    pub(crate) fn optional(&self, key: &'p str) -> Option<Node<'p, 'v>> {
        let step = Step::Key(self.step, key);
        let found = self.entries.binary_search_by_key(&key, |(key, _)| *key);
        let (_, value) = self.entries.get(found.ok()?)?;
        Some(Node { value, step })
    }

    pub(crate) fn required(&self, key: &'p str) -> Result<Node<'p, 'v>, CodeObjectError> {
        self.optional(key).ok_or_else(|| CodeObjectError::Metadata {
            path: Step::Key(self.step, key).to_string(),
            reason: "is missing".to_owned(),
        })
    }

    pub(crate) fn optional_with<T>(
        &self,
        key: &'p str,
        read: impl FnOnce(&Node<'p, 'v>) -> Result<T, CodeObjectError>,
    ) -> Result<Option<T>, CodeObjectError> {
        self.optional(key).map(|node| read(&node)).transpose()
    }

    /// Reads a flag; false if the key is absent.
    pub(crate) fn flag(&self, key: &'p str) -> Result<bool, CodeObjectError> {
        Ok(self.optional_with(key, Node::flag)?.unwrap_or(false))
    }
}
