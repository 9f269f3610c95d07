//! Every instruction of `cdna.txt` that the scalar unit, LDS or memory executes has an operation.
//!
//! Instructions without one are refused in `cdna.txt`, with the reason.

#[path = "../../isa/tests/words/mod.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};

use ferrowave_emulator::exec::{Code, SimdLevel};
use ferrowave_gpu::Family;
use ferrowave_isa::decode;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

const ENCODINGS: [&str; 12] = [
    "sop1", "sop2", "sopc", "sopk", "sopp", "smem", "ds", "flat", "global", "scratch", "mubuf",
    "mtbuf",
];

/// How many forms of an instruction are tried until one is valid: most random bits are not.
const FORMS: usize = 400;

/// Whether `cdna.txt` refuses an instruction.
fn is_refused(name: &str) -> bool {
    let mut lines = include_str!("../../isa/cdna.txt").lines();
    lines.any(|line| line.contains(" refused=") && line.split(' ').next() == Some(name))
}

#[test]
fn every_instruction_runs_or_is_excepted() {
    for &gpu in Family::Cdna.gpus() {
        let (mut runs, mut refused) = (BTreeSet::new(), BTreeMap::new());
        for opcode in words::opcodes(gpu) {
            if is_refused(&opcode.name) || !ENCODINGS.contains(&opcode.encoding) {
                continue;
            }
            let mut random = Pcg64Mcg::seed_from_u64(7);
            for form in 0..FORMS {
                let words = opcode.words(gpu, form, &mut random);
                let Ok(instruction) = decode(gpu, &words, 0) else {
                    continue;
                };
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
