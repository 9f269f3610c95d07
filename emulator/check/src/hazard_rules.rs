//! The wait states that CDNA's GPUs require between instructions.
//!
//! Sources: LLVM's `GCNHazardRecognizer`, which inserts these wait states in compiled code (its functions are named
//! beside the figures), and AMD's ISA guides, «Manually inserted wait states». The figures of gfx950 that differ from
//! gfx942's are `GFX940_XDL_N_Pass…` with `IsGFX950`.

use ferrowave_gpu::Gpu;

use ferrowave_isa::{
    Category, DataType, Effect, Extension, Format, Instruction, Op, Read, Register, Registers,
    Role, SdwaSelect, Source, registers,
};

/// The properties of an instruction that the rules for later instructions need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Producer {
    /// No rule applies.
    Other,
    Scalar,
    Vector(Vector),
    Matrix(Matrix),
    /// A store of more than 64 bits per lane, which may read these registers late.
    Store(Registers),
}

/// An instruction of the vector unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector {
    op: Op,
    transcendental: bool,
    /// Whether the result goes to a part of the register.
    selects: bool,
    dot: bool,
}

/// A matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matrix {
    /// Passes of four cycles.
    passes: u64,
    /// Whether it is what LLVM calls XDL: all but f32 and f64 products.
    xdl: bool,
    /// Whether it is an f64 product.
    double: bool,
    /// The registers to which the products are added.
    pub(super) source: Option<Registers>,
}

/// How an instruction uses a register that earlier instructions may have accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// A scalar operand of a vector memory instruction.
    MemoryScalar,
    /// A lane number of `v_readlane` or `v_writelane`.
    LaneSelect,
    /// `vcc` of `v_div_fmas`.
    Division,
    /// A source whose lanes are moved by DPP.
    Dpp,
    /// `exec` of a DPP instruction.
    DppExec,
    /// `exec` of a matrix instruction or a move to an accumulator.
    MatrixExec,
    /// `exec` of `v_readlane` and similar instructions.
    LaneExec,
    /// `m0` of an instruction that reads it late.
    M0,
    /// The first or second source of a matrix product, or the indices of a sparse one.
    MatrixFactor,
    /// What a matrix product is added to.
    MatrixSum,
    /// Source of `v_accvgpr_read` on gfx908.
    AccumulatorRead,
    /// Result of `v_accvgpr_write` on gfx908.
    AccumulatorWrite,
    /// Source of `v_accvgpr_write` on gfx908.
    AccumulatorSource,
    /// A vector register read by the vector unit; `third`: as the third source.
    VectorRead { third: bool },
    /// A scalar register read by the vector unit.
    VectorScalar,
    /// The register that `v_readlane` and `v_readfirstlane` read.
    LaneRead,
    /// A vector register read by a memory instruction.
    MemoryRead,
    /// A vector register written; `vector`: by the vector unit, otherwise by a memory instruction.
    Write { vector: bool },
}

/// The use of some registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) registers: Registers,
    usage: Use,
    gpu: Gpu,
    op: Op,
    transcendental: bool,
    /// The matrix instruction, for uses by one.
    matrix: Option<Matrix>,
    /// Wait states required after a scalar write.
    pub(super) owed_after_scalar: u64,
    /// Wait states required after a store of these registers.
    pub(super) owed_after_store: u64,
}

/// GPUs with gfx940's vector unit.
const fn is_gfx940(gpu: Gpu) -> bool {
    matches!(gpu, Gpu::Gfx942 | Gpu::Gfx950)
}

fn matrix(instruction: &Instruction, gpu: Gpu) -> Matrix {
    let factor = &instruction.src[0];
    let float = factor.ty == DataType::F;
    Matrix {
        passes: instruction.passes(gpu),
        xdl: !float,
        double: float && factor.bits == 64,
        source: registers(instruction.addend()).filter(|r| r.first.is_vector()),
    }
}

/// The producer of an instruction.
pub(super) fn producer(instruction: &Instruction, gpu: Gpu) -> Producer {
    match instruction.category() {
        Category::Scalar => Producer::Scalar,
        Category::Matrix => Producer::Matrix(matrix(instruction, gpu)),
        Category::Vector => Producer::Vector(Vector {
            op: instruction.op,
            transcendental: instruction.is_transcendental(),
            selects: match instruction.extension {
                Extension::Sdwa(sdwa) => sdwa.dst_sel != SdwaSelect::Dword,
                _ => instruction.format == Format::Vop3 && instruction.modifiers.op_sel & 8 != 0,
            },
            dot: instruction.is_dot(),
        }),
        Category::VectorMemory if instruction.effect() != Effect::Load => {
            // `createsVALUHazard`: for buffers, only if the offset is not a register.
            let buffer = matches!(instruction.format, Format::Mubuf | Format::Mtbuf);
            let offset = matches!(instruction.src[3].source, Source::Sgpr(_));
            match registers(&instruction.src[1]) {
                Some(data) if data.count > 2 && !(buffer && offset) => Producer::Store(data),
                _ => Producer::Other,
            }
        }
        _ => Producer::Other,
    }
}

/// The uses of an instruction to which rules apply.
pub(super) fn consumer(instruction: &Instruction, gpu: Gpu) -> Vec<Reader> {
    let uses = instruction.uses();
    let reads = uses.reads.iter().flat_map(|read| {
        let usages = read_usages(instruction, gpu, read).into_iter();
        usages.map(|usage| (read.registers, usage))
    });
    let writes = uses.writes.iter().filter_map(|&written| {
        let usage = write_usage(instruction, gpu, written)?;
        Some((written, usage))
    });
    let is_matrix = instruction.category() == Category::Matrix;
    let matrix = is_matrix.then(|| matrix(instruction, gpu));
    reads
        .chain(writes)
        .map(|(registers, usage)| Reader {
            registers,
            usage,
            gpu,
            op: instruction.op,
            transcendental: instruction.is_transcendental(),
            matrix,
            // `checkReadM0Hazards`.
            owed_after_scalar: u64::from(usage == Use::M0),
            // `checkVALUHazardsHelper`.
            owed_after_store: match usage {
                Use::Write { vector: true } if is_gfx940(gpu) => 2,
                Use::Write { vector: true } => 1,
                _ => 0,
            },
        })
        .collect()
}

/// How an instruction uses registers that it reads.
fn read_usages(instruction: &Instruction, gpu: Gpu, read: &Read) -> Vec<Use> {
    let category = instruction.category();
    let list = read.registers;
    let vector = list.first.is_vector();
    if read.role == Role::Exec {
        return exec_usage(instruction, gpu).into_iter().collect();
    }
    let mut usages = Vec::new();
    let counts = matches!(instruction.op, Op::ds_append | Op::ds_consume);
    let takes_m0_late = !counts || instruction.memory.gds;
    if list.first == Register::M0 && read.slot.is_none() && takes_m0_late {
        usages.push(Use::M0);
    }
    match category {
        Category::Matrix if vector => usages.push(match (read.slot, instruction.is_sparse()) {
            (Some(2), false) | (None, true) => Use::MatrixSum,
            _ => Use::MatrixFactor,
        }),
        Category::VectorMemory if !vector => usages.push(Use::MemoryScalar),
        Category::VectorMemory | Category::Lds if vector => usages.push(Use::MemoryRead),
        Category::Vector if is_gfx908_move(instruction, gpu) => {
            usages.push(match instruction.op {
                Op::v_accvgpr_read => Use::AccumulatorRead,
                _ => Use::AccumulatorSource,
            });
        }
        Category::Vector => add_vector_usages(instruction, gpu, read, &mut usages),
        _ => {}
    }
    usages
}

/// Whether it moves data to or from the accumulators of gfx908.
fn is_gfx908_move(instruction: &Instruction, gpu: Gpu) -> bool {
    gpu == Gpu::Gfx908 && instruction.is_accumulator_move()
}

/// Whether it reads or writes one lane of a vector register.
const fn is_of_one_lane(op: Op) -> bool {
    matches!(
        op,
        Op::v_readlane_b32 | Op::v_readfirstlane_b32 | Op::v_writelane_b32
    )
}

/// How an instruction uses `exec`.
fn exec_usage(instruction: &Instruction, gpu: Gpu) -> Option<Use> {
    let is_dpp = matches!(instruction.extension, Extension::Dpp(_));
    match instruction.category() {
        Category::Matrix => Some(Use::MatrixExec),
        Category::Vector
            if is_gfx908_move(instruction, gpu) && instruction.op != Op::v_accvgpr_read =>
        {
            Some(Use::MatrixExec)
        }
        Category::Vector if is_dpp => Some(Use::DppExec),
        Category::Vector if is_of_one_lane(instruction.op) && is_gfx940(gpu) => Some(Use::LaneExec),
        _ => None,
    }
}

/// How an instruction of the vector unit uses registers that it reads, without `exec`.
fn add_vector_usages(instruction: &Instruction, gpu: Gpu, read: &Read, usages: &mut Vec<Use>) {
    let op = instruction.op;
    let (first, slot) = (read.registers.first, read.slot);
    let division = matches!(op, Op::v_div_fmas_f32 | Op::v_div_fmas_f64);
    if division && first == Register::VCC {
        usages.push(Use::Division);
    }
    if !first.is_vector() {
        let selects_lane = matches!(op, Op::v_readlane_b32 | Op::v_writelane_b32);
        if selects_lane && slot == Some(1) {
            usages.push(Use::LaneSelect);
        }
        if is_gfx940(gpu) {
            usages.push(Use::VectorScalar);
        }
        return;
    }
    usages.push(Use::VectorRead {
        third: slot.is_none_or(|slot| slot == 2),
    });
    if matches!(instruction.extension, Extension::Dpp(_)) && slot == Some(0) {
        usages.push(Use::Dpp);
    }
    if is_of_one_lane(op) && is_gfx940(gpu) && op != Op::v_writelane_b32 {
        usages.push(Use::LaneRead);
    }
}

/// How an instruction uses registers that it writes.
fn write_usage(instruction: &Instruction, gpu: Gpu, written: Registers) -> Option<Use> {
    if !written.first.is_vector() {
        return None;
    }
    match instruction.category() {
        Category::Vector
            if is_gfx908_move(instruction, gpu) && instruction.op == Op::v_accvgpr_write =>
        {
            Some(Use::AccumulatorWrite)
        }
        Category::Vector => Some(Use::Write { vector: true }),
        Category::VectorMemory | Category::Lds => Some(Use::Write { vector: false }),
        _ => None,
    }
}

impl Reader {
    /// Whether only instructions for which [`concerns_all`] is true can make it wait.
    pub(super) const fn is_ordinary(&self) -> bool {
        matches!(
            self.usage,
            Use::VectorRead { .. } | Use::MemoryRead | Use::Write { .. }
        )
    }
}

/// Whether the vector unit's and memory instructions' reads and writes may have to wait for this instruction. After
/// other instructions, only uses with their own rule may have to wait.
pub(super) fn concerns_all(producer: &Producer) -> bool {
    match producer {
        Producer::Matrix(_) | Producer::Store(_) => true,
        Producer::Vector(by) => {
            by.dot || by.transcendental || by.selects || by.op == Op::v_accvgpr_read
        }
        Producer::Scalar | Producer::Other => false,
    }
}

/// Wait states required between a write by the vector unit and a use.
pub(super) fn owed_after_vector(by: &Producer, reader: &Reader, register: Register) -> u64 {
    let Producer::Vector(by) = by else {
        return 0;
    };
    let gfx908 = reader.gpu == Gpu::Gfx908;
    let accumulator = register.is_vector() && register.0 >= Register::ACCUMULATORS;
    match reader.usage {
        Use::MemoryScalar => 5,                             // checkVMEMHazards
        Use::LaneSelect => 4,                               // checkRWLaneHazards
        Use::Division => 4,                                 // checkDivFMasHazards
        Use::Dpp => 2,                                      // checkDPPHazards
        Use::DppExec => 5,                                  // checkDPPHazards
        Use::MatrixExec => 4,                               // checkMAIHazards908, 90A
        Use::LaneExec => 4,                                 // checkVALUHazards, hasVDecCoExecHazard
        Use::LaneRead => 1,                                 // as above
        Use::VectorScalar => 2,                             // as above
        Use::MatrixFactor if gfx908 && accumulator => 3,    // checkMAIHazards908
        Use::MatrixSum if gfx908 && accumulator => 1,       // as above
        Use::AccumulatorRead => 3,                          // as above
        Use::AccumulatorSource => 2,                        // as above
        Use::MatrixFactor | Use::MatrixSum if gfx908 => 2,  // as above
        Use::MatrixFactor | Use::MatrixSum if !by.dot => 2, // checkMAIHazards90A
        Use::MemoryRead if gfx908 && by.op == Op::v_accvgpr_read => 2, // checkMAILdStHazards
        Use::MemoryRead if by.dot && !gfx908 => 3,          // checkMAIVALUHazards
        Use::Write { .. } if by.dot && !gfx908 && by.op != reader.op => 3, // as above
        Use::VectorRead { third } => {
            let dot = by.dot && !gfx908 && (by.op != reader.op || !third);
            let forwards = is_gfx940(reader.gpu)
                && (by.transcendental && !reader.transcendental || by.selects);
            match (dot, forwards) {
                (true, _) => 3,     // checkMAIVALUHazards
                (false, true) => 1, // checkVALUHazards
                (false, false) => 0,
            }
        }
        _ => 0,
    }
}

/// One of three figures, for 2, 8 and 16 passes.
const fn by_passes(passes: u64, figures: [u64; 3]) -> u64 {
    match passes {
        2 => figures[0],
        8 => figures[1],
        _ => figures[2],
    }
}

/// Wait states required between a matrix instruction's write and a use. `same`: both ranges start at the same register.
pub(super) fn owed_after_matrix(gpu: Gpu, by: &Matrix, reader: &Reader, same: bool) -> u64 {
    let n = by.passes;
    if gpu == Gpu::Gfx908 {
        // checkMAIHazards908
        return match reader.usage {
            Use::MatrixSum if same => 0,
            Use::MatrixSum => 2,
            Use::MatrixFactor => 4,
            Use::AccumulatorRead => by_passes(n, [4, 10, 18]),
            Use::AccumulatorWrite => by_passes(n, [1, 7, 15]),
            _ => 0,
        };
    }
    let gfx940 = is_gfx940(gpu);
    let small_double = by.double && n == 4;
    let more = u64::from(gpu == Gpu::Gfx950 && n != 2 && by.xdl);
    match reader.usage {
        // checkMAIHazards90A
        Use::MatrixSum => {
            let Some(matrix) = reader.matrix else {
                return 0;
            };
            if !matrix.double && !gfx940 && by.double {
                0
            } else if same {
                match () {
                    () if matrix.double && matrix.passes == 4 && small_double => 4,
                    () if gfx940 && n == 2 => 2,
                    () => 0,
                }
            } else if by.double {
                match (matrix.xdl, small_double) {
                    (true, _) => 0,
                    (false, true) => 4,
                    (false, false) => 9,
                }
            } else if gfx940 {
                match (matrix.xdl, by.xdl) {
                    (true, false) => 0,
                    (_, true) => n + 1 + more,
                    (false, false) => n,
                }
            } else if matrix.double {
                by_passes(n, [3, 9, 17])
            } else {
                by_passes(n, [2, 8, 16])
            }
        }
        Use::MatrixFactor => match (by.double, gfx940) {
            (true, _) if small_double => 6,
            (true, _) => 11,
            (false, true) => n + if by.xdl { 3 + more } else { 2 },
            (false, false) => by_passes(n, [5, 11, 19]),
        },
        // checkMAIVALUHazards
        Use::MemoryRead | Use::VectorRead { .. } | Use::Write { .. } | Use::Dpp => {
            let memory = reader.usage == Use::MemoryRead;
            match (by.double, gfx940) {
                (true, _) => match (small_double, memory) {
                    (true, true) => 9,
                    (true, false) => 6,
                    (false, true) => 18,
                    (false, false) => 11,
                },
                (false, true) => n + if by.xdl { 3 + more } else { 2 },
                (false, false) => by_passes(n, [5, 11, 19]),
            }
        }
        _ => 0,
    }
}

/// Wait states required before a write to a register that a matrix instruction still reads as its third source.
pub(super) fn owed_after_source(gpu: Gpu, by: &Matrix, reader: &Reader) -> u64 {
    match (gpu, reader.usage) {
        // checkMAIHazards908
        (Gpu::Gfx908, Use::AccumulatorWrite) => by_passes(by.passes, [0, 5, 13]),
        (Gpu::Gfx908, _) => 0,
        // checkMAIVALUHazards
        (_, Use::Write { .. }) if !by.double && (by.xdl || !is_gfx940(gpu)) => match by.passes {
            2 => 1,
            4 => 3,
            8 => 7,
            _ => 15,
        },
        _ => 0,
    }
}
