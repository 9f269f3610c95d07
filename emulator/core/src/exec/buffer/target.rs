//! Buffer resources, and the addresses of a buffer operation's lanes.
//!
//! Fields and addresses are those of AMD's CDNA4 ISA guide, «Vector Memory Buffer Instructions» (9.1.4 to 9.1.8).
//!
//! # Range checks
//!
//! «Range Checking» (9.1.5.1) knows three kinds of buffers. It is the same in the guides of CDNA 1 to 4, and all GPUs
//! here behave alike:
//!
//! | buffer | when | out of range |
//! |---|---|---|
//! | private | lane numbers, no index | never |
//! | structured | a stride and an index | index ≥ records; neither offset takes part |
//! | raw | all others | offset ≥ records − scalar offset, in bytes |
//!
//! *Offset* is the instruction's constant plus the vector offset, without wrapping around (except on RDNA, below). If the
//! scalar offset exceeds the records, everything is out of range. In buffers with lane numbers, *offset* wraps around at
//! 32 bits: from GFX9 on, LLVM folds a constant into private accesses whose vector offset may be negative, and piglit's
//! test «MUBUF negative buffer offsets» has the hardware's result.
//!
//! The CDNA guides leave the scalar offset out of the raw check, and LLVM's comment on its raw buffer intrinsics
//! (`IntrinsicsAMDGPU.td`) says that it is excluded. The hardware subtracts it from the records. AMD's guides of Sea
//! Islands and GCN 3 (`buffer_offset >= num_records - sgpr_offset`) and of RDNA (raw mode: «num_records is reduced by
//! sgpr_offset») say so. Tensile's kernels rely on it: rocBLAS's f32 kernel of gfx908 for 4096 × 4096 would otherwise
//! read past its matrix. LLVM's comment is for callers, who may rely on neither (MLIR's `amdgpu` dialect says that
//! the scalar offset «may or may not» be considered). That the difference saturates is from LLVM's `AMDGPUUsage`
//! («relaxed buffer OOB mode», pull request 134734).
//!
//! The guide does not say what swizzled buffers without an index are, nor strides of 0 with one. Both are raw, as in
//! Mesa's account of GFX9 (radeonsi's `si_make_buffer_descriptor`: bytes unless there are an index and a stride). For a
//! structured buffer with lane numbers, the index in the vector register is checked, without the lane number.
//!
//! Loads and stores of several dwords are checked dword by dword, atomic operations and formats as a whole (the guide's
//! notes 3 and 4). A dword or a smaller unit is in range with all its bytes or not at all.
//!
//! # RDNA
//!
//! The resource states the kind of check (`OOB_SELECT`, RDNA 3 ISA guide, «Buffer Range Checking»; Mesa's names in
//! `ac_descriptors.c`), and element sizes of 4, 8 or 16 bytes (`SWIZZLE_ENABLE`):
//!
//! | code | Mesa's name | out of range |
//! |---|---|---|
//! | 0 | structured with offset | index ≥ records, or offset + bytes > stride |
//! | 1 | structured | index ≥ records |
//! | 2 | disabled | if there are no records |
//! | 3 | raw | offset + bytes > records − scalar offset; as 0 in swizzled buffers with a stride |
//!
//! The format is one code for both data and number format, and 0 does not make a buffer unbound.
//!
//! *Offset* wraps around at 32 bits. The guide does not say so. Programs of IREE for gfx1100 rely on it: LLVM makes loops
//! that count up to 0 in the vector offset, which the constant makes positive again.

use std::simd::prelude::*;

use crate::exec::{
    Context, Wave,
    access::{self, Access},
    array::array,
    contiguous_access::{ContiguousAccess, within},
    lanes::chunks,
    operation::{Flow, Operation},
    simd::{D, U, all_lanes},
};

/// Bits of a buffer operation's `control[2]`.
pub(super) const IDXEN: u8 = 1;
pub(super) const OFFEN: u8 = 2;
/// A status word follows the data.
pub(super) const TFE: u8 = 4;
/// The resource is RDNA's.
pub(super) const RDNA: u8 = 8;
/// The GPU is of RDNA 4.
pub(super) const GFX12: u8 = 16;

/// Element size of CDNA's swizzled buffers: consecutive elements of a lane are apart. GFX9's resources have no field for it,
/// and compilers interleave private memory by dwords.
const ELEMENT_BYTES: u64 = 4;

/// RDNA's kinds of range checks.
const OOB_STRUCTURED_WITH_OFFSET: u32 = 0;
const OOB_STRUCTURED: u32 = 1;
const OOB_DISABLED: u32 = 2;
const OOB_RAW: u32 = 3;

/// A buffer resource (V#).
#[derive(Clone, Copy)]
pub(super) struct Resource {
    base: u64,
    stride: u64,
    /// In bytes, or in structures where an index is used.
    records: u64,
    swizzle: bool,
    /// Number of structures that a swizzled buffer interleaves.
    index_stride: u64,
    /// Bytes that stay together in a swizzled buffer: a power of two.
    element: u64,
    /// Whether the lane number is added to the index.
    add_tid: bool,
    /// The last dword, which contains the format.
    format: u32,
}

impl Resource {
    #[inline(always)]
    fn new<const C: usize>(w: &Wave<C>, register: u16) -> Self {
        let [low, high, records, format] = array(|i| w.scalar(register + i as u16));
        Resource {
            base: u64::from(low) | u64::from(high & 0xffff) << 32,
            stride: u64::from(high >> 16 & 0x3fff),
            records: u64::from(records),
            swizzle: high >> 31 == 1,
            index_stride: 8 << (format >> 21 & 3),
            element: ELEMENT_BYTES,
            add_tid: format >> 23 & 1 == 1,
            format,
        }
    }

    /// RDNA's resource.
    #[cold]
    fn rdna<const C: usize>(w: &Wave<C>, register: u16) -> Self {
        let high = w.scalar(register + 1);
        let swizzle = high >> 30;
        Resource {
            swizzle: swizzle != 0,
            element: 2 << swizzle.max(1),
            ..Self::new(w, register)
        }
    }

    /// RDNA's code of the format.
    pub(super) fn unified_format(&self) -> u8 {
        (self.format >> 12 & 0x3f) as u8
    }

    /// The codes of the data format and the number format.
    pub(super) fn formats(&self) -> (u8, u8) {
        (
            (self.format >> 15 & 15) as u8,
            (self.format >> 12 & 7) as u8,
        )
    }

    /// What a register of a format instruction gets: 0, 1, or from 4 on a component.
    pub(super) fn select(&self, register: usize) -> u32 {
        self.format >> (3 * register) & 7
    }
}

/// What the range check compares.
#[derive(Clone, Copy)]
enum Range {
    /// Nothing: private memory is always in range.
    None,
    /// Nothing: the resource's format is the invalid one, and no access is in range.
    Unbound,
    /// Offsets with this number of bytes: the records minus the scalar offset.
    Bytes(u64),
    /// Indices with the number of structures.
    Structures,
    /// The same, and offsets with the stride.
    StructuresAndOffsets,
}

/// Where the lanes of a buffer operation point.
pub(super) struct Target<const C: usize> {
    pub(super) resource: Resource,
    /// Base plus scalar offset.
    start: u64,
    index: [D; C],
    offset: [D; C],
    range: Range,
    /// Whether a lane's consecutive dwords are apart in memory.
    swizzled: bool,
    pub(super) exec: u64,
}

/// The lane numbers of a chunk.
#[inline(always)]
fn lane_numbers(chunk: usize) -> D {
    D::from_array(array(|lane| (16 * chunk + lane) as u64))
}

/// All lanes' memory with one base, if all lanes are active and in range of a buffer without structures: what nearly all
/// operations access. For others, there is [`Target`].
#[inline(always)]
pub(super) fn near<const C: usize>(
    w: &Wave<C>,
    c: &Context<'_>,
    o: &Operation,
    bytes: u32,
) -> Option<ContiguousAccess<C>> {
    let flags = o.control[2];
    if !w.all_active() || flags & (IDXEN | TFE) != 0 {
        return None;
    }
    let register = o.src[2].register;
    let resource = Resource::new(w, register);
    let linear = match flags & RDNA != 0 {
        true => w.scalar(register + 1) >> 30 == 0 && resource.format >> 28 & 3 == OOB_RAW,
        false => !resource.swizzle && resource.formats().0 != 0,
    };
    if !linear || resource.add_tid {
        return None;
    }
    let scalar_offset = u64::from(w.read32(&o.src[3]));
    let constant = o.imm as u64;
    // The highest vector offset that is in range.
    let records = resource.records.checked_sub(scalar_offset)?;
    let last = records.checked_sub(constant + u64::from(bytes))?;
    let last = last.min(ContiguousAccess::<C>::FARTHEST.into()) as u32;
    let offsets = match flags & OFFEN != 0 {
        true => chunks(|c| w.lanes(o.src[0].register).0[c]),
        false => [U::splat(0); C],
    };
    within(&offsets, all_lanes(C), 0, last).then_some(ContiguousAccess {
        base: resource.base.wrapping_add(scalar_offset + constant),
        offsets,
        exec: all_lanes(C),
        moves: c.moves,
    })
}

impl<const C: usize> Target<C> {
    #[inline(always)]
    pub(super) fn new(w: &Wave<C>, o: &Operation) -> Self {
        if o.control[2] & RDNA != 0 {
            return Self::rdna(w, o);
        }
        let mut resource = Resource::new(w, o.src[2].register);
        let (data_format, _) = resource.formats();
        if resource.add_tid {
            // The bits of the data format are then the upper bits of the stride.
            resource.stride |= u64::from(data_format) << 14;
        }
        let mut target = Self::of(w, o, resource);
        if data_format == 0 && !resource.add_tid {
            target.range = Range::Unbound;
        }
        target
    }

    /// As [`Self::new`] for instructions with a format, which never have the long stride.
    pub(super) fn typed(w: &Wave<C>, o: &Operation) -> Self {
        if o.control[2] & RDNA != 0 {
            return Self::rdna(w, o);
        }
        Self::of(w, o, Resource::new(w, o.src[2].register))
    }

    /// On RDNA, where the resource says what the range check compares.
    #[inline(never)]
    fn rdna(w: &Wave<C>, o: &Operation) -> Self {
        let resource = Resource::rdna(w, o.src[2].register);
        let scalar_offset = u64::from(w.read32(&o.src[3]));
        let structured = Range::StructuresAndOffsets;
        let range = match resource.format >> 28 & 3 {
            OOB_STRUCTURED_WITH_OFFSET => structured,
            OOB_STRUCTURED => Range::Structures,
            OOB_DISABLED if resource.records == 0 => Range::Unbound,
            OOB_DISABLED => Range::None,
            _ if resource.swizzle && resource.stride != 0 => structured,
            _ => Range::Bytes(resource.records.saturating_sub(scalar_offset)),
        };
        let target = Self::of(w, o, resource);
        Target {
            range,
            offset: chunks(|c| target.offset[c] & D::splat(u32::MAX.into())),
            ..target
        }
    }

    #[inline(always)]
    fn of(w: &Wave<C>, o: &Operation, resource: Resource) -> Self {
        let flags = o.control[2];
        let scalar_offset = u64::from(w.read32(&o.src[3]));
        let start = resource.base.wrapping_add(scalar_offset);
        let immediate = D::splat(o.imm as u64);
        let address = o.src[0].register;
        let (mut index, mut offset) = ([D::splat(0); C], [immediate; C]);
        if flags & IDXEN != 0 {
            index = chunks(|c| w.lanes(address).0[c].cast());
        }
        if flags & OFFEN != 0 {
            let register = address + u16::from(flags & IDXEN);
            offset = chunks(|c| w.lanes(register).0[c].cast::<u64>() + immediate);
        }
        let range = if flags & IDXEN != 0 && resource.stride != 0 {
            Range::Structures
        } else if resource.add_tid {
            Range::None
        } else {
            Range::Bytes(resource.records.saturating_sub(scalar_offset))
        };
        let mut target = Target {
            resource,
            start,
            index,
            offset,
            range,
            swizzled: resource.swizzle,
            exec: w.active(),
        };
        if resource.add_tid {
            target.index = chunks(|c| index[c] + lane_numbers(c));
            target.offset = chunks(|c| offset[c] & D::splat(u32::MAX.into()));
        }
        target
    }

    /// The lanes whose `bytes`, `at` bytes past their offset, are all in range. LLVM's pull request 134734 describes
    /// this for dwords that cross the end; the guide compares only the start.
    #[inline(always)]
    pub(super) fn inside(&self, at: u64, bytes: u32) -> u64 {
        let limit = |values: &[D; C], first_outside: u64| {
            let mut mask = 0;
            for (chunk, lanes) in values.iter().enumerate() {
                let inside = lanes.simd_lt(D::splat(first_outside));
                mask |= inside.to_bitmask() << (16 * chunk);
            }
            mask
        };
        let mask = match self.range {
            Range::None => !0,
            Range::Unbound => 0,
            Range::Structures => {
                let flat = self.index_without_lane();
                limit(&flat, self.resource.records)
            }
            Range::StructuresAndOffsets => {
                let flat = self.index_without_lane();
                let stride = self.resource.stride;
                let room = (stride + 1).saturating_sub(at + u64::from(bytes));
                limit(&flat, self.resource.records) & limit(&self.offset, room)
            }
            Range::Bytes(there) => limit(
                &self.offset,
                (there + 1).saturating_sub(at + u64::from(bytes)),
            ),
        };
        mask & self.exec
    }

    /// The index that the range check uses, without the lane number.
    #[inline(always)]
    fn index_without_lane(&self) -> [D; C] {
        match self.resource.add_tid {
            true => chunks(|c| self.index[c] - lane_numbers(c)),
            false => self.index,
        }
    }

    /// Addresses of the lanes' data, `at` bytes past their offset.
    #[inline(always)]
    pub(super) fn addresses(&self, at: u64) -> [D; C] {
        let Resource {
            stride,
            index_stride,
            ..
        } = self.resource;
        let (start, at) = (D::splat(self.start), D::splat(at));
        if !self.swizzled {
            return match stride {
                0 => chunks(|c| self.offset[c] + at + start),
                _ => chunks(|c| self.offset[c] + at + start + self.index[c] * D::splat(stride)),
            };
        }
        // `index_stride` and the element size are powers of two.
        let shift = D::splat(index_stride.trailing_zeros().into());
        let lower = D::splat(index_stride - 1);
        let element = D::splat(self.resource.element);
        chunks(|c| {
            let (index, offset) = (self.index[c], self.offset[c] + at);
            let in_element = offset & (element - D::splat(1));
            let rows = (index >> shift) * D::splat(stride) + (offset - in_element);
            start + (rows << shift) + (index & lower) * element + in_element
        })
    }

    /// Checks the lanes of `mask` for an access to `bytes`, `at` bytes past their offset.
    #[inline(always)]
    pub(super) fn access(
        &self,
        c: &mut Context<'_>,
        o: &Operation,
        mask: u64,
        at: u64,
        bytes: u32,
        write: bool,
    ) -> Result<Access<C>, Flow> {
        let access = Access {
            addresses: self.addresses(at),
            exec: mask,
            moves: c.moves,
        };
        if mask == 0 {
            return Ok(access);
        }
        match access::check_global(c, o, &access, bytes, write) {
            Flow::Next => Ok(access),
            flow => Err(flow),
        }
    }

    /// The lanes in range, if `bytes` of every lane are contiguous and in range either as a whole or not at all.
    #[inline(always)]
    pub(super) fn in_one_piece(&self, bytes: u32) -> Option<u64> {
        let all = self.inside(0, bytes);
        let whole = all == self.exec || bytes <= 4 || all == self.inside(0, 4);
        let together = !self.swizzled || bytes <= 4 && !self.crosses(bytes);
        (whole && together).then_some(all)
    }

    /// Whether an unaligned access of some lane crosses from one element of a swizzled buffer into the next, which is
    /// elsewhere.
    #[inline(always)]
    pub(super) fn crosses(&self, bytes: u32) -> bool {
        let size = self.resource.element;
        let room = D::splat(size - u64::from(bytes).min(size));
        self.swizzled
            && self.offset.iter().enumerate().any(|(chunk, offset)| {
                let in_element = offset & D::splat(size - 1);
                let beyond = in_element.simd_gt(room).to_bitmask();
                beyond & (self.exec >> (16 * chunk) & 0xffff) != 0
            })
    }
}
