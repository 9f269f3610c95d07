//! The registers that an instruction reads and writes, explicitly and implicitly.

use std::fmt;

use ferrowave_gpu::Family;

use super::row::{flag, place};
use super::{Category, Extension, Format, Instruction, Operand, SdwaSelect, SdwaUnused, Source};

/// A register in a numbering of all kinds: `v0` to `v255`, `a0` to `a255`, scalar registers by operand code, `scc`.
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
    /// The number of registers.
    pub const COUNT: usize = Self::SCALARS as usize + 129;

    /// Whether it holds a value for each lane.
    pub const fn is_vector(self) -> bool {
        self.0 < Self::SCALARS
    }

    /// Its name, which is the same on all GPUs of a family.
    pub const fn name(self, family: Family) -> RegisterName {
        RegisterName {
            register: self,
            family,
        }
    }
}

/// A register of a family of GPUs, by its name.
#[derive(Clone, Copy, Debug)]
pub struct RegisterName {
    register: Register,
    family: Family,
}

impl fmt::Display for RegisterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.register.0 {
            n @ ..Register::ACCUMULATORS => write!(f, "v{n}"),
            n @ Register::ACCUMULATORS..Register::SCALARS => {
                write!(f, "a{}", n - Register::ACCUMULATORS)
            }
            n => match n - Register::SCALARS {
                code @ ..106 if self.family != Family::Cdna => write!(f, "s{code}"),
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

/// Consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// The first.
    pub first: Register,
    /// How many there are.
    pub count: u16,
}

impl Registers {
    const fn one(first: Register) -> Self {
        Registers { first, count: 1 }
    }

    const fn pair(first: Register) -> Self {
        Registers { first, count: 2 }
    }

    /// Iterates over the registers.
    pub fn iter(self) -> impl Iterator<Item = Register> {
        (self.first.0..self.first.0 + self.count).map(Register)
    }

    /// Whether they have a register in common with `other`.
    pub const fn overlap(self, other: Registers) -> bool {
        self.first.0 < other.first.0 + other.count && other.first.0 < self.first.0 + self.count
    }

    /// Whether they contain `register`.
    pub const fn contains(self, register: Register) -> bool {
        self.first.0 <= register.0 && register.0 < self.first.0 + self.count
    }
}

/// How a source is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A value to compute with.
    Value,
    /// Part of a memory address: address, offset, buffer resource, `m0` for LDS.
    Address,
    /// Data that is stored.
    Data,
    /// A branch's condition or target.
    Branch,
    /// The mask of active lanes.
    Exec,
}

/// A source and its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The registers.
    pub registers: Registers,
    /// How they are used.
    pub role: Role,
    /// The operand's index in [`Instruction::src`], or `None` if the encoding implies it.
    pub slot: Option<u8>,
}

/// The registers of an instruction, without those of VGPR indexing, which are only known at run time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Sources.
    pub reads: Vec<Read>,
    /// Results.
    pub writes: Vec<Registers>,
    /// Whether results keep some old bits of their registers (half registers, SDWA, single lanes).
    pub partial: bool,
}

/// The registers of an operand, except `src_vccz` and `src_execz`, whose masks depend on the wave's size.
pub fn registers(operand: &Operand) -> Option<Registers> {
    let first = match operand.source {
        Source::Vgpr(n) => n,
        Source::Agpr(n) => n + Register::ACCUMULATORS,
        Source::Sgpr(n) => n + Register::SCALARS,
        Source::Inline(253) => return Some(Registers::one(Register::SCC)),
        _ => return None,
    };
    Some(Registers {
        first: Register(first),
        count: operand.bits.div_ceil(32).max(1),
    })
}

impl Instruction {
    /// The registers that the instruction reads and writes.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        for (slot, operand) in self.src.iter().enumerate() {
            if let Some(registers) = self.source(operand) {
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
            if let Some(mut registers) = registers(operand) {
                // A status word follows the data.
                registers.count += u16::from(self.memory.tfe);
                uses.writes.push(registers);
            }
        }
        if let Some(second) = &self.second {
            for operand in &second.src {
                if let Some(registers) = registers(operand) {
                    uses.reads(registers, Role::Value);
                }
            }
            if let Some(registers) = registers(&second.dst) {
                if second.row.has(flag::ACCUMULATES) {
                    uses.reads(registers, Role::Value);
                }
                uses.writes.push(registers);
            }
        }
        self.implied(&mut uses);
        uses
    }

    /// The registers of a lane mask. Waves of 32 lanes have no use for the upper half, except in scalar instructions of 64 bits.
    fn mask(&self, first: Register) -> Registers {
        let bits = match self.format {
            Format::Sop1 => self.dst.bits.max(self.lanes.into()),
            // Loops over the halves of a wave.
            Format::Sopk => 64,
            _ => self.lanes.into(),
        };
        Registers {
            first,
            count: bits.div_ceil(32),
        }
    }

    /// The registers of a source.
    fn source(&self, operand: &Operand) -> Option<Registers> {
        match operand.source {
            Source::Inline(251) => Some(self.mask(Register::VCC)),
            Source::Inline(252) => Some(self.mask(Register::EXEC)),
            _ => registers(operand),
        }
    }

    fn role(&self, slot: usize) -> Role {
        match (self.format, slot) {
            (Format::Ds, _) if self.crosses_lanes() => Role::Value,
            (Format::Ds, 0) => Role::Address,
            (Format::Ds, _) => Role::Data,
            (
                Format::Flat
                | Format::Global
                | Format::Scratch
                | Format::Mubuf
                | Format::Mtbuf
                | Format::Image,
                1,
            ) => Role::Data,
            (Format::Smem, 2) => Role::Data,
            (
                Format::Flat
                | Format::Global
                | Format::Scratch
                | Format::Mubuf
                | Format::Mtbuf
                | Format::Image
                | Format::Smem,
                _,
            ) => Role::Address,
            (Format::Sop1 | Format::Sop2 | Format::Sopk | Format::Sopp, _)
                if self.category() == Category::Branch =>
            {
                Role::Branch
            }
            _ => Role::Value,
        }
    }

    /// Whether it works on each lane, under `exec`.
    pub fn is_vector(&self) -> bool {
        !matches!(
            self.format,
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp | Format::Smem
        )
    }

    /// Whether its result is also its third source.
    pub fn accumulates(&self) -> bool {
        self.row.has(flag::ACCUMULATES)
    }

    /// Adds the registers that the row states: implicit ones, and those both read and written.
    fn implied(&self, uses: &mut Uses) {
        let row = self.row;
        let condition = match row.unit {
            Category::Branch => Role::Branch,
            _ => Role::Value,
        };
        let dst = registers(&self.dst);
        let reads_dst = self.accumulates() || row.reads & place::DST != 0;
        if let Some(registers) = dst.filter(|_| reads_dst) {
            uses.reads(registers, Role::Value);
        }
        // GDS and loads to LDS take addresses from `m0`.
        let m0 = self.loads_to_lds() || self.memory.gds;
        let reads = row.reads | if m0 { place::M0 } else { 0 };
        for (bit, registers, role) in [
            (
                place::EXEC,
                self.mask(Register::EXEC),
                match self.is_vector() {
                    true => Role::Exec,
                    false => condition,
                },
            ),
            (place::VCC, self.mask(Register::VCC), condition),
            (
                place::M0,
                Registers::one(Register::M0),
                match self.is_vector() {
                    true => Role::Address,
                    false => condition,
                },
            ),
            (place::SCC, Registers::one(Register::SCC), condition),
        ] {
            if reads & bit != 0 {
                uses.reads(registers, role);
            }
        }
        for &register in &self.image.first[..usize::from(self.image.first_count)] {
            let register = Register(u16::from(register));
            uses.reads(Registers::one(register), Role::Address);
        }
        if self.memory.flat_scratch {
            uses.reads(Registers::pair(Register::FLAT_SCRATCH), Role::Address);
        }
        for (bit, registers) in [
            (place::SRC0, registers(&self.src[0])),
            (place::EXEC, Some(self.mask(Register::EXEC))),
            (place::M0, Some(Registers::one(Register::M0))),
            (place::SCC, Some(Registers::one(Register::SCC))),
        ] {
            let new = registers.filter(|r| row.writes & bit != 0 && !uses.writes.contains(r));
            uses.writes.extend(new);
        }
        uses.partial |= self.keeps_bits();
    }

    /// Whether the result keeps some old bits of its registers. D16 loads do not: they zero the other half.
    fn keeps_bits(&self) -> bool {
        if let Extension::Sdwa(sdwa) = self.extension {
            return sdwa.dst_unused == SdwaUnused::Preserve && sdwa.dst_sel != SdwaSelect::Dword;
        }
        if matches!(self.extension, Extension::Dpp(_) | Extension::Dpp8(_)) {
            return true;
        }
        // A 16-bit result goes to one half of the register; `op_sel` of VOP3 selects it.
        self.row.has(flag::KEEPS) || self.modifiers.op_sel & 8 != 0
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
