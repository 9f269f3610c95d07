//! Prints the softmax of a matrix's rows, and its transpose.

use std::{error::Error, process::ExitCode};

use ferrowave_host::hip::{Context, Device};
use softmax::{Matrix, softmax, transpose};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // A GPU if HIP finds one, else the emulator; FERROWAVE_DEVICE selects another device.
    let device = Device::from_environment()?;
    println!("{}", device.choice());
    let context = Context::new(&device)?;

    let matrix = Matrix {
        rows: 2,
        columns: 3,
        elements: vec![0.0, 1.0, 2.0, 1000.0, 1000.0, 999.0],
    };
    println!("softmax   {:?}", softmax(&context, &matrix)?.elements);
    println!("transpose {:?}", transpose(&context, &matrix)?.elements);
    Ok(())
}
