//! What the levels of host instructions have in common.

use iced_x86::{Code as X, MemoryOperand, Register as R};

use super::emitter::Emitter;
use crate::exec::jit::ir::{Operator, Relation};

/// A source of a host instruction.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Register(usize),
    Memory(MemoryOperand),
}

/// Where a load's lanes find their addresses: bytes from a base.
#[derive(Clone, Copy)]
pub(super) enum Addresses {
    /// In [`Vectors::DISTANCE`].
    Register,
    /// In memory, a dword each, at a displacement from `rsp`.
    Stack(i64),
}

/// How a product and a sum use the register of the result.
#[derive(Clone, Copy)]
pub(super) enum Fused {
    /// It has the summand.
    Sum,
    /// It has a factor; the second source is the summand.
    Factor,
}

/// Vector instructions of a level of host instructions. Registers have numbers.
///
/// One register of the host, the mask, has a bit per lane for the instructions that select lanes.
pub(super) trait Vectors {
    /// Lanes of a register.
    const LANES: usize;
    /// Registers that hold values, from 0 on; those from [`SPARE`](Self::SPARE) on are scratch registers of single
    /// instructions.
    const HELD: usize;
    const SPARE: usize = Self::HELD;
    /// Holds the lanes' distances from the beginning of an allocation, during a load.
    const DISTANCE: usize = Self::HELD + 1;
    /// Another scratch register.
    const NEXT: usize = Self::HELD + 2;

    /// Copies 64 bits of memory to all pairs of lanes, and 128 bits to all groups of four.
    const SPREAD_64: X;
    const SPREAD_128: X;
    /// Copies lanes within each group of four.
    const SHUFFLE: X;

    fn register(number: usize) -> R;

    /// Copies memory into a register.
    fn fill(out: &mut Emitter, to: usize, memory: MemoryOperand) -> Option<()>;
    fn store(out: &mut Emitter, memory: MemoryOperand, from: usize) -> Option<()>;
    fn copy(out: &mut Emitter, to: usize, from: usize) -> Option<()>;
    /// Copies lane 0 to all lanes.
    fn spread_first(out: &mut Emitter, to: usize, from: usize) -> Option<()>;
    /// Copies lane 0 to `eax`.
    fn first(out: &mut Emitter, from: usize) -> Option<()>;

    /// An operator of two sources that is a host instruction.
    fn binary(
        out: &mut Emitter,
        operator: Operator,
        result: usize,
        first: usize,
        second: Source,
    ) -> Option<()>;
    fn fma(
        out: &mut Emitter,
        form: Fused,
        result: usize,
        first: usize,
        second: Source,
    ) -> Option<()>;
    /// The upper halves of products.
    fn mul_high(out: &mut Emitter, result: usize, a: usize, b: usize) -> Option<()>;

    /// Sets the mask where a relation holds.
    fn compare(out: &mut Emitter, first: usize, relation: Relation, second: Source) -> Option<()>;
    /// Sets the mask where lanes are 1, not 0.
    fn test(out: &mut Emitter, flags: usize) -> Option<()>;
    /// Sets the mask to bits in memory.
    fn load_mask(out: &mut Emitter, bits: MemoryOperand) -> Option<()>;
    fn store_mask(out: &mut Emitter, bits: MemoryOperand) -> Option<()>;
    /// 1 in the lanes of the mask, 0 in the others.
    fn flags(out: &mut Emitter, result: usize) -> Option<()>;
    /// Lanes of the second source where the mask is 1, else of the first.
    fn blend(out: &mut Emitter, result: usize, first: usize, second: Source) -> Option<()>;

    /// Before a chunk: no lane was NaN.
    fn forget_nans(out: &mut Emitter) -> Option<()>;
    fn note_nans(out: &mut Emitter, register: usize) -> Option<()>;
    /// Leaves the chunk to the operations if a lane was NaN.
    fn leave_if_nan(out: &mut Emitter) -> Option<()>;

    /// Leaves the chunk to the operations if a lane is above `eax`.
    fn leave_if_above(out: &mut Emitter, lanes: usize) -> Option<()>;
    /// Adds the two halves of a 64-bit number to addresses of 32 or 64 bits, which gives [`DISTANCE`](Self::DISTANCE). Leaves the
    /// chunk to the operations if a sum has more than 32 bits or is above the limit.
    fn check_distances(
        out: &mut Emitter,
        low: usize,
        high: Option<usize>,
        number: [MemoryOperand; 2],
        limit: MemoryOperand,
    ) -> Option<()>;
    /// Stores whether two registers are equal, as a byte.
    fn all_equal(out: &mut Emitter, a: usize, b: usize, fact: MemoryOperand) -> Option<()>;

    /// Loads contiguous lanes of one, two or four dwords, the first lane at `r10` plus an offset. Each piece of memory is read
    /// once: a second read might see what another host thread has stored meanwhile.
    fn load_row(out: &mut Emitter, offset: i64, results: &[Option<usize>]) -> Option<()>;
    /// Whether [`gather`](Self::gather) takes the addresses of lanes of this many dwords from the stack.
    fn gathers_from_stack(dwords: usize) -> bool;
    /// Loads lanes wherever they are: at their address plus a base and an offset.
    fn gather(
        out: &mut Emitter,
        base: R,
        offset: i64,
        addresses: Addresses,
        results: &[Option<usize>],
    ) -> Option<()>;
    /// The functions that the code calls.
    fn finish(out: &mut Emitter) -> Option<()>;
}
