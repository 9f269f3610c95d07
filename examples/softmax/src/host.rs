//! Launches the kernels, on a GPU through HIP or on the emulator.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use ferrowave_host::hip::{Arguments, Context, DeviceBuffer, LaunchConfig};

/// A row-major matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: u32,
    /// Number of elements in each row.
    pub columns: u32,
    /// The elements, row by row.
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

/// The transpose of a matrix.
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

/// Launches a kernel on an input and an output of the same size; `more` adds the other arguments.
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
    // SAFETY: both buffers have all elements and outlive the launch; LDS has the size that the kernels need.
    unsafe { kernel.launch(&stream, config, &arguments) }?;
    stream.synchronize()?;
    Ok(to.to_vec()?)
}

/// Reads the code object for the context's device, which `cargo gpu-amdgpu build` or `test` has built.
pub fn code_object(context: &Context) -> Result<Vec<u8>, Box<dyn Error>> {
    let gpu = context.device().properties().gpu_name();
    // `cargo gpu-amdgpu test` sets this to the directory of the code objects.
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
