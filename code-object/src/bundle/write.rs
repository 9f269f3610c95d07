//! Writes offload bundles.

use super::MAGIC;

/// The host's entry, which is empty. clang writes it first, and readers expect it there.
const HOST_ENTRY: &str = "host-x86_64-unknown-linux-gnu-";
/// Alignment of code objects. clang uses the same, so that the driver can map them.
const ALIGN: usize = 4096;

/// Writes an uncompressed offload bundle. Each object is its target, as [`Target`](crate::Target) formats it
/// (`gfx90a:sramecc+:xnack-`), and its bytes.
pub fn write_bundle(objects: &[(String, &[u8])]) -> Vec<u8> {
    let host: (String, &[u8]) = (HOST_ENTRY.to_owned(), &[]);
    let named = objects
        .iter()
        .map(|(target, bytes)| (format!("hipv4-amdgcn-amd-amdhsa--{target}"), *bytes));
    let entries: Vec<_> = std::iter::once(host).chain(named).collect();
    let names: usize = entries.iter().map(|(name, _)| 24 + name.len()).sum();
    let mut at = MAGIC.len() + 8 + names;
    let mut bundle = MAGIC.to_vec();
    bundle.extend((entries.len() as u64).to_le_bytes());
    let mut starts = Vec::new();
    for (name, bytes) in &entries {
        at = at.next_multiple_of(ALIGN);
        for number in [at, bytes.len(), name.len()] {
            bundle.extend((number as u64).to_le_bytes());
        }
        bundle.extend(name.as_bytes());
        starts.push(at);
        at += bytes.len();
    }
    for ((_, bytes), start) in entries.iter().zip(starts) {
        bundle.resize(start, 0);
        bundle.extend(*bytes);
    }
    bundle
}

#[cfg(test)]
mod tests {
    use super::{super::Bundle, *};

    #[test]
    fn what_is_written_is_read() {
        let objects: [(String, &[u8]); 2] = [
            ("gfx90a:xnack-".to_owned(), b"\x7fELF first"),
            ("gfx942".to_owned(), b"\x7fELF second"),
        ];
        let bytes = write_bundle(&objects);
        let bundle = Bundle::parse(&bytes).expect("a bundle");
        let entries: Vec<_> = bundle.entries().map(|e| (e.name, e.bytes)).collect();
        assert_eq!(
            entries,
            [
                (HOST_ENTRY, &b""[..]),
                ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", b"\x7fELF first"),
                ("hipv4-amdgcn-amd-amdhsa--gfx942", b"\x7fELF second"),
            ]
        );
    }
}
