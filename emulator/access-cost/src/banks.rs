//! LDS bank conflicts: the cycles that an access takes beyond those of a conflict-free one.
//!
//! Consecutive words of 4 bytes lie in consecutive LDS banks; each bank serves one word per cycle. The lanes of a wave
//! are served in phases. A phase is a group of lanes that could use all banks once; it takes as many cycles as its
//! busiest bank has words to serve.
//!
//! | access | 32 banks: gfx908, gfx90a, gfx942 | gfx950 |
//! |---|---|---|
//! | up to 4 bytes | 2 phases of 32 lanes in order | reads: 1 phase on 64 banks; others: as on 32 banks |
//! | 8 bytes | 4 phases of 16 lanes in order | reads: 2 phases of 32 lanes on 64 banks; others: as on 32 banks |
//! | 12 bytes | 8 phases of 8 lanes, as 16 bytes | as on 32 banks |
//! | 16 bytes, reads | 8 phases: lanes 0–3 and 20–23, 4–7 and 16–19, 8–11 and 28–31, 12–15 and 24–27, the same + 32 | 4 phases on 64 banks: lanes 0–3, 12–15, 20–27; 4–11, 16–19, 28–31; the same + 32 |
//! | 16 bytes, others | 8 phases of 8 lanes in order | as on 32 banks |
//!
//! Sources: AMD's documentation of Composable Kernel, «Understanding AMD GPU LDS and Bank Conflicts» (32 banks, the
//! phases of 16-byte accesses); the paper «HipKittens», appendix D.2, table 5, measured on gfx950 (`ds_read_b128`,
//! `ds_read_b96`, `ds_read_b64`, and `ds_write_b64`, which has 32 banks there); IREE's `SharedMemoryModel` for reads of
//! 4 bytes on gfx950. Writes of other sizes on gfx950 are assumed to behave like those of 8 bytes.
//!
//! Lanes that read or write the same word share it. Atomic operations on one word are serialized (AMD's documentation
//! of ROCm Compute Profiler, «LDS address conflicts»). An instruction with two addresses counts as two accesses. 16 bytes
//! at an address that is no multiple of 16 take twice as long (AMD's Gluon tutorials, `lds_throughput_validation`: rows
//! of 1024 bytes with 4 bytes of padding, `ds_read_b128` on gfx950).

use ferrowave_gpu::Gpu;

use ferrowave_emulator::exec::{LANES, ObservedAccess};

/// The largest number of banks.
const MOST_BANKS: usize = 64;

const ALL: [u64; 1] = [!0];
const HALVES: [u64; 2] = groups(32);
const QUARTERS: [u64; 4] = groups(16);
const EIGHTHS: [u64; 8] = groups(8);
const WIDE_READS_ON_32: [u64; 8] = both_halves([
    fours([0, 20, 0, 20]),
    fours([4, 16, 4, 16]),
    fours([8, 28, 8, 28]),
    fours([12, 24, 12, 24]),
]);
const WIDE_READS_ON_64: [u64; 4] = both_halves([fours([0, 12, 20, 24]), fours([4, 8, 16, 28])]);

/// Groups of `lanes` consecutive lanes.
const fn groups<const N: usize>(lanes: u32) -> [u64; N] {
    let mut masks = [0; N];
    let mut group = 0;
    while group < N {
        masks[group] = (!0 >> (64 - lanes)) << (lanes * group as u32);
        group += 1;
    }
    masks
}

/// Four lanes starting at each of `starts`.
const fn fours(starts: [u32; 4]) -> u64 {
    0xf << starts[0] | 0xf << starts[1] | 0xf << starts[2] | 0xf << starts[3]
}

/// The groups, and the same groups in the upper half of the wave.
const fn both_halves<const N: usize, const BOTH: usize>(low: [u64; N]) -> [u64; BOTH] {
    let mut masks = [0; BOTH];
    let mut group = 0;
    while group < BOTH {
        masks[group] = if group < N {
            low[group]
        } else {
            low[group - N] << 32
        };
        group += 1;
    }
    masks
}

/// The kind of an LDS access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// An atomic operation.
    Atomic,
}

impl AccessKind {
    /// The kind of an observed access; `is_atomic` tells whether its instruction is atomic.
    pub const fn of(observed: &ObservedAccess<'_>, is_atomic: bool) -> Self {
        match (observed.write, is_atomic) {
            (_, true) => AccessKind::Atomic,
            (true, false) => AccessKind::Write,
            (false, false) => AccessKind::Read,
        }
    }
}

/// The bank model of a GPU's LDS.
pub struct Banks {
    has_wide_reads: bool,
    used: [u8; MOST_BANKS],
    /// The words that each bank serves in the current phase.
    words: Box<[[u64; LANES]; MOST_BANKS]>,
}

impl Banks {
    /// The model of one GPU.
    pub fn new(gpu: Gpu) -> Self {
        Banks {
            has_wide_reads: gpu == Gpu::Gfx950,
            used: [0; MOST_BANKS],
            words: Box::new([[0; LANES]; MOST_BANKS]),
        }
    }

    /// A phase's number of banks, and the lanes of each phase.
    const fn phases(&self, way: AccessKind, bytes: u32) -> (u64, &'static [u64]) {
        let wide = self.has_wide_reads && matches!(way, AccessKind::Read);
        match (bytes, wide) {
            (0..=4, true) => (64, &ALL),
            (0..=4, false) => (32, &HALVES),
            (5..=8, true) => (64, &HALVES),
            (5..=8, false) => (32, &QUARTERS),
            (13.., true) => (64, &WIDE_READS_ON_64),
            _ if matches!(way, AccessKind::Read) => (32, &WIDE_READS_ON_32),
            _ => (32, &EIGHTHS),
        }
    }

    /// Cycles beyond one for each phase that has active lanes.
    pub fn extra_cycles(&mut self, observed: &ObservedAccess<'_>, way: AccessKind) -> u32 {
        let (banks, phases) = self.phases(way, observed.bytes);
        phases
            .iter()
            .map(|lanes| {
                self.cycles(observed, lanes & observed.lanes, way, banks)
                    .saturating_sub(1)
            })
            .sum()
    }

    /// All cycles: one for each phase that has active lanes, plus those of conflicts. 16 bytes at an address that is no
    /// multiple of 16 take twice as long.
    pub fn cycles_of(&mut self, observed: &ObservedAccess<'_>, way: AccessKind) -> u32 {
        let (_, phases) = self.phases(way, observed.bytes);
        let busy = phases.iter().filter(|lanes| *lanes & observed.lanes != 0);
        let cycles = busy.count() as u32 + self.extra_cycles(observed, way);
        let is_aligned = || observed.iter().all(|(_, address)| address % 16 == 0);
        match observed.bytes > 12 && !is_aligned() {
            true => 2 * cycles,
            false => cycles,
        }
    }

    /// The number of words that the busiest bank serves.
    fn cycles(
        &mut self,
        observed: &ObservedAccess<'_>,
        lanes: u64,
        way: AccessKind,
        banks: u64,
    ) -> u32 {
        self.used = [0; MOST_BANKS];
        let mut most = 0;
        let of_phase = observed.iter().filter(|(lane, _)| lanes >> lane & 1 == 1);
        for (_, address) in of_phase {
            let last = address.wrapping_add(u64::from(observed.bytes.max(1)) - 1);
            for word in address / 4..=last / 4 {
                // `banks` is a power of two.
                let bank = (word & (banks - 1)) as usize;
                let used = usize::from(self.used[bank]);
                let words = &mut self.words[bank];
                // A lane uses a bank at most once, so there are never more words than lanes.
                if way != AccessKind::Atomic && words[..used].contains(&word) {
                    continue;
                }
                if let Some(slot) = words.get_mut(used) {
                    *slot = word;
                    self.used[bank] += 1;
                    most = most.max(used as u32 + 1);
                }
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_emulator::exec::Space;

    fn observed(bytes: u32, lanes: u64, address: impl Fn(u64) -> u64) -> ObservedAccess<'static> {
        ObservedAccess::of(Space::Lds, false, bytes, lanes, address)
    }

    /// Extra cycles on 32 banks (gfx90a) and on gfx950.
    fn extra(way: AccessKind, observed: &ObservedAccess<'_>) -> [u32; 2] {
        [Gpu::Gfx90a, Gpu::Gfx950].map(|gpu| Banks::new(gpu).extra_cycles(observed, way))
    }

    #[test]
    fn every_lane_is_in_one_phase() {
        for gpu in Gpu::ALL {
            let banks = Banks::new(gpu);
            for way in [AccessKind::Read, AccessKind::Write, AccessKind::Atomic] {
                for bytes in [1, 2, 4, 8, 12, 16] {
                    let (count, phases) = banks.phases(way, bytes);
                    assert_eq!(phases.iter().fold(0, |all, lanes| all ^ lanes), !0_u64);
                    let lanes: u32 = phases.iter().map(|lanes| lanes.count_ones()).sum();
                    assert_eq!(lanes, 64);
                    // The lanes of a phase together never need more words than there are banks.
                    let words = u64::from(bytes.div_ceil(4));
                    let most = phases.iter().map(|lanes| lanes.count_ones()).max();
                    assert!(u64::from(most.unwrap_or(0)) * words <= count);
                }
            }
        }
    }

    #[test]
    fn lanes_side_by_side_and_lanes_on_one_word_do_not_conflict() {
        for bytes in [1, 2, 4, 8, 12, 16] {
            for way in [AccessKind::Read, AccessKind::Write] {
                let beside = observed(bytes, !0, |lane| 64 + lane * u64::from(bytes));
                let expected = match (bytes, way) {
                    // Each of the eight phases has two runs of four lanes that start 60 or 36 words apart. The 12 words
                    // of each run share some of the 32 banks.
                    (12, AccessKind::Read) => [8, 8],
                    _ => [0, 0],
                };
                assert_eq!(extra(way, &beside), expected, "{bytes} {way:?}");
                assert_eq!(extra(way, &observed(bytes, !0, |_| 48)), [0, 0]);
            }
        }
    }

    #[test]
    fn strides_conflict_as_often_as_lanes_come_back_to_a_bank() {
        // Lanes 32 words apart: each half of the wave takes 32 cycles instead of 1. On 64 banks, every second lane uses
        // the same one of two banks, so that the single phase takes 32 cycles.
        let rows = observed(4, !0, |lane| 128 * lane);
        assert_eq!(extra(AccessKind::Read, &rows), [2 * 31, 31]);
        assert_eq!(extra(AccessKind::Write, &rows), [2 * 31, 2 * 31]);
        // Lanes 33 words apart: no conflicts.
        assert_eq!(
            extra(AccessKind::Read, &observed(4, !0, |lane| 132 * lane)),
            [0, 0]
        );
        // Every second word: two lanes per bank in 32 lanes, and in 64.
        assert_eq!(
            extra(AccessKind::Read, &observed(4, !0, |lane| 8 * lane)),
            [2, 1]
        );
        // Only 16 lanes are active.
        assert_eq!(
            extra(AccessKind::Read, &observed(4, 0xffff, |lane| 8 * lane)),
            [0, 0]
        );
        assert_eq!(extra(AccessKind::Read, &observed(4, 0, |_| 0)), [0, 0]);
    }

    #[test]
    fn wide_reads_go_by_groups_of_lanes() {
        // Lane 20 reads the words 32 after lane 0's and shares a phase with it on both GPUs; lane 4 is in another
        // phase.
        let pair = |other: u32| {
            observed(
                16,
                1 | 1 << other,
                move |lane| if lane == 0 { 0 } else { 256 },
            )
        };
        assert_eq!(extra(AccessKind::Read, &pair(20)), [1, 1]);
        assert_eq!(extra(AccessKind::Read, &pair(4)), [0, 0]);
        assert_eq!(extra(AccessKind::Read, &pair(12)), [0, 1]);
        // Writes are served in lane order.
        assert_eq!(extra(AccessKind::Write, &pair(20)), [0, 0]);
        assert_eq!(extra(AccessKind::Write, &pair(4)), [1, 1]);
    }

    #[test]
    fn atomics_on_one_word_wait_for_each_other() {
        assert_eq!(
            extra(AccessKind::Atomic, &observed(4, !0, |_| 8)),
            [2 * 31, 2 * 31]
        );
        assert_eq!(
            extra(AccessKind::Atomic, &observed(4, 0b101, |_| 8)),
            [1, 1]
        );
    }
}
