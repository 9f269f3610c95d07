//! Finds the row of the table for instruction words or for an operation.

use ferrowave_gpu::{Family, Gpu};

use super::tables::{FLAT_SEG, PATTERNS, ROWS};
use crate::row::{ABSENT, Encoding, Row, flag};

/// The columns of the table.
const GPUS: usize = Family::Cdna.gpus().len();
const ENCODINGS: usize = Encoding::Mimg as usize + 1;
/// VOP3 has 10 opcode bits, more than any other encoding.
const OPCODES: usize = 1 << 10;
/// Where the VOP3 opcodes of instructions with a short form start.
const VOP1_IN_VOP3: u16 = 0x140;
const VOP2_IN_VOP3: u16 = 0x100;

/// Row number + 1, by GPU, encoding and opcode; 0 if there is no row.
static BY_OPCODE: [[[u16; OPCODES]; ENCODINGS]; GPUS] = by_opcode();
/// The pattern that matches an instruction's highest 9 bits.
static BY_PREFIX: [u8; 512] = by_prefix();
const NO_PATTERN: u8 = u8::MAX;

const fn by_opcode() -> [[[u16; OPCODES]; ENCODINGS]; GPUS] {
    let mut table = [[[0; OPCODES]; ENCODINGS]; GPUS];
    let mut n = 0;
    while n < ROWS.len() {
        let row = &ROWS[n];
        let mut gpu = 0;
        while gpu < GPUS {
            let opcode = row.opcodes[gpu];
            if opcode != ABSENT {
                // MAI shares the encoding of VOP3P.
                let encoding = match row.encoding {
                    Encoding::Mai => Encoding::Vop3p,
                    other => other,
                };
                table[gpu][encoding as usize][opcode as usize] = n as u16 + 1;
                if row.has(flag::E64) {
                    let base = match row.encoding {
                        Encoding::Vop1 => VOP1_IN_VOP3,
                        Encoding::Vop2 => VOP2_IN_VOP3,
                        _ => 0,
                    };
                    table[gpu][Encoding::Vop3 as usize][(base + opcode) as usize] = n as u16 + 1;
                }
            }
            gpu += 1;
        }
        n += 1;
    }
    table
}

const fn by_prefix() -> [u8; 512] {
    let mut table = [NO_PATTERN; 512];
    let mut prefix = 0;
    while prefix < 512 {
        let word = (prefix as u32) << 23;
        let (mut n, mut best) = (0, 0);
        while n < PATTERNS.len() {
            let pattern = &PATTERNS[n];
            let within = pattern.mask & 0x7f_ffff == 0;
            let precision = pattern.mask.count_ones() + 1;
            if within && word & pattern.mask == pattern.value && precision > best {
                best = precision;
                table[prefix] = n as u8;
            }
            n += 1;
        }
        prefix += 1;
    }
    table
}

/// The encoding and row of an instruction with this first word, if the GPU has it.
pub(super) fn find(gpu: Gpu, word: u32) -> Option<(Encoding, &'static Row)> {
    let pattern = PATTERNS.get(BY_PREFIX[(word >> 23) as usize] as usize)?;
    let encoding = match pattern.encoding {
        Encoding::Flat => match FLAT_SEG.of(u64::from(word)) {
            0 => Encoding::Flat,
            1 => Encoding::Scratch,
            2 => Encoding::Global,
            _ => return None,
        },
        other => other,
    };
    let row = by_number(gpu, encoding, pattern.op.of(u64::from(word)) as usize)?;
    Some((encoding, row))
}

/// The row of an opcode of an encoding.
pub(super) fn by_number(gpu: Gpu, encoding: Encoding, opcode: usize) -> Option<&'static Row> {
    let number = BY_OPCODE[gpu.number_in_family()][encoding as usize][opcode];
    ROWS.get(usize::from(number).wrapping_sub(1))
}
