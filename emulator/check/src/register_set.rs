//! Sets of a wave's registers.

use ferrowave_isa::{Register, Registers};

/// The number of words: a power of two, so that a mask replaces a bounds check.
pub(super) const WORDS: usize = Register::COUNT.div_ceil(64).next_power_of_two();

/// One bit per register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RegisterSet([u64; WORDS]);

/// The lowest `count` bits of a word; further registers are in the next word.
const fn low_bits(count: u16) -> u64 {
    if count >= 64 { !0 } else { (1 << count) - 1 }
}

impl RegisterSet {
    /// Splits a range into words: index and mask.
    #[inline]
    fn cut(registers: Registers) -> impl Iterator<Item = (usize, u64)> {
        let first = registers.first.0;
        let end = first + registers.count;
        (first / 64..end.div_ceil(64)).map(move |word| {
            let from = first.max(64 * word);
            let to = end.min(64 * word + 64);
            let mask = low_bits(to - from) << (from % 64);
            (usize::from(word) % WORDS, mask)
        })
    }

    #[inline]
    pub(super) fn insert(&mut self, registers: Registers) {
        for (word, mask) in Self::cut(registers) {
            self.0[word] |= mask;
        }
    }

    /// The first of `registers` that is in the set.
    #[inline]
    pub(super) fn first_of(&self, registers: Registers) -> Option<Register> {
        Self::cut(registers).find_map(|(word, mask)| {
            let bits = self.0[word] & mask;
            (bits != 0).then(|| Register(64 * word as u16 + bits.trailing_zeros() as u16))
        })
    }

    /// The words of the set.
    pub(super) const fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0 = [0; WORDS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u16, count: u16) -> Registers {
        Registers {
            first: Register(first),
            count,
        }
    }

    #[test]
    fn registers_come_and_go() {
        let mut set = RegisterSet::default();
        set.insert(range(60, 10));
        assert_eq!(set.first_of(range(0, 60)), None);
        assert_eq!(set.first_of(range(50, 20)), Some(Register(60)));
        assert_eq!(set.first_of(range(64, 1)), Some(Register(64)));
        assert_eq!(set.first_of(range(70, 100)), None);
        set.insert(Registers {
            first: Register::SCC,
            count: 1,
        });
        assert_eq!(set.first_of(range(600, 41)), Some(Register::SCC));
        set.clear();
        assert_eq!(set.first_of(range(0, 512)), None);
    }
}
