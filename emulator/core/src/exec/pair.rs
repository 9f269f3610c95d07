//! Pairs of vector instructions (RDNA's VOPD): both read their sources before either writes its result.

use super::{
    Context, Wave,
    lanes::Binder,
    operation::{Flow, Operation, SourceKind},
    sdwa_dpp,
    wave::TEMPORARIES,
};
#[cfg(target_arch = "x86_64")]
use ferrowave_isa::Instruction;

/// The temporary register of the first result, where the second instruction reads the register that it goes to.
pub(super) const FIRST_RESULT: u16 = TEMPORARIES + 48;

/// The operation that runs both.
pub(super) fn of<const C: usize>(
    b: Binder<C>,
    mut first: Operation,
    second: Operation,
) -> Operation {
    let dst = first.dst;
    let reads = |source: &super::operation::Source| {
        source.kind == SourceKind::Vector && source.register == dst
    };
    if second.src.iter().any(reads) {
        first.dst = FIRST_RESULT;
    }
    let mut outer = sdwa_dpp::around(first, b.bind(run::<C>));
    outer.dst = dst;
    if let Some(extended) = &mut outer.extension {
        extended.second = Some(second);
    }
    outer
}

/// The instructions of a pair, with their operations. The JIT compiles each.
#[cfg(target_arch = "x86_64")]
pub(super) fn halves<'a>(
    instruction: &Instruction,
    operation: &'a Operation,
) -> Option<[(Instruction, &'a Operation); 2]> {
    let [first, second] = instruction.halves()?;
    let extended = operation.extension.as_deref()?;
    Some([
        (first, &extended.inner),
        (second, extended.second.as_ref()?),
    ])
}

fn run<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let Some((first, second)) = o
        .extension
        .as_ref()
        .and_then(|extended| Some((&extended.inner, extended.second.as_ref()?)))
    else {
        return Flow::Next;
    };
    // SAFETY: both are bound for the same level as this function.
    unsafe {
        (first.run)(w.any(), c, first);
        (second.run)(w.any(), c, second);
    }
    if first.dst == FIRST_RESULT {
        let result = *w.lanes(FIRST_RESULT);
        w.commit(o.dst, *result.chunks());
    }
    Flow::Next
}
