//! The products that are known by name, and what all command lines take for a GPU's name.

use std::{fmt, str::FromStr};

use crate::Gpu;

/// A product, or one of the two dies of MI250X: what HIP calls a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// CDNA 1.
    Mi100,
    /// CDNA 2, one die.
    Mi210,
    /// CDNA 2, one of its two dies.
    Mi250x,
    /// CDNA 3.
    Mi300x,
    /// CDNA 4.
    Mi355x,
}

impl Product {
    /// All of them, oldest first.
    pub const ALL: [Product; 5] = [
        Product::Mi100,
        Product::Mi210,
        Product::Mi250x,
        Product::Mi300x,
        Product::Mi355x,
    ];

    /// AMD's name.
    pub const fn name(self) -> &'static str {
        match self {
            Product::Mi100 => "MI100",
            Product::Mi210 => "MI210",
            Product::Mi250x => "MI250X",
            Product::Mi300x => "MI300X",
            Product::Mi355x => "MI355X",
        }
    }

    /// Its instruction set.
    pub const fn gpu(self) -> Gpu {
        match self {
            Product::Mi100 => Gpu::Gfx908,
            Product::Mi210 | Product::Mi250x => Gpu::Gfx90a,
            Product::Mi300x => Gpu::Gfx942,
            Product::Mi355x => Gpu::Gfx950,
        }
    }

    /// The product that is meant where only the instruction set is known.
    pub const fn of(gpu: Gpu) -> Self {
        match gpu {
            Gpu::Gfx908 => Product::Mi100,
            Gpu::Gfx90a => Product::Mi210,
            Gpu::Gfx942 => Product::Mi300x,
            Gpu::Gfx950 => Product::Mi355x,
        }
    }

    /// All names that are taken for a GPU, for messages: `gfx90a (MI210, MI250X)` and so on.
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

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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

/// By its own name or its instruction set's, in capitals or not.
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

/// By its own name or a product's, in capitals or not.
impl FromStr for Gpu {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<Self, UnknownGpu> {
        name.parse().map(Product::gpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
