//! The layout of a batch of matrices in a buffer.

use std::fmt;

/// Which elements of a matrix are contiguous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The elements of a row.
    #[default]
    RowMajor,
    /// The elements of a column.
    ColumnMajor,
}

impl Order {
    /// The letter by which BLAS names the operation on a matrix in this order: N as it is, T transposed.
    pub const fn letter(self) -> char {
        match self {
            Self::RowMajor => 'N',
            Self::ColumnMajor => 'T',
        }
    }

    /// The order that a [`letter`](Self::letter) names.
    pub const fn from_letter(letter: char) -> Option<Self> {
        match letter {
            'N' => Some(Self::RowMajor),
            'T' => Some(Self::ColumnMajor),
            _ => None,
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::RowMajor => "row-major",
            Self::ColumnMajor => "column-major",
        })
    }
}

/// Matrices of one shape, with a constant stride.
///
/// A line is contiguous in memory: a row of a row-major matrix, a column of a column-major one. Element
/// `(batch, row, column)` is `batch · stride + line · leading + position in the line` elements after the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of each matrix.
    pub rows: u32,
    /// Columns of each matrix.
    pub columns: u32,
    /// Whether rows or columns are contiguous.
    pub order: Order,
    /// Elements from one line to the next, at least as many as a line has.
    pub leading: u32,
    /// How many matrices there are.
    pub batch: u32,
    /// Elements from one matrix to the next; 0 if all are the same matrix.
    pub stride: u64,
}

impl Layout {
    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0 || self.batch == 0
    }

    /// How many lines a matrix has.
    pub const fn lines(&self) -> u32 {
        match self.order {
            Order::RowMajor => self.rows,
            Order::ColumnMajor => self.columns,
        }
    }

    /// How many elements a line has.
    pub const fn line_length(&self) -> u32 {
        match self.order {
            Order::RowMajor => self.columns,
            Order::ColumnMajor => self.rows,
        }
    }

    /// Elements from the first to the last one of one matrix, inclusive. The last line has no padding
    /// at its end.
    pub const fn matrix_span(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        (self.lines() as u64 - 1) * self.leading as u64 + self.line_length() as u64
    }

    /// Elements that a buffer must have, in 128 bits, so that no layout overflows.
    pub const fn span(&self) -> u128 {
        if self.is_empty() {
            return 0;
        }
        (self.batch as u128 - 1) * self.stride as u128 + self.matrix_span() as u128
    }

    /// The offset of `(batch, row, column)` from the first element, in elements.
    pub const fn offset(&self, batch: u32, row: u32, column: u32) -> u64 {
        let (line, place) = match self.order {
            Order::RowMajor => (row, column),
            Order::ColumnMajor => (column, row),
        };
        batch as u64 * self.stride + line as u64 * self.leading as u64 + place as u64
    }

    /// Whether the element at `offset` belongs to a matrix, and not to the padding between lines or
    /// matrices or past the end. For matrices that don't overlap.
    pub const fn contains(&self, offset: u64) -> bool {
        let MatrixPosition { batch, row, column } = self.place(offset);
        batch < self.batch as u64 && row < self.rows as u64 && column < self.columns as u64
    }

    /// The place at `offset` elements. For matrices that don't overlap.
    pub const fn place(&self, offset: u64) -> MatrixPosition {
        // Whatever is past the start of the last matrix belongs to it.
        let last = self.batch.saturating_sub(1) as u64;
        let batch = match offset.checked_div(self.stride) {
            Some(batch) if batch < last => batch,
            Some(_) => last,
            None => 0,
        };
        let in_matrix = offset - batch * self.stride;
        let (line, place) = match self.leading as u64 {
            0 => (0, in_matrix),
            leading => (in_matrix / leading, in_matrix % leading),
        };
        let (row, column) = match self.order {
            Order::RowMajor => (line, place),
            Order::ColumnMajor => (place, line),
        };
        MatrixPosition { batch, row, column }
    }
}

/// A place in the plane that a [`Layout`] spans, padding included: `row` or `column` may be past
/// the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixPosition {
    /// Which matrix of the batch.
    pub batch: u64,
    /// Which row.
    pub row: u64,
    /// Which column.
    pub column: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout {
        rows: 2,
        columns: 3,
        order: Order::RowMajor,
        leading: 4,
        batch: 2,
        stride: 10,
    };

    #[test]
    fn a_buffer_ends_with_the_last_element() {
        assert_eq!(LAYOUT.matrix_span(), 7);
        assert_eq!(LAYOUT.span(), 17);
        assert_eq!(Layout { rows: 0, ..LAYOUT }.span(), 0);
        assert_eq!(Layout { batch: 1, ..LAYOUT }.span(), 7);
    }

    #[test]
    fn elements_are_told_from_padding() {
        // Drawn by hand: x is an element, . is padding.
        let drawn = "xxx.xxx...xxx.xxx...";
        let computed: String = (0..20)
            .map(|offset| if LAYOUT.contains(offset) { 'x' } else { '.' })
            .collect();
        assert_eq!(computed, drawn);
    }

    #[test]
    fn the_stride_of_a_single_matrix_means_nothing() {
        let single = Layout {
            batch: 1,
            stride: 2,
            ..LAYOUT
        };
        assert_eq!(
            single.place(6),
            MatrixPosition {
                batch: 0,
                row: 1,
                column: 2
            }
        );
        assert!(single.contains(6) && !single.contains(8));
    }

    #[test]
    fn the_lines_of_a_column_major_matrix_are_its_columns() {
        let layout = Layout {
            order: Order::ColumnMajor,
            leading: 3,
            ..LAYOUT
        };
        // Three columns of two elements, 3 apart.
        assert_eq!((layout.matrix_span(), layout.span()), (8, 18));
        assert_eq!(layout.offset(1, 1, 2), 10 + 2 * 3 + 1);
        let computed: String = (0..20)
            .map(|offset| if layout.contains(offset) { 'x' } else { '.' })
            .collect();
        assert_eq!(computed, "xx.xx.xx..xx.xx.xx..");
    }

    #[test]
    fn a_place_is_where_its_offset_is() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let layout = Layout { order, ..LAYOUT };
            for (batch, row, column) in (0..12).map(|index| (index / 6, index / 3 % 2, index % 3)) {
                let place = layout.place(layout.offset(batch, row, column));
                let expected = MatrixPosition {
                    batch: batch.into(),
                    row: row.into(),
                    column: column.into(),
                };
                assert_eq!(place, expected);
            }
        }
    }

    #[test]
    fn the_largest_layout_does_not_overflow() {
        let largest = Layout {
            rows: u32::MAX,
            columns: u32::MAX,
            order: Order::RowMajor,
            leading: u32::MAX,
            batch: u32::MAX,
            stride: u64::MAX,
        };
        assert!(largest.span() > u128::from(u64::MAX));
    }
}
