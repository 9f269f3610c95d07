//! Why a wave stopped with an error.

use std::fmt;

use ferrowave_isa::Op;

use super::Panic;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access to global memory outside every allocation, or a write to read-only memory.
    Memory {
        /// First byte of the access.
        address: u64,
        /// Length of the access, in bytes.
        bytes: u32,
        /// Whether it was a write.
        write: bool,
        /// The lane; `None` for the scalar unit.
        lane: Option<u8>,
        /// All lanes with such an access, one bit each.
        lanes: u64,
    },
    /// An atomic operation on an address that is not a multiple of its size.
    Misaligned {
        /// The address.
        address: u64,
        /// Size of the operand, in bytes.
        bytes: u32,
        /// The lane.
        lane: u8,
    },
    /// An access outside a lane's private (scratch) memory.
    Private {
        /// First byte of the access, counted from the start of the lane's private memory.
        address: u64,
        /// Length of the access, in bytes.
        bytes: u32,
        /// Bytes of private memory per lane.
        private_bytes: u32,
        /// The lane.
        lane: u8,
    },
    /// A jump or a fall-through to where there is no code.
    LeftCode,
    /// A jump to an address where no instruction of loaded code begins.
    Jump {
        /// The address.
        address: u64,
    },
    /// An instruction that the emulator does not run.
    Unsupported {
        /// What is missing.
        what: String,
    },
    /// `s_trap`.
    Trap {
        /// Its number.
        id: u8,
    },
    /// A panic of a Rust kernel with the panic handler of `ferrowave-panic`.
    Panic(Box<Panic>),
    /// `s_sethalt` or `s_sendmsghalt`: the wave waits for a debugger, and there is none.
    Halted,
    /// More nested forks than the hardware has room for.
    TooManyForks,
    /// A barrier or semaphore of the whole launch, in a launch that is not cooperative.
    NoGlobalSync,
    /// A wave waits at such a barrier or semaphore, and no wave is left that could release it.
    NeverReleased {
        /// Its number.
        resource: u8,
    },
}

/// A fault and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Index of the instruction in its code.
    pub operation: u32,
}

fn verb(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Memory {
                address,
                bytes,
                write,
                lane,
                ..
            } => {
                match lane {
                    Some(lane) => write!(f, "lane {lane}")?,
                    None => write!(f, "the scalar unit")?,
                }
                write!(f, " {} {bytes} bytes at {address:#x}", verb(*write))
            }
            FaultKind::Misaligned {
                address,
                bytes,
                lane,
            } => write!(
                f,
                "lane {lane} does an atomic operation of {bytes} bytes at {address:#x}, which is not a multiple of {bytes}"
            ),
            FaultKind::Private {
                address,
                bytes,
                private_bytes,
                lane,
            } => write!(
                f,
                "lane {lane} accesses {bytes} bytes at {address:#x} of its private memory, which has {private_bytes} bytes"
            ),
            FaultKind::LeftCode => f.write_str("the wave ran past the end of the code"),
            FaultKind::Jump { address } => {
                write!(f, "jump to {address:#x}, where there is no instruction")
            }
            FaultKind::Unsupported { what } => write!(f, "{what}"),
            FaultKind::Trap { id } => write!(f, "{} {id}", Op::s_trap.name()),
            FaultKind::Panic(panic) => write!(f, "lane {} {panic}", panic.lane),
            FaultKind::Halted => {
                f.write_str("the wave halts, and there is no debugger that would let it go on")
            }
            FaultKind::TooManyForks => {
                f.write_str("more than 7 forks wait to be joined")
            }
            FaultKind::NoGlobalSync => f.write_str(
                "global wave sync (GWS) in a plain launch; only a cooperative one (hipLaunchCooperativeKernel) has it",
            ),
            FaultKind::NeverReleased { resource } => write!(
                f,
                "the wave waits at resource {resource} of global wave sync (GWS) forever: all others of the launch have ended or wait, too"
            ),
        }
    }
}
