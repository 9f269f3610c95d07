//! The path on which a wave has reached an instruction: an ID for its last few instructions.
//!
//! A result that depends only on these instructions is computed once per path.

use std::collections::{HashMap, VecDeque};

/// The number of instructions in a path.
pub(super) const LENGTH: u32 = 24;

/// A path. Several IDs may name one path; an ID never names two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PathId(u32);

impl PathId {
    /// No path: the start of a wave.
    pub(super) const NONE: PathId = PathId(0);
    /// The preceding instructions in the code, without a jump.
    pub(super) const STRAIGHT: PathId = PathId(1);
    /// Too many paths: two unknown paths may differ.
    pub(super) const UNKNOWN: PathId = PathId(2);
    const FIRST: u32 = 3;
    /// The limit of IDs.
    const MOST: u32 = 1 << 16;
}

/// Consecutive instructions that ran: the first, and the one after the last.
type Stretch = (u32, u32);

/// The known paths.
#[derive(Debug, Default)]
pub(super) struct PathHistory {
    /// By the stretches before a jump, and its target.
    known: HashMap<(Vec<Stretch>, u32), PathId>,
    /// The same, by the path to the jump, the instruction after it, and its target.
    steps: HashMap<(PathId, u32, u32), PathId>,
}

impl PathHistory {
    fn find(&mut self, stretches: &VecDeque<Stretch>, target: u32) -> PathId {
        let next = PathId::FIRST + self.known.len() as u32;
        if next >= PathId::MOST {
            return PathId::UNKNOWN;
        }
        let mut last: Vec<Stretch> = Vec::new();
        let mut left = LENGTH;
        for &(start, end) in stretches.iter().rev() {
            let length = (end - start).min(left);
            last.push((end - length, end));
            left -= length;
        }
        last.retain(|(start, end)| start != end);
        *self.known.entry((last, target)).or_insert(PathId(next))
    }
}

/// The recent instructions of a wave.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// The current stretch.
    start: u32,
    next: u32,
    /// The path to the first instructions of the stretch.
    path: PathId,
    /// The stretches before it, as many as fit in a path.
    earlier: VecDeque<Stretch>,
    /// The number of instructions run before this stretch.
    passed: u64,
}

impl Default for Walk {
    fn default() -> Self {
        Walk {
            start: u32::MAX,
            next: u32::MAX,
            path: PathId::NONE,
            earlier: VecDeque::new(),
            passed: 0,
        }
    }
}

impl Walk {
    /// Advances to the instruction that the wave is about to run. Returns the path to it.
    #[inline]
    pub(super) fn go(&mut self, index: u32, paths: &mut PathHistory) -> PathId {
        if index != self.next {
            self.jump(index, paths);
        }
        self.next = index + 1;
        self.way_to(index)
    }

    #[inline]
    fn way_to(&self, index: u32) -> PathId {
        if index - self.start >= LENGTH {
            PathId::STRAIGHT
        } else {
            self.path
        }
    }

    #[inline(never)]
    fn jump(&mut self, index: u32, paths: &mut PathHistory) {
        let length = self.next - self.start;
        if length > 0 {
            self.passed += u64::from(length);
            self.earlier.push_back((self.start, self.next));
            let mut all: u32 = self
                .earlier
                .iter()
                .map(|(start, end)| (end - start).min(LENGTH))
                .sum();
            while let Some(&(start, end)) = self.earlier.front()
                && let Some(rest) = all.checked_sub((end - start).min(LENGTH))
                && rest >= LENGTH
            {
                self.earlier.pop_front();
                all = rest;
            }
        }
        let step = (self.way_to(self.next), self.next, index);
        self.path = match paths.steps.get(&step) {
            Some(path) if length > 0 => *path,
            _ => {
                let path = paths.find(&self.earlier, index);
                // An unknown path does not identify what follows, and nothing precedes a wave's first instruction.
                if length > 0 && ![step.0, path].contains(&PathId::UNKNOWN) {
                    paths.steps.insert(step, path);
                }
                path
            }
        };
        self.start = index;
    }

    /// The number of instructions run before the current one.
    pub(super) fn steps(&self) -> u64 {
        self.passed + u64::from(self.next - self.start) - 1
    }

    /// The instruction that ran before the current one.
    pub(super) fn last(&self) -> Option<u32> {
        let now = self.next.wrapping_sub(1);
        match self.start == now {
            true => self.earlier.back().map(|(_, end)| end - 1),
            false => Some(now - 1),
        }
    }

    /// The instructions that ran before the current one, oldest first, as many as a path contains.
    pub(super) fn before(&self) -> impl Iterator<Item = u32> {
        let now = self.next.wrapping_sub(1);
        let stretches = self.earlier.iter().copied().chain([(self.start, now)]);
        let count: u64 = stretches
            .clone()
            .map(|(start, end)| u64::from(end - start))
            .sum();
        stretches
            .flat_map(|(start, end)| start..end)
            .skip(count.saturating_sub(LENGTH.into()) as usize)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Waves jump at random: an ID always stands for the same last instructions, and the walk returns these.
    #[test]
    fn a_way_is_the_last_instructions() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let mut paths = PathHistory::default();
        let mut seen: HashMap<(PathId, u32), Vec<u32>> = HashMap::new();
        let (mut again, mut straight) = (0, 0);
        for _ in 0..300 {
            let mut walk = Walk::default();
            let mut ran: Vec<u32> = Vec::new();
            let mut index = 10 * random.random_range(0..2);
            for _ in 0..400 {
                let path = walk.go(index, &mut paths);
                let last = &ran[ran.len().saturating_sub(LENGTH as usize)..];
                assert_eq!(walk.before().collect::<Vec<_>>(), last);
                assert_eq!(walk.last().as_ref(), last.last());
                assert_eq!(walk.steps(), ran.len() as u64);
                match seen.get(&(path, index)) {
                    Some(before) => {
                        assert_eq!(before, last);
                        again += 1;
                    }
                    None => drop(seen.insert((path, index), last.to_vec())),
                }
                straight += usize::from(path == PathId::STRAIGHT);
                ran.push(index);
                // Loops of several lengths; the short ones run seldom.
                index = match index {
                    30 if random.random_ratio(1, 3) => 22,
                    60 if random.random_ratio(1, 2) => 10,
                    90 => 0,
                    _ => index + 1,
                };
            }
        }
        assert!(again > 90_000 && straight > 10_000, "{again} {straight}");
    }

    #[test]
    fn a_short_loop_has_few_ways() {
        let mut paths = PathHistory::default();
        let mut walk = Walk::default();
        for _ in 0..10_000 {
            for index in 5..8 {
                walk.go(index, &mut paths);
            }
        }
        assert!(
            paths.known.len() < 20 && paths.steps.len() < 30,
            "{paths:?}"
        );
        assert!(walk.earlier.len() < 10);
    }

    #[test]
    fn too_many_ways_are_unknown() {
        let mut paths = PathHistory::default();
        let mut walk = Walk::default();
        let mut random = Pcg64Mcg::seed_from_u64(5);
        for _ in 0..200_000 {
            walk.go(random.random_range(0..1000) * 2, &mut paths);
        }
        assert_eq!(walk.go(7, &mut paths), PathId::UNKNOWN);
        assert!(paths.known.len() <= PathId::MOST as usize);
        for index in 8..8 + LENGTH {
            walk.go(index, &mut paths);
        }
        assert_eq!(walk.go(8 + LENGTH, &mut paths), PathId::STRAIGHT);
    }
}
