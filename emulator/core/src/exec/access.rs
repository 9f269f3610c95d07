//! Memory accesses of a wave: checks the lanes' addresses, and moves data between memory and registers.
//!
//! Global memory and LDS are both accessed by host address. The range of all active lanes is checked once. Then
//! [`ContiguousAccess`] moves lanes that are within 4 GiB; lanes that are farther apart move one by one.

use std::simd::prelude::*;

use super::{
    Context, FaultKind, Space, Wave,
    access_pattern::OutsideLds,
    array::{Mapped, array},
    contiguous_access::{ContiguousAccess, within},
    lanes::joined,
    operation::{Flow, Operation},
    simd::{D, LANES, U, all_lanes, chunk_mask},
    transfer::{Data, Small},
    wave::Lanes,
};
use crate::memory::shared::Moves;

/// The checked addresses of a wave's lanes: every active lane's bytes may be accessed.
pub(super) struct Access<const C: usize> {
    pub(super) addresses: [D; C],
    pub(super) exec: u64,
    pub(super) moves: Moves,
}

/// Number of allocations that a workgroup's accesses remember.
pub(super) const RECENT: usize = 16;

impl<const C: usize> ContiguousAccess<C> {
    /// The same lanes by 64-bit address.
    #[inline(always)]
    pub(super) fn by_address(&self) -> Access<C> {
        let base = D::splat(self.base);
        Access {
            addresses: self.offsets.mapped(|offsets| offsets.cast::<u64>() + base),
            exec: self.exec,
            moves: self.moves,
        }
    }
}

impl<const C: usize> Access<C> {
    #[inline(always)]
    pub(super) fn lane(&self, lane: usize) -> u64 {
        self.addresses.as_flattened_lanes()[lane]
    }

    /// The same lanes with one base, if the active lanes are within one aligned block of 4 GiB.
    #[inline(always)]
    fn near(&self) -> Option<ContiguousAccess<C>> {
        let first = self.lane(self.exec.trailing_zeros() as usize % (16 * C));
        let high = D::splat(first >> 32);
        let mut apart = 0;
        for (chunk, addresses) in self.addresses.iter().enumerate() {
            apart |= (*addresses >> D::splat(32)).simd_ne(high).to_bitmask() << (16 * chunk);
        }
        let near = ContiguousAccess {
            base: first & !0xffff_ffff,
            offsets: self.addresses.mapped(|addresses| addresses.cast()),
            exec: self.exec,
            moves: self.moves,
        };
        let fits = apart & self.exec == 0
            && within(&near.offsets, self.exec, 0, ContiguousAccess::<C>::FARTHEST);
        fits.then_some(near)
    }

    /// Runs `f` for every active lane.
    #[inline(always)]
    pub(super) fn each(&self, mut f: impl FnMut(usize, u64)) {
        let mut left = self.exec;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            f(lane, self.lane(lane));
            left &= left - 1;
        }
    }

    /// Loads data per lane to consecutive registers.
    #[inline(always)]
    pub(super) fn load(&self, w: &mut Wave<C>, register: u16, data: Data) {
        match data {
            Data::Dwords(count) => self.load_dwords(w, register, count),
            Data::Small(small) => self.load_small(w, register, small),
        }
    }

    #[inline(always)]
    pub(super) fn load_dwords(&self, w: &mut Wave<C>, register: u16, count: usize) {
        if let Some(near) = self.near() {
            return near.load_some(w, register, count);
        }
        let moves = self.moves;
        self.each(|lane, address| {
            // SAFETY: the lane is active, so its bytes were checked.
            let data = unsafe { moves.read_dwords(address, count) };
            for (part, value) in data.into_iter().take(count).enumerate() {
                w.lanes_mut(register + part as u16).as_mut_array()[lane] = value;
            }
        });
    }

    #[inline(always)]
    pub(super) fn load_small(&self, w: &mut Wave<C>, register: u16, small: Small) {
        if let Some(near) = self.near() {
            return near.load_small(w, register, small);
        }
        let (mut values, moves) = (Lanes::splat(0), self.moves);
        self.each(|lane, address| {
            // SAFETY: the lane is active, so its bytes were checked.
            values.as_mut_array()[lane] = unsafe { moves.read_small(address, small.bytes) };
        });
        small.put(w, register, self.exec, &values.0);
    }

    /// Stores data per lane from consecutive registers. Where lanes overlap, the highest wins.
    #[inline(always)]
    pub(super) fn store(&self, w: &Wave<C>, register: u16, data: Data) {
        match data {
            Data::Dwords(count) => self.store_dwords(w, register, count),
            Data::Small(small) => self.store_small(w, register, small.bytes, small.shift),
        }
    }

    #[inline(always)]
    pub(super) fn store_dwords(&self, w: &Wave<C>, register: u16, count: usize) {
        if let Some(near) = self.near() {
            return near.store_some(w, register, count);
        }
        let moves = self.moves;
        self.each(|lane, address| {
            let data = array(|part| match part < count {
                true => w.lanes(register + part as u16).as_array()[lane],
                false => 0,
            });
            // SAFETY: the lane is active, so its bytes were checked.
            unsafe { moves.write_dwords(address, data, count) };
        });
    }

    /// Stores one or two bytes of a register, from a bit on.
    #[inline(always)]
    pub(super) fn store_small(&self, w: &Wave<C>, register: u16, bytes: u32, shift: u32) {
        let moves = self.moves;
        self.each(|lane, address| {
            let value = w.lanes(register).as_array()[lane] >> shift;
            // SAFETY: the lane is active, so its bytes were checked.
            unsafe { moves.write_small(address, value, bytes) };
        });
    }
}

/// Writes zeros to the lanes of `mask` in `count` registers.
#[inline(always)]
pub(super) fn clear<const C: usize>(w: &mut Wave<C>, register: u16, count: u16, mask: u64) {
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

/// The lanes of an array of vectors, by lane number.
trait Flattened {
    fn as_flattened_lanes(&self) -> &[u64];
}

impl<const C: usize> Flattened for [D; C] {
    #[inline(always)]
    fn as_flattened_lanes(&self) -> &[u64] {
        // SAFETY: vectors of sixteen lanes, without padding, are lanes side by side.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), 16 * C) }
    }
}

/// Reads a value made of integers from the workgroup's LDS.
///
/// # Safety
/// The bytes must be in the workgroup's LDS.
#[inline(always)]
pub(super) unsafe fn read<T: Copy>(address: u64) -> T {
    // SAFETY: the caller's promise; only this thread accesses LDS, through raw pointers.
    unsafe { Moves::Own.read(address) }
}

/// Writes a value made of integers to the workgroup's LDS.
///
/// # Safety
/// As [`read`].
#[inline(always)]
pub(super) unsafe fn write<T: Copy>(address: u64, value: T) {
    // SAFETY: as in `read`.
    unsafe { Moves::Own.write(address, value) }
}

/// The lowest and the highest address of the active lanes.
#[inline(always)]
fn bounds<const C: usize>(addresses: &[D; C], exec: u64) -> (u64, u64) {
    if exec == all_lanes(C) {
        let low = joined::<C, _>(|c| addresses[c], D::simd_min);
        let high = joined::<C, _>(|c| addresses[c], D::simd_max);
        return (low.reduce_min(), high.reduce_max());
    }
    let (mut low, mut high) = (D::splat(u64::MAX), D::splat(0));
    for (chunk, lanes) in addresses.iter().enumerate() {
        let mask = chunk_mask(exec, chunk).cast::<i64>();
        low = low.simd_min(mask.select(*lanes, D::splat(u64::MAX)));
        high = high.simd_max(mask.select(*lanes, D::splat(0)));
    }
    (low.reduce_min(), high.reduce_max())
}

/// Checks global addresses: `bytes` at each active lane's address must be allocated. Otherwise the wave faults.
#[inline(always)]
pub(super) fn check_global<const C: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    access: &Access<C>,
    bytes: u32,
    write: bool,
) -> Flow {
    let (low, high) = bounds(&access.addresses, access.exec);
    check_span(c, o, access, low, high, bytes, write)
}

/// As [`check_global`], with the lowest and the highest address of the active lanes.
#[inline(always)]
pub(super) fn check_span<const C: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    access: &Access<C>,
    low: u64,
    high: u64,
    bytes: u32,
    write: bool,
) -> Flow {
    c.stored |= write;
    let end = high.wrapping_add(u64::from(bytes));
    // An instruction tends to stay in one allocation.
    let slot = usize::from(o.control[1]) % RECENT;
    if !c.recent[slot].covers(low, end, write) {
        c.recent[slot] = c.memory.reach(low);
        if !c.recent[slot].covers(low, end, write) {
            let flow = check_each_lane(c, access, bytes, write);
            if flow != Flow::Next {
                return flow;
            }
        }
    }
    if c.watched {
        record(c, (Space::Global, write, false), bytes, access);
    }
    Flow::Next
}

/// Records an access for observers: its space, whether it writes, whether the scalar unit makes it.
#[cold]
#[inline(never)]
fn record<const C: usize>(
    c: &mut Context<'_>,
    how: (Space, bool, bool),
    bytes: u32,
    access: &Access<C>,
) {
    let mut addresses = [0; LANES];
    addresses[..16 * C].copy_from_slice(access.addresses.as_flattened_lanes());
    c.accesses
        .add(c.code.level, how, bytes, access.exec, &addresses);
}

/// Records an access of the scalar unit.
#[cold]
#[inline(never)]
pub(super) fn record_scalar(c: &mut Context<'_>, write: bool, bytes: u32, address: u64) {
    let how = (Space::Global, write, true);
    c.accesses.add_scalar(c.code.level, how, bytes, address);
}

/// Checks each lane on its own: the lanes use several allocations, or some are outside all of them.
#[cold]
#[inline(never)]
fn check_each_lane<const C: usize>(
    c: &mut Context<'_>,
    access: &Access<C>,
    bytes: u32,
    write: bool,
) -> Flow {
    let mut lanes = 0_u64;
    access.each(|lane, address| {
        let end = address.wrapping_add(u64::from(bytes));
        if !c.memory.allows(address, end, write) {
            lanes |= 1 << lane;
        }
    });
    if lanes == 0 {
        return Flow::Next;
    }
    let lane = lanes.trailing_zeros();
    c.fail(FaultKind::Memory {
        address: access.lane(lane as usize),
        bytes,
        write,
        lane: Some(lane as u8),
        lanes,
    })
}

/// The lanes of `exec` whose `bytes` at LDS address plus offset are in LDS. The others are out of range: they write
/// nothing and read 0.
///
/// AMD's guides say so of flat instructions («Memory Error Checking», 10.6 in CDNA 1's ISA guide: threads with an
/// address outside of 0 to `LDS_SIZE` - 1 do not write and read 0; there is a trap only if one asks for it, which HIP
/// does not). Tensile's kernels rely on it for all of LDS (`LdsOOB`). An atomic operation both reads and writes. A lane
/// is in range with all bytes of an access or not at all: the guides speak of threads, and an aligned access never
/// crosses the end, as LDS is allocated in multiples of 512 bytes or more. Each of the two accesses of `ds_read2` and
/// the like is checked on its own.
///
/// Address and offset add in 32 bits and wrap around: LLVM relies on it from GCN 2 on, and makes addresses «below 0»
/// that the offset brings back.
#[inline(always)]
pub(super) fn in_lds<const C: usize>(
    c: &mut Context<'_>,
    addresses: &[U; C],
    offset: u32,
    exec: u64,
    bytes: u32,
    write: bool,
) -> ContiguousAccess<C> {
    let mut near = lds_behind(c, addresses, offset, exec);
    if !lds_holds(c, &near.offsets, exec, bytes) {
        near.exec = lanes_in_lds(c, &near.offsets, exec, bytes, write);
    }
    near
}

/// As [`in_lds`], and records the access for observers.
#[inline(always)]
pub(super) fn reach_lds<const C: usize>(
    c: &mut Context<'_>,
    addresses: &[U; C],
    offset: u32,
    exec: u64,
    bytes: u32,
    write: bool,
) -> ContiguousAccess<C> {
    let near = in_lds(c, addresses, offset, exec, bytes, write);
    if exec != 0 {
        tell(c, (Space::Lds, write), bytes, 0, &near);
    }
    near
}

/// The lanes' LDS at an offset, if all lanes are active and in range; otherwise the caller uses [`reach_lds`].
#[inline(always)]
pub(super) fn near_lds<const C: usize>(
    w: &Wave<C>,
    c: &mut Context<'_>,
    addresses: &[U; C],
    offset: u32,
    bytes: u32,
) -> Option<ContiguousAccess<C>> {
    let all = all_lanes(C);
    let near = lds_behind(c, addresses, offset, all);
    (w.all_active() && lds_holds(c, &near.offsets, all, bytes)).then_some(near)
}

/// The lanes' LDS at an offset, unchecked.
#[inline(always)]
fn lds_behind<const C: usize>(
    c: &mut Context<'_>,
    addresses: &[U; C],
    offset: u32,
    exec: u64,
) -> ContiguousAccess<C> {
    ContiguousAccess {
        base: c.lds.as_mut_ptr().expose_provenance() as u64,
        offsets: addresses.mapped(|a| a + U::splat(offset)),
        exec,
        moves: Moves::Own,
    }
}

/// Whether all active lanes' bytes are in the workgroup's LDS.
#[inline(always)]
fn lds_holds<const C: usize>(c: &Context<'_>, offsets: &[U; C], exec: u64, bytes: u32) -> bool {
    // A workgroup's LDS is far below 4 GiB.
    let highest = (c.lds.len() as u32).checked_sub(bytes);
    highest.is_some_and(|highest| within(offsets, exec, 0, highest))
}

/// Whether all active lanes are inside the allocation that the instruction used last; otherwise the caller uses
/// [`check_global`].
#[inline(always)]
pub(super) fn is_in_reach<const C: usize>(
    c: &Context<'_>,
    o: &Operation,
    near: &ContiguousAccess<C>,
    bytes: u32,
    write: bool,
) -> bool {
    let reach = &c.recent[usize::from(o.control[1]) % RECENT];
    let range = reach.offsets(near.base, bytes, write);
    range.is_some_and(|(low, high)| {
        within(
            &near.offsets,
            near.exec,
            low,
            high.min(ContiguousAccess::<C>::FARTHEST),
        )
    })
}

/// Records an access if there are observers. `base` is what addresses in LDS or global memory are counted from.
#[inline(always)]
pub(super) fn tell<const C: usize>(
    c: &mut Context<'_>,
    how: (Space, bool),
    bytes: u32,
    base: u64,
    near: &ContiguousAccess<C>,
) {
    if c.watched {
        // A copy, so that the addresses are in memory only where an observer needs them.
        let offsets = Lanes::of(near.offsets);
        tell_watchers(c, how, bytes, base, &offsets, near.exec);
    }
}

#[cold]
#[inline(never)]
fn tell_watchers(
    c: &mut Context<'_>,
    (space, write): (Space, bool),
    bytes: u32,
    base: u64,
    offsets: &Lanes,
    exec: u64,
) {
    let how = (space, write, false);
    c.accesses
        .add_near(c.code.level, how, bytes, exec, base, &offsets.0);
}

/// The lanes that are in range of the workgroup's LDS. The others are recorded for observers.
#[cold]
#[inline(never)]
fn lanes_in_lds<const C: usize>(
    c: &mut Context<'_>,
    offsets: &[U; C],
    exec: u64,
    bytes: u32,
    write: bool,
) -> u64 {
    let lds_bytes = c.lds.len() as u64;
    let offset = |lane: usize| offsets[lane / 16][lane % 16];
    let inside = (0..16 * C)
        .filter(|&lane| u64::from(offset(lane)) + u64::from(bytes) <= lds_bytes)
        .fold(0, |lanes, lane| lanes | 1 << lane);
    if c.watched && exec & !inside != 0 {
        c.accesses.outside.push(OutsideLds {
            write,
            bytes,
            lanes: exec & !inside,
            addresses: *Lanes::of(*offsets).as_array(),
        });
    }
    exec & inside
}
