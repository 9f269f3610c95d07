//! The byte ranges that an access touches; bytes shared by lanes count once.

use ferrowave_emulator::exec::{ByShape, ObservedAccess, Shape};

/// Consecutive bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The lanes that touch bytes between `start` and `end`; none for a scalar access, which has no lanes.
pub(super) fn lanes_at(observed: &ObservedAccess<'_>, start: u64, end: u64) -> u64 {
    if observed.scalar {
        return 0;
    }
    observed
        .iter()
        .filter(|(_, address)| *address < end && start < address + u64::from(observed.bytes))
        .fold(0, |lanes, (lane, _)| lanes | 1 << lane)
}

/// The byte ranges of accesses of one shape, relative to the lowest lane's address.
pub(super) fn spans(shape: &Shape) -> Box<[Span]> {
    let mut lanes: Vec<u64> = shape.iter().map(|(_, distance)| distance).collect();
    if !lanes.is_sorted() {
        lanes.sort_unstable();
    }
    let bytes = u64::from(shape.bytes());
    let mut spans: Vec<Span> = Vec::new();
    for start in lanes {
        let end = start.wrapping_add(bytes);
        match spans.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => spans.push(Span { start, end }),
        }
    }
    spans.into()
}

/// Shifts spans by a base address.
pub(super) fn behind(base: u64, spans: &[Span]) -> impl Iterator<Item = Span> {
    spans.iter().map(move |span| Span {
        start: span.start.wrapping_add(base),
        end: span.end.wrapping_add(base),
    })
}

/// The spans of the accesses of one instruction.
#[derive(Default)]
pub(super) struct Spans {
    known: ByShape<Option<Box<[Span]>>>,
    list: Vec<Span>,
    /// Where the spans of each access end in `list`.
    ends: Vec<usize>,
}

impl Spans {
    /// Computes the spans of an instruction that has run.
    pub(super) fn find<'a>(&mut self, accesses: impl Iterator<Item = ObservedAccess<'a>>) {
        self.list.clear();
        self.ends.clear();
        for observed in accesses {
            let known = self.known.of(observed.shape);
            let known = known.get_or_insert_with(|| spans(observed.shape));
            self.list.extend(behind(observed.base, known));
            self.ends.push(self.list.len());
        }
    }

    /// The spans of one of its accesses, with absolute addresses.
    pub(super) fn of(&self, number: usize) -> &[Span] {
        let from = match number {
            0 => 0,
            _ => self.ends.get(number - 1).copied().unwrap_or(0),
        };
        let to = self.ends.get(number).copied().unwrap_or(from);
        &self.list[from..to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_emulator::exec::Space;

    fn observed(lanes: u64, address: impl Fn(u64) -> u64) -> ObservedAccess<'static> {
        ObservedAccess::of(Space::Lds, false, 8, lanes, address)
    }

    fn spans(of: &mut Spans, observed: &ObservedAccess<'_>) -> Vec<(u64, u64)> {
        of.find(std::iter::once(*observed));
        of.of(0).iter().map(|s| (s.start, s.end)).collect()
    }

    #[test]
    fn bytes_are_taken_together() {
        let mut s = Spans::default();
        assert_eq!(spans(&mut s, &observed(!0, |lane| 8 * lane)), [(0, 512)]);
        let halves = observed(!0, |lane| 8 * lane + 64 * (lane / 32));
        assert_eq!(spans(&mut s, &halves), [(0, 256), (320, 576)]);
        assert_eq!(lanes_at(&halves, 320, 321), 1 << 32);
        assert_eq!(lanes_at(&halves, 327, 337), 7 << 32);
        let apart = observed(0b1011, |lane| 8 * lane);
        assert_eq!(spans(&mut s, &apart), [(0, 16), (24, 32)]);
        assert_eq!(spans(&mut s, &observed(!0, |_| 40)), [(40, 48)]);
        assert_eq!(lanes_at(&observed(0b101, |_| 40), 47, 48), 0b101);
        // Lanes in any order that overlap.
        let mixed = observed(!0, |lane| 4 * (lane * 5 % 64));
        assert_eq!(spans(&mut s, &mixed), [(0, 4 * 63 + 8)]);
        assert_eq!(spans(&mut s, &observed(1 << 63, |lane| lane)), [(63, 71)]);
        assert_eq!(spans(&mut s, &observed(0, |lane| lane)), []);
    }

    #[test]
    fn the_shape_of_before_is_taken_only_if_it_fits() {
        let mut s = Spans::default();
        assert_eq!(spans(&mut s, &observed(!0, |lane| 8 * lane)), [(0, 512)]);
        assert_eq!(
            spans(&mut s, &observed(!0, |lane| 8 * lane + 24)),
            [(24, 536)]
        );
        let last = observed(!0, |lane| 8 * lane + 8 * (lane / 63));
        assert_eq!(spans(&mut s, &last), [(0, 504), (512, 520)]);
        // Inactive lanes do not matter.
        assert_eq!(
            spans(&mut s, &observed(!0 >> 1, |lane| 8 * lane)),
            [(0, 504)]
        );
        let garbage = observed(!0 >> 1, |lane| 8 * lane + 77 * (lane / 63));
        assert_eq!(spans(&mut s, &garbage), [(0, 504)]);
    }

    #[test]
    fn accesses_of_an_instruction_are_apart() {
        let mut s = Spans::default();
        let two = [observed(1, |_| 8), observed(3, |lane| 100 * lane)];
        s.find(two.into_iter());
        assert_eq!(s.of(0).len(), 1);
        assert_eq!(s.of(1).len(), 2);
        assert_eq!(s.of(2), []);
        s.find(std::iter::empty());
        assert_eq!(s.of(0), []);
    }
}
