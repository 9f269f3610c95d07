//! Decodes MIMG, VIMAGE and VSAMPLE.

use super::super::generation::Generation;
use super::super::tables::{
    MIMG_A16, MIMG_ADDR1, MIMG_ADDR2, MIMG_ADDR3, MIMG_ADDR4, MIMG_D16, MIMG_DIM, MIMG_DLC,
    MIMG_DMASK, MIMG_GLC, MIMG_LWE, MIMG_NSA, MIMG_R128, MIMG_SLC, MIMG_SRSRC, MIMG_SSAMP,
    MIMG_TFE, MIMG_UNRM, MIMG_VADDR, MIMG_VDATA, VIMAGE_A16, VIMAGE_D16, VIMAGE_DIM, VIMAGE_DMASK,
    VIMAGE_NV, VIMAGE_R128, VIMAGE_RSRC, VIMAGE_SCOPE, VIMAGE_TFE, VIMAGE_TH, VIMAGE_VADDR0,
    VIMAGE_VADDR1, VIMAGE_VADDR2, VIMAGE_VADDR3, VIMAGE_VADDR4, VIMAGE_VDATA, VSAMPLE_LWE,
    VSAMPLE_SAMP, VSAMPLE_TFE, VSAMPLE_UNRM,
};
use super::{Decoder, Refused};
use crate::image::{Dimension, ImageControl};
use crate::instruction::{Format, Instruction};
use crate::row::{Encoding, Field, More, Slot};

impl Decoder<'_> {
    pub(super) fn image(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        self.extend()?;
        match self.target {
            Generation::Gfx12 => self.image_gfx12(encoding),
            _ => self.image_gfx11(),
        }
    }

    fn image_gfx11(&mut self) -> Result<Instruction, Refused> {
        let mut i = self.blank(Format::Image);
        i.memory.sc0 = self.is_set(MIMG_GLC);
        i.memory.nt = self.is_set(MIMG_SLC);
        i.memory.dlc = self.is_set(MIMG_DLC);
        i.memory.tfe = self.is_set(MIMG_TFE);
        i.image = ImageControl {
            dmask: self.field(MIMG_DMASK) as u8,
            dimension: Dimension::from_code(self.field(MIMG_DIM)),
            unnormalized: self.is_set(MIMG_UNRM),
            r128: self.is_set(MIMG_R128),
            a16: self.is_set(MIMG_A16),
            d16: self.is_set(MIMG_D16),
            lwe: self.is_set(MIMG_LWE),
            ..Default::default()
        };
        match self.is_set(MIMG_NSA) {
            true => {
                self.extend()?;
                let fields = [MIMG_VADDR, MIMG_ADDR1, MIMG_ADDR2, MIMG_ADDR3, MIMG_ADDR4];
                self.addresses(&mut i, &fields);
            }
            false => self.addresses(&mut i, &[MIMG_VADDR]),
        }
        self.image_operands(&mut i, MIMG_VDATA, self.field(MIMG_SRSRC) << 2)?;
        match self.row.src[3].exists() {
            true => i.src[3] = self.sgpr(self.row.src[3], self.field(MIMG_SSAMP) << 2)?,
            false => self.reserved(MIMG_SSAMP)?,
        }
        Ok(i)
    }

    fn image_gfx12(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        self.extend()?;
        let mut i = self.blank(Format::Image);
        self.cache_policy(&mut i, [VIMAGE_TH, VIMAGE_SCOPE, VIMAGE_NV]);
        i.image = ImageControl {
            dmask: self.field(VIMAGE_DMASK) as u8,
            dimension: Dimension::from_code(self.field(VIMAGE_DIM)),
            r128: self.is_set(VIMAGE_R128),
            a16: self.is_set(VIMAGE_A16),
            d16: self.is_set(VIMAGE_D16),
            ..Default::default()
        };
        let fields = [
            VIMAGE_VADDR0,
            VIMAGE_VADDR1,
            VIMAGE_VADDR2,
            VIMAGE_VADDR3,
            VIMAGE_VADDR4,
        ];
        if encoding == Encoding::Vsample {
            i.memory.tfe = self.is_set(VSAMPLE_TFE);
            i.image.unnormalized = self.is_set(VSAMPLE_UNRM);
            i.image.lwe = self.is_set(VSAMPLE_LWE);
            i.src[3] = self.sgpr(self.row.src[3], self.field(VSAMPLE_SAMP))?;
            self.addresses(&mut i, &fields[..4]);
            // LLVM's disassembler refuses these, but not with a level or derivatives.
            if matches!(self.row.more, More::Nothing | More::Gather) {
                for unused in &fields[usize::from(i.image.first_count) + 1..4] {
                    self.reserved(*unused)?;
                }
            }
        } else {
            i.memory.tfe = self.is_set(VIMAGE_TFE);
            self.addresses(&mut i, &fields);
            if i.image.first_count < 4 {
                self.reserved(VIMAGE_VADDR4)?;
            }
        }
        self.image_operands(&mut i, VIMAGE_VDATA, self.field(VIMAGE_RSRC))?;
        Ok(i)
    }

    /// Each field has an address; the last has all that are left, in consecutive registers.
    fn addresses(&self, i: &mut Instruction, fields: &[Field]) {
        let all = i.image.addresses(self.row.more);
        let separate = (fields.len() as u8).min(all) - 1;
        for (register, field) in i.image.first.iter_mut().zip(fields) {
            *register = self.field(*field) as u8;
        }
        i.image.first[usize::from(separate)..].fill(0);
        i.image.first_count = separate;
        let rest = Slot {
            bits: 32 * u16::from(all - separate),
            ..self.row.src[0]
        };
        i.src[0] = self.vgpr(rest, self.field(fields[usize::from(separate)]));
    }

    fn image_operands(
        &self,
        i: &mut Instruction,
        vdata: Field,
        resource: u32,
    ) -> Result<(), Refused> {
        let row = self.row;
        let bits = i.image.data_bits(row.more);
        let data = |slot: Slot| match slot.exists() {
            true => self.vgpr(Slot { bits, ..slot }, self.field(vdata)),
            false => Default::default(),
        };
        i.dst = data(row.dst);
        i.src[1] = data(row.src[1]);
        i.src[2] = self.sgpr(row.src[2], resource)?;
        Ok(())
    }
}
