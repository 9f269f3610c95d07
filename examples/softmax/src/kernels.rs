//! The kernels: softmax with one workgroup per row, transpose with one workgroup per tile.

use core::{
    arch::amdgpu::{s_barrier, workgroup_id_x, workgroup_id_y, workitem_id_x, workitem_id_y},
    f32::consts::LOG2_E,
    intrinsics::{exp2, gpu::gpu_launch_sized_workgroup_mem},
    sync::atomic::{Ordering, compiler_fence},
};

use ferrowave_panic as _; // The panic handler.

/// Work-items of a workgroup of `softmax`, as in the launch bounds in Cargo.toml.
const THREADS: usize = 256;
/// Rows and columns of a tile of `transpose`.
const TILE: usize = 32;
/// Rows of a tile that a workgroup of `transpose` moves at once; it has TILE · ROWS work-items.
const ROWS: usize = 8;
/// Elements from one row of a tile in LDS to the next: with one more than TILE, a column is spread over all banks.
const PITCH: usize = TILE + 1;

/// Each row of `output` is the softmax of that row of `input`: eˣ / Σ eˣ. Row-major, `columns` elements per row.
///
/// Launch one workgroup of 256 work-items per row, with 1024 bytes of LDS.
///
/// # Safety
/// Both must have `columns` elements for each workgroup of the grid.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn softmax(input: *const f32, output: *mut f32, columns: u32) {
    let columns = columns as usize;
    let start = workgroup_id_x() as usize * columns;
    let own = (workitem_id_x() as usize..columns).step_by(THREADS);

    // The maximum is subtracted from all elements, so that no power overflows.
    let mut largest = f32::NEG_INFINITY;
    for column in own.clone() {
        // SAFETY: within the row.
        largest = largest.max(unsafe { *input.add(start + column) });
    }
    let largest = reduce(largest, f32::max);

    let mut sum = 0.0;
    for column in own.clone() {
        // SAFETY: within the row.
        unsafe {
            let power = exp2((*input.add(start + column) - largest) * LOG2_E);
            *output.add(start + column) = power;
            sum += power;
        }
    }
    let sum = reduce(sum, |a, b| a + b);

    for column in own {
        // SAFETY: within the row, and this work-item's own.
        unsafe { *output.add(start + column) /= sum };
    }
}

/// `output` is the transpose of `input`. Row-major; `input` has `rows` rows of `columns` elements.
///
/// Launch a workgroup of 32 × 8 work-items per tile of 32 × 32, tiles of a row along x, with 4224 bytes of LDS.
///
/// # Safety
/// Both must have `rows` · `columns` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn transpose(
    input: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
) {
    let (rows, columns) = (rows as usize, columns as usize);
    let (x, y) = (workitem_id_x() as usize, workitem_id_y() as usize);
    let (left, top) = (
        workgroup_id_x() as usize * TILE,
        workgroup_id_y() as usize * TILE,
    );
    let tile = gpu_launch_sized_workgroup_mem::<f32>();
    for line in (y..TILE).step_by(ROWS) {
        if top + line < rows && left + x < columns {
            // SAFETY: within the matrix and the tile.
            unsafe { *tile.add(line * PITCH + x) = *input.add((top + line) * columns + left + x) };
        }
    }
    barrier();
    // Adjacent work-items read a column of the tile and write a row of the output: both matrices are accessed by rows.
    for line in (y..TILE).step_by(ROWS) {
        if left + line < columns && top + x < rows {
            // SAFETY: within the matrix and the tile, whose element was written before the barrier.
            unsafe { *output.add((left + line) * rows + top + x) = *tile.add(x * PITCH + line) };
        }
    }
}

/// Combines the values of all work-items of the workgroup in a tree; all of them get the result.
fn reduce(value: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let values = gpu_launch_sized_workgroup_mem::<f32>();
    let own = workitem_id_x() as usize;
    // SAFETY: the launch provides LDS for one value per work-item; barriers separate writes from reads by others.
    unsafe {
        *values.add(own) = value;
        barrier();
        let mut half = THREADS / 2;
        while half > 0 {
            if own < half {
                *values.add(own) = combine(*values.add(own), *values.add(own + half));
            }
            barrier();
            half /= 2;
        }
        let result = *values;
        // The next reduction must not write before all work-items have read.
        barrier();
        result
    }
}

/// Waits until every work-item of the workgroup has arrived and its LDS accesses are done.
fn barrier() {
    // Compiler fences are enough: the hardware's fences are for global memory.
    compiler_fence(Ordering::Release);
    // SAFETY: the wait, for LDS only, has no other effect.
    unsafe { core::arch::asm!("s_waitcnt lgkmcnt(0)", options(nostack)) };
    s_barrier();
    compiler_fence(Ordering::Acquire);
}
