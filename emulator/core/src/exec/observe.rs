//! Observers: how checks, counters and the timing model watch waves run.

use super::{Context, Flow, Wave, compare_swap};
use ferrowave_isa::{Category, Effect, Instruction, Uses};

/// Watches a workgroup run, instruction by instruction. Runs are generic over the observer, so a run without one
/// ([`Unobserved`]) contains no code for it.
pub trait Observer {
    /// Whether the observer is called at all and memory accesses are recorded.
    const ACTIVE: bool;

    /// Whether to watch the workgroup with this number. Other workgroups run unobserved.
    fn wants(&self, _number: u64) -> bool {
        true
    }

    /// Most instructions that a wave runs before [`Self::is_done`] is asked again.
    fn turn(&self) -> u64 {
        u64::MAX
    }

    /// Whether the rest of the workgroup need not run. For launches whose results are not used.
    fn is_done(&self) -> bool {
        false
    }

    /// How many instructions from `index` on the wave need not run. It passes over them, and nothing else is called for
    /// them. For launches whose results are not used; none of the instructions may branch or wait.
    #[inline(always)]
    fn skip(&mut self, _wave: &Wave, _index: u32) -> u32 {
        0
    }

    /// A workgroup begins. Its waves' registers are as the hardware initializes them.
    fn begin(&mut self, group: &GroupStart<'_>);

    /// The wave is about to run the instruction at `index` of the code.
    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32);

    /// The wave has run the instruction; [`Context::accesses`] has its memory accesses. An instruction that faulted has
    /// done only a part of its work.
    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow);

    /// All waves of the workgroup that have not ended wait at a barrier, and now continue. Their program counters are
    /// past the barrier.
    fn barrier(&mut self, waves: &mut [Wave], waiting: &[bool], context: &mut Context<'_>);

    /// A wave continues after a barrier or semaphore of the whole launch, where it had waited after an instruction that
    /// set `Wave::global_wait`.
    fn released(&mut self, _wave: u32, _resource: u8) {}

    /// All waves of the workgroup have ended, or one has faulted.
    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>);
}

/// What an observer is told about a workgroup that begins.
#[derive(Clone, Copy)]
pub struct GroupStart<'a> {
    /// Its position in the grid.
    pub workgroup: [u32; 3],
    /// Its number in the grid; x runs fastest.
    pub number: u64,
    /// Its waves.
    pub waves: &'a [Wave],
    /// Bytes of LDS.
    pub lds_bytes: u32,
    /// Which registers of its waves the hardware has initialized.
    pub prepared: Prepared,
}

/// Registers that are initialized when a wave starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Scalar registers, one bit per operand code.
    pub scalars: u128,
    /// How many vector registers, from `v0`.
    pub vectors: u16,
}

/// No observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;

    fn begin(&mut self, _: &GroupStart<'_>) {}

    fn before(&mut self, _: &Wave, _: &Context<'_>, _: u32) {}

    fn after(&mut self, _: &mut Wave, _: &mut Context<'_>, _: u32, _: Flow) {}

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>) {}
}

/// Both observers watch; the first is called first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;

    fn wants(&self, number: u64) -> bool {
        self.0.wants(number) || self.1.wants(number)
    }

    fn turn(&self) -> u64 {
        self.0.turn().min(self.1.turn())
    }

    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.0.begin(group);
        self.1.begin(group);
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32) {
        self.0.before(wave, context, index);
        self.1.before(wave, context, index);
    }

    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow) {
        self.0.after(wave, context, index, flow);
        self.1.after(wave, context, index, flow);
    }

    fn barrier(&mut self, waves: &mut [Wave], waiting: &[bool], context: &mut Context<'_>) {
        self.0.barrier(waves, waiting, context);
        self.1.barrier(waves, waiting, context);
    }

    fn released(&mut self, wave: u32, resource: u8) {
        self.0.released(wave, resource);
        self.1.released(wave, resource);
    }

    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>) {
        self.0.end(waves, context);
        self.1.end(waves, context);
    }
}

/// What observers need to know of an instruction, computed once.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The unit that executes it.
    pub category: Category,
    /// What it does to memory.
    pub effect: Effect,
    /// Whether it moves data from memory to LDS without registers.
    pub to_lds: bool,
    /// Whether it is a vector load or store with a coherence bit (`glc`, `sc0`, `sc1`), as compilers emit for atomic
    /// loads and stores.
    pub coherent: bool,
    /// Whether it loads the value that a following compare-and-swap expects, as compilers make atomic operations that the GPU
    /// has no instruction for. It may race with atomic operations: the comparison finds out.
    pub expected: bool,
    /// Whether it uses a barrier or semaphore of the whole launch (`ds_gws_*`).
    pub global_sync: bool,
    /// Whether it uses global data share, which HIP kernels do not have.
    pub global_share: bool,
    /// The registers that it reads and writes.
    pub uses: Uses,
}

impl Facts {
    /// The facts of an instruction, given those that follow it.
    pub(super) fn of<'a>(
        instruction: &Instruction,
        following: impl Iterator<Item = &'a Instruction>,
    ) -> Self {
        let global_sync = instruction.is_global_sync();
        Facts {
            category: instruction.category(),
            effect: instruction.effect(),
            to_lds: instruction.loads_to_lds(),
            coherent: instruction.category() == Category::VectorMemory
                && (instruction.memory.sc0 || instruction.memory.sc1),
            expected: compare_swap::is_expected(instruction, following),
            global_sync,
            global_share: instruction.memory.gds && !global_sync,
            uses: instruction.uses(),
        }
    }
}
