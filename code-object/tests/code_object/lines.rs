//! Source lines, from hand-written line tables.

use std::{fs, process::Command};

use ferrowave_code_object::CodeObject;
use ferrowave_gpu::Gpu;

use object::{Object as _, ObjectSection as _};

use crate::support::{Kernel, assembled, toolchain};

/// A kernel with line tables.
fn with_lines(code: &str) -> Vec<u8> {
    let text = ".file 1 \"/src\" \"probe.s\"\n".to_owned()
        + &Kernel::new(Gpu::Gfx90a).code(code).text()
        + "\n.section .debug_abbrev,\"\",@progbits\n.byte 1,17,0,16,23,3,8,0,0,0\n"
        + ".section .debug_info,\"\",@progbits\n.long .Lend_info-.Lstart_info\n.Lstart_info:\n.short 4\n.long .debug_abbrev\n.byte 8\n.byte 1\n.long .debug_line\n.asciz \"probe.s\"\n.Lend_info:\n";
    assembled(Gpu::Gfx90a, &text)
}

#[test]
fn line_tables_lead_to_the_source() {
    let bytes = with_lines(".loc 1 7 3\ns_nop 0\n.loc 1 9 5\ns_nop 1\ns_endpgm").into();
    let object = CodeObject::parse_shared(bytes).expect("parses");
    let start = object.kernels()[0].code.start;
    let line = |offset| {
        let location = object.lines().location(start + offset)?;
        assert_eq!(location.file.as_deref(), Some("/src/probe.s"));
        Some((location.line?, location.column?))
    };
    assert_eq!(line(0), Some((7, 3)));
    assert_eq!(line(4), Some((9, 5)));
    assert_eq!(line(8), Some((9, 5)));
    // The linker pads the section after the code. Past its end there is no line.
    let end = object.text_ranges().last().expect("code").end;
    assert_eq!(line(end - start), None);
    assert_eq!(
        object.lines().location(start).expect("a line").to_string(),
        "/src/probe.s:7:3"
    );

    // Line tables do not need the file's bytes; loading does.
    let left = CodeObject::parse_and_leave(object.bytes()).expect("parses");
    assert_eq!(left.lines().location(start).and_then(|l| l.line), Some(7));
    assert_eq!((left.bytes().len(), object.bytes().len() > 64), (0, true));
    assert_eq!(left.file_bytes(start, 4), None);
    assert_eq!(left.kernels(), object.kernels());
    let mut image = vec![0; left.image_size() as usize];
    let error = left.load_image(0, &mut image).expect_err("no file");
    assert!(error.to_string().contains("not kept"), "{error}");

    // Missing line tables are not an error.
    let object = CodeObject::parse(&assembled(Gpu::Gfx90a, &Kernel::new(Gpu::Gfx90a).text()))
        .expect("parses");
    assert_eq!(
        object.lines().location(object.kernels()[0].code.start),
        None
    );
    assert_eq!(object.lines().frames(u64::MAX), []);
}

/// Sections that the compiler or `llvm-objcopy` has compressed.
#[test]
fn line_tables_may_be_compressed() {
    let lines: String = (1..=400)
        .map(|line| format!(".loc 1 {line} {}\ns_nop 0\n", line % 7))
        .collect();
    let plain = with_lines(&(lines + "s_endpgm"));
    let start = CodeObject::parse(&plain).expect("parses").kernels()[0]
        .code
        .start;
    let line = |bytes: &[u8], offset| {
        let object = CodeObject::parse(bytes).expect("parses");
        object.lines().location(start + offset)?.line
    };
    for method in ["zlib", "zstd"] {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("object");
        fs::write(&file, &plain).expect("writes");
        let status = Command::new(toolchain().llvm_objcopy())
            .arg(format!("--compress-debug-sections={method}"))
            .arg(&file)
            .status();
        assert!(status.expect("runs").success());
        let packed = fs::read(&file).expect("reads");
        assert_ne!(packed, plain);
        for number in [0, 9, 399] {
            assert_eq!(
                line(&packed, 4 * number),
                Some(number as u32 + 1),
                "{method}"
            );
        }
        // The header of a compressed section has its method, then its length.
        let object = object::File::parse(&*packed).expect("an ELF file");
        let section = object.section_by_name(".debug_line").expect("lines");
        let (at, size) = section.file_range().expect("bytes");
        for (place, byte) in [
            (0, 77),
            (8, 1),
            (15, 1),
            (size - 9, !packed[(at + size - 9) as usize]),
        ] {
            let mut broken = packed.clone();
            broken[(at + place) as usize] = byte;
            assert_eq!(line(&broken, 0), None, "{method}, byte {place}");
        }
    }
}
