//! The machines that are modelled, and what their units do in a cycle: one table.
//!
//! | figures | source |
//! |---|---|
//! | compute units, XCDs, clocks, memory bandwidth | [`crate::gpu`] and AMD's data sheets |
//! | caches: capacities | ROCm's «Accelerator and GPU hardware specifications» |
//! | latencies of L1, L2, memory, scalar cache, LDS; bandwidth of L2, read and written | measured by mt4g («Memory Topology 4 GPUs», reports of MI100, MI210 and MI300X, August 2025) |
//! | latency of the Infinity Cache | the same, MI300X: latency of L2 and its miss penalty |
//! | bandwidth of the Infinity Cache | Chips and Cheese, «Testing AMD's Giant MI300X»: 11.9 TB/s; mt4g measured 5.8 TB/s |
//! | share of memory's bandwidth that is reached: 0.8 | BabelStream on MI300X (Azure's guide to benchmarks), 4.26 of 5.3 TB/s, taken for all; mt4g measured 0.60 (MI100) to 0.75 (MI300X) |
//! | L1: looks up a line for sixteen lanes at once | GPUOpen, «Understanding Memory Coalescing on GCN»; agrees with AMD's fp8 ladder (`docs/timing.md`) |
//! | L1: 4 cycles for addresses, 64 bytes a cycle, 64 ways, whole lines that are written stay; LDS: 128 bytes a cycle; f64 at half rate on MI100 | AMD's slides «Introduction to AMD GPU programming with HIP», to which the documentation of ROCm Compute Profiler refers |
//! | the set of L1 that a line is in: by the lowest bits of its number | Wave's documentation («L1 Cache Swizzling on MI300»): 4 sets, chosen by bits 7 and 8 of the address; taken for all |
//! | ways of L2 | published descriptions of MI300X: 16, taken for all and for the Infinity Cache |
//! | a vector instruction: 4 cycles, transcendental ones 16; products of integers; a branch that is taken: 8 turns | LLVM's `SISchedule.td`, which calls its latencies possibly inaccurate |
//!
//! **MI355X has not been measured by anybody we found**: its latencies and shares are those of MI300X.

use std::{fmt, str::FromStr};

use ferrowave_code_object::{Gpu, Product, UnknownGpu};
use serde::{Serialize, Serializer};

use crate::gpu::GpuRow;

/// A product whose timing is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// CDNA 1.
    Mi100,
    /// CDNA 2, one die.
    Mi210,
    /// CDNA 2, one of its two dies: that is what HIP calls a device.
    Mi250x,
    /// CDNA 3.
    Mi300x,
    /// CDNA 4.
    Mi355x,
}

/// What a machine has and how fast it is. Cycles are those of the engine clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The machine.
    pub machine: Machine,
    /// Its name.
    pub name: &'static str,
    /// Its instruction set.
    pub gpu: Gpu,
    /// Compute units, all XCDs together.
    pub compute_units: u32,
    /// XCDs, each with an L2 of its own.
    pub xcds: u32,
    /// Highest engine clock in Hz. Clocks sag under load, which is not modelled.
    pub clock_hz: f64,
    /// Peak bandwidth of memory in bytes a second.
    pub memory_bytes_per_second: f64,
    /// The share of it that programs reach.
    pub memory_efficiency: f64,
    /// Cycles from a load to its result, where it hits in the vector L1 cache.
    pub l1_latency: u64,
    /// In L2.
    pub l2_latency: u64,
    /// In the Infinity Cache; that of memory where there is none.
    pub infinity_latency: u64,
    /// In memory.
    pub memory_latency: u64,
    /// In the scalar cache.
    pub scalar_latency: u64,
    /// In LDS, without conflicts.
    pub lds_latency: u64,
    /// Bytes of the vector L1 cache.
    pub l1_bytes: u32,
    /// Bytes of its lines, which are L2's too.
    pub line_bytes: u32,
    /// Bytes of the scalar cache.
    pub scalar_cache_bytes: u32,
    /// Bytes of the instruction cache, which neighbouring compute units share.
    pub instruction_cache_bytes: u32,
    /// Bytes of an XCD's L2.
    pub l2_bytes: u32,
    /// Bytes that an XCD's L2 gives in a cycle, as measured.
    pub l2_bytes_per_cycle: f64,
    /// Bytes that it takes in a cycle, as measured, while it gives none.
    pub l2_written_bytes_per_cycle: f64,
    /// Bytes of the Infinity Cache; 0 if there is none.
    pub infinity_bytes: u64,
    /// Bytes a second that it gives, as measured.
    pub infinity_bytes_per_second: f64,
    /// Cycles of a vector instruction on f64.
    pub double_cycles: u64,
    /// Cycles of a product of 32-bit integers.
    pub integer_product_cycles: u64,
    /// Bytes that the path from L1 to L2 takes in a cycle, for one compute unit.
    pub l1_to_l2_bytes_per_cycle: f64,
}

/// Cycles between two turns of a SIMD: four SIMDs issue one after the other.
pub const TURN: u64 = 4;

/// Ways of the vector L1 cache.
pub(crate) const L1_WAYS: usize = 64;
/// Ways of L2 and the Infinity Cache.
pub(crate) const L2_WAYS: usize = 16;

const MIB: u32 = 1 << 20;
const GIB_PER_SECOND: f64 = (1_u64 << 30) as f64;

const MI100: Parameters = Parameters {
    machine: Machine::Mi100,
    name: "MI100",
    gpu: Gpu::Gfx908,
    compute_units: 120,
    xcds: 1,
    clock_hz: 1.502e9,
    memory_bytes_per_second: 1.229e12,
    memory_efficiency: 0.8,
    l1_latency: 136,
    l2_latency: 344,
    infinity_latency: 703,
    memory_latency: 703,
    scalar_latency: 50,
    lds_latency: 50,
    l1_bytes: 16 << 10,
    line_bytes: 64,
    scalar_cache_bytes: 16 << 10,
    instruction_cache_bytes: 32 << 10,
    l2_bytes: 8 * MIB,
    l2_bytes_per_cycle: 2484.7 * GIB_PER_SECOND / 1.502e9,
    l2_written_bytes_per_cycle: 2209.0 * GIB_PER_SECOND / 1.502e9,
    infinity_bytes: 0,
    infinity_bytes_per_second: 0.0,
    double_cycles: 8,
    integer_product_cycles: 16,
    l1_to_l2_bytes_per_cycle: 64.0,
};

const MI210: Parameters = Parameters {
    machine: Machine::Mi210,
    name: "MI210",
    gpu: Gpu::Gfx90a,
    compute_units: 104,
    clock_hz: 1.7e9,
    memory_bytes_per_second: 1.638e12,
    l1_latency: 124,
    l2_latency: 302,
    infinity_latency: 741,
    memory_latency: 741,
    scalar_latency: 53,
    l2_bytes_per_cycle: 4014.1 * GIB_PER_SECOND / 1.7e9,
    l2_written_bytes_per_cycle: 2403.7 * GIB_PER_SECOND / 1.7e9,
    double_cycles: 4,
    integer_product_cycles: 4,
    ..MI100
};

const MI250X: Parameters = Parameters {
    machine: Machine::Mi250x,
    name: "MI250X",
    // The same die as MI210's with more of its units.
    compute_units: 110,
    ..MI210
};

const MI300X: Parameters = Parameters {
    machine: Machine::Mi300x,
    name: "MI300X",
    gpu: Gpu::Gfx942,
    compute_units: 304,
    xcds: 8,
    clock_hz: 2.1e9,
    memory_bytes_per_second: 5.3e12,
    l1_latency: 116,
    l2_latency: 288,
    infinity_latency: 288 + 209,
    memory_latency: 900,
    scalar_latency: 48,
    lds_latency: 51,
    l1_bytes: 32 << 10,
    line_bytes: 128,
    instruction_cache_bytes: 64 << 10,
    l2_bytes: 4 * MIB,
    l2_bytes_per_cycle: 14364.7 * GIB_PER_SECOND / 2.1e9 / 8.0,
    l2_written_bytes_per_cycle: 6562.2 * GIB_PER_SECOND / 2.1e9 / 8.0,
    infinity_bytes: 256 << 20,
    infinity_bytes_per_second: 11.9e12,
    ..MI210
};

const MI355X: Parameters = Parameters {
    machine: Machine::Mi355x,
    name: "MI355X",
    gpu: Gpu::Gfx950,
    compute_units: 256,
    clock_hz: 2.4e9,
    memory_bytes_per_second: 8.0e12,
    ..MI300X
};

/// All rows.
pub const MACHINES: [Parameters; 5] = [MI100, MI210, MI250X, MI300X, MI355X];

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 5] = [
        Machine::Mi100,
        Machine::Mi210,
        Machine::Mi250x,
        Machine::Mi300x,
        Machine::Mi355x,
    ];

    /// The machine that is meant where only the instruction set is known.
    pub const fn of(gpu: Gpu) -> Self {
        Self::of_product(Product::of(gpu))
    }

    /// The machine that a product is.
    pub const fn of_product(product: Product) -> Self {
        match product {
            Product::Mi100 => Machine::Mi100,
            Product::Mi210 => Machine::Mi210,
            Product::Mi250x => Machine::Mi250x,
            Product::Mi300x => Machine::Mi300x,
            Product::Mi355x => Machine::Mi355x,
        }
    }

    /// The product that it is.
    pub const fn product(self) -> Product {
        Product::ALL[self as usize]
    }

    /// Its row.
    pub const fn parameters(self) -> &'static Parameters {
        &MACHINES[self as usize]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.parameters().name
    }

    /// What programs see of it.
    pub(crate) const fn device(self) -> &'static GpuRow {
        GpuRow::of_product(self.product())
    }
}

impl Parameters {
    /// Compute units of an XCD.
    pub const fn compute_units_per_xcd(&self) -> u32 {
        self.compute_units / self.xcds
    }

    /// Bytes that memory gives in a cycle, all of it and as far as programs reach it.
    pub fn memory_bytes_per_cycle(&self) -> f64 {
        self.memory_bytes_per_second * self.memory_efficiency / self.clock_hz
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Machine {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<Self, UnknownGpu> {
        name.parse().map(Machine::of_product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_their_machines_order_and_agree_with_the_emulated_devices() {
        for machine in Machine::ALL {
            let row = machine.parameters();
            assert_eq!(row.machine, machine);
            assert_eq!(Machine::of_product(machine.product()), machine);
            assert_eq!(row.name, machine.product().name());
            assert_eq!(row.name.parse(), Ok(machine));
            assert_eq!(row.name.to_lowercase().parse(), Ok(machine));
            let device = machine.device();
            assert!(device.product.ends_with(row.name));
            assert_eq!((row.xcds, row.l2_bytes), (device.xcds, device.l2_bytes));
            assert_eq!(row.compute_units, device.compute_units);
            assert_eq!(row.clock_hz, 1e6 * f64::from(device.clock_mhz));
        }
        assert_eq!("gfx90a".parse(), Ok(Machine::Mi210));
        assert!("MI9".parse::<Machine>().is_err());
    }
}
