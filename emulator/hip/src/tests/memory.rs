//! Allocations, copies and memsets.

use super::*;

const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;

#[test]
fn allocations_are_freed_once_and_by_their_own_function() {
    let device = TestDevice::with(DeviceConfig {
        memory_bytes: Some(1 << 20),
        ..DeviceConfig::new(Gpu::Gfx942)
    });
    // SAFETY: the result pointers are valid; HIP checks the addresses.
    unsafe {
        let data = allocate(1000);
        let host = result(|address| hipHostMalloc(address, 24, hipHostMallocPortable));
        let (mut free, mut total) = (0, 0);
        succeeds(hipMemGetInfo(&mut free, &mut total));
        assert_eq!((free, total), ((1 << 20) - 1024, 1 << 20));
        assert_eq!(result(|bytes| hipDeviceTotalMem(bytes, device.0)), 1 << 20);

        let mut more = ptr::null_mut();
        let asked = hipMalloc(&mut more, 1 << 20);
        fails(
            asked,
            hipError_t::hipErrorOutOfMemory,
            "1048576 bytes asked for, 1024 of 1048576",
        );
        assert!(more.is_null());
        fails(
            hipHostMalloc(&mut more, 8, 0x100),
            INVALID,
            "flags are 0x100",
        );

        fails(
            hipFree(data.wrapping_byte_add(1)),
            INVALID,
            "not the start of an allocation",
        );
        fails(
            hipFree(ptr::without_provenance_mut(0x10)),
            INVALID,
            "0x10 is not from hipMalloc or hipHostMalloc",
        );
        // Each function frees the other's memory.
        succeeds(hipHostFree(data));
        fails(hipFree(data), INVALID, "or was freed before");
        succeeds(hipFree(host));
        fails(hipHostFree(host), INVALID, "or was freed before");
        succeeds(hipFree(ptr::null_mut()));
        succeeds(hipHostFree(ptr::null_mut()));
        assert!(allocate(0).is_null());
        succeeds(hipMemGetInfo(&mut free, &mut total));
        assert_eq!(free, total);
    }
}

#[test]
fn copies_go_where_their_kind_says_and_stay_inside() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let data = buffer(&[1, 2, 3, 4]);
    let other = allocate(16);
    let host = [5_u32, 6, 7, 8];
    let from = host.as_ptr().cast();
    let null = ptr::null_mut();
    // SAFETY: the allocations are valid, and host memory has the given lengths.
    unsafe {
        succeeds(hipMemcpyDtoD(other, data, 16));
        assert_eq!(contents(other, 4), [1, 2, 3, 4]);
        succeeds(hipMemcpyDtoDAsync(other.byte_add(4), other, 12, stream()));
        assert_eq!(contents(other, 4), [1, 1, 2, 3]);
        succeeds(hipMemcpy(other, from, 8, hipMemcpyKind::hipMemcpyDefault));
        let mut back = [0_u32; 4];
        succeeds(hipMemcpy(
            back.as_mut_ptr().cast(),
            other,
            16,
            hipMemcpyKind::hipMemcpyDefault,
        ));
        assert_eq!(back, [5, 6, 2, 3]);
        succeeds(hipMemcpy(
            back.as_mut_ptr().cast(),
            from,
            16,
            hipMemcpyKind::hipMemcpyHostToHost,
        ));
        assert_eq!(back, host);

        fails(hipMemcpyHtoD(other, from, 17), INVALID, "17 bytes at");
        fails(
            hipMemcpyHtoD(other.byte_add(16), from, 4),
            INVALID,
            "not in device memory",
        );
        let local = back.as_mut_ptr().cast();
        fails(hipMemcpyHtoD(local, from, 4), INVALID, "the copy's target");
        fails(
            hipMemcpyDtoH(local, from.cast_mut(), 4),
            INVALID,
            "the copy's source",
        );
        fails(hipMemcpyHtoD(null, from, 4), INVALID, "target is null");
        fails(hipMemcpyDtoH(null, data, 4), INVALID, "target is null");
        fails(
            hipMemcpy(other, from, usize::MAX, hipMemcpyKind(1)),
            INVALID,
            "more than an address space",
        );
        let direction = hipError_t::hipErrorInvalidMemcpyDirection;
        fails(
            hipMemcpy(other, from, 4, hipMemcpyKind(5)),
            direction,
            "5 is not a kind of copy",
        );
        succeeds(hipMemcpyHtoD(null, from, 0));
    }
}

#[test]
fn fills_stay_inside() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let data = buffer(&[9; 10_001]);
    // SAFETY: HIP checks the addresses.
    unsafe {
        succeeds(hipMemsetD32(data, -2, 10_000));
        let mut expect = vec![u32::MAX - 1; 10_000];
        expect.push(9);
        assert_eq!(contents(data, 10_001), expect);
        succeeds(hipMemsetD8(data.byte_add(1), 0xab, 2));
        assert_eq!(contents(data, 1), [0xffab_abfe]);
        succeeds(hipMemsetAsync(data, 0x1cd, 4, stream()));
        assert_eq!(contents(data, 2), [0xcdcd_cdcd, u32::MAX - 1]);
        fails(hipMemsetD32(data, 0, 10_002), INVALID, "40008 bytes at");
        fails(
            hipMemsetD32(data, 0, usize::MAX),
            INVALID,
            "not inside one allocation",
        );
        fails(
            hipMemset(ptr::without_provenance_mut(8), 0, 1),
            INVALID,
            "no address of memory",
        );
        // The failed calls wrote nothing.
        assert_eq!(contents(data, 2), [0xcdcd_cdcd, u32::MAX - 1]);
    }
}

#[test]
fn copies_between_devices_need_no_kind_of_their_own() {
    let first = TestDevice::new(Gpu::Gfx942);
    let words: Vec<u32> = (0..600_000).collect();
    let there = buffer(&words);
    let second = TestDevice::new(Gpu::Gfx942);
    let here = allocate(4 * words.len());
    // SAFETY: the allocations have that length.
    succeeds(unsafe { hipMemcpyDtoD(here, there, 4 * words.len()) });
    assert_eq!(contents(here, words.len()), words);
    assert_ne!(first.0, second.0);
}

#[test]
fn ranges_of_managed_memory_keep_advice() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let pages = 8 * 4096;
    // SAFETY: the result pointers are valid; HIP checks ranges and attributes.
    unsafe {
        let data = result(|address| hipMallocManaged(address, pages, 1));
        let ask = |attribute, from: usize, bytes| {
            let at = data.wrapping_byte_add(from);
            result::<c_int>(|word| {
                hipMemRangeGetAttribute(word.cast(), 4, hipMemRangeAttribute(attribute), at, bytes)
            })
        };
        let advise = |advise, from: usize, bytes, device| {
            let at = data.wrapping_byte_add(from);
            succeeds(hipMemAdvise(at, bytes, hipMemoryAdvise(advise), device));
        };
        let all = |attribute| ask(attribute, 0, pages);
        assert_eq!([1, 2, 4, 100].map(all), [0, -2, -2, 0]);
        // Mostly read in the first half, preferred on the host in the second.
        advise(1, 0, pages / 2, 99);
        advise(3, pages / 2, pages / 2, hipCpuDeviceId);
        assert_eq!([1, 2].map(all), [0, -2]);
        assert_eq!((ask(1, 1, 100), ask(2, pages / 2, 100)), (1, -1));
        succeeds(hipMemPrefetchAsync(data, pages, device.0, ptr::null_mut()));
        let on_device = hipMemLocation {
            r#type: hipMemLocationType::hipMemLocationTypeDevice,
            id: device.0,
        };
        succeeds(hipMemAdvise_v2(
            data,
            pages,
            hipMemoryAdvise(100),
            on_device,
        ));
        assert_eq!([4, 100].map(all), [device.0, 1]);
        let nothing = hipMemPrefetchAsync(data, 0, 99, ptr::null_mut());
        fails(nothing, INVALID, "0 bytes");
        advise(101, 0, 1, device.0);
        assert_eq!(all(100), 2);
        // The list of devices is filled up.
        advise(5, 0, pages, device.0);
        advise(5, 0, pages, hipCpuDeviceId);
        advise(6, 0, 4096, hipCpuDeviceId);
        let mut list = [7; 4];
        let mut word = 7;
        let mut answers = [list.as_mut_ptr().cast(), (&raw mut word).cast()];
        let mut lengths = [16, 4];
        let mut attributes = [hipMemRangeAttribute(3), hipMemRangeAttribute(4)];
        let mut ask_both = |lengths: &mut [usize; 2], count| {
            let (answers, attributes) = (answers.as_mut_ptr(), attributes.as_mut_ptr());
            hipMemRangeGetAttributes(
                answers,
                lengths.as_mut_ptr(),
                attributes,
                count,
                data,
                pages,
            )
        };
        succeeds(ask_both(&mut lengths, 2));
        fails(ask_both(&mut [6, 4], 2), INVALID, "6 bytes");
        fails(ask_both(&mut lengths, 0), INVALID, "0 attributes");
        assert_eq!((list, word), ([device.0, -2, -2, -2], device.0));
        let mut out = [0_u8; 8];
        let out = out.as_mut_ptr().cast();
        let wrong = |bytes, attribute, at, text| {
            let attribute = hipMemRangeAttribute(attribute);
            fails(
                hipMemRangeGetAttribute(out, bytes, attribute, at, 100),
                INVALID,
                text,
            );
        };
        wrong(8, 1, data, "8 bytes");
        wrong(4, 999, data, "from 1 to 4, or 100");
        let plain = allocate(4096);
        wrong(4, 1, plain, "not memory of hipMallocManaged");
        let advice = hipMemAdvise(plain, 4096, hipMemoryAdvise(1), device.0);
        fails(advice, INVALID, "not memory of hipMallocManaged");
        wrong(
            4,
            1,
            data.wrapping_byte_add(pages - 1),
            "not inside one allocation",
        );
        // Freed memory takes its advice with it, which may show if the address is used again.
        succeeds(hipFree(data));
        let again = result(|address| hipMallocManaged(address, pages, 1));
        let of_new = |attribute| {
            result::<c_int>(|word| {
                let attribute = hipMemRangeAttribute(attribute);
                hipMemRangeGetAttribute(word.cast(), 4, attribute, again, pages)
            })
        };
        assert_eq!([1, 2, 4, 100].map(of_new), [0, -2, -2, 0]);
    }
}

#[test]
fn allocations_begin_at_pages() {
    let _device = TestDevice::new(Gpu::Gfx942);
    for bytes in [1, 300, 5000] {
        // SAFETY: the result pointers are valid.
        let starts = unsafe {
            [
                allocate(bytes),
                result(|address| hipMallocManaged(address, bytes, hipMemAttachGlobal)),
                result(|address| hipHostMalloc(address, bytes, 0)),
            ]
        };
        assert_eq!(starts.map(|start| start.addr() % 4096), [0; 3]);
    }
}

#[test]
fn memory_is_told_to_those_who_ask() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let null = ptr::null_mut();
    let (mut free, mut total) = (0, 0);
    // SAFETY: the result pointers are valid or null.
    unsafe {
        succeeds(hipMemGetInfo(&mut free, null));
        succeeds(hipMemGetInfo(null, &mut total));
        succeeds(hipMemGetInfo(null, null));
    }
    assert_eq!(free, total);
    assert_ne!(total, 0);
}

#[test]
fn what_no_allocation_can_be_is_refused() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let mut none = ptr::null_mut();
    let both = hipHostMallocCoherent | hipHostMallocNonCoherent;
    // SAFETY: the result pointer is valid; HIP checks the addresses.
    unsafe {
        let managed = hipMallocManaged(&mut none, 0, hipMemAttachGlobal);
        fails(managed, INVALID, "0 bytes of managed memory");
        fails(hipHostMalloc(&mut none, 8, both), INVALID, "coherent");
        for bytes in [0, 4096] {
            let signal = hipExtMallocWithFlags(&mut none, bytes, hipMallocSignalMemory);
            fails(signal, INVALID, "which has 8");
        }
        // A page behind which there is nothing, by all odds: the system reserved both, and one went.
        let pages = libc::mmap(
            ptr::null_mut(),
            8192,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        let end = usize::MAX - pages.addr();
        fails(hipHostRegister(pages, end, 0), INVALID, "not all memory");
        succeeds(hipHostRegister(pages.byte_add(100), 8000, 0));
        succeeds(hipHostUnregister(pages.byte_add(100)));
        libc::munmap(pages, 8192);
        fails(hipHostUnregister(ptr::null_mut()), INVALID, "null");
    }
}

#[test]
fn memory_is_attached_as_a_whole() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let stream = stream();
    // SAFETY: the result pointer is valid; HIP checks the addresses.
    unsafe {
        let data = result(|address| hipMallocManaged(address, 100, hipMemAttachHost));
        succeeds(hipStreamAttachMemAsync(stream, data, 100, 4));
        succeeds(hipStreamAttachMemAsync(ptr::null_mut(), data, 0, 2));
        let part = hipStreamAttachMemAsync(stream, data, 99, 4);
        fails(part, INVALID, "99 bytes of an allocation of 100");
        let everyone = hipStreamAttachMemAsync(ptr::null_mut(), data, 100, 4);
        fails(everyone, INVALID, "default stream");
    }
}

#[test]
fn device_memory_is_coarse_grained_unless_flags_say_otherwise() {
    let _device = TestDevice::new(Gpu::Gfx942);
    for (flags, coarse) in [(0, 1), (hipDeviceMallocFinegrained, 0)] {
        // SAFETY: the result pointers are valid.
        unsafe {
            let data: *mut c_void = result(|address| hipExtMallocWithFlags(address, 64, flags));
            let mode = hipMemRangeAttribute::hipMemRangeAttributeCoherencyMode;
            let inside = data.byte_add(4);
            let found: c_int =
                result(|word: *mut c_int| hipMemRangeGetAttribute(word.cast(), 4, mode, inside, 8));
            assert_eq!(found, coarse);
            let mut words = [0; 2];
            let long = hipMemRangeGetAttribute(words.as_mut_ptr().cast(), 8, mode, data, 8);
            fails(long, INVALID, "8 bytes");
        }
    }
}

#[test]
fn memsets_and_copies_of_device_memory_do_not_wait_unless_asked() {
    let _device = TestDevice::new(Gpu::Gfx942);
    // SAFETY: the pointers are valid, and the gate stays open to the end.
    unsafe {
        let (data, copies) = (buffer(&[0; 64]), buffer(&[0; 64]));
        let gate: *mut c_void = result(|address| hipHostMalloc(address, 4, hipHostMallocCoherent));
        let word = gate.cast::<u32>();
        word.write_volatile(0);
        // The default stream waits until the host opens the gate.
        let null = ptr::null_mut();
        succeeds(hipStreamWaitValue32(
            null,
            gate,
            1,
            hipStreamWaitValueEq,
            !0,
        ));
        succeeds(hipMemset(data, 0x11, 256));
        // Nor do copies within a device.
        let within = hipMemcpyKind::hipMemcpyDeviceToDevice;
        succeeds(hipMemcpy(copies, data, 128, within));
        let rows = copies.byte_add(128);
        succeeds(hipMemcpy2D(rows, 64, data, 64, 64, 2, within));
        word.write_volatile(1);
        assert_eq!(contents(data, 64), [0x1111_1111; 64]);
        assert_eq!(contents(copies, 64), [0x1111_1111; 64]);
        let attribute = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS;
        let waits = |inside| -> bool {
            result(|value: *mut bool| hipPointerGetAttribute(value.cast(), attribute, inside))
        };
        assert!(!waits(data));
        let set = |value: u32, attribute, address| {
            hipPointerSetAttribute((&raw const value).cast(), attribute, address)
        };
        succeeds(set(1, attribute, data.byte_add(8)));
        assert!(waits(data));
        succeeds(hipMemset(data, 0x22, 256));
        succeeds(set(0, attribute, data));
        assert!(!waits(data));
        fails(set(2, attribute, data), INVALID, "as 2");
        let other = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MAPPED;
        fails(set(1, other, data), INVALID, "only");
        let nothing = ptr::null_mut();
        fails(set(1, attribute, nothing), INVALID, "address is null");
        fails(
            hipPointerSetAttribute(nothing, attribute, data),
            INVALID,
            "value is null",
        );
        let own = 0_u32;
        let unknown = set(1, attribute, (&raw const own).cast_mut().cast());
        let code = hipError_t::hipErrorInvalidDevicePointer;
        fails(unknown, code, "not in memory that HIP knows");
    }
}

#[test]
fn pools_keep_freed_memory_until_the_program_waits() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let location = hipMemLocation {
        r#type: hipMemLocationType::hipMemLocationTypeDevice,
        id: result_of_current(),
    };
    // SAFETY: zeros are valid properties, and the pointers are valid.
    unsafe {
        let mut properties: hipMemPoolProps = std::mem::zeroed();
        properties.allocType = 1;
        properties.location = location;
        let pool: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &properties));
        let count = |attribute| -> u64 {
            result(|value: *mut u64| hipMemPoolGetAttribute(pool, attribute, value.cast()))
        };
        // In use now and at most, and with what is kept.
        let counts = || {
            [
                hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent,
                hipMemPoolAttr::hipMemPoolAttrUsedMemHigh,
                hipMemPoolAttr::hipMemPoolAttrReservedMemCurrent,
                hipMemPoolAttr::hipMemPoolAttrReservedMemHigh,
            ]
            .map(count)
        };
        let (first, second) = (stream(), stream());
        let new = |bytes, stream| -> *mut c_void {
            result(|address| hipMallocFromPoolAsync(address, bytes, pool, stream))
        };
        let (a, b) = (new(4096, first), new(100, first));
        assert_eq!(counts(), [4196, 4196, 4196, 4196]);
        succeeds(hipFreeAsync(a, first));
        assert_eq!(counts(), [100, 4196, 4196, 4196]);
        // Later work of the stream gets it again; another length does not.
        let c = new(2048, first);
        assert_ne!(c, a);
        assert_eq!(new(4096, first), a);
        assert_eq!(counts(), [6244, 6244, 6244, 6244]);
        // Without reuse by other streams, another stream does not get it.
        let off = 0;
        let opportunistic = hipMemPoolAttr::hipMemPoolReuseAllowOpportunistic;
        let value = (&raw const off).cast_mut().cast();
        succeeds(hipMemPoolSetAttribute(pool, opportunistic, value));
        succeeds(hipFreeAsync(a, first));
        let d = new(4096, second);
        assert_ne!(d, a);
        // The threshold is 0: nothing is kept when the program waits.
        succeeds(hipStreamSynchronize(first));
        assert_eq!(counts(), [6244, 6244, 6244, 10340]);
        // As in CLR, the maxima begin anew at 0, whatever is in use.
        let zero = 0_u64;
        for high in [
            hipMemPoolAttr::hipMemPoolAttrUsedMemHigh,
            hipMemPoolAttr::hipMemPoolAttrReservedMemHigh,
        ] {
            let value = (&raw const zero).cast_mut().cast();
            succeeds(hipMemPoolSetAttribute(pool, high, value));
        }
        assert_eq!(counts(), [6244, 0, 6244, 0]);
        let threshold = 4000_u64;
        let release = hipMemPoolAttr::hipMemPoolAttrReleaseThreshold;
        let value = (&raw const threshold).cast_mut().cast();
        succeeds(hipMemPoolSetAttribute(pool, release, value));
        for memory in [b, c, d] {
            succeeds(hipFreeAsync(memory, second));
        }
        succeeds(hipDeviceSynchronize());
        assert_eq!(counts()[0], 0);
        let kept = counts()[2];
        assert!(kept <= 4000, "{kept}");
        succeeds(hipMemPoolTrimTo(pool, 0));
        assert_eq!(counts()[2], 0);
        // Freed memory is not the program's any more, even while the pool keeps it.
        let e = new(64, first);
        succeeds(hipFreeAsync(e, first));
        fails(hipFreeAsync(e, first), INVALID, "freed before");
        succeeds(hipMemPoolDestroy(pool));
    }
}

/// Memory that a stream will free belongs to another one that waits for it.
#[test]
fn pools_follow_events() {
    let _device = TestDevice::new(Gpu::Gfx942);
    // SAFETY: the pointers are valid, and the gate stays open to the end.
    unsafe {
        let gate: *mut c_void = result(|address| hipHostMalloc(address, 4, hipHostMallocCoherent));
        let word = gate.cast::<u32>();
        word.write_volatile(0);
        let (first, second) = (stream(), stream());
        let new =
            |stream| -> *mut c_void { result(|address| hipMallocAsync(address, 512, stream)) };
        let memory = new(first);
        succeeds(hipStreamWaitValue32(
            first,
            gate,
            1,
            hipStreamWaitValueEq,
            !0,
        ));
        succeeds(hipFreeAsync(memory, first));
        assert_ne!(new(second), memory);
        let event: hipEvent_t = result(|event| hipEventCreate(event));
        succeeds(hipEventRecord(event, first));
        succeeds(hipStreamWaitEvent(second, event, 0));
        assert_eq!(new(second), memory);
        word.write_volatile(1);
        succeeds(hipDeviceSynchronize());
    }
}

fn result_of_current() -> c_int {
    // SAFETY: the result pointer is valid.
    result(|device| unsafe { hipGetDevice(device) })
}

#[test]
fn batches_of_managed_memory_are_prefetched_and_discarded() {
    let device = TestDevice::new(Gpu::Gfx942);
    let stream = stream();
    let on_device = hipMemLocation {
        r#type: hipMemLocationType::hipMemLocationTypeDevice,
        id: device.0,
    };
    let on_host = hipMemLocation {
        r#type: hipMemLocationType::hipMemLocationTypeHost,
        id: 0,
    };
    // SAFETY: the lists have as many elements as the calls say; HIP checks ranges.
    unsafe {
        let managed = |_| result(|address| hipMallocManaged(address, 4096, 1));
        let mut data = [0, 1, 2].map(managed);
        let mut sizes = [4096; 3];
        let prefetch = |data: &mut [_; 3], sizes: &mut [_; 3], to: &mut [_], from: &mut [_]| {
            let (count, lists) = (to.len(), (to.as_mut_ptr(), from.as_mut_ptr()));
            let (data, sizes) = (data.as_mut_ptr(), sizes.as_mut_ptr());
            hipMemPrefetchBatchAsync(data, sizes, 3, lists.0, lists.1, count, 0, stream)
        };
        let mut to = [on_device, on_host];
        succeeds(prefetch(&mut data, &mut sizes, &mut to, &mut [0, 2]));
        let last = |address: *mut c_void| {
            let attribute = hipMemRangeAttribute::hipMemRangeAttributeLastPrefetchLocation;
            result::<c_int>(|word| {
                hipMemRangeGetAttribute(word.cast(), 4, attribute, address, 4096)
            })
        };
        assert_eq!(data.map(last), [device.0, device.0, hipCpuDeviceId]);
        for from in [[1, 2], [0, 0], [0, 3]] {
            let code = prefetch(&mut data, &mut sizes, &mut to, &mut from.clone());
            fails(code, INVALID, "the first must be 0");
        }
        let mut nowhere = [hipMemLocation {
            id: 99,
            ..on_device
        }];
        let code = prefetch(&mut data, &mut sizes, &mut nowhere, &mut [0]);
        fails(code, INVALID, "99");
        let long = prefetch(&mut data, &mut [4096, 4097, 4096], &mut to, &mut [0, 1]);
        fails(long, INVALID, "4097 bytes");
        // The contents of other ranges stay.
        let words = data[1].cast::<u32>();
        words.write(7);
        words.add(1).write(8);
        let discard = |data: &mut [_], bytes, flags, stream| {
            let mut sizes = [bytes; 3];
            hipMemDiscardBatchAsync(
                data.as_mut_ptr(),
                sizes.as_mut_ptr(),
                data.len(),
                flags,
                stream,
            )
        };
        succeeds(discard(
            &mut [data[0], data[1].wrapping_byte_add(4)],
            16,
            0,
            stream,
        ));
        assert_eq!(words.read(), 7);
        fails(discard(&mut data, 16, 1, stream), INVALID, "flags are 0x1");
        fails(
            discard(&mut data, 16, 0, ptr::null_mut()),
            INVALID,
            "stream is null",
        );
        fails(discard(&mut [], 16, 0, stream), INVALID, "0 ranges");
        fails(
            discard(&mut [ptr::null_mut()], 16, 0, stream),
            INVALID,
            "0x0",
        );
        let plain = allocate(16);
        fails(
            discard(&mut [plain], 16, 0, stream),
            INVALID,
            "not memory of hipMallocManaged",
        );
        let host: *mut c_void = result(|address| hipHostMalloc(address, 16, 0));
        succeeds(discard(&mut [host], 16, 0, stream));
        succeeds(hipStreamSynchronize(stream));
    }
}

#[test]
fn pools_of_managed_memory_are_apart_from_others() {
    let device = TestDevice::new(Gpu::Gfx942);
    let other = TestDevice::new(Gpu::Gfx942);
    device.make_current();
    let (pinned, managed) = (
        hipMemAllocationType::hipMemAllocationTypePinned,
        hipMemAllocationType::hipMemAllocationTypeManaged,
    );
    let properties = |kind: hipMemAllocationType, device| hipMemPoolProps {
        allocType: kind.0,
        ..pool_properties(device)
    };
    let mut location = pool_properties(&device).location;
    // SAFETY: the pointers are valid; HIP checks the handles.
    unsafe {
        let at = &raw mut location;
        let current = |kind| result(|pool| hipMemGetMemPool(pool, at, kind));
        let default = |kind| result(|pool| hipMemGetDefaultMemPool(pool, at, kind));
        let of_device = result(|pool| hipDeviceGetDefaultMemPool(pool, device.0));
        assert_eq!((current(pinned), default(pinned)), (of_device, of_device));
        assert_eq!(current(managed), default(managed));
        assert_ne!(default(managed), of_device);
        let new = |kind, device| -> hipMemPool_t {
            let properties = properties(kind, device);
            result(|pool| hipMemPoolCreate(pool, &properties))
        };
        let (plain, own, others) = (
            new(pinned, &device),
            new(managed, &device),
            new(managed, &other),
        );
        succeeds(hipMemSetMemPool(at, managed, own));
        assert_eq!((current(managed), current(pinned)), (own, of_device));
        succeeds(hipMemSetMemPool(at, pinned, plain));
        assert_eq!(result(|pool| hipDeviceGetMemPool(pool, device.0)), plain);
        for wrong in [plain, others, ptr::null_mut()] {
            fails(hipMemSetMemPool(at, managed, wrong), INVALID, "pool");
        }
        let none = hipMemAllocationType(0);
        fails(
            hipMemSetMemPool(at, none, own),
            INVALID,
            "is 0, but must be 1",
        );
        fails(
            hipMemGetMemPool(&mut ptr::null_mut(), ptr::null_mut(), pinned),
            INVALID,
            "",
        );
        // Its memory is managed: the host and all devices access it.
        let data: *mut c_void =
            result(|address| hipMallocFromPoolAsync(address, 64, own, ptr::null_mut()));
        let of = result(|of| hipPointerGetAttributes(of, data));
        assert_eq!(of.isManaged, 1);
        data.cast::<u32>().write(41);
        other.make_current();
        let add_one = kernel(load(code_object(Gpu::Gfx942)), c"add");
        let arguments = [data.addr() as u64, data.addr() as u64, 1].map(u64::to_le_bytes);
        let launch = Launch {
            function: add_one,
            grid: [1; 3],
            block: [1; 3],
            lds_bytes: 0,
            stream: ptr::null_mut(),
            arguments: arguments.as_flattened(),
        };
        succeeds(launch.run());
        succeeds(hipDeviceSynchronize());
        assert_eq!(data.cast::<u32>().read(), 42);
        succeeds(hipFreeAsync(data, ptr::null_mut()));
        succeeds(hipMemPoolDestroy(own));
        assert_eq!(current(managed), default(managed));
        fails(hipMemPoolDestroy(default(managed)), INVALID, "default pool");
    }
}
