//! Code objects in files of any kind.

use std::borrow::Cow;

use super::{Bundle, BundleError, part};

/// What an ELF file begins with.
const ELF_MAGIC: &[u8] = b"\x7fELF";

/// A code object in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundObject<'a> {
    /// The name of the bundle's entry that it is, if it is one.
    pub entry: Option<String>,
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
}

/// All code objects in a file: a code object itself, a bundle, or a program or library of the host with bundles in its
/// section `.hip_fatbin`. Entries that are no ELF file
/// (the host's are empty) are left out.
///
/// # Errors
/// [`BundleError`] for a file of another kind or a damaged bundle.
pub fn code_objects(bytes: &[u8]) -> Result<Vec<FoundObject<'_>>, BundleError> {
    if bytes.starts_with(ELF_MAGIC) {
        let Some(section) = fat_binary_section(bytes) else {
            // Of a header that is whole: what else is wrong with it, its reader says.
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
        // Bundles of several translation units stand behind each other, each at a page's start.
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

/// Where an ELF header says for what machine the file is, and what it says in code objects.
const E_MACHINE: std::ops::Range<usize> = 18..20;
const EM_AMDGPU: [u8; 2] = 224_u16.to_le_bytes();

/// The section that a host's ELF file keeps code for GPUs in.
fn fat_binary_section(bytes: &[u8]) -> Option<&[u8]> {
    use object::{Object as _, ObjectSection as _};
    let file: object::read::elf::ElfFile64<'_> = object::read::elf::ElfFile64::parse(bytes).ok()?;
    file.section_by_name(".hip_fatbin")?.data().ok()
}

/// Where the next bundle begins.
fn next_bundle(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len())
        .step_by(8)
        .find(|&start| Bundle::is_bundle(&bytes[start..]))
}
