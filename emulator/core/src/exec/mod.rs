//! Running wavefronts.
//!
//! An [`Instruction`](ferrowave_isa::Instruction) is compiled once, when a wave first reaches its function, into an
//! operation: a function pointer and resolved operands. A wave runs operations until it ends, waits at a barrier, or
//! faults. Each operation works on all lanes of a wave with host vectors.

mod access;
mod access_pattern;
mod array;
mod atomic;
mod block;
mod buffer;
mod code;
mod compare;
mod compare_swap;
mod compile;
mod contiguous_access;
mod control;
mod convert;
mod cube;
mod fault;
mod float;
mod float32;
mod float64;
mod format;
mod gfx950;
mod global;
mod global_transpose;
mod gpr_index;
mod gws;
mod half;
mod half_registers;
mod hardware_registers;
pub mod image;
mod integer;
mod jit;
mod lanes;
mod lds;
mod lds_exchange;
mod lds_transpose;
mod mfma;
mod minifloat;
mod observe;
mod operation;
mod output_modifier;
mod packed;
mod pair;
mod panic;
mod permlane_swap;
mod pseudo_scalar;
mod relative;
mod row_permute;
mod sad;
mod saturating;
mod scalar;
mod scalar_float;
mod scalar_memory;
mod scratch;
mod sdwa_dpp;
mod simd;
mod split;
mod state;
#[cfg(test)]
mod tests;
mod to_lds;
mod transfer;
mod two_over_pi;
mod wave;
mod wmma;

pub use access_pattern::{ByPlace, ByShape, Kept, ObservedAccess, OutsideLds, Shape, Space};
pub use atomic::does_nothing_on_fine_grained;
pub use code::{Code, FactsTable, Unsupported};
pub use fault::{Fault, FaultKind};
pub use format::Number;
pub use mfma::{MATRIX_VARIABLE, MatrixSettingError, MatrixSums};
pub use observe::{Facts, GroupStart, Observer, Prepared, Unobserved};
pub use operation::Flow;
pub use panic::Panic;
pub use simd::LANES;
pub use simd::SimdLevel;
pub use state::GlobalWait;
pub use wave::{ACCUMULATORS, ANY, Lanes, Mode, Round, VCC, Wave, lanes_of};

pub(crate) use access_pattern::ObservedAccesses;
pub(crate) use code::{CodeMemory, words};
pub(crate) use gws::GlobalSync;
pub(crate) use panic::Formatter;
pub(crate) use state::{Allocated, Segment, Turn};
pub(crate) use wave::{BarrierPhase, Wave64};

use crate::memory::{Reach, View, shared::Moves};
use ferrowave_isa::Category;

/// The aperture of LDS: flat addresses with these upper 32 bits reach LDS. No host address has them, so LDS and global
/// memory cannot be confused.
pub(crate) const SHARED_APERTURE: u64 = 0x0001_0000_0000_0000;
/// The aperture of private memory.
pub const PRIVATE_APERTURE: u64 = 0x0002_0000_0000_0000;

/// What the waves of one workgroup share while they run.
pub struct Context<'a> {
    /// The code that the waves run.
    pub code: &'a Code,
    /// The operations of the stretch where a wave ran last.
    ready: Option<&'a code::Ready>,
    /// Global memory as the launch sees it.
    pub memory: &'a View,
    /// The allocations that recent accesses used, indexed by [`operation::Operation::remember`]; most accesses need no
    /// search.
    pub(crate) recent: [Reach; access::RECENT],
    pub(crate) lds: &'a mut [u8],
    /// How operations access global memory: the widest moves that the host has.
    pub(crate) moves: Moves,
    /// Whether something may have been stored to global memory since the last fence ([`crate::memory::shared`]).
    pub(crate) stored: bool,
    /// Barriers and semaphores of the launch, if it is cooperative.
    pub(crate) global_sync: Option<&'a GlobalSync>,
    /// The unit that executes the instruction that runs, if the run is observed.
    category: Category,
    /// Whether accesses are recorded in `accesses`.
    pub(crate) watched: bool,
    pub(crate) accesses: ObservedAccesses,
    /// Why the last wave that returned [`Flow::Fault`] stopped.
    pub fault: Option<Box<Fault>>,
}

impl<'a> Context<'a> {
    /// The context of a workgroup with its LDS.
    pub fn new(code: &'a Code, memory: &'a View, lds: &'a mut [u8]) -> Self {
        Context {
            code,
            ready: None,
            memory,
            recent: [Reach::NOTHING; access::RECENT],
            lds,
            moves: code.level.moves(),
            stored: true,
            global_sync: None,
            category: Category::Control,
            watched: false,
            accesses: ObservedAccesses::default(),
            fault: None,
        }
    }

    /// The code that runs.
    pub fn code(&self) -> &'a Code {
        self.code
    }

    /// The unit that executes the instruction that runs, for observers.
    #[inline(always)]
    pub fn category(&self) -> Category {
        self.category
    }

    /// The instruction's accesses that were out of range of LDS.
    pub fn outside_lds(&self) -> &[OutsideLds] {
        &self.accesses.outside
    }

    /// Whether the instruction has accessed memory.
    #[inline(always)]
    pub fn has_accesses(&self) -> bool {
        !self.accesses.is_empty()
    }

    /// What observers need to know of the instruction at an index. Needs no search for an instruction that just ran.
    #[inline]
    pub fn facts(&self, index: u32) -> Option<&'a Facts> {
        match self.ready.and_then(|ready| ready.facts(index)) {
            None => self.code.facts().get(index)?.as_ref(),
            facts => facts,
        }
    }

    /// The accesses of the instruction that just ran, if the run is watched.
    pub fn accesses(&self) -> impl Iterator<Item = ObservedAccess<'_>> {
        self.accesses.all()
    }

    /// Runs the rare case of an operation, out of line and with the same host instructions.
    #[inline(always)]
    pub(crate) fn cold_path<const C: usize, F>(
        &mut self,
        wave: &mut Wave<C>,
        operation: &operation::Operation,
        f: F,
    ) -> Flow
    where
        F: Fn(&mut Wave<C>, &mut Context<'_>, &operation::Operation) -> Flow + Copy + 'static,
    {
        // SAFETY: `Code` was compiled for a level that this computer has.
        unsafe { operation::cold_path(self.code.level, wave, self, operation, f) }
    }

    /// Runs code that several operations share, out of line and with the same host instructions.
    #[inline(always)]
    pub(crate) fn share(&self, f: impl FnOnce()) {
        // SAFETY: `Code` was compiled for a level that this computer has.
        unsafe { operation::share(self.code.level, f) }
    }

    #[cold]
    pub(crate) fn fail(&mut self, kind: FaultKind) -> Flow {
        self.fault = Some(Box::new(Fault { kind, operation: 0 }));
        Flow::Fault
    }
}

/// Why a wave stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It ended.
    Ended,
    /// It waits at a barrier.
    Barrier,
    /// It has signalled a barrier and goes on.
    Signal,
    /// It sleeps, so other waves run first.
    Yield,
    /// It is about to store to LDS, and other waves may still have to read.
    Later,
    /// It has queued at a barrier or semaphore of the whole launch.
    Wait,
    /// It faulted; see [`Context::take_fault`].
    Fault,
    /// Its share of instructions is used up.
    Budget,
}

impl Context<'_> {
    /// Notes the instruction of a fault, if there is one.
    fn place_fault(&mut self, index: u32) {
        if let Some(fault) = &mut self.fault {
            fault.operation = index;
        }
    }

    /// The fault that a wave stopped with.
    pub fn take_fault(&mut self) -> Option<Box<Fault>> {
        self.fault.take()
    }
}

/// Runs a wave for at most `budget` instructions, and subtracts those that ran.
pub fn run<O: Observer>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    budget: &mut u64,
    observer: &mut O,
) -> Stop {
    debug_assert_eq!(wave.chunks(), context.code.size.chunks);
    loop {
        let stop = if gpr_index::is_plain(wave) {
            run_while::<O, true>(wave, context, budget, observer)
        } else {
            run_while::<O, false>(wave, context, budget, observer)
        };
        if let Some(stop) = stop {
            return stop;
        }
    }
}

/// Runs one instruction of a wave, without an observer. Register indexing and `s_setvskip` are ignored. For observers
/// that ask what an instruction would do.
pub fn run_one(wave: &mut Wave, context: &mut Context<'_>, index: u32) -> Flow {
    debug_assert_eq!(wave.chunks(), context.code.size.chunks);
    let mut place = index;
    let ready = context.code.ready(&mut place);
    let Some(operation) = ready.and_then(|ready| ready.operations.get(index)) else {
        return context.fail(FaultKind::LeftCode);
    };
    // SAFETY: `Code` was compiled for a level that this computer has.
    unsafe { (operation.run)(wave, context, operation) }
}

/// Runs a wave until it stops, or until [`gpr_index::is_plain`] differs from `PLAIN`.
fn run_while<O: Observer, const PLAIN: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    budget: &mut u64,
    observer: &mut O,
) -> Option<Stop> {
    let code = context.code;
    let mut ready = context.ready;
    let mut left = *budget;
    let stop = loop {
        if left == 0 {
            break Some(Stop::Budget);
        }
        let index = wave.pc;
        let Some((here, operation)) = ready.and_then(|r| Some((r, r.operations.get(index)?)))
        else {
            ready = code.ready(&mut wave.pc);
            context.ready = ready;
            if ready.is_some() {
                continue;
            }
            context.fail(FaultKind::LeftCode);
            break Some(Stop::Fault);
        };
        if O::ACTIVE {
            let skipped = observer.skip(wave, index);
            if skipped > 0 {
                wave.pc = index + skipped;
                left = left.saturating_sub(skipped.into());
                continue;
            }
            // Decided before `before`, so that observers see the operation once.
            let stores = || here.instruction(index).is_some_and(lds::is_store);
            if wave.lds_turn.gives_way(stores) {
                break Some(Stop::Later);
            }
            context.accesses.begin(index);
            context.category = operation.category;
            observer.before(wave, context, index);
        } else if PLAIN
            && operation.native != jit::NONE
            && let Some(flow) =
                here.regions
                    .run(&here.operations, wave, context, operation.native, &mut left)
        {
            if flow == Flow::Next {
                continue;
            }
            context.place_fault(wave.pc - 1);
            break Some(Stop::Fault);
        }
        wave.pc = index + 1;
        left -= 1;
        let flow = if PLAIN {
            // SAFETY: `Code` was compiled for a level that this computer has.
            unsafe { (operation.run)(wave, context, operation) }
        } else {
            gpr_index::run(wave, context, index, operation)
        };
        if O::ACTIVE {
            observer.after(wave, context, index, flow);
        }
        let Some(stop) = stop_of(flow) else {
            if flow == Flow::Changed && gpr_index::is_plain(wave) != PLAIN {
                break None;
            }
            continue;
        };
        match stop {
            Stop::Later => {
                wave.pc = index;
                left += 1;
            }
            Stop::Fault => context.place_fault(index),
            _ => {}
        }
        break Some(stop);
    };
    *budget = left;
    stop
}

/// Why a wave stops behind an instruction, if it stops.
fn stop_of(flow: Flow) -> Option<Stop> {
    match flow {
        Flow::Next | Flow::Changed => None,
        Flow::End => Some(Stop::Ended),
        Flow::Barrier => Some(Stop::Barrier),
        Flow::Signal => Some(Stop::Signal),
        Flow::Yield => Some(Stop::Yield),
        Flow::Later => Some(Stop::Later),
        Flow::Wait => Some(Stop::Wait),
        Flow::Fault => Some(Stop::Fault),
    }
}
