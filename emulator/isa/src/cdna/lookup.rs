//! Finds the row of the table for instruction words or for an operation.

use ferrowave_gpu::{Family, Gpu};

use super::tables::{FLAT_SEG, PATTERNS, ROWS};
use crate::lookup::{ByOpcode, ByPrefix};
use crate::row::{Encoding, Row};

/// The columns of the table.
const GPUS: usize = Family::Cdna.gpus().len();
const ENCODINGS: usize = Encoding::Mimg as usize + 1;

static BY_OPCODE: ByOpcode<ENCODINGS, GPUS> = ByOpcode::new(&ROWS, 0x140);
static BY_PREFIX: ByPrefix<GPUS> = ByPrefix::new(&PATTERNS);

/// The encoding and row of an instruction with this first word, if the GPU has it.
pub(super) fn find(gpu: Gpu, word: u32) -> Option<(Encoding, &'static Row)> {
    let pattern = BY_PREFIX.pattern(&PATTERNS, gpu.number_in_family(), word)?;
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
    BY_OPCODE.row(&ROWS, gpu.number_in_family(), encoding, opcode)
}
