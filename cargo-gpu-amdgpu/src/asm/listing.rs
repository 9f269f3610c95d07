//! Instructions under their source lines, with loops drawn beside them.

use std::fmt::Write as _;

use ferrowave_emulator::program::SourceLine;
use ferrowave_profile::Sources;

use super::{
    Code,
    loops::{Loop, loops, mix},
};

/// The listing of a kernel.
pub(super) fn write(code: &Code<'_>) -> String {
    let loops = loops(&code.lines);
    let mut sources = Sources::default();
    let mut text = format!(
        "{} on {}: {}\n",
        code.name(),
        code.object.target().gpu,
        mix(&code.lines)
    );
    let mut last_source: Vec<SourceLine> = Vec::new();
    let mut has_lines = false;
    for (index, line) in code.lines.iter().enumerate() {
        for (number, begun) in numbered(&loops).filter(|(_, found)| found.first == index) {
            let gutter = gutter(&loops, index, |found| {
                found.first < begun.first || found.last > begun.last
            });
            let what = mix(begun.body.iter().map(|&index| &code.lines[index]));
            push(&mut text, &format!("{gutter}┌ loop {number}: {what}"));
            // The source line is repeated inside the loop.
            last_source.clear();
        }
        let gutter = gutter(&loops, index, |_| true);
        let frames = code.object.lines().frames(line.address);
        let source = SourceLine::own(frames.into_iter().filter_map(SourceLine::of).collect());
        // An instruction without a line stays under the line of the one before.
        if let Some(innermost) = source.first()
            && !same(&source, &last_source)
        {
            has_lines = true;
            let code = sources.text(innermost).unwrap_or_default();
            let place = format!("{}:{}", innermost.file, innermost.line);
            push(
                &mut text,
                &format!("{gutter}{place}  {code}{}", calls(&source)),
            );
            last_source = source;
        }
        push(
            &mut text,
            &format!(
                "{gutter}  {:>6x}  {}",
                line.address - code.kernel.code.start,
                line.text
            ),
        );
        for (number, ended) in numbered(&loops)
            .filter(|(_, found)| found.last == index)
            .rev()
        {
            let gutter = self::gutter(&loops, index, |found| {
                found.first < ended.first || found.last > ended.last
            });
            push(&mut text, &format!("{gutter}└ loop {number}"));
            last_source.clear();
        }
    }
    if !has_lines {
        push(
            &mut text,
            "the code object has no line tables, so source lines are not shown",
        );
    }
    text
}

fn numbered(loops: &[Loop]) -> impl DoubleEndedIterator<Item = (usize, &Loop)> {
    (1..loops.len() + 1).zip(loops)
}

/// A bar for each loop around an instruction that `counts` accepts.
fn gutter(loops: &[Loop], index: usize, counts: impl Fn(&Loop) -> bool) -> String {
    let around = loops
        .iter()
        .filter(|found| (found.first..=found.last).contains(&index) && counts(found));
    "│ ".repeat(around.count())
}

/// The calls that a line was inlined through, innermost first, without folders.
fn calls(source: &[SourceLine]) -> String {
    let mut text = String::new();
    for call in source.iter().skip(1) {
        let name = call.file.rsplit('/').next().unwrap_or_default();
        // Writing to a string does not fail.
        let _ = write!(text, " ← {name}:{}", call.line);
    }
    text
}

/// Whether both are the same line through the same calls; columns are ignored.
fn same(a: &[SourceLine], b: &[SourceLine]) -> bool {
    let at = |line: &SourceLine| (line.file.clone(), line.line);
    a.iter().map(at).eq(b.iter().map(at))
}

/// Adds a line without trailing space.
fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
