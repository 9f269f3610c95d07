//! The parts that the steps from 11 on share: a workgroup's tile of C in large blocks of sums, accumulated stage by
//! stage.
//!
//! ```text
//! stage      one tile of A and one of B in LDS: 64 or 128 bytes of each row along k
//! step       the part of a stage for one product of blocks: 16 or 32 bytes per lane
//! block      32 × 32 sums of C (f64, WMMA and tiles of 80 rows: 16 × 16), in the registers of a wave; a wave has M × N of them
//! unit       16 bytes, which a lane moves in one access
//! ```
//!
//! A step of the ladder is a main loop over stages, made of these parts: [`Fetch`] loads a thread's units of a stage
//! from global memory into registers, [`BlockGemm::store`] writes them to LDS, [`BlockGemm::operands`] reads a wave's
//! operands of a step, [`BlockGemm::multiply`] multiplies them. `edges` handles the rest of k and tiles that overhang,
//! `epilogue` stores the sums in C, `reduction` adds the sums of several workgroups, `scales` moves the scales of types that
//! have them, `indices` those of a sparse A, and `across` reads tiles of operands across rows. Rows of a sparse A have half of
//! the bytes of B's rows.

mod across;
mod edges;
mod epilogue;
mod indices;
mod reduction;
mod scales;
#[cfg(ferrowave_gpu = "gfx950")]
pub(super) mod six_bits;

use super::Product;
use crate::{
    arch,
    matrix::Multiply,
    tile::{
        length::{Array, Length},
        operand::{LdsLayout, LdsPosition, Operand, TileLoader, UNIT_BYTES, Unit},
    },
};
use across::Places;
use ferrowave_shared::{Kernel, tile::lds_rows};
use indices::Indices;
use scales::{Scales, pieces, scales_of_a_row};

/// The configuration of a kernel: what the kernels of one step differ in.
pub(super) trait Config: Copy {
    /// The matrix instruction, and with it the element types.
    type Multiply: Multiply;
    /// The layout of a tile of A in LDS.
    type Layout: LdsLayout;
    /// The layout of a tile of B.
    type LayoutB: LdsLayout;
    /// Blocks of a wave along the rows of C (along m).
    type M: Length;
    /// Blocks of a wave along the columns of C (along n).
    type N: Length;
    /// Units of a tile of A that a thread loads.
    type AVecs: Length;
    /// Units of a tile of B that a thread loads.
    type BVecs: Length;
    /// Blocks of a row that a wave stores together, if their sums are only scaled.
    const BESIDE: usize;
    /// Rows of the tiles of A and B in LDS ([`lds_rows`]).
    const LDS_ROWS: (usize, usize);
    /// Threads that have units of the tiles of A and B: those of the first waves, or all.
    const STORING: (usize, usize);
    /// Whether threads load rows behind the workgroup's tile.
    const IS_PADDED: bool;
    /// Pieces of the scales of a stage that a thread loads.
    type Scales: Length;
    /// Bytes of each of these pieces.
    const SCALE_PIECE: usize;
    /// Words of the indices of a sparse A that a lane loads for a stage.
    type Indices: Length;
}

/// The type of the elements of A and B, as bits.
pub(super) type Element<C> = <<C as Config>::Multiply as Multiply>::Element;
/// A lane's sums of a row of a wave's blocks.
type BlockRow<C> = Array<<<C as Config>::Multiply as Multiply>::Sums, <C as Config>::N>;
/// The type of the elements of C.
pub(super) type Output<C> = <<C as Config>::Multiply as Multiply>::Output;

/// Units of a cache line.
const LINE_UNITS: usize = arch::LINE_BYTES / UNIT_BYTES;

/// How many blocks a wave and how many units a thread has: the lengths in a kernel's [`Config`].
pub(super) struct Shares {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) beside: usize,
    pub(super) a_vecs: usize,
    pub(super) b_vecs: usize,
    pub(super) lds_rows: (usize, usize),
    pub(super) storing: (usize, usize),
    pub(super) is_padded: bool,
    /// Pieces of the scales of a stage, and the bytes of each.
    pub(super) scales: usize,
    pub(super) scale_piece: usize,
    /// Words of indices.
    pub(super) indices: usize,
}

impl Shares {
    /// The shares in a row of the catalogue.
    ///
    /// # Panics
    /// If waves or threads would not have whole shares of the row's tile, or LDS would not hold whole stages.
    pub(super) const fn of<I: Multiply, L: LdsLayout, B: LdsLayout>(kernel: &Kernel) -> Self {
        let (waves_m, waves_n) = (kernel.block.y, kernel.block.x / I::LANES);
        let threads = kernel.block.threads();
        let tile = kernel.tile;
        let a_rows = lds_rows(tile.m, L::ROW_UNITS, threads);
        let b_rows = lds_rows(tile.n, B::ROW_UNITS, threads);
        let stage_bytes = a_rows * L::ROW_BYTES + b_rows * B::ROW_BYTES;
        let scales_of_a_row = scales_of_a_row(L::ROW_BYTES, I::SCALE_BYTES);
        let scales = (tile.m + tile.n) * scales_of_a_row;
        let (pieces, piece_bytes) = pieces(scales, threads, scales_of_a_row);
        let is_six_bits = kernel.types.a.bits() == 6;
        // Of a row, what is loaded together: of six-bit elements, a line of a panel.
        let row_units = if is_six_bits {
            (LINE_UNITS, LINE_UNITS)
        } else {
            (L::ROW_UNITS, B::ROW_UNITS)
        };
        let n = tile.n / (waves_n * I::EDGE);
        let block_bytes = I::EDGE * I::SUM_UNITS as usize * UNIT_BYTES;
        let blocks_in_lds = kernel.lds_bytes / (waves_m * waves_n * block_bytes);
        // So that a row of them in C is a cache line, if the wave has and LDS holds so many.
        let mut beside = 1;
        while 2 * beside * I::EDGE * size_of::<I::Output>() <= arch::LINE_BYTES
            && 2 * beside <= blocks_in_lds
            && n.is_multiple_of(2 * beside)
        {
            beside *= 2;
        }
        let m = tile.m / (waves_m * I::EDGE);
        let (a_units, b_units) = (a_rows * row_units.0, b_rows * row_units.1);
        let shares = Self {
            m,
            n,
            beside,
            a_vecs: a_units.div_ceil(threads),
            b_vecs: b_units.div_ceil(threads),
            lds_rows: (a_rows, b_rows),
            storing: (
                if a_units < threads { a_units } else { threads },
                if b_units < threads { b_units } else { threads },
            ),
            is_padded: a_rows > tile.m || b_rows > tile.n || a_units < threads || b_units < threads,
            scales: pieces,
            scale_piece: piece_bytes,
            indices: m * I::INDEX_WORDS,
        };
        // Otherwise the first row of a wave would share bits with the rows of its blocks (`LdsPosition::further`).
        assert!(
            (shares.m.is_power_of_two() || waves_m == 1)
                && (shares.n.is_power_of_two() || waves_n == 1)
                && tile.m == waves_m * shares.m * I::EDGE
                && tile.n == waves_n * shares.n * I::EDGE,
            "waves must have whole blocks of the tile, and several waves a power of two of them"
        );
        // Of small blocks, a row.
        let blocks = if I::SMALL_BLOCKS { n } else { 1 };
        assert!(
            blocks <= blocks_in_lds || kernel.lds_bytes == 0,
            "LDS must hold the blocks of sums that waves store at once"
        );
        if is_six_bits {
            return shares;
        }
        assert!(
            kernel
                .lds_bytes
                .is_multiple_of(stage_bytes + (tile.m + tile.n) * scales_of_a_row)
                && tile
                    .k
                    .is_multiple_of(B::ROW_BYTES / size_of::<I::Element>())
                && B::ROW_UNITS == I::B_UNITS * L::ROW_UNITS,
            "LDS and a round of the main loop must have whole stages"
        );
        // Without LDS, waves load their operands and store their sums by themselves.
        if kernel.lds_bytes == 0 {
            return shares;
        }
        assert!(
            scales == threads * pieces * piece_bytes,
            "threads must have whole pieces of the scales"
        );
        shares
    }
}

/// The calling thread's view of a workgroup's product.
///
/// The catalogue row's block is `lanes of a wave · columns of waves` × `rows of waves`.
pub(super) struct BlockGemm<C: Config> {
    product: Product<Element<C>, Output<C>>,
    /// The thread's number in its workgroup.
    thread: u32,
    /// The lane's number in its wave.
    lane: u32,
    wave_row: u32,
    wave_column: u32,
    /// Where the lane's first units are in the tiles of A and B.
    a: LdsPosition<C::Layout>,
    b: LdsPosition<C::LayoutB>,
    /// Where the lane's first reads are in tiles that stay across rows.
    across: Places<C>,
    /// The tiles in LDS, one stage after the other.
    lds: *mut Unit,
    /// The lane's sums of the wave's blocks.
    sums: Array<BlockRow<C>, C::M>,
    /// The lane's indices of the stages in LDS, if A is sparse.
    indices: [Array<u32, C::Indices>; 2],
}

/// A thread's units of a stage, between global memory and LDS.
#[derive(Clone, Copy)]
pub(super) struct InFlight<C: Config> {
    pub(super) a: Array<Unit, C::AVecs>,
    pub(super) b: Array<Unit, C::BVecs>,
    pub(super) scales: Array<u32, C::Scales>,
    pub(super) indices: Array<u32, C::Indices>,
}

/// A wave's operands of one step.
pub(super) struct Operands<C: Config> {
    a: Array<<C::Multiply as Multiply>::Operand, C::M>,
    b: Array<<C::Multiply as Multiply>::OperandB, C::N>,
}

impl<C: Config> BlockGemm<C> {
    /// Elements along k in a stage: a row of B in LDS.
    pub(super) const STAGE_K: u32 = (C::LayoutB::ROW_BYTES / size_of::<Element<C>>()) as u32;
    /// Lanes of a wave.
    const LANES: usize = C::Multiply::LANES;
    /// Steps of the matrix cores in a stage.
    pub(super) const STEPS: u32 = (C::Layout::ROW_UNITS / C::Multiply::STEP_UNITS) as u32;
    /// Elements along k for each one that A stores.
    const A_STEP: u32 = C::Multiply::B_UNITS as u32;
    /// Whether tiles in main loops [may stay across rows](TileLoader::new). A wave with 128 sums a lane has no registers for the
    /// addresses of their reads.
    const MAY_STAY_ACROSS: bool = C::Layout::IS_READ_ACROSS
        && Self::M * Self::N * C::Multiply::EDGE * C::Multiply::EDGE / Self::LANES < 128;
    /// Blocks of a wave along m and n.
    pub(super) const M: usize = C::M::LEN;
    pub(super) const N: usize = C::N::LEN;

    /// The thread's view, with sums of 0.
    ///
    /// # Safety
    /// The kernel was launched with the row's block and LDS, and `C` is the row's.
    #[inline(always)]
    pub(super) unsafe fn new(product: Product<Element<C>, Output<C>>) -> Self {
        let kernel = product.kernel();
        let columns = (kernel.block.x / Self::LANES) as u32;
        // SAFETY: the block is the row's, as the caller promises.
        let (thread, wave) = unsafe { arch::thread_and_wave(kernel.block, Self::LANES) };
        let lane = thread % Self::LANES as u32;
        let (wave_row, wave_column) = (wave / columns, wave % columns);
        let edge = C::Multiply::EDGE as u32;
        let ((row, column), unit) = (
            C::Multiply::rows(lane),
            lane / edge % C::Multiply::K_GROUPS as u32,
        );
        Self {
            thread,
            lane,
            wave_row,
            wave_column,
            a: LdsPosition::new(wave_row * Self::M as u32 * edge + row, unit),
            b: LdsPosition::new(
                wave_column * Self::N as u32 * edge + column,
                unit * C::Multiply::B_GROUP_UNITS as u32,
            ),
            across: Places::NONE,
            lds: arch::launch_lds(),
            sums: C::M::splat(C::N::splat(C::Multiply::ZERO)),
            indices: [C::Indices::splat(0); 2],
            product,
        }
    }

    /// Which half of the workgroup's waves the calling wave is in. Uniform.
    #[inline(always)]
    pub(super) fn half(&self) -> u32 {
        let kernel = self.product.kernel();
        let columns = (kernel.block.x / Self::LANES) as u32;
        let waves = (kernel.block.threads() / Self::LANES) as u32;
        (self.wave_row * columns + self.wave_column) / (waves / 2)
    }

    /// Threads of the workgroup.
    #[inline(always)]
    fn threads(&self) -> usize {
        self.product.kernel().block.threads()
    }

    /// The workgroup's operands from `k` on, whose tiles [may stay across rows](TileLoader::new); `None` if the problem's k is 0.
    #[inline(always)]
    fn source(&self, k: u32, may_stay_across: bool) -> Option<Source<C>> {
        if C::IS_PADDED {
            return self.padded_source(k, may_stay_across);
        }
        let (a, b) = self.product.operands()?;
        let (thread, threads) = (self.thread, self.threads());
        Some(Source {
            loader_a: TileLoader::new(&a, thread, threads, k / Self::A_STEP, may_stay_across),
            loader_b: TileLoader::new(&b, thread, threads, k, may_stay_across),
            scales: self.scales(k),
            indices: self.indices(k),
            a,
            b,
        })
    }

    /// The same if threads load rows behind the tile. The operands end with the tile: these are its last rows, which are loaded
    /// anyway.
    #[inline(always)]
    fn padded_source(&self, k: u32, may_stay_across: bool) -> Option<Source<C>> {
        let (a, b) = self.product.operands()?;
        let tile = self.product.kernel().tile;
        let (a, b) = (a.first(tile.m), b.first(tile.n));
        let (thread, (threads_a, threads_b)) = (self.thread, C::STORING);
        Some(Source {
            loader_a: TileLoader::new(&a, thread, threads_a, k / Self::A_STEP, may_stay_across),
            loader_b: TileLoader::new(&b, thread, threads_b, k, may_stay_across),
            scales: self.scales(k),
            indices: self.indices(k),
            a,
            b,
        })
    }

    /// The tiles of stage buffer `stage`.
    #[inline(always)]
    fn tiles(&self, stage: usize) -> (*mut Unit, *mut Unit) {
        if C::IS_PADDED {
            return self.tiles_of_rows(stage, C::LDS_ROWS);
        }
        let tile = self.product.kernel().tile;
        self.tiles_of_rows(stage, (tile.m, tile.n))
    }

    /// The same for tiles of this many rows in LDS.
    #[inline(always)]
    fn tiles_of_rows(&self, stage: usize, (m, n): (usize, usize)) -> (*mut Unit, *mut Unit) {
        let (a_units, b_units) = (m * C::Layout::ROW_UNITS, n * C::LayoutB::ROW_UNITS);
        let a = self.lds.wrapping_add(stage * (a_units + b_units));
        (a, a.wrapping_add(a_units))
    }

    /// Writes the thread's units to a stage buffer.
    ///
    /// # Safety
    /// No thread reads the buffer until it has waited for this one.
    #[inline(always)]
    pub(super) unsafe fn store(&mut self, fetch: &Fetch<C>, stage: usize, units: InFlight<C>) {
        // SAFETY: as the caller promises.
        unsafe {
            self.store_a(fetch, stage, units.a);
            self.store_b(fetch, stage, units.b);
            self.store_scales(stage, units.scales);
        }
        self.store_indices(stage, units.indices);
    }

    /// Keeps the lane's indices of a stage.
    #[inline(always)]
    pub(super) fn store_indices(&mut self, stage: usize, indices: Array<u32, C::Indices>) {
        self.indices[stage] = indices;
    }

    /// Writes the thread's units of A.
    ///
    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    pub(super) unsafe fn store_a(
        &self,
        fetch: &Fetch<C>,
        stage: usize,
        units: Array<Unit, C::AVecs>,
    ) {
        let (a, _) = self.tiles(stage);
        if self.stores(C::STORING.0) {
            // SAFETY: the tile is in the LDS of the row's launch, and no thread reads it.
            unsafe { fetch.source.loader_a.store(a, C::STORING.0, units) };
        }
    }

    /// Writes the thread's units of B.
    ///
    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    pub(super) unsafe fn store_b(
        &self,
        fetch: &Fetch<C>,
        stage: usize,
        units: Array<Unit, C::BVecs>,
    ) {
        let (_, b) = self.tiles(stage);
        if self.stores(C::STORING.1) {
            // SAFETY: as in `store_a`.
            unsafe { fetch.source.loader_b.store(b, C::STORING.1, units) };
        }
    }

    /// Whether the thread is one of the first `storing`, which are whole waves. Uniform.
    #[inline(always)]
    fn stores(&self, storing: usize) -> bool {
        storing == self.threads() || (arch::readfirstlane(self.thread) as usize) < storing
    }

    /// The wave's operands of a step, from a stage buffer.
    ///
    /// # Safety
    /// The threads have filled the buffer, and none writes to it until it has waited for this one.
    #[inline(always)]
    pub(super) unsafe fn operands(&self, stage: usize, step: u32) -> Operands<C> {
        let (a, b) = self.tiles(stage);
        // SAFETY: as the caller promises.
        unsafe {
            Operands {
                a: self.read_a(a, self.a, stage, step, self.scale_rows().0),
                b: self.read_b(b, self.b, stage, step, self.scale_rows().1),
            }
        }
    }

    /// The same for a loop over steps, of which the compiler does not know the step: the positions of all reads follow from two.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[inline(always)]
    unsafe fn operands_of_loop(&self, stage: usize, step: u32) -> Operands<C> {
        let (a, b) = self.tiles(stage);
        let unit = step * C::Multiply::STEP_UNITS as u32;
        // SAFETY: as the caller promises.
        unsafe {
            Operands {
                a: self.read_a(a, self.a.unit(unit), stage, 0, 0),
                b: self.read_b(b, self.b.unit(unit), stage, 0, 0),
            }
        }
    }

    /// The rows of the lane's first scales of A and of B.
    #[inline(always)]
    fn scale_rows(&self) -> (u32, u32) {
        let edge = C::Multiply::EDGE as u32;
        let row = self.lane % edge;
        let tile = self.product.kernel().tile;
        (
            self.wave_row * Self::M as u32 * edge + row,
            tile.m as u32 + self.wave_column * Self::N as u32 * edge + row,
        )
    }

    /// [`operands`](Self::operands) at addresses that are computed again, for loops in which the compiler has no
    /// registers to keep them.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[cfg(ferrowave_gpu = "gfx950")]
    #[inline(always)]
    pub(super) unsafe fn recomputed_operands(&self, stage: usize, step: u32) -> Operands<C> {
        let (a, b) = self.tiles(stage);
        let zero = crate::opaque_zero();
        let (rows_a, rows_b) = self.scale_rows();
        // SAFETY: as the caller promises.
        unsafe {
            Operands {
                a: self.read_a(a, self.a.plus(zero), stage, step, rows_a + zero),
                b: self.read_b(b, self.b.plus(zero), stage, step, rows_b + zero),
            }
        }
    }

    /// Reads the operands of the rows of blocks, whose scales begin with those of row `scale_row`.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[inline(always)]
    unsafe fn read_a(
        &self,
        tile: *mut Unit,
        position: LdsPosition<C::Layout>,
        stage: usize,
        step: u32,
        scale_row: u32,
    ) -> Array<<C::Multiply as Multiply>::Operand, C::M> {
        C::M::from_fn(
            #[inline(always)]
            |block| {
                C::Multiply::operand(
                    #[inline(always)]
                    |row, unit| {
                        let unit = step * C::Multiply::STEP_UNITS as u32 + unit;
                        if Self::MAY_STAY_ACROSS
                            && let Some(place) = self.across.a
                        {
                            // SAFETY: as below.
                            return unsafe { place.read::<C>(tile, C::LDS_ROWS.0, block, unit) };
                        }
                        let row = (block * C::Multiply::EDGE) as u32 + row;
                        let position = position.further(row, unit);
                        // SAFETY: the position is that of a unit of the tile, which has been written.
                        unsafe { tile.add(position).read() }
                    },
                    #[inline(always)]
                    || {
                        if C::Multiply::INDEX_WORDS > 0 {
                            return self.indices_of_block(stage, block, step);
                        }
                        let row = scale_row + (block * C::Multiply::EDGE) as u32;
                        // SAFETY: the row is one of the tiles', whose scales have been written.
                        unsafe { self.scale(stage, row, step) }
                    },
                )
            },
        )
    }

    /// The same for the columns of blocks.
    ///
    /// # Safety
    /// As [`operands`](Self::operands).
    #[inline(always)]
    unsafe fn read_b(
        &self,
        tile: *mut Unit,
        position: LdsPosition<C::LayoutB>,
        stage: usize,
        step: u32,
        scale_row: u32,
    ) -> Array<<C::Multiply as Multiply>::OperandB, C::N> {
        let step_units = (C::Multiply::STEP_UNITS * C::Multiply::B_UNITS) as u32;
        C::N::from_fn(
            #[inline(always)]
            |block| {
                C::Multiply::operand_b(
                    #[inline(always)]
                    |row, unit| {
                        let unit = step * step_units + unit;
                        if Self::MAY_STAY_ACROSS
                            && let Some(place) = self.across.b
                        {
                            // SAFETY: as below.
                            return unsafe { place.read::<C>(tile, C::LDS_ROWS.1, block, unit) };
                        }
                        let row = (block * C::Multiply::EDGE) as u32 + row;
                        let position = position.further(row, unit);
                        // SAFETY: as in `read_a`.
                        unsafe { tile.add(position).read() }
                    },
                    #[inline(always)]
                    || {
                        let row = scale_row + (block * C::Multiply::EDGE) as u32;
                        // SAFETY: as in `read_a`.
                        unsafe { self.scale(stage, row, step) }
                    },
                )
            },
        )
    }

    /// Multiplies the operands of a step.
    #[inline(always)]
    pub(super) fn multiply(&mut self, operands: &Operands<C>) {
        self.multiply_rows(operands, 0, Self::M);
    }

    /// Multiplies the operands of a step for the rows of blocks from `first` up to `end`.
    #[inline(always)]
    pub(super) fn multiply_rows(&mut self, operands: &Operands<C>, first: usize, end: usize) {
        for part in 0..C::Multiply::INSTRUCTIONS {
            for i in first..end {
                for j in 0..Self::N {
                    let (a, b) = (operands.a[i], operands.b[j]);
                    self.sums[i][j] = C::Multiply::multiply(part, a, b, self.sums[i][j]);
                }
            }
            // An instruction waits if it adds to the sums of the one before it; so each part goes through all blocks.
            arch::sched_barrier_matrix();
        }
    }

    /// Computes the whole tile, with as many stages as possible, a multiple of `TOGETHER`, in `main_loop`, and updates C.
    ///
    /// `main_loop` is inlined for each layout of the operands, which the compiler then knows.
    ///
    /// # Safety
    /// `main_loop(gemm, source, stages)` multiplies that many whole stages, a multiple of `TOGETHER`, and every thread
    /// waits for its accesses to LDS by the next barrier. All threads of the workgroup call this; no other
    /// workgroup has this tile.
    #[inline(always)]
    pub(super) unsafe fn compute<const TOGETHER: u32>(
        mut self,
        main_loop: impl Fn(&mut Self, Source<C>, u32),
    ) {
        let k = self.product.k();
        // SAFETY: as the caller promises.
        unsafe {
            self.sum_up::<TOGETHER>(0, k, main_loop);
            self.finish();
        }
    }

    /// Adds the products from `k` to `end`.
    ///
    /// # Safety
    /// As [`compute`](Self::compute).
    #[inline(always)]
    pub(super) unsafe fn sum_up<const TOGETHER: u32>(
        &mut self,
        k: u32,
        end: u32,
        main_loop: impl Fn(&mut Self, Source<C>, u32),
    ) {
        let Some(source) = self.source(k, Self::MAY_STAY_ACROSS) else {
            return;
        };
        let stages = self.whole_stages(&source, k, end) / TOGETHER * TOGETHER;
        // The same in all lanes.
        if stages > 0 {
            match (source.a.is_along_k(), source.b.is_along_k()) {
                // The host lets no other layout through.
                _ if C::Multiply::SCALE_BYTES > 0 || C::Multiply::INDEX_WORDS > 0 => {
                    let source = self.known(&source, true, true);
                    main_loop(self, source, stages);
                }
                (true, true) => {
                    let source = self.known(&source, true, true);
                    main_loop(self, source, stages);
                }
                (true, false) => {
                    let source = self.known(&source, true, false);
                    main_loop(self, source, stages);
                }
                (false, true) => {
                    let source = self.known(&source, false, true);
                    main_loop(self, source, stages);
                }
                (false, false) => {
                    let source = self.known(&source, false, false);
                    main_loop(self, source, stages);
                }
            }
            self.across = Places::NONE;
        }
        // SAFETY: as the caller promises.
        unsafe { self.rest(k + stages * Self::STAGE_K, end) };
    }

    /// A source of which the compiler knows the layouts. What is read next is of these.
    #[inline(always)]
    fn known(&mut self, source: &Source<C>, a_along_k: bool, b_along_k: bool) -> Source<C> {
        let source = source.known(a_along_k, b_along_k);
        if Self::MAY_STAY_ACROSS {
            self.across = self.places(&source);
        }
        source
    }
}

/// The operands of a workgroup, and the calling thread's shares of them.
#[derive(Clone, Copy)]
pub(super) struct Source<C: Config> {
    a: Operand<Element<C>>,
    b: Operand<Element<C>>,
    loader_a: TileLoader<Element<C>, C::Layout, C::AVecs>,
    loader_b: TileLoader<Element<C>, C::LayoutB, C::BVecs>,
    scales: Scales<C>,
    indices: Indices<C>,
}

impl<C: Config> Source<C> {
    /// Fetches the next `stages` stages, not 0.
    #[inline(always)]
    pub(super) fn fetch(self, stages: u32) -> Fetch<C> {
        Fetch {
            source: self,
            left: stages - 1,
        }
    }

    /// The same source, for operands of which the compiler knows whether they are along k: it then needs no branches for
    /// layouts in the loop.
    #[inline(always)]
    fn known(&self, a_along_k: bool, b_along_k: bool) -> Self {
        let may_stay_across = BlockGemm::<C>::MAY_STAY_ACROSS;
        let (threads_a, threads_b) = C::STORING;
        Self {
            loader_a: (self.loader_a).known(a_along_k, threads_a, may_stay_across),
            loader_b: (self.loader_b).known(b_along_k, threads_b, may_stay_across),
            ..*self
        }
    }
}

/// Fetches stages one after the other.
pub(super) struct Fetch<C: Config> {
    source: Source<C>,
    /// Stages that the source can still advance.
    left: u32,
}

impl<C: Config> Fetch<C> {
    /// The thread's units of the next stage. After the last stage they are the last stage's again, which are not
    /// multiplied, so that the loop needs no branch.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next(&mut self) -> InFlight<C> {
        // SAFETY: as the caller promises.
        unsafe {
            InFlight {
                scales: self.next_scales(),
                indices: self.next_indices(),
                a: self.next_a(),
                b: self.next_b(),
            }
        }
    }

    /// The pieces of the scales of the next stage. [`next_b`](Self::next_b) must follow.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next_scales(&self) -> Array<u32, C::Scales> {
        // SAFETY: as the caller promises.
        unsafe { self.source.scales.load() }
    }

    /// The lane's indices of the next stage, likewise.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next_indices(&self) -> Array<u32, C::Indices> {
        // SAFETY: as the caller promises.
        unsafe { self.source.indices.load() }
    }

    /// The units of A of the next stage. [`next_b`](Self::next_b) must follow.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next_a(&self) -> Array<Unit, C::AVecs> {
        // SAFETY: as the caller promises.
        unsafe { self.source.loader_a.load() }
    }

    /// The units of B of the stage whose units of A were loaded last.
    ///
    /// # Safety
    /// The stages are whole.
    #[inline(always)]
    pub(super) unsafe fn next_b(&mut self) -> Array<Unit, C::BVecs> {
        // SAFETY: as the caller promises.
        let units = unsafe { self.source.loader_b.load() };
        self.advance();
        units
    }

    /// Whether neither operand is along k.
    #[inline(always)]
    pub(super) fn transposes_both(&self) -> bool {
        !self.source.loader_a.along_k && !self.source.loader_b.along_k
    }

    /// Advances to the next stage, unless this is the last one.
    #[inline(always)]
    fn advance(&mut self) {
        // LLVM compiles a comparison to masks of lanes, which take more instructions.
        let stages = self.left.min(1);
        self.source.loader_a.advance(stages);
        self.source.loader_b.advance(stages);
        self.source.scales.advance(stages);
        self.source.indices.advance(stages);
        self.left -= stages;
    }
}

/// Loads straight to LDS.
#[cfg(ferrowave_gpu = "gfx950")]
impl<C: Config> BlockGemm<C> {
    /// The workgroup's operands for [`load_to_lds`](Self::load_to_lds); `None` if k = 0.
    #[inline(always)]
    pub(super) fn direct_source(&self) -> Option<Source<C>> {
        const { assert!(C::Multiply::SCALE_BYTES == 0, "scales go through registers") }
        let (a, b) = self.product.operands()?;
        Some(Source {
            loader_a: TileLoader::in_place(&a, self.thread, self.threads()),
            loader_b: TileLoader::in_place(&b, self.thread, self.threads()),
            scales: self.scales(0),
            indices: self.indices(0),
            a,
            b,
        })
    }

    /// Loads the thread's units of the next stage, or of the last one again, straight to a stage buffer.
    ///
    /// # Safety
    /// The stages are whole and along k, and the source is a [`direct_source`](Self::direct_source). No thread reads
    /// the buffer until this one has waited for its loads and a barrier has followed.
    #[inline(always)]
    pub(super) unsafe fn load_to_lds(&self, fetch: &mut Fetch<C>, stage: usize) {
        let (a, b) = self.tiles(stage);
        let first = arch::readfirstlane(self.thread) as usize / Self::LANES * Self::LANES;
        let (loader_a, loader_b) = (&fetch.source.loader_a, &fetch.source.loader_b);
        // SAFETY: as the caller promises. Unit number i of a wave's first lane goes to position i · threads + `first`
        // of the tile, and those of the other lanes follow.
        unsafe {
            for i in 0..C::AVecs::LEN {
                arch::load_unit_to_lds(
                    loader_a.pointer(i).cast(),
                    a.add(i * self.threads() + first),
                );
            }
            for i in 0..C::BVecs::LEN {
                arch::load_unit_to_lds(
                    loader_b.pointer(i).cast(),
                    b.add(i * self.threads() + first),
                );
            }
        }
        fetch.advance();
    }

    /// The same source from k = 0 on, with addresses computed again. Otherwise the compiler would keep the addresses
    /// for one layout in registers throughout the loop for the other.
    #[inline(always)]
    pub(super) fn recomputed_source(&self, source: &Source<C>) -> Source<C> {
        let (thread, threads) = (self.thread + crate::opaque_zero(), self.threads());
        Source {
            loader_a: source.loader_a.recomputed(&source.a, thread, threads, 0),
            loader_b: source.loader_b.recomputed(&source.b, thread, threads, 0),
            ..*source
        }
    }
}
