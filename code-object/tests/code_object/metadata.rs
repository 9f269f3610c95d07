//! Metadata, compared with the source that LLVM assembled.

use ferrowave_code_object::{AddressSpace, CodeObject, CodeObjectError, KernelKind, ValueKind};
use ferrowave_gpu::Gpu;

use crate::support::{self, Kernel, assembled};

#[test]
fn metadata_of_a_kernel_with_everything() {
    let metadata = "    .kind: init
    .sgpr_spill_count: 1
    .vgpr_spill_count: 2
    .agpr_count: 3
    .reqd_workgroup_size: [32, 4, 2]
    .workgroup_size_hint: [64, 1, 1]
    .uses_dynamic_stack: true
    .uniform_work_group_size: 1
    .language: OpenCL C
    .device_enqueue_symbol: handle
    .args:
      - .name: data
        .type_name: 'float*'
        .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
        .access: read_only
        .actual_access: write_only
        .is_const: true
        .is_restrict: true
      - .offset: 8
        .size: 4
        .value_kind: by_value
      - .offset: 12
        .size: 4
        .value_kind: dynamic_shared_pointer
        .address_space: local
        .pointee_align: 16
      - .offset: 16
        .size: 4
        .value_kind: hidden_block_count_x
      - .offset: 24
        .size: 8
        .value_kind: hidden_of_the_future
        .address_space: elsewhere";
    let text = Kernel::new(Gpu::Gfx90a)
        .kernarg_size(32)
        .metadata(metadata)
        .text();
    // The assembler's verifier rejects unknown kinds, which a later compiler may write, so the test patches the bytes.
    let text = text
        .replace("hidden_of_the_future", "hidden_heap_v1")
        .replace("address_space: elsewhere", "address_space: generic");
    let mut bytes = assembled(Gpu::Gfx90a, &text);
    support::replace(&mut bytes, b"hidden_heap_v1", b"hidden_heap_v9");
    support::replace(&mut bytes, b"generic", b"uncanny");
    let object = CodeObject::parse(&bytes).expect("parses");
    let kernel = &object.kernels()[0].metadata;

    assert_eq!(
        (kernel.name.as_str(), kernel.symbol.as_str()),
        ("probe", "probe.kd")
    );
    assert_eq!(kernel.kind, KernelKind::Init);
    assert_eq!(
        (kernel.kernarg_segment_size, kernel.kernarg_segment_align),
        (32, 8)
    );
    assert_eq!(
        (
            kernel.group_segment_fixed_size,
            kernel.private_segment_fixed_size
        ),
        (0, 0)
    );
    assert_eq!(
        (kernel.sgpr_count, kernel.vgpr_count, kernel.agpr_count),
        (14, 8, Some(3))
    );
    assert_eq!(
        (kernel.sgpr_spill_count, kernel.vgpr_spill_count),
        (Some(1), Some(2))
    );
    assert_eq!(
        (kernel.wavefront_size, kernel.max_flat_workgroup_size),
        (64, 256)
    );
    assert_eq!(kernel.reqd_workgroup_size, Some([32, 4, 2]));
    assert_eq!(kernel.workgroup_size_hint, Some([64, 1, 1]));
    assert!(kernel.uses_dynamic_stack && kernel.uniform_work_group_size);
    assert_eq!(kernel.language.as_deref(), Some("OpenCL C"));
    assert_eq!(kernel.device_enqueue_symbol.as_deref(), Some("handle"));

    let args: Vec<_> = kernel
        .args
        .iter()
        .map(|arg| {
            (
                arg.offset,
                arg.size,
                arg.value_kind.clone(),
                arg.address_space.clone(),
            )
        })
        .collect();
    assert_eq!(
        args,
        [
            (0, 8, ValueKind::GlobalBuffer, Some(AddressSpace::Global)),
            (8, 4, ValueKind::ByValue, None),
            (
                12,
                4,
                ValueKind::DynamicSharedPointer,
                Some(AddressSpace::Local)
            ),
            (16, 4, ValueKind::HiddenBlockCountX, None),
            (
                24,
                8,
                ValueKind::Other("hidden_heap_v9".to_owned()),
                Some(AddressSpace::Other("uncanny".to_owned()))
            ),
        ]
    );
    let hidden: Vec<_> = kernel
        .args
        .iter()
        .map(|arg| arg.value_kind.is_hidden())
        .collect();
    assert_eq!(hidden, [false, false, false, true, true]);
    let first = &kernel.args[0];
    assert_eq!(
        (first.name.as_deref(), first.type_name.as_deref()),
        (Some("data"), Some("float*"))
    );
    assert_eq!(
        (first.access.as_deref(), first.actual_access.as_deref()),
        (Some("read_only"), Some("write_only"))
    );
    assert!(first.is_const && first.is_restrict && !first.is_volatile && !first.is_pipe);
    assert_eq!(kernel.args[2].pointee_align, Some(16));
    assert_eq!(
        object.metadata().target.as_deref(),
        Some("amdgcn-amd-amdhsa-unknown-gfx90a")
    );
}

#[test]
fn every_value_kind_of_the_documentation_is_known() {
    let kinds = "by_value global_buffer dynamic_shared_pointer sampler image pipe queue hidden_global_offset_x \
        hidden_global_offset_y hidden_global_offset_z hidden_none hidden_printf_buffer hidden_hostcall_buffer \
        hidden_default_queue hidden_completion_action hidden_multigrid_sync_arg hidden_block_count_x \
        hidden_block_count_y hidden_block_count_z hidden_group_size_x hidden_group_size_y hidden_group_size_z \
        hidden_remainder_x hidden_remainder_y hidden_remainder_z hidden_grid_dims hidden_heap_v1 \
        hidden_dynamic_lds_size hidden_private_base hidden_shared_base hidden_queue_ptr";
    let mut metadata = String::from("    .args:\n");
    let mut count = 0;
    for kind in kinds.split_whitespace() {
        metadata += &format!(
            "      - .offset: {}\n        .size: 8\n        .value_kind: {kind}\n",
            count * 8
        );
        count += 1;
    }
    let text = Kernel::new(Gpu::Gfx942)
        .kernarg_size(count * 8)
        .metadata(&metadata)
        .text();
    // The assembler's verifier accepts them too.
    let object = CodeObject::parse(&assembled(Gpu::Gfx942, &text)).expect("parses");
    let args = &object.kernels()[0].metadata.args;
    for (arg, kind) in args.iter().zip(kinds.split_whitespace()) {
        assert_eq!(arg.value_kind.as_str(), kind);
        assert!(!matches!(arg.value_kind, ValueKind::Other(_)), "{kind}");
    }
    assert_eq!(args.len(), count as usize);
}

#[test]
fn several_notes_are_one_metadata() {
    let second = Kernel::new(Gpu::Gfx942).name("second").text();
    let text = Kernel::new(Gpu::Gfx942).text() + &second;
    let object = CodeObject::parse(&assembled(Gpu::Gfx942, &text)).expect("parses");
    let names: Vec<_> = object
        .kernels()
        .iter()
        .map(|kernel| kernel.metadata.name.as_str())
        .collect();
    assert_eq!(names, ["probe", "second"]);
    assert!(object.kernel("second").is_some() && object.kernel("third").is_none());
    let error = CodeObject::parse(&assembled(
        Gpu::Gfx942,
        &text.replace(".name: second", ".name: probe"),
    ))
    .expect_err("two of a name");
    assert!(
        matches!(error, CodeObjectError::DuplicateKernel { .. }),
        "{error:?}"
    );
}
