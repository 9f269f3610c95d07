//! Compares the timing model with published times: see `docs/timing.md`.
//!
//! `cargo bench --bench modelled` prints these tables:
//!
//! - our kernels with the tiles of published ones, which must be built for the row's GPU (`FERROWAVE_GPUS`);
//! - the kernels of the documents behind the ladder (`documents.hip`), of AMD's fp8 ladder (`ladder.hip`) and of seb-v's f32
//!   ladder for Radeons (`sgemm.hip`), which need a clang that compiles HIP: `CLANG`, `clang-22` or `clang`;
//! - LDS instructions;
//! - the kernels of AMD's Gluon tutorials (`gluon.py`), which need Triton: that of `TRITON_PYTHON`, or one that is
//!   installed from PyPI to `ferrowave/triton` in the user's cache folder, once;
//! - products of integers on Radeon 8060S, of which `FERROWAVE_STRIX_HALO_GEMMS` names a checkout (`strix_halo`), by the
//!   same clang;
//! - single instructions of small kernels on Radeons, traced by tinygrad, of which `FERROWAVE_TINYGRAD` names a checkout
//!   (`traces`);
//! - products of AMD's rocBLAS and hipBLASLt, which `benches/libraries.sh` fetches from Debian;
//! - [`Gemm`](ferrowave::gemm::Gemm)'s choice beside a product in Triton (`vendor.py`), on MI300X and MI355X.
//!
//! Each group but the first ends with its mean error and its rank correlation. What needs a missing compiler says so, and
//! the rest runs. An argument selects rows by a part of the machine's or kernel's name. `--quick` leaves out slow rows.
//! If `VERBOSE` is set, the model's full report is printed.
//!
//! A whole run compares its rows with those from which the model's error is stated, and fails if they differ: `rows`.

mod gluon;
mod lds;
mod libraries;
mod ours;
mod published;
mod rows;
mod statistics;
mod strix_halo;
mod traces;
mod triton;
mod vendor;

use std::{env, process::ExitCode};

use ferrowave_emulator::dispatch::{LaunchConfig, Limits};
use ferrowave_emulator::memory::{AllocationKind, DeviceMemory};
use ferrowave_gpu::Product;
use ferrowave_timing::{Format, Parameters, Start, Timing};

/// The command line.
struct Choice {
    part_of_name: Option<String>,
    is_quick: bool,
    is_verbose: bool,
}

impl Choice {
    fn has(&self, machine: &str, kernel: &str) -> bool {
        let part = self.part_of_name.as_deref().unwrap_or("");
        machine.contains(part) || kernel.contains(part)
    }

    fn say(&self, timing: Timing) {
        if self.is_verbose {
            println!("{}", Format::Summary.write(&[timing]));
        }
    }
}

/// A launch of one work-item without arguments.
const LAUNCH: LaunchConfig<'static> = LaunchConfig {
    grid: [1; 3],
    block: [1; 3],
    dynamic_lds_bytes: 0,
    kernarg: &[],
    seed: 0,
    threads: None,
    limits: Limits::NONE,
    cooperative: false,
    group: None,
    partial: [0; 3],
};

/// A matrix of zeros: the time does not depend on the elements.
fn allocate(memory: &DeviceMemory, bytes: usize) -> u64 {
    let address = memory
        .allocate(bytes, AllocationKind::Device)
        .expect("memory for the matrices");
    memory
        .fill(address, &[0], bytes)
        .expect("the allocation is as long");
    address
}

/// The machine as AMD's fp8 ladder met it: its launches go round 512 MB of matrices, twice what the Infinity Cache has.
fn cold(machine: Product) -> Parameters {
    let repeated = Parameters::of(machine).expect("a machine with parameters");
    Parameters {
        start: Start::Cold,
        ..*repeated
    }
}

fn main() -> ExitCode {
    let arguments = || env::args().skip(1);
    let choice = Choice {
        part_of_name: arguments().find(|argument| !argument.starts_with('-')),
        is_quick: arguments().any(|argument| argument == "--quick"),
        is_verbose: env::var_os("VERBOSE").is_some(),
    };
    ours::print(&choice);
    for source in published::SOURCES {
        println!();
        source.print(&choice);
    }
    lds::print(&choice);
    gluon::print(&choice);
    strix_halo::print(&choice);
    traces::print(&choice);
    libraries::print(&choice);
    vendor::print(&choice);
    // A selection has not all rows.
    match choice.part_of_name.is_some() || choice.is_quick || rows::compare() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
