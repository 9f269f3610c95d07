//! The registers that an instruction reads and writes, explicit and implied.

use super::{Extension, Format, Instruction, Op, Operand, SdwaSelect, SdwaUnused, Source};

/// A register in one numbering for all: `v0` to `v255`, `a0` to `a255`, scalar registers by operand code, `scc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u16);

impl Register {
    /// First accumulator.
    pub const ACCUMULATORS: u16 = 256;
    /// First scalar register.
    pub const SCALARS: u16 = 512;
    /// `vcc`, a pair.
    pub const VCC: Register = Register(Self::SCALARS + 106);
    /// `m0`.
    pub const M0: Register = Register(Self::SCALARS + 124);
    /// `exec`, a pair.
    pub const EXEC: Register = Register(Self::SCALARS + 126);
    /// `scc`.
    pub const SCC: Register = Register(Self::SCALARS + 128);
    /// `flat_scratch`, a pair.
    pub const FLAT_SCRATCH: Register = Register(Self::SCALARS + 102);
    /// Registers there are.
    pub const COUNT: usize = Self::SCALARS as usize + 129;

    /// Whether it has a value for each lane.
    pub const fn is_vector(self) -> bool {
        self.0 < Self::SCALARS
    }
}

impl std::fmt::Display for Register {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            n @ ..Self::ACCUMULATORS => write!(f, "v{n}"),
            n @ Self::ACCUMULATORS..Self::SCALARS => write!(f, "a{}", n - Self::ACCUMULATORS),
            n => match n - Self::SCALARS {
                102 => f.write_str("flat_scratch_lo"),
                103 => f.write_str("flat_scratch_hi"),
                104 => f.write_str("xnack_mask_lo"),
                105 => f.write_str("xnack_mask_hi"),
                106 => f.write_str("vcc_lo"),
                107 => f.write_str("vcc_hi"),
                code @ 108..124 => write!(f, "ttmp{}", code - 108),
                124 => f.write_str("m0"),
                126 => f.write_str("exec_lo"),
                127 => f.write_str("exec_hi"),
                128 => f.write_str("scc"),
                code => write!(f, "s{code}"),
            },
        }
    }
}

/// Registers one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// The first.
    pub first: Register,
    /// How many.
    pub count: u16,
}

impl Registers {
    const fn one(first: Register) -> Self {
        Registers { first, count: 1 }
    }

    const fn pair(first: Register) -> Self {
        Registers { first, count: 2 }
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Register> {
        (self.first.0..self.first.0 + self.count).map(Register)
    }

    /// Whether they share a register with others.
    pub const fn overlap(self, other: Registers) -> bool {
        self.first.0 < other.first.0 + other.count && other.first.0 < self.first.0 + self.count
    }

    /// Whether a register is among them.
    pub const fn contains(self, register: Register) -> bool {
        self.first.0 <= register.0 && register.0 < self.first.0 + self.count
    }
}

/// How a source is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A value to compute with.
    Value,
    /// Part of a memory address: address, offset, buffer resource, `m0` of LDS.
    Address,
    /// Data to be stored.
    Data,
    /// A branch's condition or target.
    Branch,
    /// The mask of lanes that take part.
    Exec,
}

/// A source and its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The registers.
    pub registers: Registers,
    /// What for.
    pub role: Role,
    /// The operand that it is: index into [`Instruction::src`], or none for what the encoding implies.
    pub slot: Option<u8>,
}

/// The registers of an instruction. Those that VGPR indexing adds are not known before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Sources.
    pub reads: Vec<Read>,
    /// Results.
    pub writes: Vec<Registers>,
    /// Results keep bits of what was in their registers (half registers, SDWA, single lanes).
    pub partial: bool,
}

/// The registers of an operand.
pub fn registers(operand: &Operand) -> Option<Registers> {
    let first = match operand.source {
        Source::Vgpr(n) => n,
        Source::Agpr(n) => n + Register::ACCUMULATORS,
        Source::Sgpr(n) => n + Register::SCALARS,
        Source::Inline(251) => return Some(Registers::pair(Register::VCC)),
        Source::Inline(252) => return Some(Registers::pair(Register::EXEC)),
        Source::Inline(253) => return Some(Registers::one(Register::SCC)),
        _ => return None,
    };
    Some(Registers {
        first: Register(first),
        count: operand.bits.div_ceil(32).max(1),
    })
}

impl Instruction {
    /// The registers that it reads and writes.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        for (slot, operand) in self.src.iter().enumerate() {
            if let Some(registers) = registers(operand) {
                uses.reads.push(Read {
                    registers,
                    role: self.role(slot),
                    slot: Some(slot as u8),
                });
            }
        }
        for scale in &self.matrix.scale {
            if let Some(registers) = registers(scale) {
                uses.reads(registers, Role::Value);
            }
        }
        for operand in [&self.dst, &self.sdst] {
            if let Some(registers) = registers(operand) {
                uses.writes.push(registers);
            }
        }
        self.implied(&mut uses);
        uses
    }

    fn role(&self, slot: usize) -> Role {
        match (self.format, slot) {
            (Format::Ds, 0) if self.is_permutation() => Role::Value,
            (Format::Ds, 0) if self.op == Op::ds_swizzle_b32 => Role::Value,
            (Format::Ds, _) if self.is_permutation() => Role::Value,
            (Format::Ds, 0) => Role::Address,
            (Format::Ds, _) => Role::Data,
            (
                Format::Flat | Format::Global | Format::Scratch | Format::Mubuf | Format::Mtbuf,
                1,
            ) => Role::Data,
            (Format::Smem, 2) => Role::Data,
            (
                Format::Flat
                | Format::Global
                | Format::Scratch
                | Format::Mubuf
                | Format::Mtbuf
                | Format::Smem,
                _,
            ) => Role::Address,
            (Format::Sop1 | Format::Sop2 | Format::Sopk | Format::Sopp, _)
                if self.category() == super::Category::Branch =>
            {
                Role::Branch
            }
            _ => Role::Value,
        }
    }

    /// Whether it permutes lanes by addresses through the hardware of LDS.
    pub fn is_permutation(&self) -> bool {
        matches!(self.op, Op::ds_bpermute_b32 | Op::ds_permute_b32)
    }

    /// Whether it works lane by lane, under `exec`.
    pub fn is_vector(&self) -> bool {
        !matches!(
            self.format,
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp | Format::Smem
        )
    }

    /// Whether its third source is its result.
    pub fn accumulates(&self) -> bool {
        let name = self.op.name();
        name.starts_with("v_fmac_")
            || name.starts_with("v_mac_")
            || name.starts_with("v_pk_fmac_")
            || name.starts_with("v_smfmac_")
            || (name.starts_with("v_dot") && name.contains("c_"))
    }

    fn implied(&self, uses: &mut Uses) {
        let name = self.op.name();
        if self.accumulates()
            && let Some(registers) = registers(&self.dst)
        {
            uses.reads(registers, Role::Value);
        }
        if self.is_vector() {
            uses.reads(Registers::pair(Register::EXEC), Role::Exec);
        }
        match self.op {
            Op::v_div_fmas_f32 | Op::v_div_fmas_f64 => {
                uses.reads(Registers::pair(Register::VCC), Role::Value);
            }
            Op::v_swap_b32 | Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32 => {
                // Both are sources and results.
                let both = [registers(&self.dst), registers(&self.src[0])];
                if let [Some(a), Some(b)] = both {
                    uses.reads(a, Role::Value);
                    uses.writes.push(b);
                }
            }
            Op::s_cbranch_vccz | Op::s_cbranch_vccnz => {
                uses.reads(Registers::pair(Register::VCC), Role::Branch);
            }
            Op::s_cbranch_execz | Op::s_cbranch_execnz => {
                uses.reads(Registers::pair(Register::EXEC), Role::Branch);
            }
            Op::s_cbranch_scc0 | Op::s_cbranch_scc1 => {
                uses.reads(Registers::one(Register::SCC), Role::Branch);
            }
            Op::v_readlane_b32 | Op::v_readfirstlane_b32 => {}
            Op::s_cmov_b32
            | Op::s_cmov_b64
            | Op::s_cmovk_i32
            | Op::s_bitset0_b32
            | Op::s_bitset0_b64
            | Op::s_bitset1_b32
            | Op::s_bitset1_b64 => {
                // All bits, or all but one, may stay as they were.
                if let Some(registers) = registers(&self.dst) {
                    uses.reads(registers, Role::Value);
                }
                uses.partial = true;
            }
            Op::v_writelane_b32 => uses.partial = true,
            Op::s_set_gpr_idx_on | Op::s_set_gpr_idx_idx | Op::s_set_gpr_idx_mode => {
                uses.writes.push(Registers::one(Register::M0));
            }
            Op::s_sendmsg | Op::s_sendmsghalt | Op::s_ttracedata => {
                uses.reads(Registers::one(Register::M0), Role::Value);
            }
            _ => {}
        }
        if self.format == Format::Vopc && name.starts_with("v_cmpx_")
            || name.contains("saveexec")
            || name.contains("wrexec")
        {
            uses.writes.push(Registers::pair(Register::EXEC));
        }
        if name.contains("saveexec") || name.contains("wrexec") {
            uses.reads(Registers::pair(Register::EXEC), Role::Value);
        }
        if name.starts_with("s_movrel") {
            uses.reads(Registers::one(Register::M0), Role::Value);
        }
        if self.format == Format::Vop3
            && name.starts_with("v_cmpx_")
            && !uses.writes.iter().any(|w| w.contains(Register::EXEC))
        {
            uses.writes.push(Registers::pair(Register::EXEC));
        }
        if self.reads_m0() {
            uses.reads(Registers::one(Register::M0), Role::Address);
        }
        if self.reads_scc() {
            uses.reads(Registers::one(Register::SCC), Role::Value);
        }
        if self.writes_scc() {
            uses.writes.push(Registers::one(Register::SCC));
        }
        uses.partial |= self.keeps_bits();
    }

    /// Whether an address comes out of `m0`.
    fn reads_m0(&self) -> bool {
        let name = self.op.name();
        self.loads_to_lds()
            || self.memory.gds
            || name.contains("addtid")
            || matches!(self.op, Op::ds_append | Op::ds_consume)
    }

    fn reads_scc(&self) -> bool {
        matches!(
            self.op,
            Op::s_addc_u32
                | Op::s_subb_u32
                | Op::s_cselect_b32
                | Op::s_cselect_b64
                | Op::s_cmov_b32
                | Op::s_cmov_b64
                | Op::s_cmovk_i32
        )
    }

    /// Whether `scc` holds a carry, a comparison, or whether the result is not 0.
    fn writes_scc(&self) -> bool {
        const SCALAR_1: [&str; 8] = [
            "not", "wqm", "bcnt0", "bcnt1", "quadmask", "abs", "saveexec", "wrexec",
        ];
        const NOT_SCALAR_2: [&str; 7] = ["cselect", "bfm", "mul", "pack", "rfe", "cbranch", "cmov"];
        let name = self.op.name();
        match self.format {
            Format::Sopc => !matches!(self.op, Op::s_setvskip | Op::s_set_gpr_idx_on),
            Format::Sop1 => SCALAR_1.iter().any(|part| name.contains(part)),
            Format::Sop2 => {
                self.category() == super::Category::Scalar
                    && !NOT_SCALAR_2.iter().any(|part| name.contains(part))
            }
            Format::Sopk => name.starts_with("s_cmpk") || self.op == Op::s_addk_i32,
            _ => false,
        }
    }

    /// Whether the result leaves bits of its registers as they were. D16 loads do not: they zero the other half.
    fn keeps_bits(&self) -> bool {
        let name = self.op.name();
        if let Extension::Sdwa(sdwa) = self.extension {
            return sdwa.dst_unused == SdwaUnused::Preserve && sdwa.dst_sel != SdwaSelect::Dword;
        }
        if matches!(self.extension, Extension::Dpp(_)) {
            return true;
        }
        // A 16-bit result goes to one half; VOP3's `op_sel` says which.
        name.contains("mixlo") || name.contains("mixhi") || self.modifiers.op_sel & 8 != 0
    }
}

impl Uses {
    fn reads(&mut self, registers: Registers, role: Role) {
        self.reads.push(Read {
            registers,
            role,
            slot: None,
        });
    }
}
