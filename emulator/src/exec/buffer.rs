//! Untyped buffer operations: MUBUF.
//!
//! Addresses and range checks as in AMD's CDNA3 ISA guide, «Vector Memory Buffer Instructions»; that the
//! scalar offset takes no part in the range check is from LLVM's buffer intrinsics (`IntrinsicsAMDGPU.td`).

use std::simd::prelude::*;

use super::{
    Context, Wave,
    access::{self, Access},
    atomic::{self, Atomic},
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    private::Small,
    simd::{CHUNKS, D, U, chunk_mask},
    transfer::{self, Transfers},
};
use crate::isa::{MemoryControl, Op};

/// Bits of a buffer operation's `control[2]`.
const IDXEN: u8 = 1;
const OFFEN: u8 = 2;
/// A status word follows the data.
pub(super) const TFE: u8 = 4;

/// `control[2]` of a buffer instruction.
pub(crate) fn address_control(memory: &MemoryControl) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    bit(memory.idxen, IDXEN) | bit(memory.offen, OFFEN) | bit(memory.tfe, TFE)
}

/// Bytes between which a swizzled buffer puts the other lanes' (fixed from GFX9 on).
const ELEMENT_BYTES: u64 = 4;

/// A buffer resource (V#).
#[derive(Clone, Copy)]
pub(super) struct Resource {
    base: u64,
    stride: u64,
    /// Bytes, or structures where an index is used.
    records: u64,
    swizzle: bool,
    /// Structures that a swizzled buffer interleaves.
    index_stride: u64,
    /// Whether the lane's number is part of the index.
    add_tid: bool,
}

impl Resource {
    #[inline(always)]
    fn new(w: &Wave, register: u16) -> Self {
        let [low, high, records, format] = std::array::from_fn(|i| w.scalar(register + i as u16));
        let add_tid = format >> 23 & 1 == 1;
        let mut stride = u64::from(high >> 16 & 0x3fff);
        if add_tid {
            // The bits of the data format are the stride's upper ones then.
            stride |= u64::from(format >> 15 & 15) << 14;
        }
        Resource {
            base: u64::from(low) | u64::from(high & 0xffff) << 32,
            stride,
            records: u64::from(records),
            swizzle: high >> 31 == 1,
            index_stride: 8 << (format >> 21 & 3),
            add_tid,
        }
    }
}

/// What the range check compares.
#[derive(Clone, Copy)]
enum Range {
    /// Nothing: private memory.
    None,
    /// Offsets with the bytes that there are.
    Bytes,
    /// Indices with the structures that there are.
    Structures,
}

/// Where the lanes of a buffer operation point to.
pub(super) struct Target {
    pub(super) resource: Resource,
    /// Base and scalar offset.
    start: u64,
    index: [D; CHUNKS],
    offset: [D; CHUNKS],
    range: Range,
    /// Whether consecutive dwords of a lane are apart in memory.
    swizzled: bool,
    exec: u64,
}

/// Numbers of the lanes.
#[inline(always)]
fn lane_numbers(chunk: usize) -> D {
    D::from_array(std::array::from_fn(|lane| (16 * chunk + lane) as u64))
}

impl Target {
    #[inline(always)]
    pub(super) fn new(w: &mut Wave, o: &Operation) -> Self {
        let resource = Resource::new(w, o.src[2].register);
        let flags = o.control[2];
        let start = resource.base.wrapping_add(u64::from(w.read32(&o.src[3])));
        let immediate = D::splat(o.imm as u64);
        let address = o.src[0].register;
        let (mut index, mut offset) = ([D::splat(0); CHUNKS], [immediate; CHUNKS]);
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
            Range::Bytes
        };
        let mut target = Target {
            resource,
            start,
            index,
            offset,
            range,
            swizzled: resource.swizzle,
            exec: w.exec,
        };
        if resource.add_tid {
            target.index = chunks(|c| index[c] + lane_numbers(c));
        }
        target
    }

    /// The lanes whose `bytes` at `at` behind their offset are in range.
    #[inline(always)]
    pub(super) fn inside(&self, at: u64, bytes: u32) -> u64 {
        let limit = |values: &[D; CHUNKS], first_outside: u64| {
            let mut mask = 0;
            for (chunk, lanes) in values.iter().enumerate() {
                let inside = lanes.simd_lt(D::splat(first_outside));
                mask |= inside.to_bitmask() << (16 * chunk);
            }
            mask
        };
        let records = self.resource.records;
        let mask = match self.range {
            Range::None => !0,
            Range::Structures => {
                let flat = self.index_without_lane();
                limit(&flat, records)
            }
            Range::Bytes => {
                let last = records.saturating_add(1);
                limit(&self.offset, last.saturating_sub(at + u64::from(bytes)))
            }
        };
        mask & self.exec
    }

    /// The index that the range check takes, which the lane's number is no part of.
    #[inline(always)]
    fn index_without_lane(&self) -> [D; CHUNKS] {
        match self.resource.add_tid {
            true => chunks(|c| self.index[c] - lane_numbers(c)),
            false => self.index,
        }
    }

    /// Addresses of the lanes' data `at` bytes behind their offset.
    #[inline(always)]
    pub(super) fn addresses(&self, at: u64) -> [D; CHUNKS] {
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
        // `index_stride` is a power of two, as is the element.
        let shift = D::splat(index_stride.trailing_zeros().into());
        let lower = D::splat(index_stride - 1);
        let element = D::splat(ELEMENT_BYTES);
        chunks(|c| {
            let (index, offset) = (self.index[c], self.offset[c] + at);
            let in_element = offset & (element - D::splat(1));
            let rows = (index >> shift) * D::splat(stride) + (offset - in_element);
            start + (rows << shift) + (index & lower) * element + in_element
        })
    }

    /// The lanes of `mask`, checked for `bytes` at `at` behind their offset.
    #[inline(always)]
    pub(super) fn access(
        &self,
        c: &mut Context<'_>,
        o: &Operation,
        mask: u64,
        at: u64,
        bytes: u32,
        write: bool,
    ) -> Result<Access, Flow> {
        let access = Access {
            addresses: self.addresses(at),
            exec: mask,
        };
        if mask == 0 {
            return Ok(access);
        }
        match access::check_global(c, o, &access, bytes, write) {
            Flow::Next => Ok(access),
            flow => Err(flow),
        }
    }

    /// Whether `bytes` of every lane lie in one piece, and either all or none of them in range; the lanes in range.
    #[inline(always)]
    fn in_one_piece(&self, bytes: u32) -> Option<u64> {
        let all = self.inside(0, bytes);
        let whole = all == self.exec || bytes <= 4 || all == self.inside(0, 4);
        let together = !self.swizzled || bytes <= 4;
        (whole && together).then_some(all)
    }
}

/// Writes zeros to the lanes of `mask` in `count` registers.
#[inline(always)]
fn clear(w: &mut Wave, register: u16, count: u16, mask: u64) {
    if mask == 0 {
        return;
    }
    for register in register..register + count {
        let lanes = w.lanes_mut(register);
        for (chunk, value) in lanes.0.iter_mut().enumerate() {
            *value = chunk_mask(mask, chunk).select(U::splat(0), *value);
        }
    }
}

/// Puts the status word of an access that touched only memory that is there.
#[inline(always)]
fn put_status(w: &mut Wave, o: &Operation, register: u16) {
    if o.control[2] & TFE != 0 {
        let exec = w.exec;
        clear(w, register, 1, exec);
    }
}

/// The handler of an untyped buffer operation whose data goes to or comes from registers, if `op` is one.
pub(crate) fn handler(b: Binder, op: Op) -> Option<Handler> {
    let name = op.name().strip_prefix("buffer_")?;
    if let Some(kind) = name.strip_prefix("atomic_") {
        let (_, wide) = Atomic::of_mnemonic(kind)?;
        return Some(match wide {
            false => b.bind(atomically::<false>),
            true => b.bind(atomically::<true>),
        });
    }
    transfer::handler(name, Buffers(b))
}

/// Makes handlers of buffer operations.
struct Buffers(Binder);

impl Transfers for Buffers {
    fn load<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                if w.exec == 0 {
                    return Flow::Next;
                }
                let target = Target::new(w, o);
                let bytes = 4 * N as u32;
                let Some(inside) = target.in_one_piece(bytes) else {
                    return load_parts::<N>(w, c, o, &target);
                };
                match target.access(c, o, inside, 0, bytes, false) {
                    Ok(access) => access.load::<N>(w, o.dst),
                    Err(flow) => return flow,
                }
                clear(w, o.dst, N as u16, target.exec & !inside);
                put_status(w, o, o.dst + N as u16);
                Flow::Next
            },
        )
    }

    fn store<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                if w.exec == 0 {
                    return Flow::Next;
                }
                let target = Target::new(w, o);
                let bytes = 4 * N as u32;
                let Some(inside) = target.in_one_piece(bytes) else {
                    return store_parts::<N>(w, c, o, &target);
                };
                match target.access(c, o, inside, 0, bytes, true) {
                    Ok(access) => access.store::<N>(w, o.src[1].register),
                    Err(flow) => return flow,
                }
                Flow::Next
            },
        )
    }

    fn load_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(T, u32) -> u32 + Copy + 'static,
    {
        self.0.bind(
            #[inline(always)]
            move |w, c, o| {
                let target = Target::new(w, o);
                let bytes = size_of::<T>() as u32;
                let inside = target.inside(0, bytes);
                match target.access(c, o, inside, 0, bytes, false) {
                    Ok(access) => access.load_small::<T>(w, o.dst, f),
                    Err(flow) => return flow,
                }
                let outside = Access {
                    addresses: [D::splat(0); CHUNKS],
                    exec: target.exec & !inside,
                };
                outside.each(|lane, _| {
                    let slot = &mut w.lanes_mut(o.dst).as_mut_array()[lane];
                    *slot = f(T::default(), *slot);
                });
                put_status(w, o, o.dst + 1);
                Flow::Next
            },
        )
    }

    fn store_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(u32) -> T + Copy + 'static,
    {
        self.0.bind(
            #[inline(always)]
            move |w, c, o| {
                let target = Target::new(w, o);
                let bytes = size_of::<T>() as u32;
                let inside = target.inside(0, bytes);
                match target.access(c, o, inside, 0, bytes, true) {
                    Ok(access) => access.store_small::<T>(w, o.src[1].register, f),
                    Err(flow) => return flow,
                }
                Flow::Next
            },
        )
    }
}

/// Accesses to each dword, of which some may be out of range: `N` at consecutive offsets, all checked.
fn parts<const N: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target,
    write: bool,
) -> Result<Vec<Access>, Flow> {
    (0..N as u64)
        .map(|part| {
            let inside = target.inside(4 * part, 4);
            target.access(c, o, inside, 4 * part, 4, write)
        })
        .collect()
}

/// Loads dword by dword: each is checked on its own.
#[inline(never)]
fn load_parts<const N: usize>(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target,
) -> Flow {
    let accesses = match parts::<N>(c, o, target, false) {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    for (register, access) in (o.dst..).zip(accesses) {
        access.load::<1>(w, register);
        clear(w, register, 1, target.exec & !access.exec);
    }
    put_status(w, o, o.dst + N as u16);
    Flow::Next
}

/// Stores dword by dword: each is checked on its own.
#[inline(never)]
fn store_parts<const N: usize>(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target,
) -> Flow {
    let accesses = match parts::<N>(c, o, target, true) {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    for (register, access) in (o.src[1].register..).zip(accesses) {
        access.store::<1>(w, register);
    }
    Flow::Next
}

/// Atomic operations are in range with all their bytes or not at all; those that are not return 0.
fn atomically<const WIDE: bool>(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let target = Target::new(w, o);
    let bytes = if WIDE { 8 } else { 4 };
    let inside = target.inside(0, bytes);
    let access = match target.access(c, o, inside, 0, bytes, true) {
        Ok(access) => access,
        Err(flow) => return flow,
    };
    let misaligned = atomic::on_lanes::<WIDE>(w, o, &access);
    if o.control[0] != 0 {
        clear(w, o.dst, 1 + u16::from(WIDE), target.exec & !inside);
    }
    atomic::finish(c, misaligned, bytes)
}
