//! Decodes MIMG.

use ferrowave_gpu::Gpu;

use super::super::operand::Refused;
use super::super::tables::{
    MIMG_A16, MIMG_ACC, MIMG_D16, MIMG_DA, MIMG_DMASK, MIMG_HIGH, MIMG_LWE, MIMG_NT, MIMG_SC0,
    MIMG_SC1, MIMG_SRSRC, MIMG_SSAMP, MIMG_UNRM, MIMG_VADDR, MIMG_VDATA,
};
use super::Decoder;
use crate::image::ImageControl;
use crate::instruction::{Format, Instruction};
use crate::row::Slot;

impl Decoder<'_> {
    pub(super) fn image(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        self.reserved(MIMG_HIGH.mask())?;
        let mut i = self.blank(Format::Image);
        i.memory.sc0 = self.is_set(MIMG_SC0);
        i.memory.nt = self.is_set(MIMG_NT);
        i.memory.sc1 = self.is_set(MIMG_SC1) && self.target != Gpu::Gfx908;
        i.image = ImageControl {
            dmask: self.field(MIMG_DMASK) as u8,
            array: self.is_set(MIMG_DA),
            unnormalized: self.is_set(MIMG_UNRM),
            a16: self.is_set(MIMG_A16),
            d16: self.is_set(MIMG_D16),
            lwe: self.is_set(MIMG_LWE),
            ..Default::default()
        };
        let mut acc = self.is_set(MIMG_ACC);
        if self.target == Gpu::Gfx908 {
            // On this GPU the bit is `tfe`.
            i.memory.tfe = acc;
            acc = false;
        }
        let bits = i.image.data_bits(row.more);
        let sized = |slot: Slot| match slot.exists() {
            true => Slot { bits, ..slot },
            false => slot,
        };
        // How many addresses there are depends on the resource. This is the least.
        i.src[0] = row.src[0].vgpr(self.target, self.field(MIMG_VADDR))?;
        let vdata = self.field(MIMG_VDATA);
        i.dst = self.data(sized(row.dst), vdata, acc)?;
        i.src[1] = self.data(sized(row.src[1]), vdata, acc)?;
        i.src[2] = row.src[2].sgpr(self.field(MIMG_SRSRC) << 2)?;
        match row.src[3].exists() {
            true => i.src[3] = row.src[3].sgpr(self.field(MIMG_SSAMP) << 2)?,
            false => self.reserved(MIMG_SSAMP.mask())?,
        }
        Ok(i)
    }
}
