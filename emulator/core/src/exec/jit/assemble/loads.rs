//! Host code for loads: checks a chunk's addresses, and selects a load by how they are arranged.

use iced_x86::{Code as X, Instruction as Host, MemoryOperand, Register as R};

use super::{
    ABOVE, Assembler, CHUNK, DISTANCE, Fixed, LDS, LDS_BYTES, LESS, RECENT, SCALARS, SPARE, Source,
    at, xmm, ymm, zmm,
};
use crate::exec::jit::ir::{Address, Id, Load, Relation};
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

impl Assembler<'_> {
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
        if fixture.is_some() {
            self.load_same(load, results)?;
            self.here(done);
            return Some(());
        }
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

    /// Loads from one address, at `r10`, for all lanes: two and four dwords in one piece.
    fn load_same(&mut self, load: &Load, results: &[Option<usize>]) -> Option<()> {
        let offset = i64::from(load.offset);
        let piece = match results.len() {
            2 => X::EVEX_Vpbroadcastq_zmm_k1z_xmmm64,
            4 => X::EVEX_Vbroadcasti32x4_zmm_k1z_m128,
            _ => X::INVALID,
        };
        if piece != X::INVALID {
            self.emit(Host::with2(piece, zmm(SPARE), at(R::R10, offset)))?;
        }
        for (place, part) in results.iter().zip(0_u32..) {
            let Some(place) = *place else {
                continue;
            };
            self.emit(match piece {
                X::INVALID => Host::with2(
                    X::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
                    zmm(place),
                    at(R::R10, offset + 4 * i64::from(part)),
                ),
                // Each group of four lanes holds the four dwords (or two dwords twice); one is copied to all.
                _ => Host::with3(
                    X::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8,
                    zmm(place),
                    zmm(SPARE),
                    0x55 * part,
                ),
            })?;
        }
        Some(())
    }

    /// Checks a chunk's addresses in LDS, and finds how they are arranged.
    fn check_lds(&mut self, id: Id, pattern: Pattern) -> Option<()> {
        let offsets = self.ensure(id, &[])?;
        // The highest valid address. Addresses that wrap around with the offset are left to the operations.
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

    pub(super) fn compare(
        &mut self,
        mask: R,
        a: usize,
        relation: Relation,
        b: Source,
    ) -> Option<()> {
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

    /// Leaves the chunk to the operations if a bit of either mask is set.
    fn leave_if_any(&mut self, a: R, b: R) -> Option<()> {
        self.emit(Host::with2(X::VEX_Kortestw_kr_kr, a, b))?;
        self.jump(X::Jne_rel32_64, self.bail)
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

    /// Stores the facts of a [`Pattern`].
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

    /// Stores whether two registers are equal.
    fn all_equal(&mut self, a: usize, b: usize, fact: MemoryOperand) -> Option<()> {
        self.emit(Host::with3(
            X::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32,
            R::K1,
            zmm(a),
            zmm(b),
        ))?;
        self.emit(Host::with2(X::VEX_Kortestw_kr_kr, R::K1, R::K1))?;
        // The carry flag says that all bits are 1.
        self.emit(Host::with1(X::Setb_rm8, fact))
    }

    /// Loads contiguous lanes, the first at `r10`. Each row of 64 bytes is read once: a second read might see what
    /// another host thread has stored meanwhile.
    fn load_row(&mut self, load: &Load, results: &[Option<usize>]) -> Option<()> {
        let vector = |number: i64| at(R::R10, i64::from(load.offset) + number * CHUNK);
        let unaligned = X::EVEX_Vmovdqu32_zmm_k1z_zmmm512;
        let (a, b) = (SPARE, SPARE + 1);
        match *results {
            [Some(result)] => self.emit(Host::with2(unaligned, zmm(result), vector(0))),
            [low, high] => {
                self.emit(Host::with2(unaligned, zmm(a), vector(0)))?;
                self.emit(Host::with2(unaligned, zmm(b), vector(1)))?;
                for (result, pick) in [(low, Fixed::Even), (high, Fixed::Odd)] {
                    if let Some(result) = result {
                        self.pick(result, pick, a, b)?;
                    }
                }
                Some(())
            }
            [_, _, _, _] => {
                let (first, last, upper_lanes) = (SPARE + 2, SPARE + 3, SPARE + 4);
                self.emit(Host::with2(unaligned, zmm(a), vector(0)))?;
                self.emit(Host::with2(unaligned, zmm(b), vector(1)))?;
                self.pick(first, Fixed::FirstTwo, a, b)?;
                self.pick(last, Fixed::LastTwo, a, b)?;
                self.emit(Host::with2(unaligned, zmm(a), vector(2)))?;
                self.emit(Host::with2(unaligned, zmm(b), vector(3)))?;
                for (pair, pick, lower_lanes) in
                    [(0, Fixed::FirstTwo, first), (2, Fixed::LastTwo, last)]
                {
                    if results[pair].or(results[pair + 1]).is_none() {
                        continue;
                    }
                    self.pick(upper_lanes, pick, a, b)?;
                    const LOWER: u32 = 0x44;
                    const UPPER: u32 = 0xee;
                    for (place, halves) in [(pair, LOWER), (pair + 1, UPPER)] {
                        if let Some(result) = results[place] {
                            let code = X::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8;
                            let (lower, upper) = (zmm(lower_lanes), zmm(upper_lanes));
                            self.emit(Host::with4(code, zmm(result), lower, upper, halves))?;
                        }
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Picks dwords of two registers.
    fn pick(&mut self, result: usize, pick: Fixed, a: usize, b: usize) -> Option<()> {
        let pick = self.fixed(pick);
        self.fill(result, pick)?;
        self.emit(Host::with3(
            X::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32,
            zmm(result),
            zmm(a),
            zmm(b),
        ))
    }

    /// Loads lanes wherever they are: by the LDS addresses in a stack slot, or at `r11` plus [`DISTANCE`].
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
        if let ([low, high], None) = (results, lanes) {
            return self.gather_two(offset, [*low, *high]);
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

    /// Loads two dwords per lane in one piece, at `r11` plus [`DISTANCE`] plus an offset.
    fn gather_two(&mut self, offset: i64, results: [Option<usize>; 2]) -> Option<()> {
        let (first, last, rest) = (SPARE, SPARE + 2, SPARE + 3);
        let upper = X::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.emit(Host::with3(upper, ymm(rest), zmm(DISTANCE), 1))?;
        for (lanes, distances) in [(first, DISTANCE), (last, rest)] {
            self.emit(Host::with3(X::VEX_Kxnorw_kr_kr_kr, R::K1, R::K1, R::K1))?;
            let memory = MemoryOperand::with_base_index_scale_displ_size(
                R::R11,
                ymm(distances),
                1,
                offset,
                1,
            );
            self.emit(Host::with2(
                X::EVEX_Vpgatherdq_zmm_k1_vm32y,
                zmm(lanes),
                memory,
            ))?;
            self.host.last_mut()?.set_op_mask(R::K1);
        }
        for (result, pick) in results.into_iter().zip([Fixed::Even, Fixed::Odd]) {
            if let Some(result) = result {
                let pick = self.fixed(pick);
                self.fill(result, pick)?;
                self.three(
                    X::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32,
                    result,
                    first,
                    Source::Register(last),
                )?;
            }
        }
        Some(())
    }

    /// A function that loads four dwords per lane: `r10` points to the lanes' addresses, `r11` is their base.
    pub(super) fn gather_four(&mut self) -> Option<()> {
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| SPARE + n);
        let spare = SPARE;
        // Each block of four dwords is one lane's. Lanes 0, 4, 8 and 12 are in one vector, and so on, so that
        // transposing blocks of four lanes gives vectors of dwords in the lanes' order.
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

/// Which of [`Pattern::rows`] a load's lanes may form.
fn row(load: &Load) -> Option<usize> {
    match load.results.len() {
        1 => Some(0),
        2 => Some(1),
        4 => Some(2),
        _ => None,
    }
}
