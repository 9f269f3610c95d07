//! Cooperative launches, whose workgroups wait for each other.

use super::*;

/// Assembles `meet.s` for a GPU.
pub(super) fn meet(gpu: Gpu) -> hipFunction_t {
    assembled(gpu, include_str!("meet.s"), c"meet")
}

fn assembled(gpu: Gpu, text: &str, name: &CStr) -> hipFunction_t {
    let (returns, coherent, accumulators) = match gpu {
        Gpu::Gfx908 => ("glc", "glc", ""),
        Gpu::Gfx90a => ("glc", "glc", ".amdhsa_accum_offset 8"),
        _ => ("sc0", "sc1", ".amdhsa_accum_offset 8"),
    };
    let text = text
        .replace("RETURNS\n", &format!("{returns}\n"))
        .replace("COHERENT\n", &format!("{coherent}\n"))
        .replace("ACCUM_OFFSET\n", &format!("{accumulators}\n"));
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let object = Assembly::new(gpu, &text).assemble(&toolchain);
    kernel(load(&object.expect("LLVM assembles the test")), name)
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

/// Launches `grids` of one workgroup on each device, with another number of work-items on each, to store at `outs`.
fn launch_grids(devices: &[(hipFunction_t, hipStream_t)], outs: &[*mut c_void]) -> hipError_t {
    let mut outs = outs.to_vec();
    let mut parameters: Vec<[*mut c_void; 1]> = outs
        .iter_mut()
        .map(|out| [(&raw mut *out).cast()])
        .collect();
    let launches = devices.iter().zip(&mut parameters).enumerate();
    let mut list: Vec<_> = launches
        .map(
            |(index, (&(function, stream), parameters))| hipFunctionLaunchParams {
                function,
                gridDimX: 1,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 1 + 2 * index as c_uint,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: stream,
                kernelParams: parameters.as_mut_ptr(),
            },
        )
        .collect();
    // SAFETY: the list and the arguments are valid until the launches are done, for which the call waits.
    unsafe {
        hipModuleLaunchCooperativeKernelMultiDevice(list.as_mut_ptr(), list.len() as c_uint, 0)
    }
}

#[test]
fn grids_of_several_devices_meet() {
    let gpus = [Gpu::Gfx942, Gpu::Gfx90a, Gpu::Gfx908];
    let devices = gpus.map(TestDevice::new);
    let mut outs = Vec::new();
    let parts: Vec<_> = gpus
        .iter()
        .zip(&devices)
        .map(|(&gpu, device)| {
            device.make_current();
            outs.push(buffer(&[7; 64]));
            let function = assembled(gpu, include_str!("grids.s"), c"grids");
            (function, stream())
        })
        .collect();
    // Rank, grids, work-items of the grids before, work-items of all.
    let expected = [[0, 3, 0, 9], [1, 3, 1, 9], [2, 3, 4, 9]];
    for _ in 0..2 {
        succeeds(launch_grids(&parts, &outs));
        for (out, expected) in outs.iter().zip(expected) {
            assert_eq!(contents(*out, 64)[..4], expected);
        }
    }
    // One device alone is a group, too.
    succeeds(launch_grids(&parts[..1], &outs[..1]));
    assert_eq!(contents(outs[0], 64)[..4], [0, 1, 0, 1]);
    // If one faults, the others do not wait for it.
    outs[1] = ptr::without_provenance_mut(64);
    let failed = launch_grids(&parts, &outs);
    assert_ne!(failed, hipError_t::hipSuccess);
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
