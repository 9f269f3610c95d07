//! The types of the generated instruction table: one [`Row`] per instruction and encoding.

use std::{
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    ptr,
};

use super::category::{Category, Effect, Relative};
use super::data_type::DataType;
use super::operand::{Operand, Source};
use super::ops::{Op, run::Run};
use super::wait_counts::Counter;

/// An encoding: the layout of an instruction's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Encoding {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    Mai,
    Vop3px2,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Vopd,
    Mimg,
    Exp,
    Vinterp,
    Ldsdir,
    Vimage,
    Vsample,
}

impl Encoding {
    pub(super) const COUNT: usize = Encoding::Vsample as usize + 1;
}

/// A bit field of an instruction, by its lowest bit and width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) low: u8,
    pub(super) width: u8,
}

impl Field {
    pub(super) const fn new(low: u8, width: u8) -> Field {
        Field { low, width }
    }

    /// The field's value in an instruction of up to two words.
    pub(super) const fn of(self, bits: u64) -> u32 {
        (bits >> self.low) as u32 & ((1 << self.width) - 1)
    }

    /// The field's value in an instruction of up to four words.
    pub(super) const fn of_wide(self, bits: u128) -> u32 {
        (bits >> self.low) as u32 & ((1 << self.width) - 1)
    }

    /// The bits of the field, in place.
    pub(super) const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.low
    }

    /// Whether a field of one bit is set.
    pub(super) const fn is_set(self, bits: u64) -> bool {
        bits & self.mask() != 0
    }
}

/// The bits of the first word that identify an encoding, and the place of its opcode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) encoding: Encoding,
    /// The columns of the table that have it, one bit each.
    pub(super) columns: u8,
    pub(super) value: u32,
    pub(super) mask: u32,
    pub(super) op: Field,
}

/// What a slot accepts, besides what its field can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Everything that the field can hold.
    Any,
    /// Vector registers only.
    Vgpr,
    /// Vector registers and LDS as a direct source.
    Lds,
    /// As [`Class::Any`], but tuples may start at odd registers.
    Odd,
    /// Accumulator registers only.
    Agpr,
    /// Scalar registers only.
    Sgpr,
    /// Scalar registers and constants.
    Scalar,
    /// A lane mask in scalar registers (RDNA, whose waves have two sizes).
    Mask,
    /// A matrix that all lanes of a wave hold together (RDNA), or a constant.
    Tile,
    /// As [`Class::Tile`], but no constant.
    Part,
}

/// The type of an operand. `bits` is 0 if the instruction has no such operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) bits: u16,
    pub(super) ty: DataType,
    pub(super) class: Class,
}

impl Slot {
    pub(super) const fn new(bits: u16, ty: DataType) -> Slot {
        Slot {
            bits,
            ty,
            class: Class::Any,
        }
    }

    pub(super) const fn only(self, class: Class) -> Slot {
        Slot { class, ..self }
    }

    pub(super) const fn exists(self) -> bool {
        self.bits != 0
    }

    /// An operand with this slot's width and type.
    pub(super) fn holding(self, source: Source) -> Operand {
        Operand {
            source,
            bits: self.bits,
            ty: self.ty,
        }
    }

    /// Whether the slot accepts a literal: every slot that accepts a scalar register does.
    pub(super) fn takes_literal(self) -> bool {
        matches!(self.class, Class::Any | Class::Scalar)
    }
}

/// No operand.
pub(super) const NO: Slot = Slot::new(0, DataType::B);

/// The meaning of the 16-bit constant of SOPK, SOPP and SOPC, or of a register field in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Immediate {
    /// No constant; the field must be 0.
    None,
    /// A number, printed as hexadecimal.
    Hex,
    /// A number.
    Number,
    /// A number that is printed unless it is 0.
    Optional,
    /// The distance of a branch in words.
    Label,
    /// A hardware register and a bit range in it.
    Hwreg,
    /// Wait counters.
    Waitcnt,
    /// A message.
    Sendmsg,
    /// The operands to which VGPR indexing applies.
    GprIdx,
    /// The 7-bit kind of a probe.
    Probe,
    /// Wait counters of RDNA 3.
    WaitcntRdna,
    /// How long to wait for results of the vector unit.
    Delay,
    /// Wait counters inside the vector unit, of gfx11's instruction.
    Depctr,
    /// The same counters, of gfx12's instruction, which is a hint.
    WaitAlu,
    /// A signed number.
    Signed,
    /// The GPUs for which the code is.
    Version,
    /// The event to wait for.
    WaitEvent,
    /// The length of a prefetch.
    Prefetch,
    /// The count of one wait counter, or of two.
    WaitVs,
    WaitVm,
    WaitExp,
    WaitLgkm,
    WaitLoad,
    WaitStore,
    WaitSample,
    WaitBvh,
    WaitDs,
    WaitKm,
    WaitLoadDs,
    WaitStoreDs,
}

/// The modifiers that an SDWA source accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SdwaModifiers {
    /// `abs` and `neg`.
    Float,
    /// `sext`.
    Integer,
    /// Neither; `abs` and `neg` are ignored.
    Ignored,
}

/// Properties that a row has or does not have.
pub(super) mod flag {
    /// Has a VOP3 form.
    pub(in super::super) const E64: u32 = 1;
    /// Accepts DPP.
    pub(in super::super) const DPP: u32 = 1 << 1;
    /// Has the clamp bit.
    pub(in super::super) const CLAMP: u32 = 1 << 2;
    /// Has the output multiplier.
    pub(in super::super) const OMOD: u32 = 1 << 3;
    /// `abs`, `neg` and `omod` hold a truth table.
    pub(in super::super) const BITOP3: u32 = 1 << 4;
    /// A 32-bit literal always follows.
    pub(in super::super) const LITERAL: u32 = 1 << 5;
    /// VOP3P without `op_sel`.
    pub(in super::super) const NO_SEL: u32 = 1 << 6;
    /// VOP3P whose `neg_hi` is `abs`.
    pub(in super::super) const MIX: u32 = 1 << 7;
    /// Sparse matrix product: no `blgp`.
    pub(in super::super) const SPARSE: u32 = 1 << 8;
    /// The formats of A and B are in `cbsz` and `blgp`.
    pub(in super::super) const F8F6F4: u32 = 1 << 9;
    /// `blgp` negates sources (from gfx942).
    pub(in super::super) const NEG: u32 = 1 << 10;
    /// Two 8-bit offsets.
    pub(in super::super) const TWO: u32 = 1 << 11;
    /// No offset.
    pub(in super::super) const NO_OFFSET: u32 = 1 << 12;
    /// Always GDS.
    pub(in super::super) const GDS_ALWAYS: u32 = 1 << 13;
    /// Never GDS.
    pub(in super::super) const GDS_NEVER: u32 = 1 << 14;
    /// Returns the old value if `sc0` is set.
    pub(in super::super) const RETURNS: u32 = 1 << 15;
    /// SMEM with `glc`.
    pub(in super::super) const GLC: u32 = 1 << 16;
    /// No `scc` on gfx90a.
    pub(in super::super) const NO_SCC: u32 = 1 << 17;
    /// Cache control with cache bits.
    pub(in super::super) const CACHE: u32 = 1 << 18;
    /// Cache control without cache bits.
    pub(in super::super) const CACHE_BARE: u32 = 1 << 19;
    /// SDWA writes the whole destination.
    pub(in super::super) const WHOLE_IN_SDWA: u32 = 1 << 21;
    /// SDWA has the output multiplier.
    pub(in super::super) const OMOD_IN_SDWA: u32 = 1 << 20;
    /// The result is the third source as well.
    pub(in super::super) const ACCUMULATES: u32 = 1 << 22;
    /// Bits of the result may stay as they were.
    pub(in super::super) const KEEPS: u32 = 1 << 23;
    /// Compares its first two sources.
    pub(in super::super) const COMPARE: u32 = 1 << 24;
    /// Moves data between lanes.
    pub(in super::super) const CROSS: u32 = 1 << 25;
    /// Dot product, which needs its own wait states.
    pub(in super::super) const DOT: u32 = 1 << 27;
    /// A barrier or semaphore of the whole launch.
    pub(in super::super) const GWS: u32 = 1 << 28;
    /// VOP3 whose `op_sel` only selects halves of registers.
    pub(in super::super) const QUIET: u32 = 1 << 29;
    /// VOP3P without clamp.
    pub(in super::super) const NO_CLAMP: u32 = 1 << 30;
    /// DS: the first data field is the third source.
    pub(in super::super) const SWAPPED: u32 = 1 << 31;
    /// VOP3P: `op_sel_hi` must be set, and `op_sel` is the part of an index (matrix products of gfx12).
    pub(in super::super) const STRICT: u32 = 1 << 26;
}

/// What an instruction reads and writes without an operand that says so.
pub(super) mod place {
    pub(in super::super) const SCC: u16 = 1;
    pub(in super::super) const VCC: u16 = 1 << 1;
    pub(in super::super) const EXEC: u16 = 1 << 2;
    pub(in super::super) const M0: u16 = 1 << 3;
    /// The result's register, as a source.
    pub(in super::super) const DST: u16 = 1 << 4;
    /// The first source's register, as a result.
    pub(in super::super) const SRC0: u16 = 1 << 5;
    /// MODE and the other hardware registers.
    pub(in super::super) const MODE: u16 = 1 << 6;
}

/// How long an instruction keeps the vector unit busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// The full rate: all lanes of a SIMD in every cycle.
    Full,
    /// Transcendental functions of f16 and f32.
    Trans,
    /// Transcendental functions of f64.
    Trans64,
    /// f64 arithmetic, and CDNA's 64-bit shifts.
    F64,
    /// RDNA's 64-bit shifts.
    Wide,
    /// 32-bit integer products.
    Mul32,
    /// 32-bit integer products with a 64-bit sum.
    Mul64,
}

/// What an image instruction has besides coordinates and components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Nothing,
    /// A mipmap level after the coordinates.
    Level,
    /// Derivatives before the coordinates.
    Derivatives,
    /// One component of four texels.
    Gather,
}

/// An opcode that a GPU does not have.
pub(super) const ABSENT: u16 = u16::MAX;

/// One instruction in one encoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) op: Op,
    /// LLVM's mnemonic.
    pub(super) llvm_name: &'static str,
    /// LLVM's mnemonic on gfx908 and gfx90a, if it differs.
    pub(super) before_gfx942: Option<&'static str>,
    pub(super) encoding: Encoding,
    /// The opcode on each GPU of the family.
    pub(super) opcodes: &'static [u16],
    pub(super) dst: Slot,
    pub(super) sdst: Slot,
    pub(super) src: [Slot; 5],
    pub(super) flags: u32,
    /// Sources with `abs` and `neg`, one bit each.
    pub(super) mods: u8,
    /// Sources whose `abs` and `neg` are ignored.
    pub(super) mods_ignored: u8,
    /// Sources with `neg_hi`, one bit each (matrix products of gfx12).
    pub(super) neg_hi: u8,
    /// Bits of `op_sel` that have an effect.
    pub(super) sel: u8,
    /// Bits of `op_sel` that are ignored.
    pub(super) sel_ignored: u8,
    /// The modifiers of each SDWA source, if the instruction accepts SDWA.
    pub(super) sdwa: Option<[SdwaModifiers; 2]>,
    /// The index of the source that is the constant after the instruction, or 0.
    pub(super) k: u8,
    pub(super) imm: Immediate,
    /// GPUs on which the data may go to LDS, one bit for each of the family.
    pub(super) lds: u8,
    /// GPUs on which it reads FLAT_SCRATCH to find private memory, one bit for each of the family.
    pub(super) flat_scratch: u8,
    pub(super) unit: Category,
    /// What it reads and writes besides its operands: bits of [`place`].
    pub(super) reads: u16,
    pub(super) writes: u16,
    pub(super) memory: Effect,
    pub(super) relative: Option<Relative>,
    /// Registers' worth of data that each lane moves to LDS, for instructions that always do so.
    pub(super) to_lds: u16,
    /// The bits of its data that a store writes.
    pub(super) takes: u128,
    /// The counters that count it while it is in flight.
    pub(super) counters: &'static [Counter],
    /// The same for an atomic that does not return the old value, if they are others.
    pub(super) unreturned: &'static [Counter],
    pub(super) rate: Rate,
    /// Passes of four cycles through the matrix core, on each GPU of the family.
    pub(super) passes: &'static [u8],
    /// Floating-point operations: per lane, or per wave on the matrix core.
    pub(super) flops: u32,
    /// Integer operations of matrix and dot products.
    pub(super) ops: u32,
    /// The number of matrix products (blocks) that it computes.
    pub(super) blocks: u32,
    pub(super) more: More,
    pub(super) run: Run,
}

/// The row of a decoded instruction. Rows are equal if they are the same.
#[derive(Clone, Copy)]
pub(super) struct RowRef(pub(super) &'static Row);

impl Deref for RowRef {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.0
    }
}

impl PartialEq for RowRef {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for RowRef {}

impl Hash for RowRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The same in every process.
        (self.op, self.encoding as u8).hash(state);
    }
}

impl fmt::Debug for RowRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.encoding, self.op)
    }
}

impl Row {
    pub(super) const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether this is an atomic memory operation.
    pub(super) fn is_atomic(&self) -> bool {
        self.memory == Effect::Atomic
    }

    /// Whether this is an atomic memory operation that never returns the old value (gfx908's on floats).
    pub(super) fn is_plain_atomic(&self) -> bool {
        self.is_atomic() && !self.has(flag::RETURNS)
    }

    /// The number of vector sources.
    pub(super) fn sources(&self) -> usize {
        self.src.iter().filter(|slot| slot.exists()).count()
    }
}

/// The default values of a row.
pub(super) const ROW: Row = Row {
    op: Op::s_nop,
    llvm_name: "",
    before_gfx942: None,
    encoding: Encoding::Sopp,
    opcodes: &[],
    dst: NO,
    sdst: NO,
    src: [NO; 5],
    flags: 0,
    mods: 0,
    mods_ignored: 0,
    neg_hi: 0,
    sel: 0,
    sel_ignored: 0b1111,
    sdwa: None,
    k: 0,
    imm: Immediate::None,
    lds: 0,
    flat_scratch: 0,
    unit: Category::Control,
    reads: 0,
    writes: 0,
    memory: Effect::None,
    relative: None,
    to_lds: 0,
    takes: !0,
    counters: &[],
    unreturned: &[],
    rate: Rate::Full,
    passes: &[],
    flops: 0,
    ops: 0,
    blocks: 1,
    more: More::Nothing,
    run: Run::Refused(""),
};
