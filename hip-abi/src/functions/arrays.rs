//! Arrays: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_arrays {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Makes an array of one or two dimensions on the current device. `hipErrorNotSupported` on a GPU without
            /// images, `hipErrorInvalidValue` for a width of 0 and for formats that no array has.
            optional fn hipArrayCreate(
                array: *mut $crate::hipArray_t,
                descriptor: *const $crate::HIP_ARRAY_DESCRIPTOR,
            ) -> $crate::hipError_t;
            /// As `hipArrayCreate`, with up to three dimensions, or layers. Arrays are no cube maps.
            optional fn hipArray3DCreate(
                array: *mut $crate::hipArray_t,
                descriptor: *const $crate::HIP_ARRAY3D_DESCRIPTOR,
            ) -> $crate::hipError_t;
            /// Destroys an array after the device's work. `hipErrorContextIsDestroyed` if there is none,
            /// `hipErrorInvalidValue` for null.
            optional fn hipArrayDestroy(array: $crate::hipArray_t) -> $crate::hipError_t;
            /// As `hipArrayCreate`. Channels of an element have the same size.
            optional fn hipMallocArray(
                array: *mut $crate::hipArray_t,
                desc: *const $crate::hipChannelFormatDesc,
                width: usize,
                height: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipArray3DCreate`. The width is in elements.
            optional fn hipMalloc3DArray(
                array: *mut $crate::hipArray_t,
                desc: *const $crate::hipChannelFormatDesc,
                extent: $crate::hipExtent,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipArrayDestroy`.
            optional fn hipFreeArray(array: $crate::hipArray_t) -> $crate::hipError_t;
            /// An array's channels, size in elements and flags; each result may be null.
            optional fn hipArrayGetInfo(
                desc: *mut $crate::hipChannelFormatDesc,
                extent: *mut $crate::hipExtent,
                flags: *mut ::core::ffi::c_uint,
                array: $crate::hipArray_t,
            ) -> $crate::hipError_t;
            /// An array's first two dimensions and its format.
            optional fn hipArrayGetDescriptor(
                descriptor: *mut $crate::HIP_ARRAY_DESCRIPTOR,
                array: $crate::hipArray_t,
            ) -> $crate::hipError_t;
            /// An array's description.
            optional fn hipArray3DGetDescriptor(
                descriptor: *mut $crate::HIP_ARRAY3D_DESCRIPTOR,
                array: $crate::hipArray_t,
            ) -> $crate::hipError_t;
            /// An array's channels.
            optional fn hipGetChannelDesc(
                desc: *mut $crate::hipChannelFormatDesc,
                array: $crate::hipArray_const_t,
            ) -> $crate::hipError_t;
            /// Copies rows to an array, from a row and a byte of it on. `hipErrorInvalidValue` if they do not fit.
            optional fn hipMemcpy2DToArray(
                dst: $crate::hipArray_t,
                w_offset: usize,
                h_offset: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DToArray`, in a stream.
            optional fn hipMemcpy2DToArrayAsync(
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
            /// Copies rows from an array.
            optional fn hipMemcpy2DFromArray(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: $crate::hipArray_const_t,
                w_offset: usize,
                h_offset: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2DFromArray`, in a stream.
            optional fn hipMemcpy2DFromArrayAsync(
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
            /// Copies rows between arrays.
            optional fn hipMemcpy2DArrayToArray(
                dst: $crate::hipArray_t,
                w_offset_dst: usize,
                h_offset_dst: usize,
                src: $crate::hipArray_const_t,
                w_offset_src: usize,
                h_offset_src: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Copies `count` bytes to an array's rows.
            optional fn hipMemcpyToArray(
                dst: $crate::hipArray_t,
                w_offset: usize,
                h_offset: usize,
                src: *const ::core::ffi::c_void,
                count: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Copies `count` bytes from an array's rows.
            optional fn hipMemcpyFromArray(
                dst: *mut ::core::ffi::c_void,
                src: $crate::hipArray_const_t,
                w_offset: usize,
                h_offset: usize,
                count: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Copies bytes of the first row of an array to that of another.
            optional fn hipMemcpyAtoA(
                dst: $crate::hipArray_t,
                dst_offset: usize,
                src: $crate::hipArray_t,
                src_offset: usize,
                count: usize,
            ) -> $crate::hipError_t;
            /// Copies bytes of an array's first row to device memory.
            optional fn hipMemcpyAtoD(
                dst: $crate::hipDeviceptr_t,
                src: $crate::hipArray_t,
                src_offset: usize,
                count: usize,
            ) -> $crate::hipError_t;
            /// Copies bytes of an array's first row to host memory.
            optional fn hipMemcpyAtoH(
                dst: *mut ::core::ffi::c_void,
                src: $crate::hipArray_t,
                src_offset: usize,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyAtoH`, in a stream.
            optional fn hipMemcpyAtoHAsync(
                dst: *mut ::core::ffi::c_void,
                src: $crate::hipArray_t,
                src_offset: usize,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies device memory to an array's first row.
            optional fn hipMemcpyDtoA(
                dst: $crate::hipArray_t,
                dst_offset: usize,
                src: $crate::hipDeviceptr_t,
                count: usize,
            ) -> $crate::hipError_t;
            /// Copies host memory to an array's first row.
            optional fn hipMemcpyHtoA(
                dst: $crate::hipArray_t,
                dst_offset: usize,
                src: *const ::core::ffi::c_void,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyHtoA`, in a stream.
            optional fn hipMemcpyHtoAAsync(
                dst: $crate::hipArray_t,
                dst_offset: usize,
                src: *const ::core::ffi::c_void,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
        }
    };
}
