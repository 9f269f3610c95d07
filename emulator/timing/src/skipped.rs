//! The instructions that an estimate does not run.
//!
//! Of kernels with matrix instructions, these are left out: they take most of the time. Of other kernels, all instructions
//! are left out whose results decide neither which way waves take nor which memory they access. Liveness finds them,
//! backward from branches, `exec` and addresses. Scalar loads are taken to read memory that the kernel does not write, as
//! compilers use them, unless it invalidates the scalar cache or has scalar stores. Kernels of which some registers or
//! targets are only known at run time run as they are.

use std::ops::Range;

use ferrowave_emulator::{exec::Facts, program::Kernel};
use ferrowave_isa::{
    Category, Effect, Format, Instruction, Op, Operand, Register, Registers, Role, Source,
    registers,
};

use super::exec_masks::{EXEC, Mask, Masks};

/// For each instruction of a kernel, how many from it on are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Skipped {
    /// The index of the kernel's first instruction.
    first: u32,
    /// Where accesses to LDS are recorded.
    with_lds: Box<[u32]>,
    /// Where they are not.
    without_lds: Box<[u32]>,
}

impl Skipped {
    /// Those of a kernel.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let (all, code) = (kernel.instructions(), kernel.code());
        let is_matrix = |index| {
            let instruction = code.instruction(index);
            instruction.is_some_and(|i| i.category() == Category::Matrix)
        };
        let first = all.start;
        if all.clone().any(is_matrix) {
            let runs = runs(all.map(is_matrix));
            return Skipped {
                first,
                with_lds: runs.clone(),
                without_lds: runs,
            };
        }
        let steps = Steps::of(kernel);
        let Some(needed) = steps.needed() else {
            return Skipped::default();
        };
        let left_out = |has_lds: bool| {
            let steps = steps.list.iter().zip(&needed);
            runs(steps.map(move |(step, needed)| match step.kind {
                Kind::Hint => true,
                Kind::Vector => !needed,
                Kind::Lds => !needed && !has_lds,
                Kind::Other => false,
            }))
        };
        Skipped {
            first,
            with_lds: left_out(true),
            without_lds: left_out(false),
        }
    }

    /// How many instructions from an index on are left out.
    #[inline(always)]
    pub(super) fn from(&self, index: u32, records_lds: bool) -> u32 {
        let runs = match records_lds {
            true => &self.with_lds,
            false => &self.without_lds,
        };
        let run = runs.get(index.wrapping_sub(self.first) as usize);
        run.copied().unwrap_or(0)
    }
}

/// The lengths of the runs of `true` from each place on.
fn runs(all: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator) -> Box<[u32]> {
    let mut runs = vec![0; all.len()];
    let mut length = 0;
    for (run, is_in) in runs.iter_mut().zip(all).rev() {
        length = if is_in { length + 1 } else { 0 };
        *run = length;
    }
    runs.into()
}

/// What an instruction is, as far as it may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It only says when others can issue.
    Hint,
    /// A computation in vector registers.
    Vector,
    /// An access to LDS, or a permutation of lanes by it.
    Lds,
    /// Any other; it always runs.
    Other,
}

/// Global and private memory, in a mask of memories.
const GLOBAL: u8 = 1;
/// LDS.
const LDS: u8 = 2;

/// An instruction, as the analysis sees it.
struct Step<'a> {
    kind: Kind,
    /// `None` for words that are no instruction.
    facts: Option<&'a Facts>,
    /// Whether all of its sources are needed, whatever becomes of its results.
    is_root: bool,
    /// Whether it reads lanes other than those that it writes.
    crosses_lanes: bool,
    /// Whether lanes may be active after it that were inactive before.
    widens_exec: bool,
    /// Whether all lanes are active at it that ever are.
    has_full_exec: bool,
    /// The memories that it reads.
    loads: u8,
    /// The memories that it writes.
    stores: u8,
    /// Whether it is an access that waves synchronize by: what follows may read what others have stored.
    sees_others: bool,
    is_barrier: bool,
    /// Whether the next instruction may follow.
    goes_on: bool,
    /// The number of the instruction to which it branches.
    target: Option<usize>,
}

/// A kernel's instructions.
struct Steps<'a> {
    list: Vec<Step<'a>>,
    /// Whether all registers and targets are known.
    is_known: bool,
    /// Whether scalar loads may read what the kernel has stored.
    scalar_loads_see_stores: bool,
}

impl<'a> Steps<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        let (all, code) = (kernel.instructions(), kernel.code());
        let mut steps = Steps {
            list: Vec::with_capacity(all.len()),
            is_known: true,
            scalar_loads_see_stores: false,
        };
        for index in all.clone() {
            let facts = code.facts().get(index).and_then(Option::as_ref);
            let (Some(i), Some(facts)) = (code.instruction(index), facts) else {
                steps.list.push(Step::unknown());
                continue;
            };
            let mut step = Step::of(i, facts);
            match i.op {
                Op::s_branch
                | Op::s_cbranch_execnz
                | Op::s_cbranch_execz
                | Op::s_cbranch_scc0
                | Op::s_cbranch_scc1
                | Op::s_cbranch_vccnz
                | Op::s_cbranch_vccz => {
                    let target = code.branch_target(index);
                    let target = target.filter(|target| all.contains(target));
                    step.target = target.map(|target| (target - all.start) as usize);
                    steps.is_known &= step.target.is_some();
                    step.goes_on = i.op != Op::s_branch;
                }
                Op::s_endpgm => step.goes_on = false,
                Op::s_dcache_inv | Op::s_dcache_inv_vol => steps.scalar_loads_see_stores = true,
                _ => steps.is_known &= is_known(i),
            }
            steps.scalar_loads_see_stores |= facts.category == Category::ScalarMemory
                && matches!(facts.effect, Effect::Store | Effect::Atomic);
            steps.list.push(step);
        }
        if steps.is_known {
            steps.find_full_exec(kernel);
            steps.forget_first_loads();
        }
        steps
    }

    /// Finds where all lanes are active that ever are.
    fn find_full_exec(&mut self, kernel: &Kernel) {
        let blocks = self.blocks();
        let first = kernel.instructions().start;
        let instruction = |number: usize| kernel.code().instruction(first + number as u32);
        let mut at_start: Vec<Option<Masks>> = vec![None; blocks.len()];
        if let Some(start) = at_start.first_mut() {
            *start = Some(Masks::at_start(kernel.wave_size()));
        }
        let mut is_full = vec![false; self.list.len()];
        let mut changes = true;
        while changes {
            changes = false;
            for (number, block) in blocks.iter().enumerate() {
                let Some(mut masks) = at_start[number].clone() else {
                    continue;
                };
                for place in block.clone() {
                    is_full[place] = masks.exec() == Some(Mask::Full);
                    if let (Some(i), Some(facts)) = (instruction(place), self.list[place].facts) {
                        masks.run(place, i, facts);
                    }
                    if masks.exec().is_none() {
                        return;
                    }
                }
                let last = &self.list[block.end - 1];
                let next = last.goes_on.then_some(number + 1);
                let target = last.target.map(|target| block_at(&blocks, target));
                for next in next.into_iter().chain(target) {
                    match at_start.get_mut(next) {
                        Some(Some(known)) => changes |= known.keep_common(&masks),
                        Some(unknown) => {
                            *unknown = Some(masks.clone());
                            changes = true;
                        }
                        None => {}
                    }
                }
            }
        }
        for (step, is_full) in self.list.iter_mut().zip(is_full) {
            step.has_full_exec = is_full;
        }
    }

    /// Finds plain loads of global memory before which nothing was stored: they read what the launch did not write, so that
    /// no store is needed for them.
    fn forget_first_loads(&mut self) {
        let is_store = |step: &Step<'_>| step.stores & GLOBAL != 0 || step.sees_others;
        let behind = self.behind(is_store);
        let is_barrier = |step: &Step<'_>| step.is_barrier;
        let mut list = self.list.iter().zip(&behind);
        // Other waves may have stored before the same barrier.
        let behind = match list.any(|(step, &behind)| behind && is_barrier(step)) {
            true => self.behind(|step| is_store(step) || is_barrier(step)),
            false => behind,
        };
        for (step, behind) in self.list.iter_mut().zip(behind) {
            if !behind && !step.sees_others {
                step.loads &= !GLOBAL;
            }
        }
    }

    /// For each instruction, whether an instruction like that may have run before it in the same wave.
    fn behind(&self, is_cause: impl Fn(&Step<'_>) -> bool) -> Vec<bool> {
        let mut behind = vec![false; self.list.len()];
        let causes = self.list.iter().enumerate();
        let causes = causes.filter(|(_, step)| is_cause(step));
        let mut reached: Vec<usize> = causes.map(|(number, _)| number).collect();
        while let Some(number) = reached.pop() {
            let step = &self.list[number];
            let next = step.goes_on.then_some(number + 1);
            for next in next.into_iter().chain(step.target) {
                if let Some(behind) = behind.get_mut(next)
                    && !*behind
                {
                    *behind = true;
                    reached.push(next);
                }
            }
        }
        behind
    }

    /// Whether each instruction's results are needed; `None` if that is not known.
    fn needed(&self) -> Option<Vec<bool>> {
        if !self.is_known {
            return None;
        }
        let mut needed = vec![false; self.list.len()];
        // The memories that needed values are loaded from.
        let mut read = 0;
        loop {
            let before = read;
            self.propagate(&mut read, &mut needed);
            if read == before {
                return Some(needed);
            }
        }
    }

    /// Finds needed results until nothing changes.
    fn propagate(&self, read: &mut u8, needed: &mut [bool]) {
        let blocks = self.blocks();
        let mut at_start = vec![Live::default(); blocks.len()];
        let mut changes = true;
        while changes {
            changes = false;
            for (number, block) in blocks.iter().enumerate().rev() {
                let mut live = Live::default();
                let last = &self.list[block.end - 1];
                if last.goes_on
                    && let Some(next) = at_start.get(number + 1)
                {
                    live.add(next);
                }
                if let Some(target) = last.target {
                    live.add(&at_start[block_at(&blocks, target)]);
                }
                for place in block.clone().rev() {
                    let step = &self.list[place];
                    needed[place] |= step.apply(&mut live, read, self.scalar_loads_see_stores);
                }
                changes |= at_start[number].add(&live);
            }
        }
    }

    /// Ranges of instructions that are entered only at their start and left only at their end.
    fn blocks(&self) -> Vec<Range<usize>> {
        let branches = |step: &Step<'_>| step.target.is_some() || !step.goes_on;
        let targets = self.list.iter().filter_map(|step| step.target);
        let behind = (1..).zip(&self.list).filter(|(_, step)| branches(step));
        let mut starts: Vec<usize> = targets.chain(behind.map(|(next, _)| next)).collect();
        starts.extend([0, self.list.len()]);
        starts.sort_unstable();
        starts.dedup();
        starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

/// The number of the block that starts with an instruction.
fn block_at(blocks: &[Range<usize>], start: usize) -> usize {
    blocks.partition_point(|block| block.start < start)
}

/// Whether it is known which registers an instruction uses and which instruction follows it.
fn is_known(i: &Instruction) -> bool {
    /// The hardware register MODE, and its first bit that selects registers or skips instructions.
    const MODE: u32 = 1;
    const SELECTS: u32 = 27;
    match i.op {
        Op::s_setvskip | Op::s_set_gpr_idx_on | Op::s_set_gpr_idx_mode => false,
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => {
            let constants = i.src.iter().filter_map(|operand| match operand.source {
                Source::Literal(constant) => Some(constant),
                _ => None,
            });
            // Register, first bit and number of bits, less one.
            constants
                .take(1)
                .all(|c| c & 0x3f != MODE || (c >> 6 & 0x1f) + (c >> 11 & 0x1f) < SELECTS)
        }
        _ => i.category() != Category::Branch && i.relative().is_none(),
    }
}

impl<'a> Step<'a> {
    /// A word that is no instruction. Waves end there with a fault.
    const fn unknown() -> Self {
        Step {
            kind: Kind::Other,
            facts: None,
            is_root: false,
            crosses_lanes: false,
            widens_exec: false,
            has_full_exec: false,
            loads: 0,
            stores: 0,
            sees_others: false,
            is_barrier: false,
            goes_on: false,
            target: None,
        }
    }

    fn of(i: &Instruction, facts: &'a Facts) -> Self {
        let writes_exec = (facts.uses.writes.iter()).any(|r| r.overlap(EXEC));
        let (accesses, permutes) = (facts.effect != Effect::None, i.crosses_lanes());
        let kind = match facts.category {
            Category::Control if i.is_hint() => Kind::Hint,
            Category::Vector if !writes_exec => Kind::Vector,
            Category::Lds if (accesses || permutes) && !facts.global_sync => Kind::Lds,
            _ => Kind::Other,
        };
        let is_root = match facts.category {
            Category::Scalar | Category::Vector => writes_exec || i.writes_mode(),
            Category::ScalarMemory | Category::VectorMemory => false,
            Category::Lds => kind == Kind::Other,
            Category::Matrix
            | Category::Branch
            | Category::Barrier
            | Category::Wait
            | Category::Control => true,
        };
        let memories = match (facts.category, i.format) {
            (_, Format::Flat) => GLOBAL | LDS,
            (Category::Lds, _) => LDS,
            _ => GLOBAL,
        };
        let of = |effects: [Effect; 2]| match effects.contains(&facts.effect) {
            true => memories,
            false => 0,
        };
        Step {
            kind,
            facts: Some(facts),
            is_root,
            crosses_lanes: permutes,
            widens_exec: writes_exec && !narrows_exec(i),
            has_full_exec: false,
            loads: of([Effect::Load, Effect::Atomic]),
            stores: of([Effect::Store, Effect::Atomic]) | if facts.to_lds { LDS } else { 0 },
            sees_others: facts.coherent || facts.effect == Effect::Atomic,
            is_barrier: facts.category == Category::Barrier || facts.global_sync,
            goes_on: true,
            target: None,
        }
    }

    /// Turns what is needed after the instruction into what is needed before it. Returns whether its results are needed.
    fn apply(&self, live: &mut Live, read: &mut u8, scalar_loads_see_stores: bool) -> bool {
        let Some(facts) = self.facts else {
            return false;
        };
        let results = &facts.uses.writes;
        let has_live_result = results.iter().any(|&r| live.has_any(r));
        let is_needed = self.is_root || has_live_result || self.stores & *read != 0;
        let sees_stores = facts.category != Category::ScalarMemory || scalar_loads_see_stores;
        if has_live_result && sees_stores {
            *read |= self.loads;
        }
        if facts.to_lds && *read & LDS != 0 {
            *read |= GLOBAL;
        }
        if self.widens_exec {
            live.in_other_lanes = live.anywhere;
        }
        if !facts.uses.partial {
            for register in results.iter().flat_map(|r| r.iter()) {
                live.remove(register, self.has_full_exec);
            }
        }
        for source in &facts.uses.reads {
            let is_address = source.role == Role::Address && facts.effect != Effect::None;
            if is_needed || is_address {
                live.insert(source.registers, self.crosses_lanes);
            }
        }
        is_needed
    }
}

/// Whether an instruction that writes `exec` only deactivates lanes.
fn narrows_exec(i: &Instruction) -> bool {
    let is_exec = |operand: &Operand| {
        registers(operand).is_some_and(|registers| registers.first == EXEC.first)
    };
    match i.op {
        Op::s_and_saveexec_b32 | Op::s_and_saveexec_b64 => true,
        Op::s_and_b32 | Op::s_and_b64 => i.src.iter().any(is_exec),
        Op::s_andn2_b32 | Op::s_andn2_b64 => is_exec(&i.src[0]),
        // Compares set the bits of inactive lanes to 0.
        _ => i.is_vector(),
    }
}

/// Registers whose values are needed.
#[derive(Clone, Copy, Default, PartialEq)]
struct Live {
    anywhere: Set,
    /// Those that are needed in lanes that may be inactive: vector instructions do not replace them.
    in_other_lanes: Set,
}

impl Live {
    fn has_any(&self, registers: Registers) -> bool {
        registers.iter().any(|r| self.anywhere.contains(r))
    }

    /// Adds those of another place, and says whether that changed anything.
    fn add(&mut self, other: &Live) -> bool {
        let before = *self;
        self.anywhere.add(&other.anywhere);
        self.in_other_lanes.add(&other.in_other_lanes);
        *self != before
    }

    fn insert(&mut self, registers: Registers, in_other_lanes: bool) {
        for register in registers.iter() {
            self.anywhere.insert(register);
            if in_other_lanes {
                self.in_other_lanes.insert(register);
            }
        }
    }

    /// The register gets a new value in the active lanes.
    fn remove(&mut self, register: Register, are_all_active: bool) {
        if are_all_active || !register.is_vector() || !self.in_other_lanes.contains(register) {
            self.anywhere.remove(register);
            self.in_other_lanes.remove(register);
        }
    }
}

/// A set of registers.
#[derive(Clone, Copy, PartialEq)]
struct Set([u64; Register::COUNT.div_ceil(64)]);

impl Default for Set {
    fn default() -> Self {
        Set([0; Register::COUNT.div_ceil(64)])
    }
}

impl Set {
    const fn contains(&self, register: Register) -> bool {
        self.0[register.0 as usize / 64] >> (register.0 % 64) & 1 == 1
    }

    const fn insert(&mut self, register: Register) {
        self.0[register.0 as usize / 64] |= 1 << (register.0 % 64);
    }

    const fn remove(&mut self, register: Register) {
        self.0[register.0 as usize / 64] &= !(1 << (register.0 % 64));
    }

    fn add(&mut self, other: &Set) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }
}
