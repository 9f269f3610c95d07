//! `results.json`: Ferrowave's own schema, which other programs may read.

use std::{collections::BTreeMap, io, path::Path};

use ferrowave_launch::read_text;
use serde::{Deserialize, Deserializer, Serialize};

/// The name of the kernel that the others are compared with.
pub(crate) const NAIVE: &str = "naive";

/// The version of the schema. It increases when a field is removed or changes its meaning, not when one is added.
pub(crate) const SCHEMA: u32 = 1;

/// A run of kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Results {
    /// [`SCHEMA`].
    pub(crate) schema: u32,
    /// False if the run was interrupted: rows at the end are missing.
    pub(crate) complete: bool,
    pub(crate) run: Run,
    /// Ordered by device, type, size and kernel, in the order of the ladder; the vendor's libraries follow.
    pub(crate) rows: Vec<Row>,
    /// Files of plots in the folder. The next report in the folder replaces or removes them.
    #[serde(default)]
    pub(crate) plots: Vec<String>,
}

/// What ran, where and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The command line.
    pub(crate) command: Vec<String>,
    /// Ferrowave's version.
    pub(crate) version: String,
    /// The commit of the build, with `-dirty` if files were changed; null if it was not built in a repository.
    pub(crate) commit: Option<String>,
    /// The compiler of the kernels.
    pub(crate) toolchain: String,
    /// The host's time at the start of the run, in RFC 3339.
    pub(crate) date: String,
    /// Seed of the random matrices.
    pub(crate) seed: u64,
    pub(crate) devices: Vec<Device>,
    /// What the run left out, and why.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
}

/// A device that kernels ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Device {
    /// The name to show.
    pub(crate) name: String,
    /// LLVM's name of the GPU.
    pub(crate) gpu: String,
    /// Whether the device was Ferrowave's emulator; then no time was measured on a GPU.
    pub(crate) emulated: bool,
    /// The HIP runtime or the emulator, with its version.
    pub(crate) software: String,
    /// The product whose time is modelled, if any.
    pub(crate) machine: Option<String>,
    /// The parameters of the timing model that `--parameters` changed, each with its own value.
    #[serde(default)]
    pub(crate) changed_parameters: Vec<String>,
    pub(crate) compute_units: u32,
    /// The engine clock for the peaks, in Hz: the highest one.
    pub(crate) clock_hz: f64,
    /// Peak bandwidth of memory.
    pub(crate) memory_bytes_per_second: f64,
    /// The most waves per SIMD.
    pub(crate) max_waves_per_simd: Option<u32>,
}

/// A kernel's result on a problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Index in [`Run::devices`].
    pub(crate) device: usize,
    /// Its name in `ferrowave list`, or that of the vendor's library.
    pub(crate) kernel: String,
    /// Version of the vendor's library; null for Ferrowave's kernels.
    #[serde(default)]
    pub(crate) library_version: Option<String>,
    /// The kernels that the vendor's library launched for the product, if they were modelled.
    #[serde(default)]
    pub(crate) launched: Vec<String>,
    pub(crate) problem: Product,
    pub(crate) outcome: Outcome,
    /// Whether the kernel ran only as far as the timing model needs: nothing was computed or verified.
    #[serde(default)]
    pub(crate) estimated: bool,
    /// Times on a GPU. Never together with a modelled time.
    pub(crate) measured: Option<Measured>,
    /// Times of the timing model.
    pub(crate) modelled: Option<Modelled>,
    /// The emulator's wall clock without counters; unrelated to a GPU's time.
    pub(crate) emulation_seconds: Option<f64>,
    pub(crate) counters: Option<Counters>,
    pub(crate) built: Option<Built>,
    /// The loop with most of the modelled time; only in rows of the largest problem.
    #[serde(default)]
    pub(crate) main_loop: Option<MainLoop>,
    /// Figures derived from the fields above.
    pub(crate) figures: Figures,
}

/// C ← epilogue(α·A·B + β·prologue(C) + bias), or with a gate C ← epilogue(α·A·B + bias) · β·prologue(C).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Product {
    pub(crate) m: u32,
    pub(crate) n: u32,
    pub(crate) k: u32,
    pub(crate) batch: u32,
    /// Type of the elements of A and B.
    pub(crate) input: String,
    /// Type of the elements of C.
    pub(crate) output: String,
    /// Layout of A and B: N is row-major, T column-major.
    pub(crate) layout: String,
    /// Null, which is read as NaN, if it is not finite.
    #[serde(deserialize_with = "number")]
    pub(crate) alpha: f64,
    /// Likewise.
    #[serde(deserialize_with = "number")]
    pub(crate) beta: f64,
    pub(crate) bias: bool,
    pub(crate) prologue: String,
    pub(crate) epilogue: String,
    #[serde(default)]
    pub(crate) gate: bool,
    /// As `alpha`; 1 in files that do not have it.
    #[serde(default = "one", deserialize_with = "number")]
    pub(crate) output_scale: f64,
}

fn one() -> f64 {
    1.0
}

/// A number, or NaN for null.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = Option::deserialize(deserializer)?;
    Ok(number.unwrap_or(f64::NAN))
}

impl Product {
    /// m×n×k, and the batch if there is one.
    pub(crate) fn size(&self) -> String {
        let size = format!("{}×{}×{}", self.m, self.n, self.k);
        match self.batch {
            1 => size,
            batch => format!("{size} ×{batch}"),
        }
    }

    /// Whether m, n and k are equal.
    pub(crate) fn is_cube(&self) -> bool {
        self.m == self.n && self.n == self.k && self.batch == 1
    }
}

/// The verdict on a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) passed: bool,
    /// Whether the kernel or its measurement failed, as the complaint says. If not, `passed` is about the product.
    #[serde(default)]
    pub(crate) failed: bool,
    /// ‖out − ref‖ / ‖ref‖; null if it is not a number.
    pub(crate) relative_error: Option<f64>,
    /// The largest element error in units of its rounding bound.
    pub(crate) worst_error_in_bounds: Option<f64>,
    /// How the elements were verified if not all were compared with the reference.
    #[serde(default)]
    pub(crate) verified: Option<String>,
    /// What is wrong, or why it did not run.
    pub(crate) complaint: Option<String>,
}

/// Times on a GPU, after a warm-up: of a kernel, by the GPU's time stamps; of a vendor's library, between HIP events around
/// many calls, divided by their number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) median_seconds: f64,
    pub(crate) fastest_seconds: f64,
    pub(crate) slowest_seconds: f64,
    /// Timed runs, without the warm-up.
    pub(crate) samples: u32,
    /// The engine clock that the warm-up reached, in Hz, if the system tells. Shares of the peak count with
    /// [`Device::clock_hz`].
    #[serde(default)]
    pub(crate) clock_hz: Option<f64>,
}

/// Results of the timing model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Modelled {
    pub(crate) seconds: f64,
    pub(crate) cycles: u64,
    pub(crate) bound_by: String,
    /// How far modelled times of published kernels with the same bound are from the published ones.
    #[serde(default)]
    pub(crate) error: Option<String>,
    /// The clock that the power allows in Hz, where AMD published clocks under load.
    #[serde(default)]
    pub(crate) sustained_clock_hz: Option<f64>,
    /// The share of the time in which each unit is busy, from 0 to 1.
    pub(crate) usage: BTreeMap<String, f64>,
    /// Cycles for which waves were resident, summed over all replayed waves.
    pub(crate) wave_cycles: u64,
    /// Cycles of [`Self::wave_cycles`] in which they waited, by cause.
    pub(crate) stalls: BTreeMap<String, u64>,
    /// Bytes that all workgroups request from memory beyond the caches.
    pub(crate) memory_bytes: f64,
    pub(crate) workgroups: u64,
    pub(crate) workgroups_modelled: u64,
}

/// The loop in which waves spend most of their time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MainLoop {
    /// Cycles of [`Modelled::wave_cycles`] in which the replayed waves waited to issue its instructions.
    pub(crate) stalled_cycles: u64,
    /// In the order of the code.
    pub(crate) instructions: Vec<LoopInstruction>,
}

/// An instruction of a [`MainLoop`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopInstruction {
    pub(crate) text: String,
    /// File and line, if the code object has line tables.
    pub(crate) source: Option<String>,
    /// How often the replayed waves issued it.
    pub(crate) issued: u64,
    /// Cycles for which they waited to issue it, by cause.
    pub(crate) stalls: BTreeMap<String, u64>,
}

/// The emulator's counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counters {
    pub(crate) wave_instructions: u64,
    /// Instructions by unit.
    pub(crate) classes: BTreeMap<String, u64>,
    /// LDS cycles of bank conflicts.
    pub(crate) bank_conflict_cycles: u64,
    pub(crate) lds_accesses: u64,
    /// The share of the bytes of the cache lines that global accesses touch which their lanes requested, each byte
    /// counted once.
    pub(crate) coalescing: Option<f64>,
    /// Bytes that lanes requested from global memory.
    pub(crate) global_bytes: u64,
}

/// What the compiler made of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Built {
    /// From gfx90a on, including accumulation registers.
    pub(crate) vgprs: u32,
    pub(crate) agprs: u32,
    pub(crate) sgprs: u32,
    pub(crate) lds_bytes: u32,
    pub(crate) vgpr_spills: u32,
    pub(crate) sgpr_spills: u32,
    pub(crate) waves_per_simd: u32,
    pub(crate) limited_by: Vec<String>,
}

/// Figures derived from the other fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Operations of the product: 2·m·n·k·batch.
    pub(crate) operations: f64,
    /// Bytes that have to move: A, B and C once, and the old C if β is not 0.
    pub(crate) least_bytes: f64,
    /// Operations per second, by the measured or the modelled time.
    pub(crate) operations_per_second: Option<f64>,
    /// Share of the GPU's peak for the type.
    pub(crate) share_of_peak: Option<f64>,
    /// Share of what the peak and memory bandwidth allow for [`Self::least_bytes`].
    pub(crate) share_of_roofline: Option<f64>,
    /// Over the kernel before it in the ladder, on the same problem.
    pub(crate) speedup_over_previous: Option<f64>,
    /// Over the naive kernel.
    pub(crate) speedup_over_naive: Option<f64>,
    /// Over the fastest of the vendor's libraries; only for Ferrowave's kernels.
    #[serde(default)]
    pub(crate) speedup_over_library: Option<f64>,
    /// Why it is slower than the kernel before it, if it is and the model tells.
    #[serde(default)]
    pub(crate) setback: Option<String>,
    /// Changes of the instruction mix since the kernel before it.
    pub(crate) mix_change: Option<String>,
    /// The published time, on this machine, of the document's variant that the kernel follows.
    #[serde(default)]
    pub(crate) published_seconds: Option<f64>,
}

impl Row {
    /// The kernel's name, or the library's with its version.
    pub(crate) fn name(&self) -> String {
        match &self.library_version {
            Some(version) => format!("{} {version}", self.kernel),
            None => self.kernel.clone(),
        }
    }

    /// Whether the row is a vendor library's.
    pub(crate) fn is_library(&self) -> bool {
        self.library_version.is_some()
    }

    /// The verdict in a word.
    pub(crate) const fn verdict(&self) -> &'static str {
        match &self.outcome {
            Outcome { passed: true, .. } => "correct",
            _ if self.estimated => "not computed",
            Outcome { failed: true, .. } => "failed",
            _ => "WRONG",
        }
    }

    /// Whether it failed or computed a wrong product.
    pub(crate) const fn failed(&self) -> bool {
        !self.outcome.passed && !self.estimated
    }

    /// The measured time, or the modelled one where nothing was measured.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let measured = self.measured.as_ref().map(|time| time.median_seconds);
        measured.or_else(|| self.modelled.as_ref().map(|time| time.seconds))
    }
}

/// Why results cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {error}")]
    Io {
        file: String,
        #[source]
        error: io::Error,
    },
    /// It was written by a later version of this program.
    #[error("`{file}` is of schema {schema}; this program reads up to {SCHEMA}")]
    Newer { file: String, schema: u64 },
    /// It is not a report.
    #[error("`{file}` is not the results of a report: {reason}")]
    Other { file: String, reason: String },
}

impl Results {
    /// Reads a file, or `results.json` in a folder.
    pub(crate) fn read(path: &Path) -> Result<Self, ReadError> {
        let path = match path.is_dir() {
            true => path.join("results.json"),
            false => path.to_owned(),
        };
        let file = path.display().to_string();
        let text = read_text(&path).map_err(|error| ReadError::Io {
            file: file.clone(),
            error,
        })?;
        Self::parse(&text, &file)
    }

    fn parse(text: &str, file: &str) -> Result<Self, ReadError> {
        let other = |reason: String| ReadError::Other {
            file: file.to_owned(),
            reason,
        };
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| other(error.to_string()))?;
        let schema = value.get("schema").and_then(serde_json::Value::as_u64);
        match schema {
            None => return Err(other("it has no `schema`".into())),
            Some(schema) if schema > u64::from(SCHEMA) => {
                return Err(ReadError::Newer {
                    file: file.to_owned(),
                    schema,
                });
            }
            Some(_) => {}
        }
        let results: Results =
            serde_json::from_value(value).map_err(|error| other(error.to_string()))?;
        let devices = results.run.devices.len();
        if let Some(row) = results.rows.iter().find(|row| row.device >= devices) {
            return Err(other(format!(
                "a row names device {}, but there are {devices}",
                row.device
            )));
        }
        Ok(results)
    }

    /// The device of a row. The index is always valid: it was checked on reading.
    pub(crate) fn device(&self, row: &Row) -> &Device {
        &self.run.devices[row.device]
    }

    /// Whether times are modelled. All devices of a run are emulated, or it has one GPU.
    pub(crate) fn is_modelled(&self) -> bool {
        self.run.devices.iter().any(|device| device.emulated)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row of an invented run.
    pub(crate) fn row(kernel: &str, size: u32, seconds: f64) -> Row {
        Row {
            device: 0,
            kernel: kernel.into(),
            library_version: None,
            launched: Vec::new(),
            problem: Product {
                m: size,
                n: size,
                k: size,
                batch: 1,
                input: "f32".into(),
                output: "f32".into(),
                layout: "NN".into(),
                alpha: 1.0,
                beta: 0.0,
                bias: false,
                prologue: "none".into(),
                epilogue: "none".into(),
                gate: false,
                output_scale: 1.0,
            },
            outcome: Outcome {
                passed: true,
                failed: false,
                relative_error: Some(1e-7),
                worst_error_in_bounds: Some(0.01),
                verified: None,
                complaint: None,
            },
            estimated: false,
            measured: None,
            modelled: Some(Modelled {
                seconds,
                cycles: 1000,
                bound_by: "LDS".into(),
                error: Some("±10 % on average".into()),
                sustained_clock_hz: None,
                usage: BTreeMap::from([("LDS".into(), 0.9)]),
                wave_cycles: 100,
                stalls: BTreeMap::from([("wait for LDS".into(), 60)]),
                memory_bytes: 1e6,
                workgroups: 4,
                workgroups_modelled: 4,
            }),
            emulation_seconds: Some(0.5),
            counters: Some(Counters {
                wave_instructions: 100,
                classes: BTreeMap::from([("vector".into(), 60), ("LDS".into(), 40)]),
                bank_conflict_cycles: 3,
                lds_accesses: 40,
                coalescing: Some(0.5),
                global_bytes: 1 << 20,
            }),
            built: Some(Built {
                vgprs: 64,
                agprs: 0,
                sgprs: 32,
                lds_bytes: 4096,
                vgpr_spills: 0,
                sgpr_spills: 0,
                waves_per_simd: 8,
                limited_by: vec!["VGPRs".into()],
            }),
            main_loop: None,
            figures: Figures::default(),
        }
    }

    /// An invented run.
    pub(crate) fn results(rows: Vec<Row>) -> Results {
        Results {
            schema: SCHEMA,
            complete: true,
            run: Run {
                command: vec!["ferrowave".into(), "report".into()],
                version: "0.0.0".into(),
                commit: None,
                toolchain: "rustc".into(),
                date: "2026-11-21T12:00:00Z".into(),
                seed: 0,
                devices: vec![Device {
                    name: "MI300X <emulated>".into(),
                    gpu: "gfx942".into(),
                    emulated: true,
                    software: "emulator".into(),
                    machine: Some("MI300X".into()),
                    changed_parameters: Vec::new(),
                    compute_units: 304,
                    clock_hz: 2.1e9,
                    memory_bytes_per_second: 5.3e12,
                    max_waves_per_simd: Some(8),
                }],
                notes: Vec::new(),
            },
            rows,
            plots: Vec::new(),
        }
    }

    /// `--resume` finds rows by their problem.
    #[test]
    fn products_of_another_output_scale_are_others() {
        let one = row("naive", 64, 1e-3).problem;
        let scaled = Product {
            output_scale: 0.5,
            ..one.clone()
        };
        assert_ne!(one, scaled);
        let mut without = serde_json::to_value(&one).unwrap();
        without.as_object_mut().unwrap().remove("output_scale");
        assert_eq!(serde_json::from_value::<Product>(without).unwrap(), one);
    }

    #[test]
    fn what_is_written_is_read() {
        let written = results(vec![row("naive", 64, 1e-3)]);
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(Results::parse(&text, "x").unwrap(), written);
    }

    #[test]
    fn a_report_from_before_clocks_is_read() {
        let mut written = results(vec![row("naive", 64, 1e-3)]);
        written.rows[0].measured = Some(Measured {
            median_seconds: 1e-3,
            fastest_seconds: 1e-3,
            slowest_seconds: 2e-3,
            samples: 20,
            clock_hz: None,
        });
        let text = serde_json::to_string(&written).unwrap();
        let before = text.replace(",\"clock_hz\":null", "");
        assert_ne!(before, text);
        assert_eq!(Results::parse(&before, "x").unwrap(), written);
    }

    #[test]
    fn what_is_no_result_is_refused_by_name() {
        let message = |text: &str| Results::parse(text, "x.json").unwrap_err().to_string();
        assert!(message("{").starts_with("`x.json` is not the results of a report: "));
        assert!(message("{}").ends_with("it has no `schema`"));
        assert_eq!(
            message(r#"{"schema": 2}"#),
            "`x.json` is of schema 2; this program reads up to 1"
        );
        assert!(message(r#"{"schema": 1}"#).contains("missing field"));
        let mut wrong = results(vec![row("naive", 64, 1e-3)]);
        wrong.rows[0].device = 3;
        let text = serde_json::to_string(&wrong).unwrap();
        assert!(message(&text).ends_with("a row names device 3, but there are 1"));
        let missing = Results::read(Path::new("no such file")).unwrap_err();
        assert!(
            missing
                .to_string()
                .starts_with("`no such file` cannot be read: ")
        );
    }

    /// serde_json's default parser is off by one unit in the last place for some of them.
    #[test]
    fn times_are_read_as_they_were_written() {
        for cycles in 178_590..188_590 {
            let written = row("naive", 512, f64::from(cycles) / 1.502e9);
            let text = serde_json::to_string(&written).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), written);
        }
    }
}
