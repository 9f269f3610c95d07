//! `ferrowave list`

use std::process::ExitCode;

use clap::Args;
use ferrowave::embedded;
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::{Gpu, Occupancy};
use ferrowave_shared::{
    CATALOGUE, TileOrder,
    catalogue::{Access, Reduction},
    gpus_with_kernels,
};
use serde::Serialize;

use super::{Columns, Failure, print, print_json};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only the kernels of this GPU: gfx942, MI300X.
    #[arg(long, value_name = "GPU")]
    gpu: Option<Gpu>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A kernel of the catalogue, as built for a GPU.
#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    symbol: &'static str,
    gpu: &'static str,
    input: &'static str,
    output: &'static str,
    accumulator: &'static str,
    tile: [usize; 3],
    block: [usize; 2],
    /// How tiles are assigned to workgroups.
    order: &'static str,
    /// How A and B are read.
    access: &'static str,
    /// How many workgroups share a tile.
    reduction: &'static str,
    /// Vector registers per work-item; from gfx90a on, VGPRs and AGPRs together.
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    lds_bytes: usize,
    waves_per_simd: u32,
    limited_by: Vec<String>,
}

fn rows(only: Option<Gpu>) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for gpu in embedded::gpus() {
        if only.is_some_and(|only| only != gpu) {
            continue;
        }
        let Some(bytes) = embedded::code_object(gpu.name()) else {
            continue;
        };
        let object = CodeObject::parse(bytes).map_err(Failure::failed)?;
        for kernel in CATALOGUE {
            let Some(built) = object.kernel(kernel.symbol) else {
                continue;
            };
            let resources = built.resources(kernel.block.threads() as u32, kernel.lds_bytes as u32);
            let occupancy = Occupancy::of(gpu, resources);
            rows.push(Row {
                kernel: kernel.variant.name(),
                symbol: kernel.symbol,
                gpu: gpu.name(),
                input: kernel.types.name(),
                output: kernel.types.output.name(),
                accumulator: kernel.types.accumulator.name(),
                tile: [kernel.tile.m, kernel.tile.n, kernel.tile.k],
                block: [kernel.block.x, kernel.block.y],
                order: match kernel.order {
                    TileOrder::Plane => "plane",
                    TileOrder::Linear => "linear",
                },
                access: match kernel.access {
                    Access::Elements => "elements",
                    Access::Wide => "wide",
                    Access::WideAlongK => "wide along k",
                },
                reduction: match kernel.reduction {
                    Reduction::None => "none",
                    Reduction::SplitK => "split k",
                    Reduction::StreamK => "stream k",
                },
                vgprs: built.metadata.vgpr_count,
                agprs: built.metadata.agpr_count.unwrap_or(0),
                sgprs: built.metadata.sgpr_count,
                lds_bytes: kernel.lds_bytes,
                waves_per_simd: occupancy.waves_per_simd,
                limited_by: occupancy.limiters(),
            });
        }
    }
    Ok(rows)
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if let Some(gpu) = options.gpu
        && !embedded::gpus().contains(&gpu)
    {
        let built: Vec<_> = embedded::gpus().iter().map(|gpu| gpu.name()).collect();
        let built = built.join(", ");
        let with_kernels = gpus_with_kernels();
        return Err(Failure::failed(match with_kernels.contains(gpu.name()) {
            true => format!(
                "the kernels are not built for {gpu}, only for {built}; build with FERROWAVE_GPUS={gpu} set"
            ),
            false => format!("there are no kernels for {gpu} yet, only for {with_kernels}"),
        }));
    }
    let rows = rows(options.gpu)?;
    if options.json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Columns::new(&[
        "kernel",
        "GPU",
        "types",
        "tile m×n×k:",
        "block:",
        "order",
        "access",
        "parts",
        "VGPRs:",
        "AGPRs:",
        "SGPRs:",
        "LDS [B]:",
        "waves/SIMD:",
        "limited by",
    ]);
    for row in &rows {
        table.row([
            row.kernel.to_owned(),
            row.gpu.to_owned(),
            format!("{} → {}", row.input, row.output),
            row.tile.map(|extent| extent.to_string()).join("×"),
            row.block.map(|extent| extent.to_string()).join("×"),
            row.order.to_owned(),
            row.access.to_owned(),
            row.reduction.to_owned(),
            row.vgprs.to_string(),
            row.agprs.to_string(),
            row.sgprs.to_string(),
            row.lds_bytes.to_string(),
            row.waves_per_simd.to_string(),
            row.limited_by.join(", "),
        ]);
    }
    print(&table)?;
    Ok(ExitCode::SUCCESS)
}
