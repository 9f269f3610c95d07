//! The timing model beside what was published: see `docs/timing.md`.
//!
//! `cargo bench --bench modelled` prints two tables: our kernels with the same tiles, which must be built for the row's GPU
//! (`FERROWAVE_GPUS`), and the documents' own kernels (`documents.hip`), if there is a clang that compiles HIP: `CLANG`,
//! `clang-22` or `clang`. An argument chooses rows by a part of their machine's or kernel's name; `--quick` leaves out those
//! that take long; with `VERBOSE` set, everything that the model says is printed.

use std::{env, fs, process::Command, sync::Arc, time::Instant};

use ferrowave::{
    embedded,
    gemm::{Addresses, Machine as Host, Order, Plan, Request},
};
use ferrowave_emulator::{
    dispatch::LaunchConfig,
    exec::SimdLevel,
    memory::{AllocationKind, DeviceMemory},
    program::Program,
    timing::{self, Machine, Timing},
};
use ferrowave_shared::{ElementTypes, Kernel};

/// A published figure, and the kernel of ours that stands for it.
struct Row {
    machine: Machine,
    published_as: &'static str,
    variant: &'static str,
    types: ElementTypes,
    /// m, n, k.
    size: [i64; 3],
    /// Whether B is column-major, so that both operands are along k.
    is_b_along_k: bool,
    published: Published,
}

#[derive(Clone, Copy)]
enum Published {
    Milliseconds(f64),
    TeraFlops(f64),
}

const SEEDS: [i64; 3] = [2048, 1024, 2048];
const LADDER: [i64; 3] = [4096; 3];

const fn seed(published_as: &'static str, variant: &'static str, milliseconds: f64) -> Row {
    Row {
        machine: Machine::Mi100,
        published_as,
        variant,
        types: ElementTypes::F32,
        size: SEEDS,
        is_b_along_k: false,
        published: Published::Milliseconds(milliseconds),
    }
}

const fn ladder(published_as: &'static str, variant: &'static str, tera_flops: f64) -> Row {
    Row {
        machine: Machine::Mi355x,
        published_as,
        variant,
        types: ElementTypes::FP8,
        size: LADDER,
        is_b_along_k: false,
        published: Published::TeraFlops(tera_flops),
    }
}

/// The same with B column-major; which layouts the published ladder has is not known.
const fn ladder_along_k(published_as: &'static str, variant: &'static str, tera_flops: f64) -> Row {
    Row {
        is_b_along_k: true,
        ..ladder(published_as, variant, tera_flops)
    }
}

const SMALL: &str = "128² tile, 8 waves";
const LARGE: &str = "8-wave ping-pong, 256² tile";

const ROWS: &[Row] = &[
    seed("no matrix core, 32×32 threads", "naive", 13.70),
    seed("MFMA, uncached", "mfma_uncached", 4.339),
    seed("+ LDS", "mfma_lds", 3.025),
    seed("+ double buffer", "mfma_double_buffered", 1.455),
    seed("+ C in fragments", "mfma_fragment", 1.340),
    seed("4 blocks, block order", "mfma_block_order", 29.04),
    seed("4 blocks, pass order", "mfma_pass_order", 26.12),
    Row {
        machine: Machine::Mi210,
        published_as: "rocBLAS, f32",
        variant: "mfma_pingpong",
        types: ElementTypes::F32,
        size: [8192; 3],
        is_b_along_k: false,
        published: Published::TeraFlops(37.9),
    },
    ladder("16-byte loads", "mfma_wide", 341.0),
    ladder_along_k("direct to LDS", "mfma_direct_to_lds", 501.0),
    ladder(SMALL, "mfma_pingpong_small", 1808.0),
    ladder_along_k(SMALL, "mfma_pingpong_small", 1808.0),
    ladder(SMALL, "mfma_pingpong_small_lines", 1808.0),
    ladder_along_k(SMALL, "mfma_pingpong_small_lines", 1808.0),
    ladder(LARGE, "mfma_pingpong", 2650.0),
    ladder_along_k(LARGE, "mfma_pingpong", 2650.0),
    ladder(LARGE, "mfma_pingpong_lines", 2650.0),
    ladder_along_k(LARGE, "mfma_pingpong_lines", 2650.0),
];

impl Row {
    fn flops(&self) -> f64 {
        2.0 * self.size.iter().map(|&n| n as f64).product::<f64>()
    }

    fn published_seconds(&self) -> f64 {
        match self.published {
            Published::Milliseconds(ms) => 1e-3 * ms,
            Published::TeraFlops(rate) => self.flops() / (1e12 * rate),
        }
    }

    fn estimate(&self, code_object: &[u8]) -> Timing {
        let gpu = self.machine.parameters().gpu;
        let kernel = Kernel::by_variant(self.variant, self.types).expect("the catalogue has it");
        let memory = Arc::new(DeviceMemory::new(1 << 34));
        let program = Program::load(code_object, gpu, &memory, SimdLevel::detect())
            .expect("our own code object");
        let [m, n, k] = self.size;
        let problem = Request {
            order_b: if self.is_b_along_k {
                Order::ColumnMajor
            } else {
                Order::RowMajor
            },
            types: self.types,
            ..Request::new(m, n, k)
        };
        let problem = problem.check().expect("a problem");
        // What is multiplied makes no difference to the time.
        let allocate = |bytes: usize| {
            let address = memory.allocate(bytes, AllocationKind::Device);
            let address = address.expect("memory for the matrices");
            memory
                .fill(address, &[0], bytes)
                .expect("the allocation is as long");
            address
        };
        let elements = |a: i64, b: i64, bytes: usize| (a * b) as usize * bytes;
        let input = self.types.input.size_bytes();
        let plan = Plan::new(kernel, &problem, &Host::smallest(gpu.name())).expect("a plan");
        let workspace = plan.workspace_bytes().expect("a small workspace").all;
        let addresses = Addresses {
            a: allocate(elements(m, k, input)),
            b: allocate(elements(k, n, input)),
            c: allocate(elements(m, n, self.types.output.size_bytes())),
            bias: 0,
        };
        let workspace = allocate(workspace.max(1) as usize);
        let launch = plan.launches().next().expect("a launch");
        let arguments = plan.arguments(&launch, &addresses, workspace);
        let loaded = program
            .kernel(kernel.symbol)
            .expect("the catalogue's kernel");
        let config = LaunchConfig {
            grid: [launch.grid.x, launch.grid.y, launch.grid.z],
            block: [kernel.block.x as u32, kernel.block.y as u32, 1],
            dynamic_lds_bytes: kernel.lds_bytes as u32,
            kernarg: bytemuck::bytes_of(&arguments),
            seed: 0,
            threads: None,
            instruction_limit: None,
            cooperative: false,
        };
        timing::estimate(&loaded, &config, self.machine).expect("a kernel for the machine")
    }
}

/// A kernel of `documents.hip` on MI100, and what was published of it.
struct Document {
    kernel: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    milliseconds: f64,
}

const fn document(
    kernel: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    milliseconds: f64,
) -> Document {
    Document {
        kernel,
        grid,
        block,
        milliseconds,
    }
}

const DOCUMENTS: &[Document] = &[
    document("naive", [32, 64], [32, 32], 13.70),
    document("uncached", [32, 64], [128, 2], 4.339),
    document("cached_in_each_step", [32, 64], [128, 2], 3.025),
    document("cached_in_each_tile", [32, 64], [128, 2], 3.025),
    document("double_buffered_in_each_step", [32, 64], [128, 2], 1.455),
    document("double_buffered_in_each_tile", [32, 64], [128, 2], 1.455),
    document("fragments", [32, 64], [128, 2], 1.340),
    document("block_order", [16, 32], [64, 1], 29.04),
    document("pass_order", [16, 32], [64, 1], 26.12),
    document("block_order_one_by_one", [16, 32], [64, 1], 29.04),
    document("pass_order_one_by_one", [16, 32], [64, 1], 26.12),
];

impl Document {
    fn estimate(&self, code_object: &[u8]) -> Timing {
        let machine = Machine::Mi100;
        let gpu = machine.parameters().gpu;
        let memory = Arc::new(DeviceMemory::new(1 << 30));
        let program = Program::load(code_object, gpu, &memory, SimdLevel::detect())
            .expect("clang's code object");
        let [m, n, k] = SEEDS;
        let matrices = [m * k, k * n, m * n].map(|elements| {
            let bytes = 4 * elements as usize;
            let address = memory.allocate(bytes, AllocationKind::Device);
            let address = address.expect("memory for the matrices");
            memory
                .fill(address, &[0], bytes)
                .expect("the allocation is as long");
            address
        });
        let kernel = program.kernel(self.kernel).expect("one of the file's");
        let config = LaunchConfig {
            grid: [self.grid[0], self.grid[1], 1],
            block: [self.block[0], self.block[1], 1],
            dynamic_lds_bytes: 0,
            kernarg: bytemuck::cast_slice(&matrices),
            seed: 0,
            threads: None,
            instruction_limit: None,
            cooperative: false,
        };
        timing::estimate(&kernel, &config, machine).expect("a kernel for the machine")
    }
}

/// Compiles `documents.hip`, or says why not.
fn compile_documents() -> Result<Vec<u8>, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/documents.hip");
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let object = directory.path().join("documents.co");
    let named = env::var("CLANG").ok();
    let compilers = match &named {
        Some(clang) => vec![clang.as_str()],
        None => vec!["clang-22", "clang"],
    };
    let mut complaint = String::new();
    for clang in compilers {
        let output = Command::new(clang)
            .args(["-x", "hip", "--offload-arch=gfx908", "-O3"])
            .args(["--offload-device-only", "--no-gpu-bundle-output"])
            .args(["-nogpulib", "-nogpuinc", source, "-o"])
            .arg(&object)
            .output();
        complaint = match output {
            Ok(output) if output.status.success() => {
                return fs::read(&object).map_err(|error| error.to_string());
            }
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
    }
    Err(format!("no clang compiles documents.hip: {complaint}"))
}

fn main() {
    let filter = env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let is_chosen = |names: [&str; 2]| {
        let contained = |part: &String| names.iter().any(|name| name.contains(part.as_str()));
        filter.as_ref().is_none_or(contained)
    };
    let verbose = env::var_os("VERBOSE").is_some();
    let say = |timing: Timing| {
        if verbose {
            println!("{}", timing::Format::Summary.write(&[timing]));
        }
    };
    let is_quick = env::args().any(|argument| argument == "--quick");
    ours(is_chosen, is_quick, say);
    println!();
    documents(is_chosen, say);
}

fn documents(is_chosen: impl Fn([&str; 2]) -> bool, say: impl Fn(Timing)) {
    let code_object = match compile_documents() {
        Ok(code_object) => code_object,
        Err(complaint) => return println!("{complaint}"),
    };
    println!("| the documents' kernel | published [ms] | modelled [ms] | ratio | bound by |");
    println!("|---|---|---|---|---|");
    for document in DOCUMENTS {
        if !is_chosen([Machine::Mi100.name(), document.kernel]) {
            continue;
        }
        let timing = document.estimate(&code_object);
        let modelled = 1e3 * timing.seconds;
        println!(
            "| `{}` | {:.3} | {modelled:.3} | {:.2} | {} |",
            document.kernel,
            document.milliseconds,
            modelled / document.milliseconds,
            timing.bound_by.text()
        );
        say(timing);
    }
}

fn ours(is_chosen: impl Fn([&str; 2]) -> bool, is_quick: bool, say: impl Fn(Timing)) {
    println!(
        "| machine | published as | our kernel | size | published [ms] | modelled [ms] | ratio | bound by | host [s] |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in ROWS {
        let machine = row.machine.name();
        if !is_chosen([machine, row.variant]) || is_quick && row.size != SEEDS {
            continue;
        }
        let gpu = row.machine.parameters().gpu;
        let Some(code_object) = embedded::code_object(gpu.name()) else {
            println!("| {machine} | {} | not built for {gpu} |", row.published_as);
            continue;
        };
        let started = Instant::now();
        let timing = row.estimate(code_object);
        let published = row.published_seconds();
        let [m, n, k] = row.size;
        println!(
            "| {machine} | {} | `{}` {}{} | {m}×{n}×{k} | {:.3} | {:.3} | {:.2} | {} | {:.1} |",
            row.published_as,
            row.variant,
            row.types.input,
            if row.is_b_along_k { ", NT" } else { "" },
            1e3 * published,
            1e3 * timing.seconds,
            timing.seconds / published,
            timing.bound_by.text(),
            started.elapsed().as_secs_f64(),
        );
        say(timing);
    }
}
