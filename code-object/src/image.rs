//! The memory image of a code object: its segments, and the relocations to apply to them.

use std::ops::Range;

use object::{
    LittleEndian as LE, elf,
    read::elf::{Dyn as _, ProgramHeader as _, Rela as _},
};

use crate::{
    CodeObjectError,
    dynamic_symbols::{DynamicSymbols, RelocationTarget},
};

/// Maximum size of an image in bytes. Real images have a few megabytes; a corrupt header could ask for the whole
/// address space.
pub const MAX_IMAGE_BYTES: u64 = 1 << 30;

/// A part of the image: a `PT_LOAD` program header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address of the first byte, relative to the load address.
    pub address: u64,
    /// Size in memory, in bytes. Bytes that the file does not provide are zero.
    pub memory_size: u64,
    /// The range of its contents in the file.
    pub file_range: Range<usize>,
    /// `PF_R`.
    pub readable: bool,
    /// `PF_W`.
    pub writable: bool,
    /// `PF_X`.
    pub executable: bool,
}

impl Segment {
    /// Addresses of the segment, relative to the load address.
    pub fn addresses(&self) -> Range<u64> {
        self.address..self.address + self.memory_size
    }
}

/// How a relocation computes its value. Names are LLVM's (`AMDGPUUsage`, table «AMDGPU ELF Relocation Records»): S is
/// the symbol, A the addend, B the load address, P the relocated address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum RelocationKind {
    /// `R_AMDGPU_ABS32_LO`: low half of S + A.
    Abs32Lo = 1,
    /// `R_AMDGPU_ABS32_HI`: high half of S + A.
    Abs32Hi = 2,
    /// `R_AMDGPU_ABS64`: S + A.
    Abs64 = 3,
    /// `R_AMDGPU_REL32`: S + A − P.
    Rel32 = 4,
    /// `R_AMDGPU_REL64`: S + A − P.
    Rel64 = 5,
    /// `R_AMDGPU_ABS32`: S + A, which must fit in 32 bits.
    Abs32 = 6,
    /// `R_AMDGPU_REL32_LO`: low half of S + A − P.
    Rel32Lo = 10,
    /// `R_AMDGPU_REL32_HI`: high half of S + A − P.
    Rel32Hi = 11,
    /// `R_AMDGPU_RELATIVE64`: B + A.
    Relative64 = 13,
}

impl RelocationKind {
    /// All supported relocations.
    pub const ALL: [RelocationKind; 9] = [
        RelocationKind::Abs32Lo,
        RelocationKind::Abs32Hi,
        RelocationKind::Abs64,
        RelocationKind::Rel32,
        RelocationKind::Rel64,
        RelocationKind::Abs32,
        RelocationKind::Rel32Lo,
        RelocationKind::Rel32Hi,
        RelocationKind::Relative64,
    ];

    /// The size of the relocated field, in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            RelocationKind::Abs64 | RelocationKind::Rel64 | RelocationKind::Relative64 => 8,
            _ => 4,
        }
    }

    pub(crate) fn names() -> String {
        Self::ALL
            .map(|kind| format!("{} ({kind:?})", kind as u32))
            .join(", ")
    }
}

/// A dynamic relocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The address of the relocated field, relative to the load address.
    pub address: u64,
    /// How the value is computed.
    pub kind: RelocationKind,
    /// Its target; for `Relative64`, always the start of the image.
    pub target: RelocationTarget,
    /// The addend.
    pub addend: i64,
}

/// The segments and relocations, checked to lie within the file and the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) segments: Vec<Segment>,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) size: u64,
    pub(crate) align: u64,
}

type ProgramHeaders<'a> = &'a [elf::ProgramHeader64<LE>];

impl Image {
    /// Reads the segments.
    pub(crate) fn parse(
        bytes: &[u8],
        program_headers: ProgramHeaders<'_>,
    ) -> Result<Self, CodeObjectError> {
        let mut image = Image {
            align: 1,
            ..Image::default()
        };
        for header in program_headers {
            if header.p_type(LE) != elf::PT_LOAD || header.p_memsz(LE) == 0 {
                continue;
            }
            let (address, memory_size) = (header.p_vaddr(LE), header.p_memsz(LE));
            let (offset, file_size) = header.file_range(LE);
            let align = header.p_align(LE).max(1);
            let end = address
                .checked_add(memory_size)
                .filter(|&end| end <= MAX_IMAGE_BYTES)
                .ok_or(CodeObjectError::ImageTooLarge {
                    address,
                    size: memory_size,
                })?;
            if file_size > memory_size {
                return Err(CodeObjectError::SegmentSize {
                    address,
                    file_size,
                    memory_size,
                });
            }
            if address < image.size {
                return Err(CodeObjectError::SegmentOverlap {
                    address,
                    previous_end: image.size,
                });
            }
            if !align.is_power_of_two() || align > MAX_IMAGE_BYTES {
                return Err(CodeObjectError::SegmentAlign { address, align });
            }
            let file_range = usize::try_from(offset)
                .ok()
                .zip(usize::try_from(file_size).ok())
                .and_then(|(offset, size)| Some(offset..offset.checked_add(size)?))
                .filter(|range| range.end <= bytes.len())
                .ok_or_else(|| CodeObjectError::Elf {
                    what: "segment",
                    reason: format!(
                        "{file_size:#x} bytes at file offset {offset:#x} reach past the file's {:#x}",
                        bytes.len()
                    ),
                })?;
            let flags = header.p_flags(LE).0;
            image.segments.push(Segment {
                address,
                memory_size,
                file_range,
                readable: flags & elf::PF_R.0 != 0,
                writable: flags & elf::PF_W.0 != 0,
                executable: flags & elf::PF_X.0 != 0,
            });
            image.size = end;
            image.align = image.align.max(align);
        }
        if image.segments.is_empty() {
            return Err(CodeObjectError::NoSegments);
        }
        Ok(image)
    }

    /// The segment that contains the `size` bytes at `address`.
    pub(crate) fn segment(&self, address: u64, size: u64) -> Option<&Segment> {
        let after = self
            .segments
            .partition_point(|segment| segment.address <= address);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        let end = address.checked_add(size)?;
        (end <= segment.addresses().end).then_some(segment)
    }

    /// The range in the file of the `size` bytes at `address`, if one segment has them there.
    pub(crate) fn file_range(&self, address: u64, size: u64) -> Option<Range<usize>> {
        let segment = self.segment(address, size)?;
        let start = usize::try_from(address - segment.address)
            .ok()?
            .checked_add(segment.file_range.start)?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        (end <= segment.file_range.end).then_some(start..end)
    }

    /// Reads the relocations that the dynamic table lists.
    pub(crate) fn read_relocations(
        &mut self,
        bytes: &[u8],
        program_headers: ProgramHeaders<'_>,
        symbols: &DynamicSymbols<'_>,
    ) -> Result<(), CodeObjectError> {
        let mut entries = &[][..];
        for header in program_headers {
            if let Some(dynamic) = header
                .dynamic(LE, bytes)
                .map_err(CodeObjectError::elf("dynamic table"))?
            {
                entries = dynamic;
            }
        }
        let (mut address, mut size) = (None, 0);
        for entry in entries {
            let value = entry.d_val(LE);
            match entry.d_tag(LE) {
                elf::DT_NULL => break,
                elf::DT_RELA => address = Some(value),
                elf::DT_RELASZ => size = value,
                elf::DT_RELAENT if value != RELA_BYTES => {
                    return Err(CodeObjectError::Dynamic {
                        tag: "DT_RELAENT",
                        found: value,
                        expected: "0x18",
                    });
                }
                elf::DT_SYMTAB if value != symbols.address => {
                    return Err(CodeObjectError::Dynamic {
                        tag: "DT_SYMTAB",
                        found: value,
                        expected: "the address of section .dynsym",
                    });
                }
                // Ignoring these would leave wrong values in memory.
                elf::DT_REL => return Err(unsupported("DT_REL")),
                elf::DT_RELR => return Err(unsupported("DT_RELR")),
                elf::DT_JMPREL => return Err(unsupported("DT_JMPREL")),
                _ => {}
            }
        }
        let Some(address) = address else {
            return Ok(());
        };
        if size % RELA_BYTES != 0 {
            return Err(CodeObjectError::Dynamic {
                tag: "DT_RELASZ",
                found: size,
                expected: "a multiple of 0x18",
            });
        }
        let range = self
            .file_range(address, size)
            .ok_or(CodeObjectError::Dynamic {
                tag: "DT_RELA",
                found: address,
                expected: "the address of a table inside a loadable segment",
            })?;
        let (table, _) = object::slice_from_bytes::<elf::Rela64<LE>>(
            &bytes[range],
            (size / RELA_BYTES) as usize,
        )
        .map_err(|()| CodeObjectError::Elf {
            what: "relocations",
            reason: "the table is cut short".to_owned(),
        })?;
        for entry in table {
            self.relocations.extend(self.relocation(entry, symbols)?);
        }
        Ok(())
    }

    fn relocation(
        &self,
        entry: &elf::Rela64<LE>,
        symbols: &DynamicSymbols<'_>,
    ) -> Result<Option<Relocation>, CodeObjectError> {
        let address = entry.r_offset(LE);
        let number = entry.r_type(LE, false).0;
        if number == 0 {
            // R_AMDGPU_NONE
            return Ok(None);
        }
        let kind = RelocationKind::ALL
            .into_iter()
            .find(|&kind| kind as u32 == number)
            .ok_or(CodeObjectError::RelocationType {
                address,
                kind: number,
            })?;
        if self.segment(address, kind.bytes()).is_none() {
            return Err(CodeObjectError::RelocationAddress { address });
        }
        let target = if kind == RelocationKind::Relative64 {
            RelocationTarget::Image(0)
        } else {
            symbols.target(entry.r_sym(LE, false), address)?
        };
        Ok(Some(Relocation {
            address,
            kind,
            target,
            addend: entry.r_addend(LE),
        }))
    }

    /// Passes the image for load address `base` to `write`, by offset: first the contents of the segments, then the
    /// relocated values. All other bytes are zero.
    pub(crate) fn write<E: From<CodeObjectError>>(
        &self,
        bytes: &[u8],
        base: u64,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !base.is_multiple_of(self.align) || base.checked_add(self.size).is_none() {
            return Err(E::from(CodeObjectError::LoadAddress {
                base,
                align: self.align,
                size: self.size,
            }));
        }
        for segment in &self.segments {
            let contents = bytes.get(segment.file_range.clone());
            let contents = contents.ok_or_else(|| CodeObjectError::Elf {
                what: "segment",
                reason: "the file was not kept, or is shorter than when it was parsed".to_owned(),
            })?;
            write(segment.address, contents)?;
        }
        for relocation in &self.relocations {
            let value = relocation.value(base)?.to_le_bytes();
            write(
                relocation.address,
                &value[..relocation.kind.bytes() as usize],
            )?;
        }
        Ok(())
    }
}

const RELA_BYTES: u64 = size_of::<elf::Rela64<LE>>() as u64;

fn unsupported(tag: &'static str) -> CodeObjectError {
    CodeObjectError::UnsupportedDynamicTag { tag }
}

impl Relocation {
    /// The value, truncated to the size of the field; parsing has checked that the field lies in the image.
    fn value(&self, base: u64) -> Result<u64, CodeObjectError> {
        let symbol = match &self.target {
            RelocationTarget::Image(address) => base.wrapping_add(*address),
            RelocationTarget::Absolute(value) => *value,
            RelocationTarget::Undefined(name) => {
                return Err(CodeObjectError::UndefinedSymbol {
                    address: self.address,
                    name: name.clone(),
                });
            }
        };
        let absolute = symbol.wrapping_add_signed(self.addend);
        let relative = absolute.wrapping_sub(base.wrapping_add(self.address));
        let overflow = |value| CodeObjectError::RelocationOverflow {
            address: self.address,
            value,
        };
        Ok(match self.kind {
            RelocationKind::Abs64 | RelocationKind::Relative64 => absolute,
            RelocationKind::Rel64 => relative,
            RelocationKind::Abs32Lo => absolute & 0xffff_ffff,
            RelocationKind::Abs32Hi => absolute >> 32,
            RelocationKind::Rel32Lo => relative & 0xffff_ffff,
            RelocationKind::Rel32Hi => relative >> 32,
            RelocationKind::Abs32 => u32::try_from(absolute)
                .map_err(|_| overflow(absolute))?
                .into(),
            RelocationKind::Rel32 => {
                i32::try_from(relative.cast_signed()).map_err(|_| overflow(relative))?;
                relative & 0xffff_ffff
            }
        })
    }
}
