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
    /// RDNA 3, Navi 31.
    Rx7900Xtx,
    /// RDNA 3, Navi 31 with fewer compute units.
    Rx7900Xt,
    /// RDNA 3, Navi 31 with more memory.
    ProW7900,
    /// RDNA 3, Navi 32.
    Rx7800Xt,
    /// RDNA 3, Navi 33.
    Rx7600,
    /// RDNA 3.5, the graphics of Strix Point.
    Radeon890m,
    /// RDNA 3.5, the graphics of Strix Halo.
    Radeon8060s,
    /// RDNA 4, Navi 44.
    Rx9060Xt,
    /// RDNA 4, Navi 48.
    Rx9070Xt,
    /// RDNA 4, Navi 48 with fewer compute units.
    Rx9070,
    /// RDNA 4, Navi 48 with more memory.
    AiProR9700,
}

impl Product {
    /// All of them, oldest first.
    pub const ALL: [Product; 16] = [
        Product::Mi100,
        Product::Mi210,
        Product::Mi250x,
        Product::Mi300x,
        Product::Mi355x,
        Product::Rx7900Xtx,
        Product::Rx7900Xt,
        Product::ProW7900,
        Product::Rx7800Xt,
        Product::Rx7600,
        Product::Radeon890m,
        Product::Radeon8060s,
        Product::Rx9060Xt,
        Product::Rx9070Xt,
        Product::Rx9070,
        Product::AiProR9700,
    ];

    /// AMD's name, without «Instinct», and without «Radeon» where a series follows.
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
            Gpu::Gfx1100 => Product::Rx7900Xtx,
            Gpu::Gfx1101 => Product::Rx7800Xt,
            Gpu::Gfx1102 => Product::Rx7600,
            Gpu::Gfx1150 => Product::Radeon890m,
            Gpu::Gfx1151 => Product::Radeon8060s,
            Gpu::Gfx1200 => Product::Rx9060Xt,
            Gpu::Gfx1201 => Product::Rx9070Xt,
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
