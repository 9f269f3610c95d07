//! Results as rows and columns: the same in the terminal, in Markdown, on the page and in CSV.

use super::results::{Device, Results, Row};

/// A column with text for people.
pub(crate) struct Column {
    /// Its name with its unit.
    pub(crate) name: &'static str,
    /// Whether it holds numbers.
    pub(crate) is_number: bool,
    cell: fn(&Row) -> Option<String>,
}

impl Column {
    /// The text of a row's cell; empty if nothing is known.
    pub(crate) fn cell(&self, row: &Row) -> String {
        (self.cell)(row).unwrap_or_default()
    }
}

const fn number(name: &'static str, cell: fn(&Row) -> Option<String>) -> Column {
    Column {
        name,
        is_number: true,
        cell,
    }
}

const fn text(name: &'static str, cell: fn(&Row) -> Option<String>) -> Column {
    Column {
        name,
        is_number: false,
        cell,
    }
}

/// A number with three significant digits.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        v if v >= 1e5 => format!("{value:.3e}"),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

fn milliseconds(seconds: f64) -> String {
    digits(1e3 * seconds)
}

fn percent(share: Option<f64>) -> Option<String> {
    Some(format!("{:.1}", 100.0 * share?))
}

fn factor(value: Option<f64>) -> Option<String> {
    Some(digits(value?))
}

const KERNEL: Column = text("kernel", |row| Some(row.name()));
const SIZE: Column = number("m×n×k", |row| Some(row.problem.size()));
const MEASURED: Column = number("measured [ms]", |row| {
    Some(milliseconds(row.measured.as_ref()?.median_seconds))
});
const MODELLED: Column = number("modelled [ms]", |row| {
    Some(milliseconds(row.modelled.as_ref()?.seconds))
});
const SUSTAINED: Column = number("at sustained clock [ms]", |row| {
    let time = row.modelled.as_ref()?;
    Some(milliseconds(time.cycles as f64 / time.sustained_clock_hz?))
});
const SUSTAINED_CLOCK: Column = number("sustained clock [MHz]", |row| {
    Some(format!(
        "{:.0}",
        row.modelled.as_ref()?.sustained_clock_hz? / 1e6
    ))
});
const CYCLES: Column = number("modelled cycles", |row| {
    Some(row.modelled.as_ref()?.cycles.to_string())
});
const MODEL_ERROR: Column = text("error of the model", |row| {
    row.modelled.as_ref()?.error.clone()
});
const PUBLISHED: Column = number("published [ms]", |row| {
    Some(milliseconds(row.figures.published_seconds?))
});
const OVER_PUBLISHED: Column = number("time/published", |row| {
    factor(Some(row.seconds()? / row.figures.published_seconds?))
});
const EMULATION: Column = number("emulation [ms]", |row| {
    Some(milliseconds(row.emulation_seconds?))
});
const RATE_MEASURED: Column = number("TFLOP/s measured", |row| rate(row, row.measured.is_some()));
const RATE_MODELLED: Column = number("TFLOP/s modelled", |row| rate(row, row.measured.is_none()));
const PEAK: Column = number("of peak [%]", |row| percent(row.figures.share_of_peak));
const CLOCK: Column = number("clock [MHz]", |row| {
    Some(format!("{:.0}", row.measured.as_ref()?.clock_hz? / 1e6))
});
const ROOFLINE: Column = number("of roofline [%]", |row| {
    percent(row.figures.share_of_roofline)
});
const STEP: Column = number("over step before", |row| {
    factor(row.figures.speedup_over_previous)
});
const NAIVE: Column = number("over naive", |row| factor(row.figures.speedup_over_naive));
const LIBRARY: Column = number("over AMD's library", |row| {
    factor(row.figures.speedup_over_library)
});
const BOUND: Column = text("bound by", |row| {
    Some(row.modelled.as_ref()?.bound_by.clone())
});
const ERROR: Column = number("relative error", |row| {
    Some(format!("{:.2e}", row.outcome.relative_error?))
});
const WORST: Column = number("worst/bound", |row| {
    Some(format!("{:.4}", row.outcome.worst_error_in_bounds?))
});
const RESULT: Column = text("result", |row| Some(row.verdict().into()));
const VGPRS: Column = number("VGPRs", |row| {
    let built = row.built.as_ref()?;
    Some(match built.agprs {
        0 => built.vgprs.to_string(),
        agprs => format!("{} ({agprs} AGPRs)", built.vgprs),
    })
});
const LDS: Column = number("LDS [B]", |row| {
    Some(row.built.as_ref()?.lds_bytes.to_string())
});
const WAVES: Column = number("waves/SIMD", |row| {
    Some(row.built.as_ref()?.waves_per_simd.to_string())
});
const LIMIT: Column = text("limited by", |row| {
    Some(row.built.as_ref()?.limited_by.join(", "))
});
const SPILLS: Column = number("spills V+S", |row| {
    let built = row.built.as_ref()?;
    Some(format!("{}+{}", built.vgpr_spills, built.sgpr_spills))
});
const CONFLICTS: Column = number("conflict cycles/LDS access", |row| {
    let counters = row.counters.as_ref()?;
    (counters.lds_accesses > 0)
        .then(|| digits(counters.bank_conflict_cycles as f64 / counters.lds_accesses as f64))
});
const COALESCING: Column = number("coalescing [%]", |row| {
    percent(row.counters.as_ref()?.coalescing)
});
const MIX: Column = text("instructions, since the step before", |row| {
    row.figures.mix_change.clone()
});

fn rate(row: &Row, shown: bool) -> Option<String> {
    let rate = row.figures.operations_per_second.filter(|_| shown)?;
    Some(digits(rate / 1e12))
}

/// The columns of times and their figures; empty columns are left out.
pub(crate) fn speed(results: &Results) -> Vec<Column> {
    let all = [
        KERNEL,
        SIZE,
        MEASURED,
        MODELLED,
        SUSTAINED,
        PUBLISHED,
        OVER_PUBLISHED,
        RATE_MEASURED,
        RATE_MODELLED,
        PEAK,
        CLOCK,
        ROOFLINE,
        STEP,
        NAIVE,
        LIBRARY,
        BOUND,
        ERROR,
        WORST,
        EMULATION,
        RESULT,
    ];
    held(all.into(), &results.rows.iter().collect::<Vec<_>>())
}

/// The columns of the ladder in the terminal, the most important ones first.
pub(crate) fn ladder(rows: &[&Row]) -> Vec<Column> {
    let all = [
        KERNEL,
        RATE_MEASURED,
        RATE_MODELLED,
        PEAK,
        CLOCK,
        STEP,
        RESULT,
        BOUND,
        MEASURED,
        MODELLED,
        LIBRARY,
        PUBLISHED,
        OVER_PUBLISHED,
        ERROR,
        WAVES,
        EMULATION,
    ];
    held(all.into(), rows)
}

/// The details below a row of the page.
pub(crate) fn detail() -> Vec<Column> {
    [
        SIZE,
        MEASURED,
        CYCLES,
        MODELLED,
        SUSTAINED,
        SUSTAINED_CLOCK,
        MODEL_ERROR,
        PUBLISHED,
        OVER_PUBLISHED,
        STEP,
        NAIVE,
        LIBRARY,
        CLOCK,
        ROOFLINE,
        BOUND,
        ERROR,
        WORST,
        EMULATION,
        MIX,
    ]
    .into()
}

/// The columns of what a kernel is and does; these depend little on the size.
pub(crate) fn build(results: &Results) -> Vec<Column> {
    let all = [
        KERNEL, VGPRS, LDS, WAVES, LIMIT, SPILLS, CONFLICTS, COALESCING,
    ];
    held(all.into(), &results.rows.iter().collect::<Vec<_>>())
}

fn held(columns: Vec<Column>, rows: &[&Row]) -> Vec<Column> {
    let holds = |column: &Column| rows.iter().any(|row| !column.cell(row).is_empty());
    columns.into_iter().filter(holds).collect()
}

/// The rows of one device and type, in their order.
pub(crate) struct Section<'a> {
    /// The name of the device, or of the product whose time is modelled.
    pub(crate) title: String,
    pub(crate) rows: Vec<&'a Row>,
}

/// Rows by device and type.
pub(crate) fn sections(results: &Results) -> Vec<Section<'_>> {
    let mut sections: Vec<((usize, &str), Section<'_>)> = Vec::new();
    for row in &results.rows {
        let key = (row.device, row.problem.input.as_str());
        match sections.iter_mut().find(|(other, _)| *other == key) {
            Some((_, section)) => section.rows.push(row),
            None => {
                let device = results.device(row);
                let title = format!(
                    "{}, {} → {}",
                    device.machine.as_ref().unwrap_or(&device.name),
                    row.problem.input,
                    row.problem.output
                );
                let rows = vec![row];
                sections.push((key, Section { title, rows }));
            }
        }
    }
    sections.into_iter().map(|(_, section)| section).collect()
}

/// The rows of the problem that the ladder is shown for: the largest cube, or the largest problem if there is no cube.
pub(crate) fn shown<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let largest = rows.iter().max_by(|a, b| {
        let key = |row: &Row| (row.problem.is_cube(), row.figures.operations);
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let of_it = |row: &&&Row| largest.is_some_and(|largest| largest.problem == row.problem);
    rows.iter().filter(of_it).copied().collect()
}

/// One row per kernel: the largest problem that was computed. Estimates have no counts.
pub(crate) fn once<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let key = |row: &Row| {
        (
            !row.estimated,
            row.problem.is_cube(),
            row.figures.operations,
        )
    };
    let mut kernels: Vec<&Row> = Vec::new();
    for row in rows.iter().filter(|row| row.built.is_some()) {
        match kernels.iter_mut().find(|other| other.kernel == row.kernel) {
            Some(other) if key(row) > key(other) => *other = row,
            Some(_) => {}
            None => kernels.push(row),
        }
    }
    kernels
}

/// The caption that says where the times come from.
pub(crate) fn caption(results: &Results) -> &'static str {
    if results.is_modelled() {
        "Modelled times come from Ferrowave's timing model; they were not measured on a GPU. Emulation times are the \
         emulator's wall clock, not a GPU's time."
    } else {
        "Measured times are medians on the GPU, after at least 0.3 s of warm-up: of kernels, by its own time stamps; of \
         AMD's libraries, of many calls between two HIP events. The clock is the one that the warm-up reached; the share of \
         the peak counts with the highest."
    }
}

/// A field of the CSV file: its name, with the unit, and its value in a row.
type Field = (&'static str, fn(&Device, &Row) -> String);

const FIELDS: &[Field] = &[
    ("device", |device, _| device.name.clone()),
    ("gpu", |device, _| device.gpu.clone()),
    ("machine", |device, _| cell(device.machine.as_ref())),
    ("kernel", |_, row| row.kernel.clone()),
    ("library_version", |_, row| {
        cell(row.library_version.as_ref())
    }),
    ("input", |_, row| row.problem.input.clone()),
    ("output", |_, row| row.problem.output.clone()),
    ("layout", |_, row| row.problem.layout.clone()),
    ("m", |_, row| row.problem.m.to_string()),
    ("n", |_, row| row.problem.n.to_string()),
    ("k", |_, row| row.problem.k.to_string()),
    ("batch", |_, row| row.problem.batch.to_string()),
    ("passed", |_, row| row.outcome.passed.to_string()),
    ("estimated", |_, row| row.estimated.to_string()),
    ("relative_error", |_, row| cell(row.outcome.relative_error)),
    ("worst_error_in_bounds", |_, row| {
        cell(row.outcome.worst_error_in_bounds)
    }),
    ("measured_seconds", |_, row| {
        cell(row.measured.as_ref().map(|time| time.median_seconds))
    }),
    ("modelled_seconds", |_, row| {
        cell(row.modelled.as_ref().map(|time| time.seconds))
    }),
    ("emulation_seconds", |_, row| cell(row.emulation_seconds)),
    ("operations_per_second", |_, row| {
        cell(row.figures.operations_per_second)
    }),
    ("share_of_peak", |_, row| cell(row.figures.share_of_peak)),
    ("share_of_roofline", |_, row| {
        cell(row.figures.share_of_roofline)
    }),
    ("clock_hz", |_, row| {
        cell(row.measured.as_ref().and_then(|time| time.clock_hz))
    }),
    ("speedup_over_previous", |_, row| {
        cell(row.figures.speedup_over_previous)
    }),
    ("speedup_over_naive", |_, row| {
        cell(row.figures.speedup_over_naive)
    }),
    ("speedup_over_library", |_, row| {
        cell(row.figures.speedup_over_library)
    }),
    ("bound_by", |_, row| {
        cell(row.modelled.as_ref().map(|time| &time.bound_by))
    }),
    ("vgprs", |_, row| {
        cell(row.built.as_ref().map(|built| built.vgprs))
    }),
    ("agprs", |_, row| {
        cell(row.built.as_ref().map(|built| built.agprs))
    }),
    ("sgprs", |_, row| {
        cell(row.built.as_ref().map(|built| built.sgprs))
    }),
    ("lds_bytes", |_, row| {
        cell(row.built.as_ref().map(|built| built.lds_bytes))
    }),
    ("waves_per_simd", |_, row| {
        cell(row.built.as_ref().map(|built| built.waves_per_simd))
    }),
    ("vgpr_spills", |_, row| {
        cell(row.built.as_ref().map(|built| built.vgpr_spills))
    }),
    ("sgpr_spills", |_, row| {
        cell(row.built.as_ref().map(|built| built.sgpr_spills))
    }),
    ("bank_conflict_cycles", |_, row| {
        cell(row.counters.as_ref().map(|c| c.bank_conflict_cycles))
    }),
    ("lds_accesses", |_, row| {
        cell(row.counters.as_ref().map(|c| c.lds_accesses))
    }),
    ("coalescing", |_, row| {
        cell(row.counters.as_ref().and_then(|c| c.coalescing))
    }),
    ("wave_instructions", |_, row| {
        cell(row.counters.as_ref().map(|c| c.wave_instructions))
    }),
    ("modelled_cycles", |_, row| {
        cell(row.modelled.as_ref().map(|time| time.cycles))
    }),
    ("sustained_clock_hz", |_, row| {
        cell(
            row.modelled
                .as_ref()
                .and_then(|time| time.sustained_clock_hz),
        )
    }),
    ("model_error", |_, row| {
        cell(row.modelled.as_ref().and_then(|time| time.error.as_ref()))
    }),
];

/// A value, or nothing.
fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Results as CSV, one line per row.
pub(crate) fn csv(results: &Results) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(FIELDS.iter().map(|(name, _)| name))?;
    for row in &results.rows {
        let device = results.device(row);
        writer.write_record(FIELDS.iter().map(|(_, value)| value(device, row)))?;
    }
    writer
        .into_inner()
        .map_err(|error| error.into_error().into())
}

/// What ran, where and when, as names and values.
pub(crate) fn provenance(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let mut list = vec![
        ("command", run.command.join(" ")),
        ("date", run.date.clone()),
        ("Ferrowave", run.version.clone()),
    ];
    if let Some(commit) = &run.commit {
        list.push(("commit", commit.clone()));
    }
    list.push(("kernels built by", run.toolchain.clone()));
    list.push(("seed", run.seed.to_string()));
    for device in &run.devices {
        list.push((
            "device",
            format!(
                "{} ({}){}, {} compute units, peak figures at {:.0} MHz and {:.2} TB/s, {}",
                device.name,
                device.gpu,
                match &device.machine {
                    Some(machine) => format!(", modelled as {machine}"),
                    None => String::new(),
                },
                device.compute_units,
                device.clock_hz / 1e6,
                device.memory_bytes_per_second / 1e12,
                device.software
            ),
        ));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::super::{
        figures,
        results::tests::{results, row},
    };
    use super::*;

    fn run() -> Results {
        let mut run = results(vec![
            row("naive", 64, 4e-3),
            row("naive", 128, 8e-3),
            row("lds_tiled", 128, 1e-3),
        ]);
        figures::fill(&mut run);
        run
    }

    #[test]
    fn measured_and_modelled_times_have_columns_of_their_own() {
        let names = |run: &Results| -> Vec<_> { speed(run).iter().map(|c| c.name).collect() };
        let mut run = run();
        let modelled = names(&run);
        assert!(modelled.contains(&"modelled [ms]") && modelled.contains(&"TFLOP/s modelled"));
        assert!(!modelled.iter().any(|name| name.contains("measured")));
        // An emulated run without a time does not count as measured.
        let mut untimed = run.clone();
        untimed.rows.iter_mut().for_each(|row| row.modelled = None);
        assert!(caption(&untimed).contains("not measured on a GPU"));
        run.run.devices[0].emulated = false;
        for row in &mut run.rows {
            row.modelled = None;
            row.measured = Some(super::super::results::Measured {
                median_seconds: 1e-3,
                fastest_seconds: 1e-3,
                slowest_seconds: 1e-3,
                samples: 3,
                clock_hz: Some(1.95e9),
            });
        }
        figures::fill(&mut run);
        let measured = names(&run);
        assert!(measured.contains(&"measured [ms]") && measured.contains(&"TFLOP/s measured"));
        let clock = speed(&run).into_iter().find(|c| c.name == "clock [MHz]");
        assert_eq!(
            clock.map(|clock| clock.cell(&run.rows[0])),
            Some("1950".into())
        );
        let spreadsheet = String::from_utf8(csv(&run).unwrap()).unwrap();
        assert!(spreadsheet.contains(",clock_hz,") && spreadsheet.contains(",1950000000,"));
        assert!(!measured.iter().any(|name| name.contains("modelled")));
        assert!(!caption(&run).contains("odelled"));
    }

    #[test]
    fn the_ladder_is_shown_for_the_largest_product() {
        let run = run();
        let sections = sections(&run);
        assert_eq!(sections.len(), 1);
        assert_eq!(sections[0].title, "MI300X, f32 → f32");
        let kernels: Vec<_> = shown(&sections[0].rows).iter().map(|r| &r.kernel).collect();
        assert_eq!(kernels, ["naive", "lds_tiled"]);
    }

    #[test]
    fn spreadsheets_get_every_row() {
        let bytes = csv(&run()).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let header = reader.headers().unwrap().clone();
        let place = |name| header.iter().position(|column| column == name).unwrap();
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(&rows[2][place("speedup_over_previous")], "8");
        assert_eq!(&rows[2][place("modelled_seconds")], "0.001");
        assert_eq!(&rows[0][place("device")], "MI300X <emulated>");
    }

    #[test]
    fn numbers_have_three_digits() {
        let texts = [0.0, 123_456.0, 1234.0, 12.345, 1.2345, 0.0123, 0.000_123].map(digits);
        assert_eq!(
            texts,
            ["0", "1.235e5", "1234", "12.3", "1.23", "0.012", "1.23e-4"]
        );
    }
}
