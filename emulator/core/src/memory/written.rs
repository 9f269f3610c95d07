//! Tracks which bytes of an allocation are initialized.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One bit per byte. Host threads may mark bytes concurrently.
pub struct Written {
    words: Box<[AtomicU64]>,
}

/// A mask of `bytes` bits from bit `at` of a word on, as far as they fit.
const fn bits(at: u64, bytes: u64) -> u64 {
    let ones = if bytes >= 64 { !0 } else { (1 << bytes) - 1 };
    ones << at
}

/// Splits a range of bytes into words of bits: index and mask.
#[inline]
pub fn words(offset: u64, end: u64) -> impl Iterator<Item = (usize, u64)> {
    (offset / 64..end.div_ceil(64)).map(move |word| {
        let from = offset.max(64 * word);
        let to = end.min(64 * word + 64);
        (word as usize, bits(from % 64, to - from))
    })
}

impl Written {
    /// For an uninitialized allocation. Bytes after its end never count as missing.
    pub(super) fn nothing(bytes: usize) -> Self {
        let written = Written {
            words: (0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        };
        written.mark(bytes as u64, (bytes.next_multiple_of(64) - bytes) as u64);
        written
    }

    /// Marks bytes as written.
    #[inline]
    pub fn mark(&self, offset: u64, bytes: u64) {
        for (word, mask) in words(offset, offset + bytes) {
            if let Some(word) = self.words.get(word)
                && word.load(Relaxed) & mask != mask
            {
                word.fetch_or(mask, Relaxed);
            }
        }
    }

    /// The first uninitialized byte of a range.
    #[inline]
    pub fn first_missing(&self, offset: u64, bytes: u64) -> Option<u64> {
        words(offset, offset + bytes).find_map(|(index, mask)| {
            let missing = !self.words.get(index)?.load(Relaxed) & mask;
            (missing != 0).then(|| 64 * index as u64 + u64::from(missing.trailing_zeros()))
        })
    }

    /// Copies the state of bytes: written or not.
    pub(super) fn copy(&self, to: u64, source: &Written, from: u64, bytes: u64) {
        // The ranges may overlap: read all states before changing the first.
        let states: Vec<bool> = (0..bytes)
            .map(|byte| source.first_missing(from + byte, 1).is_none())
            .collect();
        for (byte, written) in states.into_iter().enumerate() {
            let at = to + byte as u64;
            let Some(word) = self.words.get((at / 64) as usize) else {
                return;
            };
            match written {
                true => word.fetch_or(1 << (at % 64), Relaxed),
                false => word.fetch_and(!(1 << (at % 64)), Relaxed),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_one_by_one() {
        let written = Written::nothing(200);
        assert_eq!(written.first_missing(0, 200), Some(0));
        written.mark(10, 100);
        assert_eq!(written.first_missing(10, 100), None);
        assert_eq!(written.first_missing(9, 2), Some(9));
        assert_eq!(written.first_missing(100, 20), Some(110));
        written.mark(63, 1);
        written.mark(0, 64);
        assert_eq!(written.first_missing(0, 110), None);
        written.mark(110, 90);
        assert_eq!(written.first_missing(0, 300), None, "behind the allocation");
    }

    #[test]
    fn copies_take_what_is_missing_along() {
        let (a, b) = (Written::nothing(300), Written::nothing(300));
        a.mark(0, 100);
        b.mark(0, 300);
        b.copy(50, &a, 40, 120);
        assert_eq!(b.first_missing(0, 300), Some(110));
        assert_eq!(b.first_missing(170, 130), None);
        // A copy to itself, shifted by one byte.
        a.copy(1, &a, 0, 200);
        assert_eq!(a.first_missing(0, 300), Some(101));
    }
}
