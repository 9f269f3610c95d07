//! Tables for the terminal.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, Width,
    presets,
};

/// The blanks of a cell: one on each side, and one to the next cell.
const BLANKS: usize = 3;

/// The width of the terminal at standard error, if known.
pub(crate) fn terminal_width() -> Option<usize> {
    let width = Table::new().use_stderr().width()?;
    (width > 0).then_some(width.into())
}

/// A table with a line under its header. A column whose name ends in a colon holds numbers and is right-aligned.
///
/// On a terminal, cells are broken between words, and columns for which that is not enough are left out from the right.
#[derive(Debug)]
pub struct Columns {
    table: Table,
    right: Vec<bool>,
    /// The letters of each column's longest word.
    words: Vec<usize>,
    /// The number of columns that [`Columns::fit`] has left.
    shown: usize,
}

impl Columns {
    /// A table with the named columns.
    pub fn new(names: &[&str]) -> Self {
        let right: Vec<bool> = names.iter().map(|name| name.ends_with(':')).collect();
        let mut columns = Columns {
            table: Table::new(),
            words: vec![0; right.len()],
            shown: right.len(),
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
        let widths = self.table.column_max_content_widths();
        let mut needed: usize = widths.iter().map(|&cell| usize::from(cell) + BLANKS).sum();
        let mut left_out = 0;
        for number in (1..widths.len()).rev() {
            if needed <= width {
                break;
            }
            if let Some(column) = self.table.column_mut(number) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
            needed -= usize::from(widths[number]) + BLANKS;
            left_out += 1;
        }
        self.shown -= left_out;
        left_out
    }

    /// The table for a width, and the number of columns that are left out so that no word is broken.
    fn arranged(&self, width: Option<u16>) -> (Table, usize) {
        let mut table = self.table.clone();
        // A terminal that does not know its width says 0.
        let Some(width) = width.filter(|&width| width > 0) else {
            table.set_content_arrangement(ContentArrangement::Disabled);
            return (table, 0);
        };
        table.set_width(width);
        let least = |number: usize| self.words[number] + BLANKS;
        let mut shown = self.shown;
        while shown > 1 && (0..shown).map(least).sum::<usize>() > width.into() {
            shown -= 1;
        }
        for number in 0..self.shown {
            let constraint = match number < shown {
                true => ColumnConstraint::LowerBoundary(Width::Fixed(least(number) as u16 - 1)),
                false => ColumnConstraint::Hidden,
            };
            if let Some(column) = table.column_mut(number) {
                column.set_constraint(constraint);
            }
        }
        (table, self.shown - shown)
    }

    fn write(&self, width: Option<u16>, f: &mut impl std::fmt::Write) -> std::fmt::Result {
        let (table, left_out) = self.arranged(width);
        // Removes the padding at the end of each line.
        for line in table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        match left_out {
            0 => Ok(()),
            1 => writeln!(f, "(1 more column in a wider terminal.)"),
            _ => writeln!(f, "({left_out} more columns in a wider terminal.)"),
        }
    }

    fn cells(&mut self, values: impl IntoIterator<Item = String>) -> Vec<Cell> {
        values
            .into_iter()
            .zip(self.right.iter().zip(&mut self.words))
            .map(|(value, (&right, longest))| {
                let words = value.split_whitespace().map(|word| word.chars().count());
                *longest = words.fold(*longest, usize::max);
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
        self.write(self.table.width(), f)
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

    #[test]
    fn cells_are_broken_between_words_only() {
        let mut table = Columns::new(&["device", "name", "LDS [KiB]:", "compute units:"]);
        table.row(
            [
                "emulator:gfx90a",
                "AMD Instinct MI210, emulated",
                "64",
                "104",
            ]
            .map(str::to_owned),
        );
        let text = |width| {
            let mut text = String::new();
            table.write(width, &mut text).expect("a string");
            text
        };
        for unknown in [None, Some(0)] {
            let whole = text(unknown);
            assert!(whole.contains("AMD Instinct MI210, emulated"), "{whole}");
            assert_eq!(whole.lines().count(), 3, "{whole}");
        }
        for width in [80, 60, 50, 40, 30, 20] {
            let narrow = text(Some(width));
            let note = narrow.lines().last().expect("a line");
            let (table, _) = narrow.split_once("\n(").unwrap_or((&narrow, ""));
            assert!(
                table
                    .lines()
                    .all(|line| line.chars().count() <= width.into()),
                "{width}: {narrow}"
            );
            let has = |word| narrow.contains(word);
            assert!(has("emulator:gfx90a"), "{width}: {narrow}");
            assert_eq!(
                has("compute") && has("units"),
                !note.contains("more column"),
                "{width}: {narrow}"
            );
            assert_eq!(has("Instinct"), width >= 30, "{width}: {narrow}");
        }
        assert!(text(Some(20)).ends_with("(3 more columns in a wider terminal.)\n"));
    }

    /// Blanks between columns count, too.
    #[test]
    fn many_columns_stay_within_the_width() {
        let names: Vec<_> = (0..12).map(|number| format!("column {number}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let mut table = Columns::new(&names);
        table.row((0..12).map(|number| format!("value {number}")));
        for width in 12..120 {
            let mut text = String::new();
            table.write(Some(width), &mut text).expect("a string");
            let table = text.split_once("\n(").map_or(&*text, |(table, _)| table);
            let widest = table.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width.into()), "{width}: {text}");
            let whole = text.contains("column") || text.contains("value");
            assert!(whole, "{width}: {text}");
        }
    }
}
