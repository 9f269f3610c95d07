//! The static timing properties of an instruction.

use ferrowave_gpu::{Gpu, GpuLimits};

use super::parameters::{Parameters, TURN};
use ferrowave_emulator::exec::{Code, Facts};
use ferrowave_isa::{Category, Effect, Instruction, Op, Rate, Register, Role, Source, WaitCounts};

/// The unit that executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Vector arithmetic.
    Vector,
    /// The SIMD's matrix core; it shares the vector unit's port.
    Matrix,
    /// Scalar arithmetic.
    Scalar,
    /// Scalar memory.
    ScalarMemory,
    /// Vector memory.
    VectorMemory,
    /// LDS.
    Lds,
    /// Branches and `s_endpgm`.
    Branch,
    /// `s_barrier`.
    Barrier,
    /// `s_waitcnt`.
    Wait,
    /// `s_nop`, `s_sleep`, `s_setprio` and others that no unit executes.
    Internal,
}

impl Unit {
    /// The number of ports: a SIMD issues one instruction per port in a turn. Instructions without a port do not
    /// compete.
    pub(super) const PORTS: usize = 5;

    /// The port of the unit, if it has one.
    pub(super) const fn port(self) -> Option<usize> {
        Some(match self {
            Unit::Vector | Unit::Matrix => 0,
            Unit::Scalar | Unit::ScalarMemory => 1,
            Unit::VectorMemory => 2,
            Unit::Lds => 3,
            Unit::Branch => 4,
            Unit::Barrier | Unit::Wait | Unit::Internal => return None,
        })
    }
}

/// Consecutive registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) count: u16,
}

/// The timing properties of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) unit: Unit,
    /// Cycles for which its unit is busy.
    pub(super) busy: u64,
    /// Cycles from issue until the result can be read.
    pub(super) latency: u64,
    /// Like `latency`, for the next matrix instruction's accumulator if it is the same registers.
    pub(super) chained: u64,
    pub(super) reads: Vec<Range>,
    pub(super) writes: Vec<Range>,
    /// Third source of a matrix instruction.
    pub(super) accumulator: Option<Range>,
    pub(super) wait: Option<WaitCounts>,
    /// The maximum of `vmcnt`.
    pub(super) most_in_flight: u32,
    /// Cycles for which the wave pauses after it.
    pub(super) pause: u64,
    /// The wave's new priority, for `s_setprio`.
    pub(super) priority: Option<u8>,
    pub(super) effect: Effect,
    /// Whether it moves data from memory to LDS.
    pub(super) to_lds: bool,
    /// Its address in the code, in bytes.
    pub(super) address: u64,
    /// Its size in bytes.
    pub(super) size: u64,
}

impl Timed {
    /// The properties of all instructions in a range.
    pub(super) fn table(
        code: &Code,
        indices: std::ops::Range<u32>,
        parameters: &Parameters,
    ) -> Vec<Option<Timed>> {
        indices
            .map(|index| {
                let facts = code.facts().get(index)?.as_ref()?;
                let instruction = code.instruction(index)?;
                Some(Timed::of(code, index, instruction, facts, parameters))
            })
            .collect()
    }

    fn of(
        code: &Code,
        index: u32,
        instruction: &Instruction,
        facts: &Facts,
        parameters: &Parameters,
    ) -> Timed {
        let unit = match facts.category {
            Category::Vector => Unit::Vector,
            Category::Matrix => Unit::Matrix,
            Category::Scalar => Unit::Scalar,
            Category::ScalarMemory => Unit::ScalarMemory,
            Category::VectorMemory => Unit::VectorMemory,
            Category::Lds => Unit::Lds,
            Category::Branch => Unit::Branch,
            Category::Barrier => Unit::Barrier,
            Category::Wait => Unit::Wait,
            Category::Control => Unit::Internal,
        };
        let immediate = match instruction.src[0].source {
            Source::Literal(value) => u64::from(value),
            _ => 0,
        };
        let (busy, latency) = match unit {
            Unit::Vector => {
                let cycles = vector_cycles(instruction.rate(), parameters);
                (cycles, cycles)
            }
            Unit::Matrix => {
                let passes = instruction.passes(parameters.hardware.gpu);
                (
                    TURN * passes,
                    TURN * (passes + after_matrix(parameters.hardware.gpu)),
                )
            }
            _ => (TURN, TURN),
        };
        let accumulator = (unit == Unit::Matrix)
            .then(|| ferrowave_isa::registers(&instruction.src[2]))
            .flatten()
            .filter(|registers| registers.first.is_vector())
            .map(range);
        Timed {
            unit,
            busy,
            latency,
            chained: busy,
            reads: facts
                .uses
                .reads
                .iter()
                .filter(|read| read.role != Role::Exec || unit == Unit::Branch)
                .map(|read| range(read.registers))
                .filter(|range| accumulator.is_none_or(|a| a.first != range.first))
                .collect(),
            writes: facts.uses.writes.iter().map(|w| range(*w)).collect(),
            accumulator,
            most_in_flight: GpuLimits::of(parameters.hardware.gpu).wait_counters.vm,
            wait: (unit == Unit::Wait).then(|| WaitCounts::of(code.instruction(index))),
            pause: match instruction.op {
                Op::s_nop => TURN * (immediate & 0xf),
                Op::s_sleep => 64 * (immediate & 0x7f),
                _ => 0,
            },
            priority: (instruction.op == Op::s_setprio).then_some(immediate as u8 & 3),
            effect: facts.effect,
            to_lds: facts.to_lds,
            address: code.address_of(index),
            size: u64::from(instruction.size),
        }
    }
}

/// Turns after a matrix instruction's passes until any instruction may read its result: the wait states that LLVM's
/// `GCNHazardRecognizer` inserts.
const fn after_matrix(gpu: Gpu) -> u64 {
    match gpu {
        Gpu::Gfx908 => 2,
        _ => 3,
    }
}

/// Cycles of a vector instruction on the 16 lanes of a SIMD (LLVM's `SISchedule.td`: integer products are slow on
/// gfx908; from gfx90a on they are not, and f64 runs at its full rate).
fn vector_cycles(rate: Rate, parameters: &Parameters) -> u64 {
    match rate {
        Rate::Full => TURN,
        Rate::Trans => 4 * TURN,
        Rate::Trans64 => 4 * parameters.integer_product_cycles.max(TURN),
        Rate::F64 => parameters.double_cycles,
        Rate::Mul32 => parameters.integer_product_cycles,
        Rate::Mul64 => parameters.integer_product_cycles.max(2 * TURN),
    }
}

fn range(registers: ferrowave_isa::Registers) -> Range {
    let first = registers.first.0.min(Register::COUNT as u16 - 1);
    Range {
        first,
        count: registers.count.min(Register::COUNT as u16 - first),
    }
}
