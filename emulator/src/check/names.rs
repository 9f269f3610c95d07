//! Small things that several checks say or count alike.

use std::collections::VecDeque;

use super::stamp::Stamp;
use crate::{
    exec::{Code, GroupStart},
    isa::Source,
};

/// What stamps call instructions: they count from a little before the kernel's first, as functions that it calls may
/// stand there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    first: u32,
}

impl Numbering {
    const BEFORE: u32 = 1 << 13;

    pub(super) fn of(group: &GroupStart<'_>) -> Self {
        let entry = group.waves.first().map_or(0, |wave| wave.pc);
        Numbering {
            first: entry.saturating_sub(Self::BEFORE),
        }
    }

    /// The number of an instruction; one that does not fit is unknown in a stamp.
    pub(super) fn code(self, index: u32) -> u32 {
        index.wrapping_sub(self.first)
    }

    pub(super) fn index(self, stamp: Stamp) -> Option<u32> {
        stamp.instruction().map(|code| code + self.first)
    }
}

pub(super) fn verb(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

pub(super) fn bytes_text(bytes: u32) -> String {
    match bytes {
        1 => "1 byte".into(),
        _ => format!("{bytes} bytes"),
    }
}

/// What an `s_waitcnt` waits for: so many operations of each counter may still be in flight behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitCounts {
    /// Vector memory.
    pub(crate) vm: u32,
    /// LDS, GDS, scalar memory, messages.
    pub(crate) lgkm: u32,
    /// Exports and GDS data.
    pub(crate) exp: u32,
}

impl WaitCounts {
    /// Of the `s_waitcnt` at an index (CDNA3 ISA guide, `S_WAITCNT`); a counter's largest value waits for nothing.
    pub(crate) fn of(code: &Code, index: u32) -> Self {
        let bits = code
            .instruction(index)
            .and_then(|i| match i.src[0].source {
                Source::Literal(bits) => Some(bits),
                _ => None,
            })
            .unwrap_or(u32::MAX);
        let field = |value: u32, most: u32| if value == most { u32::MAX } else { value };
        WaitCounts {
            vm: field(bits & 0xf | bits >> 10 & 0x30, 63),
            lgkm: field(bits >> 8 & 0xf, 15),
            exp: field(bits >> 4 & 7, 7),
        }
    }

    /// Drops what has come back of a queue in order.
    pub(crate) fn keep_newest<T>(&self, queue: &mut VecDeque<T>, count: u32) {
        let done = queue.len().saturating_sub(count as usize);
        if done > 0 {
            queue.drain(..done);
        }
    }
}
