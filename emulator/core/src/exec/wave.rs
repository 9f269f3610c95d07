//! A wavefront's state.

use std::simd::{prelude::*, simd_swizzle};

use super::{
    array::Mapped,
    operation::{Source, SourceKind},
    simd::{CHUNKS, D, LANES, U, all_lanes, chunk_mask},
    state::{Allocated, GlobalWait, Segment, Turn},
};

/// VGPRs 0 to 255 are `v`, 256 to 511 are `a` (accumulation VGPRs).
pub const ACCUMULATORS: u16 = 256;
/// First of the registers that operations use as temporaries.
pub(crate) const TEMPORARIES: u16 = 512;
/// Registers in the file. A power of two, so that an index needs a mask and no check. Untouched registers take address
/// space only.
const FILE: usize = 1024;

/// Scalar register codes (AMD's operand encoding).
pub const VCC: u16 = 106;
pub(crate) const M0: u16 = 124;
pub(crate) const EXEC: u16 = 126;

/// One VGPR. It has room for 64 lanes; a wave of 32 uses the first half.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub(crate) [U; CHUNKS]);

impl Lanes {
    pub(crate) const fn splat(value: u32) -> Self {
        Lanes([U::splat(value); CHUNKS])
    }

    /// From the first chunks; the rest is 0.
    #[inline(always)]
    pub(crate) fn of<const C: usize>(chunks: [U; C]) -> Self {
        let mut lanes = Lanes::splat(0);
        *lanes.chunks_mut() = chunks;
        lanes
    }

    /// The first chunks.
    #[inline(always)]
    pub(crate) const fn chunks<const C: usize>(&self) -> &[U; C] {
        const { assert!(C <= CHUNKS) };
        // SAFETY: an array's first elements are an array.
        unsafe { &*(&raw const self.0).cast() }
    }

    /// The first chunks, mutable.
    #[inline(always)]
    pub(crate) const fn chunks_mut<const C: usize>(&mut self) -> &mut [U; C] {
        const { assert!(C <= CHUNKS) };
        // SAFETY: as in `chunks`; the borrow is exclusive.
        unsafe { &mut *(&raw mut self.0).cast() }
    }

    /// One value per lane.
    pub const fn as_array(&self) -> &[u32; LANES] {
        // SAFETY: four vectors of sixteen lanes, without padding, are 64 lanes side by side.
        unsafe { &*(&raw const self.0).cast() }
    }

    /// One value per lane, mutable.
    pub const fn as_mut_array(&mut self) -> &mut [u32; LANES] {
        // SAFETY: as in `as_array`; the borrow is exclusive.
        unsafe { &mut *(&raw mut self.0).cast() }
    }
}

/// Bits of the MODE register that the emulator knows (CDNA4 ISA guide, «Mode register», 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(u32);

/// A rounding mode, by its code in MODE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even.
    NearestEven = 0,
    /// Towards +∞.
    Up = 1,
    /// Towards −∞.
    Down = 2,
    /// Towards zero.
    Zero = 3,
}

impl Round {
    /// From the low two bits of a code.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Round::NearestEven,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }
}

impl Mode {
    /// From the register's bits.
    pub const fn from_bits(bits: u32) -> Self {
        Mode(bits)
    }

    /// The register's bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Rounding of f32 results.
    pub const fn round32(self) -> Round {
        Round::from_bits(self.0)
    }

    /// Rounding of f16 and f64 results.
    pub const fn round16_64(self) -> Round {
        Round::from_bits(self.0 >> 2)
    }

    /// Whether f32 denormals are kept: in sources, in results.
    pub const fn denormals32(self) -> (bool, bool) {
        (self.0 & 0x10 != 0, self.0 & 0x20 != 0)
    }

    /// Whether f16 and f64 denormals are kept: in sources, in results.
    pub const fn denormals16_64(self) -> (bool, bool) {
        (self.0 & 0x40 != 0, self.0 & 0x80 != 0)
    }

    /// Whether `clamp` turns NaN into 0.
    pub const fn dx10_clamp(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// Whether minimum and maximum quiet a signalling NaN, as IEEE 754 requires.
    pub const fn ieee(self) -> bool {
        self.0 & 0x200 != 0
    }

    /// Whether results too large for a format of 16 bits or fewer become its largest number (`FP16_OVFL`).
    pub const fn saturates_overflow(self) -> bool {
        self.0 & 0x80_0000 != 0
    }

    /// Whether vector registers are indexed (`s_set_gpr_idx_on`).
    pub const fn indexes_registers(self) -> bool {
        self.0 & Self::INDEXES_REGISTERS != 0
    }

    const INDEXES_REGISTERS: u32 = 1 << 27;

    pub(crate) const fn with_indexing(self, on: bool) -> Self {
        match on {
            true => Mode(self.0 | Self::INDEXES_REGISTERS),
            false => Mode(self.0 & !Self::INDEXES_REGISTERS),
        }
    }

    /// How many forks wait to be joined (`s_cbranch_g_fork`): bits 31:29.
    pub(crate) const fn forks(self) -> u32 {
        self.0 >> 29
    }

    pub(crate) const fn with_forks(self, forks: u32) -> Self {
        Mode(self.0 & !(7 << 29) | forks << 29)
    }

    /// Whether the host's f32 arithmetic does what MODE asks for: round to nearest, keep denormals.
    #[inline(always)]
    pub(crate) const fn plain32(self) -> bool {
        self.0 & 0x33 == 0x30
    }

    /// The same for f16.
    #[inline(always)]
    pub(crate) const fn plain16(self) -> bool {
        self.plain16_64() && !self.saturates_overflow()
    }

    /// The same for f64, and for f16 except [`Self::saturates_overflow`].
    #[inline(always)]
    pub(crate) const fn plain16_64(self) -> bool {
        self.0 & 0xcc == 0xc0
    }
}

/// A source operand that can be read chunk by chunk.
///
/// A scalar is splatted into the first chunk of a temporary register and has a `step` of 0, so that one loop serves
/// both kinds. Both fields are in bytes, so that they add to a host address directly.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fetched {
    /// Offset of the register in the file.
    first: usize,
    /// From one chunk to the next: the size of a chunk, or 0.
    step: usize,
}

impl Fetched {
    /// A vector register.
    #[inline(always)]
    pub(crate) const fn vector(register: u16) -> Self {
        Fetched {
            first: (register as usize & (FILE - 1)) * size_of::<Lanes>(),
            step: size_of::<U>(),
        }
    }

    /// The first chunk of a register, for all lanes.
    #[inline(always)]
    const fn spread(register: u16) -> Self {
        Fetched {
            step: 0,
            ..Self::vector(register)
        }
    }
}

/// The number of chunks is known at run time only: `Wave::chunks`.
pub const ANY: usize = 0;

/// What a wave has done at a barrier with separate instructions to signal and to wait (RDNA 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierPhase {
    /// Nothing.
    Idle,
    /// It has just signalled, and `scc` is to tell whether no other wave has.
    AsksForFirst,
    /// It has signalled.
    Signalled,
    /// All waves have signalled, and this one has not waited yet.
    Complete,
}

/// A wave of 64 lanes, for operations that exist for no other.
pub(crate) type Wave64 = Wave<CHUNKS>;

/// A wavefront's registers and status.
///
/// `C` is the number of host vectors with 16 lanes each that its VGPRs consist of: 4 for 64 lanes, 2 for 32. Operations
/// are compiled for one number; everything else uses [`ANY`]. The layout is the same for all.
///
/// Lane masks have 64 bits for every size of wave. Bits without a lane are not looked at, so that EXEC and VCC of 32
/// lanes are EXEC_LO and VCC_LO, and the upper halves are registers like others.
#[repr(C)]
pub struct Wave<const C: usize = ANY> {
    /// Number of chunks.
    chunks: usize,
    /// Index of the next operation.
    pub pc: u32,
    /// EXEC: the active lanes, one bit each. Bits without a lane have no effect; see [`Self::active`].
    pub exec: u64,
    /// The scalar condition code.
    pub scc: bool,
    /// Rounding, denormals, exceptions.
    pub mode: Mode,
    /// Scalar registers by operand code. EXEC has its own field; slots 126 and 127 are unused.
    pub sgprs: [u32; 256],
    pub(crate) vgprs: Box<[Lanes; FILE]>,
    /// Number of this wave in its workgroup.
    pub index: u32,
    /// TRAPSTS: what the kernel wrote there.
    pub trap_status: u32,
    pub(crate) allocated: Allocated,
    pub(crate) private: Segment,
    /// Whether vector instructions are skipped (`s_setvskip`).
    pub skips_vector: bool,
    /// The queue that the wave has just joined; the scheduler takes it.
    pub global_wait: Option<GlobalWait>,
    /// What the wave has done at the workgroup's barrier, if it signals and waits separately.
    pub(crate) barrier: BarrierPhase,
    /// Whether the wave lets other waves go first before it stores to LDS.
    pub(crate) lds_turn: Turn,
}

impl Default for Wave {
    /// With 64 lanes, all active, and zeros in all registers.
    fn default() -> Self {
        Wave {
            chunks: CHUNKS,
            pc: 0,
            exec: !0,
            scc: false,
            mode: Mode::from_bits(0),
            sgprs: [0; 256],
            // SAFETY: all zeros is a valid `Lanes`. Zeroed memory costs nothing until it is touched.
            vgprs: unsafe { Box::<[Lanes; FILE]>::new_zeroed().assume_init() },
            index: 0,
            trap_status: 0,
            allocated: Allocated::default(),
            private: Segment::default(),
            skips_vector: false,
            global_wait: None,
            barrier: BarrierPhase::Idle,
            lds_turn: Turn::default(),
        }
    }
}

impl Wave {
    /// Sets the number of lanes: 64 or 32.
    pub fn set_lane_count(&mut self, lanes: u32) {
        self.chunks = (lanes as usize / 16).clamp(1, CHUNKS);
    }

    /// The wave as operations for `C` chunks see it, which must be its number.
    #[inline(always)]
    pub(crate) fn with_chunks<const C: usize>(&mut self) -> &mut Wave<C> {
        // SAFETY: the layout does not depend on the number of chunks. Registers have room for any.
        unsafe { &mut *(&raw mut *self).cast() }
    }

    /// Copies another wave's state, except for the program counter and the VGPRs.
    pub fn copy_scalar_state(&mut self, other: &Wave) {
        self.chunks = other.chunks;
        (self.exec, self.scc, self.mode) = (other.exec, other.scc, other.mode);
        (self.index, self.trap_status) = (other.index, other.trap_status);
        (self.allocated, self.private) = (other.allocated, other.private);
        self.skips_vector = other.skips_vector;
        self.sgprs = other.sgprs;
    }
}

impl<const C: usize> Wave<C> {
    /// Number of chunks.
    #[inline(always)]
    pub(super) const fn chunks(&self) -> usize {
        match C {
            ANY => self.chunks,
            _ => C,
        }
    }

    /// Number of lanes.
    #[inline(always)]
    pub const fn lane_count(&self) -> usize {
        16 * self.chunks()
    }

    /// The mask of all lanes.
    #[inline(always)]
    pub const fn all_lanes(&self) -> u64 {
        all_lanes(self.chunks())
    }

    /// The active lanes, one bit each.
    #[inline(always)]
    pub const fn active(&self) -> u64 {
        self.exec & self.all_lanes()
    }

    /// The numbers of the active lanes.
    pub fn active_lanes(&self) -> impl Iterator<Item = usize> + use<C> {
        lanes_of(self.active())
    }

    /// Whether all lanes are active.
    #[inline(always)]
    pub const fn all_active(&self) -> bool {
        self.active() == self.all_lanes()
    }

    /// Replaces the active lanes.
    #[inline(always)]
    pub(crate) fn set_active(&mut self, lanes: u64) {
        let all = self.all_lanes();
        self.exec = self.exec & !all | lanes & all;
    }

    /// The wave without its number of chunks in the type.
    #[inline(always)]
    pub(crate) fn any(&mut self) -> &mut Wave {
        // SAFETY: as in `with_chunks`.
        unsafe { &mut *(&raw mut *self).cast() }
    }

    /// As [`Self::any`], shared.
    #[inline(always)]
    pub(crate) fn as_any(&self) -> &Wave {
        // SAFETY: as in `with_chunks`.
        unsafe { &*(&raw const *self).cast() }
    }

    /// A VGPR by number; accumulation VGPRs follow the 256 others.
    #[inline(always)]
    pub fn lanes(&self, register: u16) -> &Lanes {
        &self.vgprs[usize::from(register) & (FILE - 1)]
    }

    /// The same register, mutable.
    #[inline(always)]
    pub fn lanes_mut(&mut self, register: u16) -> &mut Lanes {
        &mut self.vgprs[usize::from(register) & (FILE - 1)]
    }

    /// A scalar register by operand code.
    #[inline(always)]
    pub fn scalar(&self, register: u16) -> u32 {
        match register {
            EXEC => self.exec as u32,
            127 => (self.exec >> 32) as u32,
            _ => self.sgprs[usize::from(register as u8)],
        }
    }

    /// A pair of scalar registers.
    #[inline(always)]
    pub(crate) fn scalar_pair(&self, register: u16) -> u64 {
        u64::from(self.scalar(register)) | u64::from(self.scalar(register + 1)) << 32
    }

    /// Writes a scalar register by operand code.
    #[inline(always)]
    pub fn set_scalar(&mut self, register: u16, value: u32) {
        match register {
            EXEC => self.exec = self.exec & !0xffff_ffff | u64::from(value),
            127 => self.exec = self.exec & 0xffff_ffff | u64::from(value) << 32,
            _ => self.sgprs[usize::from(register as u8)] = value,
        }
    }

    #[inline(always)]
    pub(crate) fn set_scalar_pair(&mut self, register: u16, value: u64) {
        if register == EXEC {
            self.exec = value;
        } else {
            self.sgprs[usize::from(register as u8)] = value as u32;
            self.sgprs[usize::from((register + 1) as u8)] = (value >> 32) as u32;
        }
    }

    /// A lane mask in scalar registers: a pair for 64 lanes, one for 32.
    #[inline(always)]
    pub(crate) fn lane_mask(&self, register: u16) -> u64 {
        match self.chunks() > 2 {
            true => self.scalar_pair(register),
            false => self.scalar(register).into(),
        }
    }

    /// Writes a lane mask to scalar registers.
    #[inline(always)]
    pub(crate) fn set_lane_mask(&mut self, register: u16, mask: u64) {
        match self.chunks() > 2 {
            true => self.set_scalar_pair(register, mask),
            false => self.set_scalar(register, mask as u32),
        }
    }

    fn status(&self, code: u16) -> u32 {
        u32::from(match code {
            251 => self.lane_mask(VCC) == 0,
            252 => self.active() == 0,
            _ => self.scc,
        })
    }

    /// A scalar source, 32 bits.
    #[inline(always)]
    pub(crate) fn read32(&self, source: &Source) -> u32 {
        match source.kind {
            SourceKind::Scalar => self.scalar(source.register),
            SourceKind::Status => self.status(source.register),
            _ => source.value as u32,
        }
    }

    /// A scalar source, 64 bits.
    #[inline(always)]
    pub(crate) fn read64(&self, source: &Source) -> u64 {
        match source.kind {
            SourceKind::Scalar => self.scalar_pair(source.register),
            SourceKind::Status => u64::from(self.status(source.register)),
            _ => source.value,
        }
    }

    /// A source that is a lane mask.
    #[inline(always)]
    pub(crate) fn read_lane_mask(&self, source: &Source) -> u64 {
        match self.chunks() > 2 {
            true => self.read64(source),
            false => self.read32(source).into(),
        }
    }

    /// Prepares source number `slot` of a vector operation for reading.
    #[inline(always)]
    pub(crate) fn fetch(&mut self, slot: u16, source: &Source) -> Fetched {
        if source.kind == SourceKind::Vector {
            Fetched::vector(source.register)
        } else {
            let register = TEMPORARIES + 2 * slot;
            let value = U::splat(self.read32(source));
            self.lanes_mut(register).0[0] = value;
            Fetched::spread(register)
        }
    }

    /// As [`Self::fetch`] for a 64-bit source: low and high half.
    #[inline(always)]
    pub(crate) fn fetch64(&mut self, slot: u16, source: &Source) -> [Fetched; 2] {
        if source.kind == SourceKind::Vector {
            return [0, 1].mapped(|part| Fetched::vector(source.register + part));
        }
        let register = TEMPORARIES + 2 * slot;
        let value = self.read64(source);
        self.lanes_mut(register).0[0] = U::splat(value as u32);
        self.lanes_mut(register + 1).0[0] = U::splat((value >> 32) as u32);
        [0, 1].mapped(|part| Fetched::spread(register + part))
    }

    #[inline(always)]
    pub(crate) fn chunk(&self, fetched: Fetched, chunk: usize) -> U {
        let offset = fetched.first + (chunk & (CHUNKS - 1)) * fetched.step;
        // SAFETY: `Fetched` is a register of the file, and the offset is one of its chunks.
        unsafe { *self.vgprs.as_ptr().byte_add(offset).cast::<U>() }
    }

    #[inline(always)]
    pub(crate) fn chunk64(&self, fetched: [Fetched; 2], chunk: usize) -> D {
        join(self.chunk(fetched[0], chunk), self.chunk(fetched[1], chunk))
    }

    /// Writes the active lanes of a vector register.
    #[inline(always)]
    pub(crate) fn commit(&mut self, register: u16, result: [U; C]) {
        let (active, all) = (self.active(), self.all_active());
        let lanes = self.lanes_mut(register).chunks_mut();
        if all {
            *lanes = result;
        } else {
            for (chunk, value) in result.into_iter().enumerate() {
                lanes[chunk] = chunk_mask(active, chunk).select(value, lanes[chunk]);
            }
        }
    }

    /// Writes the active lanes of a pair of vector registers.
    #[inline(always)]
    pub(crate) fn commit64(&mut self, register: u16, result: [D; C]) {
        let halves = result.mapped(split);
        self.commit(register, halves.mapped(|halves| halves[0]));
        self.commit(register + 1, halves.mapped(|halves| halves[1]));
    }
}

/// The numbers of the lanes in a mask.
pub fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        (left != 0).then(|| {
            left &= left - 1;
            lane
        })
    })
}

/// 64-bit lanes from their halves.
#[inline(always)]
pub(crate) fn join(low: U, high: U) -> D {
    if cfg!(target_endian = "big") {
        return low.cast::<u64>() | high.cast::<u64>() << D::splat(32);
    }
    // Interleaving the halves takes two shuffles; widening and shifting take eight instructions.
    let mixed: Simd<u32, 32> = simd_swizzle!(low, high, IN_TURNS);
    // SAFETY: both types have the same size, and every bit pattern is valid.
    unsafe { std::mem::transmute::<Simd<u32, 32>, D>(mixed) }
}

/// The inverse of [`join`].
#[inline(always)]
fn split(lanes: D) -> [U; 2] {
    if cfg!(target_endian = "big") {
        return [lanes.cast(), (lanes >> D::splat(32)).cast()];
    }
    // SAFETY: as in `join`.
    let mixed = unsafe { std::mem::transmute::<D, Simd<u32, 32>>(lanes) };
    [simd_swizzle!(mixed, EVEN), simd_swizzle!(mixed, ODD)]
}

const IN_TURNS: [usize; 32] = [
    0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
    13, 29, 14, 30, 15, 31,
];
const EVEN: [usize; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
const ODD: [usize; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];
