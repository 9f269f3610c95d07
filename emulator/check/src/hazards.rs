//! Required wait states of CDNA that a program does not provide.
//!
//! Each instruction that a wave issues counts as one wait state, `s_nop n` as n + 1. [`super::hazard_rules`] contains
//! the rules. This module keeps the history that they need: for each register, the last instruction of each kind that
//! accessed it, and when.
//!
//! Whether a hazard is possible depends only on a wave's last few instructions, so the result is cached per path
//! ([`super::path_history`]): nearly all instructions are checked only once.

use ferrowave_gpu::{Family, Gpu};

use super::{
    Example, Findings, Key, Kind, Side,
    by_index::ByIndex,
    hazard_rules::{
        Producer, Reader, concerns_all, consumer, owed_after_matrix, owed_after_source,
        owed_after_vector, producer,
    },
    path_history::{self, PathHistory, PathId, Walk},
};
use ferrowave_emulator::exec::{Code, Wave};
use ferrowave_isa::{Instruction, Op, Register, Registers, Source};

/// No rule requires more wait states than this.
pub(super) const LONGEST: u64 = 24;
// Each instruction is at least one wait state.
const _: () = assert!(LONGEST <= path_history::LENGTH as u64);

/// The last write of a register by one kind of instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Write {
    /// The time in wait states, starting at 1; 0 means never.
    at: u64,
    index: u32,
}

/// A wave's accesses to one register.
#[derive(Clone, Copy, Debug, Default)]
struct RegisterHistory {
    /// Written by the vector unit.
    vector: Write,
    /// Written by a matrix instruction, whose result begins at this register.
    matrix: Write,
    matrix_first: u16,
    /// Read by a matrix instruction as its third source.
    matrix_source: Write,
    /// Written by the scalar unit.
    scalar: Write,
    /// Read as the data of a store of more than 64 bits per lane.
    stored: Write,
}

/// What a wave has done recently.
struct History {
    now: u64,
    /// The time of the last instruction for which [`concerns_all`] is true.
    concerned: u64,
    registers: Box<[RegisterHistory; Register::COUNT]>,
    /// The last `s_setreg` of each hardware register.
    set: [Write; 64],
}

impl Default for History {
    fn default() -> Self {
        History {
            // Far from time 0, at which nothing was written.
            now: 2 * LONGEST,
            concerned: 0,
            registers: Box::new([RegisterHistory::default(); Register::COUNT]),
            set: [Write::default(); 64],
        }
    }
}

/// The last paths on which an instruction was found to have no hazard: one without a jump, one with.
pub(super) type Clean = [PathId; 2];

/// What the check needs to know about an instruction.
pub(super) struct Plan {
    pub(super) producer: Producer,
    /// [`concerns_all`] of its producer.
    pub(super) concerns_all: bool,
    pub(super) readers: Vec<Reader>,
    /// The number of wait states that it provides.
    pub(super) states: u64,
    /// The hardware register that it accesses, and whether it sets it.
    pub(super) hardware: Option<(u8, bool)>,
}

impl Plan {
    fn new(instruction: &Instruction, gpu: Gpu) -> Self {
        let immediate = instruction
            .src
            .iter()
            .find_map(|operand| match operand.source {
                Source::Literal(value) => Some(value),
                _ => None,
            });
        let immediate = immediate.unwrap_or(0);
        let producer = producer(instruction, gpu);
        Plan {
            concerns_all: concerns_all(&producer),
            producer,
            readers: consumer(instruction, gpu),
            states: match instruction.op {
                Op::s_nop => u64::from(immediate & 0xf) + 1,
                _ => 1,
            },
            hardware: match instruction.op {
                Op::s_getreg_b32 => Some((immediate as u8 & 63, false)),
                Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => Some((immediate as u8 & 63, true)),
                _ => None,
            },
        }
    }
}

pub(super) struct Hazards {
    gpu: Gpu,
    /// The plans of the instructions that were checked or ran before a checked one.
    plans: ByIndex<Plan>,
    paths: PathHistory,
    walks: Vec<Walk>,
    /// The history before the instruction that was checked last.
    history: History,
    /// The wave of `history`, and how many instructions it had run.
    history_of: Option<(u32, u64)>,
}

impl Hazards {
    pub(super) fn new(gpu: Gpu) -> Self {
        Hazards {
            gpu,
            plans: ByIndex::default(),
            paths: PathHistory::default(),
            walks: Vec::new(),
            history: History::default(),
            history_of: None,
        }
    }

    /// Starts a workgroup with this number of waves.
    pub(super) fn begin(&mut self, waves: usize) {
        self.walks.clear();
        self.walks.resize_with(waves, Walk::default);
        self.history_of = None;
    }

    /// Checks the instruction that a wave is about to run.
    #[inline]
    pub(super) fn step(
        &mut self,
        index: u32,
        clean: &mut Clean,
        wave: &Wave,
        code: &Code,
        findings: &mut Findings,
    ) {
        let Some(walk) = self.walks.get_mut(wave.index as usize) else {
            return;
        };
        let path = walk.go(index, &mut self.paths);
        if !clean.contains(&path) {
            self.look_by(path, index, clean, wave, code, findings);
        }
    }

    /// Checks an instruction on a path that is not known to be free of hazards.
    #[inline(never)]
    fn look_by(
        &mut self,
        path: PathId,
        index: u32,
        clean: &mut Clean,
        wave: &Wave,
        code: &Code,
        findings: &mut Findings,
    ) {
        // With VGPR indexing, the registers are not known.
        if wave.mode.indexes_registers() {
            return;
        }
        let walk = &self.walks[wave.index as usize];
        let steps = walk.steps();
        let goes_on = steps > 0 && self.history_of == Some((wave.index, steps - 1));
        let unknown: Vec<u32> = match goes_on {
            true => walk.last().into_iter().collect(),
            false => walk.before().collect(),
        };
        if !goes_on {
            // The old history is of another place: move it out of the range of all rules.
            self.history.now += LONGEST;
        }
        for index in unknown {
            self.note(index, code);
        }
        self.history_of = Some((wave.index, steps));
        let owes = self.look(index, wave, code, findings);
        if owes || path == PathId::UNKNOWN {
            return;
        }
        clean[usize::from(path != PathId::STRAIGHT)] = path;
    }

    /// The place of an instruction's plan, which is created on first use.
    fn make_plan(&mut self, index: u32, code: &Code) -> Option<usize> {
        let gpu = self.gpu;
        self.plans.insert_with(index, code, || {
            code.instruction(index).map(|i| Plan::new(i, gpu))
        })
    }

    /// The plan of an instruction.
    fn plan(&self, index: u32) -> Option<&Plan> {
        self.plans.get(index)
    }

    /// Reports hazards of an instruction. Returns whether there are any.
    fn look(&mut self, index: u32, wave: &Wave, code: &Code, findings: &mut Findings) -> bool {
        let place = self.make_plan(index, code);
        let Some(plan) = place.and_then(|place| self.plans.at(place)) else {
            return false;
        };
        let quiet = self.history.now - self.history.concerned >= LONGEST;
        let readers = plan.readers.iter();
        let mut owes = false;
        for reader in readers.filter(|reader| !(quiet && reader.is_ordinary())) {
            for register in reader.registers.iter() {
                owes |= self.look_at(register, reader, index, wave, findings);
            }
        }
        if let Some((number, _)) = plan.hardware {
            owes |= self.look_at_hardware(number, index, wave, findings);
        }
        owes
    }

    /// Reports hazards of reading a register. Returns whether there are any.
    fn look_at(
        &self,
        register: Register,
        reader: &Reader,
        index: u32,
        wave: &Wave,
        findings: &mut Findings,
    ) -> bool {
        let history = &self.history;
        let Some(h) = history.registers.get(usize::from(register.0)) else {
            return false;
        };
        let mut owes = false;
        let mut check = |write: Write, owed: u64, did: &'static str| {
            let since = history.now - write.at;
            if write.at != 0 && since < owed {
                owes = true;
                report(
                    index,
                    wave,
                    register,
                    write.index,
                    (since, owed),
                    did,
                    findings,
                );
            }
        };
        let is_recent = |write: Write| history.now - write.at < LONGEST;
        let matrix = |write: Write| match self.plan(write.index).map(|plan| &plan.producer) {
            Some(Producer::Matrix(by)) if is_recent(write) => Some(by),
            _ => None,
        };
        if is_recent(h.vector)
            && let Some(by) = self.plan(h.vector.index)
        {
            let owed = owed_after_vector(&by.producer, reader, register);
            check(h.vector, owed, "writes it");
        }
        if let Some(by) = matrix(h.matrix) {
            let same = h.matrix_first == reader.registers.first.0;
            let owed = owed_after_matrix(self.gpu, by, reader, same);
            check(h.matrix, owed, "writes it");
        }
        if let Some(by) = matrix(h.matrix_source) {
            let owed = owed_after_source(self.gpu, by, reader);
            check(h.matrix_source, owed, "reads it");
        }
        check(h.scalar, reader.owed_after_scalar, "writes it");
        check(h.stored, reader.owed_after_store, "stores it");
        owes
    }

    /// Reports the hazard of using a hardware register. Returns whether there is one.
    fn look_at_hardware(
        &self,
        number: u8,
        index: u32,
        wave: &Wave,
        findings: &mut Findings,
    ) -> bool {
        // LLVM's `GCNHazardRecognizer`: `s_getreg` and `s_setreg` require 2 after an `s_setreg` of the same register.
        const OWED: u64 = 2;
        let write = self.history.set[usize::from(number)];
        let since = self.history.now - write.at;
        if write.at == 0 || since >= OWED {
            return false;
        }
        let key = Key {
            kind: Kind::Hazard,
            index,
            other: Some(write.index),
        };
        findings.add(key, |workgroup| {
            example(
                index,
                wave,
                workgroup,
                format!("uses hardware register {number}"),
                (write.index, since, OWED, "sets it"),
            )
        });
        true
    }

    /// Adds an instruction that has run to the history.
    fn note(&mut self, index: u32, code: &Code) {
        let place = self.make_plan(index, code);
        let (Some(plan), Some(Some(facts))) = (
            place.and_then(|place| self.plans.at(place)),
            code.facts().get(index),
        ) else {
            return;
        };
        let history = &mut self.history;
        history.now += plan.states;
        let write = Write {
            at: history.now,
            index,
        };
        if plan.concerns_all {
            history.concerned = history.now;
        }
        let registers = &mut history.registers;
        let mut each = |list: Registers, f: &mut dyn FnMut(&mut RegisterHistory)| {
            for register in list.iter() {
                if let Some(history) = registers.get_mut(usize::from(register.0)) {
                    f(history);
                }
            }
        };
        let writes = &facts.uses.writes;
        match &plan.producer {
            Producer::Other => {}
            Producer::Scalar => {
                for &list in writes {
                    each(list, &mut |h| h.scalar = write);
                }
            }
            Producer::Vector(_) => {
                for &list in writes {
                    each(list, &mut |h| {
                        h.vector = write;
                        h.matrix = Write::default();
                    });
                }
            }
            Producer::Matrix(matrix) => {
                if let Some(source) = matrix.source {
                    each(source, &mut |h| h.matrix_source = write);
                }
                for &list in writes {
                    each(list, &mut |h| {
                        h.matrix = write;
                        h.matrix_first = list.first.0;
                        h.vector = Write::default();
                    });
                }
            }
            Producer::Store(data) => each(*data, &mut |h| h.stored = write),
        }
        if let Some((number, true)) = plan.hardware {
            history.set[usize::from(number)] = write;
        }
    }
}

fn example(
    index: u32,
    wave: &Wave,
    workgroup: [u32; 3],
    what: String,
    (other, since, owed, did): (u32, u64, u64, &str),
) -> Example {
    let states = |count: u64| match count {
        1 => "1 wait state".to_owned(),
        _ => format!("{count} wait states"),
    };
    Example {
        side: Side {
            index,
            workgroup,
            wave: wave.index,
            lanes: 0,
            what: format!(
                "{what} too soon: {} are owed, {since} are there",
                states(owed)
            ),
        },
        access: None,
        other: Some(Side {
            index: other,
            workgroup,
            wave: wave.index,
            lanes: 0,
            what: did.into(),
        }),
    }
}

#[cold]
fn report(
    index: u32,
    wave: &Wave,
    register: Register,
    other: u32,
    (since, owed): (u64, u64),
    did: &str,
    findings: &mut Findings,
) {
    let key = Key {
        kind: Kind::Hazard,
        index,
        other: Some(other),
    };
    findings.add(key, |workgroup| {
        example(
            index,
            wave,
            workgroup,
            format!("uses {}", register.name(Family::Cdna)),
            (other, since, owed, did),
        )
    });
}
