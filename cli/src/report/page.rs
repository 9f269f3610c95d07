//! Results as a page in one file, which loads nothing else.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    headline::headline,
    plots::Plot,
    results::{MainLoop, Modelled, Results, Row},
    tabular::{Column, Section, build, caption, detail, digits, once, provenance, sections, shown},
};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Plots that the page shows as tables instead.
const IN_TABLES: [&str; 3] = ["-ladder", "-stalls", "-occupancy"];
/// The number of wait causes with a colour of their own.
const CAUSES: usize = 5;

/// The page, with the plots in the order of the sections.
pub(super) fn write(results: &Results, plots: &[Plot]) -> String {
    let sections = sections(results);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Ferrowave's kernels compared" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "Ferrowave's kernels compared" }
                    @if !results.complete {
                        p.bad { "The run was interrupted: rows are missing." }
                    }
                    p.note { (caption(results)) }
                }
                main {
                    @for (number, part) in sections.iter().enumerate() {
                        (section(results, part, number, plots))
                    }
                    @if results.rows.iter().any(|row| row.outcome.complaint.is_some()) {
                        section {
                            h2 { "What went wrong" }
                            ul {
                                @for row in &results.rows {
                                    @if let Some(complaint) = &row.outcome.complaint {
                                        li { (row.name()) " " (row.problem.size()) ": " (complaint) }
                                    }
                                }
                            }
                        }
                    }
                    section {
                        h2 { "Run" }
                        @for note in &results.run.notes {
                            p.note { (note) "." }
                        }
                        dl {
                            @for (name, value) in provenance(results) {
                                dt { (name) } dd { (value) }
                            }
                        }
                    }
                }
                footer {
                    p { "Errors are against a product in f64; the bound is what rounding analysis allows each element. The \
                         roofline is what peak and memory bandwidth allow if A, B and C move once. Products that are not \
                         computed ran only as far as the timing model needs." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn section(results: &Results, section: &Section<'_>, number: usize, plots: &[Plot]) -> Markup {
    let largest = shown(&section.rows);
    let causes = causes(&section.rows);
    let sentences = headline(section);
    let own = plots.iter().filter(|plot| {
        plot.alt.contains(&section.title) && !IN_TABLES.iter().any(|end| plot.file.ends_with(end))
    });
    html! {
        section.kernels {
            h2 id={ "section" (number) } { (section.title) }
            @if let Some((lead, rest)) = sentences.split_first() {
                p.lead { (lead) }
                ul.headline { @for sentence in rest { li { (sentence) } } }
            }
            (controls(section, &largest))
            (ladder(section, number, &largest, &causes))
            div.plots {
                @for plot in own {
                    figure aria-label=(plot.alt) { (PreEscaped(&plot.svg)) }
                }
            }
            h3 { "As compiled" }
            (built(&build(results), &once(&section.rows)))
        }
    }
}

/// Each size with its first row, in order.
fn sizes<'a>(rows: &[&'a Row]) -> Vec<(String, &'a Row)> {
    let mut sizes: Vec<(String, &Row)> = Vec::new();
    for row in rows {
        let size = row.problem.size();
        if !sizes.iter().any(|(other, _)| *other == size) {
            sizes.push((size, row));
        }
    }
    sizes
}

fn controls(section: &Section<'_>, largest: &[&Row]) -> Markup {
    let chosen = largest.first().map(|row| row.problem.size());
    html! {
        form.controls onsubmit="return false" {
            label {
                "Size "
                select {
                    @for (size, _) in sizes(&section.rows) {
                        option value=(size) selected[Some(&size) == chosen.as_ref()] { (size) }
                    }
                    option value="" { "all" }
                }
            }
            label { "Kernel " input type="search" placeholder="part of a name"; }
            span.status role="status" {}
        }
    }
}

/// The causes with the most cycles over all rows.
fn causes(rows: &[&Row]) -> Vec<String> {
    let mut sums: Vec<(&String, f64)> = Vec::new();
    for time in rows.iter().filter_map(|row| row.modelled.as_ref()) {
        for (cause, &cycles) in &time.stalls {
            let share = cycles as f64 / time.wave_cycles.max(1) as f64;
            match sums.iter_mut().find(|(name, _)| *name == cause) {
                Some((_, sum)) => *sum += share,
                None => sums.push((cause, share)),
            }
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names = sums.into_iter().map(|(name, _)| name.clone());
    names.take(CAUSES).collect()
}

/// The header of a sortable column; `up` if the first click sorts in ascending order.
fn sortable(name: &str, up: bool, narrow: bool) -> Markup {
    html! {
        th.number.wide-only[!narrow] scope="col" data-sort=(if up { "up" } else { "down" }) {
            button type="button" { (name) }
        }
    }
}

fn ladder(section: &Section<'_>, number: usize, largest: &[&Row], causes: &[String]) -> Markup {
    let rows = &section.rows;
    let holds = |value: fn(&Row) -> Option<f64>| rows.iter().any(|row| value(row).is_some());
    let has_waits = rows.iter().any(|row| row.modelled.is_some());
    let has_library = holds(|row| row.figures.speedup_over_library);
    let has_times = holds(Row::seconds);
    let has_share = holds(|row| row.figures.share_of_peak);
    let columns = 2
        + usize::from(has_times) * 3
        + usize::from(has_share)
        + usize::from(has_waits) * 2
        + usize::from(has_library);
    html! {
        @if has_waits {
            p.legend {
                "Waves' cycles: "
                span.key { span.box.w0 {} " instructions" }
                @for (number, cause) in causes.iter().enumerate() {
                    span.key { span class={ "box w" (number + 1) } {} " " (cause) }
                }
                span.key { span.box.other {} " other waits" }
            }
        }
        div.wide tabindex="0" role="region" aria-labelledby={ "section" (number) } {
            table.ladder {
                caption {
                    "Kernels in the order of the ladder."
                    @if has_share { " Bars show the share of the GPU's peak." }
                }
                thead {
                    tr {
                        th scope="col" { "kernel" }
                        @if has_times {
                            (sortable("TFLOP/s", false, true))
                            @if has_share { (sortable("of peak", false, true)) }
                            (sortable("ms", true, false))
                            (sortable("× step before", false, false))
                        }
                        @if has_library { (sortable("× AMD's library", false, false)) }
                        @if has_waits {
                            th.wide-only scope="col" { "waves' cycles" }
                            th.wide-only scope="col" { "bound by" }
                        }
                        th scope="col" { "result" }
                    }
                }
                tbody {
                    @for row in rows {
                        @let is_largest = largest.iter().any(|other| std::ptr::eq(*other, *row));
                        tr.row.best[is_best(row, largest)] data-kernel=(row.kernel) data-size=(row.problem.size()) {
                            th scope="row" {
                                button type="button" aria-expanded="false" { (row.name()) }
                                span.size { " " (row.problem.size()) }
                                @if let Some(setback) = row.figures.setback.as_ref().filter(|_| is_largest) {
                                    div.setback { (setback) }
                                }
                            }
                            @if has_times {
                                @let rate = row.figures.operations_per_second.map(|rate| rate / 1e12);
                                (number_cell(rate, digits, true))
                                @if has_share { td.share data-value=[row.figures.share_of_peak] {
                                    @if let Some(share) = row.figures.share_of_peak {
                                        span.bar { span style={ "width:" (format!("{:.1}", 100.0 * share.min(1.0))) "%" } {} }
                                        (format!("{:.1} %", 100.0 * share))
                                        @if let Some(clock_hz) = row.measured.as_ref().and_then(|time| time.clock_hz) {
                                            span.size { (format!(" at {:.0} MHz", clock_hz / 1e6)) }
                                        }
                                    }
                                } }
                                (number_cell(row.seconds().map(|seconds| 1e3 * seconds), digits, false))
                                (number_cell(row.figures.speedup_over_previous, digits, false))
                            }
                            @if has_library { (number_cell(row.figures.speedup_over_library, digits, false)) }
                            @if has_waits {
                                td.wide-only { @if let Some(time) = &row.modelled { (cycles(time, causes)) } }
                                td.wide-only { (row.modelled.as_ref().map_or("", |time| &time.bound_by)) }
                            }
                            td.bad[row.failed()] { (row.verdict()) }
                        }
                        tr.more { td colspan=(columns) { (more(row)) } }
                    }
                }
            }
        }
    }
}

/// Whether this is the fastest row that is not a library's.
fn is_best(row: &Row, rows: &[&Row]) -> bool {
    let ours = rows
        .iter()
        .filter(|other| !other.is_library() && !other.failed());
    let best = ours.filter_map(|other| Some((other, other.seconds()?)));
    let best = best.min_by(|a, b| a.1.total_cmp(&b.1));
    best.is_some_and(|(best, _)| std::ptr::eq(*best, row))
}

fn number_cell(value: Option<f64>, text: fn(f64) -> String, narrow: bool) -> Markup {
    html! {
        td.number.wide-only[!narrow] data-value=[value] { (value.map(text).unwrap_or_default()) }
    }
}

/// A bar of what waves execute and wait for.
fn cycles(time: &Modelled, causes: &[String]) -> Markup {
    let share = |cycles: u64| 100.0 * cycles as f64 / time.wave_cycles.max(1) as f64;
    let all: u64 = time.stalls.values().sum();
    let mut parts = vec![(
        "w0".to_owned(),
        "instructions",
        time.wave_cycles.saturating_sub(all),
    )];
    for (number, cause) in causes.iter().enumerate() {
        let cycles = time.stalls.get(cause).copied().unwrap_or(0);
        parts.push((format!("w{}", number + 1), cause, cycles));
    }
    let told: u64 = parts[1..].iter().map(|part| part.2).sum();
    parts.push(("other".to_owned(), "other waits", all - told));
    let said: Vec<_> = parts
        .iter()
        .filter(|part| share(part.2) >= 0.5)
        .map(|(_, name, cycles)| format!("{name} {:.0} %", share(*cycles)))
        .collect();
    html! {
        span.cycles role="img" aria-label=(said.join(", ")) title=(said.join(", ")) {
            @for (class, _, cycles) in &parts {
                @if *cycles > 0 {
                    span class=(class) style={ "width:" (format!("{:.2}", share(*cycles))) "%" } {}
                }
            }
        }
    }
}

/// The details that open below a row.
fn more(row: &Row) -> Markup {
    html! {
        dl.detail {
            @for column in detail() {
                @let value = column.cell(row);
                @if !value.is_empty() { div { dt { (column.name) } dd { (value) } } }
            }
            @if !row.launched.is_empty() { div { dt { "launched" } dd { (row.launched.join(", ")) } } }
            @if let Some(time) = &row.modelled {
                div {
                    dt { "busy" }
                    dd {
                        @for (number, (unit, share)) in time.usage.iter().filter(|(_, share)| **share >= 0.005).enumerate() {
                            @if number > 0 { ", " }
                            (unit) " " (format!("{:.0} %", 100.0 * share))
                        }
                    }
                }
            }
        }
        @if let (Some(main), Some(time)) = (&row.main_loop, &row.modelled) { (main_loop(main, time)) }
    }
}

fn main_loop(main: &MainLoop, time: &Modelled) -> Markup {
    let share = |cycles: u64| 100.0 * cycles as f64 / time.wave_cycles.max(1) as f64;
    let most = main
        .instructions
        .iter()
        .map(|i| i.stalls.values().sum())
        .max()
        .unwrap_or(0u64);
    let mut before = None;
    html! {
        @if main.instructions.is_empty() {
            p { "The kernel has no loop." }
        } @else {
            p {
                "The main loop, " (main.instructions.len()) " instructions: waves spend "
                (format!("{:.0} %", share(main.stalled_cycles))) " of their cycles waiting in it."
            }
            div.listing tabindex="0" role="region" aria-label="Instructions of the main loop" {
                table {
                    thead { tr { th.number scope="col" { "waits" } th scope="col" { "for" } th scope="col" { "instruction" } th scope="col" { "source" } } }
                    tbody {
                        @for instruction in &main.instructions {
                            @let cycles: u64 = instruction.stalls.values().sum();
                            @let cause = instruction.stalls.iter().max_by_key(|(_, cycles)| **cycles);
                            @let repeated = before.replace(&instruction.source) == Some(&instruction.source);
                            tr.hot[most > 0 && 4 * cycles >= most] {
                                td.number { @if share(cycles) >= 0.05 { (format!("{:.1} %", share(cycles))) } }
                                td { @if share(cycles) >= 0.05 { (cause.map_or("", |(name, _)| name)) } }
                                td { code { (instruction.text) } }
                                td.place { @if !repeated { (instruction.source.as_deref().unwrap_or("")) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What the compiler made of each kernel, independent of the size.
fn built(columns: &[Column], rows: &[&Row]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Kernels as compiled" {
            table {
                thead { tr { @for column in columns { th.number[column.is_number] scope="col" { (column.name) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (number, column) in columns.iter().enumerate() {
                                @if number == 0 {
                                    th scope="row" { (column.cell(row)) }
                                } @else {
                                    td.number[column.is_number] { (column.cell(row)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        figures, plots,
        results::tests::{results, row},
    };
    use super::*;

    /// The colours of the bars' parts, as light pages and dark pages have them.
    #[test]
    fn colours_of_one_bar_differ() {
        let colours = |style: &str| -> std::collections::BTreeMap<String, [i32; 3]> {
            let declared = style.split("--").skip(1);
            let declared = declared.filter_map(|text| text.split_once(": #"));
            let parts = declared.filter(|(name, _)| name.starts_with('w') || *name == "other");
            parts
                .map(|(name, rest)| {
                    let digits = rest.split(';').next().expect("a colour");
                    let channel = |at: usize| {
                        i32::from_str_radix(&digits[at..at + 2], 16).expect("two digits")
                    };
                    (name.to_owned(), [0, 2, 4].map(channel))
                })
                .collect()
        };
        let (light, rest) = STYLE
            .split_once("prefers-color-scheme: dark")
            .expect("dark");
        let light = colours(light);
        let dark = colours(rest.split_once("\n}").expect("its end").0);
        assert_eq!(light.len(), CAUSES + 2);
        let mut on_dark = light.clone();
        on_dark.extend(dark);
        for scheme in [&light, &on_dark] {
            for (a, first) in scheme {
                for (b, second) in scheme.range(a.clone()..).skip(1) {
                    let squares = first.iter().zip(second).map(|(x, y)| (x - y).pow(2));
                    let distance = squares.sum::<i32>().isqrt();
                    assert!(distance > 60, "--{a} and --{b}: {distance}");
                }
            }
        }
    }

    #[test]
    fn a_page_is_whole_and_escapes() {
        let mut run = results(vec![
            row("naive", 64, 4e-3),
            row("a<b>&c", 64, 1e-3),
            row("naive", 32, 4e-3),
        ]);
        run.rows[1].outcome.passed = false;
        run.rows[1].outcome.complaint = Some("1 < 2".into());
        run.complete = false;
        figures::fill(&mut run);
        let plots = plots::all(&run);
        let page = write(&run, &plots);
        // The other plots are shown as tables.
        assert_eq!(
            page.matches("<figure").count(),
            plots.len() - IN_TABLES.len()
        );
        for text in [
            "interrupted",
            "WRONG",
            "1 &lt; 2",
            "a&lt;b&gt;&amp;c",
            "not measured",
            "naive is the fastest at 64×64×64",
            "wait for LDS 60 %",
        ] {
            assert!(page.contains(text), "{text}");
        }
        // The page has only our script, and names are escaped.
        assert!(page.matches("<script").count() == 1 && !page.contains("a<b>"));
        assert!(page.contains(SCRIPT) && !SCRIPT.contains("</"));
        // XML namespaces are the only addresses.
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("xmlns=\"http").count());
    }
}
