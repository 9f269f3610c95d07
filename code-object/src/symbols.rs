//! Symbols of a code object.

use object::{
    LittleEndian as LE, elf,
    read::elf::{FileHeader as _, SectionHeader as _, SectionTable, Sym as _, SymbolTable},
};

use crate::{
    CodeObjectError,
    dynamic_symbols::{DynamicSymbols, Header, name},
    image::Image,
};

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Code: a kernel's entry point or a device function (`STT_FUNC`).
    Function,
    /// A kernel descriptor: an object whose name ends in `.kd`.
    KernelDescriptor,
    /// A global variable (`STT_OBJECT`).
    Variable,
    /// Anything else that is exported.
    Other,
}

/// A symbol that has an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name in the file.
    pub name: String,
    /// Its address, relative to the load address.
    pub address: u64,
    /// Its size in bytes; 0 if unknown.
    pub size: u64,
    /// Its kind.
    pub kind: SymbolKind,
    /// Whether it is in the dynamic symbol table, where a host can look it up.
    pub exported: bool,
}

/// The symbols that have an address, by address. Exported ones, which are in both tables of the file, appear once.
/// Labels are checked and left out: assembled libraries have a hundred per kernel.
pub(crate) fn read(
    bytes: &[u8],
    sections: &SectionTable<'_, Header>,
    dynamic: &DynamicSymbols<'_>,
    image: &Image,
) -> Result<Vec<Symbol>, CodeObjectError> {
    let all = sections
        .symbols(LE, bytes, elf::SHT_SYMTAB)
        .map_err(CodeObjectError::elf("symbol table"))?;
    let mut symbols = Vec::new();
    for (table, exported) in [(&dynamic.table, true), (&all, false)] {
        for (index, symbol) in table.symbols().iter().enumerate() {
            symbols.extend(defined(table, index, symbol, exported, sections, image)?);
        }
    }
    // Of two equal symbols, the exported one sorts first, and deduplication keeps it.
    symbols
        .sort_by(|a, b| (a.address, &a.name, !a.exported).cmp(&(b.address, &b.name, !b.exported)));
    symbols.dedup_by(|b, a| (a.address, &a.name) == (b.address, &b.name));
    Ok(symbols)
}

fn defined(
    table: &SymbolTable<'_, Header>,
    index: usize,
    symbol: &elf::Sym64<LE>,
    exported: bool,
    sections: &SectionTable<'_, Header>,
    image: &Image,
) -> Result<Option<Symbol>, CodeObjectError> {
    let Some(section) = symbol.st_shndx(LE).index() else {
        return Ok(None);
    };
    let in_memory = sections
        .section(object::SectionIndex(section.into()))
        .is_ok_and(|section| section.sh_flags(LE).0 & elf::SHF_ALLOC.0 != 0);
    let kind = symbol.st_type();
    if section == 0
        || !in_memory
        || kind == elf::STT_SECTION
        || kind == elf::STT_FILE
        || kind == elf::STT_TLS
    {
        return Ok(None);
    }
    let name = name(table, symbol, index)?;
    let (address, size) = (symbol.st_value(LE), symbol.st_size(LE));
    if address.checked_add(size).is_none_or(|end| end > image.size) {
        return Err(CodeObjectError::SymbolRange {
            name: name.to_owned(),
            address,
            size,
            image_size: image.size,
        });
    }
    let kind = match kind {
        elf::STT_FUNC => SymbolKind::Function,
        elf::STT_OBJECT if name.ends_with(".kd") => SymbolKind::KernelDescriptor,
        elf::STT_OBJECT => SymbolKind::Variable,
        _ if !exported => return Ok(None),
        _ => SymbolKind::Other,
    };
    Ok(Some(Symbol {
        name: name.to_owned(),
        address,
        size,
        kind,
        exported,
    }))
}

/// Parses the section headers.
pub(crate) fn sections<'a>(
    bytes: &'a [u8],
    header: &Header,
) -> Result<SectionTable<'a, Header>, CodeObjectError> {
    header
        .sections(LE, bytes)
        .map_err(CodeObjectError::elf("section headers"))
}
