//! Decodes instruction words to an [`Instruction`].

use ferrowave_gpu::{Family, Gpu, GpuLimits};

use super::{DecodeError, Instruction, cdna, rdna};

/// Decodes the instruction at the start of `words`. `offset` is its place in the code, used only in errors.
///
/// Accepts and refuses the same words as LLVM's disassembler, except where LLVM accepts what these GPUs do not have
/// (registers of later GPUs, special scalars in place of vector registers, odd accumulator tuples, …). Such words are
/// refused; `tests/llvm.rs` lists the cases.
///
/// A tuple of vector registers may extend past v255, as in LLVM. A caller that uses registers after the first
/// (`Operand::bits`) must check for this.
///
/// The words are those of a wave of the size that LLVM takes for granted ([`GpuLimits::wave_size`]); see
/// [`decode_for_wave`].
///
/// # Errors
/// If the words are not an instruction of this GPU, have an operand that the instruction does not accept, or end too
/// early.
pub fn decode(gpu: Gpu, words: &[u32], offset: u64) -> Result<Instruction, DecodeError> {
    decode_for_wave(gpu, GpuLimits::of(gpu).wave_size, words, offset)
}

/// As [`decode`], for waves of `lanes` lanes. On RDNA, whose waves have 32 or 64, this is the width of lane masks and
/// decides how many registers hold a matrix; pairs of instructions are only for 32.
///
/// # Errors
/// As [`decode`].
pub fn decode_for_wave(
    gpu: Gpu,
    lanes: u32,
    words: &[u32],
    offset: u64,
) -> Result<Instruction, DecodeError> {
    match gpu.family() {
        Family::Cdna => cdna::decode(gpu, words, offset),
        Family::Rdna => rdna::decode(gpu, lanes, words, offset),
    }
}
