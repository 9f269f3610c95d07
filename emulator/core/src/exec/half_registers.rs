//! 16-bit operands in halves of registers (RDNA), for operations that read the low halves of their sources and write
//! whole registers: sources are staged in temporary registers, and the result is put into its half.
//!
//! Operations that select halves themselves (`half.rs`) and those on packed pairs need none of this.

use std::simd::Simd;

use super::{
    Context, Wave,
    array::Mapped,
    lanes::{Binder, chunks},
    operation::{Flow, Operation, Source, SourceKind},
    sdwa_dpp,
    simd::U,
    wave::TEMPORARIES,
};
use ferrowave_isa::{self as isa, Format, Instruction, Op, run::Run};

/// Temporary registers of the sources and the result.
const STAGED: u16 = TEMPORARIES + 52;
const STAGED_RESULT: u16 = STAGED + 3;
/// The bit of `op_sel` that belongs to the result.
const RESULT: u8 = 8;

/// Wraps an operation if its instruction has 16-bit registers that the operation does not know.
pub(super) fn extend<const C: usize>(
    b: Binder<C>,
    i: &Instruction,
    operation: Operation,
) -> Operation {
    let knows = matches!(
        i.run(),
        Run::HalfArithmetic(_) | Run::HalfIntegers(_) | Run::Mixed(_)
    );
    if knows || i.format == Format::Vop3p || i.op == Op::v_swap_b16 {
        return operation;
    }
    let is_half = |operand: &isa::Operand| {
        operand.bits == 16 && matches!(operand.source, isa::Source::Vgpr(_))
    };
    // `abs` and `neg` of a select belong to 16 bits here, and to 32 in the operation.
    let selects = i.op == Op::v_cndmask_b32 && i.dst.bits == 16;
    let (op_sel, modified) = (i.modifiers.op_sel, i.modifiers.abs | i.modifiers.neg);
    let mut halves = 0;
    for (n, operand) in i.src.iter().enumerate().take(3) {
        if is_half(operand) && (op_sel >> n & 1 != 0 || selects && modified >> n & 1 != 0) {
            halves |= 1 << n;
        }
    }
    if is_half(&i.dst) {
        halves |= RESULT;
    }
    if halves == 0 {
        return operation;
    }
    let (src, dst) = (operation.src, operation.dst);
    let (abs, neg) = match selects {
        true => (operation.abs, operation.neg),
        false => (0, 0),
    };
    let mut plain = operation;
    plain.op_sel &= !halves;
    plain.abs &= !abs;
    plain.neg &= !neg;
    // The operation writes a whole register.
    plain.control[0] = 0;
    for n in (0..3_u16).filter(|n| halves >> n & 1 != 0) {
        plain.src[usize::from(n)] = Source {
            kind: SourceKind::Vector,
            register: STAGED + n,
            value: 0,
        };
    }
    if halves & RESULT != 0 {
        plain.dst = STAGED_RESULT;
    }
    Operation {
        src,
        dst,
        abs,
        neg,
        op_sel,
        detail: halves,
        ..sdwa_dpp::around(plain, b.bind(run::<C>))
    }
}

fn run<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let Some(extended) = o.extension.as_deref() else {
        return Flow::Next;
    };
    let (plain, halves) = (&extended.inner, o.detail);
    for n in (0..3_u16).filter(|n| halves >> n & 1 != 0) {
        let source = &o.src[usize::from(n)];
        let bit = |mask: u8| u32::from(mask >> n & 1);
        let shift = U::splat(16 * bit(o.op_sel));
        let (and, xor) = (!(bit(o.abs) << 15), bit(o.neg) << 15);
        let from: [U; C] = *w.lanes(source.register).chunks();
        *w.lanes_mut(STAGED + n).chunks_mut() =
            from.mapped(|bits| (bits >> shift & U::splat(and)) ^ Simd::splat(xor));
    }
    // SAFETY: bound for the same level as this function.
    let flow = unsafe { (plain.run)(w.any(), c, plain) };
    if halves & RESULT != 0 {
        let result: [U; C] = *w.lanes(STAGED_RESULT).chunks();
        let old: [U; C] = *w.lanes(o.dst).chunks();
        let (shift, kept) = match o.op_sel & RESULT {
            0 => (0, 0xffff_0000),
            _ => (16, 0xffff),
        };
        let placed =
            chunks(|c| old[c] & U::splat(kept) | (result[c] << U::splat(shift)) & U::splat(!kept));
        w.commit(o.dst, placed);
    }
    flow
}
