//! A report as Markdown.

use super::{
    headline::headline,
    results::Results,
    tabular::{build, caption, once, provenance, sections, speed},
};

/// Results as Markdown.
pub(crate) fn markdown(results: &Results) -> String {
    let mut text = String::from("# Ferrowave's kernels compared\n");
    if !results.complete {
        text += "\n**The run was interrupted: rows are missing.**\n";
    }
    text += &format!("\n{}\n", caption(results));
    for note in &results.run.notes {
        text += &format!("\n{note}.\n");
    }
    for section in sections(results) {
        text += &format!(
            "\n## {}\n\n{}\n",
            section.title,
            headline(&section).join(" ")
        );
        let tables = [
            (speed(results), section.rows.clone()),
            (build(results), once(&section.rows)),
        ];
        for (columns, rows) in tables {
            text.push('\n');
            let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            text += &line(columns.iter().map(|c| c.name.to_owned()).collect());
            let rules = columns
                .iter()
                .map(|c| if c.is_number { "--:" } else { "---" }.to_owned());
            text += &line(rules.collect());
            for row in rows {
                // A `|` would end the cell.
                let cells = columns.iter().map(|c| c.cell(row).replace('|', "\\|"));
                text += &line(cells.collect());
            }
        }
    }
    for row in &results.rows {
        if let Some(complaint) = &row.outcome.complaint {
            text += &format!("\n- {} {}: {complaint}", row.name(), row.problem.size());
        }
    }
    text += "\n## Run\n\n";
    for (name, value) in provenance(results) {
        text += &format!("- {name}: {value}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{results, row};
    use super::*;

    #[test]
    fn markdown_has_every_row_and_says_what_is_missing() {
        let mut run = results(vec![row("naive", 64, 4e-3), row("lds_tiled", 128, 1e-3)]);
        run.complete = false;
        run.rows[0].outcome.complaint = Some("out of luck".into());
        let text = markdown(&run);
        assert!(text.contains("interrupted") && text.contains("naive 64×64×64: out of luck"));
        assert_eq!(
            text.matches("| lds_tiled | 128×128×128 |").count(),
            1,
            "{text}"
        );
    }
}
