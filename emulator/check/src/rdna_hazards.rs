//! A hazard of RDNA: a matrix product that reads the result of the one before, as A, B or the index of a sparse A, with no vector
//! instruction between them. LLVM's `GCNHazardRecognizer` avoids it in compiled code (`fixWMMAHazards`).
//!
//! Not checked: late results of transcendental functions on gfx1100 to gfx1102 (`fixVALUTransUseHazard`), which AMD's own Tensile
//! kernels do not avoid; hazards of waves of 64 lanes on gfx11 (`fixVALUMaskWriteHazard`, `fixVALUPartialForwardingHazard`); of
//! scalar registers on gfx12 (`fixVALUReadSGPRHazard`).

use ferrowave_gpu::Family;

use super::{Example, Findings, Key, Kind, Side, by_index::ByIndex};
use ferrowave_emulator::exec::{Code, Wave};
use ferrowave_isa::{Category, Instruction, Register, Registers};

/// What the check needs to know about an instruction of the vector unit.
struct Plan {
    /// Vector registers that a product reads, without the sum; `None` for other instructions.
    factors: Option<Vec<Registers>>,
    /// The result.
    writes: Vec<Registers>,
}

impl Plan {
    /// `None` if it is not of the vector unit.
    fn new(instruction: &Instruction) -> Option<Self> {
        let is_product = match instruction.category() {
            Category::Matrix => true,
            Category::Vector => false,
            _ => return None,
        };
        // The sum may be the result of the product before.
        let factors = if instruction.is_sparse() { 3 } else { 2 };
        let uses = instruction.uses();
        Some(Plan {
            factors: is_product.then(|| {
                let reads = uses.reads.iter();
                let reads = reads.filter(|read| read.slot.is_some_and(|slot| slot < factors));
                reads.map(|read| read.registers).collect()
            }),
            writes: uses.writes,
        })
    }
}

pub(super) struct Hazards {
    /// `None` for instructions that are not of the vector unit.
    plans: ByIndex<Option<Plan>>,
    /// For each wave its last vector instruction, if it is a product.
    last: Vec<Option<u32>>,
}

impl Hazards {
    pub(super) fn new() -> Self {
        Hazards {
            plans: ByIndex::default(),
            last: Vec::new(),
        }
    }

    /// Starts a workgroup with this number of waves.
    pub(super) fn begin(&mut self, waves: usize) {
        self.last.clear();
        self.last.resize(waves, None);
    }

    /// Checks the instruction that a wave is about to run.
    pub(super) fn step(&mut self, index: u32, wave: &Wave, code: &Code, findings: &mut Findings) {
        let place = self
            .plans
            .insert_with(index, code, || code.instruction(index).map(Plan::new));
        let (Some(Some(plan)), Some(last)) = (
            place.and_then(|place| self.plans.at(place)),
            self.last.get_mut(wave.index as usize),
        ) else {
            return;
        };
        let before = last.take();
        let Some(factors) = &plan.factors else {
            return;
        };
        *last = Some(index);
        let written = before.and_then(|before| {
            let writes = &self.plans.get(before)?.as_ref()?.writes;
            let mut reads = factors.iter().flat_map(|registers| registers.iter());
            let register =
                reads.find(|read| writes.iter().any(|list| list.iter().any(|n| n == *read)))?;
            Some((before, register))
        });
        if let Some((before, register)) = written {
            report(index, wave, register, before, findings);
        }
    }
}

#[cold]
fn report(index: u32, wave: &Wave, register: Register, other: u32, findings: &mut Findings) {
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
            format!(
                "reads {} right after the product that writes it: a vector instruction is owed between them",
                register.name(Family::Rdna)
            ),
        ),
        access: None,
        other: Some(side(other, workgroup, "writes it".into())),
    });
}
