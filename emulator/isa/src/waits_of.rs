//! What an instruction waits for.

use super::row::Immediate;
use super::{Instruction, Source, WaitCounts, cdna};

impl WaitCounts {
    /// The counts of an instruction.
    pub fn of(instruction: Option<&Instruction>) -> Self {
        let Some(instruction) = instruction else {
            return Self::NONE;
        };
        match (instruction.row.imm, instruction.src[0].source) {
            (Immediate::Waitcnt, Source::Literal(bits)) => cdna::wait_counts(bits),
            _ => Self::NONE,
        }
    }
}
