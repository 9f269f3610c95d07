//! Two runs side by side.

use super::results::{Results, Row};

/// Noise of measured times: the spread of their samples, and at least this. Modelled times of the same kernel do not
/// vary.
const MEASURED_NOISE: f64 = 0.03;
/// Rounding errors of modelled times.
const MODELLED_NOISE: f64 = 0.001;

/// How a kernel's time on a problem changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Faster,
    Slower,
    /// Within noise.
    Same,
    /// Only the second run has it.
    New,
    /// Only the first run has it.
    Gone,
    /// Correct before, wrong now.
    Broken,
    /// One was measured and the other modelled, or one has no time.
    NoTime,
}

impl Change {
    /// In a word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Change::Faster => "faster",
            Change::Slower => "slower",
            Change::Same => "same",
            Change::New => "new",
            Change::Gone => "gone",
            Change::Broken => "WRONG NOW",
            Change::NoTime => "not comparable",
        }
    }
}

/// A row of both runs, or of one.
pub(crate) struct Pair<'a> {
    pub(crate) before: Option<&'a Row>,
    pub(crate) after: Option<&'a Row>,
    /// The speed of the second run over that of the first.
    pub(crate) speedup: Option<f64>,
    pub(crate) change: Change,
}

impl Pair<'_> {
    /// The later row, or the earlier one if there is none.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.after.or(self.before)
    }
}

/// A time, whether it was measured, and its relative uncertainty.
fn time(row: &Row) -> Option<(f64, bool, f64)> {
    if let Some(measured) = &row.measured {
        let spread = (measured.slowest_seconds - measured.fastest_seconds)
            / (2.0 * measured.median_seconds.max(f64::MIN_POSITIVE));
        return Some((measured.median_seconds, true, spread.max(MEASURED_NOISE)));
    }
    let modelled = row.modelled.as_ref()?;
    Some((modelled.seconds, false, MODELLED_NOISE))
}

/// Compares row by row, in the order of the second run, followed by the rows that only the first run has.
pub(crate) fn pairs<'a>(before: &'a Results, after: &'a Results) -> Vec<Pair<'a>> {
    let same = |a: &Row, b: &Row| {
        let (x, y) = (before.device(a), after.device(b));
        a.kernel == b.kernel
            && a.problem == b.problem
            && (&x.gpu, &x.machine) == (&y.gpu, &y.machine)
    };
    let find = |row: &Row| before.rows.iter().find(|old| same(old, row));
    let mut pairs: Vec<Pair<'a>> = after
        .rows
        .iter()
        .map(|row| pair(find(row), Some(row)))
        .collect();
    let is_gone = |old: &&Row| !after.rows.iter().any(|row| same(old, row));
    pairs.extend(
        before
            .rows
            .iter()
            .filter(is_gone)
            .map(|old| pair(Some(old), None)),
    );
    pairs
}

fn pair<'a>(before: Option<&'a Row>, after: Option<&'a Row>) -> Pair<'a> {
    let (speedup, change) = match (before, after) {
        (Some(old), Some(new)) => compare(old, new),
        (None, _) => (None, Change::New),
        (_, None) => (None, Change::Gone),
    };
    Pair {
        before,
        after,
        speedup,
        change,
    }
}

fn compare(old: &Row, new: &Row) -> (Option<f64>, Change) {
    let times = (time(old), time(new));
    let speedup = match times {
        (Some((a, kind_a, _)), Some((b, kind_b, _))) if kind_a == kind_b && b > 0.0 => Some(a / b),
        _ => None,
    };
    let noise = [times.0, times.1].map(|time| time.map_or(0.0, |(.., noise)| noise));
    let noise = noise[0].max(noise[1]);
    let change = match speedup {
        _ if !old.failed() && new.failed() => Change::Broken,
        None => Change::NoTime,
        Some(speedup) if speedup > 1.0 + noise => Change::Faster,
        Some(speedup) if speedup < 1.0 / (1.0 + noise) => Change::Slower,
        Some(_) => Change::Same,
    };
    (speedup, change)
}

/// The changes that fail a comparison: results that became wrong and, with a limit, speeds below it.
pub(crate) fn failures<'a, 'b>(pairs: &'b [Pair<'a>], limit: Option<f64>) -> Vec<&'b Pair<'a>> {
    pairs
        .iter()
        .filter(|pair| {
            let is_slow = pair
                .speedup
                .zip(limit)
                .is_some_and(|(speed, limit)| speed < limit);
            pair.change == Change::Broken || is_slow && pair.change == Change::Slower
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::results::{
        Measured,
        tests::{results, row},
    };
    use super::*;

    fn changes(before: &Results, after: &Results) -> Vec<Change> {
        pairs(before, after)
            .iter()
            .map(|pair| pair.change)
            .collect()
    }

    #[test]
    fn modelled_times_have_next_to_no_noise() {
        let before = results(vec![row("naive", 64, 1e-3), row("lds_tiled", 64, 1e-3)]);
        let after = results(vec![
            row("naive", 64, 1.01e-3),
            row("naive", 128, 1e-3),
            row("lds_tiled", 64, 0.5e-3),
        ]);
        assert_eq!(
            changes(&before, &after),
            [Change::Slower, Change::New, Change::Faster]
        );
        assert_eq!(changes(&before, &before), [Change::Same, Change::Same]);
        assert_eq!(changes(&after, &before).last(), Some(&Change::Gone));
        let all = pairs(&before, &after);
        assert!((all[2].speedup.unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(failures(&all, Some(0.995)).len(), 1);
        assert_eq!(failures(&all, Some(0.95)).len(), 0);
        assert_eq!(failures(&all, None).len(), 0);
    }

    #[test]
    fn measured_times_vary_as_their_samples_do() {
        let measured = |median: f64, spread: f64| {
            let mut row = row("naive", 64, 0.0);
            row.modelled = None;
            row.measured = Some(Measured {
                median_seconds: median,
                fastest_seconds: median * (1.0 - spread),
                slowest_seconds: median * (1.0 + spread),
                samples: 10,
                clock_hz: None,
            });
            results(vec![row])
        };
        let before = measured(1e-3, 0.0);
        assert_eq!(changes(&before, &measured(1.02e-3, 0.0)), [Change::Same]);
        assert_eq!(changes(&before, &measured(1.1e-3, 0.0)), [Change::Slower]);
        assert_eq!(changes(&before, &measured(1.1e-3, 0.2)), [Change::Same]);
        let modelled = results(vec![row("naive", 64, 1e-3)]);
        assert_eq!(changes(&before, &modelled), [Change::NoTime]);
    }

    #[test]
    fn wrong_results_fail_whatever_the_time() {
        let before = results(vec![row("naive", 64, 1e-3)]);
        let mut after = results(vec![row("naive", 64, 0.5e-3)]);
        after.rows[0].outcome.passed = false;
        let all = pairs(&before, &after);
        assert_eq!(all[0].change, Change::Broken);
        assert_eq!(failures(&all, None).len(), 1);
    }
}
