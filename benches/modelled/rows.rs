//! Collects the rows of published kernels, from which the model's error is stated (`emulator/timing/src/accuracy.rs`).

use std::{
    env, fs,
    sync::{Mutex, PoisonError},
};

use ferrowave_gpu::Product;
use ferrowave_timing::{PublishedRow, error_table, published_rows};

/// The file of the rows.
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/emulator/timing/src/published_rows.csv"
);

static ROWS: Mutex<Vec<PublishedRow>> = Mutex::new(Vec::new());

/// Adds a row whose kernel has the published one's code or structure. `ratio` is the modelled divided by the published
/// time, `bound_by` as [`Bound::text`](ferrowave_timing::Bound::text).
pub(crate) fn add(group: &str, machine: Product, kernel: &str, ratio: f64, bound_by: String) {
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    rows.push(PublishedRow {
        group: group.to_owned(),
        machine: machine.name().to_owned(),
        kernel: kernel.to_owned(),
        ratio,
        bound_by,
    });
}

/// Prints how the rows differ from the file, and their errors by class. With `UPDATE_ROWS=1`, writes the rows of this run
/// to the file: their groups replace those of the same name. Returns whether the file has what this run found.
pub(crate) fn compare() -> bool {
    let mut found = ROWS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // As the file rounds them.
    for row in &mut found {
        row.ratio = (100.0 * row.ratio).round() / 100.0;
    }
    let kept = published_rows();
    let key = |row: &PublishedRow| (row.group.clone(), row.machine.clone(), row.kernel.clone());
    let mut is_same = true;
    for row in &found {
        let old = kept.iter().find(|old| key(old) == key(row));
        if old != Some(row) {
            is_same = false;
            let old = old.map_or("nothing".to_owned(), |old| {
                format!("{:.2}, bound by {}", old.ratio, old.bound_by)
            });
            println!(
                "{} `{}`: {:.2}, bound by {}; the file has {old}",
                row.group, row.kernel, row.ratio, row.bound_by
            );
        }
    }
    let is_found = |old: &&PublishedRow| found.iter().any(|row| row.group == old.group);
    let gone = kept
        .iter()
        .filter(is_found)
        .filter(|old| !found.iter().any(|row| key(row) == key(old)));
    let mut all: Vec<PublishedRow> = kept.iter().filter(|old| !is_found(old)).cloned().collect();
    is_same &= gone.count() == 0;
    all.extend(found);
    println!("\n{}", error_table(&all));
    if env::var_os("UPDATE_ROWS").is_some() {
        fs::write(FILE, PublishedRow::file(&all)).expect("the file can be written");
        return true;
    }
    if !is_same {
        println!(
            "{FILE} has other rows; UPDATE_ROWS=1 writes these, and docs/timing.md needs the table above"
        );
    }
    is_same
}
