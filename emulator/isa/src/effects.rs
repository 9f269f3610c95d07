//! What an instruction does, as stated in its row: unit, memory, wait counters, rate, operations.

use ferrowave_gpu::Gpu;

use super::ops::NAMES;
use super::row::{Immediate, Rate, Row, flag, place};
use super::run::Run;
use super::{
    Category, Counter, Effect, Extension, Instruction, MatrixControl, Op, Operand, Relative, Source,
};

/// The last of the [formats](Instruction::formats) that have 8 bits: fp8 and bf8.
const LAST_OF_EIGHT_BITS: u8 = 1;

impl Op {
    /// AMD's mnemonic, without the `_e32`, `_e64`, `_sdwa` and `_dpp` endings.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

impl Instruction {
    /// The unit that executes it.
    pub fn category(&self) -> Category {
        self.row.unit
    }

    /// Whether it moves data between vector registers and accumulators. The vector unit executes these.
    pub fn is_accumulator_move(&self) -> bool {
        matches!(
            self.op,
            Op::v_accvgpr_read | Op::v_accvgpr_write | Op::v_accvgpr_mov_b32
        )
    }

    /// Whether it computes a transcendental function, which uses a quarter of the vector unit's lanes.
    pub fn is_transcendental(&self) -> bool {
        matches!(self.rate(), Rate::Trans | Rate::Trans64)
    }

    /// How long it keeps the vector unit busy.
    pub fn rate(&self) -> Rate {
        self.row.rate
    }

    /// Passes of four cycles in the matrix core (LLVM's `SISchedule.td`, `WriteNPassMAI`; RDNA: AMD's peak rates). The last
    /// figure of a row is that of all further GPUs. Products of gfx950's formats of 6 and 4 bits take half as many as those
    /// of which a factor has 8 bits (`PredIsF8_MFMA_SCALE`; AMD's CDNA 4 ISA guide: 16 or 8 passes, 8 or 4).
    pub fn passes(&self, gpu: Gpu) -> u64 {
        let passes = self.row.passes;
        let of_gpu = passes.get(gpu.number_in_family());
        let passes = of_gpu.or(passes.last()).map_or(0, |&passes| passes.into());
        match self.formats() {
            Some([a, b]) if a.min(b) > LAST_OF_EIGHT_BITS => passes / 2,
            _ => passes,
        }
    }

    /// The formats of A and B, if the instruction has fields for them: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4 (gfx950's `f8f6f4`).
    pub fn formats(&self) -> Option<[u8; 2]> {
        let MatrixControl { cbsz, blgp, .. } = self.matrix;
        self.row.has(flag::F8F6F4).then_some([cbsz, blgp])
    }

    /// Whether it only says when later instructions can issue: RDNA's `s_delay_alu` and `s_wait_alu`.
    pub fn is_hint(&self) -> bool {
        matches!(self.row.imm, Immediate::Delay | Immediate::WaitAlu)
    }

    /// The constant of `s_delay_alu`: which earlier results the next instructions wait for.
    pub fn delays(&self) -> Option<u16> {
        self.constant_of(Immediate::Delay)
    }

    /// The constant of `s_wait_alu`: which of its wave's scalar and vector instructions have to be done.
    pub fn waits_for_alus(&self) -> Option<u16> {
        self.constant_of(Immediate::WaitAlu)
    }

    fn constant_of(&self, kind: Immediate) -> Option<u16> {
        match self.src[0].source {
            Source::Literal(constant) if self.row.imm == kind => Some(constant as u16),
            _ => None,
        }
    }

    /// Turns that the wave waits after it, if it is `s_nop`.
    pub fn idle_turns(&self) -> u64 {
        match (self.op, self.row.imm, self.src[0].source) {
            (Op::s_nop, Immediate::Number, Source::Literal(turns)) => u64::from(turns & 0xf),
            _ => 0,
        }
    }

    /// Operations on floats and on integers: per lane, or per wave on the matrix core.
    pub fn operations(&self) -> [u64; 2] {
        let (first, second) = (self.row, self.second.map(|second| second.row));
        let sum = |of: fn(&Row) -> u32| {
            u64::from(of(first.0)) + second.map_or(0, |row| u64::from(of(row.0)))
        };
        [sum(|row| row.flops), sum(|row| row.ops)]
    }

    /// Its effect on memory.
    pub fn effect(&self) -> Effect {
        self.row.memory
    }

    /// The counters that count it while it is in flight.
    pub fn counters(&self) -> &'static [Counter] {
        let row = self.row.0;
        match row.unreturned {
            others if !others.is_empty() && !self.has_result() => others,
            _ => row.counters,
        }
    }

    /// Whether it moves data from memory to LDS, bypassing the registers.
    pub fn loads_to_lds(&self) -> bool {
        self.registers_to_lds() != 0
    }

    /// Registers' worth of data that each lane moves from memory to LDS, bypassing the registers.
    pub fn registers_to_lds(&self) -> u16 {
        let row = self.row;
        match self.memory.lds {
            true => row.dst.bits / 32,
            false => row.to_lds,
        }
    }

    /// The bits of the `index`-th data register that a store writes.
    pub fn stored_bits(&self, index: usize) -> u32 {
        // Rows that leave out bits have at most four registers of data.
        let bits = self.row.takes.checked_shr(32 * index as u32);
        bits.map_or(u32::MAX, |bits| bits as u32)
    }

    /// Whether it returns a result to registers.
    pub fn has_result(&self) -> bool {
        self.dst.source != Source::None
    }

    /// Whether it moves data between lanes.
    pub fn crosses_lanes(&self) -> bool {
        matches!(self.extension, Extension::Dpp(_) | Extension::Dpp8(_))
            || self.row.has(flag::CROSS)
    }

    /// Whether it compares its first two sources.
    pub fn compares(&self) -> bool {
        self.extension == Extension::None && self.row.has(flag::COMPARE)
    }

    /// The registers whose numbers `m0` changes.
    pub fn relative(&self) -> Option<Relative> {
        self.row.relative
    }

    /// Whether it is a dot product on the vector unit.
    pub fn is_dot(&self) -> bool {
        self.row.has(flag::DOT)
    }

    /// Whether MODE may affect it. It may affect all arithmetic on floats, except that of the matrix cores.
    pub fn reads_mode(&self) -> bool {
        let reads = |row: &Row| {
            let mut slots = row.src.iter().chain([&row.dst]);
            let on_floats = slots.any(|slot| slot.ty.is_float());
            let computes = matches!(row.unit, Category::Vector | Category::Scalar);
            row.reads & place::MODE != 0 || computes && on_floats
        };
        reads(&self.row) || self.second.is_some_and(|second| reads(&second.row))
    }

    /// Whether it may change MODE or another hardware register.
    pub fn writes_mode(&self) -> bool {
        self.row.writes & place::MODE != 0
    }

    /// The function of `exec` that runs it.
    pub fn run(&self) -> Run {
        self.row.run
    }

    /// The number of matrix products (blocks) that it computes.
    pub fn blocks(&self) -> u32 {
        self.row.blocks
    }

    /// Whether it multiplies by a sparse matrix.
    pub fn is_sparse(&self) -> bool {
        self.row.has(flag::SPARSE)
    }

    /// What a matrix instruction adds its products to: its third source, or its result if A is sparse.
    pub fn addend(&self) -> &Operand {
        match self.is_sparse() {
            true => &self.dst,
            false => &self.src[2],
        }
    }

    /// Whether it writes `exec` without naming it as an operand.
    pub fn writes_exec(&self) -> bool {
        self.row.writes & place::EXEC != 0
    }

    /// Whether bits of its result may keep their old value.
    pub fn keeps(&self) -> bool {
        self.row.has(flag::KEEPS)
    }

    /// The constant of a branch: words from the next instruction to the target.
    pub fn branch_words(&self) -> Option<i64> {
        if self.row.imm != Immediate::Label {
            return None;
        }
        self.src.iter().find_map(|operand| match operand.source {
            Source::Literal(words) => Some(i64::from(words as i32)),
            _ => None,
        })
    }

    /// Whether it is a barrier or semaphore of the whole launch (global wave sync).
    pub fn is_global_sync(&self) -> bool {
        self.row.has(flag::GWS)
    }
}
