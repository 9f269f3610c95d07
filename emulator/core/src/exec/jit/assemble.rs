//! Assembles values to host code: AVX-512, sixteen lanes per register.
//!
//! The code loops over the chunks of a wave. For each chunk it computes everything in host registers, and writes
//! vector registers last, once every check has passed. On a NaN, whose bits on a GPU may differ from the host's, or an
//! address that may not be loaded from, it leaves the chunk unchanged and returns its number.
//!
//! Registers are allocated in the order of the steps. When none is free, the value that is needed last is evicted: to
//! the stack, or nowhere if it is still in the wave's registers, which are not written before the end.

mod compute;
mod loads;
mod registers;

use std::collections::BTreeMap;

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code as X, Instruction as Host, InstructionBlock,
    MemoryOperand, Register as R,
};

use super::ir::{Address, Id, Region, Relation, Step, Written};
use crate::exec::simd::U;
use loads::{Fixture, Key, Pattern};

/// Host registers that hold values; the others are scratch registers of single instructions.
const HELD: usize = 27;
/// First of the others.
const SPARE: usize = 27;
/// Holds the lanes' distances from the beginning of an allocation, during a load.
const DISTANCE: usize = SPARE + 1;

const LESS: Relation = Relation::Unsigned(1);
const ABOVE: Relation = Relation::Unsigned(6);
const UNORDERED: Relation = Relation::F32(3);

/// Bytes of a chunk.
const CHUNK: i64 = size_of::<U>() as i64;
/// Most values on the stack.
const SLOTS: usize = 192;
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

/// Constants in front of a region's own.
#[derive(Clone, Copy)]
enum Fixed {
    /// Multiples of 4, 8 and 16: the strides of contiguous lanes.
    Row4,
    Row8,
    Row16,
    /// Indices that pick the dwords of contiguous lanes from two vectors.
    Even,
    Odd,
    FirstTwo,
    LastTwo,
    /// The largest distance of a lane from the beginning of an allocation: offsets are signed.
    Farthest,
}

const FIXED: [[u32; 16]; 8] = [
    multiples(4),
    multiples(8),
    multiples(16),
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31],
    // Dword 0, then dword 1, of eight lanes of four dwords each; then dwords 2 and 3.
    [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29],
    [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31],
    [i32::MAX as u32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
];

const fn multiples(of: u32) -> [u32; 16] {
    let mut all = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        all[lane] = of * lane as u32;
        lane += 1;
    }
    all
}

/// Host code with its constants.
pub(super) struct Assembled {
    pub(super) code: Vec<u8>,
    pub(super) pool: Vec<U>,
}

/// A jump target.
#[derive(Clone, Copy)]
struct Label(usize);

/// The code so far, and where values are.
struct Assembler<'a> {
    region: &'a Region,
    /// Chunks of a wave.
    chunks: usize,
    needed: Vec<bool>,
    written: &'a Written,
    host: Vec<Host>,
    /// Position of each label: the number of the instruction after it.
    labels: Vec<Option<usize>>,
    /// Instructions that jump, with their labels.
    jumps: Vec<(usize, Label)>,
    pool: Vec<U>,
    /// Position of each constant in the pool after [`FIXED`], in dwords.
    constants: BTreeMap<u32, usize>,
    /// For each value the steps that use it, the next one last.
    uses: Vec<Vec<usize>>,
    /// The host register of each value.
    place: Vec<Option<usize>>,
    holds: [Option<Id>; HELD],
    /// The stack slot of each value.
    slot: Vec<Option<usize>>,
    free_slots: Vec<usize>,
    /// Slots that the current step may still read.
    left_slots: Vec<usize>,
    slots: usize,
    patterns: BTreeMap<Key, Pattern>,
    /// By the load's number, for loads from global memory.
    fixtures: BTreeMap<u32, Fixture>,
    gather: Option<Label>,
    bail: Label,
}

/// A source of a host instruction.
#[derive(Clone, Copy)]
enum Source {
    Register(usize),
    Memory(MemoryOperand),
}

/// Assembles host code for a region of waves of `chunks` chunks; `None` if it does not fit.
pub(super) fn assemble(region: &Region, written: &Written, chunks: usize) -> Option<Assembled> {
    let needed = region.needed(written);
    let mut assembler = Assembler {
        region,
        chunks,
        uses: uses(region, &needed, written),
        needed,
        written,
        host: Vec::new(),
        labels: vec![None],
        jumps: Vec::new(),
        pool: FIXED.map(U::from_array).to_vec(),
        constants: BTreeMap::new(),
        place: vec![None; region.values.len()],
        holds: [None; HELD],
        slot: vec![None; region.values.len()],
        free_slots: Vec::new(),
        left_slots: Vec::new(),
        slots: 0,
        patterns: BTreeMap::new(),
        fixtures: BTreeMap::new(),
        gather: None,
        bail: Label(0),
    };
    assembler.find_patterns();
    assembler.whole()?;
    assembler.encoded()
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

fn zmm(number: usize) -> R {
    R::ZMM0 + number as u32
}

fn ymm(number: usize) -> R {
    R::YMM0 + number as u32
}

fn xmm(number: usize) -> R {
    R::XMM0 + number as u32
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
impl Assembler<'_> {
    fn emit(&mut self, instruction: Result<Host, iced_x86::IcedError>) -> Option<()> {
        self.host.push(instruction.ok()?);
        Some(())
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.host.len());
    }

    fn jump(&mut self, code: X, label: Label) -> Option<()> {
        self.jumps.push((self.host.len(), label));
        self.emit(Host::with_branch(code, 0))
    }

    /// The loop over the chunks, with prologue and epilogue.
    fn whole(&mut self) -> Option<()> {
        // The prologue is emitted last, when the size of the stack is known, and moved to the front.
        self.emit(Host::with2(X::Xor_r32_rm32, CHUNK_NUMBER, CHUNK_NUMBER))?;
        self.emit(Host::with2(X::Mov_r64_rm64, MASKS, SCALARS))?;
        self.fix()?;
        let (again, leave) = (self.label(), self.label());
        self.here(again);
        self.emit(Host::with3(X::VEX_Kxorw_kr_kr_kr, R::K7, R::K7, R::K7))?;
        self.chunk()?;
        self.emit(Host::with2(X::Add_rm64_imm32, FILE, CHUNK as i32))?;
        self.emit(Host::with2(X::Add_rm64_imm8, MASKS, 2))?;
        self.emit(Host::with2(X::Add_rm32_imm8, CHUNK_NUMBER, 1))?;
        let chunks = self.chunks as i32;
        self.emit(Host::with2(X::Cmp_rm32_imm8, CHUNK_NUMBER, chunks))?;
        self.jump(X::Jb_rel32_64, again)?;
        self.here(self.bail);
        self.emit(Host::with2(X::Mov_r32_rm32, R::EAX, CHUNK_NUMBER))?;
        self.here(leave);
        // Both were pushed after `rbp`.
        self.emit(Host::with2(X::Mov_r64_rm64, R::RBX, at(R::RBP, -8)))?;
        self.emit(Host::with2(X::Mov_r64_rm64, MASKS, at(R::RBP, -16)))?;
        self.emit(Host::with2(X::Mov_r64_rm64, R::RSP, R::RBP))?;
        self.emit(Host::with1(X::Pop_r64, R::RBP))?;
        self.emit(Ok(Host::with(X::VEX_Vzeroupper)))?;
        self.emit(Ok(Host::with(X::Retnq)))?;
        if let Some(gather) = self.gather {
            self.here(gather);
            self.gather_four()?;
        }
        self.begin()
    }

    /// Puts the prologue in front of the code.
    fn begin(&mut self) -> Option<()> {
        if self.slots > SLOTS {
            return None;
        }
        let rest = std::mem::take(&mut self.host);
        self.emit(Host::with1(X::Push_r64, R::RBP))?;
        self.emit(Host::with2(X::Mov_r64_rm64, R::RBP, R::RSP))?;
        self.emit(Host::with1(X::Push_r64, R::RBX))?;
        self.emit(Host::with1(X::Push_r64, MASKS))?;
        self.emit(Host::with2(X::And_rm64_imm8, R::RSP, -64))?;
        // Every page is touched, so that a stack that is too small faults at its guard page.
        let mut left = self.slots as i32 * CHUNK as i32;
        while left > 0 {
            let step = left.min(PAGE);
            self.emit(Host::with2(X::Sub_rm64_imm32, R::RSP, step))?;
            self.emit(Host::with2(X::Or_rm32_imm8, at(R::RSP, 0), 0))?;
            left -= step;
        }
        let front = self.host.len();
        self.host.extend(rest);
        for place in self.labels.iter_mut().flatten() {
            *place += front;
        }
        for (place, _) in &mut self.jumps {
            *place += front;
        }
        Some(())
    }

    /// The bytes of the code.
    fn encoded(mut self) -> Option<Assembled> {
        // To the encoder, an instruction's address is its number, from 1 on.
        for (number, instruction) in (1..).zip(&mut self.host) {
            instruction.set_ip(number);
        }
        for &(place, label) in &self.jumps {
            let target = self.labels[label.0]?;
            self.host[place].set_near_branch64(target as u64 + 1);
        }
        let block = InstructionBlock::new(&self.host, 0);
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?;
        Some(Assembled {
            code: encoded.code_buffer,
            pool: self.pool,
        })
    }

    /// The memory of a stack slot, plus a displacement.
    fn stack(&self, slot: usize, displacement: i64) -> MemoryOperand {
        at(R::RSP, slot as i64 * CHUNK + displacement)
    }

    fn take_slot(&mut self) -> usize {
        self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    fn fixed(&self, which: Fixed) -> MemoryOperand {
        at(POOL, which as i64 * CHUNK)
    }

    /// A constant in all lanes.
    fn constant(&mut self, value: u32) -> MemoryOperand {
        let next = self.constants.len();
        let number = *self.constants.entry(value).or_insert(next);
        let vector = FIXED.len() + number / 16;
        if vector == self.pool.len() {
            self.pool.push(U::splat(0));
        }
        self.pool[vector][number % 16] = value;
        spread(POOL, vector as i64 * CHUNK + 4 * (number % 16) as i64)
    }
}
