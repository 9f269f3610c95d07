//! A checked problem.

use super::{
    layout::{Layout, Order},
    operation::Operation,
};
use ferrowave_shared::{
    Bias, ElementType, ElementTypes, GemmParameters, Options, OutputType, SCALE_BLOCK,
    ScaleParameters, sparse,
};

/// A product that can be computed: C ← epilogue(α·A·B + β·prologue(C) + bias), or with a gate
/// C ← epilogue(α·A·B + bias) · β·prologue(C), with a row-major C.
///
/// Made by [`Request::check`](super::Request::check) only. So its extents agree, lines fit their leading dimensions,
/// no offset overflows, and the element types support its factors and operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    pub(super) a: Layout,
    pub(super) b: Layout,
    pub(super) c: Layout,
    /// Rounded to the accumulator type, like `beta` and the constants of the operations.
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) bias: Bias,
    pub(super) prologue: Operation,
    pub(super) epilogue: Operation,
    pub(super) gate: bool,
    pub(super) output_scale: f64,
    pub(super) types: ElementTypes,
}

impl Problem {
    /// Rows of A and C.
    pub const fn m(&self) -> u32 {
        self.c.rows
    }

    /// Columns of B and C.
    pub const fn n(&self) -> u32 {
        self.c.columns
    }

    /// Columns of A, rows of B.
    pub const fn k(&self) -> u32 {
        self.b.rows
    }

    /// The number of products.
    pub const fn batch(&self) -> u32 {
        self.c.batch
    }

    /// Factor of the product, in the precision of the accumulators. 0 if k is 0: an infinite α would turn the empty
    /// sums into NaN.
    pub const fn alpha(&self) -> f64 {
        if self.k() == 0 { 0.0 } else { self.alpha }
    }

    /// Factor of the old C, in the precision of the accumulators.
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// The bias that is added to the product.
    pub const fn bias(&self) -> Bias {
        self.bias
    }

    /// The number of elements of the bias.
    pub const fn bias_length(&self) -> u32 {
        match self.bias {
            Bias::None => 0,
            Bias::Row => self.m(),
            Bias::Column => self.n(),
        }
    }

    /// The operation on the old C before it is scaled; its constant is in the precision of the accumulators.
    pub const fn prologue(&self) -> Operation {
        self.prologue
    }

    /// The operation on the result, likewise.
    pub const fn epilogue(&self) -> Operation {
        self.epilogue
    }

    /// Whether the scaled old C is multiplied by the result instead of added; see
    /// [`Request::gate`](super::Request::gate). β is not 0 then.
    pub const fn gate(&self) -> bool {
        self.gate
    }

    /// The factor of the results before they are stored as 8-bit floats; 1 for other types of C.
    pub const fn output_scale(&self) -> f64 {
        self.output_scale
    }

    /// Whether the result depends on the old C; otherwise it is not read.
    pub const fn reads_c(&self) -> bool {
        self.beta != 0.0 && !matches!(self.prologue, Operation::Set(_))
    }

    /// The element types.
    pub const fn types(&self) -> ElementTypes {
        self.types
    }

    /// The layout of A. If A is sparse, its extents are those of what is stored, and offsets in it only those of even rows: see
    /// [`Problem::sparse_a`].
    pub const fn a(&self) -> &Layout {
        &self.a
    }

    /// The layout of B.
    pub const fn b(&self) -> &Layout {
        &self.b
    }

    /// The layout of C.
    pub const fn c(&self) -> &Layout {
        &self.c
    }

    /// The scales of A, if its elements have them: number `b` of a row is of the elements 32b to 32b + 31 along k. Rows
    /// follow each other without padding, as do the matrices of a batch; they share scales if they share A.
    pub fn scales_a(&self) -> Option<Layout> {
        self.scales(self.m(), self.a.stride)
    }

    /// The scales of B, likewise: those of a column of B are a row of this layout.
    pub fn scales_b(&self) -> Option<Layout> {
        self.scales(self.n(), self.b.stride)
    }

    fn scales(&self, rows: u32, stride: u64) -> Option<Layout> {
        let columns = self.k() / SCALE_BLOCK;
        self.types.a.is_scaled().then_some(Layout {
            rows,
            columns,
            order: Order::RowMajor,
            leading: columns,
            batch: self.batch(),
            stride: match stride {
                0 => 0,
                _ => u64::from(rows) * u64::from(columns),
            },
        })
    }

    /// The layout of the elements of each A of the batch, if A is sparse.
    pub fn sparse_a(&self) -> Option<sparse::Elements> {
        let types = self.types;
        (types.is_sparse).then(|| sparse::Elements::new(self.m(), self.k(), types.a))
    }

    /// The layout of the indices of each A of the batch, if A is sparse; they follow each other, or are shared if A is.
    pub fn indices(&self) -> Option<sparse::Indices> {
        let types = self.types;
        (types.is_sparse).then(|| sparse::Indices::new(self.m(), self.k(), types.a))
    }

    /// The bytes of the indices of all A, if A is sparse.
    pub fn index_bytes(&self) -> Option<u128> {
        let bytes = u128::from(self.indices()?.size_bytes());
        Some(match (self.a.is_empty(), self.a.stride) {
            (true, _) => 0,
            (_, 0) => bytes,
            _ => bytes * u128::from(self.batch()),
        })
    }

    /// The layout of the scales or the indices for a kernel.
    pub(super) fn scale_parameters(&self) -> ScaleParameters {
        let stride = |scales: Option<Layout>| scales.map_or(0, |scales| scales.stride);
        let indices = match self.a.stride {
            0 => 0,
            _ => self.indices().map_or(0, |indices| indices.size_bytes()),
        };
        ScaleParameters {
            stride_a: stride(self.scales_a()) + indices,
            stride_b: stride(self.scales_b()),
        }
    }

    /// Floating-point operations of the products: two for each multiply-add.
    pub const fn flops(&self) -> f64 {
        2.0 * self.m() as f64 * self.n() as f64 * self.k() as f64 * self.batch() as f64
    }

    /// The type of C for a kernel.
    fn output(&self) -> OutputType {
        match self.types.output {
            output if output == self.types.of_kernels().output => OutputType::OfKernel,
            ElementType::F32 => OutputType::F32,
            ElementType::F16 => OutputType::F16,
            ElementType::Bf16 => OutputType::Bf16,
            output if output.is_float8() => OutputType::Float8,
            output => unreachable!("no kernel converts to {output}"),
        }
    }

    /// The parameters of a kernel for the whole problem; `parts` and `order` are set for each launch.
    pub(super) fn parameters(&self) -> GemmParameters {
        let column_major = |layout: &Layout| layout.order == Order::ColumnMajor;
        // Elements of less than a byte are counted in bytes. Those of A and B have one size.
        let counted = |elements| self.types.a.counted(elements);
        let counted_u32 = |elements: u32| counted(elements.into()) as u32;
        GemmParameters {
            m: self.m(),
            n: self.n(),
            k: counted_u32(self.k()),
            lda: counted_u32(self.a.leading),
            ldb: counted_u32(self.b.leading),
            ldc: self.c.leading,
            options: Options::NONE
                .with_column_major(column_major(&self.a), column_major(&self.b))
                .with_bias(self.bias)
                .with_prologue(self.prologue.kind())
                .with_epilogue(self.epilogue.kind())
                .with_output(self.output())
                .with_gate(self.gate),
            batch: self.batch(),
            alpha: self.alpha(),
            beta: self.beta,
            stride_a: counted(self.a.stride),
            stride_b: counted(self.b.stride),
            stride_c: self.c.stride,
            prologue_value: self.prologue.constant(),
            epilogue_value: self.epilogue.constant(),
            parts: 1,
            order: 1,
            output_scale: self.output_scale,
        }
    }
}
