//! Instructions with their names, which are found when somebody asks: reading line tables takes longer than a short replay.

use std::{ops::Deref, sync::OnceLock};

use serde::{Serialize, Serializer};

use super::{compute_unit::Issued, report::InstructionTiming};
use crate::{check::Names, program::Kernel};

/// Instructions that ran, in the order of the code. They keep the kernel's program in the device's memory.
#[derive(Clone, Debug)]
pub struct Instructions {
    kernel: Kernel,
    /// The index in the code of the first of `issued`.
    first: u32,
    issued: Vec<Issued>,
    named: OnceLock<Vec<InstructionTiming>>,
}

impl Instructions {
    pub(super) fn new(kernel: &Kernel, first: u32, issued: Vec<Issued>) -> Self {
        Instructions {
            kernel: kernel.clone(),
            first,
            issued,
            named: OnceLock::new(),
        }
    }

    fn name(&self) -> Vec<InstructionTiming> {
        let names = Names::new(&self.kernel);
        let code = self.kernel.code();
        let ran = (self.first..)
            .zip(&self.issued)
            .filter(|(_, issued)| issued.count > 0);
        ran.filter_map(|(index, issued)| {
            Some(InstructionTiming {
                place: names.place(index)?,
                category: code.instruction(index)?.category(),
                issued: issued.count,
                stalls: issued.stalls,
            })
        })
        .collect()
    }
}

impl Deref for Instructions {
    type Target = [InstructionTiming];

    fn deref(&self) -> &Self::Target {
        self.named.get_or_init(|| self.name())
    }
}

impl Serialize for Instructions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
