//! The matrices of a product in device memory.

use super::{element::Element, problem::Problem};
use crate::hip::{Device, DeviceBuffer};
use ferrowave_shared::ElementType;
use std::marker::PhantomData;
use thiserror::Error;

/// Elements in device memory, from some first one on.
#[derive(Clone, Copy, Debug)]
struct View<'a> {
    address: u64,
    /// Elements.
    length: usize,
    /// What the elements are; the same bytes may be of several types.
    types: [ElementType; 2],
    device: &'a Device,
}

impl<'a> View<'a> {
    fn typed<T: Element>(buffer: &'a DeviceBuffer<T>) -> Self {
        let types = T::TYPES;
        Self {
            address: buffer.address(),
            length: buffer.len(),
            types: [types[0], types[types.len() - 1]],
            device: buffer.context().device(),
        }
    }

    fn untyped(buffer: &'a DeviceBuffer<u8>, element: ElementType) -> Self {
        Self {
            address: buffer.address(),
            length: buffer.len() / element.size_bytes(),
            types: [element; 2],
            device: buffer.context().device(),
        }
    }

    fn skip(self, elements: usize) -> Self {
        let elements = elements.min(self.length);
        Self {
            address: self.address + (elements * self.types[0].size_bytes()) as u64,
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
    /// A buffer of bytes as elements of a type that is known at run time only; bytes left over at its end are not used.
    pub fn of_bytes(buffer: &'a DeviceBuffer<u8>, element: ElementType) -> Self {
        Self(View::untyped(buffer, element))
    }

    /// What follows the first `elements`; nothing if there are no more.
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
    /// No other code reads or writes them meanwhile.
    exclusive: PhantomData<&'a mut ()>,
}

impl<'a> Target<'a> {
    /// A buffer of bytes as elements of a type that is known at run time only; bytes left over at its end are not used.
    pub fn of_bytes(buffer: &'a mut DeviceBuffer<u8>, element: ElementType) -> Self {
        Self {
            view: View::untyped(buffer, element),
            exclusive: PhantomData,
        }
    }

    /// What follows the first `elements`; nothing if there are no more.
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

/// The matrices of a product. C is borrowed for writing, so that it can't be one of the others.
#[derive(Debug)]
pub struct Operands<'a> {
    a: Source<'a>,
    b: Source<'a>,
    c: Target<'a>,
    bias: Option<Source<'a>>,
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
        }
    }

    /// With a bias vector. Ignored by a problem that has none.
    #[must_use]
    pub fn with_bias(self, bias: impl Into<Source<'a>>) -> Self {
        Self {
            bias: Some(bias.into()),
            ..self
        }
    }

    /// Where they are.
    pub fn addresses(&self) -> Addresses {
        Addresses {
            a: self.a.0.address,
            b: self.b.0.address,
            c: self.c.view.address,
            bias: self.bias.map_or(0, |bias| bias.0.address),
        }
    }

    /// Checks that they are on the device, of the problem's types and as long as it needs.
    ///
    /// # Errors
    /// An [`OperandError`] names the first that is not.
    pub fn check(&self, problem: &Problem, device: &Device) -> Result<(), OperandError> {
        let types = problem.types();
        let (a, b, c) = (self.a.0, self.b.0, self.c.view);
        a.check("A", types.input, problem.a().span(), device)?;
        b.check("B", types.input, problem.b().span(), device)?;
        c.check("C", types.output, problem.c().span(), device)?;
        let needed = problem.bias_length();
        match self.bias {
            _ if needed == 0 => Ok(()),
            None => Err(OperandError::NoBias { needed }),
            Some(bias) => bias
                .0
                .check("the bias", types.output, needed.into(), device),
        }
    }
}

/// Device addresses of the first elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Of A.
    pub a: u64,
    /// Of B.
    pub b: u64,
    /// Of C.
    pub c: u64,
    /// Of the bias; anything for a problem without.
    pub bias: u64,
}

/// Why matrices are not those of a problem.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperandError {
    /// The elements are of another type.
    #[error("the elements of {matrix} are {is}, but the problem has {must}")]
    WrongType {
        /// Which matrix.
        matrix: &'static str,
        /// What its elements are.
        is: ElementType,
        /// What they must be.
        must: ElementType,
    },
    /// They are in the memory of another device.
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
        /// Elements that there are.
        length: usize,
        /// Elements from the first to the last that the problem names.
        needed: u128,
    },
    /// The problem has a bias, and there is none.
    #[error("the problem adds a bias of {needed} elements, but none is given")]
    NoBias {
        /// How many elements it has.
        needed: u32,
    },
}
