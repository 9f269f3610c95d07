//! What an instruction waits for.

use super::row::Immediate;
use super::{Instruction, Source, WaitCounts, cdna, rdna};

impl WaitCounts {
    /// The counts of an instruction.
    pub fn of(instruction: Option<&Instruction>) -> Self {
        let Some(instruction) = instruction else {
            return Self::NONE;
        };
        let bits = instruction
            .src
            .iter()
            .find_map(|operand| match operand.source {
                Source::Literal(bits) => Some(bits),
                _ => None,
            });
        match (instruction.row.imm, bits) {
            (Immediate::Waitcnt, Some(bits)) => cdna::wait_counts(bits),
            (kind, Some(bits)) => rdna::wait_counts(kind, bits),
            (_, None) => Self::NONE,
        }
    }
}
