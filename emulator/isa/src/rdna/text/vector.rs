//! Prints VOP1, VOP2, VOPC, VOP3, VOP3P and VOPD.

use std::fmt;

use crate::instruction::{Dpp, Extension, Format, Instruction};
use crate::operand::{Operand, Source};
use crate::ops::Op;
use crate::row::{Class, Encoding, Row, flag};
use crate::writer::Writer;

/// The bit of `op_sel` that belongs to the result.
const RESULT: u8 = 8;
/// `op_sel` bits that only lane permutations have. They correspond to DPP's bits of the same names.
const LANE_PERMUTATION_BITS: u8 = 0b11;

/// Writes the operands of VOP1, VOP2, VOPC, VOP3.
pub(super) fn vector(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    if i.dst.source != Source::None {
        w.separate()?;
        bare(w, i, &i.dst, RESULT)?;
    }
    w.operand(&i.sdst)?;
    for n in 0..3 {
        source(w, i, n)?;
    }
    if matches!(i.format, Format::Vop3 | Format::Vop3b) {
        op_sel(w, i)?;
        w.clamp_and_omod(i)?;
    }
    extension(w, i)
}

/// Writes an operand; `bit` is the one of `op_sel` that belongs to it.
fn bare(w: &mut Writer<'_, '_>, i: &Instruction, operand: &Operand, bit: u8) -> fmt::Result {
    w.bare(operand)?;
    let half = matches!(operand.source, Source::Vgpr(_)) && operand.bits == 16;
    match half && !w.row.has(flag::MIX) {
        true if i.modifiers.op_sel & bit != 0 => w.f.write_str(".h"),
        true => w.f.write_str(".l"),
        false => Ok(()),
    }
}

/// Writes a source with its modifiers.
fn source(w: &mut Writer<'_, '_>, i: &Instruction, n: usize) -> fmt::Result {
    let operand = &i.src[n];
    if operand.source == Source::None {
        return Ok(());
    }
    w.separate()?;
    if let Source::Literal(value) = operand.source
        && n > 0
        && usize::from(w.row.k) == n
    {
        return write!(w.f, "{value:#x}");
    }
    let (open, close) = w.modifiers(i, n);
    w.f.write_str(open)?;
    bare(w, i, operand, 1 << n)?;
    w.f.write_str(close)
}

/// Writes the selected halves of 16-bit operands: the sources, then the destination.
fn op_sel(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    let (op_sel, row) = (i.modifiers.op_sel, w.row);
    if row.has(flag::QUIET) {
        let byte = match row.op {
            // The bits are reversed.
            Op::v_cvt_f32_fp8 | Op::v_cvt_f32_bf8 => op_sel >> 1 & 1 | (op_sel & 1) << 1,
            Op::v_cvt_sr_fp8_f32 | Op::v_cvt_sr_bf8_f32 => op_sel >> 2,
            _ => 0,
        };
        return w.number_unless_0("byte_sel", byte);
    }
    if op_sel == 0 {
        return Ok(());
    }
    if row.sel == LANE_PERMUTATION_BITS && row.src[0].bits == 32 && row.src[1].bits == 32 {
        return w.bits("op_sel", op_sel, 0b11);
    }
    let sources = row.sources() + usize::from(row.has(flag::ACCUMULATES));
    // LLVM leaves out the result of extended compares and of those that only write `exec`.
    let compare = row.encoding == Encoding::Vopc;
    let left_out = compare && (i.extension != Extension::None || !row.dst.exists());
    let result = if left_out { 0 } else { RESULT };
    w.bits("op_sel", op_sel, ((1 << sources) - 1) as u8 | result)
}

fn extension(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    match i.extension {
        Extension::Dpp(dpp) => dpp16(w, &dpp),
        Extension::Dpp8(dpp) => {
            let lane = |n: u32| dpp.lanes >> (3 * n) & 7;
            w.f.write_str(" dpp8:[")?;
            for n in 0..8 {
                let comma = if n == 0 { "" } else { "," };
                write!(w.f, "{comma}{}", lane(n))?;
            }
            w.f.write_str("]")?;
            w.word_if(dpp.fetch_inactive, "fi:1")
        }
        _ => Ok(()),
    }
}

fn dpp16(w: &mut Writer<'_, '_>, dpp: &Dpp) -> fmt::Result {
    let control = dpp.control;
    let lanes = control & 0xf;
    match control {
        0..=0xff => {
            let lane = |n: u16| control >> (2 * n) & 3;
            let (a, b, c, d) = (lane(0), lane(1), lane(2), lane(3));
            write!(w.f, " quad_perm:[{a},{b},{c},{d}]")?;
        }
        0x100..=0x10f => write!(w.f, " row_shl:{lanes}")?,
        0x110..=0x11f => write!(w.f, " row_shr:{lanes}")?,
        0x120..=0x12f => write!(w.f, " row_ror:{lanes}")?,
        0x140 => w.f.write_str(" row_mirror")?,
        0x141 => w.f.write_str(" row_half_mirror")?,
        0x150..=0x15f => write!(w.f, " row_share:{lanes}")?,
        _ => write!(w.f, " row_xmask:{lanes}")?,
    }
    let (row_mask, bank_mask) = (dpp.row_mask, dpp.bank_mask);
    write!(w.f, " row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}")?;
    w.word_if(dpp.bound_ctrl, "bound_ctrl:1")?;
    w.word_if(dpp.fetch_inactive, "fi:1")
}

pub(super) fn packed(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    w.operand(&i.dst)?;
    let (m, mix) = (&i.modifiers, w.row.has(flag::MIX));
    if mix {
        for n in 0..3 {
            source(w, i, n)?;
        }
    } else {
        for source in &i.src {
            w.operand(source)?;
        }
    }
    let all = (1 << w.row.sources()) - 1;
    let strict = w.row.has(flag::STRICT);
    if strict {
        w.number_unless_0("index_key", m.op_sel)?;
    } else if m.op_sel != 0 {
        w.bits("op_sel", m.op_sel, all)?;
    }
    let default = if mix { 0 } else { all };
    if m.op_sel_hi != default && !w.row.has(flag::NO_SEL) && !strict {
        w.bits("op_sel_hi", m.op_sel_hi, all)?;
    }
    if !mix {
        // LLVM's name for products of signed numbers implies it.
        let implied = w.row.has(flag::DOT) && w.row.has(flag::NO_SEL) && m.neg == 0b11;
        if m.neg != 0 && !(implied && w.row.llvm_name.contains("_iu")) {
            w.bits("neg_lo", m.neg, all)?;
        }
        if m.neg_hi != 0 {
            w.bits("neg_hi", m.neg_hi, all)?;
        }
    }
    w.word_if(m.clamp, "clamp")?;
    extension(w, i)
}

/// Writes both instructions of a pair.
pub(super) fn pair(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    let [a, b, c, _] = i.src;
    half(w, i.row.0, &i.dst, &[a, b, c])?;
    let Some(second) = i.second else {
        return Ok(());
    };
    write!(w.f, " :: {}", second.row.llvm_name)?;
    w.begin_operands(second.row.0);
    half(w, second.row.0, &second.dst, &second.src)
}

fn half(w: &mut Writer<'_, '_>, row: &Row, dst: &Operand, src: &[Operand; 3]) -> fmt::Result {
    w.operand(dst)?;
    for (n, operand) in src.iter().enumerate() {
        match operand.source {
            Source::Literal(value) if n > 0 && usize::from(row.k) == n => {
                w.separate()?;
                write!(w.f, "{value:#x}")?;
            }
            // The condition of `v_dual_cndmask_b32` is always `vcc`.
            _ if row.src[n].class == Class::Mask => {}
            _ => w.operand(operand)?,
        }
    }
    Ok(())
}
