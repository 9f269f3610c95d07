//! Wait states that a program owes the hardware.
//!
//! Each instruction that a wave issues is one wait state, `s_nop n` is n + 1. The rules stand in [`super::hazard_rules`];
//! here is what they look at: for each register, the last instructions of each kind that wrote it, and when.

use ferrowave_code_object::Gpu;

use super::{
    Example, Findings, Interest, Key, Kind, Side, Step, Watch,
    hazard_rules::{
        Producer, Reader, concerns_all, consumer, owed_after_matrix, owed_after_source,
        owed_after_vector, producer,
    },
};
use crate::{
    exec::{Context, Facts, GroupStart, Wave},
    isa::{Instruction, Op, Register, Registers, Source},
};

/// Longer than any rule asks for.
pub(super) const LONGEST: u64 = 24;

/// The last write of a register by one sort of instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Write {
    /// When, counted from 1 in wait states; 0 is never.
    at: u64,
    index: u32,
}

/// What a wave has done to one register.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// Written by the vector unit.
    vector: Write,
    /// Written by a matrix instruction, whose result begins at this register.
    matrix: Write,
    matrix_first: u16,
    /// Read by a matrix instruction as its third source.
    matrix_source: Write,
    /// Written by the scalar unit.
    scalar: Write,
    /// The data of a store of more than 64 bits a lane.
    stored: Write,
}

struct WaveHistory {
    now: u64,
    /// The last instruction that [`concerns_all`].
    concerned: u64,
    registers: Box<[History; Register::COUNT]>,
    /// The last `s_setreg` of each hardware register.
    set: [Write; 64],
}

impl Default for WaveHistory {
    fn default() -> Self {
        WaveHistory {
            // Far from the writes that never were.
            now: 2 * LONGEST,
            concerned: 0,
            registers: Box::new([History::default(); Register::COUNT]),
            set: [Write::default(); 64],
        }
    }
}

/// What is known of an instruction before it runs.
pub(super) struct Plan {
    pub(super) producer: Producer,
    /// Whether [`concerns_all`] of it.
    pub(super) concerns_all: bool,
    pub(super) readers: Vec<Reader>,
    /// Wait states that it is itself.
    pub(super) states: u64,
    /// The hardware register that it reads or sets.
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
    /// Of each instruction that has run, by index.
    plans: Vec<Option<Box<Plan>>>,
    waves: Vec<WaveHistory>,
}

impl Hazards {
    pub(super) fn new(gpu: Gpu) -> Self {
        Hazards {
            gpu,
            plans: Vec::new(),
            waves: Vec::new(),
        }
    }

    /// The plan of an instruction that has run.
    fn plan(&self, index: u32) -> Option<&Plan> {
        self.plans.get(index as usize)?.as_deref()
    }

    /// Reports what comes too soon.
    fn look(&self, step: &Step<'_>, wave: &Wave, findings: &mut Findings) {
        let Some(plan) = self.plan(step.index) else {
            return;
        };
        let history = &self.waves[wave.index as usize];
        let quiet = history.now - history.concerned >= LONGEST;
        for reader in &plan.readers {
            if quiet && reader.is_ordinary() {
                continue;
            }
            for register in reader.registers.iter() {
                let Some(h) = history.registers.get(usize::from(register.0)) else {
                    continue;
                };
                let mut check = |write: Write, owed: u64, did: &'static str| {
                    let since = history.now - write.at;
                    if write.at != 0 && since < owed {
                        report(
                            step,
                            wave,
                            register,
                            write.index,
                            (since, owed),
                            did,
                            findings,
                        );
                    }
                };
                if history.now - h.vector.at < LONGEST
                    && let Some(by) = self.plan(h.vector.index)
                {
                    let owed = owed_after_vector(&by.producer, reader, register);
                    check(h.vector, owed, "writes it");
                }
                if history.now - h.matrix.at < LONGEST
                    && let Some(Producer::Matrix(by)) =
                        self.plan(h.matrix.index).map(|plan| &plan.producer)
                {
                    let same = h.matrix_first == reader.registers.first.0;
                    check(
                        h.matrix,
                        owed_after_matrix(self.gpu, by, reader, same),
                        "writes it",
                    );
                }
                if history.now - h.matrix_source.at < LONGEST
                    && let Some(Producer::Matrix(by)) =
                        self.plan(h.matrix_source.index).map(|plan| &plan.producer)
                {
                    check(
                        h.matrix_source,
                        owed_after_source(self.gpu, by, reader),
                        "reads it",
                    );
                }
                check(h.scalar, reader.owed_after_scalar, "writes it");
                check(h.stored, reader.owed_after_store, "stores it");
            }
        }
        if let Some((number, _)) = plan.hardware {
            // LLVM's `GCNHazardRecognizer`: both `s_getreg` and `s_setreg` keep 2 from an `s_setreg` of the same register.
            const OWED: u64 = 2;
            let write = history.set[usize::from(number)];
            let since = history.now - write.at;
            if write.at != 0 && since < OWED {
                let key = Key {
                    kind: Kind::Hazard,
                    index: step.index,
                    other: Some(write.index),
                };
                findings.add(key, |workgroup| {
                    example(
                        step,
                        wave,
                        workgroup,
                        format!("uses hardware register {number}"),
                        (write.index, since, OWED, "sets it"),
                    )
                });
            }
        }
    }

    fn note(&mut self, step: &Step<'_>, wave: &Wave) {
        let Some(Some(plan)) = self.plans.get(step.index as usize) else {
            return;
        };
        let history = &mut self.waves[wave.index as usize];
        history.now += plan.states;
        let write = Write {
            at: history.now,
            index: step.index,
        };
        if plan.concerns_all {
            history.concerned = history.now;
        }
        let registers = &mut history.registers;
        let mut each = |list: Registers, f: &mut dyn FnMut(&mut History)| {
            for register in list.iter() {
                if let Some(history) = registers.get_mut(usize::from(register.0)) {
                    f(history);
                }
            }
        };
        let writes = &step.facts.uses.writes;
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
    step: &Step<'_>,
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
            index: step.index,
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
    step: &Step<'_>,
    wave: &Wave,
    register: Register,
    other: u32,
    (since, owed): (u64, u64),
    did: &str,
    findings: &mut Findings,
) {
    let key = Key {
        kind: Kind::Hazard,
        index: step.index,
        other: Some(other),
    };
    findings.add(key, |workgroup| {
        example(
            step,
            wave,
            workgroup,
            format!("uses {register}"),
            (other, since, owed, did),
        )
    });
}

impl Watch for Hazards {
    fn interest(&self, _: &Facts) -> Interest {
        Interest {
            before: true,
            after: true,
        }
    }

    fn begin(&mut self, group: &GroupStart<'_>, _: &mut Findings) {
        // Times go on, so that nothing of an earlier workgroup is near.
        self.waves
            .resize_with(group.waves.len(), WaveHistory::default);
        for wave in &mut self.waves {
            wave.now += LONGEST;
        }
    }

    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        let index = step.index as usize;
        if self.plans.len() <= index {
            self.plans.resize_with(index + 1, || None);
        }
        if self.plans[index].is_none()
            && let Some(instruction) = context.code.instruction(step.index)
        {
            self.plans[index] = Some(Box::new(Plan::new(instruction, self.gpu)));
        }
        if !wave.mode.indexes_registers() {
            self.look(step, wave, findings);
        }
    }

    fn after(&mut self, step: &Step<'_>, wave: &mut Wave, _: &mut Context<'_>, _: &mut Findings) {
        self.note(step, wave);
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>, _: &mut Findings) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
