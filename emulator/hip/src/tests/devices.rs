//! Devices, properties, versions, thread errors, times.

use std::{mem, thread, time::Duration};

use super::*;

#[test]
fn a_device_says_what_it_is_in_every_way_alike() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let ordinal = device.0;
    let text = |bytes: &[std::ffi::c_char]| {
        // SAFETY: the text is NUL-terminated.
        unsafe { CStr::from_ptr(bytes.as_ptr()) }
            .to_str()
            .unwrap()
            .to_owned()
    };
    // SAFETY: the result pointers are valid.
    unsafe {
        assert!(result(|count| hipGetDeviceCount(count)) > ordinal);
        assert_eq!(result(|device| hipDeviceGet(device, ordinal)), ordinal);
        assert_eq!(result(|device| hipGetDevice(device)), ordinal);
        let mut now = hipDeviceProp_tR0600::ZERO;
        let mut legacy = hipDeviceProp_tR0000::ZERO;
        succeeds(hipGetDevicePropertiesR0600(&mut now, ordinal));
        succeeds(hipGetDeviceProperties(&mut legacy, ordinal));
        let name = "AMD Instinct MI210 (gfx90a, emulated by Ferrowave)";
        assert_eq!(
            (text(&now.name), text(&legacy.name)),
            (name.to_owned(), name.to_owned())
        );
        let target = "gfx90a:sramecc+:xnack-".to_owned();
        assert_eq!(
            (text(&now.gcnArchName), text(&legacy.gcnArchName)),
            (target.clone(), target)
        );
        assert_eq!(legacy.gcnArch, 910);
        // From AMD's data sheet of the MI210.
        assert_eq!(
            (now.multiProcessorCount, now.totalGlobalMem),
            (104, 64 << 30)
        );
        assert_eq!(
            (now.warpSize, now.sharedMemPerBlock, now.maxThreadsPerBlock),
            (64, 65536, 1024)
        );
        assert_eq!(now.maxGridSize, [i32::MAX, 65536, 65536]);
        for (attribute, expect) in [
            (
                hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount,
                now.multiProcessorCount,
            ),
            (
                hipDeviceAttribute_t::hipDeviceAttributeWarpSize,
                now.warpSize,
            ),
            (
                hipDeviceAttribute_t::hipDeviceAttributeMaxSharedMemoryPerBlock,
                65536,
            ),
            (hipDeviceAttribute_t::hipDeviceAttributeMaxGridDimY, 65536),
            (hipDeviceAttribute_t::hipDeviceAttributeClockRate, 1_700_000),
            (hipDeviceAttribute_t::hipDeviceAttributeImageSupport, 1),
            (hipDeviceAttribute_t::hipDeviceAttributeManagedMemory, 1),
            (
                hipDeviceAttribute_t::hipDeviceAttributeMaxAvailableVgprsPerThread,
                512,
            ),
            // What ROCm reports for all of its GPUs: PCIe atomics, eight copy engines, pools that processes can share.
            (
                hipDeviceAttribute_t::hipDeviceAttributeHostNativeAtomicSupported,
                1,
            ),
            (hipDeviceAttribute_t::hipDeviceAttributeAsyncEngineCount, 8),
            (
                hipDeviceAttribute_t::hipDeviceAttributeStreamPrioritiesSupported,
                1,
            ),
            (hipDeviceAttribute_t::hipDeviceAttributeFineGrainSupport, 1),
            (
                hipDeviceAttribute_t::hipDeviceAttributeMemoryPoolSupportedHandleTypes,
                1,
            ),
            // Kernels, grids, workgroups and LDS of a launch on several devices.
            (hipDeviceAttribute_t(10_007), 1),
            (hipDeviceAttribute_t(10_008), 1),
            (hipDeviceAttribute_t(10_009), 1),
            (hipDeviceAttribute_t(10_010), 1),
            (
                hipDeviceAttribute_t::hipDeviceAttributePersistingL2CacheMaxSize,
                now.persistingL2CacheMaxSize,
            ),
            (
                hipDeviceAttribute_t::hipDeviceAttributeTotalGlobalMem,
                i32::MAX,
            ),
            (
                hipDeviceAttribute_t::hipDeviceAttributeMaxSurface1D,
                now.maxSurface1D,
            ),
            // The width of a texture.
            (hipDeviceAttribute_t(40), 0),
            (hipDeviceAttribute_t(10_020), 0),
        ] {
            assert_eq!(
                result(|value| hipDeviceGetAttribute(value, attribute, ordinal)),
                expect
            );
        }
        let mut value = 0;
        let unknown = hipDeviceGetAttribute(&mut value, hipDeviceAttribute_t(9998), ordinal);
        fails(
            unknown,
            hipError_t::hipErrorInvalidValue,
            "no device attribute 9998",
        );

        let mut short = [1; 11];
        succeeds(hipDeviceGetName(short.as_mut_ptr(), 11, ordinal));
        assert_eq!(text(&short), "AMD Instin");
        let none = hipDeviceGetName(short.as_mut_ptr(), 0, ordinal);
        fails(none, hipError_t::hipErrorInvalidValue, "0 bytes");
    }
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let gone = TestDevice::new(Gpu::Gfx908);
    let ordinal = 1 << 20;
    let invalid = hipError_t::hipErrorInvalidDevice;
    // SAFETY: the result pointers are valid.
    unsafe {
        for ordinal in [-1, ordinal, c_int::MIN] {
            fails(hipSetDevice(ordinal), invalid, "there is no device");
            let mut bytes = 0;
            fails(
                hipDeviceTotalMem(&mut bytes, ordinal),
                invalid,
                "there is no device",
            );
        }
        assert_eq!(result(|device| hipGetDevice(device)), gone.0);
    }
}

#[test]
fn versions_are_those_of_the_interface() {
    // SAFETY: the result pointers are valid.
    unsafe {
        let version = result(|version| hipRuntimeGetVersion(version));
        assert_eq!(version / 10_000_000, 6);
        assert_eq!(result(|version| hipDriverGetVersion(version)), version);
    }
}

#[test]
fn addresses_of_functions_follow_the_callers_version() {
    let address = |name: &CStr, version| {
        let mut status = hipDriverProcAddressQueryResult(99);
        let mut function = ptr::null_mut();
        // SAFETY: the result pointers are valid, and the text is a C string.
        let code =
            unsafe { hipGetProcAddress(name.as_ptr(), &mut function, version, 0, &mut status) };
        (code, function, status)
    };
    let device = TestDevice::new(Gpu::Gfx942);
    let (code, function, status) = address(c"hipGetDeviceProperties", 600);
    assert_eq!((code, status.0), (hipError_t::hipSuccess, 0));
    // SAFETY: from version 600 on, the function writes the newer struct.
    let properties = unsafe {
        type Properties = unsafe extern "C" fn(*mut hipDeviceProp_tR0600, c_int) -> hipError_t;
        let function = mem::transmute::<*mut c_void, Properties>(function);
        let mut properties = hipDeviceProp_tR0600::ZERO;
        succeeds(function(&mut properties, device.0));
        properties
    };
    assert_eq!(properties.multiProcessorCount, 304);
    let (_, legacy, _) = address(c"hipGetDeviceProperties", 502);
    assert_ne!(legacy, function);

    let (code, function, status) = address(c"hipFly", 600);
    fails(
        code,
        hipError_t::hipErrorInvalidValue,
        "no function `hipFly`",
    );
    assert_eq!(
        status,
        hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    );
    assert!(function.is_null());
}

#[test]
fn each_thread_has_its_own_error_and_device() {
    let device = TestDevice::new(Gpu::Gfx942);
    // SAFETY: the function takes no pointers.
    unsafe {
        fails(hipSetDevice(-1), hipError_t::hipErrorInvalidDevice, "-1");
        thread::spawn(|| {
            assert_eq!(hipPeekAtLastError(), hipError_t::hipSuccess);
            assert_eq!(last_error_detail(), "");
        })
        .join()
        .unwrap();
        // A successful call does not clear the error.
        succeeds(hipSetDevice(device.0));
        assert_eq!(hipPeekAtLastError(), hipError_t::hipErrorInvalidDevice);
        assert_eq!(hipGetLastError(), hipError_t::hipErrorInvalidDevice);
        assert_eq!(hipGetLastError(), hipError_t::hipSuccess);
    }
}

#[test]
fn events_measure_the_time_between_them() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let handle = hipError_t::hipErrorInvalidHandle;
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let [start, stop] = [(); 2].map(|()| result(|event| hipEventCreate(event)));
        let mut milliseconds = f32::NAN;
        succeeds(hipEventRecord(start, ptr::null_mut()));
        fails(
            hipEventElapsedTime(&mut milliseconds, start, stop),
            handle,
            "the stop event was never recorded",
        );
        succeeds(hipEventQuery(stop));
        thread::sleep(Duration::from_millis(20));
        succeeds(hipEventRecord(stop, stream()));
        succeeds(hipEventElapsedTime(&mut milliseconds, start, stop));
        assert!((20.0..20_000.0).contains(&milliseconds), "{milliseconds}");
        let mut backwards = 0.0;
        succeeds(hipEventElapsedTime(&mut backwards, stop, start));
        assert_eq!(backwards, -milliseconds);

        let untimed = result(|event| hipEventCreateWithFlags(event, hipEventDisableTiming));
        succeeds(hipEventRecord(untimed, ptr::null_mut()));
        let asked = hipEventElapsedTime(&mut milliseconds, untimed, stop);
        fails(asked, handle, "the start event was created without timing");
    }
}

#[test]
fn limits_of_devices_are_kept_and_the_device_with_most_is_chosen() {
    let small = TestDevice::new(Gpu::Gfx908);
    // No other test has a device with as much memory.
    let large = TestDevice::with(DeviceConfig {
        memory_bytes: Some(1 << 45),
        ..DeviceConfig::new(Gpu::Gfx942)
    });
    small.make_current();
    let stack = hipLimit_t::hipLimitStackSize;
    // SAFETY: the result pointers are valid.
    unsafe {
        succeeds(hipDeviceSetLimit(stack, 2001));
        assert_eq!(
            result::<usize>(|value| hipDeviceGetLimit(value, stack)),
            2016
        );
        let value = hipError_t::hipErrorInvalidValue;
        fails(
            hipDeviceSetLimit(stack, 1 << 20),
            value,
            "the most is 131056",
        );
        let printf = hipDeviceSetLimit(hipLimit_t::hipLimitPrintfFifoSize, 1);
        fails(
            printf,
            hipError_t::hipErrorUnsupportedLimit,
            "1 is not a limit",
        );
        let unknown = hipDeviceSetLimit(hipLimit_t(3), 1);
        fails(unknown, value, "3 is not a limit");
        let wanted = hipDeviceProp_tR0600 {
            totalGlobalMem: 1 << 45,
            ..hipDeviceProp_tR0600::ZERO
        };
        let chosen = result::<c_int>(|device| hipChooseDeviceR0600(device, &wanted));
        assert_eq!(chosen, large.0);
        let (mut kind, mut hops) = (0, 0);
        succeeds(hipExtGetLinkTypeAndHopCount(
            small.0, chosen, &mut kind, &mut hops,
        ));
        assert_eq!((kind, hops), (2, 1));
        let own = hipExtGetLinkTypeAndHopCount(small.0, small.0, &mut kind, &mut hops);
        fails(own, value, "no link");
    }
}

/// Ferrowave's own functions, for programs that load the library.
#[test]
fn a_program_adds_devices_by_name() {
    let mut ordinal = -1;
    // SAFETY: texts that end in NUL, and variables.
    unsafe {
        succeeds(ferrowaveAddDevice(
            c"emulator:MI250X".as_ptr(),
            &mut ordinal,
        ));
        let mut properties = hipDeviceProp_tR0600::ZERO;
        succeeds(hipGetDevicePropertiesR0600(&mut properties, ordinal));
        let name = CStr::from_ptr(properties.name.as_ptr()).to_string_lossy();
        assert!(name.contains("MI250X"), "{name}");
        succeeds(ferrowaveRemoveDevice(ordinal));
        assert_eq!(
            ferrowaveRemoveDevice(ordinal),
            hipError_t::hipErrorInvalidDevice
        );

        let unknown = ferrowaveAddDevice(c"gfx1".as_ptr(), &mut ordinal);
        assert_eq!(unknown, hipError_t::hipErrorInvalidValue);
        let detail = last_error_detail();
        assert!(
            detail.starts_with("the emulator has no `gfx1`, only "),
            "{detail}"
        );
        let null = ferrowaveAddDevice(ptr::null(), &mut ordinal);
        assert_eq!(null, hipError_t::hipErrorInvalidValue);
    }
}
