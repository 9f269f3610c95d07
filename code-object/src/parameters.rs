//! Types of kernel parameters, from the code object's DWARF debug information.
//!
//! The metadata gives an argument's size and whether it is a pointer. Its type is only in DWARF, and only if the kernel
//! was compiled with full debug information (rustc's `-C debuginfo=2`, clang's `-g`).

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit, UnitOffset, constants as dw};

use crate::lines::{Reader, dwarf};

/// Maximum length of a chain of typedefs and qualifiers. Malformed chains may be circular.
const MOST_NAMES: usize = 16;

/// A kernel parameter as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its type's name in the source language, for example `*const f32` or `const float*`.
    pub type_name: String,
    /// Whether it is a pointer; `scalar` is then the pointee.
    pub is_pointer: bool,
    /// Its type, if it is numeric.
    pub scalar: Option<Scalar>,
}

/// A numeric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Size of a value in bytes.
    pub bytes: u64,
    /// Whether it is a float. Otherwise it is a signed or unsigned integer, a boolean or a character.
    pub is_float: bool,
}

/// The parameters, in order, of the function whose code starts at `entry` (relative to the load address). `None` if the
/// debug information does not give them.
pub fn parameters(bytes: &[u8], entry: u64) -> Option<Vec<Parameter>> {
    let dwarf = dwarf(bytes)?;
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        // A malformed unit is skipped; other units may be valid.
        let Ok(unit) = dwarf.unit(header) else {
            continue;
        };
        let reader = Types {
            dwarf: &dwarf,
            unit: &unit,
        };
        if let Ok(Some(parameters)) = reader.of_function(entry) {
            return Some(parameters);
        }
    }
    None
}

type Entry = DebuggingInformationEntry<Reader>;

struct Types<'a> {
    dwarf: &'a Dwarf<Reader>,
    unit: &'a Unit<Reader>,
}

impl Types<'_> {
    fn of_function(&self, address: u64) -> gimli::Result<Option<Vec<Parameter>>> {
        let mut entries = self.unit.entries();
        let depth = loop {
            let Some(entry) = entries.next_dfs()? else {
                return Ok(None);
            };
            if entry.tag() == dw::DW_TAG_subprogram && self.begins_at(entry, address)? {
                break entry.depth();
            }
        };
        let mut parameters = Vec::new();
        while let Some(entry) = entries.next_dfs()?
            && entry.depth() > depth
        {
            if entry.depth() == depth + 1 && entry.tag() == dw::DW_TAG_formal_parameter {
                match self.parameter(entry)? {
                    Some(parameter) => parameters.push(parameter),
                    None => return Ok(None),
                }
            }
        }
        // With line tables only, functions are listed without parameters.
        Ok((!parameters.is_empty()).then_some(parameters))
    }

    fn begins_at(&self, entry: &Entry, address: u64) -> gimli::Result<bool> {
        let Some(value) = entry.attr_value(dw::DW_AT_low_pc) else {
            return Ok(false);
        };
        Ok(self.dwarf.attr_address(self.unit, value)? == Some(address))
    }

    fn parameter(&self, entry: &Entry) -> gimli::Result<Option<Parameter>> {
        // A function that was also inlined has its names and types in the abstract instance.
        let origin = match reference(entry, dw::DW_AT_abstract_origin) {
            Some(offset) => Some(self.unit.entry(offset)?),
            None => None,
        };
        let both = [Some(entry), origin.as_ref()];
        let mut both = both.into_iter().flatten();
        let Some(offset) = both.clone().find_map(|e| reference(e, dw::DW_AT_type)) else {
            return Ok(None);
        };
        let name = both.find_map(|entry| self.name(entry));
        let named = self.unit.entry(offset)?;
        let what = self.behind_names(named.clone())?;
        let is_pointer = what.tag() == dw::DW_TAG_pointer_type;
        let target = match reference(&what, dw::DW_AT_type).filter(|_| is_pointer) {
            Some(offset) => Some(self.unit.entry(offset)?),
            None => None,
        };
        let type_name = self.type_name(&named, MOST_NAMES)?;
        let number = match (is_pointer, target) {
            (true, Some(target)) => Some(self.behind_names(target)?),
            (true, None) => None,
            (false, _) => Some(what),
        };
        Ok(Some(Parameter {
            name,
            type_name,
            is_pointer,
            scalar: number.as_ref().and_then(scalar),
        }))
    }

    /// A type's name. Pointers and qualified types of C have none of their own; they are written as in C, without `restrict`.
    fn type_name(&self, entry: &Entry, most_names: usize) -> gimli::Result<String> {
        if let Some(name) = self.name(entry) {
            return Ok(name);
        }
        let inner = match reference(entry, dw::DW_AT_type) {
            Some(offset) if most_names > 0 => {
                self.type_name(&self.unit.entry(offset)?, most_names - 1)?
            }
            _ => "void".to_owned(),
        };
        let qualified = |qualifier: &str| match inner.ends_with('*') {
            true => format!("{inner} {qualifier}"),
            false => format!("{qualifier} {inner}"),
        };
        Ok(match entry.tag() {
            dw::DW_TAG_pointer_type => inner + "*",
            dw::DW_TAG_const_type => qualified("const"),
            dw::DW_TAG_volatile_type => qualified("volatile"),
            dw::DW_TAG_restrict_type => inner,
            _ => "unnamed type".to_owned(),
        })
    }

    /// Follows typedefs and qualifiers to the underlying type.
    fn behind_names(&self, mut entry: Entry) -> gimli::Result<Entry> {
        for _ in 0..MOST_NAMES {
            let stands_for_another = matches!(
                entry.tag(),
                dw::DW_TAG_typedef
                    | dw::DW_TAG_const_type
                    | dw::DW_TAG_volatile_type
                    | dw::DW_TAG_restrict_type
            );
            match reference(&entry, dw::DW_AT_type).filter(|_| stands_for_another) {
                Some(offset) => entry = self.unit.entry(offset)?,
                None => break,
            }
        }
        Ok(entry)
    }

    fn name(&self, entry: &Entry) -> Option<String> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let name = self.dwarf.attr_string(self.unit, value).ok()?;
        let name = gimli::Reader::to_string_lossy(&name).ok()?;
        Some(name.into_owned())
    }
}

fn reference(entry: &Entry, name: dw::DwAt) -> Option<UnitOffset> {
    match entry.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

fn scalar(entry: &Entry) -> Option<Scalar> {
    if entry.tag() != dw::DW_TAG_base_type {
        return None;
    }
    let AttributeValue::Encoding(encoding) = entry.attr_value(dw::DW_AT_encoding)? else {
        return None;
    };
    let is_float = match encoding {
        dw::DW_ATE_float => true,
        dw::DW_ATE_signed
        | dw::DW_ATE_unsigned
        | dw::DW_ATE_signed_char
        | dw::DW_ATE_unsigned_char
        | dw::DW_ATE_boolean
        | dw::DW_ATE_UTF => false,
        _ => return None,
    };
    let bytes = entry.attr_value(dw::DW_AT_byte_size)?.udata_value()?;
    Some(Scalar { bytes, is_float })
}
