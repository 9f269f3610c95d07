//! What the main loops do not cover: the end of k, and tiles that cannot be loaded in whole units.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{BlockGemm, Config, Element, Fetch, InFlight, Source};
use crate::{
    arch::Workgroup,
    matrix::Multiply as _,
    tile::{
        lds::Barrier as _,
        length::{Array, Length as _},
        operand::{Bits, LdsLayout, Operand, UNIT_BYTES, Unit, Unshifted},
    },
};

/// A thread's units of a stage that may end outside the operands.
#[derive(Clone, Copy)]
struct Within<C: Config> {
    a: Unshifted<C::AVecs>,
    b: Unshifted<C::BVecs>,
    scales: Array<u32, C::Scales>,
    indices: Array<u32, C::Indices>,
}

impl<C: Config> Within<C> {
    /// The units with their elements in place.
    #[inline(always)]
    fn shifted(&self) -> InFlight<C> {
        InFlight {
            a: self.a.shifted::<Element<C>>(),
            b: self.b.shifted::<Element<C>>(),
            scales: self.scales,
            indices: self.indices,
        }
    }
}

impl<C: Config> BlockGemm<C> {
    /// How many stages from `k` to `end` can be loaded in whole units. Uniform.
    #[inline(always)]
    pub(in super::super) fn whole_stages(&self, source: &Source<C>, k: u32, end: u32) -> u32 {
        let tile = self.product.kernel().tile;
        let (a, b) = (&source.a, &source.b);
        // Mostly both operands have whole units, which takes fewer instructions to see for both at once.
        let units_end = if !a.is_near_with(b) {
            0
        } else if a.rows_outside_units(tile.m) | b.rows_outside_units(tile.n) == 0 {
            (a.k * Self::A_STEP).min(b.k)
        } else {
            (a.units_end(tile.m) * Self::A_STEP).min(b.units_end(tile.n))
        };
        // LLVM takes a vector instruction for the least of three. A workgroup without steps may have its `k` behind `end`, where no
        // units are left.
        (end - k).min(units_end.saturating_sub(k)) / Self::STAGE_K
    }

    /// Adds the products from `k` to `end`, one stage after the other, in stage buffer 0: each stage is loaded,
    /// waited for and multiplied before the next one.
    ///
    /// # Safety
    /// All threads of the workgroup call this. The accesses to LDS that each has issued before are complete, or
    /// it waits for them at its next barrier.
    #[inline(always)]
    pub(in super::super) unsafe fn sequential(&mut self, k: u32, end: u32) {
        let Some(source) = self.source(k, false) else {
            return;
        };
        let whole = self.whole_stages(&source, k, end);
        let mut fetch = source.fetch(whole.max(1));
        for _ in 0..whole {
            // SAFETY: the stages are whole; as for `multiply_stage`.
            unsafe {
                let units = fetch.next();
                self.multiply_stage(&fetch, units);
            }
        }
        // SAFETY: the caller promises the same.
        unsafe { self.rest(k + whole * Self::STAGE_K, end) }
    }

    /// Multiplies the stage whose units the threads have loaded.
    ///
    /// # Safety
    /// As [`sequential`](Self::sequential).
    #[inline(always)]
    unsafe fn multiply_stage(&mut self, fetch: &Fetch<C>, units: InFlight<C>) {
        // SAFETY: there are barriers between the reads of the previous stage and the writes of this one, and between its
        // writes and its reads.
        unsafe {
            Workgroup.wait();
            self.store(fetch, 0, units);
            Workgroup.wait();
            self.multiply_buffer(0);
        }
    }

    /// Multiplies the last of an odd number of stages, which a main loop of two stages has stored in buffer 0 at its end.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[inline(always)]
    pub(in super::super) unsafe fn multiply_odd(&mut self, stages: u32) {
        if !stages.is_multiple_of(2) {
            // SAFETY: as the caller promises.
            unsafe { self.multiply_buffer(0) };
        }
    }

    /// Multiplies what is in a stage buffer.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[inline(always)]
    pub(in super::super) unsafe fn multiply_buffer(&mut self, stage: usize) {
        if C::Multiply::ON_VECTOR_UNIT {
            // As a loop. Otherwise the compiler reads the operands of all steps first, for which there are no registers.
            let mut step = crate::opaque_zero();
            while step < Self::STEPS {
                // SAFETY: as the caller promises.
                let operands = unsafe { self.operands_of_loop(stage, step) };
                self.multiply(&operands);
                step += 1;
            }
            return;
        }
        for step in 0..Self::STEPS {
            // SAFETY: as the caller promises.
            let operands = unsafe { self.operands(stage, step) };
            self.multiply(&self.arrived(operands));
        }
    }

    /// As [`sequential`](Self::sequential), for the end of k, where stages may not be whole.
    ///
    /// # Safety
    /// As [`sequential`](Self::sequential). If `end` is not the end of k, there are whole stages up to `end`.
    #[inline(always)]
    pub(in super::super) unsafe fn rest(&mut self, mut k: u32, end: u32) {
        if k >= end {
            return;
        }
        // Again: the main loop leaves no registers for the source.
        let Some(source) = self.source(k, false) else {
            return;
        };
        let fetch = source.fetch(1);
        let has_units = source.a.has_a_unit() && source.b.has_a_unit();
        while k < end {
            // SAFETY: the operands have units where they are loaded. Barriers are as in `multiply_stage`.
            unsafe {
                if has_units {
                    let units = self.load_within(&source, k);
                    Workgroup.wait();
                    self.store(&fetch, 0, units.shifted());
                } else {
                    Workgroup.wait();
                    self.store_elements(&source, k, end);
                    self.store_scales(0, self.scales_within(k));
                    self.indices[0] = self.indices(k).load();
                }
                Workgroup.wait();
                self.multiply_buffer(0);
            }
            k += Self::STAGE_K;
        }
    }

    /// Loads the thread's units of the stage at `k`, which may end outside the operands. No load waits for another.
    ///
    /// # Safety
    /// The operands [have units](Operand::has_a_unit).
    #[inline(always)]
    unsafe fn load_within(&self, source: &Source<C>, k: u32) -> Within<C> {
        let (thread, (threads_a, threads_b)) = (self.thread, C::STORING);
        // SAFETY: as the caller promises.
        unsafe {
            Within {
                a: (source.loader_a).load_within(&source.a, thread, threads_a, k / Self::A_STEP),
                b: (source.loader_b).load_within(&source.b, thread, threads_b, k),
                scales: self.scales_within(k),
                indices: self.indices(k).load(),
            }
        }
    }

    /// Writes the thread's elements of both tiles, from `k` to `end`.
    ///
    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    unsafe fn store_elements(&self, source: &Source<C>, k: u32, end: u32) {
        let tile = self.product.kernel().tile;
        let (a, b) = self.tiles(0);
        // Without the opaque zero, the compiler computes the places of all elements before the loop over stages, also for operands
        // that are loaded in units. Small tiles have no time for that, and types with scales no registers. Other kernels need
        // fewer registers without it.
        let thread = if const {
            C::AVecs::LEN + C::BVecs::LEN <= MOST_OF_SMALL || C::Multiply::SCALE_BYTES > 0
        } {
            self.thread + crate::opaque_zero()
        } else {
            self.thread
        };
        let threads = self.threads();
        // SAFETY: as the caller promises.
        unsafe {
            store_elements::<Element<C>, C::Layout>(
                &source.a.until(end / Self::A_STEP),
                thread,
                threads,
                tile.m,
                k / Self::A_STEP,
                a,
            );
            store_elements::<Element<C>, C::LayoutB>(
                &source.b.until(end),
                thread,
                threads,
                tile.n,
                k,
                b,
            );
        }
    }
}

/// The most units of a stage that a thread of a small tile has.
const MOST_OF_SMALL: usize = 3;

/// The most elements that a thread has in flight.
const MOST_IN_FLIGHT: usize = 4;

/// Writes this thread's share of a tile element by element, with zeros outside the operand. The outer loop is not
/// unrolled: it is rarely run and should be small. Several elements are loaded before the first is written, so that they
/// take the latency of memory together.
///
/// # Safety
/// As [`TileLoader::store`](crate::tile::operand::TileLoader::store) says.
#[inline(always)]
unsafe fn store_elements<T: Bits, L: LdsLayout>(
    operand: &Operand<T>,
    thread: u32,
    threads: usize,
    rows: usize,
    k: u32,
    tile: *mut Unit,
) {
    let columns = (L::ROW_BYTES / size_of::<T>()) as u32;
    let along_k = operand.is_along_k();
    let count = rows as u32 * columns;
    // Threads have fewer elements of 8 bytes, and fewer registers for them.
    let in_flight = const {
        if size_of::<T>() == 8 {
            2
        } else {
            MOST_IN_FLIGHT
        }
    };
    // Neighbouring threads take neighbouring elements of global memory.
    let place = |number: u32| {
        if along_k {
            (number / columns, number % columns)
        } else {
            (number % rows as u32, number / rows as u32)
        }
    };
    let mut first = thread;
    while first < count {
        let mut elements = [T::NONE; MOST_IN_FLIGHT];
        for i in 0..in_flight {
            let (row, column) = place(first + (i * threads) as u32);
            elements[i] = operand.element_or_zero(row, k + column).widen();
        }
        for i in 0..in_flight {
            let number = first + (i * threads) as u32;
            let (row, column) = place(number);
            let byte = column * size_of::<T>() as u32;
            let position = L::position(row, byte / UNIT_BYTES as u32) as usize;
            if number < count {
                // SAFETY: the element is in the tile.
                unsafe {
                    tile.add(position)
                        .cast::<u8>()
                        .add(byte as usize % UNIT_BYTES)
                        .cast::<T>()
                        .write(T::narrow(elements[i]));
                }
            }
        }
        first += (in_flight * threads) as u32;
    }
}
