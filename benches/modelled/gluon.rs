//! The GEMM kernels of AMD's Gluon tutorials, written anew (`gluon.py`) and compiled by Triton.
//!
//! Published are the share of a loop's cycles in which the matrix cores work, which no clock affects. The modelled share
//! is that of the steps along k that a product with k = 8192 has beyond one with k = 4096.
//!
//! The traced launch is the fifteenth of the same matrices, in the warm-up of Triton's `do_bench`, which clears no cache then
//! (`scripts/run_perf_table.py`). A, B and C have at most 188 MB, so that the Infinity Cache has them.

use std::{fs, sync::Arc};

use ferrowave_emulator::dispatch::{self, LaunchConfig};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::{Kernel, Program};
use ferrowave_gpu::Product;
use ferrowave_timing::{self as timing, Timing};

use crate::{
    Choice, LAUNCH, allocate,
    statistics::{Group, Pair},
    triton::{Compiled, compile},
};

/// k of a step.
const STEP: usize = 64;

/// A published loop: its kernel, its tile, and the matrix cores' share of its cycles in percent.
struct Row {
    kernel: &'static str,
    tile: [usize; 2],
    percent: f64,
}

const fn row(kernel: &'static str, m: usize, n: usize, percent: f64) -> Row {
    Row {
        kernel,
        tile: [m, n],
        percent,
    }
}

/// v0 to v4: the tutorials' READMEs; v5 to v8: `kernels/gemm/a16w16/report.md`, «base».
const ROWS: &[Row] = &[
    row("v0", 256, 256, 25.0),
    row("v2", 256, 256, 36.0),
    row("v3", 256, 256, 42.0),
    row("v4", 256, 256, 57.0),
    row("v5", 256, 256, 58.63),
    row("v5", 256, 128, 51.21),
    row("v5", 128, 256, 51.06),
    row("v5", 128, 128, 41.75),
    row("v5", 64, 256, 36.64),
    row("v6", 256, 128, 51.79),
    row("v6", 128, 256, 51.63),
    row("v6", 128, 128, 42.46),
    row("v6", 64, 256, 36.57),
    row("v7", 256, 256, 64.99),
    row("v7", 256, 128, 56.92),
    row("v7", 128, 256, 56.48),
    row("v7", 128, 128, 54.39),
    row("v7", 64, 256, 49.00),
    row("v7", 256, 64, 44.39),
    row("v7", 128, 64, 36.52),
    row("v7", 64, 128, 41.51),
    row("v8", 256, 256, 68.92),
    row("v8", 256, 128, 63.40),
    row("v8", 128, 256, 66.04),
    row("v8", 128, 128, 55.65),
    row("v8", 64, 256, 49.40),
    row("v8", 256, 64, 43.81),
    row("v8", 128, 64, 40.09),
    row("v8", 64, 128, 42.70),
    row("v8", 64, 64, 27.49),
    // Two waves on a SIMD with 2048 cycles of matrix instructions each: 4187.7 cycles a step (`gfx942/README.md`).
    row("mi300x", 256, 256, 1e2 * 4096.0 / 4187.7),
];

impl Row {
    fn machine(&self) -> Product {
        match self.kernel {
            "mi300x" => Product::Mi300x,
            _ => Product::Mi355x,
        }
    }

    /// Tiles of a launch that fills the machine as the published one did.
    const fn tiles(&self) -> [usize; 2] {
        match self.kernel.as_bytes() {
            b"mi300x" => [16, 19],
            _ => [16, 16],
        }
    }

    /// k of a short and a long product, 64 steps apart. On MI300X, not powers of two were measured, whose rows would
    /// share a set of L1.
    fn depths(&self) -> [usize; 2] {
        match self.machine() {
            Product::Mi300x => [4160, 8256],
            _ => [4096, 8192],
        }
    }

    fn name(&self) -> String {
        let [m, n] = self.tile;
        format!("{}_{m}x{n}", self.kernel)
    }

    /// Cycles that a SIMD's matrix core works in a step: 16 for each 16 × 16 × 32 (on MI300X × 16).
    fn matrix_cycles(&self) -> f64 {
        let of_instruction = match self.machine() {
            Product::Mi300x => 16 * 16 * 16,
            _ => 16 * 16 * 32,
        };
        16.0 * (self.tile[0] * self.tile[1] * STEP / of_instruction / 4) as f64
    }
}

/// A launch of a compiled kernel that multiplies matrices of one size.
struct Launch<'a> {
    compiled: &'a Compiled,
    kernarg: Vec<u8>,
    workgroups: u32,
}

impl<'a> Launch<'a> {
    fn new(compiled: &'a Compiled, row: &Row, tiles: [usize; 2], k: usize, at: [u64; 3]) -> Self {
        let [m, n] = [0, 1].map(|side| row.tile[side] * tiles[side]);
        let mut kernarg = bytemuck::cast_slice(&at).to_vec();
        let integers = [m, n, k, k, k, n].map(|value| value as u32);
        kernarg.extend_from_slice(bytemuck::cast_slice(&integers));
        // Triton's scratch memory, of which these kernels need none.
        kernarg.extend_from_slice(&[0; 16]);
        Launch {
            compiled,
            kernarg,
            workgroups: (tiles[0] * tiles[1]) as u32,
        }
    }

    fn config(&self) -> LaunchConfig<'_> {
        LaunchConfig {
            grid: [self.workgroups, 1, 1],
            block: [64 * self.compiled.waves, 1, 1],
            dynamic_lds_bytes: self.compiled.lds_bytes,
            kernarg: &self.kernarg,
            ..LAUNCH
        }
    }
}

/// Whether the kernel multiplies matrices of 1, 0 and -1 exactly.
fn is_right(row: &Row, compiled: &Compiled, kernel: &Kernel, memory: &DeviceMemory) -> bool {
    const K: usize = 8 * STEP;
    let tiles = [4, 2];
    let [m, n] = [0, 1].map(|side| row.tile[side] * tiles[side]);
    let operand = |seed: usize, rows: usize| -> Vec<i32> {
        (0..rows * K)
            .map(|i| (i + seed).wrapping_mul(0x9e37_79b9) as i32 >> 16 & 3)
            .map(|value| (value - 1) % 2)
            .collect()
    };
    let codes = |values: &[i32]| -> Vec<u16> {
        let code = |&value: &i32| [0xbc00, 0, 0x3c00][(value + 1) as usize];
        values.iter().map(code).collect()
    };
    let [a, b] = [operand(1, m), operand(2, n)];
    let at = [m * K, n * K, m * n].map(|elements| allocate(memory, 2 * elements));
    for (address, values) in at.into_iter().zip([&a, &b]) {
        memory
            .write(address, bytemuck::cast_slice(&codes(values)))
            .expect("the allocation is as long");
    }
    let launch = Launch::new(compiled, row, tiles, K, at);
    let mut c = vec![0_u16; m * n];
    let c_bytes = bytemuck::cast_slice_mut(&mut c);
    memory
        .fill(at[2], &[0xff], c_bytes.len())
        .expect("the allocation is as long");
    dispatch::launch(kernel, &launch.config()).expect("a kernel that runs");
    memory
        .read(at[2], c_bytes)
        .expect("the allocation is as long");
    for address in at {
        memory.free(address).expect("it is allocated");
    }
    let is_sum = |(i, &code): (usize, &u16)| {
        let rows = [(&a, i / n), (&b, i % n)];
        let [a, b] = rows.map(|(matrix, row)| &matrix[row * K..][..K]);
        let sum: i32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        half(code) == f64::from(sum)
    };
    c.iter().enumerate().all(is_sum)
}

/// The value of a normal f16, or 0.
fn half(code: u16) -> f64 {
    let sign = if code >> 15 == 0 { 1.0 } else { -1.0 };
    match code & 0x7fff {
        0 => 0.0,
        code => {
            let mantissa = 1.0 + f64::from(code & 0x3ff) / 1024.0;
            sign * mantissa * f64::from(code >> 10).exp2() / 15_f64.exp2()
        }
    }
}

fn estimate(
    row: &Row,
    compiled: &Compiled,
    kernel: &Kernel,
    memory: &DeviceMemory,
    k: usize,
) -> Timing {
    let tiles = row.tiles();
    let [m, n] = [0, 1].map(|side| row.tile[side] * tiles[side]);
    let at = [m * k, n * k, m * n].map(|elements| allocate(memory, 2 * elements));
    let launch = Launch::new(compiled, row, tiles, k, at);
    let timing = timing::estimate(kernel, &launch.config(), row.machine());
    for address in at {
        memory.free(address).expect("it is allocated");
    }
    timing.expect("a kernel for the machine")
}

pub(crate) fn print(choice: &Choice) {
    let is_chosen = |row: &&Row| choice.has(row.machine().name(), &row.name());
    if choice.is_quick || !ROWS.iter().any(|row| is_chosen(&row)) {
        return;
    }
    println!("\n| Gluon, f16 | tile | published [%] | modelled [%] | ratio | bound by |");
    println!("|---|---|---|---|---|---|");
    let directory = tempfile::tempdir().expect("a folder for temporary files");
    let all = match compile(directory.path(), "gluon.py", include_str!("gluon.py")) {
        Ok(all) => all,
        Err(complaint) => return println!("| missing: Triton compiles no kernel: {complaint} |"),
    };
    let mut group = Group::default();
    for row in ROWS.iter().filter(is_chosen) {
        let [m, n] = row.tile;
        let start = format!("| {} | {m}×{n} | {:.1} |", row.kernel, row.percent);
        let Some(compiled) = all.iter().find(|compiled| compiled.file == row.name()) else {
            println!("{start} not compiled | | |");
            continue;
        };
        let object = fs::read(directory.path().join(&compiled.file)).expect("Triton wrote it");
        let memory = Arc::new(DeviceMemory::new(1 << 33));
        let program = Program::load(&object, row.machine().gpu(), &memory, SimdLevel::detect())
            .expect("Triton's code object");
        let kernel = program.kernel(&compiled.symbol).expect("its kernel");
        if !is_right(row, compiled, &kernel, &memory) {
            println!("{start} its product is wrong | | |");
            continue;
        }
        let depths = row.depths();
        let [short, long] = depths.map(|k| estimate(row, compiled, &kernel, &memory, k));
        let steps = (depths[1] - depths[0]) / STEP;
        let cycles = (long.cycles - short.cycles) as f64 / steps as f64;
        let pair = Pair {
            published: 1e2 * row.matrix_cycles() / row.percent,
            modelled: cycles,
        };
        println!(
            "{start} {:.1} | {:.2} | {} |",
            1e2 * row.matrix_cycles() / cycles,
            pair.ratio(),
            long.bound_by.text(),
        );
        group.add(pair);
        choice.say(long);
    }
    group.print("Gluon, loops");
}
