//! The constant of `s_waitcnt`.

use ferrowave_gpu::{Gpu, GpuLimits, WaitCounters};

use crate::wait_counts::{Counter, WaitCounts};

/// The same on all GPUs of the family.
const MOST: WaitCounters = GpuLimits::of(Gpu::Gfx908).wait_counters;

/// Each counter in LLVM's order: its name, its count in the constant (CDNA3 ISA guide, `S_WAITCNT`), and the largest
/// count, which does not wait.
pub(super) fn counters(bits: u32) -> [(Counter, &'static str, u32, u32); 3] {
    [
        (
            Counter::Vm,
            "vmcnt",
            bits & 0xf | bits >> 10 & 0x30,
            MOST.vm,
        ),
        (Counter::Exp, "expcnt", bits >> 4 & 7, MOST.exp),
        (Counter::Lgkm, "lgkmcnt", bits >> 8 & 0xf, MOST.lgkm),
    ]
}

/// The counts that an instruction with this constant waits for.
pub(crate) fn wait_counts(bits: u32) -> WaitCounts {
    let mut counts = WaitCounts::NONE;
    for (counter, _, count, most) in counters(bits) {
        if count != most {
            counts = counts.with(counter, count);
        }
    }
    counts
}
