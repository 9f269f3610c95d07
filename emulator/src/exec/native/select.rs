//! From instructions to values: which can be part of a run, and what they compute.

use super::{
    super::{
        operation::{Operation, Source, SourceKind},
        wave::EXEC,
    },
    values::{Address, BELOW, Id, Operator, Relation, Run, Value},
};
use crate::isa::{self, Extension, Format, Instruction, Op};

/// What an instruction is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It computes lanes from lanes, or loads them from LDS.
    Lanes,
    /// It loads lanes from global memory.
    Load,
    /// The scalar unit's: done after the run, if nothing of the run needs its result.
    Scalar,
    /// It waits for memory, which is there at once; loads stay on their side of it.
    Wait,
    /// It does nothing where nobody watches.
    Nothing,
}

/// What an instruction can be to a run, if anything.
pub(super) fn part(instruction: &Instruction, operation: &Operation) -> Option<Part> {
    match instruction.format {
        Format::Sopp => match instruction.op {
            Op::s_waitcnt => Some(Part::Wait),
            Op::s_nop | Op::s_setprio => Some(Part::Nothing),
            _ => None,
        },
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
        _ => None,
    }
}

/// Scalar arithmetic, whose only effect is on scalar registers and `scc`, and that depends on nothing else.
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

/// Whether a register or the one behind it is `exec`'s.
fn touches_exec(register: u16) -> bool {
    (EXEC - 1..=EXEC + 1).contains(&register)
}

/// Dwords, and the offsets at which an instruction loads them from LDS, if that is what it does.
fn lds_loads(i: &Instruction, o: &Operation) -> Option<(u8, Vec<u32>)> {
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

/// How many dwords an instruction loads from global memory, if that is what it does.
fn global_load(i: &Instruction, o: &Operation) -> Option<u8> {
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
enum Shape {
    Move,
    MoveWide,
    PackedMove,
    Select,
    /// f32 of two or three sources, with their modifiers.
    Float(Operator),
    /// The first operator on swapped sources.
    FloatReversed(Operator),
    /// Two f32 side by side.
    Packed(Operator),
    Binary(Operator),
    Reversed(Operator),
    /// A shift of the second source by the first.
    Shift(Operator),
    /// The second operator on the first's result and the third source.
    Twice(Operator, Operator),
    /// As [`Shape::Twice`], and the first is a shift of the first source by the second.
    ShiftThen(Operator),
    /// A sum, shifted.
    AddShift,
    Not,
    ExclusiveNor,
    /// A mask of lanes.
    Compare(Relation),
    /// A compare with the sources' modifiers.
    CompareFloat(Relation),
    /// A sum or difference, and a mask of the lanes that carry. The sources may change places, and there may be a mask of
    /// lanes that carry in.
    Carry(Carry),
    /// A product of 64 bits, and a sum, with a mask of the lanes that carry.
    MultiplyAddWide,
    /// The product of sources of 24 bits, and a sum.
    Product24,
    MultiplyAdd24,
    /// 64 bits, shifted, and a sum.
    ShiftAddWide,
    /// A field of bits.
    Extract,
    Insert,
}

/// What a [`Shape::Carry`] does.
#[derive(Clone, Copy, Debug)]
struct Carry {
    subtracts: bool,
    reversed: bool,
    carries_in: bool,
}

impl Shape {
    /// Whether the third source is a mask.
    const fn takes_mask(self) -> bool {
        matches!(
            self,
            Shape::Select
                | Shape::Carry(Carry {
                    carries_in: true,
                    ..
                })
        )
    }

    /// The pair of scalar registers that a mask of lanes is written to.
    fn mask(self, o: &Operation) -> Option<u16> {
        match self {
            Shape::Compare(_) | Shape::CompareFloat(_) => Some(o.dst),
            Shape::Carry(_) | Shape::MultiplyAddWide => Some(o.sdst),
            _ => None,
        }
    }
}

/// The relation of a compare, by the predicates of host instructions.
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

fn shape(op: Op) -> Option<Shape> {
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
        Op::v_mad_u64_u32 => Shape::MultiplyAddWide,
        Op::v_mul_hi_u32 => Shape::Binary(MulHigh),
        _ => return relation(op).or_else(|| carry(op)),
    })
}

/// Whether [`lanes`] knows the instruction with its modifiers and operands.
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
        && o.src.iter().all(readable)
        && (!shape.takes_mask() || o.src[2].kind == SourceKind::Scalar)
        && !shape.mask(o).is_some_and(touches_exec)
}

/// What the instructions of a run so far mean for the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// Scalar registers that are read after the run, written after it, read by vector instructions as what they are, and
    /// written as masks, sixteen bits with each chunk.
    read_later: u128,
    written_later: u128,
    read: u128,
    masks: u128,
    /// Global memory was loaded, and waited for.
    loaded: bool,
    waited: bool,
}

impl Extent {
    /// Whether an instruction can be the next in the run; it is then.
    pub(super) fn allows(&mut self, part: Part, i: &Instruction, o: &Operation) -> bool {
        let scalars = |slots: usize| {
            let sources = o.src.iter().zip(&i.src).take(slots);
            let scalars = sources.filter(|(source, _)| source.kind == SourceKind::Scalar);
            scalars.fold(0, |all, (source, operand)| {
                all | registers(source.register, operand.bits)
            })
        };
        match part {
            Part::Nothing => true,
            Part::Wait => {
                self.waited |= self.loaded;
                true
            }
            Part::Scalar => {
                // Half of a mask may be written when chunks are left to the operations.
                let read = scalars(4);
                // A compare writes `scc` alone.
                let written = match i.dst.source {
                    isa::Source::None => 0,
                    _ => registers(o.dst, i.dst.bits),
                };
                self.read_later |= read;
                self.written_later |= written;
                self.masks & (read | written) == 0
            }
            Part::Lanes | Part::Load => {
                let shape = shape(i.op);
                let (read, selects) = match shape {
                    Some(shape) if shape.takes_mask() => {
                        (scalars(2), registers(o.src[2].register, 64))
                    }
                    _ => (scalars(4), 0),
                };
                let mask = shape.and_then(|shape| shape.mask(o));
                let mask = mask.map_or(0, |mask| registers(mask, 64));
                let is_there = self.written_later & (read | selects) == 0 && self.masks & read == 0;
                self.read |= read;
                let is_free = mask & (self.read | self.read_later | self.written_later) == 0;
                self.masks |= mask;
                // Chunks are done one after the other. Who has waited for a flag of one must not have loaded what is
                // behind it of another.
                let is_load = part == Part::Load;
                self.loaded |= is_load;
                is_there && is_free && !(is_load && self.waited)
            }
        }
    }
}

/// The scalar registers of an operand.
fn registers(first: u16, bits: u16) -> u128 {
    let all = if bits > 32 { 3_u128 } else { 1 };
    all.checked_shl(u32::from(first)).unwrap_or(0)
}

/// Takes instructions into a run, one after the other.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) run: Run,
    /// Whether it computes with f32.
    pub(super) is_float: bool,
    /// Indices of the scalar unit's instructions, to be done after the run.
    pub(super) later: Vec<u32>,
}

impl Selection {
    /// Takes the instruction at `index`; `None` if it cannot be part of a run.
    pub(super) fn take(&mut self, index: u32, i: &Instruction, o: &Operation) -> Option<()> {
        match part(i, o)? {
            Part::Nothing | Part::Wait => {}
            Part::Scalar => self.later.push(index),
            Part::Load => {
                let dwords = global_load(i, o)?;
                let is_whole = o.src[2].kind == SourceKind::None;
                let address = Address::Global {
                    low: self.run.register(o.src[0].register),
                    high: is_whole.then(|| self.run.register(o.src[0].register + 1)),
                    base: (!is_whole).then_some(o.src[2].register),
                    offset: i32::try_from(o.imm).ok()?,
                    place: o.control[1],
                };
                self.run.load(address, 0, dwords, o.dst);
            }
            Part::Lanes if i.format == Format::Ds => {
                let (dwords, offsets) = lds_loads(i, o)?;
                let address = self.run.register(o.src[0].register);
                for (number, offset) in (0..).zip(offsets) {
                    let first = o.dst + number * u16::from(dwords);
                    self.run.load(Address::Lds(address), offset, dwords, first);
                }
            }
            Part::Lanes => self.lanes(i.op, o)?,
        }
        Some(())
    }

    /// Part 0 or 1 of a source.
    fn source(&mut self, o: &Operation, slot: usize, part: u16) -> Id {
        let source = &o.src[slot];
        match source.kind {
            SourceKind::Vector => self.run.register(source.register + part),
            SourceKind::Scalar => self.run.scalar(source.register + part),
            SourceKind::None | SourceKind::Constant | SourceKind::Status => {
                self.run.constant((source.value >> (32 * part)) as u32)
            }
        }
    }

    /// A value with the modifiers of source `slot`.
    fn modified(&mut self, id: Id, slot: usize, abs: u8, neg: u8) -> Id {
        let mut id = id;
        if abs >> slot & 1 == 1 {
            let mask = self.run.constant(0x7fff_ffff);
            id = self.run.binary(Operator::And, id, mask);
        }
        if neg >> slot & 1 == 1 {
            let sign = self.run.constant(0x8000_0000);
            id = self.run.binary(Operator::Xor, id, sign);
        }
        id
    }

    fn float(&mut self, operator: Operator, [a, b, c]: [Id; 3]) -> Id {
        self.is_float = true;
        match operator {
            Operator::FmaF32 => self.run.fma(a, b, c),
            _ => self.run.binary(operator, a, b),
        }
    }

    /// A value in the low bits, as many as host shifts of 32 bits want.
    fn count(&mut self, id: Id) -> Id {
        self.masked(id, 31)
    }

    fn masked(&mut self, id: Id, mask: u32) -> Id {
        let mask = self.run.constant(mask);
        self.run.binary(Operator::And, id, mask)
    }

    fn lanes(&mut self, op: Op, o: &Operation) -> Option<()> {
        use Operator::{Add, And, Mul, ShiftLeft, ShiftRight, Sub, Xor};
        let shape = shape(op)?;
        let all = |this: &mut Self, part| [0, 1, 2].map(|slot| this.source(o, slot, part));
        let [a, b, c] = all(self, 0);
        let result = match shape {
            Shape::Move => a,
            Shape::MoveWide => {
                let high = self.source(o, 0, 1);
                self.run.set(o.dst, a);
                self.run.set(o.dst + 1, high);
                return Some(());
            }
            Shape::PackedMove => {
                let low = self.source(o, 0, u16::from(o.op_sel & 1));
                let high = self.source(o, 1, u16::from(o.op_sel >> 1 & 1));
                self.run.set(o.dst, low);
                self.run.set(o.dst + 1, high);
                return Some(());
            }
            Shape::Packed(operator) => {
                let [low, high] =
                    [(o.op_sel, o.neg), (o.op_sel_hi, o.neg_hi)].map(|(pick, neg)| {
                        let sources = [0, 1, 2].map(|slot| {
                            let id = self.source(o, slot, u16::from(pick >> slot & 1));
                            self.modified(id, slot, 0, neg)
                        });
                        self.float(operator, sources)
                    });
                self.run.set(o.dst, low);
                self.run.set(o.dst + 1, high);
                return Some(());
            }
            Shape::Select => {
                let no = self.modified(a, 0, o.abs, o.neg);
                let yes = self.modified(b, 1, o.abs, o.neg);
                self.run.select(o.src[2].register, yes, no)
            }
            Shape::Float(operator) => {
                let ids = [(a, 0), (b, 1), (c, 2)]
                    .map(|(id, slot)| self.modified(id, slot, o.abs, o.neg));
                self.float(operator, ids)
            }
            Shape::FloatReversed(operator) => {
                let [a, b] =
                    [(a, 0), (b, 1)].map(|(id, slot)| self.modified(id, slot, o.abs, o.neg));
                self.float(operator, [b, a, a])
            }
            Shape::Compare(relation) => {
                let flags = self.run.binary(Operator::Compare(relation), a, b);
                self.run.set_mask(o.dst, flags);
                return Some(());
            }
            Shape::CompareFloat(relation) => {
                let [a, b] =
                    [(a, 0), (b, 1)].map(|(id, slot)| self.modified(id, slot, o.abs, o.neg));
                self.is_float = true;
                let flags = self.run.binary(Operator::Compare(relation), a, b);
                self.run.set_mask(o.dst, flags);
                return Some(());
            }
            Shape::Carry(carry) => {
                let (a, b) = if carry.reversed { (b, a) } else { (a, b) };
                let operator = if carry.subtracts { Sub } else { Add };
                // A sum is below its parts if it wraps around; a difference does if its first part is below the second.
                let step = |run: &mut Run, a, b| {
                    let result = run.binary(operator, a, b);
                    let flags = match carry.subtracts {
                        true => run.binary(BELOW, a, b),
                        false => run.binary(BELOW, result, a),
                    };
                    (result, flags)
                };
                let (mut result, mut flags) = step(&mut self.run, a, b);
                if carry.carries_in {
                    let carried = self.run.flags(o.src[2].register);
                    let (total, more) = step(&mut self.run, result, carried);
                    result = total;
                    flags = self.run.binary(Operator::Or, flags, more);
                }
                self.run.set(o.dst, result);
                self.run.set_mask(o.sdst, flags);
                return Some(());
            }
            Shape::MultiplyAddWide => {
                let c_high = self.source(o, 2, 1);
                let [low, high] =
                    [Mul, Operator::MulHigh].map(|operator| self.run.binary(operator, a, b));
                let sum = self.run.binary(Add, low, c);
                let carry = self.run.binary(BELOW, sum, low);
                let part = self.run.binary(Add, high, c_high);
                let first = self.run.binary(BELOW, part, high);
                let total = self.run.binary(Add, part, carry);
                let second = self.run.binary(BELOW, total, part);
                let flags = self.run.binary(Operator::Or, first, second);
                self.run.set(o.dst, sum);
                self.run.set(o.dst + 1, total);
                self.run.set_mask(o.sdst, flags);
                return Some(());
            }
            Shape::Binary(operator) => self.run.binary(operator, a, b),
            Shape::Reversed(operator) => self.run.binary(operator, b, a),
            Shape::Shift(operator) => {
                let count = self.count(a);
                self.run.binary(operator, b, count)
            }
            Shape::Twice(first, second) => {
                let id = self.run.binary(first, a, b);
                self.run.binary(second, id, c)
            }
            Shape::ShiftThen(operator) => {
                let count = self.count(b);
                let id = self.run.binary(ShiftLeft, a, count);
                self.run.binary(operator, id, c)
            }
            Shape::AddShift => {
                let count = self.count(c);
                let id = self.run.binary(Add, a, b);
                self.run.binary(ShiftLeft, id, count)
            }
            Shape::Not => {
                let ones = self.run.constant(!0);
                self.run.binary(Xor, a, ones)
            }
            Shape::ExclusiveNor => {
                let ones = self.run.constant(!0);
                let id = self.run.binary(Xor, a, b);
                self.run.binary(Xor, id, ones)
            }
            Shape::Product24 | Shape::MultiplyAdd24 => {
                let [a, b] = [a, b].map(|id| self.masked(id, 0xff_ffff));
                let product = self.run.binary(Mul, a, b);
                match shape {
                    Shape::MultiplyAdd24 => self.run.binary(Add, product, c),
                    _ => product,
                }
            }
            Shape::ShiftAddWide => {
                // Shifts by 5 to 7 are not documented; the operation does them.
                let count = self.masked(b, 7);
                let [a_high, c_high] = [0, 2].map(|slot| self.source(o, slot, 1));
                let (one, most) = (self.run.constant(1), self.run.constant(31));
                let low = self.run.binary(ShiftLeft, a, count);
                let high = match self.run.values[count as usize] {
                    Value::Constant(0) => a_high,
                    _ => {
                        let high = self.run.binary(ShiftLeft, a_high, count);
                        let rest = self.run.binary(Sub, most, count);
                        let halved = self.run.binary(ShiftRight, a, one);
                        let carried = self.run.binary(ShiftRight, halved, rest);
                        self.run.binary(Operator::Or, high, carried)
                    }
                };
                let sum = self.run.binary(Add, low, c);
                let carry = self.run.binary(BELOW, sum, low);
                let high = self.run.binary(Add, high, c_high);
                let high = self.run.binary(Add, high, carry);
                self.run.set(o.dst, sum);
                self.run.set(o.dst + 1, high);
                return Some(());
            }
            Shape::Extract => {
                let [first, width] = [b, c].map(|id| self.count(id));
                let one = self.run.constant(1);
                let power = self.run.binary(ShiftLeft, one, width);
                let mask = self.run.binary(Sub, power, one);
                let field = self.run.binary(ShiftRight, a, first);
                self.run.binary(And, field, mask)
            }
            Shape::Insert => {
                // (a & b) | (!a & c), as c with the bits that differ from b turned over under a.
                let differing = self.run.binary(Xor, b, c);
                let turned = self.run.binary(And, a, differing);
                self.run.binary(Xor, turned, c)
            }
        };
        self.run.set(o.dst, result);
        Some(())
    }
}
