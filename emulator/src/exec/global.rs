//! Global and flat memory operations of the vector unit.

use std::simd::prelude::*;

use super::{
    Context, FaultKind, PRIVATE_APERTURE, SHARED_APERTURE, Wave,
    access::{self, Access},
    atomic::{self, Atomic},
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation, SourceKind},
    simd::{CHUNKS, D, LANES, U},
};
use crate::isa::Op;

/// The handler of a global or flat operation, if `op` is one.
pub(crate) fn handler(b: Binder, op: Op) -> Option<Handler> {
    let name = op.name();
    let (rest, flat) = match name.split_once('_')? {
        ("global", rest) => (rest, false),
        ("flat", rest) => (rest, true),
        _ => return None,
    };
    if let Some(kind) = rest.strip_prefix("atomic_") {
        return atomic_handler(b, kind, flat);
    }
    // Where the data goes to LDS, another operation takes it there.
    let rest = rest.replacen("load_lds_", "load_", 1);
    transfer(b, &rest, flat)
}

/// Addresses of all lanes: a 64-bit register pair a lane, or a scalar pair and 32 bits a lane; plus the
/// instruction's offset.
#[inline(always)]
fn addresses(w: &mut Wave, o: &Operation) -> [D; CHUNKS] {
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

/// Runs `f` on the lanes' memory; flat addresses may lie in LDS for some lanes and not for others.
#[inline(always)]
fn visit(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    flat: bool,
    bytes: u32,
    write: bool,
    mut f: impl FnMut(&mut Wave, &Access),
) -> Flow {
    let exec = w.exec;
    if exec == 0 {
        return Flow::Next;
    }
    let addresses = addresses(w, o);
    if flat {
        return visit_flat(w, c, o, addresses, bytes, write, &mut f);
    }
    let access = Access { addresses, exec };
    match access::check_global(c, o, &access, bytes, write) {
        Flow::Next => f(w, &access),
        flow => return flow,
    }
    Flow::Next
}

fn visit_flat(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    addresses: [D; CHUNKS],
    bytes: u32,
    write: bool,
    f: &mut dyn FnMut(&mut Wave, &Access),
) -> Flow {
    let exec = w.exec;
    let upper = addresses.map(|a| a >> D::splat(32));
    let inside = |aperture: u64| {
        (0..LANES)
            .filter(|lane| upper[lane / 16][lane % 16] == aperture >> 32)
            .fold(0_u64, |mask, lane| mask | 1 << lane)
            & exec
    };
    let shared = inside(SHARED_APERTURE);
    let private = inside(PRIVATE_APERTURE);
    if private != 0 {
        let lane = private.trailing_zeros() as usize;
        let address = addresses[lane / 16][lane % 16];
        return c.fail(FaultKind::Private {
            address,
            lane: lane as u8,
        });
    }
    if shared != 0 {
        let lds: [U; CHUNKS] = addresses.map(|a| a.cast::<u32>());
        match access::check_lds(c, &lds, 0, shared, bytes, write) {
            Flow::Next => f(w, &access::in_lds(c, &lds, 0, shared)),
            flow => return flow,
        }
    }
    if exec & !shared != 0 {
        let access = Access {
            addresses,
            exec: exec & !shared,
        };
        match access::check_global(c, o, &access, bytes, write) {
            Flow::Next => f(w, &access),
            flow => return flow,
        }
    }
    Flow::Next
}

impl Binder {
    fn load<const N: usize>(self, flat: bool) -> Handler {
        if flat {
            self.bind(
                #[inline(always)]
                |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        true,
                        4 * N as u32,
                        false,
                        #[inline(always)]
                        |w, a| a.load::<N>(w, o.dst),
                    )
                },
            )
        } else {
            self.bind(
                #[inline(always)]
                |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        false,
                        4 * N as u32,
                        false,
                        #[inline(always)]
                        |w, a| a.load::<N>(w, o.dst),
                    )
                },
            )
        }
    }

    fn store<const N: usize>(self, flat: bool) -> Handler {
        if flat {
            self.bind(
                #[inline(always)]
                |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        true,
                        4 * N as u32,
                        true,
                        #[inline(always)]
                        |w, a| a.store::<N>(w, o.src[1].register),
                    )
                },
            )
        } else {
            self.bind(
                #[inline(always)]
                |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        false,
                        4 * N as u32,
                        true,
                        #[inline(always)]
                        |w, a| a.store::<N>(w, o.src[1].register),
                    )
                },
            )
        }
    }

    fn load_small<T, F>(self, flat: bool, f: F) -> Handler
    where
        T: Copy + 'static,
        F: Fn(T, u32) -> u32 + Copy + 'static,
    {
        if flat {
            self.bind(
                #[inline(always)]
                move |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        true,
                        size_of::<T>() as u32,
                        false,
                        #[inline(always)]
                        |w, a| {
                            a.load_small::<T>(w, o.dst, f);
                        },
                    )
                },
            )
        } else {
            self.bind(
                #[inline(always)]
                move |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        false,
                        size_of::<T>() as u32,
                        false,
                        #[inline(always)]
                        |w, a| {
                            a.load_small::<T>(w, o.dst, f);
                        },
                    )
                },
            )
        }
    }

    fn store_small<T, F>(self, flat: bool, f: F) -> Handler
    where
        T: Copy + 'static,
        F: Fn(u32) -> T + Copy + 'static,
    {
        if flat {
            self.bind(
                #[inline(always)]
                move |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        true,
                        size_of::<T>() as u32,
                        true,
                        #[inline(always)]
                        |w, a| {
                            a.store_small::<T>(w, o.src[1].register, f);
                        },
                    )
                },
            )
        } else {
            self.bind(
                #[inline(always)]
                move |w, c, o| {
                    visit(
                        w,
                        c,
                        o,
                        false,
                        size_of::<T>() as u32,
                        true,
                        #[inline(always)]
                        |w, a| {
                            a.store_small::<T>(w, o.src[1].register, f);
                        },
                    )
                },
            )
        }
    }
}

fn transfer(b: Binder, name: &str, flat: bool) -> Option<Handler> {
    Some(match name {
        "load_dword" => b.load::<1>(flat),
        "load_dwordx2" => b.load::<2>(flat),
        "load_dwordx3" => b.load::<3>(flat),
        "load_dwordx4" => b.load::<4>(flat),
        "load_ubyte" => b.load_small(flat, |x: u8, _| u32::from(x)),
        "load_sbyte" => b.load_small(flat, |x: i8, _| x as u32),
        "load_ushort" => b.load_small(flat, |x: u16, _| u32::from(x)),
        "load_sshort" => b.load_small(flat, |x: i16, _| x as u32),
        "load_ubyte_d16" => b.load_small(flat, |x: u8, old| old & 0xffff_0000 | u32::from(x)),
        "load_ubyte_d16_hi" => b.load_small(flat, |x: u8, old| old & 0xffff | u32::from(x) << 16),
        "load_sbyte_d16" => {
            b.load_small(flat, |x: i8, old| old & 0xffff_0000 | u32::from(x as u16))
        }
        "load_sbyte_d16_hi" => {
            b.load_small(flat, |x: i8, old| old & 0xffff | u32::from(x as u16) << 16)
        }
        "load_short_d16" => b.load_small(flat, |x: u16, old| old & 0xffff_0000 | u32::from(x)),
        "load_short_d16_hi" => b.load_small(flat, |x: u16, old| old & 0xffff | u32::from(x) << 16),
        "store_dword" => b.store::<1>(flat),
        "store_dwordx2" => b.store::<2>(flat),
        "store_dwordx3" => b.store::<3>(flat),
        "store_dwordx4" => b.store::<4>(flat),
        "store_byte" => b.store_small(flat, |x| x as u8),
        "store_byte_d16_hi" => b.store_small(flat, |x| (x >> 16) as u8),
        "store_short" => b.store_small(flat, |x| x as u16),
        "store_short_d16_hi" => b.store_small(flat, |x| (x >> 16) as u16),
        _ => return None,
    })
}

fn atomic_handler(b: Binder, kind: &str, flat: bool) -> Option<Handler> {
    let (_, wide) = Atomic::of_mnemonic(kind)?;
    Some(match (flat, wide) {
        (false, false) => b.bind(atomically::<false, false>),
        (false, true) => b.bind(atomically::<false, true>),
        (true, false) => b.bind(atomically::<true, false>),
        (true, true) => b.bind(atomically::<true, true>),
    })
}

fn atomically<const FLAT: bool, const WIDE: bool>(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let bytes = if WIDE { 8 } else { 4 };
    let mut misaligned = None;
    let flow = visit(
        w,
        c,
        o,
        FLAT,
        bytes,
        true,
        #[inline(always)]
        |w, access| {
            let lane = atomic::on_lanes::<WIDE>(w, o, access);
            misaligned = misaligned.or(lane);
        },
    );
    match flow {
        Flow::Next => atomic::finish(c, misaligned, bytes),
        flow => flow,
    }
}
