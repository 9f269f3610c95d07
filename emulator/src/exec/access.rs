//! Memory accesses of a wave: where the lanes' addresses lie, and moving data to and from registers.
//!
//! Global memory and LDS both come here with host addresses. The range of all active lanes is checked
//! once; then chunks of 16 lanes with consecutive or equal addresses move as host vectors.

use std::simd::{prelude::*, simd_swizzle};

use super::{
    Context, FaultKind, Space, Wave,
    operation::{Flow, Operation},
    simd::{CHUNKS, D, LANES, U, chunk_mask},
};

/// Addresses of a wave's lanes, checked: every active lane's bytes may be touched.
pub(super) struct Access {
    pub(super) addresses: [D; CHUNKS],
    pub(super) exec: u64,
}

/// Allocations that a workgroup's accesses remember.
pub(super) const RECENT: usize = 16;

/// How the lanes of a chunk lie in memory.
enum Pattern {
    /// One after the other.
    Consecutive,
    /// All at one address.
    Uniform,
    Scattered,
}

const IOTA: D = D::from_array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

impl Access {
    #[inline(always)]
    pub(super) fn lane(&self, lane: usize) -> u64 {
        self.addresses.as_flattened_lanes()[lane]
    }

    /// The active lanes of a chunk, one bit each.
    #[inline(always)]
    fn active(&self, chunk: usize) -> u32 {
        (self.exec >> (16 * chunk)) as u32 & 0xffff
    }

    #[inline(always)]
    fn pattern(&self, chunk: usize, bytes: u64) -> Pattern {
        let addresses = self.addresses[chunk];
        let first = D::splat(addresses[0]);
        if addresses == first + IOTA * D::splat(bytes) {
            Pattern::Consecutive
        } else if addresses == first {
            Pattern::Uniform
        } else {
            Pattern::Scattered
        }
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

    /// Loads `N` dwords a lane to consecutive registers.
    #[inline(always)]
    pub(super) fn load<const N: usize>(&self, w: &mut Wave, register: u16) {
        for chunk in 0..CHUNKS {
            let active = self.active(chunk);
            if active == 0 {
                continue;
            }
            if active == 0xffff {
                let first = self.addresses[chunk][0];
                if N == 1 && matches!(self.pattern(chunk, 4), Pattern::Consecutive) {
                    // SAFETY: all sixteen lanes are active, so that their bytes were checked.
                    w.lanes_mut(register).0[chunk] = U::from_array(unsafe { read(first) });
                    continue;
                }
                if matches!(self.pattern(chunk, 4 * N as u64), Pattern::Uniform) {
                    // SAFETY: the lanes are active, so that their bytes were checked.
                    let data: [u32; N] = unsafe { read(first) };
                    for (part, value) in data.into_iter().enumerate() {
                        w.lanes_mut(register + part as u16).0[chunk] = U::splat(value);
                    }
                    continue;
                }
                let addresses = self.addresses[chunk].to_array();
                // SAFETY: all sixteen lanes are active, so that their bytes were checked.
                let parts: [U; N] = unsafe { transposed(addresses) };
                for (part, lanes) in parts.into_iter().enumerate() {
                    w.lanes_mut(register + part as u16).0[chunk] = lanes;
                }
                continue;
            }
            let addresses = self.addresses[chunk].to_array();
            let mut left = active;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                // SAFETY: the lane is active, so that its bytes were checked.
                let data: [u32; N] = unsafe { read(addresses[lane]) };
                for (part, value) in data.into_iter().enumerate() {
                    w.lanes_mut(register + part as u16).as_mut_array()[16 * chunk + lane] = value;
                }
                left &= left - 1;
            }
        }
    }

    /// Stores `N` dwords a lane from consecutive registers. Where lanes overlap, the highest wins.
    #[inline(always)]
    pub(super) fn store<const N: usize>(&self, w: &Wave, register: u16) {
        for chunk in 0..CHUNKS {
            let active = self.active(chunk);
            if active == 0 {
                continue;
            }
            if active == 0xffff && matches!(self.pattern(chunk, 4 * N as u64), Pattern::Consecutive)
            {
                let parts: [U; N] =
                    std::array::from_fn(|part| w.lanes(register + part as u16).0[chunk]);
                let data: [[u32; N]; 16] =
                    std::array::from_fn(|lane| std::array::from_fn(|part| parts[part][lane]));
                // SAFETY: all sixteen lanes are active, so that their bytes were checked.
                unsafe { write(self.addresses[chunk][0], data) };
                continue;
            }
            let addresses = self.addresses[chunk].to_array();
            let mut left = active;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                let data: [u32; N] = std::array::from_fn(|part| {
                    w.lanes(register + part as u16).as_array()[16 * chunk + lane]
                });
                // SAFETY: the lane is active, so that its bytes were checked.
                unsafe { write(addresses[lane], data) };
                left &= left - 1;
            }
        }
    }

    /// Loads a value of `T` a lane and puts what `f` makes of it and the old register into the register.
    #[inline(always)]
    pub(super) fn load_small<T: Copy>(
        &self,
        w: &mut Wave,
        register: u16,
        f: impl Fn(T, u32) -> u32,
    ) {
        self.each(|lane, address| {
            // SAFETY: the lane is active, so that its bytes were checked; `T` is a plain integer.
            let value: T = unsafe { read(address) };
            let slot = &mut w.lanes_mut(register).as_mut_array()[lane];
            *slot = f(value, *slot);
        });
    }

    /// Stores what `f` makes of the register.
    #[inline(always)]
    pub(super) fn store_small<T: Copy>(&self, w: &Wave, register: u16, f: impl Fn(u32) -> T) {
        self.each(|lane, address| {
            let value = f(w.lanes(register).as_array()[lane]);
            // SAFETY: the lane is active, so that its bytes were checked.
            unsafe { write(address, value) };
        });
    }
}

/// Lanes of an array of vectors by number.
trait Flattened {
    fn as_flattened_lanes(&self) -> &[u64; LANES];
}

impl Flattened for [D; CHUNKS] {
    #[inline(always)]
    fn as_flattened_lanes(&self) -> &[u64; LANES] {
        // SAFETY: four vectors of sixteen lanes, without padding, are 64 lanes side by side.
        unsafe { &*(&raw const *self).cast() }
    }
}

/// `N` dwords at each of sixteen addresses, turned so that each dword's lanes are side by side.
///
/// # Safety
/// As [`read`], for each address.
#[inline(always)]
unsafe fn transposed<const N: usize>(addresses: [u64; 16]) -> [U; N] {
    let mut parts = [U::splat(0); N];
    match N {
        2 => {
            // SAFETY: the caller's promise.
            let pairs = D::from_array(addresses.map(|address| unsafe { read::<u64>(address) }));
            parts[0] = pairs.cast();
            parts[1] = (pairs >> D::splat(32)).cast();
        }
        4 => {
            // SAFETY: the caller's promise.
            let row = |lane: usize| u32x4::from_array(unsafe { read(addresses[lane]) });
            // Row `i` of each four, in the four quarters of a vector; then a 4×4 turn in each quarter.
            let quarters = |i: usize| -> U {
                let low: u32x8 = simd_swizzle!(row(i), row(i + 4), [0, 1, 2, 3, 4, 5, 6, 7]);
                let high: u32x8 = simd_swizzle!(row(i + 8), row(i + 12), [0, 1, 2, 3, 4, 5, 6, 7]);
                simd_swizzle!(
                    low,
                    high,
                    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
                )
            };
            let [a, b, c, d] = [quarters(0), quarters(1), quarters(2), quarters(3)];
            let (ac, bd) = (interleaved_low(a, c), interleaved_low(b, d));
            parts[0] = interleaved_low(ac, bd);
            parts[1] = interleaved_high(ac, bd);
            let (ac, bd) = (interleaved_high(a, c), interleaved_high(b, d));
            parts[2] = interleaved_low(ac, bd);
            parts[3] = interleaved_high(ac, bd);
        }
        _ => {
            for (lane, address) in addresses.into_iter().enumerate() {
                // SAFETY: the caller's promise.
                let data: [u32; N] = unsafe { read(address) };
                for (part, value) in data.into_iter().enumerate() {
                    parts[part][lane] = value;
                }
            }
        }
    }
    parts
}

/// The lower halves of each quarter, taken in turns.
#[inline(always)]
fn interleaved_low(a: U, b: U) -> U {
    simd_swizzle!(
        a,
        b,
        [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29]
    )
}

/// The upper halves of each quarter, taken in turns.
#[inline(always)]
fn interleaved_high(a: U, b: U) -> U {
    simd_swizzle!(
        a,
        b,
        [2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31]
    )
}

/// Reads a value of integers.
///
/// # Safety
/// The bytes lie in memory that a [`Reach`](crate::memory::Reach) covers (or in the workgroup's LDS),
/// which is only ever accessed through raw pointers. Workgroups that race on it get unspecified values,
/// as on a GPU.
#[inline(always)]
pub(super) unsafe fn read<T: Copy>(address: u64) -> T {
    let pointer = std::ptr::with_exposed_provenance::<T>(address as usize);
    // SAFETY: the caller's promise; the pointer need not be aligned.
    unsafe { pointer.read_unaligned() }
}

/// Writes a value of integers.
///
/// # Safety
/// As [`read`], and the memory is writable.
#[inline(always)]
pub(super) unsafe fn write<T: Copy>(address: u64, value: T) {
    let pointer = std::ptr::with_exposed_provenance_mut::<T>(address as usize);
    // SAFETY: the caller's promise; the pointer need not be aligned.
    unsafe { pointer.write_unaligned(value) }
}

/// The lowest and the highest address of the active lanes.
#[inline(always)]
fn bounds(addresses: &[D; CHUNKS], exec: u64) -> (u64, u64) {
    if exec == !0 {
        let low = addresses[0]
            .simd_min(addresses[1])
            .simd_min(addresses[2].simd_min(addresses[3]));
        let high = addresses[0]
            .simd_max(addresses[1])
            .simd_max(addresses[2].simd_max(addresses[3]));
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

/// Checks global addresses: `bytes` at each active lane's must be allocated. Otherwise the wave stops.
#[inline(always)]
pub(super) fn check_global(
    c: &mut Context<'_>,
    o: &Operation,
    access: &Access,
    bytes: u32,
    write: bool,
) -> Flow {
    let (low, high) = bounds(&access.addresses, access.exec);
    check_span(c, o, access, low, high, bytes, write)
}

/// As [`check_global`], where the lowest and the highest address of the active lanes are known.
#[inline(always)]
pub(super) fn check_span(
    c: &mut Context<'_>,
    o: &Operation,
    access: &Access,
    low: u64,
    high: u64,
    bytes: u32,
    write: bool,
) -> Flow {
    let end = high.wrapping_add(u64::from(bytes));
    // Each instruction tends to stay in one allocation.
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
        let addresses = access.addresses.as_flattened_lanes();
        record(
            c,
            (Space::Global, write, false),
            bytes,
            access.exec,
            addresses,
        );
    }
    Flow::Next
}

/// Tells observers of an access: its space, whether it writes, whether it is the scalar unit's.
#[cold]
#[inline(never)]
pub(super) fn record(
    c: &mut Context<'_>,
    how: (Space, bool, bool),
    bytes: u32,
    lanes: u64,
    addresses: &[u64; LANES],
) {
    c.touches.add(how, bytes, lanes, addresses);
}

/// Checks lane by lane: they lie in different allocations, or some in none.
#[cold]
#[inline(never)]
fn check_each_lane(c: &mut Context<'_>, access: &Access, bytes: u32, write: bool) -> Flow {
    let mut lanes = 0_u64;
    access.each(|lane, address| {
        let end = address.wrapping_add(u64::from(bytes));
        if !c.memory.reach(address).covers(address, end, write) {
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

/// The host addresses of the lanes' LDS.
#[inline(always)]
pub(super) fn in_lds(
    c: &mut Context<'_>,
    addresses: &[U; CHUNKS],
    offset: u32,
    exec: u64,
) -> Access {
    let base = c.lds.as_mut_ptr().expose_provenance() as u64;
    Access {
        addresses: addresses.map(|a| (a + U::splat(offset)).cast::<u64>() + D::splat(base)),
        exec,
    }
}

/// Checks LDS addresses: `bytes` at each active lane's must be the workgroup's. Otherwise the wave stops.
///
/// Address and offset add up in 32 bits and wrap around: LLVM relies on it from GCN 2 on and makes addresses
/// «below 0» that the offset brings back.
#[inline(always)]
pub(super) fn check_lds(
    c: &mut Context<'_>,
    addresses: &[U; CHUNKS],
    offset: u32,
    exec: u64,
    bytes: u32,
    write: bool,
) -> Flow {
    let mut high = U::splat(0);
    for (chunk, lanes) in addresses.iter().enumerate() {
        let active = chunk_mask(exec, chunk).select(*lanes + U::splat(offset), U::splat(0));
        high = high.simd_max(active);
    }
    let end = u64::from(high.reduce_max()) + u64::from(bytes);
    if exec != 0 && end > c.lds.len() as u64 {
        let relative = addresses.map(|a| (a + U::splat(offset)).cast::<u64>());
        return lds_fault(c, &relative, exec, bytes, write);
    }
    if c.watched && exec != 0 {
        let relative = addresses.map(|a| (a + U::splat(offset)).cast::<u64>());
        let addresses = relative.as_flattened_lanes();
        record(c, (Space::Lds, write, false), bytes, exec, addresses);
    }
    Flow::Next
}

#[cold]
fn lds_fault(
    c: &mut Context<'_>,
    addresses: &[D; CHUNKS],
    exec: u64,
    bytes: u32,
    write: bool,
) -> Flow {
    let lds_bytes = c.lds.len() as u32;
    let lanes = (0..LANES)
        .filter(|&lane| {
            let end = addresses.as_flattened_lanes()[lane] + u64::from(bytes);
            exec >> lane & 1 == 1 && end > u64::from(lds_bytes)
        })
        .fold(0_u64, |lanes, lane| lanes | 1 << lane);
    let lane = lanes.trailing_zeros() as usize % LANES;
    c.fail(FaultKind::Lds {
        address: addresses.as_flattened_lanes()[lane],
        bytes,
        lds_bytes,
        write,
        lane: lane as u8,
        lanes,
    })
}
