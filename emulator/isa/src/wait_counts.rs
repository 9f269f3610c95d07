//! Wait counters: how many operations a wave has in flight.

use std::collections::VecDeque;

use ferrowave_gpu::Gpu;

/// A counter of operations in flight. Each family of GPUs has some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Counter {
    /// Vector memory (`vmcnt`; on RDNA without stores: `vmcnt`, `loadcnt`).
    Vm,
    /// LDS, GDS, scalar memory, messages (`lgkmcnt`; on RDNA 4, which has a counter for LDS and one for the others, either).
    Lgkm,
    /// Exports and GDS data (`expcnt`).
    Exp,
    /// Stores to vector memory (RDNA's `vscnt`, `storecnt`).
    Vs,
    /// Image loads with a sampler (RDNA 4's `samplecnt`).
    Sample,
    /// Ray tracing (RDNA 4's `bvhcnt`).
    Bvh,
    /// LDS (RDNA 4's `dscnt`).
    Ds,
    /// Scalar memory and messages (RDNA 4's `kmcnt`).
    Km,
}

impl Counter {
    const COUNT: usize = Counter::Km as usize + 1;

    /// The counter of LDS.
    pub const fn of_lds(gpu: Gpu) -> Self {
        match gpu.is_rdna4() {
            true => Counter::Ds,
            false => Counter::Lgkm,
        }
    }

    /// The counter of scalar memory and messages.
    pub const fn of_scalar_memory(gpu: Gpu) -> Self {
        match gpu.is_rdna4() {
            true => Counter::Km,
            false => Counter::Lgkm,
        }
    }

    /// Its name in the assembler of a GPU.
    pub const fn name(self, gpu: Gpu) -> &'static str {
        match self {
            Counter::Vm if gpu.is_rdna4() => "loadcnt",
            Counter::Vm => "vmcnt",
            Counter::Lgkm => "lgkmcnt",
            Counter::Exp => "expcnt",
            Counter::Vs if gpu.is_rdna4() => "storecnt",
            Counter::Vs => "vscnt",
            Counter::Sample => "samplecnt",
            Counter::Bvh => "bvhcnt",
            Counter::Ds => "dscnt",
            Counter::Km => "kmcnt",
        }
    }
}

/// What a wait instruction waits for: how many operations of each counter may still be in flight after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCounts([u32; Counter::COUNT]);

impl WaitCounts {
    /// No wait.
    pub const NONE: Self = WaitCounts([u32::MAX; Counter::COUNT]);

    /// The same, with a wait for a counter.
    #[must_use]
    pub const fn with(mut self, counter: Counter, left: u32) -> Self {
        self.0[counter as usize] = left;
        self
    }

    /// How many operations that a counter counts may still be in flight; `u32::MAX` if any number may.
    pub const fn left(&self, counter: Counter) -> u32 {
        self.0[counter as usize]
    }

    /// How many operations of LDS may still be in flight. RDNA 4 has a counter for these alone.
    pub fn lds_left(&self) -> u32 {
        self.left(Counter::Lgkm).min(self.left(Counter::Ds))
    }

    /// How many operations of scalar memory and messages may still be in flight.
    pub fn scalar_left(&self) -> u32 {
        self.left(Counter::Lgkm).min(self.left(Counter::Km))
    }

    /// Removes the completed operations from a queue whose operations complete in order.
    pub fn keep_newest<T>(queue: &mut VecDeque<T>, count: u32) {
        let done = queue.len().saturating_sub(count as usize);
        if done > 0 {
            queue.drain(..done);
        }
    }
}
