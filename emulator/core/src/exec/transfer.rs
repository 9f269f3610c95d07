//! Loads and stores: one list of them for global, flat, scratch, buffer and LDS instructions.
//!
//! A D16 load fills one half of its register and zeroes the other, because the GPUs have SRAM ECC: «When ECC is enabled
//! 16-bit memory loads write the full 32-bit VGPR. Unused bits are set to zero» (CDNA4 ISA guide, «16-bit Memory
//! Operations», 9.1.6). The guides' pseudocode preserves the other half, which is true without ECC. LLVM
//! (`GCNSubtarget::d16PreservesUnusedBits`) expects no preserved half with ECC, nor on gfx90a and later without it,
//! where it was tried (review D112635). RDNA's guides have no such note, and LLVM expects that the other half is preserved.

use super::{operation::Handler, small::Small};
use ferrowave_isa::run::{Load, Store};

/// Makes the handlers for one kind of memory.
pub(super) trait Transfers {
    /// Loads `N` dwords.
    fn load<const N: usize>(&self) -> Handler;
    /// Stores `N` dwords.
    fn store<const N: usize>(&self) -> Handler;
    /// Loads a `T`; `f` makes the register's new value from it and the old value.
    fn load_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(T, u32) -> u32 + Copy + 'static;
    /// Stores `f` of the register's value.
    fn store_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(u32) -> T + Copy + 'static;
}

/// The lower half of a register is loaded, the upper half stays.
fn low(old: u32, new: u16) -> u32 {
    old & 0xffff_0000 | u32::from(new)
}

/// The upper half of a register is loaded, the lower half stays.
fn high(old: u32, new: u16) -> u32 {
    old & 0xffff | u32::from(new) << 16
}

/// The handler of a D16 load that keeps the other half of its register.
fn load_half(load: Load, t: impl Transfers) -> Handler {
    match load {
        Load::U8 => t.load_small(|x: u8, old| low(old, x.into())),
        Load::I8Low => t.load_small(|x: i8, old| low(old, x as u16)),
        Load::U16 => t.load_small(|x: u16, old| low(old, x)),
        Load::U8High => t.load_small(|x: u8, old| high(old, x.into())),
        Load::I8High => t.load_small(|x: i8, old| high(old, x as u16)),
        Load::U16High => t.load_small(|x: u16, old| high(old, x)),
        // No other load keeps anything.
        Load::B32 | Load::B64 | Load::B96 | Load::B128 | Load::I8 | Load::I16 => {
            self::load(load, false, t)
        }
    }
}

/// The handler of a load. `keeps` says that a D16 load keeps the other half of its register.
pub(super) fn load(load: Load, keeps: bool, t: impl Transfers) -> Handler {
    if keeps {
        return load_half(load, t);
    }
    match load {
        Load::B32 => t.load::<1>(),
        Load::B64 => t.load::<2>(),
        Load::B96 => t.load::<3>(),
        Load::B128 => t.load::<4>(),
        Load::U8 => t.load_small(|x: u8, _| u32::from(x)),
        Load::I8 => t.load_small(|x: i8, _| x as u32),
        Load::U16 => t.load_small(|x: u16, _| u32::from(x)),
        Load::I16 => t.load_small(|x: i16, _| x as u32),
        Load::U8High => t.load_small(|x: u8, _| u32::from(x) << 16),
        Load::I8Low => t.load_small(|x: i8, _| u32::from(x as u16)),
        Load::I8High => t.load_small(|x: i8, _| u32::from(x as u16) << 16),
        Load::U16High => t.load_small(|x: u16, _| u32::from(x) << 16),
    }
}

/// The handler of a store.
pub(super) fn store(store: Store, t: impl Transfers) -> Handler {
    match store {
        Store::B32 => t.store::<1>(),
        Store::B64 => t.store::<2>(),
        Store::B96 => t.store::<3>(),
        Store::B128 => t.store::<4>(),
        Store::B8 => t.store_small(|x| x as u8),
        Store::B8High => t.store_small(|x| (x >> 16) as u8),
        Store::B16 => t.store_small(|x| x as u16),
        Store::B16High => t.store_small(|x| (x >> 16) as u16),
    }
}
