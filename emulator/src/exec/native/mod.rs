//! Runs of vector instructions as host code.
//!
//! An operation of a wave reads its registers from memory and writes them there, which is most of what arithmetic costs. A
//! run of instructions that work on each lane alone is therefore translated as a whole, once it has been run often enough:
//! what one instruction gives to the next stays in the host's registers.
//!
//! The translation does what the operations do, bit for bit, or nothing: a chunk of lanes with a NaN, or with an address
//! outside LDS or the allocation that the instruction used last, is left to the operations, as is a wave with inactive
//! lanes or a MODE that the host's arithmetic is not right for. Whoever watches a launch sees every instruction alone,
//! and never comes here.

#[cfg(target_arch = "x86_64")]
mod assemble;
#[cfg(target_arch = "x86_64")]
mod memory;
#[cfg(target_arch = "x86_64")]
mod select;
#[cfg(target_arch = "x86_64")]
mod values;

#[cfg(target_arch = "x86_64")]
use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering::Relaxed},
};

#[cfg(target_arch = "x86_64")]
use super::{Code, simd::CHUNKS};
use super::{
    Context, Wave,
    operation::{Flow, Operation},
};
use crate::isa::Instruction;
#[cfg(target_arch = "x86_64")]
use select::{Extent, Part};

/// No run begins at an operation.
pub(super) const NONE: u32 = u32::MAX;

/// When runs are translated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// Instructions of the vector unit that are worth it.
    pub(super) shortest: u32,
    /// Times that a run is interpreted before.
    pub(super) patience: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            shortest: 4,
            patience: 64,
        }
    }
}

/// Runs that leave many chunks to the operations are not worth trying: so many in a row.
#[cfg(target_arch = "x86_64")]
const FORBEARANCE: u32 = 64;

/// Instructions in a run at most, so that translating one takes about a millisecond.
#[cfg(target_arch = "x86_64")]
const LONGEST: usize = 512;

/// Consecutive operations that can be run as host code.
#[derive(Debug)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "no host code is made for this computer")
)]
pub(super) struct Run {
    /// Index of the first operation.
    first: u32,
    /// How many there are.
    length: u32,
    #[cfg(target_arch = "x86_64")]
    interpreted: AtomicU32,
    #[cfg(target_arch = "x86_64")]
    translation: OnceLock<Option<Translation>>,
}

/// A run's host code.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
struct Translation {
    code: memory::Executable,
    /// It computes with f32.
    is_float: bool,
    /// The scalar unit's operations, by index.
    later: Box<[u32]>,
    /// Pairs of scalar registers that are written as masks.
    masks: Box<[u16]>,
    /// Times in a row that something was left to the operations.
    left: AtomicU32,
    /// Times that all was done, and that something was left.
    #[cfg(test)]
    counts: [AtomicU32; 2],
}

/// Finds the runs of some code. A branch may only lead to the first instruction of a run, or around it.
#[cfg(target_arch = "x86_64")]
pub(super) fn find<'a>(
    instruction: impl Fn(usize) -> Option<&'a Instruction>,
    operations: &mut [Operation],
    policy: Policy,
) -> Vec<Run> {
    let mut targets = vec![false; operations.len()];
    for (index, operation) in operations.iter().enumerate() {
        if instruction(index).is_some_and(|i| super::control::is_branch(i.op))
            && let Some(target) = targets.get_mut(operation.imm as usize)
        {
            *target = true;
        }
    }
    let part = |index: usize, operations: &[Operation]| {
        select::part(instruction(index)?, operations.get(index)?)
    };
    let mut runs = Vec::new();
    let mut first = 0;
    while first < operations.len() {
        let is_vector = |part| matches!(part, Part::Lanes | Part::Load);
        if !part(first, operations).is_some_and(is_vector) {
            first += 1;
            continue;
        }
        let (mut last, mut lanes) = (first, 0);
        let mut extent = Extent::default();
        for index in first..operations.len().min(first + LONGEST) {
            let (Some(part), Some(i)) = (part(index, operations), instruction(index)) else {
                break;
            };
            let is_entered = index != first && targets[index];
            if is_entered || !extent.allows(part, i, &operations[index]) {
                break;
            }
            if is_vector(part) {
                (last, lanes) = (index, lanes + 1);
            }
        }
        if lanes >= policy.shortest {
            operations[first].native = runs.len() as u32;
            runs.push(Run {
                first: first as u32,
                length: (last + 1 - first) as u32,
                interpreted: AtomicU32::new(0),
                translation: OnceLock::new(),
            });
        }
        first = last + 1;
    }
    runs
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn find<'a>(
    _: impl Fn(usize) -> Option<&'a Instruction>,
    _: &mut [Operation],
    _: Policy,
) -> Vec<Run> {
    Vec::new()
}

/// Runs the operations of run `number`, which begins at the wave's program counter, and takes their number from `left`.
/// `None` if they are to be run one by one.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn run(
    wave: &mut Wave,
    context: &mut Context<'_>,
    number: u32,
    left: &mut u64,
) -> Option<Flow> {
    let code = context.code;
    let run = code.runs.get(number as usize)?;
    if *left < u64::from(run.length) || wave.exec != !0 {
        return None;
    }
    let translation = match run.translation.get() {
        Some(translation) => translation.as_ref()?,
        None => first_runs(code, run)?,
    };
    if translation.is_float && !wave.mode.plain32() || translation.left.load(Relaxed) >= FORBEARANCE
    {
        return None;
    }
    *left -= u64::from(run.length);
    // SAFETY: `Code` was compiled for a level that this computer has, and runs are found for AVX-512 only.
    let done = unsafe { translation.code.run(wave, context.lds, &context.recent) };
    #[cfg(test)]
    translation.counts[usize::from(done < CHUNKS)].fetch_add(1, Relaxed);
    if done < CHUNKS {
        return Some(rest(wave, context, run, translation, done));
    }
    if translation.left.load(Relaxed) != 0 {
        translation.left.store(0, Relaxed);
    }
    for &index in &translation.later {
        let operation = &code.operations[index as usize];
        // SAFETY: as above.
        unsafe { (operation.run)(wave, context, operation) };
    }
    wave.pc = run.first + run.length;
    Some(Flow::Next)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn run(_: &mut Wave, _: &mut Context<'_>, _: u32, _: &mut u64) -> Option<Flow> {
    None
}

/// Translates a run that has been interpreted often enough.
#[cfg(target_arch = "x86_64")]
#[cold]
fn first_runs<'a>(code: &Code, run: &'a Run) -> Option<&'a Translation> {
    if run.interpreted.fetch_add(1, Relaxed) < code.policy.patience {
        return None;
    }
    run.translation
        .get_or_init(|| translate(code, run))
        .as_ref()
}

#[cfg(target_arch = "x86_64")]
fn translate(code: &Code, run: &Run) -> Option<Translation> {
    let mut selection = select::Selection::default();
    for index in run.first..run.first + run.length {
        let operation = &code.operations[index as usize];
        selection.take(index, code.instruction(index)?, operation)?;
    }
    let written = selection.run.finish();
    let assembled = assemble::assemble(&selection.run, &written)?;
    Some(Translation {
        code: memory::Executable::new(assembled)?,
        is_float: selection.is_float,
        later: selection.later.into(),
        masks: written.masks.iter().map(|&(mask, _)| mask).collect(),
        left: AtomicU32::new(0),
        #[cfg(test)]
        counts: Default::default(),
    })
}

/// Runs the operations one by one for the chunks that host code has not done.
#[cfg(target_arch = "x86_64")]
#[cold]
fn rest(
    wave: &mut Wave,
    context: &mut Context<'_>,
    run: &Run,
    translation: &Translation,
    done: usize,
) -> Flow {
    translation.left.fetch_add(1, Relaxed);
    // No instruction of a run depends on other lanes, or asks for `exec`. Those that write masks write 0 for lanes that
    // are not active.
    let lanes = !0 << (16 * done);
    let masks: Vec<u64> = translation
        .masks
        .iter()
        .map(|&mask| wave.scalar_pair(mask) & !lanes)
        .collect();
    wave.exec = lanes;
    let mut flow = Flow::Next;
    for index in run.first..run.first + run.length {
        wave.pc = index + 1;
        let operation = &context.code.operations[index as usize];
        // SAFETY: `Code` was compiled for a level that this computer has.
        flow = unsafe { (operation.run)(wave, context, operation) };
        if flow != Flow::Next {
            break;
        }
    }
    wave.exec = !0;
    for (&mask, done) in translation.masks.iter().zip(masks) {
        let both = wave.scalar_pair(mask) | done;
        wave.set_scalar_pair(mask, both);
    }
    flow
}

/// How often host code did a whole run, and how often it left something.
#[cfg(all(test, target_arch = "x86_64"))]
pub(super) fn counts(code: &Code) -> [u32; 2] {
    let translations = code
        .runs
        .iter()
        .filter_map(|run| run.translation.get()?.as_ref());
    translations.fold([0; 2], |[whole, left], translation| {
        let [w, l] = translation
            .counts
            .each_ref()
            .map(|count| count.load(Relaxed));
        [whole + w, left + l]
    })
}
