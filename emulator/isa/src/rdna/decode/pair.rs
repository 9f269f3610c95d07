//! Decodes VOPD: two vector instructions in one.

use super::super::lookup;
use super::super::tables::{
    VOPD_OPY, VOPD_SRCX0, VOPD_SRCY0, VOPD_VDSTX, VOPD_VDSTY, VOPD_VSRCX1, VOPD_VSRCY1,
};
use super::{Decoder, Refused};
use crate::instruction::{Format, Instruction, Second};
use crate::operand::{Operand, Source, VCC};
use crate::row::{Class, Encoding, Field, Row, RowRef};

impl Decoder<'_> {
    pub(super) fn pair(&mut self) -> Result<Instruction, Refused> {
        // Waves of 64 lanes have no pairs.
        if self.lanes != 32 {
            return Err(Refused::Unknown);
        }
        self.extend()?;
        let opcode = self.field(VOPD_OPY) as usize;
        let row = lookup::by_number(self.target, Encoding::Vopd, opcode).ok_or(Refused::Unknown)?;
        let mut i = self.blank(Format::Vopd);
        let vdst = self.field(VOPD_VDSTX);
        i.dst = self.vgpr(self.row.dst, vdst);
        let first = self.half(self.row, VOPD_SRCX0, VOPD_VSRCX1)?;
        i.src[..3].copy_from_slice(&first);
        // The results are in an even and an odd register.
        let other = self.field(VOPD_VDSTY) << 1 | !vdst & 1;
        i.second = Some(Second {
            op: row.op,
            row: RowRef(row),
            dst: self.vgpr(row.dst, other),
            src: self.half(row, VOPD_SRCY0, VOPD_VSRCY1)?,
        });
        Ok(i)
    }

    /// The sources of one of the two.
    fn half(&mut self, row: &Row, src0: Field, vsrc1: Field) -> Result<[Operand; 3], Refused> {
        let mut src = [Operand::default(); 3];
        src[0] = self.vector_source(row.src[0], self.field(src0))?;
        let n = if row.k == 1 { 2 } else { 1 };
        if row.src[n].exists() {
            src[n] = self.vgpr(row.src[n], self.field(vsrc1));
        }
        if row.src[2].class == Class::Mask {
            src[2] = self.sized(row.src[2]).holding(Source::Sgpr(VCC as u16));
        }
        if row.k != 0 {
            let k = usize::from(row.k);
            src[k] = row.src[k].holding(Source::Literal(self.literal()?));
        }
        Ok(src)
    }
}
