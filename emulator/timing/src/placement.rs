//! Assigns workgroups to compute units.
//!
//! The hardware deals out workgroups to the XCDs in turn, in the order of their numbers; fast kernels renumber their
//! tiles accordingly. The model assumes that an XCD deals them out to its compute units in turn, until each holds as
//! many as fit; later workgroups replace those that end. On RDNA, a workgroup processor is a compute unit here: two of them,
//! which can run one workgroup together.

use super::parameters::Parameters;

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
            units: u64::from(parameters.hardware.multiprocessors() / parameters.hardware.xcds),
            resident: resident.max(1),
        }
    }

    /// The XCD of a workgroup, and its compute unit there.
    pub(super) const fn of(&self, number: u64) -> (u64, u64) {
        (number % self.xcds, number / self.xcds % self.units)
    }

    /// How many workgroups its compute unit had before it.
    pub(super) const fn turn_of(&self, number: u64) -> u64 {
        number / (self.xcds * self.units)
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

    /// Whether all workgroups start on an empty machine.
    pub(super) fn all_at_once(&self) -> bool {
        self.at_once().end == self.workgroups
    }

    /// The compute units that are replayed, by their first workgroups. The slowest one stands for all. They are the fullest
    /// one; and if all workgroups start at once, that of the last one, which may have more to do than others: overhanging
    /// edges of matrices, say, or what remains when all others have ended.
    pub(super) fn candidates(&self) -> Vec<u64> {
        let mut firsts = vec![0];
        if self.all_at_once() {
            let last = self.workgroups.saturating_sub(1);
            firsts.push(last % (self.xcds * self.units));
        }
        firsts.dedup();
        firsts
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

#[cfg(test)]
mod tests {
    use super::*;
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
        // The fullest of 38 compute units has 4 of the XCD's 125 workgroups.
        assert_eq!(placement.candidates(), [0]);
        let huge = Placement::new(Parameters::of(Product::Mi100).expect("a row"), u64::MAX, 10);
        assert_eq!(huge.at_once(), 0..1200);
        assert_eq!(huge.on_unit_of(0, 3).last(), Some(240));
    }

    #[test]
    fn the_last_workgroup_is_replayed_if_all_start_at_once() {
        let parameters = Parameters::of(Product::Mi300x).expect("a row");
        assert_eq!(Placement::new(parameters, 20, 1).candidates(), [0, 19]);
        // One workgroup is on the compute unit of the first.
        assert_eq!(Placement::new(parameters, 1, 1).candidates(), [0]);
    }
}
