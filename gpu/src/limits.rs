//! The resources of a compute unit of each GPU, in one table.
//!
//! | figure | source |
//! |---|---|
//! | vector registers, their granule, waves per SIMD | LLVM `AMDGPUUsage`, `compute_pgm_rsrc1`: granules of 4 (gfx908) and 8; AMD «CDNA 2» ISA guide, 3.6: 512 VGPRs per lane, both kinds together; AMD CDNA white papers: 10 and 8 waves per SIMD; RDNA: LLVM `AMDGPUBaseInfo`, `getTotalNumVGPRs`, `getVGPRAllocGranule` and `getVGPREncodingGranule`, for waves of 32 lanes, `Feature1_5xVGPRs` |
//! | scalar registers | AMD «Vega» and CDNA ISA guides: 800 per SIMD, allocated in units of 16; LLVM `AMDGPUBaseInfo`: 16 more per wave for the trap handler, which the amdhsa runtime installs; RDNA 3 ISA guide, 2.3: each wave has 128 |
//! | LDS | AMD CDNA 1 to 3 ISA guides: 64 KiB per compute unit, in units of 128 dwords; CDNA 4: 160 KiB, in units of 320 dwords; RDNA 3 ISA guide, 2.3 and 12.1: 128 KiB per workgroup processor, at most 64 KiB for a workgroup, in units of 1 KiB |
//! | sizes of waves, wait counters | AMD CDNA and RDNA ISA guides, «Wavefront» and `S_WAITCNT`; LLVM `AMDGPUBaseInfo`: the widths of the counters' fields |
//! | workgroups | LLVM `AMDGPUBaseInfo`: 16 barriers per compute unit, 32 per workgroup processor; a workgroup of one wave needs none |

use crate::Gpu;

/// The resources of a compute unit and the granularity in which they are allocated. On RDNA these are the resources of a
/// workgroup processor, which is two compute units: HIP shows it as one, and a workgroup may have waves on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuLimits {
    /// SIMDs per compute unit.
    pub simds: u32,
    /// Maximum waves on a SIMD.
    pub max_waves_per_simd: u32,
    /// Work-items per wave, as HIP reports it. A kernel's metadata states its own.
    pub wave_size: u32,
    /// All sizes that the waves of a kernel can have; see [`Self::with_wave_size`].
    pub wave_sizes: &'static [u32],
    /// The largest values of the wait counters.
    pub wait_counters: WaitCounters,
    /// Maximum work-items in a workgroup.
    pub max_workgroup_size: u32,
    /// Maximum workgroups of more than one wave on a compute unit.
    pub max_barrier_workgroups: u32,
    /// Vector registers per lane of a SIMD. On gfx908, VGPRs only: there are as many accumulation VGPRs besides. From
    /// gfx90a on, both kinds together.
    pub vgprs: u32,
    /// Maximum vector registers of a wave, counted in the same way.
    pub max_vgprs_per_wave: u32,
    /// Vector registers are allocated to a wave in multiples of this.
    pub vgpr_granule: u32,
    /// A kernel descriptor counts vector registers in multiples of this.
    pub vgpr_descriptor_granule: u32,
    /// Scalar registers of a SIMD.
    pub sgprs: u32,
    /// Scalar registers are allocated to a wave in multiples of this.
    pub sgpr_granule: u32,
    /// Scalar registers allocated to each wave in addition to its own, for the trap handler.
    pub trap_handler_sgprs: u32,
    /// Maximum LDS of a workgroup, in bytes.
    pub lds_bytes: u32,
    /// LDS of a compute unit, in bytes.
    pub compute_unit_lds_bytes: u32,
    /// LDS is allocated to a workgroup in multiples of this, in bytes.
    pub lds_granule_bytes: u32,
}

/// The largest values of a wave's counters of operations in flight. A wave waits before it issues an operation that its
/// counter could not count; as the operand of `s_waitcnt`, the largest value does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCounters {
    /// `vmcnt`: vector memory; only loads and returning atomics where there is `vscnt`.
    pub vm: u32,
    /// `lgkmcnt`: LDS, GDS, scalar memory, messages.
    pub lgkm: u32,
    /// `expcnt`: exports and GDS data.
    pub exp: u32,
    /// `vscnt`: stores of vector memory; 0 if there is no such counter.
    pub vs: u32,
    /// `samplecnt`: images with a sampler, on RDNA 4.
    pub sample: u32,
}

impl GpuLimits {
    /// The limits of a GPU.
    pub const fn of(gpu: Gpu) -> Self {
        let unified = GpuLimits {
            simds: 4,
            max_waves_per_simd: 8,
            wave_size: 64,
            wave_sizes: &[64],
            wait_counters: WaitCounters {
                vm: 63,
                lgkm: 15,
                exp: 7,
                vs: 0,
                sample: 0,
            },
            max_workgroup_size: 1024,
            max_barrier_workgroups: 16,
            vgprs: 512,
            max_vgprs_per_wave: 512,
            vgpr_granule: 8,
            vgpr_descriptor_granule: 8,
            sgprs: 800,
            sgpr_granule: 16,
            trap_handler_sgprs: 16,
            lds_bytes: 64 << 10,
            compute_unit_lds_bytes: 64 << 10,
            lds_granule_bytes: 512,
        };
        let rdna = GpuLimits {
            simds: 4,
            max_waves_per_simd: 16,
            wave_size: 32,
            wave_sizes: &[32, 64],
            wait_counters: WaitCounters {
                vm: 63,
                lgkm: 63,
                exp: 7,
                vs: 63,
                sample: 63,
            },
            max_workgroup_size: 1024,
            max_barrier_workgroups: 32,
            vgprs: 1024,
            max_vgprs_per_wave: 256,
            vgpr_granule: 16,
            vgpr_descriptor_granule: 8,
            sgprs: 16 * 128,
            sgpr_granule: 128,
            trap_handler_sgprs: 0,
            lds_bytes: 64 << 10,
            compute_unit_lds_bytes: 128 << 10,
            lds_granule_bytes: 1024,
        };
        match gpu {
            Gpu::Gfx908 => GpuLimits {
                max_waves_per_simd: 10,
                vgprs: 256,
                max_vgprs_per_wave: 256,
                vgpr_granule: 4,
                vgpr_descriptor_granule: 4,
                ..unified
            },
            Gpu::Gfx90a | Gpu::Gfx942 => unified,
            Gpu::Gfx950 => GpuLimits {
                lds_bytes: 160 << 10,
                compute_unit_lds_bytes: 160 << 10,
                lds_granule_bytes: 1280,
                ..unified
            },
            Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1151 | Gpu::Gfx1200 | Gpu::Gfx1201 => GpuLimits {
                vgprs: 1536,
                vgpr_granule: 24,
                ..rdna
            },
            Gpu::Gfx1102 | Gpu::Gfx1150 => rdna,
        }
    }

    /// The same for waves of a size. A wave of twice as many lanes has half as many registers for each.
    #[must_use]
    pub const fn with_wave_size(self, lanes: u32) -> Self {
        if lanes <= self.wave_size {
            return self;
        }
        let times = lanes / self.wave_size;
        GpuLimits {
            wave_size: lanes,
            vgprs: self.vgprs / times,
            vgpr_granule: self.vgpr_granule / times,
            vgpr_descriptor_granule: self.vgpr_descriptor_granule / times,
            ..self
        }
    }

    /// Whether waves compete for scalar registers. On RDNA each has the same number.
    pub const fn has_shared_sgprs(&self) -> bool {
        self.sgpr_granule * self.max_waves_per_simd < self.sgprs
    }
}
