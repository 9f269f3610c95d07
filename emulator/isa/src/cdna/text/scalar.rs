//! Prints SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

use std::fmt;

use ferrowave_gpu::Gpu;

use super::super::wait::counters;
use crate::instruction::Instruction;
use crate::operand::{Operand, Source};
use crate::row::Immediate;
use crate::writer::Writer;

impl Writer<'_, '_> {
    pub(super) fn scalar_alu(&mut self, i: &Instruction) -> fmt::Result {
        self.operand(&i.dst)?;
        self.operand(&i.src[0])?;
        match (self.row.imm, i.src[1].source) {
            (Immediate::GprIdx, Source::Literal(value)) => {
                self.separate()?;
                self.gpr_idx(value)
            }
            _ => self.operand(&i.src[1]),
        }
    }

    pub(super) fn sopk(&mut self, i: &Instruction) -> fmt::Result {
        let reads = usize::from(self.row.src[0].exists());
        let value = immediate(&i.src[reads]);
        let written_or_read = if reads == 1 && i.dst.source == Source::None {
            &i.src[0]
        } else {
            &i.dst
        };
        let setting = self.row.imm == Immediate::Hwreg && i.dst.source == Source::None;
        if !setting {
            self.operand(written_or_read)?;
        }
        self.separate()?;
        match self.row.imm {
            Immediate::Hwreg => self.hwreg(value, self.hwreg_name(value & 0x3f))?,
            Immediate::Label => write!(self.f, "{value}")?,
            _ => write!(self.f, "{value:#x}")?,
        }
        if setting && reads == 1 {
            self.operand(written_or_read)?;
        }
        if let Source::Literal(literal) = i.src[reads + 1].source {
            self.separate()?;
            self.as_constant(literal)?;
        }
        Ok(())
    }

    pub(super) fn sopp(&mut self, i: &Instruction) -> fmt::Result {
        let value = immediate(&i.src[0]);
        match self.row.imm {
            Immediate::None => return Ok(()),
            Immediate::Optional if value == 0 => return Ok(()),
            _ => self.separate()?,
        }
        match self.row.imm {
            Immediate::Waitcnt => self.waitcnt(value),
            Immediate::Sendmsg => self.sendmsg(value),
            Immediate::GprIdx => self.gpr_idx(value),
            Immediate::Label | Immediate::Optional => write!(self.f, "{value}"),
            _ => self.number(value),
        }
    }

    fn waitcnt(&mut self, value: u32) -> fmt::Result {
        let counters = counters(value);
        let all = counters.iter().all(|&(.., count, none)| count == none);
        let mut space = "";
        for (_, name, count, none) in counters {
            if count != none || all {
                write!(self.f, "{space}{name}({count})")?;
                space = " ";
            }
        }
        Ok(())
    }

    fn sendmsg(&mut self, value: u32) -> fmt::Result {
        let (id, op, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
        let name = match id {
            1 => "MSG_INTERRUPT",
            2 => "MSG_GS",
            3 => "MSG_GS_DONE",
            4 => "MSG_SAVEWAVE",
            5 => "MSG_STALL_WAVE_GEN",
            6 => "MSG_HALT_WAVES",
            7 => "MSG_ORDERED_PS_DONE",
            8 => "MSG_EARLY_PRIM_DEALLOC",
            9 => "MSG_GS_ALLOC_REQ",
            10 => "MSG_GET_DOORBELL",
            15 => "MSG_SYSMSG",
            _ => "",
        };
        match (id, op, stream) {
            (3, 0, 0) => write!(self.f, "sendmsg({name}, GS_OP_NOP)"),
            (2 | 3, 1..=3, _) => {
                let op = ["GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"][op as usize - 1];
                write!(self.f, "sendmsg({name}, {op}, {stream})")
            }
            (15, 1 | 2 | 4, 0) => {
                let op = match op {
                    1 => "SYSMSG_OP_ECC_ERR_INTERRUPT",
                    2 => "SYSMSG_OP_REG_RD",
                    _ => "SYSMSG_OP_TTRACE_PC",
                };
                write!(self.f, "sendmsg({name}, {op})")
            }
            (1 | 4..=10, 0, 0) => write!(self.f, "sendmsg({name})"),
            _ if value == id | op << 4 | stream << 8 => {
                write!(self.f, "sendmsg({id}, {op}, {stream})")
            }
            _ => write!(self.f, "{value}"),
        }
    }

    fn gpr_idx(&mut self, value: u32) -> fmt::Result {
        if value > 15 {
            return write!(self.f, "{value:#x}");
        }
        self.f.write_str("gpr_idx(")?;
        let mut comma = "";
        for (n, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
            if value >> n & 1 != 0 {
                write!(self.f, "{comma}{name}")?;
                comma = ",";
            }
        }
        self.f.write_str(")")
    }

    fn hwreg_name(&self, id: u32) -> Option<&'static str> {
        let from_gfx942 = matches!(self.gpu, Gpu::Gfx942 | Gpu::Gfx950);
        Some(match id {
            1 => "MODE",
            2 => "STATUS",
            3 => "TRAPSTS",
            4 => "HW_ID",
            5 => "GPR_ALLOC",
            6 => "LDS_ALLOC",
            7 => "IB_STS",
            15 => "SH_MEM_BASES",
            16 => "TBA_LO",
            17 => "TBA_HI",
            18 => "TMA_LO",
            19 => "TMA_HI",
            20 if from_gfx942 => "XCC_ID",
            21 if from_gfx942 => "SQ_PERF_SNAPSHOT_DATA",
            22 if from_gfx942 => "SQ_PERF_SNAPSHOT_DATA1",
            23 if from_gfx942 => "SQ_PERF_SNAPSHOT_PC_LO",
            24 if from_gfx942 => "SQ_PERF_SNAPSHOT_PC_HI",
            _ => return None,
        })
    }

    pub(super) fn smem(&mut self, i: &Instruction) -> fmt::Result {
        match i.src[2].source {
            Source::None => self.operand(&i.dst)?,
            Source::Literal(kind) => {
                self.separate()?;
                self.number(kind)?;
            }
            _ => self.operand(&i.src[2])?,
        }
        if i.src[0].source != Source::None {
            self.operand(&i.src[0])?;
            self.smem_offset(i)?;
        }
        self.word_if(i.memory.sc0, "glc")
    }

    fn smem_offset(&mut self, i: &Instruction) -> fmt::Result {
        let offset = i.memory.offset;
        let (sign, magnitude) = (if offset < 0 { "-" } else { "" }, offset.unsigned_abs());
        if i.src[1].source == Source::None {
            self.separate()?;
            return write!(self.f, "{sign}{magnitude:#x}");
        }
        self.operand(&i.src[1])?;
        match i.memory.offset {
            0 => Ok(()),
            _ => write!(self.f, " offset:{sign}{magnitude:#x}"),
        }
    }
}

/// The 16 bits of an immediate.
fn immediate(operand: &Operand) -> u32 {
    match operand.source {
        Source::Literal(value) => value & 0xffff,
        _ => 0,
    }
}
