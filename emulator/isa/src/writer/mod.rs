//! What the disassemblers of all families share: operands, modifiers, numbers.

mod operands;

use std::fmt;

use ferrowave_gpu::Gpu;

use super::instruction::Instruction;
use super::operand::{Operand, Source};
use super::row::Row;

/// Numbers from here on are printed in hexadecimal.
const FIRST_HEX: u32 = 65;

/// Writes operands and modifiers after the mnemonic.
pub(super) struct Writer<'f, 'g> {
    pub(super) f: &'f mut fmt::Formatter<'g>,
    pub(super) gpu: Gpu,
    pub(super) row: &'static Row,
    /// Whether an operand has been written.
    any: bool,
}

impl<'f, 'g> Writer<'f, 'g> {
    pub(crate) fn new(f: &'f mut fmt::Formatter<'g>, gpu: Gpu, row: &'static Row) -> Self {
        Writer {
            f,
            gpu,
            row,
            any: false,
        }
    }

    /// Writes the separator before an operand.
    pub(crate) fn separate(&mut self) -> fmt::Result {
        let first = !std::mem::replace(&mut self.any, true);
        self.f.write_str(if first { " " } else { ", " })
    }

    /// Writes a modifier without a value, if it is set.
    pub(crate) fn word_if(&mut self, there: bool, word: &str) -> fmt::Result {
        match there {
            true => write!(self.f, " {word}"),
            false => Ok(()),
        }
    }

    /// Writes a modifier with a number, unless the number is 0.
    pub(crate) fn number_unless_0(&mut self, name: &str, value: impl Into<i64>) -> fmt::Result {
        match value.into() {
            0 => Ok(()),
            value => write!(self.f, " {name}:{value}"),
        }
    }

    /// Writes the data of an image instruction. LLVM prints the status word after it as part of the operand.
    pub(crate) fn image_data(&mut self, i: &Instruction) -> fmt::Result {
        let data = match i.src[1].source {
            Source::None => &i.dst,
            _ => &i.src[1],
        };
        let status = if i.memory.tfe { 32 } else { 0 };
        self.operand(&Operand {
            bits: data.bits + status,
            ..*data
        })
    }

    /// Writes the components of an image instruction.
    pub(crate) fn dmask(&mut self, i: &Instruction) -> fmt::Result {
        match i.image.dmask {
            0 => Ok(()),
            mask => write!(self.f, " dmask:{mask:#x}"),
        }
    }

    /// Writes `name:[0,1,…]`: the bits of `mask` at the positions set in `places`.
    pub(crate) fn bits(&mut self, name: &str, mask: u8, places: u8) -> fmt::Result {
        write!(self.f, " {name}:[")?;
        let mut comma = "";
        for place in (0..8).filter(|place| places >> place & 1 != 0) {
            write!(self.f, "{comma}{}", mask >> place & 1)?;
            comma = ",";
        }
        self.f.write_str("]")
    }

    pub(crate) fn clamp_and_omod(&mut self, i: &Instruction) -> fmt::Result {
        self.word_if(i.modifiers.clamp, "clamp")?;
        match i.modifiers.omod {
            1 => self.f.write_str(" mul:2"),
            2 => self.f.write_str(" mul:4"),
            3 => self.f.write_str(" div:2"),
            _ => Ok(()),
        }
    }

    /// The offset of `ds_swizzle_b32`: a lane permutation.
    pub(crate) fn swizzle(&mut self, offset: u32) -> fmt::Result {
        if offset == 0 {
            return Ok(());
        }
        let lane = |n: u32| offset >> (2 * n) & 3;
        match offset {
            0xe000.. => write!(self.f, " offset:swizzle(FFT,{})", offset & 0x1f),
            0xc000..0xe000 => {
                let (direction, count) = (offset >> 10 & 1, offset >> 5 & 0x1f);
                write!(self.f, " offset:swizzle(ROTATE,{direction},{count})")
            }
            0x8000..0x8100 => {
                let (a, b, c, d) = (lane(0), lane(1), lane(2), lane(3));
                write!(self.f, " offset:swizzle(QUAD_PERM,{a},{b},{c},{d})")
            }
            0x8100.. => write!(self.f, " offset:{offset}"),
            _ => self.bitmask_swizzle(offset & 0x1f, offset >> 5 & 0x1f, offset >> 10 & 0x1f),
        }
    }

    /// Lane n reads lane `(n & and | or) ^ xor`.
    fn bitmask_swizzle(&mut self, and: u32, or: u32, xor: u32) -> fmt::Result {
        const ALL: u32 = 0x1f;
        if and == ALL && or == 0 && xor.is_power_of_two() {
            return write!(self.f, " offset:swizzle(SWAP,{xor})");
        }
        if and == ALL && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            return write!(self.f, " offset:swizzle(REVERSE,{})", xor + 1);
        }
        let group = ALL - and + 1;
        if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
            return write!(self.f, " offset:swizzle(BROADCAST,{group},{or})");
        }
        self.f.write_str(" offset:swizzle(BITMASK_PERM,\"")?;
        for bit in (0..5).rev() {
            let from = |lane: u32| ((lane & and | or) ^ xor) >> bit & 1;
            self.f.write_str(match (from(0), from(ALL)) {
                (0, 0) => "0",
                (1, 1) => "1",
                (0, _) => "p",
                _ => "i",
            })?;
        }
        self.f.write_str("\")")
    }

    /// What is written before and after a source for its modifiers.
    pub(crate) fn modifiers(&self, i: &Instruction, n: usize) -> (&'static str, &'static str) {
        let (neg, abs) = (i.modifiers.neg >> n & 1 != 0, i.modifiers.abs >> n & 1 != 0);
        let number = match i.src[n].source {
            // LLVM treats `lit()` as an expression, not as a constant.
            Source::Literal(value) => !i.src[n].has_inline(value, self.row),
            Source::Inline(code) => (128..209).contains(&code) || (240..249).contains(&code),
            _ => false,
        };
        // `-1` would be another constant; `neg(1)` is 1 with a modifier.
        match (neg, abs) {
            (true, false) if number => ("neg(", ")"),
            (true, true) => ("-|", "|"),
            (true, false) => ("-", ""),
            (false, true) => ("|", "|"),
            (false, false) => ("", ""),
        }
    }

    /// Writes a number, large ones in hexadecimal.
    pub(crate) fn number(&mut self, value: u32) -> fmt::Result {
        match value {
            FIRST_HEX.. => write!(self.f, "{value:#x}"),
            _ => write!(self.f, "{value}"),
        }
    }

    /// Writes a 32-bit value as an inline constant if there is one.
    pub(crate) fn as_constant(&mut self, value: u32) -> fmt::Result {
        let operand = |source| Operand {
            source,
            bits: 32,
            ..Operand::default()
        };
        let inline = (128..209)
            .chain(240..249)
            .map(|code| operand(Source::Inline(code)))
            .find(|constant| constant.constant() == Some(u64::from(value)));
        match inline {
            Some(constant) => self.bare(&constant),
            None => write!(self.f, "{value:#x}"),
        }
    }

    /// Writes a hardware register, by its name if it has one, and a bit range in it.
    pub(crate) fn hwreg(&mut self, value: u32, name: Option<&str>) -> fmt::Result {
        let (id, offset, size) = (value & 0x3f, value >> 6 & 0x1f, (value >> 11 & 0x1f) + 1);
        self.f.write_str("hwreg(")?;
        match name {
            Some(name) => write!(self.f, "HW_REG_{name}")?,
            None => write!(self.f, "{id}")?,
        }
        if (offset, size) != (0, 32) {
            write!(self.f, ", {offset}, {size}")?;
        }
        self.f.write_str(")")
    }

    /// Begins the operands of the second instruction of a pair.
    pub(crate) fn begin_operands(&mut self, row: &'static Row) {
        self.row = row;
        self.any = false;
    }
}
