//! Prints SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

use std::fmt;

use super::super::generation::Generation;
use super::super::wait::fields_of;
use super::memory::cache_policy;
use crate::instruction::Instruction;
use crate::operand::{Operand, Source};
use crate::row::{Immediate, flag};
use crate::writer::Writer;

pub(super) fn alu(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    w.operand(&i.dst)?;
    if w.row.imm == Immediate::Sendmsg {
        w.separate()?;
        return sendmsg(w, immediate(&i.src[0]));
    }
    for (n, source) in i.src.iter().enumerate() {
        match source.source {
            // The constant of `s_fmamk` and `s_fmaak`.
            Source::Literal(value) if n > 0 && usize::from(w.row.k) == n => {
                w.separate()?;
                write!(w.f, "{value:#x}")?;
            }
            _ => w.operand(source)?,
        }
    }
    Ok(())
}

pub(super) fn sopk(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    let reads = usize::from(w.row.src[0].exists());
    let value = immediate(&i.src[reads]);
    let register = match reads == 1 && i.dst.source == Source::None {
        true => &i.src[0],
        false => &i.dst,
    };
    let setting = w.row.imm == Immediate::Hwreg && i.dst.source == Source::None;
    if !setting {
        w.operand(register)?;
    }
    w.separate()?;
    match w.row.imm {
        Immediate::Hwreg => hwreg(w, value)?,
        Immediate::Label => write!(w.f, "{value}")?,
        Immediate::Version => version(w, value)?,
        _ => write!(w.f, "{value:#x}")?,
    }
    if setting && reads == 1 {
        w.operand(register)?;
    }
    if let Source::Literal(literal) = i.src[reads + 1].source {
        w.separate()?;
        w.as_constant(literal)?;
    }
    Ok(())
}

pub(super) fn sopp(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    let value = immediate(&i.src[0]);
    match w.row.imm {
        Immediate::None => return Ok(()),
        Immediate::Optional if value == 0 => return Ok(()),
        _ => w.separate()?,
    }
    match w.row.imm {
        Immediate::WaitcntRdna => waitcnt(w, value),
        Immediate::Sendmsg => sendmsg(w, value),
        Immediate::Delay => delay(w, value),
        Immediate::Depctr | Immediate::WaitAlu => depctr(w, value),
        Immediate::WaitEvent if is_gfx12(w) => match value {
            0 | 2 => write!(w.f, "{{ export_ready: {} }}", value / 2),
            _ => write!(w.f, "{value:#x}"),
        },
        Immediate::WaitEvent if value < 2 => {
            write!(w.f, "{{ dont_wait_export_ready: {value} }}")
        }
        Immediate::Label | Immediate::Optional => write!(w.f, "{value}"),
        Immediate::Number | Immediate::Signed => w.number(value),
        _ => write!(w.f, "{value:#x}"),
    }
}

fn waitcnt(w: &mut Writer<'_, '_>, value: u32) -> fmt::Result {
    let fields = fields_of(value);
    let all = fields.iter().all(|&(.., count, none)| count == none);
    let mut space = "";
    for (_, name, count, none) in fields {
        if count != none || all {
            write!(w.f, "{space}{name}({count})")?;
            space = " ";
        }
    }
    Ok(())
}

/// The constant of `s_delay_alu`.
fn delay(w: &mut Writer<'_, '_>, value: u32) -> fmt::Result {
    const WHAT: [&str; 12] = [
        "",
        "VALU_DEP_1",
        "VALU_DEP_2",
        "VALU_DEP_3",
        "VALU_DEP_4",
        "TRANS32_DEP_1",
        "TRANS32_DEP_2",
        "TRANS32_DEP_3",
        "FMA_ACCUM_CYCLE_1",
        "SALU_CYCLE_1",
        "SALU_CYCLE_2",
        "SALU_CYCLE_3",
    ];
    const SKIP: [&str; 6] = ["", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
    let parts = [
        ("instid0", WHAT[(value & 15).min(11) as usize]),
        ("instskip", SKIP[(value >> 4 & 7).min(5) as usize]),
        ("instid1", WHAT[(value >> 7 & 15).min(11) as usize]),
    ];
    let mut bar = "";
    for (name, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
        write!(w.f, "{bar}{name}({part})")?;
        bar = " | ";
    }
    match bar {
        "" => w.f.write_str("0"),
        _ => Ok(()),
    }
}

/// The counters inside the vector unit.
fn depctr(w: &mut Writer<'_, '_>, value: u32) -> fmt::Result {
    /// Name, lowest bit, width. All bits set is the default.
    const FIELDS: [(&str, u32, u32); 7] = [
        ("hold_cnt", 7, 1),
        ("sa_sdst", 0, 1),
        ("va_vdst", 12, 4),
        ("va_sdst", 9, 3),
        ("va_ssrc", 8, 1),
        ("va_vcc", 1, 1),
        ("vm_vsrc", 2, 3),
    ];
    const UNUSED: u32 = 0x60;
    if value & UNUSED != 0 {
        return write!(w.f, "{value:#x}");
    }
    let all = value == 0xffff & !UNUSED;
    let mut space = "";
    for (name, low, width) in FIELDS {
        let most = (1 << width) - 1;
        let count = value >> low & most;
        if count != most || all {
            write!(w.f, "{space}depctr_{name}({count})")?;
            space = " ";
        }
    }
    Ok(())
}

/// The constant of `s_version`: a generation and bits for the sizes of waves.
fn version(w: &mut Writer<'_, '_>, value: u32) -> fmt::Result {
    const BITS: [(u32, &str); 3] = [
        (0x2000, "UC_VERSION_W64_BIT"),
        (0x4000, "UC_VERSION_W32_BIT"),
        (0x8000, "UC_VERSION_MDP_BIT"),
    ];
    let generation = value & 0x1fff;
    if generation > 0xff {
        return write!(w.f, "{value:#x}");
    }
    let set = || BITS.iter().filter(|(bit, _)| value & bit != 0);
    for _ in 1..set().count() {
        w.f.write_str("(")?;
    }
    match generation {
        0 => w.f.write_str("UC_VERSION_GFX7")?,
        4 => w.f.write_str("UC_VERSION_GFX10")?,
        6 => w.f.write_str("UC_VERSION_GFX11")?,
        9 => w.f.write_str("UC_VERSION_GFX12")?,
        _ => write!(w.f, "{generation}")?,
    }
    for (n, (_, name)) in set().enumerate() {
        write!(
            w.f,
            "|{name}{}",
            if n + 1 < set().count() { ")" } else { "" }
        )?;
    }
    Ok(())
}

fn sendmsg(w: &mut Writer<'_, '_>, value: u32) -> fmt::Result {
    let name = match value & 0xff {
        1 => "MSG_INTERRUPT",
        2 => "MSG_HS_TESSFACTOR",
        3 => "MSG_DEALLOC_VGPRS",
        5 if !is_gfx12(w) => "MSG_STALL_WAVE_GEN",
        6 if !is_gfx12(w) => "MSG_HALT_WAVES",
        9 => "MSG_GS_ALLOC_REQ",
        128 => "MSG_RTN_GET_DOORBELL",
        129 => "MSG_RTN_GET_DDID",
        130 => "MSG_RTN_GET_TMA",
        131 => "MSG_RTN_GET_REALTIME",
        132 => "MSG_RTN_SAVE_WAVE",
        133 => "MSG_RTN_GET_TBA",
        134 => "MSG_RTN_GET_TBA_TO_PC",
        135 if is_gfx12(w) => "MSG_RTN_GET_SE_AID_ID",
        _ if value < 0x100 => return write!(w.f, "sendmsg({value}, 0, 0)"),
        _ => return write!(w.f, "{value}"),
    };
    write!(w.f, "sendmsg({name})")
}

fn hwreg(w: &mut Writer<'_, '_>, value: u32) -> fmt::Result {
    let name = match value & 0x3f {
        id if is_gfx12(w) => hwreg_gfx12(id),
        1 => "MODE",
        2 => "STATUS",
        3 => "TRAPSTS",
        5 => "GPR_ALLOC",
        6 => "LDS_ALLOC",
        7 => "IB_STS",
        15 => "SH_MEM_BASES",
        18 => "PERF_SNAPSHOT_PC_LO",
        19 => "PERF_SNAPSHOT_PC_HI",
        20 => "FLAT_SCR_LO",
        21 => "FLAT_SCR_HI",
        23 => "HW_ID1",
        24 => "HW_ID2",
        27 => "PERF_SNAPSHOT_DATA",
        29 => "SHADER_CYCLES",
        _ => "",
    };
    w.hwreg(value, (!name.is_empty()).then_some(name))
}

/// The names of gfx12's hardware registers.
fn hwreg_gfx12(id: u32) -> &'static str {
    match id {
        1 => "WAVE_MODE",
        2 => "WAVE_STATUS",
        4 => "WAVE_STATE_PRIV",
        5 => "WAVE_GPR_ALLOC",
        6 => "WAVE_LDS_ALLOC",
        7 => "IB_STS",
        10 => "PERF_SNAPSHOT_DATA",
        11 => "PERF_SNAPSHOT_PC_LO",
        12 => "PERF_SNAPSHOT_PC_HI",
        15 => "PERF_SNAPSHOT_DATA1",
        16 => "PERF_SNAPSHOT_DATA2",
        17 => "WAVE_EXCP_FLAG_PRIV",
        18 => "WAVE_EXCP_FLAG_USER",
        19 => "WAVE_TRAP_CTRL",
        20 => "WAVE_SCRATCH_BASE_LO",
        21 => "WAVE_SCRATCH_BASE_HI",
        23 => "WAVE_HW_ID1",
        24 => "WAVE_HW_ID2",
        26 => "WAVE_SCHED_MODE",
        29 => "SHADER_CYCLES_LO",
        30 => "SHADER_CYCLES_HI",
        31 => "WAVE_DVGPR_ALLOC_LO",
        32 => "WAVE_DVGPR_ALLOC_HI",
        _ => "",
    }
}

/// Whether the instruction is gfx12's.
fn is_gfx12(w: &Writer<'_, '_>) -> bool {
    Generation::of(w.gpu) == Generation::Gfx12
}

pub(super) fn smem(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    if w.row.imm == Immediate::Prefetch {
        return prefetch(w, i);
    }
    match i.src[2].source {
        Source::Literal(kind) => {
            w.separate()?;
            w.number(kind)?;
        }
        _ => w.operand(&i.dst)?,
    }
    if w.row.src[0].exists() {
        w.operand(&i.src[0])?;
    }
    if w.row.src[1].exists() {
        smem_offset(w, i)?;
    }
    if is_gfx12(w) {
        return cache_policy(w, i);
    }
    w.word_if(w.row.has(flag::GLC) && i.memory.sc0, "glc")?;
    w.word_if(i.memory.dlc, "dlc")
}

/// A prefetch: address, offset, and the length in a register and as a number.
fn prefetch(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    w.operand(&i.src[0])?;
    w.separate()?;
    hexadecimal(w, i.memory.offset)?;
    w.operand(&i.src[1])?;
    w.separate()?;
    if let Source::Literal(length) = i.src[2].source {
        w.number(length)?;
    }
    cache_policy(w, i)
}

/// Writes a signed number in hexadecimal.
fn hexadecimal(w: &mut Writer<'_, '_>, number: i32) -> fmt::Result {
    let sign = if number < 0 { "-" } else { "" };
    write!(w.f, "{sign}{:#x}", number.unsigned_abs())
}

fn smem_offset(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    let offset = i.memory.offset;
    match (i.src[1].source, offset) {
        (Source::None, 0) if !is_gfx12(w) => {
            w.separate()?;
            w.f.write_str("null")
        }
        (Source::None, _) => {
            w.separate()?;
            hexadecimal(w, offset)
        }
        (_, 0) if !is_gfx12(w) => w.operand(&i.src[1]),
        _ => {
            w.operand(&i.src[1])?;
            w.f.write_str(" offset:")?;
            hexadecimal(w, offset)
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
