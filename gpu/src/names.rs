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

/// Names by which users call a product, besides AMD's: those of the processors that it is part of.
const OTHER_NAMES: [(&str, Product); 2] = [
    ("Strix Point", Product::Radeon890m),
    ("Strix Halo", Product::Radeon8060s),
];

/// What of a product's name tells it from others: lower case without spaces, and without the names of its makers and series.
fn distinct(name: &str) -> String {
    let mut name: String = name
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-' && *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    for series in ["amd", "instinct", "radeon", "ai", "rx", "pro"] {
        if let Some(rest) = name.strip_prefix(series) {
            name = rest.to_owned();
        }
    }
    name
}

/// Accepts the product's name or its instruction set's, in any case; a product's also without its series: `7900 XTX`.
impl FromStr for Product {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<Self, UnknownGpu> {
        let is = |known: &str| known.eq_ignore_ascii_case(name.trim());
        let by_gpu = Gpu::ALL.into_iter().find(|gpu| is(gpu.name()));
        let asked = distinct(name);
        let others = OTHER_NAMES.into_iter();
        let mut names = Product::ALL
            .into_iter()
            .map(|product| (product.name(), product))
            .chain(others);
        by_gpu
            .map(Product::of)
            .or_else(|| Some(names.find(|(known, _)| distinct(known) == asked)?.1))
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
            ("gfx1100", Product::Rx7900Xtx),
            ("RX 7900 XTX", Product::Rx7900Xtx),
            ("7900xtx", Product::Rx7900Xtx),
            ("Radeon RX 7900 XT", Product::Rx7900Xt),
            ("W7900", Product::ProW7900),
            ("rx7800xt", Product::Rx7800Xt),
            ("RX 7600", Product::Rx7600),
            ("890M", Product::Radeon890m),
            ("strix-halo", Product::Radeon8060s),
            ("AMD Radeon 8060S", Product::Radeon8060s),
            ("gfx1150", Product::Radeon890m),
            ("RX 9070 XT", Product::Rx9070Xt),
            ("9070xt", Product::Rx9070Xt),
            ("Radeon RX 9070", Product::Rx9070),
            ("9060 XT", Product::Rx9060Xt),
            ("R9700", Product::AiProR9700),
            ("gfx1201", Product::Rx9070Xt),
        ] {
            assert_eq!(name.parse(), Ok(product));
            assert_eq!(name.parse(), Ok(product.gpu()));
        }
        for product in Product::ALL {
            assert_eq!(product.name().parse(), Ok(product));
            assert_eq!(product.specifications().full_name.parse(), Ok(product));
        }
        for gpu in Gpu::ALL {
            assert_eq!(Product::of(gpu).gpu(), gpu);
        }
        for name in [
            "",
            "gfx",
            "gfx1030",
            "RX",
            "MI300",
            "emulator:gfx942",
            "auto",
        ] {
            assert_eq!(
                name.parse::<Gpu>().expect_err(name).to_string(),
                format!(
                    "unknown GPU `{name}`; known are gfx908 (MI100), gfx90a (MI210, MI250X), gfx942 (MI300X), gfx950 \
                     (MI355X), gfx1100 (RX 7900 XTX, RX 7900 XT, PRO W7900), gfx1101 (RX 7800 XT), gfx1102 (RX 7600), gfx1150 \
                     (Radeon 890M), gfx1151 (Radeon 8060S), gfx1200 (RX 9060 XT), gfx1201 (RX 9070 XT, RX 9070, AI PRO \
                     R9700)"
                )
            );
        }
    }
}
