//! Regions of operations: finds them in code, and runs them.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use super::{
    assemble,
    classify::{self, Part},
    lower::{Extent, Selection},
    memory,
};
use crate::exec::{
    Code, Context, Wave, control,
    operation::{Flow, Operation, Operations},
};
use ferrowave_isa::{Format, Instruction, Op};

/// When regions are translated.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Policy {
    /// Fewest vector instructions that a region is made of.
    pub(in crate::exec) shortest: u32,
    /// How often a region is interpreted before it is translated.
    pub(in crate::exec) patience: u32,
}

#[cfg(test)]
impl Policy {
    /// Each vector instruction is translated at once.
    pub(in crate::exec) const AT_ONCE: Self = Policy {
        shortest: 1,
        patience: 0,
    };
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            shortest: 4,
            patience: 64,
        }
    }
}

/// A region that has left chunks to the operations this many times in a row is no longer tried.
const FORBEARANCE: u32 = 64;

/// Most instructions in a region, so that translating one takes about a millisecond.
const LONGEST: usize = 512;

/// The regions of some code.
#[derive(Debug, Default)]
pub(in crate::exec) struct Regions {
    list: Vec<Region>,
    policy: Policy,
}

/// Consecutive operations that can be run as host code.
#[derive(Debug)]
struct Region {
    /// Index of the first operation.
    first: u32,
    /// How many there are.
    length: u32,
    interpreted: AtomicU32,
    translation: OnceLock<Option<Translation>>,
}

/// A region's host code.
#[derive(Debug)]
struct Translation {
    /// How many chunks it does.
    chunks: usize,
    /// Lanes of a chunk.
    chunk: usize,
    code: memory::Executable,
    /// Whether it computes with f32.
    is_float: bool,
    /// Whether it waits for stores.
    awaits_stores: bool,
    /// Whether it loads from LDS.
    reads_lds: bool,
    /// Indices of the scalar unit's operations.
    later: Box<[u32]>,
    /// Scalar registers that are written as masks; the first of each pair, in waves of 64 lanes.
    masks: Box<[u16]>,
    /// Consecutive runs that left chunks to the operations.
    left: AtomicU32,
    /// Runs that did all chunks, and runs that left some.
    #[cfg(test)]
    counts: [AtomicU32; 2],
}

impl Regions {
    /// Finds the regions among operations, the first of which has the index `start`. A branch target is never inside a
    /// region, except as its first instruction.
    pub(in crate::exec) fn find<'a>(
        start: u32,
        instruction: impl Fn(usize) -> Option<&'a Instruction>,
        operations: &mut [Operation],
        policy: Policy,
    ) -> Self {
        let mut targets = vec![false; operations.len()];
        for (index, operation) in operations.iter().enumerate() {
            if instruction(index).is_some_and(control::is_branch)
                && let Some(target) = (operation.imm as u32).checked_sub(start)
                && let Some(target) = targets.get_mut(target as usize)
            {
                *target = true;
            }
        }
        let part = |index: usize, operations: &[Operation]| {
            classify::part(instruction(index)?, operations.get(index)?)
        };
        let mut list = Vec::new();
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
                operations[first].native = list.len() as u32;
                list.push(Region {
                    first: start + first as u32,
                    length: (last + 1 - first) as u32,
                    interpreted: AtomicU32::new(0),
                    translation: OnceLock::new(),
                });
            }
            first = last + 1;
        }
        Regions { list, policy }
    }

    /// Runs region `number` of `operations`, which begins at the wave's program counter, and subtracts its length from
    /// `left`. `None` if the operations are to be run one by one.
    #[inline]
    pub(in crate::exec) fn run(
        &self,
        operations: &Operations,
        wave: &mut Wave,
        context: &mut Context<'_>,
        number: u32,
        left: &mut u64,
    ) -> Option<Flow> {
        let region = self.list.get(number as usize)?;
        if *left < u64::from(region.length) || !wave.all_active() {
            return None;
        }
        let translation = match region.translation.get() {
            Some(translation) => translation.as_ref()?,
            None => self.translate_if_hot(context.code, operations, region)?,
        };
        if translation.is_float && !wave.mode.plain32()
            || translation.left.load(Relaxed) >= FORBEARANCE
        {
            return None;
        }
        *left -= u64::from(region.length);
        if translation.awaits_stores {
            // No region stores to global memory, so one fence before the region is enough.
            context.settle();
        }
        if translation.reads_lds {
            wave.lds_turn.read();
        }
        // SAFETY: `Code` was compiled for a level that this computer has, and so were its regions.
        let done = unsafe { translation.code.run(wave, context.lds, &context.recent) };
        #[cfg(test)]
        translation.counts[usize::from(done < translation.chunks)].fetch_add(1, Relaxed);
        if done < translation.chunks {
            return Some(rest(wave, context, operations, region, translation, done));
        }
        if translation.left.load(Relaxed) != 0 {
            translation.left.store(0, Relaxed);
        }
        for &index in &translation.later {
            let operation = &operations.list[(index - operations.first) as usize];
            // SAFETY: as above.
            unsafe { (operation.run)(wave, context, operation) };
        }
        wave.pc = region.first + region.length;
        Some(Flow::Next)
    }

    /// Translates a region that has been interpreted often enough.
    #[cold]
    fn translate_if_hot<'a>(
        &self,
        code: &Code,
        operations: &Operations,
        region: &'a Region,
    ) -> Option<&'a Translation> {
        if region.interpreted.fetch_add(1, Relaxed) < self.policy.patience {
            return None;
        }
        region
            .translation
            .get_or_init(|| translate(code, operations, region))
            .as_ref()
    }

    /// How often host code did a whole region, and how often it left chunks to the operations.
    #[cfg(test)]
    pub(in crate::exec) fn counts(&self) -> [u32; 2] {
        let translations = self
            .list
            .iter()
            .filter_map(|region| region.translation.get()?.as_ref());
        translations.fold([0; 2], |[whole, left], translation| {
            let [w, l] = translation
                .counts
                .each_ref()
                .map(|count| count.load(Relaxed));
            [whole + w, left + l]
        })
    }
}

fn translate(code: &Code, operations: &Operations, region: &Region) -> Option<Translation> {
    let mut selection = Selection::default();
    let (mut awaits_stores, mut reads_lds) = (false, false);
    for index in region.first..region.first + region.length {
        let (instruction, operation) = (code.instruction(index)?, operations.get(index)?);
        reads_lds |= instruction.format == Format::Ds;
        awaits_stores |= instruction.op == Op::s_waitcnt && operation.detail != 0;
        selection.take(index, instruction, operation)?;
    }
    let written = selection.region.finish();
    let lanes = code.lanes() as usize;
    let assembled = assemble::assemble(&selection.region, &written, lanes, code.level)?;
    let chunk = assembled.lanes;
    Some(Translation {
        chunks: lanes / chunk,
        chunk,
        code: memory::Executable::new(assembled)?,
        is_float: selection.is_float,
        awaits_stores,
        reads_lds,
        later: selection.later.into(),
        masks: written.masks.iter().map(|&(mask, _)| mask).collect(),
        left: AtomicU32::new(0),
        #[cfg(test)]
        counts: Default::default(),
    })
}

/// Runs the operations one by one for the chunks that host code has not done.
#[cold]
fn rest(
    wave: &mut Wave,
    context: &mut Context<'_>,
    operations: &Operations,
    region: &Region,
    translation: &Translation,
    done: usize,
) -> Flow {
    translation.left.fetch_add(1, Relaxed);
    // No instruction of a region depends on other lanes or reads EXEC. Instructions that write masks write 0 for
    // inactive lanes.
    let lanes = wave.all_lanes() << (translation.chunk * done);
    let masks: Vec<u64> = translation
        .masks
        .iter()
        .map(|&mask| wave.lane_mask(mask) & !lanes)
        .collect();
    wave.set_active(lanes);
    let mut flow = Flow::Next;
    for index in region.first..region.first + region.length {
        wave.pc = index + 1;
        let operation = &operations.list[(index - operations.first) as usize];
        // SAFETY: `Code` was compiled for a level that this computer has.
        flow = unsafe { (operation.run)(wave, context, operation) };
        if flow != Flow::Next {
            break;
        }
    }
    wave.set_active(!0);
    for (&mask, done) in translation.masks.iter().zip(masks) {
        let both = wave.lane_mask(mask) | done;
        wave.set_lane_mask(mask, both);
    }
    flow
}
