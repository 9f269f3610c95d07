//! The timeline of a replay: what each wave did in which cycle.

use super::stall::Stall;

/// The maximum number of instructions in a timeline. Viewers become slow with millions of events.
pub const MOST_TIMELINE_INSTRUCTIONS: usize = 1 << 18;

/// An instruction that a replayed wave issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssuedInstruction {
    /// The number of its wave, in the order in which they started.
    pub wave: usize,
    /// The wave's SIMD.
    pub simd: usize,
    /// Its offset in the code object's image, in bytes.
    pub offset: u64,
    /// The cycle in which it issued, from the start of the launch.
    pub cycle: u64,
}

/// A wave of the replayed compute unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// The number of its workgroup in the grid.
    pub(super) workgroup: u64,
    /// Its number in the workgroup.
    pub(super) wave: usize,
    pub(super) simd: usize,
}

/// An issued instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issue {
    /// Index of its wave in [`Timeline::lanes`].
    pub(super) lane: usize,
    /// Its index in the code.
    pub(super) index: u32,
    /// The cycle from which it could have issued if nothing had delayed it.
    pub(super) free_at: u64,
    /// The cycle from which its wave allowed it, and what delayed it until then.
    pub(super) ready_at: u64,
    pub(super) cause: Stall,
    /// What delayed it from then on.
    pub(super) blocked_by: Stall,
    /// The cycle in which it issued.
    pub(super) at: u64,
    /// The cycle in which its unit starts it.
    pub(super) start: u64,
    /// For how many cycles from then it occupies the SIMD's matrix core.
    pub(super) matrix_cycles: u64,
}

/// What the replayed waves did.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// Cycles between two turns of a SIMD.
    pub(super) turn: u64,
    pub(super) lanes: Vec<Lane>,
    pub(super) issues: Vec<Issue>,
    /// Whether instructions were left out after [`MOST_TIMELINE_INSTRUCTIONS`].
    pub(super) is_cut: bool,
}

impl Timeline {
    pub(super) const fn new(turn: u64) -> Self {
        Timeline {
            turn,
            lanes: Vec::new(),
            issues: Vec::new(),
            is_cut: false,
        }
    }

    pub(super) fn add(&mut self, issue: Issue) {
        match self.issues.len() < MOST_TIMELINE_INSTRUCTIONS {
            true => self.issues.push(issue),
            false => self.is_cut = true,
        }
    }
}
