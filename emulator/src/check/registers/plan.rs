//! What an instruction does to undefined registers, found once for a launch.

use super::{
    conditions::Effect,
    definedness::{Cut, cut},
};
use crate::{
    exec::Facts,
    isa::{Category, Extension, Format, Instruction, Op, Register, Registers},
};

/// How an instruction's results come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It computes each lane of its results from the same lane of its sources, and writes whole registers.
    Lanes,
    /// It computes otherwise: moves between lanes, keeps bits, works on scalars.
    Compute,
    /// Its results come from memory: of each register these bits.
    Load(u32),
    /// Its results are what they are.
    Define,
}

/// An instruction's part in the check.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) action: Action,
    /// All registers that it reads or writes, but for `exec`.
    touched: Box<[Cut]>,
    /// Of each register with data to be stored these bits count.
    pub(super) stored: u32,
    /// It compares its first two sources.
    pub(super) compares: bool,
    /// It reads or writes a scalar register that `m0` tells.
    pub(super) moves_relative: bool,
    /// What it does to conditions.
    pub(super) condition: Option<Effect>,
}

impl Plan {
    pub(super) fn touched(&self) -> &[Cut] {
        &self.touched
    }
}

/// An instruction's plan.
pub(super) fn plan(i: &Instruction, facts: &Facts) -> Plan {
    let name = i.op.name();
    let mut touched: Vec<Cut> = Vec::new();
    let reads = facts.uses.reads.iter().map(|read| read.registers);
    let all = reads.chain(facts.uses.writes.iter().copied());
    for registers in all.chain(status_word(i)).filter(|r| !is_exec(*r)) {
        for (word, bits) in cut(registers) {
            match touched.iter_mut().find(|(other, _)| *other == word) {
                Some((_, others)) => *others |= bits,
                None => touched.push((word, bits)),
            }
        }
    }
    Plan {
        moves_relative: is_relative(i),
        condition: Effect::of(facts),
        action: action(i, facts),
        touched: touched.into(),
        stored: stored_bits(name),
        compares: i.format == Format::Sopc
            || i.extension == Extension::None
                && ["v_cmp", "s_cmpk"]
                    .iter()
                    .any(|start| name.starts_with(start)),
    }
}

/// Whether the registers are `exec`, which is always defined.
pub(super) fn is_exec(registers: Registers) -> bool {
    registers.contains(Register::EXEC) || registers.first == Register(Register::EXEC.0 + 1)
}

/// The register of a status word behind a load's results.
pub(super) fn status_word(i: &Instruction) -> Option<Registers> {
    let result = crate::isa::registers(&i.dst).filter(|_| i.memory.tfe)?;
    Some(Registers {
        first: Register(result.first.0 + result.count),
        count: 1,
    })
}

fn action(i: &Instruction, facts: &Facts) -> Action {
    match facts.category {
        _ if is_relative(i) => Action::Define,
        Category::Scalar => Action::Compute,
        Category::Vector if crosses_lanes(i) || facts.uses.partial => Action::Compute,
        Category::Vector => Action::Lanes,
        Category::Matrix => Action::Compute,
        Category::Lds if i.is_permutation() || i.op == Op::ds_swizzle_b32 => Action::Compute,
        Category::Lds | Category::VectorMemory | Category::ScalarMemory => {
            Action::Load(i.loaded_bits())
        }
        Category::Branch | Category::Barrier | Category::Wait | Category::Control => Action::Define,
    }
}

fn is_relative(i: &Instruction) -> bool {
    i.op.name().starts_with("s_movrel")
}

fn crosses_lanes(i: &Instruction) -> bool {
    let name = i.op.name();
    let parts = ["readlane", "readfirstlane", "writelane", "permlane"];
    matches!(i.extension, Extension::Dpp(_)) || parts.iter().any(|part| name.contains(part))
}

/// The bits of a register that a store takes.
fn stored_bits(name: &str) -> u32 {
    let parts = |low: u32| {
        if name.contains("d16_hi") {
            low << 16
        } else {
            low
        }
    };
    let is = |endings: [&str; 2]| endings.iter().any(|ending| name.contains(ending));
    match name {
        _ if is(["_store_byte", "ds_write_b8"]) => parts(0xff),
        _ if is(["_store_short", "ds_write_b16"]) => parts(0xffff),
        _ if name.contains("store_format_d16") => parts(0xffff),
        _ => !0,
    }
}
