//! `s_getreg` and `s_setreg`: the hardware registers that a kernel can read and write.
//!
//! Numbers and fields are from the CDNA4 ISA guide, tables 3 to 7 and 19 to 22; SH_MEM_BASES, which it omits, is from
//! LLVM (`AMDGPUAsmUtils`), as are the numbers of RDNA's registers, some of which are others' on CDNA.

use super::{
    PRIVATE_APERTURE, SHARED_APERTURE, Wave,
    lanes::{Binder, vcc},
    operation::{Flow, Handler, Operation},
    scalar_memory,
    wave::Mode,
};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::run::HardwareRegisters;

const MODE: u32 = 1;
const STATUS: u32 = 2;
const TRAPSTS: u32 = 3;
const HW_ID: u32 = 4;
const GPR_ALLOC: u32 = 5;
const LDS_ALLOC: u32 = 6;
const IB_STS: u32 = 7;
const SH_MEM_BASES: u32 = 15;
/// The trap handler and its memory, which do not exist here.
const TBA_LO: u32 = 16;
const TMA_HI: u32 = 19;
/// From gfx942 on: the XCC that the wave runs on, and the profiler's snapshot.
const XCC_ID: u32 = 20;
const SNAPSHOT_PC_HI: u32 = 24;

/// RDNA: the address of the wave's private memory, the wave's place on the GPU, and a counter of cycles.
const RDNA_FLAT_SCRATCH_LO: u32 = 20;
const RDNA_FLAT_SCRATCH_HI: u32 = 21;
const RDNA_HW_ID1: u32 = 23;
const RDNA_HW_ID2: u32 = 24;
const RDNA_SHADER_CYCLES: u32 = 29;
/// gfx12: barriers and `scc`, exceptions and traps, of which there are none, and the upper half of the counter of cycles.
const GFX12_STATE: u32 = 4;
const GFX12_EXCEPTIONS: u32 = 17;
const GFX12_TRAPS: u32 = 19;
const GFX12_SHADER_CYCLES_HI: u32 = 30;
/// gfx12: which hazards the hardware leaves to `s_wait_alu`. There are none here. Tensile's kernels set it.
const GFX12_SCHED_MODE: u32 = 26;

/// Bit of MODE that `s_setvskip` also sets; [`Wave::skips_vector`] holds it.
const VSKIP: u32 = 1 << 28;

/// Whether a kernel can read a register here.
pub(crate) fn is_readable(gpu: Gpu, register: u32) -> bool {
    match gpu.family() {
        Family::Cdna => matches!(
            register,
            MODE..=IB_STS | SH_MEM_BASES | TBA_LO..=TMA_HI | XCC_ID..=SNAPSHOT_PC_HI
        ),
        Family::Rdna if gpu.is_rdna4() => matches!(
            register,
            MODE | STATUS
                | GFX12_STATE..=IB_STS
                | GFX12_EXCEPTIONS..=RDNA_FLAT_SCRATCH_HI
                | RDNA_HW_ID1..=RDNA_HW_ID2
                | RDNA_SHADER_CYCLES..=GFX12_SHADER_CYCLES_HI
        ),
        Family::Rdna => matches!(
            register,
            MODE..=TRAPSTS
                | GPR_ALLOC..=IB_STS
                | SH_MEM_BASES
                | RDNA_FLAT_SCRATCH_LO..=RDNA_FLAT_SCRATCH_HI
                | RDNA_HW_ID1..=RDNA_HW_ID2
                | RDNA_SHADER_CYCLES
        ),
    }
}

/// Whether a kernel can write a register here. Without privilege, the hardware ignores writes to STATUS.
pub(crate) fn is_writable(gpu: Gpu, register: u32) -> bool {
    matches!(register, MODE | STATUS | TRAPSTS) || gpu.is_rdna4() && register == GFX12_SCHED_MODE
}

/// The handler of `s_getreg` and `s_setreg`.
pub(super) fn handler<const C: usize>(b: Binder<C>, gpu: Gpu, op: HardwareRegisters) -> Handler {
    match op {
        HardwareRegisters::s_getreg_b32 => match gpu.family() {
            Family::Cdna => b.bind(
                #[inline(always)]
                |w, _, o| get(w, o, read),
            ),
            Family::Rdna if gpu.is_rdna4() => b.bind(
                #[inline(always)]
                |w, _, o| get(w, o, read_gfx12),
            ),
            Family::Rdna => b.bind(
                #[inline(always)]
                |w, _, o| get(w, o, read_rdna),
            ),
        },
        HardwareRegisters::s_setreg_b32 | HardwareRegisters::s_setreg_imm32_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let value = w.read32(&o.src[0]);
                write(w, o, value);
                Flow::Changed
            },
        ),
    }
}

#[inline(always)]
fn get<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    read: impl Fn(&Wave<C>, u32) -> u32,
) -> Flow {
    let (register, offset, size) = field(o);
    let value = (u64::from(read(w, register)) >> offset) & ((1 << size) - 1);
    w.set_scalar(o.dst, value as u32);
    Flow::Next
}

/// As [`read`] for the registers whose numbers mean others on RDNA.
fn read_rdna<const C: usize>(w: &Wave<C>, register: u32) -> u32 {
    let scratch = w.private.base.unwrap_or(0);
    match register {
        RDNA_FLAT_SCRATCH_LO => scratch as u32,
        RDNA_FLAT_SCRATCH_HI => (scratch >> 32) as u32,
        // The wave's number on its SIMD, and the SIMD's number.
        RDNA_HW_ID1 => (w.index / 4) & 0x1f | (w.index & 3) << 8,
        // All waves are of one queue and process.
        RDNA_HW_ID2 => 0,
        // Twenty bits.
        RDNA_SHADER_CYCLES => scalar_memory::nanoseconds() as u32 & 0xf_ffff,
        other => read(w, other),
    }
}

/// As [`read_rdna`] for the registers whose numbers mean others on gfx12.
fn read_gfx12<const C: usize>(w: &Wave<C>, register: u32) -> u32 {
    match register {
        GFX12_STATE => u32::from(w.scc) << 9,
        GFX12_EXCEPTIONS..=GFX12_TRAPS => 0,
        RDNA_SHADER_CYCLES => scalar_memory::nanoseconds() as u32,
        GFX12_SHADER_CYCLES_HI => (scalar_memory::nanoseconds() >> 32) as u32,
        other => read_rdna(w, other),
    }
}

/// Register, bit offset and bit count of `hwreg(…)`.
fn field(o: &Operation) -> (u32, u32, u32) {
    let immediate = o.imm as u32;
    (
        immediate & 0x3f,
        immediate >> 6 & 0x1f,
        (immediate >> 11 & 0x1f) + 1,
    )
}

fn read<const C: usize>(w: &Wave<C>, register: u32) -> u32 {
    match register {
        MODE => w.mode.bits() & !VSKIP | u32::from(w.skips_vector) << VSKIP.trailing_zeros(),
        STATUS => {
            let valid = 1 << 16;
            u32::from(w.scc)
                | u32::from(w.active() == 0) << 9
                | u32::from(vcc(w) == 0) << 10
                | u32::from(w.allocated.in_group) << 11
                | valid
        }
        TRAPSTS => w.trap_status,
        // The wave's number on its SIMD, and the SIMD's number.
        HW_ID => (w.index / 4) & 0xf | (w.index & 3) << 4,
        GPR_ALLOC => w.allocated.gprs,
        LDS_ALLOC => w.allocated.lds,
        // Sixteen bits each: the upper bits of the addresses.
        SH_MEM_BASES => (SHARED_APERTURE >> 48 << 16 | PRIVATE_APERTURE >> 48) as u32,
        // Nothing is ever outstanding, there is no trap handler, and all waves are on one XCC.
        _ => 0,
    }
}

fn write<const C: usize>(w: &mut Wave<C>, o: &Operation, value: u32) {
    let (register, offset, size) = field(o);
    let bits = (((1_u64 << size) - 1) << offset) as u32;
    let put = |old: u32| old & !bits | value << offset & bits;
    match register {
        MODE => {
            let mode = put(read(w, MODE));
            w.skips_vector = mode & VSKIP != 0;
            w.mode = Mode::from_bits(mode & !VSKIP);
        }
        TRAPSTS => w.trap_status = put(w.trap_status),
        _ => {}
    }
}
