//! The bytes that an access touches, each once, however many lanes share them.

use ferrowave_emulator::exec::{ByShape, Shape, Touch};

/// Bytes that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The lanes that touch some of the bytes from `start` to `end`; none of a scalar access, which has no lanes.
pub(super) fn lanes_at(touch: &Touch<'_>, start: u64, end: u64) -> u64 {
    if touch.scalar {
        return 0;
    }
    touch
        .iter()
        .filter(|(_, address)| *address < end && start < address + u64::from(touch.bytes))
        .fold(0, |lanes, (lane, _)| lanes | 1 << lane)
}

/// The bytes of accesses that look alike, from the lowest lane's first on.
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

/// Spans as far behind an address.
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
    /// Finds those of an instruction that has run.
    pub(super) fn find<'a>(&mut self, touches: impl Iterator<Item = Touch<'a>>) {
        self.list.clear();
        self.ends.clear();
        for touch in touches {
            let known = self.known.of(touch.shape);
            let known = known.get_or_insert_with(|| spans(touch.shape));
            self.list.extend(behind(touch.base, known));
            self.ends.push(self.list.len());
        }
    }

    /// Those of one of its accesses, by address.
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

    fn touch(lanes: u64, address: impl Fn(u64) -> u64) -> Touch<'static> {
        Touch::of(Space::Lds, false, 8, lanes, address)
    }

    fn spans(of: &mut Spans, touch: &Touch<'_>) -> Vec<(u64, u64)> {
        of.find(std::iter::once(*touch));
        of.of(0).iter().map(|s| (s.start, s.end)).collect()
    }

    #[test]
    fn bytes_are_taken_together() {
        let mut s = Spans::default();
        assert_eq!(spans(&mut s, &touch(!0, |lane| 8 * lane)), [(0, 512)]);
        let halves = touch(!0, |lane| 8 * lane + 64 * (lane / 32));
        assert_eq!(spans(&mut s, &halves), [(0, 256), (320, 576)]);
        assert_eq!(lanes_at(&halves, 320, 321), 1 << 32);
        assert_eq!(lanes_at(&halves, 327, 337), 7 << 32);
        let apart = touch(0b1011, |lane| 8 * lane);
        assert_eq!(spans(&mut s, &apart), [(0, 16), (24, 32)]);
        assert_eq!(spans(&mut s, &touch(!0, |_| 40)), [(40, 48)]);
        assert_eq!(lanes_at(&touch(0b101, |_| 40), 47, 48), 0b101);
        // Lanes in any order, and such that overlap.
        let mixed = touch(!0, |lane| 4 * (lane * 5 % 64));
        assert_eq!(spans(&mut s, &mixed), [(0, 4 * 63 + 8)]);
        assert_eq!(spans(&mut s, &touch(1 << 63, |lane| lane)), [(63, 71)]);
        assert_eq!(spans(&mut s, &touch(0, |lane| lane)), []);
    }

    #[test]
    fn the_shape_of_before_is_taken_only_if_it_fits() {
        let mut s = Spans::default();
        assert_eq!(spans(&mut s, &touch(!0, |lane| 8 * lane)), [(0, 512)]);
        assert_eq!(spans(&mut s, &touch(!0, |lane| 8 * lane + 24)), [(24, 536)]);
        let last = touch(!0, |lane| 8 * lane + 8 * (lane / 63));
        assert_eq!(spans(&mut s, &last), [(0, 504), (512, 520)]);
        // What an inactive lane holds means nothing.
        assert_eq!(spans(&mut s, &touch(!0 >> 1, |lane| 8 * lane)), [(0, 504)]);
        let garbage = touch(!0 >> 1, |lane| 8 * lane + 77 * (lane / 63));
        assert_eq!(spans(&mut s, &garbage), [(0, 504)]);
    }

    #[test]
    fn accesses_of_an_instruction_are_apart() {
        let mut s = Spans::default();
        let two = [touch(1, |_| 8), touch(3, |lane| 100 * lane)];
        s.find(two.into_iter());
        assert_eq!(s.of(0).len(), 1);
        assert_eq!(s.of(1).len(), 2);
        assert_eq!(s.of(2), []);
        s.find(std::iter::empty());
        assert_eq!(s.of(0), []);
    }
}
