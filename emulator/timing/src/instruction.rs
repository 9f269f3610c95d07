//! The static timing properties of an instruction.

use ferrowave_gpu::{Family, Gpu, GpuLimits};

use super::parameters::Parameters;
use ferrowave_emulator::exec::{Code, Facts};
use ferrowave_isa::{
    Category, Counter, Effect, Instruction, Op, Operand, Rate, Register, Role, Source, WaitCounts,
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

impl Range {
    pub(super) const fn is_vector(&self) -> bool {
        Register(self.first).is_vector()
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

/// The vector registers of RDNA's operands: three of an instruction and two of a pair's second, whose third is not read
/// through the cache.
pub(super) type Operands = [Option<u16>; 5];

/// Consecutive registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) count: u16,
}

/// What an instruction of a wave waits for because of an `s_delay_alu` or `s_wait_alu` before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    Nothing,
    /// The result of the wave's last vector instruction but so many, transcendental ones not counted.
    Vector(usize),
    /// The result of the last transcendental one but so many.
    Transcendental(usize),
    /// The result of the last scalar instruction.
    Scalar,
    /// That all scalar instructions are done.
    Scalars,
    /// That vector instructions have written and read all scalars.
    ScalarsOfVectors,
}

/// Such a wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delayed {
    pub(super) awaited: Awaited,
    /// Instructions between it and the one that waits.
    pub(super) skipped: u16,
}

impl Delayed {
    pub(super) const NOTHING: Delayed = Delayed {
        awaited: Awaited::Nothing,
        skipped: 0,
    };

    /// Those of `s_delay_alu` (RDNA 3 ISA).
    fn of_delay(constant: u16) -> [Delayed; 2] {
        let awaited = |id: u16| match usize::from(id & 0xf) {
            id @ 1..=4 => Awaited::Vector(id - 1),
            id @ 5..=7 => Awaited::Transcendental(id - 5),
            9..=11 => Awaited::Scalar,
            _ => Awaited::Nothing,
        };
        [(constant, 0), (constant >> 7, constant >> 4 & 7)].map(|(id, skipped)| Delayed {
            awaited: awaited(id),
            skipped,
        })
    }

    /// Those of `s_wait_alu` that take time (LLVM's `AMDGPUBaseInfo`: the places of `sa_sdst`, and of `va_vcc`, `va_ssrc` and
    /// `va_sdst`).
    fn of_wait(constant: u16) -> [Delayed; 2] {
        let is_zero = |mask: u16| constant & mask == 0;
        let vector = is_zero(1 << 1) || is_zero(1 << 8) || is_zero(7 << 9);
        [
            (is_zero(1), Awaited::Scalars),
            (vector, Awaited::ScalarsOfVectors),
        ]
        .map(|(waits, awaited)| Delayed {
            awaited: if waits { awaited } else { Awaited::Nothing },
            skipped: 0,
        })
    }
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
    /// Whether it is a transcendental vector instruction.
    pub(super) is_transcendental: bool,
    /// Whether it reads scalar registers.
    pub(super) reads_scalars: bool,
    /// The vector registers that it reads as its operands, and as those of the second instruction of a pair.
    pub(super) operands: Operands,
    /// The waits of `s_delay_alu` and `s_wait_alu`.
    pub(super) delays: Option<[Delayed; 2]>,
    /// Whether it takes no turn: it only says when others can issue.
    pub(super) is_hint: bool,
    /// Whether it ends the wave.
    pub(super) is_end: bool,
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
    /// Whether the vector unit, or the matrix core behind it, executes it.
    pub(super) const fn is_vector(&self) -> bool {
        matches!(self.unit, Unit::Vector | Unit::Matrix)
    }

    /// Whether it is a memory instruction with operands in vector registers.
    pub(super) const fn is_vector_memory(&self) -> bool {
        matches!(self.unit, Unit::VectorMemory | Unit::Lds)
    }

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
        let accumulator = (unit == Unit::Matrix)
            .then(|| ferrowave_isa::registers(instruction.addend()))
            .flatten()
            .filter(|registers| registers.first.is_vector())
            .map(range);
        let reads: Vec<Range> = facts
            .uses
            .reads
            .iter()
            .filter(|read| read.role != Role::Exec || unit == Unit::Branch)
            .map(|read| range(read.registers))
            .filter(|range| accumulator.is_none_or(|a| a.first != range.first))
            .collect();
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
                    Family::Rdna => {
                        let latency = match reads.iter().any(Range::is_vector) {
                            true => rdna_latency(rate),
                            false => rdna_latency(rate) - WITHOUT_OPERANDS,
                        };
                        (halves * cycles, latency.max(halves * cycles))
                    }
                }
            }
            Unit::Matrix => {
                let cycles = PASS * instruction.passes(gpu);
                (cycles, cycles + after_matrix(gpu))
            }
            Unit::Scalar => (turn, pipeline.scalar_result_cycles),
            _ => (turn, turn),
        };
        Timed {
            unit,
            busy,
            transcendental,
            latency,
            chained: busy,
            operands: operands(instruction, unit),
            reads_scalars: reads.iter().any(|range| !range.is_vector()),
            reads,
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
            is_transcendental: transcendental > 0,
            delays: match (instruction.delays(), instruction.waits_for_alus()) {
                (Some(constant), _) => Some(Delayed::of_delay(constant)),
                (_, Some(constant)) => Some(Delayed::of_wait(constant)),
                _ => None,
            },
            is_hint: instruction.is_hint(),
            is_end: instruction.op == Op::s_endpgm,
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

/// What the vector unit reads, of instructions that read 32 bits for each operand.
fn operands(instruction: &Instruction, unit: Unit) -> Operands {
    let register = |operand: &Operand| match operand.source {
        Source::Vgpr(register) => Some(register),
        _ => None,
    };
    let [a, b, c, _] = &instruction.src;
    match &instruction.second {
        _ if unit != Unit::Vector || instruction.rate() != Rate::Full => [None; 5],
        Some(second) => {
            let [y_a, y_b] = [0, 1].map(|place| second.src.get(place).and_then(register));
            [register(a), register(b), None, y_a, y_b]
        }
        None => [register(a), register(b), register(c), None, None],
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

/// Cycles that the result of a vector instruction of RDNA is earlier if it reads no vector register: captures of RX 7900 XTX
/// ([`super::parameters`]).
const WITHOUT_OPERANDS: u64 = 2;

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
