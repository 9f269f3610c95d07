//! Tables for the terminal.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};

/// A table with a line under its header; columns whose name ends in a colon are numbers, to the right.
#[derive(Debug)]
pub struct Columns {
    table: Table,
    right: Vec<bool>,
}

impl Columns {
    /// A table with columns of these names.
    pub fn new(names: &[&str]) -> Self {
        let right: Vec<bool> = names.iter().map(|name| name.ends_with(':')).collect();
        let mut columns = Columns {
            table: Table::new(),
            right,
        };
        columns
            .table
            .load_preset(presets::NOTHING)
            .set_style(TableComponent::HeaderLines, '─')
            .set_style(TableComponent::MiddleHeaderIntersections, '─')
            // Lines that a pipe or a narrow terminal would break are better long.
            .set_content_arrangement(ContentArrangement::Disabled);
        let header = columns.cells(
            names
                .iter()
                .map(|name| name.trim_end_matches(':').to_owned()),
        );
        columns.table.set_header(header);
        columns
    }

    /// Adds a row.
    pub fn row(&mut self, values: impl IntoIterator<Item = String>) {
        let cells = self.cells(values);
        self.table.add_row(cells);
    }

    fn cells(&self, values: impl IntoIterator<Item = String>) -> Vec<Cell> {
        values
            .into_iter()
            .zip(&self.right)
            .map(|(value, &right)| {
                let alignment = if right {
                    CellAlignment::Right
                } else {
                    CellAlignment::Left
                };
                Cell::new(value).set_alignment(alignment)
            })
            .collect()
    }
}

impl std::fmt::Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Cells are padded to their column's width, which no line needs at its end.
        for line in self.table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
