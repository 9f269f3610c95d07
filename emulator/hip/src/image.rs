//! A code object or offload bundle in a file, or in the caller's memory, where its length is not known. Only the code
//! object that matches the device is read.
//!
//! Files are read instead of mapped, because truncating a mapped file kills the process. The caller's memory is used in
//! place, because it may hold hundreds of megabytes.

use std::{
    borrow::Cow,
    ffi::c_void,
    fs,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
    ptr, slice,
};

use ferrowave_code_object::{Bundle, BundleError, Found};
use ferrowave_hip_abi::hipError_t;

use super::{
    error::{Failure, present},
    runtime::Device,
};

/// Length of an ELF header.
const HEADER_BYTES: usize = 64;
/// Maximum length of a code object, far above what compilers produce.
const MAX_BYTES: u64 = 4 << 30;
/// `sh_type` of a section without bytes in the file.
const SHT_NOBITS: u32 = 8;

/// A code object or bundle.
pub(super) enum Image {
    /// A file and its length in bytes.
    File(File, u64),
    /// The caller's memory.
    Memory {
        /// Its address.
        start: usize,
        /// Readable address ranges in ascending order, if the system reports them.
        readable: Option<Vec<Range<usize>>>,
    },
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        invalid(error)
    }
}

fn invalid(detail: impl std::fmt::Display) -> Failure {
    Failure::new(hipError_t::hipErrorInvalidImage, detail)
}

impl Image {
    /// Opens a file.
    pub(super) fn open(path: &str) -> Result<Self, Failure> {
        let opened = File::open(path).and_then(|file| {
            let bytes = file.metadata()?.len();
            Ok(Image::File(file, bytes))
        });
        opened.map_err(|error| {
            let code = match error.kind() {
                io::ErrorKind::NotFound => hipError_t::hipErrorFileNotFound,
                _ => hipError_t::hipErrorOperatingSystem,
            };
            Failure::new(code, format_args!("{path}: {error}"))
        })
    }

    /// An image at an address.
    ///
    /// # Safety
    /// The address holds a whole code object or bundle, which outlives `self` and what it returns. If the system
    /// reports which memory is readable, reading other memory is an error instead.
    pub(super) unsafe fn at(image: *const c_void) -> Result<Self, Failure> {
        present(image, "image")?;
        Ok(Image::Memory {
            start: image.expose_provenance(),
            readable: fs::read_to_string("/proc/self/maps")
                .ok()
                .map(|maps| readable(&maps)),
        })
    }

    /// The code object for a device.
    pub(super) fn object(&self, device: &Device) -> Result<Cow<'_, [u8]>, Failure> {
        let part = |offset, bytes| self.read(offset, bytes).map(Cow::into_owned);
        let magic = match self {
            Image::File(_, bytes) => part(0, 4.min(*bytes))?,
            Image::Memory { .. } => part(0, 4)?,
        };
        if magic == *b"\x7fELF" {
            return self.read(0, self.elf_bytes()?);
        }
        match Bundle::find(part, device.row.gpu, device.xnack, device.has_sramecc())? {
            Found::At(place) => self.read(place.start, place.end - place.start),
            Found::Unpacked(bytes) => Ok(bytes.into()),
            Found::Nothing(names) => Err(Failure::new(
                hipError_t::hipErrorNoBinaryForGpu,
                format_args!(
                    "the bundle has nothing for {}, only: {}",
                    device.target(),
                    names.join(", ")
                ),
            )),
        }
    }

    /// The length of the code object.
    fn elf_bytes(&self) -> Result<u64, Failure> {
        if let Image::File(_, bytes) = self {
            return Ok(*bytes);
        }
        let header = self.read(0, HEADER_BYTES as u64)?;
        let length = file_bytes(&header, |offset, bytes| self.read(offset, bytes))?;
        if length > MAX_BYTES {
            return Err(invalid(format_args!(
                "the image's headers refer to {length} bytes, more than the maximum of {MAX_BYTES}"
            )));
        }
        Ok(length)
    }

    fn read(&self, offset: u64, bytes: u64) -> Result<Cow<'_, [u8]>, Failure> {
        if bytes > MAX_BYTES {
            return Err(invalid(format_args!(
                "{bytes} bytes at offset {offset:#x} are not part of a code object"
            )));
        }
        if let Image::File(_, length) = self
            && offset.checked_add(bytes).is_none_or(|end| end > *length)
        {
            return Err(invalid(BundleError::Short {
                what: "its entries",
                offset,
                bytes,
                length: *length,
            }));
        }
        let read = match self {
            Image::File(file, _) => {
                // Zeroed memory takes no space until it is written.
                let mut read = vec![0; bytes as usize];
                // The image belongs to one call, so that no other read moves the file's position.
                let mut file = file;
                let done = file.seek(SeekFrom::Start(offset));
                let done = done.and_then(|_| file.read_exact(&mut read));
                done.map(|()| read.into())
            }
            Image::Memory { start, readable } => {
                let from = start.saturating_add(offset as usize);
                let end = from.saturating_add(bytes as usize);
                let inside = |range: &Range<usize>| range.start <= from && end <= range.end;
                match readable {
                    Some(ranges) if !ranges.iter().any(inside) => {
                        Err(io::Error::other("not all of them are readable memory"))
                    }
                    _ => {
                        let from = ptr::with_exposed_provenance(from);
                        // SAFETY: a part of the code object, which the caller of `at` guarantees.
                        Ok(unsafe { slice::from_raw_parts(from, bytes as usize) }.into())
                    }
                }
            }
        };
        read.map_err(|error| {
            invalid(format_args!(
                "the image's {bytes} bytes at offset {offset:#x} cannot be read: {error}"
            ))
        })
    }
}

/// The readable address ranges in `/proc/self/maps` (man page proc_pid_maps(5)).
fn readable(maps: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for line in maps.lines() {
        let Some((addresses, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((start, end)) = addresses.split_once('-') else {
            continue;
        };
        let [Ok(start), Ok(end)] = [start, end].map(|text| usize::from_str_radix(text, 16)) else {
            continue;
        };
        if !rest.starts_with('r') {
            continue;
        }
        match all.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => all.push(start..end),
        }
    }
    all
}

fn number(bytes: &[u8], offset: usize, length: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(from) = bytes.get(offset..offset + length) {
        word[..length].copy_from_slice(from);
    }
    u64::from_le_bytes(word)
}

/// The end of the last part that a 64-bit ELF file's headers refer to. Whether the headers are valid is checked when
/// the code object is loaded.
fn file_bytes<'a>(
    header: &[u8],
    part: impl Fn(u64, u64) -> Result<Cow<'a, [u8]>, Failure>,
) -> Result<u64, Failure> {
    // Offsets in Elf64_Ehdr, Elf64_Phdr and Elf64_Shdr.
    let programs = (
        number(header, 32, 8),
        number(header, 54, 2),
        number(header, 56, 2),
    );
    let sections = (
        number(header, 40, 8),
        number(header, 58, 2),
        number(header, 60, 2),
    );
    let mut end = HEADER_BYTES as u64;
    for (table, (offset, entry_bytes, count)) in [("program", programs), ("section", sections)] {
        if count == 0 {
            continue;
        }
        let bytes = entry_bytes * count;
        end = end.max(offset.saturating_add(bytes));
        let least = if table == "program" { 56 } else { 64 };
        if entry_bytes < least {
            return Err(invalid(format_args!(
                "the image's {table} headers have {entry_bytes} bytes each, but must have {least}"
            )));
        }
        for entry in part(offset, bytes)?.chunks_exact(entry_bytes as usize) {
            let (offset, length) = match table {
                "program" => (number(entry, 8, 8), number(entry, 32, 8)),
                _ if number(entry, 4, 4) == u64::from(SHT_NOBITS) => (0, 0),
                _ => (number(entry, 24, 8), number(entry, 32, 8)),
            };
            end = end.max(offset.saturating_add(length));
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Runtime;

    fn read(image: *const c_void) -> Result<Vec<u8>, Failure> {
        // SAFETY: the tests run where the system reports readable memory.
        let image = unsafe { Image::at(image) }?;
        let device = Runtime::get().current()?;
        image.object(&device).map(Cow::into_owned)
    }

    fn detail(image: &[u8]) -> String {
        read(image.as_ptr().cast()).unwrap_err().detail
    }

    /// One program header, one section, and section headers at the end.
    fn elf() -> Vec<u8> {
        let mut elf = vec![0; 300];
        elf[..4].copy_from_slice(b"\x7fELF");
        for (offset, value) in [
            (32, 64),
            (54, 56),
            (56, 1), // number of program headers
            (40, 120),
            (58, 64),
            (60, 2), // number of sections
            (64 + 8, 0),
            (64 + 32, 120), // size of the program header's segment
            (120 + 24, 248),
            (120 + 32, 52), // size of the first section
            (184 + 4, 8),
            (184 + 24, 248),
            (184 + 32, 1 << 40), // the second section has no bytes in the file
        ] {
            let bytes = u64::to_le_bytes(value);
            let length = if matches!(offset, 54..=60) { 2 } else { 8 };
            let length = if offset == 184 + 4 { 4 } else { length };
            elf[offset..offset + length].copy_from_slice(&bytes[..length]);
        }
        elf
    }

    #[test]
    fn headers_say_how_long_it_is() {
        let mut memory = elf();
        memory.extend([0xff; 100]);
        let read = read(memory.as_ptr().cast());
        assert_eq!(read.ok().as_deref(), Some(&*elf()));
    }

    #[test]
    fn what_is_no_code_object_is_refused() {
        assert!(detail(b"\x7fELV").contains("[7f, 45, 4c, 56]"));
        let mut small = elf();
        small[54] = 8;
        assert!(detail(&small).contains("program headers have 8 bytes each, but must have 56"));
    }

    #[test]
    fn what_can_be_read_is_joined() {
        let maps = "1000-2000 r-xp 00000000 08:01 1 /lib\n2000-4000 rw-p 0 0:0 0\n\
                    4000-5000 ---p 0 0:0 0\n5000-6000 r--p 0 0:0 0 [vvar]\nno line\n";
        assert_eq!(readable(maps), [0x1000..0x4000, 0x5000..0x6000]);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let low = read(ptr::without_provenance(64));
        assert!(low.unwrap_err().detail.contains("no address of memory"));
        let mut far = elf();
        far[40..48].copy_from_slice(&(1_u64 << 46).to_le_bytes());
        assert!(detail(&far).contains("at offset 0x400000000000 cannot be read"));
        let mut long = elf();
        long[120 + 32..120 + 40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(detail(&long).contains("the maximum of 4294967296"));
    }
}
