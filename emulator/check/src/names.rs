//! Helpers that several checks share.

use super::stamp::Stamp;
use ferrowave_emulator::exec::GroupStart;

/// Numbers instructions for stamps, starting a little before the kernel's first instruction: functions that it calls
/// may be there.
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

    /// The number of an instruction. A number that does not fit is unknown in a stamp.
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

/// What a wave did that reads memory or LDS without a value.
pub(super) fn uninitialized(bytes: u32) -> String {
    let bytes = bytes_text(bytes);
    format!("reads {bytes}, of which some were never written")
}
