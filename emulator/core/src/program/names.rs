//! Describes instructions by text, offset and source lines.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use ferrowave_code_object::{LineTables, SourceLocation};
use serde::Serialize;

use super::Kernel;

/// An instruction in its code object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolizedInstruction {
    /// Its text.
    pub text: String,
    /// Its offset in the code object's image, in bytes.
    pub offset: u64,
    /// Its source line, then the calls through which it was inlined, outwards; empty without line tables.
    pub source: Vec<SourceLine>,
}

impl SymbolizedInstruction {
    /// The lines outside of the standard library, innermost first; all lines if there are none.
    pub fn own_source(&self) -> Vec<&SourceLine> {
        let own: Vec<_> = self.source.iter().filter(|line| line.is_own()).collect();
        match own.is_empty() {
            true => self.source.iter().collect(),
            false => own,
        }
    }
}

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The file, as passed to the compiler.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The function.
    pub function: Option<String>,
}

impl SourceLine {
    /// The line of a location; `None` without a file or line. Paths below the current directory become relative.
    pub fn of(location: SourceLocation) -> Option<Self> {
        Self::told_from(location, env::current_dir().ok().as_deref())
    }

    /// The same for a given directory. Getting the current directory from the system takes longer than the rest.
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

    /// Removes the frames that are in Rust's own library, unless all are.
    pub fn own(mut frames: Vec<Self>) -> Vec<Self> {
        if frames.iter().any(Self::is_own) {
            frames.retain(Self::is_own);
        }
        frames
    }

    /// Whether it is outside of Rust's own library.
    fn is_own(&self) -> bool {
        !self.file.contains("/lib/rustlib/src/rust/library/")
    }
}

/// Instructions that the compiler added have no line. They get the line of the nearest instruction before, within this
/// distance.
const SEARCHED_BYTES: u64 = 64;

/// Describes the instructions of a kernel.
pub struct Names<'a> {
    kernel: &'a Kernel,
    /// The line tables of the code object.
    lines: &'a LineTables,
    /// The current directory.
    here: Option<PathBuf>,
}

impl<'a> Names<'a> {
    /// For `kernel`.
    pub fn new(kernel: &'a Kernel) -> Self {
        Names {
            kernel,
            lines: kernel.object().lines(),
            here: env::current_dir().ok(),
        }
    }

    /// The description of the instruction at an index of the code.
    pub fn place(&self, index: u32) -> Option<SymbolizedInstruction> {
        let code = self.kernel.code();
        let instruction = code.instruction(index)?;
        let offset = self.kernel.offset_of(index);
        Some(SymbolizedInstruction {
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

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}
