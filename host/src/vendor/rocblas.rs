//! rocBLAS, through its C interface.
//!
//! Types, values and the order of arguments are those of its headers `rocblas-types.h`, `rocblas-auxiliary.h` and
//! `rocblas-functions.h` (<https://github.com/ROCm/rocBLAS>, library/include/internal; the same from ROCm 5 to 7).

use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

use ferrowave_hip_abi::hipStream_t;
use ferrowave_shared::{ElementType, ElementTypes};

use super::{
    Scalar, Vendor, VendorError,
    column_major::{ColumnMajor, Factor},
    library::{Found, functions},
};
use crate::{gemm::Addresses, hip::Stream};

/// `rocblas_handle`.
type Handle = *mut c_void;
type Pointer = *const c_void;

/// `rocblas_operation_none` and `rocblas_operation_transpose`.
const OPERATIONS: [i32; 2] = [111, 112];
/// `rocblas_gemm_algo_standard`.
const STANDARD: i32 = 0;

functions! {
    /// `rocblas_int` is `int32_t`, enumerations are `int`.
    Functions {
        create_handle: "rocblas_create_handle", fn(*mut Handle);
        destroy_handle: "rocblas_destroy_handle", fn(Handle);
        set_stream: "rocblas_set_stream", fn(Handle, hipStream_t);
        version_size: "rocblas_get_version_string_size", fn(*mut usize);
        version: "rocblas_get_version_string", fn(*mut c_char, usize);
        /// Handle; operations; m, n, k; α; A, its type and leading dimension; B likewise; β; C likewise; D likewise;
        /// type of the sums, algorithm, solution, flags.
        gemm: "rocblas_gemm_ex", fn(
            Handle, i32, i32, i32, i32, i32, Pointer, Pointer, i32, i32, Pointer, i32, i32, Pointer, Pointer, i32, i32,
            *mut c_void, i32, i32, i32, i32, i32, u32);
        /// The same, with a stride after each leading dimension and the number of products after the last stride.
        gemm_batched: "rocblas_gemm_strided_batched_ex", fn(
            Handle, i32, i32, i32, i32, i32, Pointer, Pointer, i32, i32, i64, Pointer, i32, i32, i64, Pointer, Pointer, i32,
            i32, i64, *mut c_void, i32, i32, i64, i32, i32, i32, i32, u32);
    }
}

/// rocBLAS on a device, in a stream.
pub(super) struct RocBlas {
    functions: Functions,
    handle: Handle,
}

/// `rocblas_datatype`.
fn data_type(element: ElementType) -> Result<i32, VendorError> {
    match element {
        ElementType::F16 => Ok(150),
        ElementType::F32 => Ok(151),
        ElementType::F64 => Ok(152),
        ElementType::I8 => Ok(160),
        ElementType::I32 => Ok(162),
        ElementType::Bf16 => Ok(168),
        other => Err(VendorError::Unsupported {
            vendor: Vendor::RocBlas,
            what: other.to_string(),
        }),
    }
}

/// `rocblas_status`.
fn succeeds(function: &'static str, status: i32) -> Result<(), VendorError> {
    let name = match status {
        0 => return Ok(()),
        1 => "rocblas_status_invalid_handle",
        2 => "rocblas_status_not_implemented",
        3 => "rocblas_status_invalid_pointer",
        4 => "rocblas_status_invalid_size",
        5 => "rocblas_status_memory_error",
        6 => "rocblas_status_internal_error",
        7 => "rocblas_status_perf_degraded",
        11 => "rocblas_status_invalid_value",
        13 => "rocblas_status_check_numerics_fail",
        _ => "an unknown status",
    };
    Err(VendorError::Status {
        vendor: Vendor::RocBlas,
        function,
        status,
        name,
    })
}

impl RocBlas {
    /// Starts rocBLAS on the current device, and returns its version.
    pub(super) fn new(library: &Found, stream: &Stream) -> Result<(Self, String), VendorError> {
        let functions = Functions::of(library)?;
        let mut length = 0;
        // SAFETY: it writes the length.
        let status = unsafe { (functions.version_size)(&mut length) };
        succeeds("rocblas_get_version_string_size", status)?;
        // One more byte, in case the length does not include the terminator.
        let mut text = vec![0_u8; length + 1];
        // SAFETY: there are `length` bytes.
        let status = unsafe { (functions.version)(text.as_mut_ptr().cast(), length) };
        succeeds("rocblas_get_version_string", status)?;
        let version = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        let mut handle = ptr::null_mut();
        // SAFETY: it writes the handle.
        let status = unsafe { (functions.create_handle)(&mut handle) };
        succeeds("rocblas_create_handle", status)?;
        let started = RocBlas { functions, handle };
        // SAFETY: both are alive; the stream outlives the handle, as its owner drops it later.
        let status = unsafe { (functions.set_stream)(handle, stream.handle()) };
        succeeds("rocblas_set_stream", status)?;
        // Debian's has nothing behind the last point, where AMD's has the commit.
        let version = version.to_string_lossy();
        Ok((started, version.trim_end_matches('.').to_owned()))
    }

    /// Checks that rocBLAS has the element types.
    pub(super) fn check(&self, types: ElementTypes) -> Result<(), VendorError> {
        data_type(types.a)?;
        data_type(types.output)?;
        data_type(types.accumulator)?;
        Ok(())
    }

    /// Enqueues the product in the stream.
    ///
    /// # Safety
    /// Until the stream's work is done, the matrices are in device memory with the lengths of the call, and no other
    /// code uses C. The handle's device is current.
    pub(super) unsafe fn run(
        &self,
        types: ElementTypes,
        call: &ColumnMajor,
        addresses: &Addresses,
        [alpha, beta]: &[Scalar; 2],
    ) -> Result<(), VendorError> {
        let (input, output) = (data_type(types.a)?, data_type(types.output)?);
        let sums = data_type(types.accumulator)?;
        let operation = |factor: &Factor| OPERATIONS[usize::from(factor.is_transposed)];
        let (first, second) = (operation(&call.first), operation(&call.second));
        // Extents and leading dimensions of problems are below 2³¹.
        let [m, n, k] = [call.m, call.n, call.k].map(|extent| extent as i32);
        let [lda, ldb, ldc] =
            [&call.first, &call.second, &call.result].map(|factor| factor.leading as i32);
        let strides = [&call.first, &call.second, &call.result].map(|factor| factor.stride);
        let (a, b) = (addresses.b as Pointer, addresses.a as Pointer);
        let c = addresses.c as *mut c_void;
        let (alpha, beta) = (ptr::from_ref(alpha).cast(), ptr::from_ref(beta).cast());
        let functions = &self.functions;
        if call.batch == 1 {
            // SAFETY: as the caller promises; scalars are in host memory and so are read before the function returns.
            let status = unsafe {
                (functions.gemm)(
                    self.handle,
                    first,
                    second,
                    m,
                    n,
                    k,
                    alpha,
                    a,
                    input,
                    lda,
                    b,
                    input,
                    ldb,
                    beta,
                    c,
                    output,
                    ldc,
                    c,
                    output,
                    ldc,
                    sums,
                    STANDARD,
                    0,
                    0,
                )
            };
            return succeeds("rocblas_gemm_ex", status);
        }
        // SAFETY: as above.
        let status = unsafe {
            (functions.gemm_batched)(
                self.handle,
                first,
                second,
                m,
                n,
                k,
                alpha,
                a,
                input,
                lda,
                strides[0],
                b,
                input,
                ldb,
                strides[1],
                beta,
                c,
                output,
                ldc,
                strides[2],
                c,
                output,
                ldc,
                strides[2],
                call.batch as i32,
                sums,
                STANDARD,
                0,
                0,
            )
        };
        succeeds("rocblas_gemm_strided_batched_ex", status)
    }
}

impl Drop for RocBlas {
    fn drop(&mut self) {
        // SAFETY: the handle is from `rocblas_create_handle`. A failure cannot be handled.
        unsafe { (self.functions.destroy_handle)(self.handle) };
    }
}
