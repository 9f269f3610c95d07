//! The emulator's wall time, which is not a GPU's time.
//!
//! With `--quick` there is one small size, so that all benchmarks take less than two minutes.
//!
//! `naive/f32/256/1 thread` is the figure in `docs/emulator.md`.

use std::{sync::Arc, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ferrowave::{
    embedded,
    gemm::{Addresses, Machine as Host, Order, Plan, Problem, Request},
    verify::Inputs,
};
use ferrowave_check::{self as check, Check};
use ferrowave_emulator::dispatch::{LaunchConfig, LaunchSummary, Limits, launch};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::{AllocationKind, DeviceMemory};
use ferrowave_emulator::program::Program;
use ferrowave_gpu::{Gpu, Product};
use ferrowave_profile as profile;
use ferrowave_shared::{CATALOGUE, GemmArguments, Kernel, catalogue::Access};
use ferrowave_timing::{self as timing, Timing};

const GPU: Gpu = Gpu::Gfx942;

/// A problem in the emulator's memory, with a kernel loaded.
struct Setup {
    kernel: &'static Kernel,
    loaded: ferrowave_emulator::program::Kernel,
    grid: [u32; 3],
    arguments: GemmArguments,
}

impl Setup {
    fn new(kernel: &'static Kernel, problem: &Problem, level: SimdLevel) -> Self {
        let code_object = embedded::code_object(GPU.name())
            .expect("the benchmarks run gfx942's kernels: build with them in FERROWAVE_GPUS");
        let memory = Arc::new(DeviceMemory::new(1 << 32));
        let program = Program::load(code_object, GPU, &memory, level).expect("our own code object");
        let inputs = Inputs::random(problem, 1).expect("memory for the matrices");
        let [a, b, c] = [&inputs.a, &inputs.b, &inputs.c].map(|matrix| {
            let bytes = matrix.bytes();
            let address = memory
                .allocate(bytes.len(), AllocationKind::Device)
                .expect("memory for the matrices");
            memory
                .write(address, bytes)
                .expect("the allocation is as long");
            address
        });
        let plan = Plan::new(kernel, problem, &Host::smallest(GPU.name())).expect("a plan");
        let launch = plan.launches().next().expect("a launch");
        let workspace_bytes = plan.workspace_bytes().expect("a small workspace").all;
        let zeros = vec![0; workspace_bytes.max(1) as usize];
        let workspace = memory
            .allocate(zeros.len(), AllocationKind::Device)
            .expect("memory for the workspace");
        memory
            .write(workspace, &zeros)
            .expect("the allocation is as long");
        let addresses = Addresses {
            a,
            b,
            c,
            ..Addresses::default()
        };
        Setup {
            kernel,
            loaded: program
                .kernel(kernel.symbol)
                .expect("the catalogue's kernel"),
            grid: [launch.grid.x, launch.grid.y, launch.grid.z],
            arguments: plan.arguments(&launch, &addresses, workspace),
        }
    }

    fn run(&self, threads: Option<usize>) -> LaunchSummary {
        launch(&self.loaded, &self.config(threads)).expect("a correct kernel")
    }

    /// Runs with counters.
    fn count(&self, threads: Option<usize>) -> profile::Counted {
        let counted = profile::count(&self.loaded, &self.config(threads));
        let (outcome, counted) = counted.expect("a launch that the kernel allows");
        outcome.expect("a correct kernel");
        counted
    }

    /// Runs with the timing model.
    fn time(&self, threads: Option<usize>) -> Timing {
        let timing = timing::launch(&self.loaded, &self.config(threads), Product::of(GPU));
        timing.expect("a correct kernel")
    }

    /// Runs with all checks.
    fn check(&self, threads: Option<usize>) -> check::Checked {
        let checked = check::launch(&self.loaded, &self.config(threads), &Check::ALL.into());
        let checked = checked.expect("a launch that the kernel allows");
        assert!(checked.findings.is_empty(), "a correct kernel");
        checked
    }

    fn config(&self, threads: Option<usize>) -> LaunchConfig<'_> {
        LaunchConfig {
            grid: self.grid,
            block: [self.kernel.block.x as u32, self.kernel.block.y as u32, 1],
            dynamic_lds_bytes: self.kernel.lds_bytes as u32,
            kernarg: bytemuck::bytes_of(&self.arguments),
            seed: 0,
            threads,
            limits: Limits::NONE,
            cooperative: false,
            group: None,
            partial: [0; 3],
        }
    }
}

/// Each kernel over sizes and host threads, in wave-instructions per second.
fn kernels(criterion: &mut Criterion) {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let sizes: &[i64] = if is_quick { &[128] } else { &[256, 512] };
    for kernel in CATALOGUE
        .iter()
        .filter(|kernel| kernel.gpus.contains(GPU.name()))
    {
        let name = format!("{}/{}", kernel.variant.name(), kernel.types.name());
        let mut group = criterion.benchmark_group(name);
        group
            .measurement_time(Duration::from_secs(3))
            .sample_size(20);
        for &size in sizes {
            let request = Request {
                order_b: match kernel.access {
                    _ if kernel.types.block() > 1 => Order::ColumnMajor,
                    Access::WideAlongK => Order::ColumnMajor,
                    Access::Elements | Access::Wide => Order::RowMajor,
                },
                types: kernel.types,
                ..Request::new(size, size, size)
            };
            let problem = request.check().expect("a problem");
            let setup = Setup::new(kernel, &problem, SimdLevel::detect());
            group.throughput(Throughput::Elements(setup.run(Some(1)).wave_instructions));
            for (name, threads) in [("1 thread", Some(1)), ("all cores", None)] {
                group.bench_function(BenchmarkId::new(size.to_string(), name), |bencher| {
                    bencher.iter(|| setup.run(threads));
                });
            }
        }
        group.finish();
    }
}

/// The effect of the level of host vectors.
fn levels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("host vectors, register_tiled 256, 1 thread");
    group
        .measurement_time(Duration::from_secs(3))
        .sample_size(20);
    let problem = Request::new(256, 256, 256).check().expect("a problem");
    let kernel = Kernel::by_symbol("gemm_register_tiled_f32").expect("the catalogue has it");
    for level in SimdLevel::ALL
        .into_iter()
        .filter(|level| level.is_available())
    {
        let setup = Setup::new(kernel, &problem, level);
        group.bench_function(level.name(), |bencher| bencher.iter(|| setup.run(Some(1))));
    }
    group.finish();
}

/// The cost of observers. The project's limits are a factor of two for counters, and ten for all checks and for the
/// timing model.
fn watched(criterion: &mut Criterion) {
    for symbol in [
        "gemm_mfma_lds_f32",
        "gemm_register_tiled_f32",
        "gemm_mfma_pingpong_f32",
    ] {
        let mut group = criterion.benchmark_group(format!("watched, {symbol} 256, 1 thread"));
        group
            .measurement_time(Duration::from_secs(3))
            .sample_size(20);
        let problem = Request::new(256, 256, 256).check().expect("a problem");
        let kernel = Kernel::by_symbol(symbol).expect("the catalogue has it");
        let setup = Setup::new(kernel, &problem, SimdLevel::detect());
        group.bench_function("plain", |bencher| bencher.iter(|| setup.run(Some(1))));
        group.bench_function("counted", |bencher| bencher.iter(|| setup.count(Some(1))));
        group.bench_function("timed", |bencher| bencher.iter(|| setup.time(Some(1))));
        group.bench_function("checked", |bencher| bencher.iter(|| setup.check(Some(1))));
        group.finish();
    }
}

criterion_group!(benches, kernels, levels, watched);
criterion_main!(benches);
