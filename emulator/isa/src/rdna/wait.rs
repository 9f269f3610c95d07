//! The constants of wait instructions.

use crate::row::Immediate;
use crate::wait_counts::{Counter, WaitCounts};

/// The fields of `s_waitcnt` in LLVM's order: counter, name, count, and the largest count, which does not wait
/// (RDNA 3 ISA guide, `S_WAITCNT`).
pub(super) fn fields_of(bits: u32) -> [(Counter, &'static str, u32, u32); 3] {
    [
        (Counter::Vm, "vmcnt", bits >> 10 & 0x3f, 0x3f),
        (Counter::Exp, "expcnt", bits & 7, 7),
        (Counter::Lgkm, "lgkmcnt", bits >> 4 & 0x3f, 0x3f),
    ]
}

/// The counts that an instruction with this constant waits for.
pub(crate) fn wait_counts(kind: Immediate, bits: u32) -> WaitCounts {
    let bits = bits & 0xffff;
    let one = |counter| WaitCounts::NONE.with(counter, bits & 0x3f);
    let and_lds = |counter| {
        WaitCounts::NONE
            .with(counter, bits >> 8 & 0x3f)
            .with(Counter::Ds, bits & 0x3f)
    };
    match kind {
        Immediate::WaitcntRdna => {
            let mut counts = WaitCounts::NONE;
            for (counter, _, count, most) in fields_of(bits) {
                if count != most {
                    counts = counts.with(counter, count);
                }
            }
            counts
        }
        Immediate::WaitVs | Immediate::WaitStore => one(Counter::Vs),
        Immediate::WaitVm | Immediate::WaitLoad => one(Counter::Vm),
        Immediate::WaitExp => one(Counter::Exp),
        Immediate::WaitLgkm => one(Counter::Lgkm),
        Immediate::WaitSample => one(Counter::Sample),
        Immediate::WaitBvh => one(Counter::Bvh),
        Immediate::WaitDs => one(Counter::Ds),
        Immediate::WaitKm => one(Counter::Km),
        Immediate::WaitLoadDs => and_lds(Counter::Vm),
        Immediate::WaitStoreDs => and_lds(Counter::Vs),
        _ => WaitCounts::NONE,
    }
}
