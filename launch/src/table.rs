//! Tables for the terminal.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, presets,
};

/// The width of the terminal at standard error, if known.
pub(crate) fn terminal_width() -> Option<usize> {
    let width = Table::new().use_stderr().width()?;
    (width > 0).then_some(width.into())
}

/// A table with a line under its header. A column whose name ends in a colon holds numbers and is right-aligned.
#[derive(Debug)]
pub struct Columns {
    table: Table,
    right: Vec<bool>,
}

impl Columns {
    /// A table with the named columns.
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
            // Cells follow a terminal's width; lines for a pipe stay whole.
            .set_content_arrangement(ContentArrangement::Dynamic);
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

    /// Drops columns from the right, except the first, until the table fits the terminal. Returns how many.
    pub fn fit(&mut self) -> usize {
        match self.table.width() {
            Some(width) => self.fit_in(width.into()),
            None => 0,
        }
    }

    fn fit_in(&mut self, width: usize) -> usize {
        // A cell has one blank on each side.
        let widths = self.table.column_max_content_widths();
        let mut needed: usize = widths.iter().map(|&cell| usize::from(cell) + 2).sum();
        let mut left_out = 0;
        for number in (1..widths.len()).rev() {
            if needed <= width {
                break;
            }
            if let Some(column) = self.table.column_mut(number) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
            needed -= usize::from(widths[number]) + 2;
            left_out += 1;
        }
        left_out
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
        // Removes the padding at the end of each line.
        for line in self.table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_are_left_out_from_the_right() {
        let table = || {
            let mut table = Columns::new(&["name", "number:", "note"]);
            table.row(["a".to_owned(), "1234567".to_owned(), "z".repeat(20)]);
            table
        };
        let mut whole = table();
        assert_eq!(whole.fit_in(100), 0);
        assert!(whole.to_string().contains("zzz"));
        let mut narrow = table();
        assert_eq!(narrow.fit_in(30), 1);
        let text = narrow.to_string();
        assert!(text.contains("1234567") && !text.contains('z'), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 30),
            "{text}"
        );
        let mut least = table();
        assert_eq!(least.fit_in(3), 2);
        assert!(least.to_string().contains("name"));
    }
}
