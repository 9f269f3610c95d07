//! Copies and fills: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_copies {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Copies on the default stream. `hipErrorInvalidMemcpyDirection` for an unknown kind.
            required fn hipMemcpy(
                to: *mut ::core::ffi::c_void,
                from: *const ::core::ffi::c_void,
                bytes: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// Copies in a stream.
            required fn hipMemcpyAsync(
                to: *mut ::core::ffi::c_void,
                from: *const ::core::ffi::c_void,
                bytes: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from host to device.
            required fn hipMemcpyHtoD(
                to: $crate::hipDeviceptr_t,
                from: *const ::core::ffi::c_void,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Copies from device to host.
            required fn hipMemcpyDtoH(
                to: *mut ::core::ffi::c_void,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Copies from device to device.
            required fn hipMemcpyDtoD(
                to: $crate::hipDeviceptr_t,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// Copies from host to device in a stream.
            required fn hipMemcpyHtoDAsync(
                to: $crate::hipDeviceptr_t,
                from: *const ::core::ffi::c_void,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from device to host in a stream.
            required fn hipMemcpyDtoHAsync(
                to: *mut ::core::ffi::c_void,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from device to device in a stream.
            required fn hipMemcpyDtoDAsync(
                to: $crate::hipDeviceptr_t,
                from: $crate::hipDeviceptr_t,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `bytes` bytes to the low 8 bits of `value`.
            required fn hipMemset(
                address: *mut ::core::ffi::c_void,
                value: ::core::ffi::c_int,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemset`, in a stream.
            required fn hipMemsetAsync(
                address: *mut ::core::ffi::c_void,
                value: ::core::ffi::c_int,
                bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `count` bytes.
            required fn hipMemsetD8(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_uchar,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD8`, in a stream.
            required fn hipMemsetD8Async(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_uchar,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `count` words of 4 bytes.
            required fn hipMemsetD32(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_int,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD32`, in a stream.
            required fn hipMemsetD32Async(
                address: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_int,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies in a stream and waits for it.
            optional fn hipMemcpyWithStream(
                dst: *mut ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies `height` rows of `width` bytes; each row starts one pitch after the previous one.
            optional fn hipMemcpy2D(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpy2D`, in a stream.
            optional fn hipMemcpy2DAsync(
                dst: *mut ::core::ffi::c_void,
                dpitch: usize,
                src: *const ::core::ffi::c_void,
                spitch: usize,
                width: usize,
                height: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies rows as a struct describes; arrays are not supported.
            optional fn hipMemcpyParam2D(copy: *const $crate::hip_Memcpy2D) -> $crate::hipError_t;
            /// As `hipMemcpyParam2D`, in a stream.
            optional fn hipMemcpyParam2DAsync(
                copy: *const $crate::hip_Memcpy2D,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyParam2D`.
            optional fn hipDrvMemcpy2DUnaligned(copy: *const $crate::hip_Memcpy2D) -> $crate::hipError_t;
            /// Copies layers of rows as a struct describes; arrays are not supported.
            optional fn hipMemcpy3D(p: *const $crate::hipMemcpy3DParms) -> $crate::hipError_t;
            /// As `hipMemcpy3D`, in a stream.
            optional fn hipMemcpy3DAsync(
                p: *const $crate::hipMemcpy3DParms,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies layers of rows as a struct describes; arrays are not supported.
            optional fn hipDrvMemcpy3D(copy: *const $crate::HIP_MEMCPY3D) -> $crate::hipError_t;
            /// As `hipDrvMemcpy3D`, in a stream.
            optional fn hipDrvMemcpy3DAsync(
                copy: *const $crate::HIP_MEMCPY3D,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from one device to another.
            optional fn hipMemcpyPeer(
                dst: *mut ::core::ffi::c_void,
                dst_device_id: ::core::ffi::c_int,
                src: *const ::core::ffi::c_void,
                src_device_id: ::core::ffi::c_int,
                size_bytes: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyPeer`, in a stream.
            optional fn hipMemcpyPeerAsync(
                dst: *mut ::core::ffi::c_void,
                dst_device_id: ::core::ffi::c_int,
                src: *const ::core::ffi::c_void,
                src_device: ::core::ffi::c_int,
                size_bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies layers of rows from one device to another as a struct describes.
            optional fn hipMemcpy3DPeer(p: *mut $crate::hipMemcpy3DPeerParms) -> $crate::hipError_t;
            /// As `hipMemcpy3DPeer`, in a stream.
            optional fn hipMemcpy3DPeerAsync(
                p: *mut $crate::hipMemcpy3DPeerParms,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies `count` ranges in a stream, all or none. Attributes apply from the copy of their index on; there may be
            /// none. `hipErrorInvalidValue` for a wrong copy, whose index is written unless `fail_idx` is null;
            /// `hipErrorNotSupported` for flags of SDMA engines.
            optional fn hipMemcpyBatchAsync(
                dsts: *mut *mut ::core::ffi::c_void,
                srcs: *mut *mut ::core::ffi::c_void,
                sizes: *mut usize,
                count: usize,
                attrs: *mut $crate::hipMemcpyAttributes,
                attrs_idxs: *mut usize,
                num_attrs: usize,
                fail_idx: *mut usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyBatchAsync`, of layers of rows. `flags` must be 0.
            optional fn hipMemcpy3DBatchAsync(
                num_ops: usize,
                op_list: *mut $crate::hipMemcpy3DBatchOp,
                fail_idx: *mut usize,
                flags: ::core::ffi::c_ulonglong,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies to a program's device variable. Functions that take a symbol return `hipErrorInvalidSymbol` if it
            /// is not registered.
            optional fn hipMemcpyToSymbol(
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyToSymbol`, in a stream.
            optional fn hipMemcpyToSymbolAsync(
                symbol: *const ::core::ffi::c_void,
                src: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Copies from a program's device variable.
            optional fn hipMemcpyFromSymbol(
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
            ) -> $crate::hipError_t;
            /// As `hipMemcpyFromSymbol`, in a stream.
            optional fn hipMemcpyFromSymbolAsync(
                dst: *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
                size_bytes: usize,
                offset: usize,
                kind: $crate::hipMemcpyKind,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `count` words of 2 bytes.
            optional fn hipMemsetD16(
                dest: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_ushort,
                count: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD16`, in a stream.
            optional fn hipMemsetD16Async(
                dest: $crate::hipDeviceptr_t,
                value: ::core::ffi::c_ushort,
                count: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `height` rows of `width` bytes.
            optional fn hipMemset2D(
                dst: *mut ::core::ffi::c_void,
                pitch: usize,
                value: ::core::ffi::c_int,
                width: usize,
                height: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemset2D`, in a stream.
            optional fn hipMemset2DAsync(
                dst: *mut ::core::ffi::c_void,
                pitch: usize,
                value: ::core::ffi::c_int,
                width: usize,
                height: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets layers of rows of bytes.
            optional fn hipMemset3D(
                pitched_dev_ptr: $crate::hipPitchedPtr,
                value: ::core::ffi::c_int,
                extent: $crate::hipExtent,
            ) -> $crate::hipError_t;
            /// As `hipMemset3D`, in a stream.
            optional fn hipMemset3DAsync(
                pitched_dev_ptr: $crate::hipPitchedPtr,
                value: ::core::ffi::c_int,
                extent: $crate::hipExtent,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `height` rows of `width` bytes.
            optional fn hipMemsetD2D8(
                dst: $crate::hipDeviceptr_t,
                dst_pitch: usize,
                value: ::core::ffi::c_uchar,
                width: usize,
                height: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD2D8`, in a stream.
            optional fn hipMemsetD2D8Async(
                dst: $crate::hipDeviceptr_t,
                dst_pitch: usize,
                value: ::core::ffi::c_uchar,
                width: usize,
                height: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `height` rows of `width` words of 2 bytes.
            optional fn hipMemsetD2D16(
                dst: $crate::hipDeviceptr_t,
                dst_pitch: usize,
                value: ::core::ffi::c_ushort,
                width: usize,
                height: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD2D16`, in a stream.
            optional fn hipMemsetD2D16Async(
                dst: $crate::hipDeviceptr_t,
                dst_pitch: usize,
                value: ::core::ffi::c_ushort,
                width: usize,
                height: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Sets `height` rows of `width` words of 4 bytes.
            optional fn hipMemsetD2D32(
                dst: $crate::hipDeviceptr_t,
                dst_pitch: usize,
                value: ::core::ffi::c_uint,
                width: usize,
                height: usize,
            ) -> $crate::hipError_t;
            /// As `hipMemsetD2D32`, in a stream.
            optional fn hipMemsetD2D32Async(
                dst: $crate::hipDeviceptr_t,
                dst_pitch: usize,
                value: ::core::ffi::c_uint,
                width: usize,
                height: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
        }
    };
}
