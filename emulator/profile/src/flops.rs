//! The operations that an instruction counts for.
//!
//! Counting follows AMD's documentation of ROCm Compute Profiler («FLOP counting conventions»): an addition, a
//! multiplication or a transcendental function is one operation, a multiplication with addition two; conversions,
//! comparisons, minima and maxima, rounding and the scaling steps of a division are none. Inactive lanes do not count.
//! Products of sparse matrices count only the elements that are present: half of K.

use ferrowave_isa::{Category, Instruction};

/// The operations of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Floating-point operations per lane.
    pub(super) lane_flops: u64,
    /// Integer operations per lane, in dot products.
    pub(super) lane_integer_operations: u64,
    /// Floating-point operations per wave on its matrix core, regardless of active lanes.
    pub(super) matrix_flops: u64,
    /// Integer operations per wave on its matrix core.
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
