//! Flags and the markers of a launch's argument buffer.

use core::ffi::{c_uint, c_void};

/// A stream that synchronizes with the default stream.
pub const hipStreamDefault: c_uint = 0;
/// A stream that does not synchronize with the default stream.
pub const hipStreamNonBlocking: c_uint = 1;

/// An event that records the time.
pub const hipEventDefault: c_uint = 0;
/// A thread that waits for the event sleeps instead of spinning.
pub const hipEventBlockingSync: c_uint = 1;
/// An event that does not record the time, which is cheaper.
pub const hipEventDisableTiming: c_uint = 2;
/// An event that can be shared with other processes; requires [`hipEventDisableTiming`].
pub const hipEventInterprocess: c_uint = 4;
/// Recording the event does not fence towards the host.
pub const hipEventDisableSystemFence: c_uint = 0x2000_0000;
/// Recording the event releases to device scope.
pub const hipEventReleaseToDevice: c_uint = 0x4000_0000;
/// Recording the event releases to system scope.
pub const hipEventReleaseToSystem: c_uint = 0x8000_0000;

/// Pinned host memory.
pub const hipHostMallocDefault: c_uint = 0;
/// Pinned for all devices.
pub const hipHostMallocPortable: c_uint = 1;
/// Mapped into the device's address space.
pub const hipHostMallocMapped: c_uint = 2;
/// Write-combined: host writes bypass the caches.
pub const hipHostMallocWriteCombined: c_uint = 4;
/// Not cached on the device.
pub const hipHostMallocUncached: c_uint = 0x1000_0000;
/// Placed by the caller's NUMA policy.
pub const hipHostMallocNumaUser: c_uint = 0x2000_0000;
/// Coherent while a kernel runs.
pub const hipHostMallocCoherent: c_uint = 0x4000_0000;
/// Coherent after a kernel has ended.
pub const hipHostMallocNonCoherent: c_uint = 0x8000_0000;

/// In a launch's `extra`: the address of the argument bytes follows.
pub const HIP_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = core::ptr::without_provenance_mut(1);
/// In a launch's `extra`: the address of a `usize`, the number of argument bytes, follows.
pub const HIP_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = core::ptr::without_provenance_mut(2);
/// Ends a launch's `extra`.
pub const HIP_LAUNCH_PARAM_END: *mut c_void = core::ptr::without_provenance_mut(3);

/// Managed memory that any stream may access.
pub const hipMemAttachGlobal: c_uint = 1;
/// Managed memory that no stream may access yet.
pub const hipMemAttachHost: c_uint = 2;

/// Fine-grained device memory, coherent with the host while a kernel runs.
pub const hipDeviceMallocFinegrained: c_uint = 1;
/// Device memory for signals.
pub const hipMallocSignalMemory: c_uint = 2;
/// Uncached device memory.
pub const hipDeviceMallocUncached: c_uint = 3;
/// Physically contiguous device memory.
pub const hipDeviceMallocContiguous: c_uint = 4;

/// Pinned for all devices.
pub const hipHostRegisterPortable: c_uint = 1;
/// Mapped into the device's address space.
pub const hipHostRegisterMapped: c_uint = 2;
/// I/O memory.
pub const hipHostRegisterIoMemory: c_uint = 4;
/// Devices only read it.
pub const hipHostRegisterReadOnly: c_uint = 8;
/// Not cached on the device.
pub const hipExtHostRegisterUncached: c_uint = 0x8000_0000;

/// Records the event externally: the graph records it when it runs.
pub const hipEventRecordExternal: c_uint = 1;
/// Waits externally: the graph waits for the event when it runs.
pub const hipEventWaitExternal: c_uint = 1;

/// The destructor of a user object may run on any thread, and does not wait for one.
pub const hipUserObjectNoDestructorSync: c_uint = 1;
/// The graph takes references from the caller.
pub const hipGraphUserObjectMove: c_uint = 1;

/// Waits until `memory & mask >= value`.
pub const hipStreamWaitValueGte: c_uint = 0;
/// Waits until `memory & mask == value`.
pub const hipStreamWaitValueEq: c_uint = 1;
/// Waits until `memory & mask & value != 0`.
pub const hipStreamWaitValueAnd: c_uint = 2;
/// Waits until `!((memory | value) & mask) != 0`.
pub const hipStreamWaitValueNor: c_uint = 3;

/// Does not wait for the streams of all launches before them.
pub const hipCooperativeLaunchMultiDeviceNoPreSync: c_uint = 1;
/// Does not wait for the streams of all launches after them.
pub const hipCooperativeLaunchMultiDeviceNoPostSync: c_uint = 2;

/// Mask of all device flags, including those for how threads wait.
pub const hipDeviceFlagsMask: c_uint = 0x1f;

/// Adds to the dependencies of a capture.
pub const hipStreamAddCaptureDependencies: c_uint = 0;
/// Replaces the dependencies of a capture.
pub const hipStreamSetCaptureDependencies: c_uint = 1;
/// Frees memory that the graph allocated and did not free before the next launch.
pub const hipGraphInstantiateFlagAutoFreeOnLaunch: u64 = 1;
/// All valid flags of `hipGraphInstantiateWithFlags`.
pub const hipGraphInstantiateFlags: u64 = 0xf;
/// The device flags for how threads wait.
pub const hipDeviceScheduleMask: c_uint = 7;
/// The device ordinal that stands for the host.
pub const hipCpuDeviceId: core::ffi::c_int = -1;
/// Memory of another process's device becomes accessible when it is first used. The only flag that there is.
pub const hipIpcMemLazyEnablePeerAccess: c_uint = 1;
/// The array has layers instead of a third dimension.
pub const hipArrayLayered: c_uint = 1;
/// The array may be a surface.
pub const hipArraySurfaceLoadStore: c_uint = 2;
/// The array's texels may be gathered.
pub const hipArrayTextureGather: c_uint = 8;
/// No device, in answers about memory.
pub const hipInvalidDeviceId: core::ffi::c_int = -2;
