//! Cooperative launches, whose workgroups wait for each other.

use super::*;

/// Assembles `meet.s` for a GPU.
pub(super) fn meet(gpu: Gpu) -> hipFunction_t {
    let (returns, coherent, accumulators) = match gpu {
        Gpu::Gfx908 => ("glc", "glc", ""),
        Gpu::Gfx90a => ("glc", "glc", ".amdhsa_accum_offset 8"),
        _ => ("sc0", "sc1", ".amdhsa_accum_offset 8"),
    };
    let text = include_str!("meet.s")
        .replace("RETURNS\n", &format!("{returns}\n"))
        .replace("COHERENT\n", &format!("{coherent}\n"))
        .replace("ACCUM_OFFSET\n", &format!("{accumulators}\n"));
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let object = Assembly::new(gpu, &text).assemble(&toolchain);
    kernel(load(&object.expect("LLVM assembles the test")), c"meet")
}

/// A cooperative launch of `meet` on a stream.
pub(super) fn launch(
    function: hipFunction_t,
    workgroups: c_uint,
    threads: c_uint,
    out: *mut c_void,
    stream: hipStream_t,
) -> hipError_t {
    let mut out = out;
    let mut parameters = [(&raw mut out).cast::<c_void>()];
    // SAFETY: the kernel takes one argument.
    unsafe {
        hipModuleLaunchCooperativeKernel(
            function,
            workgroups,
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
        )
    }
}

#[test]
fn workgroups_meet_as_rocms_library_has_them() {
    for &gpu in Family::Cdna.gpus() {
        let _device = TestDevice::new(gpu);
        let function = meet(gpu);
        for workgroups in [1, 2, 31] {
            let out = buffer(&[0; 64]);
            // Each launch has its own barrier words.
            for _ in 0..2 {
                succeeds(launch(function, workgroups, 1, out, ptr::null_mut()));
            }
            let found = contents(out, 64);
            let own = (0..32).map(|i| if i < workgroups { i + 1 } else { 0 });
            let others = (0..32).map(|i| match i < workgroups {
                true => (i + 1) % workgroups + 1,
                false => 0,
            });
            assert!(
                found.iter().copied().eq(own.chain(others)),
                "{gpu}: {found:?}"
            );
        }
    }
}

#[test]
fn a_plain_launch_has_no_grid_to_meet() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let out = buffer(&[0; 64]);
    let arguments = out.addr().to_le_bytes();
    let plain = Launch {
        function: meet(Gpu::Gfx942),
        grid: [2, 1, 1],
        block: [1, 1, 1],
        lds_bytes: 0,
        stream: ptr::null_mut(),
        arguments: &arguments,
    };
    // In a plain launch, ROCm's device library finds a null pointer for the grid barrier, as does this kernel.
    succeeds(plain.run());
    let illegal = hipError_t::hipErrorIllegalAddress;
    // SAFETY: the function takes no pointers.
    fails(
        unsafe { hipDeviceSynchronize() },
        illegal,
        "4 bytes at 0x28",
    );
}

#[test]
fn more_than_the_device_holds_is_too_large() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = meet(Gpu::Gfx90a);
    // SAFETY: the result pointer is valid.
    let held: c_int = result(|count| unsafe {
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(count, function, 1024, 0)
    });
    // SAFETY: the result pointer is valid.
    let units: c_int = result(|count| unsafe {
        let attribute = hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount;
        let device: c_int = result(|device| hipGetDevice(device));
        hipDeviceGetAttribute(count, attribute, device)
    });
    // SAFETY: the result pointer is valid.
    let has: c_int = result(|has| unsafe {
        let attribute = hipDeviceAttribute_t::hipDeviceAttributeCooperativeLaunch;
        let device: c_int = result(|device| hipGetDevice(device));
        hipDeviceGetAttribute(has, attribute, device)
    });
    assert_eq!(has, 1);
    let most = (held * units) as c_uint;
    let out = buffer(&[0; 64]);
    fails(
        launch(function, most + 1, 1024, out, ptr::null_mut()),
        hipError_t::hipErrorCooperativeLaunchTooLarge,
        &format!(
            "of {} workgroups, but the device holds only {most} at once",
            most + 1
        ),
    );
}
