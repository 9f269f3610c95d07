//! Memory and events that two processes share.

use super::*;

/// The words of handles, in the child process.
const HANDLE: &str = "FERROWAVE_TEST_IPC_HANDLE";
const EVENT: &str = "FERROWAVE_TEST_IPC_EVENT";
/// The pool's file descriptor, in the child process.
const POOL: &str = "FERROWAVE_TEST_IPC_POOL";
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
    // Another test's memory could come to lie where this one's was freed.
    if !alone("tests::ipc::processes_share_memory") {
        return;
    }
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

const DESCRIPTOR: hipMemAllocationHandleType =
    hipMemAllocationHandleType::hipMemHandleTypePosixFileDescriptor;

/// Imports a pool by its descriptor.
fn import(pool: &mut hipMemPool_t, descriptor: usize) -> hipError_t {
    let descriptor = ptr::without_provenance_mut(descriptor);
    // SAFETY: the result pointer is valid; HIP checks the descriptor.
    unsafe { hipMemPoolImportFromShareableHandle(pool, descriptor, DESCRIPTOR, 0) }
}

#[test]
fn the_child_imports_the_pool() {
    let (Some(reserved), Ok(descriptor)) = (handed(HANDLE), env::var(POOL)) else {
        return;
    };
    let device = TestDevice::new(Gpu::Gfx90a);
    let mut pool = ptr::null_mut();
    succeeds(import(&mut pool, descriptor.parse().expect("a number")));
    let mut data = hipMemPoolPtrExportData { reserved };
    // SAFETY: the result pointers are valid; HIP checks addresses and data.
    unsafe {
        let threshold = hipMemPoolAttr::hipMemPoolAttrReleaseThreshold;
        assert_eq!(
            result::<u64>(|value| hipMemPoolGetAttribute(pool, threshold, value.cast())),
            77
        );
        let mut open = || result(|address| hipMemPoolImportPointer(address, pool, &raw mut data));
        let words: *mut c_void = open();
        assert_eq!(contents(words, 3), [1, 2, 3]);
        assert_eq!(
            result::<hipPointerAttribute_t>(|of| hipPointerGetAttributes(of, words)).device,
            device.0
        );
        succeeds(hipMemsetD32(words, 4, 1));
        fails(hipIpcCloseMemHandle(allocate(4)), INVALID, "not in memory");
        succeeds(hipFree(words));
        fails(hipFree(words), INVALID, "freed before");
        let words = open();
        assert_eq!(contents(words, 1), [4]);
        succeeds(hipFreeAsync(words, ptr::null_mut()));
        let mut none = ptr::null_mut();
        let code = hipError_t::hipErrorOutOfMemory;
        let mut empty = hipMemPoolPtrExportData::ZERO;
        let nothing = hipMemPoolImportPointer(&mut none, pool, &mut empty);
        fails(nothing, code, "not from hipMemPoolExportPointer");
        succeeds(hipMemPoolDestroy(pool));
        let stale = hipMemPoolImportPointer(&mut none, pool, &mut data);
        fails(stale, INVALID, "is not a memory pool");
    }
}

#[test]
fn processes_share_pools() {
    let device = TestDevice::new(Gpu::Gfx942);
    let null: *mut c_void = ptr::null_mut();
    let none = hipMemAllocationHandleType::hipMemHandleTypeNone;
    let plain = pool_properties(&device);
    let properties = hipMemPoolProps {
        handleTypes: DESCRIPTOR.0,
        ..plain
    };
    // SAFETY: the result pointers are valid or null; HIP checks handles and addresses.
    unsafe {
        let pool: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &properties));
        let mut threshold = 77_u64;
        succeeds(hipMemPoolSetAttribute(
            pool,
            hipMemPoolAttr::hipMemPoolAttrReleaseThreshold,
            (&raw mut threshold).cast(),
        ));
        let data: *mut c_void =
            result(|address| hipMallocFromPoolAsync(address, 12, pool, null.cast()));
        succeeds(hipMemcpyHtoD(data, [1_u32, 2, 3].as_ptr().cast(), 12));
        let mut descriptor: c_int = -1;
        let place = (&raw mut descriptor).cast();
        succeeds(hipMemPoolExportToShareableHandle(
            place, pool, DESCRIPTOR, 0,
        ));
        let exported = result(|exported| hipMemPoolExportPointer(exported, data));
        // The child inherits a copy of the descriptor, unlike the descriptor itself.
        let inherited = libc::dup(descriptor);
        libc::close(descriptor);
        let words = exported.reserved.map(|word| word.to_string()).join(" ");
        let mut child = child("tests::ipc::the_child_imports_the_pool");
        output_of(child.env(HANDLE, words).env(POOL, inherited.to_string()));
        assert_eq!(contents(data, 3), [4, 2, 3]);
        // Also within the process.
        let mut own = null.cast();
        succeeds(import(&mut own, inherited as usize));
        let mut exported = exported;
        let same: *mut c_void =
            result(|address| hipMemPoolImportPointer(address, own, &raw mut exported));
        assert_eq!(contents(same, 3), [4, 2, 3]);
        succeeds(hipFree(same));
        succeeds(hipFree(data));

        let memory = hipError_t::hipErrorOutOfMemory;
        fails(
            hipMemPoolExportPointer(&mut exported, data),
            memory,
            "can share",
        );
        fails(
            hipMemPoolExportPointer(&mut exported, null),
            INVALID,
            "ptr is null",
        );
        let stray = ptr::without_provenance_mut::<c_void>(8);
        fails(
            hipMemPoolExportPointer(&mut exported, stray),
            memory,
            "can share",
        );
        let export =
            |pool, kind, flags| hipMemPoolExportToShareableHandle(place, pool, kind, flags);
        fails(export(pool, DESCRIPTOR, 1), INVALID, "flags are 0x1");
        fails(export(pool, none, 0), INVALID, "handle type 1, not 0");
        let unshared: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &plain));
        fails(
            export(unshared, DESCRIPTOR, 0),
            INVALID,
            "handle type 0, not 1",
        );
        fails(export(unshared, none, 0), INVALID, "handle type 0, not 0");
        fails(
            import(&mut own, 1 << 20),
            memory,
            "not a file descriptor of a pool",
        );
        fails(
            import(&mut own, usize::MAX),
            memory,
            "not a file descriptor of a pool",
        );
        libc::close(inherited);
        let kind = hipMemAllocationHandleType(3);
        let windows = hipMemPoolProps {
            handleTypes: kind.0,
            ..plain
        };
        succeeds(hipMemPoolCreate(&mut own, &windows));
        succeeds(hipMemPoolDestroy(own));
        // A file of another kind.
        let physical = result(|handle| {
            let properties = hipMemAllocationProp {
                r#type: hipMemAllocationType::hipMemAllocationTypePinned,
                requestedHandleType: DESCRIPTOR,
                location: plain.location,
                ..hipMemAllocationProp::ZERO
            };
            hipMemCreate(handle, 4096, &properties, 0)
        });
        succeeds(hipMemExportToShareableHandle(
            place, physical, DESCRIPTOR, 0,
        ));
        fails(import(&mut own, descriptor as usize), memory, "of a pool");
        libc::close(descriptor);
        succeeds(hipMemRelease(physical));
        succeeds(hipMemPoolDestroy(unshared));
        succeeds(hipMemPoolDestroy(pool));
    }
}
