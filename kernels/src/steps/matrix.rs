//! What the steps from 11 on share: tiles in units of 16 bytes, waves of large blocks.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::Product;
use crate::{
    arch::{self, Workgroup},
    blocks::{BlockSums, Multiply, SUM_UNITS, sum_position},
    tile::{
        lds::Barrier as _,
        lds_layout::{Arrangement, Place, UNIT_BYTES, Unit},
        output::Plain,
        tile_loader::{Bits, Operand, TileLoader, store_elements},
    },
};
use ferrowave_shared::Kernel;

/// The calling thread's view of a workgroup's product: `M` × `N` blocks of C per wave, and `A_VECS` and
/// `B_VECS` units of 16 bytes of the tiles of A and B per thread.
///
/// The block of a row is `64 · columns of waves` × `rows of waves`.
pub(super) struct BlockGemm<
    T: Multiply<RUN>,
    R,
    const RUN: usize,
    const M: usize,
    const N: usize,
    const A_VECS: usize,
    const B_VECS: usize,
> {
    product: Product<T::Element, T::Output>,
    /// The thread's number in its workgroup.
    thread: u32,
    wave_row: u32,
    wave_column: u32,
    /// Where the lane's first units are in the tiles of A and B.
    a: Place<R>,
    b: Place<R>,
    /// The tiles in LDS, one stage after the other.
    lds: *mut Unit,
    pub(super) sums: BlockSums<T, RUN, M, N>,
}

/// A thread's units of a stage, between global memory and LDS.
#[derive(Clone, Copy)]
pub(super) struct InFlight<const A_VECS: usize, const B_VECS: usize> {
    pub(super) a: [Unit; A_VECS],
    pub(super) b: [Unit; B_VECS],
}

/// A wave's operands of one step.
pub(super) struct Operands<O, const M: usize, const N: usize> {
    a: [O; M],
    b: [O; N],
}

/// The operands of a workgroup, and where its threads are in them.
#[derive(Clone, Copy)]
pub(super) struct Source<E, R, const A_VECS: usize, const B_VECS: usize> {
    pub(super) a: Operand<E>,
    pub(super) b: Operand<E>,
    panel_a: TileLoader<E, R, A_VECS>,
    panel_b: TileLoader<E, R, B_VECS>,
}

impl<
    T: Multiply<RUN>,
    R: Arrangement,
    const RUN: usize,
    const M: usize,
    const N: usize,
    const A_VECS: usize,
    const B_VECS: usize,
> BlockGemm<T, R, RUN, M, N, A_VECS, B_VECS>
{
    /// Elements along k in a stage: a row of LDS.
    pub(super) const STAGE_K: u32 = (R::ROW_BYTES / size_of::<T::Element>()) as u32;
    /// Steps of the matrix cores in a stage.
    pub(super) const STEPS: u32 = (R::ROW_UNITS / T::STEP_UNITS) as u32;

    /// Whether the parameters are those of a row of the catalogue.
    pub(super) const fn fits(kernel: &Kernel) -> bool {
        let (waves_m, waves_n) = (kernel.block.y, kernel.block.x / 64);
        let threads = kernel.block.threads();
        let stage = (kernel.tile.m + kernel.tile.n) * R::ROW_BYTES;
        kernel.tile.m == waves_m * M * T::EDGE
            && kernel.tile.n == waves_n * N * T::EDGE
            && kernel.tile.m * R::ROW_UNITS == threads * A_VECS
            && kernel.tile.n * R::ROW_UNITS == threads * B_VECS
            && M.is_power_of_two()
            && N.is_power_of_two()
            && kernel.lds_bytes.is_multiple_of(stage)
            && kernel.lds_bytes >= waves_m * waves_n * T::EDGE * SUM_UNITS as usize * UNIT_BYTES
            && kernel
                .tile
                .k
                .is_multiple_of(R::ROW_BYTES / size_of::<T::Element>())
    }

    /// The thread's view.
    ///
    /// # Safety
    /// The kernel was launched with the row's block and LDS, and the parameters [fit](Self::fits).
    #[inline(always)]
    pub(super) unsafe fn new(product: Product<T::Element, T::Output>) -> Self {
        let kernel = product.kernel();
        let columns = (kernel.block.x / 64) as u32;
        // SAFETY: the block is the row's, as the caller promises.
        let (thread, wave) = unsafe { arch::thread_and_wave(kernel.block) };
        let lane = thread % 64;
        let (wave_row, wave_column) = (wave / columns, wave % columns);
        let edge = T::EDGE as u32;
        let (row, unit) = (lane % edge, lane / edge);
        Self {
            thread,
            wave_row,
            wave_column,
            a: Place::new(wave_row * M as u32 * edge + row, unit),
            b: Place::new(wave_column * N as u32 * edge + row, unit),
            lds: arch::launch_lds(),
            sums: BlockSums::zero(lane),
            product,
        }
    }

    /// Which half of the workgroup's waves the calling wave is in: the same in all lanes.
    #[inline(always)]
    pub(super) fn half(&self) -> u32 {
        let kernel = self.product.kernel();
        let columns = (kernel.block.x / 64) as u32;
        (self.wave_row * columns + self.wave_column) / (kernel.block.threads() as u32 / 128)
    }

    /// Where the workgroup's operands are, from `k` on; `None` if k = 0.
    #[inline(always)]
    pub(super) fn source(&self, k: u32) -> Option<Source<T::Element, R, A_VECS, B_VECS>> {
        let (a, b) = self.product.operands()?;
        Some(Source {
            panel_a: TileLoader::new(&a, self.thread, self.threads(), k),
            panel_b: TileLoader::new(&b, self.thread, self.threads(), k),
            a,
            b,
        })
    }

    /// Where the workgroup's operands are for [`load_to_lds`](Self::load_to_lds); `None` if k = 0.
    #[cfg(ferrowave_gpu = "gfx950")]
    #[inline(always)]
    pub(super) fn direct_source(&self) -> Option<Source<T::Element, R, A_VECS, B_VECS>> {
        let (a, b) = self.product.operands()?;
        Some(Source {
            panel_a: TileLoader::in_place(&a, self.thread, self.threads()),
            panel_b: TileLoader::in_place(&b, self.thread, self.threads()),
            a,
            b,
        })
    }

    /// Loads the thread's units of the next stage, or of the last one again, straight to a stage buffer.
    ///
    /// # Safety
    /// The stages are whole and along k, and the source is for this. No thread reads the buffer until it has waited
    /// for this one, which has waited for its loads.
    #[cfg(ferrowave_gpu = "gfx950")]
    #[inline(always)]
    pub(super) unsafe fn load_to_lds(
        &self,
        fetch: &mut Fetch<T::Element, R, A_VECS, B_VECS>,
        stage: usize,
    ) {
        let (a, b) = self.tiles(stage);
        let first = arch::readfirstlane(self.thread) as usize / 64 * 64;
        let (panel_a, panel_b) = (&fetch.source.panel_a, &fetch.source.panel_b);
        // SAFETY: as the caller promises. Unit number i of a wave's first lane is where the tile's unit number
        // i · threads + `first` is, and those of the other lanes follow.
        unsafe {
            for i in 0..A_VECS {
                arch::load_unit_to_lds(
                    panel_a.pointer(i).cast(),
                    a.add(i * self.threads() + first),
                );
            }
            for i in 0..B_VECS {
                arch::load_unit_to_lds(
                    panel_b.pointer(i).cast(),
                    b.add(i * self.threads() + first),
                );
            }
        }
        fetch.go_on();
    }

    /// The same as `source`, from k = 0 on, with addresses made anew: the compiler would keep those of one layout in
    /// registers around the loop of the other.
    #[cfg(ferrowave_gpu = "gfx950")]
    #[inline(always)]
    pub(super) fn source_anew(
        &self,
        source: &Source<T::Element, R, A_VECS, B_VECS>,
    ) -> Source<T::Element, R, A_VECS, B_VECS> {
        let (thread, threads) = (self.thread + crate::opaque_zero(), self.threads());
        Source {
            panel_a: source.panel_a.anew(&source.a, thread, threads, 0),
            panel_b: source.panel_b.anew(&source.b, thread, threads, 0),
            ..*source
        }
    }

    /// How many stages from `k` to `end` can be loaded in whole units: the same in all lanes.
    #[inline(always)]
    pub(super) fn whole_stages(
        &self,
        source: &Source<T::Element, R, A_VECS, B_VECS>,
        k: u32,
        end: u32,
    ) -> u32 {
        let tile = self.product.kernel().tile;
        if source.a.has_units(tile.m) && source.b.has_units(tile.n) {
            (end - k) / Self::STAGE_K
        } else {
            0
        }
    }

    /// The tiles of stage buffer `stage`.
    #[inline(always)]
    fn tiles(&self, stage: usize) -> (*mut Unit, *mut Unit) {
        let tile = self.product.kernel().tile;
        let a = self
            .lds
            .wrapping_add(stage * (tile.m + tile.n) * R::ROW_UNITS);
        (a, a.wrapping_add(tile.m * R::ROW_UNITS))
    }

    /// Writes the thread's units to a stage buffer.
    ///
    /// # Safety
    /// No thread reads the buffer until it has waited for this one.
    #[inline(always)]
    pub(super) unsafe fn store(
        &self,
        fetch: &Fetch<T::Element, R, A_VECS, B_VECS>,
        stage: usize,
        units: InFlight<A_VECS, B_VECS>,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            self.store_a(fetch, stage, units.a);
            self.store_b(fetch, stage, units.b);
        }
    }

    /// Writes the thread's units of A.
    ///
    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    pub(super) unsafe fn store_a(
        &self,
        fetch: &Fetch<T::Element, R, A_VECS, B_VECS>,
        stage: usize,
        units: [Unit; A_VECS],
    ) {
        let (a, _) = self.tiles(stage);
        // SAFETY: the tile is in the LDS that the row's launch has, and no thread reads it.
        unsafe { fetch.source.panel_a.store(a, self.threads(), units) };
    }

    /// Writes the thread's units of B.
    ///
    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    pub(super) unsafe fn store_b(
        &self,
        fetch: &Fetch<T::Element, R, A_VECS, B_VECS>,
        stage: usize,
        units: [Unit; B_VECS],
    ) {
        let (_, b) = self.tiles(stage);
        // SAFETY: as in `store_a`.
        unsafe { fetch.source.panel_b.store(b, self.threads(), units) };
    }

    /// The wave's operands of a step, from a stage buffer.
    ///
    /// # Safety
    /// The threads have filled the buffer, and none writes to it until it has waited for this one.
    #[inline(always)]
    pub(super) unsafe fn operands(&self, stage: usize, step: u32) -> Operands<T::Operand, M, N> {
        let (a, b) = self.tiles(stage);
        // SAFETY: as the caller promises.
        unsafe {
            Operands {
                a: self.read(a, self.a, step),
                b: self.read(b, self.b, step),
            }
        }
    }

    /// The same, at addresses that the compiler makes again, since it has no registers left for them around a loop.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[cfg(ferrowave_gpu = "gfx950")]
    #[inline(always)]
    pub(super) unsafe fn operands_anew(
        &self,
        stage: usize,
        step: u32,
    ) -> Operands<T::Operand, M, N> {
        let (a, b) = self.tiles(stage);
        let zero = crate::opaque_zero();
        // SAFETY: as the caller promises.
        unsafe {
            Operands {
                a: self.read(a, self.a.plus(zero), step),
                b: self.read(b, self.b.plus(zero), step),
            }
        }
    }

    /// # Safety
    /// As [`operands`](Self::operands).
    #[inline(always)]
    unsafe fn read<const B: usize>(
        &self,
        tile: *mut Unit,
        place: Place<R>,
        step: u32,
    ) -> [T::Operand; B] {
        let mut operands = [const { core::mem::MaybeUninit::uninit() }; B];
        for i in 0..B {
            operands[i].write(T::operand(|unit| {
                let unit = step * T::STEP_UNITS as u32 + unit;
                let position = place.further((i * T::EDGE) as u32, unit);
                // SAFETY: the position is that of a unit of the tile, which has been written.
                unsafe { tile.add(position).read() }
            }));
        }
        // SAFETY: the loop has written all of them.
        operands.map(|operand| unsafe { operand.assume_init() })
    }

    /// Multiplies the operands of a step.
    #[inline(always)]
    pub(super) fn multiply(&mut self, operands: &Operands<T::Operand, M, N>) {
        self.multiply_rows(operands, 0, M);
    }

    /// Multiplies the operands of a step for the rows of blocks from `first` up to `end`.
    #[inline(always)]
    pub(super) fn multiply_rows(
        &mut self,
        operands: &Operands<T::Operand, M, N>,
        first: usize,
        end: usize,
    ) {
        for part in 0..T::INSTRUCTIONS {
            self.sums
                .add_products(part, &operands.a, &operands.b, first, end);
            // An instruction that adds to sums which the one before it makes has to wait for them.
            arch::sched_barrier_mfma();
        }
    }

    /// Sums up all of k, as many stages as possible two at a time by `pipelined`, and updates C.
    ///
    /// # Safety
    /// `pipelined(matrix, source, stages)` multiplies so many stages, an even number, of which all are
    /// whole, and leaves no access to LDS for which not every thread waits before the next barrier. It is
    /// called from two places, in one of which the compiler knows that the operands are along k. All threads
    /// of the workgroup call this; no other workgroup has this tile.
    #[inline(always)]
    pub(super) unsafe fn compute(
        mut self,
        pipelined: impl Fn(&mut Self, Source<T::Element, R, A_VECS, B_VECS>, u32),
    ) {
        let k = self.product.k();
        // SAFETY: as the caller promises.
        unsafe {
            self.sum_up(0, k, pipelined);
            self.finish();
        }
    }

    /// Sums up from `k` to `end`.
    ///
    /// # Safety
    /// As [`compute`](Self::compute).
    #[inline(always)]
    pub(super) unsafe fn sum_up(
        &mut self,
        k: u32,
        end: u32,
        pipelined: impl Fn(&mut Self, Source<T::Element, R, A_VECS, B_VECS>, u32),
    ) {
        let Some(source) = self.source(k) else {
            return;
        };
        let stages = self.whole_stages(&source, k, end) / 2 * 2;
        // The same in all lanes.
        if stages > 0 {
            if source.is_along_k() {
                pipelined(self, source.known_along_k(), stages);
            } else {
                pipelined(self, source, stages);
            }
        }
        // SAFETY: as the caller promises.
        unsafe { self.sequential(k + stages * Self::STAGE_K, end) };
    }

    /// Sums up from `k` to `end`, one stage after the other, in stage buffer 0: each is loaded, in whole
    /// units as long as there are such, waited for and multiplied before the next one.
    ///
    /// # Safety
    /// All threads of the workgroup call this; before, each has done its own accesses to LDS or waits
    /// for them with a barrier.
    #[inline(always)]
    pub(super) unsafe fn sequential(&mut self, mut k: u32, end: u32) {
        let Some(source) = self.source(k) else {
            return;
        };
        let mut whole = self.whole_stages(&source, k, end);
        let mut fetch = source.fetch(whole.max(1));
        while k < end {
            // SAFETY: stages that are whole are loaded as such; barriers stand between the reads of
            // the stage before, the writes and the reads of this one.
            unsafe {
                if whole > 0 {
                    let units = fetch.next();
                    Workgroup.wait();
                    self.store(&fetch, 0, units);
                    whole -= 1;
                } else {
                    Workgroup.wait();
                    self.store_elements(&source, k, end);
                }
                Workgroup.wait();
                for step in 0..Self::STEPS {
                    let operands = self.operands(0, step);
                    self.multiply(&operands);
                }
            }
            k += Self::STAGE_K;
        }
    }

    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    unsafe fn store_elements(
        &self,
        source: &Source<T::Element, R, A_VECS, B_VECS>,
        k: u32,
        end: u32,
    ) {
        let tile = self.product.kernel().tile;
        let (a, b) = self.tiles(0);
        let (thread, threads) = (self.thread, self.threads());
        // SAFETY: as the caller promises.
        unsafe {
            store_elements::<_, R>(&source.a.until(end), thread, threads, tile.m, k, a);
            store_elements::<_, R>(&source.b.until(end), thread, threads, tile.n, k, b);
        }
    }

    /// Updates C with the sums.
    ///
    /// They pass through LDS, a block at a time, in a part of its own for each wave: lanes hold columns of
    /// sums, and rows are what is next to each other in C.
    ///
    /// # Safety
    /// No other workgroup has summed up this tile, and all threads of the workgroup call this.
    #[inline(always)]
    pub(super) unsafe fn finish(self) {
        let (row, column) = self.first_run();
        // SAFETY: as the caller promises. The choice is the same in all lanes.
        unsafe {
            match self.product.plain(row, column) {
                Some(plain) => self.finish_plain(plain),
                None => self.finish_in_a_loop(),
            }
        }
    }

    /// Row and column of the lane's first run in the workgroup's tile, as rows pass through LDS.
    #[inline(always)]
    fn first_run(&self) -> (u32, u32) {
        let (row, column) = self.corner();
        let lane = self.sums.lane;
        (
            row + lane / SUM_UNITS,
            column + lane % SUM_UNITS * RUN as u32,
        )
    }

    /// The wave's part of LDS for a block of sums.
    #[inline(always)]
    fn sum_block(&self) -> *mut Unit {
        let wave = self.thread / 64;
        self.lds
            .wrapping_add((wave * T::EDGE as u32 * SUM_UNITS) as usize)
    }

    /// One run of the block of sums in LDS: the lane's, so many rows below its first.
    ///
    /// # Safety
    /// The wave has written the block.
    #[inline(always)]
    unsafe fn spilled(&self, block: *const Unit, rows: u32) -> [T::Sum; RUN] {
        let lane = self.sums.lane;
        let position =
            sum_position::<{ arch::LDS_BANKS }>(rows + lane / SUM_UNITS, lane % SUM_UNITS);
        // SAFETY: the position is in the block.
        unsafe { block.add(position as usize).cast::<[T::Sum; RUN]>().read() }
    }

    /// Updates C where the sums are only multiplied: a block after the other without a branch.
    ///
    /// # Safety
    /// As [`finish`](Self::finish).
    #[inline(always)]
    unsafe fn finish_plain(self, plain: Plain<T::Output>) {
        let edge = T::EDGE as u32;
        let block = self.sum_block();
        // All waves have read their last operands.
        Workgroup.wait();
        for i in 0..M {
            for j in 0..N {
                // SAFETY: the part of LDS is the wave's.
                unsafe { T::stage_to_lds(self.sums.lane, &self.sums.blocks[i][j], block) };
                arch::wait_for_lds();
                let plain = plain.unforeseen();
                for part in 0..edge * SUM_UNITS / 64 {
                    let rows = part * 64 / SUM_UNITS;
                    // SAFETY: as in `finish_in_a_loop`.
                    unsafe {
                        let sums = self.spilled(block, rows);
                        plain.store_run(i as u32 * edge + rows, j as u32 * edge, sums);
                    }
                }
                arch::sched_barrier();
            }
        }
    }

    /// Updates C, whatever is done to each element and whichever there are: that is code that exists once and runs in a
    /// loop, and not once for each register.
    ///
    /// # Safety
    /// As [`finish`](Self::finish).
    #[inline(always)]
    unsafe fn finish_in_a_loop(self) {
        let edge = T::EDGE as u32;
        let (row, column) = self.corner();
        let lane = self.sums.lane;
        let block = self.sum_block();
        // As in `finish_plain`.
        Workgroup.wait();
        let mut number = crate::opaque_zero();
        while number < (M * N) as u32 {
            for i in 0..M {
                for j in 0..N {
                    if number == (i * N + j) as u32 {
                        // SAFETY: the part of LDS is the wave's.
                        unsafe { T::stage_to_lds(lane, &self.sums.blocks[i][j], block) };
                    }
                }
            }
            arch::wait_for_lds();
            let row = row + number / N as u32 * edge + lane / SUM_UNITS;
            let column = column + number % N as u32 * edge + lane % SUM_UNITS * RUN as u32;
            for rows in (0..edge).step_by(64 / SUM_UNITS as usize) {
                // SAFETY: the wave has written the block. Lanes read different units of it, and waves
                // have different blocks of the tile.
                unsafe {
                    let sums = self.spilled(block, rows);
                    self.product.store_run(row + rows, column, sums);
                }
            }
            number += 1;
        }
    }

    /// Row and column of the wave's first element in the workgroup's tile.
    #[inline(always)]
    fn corner(&self) -> (u32, u32) {
        let edge = T::EDGE as u32;
        (
            self.wave_row * M as u32 * edge,
            self.wave_column * N as u32 * edge,
        )
    }

    /// Sums of nothing.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.sums = BlockSums::zero(self.sums.lane);
    }

    /// The LDS of the workgroup.
    #[inline(always)]
    pub(super) fn lds(&self) -> *mut Unit {
        self.lds
    }

    /// The thread's number in its workgroup.
    #[inline(always)]
    pub(super) fn thread(&self) -> u32 {
        self.thread
    }

    /// Threads of the workgroup.
    #[inline(always)]
    pub(super) fn threads(&self) -> usize {
        self.product.kernel().block.threads()
    }

    /// The product that the workgroup works on.
    #[inline(always)]
    pub(super) fn product(&self) -> &Product<T::Element, T::Output> {
        &self.product
    }
}

/// Stages that are fetched one after the other.
pub(super) struct Fetch<E, R, const A_VECS: usize, const B_VECS: usize> {
    source: Source<E, R, A_VECS, B_VECS>,
    /// Stages that the source can still go on.
    left: u32,
}

impl<E: Bits, R: Arrangement, const A_VECS: usize, const B_VECS: usize>
    Fetch<E, R, A_VECS, B_VECS>
{
    /// The thread's units of the next stage, or of the last one again, which will not be multiplied: without
    /// a branch in the loop.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next(&mut self) -> InFlight<A_VECS, B_VECS> {
        // SAFETY: as the caller promises.
        unsafe {
            InFlight {
                a: self.next_a(),
                b: self.next_b(),
            }
        }
    }

    /// Those of A alone; those of B of the same stage come next.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next_a(&self) -> [Unit; A_VECS] {
        // SAFETY: as the caller promises.
        unsafe { self.source.panel_a.load() }
    }

    /// Those of B of the stage of which those of A came last.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next_b(&mut self) -> [Unit; B_VECS] {
        // SAFETY: as the caller promises.
        let units = unsafe { self.source.panel_b.load() };
        self.go_on();
        units
    }

    /// Goes on to the next stage, unless this is the last one.
    #[inline(always)]
    fn go_on(&mut self) {
        let step = u32::from(self.left > 0);
        self.source.advance(step);
        self.left -= step;
    }
}

impl<E: Bits, R: Arrangement, const A_VECS: usize, const B_VECS: usize>
    Source<E, R, A_VECS, B_VECS>
{
    /// From here on `stages`, not 0.
    #[inline(always)]
    pub(super) fn fetch(self, stages: u32) -> Fetch<E, R, A_VECS, B_VECS> {
        Fetch {
            source: self,
            left: stages - 1,
        }
    }

    /// Whether both operands are along k: the same in all lanes.
    #[inline(always)]
    pub(super) fn is_along_k(&self) -> bool {
        self.a.is_along_k() && self.b.is_along_k()
    }

    /// The same, where that is known to the compiler: without branches for layouts in the loop.
    #[inline(always)]
    pub(super) fn known_along_k(&self) -> Self {
        Self {
            panel_a: self.panel_a.known_along_k(),
            panel_b: self.panel_b.known_along_k(),
            ..*self
        }
    }

    /// Goes on by some stages.
    #[inline(always)]
    pub(super) fn advance(&mut self, stages: u32) {
        self.panel_a.advance(stages);
        self.panel_b.advance(stages);
    }
}
