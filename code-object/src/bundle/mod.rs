//! Offload bundles: containers in which compilers embed code objects for several GPUs.
//!
//! The formats are described in clang's `ClangOffloadBundler` document: the bundle itself (`__CLANG_OFFLOAD_BUNDLE__`),
//! and its compressed form (`CCOB`, versions 1 to 3, with zlib or zstd).

mod compressed;
mod container;
mod entry;
mod write;

use std::{borrow::Cow, ops::Range};

use ferrowave_gpu::Gpu;

pub use container::{FoundObject, code_objects};
pub use entry::EntryTarget;
pub use write::write_bundle;

use compressed::{Stream, unpack};

/// The first bytes of a bundle.
const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// The first bytes of a compressed bundle.
const COMPRESSED_MAGIC: &[u8] = b"CCOB";
/// Maximum number of entries of a bundle.
const MAX_ENTRIES: u64 = 4096;
/// Maximum length of an entry's name, in bytes.
const MAX_NAME_BYTES: u64 = 4096;
/// Maximum decompressed size of a bundle, in bytes.
pub const MAX_BUNDLE_BYTES: u64 = 4 << 30;

/// Why a bundle cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The bytes do not start with the magic of a code object or bundle.
    #[error(
        "neither a code object nor an offload bundle: it starts with {found:02x?}, not with 7f 45 4c 46 (ELF), \
         `__CLANG_OFFLOAD_BUNDLE__` or `CCOB`"
    )]
    Unknown {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// A host program or library without GPU code.
    #[error(
        "a program or library for the host without code for GPUs: it has no section `.hip_fatbin`"
    )]
    NoGpuCode,
    /// The bundle is truncated.
    #[error("the bundle ends at byte {length}, inside {what} of {bytes} bytes at {offset:#x}")]
    Short {
        /// What was being read.
        what: &'static str,
        /// Its offset.
        offset: u64,
        /// Its length in bytes.
        bytes: u64,
        /// The number of bytes available.
        length: u64,
    },
    /// A number exceeds its limit.
    #[error("the bundle's {what} is {found}, more than the largest accepted of {limit}")]
    TooLarge {
        /// What the number is.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The largest accepted.
        limit: u64,
    },
    /// An entry's name is not UTF-8.
    #[error("the name of the bundle's entry {index} is not UTF-8")]
    Name {
        /// The entry's index.
        index: u64,
    },
    /// An unknown version of the compressed form.
    #[error("compressed bundle of version {version}; known are 1, 2 and 3")]
    Version {
        /// The version.
        version: u16,
    },
    /// An unknown compression method.
    #[error("bundle compressed by method {method}; known are 0 (zlib) and 1 (zstd)")]
    Method {
        /// The method.
        method: u16,
    },
    /// The compressed bytes are malformed.
    #[error("the compressed bundle cannot be unpacked: {reason}")]
    Compression {
        /// The decompressor's message.
        reason: String,
    },
    /// The decompressed length differs from the one that the header states.
    #[error("the compressed bundle unpacks to {found} bytes, but its header states {expected}")]
    Length {
        /// The decompressed length.
        found: u64,
        /// The stated length.
        expected: u64,
    },
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8], offset: u64, size: u64, what: &'static str) -> Result<u64, BundleError> {
    let part = part(bytes, offset, size, what)?;
    let mut word = [0; 8];
    word[..part.len()].copy_from_slice(part);
    Ok(u64::from_le_bytes(word))
}

fn part<'a>(
    bytes: &'a [u8],
    offset: u64,
    size: u64,
    what: &'static str,
) -> Result<&'a [u8], BundleError> {
    let short = BundleError::Short {
        what,
        offset,
        bytes: size,
        length: bytes.len() as u64,
    };
    let end = offset.checked_add(size).ok_or(short.clone())?;
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    let (start, end) = range.ok_or(short.clone())?;
    bytes.get(start..end).ok_or(short)
}

/// An entry of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The entry of a bundle that matches a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The range of its bytes in the bundle.
    At(Range<u64>),
    /// Its bytes, from a compressed bundle.
    Unpacked(Vec<u8>),
    /// No entry matches; the names of all entries.
    Nothing(Vec<String>),
}

/// A bundle, decompressed if necessary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle<'a> {
    bytes: Cow<'a, [u8]>,
    /// Name and range of each entry.
    entries: Vec<(String, Range<usize>)>,
}

impl<'a> Bundle<'a> {
    /// Whether the bytes start with the magic of a bundle.
    pub fn is_bundle(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC) || bytes.starts_with(COMPRESSED_MAGIC)
    }

    /// Parses a bundle. Bytes after its end are ignored.
    ///
    /// # Errors
    /// [`BundleError`] if the bytes are not a valid bundle.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BundleError> {
        let bytes = match bytes.starts_with(COMPRESSED_MAGIC) {
            true => Cow::Owned(unpack(bytes)?),
            false => Cow::Borrowed(bytes),
        };
        if !bytes.starts_with(MAGIC) {
            let found = bytes[..bytes.len().min(4)].to_vec();
            return Err(BundleError::Unknown { found });
        }
        let read = |offset, size, what| part(&bytes, offset, size, what).map(<[u8]>::to_vec);
        let (entries, _) = entries(read)?;
        let inside = entries.into_iter().map(|(name, Range { start, end })| {
            part(&bytes, start, end - start, "an entry's bytes")?;
            // `part` has checked that the range lies in `bytes`, so both bounds fit in a `usize`.
            Ok((name, start as usize..end as usize))
        });
        Ok(Bundle {
            entries: inside.collect::<Result<_, _>>()?,
            bytes,
        })
    }

    /// The entries, in file order.
    pub fn entries(&self) -> impl Iterator<Item = BundleEntry<'_>> {
        self.entries.iter().map(|(name, range)| BundleEntry {
            name,
            bytes: &self.bytes[range.clone()],
        })
    }

    /// The entry that best matches a device: of those that run on it, the one that states the most features.
    pub fn pick(&self, gpu: Gpu, xnack: bool, sramecc: bool) -> Option<BundleEntry<'_>> {
        best(self.entries(), |entry| entry.name, gpu, xnack, sramecc)
    }

    /// Like [`Self::pick`], without keeping the bundle. `read` reads a part of it by offset and length. A compressed
    /// bundle is decompressed only to the end of the entry, so errors after it are not found.
    ///
    /// # Errors
    /// The errors of `read`, and [`BundleError`] if the bytes are not a valid bundle.
    pub fn find<E: From<BundleError>>(
        read: impl Fn(u64, u64) -> Result<Vec<u8>, E>,
        gpu: Gpu,
        xnack: bool,
        sramecc: bool,
    ) -> Result<Found, E> {
        if read(0, COMPRESSED_MAGIC.len() as u64)? == COMPRESSED_MAGIC {
            let packed = read(0, Self::length(&read)?)?;
            let mut stream = Stream::new(&packed)?;
            let (entries, _) =
                entries(|offset, size, what| Ok::<_, E>(stream.part(offset, size, what)?))?;
            return Ok(match best_place(entries, gpu, xnack, sramecc) {
                Ok(place) => Found::Unpacked(stream.last(place)?),
                Err(names) => Found::Nothing(names),
            });
        }
        let (entries, _) = entries(|offset, size, _| read(offset, size))?;
        Ok(match best_place(entries, gpu, xnack, sramecc) {
            Ok(place) => Found::At(place),
            Err(names) => Found::Nothing(names),
        })
    }

    /// The length of a bundle, from its headers. `read` reads a part of it by offset and length.
    ///
    /// # Errors
    /// The errors of `read`, and [`BundleError`] if the bytes are not a valid bundle or do not state its length.
    pub fn length<E: From<BundleError>>(
        read: impl Fn(u64, u64) -> Result<Vec<u8>, E>,
    ) -> Result<u64, E> {
        let magic = read(0, COMPRESSED_MAGIC.len() as u64)?;
        if magic == COMPRESSED_MAGIC {
            let header = read(0, 8)?;
            let version = number(&header, 4, 2, "the version")? as u16;
            let length = match version {
                1 => {
                    return Err(BundleError::Compression {
                        reason: "version 1 does not state its length; load it from a file"
                            .to_owned(),
                    }
                    .into());
                }
                2 => number(&read(8, 4)?, 0, 4, "the length")?,
                3 => number(&read(8, 8)?, 0, 8, "the length")?,
                version => return Err(BundleError::Version { version }.into()),
            };
            return Ok(limited("length", length, MAX_BUNDLE_BYTES)?);
        }
        let (entries, head) = entries(|offset, size, _| read(offset, size))?;
        let end = entries.iter().map(|(_, place)| place.end).max();
        Ok(limited(
            "length",
            end.unwrap_or(0).max(head),
            MAX_BUNDLE_BYTES,
        )?)
    }
}

/// Of the entries that run on a device, the one that states the most features. The first wins a tie.
fn best<'a, T: Copy + 'a>(
    entries: impl Iterator<Item = T>,
    name: impl Fn(T) -> &'a str,
    gpu: Gpu,
    xnack: bool,
    sramecc: bool,
) -> Option<T> {
    let fits = entries.filter_map(|entry| {
        let fit = EntryTarget::parse(name(entry))?.fit(gpu, xnack, sramecc)?;
        Some((fit, entry))
    });
    fits.reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, entry)| entry)
}

/// The range of the best entry, or the names of all entries.
fn best_place(
    entries: Entries,
    gpu: Gpu,
    xnack: bool,
    sramecc: bool,
) -> Result<Range<u64>, Vec<String>> {
    let found = best(entries.iter(), |(name, _)| name, gpu, xnack, sramecc);
    match found {
        Some((_, place)) => Ok(place.clone()),
        None => Err(entries.into_iter().map(|(name, _)| name).collect()),
    }
}

fn limited(what: &'static str, found: u64, limit: u64) -> Result<u64, BundleError> {
    if found > limit {
        return Err(BundleError::TooLarge { what, found, limit });
    }
    Ok(found)
}

/// Name and range of each entry.
type Entries = Vec<(String, Range<u64>)>;

/// Reads the table of entries, and returns it with its end offset. `read` takes offset, length, and a name for errors.
fn entries<E: From<BundleError>>(
    mut read: impl FnMut(u64, u64, &'static str) -> Result<Vec<u8>, E>,
) -> Result<(Entries, u64), E> {
    let magic = read(0, 4, "the first bytes")?;
    if !MAGIC.starts_with(&magic) {
        return Err(BundleError::Unknown { found: magic }.into());
    }
    let mut at = MAGIC.len() as u64 + 8;
    let start = read(0, at, "the number of entries")?;
    if !start.starts_with(MAGIC) {
        return Err(BundleError::Unknown { found: magic }.into());
    }
    let count = number(&start, MAGIC.len() as u64, 8, "the number of entries")?;
    limited("number of entries", count, MAX_ENTRIES)?;
    let mut entries = Vec::new();
    for index in 0..count {
        let entry = read(at, 24, "an entry")?;
        let field = |offset| number(&entry, offset, 8, "an entry");
        let (offset, size) = (field(0)?, field(8)?);
        let length = limited("length of a name", field(16)?, MAX_NAME_BYTES)?;
        let name = read(at + 24, length, "an entry's name")?;
        let name = String::from_utf8(name).map_err(|_| BundleError::Name { index })?;
        entries.push((name, offset..offset.saturating_add(size)));
        at += 24 + length;
    }
    Ok((entries, at))
}
