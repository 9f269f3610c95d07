//! Operations on the elements of C.

use ferrowave_shared::FragmentOp;
use std::{fmt, str::FromStr};
use thiserror::Error;

/// An operation on every element of C, before or after the product is added. Constants are rounded to the accumulator
/// type; see [`Request::alpha`](super::Request::alpha).
///
/// ```
/// use ferrowave_host::gemm::Operation;
///
/// assert_eq!("scale=0.5".parse(), Ok(Operation::Scale(0.5)));
/// assert_eq!(Operation::Relu.to_string(), "relu");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Operation {
    /// Leaves the element unchanged.
    #[default]
    None,
    /// Replaces the element by the constant.
    Set(f64),
    /// Multiplies the element by the constant.
    Scale(f64),
    /// Replaces a negative element by 0. NaN stays NaN.
    Relu,
    /// The Gaussian error linear unit in its tanh form; see [`FragmentOp::Gelu`]. Only as an epilogue, and only with
    /// accumulators in f32.
    Gelu,
    /// The sigmoid linear unit, `x / (1 + e⁻ˣ)`. Where GELU is allowed.
    Silu,
    /// Replaces the element by the derivative of ReLU at it: 0 if it is not positive, else 1; 1 for NaN. Only as a prologue, and
    /// only with accumulators in f32. With a [gate](super::Request::gate), this and the next two are the backward pass of an
    /// activation: C is the activation's input and becomes the gradient.
    ReluGradient,
    /// Replaces the element by the derivative of GELU at it, likewise.
    GeluGradient,
    /// Replaces the element by the derivative of SiLU at it, likewise.
    SiluGradient,
}

impl Operation {
    /// The operation without its constant, as in a kernel's arguments.
    pub const fn kind(self) -> FragmentOp {
        match self {
            Self::None => FragmentOp::None,
            Self::Set(_) => FragmentOp::Set,
            Self::Scale(_) => FragmentOp::Scale,
            Self::Relu => FragmentOp::Relu,
            Self::Gelu => FragmentOp::Gelu,
            Self::Silu => FragmentOp::Silu,
            Self::ReluGradient => FragmentOp::ReluGradient,
            Self::GeluGradient => FragmentOp::GeluGradient,
            Self::SiluGradient => FragmentOp::SiluGradient,
        }
    }

    /// The same with another constant, if it has one.
    #[must_use]
    pub(super) const fn with_constant(self, constant: f64) -> Self {
        match self {
            Self::Set(_) => Self::Set(constant),
            Self::Scale(_) => Self::Scale(constant),
            _ => self,
        }
    }

    /// The name, without the constant.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Set(_) => "set",
            Self::Scale(_) => "scale",
            Self::Relu => "relu",
            Self::Gelu => "gelu",
            Self::Silu => "silu",
            Self::ReluGradient => "relu-gradient",
            Self::GeluGradient => "gelu-gradient",
            Self::SiluGradient => "silu-gradient",
        }
    }

    /// Whether it is a smooth activation function: only sums in f32 have these.
    pub const fn is_activation(self) -> bool {
        matches!(self, Self::Gelu | Self::Silu)
    }

    /// Whether it is a derivative: only prologues with sums in f32 are.
    pub const fn is_gradient(self) -> bool {
        matches!(
            self,
            Self::ReluGradient | Self::GeluGradient | Self::SiluGradient
        )
    }

    /// The constant; 0 for operations that have none.
    pub const fn constant(self) -> f64 {
        match self {
            Self::Set(constant) | Self::Scale(constant) => constant,
            _ => 0.0,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(constant) | Self::Scale(constant) => {
                write!(f, "{}={constant}", self.name())
            }
            _ => f.write_str(self.name()),
        }
    }
}

/// The text is not an operation.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown operation `{text}`; expected none, set=C, scale=C, relu, gelu, silu, relu-gradient, gelu-gradient or silu-gradient, where C is a number"
)]
pub struct UnknownOperation {
    /// The text.
    pub text: String,
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(text: &str) -> Result<Self, UnknownOperation> {
        let unknown = || UnknownOperation {
            text: text.to_owned(),
        };
        let constant = |text: &str| text.parse().map_err(|_| unknown());
        match text.split_once('=') {
            Some(("set", number)) => return Ok(Self::Set(constant(number)?)),
            Some(("scale", number)) => return Ok(Self::Scale(constant(number)?)),
            _ => {}
        }
        let without_constant = [
            Self::None,
            Self::Relu,
            Self::Gelu,
            Self::Silu,
            Self::ReluGradient,
            Self::GeluGradient,
            Self::SiluGradient,
        ];
        let named = without_constant.into_iter().find(|of| of.name() == text);
        named.ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        for operation in [
            Operation::None,
            Operation::Set(-2.5),
            Operation::Set(16_777_217.0),
            Operation::Scale(0.1),
            Operation::Scale(f64::INFINITY),
            Operation::Relu,
            Operation::Gelu,
            Operation::Silu,
            Operation::ReluGradient,
            Operation::GeluGradient,
            Operation::SiluGradient,
        ] {
            assert_eq!(operation.to_string().parse(), Ok(operation));
        }
    }

    #[test]
    fn what_is_no_operation_is_named_with_those_that_are() {
        for text in ["", "tanh", "set", "set=", "scale=x", "relu=1"] {
            let error = text.parse::<Operation>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{text}`")) && error.contains("scale=C"),
                "{error}"
            );
        }
    }
}
