//! Finds the row of the table for instruction words or for an opcode.

use super::generation::Generation;
use super::tables::{FLAT_SEG, PATTERNS, ROWS};
use crate::lookup::{ByOpcode, ByPrefix};
use crate::row::{Encoding, Row};

/// The first typed opcode of gfx12's buffer instructions.
const FIRST_TYPED: usize = 0x80;

static BY_OPCODE: ByOpcode<{ Encoding::COUNT }, { Generation::COUNT }> =
    ByOpcode::new(&ROWS, 0x180);
static BY_PREFIX: ByPrefix<{ Generation::COUNT }> = ByPrefix::new(&PATTERNS);

/// The encoding and row of an instruction with this first word, if the generation has it.
pub(super) fn find(generation: Generation, word: u32) -> Option<(Encoding, &'static Row)> {
    let pattern = BY_PREFIX.pattern(&PATTERNS, generation as usize, word)?;
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
    BY_OPCODE.row(&ROWS, generation as usize, encoding, opcode)
}
