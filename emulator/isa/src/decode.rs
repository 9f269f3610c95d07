//! Decodes instruction words to an [`Instruction`].

use ferrowave_gpu::{Family, Gpu};

use super::{DecodeError, DecodeErrorKind, Instruction, cdna};

/// Decodes the instruction at the start of `words`. `offset` is its place in the code, used only in errors.
///
/// Accepts and refuses the same words as LLVM's disassembler, except where LLVM accepts what these GPUs do not have
/// (registers of later GPUs, special scalars in place of vector registers, odd accumulator tuples, …). Such words are
/// refused; `tests/llvm.rs` lists the cases.
///
/// A tuple of vector registers may extend past v255, as in LLVM. A caller that uses registers after the first
/// (`Operand::bits`) must check for this.
///
/// # Errors
/// If the words are not an instruction of this GPU, have an operand that the instruction does not accept, or end too
/// early.
pub fn decode(gpu: Gpu, words: &[u32], offset: u64) -> Result<Instruction, DecodeError> {
    match gpu.family() {
        Family::Cdna => cdna::decode(gpu, words, offset),
        Family::Rdna => Err(DecodeError {
            offset,
            word: words.first().copied().unwrap_or(0),
            gpu,
            kind: DecodeErrorKind::NoTable,
        }),
    }
}
