//! The static timing properties of an instruction.

use ferrowave_gpu::{Family, Gpu, GpuLimits};

use super::parameters::Parameters;
use ferrowave_emulator::exec::{Code, Facts};
use ferrowave_isa::{
    Category, Counter, Effect, Instruction, Op, Rate, Register, Role, Source, WaitCounts,
};

/// The counters of vector memory: `vmcnt`, that of stores, that of samples. A GPU may have only the first.
pub(super) const VECTOR_COUNTERS: [Counter; 3] = [Counter::Vm, Counter::Vs, Counter::Sample];

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

/// What an instruction does at the workgroup's barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtBarrier {
    /// It arrives.
    Signals,
    /// It waits for all waves to arrive.
    Waits,
    /// Both.
    SignalsAndWaits,
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
    /// Cycles for which the transcendental unit is busy, which runs beside the vector unit (RDNA).
    pub(super) transcendental: u64,
    /// Cycles from issue until the result can be read.
    pub(super) latency: u64,
    /// Like `latency`, for the next matrix instruction's accumulator if it is the same registers.
    pub(super) chained: u64,
    pub(super) reads: Vec<Range>,
    pub(super) writes: Vec<Range>,
    /// Third source of a matrix instruction.
    pub(super) accumulator: Option<Range>,
    pub(super) wait: Option<WaitCounts>,
    /// The maxima of [`VECTOR_COUNTERS`].
    pub(super) most_in_flight: [u32; 3],
    /// Which of them counts it, if it is a vector memory instruction.
    pub(super) vector_counter: usize,
    /// Whether it is a memory instruction that vector instructions have to have finished with its registers for.
    pub(super) waits_for_vector: bool,
    /// Cycles for which such an instruction has to wait after this one.
    pub(super) uses_for: u64,
    /// Whether it takes no turn: it only says when others can issue.
    pub(super) is_hint: bool,
    /// What it does at the barrier.
    pub(super) at_barrier: Option<AtBarrier>,
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
        let (gpu, pipeline) = (parameters.hardware.gpu, parameters.pipeline);
        let turn = pipeline.turn;
        // RDNA executes waves of 64 lanes in two halves.
        let halves = u64::from(code.lanes() / GpuLimits::of(gpu).wave_size);
        let mut transcendental = 0;
        let (busy, latency) = match unit {
            Unit::Vector => {
                let rate = instruction.rate();
                let cycles = vector_cycles(rate, parameters);
                match gpu.family() {
                    Family::Cdna => (cycles, cycles),
                    Family::Rdna if rate == Rate::Trans => {
                        transcendental = halves * cycles;
                        (halves, rdna_latency(rate).max(transcendental))
                    }
                    Family::Rdna => (halves * cycles, rdna_latency(rate).max(halves * cycles)),
                }
            }
            Unit::Matrix => {
                let cycles = PASS * instruction.passes(gpu);
                (cycles, cycles + after_matrix(gpu))
            }
            Unit::Scalar => (turn, pipeline.scalar_result_cycles),
            _ => (turn, turn),
        };
        let accumulator = (unit == Unit::Matrix)
            .then(|| ferrowave_isa::registers(instruction.addend()))
            .flatten()
            .filter(|registers| registers.first.is_vector())
            .map(range);
        Timed {
            unit,
            busy,
            transcendental,
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
            most_in_flight: {
                let counters = GpuLimits::of(gpu).wait_counters;
                [counters.vm, counters.vs, counters.sample]
            },
            vector_counter: {
                let counts = |counter| instruction.counters().contains(counter);
                VECTOR_COUNTERS.iter().position(counts).unwrap_or(0)
            },
            waits_for_vector: matches!(unit, Unit::VectorMemory | Unit::Lds)
                && pipeline.vector_to_memory_cycles > 0,
            uses_for: match unit {
                Unit::Vector | Unit::Matrix => pipeline.vector_to_memory_cycles,
                _ => 0,
            },
            is_hint: instruction.is_hint(),
            at_barrier: match instruction.op {
                Op::s_barrier_signal | Op::s_barrier_signal_isfirst => Some(AtBarrier::Signals),
                Op::s_barrier_wait => Some(AtBarrier::Waits),
                _ => (unit == Unit::Barrier).then_some(AtBarrier::SignalsAndWaits),
            },
            wait: (unit == Unit::Wait).then(|| WaitCounts::of(code.instruction(index))),
            pause: match instruction.op {
                Op::s_nop => turn * instruction.idle_turns(),
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

/// Cycles of a pass in the matrix core.
const PASS: u64 = 4;

/// Cycles after a matrix instruction's passes until any instruction may read its result: on CDNA the wait states that
/// LLVM's `GCNHazardRecognizer` inserts, on RDNA as after a vector instruction's cycle.
fn after_matrix(gpu: Gpu) -> u64 {
    match (gpu, gpu.family()) {
        (Gpu::Gfx908, _) => 8,
        (_, Family::Cdna) => 12,
        (_, Family::Rdna) => rdna_latency(Rate::Full) - 1,
    }
}

/// Cycles from a vector instruction to its result (LLVM's `SISchedule.td`, `GFX11SpeedModel`, which GFX12 has, too).
const fn rdna_latency(rate: Rate) -> u64 {
    match rate {
        Rate::Full => 5,
        Rate::Wide => 6,
        Rate::Mul32 | Rate::Mul64 => 8,
        Rate::Trans => 10,
        Rate::F64 => 38,
        Rate::Trans64 => 40,
    }
}

/// Cycles of a vector instruction on the 16 lanes of a SIMD of CDNA (LLVM's `SISchedule.td`: integer products are slow on
/// gfx908; from gfx90a on they are not, and f64 runs at its full rate), or on the 32 lanes of RDNA ([`super::parameters`]).
fn vector_cycles(rate: Rate, parameters: &Parameters) -> u64 {
    let turn = parameters.pipeline.turn;
    match (rate, parameters.hardware.gpu.family()) {
        (Rate::Full, _) => turn,
        (Rate::Wide, _) => 2 * turn,
        (Rate::Trans, _) => parameters.pipeline.transcendental_cycles,
        (Rate::Trans64, Family::Cdna) => 4 * parameters.integer_product_cycles.max(turn),
        (Rate::F64, _) | (Rate::Trans64, Family::Rdna) => parameters.double_cycles,
        (Rate::Mul32, _) => parameters.integer_product_cycles,
        (Rate::Mul64, _) => parameters.integer_product_cycles.max(2 * turn),
    }
}

fn range(registers: ferrowave_isa::Registers) -> Range {
    let first = registers.first.0.min(Register::COUNT as u16 - 1);
    Range {
        first,
        count: registers.count.min(Register::COUNT as u16 - first),
    }
}
