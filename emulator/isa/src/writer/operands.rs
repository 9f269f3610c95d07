//! Prints registers, inline constants and literals.

use std::fmt;

use ferrowave_gpu::Family;

use super::Writer;
use crate::data_type::DataType;
use crate::operand::{EXEC, M0, Operand, Source, TTMP, VCC};
use crate::row::{Row, flag};

/// First operand codes of two registers that only CDNA has.
const FLAT_SCRATCH: u32 = 102;
const XNACK_MASK: u32 = 104;

/// Codes 235 to 239.
const APERTURES: [&str; 5] = [
    "src_shared_base",
    "src_shared_limit",
    "src_private_base",
    "src_private_limit",
    "src_pops_exiting_wave_id",
];
/// Codes 251 to 253.
const FLAGS: [&str; 3] = ["src_vccz", "src_execz", "src_scc"];
/// Codes 240 to 247; 248 is 1/2π.
const FLOATS: [&str; 8] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"];

impl Operand {
    /// How many 32-bit registers the operand covers.
    fn registers(&self) -> u16 {
        self.bits.div_ceil(32).max(1)
    }
}

impl Writer<'_, '_> {
    /// Writes a separator and the operand, or nothing if there is no operand.
    pub(crate) fn operand(&mut self, operand: &Operand) -> fmt::Result {
        if operand.source == Source::None {
            return Ok(());
        }
        self.separate()?;
        self.bare(operand)
    }

    /// Writes an operand without a separator.
    pub(crate) fn bare(&mut self, operand: &Operand) -> fmt::Result {
        match operand.source {
            Source::None => self.f.write_str("off"),
            Source::Null => self.f.write_str("null"),
            Source::Vgpr(first) => self.registers("v", first, operand.registers()),
            Source::Agpr(first) => self.registers("a", first, operand.registers()),
            Source::Sgpr(code) => self.scalar_register(u32::from(code), operand.registers()),
            Source::Inline(code) => self.inline(code, operand),
            Source::Literal(value) => self.literal(value, operand),
            Source::LdsDirect => self.f.write_str("src_lds_direct"),
        }
    }

    fn registers(&mut self, kind: &str, first: u16, count: u16) -> fmt::Result {
        match count {
            1 => write!(self.f, "{kind}{first}"),
            _ => write!(self.f, "{kind}[{first}:{}]", first + count - 1),
        }
    }

    fn scalar_register(&mut self, code: u32, count: u16) -> fmt::Result {
        let special = match code {
            ..VCC if self.gpu.family() != Family::Cdna => {
                return self.registers("s", code as u16, count);
            }
            0..FLAT_SCRATCH => return self.registers("s", code as u16, count),
            FLAT_SCRATCH..XNACK_MASK => "flat_scratch",
            XNACK_MASK..VCC => "xnack_mask",
            VCC..TTMP => "vcc",
            TTMP..M0 => return self.registers("ttmp", (code - TTMP) as u16, count),
            M0 => return self.f.write_str("m0"),
            EXEC.. => "exec",
            _ => return write!(self.f, "s{code}"),
        };
        let half = match (count, code % 2) {
            (1, 0) => "_lo",
            (1, _) => "_hi",
            _ => "",
        };
        write!(self.f, "{special}{half}")
    }

    fn inline(&mut self, code: u16, operand: &Operand) -> fmt::Result {
        match code {
            128..193 => write!(self.f, "{}", code - 128),
            193..209 => write!(self.f, "-{}", code - 192),
            235..240 => self.f.write_str(APERTURES[usize::from(code) - 235]),
            240..248 => self.f.write_str(FLOATS[usize::from(code) - 240]),
            248 => self.f.write_str(match operand.is_double() {
                true => "0.15915494309189532",
                false => "0.15915494",
            }),
            _ => self
                .f
                .write_str(FLAGS[usize::from(code.clamp(251, 253)) - 251]),
        }
    }

    /// Writes a literal. If an inline constant has the same value, `lit()` keeps an assembler from using that.
    fn literal(&mut self, value: u32, operand: &Operand) -> fmt::Result {
        if operand.has_inline(value, self.row) {
            return write!(self.f, "lit({value:#x})");
        }
        let half = operand.bits == 16 && operand.ty != DataType::Bf16 || self.row.has(flag::MIX);
        let shown = if half { value & 0xffff } else { value };
        write!(self.f, "{shown:#x}")
    }
}

impl Operand {
    /// Whether inline constants are f64 here.
    fn is_double(&self) -> bool {
        self.ty == DataType::PackedF64 || self.bits == 64 && self.ty != DataType::PackedF32
    }

    /// Whether some inline constant has the bits of this literal.
    pub(crate) fn has_inline(&self, value: u32, row: &Row) -> bool {
        // Sources of mixed multiply-adds may be f16; LLVM prints their literals as f16.
        let mixed = Operand {
            ty: DataType::F,
            bits: 16,
            ..*self
        };
        let operand = if row.has(flag::MIX) { mixed } else { *self };
        let half = operand.bits == 16 && operand.ty == DataType::F;
        let mask = if half { 0xffff } else { u64::MAX };
        let wanted = match (operand.ty, operand.bits) {
            (DataType::F, 64) => u64::from(value) << 32,
            _ => u64::from(value) & mask,
        };
        (128..209).chain(240..249).any(|code| {
            let source = Source::Inline(code);
            let inline = Operand { source, ..operand };
            inline.constant().is_some_and(|bits| wanted == bits & mask)
        })
    }
}
