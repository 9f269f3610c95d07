//! Assigns workgroups to compute units.
//!
//! The hardware deals out workgroups to the XCDs in turn, in the order of their numbers; fast kernels renumber their
//! tiles accordingly. The model assumes that an XCD deals them out to its compute units in turn, until each holds as
//! many as fit; later workgroups replace those that end.

use super::{
    parameters::Parameters,
    trace::{KEPT_ACCESSES, Recorded, WorkgroupTrace},
};

/// The placement of a grid on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    /// Workgroups in the grid.
    pub(super) workgroups: u64,
    /// XCDs.
    xcds: u64,
    /// Compute units per XCD.
    units: u64,
    /// Workgroups that a compute unit holds at the same time.
    pub(super) resident: u64,
}

impl Placement {
    pub(super) fn new(parameters: &Parameters, workgroups: u64, resident: u64) -> Self {
        Placement {
            workgroups,
            xcds: u64::from(parameters.hardware.xcds),
            units: u64::from(parameters.hardware.compute_units_per_xcd()),
            resident: resident.max(1),
        }
    }

    /// The XCD of a workgroup, and its compute unit there.
    pub(super) const fn of(&self, number: u64) -> (u64, u64) {
        (number % self.xcds, number / self.xcds % self.units)
    }

    /// The number of workgroups on the fullest compute unit: the first of the first XCD.
    pub(super) const fn of_fullest(&self) -> u64 {
        self.count_on_unit_of(0)
    }

    /// The number of workgroups on the compute unit whose first is `first`.
    pub(super) const fn count_on_unit_of(&self, first: u64) -> u64 {
        let after = self.workgroups.saturating_sub(first);
        after.div_ceil(self.xcds.saturating_mul(self.units))
    }

    /// The first `count` workgroups of the compute unit whose first is `first`, in the order of their starts.
    pub(super) fn on_unit_of(&self, first: u64, count: u64) -> impl Iterator<Item = u64> {
        let step = self.xcds * self.units;
        (0..count.min(self.count_on_unit_of(first))).map(move |turn| first + turn * step)
    }

    /// The workgroups that start on an empty machine.
    pub(super) fn at_once(&self) -> std::ops::Range<u64> {
        let held = self
            .resident
            .saturating_mul(self.xcds)
            .saturating_mul(self.units);
        0..held.min(self.workgroups)
    }

    /// The fullest compute unit. Its work is its share of workgroups.
    pub(super) fn fullest(&self) -> Replayed {
        let own = self.of_fullest() as f64;
        Replayed {
            first: 0,
            share: own / self.workgroups.max(1) as f64,
            share_of_xcd: own / self.workgroups.div_ceil(self.xcds).max(1) as f64,
        }
    }

    /// Whether all workgroups start on an empty machine.
    pub(super) fn all_at_once(&self) -> bool {
        self.at_once().end == self.workgroups
    }

    /// The compute units of which one is replayed, by their first workgroups: the fullest one; and if all workgroups start
    /// at once, that of the last one, which may have more to do than others: overhanging edges of matrices, say, or what
    /// remains when all others have ended.
    pub(super) fn candidates(&self) -> Vec<u64> {
        let mut firsts = vec![0];
        if self.all_at_once() {
            let last = self.workgroups.saturating_sub(1);
            firsts.push(last % (self.xcds * self.units));
        }
        firsts.dedup();
        firsts
    }

    /// The compute unit to replay: of the candidates, the one whose workgroups access the most lines.
    pub(super) fn busiest(&self, recorded: &Recorded) -> Replayed {
        if !self.all_at_once() {
            return self.fullest();
        }
        let lines_on = |first: u64, most: usize| -> u64 {
            self.on_unit_of(first, u64::MAX)
                .filter_map(|number| recorded.of_workgroup(number))
                .map(|workgroup| lines_of(workgroup, recorded, most))
                .sum()
        };
        let firsts = self.candidates().into_iter();
        // The first of equal ones.
        let busiest = firsts
            .rev()
            .max_by_key(|first| lines_on(*first, usize::MAX));
        let first = busiest.unwrap_or(0);
        // Of all others, only the first accesses are recorded.
        let mut of_xcds = vec![0; self.xcds as usize];
        for workgroup in &recorded.workgroups {
            of_xcds[self.of(workgroup.number).0 as usize] +=
                lines_of(workgroup, recorded, KEPT_ACCESSES);
        }
        let own = lines_on(first, KEPT_ACCESSES);
        let share = |of: u64| own as f64 / of.max(1) as f64;
        Replayed {
            first,
            share: share(of_xcds.iter().sum()),
            share_of_xcd: share(of_xcds[self.of(first).0 as usize]),
        }
    }

    /// XCDs.
    pub(super) const fn xcds(&self) -> u64 {
        self.xcds
    }

    /// Compute units per XCD.
    pub(super) const fn units(&self) -> u64 {
        self.units
    }
}

/// The compute unit that is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Replayed {
    /// The number of its first workgroup.
    pub(super) first: u64,
    /// Its share of the requests of all compute units.
    pub(super) share: f64,
    /// Its share of those of its XCD.
    pub(super) share_of_xcd: f64,
}

/// The lines of at most this many accesses of each wave of a workgroup.
fn lines_of(workgroup: &WorkgroupTrace, recorded: &Recorded, most: usize) -> u64 {
    let waves = workgroup.waves.iter();
    let accesses = waves.flat_map(|wave| wave.accesses.iter().take(most));
    let shapes = accesses.filter_map(|access| recorded.shapes.get(access.shape as usize));
    shapes.map(|shape| shape.lines.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Parameters,
        trace::{Access, Shape, WaveTrace},
    };
    use ferrowave_gpu::Product;

    #[test]
    fn workgroups_go_round_xcds_and_compute_units() {
        let placement = Placement::new(Parameters::of(Product::Mi300x).expect("a row"), 1000, 2);
        assert_eq!(placement.of(0), (0, 0));
        assert_eq!(placement.of(9), (1, 1));
        assert_eq!(placement.of(304), (0, 0));
        assert_eq!(placement.of_fullest(), 4);
        assert!(placement.on_unit_of(0, 9).eq([0, 304, 608, 912]));
        assert!(placement.on_unit_of(90, 3).eq([90, 394, 698]));
        assert_eq!(placement.at_once(), 0..608);
        let small = Placement::new(Parameters::of(Product::Mi300x).expect("a row"), 9, 2);
        let fullest = small.fullest();
        assert_eq!((fullest.share, fullest.share_of_xcd), (1.0 / 9.0, 0.5));
        // The fullest of 38 compute units has 4 of the XCD's 125 workgroups.
        assert_eq!(placement.fullest().share_of_xcd, 4.0 / 125.0);
        let huge = Placement::new(Parameters::of(Product::Mi100).expect("a row"), u64::MAX, 10);
        assert_eq!(huge.at_once(), 0..1200);
        assert_eq!(huge.on_unit_of(0, 3).last(), Some(240));
    }

    #[test]
    fn the_last_workgroups_compute_unit_is_replayed_if_it_has_more_to_do() {
        let parameters = Parameters::of(Product::Mi300x).expect("a row");
        let placement = Placement::new(parameters, 20, 1);
        let shape = |lines: u64| Shape {
            lines: (0..lines).collect(),
            busy: 4,
            is_whole: false,
        };
        let recorded = |lines_of_last| {
            let workgroup = |number| {
                let access = Access {
                    index: 0,
                    shape: u32::from(number == 19),
                    base: 0,
                };
                WorkgroupTrace {
                    number,
                    is_whole: true,
                    waves: vec![WaveTrace {
                        accesses: vec![access; 5],
                        ..WaveTrace::default()
                    }],
                }
            };
            Recorded {
                workgroups: (0..20).map(workgroup).collect(),
                shapes: vec![shape(2), shape(lines_of_last)],
            }
        };
        // Workgroups 3, 11 and 19 are on one XCD.
        let expected = Replayed {
            first: 19,
            share: 40.0 / (19.0 * 10.0 + 40.0),
            share_of_xcd: 40.0 / 60.0,
        };
        assert_eq!(placement.busiest(&recorded(8)), expected);
        assert_eq!(placement.busiest(&recorded(2)), placement.fullest());
        // Another batch follows: the fullest compute unit decides.
        let more = Placement::new(parameters, 305, 1);
        assert_eq!(more.candidates(), [0]);
        assert_eq!(more.busiest(&recorded(8)), more.fullest());
    }
}
