//! Physical memory at reserved addresses.

use super::*;

const PAGE: usize = 4096;
const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;
const NONE: hipMemAccessFlags = hipMemAccessFlags::hipMemAccessFlagsProtNone;
const READ: hipMemAccessFlags = hipMemAccessFlags::hipMemAccessFlagsProtRead;
const WRITE: hipMemAccessFlags = hipMemAccessFlags::hipMemAccessFlagsProtReadWrite;

const fn location(device: c_int) -> hipMemLocation {
    hipMemLocation {
        r#type: hipMemLocationType::hipMemLocationTypeDevice,
        id: device,
    }
}

const fn properties(device: c_int) -> hipMemAllocationProp {
    hipMemAllocationProp {
        r#type: hipMemAllocationType::hipMemAllocationTypePinned,
        requestedHandleType: hipMemAllocationHandleType::hipMemHandleTypePosixFileDescriptor,
        location: location(device),
        ..hipMemAllocationProp::ZERO
    }
}

fn create(device: c_int, bytes: usize) -> hipMemGenericAllocationHandle_t {
    let properties = properties(device);
    // SAFETY: the result pointer is valid.
    result(|handle| unsafe { hipMemCreate(handle, bytes, &properties, 0) })
}

fn reserve(bytes: usize) -> *mut c_void {
    // SAFETY: the result pointer is valid.
    result(|address| unsafe { hipMemAddressReserve(address, bytes, 0, ptr::null_mut(), 0) })
}

fn allow(
    address: *mut c_void,
    bytes: usize,
    device: c_int,
    flags: hipMemAccessFlags,
) -> hipError_t {
    let access = hipMemAccessDesc {
        location: location(device),
        flags,
    };
    // SAFETY: the list has one element.
    unsafe { hipMemSetAccess(address, bytes, &access, 1) }
}

fn access(address: *mut c_void, device: c_int) -> u64 {
    let location = location(device);
    // SAFETY: the result pointer is valid.
    result(|flags| unsafe { hipMemGetAccess(flags, &location, address) })
}

#[test]
fn adjacent_mappings_are_one_allocation() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    // SAFETY: the result pointers are valid.
    let free = || result(|free| unsafe { hipMemGetInfo(free, &mut 0) });
    let before = free();
    let (first, second) = (create(device.0, PAGE), create(device.0, 2 * PAGE));
    assert_eq!(free(), before - 3 * PAGE);
    let start = reserve(4 * PAGE);
    // SAFETY: the addresses are reserved, and HIP checks all others.
    unsafe {
        let middle = start.byte_add(PAGE);
        succeeds(hipMemMap(start, PAGE, 0, first, 0));
        succeeds(hipMemMap(middle, PAGE, 0, second, 0));
        succeeds(allow(start, 2 * PAGE, device.0, WRITE));
        // 32 elements in each.
        let data = middle.byte_sub(128);
        let launch = || {
            succeeds(add(
                function,
                1,
                &add_arguments(data, data, 3),
                ptr::null_mut(),
            ));
            hipDeviceSynchronize()
        };
        succeeds(hipMemcpyHtoD(
            data,
            [4_u32; 64].as_ptr().cast_mut().cast(),
            256,
        ));
        succeeds(launch());
        assert_eq!(contents(data, 64), [7; 64]);

        // The second is the same memory elsewhere, after its handle was released.
        let again = start.byte_add(2 * PAGE);
        succeeds(hipMemMap(again, 2 * PAGE, 0, second, 0));
        succeeds(hipMemRelease(second));
        fails(hipMemRelease(second), INVALID, "was released");
        let read_only = || allow(again, 2 * PAGE, device.0, READ);
        succeeds(read_only());
        assert_eq!(contents(again, 32), [7; 32]);
        fails(
            hipMemcpyHtoD(again, [1_u32].as_ptr().cast_mut().cast(), 4),
            INVALID,
            "mapped for reading only",
        );
        assert_eq!((access(again, device.0), access(start, device.0)), (1, 3));
        let same: hipMemGenericAllocationHandle_t =
            result(|handle| hipMemRetainAllocationHandle(handle, middle.byte_add(5)));
        assert_eq!(same, second);
        succeeds(hipMemRelease(same));

        // Without access, and unmapped, the launch fails.
        succeeds(allow(middle, PAGE, device.0, NONE));
        fails(launch(), hipError_t::hipErrorIllegalAddress, "");
        succeeds(allow(middle, PAGE, device.0, WRITE));
        succeeds(launch());
        succeeds(hipMemUnmap(middle, PAGE));
        fails(
            launch(),
            hipError_t::hipErrorIllegalAddress,
            "just past the end of the mapped memory of 4096 bytes",
        );
        assert_eq!(contents(again, 32), [10; 32]);

        fails(hipMemAddressFree(start, 4 * PAGE), INVALID, "still mapped");
        succeeds(hipMemUnmap(again, 2 * PAGE));
        succeeds(hipMemUnmap(start, PAGE));
        succeeds(hipMemRelease(first));
        assert_eq!(free(), before);
        succeeds(hipMemAddressFree(start, 4 * PAGE));
        fails(hipMemAddressFree(start, 4 * PAGE), INVALID, "reserved");
    }
}

#[test]
fn each_device_has_its_own_access() {
    let [first, second] = [Gpu::Gfx942, Gpu::Gfx90a].map(TestDevice::new);
    let memory = create(first.0, PAGE);
    let start = reserve(PAGE);
    second.make_current();
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    // SAFETY: the addresses are reserved.
    unsafe {
        succeeds(hipMemMap(start, PAGE, 0, memory, 0));
        assert_eq!([access(start, first.0), access(start, second.0)], [0, 0]);
        succeeds(allow(start, PAGE, first.0, WRITE));
        let launch = || {
            succeeds(add(
                function,
                1,
                &add_arguments(start, start, 3),
                ptr::null_mut(),
            ));
            hipDeviceSynchronize()
        };
        fails(launch(), hipError_t::hipErrorIllegalAddress, "");
        succeeds(allow(start, PAGE, second.0, WRITE));
        succeeds(launch());
        assert_eq!(contents(start, 64), [3; 64]);
        let attributes = result(|attributes| hipPointerGetAttributes(attributes, start));
        assert_eq!(attributes.device, first.0);

        // Another process would get the descriptor by a message.
        let mut descriptor: c_int = 0;
        let place = (&raw mut descriptor).cast();
        let kind = hipMemAllocationHandleType::hipMemHandleTypePosixFileDescriptor;
        succeeds(hipMemExportToShareableHandle(place, memory, kind, 0));
        let import = |place| {
            let handle = result(|handle| hipMemImportFromShareableHandle(handle, place, kind));
            let start = reserve(PAGE);
            succeeds(hipMemMap(start, PAGE, 0, handle, 0));
            succeeds(hipMemRelease(handle));
            succeeds(allow(start, PAGE, second.0, WRITE));
            start
        };
        let copies = [
            import(place),
            import(ptr::without_provenance_mut(descriptor as usize)),
        ];
        libc::close(descriptor);
        for copy in copies {
            assert_eq!(contents(copy, 64), [3; 64]);
        }
        fails(
            hipMemImportFromShareableHandle(&mut ptr::null_mut(), place, kind),
            INVALID,
            "is not physical memory",
        );
        // The first device's memory goes with it, the imported memory stays.
        drop(first);
        fails(launch(), hipError_t::hipErrorIllegalAddress, "");
        assert_eq!(contents(copies[0], 64), [3; 64]);
        for copy in copies {
            succeeds(hipMemUnmap(copy, PAGE));
            succeeds(hipMemAddressFree(copy, PAGE));
        }
        succeeds(hipMemAddressFree(start, PAGE));
    }
}

#[test]
fn wrong_ranges_and_properties_are_refused() {
    let device = TestDevice::new(Gpu::Gfx908);
    let memory = create(device.0, 2 * PAGE);
    let start = reserve(4 * PAGE);
    let null: *mut c_void = ptr::null_mut();
    let own = properties(device.0);
    let (mut handle, mut address, mut granularity) = (null.cast(), null, 0);
    // SAFETY: the result pointers are valid, and HIP checks the addresses.
    unsafe {
        let minimum = hipMemAllocationGranularity_flags::hipMemAllocationGranularityMinimum;
        succeeds(hipMemGetAllocationGranularity(
            &mut granularity,
            &own,
            minimum,
        ));
        assert_eq!(granularity, PAGE);
        for (wrong, said) in [
            (
                hipMemAllocationProp {
                    r#type: hipMemAllocationType(0),
                    ..own
                },
                "the memory's type is 0",
            ),
            (properties(99), "99"),
            (
                hipMemAllocationProp {
                    location: hipMemLocation::ZERO,
                    ..own
                },
                "the location's type is 0",
            ),
        ] {
            fails(hipMemCreate(&mut handle, PAGE, &wrong, 0), INVALID, said);
            fails(
                hipMemGetAllocationGranularity(&mut granularity, &wrong, minimum),
                INVALID,
                said,
            );
        }
        fails(
            hipMemCreate(&mut handle, PAGE - 1, &own, 0),
            INVALID,
            "multiple of 4096",
        );
        fails(
            hipMemCreate(&mut handle, 1 << 46, &own, 0),
            hipError_t::hipErrorOutOfMemory,
            "out of device memory",
        );
        let code = hipError_t::hipErrorMemoryAllocation;
        fails(
            hipMemAddressReserve(&mut address, PAGE + 1, 0, null, 0),
            code,
            "multiple",
        );
        fails(
            hipMemAddressReserve(&mut address, PAGE, 3, null, 0),
            code,
            "power of two",
        );
        let aligned = result(|address| hipMemAddressReserve(address, PAGE, 1 << 21, null, 0));
        assert_eq!(aligned.addr() % (1 << 21), 0);
        succeeds(hipMemAddressFree(aligned, PAGE));

        let map = |offset: usize, bytes| hipMemMap(start.byte_add(offset), bytes, 0, memory, 0);
        fails(
            map(0, 3 * PAGE),
            INVALID,
            "more than the 8192 of the physical memory",
        );
        fails(map(3 * PAGE, 2 * PAGE), INVALID, "reserved");
        fails(map(1, PAGE), INVALID, "multiple");
        fails(
            hipMemMap(start, PAGE, PAGE, memory, 0),
            INVALID,
            "the offset is 4096",
        );
        succeeds(map(PAGE, 2 * PAGE));
        fails(map(2 * PAGE, PAGE), INVALID, "mapped already");
        fails(map(0, 2 * PAGE), INVALID, "mapped already");
        let mapped = start.byte_add(PAGE);
        for (address, bytes) in [(mapped, PAGE), (start, 3 * PAGE), (mapped, 3 * PAGE)] {
            fails(
                hipMemUnmap(address, bytes),
                INVALID,
                "are not whole mappings",
            );
            fails(
                allow(address, bytes, device.0, WRITE),
                INVALID,
                "are not whole mappings",
            );
        }
        fails(allow(mapped, 2 * PAGE, 99, WRITE), INVALID, "99");
        let odd = hipMemAccessFlags(2);
        fails(
            allow(mapped, 2 * PAGE, device.0, odd),
            INVALID,
            "the access is 2",
        );
        let mut flags = 0;
        let here = location(device.0);
        fails(
            hipMemGetAccess(&mut flags, &here, start),
            INVALID,
            "are not mapped",
        );
        fails(hipFree(mapped), INVALID, "");
        succeeds(hipMemUnmap(mapped, 2 * PAGE));
        succeeds(hipMemRelease(memory));
        succeeds(hipMemAddressFree(start, 4 * PAGE));
    }
}
