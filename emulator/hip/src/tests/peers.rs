//! Peer access between devices.

use super::*;

#[test]
fn kernels_reach_a_peers_memory_while_that_is_enabled() {
    let [first, second] = [Gpu::Gfx942, Gpu::Gfx90a].map(TestDevice::new);
    first.make_current();
    let data = buffer(&(0..64).collect::<Vec<u32>>());
    second.make_current();
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let launch = |bias| {
        add(
            function,
            1,
            &add_arguments(data, data, bias),
            ptr::null_mut(),
        )
    };
    // SAFETY: the result pointers are valid.
    unsafe {
        let can = |from, to| result(|can| hipDeviceCanAccessPeer(can, from, to));
        assert_eq!(
            [
                can(first.0, second.0),
                can(second.0, first.0),
                can(first.0, first.0)
            ],
            [1, 1, 0]
        );
        let attribute = hipDeviceP2PAttr::hipDevP2PAttrAccessSupported;
        let supported =
            result(|value| hipDeviceGetP2PAttribute(value, attribute, first.0, second.0));
        assert_eq!(supported, 1);

        succeeds(launch(1));
        let illegal = hipError_t::hipErrorIllegalAddress;
        let said = format!(
            "which is on device {}; peer access from device {} is not enabled",
            first.0, second.0
        );
        fails(hipDeviceSynchronize(), illegal, &said);

        let not_enabled = hipError_t::hipErrorPeerAccessNotEnabled;
        fails(
            hipDeviceDisablePeerAccess(first.0),
            not_enabled,
            "has no access",
        );
        succeeds(hipDeviceEnablePeerAccess(first.0, 0));
        let already = hipError_t::hipErrorPeerAccessAlreadyEnabled;
        fails(hipDeviceEnablePeerAccess(first.0, 0), already, "already");
        succeeds(launch(1));
        succeeds(hipDeviceSynchronize());
        assert_eq!(contents(data, 64), (1..65).collect::<Vec<u32>>());

        // Access in the other direction is not enabled.
        let own = buffer(&[5; 64]);
        first.make_current();
        let other = kernel(load(code_object(Gpu::Gfx942)), c"add");
        succeeds(add(other, 1, &add_arguments(own, own, 1), ptr::null_mut()));
        fails(hipDeviceSynchronize(), illegal, "is not enabled");

        // Disabling peer access waits for earlier launches.
        second.make_current();
        succeeds(launch(10));
        succeeds(hipDeviceDisablePeerAccess(first.0));
        assert_eq!(contents(data, 64), (11..75).collect::<Vec<u32>>());
        succeeds(launch(1));
        fails(hipDeviceSynchronize(), illegal, "is not enabled");

        let invalid = hipError_t::hipErrorInvalidDevice;
        fails(
            hipDeviceEnablePeerAccess(second.0, 0),
            invalid,
            "cannot be its own peer",
        );
        fails(
            hipDeviceEnablePeerAccess(first.0, 1),
            hipError_t::hipErrorInvalidValue,
            "must be 0",
        );
        fails(hipDeviceEnablePeerAccess(99, 0), invalid, "99");
    }
}

#[test]
fn a_graphs_memset_stays_on_its_device() {
    let devices = [Gpu::Gfx942; 2].map(TestDevice::new);
    let [first, second] = devices.each_ref().map(|device| {
        device.make_current();
        buffer(&[9; 4])
    });
    let fill = |dst| hipMemsetParams {
        dst,
        elementSize: 4,
        height: 1,
        value: 1,
        width: 4,
        ..hipMemsetParams::ZERO
    };
    // SAFETY: result and parameter pointers are valid; HIP checks the handles.
    unsafe {
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let node: hipGraphNode_t =
            result(|node| hipGraphAddMemsetNode(node, graph, ptr::null(), 0, &fill(first)));
        let executable: hipGraphExec_t =
            result(|executable| hipGraphInstantiateWithFlags(executable, graph, 0));
        let said = format!(
            "is on device {}, the new one on device {}",
            devices[0].0, devices[1].0
        );
        fails(
            hipGraphExecMemsetNodeSetParams(executable, node, &fill(second)),
            hipError_t::hipErrorInvalidValue,
            &said,
        );
        // The graph's own node may change.
        succeeds(hipGraphMemsetNodeSetParams(node, &fill(second)));
        succeeds(hipGraphExecDestroy(executable));
        succeeds(hipGraphDestroy(graph));
    }
}

#[test]
fn kernels_reach_the_pools_that_peers_share_with_them() {
    let [first, second] = [Gpu::Gfx942, Gpu::Gfx90a].map(TestDevice::new);
    first.make_current();
    let properties = pool_properties(&first);
    // SAFETY: the result pointers are valid, and the lists have the elements.
    unsafe {
        let [pool, other]: [hipMemPool_t; 2] =
            [(); 2].map(|()| result(|pool| hipMemPoolCreate(pool, &properties)));
        let take = |pool| {
            let data: *mut c_void =
                result(|address| hipMallocFromPoolAsync(address, 256, pool, ptr::null_mut()));
            succeeds(hipMemcpyHtoD(
                data,
                [7_u32; 64].as_ptr().cast_mut().cast(),
                256,
            ));
            data
        };
        let (before, private) = (take(pool), take(other));
        let place = |device| hipMemLocation {
            id: device,
            ..properties.location
        };
        let access = |device| {
            let mut place = place(device);
            result(|flags| hipMemPoolGetAccess(flags, pool, &mut place)).0
        };
        let allow = |device, flags| {
            let access = hipMemAccessDesc {
                location: place(device),
                flags: hipMemAccessFlags(flags),
            };
            hipMemPoolSetAccess(pool, &access, 1)
        };
        assert_eq!([access(first.0), access(second.0)], [3, 0]);
        succeeds(allow(first.0, 1));
        succeeds(allow(second.0, 1));
        assert_eq!([access(first.0), access(second.0)], [3, 1]);
        succeeds(allow(second.0, 3));
        assert_eq!([access(first.0), access(second.0)], [3, 3]);
        let after = take(pool);

        second.make_current();
        let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
        let launch = |data| {
            let arguments = add_arguments(data, data, 1);
            succeeds(add(function, 1, &arguments, ptr::null_mut()));
            hipDeviceSynchronize()
        };
        for data in [before, after] {
            succeeds(launch(data));
            assert_eq!(contents(data, 64), [8; 64]);
        }
        fails(
            launch(private),
            hipError_t::hipErrorIllegalAddress,
            "is not enabled (hipDeviceEnablePeerAccess, hipMemPoolSetAccess)",
        );

        let invalid = hipError_t::hipErrorInvalidDevice;
        for device in [first.0, second.0] {
            fails(allow(device, 0), invalid, "cannot be withdrawn");
        }
        let none = hipError_t::hipErrorInvalidValue;
        fails(hipMemPoolSetAccess(pool, ptr::null(), 1), none, "is null");
        let mut devices = 0;
        succeeds(hipGetDeviceCount(&mut devices));
        let many = vec![
            hipMemAccessDesc {
                location: place(second.0),
                flags: hipMemAccessFlags::hipMemAccessFlagsProtReadWrite,
            };
            1000
        ];
        assert!(devices < 1000);
        fails(
            hipMemPoolSetAccess(pool, many.as_ptr(), many.len()),
            invalid,
            "accesses of 1000 devices",
        );
    }
}

#[test]
fn a_reset_device_still_reaches_the_pools_and_peers_that_it_reached() {
    let [first, second] = [Gpu::Gfx942, Gpu::Gfx90a].map(TestDevice::new);
    let properties = pool_properties(&first);
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let pool: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &properties));
        let read = hipMemAccessFlags::hipMemAccessFlagsProtRead;
        let mut place = hipMemLocation {
            id: second.0,
            ..properties.location
        };
        let access = hipMemAccessDesc {
            location: place,
            flags: read,
        };
        succeeds(hipMemPoolSetAccess(pool, &access, 1));
        second.make_current();
        succeeds(hipDeviceEnablePeerAccess(first.0, 0));
        succeeds(hipDeviceReset());
        let flags = result(|flags| hipMemPoolGetAccess(flags, pool, &mut place));
        assert_eq!(flags, read);
        let already = hipError_t::hipErrorPeerAccessAlreadyEnabled;
        fails(hipDeviceEnablePeerAccess(first.0, 0), already, "already");
        succeeds(hipDeviceDisablePeerAccess(first.0));

        first.make_current();
        let data = result(|data| hipMallocFromPoolAsync(data, 256, pool, ptr::null_mut()));
        second.make_current();
        let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
        let arguments = add_arguments(data, data, 1);
        succeeds(add(function, 1, &arguments, ptr::null_mut()));
        succeeds(hipDeviceSynchronize());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_imported_pool_has_the_accesses_of_the_exported_one() {
    let [first, second, third] = [Gpu::Gfx942, Gpu::Gfx90a, Gpu::Gfx90a].map(TestDevice::new);
    let kind = hipMemAllocationHandleType::hipMemHandleTypePosixFileDescriptor;
    let properties = hipMemPoolProps {
        handleTypes: kind.0,
        ..pool_properties(&first)
    };
    let place = |device: &TestDevice| hipMemLocation {
        id: device.0,
        ..properties.location
    };
    first.make_current();
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let pool: hipMemPool_t = result(|pool| hipMemPoolCreate(pool, &properties));
        let access = hipMemAccessDesc {
            location: place(&second),
            flags: hipMemAccessFlags::hipMemAccessFlagsProtRead,
        };
        succeeds(hipMemPoolSetAccess(pool, &access, 1));
        let descriptor: c_int = result(|descriptor: *mut c_int| {
            hipMemPoolExportToShareableHandle(descriptor.cast(), pool, kind, 0)
        });
        let imported: hipMemPool_t = result(|pool| {
            let handle = ptr::without_provenance_mut(descriptor as usize);
            hipMemPoolImportFromShareableHandle(pool, handle, kind, 0)
        });
        libc::close(descriptor);
        let accesses = [&first, &second, &third].map(|device| {
            let mut place = place(device);
            result(|flags| hipMemPoolGetAccess(flags, imported, &mut place)).0
        });
        assert_eq!(accesses, [3, 1, 0]);
        let data = result(|data| hipMallocFromPoolAsync(data, 256, imported, ptr::null_mut()));
        for (device, expected) in [
            (&second, hipError_t::hipSuccess),
            (&third, hipError_t::hipErrorIllegalAddress),
        ] {
            device.make_current();
            let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
            let arguments = add_arguments(data, data, 1);
            succeeds(add(function, 1, &arguments, ptr::null_mut()));
            assert_eq!(hipDeviceSynchronize(), expected);
        }
    }
}

#[test]
fn memory_is_copied_from_one_device_to_another() {
    let [first, second] = [Gpu::Gfx942, Gpu::Gfx908].map(TestDevice::new);
    first.make_current();
    let from = buffer(&[7; 64]);
    second.make_current();
    let to = buffer(&[0; 64]);
    let stream = stream();
    // SAFETY: both have 256 bytes.
    unsafe {
        succeeds(hipMemcpyPeer(to, second.0, from, first.0, 128));
        assert_eq!(contents(to, 64), [[7; 32], [0; 32]].concat());
        succeeds(hipMemcpyPeerAsync(to, second.0, from, first.0, 256, stream));
        succeeds(hipStreamSynchronize(stream));
    }
    assert_eq!(contents(to, 64), [7; 64]);
}

#[test]
fn layers_are_copied_from_one_device_to_another() {
    let [first, second] = [Gpu::Gfx942, Gpu::Gfx908].map(TestDevice::new);
    first.make_current();
    let from = buffer(&(0..24).collect::<Vec<_>>());
    second.make_current();
    let to = buffer(&[0; 24]);
    let memory = |ptr, width: usize, rows| hipPitchedPtr {
        ptr,
        pitch: 4 * width,
        xsize: 4 * width,
        ysize: rows,
    };
    // Two layers of three rows of four words: the inner two words of the lower two rows.
    let mut copy = hipMemcpy3DPeerParms {
        srcPtr: memory(from, 4, 3),
        srcPos: hipPos { x: 4, y: 1, z: 0 },
        srcDevice: first.0,
        dstPtr: memory(to, 2, 2),
        dstDevice: second.0,
        extent: hipExtent {
            width: 8,
            height: 2,
            depth: 2,
        },
        ..hipMemcpy3DPeerParms::ZERO
    };
    let expected = [5, 6, 9, 10, 17, 18, 21, 22];
    let stream = stream();
    // SAFETY: the structs are valid; HIP checks what they describe.
    unsafe {
        succeeds(hipMemcpy3DPeer(&mut copy));
        assert_eq!(contents(to, 8), expected);
        succeeds(hipMemsetD32(to, 0, 8));
        succeeds(hipMemcpy3DPeerAsync(&mut copy, stream));
        succeeds(hipStreamSynchronize(stream));
        assert_eq!(contents(to, 8), expected);
        let invalid = hipError_t::hipErrorInvalidValue;
        fails(hipMemcpy3DPeer(ptr::null_mut()), invalid, "null");
        copy.srcDevice = 99;
        let code = hipError_t::hipErrorInvalidDevice;
        fails(hipMemcpy3DPeerAsync(&mut copy, stream), code, "99");
        copy.srcDevice = first.0;
        copy.extent.depth = 3;
        fails(
            hipMemcpy3DPeer(&mut copy),
            invalid,
            "not inside one allocation",
        );
    }
}
