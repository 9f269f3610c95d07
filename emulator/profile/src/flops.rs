//! Operations that an instruction stands for.
//!
//! As AMD's documentation of ROCm Compute Profiler has it («FLOP counting conventions»): an addition, a multiplication or a
//! transcendental function is one, a multiplication with addition is two; conversions, comparisons, minima and maxima,
//! rounding and the steps of a division that only scale are none. Here a lane that is off does nothing, and products of
//! sparse matrices have the operations of the elements that are there, which are half of K.

use ferrowave_isa::{Category, Instruction};

/// Operations of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Floating-point operations of a lane.
    pub(super) lane_flops: u64,
    /// Integer operations of a lane, in dot products.
    pub(super) lane_integer_operations: u64,
    /// Floating-point operations of the wave on its matrix core, whatever lanes are active.
    pub(super) matrix_flops: u64,
    /// Integer operations of the wave on its matrix core.
    pub(super) matrix_integer_operations: u64,
}

impl Work {
    pub(super) fn of(instruction: &Instruction) -> Self {
        let [flops, integers] = instruction.operations();
        match instruction.category() {
            Category::Matrix => Work {
                matrix_flops: flops,
                matrix_integer_operations: integers,
                ..Work::default()
            },
            _ => Work {
                lane_flops: flops,
                lane_integer_operations: integers,
                ..Work::default()
            },
        }
    }
}
