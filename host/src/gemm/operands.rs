//! The matrices of a product in device memory.

use super::{element::Element, problem::Problem};
use crate::hip::{Device, DeviceBuffer};
use ferrowave_shared::{ElementType, Options};
use std::marker::PhantomData;
use thiserror::Error;

/// A range of elements in device memory.
#[derive(Clone, Copy, Debug)]
struct View<'a> {
    address: u64,
    /// Elements.
    length: usize,
    /// The element types that the bytes may have.
    types: [ElementType; 2],
    device: &'a Device,
}

impl<'a> View<'a> {
    fn typed<T: Element>(buffer: &'a DeviceBuffer<T>) -> Self {
        let types = T::TYPES;
        Self {
            address: buffer.address(),
            length: buffer.len() * types[0].packed() as usize,
            types: [types[0], types[types.len() - 1]],
            device: buffer.context().device(),
        }
    }

    fn untyped(buffer: &'a DeviceBuffer<u8>, element: ElementType) -> Self {
        Self {
            address: buffer.address(),
            // At most eight elements in a byte, of which no buffer has 2⁶¹.
            length: (buffer.len() as u128 * 8 / element.bits() as u128) as usize,
            types: [element; 2],
            device: buffer.context().device(),
        }
    }

    fn skip(self, elements: usize) -> Self {
        let packed = self.types[0].packed() as usize;
        let elements = elements.div_ceil(packed).saturating_mul(packed);
        let elements = elements.min(self.length);
        Self {
            address: self.address + self.types[0].bytes(elements as u128) as u64,
            length: self.length - elements,
            ..self
        }
    }

    fn check(
        &self,
        matrix: &'static str,
        element: ElementType,
        needed: u128,
        device: &Device,
    ) -> Result<(), OperandError> {
        if self.device != device {
            return Err(OperandError::OtherDevice {
                matrix,
                is: self.device.choice().to_owned(),
                must: device.choice().to_owned(),
            });
        }
        if !self.types.contains(&element) {
            return Err(OperandError::WrongType {
                matrix,
                is: self.types[0],
                must: element,
            });
        }
        if (self.length as u128) < needed {
            return Err(OperandError::TooShort {
                matrix,
                length: self.length,
                needed,
            });
        }
        Ok(())
    }
}

/// Elements that a product reads.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a>(View<'a>);

impl<'a> Source<'a> {
    /// A buffer of bytes as elements of a type that is known at run time only. Excess bytes at its end are not used.
    pub fn of_bytes(buffer: &'a DeviceBuffer<u8>, element: ElementType) -> Self {
        Self(View::untyped(buffer, element))
    }

    /// Without the first `elements` elements, rounded up to as many as fill whole bytes; empty if there are no more.
    #[must_use]
    pub fn skip(self, elements: usize) -> Self {
        Self(self.0.skip(elements))
    }
}

impl<'a, T: Element> From<&'a DeviceBuffer<T>> for Source<'a> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Self {
        Self(View::typed(buffer))
    }
}

/// Elements that a product reads and writes.
#[derive(Debug)]
pub struct Target<'a> {
    view: View<'a>,
    /// The elements are borrowed mutably.
    exclusive: PhantomData<&'a mut ()>,
}

impl<'a> Target<'a> {
    /// A buffer of bytes as elements of a type that is known at run time only. Excess bytes at its end are not used.
    pub fn of_bytes(buffer: &'a mut DeviceBuffer<u8>, element: ElementType) -> Self {
        Self {
            view: View::untyped(buffer, element),
            exclusive: PhantomData,
        }
    }

    /// The same elements, borrowed from these.
    fn reborrow(&mut self) -> Target<'_> {
        Target {
            view: self.view,
            exclusive: PhantomData,
        }
    }

    /// Without the first `elements` elements; empty if there are no more.
    #[must_use]
    pub fn skip(self, elements: usize) -> Self {
        Self {
            view: self.view.skip(elements),
            ..self
        }
    }
}

impl<'a, T: Element> From<&'a mut DeviceBuffer<T>> for Target<'a> {
    fn from(buffer: &'a mut DeviceBuffer<T>) -> Self {
        Self {
            view: View::typed(buffer),
            exclusive: PhantomData,
        }
    }
}

/// The matrices of a product. C is borrowed mutably, so it can't be one of the others.
#[derive(Debug)]
pub struct Operands<'a> {
    a: Source<'a>,
    b: Source<'a>,
    c: Target<'a>,
    bias: Option<Source<'a>>,
    scales: Option<[Source<'a>; 2]>,
    indices: Option<Source<'a>>,
    amax: Option<Target<'a>>,
    epilogue_input: Option<Target<'a>>,
}

impl<'a> Operands<'a> {
    /// The three matrices.
    pub fn new(
        a: impl Into<Source<'a>>,
        b: impl Into<Source<'a>>,
        c: impl Into<Target<'a>>,
    ) -> Self {
        Self {
            a: a.into(),
            b: b.into(),
            c: c.into(),
            bias: None,
            scales: None,
            indices: None,
            amax: None,
            epilogue_input: None,
        }
    }

    /// Adds a bias vector. A problem without a bias ignores it.
    #[must_use]
    pub fn with_bias(self, bias: impl Into<Source<'a>>) -> Self {
        Self {
            bias: Some(bias.into()),
            ..self
        }
    }

    /// Adds the scales of A and B, for element types that have them: [`Problem::scales_a`] and [`Problem::scales_b`] say
    /// how many and where.
    #[must_use]
    pub fn with_scales(self, a: impl Into<Source<'a>>, b: impl Into<Source<'a>>) -> Self {
        Self {
            scales: Some([a.into(), b.into()]),
            ..self
        }
    }

    /// Adds the indices of a sparse A, as [`pack`](super::sparse::pack) makes them: [`Problem::index_bytes`].
    #[must_use]
    pub fn with_indices(self, indices: &'a DeviceBuffer<u8>) -> Self {
        Self {
            indices: Some(Source::of_bytes(indices, INDEX)),
            ..self
        }
    }

    /// Adds an element in f32 that becomes the largest magnitude of the results, before they are scaled and stored as 8-bit
    /// floats: that of all products of a batch, or of a run of several. A NaN counts as larger than every number.
    #[must_use]
    pub fn with_amax(self, amax: impl Into<Target<'a>>) -> Self {
        Self {
            amax: Some(amax.into()),
            ..self
        }
    }

    /// Adds a matrix with the layout of C that becomes the epilogue's input: α·A·B + β·prologue(C) + bias, or with a gate
    /// α·A·B + bias. Its elements have the type of the bias ([`ElementTypes::bias`]). A training program needs it for the
    /// gradient of the activation.
    ///
    /// [`ElementTypes::bias`]: ferrowave_shared::ElementTypes::bias
    #[must_use]
    pub fn with_epilogue_input(self, input: impl Into<Target<'a>>) -> Self {
        Self {
            epilogue_input: Some(input.into()),
            ..self
        }
    }

    /// The same matrices, borrowed from these.
    pub fn reborrow(&mut self) -> Operands<'_> {
        Operands {
            a: self.a,
            b: self.b,
            c: self.c.reborrow(),
            bias: self.bias,
            scales: self.scales,
            indices: self.indices,
            amax: self.amax.as_mut().map(Target::reborrow),
            epilogue_input: self.epilogue_input.as_mut().map(Target::reborrow),
        }
    }

    /// The addresses of the matrices.
    pub fn addresses(&self) -> Addresses {
        let address = |target: &Option<Target<'_>>| target.as_ref().map_or(0, |of| of.view.address);
        Addresses {
            a: self.a.0.address,
            b: self.b.0.address,
            c: self.c.view.address,
            bias: self.bias.map_or(0, |bias| bias.0.address),
            scale_a: match (self.scales, self.indices) {
                (Some([beside_a, _]), _) | (None, Some(beside_a)) => beside_a.0.address,
                (None, None) => 0,
            },
            scale_b: self.scales.map_or(0, |[_, b]| b.0.address),
            amax: address(&self.amax),
            input: address(&self.epilogue_input),
        }
    }

    /// Checks that all are on the device, have the problem's types and are long enough.
    ///
    /// # Errors
    /// An [`OperandError`] for the first that is not.
    pub fn check(&self, problem: &Problem, device: &Device) -> Result<(), OperandError> {
        let types = problem.types();
        let (a, b, c) = (self.a.0, self.b.0, self.c.view);
        a.check("A", types.a, problem.a().span(), device)?;
        b.check("B", types.b, problem.b().span(), device)?;
        c.check("C", types.output, problem.c().span(), device)?;
        self.check_scales(problem, device)?;
        self.check_indices(problem, device)?;
        if let Some(amax) = &self.amax {
            if !types.output.is_float8() {
                return Err(OperandError::Amax {
                    output: types.output,
                });
            }
            let element = types.accumulator;
            amax.view
                .check("the largest magnitude", element, 1, device)?;
        }
        if let Some(input) = &self.epilogue_input {
            let needed = problem.c().span();
            input
                .view
                .check("the epilogue's input", types.bias(), needed, device)?;
        }
        let needed = problem.bias_length();
        match self.bias {
            _ if needed == 0 => Ok(()),
            None => Err(OperandError::NoBias { needed }),
            Some(bias) => bias
                .0
                .check("the bias", types.bias(), needed.into(), device),
        }
    }

    fn check_scales(&self, problem: &Problem, device: &Device) -> Result<(), OperandError> {
        let input = problem.types().a;
        match (problem.scales_a(), problem.scales_b(), self.scales) {
            (Some(layout_a), Some(layout_b), Some([a, b])) => {
                let check = |scales: Source<'_>, matrix, needed| {
                    scales.0.check(matrix, ElementType::E8m0, needed, device)
                };
                check(a, "the scale vector of A", layout_a.span())?;
                check(b, "the scale vector of B", layout_b.span())
            }
            (Some(layout_a), Some(layout_b), None) => Err(OperandError::NoScales {
                element: input,
                needed: [layout_a.span(), layout_b.span()],
            }),
            (_, _, Some(_)) => Err(OperandError::Scales { element: input }),
            (_, _, None) => Ok(()),
        }
    }

    fn check_indices(&self, problem: &Problem, device: &Device) -> Result<(), OperandError> {
        match (problem.index_bytes(), self.indices) {
            (Some(needed), Some(indices)) => {
                (indices.0).check("the index vector of A", INDEX, needed, device)
            }
            (Some(needed), None) => Err(OperandError::NoIndices { needed }),
            (None, Some(_)) => Err(OperandError::Indices),
            (None, None) => Ok(()),
        }
    }
}

/// What a byte of indices counts as.
const INDEX: ElementType = ElementType::I8;

/// Device addresses of the first elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Of A.
    pub a: u64,
    /// Of B.
    pub b: u64,
    /// Of C.
    pub c: u64,
    /// Of the bias; not used by a problem without a bias.
    pub bias: u64,
    /// Of A's scales, or of the indices of a sparse A; not used by other types.
    pub scale_a: u64,
    /// Of B's scales, likewise.
    pub scale_b: u64,
    /// Of the largest magnitude; 0 if it is not asked for.
    pub amax: u64,
    /// Of the matrix for the epilogue's input, likewise.
    pub input: u64,
}

impl Addresses {
    /// The options of a launch that asks for what has an address.
    pub(super) const fn options(&self, options: Options) -> Options {
        options
            .with_amax(self.amax != 0)
            .with_input(self.input != 0)
    }
}

/// Why the matrices do not fit a problem.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperandError {
    /// The elements are of another type.
    #[error("the elements of {matrix} are {is}, but the problem has {must}")]
    WrongType {
        /// Which matrix.
        matrix: &'static str,
        /// The type of its elements.
        is: ElementType,
        /// The problem's type.
        must: ElementType,
    },
    /// The elements are in the memory of another device.
    #[error("{matrix} is in the memory of {is}, but the kernels run on {must}")]
    OtherDevice {
        /// Which matrix.
        matrix: &'static str,
        /// Where it is.
        is: String,
        /// Where it must be.
        must: String,
    },
    /// There are too few elements.
    #[error("{matrix} has {length} elements, but the problem needs {needed}")]
    TooShort {
        /// Which matrix.
        matrix: &'static str,
        /// Elements that it has.
        length: usize,
        /// Elements from the first to the last that the problem uses.
        needed: u128,
    },
    /// The elements have scales, but none are given.
    #[error(
        "elements of {element} have scales, {} for A and {} for B, but none are given", .needed[0], .needed[1]
    )]
    NoScales {
        /// The elements' type.
        element: ElementType,
        /// How many scales A and B have.
        needed: [u128; 2],
    },
    /// Scales are given, but the elements have none.
    #[error(
        "scales are given, but elements of {element} have none; those of mxfp8, mxbf8, mxfp6, mxbf6 and mxfp4 have"
    )]
    Scales {
        /// The elements' type.
        element: ElementType,
    },
    /// A is sparse, but no indices are given.
    #[error("A is sparse, with indices of {needed} bytes, but none are given")]
    NoIndices {
        /// Their bytes.
        needed: u128,
    },
    /// Indices are given, but A is not sparse.
    #[error("indices are given, but A is not sparse")]
    Indices,
    /// The largest magnitude is asked for, and C's type has no scale.
    #[error(
        "the largest magnitude is asked for, but C is of {output}; it is computed for 8-bit floats only"
    )]
    Amax {
        /// The type of C.
        output: ElementType,
    },
    /// The problem has a bias, but none is given.
    #[error("the problem adds a bias of {needed} elements, but none is given")]
    NoBias {
        /// How many elements it has.
        needed: u32,
    },
}
