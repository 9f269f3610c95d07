//! Our kernels, compared with published kernels of the same tiles.

use std::{sync::Arc, time::Instant};

use ferrowave::{
    embedded,
    gemm::{Addresses, Machine as Host, Order, Plan, Request},
};
use ferrowave_emulator::dispatch::LaunchConfig;
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::Program;
use ferrowave_gpu::Product;
use ferrowave_shared::{ElementTypes, Kernel};
use ferrowave_timing::{self as timing, Parameters, Timing};

use crate::{Choice, LAUNCH, allocate, cold};

/// A published time, and our kernel to compare with it.
struct Row {
    machine: Product,
    published_as: &'static str,
    variant: &'static str,
    types: ElementTypes,
    /// m, n, k.
    size: [i64; 3],
    /// Whether B is column-major, so that both operands are contiguous along k.
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
        machine: Product::Mi100,
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
        machine: Product::Mi355x,
        published_as,
        variant,
        types: ElementTypes::FP8,
        size: LADDER,
        is_b_along_k: false,
        published: Published::TeraFlops(tera_flops),
    }
}

/// A row of AMD's ladder with B column-major, as published.
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
        machine: Product::Mi210,
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
        let kernel = Kernel::by_variant(self.variant, self.types).expect("the catalogue has it");
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
        let host = Host::smallest(self.machine.gpu().name());
        let plan = Plan::new(kernel, &problem, &host).expect("a plan");
        estimate(&plan, code_object, self.machine, cold(self.machine))
    }
}

/// The time of a plan with one launch.
pub(crate) fn estimate(
    plan: &Plan,
    code_object: &[u8],
    machine: Product,
    parameters: Parameters,
) -> Timing {
    let (kernel, problem) = (plan.kernel(), plan.problem());
    let memory = Arc::new(DeviceMemory::new(1 << 34));
    let program = Program::load(code_object, machine.gpu(), &memory, SimdLevel::detect())
        .expect("our own code object");
    let matrix = |span: u128, bytes: usize| allocate(&memory, span as usize * bytes);
    let types = problem.types();
    let input = types.a.size_bytes();
    let workspace = plan.workspace_bytes().expect("a small workspace").all;
    let addresses = Addresses {
        a: matrix(problem.a().span(), input),
        b: matrix(problem.b().span(), input),
        c: matrix(problem.c().span(), types.output.size_bytes()),
        ..Addresses::default()
    };
    let workspace = allocate(&memory, workspace.max(1) as usize);
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
        ..LAUNCH
    };
    timing::estimate(&loaded, &config, parameters).expect("a kernel for the machine")
}

pub(crate) fn print(choice: &Choice) {
    println!(
        "| machine | published as | our kernel | size | published [ms] | modelled [ms] | ratio | bound by | host [s] |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in ROWS {
        let machine = row.machine.name();
        if !choice.has(machine, row.variant) || choice.is_quick && row.size != SEEDS {
            continue;
        }
        let gpu = row.machine.gpu();
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
            row.types.a,
            if row.is_b_along_k { ", NT" } else { "" },
            1e3 * published,
            1e3 * timing.seconds,
            timing.seconds / published,
            timing.bound_by.text(),
            started.elapsed().as_secs_f64(),
        );
        choice.say(timing);
    }
}
