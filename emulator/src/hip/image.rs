//! A code object or offload bundle in the caller's memory, of which nobody says how long it is.

use std::{ffi::c_void, fs::File, io, os::unix::fs::FileExt, slice};

use ferrowave_code_object::{Bundle, BundleError};
use ferrowave_hip_abi::hipError_t;

use super::error::Failure;

/// An ELF header's length.
const HEADER_BYTES: usize = 64;
/// The longest code object that is read; compilers make nothing near it.
const MAX_BYTES: u64 = 4 << 30;
/// `sh_type` of a section that has no bytes in the file.
const SHT_NOBITS: u32 = 8;

/// The caller's memory, read such that an address which is not there is an error.
enum HostMemory {
    /// The kernel reads for us.
    Checked(File),
    /// The kernel does not offer it here: as a GPU's runtime reads.
    Unchecked,
}

impl HostMemory {
    fn open() -> Self {
        File::open("/proc/self/mem").map_or(HostMemory::Unchecked, HostMemory::Checked)
    }

    /// # Safety
    /// `bytes` bytes at `address` may be read, unless the memory is checked.
    unsafe fn read(&self, address: usize, bytes: usize) -> io::Result<Vec<u8>> {
        match self {
            HostMemory::Checked(memory) => {
                let mut read = vec![0; bytes];
                memory.read_exact_at(&mut read, address as u64)?;
                Ok(read)
            }
            HostMemory::Unchecked => {
                let from = std::ptr::with_exposed_provenance(address);
                // SAFETY: the caller's promise.
                Ok(unsafe { slice::from_raw_parts(from, bytes) }.to_vec())
            }
        }
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        invalid(error)
    }
}

fn invalid(detail: impl std::fmt::Display) -> Failure {
    Failure::new(hipError_t::hipErrorInvalidImage, detail)
}

/// Copies the code object or bundle at `image`.
///
/// # Safety
/// A whole code object or bundle is at `image`; where `/proc/self/mem` can be read, any address will do.
pub(super) unsafe fn read(image: *const c_void) -> Result<Vec<u8>, Failure> {
    if image.is_null() {
        return Err(Failure::value("image is null"));
    }
    let (memory, start) = (HostMemory::open(), image.expose_provenance());
    let part = |offset: u64, bytes: u64| {
        let place = usize::try_from(offset)
            .ok()
            .and_then(|offset| start.checked_add(offset));
        let (Some(address), true) = (place, bytes <= MAX_BYTES) else {
            return Err(invalid(format_args!(
                "{bytes} bytes at offset {offset:#x} are no part of a code object"
            )));
        };
        // SAFETY: they are part of the code object, which the caller promises is there.
        unsafe { memory.read(address, bytes as usize) }.map_err(|error| {
            invalid(format_args!(
                "the image's {bytes} bytes at offset {offset:#x} cannot be read: {error}"
            ))
        })
    };
    let magic = part(0, 4)?;
    if magic != *b"\x7fELF" {
        let length = Bundle::length(part)?;
        return part(0, length);
    }
    let length = file_bytes(&part(0, HEADER_BYTES as u64)?, part)?;
    if length > MAX_BYTES {
        return Err(invalid(format_args!(
            "the image's headers speak of {length} bytes, the most is {MAX_BYTES}"
        )));
    }
    part(0, length)
}

fn number(bytes: &[u8], offset: usize, length: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(from) = bytes.get(offset..offset + length) {
        word[..length].copy_from_slice(from);
    }
    u64::from_le_bytes(word)
}

/// The end of the last part that a 64-bit ELF file's headers speak of. Whether they make sense is the loader's business.
fn file_bytes(
    header: &[u8],
    part: impl Fn(u64, u64) -> Result<Vec<u8>, Failure>,
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

    fn detail(image: &[u8]) -> String {
        // SAFETY: tests run where memory is checked.
        unsafe { read(image.as_ptr().cast()) }.unwrap_err().detail
    }

    /// One program header, one section, the section at the end.
    fn elf() -> Vec<u8> {
        let mut elf = vec![0; 300];
        elf[..4].copy_from_slice(b"\x7fELF");
        for (offset, value) in [
            (32, 64),
            (54, 56),
            (56, 1), // program headers
            (40, 120),
            (58, 64),
            (60, 2), // sections
            (64 + 8, 0),
            (64 + 32, 120), // the program header's part
            (120 + 24, 248),
            (120 + 32, 52), // the first section's part
            (184 + 4, 8),
            (184 + 24, 248),
            (184 + 32, 1 << 40), // the second has no bytes in the file
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
        // SAFETY: the code object is there.
        let read = unsafe { read(memory.as_ptr().cast()) };
        assert_eq!(read.ok(), Some(elf()));
    }

    #[test]
    fn what_is_no_code_object_is_refused() {
        assert!(detail(b"\x7fELV").contains("[7f, 45, 4c, 56]"));
        let mut small = elf();
        small[54] = 8;
        assert!(detail(&small).contains("program headers have 8 bytes each, but must have 56"));
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        // SAFETY: tests run where memory is checked.
        let low = unsafe { read(std::ptr::without_provenance(64)) };
        assert!(low.unwrap_err().detail.contains("cannot be read"));
        let mut far = elf();
        far[40..48].copy_from_slice(&(1_u64 << 46).to_le_bytes());
        assert!(detail(&far).contains("at offset 0x400000000000 cannot be read"));
        let mut long = elf();
        long[120 + 32..120 + 40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(detail(&long).contains("the most is 4294967296"));
    }
}
