//! Kinds of instructions, and what they do with memory.

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
