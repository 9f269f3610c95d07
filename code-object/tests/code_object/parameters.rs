//! Parameter types, from hand-written debug information; `cargo-gpu-amdgpu/tests` tests rustc's.

use ferrowave_code_object::{CodeObject, Parameter, Scalar, parameters};
use ferrowave_gpu::Gpu;

use crate::support::{Kernel, assembled};

/// A compile unit with a function `probe` of seven parameters (DWARF 4, sections 7.5.3 and 7.5.4).
const ABBREVIATIONS: &str = ".section .debug_abbrev,\"\",@progbits
.byte 1, 0x11, 1, 0, 0 ; compile_unit
.byte 2, 0x2e, 1, 0x11, 0x01, 0, 0 ; subprogram: low_pc
.byte 3, 0x05, 0, 0x03, 0x08, 0x49, 0x13, 0, 0 ; formal_parameter: name, type
.byte 4, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0 ; base_type: name, encoding, byte_size
.byte 5, 0x0f, 0, 0x49, 0x13, 0, 0 ; pointer_type: type
.byte 6, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0 ; typedef: name, type
.byte 7, 0x13, 0, 0x03, 0x08, 0, 0 ; structure_type: name
.byte 8, 0x26, 0, 0x49, 0x13, 0, 0 ; const_type: type
.byte 9, 0x26, 0, 0, 0 ; const_type of void
.byte 0
";
const INFORMATION: &str = ".section .debug_info,\"\",@progbits
.Lunit:
.long .Lend_info-.Lstart_info
.Lstart_info:
.short 4
.long .debug_abbrev
.byte 8
.byte 1
.byte 2
.quad probe
.byte 3
.asciz \"x\"
.long .Lpointer-.Lunit
.byte 3
.asciz \"n\"
.long .Lcount-.Lunit
.byte 3
.asciz \"s\"
.long .Lstruct-.Lunit
.byte 3
.asciz \"c\"
.long .Lcircle-.Lunit
.byte 3
.asciz \"y\"
.long .Lto_const-.Lunit
.byte 3
.asciz \"p\"
.long .Lto_void-.Lunit
.byte 3
.asciz \"q\"
.long .Lconst_pointer-.Lunit
.byte 0
.Lfloat:
.byte 4
.asciz \"float\"
.byte 4, 4
.Lint:
.byte 4
.asciz \"unsigned int\"
.byte 7, 4
.Lpointer:
.byte 5
.long .Lfloat-.Lunit
.Lconst:
.byte 8
.long .Lfloat-.Lunit
.Lto_const:
.byte 5
.long .Lconst-.Lunit
.Lconst_void:
.byte 9
.Lto_void:
.byte 5
.long .Lconst_void-.Lunit
.Lconst_pointer:
.byte 8
.long .Lpointer-.Lunit
.Lcount:
.byte 6
.asciz \"count_t\"
.long .Lint-.Lunit
.Lstruct:
.byte 7
.asciz \"pair\"
.Lcircle:
.byte 6
.asciz \"circle\"
.long .Lcircle-.Lunit
.byte 0
.Lend_info:
";

fn read(text: &str) -> Option<Vec<Parameter>> {
    let bytes = assembled(Gpu::Gfx90a, text);
    let object = CodeObject::parse(&bytes).expect("parses");
    parameters(&bytes, object.kernels()[0].code.start)
}

#[test]
fn parameters_have_the_types_of_the_debug_information() {
    let kernel = Kernel::new(Gpu::Gfx90a).text() + "\n";
    let parameter = |name: &str, type_name: &str, is_pointer, scalar| Parameter {
        name: Some(name.to_owned()),
        type_name: type_name.to_owned(),
        is_pointer,
        scalar,
    };
    let [float, integer] = [true, false].map(|is_float| Some(Scalar { bytes: 4, is_float }));
    assert_eq!(
        read(&(kernel.clone() + ABBREVIATIONS + INFORMATION)).expect("types"),
        [
            parameter("x", "float*", true, float),
            parameter("n", "count_t", false, integer),
            parameter("s", "pair", false, None),
            // A circular typedef terminates.
            parameter("c", "circle", false, None),
            parameter("y", "const float*", true, float),
            parameter("p", "const void*", true, None),
            parameter("q", "float* const", true, float),
        ]
    );

    assert_eq!(read(&kernel), None);
    // Truncated at any byte, or with any byte changed, parsing gives a result or `None`.
    let bytes = assembled(Gpu::Gfx90a, &(kernel + ABBREVIATIONS + INFORMATION));
    let entry = CodeObject::parse(&bytes).expect("parses").kernels()[0]
        .code
        .start;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        let _ = parameters(&changed, entry);
        let _ = parameters(&bytes[..at], entry);
    }
}
