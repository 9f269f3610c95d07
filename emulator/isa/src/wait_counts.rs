//! The fields of `s_waitcnt`.

use std::collections::VecDeque;

use super::{Instruction, Source};

/// The operands of an `s_waitcnt`: how many operations of each counter may still be in flight after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCounts {
    /// Vector memory.
    pub vm: u32,
    /// LDS, GDS, scalar memory, messages.
    pub lgkm: u32,
    /// Exports and GDS data.
    pub exp: u32,
}

impl WaitCounts {
    /// The counts of an `s_waitcnt` (CDNA3 ISA guide, `S_WAITCNT`). A counter's largest value does not wait.
    pub fn of(instruction: Option<&Instruction>) -> Self {
        let bits = match instruction.map(|i| i.src[0].source) {
            Some(Source::Literal(bits)) => bits,
            _ => u32::MAX,
        };
        let field = |value: u32, most: u32| if value == most { u32::MAX } else { value };
        WaitCounts {
            vm: field(bits & 0xf | bits >> 10 & 0x30, 63),
            lgkm: field(bits >> 8 & 0xf, 15),
            exp: field(bits >> 4 & 7, 7),
        }
    }

    /// Removes the completed operations from a queue whose operations complete in order.
    pub fn keep_newest<T>(queue: &mut VecDeque<T>, count: u32) {
        let done = queue.len().saturating_sub(count as usize);
        if done > 0 {
            queue.drain(..done);
        }
    }
}
