//! What unit of the hardware an instruction goes to, and which counter waits for it.

use super::{Format, Instruction, Op, Source};

/// A kind of instruction, as checks, counters and the timing model tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Scalar arithmetic.
    Scalar,
    /// Vector arithmetic.
    Vector,
    /// Matrix cores: MFMA and SMFMAC.
    Matrix,
    /// Scalar memory.
    ScalarMemory,
    /// Vector memory: flat, global, scratch, buffers.
    VectorMemory,
    /// LDS, and lane permutations that go through its hardware.
    Lds,
    /// Branches, calls and the end.
    Branch,
    /// `s_barrier`.
    Barrier,
    /// `s_waitcnt`.
    Wait,
    /// What neither computes nor moves: `s_nop`, priorities, messages, sleeps, caches.
    Control,
}

impl Category {
    /// All of them, in the order of reports.
    pub const ALL: [Category; 10] = [
        Category::Scalar,
        Category::Vector,
        Category::Matrix,
        Category::ScalarMemory,
        Category::VectorMemory,
        Category::Lds,
        Category::Branch,
        Category::Barrier,
        Category::Wait,
        Category::Control,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Category::Scalar => "scalar",
            Category::Vector => "vector",
            Category::Matrix => "matrix",
            Category::ScalarMemory => "scalar memory",
            Category::VectorMemory => "vector memory",
            Category::Lds => "LDS",
            Category::Branch => "branch",
            Category::Barrier => "barrier",
            Category::Wait => "wait",
            Category::Control => "control",
        }
    }
}

/// What a memory instruction does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// None: not a memory instruction, or one that only permutes lanes or steers caches.
    None,
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes at once, as no other access sees it half done.
    Atomic,
}

impl Instruction {
    /// What unit it goes to.
    pub fn category(&self) -> Category {
        match self.format {
            Format::Smem if self.effect() == Effect::None && !is_clock(self.op) => {
                Category::Control
            }
            Format::Smem => Category::ScalarMemory,
            Format::Mai if !self.is_accumulator_move() => Category::Matrix,
            Format::Mubuf if self.effect() == Effect::None => Category::Control,
            Format::Flat | Format::Global | Format::Scratch | Format::Mubuf | Format::Mtbuf => {
                Category::VectorMemory
            }
            Format::Ds if self.op == Op::ds_nop => Category::Control,
            Format::Ds => Category::Lds,
            Format::Sopp => match self.op {
                Op::s_barrier => Category::Barrier,
                Op::s_waitcnt => Category::Wait,
                Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => {
                    Category::Branch
                }
                op if op.name().contains("branch") => Category::Branch,
                _ => Category::Control,
            },
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => {
                let name = self.op.name();
                let jumps = ["branch", "setpc", "swappc", "s_call", "s_rfe"];
                if jumps.iter().any(|part| name.contains(part)) {
                    Category::Branch
                } else {
                    Category::Scalar
                }
            }
            _ => Category::Vector,
        }
    }

    /// Whether it moves between vector registers and accumulators, which the vector unit does.
    pub fn is_accumulator_move(&self) -> bool {
        matches!(
            self.op,
            Op::v_accvgpr_read | Op::v_accvgpr_write | Op::v_accvgpr_mov_b32
        )
    }

    /// Whether it computes a transcendental function, which takes a quarter of the vector unit's lanes.
    pub fn is_transcendental(&self) -> bool {
        const FUNCTIONS: [&str; 7] = ["exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"];
        let name = self.op.name();
        matches!(self.format, Format::Vop1 | Format::Vop3)
            && name.strip_prefix("v_").is_some_and(|rest| {
                let function = rest.split('_').next().unwrap_or_default();
                FUNCTIONS.contains(&function)
            })
    }

    /// What it does with memory.
    pub fn effect(&self) -> Effect {
        let name = self.op.name();
        let memory = match self.format {
            Format::Ds => return self.lds_effect(),
            Format::Smem
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf => name,
            _ => return Effect::None,
        };
        if memory.contains("_atomic_") {
            Effect::Atomic
        } else if memory.contains("_load_") {
            Effect::Load
        } else if memory.contains("_store_") {
            Effect::Store
        } else {
            Effect::None
        }
    }

    fn lds_effect(&self) -> Effect {
        let Some(rest) = self.op.name().strip_prefix("ds_") else {
            return Effect::None;
        };
        const WITHOUT_MEMORY: [&str; 5] = ["nop", "bpermute", "permute", "swizzle", "gws"];
        if WITHOUT_MEMORY.iter().any(|part| rest.starts_with(part)) {
            Effect::None
        } else if rest.starts_with("read") {
            Effect::Load
        } else if rest.starts_with("write") {
            Effect::Store
        } else {
            Effect::Atomic
        }
    }

    /// Whether its data goes from memory to LDS without passing registers.
    pub fn loads_to_lds(&self) -> bool {
        self.memory.lds && self.effect() == Effect::Load || self.op.name().contains("_load_lds_")
    }

    /// Whether a result comes back to registers.
    pub fn has_result(&self) -> bool {
        self.dst.source != Source::None
    }
}

fn is_clock(op: Op) -> bool {
    matches!(op, Op::s_memtime | Op::s_memrealtime)
}
