//! The kernels. Each takes a workgroup of 256 work-items.

use core::{
    arch::{
        amdgpu::{s_barrier, workgroup_id_x, workitem_id_x},
        asm,
    },
    intrinsics::gpu::gpu_launch_sized_workgroup_mem,
    sync::atomic::{Ordering, compiler_fence},
};

use ferrowave_panic as _; // The panic handler.

/// Work-items of a workgroup.
const THREADS: usize = 256;
/// Rows and columns of the matrix that a workgroup transposes.
const TILE: usize = 32;

/// Reverses each 256 elements. The barrier between writes and reads is missing.
///
/// # Safety
/// `data` has 256 elements for each workgroup, and the launch 1024 bytes of LDS.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reverse_racy(data: *mut f32) {
    // SAFETY: as the caller promises.
    unsafe { reverse_with(data, || ()) };
}

/// Reverses each 256 elements.
///
/// # Safety
/// As of [`reverse_racy`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reverse(data: *mut f32) {
    // SAFETY: as the caller promises.
    unsafe { reverse_with(data, barrier) };
}

unsafe fn reverse_with(data: *mut f32, between: impl Fn()) {
    let own = workitem_id_x() as usize;
    let tile = gpu_launch_sized_workgroup_mem::<f32>();
    // SAFETY: both have an element for each work-item.
    unsafe {
        let data = data.add(workgroup_id_x() as usize * THREADS);
        *tile.add(own) = *data.add(own);
        between();
        *data.add(own) = *tile.add(THREADS - 1 - own);
    }
}

/// Doubles each element. The instruction after the load does not wait for it.
///
/// # Safety
/// `data` has 256 elements for each workgroup.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn scale_early(data: *mut f32) {
    // SAFETY: within the data.
    unsafe {
        let data = own_element(data);
        let value: f32;
        // A load that leaves nothing in the caches.
        asm!("global_load_dword {value}, {data}, off nt", value = out(vgpr32) value, data = in(vgpr64) data);
        *data = 2.0 * value;
    }
}

/// Doubles each element.
///
/// # Safety
/// As of [`scale_early`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn scale(data: *mut f32) {
    // SAFETY: within the data.
    unsafe {
        let data = own_element(data);
        let value: f32;
        asm!(
            "global_load_dword {value}, {data}, off nt",
            "s_waitcnt vmcnt(0)",
            value = out(vgpr32) value,
            data = in(vgpr64) data,
        );
        *data = 2.0 * value;
    }
}

unsafe fn own_element(data: *mut f32) -> *mut f32 {
    // SAFETY: within the data, as the caller promises.
    unsafe { data.add(workgroup_id_x() as usize * THREADS + workitem_id_x() as usize) }
}

/// Transposes a matrix of 32 × 32 in place. In LDS, a row is 32 elements: as many as LDS has banks.
///
/// # Safety
/// `matrix` has 1024 elements for each workgroup, and the launch 4096 bytes of LDS.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn transpose_conflicts(matrix: *mut f32) {
    // SAFETY: as the caller promises.
    unsafe { transpose_with::<TILE>(matrix) };
}

/// Transposes a matrix of 32 × 32 in place. In LDS, a row is 33 elements, so that a column is spread over all banks.
///
/// # Safety
/// `matrix` has 1024 elements for each workgroup, and the launch 4224 bytes of LDS.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn transpose(matrix: *mut f32) {
    // SAFETY: as the caller promises.
    unsafe { transpose_with::<{ TILE + 1 }>(matrix) };
}

unsafe fn transpose_with<const PITCH: usize>(matrix: *mut f32) {
    let (x, y) = (
        workitem_id_x() as usize % TILE,
        workitem_id_x() as usize / TILE,
    );
    let tile = gpu_launch_sized_workgroup_mem::<f32>();
    // SAFETY: within the matrix and the tile; a barrier separates the writes from the reads.
    unsafe {
        let matrix = matrix.add(workgroup_id_x() as usize * TILE * TILE);
        for row in (y..TILE).step_by(THREADS / TILE) {
            *tile.add(row * PITCH + x) = *matrix.add(row * TILE + x);
        }
        barrier();
        for row in (y..TILE).step_by(THREADS / TILE) {
            *matrix.add(row * TILE + x) = *tile.add(x * PITCH + row);
        }
    }
}

/// Waits until every work-item of the workgroup has arrived and its LDS accesses are done.
fn barrier() {
    // Compiler fences are enough: the hardware's fences are for global memory.
    compiler_fence(Ordering::Release);
    // SAFETY: the wait, for LDS only, has no other effect.
    unsafe { asm!("s_waitcnt lgkmcnt(0)", options(nostack)) };
    s_barrier();
    compiler_fence(Ordering::Acquire);
}
