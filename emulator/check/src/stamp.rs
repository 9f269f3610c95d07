//! An access to a dword of memory, in 64 bits: fits into an atomic.

/// Bits of each field, from the lowest.
const MASK: u32 = 4;
const INSTRUCTION: u32 = 16;
const ATOMIC: u32 = 1;
const RELEASE: u32 = 4;
const EPOCH: u32 = 14;
const WAVE: u32 = 4;
const GROUP: u32 = 21;
const _: () = assert!(MASK + INSTRUCTION + ATOMIC + RELEASE + EPOCH + WAVE + GROUP == 64);

/// An access: workgroup, wave, time, instruction, and the bytes of the dword. 0 means none.
///
/// Saturated fields compare as ordered: false negatives only. Workgroups are numbered modulo 2²¹ - 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(pub(super) u64);

/// The time of an access, as other waves of its workgroup and of other workgroups can order it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// The workgroup's number in the grid.
    pub(super) group: u64,
    /// The wave in the workgroup.
    pub(super) wave: u32,
    /// The number of barriers that the workgroup has passed.
    pub(super) epoch: u32,
    /// The number of releases of the wave.
    pub(super) release: u32,
}

const fn field(value: u64, shift: u32, width: u32) -> u32 {
    (value >> shift) as u32 & ((1 << width) - 1)
}

const fn saturated(value: u32, width: u32) -> u64 {
    let most = (1 << width) - 1;
    (if value > most { most } else { value }) as u64
}

const fn group_code(number: u64) -> u64 {
    number % ((1 << GROUP) - 1) + 1
}

impl Stamp {
    const INSTRUCTION_AT: u32 = MASK;
    const ATOMIC_AT: u32 = Self::INSTRUCTION_AT + INSTRUCTION;
    const RELEASE_AT: u32 = Self::ATOMIC_AT + ATOMIC;
    const EPOCH_AT: u32 = Self::RELEASE_AT + RELEASE;
    const WAVE_AT: u32 = Self::EPOCH_AT + EPOCH;
    const GROUP_AT: u32 = Self::WAVE_AT + WAVE;

    /// The bits of the wave's number.
    pub(super) const WAVE_BITS: u64 = ((1 << WAVE) - 1) << Self::WAVE_AT;
    /// The bits of the workgroup and of its number of barriers.
    pub(super) const GROUP_AND_EPOCH: u64 =
        ((1 << GROUP) - 1) << Self::GROUP_AT | ((1 << EPOCH) - 1) << Self::EPOCH_AT;

    /// An access without bytes. `instruction` counts from the kernel's first.
    pub(super) const fn new(moment: Moment, instruction: u32, atomic: bool) -> Self {
        Stamp(
            group_code(moment.group) << Self::GROUP_AT
                | saturated(moment.wave, WAVE) << Self::WAVE_AT
                | saturated(moment.epoch, EPOCH) << Self::EPOCH_AT
                | saturated(moment.release, RELEASE) << Self::RELEASE_AT
                | (atomic as u64) << Self::ATOMIC_AT
                | saturated(instruction, INSTRUCTION) << Self::INSTRUCTION_AT,
        )
    }

    pub(super) const fn with_mask(self, mask: u32) -> Self {
        Stamp(self.0 | mask as u64)
    }

    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn mask(self) -> u32 {
        field(self.0, 0, MASK)
    }

    /// The stamp without its bytes.
    pub(super) const fn access(self) -> u64 {
        self.0 >> MASK
    }

    /// The instruction, counted from the kernel's first; `None` if its number did not fit.
    pub(super) const fn instruction(self) -> Option<u32> {
        let number = field(self.0, Self::INSTRUCTION_AT, INSTRUCTION);
        if number == (1 << INSTRUCTION) - 1 {
            None
        } else {
            Some(number)
        }
    }

    pub(super) const fn is_atomic(self) -> bool {
        field(self.0, Self::ATOMIC_AT, ATOMIC) == 1
    }

    pub(super) const fn wave(self) -> u32 {
        field(self.0, Self::WAVE_AT, WAVE)
    }

    /// The number of barriers before it; `None` if saturated.
    pub(super) const fn epoch(self) -> Option<u32> {
        let epoch = field(self.0, Self::EPOCH_AT, EPOCH);
        if epoch == (1 << EPOCH) - 1 {
            None
        } else {
            Some(epoch)
        }
    }

    /// The number of its wave's releases before it; `None` if saturated.
    pub(super) const fn release(self) -> Option<u32> {
        let release = field(self.0, Self::RELEASE_AT, RELEASE);
        if release == (1 << RELEASE) - 1 {
            None
        } else {
            Some(release)
        }
    }

    /// The workgroup, as [`Stamp::group_of`] encodes it.
    pub(super) const fn group(self) -> u32 {
        (self.0 >> Self::GROUP_AT) as u32
    }

    /// The encoding of a workgroup's number.
    pub(super) const fn group_of(number: u64) -> u32 {
        group_code(number) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let moment = Moment {
            group: 77,
            wave: 15,
            epoch: 9000,
            release: 3,
        };
        let stamp = Stamp::new(moment, 1234, true).with_mask(0b1010);
        assert!(stamp.is_atomic());
        assert_eq!((stamp.mask(), stamp.wave()), (0b1010, 15));
        assert_eq!((stamp.epoch(), stamp.release()), (Some(9000), Some(3)));
        assert_eq!(stamp.instruction(), Some(1234));
        assert_eq!(stamp.group(), Stamp::group_of(77));
        // The very first access differs from 0, which means none.
        let first = Moment {
            group: 0,
            wave: 0,
            epoch: 0,
            release: 0,
        };
        assert!(!Stamp::new(first, 0, false).is_none());
    }

    #[test]
    fn what_does_not_fit_is_not_told() {
        let moment = Moment {
            group: 0,
            wave: 0,
            epoch: 1 << 20,
            release: 16,
        };
        let stamp = Stamp::new(moment, 1 << 20, false);
        assert_eq!(
            (stamp.epoch(), stamp.release(), stamp.instruction()),
            (None, None, None)
        );
        assert!(!stamp.is_atomic());
        assert_eq!(stamp.wave(), 0);
    }
}
