//! `ferrowave compare`

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use serde::Serialize;

use super::{Columns, Failure, print, print_json, say};
use crate::report::{
    compare::{Change, Pair, failures, pairs},
    results::Results,
    tabular::digits,
};

/// Compare two reports row by row, and say what became faster or slower by more than the noise.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    /// The earlier report's folder or results.json.
    before: PathBuf,
    /// The later report's folder or results.json.
    after: PathBuf,
    /// Exit with code 1 if a kernel's speed has dropped below this share of the earlier one, by more than the noise.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fail_under: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a share is above 0 and at most 1, like 0.95".into()),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    kernel: &'a str,
    size: String,
    input: &'a str,
    before_seconds: Option<f64>,
    after_seconds: Option<f64>,
    /// The later speed over the earlier one.
    speedup: Option<f64>,
    change: &'static str,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let read = |path: &PathBuf| Results::read(path).map_err(Failure::usage);
    let (before, after) = (read(&options.before)?, read(&options.after)?);
    for (path, results) in [(&options.before, &before), (&options.after, &after)] {
        if !results.complete {
            say(format_args!(
                "`{}` is from an interrupted run\n",
                path.display()
            ));
        }
    }
    let pairs = pairs(&before, &after);
    if options.json {
        let lines: Vec<_> = pairs.iter().filter_map(line).collect();
        print_json(&lines)?;
    } else {
        print(&comparison(&pairs))?;
    }
    let failures = failures(&pairs, options.fail_under);
    if failures.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for line in failures.into_iter().filter_map(line) {
        say(format_args!(
            "{} {} {}: {}\n",
            line.kernel, line.size, line.input, line.change
        ));
    }
    Ok(ExitCode::FAILURE)
}

fn line<'a>(pair: &'a Pair<'_>) -> Option<Line<'a>> {
    let row = pair.row()?;
    Some(Line {
        kernel: &row.kernel,
        size: row.problem.size(),
        input: &row.problem.input,
        before_seconds: pair.before.and_then(|row| row.seconds()),
        after_seconds: pair.after.and_then(|row| row.seconds()),
        speedup: pair.speedup,
        change: pair.change.name(),
    })
}

/// Two runs side by side.
pub(crate) fn comparison(pairs: &[Pair<'_>]) -> String {
    let mut table = Columns::new(&[
        "kernel",
        "m×n×k:",
        "type",
        "before [ms]:",
        "after [ms]:",
        "speed-up:",
        "change",
    ]);
    let milliseconds = |seconds: Option<f64>| seconds.map_or_else(String::new, |s| digits(1e3 * s));
    for line in pairs.iter().filter_map(line) {
        table.row([
            line.kernel.to_owned(),
            line.size,
            line.input.to_owned(),
            milliseconds(line.before_seconds),
            milliseconds(line.after_seconds),
            line.speedup
                .map_or_else(String::new, |speedup| format!("{speedup:.3}")),
            line.change.to_owned(),
        ]);
    }
    let count = |change| pairs.iter().filter(|pair| pair.change == change).count();
    format!(
        "{table}{} faster, {} slower, {} the same\n",
        count(Change::Faster),
        count(Change::Slower),
        count(Change::Same)
    )
}
