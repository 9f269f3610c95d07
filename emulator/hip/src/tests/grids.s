; grids(out: *mut u32), one wave in each of several grids: stores 0 at out, meets the other grids in the memory of ROCclr's
; `MGSyncInfo`, and stores rank and number of the grids, and the work-items before this grid and of all grids, from out on.
; COHERENT is replaced by each GPU's spelling, ACCUM_OFFSET as in add.s.
.text
.globl grids
.p2align 8
.type grids,@function
grids:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 1
  s_waitcnt lgkmcnt(0)
  s_load_dwordx8 s[8:15], s[6:7], 0x0
  global_store_dword v2, v2, s[4:5]
  s_mov_b64 exec, 1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_atomic_add v2, v3, s[8:9]
.Lwait:
  s_sleep 1
  global_load_dword v4, v2, s[8:9] COHERENT
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s3, v4
  s_cmp_eq_u32 s3, s11
  s_cbranch_scc0 .Lwait
  v_mov_b32_e32 v4, s10
  v_mov_b32_e32 v5, s11
  v_mov_b32_e32 v6, s12
  v_mov_b32_e32 v7, s14
  global_store_dwordx4 v2, v[4:7], s[4:5]
  s_endpgm
.Lend:
.size grids, .Lend-grids

.rodata
.p2align 6
.amdhsa_kernel grids
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  ACCUM_OFFSET
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: grids
    .symbol: grids.kd
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
