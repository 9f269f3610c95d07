//! GPU instruction sets.

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
    /// Radeon RX 7900, PRO W7900 (RDNA 3, Navi 31).
    Gfx1100,
    /// Radeon RX 7800 XT, RX 7700 XT (RDNA 3, Navi 32).
    Gfx1101,
    /// Radeon RX 7600 (RDNA 3, Navi 33).
    Gfx1102,
    /// Radeon 890M, 880M (RDNA 3.5, Strix Point).
    Gfx1150,
    /// Radeon 8060S (RDNA 3.5, Strix Halo).
    Gfx1151,
    /// Radeon RX 9060 XT (RDNA 4, Navi 44).
    Gfx1200,
    /// Radeon RX 9070, AI PRO R9700 (RDNA 4, Navi 48).
    Gfx1201,
}

impl Gpu {
    /// All of them, oldest first.
    pub const ALL: [Gpu; 11] = [
        Gpu::Gfx908,
        Gpu::Gfx90a,
        Gpu::Gfx942,
        Gpu::Gfx950,
        Gpu::Gfx1100,
        Gpu::Gfx1101,
        Gpu::Gfx1102,
        Gpu::Gfx1150,
        Gpu::Gfx1151,
        Gpu::Gfx1200,
        Gpu::Gfx1201,
    ];

    /// LLVM's processor name.
    pub const fn name(self) -> &'static str {
        match self {
            Gpu::Gfx908 => "gfx908",
            Gpu::Gfx90a => "gfx90a",
            Gpu::Gfx942 => "gfx942",
            Gpu::Gfx950 => "gfx950",
            Gpu::Gfx1100 => "gfx1100",
            Gpu::Gfx1101 => "gfx1101",
            Gpu::Gfx1102 => "gfx1102",
            Gpu::Gfx1150 => "gfx1150",
            Gpu::Gfx1151 => "gfx1151",
            Gpu::Gfx1200 => "gfx1200",
            Gpu::Gfx1201 => "gfx1201",
        }
    }

    /// Bytes of a line of the vector L1 cache: 64 up to CDNA 2, 128 from CDNA 3 on (AMD's documentation of ROCm Compute
    /// Profiler, «vL1D»; CDNA 3 white paper) and on RDNA (RDNA white paper: lines of 128 bytes in all caches).
    pub const fn line_bytes(self) -> u32 {
        match self {
            Gpu::Gfx908 | Gpu::Gfx90a => 64,
            _ => 128,
        }
    }

    /// Transfers of the memory per clock that HIP reports: HBM2 and HBM2E transfer on both edges of it. With HBM3 the
    /// reported clock is half of that: 1300 MHz over 8192 bits on MI300X, whose data sheet says 5.3 TB/s. GDDR6 transfers sixteen times per clock (1250 MHz over 384
    /// bits on RX 7900 XTX, whose data sheet says 20 Gbit/s and 960 GB/s), LPDDR5X eight times (1000 MHz are LPDDR5X-8000).
    pub const fn memory_transfers_per_clock(self) -> u32 {
        match self {
            Gpu::Gfx908 | Gpu::Gfx90a => 2,
            Gpu::Gfx942 | Gpu::Gfx950 => 4,
            Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1102 | Gpu::Gfx1200 | Gpu::Gfx1201 => 16,
            Gpu::Gfx1150 | Gpu::Gfx1151 => 8,
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
            Gpu::Gfx1100 => 0x41,
            Gpu::Gfx1101 => 0x46,
            Gpu::Gfx1102 => 0x47,
            Gpu::Gfx1150 => 0x43,
            Gpu::Gfx1151 => 0x4a,
            Gpu::Gfx1200 => 0x48,
            Gpu::Gfx1201 => 0x4e,
        }
    }

    /// Whether the hardware finds a wave's private memory itself (LLVM's `FeatureArchitectedFlatScratch`). Otherwise the kernel
    /// computes its address from user SGPRs.
    pub const fn has_architected_scratch(self) -> bool {
        !matches!(self, Gpu::Gfx908 | Gpu::Gfx90a)
    }

    /// Whether it is of RDNA 4 (gfx12).
    pub const fn is_rdna4(self) -> bool {
        matches!(self, Gpu::Gfx1200 | Gpu::Gfx1201)
    }

    /// Whether a wave finds its workgroup's coordinates in trap temporaries (LLVM's `FeatureArchitectedSGPRs`). Otherwise they
    /// are in SGPRs behind the kernel's user SGPRs.
    pub const fn has_architected_workgroup_ids(self) -> bool {
        self.is_rdna4()
    }

    /// Whether MODE has bits for IEEE mode and for the clamp of NaN (LLVM's `FeatureDX10ClampAndIEEEMode`). Otherwise minimum and
    /// maximum ignore NaN, and a clamp makes it 0.
    pub const fn has_clamp_and_ieee_mode(self) -> bool {
        !self.is_rdna4()
    }

    /// Whether one register holds all three work-item IDs, ten bits each (LLVM's `FeaturePackedTID`).
    pub const fn packs_work_item_ids(self) -> bool {
        !matches!(self, Gpu::Gfx908)
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
