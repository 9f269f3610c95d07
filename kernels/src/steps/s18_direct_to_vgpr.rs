//! Step 18, direct to VGPR: a wave loads its operands from global memory, without LDS.
//!
//! ```text
//! C[i][j] ← α · Σₚ A[i][p] · B[p][j] + β · C[i][j]
//!
//!                           B's column j, along k
//!                           lane 16g + j has the units g, g + 4, g + 8, …
//!   A's row i, along k
//!   ┌──┬──┬──┬──┬──┬─       C's tile, 16 × 16: one wave
//!   │ 0│ 1│ 2│ 3│ 0│        lane 16g + i has four sums of row i
//!   └──┴──┴──┴──┴──┴─
//!    lane 16g + i has the units g, g + 4, g + 8, …
//! ```
//!
//! **When to use it.** A small product with a short k takes as long as one workgroup: its instructions before the first load, the
//! way to memory, and the way of the sums to C. Through LDS, elements also wait for the slowest wave, and for barriers. Here a
//! workgroup is one wave, which has [`BATCH`] steps on their way at once and stores its own sums. The price is that waves share
//! nothing of what they load, so that larger products wait for L2.
//!
//! **Layouts.** A lane's elements along k are one load if they are contiguous. Otherwise each has a load of its own, for which
//! neighbouring lanes have neighbouring elements.
//!
//! **Edges.** Rows and columns outside the matrices are those of the last ones; their sums are not stored. Elements behind the
//! last k are zero: of contiguous ones, the row's last unit is loaded and shifted; the others are behind the end of a [`Buffer`].
//! If k is shorter than a unit, or a tile spans 4 GiB, operands go element by element.
//!
//! LDS: none.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{
    Product,
    block_gemm::{Config, Element, Output},
};
use crate::{
    arch::{self, Buffer, permuted},
    matrix::Multiply,
    tile::{
        element::Accumulator,
        epilogue::{MOST_RUNS, Runs},
        operand::{Bits, Operand, UNIT_BYTES, Unit, shifted},
        output::Fragment,
    },
};
use core::mem::{MaybeUninit, transmute_copy};

/// Steps that a wave loads together.
const BATCH: usize = 4;

/// Words for a lane's elements of a step: i8 and 16-bit elements have a word each where they are loaded one by one.
const WORDS: usize = 16;

/// Computes 16 × 16 elements of C in a wave, straight from global memory.
///
/// # Safety
/// The kernel was launched with the block of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    // SAFETY: the block is the row's, as the caller promises: a wave.
    let (lane, _) = unsafe { arch::thread_and_wave(product.kernel().block, C::Multiply::LANES) };
    let edge = C::Multiply::EDGE as u32;
    let (row, group) = (lane % edge, lane / edge);
    let mut sums = C::Multiply::ZERO;
    if let Some((a, b)) = product.operands() {
        let first = group * per_unit::<C>();
        // Uniform. A loop for each layout has no branches but for its steps.
        if a.k < per_unit::<C>() || !a.is_near() || !b.is_near() {
            add_elements::<C>(&a, &b, row, first, &mut sums);
        } else {
            match (a.is_along_k(), b.is_along_k()) {
                (true, true) => {
                    let (a, b) = (AlongK::new(&a, row, first), AlongK::new(&b, row, first));
                    add_batches::<C>(a, b, &mut sums);
                }
                (true, false) => {
                    let (a, b) = (AlongK::new(&a, row, first), Across::new(&b, row, first));
                    add_batches::<C>(a, b, &mut sums);
                }
                (false, true) => {
                    let (a, b) = (Across::new(&a, row, first), AlongK::new(&b, row, first));
                    add_batches::<C>(a, b, &mut sums);
                }
                (false, false) => {
                    let (a, b) = (Across::new(&a, row, first), Across::new(&b, row, first));
                    add_batches::<C>(a, b, &mut sums);
                }
            }
        }
    }
    // SAFETY: lanes have different sums of the tile.
    unsafe { store::<C>(&product, lane, &sums) };
}

/// Elements of a unit.
const fn per_unit<C: Config>() -> u32 {
    (UNIT_BYTES / size_of::<Element<C>>()) as u32
}

/// Elements along k of a step.
const fn step_k<C: Config>() -> u32 {
    C::Multiply::STEP_UNITS as u32 * per_unit::<C>()
}

/// Elements along k of a batch.
const fn batch_k<C: Config>() -> u32 {
    const { assert!(BATCH as u32 * step_k::<C>() <= 256, "`Operand::is_near`") }
    BATCH as u32 * step_k::<C>()
}

/// A lane's row of an operand, from an element along k on.
trait Row<C: Config> {
    /// Elements along k from there on. Uniform.
    fn left(&self) -> u32;

    /// Loads the lane's elements of a step of a batch.
    ///
    /// # Safety
    /// The step begins before the operand's end.
    unsafe fn load(&self, step: usize) -> [u32; WORDS];

    /// The unit of a step, from what has been loaded.
    fn unit(&self, step: usize, words: &[u32; WORDS]) -> Unit;

    /// The row at the next batch.
    fn next(self) -> Self;
}

/// Adds the product of all steps, a batch of them at a time.
#[inline(always)]
fn add_batches<C: Config>(mut a: impl Row<C>, mut b: impl Row<C>, sums: &mut Sums<C>) {
    loop {
        let left = a.left();
        // Uniform.
        let has = |step: usize| step == 0 || left > step as u32 * step_k::<C>();
        let mut loaded = [const { (MaybeUninit::uninit(), MaybeUninit::uninit()) }; BATCH];
        for step in 0..BATCH {
            if has(step) {
                // SAFETY: the step begins before the operands' end.
                unsafe {
                    loaded[step].0.write(a.load(step));
                    loaded[step].1.write(b.load(step));
                }
            }
        }
        for step in 0..BATCH {
            if has(step) {
                // SAFETY: they have been loaded.
                let (loaded_a, loaded_b) = unsafe {
                    (
                        loaded[step].0.assume_init_ref(),
                        loaded[step].1.assume_init_ref(),
                    )
                };
                add::<C>(a.unit(step, loaded_a), b.unit(step, loaded_b), sums);
            }
        }
        if left <= batch_k::<C>() {
            return;
        }
        (a, b) = (a.next(), b.next());
    }
}

/// Adds the product of all steps, element by element.
#[inline(always)]
fn add_elements<C: Config>(
    a: &Operand<Element<C>>,
    b: &Operand<Element<C>>,
    row: u32,
    first: u32,
    sums: &mut Sums<C>,
) {
    for k in (first..a.k + first).step_by(step_k::<C>() as usize) {
        let unit = |operand: &Operand<Element<C>>| {
            let mut words = [0; WORDS];
            for element in 0..per_unit::<C>() {
                put(
                    &mut words,
                    element as usize,
                    operand.element_or_zero(row, k + element),
                );
            }
            joined::<Element<C>>(&words)
        };
        add::<C>(unit(a), unit(b), sums);
    }
}

/// A lane's sums.
type Sums<C> = <<C as Config>::Multiply as Multiply>::Sums;

/// Adds the product of a step.
#[inline(always)]
fn add<C: Config>(a: Unit, b: Unit, sums: &mut Sums<C>) {
    let (a, b) = (
        C::Multiply::operand(|_, _| a, || 0),
        C::Multiply::operand_b(|_, _| b, || 0),
    );
    for part in 0..C::Multiply::INSTRUCTIONS {
        *sums = C::Multiply::multiply(part, a, b, *sums);
    }
}

/// A row of contiguous elements.
struct AlongK<C: Config> {
    /// A unit before the batch of the operand's first row.
    start: *const Element<C>,
    /// Bytes from there to the row.
    bytes: u32,
    /// The lane's end along k in the first step.
    end: u32,
    left: u32,
}

impl<C: Config> AlongK<C> {
    #[inline(always)]
    fn new(operand: &Operand<Element<C>>, row: u32, first: u32) -> Self {
        let row_bytes = operand.strides.row * size_of::<Element<C>>() as u32;
        Self {
            start: operand.start.wrapping_sub(per_unit::<C>() as usize),
            bytes: row.min(operand.rows - 1) * row_bytes,
            end: first + per_unit::<C>(),
            left: operand.k,
        }
    }

    /// The end of the lane's unit of a step.
    #[inline(always)]
    fn end(&self, step: usize) -> u32 {
        step as u32 * step_k::<C>() + self.end
    }
}

impl<C: Config> Row<C> for AlongK<C> {
    #[inline(always)]
    fn left(&self) -> u32 {
        self.left
    }

    #[inline(always)]
    unsafe fn load(&self, step: usize) -> [u32; WORDS] {
        let end = self.end(step).min(self.left) * size_of::<Element<C>>() as u32;
        let unit = self.start.wrapping_byte_add((self.bytes + end) as usize);
        let mut words = [0; WORDS];
        // SAFETY: the row has the unit, which needs no alignment: amdhsa enables unaligned access.
        [words[0], words[1], words[2], words[3]] =
            unsafe { unit.cast::<Unit>().read_unaligned() }.to_array();
        words
    }

    #[inline(always)]
    fn unit(&self, step: usize, words: &[u32; WORDS]) -> Unit {
        let unit = Unit::from_array([words[0], words[1], words[2], words[3]]);
        // Uniform.
        if self.left >= (step as u32 + 1) * step_k::<C>() {
            return unit;
        }
        let end = self.end(step);
        shifted::<Element<C>>(unit, end - end.min(self.left))
    }

    #[inline(always)]
    fn next(self) -> Self {
        Self {
            start: self.start.wrapping_add(batch_k::<C>() as usize),
            left: self.left - batch_k::<C>(),
            ..self
        }
    }
}

/// A row whose elements are next to those of its neighbours.
struct Across<C: Config> {
    /// The batch of the operand's first row.
    start: *const Element<C>,
    /// Bytes from there to the lane's first element.
    bytes: u32,
    rows: u32,
    /// Elements from one k to the next.
    stride: u32,
    left: u32,
}

impl<C: Config> Across<C> {
    #[inline(always)]
    fn new(operand: &Operand<Element<C>>, row: u32, first: u32) -> Self {
        let (stride, rows) = (operand.strides.column, operand.rows);
        Self {
            start: operand.start,
            bytes: (row.min(rows - 1) + first * stride) * size_of::<Element<C>>() as u32,
            rows,
            stride,
            left: operand.k,
        }
    }
}

impl<C: Config> Row<C> for Across<C> {
    #[inline(always)]
    fn left(&self) -> u32 {
        self.left
    }

    #[inline(always)]
    unsafe fn load(&self, step: usize) -> [u32; WORDS] {
        let size = size_of::<Element<C>>() as u32;
        // Otherwise the compiler would compute the offsets of all steps before the first one.
        let stride = self.stride + crate::opaque_zero();
        // A batch ends within 4 GiB (`Operand::is_near`).
        let last = self.left.min(batch_k::<C>()) - 1;
        let buffer = Buffer::new(self.start, (last * self.stride + self.rows) * size);
        let mut words = [0; WORDS];
        for element in 0..per_unit::<C>() {
            let k = step as u32 * step_k::<C>() + element;
            // SAFETY: the buffer ends with the last row at the last k.
            let element_at_k = unsafe { buffer.load(self.bytes, k * stride * size) };
            put::<Element<C>>(&mut words, element as usize, element_at_k);
        }
        words
    }

    #[inline(always)]
    fn unit(&self, _: usize, words: &[u32; WORDS]) -> Unit {
        let words_of_elements = UNIT_BYTES / size_of::<Element<C>>().min(4);
        // Otherwise the compiler would join elements where they are loaded, and wait there.
        let mut opaque = [0; WORDS];
        for word in 0..words_of_elements {
            opaque[word] = crate::opaque(words[word]);
        }
        joined::<Element<C>>(&opaque)
    }

    #[inline(always)]
    fn next(self) -> Self {
        Self {
            start: (self.start).wrapping_add(batch_k::<C>() as usize * self.stride as usize),
            left: self.left - batch_k::<C>(),
            ..self
        }
    }
}

/// Puts an element in its words: two of an element of 8 bytes, else one.
#[inline(always)]
fn put<T: Bits>(words: &mut [u32; WORDS], number: usize, element: T) {
    // SAFETY: the types have the same size, and all bits are numbers.
    unsafe {
        match size_of::<T>() {
            1 => words[number] = transmute_copy::<_, u8>(&element).into(),
            2 => words[number] = transmute_copy::<_, u16>(&element).into(),
            4 => words[number] = transmute_copy(&element),
            _ => [words[2 * number], words[2 * number + 1]] = transmute_copy(&element),
        }
    }
}

/// The unit of elements in their words.
#[inline(always)]
fn joined<T>(words: &[u32; WORDS]) -> Unit {
    let mut unit = [0; 4];
    for word in 0..4 {
        // The lower halves of two words; their lowest bytes.
        let halves = |first: usize| permuted(words[first + 1], words[first], 0x0504_0100);
        let bytes = |first: usize| permuted(words[first + 1], words[first], 0x0c0c_0400);
        unit[word] = match size_of::<T>() {
            1 => permuted(bytes(4 * word + 2), bytes(4 * word), 0x0504_0100),
            2 => halves(2 * word),
            _ => words[word],
        };
    }
    Unit::from_array(unit)
}

/// A sum.
type Sum<C> = <<C as Config>::Multiply as Multiply>::Sum;

/// A lane's sums in f64: every fourth row of a column of C.
struct Column<S>([S; 4]);

impl<S: Accumulator> Fragment<1> for Column<S> {
    type Sum = S;

    #[inline(always)]
    fn for_each_run(&mut self, mut visit: impl FnMut(u32, u32, &mut [S; 1])) {
        for number in 0..4 {
            let mut run = [self.0[number]];
            visit(4 * number as u32, 0, &mut run);
            self.0[number] = run[0];
        }
    }
}

/// Updates C with a lane's sums: four of a row, or a [`Column`].
///
/// # Safety
/// No other lane has sums of the same elements.
#[inline(always)]
unsafe fn store<C: Config>(product: &Product<Element<C>, Output<C>>, lane: u32, sums: &Sums<C>) {
    let edge = C::Multiply::EDGE as u32;
    let (across, group) = (lane % edge, lane / edge);
    if const { size_of::<Sum<C>>() == 8 } {
        // SAFETY: as the caller promises; both are four sums.
        return unsafe { product.store(group, across, Column::<Sum<C>>(transmute_copy(sums))) };
    }
    let (row, column) = (across, 4 * group);
    let mut units = [Unit::splat(0); MOST_RUNS];
    // SAFETY: both are four sums of four bytes.
    units[0] = unsafe { transmute_copy(sums) };
    let runs = Runs {
        first: (row, column),
        step: (0, 0),
        count: 1,
    };
    // SAFETY: as the caller promises. The choices are uniform.
    unsafe {
        if let Some(plain) = product.plain(row, column) {
            plain.store_unit(0, 0, (&raw const *sums).cast());
        } else if let Some(alpha) = product.plain_factor() {
            product.store_scaled(&runs, &units, alpha);
        } else {
            let epilogue = product.epilogue();
            let mut amax = 0;
            product.store_units(&runs, &units, &epilogue, &mut amax);
            product.raise_amax(lane, amax);
        }
    }
}
