//! What is measured, in one table.

use ferrowave::hip::Arguments;
use ferrowave_gpu::Family;

use super::bench::{Bench, Run, Sample};
use crate::cli::Failure;

/// A figure of a device.
pub(crate) struct Measurement {
    /// The parameter that it is, by its name in a file of parameters; empty for figures that the model does not take.
    pub(crate) parameter: &'static str,
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    /// `None` if the device has no such thing, or if another limit hides it.
    measure: fn(&Bench) -> Result<Option<Sample>, Failure>,
}

impl Measurement {
    pub(crate) fn measure(&self, bench: &Bench) -> Result<Option<Sample>, Failure> {
        (self.measure)(bench)
    }
}

const fn row(
    parameter: &'static str,
    what: &'static str,
    unit: &'static str,
    measure: fn(&Bench) -> Result<Option<Sample>, Failure>,
) -> Measurement {
    Measurement {
        parameter,
        what,
        unit,
        measure,
    }
}

const CYCLES: &str = "cycles";
const RATE: &str = "bytes per cycle";

/// All measurements, in the order in which they run.
pub(crate) const ALL: &[Measurement] = &[
    row("double_cycles", "f64 vector instruction", CYCLES, |bench| {
        repeated(bench, "fma_double", 1, 64.0)
    }),
    row(
        "integer_product_cycles",
        "32-bit integer product",
        CYCLES,
        |bench| repeated(bench, "integer_product", 1, 64.0),
    ),
    row("", "transcendental instruction", CYCLES, |bench| {
        repeated(bench, "transcendental", 1, 64.0)
    }),
    row("", "matrix instruction, same sum", CYCLES, |bench| {
        repeated(bench, "matrix", 1, 16.0)
    }),
    row("", "s_sleep 1", CYCLES, |bench| {
        repeated(bench, "sleep", 1, 16.0)
    }),
    row("", "s_barrier, 4 waves", CYCLES, |bench| {
        repeated(bench, "barrier", 4, 16.0)
    }),
    row(
        "scalar_latency",
        "latency of the scalar cache",
        CYCLES,
        scalar_latency,
    ),
    row("lds_latency", "latency of LDS", CYCLES, lds_latency),
    row("l1_latency", "latency of L1", CYCLES, |bench| {
        latency(bench, Level::L1)
    }),
    row("l2_latency", "latency of L2", CYCLES, |bench| {
        latency(bench, Level::L2)
    }),
    row(
        "infinity_latency",
        "latency of the Infinity Cache",
        CYCLES,
        |bench| latency(bench, Level::Infinity),
    ),
    row("memory_latency", "latency of memory", CYCLES, |bench| {
        latency(bench, Level::Memory)
    }),
    row(
        "",
        "atomic operation, with its old value",
        CYCLES,
        atomic_latency,
    ),
    row("", "ds_read_b32, 1 wave", CYCLES, |bench| {
        lds(bench, "lds_read_b32", 1, 4)
    }),
    row("", "ds_read_b32, 4 waves", CYCLES, |bench| {
        lds(bench, "lds_read_b32", 4, 4)
    }),
    row("", "ds_read_b32, 4 waves, stride 8", CYCLES, |bench| {
        lds(bench, "lds_read_b32", 4, 8)
    }),
    row("", "ds_read_b32, 4 waves, stride 128", CYCLES, |bench| {
        lds(bench, "lds_read_b32", 4, 128)
    }),
    row("", "ds_read_b64, 1 wave", CYCLES, |bench| {
        lds(bench, "lds_read_b64", 1, 8)
    }),
    row("", "ds_read_b64, 4 waves", CYCLES, |bench| {
        lds(bench, "lds_read_b64", 4, 8)
    }),
    row("", "ds_read_b128, 1 wave", CYCLES, |bench| {
        lds(bench, "lds_read_b128", 1, 16)
    }),
    row("", "ds_read_b128, 2 waves", CYCLES, |bench| {
        lds(bench, "lds_read_b128", 2, 16)
    }),
    row("", "ds_read_b128, 4 waves", CYCLES, |bench| {
        lds(bench, "lds_read_b128", 4, 16)
    }),
    row("", "ds_read_b128, 4 waves, stride 32", CYCLES, |bench| {
        lds(bench, "lds_read_b128", 4, 32)
    }),
    row("", "ds_read_b128, 4 waves, stride 256", CYCLES, |bench| {
        lds(bench, "lds_read_b128", 4, 256)
    }),
    row(
        "",
        "L2 to a compute unit, 8 KiB of a workgroup in flight",
        RATE,
        |bench| to_one_unit(bench, 64),
    ),
    row(
        "",
        "L2 to a compute unit, 32 KiB of a workgroup in flight",
        RATE,
        |bench| to_one_unit(bench, 256),
    ),
    row(
        "l1_to_l2_bytes_per_cycle",
        "L2 to a compute unit, 128 KiB of a workgroup in flight",
        RATE,
        |bench| to_one_unit(bench, 1024),
    ),
    row(
        "l2_bytes_per_cycle",
        "L2 of an XCD, read by all its compute units",
        RATE,
        l2_read,
    ),
    row(
        "l2_written_bytes_per_cycle",
        "L2 of an XCD, written by all its compute units",
        RATE,
        l2_written,
    ),
    row(
        "infinity_bytes_per_second",
        "the Infinity Cache, read by all",
        "bytes per second",
        infinity,
    ),
    row(
        "memory_efficiency",
        "memory, read by all: share of its bandwidth",
        "",
        memory,
    ),
];

fn repeated(
    bench: &Bench,
    kernel: &str,
    waves: u32,
    count: f64,
) -> Result<Option<Sample>, Failure> {
    if !bench.has(kernel) {
        return Ok(None);
    }
    let run = Run::new(kernel, waves);
    let sample = bench.each(&run, count, |_, iterations| {
        Arguments::new().value(iterations)
    })?;
    Ok(Some(sample))
}

/// Cycles from the completion of a load to the issue of the next: the turn of the wait between them.
fn without_wait(bench: &Bench, sample: Sample) -> Sample {
    let turn = bench.parameters.pipeline.turn as f64;
    sample.map(|cycles| cycles - turn)
}

fn scalar_latency(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let list = bench.upload(&[0; 64])?;
    let run = Run::new("scalar_latency", 1);
    let sample = bench.each(&run, 16.0, |_, iterations| {
        Arguments::new().buffer(&list).value(iterations)
    })?;
    Ok(Some(without_wait(bench, sample)))
}

fn lds_latency(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let run = Run {
        lds_bytes: 64,
        ..Run::new("lds_latency", 1)
    };
    let sample = bench.each(&run, 16.0, |_, iterations| {
        Arguments::new().value(iterations)
    })?;
    Ok(Some(without_wait(bench, sample)))
}

fn atomic_latency(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let word = bench.upload(&[0; 64])?;
    let run = Run::new("atomic_latency", 1);
    let sample = bench.each(&run, 16.0, |_, iterations| {
        Arguments::new().buffer(&word).value(iterations)
    })?;
    Ok(Some(without_wait(bench, sample)))
}

/// Cycles of each instruction of the compute unit, whose waves all read.
fn lds(bench: &Bench, kernel: &str, waves: u32, stride: u32) -> Result<Option<Sample>, Failure> {
    let bytes = 1_u32 << 15;
    let run = Run {
        lds_bytes: bytes,
        ..Run::new(kernel, waves)
    };
    let sample = bench.each(&run, 64.0, |_, iterations| {
        Arguments::new()
            .value(stride)
            .value(bytes)
            .value(iterations)
    })?;
    Ok(Some(sample))
}

/// Where a list lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    L1,
    L2,
    Infinity,
    Memory,
}

/// Cycles of a step through a list in memory.
fn latency(bench: &Bench, level: Level) -> Result<Option<Sample>, Failure> {
    let hardware = bench.parameters.hardware;
    let line = hardware.gpu.line_bytes() as usize;
    // 1024 work-items.
    let run = Run::new("load_latency", 1024 / bench.lanes());
    let factor = if bench.is_modelled() { 1 } else { run.more };
    // The steps of a short and a long launch.
    let steps = 16 * 3 * run.iterations * factor;
    // Bytes that are read beforehand, bytes from one element of the list to the next, and elements.
    let (warm, stride, elements) = match level {
        Level::L1 => (1024, line, 1024 / line),
        // More than what is between L1 and L2 on RDNA 3.
        Level::L2 => {
            let array = bench.parameters.pipeline.array_cache;
            let bytes = (8 * hardware.l1_bytes).max(2 * array.map_or(0, |array| array.bytes));
            (bytes as usize, line, bytes as usize / line)
        }
        // Without one, its latency is that of memory.
        Level::Infinity if hardware.infinity_bytes == 0 => return latency(bench, Level::Memory),
        // L2 keeps only the end of what was read.
        Level::Infinity => (3 * hardware.l2_bytes as usize, line, steps as usize),
        // No line is read twice in all repetitions, and those at the end of the buffer, which may still be in the
        // Infinity Cache after the upload, never.
        Level::Memory => (0, 16 * line, 12 * steps as usize),
    };
    let bytes = warm.max(stride * elements);
    let mut words = vec![0_u32; bytes / 4];
    for element in 0..elements {
        words[element * stride / 4] = ((element + 1) % elements * stride) as u32;
    }
    let list = bench.upload(&words)?;
    let sample = bench.each(&run, 16.0, |launch, iterations| {
        let start = match level {
            Level::Memory => launch * (steps / 3 * 2) * stride as u32,
            _ => 0,
        };
        Arguments::new()
            .buffer(&list)
            .value(warm as u32)
            .value(start)
            .value(iterations)
    })?;
    Ok(Some(without_wait(bench, sample)))
}

/// Bytes that a work-item moves in an iteration of `read` and `write`.
const OF_A_WORK_ITEM: u32 = 8 * 16;

/// A run of `read` or `write` whose workgroups access `region` bytes, `shared_by` of them the same.
struct Stream {
    kernel: &'static str,
    grid: u32,
    waves: u32,
    region: u32,
    shared_by: u32,
    /// Bytes that each workgroup reads before those that are timed.
    warm: u32,
    iterations: u32,
    more: u32,
}

impl Stream {
    /// Bytes per cycle, of all workgroups together.
    fn rate(&self, bench: &Bench) -> Result<Sample, Failure> {
        let regions = self.grid.div_ceil(self.shared_by);
        let memory = bench.allocate(regions as usize * self.region as usize)?;
        let run = Run {
            grid: self.grid,
            iterations: self.iterations,
            more: self.more,
            ..Run::new(self.kernel, self.waves)
        };
        let work_items = self.waves * bench.lanes();
        let of_a_workgroup = work_items * OF_A_WORK_ITEM;
        let of_iteration = f64::from(self.grid) * f64::from(of_a_workgroup);
        bench.bytes_per_cycle(&run, of_iteration, |_, iterations| {
            Arguments::new()
                .buffer(&memory)
                .value(self.region)
                .value(self.shared_by)
                .value(work_items)
                .value(self.warm / of_a_workgroup)
                .value(iterations)
        })
    }
}

/// A compute unit reads a region that fits in L2 and not in L1. Where two run a workgroup together, each has its own L1.
fn to_one_unit(bench: &Bench, work_items: u32) -> Result<Option<Sample>, Failure> {
    let region = 8 * bench.parameters.hardware.l1_bytes;
    let stream = Stream {
        kernel: "read",
        grid: 1,
        waves: work_items / bench.lanes(),
        region,
        shared_by: 1,
        warm: region,
        iterations: 16,
        more: 100,
    };
    let units = bench.parameters.pipeline.compute_units as f64;
    let rate = stream.rate(bench)?;
    Ok(Some(rate.map(|rate| rate / units)))
}

/// On CDNA, all compute units read the same. On RDNA, two workgroup processors do, which are in different shader arrays,
/// and the regions of an array have more than its L1.
fn l2_read(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let hardware = bench.parameters.hardware;
    let grid = hardware.multiprocessors();
    let (region, shared_by) = match hardware.gpu.family() {
        Family::Cdna => (1 << 19, grid),
        Family::Rdna => (1 << 17, 2),
    };
    let stream = Stream {
        kernel: "read",
        grid,
        waves: 256 / bench.lanes(),
        region,
        shared_by,
        warm: region,
        iterations: 16,
        more: 100,
    };
    let of_all = stream.rate(bench)?;
    of_l2(bench, of_all)
}

/// The share of an XCD in what all compute units read or write. `None` if that is more than three quarters of what they can
/// request: L2 may have more.
fn of_l2(bench: &Bench, of_all: Sample) -> Result<Option<Sample>, Failure> {
    let hardware = bench.parameters.hardware;
    let of_one = to_one_unit(bench, 1024)?.map_or(f64::INFINITY, |rate| rate.value);
    let is_hidden = of_all.value > 0.75 * of_one * f64::from(hardware.compute_units);
    Ok((!is_hidden).then(|| of_all.map(|rate| rate / f64::from(hardware.xcds))))
}

fn l2_written(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let hardware = bench.parameters.hardware;
    let region = 256 * OF_A_WORK_ITEM;
    let stream = Stream {
        kernel: "write",
        grid: hardware.multiprocessors(),
        waves: 256 / bench.lanes(),
        region,
        shared_by: 1,
        warm: region,
        iterations: 16,
        more: 100,
    };
    let of_all = stream.rate(bench)?;
    of_l2(bench, of_all)
}

/// Iterations of the shorter and how many times as many those of the longer launch are, for what is read once: regions of
/// 4 MiB on a GPU.
const fn once(bench: &Bench) -> (u32, u32) {
    match bench.is_modelled() {
        true => (16, 1),
        false => (4, 16),
    }
}

/// All multiprocessors read what the Infinity Cache has and L2 does not. With several XCDs, each reads all of it once, and
/// all but the first find it there. A single one reads more than L2 has, and again the beginning.
fn infinity(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let hardware = bench.parameters.hardware;
    if hardware.infinity_bytes == 0 {
        return Ok(None);
    }
    let (iterations, more) = once(bench);
    let grid = hardware.multiprocessors();
    let read = 2 * iterations * more * 256 * OF_A_WORK_ITEM;
    let (region, warm) = match hardware.xcds {
        1 => {
            let region = (3 * hardware.l2_bytes / grid).next_power_of_two();
            (region, region)
        }
        _ => (read, 0),
    };
    let stream = Stream {
        kernel: "read",
        grid,
        waves: 256 / bench.lanes(),
        region,
        shared_by: hardware.xcds,
        warm,
        iterations,
        more,
    };
    let rate = stream.rate(bench)?;
    Ok(Some(rate.map(|rate| rate * bench.clock_hz())))
}

/// Each multiprocessor reads its own region of memory once.
fn memory(bench: &Bench) -> Result<Option<Sample>, Failure> {
    let (iterations, more) = once(bench);
    let stream = Stream {
        kernel: "read",
        grid: bench.parameters.hardware.multiprocessors(),
        waves: 256 / bench.lanes(),
        region: 2 * iterations * more * 256 * OF_A_WORK_ITEM,
        shared_by: 1,
        warm: 0,
        iterations,
        more,
    };
    let rate = stream.rate(bench)?;
    let peak = bench.parameters.hardware.memory_bytes_per_second;
    Ok(Some(rate.map(|rate| rate * bench.clock_hz() / peak)))
}
