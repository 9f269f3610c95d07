//! Classifies instructions: how they take part in a region, and what their lanes compute.

use super::ir::{Operator, Relation};
use crate::exec::{
    operation::{Operation, Source, SourceKind},
    pair,
    wave::EXEC,
};
use ferrowave_isa::{Extension, Format, Instruction, Op};

/// How an instruction takes part in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It computes lanes from lanes, or loads them from LDS.
    Lanes,
    /// It loads lanes from global memory.
    Load,
    /// A scalar instruction: runs after the region, if nothing in the region needs its result.
    Scalar,
    /// It waits for memory. Waits take no time here, but no load moves across one.
    Wait,
    /// It has no effect without an observer.
    Nothing,
}

/// How an instruction takes part in a region; `None` if it cannot.
pub(super) fn part(instruction: &Instruction, operation: &Operation) -> Option<Part> {
    match instruction.op {
        // RDNA's wait for stores is an SOPK instruction.
        Op::s_waitcnt => return Some(Part::Wait),
        Op::s_nop | Op::s_setprio => return Some(Part::Nothing),
        _ => {}
    }
    match instruction.format {
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => {
            is_plain_scalar(instruction.op, operation).then_some(Part::Scalar)
        }
        Format::Ds => lds_loads(instruction, operation).map(|_| Part::Lanes),
        Format::Global => global_load(instruction, operation).map(|_| Part::Load),
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3b
        | Format::Vop3p
        | Format::Mai => is_lanewise(instruction, operation).then_some(Part::Lanes),
        Format::Vopd => {
            let halves = pair::halves(instruction, operation)?;
            halves
                .iter()
                .all(|(instruction, operation)| is_lanewise(instruction, operation))
                .then_some(Part::Lanes)
        }
        _ => None,
    }
}

/// Scalar arithmetic that reads and writes only scalar registers and SCC.
fn is_plain_scalar(op: Op, o: &Operation) -> bool {
    let known = matches!(
        op,
        Op::s_mov_b32
            | Op::s_mov_b64
            | Op::s_movk_i32
            | Op::s_not_b32
            | Op::s_not_b64
            | Op::s_add_i32
            | Op::s_add_u32
            | Op::s_addc_u32
            | Op::s_addk_i32
            | Op::s_sub_i32
            | Op::s_sub_u32
            | Op::s_subb_u32
            | Op::s_mul_i32
            | Op::s_mul_hi_u32
            | Op::s_lshl_b32
            | Op::s_lshl_b64
            | Op::s_lshr_b32
            | Op::s_lshr_b64
            | Op::s_ashr_i32
            | Op::s_ashr_i64
            | Op::s_and_b32
            | Op::s_and_b64
            | Op::s_or_b32
            | Op::s_or_b64
            | Op::s_xor_b32
            | Op::s_xor_b64
            | Op::s_min_i32
            | Op::s_min_u32
            | Op::s_max_i32
            | Op::s_max_u32
            | Op::s_cselect_b32
            | Op::s_cselect_b64
            | Op::s_cmp_eq_u32
            | Op::s_cmp_lg_u32
            | Op::s_cmp_gt_u32
            | Op::s_cmp_ge_u32
            | Op::s_cmp_lt_u32
            | Op::s_cmp_le_u32
            | Op::s_cmp_eq_i32
            | Op::s_cmp_lg_i32
            | Op::s_cmp_gt_i32
            | Op::s_cmp_ge_i32
            | Op::s_cmp_lt_i32
            | Op::s_cmp_le_i32
            | Op::s_cmp_eq_u64
            | Op::s_cmp_lg_u64
    );
    let ordinary = |source: &Source| match source.kind {
        SourceKind::Scalar => !touches_exec(source.register),
        SourceKind::Status | SourceKind::Vector => false,
        SourceKind::None | SourceKind::Constant => true,
    };
    known && o.src.iter().all(ordinary) && !touches_exec(o.dst)
}

/// Whether a register or the one after it is part of EXEC.
fn touches_exec(register: u16) -> bool {
    (EXEC - 1..=EXEC + 1).contains(&register)
}

/// For a load from LDS: dwords per access, and the offsets. `None` for other instructions.
pub(super) fn lds_loads(i: &Instruction, o: &Operation) -> Option<(u8, Vec<u32>)> {
    if i.memory.gds || o.src[0].kind != SourceKind::Vector {
        return None;
    }
    let single = vec![o.imm as u32];
    let pair = |scale: u32| {
        [o.imm as u32 & 0xff, o.imm as u32 >> 8 & 0xff]
            .map(|offset| offset * scale)
            .to_vec()
    };
    Some(match i.op {
        Op::ds_read_b32 => (1, single),
        Op::ds_read_b64 => (2, single),
        Op::ds_read_b96 => (3, single),
        Op::ds_read_b128 => (4, single),
        Op::ds_read2_b32 => (1, pair(4)),
        Op::ds_read2_b64 => (2, pair(8)),
        Op::ds_read2st64_b32 => (1, pair(256)),
        Op::ds_read2st64_b64 => (2, pair(512)),
        _ => return None,
    })
}

/// For a load from global memory: its dwords. `None` for other instructions.
pub(super) fn global_load(i: &Instruction, o: &Operation) -> Option<u8> {
    let base = &o.src[2];
    let is_readable = match base.kind {
        SourceKind::None => true,
        SourceKind::Scalar => !touches_exec(base.register),
        SourceKind::Vector | SourceKind::Constant | SourceKind::Status => false,
    };
    if i.memory.lds || !is_readable || o.src[0].kind != SourceKind::Vector {
        return None;
    }
    Some(match i.op {
        Op::global_load_dword => 1,
        Op::global_load_dwordx2 => 2,
        Op::global_load_dwordx3 => 3,
        Op::global_load_dwordx4 => 4,
        _ => return None,
    })
}

/// What a lane-wise instruction computes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Move,
    MoveWide,
    PackedMove,
    Select,
    /// f32 arithmetic on two or three sources, with their modifiers.
    Float(Operator),
    /// The same with the sources swapped.
    FloatReversed(Operator),
    /// Two f32 per lane.
    Packed(Operator),
    Binary(Operator),
    Reversed(Operator),
    /// A shift of the second source by the first.
    Shift(Operator),
    /// The second operator on the first's result and the third source.
    Twice(Operator, Operator),
    /// As [`Shape::Twice`], where the first is a left shift of the first source by the second.
    ShiftThen(Operator),
    /// The sum of the first two sources, shifted left by the third.
    AddShift,
    Not,
    ExclusiveNor,
    /// An integer compare, to a mask of lanes.
    Compare(Relation),
    /// An f32 compare with the sources' modifiers, to a mask of lanes.
    CompareFloat(Relation),
    /// A sum or difference, and a mask of the lanes with carry. Sources may be swapped, and a mask of carries may come
    /// in.
    Carry(Carry),
    /// A 64-bit product plus the third source, and a mask of the lanes with carry.
    MultiplyAddWide,
    /// The product of the sources' low 24 bits; [`Shape::MultiplyAdd24`] adds the third source.
    Product24,
    MultiplyAdd24,
    /// The first source, 64 bits, shifted left by the second, plus the third.
    ShiftAddWide,
    /// A bit field of the first source.
    Extract,
    Insert,
    /// The low half of the first two sources as 64 bits, shifted right by the third.
    AlignBits,
}

/// What a [`Shape::Carry`] does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carry {
    pub(super) subtracts: bool,
    pub(super) reversed: bool,
    pub(super) carries_in: bool,
}

impl Shape {
    /// Whether the third source is a mask.
    pub(super) const fn takes_mask(self) -> bool {
        matches!(
            self,
            Shape::Select
                | Shape::Carry(Carry {
                    carries_in: true,
                    ..
                })
        )
    }

    /// The pair of scalar registers that the instruction writes a mask of lanes to.
    pub(super) fn mask(self, o: &Operation) -> Option<u16> {
        match self {
            Shape::Compare(_) | Shape::CompareFloat(_) => Some(o.dst),
            Shape::Carry(_) | Shape::MultiplyAddWide => Some(o.sdst),
            _ => None,
        }
    }
}

/// The shape of a compare, with the predicate of the host's compare instruction.
fn relation(op: Op) -> Option<Shape> {
    use Relation::{F32, Signed, Unsigned};
    let integer = match op {
        Op::v_cmp_eq_u32 | Op::v_cmp_eq_i32 => Unsigned(0),
        Op::v_cmp_lt_u32 => Unsigned(1),
        Op::v_cmp_le_u32 => Unsigned(2),
        Op::v_cmp_ne_u32 | Op::v_cmp_ne_i32 => Unsigned(4),
        Op::v_cmp_ge_u32 => Unsigned(5),
        Op::v_cmp_gt_u32 => Unsigned(6),
        Op::v_cmp_lt_i32 => Signed(1),
        Op::v_cmp_le_i32 => Signed(2),
        Op::v_cmp_ge_i32 => Signed(5),
        Op::v_cmp_gt_i32 => Signed(6),
        Op::v_cmp_eq_f32 => return Some(Shape::CompareFloat(F32(0))),
        Op::v_cmp_lt_f32 => return Some(Shape::CompareFloat(F32(1))),
        Op::v_cmp_le_f32 => return Some(Shape::CompareFloat(F32(2))),
        Op::v_cmp_u_f32 => return Some(Shape::CompareFloat(F32(3))),
        Op::v_cmp_neq_f32 => return Some(Shape::CompareFloat(F32(4))),
        Op::v_cmp_nlt_f32 => return Some(Shape::CompareFloat(F32(5))),
        Op::v_cmp_nle_f32 => return Some(Shape::CompareFloat(F32(6))),
        Op::v_cmp_o_f32 => return Some(Shape::CompareFloat(F32(7))),
        Op::v_cmp_nlg_f32 => return Some(Shape::CompareFloat(F32(8))),
        Op::v_cmp_nge_f32 => return Some(Shape::CompareFloat(F32(9))),
        Op::v_cmp_ngt_f32 => return Some(Shape::CompareFloat(F32(10))),
        Op::v_cmp_lg_f32 => return Some(Shape::CompareFloat(F32(12))),
        Op::v_cmp_ge_f32 => return Some(Shape::CompareFloat(F32(13))),
        Op::v_cmp_gt_f32 => return Some(Shape::CompareFloat(F32(14))),
        _ => return None,
    };
    Some(Shape::Compare(integer))
}

fn carry(op: Op) -> Option<Shape> {
    let (subtracts, reversed, carries_in) = match op {
        Op::v_add_co_u32 => (false, false, false),
        Op::v_addc_co_u32 => (false, false, true),
        Op::v_sub_co_u32 => (true, false, false),
        Op::v_subb_co_u32 => (true, false, true),
        Op::v_subrev_co_u32 => (true, true, false),
        Op::v_subbrev_co_u32 => (true, true, true),
        _ => return None,
    };
    Some(Shape::Carry(Carry {
        subtracts,
        reversed,
        carries_in,
    }))
}

pub(super) fn shape(op: Op) -> Option<Shape> {
    use Operator::*;
    Some(match op {
        Op::v_mov_b32 | Op::v_accvgpr_read | Op::v_accvgpr_write | Op::v_accvgpr_mov_b32 => {
            Shape::Move
        }
        Op::v_mov_b64 => Shape::MoveWide,
        Op::v_pk_mov_b32 => Shape::PackedMove,
        Op::v_cndmask_b32 => Shape::Select,
        Op::v_add_f32 => Shape::Float(AddF32),
        Op::v_sub_f32 => Shape::Float(SubF32),
        Op::v_subrev_f32 => Shape::FloatReversed(SubF32),
        Op::v_mul_f32 => Shape::Float(MulF32),
        Op::v_fma_f32 | Op::v_fmac_f32 | Op::v_fmamk_f32 | Op::v_fmaak_f32 => Shape::Float(FmaF32),
        Op::v_pk_fma_f32 => Shape::Packed(FmaF32),
        Op::v_pk_mul_f32 => Shape::Packed(MulF32),
        Op::v_pk_add_f32 => Shape::Packed(AddF32),
        Op::v_add_u32 | Op::v_add_i32 => Shape::Binary(Add),
        Op::v_sub_u32 | Op::v_sub_i32 => Shape::Binary(Sub),
        Op::v_subrev_u32 => Shape::Reversed(Sub),
        Op::v_mul_lo_u32 => Shape::Binary(Mul),
        Op::v_and_b32 => Shape::Binary(And),
        Op::v_or_b32 => Shape::Binary(Or),
        Op::v_xor_b32 => Shape::Binary(Xor),
        Op::v_min_u32 => Shape::Binary(Min),
        Op::v_max_u32 => Shape::Binary(Max),
        Op::v_min_i32 => Shape::Binary(MinSigned),
        Op::v_max_i32 => Shape::Binary(MaxSigned),
        Op::v_lshlrev_b32 => Shape::Shift(ShiftLeft),
        Op::v_lshrrev_b32 => Shape::Shift(ShiftRight),
        Op::v_ashrrev_i32 => Shape::Shift(ShiftRightSigned),
        Op::v_add3_u32 => Shape::Twice(Add, Add),
        Op::v_xad_u32 => Shape::Twice(Xor, Add),
        Op::v_or3_b32 => Shape::Twice(Or, Or),
        Op::v_xor3_b32 => Shape::Twice(Xor, Xor),
        Op::v_and_or_b32 => Shape::Twice(And, Or),
        Op::v_lshl_add_u32 => Shape::ShiftThen(Add),
        Op::v_lshl_or_b32 => Shape::ShiftThen(Or),
        Op::v_add_lshl_u32 => Shape::AddShift,
        Op::v_not_b32 => Shape::Not,
        Op::v_xnor_b32 => Shape::ExclusiveNor,
        Op::v_mul_u32_u24 => Shape::Product24,
        Op::v_mad_u32_u24 => Shape::MultiplyAdd24,
        Op::v_lshl_add_u64 => Shape::ShiftAddWide,
        Op::v_bfe_u32 => Shape::Extract,
        Op::v_bfi_b32 => Shape::Insert,
        Op::v_alignbit_b32 => Shape::AlignBits,
        Op::v_mad_u64_u32 => Shape::MultiplyAddWide,
        Op::v_mul_hi_u32 => Shape::Binary(MulHigh),
        _ => return relation(op).or_else(|| carry(op)),
    })
}

/// Whether [`super::lower::Selection`] handles the instruction with its modifiers and operands.
fn is_lanewise(i: &Instruction, o: &Operation) -> bool {
    let Some(shape) = shape(i.op) else {
        return false;
    };
    let m = &i.modifiers;
    let bare = m.abs | m.neg | m.neg_hi | m.op_sel == 0;
    let modifiers = match shape {
        Shape::Packed(_) => m.abs == 0,
        Shape::PackedMove => m.abs | m.neg | m.neg_hi == 0,
        Shape::Float(_) | Shape::FloatReversed(_) | Shape::Select | Shape::CompareFloat(_) => {
            m.neg_hi | m.op_sel == 0
        }
        _ => bare,
    };
    let readable = |source: &Source| match source.kind {
        SourceKind::Scalar => !touches_exec(source.register),
        SourceKind::Status => false,
        SourceKind::None | SourceKind::Vector | SourceKind::Constant => true,
    };
    modifiers
        && !m.clamp
        && m.omod == 0
        && i.extension == Extension::None
        && o.extension.is_none()
        && o.src.iter().all(readable)
        && (!shape.takes_mask() || o.src[2].kind == SourceKind::Scalar)
        && !shape.mask(o).is_some_and(touches_exec)
}
