//! LDS operations, and the lane permutations that use LDS hardware.
//!
//! A GPU runs the waves of a workgroup at the same time; here they take turns. Some programs have one wave overwrite
//! LDS that all waves read after the same barrier, with no barrier between (rocSOLVER's `potf2_kernel_small`,
//! `stebz_splitting_kernel` and `syevj_small_kernel`). This is a race, but a GPU never shows it: the other waves have
//! long read when the new value is ready. Therefore, a wave that has read LDS lets the other waves run before its first
//! store, once between barriers ([`Turn`](super::state::Turn)). It does not where a seed decides the order.

use super::{
    Context, Space, Wave,
    access::{self, Access},
    array::Mapped,
    atomic::{apply32, apply64, from_detail},
    contiguous_access::ContiguousAccess,
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    simd::U,
    transfer::{Data, Transfers},
    wave::Lanes,
};
use ferrowave_isa::{
    Effect, Format, Instruction,
    run::{Atomic, LdsPairs, LdsPermute},
};

/// The handler of an operation on global data share (GDS). HIP gives kernels none, so every access is out of range:
/// nothing is written, and results are 0.
pub(super) fn without_memory<const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            access::clear(w, o.dst, o.detail.into(), w.active());
            Flow::Next
        },
    )
}

/// Runs `f` on the lanes' LDS. Lanes out of range get 0 in `results` registers.
#[inline(always)]
fn visit<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    bytes: u32,
    write: bool,
    results: u16,
    f: impl FnOnce(&mut Wave<C>, &Access<C>),
) -> Flow {
    let (exec, addresses) = (w.active(), addresses(w, o));
    let near = access::reach_lds(c, &addresses, o.imm as u32, exec, bytes, write);
    f(w, &near.by_address());
    access::clear(w, o.dst, results, exec & !near.exec);
    Flow::Next
}

/// Whether an instruction stores to LDS.
pub(super) fn is_store(i: &Instruction) -> bool {
    i.format == Format::Ds && i.effect() == Effect::Store
}

/// The lanes' addresses, without the instruction's offset.
#[inline(always)]
fn addresses<const C: usize>(w: &mut Wave<C>, o: &Operation) -> [U; C] {
    let address = w.fetch(0, &o.src[0]);
    chunks(|c| w.chunk(address, c))
}

/// Loads `N` dwords per lane at an offset.
#[inline(always)]
fn load_dwords<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    w.lds_turn.read();
    let (offset, bytes) = (o.imm as u32, 4 * N as u32);
    let addresses = addresses(w, o);
    if let Some(near) = access::near_lds(w, c, &addresses, offset, bytes) {
        access::tell(c, (Space::Lds, false), bytes, 0, &near);
        near.load::<N>(w, o.dst);
        return Flow::Next;
    }
    load_some(w, c, o)
}

/// Stores `N` dwords per lane at an offset.
#[inline(always)]
fn store_dwords<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    if w.lds_turn.gives_way(|| true) {
        return Flow::Later;
    }
    let (offset, bytes) = (o.imm as u32, 4 * N as u32);
    let addresses = addresses(w, o);
    if let Some(near) = access::near_lds(w, c, &addresses, offset, bytes) {
        access::tell(c, (Space::Lds, true), bytes, 0, &near);
        near.store::<N>(w, o.src[1].register);
        return Flow::Next;
    }
    store_some(w, c, o)
}

/// Loads `N` dwords per lane at each of two offsets. All addresses are computed before the first load, because the
/// address register may be a result.
#[inline(always)]
fn load_pair<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    w.lds_turn.read();
    if let Some((a, b)) = near_pair(w, c, o, 4 * N as u32, false) {
        a.load::<N>(w, o.dst);
        b.load::<N>(w, o.dst + N as u16);
        return Flow::Next;
    }
    load_some_pairs(w, c, o)
}

/// Stores `N` dwords per lane at each of two offsets, from the two sources after the address.
#[inline(always)]
fn store_pair<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    if w.lds_turn.gives_way(|| true) {
        return Flow::Later;
    }
    if let Some((a, b)) = near_pair(w, c, o, 4 * N as u32, true) {
        a.store::<N>(w, o.src[1].register);
        b.store::<N>(w, o.src[2].register);
        return Flow::Next;
    }
    store_some_pairs(w, c, o)
}

/// As [`load_dwords`], of any data for any lanes.
#[inline(always)]
fn load_some<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    c.cold_path(
        w,
        o,
        #[inline(always)]
        |w, c, o| load_each(w, c, o, [o.imm as u32], Data::of(o)),
    )
}

/// As [`store_dwords`], of any data for any lanes.
#[inline(always)]
fn store_some<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    c.cold_path(
        w,
        o,
        #[inline(always)]
        |w, c, o| store_each(w, c, o, [o.imm as u32], Data::of(o)),
    )
}

/// As [`load_pair`], for any lanes.
#[inline(always)]
fn load_some_pairs<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    c.cold_path(
        w,
        o,
        #[inline(always)]
        |w, c, o| {
            let data = Data::Dwords(dwords_of_pair(o));
            load_each(w, c, o, pair(o), data)
        },
    )
}

/// As [`store_pair`], for any lanes.
#[inline(always)]
fn store_some_pairs<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    c.cold_path(
        w,
        o,
        #[inline(always)]
        |w, c, o| {
            let data = Data::Dwords(dwords_of_pair(o));
            store_each(w, c, o, pair(o), data)
        },
    )
}

/// Loads data per lane at each offset in turn. Lanes out of range get 0.
#[inline(always)]
fn load_each<const TIMES: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    offsets: [u32; TIMES],
    data: Data,
) -> Flow {
    let (exec, addresses) = (w.active(), addresses(w, o));
    for (number, offset) in (0_u16..).zip(offsets) {
        let near = access::reach_lds(c, &addresses, offset, exec, data.bytes(), false);
        let (register, outside) = (o.dst + number * data.registers(), exec & !near.exec);
        match data {
            Data::Dwords(count) => {
                near.load_some(w, register, count);
                access::clear(w, register, count as u16, outside);
            }
            Data::Small(small) => {
                near.load_small(w, register, small);
                small.clear(w, register, outside);
            }
        }
    }
    Flow::Next
}

/// Stores data per lane at each offset in turn, from the sources after the address.
#[inline(always)]
fn store_each<const TIMES: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    offsets: [u32; TIMES],
    data: Data,
) -> Flow {
    let (exec, addresses) = (w.active(), addresses(w, o));
    for (number, offset) in offsets.into_iter().enumerate() {
        let near = access::reach_lds(c, &addresses, offset, exec, data.bytes(), true);
        let register = o.src[1 + number].register;
        match data {
            Data::Dwords(count) => near.store_some(w, register, count),
            Data::Small(small) => {
                let lanes = near.by_address();
                lanes.store_small(w, register, small.bytes, small.shift);
            }
        }
    }
    Flow::Next
}

/// The LDS of all lanes at each of two offsets, as [`access::near_lds`], recorded for observers.
#[inline(always)]
fn near_pair<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    bytes: u32,
    write: bool,
) -> Option<(ContiguousAccess<C>, ContiguousAccess<C>)> {
    let [first, second] = pair(o);
    let addresses = addresses(w, o);
    let a = access::near_lds(w, c, &addresses, first, bytes)?;
    let b = access::near_lds(w, c, &addresses, second, bytes)?;
    access::tell(c, (Space::Lds, write), bytes, 0, &a);
    access::tell(c, (Space::Lds, write), bytes, 0, &b);
    Some((a, b))
}

/// The detail of a pair is the binary logarithm of what its offsets are multiplied by: the bytes of one or two dwords, or 64
/// times those.
const DWORDS: u8 = 2;
const FAR_APART: u8 = 6;

/// Dwords of each half of a pair.
fn dwords_of_pair(o: &Operation) -> usize {
    1 + usize::from(o.detail & 1)
}

/// The two offsets of an instruction with two accesses.
#[inline(always)]
fn pair(o: &Operation) -> [u32; 2] {
    let shift = u32::from(o.detail) & 31;
    [o.imm as u32 & 0xff, o.imm as u32 >> 8 & 0xff].mapped(|offset| offset << shift)
}

/// Makes handlers of LDS operations.
pub(super) struct Lds<const C: usize>(pub(super) Binder<C>);

#[expect(
    clippy::redundant_closure,
    reason = "closures are inlined where the host's instructions are known; functions are called without them"
)]
impl<const C: usize> Transfers for Lds<C> {
    fn load(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                w.lds_turn.read();
                load_each(w, c, o, [o.imm as u32], Data::of(o))
            },
        )
    }

    fn store(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                if w.lds_turn.gives_way(|| true) {
                    return Flow::Later;
                }
                store_each(w, c, o, [o.imm as u32], Data::of(o))
            },
        )
    }

    fn load_dwords<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| load_dwords::<N, C>(w, c, o),
        )
    }

    fn store_dwords<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| store_dwords::<N, C>(w, c, o),
        )
    }
}

#[expect(
    clippy::redundant_closure,
    reason = "closures are inlined where the host's instructions are known; functions are called without them"
)]
impl<const C: usize> Binder<C> {
    /// Two loads of `N` dwords.
    fn ds_load_pair<const N: usize>(self) -> Handler {
        self.bind(
            #[inline(always)]
            |w, c, o| load_pair::<N, C>(w, c, o),
        )
    }

    fn ds_store_pair<const N: usize>(self) -> Handler {
        self.bind(
            #[inline(always)]
            |w, c, o| store_pair::<N, C>(w, c, o),
        )
    }
}

/// The handler and the detail of an operation on two addresses.
pub(super) fn pairs<const C: usize>(b: Binder<C>, op: LdsPairs) -> (Handler, u8) {
    match op {
        LdsPairs::ds_read2_b32 => (b.ds_load_pair::<1>(), DWORDS),
        LdsPairs::ds_read2_b64 => (b.ds_load_pair::<2>(), DWORDS + 1),
        LdsPairs::ds_read2st64_b32 => (b.ds_load_pair::<1>(), DWORDS + FAR_APART),
        LdsPairs::ds_read2st64_b64 => (b.ds_load_pair::<2>(), DWORDS + 1 + FAR_APART),
        LdsPairs::ds_write2_b32 => (b.ds_store_pair::<1>(), DWORDS),
        LdsPairs::ds_write2_b64 => (b.ds_store_pair::<2>(), DWORDS + 1),
        LdsPairs::ds_write2st64_b32 => (b.ds_store_pair::<1>(), DWORDS + FAR_APART),
        LdsPairs::ds_write2st64_b64 => (b.ds_store_pair::<2>(), DWORDS + 1 + FAR_APART),
    }
}

/// `NEAR` is the number of lanes among which data moves, if the wave has as many: on RDNA 3, each half of a wave of 64 lanes has its own (LLVM's
/// `GCNSubtarget::supportsWaveWideBPermute`).
pub(super) fn permute<const NEAR: usize, const C: usize>(b: Binder<C>, op: LdsPermute) -> Handler {
    match op {
        // Backward: each lane reads the lane that its address names; inactive lanes give 0.
        LdsPermute::ds_bpermute_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (address, data) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let values = Lanes::of(chunks::<_, C>(|c| w.chunk(data, c)));
                let indices = Lanes::of(chunks::<_, C>(|c| w.chunk(address, c)));
                let mut result = Lanes::splat(0);
                let near = NEAR.min(16 * C);
                for lane in 0..16 * C {
                    let number = indices.as_array()[lane].wrapping_add(o.imm as u32) as usize / 4;
                    let from = lane / near * near + number % near;
                    if w.active() >> from & 1 == 1 {
                        result.as_mut_array()[lane] = values.as_array()[from];
                    }
                }
                w.commit(o.dst, *result.chunks());
                Flow::Next
            },
        ),
        // The same; inactive lanes give their values.
        LdsPermute::ds_bpermute_fi_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (address, data) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let values = Lanes::of(chunks::<_, C>(|c| w.chunk(data, c)));
                let indices = Lanes::of(chunks::<_, C>(|c| w.chunk(address, c)));
                let mut result = Lanes::splat(0);
                for lane in 0..16 * C {
                    let number = indices.as_array()[lane].wrapping_add(o.imm as u32) as usize / 4;
                    result.as_mut_array()[lane] = values.as_array()[number % (16 * C)];
                }
                w.commit(o.dst, *result.chunks());
                Flow::Next
            },
        ),
        // Forward: each active lane sends to the lane that its address names; the highest sender wins.
        LdsPermute::ds_permute_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (address, data) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let values = Lanes::of(chunks::<_, C>(|c| w.chunk(data, c)));
                let indices = Lanes::of(chunks::<_, C>(|c| w.chunk(address, c)));
                let mut result = Lanes::splat(0);
                let near = NEAR.min(16 * C);
                for lane in (0..16 * C).filter(|lane| w.active() >> lane & 1 == 1) {
                    let number = indices.as_array()[lane].wrapping_add(o.imm as u32) as usize / 4;
                    let to = lane / near * near + number % near;
                    result.as_mut_array()[to] = values.as_array()[lane];
                }
                w.commit(o.dst, *result.chunks());
                Flow::Next
            },
        ),
        LdsPermute::ds_swizzle_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let data = w.fetch(0, &o.src[0]);
                let values = Lanes::of(chunks::<_, C>(|c| w.chunk(data, c)));
                let mut result = Lanes::splat(0);
                for lane in 0..16 * C {
                    let from = swizzled(lane, o.imm as usize & 0xffff);
                    if w.active() >> from & 1 == 1 {
                        result.as_mut_array()[lane] = values.as_array()[from];
                    }
                }
                w.commit(o.dst, *result.chunks());
                Flow::Next
            },
        ),
    }
}

/// The lane that `ds_swizzle` reads for `lane`: within groups of four; within 32 lanes by and, or and xor masks; by
/// rotation; or by bit-reversed lane numbers (for Fourier transforms).
fn swizzled(lane: usize, offset: usize) -> usize {
    if offset & 0xe000 == 0xe000 {
        let mask = offset & 31;
        let reversed = (lane as u8 & 31).reverse_bits() >> 3;
        lane & 32 | lane & mask | usize::from(reversed >> mask.count_ones())
    } else if offset & 0xe000 == 0xc000 {
        let (rotate, mask) = (offset >> 5 & 31, offset & 31);
        let moved = if offset >> 10 & 1 == 1 {
            lane + 32 - rotate
        } else {
            lane + rotate
        };
        lane & 32 | lane & mask | moved & 31 & !mask
    } else if offset & 0x8000 != 0 {
        lane & !3 | offset >> (2 * (lane & 3)) & 3
    } else {
        let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
        lane & 32 | ((lane & and | or) ^ xor) & 31
    }
}

/// The handler of an atomic operation, which may return the old value.
pub(super) fn atomic<const WIDE: bool, const C: usize>(b: Binder<C>, i: &Instruction) -> Handler {
    match i.has_result() {
        false => b.bind(atomically::<WIDE, false, C>),
        true => b.bind(atomically::<WIDE, true, C>),
    }
}

/// The waves of a workgroup take turns, so plain reads and writes are atomic here.
fn atomically<const WIDE: bool, const RETURN: bool, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let atomic = from_detail(o.detail);
    let bytes = if WIDE { 8 } else { 4 };
    visit(
        w,
        c,
        o,
        bytes,
        true,
        if RETURN { bytes as u16 / 4 } else { 0 },
        #[inline(always)]
        |w, access| {
            access.each(|lane, address| {
                let register = |w: &Wave<C>, slot: usize, part: u16| {
                    w.lanes(o.src[slot].register + part).as_array()[lane]
                };
                // A compare-and-store has the compared value first, the new value second.
                let compares = matches!(
                    atomic,
                    Atomic::CompareSwap | Atomic::CompareSwapF32 | Atomic::CompareSwapF64
                );
                let (new, other) = if compares { (2, 1) } else { (1, 2) };
                if WIDE {
                    let pair = |w: &Wave<C>, slot: usize| {
                        u64::from(register(w, slot, 0)) | u64::from(register(w, slot, 1)) << 32
                    };
                    // SAFETY: the lane is active, so its bytes were checked.
                    let old: u64 = unsafe { access::read(address) };
                    let value = apply64(atomic, old, pair(w, new), pair(w, other));
                    // SAFETY: as above.
                    unsafe { access::write(address, value) };
                    if RETURN {
                        w.lanes_mut(o.dst).as_mut_array()[lane] = old as u32;
                        w.lanes_mut(o.dst + 1).as_mut_array()[lane] = (old >> 32) as u32;
                    }
                } else {
                    // SAFETY: the lane is active, so its bytes were checked.
                    let old: u32 = unsafe { access::read(address) };
                    let value = apply32(atomic, old, register(w, new, 0), register(w, other, 0));
                    // SAFETY: as above.
                    unsafe { access::write(address, value) };
                    if RETURN {
                        w.lanes_mut(o.dst).as_mut_array()[lane] = old;
                    }
                }
            });
        },
    )
}

#[cfg(test)]
mod tests {
    use super::swizzled;

    #[test]
    fn swizzle_patterns() {
        // Quad permutation 3, 2, 1, 0.
        let reverse = 0x8000 | 0b00_01_10_11;
        assert_eq!(
            [0, 1, 2, 3, 36].map(|lane| swizzled(lane, reverse)),
            [3, 2, 1, 0, 39]
        );
        // xor with 1 swaps neighbours, inside each half of the wave.
        let swap = 1 << 10 | 31;
        assert_eq!(
            [0, 1, 30, 33].map(|lane| swizzled(lane, swap)),
            [1, 0, 31, 32]
        );
        // The table of AMD's guide, which counts lanes from 1: 1, 11, 9, 19, 5, … and 1, 9, 5, d, …, 11, 19, …
        let bits = |offset| [0, 1, 2, 3, 4, 16, 17, 33].map(|lane| swizzled(lane, offset));
        assert_eq!(bits(0xe000), [0, 16, 8, 24, 4, 1, 17, 48]);
        assert_eq!(bits(0xe010), [0, 8, 4, 12, 2, 16, 24, 40]);
        assert_eq!(bits(0xe01f), [0, 1, 2, 3, 4, 16, 17, 33]);
        // Every lane of 32 reads lane 5.
        let broadcast = 5 << 5;
        assert_eq!(
            [0, 31, 32, 63].map(|lane| swizzled(lane, broadcast)),
            [5, 5, 37, 37]
        );
    }
}
