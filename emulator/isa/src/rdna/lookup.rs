//! Finds the row of the table for instruction words or for an opcode.

use super::generation::Generation;
use super::tables::{FLAT_SEG, PATTERNS, ROWS};
use crate::row::{ABSENT, Encoding, Row, flag};

/// VOP3 has 10 opcode bits, more than any other encoding.
const OPCODES: usize = 1 << 10;
/// Where the VOP3 opcodes of instructions with a short form start.
const VOP1_IN_VOP3: u16 = 0x180;
const VOP2_IN_VOP3: u16 = 0x100;
/// The first typed opcode of gfx12's buffer instructions.
const FIRST_TYPED: usize = 0x80;

/// Row number + 1, by generation, encoding and opcode; 0 if there is no row.
static BY_OPCODE: [[[u16; OPCODES]; Encoding::COUNT]; Generation::COUNT] = by_opcode();
/// The pattern that matches an instruction's highest 9 bits, by generation.
static BY_PREFIX: [[u8; 512]; Generation::COUNT] = by_prefix();
const NO_PATTERN: u8 = u8::MAX;

const fn by_opcode() -> [[[u16; OPCODES]; Encoding::COUNT]; Generation::COUNT] {
    let mut table = [[[0; OPCODES]; Encoding::COUNT]; Generation::COUNT];
    let mut n = 0;
    while n < ROWS.len() {
        let row = &ROWS[n];
        let mut generation = 0;
        while generation < Generation::COUNT {
            let opcode = row.opcodes[generation];
            if opcode != ABSENT {
                table[generation][row.encoding as usize][opcode as usize] = n as u16 + 1;
                if row.has(flag::E64) {
                    let base = match row.encoding {
                        Encoding::Vop1 => VOP1_IN_VOP3,
                        Encoding::Vop2 => VOP2_IN_VOP3,
                        _ => 0,
                    };
                    let long = (base + opcode) as usize;
                    table[generation][Encoding::Vop3 as usize][long] = n as u16 + 1;
                }
            }
            generation += 1;
        }
        n += 1;
    }
    table
}

const fn by_prefix() -> [[u8; 512]; Generation::COUNT] {
    let mut table = [[NO_PATTERN; 512]; Generation::COUNT];
    let mut generation = 0;
    while generation < Generation::COUNT {
        let mut prefix = 0;
        while prefix < 512 {
            let word = (prefix as u32) << 23;
            let (mut n, mut best) = (0, 0);
            while n < PATTERNS.len() {
                let pattern = &PATTERNS[n];
                let within =
                    pattern.mask & 0x7f_ffff == 0 && pattern.columns >> generation & 1 != 0;
                let precision = pattern.mask.count_ones() + 1;
                if within && word & pattern.mask == pattern.value && precision > best {
                    best = precision;
                    table[generation][prefix] = n as u8;
                }
                n += 1;
            }
            prefix += 1;
        }
        generation += 1;
    }
    table
}

/// The encoding and row of an instruction with this first word, if the generation has it.
pub(super) fn find(generation: Generation, word: u32) -> Option<(Encoding, &'static Row)> {
    let number = BY_PREFIX[generation as usize][(word >> 23) as usize];
    let pattern = PATTERNS.get(usize::from(number))?;
    let opcode = pattern.op.of(u64::from(word)) as usize;
    let encoding = match (pattern.encoding, generation) {
        (Encoding::Mubuf, Generation::Gfx12) if opcode >= FIRST_TYPED => Encoding::Mtbuf,
        (encoding, Generation::Gfx12) => encoding,
        (Encoding::Flat, _) => match FLAT_SEG.of(u64::from(word)) {
            0 => Encoding::Flat,
            1 => Encoding::Scratch,
            2 => Encoding::Global,
            _ => return None,
        },
        (encoding, _) => encoding,
    };
    let row = by_number(generation, encoding, opcode)?;
    Some((encoding, row))
}

/// The row of an opcode of an encoding.
pub(super) fn by_number(
    generation: Generation,
    encoding: Encoding,
    opcode: usize,
) -> Option<&'static Row> {
    let number = BY_OPCODE[generation as usize][encoding as usize][opcode];
    ROWS.get(usize::from(number).wrapping_sub(1))
}
