//! Writes profiles as one HTML page, without scripts or external resources. Colours follow the reader's light or dark
//! mode. On narrow screens only the listing scrolls.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    InstructionProfile, Profile,
    lines::{Group, Sources, groups, hottest},
    summary::{Row, extent, grouped, percent, rows},
    text::{NO_LINES, heat},
    timed::Timed,
    totals::ratio,
};
use ferrowave_timing::{MODELLED, Stall, Timing};

const STYLE: &str = include_str!("page.css");

/// The number of source lines in the summary.
const HOT_LINES: usize = 16;

pub(super) fn write(profiles: &[Profile], timings: &[Timing]) -> String {
    let names: Vec<_> = profiles
        .iter()
        .map(|profile| profile.kernel.as_str())
        .collect();
    let mut sources = Sources::default();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Profile of " (names.join(", ")) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @for profile in profiles {
                        (section(profile, Timed::of(profile, timings).as_ref(), &mut sources))
                    }
                }
                footer {
                    p { "Counted by Ferrowave's emulator: what the machine code asks for, not how long a GPU takes." }
                    @if !timings.is_empty() {
                        p { "Times and waits are " (MODELLED) "." }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn section(profile: &Profile, timed: Option<&Timed<'_>>, sources: &mut Sources) -> Markup {
    let all = profile.totals().wave_instructions;
    let hot = hottest(profile);
    html! {
        section {
            h1 { (profile.kernel) }
            p { (extent(profile)) }
            (summary(&rows(profile)))
            @if let Some(timed) = timed {
                h2 { "Time, " (MODELLED) }
                (summary(&timed.rows()))
            }
            @if hot.is_empty() {
                p { (NO_LINES) "." }
            } @else {
                h2 { "Source lines by wave-instructions" }
                div.wide tabindex="0" {
                    table.lines {
                        thead {
                            tr { th { "share" } th { "conflicts" } th.left { "line" } th.left { "source" } }
                        }
                        tbody {
                            @for line in hot.iter().take(HOT_LINES) {
                                tr {
                                    td.number { (percent(ratio(line.wave_instructions, all))) }
                                    td.number { @if line.lds_conflict_cycles > 0 { (grouped(line.lds_conflict_cycles)) } }
                                    td { span.place { (line.line.file) ":" (line.line.line) } }
                                    td.code { (sources.text(line.line).unwrap_or_default()) }
                                }
                            }
                        }
                    }
                }
            }
            h2 { "Instructions" }
            (listing(profile, timed, sources))
        }
    }
}

fn summary(rows: &[Row]) -> Markup {
    html! {
        div.wide tabindex="0" {
            table.summary {
                @for row in rows {
                    tr {
                        th.part[row.is_part] scope="row" { (row.name) }
                        td.number { (row.value) }
                        td.note { (row.note) }
                    }
                }
            }
        }
    }
}

/// Columns of the listing; modelled times add two.
const COLUMNS: usize = 6;

fn listing(profile: &Profile, timed: Option<&Timed<'_>>, sources: &mut Sources) -> Markup {
    let counts = profile.instructions.iter().map(|i| i.counts.executions);
    let most = counts.max().unwrap_or(0);
    html! {
        div.wide tabindex="0" {
            table.listing {
                thead {
                    tr {
                        th { "runs" }
                        @if timed.is_some() {
                            th title="share of the cycles of all waves in which they waited to issue it, modelled" { "waits" }
                            th.left title="the most frequent cause of these waits, modelled" { "for" }
                        }
                        th title="active lanes, on average" { "lanes" }
                        th title="cache lines per access" { "lines" }
                        th title="LDS cycles due to bank conflicts per run" { "conflicts" }
                        th { "offset" }
                        th.left { "instruction" }
                    }
                }
                tbody {
                    @for group in groups(profile) {
                        (heading(&group, COLUMNS + 2 * usize::from(timed.is_some()), sources))
                        @for instruction in group.instructions {
                            (row(profile, timed, instruction, most))
                        }
                    }
                }
            }
        }
    }
}

fn heading(group: &Group<'_>, columns: usize, sources: &mut Sources) -> Markup {
    html! {
        @if let Some(line) = group.lines.first() {
            tr.source {
                td colspan=(columns) {
                    span.place { (line.file) ":" (line.line) }
                    " "
                    code { (sources.text(line).unwrap_or_default()) }
                    @if group.lines.len() > 1 {
                        div.place { (group.calls()) }
                    }
                }
            }
        }
    }
}

fn row(
    profile: &Profile,
    timed: Option<&Timed<'_>>,
    instruction: &InstructionProfile,
    most: u64,
) -> Markup {
    let runs = instruction.counts.executions;
    let number = |value: Option<f64>| value.map(|value| format!("{value:.1}"));
    let conflicts = instruction.conflicts_per_run();
    html! {
        tr.idle[runs == 0] {
            td class={ "number heat" (heat(runs, most)) } { (grouped(runs)) }
            @if let Some(timed) = timed {
                (waits(timed, instruction.place.offset))
            }
            td.number { (number(instruction.lanes_per_run()).unwrap_or_default()) }
            td.number { (number(instruction.lines_per_access(profile.gpu)).unwrap_or_default()) }
            td.number.conflict[conflicts.is_some_and(|cycles| cycles > 0.0)] { (number(conflicts).unwrap_or_default()) }
            td.number.offset { (format!("{:x}", instruction.place.offset)) }
            td.code { (instruction.text()) }
        }
    }
}

/// Smaller shares are not shown.
const NEXT_TO_NOTHING: f64 = 0.0005;

fn waits(timed: &Timed<'_>, offset: u64) -> Markup {
    let stalls = timed.waits(offset);
    let cycles = stalls.map_or(0, |stalls| stalls.total());
    let share = ratio(cycles, timed.wave_cycles()).filter(|&share| share >= NEXT_TO_NOTHING);
    let cause = stalls
        .and_then(|stalls| stalls.most())
        .filter(|_| share.is_some());
    let all = stalls.into_iter().flat_map(|stalls| stalls.iter());
    let all: Vec<_> = all
        .map(|(stall, cycles)| format!("{} {}", stall.name(), grouped(cycles)))
        .collect();
    html! {
        td class={ "number wait" (heat(cycles, timed.most())) } title=[(!all.is_empty()).then(|| all.join(", "))] {
            (percent(share))
        }
        td.cause { (cause.map_or("", Stall::name)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_gpu::Gpu;

    #[test]
    fn names_cannot_end_what_they_stand_in() {
        let mut profile = Profile::nothing("k<script>\"&", Gpu::Gfx942);
        profile.launches = 1;
        let page = write(&[profile], &[]);
        assert!(page.contains("<h1>k&lt;script&gt;"), "{page}");
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("on gfx942: 1 launch, 0 workgroups, 0 waves"));
        // The page has no external resources.
        assert!(!page.contains("http") && !page.contains("src="), "{page}");
    }
}
