//! LDS operations that access two addresses, or an address in `m0`.
//!
//! Semantics are from AMD's ISA guides: the pseudocode of CDNA3's, and Vega's for the `src2` forms, which only gfx908
//! has.

use std::simd::prelude::*;

use super::{
    Context, Wave,
    access::{self, Access},
    array::{Mapped, array},
    atomic::{apply32, apply64, from_detail},
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    simd::U,
    wave::M0,
};
use ferrowave_isa::run::LdsExchange;

/// The handler of one of these operations.
pub(super) fn handler<const C: usize>(b: Binder<C>, op: LdsExchange) -> Handler {
    match op {
        LdsExchange::ds_wrxchg2_rtn_b32 => b.bind(exchange_pair::<1, 4, C>),
        LdsExchange::ds_wrxchg2st64_rtn_b32 => b.bind(exchange_pair::<1, 256, C>),
        LdsExchange::ds_wrxchg2_rtn_b64 => b.bind(exchange_pair::<2, 8, C>),
        LdsExchange::ds_wrxchg2st64_rtn_b64 => b.bind(exchange_pair::<2, 512, C>),
        LdsExchange::ds_condxchg32_rtn_b64 => b.bind(exchange_if_negative::<C>),
        LdsExchange::ds_read_addtid_b32 => b.bind(
            #[inline(always)]
            |w, c, o| by_lane_number(w, c, o, false, |w, a| a.load_dwords(w, o.dst, 1)),
        ),
        LdsExchange::ds_write_addtid_b32 => b.bind(
            #[inline(always)]
            |w, c, o| {
                by_lane_number(w, c, o, true, |w, a| {
                    a.store_dwords(w, o.src[1].register, 1);
                })
            },
        ),
        LdsExchange::ds_append => b.bind(|w, c, o| count_lanes(w, c, o, u32::wrapping_add)),
        LdsExchange::ds_consume => b.bind(|w, c, o| count_lanes(w, c, o, u32::wrapping_sub)),
    }
}

/// The handler of an atomic operation whose data is at a second address in LDS.
pub(super) fn atomic<const WIDE: bool, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(combine::<WIDE, C>)
}

/// The addresses in the first source's register.
fn addresses<const C: usize>(w: &Wave<C>, o: &Operation) -> [U; C] {
    chunks(|c| w.lanes(o.src[0].register).0[c])
}

/// Both addresses get new data; their old data is the result.
fn exchange_pair<const N: usize, const SCALE: u32, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let (addresses, exec) = (addresses(w, o), w.active());
    let offsets = [o.imm as u32 & 0xff, o.imm as u32 >> 8 & 0xff].mapped(|units| units * SCALE);
    let places = offsets.map(|offset| {
        access::reach_lds(c, &addresses, offset, exec, 4 * N as u32, true).by_address()
    });
    clear_results(w, 2 * N as u16);
    // Lane after lane, because lanes may share an address.
    for lane in (0..16 * C).filter(|lane| exec >> lane & 1 == 1) {
        for (slot, place) in places.iter().enumerate() {
            if place.exec >> lane & 1 == 0 {
                continue;
            }
            let address = place.lane(lane);
            let data: [u32; N] =
                array(|part| w.lanes(o.src[1 + slot].register + part as u16).as_array()[lane]);
            // SAFETY: the lane is active there, so its bytes were checked.
            let old: [u32; N] = unsafe { access::read(address) };
            // SAFETY: as above.
            unsafe { access::write(address, data) };
            for (register, old) in (PAIR + (slot * N) as u16..).zip(old) {
                w.lanes_mut(register).as_mut_array()[lane] = old;
            }
        }
    }
    put_results(w, o, 2 * N as u16);
    Flow::Next
}

/// Temporary registers of results, which are written after all lanes' data was read.
const PAIR: u16 = super::wave::TEMPORARIES + 40;

/// Sets the temporary results to 0, which lanes out of range get.
fn clear_results<const C: usize>(w: &mut Wave<C>, count: u16) {
    access::clear(w, PAIR, count, w.all_lanes());
}

fn put_results<const C: usize>(w: &mut Wave<C>, o: &Operation, count: u16) {
    for part in 0..count {
        let values = *w.lanes(PAIR + part).chunks();
        w.commit(o.dst + part, values);
    }
}

/// Two dwords. Each is replaced by its new data, without the sign bit, if that bit is set.
fn exchange_if_negative<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let offset = U::splat(o.imm as u32);
    let addresses = addresses(w, o).mapped(|a| (a + offset) & U::splat(0xfff8));
    let near = access::reach_lds(c, &addresses, 0, w.active(), 8, true);
    clear_results(w, 2);
    near.by_address().each(|lane, address| {
        for part in 0..2_u16 {
            let address = address + 4 * u64::from(part);
            let data = w.lanes(o.src[1].register + part).as_array()[lane];
            // SAFETY: the lane is active, so its bytes were checked.
            let old: u32 = unsafe { access::read(address) };
            if data >> 31 == 1 {
                // SAFETY: as above.
                unsafe { access::write(address, data & 0x7fff_ffff) };
            }
            w.lanes_mut(PAIR + part).as_mut_array()[lane] = old;
        }
    });
    put_results(w, o, 2);
    Flow::Next
}

/// Runs `f` on one dword per lane, consecutive from `m0` plus the offset.
#[inline(always)]
fn by_lane_number<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    write: bool,
    f: impl FnOnce(&mut Wave<C>, &Access<C>),
) -> Flow {
    let start = (w.scalar(M0) & 0xffff) + o.imm as u32;
    let addresses = chunks(|chunk| U::from_array(array(|lane| (4 * (16 * chunk + lane)) as u32)));
    let exec = w.active();
    let near = access::reach_lds(c, &addresses, start, exec, 4, write);
    f(w, &near.by_address());
    access::clear(w, o.dst, u16::from(!write), exec & !near.exec);
    Flow::Next
}

/// Adds or subtracts the number of active lanes at the dword that `m0` and the offset name. All lanes get its old
/// value.
fn count_lanes<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    f: impl Fn(u32, u32) -> u32,
) -> Flow {
    let exec = w.active();
    if exec == 0 {
        return Flow::Next;
    }
    let start = (w.scalar(M0) & 0xffff) + o.imm as u32;
    let addresses = [U::splat(0); C];
    let place = access::reach_lds(c, &addresses, start, exec, 4, true).by_address();
    let mut old = 0;
    if place.exec != 0 {
        let address = place.lane(0);
        // SAFETY: the range was just checked; all lanes have this address.
        old = unsafe { access::read(address) };
        // SAFETY: as above.
        unsafe { access::write(address, f(old, exec.count_ones())) };
    }
    w.commit(o.dst, [U::splat(old); C]);
    Flow::Next
}

/// Updates LDS with data from another address. The distance is in the offset (15 bits with a sign, in dwords), or in
/// the address from bit 17 on. In the second case the lower 17 bits are taken as the address; this is a choice, because
/// the guide specifies only the distance.
fn combine<const WIDE: bool, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let atomic = from_detail(o.detail);
    let offset = o.imm as u32;
    let (first, exec) = (addresses(w, o), w.active());
    let (targets, sources) = match offset & 0x8000 {
        0 => {
            // 15 bits with a sign.
            let distance = 4 * ((offset << 17) as i32 >> 17);
            (first, first.mapped(|a| a + U::splat(distance as u32)))
        }
        _ => {
            let target = first.mapped(|a| a & U::splat(0x1_ffff));
            let pairs = chunks(|c| {
                let distance = (first[c].cast::<i32>() >> 17) * Simd::splat(4);
                target[c] + distance.cast::<u32>()
            });
            (target, pairs)
        }
    };
    let bytes = if WIDE { 8 } else { 4 };
    let mut reach =
        |places, write| access::reach_lds(c, places, 0, exec, bytes, write).by_address();
    let (targets, from) = (reach(&targets, true), reach(&sources, false));
    targets.each(|lane, address| {
        // A source that is out of range is 0.
        let source = (from.exec >> lane & 1 == 1).then(|| from.lane(lane));
        // SAFETY: the lane is active, so its bytes were checked at both addresses.
        unsafe {
            if WIDE {
                let (old, data) = (access::read(address), source.map_or(0, |s| access::read(s)));
                access::write(address, apply64(atomic, old, data, 0));
            } else {
                let (old, data) = (access::read(address), source.map_or(0, |s| access::read(s)));
                access::write(address, apply32(atomic, old, data, 0));
            }
        }
    });
    Flow::Next
}
