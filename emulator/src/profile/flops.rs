//! Operations that an instruction stands for, which its name and its result tell.
//!
//! As AMD's documentation of ROCm Compute Profiler has it («FLOP counting conventions»): an addition, a multiplication or a
//! transcendental function is one, a multiplication with addition is two; conversions, comparisons, minima and maxima,
//! rounding and the steps of a division that only scale are none. Here a lane that is off does nothing, and products of
//! sparse matrices have the operations of the elements that are there, which are half of K.

use crate::isa::{Category, Instruction};

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
        match instruction.category() {
            Category::Matrix => matrix(instruction),
            Category::Vector => vector(instruction),
            _ => Work::default(),
        }
    }
}

/// Every element of D is a sum of as many products as the name's third extent says.
fn matrix(instruction: &Instruction) -> Work {
    let name = instruction.op.name();
    let mut parts = name.split('_').skip(2).filter(|part| *part != "scale");
    let Some(result) = parts.next() else {
        return Work::default();
    };
    let extent = parts.next().and_then(|extents| extents.split('x').nth(2));
    let digits = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let Some(depth) = extent.and_then(|text| digits(text).parse::<u64>().ok()) else {
        return Work::default();
    };
    let element_bits = if result == "f64" { 64 } else { 32 };
    let elements = 64 * u64::from(instruction.dst.bits) / element_bits;
    let products = match name.starts_with("v_smfmac") {
        true => elements * depth / 2,
        false => elements * depth,
    };
    match result.starts_with('i') {
        true => Work {
            matrix_integer_operations: 2 * products,
            ..Work::default()
        },
        false => Work {
            matrix_flops: 2 * products,
            ..Work::default()
        },
    }
}

fn vector(instruction: &Instruction) -> Work {
    let name = instruction.op.name();
    let rest = name.strip_prefix("v_").unwrap_or(name);
    if let Some(dot) = rest.strip_prefix("dot") {
        let products: u64 = dot.get(..1).and_then(|n| n.parse().ok()).unwrap_or(0);
        return match rest.contains("_f32") {
            true => Work {
                lane_flops: 2 * products,
                ..Work::default()
            },
            false => Work {
                lane_integer_operations: 2 * products,
                ..Work::default()
            },
        };
    }
    let is_float = ["_f16", "_f32", "_f64"].iter().any(|ty| rest.ends_with(ty));
    if !is_float {
        return Work::default();
    }
    let (rest, elements) = match rest.strip_prefix("pk_") {
        Some(rest) => (rest, 2),
        None => (rest, 1),
    };
    let operation = rest.split('_').next().unwrap_or_default();
    let each = match operation {
        "add" | "sub" | "subrev" | "mul" => 1,
        "fma" | "fmac" | "fmaak" | "fmamk" | "mad" | "mac" | "madak" | "madmk" => 2,
        // The last step of a division multiplies and adds; the others scale and patch.
        "div" if rest.starts_with("div_fmas") => 2,
        _ if instruction.is_transcendental() => 1,
        _ => 0,
    };
    Work {
        lane_flops: elements * each,
        ..Work::default()
    }
}
