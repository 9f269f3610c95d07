//! A kernel that goes wrong: what is said, and that the process and the device go on.

use ferrowave::{
    embedded,
    gemm::Request,
    hip::{Arguments, Context, Device, DeviceSelector, LaunchConfig, LaunchError},
};
use ferrowave_shared::{CATALOGUE, GemmArguments, Kernel};

fn config(kernel: &Kernel, grid: [u32; 3]) -> LaunchConfig {
    LaunchConfig {
        grid,
        block: [kernel.block.x as u32, kernel.block.y as u32, 1],
        dynamic_lds_bytes: kernel.lds_bytes as u32,
    }
}

/// The simplest kernel.
fn naive() -> &'static Kernel {
    Kernel::by_symbol("gemm_naive_f32").unwrap()
}

/// Arguments of a 64×64×64 product whose matrices are at these addresses.
fn arguments(a: u64, b: u64, c: u64) -> GemmArguments {
    let problem = Request::new(64, 64, 64).check().unwrap();
    let plan = ferrowave::gemm::Plan::new(
        naive(),
        &problem,
        "gfx942",
        ferrowave::gemm::GridLimits::HIP,
    )
    .unwrap();
    let launch = plan.launches().next().unwrap();
    plan.arguments(&launch, a, b, c)
}

#[test]
fn accesses_outside_of_buffers_are_named() {
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
        let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
        let context = Context::new(&device).unwrap();
        let module = context.load(code_object).unwrap();
        let stream = context.stream().unwrap();
        let whole = context.upload(&[1.0_f32; 64 * 64]).unwrap();
        let mut output = context.upload(&[0.0_f32; 64 * 64]).unwrap();
        // One row less than the kernel reads or writes.
        let short = context.upload(&[1.0_f32; 63 * 64]).unwrap();
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            let loaded = module.kernel(kernel.symbol).unwrap();
            let grid = kernel.tile.grid(64, 64, 1);
            let config = config(kernel, [grid.x, grid.y, grid.z]);
            let run = |a: u64, b: u64, c: u64| {
                let arguments = Arguments::from_struct(&arguments(a, b, c));
                // SAFETY: on the emulator, which is what is tested: it lets no access through that is
                // outside of an allocation.
                unsafe { loaded.launch(&stream, &config, &arguments) }.unwrap();
                context.synchronize()
            };
            let (good, bad) = (whole.address(), short.address());
            for (what, verb, result) in [
                ("A", "reads", run(bad, good, output.address())),
                ("B", "reads", run(good, bad, output.address())),
                ("C", "writes", run(good, good, bad)),
            ] {
                let error = result.expect_err(what).to_string();
                for part in [
                    "hipErrorIllegalAddress",
                    kernel.symbol,
                    verb,
                    "the end of the device allocation of 16128 bytes",
                    "workgroup (",
                    "global_",
                    "kernels/src/",
                ] {
                    assert!(
                        error.contains(part),
                        "{what} on {gpu}: no `{part}` in: {error}"
                    );
                }
            }
            // The failure is reported once, and the next launch is as good as any.
            run(good, good, output.address()).unwrap();
            assert_eq!(
                output.to_vec().unwrap(),
                [64.0; 64 * 64],
                "{} on {gpu}",
                kernel.symbol
            );
            output.fill_bytes(0).unwrap();
        }
    }
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let &(gpu, code_object) = &embedded::CODE_OBJECTS[0];
    let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
    let context = Context::new(&device).unwrap();
    let module = context.load(code_object).unwrap();
    let stream = context.stream().unwrap();
    let kernel = module.kernel(naive().symbol).unwrap();
    let arguments = Arguments::from_struct(&arguments(0, 0, 0));
    let good = config(naive(), [1, 1, 1]);
    let refused = |config: LaunchConfig, arguments: &Arguments| -> LaunchError {
        // SAFETY: refused before the device sees it.
        unsafe { kernel.launch(&stream, &config, arguments) }.unwrap_err()
    };
    let message = |config| refused(config, &arguments).to_string();
    assert_eq!(
        message(LaunchConfig {
            grid: [1, 0, 1],
            ..good
        }),
        "a grid of 0 workgroups along y; allowed are 1 to 65535"
    );
    assert_eq!(
        message(LaunchConfig {
            block: [1024, 1, 1],
            ..good
        }),
        "a block of 1024 threads, but `gemm_naive_f32` takes at most 256 on this device"
    );
    assert_eq!(
        message(LaunchConfig {
            dynamic_lds_bytes: 65537,
            ..good
        }),
        "65537 bytes of LDS (0 of `gemm_naive_f32` itself), but a workgroup has at most 65536 on this device"
    );
    assert_eq!(
        refused(good, &Arguments::from_struct(&[0_u64; 10])).to_string(),
        "80 bytes of arguments, but `gemm_naive_f32` takes 88"
    );
}

#[test]
fn code_objects_for_other_gpus_are_refused() {
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
        for other in ferrowave_code_object::Gpu::ALL
            .into_iter()
            .filter(|other| *other != gpu)
        {
            let device = Device::open(&DeviceSelector::Emulator(other)).unwrap();
            let context = Context::new(&device).unwrap();
            let error = context.load(code_object).unwrap_err().to_string();
            assert!(
                error.contains(gpu.name()) && error.contains(other.name()),
                "{error}"
            );
        }
        let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
        let context = Context::new(&device).unwrap();
        assert!(context.load(&code_object[..code_object.len() / 2]).is_err());
        assert!(context.load(b"").is_err());
    }
}
