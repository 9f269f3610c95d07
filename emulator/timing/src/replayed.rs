//! The compute unit that is replayed, and its share of what all compute units have in common.

use super::{placement::Placement, sharing::Sources};

/// The compute unit that is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Replayed {
    /// The number of its first workgroup.
    pub(super) first: u64,
    /// Its share of what the Infinity Cache and memory supply to all compute units.
    pub(super) share: f64,
    /// Its share of what L2 supplies to those of its XCD.
    pub(super) share_of_xcd: f64,
}

impl Replayed {
    /// The compute unit whose first workgroup is `first`. If all workgroups start at once, its work is its share of the
    /// lines that L2 and memory supply; otherwise, its share of workgroups.
    pub(super) fn new(placement: &Placement, first: u64, sources: &Sources) -> Self {
        if !placement.all_at_once() {
            let own = placement.count_on_unit_of(first) as f64;
            let of_xcd = placement.workgroups.div_ceil(placement.xcds());
            return Replayed {
                first,
                share: own / placement.workgroups.max(1) as f64,
                share_of_xcd: own / of_xcd.max(1) as f64,
            };
        }
        let (xcd, unit) = placement.of(first);
        let of_xcd = &sources.supplied[xcd as usize];
        let own = of_xcd[unit as usize];
        let all: f64 = sources
            .supplied
            .iter()
            .flatten()
            .map(|unit| unit.behind_l2)
            .sum();
        let by_l2: f64 = of_xcd.iter().map(|unit| unit.by_l2).sum();
        // If nothing is supplied, the share has no effect.
        let share = |own: f64, of: f64| if of > 0.0 { own / of } else { 1.0 };
        Replayed {
            first,
            share: share(own.behind_l2, all),
            share_of_xcd: share(own.by_l2, by_l2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, sharing::Supplied};
    use ferrowave_gpu::Product;

    #[test]
    fn shares_are_those_of_workgroups_if_some_start_later() {
        let placement = Placement::new(Parameters::of(Product::Mi300x).expect("a row"), 1000, 2);
        // The fullest of 38 compute units has 4 of the XCD's 125 workgroups.
        let fullest = Replayed::new(&placement, 0, &Sources::default());
        assert_eq!((fullest.share, fullest.share_of_xcd), (0.004, 4.0 / 125.0));
    }

    #[test]
    fn shares_are_those_of_lines_if_all_workgroups_start_at_once() {
        let parameters = Parameters::of(Product::Mi300x).expect("a row");
        let placement = Placement::new(parameters, 20, 1);
        let mut supplied = vec![vec![Supplied::default(); 38]; 8];
        for workgroup in 0..20 {
            let (xcd, unit) = placement.of(workgroup);
            supplied[xcd as usize][unit as usize] = match workgroup {
                19 => Supplied {
                    by_l2: 16.0,
                    behind_l2: 8.0,
                },
                _ => Supplied {
                    by_l2: 10.0,
                    behind_l2: 2.0,
                },
            };
        }
        let sources = Sources {
            supplied,
            ..Sources::default()
        };
        let expected = Replayed {
            first: 19,
            share: 8.0 / (19.0 * 2.0 + 8.0),
            // Workgroups 3, 11 and 19 are on one XCD.
            share_of_xcd: 16.0 / (10.0 + 10.0 + 16.0),
        };
        assert_eq!(Replayed::new(&placement, 19, &sources), expected);
    }
}
