//! Writes profiles as text.

use super::{
    InstructionProfile, Profile,
    lines::{Sources, groups, hottest},
    summary::{Row, extent, grouped, percent, rows},
    totals::ratio,
};

/// The number of source lines in a summary.
const HOT_LINES: usize = 8;

/// The bars of a listing: how often an instruction ran, relative to the one that ran most.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The note for code objects without line tables.
pub(super) const NO_LINES: &str =
    "the code object has no line tables, so that instructions are named by their offsets only";

pub(super) fn write(profiles: &[Profile], with_listing: bool) -> String {
    let mut text = String::new();
    let mut sources = Sources::default();
    for (index, profile) in profiles.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        summary(profile, &mut text, &mut sources);
        if with_listing {
            text.push('\n');
            listing(profile, &mut text, &mut sources);
        }
    }
    let without_lines = |profile: &Profile| !profile.has_lines();
    if profiles.iter().any(without_lines) {
        text.push('\n');
        let names = profiles.iter().filter(|profile| without_lines(profile));
        let names: Vec<_> = names.map(|profile| profile.kernel.as_str()).collect();
        line(&mut text, &format!("{}: {NO_LINES}", names.join(", ")));
    }
    text
}

/// Adds a line without trailing spaces.
fn line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

fn summary(profile: &Profile, text: &mut String, sources: &mut Sources) {
    line(text, &format!("{} {}", profile.kernel, extent(profile)));
    let rows = rows(profile);
    let width = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let names = width(|row| row.name.chars().count() + if row.is_part { 2 } else { 0 });
    let values = width(|row| row.value.chars().count());
    for row in &rows {
        let indent = if row.is_part { "  " } else { "" };
        let name = format!("{indent}{}", row.name);
        let (value, note) = (&row.value, &row.note);
        line(text, &format!("  {name:names$}  {value:>values$}  {note}"));
    }
    let hot = hottest(profile);
    let all = profile.totals().wave_instructions;
    if !hot.is_empty() {
        line(text, "  source lines by wave-instructions");
    }
    for hot in hot.iter().take(HOT_LINES) {
        let share = percent(ratio(hot.wave_instructions, all));
        let source = sources.text(hot.line).unwrap_or_default();
        let place = format!("{}:{}", hot.line.file, hot.line.line);
        line(text, &format!("    {share:>7}  {place}  {source}"));
    }
}

fn listing(profile: &Profile, text: &mut String, sources: &mut Sources) {
    let counts = profile.instructions.iter().map(|i| i.counts.executions);
    let most = counts.max().unwrap_or(0);
    line(
        text,
        "           runs  lanes  lines  conflicts  offset  instruction",
    );
    for group in groups(profile) {
        if let Some(source) = group.lines.first() {
            let place = format!("{}:{}", source.file, source.line);
            let code = sources.text(source).unwrap_or_default();
            line(text, &format!("{place}  {code}"));
            if group.lines.len() > 1 {
                line(text, &format!("  {}", group.calls()));
            }
        }
        for instruction in group.instructions {
            line(text, &row(profile, instruction, most));
        }
    }
}

fn row(profile: &Profile, instruction: &InstructionProfile, most: u64) -> String {
    let runs = instruction.counts.executions;
    let bar = BARS[heat(runs, most)];
    let (lanes, lines, conflicts) = (
        instruction
            .lanes_per_run()
            .map_or(String::new(), |x| format!("{x:.1}")),
        instruction
            .lines_per_access(profile.gpu)
            .map_or(String::new(), |x| format!("{x:.1}")),
        instruction
            .conflicts_per_run()
            .map_or(String::new(), |x| format!("{x:.1}")),
    );
    let runs = grouped(runs);
    let (offset, text) = (instruction.place.offset, instruction.text());
    format!("  {bar} {runs:>11}  {lanes:>5}  {lines:>5}  {conflicts:>9}  {offset:>6x}  {text}")
}

/// `part` relative to `most` in eighths, rounded up; 0 only if `part` is 0.
pub(super) fn heat(part: u64, most: u64) -> usize {
    match ratio(part, most) {
        Some(share) if part > 0 => ((8.0 * share).ceil() as usize).clamp(1, 8),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_is_warmer_than_what_did_not() {
        assert_eq!(
            [0, 1, 500, 501, 1000].map(|n| heat(n, 1000)),
            [0, 1, 4, 5, 8]
        );
        assert_eq!(heat(0, 0), 0);
    }
}
