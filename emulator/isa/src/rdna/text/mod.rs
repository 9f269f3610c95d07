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

/// Writes an instruction of a GPU.
pub(crate) fn write(i: &Instruction, gpu: Gpu, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let row = i.row.0;
    write!(f, "{}{}", mnemonic(i, row), suffix(i, row))?;
    let mut out = Writer::new(f, gpu, row);
    match i.format {
        Format::Sop1 | Format::Sop2 | Format::Sopc => scalar::alu(&mut out, i),
        Format::Sopk => scalar::sopk(&mut out, i),
        Format::Sopp => scalar::sopp(&mut out, i),
        Format::Smem => scalar::smem(&mut out, i),
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3b => {
            vector::vector(&mut out, i)
        }
        Format::Vop3p => vector::packed(&mut out, i),
        Format::Vopd => vector::pair(&mut out, i),
        Format::Ds => memory::ds(&mut out, i),
        Format::Flat | Format::Global | Format::Scratch => memory::flat(&mut out, i),
        Format::Mubuf | Format::Mtbuf => memory::buffer(&mut out, i),
        Format::Image => image::image(&mut out, i),
        Format::Graphics => Ok(()),
        // No matrix cores.
        Format::Mai => Ok(()),
    }
}

/// LLVM's mnemonic. It has names of their own for products of signed numbers only.
fn mnemonic(i: &Instruction, row: &Row) -> &'static str {
    match row.llvm_name {
        "v_dot4_i32_iu8" if is_signed_product(i) => "v_dot4_i32_i8",
        "v_dot8_i32_iu4" if is_signed_product(i) => "v_dot8_i32_i4",
        name => name,
    }
}

/// Whether both factors of a dot product are signed.
fn is_signed_product(i: &Instruction) -> bool {
    i.modifiers.neg == 0b11
}

/// The suffix of the mnemonic that stands for the encoding.
fn suffix(i: &Instruction, row: &Row) -> &'static str {
    let long = matches!(i.format, Format::Vop3 | Format::Vop3b | Format::Vop3p);
    let extended = i.extension != Extension::None;
    match i.format {
        // LLVM forgets the suffix of short compares.
        Format::Vopc if extended => "",
        _ if extended && long => "_e64_dpp",
        _ if extended => "_dpp",
        Format::Vop1 | Format::Vop2 | Format::Vopc if row.has(flag::E64) && has_suffix(row) => {
            "_e32"
        }
        Format::Vop3 | Format::Vop3b if row.has(flag::E64) && has_suffix(row) => "_e64",
        _ => "",
    }
}

/// Whether LLVM writes a suffix: not for instructions without operands.
fn has_suffix(row: &Row) -> bool {
    row.src[0].exists()
}
