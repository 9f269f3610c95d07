//! Prints an [`Instruction`] in LLVM's syntax.

mod image;
mod memory;
mod scalar;
mod vector;

use std::fmt;

use ferrowave_gpu::Gpu;

use crate::instruction::{Extension, Format, Instruction};
use crate::row::{Row, flag};
use crate::writer::Writer;

impl Instruction {
    /// The suffix of the mnemonic that stands for the encoding.
    fn suffix(&self, row: &Row) -> &'static str {
        let operands = row.dst.exists();
        match (self.format, self.extension) {
            (_, Extension::Sdwa(_)) => "_sdwa",
            (_, Extension::Dpp(_) | Extension::Dpp8(_)) => "_dpp",
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
    let mut out = Writer::new(f, gpu, row);
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
        Format::Image => out.image(i),
        // No pairs on CDNA.
        Format::Vopd | Format::Graphics => Ok(()),
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
