//! From decoded instructions to operations.

use ferrowave_code_object::Gpu;

use super::{
    ACCUMULATORS, PRIVATE_APERTURE, SHARED_APERTURE,
    access::RECENT,
    atomic, buffer,
    code::{Code, Line, Target},
    compare, control, convert, cube, differences, exchange, extension,
    fault::FaultKind,
    float32, float64, gfx950, global, gws, half, hardware_registers, integer,
    lanes::Binder,
    lds,
    mfma::{self, MatrixSums},
    native,
    operation::{Handler, Operation, Source, SourceKind},
    output_modifier, packed, private, saturating, scalar, scalar_memory, to_lds,
};
use crate::isa::{self, Format, Instruction, Op, Operand};

/// The operations of instructions in a row, of which the first has the index `first`, and the indices of those that the
/// emulator cannot run.
pub(super) fn operations(code: &Code, first: u32, lines: &[Line]) -> (Vec<Operation>, Vec<u32>) {
    let compiler = Compiler {
        gpu: code.gpu,
        binder: Binder {
            level: code.level,
            plain: false,
            fast_sums: MatrixSums::chosen() == MatrixSums::Fast,
        },
        code,
    };
    let mut refused = Vec::new();
    let mut accesses = 0_usize;
    let operations = (first..).zip(lines).map(|(index, line)| {
        if let Ok(instruction) = &line.instruction
            && let Ok(mut operation) = compiler.operation(instruction, line.word)
        {
            if is_memory_access(instruction.format) {
                operation.remember((accesses % RECENT) as u8);
                accesses += 1;
            }
            return operation;
        }
        refused.push(index);
        compiler.refusal(index)
    });
    (operations.collect(), refused)
}

/// The emulator has no operation for an instruction.
struct Refused;

struct Compiler<'a> {
    gpu: Gpu,
    binder: Binder,
    code: &'a Code,
}

impl Compiler<'_> {
    fn blank(&self, run: Handler) -> Operation {
        Operation {
            run,
            src: [Source::default(); 4],
            dst: 0,
            sdst: 0,
            imm: 0,
            abs: 0,
            neg: 0,
            neg_hi: 0,
            op_sel: 0,
            op_sel_hi: 0,
            clamp: false,
            omod: 0,
            detail: 0,
            control: [0; 3],
            native: native::NONE,
            extension: None,
        }
    }

    /// What runs in the place of an unsupported instruction.
    fn refusal(&self, index: u32) -> Operation {
        let run = self.binder.bind(
            #[inline(always)]
            |_, c, o| {
                let what = c.code.why_not(o.imm as u32);
                c.fail(FaultKind::Unsupported { what })
            },
        );
        Operation {
            imm: i64::from(index),
            ..self.blank(run)
        }
    }

    fn operation(&self, i: &Instruction, word: u32) -> Result<Operation, Refused> {
        if ignores_something(i) {
            return Err(Refused);
        }
        let (run, detail, control) = self.handler(i).ok_or(Refused)?;
        let mut o = self.blank(run);
        for (slot, operand) in i.src.iter().enumerate() {
            o.src[slot] = source(operand)?;
        }
        o.dst = register(&i.dst)?;
        o.sdst = register(&i.sdst)?;
        o.detail = detail;
        o.control = control;
        let m = &i.modifiers;
        (o.abs, o.neg, o.neg_hi) = (m.abs, m.neg, m.neg_hi);
        (o.op_sel, o.op_sel_hi) = (m.op_sel, m.op_sel_hi);
        (o.clamp, o.omod) = (m.clamp, m.omod);
        o.imm = match i.format {
            Format::Sopp | Format::Sopk => immediate(i),
            _ => i64::from(i.memory.offset),
        };
        if control::is_branch(i.op) {
            o.imm = self.branch_target(word, o.imm)?;
        }
        if i.op == Op::s_setreg_imm32_b32 {
            // The value stands behind the constant that names the register.
            o.src[0] = o.src[1];
        }
        if let [a @ Operand { source, .. }, b] = &i.matrix.scale
            && *source != isa::Source::None
        {
            // The scales of gfx950's products.
            o.src[3] = self::source(a)?;
            o.sdst = register(b)?;
        }
        if i.accumulates() && o.src[2].kind == SourceKind::None {
            o.src[2] = Source {
                kind: SourceKind::Vector,
                register: o.dst,
                value: 0,
            };
        }
        if matches!(i.format, Format::Vop2) && matches!(i.op, Op::v_cndmask_b32) {
            // The short form picks by `vcc`, whatever the decoder calls it.
            o.src[2] = Source {
                kind: SourceKind::Scalar,
                register: super::VCC,
                value: 0,
            };
        }
        if i.loads_to_lds() {
            let base = match self.gpu {
                Gpu::Gfx950 => to_lds::Base::Wide,
                _ => to_lds::Base::Narrow,
            };
            return to_lds::extend(self.binder, o, i.registers_to_lds(), base).ok_or(Refused);
        }
        let o = output_modifier::extend(self.binder, i, o);
        let vector_result = matches!(i.dst.source, isa::Source::Vgpr(_) | isa::Source::Agpr(_));
        let wide = i.src[0].bits == 64;
        Ok(extension::extend(
            self.binder,
            o,
            i.extension,
            vector_result,
            wide,
        ))
    }

    /// The index of a branch's target; targets outside the code stop the wave when it gets there.
    fn branch_target(&self, word: u32, words: i64) -> Result<i64, Refused> {
        match self.code.target(i64::from(word) + 1 + words) {
            Target::At(index) => Ok(i64::from(index)),
            Target::Inside => Err(Refused),
            Target::Outside => Ok(i64::from(u32::MAX - 1)),
        }
    }

    /// Function, detail and control bytes of an instruction.
    fn handler(&self, i: &Instruction) -> Option<(Handler, u8, [u8; 3])> {
        let b = Binder {
            plain: is_plain(i),
            ..self.binder
        };
        let op = i.op;
        match i.format {
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp => {
                let handler = scalar::handler(b, op).or_else(|| control::handler(b, op))?;
                Some((handler, u8::from(scalar::writes_new_exec(op)), [0; 3]))
            }
            Format::Smem => {
                let handler = scalar_memory::handler(b, op).or_else(|| control::handler(b, op))?;
                let returns = u8::from(i.dst.source != isa::Source::None);
                let detail = match op {
                    Op::s_memrealtime => 1,
                    _ => atomic::detail(op).unwrap_or(0),
                };
                Some((handler, detail, [returns, 0, 0]))
            }
            Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3b => {
                self.vector_handler(b, i)
            }
            Format::Vop3p => {
                let (handler, detail) = packed::handler(b, op)?;
                Some((handler, detail, [0; 3]))
            }
            Format::Mai => {
                let m = &i.matrix;
                let handler = mfma::handler(b, self.gpu, i).or_else(|| integer::handler(b, op))?;
                Some((handler, 0, [m.cbsz, m.abid, m.blgp]))
            }
            Format::Ds => {
                if let Some(handler) = gws::handler(b, op) {
                    return Some((handler, 0, [0; 3]));
                }
                if i.memory.gds {
                    let handler = lds::without_memory(b, op)?;
                    let results = isa::registers(&i.dst).map_or(0, |registers| registers.count);
                    return Some((handler, results as u8, [0; 3]));
                }
                let handler = lds::handler(b, op)?;
                Some((handler, lds::atomic_detail(op).unwrap_or(0), [0; 3]))
            }
            Format::Flat | Format::Global => {
                let handler = global::handler(b, op)?;
                let returns = u8::from(i.dst.source != isa::Source::None);
                Some((handler, atomic::detail(op).unwrap_or(0), [returns, 0, 0]))
            }
            Format::Mubuf | Format::Mtbuf
                if let Some((handler, detail)) = buffer::typed::handler(b, op) =>
            {
                let control = [i.memory.format, 0, buffer::address_control(&i.memory)];
                Some((handler, detail, control))
            }
            Format::Mubuf => {
                let handler = buffer::handler(b, op).or_else(|| control::handler(b, op))?;
                let returns = u8::from(i.dst.source != isa::Source::None);
                let control = [returns, 0, buffer::address_control(&i.memory)];
                Some((handler, atomic::detail(op).unwrap_or(0), control))
            }
            Format::Scratch => Some((private::handler(b, op)?, 0, [0; 3])),
            Format::Mtbuf => None,
        }
    }

    fn vector_handler(&self, b: Binder, i: &Instruction) -> Option<(Handler, u8, [u8; 3])> {
        let op = i.op;
        if i.modifiers.clamp
            && let Some(handler) = saturating::handler(b, op)
        {
            return Some((handler, 0, [0; 3]));
        }
        if let Some(handler) = convert::narrowing::handler(b, self.gpu, i)
            .or_else(|| convert::widening::handler(b, self.gpu, i))
        {
            return Some((handler, 0, [0; 3]));
        }
        if let Some(handler) = gfx950::handler(b, op) {
            return Some((handler, i.modifiers.bitop3, [1, 0, 0]));
        }
        if let Some((handler, writes_exec)) = compare::handler(b, op) {
            return Some((handler, u8::from(writes_exec), [0; 3]));
        }
        if let Some((handler, detail)) = float32::handler(b, op).or_else(|| float64::handler(b, op))
        {
            return Some((handler, detail, [0; 3]));
        }
        if let Some((handler, detail, preserves)) = half::handler(b, op) {
            return Some((handler, detail, [u8::from(preserves), 0, 0]));
        }
        if let Some((handler, detail)) = packed::handler(b, op) {
            // Dot products and the packed FMA of the short encodings: no modifiers, halves in order.
            return Some((handler, detail, [1, 0, 0]));
        }
        let handler = integer::handler(b, op)
            .or_else(|| convert::handler(b, op))
            .or_else(|| differences::handler(b, op))
            .or_else(|| cube::handler(b, op))
            .or_else(|| exchange::handler(b, op))
            .or_else(|| control::handler(b, op))?;
        let subtracts = matches!(
            op,
            Op::v_sub_co_u32 | Op::v_subrev_co_u32 | Op::v_subb_co_u32 | Op::v_subbrev_co_u32
        );
        Some((handler, u8::from(subtracts), [0; 3]))
    }
}

/// Whether an instruction works on vector registers as they are: [`Binder::plain`].
fn is_plain(i: &Instruction) -> bool {
    let m = &i.modifiers;
    let vectors = i.src.iter().all(|operand| {
        matches!(
            operand.source,
            isa::Source::None | isa::Source::Vgpr(_) | isa::Source::Agpr(_)
        )
    });
    vectors && !m.clamp && (m.abs | m.neg | m.neg_hi | m.omod) == 0
}

/// Whether a format's operations remember the allocation that they used last.
fn is_memory_access(format: Format) -> bool {
    matches!(
        format,
        Format::Flat | Format::Global | Format::Scratch | Format::Mubuf | Format::Mtbuf
    )
}

/// Whether an instruction has a setting that its handler would pass over.
fn ignores_something(i: &Instruction) -> bool {
    match i.op {
        // Of the hardware's registers, those that the emulator has.
        Op::s_getreg_b32 => !hardware_registers::is_readable(immediate(i) as u32 & 0x3f),
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => {
            !hardware_registers::is_writable(immediate(i) as u32 & 0x3f)
        }
        // The status word would lie behind the last register.
        _ if i.memory.tfe => match i.dst.source {
            isa::Source::Vgpr(first) => first + count(&i.dst) >= 256,
            _ => true,
        },
        _ => false,
    }
}

/// The 16-bit constant of SOPP and SOPK, sign-extended.
fn immediate(i: &Instruction) -> i64 {
    i.src
        .iter()
        .find_map(|operand| match operand.source {
            isa::Source::Literal(value) => Some(i64::from(value as i32)),
            _ => None,
        })
        .unwrap_or(0)
}

/// Registers that an operand takes.
fn count(operand: &Operand) -> u16 {
    operand.bits.div_ceil(32).max(1)
}

/// First register of a destination.
fn register(operand: &Operand) -> Result<u16, Refused> {
    let last = |first: u16, limit: u16| {
        if first + count(operand) <= limit {
            Ok(first)
        } else {
            Err(Refused)
        }
    };
    match operand.source {
        isa::Source::Vgpr(register) => last(register, 256),
        isa::Source::Agpr(register) => Ok(last(register, 256)? + ACCUMULATORS),
        isa::Source::Sgpr(register) => last(register, 128),
        isa::Source::None => Ok(0),
        _ => Err(Refused),
    }
}

fn source(operand: &Operand) -> Result<Source, Refused> {
    let constant = |value| Source {
        kind: SourceKind::Constant,
        register: 0,
        value,
    };
    Ok(match operand.source {
        isa::Source::None => Source::default(),
        isa::Source::Vgpr(_) | isa::Source::Agpr(_) => Source {
            kind: SourceKind::Vector,
            register: register(operand)?,
            value: 0,
        },
        isa::Source::Sgpr(_) => Source {
            kind: SourceKind::Scalar,
            register: register(operand)?,
            value: 0,
        },
        isa::Source::Inline(code @ 251..=253) => Source {
            kind: SourceKind::Status,
            register: code,
            value: 0,
        },
        isa::Source::Inline(235) => constant(SHARED_APERTURE),
        isa::Source::Inline(236) => constant(SHARED_APERTURE | 0xffff_ffff),
        isa::Source::Inline(237) => constant(PRIVATE_APERTURE),
        isa::Source::Inline(238) => constant(PRIVATE_APERTURE | 0xffff_ffff),
        isa::Source::Inline(_) | isa::Source::Literal(_) => {
            constant(operand.constant().ok_or(Refused)?)
        }
        isa::Source::LdsDirect => return Err(Refused),
    })
}
