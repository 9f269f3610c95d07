//! Times microbenchmarks, in cycles.
//!
//! A microbenchmark is launched with two numbers of iterations; the difference of the two times is that of the iterations
//! themselves, without the launch, cold caches and what a kernel does first. On the emulator the times are the timing
//! model's, in cycles. On a GPU they are between HIP's events, and become cycles by a chain of dependent vector
//! instructions, which take four cycles each on CDNA and five on RDNA: so the clock at that moment is known, and also that of
//! a GPU whose clock sinks.

use std::time::Duration;

use ferrowave::hip::{Arguments, Context, DeviceBuffer, Kernel, LaunchConfig, Module, Stream};
use ferrowave_gpu::{Family, GpuLimits};
use ferrowave_hip::timing::{self, Settings};
use ferrowave_timing::{Parameters, Start};

use crate::cli::Failure;

/// Repetitions on a GPU. The model gives the same time every time.
const REPETITIONS: usize = 5;

/// How many times as many iterations run on a GPU, so that launches take longer than events are exact.
const MORE_ON_A_GPU: u32 = 100;

/// The largest spread of repetitions, as a share of their median, of a GPU that runs nothing else at a constant clock.
pub(crate) const MOST_SPREAD: f64 = 0.1;

/// Cycles from a vector instruction to the next that needs its result: LLVM's `SISchedule.td`.
const fn chained_cycles(family: Family) -> f64 {
    match family {
        Family::Cdna => 4.0,
        Family::Rdna => 5.0,
    }
}

/// A measured figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The median.
    pub(crate) value: f64,
    /// The difference between the largest and the smallest value, divided by the median.
    pub(crate) spread: f64,
}

impl Sample {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let median = values[values.len() / 2];
        let (first, last) = (values[0], values[values.len() - 1]);
        Sample {
            value: median,
            // A difference of times may be zero or negative on a GPU that is not alone.
            spread: if median > 0.0 {
                (last - first) / median
            } else {
                f64::INFINITY
            },
        }
    }

    pub(crate) fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Sample {
            value: change(self.value),
            ..self
        }
    }
}

/// A microbenchmark.
pub(crate) struct Run<'a> {
    pub(crate) kernel: &'a str,
    /// Workgroups and their waves.
    pub(crate) grid: u32,
    pub(crate) waves: u32,
    pub(crate) lds_bytes: u32,
    /// The smaller number of iterations on the model; the larger one is twice as many.
    pub(crate) iterations: u32,
    /// How many times as many on a GPU.
    pub(crate) more: u32,
}

impl<'a> Run<'a> {
    /// One workgroup of `waves` waves.
    pub(crate) const fn new(kernel: &'a str, waves: u32) -> Self {
        Run {
            kernel,
            grid: 1,
            waves,
            lds_bytes: 0,
            iterations: 20,
            more: MORE_ON_A_GPU,
        }
    }
}

/// A device with the microbenchmarks loaded.
pub(crate) struct Bench {
    context: Context,
    stream: Stream,
    module: Module,
    pub(crate) parameters: Parameters,
    is_modelled: bool,
    /// Time units (cycles on the model, seconds on a GPU) of a cycle, and of an iteration's own instructions.
    cycle: f64,
    overhead: f64,
    /// The spread with which these were measured.
    pub(crate) clock: Sample,
}

impl Bench {
    pub(crate) fn new(
        context: Context,
        module: Module,
        parameters: Parameters,
    ) -> Result<Self, Failure> {
        let mut bench = Bench {
            stream: context.stream().map_err(Failure::failed)?,
            is_modelled: context.device().is_emulated(),
            context,
            module,
            parameters,
            cycle: 1.0,
            overhead: 0.0,
            clock: Sample {
                value: 0.0,
                spread: 0.0,
            },
        };
        let chain = |bench: &Self, name| {
            bench.iteration(&Run::new(name, 1), |_, iterations| {
                Arguments::new().value(iterations)
            })
        };
        let (short, long) = (chain(&bench, "fma_short")?, chain(&bench, "fma_long")?);
        // 64 instructions are the difference.
        let chain = 64.0 * chained_cycles(bench.parameters.hardware.gpu.family());
        bench.cycle = (long.value - short.value) / chain;
        bench.overhead = short.value / bench.cycle - chain;
        let hz = match bench.is_modelled {
            true => bench.parameters.hardware.clock_hz() / bench.cycle,
            false => 1.0 / bench.cycle,
        };
        bench.clock = Sample {
            value: hz,
            spread: short.spread.max(long.spread),
        };
        Ok(bench)
    }

    /// The engine clock in Hz while the chain ran.
    pub(crate) const fn clock_hz(&self) -> f64 {
        self.clock.value
    }

    pub(crate) const fn is_modelled(&self) -> bool {
        self.is_modelled
    }

    /// Work-items of a wave.
    pub(crate) fn lanes(&self) -> u32 {
        GpuLimits::of(self.parameters.hardware.gpu).wave_size
    }

    /// Whether there is a kernel of this name for the GPU.
    pub(crate) fn has(&self, kernel: &str) -> bool {
        self.module.code_object().kernel(kernel).is_some()
    }

    /// A buffer whose words are `words`.
    pub(crate) fn upload(&self, words: &[u32]) -> Result<DeviceBuffer<u32>, Failure> {
        self.context.upload(words).map_err(Failure::failed)
    }

    /// A buffer without defined contents.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<DeviceBuffer<u32>, Failure> {
        self.context.allocate(bytes / 4).map_err(Failure::failed)
    }

    /// Cycles of one of the `count` things of an iteration. `arguments` gives a launch's arguments from the number of
    /// launches before it, which have other addresses where caches must not know them, and from its iterations.
    pub(crate) fn each(
        &self,
        run: &Run<'_>,
        count: f64,
        arguments: impl Fn(u32, u32) -> Arguments,
    ) -> Result<Sample, Failure> {
        let iteration = self.iteration(run, arguments)?;
        Ok(iteration.map(|time| (time / self.cycle - self.overhead) / count))
    }

    /// Bytes per cycle of a kernel that moves `bytes` in an iteration.
    pub(crate) fn bytes_per_cycle(
        &self,
        run: &Run<'_>,
        bytes: f64,
        arguments: impl Fn(u32, u32) -> Arguments,
    ) -> Result<Sample, Failure> {
        let iteration = self.iteration(run, arguments)?;
        Ok(iteration.map(|time| bytes / (time / self.cycle)))
    }

    /// The time of an iteration: cycles on the model, seconds on a GPU.
    fn iteration(
        &self,
        run: &Run<'_>,
        arguments: impl Fn(u32, u32) -> Arguments,
    ) -> Result<Sample, Failure> {
        let kernel = self.module.kernel(run.kernel).map_err(Failure::failed)?;
        let config = LaunchConfig {
            grid: [run.grid, 1, 1],
            block: [run.waves * self.lanes(), 1, 1],
            dynamic_lds_bytes: run.lds_bytes,
        };
        let (repetitions, iterations) = match self.is_modelled {
            true => (1, run.iterations),
            false => (REPETITIONS, run.iterations * run.more),
        };
        let mut launches = 0;
        let mut next = |iterations: u32| {
            let arguments = arguments(launches, iterations);
            launches += 1;
            self.time(&kernel, &config, &arguments)
        };
        let mut values = Vec::new();
        for _ in 0..repetitions {
            let (short, long) = (next(iterations)?, next(2 * iterations)?);
            values.push((long - short) / f64::from(iterations));
        }
        Ok(Sample::of(values))
    }

    fn time(
        &self,
        kernel: &Kernel,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<f64, Failure> {
        let event = || self.context.event().map_err(Failure::failed);
        let (start, stop) = (event()?, event()?);
        let launch = || -> Result<Duration, Failure> {
            // SAFETY: the arguments are those that the kernel's documentation asks for, with buffers that outlive the
            // wait; nothing else runs.
            unsafe { kernel.launch_timed(&self.stream, config, arguments, &start, &stop) }
                .map_err(Failure::failed)?;
            self.stream.synchronize().map_err(Failure::failed)?;
            stop.duration_since(&start).map_err(Failure::failed)
        };
        if !self.is_modelled {
            return Ok(launch()?.as_secs_f64());
        }
        // No line of a list in memory is read twice on a GPU.
        let machine = Parameters {
            start: Start::Cold,
            ..self.parameters
        };
        let settings = Settings {
            machine: Some(machine),
            estimate: true,
            ..Settings::default()
        };
        let (ran, timings) = timing::during(settings, launch);
        ran?;
        match (timings.modelled.first(), timings.missed.into_iter().next()) {
            (Some(timing), _) => Ok(timing.cycles as f64),
            (None, Some(error)) => Err(Failure::failed(error)),
            (None, None) => Err(Failure::failed("the launch has no modelled time")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_median_with_its_spread() {
        let sample = Sample::of(vec![11.0, 9.0, 10.0]);
        assert_eq!((sample.value, sample.spread), (10.0, 0.2));
        assert_eq!(sample.map(|value| value / 2.0).value, 5.0);
        assert!(Sample::of(vec![-1.0, -2.0, 0.0]).spread > MOST_SPREAD);
    }
}
