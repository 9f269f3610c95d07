//! The buffers of a product's inputs, of elements whose types are known at run time only.

use super::{
    operands::{Operands, Source, Target},
    problem::Problem,
};
use crate::hip::DeviceBuffer;
use ferrowave_shared::{ElementType, ElementTypes};

/// What a product reads beside the old C: A, B, the bias, and scales or indices, as bytes.
#[derive(Debug)]
pub struct InputBuffers {
    /// A.
    pub a: DeviceBuffer<u8>,
    /// B.
    pub b: DeviceBuffer<u8>,
    /// The bias.
    pub bias: DeviceBuffer<u8>,
    /// The scales of A and B, if their elements have them.
    pub scales: Option<[DeviceBuffer<u8>; 2]>,
    /// The indices of a sparse A.
    pub indices: Option<DeviceBuffer<u8>>,
    /// Elements before the first one, in all but the indices.
    pub lead: usize,
}

impl InputBuffers {
    /// Buffers of the size that a problem needs, which `make` makes from a number of bytes.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn of_problem<E>(
        problem: &Problem,
        mut make: impl FnMut(usize) -> Result<DeviceBuffer<u8>, E>,
    ) -> Result<Self, E> {
        let types = problem.types();
        let mut elements = |element: ElementType, count: u128| {
            make(usize::try_from(element.bytes(count)).unwrap_or(usize::MAX))
        };
        Ok(Self {
            a: elements(types.a, problem.a().span())?,
            b: elements(types.b, problem.b().span())?,
            bias: elements(types.bias(), problem.bias_length().into())?,
            scales: match (problem.scales_a(), problem.scales_b()) {
                (Some(a), Some(b)) => Some([
                    elements(ElementType::E8m0, a.span())?,
                    elements(ElementType::E8m0, b.span())?,
                ]),
                _ => None,
            },
            indices: match problem.index_bytes() {
                Some(bytes) => Some(make(usize::try_from(bytes).unwrap_or(usize::MAX))?),
                None => None,
            },
            lead: 0,
        })
    }

    /// The operands of a product of these types, with this C.
    pub fn operands<'a>(&'a self, types: ElementTypes, c: impl Into<Target<'a>>) -> Operands<'a> {
        let source = |buffer: &'a _, element| Source::of_bytes(buffer, element).skip(self.lead);
        let mut operands = Operands::new(source(&self.a, types.a), source(&self.b, types.b), c)
            .with_bias(source(&self.bias, types.bias()));
        if let Some([a, b]) = &self.scales {
            let scales = |buffer| source(buffer, ElementType::E8m0);
            operands = operands.with_scales(scales(a), scales(b));
        }
        match &self.indices {
            Some(indices) => operands.with_indices(indices),
            None => operands,
        }
    }

    /// All buffers.
    pub fn all(&self) -> impl Iterator<Item = &DeviceBuffer<u8>> {
        let scales = self.scales.iter().flatten();
        [&self.a, &self.b, &self.bias]
            .into_iter()
            .chain(scales)
            .chain(&self.indices)
    }
}
