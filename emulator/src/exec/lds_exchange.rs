//! LDS operations that read and write more than one place, or a place that `m0` names.
//!
//! Semantics from AMD's ISA guides: pseudocode of CDNA3's, and Vega's for the `src2` forms, which gfx908 alone has.

use std::simd::prelude::*;

use super::{
    Context, Wave,
    access::{self, Access},
    atomic::{Atomic, apply32, apply64},
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    simd::{CHUNKS, U, chunk_mask},
    wave::M0,
};

/// The handler of one of these operations by its mnemonic without `ds_`, if it is one.
pub(super) fn handler(b: Binder, name: &str) -> Option<Handler> {
    Some(match name {
        "wrxchg2_rtn_b32" => b.bind(exchange_pair::<1, 4>),
        "wrxchg2st64_rtn_b32" => b.bind(exchange_pair::<1, 256>),
        "wrxchg2_rtn_b64" => b.bind(exchange_pair::<2, 8>),
        "wrxchg2st64_rtn_b64" => b.bind(exchange_pair::<2, 512>),
        "condxchg32_rtn_b64" => b.bind(exchange_if_negative),
        "read_addtid_b32" => b.bind(
            #[inline(always)]
            |w, c, o| by_lane_number(w, c, o, false, |w, a| a.load::<1>(w, o.dst)),
        ),
        "write_addtid_b32" => b.bind(
            #[inline(always)]
            |w, c, o| by_lane_number(w, c, o, true, |w, a| a.store::<1>(w, o.src[1].register)),
        ),
        "append" => b.bind(|w, c, o| count_lanes(w, c, o, u32::wrapping_add)),
        "consume" => b.bind(|w, c, o| count_lanes(w, c, o, u32::wrapping_sub)),
        _ if name.contains("_src2_") => {
            let wide = name.ends_with("64");
            second_source(name)?;
            match wide {
                false => b.bind(combine::<false>),
                true => b.bind(combine::<true>),
            }
        }
        _ => return None,
    })
}

/// What an operation does with its second place in LDS, by its mnemonic without `ds_`.
pub(super) fn second_source(name: &str) -> Option<Atomic> {
    let (what, ty) = name.split_once("_src2_")?;
    if what == "write" {
        return Some(Atomic::Swap);
    }
    super::lds::atomic_of(&format!("{what}_{ty}")).map(|(atomic, _)| atomic)
}

/// Adresses in the first source's register.
fn addresses(w: &Wave, o: &Operation) -> [U; CHUNKS] {
    chunks(|c| w.lanes(o.src[0].register).0[c])
}

/// Both places get new data, and their old data is the result.
fn exchange_pair<const N: usize, const SCALE: u32>(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let (addresses, exec) = (addresses(w, o), w.exec);
    let offsets = [o.imm as u32 & 0xff, o.imm as u32 >> 8 & 0xff].map(|units| units * SCALE);
    for offset in offsets {
        match access::check_lds(c, &addresses, offset, exec, 4 * N as u32, true) {
            Flow::Next => {}
            flow => return flow,
        }
    }
    let places = offsets.map(|offset| access::in_lds(c, &addresses, offset, exec));
    // Lane after lane: a place may be another lane's too.
    places[0].each(|lane, first| {
        for (slot, address) in [first, places[1].lane(lane)].into_iter().enumerate() {
            let data: [u32; N] = std::array::from_fn(|part| {
                w.lanes(o.src[1 + slot].register + part as u16).as_array()[lane]
            });
            // SAFETY: the lane is active, so that its bytes were checked.
            let old: [u32; N] = unsafe { access::read(address) };
            // SAFETY: as above.
            unsafe { access::write(address, data) };
            w.lanes_mut(PAIR + (slot * N) as u16).as_mut_array()[lane] = old[0];
            if N == 2 {
                w.lanes_mut(PAIR + (slot * N) as u16 + 1).as_mut_array()[lane] = old[N - 1];
            }
        }
    });
    for part in 0..2 * N as u16 {
        let values = w.lanes(PAIR + part).0;
        w.commit(o.dst + part, values);
    }
    Flow::Next
}

/// Where results wait until all lanes' data was read.
const PAIR: u16 = super::wave::TEMPORARIES + 40;

/// Two dwords, each replaced by new data without its sign bit if that bit is set.
fn exchange_if_negative(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let offset = U::splat(o.imm as u32);
    let addresses = addresses(w, o).map(|a| (a + offset) & U::splat(0xfff8));
    let exec = w.exec;
    match access::check_lds(c, &addresses, 0, exec, 8, true) {
        Flow::Next => {}
        flow => return flow,
    }
    access::in_lds(c, &addresses, 0, exec).each(|lane, address| {
        for part in 0..2_u16 {
            let address = address + 4 * u64::from(part);
            let data = w.lanes(o.src[1].register + part).as_array()[lane];
            // SAFETY: the lane is active, so that its bytes were checked.
            let old: u32 = unsafe { access::read(address) };
            if data >> 31 == 1 {
                // SAFETY: as above.
                unsafe { access::write(address, data & 0x7fff_ffff) };
            }
            w.lanes_mut(PAIR + part).as_mut_array()[lane] = old;
        }
    });
    for part in 0..2 {
        let values = w.lanes(PAIR + part).0;
        w.commit(o.dst + part, values);
    }
    Flow::Next
}

/// Runs `f` where each lane has a dword, one after the other from `m0` and the offset on.
#[inline(always)]
fn by_lane_number(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    write: bool,
    f: impl FnOnce(&mut Wave, &Access),
) -> Flow {
    let start = (w.scalar(M0) & 0xffff) + o.imm as u32;
    let addresses =
        chunks(|chunk| U::from_array(std::array::from_fn(|lane| (4 * (16 * chunk + lane)) as u32)));
    let exec = w.exec;
    match access::check_lds(c, &addresses, start, exec, 4, write) {
        Flow::Next => f(w, &access::in_lds(c, &addresses, start, exec)),
        flow => return flow,
    }
    Flow::Next
}

/// Counts the active lanes up or down in the dword that `m0` and the offset name; all get its old value.
fn count_lanes(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    f: impl Fn(u32, u32) -> u32,
) -> Flow {
    let exec = w.exec;
    if exec == 0 {
        return Flow::Next;
    }
    let start = (w.scalar(M0) & 0xffff) + o.imm as u32;
    let addresses = [U::splat(0); CHUNKS];
    match access::check_lds(c, &addresses, start, exec, 4, true) {
        Flow::Next => {}
        flow => return flow,
    }
    let address = access::in_lds(c, &addresses, start, exec).lane(0);
    // SAFETY: the range was just checked; all lanes have this address.
    let old: u32 = unsafe { access::read(address) };
    // SAFETY: as above.
    unsafe { access::write(address, f(old, exec.count_ones())) };
    w.commit(o.dst, [U::splat(old); CHUNKS]);
    Flow::Next
}

/// Updates a place with the data of another, which lies as far from it as the offset says (in dwords, with a
/// sign), or as the address' upper bits do. That the lower 17 bits are the place then is chosen, as the other bits
/// say something else; the guide says only what the distance is.
fn combine<const WIDE: bool>(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let atomic = Atomic::from_detail(o.detail);
    let offset = o.imm as u32;
    let (first, exec) = (addresses(w, o), w.exec);
    let (targets, sources) = match offset & 0x8000 {
        0 => {
            // 15 bits with a sign.
            let distance = 4 * ((offset << 17) as i32 >> 17);
            (first, first.map(|a| a + U::splat(distance as u32)))
        }
        _ => {
            let target = first.map(|a| a & U::splat(0x1_ffff));
            let pairs = chunks(|c| {
                let distance = (first[c].cast::<i32>() >> 17) * Simd::splat(4);
                target[c] + distance.cast::<u32>()
            });
            (target, pairs)
        }
    };
    let bytes = if WIDE { 8 } else { 4 };
    for (places, write) in [(&targets, true), (&sources, false)] {
        let active = chunks(|c| chunk_mask(exec, c).select(places[c], U::splat(0)));
        match access::check_lds(c, &active, 0, exec, bytes, write) {
            Flow::Next => {}
            flow => return flow,
        }
    }
    let from = access::in_lds(c, &sources, 0, exec);
    access::in_lds(c, &targets, 0, exec).each(|lane, address| {
        let source = from.lane(lane);
        // SAFETY: the lane is active, so that its bytes were checked in both places.
        unsafe {
            if WIDE {
                let (old, data) = (access::read(address), access::read(source));
                access::write(address, apply64(atomic, old, data, 0));
            } else {
                let (old, data) = (access::read(address), access::read(source));
                access::write(address, apply32(atomic, old, data, 0));
            }
        }
    });
    Flow::Next
}
