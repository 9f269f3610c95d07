//! Groups instructions by source lines.

use std::{collections::HashMap, fs};

use super::{InstructionProfile, Profile};
use ferrowave_emulator::program::SourceLine;

/// The maximum size in bytes of a source file that is read.
const MAX_SOURCE_BYTES: u64 = 1 << 22;

/// Consecutive instructions from the same line, inlined through the same calls.
pub(super) struct Group<'a> {
    /// The line, then the calls through which it was inlined, outwards; empty without line tables.
    pub(super) lines: Vec<&'a SourceLine>,
    pub(super) instructions: &'a [InstructionProfile],
}

impl Group<'_> {
    /// The calls through which the line was inlined, outwards, without folders.
    pub(super) fn calls(&self) -> String {
        let calls = self.lines.iter().skip(1).map(|line| {
            let name = line.file.rsplit('/').next().unwrap_or_default();
            format!("← {name}:{}", line.line)
        });
        calls.collect::<Vec<_>>().join(" ")
    }
}

/// Splits a kernel's instructions where the line changes.
pub(super) fn groups(profile: &Profile) -> Vec<Group<'_>> {
    let same = |a: &InstructionProfile, b: &InstructionProfile| {
        let (a, b) = (a.place.own_source(), b.place.own_source());
        a.iter()
            .map(|line| at(line))
            .eq(b.iter().map(|line| at(line)))
    };
    let chunks = profile.instructions.chunk_by(same);
    chunks
        .map(|instructions| Group {
            lines: instructions
                .first()
                .map_or_else(Vec::new, |first| first.place.own_source()),
            instructions,
        })
        .collect()
}

/// The line of the kernel's own source from which an instruction comes.
fn line(instruction: &InstructionProfile) -> Option<&SourceLine> {
    instruction.place.own_source().into_iter().next()
}

/// The identity of a line: file and number, without the column.
fn at(line: &SourceLine) -> (&str, u32) {
    (&line.file, line.line)
}

/// A source line with the sums of its instructions.
pub(super) struct Hot<'a> {
    pub(super) line: &'a SourceLine,
    pub(super) wave_instructions: u64,
    pub(super) lds_conflict_cycles: u64,
    pub(super) operations: u64,
}

/// The executed lines, the one with the most wave-instructions first.
pub(super) fn hottest(profile: &Profile) -> Vec<Hot<'_>> {
    let mut lines: HashMap<(&str, u32), Hot<'_>> = HashMap::new();
    for instruction in &profile.instructions {
        let Some(line) = line(instruction).filter(|_| instruction.counts.executions > 0) else {
            continue;
        };
        let hot = lines.entry((&line.file, line.line)).or_insert(Hot {
            line,
            wave_instructions: 0,
            lds_conflict_cycles: 0,
            operations: 0,
        });
        hot.wave_instructions += instruction.counts.executions;
        hot.lds_conflict_cycles += instruction.counts.lds_conflict_cycles;
        hot.operations += instruction.operations();
    }
    let mut lines: Vec<_> = lines.into_values().collect();
    lines.sort_by(|a, b| {
        b.wave_instructions
            .cmp(&a.wave_instructions)
            .then_with(|| (&a.line.file, a.line.line).cmp(&(&b.line.file, b.line.line)))
    });
    lines
}

/// Source files, each read once. Files that no longer exist are skipped.
#[derive(Debug, Default)]
pub struct Sources(HashMap<String, Vec<String>>);

impl Sources {
    /// The text of a line, trimmed.
    pub fn text(&mut self, line: &SourceLine) -> Option<&str> {
        let lines = self
            .0
            .entry(line.file.clone())
            .or_insert_with(|| read(&line.file));
        let text = lines.get((line.line as usize).checked_sub(1)?)?.trim();
        (!text.is_empty()).then_some(text)
    }
}

/// The lines of a file; empty if it is not a file, or too large for a source.
fn read(path: &str) -> Vec<String> {
    let readable =
        |metadata: &fs::Metadata| metadata.is_file() && metadata.len() <= MAX_SOURCE_BYTES;
    if !fs::metadata(path).is_ok_and(|metadata| readable(&metadata)) {
        return Vec::new();
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
