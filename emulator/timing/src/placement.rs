//! Assigns workgroups to compute units.
//!
//! The hardware deals out workgroups to the XCDs in turn, in the order of their numbers; fast kernels renumber their
//! tiles accordingly. The model assumes that an XCD deals them out to its compute units in turn, until each holds as
//! many as fit; later workgroups replace those that end.

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
        self.workgroups.div_ceil(self.xcds).div_ceil(self.units)
    }

    /// The first `count` workgroups of that compute unit, in the order of their starts.
    pub(super) fn first(&self, count: u64) -> impl Iterator<Item = u64> {
        let step = self.xcds * self.units;
        (0..count.min(self.of_fullest())).map(move |turn| turn * step)
    }

    /// The workgroups that start on an empty machine.
    pub(super) fn at_once(&self) -> std::ops::Range<u64> {
        let held = self
            .resident
            .saturating_mul(self.xcds)
            .saturating_mul(self.units);
        0..held.min(self.workgroups)
    }

    /// The fullest compute unit's share of all workgroups.
    pub(super) fn share(&self) -> f64 {
        self.of_fullest() as f64 / self.workgroups.max(1) as f64
    }

    /// The fullest compute unit's share of its XCD's workgroups.
    pub(super) fn share_of_xcd(&self) -> f64 {
        self.of_fullest() as f64 / self.workgroups.div_ceil(self.xcds).max(1) as f64
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
    use crate::Parameters;
    use ferrowave_gpu::Product;

    #[test]
    fn workgroups_go_round_xcds_and_compute_units() {
        let placement = Placement::new(Parameters::of(Product::Mi300x).expect("a row"), 1000, 2);
        assert_eq!(placement.of(0), (0, 0));
        assert_eq!(placement.of(9), (1, 1));
        assert_eq!(placement.of(304), (0, 0));
        assert_eq!(placement.of_fullest(), 4);
        assert!(placement.first(9).eq([0, 304, 608, 912]));
        assert_eq!(placement.at_once(), 0..608);
        let small = Placement::new(Parameters::of(Product::Mi300x).expect("a row"), 9, 2);
        assert_eq!((small.share(), small.share_of_xcd()), (1.0 / 9.0, 0.5));
        // The fullest of 38 compute units has 4 of the XCD's 125 workgroups.
        assert_eq!(placement.share_of_xcd(), 4.0 / 125.0);
        let huge = Placement::new(Parameters::of(Product::Mi100).expect("a row"), u64::MAX, 10);
        assert_eq!(huge.at_once(), 0..1200);
        assert_eq!(huge.first(3).last(), Some(240));
    }
}
