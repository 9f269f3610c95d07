//! Kernel times on a GPU, between HIP events, as operations a second.
//!
//! Without a GPU it does nothing but say so, unless FERROWAVE_DEVICE names an emulated one: then the times are the
//! emulator's wall clock, and the groups are named so. `benches/emulator.rs` looks at the emulator's speed closely.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use ferrowave::{
    embedded,
    gemm::{Gemm, Machine, Operands, Order, Plan, Problem, Request, Source, Target},
    hip::{Context, Device, DeviceBuffer},
    verify::Inputs,
};
use ferrowave_shared::{CATALOGUE, Kernel, catalogue::Access};

/// Bytes of operands that are used in turn, so that no run finds the last one's in the caches: MI300X has 256 MiB.
const ROTATED: usize = 512 << 20;
/// The most copies, whatever the size.
const COPIES: usize = 64;

struct Buffers {
    a: DeviceBuffer<u8>,
    b: DeviceBuffer<u8>,
    c: DeviceBuffer<u8>,
}

impl Buffers {
    fn new(gemm: &Gemm, problem: &Problem, seed: u64) -> Self {
        let inputs = Inputs::random(problem, seed).expect("memory for the matrices");
        let upload = |bytes: &[u8]| gemm.context().upload(bytes).expect("memory on the device");
        Buffers {
            a: upload(inputs.a.bytes()),
            b: upload(inputs.b.bytes()),
            c: upload(inputs.c.bytes()),
        }
    }

    fn run(&mut self, gemm: &Gemm, kernel: &'static Kernel, problem: &Problem) -> Duration {
        let types = problem.types();
        let operands = Operands::new(
            Source::of_bytes(&self.a, types.input),
            Source::of_bytes(&self.b, types.input),
            Target::of_bytes(&mut self.c, types.output),
        );
        let time = gemm.run_kernel(kernel, problem, operands);
        time.expect("a correct kernel")
    }
}

fn main() {
    let device = match Device::from_environment() {
        Ok(device) => device,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    eprintln!("device {}", device.choice());
    let emulated = device.is_emulated();
    if emulated && std::env::var_os("FERROWAVE_DEVICE").is_none() {
        eprintln!(
            "no kernel is timed: that takes a GPU, or FERROWAVE_DEVICE for the emulator's own wall clock"
        );
        return;
    }
    let machine = Machine::of(&device);
    let Some(code_object) = embedded::code_object(&machine.gpu) else {
        eprintln!(
            "the kernels are not built for {0}; build with FERROWAVE_GPUS={0} set",
            machine.gpu
        );
        std::process::exit(1);
    };
    let context = Context::new(&device).expect("a device that works");
    let gemm = Gemm::new(&context, code_object).expect("our own code object");
    let mut criterion = Criterion::default().configure_from_args();
    let sizes: &[i64] = if emulated {
        &[128, 256]
    } else {
        &[1024, 2048, 4096, 8192]
    };
    let kernels = CATALOGUE
        .iter()
        .filter(|kernel| kernel.gpus.contains(&machine.gpu));
    for kernel in kernels {
        bench(&mut criterion, &gemm, kernel, sizes, emulated);
    }
    criterion.final_summary();
}

fn bench(
    criterion: &mut Criterion,
    gemm: &Gemm,
    kernel: &'static Kernel,
    sizes: &[i64],
    emulated: bool,
) {
    let clock = if emulated {
        "emulator's wall clock, "
    } else {
        ""
    };
    let name = format!("{clock}{}/{}", kernel.variant.name(), kernel.types.input);
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500));
    for &size in sizes {
        let request = Request {
            order_b: match kernel.access {
                Access::WideAlongK => Order::ColumnMajor,
                Access::Elements | Access::Wide => Order::RowMajor,
            },
            types: kernel.types,
            ..Request::new(size, size, size)
        };
        let problem = request.check().expect("a problem");
        if Plan::new(kernel, &problem, gemm.machine()).is_err() {
            continue;
        }
        // Operations count as elements.
        group.throughput(Throughput::Elements(2 * (size as u64).pow(3)));
        let mut buffers: Vec<Buffers> = Vec::new();
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            if buffers.is_empty() {
                // Only for what is chosen on the command line.
                let first = Buffers::new(gemm, &problem, 0);
                let bytes = first.a.bytes() + first.b.bytes() + first.c.bytes();
                let copies = match emulated {
                    true => 1,
                    false => (ROTATED / bytes).clamp(1, COPIES),
                };
                buffers.push(first);
                let more = (1..copies).map(|seed| Buffers::new(gemm, &problem, seed as u64));
                buffers.extend(more);
            }
            let count = buffers.len();
            bencher.iter_custom(|runs| {
                let times =
                    (0..runs).map(|run| buffers[run as usize % count].run(gemm, kernel, &problem));
                times.sum()
            });
        });
    }
    group.finish();
}
