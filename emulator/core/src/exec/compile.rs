//! Compiles decoded instructions into operations.

use ferrowave_gpu::{Family, Gpu};

use super::{
    ACCUMULATORS, PRIVATE_APERTURE, SHARED_APERTURE,
    access::RECENT,
    atomic, block,
    buffer::{self, Buffers, typed},
    compare, control,
    convert::{self, narrowing, widening},
    cube,
    fault::FaultKind,
    float::Arithmetic,
    float32, float64, gfx950,
    global::{self, Flat, Global},
    global_transpose, gws, half, half_registers, hardware_registers, image, integer, jit,
    lanes::Binder,
    lds::{self, Lds},
    lds_exchange, lds_transpose,
    mfma::{self, MatrixSums},
    operation::{Handler, Operation, Source, SourceKind},
    output_modifier, packed, pair, permlane_swap, pseudo_scalar, relative, row_permute, sad,
    saturating, scalar, scalar_float, scalar_memory,
    scratch::Scratch,
    sdwa_dpp,
    simd::{LANES, SimdLevel},
    to_lds, transfer, wmma,
};
use ferrowave_isa::{
    self as isa, Category, DecodeError, Format, Instruction, Op, Operand,
    run::{HardwareRegisters, Run},
};

/// The scalar register that takes results that go to no register; nothing reads it.
const NOWHERE: u16 = 192;
/// Scalar registers that are 0, for sources of any width that are no register.
const ZEROS: u16 = 224;

/// The instruction at an operation's place in the code.
pub(super) struct Line {
    /// Its first word, counted as the code's indices are.
    pub(super) word: u32,
    pub(super) instruction: Result<Instruction, DecodeError>,
}

/// Where a branch leads.
pub(super) enum Target {
    /// To the instruction at an index.
    At(u32),
    /// Into the middle of an instruction.
    Inside,
    /// Out of the code.
    Outside,
}

/// Compiles consecutive instructions, the first of which has index `first`. Returns the operations, and the indices of
/// instructions that the emulator cannot run.
///
/// `target` finds what is at a word of the code. The operations are for waves of `C` chunks.
pub(super) fn operations<const C: usize>(
    gpu: Gpu,
    level: SimdLevel,
    first: u32,
    lines: &[Line],
    target: &dyn Fn(i64) -> Target,
) -> (Vec<Operation>, Vec<u32>) {
    let compiler = Compiler::<C> {
        gpu,
        binder: Binder {
            level,
            plain: false,
            fast_sums: MatrixSums::chosen() == MatrixSums::Fast,
        },
        target,
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
            operation.category = instruction.category();
            return operation;
        }
        refused.push(index);
        compiler.refusal(index)
    });
    (operations.collect(), refused)
}

/// The emulator has no operation for an instruction.
struct Refused;

struct Compiler<'a, const C: usize> {
    gpu: Gpu,
    binder: Binder<C>,
    target: &'a dyn Fn(i64) -> Target,
}

impl<const C: usize> Compiler<'_, C> {
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
            category: Category::Control,
            native: jit::NONE,
            extension: None,
        }
    }

    /// The operation that stands for an unsupported instruction.
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
        if let Some([first, second]) = i.halves() {
            let first = self.operation(&first, word)?;
            let second = self.operation(&second, word)?;
            return Ok(pair::of(self.binder, first, second));
        }
        if self.ignores_something(i) {
            return Err(Refused);
        }
        let (run, detail) = self.handler(i)?;
        let mut o = self.blank(run);
        for (slot, operand) in i.src.iter().enumerate() {
            o.src[slot] = source(operand)?;
        }
        o.dst = match i.dst.source {
            // A compare that only writes EXEC.
            isa::Source::None if i.writes_exec() => NOWHERE,
            _ => register(&i.dst)?,
        };
        o.sdst = register(&i.sdst)?;
        o.detail = detail;
        o.control = control_bytes(self.gpu, i);
        let m = &i.modifiers;
        (o.abs, o.neg, o.neg_hi) = (m.abs, m.neg, m.neg_hi);
        (o.op_sel, o.op_sel_hi) = (m.op_sel, m.op_sel_hi);
        (o.clamp, o.omod) = (m.clamp, m.omod);
        o.imm = match i.format {
            Format::Sopp | Format::Sopk => immediate(i),
            Format::Image => image::packed(self.gpu, i),
            _ => i64::from(i.memory.offset),
        };
        if control::is_branch(i) {
            o.imm = self.branch_target(word, o.imm)?;
        }
        if i.op == Op::s_setreg_imm32_b32 {
            // The value follows the constant that names the register.
            o.src[0] = o.src[1];
        }
        if let [a @ Operand { source, .. }, b] = &i.matrix.scale
            && *source != isa::Source::None
        {
            // The scales of gfx950's scaled products.
            o.src[3] = self::source(a)?;
            o.sdst = register(b)?;
        }
        if i.accumulates() && o.src[2].kind == SourceKind::None {
            o.src[2] = Source {
                kind: match i.is_vector() {
                    true => SourceKind::Vector,
                    false => SourceKind::Scalar,
                },
                register: o.dst,
                value: 0,
            };
            // The sum is in the same half as the result.
            if i.dst.bits == 16 && o.op_sel & 8 != 0 {
                o.op_sel |= 4;
            }
        }
        if matches!(i.format, Format::Vop2) && matches!(i.op, Op::v_cndmask_b32) {
            // The short form selects by VCC, whatever the decoder calls it.
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
        let o = match self.gpu.family() {
            Family::Cdna => o,
            Family::Rdna => half_registers::extend(self.binder, i, o),
        };
        let o = output_modifier::extend(self.binder, i, o);
        let vector_result = matches!(i.dst.source, isa::Source::Vgpr(_) | isa::Source::Agpr(_));
        let wide = i.src[0].bits == 64;
        let o = sdwa_dpp::extend(self.binder, o, i.extension, vector_result, wide);
        Ok(relative::extend(self.binder, i, o))
    }

    /// Whether an instruction has a setting that its handler would ignore.
    fn ignores_something(&self, i: &Instruction) -> bool {
        match i.run() {
            // The emulator has some of the hardware registers.
            Run::HardwareRegisters(op) => {
                let register = immediate(i) as u32 & 0x3f;
                match op {
                    HardwareRegisters::s_getreg_b32 => {
                        !hardware_registers::is_readable(self.gpu, register)
                    }
                    HardwareRegisters::s_setreg_b32 | HardwareRegisters::s_setreg_imm32_b32 => {
                        !hardware_registers::is_writable(self.gpu, register)
                    }
                }
            }
            Run::Refused(_) => true,
            // What `abs` and `neg` mean for two 16-bit numbers in one source is not documented.
            Run::NarrowingScaledPacked(_) => (i.modifiers.abs | i.modifiers.neg) & 1 != 0,
            // Nor is what lane permutes do with GDS.
            Run::LdsPermute(_) => i.memory.gds,
            _ if i.format == Format::Image && image::ignores_something(i) => true,
            // The status word would be past the last register.
            _ if i.memory.tfe => match i.dst.source {
                isa::Source::Vgpr(first) => first + count(&i.dst) >= 256,
                _ => true,
            },
            _ => mfma::has_undocumented_bits(self.gpu, i),
        }
    }

    /// The index of a branch's target. A target outside the code gets an index that stops the wave when it gets there.
    fn branch_target(&self, word: u32, words: i64) -> Result<i64, Refused> {
        match (self.target)(i64::from(word) + 1 + words) {
            Target::At(index) => Ok(i64::from(index)),
            Target::Inside => Err(Refused),
            Target::Outside => Ok(i64::from(u32::MAX - 1)),
        }
    }

    /// The handler and the detail of an instruction, chosen by the `run=` of its row. A handler whose `match` lacks a
    /// variant does not compile, nor does a variant of [`Run`] without an arm here.
    fn handler(&self, i: &Instruction) -> Result<(Handler, u8), Refused> {
        let b = Binder {
            plain: is_plain(i),
            ..self.binder
        };
        if i.memory.gds && !i.is_global_sync() {
            let results = isa::registers(&i.dst).map_or(0, |registers| registers.count);
            return Ok((lds::without_memory(b), results as u8));
        }
        if i.modifiers.clamp
            && let Some(handler) = saturating::handler(b, i.op)
        {
            return Ok((handler, 0));
        }
        let gpu = self.gpu;
        let atomic = |op| atomic::detail(gpu, op);
        // What moves data across a whole wave in ways that only CDNA has.
        let wide = || b.for_64_lanes().ok_or(Refused);
        // What only waves of 32 lanes have.
        let narrow = || b.for_32_lanes().ok_or(Refused);
        let writes_exec = u8::from(i.writes_exec());
        let mut detail = 0;
        let mut with = |(handler, which)| {
            detail = which;
            handler
        };
        let handler = match i.run() {
            Run::Refused(_) => return Err(Refused),

            Run::ScalarMoves(op) => scalar::moves(b, op),
            Run::ScalarOneSource(op) => scalar::one_source(b, op),
            Run::ScalarArithmetic(op) => scalar::arithmetic(b, op),
            Run::ScalarLogic(op) => scalar::logic(b, op),
            Run::ScalarCompare(op) => scalar::compare(b, op),
            Run::ScalarSaveExec(op) => scalar::save_exec(b, op),
            Run::ScalarConstant(op) => scalar::constant(b, op),
            Run::ScalarFloatArithmetic(op) => with(careful(scalar_float::arithmetic(b, op))),
            Run::ScalarFloatRounding(op) => {
                let (handler, round) = scalar_float::rounding(b, op);
                with((handler, round as u8))
            }
            Run::ScalarFloatConversions(op) => scalar_float::conversions(b, op),
            Run::ScalarFloatFloats(op) => with(scalar_float::floats(b, i.src[0].bits, op)),
            Run::HardwareRegisters(op) => hardware_registers::handler(b, gpu, op),
            Run::Control(op) => with((
                control::handler(b, op),
                u8::from(control::awaits_stores(gpu, i)),
            )),

            Run::IntegerArithmetic(op) => integer::arithmetic(b, op),
            Run::IntegerBits(op) => integer::bits(b, op),
            Run::IntegerWide(op) => integer::wide(b, op),
            Run::IntegerLanes(op) => integer::lanes(b, op),
            Run::Sad(op) => sad::handler(b, op),
            Run::RowPermute(op) => row_permute::handler(b, op),
            Run::PermlaneSwap(op) => permlane_swap::handler(wide()?, op),
            Run::Gfx950(op) => with((gfx950::handler(b, op), i.modifiers.bitop3)),

            Run::Float32Arithmetic(op) => with(careful(float32::arithmetic(b, op))),
            Run::Float32Unary(op) => float32::unary(b, op),
            Run::Float32Quotient(op) => float32::quotient(b, op),
            Run::Float64Arithmetic(op) => with(careful(float64::arithmetic(b, op))),
            Run::Float64Other(op) => float64::other(b, op),
            Run::HalfArithmetic(op) => with(careful(half::arithmetic(b, op))),
            Run::HalfUnary(op) => half::unary(b, op),
            Run::HalfIntegers(op) => half::integers(b, op),
            Run::PackedHalves(op) => with(careful(packed::halves(b, op))),
            Run::PackedSingles(op) => with(careful(packed::singles(b, op))),
            Run::PackedIntegers(op) => packed::integers(b, op),
            Run::PackedDot(op) => packed::dot(b, op),
            Run::Mixed(op) => packed::mixed::handler(b, op),
            Run::Cube(op) => cube::handler(b, op),

            Run::ConvertIntegers(op) => convert::integers(b, op),
            Run::ConvertFloats(op) => convert::floats(b, op),
            Run::ConvertPacking(op) => convert::packing(b, op),
            Run::NarrowingUnscaled(op) => narrowing::unscaled(b, gpu, op),
            Run::NarrowingScaled(op) => narrowing::scaled(b, op),
            Run::NarrowingScaledPacked(op) => narrowing::scaled_packed(b, op),
            Run::NarrowingWholeBlocks(op) => narrowing::whole_blocks(b, op),
            Run::WideningUnscaled(op) => widening::unscaled(b, gpu, op),
            Run::WideningScaled(op) => widening::scaled(b, op),

            Run::CompareFloats(op) => with(compare::floats(b, i, op)),
            Run::CompareIntegers(op) => with(compare::integers(b, i, op)),
            Run::CompareClass(op) => with((compare::class(b, op), writes_exec)),

            Run::MfmaSingles(op) => mfma::singles(wide()?, op),
            Run::MfmaReduced(op) => mfma::reduced(wide()?, op),
            Run::MfmaHalves(op) => mfma::halves(wide()?, gpu, op),
            Run::MfmaIntegers(op) => mfma::integers(wide()?, op),
            Run::MfmaEights(op) => mfma::eights(wide()?, gpu, op),
            Run::MfmaDoubles(op) => mfma::doubles(wide()?, op),
            Run::MfmaNarrow(op) => mfma::narrow(wide()?, op),

            Run::Wmma(op) => wmma::handler(b, op),
            Run::WmmaSplit(op) => wmma::split::handler(b, op),
            Run::PseudoScalar(op) => pseudo_scalar::handler(b, op),
            Run::PackedEights(op) => packed::eights(b, op),

            Run::ScalarMemory(op) => scalar_memory::handler(b, gpu, op),
            Run::GlobalLoad(op) => with(transfer::load(op, i.keeps(), Global(b))),
            Run::GlobalByLane(op) => global::by_lane(b, op),
            Run::GlobalTranspose(op) => global_transpose::handler(narrow()?, op),
            Run::BlockGlobal(op) => block::global(b, op),
            Run::BlockScratch(op) => block::scratch(b, op),
            Run::GlobalStore(op) => with(transfer::store(op, Global(b))),
            Run::FlatLoad(op) => with(transfer::load(op, i.keeps(), Flat(b))),
            Run::FlatStore(op) => with(transfer::store(op, Flat(b))),
            Run::ScratchLoad(op) => with(transfer::load(op, i.keeps(), Scratch(b))),
            Run::ScratchStore(op) => with(transfer::store(op, Scratch(b))),
            Run::BufferLoad(op) => with(transfer::load(op, i.keeps(), Buffers(b))),
            Run::BufferStore(op) => with(transfer::store(op, Buffers(b))),
            Run::TypedComponents(op) => with(typed::components(b, i, op)),
            Run::ImageAccess(op) => with(image::access(b, op)),
            Run::ImageSample(op) => with(image::sample(b, op)),
            Run::LdsLoad(op) => with(transfer::load(op, i.keeps(), Lds(b))),
            Run::LdsStore(op) => with(transfer::store(op, Lds(b))),
            Run::LdsPairs(op) => with(lds::pairs(b, op)),
            Run::LdsPermute(op) => match gpu.family() {
                Family::Rdna => lds::permute::<32, C>(b, op),
                Family::Cdna => lds::permute::<LANES, C>(b, op),
            },
            Run::LdsExchange(op) => lds_exchange::handler(b, op),
            Run::LdsTranspose(op) => lds_transpose::handler(wide()?, op),
            Run::Gws(op) => gws::handler(b, op),

            Run::ScalarMemoryAtomic(op) => {
                with((scalar_memory::atomic::<false, C>(b, i), op as u8))
            }
            Run::ScalarMemoryAtomic64(op) => {
                with((scalar_memory::atomic::<true, C>(b, i), op as u8))
            }
            Run::GlobalAtomic(op) => with((global::atomic::<false, false, C>(b), atomic(op))),
            Run::GlobalAtomic64(op) => with((global::atomic::<false, true, C>(b), atomic(op))),
            Run::FlatAtomic(op) => with((global::atomic::<true, false, C>(b), atomic(op))),
            Run::FlatAtomic64(op) => with((global::atomic::<true, true, C>(b), atomic(op))),
            Run::BufferAtomic(op) => with((buffer::atomic::<false, C>(b), atomic(op))),
            Run::BufferAtomic64(op) => with((buffer::atomic::<true, C>(b), atomic(op))),
            Run::LdsAtomic(op) => with((lds::atomic::<false, C>(b, i), op as u8)),
            Run::LdsAtomic64(op) => with((lds::atomic::<true, C>(b, i), op as u8)),
            Run::LdsExchangeAtomic(op) => with((lds_exchange::atomic::<false, C>(b), op as u8)),
            Run::LdsExchangeAtomic64(op) => with((lds_exchange::atomic::<true, C>(b), op as u8)),
        };
        Ok((handler, detail))
    }
}

/// A handler with the code that its slow path computes.
fn careful((handler, what): (Handler, Arithmetic)) -> (Handler, u8) {
    (handler, what as u8)
}

/// The control bytes of an instruction: what its handler needs beside operands and modifiers.
fn control_bytes(gpu: Gpu, i: &Instruction) -> [u8; 3] {
    let m = &i.matrix;
    let returns = u8::from(i.has_result());
    match i.format {
        Format::Smem | Format::Flat | Format::Global => [returns, 0, 0],
        Format::Mubuf => [returns, 0, buffer::address_control(gpu, &i.memory)],
        Format::Mtbuf => [i.memory.format, 0, buffer::address_control(gpu, &i.memory)],
        Format::Image => [0, 0, buffer::address_control(gpu, &i.memory)],
        Format::Mai => [m.cbsz, m.abid, m.blgp],
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3b
        | Format::Vopd => {
            match i.run() {
                // Dot products and the packed FMA in short encodings: no modifiers, halves in order.
                Run::PackedHalves(_) | Run::PackedDot(_) | Run::Mixed(_) => [1, 0, 0],
                // Whether the half of the register that is not written is kept.
                Run::HalfArithmetic(_)
                | Run::HalfUnary(_)
                | Run::HalfIntegers(_)
                | Run::Gfx950(_) => [u8::from(i.keeps()), 0, 0],
                _ => [0; 3],
            }
        }
        _ => [0; 3],
    }
}

/// Whether all sources are VGPRs and neither they nor the result have modifiers: [`Binder::plain`].
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

/// Whether operations of a format remember the allocation that they used last.
fn is_memory_access(format: Format) -> bool {
    matches!(
        format,
        Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Image
    )
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

/// Registers that an operand occupies.
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
        isa::Source::Null => Ok(NOWHERE),
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
        isa::Source::Null => Source {
            register: ZEROS,
            ..constant(0)
        },
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
