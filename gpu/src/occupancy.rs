//! How many waves a compute unit holds at once, and what limits them.

use core::fmt;
use std::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use crate::{Family, Gpu, GpuLimits};

/// The resources that a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Vector registers, counted as in [`GpuLimits::vgprs`].
    pub vgprs: u32,
    /// Scalar registers, including VCC and the other extra SGPRs.
    pub sgprs: u32,
    /// LDS of a workgroup in bytes, static and dynamic.
    pub lds_bytes: u32,
    /// Work-items in a workgroup.
    pub workgroup_size: u32,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// Whether all waves of a workgroup must run on the same one of RDNA's two compute units (CU mode).
    pub in_one_compute_unit: bool,
}

/// A resource of a compute unit that can limit occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limiter {
    /// Waves per SIMD.
    WaveSlots,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// LDS.
    Lds,
    /// Workgroups of more than one wave, which need a barrier.
    Workgroups,
    /// Size of the workgroup: more work-items than the GPU allows, or none.
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

/// The number of workgroups and waves of a kernel that a compute unit holds at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Workgroups per compute unit, or per workgroup processor of RDNA; 0 if not even one fits.
    pub workgroups_per_compute_unit: u32,
    /// Waves on the fullest SIMD.
    pub waves_per_simd: u32,
    /// The resources that would have to be larger for another workgroup to fit.
    pub limited_by: Vec<Limiter>,
}

impl Occupancy {
    /// The names of the limiting resources.
    pub fn limiters(&self) -> Vec<String> {
        self.limited_by.iter().map(ToString::to_string).collect()
    }

    /// The maximum occupancy of a kernel; caches and dispatch may leave it lower.
    pub fn of(gpu: Gpu, resources: Resources) -> Self {
        let limits = GpuLimits::of(gpu).with_wave_size(resources.wave_size);
        // In CU mode, half of a workgroup processor is what a workgroup's waves share.
        let parts = match (gpu.family(), resources.in_one_compute_unit) {
            (Family::Rdna, true) => 2,
            _ => 1,
        };
        let simds = limits.simds / parts;
        let waves = resources.workgroup_size.div_ceil(limits.wave_size);
        if waves == 0 || resources.workgroup_size > limits.max_workgroup_size {
            return Occupancy {
                workgroups_per_compute_unit: 0,
                waves_per_simd: 0,
                limited_by: vec![Limiter::WorkgroupSize],
            };
        }
        // A workgroup's waves are dealt out over the SIMDs in turn, so that only their total counts.
        let workgroups_by = |waves_per_simd: u32| waves_per_simd * simds / waves;
        // A wave is allocated at least one granule.
        let allocated = |count: u32, granule: u32| {
            count
                .max(1)
                .checked_next_multiple_of(granule)
                .unwrap_or(u32::MAX)
        };
        let vgprs = allocated(resources.vgprs, limits.vgpr_granule);
        let by_vgprs = if resources.vgprs > limits.max_vgprs_per_wave {
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
        ];
        if limits.has_shared_sgprs() {
            counts.push((Limiter::Sgprs, workgroups_by(by_sgprs)));
        }
        if resources.lds_bytes > 0 {
            let bytes = allocated(resources.lds_bytes, limits.lds_granule_bytes);
            let most = match resources.lds_bytes <= limits.lds_bytes {
                true => limits.compute_unit_lds_bytes / parts / bytes,
                false => 0,
            };
            counts.push((Limiter::Lds, most));
        }
        if waves > 1 {
            counts.push((Limiter::Workgroups, limits.max_barrier_workgroups / parts));
        }
        let workgroups = counts.iter().map(|&(_, count)| count).min().unwrap_or(0);
        Occupancy {
            workgroups_per_compute_unit: workgroups * parts,
            waves_per_simd: (workgroups * waves).div_ceil(simds),
            limited_by: counts
                .into_iter()
                .filter(|&(_, count)| count == workgroups)
                .map(|(limiter, _)| limiter)
                .collect(),
        }
    }
}
