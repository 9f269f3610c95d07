//! `cargo gpu-amdgpu inspect`

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use ferrowave_code_object::{CodeObject, Kernel};
use ferrowave_inspect::{ArgumentSummary, KernelSummary};
use ferrowave_launch::{Columns, Failure, Shape, print, print_json};

use crate::{object, source::SourceOptions};

/// Show what the compiler made of kernels: arguments, registers, LDS, scratch, spills, occupancy.
///
/// Builds the crate in the current directory first, or takes any code object, offload bundle or HIP program.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A code object, offload bundle or HIP program [default: the crate in the current directory].
    file: Option<PathBuf>,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Workgroup size to compute the occupancy for [default: the largest that the kernel allows].
    #[arg(long, value_name = "X,Y,Z")]
    block: Option<Shape>,
    /// LDS bytes that a launch adds to the kernel's own, to compute the occupancy for.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    lds: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let products = options.source.objects(options.file.as_deref())?;
    let rows = object::kernels(&products, options.kernel.as_deref())?
        .into_iter()
        .map(|(object, kernel)| row(options, object, kernel))
        .collect::<Result<Vec<_>, _>>()?;
    if options.json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new(&[
        "kernel",
        "GPU",
        "arguments",
        "VGPRs:",
        "AGPRs:",
        "SGPRs:",
        "LDS [B]:",
        "scratch [B]:",
        "spills:",
        "flat:",
        "workgroup:",
        "waves/SIMD:",
        "limited by",
    ]);
    for row in &rows {
        table.row([
            row.kernel.clone(),
            row.gpu.clone(),
            parameters(&row.arguments),
            row.vgprs.to_string(),
            row.agprs.to_string(),
            row.sgprs.to_string(),
            row.lds_bytes.to_string(),
            row.scratch_bytes.to_string(),
            spills(row),
            row.flat_instructions.to_string(),
            row.workgroup_size.to_string(),
            row.waves_per_simd.to_string(),
            row.limited_by.join(", "),
        ]);
    }
    print(&table)?;
    Ok(ExitCode::SUCCESS)
}

fn row(options: &Options, object: &CodeObject, kernel: &Kernel) -> Result<KernelSummary, Failure> {
    let metadata = &kernel.metadata;
    let workgroup_size = options
        .block
        .map_or(metadata.max_flat_workgroup_size, |block| {
            block
                .0
                .iter()
                .fold(1, |product: u32, &n| product.saturating_mul(n))
        });
    if workgroup_size == 0 || workgroup_size > metadata.max_flat_workgroup_size {
        return Err(Failure::usage(format!(
            "--block: {workgroup_size} work-items, but `{}` takes 1 to {}",
            metadata.name, metadata.max_flat_workgroup_size
        )));
    }
    KernelSummary::of(object, kernel, workgroup_size, options.lds).map_err(Failure::failed)
}

/// Arguments on one line: their types, or else the kind of buffers and the size of values.
fn parameters(parameters: &[ArgumentSummary]) -> String {
    let texts: Vec<_> = parameters
        .iter()
        .map(
            |parameter| match (&parameter.type_name, parameter.kind.as_str()) {
                (Some(name), _) => name.clone(),
                (None, "value") => format!("{} B", parameter.size_bytes),
                (None, kind) => kind.to_owned(),
            },
        )
        .collect();
    match texts.is_empty() {
        true => "none".to_owned(),
        false => texts.join(", "),
    }
}

/// Spilled vector and scalar registers; a dash if the compiler does not say.
fn spills(row: &KernelSummary) -> String {
    match (row.vgpr_spills, row.sgpr_spills) {
        (None, None) => "-".to_owned(),
        (Some(0) | None, Some(0) | None) => "0".to_owned(),
        (vgprs, sgprs) => format!("{} v, {} s", vgprs.unwrap_or(0), sgprs.unwrap_or(0)),
    }
}
