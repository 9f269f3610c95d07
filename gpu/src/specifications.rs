//! The specifications of each product, in one table.
//!
//! | figures | source |
//! |---|---|
//! | compute units, XCDs, clocks, memory and its bandwidth | AMD's data sheets and CDNA white papers (MI100, MI210, MI250X, MI300X, MI355X); AMD's pages of the Radeon products, with boost clocks; the pages of Ryzen AI 9 HX 370 and Ryzen AI Max+ 395 |
//! | PCI identifiers | the PCI ID Repository (`pci.ids`) |
//! | caches | ROCm, «Accelerator and GPU hardware specifications» |
//! | memory of Radeon 890M and 8060S | parts of the computer's own: 16 GiB of 32, and 96 GiB of 128, the most that AMD's driver reserves for Radeon 8060S |

use crate::{Family, Gpu, Product};

/// Figures of a product that programs query or that affect performance. None of them changes a kernel's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specifications {
    /// AMD's name without «Instinct», and without «Radeon» where a series follows.
    pub name: &'static str,
    /// AMD's full name.
    pub full_name: &'static str,
    /// Instruction set.
    pub gpu: Gpu,
    /// Its PCI device identifier; the vendor's is [`PCI_VENDOR_ID`].
    pub pci_device_id: u16,
    /// Compute units, all XCDs together. RDNA has two in each workgroup processor; see [`Self::multiprocessors`].
    pub compute_units: u32,
    /// XCDs, each with its own L2; 1 where the GPU is one die.
    pub xcds: u32,
    /// Highest engine clock, in MHz.
    pub clock_mhz: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Memory clock in MHz, as HIP reports it; see [`Gpu::memory_transfers_per_clock`].
    pub memory_clock_mhz: u32,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: u32,
    /// Peak memory bandwidth, as AMD rounds it, in bytes per second.
    pub memory_bytes_per_second: f64,
    /// The vector L1 cache of a compute unit, in bytes.
    pub l1_bytes: u32,
    /// The scalar cache, in bytes.
    pub scalar_cache_bytes: u32,
    /// The instruction cache, which neighbouring compute units share, in bytes.
    pub instruction_cache_bytes: u32,
    /// L2 cache in bytes; of one XCD where there are several.
    pub l2_bytes: u32,
    /// The Infinity Cache, in bytes; 0 if there is none.
    pub infinity_bytes: u64,
}

/// AMD's PCI vendor identifier.
pub const PCI_VENDOR_ID: u16 = 0x1002;

const GIB: u64 = 1 << 30;

const MI100: Specifications = Specifications {
    name: "MI100",
    full_name: "AMD Instinct MI100",
    gpu: Gpu::Gfx908,
    pci_device_id: 0x738c,
    compute_units: 120,
    xcds: 1,
    clock_mhz: 1502,
    memory_bytes: 32 * GIB,
    memory_clock_mhz: 1200,
    memory_bus_bits: 4096,
    memory_bytes_per_second: 1.229e12,
    l1_bytes: 16 << 10,
    scalar_cache_bytes: 16 << 10,
    instruction_cache_bytes: 32 << 10,
    l2_bytes: 8 << 20,
    infinity_bytes: 0,
};

const MI210: Specifications = Specifications {
    name: "MI210",
    full_name: "AMD Instinct MI210",
    gpu: Gpu::Gfx90a,
    pci_device_id: 0x740f,
    compute_units: 104,
    xcds: 1,
    clock_mhz: 1700,
    memory_bytes: 64 * GIB,
    memory_clock_mhz: 1600,
    memory_bus_bits: 4096,
    memory_bytes_per_second: 1.638e12,
    l1_bytes: 16 << 10,
    scalar_cache_bytes: 16 << 10,
    instruction_cache_bytes: 32 << 10,
    l2_bytes: 8 << 20,
    infinity_bytes: 0,
};

/// One of the two dies. HIP shows each as a device.
const MI250X: Specifications = Specifications {
    name: "MI250X",
    full_name: "AMD Instinct MI250X",
    pci_device_id: 0x7408,
    compute_units: 110,
    ..MI210
};

const MI300X: Specifications = Specifications {
    name: "MI300X",
    full_name: "AMD Instinct MI300X",
    gpu: Gpu::Gfx942,
    pci_device_id: 0x74a1,
    compute_units: 304,
    xcds: 8,
    clock_mhz: 2100,
    memory_bytes: 192 * GIB,
    memory_clock_mhz: 1300,
    memory_bus_bits: 8192,
    memory_bytes_per_second: 5.3e12,
    l1_bytes: 32 << 10,
    scalar_cache_bytes: 16 << 10,
    instruction_cache_bytes: 64 << 10,
    l2_bytes: 4 << 20,
    infinity_bytes: 256 << 20,
};

const MI355X: Specifications = Specifications {
    name: "MI355X",
    full_name: "AMD Instinct MI355X",
    gpu: Gpu::Gfx950,
    pci_device_id: 0x75a3,
    compute_units: 256,
    xcds: 8,
    clock_mhz: 2400,
    memory_bytes: 288 * GIB,
    memory_clock_mhz: 2000,
    memory_bus_bits: 8192,
    memory_bytes_per_second: 8.0e12,
    l1_bytes: 32 << 10,
    scalar_cache_bytes: 16 << 10,
    instruction_cache_bytes: 64 << 10,
    l2_bytes: 4 << 20,
    infinity_bytes: 256 << 20,
};

const RX_7900_XTX: Specifications = Specifications {
    name: "RX 7900 XTX",
    full_name: "AMD Radeon RX 7900 XTX",
    gpu: Gpu::Gfx1100,
    pci_device_id: 0x744c,
    compute_units: 96,
    xcds: 1,
    clock_mhz: 2500,
    memory_bytes: 24 * GIB,
    memory_clock_mhz: 1250,
    memory_bus_bits: 384,
    memory_bytes_per_second: 960e9,
    l1_bytes: 32 << 10,
    scalar_cache_bytes: 16 << 10,
    instruction_cache_bytes: 32 << 10,
    l2_bytes: 6 << 20,
    infinity_bytes: 96 << 20,
};

const RX_7900_XT: Specifications = Specifications {
    name: "RX 7900 XT",
    full_name: "AMD Radeon RX 7900 XT",
    compute_units: 84,
    clock_mhz: 2400,
    memory_bytes: 20 * GIB,
    memory_bus_bits: 320,
    memory_bytes_per_second: 800e9,
    infinity_bytes: 80 << 20,
    ..RX_7900_XTX
};

const PRO_W7900: Specifications = Specifications {
    name: "PRO W7900",
    full_name: "AMD Radeon PRO W7900",
    pci_device_id: 0x7448,
    clock_mhz: 2495,
    memory_bytes: 48 * GIB,
    memory_clock_mhz: 1125,
    memory_bytes_per_second: 864e9,
    ..RX_7900_XTX
};

const RX_7800_XT: Specifications = Specifications {
    name: "RX 7800 XT",
    full_name: "AMD Radeon RX 7800 XT",
    gpu: Gpu::Gfx1101,
    pci_device_id: 0x747e,
    compute_units: 60,
    clock_mhz: 2430,
    memory_bytes: 16 * GIB,
    memory_clock_mhz: 1219,
    memory_bus_bits: 256,
    memory_bytes_per_second: 624e9,
    l2_bytes: 4 << 20,
    infinity_bytes: 64 << 20,
    ..RX_7900_XTX
};

const RX_7600: Specifications = Specifications {
    name: "RX 7600",
    full_name: "AMD Radeon RX 7600",
    gpu: Gpu::Gfx1102,
    pci_device_id: 0x7480,
    compute_units: 32,
    clock_mhz: 2655,
    memory_bytes: 8 * GIB,
    memory_clock_mhz: 1125,
    memory_bus_bits: 128,
    memory_bytes_per_second: 288e9,
    l2_bytes: 2 << 20,
    infinity_bytes: 32 << 20,
    ..RX_7900_XTX
};

const RADEON_890M: Specifications = Specifications {
    name: "Radeon 890M",
    full_name: "AMD Radeon 890M",
    gpu: Gpu::Gfx1150,
    pci_device_id: 0x150e,
    compute_units: 16,
    clock_mhz: 2900,
    memory_bytes: 16 * GIB,
    memory_clock_mhz: 938,
    memory_bus_bits: 128,
    memory_bytes_per_second: 120e9,
    l2_bytes: 2 << 20,
    infinity_bytes: 0,
    ..RX_7900_XTX
};

const RADEON_8060S: Specifications = Specifications {
    name: "Radeon 8060S",
    full_name: "AMD Radeon 8060S",
    gpu: Gpu::Gfx1151,
    pci_device_id: 0x1586,
    compute_units: 40,
    clock_mhz: 2900,
    memory_bytes: 96 * GIB,
    memory_clock_mhz: 1000,
    memory_bus_bits: 256,
    memory_bytes_per_second: 256e9,
    l2_bytes: 2 << 20,
    infinity_bytes: 32 << 20,
    ..RX_7900_XTX
};

const RX_9060_XT: Specifications = Specifications {
    name: "RX 9060 XT",
    full_name: "AMD Radeon RX 9060 XT",
    gpu: Gpu::Gfx1200,
    pci_device_id: 0x7590,
    compute_units: 32,
    clock_mhz: 3130,
    memory_bytes: 16 * GIB,
    memory_clock_mhz: 1250,
    memory_bus_bits: 128,
    memory_bytes_per_second: 320e9,
    l2_bytes: 4 << 20,
    infinity_bytes: 32 << 20,
    ..RX_7900_XTX
};

const RX_9070_XT: Specifications = Specifications {
    name: "RX 9070 XT",
    full_name: "AMD Radeon RX 9070 XT",
    gpu: Gpu::Gfx1201,
    pci_device_id: 0x7550,
    compute_units: 64,
    clock_mhz: 2970,
    memory_bytes: 16 * GIB,
    memory_clock_mhz: 1250,
    memory_bus_bits: 256,
    memory_bytes_per_second: 640e9,
    l2_bytes: 8 << 20,
    infinity_bytes: 64 << 20,
    ..RX_7900_XTX
};

const RX_9070: Specifications = Specifications {
    name: "RX 9070",
    full_name: "AMD Radeon RX 9070",
    compute_units: 56,
    clock_mhz: 2520,
    ..RX_9070_XT
};

const AI_PRO_R9700: Specifications = Specifications {
    name: "AI PRO R9700",
    full_name: "AMD Radeon AI PRO R9700",
    pci_device_id: 0x7551,
    clock_mhz: 2920,
    memory_bytes: 32 * GIB,
    ..RX_9070_XT
};

impl Specifications {
    /// The specifications of a product.
    pub const fn of(product: Product) -> &'static Self {
        match product {
            Product::Mi100 => &MI100,
            Product::Mi210 => &MI210,
            Product::Mi250x => &MI250X,
            Product::Mi300x => &MI300X,
            Product::Mi355x => &MI355X,
            Product::Rx7900Xtx => &RX_7900_XTX,
            Product::Rx7900Xt => &RX_7900_XT,
            Product::ProW7900 => &PRO_W7900,
            Product::Rx7800Xt => &RX_7800_XT,
            Product::Rx7600 => &RX_7600,
            Product::Radeon890m => &RADEON_890M,
            Product::Radeon8060s => &RADEON_8060S,
            Product::Rx9060Xt => &RX_9060_XT,
            Product::Rx9070Xt => &RX_9070_XT,
            Product::Rx9070 => &RX_9070,
            Product::AiProR9700 => &AI_PRO_R9700,
        }
    }

    /// The highest engine clock, in Hz.
    pub const fn clock_hz(&self) -> f64 {
        1e6 * self.clock_mhz as f64
    }

    /// Units that can run a workgroup: compute units, or RDNA's workgroup processors of two compute units each. HIP reports
    /// these (CLR's `rocdevice.cpp`, `enableWgpMode_`).
    pub const fn multiprocessors(&self) -> u32 {
        match self.gpu.family() {
            Family::Cdna => self.compute_units,
            Family::Rdna => self.compute_units / 2,
        }
    }

    /// Compute units of an XCD.
    pub const fn compute_units_per_xcd(&self) -> u32 {
        self.compute_units / self.xcds
    }

    /// The peak memory bandwidth that clock and bus give, in bytes per second.
    pub fn transfer_bytes_per_second(&self) -> f64 {
        self.gpu
            .memory_bytes_per_second(1e6 * f64::from(self.memory_clock_mhz), self.memory_bus_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AMD's data sheets have the bandwidth, rounded.
    #[test]
    fn bandwidth_is_what_clock_and_bus_give() {
        for product in Product::ALL {
            let row = product.specifications();
            let ratio = row.memory_bytes_per_second / row.transfer_bytes_per_second();
            assert!((0.97..1.01).contains(&ratio), "{}: {ratio}", row.name);
        }
    }

    /// Partition modes of MI300X, MI300A and MI355X: SPX, DPX or TPX, QPX, CPX (AMD, «Instinct MI300X GPU Partitioning
    /// Overview»; CDNA 3 and 4 white papers: 38 and 32 active compute units in an XCD).
    #[test]
    fn xcds_follow_from_compute_units() {
        for (gpu, compute_units, xcds) in [
            (Gpu::Gfx942, 304, Some(8)),
            (Gpu::Gfx942, 152, Some(4)),
            (Gpu::Gfx942, 76, Some(2)),
            (Gpu::Gfx942, 38, Some(1)),
            (Gpu::Gfx942, 228, Some(6)),
            (Gpu::Gfx950, 256, Some(8)),
            (Gpu::Gfx950, 32, Some(1)),
            (Gpu::Gfx90a, 110, Some(1)),
            (Gpu::Gfx908, 120, Some(1)),
            // A product with fewer compute units in an XCD.
            (Gpu::Gfx942, 80, None),
            (Gpu::Gfx942, 0, None),
        ] {
            assert_eq!(gpu.xcds_of(compute_units), xcds, "{gpu}: {compute_units}");
        }
    }

    #[test]
    fn full_names_end_with_names_and_units_divide_evenly() {
        for product in Product::ALL {
            let row = product.specifications();
            assert!(row.full_name.ends_with(row.name));
            assert_eq!(row.compute_units_per_xcd() * row.xcds, row.compute_units);
        }
    }
}
