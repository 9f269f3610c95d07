//! hipBLASLt, through its C interface.
//!
//! Types, values and the order of arguments are those of its header `hipblaslt.h` (<https://github.com/ROCm/hipBLASLt>,
//! library/include), of `hipblas-common.h` and of HIP's `library_types.h`. They are valid since hipBLASLt 0.6 (ROCm
//! 6.0.2), which replaced its own enumerations by these (its CHANGELOG).
//!
//! Of hipBLASLt's kernels for a problem the first is used, which it expects to be the fastest.

use std::{ffi::c_void, ptr};

use ferrowave_hip_abi::hipStream_t;
use ferrowave_shared::{ElementType, ElementTypes};

use super::{
    Scalar, Vendor, VendorError,
    column_major::{ColumnMajor, Factor},
    library::{Found, functions},
};
use crate::{
    gemm::Addresses,
    hip::{Context, DeviceBuffer, Stream},
};

/// `hipblasLtHandle_t`, and pointers to opaque descriptors.
type Handle = *mut c_void;
type Pointer = *const c_void;

/// `hipblasOperation_t`: HIPBLAS_OP_N and HIPBLAS_OP_T.
const OPERATIONS: [i32; 2] = [111, 112];
/// `hipblasLtMatmulDescAttributes_t`: HIPBLASLT_MATMUL_DESC_TRANSA and TRANSB.
const TRANSPOSE: [i32; 2] = [0, 1];
/// `hipblasLtMatrixLayoutAttribute_t`.
const BATCH_COUNT: i32 = 0;
const STRIDED_BATCH_OFFSET: i32 = 1;
/// `hipblasLtMatmulPreferenceAttributes_t`.
const MAX_WORKSPACE_BYTES: i32 = 1;

/// The first version with this interface, as `hipblasLtGetVersion` returns it: 100000 · major + 100 · minor + patch.
const LEAST_VERSION: i32 = 600;

/// The workspace that kernels may use: large enough not to exclude any.
const WORKSPACE_BYTES: usize = 128 << 20;

/// `hipblasLtMatmulAlgo_t`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Algorithm {
    data: [u8; 16],
    max_workspace_bytes: usize,
}

/// `hipblasLtMatmulHeuristicResult_t`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Heuristic {
    algorithm: Algorithm,
    workspace_bytes: usize,
    state: i32,
    waves: f32,
    reserved: [i32; 4],
}

functions! {
    /// Enumerations are `int`.
    Functions {
        create: "hipblasLtCreate", fn(*mut Handle);
        destroy: "hipblasLtDestroy", fn(Handle);
        version: "hipblasLtGetVersion", fn(Handle, *mut i32);
        /// Layout, type, rows, columns, leading dimension.
        layout_create: "hipblasLtMatrixLayoutCreate", fn(*mut Handle, i32, u64, u64, i64);
        layout_destroy: "hipblasLtMatrixLayoutDestroy", fn(Handle);
        layout_set: "hipblasLtMatrixLayoutSetAttribute", fn(Handle, i32, Pointer, usize);
        /// Descriptor, type of the sums, type of α and β.
        product_create: "hipblasLtMatmulDescCreate", fn(*mut Handle, i32, i32);
        product_destroy: "hipblasLtMatmulDescDestroy", fn(Handle);
        product_set: "hipblasLtMatmulDescSetAttribute", fn(Handle, i32, Pointer, usize);
        preference_create: "hipblasLtMatmulPreferenceCreate", fn(*mut Handle);
        preference_destroy: "hipblasLtMatmulPreferenceDestroy", fn(Handle);
        preference_set: "hipblasLtMatmulPreferenceSetAttribute", fn(Handle, i32, Pointer, usize);
        /// Handle; product; layouts of A, B, C, D; preference; maximum number of results, results, their number.
        heuristic: "hipblasLtMatmulAlgoGetHeuristic", fn(
            Handle, Handle, Handle, Handle, Handle, Handle, Handle, i32, *mut Heuristic, *mut i32);
        /// Handle; product; α; A and its layout; B likewise; β; C likewise; D likewise; algorithm; workspace and its
        /// bytes; stream.
        matmul: "hipblasLtMatmul", fn(
            Handle, Handle, Pointer, Pointer, Handle, Pointer, Handle, Pointer, Pointer, Handle, *mut c_void, Handle,
            *const Algorithm, *mut c_void, usize, hipStream_t);
    }
}

/// hipBLASLt on a device.
pub(super) struct HipBlasLt {
    functions: Functions,
    handle: Handle,
}

/// A descriptor and the function that destroys it.
struct Descriptor {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> i32,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor was created by the function that `destroy` belongs to. A failure cannot be handled.
        unsafe { (self.destroy)(self.handle) };
    }
}

/// The descriptors and the kernel for a problem.
pub(super) struct Plan<'a> {
    // Descriptors must not outlive the library's handle.
    _library: &'a HipBlasLt,
    product: Descriptor,
    first: Descriptor,
    second: Descriptor,
    result: Descriptor,
    algorithm: Algorithm,
    workspace: Option<DeviceBuffer<u8>>,
}

/// `hipDataType`.
fn data_type(element: ElementType) -> Result<i32, VendorError> {
    match element {
        ElementType::F32 | ElementType::Xf32 => Ok(0),
        ElementType::F64 => Ok(1),
        ElementType::F16 => Ok(2),
        ElementType::I8 => Ok(3),
        ElementType::I32 => Ok(10),
        ElementType::Bf16 => Ok(14),
        ElementType::Fp8 => Ok(28),
        ElementType::Bf8 => Ok(29),
        ElementType::Fp8Fnuz => Ok(1000),
        ElementType::Bf8Fnuz => Ok(1001),
        other => Err(VendorError::Unsupported {
            vendor: Vendor::HipBlasLt,
            what: other.to_string(),
        }),
    }
}

/// `hipblasComputeType_t`.
const fn compute_type(types: ElementTypes) -> i32 {
    match (types.a, types.accumulator) {
        // HIPBLAS_COMPUTE_32F_FAST_TF32
        (ElementType::Xf32, _) => 6,
        // HIPBLAS_COMPUTE_64F
        (_, ElementType::F64) => 7,
        // HIPBLAS_COMPUTE_32I
        (_, ElementType::I32) => 9,
        // HIPBLAS_COMPUTE_32F
        _ => 2,
    }
}

/// `hipblasStatus_t`.
fn succeeds(function: &'static str, status: i32) -> Result<(), VendorError> {
    let name = match status {
        0 => return Ok(()),
        1 => "HIPBLAS_STATUS_NOT_INITIALIZED",
        2 => "HIPBLAS_STATUS_ALLOC_FAILED",
        3 => "HIPBLAS_STATUS_INVALID_VALUE",
        4 => "HIPBLAS_STATUS_MAPPING_ERROR",
        5 => "HIPBLAS_STATUS_EXECUTION_FAILED",
        6 => "HIPBLAS_STATUS_INTERNAL_ERROR",
        7 => "HIPBLAS_STATUS_NOT_SUPPORTED",
        8 => "HIPBLAS_STATUS_ARCH_MISMATCH",
        9 => "HIPBLAS_STATUS_HANDLE_IS_NULLPTR",
        10 => "HIPBLAS_STATUS_INVALID_ENUM",
        11 => "HIPBLAS_STATUS_UNKNOWN",
        _ => "an unknown status",
    };
    Err(VendorError::Status {
        vendor: Vendor::HipBlasLt,
        function,
        status,
        name,
    })
}

impl HipBlasLt {
    /// Starts hipBLASLt on the current device, and returns its version.
    pub(super) fn new(library: &Found) -> Result<(Self, String), VendorError> {
        let functions = Functions::of(library)?;
        let mut handle = ptr::null_mut();
        // SAFETY: it writes the handle.
        let status = unsafe { (functions.create)(&mut handle) };
        succeeds("hipblasLtCreate", status)?;
        let started = HipBlasLt { functions, handle };
        let mut version = 0;
        // SAFETY: it writes the version.
        let status = unsafe { (functions.version)(handle, &mut version) };
        succeeds("hipblasLtGetVersion", status)?;
        let text = format!(
            "{}.{}.{}",
            version / 100_000,
            version / 100 % 1000,
            version % 100
        );
        if version < LEAST_VERSION {
            return Err(VendorError::TooOld {
                vendor: Vendor::HipBlasLt,
                version: text,
                least: "0.6.0",
            });
        }
        Ok((started, text))
    }

    /// Chooses a kernel for a problem.
    pub(super) fn plan(
        &self,
        types: ElementTypes,
        call: &ColumnMajor,
        context: &Context,
    ) -> Result<Plan<'_>, VendorError> {
        let functions = &self.functions;
        let (a, b, output) = (
            data_type(types.a)?,
            data_type(types.b)?,
            data_type(types.output)?,
        );
        let scale = data_type(types.accumulator)?;
        let product = Self::made(
            "hipblasLtMatmulDescCreate",
            functions.product_destroy,
            // SAFETY: it writes the descriptor.
            |handle| unsafe { (functions.product_create)(handle, compute_type(types), scale) },
        )?;
        for (attribute, factor) in TRANSPOSE.into_iter().zip([&call.first, &call.second]) {
            let operation = OPERATIONS[usize::from(factor.is_transposed)];
            let function = "hipblasLtMatmulDescSetAttribute";
            Self::set(
                function,
                functions.product_set,
                &product,
                attribute,
                &operation,
            )?;
        }
        // The first factor of a column-major product is B.
        let first = self.layout(&call.first, b, call.batch)?;
        let second = self.layout(&call.second, a, call.batch)?;
        let result = self.layout(&call.result, output, call.batch)?;
        let preference = Self::made(
            "hipblasLtMatmulPreferenceCreate",
            functions.preference_destroy,
            // SAFETY: it writes the descriptor.
            |handle| unsafe { (functions.preference_create)(handle) },
        )?;
        Self::set(
            "hipblasLtMatmulPreferenceSetAttribute",
            functions.preference_set,
            &preference,
            MAX_WORKSPACE_BYTES,
            &(WORKSPACE_BYTES as u64),
        )?;
        let (mut best, mut count) = (Heuristic::default(), 0);
        // SAFETY: all descriptors are alive; there is room for one result.
        let status = unsafe {
            (functions.heuristic)(
                self.handle,
                product.handle,
                first.handle,
                second.handle,
                result.handle,
                result.handle,
                preference.handle,
                1,
                &mut best,
                &mut count,
            )
        };
        let function = "hipblasLtMatmulAlgoGetHeuristic";
        succeeds(function, status)?;
        if count < 1 {
            return Err(VendorError::NoKernel {
                vendor: Vendor::HipBlasLt,
            });
        }
        succeeds(function, best.state)?;
        let bytes = best.workspace_bytes;
        let workspace = match bytes {
            0 => None,
            bytes => {
                let buffer = context.allocate(bytes);
                Some(buffer.map_err(|error| VendorError::Workspace { bytes, error })?)
            }
        };
        Ok(Plan {
            _library: self,
            product,
            first,
            second,
            result,
            algorithm: best.algorithm,
            workspace,
        })
    }

    fn made(
        function: &'static str,
        destroy: unsafe extern "C" fn(Handle) -> i32,
        create: impl FnOnce(*mut Handle) -> i32,
    ) -> Result<Descriptor, VendorError> {
        let mut handle = ptr::null_mut();
        succeeds(function, create(&mut handle))?;
        Ok(Descriptor { handle, destroy })
    }

    fn set<T>(
        function: &'static str,
        set: unsafe extern "C" fn(Handle, i32, Pointer, usize) -> i32,
        descriptor: &Descriptor,
        attribute: i32,
        value: &T,
    ) -> Result<(), VendorError> {
        // SAFETY: the descriptor is alive; the value is read before the function returns.
        let status = unsafe {
            let value: *const T = value;
            set(descriptor.handle, attribute, value.cast(), size_of::<T>())
        };
        succeeds(function, status)
    }

    fn layout(&self, factor: &Factor, element: i32, batch: u32) -> Result<Descriptor, VendorError> {
        let functions = &self.functions;
        let (rows, columns) = (u64::from(factor.rows), u64::from(factor.columns));
        let leading = i64::from(factor.leading);
        let layout = Self::made(
            "hipblasLtMatrixLayoutCreate",
            functions.layout_destroy,
            // SAFETY: it writes the descriptor.
            |handle| unsafe { (functions.layout_create)(handle, element, rows, columns, leading) },
        )?;
        if batch > 1 {
            let function = "hipblasLtMatrixLayoutSetAttribute";
            let set = functions.layout_set;
            // Batches are below 2³¹.
            Self::set(function, set, &layout, BATCH_COUNT, &(batch as i32))?;
            Self::set(function, set, &layout, STRIDED_BATCH_OFFSET, &factor.stride)?;
        }
        Ok(layout)
    }

    /// Enqueues the product in a stream.
    ///
    /// # Safety
    /// Until the stream's work is done, the matrices are in device memory with the lengths of the plan's call, and no
    /// other code uses C or runs the plan. The handle's device is current.
    pub(super) unsafe fn run(
        &self,
        plan: &Plan<'_>,
        addresses: &Addresses,
        [alpha, beta]: &[Scalar; 2],
        stream: &Stream,
    ) -> Result<(), VendorError> {
        let c = addresses.c as *mut c_void;
        let (workspace, bytes) = match &plan.workspace {
            Some(buffer) => (buffer.address() as *mut c_void, buffer.bytes()),
            None => (ptr::null_mut(), 0),
        };
        // SAFETY: as the caller promises; scalars are in host memory and so are read before the function returns.
        let status = unsafe {
            (self.functions.matmul)(
                self.handle,
                plan.product.handle,
                ptr::from_ref(alpha).cast(),
                addresses.b as Pointer,
                plan.first.handle,
                addresses.a as Pointer,
                plan.second.handle,
                ptr::from_ref(beta).cast(),
                c,
                plan.result.handle,
                c,
                plan.result.handle,
                &plan.algorithm,
                workspace,
                bytes,
                stream.handle(),
            )
        };
        succeeds("hipblasLtMatmul", status)
    }
}

impl Drop for HipBlasLt {
    fn drop(&mut self) {
        // SAFETY: the handle is from `hipblasLtCreate`. A failure cannot be handled.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}
