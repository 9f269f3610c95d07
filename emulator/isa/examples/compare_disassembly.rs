//! Compares the decoder and disassembler with `llvm-objdump` on every instruction of the code objects in some files:
//! `compare_disassembly FILE…`. A file is a code object, an offload bundle, or a program or library that contains
//! bundles. Code for GPUs that the emulator does not know is counted and skipped.
//!
//! Exits with 1 if an instruction differs in text or length.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, ExitCode, Stdio},
};

use ferrowave_code_object::{EntryTarget, code_objects};
use ferrowave_gpu::Gpu;
use ferrowave_isa::decode;
use ferrowave_kernel_build::Toolchain;
use rayon::prelude::*;

/// How many differences of each kind are printed.
const SHOWN: usize = 5;

/// The result of a comparison.
#[derive(Default)]
struct Outcome {
    objects: u64,
    /// Instructions on which both agree.
    instructions: u64,
    /// Words that both refuse.
    neither: u64,
    /// The number of differences, and the first of them.
    differences: u64,
    shown: Vec<String>,
}

impl Outcome {
    fn differs(&mut self, what: impl FnOnce() -> String) {
        self.differences += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(what());
        }
    }

    fn add(&mut self, other: Outcome) {
        self.objects += other.objects;
        self.instructions += other.instructions;
        self.neither += other.neither;
        self.differences += other.differences;
        let room = SHOWN.saturating_sub(self.shown.len());
        self.shown.extend(other.shown.into_iter().take(room));
    }
}

/// A line of `llvm-objdump`: text, address and words.
struct Line<'a> {
    text: &'a str,
    address: u64,
    words: Vec<u32>,
}

/// Parses the line of an instruction; `None` for any other line.
fn line(line: &str) -> Option<Line<'_>> {
    let (text, place) = line.strip_prefix('\t')?.rsplit_once("//")?;
    let (address, words) = place.trim_start().split_once(':')?;
    // A branch's target follows the words.
    let words = words.split('<').next()?.split_whitespace();
    Some(Line {
        text: text.trim_end(),
        address: u64::from_str_radix(address, 16).ok()?,
        words: words
            .map(|word| u32::from_str_radix(word, 16).ok())
            .collect::<Option<_>>()?,
    })
}

/// Compares one code object.
fn compare(
    toolchain: &Toolchain,
    gpu: Gpu,
    object: &[u8],
) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(object)?;
    let mut child = Command::new(toolchain.llvm_objdump())
        .args(["--disassemble", "--disassemble-zeroes"])
        .arg(file.path())
        .stdout(Stdio::piped())
        .spawn()?;
    let listing = child.stdout.take().ok_or("no output")?;
    let mut outcome = Outcome {
        objects: 1,
        ..Outcome::default()
    };
    for text in BufReader::with_capacity(1 << 20, listing).lines() {
        let text = text?;
        let Some(line) = line(&text) else { continue };
        // Words that LLVM knows as no instruction.
        let is_data = line.text.starts_with(".long");
        match decode(gpu, &line.words, line.address) {
            Ok(instruction) => {
                let same_length = usize::from(instruction.size) == 4 * line.words.len();
                let ours = instruction.text(gpu).to_string();
                // LLVM prints a branch's target by its symbol, if it has one.
                let is_target = instruction.branch_words().is_some()
                    && line.text.split(' ').next() == ours.split(' ').next();
                if same_length && (ours == line.text || is_target) {
                    outcome.instructions += 1;
                } else {
                    outcome.differs(|| {
                        format!(
                            "{gpu} {:x?}: LLVM `{}`, here `{ours}` of {} bytes",
                            line.words, line.text, instruction.size
                        )
                    });
                }
            }
            Err(_) if is_data => outcome.neither += 1,
            Err(error) => {
                outcome.differs(|| {
                    format!(
                        "{gpu} {:x?}: LLVM `{}`, here: {error}",
                        line.words, line.text
                    )
                });
            }
        }
    }
    if !child.wait()?.success() {
        return Err("llvm-objdump failed".into());
    }
    Ok(outcome)
}

fn run() -> Result<bool, Box<dyn Error + Send + Sync>> {
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL)?;
    let mut same = true;
    for path in env::args_os().skip(1) {
        let name = path.to_string_lossy().into_owned();
        let bytes = fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
        let objects = code_objects(&bytes).map_err(|error| format!("{name}: {error}"))?;
        let (mut known, mut left_out) = (Vec::new(), 0);
        for object in &objects {
            let entry = object.entry.as_deref().and_then(EntryTarget::parse);
            let gpu = entry.and_then(|entry| entry.processor.parse::<Gpu>().ok());
            match gpu {
                Some(gpu) => known.push((gpu, &*object.bytes)),
                None => left_out += 1,
            }
        }
        let outcomes: Result<Vec<_>, _> = known
            .par_iter()
            .map(|&(gpu, object)| compare(&toolchain, gpu, object).map(|outcome| (gpu, outcome)))
            .collect();
        let mut by_gpu = BTreeMap::<&str, Outcome>::new();
        for (gpu, outcome) in outcomes? {
            by_gpu.entry(gpu.name()).or_default().add(outcome);
        }
        println!("{name}: {left_out} code objects for other GPUs");
        for (gpu, outcome) in by_gpu {
            println!(
                "  {gpu}: {} code objects, {} instructions alike, {} words that are none to either, {} different",
                outcome.objects, outcome.instructions, outcome.neither, outcome.differences
            );
            for difference in &outcome.shown {
                println!("    {difference}");
            }
            same &= outcome.differences == 0;
        }
    }
    Ok(same)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("compare_disassembly: {error}");
            ExitCode::FAILURE
        }
    }
}
