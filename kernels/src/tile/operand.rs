//! The tile of one operand, A or B, of a block GEMM: in global memory, in registers on its way, and in LDS.
//!
//! Elements are bytes here, which move in units of 16. Both operands have the same layout in LDS: a row of a tile is a
//! row of A or a column of B, and its 64 or 128 bytes are consecutive elements along k. A lane of a matrix instruction
//! holds consecutive elements along k of one row, so it reads whole units.

use super::{
    global::Strides,
    length::{Array, Length},
};
use core::{marker::PhantomData, mem::transmute_copy, simd::u32x4};

/// 16 bytes: the most that one lane reads from LDS or global memory in one access.
pub type Unit = u32x4;

/// The bytes of a [`Unit`].
pub const UNIT_BYTES: usize = size_of::<Unit>();

#[cfg(target_arch = "amdgpu")]
const _: () = assert!(UNIT_BYTES == ferrowave_shared::tile::UNIT_BYTES);

/// Where the units of a tile are in LDS.
pub trait LdsLayout: Copy {
    /// Units of a row.
    const ROW_UNITS: usize;

    /// Bytes of a row.
    const ROW_BYTES: usize = Self::ROW_UNITS * UNIT_BYTES;

    /// The position in the tile of unit `unit` of row `row`, in units.
    ///
    /// Linear over XOR: the position of the sum of two coordinates without common bits is the XOR of their
    /// positions. Only the lowest [`LOCAL_BITS`] bits are swizzled.
    fn position(row: u32, unit: u32) -> u32;

    /// Whether the tile of an operand across rows can stay so in LDS, since reads transpose it.
    const IS_READ_ACROSS: bool = false;

    /// The position of unit `unit` of all rows at `k`, in a tile of `rows` rows that stays across rows. Linear as
    /// [`position`](Self::position).
    fn position_across(rows: usize, k: u32, unit: u32) -> u32 {
        let _ = rows;
        Self::position(k, unit)
    }

    /// How many bits of a position, the lowest, are swizzled.
    const SWIZZLED_BITS: u32 = LOCAL_BITS;

    /// Row and unit at a position.
    #[inline(always)]
    fn at(position: u32) -> (u32, u32) {
        // A fixed-point iteration. A swizzled bit depends on higher bits only, so each round settles at least
        // one more of the local bits.
        let units = Self::ROW_UNITS as u32;
        let mut plain = position;
        for _ in 0..LOCAL_BITS {
            plain ^= position ^ Self::position(plain / units, plain % units);
        }
        (plain / units, plain % units)
    }
}

/// The lowest bits of a position, which a layout may swizzle.
pub const LOCAL_BITS: u32 = 4;

/// Row after row, of 64 bytes.
#[derive(Clone, Copy, Debug)]
pub struct RowMajor;

impl LdsLayout for RowMajor {
    const ROW_UNITS: usize = 4;

    #[inline(always)]
    fn position(row: u32, unit: u32) -> u32 {
        Self::ROW_UNITS as u32 * row + unit
    }
}

/// The position of a lane's first unit in a tile, computed once. The lane's other units are a constant away.
#[derive(Clone, Copy, Debug)]
pub struct LdsPosition<L> {
    position: u32,
    layout: PhantomData<L>,
}

impl<L: LdsLayout> LdsPosition<L> {
    /// The position of unit `unit` of row `row`.
    #[inline(always)]
    pub fn new(row: u32, unit: u32) -> Self {
        Self {
            position: L::position(row, unit),
            layout: PhantomData,
        }
    }

    /// The position of unit `unit` of all rows at `k`, in a tile of `rows` rows that stays across rows.
    #[inline(always)]
    pub fn across(rows: usize, k: u32, unit: u32) -> Self {
        Self {
            position: L::position_across(rows, k, unit),
            layout: PhantomData,
        }
    }

    /// The position some units further.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, units: u32) -> Self {
        Self {
            position: self.position + units,
            ..self
        }
    }

    /// The position of another unit of the row. `units` shares no bits with the lane's own unit.
    #[inline(always)]
    #[must_use]
    pub fn unit(self, units: u32) -> Self {
        Self {
            position: self.position ^ units,
            ..self
        }
    }

    /// The position of the unit that is `rows` and `units` further. These are constants that share no bits with the
    /// lane's own row and unit.
    ///
    /// Written so that the part above the swizzled bits becomes the instruction's offset, and the computed part is the
    /// same for most constants.
    #[inline(always)]
    pub fn further(self, rows: u32, units: u32) -> usize {
        self.at_distance(L::position(rows, units))
    }

    /// The position of the unit that is `k` and `units` further in a tile that stays across rows, likewise.
    #[inline(always)]
    pub fn further_across(self, rows: usize, k: u32, units: u32) -> usize {
        self.at_distance(L::position_across(rows, k, units))
    }

    /// The position in bytes.
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        self.position * UNIT_BYTES as u32
    }

    /// The byte that is `rows` and `units` further than byte `first`, which may be any of the lane's unit. Likewise, and one
    /// instruction less where bytes of units are accessed.
    #[inline(always)]
    pub fn bytes_further(first: u32, rows: u32, units: u32) -> usize {
        let constant = L::position(rows, units) * UNIT_BYTES as u32;
        let swizzled = constant & (((UNIT_BYTES as u32) << L::SWIZZLED_BITS) - 1);
        (first ^ swizzled) as usize + (constant - swizzled) as usize
    }

    /// The position with the bits of a constant one.
    #[inline(always)]
    fn at_distance(self, constant: u32) -> usize {
        let swizzled = constant & ((1 << L::SWIZZLED_BITS) - 1);
        (self.position ^ swizzled) as usize + (constant - swizzled) as usize
    }
}

/// The part of a position above the local bits, and the local bits.
#[inline(always)]
pub fn divided(position: u32) -> (u32, u32) {
    let local = position & ((1 << LOCAL_BITS) - 1);
    (position - local, local)
}

/// Where lane number `lane` reads 8 bytes when 16 lanes read sixteen rows of elements of `size` bytes from a tile that stays
/// across rows: the k, and the byte among those of the sixteen rows. The read transposes them.
#[inline(always)]
pub fn transposing_read(lane: u32, size: u32) -> (u32, u32) {
    let lanes = 2 * size;
    (lane % 16 / lanes, lane % lanes * 8)
}

/// An operand as the matrix cores take it: rows of A, or columns of B, with their elements along k.
#[derive(Clone, Copy)]
pub struct Operand<T> {
    /// The first element of the workgroup's first row.
    pub start: *const T,
    /// How many rows there are before `start`.
    pub before: u32,
    /// How many rows there are from `start` on; not 0.
    pub rows: u32,
    /// Elements of a row.
    pub k: u32,
    /// Elements from one row to the next, and from one k to the next; one of them is 1.
    pub strides: Strides,
    /// How many elements of a row are together, if rows are along k and stored in pairs (`shared/src/sparse.rs`); else 0.
    pub paired: u32,
}

impl<T> Operand<T> {
    /// Whether the elements of a row are contiguous.
    #[inline(always)]
    pub fn is_along_k(&self) -> bool {
        self.strides.column == 1
    }

    /// Elements from the first to the one of a row at `k`.
    #[inline(always)]
    fn offset(&self, row: u32, k: u32) -> usize {
        if self.paired == 0 {
            return self.strides.offset(row, k);
        }
        let before = k & !(self.paired - 1);
        self.strides.offset(row & !1, before) + (before + self.in_pair(row) + (k - before)) as usize
    }

    /// Elements from the first of a pair of rows to the first of the row.
    #[inline(always)]
    fn in_pair(&self, row: u32) -> u32 {
        (row & 1) * self.paired
    }

    /// Up to which k a tile of at most 256 rows can be loaded in whole units; 0 if it cannot at all. Uniform.
    ///
    /// Units across rows that overhang the operand also contain elements of the next k. That of the last k would be behind
    /// the matrix.
    #[inline(always)]
    pub fn units_end(&self, rows: usize) -> u32 {
        let per_unit = (UNIT_BYTES / size_of::<T>()) as u32;
        if !self.is_near() {
            return 0;
        }
        if self.rows_outside_units(rows) == 0 {
            return self.k;
        }
        // Shorter columns of memory than a unit could end within a unit of an earlier k.
        if self.strides.column >= per_unit {
            self.k - 1
        } else {
            0
        }
    }

    /// How many rows of a tile of `rows` rows are behind its last whole unit across rows. Uniform.
    #[inline(always)]
    pub fn rows_outside_units(&self, rows: usize) -> u32 {
        let per_unit = (UNIT_BYTES / size_of::<T>()) as u32;
        // LLVM compiles `||` to masks of lanes, which take more instructions.
        if self.is_along_k() {
            0
        } else {
            self.rows.min(rows as u32) % per_unit
        }
    }

    /// Whether the byte offsets within a tile, of at most 256 rows and 256 elements along k, fit in 32 bits. Uniform.
    #[inline(always)]
    pub fn is_near(&self) -> bool {
        self.most_stride() <= Self::NEAR
    }

    /// Whether both operands are [near](Self::is_near). Uniform.
    #[inline(always)]
    pub fn is_near_with(&self, other: &Self) -> bool {
        self.most_stride().max(other.most_stride()) <= Self::NEAR
    }

    /// The largest stride with which a tile is near.
    const NEAR: u32 = (u32::MAX / size_of::<T>() as u32 - 256) / 256;

    #[inline(always)]
    fn most_stride(&self) -> u32 {
        self.strides.row.max(self.strides.column)
    }

    /// Whether [`TileLoader::load_within`] can load the operand: it has a whole unit in the direction in which elements are
    /// contiguous, and a tile's offsets fit in 32 bits. Uniform.
    #[inline(always)]
    pub fn has_a_unit(&self) -> bool {
        let per_unit = (UNIT_BYTES / size_of::<T>()) as u32;
        let extent = if self.is_along_k() {
            self.k
        } else {
            self.before + self.rows
        };
        extent >= per_unit && self.is_near()
    }

    /// At most the first `rows` rows of the operand.
    #[inline(always)]
    #[must_use]
    pub fn first(self, rows: usize) -> Self {
        Self {
            rows: self.rows.min(rows as u32),
            ..self
        }
    }

    /// The operand with k ending at `end`.
    #[inline(always)]
    #[must_use]
    pub fn until(self, end: u32) -> Self {
        Self { k: end, ..self }
    }

    /// The element of a row at `k`, or all-zero bits outside the matrix, which must not be empty. Without a branch: of
    /// elements outside, the nearest one is loaded, so that loads of several elements follow each other.
    #[inline(always)]
    pub fn element_or_zero(&self, row: u32, k: u32) -> T
    where
        T: Bits,
    {
        let (inside_row, inside_k) = (row.min(self.rows - 1), k.min(self.k - 1));
        // SAFETY: the element exists.
        let element = unsafe { *self.start.add(self.offset(inside_row, inside_k)) };
        if row < self.rows && k < self.k {
            element
        } else {
            T::ZERO
        }
    }
}

/// Elements as bits: the load path does no arithmetic.
pub trait Bits: Copy {
    /// The element in a register of its own: the compiler keeps arrays of these in registers, but not those of bytes.
    type Register: Copy;
    /// Zero in every type of the same size.
    const ZERO: Self;
    /// Zero in a register.
    const NONE: Self::Register;

    /// The element in a register.
    fn widen(self) -> Self::Register;

    /// The element of a register.
    fn narrow(register: Self::Register) -> Self;
}

/// Implements [`Bits`] for a type, with the type of its register.
macro_rules! bits {
    ($($bits:ty: $register:ty),*) => {
        $(impl Bits for $bits {
            type Register = $register;
            const ZERO: Self = 0;
            const NONE: $register = 0;

            #[inline(always)]
            fn widen(self) -> $register {
                self.into()
            }

            #[inline(always)]
            fn narrow(register: $register) -> Self {
                register as $bits
            }
        })*
    };
}

bits!(u8: u32, u16: u32, u32: u32, u64: u64);

/// A thread's share of a tile of rows of elements `T`: `V` units, with their addresses in global memory and their
/// place in LDS.
///
/// In global memory a unit extends along k or across rows, by the operand's layout:
///
/// ```text
/// along k: thread t's unit number i is          across rows: thread t's unit number i is
/// number t + i · threads along the rows          rows E · b … and k = V · g + i
///        k →                                            k →
///   row ┌────┬────┬────┬────┐                     row ┌─┬─┬─┬─┬───
///    ↓  │ t=0│  1 │  2 │  3 │                      ↓  │u│u│u│u│     E = 16 bytes of rows;
///       ├────┼────┼────┼────┤                         │0│1│2│3│     b = t mod 8 + 8 ⌊t / 8G⌋,
///       │  4 │  5 │  6 │  7 │                         ├─┼─┼─┼─┼───  g = ⌊t / 8⌋ mod G,
///       └────┴────┴────┴────┘                         │b=1 …        G = k of the tile / V
/// ```
///
/// In LDS rows are along k. Units across rows are transposed in registers: a thread's block of E rows by
/// V k has V elements of each row, which are written together. Where reads [transpose](LdsLayout::IS_READ_ACROSS), the tile can
/// stay across rows instead: thread t's unit number i is then number t + i · threads of all units, one k after the other.
#[derive(Clone, Copy)]
pub struct TileLoader<T, L, V: Length> {
    /// The first element of the tile. Uniform.
    base: *const T,
    /// The lane's units, in bytes from `base`: an access takes a scalar address and an offset of 32 bits, so that a loop
    /// advances one scalar.
    offsets: Array<u32, V>,
    /// Bytes from one tile to the next, if [offsets in a tile fit in 32 bits](Operand::is_near).
    step: u32,
    /// Whether units extend along k.
    pub along_k: bool,
    /// Whether units across rows stay so in LDS.
    stays_across: bool,
    /// Where the share begins in LDS: the unit, and the byte in it.
    place: LdsPosition<L>,
    byte: u32,
    /// All ones, or 0 after the last tile: all lanes then load the same unit, which is not multiplied.
    mask: u32,
    layout: PhantomData<L>,
}

/// A thread's units of a tile that may end outside the operand.
#[derive(Clone, Copy)]
pub struct Unshifted<V: Length> {
    /// The units, from where they fit.
    units: Array<Unit, V>,
    /// How many elements each of them begins too early.
    shifts: Array<u32, V>,
}

impl<V: Length> Unshifted<V> {
    /// The units with their elements, of type `T`, in place.
    #[inline(always)]
    pub fn shifted<T>(&self) -> Array<Unit, V> {
        V::from_fn(
            #[inline(always)]
            |i| shifted::<T>(self.units[i], self.shifts[i]),
        )
    }
}

impl<T: Bits, L: LdsLayout, V: Length> TileLoader<T, L, V> {
    /// Elements of a unit.
    const PER_UNIT: usize = UNIT_BYTES / size_of::<T>();
    /// Elements of a row of the tile.
    const K: usize = L::ROW_BYTES / size_of::<T>();
    /// Blocks of rows that neighbouring threads take before the next threads advance along k. The lanes
    /// of one phase of an LDS write then differ in both.
    const NEIGHBOURS: usize = 8;

    /// The share of thread number `thread` in the operand's tiles from `k` on.
    ///
    /// Rows outside the operand are replaced by its last rows; their contribution is never stored. `may_stay_across` lets the
    /// tiles of an operand across rows stay so in LDS.
    #[inline(always)]
    pub fn new(
        operand: &Operand<T>,
        thread: u32,
        threads: usize,
        k: u32,
        may_stay_across: bool,
    ) -> Self {
        const {
            assert!(
                Self::K.is_multiple_of(V::LEN),
                "a block is in one row of units"
            );
        }
        let mut loader = Self::at(operand, k);
        let last_block = (operand.rows - 1) / Self::PER_UNIT as u32 * Self::PER_UNIT as u32;
        if loader.along_k {
            let (row, unit) = (thread / L::ROW_UNITS as u32, thread % L::ROW_UNITS as u32);
            for i in 0..V::LEN {
                let row = row + (i * threads / L::ROW_UNITS) as u32;
                let row = row.min(operand.rows - 1);
                loader.offsets[i] = Self::bytes(operand, row, unit * Self::PER_UNIT as u32);
            }
            loader.place = LdsPosition::new(row, unit);
        } else if may_stay_across && Self::can_stay_across(threads) {
            loader.stays_across = true;
            let units = Self::units_across(threads);
            // Further threads load what others do, and do not store it.
            let (first, unit) = (thread % threads as u32 / units, thread % units);
            let row = (unit * Self::PER_UNIT as u32).min(last_block);
            for i in 0..V::LEN {
                let further = i as u32 * (threads as u32 / units);
                loader.offsets[i] = Self::bytes(operand, row, first + further);
            }
            loader.place = LdsPosition::across(Self::rows(threads), first, unit);
        } else {
            let (block, group) = Self::block(thread, threads);
            let row = block * Self::PER_UNIT as u32;
            let first = group * V::LEN as u32;
            for i in 0..V::LEN {
                loader.offsets[i] = Self::bytes(operand, row.min(last_block), first + i as u32);
            }
            let byte = first * size_of::<T>() as u32;
            loader.place = LdsPosition::new(row, byte / UNIT_BYTES as u32);
            loader.byte = byte % UNIT_BYTES as u32;
        }
        loader
    }

    /// The offset of an element of a tile in bytes, if [all fit in 32 bits](Operand::units_end).
    #[inline(always)]
    fn bytes(operand: &Operand<T>, row: u32, k: u32) -> u32 {
        let (row, in_pair) = match operand.paired {
            0 => (row, 0),
            _ => (row & !1, operand.in_pair(row)),
        };
        let elements = row
            .wrapping_mul(operand.strides.row)
            .wrapping_add(k.wrapping_mul(operand.strides.column))
            .wrapping_add(in_pair);
        elements.wrapping_mul(size_of::<T>() as u32)
    }

    /// A share of the tile at `k` whose units are the operand's first one; the caller computes the offsets.
    #[inline(always)]
    fn at(operand: &Operand<T>, k: u32) -> Self {
        Self {
            base: operand.start.wrapping_add(operand.offset(0, k)),
            offsets: V::splat(0),
            step: (L::ROW_BYTES as u32).wrapping_mul(if operand.paired > 0 {
                2
            } else {
                operand.strides.column
            }),
            along_k: operand.is_along_k(),
            stays_across: false,
            place: LdsPosition::new(0, 0),
            byte: 0,
            mask: !0,
            layout: PhantomData,
        }
    }

    /// The share of thread number `thread` in the tiles of an operand along k, for loads straight to LDS: unit
    /// number i must go to position `thread + i · threads` of the tile, so the layout decides which unit to load.
    #[inline(always)]
    pub fn in_place(operand: &Operand<T>, thread: u32, threads: usize) -> Self {
        let mut loader = Self::at(operand, 0);
        for i in 0..V::LEN {
            let (row, unit) = L::at(thread + (i * threads) as u32);
            let row = row.min(operand.rows - 1);
            loader.offsets[i] = Self::bytes(operand, row, unit * Self::PER_UNIT as u32);
        }
        loader.along_k = true;
        loader
    }

    /// [`new`](Self::new), with what the compiler knows of this share's layout.
    #[inline(always)]
    #[must_use]
    pub fn recomputed(&self, operand: &Operand<T>, thread: u32, threads: usize, k: u32) -> Self {
        Self {
            along_k: self.along_k,
            stays_across: self.stays_across,
            ..Self::new(operand, thread, threads, k, self.stays_across)
        }
    }

    /// Rows of the tile in LDS.
    const fn rows(threads: usize) -> usize {
        threads * V::LEN / L::ROW_UNITS
    }

    /// Units of all rows at one k.
    const fn units_across(threads: usize) -> u32 {
        (Self::rows(threads) / Self::PER_UNIT) as u32
    }

    /// Whether the tiles of an operand across rows can stay so in LDS.
    const fn can_stay_across(threads: usize) -> bool {
        L::IS_READ_ACROSS && Self::rows(threads).is_power_of_two()
    }

    /// The block of rows and the group of k that thread number `thread` of `threads` takes across rows.
    #[inline(always)]
    const fn block(thread: u32, threads: usize) -> (u32, u32) {
        // A tile of few rows has fewer blocks of them.
        let blocks = threads * V::LEN / L::ROW_UNITS / Self::PER_UNIT;
        let neighbours = if blocks < Self::NEIGHBOURS {
            blocks as u32
        } else {
            Self::NEIGHBOURS as u32
        };
        let groups = (Self::K / V::LEN) as u32;
        let (high, low) = (thread / neighbours, thread % neighbours);
        (high / groups * neighbours + low, high % groups)
    }

    /// The same share, for an operand that is along k or is not, with `may_stay_across` of [`new`](Self::new). The compiler then
    /// knows the layouts, and a loop over the share has no branch.
    #[inline(always)]
    #[must_use]
    pub fn known(mut self, along_k: bool, threads: usize, may_stay_across: bool) -> Self {
        self.along_k = along_k;
        self.stays_across = !along_k && may_stay_across && Self::can_stay_across(threads);
        self
    }

    /// Whether tiles stay across rows in LDS.
    #[inline(always)]
    pub fn stays_across(&self) -> bool {
        self.stays_across
    }

    /// Loads the share of a tile.
    ///
    /// # Safety
    /// The operand has whole units up to the end of the tile ([`Operand::units_end`]).
    #[inline(always)]
    pub unsafe fn load(&self) -> Array<Unit, V> {
        let mut units = V::splat(Unit::splat(0));
        for i in 0..V::LEN {
            // SAFETY: the unit is in the operand, as the caller promises. It needs only the alignment of
            // an element: amdhsa enables unaligned access.
            units[i] = unsafe { self.pointer(i).cast::<Unit>().read_unaligned() };
        }
        units
    }

    /// Loads the share of the tile at `k`, which may end outside the operand: elements outside along k are 0. (Elements of
    /// rows outside are any; no product of them is stored.)
    ///
    /// A unit that would end outside is loaded from where it fits. The caller [shifts](Unshifted::shifted) it when all loads
    /// have been issued.
    ///
    /// # Safety
    /// The share is of this operand, which [has a unit](Operand::has_a_unit) and an element at `k`.
    #[inline(always)]
    pub unsafe fn load_within(
        &self,
        operand: &Operand<T>,
        thread: u32,
        threads: usize,
        k: u32,
    ) -> Unshifted<V> {
        let (per_unit, bytes) = (Self::PER_UNIT as u32, size_of::<T>() as u32);
        let mut units = V::splat(Unit::splat(0));
        let mut shifts = V::splat(0);
        let last_block = (operand.rows - 1) / per_unit * per_unit;
        let base = operand.start.wrapping_add(operand.offset(0, k));
        for i in 0..V::LEN {
            let (offset, back, shift) = if self.along_k {
                let unit_k = k + thread % L::ROW_UNITS as u32 * per_unit;
                let outside = unit_k.saturating_sub(operand.k - per_unit);
                (self.offsets[i], outside, outside)
            } else {
                let (block, group) = Self::block(thread, threads);
                let row = (block * per_unit).min(last_block);
                // The last block may have fewer rows than a unit, which then begins with rows before it.
                let missing = (row + per_unit).saturating_sub(operand.rows);
                let unit_k = k + group * V::LEN as u32 + i as u32;
                if unit_k < operand.k {
                    (self.offsets[i], missing, missing)
                } else {
                    (row * bytes, missing, per_unit)
                }
            };
            shifts[i] = shift;
            // Offsets are not negative.
            let offset = offset + (Self::MOST_BACK - back * bytes);
            let unit = base
                .wrapping_byte_sub(Self::MOST_BACK as usize)
                .wrapping_byte_add(crate::opaque(offset) as usize);
            // SAFETY: the unit is in the operand, which has at least one. Alignment as in `load`.
            units[i] = unsafe { unit.cast::<Unit>().read_unaligned() };
        }
        Unshifted { units, shifts }
    }

    /// No unit begins as many bytes before its place: a tile along k.
    const MOST_BACK: u32 = L::ROW_BYTES as u32;

    /// Advances by a tile along k, or stays at the last one (`tiles` is 0).
    #[inline(always)]
    pub fn advance(&mut self, tiles: u32) {
        self.base = self.base.wrapping_byte_add((self.step * tiles) as usize);
        // For several units, LLVM computes all offsets first and issues their loads together, which takes up to 5 % longer.
        if V::LEN == 1 {
            self.mask = 0u32.wrapping_sub(tiles);
        }
    }

    /// The address of unit number `i` of the share.
    #[inline(always)]
    pub fn pointer(&self, i: usize) -> *const T {
        self.base
            .wrapping_byte_add(crate::opaque(self.offsets[i] & self.mask) as usize)
    }

    /// Writes the share to the tile at `tile`.
    ///
    /// # Safety
    /// `tile` points to `V · threads` units, which the threads of the workgroup access only to write their own shares.
    #[inline(always)]
    pub unsafe fn store(&self, tile: *mut Unit, threads: usize, units: Array<Unit, V>) {
        if self.along_k {
            // As in `store_transposed`, for stages so large that two exceed the offset of LDS instructions.
            let place = if const { L::ROW_UNITS > 4 } {
                self.place.plus(crate::opaque_zero())
            } else {
                self.place
            };
            for i in 0..V::LEN {
                let position = place.further((i * threads / L::ROW_UNITS) as u32, 0);
                // SAFETY: the position is that of a unit of the tile.
                unsafe { tile.add(position).write(units[i]) };
            }
            return;
        }
        if self.stays_across {
            let further = threads as u32 / Self::units_across(threads);
            for i in 0..V::LEN {
                let position =
                    self.place
                        .further_across(Self::rows(threads), i as u32 * further, 0);
                // SAFETY: as above.
                unsafe { tile.add(position).write(units[i]) };
            }
            return;
        }
        // Uniform, so that this is one branch per tile.
        match size_of::<T>() {
            // SAFETY: as the caller promises; a unit is a vector of elements of any size.
            1 => unsafe { self.store_transposed::<u8, 16>(tile, units) },
            // SAFETY: as above.
            2 => unsafe { self.store_transposed::<u16, 8>(tile, units) },
            // SAFETY: as above.
            4 => unsafe { self.store_transposed::<u32, 4>(tile, units) },
            // SAFETY: as above.
            _ => unsafe { self.store_transposed::<u64, 2>(tile, units) },
        }
    }

    /// Writes a block of `E` rows by `V` k whose columns are `units`.
    ///
    /// # Safety
    /// As [`store`](Self::store); `E` elements `B` are a unit.
    #[inline(always)]
    unsafe fn store_transposed<B: Bits, const E: usize>(
        &self,
        tile: *mut Unit,
        units: Array<Unit, V>,
    ) {
        // Without the opaque zero, the compiler would keep the addresses of all rows in registers throughout a
        // loop that has none to spare. Each is one instruction away from the first. Where threads have one unit, so many
        // waves share a tile that registers are left.
        let first = self.place.bytes() + self.byte;
        let first = if const { V::LEN > 1 } {
            first + crate::opaque_zero()
        } else {
            first
        };
        for row in 0..E {
            let piece = super::transpose::elements::<B, V>(&units, row);
            // In one access of the piece's size: blocks begin at multiples of it.
            // SAFETY: the bytes copied are those of the piece, and their destination is in the tile.
            unsafe {
                let place = |unit| {
                    tile.cast::<u8>()
                        .add(LdsPosition::<L>::bytes_further(first, row as u32, unit))
                };
                match size_of::<Array<B, V>>() {
                    1 => place(0).write(transmute_copy(&piece)),
                    2 => place(0).cast::<u16>().write(transmute_copy(&piece)),
                    4 => place(0).cast::<u32>().write(transmute_copy(&piece)),
                    8 => place(0).cast::<u64>().write(transmute_copy(&piece)),
                    16 => place(0).cast::<Unit>().write(transmute_copy(&piece)),
                    32 => {
                        let units: [Unit; 2] = transmute_copy(&piece);
                        for part in 0..2 {
                            place(part).cast::<Unit>().write(units[part as usize]);
                        }
                    }
                    _ => const { panic_unless_piece::<Array<B, V>>() },
                }
            }
        }
    }
}

/// The unit without its first `elements` elements, and with as many zeros at its end.
#[inline(always)]
pub fn shifted<T>(unit: Unit, elements: u32) -> Unit {
    // Written out, so that the words stay in registers.
    let bytes = elements * size_of::<T>() as u32;
    let choose = |condition: bool, yes: u32, no: u32| if condition { yes } else { no };
    let [a, b, c, d] = unit.to_array();
    let two = bytes & 8 != 0;
    let (a, b) = (choose(two, c, a), choose(two, d, b));
    let (c, d) = (choose(two, 0, c), choose(two, 0, d));
    let one = bytes & 4 != 0;
    let (a, b) = (choose(one, b, a), choose(one, c, b));
    let (c, d) = (choose(one, d, c), choose(one, 0, d));
    let bits = bytes % 4 * 8;
    let joined = |low: u32, high: u32| {
        let pair = u64::from(high) << 32 | u64::from(low);
        choose(bytes < UNIT_BYTES as u32, (pair >> bits) as u32, 0)
    };
    Unit::from_array([joined(a, b), joined(b, c), joined(c, d), joined(d, 0)])
}

/// Fails to compile for any other size of a piece.
const fn panic_unless_piece<P>() {
    assert!(
        matches!(size_of::<P>(), 1 | 2 | 4 | 8 | 16 | 32),
        "a piece of a row has 1, 2, 4, 8, 16 or 32 bytes"
    );
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::length::Len;
    use std::{vec, vec::Vec};

    /// Rows of a tile, and threads that load it: two units each.
    const ROWS: usize = 64;
    const THREADS: usize = 128;
    type Loader = TileLoader<u16, RowMajor, Len<2>>;

    /// An operand of `rows` rows by `k` elements that begins at row `before`, and its element at row and k.
    fn operand(
        matrix: &[u16],
        (before, rows, k): (u32, u32, u32),
        strides: Strides,
    ) -> Operand<u16> {
        Operand {
            start: matrix[strides.offset(before, 0)..].as_ptr(),
            before,
            rows,
            k,
            strides,
            paired: 0,
        }
    }

    /// The tile at `k` as the threads write it, in rows of 32 elements.
    fn tile(operand: &Operand<u16>, k: u32) -> Vec<u16> {
        let mut tile = vec![Unit::splat(0); ROWS * RowMajor::ROW_UNITS];
        for thread in 0..THREADS as u32 {
            let loader = Loader::new(operand, thread, THREADS, k, false);
            // SAFETY: the operand has a unit, and the tile has the units of all threads.
            unsafe {
                let units = loader.load_within(operand, thread, THREADS, k);
                loader.store(tile.as_mut_ptr(), THREADS, units.shifted::<u16>());
            }
        }
        let words = tile.into_iter().flat_map(Unit::to_array);
        words
            .flat_map(|word| [word as u16, (word >> 16) as u16])
            .collect()
    }

    #[test]
    fn a_tile_at_the_edges_has_the_elements_inside_and_zeros_behind_the_last_k() {
        for along_k in [true, false] {
            for (before, rows, extent) in [
                (0, 64, 64),
                (64, 1, 9),
                (64, 7, 40),
                (0, 13, 33),
                (64, 64, 95),
            ] {
                let all = before + rows;
                let leading = if along_k { extent } else { all } + 3;
                let strides = Strides::new(leading, !along_k);
                let last = strides.offset(all - 1, extent - 1);
                // No element is 0, and none stands twice.
                let matrix: Vec<u16> = (1..=last as u16 + 1).collect();
                let operand = operand(&matrix, (before, rows, extent), strides);
                assert!(operand.has_a_unit());
                for first in (0..extent).step_by(32) {
                    let tile = tile(&operand, first);
                    for row in 0..rows.min(ROWS as u32) {
                        for column in 0..32 {
                            let expected = if first + column < extent {
                                matrix[strides.offset(before + row, first + column)]
                            } else {
                                0
                            };
                            let found = tile[(32 * row + column) as usize];
                            assert_eq!(found, expected, "{along_k} {row} {first} + {column}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn units_are_whole_up_to_where_they_would_leave_the_matrix() {
        let matrix = [0; 64];
        let end = |rows, k, strides| operand(&matrix, (0, rows, k), strides).units_end(ROWS);
        let along_k = |leading| Strides::new(leading, false);
        let across = |leading| Strides::new(leading, true);
        assert_eq!(end(3, 40, along_k(40)), 40);
        assert_eq!(end(64, 40, across(64)), 40);
        assert_eq!(end(16, 40, across(16)), 40, "units end with the rows");
        assert_eq!(end(13, 40, across(13)), 39, "the last k's units would not");
        assert_eq!(end(5, 40, across(5)), 0, "shorter than a unit");
        assert_eq!(
            end(3, 40, along_k(1 << 24)),
            0,
            "offsets of more than 32 bits"
        );
    }

    #[test]
    fn an_operand_shorter_than_a_unit_has_none() {
        let matrix = [0; 64];
        let has =
            |before, rows, k, strides| operand(&matrix, (before, rows, k), strides).has_a_unit();
        assert!(!has(0, 9, 7, Strides::new(7, false)));
        assert!(has(0, 1, 8, Strides::new(8, false)));
        assert!(!has(0, 7, 9, Strides::new(7, true)));
        assert!(has(7, 1, 1, Strides::new(8, true)));
        let far = 1 << 24;
        assert!(!has(0, 9, 8, Strides::new(far, false)), "far apart");
    }
}
