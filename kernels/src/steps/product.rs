//! The part of a problem that a workgroup computes.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use crate::{
    arch,
    tile::{
        element::{Accumulator, Activation, Stored, each},
        epilogue::{Epilogue, MOST_RUNS, Operation, RunElements, Runs},
        global::{Input, Strides},
        operand::{Operand, Unit},
        output::{Addend, Fragment, Output, Place, Plain},
        registers::Scalar,
    },
};
use ferrowave_shared::{
    Bias, BlockTile, ElementType, FragmentOp, GemmParameters, GroupMember, Kernel, OutputType,
    ScaleParameters, TileOrder,
    catalogue::{Access, Reduction},
    sparse,
    workspace::{self, Workspace},
};

/// The types to which sums of a C are converted.
type AsF32<C> = <<C as Stored>::Sum as Accumulator>::AsF32;
type AsF16<C> = <<C as Stored>::Sum as Accumulator>::AsF16;
type AsBf16<C> = <<C as Stored>::Sum as Accumulator>::AsBf16;
type AsFp8<C> = <<C as Stored>::Sum as Accumulator>::AsFp8;
type AsBf8<C> = <<C as Stored>::Sum as Accumulator>::AsBf8;

/// Evaluates an expression of a [matrix](Product::matrix), with elements of the type that the launch chose for C. The type is
/// uniform.
macro_rules! with_matrix {
    ($product:ident, $start:expr, $output:expr, $matrix:ident => $use:expr) => {
        match $output {
            OutputType::OfKernel => {
                let $matrix = $product.matrix::<C>($start);
                $use
            }
            OutputType::F32 => {
                let $matrix = $product.matrix::<AsF32<C>>($start);
                $use
            }
            OutputType::F16 => {
                let $matrix = $product.matrix::<AsF16<C>>($start);
                $use
            }
            OutputType::Bf16 => {
                let $matrix = $product.matrix::<AsBf16<C>>($start);
                $use
            }
            OutputType::Float8
                if matches!(
                    $product.kernel.types.a,
                    ElementType::Bf8 | ElementType::Bf8Fnuz | ElementType::Mxbf8
                ) =>
            {
                let $matrix = $product.matrix::<AsBf8<C>>($start);
                $use
            }
            OutputType::Float8 => {
                let $matrix = $product.matrix::<AsFp8<C>>($start);
                $use
            }
        }
    };
}

/// The device addresses in a kernel's arguments.
#[derive(Clone, Copy)]
pub(super) struct Pointers<A, C> {
    pub(super) a: *const A,
    pub(super) b: *const A,
    pub(super) c: *mut C,
    pub(super) bias: *const C,
    /// The workspace of kernels that divide k.
    pub(super) workspace: *mut u8,
    /// Where the largest magnitude of results goes.
    pub(super) amax: *mut u32,
    /// Where the epilogue's input goes.
    pub(super) input: *mut C,
    /// The scales of types that have them, or the indices of a sparse A; else null.
    pub(super) scale_a: *const u8,
    pub(super) scale_b: *const u8,
}

/// One workgroup's product: the rows of A, the columns of B and the elements of C that it works on.
///
/// Rows and columns count from the corner of the workgroup's tile. The matrices end where the
/// problem's end, and not with the tile, so that a step sees where its tile overhangs.
#[derive(Clone, Copy)]
pub(super) struct Product<A, C> {
    pointers: Pointers<A, C>,
    kernel: &'static Kernel,
    row: u32,
    column: u32,
    /// For [`Reduction::SplitK`], the number of its tile, and of its part of k.
    tile_and_part: (u32, u32),
    /// How many strides its matrices are behind those of the arguments.
    batch: u32,
    /// How many elements its bias is behind that of the arguments.
    distance_bias: usize,
    /// How many elements its epilogue's input is behind that of the arguments.
    skipped_input: usize,
    parameters: GemmParameters,
}

/// Whether the GPU's products have more than one XCD.
const SEVERAL_XCDS: bool = cfg!(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"));

/// Loads what every workgroup of a kernel from step 11 on needs with one wait.
#[inline(always)]
fn at_once<A, C>(kernel: &Kernel, pointers: &Pointers<A, C>, p: &GemmParameters) {
    if !matches!(kernel.access, Access::Elements) {
        arch::at_once([
            p.m,
            p.n,
            p.k,
            p.lda,
            p.ldb,
            p.ldc,
            p.order,
            p.parts,
            pointers.a as usize as u32,
            pointers.b as usize as u32,
            p.stride_a as u32,
            p.stride_b as u32,
        ]);
    }
}

impl<A: Copy, C: Stored> Product<A, C> {
    /// The calling workgroup's product. In a group, the product [may have no tile](Self::has_tile) for the workgroup.
    ///
    /// # Safety
    /// For as long as the value is used, the three matrices and the bias are as described by
    /// [`GemmParameters`], C overlaps none of the others, and the grid is that of `kernel` for the problem or the group.
    #[inline(always)]
    pub(super) unsafe fn of_workgroup(
        pointers: Pointers<A, C>,
        parameters: GemmParameters,
        scales: ScaleParameters,
        kernel: &'static Kernel,
    ) -> Self {
        let workgroup = arch::workgroup();
        let is_group = kernel.computes_groups() && parameters.options.is_group();
        // Before the branch: behind it, they would be waited for once more.
        at_once(kernel, &pointers, &parameters);
        let (parameters, scales, batch, distance_bias, distance_amax, distance_input) = if is_group
        {
            let group = pointers.workspace.cast::<GroupMember>();
            // SAFETY: a group has a member for each workgroup along z.
            let member = unsafe { group.add(workgroup.z as usize).read() };
            at_once(kernel, &pointers, &member.parameters);
            (
                member.parameters,
                member.scales,
                1,
                member.distance_bias as usize,
                member.distance_amax as usize,
                member.distance_input as usize,
            )
        } else {
            (parameters, scales, workgroup.z, 0, 0, 0)
        };
        let Pointers {
            a,
            b,
            c,
            amax,
            input,
            scale_a,
            scale_b,
            ..
        } = pointers;
        // The first product needs no strides, for which a workgroup would wait, and no multiplications of 64 bits. Only in step 16:
        // with the branch, `mfma_fragment` and `direct_to_vgpr` spill scalars.
        let (pointers, skipped_input) =
            if matches!(kernel.reduction, Reduction::SplitK) && batch == 0 {
                (pointers, 0)
            } else {
                let skip = batch as usize;
                let skipped_input = if is_group {
                    distance_input
                } else {
                    skip * parameters.stride_c as usize
                };
                let pointers = Pointers {
                    a: a.wrapping_add(skip.wrapping_mul(parameters.stride_a as usize)),
                    b: b.wrapping_add(skip.wrapping_mul(parameters.stride_b as usize)),
                    c: c.wrapping_add(skip.wrapping_mul(parameters.stride_c as usize)),
                    amax: amax.wrapping_add(distance_amax),
                    input: input.wrapping_add(skipped_input),
                    scale_a: scale_a.wrapping_add(skip.wrapping_mul(scales.stride_a as usize)),
                    scale_b: scale_b.wrapping_add(skip.wrapping_mul(scales.stride_b as usize)),
                    ..pointers
                };
                (pointers, skipped_input)
            };
        let product = Self {
            pointers,
            kernel,
            row: workgroup.y * kernel.tile.m as u32,
            column: workgroup.x * kernel.tile.n as u32,
            tile_and_part: (0, 0),
            batch,
            distance_bias,
            skipped_input,
            parameters,
        };
        match (kernel.order, kernel.reduction) {
            (TileOrder::Plane, _) => product,
            (TileOrder::Linear, Reduction::None | Reduction::SplitK)
                if parameters.order & TileOrder::PLANE_GRID != 0 =>
            {
                product
            }
            // SAFETY: the grid has one workgroup per tile.
            (TileOrder::Linear, Reduction::None) => unsafe {
                product.at_tile(product.number(product.tiles()))
            },
            // SAFETY: the grid has `parts` workgroups per tile. Those of a group without a tile use nothing of the product.
            (TileOrder::Linear, Reduction::SplitK) => unsafe {
                let tile_and_part = product.assigned();
                Self {
                    tile_and_part,
                    ..product.at_tile(tile_and_part.0)
                }
            },
            // Its workgroups go from tile to tile.
            (TileOrder::Linear, Reduction::StreamK) => product,
        }
    }

    /// Whether there is a tile for the calling workgroup: in a group, not each product has as many as the grid. Uniform.
    #[inline(always)]
    pub(super) fn has_tile(&self) -> bool {
        let is_group = self.kernel.computes_groups() && self.parameters.options.is_group();
        // LLVM compiles `||` to masks of lanes, which take more instructions.
        let tiles = if is_group { self.tiles() } else { u32::MAX };
        arch::workgroup().x < tiles
    }

    /// The number of the calling workgroup, of `count` in its product: those of one XCD have consecutive numbers.
    #[inline(always)]
    pub(super) fn number(&self, count: u32) -> u32 {
        let (x, xcds) = (arch::workgroup().x, self.parameters.order & 0xffff);
        // Four divisions less.
        if !SEVERAL_XCDS || xcds == 1 {
            return x;
        }
        // SAFETY: the host counts at least one XCD.
        unsafe { core::hint::assert_unchecked(xcds != 0) };
        TileOrder::by_xcd(x, count, xcds)
    }

    /// The tile and the part of the calling workgroup, for [`Reduction::SplitK`].
    #[inline(always)]
    pub(super) fn tile_and_part(&self) -> (u32, u32) {
        self.tile_and_part
    }

    /// Computes [`tile_and_part`](Self::tile_and_part) from the workgroup's place in the grid.
    #[inline(always)]
    fn assigned(&self) -> (u32, u32) {
        let tiles = self.tiles();
        let number = self.number(tiles * self.parts());
        // Two divisions less.
        if self.parts() == 1 {
            return (number, 0);
        }
        // SAFETY: the grid has a tile.
        unsafe { core::hint::assert_unchecked(tiles != 0) };
        workspace::split_k(number, tiles)
    }

    /// The same product at the tile with this number, in linear order.
    ///
    /// # Safety
    /// There is a tile with this number, and the calling workgroup may update C there.
    #[inline(always)]
    pub(super) unsafe fn at_tile(self, number: u32) -> Self {
        let BlockTile { m, n, .. } = self.kernel.tile;
        let p = &self.parameters;
        let (rows, columns) = (p.m.div_ceil(m as u32), p.n.div_ceil(n as u32));
        // SAFETY: there is a tile.
        unsafe { core::hint::assert_unchecked(rows != 0 && columns != 0) };
        let (row, column) = TileOrder::place(number, rows, columns, p.order >> 16);
        Self {
            row: row * m as u32,
            column: column * n as u32,
            ..self
        }
    }

    /// Tiles of a product.
    #[inline(always)]
    pub(super) fn tiles(&self) -> u32 {
        let BlockTile { m, n, .. } = self.kernel.tile;
        self.parameters.m.div_ceil(m as u32) * self.parameters.n.div_ceil(n as u32)
    }

    /// The number of parts, for a kernel that divides k.
    #[inline(always)]
    pub(super) fn parts(&self) -> u32 {
        self.parameters.parts
    }

    /// The counter of a tile in the workspace, and the address of a slot.
    #[inline(always)]
    pub(super) fn shared(&self, tile: u32) -> (*mut u32, impl Fn(u32) -> *mut u8 + use<A, C>) {
        let (batch, start) = (arch::workgroup().z, self.pointers.workspace);
        let workspace = Workspace::new(
            self.kernel,
            self.tiles(),
            self.parameters.parts,
            self.parameters.batch,
        );
        let counter = workspace.counter_offset_bytes(batch, tile) as usize;
        (start.wrapping_add(counter).cast(), move |slot| {
            let offset = workspace.slot_offset_bytes(batch, slot.into());
            start.wrapping_add(offset as usize)
        })
    }

    /// The rows of A from the tile's first on, and the columns of B from the tile's first on.
    /// `None` if k = 0. Uniform.
    #[inline(always)]
    pub(super) fn factors(&self) -> Option<(Input<A>, Input<A>)>
    where
        A: Scalar,
    {
        let p = &self.parameters;
        if p.k == 0 {
            return None;
        }
        let strides_a = Strides::new(p.lda, p.options.column_major_a());
        let strides_b = Strides::new(p.ldb, p.options.column_major_b());
        // SAFETY: `of_workgroup`'s caller promised the matrices. None is empty, since k > 0 and the
        // grid has a workgroup, and every tile of the grid has an element.
        unsafe {
            let a = Input::new(self.pointers.a, p.m, p.k, strides_a).part(self.row, 0);
            let b = Input::new(self.pointers.b, p.k, p.n, strides_b).part(0, self.column);
            Some((a, b))
        }
    }

    /// The rows of A from the tile's first on, and the columns of B, as the matrix cores take them.
    /// `None` if k = 0. Uniform.
    #[inline(always)]
    pub(super) fn operands(&self) -> Option<(Operand<A>, Operand<A>)> {
        let p = &self.parameters;
        if p.k == 0 {
            return None;
        }
        let operand = |start: *const A, first: u32, extent: u32, strides: Strides| Operand {
            start: start.wrapping_add(strides.offset(first, 0)),
            before: first,
            rows: extent - first,
            k: p.k,
            strides,
            paired: 0,
        };
        let strides_a = Strides::new(p.lda, p.options.column_major_a());
        // The operand's rows are the columns of B.
        let strides_b = Strides::new(p.ldb, !p.options.column_major_b());
        let Pointers { a, b, .. } = self.pointers;
        let (mut a, b) = (
            operand(a, self.row, p.m, strides_a),
            operand(b, self.column, p.n, strides_b),
        );
        let types = self.kernel.types;
        if types.is_sparse {
            // Tiles begin at even rows. The zeros at the end of a row are whole chunks with it.
            a.paired = sparse::Elements::chunk(types.a);
            a.k = p.lda;
        }
        Some((a, b))
    }

    /// The first scale of the tile of A or of B, and the row of this tile that has the scales of row `row` of both tiles,
    /// where B's rows are behind A's: rows outside the matrix have the scales of its last row. A scale is of `bytes` bytes
    /// along k.
    #[inline(always)]
    pub(super) fn scales_of_row(&self, row: u32, is_b: bool, bytes: usize) -> (*const u8, u32) {
        let p = &self.parameters;
        let (start, first, rows, before) = if is_b {
            let before = self.kernel.tile.m as u32;
            (self.pointers.scale_b, self.column, p.n, before)
        } else {
            (self.pointers.scale_a, self.row, p.m, 0)
        };
        let start = start.wrapping_add(first as usize * (p.k as usize / bytes));
        (start, (row - before).min(rows - first - 1))
    }

    /// The first index of a sparse A, and the numbers of the tile's first block of rows and of the last one of A.
    #[inline(always)]
    pub(super) fn index_blocks(&self) -> (*const u32, u32, u32) {
        let last = (self.parameters.m - 1) / sparse::BLOCK_ROWS;
        let start = self.pointers.scale_a.cast();
        (start, self.row / sparse::BLOCK_ROWS, last)
    }

    /// Columns of A, rows of B.
    #[inline(always)]
    pub(super) fn k(&self) -> u32 {
        self.parameters.k
    }

    /// The kernel's row of the catalogue.
    #[inline(always)]
    pub(super) fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// Whether C has an element `(row, column)`.
    #[inline(always)]
    pub(super) fn has_element(&self, row: u32, column: u32) -> bool {
        self.result().contains(row, column)
    }

    /// Whether the result depends on the old C.
    #[inline(always)]
    pub(super) fn has_old(&self) -> bool {
        C::Sum::from_f64(self.parameters.beta) != C::Sum::ZERO
    }

    /// The place of `(row, column)` of the tile, if C has the whole tile and its byte offsets fit in 32 bits
    /// ([`Output::place`]). Whether it exists is uniform.
    #[inline(always)]
    pub(super) fn place(&self, row: u32, column: u32) -> Option<Place<C>> {
        let BlockTile { m, n, .. } = self.kernel.tile;
        self.result().place(row, column, (m as u32, n as u32))
    }

    /// The place with α, if the sums are only multiplied by α.
    #[inline(always)]
    pub(super) fn plain(&self, row: u32, column: u32) -> Option<Plain<C>> {
        let alpha = self.plain_factor()?;
        Some(self.place(row, column)?.plain(alpha))
    }

    /// α, if the sums are only multiplied by α and stored in the kernel's type. Uniform.
    #[inline(always)]
    pub(super) fn plain_factor(&self) -> Option<C::Sum> {
        let p = &self.parameters;
        let is_plain = factor::<C::Sum>(p.beta) == C::Sum::ZERO && p.options.stores_sums();
        is_plain.then(|| factor(p.alpha))
    }

    /// Whether sums are also converted to f32: those of a shorter C.
    const TO_F32: bool = C::Sum::CONVERTS && size_of::<C>() < size_of::<C::Sum>();
    /// Whether sums are also converted to f16, bf16 and 8-bit floats: those of elements of one byte.
    const TO_SHORT: bool =
        C::Sum::CONVERTS && size_of::<C>() == size_of::<C::Sum>() && size_of::<A>() == 1;

    /// The type of C in memory. Uniform; a constant for kernels that do not convert their sums. The conditions say again what
    /// [`Kernel::outputs`] says: LLVM must remove unused conversions before it moves arrays to registers.
    #[inline(always)]
    fn output(&self) -> OutputType {
        match self.parameters.options.output() {
            _ if self.kernel.types.a.outputs().len() == 1 => OutputType::OfKernel,
            output @ OutputType::F32 if Self::TO_F32 => output,
            output @ (OutputType::F16 | OutputType::Bf16) if Self::TO_SHORT => output,
            output @ OutputType::Float8 if Self::TO_SHORT && !self.kernel.types.is_mixed() => {
                output
            }
            _ => OutputType::OfKernel,
        }
    }

    /// Stores units of sums, multiplied by `factor`, in `runs`; elements outside C are dropped.
    ///
    /// # Safety
    /// As [`store_units`](Self::store_units).
    #[inline(always)]
    pub(super) unsafe fn store_scaled(
        &self,
        runs: &Runs,
        units: &[Unit; MOST_RUNS],
        factor: C::Sum,
    ) {
        let result = self.result();
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<C::Sum>() {
                8 => result.store_runs(runs, sums_of::<2, C::Sum>(units, Some(factor))),
                _ => result.store_runs(runs, sums_of::<4, C::Sum>(units, Some(factor))),
            }
        }
    }

    /// Loads `fragment`, whose corner is at `(row, column)`, from C without a prologue; elements outside C become
    /// zero.
    ///
    /// # Safety
    /// No other thread accesses these elements, and all of them are in the tile.
    #[inline(always)]
    pub(super) unsafe fn load_as_is<const RUN: usize, F: Fragment<RUN, Sum = C::Sum>>(
        &self,
        row: u32,
        column: u32,
        fragment: &mut F,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            self.result()
                .load_as_is(row, column, fragment, self.is_whole());
        };
    }

    /// Stores `fragment`, whose corner is at `(row, column)`, in C without an epilogue; elements outside C are
    /// dropped.
    ///
    /// # Safety
    /// No other thread accesses these elements, and all of them are in the tile.
    #[inline(always)]
    pub(super) unsafe fn store_as_is<const RUN: usize, F: Fragment<RUN, Sum = C::Sum>>(
        &self,
        row: u32,
        column: u32,
        fragment: &mut F,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            self.result()
                .store_as_is(row, column, fragment, self.is_whole());
        };
    }

    /// Updates C with the thread's `sums`, whose corner is at `(row, column)`; elements outside C are
    /// dropped.
    ///
    /// # Safety
    /// No other thread of the workgroup stores these elements, and all of them are in the tile.
    #[inline(always)]
    pub(super) unsafe fn store<const RUN: usize, F: Fragment<RUN, Sum = C::Sum>>(
        &self,
        row: u32,
        column: u32,
        sums: F,
    ) {
        // SAFETY: no other workgroup has this tile, and no other thread of this one has these
        // elements, as the caller promises.
        unsafe {
            match self.plain_factor() {
                Some(alpha) if self.is_whole() => {
                    self.result().store_scaled(row, column, sums, alpha);
                }
                _ => {
                    let (epilogue, bias) = (self.epilogue(), self.bias());
                    let input = self.matrix(self.input());
                    let c = self.result();
                    c.update(row, column, sums, &epilogue, bias, input);
                }
            }
        };
    }

    /// Updates `runs` of C with units of sums, in the type that the launch chose for C; elements outside C are dropped. Raises
    /// `amax` to the bits of the largest magnitude if C is of 8-bit floats.
    ///
    /// # Safety
    /// No other thread of the workgroup stores these elements, and all of them are in the tile.
    #[inline(always)]
    pub(super) unsafe fn store_units(
        &self,
        runs: &Runs,
        units: &[Unit; MOST_RUNS],
        epilogue: &Epilogue<C::Sum>,
        amax: &mut u32,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<C::Sum>() {
                8 => self.update_runs(runs, sums_of::<2, C::Sum>(units, None), epilogue, amax),
                _ => self.update_runs(runs, sums_of::<4, C::Sum>(units, None), epilogue, amax),
            }
        }
    }

    /// The same with sums.
    ///
    /// # Safety
    /// As [`store_units`](Self::store_units).
    #[inline(always)]
    unsafe fn update_runs<const RUN: usize>(
        &self,
        runs: &Runs,
        sums: RunElements<C::Sum, RUN>,
        epilogue: &Epilogue<C::Sum>,
        amax: &mut u32,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            let mut results = epilogue.results(
                runs,
                sums,
                #[inline(always)]
                || self.load_old(runs),
                #[inline(always)]
                |sums| self.add_bias(runs, sums),
                #[inline(always)]
                |results| self.keep_input(runs, results),
            );
            if self.has_amax() {
                *amax = (*amax).max(self.largest(runs, &results));
            }
            if self.output() == OutputType::Float8 {
                let scale: C::Sum = factor(self.parameters.output_scale);
                for n in 0..runs.count {
                    results[n] = each(results[n], |result| scale.mul(result));
                }
            }
            self.store_runs(runs, results);
        }
    }

    /// Loads the elements of `runs` of C.
    ///
    /// # Safety
    /// As [`store_units`](Self::store_units).
    #[inline(always)]
    unsafe fn load_old<const RUN: usize>(&self, runs: &Runs) -> RunElements<C::Sum, RUN> {
        // SAFETY: as in `store`; the host passes a C of this type.
        unsafe { with_matrix!(self, self.c(), self.output(), c => c.load_old(runs)) }
    }

    /// Adds the bias to the elements of `runs`.
    ///
    /// # Safety
    /// As [`store_units`](Self::store_units).
    #[inline(always)]
    unsafe fn add_bias<const RUN: usize>(
        &self,
        runs: &Runs,
        sums: RunElements<C::Sum, RUN>,
    ) -> RunElements<C::Sum, RUN> {
        // SAFETY: as in `load_old`; the bias has C's type, or the kernel's with 8-bit floats.
        unsafe {
            with_matrix!(self, self.c(), self.output_of_bias(), c => c.add_bias(runs, sums, self.bias()))
        }
    }

    /// The type of the bias and of the epilogue's input: the kernel's if C is of 8-bit floats. Uniform.
    #[inline(always)]
    fn output_of_bias(&self) -> OutputType {
        match self.output() {
            OutputType::Float8 => OutputType::OfKernel,
            output => output,
        }
    }

    /// Stores the epilogue's input.
    ///
    /// # Safety
    /// As [`store_units`](Self::store_units).
    #[inline(always)]
    unsafe fn keep_input<const RUN: usize>(&self, runs: &Runs, results: RunElements<C::Sum, RUN>) {
        // The compiler would keep the offsets for the results, and there are no registers for them.
        let (row, column) = runs.first;
        let runs = Runs {
            first: (row + crate::opaque_zero(), column),
            ..*runs
        };
        // SAFETY: as in `load_old`.
        unsafe {
            with_matrix!(self, self.input(), self.output_of_bias(), input => input.store_runs(&runs, results));
        }
    }

    /// Stores `results` in `runs` of C.
    ///
    /// # Safety
    /// As [`store_units`](Self::store_units).
    #[inline(always)]
    unsafe fn store_runs<const RUN: usize>(&self, runs: &Runs, results: RunElements<C::Sum, RUN>) {
        // SAFETY: as in `load_old`.
        unsafe { with_matrix!(self, self.c(), self.output(), c => c.store_runs(runs, results)) }
    }

    /// The magnitude bits of the largest of `results`; those outside C do not count.
    #[inline(always)]
    fn largest<const RUN: usize>(&self, runs: &Runs, results: &RunElements<C::Sum, RUN>) -> u32 {
        let c = self.result();
        let mut largest = 0;
        for n in 0..runs.count {
            let (row, column) = runs.place(n);
            for k in 0..RUN {
                let exists = c.contains(row, column + k as u32);
                let bits = results[n][k].magnitude_bits();
                largest = largest.max(if exists { bits } else { 0 });
            }
        }
        largest
    }

    /// Whether the launch computes the largest magnitude of its results. Uniform.
    #[inline(always)]
    fn has_amax(&self) -> bool {
        self.output() == OutputType::Float8 && self.parameters.options.has_amax()
    }

    /// Raises the launch's largest magnitude to that of the wave, whose lane this is, if the launch asks for it. All lanes
    /// call this.
    ///
    /// # Safety
    /// [`GemmArguments::amax`](ferrowave_shared::GemmArguments::amax).
    #[inline(always)]
    pub(super) unsafe fn raise_amax(&self, lane: u32, bits: u32) {
        if self.has_amax() {
            let largest = arch::largest_in_wave(bits);
            if lane == 0 {
                // SAFETY: as the caller promises.
                unsafe { arch::raise(self.pointers.amax, largest) };
            }
        }
    }

    /// Whether C has every element of the tile. Uniform.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        let p = &self.parameters;
        self.kernel.tile.m as u32 <= p.m - self.row
            && self.kernel.tile.n as u32 <= p.n - self.column
    }

    /// The epilogue in the launch's parameters, opaque.
    #[inline(always)]
    pub(super) fn epilogue(&self) -> Epilogue<C::Sum> {
        let p = &self.parameters;
        let activation = p.options.epilogue() as u32 + crate::opaque_zero();
        let old = p.options.prologue() as u32 + crate::opaque_zero();
        let is_gelu_gradient = old == FragmentOp::GeluGradient as u32;
        let is_gelu = activation == FragmentOp::Gelu as u32;
        Epilogue {
            alpha: factor(p.alpha),
            beta: factor(p.beta),
            prologue: operation(p.options.prologue(), p.prologue_value),
            epilogue: operation(p.options.epilogue(), p.epilogue_value),
            relu_gradient: old == FragmentOp::ReluGradient as u32,
            gradient: is_gelu_gradient || old == FragmentOp::SiluGradient as u32,
            gradient_of: Activation::new(is_gelu_gradient),
            activated: is_gelu || activation == FragmentOp::Silu as u32,
            activation: Activation::new(is_gelu),
            gate: p.options.is_gate(),
            keeps_input: p.options.keeps_input(),
        }
    }

    /// The bias from the tile's corner on, of elements of type `D`.
    #[inline(always)]
    fn bias<D>(&self) -> Addend<D> {
        let bias = self.pointers.bias.cast::<D>();
        let bias = bias.wrapping_add(self.distance_bias);
        match self.parameters.options.bias() {
            Bias::None => Addend::None,
            Bias::Row => Addend::Row(bias.wrapping_add(self.row as usize)),
            Bias::Column => Addend::Column(bias.wrapping_add(self.column as usize)),
        }
    }

    /// C from the tile's corner on.
    #[inline(always)]
    fn result(&self) -> Output<C> {
        self.matrix(self.c())
    }

    /// C as a start for [`matrix`](Self::matrix).
    #[inline(always)]
    fn c(&self) -> Start<C> {
        Start {
            first: self.pointers.c,
            skipped: (self.batch as usize).wrapping_mul(self.parameters.stride_c as usize),
        }
    }

    /// The epilogue's input, likewise.
    #[inline(always)]
    fn input(&self) -> Start<C> {
        Start {
            first: self.pointers.input,
            skipped: self.skipped_input,
        }
    }

    /// A matrix with the layout of C, from the tile's corner on, with elements of type `D`.
    #[inline(always)]
    fn matrix<D: Stored>(&self, start: Start<C>) -> Output<D> {
        let p = &self.parameters;
        let Start { first, skipped } = start;
        let first = if size_of::<D>() == size_of::<C>() {
            first.cast()
        } else {
            first
                .wrapping_sub(skipped)
                .cast::<D>()
                .wrapping_add(skipped)
        };
        // SAFETY: `of_workgroup`'s caller promised the matrices, and that every tile has an element.
        unsafe { Output::new(first, p.m, p.n, p.ldc).part(self.row, self.column) }
    }
}

/// Where a matrix with the layout of C begins, as if its elements were of type `C`.
struct Start<C> {
    first: *mut C,
    /// Elements before the first, from the launch's address on.
    skipped: usize,
}

/// The sums in units, a run in each, multiplied by `factor`.
///
/// # Safety
/// A run is a unit.
#[inline(always)]
unsafe fn sums_of<const RUN: usize, S: Accumulator>(
    units: &[Unit; MOST_RUNS],
    factor: Option<S>,
) -> RunElements<S, RUN> {
    let mut sums = [[S::ZERO; RUN]; MOST_RUNS];
    for n in 0..MOST_RUNS {
        // SAFETY: the unit is as long as the run, and sums have no invalid bits.
        sums[n] = unsafe { (&raw const units[n]).cast::<[S; RUN]>().read() };
        if let Some(factor) = factor {
            sums[n] = each(sums[n], |sum| factor.mul(sum));
        }
    }
    sums
}

/// A factor in the launch's parameters, opaque: otherwise the compiler would convert it before the main loop, which leaves no
/// registers for it.
#[inline(always)]
fn factor<S: Accumulator>(value: f64) -> S {
    S::from_f64(f64::from_bits(
        value.to_bits() ^ u64::from(crate::opaque_zero()),
    ))
}

/// Selects instead of branches, which the compiler would repeat for each block of C. They are opaque as a [`factor`].
#[inline(always)]
fn operation<S: Accumulator>(operation: FragmentOp, value: f64) -> Operation<S> {
    let value = factor(value);
    let operation = operation as u32 + crate::opaque_zero();
    let is = |other: FragmentOp| operation == other as u32;
    Operation {
        factor: if is(FragmentOp::Scale) { value } else { S::ONE },
        relu: is(FragmentOp::Relu),
        set: is(FragmentOp::Set),
        value,
    }
}
