//! The tags of a cache: the lines that it holds, each with a value.
//!
//! Sets get memory when they get their first line: the Infinity Cache has 131,072 sets, of which a small launch uses few.

/// How the set of a line is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// By the lowest bits of its number: lines with a power-of-two stride share few sets.
    LowBits,
    /// By all bits: lines are spread over all sets for any stride.
    Spread,
}

/// A set-associative cache that replaces the least recently used line.
#[derive(Debug)]
pub(super) struct Tags<T> {
    /// For each set, its number among those that have memory, counted from 1; 0 if it has none.
    numbers: Vec<u32>,
    /// The lines of each set with memory; unused places hold [`NOTHING`].
    lines: Vec<u64>,
    /// The value of each line.
    values: Vec<T>,
    /// The place of each set's most recently used line. Behind it, in a circle, are those used before it.
    newest: Vec<u8>,
    ways: usize,
    index: Index,
    /// The number of parts that the sets of the cache are divided into, if this is one of them.
    parts: usize,
}

/// Not the number of any line.
const NOTHING: u64 = u64::MAX;

/// Spreads lines over `places` places. Lines that follow each other have multiples of the golden ratio, which are spread
/// evenly however many there are. The highest bits select the place: lower bits are multiples of another ratio, which can
/// leave most places empty.
const fn spread(line: u64, places: usize) -> usize {
    let ratio = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((ratio as u128 * places as u128) >> 64) as usize
}

/// The sets of a cache of `lines` lines with at most `ways` ways, and their ways.
fn geometry(lines: u64, ways: usize) -> (usize, usize) {
    let ways = ways.min(lines.max(1) as usize);
    ((lines as usize / ways).max(1), ways)
}

/// The part of a line if the sets of caches are divided into `parts`, which is a power of two. Lines of different parts
/// are in different sets of every cache that has such parts.
pub(super) const fn part_of(line: u64, parts: usize) -> usize {
    spread(line, parts)
}

/// The most parts that the sets of a cache can be divided into: a power of two.
pub(super) fn most_parts(lines: u64, ways: usize) -> usize {
    let (sets, _) = geometry(lines, ways);
    1 << sets.trailing_zeros()
}

impl<T: Copy + Default> Tags<T> {
    /// A cache of `lines` lines with at most `ways` ways, over whose sets lines are spread.
    pub(super) fn new(lines: u64, ways: usize) -> Self {
        Self::with(lines, ways, Index::Spread, 1)
    }

    /// The same, with sets selected by the lowest bits of a line's number.
    pub(super) fn by_low_bits(lines: u64, ways: usize) -> Self {
        Self::with(lines, ways, Index::LowBits, 1)
    }

    /// One of `parts` parts, at most [`most_parts`], of the cache that [`Self::new`] returns, for the lines whose
    /// [`part_of`] is its number. All parts together do what the cache does.
    pub(super) fn part(lines: u64, ways: usize, parts: usize) -> Self {
        Self::with(lines, ways, Index::Spread, parts)
    }

    fn with(lines: u64, ways: usize, index: Index, parts: usize) -> Self {
        let (sets, ways) = geometry(lines, ways);
        let sets = (sets / parts).max(1);
        Tags {
            numbers: vec![0; sets],
            lines: Vec::new(),
            values: Vec::new(),
            newest: Vec::new(),
            ways,
            index,
            parts,
        }
    }

    /// The number of a line's set.
    fn set_of(&self, line: u64) -> usize {
        let sets = self.numbers.len();
        match self.index {
            Index::LowBits => line as usize % sets,
            Index::Spread => spread(line, sets * self.parts) % sets,
        }
    }

    /// The place of a line's set among those with memory.
    fn place_of(&self, line: u64) -> Option<usize> {
        (self.numbers[self.set_of(line)] as usize).checked_sub(1)
    }

    /// The lines of the set at a place.
    fn lines_of(&self, set: usize) -> &[u64] {
        &self.lines[set * self.ways..][..self.ways]
    }

    /// Prefetches the sets of several lines on the host at once: the tags of a large cache do not fit in the host's
    /// caches.
    pub(super) fn fetch(&self, lines: impl Iterator<Item = u64>) {
        let sets = lines.filter_map(|line| self.place_of(line));
        let some = sets.flat_map(|set| self.lines_of(set).iter().step_by(8));
        std::hint::black_box(some.fold(0, |all, line| all | line));
    }

    /// Whether the cache holds a line.
    pub(super) fn holds(&self, line: u64) -> bool {
        let set = self.place_of(line);
        set.is_some_and(|set| position(self.lines_of(set), line).is_some())
    }

    /// The value of a line if the cache holds it, which makes it the most recently used.
    pub(super) fn find(&mut self, line: u64) -> Option<&mut T> {
        let set = self.place_of(line)?;
        let mut place = position(self.lines_of(set), line)?;
        let newest = usize::from(self.newest[set]);
        let (first, ways) = (set * self.ways, self.ways);
        let lines = &mut self.lines[first..][..ways];
        let values = &mut self.values[first..][..ways];
        let value = values[place];
        // Those used after it move on by one place.
        if place < newest {
            lines.copy_within(..place, 1);
            values.copy_within(..place, 1);
            (lines[0], values[0]) = (lines[ways - 1], values[ways - 1]);
            place = ways - 1;
        }
        lines.copy_within(newest..place, newest + 1);
        values.copy_within(newest..place, newest + 1);
        (lines[newest], values[newest]) = (line, value);
        Some(&mut values[newest])
    }

    /// Inserts a line that is not in the cache, in the place of the one that was not used for longest.
    pub(super) fn insert(&mut self, line: u64, value: T) {
        let set = self.place_of(line).unwrap_or_else(|| {
            let number = self.set_of(line);
            self.lines.resize(self.lines.len() + self.ways, NOTHING);
            self.values.resize(self.lines.len(), T::default());
            self.newest.push(0);
            self.numbers[number] = self.newest.len() as u32;
            self.newest.len() - 1
        });
        let newest = usize::from(self.newest[set]);
        let place = newest.checked_sub(1).unwrap_or(self.ways - 1);
        self.newest[set] = place as u8;
        self.lines[set * self.ways + place] = line;
        self.values[set * self.ways + place] = value;
    }

    /// Removes a line.
    pub(super) fn remove(&mut self, line: u64) {
        let Some(set) = self.place_of(line) else {
            return;
        };
        let Some(mut place) = position(self.lines_of(set), line) else {
            return;
        };
        let (first, ways) = (set * self.ways, self.ways);
        let oldest = usize::from(self.newest[set]).checked_sub(1);
        let oldest = oldest.unwrap_or(ways - 1);
        let lines = &mut self.lines[first..][..ways];
        let values = &mut self.values[first..][..ways];
        while place != oldest {
            let after = (place + 1) % ways;
            (lines[place], values[place]) = (lines[after], values[after]);
            place = after;
        }
        lines[oldest] = NOTHING;
    }
}

/// Where a line is in a set. Compares several at once.
fn position(set: &[u64], line: u64) -> Option<usize> {
    for (number, some) in set.chunks(8).enumerate() {
        if some.iter().fold(false, |any, &held| any | (held == line)) {
            let place = some.iter().position(|&held| held == line)?;
            return Some(8 * number + place);
        }
    }
    None
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
    fn lines_that_follow_each_other_are_spread_evenly() {
        // RX 7900 XTX's and 9070 XT's Infinity Cache, and MI100's L2.
        for lines in [786_432, 524_288, 65_536] {
            for first in [0, 0x7f00_0000_0000 / 128] {
                let mut tags = Tags::new(lines, 16);
                let held = first..first + lines * 3 / 4;
                held.clone().for_each(|line| tags.insert(line, ()));
                assert!(
                    held.into_iter().all(|line| tags.holds(line)),
                    "{lines} lines"
                );
            }
        }
    }

    #[test]
    fn no_cache_is_too_small() {
        let mut tags = Tags::new(0, 16);
        tags.insert(1, ());
        assert_eq!(tags.find(1), Some(&mut ()));
    }

    /// Against a list of each set's lines, the most recently used first.
    #[test]
    fn each_set_is_a_list_by_use() {
        for (lines, ways) in [(1, 1), (6, 2), (64, 64), (96, 16), (48, 64), (24, 8)] {
            let mut tags = Tags::new(lines, ways);
            let mut lists: Vec<Vec<(u64, u32)>> = vec![Vec::new(); tags.numbers.len()];
            let mut state = 1_u64;
            for step in 0..20_000_u32 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let line = (state >> 33) % (2 * lines + 1);
                let list = &mut lists[tags.set_of(line)];
                let place = list.iter().position(|(held, _)| *held == line);
                assert_eq!(tags.holds(line), place.is_some());
                if state >> 61 == 0 {
                    tags.remove(line);
                    if let Some(place) = place {
                        list.remove(place);
                    }
                    continue;
                }
                match place {
                    Some(place) => {
                        let held = list.remove(place);
                        list.insert(0, held);
                        assert_eq!(tags.find(line).copied(), Some(held.1), "{lines} {ways}");
                    }
                    None => {
                        assert_eq!(tags.find(line), None, "{lines} {ways}");
                        tags.insert(line, step);
                        list.insert(0, (line, step));
                        list.truncate(tags.ways);
                    }
                }
            }
        }
    }

    #[test]
    fn the_parts_of_a_cache_do_what_the_cache_does() {
        // 24 sets.
        let (lines, ways) = (96, 4);
        assert_eq!(most_parts(lines, ways), 8);
        for parts in [1, 2, 8] {
            let mut whole = Tags::new(lines, ways);
            let mut all: Vec<_> = (0..parts).map(|_| Tags::part(lines, ways, parts)).collect();
            for step in 0..5000_u64 {
                let line = step * step % 211;
                let part = &mut all[part_of(line, parts)];
                assert_eq!(part.find(line).copied(), whole.find(line).copied());
                if !whole.holds(line) {
                    part.insert(line, step);
                    whole.insert(line, step);
                }
            }
        }
    }
}
