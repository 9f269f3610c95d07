//! Lanes whose bytes follow each other, taken together.

use crate::exec::Touch;

/// Consecutive active lanes at consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The first lane.
    pub(super) lane: u32,
    /// Its first byte.
    pub(super) start: u64,
    /// Bytes of all its lanes.
    pub(super) bytes: u64,
}

impl Segment {
    /// The lane that one of its bytes belongs to, as a bit.
    pub(super) fn lane_of(&self, address: u64, touch: &Touch) -> u64 {
        let lanes = address.saturating_sub(self.start) / u64::from(touch.bytes.max(1));
        1 << ((self.lane + lanes as u32) & 63)
    }
}

/// The segments of an access.
pub(super) fn segments(touch: &Touch) -> impl Iterator<Item = Segment> {
    let bytes = u64::from(touch.bytes);
    let mut left = touch.lanes;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let lane = left.trailing_zeros();
        let start = touch.addresses[lane as usize];
        let mut end = start.wrapping_add(bytes);
        let mut next = lane + 1;
        while next < 64 && left >> next & 1 == 1 && touch.addresses[next as usize] == end {
            end = end.wrapping_add(bytes);
            next += 1;
        }
        left &= (!0_u64).checked_shl(next).unwrap_or(0);
        Some(Segment {
            lane,
            start,
            bytes: u64::from(next - lane) * bytes,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Space;

    #[test]
    fn lanes_are_taken_together() {
        let touch = |lanes, address: fn(u64) -> u64| Touch {
            space: Space::Lds,
            write: false,
            scalar: false,
            bytes: 8,
            lanes,
            addresses: std::array::from_fn(|lane| address(lane as u64)),
        };
        let cut = |touch: &Touch| {
            segments(touch)
                .map(|s| (s.lane, s.start, s.bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(cut(&touch(!0, |lane| 8 * lane)), [(0, 0, 512)]);
        let halves = touch(!0, |lane| 8 * lane + 64 * (lane / 32));
        assert_eq!(cut(&halves), [(0, 0, 256), (32, 320, 256)]);
        let mut parts = segments(&halves);
        let second = parts.nth(1).expect("two");
        assert_eq!(second.lane_of(320 + 9, &halves), 1 << 33);
        assert_eq!(
            cut(&touch(0b1011, |lane| 8 * lane)),
            [(0, 0, 16), (3, 24, 8)]
        );
        assert_eq!(cut(&touch(0b11, |_| 40)), [(0, 40, 8), (1, 40, 8)]);
        assert_eq!(cut(&touch(1 << 63, |lane| lane)), [(63, 63, 8)]);
        assert_eq!(cut(&touch(0, |lane| lane)), []);
    }
}
