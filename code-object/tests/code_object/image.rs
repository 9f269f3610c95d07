//! Symbols, segments and relocations, compared with `llvm-readobj` and the assembled source.

use ferrowave_code_object::{
    CodeObject, CodeObjectError, RelocationKind, RelocationTarget, SymbolKind,
};
use ferrowave_gpu::Gpu;

use crate::support::{Kernel, assembled, readobj};

const DATA: &str = "
.protected helper
.globl helper
.type helper,@function
.text
.p2align 8
helper:
s_nop 1
s_setpc_b64 s[30:31]
.size helper, 8
.data
.globl table
.protected table
.type table,@object
.p2align 3
table:
.quad table+16
.quad helper
.long 7
.size table, 20
.globl pointer
.type pointer,@object
.p2align 3
pointer:
.quad imported+5
.size pointer, 8
.globl absolute
.set absolute, 0x1234
.type weak,@object
.weak weak
.quad weak
.bss
.globl zeros
.type zeros,@object
.p2align 6
zeros:
.zero 100
.size zeros, 100
";

/// A code object with data and relocations. `more` is further source, which may define `imported`.
fn with_data(more: &str) -> CodeObject {
    let text = Kernel::new(Gpu::Gfx90a).text() + DATA + more;
    CodeObject::parse(&assembled(Gpu::Gfx90a, &text)).expect("parses")
}

const IMPORTED: &str =
    ".data\n.globl imported\n.type imported,@object\nimported:\n.byte 1,2,3,4\n.size imported, 4\n";

#[test]
fn symbols_are_what_readobj_lists() {
    let object = with_data(IMPORTED);
    let listed = readobj(object.bytes(), "--symbols");
    for (name, kind, size) in [
        ("probe", SymbolKind::Function, 4),
        ("probe.kd", SymbolKind::KernelDescriptor, 64),
        ("helper", SymbolKind::Function, 8),
        ("table", SymbolKind::Variable, 20),
        ("zeros", SymbolKind::Variable, 100),
    ] {
        let symbol = object.symbol(name).expect(name);
        assert_eq!((symbol.kind, symbol.size), (kind, size), "{name}");
        assert!(symbol.exported, "{name}");
        let entry = listed
            .split("Symbol {")
            .find(|entry| entry.contains(&format!("Name: {name} (")))
            .expect(name);
        assert!(
            entry.contains(&format!("Value: {:#X}\n", symbol.address).replace("0X", "0x")),
            "{entry}"
        );
    }
    assert!(object.symbol("absolute").is_none(), "it has no address");
    assert!(object.symbol("weak").is_none(), "it is not defined");
    assert_eq!(object.global("table"), object.symbol("table"));
    assert_eq!(object.global("helper"), None);
    assert_eq!(object.global("probe.kd"), None);

    let helper = object.symbol("helper").expect("helper").address;
    for (address, name) in [
        (helper, Some("helper")),
        (helper + 7, Some("helper")),
        (helper + 8, None),
    ] {
        assert_eq!(
            object
                .function_at(address)
                .map(|symbol| symbol.name.as_str()),
            name
        );
    }
    let kernel = &object.kernels()[0];
    assert_eq!(kernel.code.end - kernel.code.start, 4);
    assert_eq!(object.kernel_at(kernel.code.start), Some(kernel));
    assert_eq!(object.kernel_at(kernel.code.end), None);
    assert!(
        object
            .text_ranges()
            .iter()
            .any(|text| text.contains(&helper))
    );
}

#[test]
fn the_image_is_relocated_to_where_it_is_loaded() {
    let object = with_data(IMPORTED);
    let kinds: Vec<_> = object
        .relocations()
        .iter()
        .map(|relocation| relocation.kind)
        .collect();
    assert!(
        kinds.contains(&RelocationKind::Relative64) && kinds.contains(&RelocationKind::Abs64),
        "{kinds:?}"
    );

    let base = 0x7f12_3450_0000;
    let mut image = vec![0xee; object.image_size() as usize];
    object.load_image(base, &mut image).expect("loads");
    let at = |name: &str| object.symbol(name).expect(name).address;
    let u64_at = |address: u64| {
        let address = address as usize;
        u64::from_le_bytes(image[address..address + 8].try_into().expect("8 bytes"))
    };
    assert_eq!(u64_at(at("table")), base + at("table") + 16);
    assert_eq!(u64_at(at("table") + 8), base + at("helper"));
    assert_eq!(u64_at(at("pointer")), base + at("imported") + 5);
    assert_eq!(u64_at(at("pointer") + 8), 0, "an undefined weak symbol");
    let zeros = at("zeros") as usize;
    assert!(image[zeros..zeros + 100].iter().all(|&byte| byte == 0));
    let kernel = &object.kernels()[0];
    let code = kernel.code.start as usize;
    assert_eq!(image[code..code + 4], 0xbf81_0000_u32.to_le_bytes());
    // The whole buffer was written, including gaps between segments.
    assert_eq!(
        object.file_bytes(kernel.descriptor_address, 64),
        Some(&image[kernel.descriptor_address as usize..][..64])
    );
    let gaps = object
        .segments()
        .windows(2)
        .map(|pair| pair[0].addresses().end..pair[1].address);
    for gap in gaps {
        assert!(
            image[gap.start as usize..gap.end as usize]
                .iter()
                .all(|&byte| byte == 0)
        );
    }
}

#[test]
fn segments_are_what_readobj_lists() {
    let object = with_data(IMPORTED);
    let listed = readobj(object.bytes(), "--program-headers");
    let loads: Vec<_> = listed
        .split("ProgramHeader {")
        .filter(|entry| entry.contains("Type: PT_LOAD"))
        .collect();
    assert_eq!(object.segments().len(), loads.len());
    for (segment, entry) in object.segments().iter().zip(loads) {
        for line in [
            format!("VirtualAddress: {:#X}\n", segment.address),
            format!("Offset: {:#X}\n", segment.file_range.start),
            format!("FileSize: {}\n", segment.file_range.len()),
            format!("MemSize: {}\n", segment.memory_size),
        ] {
            assert!(entry.contains(&line.replace("0X", "0x")), "{line} {entry}");
        }
        assert_eq!(entry.contains("PF_R ("), segment.readable);
        assert_eq!(entry.contains("PF_W ("), segment.writable);
        assert_eq!(entry.contains("PF_X ("), segment.executable);
    }
    assert_eq!(object.image_align(), 4096);
    assert_eq!(
        object.image_size(),
        object.segments().last().expect("one").addresses().end
    );
}

#[test]
fn loading_elsewhere_or_without_a_symbol_is_refused() {
    let object = with_data("");
    let undefined = RelocationTarget::Undefined("imported".to_owned());
    assert!(
        object
            .relocations()
            .iter()
            .any(|relocation| relocation.target == undefined)
    );
    let mut image = vec![0; object.image_size() as usize];
    let error = object
        .load_image(0x1000, &mut image)
        .expect_err("imported is not defined");
    assert!(error.to_string().contains("`imported`"), "{error}");

    let object = with_data(IMPORTED);
    let mut check = |base, length: u64, part: &str| {
        image.resize(length as usize, 0);
        let error = object
            .load_image(base, &mut image)
            .expect_err("must be refused");
        assert!(error.to_string().contains(part), "{error}");
    };
    let size = object.image_size();
    check(0x1000, size - 1, "the buffer for it has");
    check(0x1000, size + 1, "the buffer for it has");
    check(0x1008, size, "a multiple of 0x1000");
    check(
        u64::MAX - 0xfff,
        size,
        "can't be loaded at 0xfffffffffffff000",
    );
}

#[test]
fn relocations_of_every_kind() {
    // The linker emits the 64-bit kinds. The others are patched in, because AMD's runtime accepts them too.
    let object = with_data(IMPORTED);
    let place = object.symbol("pointer").expect("pointer").address;
    let target = object.symbol("imported").expect("imported").address;
    let entry = |kind: u32| {
        let symbol_and_kind = |kind: u32, bytes: &[u8]| {
            bytes[..8] == place.to_le_bytes() && bytes[8..12] == kind.to_le_bytes()
        };
        let mut bytes = object.bytes().to_vec();
        let at = bytes
            .windows(24)
            .position(|bytes| symbol_and_kind(3, bytes))
            .expect("R_AMDGPU_ABS64");
        bytes[at + 8..at + 12].copy_from_slice(&kind.to_le_bytes());
        bytes
    };
    let load = |kind: RelocationKind, base: u64| {
        let object = CodeObject::parse(&entry(kind as u32))?;
        let mut image = vec![0; object.image_size() as usize];
        object.load_image(base, &mut image)?;
        let place = place as usize;
        Ok::<_, CodeObjectError>(u64::from_le_bytes(
            image[place..place + 8].try_into().expect("8 bytes"),
        ))
    };
    let base = 0x1234_5678_9000_u64;
    let value = base + target + 5;
    // The field's upper half keeps the file's contents, which are zero.
    let relative = target.wrapping_add(5).wrapping_sub(place);
    for (kind, expected) in [
        (RelocationKind::Abs64, value),
        (RelocationKind::Abs32Lo, value & 0xffff_ffff),
        (RelocationKind::Abs32Hi, value >> 32),
        (RelocationKind::Rel64, relative),
        (RelocationKind::Rel32, relative & 0xffff_ffff),
        (RelocationKind::Rel32Lo, relative & 0xffff_ffff),
        (RelocationKind::Rel32Hi, relative >> 32),
        (RelocationKind::Relative64, base + 5),
    ] {
        assert_eq!(load(kind, base), Ok(expected), "{kind:?}");
    }
    assert_eq!(
        load(RelocationKind::Abs32, 0x1_0000),
        Ok(0x1_0000 + target + 5)
    );
    let overflow = CodeObjectError::RelocationOverflow {
        address: place,
        value,
    };
    assert_eq!(load(RelocationKind::Abs32, base), Err(overflow));

    let none = CodeObject::parse(&entry(0)).expect("R_AMDGPU_NONE does nothing");
    assert_eq!(none.relocations().len() + 1, object.relocations().len());
    for kind in [7, 12, 14, 99] {
        let error = CodeObject::parse(&entry(kind)).expect_err("not a dynamic relocation");
        assert_eq!(
            error,
            CodeObjectError::RelocationType {
                address: place,
                kind
            }
        );
    }
}
