//! Malformed code objects.

use ferrowave_code_object::{CodeObject, CodeObjectError, MAX_IMAGE_BYTES};
use ferrowave_gpu::Gpu;
use proptest::prelude::*;

use crate::support::{Kernel, assembled, replace};

/// A code object with an argument, data and a relocation.
fn whole() -> Vec<u8> {
    let metadata = "    .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
      - .offset: 8
        .size: 4
        .value_kind: hidden_block_count_x";
    let text = Kernel::new(Gpu::Gfx90a)
        .kernarg_size(16)
        .metadata(metadata)
        .text()
        + "\n.data\n.globl table\n.type table,@object\n.p2align 3\ntable:\n.quad table\n.size table, 8\n";
    assembled(Gpu::Gfx90a, &text)
}

/// Calls everything that a code object offers.
fn exercise(bytes: &[u8]) -> Result<(), CodeObjectError> {
    let object = CodeObject::parse(bytes)?;
    assert!(object.image_size() <= MAX_IMAGE_BYTES);
    for kernel in object.kernels() {
        assert!(
            object
                .function_at(kernel.code.start)
                .is_none_or(|symbol| symbol.address <= kernel.code.start)
        );
        let _ = object.lines().frames(kernel.code.start);
        let _ = object.file_bytes(kernel.code.start, kernel.code.end - kernel.code.start);
    }
    for symbol in object.symbols() {
        assert!(symbol.address + symbol.size <= object.image_size());
        let _ = object.file_bytes(symbol.address, symbol.size);
    }
    // A small file can ask for an image of a gigabyte, which the test does not allocate.
    if object.image_size() <= 1 << 20 {
        let mut image = vec![0; object.image_size() as usize];
        object.load_image(object.image_align(), &mut image)?;
    }
    Ok(())
}

#[test]
fn every_truncation_is_an_error_or_loses_nothing_needed() {
    let bytes = whole();
    exercise(&bytes).expect("whole");
    for length in 0..bytes.len() {
        // Section headers are last, so a file without its last byte is incomplete.
        assert!(
            exercise(&bytes[..length]).is_err(),
            "{length} of {} bytes",
            bytes.len()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn mutations_end_in_a_value_or_an_error(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        // Assembles only once.
        static WHOLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let mut bytes = WHOLE.get_or_init(whole).clone();
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = exercise(&bytes);
    }

    #[test]
    fn words_of_the_headers_take_any_value(place in 0..512_usize / 4, value in any::<u32>()) {
        static WHOLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let mut bytes = WHOLE.get_or_init(whole).clone();
        bytes[place * 4..place * 4 + 4].copy_from_slice(&value.to_le_bytes());
        let _ = exercise(&bytes);
    }

    #[test]
    fn noise_after_the_magic_is_an_error(noise in prop::collection::vec(any::<u8>(), 0..256)) {
        let bytes = [b"\x7fELF\x02\x01\x01\x40\x03", &noise[..]].concat();
        prop_assert!(exercise(&bytes).is_err());
    }
}

/// Damages a whole code object and returns the error's text.
fn error_after(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = whole();
    change(&mut bytes);
    exercise(&bytes).expect_err("must be refused").to_string()
}

/// The error after writing a number of `width` bytes at `place`.
fn error_with(place: usize, width: usize, value: u64) -> String {
    error_after(|bytes| {
        bytes[place..place + width].copy_from_slice(&value.to_le_bytes()[..width]);
    })
}

fn check(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "{part:?} not in {error}");
    }
}

#[test]
fn header_errors_name_value_and_allowed_ones() {
    check(
        &exercise(b"").expect_err("empty").to_string(),
        &["not an ELF file", "[]"],
    );
    check(
        &exercise(b"HSA!").expect_err("other").to_string(),
        &["[48, 53, 41, 21]"],
    );
    check(
        &exercise(b"\x7fELF").expect_err("short").to_string(),
        &["4 bytes"],
    );
    check(&error_with(4, 1, 1), &["EI_CLASS is 0x1", "2 (64-bit)"]);
    check(&error_with(5, 1, 2), &["EI_DATA is 0x2"]);
    check(
        &error_with(7, 1, 0),
        &["EI_OSABI is 0x0", "0x40 (ELFOSABI_AMDGPU_HSA)"],
    );
    check(
        &error_with(8, 1, 0),
        &["version 2 is not supported", "4, 5, 6"],
    );
    check(
        &error_with(8, 1, 1),
        &["version 3 is not supported", "4, 5, 6"],
    );
    check(&error_with(8, 1, 9), &["version unknown", "ABI version 9"]);
    check(&error_with(16, 2, 1), &["e_type is 0x1", "ET_DYN"]);
    check(&error_with(18, 2, 62), &["e_machine is 0x3e", "EM_AMDGPU"]);
    check(
        &error_with(48, 1, 0x36),
        &[
            "gfx1030, which is not supported",
            "0x36",
            "0x30 (gfx908)",
            "0x41 (gfx1100)",
            "gfx11-generic",
        ],
    );
    check(&error_with(48, 1, 0x01), &["for an unknown GPU", "0x01"]);
    // A generic target needs version 6, which this is not.
    check(
        &error_with(48, 1, 0x54),
        &["gfx11-generic", "generic version 0", "code object v6"],
    );
    check(&error_with(51, 1, 1), &["unknown bits 0x01000000"]);
}

/// Offsets of the program headers of a type.
fn program_headers(bytes: &[u8], kind: u32) -> Vec<usize> {
    let count = usize::from(bytes[56]);
    (0..count)
        .map(|index| 64 + index * 56)
        .filter(|&at| bytes[at..at + 4] == kind.to_le_bytes())
        .collect()
}

#[test]
fn segment_errors() {
    let load = |index: usize, field: usize, value: u64| {
        error_after(|bytes| {
            let at = program_headers(bytes, 1)[index] + field;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        })
    };
    const OFFSET: usize = 8;
    const ADDRESS: usize = 16;
    const FILE_SIZE: usize = 32;
    const MEMORY_SIZE: usize = 40;
    const ALIGN: usize = 48;
    check(
        &load(1, MEMORY_SIZE, 1 << 40),
        &["0x10000000000 bytes", "0x40000000"],
    );
    check(
        &load(1, ADDRESS, u64::MAX - 10),
        &["0xfffffffffffffff5", "0x40000000"],
    );
    check(
        &load(1, ADDRESS, 0x100),
        &["0x100 starts before the previous one ends"],
    );
    check(
        &load(1, FILE_SIZE, 1 << 20),
        &["0x100000 bytes in the file"],
    );
    check(&load(1, OFFSET, 1 << 50), &["reach past the file's"]);
    check(&load(1, ALIGN, 3), &["aligned to 0x3", "a power of two"]);
    check(&load(1, ALIGN, 1 << 40), &["aligned to 0x10000000000"]);
    let error = error_after(|bytes| {
        for at in program_headers(bytes, 1) {
            bytes[at] = 0;
        }
    });
    check(&error, &["no loadable segment"]);
}

#[test]
fn metadata_errors_name_the_place() {
    let error = |from: &[u8], to: &[u8]| error_after(|bytes| replace(bytes, from, to));
    check(
        &error(b"\xab.vgpr_count\x08", b"\xab.vgpr_kount\x08"),
        &["amdhsa.kernels[0].vgpr_count`: is missing"],
    );
    check(
        &error(b"\xab.vgpr_count\x08", b"\xab.vgpr_count\xc3"),
        &["amdhsa.kernels[0].vgpr_count`", "found true"],
    );
    check(
        &error(b"\xab.vgpr_count\x08", b"\xab.sgpr_count\x08"),
        &["has key \".sgpr_count\" twice"],
    );
    check(
        &error(b".wavefront_size\x40", b".wavefront_size\x20"),
        &[".wavefront_size`: is 32, expected 64 on gfx90a"],
    );
    check(
        &error(b"_segment_align\x08", b"_segment_align\x07"),
        &[".kernarg_segment_align`: is 7, expected a power of two"],
    );
    check(
        &error(
            b"\xa7.offset\x08\xa5.size\x04",
            b"\xa7.offset\x0d\xa5.size\x04",
        ),
        &["amdhsa.kernels[0].args[1]`: takes bytes 13 to 17 of a kernarg segment of 16"],
    );
    check(
        &error(b"probe.kd\xab", b"prope.kd\xab"),
        &["kernel `probe`: its descriptor `prope.kd` is not in the symbol table"],
    );
    check(
        &error(b"unknown-gfx90a", b"unknown-gfx942"),
        &["the metadata is for `amdgcn-amd-amdhsa-unknown-gfx942`, the ELF header for gfx90a"],
    );
}

#[test]
fn without_notes_there_is_no_metadata() {
    let error = error_after(|bytes| {
        for at in program_headers(bytes, 4) {
            bytes[at] = 0;
        }
    });
    check(&error, &["NT_AMDGPU_METADATA"]);
}

/// An error after a change to the descriptor.
fn descriptor_error(gpu: Gpu, change: impl FnOnce(&mut [u8])) -> String {
    let mut bytes = assembled(gpu, &Kernel::new(gpu).text());
    let object = CodeObject::parse(&bytes).expect("parses");
    let address = object.kernels()[0].descriptor_address;
    let segment = object
        .segments()
        .iter()
        .find(|segment| segment.addresses().contains(&address))
        .expect("a segment");
    let at = (address - segment.address) as usize + segment.file_range.start;
    change(&mut bytes[at..at + 64]);
    exercise(&bytes).expect_err("must be refused").to_string()
}

#[test]
fn descriptor_errors_name_kernel_and_field() {
    for byte in (12..16).chain(24..44).chain(60..64) {
        let error = descriptor_error(Gpu::Gfx90a, |descriptor| descriptor[byte] = 1);
        check(
            &error,
            &[
                "kernel `probe`: kernel descriptor field reserved bytes",
                "gfx90a",
            ],
        );
    }
    let with_bit = |gpu, byte: usize, bit: u32, parts: &[&str]| {
        let error = descriptor_error(gpu, |descriptor| descriptor[byte] ^= 1 << bit);
        check(&error, parts);
    };
    with_bit(Gpu::Gfx90a, 49, 2, &["PRIORITY is 0x1, but must be 0"]);
    with_bit(Gpu::Gfx90a, 50, 4, &["PRIV"]);
    with_bit(Gpu::Gfx90a, 51, 5, &["COMPUTE_PGM_RSRC1 bits 27..32"]);
    with_bit(Gpu::Gfx90a, 52, 6, &["ENABLE_TRAP_HANDLER"]);
    with_bit(Gpu::Gfx90a, 54, 0, &["GRANULATED_LDS_SIZE"]);
    with_bit(Gpu::Gfx90a, 44, 6, &["COMPUTE_PGM_RSRC3"]);
    with_bit(Gpu::Gfx908, 44, 0, &["COMPUTE_PGM_RSRC3", "gfx908"]);
    with_bit(Gpu::Gfx908, 58, 0, &["KERNARG_PRELOAD", "gfx908"]);
    with_bit(
        Gpu::Gfx942,
        56,
        0,
        &["ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER", "gfx942"],
    );
    with_bit(
        Gpu::Gfx950,
        56,
        5,
        &["ENABLE_SGPR_FLAT_SCRATCH_INIT", "gfx950"],
    );
    // Wave32.
    with_bit(Gpu::Gfx942, 57, 2, &["KERNEL_CODE_PROPERTIES", "gfx942"]);
    let error = descriptor_error(Gpu::Gfx942, |descriptor| descriptor[53] |= 0x18);
    check(&error, &["ENABLE_VGPR_WORKITEM_ID is 3, expected 0 to 2"]);

    // Entry points that are misaligned, in data, and out of range.
    for offset in [4_i64, -0x400, i64::MIN, i64::MAX] {
        let error = descriptor_error(Gpu::Gfx942, |descriptor| {
            let mut entry = [0; 8];
            entry.copy_from_slice(&descriptor[16..24]);
            let entry = if offset == 4 {
                i64::from_le_bytes(entry) + 4
            } else {
                offset
            };
            descriptor[16..24].copy_from_slice(&entry.to_le_bytes());
        });
        check(
            &error,
            &["kernel `probe` starts at address 0x", "a multiple of 256"],
        );
    }
}

#[test]
fn a_descriptor_must_lie_in_a_segment() {
    // Both symbol tables give the descriptor's address.
    let bytes = whole();
    let address = CodeObject::parse(&bytes).expect("parses").kernels()[0].descriptor_address;
    let size = CodeObject::parse(&bytes).expect("parses").image_size();
    for place in [address + 4, size - 64, size + 64, u64::MAX - 63] {
        let mut changed = bytes.clone();
        // st_value and st_size are adjacent.
        let entry = [address.to_le_bytes(), 64_u64.to_le_bytes()].concat();
        let mut found = 0;
        for at in 0..changed.len() - 16 {
            if changed[at..at + 16] == entry {
                changed[at..at + 8].copy_from_slice(&place.to_le_bytes());
                found += 1;
            }
        }
        assert!(found >= 2, "in both symbol tables");
        let error = exercise(&changed).expect_err("must be refused").to_string();
        assert!(
            error.contains("probe.kd` at address") || error.contains("its descriptor at address"),
            "{place:#x}: {error}"
        );
    }
}

#[test]
fn deep_or_huge_metadata_is_an_error() {
    use ferrowave_code_object::Metadata;
    for bytes in [
        // Nested arrays, nested maps, and counts without contents.
        vec![0x91; 100_000],
        vec![0x81; 100_000],
        vec![0xdd, 0xff, 0xff, 0xff, 0xff],
        vec![0xdf, 0xff, 0xff, 0xff, 0xff],
        vec![0xdb, 0xff, 0xff, 0xff, 0xff],
        vec![],
        vec![0x80, 0x80],
        vec![0x80],
        vec![0xc1],
    ] {
        assert!(
            Metadata::parse(&bytes, Gpu::Gfx942).is_err(),
            "{:x?}",
            &bytes[..bytes.len().min(8)]
        );
    }
    let error = Metadata::parse(&vec![0; (64 << 20) + 1], Gpu::Gfx942).expect_err("too large");
    assert!(
        matches!(error, CodeObjectError::MetadataTooLarge { .. }),
        "{error:?}"
    );
}
