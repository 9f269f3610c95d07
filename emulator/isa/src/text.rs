//! The text of an instruction.

use std::fmt;

use ferrowave_gpu::{Family, Gpu};

use super::{Instruction, cdna, rdna};

/// Displays an instruction as `llvm-objdump` does, without its address and words.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    instruction: &'a Instruction,
    gpu: Gpu,
}

impl Instruction {
    /// The instruction in LLVM's assembly syntax for `gpu`, the GPU for which it was decoded.
    ///
    /// Branch distances are printed as numbers: the target depends on the address of the instruction.
    pub fn text(&self, gpu: Gpu) -> Text<'_> {
        Text {
            instruction: self,
            gpu,
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gpu.family() {
            Family::Cdna => cdna::write(self.instruction, self.gpu, f),
            Family::Rdna => rdna::write(self.instruction, self.gpu, f),
        }
    }
}
