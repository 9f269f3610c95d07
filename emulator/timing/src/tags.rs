//! The tags of a cache: the lines that it holds, each with a value.

/// How the set of a line is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// By the lowest bits of its number: lines with a power-of-two stride share few sets.
    LowBits,
    /// By a hash of all bits: lines are spread over all sets for any stride.
    Hash,
}

/// A set-associative cache that replaces the least recently used line.
#[derive(Clone, Debug)]
pub(super) struct Tags<T> {
    /// Set by set, the most recently used line first; unused entries hold [`NOTHING`].
    entries: Vec<(u64, T)>,
    sets: usize,
    ways: usize,
    index: Index,
}

/// Not the number of any line.
const NOTHING: u64 = u64::MAX;

impl<T: Copy + Default> Tags<T> {
    /// A cache of `lines` lines with at most `ways` ways, whose sets are selected by a hash.
    pub(super) fn new(lines: u64, ways: usize) -> Self {
        Self::with(lines, ways, Index::Hash)
    }

    /// The same, with sets selected by the lowest bits of a line's number.
    pub(super) fn by_low_bits(lines: u64, ways: usize) -> Self {
        Self::with(lines, ways, Index::LowBits)
    }

    fn with(lines: u64, ways: usize, index: Index) -> Self {
        let ways = ways.min(lines.max(1) as usize);
        let sets = (lines as usize / ways).max(1);
        Tags {
            entries: vec![(NOTHING, T::default()); sets * ways],
            sets,
            ways,
            index,
        }
    }

    /// The index of the first entry of a line's set.
    fn first(&self, line: u64) -> usize {
        let index = match self.index {
            Index::LowBits => line,
            Index::Hash => line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32,
        };
        index as usize % self.sets * self.ways
    }

    fn set(&mut self, line: u64) -> &mut [(u64, T)] {
        let first = self.first(line);
        &mut self.entries[first..first + self.ways]
    }

    /// Prefetches the sets of several lines on the host at once: the tags of a large cache do not fit in the host's
    /// caches.
    pub(super) fn fetch(&self, lines: impl Iterator<Item = u64>) {
        let entries = |line| self.entries[self.first(line)..].iter().take(self.ways);
        let some = lines.flat_map(|line| entries(line).step_by(4));
        std::hint::black_box(some.fold(0, |all, (line, _)| all | line));
    }

    /// Whether the cache holds a line.
    pub(super) fn holds(&self, line: u64) -> bool {
        let first = self.first(line);
        let set = &self.entries[first..first + self.ways];
        set.iter().any(|(held, _)| *held == line)
    }

    /// The value of a line if the cache holds it, which makes it the most recently used.
    pub(super) fn find(&mut self, line: u64) -> Option<&mut T> {
        let set = self.set(line);
        let place = set.iter().position(|(held, _)| *held == line)?;
        set[..=place].rotate_right(1);
        set.first_mut().map(|(_, word)| word)
    }

    /// Inserts a line that is not in the cache.
    pub(super) fn insert(&mut self, line: u64, word: T) {
        let set = self.set(line);
        set.rotate_right(1);
        set[0] = (line, word);
    }

    /// Removes a line.
    pub(super) fn remove(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(place) = set.iter().position(|(held, _)| *held == line) {
            set[place].0 = NOTHING;
            set[place..].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_was_not_used_for_longest_goes() {
        let mut tags = Tags::new(2, 2);
        tags.insert(1, 'a');
        tags.insert(2, 'b');
        assert_eq!(tags.find(1).copied(), Some('a'));
        tags.insert(3, 'c');
        assert_eq!(tags.find(2), None);
        assert_eq!(tags.find(1).copied(), Some('a'));
        tags.remove(1);
        assert_eq!(tags.find(1), None);
        assert_eq!(tags.find(3).copied(), Some('c'));
    }

    #[test]
    fn strides_of_a_power_of_two_share_a_set_if_low_bits_choose_it() {
        // Four sets of four ways; ten lines with a stride of four.
        let held = |mut tags: Tags<()>| {
            (0..10).for_each(|line| tags.insert(4 * line, ()));
            (0..10).filter(|line| tags.find(4 * line).is_some()).count()
        };
        assert_eq!(held(Tags::by_low_bits(16, 4)), 4);
        assert!(held(Tags::new(16, 4)) > 4);
        let mut tags = Tags::by_low_bits(16, 4);
        (0..16).for_each(|line| tags.insert(line, ()));
        assert!((0..16).all(|line| tags.find(line).is_some()));
    }

    #[test]
    fn no_cache_is_too_small() {
        let mut tags = Tags::new(0, 16);
        tags.insert(1, ());
        assert_eq!(tags.find(1), Some(&mut ()));
    }
}
