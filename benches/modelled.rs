//! The timing model beside what was published, by kernels with the same tiles: see `docs/timing.md`.
//!
//! `cargo bench --bench modelled` prints the table; the kernels of a row's GPU must be built (`FERROWAVE_GPUS`). An argument
//! chooses rows by a part of their machine's or kernel's name.

use std::{env, sync::Arc, time::Instant};

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
use ferrowave_shared::{ElementTypes, Kernel, catalogue::Access};

/// A published figure, and the kernel of ours that stands for it.
struct Row {
    machine: Machine,
    published_as: &'static str,
    variant: &'static str,
    types: ElementTypes,
    /// m, n, k.
    size: [i64; 3],
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
        published: Published::TeraFlops(tera_flops),
    }
}

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
        published: Published::TeraFlops(37.9),
    },
    ladder("16-byte loads", "mfma_wide", 341.0),
    ladder("direct to LDS", "mfma_direct_to_lds", 501.0),
    ladder("128² tile, 8 waves", "mfma_pingpong_small", 1808.0),
    ladder("8-wave ping-pong, 256² tile", "mfma_pingpong", 2650.0),
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
            order_b: match kernel.access {
                Access::WideAlongK => Order::ColumnMajor,
                Access::Elements | Access::Wide => Order::RowMajor,
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
        };
        timing::estimate(&loaded, &config, self.machine).expect("a kernel for the machine")
    }
}

fn main() {
    let filter = env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let verbose = env::var_os("VERBOSE").is_some();
    println!(
        "| machine | published as | our kernel | size | published [ms] | modelled [ms] | ratio | bound by | host [s] |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in ROWS {
        let machine = row.machine.name();
        let is_chosen = |part: &String| machine.contains(part) || row.variant.contains(part);
        if !filter.as_ref().is_none_or(is_chosen) {
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
            "| {machine} | {} | `{}` {} | {m}×{n}×{k} | {:.3} | {:.3} | {:.2} | {} | {:.1} |",
            row.published_as,
            row.variant,
            row.types.input,
            1e3 * published,
            1e3 * timing.seconds,
            timing.seconds / published,
            timing.bound_by.text(),
            started.elapsed().as_secs_f64(),
        );
        if verbose {
            println!("{}", timing::Format::Summary.write(&[timing]));
        }
    }
}
