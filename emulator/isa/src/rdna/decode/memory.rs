//! Decodes DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use super::super::generation::Generation;
use super::super::tables::{
    DS_ADDR, DS_DATA0, DS_DATA1, DS_GDS, DS_OFFSET0, DS_OFFSET1, DS_VDST, FLAT_ADDR, FLAT_DATA,
    FLAT_DLC, FLAT_GLC, FLAT_OFFSET, FLAT_SADDR, FLAT_SLC, FLAT_SVE, FLAT_VDST, MTBUF_FORMAT,
    MUBUF_DLC, MUBUF_GLC, MUBUF_IDXEN, MUBUF_OFFEN, MUBUF_OFFSET, MUBUF_SLC, MUBUF_SOFFSET,
    MUBUF_SRSRC, MUBUF_TFE, MUBUF_VADDR, MUBUF_VDATA,
};
use super::operands::NULL;
use super::{Decoder, Refused};
use crate::instruction::{Format, Instruction};
use crate::operand::{EXEC, Operand};
use crate::row::{Encoding, Slot, flag};

impl Decoder<'_> {
    /// A data operand.
    pub(super) fn data(&self, slot: Slot, index: u32) -> Operand {
        match slot.exists() {
            true => self.vgpr(slot, index),
            false => Operand::default(),
        }
    }

    pub(super) fn ds(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(Format::Ds);
        let (data0, data1) = match row.has(flag::SWAPPED) {
            true => (DS_DATA1, DS_DATA0),
            false => (DS_DATA0, DS_DATA1),
        };
        for (slot, field) in [
            (row.src[0], DS_ADDR),
            (row.src[1], data0),
            (row.src[2], data1),
            (row.dst, DS_VDST),
        ] {
            if !slot.exists() {
                self.reserved(field)?;
            }
        }
        i.src[0] = self.data(row.src[0], self.field(DS_ADDR));
        i.src[1] = self.data(row.src[1], self.field(data0));
        i.src[2] = self.data(row.src[2], self.field(data1));
        i.dst = self.data(row.dst, self.field(DS_VDST));
        if row.has(flag::NO_OFFSET) {
            self.reserved(DS_OFFSET0)?;
            self.reserved(DS_OFFSET1)?;
        }
        i.memory.offset = (self.field(DS_OFFSET0) | self.field(DS_OFFSET1) << 8) as i32;
        i.memory.gds = self.is_set(DS_GDS);
        if row.has(flag::GDS_NEVER) || self.target == Generation::Gfx12 {
            self.reserved(DS_GDS)?;
        }
        if row.has(flag::GDS_ALWAYS) && !i.memory.gds {
            return Err(Refused::Unknown);
        }
        Ok(i)
    }

    pub(super) fn flat(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(match encoding {
            Encoding::Flat => Format::Flat,
            Encoding::Global => Format::Global,
            _ => Format::Scratch,
        });
        i.memory.sc0 = self.is_set(FLAT_GLC);
        i.memory.nt = self.is_set(FLAT_SLC);
        i.memory.dlc = self.is_set(FLAT_DLC);
        if row.has(flag::CACHE) {
            return Ok(i);
        }
        i.memory.offset = match encoding {
            // 12 bits, unsigned.
            Encoding::Flat => {
                self.reserved_bits(FLAT_OFFSET, 1 << 12)?;
                self.field(FLAT_OFFSET) as i32
            }
            // 13 bits, signed.
            _ => (self.field(FLAT_OFFSET) << 19) as i32 >> 19,
        };
        self.flat_addresses(encoding, &mut i)?;
        i.src[1] = self.data(row.src[1], self.field(FLAT_DATA));
        if !row.has(flag::RETURNS) || i.memory.sc0 {
            i.dst = self.data(row.dst, self.field(FLAT_VDST));
        }
        Ok(i)
    }

    fn flat_addresses(&self, encoding: Encoding, i: &mut Instruction) -> Result<(), Refused> {
        let row = self.row;
        let (vaddr, saddr) = (self.field(FLAT_ADDR), self.field(FLAT_SADDR));
        let scalar = saddr != NULL;
        match encoding {
            Encoding::Flat => {
                self.reserved(FLAT_SVE)?;
                if scalar {
                    return Err(Refused::Operand { code: saddr });
                }
                i.src[0] = self.data(row.src[0], vaddr);
            }
            Encoding::Global => {
                self.reserved(FLAT_SVE)?;
                if saddr > NULL {
                    return Err(Refused::Operand { code: saddr });
                }
                // With a scalar base, the vector address is a 32-bit offset.
                let slot = match scalar && row.src[0].exists() {
                    true => Slot {
                        bits: 32,
                        ..row.src[0]
                    },
                    false => row.src[0],
                };
                i.src[0] = self.data(slot, vaddr);
            }
            // The bit means that a scratch access has a vector address.
            _ if self.is_set(FLAT_SVE) => i.src[0] = self.data(row.src[0], vaddr),
            _ => {}
        }
        if scalar {
            if saddr > EXEC {
                return Err(Refused::Operand { code: saddr });
            }
            i.src[2] = self.sgpr(row.src[2], saddr)?;
        }
        Ok(())
    }

    pub(super) fn buffer(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(match encoding {
            Encoding::Mubuf => Format::Mubuf,
            _ => Format::Mtbuf,
        });
        i.memory.sc0 = self.is_set(MUBUF_GLC);
        i.memory.nt = self.is_set(MUBUF_SLC);
        i.memory.dlc = self.is_set(MUBUF_DLC);
        if row.has(flag::CACHE) {
            i.memory = Default::default();
            for field in [MUBUF_OFFEN, MUBUF_IDXEN, MUBUF_TFE, MUBUF_GLC, MUBUF_DLC] {
                self.reserved(field)?;
            }
            return Ok(i);
        }
        if encoding == Encoding::Mtbuf {
            i.memory.format = self.field(MTBUF_FORMAT) as u8;
        }
        if encoding == Encoding::Mtbuf || row.is_atomic() {
            self.reserved(MUBUF_TFE)?;
        }
        i.memory.tfe = self.is_set(MUBUF_TFE);
        i.memory.offset = self.field(MUBUF_OFFSET) as i32;
        i.memory.offen = self.is_set(MUBUF_OFFEN);
        i.memory.idxen = self.is_set(MUBUF_IDXEN);
        let addresses = u16::from(i.memory.offen) + u16::from(i.memory.idxen);
        if addresses > 0 {
            let slot = Slot {
                bits: 32 * addresses,
                ..row.src[0]
            };
            i.src[0] = self.data(slot, self.field(MUBUF_VADDR));
        }
        let vdata = self.field(MUBUF_VDATA);
        i.src[1] = self.data(row.src[1], vdata);
        if !row.has(flag::RETURNS) || i.memory.sc0 {
            i.dst = self.data(row.dst, vdata);
        }
        i.src[2] = self.sgpr(row.src[2], self.field(MUBUF_SRSRC) << 2)?;
        i.src[3] = self.scalar(row.src[3], self.field(MUBUF_SOFFSET))?;
        Ok(i)
    }
}
