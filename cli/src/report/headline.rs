//! A run in a few sentences: which kernel is the fastest, by how much, what limits it, and how far it is from the peak
//! and from AMD's libraries.

use std::collections::BTreeMap;

use super::{
    results::{Device, NAIVE, Row},
    tabular::{Section, digits, shown},
};

/// A step with at least this share of the speed of the step before it counts as equally fast.
const AS_FAST: f64 = 0.97;

/// Sentences about the largest problem of a section, the most important first. Without times, only how many products
/// are correct.
pub(crate) fn headline(section: &Section<'_>) -> Vec<String> {
    let rows = shown(&section.rows);
    let rate = |row: &Row| row.figures.operations_per_second;
    let mut ours: Vec<(&Row, f64)> = rows
        .iter()
        .filter(|row| !row.is_library() && !row.failed())
        .filter_map(|row| Some((*row, rate(row)?)))
        .collect();
    ours.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(best, most)) = ours.first() else {
        return vec![verdicts(section)];
    };
    let how = match best.measured {
        Some(_) => "measured",
        None => "modelled",
    };
    let peak = best
        .figures
        .share_of_peak
        .map_or_else(String::new, |share| {
            format!(", {:.0} % of the peak", 100.0 * share)
        });
    let clock = best.measured.as_ref().and_then(|time| time.clock_hz);
    let clock = clock.map_or_else(String::new, |clock_hz| {
        format!(", at {:.0} MHz", clock_hz / 1e6)
    });
    let libraries = rows.iter().filter(|row| row.is_library());
    let library = libraries
        .filter_map(|row| Some((row, rate(row)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let of = match library {
        Some((_, rate)) if rate > most => " of Ferrowave's kernels",
        _ => "",
    };
    let mut sentences = vec![format!(
        "{} is the fastest{of} at {}: {} TFLOP/s{peak}{clock} ({how}).",
        best.kernel,
        best.problem.size(),
        digits(most / 1e12),
    )];
    if let Some(&(next, less)) = ours.get(1) {
        let naive = best.figures.speedup_over_naive;
        let naive = naive.filter(|&over| over > 1.0 && next.kernel != NAIVE);
        let naive = naive.map_or_else(String::new, |over| {
            format!(", and {} times as fast as {NAIVE}", digits(over))
        });
        sentences.push(format!(
            "It is {} times as fast as the next, {}{naive}.",
            digits(most / less),
            next.kernel
        ));
    }
    if let Some(time) = &best.modelled {
        let usage = time.usage.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let usage = usage.map_or_else(String::new, |(unit, share)| {
            format!(
                "; its busiest unit, {unit}, works {:.0} % of the time",
                100.0 * share
            )
        });
        sentences.push(format!("It is bound by {}{usage}.", bound(&time.bound_by)));
        if let Some(error) = &time.error {
            sentences.push(format!("The model's error for such kernels is {error}."));
        }
    }
    if let Some((library, rate)) = library {
        sentences.push(format!(
            "{} reaches {} TFLOP/s; {} has {} of that.",
            library.name(),
            digits(rate / 1e12),
            best.kernel,
            digits(most / rate)
        ));
    }
    sentences.push(verdicts(section));
    sentences
}

/// For latency, the cause is what waves wait for.
fn bound(by: &str) -> String {
    match by.strip_prefix("latency: ") {
        Some(cause) => format!("latency ({cause})"),
        None => by.to_owned(),
    }
}

/// The number of correct results.
fn verdicts(section: &Section<'_>) -> String {
    let count = |verdict| {
        section
            .rows
            .iter()
            .filter(|row| row.verdict() == verdict)
            .count()
    };
    let [correct, wrong, failed, estimated] =
        ["correct", "WRONG", "failed", "not computed"].map(count);
    let products = match (correct, wrong) {
        (0, 0) => None,
        (1, 0) => Some("The computed product is correct".to_owned()),
        (_, 0) => Some(format!("All {correct} computed products are correct")),
        _ => Some(format!(
            "{wrong} of {} computed products are WRONG",
            wrong + correct
        )),
    };
    let failures = match failed {
        0 => None,
        1 => Some("1 kernel failed".to_owned()),
        _ => Some(format!("{failed} kernels failed")),
    };
    let modelled = (estimated > 0).then(|| format!("{estimated} were modelled and not computed"));
    let parts: Vec<_> = [products, failures, modelled]
        .into_iter()
        .flatten()
        .collect();
    parts.join("; ") + "."
}

/// Why a step of the ladder is slower than the one before it, if the timing model tells.
pub(crate) fn setback(before: &Row, row: &Row, device: &Device) -> Option<String> {
    if before.seconds()? / row.seconds()? >= AS_FAST {
        return None;
    }
    let [old, new] = [before.modelled.as_ref()?, row.modelled.as_ref()?];
    let units = u64::from(device.compute_units);
    if new.workgroups < units && new.workgroups < old.workgroups {
        return Some(format!(
            "too few workgroups: {} for {units} compute units ({} has {})",
            new.workgroups, before.kernel, old.workgroups
        ));
    }
    let share = |stalls: &BTreeMap<String, u64>, cause: &str, cycles: u64| {
        stalls.get(cause).copied().unwrap_or(0) as f64 / cycles.max(1) as f64
    };
    let risen = new.stalls.keys().map(|cause| {
        let after = share(&new.stalls, cause, new.wave_cycles);
        (cause, share(&old.stalls, cause, old.wave_cycles), after)
    });
    let (cause, from, to) = risen.max_by(|a, b| (a.2 - a.1).total_cmp(&(b.2 - b.1)))?;
    (to > from).then(|| {
        format!(
            "{cause}: {:.0} % of its waves' cycles ({} has {:.0} %)",
            100.0 * to,
            before.kernel,
            100.0 * from
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        figures,
        results::tests::{results, row},
        tabular::sections,
    };
    use super::*;

    #[test]
    fn five_sentences_say_what_a_section_says() {
        let mut library = row("rocBLAS", 1024, 0.5e-3);
        library.library_version = Some("5.0".into());
        let mut wrong = row("quick", 1024, 1e-6);
        wrong.outcome.passed = false;
        let mut failed = row("lost", 1024, 1e-6);
        failed.outcome.passed = false;
        failed.outcome.failed = true;
        let mut estimated = row("naive", 1024, 4e-3);
        estimated.outcome.passed = false;
        estimated.estimated = true;
        let mut run = results(vec![
            estimated,
            row("lds_tiled", 1024, 1e-3),
            row("tiled", 1024, 2e-3),
            wrong,
            failed,
            library,
            row("naive", 64, 1e-6),
        ]);
        figures::fill(&mut run);
        let sections = sections(&run);
        let text = headline(&sections[0]).join("\n");
        assert_eq!(
            text,
            "lds_tiled is the fastest of Ferrowave's kernels at 1024×1024×1024: 2.15 TFLOP/s, 1 % of the peak (modelled).\n\
             It is 2.00 times as fast as the next, tiled, and 4.00 times as fast as naive.\n\
             It is bound by LDS; its busiest unit, LDS, works 90 % of the time.\n\
             The model's error for such kernels is ±10 % on average.\n\
             rocBLAS 5.0 reaches 4.29 TFLOP/s; lds_tiled has 0.500 of that.\n\
             1 of 5 computed products are WRONG; 1 kernel failed; 1 were modelled and not computed."
        );
    }

    #[test]
    fn naive_is_named_once() {
        let mut run = results(vec![row("naive", 64, 4e-3), row("lds_tiled", 64, 1e-3)]);
        figures::fill(&mut run);
        assert_eq!(
            headline(&sections(&run)[0])[1],
            "It is 4.00 times as fast as the next, naive."
        );
    }

    #[test]
    fn without_times_it_says_what_is_correct() {
        let mut run = results(vec![row("naive", 64, 4e-3)]);
        run.rows[0].modelled = None;
        figures::fill(&mut run);
        let text = headline(&sections(&run)[0]);
        assert_eq!(text, ["The computed product is correct."]);
    }

    #[test]
    fn a_setback_has_a_reason() {
        let mut run = results(vec![row("a", 64, 1e-3), row("b", 64, 2e-3)]);
        let device = &run.run.devices[0];
        assert_eq!(setback(&run.rows[1], &run.rows[0], device), None);
        // The same waits and the same number of workgroups: no reason is known.
        assert_eq!(setback(&run.rows[0], &run.rows[1], device), None);
        let time = run.rows[1].modelled.as_mut().unwrap();
        time.stalls.insert("barrier".into(), 25);
        assert_eq!(
            setback(&run.rows[0], &run.rows[1], device).unwrap(),
            "barrier: 25 % of its waves' cycles (a has 0 %)"
        );
        run.rows[1].modelled.as_mut().unwrap().workgroups = 2;
        assert_eq!(
            setback(&run.rows[0], &run.rows[1], &run.run.devices[0]).unwrap(),
            "too few workgroups: 2 for 304 compute units (a has 4)"
        );
    }
}
