//! `cargo gpu-amdgpu run`

use std::process::ExitCode;

use clap::Args;
use ferrowave_gpu::Gpu;
use ferrowave_launch::{BufferAfter, Columns, DeviceOption, Failure, OutputFile, print};

use crate::target::TargetOptions;

/// Launch a kernel on a GPU or the emulator, then print the contents of its buffers or write them to files.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Write a buffer to a file: the argument's number, from 0, and the file, as in `1=out.npy`. Files ending in `.npy`
    /// are in NumPy's format, all others are raw bytes.
    #[arg(long = "out", value_name = "ARGUMENT=FILE")]
    outputs: Vec<OutputFile>,
    #[command(flatten)]
    device: DeviceOption,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let device = options.device.open(&Gpu::ALL)?;
    let buffers = options.target.run_and_read(&device, &options.outputs)?;
    let mut table = Columns::new(&["argument:", "buffer", "contents"]);
    for buffer in &buffers {
        table.row([buffer.argument.to_string(), buffer.kind(), contents(buffer)]);
    }
    if !buffers.is_empty() {
        print(&table)?;
    }
    for output in &options.outputs {
        let path = output.path.display();
        print(&format_args!("argument {} is in {path}\n", output.argument))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The first elements, and `…` if there are more.
fn contents(buffer: &BufferAfter) -> String {
    const SHOWN: usize = 6;
    let mut texts: Vec<_> = buffer.elements().take(SHOWN).collect();
    if buffer.len() > SHOWN {
        texts.push("…".to_owned());
    }
    texts.join(" ")
}
