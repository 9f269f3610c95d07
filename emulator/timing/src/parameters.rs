//! The modelled machines and the speed of their units, in one table.
//!
//! Where the values of [`Parameters`] come from is said in `parameter_file`, which writes it to files of parameters. These
//! are the sources of what such files do not have:
//!
//! | figures | source |
//! |---|---|
//! | units, clocks, caches: capacities, memory bandwidth | [`Specifications`] |
//! | L1: looks up one line at once for sixteen lanes | GPUOpen, «Understanding Memory Coalescing on GCN»; agrees with AMD's fp8 ladder (`docs/timing.md`) |
//! | L1: 4 cycles for addresses, 64 ways, keeps lines that are written as a whole; LDS: 128 bytes per cycle | AMD's slides «Introduction to AMD GPU programming with HIP», to which the documentation of ROCm Compute Profiler refers |
//! | L1: the lowest bits of a line's number select its set | Wave's documentation («L1 Cache Swizzling on MI300»): 4 sets, selected by bits 7 and 8 of the address; used for all |
//! | L1: 16 cycles for 8 bytes a lane, as for 16 | AMD's Gluon tutorials (ROCm/gfx950-gluon-tutorials), `v8_sliceMN`, 4.1 to 4.4; MI300X and MI350, used for all |
//! | ways of L2 | published descriptions of MI300X: 16, used for all and for the Infinity Cache |
//! | vector instructions: 4 cycles, transcendental ones 16; taken branches: 8 turns | LLVM's `SISchedule.td`, which calls its latencies possibly inaccurate |
//!
//! Radeons:
//!
//! | figures | source |
//! |---|---|
//! | vector instructions of 32 lanes: one cycle, transcendental 4, 64-bit shifts 2 | Mesa's ACO (`aco_statistics.cpp`); the names of the thread trace's events (`VALUT_4`, `VALUB_2`, `VALUB_4`, `VALUB_16`) |
//! | their latencies: 5, 10, 8, 6, 38 cycles | LLVM's `GFX11SpeedModel`; the 5 is also in the traces |
//! | cycles of WMMA | peak rates of AMD's data sheets; on RDNA 4 the names `WMMA_8` and `WMMA_16` in the traces |
//! | barriers, branches of RDNA 4, `s_wait_alu`, matrix instructions in the queue | thread traces that tinygrad recorded on gfx1100 and gfx1201 (`extra/sqtt/examples`: `sync`, `gemm`, `handwritten`) |
//! | [`InOrder`] otherwise, taken branches of RDNA 3, results of instructions without vector operands | 433 captures of small kernels on RX 7900 XTX (github.com/2187Nick/tinygrad, `extra/sqtt/captures/rigorous`); RDNA 4 like it where the traces have nothing else |
//! | banks of registers | RDNA 3 ISA, «Dual Issue VALU»: four banks, each with a cache for an operand's place; one read of each bank in a cycle follows from chains in the captures (`mb_f6_*`), and from the time of seb-v's pairs of multiply-adds before and after he chose their registers |
//! | latency of the shader array's L1 | gpu-benches (github.com/te42kyfo/gpu-benches) on RX 6900 XT, RDNA 2, used for all: **an estimate** |
//! | L0: 64 bytes per cycle, looks up lines as CDNA's L1 | the same, `gpu-strides` |
//! | results return in order of all waves on RDNA 3, of each on RDNA 4 | Chips and Cheese, «RDNA 4's Out-of-Order Memory Accesses» |

use ferrowave_gpu::{GpuLimits, Product, Specifications};

/// How SIMDs issue, and what their instructions take beside their unit's cycles. Not in files of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Cycles between two turns of a SIMD. CDNA's four SIMDs issue in turn, RDNA's in every cycle.
    pub turn: u64,
    /// Cycles of a transcendental vector instruction.
    pub transcendental_cycles: u64,
    /// Cycles from a taken branch to the next instruction.
    pub branch_cycles: u64,
    /// Cycles from a branch that is not taken to the next instruction.
    pub passed_branch_cycles: u64,
    /// Cycles from the last wave's barrier to the next instruction.
    pub barrier_cycles: u64,
    /// Cycles from a scalar instruction to one that `s_delay_alu` delays for it; on CDNA, to its result.
    pub scalar_result_cycles: u64,
    /// How RDNA's units resolve dependencies; on CDNA, an instruction that needs a result waits in its wave.
    pub in_order: Option<InOrder>,
    /// Whether the results of one wave's loads may return before earlier ones of another.
    pub returns_out_of_order: bool,
    /// Compute units that share LDS and can run one workgroup together, each with half of the SIMDs and of LDS and with its own
    /// vector cache.
    pub compute_units: usize,
    /// The cache between the vector caches and L2, if there is one.
    pub array_cache: Option<ArrayCache>,
}

/// RDNA's units execute instructions in order and wait for operands themselves. Only what follows waits in the wave, and so
/// lets others issue. What waits in a unit keeps all waves of the SIMD waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOrder {
    /// Vector instructions of a SIMD that may have issued and not started.
    pub vector_queue: usize,
    /// Cycles from the results of all of a wave's vector instructions to its next memory instruction.
    pub vector_to_memory_cycles: u64,
    /// Cycles from a memory instruction to the wave's next vector instruction.
    pub memory_to_vector_cycles: u64,
    /// Cycles from the start of a vector instruction until others than vector instructions can read a scalar that it writes.
    pub vector_to_scalar_cycles: u64,
    /// Cycles from a wave's scalar instruction until it is done for `s_wait_alu`, and for memory instructions that read scalars.
    pub scalar_done_cycles: u64,
    /// Cycles from a scalar instruction to a conditional branch.
    pub scalar_to_branch_cycles: u64,
}

/// The L1 cache of a shader array, which the compute units of the array share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayCache {
    /// Its size in bytes.
    pub bytes: u32,
    /// Cycles from a load to its result.
    pub latency: u64,
    /// Workgroup processors of an array.
    pub processors: u64,
}

/// What the Infinity Cache holds when a launch begins. Not in files of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// What the same launch, run before, left in it: it is a cache of memory, and a launch's end leaves it as it is. If the
    /// allocations that the launch accesses fit, all of them; otherwise nothing, as their ends have replaced their
    /// beginnings.
    Repeated,
    /// Nothing: the launches before were of other data, which filled it.
    Cold,
}

/// The units of a machine and their speed. Cycles are those of the engine clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The machine.
    pub machine: Product,
    /// How its SIMDs issue.
    pub pipeline: &'static Pipeline,
    /// Its specifications. The model always uses the highest clock, although real clocks drop under load.
    pub hardware: &'static Specifications,
    /// What the Infinity Cache holds at the start.
    pub start: Start,
    /// The share of the memory bandwidth that programs can reach.
    pub memory_efficiency: f64,
    /// Cycles from a load to its result, if it hits in the vector L1 cache.
    pub l1_latency: u64,
    /// The same for L2.
    pub l2_latency: u64,
    /// The same for the Infinity Cache; that of memory if there is none.
    pub infinity_latency: u64,
    /// The same for memory.
    pub memory_latency: u64,
    /// The same for the scalar cache.
    pub scalar_latency: u64,
    /// The same for LDS, without conflicts.
    pub lds_latency: u64,
    /// Read bandwidth of an XCD's L2 in bytes per cycle.
    pub l2_bytes_per_cycle: f64,
    /// Write bandwidth of an XCD's L2 in bytes per cycle, as measured without reads.
    pub l2_written_bytes_per_cycle: f64,
    /// Bandwidth of the Infinity Cache in bytes per second, as measured.
    pub infinity_bytes_per_second: f64,
    /// Cycles of an f64 vector instruction.
    pub double_cycles: u64,
    /// Cycles of a 32-bit integer product.
    pub integer_product_cycles: u64,
    /// Bandwidth from L1 to L2 in bytes per cycle, for one compute unit.
    pub l1_to_l2_bytes_per_cycle: f64,
    /// Vector memory instructions of a compute unit that may wait for L1.
    pub memory_queue: u32,
    /// Bytes of lines that L1 may have requested and not received.
    pub in_flight_bytes: u32,
    /// LDS instructions of 16 bytes a lane that a pair of SIMDs may have in flight, or as many bytes of narrower ones.
    pub lds_queue: u32,
    /// Bandwidth between LDS and a pair of SIMDs in bytes per cycle, in each direction.
    pub lds_bus_bytes_per_cycle: u32,
}

/// LLVM's `SISchedule.td` for branches. A branch that is not taken: an estimate, as the next instruction is already in the
/// buffer.
const CDNA: Pipeline = Pipeline {
    turn: 4,
    transcendental_cycles: 16,
    branch_cycles: 32,
    passed_branch_cycles: 16,
    barrier_cycles: 4,
    scalar_result_cycles: 4,
    in_order: None,
    returns_out_of_order: false,
    compute_units: 1,
    array_cache: None,
};

const IN_ORDER: InOrder = InOrder {
    vector_queue: 10,
    vector_to_memory_cycles: 12,
    memory_to_vector_cycles: 7,
    vector_to_scalar_cycles: 16,
    scalar_done_cycles: 9,
    scalar_to_branch_cycles: 8,
};

const RDNA3: Pipeline = Pipeline {
    turn: 1,
    transcendental_cycles: 4,
    branch_cycles: 26,
    passed_branch_cycles: 3,
    barrier_cycles: 14,
    scalar_result_cycles: 2,
    in_order: Some(IN_ORDER),
    returns_out_of_order: false,
    compute_units: 2,
    array_cache: Some(ArrayCache {
        bytes: 256 << 10,
        latency: 110,
        processors: 4,
    }),
};

/// Radeon 8060S: two shader arrays of ten workgroup processors.
const RDNA35: Pipeline = Pipeline {
    array_cache: Some(ArrayCache {
        bytes: 256 << 10,
        latency: 110,
        processors: 10,
    }),
    ..RDNA3
};

const RDNA4: Pipeline = Pipeline {
    branch_cycles: 9,
    barrier_cycles: 20,
    in_order: Some(InOrder {
        vector_queue: 6,
        scalar_to_branch_cycles: 10,
        ..IN_ORDER
    }),
    returns_out_of_order: true,
    array_cache: None,
    ..RDNA3
};

/// Ways of the vector L1 cache.
pub(crate) const L1_WAYS: usize = 64;
/// Ways of L2 and the Infinity Cache.
pub(crate) const L2_WAYS: usize = 16;

const GIB_PER_SECOND: f64 = (1_u64 << 30) as f64;

/// MI210: the share of the read bandwidth of L2's channels that mt4g reached on MI100, 64 bytes from each of 32. MI210 has 128
/// bytes from each of 32. mt4g's own figures for MI210 and MI300X are 24.4 and 24.2 bytes per cycle and compute unit, although
/// the second's L2 has 1.37 times as many bytes per cycle for each: its requests in flight were the limit, and not L2.
const L2_EFFICIENCY: f64 = 2484.7 * GIB_PER_SECOND / (32.0 * 64.0 * 1.502e9);

/// What mt4g's later version reads from an XCD's L2 on MI350P, of 16 channels with 128 bytes each: 0.74 of them, 47.6 bytes
/// for each compute unit. MI300X's XCDs have the same L2 (AMD's CDNA 3 white paper).
const L2_OF_MI350P: f64 = 12494.5 * GIB_PER_SECOND / 2.2e9 / 4.0;

/// Bytes per cycle of RX 7600's L2, which has 2 MiB, as has that of Radeon 8060S: 2.13 TB/s at 2.655 GHz.
const L2_OF_RX_7600: f64 = 2.13e12 / 2.655e9;

/// Bytes per cycle of RX 6900 XT's L2 for each MiB: 4.6 TB/s, 4 MiB, 2.57 GHz.
const RDNA_L2_BYTES: f64 = 4.6e12 / 2.57e9 / 4.0;

const MI100: Parameters = Parameters {
    machine: Product::Mi100,
    pipeline: &CDNA,
    hardware: Product::Mi100.specifications(),
    start: Start::Repeated,
    memory_efficiency: 0.8,
    l1_latency: 136,
    l2_latency: 344,
    infinity_latency: 703,
    memory_latency: 703,
    scalar_latency: 50,
    lds_latency: 50,
    l2_bytes_per_cycle: 2484.7 * GIB_PER_SECOND / 1.502e9,
    l2_written_bytes_per_cycle: 2209.0 * GIB_PER_SECOND / 1.502e9,
    infinity_bytes_per_second: 0.0,
    double_cycles: 8,
    integer_product_cycles: 16,
    l1_to_l2_bytes_per_cycle: 64.0,
    memory_queue: 12,
    in_flight_bytes: Product::Mi100.specifications().l1_bytes,
    lds_queue: 8,
    lds_bus_bytes_per_cycle: 128,
};

const MI210: Parameters = Parameters {
    machine: Product::Mi210,
    hardware: Product::Mi210.specifications(),
    l1_latency: 124,
    l2_latency: 302,
    infinity_latency: 741,
    memory_latency: 741,
    scalar_latency: 53,
    l2_bytes_per_cycle: 32.0 * 128.0 * L2_EFFICIENCY,
    l2_written_bytes_per_cycle: 2403.7 * GIB_PER_SECOND / 1.7e9,
    double_cycles: 4,
    integer_product_cycles: 4,
    ..MI100
};

const MI250X: Parameters = Parameters {
    machine: Product::Mi250x,
    hardware: Product::Mi250x.specifications(),
    ..MI210
};

const MI300X: Parameters = Parameters {
    machine: Product::Mi300x,
    hardware: Product::Mi300x.specifications(),
    l1_latency: 116,
    l2_latency: 288,
    infinity_latency: 288 + 209,
    memory_latency: 900,
    scalar_latency: 48,
    lds_latency: 51,
    l2_bytes_per_cycle: L2_OF_MI350P,
    l2_written_bytes_per_cycle: 6562.2 * GIB_PER_SECOND / 2.1e9 / 8.0,
    infinity_bytes_per_second: 11.9e12,
    in_flight_bytes: Product::Mi300x.specifications().l1_bytes,
    ..MI210
};

/// mt4g's report of MI350P: half of an MI350X, four of its eight XCDs, with 32 compute units and 4 MiB of L2 each, at 2.2
/// GHz. What is in an XCD takes as many cycles on MI355X. What is behind L2 has other clocks and takes as long as there: 188
/// and 511.5 cycles are 205 and 558 of MI355X's, at 2.4 GHz.
const MI355X: Parameters = Parameters {
    machine: Product::Mi355x,
    hardware: Product::Mi355x.specifications(),
    l1_latency: 112,
    l2_latency: 256,
    infinity_latency: 256 + 205,
    memory_latency: 256 + 558,
    lds_latency: 48,
    l2_written_bytes_per_cycle: 5715.8 * GIB_PER_SECOND / 2.2e9 / 4.0,
    ..MI300X
};

const RX_7900_XTX: Parameters = Parameters {
    machine: Product::Rx7900Xtx,
    pipeline: &RDNA3,
    hardware: Product::Rx7900Xtx.specifications(),
    start: Start::Repeated,
    memory_efficiency: 706.31 / 800.0,
    l1_latency: 73,
    // The table of RX 7900 XT has 340, but the Infinity Cache's latency is 376.
    l2_latency: 205,
    infinity_latency: 376,
    memory_latency: 551,
    scalar_latency: 35,
    lds_latency: 32,
    l2_bytes_per_cycle: 6.0 * RDNA_L2_BYTES,
    l2_written_bytes_per_cycle: 6.0 * RDNA_L2_BYTES,
    infinity_bytes_per_second: 5.3e12,
    double_cycles: 16,
    integer_product_cycles: 4,
    // 9.7 TB/s of RX 6900 XT's 80 compute units at 2.57 GHz, from 72 to 104 KiB.
    l1_to_l2_bytes_per_cycle: 47.0,
    memory_queue: 48,
    in_flight_bytes: Product::Rx7900Xtx.specifications().l1_bytes,
    lds_queue: 8,
    lds_bus_bytes_per_cycle: 128,
};

/// What is behind L2 has other clocks, and takes as long as on RX 7900 XTX: 171 and 346 of its cycles at 2.5 GHz.
const RADEON_8060S: Parameters = Parameters {
    machine: Product::Radeon8060s,
    pipeline: &RDNA35,
    hardware: Product::Radeon8060s.specifications(),
    memory_efficiency: 221.0 / 256.0,
    infinity_latency: 205 + 198,
    memory_latency: 205 + 401,
    l2_bytes_per_cycle: L2_OF_RX_7600,
    l2_written_bytes_per_cycle: L2_OF_RX_7600,
    infinity_bytes_per_second: 1e12,
    ..RX_7900_XTX
};

const RX_9070_XT: Parameters = Parameters {
    machine: Product::Rx9070Xt,
    pipeline: &RDNA4,
    hardware: Product::Rx9070Xt.specifications(),
    infinity_latency: 446,
    memory_latency: 682,
    l2_bytes_per_cycle: 8.0 * RDNA_L2_BYTES,
    l2_written_bytes_per_cycle: 8.0 * RDNA_L2_BYTES,
    infinity_bytes_per_second: 5.3e12 * 64.0 / 96.0,
    ..RX_7900_XTX
};

/// The model has no parameters of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the timing model has no parameters for {machine}, only for {}",
    Parameters::MACHINES.map(Product::name).join(", ")
)]
pub struct NoParameters {
    /// The machine.
    pub machine: Product,
}

impl Parameters {
    /// The machines that have parameters.
    pub const MACHINES: [Product; 8] = [
        Product::Mi100,
        Product::Mi210,
        Product::Mi250x,
        Product::Mi300x,
        Product::Mi355x,
        Product::Rx7900Xtx,
        Product::Radeon8060s,
        Product::Rx9070Xt,
    ];

    /// The parameters of a machine, if it has any.
    pub const fn of(machine: Product) -> Option<&'static Self> {
        Some(match machine {
            Product::Mi100 => &MI100,
            Product::Mi210 => &MI210,
            Product::Mi250x => &MI250X,
            Product::Mi300x => &MI300X,
            Product::Mi355x => &MI355X,
            Product::Rx7900Xtx => &RX_7900_XTX,
            Product::Radeon8060s => &RADEON_8060S,
            Product::Rx9070Xt => &RX_9070_XT,
            _ => return None,
        })
    }

    /// Reachable memory bandwidth in bytes per cycle, of all memory.
    pub fn memory_bytes_per_cycle(&self) -> f64 {
        self.hardware.memory_bytes_per_second * self.memory_efficiency / self.hardware.clock_hz()
    }

    /// Whether the Infinity Cache holds everything when a launch begins that accesses allocations of so many bytes.
    pub(crate) fn infinity_holds(&self, bytes: u64) -> bool {
        self.start == Start::Repeated && bytes <= self.hardware.infinity_bytes
    }

    /// SIMDs of a compute unit, or of a workgroup processor.
    pub(crate) const fn simds(&self) -> usize {
        GpuLimits::of(self.hardware.gpu).simds as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_its_row() {
        for machine in Product::ALL {
            let row = Parameters::of(machine);
            assert_eq!(row.is_some(), Parameters::MACHINES.contains(&machine));
            if let Some(row) = row {
                assert_eq!(row.machine, machine);
                assert_eq!(row.hardware.name, machine.name());
            }
        }
    }
}
