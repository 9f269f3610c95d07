; Two kernels and a variable, for tests of the HIP functions on all GPUs. ACCUM_OFFSET is replaced: on gfx90a and later
; by `.amdhsa_accum_offset 4`, on gfx908 by nothing.
;
; add(out: *mut u32, in: *const u32, bias: u32): out[i] = in[i] + bias, workgroups of up to 64.
; lds(): does nothing, with 1024 bytes of LDS and a required workgroup size of 32 × 2.
.text
.globl add
.p2align 8
.type add,@function
add:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s3, s[0:1], 0x10
  ; On gfx90a and later, v0 has x in its low ten bits; on gfx908 only x.
  v_and_b32_e32 v0, 0x3ff, v0
  s_lshl_b32 s2, s2, 6
  v_add_u32_e32 v0, s2, v0
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v1, s3, v1
  global_store_dword v0, v1, s[4:5]
  s_endpgm
.Ladd_end:
.size add, .Ladd_end-add

.globl lds
.p2align 8
.type lds,@function
lds:
  s_endpgm
.Llds_end:
.size lds, .Llds_end-lds

.data
.globl table
.p2align 4
.type table,@object
table:
  .long 10, 20, 30, 40
.size table, 16

.rodata
.p2align 6
.amdhsa_kernel add
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 8
  ACCUM_OFFSET
.end_amdhsa_kernel
.amdhsa_kernel lds
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 8
  ACCUM_OFFSET
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: add
    .symbol: add.kd
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 4, .value_kind: by_value }
      # What no caller passes.
      - { .offset: 24, .size: 4, .value_kind: hidden_block_count_x }
    .kernarg_segment_size: 32
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 2
    .max_flat_workgroup_size: 64
  - .name: lds
    .symbol: lds.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 2
    .max_flat_workgroup_size: 64
    .reqd_workgroup_size: [32, 2, 1]
...
.end_amdgpu_metadata
