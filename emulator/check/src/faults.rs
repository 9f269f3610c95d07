//! Reports faults as findings.

use super::{
    Access, Findings, Kind, Single,
    names::{bytes_text, verb},
};
use ferrowave_emulator::exec::{Context, FaultKind, Wave};
use ferrowave_emulator::memory::View;

/// The finding for an access outside of allocated memory: kind, memory, and text.
pub(super) fn outside(
    memory: &View,
    address: u64,
    bytes: u32,
    write: bool,
) -> (Kind, Access, String) {
    let kind = match memory.freed(address) {
        Some(_) => Kind::UseAfterFree,
        None => Kind::OutOfBounds,
    };
    let constant = match write && memory.reach(address).is_constant() {
        true => " of the code object's constants",
        false => "",
    };
    let what = format!("{} {}{constant}", verb(write), bytes_text(bytes));
    (kind, Access::Global { address, bytes }, what)
}

/// Reports the fault that has just stopped a wave.
pub(super) fn add(wave: &Wave, context: &Context<'_>, index: u32, findings: &mut Findings) {
    let Some(fault) = &context.fault else {
        return;
    };
    let one = |lane: u8| 1_u64 << (lane & 63);
    let (kind, lanes, access, what) = match &fault.kind {
        FaultKind::Memory {
            address,
            bytes,
            write,
            lanes,
            ..
        } => {
            let (kind, access, what) = outside(context.memory, *address, *bytes, *write);
            (kind, *lanes, Some(access), what)
        }
        FaultKind::Misaligned {
            address,
            bytes,
            lane,
        } => {
            let access = Access::Global {
                address: *address,
                bytes: *bytes,
            };
            let what = format!("does an atomic operation on {}", bytes_text(*bytes));
            (Kind::Misaligned, one(*lane), Some(access), what)
        }
        FaultKind::Private { lane, .. } => {
            (Kind::OutOfBounds, one(*lane), None, fault.kind.to_string())
        }
        FaultKind::Panic(panic) => (Kind::Panic, panic.lanes, None, panic.to_string()),
        other => (Kind::Fault, 0, None, other.to_string()),
    };
    let single = Single {
        kind,
        index,
        wave: wave.index,
        lanes,
        access,
    };
    findings.add_single(single, || what);
}
