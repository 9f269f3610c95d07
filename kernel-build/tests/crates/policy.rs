//! Kernels that violate a policy, and what it reports.

use ferrowave_code_object::CodeObject;
use ferrowave_gpu::{Gpu, Limiter};
use ferrowave_kernel_build::{Policy, Toolchain, assemble, inspect};

use crate::support::{Fixture, run};

fn toolchain() -> Toolchain {
    Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain")
}

/// Builds the fixture with a feature, checks it, and returns the error.
fn refusal(feature: &str, gpu: Gpu) -> String {
    let fixture = Fixture::new(&format!("policy {feature} {gpu}"));
    let built = run(&fixture.build().gpu(gpu).features(&[feature])).expect("builds");
    let reports = inspect(&toolchain(), &built[0].code_object).expect("inspects");
    let error = Policy::STRICT.check(&reports).expect_err("must be refused");
    // The plain kernel is not reported.
    assert!(!error.to_string().contains("`scale`"), "{error}");
    let lenient = Policy {
        no_spills: true,
        no_scalar_spills: true,
        no_scratch: feature != "scratch",
        no_flat: feature != "flat",
    };
    lenient.check(&reports).expect("allowed now");
    error.to_string()
}

#[test]
fn a_flat_instruction_is_refused_with_its_source_line() {
    let error = refusal("flat", Gpu::Gfx942);
    let source = include_str!("../fixtures/kernels/src/lib.rs");
    let line = source
        .lines()
        .position(|line| line.contains("*(address as"))
        .expect("the line")
        + 1;
    for part in [
        "kernel `chase` for gfx942 has 1 flat_ instruction, first `flat_load_dword v".to_owned(),
        format!("lib.rs:{line}:"),
        "(chase)".to_owned(),
    ] {
        assert!(error.contains(&part), "{part:?} not in {error}");
    }
}

#[test]
fn scratch_is_refused_with_its_first_access() {
    for (gpu, instruction) in [(Gpu::Gfx942, "`scratch_"), (Gpu::Gfx90a, "`buffer_")] {
        let error = refusal("scratch", gpu);
        for part in [
            format!("kernel `histogram` for {gpu} uses "),
            format!(" bytes of scratch per work-item, first {instruction}"),
            "lib.rs:".to_owned(),
        ] {
            assert!(error.contains(&part), "{part:?} not in {error}");
        }
    }
}

/// A kernel with these spills and registers in its metadata.
fn with_metadata(gpu: Gpu, more: &str) -> CodeObject {
    let accum_offset = if gpu == Gpu::Gfx908 {
        ""
    } else {
        ".amdhsa_accum_offset 4"
    };
    let text = format!(
        ".text\n.globl probe\n.p2align 8\n.type probe,@function\nprobe:\ns_endpgm\n.Lend:\n.size probe, .Lend-probe
.rodata\n.p2align 6\n.amdhsa_kernel probe\n.amdhsa_next_free_vgpr 100\n.amdhsa_next_free_sgpr 8\n{accum_offset}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: probe
    .symbol: probe.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 14
    .vgpr_count: 100
    .max_flat_workgroup_size: 256
{more}
...
.end_amdgpu_metadata
"
    );
    CodeObject::parse(&assemble(gpu, &text).expect("assembles")).expect("parses")
}

#[test]
fn spills_are_refused_by_kind() {
    let check = |more: &str, expected: Option<&str>| {
        let object = with_metadata(Gpu::Gfx942, more);
        let reports = inspect(&toolchain(), &object).expect("inspects");
        let error = Policy::STRICT
            .check(&reports)
            .err()
            .map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    };
    check("", None);
    check("    .sgpr_spill_count: 0\n    .vgpr_spill_count: 0", None);
    check(
        "    .vgpr_spill_count: 3",
        Some("kernel `probe` for gfx942 spills 3 vector and 0 scalar registers"),
    );
    check(
        "    .sgpr_spill_count: 2\n    .vgpr_spill_count: 0",
        Some("kernel `probe` for gfx942 spills 0 vector and 2 scalar registers"),
    );
    check(
        "    .uses_dynamic_stack: true",
        Some(
            "kernel `probe` for gfx942 uses 0 bytes of scratch per work-item and more at run time",
        ),
    );
}

#[test]
fn a_report_says_what_the_metadata_says() {
    let object = with_metadata(Gpu::Gfx90a, "    .agpr_count: 8");
    let reports = inspect(&toolchain(), &object).expect("inspects");
    let report = &reports[0];
    assert_eq!((report.gpu, report.name.as_str()), (Gpu::Gfx90a, "probe"));
    assert_eq!(
        (report.vgprs, report.agprs, report.sgprs),
        (100, Some(8), 14)
    );
    assert_eq!((report.max_workgroup_size, report.code_bytes), (256, 4));
    // 100 registers are allocated as 104: four waves per SIMD, which are four workgroups of four waves.
    assert_eq!(report.occupancy.waves_per_simd, 4);
    assert_eq!(report.occupancy.limited_by, [Limiter::Vgprs]);
}
