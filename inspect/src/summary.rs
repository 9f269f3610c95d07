//! What a compiler made of a kernel.

use ferrowave_code_object::{CodeObject, Kernel, ValueKind};
use ferrowave_gpu::Occupancy;
use ferrowave_isa::Format;
use serde::Serialize;

use crate::{KernelParameter, code, parameters};

/// A compiled kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelSummary {
    /// Its name.
    pub kernel: String,
    /// The target that it was compiled for, with its features.
    pub gpu: String,
    /// What it takes.
    pub arguments: Vec<ArgumentSummary>,
    /// Vector registers per work-item; from gfx90a on, VGPRs and AGPRs together.
    pub vgprs: u32,
    /// AGPRs per work-item.
    pub agprs: u32,
    /// Scalar registers per wave.
    pub sgprs: u32,
    /// LDS of a workgroup, without what a launch adds.
    pub lds_bytes: u32,
    /// Scratch per work-item.
    pub scratch_bytes: u32,
    /// Spilled vector registers, if the compiler says so.
    pub vgpr_spills: Option<u32>,
    /// Spilled scalar registers, if the compiler says so.
    pub sgpr_spills: Option<u32>,
    /// `flat_` instructions: their address space is not known to the compiler.
    pub flat_instructions: usize,
    /// Length of the kernel's own code.
    pub code_bytes: u64,
    /// The largest workgroup that it allows, in work-items.
    pub max_workgroup_size: u32,
    /// The workgroup size that the occupancy is for.
    pub workgroup_size: u32,
    /// Waves that a SIMD holds at a time.
    pub waves_per_simd: u32,
    /// Workgroups that a compute unit holds at a time.
    pub workgroups_per_compute_unit: u32,
    /// What limits the occupancy.
    pub limited_by: Vec<String>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct ArgumentSummary {
    /// Its name, if it is known.
    pub name: Option<String>,
    /// `value`, `buffer`, or the metadata's word.
    pub kind: String,
    /// The type in the source, if the code object's debug information has types.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// Its offset in the kernarg segment.
    pub offset: u32,
    /// Its size.
    pub size_bytes: u32,
}

impl KernelSummary {
    /// Describes a kernel. The occupancy is for workgroups of `workgroup_size` work-items, with `dynamic_lds_bytes` in
    /// addition to the kernel's own LDS.
    ///
    /// # Errors
    /// If the file does not contain the kernel's code.
    pub fn of(
        object: &CodeObject,
        kernel: &Kernel,
        workgroup_size: u32,
        dynamic_lds_bytes: u32,
    ) -> Result<Self, String> {
        let metadata = &kernel.metadata;
        let resources = kernel.resources(workgroup_size, dynamic_lds_bytes);
        let occupancy = Occupancy::of(object.target().gpu, resources);
        let lines = code(object, kernel.code.clone())?;
        let instructions = lines.iter().filter_map(|line| line.instruction);
        let flat = instructions.filter(|instruction| instruction.format == Format::Flat);
        let parameters = parameters(object, kernel);
        Ok(KernelSummary {
            kernel: metadata.name.clone(),
            gpu: object.target().to_string(),
            arguments: parameters.iter().map(ArgumentSummary::of).collect(),
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
}

impl ArgumentSummary {
    fn of(parameter: &KernelParameter) -> Self {
        ArgumentSummary {
            name: parameter.name().map(str::to_owned),
            kind: match parameter.value_kind() {
                ValueKind::ByValue => "value".to_owned(),
                ValueKind::GlobalBuffer => "buffer".to_owned(),
                other => other.as_str().to_owned(),
            },
            type_name: parameter.type_name().map(str::to_owned),
            offset: parameter.offset() as u32,
            size_bytes: parameter.bytes() as u32,
        }
    }
}
