//! Handles and small types.

use core::ffi::{c_char, c_int, c_void};

use crate::hipError_t;

/// Defines opaque handle types, which are passed by pointer.
macro_rules! handles {
    ($($(#[$meta:meta])* $handle:ident = *mut $inside:ident;)*) => {$(
        #[doc = concat!("What [`", stringify!($handle), "`] points to.")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $inside {
            _private: [u8; 0],
        }

        $(#[$meta])*
        pub type $handle = *mut $inside;
    )*};
}

handles! {
    /// A queue of work on one device. Null is the device's default stream.
    hipStream_t = *mut ihipStream_t;
    /// A point in a stream, with its time.
    hipEvent_t = *mut ihipEvent_t;
    /// A loaded code object.
    hipModule_t = *mut ihipModule_t;
    /// A kernel of a module.
    hipFunction_t = *mut ihipModuleSymbol_t;
    /// A code object that is loaded when it is first used.
    hipLibrary_t = *mut ihipLibrary_t;
    /// A kernel of a library. In HIP, it is also a [`hipFunction_t`].
    hipKernel_t = *mut ihipKernel_t;
    /// A context on a device.
    hipCtx_t = *mut ihipCtx_t;
    /// An execution context: compute units of a device, and streams that use them.
    hipExecutionCtx_t = *mut ihipExecutionCtx_t;
    /// The resources of a new execution context.
    hipDevResourceDesc_t = *mut ihipDevResourceDesc_t;
    /// A pool of device memory.
    hipMemPool_t = *mut ihipMemPoolHandle_t;
    /// Physical memory that can be mapped.
    hipMemGenericAllocationHandle_t = *mut ihipMemGenericAllocationHandle;
    /// Memory of elements in up to three dimensions, in an order that only HIP knows.
    hipArray_t = *mut hipArray;
    /// A texture: the address of the resource descriptor that device code reads.
    hipTextureObject_t = *mut __hip_texture;
    /// A surface: the address of the resource descriptor that device code reads.
    hipSurfaceObject_t = *mut __hip_surface;
    /// A graph of work.
    hipGraph_t = *mut ihipGraph;
    /// A node of a graph.
    hipGraphNode_t = *mut hipGraphNode;
    /// An executable graph.
    hipGraphExec_t = *mut hipGraphExec;
    /// An object of the program that graphs keep alive.
    hipUserObject_t = *mut hipUserObject;
    /// A program that is compiled at run time.
    hiprtcProgram = *mut _hiprtcProgram;
    /// A link state: bitcode that is linked at run time.
    hiprtcLinkState = *mut ihiprtcLinkState;
}

/// A link state of `hipLink…`, which are hiprtc's functions.
pub type hipLinkState_t = hiprtcLinkState;

/// A host function with its argument.
pub type hipHostFn_t = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
/// A host function that gets a stream's error.
pub type hipStreamCallback_t =
    Option<unsafe extern "C" fn(stream: hipStream_t, status: hipError_t, user_data: *mut c_void)>;

/// A profiler's function. With null `data` it returns 0 to ask for records of `operation` of `domain`. Otherwise `data`
/// is a record.
pub type hipTracerCallback_t =
    Option<unsafe extern "C" fn(domain: u32, operation: u32, data: *mut c_void) -> c_int>;

/// The legacy default stream, which synchronizes with all others.
pub const hipStreamLegacy: hipStream_t = core::ptr::without_provenance_mut(1);
/// The calling thread's own default stream.
pub const hipStreamPerThread: hipStream_t = core::ptr::without_provenance_mut(2);

/// An array that is only read.
pub type hipArray_const_t = *const hipArray;

/// A device ordinal.
pub type hipDevice_t = c_int;
/// An address in device memory.
pub type hipDeviceptr_t = *mut c_void;

/// An identifier of 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipUUID {
    /// The bytes; most runtimes put ASCII text there.
    pub bytes: [c_char; 16],
}

/// Features that kernels may use, one bit each.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipDeviceArch_t(pub u32);

impl hipDeviceArch_t {
    /// 32-bit integer atomics on global memory.
    pub const hasGlobalInt32Atomics: Self = Self(1 << 0);
    /// 32-bit floating-point exchange on global memory.
    pub const hasGlobalFloatAtomicExch: Self = Self(1 << 1);
    /// 32-bit integer atomics on LDS.
    pub const hasSharedInt32Atomics: Self = Self(1 << 2);
    /// 32-bit floating-point exchange on LDS.
    pub const hasSharedFloatAtomicExch: Self = Self(1 << 3);
    /// 32-bit floating-point atomic addition.
    pub const hasFloatAtomicAdd: Self = Self(1 << 4);
    /// 64-bit integer atomics on global memory.
    pub const hasGlobalInt64Atomics: Self = Self(1 << 5);
    /// 64-bit integer atomics on LDS.
    pub const hasSharedInt64Atomics: Self = Self(1 << 6);
    /// Double precision.
    pub const hasDoubles: Self = Self(1 << 7);
    /// Wave votes.
    pub const hasWarpVote: Self = Self(1 << 8);
    /// Wave ballots.
    pub const hasWarpBallot: Self = Self(1 << 9);
    /// Wave shuffles.
    pub const hasWarpShuffle: Self = Self(1 << 10);
    /// Funnel shifts.
    pub const hasFunnelShift: Self = Self(1 << 11);
    /// Fences that reach the host.
    pub const hasThreadFenceSystem: Self = Self(1 << 12);
    /// Barriers with count, AND and OR.
    pub const hasSyncThreadsExt: Self = Self(1 << 13);
    /// Surfaces.
    pub const hasSurfaceFuncs: Self = Self(1 << 14);
    /// Grids of three dimensions.
    pub const has3dGrid: Self = Self(1 << 15);
    /// Launches from kernels.
    pub const hasDynamicParallelism: Self = Self(1 << 16);

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The direction of a copy. A struct because a caller may pass any value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipMemcpyKind(pub u32);

impl hipMemcpyKind {
    /// From host to host.
    pub const hipMemcpyHostToHost: Self = Self(0);
    /// From host to device.
    pub const hipMemcpyHostToDevice: Self = Self(1);
    /// From device to host.
    pub const hipMemcpyDeviceToHost: Self = Self(2);
    /// From device to device.
    pub const hipMemcpyDeviceToDevice: Self = Self(3);
    /// Determined from the addresses.
    pub const hipMemcpyDefault: Self = Self(4);
    /// From device to device by the copy engines.
    pub const hipMemcpyDeviceToDeviceNoCU: Self = Self(1024);
}

/// The result of `hipGetProcAddress`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipDriverProcAddressQueryResult(pub u32);

impl hipDriverProcAddressQueryResult {
    /// Found.
    pub const HIP_GET_PROC_ADDRESS_SUCCESS: Self = Self(0);
    /// There is no function of that name.
    pub const HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND: Self = Self(1);
    /// The function only exists in a later version.
    pub const HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT: Self = Self(2);
}

const _: () = {
    assert!(size_of::<hipDevice_t>() == 4);
    assert!(size_of::<hipDeviceptr_t>() == 8);
    assert!(size_of::<hipUUID>() == 16);
    assert!(size_of::<hipDeviceArch_t>() == 4 && align_of::<hipDeviceArch_t>() == 4);
    assert!(size_of::<hipMemcpyKind>() == 4);
};
