//! The ranges of memory that kernels can access.
//!
//! A GPU maps memory in pages and does not detect accesses outside of an allocation but within its last page. Compilers
//! rely on that when they widen loads, and programs with small overruns without knowing it. So kernels may access memory
//! up to the end of the allocation's last page ([`AllocationInfo::page_end`]). ROCr takes a GPU's memory from the driver in
//! blocks of [`BLOCK_BYTES`](super::BLOCK_BYTES) and gives small allocations parts of them: what `hipMalloc` returned may be
//! accessed up to a block's end. Here no other allocation lies in the block. Only checks report what lies behind the
//! allocation. The bytes are [`PADDING`](super::PADDING) in the last page and 0 behind it until a kernel writes them. The
//! host's copies end with the allocation.
//!
//! Behind memory that the program registered lies what else it has, or the emulator: kernels read it, and do not write it.

use super::{AllocationInfo, block::Block};

/// A range of addresses that an access may touch.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub(super) base: u64,
    /// The end for reads.
    pub(super) end: u64,
    /// The end for writes and atomic operations; 0 if there are none.
    writable_end: u64,
    /// The end of the allocation.
    allocated: u64,
    fine_grained: bool,
    /// Checks report writes.
    constant: bool,
}

/// Whether kernels may write a part of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    Allowed,
    /// Allowed, and reported by checks: constants of a code object. ROCr's loader copies all segments to memory that kernels may
    /// write, and hashcat clears a `__constant__` variable in a kernel.
    Reported,
    Refused,
}

impl Reach {
    /// The offsets of the fields for the first address and the end for reads: for generated host code.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const BASE: usize = std::mem::offset_of!(Reach, base);
    #[cfg(target_arch = "x86_64")]
    pub(crate) const END: usize = std::mem::offset_of!(Reach, end);

    /// An empty range.
    pub const NOTHING: Reach = Reach {
        base: 1,
        end: 0,
        writable_end: 0,
        allocated: 0,
        fine_grained: false,
        constant: false,
    };

    /// The range of a whole allocation.
    pub(super) fn of(info: &AllocationInfo) -> Reach {
        let end = info.page_end();
        Reach {
            base: info.base,
            end,
            writable_end: end,
            allocated: info.end(),
            fine_grained: info.fine_grained,
            constant: false,
        }
    }

    /// The same, to the end of the allocation's block.
    pub(super) fn in_block(info: &AllocationInfo, block: &Block) -> Reach {
        let end = info.base + block.reachable_bytes() as u64;
        Reach {
            end,
            writable_end: end,
            ..Reach::of(info)
        }
    }

    /// The range of a whole allocation, without writes behind the allocation.
    pub(super) fn written_to_its_end(info: &AllocationInfo) -> Reach {
        Reach {
            writable_end: info.end(),
            ..Reach::of(info)
        }
    }

    /// A range of the program's memory, which is fine-grained: the driver's default (`svm_range_set_default_attributes`
    /// of amdkfd).
    pub(super) fn of_program(base: u64, end: u64, writable: bool) -> Reach {
        Reach {
            base,
            end,
            writable_end: if writable { end } else { 0 },
            allocated: end,
            fine_grained: true,
            constant: false,
        }
    }

    /// The ranges of parts of an allocation: offset, length, and whether kernels may write them. Each goes to the end of its
    /// last page, or to the start of the next part.
    pub(super) fn parts(info: &AllocationInfo, parts: &[(usize, usize, Writes)]) -> Vec<Reach> {
        let mut reaches: Vec<Reach> = parts
            .iter()
            .map(|&(offset, length, writes)| {
                let start = offset.min(info.bytes);
                let bytes = start.saturating_add(length).min(info.bytes);
                let part = Reach::of(&AllocationInfo { bytes, ..*info });
                Reach {
                    base: info.base + start as u64,
                    writable_end: match writes {
                        Writes::Refused => 0,
                        Writes::Allowed | Writes::Reported => part.writable_end,
                    },
                    constant: writes == Writes::Reported,
                    ..part
                }
            })
            .collect();
        reaches.sort_by_key(|reach| reach.base);
        for index in 1..reaches.len() {
            let next = reaches[index].base;
            let reach = &mut reaches[index - 1];
            reach.end = reach.end.min(next.max(reach.allocated));
            reach.writable_end = reach.writable_end.min(reach.end);
        }
        reaches
    }

    pub(super) const fn is_writable(&self) -> bool {
        self.writable_end != 0
    }

    /// As [`AllocationInfo::fine_grained`].
    pub const fn is_fine_grained(&self) -> bool {
        self.fine_grained
    }

    pub(super) const fn set_fine_grained(&mut self, fine_grained: bool) {
        self.fine_grained = fine_grained;
    }

    #[inline(always)]
    const fn end_for(&self, write: bool) -> u64 {
        match write {
            true => self.writable_end,
            false => self.end,
        }
    }

    #[inline(always)]
    pub(crate) const fn covers(&self, start: u64, end: u64, write: bool) -> bool {
        start >= self.base && end <= self.end_for(write) && start < end
    }

    /// Whether checks report writes: it is a constant part of a code object.
    pub const fn is_constant(&self) -> bool {
        self.constant
    }

    /// Whether checks report an allowed access: one that leaves the allocation, unless it is a scalar load that the
    /// compiler may have widened. LLVM widens a load if the added bytes lie in the same aligned block as the needed
    /// ones (`SITargetLowering::widenLoad` and `AMDGPUTargetLowering::WidenOrSplitVectorLoad`; the longest load has 64
    /// bytes).
    #[inline]
    pub fn is_left_by(&self, start: u64, end: u64, may_be_widened: bool) -> bool {
        let last = match may_be_widened {
            true => self.allocated.next_multiple_of(64),
            false => self.allocated,
        };
        start < self.base || start >= self.allocated || end > last
    }

    /// The lowest and highest offsets from `base` at which `bytes` bytes may be accessed, clamped to 32 bits. `None` if
    /// there are none.
    #[inline(always)]
    pub(crate) fn offsets(&self, base: u64, bytes: u32, write: bool) -> Option<(u32, u32)> {
        let end = self.end_for(write);
        let highest = end.checked_sub(base)?.checked_sub(u64::from(bytes))?;
        let lowest = u32::try_from(self.base.saturating_sub(base)).ok()?;
        Some((lowest, highest.min(u64::from(u32::MAX)) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_as_offsets() {
        let reach = Reach {
            base: 0x1_0000_0100,
            end: 0x1_0000_0200,
            writable_end: 0x1_0000_0180,
            allocated: 0x1_0000_0180,
            ..Reach::NOTHING
        };
        assert_eq!(reach.offsets(0x1_0000_0000, 4, false), Some((0x100, 0x1fc)));
        assert_eq!(reach.offsets(0x1_0000_0180, 4, false), Some((0, 0x7c)));
        assert_eq!(reach.offsets(0x1_0000_0000, 4, true), Some((0x100, 0x17c)));
        assert_eq!(reach.offsets(0x1_0000_0180, 4, true), None, "behind");
        assert_eq!(reach.offsets(0x1_0000_01fd, 4, false), None, "behind");
        assert_eq!(reach.offsets(0xff, 4, false), None, "over 4 GiB away");
        assert_eq!(reach.offsets(u64::MAX, 4, false), None);
        let read_only = Reach {
            writable_end: 0,
            ..reach
        };
        assert_eq!(read_only.offsets(0x1_0000_0000, 4, true), None);
        let large = Reach {
            base: 0x100,
            end: 0x3_0000_0000,
            writable_end: 0x3_0000_0000,
            allocated: 0x3_0000_0000,
            ..Reach::NOTHING
        };
        assert_eq!(large.offsets(0, 16, true), Some((0x100, u32::MAX)));
        assert_eq!(Reach::NOTHING.offsets(0, 1, false), None);
    }

    #[test]
    fn checks_pass_over_what_scalar_loads_were_widened_by() {
        let reach = Reach {
            base: 0x100,
            end: 0x1100,
            writable_end: 0x1100,
            allocated: 0x100 + 76,
            ..Reach::NOTHING
        };
        let leaves =
            |from: u64, to: u64, widened| reach.is_left_by(0x100 + from, 0x100 + to, widened);
        assert!(!leaves(0, 76, false) && leaves(72, 77, false) && leaves(76, 80, false));
        assert!(!leaves(64, 80, true) && !leaves(72, 128, true));
        assert!(leaves(72, 132, true) && leaves(76, 80, true));
        assert!(Reach::NOTHING.is_left_by(0, 4, true) && Reach::NOTHING.is_left_by(1, 4, false));
    }
}
