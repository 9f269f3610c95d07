//! Every instruction of the vector unit and the matrix cores that a GPU has can run.

use std::collections::BTreeSet;

use ferrowave_gpu::Family;

use crate::exec::{Code, SimdLevel};

/// Facts of all instructions: the decoder's own source, so that none is forgotten.
const FACTS: &str = include_str!("../../../../isa/cdna.txt");

/// The instructions of a section with their opcodes on each GPU, without refused ones.
fn section(name: &str) -> Vec<(&'static str, [Option<u32>; 4], bool)> {
    let lines = FACTS
        .lines()
        .skip_while(|line| !line.starts_with(&format!("[{name}]")))
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.contains(" refused="));
    lines
        .map(|line| {
            let mut fields = line.split_whitespace();
            let name = fields.next().expect("a mnemonic");
            let opcodes: Vec<Option<u32>> = fields
                .next()
                .expect("opcodes")
                .split(',')
                .map(|opcode| opcode.parse().ok())
                .collect();
            let opcodes = std::array::from_fn(|gpu| opcodes[gpu % opcodes.len()]);
            (name, opcodes, fields.any(|field| field == "e64"))
        })
        .collect()
}

/// Kinds of sources: vector registers, scalar registers, a vector and scalar registers, none.
const SOURCES: [[u32; 3]; 6] = [
    [0, 0, 0],
    [256 + 8, 256 + 16, 256 + 32],
    [4, 8, 12],
    [256 + 8, 4, 8],
    [4, 256 + 16, 256 + 32],
    [256 + 8, 256 + 16, 8],
];

/// Words of an instruction, from its encoding, opcode and sources.
fn words(encoding: &str, opcode: u32, [a, b, c]: [u32; 3]) -> [u32; 4] {
    // Results go to v64 and up. Without operands, all fields are zero.
    let dst = if a == 0 { 0 } else { 64 };
    let long = |base: u32| [base | opcode << 16 | dst, a | b << 9 | c << 18, 0, 0];
    match encoding {
        "vop1" => [0x7e00_0000 | dst << 17 | opcode << 9 | a, 0, 0, 0],
        "vop2" => [opcode << 25 | dst << 17 | (b & 255) << 9 | a, 0, 0, 0],
        "vopc" => [0x7c00_0000 | opcode << 17 | (b & 255) << 9 | a, 0, 0, 0],
        "vop3" => long(0xd000_0000),
        // All bits of op_sel_hi set, as assemblers set them.
        "vop3p" => {
            let [first, second, ..] = long(0xd380_0000);
            [first | 1 << 14, second | 3 << 27, 0, 0]
        }
        "vop3px2" => {
            let [first, second, ..] = long(0xd380_0000);
            [
                0xd3ac_0000,
                256 + 40 | (256 + 41) << 9,
                first | 1 << 11,
                second,
            ]
        }
        _ => long(0xd380_0000),
    }
}

#[test]
fn the_vector_unit_is_whole() {
    let mut missing = BTreeSet::new();
    for (index, gpu) in Family::Cdna.gpus().iter().copied().enumerate() {
        for encoding in ["vop1", "vop2", "vopc", "vop3", "vop3p", "mai", "vop3px2"] {
            for (name, opcodes, long) in section(encoding) {
                let Some(opcode) = opcodes[index] else {
                    continue;
                };
                let mut forms = vec![(encoding, opcode)];
                if long {
                    let base = match encoding {
                        "vop1" => 0x140,
                        "vop2" => 0x100,
                        _ => 0,
                    };
                    forms.push(("vop3", base + opcode));
                }
                for (encoding, opcode) in forms {
                    let runs = |sources| {
                        let bytes: Vec<u8> = words(encoding, opcode, sources)
                            .into_iter()
                            .flat_map(u32::to_le_bytes)
                            .collect();
                        let code = Code::compile(gpu, SimdLevel::Portable, 0x1000, &bytes);
                        let decoded = code.instruction(0).is_some_and(|i| i.op.name() == name);
                        decoded.then(|| code.unsupported().iter().all(|u| u.offset != 0))
                    };
                    let results: Vec<bool> = SOURCES.into_iter().filter_map(runs).collect();
                    if results.is_empty() {
                        missing
                            .insert(format!("{gpu} {name}: {encoding} {opcode} does not decode"));
                    } else if results.contains(&false) {
                        missing.insert(format!("{gpu} {name}: {encoding}"));
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "not executable: {missing:#?}");
}
