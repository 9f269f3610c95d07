//! Barriers that a wave skips because of a condition on its lanes.
//!
//! Conditions computed from lanes may differ between waves: a branch on `exec`, or on a `vcc` that was computed from
//! lanes ([`super::conditions`]). Other branches depend on the wave, and kernels whose waves have roles take them on
//! purpose.

use std::ops::Range;

use crate::{Example, Findings, Key, Kind, Side};
use ferrowave_emulator::exec::{Code, Wave};
use ferrowave_isa::Op;

/// A branch that lanes decide, and the instructions that each way leaves out.
#[derive(Clone, Copy, Debug)]
struct Branch {
    index: u32,
    /// Instructions that it jumps over.
    taken: (u32, u32),
    /// Instructions that it does not go back to.
    not_taken: (u32, u32),
    on_vcc: bool,
}

/// The branches of a code that may leave out a barrier.
#[derive(Debug)]
pub(super) struct Branches(Vec<Branch>);

impl Branches {
    /// Those among some instructions.
    pub(super) fn of(code: &Code, own: Range<u32>) -> Self {
        let barriers: Vec<u32> = own
            .clone()
            .filter(|&index| is_barrier(code, index))
            .collect();
        let holds = |&(from, to): &(u32, u32)| {
            let next = barriers.partition_point(|&barrier| barrier < from);
            barriers.get(next).is_some_and(|&barrier| barrier < to)
        };
        let branches = own.filter_map(|index| {
            let (target, op) = target(code, index)?;
            let branch = Branch {
                index,
                taken: (index + 1, target),
                not_taken: (target, index),
                on_vcc: is_on_vcc(op),
            };
            [branch.taken, branch.not_taken]
                .iter()
                .any(holds)
                .then_some(branch)
        });
        Branches(branches.collect())
    }

    /// Whether one of them is on `vcc`.
    pub(super) fn on_vcc(&self) -> bool {
        self.0.iter().any(|branch| branch.on_vcc)
    }

    fn at(&self, index: u32) -> Option<&Branch> {
        let place = self.0.binary_search_by_key(&index, |branch| branch.index);
        self.0.get(place.ok()?)
    }
}

fn is_barrier(code: &Code, index: u32) -> bool {
    code.instruction(index)
        .is_some_and(|i| i.op == Op::s_barrier)
}

/// Whether it is a branch on lanes.
pub(super) fn is_of_lanes(op: Op) -> bool {
    matches!(
        op,
        Op::s_cbranch_execz | Op::s_cbranch_execnz | Op::s_cbranch_vccz | Op::s_cbranch_vccnz
    )
}

/// Whether it is a branch on `vcc`.
pub(super) fn is_on_vcc(op: Op) -> bool {
    matches!(op, Op::s_cbranch_vccz | Op::s_cbranch_vccnz)
}

/// Where a branch on lanes leads, and which one it is.
fn target(code: &Code, index: u32) -> Option<(u32, Op)> {
    let instruction = code.instruction(index)?;
    if !is_of_lanes(instruction.op) {
        return None;
    }
    Some((code.branch_target(index)?, instruction.op))
}

/// Instructions that a wave left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skip {
    branch: u32,
    range: (u32, u32),
}

/// What a wave left out since it last met the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Skips {
    all: Vec<Skip>,
    /// Of its last branch on lanes.
    last: Option<Skip>,
}

/// More than these are not kept: loops come by the same few.
const MOST: usize = 32;

impl Skips {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.last = None;
    }

    /// The wave has run a branch.
    pub(super) fn branch(&mut self, branches: &Branches, index: u32, wave: &Wave) {
        let Some(branch) = branches.at(index) else {
            self.last = None;
            return;
        };
        let range = if wave.pc == index + 1 {
            branch.not_taken
        } else {
            branch.taken
        };
        let skip = Skip {
            branch: index,
            range,
        };
        self.last = Some(skip);
        self.all.retain(|old| old.branch != index);
        if self.all.len() < MOST {
            self.all.push(skip);
        }
    }

    /// The branch at which the wave left out an instruction.
    fn over(&self, index: u32, ended: bool) -> Option<u32> {
        let holds = |skip: &&Skip| (skip.range.0..skip.range.1).contains(&index);
        // Whatever made a wave end was decided last.
        let skip = if ended {
            self.last.as_ref().filter(holds)
        } else {
            self.all.iter().find(holds)
        };
        skip.map(|skip| skip.branch)
    }
}

/// A barrier opens: looks for waves that have left out one at which others wait.
pub(super) fn opens<'a>(
    waves: &[Wave],
    waiting: &[bool],
    skips: impl Fn(usize) -> &'a Skips,
    findings: &mut Findings,
) {
    let stands_at = |wave: &Wave| wave.pc.wrapping_sub(1);
    for (number, passing) in waves.iter().enumerate() {
        for (other, waits) in waves.iter().zip(waiting) {
            let barrier = stands_at(other);
            let same = waiting[number] && stands_at(passing) == barrier;
            if !waits || same {
                continue;
            }
            let Some(branch) = skips(number).over(barrier, !waiting[number]) else {
                continue;
            };
            let key = Key {
                kind: Kind::SkippedBarrier,
                index: branch,
                other: Some(barrier),
            };
            let side = |index, wave: &Wave, workgroup, what: &str| Side {
                index,
                workgroup,
                wave: wave.index,
                lanes: 0,
                what: what.into(),
            };
            findings.add(key, |workgroup| Example {
                side: side(
                    branch,
                    passing,
                    workgroup,
                    match waiting[number] {
                        true => "passes by a barrier and waits at another",
                        false => "passes by a barrier and ends",
                    },
                ),
                access: None,
                other: Some(side(barrier, other, workgroup, "waits at it")),
            });
        }
    }
}
