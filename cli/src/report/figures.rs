//! Figures derived from times and counts: rates, shares of the GPU's peak, speed-ups.

use ferrowave_shared::{ElementType, ElementTypes, SCALE_BLOCK};
use std::collections::BTreeMap;

use super::{
    headline::setback,
    results::{Counters, Device, Figures, NAIVE, Product, Results, Row},
};

/// Peak operations per cycle of a compute unit, on matrix cores where those are faster (AMD's CDNA white papers and
/// data sheets). `None` for types that the GPU does not multiply.
fn operations_per_cycle(gpu: &str, input: &str) -> Option<f64> {
    // Those of the zeros count: a sparse A takes half of the time.
    if let Some(dense) = input.strip_prefix("sparse_") {
        return matches!(gpu, "gfx942" | "gfx950")
            .then(|| operations_per_cycle(gpu, dense))?
            .map(|rate| 2.0 * rate);
    }
    let [gfx908, gfx90a, gfx942, gfx950] = match input {
        "f64" => [64.0, 256.0, 256.0, 128.0],
        "f32" => [256.0, 256.0, 256.0, 256.0],
        "xf32" => [0.0, 0.0, 1024.0, 0.0],
        "f16" => [1024.0, 1024.0, 2048.0, 4096.0],
        "bf16" => [512.0, 1024.0, 2048.0, 4096.0],
        "i8" => [1024.0, 1024.0, 4096.0, 8192.0],
        "fp8" | "fp8_fnuz" | "bf8" | "bf8_fnuz" => [0.0, 0.0, 4096.0, 8192.0],
        "fp8_bf8" | "bf8_fp8" | "fp8_bf8_fnuz" | "bf8_fp8_fnuz" => [0.0, 0.0, 4096.0, 8192.0],
        "mxfp8" | "mxbf8" | "mxfp8_mxbf8" | "mxbf8_mxfp8" => [0.0, 0.0, 0.0, 8192.0],
        "mxfp6" | "mxbf6" | "mxfp4" => [0.0, 0.0, 0.0, 16384.0],
        _ => return None,
    };
    let rate = match gpu {
        "gfx908" => gfx908,
        "gfx90a" => gfx90a,
        "gfx942" => gfx942,
        "gfx950" => gfx950,
        _ => return None,
    };
    (rate > 0.0).then_some(rate)
}

/// Peak operations per second of a device.
pub(crate) fn peak(device: &Device, input: &str) -> Option<f64> {
    let rate = operations_per_cycle(&device.gpu, input)?;
    let peak = rate * f64::from(device.compute_units) * device.clock_hz;
    (peak > 0.0).then_some(peak)
}

/// Bytes of an element of A or B of these types, or of C of this one, with its share of a scale.
fn bytes(name: &str) -> f64 {
    let named = ElementTypes::ALL.iter().find(|types| types.name() == name);
    // i32 is a type of C only.
    let element = named.map_or(ElementType::I32, |types| types.a);
    let scale = match element.is_scaled() {
        true => 1.0 / f64::from(SCALE_BLOCK),
        false => 0.0,
    };
    element.bits() as f64 / 8.0 + scale
}

fn operations(problem: &Product) -> f64 {
    2.0 * [problem.m, problem.n, problem.k, problem.batch]
        .map(f64::from)
        .iter()
        .product::<f64>()
}

fn least_bytes(problem: &Product) -> f64 {
    let [m, n, k, batch] = [problem.m, problem.n, problem.k, problem.batch].map(f64::from);
    let passes = if problem.beta == 0.0 { 1.0 } else { 2.0 };
    let (bytes_a, bytes_b) = match problem.input.strip_prefix("sparse_") {
        // Half of the elements, and four bits for each four.
        Some(input) => (bytes(input) / 2.0 + 1.0 / 8.0, bytes(input)),
        None => (bytes(&problem.input), bytes(&problem.input)),
    };
    batch * (m * k * bytes_a + k * n * bytes_b + passes * m * n * bytes(&problem.output))
}

/// Kinds of instructions are mentioned if their share of all is above this.
const WORTH_A_WORD: f64 = 0.02;

/// The changes of the instruction mix, the largest first: the factor of the number of instructions of each kind.
fn mix_change(before: &Counters, after: &Counters) -> String {
    let all = before.wave_instructions.max(after.wave_instructions).max(1) as f64;
    let count = |classes: &BTreeMap<String, u64>, name: &str| {
        classes.get(name).copied().unwrap_or(0) as f64
    };
    let mut changes: Vec<(f64, String)> = after
        .classes
        .keys()
        .filter_map(|name| {
            let [old, new] = [&before.classes, &after.classes].map(|classes| count(classes, name));
            let weight = (new - old).abs() / all;
            let text = match (old, new) {
                _ if weight < WORTH_A_WORD => return None,
                (0.0, _) => format!("{name} new"),
                (_, 0.0) => format!("{name} gone"),
                (old, new) if new >= 10.0 * old => format!("{name} ×{:.0}", new / old),
                (old, new) if new > old => format!("{name} ×{:.1}", new / old),
                (old, new) => format!("{name} −{:.0} %", 100.0 * (1.0 - new / old)),
            };
            Some((weight, text))
        })
        .collect();
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let texts: Vec<_> = changes.into_iter().map(|(_, text)| text).take(4).collect();
    texts.join(", ")
}

/// Milliseconds that the documents behind the ladder give for their variants, measured by their authors on MI100, in
/// f32, at 2048 × 1024 × 2048.
const PUBLISHED: [(&str, f64); 7] = [
    (NAIVE, 13.70),
    ("mfma_uncached", 4.339),
    ("mfma_lds", 3.025),
    ("mfma_double_buffered", 1.455),
    ("mfma_fragment", 1.340),
    ("mfma_block_order", 29.04),
    ("mfma_pass_order", 26.12),
];

fn published(row: &Row, device: &Device) -> Option<f64> {
    let problem = &row.problem;
    let is_mi100 = match &device.machine {
        Some(machine) => machine == "MI100",
        None => device.gpu == "gfx908",
    };
    let size = [problem.m, problem.n, problem.k, problem.batch];
    if !is_mi100 || problem.input != "f32" || size != [2048, 1024, 2048, 1] {
        return None;
    }
    let found = PUBLISHED.iter().find(|(kernel, _)| *kernel == row.kernel);
    found.map(|(_, milliseconds)| 1e-3 * milliseconds)
}

/// Fills in the figures of all rows.
pub(crate) fn fill(results: &mut Results) {
    let figures: Vec<Figures> = (0..results.rows.len())
        .map(|index| figures(results, index))
        .collect();
    for (row, figures) in results.rows.iter_mut().zip(figures) {
        row.figures = figures;
    }
}

fn figures(results: &Results, index: usize) -> Figures {
    let row = &results.rows[index];
    let device = results.device(row);
    let (operations, least_bytes) = (operations(&row.problem), least_bytes(&row.problem));
    let rate = row
        .seconds()
        .filter(|seconds| *seconds > 0.0)
        .map(|seconds| operations / seconds);
    let peak = peak(device, &row.problem.input);
    let roofline = peak.map(|peak| {
        let by_memory = operations / least_bytes * device.memory_bytes_per_second;
        match by_memory > 0.0 {
            true => peak.min(by_memory),
            false => peak,
        }
    });
    let share = |of: Option<f64>| Some(rate? / of?);
    let same = |other: &&Row| other.device == row.device && other.problem == row.problem;
    let previous = match row.is_library() {
        // Libraries are not steps of the ladder.
        true => None,
        false => results.rows[..index].iter().rfind(same),
    };
    let fastest = match row.is_library() {
        true => None,
        false => results
            .rows
            .iter()
            .filter(|other| other.is_library() && same(other))
            .filter_map(|other| other.seconds())
            .min_by(f64::total_cmp),
    };
    let naive = results.rows.iter().filter(same).find(|r| r.kernel == NAIVE);
    let speedup = |over: Option<&Row>| Some(over?.seconds()? / row.seconds()?);
    Figures {
        operations,
        least_bytes,
        operations_per_second: rate,
        share_of_peak: share(peak),
        share_of_roofline: share(roofline),
        speedup_over_previous: speedup(previous),
        speedup_over_naive: speedup(naive),
        speedup_over_library: fastest.and_then(|seconds| Some(seconds / row.seconds()?)),
        setback: previous.and_then(|previous| setback(previous, row, device)),
        mix_change: previous
            .and_then(|previous| {
                Some(mix_change(
                    previous.counters.as_ref()?,
                    row.counters.as_ref()?,
                ))
            })
            .filter(|text| !text.is_empty()),
        published_seconds: published(row, device),
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{results, row};
    use super::*;

    #[test]
    fn peaks_are_the_data_sheets() {
        let device = |gpu: &str, compute_units, clock_hz| Device {
            gpu: gpu.into(),
            compute_units,
            clock_hz,
            ..results(Vec::new()).run.devices[0].clone()
        };
        let tera = |device: &Device, input| (peak(device, input).unwrap() / 1e11).round() / 10.0;
        // MI100: 46.1 and 184.6 TFLOP/s; MI300X: 163.4, 1307.4 and 2614.9; MI355X: 2516.6 and 5033.2.
        let mi100 = device("gfx908", 120, 1.502e9);
        assert_eq!((tera(&mi100, "f32"), tera(&mi100, "f16")), (46.1, 184.6));
        assert_eq!(peak(&mi100, "fp8"), None);
        let mi300x = device("gfx942", 304, 2.1e9);
        assert_eq!(tera(&mi300x, "f32"), 163.4);
        assert_eq!(tera(&mi300x, "bf16"), 1307.4);
        assert_eq!(tera(&mi300x, "fp8_fnuz"), 2614.9);
        let mi355x = device("gfx950", 256, 2.4e9);
        assert_eq!(tera(&mi355x, "f16"), 2516.6);
        assert_eq!(tera(&mi355x, "fp8"), 5033.2);
        // AMD's data sheet of MI355X: 5.0, 10.1 and 10.1 PFLOP/s.
        assert_eq!(tera(&mi355x, "mxfp8"), 5033.2);
        assert_eq!(tera(&mi355x, "mxfp6"), 10066.3);
        assert_eq!(tera(&mi355x, "mxfp4"), 10066.3);
        // With structured sparsity: 2614.9 and 5229.8 of MI300X, 5.03 of MI355X in f16.
        assert_eq!(tera(&mi300x, "sparse_f16"), 2614.9);
        assert_eq!(tera(&mi300x, "sparse_i8"), 5229.8);
        assert_eq!(tera(&mi355x, "sparse_f16"), 5033.2);
        assert_eq!(peak(&mi100, "sparse_f16"), None);
        assert_eq!(peak(&device("gfx1100", 96, 2e9), "f32"), None);
    }

    #[test]
    fn libraries_are_compared_with_and_are_no_steps() {
        let library = |seconds| {
            let mut row = row("rocBLAS", 64, seconds);
            row.library_version = Some("5.0".into());
            row
        };
        let mut run = results(vec![
            row("naive", 64, 4e-3),
            library(2e-3),
            library(1e-3),
            row("lds_tiled", 64, 3e-3),
        ]);
        run.rows.swap(1, 3);
        fill(&mut run);
        let figures = |index: usize| &run.rows[index].figures;
        assert_eq!(figures(0).speedup_over_library, Some(0.25));
        assert_eq!(figures(1).speedup_over_library, Some(1e-3 / 3e-3));
        assert_eq!(figures(1).speedup_over_previous, Some(4e-3 / 3e-3));
        assert_eq!(figures(2).speedup_over_library, None);
        assert_eq!(figures(2).speedup_over_previous, None);
        assert_eq!(figures(3).speedup_over_naive, Some(4e-3 / 2e-3));
    }

    #[test]
    fn figures_by_hand() {
        let mut run = results(vec![
            row("naive", 1024, 4e-3),
            row("lds_tiled", 1024, 1e-3),
            row("lds_tiled", 512, 5e-4),
        ]);
        let counters = run.rows[1].counters.as_mut().unwrap();
        counters.classes = BTreeMap::from([("vector".into(), 30), ("matrix".into(), 8)]);
        fill(&mut run);
        let figures = &run.rows[1].figures;
        assert_eq!(figures.operations, 2_147_483_648.0);
        assert_eq!(figures.least_bytes, 12_582_912.0);
        assert_eq!(figures.operations_per_second, Some(2_147_483_648_000.0));
        assert_eq!(figures.speedup_over_previous, Some(4.0));
        assert_eq!(figures.speedup_over_naive, Some(4.0));
        // 2.147 of 163.4 TFLOP/s. The limit of memory is higher: 170.7 operations per byte at 5.3 TB/s.
        let share = figures.share_of_peak.unwrap();
        assert!((share - 0.013_141).abs() < 1e-5, "{share}");
        assert_eq!(figures.share_of_roofline, figures.share_of_peak);
        assert_eq!(
            figures.mix_change.as_deref(),
            Some("vector −50 %, matrix new")
        );
        // The other size has neither a naive kernel nor one before it.
        assert_eq!(run.rows[2].figures.speedup_over_naive, None);
        assert_eq!(run.rows[2].figures.speedup_over_previous, None);
        assert_eq!(run.rows[0].figures.speedup_over_naive, Some(1.0));
    }

    #[test]
    fn published_times_stand_beside_the_same_machine_and_size_only() {
        let mut run = results(vec![row("mfma_lds", 64, 1e-3), row("mfma_lds", 64, 1e-3)]);
        (run.rows[1].problem.m, run.rows[1].problem.n) = (2048, 1024);
        run.rows[1].problem.k = 2048;
        fill(&mut run);
        assert_eq!(run.rows[1].figures.published_seconds, None);
        run.run.devices[0].machine = Some("MI100".into());
        fill(&mut run);
        let times = run.rows.iter().map(|row| row.figures.published_seconds);
        assert_eq!(times.collect::<Vec<_>>(), [None, Some(3.025e-3)]);
    }

    #[test]
    fn small_products_are_bound_by_memory() {
        let mut run = results(vec![row("naive", 64, 1e-6)]);
        run.rows[0].problem.beta = 0.5;
        fill(&mut run);
        let figures = &run.rows[0].figures;
        // A, B, the old C and the new one.
        assert_eq!(figures.least_bytes, 4.0 * 4.0 * 4096.0);
        let by_memory = 524_288.0 / 65_536.0 * 5.3e12;
        assert_eq!(
            figures.share_of_roofline,
            Some(524_288.0 / 1e-6 / by_memory)
        );
    }
}
