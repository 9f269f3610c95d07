; meet(out: *mut u32), workgroups of one work-item: workgroup i stores i + 1 at out[i], waits for all others as ROCm's
; device library does on gfx942 (`__ockl_grid_sync`, without GWS), and stores its neighbour's value at out[32 + i].
; RETURNS and COHERENT are replaced by each GPU's spelling, ACCUM_OFFSET as in add.s.
.text
.globl meet
.p2align 8
.type meet,@function
meet:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_lshl_b32 s8, s2, 2
  s_add_u32 s9, s2, 1
  v_mov_b32_e32 v0, s8
  v_mov_b32_e32 v1, s9
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 1
  s_waitcnt lgkmcnt(0)
  s_load_dword s10, s[6:7], 0x28
  global_store_dword v0, v1, s[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_atomic_add v4, v2, v3, s[6:7] offset:32 RETURNS
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s11, v4
  s_and_b32 s12, s11, 0xffff
  s_sub_u32 s13, s10, 1
  s_cmp_eq_u32 s12, s13
  s_cbranch_scc0 .Llook
  s_sub_u32 s13, 0x10000, s10
  v_mov_b32_e32 v3, s13
  global_atomic_add v2, v3, s[6:7] offset:32
  s_branch .Lmet
.Llook:
  s_sleep 1
  global_load_dword v4, v2, s[6:7] offset:32 COHERENT
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s12, v4
  s_xor_b32 s12, s12, s11
  s_and_b32 s12, s12, 0xffff0000
  s_cmp_eq_u32 s12, 0
  s_cbranch_scc1 .Llook
.Lmet:
  s_cmp_eq_u32 s9, s10
  s_cselect_b32 s9, 0, s9
  s_lshl_b32 s9, s9, 2
  v_mov_b32_e32 v1, s9
  global_load_dword v1, v1, s[4:5] COHERENT
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[4:5] offset:128
  s_endpgm
.Lend:
.size meet, .Lend-meet

.rodata
.p2align 6
.amdhsa_kernel meet
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  ACCUM_OFFSET
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: meet
    .symbol: meet.kd
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: hidden_multigrid_sync_arg }
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
