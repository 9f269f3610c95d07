//! Execution contexts: rows of [`for_each_hip_function!`](crate::for_each_hip_function).
//!
//! Each is a part of a device's compute units with streams that use them. Here streams use all of them; the parts are what
//! programs are told.

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_execution_contexts {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// All of a device's compute units. `hipErrorInvalidResourceType` for other kinds of resources.
            optional fn hipDeviceGetDevResource(
                device: $crate::hipDevice_t,
                resource: *mut $crate::hipDevResource,
                resource_type: $crate::hipDevResourceType,
            ) -> $crate::hipError_t;
            /// Splits compute units into up to `*num_groups` groups of `min_count`, rounded up to the alignment of `input`, and
            /// sets `*num_groups` to their number; only that if `result` is null. The rest is `remainder`, if that is not null.
            /// `hipErrorNotSupported` for flags.
            optional fn hipDevSmResourceSplitByCount(
                result: *mut $crate::hipDevResource,
                num_groups: *mut ::core::ffi::c_uint,
                input: *const $crate::hipDevResource,
                remainder: *mut $crate::hipDevResource,
                flags: ::core::ffi::c_uint,
                min_count: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Splits compute units into groups that the caller describes. `hipErrorInvalidResourceConfiguration` if there are
            /// too few.
            optional fn hipDevSmResourceSplit(
                result: *mut $crate::hipDevResource,
                num_groups: ::core::ffi::c_uint,
                input: *const $crate::hipDevResource,
                remainder: *mut $crate::hipDevResource,
                flags: ::core::ffi::c_uint,
                group_params: *mut $crate::hipDevSmResourceGroupParams,
            ) -> $crate::hipError_t;
            /// Describes resources for a new context. `hipErrorInvalidResourceConfiguration` for compute units of several
            /// devices or splits.
            optional fn hipDevResourceGenerateDesc(
                desc: *mut $crate::hipDevResourceDesc_t,
                resources: *mut $crate::hipDevResource,
                num_resources: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Makes a context. `flags` must be 0.
            optional fn hipGreenCtxCreate(
                ctx: *mut $crate::hipExecutionCtx_t,
                desc: $crate::hipDevResourceDesc_t,
                device: ::core::ffi::c_int,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Destroys a context. Its streams stay. A device's own context cannot be destroyed.
            optional fn hipExecutionCtxDestroy(ctx: $crate::hipExecutionCtx_t) -> $crate::hipError_t;
            /// A device's own context, with all its compute units.
            optional fn hipDeviceGetExecutionCtx(
                ctx: *mut $crate::hipExecutionCtx_t,
                device: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// As `hipStreamCreateWithPriority`, on a context's device.
            optional fn hipExecutionCtxStreamCreate(
                stream: *mut $crate::hipStream_t,
                ctx: $crate::hipExecutionCtx_t,
                flags: ::core::ffi::c_uint,
                priority: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The resources of a context. `resource` has room for as many as the context was made of.
            /// `hipErrorInvalidResourceType` if it has none of this kind.
            optional fn hipExecutionCtxGetDevResource(
                ctx: $crate::hipExecutionCtx_t,
                resource: *mut $crate::hipDevResource,
                resource_type: $crate::hipDevResourceType,
            ) -> $crate::hipError_t;
            /// The device of a context.
            optional fn hipExecutionCtxGetDevice(
                device: *mut ::core::ffi::c_int,
                ctx: $crate::hipExecutionCtx_t,
            ) -> $crate::hipError_t;
            /// A number that no other context has.
            optional fn hipExecutionCtxGetId(
                ctx: $crate::hipExecutionCtx_t,
                ctx_id: *mut ::core::ffi::c_ulonglong,
            ) -> $crate::hipError_t;
            /// The compute units that a stream was created with. Kinds as in `hipDeviceGetDevResource`.
            optional fn hipStreamGetDevResource(
                stream: $crate::hipStream_t,
                resource: *mut $crate::hipDevResource,
                resource_type: $crate::hipDevResourceType,
            ) -> $crate::hipError_t;
            /// Records an event after the work so far of all streams of a context. Without streams it is not recorded.
            optional fn hipExecutionCtxRecordEvent(
                ctx: $crate::hipExecutionCtx_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// Waits for the work of all streams of a context.
            optional fn hipExecutionCtxSynchronize(ctx: $crate::hipExecutionCtx_t) -> $crate::hipError_t;
            /// Makes all streams of a context wait for an event.
            optional fn hipExecutionCtxWaitEvent(
                ctx: $crate::hipExecutionCtx_t,
                event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
        }
    };
}
