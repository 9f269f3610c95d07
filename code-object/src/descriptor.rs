//! The kernel descriptor: 64 bytes from which the hardware sets up a kernel's waves.
//!
//! Layout and field names: LLVM's `AMDGPUUsage`, «Kernel Descriptor», with its tables for `compute_pgm_rsrc1` to `3`,
//! `kernel_code_properties` and `kernarg_preload`.

use ferrowave_gpu::{Family, Gpu, GpuLimits};

use crate::CodeObjectError;

/// `FLOAT_ROUND_MODE_*`: how results are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FloatRoundMode {
    /// To the nearest, ties to even.
    NearEven = 0,
    /// Towards +∞.
    PlusInfinity = 1,
    /// Towards −∞.
    MinusInfinity = 2,
    /// Towards 0.
    Zero = 3,
}

impl FloatRoundMode {
    const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => FloatRoundMode::NearEven,
            1 => FloatRoundMode::PlusInfinity,
            2 => FloatRoundMode::MinusInfinity,
            _ => FloatRoundMode::Zero,
        }
    }
}

/// `FLOAT_DENORM_MODE_*`: which denormals are flushed to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FloatDenormMode {
    /// Sources and results.
    FlushSrcDst = 0,
    /// Results.
    FlushDst = 1,
    /// Sources.
    FlushSrc = 2,
    /// None.
    FlushNone = 3,
}

impl FloatDenormMode {
    const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => FloatDenormMode::FlushSrcDst,
            1 => FloatDenormMode::FlushDst,
            2 => FloatDenormMode::FlushSrc,
            _ => FloatDenormMode::FlushNone,
        }
    }
}

/// Which exceptions trap, from `compute_pgm_rsrc2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Exceptions {
    /// `ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION`.
    pub fp_invalid_operation: bool,
    /// `ENABLE_EXCEPTION_FP_DENORMAL_SOURCE`.
    pub fp_denormal_source: bool,
    /// `ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO`.
    pub fp_division_by_zero: bool,
    /// `ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW`.
    pub fp_overflow: bool,
    /// `ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW`.
    pub fp_underflow: bool,
    /// `ENABLE_EXCEPTION_IEEE_754_FP_INEXACT`.
    pub fp_inexact: bool,
    /// `ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO`.
    pub int_divide_by_zero: bool,
}

/// The user SGPRs that are set when a wave starts, in register order from `s0` (`kernel_code_properties`).
///
/// LLVM's `AMDGPUUsage`, table «SGPR Register Set Up Order», gives the registers of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserSgprs {
    /// `ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER`: 4 registers, the buffer resource for scratch. Reserved where scratch is
    /// architected (gfx942, gfx950, RDNA).
    pub private_segment_buffer: bool,
    /// `ENABLE_SGPR_DISPATCH_PTR`: 2 registers, the address of the AQL dispatch packet.
    pub dispatch_ptr: bool,
    /// `ENABLE_SGPR_QUEUE_PTR`: 2 registers, the address of the queue.
    pub queue_ptr: bool,
    /// `ENABLE_SGPR_KERNARG_SEGMENT_PTR`: 2 registers, the address of the arguments.
    pub kernarg_segment_ptr: bool,
    /// `ENABLE_SGPR_DISPATCH_ID`: 2 registers.
    pub dispatch_id: bool,
    /// `ENABLE_SGPR_FLAT_SCRATCH_INIT`: 2 registers. Reserved where scratch is architected (gfx942, gfx950,
    /// RDNA).
    pub flat_scratch_init: bool,
    /// `ENABLE_SGPR_PRIVATE_SEGMENT_SIZE`: 1 register, bytes per work-item.
    pub private_segment_size: bool,
}

impl UserSgprs {
    /// The number of SGPRs that the enabled ones take, without preloaded arguments.
    pub fn count(self) -> u32 {
        [
            (self.private_segment_buffer, 4),
            (self.dispatch_ptr, 2),
            (self.queue_ptr, 2),
            (self.kernarg_segment_ptr, 2),
            (self.dispatch_id, 2),
            (self.flat_scratch_init, 2),
            (self.private_segment_size, 1),
        ]
        .into_iter()
        .map(|(enabled, registers)| if enabled { registers } else { 0 })
        .sum()
    }
}

/// A decoded kernel descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelDescriptor {
    /// The GPU, which determines the granule of the register counts.
    pub gpu: Gpu,
    /// `GROUP_SEGMENT_FIXED_SIZE`: static LDS of a workgroup, in bytes.
    pub group_segment_fixed_size: u32,
    /// `PRIVATE_SEGMENT_FIXED_SIZE`: scratch of a work-item in bytes.
    pub private_segment_fixed_size: u32,
    /// `KERNARG_SIZE`: bytes of arguments. 0 may also mean that the compiler did not state it.
    pub kernarg_size: u32,
    /// `KERNEL_CODE_ENTRY_BYTE_OFFSET`: from the descriptor's address to the first instruction's, in bytes.
    pub kernel_code_entry_byte_offset: i64,
    /// The raw field `GRANULATED_WORKITEM_VGPR_COUNT`; see [`Self::vgprs`].
    pub granulated_workitem_vgpr_count: u8,
    /// The raw field `GRANULATED_WAVEFRONT_SGPR_COUNT`; see [`Self::sgprs`].
    pub granulated_wavefront_sgpr_count: u8,
    /// `FLOAT_ROUND_MODE_32`: rounding of f32 operations.
    pub float_round_mode_32: FloatRoundMode,
    /// `FLOAT_ROUND_MODE_16_64`: rounding of f16 and f64 operations.
    pub float_round_mode_16_64: FloatRoundMode,
    /// `FLOAT_DENORM_MODE_32`: denormals of f32 operations.
    pub float_denorm_mode_32: FloatDenormMode,
    /// `FLOAT_DENORM_MODE_16_64`: denormals of f16 and f64 operations.
    pub float_denorm_mode_16_64: FloatDenormMode,
    /// `ENABLE_DX10_CLAMP`: clamping turns NaN into 0.
    pub enable_dx10_clamp: bool,
    /// `ENABLE_IEEE_MODE`: signalling NaNs become quiet.
    pub enable_ieee_mode: bool,
    /// `FP16_OVFL`: an f16 result that overflows becomes the largest number, not ∞.
    pub fp16_ovfl: bool,
    /// `ENABLE_PRIVATE_SEGMENT`: the kernel uses scratch; where scratch is not architected,
    /// one more system SGPR holds the wave's offset in it.
    pub enable_private_segment: bool,
    /// `USER_SGPR_COUNT`: user SGPRs, including preloaded arguments.
    pub user_sgpr_count: u8,
    /// `ENABLE_SGPR_WORKGROUP_ID_X`, `_Y` and `_Z`: system SGPRs after the user SGPRs, in this order.
    pub enable_sgpr_workgroup_id: [bool; 3],
    /// `ENABLE_SGPR_WORKGROUP_INFO`: a system SGPR after the workgroup ids.
    pub enable_sgpr_workgroup_info: bool,
    /// `ENABLE_VGPR_WORKITEM_ID`: the number of work-item ID dimensions that a wave gets, minus one (0 to 2).
    pub enable_vgpr_workitem_id: u8,
    /// Which exceptions trap.
    pub enable_exception: Exceptions,
    /// `ACCUM_OFFSET`, decoded: the number of VGPRs before the first accumulation VGPR, a multiple of 4 from 4 to 256.
    /// `None` on gfx908, whose accumulation VGPRs are a separate register file, and on RDNA, which has none.
    pub accum_offset: Option<u16>,
    /// `TG_SPLIT`: the waves of a workgroup may run on several compute units. Always false on gfx908 and RDNA.
    pub tg_split: bool,
    /// The enabled user SGPRs.
    pub user_sgprs: UserSgprs,
    /// `USES_DYNAMIC_STACK`: the stated scratch size is an estimate, because the stack depends on calls.
    pub uses_dynamic_stack: bool,
    /// `KERNARG_PRELOAD_SPEC_LENGTH`: dwords of arguments that the hardware preloads to SGPRs. 0 on gfx908 and RDNA.
    pub kernarg_preload_length: u8,
    /// `KERNARG_PRELOAD_SPEC_OFFSET`: the offset of the preloaded arguments, in dwords.
    pub kernarg_preload_offset: u16,
    /// `ENABLE_WAVEFRONT_SIZE32`: waves have 32 lanes. Only on RDNA.
    pub enable_wavefront_size32: bool,
    /// `WGP_MODE`: a workgroup's waves run on both compute units of a workgroup processor, instead of on one. Only on RDNA.
    pub wgp_mode: bool,
    /// `MEM_ORDERED`: loads of the same kind return in order. Only on RDNA.
    pub mem_ordered: bool,
    /// `FWD_PROGRESS`: the oldest wave goes on even if others could go first. Only on RDNA.
    pub fwd_progress: bool,
    /// `SHARED_VGPR_COUNT`, decoded: VGPRs that both halves of a wave of 64 lanes share. Only on RDNA 3 and 3.5.
    pub shared_vgprs: u8,
    /// `INST_PREF_SIZE`, decoded: bytes of instructions that are fetched before the wave starts. Only on RDNA.
    pub instruction_prefetch_bytes: u16,
    /// The raw words `compute_pgm_rsrc1` to `compute_pgm_rsrc3`.
    pub compute_pgm_rsrc: [u32; 3],
}

/// Bits `shift .. shift + width` of `word`.
const fn bits(word: u32, shift: u32, width: u32) -> u32 {
    (word >> shift) & ((1 << width) - 1)
}

const fn bit(word: u32, shift: u32) -> bool {
    bits(word, shift, 1) != 0
}

/// A descriptor's words.
struct Words {
    all: [u32; KernelDescriptor::BYTES / 4],
    gpu: Gpu,
}

impl Words {
    fn of(bytes: &[u8; KernelDescriptor::BYTES], gpu: Gpu) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        Words {
            all: std::array::from_fn(|number| u32::from_le_bytes(words[number])),
            gpu,
        }
    }

    /// The word at an offset in bytes.
    const fn word(&self, offset: usize) -> u32 {
        self.all[offset / 4]
    }

    fn long(&self, offset: usize) -> u64 {
        u64::from(self.word(offset)) | u64::from(self.word(offset + 4)) << 32
    }

    /// Whether VGPRs and accumulation VGPRs are allocated together.
    fn is_unified(&self) -> bool {
        self.gpu.family() == Family::Cdna && self.gpu != Gpu::Gfx908
    }

    fn is_wave32(&self) -> bool {
        self.gpu.family() == Family::Rdna && bit(self.word(56), 10)
    }

    /// The fields that are reserved on this GPU, and their values.
    fn reserved(&self) -> [(&'static str, u64); 22] {
        let (rsrc3, rsrc1, rsrc2) = (self.word(44), self.word(48), self.word(52));
        let (properties, preload) = (self.word(56) & 0xffff, self.word(56) >> 16);
        let rdna = self.gpu.family() == Family::Rdna;
        let unified = self.is_unified();
        let architected_scratch = self.gpu.has_architected_scratch();
        [
            ("reserved bytes 12..16", self.word(12).into()),
            ("reserved bytes 24..32", self.long(24)),
            ("reserved bytes 32..40", self.long(32)),
            ("reserved bytes 40..44", self.word(40).into()),
            ("reserved bytes 60..64", self.word(60).into()),
            ("COMPUTE_PGM_RSRC1.PRIORITY", bits(rsrc1, 10, 2).into()),
            ("COMPUTE_PGM_RSRC1.PRIV", bits(rsrc1, 20, 1).into()),
            ("COMPUTE_PGM_RSRC1.DEBUG_MODE", bits(rsrc1, 22, 1).into()),
            ("COMPUTE_PGM_RSRC1.BULKY", bits(rsrc1, 24, 1).into()),
            ("COMPUTE_PGM_RSRC1.CDBG_USER", bits(rsrc1, 25, 1).into()),
            (
                "COMPUTE_PGM_RSRC1 bits 27..32",
                bits(rsrc1, 27, if rdna { 2 } else { 5 }).into(),
            ),
            (
                "COMPUTE_PGM_RSRC2.ENABLE_TRAP_HANDLER",
                bits(rsrc2, 6, 1).into(),
            ),
            (
                "COMPUTE_PGM_RSRC2.ENABLE_EXCEPTION_ADDRESS_WATCH",
                bits(rsrc2, 13, 1).into(),
            ),
            (
                "COMPUTE_PGM_RSRC2.ENABLE_EXCEPTION_MEMORY",
                bits(rsrc2, 14, 1).into(),
            ),
            (
                "COMPUTE_PGM_RSRC2.GRANULATED_LDS_SIZE",
                bits(rsrc2, 15, 9).into(),
            ),
            ("COMPUTE_PGM_RSRC2 bit 31", bits(rsrc2, 31, 1).into()),
            (
                "COMPUTE_PGM_RSRC3 reserved bits",
                (rsrc3
                    & match () {
                        // RDNA 4 has no SHARED_VGPR_COUNT, and a wider INST_PREF_SIZE.
                        () if self.gpu.is_rdna4() => 0x7fff_f00f,
                        // TRAP_ON_START and TRAP_ON_END (bits 10 and 11) must be 0.
                        () if rdna => 0x7fff_fc00,
                        () if unified => !0x1_003f,
                        () => !0,
                    })
                .into(),
            ),
            (
                "COMPUTE_PGM_RSRC3.SHARED_VGPR_COUNT",
                if self.is_wave32() {
                    bits(rsrc3, 0, 4).into()
                } else {
                    0
                },
            ),
            (
                "KERNEL_CODE_PROPERTIES reserved bits",
                (properties & if rdna { !0x0c7f } else { !0x087f }).into(),
            ),
            (
                "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER",
                (properties & if architected_scratch { 0x01 } else { 0 }).into(),
            ),
            (
                "ENABLE_SGPR_FLAT_SCRATCH_INIT",
                (properties & if architected_scratch { 0x20 } else { 0 }).into(),
            ),
            ("KERNARG_PRELOAD", if unified { 0 } else { preload.into() }),
        ]
    }
}

impl KernelDescriptor {
    /// The size and required alignment of a descriptor, in bytes.
    pub const BYTES: usize = 64;

    /// Decodes a descriptor. `kernel` is the kernel's name, for errors.
    ///
    /// # Errors
    /// [`CodeObjectError::DescriptorReserved`] if a field is set that is reserved on this GPU: ignoring it could
    /// silently give wrong results. [`CodeObjectError::DescriptorValue`] if a field has a value without a meaning.
    pub fn parse(
        bytes: &[u8; Self::BYTES],
        gpu: Gpu,
        kernel: &str,
    ) -> Result<Self, CodeObjectError> {
        let words = Words::of(bytes, gpu);
        let (rsrc3, rsrc1, rsrc2) = (words.word(44), words.word(48), words.word(52));
        let (properties, preload) = (words.word(56) & 0xffff, words.word(56) >> 16);
        let rdna = gpu.family() == Family::Rdna;
        let unified = words.is_unified();
        if let Some((field, value)) = words.reserved().into_iter().find(|&(_, value)| value != 0) {
            return Err(CodeObjectError::DescriptorReserved {
                kernel: kernel.to_owned(),
                field,
                value,
                gpu,
            });
        }
        let enable_vgpr_workitem_id = bits(rsrc2, 11, 2);
        if enable_vgpr_workitem_id == 3 {
            return Err(CodeObjectError::DescriptorValue {
                kernel: kernel.to_owned(),
                field: "COMPUTE_PGM_RSRC2.ENABLE_VGPR_WORKITEM_ID",
                value: 3,
                expected: "0 to 2",
            });
        }

        Ok(KernelDescriptor {
            gpu,
            group_segment_fixed_size: words.word(0),
            private_segment_fixed_size: words.word(4),
            kernarg_size: words.word(8),
            kernel_code_entry_byte_offset: words.long(16).cast_signed(),
            granulated_workitem_vgpr_count: bits(rsrc1, 0, 6) as u8,
            // LLVM documents that it must be 0 on RDNA, but LLVM 21 and earlier write a count, which the hardware ignores.
            granulated_wavefront_sgpr_count: if rdna { 0 } else { bits(rsrc1, 6, 4) as u8 },
            float_round_mode_32: FloatRoundMode::from_bits(bits(rsrc1, 12, 2)),
            float_round_mode_16_64: FloatRoundMode::from_bits(bits(rsrc1, 14, 2)),
            float_denorm_mode_32: FloatDenormMode::from_bits(bits(rsrc1, 16, 2)),
            float_denorm_mode_16_64: FloatDenormMode::from_bits(bits(rsrc1, 18, 2)),
            enable_dx10_clamp: !gpu.has_clamp_and_ieee_mode() || bit(rsrc1, 21),
            enable_ieee_mode: gpu.has_clamp_and_ieee_mode() && bit(rsrc1, 23),
            fp16_ovfl: bit(rsrc1, 26),
            enable_private_segment: bit(rsrc2, 0),
            user_sgpr_count: bits(rsrc2, 1, 5) as u8,
            enable_sgpr_workgroup_id: [bit(rsrc2, 7), bit(rsrc2, 8), bit(rsrc2, 9)],
            enable_sgpr_workgroup_info: bit(rsrc2, 10),
            enable_vgpr_workitem_id: enable_vgpr_workitem_id as u8,
            enable_exception: Exceptions {
                fp_invalid_operation: bit(rsrc2, 24),
                fp_denormal_source: bit(rsrc2, 25),
                fp_division_by_zero: bit(rsrc2, 26),
                fp_overflow: bit(rsrc2, 27),
                fp_underflow: bit(rsrc2, 28),
                fp_inexact: bit(rsrc2, 29),
                int_divide_by_zero: bit(rsrc2, 30),
            },
            accum_offset: unified.then_some((bits(rsrc3, 0, 6) as u16 + 1) * 4),
            tg_split: unified && bit(rsrc3, 16),
            user_sgprs: UserSgprs {
                private_segment_buffer: bit(properties, 0),
                dispatch_ptr: bit(properties, 1),
                queue_ptr: bit(properties, 2),
                kernarg_segment_ptr: bit(properties, 3),
                dispatch_id: bit(properties, 4),
                flat_scratch_init: bit(properties, 5),
                private_segment_size: bit(properties, 6),
            },
            uses_dynamic_stack: bit(properties, 11),
            kernarg_preload_length: bits(preload, 0, 7) as u8,
            kernarg_preload_offset: bits(preload, 7, 9) as u16,
            enable_wavefront_size32: words.is_wave32(),
            wgp_mode: rdna && bit(rsrc1, 29),
            mem_ordered: rdna && bit(rsrc1, 30),
            fwd_progress: rdna && bit(rsrc1, 31),
            shared_vgprs: if rdna { 8 * bits(rsrc3, 0, 4) as u8 } else { 0 },
            instruction_prefetch_bytes: if rdna {
                128 * bits(rsrc3, 4, if gpu.is_rdna4() { 8 } else { 6 }) as u16
            } else {
                0
            },
            compute_pgm_rsrc: [rsrc1, rsrc2, rsrc3],
        })
    }

    /// Lanes of a wave.
    pub fn wave_size(&self) -> u32 {
        match self.enable_wavefront_size32 {
            true => 32,
            false => 64,
        }
    }

    /// Vector registers allocated per lane.
    ///
    /// On gfx908, the number of VGPRs, and also of accumulation VGPRs. On later GPUs, both kinds together.
    pub fn vgprs(&self) -> u32 {
        let limits = GpuLimits::of(self.gpu).with_wave_size(self.wave_size());
        (u32::from(self.granulated_workitem_vgpr_count) + 1) * limits.vgpr_descriptor_granule
    }

    /// The allocated VGPRs (`v0` up), without accumulation VGPRs.
    pub fn arch_vgprs(&self) -> u32 {
        match self.accum_offset {
            Some(offset) => self.vgprs().min(offset.into()),
            None => self.vgprs(),
        }
    }

    /// The allocated accumulation VGPRs (`a0` up).
    pub fn accum_vgprs(&self) -> u32 {
        match self.accum_offset {
            Some(offset) => self.vgprs().saturating_sub(offset.into()),
            None if self.gpu.family() == Family::Rdna => 0,
            None => self.vgprs(),
        }
    }

    /// Scalar registers allocated per wave, including VCC, FLAT_SCRATCH and XNACK_MASK.
    ///
    /// The field counts in units of 8, but the hardware allocates in units of 16, so the count is rounded up. On RDNA, the
    /// field is 0, and each wave has the same number.
    pub fn sgprs(&self) -> u32 {
        (u32::from(self.granulated_wavefront_sgpr_count) / 2 + 1)
            * GpuLimits::of(self.gpu).sgpr_granule
    }
}
