//! Modes that change how instructions run: VGPR indexing by `m0` (`s_set_gpr_idx_on`), and skipped vector instructions
//! (`s_setvskip`).
//!
//! A wave in such a mode runs in its own loop ([`super::run`]), so other waves pay nothing for it.
//!
//! CDNA4 ISA guide, «VGPR Indexing» (6.6): `m0[7:0]` is added to the numbers of the registers that `m0[15:12]` selects:
//! sources 0, 1, 2, destination. What an instruction reads of its destination moves with it, such as the accumulator of
//! `v_mac` or the bits that SDWA preserves. A source past the last register is `v0`; a destination past it is not
//! written («Out-of-Range GPRs», 6.2.3).

use super::{
    Context, Wave,
    operation::{self, Flow, Operation, SourceKind},
    wave::{ACCUMULATORS, M0, TEMPORARIES},
};
use ferrowave_isa::{Format, Instruction, Source};

/// A temporary register for results that are not written.
const NOWHERE: u16 = TEMPORARIES + 44;

/// Whether the wave is in none of these modes.
#[inline(always)]
pub(super) fn is_plain(w: &Wave) -> bool {
    !w.mode.indexes_registers() && !w.skips_vector
}

/// Runs one instruction in the wave's mode.
pub(super) fn run(w: &mut Wave, c: &mut Context<'_>, index: u32, operation: &Operation) -> Flow {
    let code = c.code;
    let instruction = code.instruction(index);
    if w.skips_vector && instruction.is_some_and(Instruction::is_vector) {
        return Flow::Next;
    }
    let indexed = instruction.filter(|i| w.mode.indexes_registers() && is_arithmetic(i.format));
    let Some(instruction) = indexed else {
        // SAFETY: `Code` was compiled for a level that this computer has.
        return unsafe { (operation.run)(w, c, operation) };
    };
    let moved = moved(w, instruction, operation);
    // SAFETY: as above.
    unsafe { (moved.run)(w, c, &moved) }
}

/// Whether the registers of a format's instructions are indexed.
fn is_arithmetic(format: Format) -> bool {
    matches!(
        format,
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3b | Format::Vop3p
    )
}

/// The operation with the index added to its registers.
fn moved(w: &Wave, instruction: &Instruction, operation: &Operation) -> Operation {
    const DESTINATION: usize = 3;
    let m0 = w.scalar(M0);
    let index = (m0 & 0xff) as u16;
    let selected = |operand: usize| m0 >> (12 + operand) & 1 == 1;
    let place = |register: u16| {
        let place = register + index;
        (place < ACCUMULATORS).then_some(place)
    };
    let move_source = |slot: usize, source: &mut operation::Source| {
        let is_register = source.kind == SourceKind::Vector && source.register < ACCUMULATORS;
        // The accumulator of `v_mac` is the destination, not an operand of its own.
        let own = !matches!(instruction.src[slot].source, Source::None);
        if is_register && selected(if own { slot } else { DESTINATION }) {
            source.register = place(source.register).unwrap_or(0);
        }
    };
    let moves_result = matches!(instruction.dst.source, Source::Vgpr(_)) && selected(DESTINATION);
    let move_result = |register: &mut u16| {
        if moves_result && *register < ACCUMULATORS {
            *register = place(*register).unwrap_or(NOWHERE);
        }
    };
    let mut moved = operation.clone();
    for (slot, source) in moved.src.iter_mut().enumerate().take(3) {
        move_source(slot, source);
    }
    move_result(&mut moved.dst);
    if let Some(extended) = &mut moved.extension {
        extended.replace(move_source, move_result);
    }
    moved
}
