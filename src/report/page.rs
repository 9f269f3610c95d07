//! Results as one page: no scripts, nothing fetched.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    plots::Plot,
    results::{Results, Row},
    tabular::{Column, build, caption, provenance, sections, shown, speed},
};

const STYLE: &str = include_str!("page.css");

/// The page with the plots in it, which are in the order of the sections.
pub(super) fn write(results: &Results, plots: &[Plot]) -> String {
    let mut left = plots;
    let sections: Vec<_> = sections(results)
        .into_iter()
        .map(|section| {
            // A section's plots stand together; the next one begins with another title.
            let own = left
                .iter()
                .take_while(|plot| plot.alt.contains(&section.title));
            let (own, rest) = left.split_at(own.count());
            left = rest;
            (section, own)
        })
        .collect();
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
                h1 { "Ferrowave's kernels compared" }
                @if !results.complete {
                    p.bad { "The run was interrupted: rows are missing." }
                }
                p.note { (caption(results)) }
                @for note in &results.run.notes {
                    p.note { (note) "." }
                }
                @for (section, plots) in &sections {
                    h2 { (section.title) }
                    div.plots {
                        @for plot in *plots {
                            figure role="img" aria-label=(plot.alt) { (PreEscaped(&plot.svg)) }
                        }
                    }
                    @let largest = shown(&section.rows);
                    (table(&speed(results), &section.rows, &largest))
                    (table(&build(results), &section.rows, &largest))
                }
                @if results.rows.iter().any(|row| row.outcome.complaint.is_some()) {
                    h2 { "What went wrong" }
                    ul {
                        @for row in &results.rows {
                            @if let Some(complaint) = &row.outcome.complaint {
                                li { (row.name()) " " (row.problem.size()) ": " (complaint) }
                            }
                        }
                    }
                }
                h2 { "Run" }
                dl {
                    @for (name, value) in provenance(results) {
                        dt { (name) } dd { (value) }
                    }
                }
                footer {
                    p { "Errors are against a product in f64; the bound is what rounding analysis allows each element. The \
                         roofline is what peak and memory bandwidth allow if A, B and C move once." }
                }
            }
        }
    };
    page.into_string()
}

fn table(columns: &[Column], rows: &[&Row], shown: &[&Row]) -> Markup {
    let is_shown = |row: &Row| shown.iter().any(|other| std::ptr::eq(*other, row));
    html! {
        div.wide {
            table {
                thead {
                    tr { @for column in columns { th.number[column.is_number] scope="col" { (column.name) } } }
                }
                tbody {
                    @for row in rows {
                        tr.shown[is_shown(row)] {
                            @for (number, column) in columns.iter().enumerate() {
                                @if number == 0 {
                                    th scope="row" { (column.cell(row)) }
                                } @else {
                                    td.number[column.is_number].bad[column.name == "result" && !row.outcome.passed] {
                                        (column.cell(row))
                                    }
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

    #[test]
    fn a_page_is_whole_and_escapes() {
        let mut run = results(vec![row("naive", 64, 4e-3), row("a<b>&c", 64, 1e-3)]);
        run.rows[1].outcome.passed = false;
        run.rows[1].outcome.complaint = Some("1 < 2".into());
        run.complete = false;
        figures::fill(&mut run);
        let plots = plots::all(&run);
        let page = write(&run, &plots);
        assert_eq!(page.matches("<figure").count(), plots.len());
        for text in [
            "interrupted",
            "WRONG",
            "1 &lt; 2",
            "a&lt;b&gt;&amp;c",
            "not measured",
        ] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("<script") && !page.contains("a<b>"));
        // Namespaces are the only addresses.
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("xmlns=\"http").count());
    }
}
