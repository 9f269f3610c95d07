//! What finds the rows of instruction words: arrays that the compiler makes from a family's table.

use super::row::{ABSENT, Encoding, Pattern, Row, flag};

/// VOP3 has 10 opcode bits, more than any other encoding.
const OPCODES: usize = 1 << 10;
/// Where the VOP3 opcodes of instructions with a VOP2 form start.
const VOP2_IN_VOP3: u16 = 0x100;
const NO_PATTERN: u8 = u8::MAX;

/// Row number + 1, by column of the table, encoding and opcode; 0 if there is no row.
pub(super) struct ByOpcode<const ENCODINGS: usize, const COLUMNS: usize>(
    [[[u16; OPCODES]; ENCODINGS]; COLUMNS],
);

impl<const ENCODINGS: usize, const COLUMNS: usize> ByOpcode<ENCODINGS, COLUMNS> {
    /// Of these rows, where VOP3 opcodes of instructions with a VOP1 form start at `vop1_in_vop3`.
    pub(super) const fn new(rows: &[Row], vop1_in_vop3: u16) -> Self {
        let mut table = [[[0; OPCODES]; ENCODINGS]; COLUMNS];
        let mut n = 0;
        while n < rows.len() {
            let row = &rows[n];
            let mut column = 0;
            while column < COLUMNS {
                let opcode = row.opcodes[column];
                if opcode != ABSENT {
                    // MAI shares the encoding of VOP3P.
                    let encoding = match row.encoding {
                        Encoding::Mai => Encoding::Vop3p,
                        other => other,
                    };
                    table[column][encoding as usize][opcode as usize] = n as u16 + 1;
                    if row.has(flag::E64) {
                        let base = match row.encoding {
                            Encoding::Vop1 => vop1_in_vop3,
                            Encoding::Vop2 => VOP2_IN_VOP3,
                            _ => 0,
                        };
                        let long = (base + opcode) as usize;
                        table[column][Encoding::Vop3 as usize][long] = n as u16 + 1;
                    }
                }
                column += 1;
            }
            n += 1;
        }
        ByOpcode(table)
    }

    /// The row, of those that the table was made from.
    pub(super) fn row<'a>(
        &self,
        rows: &'a [Row],
        column: usize,
        encoding: Encoding,
        opcode: usize,
    ) -> Option<&'a Row> {
        let number = self.0[column][encoding as usize][opcode];
        rows.get(usize::from(number).wrapping_sub(1))
    }
}

/// The pattern that matches an instruction's highest 9 bits, by column of the table.
pub(super) struct ByPrefix<const COLUMNS: usize>([[u8; 512]; COLUMNS]);

impl<const COLUMNS: usize> ByPrefix<COLUMNS> {
    pub(super) const fn new(patterns: &[Pattern]) -> Self {
        let mut table = [[NO_PATTERN; 512]; COLUMNS];
        let mut column = 0;
        while column < COLUMNS {
            let mut prefix = 0;
            while prefix < 512 {
                let word = (prefix as u32) << 23;
                let (mut n, mut best) = (0, 0);
                while n < patterns.len() {
                    let pattern = &patterns[n];
                    let within =
                        pattern.mask & 0x7f_ffff == 0 && pattern.columns >> column & 1 != 0;
                    let precision = pattern.mask.count_ones() + 1;
                    if within && word & pattern.mask == pattern.value && precision > best {
                        best = precision;
                        table[column][prefix] = n as u8;
                    }
                    n += 1;
                }
                prefix += 1;
            }
            column += 1;
        }
        ByPrefix(table)
    }

    /// The pattern of a word, of those that the table was made from.
    pub(super) fn pattern<'a>(
        &self,
        patterns: &'a [Pattern],
        column: usize,
        word: u32,
    ) -> Option<&'a Pattern> {
        patterns.get(usize::from(self.0[column][(word >> 23) as usize]))
    }
}
