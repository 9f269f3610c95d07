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
