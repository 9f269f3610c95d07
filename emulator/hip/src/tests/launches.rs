//! Valid and invalid launches.

use std::thread;

use super::*;

#[test]
fn a_kernel_runs_on_every_gpu_with_either_form_of_arguments() {
    for &gpu in Family::Cdna.gpus() {
        let _device = TestDevice::new(gpu);
        let function = kernel(load(code_object(gpu)), c"add");
        let input: Vec<u32> = (0..192).map(|i| 3 * i).collect();
        let (out, source) = (buffer(&[7; 200]), buffer(&input));
        let expect = |bias: u32| {
            let sums = input.iter().map(|x| x + bias);
            sums.chain([7; 8]).collect::<Vec<_>>()
        };

        succeeds(add(
            function,
            3,
            &add_arguments(out, source, 1000),
            ptr::null_mut(),
        ));
        assert_eq!(contents(out, 200), expect(1000), "{gpu}");

        let (mut to, mut from, mut bias) = (out, source, 5_u32);
        let mut parameters = [
            (&raw mut to).cast(),
            (&raw mut from).cast(),
            (&raw mut bias).cast(),
        ];
        let launch = Launch {
            function,
            grid: [3, 1, 1],
            block: [64, 1, 1],
            lds_bytes: 0,
            stream: stream(),
            arguments: &[],
        };
        succeeds(launch.run_with(parameters.as_mut_ptr(), ptr::null_mut()));
        assert_eq!(contents(out, 200), expect(5), "{gpu}");
    }
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let data = buffer(&[0; 64]);
    let arguments = add_arguments(data, data, 1);
    let good = || Launch {
        function,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        lds_bytes: 0,
        stream: ptr::null_mut(),
        arguments: &arguments,
    };
    let invalid = hipError_t::hipErrorInvalidValue;
    let refused = |launch: Launch<'_>, text| fails(launch.run(), invalid, text);

    refused(
        Launch {
            grid: [1, 0, 1],
            ..good()
        },
        "0 workgroups along y; it must have 1 or more",
    );
    refused(
        Launch {
            grid: [1, 1, 65537],
            ..good()
        },
        "65537 workgroups along z; it must have from 1 to 65536",
    );
    refused(
        Launch {
            grid: [1 << 31, 1, 1],
            ..good()
        },
        "must have from 1 to 2147483647",
    );
    let too_many = Launch {
        grid: [1 << 26, 1, 1],
        ..good()
    };
    fails(
        too_many.run(),
        hipError_t::hipErrorInvalidConfiguration,
        "4294967296 threads along x",
    );
    refused(
        Launch {
            block: [64, 0, 1],
            ..good()
        },
        "block [64, 0, 1]",
    );
    let too_many = Launch {
        block: [65, 1, 1],
        ..good()
    };
    fails(
        too_many.run(),
        hipError_t::hipErrorLaunchFailure,
        "65 threads, but `add` takes at most 64",
    );
    refused(
        Launch {
            block: [1025, 1, 1],
            ..good()
        },
        "from 1 to 1024",
    );
    refused(
        Launch {
            lds_bytes: 65537,
            ..good()
        },
        "65537 bytes of LDS, but a workgroup on gfx90a has at most 65536",
    );
    refused(
        Launch {
            arguments: &[],
            ..good()
        },
        "no arguments, but `add` takes 20 bytes of them",
    );
    assert_eq!(contents(data, 64), [0; 64]);
    succeeds(good().run());
    assert_eq!(contents(data, 64), [1; 64]);
}

/// As for a kernel of rocBLAS that declares more arguments than rocBLAS passes.
#[test]
fn arguments_that_a_buffer_lacks_are_0() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let (out, source) = (buffer(&[7; 64]), buffer(&[5; 64]));
    let arguments = add_arguments(out, source, 0x0302);
    // Without the upper half of the last argument, and without all of it.
    for (length, sum) in [(18, 0x0307), (17, 7), (16, 5)] {
        succeeds(add_to_items(function, [64, 1], 64, &arguments[..length]));
        assert_eq!(contents(out, 64), [sum; 64]);
    }
}

/// Launches `add` with these work-items along x and y, in workgroups of `block`.
fn add_to_items(
    function: hipFunction_t,
    items: [u32; 2],
    block: u32,
    arguments: &[u8],
) -> hipError_t {
    let mut bytes = arguments.len();
    let mut extra = [
        HIP_LAUNCH_PARAM_BUFFER_POINTER,
        arguments.as_ptr().cast_mut().cast(),
        HIP_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut bytes).cast(),
        HIP_LAUNCH_PARAM_END,
    ];
    // SAFETY: the arguments are valid.
    unsafe {
        hipExtModuleLaunchKernel(
            function,
            items[0],
            items[1],
            1,
            block,
            1,
            1,
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            extra.as_mut_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
        )
    }
}

#[test]
fn only_hip_module_launch_kernel_limits_the_grid_along_y() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let (out, source) = (buffer(&[7; 64]), buffer(&[5; 64]));
    // As rocBLAS launches for a matrix of 16 × 2105344 in tiles of 32 × 32.
    let arguments = add_arguments(out, source, 1);
    succeeds(add_to_items(function, [64, 65792], 64, &arguments));
    assert_eq!(contents(out, 64), [6; 64]);
}

/// As MIOpen launches its kernels in OpenCL.
#[test]
fn the_last_workgroup_may_be_partial_unless_the_kernel_forbids_it() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let source = buffer(&[5; 200]);
    for (items, block) in [(40, 64), (150, 64), (128, 64)] {
        let out = buffer(&[7; 200]);
        let arguments = add_arguments(out, source, 1);
        succeeds(add_to_items(function, [items, 1], block, &arguments));
        let expected: Vec<u32> = (0..200).map(|i| if i < items { 6 } else { 7 }).collect();
        assert_eq!(contents(out, 200), expected, "{items}");
    }
    let arguments = add_arguments(source, source, 1);
    let invalid = hipError_t::hipErrorInvalidValue;
    fails(
        add_to_items(function, [0, 1], 64, &arguments),
        invalid,
        "0 workgroups along x",
    );
    // Also if the grid is smaller.
    for block in [1025, u32::MAX] {
        let refused = add_to_items(function, [1, 1], block, &arguments);
        fails(refused, invalid, "can have 1024 work-items");
    }
    // The attribute that the compiler gives kernels in HIP.
    let uniform = assemble_with(Gpu::Gfx90a, "", |text| {
        text.replace(
            "    .max_flat_workgroup_size: 64",
            "    .uniform_work_group_size: 1\n    .max_flat_workgroup_size: 64",
        )
    });
    let function = kernel(load(&uniform), c"add");
    fails(
        add_to_items(function, [150, 1], 64, &arguments),
        invalid,
        "not a multiple of the workgroup size [64, 1, 1], as the kernel requires (uniform",
    );
    // A workgroup that is cut down to the grid is a whole one.
    succeeds(add_to_items(function, [40, 1], 64, &arguments));
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let data = buffer(&[0; 64]);
    let mut arguments = add_arguments(data, data, 1);
    let launch = Launch {
        function,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        lds_bytes: 0,
        stream: ptr::null_mut(),
        arguments: &[],
    };
    let invalid = hipError_t::hipErrorInvalidValue;
    let null = ptr::null_mut();
    let mut bytes = arguments.len();
    let (buffer, size) = (arguments.as_mut_ptr().cast(), (&raw mut bytes).cast());
    let (pointer_mark, size_mark, end) = (
        HIP_LAUNCH_PARAM_BUFFER_POINTER,
        HIP_LAUNCH_PARAM_BUFFER_SIZE,
        HIP_LAUNCH_PARAM_END,
    );
    for (mut extra, text) in [
        (vec![end], "does not state the buffer's size"),
        (
            vec![pointer_mark, buffer, end],
            "does not state the buffer's size",
        ),
        (
            vec![size_mark, null, end],
            "does not state the buffer's size",
        ),
        (vec![size_mark, size, end], "no buffer for 20 bytes"),
        (
            vec![pointer_mark, null, size_mark, size, end],
            "no buffer for 20 bytes",
        ),
        (vec![buffer, end], "extra is wrong at"),
        (vec![pointer_mark; 40], "extra is too long"),
    ] {
        fails(
            launch.run_with(null.cast(), extra.as_mut_ptr()),
            invalid,
            text,
        );
    }
    let mut parameters = [null; 3];
    fails(
        launch.run_with(parameters.as_mut_ptr(), null.cast()),
        invalid,
        "argument 0 is null",
    );
    let mut extra = [pointer_mark, buffer, size_mark, size, end];
    fails(
        launch.run_with(parameters.as_mut_ptr(), extra.as_mut_ptr()),
        invalid,
        "both kernelParams and extra",
    );
    fails(
        launch.run_with(null.cast(), null.cast()),
        invalid,
        "no arguments, but `add` takes 20 bytes of them",
    );
    assert_eq!(contents(data, 64), [0; 64]);
    // A size of 32 bits with other bits behind it: no more than the arguments are read.
    let mut huge = 0x1234_5678_0000_0000 | bytes;
    let mut extra = [pointer_mark, buffer, size_mark, (&raw mut huge).cast(), end];
    succeeds(launch.run_with(null.cast(), extra.as_mut_ptr()));
}

#[test]
fn any_number_of_threads_may_launch() {
    let device = TestDevice::new(Gpu::Gfx942);
    let module = load(code_object(Gpu::Gfx942)).addr();
    thread::scope(|scope| {
        for thread in 0..8_u32 {
            let device = &device;
            scope.spawn(move || {
                device.make_current();
                let function = kernel(ptr::without_provenance_mut(module), c"add");
                let stream = stream();
                let data = buffer(&[thread; 640]);
                for _ in 0..50 {
                    succeeds(add(function, 10, &add_arguments(data, data, 1), stream));
                }
                // SAFETY: the allocation is valid; HIP checks the handle.
                unsafe {
                    succeeds(hipStreamSynchronize(stream));
                    assert_eq!(contents(data, 640), [thread + 50; 640]);
                    succeeds(hipStreamDestroy(stream));
                    succeeds(hipFree(data));
                }
            });
        }
    });
}

#[test]
fn several_devices_launch_at_once() {
    let devices = [(); 2].map(|()| TestDevice::new(Gpu::Gfx942));
    let one = |device: &TestDevice| {
        device.make_current();
        let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
        (function, buffer(&[1; 64]), stream())
    };
    let parts = [one(&devices[0]), one(&devices[1])];
    let bias = 5_u32;
    // SAFETY: the lists have as many elements as stated, and the arguments live until the launches are done.
    unsafe {
        let mut arguments = parts.map(|(_, data, _)| (data, data, bias));
        let mut pointers: [[*mut c_void; 3]; 2] = arguments.each_mut().map(|(out, input, bias)| {
            [
                (&raw mut *out).cast(),
                (&raw mut *input).cast(),
                (&raw mut *bias).cast(),
            ]
        });
        let mut list = [0, 1].map(|index| hipFunctionLaunchParams {
            function: parts[index].0,
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 64,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: parts[index].2,
            kernelParams: pointers[index].as_mut_ptr(),
        });
        let list = list.as_mut_ptr();
        succeeds(hipModuleLaunchCooperativeKernelMultiDevice(list, 2, 0));
        for (_, data, _) in parts {
            assert_eq!(contents(data, 64), [6; 64]);
        }
        let value = hipError_t::hipErrorInvalidValue;
        let none = hipModuleLaunchCooperativeKernelMultiDevice(list, 0, 0);
        fails(none, value, "0 launches");
        // The list is not read so far.
        let many = hipModuleLaunchCooperativeKernelMultiDevice(list, u32::MAX, 0);
        fails(many, value, "4294967295 launches");
        let flags = hipModuleLaunchCooperativeKernelMultiDevice(list, 2, 4);
        fails(flags, value, "flags are 0x4");
        (*list.add(1)).hStream = parts[0].2;
        (*list.add(1)).function = parts[0].0;
        let twice = hipModuleLaunchCooperativeKernelMultiDevice(list, 2, 0);
        fails(
            twice,
            hipError_t::hipErrorInvalidDevice,
            "two of the launches",
        );
        (*list).hStream = ptr::null_mut();
        let default = hipModuleLaunchCooperativeKernelMultiDevice(list, 1, 0);
        fails(default, hipError_t::hipErrorInvalidHandle, "default stream");
    }
}
