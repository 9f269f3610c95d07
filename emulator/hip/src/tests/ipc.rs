//! Memory and events that two processes share.

use super::*;

/// The words of handles, in the child process.
const HANDLE: &str = "FERROWAVE_TEST_IPC_HANDLE";
const EVENT: &str = "FERROWAVE_TEST_IPC_EVENT";
const LAZY: c_uint = hipIpcMemLazyEnablePeerAccess;
const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;

/// Opens a handle in a child process, which expects the words 1, 2, 3 and adds 10 to them in a kernel. Returns whether
/// it could.
#[track_caller]
fn child_adds_ten(handle: hipIpcMemHandle_t) -> bool {
    let words: Vec<_> = handle.reserved.iter().map(u64::to_string).collect();
    let said = output_of(child("tests::ipc::the_child_adds_ten").env(HANDLE, words.join(" ")));
    said.contains("added")
}

#[test]
fn the_child_adds_ten() {
    let Some(reserved) = handed(HANDLE) else {
        return;
    };
    let handle = hipIpcMemHandle_t { reserved };
    let _device = TestDevice::new(Gpu::Gfx942);
    let mut opened = ptr::null_mut();
    // SAFETY: the result pointers are valid; HIP checks handle and addresses.
    unsafe {
        let code = hipIpcOpenMemHandle(&mut opened, handle, LAZY);
        if code == hipError_t::hipErrorInvalidDevicePointer {
            return;
        }
        succeeds(code);
        assert_eq!(contents(opened, 3), [1, 2, 3]);
        let (mut base, mut bytes) = (ptr::null_mut(), 0);
        succeeds(hipMemGetAddressRange(&mut base, &mut bytes, opened));
        assert_eq!((opened.addr() - base.addr(), bytes), (4096, 1 << 20));
        let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
        let arguments = add_arguments(opened, opened, 10);
        succeeds(add(function, 1, &arguments, ptr::null_mut()));
        // It is not memory of this process, which cannot free it.
        fails(hipFree(base), INVALID, "not from hipMalloc");
        succeeds(hipIpcCloseMemHandle(opened));
        fails(hipIpcCloseMemHandle(opened), INVALID, "or was closed");
        let mut out = 0_u32;
        let copied = hipMemcpyDtoH((&raw mut out).cast(), opened, 4);
        assert_eq!(copied, INVALID, "{}", last_error_detail());
    }
    println!("added");
}

#[test]
fn processes_share_memory() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let data = allocate(1 << 20);
    let inside = data.wrapping_byte_add(4096);
    let words: Vec<u32> = (1..=64).collect();
    // SAFETY: the memory has that many words; HIP checks handles and addresses.
    unsafe {
        succeeds(hipMemcpyHtoD(inside, words.as_ptr().cast(), 256));
        let handle = result(|handle| hipIpcGetMemHandle(handle, inside));
        let mut opened = ptr::null_mut();
        let same = hipIpcOpenMemHandle(&mut opened, handle, LAZY);
        fails(same, hipError_t::hipErrorInvalidContext, "of this process");
        assert!(child_adds_ten(handle));
        assert_eq!(contents(inside, 3), [11, 12, 13]);
        // Both keep sharing, under the same handle.
        succeeds(hipMemcpyHtoD(inside, words.as_ptr().cast(), 256));
        let again = result(|handle| hipIpcGetMemHandle(handle, inside));
        assert_eq!(again.reserved, handle.reserved);
        assert!(child_adds_ten(again));
        assert_eq!(contents(inside, 3), [11, 12, 13]);
        succeeds(hipFree(data));
        assert!(!child_adds_ten(handle), "the memory was freed");

        let mut handle = handle;
        let flags = hipIpcOpenMemHandle(&mut opened, handle, 0);
        fails(flags, INVALID, "flags are 0x0");
        handle.reserved[0] = 0;
        let foreign = hipIpcOpenMemHandle(&mut opened, handle, LAZY);
        fails(foreign, INVALID, "not from hipIpcGetMemHandle");
        let host = result(|address| hipHostMalloc(address, 64, 0));
        fails(hipIpcGetMemHandle(&mut handle, host), INVALID, "can share");
        fails(hipIpcGetMemHandle(&mut handle, data), INVALID, "can share");
        fails(
            hipIpcCloseMemHandle(host),
            INVALID,
            "not in memory of hipIpcOpenMemHandle",
        );
    }
}

/// A handle that a parent process has put in the environment.
fn handed(variable: &str) -> Option<[u64; 8]> {
    let words = env::var(variable).ok()?;
    let words = words.split(' ').map(|word| word.parse().expect("a number"));
    let words: Vec<u64> = words.collect();
    Some(words.try_into().expect("eight words"))
}

#[test]
fn the_child_waits_for_the_event() {
    let (Some(event), Some(memory)) = (handed(EVENT), handed(HANDLE)) else {
        return;
    };
    let _device = TestDevice::new(Gpu::Gfx90a);
    // SAFETY: the result pointers are valid; HIP checks handles and addresses.
    unsafe {
        let handle = hipIpcEventHandle_t { reserved: event };
        let event = result(|event| hipIpcOpenEventHandle(event, handle));
        let handle = hipIpcMemHandle_t { reserved: memory };
        let data = result(|address| hipIpcOpenMemHandle(address, handle, LAZY));
        assert_eq!(hipEventQuery(event), hipError_t::hipErrorNotReady);
        // The parent goes on when it sees this, after the wait has begun.
        let (first, copy) = (stream(), allocate(4));
        succeeds(hipStreamWaitEvent(first, event, 0));
        succeeds(hipMemcpyDtoDAsync(copy, data, 4, first));
        assert_eq!(hipStreamQuery(first), hipError_t::hipErrorNotReady);
        println!("waits");
        succeeds(hipEventSynchronize(event));
        succeeds(hipEventQuery(event));
        assert_eq!(contents(data, 1), [5]);
        succeeds(hipStreamSynchronize(first));
        assert_eq!(contents(copy, 1), [5]);
        // The other way round.
        succeeds(hipMemsetD32Async(data, 6, 1, first));
        succeeds(hipEventRecord(event, first));
        succeeds(hipStreamSynchronize(first));
        succeeds(hipEventDestroy(event));
    }
}

#[test]
fn processes_wait_for_each_others_events() {
    unsafe extern "C" fn wait(gate: *mut c_void) {
        // SAFETY: the test passes a receiver that it leaks.
        let _ = unsafe { &*gate.cast::<std::sync::mpsc::Receiver<()>>() }.recv();
    }
    let _device = TestDevice::new(Gpu::Gfx90a);
    let data = buffer(&[1]);
    let flags = hipEventInterprocess | hipEventDisableTiming;
    let (open, gate) = std::sync::mpsc::channel();
    // SAFETY: the result pointers are valid; HIP checks handles and addresses.
    unsafe {
        let event: hipEvent_t = result(|event| hipEventCreateWithFlags(event, flags));
        let first = stream();
        let handle = result(|handle| hipIpcGetEventHandle(handle, event));
        let same = hipIpcOpenEventHandle(&mut ptr::null_mut(), handle);
        fails(same, hipError_t::hipErrorInvalidContext, "of this process");
        let none = hipIpcOpenEventHandle(&mut ptr::null_mut(), hipIpcEventHandle_t::ZERO);
        fails(none, INVALID, "not from hipIpcGetEventHandle");
        let plain: hipEvent_t = result(|event| hipEventCreate(event));
        let mut out = handle;
        let code = hipError_t::hipErrorInvalidConfiguration;
        fails(
            hipIpcGetEventHandle(&mut out, plain),
            code,
            "hipEventInterprocess",
        );
        fails(
            hipIpcGetEventHandle(&mut out, ptr::null_mut()),
            INVALID,
            "live event",
        );

        let memory: hipIpcMemHandle_t = result(|handle| hipIpcGetMemHandle(handle, data));
        // The event is recorded behind a function that waits for the child.
        let gate = Box::into_raw(Box::new(gate)).cast();
        succeeds(hipLaunchHostFunc(first, Some(wait), gate));
        succeeds(hipMemsetD32Async(data, 5, 1, first));
        succeeds(hipEventRecord(event, first));
        let text = |words: [u64; 8]| words.map(|word| word.to_string()).join(" ");
        let mut child = child("tests::ipc::the_child_waits_for_the_event")
            .env(EVENT, text(handle.reserved))
            .env(HANDLE, text(memory.reserved))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("the child starts");
        let said = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
        let mut said = std::io::BufRead::lines(said).map_while(Result::ok);
        let waits = said.any(|line| line.contains("waits"));
        open.send(()).expect("the receiver is leaked");
        let rest: Vec<_> = said.collect();
        let ended = child.wait().expect("the child ends");
        assert!(waits && ended.success(), "{}", rest.join("\n"));
        succeeds(hipEventSynchronize(event));
        assert_eq!(contents(data, 1), [6]);
    }
}
