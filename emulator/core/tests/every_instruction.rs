//! Every instruction of the tables that the scalar unit, LDS or memory executes has an operation, and on RDNA those of the
//! vector unit.
//!
//! Instructions without one are refused in the tables, with the reason.

#[path = "../../isa/tests/words/mod.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};

use ferrowave_emulator::exec::{Code, SimdLevel};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::decode;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

const ENCODINGS: [&str; 12] = [
    "sop1", "sop2", "sopc", "sopk", "sopp", "smem", "ds", "flat", "global", "scratch", "mubuf",
    "mtbuf",
];

/// How many forms of an instruction are tried until one is valid: most random bits are not.
const FORMS: usize = 400;

/// Of CDNA, `exec/tests/coverage.rs` tests these in all forms.
const VECTOR_ENCODINGS: [&str; 6] = ["vop1", "vop2", "vopc", "vop3", "vop3p", "vopd"];

#[test]
fn every_instruction_runs_or_is_excepted() {
    let rdna = [Gpu::Gfx1100, Gpu::Gfx1150, Gpu::Gfx1200];
    for &gpu in Family::Cdna.gpus().iter().chain(&rdna) {
        let is_vector =
            |encoding: &str| gpu.family() == Family::Rdna && VECTOR_ENCODINGS.contains(&encoding);
        let (mut runs, mut refused) = (BTreeSet::new(), BTreeMap::new());
        for opcode in words::opcodes(gpu) {
            let tested = ENCODINGS.contains(&opcode.encoding) || is_vector(opcode.encoding);
            if opcode.refused || !tested {
                continue;
            }
            let mut random = Pcg64Mcg::seed_from_u64(7);
            for form in 0..FORMS {
                let words = opcode.words(gpu, form, &mut random);
                let Ok(instruction) = decode(gpu, &words, 0) else {
                    continue;
                };
                if !opcode.is(&instruction) {
                    continue;
                }
                let size = usize::from(instruction.size);
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let code = Code::compile(gpu, SimdLevel::Portable, 0, &bytes[..size]);
                match code.unsupported().first() {
                    None => {
                        runs.insert(opcode.name.clone());
                        break;
                    }
                    Some(first) => {
                        refused.insert(opcode.name.clone(), first.what.clone());
                    }
                }
            }
            let name = &opcode.name;
            assert!(
                runs.contains(name) || refused.contains_key(name),
                "no form of {name} on {gpu} is an instruction"
            );
        }
        assert!(runs.len() > 500, "{} instructions on {gpu}", runs.len());
        let missing: Vec<_> = refused
            .iter()
            .filter(|(name, _)| !runs.contains(*name))
            .map(|(_, what)| what)
            .collect();
        assert!(missing.is_empty(), "{gpu}: {missing:#?}");
    }
}
