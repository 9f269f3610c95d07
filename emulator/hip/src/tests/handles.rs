//! Invalid handles and null pointers.

use super::*;

const INVALID_HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;

/// Calls all functions that take handles with these.
fn all_refuse(
    stream: hipStream_t,
    event: hipEvent_t,
    module: hipModule_t,
    function: hipFunction_t,
) {
    let (mut pointer, mut number, mut bytes, mut milliseconds) = (ptr::null_mut(), 0, 0, 0.0);
    let mut made: hipFunction_t = ptr::null_mut();
    let mut data = [0_u8; 8];
    let data = data.as_mut_ptr().cast::<c_void>();
    let attribute = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS;
    let null = ptr::null_mut();
    // SAFETY: the result pointers are valid; HIP rejects the handles.
    let codes = unsafe {
        [
            ("stream", hipStreamDestroy(stream)),
            ("stream", hipStreamSynchronize(stream)),
            ("stream", hipStreamQuery(stream)),
            (
                "stream",
                hipMemcpyAsync(data, data, 8, hipMemcpyKind::hipMemcpyHostToHost, stream),
            ),
            ("stream", hipMemcpyHtoDAsync(data, data, 8, stream)),
            ("stream", hipMemcpyDtoHAsync(data, data, 8, stream)),
            ("stream", hipMemcpyDtoDAsync(data, data, 8, stream)),
            ("stream", hipMemsetAsync(data, 0, 8, stream)),
            ("stream", hipMemsetD8Async(data, 0, 8, stream)),
            ("stream", hipMemsetD32Async(data, 0, 2, stream)),
            ("pool", hipMallocAsync(&mut pointer, 8, stream)),
            ("pool", hipFreeAsync(data, stream)),
            ("order", hipStreamWaitEvent(stream, event, 0)),
            ("event", hipStreamWaitEvent(null, event, 0)),
            ("event", hipEventRecord(event, null)),
            ("event", hipEventSynchronize(event)),
            ("event", hipEventQuery(event)),
            (
                "event",
                hipEventElapsedTime(&mut milliseconds, event, event),
            ),
            ("gone", hipEventDestroy(event)),
            (
                "module",
                hipModuleGetFunction(&mut made, module, c"add".as_ptr()),
            ),
            (
                "module",
                hipModuleGetGlobal(&mut pointer, &mut bytes, module, c"table".as_ptr()),
            ),
            (
                "kernel",
                hipFuncGetAttribute(&mut number, attribute, function),
            ),
            (
                "kernel",
                hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut number, function, 64, 0),
            ),
            ("kernel", add(function, 1, &[0; 20], null)),
        ]
    };
    for (index, (what, code)) in codes.into_iter().enumerate() {
        let expected = match what {
            "stream" | "gone" => hipError_t::hipErrorContextIsDestroyed,
            _ => INVALID_HANDLE,
        };
        assert_eq!(code, expected, "call {index}");
    }
    assert!(last_error_detail().ends_with("is not the handle of a live kernel"));
}

#[test]
fn stale_and_forged_handles_are_refused() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let module = load(code_object(Gpu::Gfx942));
    let function = kernel(module, c"add");
    let stream = stream();
    // SAFETY: the result pointers are valid; HIP checks the handles.
    let event = unsafe {
        let event = result(|event| hipEventCreate(event));
        succeeds(hipModuleUnload(module));
        succeeds(hipStreamDestroy(stream));
        succeeds(hipEventDestroy(event));
        event
    };
    all_refuse(stream, event, module, function);
    for forged in [3, 0x1001, usize::MAX, (&raw const event).addr()] {
        let forged = ptr::without_provenance_mut::<c_void>(forged);
        all_refuse(forged.cast(), forged.cast(), forged.cast(), forged.cast());
    }
    // A handle of another kind is invalid too.
    let live = super::stream();
    let event_made = super::stream();
    all_refuse(
        // SAFETY: the result pointer is valid.
        unsafe { result::<hipEvent_t>(|event| hipEventCreate(event)) }.cast(),
        live.cast(),
        event_made.cast(),
        live.cast(),
    );
}

#[test]
fn the_default_stream_stays() {
    let _device = TestDevice::new(Gpu::Gfx942);
    for stream in [ptr::null_mut(), hipStreamLegacy, hipStreamPerThread] {
        // SAFETY: HIP checks the handles.
        unsafe {
            succeeds(hipStreamSynchronize(stream));
            fails(
                hipStreamDestroy(stream),
                INVALID_HANDLE,
                "cannot be destroyed",
            );
        }
    }
}

#[test]
fn null_results_are_refused() {
    let device = TestDevice::new(Gpu::Gfx942);
    let module = load(code_object(Gpu::Gfx942));
    let function = kernel(module, c"add");
    let image = code_object(Gpu::Gfx942).as_ptr().cast();
    let device = device.0;
    let (mut free, mut event) = (0, ptr::null_mut());
    let attribute = hipDeviceAttribute_t::hipDeviceAttributeWarpSize;
    let registers = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS;
    // Null, and a number that is no address of memory.
    for address in [0, 8] {
        let null = ptr::without_provenance_mut::<u64>(address);
        // SAFETY: no memory is at the pointers.
        let codes = unsafe {
            succeeds(hipEventCreate(&mut event));
            [
                hipDriverGetVersion(null.cast()),
                hipRuntimeGetVersion(null.cast()),
                hipGetProcAddress(c"hipInit".as_ptr(), null.cast(), 600, 0, null.cast()),
                hipGetProcAddress(ptr::null(), (&raw mut free).cast(), 600, 0, null.cast()),
                hipGetDeviceCount(null.cast()),
                hipDeviceGet(null.cast(), device),
                hipDeviceGetName(null.cast(), 100, device),
                hipDeviceTotalMem(null.cast(), device),
                hipDeviceGetAttribute(null.cast(), attribute, device),
                hipGetDevicePropertiesR0600(null.cast(), device),
                hipGetDevicePropertiesR0000(null.cast(), device),
                hipGetDeviceProperties(null.cast(), device),
                hipGetDevice(null.cast()),
                hipMalloc(null.cast(), 4),
                hipHostMalloc(null.cast(), 4, 0),
                hipModuleLoad(null.cast(), c"file".as_ptr()),
                hipModuleLoad((&raw mut free).cast(), ptr::null()),
                hipModuleLoadData(null.cast(), image),
                hipModuleGetFunction(null.cast(), module, c"add".as_ptr()),
                hipModuleGetGlobal(null.cast(), null.cast(), module, ptr::null()),
                hipFuncGetAttribute(null.cast(), registers, function),
                hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(null.cast(), function, 64, 0),
                hipStreamCreate(null.cast()),
                hipStreamCreateWithFlags(null.cast(), 0),
                hipEventCreate(null.cast()),
                hipEventCreateWithFlags(null.cast(), 0),
                hipEventElapsedTime(null.cast(), event, event),
            ]
        };
        for (index, code) in codes.into_iter().enumerate() {
            assert_eq!(
                code,
                hipError_t::hipErrorInvalidValue,
                "call {index} with {address}"
            );
        }
    }
}

#[test]
fn unknown_flags_are_refused() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let (mut stream, mut event) = (ptr::null_mut(), ptr::null_mut());
    let invalid = hipError_t::hipErrorInvalidValue;
    // SAFETY: the result pointers are valid.
    unsafe {
        fails(hipInit(1), invalid, "flags are 0x1");
        fails(
            hipStreamCreateWithFlags(&mut stream, 2),
            invalid,
            "flags are 0x2",
        );
        fails(
            hipEventCreateWithFlags(&mut event, 0x100),
            invalid,
            "flags are 0x100",
        );
        let shared = hipEventCreateWithFlags(&mut event, hipEventInterprocess);
        fails(shared, invalid, "must not record the time");
        let fences = hipEventReleaseToDevice | hipEventReleaseToSystem;
        let both = hipEventCreateWithFlags(&mut event, fences);
        fails(both, invalid, "one kind of fence");
        assert!(stream.is_null() && event.is_null());
        succeeds(hipEventCreateWithFlags(&mut event, hipEventBlockingSync));
        fails(
            hipStreamWaitEvent(stream, event, 2),
            invalid,
            "flags are 0x2",
        );
        succeeds(hipStreamWaitEvent(stream, event, 0));
    }
}
