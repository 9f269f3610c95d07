//! Instructions with names and source lines. Created on demand: reading line tables takes longer than a short replay.

use std::{
    ops::{Deref, Range},
    sync::OnceLock,
};

use serde::{Serialize, Serializer};

use super::{compute_unit::Issued, stall::Stalls};
use ferrowave_emulator::program::{Kernel, Names, SymbolizedInstruction};
use ferrowave_isa::Category;

/// The modelled statistics of an instruction, over all replayed waves.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionTiming {
    /// Its text and source.
    #[serde(flatten)]
    pub place: SymbolizedInstruction,
    /// The unit that executes it.
    #[serde(serialize_with = "as_name")]
    pub category: Category,
    /// How often it was issued.
    pub issued: u64,
    /// Cycles for which waves waited to issue it, by cause. The time at a barrier counts for the instruction after it.
    pub stalls: Stalls,
}

/// The executed instructions, in the order of the code. Keeps the kernel's program in device memory.
#[derive(Clone, Debug)]
pub struct Instructions {
    kernel: Kernel,
    /// The index in the code of the first element of `issued`.
    first: u32,
    issued: Vec<Issued>,
    named: OnceLock<Vec<InstructionTiming>>,
}

impl Instructions {
    pub(super) fn new(kernel: &Kernel, first: u32, issued: Vec<Issued>) -> Self {
        Instructions {
            kernel: kernel.clone(),
            first,
            issued,
            named: OnceLock::new(),
        }
    }

    /// The innermost loop in which waves spend most of their time: a loop inside another is preferred if it has at
    /// least half of the outer one's cycles. Empty if the kernel has no loop.
    pub fn main_loop(&self) -> &[InstructionTiming] {
        let weight = |range: &Range<usize>| {
            let issued = &self.issued[range.clone()];
            let cycles = issued.iter().map(|i| i.count + i.stalls.total());
            cycles.sum::<u64>()
        };
        let mut loops: Vec<_> = (0..self.issued.len())
            .filter_map(|end| self.loop_that_ends_at(end))
            .map(|range| (weight(&range), range))
            .collect();
        // Loops with an end in common are nested; the longer one is the outer.
        loops.sort_by_key(|(weight, range)| (*weight, range.len()));
        let Some((mut most, mut range)) = loops.pop() else {
            return &[];
        };
        while let Some((weight, inner)) = loops.pop() {
            let is_inside = inner.start >= range.start && inner.end <= range.end;
            if is_inside && 2 * weight >= most {
                (most, range) = (weight, inner);
            }
        }
        let ran = |issued: &[Issued]| issued.iter().filter(|i| i.count > 0).count();
        let first = ran(&self.issued[..range.start]);
        &self[first..first + ran(&self.issued[range])]
    }

    /// The names of the kernel's instructions.
    pub(super) fn names(&self) -> Names<'_> {
        Names::new(&self.kernel)
    }

    /// The loop that ends at `end`: from the target of a backward branch to the branch.
    fn loop_that_ends_at(&self, end: usize) -> Option<Range<usize>> {
        let code = self.kernel.code();
        let index = self.first + u32::try_from(end).ok()?;
        if self.issued[end].count == 0 {
            return None;
        }
        let start = code.branch_target(index)?.checked_sub(self.first)? as usize;
        (start <= end).then_some(start..end + 1)
    }

    fn name(&self) -> Vec<InstructionTiming> {
        let names = self.names();
        let code = self.kernel.code();
        let ran = (self.first..)
            .zip(&self.issued)
            .filter(|(_, issued)| issued.count > 0);
        ran.filter_map(|(index, issued)| {
            Some(InstructionTiming {
                place: names.place(index)?,
                category: code.instruction(index)?.category(),
                issued: issued.count,
                stalls: issued.stalls,
            })
        })
        .collect()
    }
}

impl Deref for Instructions {
    type Target = [InstructionTiming];

    fn deref(&self) -> &Self::Target {
        self.named.get_or_init(|| self.name())
    }
}

impl Serialize for Instructions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

fn as_name<S: Serializer>(category: &Category, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(category.name())
}
