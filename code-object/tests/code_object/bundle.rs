//! Offload bundles: compressed and uncompressed, whole and damaged.

use std::io::Write;

use ferrowave_code_object::{Bundle, BundleError, EntryTarget, Found, code_objects};
use ferrowave_gpu::Gpu;

/// Builds a bundle by clang's `ClangOffloadBundler` document.
fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend((entries.len() as u64).to_le_bytes());
    let names: usize = entries.iter().map(|(name, _)| 24 + name.len()).sum();
    let mut offset = bundle.len() + names;
    for (name, bytes) in entries {
        for number in [offset, bytes.len(), name.len()] {
            bundle.extend((number as u64).to_le_bytes());
        }
        bundle.extend(name.bytes());
        offset += bytes.len();
    }
    for (_, bytes) in entries {
        bundle.extend(*bytes);
    }
    bundle
}

#[derive(Clone, Copy, Debug)]
enum Method {
    Zlib,
    Zstd,
}

fn packed(bundle: &[u8], version: u16, method: Method) -> Vec<u8> {
    let bytes = match method {
        Method::Zlib => {
            let mut packed =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(bundle).expect("a vector takes all");
            packed.finish().expect("a vector takes all")
        }
        Method::Zstd => {
            ruzstd::encoding::compress_to_vec(bundle, ruzstd::encoding::CompressionLevel::Fastest)
        }
    };
    let header = [0, 20, 24, 32][usize::from(version)];
    let total = header + bytes.len() as u64;
    let mut file = b"CCOB".to_vec();
    file.extend(version.to_le_bytes());
    file.extend((method as u16).to_le_bytes());
    let mut number = |value: u64, wide: bool| {
        file.extend(&value.to_le_bytes()[..if wide { 8 } else { 4 }]);
    };
    if version > 1 {
        number(total, version == 3);
    }
    number(bundle.len() as u64, version == 3);
    number(0x1234_5678_9abc_def0, true); // A hash, which is not read.
    file.extend(bytes);
    file
}

const HOST: &str = "host-x86_64-unknown-linux-gnu-";

fn example() -> Vec<u8> {
    bundle(&[
        (HOST, b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", b"\x7fELF on"),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", b"\x7fELF any"),
        (
            "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
            b"\x7fELF both",
        ),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", b"\x7fELF other"),
        ("hip-amdgcn-amd-amdhsa--gfx942:sramecc-", b"\x7fELF ecc"),
    ])
}

#[test]
fn the_entry_that_says_most_of_what_the_device_is_is_picked() {
    let bytes = example();
    let bundle = Bundle::parse(&bytes).expect("it is a bundle");
    assert_eq!(bundle.entries().count(), 6);
    let pick = |gpu, xnack, sramecc| {
        let entry = bundle.pick(gpu, xnack, sramecc)?;
        Some(std::str::from_utf8(&entry.bytes[5..]).expect("it is text"))
    };
    assert_eq!(pick(Gpu::Gfx90a, false, true), Some("both"));
    assert_eq!(pick(Gpu::Gfx90a, true, true), Some("on"));
    assert_eq!(pick(Gpu::Gfx90a, false, false), Some("any"));
    assert_eq!(pick(Gpu::Gfx942, false, true), None);
    assert_eq!(pick(Gpu::Gfx942, false, false), Some("ecc"));
    assert_eq!(pick(Gpu::Gfx908, false, true), None);
}

#[test]
fn a_generic_entry_is_picked_if_the_gpu_has_none_of_its_own() {
    let bytes = bundle(&[
        ("hipv4-amdgcn-amd-amdhsa--gfx11-generic", b"\x7fELF generic"),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", b"\x7fELF own"),
    ]);
    let bundle = Bundle::parse(&bytes).expect("it is a bundle");
    let pick = |gpu| {
        let entry = bundle.pick(gpu, false, false)?;
        Some(std::str::from_utf8(&entry.bytes[5..]).expect("it is text"))
    };
    assert_eq!(pick(Gpu::Gfx1100), Some("own"));
    assert_eq!(pick(Gpu::Gfx1151), Some("generic"));
    assert_eq!(pick(Gpu::Gfx942), None);
}

#[test]
fn only_the_entry_that_is_picked_is_read() {
    let plain = example();
    let place = |found: &Bundle<'_>, gpu| {
        let entry = found.pick(gpu, false, true)?;
        let start = entry.bytes.as_ptr().addr() - plain.as_ptr().addr();
        Some(start as u64..(start + entry.bytes.len()) as u64)
    };
    let parsed = Bundle::parse(&plain).expect("it is a bundle");
    let first = parsed.entries().filter(|entry| !entry.bytes.is_empty());
    let first = first.map(|entry| entry.bytes.as_ptr().addr() - plain.as_ptr().addr());
    let entries = first.min().expect("there are entries") as u64;
    let find = |bytes: &[u8], most: u64, gpu| {
        let read = |offset: u64, size: u64| {
            assert!(offset + size <= most, "reads {size} bytes at {offset}");
            Ok::<_, BundleError>(bytes[offset as usize..(offset + size) as usize].to_vec())
        };
        Bundle::find(read, gpu, false, true)
    };
    let names = parsed
        .entries()
        .map(|entry| entry.name.to_owned())
        .collect();
    let picked = place(&parsed, Gpu::Gfx90a).expect("there is one");
    assert_eq!(find(&plain, entries, Gpu::Gfx90a), Ok(Found::At(picked)));
    let nothing = Ok(Found::Nothing(names));
    assert_eq!(find(&plain, entries, Gpu::Gfx908), nothing);
    for method in [Method::Zlib, Method::Zstd] {
        let file = packed(&plain, 3, method);
        let both = Ok(Found::Unpacked(b"\x7fELF both".to_vec()));
        assert_eq!(find(&file, file.len() as u64, Gpu::Gfx90a), both);
        assert_eq!(find(&file, file.len() as u64, Gpu::Gfx908), nothing);
    }
    let unknown = find(b"MZ\x90\0\x03", 4, Gpu::Gfx90a).expect_err("no bundle");
    assert!(
        unknown.to_string().contains("starts with [4d, 5a, 90, 00]"),
        "{unknown}"
    );
}

/// Bytes that no method compresses well.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let byte = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u8
    };
    (0..count).map(byte).collect()
}

#[test]
fn packed_bundles_are_unpacked_no_further_than_the_entry() {
    let (before, behind) = (noise(300_000), noise(700_000));
    let plain = bundle(&[
        (HOST, b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx908", &before),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", b"\x7fELF wanted"),
        ("hipv4-amdgcn-amd-amdhsa--gfx942", &behind),
    ]);
    let find = |bytes: &[u8], gpu| {
        let read = |offset: u64, size: u64| {
            Ok::<_, BundleError>(bytes[offset as usize..(offset + size) as usize].to_vec())
        };
        Bundle::find(read, gpu, false, true)
    };
    for method in [Method::Zlib, Method::Zstd] {
        let mut file = packed(&plain, 2, method);
        assert_eq!(
            find(&file, Gpu::Gfx942),
            Ok(Found::Unpacked(behind.clone()))
        );
        // Truncated, with the length field adjusted to match.
        file.truncate(file.len() - 1000);
        let length = file.len() as u32;
        file[8..12].copy_from_slice(&length.to_le_bytes());
        assert!(find(&file, Gpu::Gfx942).is_err(), "{method:?}");
        let wanted = Ok(Found::Unpacked(b"\x7fELF wanted".to_vec()));
        assert_eq!(find(&file, Gpu::Gfx90a), wanted, "{method:?}");
    }
    // An entry that ends past the bundle's end.
    let mut long = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx90a", b"\x7fELF short")]);
    let size = long.len() as u64;
    long[40..48].copy_from_slice(&size.to_le_bytes());
    let error = find(&packed(&long, 2, Method::Zlib), Gpu::Gfx90a).expect_err("too short");
    assert!(matches!(error, BundleError::Short { .. }), "{error}");
}

#[test]
fn names_of_entries_are_read() {
    let text = |name| EntryTarget::parse(name).map(|entry| entry.to_string());
    let name = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+";
    assert_eq!(text(name).as_deref(), Some("gfx90a:sramecc+:xnack-"));
    let name = "hip-amdgcn-amd-amdhsa-unknown-gfx1100";
    assert_eq!(text(name).as_deref(), Some("gfx1100"));
    for name in [
        HOST,
        "",
        "hipv4",
        "hipv4-amdgcn-amd-amdhsa--",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack",
        "hipv4-nvptx64-nvidia-cuda--sm_90",
    ] {
        assert_eq!(text(name), None, "{name}");
    }
}

#[test]
fn packed_bundles_are_the_same_as_unpacked() {
    let plain = example();
    let expected = Bundle::parse(&plain).expect("it is a bundle");
    for version in 1..=3 {
        for method in [Method::Zlib, Method::Zstd] {
            let mut file = packed(&plain, version, method);
            let length = |bytes: &[u8]| {
                Bundle::length(|offset, size| {
                    let part = bytes.get(offset as usize..(offset + size) as usize);
                    Ok::<_, BundleError>(part.expect("it reads inside").to_vec())
                })
            };
            if version > 1 {
                assert_eq!(length(&file), Ok(file.len() as u64));
                // Bytes after the bundle do not belong to it.
                file.extend(b"CCOB and so on");
            } else {
                assert!(matches!(
                    length(&file),
                    Err(BundleError::Compression { .. })
                ));
            }
            let bundle = Bundle::parse(&file)
                .unwrap_or_else(|error| panic!("version {version}, {method:?}: {error}"));
            assert!(bundle.entries().eq(expected.entries()));
            assert_eq!(code_objects(&file).map(|found| found.len()), Ok(5));
        }
    }
    let length = Bundle::length(|offset, size| {
        Ok::<_, BundleError>(plain[offset as usize..(offset + size) as usize].to_vec())
    });
    assert_eq!(length, Ok(plain.len() as u64));
}

#[test]
fn what_is_wrong_is_named() {
    let check = |bytes: &[u8], part: &str| {
        let error = Bundle::parse(bytes).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    };
    check(b"MZ", "it starts with [4d, 5a]");
    check(b"", "it starts with []");
    check(b"__CLANG_OFFLOAD_BUNDLE__", "the number of entries");
    let plain = example();
    check(&plain[..plain.len() - 1], "an entry's bytes");
    check(&plain[..60], "an entry's name");
    let mut many = plain.clone();
    many[24..32].fill(0xff);
    check(&many, "number of entries is 18446744073709551615");
    let mut far = plain.clone();
    far[32..40].fill(0xff);
    check(&far, "an entry's bytes");
    let mut name = plain.clone();
    name[56] = 0xff;
    check(&name, "entry 0 is not UTF-8");

    let file = packed(&plain, 3, Method::Zstd);
    let changed = |offset: usize, value: u8| {
        let mut file = file.clone();
        file[offset] = value;
        file
    };
    check(&changed(4, 4), "version 4; known are 1, 2 and 3");
    check(&changed(6, 2), "method 2; known are 0 (zlib) and 1 (zstd)");
    check(&changed(16, file[16] ^ 1), "but its header states");
    check(&changed(23, 1), "unpacked length");
    check(&changed(32, 0), "cannot be unpacked");
    check(&file[..file.len() - 1], "the compressed bytes");
}

#[test]
fn damaged_bundles_end_with_a_value_or_an_error() {
    let plain = example();
    let files = [
        plain.clone(),
        packed(&plain, 2, Method::Zlib),
        packed(&plain, 3, Method::Zstd),
    ];
    for file in files {
        for length in 0..file.len() {
            let _ = code_objects(&file[..length]);
        }
        for index in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[index] ^= 1 << bit;
                // An excessive length is rejected before memory is allocated.
                let _ = code_objects(&damaged);
            }
        }
    }
}
