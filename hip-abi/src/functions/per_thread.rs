//! Functions whose default stream is the calling thread's own, as programs compiled with
//! `-fgpu-default-stream=per-thread` call them: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_per_thread {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// As `hipEventRecord`, for the thread's own default stream.
            optional fn hipEventRecord_spt(
                event: $crate::hipEvent_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipGetDriverEntryPoint`, for the thread's own default stream.
            optional fn hipGetDriverEntryPoint_spt(
                symbol: *const ::core::ffi::c_char,
                func_ptr: *mut *mut ::core::ffi::c_void,
                flags: u64,
                status: *mut $crate::hipDriverProcAddressQueryResult,
            ) -> $crate::hipError_t;
            /// As `hipGraphLaunch`, for the thread's own default stream.
            optional fn hipGraphLaunch_spt(
                graph_exec: $crate::hipGraphExec_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipLaunchCooperativeKernel`, for the thread's own default stream.
            optional fn hipLaunchCooperativeKernel_spt(
                function: *const ::core::ffi::c_void,
                grid_dim: $crate::dim3,
                block_dim: $crate::dim3,
                kernel_params: *mut *mut ::core::ffi::c_void,
                shared_mem_bytes: u32,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipLaunchHostFunc`, for the thread's own default stream.
            optional fn hipLaunchHostFunc_spt(
                stream: $crate::hipStream_t,
                function: $crate::hipHostFn_t,
                user_data: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hipLaunchKernel`, for the thread's own default stream.
            optional fn hipLaunchKernel_spt(
                function_address: *const ::core::ffi::c_void,
                num_blocks: $crate::dim3,
                dim_blocks: $crate::dim3,
                args: *mut *mut ::core::ffi::c_void,
                shared_mem_bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DAsync`, for the thread's own default stream.
            optional fn hipMemcpy2DAsync_spt(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2D`, for the thread's own default stream.
            optional fn hipMemcpy2D_spt(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy3DAsync`, for the thread's own default stream.
            optional fn hipMemcpy3DAsync_spt(
                p: *const $crate::hipMemcpy3DParms,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy3D`, for the thread's own default stream.
            optional fn hipMemcpy3D_spt(p: *const $crate::hipMemcpy3DParms) -> $crate::hipError_t;
            /// As `hipMemcpyAsync`, for the thread's own default stream.
            optional fn hipMemcpyAsync_spt(
                dst: *mut ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyFromSymbolAsync`, for the thread's own default stream.
            optional fn hipMemcpyFromSymbolAsync_spt(
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyFromSymbol`, for the thread's own default stream.
            optional fn hipMemcpyFromSymbol_spt(
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyToSymbolAsync`, for the thread's own default stream.
            optional fn hipMemcpyToSymbolAsync_spt(
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyToSymbol`, for the thread's own default stream.
            optional fn hipMemcpyToSymbol_spt(
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy`, for the thread's own default stream.
            optional fn hipMemcpy_spt(
                dst: *mut ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemset2DAsync`, for the thread's own default stream.
            optional fn hipMemset2DAsync_spt(
                dst: *mut ::core::ffi::c_void,
                pitch: usize,
                value: ::core::ffi::c_int,
                width: usize,
                height: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemset2D`, for the thread's own default stream.
            optional fn hipMemset2D_spt(
                dst: *mut ::core::ffi::c_void,
                pitch: usize,
                value: ::core::ffi::c_int,
                width: usize,
                height: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemset3DAsync`, for the thread's own default stream.
            optional fn hipMemset3DAsync_spt(
                pitched_dev_ptr: $crate::hipPitchedPtr,
                value: ::core::ffi::c_int,
                extent: $crate::hipExtent,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemset3D`, for the thread's own default stream.
            optional fn hipMemset3D_spt(
                pitched_dev_ptr: $crate::hipPitchedPtr,
                value: ::core::ffi::c_int,
                extent: $crate::hipExtent,
            ) -> $crate::hipError_t;
            /// As `hipMemsetAsync`, for the thread's own default stream.
            optional fn hipMemsetAsync_spt(
                dst: *mut ::core::ffi::c_void,
                value: ::core::ffi::c_int,
                size_bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemset`, for the thread's own default stream.
            optional fn hipMemset_spt(
                dst: *mut ::core::ffi::c_void,
                value: ::core::ffi::c_int,
                size_bytes: usize,
            ) -> $crate::hipError_t;
            /// As `hipStreamAddCallback`, for the thread's own default stream.
            optional fn hipStreamAddCallback_spt(
                stream: $crate::hipStream_t,
                callback: $crate::hipStreamCallback_t,
                user_data: *mut ::core::ffi::c_void,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipStreamBeginCapture`, for the thread's own default stream.
            optional fn hipStreamBeginCapture_spt(
                stream: $crate::hipStream_t,
                mode: $crate::hipStreamCaptureMode,
            ) -> $crate::hipError_t;
            /// As `hipStreamEndCapture`, for the thread's own default stream.
            optional fn hipStreamEndCapture_spt(
                stream: $crate::hipStream_t,
                graph: *mut $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// As `hipStreamGetCaptureInfo`, for the thread's own default stream.
            optional fn hipStreamGetCaptureInfo_spt(
                stream: $crate::hipStream_t,
                capture_status: *mut $crate::hipStreamCaptureStatus,
                id: *mut u64,
            ) -> $crate::hipError_t;
            /// As `hipStreamGetCaptureInfo_v2`, for the thread's own default stream.
            optional fn hipStreamGetCaptureInfo_v2_spt(
                stream: $crate::hipStream_t,
                capture_status_out: *mut $crate::hipStreamCaptureStatus,
                id_out: *mut u64,
                graph_out: *mut $crate::hipGraph_t,
                dependencies_out: *mut *const $crate::hipGraphNode_t,
                num_dependencies_out: *mut usize,
            ) -> $crate::hipError_t;
            /// As `hipStreamGetFlags`, for the thread's own default stream.
            optional fn hipStreamGetFlags_spt(
                stream: $crate::hipStream_t,
                flags: *mut ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipStreamGetPriority`, for the thread's own default stream.
            optional fn hipStreamGetPriority_spt(
                stream: $crate::hipStream_t,
                priority: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// As `hipStreamIsCapturing`, for the thread's own default stream.
            optional fn hipStreamIsCapturing_spt(
                stream: $crate::hipStream_t,
                capture_status: *mut $crate::hipStreamCaptureStatus,
            ) -> $crate::hipError_t;
            /// As `hipStreamQuery`, for the thread's own default stream.
            optional fn hipStreamQuery_spt(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// As `hipStreamSynchronize`, for the thread's own default stream.
            optional fn hipStreamSynchronize_spt(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// As `hipStreamWaitEvent`, for the thread's own default stream.
            optional fn hipStreamWaitEvent_spt(
                stream: $crate::hipStream_t,
                event: $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DFromArray`, for the thread's own default stream.
            optional fn hipMemcpy2DFromArray_spt(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: $crate::hipArray_const_t,
                w_offset: usize,
                h_offset: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DFromArrayAsync`, for the thread's own default stream.
            optional fn hipMemcpy2DFromArrayAsync_spt(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: $crate::hipArray_const_t,
                w_offset: usize,
                h_offset: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DToArray`, for the thread's own default stream.
            optional fn hipMemcpy2DToArray_spt(
                dst: $crate::hipArray_t,
                w_offset: usize,
                h_offset: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DToArrayAsync`, for the thread's own default stream.
            optional fn hipMemcpy2DToArrayAsync_spt(
                dst: $crate::hipArray_t,
                w_offset: usize,
                h_offset: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyFromArray`, for the thread's own default stream.
            optional fn hipMemcpyFromArray_spt(
                dst: *mut ::core::ffi::c_void,
                src: $crate::hipArray_const_t,
                w_offset: usize,
                h_offset: usize,
                count: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
        }
    };
}
