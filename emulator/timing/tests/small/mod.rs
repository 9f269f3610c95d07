//! Modelled cycles of small kernels.

use ferrowave_emulator::dispatch::{LaunchConfig, Limits};
use ferrowave_gpu::Product;
use ferrowave_test_support::Small;
use ferrowave_timing::{self as timing, Parameters, Timing, TimingError};

/// Models a launch of the kernel.
pub(crate) fn model(
    kernel: &Small<'_>,
    machine: impl TryInto<Parameters, Error: Into<TimingError>>,
) -> Timing {
    kernel.run(|kernel, config| {
        let config = LaunchConfig {
            limits: Limits::NONE,
            ..*config
        };
        timing::launch(kernel, &config, machine).expect("it runs")
    })
}

/// The additional cycles of a kernel with `repetitions` more copies of `lines`.
pub(crate) fn more_cycles(
    kernel: &Small<'_>,
    machine: Product,
    lines: &str,
    repetitions: u64,
) -> u64 {
    let cycles = |count: u64| {
        let body = kernel.body.to_owned() + &lines.repeat(count as usize);
        let kernel = Small {
            body: &body,
            ..*kernel
        };
        model(&kernel, machine).cycles
    };
    cycles(10 + repetitions) - cycles(10)
}

/// The cycles of each repetition of `lines` in a kernel with one wave.
pub(crate) fn each(machine: Product, before: &str, lines: &str) -> f64 {
    let kernel = Small::new(machine.gpu(), before);
    more_cycles(&kernel, machine, lines, 100) as f64 / 100.0
}
