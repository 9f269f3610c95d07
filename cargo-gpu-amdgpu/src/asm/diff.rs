//! The difference between a kernel and the same kernel of another build.

use std::fmt::Write as _;

use ferrowave_inspect::CodeLine;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

use super::{Code, loops::mix};

/// Instructions shown around a difference.
const CONTEXT: u32 = 3;

/// The differences from the earlier kernel, if there is one.
pub(super) fn write(before: Option<&Code<'_>>, now: &Code<'_>) -> String {
    let gpu = now.object.target().gpu;
    let name = now.name();
    let Some(before) = before else {
        return format!("{name} on {gpu}: not in the other build\n");
    };
    let (old, new) = (text(&before.lines), text(&now.lines));
    let (old_use, new_use) = (resources(before), resources(now));
    if old == new && old_use == new_use {
        return format!("{name} on {gpu}: the same\n");
    }
    let mut text = format!("{name} on {gpu}\n");
    // Writing to a string does not fail.
    let _ = write!(text, "- {old_use}\n+ {new_use}\n");
    let lines = InternedInput::new(old.as_str(), new.as_str());
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let printer = BasicLineDiffPrinter(&lines.interner);
    let mut form = UnifiedDiffConfig::default();
    form.context_len(CONTEXT);
    let _ = write!(text, "{}", diff.unified_diff(&printer, form, &lines));
    text
}

/// A kernel's registers, memory and instruction mix.
fn resources(code: &Code<'_>) -> String {
    let metadata = &code.kernel.metadata;
    format!(
        "{} VGPRs, {} AGPRs, {} SGPRs, {} B of LDS, {} B of scratch; {}",
        metadata.vgpr_count,
        metadata.agpr_count.unwrap_or(0),
        metadata.sgpr_count,
        metadata.group_segment_fixed_size,
        metadata.private_segment_fixed_size,
        mix(&code.lines)
    )
}

/// One instruction per line. Branches are printed without their distance, which changes with all the code between.
fn text(lines: &[CodeLine]) -> String {
    let mut text = String::new();
    for line in lines {
        let shown = match line.branch_target() {
            Some(_) => line.text.split(' ').next().unwrap_or_default(),
            None => &line.text,
        };
        text.push_str(shown);
        text.push('\n');
    }
    text
}
