//! Kernel descriptors, compared with `llvm-objdump`.

use std::{collections::BTreeMap, process::Command};

use ferrowave_code_object::{CodeObject, FloatDenormMode, FloatRoundMode, KernelDescriptor};
use ferrowave_gpu::{Family, Gpu};

use crate::support::{Kernel, assembled, tool};

/// The descriptor's directives as `llvm-objdump` disassembles them.
fn directives(bytes: &[u8]) -> BTreeMap<String, i64> {
    let text = tool(
        bytes,
        |toolchain| Command::new(toolchain.llvm_objdump()),
        &["--disassemble-all", "--section=.rodata"],
    );
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.trim().strip_prefix(".amdhsa_")?.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect()
}

#[test]
fn descriptor_fields_are_those_that_llvm_reads() {
    // Each line changes one field from its default. LLVM's reader and ours then read the whole descriptor.
    let common = [
        "",
        ".amdhsa_group_segment_fixed_size 1234",
        ".amdhsa_private_segment_fixed_size 68",
        ".amdhsa_kernarg_size 40",
        ".amdhsa_next_free_sgpr 77",
        ".amdhsa_float_round_mode_32 1",
        ".amdhsa_float_round_mode_32 3",
        ".amdhsa_float_round_mode_16_64 2",
        ".amdhsa_float_denorm_mode_32 3",
        ".amdhsa_float_denorm_mode_32 1",
        ".amdhsa_float_denorm_mode_16_64 2",
        ".amdhsa_fp16_overflow 1",
        ".amdhsa_system_sgpr_workgroup_id_x 0",
        ".amdhsa_system_sgpr_workgroup_id_y 1",
        ".amdhsa_system_sgpr_workgroup_id_z 1",
        ".amdhsa_system_sgpr_workgroup_info 1",
        ".amdhsa_system_vgpr_workitem_id 1",
        ".amdhsa_system_vgpr_workitem_id 2",
        ".amdhsa_exception_fp_ieee_invalid_op 1",
        ".amdhsa_exception_fp_denorm_src 1",
        ".amdhsa_exception_fp_ieee_div_zero 1",
        ".amdhsa_exception_fp_ieee_overflow 1",
        ".amdhsa_exception_fp_ieee_underflow 1",
        ".amdhsa_exception_fp_ieee_inexact 1",
        ".amdhsa_exception_int_div_zero 1",
        ".amdhsa_user_sgpr_dispatch_ptr 1",
        ".amdhsa_user_sgpr_queue_ptr 1",
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1",
        ".amdhsa_user_sgpr_dispatch_id 1",
        ".amdhsa_user_sgpr_private_segment_size 1",
        ".amdhsa_uses_dynamic_stack 1",
        ".amdhsa_user_sgpr_count 9",
    ];
    let separate_scratch = [
        ".amdhsa_system_sgpr_private_segment_wavefront_offset 1",
        ".amdhsa_user_sgpr_private_segment_buffer 1",
        ".amdhsa_user_sgpr_flat_scratch_init 1",
    ];
    let unified = [
        ".amdhsa_next_free_vgpr 300\n.amdhsa_accum_offset 256",
        ".amdhsa_next_free_vgpr 100\n.amdhsa_accum_offset 60",
        ".amdhsa_tg_split 1",
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_user_sgpr_kernarg_preload_length 6\n.amdhsa_user_sgpr_kernarg_preload_offset 3",
    ];
    let only_gfx908 = [".amdhsa_next_free_vgpr 201"];
    let before_rdna4 = [".amdhsa_dx10_clamp 0", ".amdhsa_ieee_mode 0"];
    let rdna = [
        ".amdhsa_wavefront_size32 0",
        ".amdhsa_wavefront_size32 0\n.amdhsa_next_free_vgpr 37",
        ".amdhsa_next_free_vgpr 37",
        ".amdhsa_next_free_vgpr 256",
        ".amdhsa_workgroup_processor_mode 0",
        ".amdhsa_memory_ordered 0",
        ".amdhsa_forward_progress 1",
        ".amdhsa_inst_pref_size 5",
    ];
    let only_rdna3 =
        [".amdhsa_wavefront_size32 0\n.amdhsa_next_free_vgpr 200\n.amdhsa_shared_vgpr_count 2"];
    let only_rdna4 = [
        ".amdhsa_inst_pref_size 200",
        ".amdhsa_round_robin_scheduling 1",
    ];
    for gpu in Gpu::ALL {
        let mut cases = common.to_vec();
        if gpu.has_architected_scratch() {
            cases.push(".amdhsa_enable_private_segment 1");
        } else {
            cases.extend(separate_scratch);
        }
        if gpu.has_clamp_and_ieee_mode() {
            cases.extend(before_rdna4);
        }
        match (gpu.family(), gpu) {
            (Family::Rdna, Gpu::Gfx1200 | Gpu::Gfx1201) => {
                cases.extend(rdna.into_iter().chain(only_rdna4));
            }
            (Family::Rdna, _) => cases.extend(rdna.into_iter().chain(only_rdna3)),
            (Family::Cdna, Gpu::Gfx908) => cases.extend(only_gfx908),
            (Family::Cdna, _) => cases.extend(unified),
        }
        for case in cases {
            check_descriptor(gpu, case);
        }
    }
}

fn check_descriptor(gpu: Gpu, case: &str) {
    let bytes = assembled(gpu, &Kernel::new(gpu).descriptor(case).text());
    let expected = directives(&bytes);
    assert!(expected.len() > 20, "{expected:?}");
    let object = CodeObject::parse(&bytes).expect("parses");
    let found = object.kernels()[0].descriptor;
    let context = format!("{gpu} {case}: {found:?}");

    // The directives of the case must appear, so that a field cannot be missing from both readers.
    for line in case.lines() {
        let (name, value) = line
            .trim_start_matches(".amdhsa_")
            .split_once(' ')
            .expect("a directive");
        // objdump prints these in other units than the source.
        if !["next_free_sgpr", "next_free_vgpr", "user_sgpr_count"].contains(&name) {
            assert_eq!(
                expected.get(name),
                Some(&value.parse().expect("a number")),
                "{context}"
            );
        }
    }
    let rounds = |mode: FloatRoundMode| mode as i64;
    let denorms = |mode: FloatDenormMode| mode as i64;
    let [x, y, z] = found.enable_sgpr_workgroup_id;
    let (user, exceptions) = (found.user_sgprs, found.enable_exception);
    let ours = [
        (
            "group_segment_fixed_size",
            i64::from(found.group_segment_fixed_size),
        ),
        (
            "private_segment_fixed_size",
            found.private_segment_fixed_size.into(),
        ),
        ("kernarg_size", found.kernarg_size.into()),
        ("next_free_vgpr", found.vgprs().into()),
        (
            "next_free_sgpr",
            match gpu.family() {
                Family::Cdna => i64::from(found.granulated_wavefront_sgpr_count + 1) * 8,
                // Not part of the descriptor; objdump prints it as a comment, or as the smallest number.
                Family::Rdna => expected.get("next_free_sgpr").copied().unwrap_or(0),
            },
        ),
        ("float_round_mode_32", rounds(found.float_round_mode_32)),
        (
            "float_round_mode_16_64",
            rounds(found.float_round_mode_16_64),
        ),
        ("float_denorm_mode_32", denorms(found.float_denorm_mode_32)),
        (
            "float_denorm_mode_16_64",
            denorms(found.float_denorm_mode_16_64),
        ),
        ("dx10_clamp", found.enable_dx10_clamp.into()),
        ("ieee_mode", found.enable_ieee_mode.into()),
        ("fp16_overflow", found.fp16_ovfl.into()),
        (
            "enable_private_segment",
            found.enable_private_segment.into(),
        ),
        (
            "system_sgpr_private_segment_wavefront_offset",
            found.enable_private_segment.into(),
        ),
        ("system_sgpr_workgroup_id_x", x.into()),
        ("system_sgpr_workgroup_id_y", y.into()),
        ("system_sgpr_workgroup_id_z", z.into()),
        (
            "system_sgpr_workgroup_info",
            found.enable_sgpr_workgroup_info.into(),
        ),
        (
            "system_vgpr_workitem_id",
            found.enable_vgpr_workitem_id.into(),
        ),
        (
            "exception_fp_ieee_invalid_op",
            exceptions.fp_invalid_operation.into(),
        ),
        (
            "exception_fp_denorm_src",
            exceptions.fp_denormal_source.into(),
        ),
        (
            "exception_fp_ieee_div_zero",
            exceptions.fp_division_by_zero.into(),
        ),
        ("exception_fp_ieee_overflow", exceptions.fp_overflow.into()),
        (
            "exception_fp_ieee_underflow",
            exceptions.fp_underflow.into(),
        ),
        ("exception_fp_ieee_inexact", exceptions.fp_inexact.into()),
        (
            "exception_int_div_zero",
            exceptions.int_divide_by_zero.into(),
        ),
        (
            "user_sgpr_private_segment_buffer",
            user.private_segment_buffer.into(),
        ),
        ("user_sgpr_dispatch_ptr", user.dispatch_ptr.into()),
        ("user_sgpr_queue_ptr", user.queue_ptr.into()),
        (
            "user_sgpr_kernarg_segment_ptr",
            user.kernarg_segment_ptr.into(),
        ),
        ("user_sgpr_dispatch_id", user.dispatch_id.into()),
        ("user_sgpr_flat_scratch_init", user.flat_scratch_init.into()),
        (
            "user_sgpr_private_segment_size",
            user.private_segment_size.into(),
        ),
        ("uses_dynamic_stack", found.uses_dynamic_stack.into()),
        ("wavefront_size32", found.enable_wavefront_size32.into()),
        ("workgroup_processor_mode", found.wgp_mode.into()),
        ("memory_ordered", found.mem_ordered.into()),
        ("forward_progress", found.fwd_progress.into()),
        ("shared_vgpr_count", i64::from(found.shared_vgprs) / 8),
        (
            "inst_pref_size",
            i64::from(found.instruction_prefetch_bytes) / 128,
        ),
        ("accum_offset", found.accum_offset.unwrap_or(0).into()),
        ("tg_split", found.tg_split.into()),
        (
            "user_sgpr_kernarg_preload_length",
            found.kernarg_preload_length.into(),
        ),
        (
            "user_sgpr_kernarg_preload_offset",
            found.kernarg_preload_offset.into(),
        ),
        // The emulator schedules waves as it does, and has no field for it.
        (
            "round_robin_scheduling",
            (found.compute_pgm_rsrc[0] >> 21 & 1).into(),
        ),
        // objdump always prints these values.
        ("reserve_vcc", 0),
        ("reserve_xnack_mask", 0),
        ("reserve_flat_scratch", 0),
    ];
    let ours: BTreeMap<_, _> = ours.into_iter().collect();
    for (name, value) in &expected {
        assert_eq!(ours.get(name.as_str()), Some(value), "{name}: {context}");
    }
    // objdump omits the user SGPR count. The assembler sums the enabled ones unless the source gives a count.
    let count = user.count() + u32::from(found.kernarg_preload_length);
    let count = if case.contains("user_sgpr_count") {
        9
    } else {
        count
    };
    assert_eq!(u32::from(found.user_sgpr_count), count, "{context}");
}

/// As clang 21 writes the descriptor of a kernel with 16 VGPRs.
#[test]
fn rdna_has_no_count_of_scalar_registers() {
    let mut bytes = [0; KernelDescriptor::BYTES];
    bytes[44..48].copy_from_slice(&0x80_u32.to_le_bytes());
    bytes[48..52].copy_from_slice(&0xe0af_0081_u32.to_le_bytes());
    bytes[52..56].copy_from_slice(&0x9e_u32.to_le_bytes());
    bytes[56..58].copy_from_slice(&0x408_u16.to_le_bytes());
    let found = KernelDescriptor::parse(&bytes, Gpu::Gfx1100, "k").expect("it is valid");
    assert_eq!(
        (found.vgprs(), found.sgprs(), found.wave_size()),
        (16, 128, 32)
    );
    assert!(found.wgp_mode && found.mem_ordered && found.fwd_progress);
}

#[test]
fn register_counts_are_split_as_the_hardware_does() {
    let check = |gpu, directives: &str, vgprs, arch, accum, sgprs| {
        let object = CodeObject::parse(&assembled(
            gpu,
            &Kernel::new(gpu).descriptor(directives).text(),
        ))
        .expect("parses");
        let descriptor = object.kernels()[0].descriptor;
        let found = (
            descriptor.vgprs(),
            descriptor.arch_vgprs(),
            descriptor.accum_vgprs(),
            descriptor.sgprs(),
        );
        assert_eq!(found, (vgprs, arch, accum, sgprs), "{gpu} {directives}");
    };
    // The assembler adds VCC, FLAT_SCRATCH and XNACK_MASK to the scalar registers: 6 on gfx908 and gfx90a.
    check(
        Gpu::Gfx908,
        ".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 26",
        44,
        44,
        44,
        32,
    );
    check(
        Gpu::Gfx908,
        ".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 27",
        44,
        44,
        44,
        48,
    );
    check(
        Gpu::Gfx90a,
        ".amdhsa_next_free_vgpr 100\n.amdhsa_accum_offset 60",
        104,
        60,
        44,
        16,
    );
    check(
        Gpu::Gfx942,
        ".amdhsa_next_free_vgpr 512\n.amdhsa_accum_offset 256",
        512,
        256,
        256,
        16,
    );
    check(
        Gpu::Gfx950,
        ".amdhsa_next_free_vgpr 7\n.amdhsa_accum_offset 8",
        8,
        8,
        0,
        16,
    );
}
