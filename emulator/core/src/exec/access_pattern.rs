//! The memory that instructions access, for observers.
//!
//! Most accesses of a kernel look alike but for their address, so what an observer finds for one (cache lines, LDS
//! banks, contiguous bytes) holds for many. A [`Shape`] is what such accesses have in common: the lanes' distances from
//! the lowest. Equal shapes are one object, and observers keep their results per shape ([`ByShape`]).

use std::{
    simd::prelude::*,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use super::{
    SimdLevel,
    lanes::chunks,
    simd::{CHUNKS, LANES, U, chunk_mask},
    wave::Lanes,
};

/// Which memory an access went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory (and private memory, which lies in it), by address.
    Global,
    /// The workgroup's LDS, by offset from its start.
    Lds,
}

/// One access of an instruction: the same number of bytes in every active lane.
#[derive(Clone, Copy, Debug)]
pub struct ObservedAccess<'a> {
    /// Which memory.
    pub space: Space,
    /// Whether it wrote. An atomic operation counts as writing.
    pub write: bool,
    /// Whether the scalar unit made it; then it is in lane 0.
    pub scalar: bool,
    /// Bytes per lane.
    pub bytes: u32,
    /// The active lanes.
    pub lanes: u64,
    /// The lowest address of an active lane.
    pub base: u64,
    /// The lanes' distances from `base`.
    pub shape: &'a Arc<Shape>,
}

impl ObservedAccess<'_> {
    /// Each active lane and the address of its first byte.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let base = self.base;
        self.shape
            .iter()
            .map(move |(lane, distance)| (lane, base.wrapping_add(distance)))
    }
}

impl<'a> ObservedAccess<'a> {
    /// Keeps the access after the instruction.
    pub fn keep(&self) -> Kept {
        Kept {
            how: (self.space, self.write, self.scalar),
            base: self.base,
            shape: Arc::clone(self.shape),
        }
    }

    fn new((space, write, scalar): How, base: u64, shape: &'a Arc<Shape>) -> Self {
        ObservedAccess {
            space,
            write,
            scalar,
            bytes: shape.bytes,
            lanes: shape.lanes,
            base,
            shape,
        }
    }
}

/// An access of an instruction that ran earlier.
#[derive(Clone, Debug)]
pub struct Kept {
    how: How,
    base: u64,
    shape: Arc<Shape>,
}

impl Kept {
    /// The access.
    pub fn observed(&self) -> ObservedAccess<'_> {
        ObservedAccess::new(self.how, self.base, &self.shape)
    }
}

/// An access to LDS with lanes that are out of range, which the hardware ignores.
#[derive(Debug)]
pub struct OutsideLds {
    /// Whether it writes.
    pub write: bool,
    /// Bytes per lane.
    pub bytes: u32,
    /// The lanes that are out of range.
    pub lanes: u64,
    /// Addresses of all lanes.
    pub addresses: [u32; LANES],
}

/// The distances of an access's lanes from the lowest of them.
#[derive(Debug)]
pub struct Shape {
    /// Unique among all shapes of the process.
    id: u64,
    /// Its slot in [`ObservedAccesses::shapes`].
    slot: u32,
    bytes: u32,
    lanes: u64,
    /// Of each active lane; 0 for the others.
    distances: Lanes,
    /// The largest of them.
    longest: u32,
    /// The distances, where 32 bits are too few.
    far: Option<Box<[u64; LANES]>>,
}

impl Shape {
    fn new(slot: usize, bytes: u32, lanes: u64, distances: Lanes) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Shape {
            id: NEXT.fetch_add(1, Relaxed),
            slot: slot as u32,
            bytes,
            lanes,
            longest: distances.as_array().iter().copied().max().unwrap_or(0),
            distances,
            far: None,
        }
    }

    /// Bytes per lane.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The lowest of some lanes' offsets, if the lanes have this shape.
    #[inline(always)]
    fn lowest(&self, bytes: u32, lanes: u64, offsets: &[U; CHUNKS]) -> Option<u32> {
        if (bytes, lanes) != (self.bytes, self.lanes) || lanes == 0 {
            return None;
        }
        let first = lanes.trailing_zeros() as usize % LANES;
        let offset = offsets[first / 16][first % 16];
        let lowest = offset.wrapping_sub(self.distances.as_array()[first]);
        let astray = |chunk: usize| {
            let astray = offsets[chunk] ^ (self.distances.0[chunk] + U::splat(lowest));
            match lanes {
                u64::MAX => astray,
                _ => chunk_mask(lanes, chunk).select(astray, U::splat(0)),
            }
        };
        // Without this check, offsets that wrap around at 4 GiB would look close to each other.
        let wraps = lowest.checked_add(self.longest).is_none();
        let fits = (astray(0) | astray(1) | astray(2) | astray(3)) == U::splat(0);
        (fits && !wraps).then_some(lowest)
    }

    /// The distance of one lane.
    #[inline]
    fn distance(&self, lane: usize) -> u64 {
        match &self.far {
            None => u64::from(self.distances.as_array()[lane]),
            Some(far) => far[lane],
        }
    }

    /// Each active lane and its distance from the lowest.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let mut left = self.lanes;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                (lane, self.distance(lane))
            })
        })
    }
}

/// Slots for shapes, a power of two. A kernel has a few dozen shapes; one that gathers keeps making new ones.
const SLOTS: usize = 1 << 10;

/// Entries of [`ObservedAccesses::expected`], a power of two.
const EXPECTED: usize = 1 << 11;

/// An access's space, whether it writes, whether the scalar unit makes it.
type How = (Space, bool, bool);

/// An access of the instruction that runs.
#[derive(Debug)]
struct Noted {
    how: How,
    base: u64,
    slot: usize,
    /// Its shape, if it is not in that slot.
    own: Option<Arc<Shape>>,
}

/// The accesses of the instruction that runs, and the shapes of earlier ones.
#[derive(Debug, Default)]
pub(crate) struct ObservedAccesses {
    list: Vec<Noted>,
    /// The accesses with lanes out of range of LDS.
    pub(super) outside: Vec<OutsideLds>,
    /// Empty before the first access.
    shapes: Vec<Option<Arc<Shape>>>,
    /// The slot that each access of an instruction had the last time, by [`ObservedAccesses::place`]. Indices with the
    /// same remainder share an entry.
    expected: Vec<u16>,
    /// The place of the instruction's first access.
    first: usize,
}

impl ObservedAccesses {
    /// Begins the instruction at an index.
    #[inline(always)]
    pub(super) fn begin(&mut self, index: u32) {
        if !self.list.is_empty() {
            self.list.clear();
        }
        if !self.outside.is_empty() {
            self.outside.clear();
        }
        // Few instructions have more than two accesses.
        self.first = 2 * index as usize;
    }

    /// Whether the instruction has accessed nothing.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The accesses of the instruction, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = ObservedAccess<'_>> {
        self.list.iter().filter_map(|noted| {
            let shape = match &noted.own {
                Some(own) => own,
                None => self.shapes.get(noted.slot)?.as_ref()?,
            };
            Some(ObservedAccess::new(noted.how, noted.base, shape))
        })
    }

    /// Adds an access whose lanes are at 32-bit offsets from a base.
    #[inline(always)]
    pub(super) fn add_near(
        &mut self,
        level: SimdLevel,
        how: How,
        bytes: u32,
        lanes: u64,
        base: u64,
        offsets: &[U; CHUNKS],
    ) {
        match level {
            SimdLevel::Portable => self.note(how, bytes, lanes, base, offsets),
            // SAFETY: `Code` was compiled for a level that this computer has.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.note_avx2(how, bytes, lanes, base, offsets) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.note_avx512(how, bytes, lanes, base, offsets) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => self.note(how, bytes, lanes, base, offsets),
        }
    }

    /// Adds an access of the scalar unit.
    pub(super) fn add_scalar(&mut self, level: SimdLevel, how: How, bytes: u32, address: u64) {
        self.add_near(level, how, bytes, 1, address, &[U::splat(0); CHUNKS]);
    }

    /// Adds an access by address.
    pub(super) fn add(
        &mut self,
        level: SimdLevel,
        how: How,
        bytes: u32,
        lanes: u64,
        addresses: &[u64; LANES],
    ) {
        let first = addresses[lanes.trailing_zeros() as usize % LANES];
        let apart = addresses
            .iter()
            .enumerate()
            .fold(0, |apart, (lane, address)| {
                let is_active = (lanes >> lane & 1).wrapping_neg();
                apart | (address ^ first) & is_active
            });
        if apart >> 32 == 0 {
            let low: [u32; LANES] = std::array::from_fn(|lane| addresses[lane] as u32);
            let offsets = chunks(|chunk| U::from_slice(&low[16 * chunk..]));
            let base = first & !u64::from(u32::MAX);
            return self.add_near(level, how, bytes, lanes, base, &offsets);
        }
        self.add_far(level, how, bytes, lanes, addresses);
    }

    /// The same for lanes in different aligned blocks of 4 GiB.
    #[cold]
    fn add_far(
        &mut self,
        level: SimdLevel,
        how: How,
        bytes: u32,
        lanes: u64,
        addresses: &[u64; LANES],
    ) {
        let active = || (0..LANES).filter(|lane| lanes >> lane & 1 == 1);
        let base = active().map(|lane| addresses[lane]).min().unwrap_or(0);
        let mut far = [0; LANES];
        for lane in active() {
            far[lane] = addresses[lane] - base;
        }
        if far.iter().all(|&distance| distance <= u32::MAX.into()) {
            let near = far.map(|distance| distance as u32);
            let offsets = chunks(|chunk| U::from_slice(&near[16 * chunk..]));
            return self.add_near(level, how, bytes, lanes, base, &offsets);
        }
        let mut shape = Shape::new(0, bytes, lanes, Lanes::splat(0));
        shape.far = Some(Box::new(far));
        self.list.push(Noted {
            how,
            base,
            slot: 0,
            own: Some(Arc::new(shape)),
        });
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn note_avx2(&mut self, how: How, bytes: u32, lanes: u64, base: u64, offsets: &[U; CHUNKS]) {
        self.note(how, bytes, lanes, base, offsets);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn note_avx512(&mut self, how: How, bytes: u32, lanes: u64, base: u64, offsets: &[U; CHUNKS]) {
        self.note(how, bytes, lanes, base, offsets);
    }

    #[inline(always)]
    fn note(&mut self, how: How, bytes: u32, lanes: u64, base: u64, offsets: &[U; CHUNKS]) {
        let expected = self.expected.get(self.place()).copied().unwrap_or(0);
        let expected = usize::from(expected);
        if let Some(Some(shape)) = self.shapes.get(expected)
            && let Some(lowest) = shape.lowest(bytes, lanes, offsets)
        {
            self.list.push(Noted {
                how,
                base: base.wrapping_add(u64::from(lowest)),
                slot: expected,
                own: None,
            });
            return;
        }
        self.look_up(how, bytes, lanes, base, offsets);
    }

    /// The index into `expected` of the next access.
    #[inline(always)]
    fn place(&self) -> usize {
        (self.first + self.list.len()) % EXPECTED
    }

    /// Adds an access that does not have the expected shape.
    #[inline(always)]
    fn look_up(&mut self, how: How, bytes: u32, lanes: u64, base: u64, offsets: &[U; CHUNKS]) {
        let counted =
            chunks(|chunk| chunk_mask(lanes, chunk).select(offsets[chunk], U::splat(u32::MAX)));
        let [a, b, c, d] = counted;
        let lowest = a.simd_min(b).simd_min(c.simd_min(d)).reduce_min();
        let distances = chunks(|chunk| {
            chunk_mask(lanes, chunk).select(offsets[chunk] - U::splat(lowest), U::splat(0))
        });
        // Without active lanes there is no lowest address.
        let base = match lanes {
            0 => 0,
            _ => base.wrapping_add(u64::from(lowest)),
        };
        let slot = slot(bytes, lanes, &distances);
        let place = self.place();
        if let Some(expected) = self.expected.get_mut(place) {
            *expected = slot as u16;
        }
        if let Some(Some(shape)) = self.shapes.get(slot)
            && shape.distances.0 == distances
            && (bytes, lanes) == (shape.bytes, shape.lanes)
        {
            self.list.push(Noted {
                how,
                base,
                slot,
                own: None,
            });
            return;
        }
        self.note_new(how, base, Shape::new(slot, bytes, lanes, Lanes(distances)));
    }

    /// Adds an access of a shape that is not kept yet.
    #[cold]
    #[inline(never)]
    fn note_new(&mut self, how: How, base: u64, shape: Shape) {
        self.shapes.resize(SLOTS, None);
        self.expected.resize(EXPECTED, 0);
        let slot = shape.slot as usize;
        // A shape that this instruction already uses keeps the slot.
        let is_used = |noted: &Noted| noted.slot == slot && noted.own.is_none();
        let mut own = None;
        if self.list.iter().any(is_used) {
            own = Some(Arc::new(shape));
        } else if let Some(place) = self.shapes.get_mut(slot) {
            *place = Some(Arc::new(shape));
        }
        self.list.push(Noted {
            how,
            base,
            slot,
            own,
        });
    }
}

/// The slot of a shape: a hash.
#[inline(always)]
fn slot(bytes: u32, lanes: u64, distances: &[U; CHUNKS]) -> usize {
    // Any odd numbers that look random would do; strides are round numbers.
    const CHUNK: [u32; CHUNKS] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f];
    const LANE: U = U::from_array([
        0x9e37_79b9,
        0xbf58_476d,
        0x94d0_49bb,
        0xd6e8_feb9,
        0xa076_1d65,
        0xe703_7ed1,
        0x8ebc_6af1,
        0x5899_65cd,
        0x1d8e_4e27,
        0xeb44_acc3,
        0x2d35_8dcd,
        0x4b33_a62f,
        0x7fb5_d329,
        0x6c8e_9cf5,
        0xaef1_7503,
        0x369d_ea0f,
    ]);
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let parts: [U; CHUNKS] = chunks(|chunk| distances[chunk] * U::splat(CHUNK[chunk]));
    let sum = ((parts[0] + parts[1] + (parts[2] + parts[3])) * LANE).reduce_sum();
    let mixed = (u64::from(sum) << 8 | u64::from(bytes)) ^ lanes.wrapping_mul(MIX);
    (mixed.wrapping_mul(MIX) >> (64 - SLOTS.trailing_zeros())) as usize
}

/// Results of an observer per shape, kept for the next access of the same shape.
#[derive(Clone, Default)]
pub struct ByShape<R> {
    /// By slot: the shape's ID and its result.
    known: Vec<(u64, R)>,
}

impl<R: Default> ByShape<R> {
    /// The result for a shape; the default, if there was none.
    #[inline]
    pub fn of(&mut self, shape: &Shape) -> &mut R {
        if self.known.is_empty() {
            self.known.resize_with(SLOTS, Default::default);
        }
        let (id, result) = &mut self.known[shape.slot as usize % SLOTS];
        if *id != shape.id {
            *id = shape.id;
            *result = R::default();
        }
        result
    }
}

/// Entries of [`ByPlace::others`]: the dwords of a cache line of 128 bytes.
const PLACES: u64 = 32;

/// A result that also depends on an access's address modulo a power of two.
#[derive(Clone)]
pub struct ByPlace<R> {
    /// The address modulo the period, and its result.
    last: Option<(u64, R)>,
    /// The same of other places: one entry for each dword of a cache line. Empty before the second place, as most shapes have
    /// one place.
    others: Vec<Option<(u64, R)>>,
}

impl<R> Default for ByPlace<R> {
    fn default() -> Self {
        ByPlace {
            last: None,
            others: Vec::new(),
        }
    }
}

impl<R: Copy> ByPlace<R> {
    /// The result for an access. `find` may depend on the address only modulo `period`, a power of two.
    #[inline]
    pub fn result(&mut self, base: u64, period: u64, find: impl FnOnce() -> R) -> R {
        self.known(base, period).unwrap_or_else(|| {
            let result = find();
            self.keep(base, period, result);
            result
        })
    }

    /// The result for an access, if it was kept.
    #[inline]
    pub fn known(&self, base: u64, period: u64) -> Option<R> {
        let place = base & (period - 1);
        let at = |entry: &Option<(u64, R)>| entry.filter(|(known, _)| *known == place);
        let other = || self.others.get(Self::entry(place)).and_then(at);
        at(&self.last).or_else(other).map(|(_, result)| result)
    }

    /// Keeps the result for an access, and forgets that of another place in the same dword.
    pub fn keep(&mut self, base: u64, period: u64, result: R) {
        let place = base & (period - 1);
        if let Some(before) = self.last.replace((place, result)) {
            self.others.resize(PLACES as usize, None);
            self.others[Self::entry(before.0)] = Some(before);
        }
    }

    const fn entry(place: u64) -> usize {
        (place / 4 % PLACES) as usize
    }
}

impl ObservedAccess<'static> {
    /// An access of these lanes, for tests of observers. Its memory is never freed.
    #[doc(hidden)]
    pub fn of(
        space: Space,
        write: bool,
        bytes: u32,
        lanes: u64,
        address: impl Fn(u64) -> u64,
    ) -> ObservedAccess<'static> {
        let mut accesses = ObservedAccesses::default();
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        accesses.add(
            SimdLevel::detect(),
            (space, write, false),
            bytes,
            lanes,
            &addresses,
        );
        let observed = accesses.all().next().expect("one was added");
        ObservedAccess {
            shape: Box::leak(Box::new(Arc::clone(observed.shape))),
            ..observed
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Lanes and addresses of accesses come back as they went in, whichever shapes are kept.
    #[test]
    fn accesses_are_told_as_they_were() {
        for level in SimdLevel::ALL.into_iter().filter(|l| l.is_available()) {
            let mut random = Pcg64Mcg::seed_from_u64(11);
            let mut accesses = ObservedAccesses::default();
            let (mut far, mut new, mut seen) = (0, 0, std::collections::HashSet::new());
            for _ in 0..20_000 {
                accesses.begin(random.random_range(0..20));
                let mut expected = Vec::new();
                for _ in 0..random.random_range(1..4) {
                    // Few strides and masks, so that shapes repeat.
                    let stride = 4_u64 << random.random_range(0..34);
                    let swizzle = random.random_range(0..3_u64);
                    let lanes = [!0, !0, 0, 1 << 63, 0xffff_0000, random.random()]
                        [random.random_range(0..6)];
                    let bytes = 1 << random.random_range(0..5);
                    let first = random.random_range(1 << 40..1 << 41_u64);
                    let addresses = std::array::from_fn(|lane| {
                        let lane = lane as u64;
                        match lanes >> lane & 1 {
                            1 => first + stride * (lane ^ (swizzle * 21)),
                            _ => random.random(),
                        }
                    });
                    accesses.add(level, (Space::Lds, true, false), bytes, lanes, &addresses);
                    far += usize::from(accesses.list.last().unwrap().own.is_some());
                    let lanes = (0..64).filter(|lane| lanes >> lane & 1 == 1);
                    let lanes: Vec<_> = lanes.map(|lane| (lane, addresses[lane])).collect();
                    expected.push((bytes, lanes));
                }
                let told: Vec<_> = accesses
                    .all()
                    .map(|observed| (observed.bytes, observed.iter().collect::<Vec<_>>()))
                    .collect();
                assert_eq!(told, expected, "{level}");
                for observed in accesses.all() {
                    let lowest = observed.iter().map(|(_, address)| address).min();
                    assert_eq!(observed.base, lowest.unwrap_or(0));
                    new += usize::from(seen.insert(observed.shape.id));
                }
            }
            assert!(
                far > 100 && new > 10_000 && new < 35_000,
                "{level}: {far} {new}"
            );
        }
    }

    #[test]
    fn equal_shapes_are_one() {
        let mut accesses = ObservedAccesses::default();
        let mut known = ByShape::<u32>::default();
        let mut find = |lanes: u64, bytes: u32, base: u64, stride: u64| {
            accesses.begin(7);
            // Addresses of inactive lanes have no effect.
            let addresses = std::array::from_fn(|lane| match lanes >> lane & 1 {
                1 => base + stride * lane as u64,
                _ => base * 77,
            });
            let how = (Space::Global, false, false);
            accesses.add(SimdLevel::detect(), how, bytes, lanes, &addresses);
            let shape = accesses.all().next().expect("it was added").shape;
            *known.of(shape) += 1;
            *known.of(shape)
        };
        assert_eq!(find(!0, 4, 0x1000, 4), 1);
        assert_eq!(find(!0, 4, 0x7_1234_5678, 4), 2);
        assert_eq!(find(!0, 8, 0x1000, 4), 1);
        assert_eq!(find(!0, 4, 0x1000, 8), 1);
        assert_eq!(find(!1, 4, 0x1000, 4), 1);
        assert_eq!(find(!1, 4, 0x3000, 4), 2);
        assert_eq!(find(!0, 4, 0x1000, 4), 3);
    }

    #[test]
    fn places_count_modulo_their_period() {
        let mut by = ByPlace::default();
        assert_eq!(by.result(5, 4, || 1), 1);
        assert_eq!(by.result(9, 4, || 2), 1);
        assert_eq!(by.result(10, 4, || 3), 3);
        assert_eq!(by.result(5, 4, || 4), 1);
        // The places of one dword share an entry: what is gone is found again.
        assert_eq!(by.result(11, 4, || 5), 5);
        assert_eq!(by.result(5, 4, || 6), 6);
        // Of the dwords of a line, each is kept.
        for base in (0..256).step_by(4) {
            assert_eq!(by.result(base, 128, || base % 128), base % 128);
        }
        assert_eq!(by.result(260, 128, || 0), 4);
        assert_eq!(by.known(6, 128), None);
    }
}
