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
