//! A program that uses a device in every way, and reports the results.

use ferrowave_host::hip::{
    Arguments, BufferError, Context, Device, DeviceProperties, HipError, LaunchConfig, MemoryInfo,
};
use ferrowave_kernel_build::{Assembly, Toolchain};

/// Runs the program. Two equal devices give the same lines.
pub(crate) fn run(device: &Device) -> Vec<String> {
    let mut lines = Vec::new();
    if let Err(error) = steps(device, &mut lines) {
        lines.push(format!("ended by: {error}"));
    }
    // Addresses differ between runs.
    lines
        .iter()
        .flat_map(|line| line.lines())
        .map(without_addresses)
        .collect()
}

fn steps(device: &Device, lines: &mut Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    let DeviceProperties {
        name,
        target,
        compute_units,
        lds_bytes,
        max_grid,
        ..
    } = device.properties();
    lines.push(format!(
        "{name} {target} {compute_units} {lds_bytes} {max_grid:?} {}",
        device.is_emulated()
    ));
    lines.push(format!("version {}", device.api().runtime_version()?));
    let gpu = device.properties().gpu().ok_or("an unknown GPU")?;

    let context = Context::new(device)?;
    let MemoryInfo {
        free_bytes,
        total_bytes,
    } = context.memory_info()?;
    lines.push(format!("{free_bytes} of {total_bytes}"));
    let input: Vec<u32> = (0..1000).map(|i| i * i).collect();
    let source = context.upload(&input)?;
    let mut out = context.allocate::<u32>(1000)?;
    out.fill_bytes(0xee)?;

    let accumulators = if gpu.name() == "gfx908" {
        ""
    } else {
        ".amdhsa_accum_offset 4"
    };
    let text = include_str!("../../../src/tests/add.s")
        .replace("ACCUM_OFFSET\n", &format!("{accumulators}\n"));
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL)?;
    let module = context.load(&Assembly::new(gpu, &text).assemble(&toolchain)?)?;
    let kernel = module.kernel("add")?;
    lines.push(format!("{} workgroups at once", kernel.occupancy(64, 0)?));
    let (_, table_bytes) = module.variable("table")?;
    lines.push(format!("a variable of {table_bytes} bytes"));

    let stream = context.stream()?;
    let (start, stop) = (context.event()?, context.event()?);
    start.record(&stream)?;
    let arguments = Arguments::new().buffer(&out).buffer(&source).value(41_u32);
    let groups = |n| LaunchConfig {
        grid: [n, 1, 1],
        block: [64, 1, 1],
        dynamic_lds_bytes: 0,
    };
    // SAFETY: 15 × 64 elements lie inside both buffers.
    unsafe { kernel.launch(&stream, &groups(15), &arguments) }?;
    stop.record(&stream)?;
    stop.synchronize()?;
    lines.push(format!(
        "time passes: {}",
        stop.duration_since(&start)?.as_nanos() > 0
    ));
    lines.push(format!("{:?}", out.to_vec()?));

    // SAFETY: the emulator ends the kernel when it leaves the blocks of 2 MiB of its buffers, whose contents are not used.
    unsafe { kernel.launch(&stream, &groups(8193), &arguments) }?;
    let fault: HipError = stream.synchronize().err().ok_or("the fault was not told")?;
    lines.push(fault.to_string());
    // SAFETY: as for the first launch.
    unsafe { kernel.launch(&stream, &groups(1), &arguments) }?;
    context.synchronize()?;

    let error: BufferError = context
        .allocate::<u8>(1 << 46)
        .err()
        .ok_or("there is not that much memory")?;
    lines.push(error.to_string());
    // SAFETY: HIP rejects the launch.
    let error = unsafe { kernel.launch(&stream, &groups(0), &arguments) }
        .err()
        .ok_or("an empty grid")?;
    lines.push(error.to_string());
    // SAFETY: HIP rejects the address, which is not an allocation.
    let error = unsafe { device.api().free(8) }
        .err()
        .ok_or("nothing was allocated there")?;
    lines.push(error.to_string());
    lines.push(format!("drops: {:?}", context.take_drop_errors()));
    Ok(())
}

/// Replaces each address in a line.
fn without_addresses(line: &str) -> String {
    let mut parts = line.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "ADDRESS";
        text += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    text
}
