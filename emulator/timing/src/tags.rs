//! The tags of a cache: which lines it holds, and a word for each of them.

/// Which set a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// The lowest bits of its number say it: lines at a stride that is a power of two share few sets.
    LowBits,
    /// All of its bits do, so that lines are spread whatever their stride.
    Hash,
}

/// A set-associative cache that replaces the line which was used longest ago.
#[derive(Clone, Debug)]
pub(super) struct Tags<T> {
    /// Set by set, the line that was used last first; behind all lines [`NOTHING`].
    entries: Vec<(u64, T)>,
    sets: usize,
    ways: usize,
    index: Index,
}

/// No line has this number: it would begin behind all addresses.
const NOTHING: u64 = u64::MAX;

impl<T: Copy + Default> Tags<T> {
    /// For so many lines, in sets of as many ways or fewer, over which lines are spread whatever their stride.
    pub(super) fn new(lines: u64, ways: usize) -> Self {
        Self::with(lines, ways, Index::Hash)
    }

    /// The same, in which the lowest bits of a line's number choose its set.
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

    /// Where the set of a line begins.
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

    /// Has the host fetch the sets of lines that are about to be looked for, all at once instead of one after the other:
    /// the tags of a large cache are not in the host's.
    pub(super) fn fetch(&self, lines: impl Iterator<Item = u64>) {
        let entries = |line| self.entries[self.first(line)..].iter().take(self.ways);
        let some = lines.flat_map(|line| entries(line).step_by(4));
        std::hint::black_box(some.fold(0, |all, (line, _)| all | line));
    }

    /// The word of a line that is there, which was now used.
    pub(super) fn find(&mut self, line: u64) -> Option<&mut T> {
        let set = self.set(line);
        let place = set.iter().position(|(held, _)| *held == line)?;
        set[..=place].rotate_right(1);
        set.first_mut().map(|(_, word)| word)
    }

    /// Puts in a line that is not there.
    pub(super) fn insert(&mut self, line: u64, word: T) {
        let set = self.set(line);
        set.rotate_right(1);
        set[0] = (line, word);
    }

    /// Throws a line out.
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
        // Four sets of four; ten lines at a stride of four.
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
