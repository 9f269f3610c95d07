//! Host code for loads: checks a chunk's addresses, and selects a load by how they are arranged.

use iced_x86::{Code as X, Instruction as Host, MemoryOperand, Register as R};

use super::{
    Assembler, LDS, LDS_BYTES, RECENT, SCALARS, Source, Vectors, at,
    emitter::{Emitter, Fixed},
    spread,
    vectors::Addresses,
};
use crate::exec::jit::ir::{Address, Id, Load, Operator};
use crate::memory::Reach;

/// How the addresses of some loads are arranged, found once per chunk. Loads whose lanes have the same distances from
/// each other share it.
#[derive(Clone, Copy, Default)]
pub(super) struct Pattern {
    /// The stack slot of the facts. For LDS, also the host address of the first lane.
    facts: usize,
    /// The slot of all lanes' addresses, for LDS.
    lanes: usize,
    /// Largest end of a load from LDS, in bytes from the address.
    end: u32,
    /// Whether a load uses contiguous lanes of 4, 8 and 16 bytes.
    rows: [bool; 3],
    /// Loads that still follow.
    left: u32,
    found: bool,
}

/// Where [`Pattern::facts`] has «all lanes are at one address»; «contiguous» for 4, 8 and 16 bytes follows.
const SAME: i64 = 8;

/// What is known of a load from global memory before the first chunk: where it is on the stack.
#[derive(Clone, Copy)]
pub(super) struct Fixture {
    slot: usize,
    displacement: i64,
}

/// Bytes of a [`Fixture`].
const FIXTURE: i64 = 32;
/// Fields of a [`Fixture`]: the lower and upper half of what is added to addresses to get distances from the beginning
/// of the allocation, the largest distance of a lane, and the beginning of the allocation.
const LOWER: i64 = 0;
const UPPER: i64 = 4;
const LIMIT: i64 = 8;
const BEGINNING: i64 = 16;

/// What loads with the same [`Pattern`] have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The address in LDS.
    Lds(Id),
    /// The value that scalars and constants are added to: [`Region::root`](super::Region::root).
    Global(Id),
}

impl<V: Vectors> Assembler<'_, V> {
    fn key(&self, load: &Load) -> Key {
        match load.address {
            Address::Lds(id) => Key::Lds(id),
            Address::Global { low, .. } => Key::Global(self.region.root(low)),
        }
    }

    pub(super) fn find_patterns(&mut self) {
        for load in &self.region.loads {
            let key = self.key(load);
            let pattern = self.patterns.entry(key).or_default();
            pattern.end = pattern.end.max(load.offset + load.bytes());
            pattern.left += 1;
            if let Some(row) = row(load) {
                pattern.rows[row] = true;
            }
        }
    }

    pub(super) fn load(&mut self, number: u32, step: usize) -> Option<()> {
        let load = self.region.loads[number as usize].clone();
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
                    self.find_rows(V::DISTANCE, pattern)?;
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
        let (same, in_row, done) = (self.out.label(), self.out.label(), self.out.label());
        let fixture = self.fixtures.get(&number).copied();
        match fixture {
            Some(fixture) => {
                let beginning = self.fixed_memory(fixture, BEGINNING);
                V::first(&mut self.out, V::DISTANCE)?;
                self.out
                    .emit(Host::with2(X::Mov_r64_rm64, R::R11, beginning))?;
                let first = MemoryOperand::with_base_index(R::R11, R::RAX);
                self.out.emit(Host::with2(X::Lea_r64_m, R::R10, first))?;
            }
            None => {
                let first = self.stack(pattern.facts, 0);
                self.out.emit(Host::with2(X::Mov_r64_rm64, R::R10, first))?;
            }
        }
        let byte = |this: &Self, which: i64| this.stack(pattern.facts, SAME + which);
        self.out
            .emit(Host::with2(X::Cmp_rm8_imm8, byte(self, 0), 0))?;
        self.out.jump(X::Jne_rel32_64, same)?;
        let row = row(load);
        if let Some(row) = row {
            self.out
                .emit(Host::with2(X::Cmp_rm8_imm8, byte(self, 1 + row as i64), 0))?;
            self.out.jump(X::Jne_rel32_64, in_row)?;
        }
        self.load_anywhere(load, results, (fixture.is_none()).then_some(pattern.lanes))?;
        self.out.jump(X::Jmp_rel32_64, done)?;
        if row.is_some() {
            self.out.here(in_row);
            V::load_row(&mut self.out, i64::from(load.offset), results)?;
            self.out.jump(X::Jmp_rel32_64, done)?;
        }
        self.out.here(same);
        if fixture.is_some() {
            self.load_same(load, results)?;
            self.out.here(done);
            return Some(());
        }
        for (place, part) in results.iter().zip(0_i64..) {
            if let Some(place) = *place {
                let memory = spread(R::R10, i64::from(load.offset) + 4 * part);
                V::fill(&mut self.out, place, memory)?;
            }
        }
        self.out.here(done);
        Some(())
    }

    /// Loads from one address, at `r10`, for all lanes: two and four dwords in one piece.
    fn load_same(&mut self, load: &Load, results: &[Option<usize>]) -> Option<()> {
        let offset = i64::from(load.offset);
        let piece = match results.len() {
            2 => Some(V::SPREAD_64),
            4 => Some(V::SPREAD_128),
            _ => None,
        };
        let spare = V::register(V::SPARE);
        if let Some(piece) = piece {
            self.out
                .emit(Host::with2(piece, spare, at(R::R10, offset)))?;
        }
        for (place, part) in results.iter().zip(0_u32..) {
            let Some(place) = *place else {
                continue;
            };
            match piece {
                None => {
                    let memory = spread(R::R10, offset + 4 * i64::from(part));
                    V::fill(&mut self.out, place, memory)?;
                }
                // Each group of four lanes holds the four dwords (or two dwords twice); one is copied to all.
                Some(_) => {
                    let place = V::register(place);
                    self.out
                        .emit(Host::with3(V::SHUFFLE, place, spare, 0x55 * part))?;
                }
            }
        }
        Some(())
    }

    /// Checks a chunk's addresses in LDS, and finds how they are arranged.
    fn check_lds(&mut self, id: Id, pattern: Pattern) -> Option<()> {
        let offsets = self.ensure(id, &[])?;
        // The highest valid address. Addresses that wrap around with the offset are left to the operations.
        self.out
            .emit(Host::with2(X::Mov_r32_rm32, R::EAX, LDS_BYTES))?;
        self.out
            .emit(Host::with2(X::Sub_rm32_imm32, R::EAX, pattern.end))?;
        self.out.jump(X::Jb_rel32_64, Emitter::BAIL)?;
        V::leave_if_above(&mut self.out, offsets)?;
        let (lanes, facts) = (self.stack(pattern.lanes, 0), self.stack(pattern.facts, 0));
        V::store(&mut self.out, lanes, offsets)?;
        V::first(&mut self.out, offsets)?;
        self.out.emit(Host::with2(X::Add_r64_rm64, R::RAX, LDS))?;
        self.out.emit(Host::with2(X::Mov_rm64_r64, facts, R::RAX))?;
        self.find_rows(offsets, pattern)
    }

    fn fixed_memory(&self, fixture: Fixture, displacement: i64) -> MemoryOperand {
        self.stack(fixture.slot, fixture.displacement + displacement)
    }

    /// Before the first chunk: computes what each load from global memory needs of the allocation that it used last.
    pub(super) fn fix(&mut self) -> Option<()> {
        let mut free = Vec::new();
        for (number, load) in (0..).zip(&self.region.loads) {
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
                free.extend((0..Self::CHUNK / FIXTURE).map(|part| Fixture {
                    slot,
                    displacement: part * FIXTURE,
                }));
            }
            let fixture = free.pop()?;
            self.fixtures.insert(number, fixture);
            let reach = (usize::from(place) * size_of::<Reach>()) as i64;
            let (begins, ends) = (reach + Reach::BASE as i64, reach + Reach::END as i64);
            self.out
                .emit(Host::with2(X::Mov_r64_rm64, R::R10, at(RECENT, begins)))?;
            self.out
                .emit(Host::with2(X::Mov_r64_rm64, R::RAX, at(RECENT, ends)))?;
            self.out
                .emit(Host::with2(X::Sub_r64_rm64, R::RAX, R::R10))?;
            self.out.jump(X::Jb_rel32_64, Emitter::BAIL)?;
            self.out
                .emit(Host::with2(X::Sub_rm64_imm32, R::RAX, load.bytes() as i32))?;
            self.out.jump(X::Jb_rel32_64, Emitter::BAIL)?;
            let farthest = self.out.fixed(Fixed::Farthest);
            self.out
                .emit(Host::with2(X::Cmp_r64_rm64, R::RAX, farthest))?;
            self.out
                .emit(Host::with2(X::Cmova_r64_rm64, R::RAX, farthest))?;
            match base {
                Some(register) => {
                    let memory = at(SCALARS, 4 * i64::from(register));
                    self.out
                        .emit(Host::with2(X::Mov_r64_rm64, R::R11, memory))?;
                    self.out
                        .emit(Host::with2(X::Add_rm64_imm32, R::R11, offset))?;
                }
                None => self
                    .out
                    .emit(Host::with2(X::Mov_rm64_imm32, R::R11, offset))?,
            }
            self.out
                .emit(Host::with2(X::Sub_r64_rm64, R::R11, R::R10))?;
            for (displacement, register) in [(LOWER, R::R11), (LIMIT, R::RAX), (BEGINNING, R::R10)]
            {
                let memory = self.fixed_memory(fixture, displacement);
                self.out
                    .emit(Host::with2(X::Mov_rm64_r64, memory, register))?;
            }
        }
        Some(())
    }

    /// Checks a chunk's addresses in global memory, and leaves their distances from the allocation's beginning in
    /// [`Vectors::DISTANCE`].
    fn check_global(&mut self, low: Id, high: Option<Id>, number: u32) -> Option<()> {
        let fixture = *self.fixtures.get(&number)?;
        let [lower, upper, limit] = [LOWER, UPPER, LIMIT].map(|part| {
            let mut memory = self.fixed_memory(fixture, part);
            memory.is_broadcast = true;
            memory
        });
        let low = self.ensure(low, &[])?;
        let high = match high {
            Some(high) => Some(self.ensure(high, &[low])?),
            None => None,
        };
        V::check_distances(&mut self.out, low, high, [lower, upper], limit)
    }

    /// Stores the facts of a [`Pattern`].
    fn find_rows(&mut self, offsets: usize, pattern: Pattern) -> Option<()> {
        let (first, next) = (V::SPARE, V::NEXT);
        V::spread_first(&mut self.out, first, offsets)?;
        let fact = self.stack(pattern.facts, SAME);
        V::all_equal(&mut self.out, offsets, first, fact)?;
        for (row, distances) in [Fixed::Row4, Fixed::Row8, Fixed::Row16]
            .into_iter()
            .enumerate()
        {
            if pattern.rows[row] {
                let distances = Source::Memory(self.out.fixed(distances));
                V::binary(&mut self.out, Operator::Add, next, first, distances)?;
                let fact = self.stack(pattern.facts, SAME + 1 + row as i64);
                V::all_equal(&mut self.out, offsets, next, fact)?;
            }
        }
        Some(())
    }

    /// Loads lanes wherever they are: by the LDS addresses in a stack slot, or at `r11` plus [`Vectors::DISTANCE`].
    fn load_anywhere(
        &mut self,
        load: &Load,
        results: &[Option<usize>],
        lanes: Option<usize>,
    ) -> Option<()> {
        let base = match lanes {
            Some(_) => LDS,
            None => R::R11,
        };
        let place = |slot: usize| Addresses::Stack(slot as i64 * Self::CHUNK);
        let addresses = match (lanes, V::gathers_from_stack(results.len())) {
            (Some(slot), true) => place(slot),
            (Some(slot), false) => {
                let lanes = self.stack(slot, 0);
                V::fill(&mut self.out, V::DISTANCE, lanes)?;
                Addresses::Register
            }
            (None, true) => {
                let slot = self.take_slot();
                let lanes = self.stack(slot, 0);
                self.left_slots.push(slot);
                V::store(&mut self.out, lanes, V::DISTANCE)?;
                place(slot)
            }
            (None, false) => Addresses::Register,
        };
        let offset = i64::from(load.offset);
        V::gather(&mut self.out, base, offset, addresses, results)
    }
}

/// Which of [`Pattern::rows`] a load's lanes may form.
fn row(load: &Load) -> Option<usize> {
    match load.results.len() {
        1 => Some(0),
        2 => Some(1),
        4 => Some(2),
        _ => None,
    }
}
