//! Writes findings as text.

use std::fmt::{self, Write as _};

use super::{Check, Finding, Kind, Memory, WavePart};
use ferrowave_emulator::program::SymbolizedInstruction;

pub(super) fn write(checks: &[Check], findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{finding}\n");
    }
    if !findings.is_empty() && findings.iter().all(|finding| !has_lines(finding)) {
        text += "the code object has no line tables, so that instructions are named by their offsets only\n";
    }
    let names: Vec<_> = checks.iter().map(|check| check.name()).collect();
    let names = names.join(", ");
    let _ = match findings.len() {
        0 => writeln!(text, "nothing found (checked: {names})"),
        1 => writeln!(text, "1 finding (checked: {names})"),
        count => writeln!(text, "{count} findings (checked: {names})"),
    };
    text
}

/// Whether the finding names a source line. A panic's text does; its instruction is the handler's, which has none.
fn has_lines(finding: &Finding) -> bool {
    let place = finding.wave.instruction.as_ref();
    finding.kind == Kind::Panic || place.is_some_and(|place| !place.source.is_empty())
}

pub(super) fn finding(finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let wave = &finding.wave;
    write!(f, "{}: {}", finding.kind, subject(wave))?;
    match &finding.memory {
        Some(Memory::Global { address, place, .. }) => write!(f, " at {address:#x}, {place}")?,
        Some(Memory::Lds { offset, .. }) => write!(f, " at LDS byte {offset:#x}")?,
        None => {}
    }
    if finding.kind == Kind::ScheduleDependence {
        return write!(f, "\n  in kernel `{}`", finding.kernel);
    }
    let [x, y, z] = wave.workgroup;
    write!(
        f,
        "\n  in kernel `{}`, workgroup ({x}, {y}, {z}), wave {}",
        finding.kernel, wave.wave
    )?;
    place(wave.instruction.as_ref(), "  ", f)?;
    if let Some(other) = &finding.other {
        let [x, y, z] = other.workgroup;
        write!(f, "\n  wave {}", other.wave)?;
        if other.workgroup != wave.workgroup {
            write!(f, " of workgroup ({x}, {y}, {z})")?;
        }
        write!(f, " {}", other.what)?;
        place(other.instruction.as_ref(), "    ", f)?;
    }
    if finding.count > 1 {
        write!(f, "\n  met {} times", finding.count)?;
    }
    Ok(())
}

fn subject(wave: &WavePart) -> String {
    match lanes(&wave.lanes) {
        Some(lanes) => format!("{lanes} {}", wave.what),
        None => wave.what.clone(),
    }
}

fn place(
    place: Option<&SymbolizedInstruction>,
    indent: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let Some(place) = place else {
        return write!(f, "\n{indent}at an unknown instruction");
    };
    write!(
        f,
        "\n{indent}at `{}` (offset {:#x})",
        place.text, place.offset
    )?;
    let lines = place.own_source();
    let mut inlined = lines.iter();
    if let Some(line) = inlined.next() {
        write!(f, "\n{indent}from {line}")?;
    }
    // Of several inlined calls, the innermost tells the purpose and the outermost the kernel.
    if let Some(line) = inlined.next() {
        write!(f, "\n{indent}inlined into {line}")?;
    }
    if let Some(line) = inlined.next_back() {
        write!(f, ", then into {line}")?;
    }
    Ok(())
}

/// Lanes as text: ranges.
fn lanes(lanes: &[u8]) -> Option<String> {
    let first = *lanes.first()?;
    let mut ranges = vec![(first, first)];
    for &lane in &lanes[1..] {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == lane => *last = lane,
            _ => ranges.push((lane, lane)),
        }
    }
    let text = |&(first, last): &(u8, u8)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    let texts: Vec<_> = ranges.iter().map(text).collect();
    let word = if lanes.len() == 1 { "lane" } else { "lanes" };
    // The verb describes the access of one lane.
    let each = if lanes.len() == 1 { "" } else { ", each" };
    Some(format!("{word} {}{each}", texts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::lanes;

    #[test]
    fn lanes_are_ranges() {
        let text = |list: &[u8]| lanes(list);
        assert_eq!(text(&[]), None);
        assert_eq!(text(&[5]).as_deref(), Some("lane 5"));
        assert_eq!(
            text(&[0, 1, 2, 3, 7, 9, 10]).as_deref(),
            Some("lanes 0 to 3, 7, 9, 10, each")
        );
    }
}
