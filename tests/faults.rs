//! Faulting kernels: what the error says, and that the process and the device remain usable.

use ferrowave::{
    embedded,
    gemm::{Addresses, Machine, Order, Plan, Problem, Request, Target},
    hip::{Arguments, Context, Device, DeviceSelector, LaunchConfig, LaunchError},
    verify::{Elements, Inputs, verify},
};
use ferrowave_shared::{CATALOGUE, GemmArguments, Kernel};

fn config(kernel: &Kernel, grid: [u32; 3]) -> LaunchConfig {
    LaunchConfig {
        grid,
        block: [kernel.block.x as u32, kernel.block.y as u32, 1],
        dynamic_lds_bytes: kernel.lds_bytes as u32,
    }
}

/// ROCr takes memory from the driver in blocks of this size.
const BLOCK_BYTES: usize = 2 << 20;

/// The simplest kernel.
fn naive() -> &'static Kernel {
    Kernel::by_symbol("gemm_naive_f32").unwrap()
}

/// A product of m×64 and 64×m with layouts that every kernel reads; longer along k by as many elements as fill whole bytes.
fn problem(kernel: &Kernel, m: i64) -> Problem {
    let request = Request {
        order_b: Order::ColumnMajor,
        types: kernel.types,
        ..Request::new(m, m, 64 * i64::from(kernel.types.a.packed()))
    };
    request.check().unwrap()
}

#[test]
fn accesses_outside_of_buffers_are_named() {
    for (gpu, code_object) in embedded::code_objects() {
        let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
        let machine = Machine::of(&device);
        let context = Context::new(&device).unwrap();
        let module = context.load(code_object).unwrap();
        let stream = context.stream().unwrap();
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            let problem = problem(kernel, 65);
            let inputs = Inputs::random(&problem, 1).unwrap();
            let mut c = context.upload(inputs.c.bytes()).unwrap();
            let buffers = inputs.upload(&context, 0).unwrap();
            let c_target = Target::of_bytes(&mut c, kernel.types.output);
            let whole = buffers.operands(kernel.types, c_target).addresses();
            let a_columns = problem.a().columns as usize;
            // Less than the kernel accesses, at the end of a block, because accesses may go to the end of a block.
            let short = |(elements, lines, length): (&Elements, usize, usize)| {
                let bytes = elements.element().bytes((lines * length) as u128) as usize;
                let mut block = vec![0; BLOCK_BYTES];
                block[BLOCK_BYTES - bytes..].copy_from_slice(&elements.bytes()[..bytes]);
                let block = context.upload(&block).unwrap();
                let address = block.address() + (BLOCK_BYTES - bytes) as u64;
                (block, address)
            };
            let loaded = module.kernel(kernel.symbol).unwrap();
            let plan = Plan::new(kernel, &problem, &machine).unwrap();
            let launch = plan.launches().next().unwrap();
            let config = config(kernel, [launch.grid.x, launch.grid.y, launch.grid.z]);
            let workspace_bytes = plan.workspace_bytes().unwrap().all as usize;
            let run = |a: u64, b: u64, c: u64| {
                // The counters are undefined after a failed launch.
                let mut workspace = context.allocate::<u8>(workspace_bytes).unwrap();
                workspace.fill_bytes(0).unwrap();
                let addresses = Addresses { a, b, c, ..whole };
                let arguments = plan.kernel_arguments(&launch, &addresses, workspace.address());
                // SAFETY: the emulator, which is under test, lets no access outside of an allocation through.
                unsafe { loaded.launch(&stream, &config, &arguments) }.unwrap();
                context.synchronize()
            };
            let [(_a, short_a), (_b, short_b), (_c, short_c)] = [
                (&inputs.a, 64, a_columns),
                (&inputs.b, 64, problem.k() as usize),
                (&inputs.c, 64, 64),
            ]
            .map(short);
            for (what, verb, result) in [
                ("A", "reads", run(short_a, whole.b, whole.c)),
                ("B", "reads", run(whole.a, short_b, whole.c)),
                ("C", "writes", run(whole.a, whole.b, short_c)),
            ] {
                let error = result.expect_err(what).to_string();
                for part in [
                    "hipErrorIllegalAddress",
                    kernel.symbol,
                    verb,
                    &format!("the end of the device allocation of {BLOCK_BYTES} bytes"),
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
            // The failure is reported once; the next launch is not affected.
            c.copy_from_host(inputs.c.bytes()).unwrap();
            run(whole.a, whole.b, whole.c).unwrap();
            let output = Elements::from_bytes(kernel.types.output, c.to_vec().unwrap());
            let verdict = verify(&problem, &inputs, &output);
            assert!(verdict.passed(), "{} on {gpu}: {verdict:?}", kernel.symbol);
        }
    }
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let (gpu, code_object) = embedded::code_objects().next().unwrap();
    let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
    let context = Context::new(&device).unwrap();
    let module = context.load(code_object).unwrap();
    let stream = context.stream().unwrap();
    let kernel = module.kernel(naive().symbol).unwrap();
    let problem = problem(naive(), 64);
    let plan = Plan::new(naive(), &problem, &Machine::of(&device)).unwrap();
    let launch = plan.launches().next().unwrap();
    let arguments = plan.arguments(&launch, &Addresses::default(), 0);
    let arguments = Arguments::from_struct(&arguments);
    let good = config(naive(), [1, 1, 1]);
    let refused = |config: LaunchConfig, arguments: &Arguments| -> LaunchError {
        // SAFETY: refused before it reaches the device.
        unsafe { kernel.launch(&stream, &config, arguments) }.unwrap_err()
    };
    let message = |config| refused(config, &arguments).to_string();
    assert_eq!(
        message(LaunchConfig {
            grid: [1, 0, 1],
            ..good
        }),
        "a grid of 0 workgroups along y; allowed are 1 to 65536"
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
        format!(
            "80 bytes of arguments, but `gemm_naive_f32` takes {}",
            size_of::<GemmArguments>()
        )
    );
}

#[test]
fn code_objects_for_other_gpus_are_refused() {
    for (gpu, code_object) in embedded::code_objects() {
        for other in ferrowave_gpu::Gpu::ALL
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
