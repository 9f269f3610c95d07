//! Kinds of memory, attributes of addresses, pools and contexts.

use super::*;

fn attributes(address: *const c_void) -> hipPointerAttribute_t {
    // SAFETY: the result pointer is valid.
    result(|attributes| unsafe { hipPointerGetAttributes(attributes, address) })
}

#[test]
fn kernels_reach_managed_and_lent_memory_at_the_programs_addresses() {
    let device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let mut own = vec![5_u32; 64];
    let lent: *mut c_void = own.as_mut_ptr().cast();
    // SAFETY: the result pointers are valid; the test's memory outlives its registration.
    unsafe {
        let managed: *mut u32 =
            result(|address| hipMallocManaged(address, 256, hipMemAttachGlobal)).cast();
        managed.write_bytes(0, 64);
        assert_eq!(
            attributes(lent).r#type,
            hipMemoryType::hipMemoryTypeUnregistered
        );
        let unregistered = hipError_t::hipErrorHostMemoryNotRegistered;
        fails(
            hipHostUnregister(lent),
            unregistered,
            "not from hipHostRegister",
        );
        succeeds(hipHostRegister(lent, 256, 0));
        let twice = hipError_t::hipErrorHostMemoryAlreadyRegistered;
        fails(hipHostRegister(lent.byte_add(128), 4, 0), twice, "already");
        succeeds(hipHostRegister(lent, 256, 0));
        let on_device: *mut c_void = result(|address| hipHostGetDevicePointer(address, lent, 0));
        let arguments = add_arguments(managed.cast(), on_device, 1);
        succeeds(add(function, 1, &arguments, ptr::null_mut()));
        succeeds(hipDeviceSynchronize());
        assert_eq!(managed.add(63).read(), 6);
        let is = attributes(managed.add(3).cast());
        assert_eq!(is.r#type, hipMemoryType::hipMemoryTypeManaged);
        assert_eq!((is.device, is.isManaged), (device.0, 1));
        assert_eq!(is.hostPointer, managed.add(3).cast());
        assert_eq!(attributes(lent).r#type, hipMemoryType::hipMemoryTypeHost);
        succeeds(hipHostUnregister(lent));
        // Kernels can no longer access it.
        succeeds(add(function, 1, &arguments, ptr::null_mut()));
        let illegal = hipError_t::hipErrorIllegalAddress;
        fails(hipDeviceSynchronize(), illegal, "global_load_dword");
        succeeds(hipFree(managed.cast()));
    }
    assert_eq!(own, [5; 64]);
}

#[test]
fn host_memory_is_every_devices() {
    // Beside other tests, one of them could get the freed address.
    if !alone("tests::places::host_memory_is_every_devices") {
        return;
    }
    let first = TestDevice::new(Gpu::Gfx942);
    let second = TestDevice::new(Gpu::Gfx90a);
    first.make_current();
    // SAFETY: the result pointers are valid, and the allocation has 256 bytes.
    unsafe {
        let host: *mut u32 = result(|address| hipHostMalloc(address, 256, 0)).cast();
        (0..64).for_each(|i| host.add(i).write(1));
        second.make_current();
        let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
        let arguments = add_arguments(host.cast(), host.cast(), 1);
        succeeds(add(function, 1, &arguments, ptr::null_mut()));
        succeeds(hipDeviceSynchronize());
        assert_eq!(host.read(), 2);
        assert_eq!(attributes(host.cast()).device, first.0);
        succeeds(hipHostFree(host.cast()));
        succeeds(add(function, 1, &arguments, ptr::null_mut()));
        let illegal = hipError_t::hipErrorIllegalAddress;
        fails(hipDeviceSynchronize(), illegal, "global_load_dword");
        // What one device registered may be registered again on another.
        let mut own = [1_u32; 64];
        let address = (&raw mut own).cast();
        first.make_current();
        succeeds(hipHostRegister(address, 256, 0));
        second.make_current();
        succeeds(hipHostRegister(address, 256, 0));
        succeeds(hipHostUnregister(address));
        let unregistered = hipError_t::hipErrorHostMemoryNotRegistered;
        fails(
            hipHostUnregister(address),
            unregistered,
            "unregistered before",
        );
    }
}

#[test]
fn rows_and_layers_are_copied_and_filled_one_by_one() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let rows: Vec<u8> = (0..60).collect();
    let mut back = [0xee_u8; 60];
    // SAFETY: the allocations and the test's memory are valid.
    unsafe {
        let mut pitch = 0;
        let there: *mut c_void = result(|address| hipMallocPitch(address, &mut pitch, 10, 6));
        assert_eq!(pitch, 256);
        let (to, from) = (
            hipMemcpyKind::hipMemcpyHostToDevice,
            hipMemcpyKind::hipMemcpyDeviceToHost,
        );
        succeeds(hipMemcpy2D(
            there,
            pitch,
            rows.as_ptr().cast(),
            10,
            10,
            6,
            to,
        ));
        succeeds(hipMemset2D(there.byte_add(pitch), pitch, 0xab, 3, 2));
        succeeds(hipMemcpy2D(
            back.as_mut_ptr().cast(),
            10,
            there,
            pitch,
            10,
            6,
            from,
        ));
        let mut expected = rows.clone();
        for row in [1, 2] {
            expected[10 * row..10 * row + 3].fill(0xab);
        }
        assert_eq!(back[..], expected);
        let invalid = hipError_t::hipErrorInvalidPitchValue;
        let narrow = hipMemcpy2D(there, 9, rows.as_ptr().cast(), 10, 10, 6, to);
        fails(narrow, invalid, "pitch is 9 bytes");
        let value = hipError_t::hipErrorInvalidValue;
        fails(hipMemset2D(there, 9, 0, 10, 6), value, "pitch is 9 bytes");
        let beyond = hipMemcpy2D(there, pitch, rows.as_ptr().cast(), 10, 10, 7, to);
        fails(
            beyond,
            hipError_t::hipErrorInvalidValue,
            "not inside one allocation",
        );

        // Copies the second and third row of two layers of three rows, from the fourth byte on.
        let p = hipMemcpy3DParms {
            srcPos: hipPos { x: 4, y: 1, z: 0 },
            srcPtr: hipPitchedPtr {
                ptr: there,
                pitch,
                xsize: 10,
                ysize: 3,
            },
            dstPtr: hipPitchedPtr {
                ptr: back.as_mut_ptr().cast(),
                pitch: 6,
                xsize: 6,
                ysize: 2,
            },
            extent: hipExtent {
                width: 6,
                height: 2,
                depth: 2,
            },
            kind: from,
            ..hipMemcpy3DParms::ZERO
        };
        succeeds(hipMemcpy3D(&p));
        let row = |row: usize| expected[10 * row + 4..10 * row + 10].to_vec();
        assert_eq!(back[..24], [row(1), row(2), row(4), row(5)].concat());
        let array = hipMemcpy3DParms {
            srcArray: ptr::without_provenance_mut(16),
            ..p
        };
        fails(
            hipMemcpy3D(&array),
            hipError_t::hipErrorInvalidHandle,
            "0x10 is not the handle of a live array",
        );
    }
}

#[test]
fn pools_count_what_is_taken_from_them() {
    let device = TestDevice::new(Gpu::Gfx942);
    let properties = pool_properties(&device);
    let used = hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent;
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let pool: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &properties));
        let data: *mut c_void =
            result(|address| hipMallocFromPoolAsync(address, 1000, pool, ptr::null_mut()));
        let bytes = || result::<u64>(|bytes| hipMemPoolGetAttribute(pool, used, bytes.cast()));
        assert_eq!(bytes(), 1000);
        succeeds(hipFree(data));
        assert_eq!(bytes(), 0);
        let own: hipMemPool_t = result(|pool| hipDeviceGetMemPool(pool, device.0));
        let invalid = hipError_t::hipErrorInvalidValue;
        let small = hipMemPoolProps {
            maxSize: 1000,
            ..properties
        };
        let small: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &small));
        let mut more = ptr::null_mut();
        let mut take = |bytes| hipMallocFromPoolAsync(&mut more, bytes, small, ptr::null_mut());
        succeeds(take(600));
        let out = hipError_t::hipErrorOutOfMemory;
        fails(take(401), out, "600 of the pool's 1000 are in use");
        let last: *mut c_void =
            result(|address| hipMallocFromPoolAsync(address, 400, small, ptr::null_mut()));
        // What a pool has had counts, even if it was released.
        succeeds(hipFreeAsync(last, ptr::null_mut()));
        succeeds(hipDeviceSynchronize());
        succeeds(hipMemPoolTrimTo(small, 0));
        fails(
            take(400),
            out,
            "1000 of the pool's 1000 are in use, or were",
        );
        let elsewhere = hipMemPoolProps {
            location: hipMemLocation {
                id: 99,
                ..properties.location
            },
            ..properties
        };
        let mut none = ptr::null_mut();
        fails(hipMemPoolCreate(&mut none, &elsewhere), invalid, "99");
        let odd = hipMemAccessDesc {
            location: properties.location,
            flags: hipMemAccessFlags(2),
        };
        fails(
            hipMemPoolSetAccess(pool, &odd, 1),
            invalid,
            "the access is 2",
        );
        let other = hipMemAccessDesc {
            location: elsewhere.location,
            flags: hipMemAccessFlags::hipMemAccessFlagsProtReadWrite,
        };
        let device_code = hipError_t::hipErrorInvalidDevice;
        fails(hipMemPoolSetAccess(pool, &other, 1), device_code, "99");
        let mut location = elsewhere.location;
        let mut flags = hipMemAccessFlags(0);
        let asked = hipMemPoolGetAccess(&mut flags, pool, &mut location);
        fails(asked, invalid, "99");
        let no_pool =
            hipMallocFromPoolAsync(&mut ptr::null_mut(), 8, ptr::null_mut(), ptr::null_mut());
        fails(no_pool, invalid, "0x0 is not a memory pool");
        fails(hipMemPoolDestroy(own), invalid, "cannot be destroyed");
        succeeds(hipDeviceSetMemPool(device.0, pool));
        assert_eq!(
            result::<hipMemPool_t>(|p| hipDeviceGetMemPool(p, device.0)),
            pool
        );
        succeeds(hipMemPoolDestroy(pool));
        fails(hipMemPoolTrimTo(pool, 0), invalid, "is not a memory pool");
        // The device reverts to its default pool.
        assert_eq!(
            result::<hipMemPool_t>(|p| hipDeviceGetMemPool(p, device.0)),
            own
        );
        // An address outside all allocations has no attributes.
        let here = ptr::from_ref(&properties).cast_mut().cast();
        let base = result::<hipDeviceptr_t>(|_| {
            let found = hipMemGetAddressRange(ptr::null_mut(), ptr::null_mut(), here);
            assert_eq!(found, hipError_t::hipErrorNotFound);
            hipError_t::hipSuccess
        });
        assert!(base.is_null());
    }
}

#[test]
fn the_topmost_context_says_which_device_is_current() {
    let (first, second) = (TestDevice::new(Gpu::Gfx942), TestDevice::new(Gpu::Gfx90a));
    first.make_current();
    let current = || {
        // SAFETY: the result pointers are valid.
        unsafe {
            (
                result::<hipCtx_t>(|ctx| hipCtxGetCurrent(ctx)),
                result::<c_int>(|device| hipGetDevice(device)),
            )
        }
    };
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let primary: hipCtx_t = result(|ctx| hipDevicePrimaryCtxRetain(ctx, first.0));
        let other: hipCtx_t = result(|ctx| hipDevicePrimaryCtxRetain(ctx, second.0));
        assert_eq!(current(), (primary, first.0));
        succeeds(hipCtxPushCurrent(other));
        assert_eq!(current(), (other, second.0));
        let made: hipCtx_t = result(|ctx| hipCtxCreate(ctx, 0, first.0));
        assert_eq!(current(), (made, first.0));
        assert_eq!(result::<hipCtx_t>(|ctx| hipCtxPopCurrent(ctx)), made);
        assert_eq!(current(), (other, second.0));
        succeeds(hipCtxDestroy(made));
        let invalid = hipError_t::hipErrorInvalidContext;
        fails(hipCtxPushCurrent(made), invalid, "not a context");
        fails(hipCtxDestroy(primary), invalid, "cannot be destroyed");
        succeeds(hipSetDevice(first.0));
        assert_eq!(current(), (primary, first.0));
        succeeds(hipCtxPopCurrent(ptr::null_mut()));
        fails(hipCtxPopCurrent(ptr::null_mut()), invalid, "empty");
        let (mut flags, mut active) = (9, 9);
        succeeds(hipDevicePrimaryCtxGetState(
            first.0,
            &mut flags,
            &mut active,
        ));
        assert_eq!((flags, active), (0, 1));
        succeeds(hipDevicePrimaryCtxRelease(first.0));
    }
}

#[test]
fn a_reset_device_is_as_new() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let (data, stream) = (allocate(100), stream());
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        succeeds(hipDeviceReset());
        let (mut free, mut total) = (0, 0);
        succeeds(hipMemGetInfo(&mut free, &mut total));
        assert_eq!(free, total);
        fails(
            hipFree(data),
            hipError_t::hipErrorInvalidValue,
            "freed before",
        );
        assert_eq!(
            hipStreamQuery(stream),
            hipError_t::hipErrorContextIsDestroyed
        );
    }
}

#[test]
fn what_the_emulator_has_not_says_so() {
    let _device = TestDevice::new(Gpu::Gfx942);
    // SAFETY: the result pointers are valid; the function only asks whether its arguments are null.
    unsafe {
        let name = c"hipMallocMipmappedArray".as_ptr();
        let status = ptr::null_mut();
        let function: *mut c_void =
            result(|function| hipGetProcAddress(name, function, 600, 0, status));
        let function: extern "C" fn(*const u64, *const u64) -> hipError_t =
            std::mem::transmute(function);
        let place = 0;
        fails(
            function(&place, &place),
            hipError_t::hipErrorNotSupported,
            "no hipMallocMipmappedArray",
        );
        // As in CLR, arguments are looked at before.
        let invalid = hipError_t::hipErrorInvalidValue;
        fails(function(ptr::null(), &place), invalid, "array is null");
        fails(function(&place, ptr::null()), invalid, "descriptor is null");
    }
}

#[test]
fn what_an_address_has_no_answer_to_is_as_in_clr() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let data = allocate(64);
    let context = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_CONTEXT;
    let size = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_RANGE_SIZE;
    let (mut first, mut second) = (7_u64, u64::MAX);
    let mut answers = [(&raw mut first).cast(), (&raw mut second).cast()];
    let mut attributes = [context, size];
    let (null, invalid) = (ptr::null_mut(), hipError_t::hipErrorInvalidValue);
    // SAFETY: the lists have two elements, the answers eight bytes each.
    unsafe {
        let alone = hipPointerGetAttribute(answers[0], context, data);
        fails(alone, hipError_t::hipErrorNotSupported, "attribute 1");
        let mut ask = |count, address| {
            let (attributes, answers) = (attributes.as_mut_ptr(), answers.as_mut_ptr());
            hipDrvPointerGetAttributes(count, attributes, answers, address)
        };
        succeeds(ask(2, data));
        fails(ask(0, data), invalid, "0 attributes");
        fails(ask(2, null), invalid, "2 attributes");
        let word = (&raw mut first).cast::<c_void>();
        let direction = hipError_t::hipErrorInvalidMemcpyDirection;
        let (to, from) = (
            hipMemcpyKind::hipMemcpyHostToDevice,
            hipMemcpyKind::hipMemcpyDeviceToHost,
        );
        fails(
            hipMemcpyToSymbol(data, word, 4, 0, from),
            direction,
            "2 is not",
        );
        fails(
            hipMemcpyFromSymbol(word, data, 4, 0, to),
            direction,
            "1 is not",
        );
    }
    // The length has 32 bits.
    assert_eq!((first, second), (0, 64 | u64::MAX << 32));
}

#[test]
fn an_address_within_an_allocation_has_the_allocations_size() {
    let device = TestDevice::new(Gpu::Gfx942);
    device.make_current();
    // SAFETY: the result pointers are valid; the other addresses are only looked up.
    unsafe {
        let start: *mut c_void = result(|address| hipMalloc(address, 17536));
        let size = |address| result::<usize>(|bytes| hipMemPtrGetInfo(address, bytes));
        assert_eq!(size(start), 17536);
        // hipSPARSELt's tests have padding before what they pass.
        assert_eq!(size(start.byte_add(8192)), 17536);
        assert_eq!(size(start.byte_add(17535)), 17536);
        assert_eq!(size(ptr::null_mut()), 0);
        let own = 5_u32;
        let mut bytes = 1;
        let unknown = hipMemPtrGetInfo(ptr::from_ref(&own).cast_mut().cast(), &mut bytes);
        fails(unknown, hipError_t::hipErrorInvalidValue, "not in memory");
        assert_eq!(bytes, 1);
        succeeds(hipFree(start));
    }
}
