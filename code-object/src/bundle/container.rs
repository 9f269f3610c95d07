//! Finds the code objects in a file.

use std::borrow::Cow;

use super::{Bundle, BundleError, part};

/// The first bytes of an ELF file.
const ELF_MAGIC: &[u8] = b"\x7fELF";

/// A code object in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundObject<'a> {
    /// The name of its bundle entry, if it comes from a bundle.
    pub entry: Option<String>,
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
}

/// All code objects in a file: the file itself, the entries of a bundle, or the entries of the bundles in section
/// `.hip_fatbin` of a host program or library. Entries that are not ELF files, such as the empty host entry, are left
/// out.
///
/// # Errors
/// [`BundleError`] if the file is of another kind or the bundle is malformed.
pub fn code_objects(bytes: &[u8]) -> Result<Vec<FoundObject<'_>>, BundleError> {
    if bytes.starts_with(ELF_MAGIC) {
        let Some(section) = fat_binary_section(bytes) else {
            // A host file without code. A short or otherwise wrong header is left to the reader of code objects, which
            // reports it.
            if bytes
                .get(E_MACHINE)
                .is_some_and(|machine| machine != EM_AMDGPU)
            {
                return Err(BundleError::NoGpuCode);
            }
            return Ok(vec![FoundObject {
                entry: None,
                bytes: Cow::Borrowed(bytes),
            }]);
        };
        let mut found = Vec::new();
        let mut rest = section;
        // The section holds one bundle per translation unit, each aligned to a page.
        while let Some(start) = next_bundle(rest) {
            rest = &rest[start..];
            from_bundle(Bundle::parse(rest)?, &mut found);
            let length = Bundle::length(|offset, size| {
                part(rest, offset, size, "a bundle").map(<[u8]>::to_vec)
            })?;
            rest = rest.get(length as usize..).unwrap_or_default();
        }
        return Ok(found);
    }
    let mut found = Vec::new();
    from_bundle(Bundle::parse(bytes)?, &mut found);
    Ok(found)
}

fn from_bundle(bundle: Bundle<'_>, found: &mut Vec<FoundObject<'_>>) {
    for entry in bundle.entries() {
        if entry.bytes.starts_with(ELF_MAGIC) {
            found.push(FoundObject {
                entry: Some(entry.name.to_owned()),
                bytes: Cow::Owned(entry.bytes.to_vec()),
            });
        }
    }
}

/// Bytes of `e_machine` in the ELF header, and their value in code objects.
const E_MACHINE: std::ops::Range<usize> = 18..20;
const EM_AMDGPU: [u8; 2] = 224_u16.to_le_bytes();

/// The section of a host ELF file that holds GPU code.
fn fat_binary_section(bytes: &[u8]) -> Option<&[u8]> {
    use object::{Object as _, ObjectSection as _};
    let file: object::read::elf::ElfFile64<'_> = object::read::elf::ElfFile64::parse(bytes).ok()?;
    file.section_by_name(".hip_fatbin")?.data().ok()
}

/// The offset of the next bundle.
fn next_bundle(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len())
        .step_by(8)
        .find(|&start| Bundle::is_bundle(&bytes[start..]))
}
