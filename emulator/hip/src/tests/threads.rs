//! Many threads of a program on one device; also run under ThreadSanitizer.

use std::{
    sync::{PoisonError, RwLock},
    thread,
};

use super::*;

/// Written during a capture, which forbids all threads copies that wait (CLR's `CHECK_STREAM_CAPTURING`).
static CAPTURES: RwLock<()> = RwLock::new(());

/// Runs copies that wait while no thread captures.
fn between_captures<R>(copies: impl FnOnce() -> R) -> R {
    let _none = CAPTURES.read().unwrap_or_else(PoisonError::into_inner);
    copies()
}

/// One round of a thread's work. Threads share only the device, its default stream and the kernels.
fn round(add: hipFunction_t, meet: hipFunction_t, number: u32) {
    // Other threads launch work while these streams are captured.
    let own = || {
        // SAFETY: the result pointer is valid.
        result(|stream| unsafe { hipStreamCreateWithFlags(stream, hipStreamNonBlocking) })
    };
    let (first, second): (hipStream_t, hipStream_t) = (own(), own());
    let data = between_captures(|| buffer(&[number; 64]));
    // SAFETY: result pointers and allocations are valid; HIP checks the handles.
    unsafe {
        let event: hipEvent_t = result(|event| hipEventCreate(event));
        // One stream waits for the other.
        let temporary: *mut c_void = result(|address| hipMallocAsync(address, 256, first));
        succeeds(super::add(
            add,
            1,
            &add_arguments(temporary, data, 1),
            first,
        ));
        succeeds(hipEventRecord(event, first));
        succeeds(hipStreamWaitEvent(second, event, 0));
        succeeds(super::add(
            add,
            1,
            &add_arguments(data, temporary, 10),
            second,
        ));
        succeeds(hipFreeAsync(temporary, second));
        // A graph with its own memory, launched after the graph is destroyed.
        let mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
        let alone = CAPTURES.write().unwrap_or_else(PoisonError::into_inner);
        succeeds(hipStreamBeginCapture(first, mode));
        let memory: *mut c_void = result(|address| hipMallocAsync(address, 256, first));
        succeeds(super::add(add, 1, &add_arguments(memory, data, 100), first));
        succeeds(super::add(add, 1, &add_arguments(data, memory, 100), first));
        succeeds(hipFreeAsync(memory, first));
        let graph: hipGraph_t = result(|graph| hipStreamEndCapture(first, graph));
        drop(alone);
        let executable: hipGraphExec_t =
            result(|executable| hipGraphInstantiateWithFlags(executable, graph, 0));
        succeeds(hipGraphDestroy(graph));
        for _ in 0..2 {
            succeeds(hipGraphLaunch(executable, second));
        }
        // A cooperative launch, concurrent with other launches.
        let out = between_captures(|| buffer(&[0; 64]));
        succeeds(cooperative::launch(meet, 5, 1, out, second));
        succeeds(hipEventRecord(event, second));
        succeeds(hipEventSynchronize(event));
        succeeds(hipEventQuery(event));
        let [sums, met] = [(data, 64), (out, 5)]
            .map(|(address, count)| between_captures(|| contents(address, count)));
        assert_eq!(sums, [number + 411; 64]);
        assert_eq!(met, [1, 2, 3, 4, 5]);
        succeeds(hipGraphExecDestroy(executable));
        succeeds(hipEventDestroy(event));
        succeeds(hipStreamDestroy(first));
        succeeds(hipStreamDestroy(second));
        succeeds(hipFree(data));
        succeeds(hipFree(out));
    }
}

#[test]
fn threads_do_everything_at_once() {
    let device = TestDevice::new(Gpu::Gfx942);
    let add = kernel(load(code_object(Gpu::Gfx942)), c"add").addr();
    let meet = cooperative::meet(Gpu::Gfx942).addr();
    thread::scope(|scope| {
        for thread in 0..8 {
            let device = &device;
            scope.spawn(move || {
                device.make_current();
                let function = |handle| ptr::without_provenance_mut(handle);
                for time in 0..20 {
                    round(function(add), function(meet), 1000 * thread + time);
                }
            });
        }
    });
    // SAFETY: the function takes no pointers.
    succeeds(unsafe { hipDeviceSynchronize() });
    for attribute in [0, 2].map(hipGraphMemAttributeType) {
        // SAFETY: the result pointer is valid, and has 64 bits.
        let bytes = result(|value: *mut u64| unsafe {
            hipDeviceGetGraphMemAttribute(device.0, attribute, value.cast())
        });
        assert_eq!(bytes, 0, "all memory of graphs is given back");
    }
}
