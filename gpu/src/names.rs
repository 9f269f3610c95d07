//! Parses the names of GPUs and products, for all command lines and environment variables.

use core::{fmt, str::FromStr};
use std::{borrow::ToOwned, format, string::String, vec::Vec};

use crate::{Gpu, Product};

impl Product {
    /// All accepted names of GPUs, for messages: `gfx90a (MI210, MI250X)` and so on.
    pub fn names() -> String {
        let names = Gpu::ALL.map(|gpu| {
            let products = Product::ALL
                .into_iter()
                .filter(|product| product.gpu() == gpu);
            let products: Vec<_> = products.map(Product::name).collect();
            format!("{gpu} ({})", products.join(", "))
        });
        names.join(", ")
    }
}

/// A name that is neither a GPU's nor a product's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownGpu(pub String);

impl fmt::Display for UnknownGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown GPU `{}`; known are {}",
            self.0,
            Product::names()
        )
    }
}

impl std::error::Error for UnknownGpu {}

/// Accepts the product's name or its instruction set's, in any case.
impl FromStr for Product {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<Self, UnknownGpu> {
        let is = |known: &str| known.eq_ignore_ascii_case(name.trim());
        let by_gpu = Gpu::ALL.into_iter().find(|gpu| is(gpu.name()));
        by_gpu
            .map(Product::of)
            .or_else(|| Product::ALL.into_iter().find(|product| is(product.name())))
            .ok_or_else(|| UnknownGpu(name.to_owned()))
    }
}

/// Accepts the instruction set's name or a product's, in any case.
impl FromStr for Gpu {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<Self, UnknownGpu> {
        name.parse().map(Product::gpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn instruction_sets_and_products_are_names_of_gpus() {
        for (name, product) in [
            ("gfx908", Product::Mi100),
            ("GFX90A", Product::Mi210),
            ("mi250x", Product::Mi250x),
            (" MI300X ", Product::Mi300x),
            ("gfx950", Product::Mi355x),
        ] {
            assert_eq!(name.parse(), Ok(product));
            assert_eq!(name.parse(), Ok(product.gpu()));
        }
        for product in Product::ALL {
            assert_eq!(product.name().parse(), Ok(product));
        }
        for gpu in Gpu::ALL {
            assert_eq!(Product::of(gpu).gpu(), gpu);
        }
        for name in ["", "gfx", "gfx1100", "MI300", "emulator:gfx942", "auto"] {
            assert_eq!(
                name.parse::<Gpu>().expect_err(name).to_string(),
                format!(
                    "unknown GPU `{name}`; known are gfx908 (MI100), gfx90a (MI210, MI250X), gfx942 (MI300X), gfx950 \
                     (MI355X)"
                )
            );
        }
    }
}
