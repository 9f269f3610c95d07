//! Source lines, from hand-written line tables.

use ferrowave_code_object::CodeObject;
use ferrowave_gpu::Gpu;

use crate::support::{Kernel, assembled};

#[test]
fn line_tables_lead_to_the_source() {
    let text = ".file 1 \"/src\" \"probe.s\"\n".to_owned()
        + &Kernel::new(Gpu::Gfx90a)
            .code(".loc 1 7 3\ns_nop 0\n.loc 1 9 5\ns_nop 1\ns_endpgm")
            .text();
    let with_lines = text.clone()
        + "\n.section .debug_abbrev,\"\",@progbits\n.byte 1,17,0,16,23,3,8,0,0,0\n"
        + ".section .debug_info,\"\",@progbits\n.long .Lend_info-.Lstart_info\n.Lstart_info:\n.short 4\n.long .debug_abbrev\n.byte 8\n.byte 1\n.long .debug_line\n.asciz \"probe.s\"\n.Lend_info:\n";
    let bytes = assembled(Gpu::Gfx90a, &with_lines).into();
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
