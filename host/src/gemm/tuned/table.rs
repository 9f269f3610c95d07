//! Tables of costs, as `ferrowave tune` writes them: one row for each kernel and layout of A and B.
//!
//! A table is a text of comma-separated values. Lines that begin with `#` are comments.

use super::cost::{Cost, Line, Steps};
use crate::gemm::{layout::Order, machine::Machine, problem::Problem};
use ferrowave_gpu::Product;
use ferrowave_shared::Kernel;
use std::{fmt::Write as _, sync::LazyLock};
use thiserror::Error;

/// The tables that are part of the library.
const EMBEDDED: &[(Product, &str)] = &[
    (Product::Mi100, include_str!("MI100.csv")),
    (Product::Mi210, include_str!("MI210.csv")),
    (Product::Mi300x, include_str!("MI300X.csv")),
    (Product::Mi355x, include_str!("MI355X.csv")),
    (Product::Rx7900Xtx, include_str!("RX7900XTX.csv")),
    (Product::Radeon8060s, include_str!("Radeon8060S.csv")),
    (Product::Rx9070Xt, include_str!("RX9070XT.csv")),
];

/// The names of the columns behind kernel, layout and code.
const COLUMNS: [&str; 24] = [
    "resident",
    "few_first",
    "few_fixed",
    "few_step",
    "one_first",
    "one_fixed",
    "one_step",
    "full_first",
    "full_fixed",
    "full_step",
    "next_first",
    "next_fixed",
    "next_step",
    "row_step",
    "column_step",
    "tail",
    "edge_fixed",
    "edge_step",
    "straddle",
    "share_few_fixed",
    "share_few_part",
    "share_fixed",
    "share_part",
    "tile_k",
];

/// The costs of a machine's kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The machine that was modelled.
    pub machine: Product,
    /// In the order of the catalogue.
    pub rows: Vec<Row>,
}

/// The costs of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The order of A and of B.
    pub orders: (Order, Order),
    /// A checksum of the machine code that was modelled ([`checksum`]).
    pub code: u32,
    /// Its costs.
    pub cost: Cost,
}

/// Why a table can't be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line} of the table: {what}")]
pub struct TableError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// The checksum of a kernel's machine code: FNV-1a.
pub fn checksum(code: &[u8]) -> u32 {
    code.iter().fold(0x811c_9dc5, |sum, &byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

impl Table {
    /// The embedded table for a machine: of its GPU, and of the product with the nearest number of compute units.
    pub fn of(machine: &Machine) -> Option<&'static Self> {
        static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
            let tables = EMBEDDED.iter();
            // The test below reads all of them.
            let tables = tables.filter_map(|(product, text)| Table::parse(*product, text).ok());
            tables.filter(|table| !table.rows.is_empty()).collect()
        });
        TABLES
            .iter()
            .filter(|table| table.machine.gpu().name() == machine.gpu)
            .min_by_key(|table| {
                let of_table = table.machine.specifications().compute_units;
                of_table.abs_diff(machine.compute_units)
            })
    }

    /// The row of a kernel for the layouts of a problem.
    pub fn row(&self, kernel: &Kernel, problem: &Problem) -> Option<&Row> {
        self.row_of(kernel, (problem.a().order, problem.b().order))
    }

    /// The row of a kernel for these layouts.
    pub fn row_of(&self, kernel: &Kernel, orders: (Order, Order)) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.orders == orders && row.kernel.symbol == kernel.symbol)
    }

    /// Reads a table. Rows of kernels that this build does not have, or has with another tile, are left out.
    ///
    /// # Errors
    /// The line that is no row of a table, and what is wrong with it.
    pub fn parse(machine: Product, text: &str) -> Result<Self, TableError> {
        let mut rows = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') || line.starts_with("kernel,") {
                continue;
            }
            let row = parse_row(line).map_err(|what| TableError {
                line: number + 1,
                what,
            })?;
            rows.extend(row);
        }
        Ok(Self { machine, rows })
    }

    /// The text that [`parse`](Self::parse) reads.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# Costs of the kernels on {machine}, modelled, in cycles. Written by `ferrowave tune --gpu \"{machine}\"`; the columns are \
             those of `Cost` in host/src/gemm/tuned/cost.rs.\nkernel,layout,code,{columns}\n",
            machine = self.machine,
            columns = COLUMNS.join(",")
        );
        for row in &self.rows {
            let Cost {
                resident,
                few,
                one,
                full,
                next,
                row_step,
                column_step,
                tail,
                edge,
                straddle,
                share_few,
                share,
            } = row.cost;
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{},{}{},{:08x},{resident}",
                row.kernel.symbol,
                row.orders.0.letter(),
                row.orders.1.letter(),
                row.code
            );
            for Steps { first, more } in [few, one, full, next] {
                let _ = write!(text, ",{first:.0},{:.0},{:.1}", more.fixed, more.step);
            }
            let _ = writeln!(
                text,
                ",{row_step:.1},{column_step:.1},{tail:.0},{:.0},{:.1},{straddle:.2},{:.0},{:.1},{:.0},{:.1},{}",
                edge.fixed,
                edge.step,
                share_few.fixed,
                share_few.step,
                share.fixed,
                share.step,
                row.kernel.tile.k
            );
        }
        text
    }
}

fn parse_row(line: &str) -> Result<Option<Row>, String> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let [symbol, layout, code, numbers @ ..] = fields.as_slice() else {
        return Err("a row begins with kernel, layout and code".to_owned());
    };
    if numbers.len() != COLUMNS.len() {
        return Err(format!(
            "{} numbers, but there are {} columns",
            numbers.len(),
            COLUMNS.len()
        ));
    }
    let orders: Vec<_> = layout.chars().map(Order::from_letter).collect();
    let [Some(order_a), Some(order_b)] = orders[..] else {
        return Err(format!("layout `{layout}` is none of NN, NT, TN and TT"));
    };
    let orders = (order_a, order_b);
    let code = u32::from_str_radix(code, 16)
        .map_err(|_| format!("code `{code}` is no hexadecimal number of 32 bits"))?;
    let mut values = [0.0; COLUMNS.len()];
    for ((value, text), column) in values.iter_mut().zip(numbers).zip(COLUMNS) {
        *value = text
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| format!("{column} `{text}` is no number"))?;
    }
    let [
        resident,
        few_first,
        few_fixed,
        few_step,
        one_first,
        one_fixed,
        one_step,
        full_first,
        full_fixed,
        full_step,
        next_first,
        next_fixed,
        next_step,
        row_step,
        column_step,
        tail,
        edge_fixed,
        edge_step,
        straddle,
        share_few_fixed,
        share_few_part,
        share_fixed,
        share_part,
        tile_k,
    ] = values;
    let kernel = Kernel::by_symbol(symbol).filter(|kernel| kernel.tile.k as f64 == tile_k);
    let steps = |first, fixed, step| Steps {
        first,
        more: Line { fixed, step },
    };
    Ok(kernel.map(|kernel| Row {
        kernel,
        orders,
        code,
        cost: Cost {
            resident: resident.clamp(1.0, 64.0) as u32,
            few: steps(few_first, few_fixed, few_step),
            one: steps(one_first, one_fixed, one_step),
            full: steps(full_first, full_fixed, full_step),
            next: steps(next_first, next_fixed, next_step),
            row_step,
            column_step,
            tail,
            edge: Line {
                fixed: edge_fixed,
                step: edge_step,
            },
            straddle,
            share_few: Line {
                fixed: share_few_fixed,
                step: share_few_part,
            },
            share: Line {
                fixed: share_fixed,
                step: share_part,
            },
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_shared::CATALOGUE;

    #[test]
    fn embedded_tables_can_be_read_and_have_only_kernels_of_their_gpu() {
        for (product, text) in EMBEDDED {
            let table = Table::parse(*product, text).expect("an embedded table");
            let lines = text.lines().filter(|line| line.starts_with("gemm_"));
            assert_eq!(table.rows.len(), lines.count(), "{product}");
            for row in &table.rows {
                assert!(
                    row.kernel.gpus.contains(product.gpu().name()),
                    "{}",
                    row.kernel.symbol
                );
                assert!(row.cost.full.more.step > 0.0, "{}", row.kernel.symbol);
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let line = |fixed, step| Line { fixed, step };
        let steps = |fixed, step| Steps {
            first: fixed + step - 1.0,
            more: line(fixed, step),
        };
        let table = Table {
            machine: Product::Mi210,
            rows: vec![Row {
                kernel: CATALOGUE.last().expect("kernels"),
                orders: (Order::RowMajor, Order::ColumnMajor),
                code: 0x12ab,
                cost: Cost {
                    resident: 2,
                    few: steps(1.0, 3.0),
                    one: steps(3.0, 4.0),
                    full: steps(5.0, 6.0),
                    next: steps(-7.0, 8.0),
                    row_step: 9.0,
                    column_step: 10.0,
                    tail: 11.0,
                    edge: line(12.0, 17.0),
                    straddle: 1.25,
                    share_few: line(15.0, 16.0),
                    share: line(13.0, 14.0),
                },
            }],
        };
        assert_eq!(Table::parse(Product::Mi210, &table.to_text()), Ok(table));
    }

    fn check(line: &str, expected: &str) {
        let error = Table::parse(Product::Mi210, &format!("# comment\n\n{line}\n")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("line 3 of the table: {expected}")
        );
    }

    #[test]
    fn what_is_no_row_is_named() {
        let numbers = |last: &str| {
            let ones = ["1"; COLUMNS.len() - 1].join(",");
            format!("{ones},{last}")
        };
        check("x", "a row begins with kernel, layout and code");
        check("x,NN,0,1", "1 numbers, but there are 24 columns");
        check(
            &format!("x,NX,0,{}", numbers("1")),
            "layout `NX` is none of NN, NT, TN and TT",
        );
        check(
            &format!("x,NN,xyz,{}", numbers("1")),
            "code `xyz` is no hexadecimal number of 32 bits",
        );
        check(
            &format!("x,NN,0,{}", numbers("NaN")),
            "tile_k `NaN` is no number",
        );
        let unknown = format!("x,NN,0,{}", numbers("1"));
        assert_eq!(
            Table::parse(Product::Mi210, &unknown).map(|table| table.rows),
            Ok(Vec::new())
        );
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        // The published test vectors of FNV.
        assert_eq!(checksum(b""), 0x811c_9dc5);
        assert_eq!(checksum(b"a"), 0xe40c_292c);
        assert_eq!(checksum(b"foobar"), 0xbf9c_f968);
    }
}
