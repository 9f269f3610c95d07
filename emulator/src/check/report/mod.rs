//! Findings in words: with the names of kernels, instructions, source lines and allocations.

mod json;
mod sarif;
mod text;

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use ferrowave_code_object::{LineTables, SourceLocation};
use serde::Serialize;

use super::{Access, Check, Findings, Kind, Side};
use crate::{memory::View, program::Kernel};

/// One finding of a check: what, where, and how often it was met at this place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was found.
    #[serde(serialize_with = "as_id")]
    pub kind: Kind,
    /// The kernel.
    pub kernel: String,
    /// The wave that was found, in the first workgroup where it was.
    #[serde(flatten)]
    pub wave: WavePart,
    /// The memory that it is about.
    pub memory: Option<Memory>,
    /// The other side of a race, or the instruction that this one depends on.
    pub other: Option<WavePart>,
    /// How often it was met in the launch, over all workgroups, waves and repetitions of the instruction.
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
    /// The lanes, where it matters which; none for the scalar unit.
    pub lanes: Vec<u8>,
    /// The instruction, where it is known.
    pub instruction: Option<Place>,
}

/// An instruction in its code object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its text.
    pub text: String,
    /// Its offset in the code object's image, in bytes.
    pub offset: u64,
    /// Its source line, and the calls that it was inlined into, outwards; none without line tables.
    pub source: Vec<SourceLine>,
}

impl Place {
    /// Its lines that are not the standard library's, innermost first; all, if there are no others.
    pub fn own_source(&self) -> Vec<&SourceLine> {
        let own: Vec<_> = self.source.iter().filter(|line| line.is_own()).collect();
        match own.is_empty() {
            true => self.source.iter().collect(),
            false => own,
        }
    }
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The function.
    pub function: Option<String>,
}

impl SourceLine {
    /// A place in a source file; nothing if it has no file or no line. Paths below the current directory are told from
    /// there.
    pub fn of(location: SourceLocation) -> Option<Self> {
        Self::told_from(location, env::current_dir().ok().as_deref())
    }

    /// The same, from a directory. Asking the system for the current one takes longer than all the rest.
    fn told_from(location: SourceLocation, here: Option<&Path>) -> Option<Self> {
        let file = location.file?;
        let below = here.and_then(|here| Path::new(&file).strip_prefix(here).ok());
        Some(SourceLine {
            file: below.map_or_else(|| file.clone(), |path| path.display().to_string()),
            line: location.line?,
            column: location.column,
            function: location.function,
        })
    }

    /// Of a line and the calls that it was inlined through, those that are not in Rust's own library; all, if none is.
    pub fn own(mut frames: Vec<Self>) -> Vec<Self> {
        if frames.iter().any(Self::is_own) {
            frames.retain(Self::is_own);
        }
        frames
    }

    /// Whether it is not in Rust's own library.
    fn is_own(&self) -> bool {
        !self.file.contains("/lib/rustlib/src/rust/library/")
    }
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
        /// Where that lies among the allocations, in words.
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
    /// What it is for.
    pub kind: String,
    /// The finding's address, counted from its start.
    pub offset: i64,
    /// Whether it was freed before.
    pub freed: bool,
}

impl Finding {
    /// Whether it is of the same kind at the same instructions of the same kernel.
    pub(crate) fn is_same(&self, other: &Finding) -> bool {
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

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// JSON of [`JSON_VERSION`].
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

pub use json::JSON_VERSION;

impl Format {
    /// By the ending of a file's name: `.json`, `.sarif`, or text.
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

/// Instructions that the compiler made up have no line; the one before tells where they belong.
const SEARCHED_BYTES: u64 = 64;

/// Puts findings in words.
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
            wave: names.part(&example.side),
            memory: example.access.map(|access| memory(view, access)),
            other: example.other.as_ref().map(|other| names.part(other)),
            count,
        })
        .collect()
}

/// Names the instructions of a kernel.
pub(crate) struct Names<'a> {
    kernel: &'a Kernel,
    /// The code object's, which are read once.
    lines: &'a LineTables,
    /// The current directory.
    here: Option<PathBuf>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(kernel: &'a Kernel) -> Self {
        Names {
            kernel,
            lines: kernel.object().lines(),
            here: env::current_dir().ok(),
        }
    }

    fn part(&self, side: &Side) -> WavePart {
        WavePart {
            what: side.what.clone(),
            workgroup: side.workgroup,
            wave: side.wave,
            lanes: (0..64).filter(|lane| side.lanes >> lane & 1 == 1).collect(),
            instruction: self.place(side.index),
        }
    }

    /// The instruction at an index of the code.
    pub(crate) fn place(&self, index: u32) -> Option<Place> {
        let code = self.kernel.code();
        let instruction = code.instruction(index)?;
        let offset = self.kernel.offset_of(index);
        Some(Place {
            text: instruction.text(self.kernel.gpu()).to_string(),
            offset,
            source: self.source(offset),
        })
    }

    fn source(&self, offset: u64) -> Vec<SourceLine> {
        let start = self.kernel.description().code.start;
        let first = offset.saturating_sub(SEARCHED_BYTES).max(start);
        (first..=offset)
            .rev()
            .step_by(4)
            .map(|offset| {
                let frames = self.lines.frames(offset).into_iter();
                let here = self.here.as_deref();
                let lines = frames.filter_map(|frame| SourceLine::told_from(frame, here));
                lines.collect::<Vec<_>>()
            })
            .find(|frames| !frames.is_empty())
            .unwrap_or_default()
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
