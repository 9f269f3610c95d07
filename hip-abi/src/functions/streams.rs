//! Streams and events: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_streams {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Makes a stream on the current device.
            required fn hipStreamCreate(stream: *mut $crate::hipStream_t) -> $crate::hipError_t;
            /// Makes a stream on the current device. `hipErrorInvalidValue` for unknown flags.
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
            /// Lets a stream wait for an event, for which `flags` must be 0.
            required fn hipStreamWaitEvent(
                stream: $crate::hipStream_t,
                event: $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;

            /// Makes an event with a time.
            required fn hipEventCreate(event: *mut $crate::hipEvent_t) -> $crate::hipError_t;
            /// Makes an event. `hipErrorInvalidValue` for unknown flags.
            required fn hipEventCreateWithFlags(
                event: *mut $crate::hipEvent_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys an event.
            required fn hipEventDestroy(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// Puts an event in a stream.
            required fn hipEventRecord(
                event: $crate::hipEvent_t,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Waits until a stream has come to the event, and returns the stream's errors.
            required fn hipEventSynchronize(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// `hipSuccess` if the stream has come to the event or it was never recorded, `hipErrorNotReady` if not.
            required fn hipEventQuery(event: $crate::hipEvent_t) -> $crate::hipError_t;
            /// Milliseconds from one event to another. `hipErrorInvalidHandle` if one was never recorded or has no time.
            required fn hipEventElapsedTime(
                milliseconds: *mut f32,
                start: $crate::hipEvent_t,
                stop: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Makes a stream on the current device; priorities are without effect.
            optional fn hipStreamCreateWithPriority(
                stream: *mut $crate::hipStream_t,
                flags: ::core::ffi::c_uint,
                priority: ::core::ffi::c_int,
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
            /// A stream's device.
            optional fn hipStreamGetDevice(
                stream: $crate::hipStream_t,
                device: *mut $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// A number that no other stream has.
            optional fn hipStreamGetId(stream: $crate::hipStream_t, stream_id: *mut u64) -> $crate::hipError_t;
            /// A stream's device; -1 if it is none.
            optional fn hipGetStreamDeviceId(stream: $crate::hipStream_t) -> ::core::ffi::c_int;
            /// As `hipLaunchHostFunc`; the callback also learns whether the stream failed. `flags` must be 0.
            optional fn hipStreamAddCallback(
                stream: $crate::hipStream_t,
                callback: $crate::hipStreamCallback_t,
                user_data: *mut ::core::ffi::c_void,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Has a stream's work go to a graph instead of the device. `hipErrorIllegalState` if it does so already.
            optional fn hipStreamBeginCapture(
                stream: $crate::hipStream_t,
                mode: $crate::hipStreamCaptureMode,
            ) -> $crate::hipError_t;
            /// Ends that and gives the graph. `hipErrorStreamCaptureUnjoined` if another stream's work did not come
            /// back.
            optional fn hipStreamEndCapture(
                stream: $crate::hipStream_t,
                graph: *mut $crate::hipGraph_t,
            ) -> $crate::hipError_t;
            /// Whether a stream's work goes to a graph.
            optional fn hipStreamIsCapturing(
                stream: $crate::hipStream_t,
                capture_status: *mut $crate::hipStreamCaptureStatus,
            ) -> $crate::hipError_t;
            /// The same, and a number for the capture.
            optional fn hipStreamGetCaptureInfo(
                stream: $crate::hipStream_t,
                capture_status: *mut $crate::hipStreamCaptureStatus,
                id: *mut u64,
            ) -> $crate::hipError_t;
            /// The same, the graph and the nodes that the next one depends on; results but the status may be null.
            /// The nodes are valid until the stream's next call.
            optional fn hipStreamGetCaptureInfo_v2(
                stream: $crate::hipStream_t,
                capture_status_out: *mut $crate::hipStreamCaptureStatus,
                id_out: *mut u64,
                graph_out: *mut $crate::hipGraph_t,
                dependencies_out: *mut *const $crate::hipGraphNode_t,
                num_dependencies_out: *mut usize,
            ) -> $crate::hipError_t;
            /// Changes the nodes that the next one depends on.
            optional fn hipStreamUpdateCaptureDependencies(
                stream: $crate::hipStream_t,
                dependencies: *mut $crate::hipGraphNode_t,
                num_dependencies: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Swaps the calling thread's mode of capture with the given one.
            optional fn hipThreadExchangeStreamCaptureMode(
                mode: *mut $crate::hipStreamCaptureMode,
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
