//! Decompresses offload bundles.

use std::{
    io::{self, Read},
    ops::Range,
};

use super::{BundleError, MAX_BUNDLE_BYTES, limited, number, part};

/// Decompresses a whole bundle.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, BundleError> {
    let (unpacking, expected) = unpacking(bytes)?;
    let mut unpacked = Vec::new();
    // Reads at most one byte beyond the stated length, which is enough to detect a longer bundle.
    let result = unpacking.take(expected + 1).read_to_end(&mut unpacked);
    result.map_err(failed)?;
    let found = unpacked.len() as u64;
    if found != expected {
        return Err(BundleError::Length { found, expected });
    }
    Ok(unpacked)
}

/// A compressed bundle that is decompressed only as far as it is read. It keeps the bytes that [`Self::part`] has read.
pub(super) struct Stream<'a> {
    rest: Box<dyn Read + 'a>,
    /// The bytes decompressed so far.
    head: Vec<u8>,
    /// The decompressed length that the header states.
    length: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, BundleError> {
        let (rest, length) = unpacking(bytes)?;
        Ok(Stream {
            rest,
            head: Vec::new(),
            length,
        })
    }

    /// The end of a part, if it lies within the stated length.
    fn end(&self, offset: u64, bytes: u64, what: &'static str) -> Result<u64, BundleError> {
        let end = offset.checked_add(bytes);
        end.filter(|&end| end <= self.length)
            .ok_or(BundleError::Short {
                what,
                offset,
                bytes,
                length: self.length,
            })
    }

    /// Reads a part, keeping all bytes up to its end.
    pub(super) fn part(
        &mut self,
        offset: u64,
        bytes: u64,
        what: &'static str,
    ) -> Result<Vec<u8>, BundleError> {
        let end = self.end(offset, bytes, what)?;
        let missing = end.saturating_sub(self.head.len() as u64);
        let read = self.rest.by_ref().take(missing).read_to_end(&mut self.head);
        read.map_err(failed)?;
        part(&self.head, offset, bytes, what).map(<[u8]>::to_vec)
    }

    /// Reads the last part, discarding the bytes before it.
    pub(super) fn last(mut self, place: Range<u64>) -> Result<Vec<u8>, BundleError> {
        let bytes = place.end.saturating_sub(place.start);
        self.end(place.start, bytes, "an entry's bytes")?;
        let known = self.head.len() as u64;
        let before = place.start.saturating_sub(known);
        let skipped = io::copy(&mut self.rest.by_ref().take(before), &mut io::sink());
        skipped.map_err(failed)?;
        // `min(known)` keeps both bounds within the decompressed bytes.
        let range = place.start.min(known) as usize..place.end.min(known) as usize;
        let mut all = self.head[range].to_vec();
        let missing = bytes - all.len() as u64;
        let read = self.rest.by_ref().take(missing).read_to_end(&mut all);
        read.map_err(failed)?;
        if all.len() as u64 != bytes {
            return Err(BundleError::Length {
                found: place.start + all.len() as u64,
                expected: self.length,
            });
        }
        Ok(all)
    }
}

fn failed(error: io::Error) -> BundleError {
    BundleError::Compression {
        reason: error.to_string(),
    }
}

/// A decoder for the compressed bytes, and the decompressed length that the header states.
fn unpacking(bytes: &[u8]) -> Result<(Box<dyn Read + '_>, u64), BundleError> {
    let version = number(bytes, 4, 2, "the version")? as u16;
    let method = number(bytes, 6, 2, "the method")? as u16;
    // Version 1 does not state the file's length. The last header field is a hash, which is only for caches.
    let (total, length_at, length_size) = match version {
        1 => (bytes.len() as u64, 8, 4),
        2 => (number(bytes, 8, 4, "the length")?, 12, 4),
        3 => (number(bytes, 8, 8, "the length")?, 16, 8),
        version => return Err(BundleError::Version { version }),
    };
    let expected = number(bytes, length_at, length_size, "the unpacked length")?;
    limited("unpacked length", expected, MAX_BUNDLE_BYTES)?;
    let start = length_at + length_size + 8;
    let size = total.checked_sub(start).ok_or(BundleError::Short {
        what: "the header",
        offset: 0,
        bytes: start,
        length: total,
    })?;
    let packed = part(bytes, start, size, "the compressed bytes")?;
    let unpacking: Box<dyn Read> = match method {
        0 => Box::new(flate2::read::ZlibDecoder::new(packed)),
        1 => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
            Box::new(decoder.map_err(|error| BundleError::Compression {
                reason: error.to_string(),
            })?)
        }
        method => return Err(BundleError::Method { method }),
    };
    Ok((unpacking, expected))
}
