//! Instructions by their text, offset and source lines.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use ferrowave_code_object::{LineTables, SourceLocation};
use serde::Serialize;

use super::Kernel;

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

/// Instructions that the compiler added have no line: they take that of the instruction before them.
const SEARCHED_BYTES: u64 = 64;

/// Names the instructions of a kernel.
pub struct Names<'a> {
    kernel: &'a Kernel,
    /// The code object's, which are read once.
    lines: &'a LineTables,
    /// The current directory.
    here: Option<PathBuf>,
}

impl<'a> Names<'a> {
    /// Of a kernel.
    pub fn new(kernel: &'a Kernel) -> Self {
        Names {
            kernel,
            lines: kernel.object().lines(),
            here: env::current_dir().ok(),
        }
    }

    /// The instruction at an index of the code.
    pub fn place(&self, index: u32) -> Option<Place> {
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

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}
