//! Instructions whose cycles were traced on Radeons: tinygrad's thread traces of small kernels (`extra/sqtt/examples` of
//! github.com/tinygrad/tinygrad), with their code objects. `traces.py` reads them by tinygrad's own decoder.
//!
//! The kernels ran once, after a reset: code and data came from memory, and no address had been translated. So an instruction
//! is not compared where more than [`LONGEST`] cycles were traced before it.

use std::{collections::BTreeMap, env, fs, path::Path, process::Command, sync::Arc};

use ferrowave_emulator::dispatch::{LaunchConfig, launch_observed};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::Program;
use ferrowave_gpu::Product;
use ferrowave_kernel_build::assemble;
use ferrowave_timing::{Parameters, Plan};

use crate::{
    Choice, LAUNCH, allocate,
    statistics::{Group, Pair},
    triton::run,
};

/// Names the checkout.
const CHECKOUT: &str = "FERROWAVE_TINYGRAD";

/// The folders of traces.
const MACHINES: [(&str, Product); 2] = [
    ("gfx1100", Product::Rx7900Xtx),
    ("gfx1200", Product::Rx9070Xt),
];

/// The kernels: workgroups, work-items of each, and buffers.
const KERNELS: [(&str, [u32; 3], u32, usize); 4] = [
    ("E_3", [1, 1, 1], 3, 3),
    ("r_32_32_16_2", [32, 32, 1], 16, 3),
    ("custom_lds_sync", [1, 1, 1], 128, 1),
    ("custom_handwritten", [1, 1, 1], 128, 1),
];

/// Bytes of each buffer: 32 × 32 elements.
const BUFFER: usize = 4096;

/// Cycles before an instruction that are not compared if they are more.
const LONGEST: u64 = 200;

/// The offset and the cycle of each instruction of the waves of a SIMD, in order.
type Waves = BTreeMap<usize, Vec<(u64, u64)>>;

/// The trace of a SIMD.
struct Trace {
    kernel: String,
    /// The file of its code.
    code: String,
    waves: Waves,
}

/// The traces by folder and example.
type Traces = BTreeMap<(String, String), Vec<Trace>>;

fn read(listing: &str) -> Traces {
    let mut traces = Traces::new();
    for section in listing.split("trace ").skip(1) {
        let mut lines = section.lines();
        let mut words = lines.next().expect("a line for each trace").split(' ');
        let [folder, example, kernel, code] =
            [(); 4].map(|()| words.next().expect("four words").to_owned());
        let mut waves = Waves::new();
        for line in lines {
            let mut numbers = line
                .split(' ')
                .map(|number| number.parse().expect("a number"));
            let [wave, offset, cycle] = [(); 3].map(|()| numbers.next().expect("three numbers"));
            waves
                .entry(wave as usize)
                .or_default()
                .push((offset, cycle));
        }
        let trace = Trace {
            kernel,
            code,
            waves,
        };
        traces.entry((folder, example)).or_default().push(trace);
    }
    traces
}

impl Trace {
    /// What the model's first SIMD does, or why that is not known.
    fn model(&self, machine: Product, directory: &Path) -> Result<Waves, String> {
        let file = directory.join(&self.code);
        let code = fs::read(&file).expect("the script wrote it");
        let object = match file.extension().is_some_and(|extension| extension == "s") {
            true => {
                let source = String::from_utf8(code).expect("a source");
                assemble(machine.gpu(), &source).map_err(said)?
            }
            false => code,
        };
        let memory = Arc::new(DeviceMemory::new(1 << 30));
        let program =
            Program::load(&object, machine.gpu(), &memory, SimdLevel::detect()).map_err(said)?;
        let kernel = program
            .kernel(&self.kernel)
            .ok_or_else(|| format!("{} has no kernel `{}`", self.code, self.kernel))?;
        let (_, grid, threads, buffers) = KERNELS
            .into_iter()
            .find(|(name, ..)| *name == self.kernel)
            .ok_or_else(|| format!("the arguments of `{}` are not known", self.kernel))?;
        let kernarg: Vec<u64> = (0..buffers).map(|_| allocate(&memory, BUFFER)).collect();
        let config = LaunchConfig {
            grid,
            block: [threads, 1, 1],
            kernarg: bytemuck::cast_slice(&kernarg),
            ..LAUNCH
        };
        let parameters = *Parameters::of(machine).expect("a machine with parameters");
        let plan = Plan::new(&kernel, &config, parameters)
            .map_err(said)?
            .with_timeline();
        let config = plan.config(&config);
        let observed = launch_observed(&kernel, &config, |_| plan.tracer()).map_err(said)?;
        observed.outcome.map_err(said)?;
        let timing = plan.timing(&kernel, observed.observers).map_err(said)?;
        let issued = timing.issued();
        let first = issued.first().map_or(0, |issued| issued.offset);
        let mut waves = Waves::new();
        for issued in issued.iter().filter(|issued| issued.simd == 0) {
            let of_wave = waves.entry(issued.wave).or_default();
            of_wave.push((issued.offset - first, issued.cycle));
        }
        Ok(waves)
    }
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

/// The traced and the modelled cycles between two instructions.
#[derive(Clone, Copy, Default)]
struct Gap {
    traced: u64,
    modelled: u64,
}

impl Gap {
    fn add(&mut self, other: Gap) {
        self.traced += other.traced;
        self.modelled += other.modelled;
    }
}

/// The cycles before each instruction of the traced waves, with its offset. An error if the modelled waves run others.
fn gaps(traced: &Waves, modelled: &Waves) -> Result<Vec<(u64, Gap)>, String> {
    let mut gaps = Vec::new();
    for (traced, modelled) in traced.values().zip(modelled.values()) {
        // Hints and ends of waves are not in the traces.
        let mut left = modelled.iter();
        let mut before = None;
        for &(offset, traced) in traced {
            let same = left.find(|(other, _)| *other == offset);
            let (_, modelled) = *same
                .ok_or_else(|| format!("the model does not run its instruction at {offset}"))?;
            if let Some((traced_before, modelled_before)) = before.replace((traced, modelled)) {
                let gap = Gap {
                    traced: traced - traced_before,
                    modelled: modelled - modelled_before,
                };
                gaps.push((offset, gap));
            }
        }
    }
    Ok(gaps)
}

pub(crate) fn print(choice: &Choice) {
    let names = |(_, machine): &(&str, Product)| choice.has(machine.name(), "thread traces");
    if choice.is_quick || !MACHINES.iter().any(names) {
        return;
    }
    let Some(checkout) = env::var_os(CHECKOUT) else {
        return println!(
            "\nthread traces are not compared: {CHECKOUT} names no checkout of github.com/tinygrad/tinygrad"
        );
    };
    let directory = tempfile::tempdir().expect("a folder for the traces");
    let directory = directory.path();
    let script = directory.join("traces.py");
    fs::write(&script, include_str!("traces.py")).expect("room for a script");
    let mut python = Command::new("python3");
    if let Err(complaint) = run(python.arg(&script).arg(&checkout).arg(directory)) {
        return println!("\nthread traces are not compared: {complaint}");
    }
    let listing = fs::read_to_string(directory.join("traces.txt")).expect("the script wrote it");
    let traces = read(&listing);
    if traces.is_empty() {
        return println!("\nthread traces are not compared: the checkout has none");
    }
    for (folder, machine) in MACHINES.iter().filter(|row| names(row)) {
        println!(
            "\n| thread traces, {machine} | instructions | traced [cycles] | modelled [cycles] | equal | longer |"
        );
        println!("|---|---|---|---|---|---|");
        let mut group = Group::default();
        for (example, traces) in traces
            .iter()
            .filter(|((of, _), _)| of == folder)
            .map(|((_, example), traces)| (example, traces))
        {
            let mut all = Vec::new();
            for trace in traces {
                let modelled = trace.model(*machine, directory);
                match modelled.and_then(|modelled| gaps(&trace.waves, &modelled)) {
                    Ok(gaps) => all.extend(gaps),
                    Err(complaint) => println!("| `{example}` | {complaint} | | | | |"),
                }
            }
            let (longer, others): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(_, gap)| gap.traced > LONGEST);
            let mut sum = Gap::default();
            let mut of_instructions: BTreeMap<u64, (Gap, usize)> = BTreeMap::new();
            for &(offset, gap) in &others {
                sum.add(gap);
                let (of_instruction, count) = of_instructions.entry(offset).or_default();
                of_instruction.add(gap);
                *count += 1;
            }
            let equal = others
                .iter()
                .filter(|(_, gap)| gap.traced == gap.modelled)
                .count();
            println!(
                "| `{example}` | {} | {} | {} | {} | {} |",
                others.len(),
                sum.traced,
                sum.modelled,
                equal,
                longer.len()
            );
            for (gap, count) in of_instructions.values() {
                group.add(Pair {
                    published: gap.traced as f64 / *count as f64,
                    modelled: gap.modelled as f64 / *count as f64,
                });
            }
        }
        group.print(&format!("cycles before an instruction, {machine}"));
    }
}
