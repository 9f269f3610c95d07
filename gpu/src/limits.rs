//! What a compute unit of each GPU has: one table.
//!
//! | figure | source |
//! |---|---|
//! | vector registers, their granule, waves a SIMD | LLVM `AMDGPUUsage`, `compute_pgm_rsrc1`: granules of 4 (gfx908) and 8; AMD «CDNA 2» ISA guide, 3.6: 512 VGPRs, of both kinds together, a lane; AMD CDNA white papers: 10 and 8 waves a SIMD |
//! | scalar registers | AMD «Vega» and CDNA ISA guides: 800 a SIMD, allocated by 16; LLVM `AMDGPUBaseInfo`: 16 more a wave for the trap handler, which the amdhsa runtime installs |
//! | LDS | AMD CDNA 1 to 3 ISA guides: 64 KiB a compute unit, by 128 dwords; CDNA 4: 160 KiB, by 320 dwords |
//! | workgroups | LLVM `AMDGPUBaseInfo`: 16 barriers a compute unit, of which a workgroup of one wave needs none |

use crate::Gpu;

/// What a compute unit of a GPU has, and in what pieces it hands it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuLimits {
    /// SIMDs of a compute unit.
    pub simds: u32,
    /// Waves that a SIMD holds at most.
    pub max_waves_per_simd: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Work-items of a workgroup at most.
    pub max_workgroup_size: u32,
    /// Workgroups of more than one wave that a compute unit holds at most.
    pub max_barrier_workgroups: u32,
    /// Vector registers of a SIMD's lane: VGPRs alone on gfx908, which has as many accumulation VGPRs beside them; both
    /// kinds together from gfx90a on.
    pub vgprs: u32,
    /// Vector registers of a wave at most, counted likewise.
    pub max_vgprs_per_wave: u32,
    /// Vector registers are allocated to a wave in multiples of this.
    pub vgpr_granule: u32,
    /// Scalar registers of a SIMD.
    pub sgprs: u32,
    /// Scalar registers are allocated to a wave in multiples of this.
    pub sgpr_granule: u32,
    /// Scalar registers that each wave is given beyond its own, for the trap handler.
    pub trap_handler_sgprs: u32,
    /// LDS of a compute unit, and so of a workgroup at most, in bytes.
    pub lds_bytes: u32,
    /// LDS is allocated to a workgroup in multiples of this, in bytes.
    pub lds_granule_bytes: u32,
}

impl GpuLimits {
    /// The limits of a GPU.
    pub const fn of(gpu: Gpu) -> Self {
        let unified = GpuLimits {
            simds: 4,
            max_waves_per_simd: 8,
            wave_size: 64,
            max_workgroup_size: 1024,
            max_barrier_workgroups: 16,
            vgprs: 512,
            max_vgprs_per_wave: 512,
            vgpr_granule: 8,
            sgprs: 800,
            sgpr_granule: 16,
            trap_handler_sgprs: 16,
            lds_bytes: 64 << 10,
            lds_granule_bytes: 512,
        };
        match gpu {
            Gpu::Gfx908 => GpuLimits {
                max_waves_per_simd: 10,
                vgprs: 256,
                max_vgprs_per_wave: 256,
                vgpr_granule: 4,
                ..unified
            },
            Gpu::Gfx90a | Gpu::Gfx942 => unified,
            Gpu::Gfx950 => GpuLimits {
                lds_bytes: 160 << 10,
                lds_granule_bytes: 1280,
                ..unified
            },
        }
    }
}
