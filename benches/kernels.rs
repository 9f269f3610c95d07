//! Kernel times on a GPU, between HIP events, in operations per second.
//!
//! Without a GPU it does nothing and says so, unless FERROWAVE_DEVICE names an emulated GPU. Then the times are the
//! emulator's wall clock, and the names of the groups say so. `benches/emulator.rs` measures the emulator's speed in
//! detail.
//!
//! With `--quick` there is one size of each, so that all of them take less than two minutes on the emulator.
//!
//! On a GPU, rocBLAS and hipBLASLt are groups beside the kernels if they are found.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use ferrowave::{
    embedded,
    gemm::{Gemm, Machine, Operands, Order, Plan, Problem, Request, Source, Target},
    hip::{Context, DeviceBuffer},
    vendor::{Vendor, VendorGemm},
    verify::Inputs,
};
use ferrowave_shared::{CATALOGUE, ElementTypes, Kernel, catalogue::Access};

/// Bytes of the copies of operands that runs use in turn, so that no run finds the last one's operands in the caches:
/// MI300X has 256 MiB.
const ROTATED: usize = 512 << 20;
/// The most copies of the operands.
const COPIES: usize = 64;

struct Buffers {
    a: DeviceBuffer<u8>,
    b: DeviceBuffer<u8>,
    c: DeviceBuffer<u8>,
}

impl Buffers {
    fn new(gemm: &Gemm, inputs: &Inputs) -> Self {
        let upload = |bytes: &[u8]| gemm.context().upload(bytes).expect("memory on the device");
        Buffers {
            a: upload(inputs.a.bytes()),
            b: upload(inputs.b.bytes()),
            c: upload(inputs.c.bytes()),
        }
    }

    fn operands(&mut self, types: ElementTypes) -> Operands<'_> {
        Operands::new(
            Source::of_bytes(&self.a, types.a),
            Source::of_bytes(&self.b, types.b),
            Target::of_bytes(&mut self.c, types.output),
        )
    }
}

fn main() {
    let device = match embedded::device_from_environment() {
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
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let sizes: &[i64] = match (emulated, is_quick) {
        (true, true) => &[128],
        (true, false) => &[128, 256],
        (false, true) => &[2048],
        (false, false) => &[1024, 2048, 4096, 8192],
    };
    let kernels = CATALOGUE
        .iter()
        .filter(|kernel| kernel.gpus.contains(&machine.gpu));
    let mut bench = Bench {
        criterion: &mut criterion,
        gemm: &gemm,
        sizes,
        emulated,
    };
    for kernel in kernels.clone() {
        bench.kernel(kernel);
    }
    if !emulated {
        bench.libraries(kernels.map(|kernel| kernel.types).collect());
    }
    criterion.final_summary();
}

struct Bench<'a> {
    criterion: &'a mut Criterion,
    gemm: &'a Gemm,
    sizes: &'a [i64],
    emulated: bool,
}

/// Computes a problem and returns the time.
type Compute<'a> = Box<dyn Fn(Operands<'_>) -> Duration + 'a>;

impl Bench<'_> {
    fn kernel(&mut self, kernel: &'static Kernel) {
        let order = match kernel.access {
            Access::WideAlongK => Order::ColumnMajor,
            Access::Elements | Access::Wide => Order::RowMajor,
        };
        let gemm = self.gemm;
        self.group(kernel.variant.name(), kernel.types, order, |problem| {
            Plan::new(kernel, problem, gemm.machine()).ok()?;
            let problem = *problem;
            Some(Box::new(move |operands| {
                let time = gemm.run_kernel(kernel, &problem, operands);
                time.expect("a correct kernel")
            }))
        });
    }

    /// The libraries that are found, with both layouts of B, because each of our kernels takes one of them.
    fn libraries(&mut self, kernels: Vec<ElementTypes>) {
        let all_types = ElementTypes::ALL
            .iter()
            .filter(|types| kernels.contains(types));
        for vendor in Vendor::ALL {
            let library = match VendorGemm::open(vendor, self.gemm.context()) {
                Ok(library) => library,
                Err(error) => {
                    eprintln!("{vendor} is left out: {error}");
                    continue;
                }
            };
            for (types, order, letters) in all_types.clone().flat_map(|&types| {
                let orders = [(Order::RowMajor, "NN"), (Order::ColumnMajor, "NT")];
                orders.map(|(order, letters)| (types, order, letters))
            }) {
                let name = format!("{vendor} {} {letters}", library.version());
                self.group(&name, types, order, |problem| {
                    let product = match library.product(problem) {
                        Ok(product) => product,
                        Err(error) => {
                            eprintln!("{name}, {}: {error}", types.name());
                            return None;
                        }
                    };
                    Some(Box::new(move |operands| {
                        product.run(operands).expect("a correct library")
                    }))
                });
            }
        }
    }

    /// The group of benchmarks over all sizes.
    fn group<'c>(
        &mut self,
        name: &str,
        types: ElementTypes,
        order_b: Order,
        compute: impl Fn(&Problem) -> Option<Compute<'c>>,
    ) {
        let (gemm, emulated) = (self.gemm, self.emulated);
        let clock = if emulated {
            "emulator's wall clock, "
        } else {
            ""
        };
        let name = format!("{clock}{name}/{}", types.name());
        let mut group = self.criterion.benchmark_group(name);
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(500));
        for &size in self.sizes {
            let request = Request {
                order_b,
                types,
                ..Request::new(size, size, size)
            };
            let problem = request.check().expect("a problem");
            let Some(compute) = compute(&problem) else {
                continue;
            };
            // Criterion calls them elements; they are operations.
            group.throughput(Throughput::Elements(2 * (size as u64).pow(3)));
            let mut buffers: Vec<Buffers> = Vec::new();
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                if buffers.is_empty() {
                    // Made only for the benchmarks selected on the command line. All copies have the same contents.
                    let inputs = Inputs::random(&problem, 0).expect("memory for the matrices");
                    let first = Buffers::new(gemm, &inputs);
                    let bytes = first.a.bytes() + first.b.bytes() + first.c.bytes();
                    let copies = match emulated {
                        true => 1,
                        false => (ROTATED / bytes).clamp(1, COPIES),
                    };
                    buffers.push(first);
                    let more = (1..copies).map(|_| Buffers::new(gemm, &inputs));
                    buffers.extend(more);
                }
                let count = buffers.len();
                bencher.iter_custom(|runs| {
                    let times =
                        (0..runs).map(|run| compute(buffers[run as usize % count].operands(types)));
                    times.sum()
                });
            });
        }
        group.finish();
    }
}
