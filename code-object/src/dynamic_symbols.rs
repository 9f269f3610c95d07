//! Dynamic symbols that relocations refer to.

use object::{
    LittleEndian as LE, elf,
    read::elf::{SectionHeader as _, SectionTable, Sym as _, SymbolTable},
};

use crate::CodeObjectError;

/// 64-bit little-endian ELF.
pub(crate) type Header = elf::FileHeader64<LE>;

/// The target of a relocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// An address relative to the load address.
    Image(u64),
    /// A number that does not depend on the load address (an `SHN_ABS` or undefined weak symbol).
    Absolute(u64),
    /// A symbol that the code object does not define. Such an object can be inspected, but not loaded.
    Undefined(String),
}

/// The dynamic symbol table.
pub(crate) struct DynamicSymbols<'a> {
    pub(crate) table: SymbolTable<'a, Header>,
    /// The section's address; 0 if the file has none, because no relocation names a symbol.
    pub(crate) address: u64,
}

impl<'a> DynamicSymbols<'a> {
    pub(crate) fn parse(
        bytes: &'a [u8],
        sections: &SectionTable<'a, Header>,
    ) -> Result<Self, CodeObjectError> {
        let table = sections
            .symbols(LE, bytes, elf::SHT_DYNSYM)
            .map_err(CodeObjectError::elf("dynamic symbol table"))?;
        let address = sections
            .section(table.section())
            .map_or(0, |section| section.sh_addr(LE));
        Ok(DynamicSymbols { table, address })
    }

    /// The target of the relocation at `address` against symbol `index`.
    pub(crate) fn target(
        &self,
        index: u32,
        address: u64,
    ) -> Result<RelocationTarget, CodeObjectError> {
        let symbol =
            self.table
                .symbols()
                .get(index as usize)
                .ok_or(CodeObjectError::RelocationSymbol {
                    address,
                    symbol: index,
                    count: self.table.len(),
                })?;
        let value = symbol.st_value(LE);
        let section = symbol.st_shndx(LE);
        // Symbol 0 is undefined; the ELF specification gives it the value 0.
        if index == 0 || section == elf::SHN_ABS {
            return Ok(RelocationTarget::Absolute(value));
        }
        if section == elf::SHN_UNDEF {
            return Ok(if symbol.is_weak() {
                RelocationTarget::Absolute(0)
            } else {
                RelocationTarget::Undefined(name(&self.table, symbol, index as usize)?.to_owned())
            });
        }
        Ok(RelocationTarget::Image(value))
    }
}

pub(crate) fn name<'a>(
    table: &SymbolTable<'a, Header>,
    symbol: &elf::Sym64<LE>,
    index: usize,
) -> Result<&'a str, CodeObjectError> {
    table
        .symbol_name(LE, symbol)
        .ok()
        .and_then(|name| std::str::from_utf8(name).ok())
        .ok_or(CodeObjectError::SymbolName { index })
}
