//! Loads and stores by their mnemonic: the same list for global, flat, scratch and buffer instructions.
//!
//! A D16 load fills one half of its register and zeroes the other, as the GPUs have SRAM ECC: «When ECC is enabled
//! 16-bit memory loads write the full 32-bit VGPR. Unused bits are set to zero» (CDNA4 ISA guide, «16-bit Memory
//! Operations», 9.1.6). The guides' pseudocode says that the other half is preserved; that is true without ECC. LLVM
//! (`GCNSubtarget::d16PreservesUnusedBits`) counts on no kept half with ECC, nor on gfx90a and its successors without it,
//! where it was tried (review D112635).

use super::{operation::Handler, private::Small};

/// Makes the handlers of one kind of memory.
pub(super) trait Transfers {
    /// Loads `N` dwords.
    fn load<const N: usize>(&self) -> Handler;
    /// Stores `N` dwords.
    fn store<const N: usize>(&self) -> Handler;
    /// Loads a `T` and puts what the function makes of it into the register.
    fn load_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(T) -> u32 + Copy + 'static;
    /// Stores what the function makes of the register.
    fn store_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(u32) -> T + Copy + 'static;
}

/// The handler of a mnemonic without what stands before `load` or `store`.
pub(super) fn handler(name: &str, t: impl Transfers) -> Option<Handler> {
    Some(match name {
        "load_dword" => t.load::<1>(),
        "load_dwordx2" => t.load::<2>(),
        "load_dwordx3" => t.load::<3>(),
        "load_dwordx4" => t.load::<4>(),
        "load_ubyte" => t.load_small(|x: u8| u32::from(x)),
        "load_sbyte" => t.load_small(|x: i8| x as u32),
        "load_ushort" => t.load_small(|x: u16| u32::from(x)),
        "load_sshort" => t.load_small(|x: i16| x as u32),
        "load_ubyte_d16" => t.load_small(|x: u8| u32::from(x)),
        "load_ubyte_d16_hi" => t.load_small(|x: u8| u32::from(x) << 16),
        "load_sbyte_d16" => t.load_small(|x: i8| u32::from(x as u16)),
        "load_sbyte_d16_hi" => t.load_small(|x: i8| u32::from(x as u16) << 16),
        "load_short_d16" => t.load_small(|x: u16| u32::from(x)),
        "load_short_d16_hi" => t.load_small(|x: u16| u32::from(x) << 16),
        "store_dword" => t.store::<1>(),
        "store_dwordx2" => t.store::<2>(),
        "store_dwordx3" => t.store::<3>(),
        "store_dwordx4" => t.store::<4>(),
        "store_byte" => t.store_small(|x| x as u8),
        "store_byte_d16_hi" => t.store_small(|x| (x >> 16) as u8),
        "store_short" => t.store_small(|x| x as u16),
        "store_short_d16_hi" => t.store_small(|x| (x >> 16) as u16),
        _ => return None,
    })
}
