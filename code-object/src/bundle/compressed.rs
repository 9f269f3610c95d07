//! Bundles in their compressed form.

use std::{
    io::{self, Read},
    ops::Range,
};

use super::{BundleError, MAX_BUNDLE_BYTES, limited, number, part};

/// Unpacks a compressed bundle.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, BundleError> {
    let (unpacking, expected) = unpacking(bytes)?;
    let mut unpacked = Vec::new();
    // One byte more than it says would be too many already.
    let result = unpacking.take(expected + 1).read_to_end(&mut unpacked);
    result.map_err(failed)?;
    let found = unpacked.len() as u64;
    if found != expected {
        return Err(BundleError::Length { found, expected });
    }
    Ok(unpacked)
}

/// A compressed bundle that is unpacked as far as it is read, and of which no more is kept.
pub(super) struct Stream<'a> {
    rest: Box<dyn Read + 'a>,
    /// What came out so far.
    head: Vec<u8>,
    /// The length of all, as the bundle says.
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

    /// Where a part ends, if the bundle is as long as that.
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

    /// A part near the beginning.
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

    /// A part that may be far behind, of which nothing is read afterwards.
    pub(super) fn last(mut self, place: Range<u64>) -> Result<Vec<u8>, BundleError> {
        let bytes = place.end.saturating_sub(place.start);
        self.end(place.start, bytes, "an entry's bytes")?;
        let known = self.head.len() as u64;
        let before = place.start.saturating_sub(known);
        let skipped = io::copy(&mut self.rest.by_ref().take(before), &mut io::sink());
        skipped.map_err(failed)?;
        // Both are inside what is known.
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

/// What unpacks a compressed bundle, and the length that it says.
fn unpacking(bytes: &[u8]) -> Result<(Box<dyn Read + '_>, u64), BundleError> {
    let version = number(bytes, 4, 2, "the version")? as u16;
    let method = number(bytes, 6, 2, "the method")? as u16;
    // Version 1 has no length of the whole; the last field is a hash that only caches need.
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
