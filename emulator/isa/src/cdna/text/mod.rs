//! Prints an [`Instruction`] in LLVM's syntax.

mod memory;
mod operands;
mod scalar;
mod vector;

use std::fmt;

use ferrowave_gpu::Gpu;

use crate::instruction::{Extension, Format, Instruction};
use crate::row::{Row, flag};

impl Instruction {
    /// The suffix of the mnemonic that stands for the encoding.
    fn suffix(&self, row: &Row) -> &'static str {
        let operands = row.dst.exists();
        match (self.format, self.extension) {
            (_, Extension::Sdwa(_)) => "_sdwa",
            (_, Extension::Dpp(_)) => "_dpp",
            (Format::Vop1 | Format::Vop2 | Format::Vopc, Extension::None)
                if operands && row.has(flag::E64) =>
            {
                "_e32"
            }
            (Format::Vop3 | Format::Vop3b, _) if operands && row.has(flag::E64) => "_e64",
            _ => "",
        }
    }
}

/// Writes an instruction of a GPU.
pub(crate) fn write(i: &Instruction, gpu: Gpu, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let row = i.row.0;
    write!(f, "{}{}", mnemonic(row, gpu), i.suffix(row))?;
    let mut out = Writer {
        f,
        gpu,
        row,
        any: false,
    };
    match i.format {
        Format::Sop1 | Format::Sop2 | Format::Sopc => out.scalar_alu(i),
        Format::Sopk => out.sopk(i),
        Format::Sopp => out.sopp(i),
        Format::Smem => out.smem(i),
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3b => out.vector(i),
        Format::Vop3p => out.packed(i),
        Format::Mai => out.matrix(i),
        Format::Ds => out.ds(i),
        Format::Flat | Format::Global | Format::Scratch => out.flat(i),
        Format::Mubuf | Format::Mtbuf => out.buffer(i),
    }
}

/// LLVM's mnemonic, which depends on the GPU for some matrix instructions (`v_mfma_f32_16x16x4f32` up to gfx90a,
/// `v_mfma_f32_16x16x4_f32` from gfx942).
fn mnemonic(row: &Row, gpu: Gpu) -> &'static str {
    match row.before_gfx942 {
        Some(name) if matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a) => name,
        _ => row.llvm_name,
    }
}

/// Writes operands and modifiers after the mnemonic.
struct Writer<'f, 'g> {
    f: &'f mut fmt::Formatter<'g>,
    gpu: Gpu,
    row: &'static Row,
    /// Whether an operand has been written.
    any: bool,
}

impl Writer<'_, '_> {
    /// Writes the separator before an operand.
    fn separate(&mut self) -> fmt::Result {
        let first = !std::mem::replace(&mut self.any, true);
        self.f.write_str(if first { " " } else { ", " })
    }

    /// Writes a modifier without a value, if it is set.
    fn word_if(&mut self, there: bool, word: &str) -> fmt::Result {
        match there {
            true => write!(self.f, " {word}"),
            false => Ok(()),
        }
    }

    /// Writes a modifier with a number, unless the number is 0.
    fn number_unless_0(&mut self, name: &str, value: impl Into<i64>) -> fmt::Result {
        match value.into() {
            0 => Ok(()),
            value => write!(self.f, " {name}:{value}"),
        }
    }

    /// Writes `name:[0,1,…]`: the bits of `mask` at the positions set in `places`.
    fn bits(&mut self, name: &str, mask: u8, places: u8) -> fmt::Result {
        write!(self.f, " {name}:[")?;
        let mut comma = "";
        for place in (0..8).filter(|place| places >> place & 1 != 0) {
            write!(self.f, "{comma}{}", mask >> place & 1)?;
            comma = ",";
        }
        self.f.write_str("]")
    }
}
