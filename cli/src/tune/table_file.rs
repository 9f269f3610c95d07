//! The file of a table, which is written after each row, so that an interrupted command keeps what it has.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use ferrowave::gemm::tuned::{Row, Table};
use ferrowave_gpu::Product;
use ferrowave_launch::read_text;
use ferrowave_shared::CATALOGUE;
use tempfile::NamedTempFile;

use crate::cli::Failure;

/// A table and its file.
pub(crate) struct TableFile {
    path: PathBuf,
    pub(crate) table: Table,
}

impl TableFile {
    /// The table in a file, or an empty one if there is no file.
    pub(crate) fn open(path: &Path, machine: Product) -> Result<Self, Failure> {
        let text = match read_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Failure::usage(format!("`{}`: {error}", path.display())));
            }
        };
        let table = Table::parse(machine, &text)
            .map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?;
        Ok(Self {
            path: path.to_owned(),
            table,
        })
    }

    /// Whether the table has this row's kernel and layout, of the same code.
    pub(crate) fn has(&self, row: &Row) -> bool {
        let same = self.table.row_of(row.kernel, row.orders);
        same.is_some_and(|same| same.code == row.code)
    }

    /// Adds a row, or replaces that of the same kernel and layout, and writes the file as a whole.
    pub(crate) fn keep(&mut self, row: Row) -> Result<(), Failure> {
        let rows = &mut self.table.rows;
        rows.retain(|other| other.kernel.symbol != row.kernel.symbol || other.orders != row.orders);
        rows.push(row);
        let order = |row: &Row| {
            let number = CATALOGUE
                .iter()
                .position(|kernel| kernel.symbol == row.kernel.symbol);
            (number, row.orders.0 as u8, row.orders.1 as u8)
        };
        rows.sort_by_key(order);
        self.write()
            .map_err(|error| Failure::failed(format!("`{}`: {error}", self.path.display())))
    }

    fn write(&self) -> io::Result<()> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(self.table.to_text().as_bytes())?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}
