//! Vector moves between registers whose numbers `m0` changes (RDNA's `v_movrel` and `v_swaprel`).
//!
//! RDNA 3 ISA guide, «VGPR Out of Range Behavior» (3.3.2.2): with a result past the last register, the instruction does
//! nothing; a source past it is `v0`; a swap does nothing if either is.

use super::{
    Context, Wave,
    lanes::Binder,
    operation::{Flow, Operation, Source, SourceKind},
    sdwa_dpp,
    wave::{ACCUMULATORS, M0},
};
use ferrowave_isa::{Instruction, Relative};

/// Wraps an operation if `m0` changes the numbers of its vector registers.
pub(super) fn extend<const C: usize>(
    b: Binder<C>,
    i: &Instruction,
    operation: Operation,
) -> Operation {
    if !i.is_vector() {
        return operation;
    }
    let run = match i.relative() {
        None => return operation,
        Some(Relative::Source) => b.bind(|w, c, o| moved(w, c, o, Relative::Source)),
        Some(Relative::Result) => b.bind(|w, c, o| moved(w, c, o, Relative::Result)),
        Some(Relative::Both) => b.bind(|w, c, o| moved(w, c, o, Relative::Both)),
        Some(Relative::Each) => b.bind(|w, c, o| moved(w, c, o, Relative::Each)),
        Some(Relative::Swap) => b.bind(|w, c, o| moved(w, c, o, Relative::Swap)),
    };
    sdwa_dpp::around(operation, run)
}

/// Runs the operation inside with other registers.
fn moved<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    relative: Relative,
) -> Flow {
    let Some(extended) = o.extension.as_deref() else {
        return Flow::Next;
    };
    let [source, result] = relative.distances(w.scalar(M0));
    let place = |register: u16, index: u32| {
        let place = u64::from(register) + u64::from(index);
        (place < u64::from(ACCUMULATORS)).then_some(place as u16)
    };
    let Some(dst) = place(o.dst, result) else {
        return Flow::Next;
    };
    if relative == Relative::Swap && place(o.src[0].register, source).is_none() {
        return Flow::Next;
    }
    let mut inner = extended.inner.clone();
    let replaced = |slot: usize, register: &mut Source| {
        let is_vector = register.kind == SourceKind::Vector && register.register < ACCUMULATORS;
        if slot == 0 && is_vector {
            register.register = place(register.register, source).unwrap_or(0);
        }
    };
    replaced(0, &mut inner.src[0]);
    inner.dst = dst;
    if let Some(extended) = &mut inner.extension {
        extended.replace(replaced, |register| *register = dst);
    }
    // SAFETY: bound for the same level as this function.
    unsafe { (inner.run)(w.any(), c, &inner) }
}
