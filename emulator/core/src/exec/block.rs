//! Block loads and stores (RDNA 4): up to 32 dwords of each lane, to or from consecutive registers. `m0` has a bit for each
//! dword: those without are left out, in memory and in registers. Compilers spill registers with them (LLVM's feature
//! `block-vgpr-csr`).

use ferrowave_isa::run::{BlockGlobal, BlockScratch};

use super::{
    Context, Wave, global,
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    scratch,
    simd::{D, U},
    transfer::Data,
    wave::M0,
};

/// Each dword moves on its own, so that only memory that moves must be there.
const DWORD: Data = Data::Dwords(1);

/// The numbers of the dwords that move.
fn selected<const C: usize>(w: &Wave<C>) -> impl Iterator<Item = u16> + use<C> {
    let mask = w.scalar(M0);
    (0..32).filter(move |dword| mask >> dword & 1 == 1)
}

/// The handler of a global one of these operations.
pub(super) fn global<const C: usize>(b: Binder<C>, op: BlockGlobal) -> Handler {
    match op {
        BlockGlobal::global_load_block => b.bind(|w, c, o| in_global(w, c, o, false)),
        BlockGlobal::global_store_block => b.bind(|w, c, o| in_global(w, c, o, true)),
    }
}

/// The handler of one of these operations in private memory.
pub(super) fn scratch<const C: usize>(b: Binder<C>, op: BlockScratch) -> Handler {
    match op {
        BlockScratch::scratch_load_block => b.bind(|w, c, o| in_scratch(w, c, o, false)),
        BlockScratch::scratch_store_block => b.bind(|w, c, o| in_scratch(w, c, o, true)),
    }
}

fn in_global<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    write: bool,
) -> Flow {
    // Computed before the first register is written, which may be an address.
    let first = global::addresses(w, o);
    for dword in selected(w) {
        let addresses = chunks(|c| first[c] + D::splat(4 * u64::from(dword)));
        let flow = global::visit_at(w, c, o, addresses, 4, write, |w, access| match write {
            true => access.store(w, o.src[1].register + dword, DWORD),
            false => access.load(w, o.dst + dword, DWORD),
        });
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}

fn in_scratch<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    write: bool,
) -> Flow {
    // As above.
    let first = scratch::offsets(w, o);
    // The operation on one register.
    let mut one = o.clone();
    for dword in selected(w) {
        let offsets = chunks(|c| first[c] + U::splat(4 * u32::from(dword)));
        one.dst = o.dst + dword;
        one.src[1].register = o.src[1].register + dword;
        let flow = scratch::visit_at(w, c, offsets, 4, |w, c, private| match write {
            true => private.store(w, c, &one, DWORD),
            false => private.load(w, c, &one, DWORD),
        });
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}
