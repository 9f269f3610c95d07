//! The initial state of waves (LLVM's `AMDGPUUsage`, «Initial Kernel Execution State»).

use std::array;

use ferrowave_code_object::KernelDescriptor;
use ferrowave_gpu::{Family, Gpu, GpuLimits};

use super::{INITIAL, arguments::LaunchData, scratch::PrivateMemory};
use crate::exec::{ACCUMULATORS, Allocated, BarrierPhase, Lanes, Mode, Prepared, Segment, Wave};

/// Operand code of `ttmp0`.
const TTMP: u16 = 108;
/// Operand code of `flat_scratch`, a pair.
const FLAT_SCRATCH: u32 = 102;

/// The initial state that all waves of a launch share.
pub(super) struct Start<'a> {
    pub(super) gpu: Gpu,
    pub(super) descriptor: &'a KernelDescriptor,
    pub(super) data: &'a LaunchData<'a>,
    pub(super) entry: u32,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// As [`LaunchConfig::partial`](super::LaunchConfig::partial).
    pub(super) partial: [u32; 3],
    /// The dwords of the arguments that the hardware preloads into SGPRs.
    pub(super) preloaded: Vec<u32>,
    pub(super) private: &'a PrivateMemory<'a>,
    pub(super) lds_bytes: u32,
    /// Lanes of a wave.
    pub(super) wave_size: u32,
}

impl Start<'_> {
    /// Waves in a whole workgroup.
    fn most_waves(&self) -> u32 {
        self.block.iter().product::<u32>().div_ceil(self.wave_size)
    }

    /// Work-items of a workgroup along each axis. A partial workgroup is laid out in waves by its own size (HSA runtime
    /// specification, «Kernel dispatch packet»: the grid need not be a multiple of the workgroup size).
    fn block_of(&self, workgroup: [u32; 3]) -> [u32; 3] {
        array::from_fn(|axis| {
            let is_last = workgroup[axis] + 1 == self.grid[axis];
            match self.partial[axis] {
                partial if is_last && partial != 0 => partial,
                _ => self.block[axis],
            }
        })
    }

    /// Waves in a workgroup.
    pub(super) fn waves(&self, workgroup: [u32; 3]) -> u32 {
        self.block_of(workgroup)
            .iter()
            .product::<u32>()
            .div_ceil(self.wave_size)
    }

    /// The coordinates of the workgroup with this number.
    pub(super) fn workgroup(&self, number: u64) -> [u32; 3] {
        let [gx, gy, _] = self.grid.map(u64::from);
        [number % gx, number / gx % gy, number / gx / gy].map(|id| id as u32)
    }

    /// Waves in all workgroups, or in those with these numbers.
    pub(super) fn waves_of_all(&self, chosen: Option<&[u64]>) -> u64 {
        if let Some(chosen) = chosen {
            let waves = chosen.iter().map(|&n| self.waves(self.workgroup(n)));
            return waves.map(u64::from).sum();
        }
        // Along each axis, all workgroups but the last have the same size.
        let kinds = (0..8).map(|kind| {
            let is_last: [bool; 3] = array::from_fn(|axis| kind >> axis & 1 != 0);
            let workgroup = array::from_fn(|axis| match is_last[axis] {
                true => self.grid[axis] - 1,
                false => 0,
            });
            let count = |axis: usize| match is_last[axis] {
                true => 1,
                false => u64::from(self.grid[axis] - 1),
            };
            count(0) * count(1) * count(2) * u64::from(self.waves(workgroup))
        });
        kinds.sum()
    }

    /// Initializes wave `index` of a workgroup whose private memory starts at `private`.
    pub(super) fn wave(&self, wave: &mut Wave, index: u32, workgroup: [u32; 3], private: u64) {
        wave.index = index;
        wave.pc = self.entry;
        wave.scc = false;
        let rsrc1 = self.descriptor.compute_pgm_rsrc[0];
        // The descriptor holds rounding and denormal modes as MODE does, the other bits separately.
        wave.mode = Mode::from_bits(
            rsrc1 >> 12 & 0xff
                | u32::from(self.descriptor.enable_dx10_clamp) << 8
                | u32::from(self.descriptor.enable_ieee_mode) << 9
                | u32::from(self.descriptor.fp16_ovfl) << 23,
        );
        let block = self.block_of(workgroup);
        wave.set_lane_count(self.wave_size);
        let left = block.iter().product::<u32>() - self.wave_size * index;
        wave.exec = wave.all_lanes() & 1_u64.checked_shl(left).map_or(!0, |bit| bit - 1);
        wave.sgprs = [0; 256];
        for register in 0..self.descriptor.arch_vgprs() as u16 {
            *wave.lanes_mut(register) = Lanes::splat(INITIAL);
        }
        for register in 0..self.descriptor.accum_vgprs() as u16 {
            *wave.lanes_mut(ACCUMULATORS + register) = Lanes::splat(INITIAL);
        }
        wave.trap_status = 0;
        wave.skips_vector = false;
        wave.global_wait = None;
        wave.barrier = BarrierPhase::Idle;
        wave.allocated = self.allocated(self.waves(workgroup) > 1);
        wave.private = Segment {
            // Before gfx942 the kernel itself writes the address to `flat_scratch`.
            base: self
                .has_architected_scratch()
                .then(|| private + u64::from(index) * self.private.wave_bytes()),
            bytes: self.private.bytes,
        };
        self.sgprs(index, workgroup, private, |code, value| {
            wave.set_scalar(code, value);
        });
        self.work_items(wave, index, block);
    }

    /// The LDS that the hardware allocates for a workgroup: the requested size, rounded up.
    pub(super) fn allocated_lds_bytes(&self) -> u32 {
        let granule = GpuLimits::of(self.gpu).lds_granule_bytes;
        self.lds_bytes.next_multiple_of(granule)
    }

    fn has_architected_scratch(&self) -> bool {
        self.gpu.has_architected_scratch()
    }

    /// GPR_ALLOC and LDS_ALLOC, with bases of 0. Fields and units are as Linux's trap handler reads them
    /// (`cwsr_trap_handler_gfx9.asm`); they differ from gfx90a on. It has no special case for gfx950's LDS, whose size
    /// may not fit in the nine bits.
    fn allocated(&self, in_group: bool) -> Allocated {
        let vgprs = u32::from(self.descriptor.granulated_workitem_vgpr_count) & 0x3f;
        if self.gpu.family() == Family::Rdna {
            // RDNA 3 ISA guide, «Hardware registers»: VGPR_SIZE in bits 19 to 12, in the descriptor's units; VGPR_SHARED_SIZE of
            // LDS_ALLOC in bits 27 to 24.
            return Allocated {
                gprs: vgprs << 12,
                lds: (self.allocated_lds_bytes() / 256) << 12
                    | u32::from(self.descriptor.shared_vgprs / 8) << 24,
                in_group,
            };
        }
        // In units of 16; the descriptor uses units of 8.
        let sgprs = u32::from(self.descriptor.granulated_wavefront_sgpr_count) / 2;
        let vgprs = match self.descriptor.accum_offset {
            None => vgprs << 8,
            Some(offset) => vgprs << 6 | (u32::from(offset) / 4).wrapping_sub(1) << 12 & 0x3_f000,
        };
        Allocated {
            gprs: vgprs | sgprs << 24,
            lds: (self.allocated_lds_bytes() / 256) << 12,
            in_group,
        }
    }

    /// The buffer resource of a workgroup's private memory: swizzled, lanes interleaved by dwords.
    fn private_resource(&self, private: u64) -> [u64; 2] {
        const SWIZZLE: u64 = 1 << 63;
        const INDEX_STRIDE_64: u64 = 3 << 21;
        const ADD_TID: u64 = 1 << 23;
        let bytes = u64::from(self.most_waves()) * self.private.wave_bytes();
        let records = bytes.min(u64::from(u32::MAX));
        [
            private | SWIZZLE,
            records | (INDEX_STRIDE_64 | ADD_TID) << 32,
        ]
    }

    /// The registers that [`Self::wave`] initializes, the same in every wave.
    pub(super) fn prepared(&self) -> Prepared {
        // RDNA has FLAT_SCRATCH among the hardware registers.
        let mut scalars = match (self.has_architected_scratch(), self.gpu.family()) {
            (true, Family::Cdna) => 3 << FLAT_SCRATCH,
            _ => 0,
        };
        self.sgprs(0, [0; 3], 0, |code, _| {
            scalars |= 1_u128.checked_shl(code.into()).unwrap_or(0);
        });
        Prepared {
            scalars,
            vectors: match self.gpu.packs_work_item_ids() {
                false => u16::from(self.descriptor.enable_vgpr_workitem_id) + 1,
                true => 1,
            },
        }
    }

    /// Sets the scalar registers of a wave, by code and value.
    fn sgprs(&self, index: u32, workgroup: [u32; 3], private: u64, mut set: impl FnMut(u16, u32)) {
        let user = self.descriptor.user_sgprs;
        let mut next = 0;
        let mut put = |value: u32| {
            set(next, value);
            next += 1;
        };
        let mut pair = |enabled: bool, value: u64| {
            if enabled {
                put(value as u32);
                put((value >> 32) as u32);
            }
        };
        let [low, high] = self.private_resource(private);
        pair(user.private_segment_buffer, low);
        pair(user.private_segment_buffer, high);
        pair(user.dispatch_ptr, self.data.packet);
        pair(user.queue_ptr, self.data.queue);
        pair(user.kernarg_segment_ptr, self.data.kernarg);
        pair(user.dispatch_id, 0);
        pair(user.flat_scratch_init, private);
        if user.private_segment_size {
            put(self.private.bytes);
        }
        for &value in &self.preloaded {
            put(value);
        }
        // System SGPRs follow the declared number of user SGPRs, even if fewer were set.
        next = u16::from(self.descriptor.user_sgpr_count);
        if self.gpu.has_architected_workgroup_ids() {
            // LLVM's `AMDGPUUsage`, «Trap temporaries»: y and z share a register, and another has the wave's number.
            let [x, y, z] = workgroup;
            set(TTMP + 9, x);
            set(TTMP + 7, y & 0xffff | z << 16);
            set(TTMP + 8, index << 25);
            return;
        }
        for (enabled, id) in self
            .descriptor
            .enable_sgpr_workgroup_id
            .into_iter()
            .zip(workgroup)
        {
            if enabled {
                set(next, id);
                next += 1;
            }
        }
        if self.descriptor.enable_sgpr_workgroup_info {
            // The flag of the first wave, and the number of waves.
            let first = u32::from(index == 0) << 31;
            set(next, first | self.waves(workgroup));
            next += 1;
        }
        if self.descriptor.enable_private_segment && !self.has_architected_scratch() {
            // `check` has verified that it fits.
            let offset = u64::from(index) * self.private.wave_bytes();
            set(next, offset as u32);
        }
    }

    fn work_items(&self, wave: &mut Wave, index: u32, [bx, by, _]: [u32; 3]) {
        let dimensions = self.descriptor.enable_vgpr_workitem_id;
        let first = self.wave_size * index;
        // Counted, because divisions by lane would take a quarter of the time of a short kernel.
        let mut id = [first % bx, first / bx % by, first / bx / by];
        for lane in 0..self.wave_size as usize {
            if !self.gpu.packs_work_item_ids() {
                for (register, value) in
                    id.into_iter().enumerate().take(usize::from(dimensions) + 1)
                {
                    wave.lanes_mut(register as u16).as_mut_array()[lane] = value;
                }
            } else {
                // One register holds all three, ten bits each.
                wave.lanes_mut(0).as_mut_array()[lane] = id[0] | id[1] << 10 | id[2] << 20;
            }
            id[0] += 1;
            if id[0] == bx {
                id[0] = 0;
                id[1] += 1;
                if id[1] == by {
                    id[1] = 0;
                    id[2] += 1;
                }
            }
        }
    }
}
