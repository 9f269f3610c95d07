//! Global and flat memory operations of the vector unit.

use std::{ops::BitOr, simd::prelude::*};

use super::{
    Context, FaultKind, PRIVATE_APERTURE, SHARED_APERTURE, Space, Wave,
    access::{self, Access},
    array::Mapped,
    atomic,
    contiguous_access::ContiguousAccess,
    lanes::{Binder, chunks, joined},
    operation::{Flow, Handler, Operation, SourceKind},
    scratch::Private,
    simd::{D, M, U, all_lanes},
    transfer::{Data, Transfers},
    wave::Fetched,
};
use ferrowave_isa::run::GlobalByLane;

/// Makes handlers of global operations.
pub(super) struct Global<const C: usize>(pub(super) Binder<C>);

/// Makes handlers of flat operations.
pub(super) struct Flat<const C: usize>(pub(super) Binder<C>);

/// Addresses of all lanes: a 64-bit register pair, or a scalar pair plus a 32-bit register; plus the instruction's
/// offset.
#[inline(always)]
pub(super) fn addresses<const C: usize>(w: &mut Wave<C>, o: &Operation) -> [D; C] {
    let offset = D::splat(o.imm as u64);
    if o.src[2].kind == SourceKind::None {
        let pair = w.fetch64(0, &o.src[0]);
        chunks(|c| w.chunk64(pair, c) + offset)
    } else {
        let base = D::splat(w.read64(&o.src[2])) + offset;
        let lane = w.fetch(0, &o.src[0]);
        chunks(|c| w.chunk(lane, c).cast::<u64>() + base)
    }
}

/// Runs `f` on the lanes' global memory.
#[inline(always)]
pub(super) fn visit<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    bytes: u32,
    write: bool,
    f: impl FnOnce(&mut Wave<C>, &Access<C>),
) -> Flow {
    let addresses = addresses(w, o);
    visit_at(w, c, o, addresses, bytes, write, f)
}

/// As [`visit`], at other addresses.
#[inline(always)]
pub(super) fn visit_at<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    addresses: [D; C],
    bytes: u32,
    write: bool,
    f: impl FnOnce(&mut Wave<C>, &Access<C>),
) -> Flow {
    let exec = w.active();
    if exec == 0 {
        return Flow::Next;
    }
    // A local copy: the compiler knows its value now, but not once `c` has been passed on.
    let moves = c.moves;
    let access = Access {
        addresses,
        exec,
        moves,
    };
    match access::check_global(c, o, &access, bytes, write) {
        Flow::Next => f(w, &Access { moves, ..access }),
        flow => return flow,
    }
    Flow::Next
}

/// All lanes' addresses with one base, if their upper halves are equal; they may wrap around.
#[inline(always)]
fn near<const C: usize>(
    w: &mut Wave<C>,
    c: &Context<'_>,
    o: &Operation,
) -> Option<ContiguousAccess<C>> {
    let lane = w.fetch(0, &o.src[0]);
    let offsets = chunks(|c| w.chunk(lane, c));
    let base = if o.src[2].kind == SourceKind::None {
        let upper = Fetched::vector(o.src[0].register + 1);
        let first = w.chunk(upper, 0)[0];
        let apart = |c| w.chunk(upper, c).simd_ne(U::splat(first));
        if joined::<C, _>(apart, M::bitor).any() {
            return None;
        }
        u64::from(first) << 32
    } else {
        w.read64(&o.src[2])
    };
    Some(ContiguousAccess {
        base: base.wrapping_add(o.imm as u64),
        offsets,
        exec: all_lanes(C),
        moves: c.moves,
    })
}

/// Runs `f` on the lanes' global memory if all lanes are active, in one allocation and within 4 GiB; otherwise
/// [`visit`] does it.
#[inline(always)]
fn visit_near<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    bytes: u32,
    write: bool,
    f: impl FnOnce(&mut Wave<C>, &ContiguousAccess<C>),
) -> bool {
    if !w.all_active() {
        return false;
    }
    // As in `visit`.
    let moves = c.moves;
    match near(w, c, o) {
        Some(near) if access::is_in_reach(c, o, &near, bytes, write) => {
            access::tell(c, (Space::Global, write), bytes, near.base, &near);
            c.stored |= write;
            f(w, &ContiguousAccess { moves, ..near });
            true
        }
        _ => false,
    }
}

/// Runs `f` on the lanes' memory, which may be LDS for some lanes and global memory for others, and `private` on the
/// lanes in private memory.
fn visit_flat<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    bytes: u32,
    write: bool,
    f: &mut dyn FnMut(&mut Wave<C>, &Access<C>),
    private: &mut dyn FnMut(&mut Wave<C>, &mut Context<'_>, &Private<C>) -> Flow,
) -> Flow {
    let exec = w.active();
    if exec == 0 {
        return Flow::Next;
    }
    let addresses = addresses(w, o);
    let upper = addresses.mapped(|a| a >> D::splat(32));
    let inside = |aperture: u64| {
        let mut mask = 0;
        for (chunk, lanes) in upper.iter().enumerate() {
            let inside = lanes.simd_eq(D::splat(aperture >> 32));
            mask |= inside.to_bitmask() << (16 * chunk);
        }
        mask & exec
    };
    let (in_lds, in_private) = (inside(SHARED_APERTURE), inside(PRIVATE_APERTURE));
    let lower: [U; C] = addresses.mapped(|a| a.cast::<u32>());
    if in_private != 0 {
        let flow = match Private::new(w, c, lower, in_private, bytes) {
            Ok(lanes) => private(w, c, &lanes),
            Err(flow) => flow,
        };
        if flow != Flow::Next {
            return flow;
        }
    }
    if in_lds != 0 {
        let near = access::reach_lds(c, &lower, 0, in_lds, bytes, write);
        f(w, &near.by_address());
        if o.control[0] != 0 {
            let registers = bytes.div_ceil(4) as u16;
            access::clear(w, o.dst, registers, in_lds & !near.exec);
        }
    }
    let exec = exec & !in_lds & !in_private;
    if exec != 0 {
        let access = Access {
            addresses,
            exec,
            moves: c.moves,
        };
        match access::check_global(c, o, &access, bytes, write) {
            Flow::Next => f(w, &access),
            flow => return flow,
        }
    }
    Flow::Next
}

/// Loads any data.
#[inline(always)]
fn load_anywhere<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let data = Data::of(o);
    visit(
        w,
        c,
        o,
        data.bytes(),
        false,
        #[inline(always)]
        |w, a| a.load(w, o.dst, data),
    )
}

/// Stores any data.
#[inline(always)]
fn store_anywhere<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let data = Data::of(o);
    visit(
        w,
        c,
        o,
        data.bytes(),
        true,
        #[inline(always)]
        |w, a| a.store(w, o.src[1].register, data),
    )
}

#[expect(
    clippy::redundant_closure,
    reason = "closures are inlined where the host's instructions are known; functions are called without them"
)]
impl<const C: usize> Transfers for Global<C> {
    fn load(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| load_anywhere(w, c, o),
        )
    }

    fn store(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| store_anywhere(w, c, o),
        )
    }

    fn load_dwords<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                let done = visit_near(
                    w,
                    c,
                    o,
                    4 * N as u32,
                    false,
                    #[inline(always)]
                    |w, near| near.load::<N>(w, o.dst),
                );
                match done {
                    true => Flow::Next,
                    false => c.cold_path(
                        w,
                        o,
                        #[inline(always)]
                        |w, c, o| load_anywhere(w, c, o),
                    ),
                }
            },
        )
    }

    fn store_dwords<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                let done = visit_near(
                    w,
                    c,
                    o,
                    4 * N as u32,
                    true,
                    #[inline(always)]
                    |w, near| near.store::<N>(w, o.src[1].register),
                );
                match done {
                    true => Flow::Next,
                    false => c.cold_path(
                        w,
                        o,
                        #[inline(always)]
                        |w, c, o| store_anywhere(w, c, o),
                    ),
                }
            },
        )
    }
}

impl<const C: usize> Transfers for Flat<C> {
    fn load(&self) -> Handler {
        self.0.bind(|w, c, o| {
            let data = Data::of(o);
            visit_flat(
                w,
                c,
                o,
                data.bytes(),
                false,
                &mut |w, a| a.load(w, o.dst, data),
                &mut |w, c, p| p.load(w, c, o, data),
            )
        })
    }

    fn store(&self) -> Handler {
        self.0.bind(|w, c, o| {
            let data = Data::of(o);
            visit_flat(
                w,
                c,
                o,
                data.bytes(),
                true,
                &mut |w, a| a.store(w, o.src[1].register, data),
                &mut |w, c, p| p.store(w, c, o, data),
            )
        })
    }
}

/// The handler of a load or store at the scalar address plus four times the number of the lane (RDNA).
pub(super) fn by_lane<const C: usize>(b: Binder<C>, op: GlobalByLane) -> Handler {
    match op {
        GlobalByLane::global_load_addtid_b32 => b.bind(|w, c, o| {
            let addresses = lane_addresses(w, o);
            visit_at(w, c, o, addresses, 4, false, |w, a| {
                a.load_dwords(w, o.dst, 1);
            })
        }),
        GlobalByLane::global_store_addtid_b32 => b.bind(|w, c, o| {
            let (addresses, data) = (lane_addresses(w, o), o.src[1].register);
            visit_at(w, c, o, addresses, 4, true, |w, a| {
                a.store_dwords(w, data, 1);
            })
        }),
    }
}

fn lane_addresses<const C: usize>(w: &Wave<C>, o: &Operation) -> [D; C] {
    let base = D::splat(w.read64(&o.src[2]).wrapping_add(o.imm as u64));
    chunks(|chunk| {
        let lanes = std::array::from_fn(|lane| 4 * (16 * chunk + lane) as u64);
        base + D::from_array(lanes)
    })
}

/// The handler of an atomic operation.
pub(super) fn atomic<const FLAT: bool, const WIDE: bool, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(atomically::<FLAT, WIDE, C>)
}

fn atomically<const FLAT: bool, const WIDE: bool, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let bytes = if WIDE { 8 } else { 4 };
    let (mut misaligned, memory) = (None, c.memory);
    let mut update = |w: &mut Wave<C>, access: &Access<C>| {
        let lane = atomic::on_lanes::<WIDE, C>(w, o, memory, access);
        misaligned = misaligned.or(lane);
    };
    let flow = if FLAT {
        let mut in_private = None;
        let flow = visit_flat(w, c, o, bytes, true, &mut update, &mut |w, c, private| {
            // The dwords of a lane's private memory are not adjacent, so two cannot be updated atomically.
            if WIDE || !private.is_aligned() {
                let what = "the emulator has no atomic operation on 64 bits of private memory, or on misaligned ones";
                return c.fail(FaultKind::Unsupported { what: what.into() });
            }
            match private.access(c, o, 0, bytes, true) {
                Ok(access) => {
                    in_private = atomic::on_lanes::<WIDE, C>(w, o, memory, &access);
                }
                Err(flow) => return flow,
            }
            Flow::Next
        });
        misaligned = misaligned.or(in_private);
        flow
    } else {
        visit(w, c, o, bytes, true, update)
    };
    match flow {
        Flow::Next => atomic::finish(c, misaligned, bytes),
        flow => flow,
    }
}
