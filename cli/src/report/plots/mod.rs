//! Plots as SVG, in colours that colour-blind readers can tell apart, light or dark as the reader prefers.

mod bars;
mod lines;
mod roofline;
mod series;
mod style;

use super::{
    results::{Results, Row},
    tabular::{Section, digits, sections, shown},
};
use bars::{Bar, Part};

/// One picture.
pub(crate) struct Plot {
    /// The file's name without extension.
    pub(crate) file: String,
    /// A description of the picture, for readers who do not see it.
    pub(crate) alt: String,
    pub(crate) svg: String,
}

/// All plots of a run, by device and type.
pub(crate) fn all(results: &Results) -> Vec<Plot> {
    sections(results)
        .iter()
        .flat_map(|section| of_section(results, section))
        .collect()
}

/// The file name of a section's plot.
fn file_name(section: &Section<'_>, plot: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let title: String = section.title.chars().map(plain).collect();
    let words: Vec<_> = title.split('-').filter(|word| !word.is_empty()).collect();
    format!("{}-{plot}", words.join("-"))
}

fn of_section(results: &Results, section: &Section<'_>) -> Vec<Plot> {
    let rows = shown(&section.rows);
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let how = match first.measured {
        Some(_) => "measured",
        None => "modelled",
    };
    let head = format!("{}, {}", section.title, first.problem.size());
    let mut plots = Vec::new();
    let mut add = |file: &str, alt: String, svg: Option<String>| {
        plots.extend(svg.map(|svg| Plot {
            file: file_name(section, file),
            alt,
            svg: style::finish(&svg),
        }));
    };
    let title = format!("The ladder: {head}");
    add("ladder", title.clone(), ladder(&title, how, &rows));
    let title = format!("Rate over size: {}", section.title);
    add(
        "sizes",
        title.clone(),
        lines::sizes(&title, how, &section.rows),
    );
    let title = format!("Roofline: {head}");
    let device = results.device(first);
    add(
        "roofline",
        title.clone(),
        roofline::roofline(&title, how, device, &rows),
    );
    let title = format!("Where waves' cycles go: {head}");
    add("stalls", title.clone(), stalls(&title, &rows));
    let title = format!("Occupancy: {}", section.title);
    add(
        "occupancy",
        title.clone(),
        occupancy(&title, device.max_waves_per_simd, &rows),
    );
    plots
}

fn ladder(title: &str, how: &str, rows: &[&Row]) -> Option<String> {
    let bars: Vec<Bar> = rows
        .iter()
        .filter_map(|row| {
            let rate = row.figures.operations_per_second? / 1e12;
            let share = row.figures.share_of_peak;
            Some(Bar {
                name: row.kernel.clone(),
                parts: vec![Part {
                    name: 0,
                    value: rate,
                }],
                label: match share {
                    Some(share) => format!("{} ({:.1} %)", digits(rate), 100.0 * share),
                    None => digits(rate),
                },
            })
        })
        .collect();
    let axis = format!("TFLOP/s, {how} (share of peak)");
    bars::horizontal(title, &axis, &[], &bars, None)
}

/// The number of wait causes with a colour of their own.
const CAUSES: usize = 6;

fn stalls(title: &str, rows: &[&Row]) -> Option<String> {
    let modelled = || {
        rows.iter()
            .filter_map(|row| Some((row, row.modelled.as_ref()?)))
    };
    let share = |cycles: u64, all: u64| 100.0 * cycles as f64 / all.max(1) as f64;
    let mut weights: Vec<(String, f64)> = Vec::new();
    for (_, time) in modelled() {
        for (cause, cycles) in &time.stalls {
            let weight = share(*cycles, time.wave_cycles);
            match weights.iter_mut().find(|(name, _)| name == cause) {
                Some((_, sum)) => *sum += weight,
                None => weights.push((cause.clone(), weight)),
            }
        }
    }
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut names: Vec<String> = vec!["instructions".into()];
    names.extend(weights.into_iter().map(|(name, _)| name).take(CAUSES));
    names.push("other waits".into());
    let bars: Vec<Bar> = modelled()
        .map(|(row, time)| {
            let own = |name: &String| time.stalls.get(name).copied().unwrap_or(0);
            let mut parts: Vec<u64> = names.iter().map(own).collect();
            let all: u64 = time.stalls.values().sum();
            let told: u64 = parts.iter().sum();
            parts[0] = time.wave_cycles.saturating_sub(all);
            if let Some(other) = parts.last_mut() {
                *other = all - told;
            }
            Bar {
                name: row.kernel.clone(),
                parts: parts
                    .into_iter()
                    .enumerate()
                    .map(|(name, cycles)| Part {
                        name,
                        value: share(cycles, time.wave_cycles),
                    })
                    .collect(),
                label: String::new(),
            }
        })
        .collect();
    bars::horizontal(
        title,
        "% of resident cycles, modelled",
        &names,
        &bars,
        Some(100.0),
    )
}

fn occupancy(title: &str, most: Option<u32>, rows: &[&Row]) -> Option<String> {
    let bars: Vec<Bar> = rows
        .iter()
        .filter_map(|row| {
            let built = row.built.as_ref()?;
            Some(Bar {
                name: row.kernel.clone(),
                parts: vec![Part {
                    name: 0,
                    value: f64::from(built.waves_per_simd),
                }],
                label: format!("{}: {}", built.waves_per_simd, built.limited_by.join(", ")),
            })
        })
        .collect();
    let axis = "waves per SIMD: limited by";
    bars::horizontal(title, axis, &[], &bars, most.map(f64::from))
}

#[cfg(test)]
mod tests {
    use super::super::{
        figures,
        results::tests::{results, row},
    };
    use super::*;

    #[test]
    fn a_run_has_its_plots_and_names_are_safe() {
        let mut run = results(vec![
            row("naive", 64, 4e-3),
            row("a<b>&c", 64, 2e-3),
            row("naive", 128, 8e-3),
            row("a<b>&c", 128, 3e-3),
        ]);
        figures::fill(&mut run);
        let plots = all(&run);
        let files: Vec<_> = plots.iter().map(|plot| plot.file.as_str()).collect();
        let expected = ["ladder", "sizes", "roofline", "stalls", "occupancy"];
        assert_eq!(files, expected.map(|name| format!("mi300x-f32-f32-{name}")));
        for plot in &plots {
            assert!(plot.svg.starts_with("<svg ") && plot.svg.contains("<style>"));
            assert!(!plot.svg.contains("a<b>"), "{}", plot.file);
            assert!(!plot.svg.contains("NaN"), "{}", plot.file);
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(all(&results(Vec::new())).is_empty());
        let mut run = results(vec![row("naive", 64, 0.0)]);
        run.rows[0].modelled = None;
        run.rows[0].built = None;
        figures::fill(&mut run);
        assert!(all(&run).is_empty());
    }
}
