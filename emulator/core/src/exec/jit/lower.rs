//! Lowers the instructions of a region to values.

use super::{
    classify::{Carry, Part, Shape, global_load, lds_loads, part, shape},
    ir::{Address, BELOW, Id, Operator, Region, Value},
};
use crate::exec::{
    operation::{Operation, SourceKind},
    pair,
};
use ferrowave_isa::{self as isa, Format, Instruction, Op};

/// What the instructions of a region so far allow the next one to be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// Scalar registers, one bit each: read after the region, written after it, read as scalars by vector instructions,
    /// and written as masks (sixteen bits per chunk).
    read_later: u128,
    written_later: u128,
    read: u128,
    masks: u128,
    /// Whether global memory was loaded, and whether a wait followed.
    loaded: bool,
    waited: bool,
}

impl Extent {
    /// Whether an instruction can be the next in the region. If so, it is added.
    pub(super) fn allows(&mut self, part: Part, i: &Instruction, o: &Operation) -> bool {
        match part {
            Part::Nothing => true,
            Part::Wait => {
                self.waited |= self.loaded;
                true
            }
            Part::Scalar => {
                // A mask may be half written when chunks are left to the operations.
                let read = scalars(i, o, 4);
                // A compare writes SCC alone.
                let written = match i.dst.source {
                    isa::Source::None => 0,
                    _ => registers(o.dst, i.dst.bits),
                };
                self.read_later |= read;
                self.written_later |= written;
                self.masks & (read | written) == 0
            }
            Part::Lanes | Part::Load => {
                let (read, selects, mask) = match pair::halves(i, o) {
                    // No pair writes a mask.
                    Some([(i, first), (j, second)]) => {
                        let (a, b) = (lane_scalars(&i, first), lane_scalars(&j, second));
                        (a.0 | b.0, a.1 | b.1, 0)
                    }
                    None => lane_scalars(i, o),
                };
                let is_there = self.written_later & (read | selects) == 0 && self.masks & read == 0;
                self.read |= read;
                let is_free = mask & (self.read | self.read_later | self.written_later) == 0;
                self.masks |= mask;
                // Chunks run one after the other. A wave that has waited for a flag in one chunk must not already have
                // loaded what the flag guards in another.
                let is_load = part == Part::Load;
                self.loaded |= is_load;
                is_there && is_free && !(is_load && self.waited)
            }
        }
    }
}

/// The scalar registers of the first `slots` sources, one bit each.
fn scalars(i: &Instruction, o: &Operation, slots: usize) -> u128 {
    let sources = o.src.iter().zip(&i.src).take(slots);
    let scalars = sources.filter(|(source, _)| source.kind == SourceKind::Scalar);
    scalars.fold(0, |all, (source, operand)| {
        all | registers(source.register, operand.bits)
    })
}

/// The scalar registers that a lane-wise instruction reads, that it reads as a mask, and that it writes as one.
fn lane_scalars(i: &Instruction, o: &Operation) -> (u128, u128, u128) {
    let shape = shape(i.op);
    let (read, selects) = match shape {
        Some(shape) if shape.takes_mask() => (scalars(i, o, 2), registers(o.src[2].register, 64)),
        _ => (scalars(i, o, 4), 0),
    };
    let mask = shape.and_then(|shape| shape.mask(o));
    (read, selects, mask.map_or(0, |mask| registers(mask, 64)))
}

/// The scalar registers of an operand, one bit each.
fn registers(first: u16, bits: u16) -> u128 {
    let all = if bits > 32 { 3_u128 } else { 1 };
    all.checked_shl(u32::from(first)).unwrap_or(0)
}

/// Adds instructions to a region, one after the other.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) region: Region,
    /// Whether it computes with f32.
    pub(super) is_float: bool,
    /// Indices of the scalar unit's instructions, which run after the region.
    pub(super) later: Vec<u32>,
}

impl Selection {
    /// Adds the instruction at `index`; `None` if it cannot be part of a region.
    pub(super) fn take(&mut self, index: u32, i: &Instruction, o: &Operation) -> Option<()> {
        match part(i, o)? {
            Part::Nothing | Part::Wait => {}
            Part::Scalar => self.later.push(index),
            Part::Load => {
                let dwords = global_load(i, o)?;
                let is_whole = o.src[2].kind == SourceKind::None;
                let address = Address::Global {
                    low: self.region.register(o.src[0].register),
                    high: is_whole.then(|| self.region.register(o.src[0].register + 1)),
                    base: (!is_whole).then_some(o.src[2].register),
                    offset: i32::try_from(o.imm).ok()?,
                    place: o.control[1],
                };
                self.region.load(address, 0, dwords, o.dst);
            }
            Part::Lanes if i.format == Format::Ds => {
                let (dwords, offsets) = lds_loads(i, o)?;
                let address = self.region.register(o.src[0].register);
                for (number, offset) in (0..).zip(offsets) {
                    let first = o.dst + number * u16::from(dwords);
                    self.region
                        .load(Address::Lds(address), offset, dwords, first);
                }
            }
            Part::Lanes => match pair::halves(i, o) {
                Some([(i, first), (j, second)]) => {
                    self.lanes(i.op, first)?;
                    self.lanes(j.op, second)?;
                    if first.dst == pair::FIRST_RESULT {
                        self.region.rename(first.dst, o.dst);
                    }
                }
                None => self.lanes(i.op, o)?,
            },
        }
        Some(())
    }

    /// Dword 0 or 1 of a source.
    fn source(&mut self, o: &Operation, slot: usize, part: u16) -> Id {
        let source = &o.src[slot];
        match source.kind {
            SourceKind::Vector => self.region.register(source.register + part),
            SourceKind::Scalar => self.region.scalar(source.register + part),
            SourceKind::None | SourceKind::Constant | SourceKind::Status => {
                self.region.constant((source.value >> (32 * part)) as u32)
            }
        }
    }

    /// Applies the modifiers of source `slot` to a value.
    fn modified(&mut self, id: Id, slot: usize, abs: u8, neg: u8) -> Id {
        let mut id = id;
        if abs >> slot & 1 == 1 {
            let mask = self.region.constant(0x7fff_ffff);
            id = self.region.binary(Operator::And, id, mask);
        }
        if neg >> slot & 1 == 1 {
            let sign = self.region.constant(0x8000_0000);
            id = self.region.binary(Operator::Xor, id, sign);
        }
        id
    }

    fn float(&mut self, operator: Operator, [a, b, c]: [Id; 3]) -> Id {
        self.is_float = true;
        match operator {
            Operator::FmaF32 => self.region.fma(a, b, c),
            _ => self.region.binary(operator, a, b),
        }
    }

    /// The low five bits of a value: host shifts of 32 bits take all bits of the count.
    fn count(&mut self, id: Id) -> Id {
        self.masked(id, 31)
    }

    fn masked(&mut self, id: Id, mask: u32) -> Id {
        let mask = self.region.constant(mask);
        self.region.binary(Operator::And, id, mask)
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
                self.region.set(o.dst, a);
                self.region.set(o.dst + 1, high);
                return Some(());
            }
            Shape::PackedMove => {
                let low = self.source(o, 0, u16::from(o.op_sel & 1));
                let high = self.source(o, 1, u16::from(o.op_sel >> 1 & 1));
                self.region.set(o.dst, low);
                self.region.set(o.dst + 1, high);
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
                self.region.set(o.dst, low);
                self.region.set(o.dst + 1, high);
                return Some(());
            }
            Shape::Select => {
                let no = self.modified(a, 0, o.abs, o.neg);
                let yes = self.modified(b, 1, o.abs, o.neg);
                self.region.select(o.src[2].register, yes, no)
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
                let flags = self.region.binary(Operator::Compare(relation), a, b);
                self.region.set_mask(o.dst, flags);
                return Some(());
            }
            Shape::CompareFloat(relation) => {
                let [a, b] =
                    [(a, 0), (b, 1)].map(|(id, slot)| self.modified(id, slot, o.abs, o.neg));
                self.is_float = true;
                let flags = self.region.binary(Operator::Compare(relation), a, b);
                self.region.set_mask(o.dst, flags);
                return Some(());
            }
            Shape::Carry(carry) => {
                self.carry(o, carry, [a, b]);
                return Some(());
            }
            Shape::MultiplyAddWide => {
                self.multiply_add_wide(o, [a, b, c]);
                return Some(());
            }
            Shape::Binary(operator) => self.region.binary(operator, a, b),
            Shape::Reversed(operator) => self.region.binary(operator, b, a),
            Shape::Shift(operator) => {
                let count = self.count(a);
                self.region.binary(operator, b, count)
            }
            Shape::Twice(first, second) => {
                let id = self.region.binary(first, a, b);
                self.region.binary(second, id, c)
            }
            Shape::ShiftThen(operator) => {
                let count = self.count(b);
                let id = self.region.binary(ShiftLeft, a, count);
                self.region.binary(operator, id, c)
            }
            Shape::AddShift => {
                let count = self.count(c);
                let id = self.region.binary(Add, a, b);
                self.region.binary(ShiftLeft, id, count)
            }
            Shape::Not => {
                let ones = self.region.constant(!0);
                self.region.binary(Xor, a, ones)
            }
            Shape::ExclusiveNor => {
                let ones = self.region.constant(!0);
                let id = self.region.binary(Xor, a, b);
                self.region.binary(Xor, id, ones)
            }
            Shape::Product24 | Shape::MultiplyAdd24 => {
                let [a, b] = [a, b].map(|id| self.masked(id, 0xff_ffff));
                let product = self.region.binary(Mul, a, b);
                match shape {
                    Shape::MultiplyAdd24 => self.region.binary(Add, product, c),
                    _ => product,
                }
            }
            Shape::ShiftAddWide => {
                self.shift_add_wide(o, [a, b, c]);
                return Some(());
            }
            Shape::Extract => {
                let [first, width] = [b, c].map(|id| self.count(id));
                let one = self.region.constant(1);
                let power = self.region.binary(ShiftLeft, one, width);
                let mask = self.region.binary(Sub, power, one);
                let field = self.region.binary(ShiftRight, a, first);
                self.region.binary(And, field, mask)
            }
            Shape::AlignBits => {
                let count = self.count(c);
                let all = self.region.constant(32);
                let rest = self.region.binary(Sub, all, count);
                let low = self.region.binary(ShiftRight, b, count);
                // A shift by 32 leaves nothing.
                let high = self.region.binary(ShiftLeft, a, rest);
                self.region.binary(Operator::Or, low, high)
            }
            Shape::Insert => {
                // `(a & b) | (!a & c)`, as `c ^ (a & (b ^ c))`.
                let differing = self.region.binary(Xor, b, c);
                let turned = self.region.binary(And, a, differing);
                self.region.binary(Xor, turned, c)
            }
        };
        self.region.set(o.dst, result);
        Some(())
    }

    /// A sum or a difference, and its carry.
    fn carry(&mut self, o: &Operation, carry: Carry, [a, b]: [Id; 2]) {
        use Operator::{Add, Sub};
        let (a, b) = if carry.reversed { (b, a) } else { (a, b) };
        let operator = if carry.subtracts { Sub } else { Add };
        // A sum wrapped around if it is less than an operand; a difference, if its first operand is less than
        // the second.
        let step = |region: &mut Region, a, b| {
            let result = region.binary(operator, a, b);
            let flags = match carry.subtracts {
                true => region.binary(BELOW, a, b),
                false => region.binary(BELOW, result, a),
            };
            (result, flags)
        };
        let (mut result, mut flags) = step(&mut self.region, a, b);
        if carry.carries_in {
            let carried = self.region.flags(o.src[2].register);
            let (total, more) = step(&mut self.region, result, carried);
            result = total;
            flags = self.region.binary(Operator::Or, flags, more);
        }
        self.region.set(o.dst, result);
        self.region.set_mask(o.sdst, flags);
    }

    /// A product of 32 bits plus 64 bits, and its carry.
    fn multiply_add_wide(&mut self, o: &Operation, [a, b, c]: [Id; 3]) {
        use Operator::{Add, Mul};
        let c_high = self.source(o, 2, 1);
        let [low, high] =
            [Mul, Operator::MulHigh].map(|operator| self.region.binary(operator, a, b));
        let sum = self.region.binary(Add, low, c);
        let carry = self.region.binary(BELOW, sum, low);
        let part = self.region.binary(Add, high, c_high);
        let first = self.region.binary(BELOW, part, high);
        let total = self.region.binary(Add, part, carry);
        let second = self.region.binary(BELOW, total, part);
        let flags = self.region.binary(Operator::Or, first, second);
        self.region.set(o.dst, sum);
        self.region.set(o.dst + 1, total);
        self.region.set_mask(o.sdst, flags);
    }

    /// 64 bits, shifted, plus 64 bits.
    fn shift_add_wide(&mut self, o: &Operation, [a, b, c]: [Id; 3]) {
        use Operator::{Add, ShiftLeft, ShiftRight, Sub};
        // Shifts by 5 to 7 are not documented; the operation does them, so this does too.
        let count = self.masked(b, 7);
        let [a_high, c_high] = [0, 2].map(|slot| self.source(o, slot, 1));
        let (one, most) = (self.region.constant(1), self.region.constant(31));
        let low = self.region.binary(ShiftLeft, a, count);
        let high = match self.region.values[count as usize] {
            Value::Constant(0) => a_high,
            _ => {
                let high = self.region.binary(ShiftLeft, a_high, count);
                let rest = self.region.binary(Sub, most, count);
                let halved = self.region.binary(ShiftRight, a, one);
                let carried = self.region.binary(ShiftRight, halved, rest);
                self.region.binary(Operator::Or, high, carried)
            }
        };
        let sum = self.region.binary(Add, low, c);
        let carry = self.region.binary(BELOW, sum, low);
        let high = self.region.binary(Add, high, c_high);
        let high = self.region.binary(Add, high, carry);
        self.region.set(o.dst, sum);
        self.region.set(o.dst + 1, high);
    }
}
