//! The bytes that an access touches, each once, however many lanes share them.

use crate::exec::{LANES, Touch};

/// Bytes that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The lanes that touch some of the bytes from `start` to `end`; none of a scalar access, which has no lanes.
pub(super) fn lanes_at(touch: &Touch, start: u64, end: u64) -> u64 {
    if touch.scalar {
        return 0;
    }
    touch
        .iter()
        .filter(|(_, address)| *address < end && start < address + u64::from(touch.bytes))
        .fold(0, |lanes, (lane, _)| lanes | 1 << lane)
}

/// How the addresses of an access lie to that of its first lane.
struct Shape {
    lanes: u64,
    bytes: u32,
    relative: [u64; LANES],
    spans: Vec<Span>,
}

impl Shape {
    fn of(touch: &Touch, base: u64) -> Self {
        let mut lanes: Vec<u64> = touch.iter().map(|(_, address)| address).collect();
        if !lanes.is_sorted() {
            lanes.sort_unstable();
        }
        let bytes = u64::from(touch.bytes);
        let mut spans: Vec<Span> = Vec::new();
        for start in lanes {
            let end = start.wrapping_add(bytes);
            match spans.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => spans.push(Span { start, end }),
            }
        }
        for span in &mut spans {
            span.start = span.start.wrapping_sub(base);
            span.end = span.end.wrapping_sub(base);
        }
        Shape {
            lanes: touch.lanes,
            bytes: touch.bytes,
            relative: touch.addresses.map(|address| address.wrapping_sub(base)),
            spans,
        }
    }

    #[inline]
    fn fits(&self, touch: &Touch, base: u64) -> bool {
        if (self.lanes, self.bytes) != (touch.lanes, touch.bytes) {
            return false;
        }
        let differs = |lane: usize| touch.addresses[lane].wrapping_sub(base) ^ self.relative[lane];
        if touch.lanes == !0 {
            return (0..LANES).fold(0, |all, lane| all | differs(lane)) == 0;
        }
        touch.iter().all(|(lane, _)| differs(lane) == 0)
    }
}

/// Shapes of one access that are kept: swizzled layouts have as many as rows that they differ for.
const SHAPES: usize = 32;

/// Which of the kept shapes an access would be.
#[inline]
fn slot(touch: &Touch, base: u64) -> usize {
    // Any mixture would do; small powers of two must not fall together.
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let lanes = [1, 16, 32, 63].map(|lane| touch.addresses[lane].wrapping_sub(base));
    let mixed = lanes.into_iter().fold(touch.lanes, |mixed, relative| {
        (mixed ^ relative).wrapping_mul(MIX).rotate_left(29)
    });
    mixed as usize % SHAPES
}

/// The spans of the accesses of one instruction. Accesses of an instruction tend to look alike from run to run, moved as
/// a whole, so that the last shapes of each stay.
#[derive(Default)]
pub(super) struct Spans {
    /// Of each instruction, of each of its accesses.
    shapes: Vec<Vec<[Option<Box<Shape>>; SHAPES]>>,
    list: Vec<Span>,
    /// Where the spans of each access end in `list`.
    ends: Vec<usize>,
}

impl Spans {
    /// Finds those of an instruction that has run.
    pub(super) fn find(&mut self, index: u32, touches: &[Touch]) {
        self.list.clear();
        self.ends.clear();
        if touches.is_empty() {
            return;
        }
        let index = index as usize;
        if self.shapes.len() <= index {
            self.shapes.resize_with(index + 1, Vec::new);
        }
        let shapes = &mut self.shapes[index];
        if shapes.len() < touches.len() {
            shapes.resize_with(touches.len(), Default::default);
        }
        for (touch, shapes) in touches.iter().zip(shapes) {
            let base = touch.iter().next().map_or(0, |(_, address)| address);
            let kept = &mut shapes[slot(touch, base)];
            let shape = match kept.take() {
                Some(shape) if shape.fits(touch, base) => kept.insert(shape),
                _ => kept.insert(Box::new(Shape::of(touch, base))),
            };
            self.list.extend(shape.spans.iter().map(|span| Span {
                start: span.start.wrapping_add(base),
                end: span.end.wrapping_add(base),
            }));
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
    use crate::exec::Space;

    fn touch(lanes: u64, address: impl Fn(u64) -> u64) -> Touch {
        Touch {
            space: Space::Lds,
            write: false,
            scalar: false,
            bytes: 8,
            lanes,
            addresses: std::array::from_fn(|lane| address(lane as u64)),
        }
    }

    fn spans(of: &mut Spans, touch: &Touch) -> Vec<(u64, u64)> {
        of.find(3, std::slice::from_ref(touch));
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
        s.find(0, &two);
        assert_eq!(s.of(0).len(), 1);
        assert_eq!(s.of(1).len(), 2);
        assert_eq!(s.of(2), []);
        s.find(1, &[]);
        assert_eq!(s.of(0), []);
    }
}
