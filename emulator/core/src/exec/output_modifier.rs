//! Output modifiers of the long encodings and SDWA on float results: the output multiplier, then the clamp to [0, 1].
//!
//! CDNA4 ISA guide, «Instruction Outputs» (6.2.2): the multiplier is ignored if denormal results are kept or IEEE mode
//! is on. Where it applies, denormals become 0 and −0 becomes +0. Integers and pairs of 16-bit results have neither.
//! The plain operation runs first, so it need not know about modifiers; packed operations clamp on their own.

use rustc_apfloat::ieee::{Double, Half, Single};

use super::{
    Context, Wave,
    array::Mapped,
    float::{Format, modify_result},
    lanes::Binder,
    operation::{Flow, Operation},
    sdwa_dpp,
};
use ferrowave_isa::{DataType, Format as Encoding, Instruction, Source};

/// Wraps an operation if its instruction modifies the result.
pub(crate) fn extend<const C: usize>(
    b: Binder<C>,
    i: &Instruction,
    operation: Operation,
) -> Operation {
    let long = matches!(
        i.format,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 | Encoding::Vop3b
    );
    // Scalar results are modified by their operations.
    let vector = matches!(i.dst.source, Source::Vgpr(_) | Source::Agpr(_));
    if !long || !vector || (operation.omod == 0 && !operation.clamp) {
        return operation;
    }
    let run = match (i.dst.ty, i.dst.bits) {
        (DataType::F, 16) => b.bind(|w, c, o| run(w, c, o, halves)),
        (DataType::F, 32) => b.bind(|w, c, o| run(w, c, o, |w, o| singles(w, o, 1))),
        (DataType::F, 64) => b.bind(|w, c, o| run(w, c, o, doubles)),
        (DataType::PackedF32, _) => b.bind(|w, c, o| run(w, c, o, |w, o| singles(w, o, 2))),
        _ => return operation,
    };
    let (omod, clamp) = (operation.omod, operation.clamp);
    let plain = Operation {
        omod: 0,
        clamp: false,
        ..operation
    };
    Operation {
        omod,
        clamp,
        ..sdwa_dpp::around(plain, run)
    }
}

fn run<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    modify: impl FnOnce(&mut Wave<C>, &Operation),
) -> Flow {
    let Some(extended) = o.extension.as_deref() else {
        return Flow::Next;
    };
    // The registers of `o`: SDWA, DPP and register indexing replace them, but not those of `inner`.
    let plain = Operation {
        src: o.src,
        dst: o.dst,
        ..extended.inner.clone()
    };
    // SAFETY: bound for the same level as this function.
    let flow = unsafe { (plain.run)(w.any(), c, &plain) };
    if flow == Flow::Next {
        modify(w, o);
    }
    flow
}

/// f16, in the half that `op_sel` names.
fn halves<const C: usize>(w: &mut Wave<C>, o: &Operation) {
    let (settings, shift) = (
        Half::settings(w.mode),
        if o.op_sel & 8 == 0 { 0 } else { 16 },
    );
    each(w, o.dst, |value| {
        let half = modify_result::<Half>(
            u64::from(value >> shift & 0xffff),
            o.omod,
            o.clamp,
            settings,
        );
        value & !(0xffff << shift) | (half as u32) << shift
    });
}

/// f32, in `count` registers.
fn singles<const C: usize>(w: &mut Wave<C>, o: &Operation, count: u16) {
    let settings = Single::settings(w.mode);
    for register in o.dst..o.dst + count {
        each(w, register, |value| {
            modify_result::<Single>(u64::from(value), o.omod, o.clamp, settings) as u32
        });
    }
}

fn doubles<const C: usize>(w: &mut Wave<C>, o: &Operation) {
    let (settings, exec) = (Double::settings(w.mode), w.active());
    for lane in (0..16 * C).filter(|lane| exec >> lane & 1 == 1) {
        let [low, high] = [o.dst, o.dst + 1].mapped(|r| u64::from(w.lanes(r).as_array()[lane]));
        let value = modify_result::<Double>(low | high << 32, o.omod, o.clamp, settings);
        w.lanes_mut(o.dst).as_mut_array()[lane] = value as u32;
        w.lanes_mut(o.dst + 1).as_mut_array()[lane] = (value >> 32) as u32;
    }
}

/// Runs `f` on the active lanes of a register.
fn each<const C: usize>(w: &mut Wave<C>, register: u16, f: impl Fn(u32) -> u32) {
    let exec = w.active();
    let lanes = w.lanes_mut(register).as_mut_array();
    for (lane, value) in lanes.iter_mut().enumerate() {
        if exec >> lane & 1 == 1 {
            *value = f(*value);
        }
    }
}
