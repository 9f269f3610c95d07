//! The kernel that [`Gemm`](ferrowave::gemm::Gemm) chooses, beside a product in Triton (`vendor.py`): there is no library of
//! AMD's for MI300X and MI355X that runs here. Both times are modelled; Triton's is that of its best tile.

use std::{fs, path::Path, sync::Arc, time::Instant};

use ferrowave::{
    embedded,
    gemm::{Machine as Host, Plan, Request, choose},
};
use ferrowave_emulator::dispatch::LaunchConfig;
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::Program;
use ferrowave_gpu::{GpuLimits, Product};
use ferrowave_shared::ElementTypes;
use ferrowave_timing::{self as timing, Parameters};

use crate::{
    Choice, LAUNCH, allocate, ours,
    triton::{Compiled, compile},
};

/// Sizes of square products.
const SIZES: [usize; 4] = [1024, 2048, 4096, 8192];

/// The machines and types, and the type's name in the files' names.
const TYPES: [(Product, ElementTypes, &str); 6] = [
    (Product::Mi300x, ElementTypes::F16, "f16"),
    (Product::Mi300x, ElementTypes::BF16, "bf16"),
    (Product::Mi300x, ElementTypes::FP8_FNUZ, "fp8"),
    (Product::Mi355x, ElementTypes::F16, "f16"),
    (Product::Mi355x, ElementTypes::BF16, "bf16"),
    (Product::Mi355x, ElementTypes::FP8, "fp8"),
];

/// The machine as the library plans for it.
fn host(machine: Product) -> Host {
    let specifications = machine.specifications();
    Host {
        compute_units: specifications.compute_units,
        xcds: specifications.xcds,
        lds_bytes: GpuLimits::of(machine.gpu()).lds_bytes,
        ..Host::smallest(machine.gpu().name())
    }
}

/// Rows and columns of a kernel's tile, which are in its file's name.
fn tile(compiled: &Compiled) -> [usize; 2] {
    let tile = compiled.file.rsplit('_').next().expect("a name");
    let mut extents = tile
        .split('x')
        .map(|extent| extent.parse().expect("a number"));
    [(); 2].map(|()| extents.next().expect("rows and columns"))
}

/// The modelled time of a square product in Triton, in seconds.
fn estimate(
    directory: &Path,
    compiled: &Compiled,
    machine: Product,
    types: ElementTypes,
    size: usize,
) -> f64 {
    let object = fs::read(directory.join(&compiled.file)).expect("Triton wrote it");
    let memory = Arc::new(DeviceMemory::new(1 << 34));
    let program = Program::load(&object, machine.gpu(), &memory, SimdLevel::detect())
        .expect("Triton's code object");
    let kernel = program.kernel(&compiled.symbol).expect("its kernel");
    let matrix = |bytes: usize| allocate(&memory, size * size * bytes);
    let (input, output) = (types.a.size_bytes(), types.output.size_bytes());
    let at = [matrix(input), matrix(input), matrix(output)];
    let mut kernarg = bytemuck::cast_slice(&at).to_vec();
    kernarg.extend_from_slice(bytemuck::cast_slice(&[size as u32; 6]));
    // Triton's scratch memory, of which these kernels need none.
    kernarg.extend_from_slice(&[0; 16]);
    let [m, n] = tile(compiled).map(|extent| size / extent);
    let config = LaunchConfig {
        grid: [(m * n) as u32, 1, 1],
        block: [64 * compiled.waves, 1, 1],
        dynamic_lds_bytes: compiled.lds_bytes,
        kernarg: &kernarg,
        ..LAUNCH
    };
    let timing = timing::estimate(&kernel, &config, machine).expect("a kernel for the machine");
    timing.seconds
}

pub(crate) fn print(choice: &Choice) {
    let is_chosen = |machine: Product| choice.has(machine.name(), "triton");
    if choice.is_quick || !TYPES.iter().any(|&(machine, ..)| is_chosen(machine)) {
        return;
    }
    println!(
        "\n| Triton | type | size | its tile | its time [µs] | our kernel | our time [µs] | ratio | host [s] |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let directory = tempfile::tempdir().expect("a folder for temporary files");
    let directory = directory.path();
    let all = match compile(directory, "vendor.py", include_str!("vendor.py")) {
        Ok(all) => all,
        Err(complaint) => return println!("| missing: Triton compiles no kernel: {complaint} |"),
    };
    for (machine, types, name) in TYPES {
        let gpu = machine.gpu().name();
        if !is_chosen(machine) {
            continue;
        }
        let Some(code_object) = embedded::code_object(gpu) else {
            println!("| {} | {name} | not built for {gpu} |", machine.name());
            continue;
        };
        for size in SIZES {
            let started = Instant::now();
            let start = format!("{gpu}_{name}_");
            let of_type = all.iter().filter(|kernel| kernel.file.starts_with(&start));
            let times =
                of_type.map(|kernel| (kernel, estimate(directory, kernel, machine, types, size)));
            let best = times.min_by(|left, right| left.1.total_cmp(&right.1));
            let (triton, theirs) = best.expect("a tile");
            let extent = size as i64;
            let problem = Request {
                types,
                ..Request::new(extent, extent, extent)
            };
            let problem = problem.check().expect("a problem");
            let host = host(machine);
            let chosen = choose(&problem, &host, None).expect("a kernel");
            let plan =
                Plan::with_parts(chosen.kernel, &problem, &host, chosen.parts).expect("a plan");
            let parameters = Parameters::of(machine).expect("a machine with parameters");
            let ours = ours::estimate(&plan, code_object, machine, *parameters).seconds;
            println!(
                "| {} | {name} | {size} | {} | {:.1} | `{}` | {:.1} | {:.2} | {:.1} |",
                machine.name(),
                triton.file.trim_start_matches(&start),
                1e6 * theirs,
                chosen.kernel.variant.name(),
                1e6 * ours,
                theirs / ours,
                started.elapsed().as_secs_f64(),
            );
        }
    }
}
