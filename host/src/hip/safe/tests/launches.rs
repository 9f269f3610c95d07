//! Launches that run, and launches that are rejected with their values.

use super::*;
use crate::hip::{Api, load::Source};

/// `add`'s arguments as a struct.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct AddArguments {
    out: u64,
    input: u64,
    bias: u32,
    /// Padding to a multiple of 8, the struct's alignment.
    padding: u32,
}

#[test]
fn a_kernel_runs_with_a_list_of_arguments_and_with_a_struct() {
    for &gpu in Family::Cdna.gpus() {
        let context = context(gpu);
        let kernel = context
            .load(code_object(gpu))
            .unwrap()
            .kernel("add")
            .unwrap();
        let stream = context.stream().unwrap();
        let input: Vec<u32> = (0..128).collect();
        let (source, mut out) = (
            context.upload(&input).unwrap(),
            context.allocate::<u32>(128).unwrap(),
        );
        out.fill_bytes(0xff).unwrap();
        let list = Arguments::new().buffer(&out).buffer(&source).value(7_u32);
        // SAFETY: 128 elements are 2 workgroups.
        unsafe { kernel.launch(&stream, &groups(2), &list) }.unwrap();
        let sums = |bias: u32| input.iter().map(|x| x + bias).collect::<Vec<_>>();
        assert_eq!(out.to_vec().unwrap(), sums(7), "{gpu}");

        let all = AddArguments {
            out: out.address(),
            input: source.address(),
            bias: 9,
            padding: 0,
        };
        // SAFETY: as above.
        unsafe { kernel.launch(&stream, &groups(2), &Arguments::from_struct(&all)) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(out.to_vec().unwrap(), sums(9), "{gpu}");
    }
}

/// With the function that takes events, and without it as in a library that lacks it.
#[test]
fn a_timed_launch_has_a_time_with_and_without_the_function_for_it() {
    for function in [ferrowave_hip::FUNCTIONS.hipExtModuleLaunchKernel, None] {
        let functions = ferrowave_hip_abi::Functions {
            hipExtModuleLaunchKernel: function,
            ..ferrowave_hip::FUNCTIONS
        };
        // SAFETY: the functions are the emulator's.
        let api = unsafe { Api::from_functions(functions, Source::Emulator) };
        let ordinal = api.add_device(c"emulator:gfx942").unwrap().unwrap();
        let device = Device::emulated(api, ordinal, "emulator:gfx942", "").unwrap();
        let context = Context::new(&device).unwrap();
        let module = context.load(code_object(Gpu::Gfx942)).unwrap();
        let kernel = module.kernel("add").unwrap();
        let (stream, start, stop) = (
            context.stream().unwrap(),
            context.event().unwrap(),
            context.event().unwrap(),
        );
        let source = context.upload(&[5_u32; 128]).unwrap();
        let out = context.upload(&[0_u32; 128]).unwrap();
        let list = Arguments::new().buffer(&out).buffer(&source).value(7_u32);
        // SAFETY: 128 elements are 2 workgroups.
        unsafe { kernel.launch_timed(&stream, &groups(2), &list, &start, &stop) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(out.to_vec().unwrap(), [12; 128]);
        assert!(stop.milliseconds_since(&start).unwrap() > 0.0);
        let other = Context::new(&Device::open(&DeviceSelector::Emulator(Gpu::Gfx942)).unwrap());
        let stream = other.unwrap().stream().unwrap();
        // SAFETY: nothing is launched.
        let refused = unsafe { kernel.launch_timed(&stream, &groups(2), &list, &start, &stop) };
        assert!(matches!(refused, Err(LaunchError::OtherDevice { .. })));
    }
}

/// The error of a launch.
fn refused(kernel: &Kernel, config: LaunchConfig, arguments: &Arguments) -> String {
    let stream = kernel.module().context().stream().unwrap();
    // SAFETY: nothing is launched.
    unsafe { kernel.launch(&stream, &config, arguments) }
        .unwrap_err()
        .to_string()
}

#[test]
fn shapes_are_checked_against_kernel_and_device() {
    let context = context(Gpu::Gfx90a);
    let module = context.load(code_object(Gpu::Gfx90a)).unwrap();
    let (add, lds) = (module.kernel("add").unwrap(), module.kernel("lds").unwrap());
    let none = Arguments::new();
    let with = |grid, block, dynamic_lds_bytes| LaunchConfig {
        grid,
        block,
        dynamic_lds_bytes,
    };
    for (config, text) in [
        (
            with([0, 1, 1], [64, 1, 1], 0),
            "a grid of 0 workgroups along x; allowed are 1 to 2147483647",
        ),
        (
            with([1 << 31, 1, 1], [64, 1, 1], 0),
            "a grid of 2147483648 workgroups along x; allowed are 1 to 2147483647",
        ),
        (
            with([1, 65537, 1], [64, 1, 1], 0),
            "a grid of 65537 workgroups along y; allowed are 1 to 65536",
        ),
        (
            with([1, 1, 65537], [64, 1, 1], 0),
            "a grid of 65537 workgroups along z; allowed are 1 to 65536",
        ),
        (
            with([1 << 26, 1, 1], [64, 1, 1], 0),
            "a grid of 4294967296 threads along x; there must be less than 2^32",
        ),
        (
            with([1, 1, 1], [64, 0, 1], 0),
            "a block of 0 threads along y; allowed are 1 to 1024",
        ),
        (
            with([1, 1, 1], [1, 1, 1025], 0),
            "a block of 1025 threads along z; allowed are 1 to 1024",
        ),
        (
            with([1, 1, 1], [13, 5, 1], 0),
            "a block of 65 threads, but `add` takes at most 64 on this device",
        ),
        (
            with([1, 1, 1], [64, 1, 1], 65537),
            "65537 bytes of LDS (0 of `add` itself), but a workgroup has at most 65536 on this device",
        ),
    ] {
        assert_eq!(refused(&add, config, &none), text);
    }
    assert_eq!(
        refused(&lds, groups(1), &none),
        "a block of [64, 1, 1] threads, but `lds` takes only [32, 2, 1]"
    );
    assert_eq!(
        refused(&lds, with([1, 1, 1], [32, 2, 1], 64513), &none),
        "65537 bytes of LDS (1024 of `lds` itself), but a workgroup has at most 65536 on this device"
    );
    let stream = context.stream().unwrap();
    // SAFETY: it takes no arguments and does nothing.
    unsafe { lds.launch(&stream, &with([1, 1, 1], [32, 2, 1], 64512), &none) }.unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn arguments_are_checked_against_the_metadata() {
    let context = context(Gpu::Gfx942);
    let add = context
        .load(code_object(Gpu::Gfx942))
        .unwrap()
        .kernel("add")
        .unwrap();
    let buffer = context.allocate::<u32>(64).unwrap();
    let pointers = Arguments::new().buffer(&buffer).buffer(&buffer);
    for (arguments, text) in [
        (pointers.clone(), "2 arguments, but `add` takes 3"),
        (
            pointers.clone().value(1_u32).value(1_u32),
            "4 arguments, but `add` takes 3",
        ),
        (
            pointers.value(1_u64),
            "argument 2 has 8 bytes at offset 16, but `add` takes 4 at 16",
        ),
        (
            Arguments::new().value(1_u32).value(2_u64).value(3_u32),
            "argument 0 has 4 bytes at offset 0, but `add` takes 8 at 0",
        ),
        (Arguments::new(), "0 bytes of arguments, but `add` takes 20"),
        (
            Arguments::from_struct(&[0_u8; 19]),
            "19 bytes of arguments, but `add` takes 20",
        ),
        (
            Arguments::from_struct(&[0_u64; 5]),
            "40 bytes of arguments, but `add` takes 20",
        ),
    ] {
        assert_eq!(refused(&add, groups(1), &arguments), text);
    }
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let (one, other) = (context(Gpu::Gfx942), context(Gpu::Gfx942));
    let kernel = one
        .load(code_object(Gpu::Gfx942))
        .unwrap()
        .kernel("lds")
        .unwrap();
    let config = LaunchConfig {
        grid: [1; 3],
        block: [32, 2, 1],
        dynamic_lds_bytes: 0,
    };
    let launch = |stream: &Stream| {
        // SAFETY: it takes no arguments and does nothing.
        unsafe { kernel.launch(stream, &config, &Arguments::new()) }
    };
    let error = launch(&other.stream().unwrap()).unwrap_err();
    assert!(matches!(error, LaunchError::OtherDevice { .. }), "{error}");
    launch(&one.stream().unwrap()).unwrap();
}

#[test]
fn a_fault_is_told_by_who_waits_and_the_device_stays_usable() {
    let context = context(Gpu::Gfx90a);
    let kernel = context
        .load(code_object(Gpu::Gfx90a))
        .unwrap()
        .kernel("add")
        .unwrap();
    let stream = context.stream().unwrap();
    let (small, source) = (
        context.allocate::<u32>(1 << 19).unwrap(),
        context.upload(&vec![1_u32; (1 << 19) + 64]).unwrap(),
    );
    let arguments = Arguments::new().buffer(&small).buffer(&source).value(1_u32);
    // SAFETY: the emulator stops the kernel at an access outside its buffer.
    unsafe { kernel.launch(&stream, &groups(8193), &arguments) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_eq!(
        (error.function, &*error.name),
        ("hipStreamSynchronize", "hipErrorIllegalAddress")
    );
    let detail = error.detail.as_deref().unwrap();
    for text in [
        "kernel `add`",
        "lane 0 writes 4 bytes",
        "past the end of the device allocation of 2097152 bytes",
    ] {
        assert!(detail.contains(text), "{detail}");
    }
    // SAFETY: these workgroups stay inside the buffer.
    unsafe { kernel.launch(&stream, &groups(8192), &arguments) }.unwrap();
    assert_eq!(small.to_vec().unwrap(), vec![2; 1 << 19]);
}
