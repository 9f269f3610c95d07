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
    /// Of each set the lines, the one that was used last first.
    sets: Vec<Vec<(u64, T)>>,
    ways: usize,
    index: Index,
}

impl<T: Copy> Tags<T> {
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
            sets: vec![Vec::new(); sets],
            ways,
            index,
        }
    }

    fn set(&mut self, line: u64) -> &mut Vec<(u64, T)> {
        let index = match self.index {
            Index::LowBits => line,
            Index::Hash => line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32,
        };
        let set = index as usize % self.sets.len();
        &mut self.sets[set]
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
        let ways = self.ways;
        let set = self.set(line);
        if set.len() == ways {
            set.pop();
        }
        set.insert(0, (line, word));
    }

    /// Throws a line out.
    pub(super) fn remove(&mut self, line: u64) {
        self.set(line).retain(|(held, _)| *held != line);
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
