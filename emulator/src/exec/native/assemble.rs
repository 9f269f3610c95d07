//! From values to host code: AVX-512, sixteen lanes in a register.
//!
//! The code goes over the four chunks of a wave's lanes. Of each it computes everything in the host's registers, and
//! writes vector registers only when all is known to be right: a chunk with a NaN, whose bits on a GPU are not the host's,
//! or with an address outside LDS is left as it was, and the code returns its number.
//!
//! Registers are given out in the order of the steps. When none is left, the value goes that is needed last: to the stack,
//! or nowhere if it stands in the wave's registers, which nobody writes before the end.

use std::collections::BTreeMap;

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code as X, Instruction as Host, InstructionBlock,
    MemoryOperand, Register as R,
};

use super::values::{Address, Id, Load, Operator, Relation, Run, Step, Value, Written};
use crate::exec::{
    simd::{CHUNKS, U},
    wave::Lanes,
};
use crate::memory::Reach;

/// Host registers that hold values; the others are for what an instruction needs meanwhile.
const HELD: usize = 27;
/// First of those.
const SPARE: usize = 27;
/// Where lanes' distances from the beginning of an allocation stand while they are loaded from.
const DISTANCE: usize = SPARE + 1;

const LESS: Relation = Relation::Unsigned(1);
const ABOVE: Relation = Relation::Unsigned(6);
const UNORDERED: Relation = Relation::F32(3);

/// Bytes of a chunk.
const CHUNK: i64 = size_of::<U>() as i64;
/// Values on the stack at most.
const SLOTS: usize = 192;
/// Bytes that the stack may grow by without touching them.
const PAGE: i32 = 4096;

// The arguments, by the System V convention.
const FILE: R = R::RDI;
const SCALARS: R = R::RSI;
const LDS: R = R::RDX;
const LDS_BYTES: R = R::ECX;
const POOL: R = R::R8;
/// Allocations that accesses found last.
const RECENT: R = R::R9;
/// Behind [`SCALARS`] by the chunk's place in a mask of 64 lanes.
const MASKS: R = R::R12;
/// The chunk's number.
const CHUNK_NUMBER: R = R::EBX;

/// Constants that stand in front of a run's own.
#[derive(Clone, Copy)]
enum Fixed {
    /// Multiples of 4, 8 and 16: how far lanes of a row are apart.
    Row4,
    Row8,
    Row16,
    /// What picks the dwords of lanes that lie side by side, of two vectors.
    Even,
    Odd,
    FirstTwo,
    LastTwo,
    /// The farthest that a lane may be behind the beginning of an allocation: offsets are signed.
    Farthest,
}

const FIXED: [[u32; 16]; 8] = [
    multiples(4),
    multiples(8),
    multiples(16),
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31],
    // Dword 0 of eight lanes of four dwords, then dword 1; dwords 2 and 3.
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

/// A place in the code that is jumped to.
#[derive(Clone, Copy)]
struct Label(usize);

/// How the addresses of some loads lie: found once for each chunk. Loads share it whose addresses are the same distances
/// apart.
#[derive(Clone, Copy, Default)]
struct Pattern {
    /// The stack's slot of what is known. Of LDS also the host's address of the first lane.
    facts: usize,
    /// The slot of all lanes' addresses, for LDS.
    lanes: usize,
    /// The first byte behind all that is loaded from LDS, from the address.
    end: u32,
    /// Which rows of 4, 8 and 16 bytes a lane are of use.
    rows: [bool; 3],
    /// Loads that are still to come.
    left: u32,
    found: bool,
}

/// Where [`Pattern::facts`] say that all lanes are at one address; behind it are the rows of 4, 8 and 16 bytes.
const SAME: i64 = 8;

/// What is known of a load from global memory before the first chunk: bytes on the stack from here on.
#[derive(Clone, Copy)]
struct Fixture {
    slot: usize,
    displacement: i64,
}

/// Bytes of a [`Fixture`].
const FIXTURE: i64 = 32;
/// Where it has what makes distances from the allocation's beginning of addresses, lower and upper half; how far the
/// farthest lane may be; and where the allocation begins.
const LOWER: i64 = 0;
const UPPER: i64 = 4;
const LIMIT: i64 = 8;
const BEGINNING: i64 = 16;

/// What loads of one [`Pattern`] have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The address in LDS.
    Lds(Id),
    /// What the same is added to in all lanes.
    Global(Id),
}

struct Assembler<'a> {
    run: &'a Run,
    needed: Vec<bool>,
    written: &'a Written,
    host: Vec<Host>,
    /// Where labels stand: the number of the instruction behind them.
    labels: Vec<Option<usize>>,
    /// Instructions that jump, with the label.
    jumps: Vec<(usize, Label)>,
    pool: Vec<U>,
    /// Constants by value: their number in dwords.
    constants: BTreeMap<u32, usize>,
    /// For each value the steps that use it, the nearest last.
    uses: Vec<Vec<usize>>,
    /// The host register that holds a value.
    place: Vec<Option<usize>>,
    holds: [Option<Id>; HELD],
    /// The stack's slot that a value stands in.
    slot: Vec<Option<usize>>,
    free_slots: Vec<usize>,
    /// Slots that the step at hand may still read.
    left_slots: Vec<usize>,
    slots: usize,
    patterns: BTreeMap<Key, Pattern>,
    /// Of each load from global memory, by its number.
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

/// Host code for a run, if it fits.
pub(super) fn assemble(run: &Run, written: &Written) -> Option<Assembled> {
    let needed = run.needed(written);
    let mut assembler = Assembler {
        run,
        uses: uses(run, &needed, written),
        needed,
        written,
        host: Vec::new(),
        labels: vec![None],
        jumps: Vec::new(),
        pool: FIXED.map(U::from_array).to_vec(),
        constants: BTreeMap::new(),
        place: vec![None; run.values.len()],
        holds: [None; HELD],
        slot: vec![None; run.values.len()],
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

/// For each value the steps that use it, the nearest last. Results are used behind the last step.
fn uses(run: &Run, needed: &[bool], written: &Written) -> Vec<Vec<usize>> {
    let mut uses = vec![Vec::new(); run.values.len()];
    for (_, id) in written.all() {
        uses[id as usize].push(run.steps.len());
    }
    for (number, step) in run.steps.iter().enumerate().rev() {
        match *step {
            Step::Compute(id) if needed[id as usize] => {
                for &source in run.sources(id) {
                    uses[source as usize].push(number);
                }
            }
            Step::Compute(_) => {}
            // Only the first load of an address in LDS needs it in a register: the others find it on the stack.
            Step::Load(load) => {
                let load = &run.loads[load as usize];
                let first = match load.address {
                    Address::Lds(_) => run.steps.iter().position(|step| {
                        matches!(step, Step::Load(other) if run.loads[*other as usize].address == load.address)
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

/// The host instruction of an operator with two sources.
fn instruction(operator: Operator) -> Option<X> {
    Some(match operator {
        Operator::AddF32 => X::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        Operator::SubF32 => X::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        Operator::MulF32 => X::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        Operator::Add => X::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        Operator::Sub => X::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        Operator::Mul => X::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        Operator::And => X::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
        Operator::Or => X::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        Operator::Xor => X::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        Operator::ShiftLeft => X::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
        Operator::ShiftRight => X::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        Operator::ShiftRightSigned => X::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        Operator::Min => X::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        Operator::Max => X::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        Operator::MinSigned => X::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        Operator::MaxSigned => X::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        Operator::Copy | Operator::FmaF32 | Operator::MulHigh | Operator::Compare(_) => {
            return None;
        }
    })
}

/// Parts of the code that are the same for all runs.
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

    /// The loop over the chunks, with what stands around it.
    fn whole(&mut self) -> Option<()> {
        // How far the stack grows is known when all is written: its instructions stand in front, but come last.
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
        self.emit(Host::with2(X::Cmp_rm32_imm8, CHUNK_NUMBER, CHUNKS as i32))?;
        self.jump(X::Jb_rel32_64, again)?;
        self.here(self.bail);
        self.emit(Host::with2(X::Mov_r32_rm32, R::EAX, CHUNK_NUMBER))?;
        self.here(leave);
        // Both were pushed behind `rbp`.
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

    /// Puts the function's beginning in front of the rest.
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
        // Every page is touched, so that a stack that is too small ends at its guard and nowhere else.
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
        // To the encoder an instruction's address is its number from 1 on.
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

    /// The stack's bytes behind a slot.
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

/// Which value is where.
impl Assembler<'_> {
    fn next_use(&self, id: Id) -> usize {
        self.uses[id as usize].last().copied().unwrap_or(usize::MAX)
    }

    /// The memory that holds a value.
    fn home(&mut self, id: Id) -> Option<MemoryOperand> {
        match self.run.values[id as usize] {
            Value::Register(register) => {
                Some(at(FILE, i64::from(register) * size_of::<Lanes>() as i64))
            }
            Value::Scalar(register) => Some(spread(SCALARS, 4 * i64::from(register))),
            Value::Constant(value) => Some(self.constant(value)),
            Value::Computed(..)
            | Value::Selected(..)
            | Value::SelectedBy(_)
            | Value::Flags(_)
            | Value::Loaded { .. } => {
                let slot = self.slot[id as usize]?;
                Some(self.stack(slot, 0))
            }
        }
    }

    /// Copies a value's memory into a host register.
    fn fill(&mut self, register: usize, memory: MemoryOperand) -> Option<()> {
        if memory.is_broadcast {
            let mut memory = memory;
            memory.is_broadcast = false;
            return self.emit(Host::with2(
                X::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
                zmm(register),
                memory,
            ));
        }
        self.emit(Host::with2(
            X::EVEX_Vmovdqa32_zmm_k1z_zmmm512,
            zmm(register),
            memory,
        ))
    }

    fn free_register(&self) -> Option<usize> {
        self.holds.iter().position(Option::is_none)
    }

    /// A host register for a value, but none of `kept`.
    fn take(&mut self, id: Id, kept: &[usize]) -> Option<usize> {
        let register = match self.free_register() {
            Some(register) => register,
            None => self.evict(kept)?,
        };
        self.hold(register, id);
        Some(register)
    }

    fn hold(&mut self, register: usize, id: Id) {
        self.holds[register] = Some(id);
        self.place[id as usize] = Some(register);
    }

    /// Frees the register whose value is needed last.
    fn evict(&mut self, kept: &[usize]) -> Option<usize> {
        let (register, id) = (0..HELD)
            .filter(|register| !kept.contains(register))
            .filter_map(|register| Some((register, self.holds[register]?)))
            .max_by_key(|&(_, id)| self.next_use(id))?;
        if self.home(id).is_none() {
            let slot = self.take_slot();
            self.slot[id as usize] = Some(slot);
            let memory = self.stack(slot, 0);
            self.emit(Host::with2(
                X::EVEX_Vmovdqa32_zmmm512_k1z_zmm,
                memory,
                zmm(register),
            ))?;
        }
        self.place[id as usize] = None;
        self.holds[register] = None;
        Some(register)
    }

    /// Puts a value in a host register.
    fn ensure(&mut self, id: Id, kept: &[usize]) -> Option<usize> {
        if let Some(register) = self.place[id as usize] {
            return Some(register);
        }
        let memory = self.home(id)?;
        let register = self.take(id, kept)?;
        self.fill(register, memory)?;
        Some(register)
    }

    /// A value as an instruction's last source, which may be memory.
    fn source(&mut self, id: Id, kept: &[usize]) -> Option<Source> {
        if let Some(register) = self.place[id as usize] {
            return Some(Source::Register(register));
        }
        let again = self.uses[id as usize].len() > 1;
        if again && self.free_register().is_some() {
            return Some(Source::Register(self.ensure(id, kept)?));
        }
        Some(Source::Memory(self.home(id)?))
    }

    /// Whether nobody needs a value behind step `number`.
    fn dies(&self, id: Id, number: usize) -> bool {
        self.uses[id as usize].first() == Some(&number)
    }

    /// Forgets the uses of step `number`, and values that are used no more.
    fn used(&mut self, ids: &[Id], number: usize) {
        for &id in ids {
            let uses = &mut self.uses[id as usize];
            while uses.last() == Some(&number) {
                uses.pop();
            }
            if uses.is_empty() {
                self.forget(id);
            }
        }
    }

    fn forget(&mut self, id: Id) {
        if let Some(register) = self.place[id as usize].take() {
            self.holds[register] = None;
        }
        if let Some(slot) = self.slot[id as usize].take() {
            self.left_slots.push(slot);
        }
    }
}

/// What a run computes.
impl Assembler<'_> {
    /// The run for one chunk.
    fn chunk(&mut self) -> Option<()> {
        for number in 0..self.run.steps.len() {
            self.free_slots.append(&mut self.left_slots);
            match self.run.steps[number] {
                Step::Compute(id) if self.needed[id as usize] => self.compute(id, number)?,
                Step::Compute(_) => {}
                Step::Load(load) => {
                    self.load(load, number)?;
                }
            }
        }
        self.emit(Host::with2(X::VEX_Kortestw_kr_kr, R::K7, R::K7))?;
        self.jump(X::Jne_rel32_64, self.bail)?;
        let written = self.written;
        for &(register, id) in &written.registers {
            let from = self.found(id)?;
            let memory = at(FILE, i64::from(register) * size_of::<Lanes>() as i64);
            self.emit(Host::with2(
                X::EVEX_Vmovdqa32_zmmm512_k1z_zmm,
                memory,
                zmm(from),
            ))?;
        }
        for &(mask, id) in &written.masks {
            let flags = self.found(id)?;
            self.test(R::K1, flags)?;
            let memory = at(MASKS, 4 * i64::from(mask));
            self.emit(Host::with2(X::VEX_Kmovw_m16_kr, memory, R::K1))?;
        }
        Some(())
    }

    /// A register with a value that is needed for the last time.
    fn found(&mut self, id: Id) -> Option<usize> {
        if let Some(place) = self.place[id as usize] {
            return Some(place);
        }
        let memory = self.home(id)?;
        self.fill(SPARE, memory)?;
        Some(SPARE)
    }

    /// A mask of the lanes that are not 0.
    fn test(&mut self, mask: R, lanes: usize) -> Option<()> {
        let code = X::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
        self.emit(Host::with3(code, mask, zmm(lanes), zmm(lanes)))
    }

    /// Copies memory into a register for the lanes of `k1`, and 0 for the others.
    fn fill_masked(&mut self, register: usize, memory: MemoryOperand) -> Option<()> {
        self.fill(register, memory)?;
        let last = self.host.last_mut()?;
        last.set_op_mask(R::K1);
        last.set_zeroing_masking(true);
        Some(())
    }

    fn three(&mut self, code: X, result: usize, first: usize, second: Source) -> Option<()> {
        self.emit(match second {
            Source::Register(second) => Host::with3(code, zmm(result), zmm(first), zmm(second)),
            Source::Memory(memory) => Host::with3(code, zmm(result), zmm(first), memory),
        })
    }

    fn compute(&mut self, id: Id, number: usize) -> Option<()> {
        let sources = self.run.sources(id).to_vec();
        let result = match self.run.values[id as usize] {
            Value::Computed(Operator::FmaF32, [a, b, c]) => self.fma(id, number, [a, b, c])?,
            Value::Computed(Operator::Copy, [a, ..]) => {
                let memory = self.home(a)?;
                let result = self.take(id, &[])?;
                self.fill(result, memory)?;
                self.used(&sources, number);
                result
            }
            Value::Computed(Operator::Compare(relation), [a, b, _]) => {
                let first = self.ensure(a, &[])?;
                let second = self.source(b, &[first])?;
                self.compare(R::K1, first, relation, second)?;
                self.used(&sources, number);
                let result = self.take(id, &[])?;
                let one = self.constant(1);
                self.fill_masked(result, one)?;
                result
            }
            Value::Computed(Operator::MulHigh, [a, b, _]) => {
                let first = self.ensure(a, &[])?;
                let second = self.ensure(b, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &[first, second])?;
                self.mul_high(result, first, second)?;
                result
            }
            Value::Flags(mask) => {
                let lanes = at(MASKS, 4 * i64::from(mask));
                self.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, lanes))?;
                let result = self.take(id, &[])?;
                let one = self.constant(1);
                self.fill_masked(result, one)?;
                result
            }
            Value::SelectedBy([flags, yes, no]) => {
                let flags = self.ensure(flags, &[])?;
                let first = self.ensure(no, &[flags])?;
                let second = self.source(yes, &[flags, first])?;
                self.test(R::K1, flags)?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                self.three(
                    X::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
                    result,
                    first,
                    second,
                )?;
                self.host.last_mut()?.set_op_mask(R::K1);
                result
            }
            Value::Computed(operator, [a, b, _]) => {
                let (mut a, mut b) = (a, b);
                if operator.commutes() && self.place[a as usize].is_none() {
                    (a, b) = (b, a);
                }
                let first = self.ensure(a, &[])?;
                let second = self.source(b, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                self.three(instruction(operator)?, result, first, second)?;
                result
            }
            Value::Selected(mask, [yes, no]) => {
                let first = self.ensure(no, &[])?;
                let second = self.source(yes, &[first])?;
                self.used(&sources, number);
                let result = self.take(id, &kept(first, second))?;
                let lanes = at(MASKS, 4 * i64::from(mask));
                self.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, lanes))?;
                self.three(
                    X::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
                    result,
                    first,
                    second,
                )?;
                self.host.last_mut()?.set_op_mask(R::K1);
                result
            }
            Value::Register(_) | Value::Scalar(_) | Value::Constant(_) | Value::Loaded { .. } => {
                return None;
            }
        };
        if self.is_to_be_checked(id) {
            self.compare(R::K1, result, UNORDERED, Source::Register(result))?;
            self.emit(Host::with3(X::VEX_Korw_kr_kr_kr, R::K7, R::K7, R::K1))?;
        }
        Some(())
    }

    /// The upper halves of products: those of even lanes and of odd ones, by turns.
    fn mul_high(&mut self, result: usize, a: usize, b: usize) -> Option<()> {
        let (odd_a, odd_b) = (SPARE, SPARE + 1);
        let shift = X::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
        let product = X::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
        self.emit(Host::with3(shift, zmm(odd_a), zmm(a), 32))?;
        self.emit(Host::with3(shift, zmm(odd_b), zmm(b), 32))?;
        self.three(product, result, a, Source::Register(b))?;
        self.three(product, odd_a, odd_a, Source::Register(odd_b))?;
        self.emit(Host::with3(shift, zmm(result), zmm(result), 32))?;
        let mut odd = self.constant(0xaaaa);
        odd.is_broadcast = false;
        self.emit(Host::with2(X::VEX_Kmovw_kr_km16, R::K1, odd))?;
        let blend = X::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
        self.three(blend, result, result, Source::Register(odd_a))?;
        self.host.last_mut()?.set_op_mask(R::K1);
        Some(())
    }

    /// Whether a NaN in a value would be seen nowhere else: those that only float operations use make them NaN, too.
    fn is_to_be_checked(&self, id: Id) -> bool {
        let is_float = |id: Id| matches!(self.run.values[id as usize], Value::Computed(operator, _) if operator.is_float());
        let by_float = |&number: &usize| match self.run.steps.get(number) {
            Some(&Step::Compute(user)) => is_float(user),
            Some(Step::Load(_)) | None => false,
        };
        is_float(id) && !self.uses[id as usize].iter().all(by_float)
    }

    /// `a * b + c`, in the register of a source that is needed no more, if there is one.
    fn fma(&mut self, id: Id, number: usize, [a, b, c]: [Id; 3]) -> Option<usize> {
        const SUM: X = X::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
        const FACTOR: X = X::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
        let (mut a, mut b) = (a, b);
        let ends = |this: &Self, id: Id| this.place[id as usize].is_some() && this.dies(id, number);
        if ends(self, c) && c != a && c != b {
            if self.place[a as usize].is_none() {
                (a, b) = (b, a);
            }
            let sum = self.place[c as usize]?;
            let first = self.ensure(a, &[sum])?;
            let second = self.source(b, &[sum, first])?;
            self.three(SUM, sum, first, second)?;
            self.used(&[a, b, c], number);
            self.hold(sum, id);
            return Some(sum);
        }
        if ends(self, b) && !ends(self, a) {
            (a, b) = (b, a);
        }
        if ends(self, a) && a != b && a != c {
            let factor = self.place[a as usize]?;
            let first = self.ensure(b, &[factor])?;
            let second = self.source(c, &[factor, first])?;
            self.three(FACTOR, factor, first, second)?;
            self.used(&[a, b, c], number);
            self.hold(factor, id);
            return Some(factor);
        }
        if self.place[a as usize].is_none() {
            (a, b) = (b, a);
        }
        let first = self.ensure(a, &[])?;
        let second = self.source(b, &[first])?;
        let sum = match self.place[c as usize] {
            Some(register) => Source::Register(register),
            None => Source::Memory(self.home(c)?),
        };
        let mut all = kept(first, second);
        all.extend(kept(first, sum));
        let result = self.take(id, &all)?;
        match sum {
            Source::Register(sum) => {
                self.emit(Host::with2(
                    X::EVEX_Vmovdqa32_zmm_k1z_zmmm512,
                    zmm(result),
                    zmm(sum),
                ))?;
            }
            Source::Memory(memory) => self.fill(result, memory)?,
        }
        self.three(SUM, result, first, second)?;
        self.used(&[a, b, c], number);
        Some(result)
    }
}

/// Registers that an instruction still reads.
fn kept(first: usize, second: Source) -> Vec<usize> {
    match second {
        Source::Register(second) => vec![first, second],
        Source::Memory(_) => vec![first],
    }
}

/// Loads.
impl Assembler<'_> {
    fn key(&self, load: &Load) -> Key {
        match load.address {
            Address::Lds(id) => Key::Lds(id),
            Address::Global { low, .. } => Key::Global(self.run.root(low)),
        }
    }

    fn find_patterns(&mut self) {
        for load in &self.run.loads {
            let key = self.key(load);
            let pattern = self.patterns.entry(key).or_default();
            pattern.end = pattern.end.max(load.offset + load.bytes());
            pattern.left += 1;
            if let Some(row) = row(load) {
                pattern.rows[row] = true;
            }
        }
    }

    fn load(&mut self, number: u32, step: usize) -> Option<()> {
        let load = self.run.loads[number as usize].clone();
        let key = self.key(&load);
        let mut pattern = *self.patterns.get(&key)?;
        match load.address {
            Address::Lds(id) => {
                if !pattern.found {
                    (pattern.facts, pattern.lanes) = (self.take_slot(), self.take_slot());
                    self.check_lds(id, pattern)?;
                }
            }
            Address::Global { low, high, .. } => {
                self.check_global(low, high, number)?;
                if !pattern.found {
                    pattern.facts = self.take_slot();
                    self.find_rows(DISTANCE, pattern)?;
                }
            }
        }
        pattern.found = true;
        pattern.left -= 1;
        self.patterns.insert(key, pattern);
        self.used(&load.sources(), step);
        let mut results = Vec::new();
        for &id in &load.results {
            results.push(if self.needed[id as usize] {
                Some(self.take(id, &results.iter().copied().flatten().collect::<Vec<_>>())?)
            } else {
                None
            });
        }
        if results.iter().any(Option::is_some) {
            self.load_lanes(&load, number, &results, pattern)?;
        }
        if pattern.left == 0 {
            self.left_slots.push(pattern.facts);
            if matches!(key, Key::Lds(_)) {
                self.left_slots.push(pattern.lanes);
            }
        }
        Some(())
    }

    fn load_lanes(
        &mut self,
        load: &Load,
        number: u32,
        results: &[Option<usize>],
        pattern: Pattern,
    ) -> Option<()> {
        let (same, in_row, done) = (self.label(), self.label(), self.label());
        let fixture = self.fixtures.get(&number).copied();
        match fixture {
            Some(fixture) => {
                let beginning = self.fixed_memory(fixture, BEGINNING);
                self.emit(Host::with2(X::EVEX_Vmovd_rm32_xmm, R::EAX, xmm(DISTANCE)))?;
                self.emit(Host::with2(X::Mov_r64_rm64, R::R11, beginning))?;
                let first = MemoryOperand::with_base_index(R::R11, R::RAX);
                self.emit(Host::with2(X::Lea_r64_m, R::R10, first))?;
            }
            None => {
                let first = self.stack(pattern.facts, 0);
                self.emit(Host::with2(X::Mov_r64_rm64, R::R10, first))?;
            }
        }
        let byte = |this: &Self, which: i64| this.stack(pattern.facts, SAME + which);
        self.emit(Host::with2(X::Cmp_rm8_imm8, byte(self, 0), 0))?;
        self.jump(X::Jne_rel32_64, same)?;
        let row = row(load);
        if let Some(row) = row {
            self.emit(Host::with2(X::Cmp_rm8_imm8, byte(self, 1 + row as i64), 0))?;
            self.jump(X::Jne_rel32_64, in_row)?;
        }
        self.load_anywhere(load, results, (fixture.is_none()).then_some(pattern.lanes))?;
        self.jump(X::Jmp_rel32_64, done)?;
        if row.is_some() {
            self.here(in_row);
            self.load_row(load, results)?;
            self.jump(X::Jmp_rel32_64, done)?;
        }
        self.here(same);
        for (place, part) in results.iter().zip(0_i64..) {
            if let Some(place) = *place {
                let memory = at(R::R10, i64::from(load.offset) + 4 * part);
                self.emit(Host::with2(
                    X::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
                    zmm(place),
                    memory,
                ))?;
            }
        }
        self.here(done);
        Some(())
    }

    /// Checks a chunk's addresses in LDS, and finds out how they lie.
    fn check_lds(&mut self, id: Id, pattern: Pattern) -> Option<()> {
        let offsets = self.ensure(id, &[])?;
        // The highest address that there may be. Addresses that the offset brings round to 0 are the operations'.
        self.emit(Host::with2(X::Mov_r32_rm32, R::EAX, LDS_BYTES))?;
        self.emit(Host::with2(X::Sub_rm32_imm32, R::EAX, pattern.end))?;
        self.jump(X::Jb_rel32_64, self.bail)?;
        self.emit(Host::with2(
            X::EVEX_Vpbroadcastd_zmm_k1z_r32,
            zmm(SPARE),
            R::EAX,
        ))?;
        self.compare(R::K1, offsets, ABOVE, Source::Register(SPARE))?;
        self.leave_if_any(R::K1, R::K1)?;
        let (lanes, facts) = (self.stack(pattern.lanes, 0), self.stack(pattern.facts, 0));
        self.emit(Host::with2(
            X::EVEX_Vmovdqa32_zmmm512_k1z_zmm,
            lanes,
            zmm(offsets),
        ))?;
        self.emit(Host::with2(X::EVEX_Vmovd_rm32_xmm, R::EAX, xmm(offsets)))?;
        self.emit(Host::with2(X::Add_r64_rm64, R::RAX, LDS))?;
        self.emit(Host::with2(X::Mov_rm64_r64, facts, R::RAX))?;
        self.find_rows(offsets, pattern)
    }

    fn compare(&mut self, mask: R, a: usize, relation: Relation, b: Source) -> Option<()> {
        let (code, predicate) = match relation {
            Relation::Unsigned(predicate) => (X::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, predicate),
            Relation::Signed(predicate) => (X::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, predicate),
            Relation::F32(predicate) => (X::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, predicate),
        };
        let predicate = u32::from(predicate);
        self.emit(match b {
            Source::Register(b) => Host::with4(code, mask, zmm(a), zmm(b), predicate),
            Source::Memory(b) => Host::with4(code, mask, zmm(a), b, predicate),
        })
    }

    /// Leaves the chunk if a bit of one of two masks is set.
    fn leave_if_any(&mut self, a: R, b: R) -> Option<()> {
        self.emit(Host::with2(X::VEX_Kortestw_kr_kr, a, b))?;
        self.jump(X::Jne_rel32_64, self.bail)
    }

    fn fixed_memory(&self, fixture: Fixture, displacement: i64) -> MemoryOperand {
        self.stack(fixture.slot, fixture.displacement + displacement)
    }

    /// Finds, before the first chunk, what loads from global memory need of the allocation that each used last.
    fn fix(&mut self) -> Option<()> {
        let mut free = Vec::new();
        for (number, load) in (0..).zip(&self.run.loads) {
            let Address::Global {
                base,
                offset,
                place,
                ..
            } = load.address
            else {
                continue;
            };
            if free.is_empty() {
                let slot = self.take_slot();
                free.extend((0..CHUNK / FIXTURE).map(|part| Fixture {
                    slot,
                    displacement: part * FIXTURE,
                }));
            }
            let fixture = free.pop()?;
            self.fixtures.insert(number, fixture);
            let reach = (usize::from(place) * size_of::<Reach>()) as i64;
            let (begins, ends) = (reach + Reach::BASE as i64, reach + Reach::END as i64);
            self.emit(Host::with2(X::Mov_r64_rm64, R::R10, at(RECENT, begins)))?;
            self.emit(Host::with2(X::Mov_r64_rm64, R::RAX, at(RECENT, ends)))?;
            self.emit(Host::with2(X::Sub_r64_rm64, R::RAX, R::R10))?;
            self.jump(X::Jb_rel32_64, self.bail)?;
            self.emit(Host::with2(X::Sub_rm64_imm32, R::RAX, load.bytes() as i32))?;
            self.jump(X::Jb_rel32_64, self.bail)?;
            let farthest = self.fixed(Fixed::Farthest);
            self.emit(Host::with2(X::Cmp_r64_rm64, R::RAX, farthest))?;
            self.emit(Host::with2(X::Cmova_r64_rm64, R::RAX, farthest))?;
            match base {
                Some(register) => {
                    let memory = at(SCALARS, 4 * i64::from(register));
                    self.emit(Host::with2(X::Mov_r64_rm64, R::R11, memory))?;
                    self.emit(Host::with2(X::Add_rm64_imm32, R::R11, offset))?;
                }
                None => self.emit(Host::with2(X::Mov_rm64_imm32, R::R11, offset))?,
            }
            self.emit(Host::with2(X::Sub_r64_rm64, R::R11, R::R10))?;
            for (displacement, register) in [(LOWER, R::R11), (LIMIT, R::RAX), (BEGINNING, R::R10)]
            {
                let memory = self.fixed_memory(fixture, displacement);
                self.emit(Host::with2(X::Mov_rm64_r64, memory, register))?;
            }
        }
        Some(())
    }

    /// Checks a chunk's addresses in global memory, and leaves their distances from the allocation's beginning in
    /// [`DISTANCE`].
    fn check_global(&mut self, low: Id, high: Option<Id>, number: u32) -> Option<()> {
        let fixture = *self.fixtures.get(&number)?;
        let [lower, upper, limit] = [LOWER, UPPER, LIMIT].map(|part| {
            let mut memory = self.fixed_memory(fixture, part);
            memory.is_broadcast = true;
            memory
        });
        let add = X::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
        let low = self.ensure(low, &[])?;
        self.three(add, DISTANCE, low, Source::Memory(lower))?;
        self.compare(R::K1, DISTANCE, LESS, Source::Memory(lower))?;
        // The upper half of the sum must be 0.
        match high {
            Some(high) => {
                let high = self.ensure(high, &[low])?;
                self.three(add, SPARE, high, Source::Memory(upper))?;
            }
            None => self.fill(SPARE, upper)?,
        }
        let one = Source::Memory(self.constant(1));
        self.three(add, SPARE, SPARE, one)?;
        self.host.last_mut()?.set_op_mask(R::K1);
        self.test(R::K1, SPARE)?;
        self.compare(R::K2, DISTANCE, ABOVE, Source::Memory(limit))?;
        self.leave_if_any(R::K1, R::K2)
    }

    /// Writes down how lanes lie.
    fn find_rows(&mut self, offsets: usize, pattern: Pattern) -> Option<()> {
        let (first, next) = (SPARE, SPARE + 2);
        self.emit(Host::with2(
            X::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
            zmm(first),
            xmm(offsets),
        ))?;
        self.all_equal(offsets, first, self.stack(pattern.facts, SAME))?;
        for (row, distances) in [Fixed::Row4, Fixed::Row8, Fixed::Row16]
            .into_iter()
            .enumerate()
        {
            if pattern.rows[row] {
                let distances = Source::Memory(self.fixed(distances));
                self.three(
                    X::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
                    next,
                    first,
                    distances,
                )?;
                let fact = self.stack(pattern.facts, SAME + 1 + row as i64);
                self.all_equal(offsets, next, fact)?;
            }
        }
        Some(())
    }

    /// Writes down whether two registers are the same.
    fn all_equal(&mut self, a: usize, b: usize, fact: MemoryOperand) -> Option<()> {
        self.emit(Host::with3(
            X::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32,
            R::K1,
            zmm(a),
            zmm(b),
        ))?;
        self.emit(Host::with2(X::VEX_Kortestw_kr_kr, R::K1, R::K1))?;
        // The carry says that all bits are 1.
        self.emit(Host::with1(X::Setb_rm8, fact))
    }

    /// Loads lanes that are one behind the other, the first at `r10`.
    fn load_row(&mut self, load: &Load, results: &[Option<usize>]) -> Option<()> {
        let vector = |number: i64| at(R::R10, i64::from(load.offset) + number * CHUNK);
        let unaligned = X::EVEX_Vmovdqu32_zmm_k1z_zmmm512;
        match *results {
            [Some(result)] => self.emit(Host::with2(unaligned, zmm(result), vector(0))),
            [low, high] => {
                self.emit(Host::with2(unaligned, zmm(SPARE), vector(0)))?;
                for (result, pick) in [(low, Fixed::Even), (high, Fixed::Odd)] {
                    if let Some(result) = result {
                        self.pick(result, pick, SPARE, vector(1))?;
                    }
                }
                Some(())
            }
            [_, _, _, _] => {
                let (a, b) = (SPARE, SPARE + 1);
                self.emit(Host::with2(unaligned, zmm(a), vector(0)))?;
                self.emit(Host::with2(unaligned, zmm(b), vector(2)))?;
                for (pair, pick) in [(0, Fixed::FirstTwo), (2, Fixed::LastTwo)] {
                    if results[pair].or(results[pair + 1]).is_none() {
                        continue;
                    }
                    let (low, high) = (SPARE + 2, SPARE + 3);
                    self.pick(low, pick, a, vector(1))?;
                    self.pick(high, pick, b, vector(3))?;
                    const LOWER: u32 = 0x44;
                    const UPPER: u32 = 0xee;
                    for (place, halves) in [(pair, LOWER), (pair + 1, UPPER)] {
                        if let Some(result) = results[place] {
                            let code = X::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8;
                            self.emit(Host::with4(code, zmm(result), zmm(low), zmm(high), halves))?;
                        }
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Picks dwords of a register and of memory.
    fn pick(&mut self, result: usize, pick: Fixed, a: usize, b: MemoryOperand) -> Option<()> {
        let pick = self.fixed(pick);
        self.fill(result, pick)?;
        self.emit(Host::with3(
            X::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32,
            zmm(result),
            zmm(a),
            b,
        ))
    }

    /// Loads lanes wherever they are: behind LDS by what stands in a slot, or behind `r11` by [`DISTANCE`].
    fn load_anywhere(
        &mut self,
        load: &Load,
        results: &[Option<usize>],
        lanes: Option<usize>,
    ) -> Option<()> {
        let offset = i64::from(load.offset);
        if results.len() == 4 {
            let gather = match self.gather {
                Some(label) => label,
                None => {
                    let label = self.label();
                    self.gather = Some(label);
                    label
                }
            };
            match lanes {
                Some(slot) => {
                    let lanes = self.stack(slot, 0);
                    self.emit(Host::with2(X::Lea_r64_m, R::R10, lanes))?;
                    self.emit(Host::with2(X::Lea_r64_m, R::R11, at(LDS, offset)))?;
                }
                None => {
                    let slot = self.take_slot();
                    let lanes = self.stack(slot, 0);
                    self.left_slots.push(slot);
                    let code = X::EVEX_Vmovdqa32_zmmm512_k1z_zmm;
                    self.emit(Host::with2(code, lanes, zmm(DISTANCE)))?;
                    self.emit(Host::with2(X::Lea_r64_m, R::R10, lanes))?;
                }
            }
            self.jump(X::Call_rel32_64, gather)?;
            for (result, gathered) in results.iter().zip(GATHERED) {
                if let Some(result) = *result {
                    let code = X::EVEX_Vmovdqa32_zmm_k1z_zmmm512;
                    self.emit(Host::with2(code, zmm(result), zmm(gathered)))?;
                }
            }
            return Some(());
        }
        let base = match lanes {
            Some(slot) => {
                let lanes = self.stack(slot, 0);
                self.fill(DISTANCE, lanes)?;
                LDS
            }
            None => R::R11,
        };
        for (place, part) in results.iter().zip(0_i64..) {
            if let Some(place) = *place {
                self.emit(Host::with3(X::VEX_Kxnorw_kr_kr_kr, R::K1, R::K1, R::K1))?;
                let memory = MemoryOperand::with_base_index_scale_displ_size(
                    base,
                    zmm(DISTANCE),
                    1,
                    offset + 4 * part,
                    1,
                );
                self.emit(Host::with2(
                    X::EVEX_Vpgatherdd_zmm_k1_vm32z,
                    zmm(place),
                    memory,
                ))?;
                self.host.last_mut()?.set_op_mask(R::K1);
            }
        }
        Some(())
    }

    /// A function that loads four dwords of each lane: `r10` is where the lanes' addresses stand, `r11` where they
    /// begin.
    fn gather_four(&mut self) -> Option<()> {
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| SPARE + n);
        let spare = SPARE;
        // Each block of four dwords is a lane's: those of lanes 0, 4, 8 and 12 are one vector, and so on, so that turning
        // blocks of four lanes makes vectors of dwords in the lanes' order.
        for (column, vector) in [a, b, c, d].into_iter().enumerate() {
            for block in 0..4 {
                let lane = 4 * block + column;
                self.emit(Host::with2(
                    X::Mov_r32_rm32,
                    R::EAX,
                    at(R::R10, 4 * lane as i64),
                ))?;
                let memory = MemoryOperand::with_base_index(R::R11, R::RAX);
                self.emit(match block {
                    0 => Host::with2(X::EVEX_Vmovdqu32_xmm_k1z_xmmm128, xmm(vector), memory),
                    _ => Host::with4(
                        X::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
                        zmm(vector),
                        zmm(vector),
                        memory,
                        block as u32,
                    ),
                })?;
            }
        }
        let low = X::EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32;
        let high = X::EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32;
        let lows = X::EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64;
        let highs = X::EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64;
        for (code, result, first, second) in [
            (low, spare, a, b),
            (high, b, a, b),
            (low, a, c, d),
            (high, d, c, d),
            (lows, c, spare, a),
            (highs, spare, spare, a),
            (lows, a, b, d),
            (highs, b, b, d),
        ] {
            self.three(code, result, first, Source::Register(second))?;
        }
        self.emit(Ok(Host::with(X::Retnq)))
    }
}

/// Where [`Assembler::gather_four`] leaves the dwords.
const GATHERED: [usize; 4] = [SPARE + 3, SPARE, SPARE + 1, SPARE + 2];

/// Which of the rows of [`Address::rows`] a load's lanes may be in.
fn row(load: &Load) -> Option<usize> {
    match load.results.len() {
        1 => Some(0),
        2 => Some(1),
        4 => Some(2),
        _ => None,
    }
}
