//! Launches the kernels, on a GPU through HIP or on the emulator.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use ferrowave_host::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// How many rows it has.
    pub rows: u32,
    /// How many elements each row has.
    pub columns: u32,
    /// Its elements.
    pub elements: Vec<f32>,
}

/// The softmax of each row of a matrix.
pub fn softmax(context: &Context, input: &Matrix) -> Result<Matrix, Box<dyn Error>> {
    let config = LaunchConfig {
        grid: [input.rows, 1, 1],
        block: [256, 1, 1],
        dynamic_lds_bytes: 256 * 4,
    };
    let elements = launch(context, "softmax", &config, input, |arguments| {
        arguments.value(input.columns)
    })?;
    Ok(Matrix { elements, ..*input })
}

/// A matrix with rows and columns exchanged.
pub fn transpose(context: &Context, input: &Matrix) -> Result<Matrix, Box<dyn Error>> {
    let config = LaunchConfig {
        grid: [input.columns.div_ceil(32), input.rows.div_ceil(32), 1],
        block: [32, 8, 1],
        dynamic_lds_bytes: 32 * 33 * 4,
    };
    let elements = launch(context, "transpose", &config, input, |arguments| {
        arguments.value(input.rows).value(input.columns)
    })?;
    Ok(Matrix {
        rows: input.columns,
        columns: input.rows,
        elements,
    })
}

/// Launches a kernel that takes input and output of one size and then what `more` adds.
fn launch(
    context: &Context,
    kernel: &str,
    config: &LaunchConfig,
    input: &Matrix,
    more: impl FnOnce(Arguments) -> Arguments,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let elements = input.rows as usize * input.columns as usize;
    if input.elements.len() != elements {
        return Err(format!(
            "a matrix of {elements} elements has {}",
            input.elements.len()
        )
        .into());
    }
    if elements == 0 {
        return Ok(Vec::new());
    }
    let kernel = context.load(&code_object(context)?)?.kernel(kernel)?;
    let from = context.upload(&input.elements)?;
    let to: DeviceBuffer<f32> = context.allocate(elements)?;
    let arguments = more(Arguments::new().buffer(&from).buffer(&to));
    let stream = context.stream()?;
    // SAFETY: both buffers have all elements and live until the stream is done, and LDS is as the kernels want it.
    unsafe { kernel.launch(&stream, config, &arguments) }?;
    stream.synchronize()?;
    Ok(to.to_vec()?)
}

/// The code object for the context's device, which `cargo gpu-amdgpu build` or `test` has made.
pub fn code_object(context: &Context) -> Result<Vec<u8>, Box<dyn Error>> {
    let gpu = context.device().properties().gpu_name();
    // `cargo gpu-amdgpu test` says where it built.
    let kernels = env::var_os("FERROWAVE_KERNELS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/gpu-amdgpu"),
        PathBuf::from,
    );
    let file = kernels
        .join(gpu)
        .join(concat!(env!("CARGO_PKG_NAME"), ".elf"));
    fs::read(&file).map_err(|error| {
        let file = file.display();
        format!("{file}: {error}; run `cargo gpu-amdgpu build --gpu {gpu}` first").into()
    })
}
