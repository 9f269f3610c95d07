//! Describes findings, with the names of kernels, instructions, source lines and allocations.

mod json;
mod sarif;
mod text;

use std::fmt;

use serde::Serialize;

use super::{Access, Check, Findings, Kind, Side};
use ferrowave_emulator::exec::lanes_of;
use ferrowave_emulator::memory::View;
use ferrowave_emulator::program::{Kernel, Names, SymbolizedInstruction};

/// A finding: what was found, where, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was found.
    #[serde(serialize_with = "as_id")]
    pub kind: Kind,
    /// The kernel.
    pub kernel: String,
    /// The wave of the example, from the first workgroup with this finding.
    #[serde(flatten)]
    pub wave: WavePart,
    /// The accessed memory.
    pub memory: Option<Memory>,
    /// The other side of a race, or the earlier instruction.
    pub other: Option<WavePart>,
    /// The number of occurrences in the launch, over all workgroups, waves and repetitions of the instruction.
    pub count: u64,
}

/// What a wave did, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WavePart {
    /// What it did.
    pub what: String,
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// The wave in the workgroup.
    pub wave: u32,
    /// The lanes, if they matter; empty for a scalar access.
    pub lanes: Vec<u8>,
    /// The instruction, if known.
    pub instruction: Option<SymbolizedInstruction>,
}

/// The memory of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "space", rename_all = "kebab-case")]
pub enum Memory {
    /// Global memory.
    Global {
        /// First byte.
        address: u64,
        /// Length in bytes.
        bytes: u32,
        /// A description of the address relative to the allocations.
        place: String,
        /// The nearest allocation.
        allocation: Option<Allocation>,
    },
    /// The workgroup's LDS.
    Lds {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        bytes: u32,
    },
}

/// An allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Length in bytes.
    pub bytes: usize,
    /// What the allocation is for.
    pub kind: String,
    /// The finding's address relative to the start.
    pub offset: i64,
    /// Whether it had been freed.
    pub freed: bool,
}

impl Finding {
    /// Whether both have the same kind, kernel and instructions.
    pub fn is_same(&self, other: &Finding) -> bool {
        let offset = |part: &WavePart| part.instruction.as_ref().map(|place| place.offset);
        self.kind == other.kind
            && self.kernel == other.kernel
            && offset(&self.wave) == offset(&other.wave)
            && self.other.as_ref().map(offset) == other.other.as_ref().map(offset)
    }
}

fn as_id<S: serde::Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.id())
}

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Text,
    /// JSON of [`JSON_VERSION`].
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

pub use json::JSON_VERSION;

impl Format {
    /// The format for a file name: by the extension `.json` or `.sarif`, otherwise text.
    pub fn of_file(name: &str) -> Self {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        match ending {
            Some("json") => Format::Json,
            Some("sarif") => Format::Sarif,
            _ => Format::Text,
        }
    }

    /// Writes findings.
    pub fn write(self, checks: &[Check], findings: &[Finding]) -> String {
        match self {
            Format::Text => text::write(checks, findings),
            Format::Json => json::write(checks, findings),
            Format::Sarif => sarif::write(findings),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::finding(self, f)
    }
}

/// Describes raw findings.
pub(super) fn describe(kernel: &Kernel, view: &View, findings: &Findings) -> Vec<Finding> {
    let sorted = findings.sorted();
    if sorted.is_empty() {
        return Vec::new();
    }
    let names = Names::new(kernel);
    sorted
        .into_iter()
        .map(|(key, example, count)| Finding {
            kind: key.kind,
            kernel: kernel.name().to_owned(),
            wave: part(&names, &example.side),
            memory: example.access.map(|access| memory(view, access)),
            other: example.other.as_ref().map(|other| part(&names, other)),
            count,
        })
        .collect()
}

fn part(names: &Names<'_>, side: &Side) -> WavePart {
    WavePart {
        what: side.what.clone(),
        workgroup: side.workgroup,
        wave: side.wave,
        lanes: lanes_of(side.lanes).map(|lane| lane as u8).collect(),
        instruction: names.place(side.index),
    }
}

fn memory(view: &View, access: Access) -> Memory {
    match access {
        Access::Lds { offset, bytes } => Memory::Lds { offset, bytes },
        Access::Global { address, bytes } => {
            let freed = view.freed(address);
            let nearest = freed
                .map(|info| (info, i128::from(address) - i128::from(info.base)))
                .or_else(|| view.nearest(address));
            Memory::Global {
                address,
                bytes,
                place: view.place(address, bytes),
                allocation: nearest.map(|(info, offset)| Allocation {
                    base: info.base,
                    bytes: info.bytes,
                    kind: info.kind.to_string(),
                    offset: offset as i64,
                    freed: freed.is_some(),
                }),
            }
        }
    }
}
