//! Kinds of instructions, and their effects on memory.

/// The kind of an instruction: checks, counters and the timing model distinguish these.
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
    /// LDS, and lane permutations that use the LDS hardware.
    Lds,
    /// Branches, calls and `s_endpgm`.
    Branch,
    /// `s_barrier`.
    Barrier,
    /// `s_waitcnt`.
    Wait,
    /// No computation and no data: `s_nop`, priorities, messages, sleeps, cache control.
    Control,
}

impl Category {
    /// All kinds, in the order of reports.
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

/// The registers whose numbers `m0` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relative {
    /// The source.
    Source,
    /// The result.
    Result,
    /// Both, by the same distance.
    Both,
    /// Both, each by its own distance.
    Each,
    /// As [`Relative::Each`]; both are results.
    Swap,
}

impl Relative {
    /// What `m0` adds to the numbers of the source and of the result.
    pub const fn distances(self, m0: u32) -> [u32; 2] {
        match self {
            Relative::Source => [m0, 0],
            Relative::Result => [0, m0],
            Relative::Both => [m0, m0],
            Relative::Each | Relative::Swap => [m0 & 0x3ff, m0 >> 16 & 0x3ff],
        }
    }
}

/// The effect of an instruction on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// None: not a memory instruction, or one that only permutes lanes or controls caches.
    None,
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes in one indivisible step.
    Atomic,
}
