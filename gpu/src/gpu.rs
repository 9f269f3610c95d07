//! //! GPU instruction sets.

use core::fmt;

use crate::Product;

/// A GPU instruction set that this project knows, by LLVM's processor name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Gpu {
    /// MI100 (CDNA 1).
    Gfx908,
    /// MI210, MI250X (CDNA 2).
    Gfx90a,
    /// MI300A, MI300X, MI325X (CDNA 3).
    Gfx942,
    /// MI350X, MI355X (CDNA 4).
    Gfx950,
}

impl Gpu {
    /// All of them, oldest first.
    pub const ALL: [Gpu; 4] = [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950];

    /// LLVM's processor name.
    pub const fn name(self) -> &'static str {
        match self {
            Gpu::Gfx908 => "gfx908",
            Gpu::Gfx90a => "gfx90a",
            Gpu::Gfx942 => "gfx942",
            Gpu::Gfx950 => "gfx950",
        }
    }

    /// Bytes of a line of the vector L1 cache: 64 up to CDNA 2, 128 from CDNA 3 on (AMD's documentation of ROCm Compute
    /// Profiler, «vL1D»; CDNA 3 white paper).
    pub const fn line_bytes(self) -> u32 {
        match self {
            Gpu::Gfx908 | Gpu::Gfx90a => 64,
            Gpu::Gfx942 | Gpu::Gfx950 => 128,
        }
    }

    /// Transfers of the memory per clock that HIP reports: HBM2 and HBM2E transfer on both edges of it. With HBM3 the
    /// reported clock is half of that: 1300 MHz over 8192 bits on MI300X, whose data sheet says 5.3 TB/s.
    pub const fn memory_transfers_per_clock(self) -> u32 {
        match self {
            Gpu::Gfx908 | Gpu::Gfx90a => 2,
            Gpu::Gfx942 | Gpu::Gfx950 => 4,
        }
    }

    /// Peak memory bandwidth, in bytes per second, with a memory clock in Hz and a bus width in bits as HIP reports them.
    pub fn memory_bytes_per_second(self, clock_hz: f64, bus_bits: u32) -> f64 {
        f64::from(self.memory_transfers_per_clock()) * clock_hz * f64::from(bus_bits) / 8.0
    }

    /// XCDs of a device, which may be a partition of a GPU, with this many compute units; `None` if no number of whole
    /// XCDs has them. XCDs of a GPU's products have the same number of active compute units.
    pub const fn xcds_of(self, compute_units: u32) -> Option<u32> {
        let row = Product::of(self).specifications();
        let each = row.compute_units_per_xcd();
        if row.xcds == 1 {
            Some(1)
        } else if compute_units == 0 || !compute_units.is_multiple_of(each) {
            None
        } else {
            Some(compute_units / each)
        }
    }

    /// The `EF_AMDGPU_MACH` value in the low 8 bits of a code object's ELF flags
    /// (LLVM's `AMDGPUUsage`, table «AMDGPU ELF e_flags»).
    pub const fn mach(self) -> u8 {
        match self {
            Gpu::Gfx908 => 0x30,
            Gpu::Gfx90a => 0x3f,
            Gpu::Gfx942 => 0x4c,
            Gpu::Gfx950 => 0x4f,
        }
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
