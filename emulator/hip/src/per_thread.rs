//! Functions whose default stream is the calling thread's own.

#![expect(clippy::too_many_arguments, reason = "HIP's signatures")]

use std::ffi::{c_int, c_uint, c_void};

use ferrowave_hip_abi::{
    dim3, hipArray_const_t, hipArray_t, hipEvent_t, hipExtent, hipGraph_t, hipGraphExec_t,
    hipGraphNode_t, hipHostFn_t, hipMemcpy3DParms, hipMemcpyKind, hipPitchedPtr, hipStream_t,
    hipStreamCallback_t, hipStreamCaptureMode, hipStreamCaptureStatus,
};

use super::{
    array_copy::{
        hipMemcpy2DFromArray, hipMemcpy2DFromArrayAsync, hipMemcpy2DToArray,
        hipMemcpy2DToArrayAsync, hipMemcpyFromArray,
    },
    callback::{hipLaunchHostFunc, hipStreamAddCallback},
    copy::{
        hipMemcpy, hipMemcpy2D, hipMemcpy2DAsync, hipMemcpy3D, hipMemcpy3DAsync, hipMemcpyAsync,
        hipMemcpyFromSymbol, hipMemcpyFromSymbolAsync, hipMemcpyToSymbol, hipMemcpyToSymbolAsync,
    },
    error::Failure,
    event::hipEventRecord,
    fill::{
        hipMemset, hipMemset2D, hipMemset2DAsync, hipMemset3D, hipMemset3DAsync, hipMemsetAsync,
    },
    graph::capture::{
        hipStreamBeginCapture, hipStreamEndCapture, hipStreamGetCaptureInfo,
        hipStreamGetCaptureInfo_v2, hipStreamIsCapturing,
    },
    graph::executable::hipGraphLaunch,
    launch::{hipLaunchCooperativeKernel, hipLaunchKernel},
    objects::stream::per_thread,
    stream::{
        hipStreamGetFlags, hipStreamGetPriority, hipStreamQuery, hipStreamSynchronize,
        hipStreamWaitEvent,
    },
};

/// Each calls another function such that a null stream means the thread's own default stream.
macro_rules! per_thread {
    ($($name:ident = $plain:ident($($argument:ident: $type:ty),*);)*) => {$(
        pub(super) unsafe fn $name($($argument: $type),*) -> Result<(), Failure> {
            // SAFETY: the caller upholds the same contract.
            per_thread(|| unsafe { $plain($($argument),*) })
        }
    )*};
}

per_thread! {
    hipEventRecord_spt = hipEventRecord(event: hipEvent_t, stream: hipStream_t);
    hipGraphLaunch_spt = hipGraphLaunch(graph_exec: hipGraphExec_t, stream: hipStream_t);
    hipLaunchCooperativeKernel_spt = hipLaunchCooperativeKernel(function: *const c_void, grid_dim: dim3, block_dim: dim3, kernel_params: *mut *mut c_void, shared_mem_bytes: u32, stream: hipStream_t);
    hipLaunchHostFunc_spt = hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, user_data: *mut c_void);
    hipLaunchKernel_spt = hipLaunchKernel(function_address: *const c_void, num_blocks: dim3, dim_blocks: dim3, args: *mut *mut c_void, shared_mem_bytes: usize, stream: hipStream_t);
    hipMemcpy2DAsync_spt = hipMemcpy2DAsync(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpy2DFromArray_spt = hipMemcpy2DFromArray(dst: *mut c_void, dpitch: usize, src: hipArray_const_t, w_offset: usize, h_offset: usize, width: usize, height: usize, kind: hipMemcpyKind);
    hipMemcpy2DFromArrayAsync_spt = hipMemcpy2DFromArrayAsync(dst: *mut c_void, dpitch: usize, src: hipArray_const_t, w_offset: usize, h_offset: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpy2DToArray_spt = hipMemcpy2DToArray(dst: hipArray_t, w_offset: usize, h_offset: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind);
    hipMemcpy2DToArrayAsync_spt = hipMemcpy2DToArrayAsync(dst: hipArray_t, w_offset: usize, h_offset: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpyFromArray_spt = hipMemcpyFromArray(dst: *mut c_void, src: hipArray_const_t, w_offset: usize, h_offset: usize, count: usize, kind: hipMemcpyKind);
    hipMemcpy2D_spt = hipMemcpy2D(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind);
    hipMemcpy3DAsync_spt = hipMemcpy3DAsync(p: *const hipMemcpy3DParms, stream: hipStream_t);
    hipMemcpy3D_spt = hipMemcpy3D(p: *const hipMemcpy3DParms);
    hipMemcpyAsync_spt = hipMemcpyAsync(dst: *mut c_void, src: *const c_void, size_bytes: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpyFromSymbolAsync_spt = hipMemcpyFromSymbolAsync(dst: *mut c_void, symbol: *const c_void, size_bytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpyFromSymbol_spt = hipMemcpyFromSymbol(dst: *mut c_void, symbol: *const c_void, size_bytes: usize, offset: usize, kind: hipMemcpyKind);
    hipMemcpyToSymbolAsync_spt = hipMemcpyToSymbolAsync(symbol: *const c_void, src: *const c_void, size_bytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpyToSymbol_spt = hipMemcpyToSymbol(symbol: *const c_void, src: *const c_void, size_bytes: usize, offset: usize, kind: hipMemcpyKind);
    hipMemcpy_spt = hipMemcpy(dst: *mut c_void, src: *const c_void, size_bytes: usize, kind: hipMemcpyKind);
    hipMemset2DAsync_spt = hipMemset2DAsync(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: hipStream_t);
    hipMemset2D_spt = hipMemset2D(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize);
    hipMemset3DAsync_spt = hipMemset3DAsync(pitched_dev_ptr: hipPitchedPtr, value: c_int, extent: hipExtent, stream: hipStream_t);
    hipMemset3D_spt = hipMemset3D(pitched_dev_ptr: hipPitchedPtr, value: c_int, extent: hipExtent);
    hipMemsetAsync_spt = hipMemsetAsync(dst: *mut c_void, value: c_int, size_bytes: usize, stream: hipStream_t);
    hipMemset_spt = hipMemset(dst: *mut c_void, value: c_int, size_bytes: usize);
    hipStreamAddCallback_spt = hipStreamAddCallback(stream: hipStream_t, callback: hipStreamCallback_t, user_data: *mut c_void, flags: c_uint);
    hipStreamBeginCapture_spt = hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode);
    hipStreamEndCapture_spt = hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t);
    hipStreamGetCaptureInfo_spt = hipStreamGetCaptureInfo(stream: hipStream_t, capture_status: *mut hipStreamCaptureStatus, id: *mut u64);
    hipStreamGetCaptureInfo_v2_spt = hipStreamGetCaptureInfo_v2(stream: hipStream_t, capture_status_out: *mut hipStreamCaptureStatus, id_out: *mut u64, graph_out: *mut hipGraph_t, dependencies_out: *mut *const hipGraphNode_t, num_dependencies_out: *mut usize);
    hipStreamGetFlags_spt = hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint);
    hipStreamGetPriority_spt = hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int);
    hipStreamIsCapturing_spt = hipStreamIsCapturing(stream: hipStream_t, capture_status: *mut hipStreamCaptureStatus);
    hipStreamQuery_spt = hipStreamQuery(stream: hipStream_t);
    hipStreamSynchronize_spt = hipStreamSynchronize(stream: hipStream_t);
    hipStreamWaitEvent_spt = hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint);
}
