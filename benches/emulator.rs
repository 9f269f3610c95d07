//! The emulator's wall time. It says nothing of a GPU.
//!
//! `naive/256/1 thread` is the figure that the project measures itself against: see the README.

use std::{sync::Arc, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ferrowave::{
    embedded,
    gemm::{GridLimits, Plan, Problem, Request},
    verify::Inputs,
};
use ferrowave_emulator::{
    dispatch::{LaunchConfig, LaunchSummary, launch},
    exec::SimdLevel,
    gpu::Gpu,
    memory::{AllocationKind, DeviceMemory},
    program::Program,
};
use ferrowave_shared::{CATALOGUE, GemmArguments, Kernel};

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
            let bytes: Vec<u8> = matrix.iter().flat_map(|x| x.to_le_bytes()).collect();
            let address = memory
                .allocate(bytes.len(), AllocationKind::Device)
                .expect("memory for the matrices");
            memory
                .write(address, &bytes)
                .expect("the allocation is as long");
            address
        });
        let plan = Plan::new(kernel, problem, GPU.name(), GridLimits::HIP).expect("a plan");
        let launch = plan.launches().next().expect("a launch");
        Setup {
            kernel,
            loaded: program
                .kernel(kernel.symbol)
                .expect("the catalogue's kernel"),
            grid: [launch.grid.x, launch.grid.y, launch.grid.z],
            arguments: plan.arguments(&launch, a, b, c),
        }
    }

    fn run(&self, threads: Option<usize>) -> LaunchSummary {
        let config = LaunchConfig {
            grid: self.grid,
            block: [self.kernel.block.x as u32, self.kernel.block.y as u32, 1],
            dynamic_lds_bytes: self.kernel.lds_bytes as u32,
            kernarg: bytemuck::bytes_of(&self.arguments),
            seed: 0,
            threads,
        };
        launch(&self.loaded, &config).expect("a correct kernel")
    }
}

/// Each kernel over sizes and threads, as wave-instructions a second.
fn kernels(criterion: &mut Criterion) {
    for kernel in CATALOGUE {
        let mut group = criterion.benchmark_group(kernel.variant.name());
        group
            .measurement_time(Duration::from_secs(3))
            .sample_size(20);
        for size in [256, 512] {
            let problem = Request::new(size, size, size).check().expect("a problem");
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

/// What host vectors are worth.
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

criterion_group!(benches, kernels, levels);
criterion_main!(benches);
