//! Assembling and disassembling, compared with the text.

use ferrowave_code_object::{CodeObject, CodeObjectVersion, FeatureSetting};
use ferrowave_gpu::Gpu;
use ferrowave_kernel_build::{
    AssembleError, Assembly, ToolError, Toolchain, assemble, disassemble,
};

fn toolchain() -> Toolchain {
    Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain")
}

/// A kernel with these instructions.
fn kernel(instructions: &str) -> String {
    // gfx908 has no accumulator offset and all later GPUs require it, so tests of one GPU set it in their text.
    format!(
        ".text
.globl probe
.p2align 8
.type probe,@function
probe:
{instructions}
.Lend:
.size probe, .Lend-probe
.rodata
.p2align 6
.amdhsa_kernel probe
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: \"probe\"
    .symbol: probe.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
"
    )
}

#[test]
fn text_comes_back_with_addresses_and_words() {
    let text = kernel(
        "v_add_f32_e32 v0, v1, v2\ns_mov_b32 s0, 0x12345678\ns_branch probe\n.long 0\ns_endpgm",
    );
    let object = assemble(Gpu::Gfx90a, &text).expect("assembles");
    let parsed = CodeObject::parse(&object).expect("parses");
    let start = parsed.kernels()[0].code.start;
    assert_eq!(parsed.kernels()[0].metadata.name, "probe");

    let listing = disassemble(&object).expect("disassembles");
    let of_probe: Vec<_> = listing
        .iter()
        .filter(|instruction| instruction.symbol == "probe")
        .take(5)
        .map(|instruction| {
            (
                instruction.address - start,
                instruction.text.as_str(),
                instruction.words.as_slice(),
            )
        })
        .collect();
    // Words encoded by hand from the MI200 ISA guide: VOP2 opcode 1; SOP1 opcode 0 with a literal; SOPP opcode 2, four
    // dwords back.
    assert_eq!(
        of_probe,
        [
            (0, "v_add_f32_e32 v0, v1, v2", &[0x0200_0501][..]),
            (4, "s_mov_b32 s0, 0x12345678", &[0xbe80_00ff, 0x1234_5678]),
            (12, "s_branch 65532", &[0xbf82_fffc]),
            (16, "v_cndmask_b32_e32 v0, s0, v0, vcc", &[0]),
            (20, "s_endpgm", &[0xbf81_0000]),
        ]
    );
}

#[test]
fn every_version_and_feature_reaches_the_header() {
    let toolchain = toolchain();
    let text = kernel("s_endpgm");
    for version in CodeObjectVersion::ALL {
        for (features, xnack, sramecc) in [
            ("", FeatureSetting::Any, FeatureSetting::Any),
            ("+xnack", FeatureSetting::On, FeatureSetting::Any),
            ("-xnack,+sramecc", FeatureSetting::Off, FeatureSetting::On),
            ("-sramecc", FeatureSetting::Any, FeatureSetting::Off),
        ] {
            let object = Assembly::new(Gpu::Gfx90a, &text)
                .version(version)
                .features(features)
                .assemble(&toolchain)
                .expect("assembles");
            let target = CodeObject::parse(&object).expect("parses").target();
            assert_eq!(
                (target.gpu, target.version, target.xnack, target.sramecc),
                (Gpu::Gfx90a, version, xnack, sramecc),
                "{features}"
            );
        }
    }
}

#[test]
fn text_with_quotes_backslashes_and_other_bytes_arrives_unchanged() {
    let text = kernel("s_endpgm")
        + "\n.data\n.globl text\n.type text,@object\ntext: .ascii \"a\\\"b\\\\c\\n\\001\tµ\"\n.size text, 9\n";
    let object =
        CodeObject::parse(&assemble(Gpu::Gfx942, &text).expect("assembles")).expect("parses");
    let symbol = object.global("text").expect("the variable");
    assert_eq!(
        object.file_bytes(symbol.address, 10),
        Some(&b"a\"b\\c\n\x01\t\xc2\xb5"[..])
    );
}

#[test]
fn the_assemblers_own_message_names_line_and_text() {
    let error = assemble(Gpu::Gfx908, ".text\ns_nop 0\nv_mfma_nonsense v0, v1\n")
        .expect_err("must not assemble");
    let AssembleError::Tool(ToolError::Failed { messages, .. }) = &error else {
        panic!("unexpected: {error:?}");
    };
    assert!(
        messages.contains(":3:1: error: invalid instruction"),
        "{messages}"
    );
    assert!(error.to_string().contains("v_mfma_nonsense"), "{error}");
}

#[test]
fn an_instruction_of_a_later_gpu_is_refused() {
    // Packed f32 arithmetic exists from gfx90a on.
    let text = ".text\nv_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]\n";
    assert!(assemble(Gpu::Gfx90a, text).is_ok());
    assert!(assemble(Gpu::Gfx908, text).is_err());
}

#[test]
fn bytes_that_are_no_code_object_are_not_disassembled() {
    assert!(disassemble(b"not an ELF file").is_err());
}
