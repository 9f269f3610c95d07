//! Finds the loads with which compilers begin a loop of compare-and-swap.
//!
//! Where a GPU has no instruction for an atomic operation, LLVM's `AtomicExpand` loads the old value, computes the new one
//! and swaps if memory still has the old one; if not, it tries again. The load is a plain one: if it races, the comparison
//! fails.

use ferrowave_isa::{
    Category, Effect, Instruction, Op, Operand, Register, Registers, Source, registers,
    run::{Atomic, Run},
};

/// The load and the swap are at most this many instructions apart.
const APART: usize = 64;

/// Whether the value that an instruction loads is what a following compare-and-swap at the same address expects.
pub(super) fn is_expected<'a>(
    load: &Instruction,
    following: impl Iterator<Item = &'a Instruction>,
) -> bool {
    let has_lanes = matches!(load.category(), Category::Lds | Category::VectorMemory);
    if load.effect() != Effect::Load || !has_lanes {
        return false;
    }
    let Some(loaded) = registers(&load.dst) else {
        return false;
    };
    // The first registers of the value and of its copies.
    let mut values = vec![loaded.first];
    let address: Vec<Registers> = address(load).filter_map(registers).collect();
    for instruction in following.take(APART) {
        if expected(instruction).is_some_and(|first| values.contains(&first))
            && self::address(instruction).eq(self::address(load))
            && instruction.category() == load.category()
            && instruction.memory.offset == load.memory.offset
        {
            return true;
        }
        if matches!(
            instruction.op,
            Op::s_branch | Op::s_endpgm | Op::s_setpc_b64
        ) {
            return false;
        }
        let copied = copy(instruction).filter(|(from, _)| values.contains(from));
        let writes = instruction.uses().writes;
        let is_written = |register: Register| writes.iter().any(|list| list.contains(register));
        if address.iter().any(|list| list.iter().any(is_written)) {
            return false;
        }
        values.retain(|&register| !is_written(register));
        values.extend(copied.map(|(_, to)| to));
    }
    false
}

/// The operands of an address. Loads and atomic operations of one encoding have them at the same places.
fn address(instruction: &Instruction) -> impl Iterator<Item = &Operand> {
    let places: &[usize] = match instruction.category() {
        Category::Lds => &[0],
        _ => &[0, 2, 3],
    };
    places.iter().map(|&place| &instruction.src[place])
}

/// The first register of the value that a compare-and-swap expects.
fn expected(instruction: &Instruction) -> Option<Register> {
    match instruction.run() {
        // The new value comes first.
        Run::FlatAtomic(Atomic::CompareSwap)
        | Run::FlatAtomic64(Atomic::CompareSwap)
        | Run::GlobalAtomic(Atomic::CompareSwap)
        | Run::GlobalAtomic64(Atomic::CompareSwap)
        | Run::BufferAtomic(Atomic::CompareSwap)
        | Run::BufferAtomic64(Atomic::CompareSwap) => {
            let data = registers(&instruction.src[1])?;
            Some(Register(data.first.0 + data.count / 2))
        }
        Run::LdsAtomic(Atomic::CompareSwap) | Run::LdsAtomic64(Atomic::CompareSwap) => {
            Some(registers(&instruction.src[1])?.first)
        }
        _ => None,
    }
}

/// The source and the result of a copy.
fn copy(instruction: &Instruction) -> Option<(Register, Register)> {
    let is_register = matches!(instruction.src[0].source, Source::Vgpr(_));
    if instruction.op != Op::v_mov_b32 || !is_register {
        return None;
    }
    let (from, to) = (
        registers(&instruction.src[0])?,
        registers(&instruction.dst)?,
    );
    Some((from.first, to.first))
}
