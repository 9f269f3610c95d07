//! SDWA and DPP: what short vector encodings do to their sources and results.
//!
//! Both stage the sources in temporary registers and run the plain operation on them, so no operation has to know about
//! them.

use super::{
    Context, Wave,
    array::array,
    lanes::Binder,
    operation::{Extended, Flow, Handler, Operation, Source, SourceKind},
    simd::LANES,
    wave::{Lanes, TEMPORARIES},
};
use ferrowave_isa::{Dpp, Extension, Sdwa, SdwaSelect, SdwaUnused};

/// Temporary registers of the staged sources and result; those below belong to [`Wave::fetch`].
const STAGED: u16 = TEMPORARIES + 16;
const STAGED_RESULT: u16 = STAGED + 8;

/// Wraps an operation; `vector_result` says whether its destination is a vector register.
pub(crate) fn extend<const C: usize>(
    b: Binder<C>,
    mut inner: Operation,
    extension: Extension,
    vector_result: bool,
    wide: bool,
) -> Operation {
    let dst = inner.dst;
    let originals = [inner.src[0], inner.src[1]];
    let handler: Handler = match extension {
        Extension::None => return inner,
        Extension::Sdwa(sdwa) => {
            for (slot, source) in inner.src.iter_mut().enumerate().take(2) {
                if source.kind != SourceKind::None {
                    *source = staged(STAGED + 2 * slot as u16);
                }
            }
            if vector_result && sdwa.dst_sel != SdwaSelect::Dword {
                inner.dst = STAGED_RESULT;
            }
            b.bind(run_sdwa::<C>)
        }
        Extension::Dpp(_) | Extension::Dpp8(_) => {
            inner.src[0] = staged(STAGED);
            b.bind(run_dpp::<C>)
        }
    };
    let mut outer = inner.clone();
    outer.run = handler;
    outer.extension = Some(Box::new(Extended {
        inner,
        extension,
        dst,
        wide,
        originals,
        second: None,
    }));
    outer
}

/// An operation whose handler runs `inner`, which is in [`Extended::inner`], and does something around it.
pub(super) fn around(inner: Operation, run: Handler) -> Operation {
    let mut outer = inner.clone();
    outer.run = run;
    outer.extension = Some(Box::new(Extended {
        extension: Extension::None,
        dst: inner.dst,
        wide: false,
        originals: [inner.src[0], inner.src[1]],
        inner,
        second: None,
    }));
    outer
}

impl Extended {
    /// Replaces the instruction's registers; `source` gets a slot and the source that is there.
    pub(super) fn replace(&mut self, source: impl Fn(usize, &mut Source), dst: impl Fn(&mut u16)) {
        for (slot, original) in self.originals.iter_mut().enumerate() {
            source(slot, original);
        }
        for (slot, staged) in self.inner.src.iter_mut().enumerate().take(3) {
            source(slot, staged);
        }
        dst(&mut self.dst);
        dst(&mut self.inner.dst);
    }
}

/// The source for a staged copy.
fn staged(register: u16) -> Source {
    Source {
        kind: SourceKind::Vector,
        register,
        value: 0,
    }
}

/// The 32-bit lanes of a source (`part` 0), or of a pair's second register.
fn lanes_of<const C: usize>(w: &Wave<C>, source: &Source, part: u16) -> Lanes {
    match source.kind {
        SourceKind::Vector => *w.lanes(source.register + part),
        _ => Lanes::splat((w.read64(source) >> (32 * part)) as u32),
    }
}

/// The selected part of a register, zero- or sign-extended.
fn selected(value: u32, select: SdwaSelect, sext: bool) -> u32 {
    let (shift, bits) = place(select);
    let left = 32 - bits - shift;
    let top = value << left;
    if sext {
        (top as i32 >> (32 - bits)) as u32
    } else {
        top >> (32 - bits)
    }
}

/// First bit and width of a selection.
fn place(select: SdwaSelect) -> (u32, u32) {
    match select {
        SdwaSelect::Byte0 => (0, 8),
        SdwaSelect::Byte1 => (8, 8),
        SdwaSelect::Byte2 => (16, 8),
        SdwaSelect::Byte3 => (24, 8),
        SdwaSelect::Word0 => (0, 16),
        SdwaSelect::Word1 => (16, 16),
        SdwaSelect::Dword => (0, 32),
    }
}

/// Puts the selected part of the result into the old register.
fn inserted(result: u32, old: u32, sdwa: &Sdwa) -> u32 {
    let (shift, bits) = place(sdwa.dst_sel);
    let field = (((1_u64 << bits) - 1) as u32) << shift;
    let placed = result << shift & field;
    match sdwa.dst_unused {
        SdwaUnused::Pad => placed,
        SdwaUnused::Preserve => old & !field | placed,
        SdwaUnused::Sext => {
            // The sign fills the bits above the part; bits below are zero.
            let extended = ((placed << (32 - bits - shift)) as i32 >> (32 - bits - shift)) as u32;
            extended & !((1_u64 << shift) - 1) as u32
        }
    }
}

fn run_sdwa<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let (Some(extended), Some(Extension::Sdwa(sdwa))) =
        (&o.extension, o.extension.as_ref().map(|e| e.extension))
    else {
        return Flow::Next;
    };
    for slot in 0..2 {
        let source = &extended.inner.src[slot];
        if source.kind == SourceKind::None {
            continue;
        }
        let mut lanes = lanes_of(w, &extended.originals[slot], 0);
        let (select, sext) = (sdwa.src_sel[slot], sdwa.sext[slot]);
        if select != SdwaSelect::Dword {
            for value in lanes.as_mut_array() {
                *value = selected(*value, select, sext);
            }
        }
        *w.lanes_mut(source.register) = lanes;
    }
    if extended.inner.dst == STAGED_RESULT {
        *w.lanes_mut(STAGED_RESULT) = *w.lanes(extended.dst);
    }
    // SAFETY: bound for the same level as this function.
    let flow = unsafe { (extended.inner.run)(w.any(), c, &extended.inner) };
    if extended.inner.dst == STAGED_RESULT {
        let result = *w.lanes(STAGED_RESULT);
        let mut merged = *w.lanes(extended.dst);
        for (value, result) in merged.as_mut_array().iter_mut().zip(result.as_array()) {
            *value = inserted(*result, *value, &sdwa);
        }
        w.commit(extended.dst, *merged.chunks());
    }
    flow
}

/// The lane that a DPP control reads for `lane` of a wave of `lanes`, if there is one.
pub(crate) fn dpp_source(control: u16, lane: usize, lanes: usize) -> Option<usize> {
    let (row, column) = (lane & !15, lane & 15);
    let amount = usize::from(control & 15);
    match control {
        0..=0xff => Some(lane & !3 | usize::from(control) >> (2 * (lane & 3)) & 3),
        0x101..=0x10f => (column + amount < 16).then(|| lane + amount),
        0x111..=0x11f => column.checked_sub(amount).map(|from| row + from),
        0x121..=0x12f => Some(row + (column + 16 - amount) % 16),
        0x130 => (lane + 1 < lanes).then_some(lane + 1),
        0x134 => Some((lane + 1) % lanes),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + lanes - 1) % lanes),
        0x140 => Some(row + 15 - column),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        // Lanes to which no other lane is broadcast read themselves: rocWMMA's `dpp_wfall_bcast` tests expect it,
        // whatever `bound_ctrl` says.
        0x142 => Some(row.checked_sub(1).unwrap_or(lane)),
        0x143 => Some(if lane < 32 { lane } else { 31 }),
        0x150..=0x15f => Some(row + amount),
        0x160..=0x16f => Some(row + (column ^ amount)),
        _ => None,
    }
}

fn run_dpp<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let Some(extended) = &o.extension else {
        return Flow::Next;
    };
    let exec = w.active();
    // The lane that each lane reads, and the lanes that are written.
    let (sources, written): (_, u64) = match extended.extension {
        Extension::Dpp(dpp) => (
            array::<_, LANES>(|lane| readable(&dpp, exec, lane, 16 * C)),
            written(&dpp, exec, 16 * C),
        ),
        Extension::Dpp8(dpp) => {
            let source = |lane: usize| {
                let other = lane & !7 | dpp.lanes as usize >> (3 * (lane & 7)) & 7;
                (dpp.fetch_inactive || exec >> other & 1 == 1).then_some(other)
            };
            (array(source), exec)
        }
        _ => return Flow::Next,
    };
    let source = extended.inner.src[0];
    for part in 0..if extended.wide { 2 } else { 1 } {
        let from = lanes_of(w, &extended.originals[0], part);
        let mut moved = Lanes::splat(0);
        for (value, source) in moved.as_mut_array().iter_mut().zip(&sources[..16 * C]) {
            if let Some(other) = source {
                *value = from.as_array()[*other];
            }
        }
        *w.lanes_mut(source.register + part) = moved;
    }
    w.set_active(written);
    // SAFETY: bound for the same level as this function.
    let flow = unsafe { (extended.inner.run)(w.any(), c, &extended.inner) };
    w.set_active(exec);
    flow
}

/// The lane to read, if it exists and is active.
fn readable(dpp: &Dpp, exec: u64, lane: usize, lanes: usize) -> Option<usize> {
    dpp_source(dpp.control, lane, lanes)
        .filter(|other| dpp.fetch_inactive || exec >> other & 1 == 1)
}

/// The lanes that are written: those in the row and bank masks, and of these only lanes with a source, unless
/// `bound_ctrl` makes the source 0.
fn written(dpp: &Dpp, exec: u64, lanes: usize) -> u64 {
    let allowed = |lane: usize| {
        dpp.row_mask >> (lane / 16) & 1 == 1
            && dpp.bank_mask >> (lane / 4 % 4) & 1 == 1
            && (dpp.bound_ctrl || readable(dpp, exec, lane, lanes).is_some())
    };
    (0..lanes)
        .filter(|&lane| allowed(lane))
        .fold(0, |mask, lane| mask | 1 << lane)
        & exec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_selected_and_inserted() {
        assert_eq!(selected(0x8070_6050, SdwaSelect::Byte3, false), 0x80);
        assert_eq!(selected(0x8070_6050, SdwaSelect::Byte3, true), 0xffff_ff80);
        assert_eq!(selected(0x8070_6050, SdwaSelect::Word0, true), 0x6050);
        let sdwa = |dst_sel, dst_unused| Sdwa {
            dst_sel,
            dst_unused,
            ..Sdwa::default()
        };
        let old = 0x1122_3344;
        assert_eq!(
            inserted(0xabcd, old, &sdwa(SdwaSelect::Byte1, SdwaUnused::Preserve)),
            0x1122_cd44
        );
        assert_eq!(
            inserted(0xabcd, old, &sdwa(SdwaSelect::Byte1, SdwaUnused::Pad)),
            0xcd00
        );
        assert_eq!(
            inserted(0xabcd, old, &sdwa(SdwaSelect::Byte1, SdwaUnused::Sext)),
            0xffff_cd00
        );
        assert_eq!(
            inserted(0xabcd, old, &sdwa(SdwaSelect::Word1, SdwaUnused::Sext)),
            0xabcd_0000
        );
    }

    #[test]
    fn dpp_controls() {
        let quad = 0b00_01_10_11;
        assert_eq!(dpp_source(quad, 4, 64), Some(7));
        assert_eq!(dpp_source(0x101, 14, 64), Some(15));
        assert_eq!(dpp_source(0x101, 15, 64), None);
        assert_eq!(dpp_source(0x112, 17, 64), None);
        assert_eq!(dpp_source(0x112, 18, 64), Some(16));
        assert_eq!(dpp_source(0x121, 16, 64), Some(31));
        assert_eq!(dpp_source(0x13c, 0, 64), Some(63));
        assert_eq!(dpp_source(0x140, 16, 64), Some(31));
        assert_eq!(dpp_source(0x141, 9, 64), Some(14));
        assert_eq!(dpp_source(0x142, 3, 64), Some(3));
        assert_eq!(dpp_source(0x142, 20, 64), Some(15));
        assert_eq!(dpp_source(0x143, 40, 64), Some(31));
        assert_eq!(dpp_source(0x153, 40, 64), Some(35));
        assert_eq!(dpp_source(0x165, 18, 32), Some(23));
    }
}
