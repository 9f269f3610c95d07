//! Flags and the markers of a launch's argument buffer.

use core::ffi::{c_uint, c_void};

/// A stream that waits for the default stream, and the default stream for it.
pub const hipStreamDefault: c_uint = 0;
/// A stream that has nothing to do with the default stream.
pub const hipStreamNonBlocking: c_uint = 1;

/// An event with a time.
pub const hipEventDefault: c_uint = 0;
/// A thread that waits for the event sleeps.
pub const hipEventBlockingSync: c_uint = 1;
/// An event without a time, which costs less.
pub const hipEventDisableTiming: c_uint = 2;
/// An event that other processes may use; needs [`hipEventDisableTiming`].
pub const hipEventInterprocess: c_uint = 4;
/// No fence towards the host when the event is recorded.
pub const hipEventDisableSystemFence: c_uint = 0x2000_0000;
/// A fence towards the device when the event is recorded.
pub const hipEventReleaseToDevice: c_uint = 0x4000_0000;
/// A fence towards host and devices when the event is recorded.
pub const hipEventReleaseToSystem: c_uint = 0x8000_0000;

/// Pinned host memory for the current device.
pub const hipHostMallocDefault: c_uint = 0;
/// Pinned for all devices.
pub const hipHostMallocPortable: c_uint = 1;
/// Mapped into the device's addresses.
pub const hipHostMallocMapped: c_uint = 2;
/// Written by the host past its caches.
pub const hipHostMallocWriteCombined: c_uint = 4;
/// Not cached on the device.
pub const hipHostMallocUncached: c_uint = 0x1000_0000;
/// On the NUMA node of the caller's policy.
pub const hipHostMallocNumaUser: c_uint = 0x2000_0000;
/// Coherent while a kernel runs.
pub const hipHostMallocCoherent: c_uint = 0x4000_0000;
/// Coherent when a kernel has ended.
pub const hipHostMallocNonCoherent: c_uint = 0x8000_0000;

/// In a launch's `extra`: the address of the argument bytes follows.
pub const HIP_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = core::ptr::without_provenance_mut(1);
/// In a launch's `extra`: the address of a `usize`, the number of argument bytes, follows.
pub const HIP_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = core::ptr::without_provenance_mut(2);
/// Ends a launch's `extra`.
pub const HIP_LAUNCH_PARAM_END: *mut c_void = core::ptr::without_provenance_mut(3);

/// Managed memory that all streams may use.
pub const hipMemAttachGlobal: c_uint = 1;
/// Managed memory that no stream uses yet.
pub const hipMemAttachHost: c_uint = 2;

/// Device memory that the host sees while a kernel runs.
pub const hipDeviceMallocFinegrained: c_uint = 1;
/// Device memory for signals.
pub const hipMallocSignalMemory: c_uint = 2;
/// Device memory that is not cached.
pub const hipDeviceMallocUncached: c_uint = 3;
/// Device memory in one piece.
pub const hipDeviceMallocContiguous: c_uint = 4;

/// Registered for all devices.
pub const hipHostRegisterPortable: c_uint = 1;
/// Mapped into the device's addresses.
pub const hipHostRegisterMapped: c_uint = 2;
/// Memory of a device.
pub const hipHostRegisterIoMemory: c_uint = 4;
/// Only read by devices.
pub const hipHostRegisterReadOnly: c_uint = 8;
/// Not cached on the device.
pub const hipExtHostRegisterUncached: c_uint = 0x8000_0000;

/// An event recorded outside of the capture that the stream is in.
pub const hipEventRecordExternal: c_uint = 1;
/// An event waited for outside of the capture that the stream is in.
pub const hipEventWaitExternal: c_uint = 1;

/// How threads wait for a device; the other flags of devices.
pub const hipDeviceFlagsMask: c_uint = 0x1f;

/// New dependencies are added to those of a capture.
pub const hipStreamAddCaptureDependencies: c_uint = 0;
/// New dependencies take the place of those of a capture.
pub const hipStreamSetCaptureDependencies: c_uint = 1;
/// What a graph has allocated and not freed is freed before it runs again.
pub const hipGraphInstantiateFlagAutoFreeOnLaunch: u64 = 1;
/// All flags that a graph may be made ready with.
pub const hipGraphInstantiateFlags: u64 = 0xf;
/// The number that stands for the host in place of a device's.
pub const hipCpuDeviceId: core::ffi::c_int = -1;
