//! A decoded instruction: its operation and operands, in one form for all encodings.
//!
//! The decoder creates it, the disassembler prints it, and `exec` compiles it to a form that runs faster.

use super::data_type::DataType;
use super::image::ImageControl;
use super::operand::{Operand, Source};
use super::ops::Op;
use super::row::RowRef;

/// The encoding of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Scalar, one source.
    Sop1,
    /// Scalar, two sources.
    Sop2,
    /// Scalar compare.
    Sopc,
    /// Scalar with a 16-bit constant.
    Sopk,
    /// Program control.
    Sopp,
    /// Scalar memory.
    Smem,
    /// Vector, one source.
    Vop1,
    /// Vector, two sources.
    Vop2,
    /// Vector compare.
    Vopc,
    /// Vector, up to three sources, with modifiers (also the long form of VOP1, VOP2 and VOPC).
    Vop3,
    /// As [`Format::Vop3`] with a scalar destination in place of `abs`.
    Vop3b,
    /// Packed vector.
    Vop3p,
    /// Matrix core.
    Mai,
    /// LDS and GDS.
    Ds,
    /// Flat address space.
    Flat,
    /// Global memory.
    Global,
    /// Scratch memory.
    Scratch,
    /// Untyped buffer.
    Mubuf,
    /// Typed buffer.
    Mtbuf,
    /// A pair of vector instructions (RDNA); the second is in [`Instruction::second`].
    Vopd,
    /// Image.
    Image,
    /// Exports, interpolation, ray tracing and images that only graphics needs (RDNA), without operands.
    Graphics,
}

/// The extension of a short vector encoding, in place of its first source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Extension {
    /// Nothing.
    #[default]
    None,
    /// Sub-dword addressing.
    Sdwa(Sdwa),
    /// Data-parallel primitives: a lane permutation of the first source.
    Dpp(Dpp),
    /// The same with a source for each lane of a group of eight (RDNA).
    Dpp8(Dpp8),
}

/// The part of a register that an SDWA operand selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SdwaSelect {
    /// Bits 7:0.
    Byte0 = 0,
    /// Bits 15:8.
    Byte1 = 1,
    /// Bits 23:16.
    Byte2 = 2,
    /// Bits 31:24.
    Byte3 = 3,
    /// Bits 15:0.
    Word0 = 4,
    /// Bits 31:16.
    Word1 = 5,
    /// All 32 bits.
    #[default]
    Dword = 6,
}

/// What happens to the bits of an SDWA destination that are not selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SdwaUnused {
    /// Set to zero.
    #[default]
    Pad = 0,
    /// Filled with the sign of the selected part.
    Sext = 1,
    /// Keep their old value.
    Preserve = 2,
}

/// Sub-dword addressing of a VOP1, VOP2 or VOPC instruction.
/// `abs` and `neg` are in [`Modifiers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// The selected part of the destination (not for compares).
    pub dst_sel: SdwaSelect,
    /// What happens to the rest of the destination (not for compares).
    pub dst_unused: SdwaUnused,
    /// The selected part of each source.
    pub src_sel: [SdwaSelect; 2],
    /// Sign extension of each source.
    pub sext: [bool; 2],
}

/// A DPP permutation. `abs` and `neg` are in [`Modifiers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dpp {
    /// The 9-bit control (`quad_perm`, row shifts, broadcasts, …).
    pub control: u16,
    /// The rows of 16 lanes that are written, one bit each.
    pub row_mask: u8,
    /// The banks of 4 lanes in each row that are written, one bit each.
    pub bank_mask: u8,
    /// Whether lanes out of range read as 0, instead of disabling the write.
    pub bound_ctrl: bool,
    /// Whether inactive lanes are read (RDNA).
    pub fetch_inactive: bool,
}

/// A DPP permutation in groups of eight lanes (RDNA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dpp8 {
    /// The lane of the group that each lane reads, three bits each.
    pub lanes: u32,
    /// Whether inactive lanes are read.
    pub fetch_inactive: bool,
}

/// The second instruction of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Second {
    /// The operation.
    pub op: Op,
    /// What the table says of it.
    pub(super) row: RowRef,
    /// Result.
    pub dst: Operand,
    /// Sources.
    pub src: [Operand; 3],
}

/// Source and result modifiers. Bit i of a mask belongs to source i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers {
    /// Absolute value.
    pub abs: u8,
    /// Negation (packed: of the low half).
    pub neg: u8,
    /// Packed: negation of the high half.
    pub neg_hi: u8,
    /// Which half the low result reads (VOP3P), or the half of a 16-bit operand (VOP3; bit 3 is the destination).
    pub op_sel: u8,
    /// Which half the high result reads (VOP3P).
    pub op_sel_hi: u8,
    /// Clamp the result.
    pub clamp: bool,
    /// Output multiplier: 0 none, 1 ×2, 2 ×4, 3 ÷2.
    pub omod: u8,
    /// Truth table of `v_bitop3`.
    pub bitop3: u8,
}

/// Fields that only matrix instructions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MatrixControl {
    /// Broadcast size of A's blocks.
    pub cbsz: u8,
    /// Which block of A is broadcast.
    pub abid: u8,
    /// Lane permutation of B (or `neg` of the f64 forms).
    pub blgp: u8,
    /// The scales of A and B (gfx950's `v_mfma_scale_*` only). [`Modifiers::op_sel`] (low bit) and
    /// [`Modifiers::op_sel_hi`] (high bit) select the byte that is used.
    pub scale: [Operand; 2],
}

/// Fields that only memory instructions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryControl {
    /// Byte offset: signed for global, scratch and SMEM, unsigned elsewhere.
    /// DS instructions with two addresses hold `offset0 | offset1 << 8`.
    pub offset: i32,
    /// `glc` on gfx908 and gfx90a, `sc0` on gfx942 and gfx950. If set, atomics return the old value.
    pub sc0: bool,
    /// `slc` or `nt`.
    pub nt: bool,
    /// `scc` or `sc1`.
    pub sc1: bool,
    /// The data goes to LDS (MUBUF, FLAT family of gfx908).
    pub lds: bool,
    /// The access is to GDS.
    pub gds: bool,
    /// The address of private memory is in `flat_scratch`.
    pub flat_scratch: bool,
    /// A status word follows the data (MUBUF of gfx908).
    pub tfe: bool,
    /// The buffer offset comes from a VGPR.
    pub offen: bool,
    /// The buffer index comes from a VGPR.
    pub idxen: bool,
    /// MTBUF's format: `dfmt | nfmt << 4` on CDNA, one number on RDNA.
    pub format: u8,
    /// `dlc` (RDNA 3).
    pub dlc: bool,
    /// Which caches keep the data (RDNA 4's `th`).
    pub hint: u8,
    /// For whom an access must be visible (RDNA 4's `scope`).
    pub scope: u8,
    /// The data is not volatile (RDNA 4's `nv`).
    pub nv: bool,
}

impl Instruction {
    /// The instructions of a pair, each of its own.
    pub fn halves(&self) -> Option<[Instruction; 2]> {
        let Second { op, row, dst, src } = self.second?;
        let [a, b, c] = src;
        let first = Instruction {
            second: None,
            ..*self
        };
        let second = Instruction {
            op,
            row,
            dst,
            src: [a, b, c, Operand::default()],
            ..first
        };
        Some([first, second])
    }
}

/// A decoded instruction.
///
/// `dst` and `src` by format:
///
/// | format | dst | sdst | src |
/// |---|---|---|---|
/// | SOP1, SOP2, SOPC | scalar result | | ssrc0, ssrc1 (`s_set_gpr_idx_on`: the mode as [`Source::Literal`](crate::Source::Literal)) |
/// | SOPK | scalar result (or none) | | the register that is read (sdst, for compares, `addk`, `mulk`, …; or none), the constant as [`Source::Literal`](crate::Source::Literal), the literal of `s_setreg_imm32_b32` |
/// | SOPP | | | the constant as [`Source::Literal`](crate::Source::Literal) |
/// | SMEM | sdata of loads | | sbase, soffset (or none), sdata of stores and atomics |
/// | VOP1, VOP2, VOP3, VOP3P, MAI | result | | src0, src1, src2 (VOP2's implicit `vcc` and literal-carrying `k` are src2, or src1 for `madmk`) |
/// | VOP3b, VOP2 with carry out | result | carry out | src0, src1, src2 |
/// | VOPC | the mask (`vcc` in the short form; `v_cmpx` writes `exec` as well) | | src0, src1 |
/// | DS | vdst | | address, data0, data1 |
/// | FLAT, GLOBAL, SCRATCH | vdst | | vaddr, vdata, saddr |
/// | VOPD | result of the first | | src0, src1, src2 of the first; [`Instruction::second`] has the second |
/// | MUBUF, MTBUF | vdata of loads and returning atomics | | vaddr, vdata of stores and atomics, srsrc, soffset |
/// | images | vdata of loads | | vaddr (the last of them, see [`ImageControl::first`]), vdata of stores, srsrc, ssamp |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// What the table says of it.
    pub(super) row: RowRef,
    /// The encoding.
    pub format: Format,
    /// Size in bytes, including literals and extensions.
    pub size: u8,
    /// Lanes of the wave that it was decoded for.
    pub(super) lanes: u8,
    /// Result.
    pub dst: Operand,
    /// Second, scalar result.
    pub sdst: Operand,
    /// Sources.
    pub src: [Operand; 4],
    /// Modifiers.
    pub modifiers: Modifiers,
    /// SDWA or DPP.
    pub extension: Extension,
    /// Matrix bits.
    pub matrix: MatrixControl,
    /// Memory bits.
    pub memory: MemoryControl,
    /// Image bits.
    pub image: ImageControl,
    /// The second instruction of a pair.
    pub second: Option<Second>,
}

impl Instruction {
    /// Makes inline constants of a mixed multiply-add f16 where `op_sel_hi` says that the source is. LLVM selects them so
    /// since `v_cvt_f32_f16` and an addition are one instruction, and states that the constant is in the low 16 bits
    /// (llvm-project, pull request 183487).
    pub(super) fn narrow_mixed_constants(&mut self) {
        for (slot, operand) in self.src.iter_mut().enumerate() {
            let is_half = self.modifiers.op_sel_hi >> slot & 1 == 1;
            if is_half && matches!(operand.source, Source::Inline(_)) {
                (operand.ty, operand.bits) = (DataType::F, 16);
            }
        }
    }
}
