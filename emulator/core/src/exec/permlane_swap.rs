//! gfx950's swaps of rows and of halves between two registers.

use super::{
    Wave64,
    lanes::Binder64,
    operation::{Flow, Handler, Operation},
    simd::LANES,
};
use ferrowave_isa::run::PermlaneSwap;

/// Swaps lanes of the destination with lanes of the source that are `DISTANCE` below them.
///
/// An inactive lane gives its value if bit 0 of `op_sel` (`fi`) is set. Otherwise the other lane gets 0 if bit 1
/// (`bound_ctrl`) is set, and keeps its value if not.
fn swap<const DISTANCE: usize>(w: &mut Wave64, o: &Operation) -> Flow {
    let exec = w.exec;
    let active = |lane: usize| exec >> lane & 1 == 1;
    let (fetch_inactive, zero) = (o.op_sel & 1 != 0, o.op_sel & 2 != 0);
    let taken = |from: usize, value: u32, old: u32| {
        if active(from) || fetch_inactive {
            value
        } else if zero {
            0
        } else {
            old
        }
    };
    let (mut source, mut destination) = (*w.lanes(o.src[0].register), *w.lanes(o.dst));
    for low in (0..LANES).filter(|lane| lane & DISTANCE == 0) {
        let high = low + DISTANCE;
        let (below, above) = (source.as_array()[low], destination.as_array()[high]);
        if active(low) {
            source.as_mut_array()[low] = taken(high, above, below);
        }
        if active(high) {
            destination.as_mut_array()[high] = taken(low, below, above);
        }
    }
    *w.lanes_mut(o.src[0].register) = source;
    *w.lanes_mut(o.dst) = destination;
    Flow::Next
}

/// The handler of a swap.
pub(super) fn handler(b: Binder64, op: PermlaneSwap) -> Handler {
    match op {
        PermlaneSwap::v_permlane16_swap_b32 => b.bind(|w, _, o| swap::<16>(w, o)),
        PermlaneSwap::v_permlane32_swap_b32 => b.bind(|w, _, o| swap::<32>(w, o)),
    }
}
