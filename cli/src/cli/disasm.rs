//! `ferrowave disasm`

use std::{
    io::{self, BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use ferrowave_code_object::{CodeObject, EntryTarget, FoundObject, code_objects};
use ferrowave_gpu::Gpu;
use ferrowave_inspect::code;
use ferrowave_launch::read_file;

use super::Failure;

/// The column of the addresses, as in `llvm-objdump`.
const COLUMN: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A code object, an offload bundle, or a program or library with bundles in it.
    file: PathBuf,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Only code objects for this GPU: gfx942, MI300X.
    #[arg(long)]
    gpu: Option<Gpu>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let file = options.file.display();
    let bytes =
        read_file(&options.file).map_err(|error| Failure::failed(format!("{file}: {error}")))?;
    let found =
        code_objects(&bytes).map_err(|error| Failure::failed(format!("{file}: {error}")))?;
    let mut out = BufWriter::new(io::stdout().lock());
    match listing(options, &found, &mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // The reader closed the pipe early.
        Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Err(Stopped::Output(error)) => Err(Failure::failed(error)),
        Err(Stopped::Input(reason)) => Err(Failure::failed(format!("{file}: {reason}"))),
    }
}

/// Why a listing ended.
enum Stopped {
    Input(String),
    Output(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Output(error)
    }
}

/// Whether a code object may be for a GPU that the disassembler knows, and for the requested one.
fn wanted(options: &Options, found: &FoundObject<'_>) -> bool {
    let Some(entry) = found.entry.as_deref().and_then(EntryTarget::parse) else {
        // A code object without a bundle entry names its GPU only in its own header.
        return found.entry.is_none();
    };
    let gpu = entry.processor.parse::<Gpu>().ok();
    gpu.is_some_and(|gpu| options.gpu.is_none_or(|asked| asked == gpu))
}

fn listing(
    options: &Options,
    found: &[FoundObject<'_>],
    out: &mut impl Write,
) -> Result<(), Stopped> {
    let (mut objects, mut kernels) = (0, Vec::new());
    for found in found.iter().filter(|found| wanted(options, found)) {
        let object = CodeObject::parse(&found.bytes).map_err(|error| {
            let what = found.entry.as_deref().unwrap_or("code object");
            Stopped::Input(format!("{what}: {error}"))
        })?;
        if options.gpu.is_some_and(|gpu| gpu != object.target().gpu) {
            continue;
        }
        objects += 1;
        let names = object.kernels().iter().map(|k| k.metadata.name.clone());
        kernels.extend(names);
        let ranges = match &options.kernel {
            Some(name) => match object.kernel(name) {
                Some(kernel) => vec![kernel.code.clone()],
                None => continue,
            },
            None => object.text_ranges().to_vec(),
        };
        let name = heading(&options.file, found);
        writeln!(
            out,
            "\n{name}:\tfile format elf64-amdgpu\n\nDisassembly of section .text:"
        )?;
        for range in ranges {
            disassemble(&object, range, out)?;
        }
    }
    if objects == 0 {
        let entries: Vec<_> = found
            .iter()
            .filter_map(|found| found.entry.as_deref())
            .collect();
        let asked = options
            .gpu
            .map_or("the known GPUs".to_owned(), |gpu| gpu.to_string());
        return Err(Stopped::Input(match entries.is_empty() {
            true => format!("it holds no code object for {asked}"),
            false => format!(
                "it holds no code object for {asked}, only: {}",
                entries.join(", ")
            ),
        }));
    }
    match &options.kernel {
        Some(name) if !kernels.contains(name) => {
            kernels.sort();
            kernels.dedup();
            Err(Stopped::Input(format!(
                "no kernel `{name}`, only: {}",
                kernels.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

fn heading(file: &Path, found: &FoundObject<'_>) -> String {
    match &found.entry {
        Some(entry) => format!("{}({entry})", file.display()),
        None => file.display().to_string(),
    }
}

/// Prints a range of code, with the name of each function where it begins.
fn disassemble(
    object: &CodeObject,
    range: Range<u64>,
    out: &mut impl Write,
) -> Result<(), Stopped> {
    let lines = code(object, range.clone()).map_err(Stopped::Input)?;
    for line in &lines {
        let address = line.address;
        // Code after a function that belongs to no symbol is listed under that function.
        match object.function_at(address) {
            Some(symbol) if symbol.address == address => {
                writeln!(out, "\n{address:016x} <{}>:", symbol.name)?;
            }
            None if address == range.start => writeln!(out, "\n{address:016x} <.text>:")?,
            _ => {}
        }
        let hex: Vec<_> = line
            .words
            .iter()
            .map(|word| format!("{word:08X}"))
            .collect();
        let text = format!("\t{}", line.text);
        write!(out, "{text:<COLUMN$}// {address:012X}: {}", hex.join(" "))?;
        match line
            .branch_target()
            .and_then(|to| Some((to, object.function_at(to)?)))
        {
            Some((to, symbol)) if to == symbol.address => writeln!(out, " <{}>", symbol.name)?,
            Some((to, symbol)) => {
                writeln!(out, " <{}+{:#x}>", symbol.name, to - symbol.address)?;
            }
            None => writeln!(out)?,
        }
    }
    Ok(())
}
