//! The request for a device.

use std::{env, fmt, str::FromStr};

use ferrowave_gpu::{Gpu, Product};
use thiserror::Error;

/// The environment variable that requests a device if the program does not, in the forms of [`DeviceSelector`].
pub const DEVICE_VARIABLE: &str = "FERROWAVE_DEVICE";

/// A request for a device. Its text is `auto`, `hip:0`, or any name of a GPU to emulate, with or without the prefix
/// `emulator:`, such as `emulator:gfx90a` or `MI250X`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceSelector {
    /// HIP's first device that the program has kernels for, otherwise an emulated GPU.
    #[default]
    Auto,
    /// HIP's device with this number.
    Hip(u32),
    /// A GPU to emulate, as its default product.
    Emulator(Gpu),
    /// A product to emulate.
    Product(Product),
}

impl DeviceSelector {
    /// The selector that emulates a product.
    pub fn of_product(product: Product) -> Self {
        match product.is_default() {
            true => Self::Emulator(product.gpu()),
            false => Self::Product(product),
        }
    }

    /// The product to emulate, if the emulator is requested.
    pub fn product(&self) -> Option<Product> {
        match *self {
            Self::Emulator(gpu) => Some(Product::of(gpu)),
            Self::Product(product) => Some(product),
            Self::Auto | Self::Hip(_) => None,
        }
    }

    /// The selector in [`DEVICE_VARIABLE`]; [`Self::Auto`] if it is empty or not set.
    ///
    /// # Errors
    /// If the variable is not a selector.
    pub fn from_environment() -> Result<Self, SelectorError> {
        match env::var_os(DEVICE_VARIABLE) {
            Some(text) if !text.is_empty() => {
                let text = text.to_string_lossy();
                text.parse().map_err(|_| SelectorError {
                    text: text.into_owned(),
                    variable: true,
                })
            }
            _ => Ok(DeviceSelector::Auto),
        }
    }
}

/// A text that is not a [`DeviceSelector`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{}unknown device `{text}`; allowed are `auto`, `hip:N` with N from 0 on, and a GPU to emulate: {}",
    if *.variable { "FERROWAVE_DEVICE: " } else { "" },
    Product::names()
)]
pub struct SelectorError {
    /// The text.
    pub text: String,
    /// Whether it is from [`DEVICE_VARIABLE`].
    pub variable: bool,
}

impl FromStr for DeviceSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let selector = match text.split_once(':') {
            None if text == "auto" => Some(DeviceSelector::Auto),
            // `parse` alone would accept a sign.
            Some(("hip", number)) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                number.parse().ok().map(DeviceSelector::Hip)
            }
            Some(("emulator", name)) => name.parse().ok().map(Self::of_product),
            None => text.parse().ok().map(Self::of_product),
            _ => None,
        };
        selector.ok_or_else(|| SelectorError {
            text: text.to_owned(),
            variable: false,
        })
    }
}

impl fmt::Display for DeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceSelector::Auto => f.write_str("auto"),
            DeviceSelector::Hip(number) => write!(f, "hip:{number}"),
            DeviceSelector::Emulator(gpu) => write!(f, "emulator:{gpu}"),
            DeviceSelector::Product(product) => write!(f, "emulator:{product}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_come_back_as_text() {
        for (text, selector) in [
            ("auto", DeviceSelector::Auto),
            ("hip:0", DeviceSelector::Hip(0)),
            ("hip:12", DeviceSelector::Hip(12)),
            ("emulator:gfx908", DeviceSelector::Emulator(Gpu::Gfx908)),
            ("emulator:MI250X", DeviceSelector::Product(Product::Mi250x)),
            ("emulator:gfx1151", DeviceSelector::Emulator(Gpu::Gfx1151)),
            (
                "emulator:RX 7900 XT",
                DeviceSelector::Product(Product::Rx7900Xt),
            ),
        ] {
            assert_eq!(text.parse(), Ok(selector));
            assert_eq!(selector.to_string(), text);
        }
        for text in ["gfx942", "MI300X", "mi300x", "emulator:MI300X"] {
            assert_eq!(text.parse(), Ok(DeviceSelector::Emulator(Gpu::Gfx942)));
        }
        for text in ["emulator:RX 7900 XTX", "7900xtx", "gfx1100"] {
            assert_eq!(text.parse(), Ok(DeviceSelector::Emulator(Gpu::Gfx1100)));
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_is_allowed() {
        for text in [
            "",
            "Auto",
            "hip",
            "hip:",
            "hip:-1",
            "hip:+1",
            "hip:4294967296",
            "emulator",
            "emulator:gfx1030",
            "cuda:0",
        ] {
            let error = text.parse::<DeviceSelector>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "unknown device `{text}`; allowed are `auto`, `hip:N` with N from 0 on, and a GPU to emulate: \
                     gfx908 (MI100), gfx90a (MI210, MI250X), gfx942 (MI300X), gfx950 (MI355X), gfx1100 (RX 7900 XTX, RX \
                     7900 XT, PRO W7900), gfx1101 (RX 7800 XT), gfx1102 (RX 7600), gfx1150 (Radeon 890M), gfx1151 (Radeon \
                     8060S), gfx1200 (RX 9060 XT), gfx1201 (RX 9070 XT, RX 9070, AI PRO R9700)"
                )
            );
        }
    }
}
