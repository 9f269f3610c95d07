//! How far modelled times were from published ones, by what bounds a kernel.
//!
//! `published_rows.csv` has a row for each published kernel whose code we have or have written anew with the same
//! structure: its modelled time divided by the published one, and what the model says bounds it. `cargo bench --bench
//! modelled` says which rows differ from what it finds, and writes the file with `UPDATE_ROWS=1`.

use std::sync::LazyLock;

use ferrowave_gpu::{Family, Product};
use serde::{Deserialize, Serialize};

use super::bound::{Bound, Unit};

/// A published kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// Where it was published.
    pub group: String,
    /// The machine.
    pub machine: String,
    /// Its name there.
    pub kernel: String,
    /// Modelled divided by published time.
    pub ratio: f64,
    /// What bounds it, as [`Bound::text`].
    pub bound_by: String,
}

const FILE: &str = include_str!("published_rows.csv");

const HEADER: &str = "group,machine,kernel,ratio,bound by";

static ROWS: LazyLock<Vec<PublishedRow>> = LazyLock::new(|| {
    let lines = FILE.lines().skip(1);
    lines.filter_map(PublishedRow::parse).collect()
});

/// The rows, in the order of the benchmark.
pub fn published_rows() -> &'static [PublishedRow] {
    &ROWS
}

impl PublishedRow {
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split(',').map(str::to_owned);
        Some(PublishedRow {
            group: cells.next()?,
            machine: cells.next()?,
            kernel: cells.next()?,
            ratio: cells.next()?.parse().ok()?,
            bound_by: cells.next()?,
        })
    }

    /// The family of its machine.
    fn family(&self) -> Option<Family> {
        let machine: Product = self.machine.parse().ok()?;
        Some(machine.gpu().family())
    }

    /// The file of rows, whose names have no commas. Ratios have two decimals.
    pub fn file(rows: &[PublishedRow]) -> String {
        let line = |row: &PublishedRow| {
            let cells = [&row.group, &row.machine, &row.kernel];
            let [group, machine, kernel] = cells.map(|cell| cell.replace(',', ";"));
            format!(
                "{group},{machine},{kernel},{:.2},{}\n",
                row.ratio, row.bound_by
            )
        };
        format!("{HEADER}\n{}", rows.iter().map(line).collect::<String>())
    }
}

/// Kernels with the same bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The matrix cores.
    MatrixCores,
    /// The vector or scalar units.
    Arithmetic,
    /// LDS.
    Lds,
    /// L1.
    L1,
    /// L2.
    L2,
    /// The Infinity Cache or memory.
    Memory,
    /// No unit: waves wait.
    Latency,
}

impl Class {
    /// All classes, in the order of tables.
    pub const ALL: [Class; 7] = [
        Class::MatrixCores,
        Class::Arithmetic,
        Class::Lds,
        Class::L1,
        Class::L2,
        Class::Memory,
        Class::Latency,
    ];

    /// The class of a kernel; `None` if nothing ran.
    pub const fn of(bound: Bound) -> Option<Self> {
        Some(match bound {
            Bound::Unit(Unit::Matrix) => Class::MatrixCores,
            Bound::Unit(Unit::Vector | Unit::Scalar) => Class::Arithmetic,
            Bound::Unit(Unit::Lds) => Class::Lds,
            Bound::Unit(Unit::L1) => Class::L1,
            Bound::Unit(Unit::L2) => Class::L2,
            Bound::Unit(Unit::InfinityCache | Unit::Memory) => Class::Memory,
            Bound::Latency(_) => Class::Latency,
            Bound::Nothing => return None,
        })
    }

    /// Its name in sentences: «bound by …».
    pub const fn name(self) -> &'static str {
        match self {
            Class::MatrixCores => "matrix cores",
            Class::Arithmetic => "vector or scalar units",
            Class::Lds => "LDS",
            Class::L1 => "L1",
            Class::L2 => "L2",
            Class::Memory => "the Infinity Cache or memory",
            Class::Latency => "latency",
        }
    }

    /// Whether a row is of this class.
    fn has(self, row: &PublishedRow) -> bool {
        let unit = Unit::ALL
            .into_iter()
            .find(|unit| unit.name() == row.bound_by);
        match unit {
            Some(unit) => Class::of(Bound::Unit(unit)) == Some(self),
            None => self == Class::Latency && row.bound_by.starts_with("latency"),
        }
    }

    /// The error of its rows of a family.
    pub fn error(self, family: Family) -> ClassError {
        self.error_of(&of_family(published_rows(), family))
    }

    /// The error of those of the rows that are of this class.
    pub fn error_of(self, rows: &[PublishedRow]) -> ClassError {
        let errors: Vec<f64> = rows
            .iter()
            .filter(|row| self.has(row))
            .map(|row| row.ratio - 1.0)
            .collect();
        let largest = errors
            .iter()
            .copied()
            .max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let sum: f64 = errors.iter().map(|error| error.abs()).sum();
        ClassError {
            class: self,
            rows: errors.len(),
            mean: (!errors.is_empty()).then(|| sum / errors.len() as f64),
            largest,
        }
    }
}

/// How far the modelled times of published kernels of a class are from the published ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassError {
    /// The class.
    pub class: Class,
    /// Number of published kernels in it.
    pub rows: usize,
    /// The mean of the errors' magnitudes, as a share of the published time.
    pub mean: Option<f64>,
    /// The largest error: positive if the model is too slow.
    pub largest: Option<f64>,
}

impl ClassError {
    /// The least number of rows that say something about other kernels.
    pub const LEAST_ROWS: usize = 3;

    /// The error as text.
    pub fn text(&self) -> String {
        let ClassError { rows, class, .. } = *self;
        let class = class.name();
        match (self.mean, self.largest) {
            (Some(mean), Some(largest)) if rows >= Self::LEAST_ROWS => format!(
                "±{:.0} % on average, at most {:+.0} %, in {rows} published kernels bound by {class}",
                100.0 * mean,
                100.0 * largest
            ),
            _ => {
                let kernels = match rows {
                    0 => "no published kernel is".to_owned(),
                    1 => "only one published kernel is".to_owned(),
                    rows => format!("only {rows} published kernels are"),
                };
                format!("unknown: {kernels} bound by {class}")
            }
        }
    }
}

/// The rows of a family.
fn of_family(rows: &[PublishedRow], family: Family) -> Vec<PublishedRow> {
    let rows = rows.iter().filter(|row| row.family() == Some(family));
    rows.cloned().collect()
}

/// The errors of all classes, as a table for `docs/timing.md`.
pub fn error_table(rows: &[PublishedRow]) -> String {
    let mut text =
        "| family | bound by | published kernels | mean error | largest error |\n|---|---|---|---|---|\n"
            .to_owned();
    let share = |error: Option<f64>, is_signed: bool| match error {
        Some(error) if is_signed => format!("{:+.0} %", 100.0 * error),
        Some(error) => format!("{:.0} %", 100.0 * error),
        None => "–".to_owned(),
    };
    let of_all = Family::ALL.into_iter().flat_map(|family| {
        let rows = of_family(rows, family);
        Class::ALL.map(|class| (family, class, class.error_of(&rows)))
    });
    for (family, class, error) in of_all {
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            family.name(),
            class.name(),
            error.rows,
            share(error.mean, false),
            share(error.largest, true)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_whole() {
        let rows = published_rows();
        assert_eq!(rows.len() + 1, FILE.lines().count());
        assert_eq!(PublishedRow::file(rows), FILE);
        for row in rows {
            assert!(row.ratio.is_finite() && row.ratio > 0.0, "{row:?}");
            let classes = Class::ALL.into_iter().filter(|class| class.has(row));
            assert_eq!(classes.count(), 1, "{row:?}");
        }
    }

    #[test]
    fn the_documentation_has_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/timing.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let table = error_table(published_rows());
        assert!(
            page.contains(&table),
            "docs/timing.md needs this table:\n{table}"
        );
    }

    #[test]
    fn errors_are_means_over_a_class() {
        let row = |ratio, bound_by: &str| PublishedRow {
            group: "g".into(),
            machine: "m".into(),
            kernel: "k".into(),
            ratio,
            bound_by: bound_by.into(),
        };
        let rows = [
            row(1.5, "L2"),
            row(0.9, "L2"),
            row(1.0, "L2"),
            row(0.25, "memory"),
            row(3.0, "Infinity Cache"),
            row(1.25, "latency: LDS"),
        ];
        let text = |class: Class| class.error_of(&rows).text();
        assert_eq!(
            text(Class::L2),
            "±20 % on average, at most +50 %, in 3 published kernels bound by L2"
        );
        assert_eq!(
            text(Class::Memory),
            "unknown: only 2 published kernels are bound by the Infinity Cache or memory"
        );
        assert_eq!(
            text(Class::Latency),
            "unknown: only one published kernel is bound by latency"
        );
        assert_eq!(
            text(Class::Lds),
            "unknown: no published kernel is bound by LDS"
        );
        let memory = Class::Memory.error_of(&rows);
        assert_eq!((memory.mean, memory.largest), (Some(1.375), Some(2.0)));
    }

    #[test]
    fn each_bound_has_a_class() {
        let classes = Unit::ALL.map(|unit| Class::of(Bound::Unit(unit)));
        assert!(classes.iter().all(Option::is_some));
        assert!(
            Class::ALL
                .iter()
                .all(|class| *class == Class::Latency || classes.contains(&Some(*class)))
        );
        assert_eq!(Class::of(Bound::Nothing), None);
    }
}
