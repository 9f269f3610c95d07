//! The safe layer over the emulator.

mod launches;
mod owners;

use std::sync::OnceLock;

use ferrowave_gpu::{Family, Gpu};
use ferrowave_kernel_build::{Assembly, Toolchain};

use super::*;
use crate::hip::DeviceSelector;

/// A context on a new device.
fn context(gpu: Gpu) -> Context {
    Context::new(&Device::open(&DeviceSelector::Emulator(gpu)).unwrap()).unwrap()
}

/// The kernels of the emulator's own HIP tests: `add(out, in, bias)` and `lds()`.
fn code_object(gpu: Gpu) -> &'static [u8] {
    static OBJECTS: [OnceLock<Vec<u8>>; Gpu::ALL.len()] =
        [const { OnceLock::new() }; Gpu::ALL.len()];
    OBJECTS[gpu as usize].get_or_init(|| assemble(gpu, ""))
}

fn assemble(gpu: Gpu, features: &str) -> Vec<u8> {
    let accumulators = match gpu {
        Gpu::Gfx908 => "",
        _ => ".amdhsa_accum_offset 4",
    };
    let text = include_str!("../../../../../emulator/hip/src/tests/add.s")
        .replace("ACCUM_OFFSET\n", &format!("{accumulators}\n"));
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let assembly = Assembly::new(gpu, &text).features(features);
    assembly
        .assemble(&toolchain)
        .expect("LLVM assembles the test")
}

/// Workgroups of 64.
fn groups(workgroups: u32) -> LaunchConfig {
    LaunchConfig {
        grid: [workgroups, 1, 1],
        block: [64, 1, 1],
        dynamic_lds_bytes: 0,
    }
}
