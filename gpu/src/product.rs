//! GPU products.

use core::fmt;

use crate::{Gpu, Specifications};

/// A product as HIP shows it as a device: MI250X has two dies, and each is a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// CDNA 1.
    Mi100,
    /// CDNA 2.
    Mi210,
    /// CDNA 2, one of the two dies.
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

    /// AMD's name, without «Instinct».
    pub const fn name(self) -> &'static str {
        self.specifications().name
    }

    /// Its instruction set.
    pub const fn gpu(self) -> Gpu {
        self.specifications().gpu
    }

    /// Its specifications.
    pub const fn specifications(self) -> &'static Specifications {
        Specifications::of(self)
    }

    /// The default product of an instruction set.
    pub const fn of(gpu: Gpu) -> Self {
        match gpu {
            Gpu::Gfx908 => Product::Mi100,
            Gpu::Gfx90a => Product::Mi210,
            Gpu::Gfx942 => Product::Mi300x,
            Gpu::Gfx950 => Product::Mi355x,
        }
    }

    /// Whether this is the default product of its instruction set.
    pub const fn is_default(self) -> bool {
        self as u8 == Product::of(self.gpu()) as u8
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
