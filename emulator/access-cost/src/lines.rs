//! How many cache lines the lanes of an access touch.

use ferrowave_emulator::exec::{LANES, ObservedAccess};

/// The 64-byte lines that an access touches, as addresses divided by 64, ascending.
pub struct Lines {
    lines: [u64; 2 * LANES],
    count: usize,
}

impl Lines {
    /// The lines that the active lanes touch.
    pub fn of(observed: &ObservedAccess<'_>) -> Self {
        // No access is longer than a line, so that it touches two lines at most.
        let mut lines = [0; 2 * LANES];
        let mut count = 0;
        let mut last = None;
        let mut ascending = true;
        for (_, address) in observed.iter() {
            let end = address.wrapping_add(u64::from(observed.bytes.max(1)) - 1);
            for line in [address / 64, end / 64] {
                // Most lanes touch the same line as the lane before.
                if last == Some(line) {
                    continue;
                }
                ascending &= last < Some(line);
                last = Some(line);
                lines[count] = line;
                count += 1;
            }
        }
        if !ascending {
            lines[..count].sort_unstable();
        }
        Lines { lines, count }
    }

    /// Each line once. A `shift` of 1 merges them into lines of 128 bytes.
    pub fn different(&self, shift: u32) -> impl Iterator<Item = u64> {
        let mut last = None;
        self.lines[..self.count]
            .iter()
            .map(move |line| line >> shift)
            .filter(move |line| last.replace(*line) != Some(*line))
    }
}

/// Cycles that L1 spends looking up lines for an access. L1 takes groups of neighbouring lanes: sixteen with at most 4
/// bytes each, and four with more; 8 bytes a lane take as long as 16 (AMD's Gluon tutorials, `v8_sliceMN`, 4.3). It looks
/// up one 64-byte line of a group per cycle. A line that several groups touch is looked up for each.
pub fn look_ups(observed: &ObservedAccess<'_>) -> u32 {
    let together = if observed.bytes <= 4 { 16 } else { 4 };
    // The lines of the current group.
    let mut lines = [0; 2 * 16];
    let (mut group, mut different, mut all) = (usize::MAX, 0, 0);
    for (lane, address) in observed.iter() {
        if lane / together != group {
            all += different;
            (group, different) = (lane / together, 0);
        }
        let end = address.wrapping_add(u64::from(observed.bytes.max(1)) - 1);
        for line in [address / 64, end / 64] {
            if !lines[..different].contains(&line) {
                lines[different] = line;
                different += 1;
            }
        }
    }
    (all + different) as u32
}

/// The number of 64-byte and of 128-byte lines that the active lanes touch.
pub fn lines(observed: &ObservedAccess<'_>) -> [u32; 2] {
    let lines = Lines::of(observed);
    [0, 1].map(|shift| lines.different(shift).count() as u32)
}

/// Bytes that the active lanes touch, each counted once. Never more than the lines of [`lines`] hold. Independent of
/// the access's base address.
pub fn distinct_bytes(observed: &ObservedAccess<'_>) -> u32 {
    let mut addresses = [0; LANES];
    let mut count = 0;
    for ((_, address), place) in observed.iter().zip(&mut addresses) {
        // Relative to the base, so that no address wraps around.
        *place = address.wrapping_sub(observed.base);
        count += 1;
    }
    let addresses = &mut addresses[..count];
    addresses.sort_unstable();
    let bytes = u64::from(observed.bytes);
    let up_to_next = addresses
        .windows(2)
        .map(|pair| bytes.min(pair[1] - pair[0]));
    let last = if count > 0 { bytes } else { 0 };
    (up_to_next.sum::<u64>() + last) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_emulator::exec::Space;

    fn of(bytes: u32, lanes: u64, address: impl Fn(u64) -> u64) -> [u32; 2] {
        lines(&ObservedAccess::of(
            Space::Global,
            false,
            bytes,
            lanes,
            address,
        ))
    }

    #[test]
    fn bytes_are_counted_once() {
        let of = |bytes, lanes, address: fn(u64) -> u64| {
            distinct_bytes(&ObservedAccess::of(
                Space::Global,
                false,
                bytes,
                lanes,
                address,
            ))
        };
        // Side by side, backwards, all equal, in equal pairs, half overlapping, far apart, no lane.
        assert_eq!(of(4, !0, |lane| 0x1000 + 4 * lane), 256);
        assert_eq!(of(4, !0, |lane| 0x1000 + 4 * (63 - lane)), 256);
        assert_eq!(of(16, !0, |_| 0x1030), 16);
        assert_eq!(of(4, !0, |lane| lane / 2 * 4), 128);
        assert_eq!(of(8, !0, |lane| 4 * lane), 63 * 4 + 8);
        assert_eq!(of(4, !0, |lane| 4096 * lane), 256);
        assert_eq!(of(4, 0, |lane| lane), 0);
    }

    #[test]
    fn lines_are_counted_once() {
        // 256 bytes, aligned and unaligned.
        assert_eq!(of(4, !0, |lane| 0x1000 + 4 * lane), [4, 2]);
        assert_eq!(of(4, !0, |lane| 0x1020 + 4 * lane), [5, 3]);
        assert_eq!(of(4, !0, |lane| 0x1022 + 4 * lane), [5, 3]);
        // Backwards and shuffled.
        assert_eq!(of(4, !0, |lane| 0x1000 + 4 * (63 - lane)), [4, 2]);
        assert_eq!(of(4, !0, |lane| 0x1000 + 4 * (lane * 17 % 64)), [4, 2]);
        // All in one line, each in its own line, in every second line.
        assert_eq!(of(16, !0, |_| 0x1030), [1, 1]);
        assert_eq!(of(4, !0, |lane| 4096 * lane), [64, 64]);
        assert_eq!(of(4, !0, |lane| 64 * lane), [64, 32]);
        // Each across two lines.
        assert_eq!(of(8, !0, |lane| 60 + 128 * lane), [128, 64]);
        assert_eq!(of(8, !0, |lane| 124 + 256 * lane), [128, 128]);
        // Few active lanes, and none.
        assert_eq!(of(4, 1 | 1 << 40, |lane| 4 * lane), [2, 2]);
        assert_eq!(of(4, 0, |lane| 4 * lane), [0, 0]);
    }

    #[test]
    fn lines_are_looked_up_for_lanes_that_are_together() {
        let of = |bytes, address: &dyn Fn(u64) -> u64| {
            look_ups(&ObservedAccess::of(
                Space::Global,
                false,
                bytes,
                !0,
                address,
            ))
        };
        // Side by side, and all lanes at the same bytes.
        for (bytes, beside, same) in [
            (1, 4, 4),
            (4, 4, 4),
            (8, 16, 16),
            (12, 24, 16),
            (16, 16, 16),
        ] {
            let side_by_side = |lane| 0x1000 + lane * u64::from(bytes);
            assert_eq!(
                (of(bytes, &side_by_side), of(bytes, &|_| 0x1000)),
                (beside, same)
            );
        }
        // Sixteen lines, four times.
        assert_eq!(of(1, &|lane| lane % 16 * 4096), 64);
        assert_eq!(of(4, &|lane| lane * 64), 64);
        // Each lane's four bytes cross into the next line.
        assert_eq!(of(4, &|lane| lane * 128 + 62), 128);
    }
}
