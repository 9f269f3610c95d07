//! Decodes DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use ferrowave_gpu::Gpu;

use super::super::operand::Refused;
use super::super::tables::{
    DS_ACC, DS_ADDR, DS_DATA0, DS_DATA1, DS_GDS, DS_OFFSET0, DS_OFFSET1, DS_VDST, FLAT_ACC,
    FLAT_ADDR, FLAT_DATA, FLAT_LDS, FLAT_NT, FLAT_OFFSET, FLAT_SADDR, FLAT_SC0, FLAT_SC1,
    FLAT_VDST, MTBUF_ACC, MTBUF_FORMAT, MTBUF_IDXEN, MTBUF_NT, MTBUF_OFFEN, MTBUF_OFFSET,
    MTBUF_SC0, MTBUF_SC1, MTBUF_SOFFSET, MTBUF_SRSRC, MTBUF_VADDR, MTBUF_VDATA, MUBUF_ACC,
    MUBUF_IDXEN, MUBUF_LDS, MUBUF_NT, MUBUF_OFFEN, MUBUF_OFFSET, MUBUF_SC0, MUBUF_SC1,
    MUBUF_SOFFSET, MUBUF_SRSRC, MUBUF_VADDR, MUBUF_VDATA,
};
use super::Decoder;
use crate::instruction::{Format, Instruction};
use crate::operand::{EXEC, Operand};
use crate::row::{Encoding, Field, Slot, flag};

/// The `saddr` code for `off`.
const SADDR_OFF: u32 = 0x7f;

/// The fields whose places differ between MUBUF and MTBUF.
struct BufferFields {
    vaddr: Field,
    vdata: Field,
    srsrc: Field,
    soffset: Field,
    offset: Field,
    offen: Field,
    idxen: Field,
}

impl Decoder<'_> {
    /// A data operand: vector or accumulator registers.
    pub(super) fn data(
        &self,
        slot: Slot,
        index: u32,
        accumulator: bool,
    ) -> Result<Operand, Refused> {
        if !slot.exists() {
            return Ok(Operand::default());
        }
        match accumulator {
            true => slot.agpr(self.target, index),
            false => slot.vgpr(self.target, index),
        }
    }

    /// The bit that selects accumulator registers for the data; reserved before gfx90a.
    fn accumulator(&self, field: Field) -> Result<bool, Refused> {
        if self.has_accumulators_everywhere() {
            return Ok(self.is_set(field));
        }
        self.reserved(field.mask())?;
        Ok(false)
    }

    fn lds_allowed(&self) -> bool {
        self.row.lds & 1 << self.target.number_in_family() != 0
    }

    pub(super) fn ds(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(Format::Ds);
        let acc = self.accumulator(DS_ACC)?;
        for (slot, field) in [
            (row.src[0], DS_ADDR),
            (row.src[1], DS_DATA0),
            (row.src[2], DS_DATA1),
            (row.dst, DS_VDST),
        ] {
            if !slot.exists() {
                self.reserved(field.mask())?;
            }
        }
        // Global wave sync instructions take data in the address field.
        let address_acc = acc && row.has(flag::GDS_ALWAYS);
        let address_is_data = row.has(flag::GDS_ALWAYS) && row.src[0].exists();
        if !row.dst.exists() && !row.src[1].exists() && !address_is_data {
            self.reserved(DS_ACC.mask())?;
        }
        i.src[0] = self.data(row.src[0], self.field(DS_ADDR), address_acc)?;
        i.src[1] = self.data(row.src[1], self.field(DS_DATA0), acc)?;
        i.src[2] = self.data(row.src[2], self.field(DS_DATA1), acc)?;
        i.dst = self.data(row.dst, self.field(DS_VDST), acc)?;
        let offset = self.field(DS_OFFSET0) | self.field(DS_OFFSET1) << 8;
        if row.has(flag::NO_OFFSET) {
            self.reserved(DS_OFFSET0.mask() | DS_OFFSET1.mask())?;
        }
        i.memory.offset = offset as i32;
        let gds = self.is_set(DS_GDS);
        i.memory.gds = gds && self.target == Gpu::Gfx908;
        if row.has(flag::GDS_NEVER) {
            self.reserved(DS_GDS.mask())?;
        }
        if row.has(flag::GDS_ALWAYS) {
            if !gds {
                return Err(Refused::Unknown);
            }
            i.memory.gds = true;
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
        i.memory.flat_scratch = row.flat_scratch & 1 << self.target.number_in_family() != 0;
        let acc = self.accumulator(FLAT_ACC)?;
        self.flat_cache_bits(&mut i)?;
        i.memory.offset = match encoding {
            Encoding::Flat => self.field(FLAT_OFFSET) as i32,
            // 13 bits, signed.
            _ => (self.field(FLAT_OFFSET) << 19) as i32 >> 19,
        };
        i.src[1] = self.data(row.src[1], self.field(FLAT_DATA), acc)?;
        let returns = !row.has(flag::RETURNS) || i.memory.sc0;
        let to_lds = self.flat_addresses(encoding, &mut i)?;
        if returns && !to_lds {
            i.dst = self.data(row.dst, self.field(FLAT_VDST), acc)?;
        }
        Ok(i)
    }

    fn flat_cache_bits(&self, i: &mut Instruction) -> Result<(), Refused> {
        i.memory.nt = self.is_set(FLAT_NT);
        i.memory.sc0 = self.is_set(FLAT_SC0);
        i.memory.sc1 = self.is_set(FLAT_SC1) && self.has_accumulators_everywhere();
        if self.row.has(flag::NO_SCC) && !self.is_gfx942_or_later() {
            self.reserved(FLAT_SC1.mask())?;
        }
        if self.row.is_plain_atomic() {
            self.reserved(FLAT_SC0.mask())?;
        }
        Ok(())
    }

    /// Decodes the addresses. Returns whether the data goes to LDS.
    fn flat_addresses(&self, encoding: Encoding, i: &mut Instruction) -> Result<bool, Refused> {
        let row = self.row;
        let (vaddr, saddr) = (self.field(FLAT_ADDR), self.field(FLAT_SADDR));
        let off = saddr == SADDR_OFF;
        // From gfx942 on, the bit means that a scratch access has a vector address.
        let vector_scratch = encoding == Encoding::Scratch && self.is_gfx942_or_later();
        let mut to_lds = false;
        if !vector_scratch && self.is_set(FLAT_LDS) {
            if !self.lds_allowed() {
                self.reserved(FLAT_LDS.mask())?;
            }
            to_lds = true;
        }
        i.memory.lds = to_lds;
        let no_data = !row.dst.exists() && !row.src[1].exists();
        if to_lds || no_data {
            self.reserved(FLAT_ACC.mask())?;
        }
        match encoding {
            Encoding::Flat => {
                self.reserved(FLAT_SADDR.mask())?;
                i.src[0] = self.data(row.src[0], vaddr, false)?;
            }
            Encoding::Global if off => i.src[0] = self.data(row.src[0], vaddr, false)?,
            Encoding::Global => {
                // With a scalar base, the vector address is a 32-bit offset.
                let narrow = Slot {
                    bits: 32,
                    ..row.src[0]
                };
                i.src[0] = self.data(narrow, vaddr, false)?;
            }
            _ if vector_scratch && self.is_set(FLAT_LDS) || !vector_scratch && off => {
                i.src[0] = self.data(row.src[0], vaddr, false)?;
            }
            _ => {}
        }
        if !off && encoding != Encoding::Flat {
            if saddr >= EXEC && encoding == Encoding::Global && !no_data && !to_lds {
                return Err(Refused::Operand { code: saddr });
            }
            i.src[2] = row.src[2].sgpr(saddr)?;
        }
        Ok(to_lds)
    }

    pub(super) fn mubuf(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(Format::Mubuf);
        let gfx908 = self.target == Gpu::Gfx908;
        i.memory.sc0 = self.is_set(MUBUF_SC0);
        i.memory.sc1 = self.is_set(MUBUF_SC1) && !gfx908;
        i.memory.nt = self.is_set(MUBUF_NT);
        if row.has(flag::CACHE) || row.has(flag::CACHE_BARE) {
            return self.cache_control(i);
        }
        if row.has(flag::NO_SCC) && self.target == Gpu::Gfx90a {
            self.reserved(MUBUF_SC1.mask())?;
        }
        if row.is_plain_atomic() {
            self.reserved(MUBUF_SC0.mask())?;
        }
        i.memory.lds = self.is_set(MUBUF_LDS);
        if i.memory.lds && !self.lds_allowed() {
            self.reserved(MUBUF_LDS.mask())?;
        }
        let mut acc = self.is_set(MUBUF_ACC);
        if gfx908 {
            // On these GPUs this bit is `tfe`.
            i.memory.tfe = acc;
            acc = false;
            if i.memory.tfe && (row.is_atomic() || i.memory.lds) {
                self.reserved(MUBUF_ACC.mask())?;
            }
        } else if i.memory.lds {
            self.reserved(MUBUF_ACC.mask())?;
        }
        self.buffer(
            &mut i,
            acc,
            &BufferFields {
                vaddr: MUBUF_VADDR,
                vdata: MUBUF_VDATA,
                srsrc: MUBUF_SRSRC,
                soffset: MUBUF_SOFFSET,
                offset: MUBUF_OFFSET,
                offen: MUBUF_OFFEN,
                idxen: MUBUF_IDXEN,
            },
        )?;
        Ok(i)
    }

    fn cache_control(&self, mut i: Instruction) -> Result<Instruction, Refused> {
        self.reserved(
            MUBUF_OFFEN.mask() | MUBUF_IDXEN.mask() | MUBUF_LDS.mask() | MUBUF_ACC.mask(),
        )?;
        i.memory.nt = false;
        if self.row.has(flag::CACHE_BARE) {
            self.reserved(MUBUF_SC0.mask() | MUBUF_SC1.mask())?;
        }
        if !self.is_gfx942_or_later() {
            i.memory.sc0 = false;
            i.memory.sc1 = false;
        }
        Ok(i)
    }

    pub(super) fn mtbuf(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let mut i = self.blank(Format::Mtbuf);
        i.memory.sc0 = self.is_set(MTBUF_SC0);
        i.memory.sc1 = self.is_set(MTBUF_SC1) && self.has_accumulators_everywhere();
        i.memory.nt = self.is_set(MTBUF_NT);
        i.memory.format = self.field(MTBUF_FORMAT) as u8;
        let acc = self.accumulator(MTBUF_ACC)?;
        self.buffer(
            &mut i,
            acc,
            &BufferFields {
                vaddr: MTBUF_VADDR,
                vdata: MTBUF_VDATA,
                srsrc: MTBUF_SRSRC,
                soffset: MTBUF_SOFFSET,
                offset: MTBUF_OFFSET,
                offen: MTBUF_OFFEN,
                idxen: MTBUF_IDXEN,
            },
        )?;
        Ok(i)
    }

    fn buffer(&self, i: &mut Instruction, acc: bool, f: &BufferFields) -> Result<(), Refused> {
        let row = self.row;
        i.memory.offset = self.field(f.offset) as i32;
        i.memory.offen = self.is_set(f.offen);
        i.memory.idxen = self.is_set(f.idxen);
        let addresses = u16::from(i.memory.offen) + u16::from(i.memory.idxen);
        if addresses > 0 {
            let slot = Slot {
                bits: 32 * addresses,
                ..row.src[0]
            };
            i.src[0] = self.data(slot, self.field(f.vaddr), false)?;
        }
        let vdata = self.field(f.vdata);
        i.src[1] = self.data(row.src[1], vdata, acc)?;
        if !i.memory.lds && (!row.has(flag::RETURNS) || i.memory.sc0) {
            i.dst = self.data(row.dst, vdata, acc)?;
        }
        i.src[2] = row.src[2].sgpr(self.field(f.srsrc) << 2)?;
        i.src[3] = row.src[3].scalar(self.field(f.soffset))?;
        Ok(())
    }
}
