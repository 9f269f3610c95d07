//! Hazards of RDNA: results that an instruction reads before the hardware has them, unless the program lets time pass.
//!
//! LLVM's `GCNHazardRecognizer` avoids them in compiled code. The rules (its functions are named):
//! - `fixVALUTransUseHazard`, gfx1100 to gfx1102: the result of a transcendental function is there after six vector
//!   instructions, two further transcendental ones, a memory or LDS instruction, or `s_waitcnt_depctr` with `va_vdst` 0.
//! - `fixWMMAHazards`, all: the vector instruction after a matrix product is no product whose A or B, or index of a sparse A, is
//!   the first one's result.
//!
//! Not checked: hazards of waves of 64 lanes on gfx11 (`fixVALUMaskWriteHazard`, `fixVALUPartialForwardingHazard`), of scalar
//! registers on gfx12 (`fixVALUReadSGPRHazard`), and of LDS instructions that only graphics have.

use ferrowave_gpu::{Family, Gpu};

use super::{Example, Findings, Key, Kind, Side, by_index::ByIndex};
use ferrowave_emulator::exec::{Code, Wave};
use ferrowave_isa::{Category, Instruction, Op, Register, Registers, Source};

/// Vector instructions after which the result of a transcendental function is there.
const VECTOR_INSTRUCTIONS: u32 = 6;
/// The same for further transcendental functions.
const TRANSCENDENTALS: u32 = 2;

/// What an instruction is to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It has none.
    None,
    /// All results of the vector unit are there when it runs.
    Waits,
    Vector,
    Transcendental,
    Product,
}

/// What the check needs to know about an instruction.
struct Plan {
    part: Part,
    /// Vector registers that it reads. Of a product, without the sum.
    reads: Vec<Registers>,
    /// The result in vector registers.
    writes: Vec<Registers>,
}

impl Plan {
    fn new(instruction: &Instruction) -> Self {
        let part = match instruction.category() {
            Category::Vector if instruction.is_transcendental() => Part::Transcendental,
            Category::Vector => Part::Vector,
            Category::Matrix => Part::Product,
            Category::VectorMemory | Category::Lds => Part::Waits,
            Category::Wait if waits_for_vectors(instruction) => Part::Waits,
            _ => Part::None,
        };
        let uses = instruction.uses();
        // A product's sum may be the result of the one before.
        let factors = if instruction.is_sparse() { 3 } else { 2 };
        let is_sum =
            |slot: Option<u8>| part == Part::Product && slot.is_none_or(|slot| slot >= factors);
        Plan {
            part,
            reads: (uses.reads.iter())
                .filter(|read| read.registers.first.is_vector() && !is_sum(read.slot))
                .map(|read| read.registers)
                .collect(),
            writes: (uses.writes.iter().copied())
                .filter(|registers| registers.first.is_vector())
                .collect(),
        }
    }
}

/// Whether it is `s_waitcnt_depctr` (`s_wait_alu`) with `va_vdst` 0.
fn waits_for_vectors(instruction: &Instruction) -> bool {
    const VA_VDST: u32 = 0xf000;
    let counts = instruction
        .src
        .iter()
        .find_map(|operand| match operand.source {
            Source::Literal(counts) => Some(counts),
            _ => None,
        });
    // Both have the operation of `s_nop`.
    instruction.op == Op::s_nop && counts.is_some_and(|counts| counts & VA_VDST == 0)
}

/// A transcendental function that has run.
#[derive(Clone, Copy)]
struct Late {
    index: u32,
    /// Vector instructions since.
    vectors: u32,
    /// Transcendental ones among them.
    transcendentals: u32,
}

/// What a wave has done recently.
#[derive(Clone, Default)]
struct Recent {
    late: Vec<Late>,
    /// The last vector instruction, if it is a matrix product.
    product: Option<u32>,
}

pub(super) struct Hazards {
    /// Whether results of transcendental functions are late.
    has_late_results: bool,
    plans: ByIndex<Plan>,
    recent: Vec<Recent>,
}

impl Hazards {
    pub(super) fn new(gpu: Gpu) -> Self {
        Hazards {
            has_late_results: matches!(gpu, Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1102),
            plans: ByIndex::default(),
            recent: Vec::new(),
        }
    }

    /// Starts a workgroup with this number of waves.
    pub(super) fn begin(&mut self, waves: usize) {
        self.recent.clear();
        self.recent.resize_with(waves, Recent::default);
    }

    /// Checks the instruction that a wave is about to run.
    pub(super) fn step(&mut self, index: u32, wave: &Wave, code: &Code, findings: &mut Findings) {
        let place = self
            .plans
            .insert_with(index, code, || code.instruction(index).map(Plan::new));
        let (Some(plan), Some(recent)) = (
            place.and_then(|place| self.plans.at(place)),
            self.recent.get_mut(wave.index as usize),
        ) else {
            return;
        };
        match plan.part {
            Part::None => return,
            Part::Waits => return recent.late.clear(),
            Part::Vector | Part::Transcendental | Part::Product => {}
        }
        // The first register that both access.
        let common = |other: u32| {
            let writes = &self.plans.get(other)?.writes;
            let mut reads = plan.reads.iter().flat_map(|registers| registers.iter());
            reads.find(|read| writes.iter().any(|list| list.iter().any(|n| n == *read)))
        };
        for late in &recent.late {
            if let Some(register) = common(late.index) {
                let what = format!(
                    "before a transcendental function has written it: {VECTOR_INSTRUCTIONS} vector instructions are owed, {} are there",
                    late.vectors
                );
                report(index, wave, register, late.index, &what, findings);
            }
        }
        if plan.part == Part::Product
            && let Some(product) = recent.product
            && let Some(register) = common(product)
        {
            let what =
                "right after the product that writes it: a vector instruction is owed between them";
            report(index, wave, register, product, what, findings);
        }
        recent.product = (plan.part == Part::Product).then_some(index);
        for late in &mut recent.late {
            late.vectors += 1;
            late.transcendentals += u32::from(plan.part == Part::Transcendental);
        }
        recent.late.retain(|late| {
            late.vectors < VECTOR_INSTRUCTIONS && late.transcendentals < TRANSCENDENTALS
        });
        if self.has_late_results && plan.part == Part::Transcendental {
            recent.late.push(Late {
                index,
                vectors: 0,
                transcendentals: 0,
            });
        }
    }
}

#[cold]
fn report(
    index: u32,
    wave: &Wave,
    register: Register,
    other: u32,
    what: &str,
    findings: &mut Findings,
) {
    let key = Key {
        kind: Kind::Hazard,
        index,
        other: Some(other),
    };
    let side = |index, workgroup, what| Side {
        index,
        workgroup,
        wave: wave.index,
        lanes: 0,
        what,
    };
    findings.add(key, |workgroup| Example {
        side: side(
            index,
            workgroup,
            format!("reads {} {what}", register.name(Family::Rdna)),
        ),
        access: None,
        other: Some(side(other, workgroup, "writes it".into())),
    });
}
