//! Counts of ladder kernels, compared with formulas of their algorithms.

use std::sync::{Mutex, PoisonError};

use ferrowave::{
    embedded,
    gemm::{Gemm, Order, Problem, Request, Target},
    hip::{Context, Device, DeviceSelector},
    verify::Inputs,
};
use ferrowave_gpu::Gpu;
use ferrowave_hip::profile::{set_profiling, take_profiles};
use ferrowave_profile::{Profile, Totals};
use ferrowave_shared::{
    BlockTile, CATALOGUE, Kernel, Variant,
    catalogue::{Access, Unit},
};

/// Profiling affects the whole process, so tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The built GPUs that have a kernel, with their code objects.
fn profiled_gpus(kernel: &Kernel) -> impl Iterator<Item = (Gpu, &'static [u8])> {
    embedded::code_objects().filter(|(gpu, _)| kernel.gpus.contains(gpu.name()))
}

/// A kernel's profiles for a product, one for each built GPU that has the kernel.
fn profiles(kernel: &'static Kernel, problem: &Problem) -> Vec<Profile> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let profiles: Vec<_> = profiled_gpus(kernel)
        .map(|(gpu, code_object)| {
            let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
            let context = Context::new(&device).unwrap();
            let gemm = Gemm::new(&context, code_object).unwrap();
            let inputs = Inputs::random(problem, 1).unwrap();
            let buffers = inputs.upload(&context, 0).unwrap();
            let mut c = context.upload(inputs.c.bytes()).unwrap();
            let types = problem.types();
            let operands = buffers.operands(types, Target::of_bytes(&mut c, types.output));
            set_profiling(true);
            gemm.run_kernel(kernel, problem, operands).unwrap();
            set_profiling(false);
            let mut profiles = take_profiles();
            assert_eq!(profiles.len(), 1);
            profiles.remove(0)
        })
        .collect();
    assert!(!profiles.is_empty());
    profiles
}

/// Extents of whole tiles, all different.
const M: u64 = 128;
const N: u64 = 64;
const K: u64 = 96;

fn totals(symbol: &str) -> Vec<(Profile, Totals)> {
    let kernel = Kernel::by_symbol(symbol).unwrap();
    let problem = Request::new(M as i64, N as i64, K as i64).check().unwrap();
    let profiles = profiles(kernel, &problem);
    profiles
        .into_iter()
        .map(|profile| {
            let totals = profile.totals();
            (profile, totals)
        })
        .collect()
}

#[test]
fn naive_reads_two_elements_for_each_multiplication() {
    for (profile, totals) in totals("gemm_naive_f32") {
        // Each of the 64 × 4 threads of a workgroup has one element of C.
        let lanes = u64::from(profile.wave_size);
        let waves = M * N / lanes;
        assert_eq!((profile.workgroups, profile.waves), (M * N / 256, waves));
        // Each element is a sum of k products, times α.
        assert_eq!(totals.flops, 2 * M * N * K + M * N);
        assert_eq!((totals.matrix_flops, totals.integer_operations), (0, 0));
        assert_eq!(totals.global_read_bytes, 8 * M * N * K);
        assert_eq!(totals.global_written_bytes, 4 * M * N);
        // A wave reads one or a few consecutive elements of A, and for each lane one of B, which start at a line.
        let lines = 4 * lanes / 128;
        let b_lines = waves * K * lines;
        let c_lines = waves * lines;
        let a_accesses = totals.global_accesses - waves * K - waves;
        assert_eq!(totals.lines_128, a_accesses + b_lines + c_lines);
        assert_eq!(totals.lines_64, a_accesses + 2 * (b_lines + c_lines));
        assert_eq!((totals.barriers, totals.lds_accesses), (0, 0));
        assert_eq!(totals.divergent, 0);
    }
}

#[test]
fn lds_tiling_reads_an_element_once_for_a_tile() {
    const TILE: u64 = 16;
    for (profile, totals) in totals("gemm_lds_tiled_f32") {
        let workgroups = M * N / (TILE * TILE);
        let lanes = u64::from(profile.wave_size);
        let waves = workgroups * (TILE * TILE / lanes);
        assert_eq!((profile.workgroups, profile.waves), (workgroups, waves));
        let tiles = K / TILE;
        assert_eq!(totals.flops, 2 * M * N * K + M * N);
        // Every thread fetches one element of A and one of B per tile.
        assert_eq!(totals.global_read_bytes, workgroups * tiles * 2 * 256 * 4);
        assert_eq!(totals.global_written_bytes, 4 * M * N);
        // It writes both to LDS, and reads the tile's row of A and column of B.
        assert_eq!(
            totals.lds_bytes,
            workgroups * tiles * 256 * 4 * (2 + 2 * TILE)
        );
        assert_eq!(totals.lds_conflict_cycles, 0);
        // One barrier after filling, one after multiplying.
        assert_eq!(totals.barriers, waves * 2 * tiles);
        // The lanes of a wave cover rows of 16 elements, each starting at a line of 64 bytes.
        let accesses = waves * (2 * tiles + 1);
        let rows = lanes / TILE;
        assert_eq!(totals.global_accesses, accesses);
        assert_eq!(
            (totals.lines_64, totals.lines_128),
            (rows * accesses, rows * accesses)
        );
        assert_eq!(totals.divergent, 0);
    }
}

#[test]
fn matrix_cores_do_two_operations_for_each_product() {
    // All kernels on matrix cores, with a tile of their own and twice its k.
    for kernel in CATALOGUE {
        if kernel.variant.unit() == Unit::Vector || profiled_gpus(kernel).next().is_none() {
            continue;
        }
        let BlockTile { m, n, k } = kernel.tile;
        for order_b in [Order::RowMajor, Order::ColumnMajor] {
            let request = Request {
                order_b,
                types: kernel.types,
                ..Request::new(m as i64, n as i64, 2 * k as i64)
            };
            let along_k = kernel.access == Access::WideAlongK || kernel.types.block() > 1;
            if along_k && order_b == Order::RowMajor {
                continue;
            }
            for profile in profiles(kernel, &request.check().unwrap()) {
                let totals = profile.totals();
                let symbol = kernel.symbol;
                // Only those of the elements that a sparse A stores.
                let operations = 4 * (m * n * k) as u64 / u64::from(kernel.types.compression());
                let done = totals.matrix_flops + totals.matrix_integer_operations;
                assert_eq!(done, operations, "{symbol}, {order_b:?}");
                // Step 12 and those after it promise that.
                let is_swizzled =
                    kernel.variant.unit() == Unit::Wmma && kernel.variant != Variant::WmmaWide;
                if is_swizzled {
                    assert_eq!(totals.lds_conflict_cycles, 0, "{symbol}, {order_b:?}");
                }
            }
        }
    }
}
