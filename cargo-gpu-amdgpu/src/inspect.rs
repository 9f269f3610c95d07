//! `cargo gpu-amdgpu inspect`

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use ferrowave_code_object::{Argument, CodeObject, Kernel, Parameter as Typed, ValueKind};
use ferrowave_gpu::Occupancy;
use ferrowave_launch::{Columns, Failure, Shape, code, print, print_json};
use serde::Serialize;

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

/// A compiled kernel.
#[derive(Debug, Serialize)]
struct Row {
    kernel: String,
    gpu: String,
    arguments: Vec<Parameter>,
    /// Vector registers per work-item; from gfx90a on, VGPRs and AGPRs together.
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    /// LDS of a workgroup, without what a launch adds.
    lds_bytes: u32,
    /// Scratch per work-item.
    scratch_bytes: u32,
    vgpr_spills: Option<u32>,
    sgpr_spills: Option<u32>,
    /// `flat_` instructions: their address space is not known to the compiler.
    flat_instructions: usize,
    code_bytes: u64,
    max_workgroup_size: u32,
    /// The workgroup size that the occupancy is for.
    workgroup_size: u32,
    waves_per_simd: u32,
    workgroups_per_compute_unit: u32,
    limited_by: Vec<String>,
}

/// An argument of a kernel.
#[derive(Debug, Serialize)]
struct Parameter {
    name: Option<String>,
    kind: String,
    /// The type in the source, if the code object's debug information has types.
    #[serde(rename = "type")]
    type_name: Option<String>,
    offset: u32,
    size_bytes: u32,
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

fn row(options: &Options, object: &CodeObject, kernel: &Kernel) -> Result<Row, Failure> {
    let metadata = &kernel.metadata;
    let gpu = object.target().gpu;
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
    let occupancy = Occupancy::of(gpu, kernel.resources(workgroup_size, options.lds));
    let lines = code(object, kernel.code.clone()).map_err(Failure::failed)?;
    let flat = lines.iter().filter(|line| line.text.starts_with("flat_"));
    Ok(Row {
        kernel: metadata.name.clone(),
        gpu: object.target().to_string(),
        arguments: arguments(object, kernel),
        vgprs: metadata.vgpr_count,
        agprs: metadata.agpr_count.unwrap_or(0),
        sgprs: metadata.sgpr_count,
        lds_bytes: metadata.group_segment_fixed_size,
        scratch_bytes: metadata.private_segment_fixed_size,
        vgpr_spills: metadata.vgpr_spill_count,
        sgpr_spills: metadata.sgpr_spill_count,
        flat_instructions: flat.count(),
        code_bytes: kernel.code.end - kernel.code.start,
        max_workgroup_size: metadata.max_flat_workgroup_size,
        workgroup_size,
        waves_per_simd: occupancy.waves_per_simd,
        workgroups_per_compute_unit: occupancy.workgroups_per_compute_unit,
        limited_by: occupancy.limiters(),
    })
}

/// The arguments that a launch passes.
fn arguments(object: &CodeObject, kernel: &Kernel) -> Vec<Parameter> {
    let explicit: Vec<_> = kernel
        .metadata
        .args
        .iter()
        .filter(|argument| !argument.value_kind.is_hidden())
        .collect();
    let types = ferrowave_code_object::parameters(object.bytes(), kernel.code.start);
    let types = types.filter(|types| types.len() == explicit.len());
    let mut types = types.into_iter().flatten();
    let arguments = explicit.into_iter();
    arguments
        .map(|argument| parameter(argument, types.next()))
        .collect()
}

fn parameter(argument: &Argument, typed: Option<Typed>) -> Parameter {
    let (name, type_name) = typed.map_or((None, None), |typed| (typed.name, Some(typed.type_name)));
    Parameter {
        name: argument.name.clone().or(name),
        kind: match &argument.value_kind {
            ValueKind::ByValue => "value".to_owned(),
            ValueKind::GlobalBuffer => "buffer".to_owned(),
            other => other.as_str().to_owned(),
        },
        type_name,
        offset: argument.offset,
        size_bytes: argument.size,
    }
}

/// Arguments on one line: their types, or else the kind of buffers and the size of values.
fn parameters(parameters: &[Parameter]) -> String {
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
fn spills(row: &Row) -> String {
    match (row.vgpr_spills, row.sgpr_spills) {
        (None, None) => "-".to_owned(),
        (Some(0) | None, Some(0) | None) => "0".to_owned(),
        (vgprs, sgprs) => format!("{} v, {} s", vgprs.unwrap_or(0), sgprs.unwrap_or(0)),
    }
}
