//! Bundles in their compressed form.

use std::io::{self, Read};

use super::{BundleError, MAX_BUNDLE_BYTES, limited, number, part};

/// Unpacks a compressed bundle.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, BundleError> {
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
    let failed = |reason: String| BundleError::Compression { reason };
    let mut unpacked = Vec::new();
    // One byte more than it says would be too many already.
    let result = match method {
        0 => flate2::read::ZlibDecoder::new(packed)
            .take(expected + 1)
            .read_to_end(&mut unpacked),
        1 => ruzstd::decoding::StreamingDecoder::new(packed)
            .map_err(|error| failed(error.to_string()))?
            .take(expected + 1)
            .read_to_end(&mut unpacked),
        method => return Err(BundleError::Method { method }),
    };
    result.map_err(|error: io::Error| failed(error.to_string()))?;
    let found = unpacked.len() as u64;
    if found != expected {
        return Err(BundleError::Length { found, expected });
    }
    Ok(unpacked)
}
