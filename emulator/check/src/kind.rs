//! The checks, and the kinds of findings.

use std::fmt;

/// A check that can be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// Global memory: bounds, freed memory, alignment, uninitialized memory, atomic operations that do nothing.
    Memory,
    /// LDS: bounds, uninitialized bytes, races between waves, accesses in flight at a barrier.
    Lds,
    /// Races in global memory.
    Races,
    /// Missing waits for loads (`s_waitcnt`).
    Waits,
    /// Missing wait states (`s_nop`).
    Hazards,
    /// Uninitialized registers, and barriers that some waves skip.
    Registers,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 6] = [
        Check::Memory,
        Check::Lds,
        Check::Races,
        Check::Waits,
        Check::Hazards,
        Check::Registers,
    ];

    /// Its name on the command line and in `FERROWAVE_CHECK`.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Memory => "memory",
            Check::Lds => "lds",
            Check::Races => "races",
            Check::Waits => "waits",
            Check::Hazards => "hazards",
            Check::Registers => "registers",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not the name of a check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown check `{name}`; known are memory, lds, races, waits, hazards, registers, and all")]
pub struct UnknownCheck {
    /// The name.
    pub name: String,
}

/// Parses a comma-separated list of names; `all` means all checks.
pub fn parse(names: &str) -> Result<Vec<Check>, UnknownCheck> {
    let mut checks = Vec::new();
    for name in names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        if name == "all" {
            checks.extend(Check::ALL);
            continue;
        }
        let check = Check::ALL.into_iter().find(|check| check.name() == name);
        checks.push(check.ok_or_else(|| UnknownCheck { name: name.into() })?);
    }
    checks.sort();
    checks.dedup();
    Ok(checks)
}

/// The kinds of findings. [`Kind::id`] is the identifier in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An access to global memory outside every allocation, or a write to read-only memory.
    OutOfBounds,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An access at an address that does not have the required alignment.
    Misaligned,
    /// A read of uninitialized global memory.
    UninitializedMemory,
    /// A floating-point atomic operation on fine-grained memory, on a GPU where it does nothing.
    FineGrainedAtomic,
    /// An access outside the workgroup's LDS.
    LdsOutOfBounds,
    /// A read of LDS that no wave of the workgroup has written.
    UninitializedLds,
    /// Two waves access LDS without a barrier between, and at least one writes.
    LdsRace,
    /// A wave reaches a barrier while its LDS access is in flight, and after the barrier another wave accesses the same
    /// bytes.
    LdsInFlight,
    /// Two waves access global memory without any ordering, and at least one writes.
    GlobalRace,
    /// A register is read while a load to it is in flight.
    ReadInFlight,
    /// A register is written while a load to it is in flight.
    OverwrittenInFlight,
    /// LDS is accessed where a load from global memory to LDS is in flight.
    LdsLoadInFlight,
    /// Fewer wait states than the hardware requires between two instructions.
    Hazard,
    /// An uninitialized register affects an address, a branch or stored data.
    UninitializedRegister,
    /// Some waves of a workgroup skip a barrier at which others wait.
    SkippedBarrier,
    /// A Rust kernel panics.
    Panic,
    /// A wave cannot continue for another reason.
    Fault,
    /// The kernel's results depend on the order in which waves run or loads return.
    ScheduleDependence,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 19] = [
        Kind::OutOfBounds,
        Kind::UseAfterFree,
        Kind::Misaligned,
        Kind::UninitializedMemory,
        Kind::FineGrainedAtomic,
        Kind::LdsOutOfBounds,
        Kind::UninitializedLds,
        Kind::LdsRace,
        Kind::LdsInFlight,
        Kind::GlobalRace,
        Kind::ReadInFlight,
        Kind::OverwrittenInFlight,
        Kind::LdsLoadInFlight,
        Kind::Hazard,
        Kind::UninitializedRegister,
        Kind::SkippedBarrier,
        Kind::Panic,
        Kind::Fault,
        Kind::ScheduleDependence,
    ];

    /// Its identifier in reports.
    pub const fn id(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "out-of-bounds",
            Kind::UseAfterFree => "use-after-free",
            Kind::Misaligned => "misaligned",
            Kind::UninitializedMemory => "uninitialized-memory",
            Kind::FineGrainedAtomic => "fine-grained-atomic",
            Kind::LdsOutOfBounds => "lds-out-of-bounds",
            Kind::UninitializedLds => "uninitialized-lds",
            Kind::LdsRace => "lds-race",
            Kind::LdsInFlight => "lds-in-flight-at-barrier",
            Kind::GlobalRace => "global-race",
            Kind::ReadInFlight => "register-read-in-flight",
            Kind::OverwrittenInFlight => "register-overwritten-in-flight",
            Kind::LdsLoadInFlight => "lds-load-in-flight",
            Kind::Hazard => "missing-wait-states",
            Kind::UninitializedRegister => "uninitialized-register",
            Kind::SkippedBarrier => "skipped-barrier",
            Kind::Panic => "panic",
            Kind::Fault => "fault",
            Kind::ScheduleDependence => "schedule-dependence",
        }
    }

    /// A one-sentence explanation for users.
    pub const fn explanation(self) -> &'static str {
        match self {
            Kind::OutOfBounds => {
                "An access lies outside every allocation, or writes to read-only memory."
            }
            Kind::UseAfterFree => "An access lies in an allocation that was freed.",
            Kind::Misaligned => {
                "An address does not have the alignment that the instruction requires."
            }
            Kind::UninitializedMemory => {
                "A kernel reads bytes of an allocation that neither the host nor a kernel has written."
            }
            Kind::FineGrainedAtomic => {
                "A floating-point atomic operation accesses fine-grained memory, where this GPU does nothing and returns 0."
            }
            Kind::LdsOutOfBounds => {
                "An access lies outside the workgroup's LDS, where a GPU writes nothing and reads 0."
            }
            Kind::UninitializedLds => {
                "A wave reads bytes of LDS that no wave of its workgroup has written."
            }
            Kind::LdsRace => {
                "Two waves of a workgroup access the same bytes of LDS with no barrier between, and one of them writes."
            }
            Kind::LdsInFlight => {
                "A wave reached the barrier that should order its LDS access without waiting for the access (lgkmcnt, on RDNA 4 dscnt)."
            }
            Kind::GlobalRace => {
                "Two waves access the same bytes of global memory, one of them writes, and neither a barrier nor atomic operations order them."
            }
            Kind::ReadInFlight => {
                "An instruction reads a register before the load that fills it has been waited for."
            }
            Kind::OverwrittenInFlight => {
                "An instruction writes a register that a load in flight will overwrite."
            }
            Kind::LdsLoadInFlight => {
                "LDS is accessed where a load from global memory to LDS has not been waited for."
            }
            Kind::Hazard => {
                "The hardware requires wait states or another instruction between two instructions."
            }
            Kind::UninitializedRegister => {
                "An uninitialized register affects an address, a branch, or stored data."
            }
            Kind::SkippedBarrier => {
                "Some waves of a workgroup wait at a barrier that others have skipped."
            }
            Kind::Panic => "A Rust kernel panicked.",
            Kind::Fault => "A wave could not continue.",
            Kind::ScheduleDependence => {
                "The kernel's results depend on the order in which waves run or loads return."
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checks() {
        assert_eq!(parse("all").unwrap(), Check::ALL);
        assert_eq!(
            parse("races, lds,races").unwrap(),
            [Check::Lds, Check::Races]
        );
        assert_eq!(parse("").unwrap(), []);
        let error = parse("lds,race").unwrap_err().to_string();
        for name in Check::ALL.map(Check::name) {
            assert!(error.contains(name), "{error}");
        }
        assert!(error.contains("`race`"));
    }
}
