//! How many waves a GPU's compute unit holds at once, and what limits them.
//!
//! | figure | source |
//! |---|---|
//! | vector registers, their granule, waves a SIMD | LLVM `AMDGPUUsage`, `compute_pgm_rsrc1`: granules of 4 (gfx908) and 8; AMD «CDNA 2» ISA guide, 3.6: 512 VGPRs, of both kinds together, a lane; AMD CDNA white papers: 10 and 8 waves a SIMD |
//! | scalar registers | AMD «Vega» and CDNA ISA guides: 800 a SIMD, allocated by 16; LLVM `AMDGPUBaseInfo`: 16 more a wave for the trap handler, which the amdhsa runtime installs |
//! | LDS | AMD CDNA 1 to 3 ISA guides: 64 KiB a compute unit, by 128 dwords; CDNA 4: 160 KiB, by 320 dwords |
//! | workgroups | LLVM `AMDGPUBaseInfo`: 16 barriers a compute unit, of which a workgroup of one wave needs none |

use std::fmt;

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

/// What a kernel takes of a compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Vector registers, counted as in [`GpuLimits::vgprs`].
    pub vgprs: u32,
    /// Scalar registers, with VCC and the like.
    pub sgprs: u32,
    /// LDS of a workgroup in bytes, with what the launch adds.
    pub lds_bytes: u32,
    /// Work-items of a workgroup.
    pub workgroup_size: u32,
}

/// Something of which a compute unit has only so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limiter {
    /// Waves a SIMD.
    WaveSlots,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// LDS.
    Lds,
    /// Workgroups with a barrier.
    Workgroups,
    /// Work-items in a workgroup: it is larger than any GPU takes, or empty.
    WorkgroupSize,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiter::WaveSlots => "wave slots",
            Limiter::Vgprs => "VGPRs",
            Limiter::Sgprs => "SGPRs",
            Limiter::Lds => "LDS",
            Limiter::Workgroups => "workgroups",
            Limiter::WorkgroupSize => "workgroup size",
        })
    }
}

/// How much of a kernel a compute unit holds at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Workgroups of a compute unit; 0 if not even one fits.
    pub workgroups_per_compute_unit: u32,
    /// Waves of the fullest SIMD.
    pub waves_per_simd: u32,
    /// What there would have to be more of for another workgroup.
    pub limited_by: Vec<Limiter>,
}

impl Occupancy {
    /// The names of what it is limited by.
    pub fn limiters(&self) -> Vec<String> {
        self.limited_by.iter().map(ToString::to_string).collect()
    }

    /// The occupancy that a kernel reaches at most; caches and dispatch may leave it lower.
    pub fn of(gpu: Gpu, resources: Resources) -> Self {
        let limits = GpuLimits::of(gpu);
        let waves = resources.workgroup_size.div_ceil(limits.wave_size);
        if waves == 0 || resources.workgroup_size > limits.max_workgroup_size {
            return Occupancy {
                workgroups_per_compute_unit: 0,
                waves_per_simd: 0,
                limited_by: vec![Limiter::WorkgroupSize],
            };
        }
        // A workgroup's waves go round the SIMDs, so that only their total counts.
        let workgroups_by = |waves_per_simd: u32| waves_per_simd * limits.simds / waves;
        // A wave has one granule at least.
        let allocated = |count: u32, granule: u32| {
            count
                .max(1)
                .checked_next_multiple_of(granule)
                .unwrap_or(u32::MAX)
        };
        let vgprs = allocated(resources.vgprs, limits.vgpr_granule);
        let by_vgprs = if vgprs > limits.max_vgprs_per_wave {
            0
        } else {
            limits.vgprs / vgprs
        };
        let sgprs = allocated(resources.sgprs, limits.sgpr_granule)
            .saturating_add(limits.trap_handler_sgprs);
        let by_sgprs = limits.sgprs / sgprs;
        let mut counts = vec![
            (Limiter::WaveSlots, workgroups_by(limits.max_waves_per_simd)),
            (Limiter::Vgprs, workgroups_by(by_vgprs)),
            (Limiter::Sgprs, workgroups_by(by_sgprs)),
        ];
        if resources.lds_bytes > 0 {
            let bytes = allocated(resources.lds_bytes, limits.lds_granule_bytes);
            counts.push((Limiter::Lds, limits.lds_bytes / bytes));
        }
        if waves > 1 {
            counts.push((Limiter::Workgroups, limits.max_barrier_workgroups));
        }
        let workgroups = counts.iter().map(|&(_, count)| count).min().unwrap_or(0);
        Occupancy {
            workgroups_per_compute_unit: workgroups,
            waves_per_simd: (workgroups * waves).div_ceil(limits.simds),
            limited_by: counts
                .into_iter()
                .filter(|&(_, count)| count == workgroups)
                .map(|(limiter, _)| limiter)
                .collect(),
        }
    }
}
