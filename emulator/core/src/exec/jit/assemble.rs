//! Assembles values to host code, with AVX-512 or AVX2: [`Vectors`] has what differs.
//!
//! The code loops over the chunks of a wave. For each chunk it computes everything in host registers, and writes
//! vector registers last, once every check has passed. On a NaN, whose bits on a GPU may differ from the host's, or an
//! address that may not be loaded from, it leaves the chunk unchanged and returns its number.
//!
//! Registers are allocated in the order of the steps. When none is free, the value that is needed last is evicted: to
//! the stack, or nowhere if it is still in the wave's registers, which are not written before the end.

mod avx2;
mod avx512;
mod compute;
mod emitter;
mod loads;
mod registers;
mod vectors;

use std::{collections::BTreeMap, marker::PhantomData};

use iced_x86::{Code as X, Instruction as Host, MemoryOperand, Register as R};

use super::ir::{Address, Id, Region, Step, Written};
use crate::exec::simd::{SimdLevel, U};
use avx2::Avx2;
use avx512::Avx512;
use emitter::Emitter;
use loads::{Fixture, Key, Pattern};
use vectors::{Source, Vectors};

/// Most bytes of values on the stack.
const STACK: usize = 12 << 10;
/// Bytes that the stack may grow by without touching them.
const PAGE: i32 = 4096;

// The arguments, by the System V convention.
const FILE: R = R::RDI;
const SCALARS: R = R::RSI;
const LDS: R = R::RDX;
const LDS_BYTES: R = R::ECX;
const POOL: R = R::R8;
/// Recent allocations.
const RECENT: R = R::R9;
/// [`SCALARS`] plus the byte offset of the chunk's bits in a lane mask.
const MASKS: R = R::R12;
/// The chunk's number.
const CHUNK_NUMBER: R = R::EBX;

/// Host code with its constants.
pub(super) struct Assembled {
    pub(super) code: Vec<u8>,
    pub(super) pool: Vec<U>,
    /// Lanes of a chunk.
    pub(super) lanes: usize,
}

/// The code so far, and where values are.
struct Assembler<'a, V> {
    region: &'a Region,
    /// Chunks of a wave.
    chunks: usize,
    needed: Vec<bool>,
    written: &'a Written,
    out: Emitter,
    /// For each value the steps that use it, the next one last.
    uses: Vec<Vec<usize>>,
    /// The host register of each value.
    place: Vec<Option<usize>>,
    holds: Vec<Option<Id>>,
    /// The stack slot of each value.
    slot: Vec<Option<usize>>,
    free_slots: Vec<usize>,
    /// Slots that the current step may still read.
    left_slots: Vec<usize>,
    slots: usize,
    patterns: BTreeMap<Key, Pattern>,
    /// By the load's number, for loads from global memory.
    fixtures: BTreeMap<u32, Fixture>,
    vectors: PhantomData<V>,
}

/// Assembles host code of a level for a region of waves of `lanes` lanes; `None` if it does not fit, or if there is none for the
/// level.
pub(super) fn assemble(
    region: &Region,
    written: &Written,
    lanes: usize,
    level: SimdLevel,
) -> Option<Assembled> {
    match level {
        SimdLevel::Portable => None,
        SimdLevel::Avx2 => assemble_with::<Avx2>(region, written, lanes),
        SimdLevel::Avx512 => assemble_with::<Avx512>(region, written, lanes),
    }
}

fn assemble_with<V: Vectors>(
    region: &Region,
    written: &Written,
    lanes: usize,
) -> Option<Assembled> {
    let needed = region.needed(written);
    let mut assembler = Assembler::<V> {
        region,
        chunks: lanes / V::LANES,
        uses: uses(region, &needed, written),
        needed,
        written,
        out: Emitter::new(),
        place: vec![None; region.values.len()],
        holds: vec![None; V::HELD],
        slot: vec![None; region.values.len()],
        free_slots: Vec::new(),
        left_slots: Vec::new(),
        slots: 0,
        patterns: BTreeMap::new(),
        fixtures: BTreeMap::new(),
        vectors: PhantomData,
    };
    assembler.find_patterns();
    assembler.whole()?;
    assembler.out.encoded(V::LANES)
}

/// For each value the steps that use it, the next one last. Results are used after the last step.
fn uses(region: &Region, needed: &[bool], written: &Written) -> Vec<Vec<usize>> {
    let mut uses = vec![Vec::new(); region.values.len()];
    for (_, id) in written.all() {
        uses[id as usize].push(region.steps.len());
    }
    for (number, step) in region.steps.iter().enumerate().rev() {
        match *step {
            Step::Compute(id) if needed[id as usize] => {
                for &source in region.sources(id) {
                    uses[source as usize].push(number);
                }
            }
            Step::Compute(_) => {}
            // Only the first load of an address in LDS needs it in a register; later loads find it on the stack.
            Step::Load(load) => {
                let load = &region.loads[load as usize];
                let first = match load.address {
                    Address::Lds(_) => region.steps.iter().position(|step| {
                        matches!(step, Step::Load(other) if region.loads[*other as usize].address == load.address)
                    }),
                    Address::Global { .. } => Some(number),
                };
                if first == Some(number) {
                    for source in load.sources() {
                        uses[source as usize].push(number);
                    }
                }
            }
        }
    }
    uses
}

fn at(base: R, displacement: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(base, displacement)
}

fn spread(base: R, displacement: i64) -> MemoryOperand {
    let mut operand = at(base, displacement);
    operand.is_broadcast = true;
    operand
}

/// Code that is the same for all regions.
impl<V: Vectors> Assembler<'_, V> {
    /// Bytes of a chunk.
    const CHUNK: i64 = 4 * V::LANES as i64;

    /// The loop over the chunks, with prologue and epilogue.
    fn whole(&mut self) -> Option<()> {
        // The prologue is emitted last, when the size of the stack is known, and moved to the front.
        self.out
            .emit(Host::with2(X::Xor_r32_rm32, CHUNK_NUMBER, CHUNK_NUMBER))?;
        self.out
            .emit(Host::with2(X::Mov_r64_rm64, MASKS, SCALARS))?;
        self.fix()?;
        let again = self.out.label();
        self.out.here(again);
        V::forget_nans(&mut self.out)?;
        self.chunk()?;
        let out = &mut self.out;
        out.emit(Host::with2(X::Add_rm64_imm32, FILE, Self::CHUNK as i32))?;
        out.emit(Host::with2(X::Add_rm64_imm8, MASKS, V::LANES as i32 / 8))?;
        out.emit(Host::with2(X::Add_rm32_imm8, CHUNK_NUMBER, 1))?;
        let chunks = self.chunks as i32;
        out.emit(Host::with2(X::Cmp_rm32_imm8, CHUNK_NUMBER, chunks))?;
        out.jump(X::Jb_rel32_64, again)?;
        out.here(Emitter::BAIL);
        out.emit(Host::with2(X::Mov_r32_rm32, R::EAX, CHUNK_NUMBER))?;
        // Both were pushed after `rbp`.
        out.emit(Host::with2(X::Mov_r64_rm64, R::RBX, at(R::RBP, -8)))?;
        out.emit(Host::with2(X::Mov_r64_rm64, MASKS, at(R::RBP, -16)))?;
        out.emit(Host::with2(X::Mov_r64_rm64, R::RSP, R::RBP))?;
        out.emit(Host::with1(X::Pop_r64, R::RBP))?;
        out.emit(Ok(Host::with(X::VEX_Vzeroupper)))?;
        out.emit(Ok(Host::with(X::Retnq)))?;
        V::finish(out)?;
        self.begin()
    }

    /// Puts the prologue in front of the code.
    fn begin(&mut self) -> Option<()> {
        let bytes = self.slots * Self::CHUNK as usize;
        if bytes > STACK {
            return None;
        }
        let rest = self.out.take();
        let out = &mut self.out;
        out.emit(Host::with1(X::Push_r64, R::RBP))?;
        out.emit(Host::with2(X::Mov_r64_rm64, R::RBP, R::RSP))?;
        out.emit(Host::with1(X::Push_r64, R::RBX))?;
        out.emit(Host::with1(X::Push_r64, MASKS))?;
        out.emit(Host::with2(X::And_rm64_imm8, R::RSP, -64))?;
        // Every page is touched, so that a stack that is too small faults at its guard page.
        let mut left = bytes as i32;
        while left > 0 {
            let step = left.min(PAGE);
            out.emit(Host::with2(X::Sub_rm64_imm32, R::RSP, step))?;
            out.emit(Host::with2(X::Or_rm32_imm8, at(R::RSP, 0), 0))?;
            left -= step;
        }
        out.append(rest);
        Some(())
    }

    /// The memory of a stack slot, plus a displacement.
    fn stack(&self, slot: usize, displacement: i64) -> MemoryOperand {
        at(R::RSP, slot as i64 * Self::CHUNK + displacement)
    }

    fn take_slot(&mut self) -> usize {
        self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }
}
