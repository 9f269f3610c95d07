//! Runs the kernels of a report.

use std::collections::BTreeMap;

use ferrowave::{
    gemm::{Gemm, Plan, Problem},
    hip::{
        self,
        system::{engine_clock_hz, root},
    },
    vendor::VendorGemm,
    verify::Method,
};
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::{Gpu, GpuLimits, Occupancy, Specifications};
use ferrowave_hip::{
    profile,
    timing::{self, Settings},
};
use ferrowave_profile::Profile;
use ferrowave_shared::Kernel;
use ferrowave_timing::{Parameters, Timing};

use super::{
    launches::{Launch, together},
    results::{
        Built, Counters, Device, Figures, LoopInstruction, MainLoop, Modelled, Outcome,
        Product as Described, Row,
    },
    timed::Timed,
};
use crate::cli::{
    Failure,
    product::{Product, References, complaint, run_unset, with_unset},
};

/// Size of the copies of the operands that runs use in turn, so that a run finds nothing of the last one in the caches.
/// Larger than the 256 MiB of the Infinity Cache.
const ROTATED_BYTES: f64 = 512.0 * 1024.0 * 1024.0;
/// The most copies of the operands.
const MOST_COPIES: f64 = 64.0;

/// A device to run kernels on.
pub(crate) struct Bench<'a> {
    pub(crate) gemm: &'a Gemm,
    pub(crate) code_object: &'a CodeObject,
    /// The GPU of the code object.
    pub(crate) gpu: Gpu,
    /// Index among the run's devices.
    pub(crate) device: usize,
    /// Whether the emulator runs the kernels. If not, they are timed.
    pub(crate) is_emulated: bool,
    /// The machine to model on the emulator, if the timing model has its parameters.
    pub(crate) machine: Option<Parameters>,
    pub(crate) references: References,
    /// Timed runs on a GPU.
    pub(crate) samples: u32,
}

/// A device as reports describe it.
pub(crate) fn describe(device: &hip::Device, machine: Option<&Parameters>) -> Device {
    let properties = device.properties();
    let hardware = machine.map(|machine| machine.hardware);
    let software = match device.is_emulated() {
        true => format!("Ferrowave's emulator {}", env!("CARGO_PKG_VERSION")),
        false => match device.api().runtime_version() {
            Ok(version) => format!("HIP runtime {version}"),
            Err(error) => format!("HIP runtime of unknown version ({error})"),
        },
    };
    let clock_hz = 1e3 * f64::from(properties.memory_clock_khz);
    // A GPU without kernels is not measured.
    let bandwidth = properties.gpu().map_or(0.0, |gpu| {
        gpu.memory_bytes_per_second(clock_hz, properties.memory_bus_bits)
    });
    Device {
        name: properties.name.clone(),
        gpu: properties.gpu_name().to_owned(),
        emulated: device.is_emulated(),
        software,
        machine: machine.map(|machine| machine.machine.to_string()),
        changed_parameters: machine.map_or_else(Vec::new, |machine| {
            let changed = machine.changed();
            changed.iter().map(ToString::to_string).collect()
        }),
        compute_units: hardware.map_or(properties.compute_units, |row| row.compute_units),
        clock_hz: hardware.map_or(
            1e3 * f64::from(properties.clock_khz),
            Specifications::clock_hz,
        ),
        memory_bytes_per_second: hardware.map_or(bandwidth, |row| row.memory_bytes_per_second),
        max_waves_per_simd: properties
            .gpu()
            .map(|gpu| GpuLimits::of(gpu).max_waves_per_simd),
    }
}

impl Bench<'_> {
    /// Runs a kernel on a problem. A kernel that fails gives a row with the complaint. On the emulator, an estimate
    /// runs only as far as the timing model needs.
    pub(crate) fn row(
        &self,
        kernel: &'static Kernel,
        problem: &Problem,
        described: &Described,
        estimated: bool,
    ) -> Row {
        let mut row = self.empty(kernel.variant.name(), described);
        row.built = self.built(kernel);
        let ran = match self.machine {
            Some(machine) if estimated => self.estimate(kernel, problem, machine, &mut row),
            machine if self.is_emulated => self.emulate(kernel, problem, machine, &mut row),
            _ => Plan::new(kernel, problem, self.gemm.machine())
                .map_err(Failure::failed)
                .and_then(|plan| self.measure(problem, &mut row, &Timed::Kernel(self.gemm, plan))),
        };
        if let Err(failure) = ran {
            row.outcome.passed = false;
            row.outcome.failed = true;
            row.outcome.complaint = Some(failure.to_string());
        }
        row
    }

    /// The row of a kernel that did not end by itself.
    pub(crate) fn failed_row(
        &self,
        kernel: &Kernel,
        described: &Described,
        complaint: String,
    ) -> Row {
        let mut row = self.empty(kernel.variant.name(), described);
        row.built = self.built(kernel);
        row.outcome.failed = true;
        row.outcome.complaint = Some(complaint);
        row
    }

    /// Computes a problem with a vendor's library on a GPU.
    pub(crate) fn library_row(
        &self,
        library: &VendorGemm,
        problem: &Problem,
        described: &Described,
    ) -> Result<Row, Failure> {
        let mut row = self.empty(library.vendor().name(), described);
        row.library_version = Some(library.version().to_owned());
        let prepared = library.product(problem).map_err(Failure::failed)?;
        self.measure(problem, &mut row, &Timed::Library(prepared))?;
        Ok(row)
    }

    /// Computes a problem once with a vendor's library. If launches are only estimated, the product is not looked at.
    pub(crate) fn library_once(
        &self,
        library: &VendorGemm,
        problem: &Problem,
        described: &Described,
        estimated: bool,
    ) -> Result<Row, Failure> {
        let mut row = self.empty(library.vendor().name(), described);
        row.library_version = Some(library.version().to_owned());
        let prepared = library.product(problem).map_err(Failure::failed)?;
        if estimated {
            with_unset(self.gemm, problem, |operands| {
                Timed::Library(prepared).once(operands)
            })?;
            row.estimated = true;
            return Ok(row);
        }
        let mut product = self.product(problem)?;
        Timed::Library(prepared).once(product.operands())?;
        row.outcome = outcome(&product)?;
        Ok(row)
    }

    fn empty(&self, kernel: &str, problem: &Described) -> Row {
        Row {
            device: self.device,
            kernel: kernel.to_owned(),
            library_version: None,
            launched: Vec::new(),
            problem: problem.clone(),
            outcome: Outcome::default(),
            estimated: false,
            measured: None,
            modelled: None,
            emulation_seconds: None,
            counters: None,
            built: None,
            main_loop: None,
            figures: Figures::default(),
        }
    }

    fn emulate(
        &self,
        kernel: &'static Kernel,
        problem: &Problem,
        machine: Option<Parameters>,
        row: &mut Row,
    ) -> Result<(), Failure> {
        let mut product = self.product(problem)?;
        row.emulation_seconds = Some(product.run(kernel)?.as_secs_f64());
        row.outcome = outcome(&product)?;
        if machine.is_none() {
            let (watched, profiles) = profile::during(|| product.run(kernel));
            watched?;
            row.counters = counters(&profiles);
            return Ok(());
        }
        let settings = Settings {
            machine,
            ..Settings::default()
        };
        let ((watched, timings), profiles) =
            profile::during(|| timing::during(settings, || product.run(kernel)));
        watched?;
        row.counters = counters(&profiles);
        (row.modelled, row.main_loop) = modelled(&timings.modelled).unzip();
        if let Some(error) = timings.missed.first() {
            // The product is still correct.
            row.outcome.complaint = Some(error.to_string());
        }
        Ok(())
    }

    fn estimate(
        &self,
        kernel: &'static Kernel,
        problem: &Problem,
        machine: Parameters,
        row: &mut Row,
    ) -> Result<(), Failure> {
        let settings = Settings {
            machine: Some(machine),
            estimate: true,
            ..Settings::default()
        };
        let plan = Plan::new(kernel, problem, self.gemm.machine()).map_err(Failure::failed)?;
        let (ran, timings) = timing::during(settings, || run_unset(self.gemm, &plan));
        ran?;
        if let Some(error) = timings.missed.into_iter().next() {
            return Err(Failure::failed(error));
        }
        (row.modelled, row.main_loop) = modelled(&timings.modelled).unzip();
        row.estimated = true;
        Ok(())
    }

    fn measure(&self, problem: &Problem, row: &mut Row, timed: &Timed<'_>) -> Result<(), Failure> {
        let mut first = self.product(problem)?;
        timed.once(first.operands())?;
        row.outcome = outcome(&first)?;
        let copies = (ROTATED_BYTES / first.bytes() as f64).clamp(1.0, MOST_COPIES);
        let mut products = vec![first];
        for _ in 1..copies.ceil() as u64 {
            products.push(self.product(problem)?);
        }
        let mut operands: Vec<_> = products.iter_mut().map(Product::operands).collect();
        let place = self.gemm.context().device().properties().pci;
        let clock = || engine_clock_hz(&root(), place);
        row.measured = timed.measure(&mut operands, self.samples, clock)?;
        Ok(())
    }

    fn product(&self, problem: &Problem) -> Result<Product<'_>, Failure> {
        let device = self.gemm.context().device();
        Product::new(self.gemm, self.references.of(problem, device)?)
    }

    fn built(&self, kernel: &Kernel) -> Option<Built> {
        let built = self.code_object.kernel(kernel.symbol)?;
        let resources = built.resources(kernel.block.threads() as u32, kernel.lds_bytes as u32);
        let occupancy = Occupancy::of(self.gpu, resources);
        Some(Built {
            vgprs: built.metadata.vgpr_count,
            agprs: built.metadata.agpr_count.unwrap_or(0),
            sgprs: built.metadata.sgpr_count,
            lds_bytes: resources.lds_bytes,
            vgpr_spills: built.metadata.vgpr_spill_count.unwrap_or(0),
            sgpr_spills: built.metadata.sgpr_spill_count.unwrap_or(0),
            waves_per_simd: occupancy.waves_per_simd,
            limited_by: occupancy.limiters(),
        })
    }
}

fn outcome(product: &Product<'_>) -> Result<Outcome, Failure> {
    let verdict = product.verdict()?;
    let finite = |value: f64| value.is_finite().then_some(value);
    Ok(Outcome {
        passed: verdict.passed(),
        failed: false,
        relative_error: verdict.relative_error.and_then(finite),
        worst_error_in_bounds: verdict
            .worst
            .as_ref()
            .and_then(|worst| finite(worst.error_in_bounds)),
        verified: (verdict.method != Method::Exact).then(|| verdict.method.to_string()),
        complaint: complaint(&verdict),
    })
}

/// The sum over all kernels of a product.
fn counters(profiles: &[Profile]) -> Option<Counters> {
    let all: Vec<_> = profiles.iter().map(Profile::totals).collect();
    let first = all.first()?;
    let mut classes = BTreeMap::new();
    for class in all.iter().flat_map(|totals| &totals.classes) {
        *classes.entry(class.name.to_owned()).or_insert(0) += class.wave_instructions;
    }
    let bytes: u64 = all.iter().map(|totals| totals.global_bytes()).sum();
    let distinct: u64 = all.iter().map(|t| t.global_distinct_bytes).sum();
    let lines: u64 = all.iter().map(|totals| totals.lines()).sum();
    let fetched = lines * u64::from(first.line_bytes);
    Some(Counters {
        wave_instructions: all.iter().map(|t| t.wave_instructions).sum(),
        classes,
        bank_conflict_cycles: all.iter().map(|t| t.lds_conflict_cycles).sum(),
        lds_accesses: all.iter().map(|t| t.lds_accesses).sum(),
        coalescing: (fetched > 0).then(|| distinct as f64 / fetched as f64),
        global_bytes: bytes,
    })
}

/// All launches of a product, and the main loop of the longest.
fn modelled(timings: &[Timing]) -> Option<(Modelled, MainLoop)> {
    let longest = timings.iter().max_by_key(|timing| timing.cycles)?;
    let launches: Vec<_> = timings.iter().map(Launch::from).collect();
    Some((together(&launches)?, main_loop(longest)))
}

fn main_loop(timing: &Timing) -> MainLoop {
    let instructions = timing.instructions.main_loop();
    MainLoop {
        stalled_cycles: instructions.iter().map(|i| i.stalls.total()).sum(),
        instructions: instructions
            .iter()
            .map(|instruction| LoopInstruction {
                text: instruction.place.text.clone(),
                source: instruction
                    .place
                    .own_source()
                    .first()
                    .map(|line| format!("{}:{}", line.file, line.line)),
                issued: instruction.issued,
                stalls: instruction
                    .stalls
                    .iter()
                    .map(|(stall, cycles)| (stall.name().to_owned(), cycles))
                    .collect(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use ferrowave::{
        embedded,
        gemm::{Request, kernel_named},
        vendor::Vendor,
    };

    use super::{super::results::tests::row, *};

    /// Uses the library of `host/src/vendor/tests`, which computes on the host. The device is emulated here; outside of
    /// this test, libraries run only on a GPU.
    #[test]
    fn kernels_and_a_vendors_library_are_rows_and_its_failures_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libblas.so");
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../host/src/vendor/tests/blas.c"
        );
        let status = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", source, "-o"])
            .arg(&file)
            .status();
        assert!(status.expect("a C compiler, cc").success());
        let (gpu, code_object) = embedded::code_objects().next().unwrap();
        let device = hip::Device::open(&hip::DeviceSelector::Emulator(gpu)).unwrap();
        let context = hip::Context::new(&device).unwrap();
        let gemm = Gemm::new(&context, code_object).unwrap();
        let bench = Bench {
            gemm: &gemm,
            code_object: &CodeObject::parse(code_object).unwrap(),
            gpu,
            device: 0,
            is_emulated: false,
            machine: None,
            references: References::new(0),
            samples: 3,
        };
        let described = row("", 20, 0.0).problem;
        let problem = Request::new(20, 20, 20).check().unwrap();
        let kernel = kernel_named("naive", problem.types(), gpu.name()).unwrap();
        let row = bench.row(kernel, &problem, &described, false);
        assert!(row.outcome.passed, "{:?}", row.outcome);
        assert_eq!(row.measured.map(|time| time.samples), Some(3));
        for (vendor, version) in [
            (Vendor::RocBlas, "4.2.1.test"),
            (Vendor::HipBlasLt, "1.2.3"),
        ] {
            let library = VendorGemm::open_file(vendor, &file, &context).unwrap();
            let problem = Request::new(20, 20, 20).check().unwrap();
            let row = bench.library_row(&library, &problem, &described);
            let row = row.map_err(|failure| failure.to_string()).unwrap();
            assert!(row.outcome.passed, "{:?}", row.outcome);
            assert_eq!(row.name(), format!("{vendor} {version}"));
            assert_eq!(row.measured.as_ref().map(|time| time.samples), Some(3));
            let problem = Request::new(20, 13, 20).check().unwrap();
            let failure = bench.library_row(&library, &problem, &described);
            let text = failure.err().map(|failure| failure.to_string());
            assert!(text.is_some_and(|text| text.contains("failed with ")));
        }
    }
}
