//! The GPUs that are emulated, one row each.

pub use ferrowave_code_object::{Gpu, Product};

/// What a GPU of a kind has, for programs that ask. Nothing here changes what a kernel computes.
///
/// From AMD's data sheets and CDNA white papers (MI100, MI210, MI300X, MI355X); PCI identifiers from the PCI ID
/// Repository (`pci.ids`). What limits kernels is in [`GpuLimits`](ferrowave_code_object::GpuLimits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuRow {
    /// Instruction set.
    pub gpu: Gpu,
    /// A product that has it.
    pub product: &'static str,
    /// Its PCI device identifier; the vendor's is [`PCI_VENDOR_ID`].
    pub pci_device_id: u16,
    /// Compute units, all XCDs together.
    pub compute_units: u32,
    /// XCDs, each with an L2 of its own; 1 where the GPU is one die.
    pub xcds: u32,
    /// Highest engine clock, in MHz.
    pub clock_mhz: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Memory clock (transfers are double), in MHz.
    pub memory_clock_mhz: u32,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: u32,
    /// L2 cache (of one XCD, where there are several), in bytes.
    pub l2_bytes: u32,
}

/// AMD, among the vendors of PCI devices.
pub const PCI_VENDOR_ID: u16 = 0x1002;

/// Most work-items in a workgroup, on all of them.
pub const MAX_WORKGROUP_SIZE: u32 = 1024;

const GIB: u64 = 1 << 30;
const MIB: u32 = 1 << 20;

/// All rows, in the order of [`Gpu::ALL`].
pub const GPUS: [GpuRow; 4] = [
    GpuRow {
        gpu: Gpu::Gfx908,
        product: "AMD Instinct MI100",
        pci_device_id: 0x738c,
        compute_units: 120,
        xcds: 1,
        clock_mhz: 1502,
        memory_bytes: 32 * GIB,
        memory_clock_mhz: 1200,
        memory_bus_bits: 4096,
        l2_bytes: 8 * MIB,
    },
    GpuRow {
        gpu: Gpu::Gfx90a,
        product: "AMD Instinct MI210",
        pci_device_id: 0x740f,
        compute_units: 104,
        xcds: 1,
        clock_mhz: 1700,
        memory_bytes: 64 * GIB,
        memory_clock_mhz: 1600,
        memory_bus_bits: 4096,
        l2_bytes: 8 * MIB,
    },
    GpuRow {
        gpu: Gpu::Gfx942,
        product: "AMD Instinct MI300X",
        pci_device_id: 0x74a1,
        compute_units: 304,
        xcds: 8,
        clock_mhz: 2100,
        memory_bytes: 192 * GIB,
        memory_clock_mhz: 2600,
        memory_bus_bits: 8192,
        l2_bytes: 4 * MIB,
    },
    GpuRow {
        gpu: Gpu::Gfx950,
        product: "AMD Instinct MI355X",
        pci_device_id: 0x75a3,
        compute_units: 256,
        xcds: 8,
        clock_mhz: 2400,
        memory_bytes: 288 * GIB,
        memory_clock_mhz: 4000,
        memory_bus_bits: 8192,
        l2_bytes: 4 * MIB,
    },
];

/// One of MI250X's two dies, which is what HIP calls a device: MI210's with more of its units.
pub const MI250X: GpuRow = GpuRow {
    product: "AMD Instinct MI250X",
    pci_device_id: 0x7408,
    compute_units: 110,
    ..GPUS[1]
};

impl GpuRow {
    /// The row of a GPU.
    pub const fn of(gpu: Gpu) -> &'static GpuRow {
        &GPUS[match gpu {
            Gpu::Gfx908 => 0,
            Gpu::Gfx90a => 1,
            Gpu::Gfx942 => 2,
            Gpu::Gfx950 => 3,
        }]
    }

    /// The row of a product.
    pub const fn of_product(product: Product) -> &'static GpuRow {
        match product {
            Product::Mi250x => &MI250X,
            product => GpuRow::of(product.gpu()),
        }
    }

    /// What an emulated device calls itself, so that it is not taken for a GPU.
    pub fn device_name(&self) -> String {
        let (gpu, product) = (self.gpu, self.product);
        format!("{product} ({gpu}, emulated by Ferrowave)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gpu_has_its_row() {
        for gpu in Gpu::ALL {
            assert_eq!(GpuRow::of(gpu).gpu, gpu);
        }
        for product in Product::ALL {
            let row = GpuRow::of_product(product);
            assert_eq!(row.gpu, product.gpu());
            assert!(row.product.ends_with(product.name()));
        }
    }
}
