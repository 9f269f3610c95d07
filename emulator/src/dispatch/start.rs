//! The state that a wave starts in (LLVM's `AMDGPUUsage`, «Initial Kernel Execution State»).

use ferrowave_code_object::{Gpu, KernelDescriptor};

use super::arguments::LaunchData;
use crate::exec::{ACCUMULATORS, Lanes, Mode, Wave};

/// What registers and LDS hold that nobody wrote: a NaN, in every run the same.
pub(super) const UNDEFINED: u32 = 0x7fc5_5a5a;

/// What all waves of a launch have in common.
pub(super) struct Start<'a> {
    pub(super) gpu: Gpu,
    pub(super) descriptor: &'a KernelDescriptor,
    pub(super) data: &'a LaunchData<'a>,
    pub(super) entry: u32,
    pub(super) block: [u32; 3],
    /// The dwords of the arguments that the hardware puts in SGPRs.
    pub(super) preloaded: Vec<u32>,
}

impl Start<'_> {
    /// Waves in a workgroup.
    pub(super) fn waves(&self) -> u32 {
        self.threads().div_ceil(64)
    }

    fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Sets up wave `index` of a workgroup.
    pub(super) fn wave(&self, wave: &mut Wave, index: u32, workgroup: [u32; 3]) {
        wave.index = index;
        wave.pc = self.entry;
        wave.scc = false;
        let rsrc1 = self.descriptor.compute_pgm_rsrc[0];
        // Rounding and denormals stand in the descriptor as in MODE, the other bits do not.
        wave.mode = Mode::from_bits(
            rsrc1 >> 12 & 0xff
                | u32::from(self.descriptor.enable_dx10_clamp) << 8
                | u32::from(self.descriptor.enable_ieee_mode) << 9
                | u32::from(self.descriptor.fp16_ovfl) << 23,
        );
        let left = self.threads() - 64 * index;
        wave.exec = if left >= 64 { !0 } else { (1 << left) - 1 };
        wave.sgprs = [0; 256];
        for register in 0..self.descriptor.arch_vgprs() as u16 {
            *wave.lanes_mut(register) = Lanes::splat(UNDEFINED);
        }
        for register in 0..self.descriptor.accum_vgprs() as u16 {
            *wave.lanes_mut(ACCUMULATORS + register) = Lanes::splat(UNDEFINED);
        }
        self.sgprs(wave, workgroup);
        self.work_items(wave, index);
    }

    fn sgprs(&self, wave: &mut Wave, workgroup: [u32; 3]) {
        let user = self.descriptor.user_sgprs;
        let mut next = 0;
        let mut put = |value: u32| {
            wave.set_scalar(next, value);
            next += 1;
        };
        let mut pair = |enabled: bool, value: u64| {
            if enabled {
                put(value as u32);
                put((value >> 32) as u32);
            }
        };
        // No scratch: its buffer resource is empty.
        pair(user.private_segment_buffer, 0);
        pair(user.private_segment_buffer, 0);
        pair(user.dispatch_ptr, self.data.packet);
        pair(user.queue_ptr, self.data.queue);
        pair(user.kernarg_segment_ptr, self.data.kernarg);
        pair(user.dispatch_id, 0);
        pair(user.flat_scratch_init, 0);
        if user.private_segment_size {
            put(0);
        }
        for &value in &self.preloaded {
            put(value);
        }
        // System SGPRs follow the user SGPRs, however many of those were set.
        next = u16::from(self.descriptor.user_sgpr_count);
        for (enabled, id) in self
            .descriptor
            .enable_sgpr_workgroup_id
            .into_iter()
            .zip(workgroup)
        {
            if enabled {
                wave.set_scalar(next, id);
                next += 1;
            }
        }
    }

    fn work_items(&self, wave: &mut Wave, index: u32) {
        let [bx, by, _] = self.block;
        let dimensions = self.descriptor.enable_vgpr_workitem_id;
        for lane in 0..64 {
            let item = 64 * index + lane;
            let id = [item % bx, item / bx % by, item / bx / by];
            let lane = lane as usize;
            if self.gpu == Gpu::Gfx908 {
                for (register, value) in
                    id.into_iter().enumerate().take(usize::from(dimensions) + 1)
                {
                    wave.lanes_mut(register as u16).as_mut_array()[lane] = value;
                }
            } else {
                // From gfx90a on, ten bits each in one register.
                wave.lanes_mut(0).as_mut_array()[lane] = id[0] | id[1] << 10 | id[2] << 20;
            }
        }
    }
}
