//! Streams run concurrently, each in order.

use std::sync::{
    Barrier, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc,
};

use ferrowave_emulator::memory::BLOCK_BYTES;

use super::*;

/// A gate that blocks a stream until it is opened.
struct Gate(mpsc::Sender<()>);

impl Gate {
    /// Blocks a stream.
    fn close(stream: hipStream_t) -> Self {
        unsafe extern "C" fn wait(gate: *mut c_void) {
            // SAFETY: `close` has passed on the ownership.
            let gate = unsafe { Box::from_raw(gate.cast::<mpsc::Receiver<()>>()) };
            let _ = gate.recv();
        }
        let (open, gate) = mpsc::channel();
        let gate = Box::into_raw(Box::new(gate)).cast();
        // SAFETY: the function consumes its argument once.
        succeeds(unsafe { hipLaunchHostFunc(stream, Some(wait), gate) });
        Gate(open)
    }

    fn open(self) {
        let _ = self.0.send(());
    }
}

const NOT_READY: hipError_t = hipError_t::hipErrorNotReady;

#[test]
fn a_memset_without_work_before_it_is_over_at_once() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let null = ptr::null_mut();
    let data = buffer(&[0; 64]);
    // SAFETY: the memory has that many bytes.
    unsafe {
        for _ in 0..100 {
            succeeds(hipMemset(data, 1, 256));
            succeeds(hipStreamQuery(null));
        }
        let gate = Gate::close(null);
        succeeds(hipMemset(data, 2, 256));
        assert_eq!(hipStreamQuery(null), NOT_READY);
        gate.open();
    }
    assert_eq!(contents(data, 64), [0x0202_0202; 64]);
}

#[test]
fn a_copy_between_devices_is_work_of_the_default_streams() {
    let [first, second] = [Gpu::Gfx942; 2].map(TestDevice::new);
    let null = ptr::null_mut();
    let to = buffer(&[0; 64]);
    first.make_current();
    let from = buffer(&[7; 64]);
    // SAFETY: the memory has that many bytes.
    unsafe {
        let gate = Gate::close(null);
        succeeds(hipMemset(from, 1, 256));
        second.make_current();
        succeeds(hipMemcpyPeer(to, second.0, from, first.0, 256));
        assert_eq!(hipStreamQuery(null), NOT_READY);
        // Later work of the target's default stream waits, too.
        succeeds(hipMemsetAsync(to, 2, 128, null));
        gate.open();
    }
    let expected: Vec<u32> = (0..64)
        .map(|word| if word < 32 { 0x0202_0202 } else { 0x0101_0101 })
        .collect();
    assert_eq!(contents(to, 64), expected);
}

#[test]
fn a_launch_returns_before_it_runs_and_streams_are_in_order() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let data = buffer(&[0; 64]);
    let (stream, other) = (stream(), stream());
    let gate = Gate::close(stream);
    for _ in 0..10 {
        succeeds(add(function, 1, &add_arguments(data, data, 1), stream));
    }
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let event: hipEvent_t = result(|event| hipEventCreate(event));
        succeeds(hipEventRecord(event, stream));
        assert_eq!(hipStreamQuery(stream), NOT_READY);
        assert_eq!(hipEventQuery(event), NOT_READY);
        succeeds(hipStreamQuery(other));
        // Another stream waits for the event only if told to.
        succeeds(hipStreamWaitEvent(other, event, 0));
        assert_eq!(hipStreamQuery(other), NOT_READY);
        gate.open();
        succeeds(hipStreamSynchronize(other));
        succeeds(hipEventQuery(event));
        succeeds(hipStreamQuery(stream));
    }
    assert_eq!(contents(data, 64), [10; 64]);
}

#[test]
fn the_default_stream_waits_for_blocking_streams_only() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let blocking = stream();
    // SAFETY: the result pointer is valid.
    let free: hipStream_t =
        result(|stream| unsafe { hipStreamCreateWithFlags(stream, hipStreamNonBlocking) });
    let gate = Gate::close(blocking);
    let data = allocate(8);
    // SAFETY: the allocations are valid; HIP checks the handles.
    unsafe {
        succeeds(hipMemsetD8Async(data, 1, 4, ptr::null_mut()));
        assert_eq!(hipStreamQuery(ptr::null_mut()), NOT_READY);
        succeeds(hipMemsetD8Async(data.byte_add(4), 2, 4, free));
        succeeds(hipStreamSynchronize(free));
        // A thread's own default stream is a blocking stream.
        succeeds(hipMemsetD8Async(data, 3, 2, hipStreamPerThread));
        assert_eq!(hipStreamQuery(hipStreamPerThread), NOT_READY);
        gate.open();
        succeeds(hipStreamSynchronize(hipStreamPerThread));
    }
    assert_eq!(contents(data, 2), [0x0101_0303, 0x0202_0202]);
}

#[test]
fn what_the_caller_may_change_is_read_before_a_copy_returns() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let stream = stream();
    let data = allocate(4);
    let gate = Gate::close(stream);
    let mut word = 5_u32;
    // SAFETY: the test's word and the allocation are valid.
    unsafe {
        succeeds(hipMemcpyHtoDAsync(
            data,
            (&raw const word).cast(),
            4,
            stream,
        ));
        word = 6;
        assert_eq!(hipStreamQuery(stream), NOT_READY);
        gate.open();
        let mut back = 0_u32;
        succeeds(hipMemcpyDtoHAsync((&raw mut back).cast(), data, 4, stream));
        // A copy to host memory is complete when the call returns.
        assert_eq!(back, 5);
        assert_eq!(word, 6);
    }
    // The last two bytes of each of two rows.
    let mut rows = [1_u8, 2, 3, 4, 5, 6];
    let rows_there = buffer(&[0; 2]);
    let gate = Gate::close(stream);
    // SAFETY: the rows and the allocation are valid.
    unsafe {
        succeeds(hipMemcpy2DAsync(
            rows_there,
            4,
            rows.as_ptr().add(1).cast(),
            3,
            2,
            2,
            hipMemcpyKind::hipMemcpyHostToDevice,
            stream,
        ));
        rows = [0; 6];
        assert_eq!(hipStreamQuery(stream), NOT_READY);
        gate.open();
        succeeds(hipStreamSynchronize(stream));
    }
    assert_eq!(contents(rows_there, 2), [0x0302, 0x0605]);
    assert_eq!(rows, [0; 6]);
}

#[test]
fn a_callback_hears_of_its_streams_failure_and_must_not_wait() {
    static HEARD: Mutex<Vec<hipError_t>> = Mutex::new(Vec::new());
    unsafe extern "C" fn hear(stream: hipStream_t, status: hipError_t, _: *mut c_void) {
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push(status);
        // The callback must not wait for its own stream.
        // SAFETY: HIP checks the handle.
        heard.push(unsafe { hipStreamSynchronize(stream) });
    }
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let last_word = allocate(BLOCK_BYTES).wrapping_byte_add(BLOCK_BYTES - 4);
    let stream = stream();
    let callback = Some(hear as unsafe extern "C" fn(hipStream_t, hipError_t, *mut c_void));
    // SAFETY: HIP checks the handles; the callback does not use its data.
    unsafe {
        succeeds(hipStreamAddCallback(stream, callback, ptr::null_mut(), 0));
        succeeds(add(
            function,
            1,
            &add_arguments(last_word, last_word, 1),
            stream,
        ));
        succeeds(hipStreamAddCallback(stream, callback, ptr::null_mut(), 0));
        let illegal = hipError_t::hipErrorIllegalAddress;
        assert_eq!(hipStreamSynchronize(stream), illegal);
        let heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        let state = hipError_t::hipErrorIllegalState;
        assert_eq!(*heard, [hipError_t::hipSuccess, state, illegal, state]);
    }
}

#[test]
fn memory_is_freed_when_its_stream_comes_to_it() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let stream = stream();
    let (mut free, mut total, mut data) = (0, 0, ptr::null_mut());
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        succeeds(hipMallocAsync(&mut data, 4096, stream));
        let gate = Gate::close(stream);
        succeeds(hipFreeAsync(data, stream));
        let invalid = hipError_t::hipErrorInvalidValue;
        fails(hipFreeAsync(data, stream), invalid, "was freed before");
        fails(hipFree(data), invalid, "was freed before");
        succeeds(hipMemGetInfo(&mut free, &mut total));
        assert_eq!(total - free, 4096);
        gate.open();
        succeeds(hipStreamSynchronize(stream));
        succeeds(hipMemGetInfo(&mut free, &mut total));
        assert_eq!(free, total);
    }
}

/// Threads share streams, events, memory and modules; also run under ThreadSanitizer.
#[test]
fn threads_may_share_everything() {
    const THREADS: usize = 8;
    let device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add").addr();
    let shared = stream().addr();
    // SAFETY: the result pointer is valid.
    let event = result::<hipEvent_t>(|event| unsafe { hipEventCreate(event) }).addr();
    let counted = AtomicUsize::new(0);
    let (start, over) = (Barrier::new(THREADS), AtomicBool::new(false));
    unsafe extern "C" fn count(counted: *mut c_void) {
        // SAFETY: the address is the test's counter.
        unsafe { &*counted.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
    }
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (device, counted, start, over) = (&device, &counted, &start, &over);
            scope.spawn(move || {
                device.make_current();
                let function: hipFunction_t = ptr::without_provenance_mut(function);
                let shared: hipStream_t = ptr::without_provenance_mut(shared);
                let event: hipEvent_t = ptr::without_provenance_mut(event);
                let (own, data) = (stream(), buffer(&[0; 64]));
                start.wait();
                for round in 0..20 {
                    let stream = if round % 2 == 0 { own } else { shared };
                    succeeds(add(function, 1, &add_arguments(data, data, 1), stream));
                    // SAFETY: HIP checks the handles; the counter outlives the streams' work.
                    unsafe {
                        let counter = ptr::from_ref(counted).cast_mut().cast();
                        succeeds(hipLaunchHostFunc(stream, Some(count), counter));
                        succeeds(hipEventRecord(event, stream));
                        succeeds(hipStreamWaitEvent(own, event, 0));
                        succeeds(hipStreamWaitEvent(shared, event, 0));
                        let scratch: *mut c_void =
                            result(|address| hipMallocAsync(address, 64 << (round % 4), own));
                        succeeds(hipMemsetAsync(scratch, thread as c_int, 64, own));
                        succeeds(hipFreeAsync(scratch, own));
                        let _ = hipEventQuery(event);
                    }
                }
                // SAFETY: HIP checks the handle.
                succeeds(unsafe { hipDeviceSynchronize() });
                assert_eq!(contents(data, 64), [20; 64]);
                over.store(true, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(counted.load(Ordering::Relaxed), THREADS * 20);
}

#[test]
fn a_stream_waits_for_values_that_another_writes() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let (waits, writes) = (stream(), stream());
    let data = buffer(&[0; 4]);
    // SAFETY: HIP checks addresses and handles.
    unsafe {
        let other = data.byte_add(8);
        // Which value ends the wait, by the table in HIP's documentation.
        for (flags, value, too_early, mask) in [
            (hipStreamWaitValueGte, 5, 4, u32::MAX),
            (hipStreamWaitValueEq, 5, 6, u32::MAX),
            (hipStreamWaitValueEq, 5, 4, 0xf),
            (hipStreamWaitValueAnd, 4, 3, u32::MAX),
        ] {
            succeeds(hipStreamWriteValue32(writes, data, too_early, 0));
            succeeds(hipStreamSynchronize(writes));
            succeeds(hipStreamWaitValue32(waits, data, value, flags, mask));
            succeeds(hipStreamWriteValue64(
                waits,
                other,
                1 << 40 | u64::from(value),
                0,
            ));
            assert_eq!(hipStreamQuery(waits), NOT_READY);
            succeeds(hipStreamWriteValue32(writes, data, value, 0));
            succeeds(hipStreamSynchronize(waits));
            assert_eq!(contents(data, 4), [value, 0, value, 1 << 8]);
        }
        // All bits set: the nor is 0, also of 4 bytes.
        succeeds(hipStreamWriteValue32(writes, data, u32::MAX, 0));
        succeeds(hipStreamSynchronize(writes));
        succeeds(hipStreamWaitValue32(
            waits,
            data,
            0,
            hipStreamWaitValueNor,
            u32::MAX,
        ));
        assert_eq!(hipStreamQuery(waits), NOT_READY);
        let operation = |operation, address, value| hipStreamBatchMemOpParams {
            operation,
            address,
            value,
            ..hipStreamBatchMemOpParams::ZERO
        };
        let mut batch = [operation(2, data, 3), operation(5, other, 9)];
        succeeds(hipStreamBatchMemOp(writes, 2, batch.as_mut_ptr(), 0));
        succeeds(hipStreamSynchronize(waits));
        succeeds(hipStreamSynchronize(writes));
        assert_eq!(contents(data, 4), [3, 0, 9, 0]);

        let value = hipError_t::hipErrorInvalidValue;
        let last = data.byte_add(12);
        fails(
            hipStreamWriteValue64(writes, last, 0, 0),
            value,
            "inside one allocation",
        );
        fails(
            hipStreamWaitValue32(waits, data, 0, 4, 1),
            value,
            "flags are 0x4",
        );
        batch[1].operation = 6;
        let refused = hipStreamBatchMemOp(writes, 2, batch.as_mut_ptr(), 0);
        fails(refused, hipError_t::hipErrorNotSupported, "operation 6");
    }
}

#[test]
fn a_mask_of_compute_units_is_kept() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let mut mask = [0_u32; 4];
    // SAFETY: the masks have four words; the result pointers are valid.
    unsafe {
        let all = [u32::MAX, u32::MAX, u32::MAX, 0xff];
        succeeds(hipExtStreamGetCUMask(ptr::null_mut(), 4, mask.as_mut_ptr()));
        assert_eq!(mask, all, "104 compute units");
        for (wanted, given) in [
            ([6, 0, 0, 1 << 31], [6, 0, 0, 0]),
            ([0, 0, 0, 1 << 31], all),
        ] {
            let stream: hipStream_t =
                result(|stream| hipExtStreamCreateWithCUMask(stream, 4, wanted.as_ptr()));
            succeeds(hipExtStreamGetCUMask(stream, 4, mask.as_mut_ptr()));
            assert_eq!(mask, given);
        }
        let value = hipError_t::hipErrorInvalidValue;
        let short = hipExtStreamGetCUMask(ptr::null_mut(), 3, mask.as_mut_ptr());
        fails(short, value, "104 compute units need 4");
        let mut stream = ptr::null_mut();
        let long = hipExtStreamCreateWithCUMask(&mut stream, u32::MAX, mask.as_ptr());
        fails(long, value, "no 4294967295 elements");
        let empty = hipExtStreamCreateWithCUMask(&mut stream, 0, mask.as_ptr());
        fails(empty, value, "is empty");
    }
}

#[test]
fn streams_keep_the_policy_by_which_threads_wait() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let (policy, priority) = (3, 8);
    let get = |stream, attribute| {
        // SAFETY: both attributes are integers.
        result::<c_int>(|value| unsafe { hipStreamGetAttribute(stream, attribute, value.cast()) })
    };
    let set = |stream, value: c_int| {
        // SAFETY: the policy is an integer.
        unsafe { hipStreamSetAttribute(stream, policy, (&raw const value).cast()) }
    };
    // SAFETY: the result pointer is valid.
    let first = result(|stream| unsafe { hipStreamCreateWithPriority(stream, 0, -1) });
    let default = ptr::null_mut();
    assert_eq!((get(first, policy), get(first, priority)), (1, -1));
    succeeds(set(first, 4));
    assert_eq!((get(first, policy), get(default, policy)), (4, 1));
    // SAFETY: HIP checks handles and attributes; values are null or large enough.
    unsafe {
        succeeds(hipStreamCopyAttributes(default, first));
        assert_eq!((get(default, policy), get(default, priority)), (4, 0));
        let invalid = hipError_t::hipErrorInvalidValue;
        fails(
            set(first, 5),
            invalid,
            "the policy is 5, but must be from 1 to 4",
        );
        fails(set(first, 0), invalid, "the policy is 0");
        let mut value = [0_u32; 16];
        let value = value.as_mut_ptr().cast::<c_void>();
        fails(
            hipStreamSetAttribute(first, priority, value),
            invalid,
            "8, but must be 3",
        );
        fails(
            hipStreamGetAttribute(first, 1, value),
            invalid,
            "3 (policy) or 8",
        );
        fails(
            hipStreamGetAttribute(first, 3, ptr::null_mut()),
            invalid,
            "null",
        );
        let stale = hipError_t::hipErrorInvalidHandle;
        let other = ptr::without_provenance_mut(24);
        fails(hipStreamCopyAttributes(first, other), stale, "0x18");
        let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
        succeeds(hipStreamBeginCapture(first, mode));
        let unsupported = hipError_t::hipErrorStreamCaptureUnsupported;
        fails(set(first, 1), unsupported, "captured");
    }
}
