//! Source locations of addresses, from the code object's DWARF line tables.

use std::{
    borrow::Cow,
    fmt,
    io::Read,
    sync::{Arc, Mutex, PoisonError},
};

use addr2line::Context;
use object::{
    LittleEndian as LE, elf,
    read::elf::{CompressionHeader as _, FileHeader as _, SectionHeader as _},
};

use crate::{MAX_IMAGE_BYTES, code_object::parse_header};

pub(crate) type Reader = gimli::EndianArcSlice<gimli::LittleEndian>;

/// A source location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The file name as given to the compiler.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The function's source name. For inlined code, the function that was inlined.
    pub function: Option<String>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("?"))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// The line tables of a code object.
///
/// If they are missing or malformed, there are no locations; reports then give addresses only.
pub struct LineTables {
    // A mutex because addr2line caches in cells; `None` if the DWARF cannot be indexed.
    context: Mutex<Option<Context<Reader>>>,
}

impl fmt::Debug for LineTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineTables").finish_non_exhaustive()
    }
}

impl LineTables {
    /// The line tables of the code object in `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let context = dwarf(bytes).and_then(|dwarf| Context::from_dwarf(dwarf).ok());
        LineTables {
            context: Mutex::new(context),
        }
    }

    /// The source location of the instruction at `address` (relative to the load address): the innermost of
    /// [`Self::frames`].
    pub fn location(&self, address: u64) -> Option<SourceLocation> {
        self.frames(address).into_iter().next()
    }

    /// The source locations of the instruction at `address`: its own, then that of each call it was inlined through,
    /// innermost first.
    pub fn frames(&self, address: u64) -> Vec<SourceLocation> {
        // No code lies there, and addr2line computes the address after it, which could overflow.
        if address >= MAX_IMAGE_BYTES {
            return Vec::new();
        }
        // A poisoned lock is safe to use: no callback of ours runs under it, and each cache is filled in one step.
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(context) = &*context else {
            return Vec::new();
        };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut locations = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let (file, line, column) = frame.location.map_or((None, None, None), |location| {
                (location.file, location.line, location.column)
            });
            let function = frame
                .function
                .as_ref()
                .and_then(|function| function.demangle().ok().map(Cow::into_owned));
            let location = SourceLocation {
                file: file.map(str::to_owned),
                line: line.filter(|&line| line > 0),
                column: column.filter(|&column| column > 0),
                function,
            };
            if location != SourceLocation::default() {
                locations.push(location);
            }
        }
        locations
    }
}

/// The debug information of the code object in `bytes`. Missing sections are empty.
pub(crate) fn dwarf(bytes: &[u8]) -> Option<gimli::Dwarf<Reader>> {
    // A small file may claim large sections.
    let mut left = MAX_IMAGE_BYTES;
    let sections = gimli::DwarfSections::load(|id| {
        Ok::<_, gimli::Error>(section(bytes, id.name(), &mut left).unwrap_or_default())
    });
    let reader = |bytes: &Arc<[u8]>| Reader::new(Arc::clone(bytes), gimli::LittleEndian);
    Some(sections.ok()?.borrow(reader))
}

/// The contents of a debug section, decompressed if the compiler or the linker has compressed it (`-gz`). At most `left` bytes
/// are decompressed, and counted.
fn section(bytes: &[u8], name: &str, left: &mut u64) -> Option<Arc<[u8]>> {
    let header = parse_header(bytes).ok()?;
    let sections = header.sections(LE, bytes).ok()?;
    let (_, section) = sections.section_by_name(LE, name.as_bytes())?;
    let data = section.data(LE, bytes).ok()?;
    let Some((compression, offset, _)) = section.compression(LE, bytes).ok()? else {
        return Some(data.into());
    };
    let packed = data.get((offset - section.sh_offset(LE)) as usize..)?;
    let length = compression.ch_size(LE);
    *left = left.checked_sub(length)?;
    let unpacking: Box<dyn Read> = match compression.ch_type(LE) {
        elf::ELFCOMPRESS_ZLIB => Box::new(flate2::read::ZlibDecoder::new(packed)),
        elf::ELFCOMPRESS_ZSTD => Box::new(ruzstd::decoding::StreamingDecoder::new(packed).ok()?),
        _ => return None,
    };
    let mut unpacked = Vec::new();
    unpacking.take(length).read_to_end(&mut unpacked).ok()?;
    (unpacked.len() as u64 == length).then(|| unpacked.into())
}
