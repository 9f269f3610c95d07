//! Reports on compiled kernels.

use ferrowave_code_object::{CodeObject, Kernel, SourceLocation};
use ferrowave_gpu::{Gpu, Occupancy};

use crate::{Disassembled, Toolchain, tool::ToolError};

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelReport {
    /// The GPU that it is compiled for.
    pub gpu: Gpu,
    /// The kernel's name.
    pub name: String,
    /// Vector registers; on gfx90a and later, VGPRs and AGPRs together.
    pub vgprs: u32,
    /// Accumulation VGPRs, if the compiler says.
    pub agprs: Option<u32>,
    /// Scalar registers, including VCC and other special registers.
    pub sgprs: u32,
    /// LDS of a workgroup in bytes, without what a launch adds.
    pub lds_bytes: u32,
    /// Scratch of a work-item in bytes.
    pub scratch_bytes: u32,
    /// Whether the scratch size is a guess, because it depends on calls.
    pub uses_dynamic_stack: bool,
    /// Scalar registers spilled, if the compiler says.
    pub sgpr_spills: Option<u32>,
    /// Vector registers spilled, if the compiler says.
    pub vgpr_spills: Option<u32>,
    /// The largest workgroup in work-items.
    pub max_workgroup_size: u32,
    /// Occupancy with the largest workgroup and no LDS added by the launch.
    pub occupancy: Occupancy,
    /// Size of the code in bytes.
    pub code_bytes: u64,
    /// `flat_` instructions in the kernel. The compiler does not know whether their addresses are in global memory, LDS
    /// or scratch, so the hardware decides for each lane.
    pub flat: Vec<FlaggedInstruction>,
    /// Instructions in the kernel that access scratch.
    pub scratch: Vec<FlaggedInstruction>,
}

/// An instruction that a policy may refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlaggedInstruction {
    /// Its address, relative to the load address.
    pub address: u64,
    /// Its text, as LLVM prints it.
    pub text: String,
    /// Its source lines, if the code object has line tables; the innermost of inlined calls first.
    pub source: Vec<SourceLocation>,
}

/// Reports on all kernels of a code object, in the metadata's order.
///
/// # Errors
/// If the disassembler fails.
pub fn inspect(
    toolchain: &Toolchain,
    code_object: &CodeObject,
) -> Result<Vec<KernelReport>, ToolError> {
    let listing = toolchain.disassemble(code_object.bytes())?;
    Ok(code_object
        .kernels()
        .iter()
        .map(|kernel| report(code_object, kernel, &listing))
        .collect())
}

fn report(code_object: &CodeObject, kernel: &Kernel, listing: &[Disassembled]) -> KernelReport {
    let gpu = code_object.target().gpu;
    let metadata = &kernel.metadata;
    let flagged = |wanted: &dyn Fn(&str) -> bool| -> Vec<FlaggedInstruction> {
        let start = listing.partition_point(|line| line.address < kernel.code.start);
        listing[start..]
            .iter()
            .take_while(|line| line.address < kernel.code.end)
            .filter(|line| wanted(&line.text))
            .map(|line| FlaggedInstruction {
                address: line.address,
                text: line.text.clone(),
                source: code_object.lines().frames(line.address),
            })
            .collect()
    };
    KernelReport {
        gpu,
        name: metadata.name.clone(),
        vgprs: metadata.vgpr_count,
        agprs: metadata.agpr_count,
        sgprs: metadata.sgpr_count,
        lds_bytes: metadata.group_segment_fixed_size,
        scratch_bytes: metadata.private_segment_fixed_size,
        uses_dynamic_stack: metadata.uses_dynamic_stack,
        sgpr_spills: metadata.sgpr_spill_count,
        vgpr_spills: metadata.vgpr_spill_count,
        max_workgroup_size: metadata.max_flat_workgroup_size,
        occupancy: Occupancy::of(gpu, kernel.resources(metadata.max_flat_workgroup_size, 0)),
        code_bytes: kernel.code.end - kernel.code.start,
        flat: flagged(&|text| text.starts_with("flat_")),
        scratch: flagged(&|text| accesses_scratch(kernel, text)),
    }
}

/// Whether an instruction accesses scratch. On gfx908 and gfx90a, which have no scratch instructions for it, a kernel
/// uses the buffer resource in its first four registers; a kernel without scratch may keep another one there.
fn accesses_scratch(kernel: &Kernel, text: &str) -> bool {
    text.starts_with("scratch_")
        || kernel.metadata.private_segment_fixed_size > 0
            && kernel.descriptor.user_sgprs.private_segment_buffer
            && text.starts_with("buffer_")
            && text.contains(", s[0:3], ")
}
