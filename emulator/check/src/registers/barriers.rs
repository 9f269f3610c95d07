//! Barriers that a wave skips because of a condition on its lanes.
//!
//! Conditions computed from lanes may differ between waves: branches on `exec`, or on a `vcc` computed from lanes
//! ([`super::conditions`]). Other branches are per wave; kernels whose waves have different roles use these
//! intentionally.

use std::ops::Range;

use crate::{Example, Findings, Key, Kind, Side};
use ferrowave_emulator::exec::{Code, Wave};
use ferrowave_isa::Op;

/// A branch on lanes, and the instructions that each direction skips.
#[derive(Clone, Copy, Debug)]
struct Branch {
    index: u32,
    /// Skipped if the branch is taken.
    taken: (u32, u32),
    /// Skipped if the branch is not taken: the body of a loop.
    not_taken: (u32, u32),
    on_vcc: bool,
}

/// The branches of a code stretch that may skip a barrier.
#[derive(Debug)]
pub(super) struct Branches(Vec<Branch>);

impl Branches {
    /// The branches among the instructions `own`.
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

/// Whether `op` is a branch on lanes.
pub(super) fn is_of_lanes(op: Op) -> bool {
    matches!(
        op,
        Op::s_cbranch_execz | Op::s_cbranch_execnz | Op::s_cbranch_vccz | Op::s_cbranch_vccnz
    )
}

/// Whether `op` is a branch on `vcc`.
pub(super) fn is_on_vcc(op: Op) -> bool {
    matches!(op, Op::s_cbranch_vccz | Op::s_cbranch_vccnz)
}

/// The target and the operation of a branch on lanes.
fn target(code: &Code, index: u32) -> Option<(u32, Op)> {
    let instruction = code.instruction(index)?;
    if !is_of_lanes(instruction.op) {
        return None;
    }
    Some((code.branch_target(index)?, instruction.op))
}

/// Instructions that a wave has skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skip {
    branch: u32,
    range: (u32, u32),
}

/// What a wave has skipped since it last met the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Skips {
    all: Vec<Skip>,
    /// By its last branch on lanes.
    last: Option<Skip>,
}

/// The maximum number of entries; loops repeat the same few.
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

    /// The branch by which the wave skipped an instruction.
    fn over(&self, index: u32, ended: bool) -> Option<u32> {
        let holds = |skip: &&Skip| (skip.range.0..skip.range.1).contains(&index);
        // If the wave ended, its last branch decided that.
        let skip = if ended {
            self.last.as_ref().filter(holds)
        } else {
            self.all.iter().find(holds)
        };
        skip.map(|skip| skip.branch)
    }
}

/// Called when a barrier opens: reports waves that have skipped a barrier at which others wait.
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
                        true => "skips a barrier and waits at another",
                        false => "skips a barrier and ends",
                    },
                ),
                access: None,
                other: Some(side(barrier, other, workgroup, "waits at it")),
            });
        }
    }
}
