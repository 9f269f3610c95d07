//! Streams and events: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_streams {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Creates a stream on the current device.
            required fn hipStreamCreate(stream: *mut $crate::hipStream_t) -> $crate::hipError_t;
            /// Creates a stream on the current device. `hipErrorInvalidValue` for unknown flags.
            required fn hipStreamCreateWithFlags(
                stream: *mut $crate::hipStream_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys a stream after its work; the default streams cannot be destroyed.
            required fn hipStreamDestroy(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// Waits for a stream's work, and returns its errors.
            required fn hipStreamSynchronize(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// `hipSuccess` if a stream has no work left, `hipErrorNotReady` if it has.
            required fn hipStreamQuery(stream: $crate::hipStream_t) -> $crate::hipError_t;
            /// Makes a stream wait for an event. `flags` must be 0.
            required fn hipStreamWaitEvent(
                stream: $crate::hipStream_t,
                event: $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;

            /// Creates an event that records the time.
            required fn hipEventCreate(event: *mut $crate::hipEvent_t) -> $crate::hipError_t;
            /// Creates an event. `hipErrorInvalidValue` for unknown flags.
            required fn hipEventCreateWithFlags(
                event: *mut $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys an event.
            required fn hipEventDestroy(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// Records an event in a stream.
            required fn hipEventRecord(
                event: $crate::hipEvent_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Waits until the stream has reached the event, and returns the stream's errors.
            required fn hipEventSynchronize(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// `hipSuccess` if the stream has reached the event or it was never recorded, else `hipErrorNotReady`.
            required fn hipEventQuery(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// Milliseconds between two events. `hipErrorInvalidHandle` if one was never recorded or records no time.
            required fn hipEventElapsedTime(
                milliseconds: *mut f32,
                start: $crate::hipEvent_t,
                stop: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Creates a stream on the current device; priorities have no effect.
            optional fn hipStreamCreateWithPriority(
                stream: *mut $crate::hipStream_t,
                flags: ::core::ffi::c_uint,
                priority: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Creates a stream with a mask of compute units, 32 a word. `hipErrorInvalidHandle` for a null `stream`.
            optional fn hipExtStreamCreateWithCUMask(
                stream: *mut $crate::hipStream_t,
                cu_mask_size: u32,
                cu_mask: *const u32,
            ) -> $crate::hipError_t;
            /// The compute units that a stream may use.
            optional fn hipExtStreamGetCUMask(
                stream: $crate::hipStream_t,
                cu_mask_size: u32,
                cu_mask: *mut u32,
            ) -> $crate::hipError_t;
            /// Makes a stream wait until the value at an address fulfils a condition (`hipStreamWaitValue…`) with `value`.
            /// `mask` selects its bits.
            optional fn hipStreamWaitValue32(
                stream: $crate::hipStream_t,
                ptr: *mut ::core::ffi::c_void,
                value: u32,
                flags: ::core::ffi::c_uint,
                mask: u32,
            ) -> $crate::hipError_t;
            /// As `hipStreamWaitValue32`, for 64 bits.
            optional fn hipStreamWaitValue64(
                stream: $crate::hipStream_t,
                ptr: *mut ::core::ffi::c_void,
                value: u64,
                flags: ::core::ffi::c_uint,
                mask: u64,
            ) -> $crate::hipError_t;
            /// Writes 4 bytes in stream order. `flags` is ignored.
            optional fn hipStreamWriteValue32(
                stream: $crate::hipStream_t,
                ptr: *mut ::core::ffi::c_void,
                value: u32,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Writes 8 bytes in stream order. `flags` is ignored.
            optional fn hipStreamWriteValue64(
                stream: $crate::hipStream_t,
                ptr: *mut ::core::ffi::c_void,
                value: u64,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Up to 255 of these waits and writes, one after the other. `flags` must be 0.
            optional fn hipStreamBatchMemOp(
                stream: $crate::hipStream_t,
                count: ::core::ffi::c_uint,
                param_array: *mut $crate::hipStreamBatchMemOpParams,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// A stream's priority.
            optional fn hipStreamGetPriority(
                stream: $crate::hipStream_t,
                priority: *mut ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// A stream's flags.
            optional fn hipStreamGetFlags(
                stream: $crate::hipStream_t,
                flags: *mut ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Sets an attribute of a stream: the policy (3, `hipSynchronizationPolicy`) by which threads wait for it.
            /// It is only stored. `hipErrorInvalidValue` for others, `hipErrorStreamCaptureUnsupported` during a capture.
            optional fn hipStreamSetAttribute(
                stream: $crate::hipStream_t,
                attr: ::core::ffi::c_uint,
                value: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// An attribute of a stream: the policy (3) or the priority (8, `int`).
            optional fn hipStreamGetAttribute(
                stream: $crate::hipStream_t,
                attr: ::core::ffi::c_uint,
                value_out: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Copies the attributes that can be set.
            optional fn hipStreamCopyAttributes(
                dst: $crate::hipStream_t,
                src: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// A stream's device.
            optional fn hipStreamGetDevice(
                stream: $crate::hipStream_t,
                device: *mut $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// A unique number of the stream.
            optional fn hipStreamGetId(stream: $crate::hipStream_t, stream_id: *mut u64) -> $crate::hipError_t;
            /// A stream's device; -1 if the handle is invalid.
            optional fn hipGetStreamDeviceId(stream: $crate::hipStream_t) -> ::core::ffi::c_int;
            /// As `hipLaunchHostFunc`; the callback also gets the stream's error. `flags` must be 0.
            optional fn hipStreamAddCallback(
                stream: $crate::hipStream_t,
                callback: $crate::hipStreamCallback_t,
                user_data: *mut ::core::ffi::c_void,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Starts to capture a stream's work in a graph. `hipErrorIllegalState` if it is being captured already.
            optional fn hipStreamBeginCapture(
                stream: $crate::hipStream_t,
                mode: $crate::hipStreamCaptureMode,
            ) -> $crate::hipError_t;
            /// Ends a capture and returns the graph. `hipErrorStreamCaptureUnjoined` if another stream of the capture
            /// was not joined.
            optional fn hipStreamEndCapture(
                stream: $crate::hipStream_t,
                graph: *mut $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// Whether a stream is being captured.
            optional fn hipStreamIsCapturing(
                stream: $crate::hipStream_t,
                capture_status: *mut $crate::hipStreamCaptureStatus,
            ) -> $crate::hipError_t;
            /// The status and the ID of a stream's capture.
            optional fn hipStreamGetCaptureInfo(
                stream: $crate::hipStream_t,
                capture_status: *mut $crate::hipStreamCaptureStatus,
                id: *mut u64,
            ) -> $crate::hipError_t;
            /// Status, ID and graph of a capture, and the next node's dependencies, which are valid until the stream's
            /// next call. All results but the status may be null.
            optional fn hipStreamGetCaptureInfo_v2(
                stream: $crate::hipStream_t,
                capture_status_out: *mut $crate::hipStreamCaptureStatus,
                id_out: *mut u64,
                graph_out: *mut $crate::hipGraph_t,
                dependencies_out: *mut *const $crate::hipGraphNode_t,
                num_dependencies_out: *mut usize,
            ) -> $crate::hipError_t;
            /// Changes the nodes that the next node of a capture depends on.
            optional fn hipStreamUpdateCaptureDependencies(
                stream: $crate::hipStream_t,
                dependencies: *mut $crate::hipGraphNode_t,
                num_dependencies: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Swaps the calling thread's capture mode with the given one.
            optional fn hipThreadExchangeStreamCaptureMode(
                mode: *mut $crate::hipStreamCaptureMode,
            ) -> $crate::hipError_t;
            /// A handle with which other processes can open an event of `hipEventInterprocess` while it exists.
            /// `hipErrorInvalidConfiguration` for another event, `hipErrorInvalidValue` for none.
            optional fn hipIpcGetEventHandle(
                handle: *mut $crate::hipIpcEventHandle_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Opens an event of another process. `hipErrorInvalidContext` in the process of the handle,
            /// `hipErrorInvalidValue` if the event was destroyed or the process has ended.
            optional fn hipIpcOpenEventHandle(
                event: *mut $crate::hipEvent_t,
                handle: $crate::hipIpcEventHandle_t,
            ) -> $crate::hipError_t;
            /// As `hipEventRecord`, with flags 0 or 1 (external to a capture).
            optional fn hipEventRecordWithFlags(
                event: $crate::hipEvent_t,
                stream: $crate::hipStream_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
        }
    };
}
