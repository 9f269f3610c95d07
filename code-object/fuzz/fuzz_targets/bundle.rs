//! Any bytes give a bundle or an error, and a bundle's entries lie inside it.
#![no_main]

use ferrowave_code_object::{Bundle, BundleError, code_objects};
use ferrowave_gpu::Gpu;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Skips bundles that claim to be large: decompressing them is valid, but takes the fuzzer's memory and time.
    let claims = |at: usize, size: usize| {
        let mut word = [0; 8];
        bytes
            .get(at..at + size)
            .map(|part| word[..size].copy_from_slice(part));
        u64::from_le_bytes(word)
    };
    let unpacked = match bytes.get(4) {
        Some(3) => claims(16, 8),
        Some(2) => claims(12, 4),
        _ => claims(8, 4),
    };
    if bytes.starts_with(b"CCOB") && unpacked > 1 << 24 {
        return;
    }
    let _ = code_objects(bytes);
    let read = |offset: u64, size: u64| {
        let end = offset.checked_add(size).filter(|&end| end <= bytes.len() as u64);
        end.map(|end| bytes[offset as usize..end as usize].to_vec())
            .ok_or(BundleError::Compression {
                reason: "outside".to_owned(),
            })
    };
    let _ = Bundle::length(read);
    let _ = Bundle::find(read, Gpu::Gfx90a, false, true);
    if let Ok(bundle) = Bundle::parse(bytes) {
        for gpu in Gpu::ALL {
            let _ = bundle.pick(gpu, false, true);
        }
    }
});
