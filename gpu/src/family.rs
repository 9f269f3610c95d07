//! Families of instruction sets.

use crate::Gpu;

/// A family of GPUs: one set of encodings, kinds of registers and wait counters. The emulator has one table of
/// instructions for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// CDNA 1 to 4: AMD Instinct from MI100 on.
    Cdna,
    /// RDNA 3, 3.5 and 4: AMD Radeon RX 7000 and 9000, and the graphics of Ryzen AI 300.
    Rdna,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 2] = [Family::Cdna, Family::Rdna];

    /// AMD's name.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Cdna => "CDNA",
            Family::Rdna => "RDNA",
        }
    }

    /// Its GPUs, oldest first: the columns of its table of instructions.
    pub const fn gpus(self) -> &'static [Gpu] {
        match self {
            Family::Cdna => &[Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950],
            Family::Rdna => &[
                Gpu::Gfx1100,
                Gpu::Gfx1101,
                Gpu::Gfx1102,
                Gpu::Gfx1150,
                Gpu::Gfx1151,
                Gpu::Gfx1200,
                Gpu::Gfx1201,
            ],
        }
    }
}

impl Gpu {
    /// Its family.
    pub const fn family(self) -> Family {
        match self {
            Gpu::Gfx908 | Gpu::Gfx90a | Gpu::Gfx942 | Gpu::Gfx950 => Family::Cdna,
            Gpu::Gfx1100
            | Gpu::Gfx1101
            | Gpu::Gfx1102
            | Gpu::Gfx1150
            | Gpu::Gfx1151
            | Gpu::Gfx1200
            | Gpu::Gfx1201 => Family::Rdna,
        }
    }

    /// Its position in [`Family::gpus`].
    pub const fn number_in_family(self) -> usize {
        let gpus = self.family().gpus();
        let mut number = 0;
        while gpus[number] as u8 != self as u8 {
            number += 1;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn each_gpu_is_in_its_family_and_in_no_other() {
        let all: Vec<_> = Family::ALL
            .iter()
            .flat_map(|family| family.gpus().iter().map(move |gpu| (*gpu, *family)))
            .collect();
        assert_eq!(all.len(), Gpu::ALL.len());
        for gpu in Gpu::ALL {
            assert!(all.contains(&(gpu, gpu.family())), "{gpu}");
            assert_eq!(gpu.family().gpus()[gpu.number_in_family()], gpu);
        }
    }
}
