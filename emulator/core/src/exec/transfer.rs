//! Loads and stores: one list of them for global, flat, scratch, buffer and LDS instructions.
//!
//! A D16 load fills one half of its register and zeroes the other, because the GPUs have SRAM ECC: «When ECC is enabled
//! 16-bit memory loads write the full 32-bit VGPR. Unused bits are set to zero» (CDNA4 ISA guide, «16-bit Memory
//! Operations», 9.1.6). The guides' pseudocode preserves the other half, which is true without ECC. LLVM
//! (`GCNSubtarget::d16PreservesUnusedBits`) expects no preserved half with ECC, nor on gfx90a and later without it,
//! where it was tried (review D112635). RDNA's guides have no such note, and LLVM expects that the other half is preserved.

use std::simd::prelude::*;

use super::{
    Wave,
    operation::{Handler, Operation},
    simd::{CHUNKS, U, chunk_mask},
    wave::Lanes,
};
use ferrowave_isa::run::{Load, Store};

/// Makes the handlers for one kind of memory. What they move is in the operation's detail ([`Data`]).
pub(super) trait Transfers {
    /// Loads of any data.
    fn load(&self) -> Handler;
    /// Stores of any data.
    fn store(&self) -> Handler;
    /// Loads of `N` dwords, where the kind of memory has a faster handler for them.
    fn load_dwords<const N: usize>(&self) -> Handler {
        self.load()
    }
    /// Stores of `N` dwords.
    fn store_dwords<const N: usize>(&self) -> Handler {
        self.store()
    }
}

/// What a load or store moves for each lane: one to four dwords, or a byte or a half in some bits of a register.
///
/// Handlers get it when they run, so that there is one for all kinds of data; a handler for each kind was a quarter of
/// this crate's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    Dwords(usize),
    Small(Small),
}

/// A byte or a half in some bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Small {
    /// 1 or 2.
    pub(super) bytes: u32,
    /// Whether it is sign-extended.
    signed: bool,
    /// The place of its lowest bit in the register.
    pub(super) shift: u32,
    /// The bits of the register that it is written to, before they are shifted.
    mask: u32,
    /// The bits of the register that stay.
    kept: u32,
}

/// Bits of [`Data::detail`]. Without `SMALL`, the number of dwords is in the lowest three.
const SMALL: u8 = 0x80;
const TWO_BYTES: u8 = 1;
const SIGNED: u8 = 2;
const HIGH: u8 = 4;
/// The data fills a half of its register.
const HALF: u8 = 8;
/// The other half stays.
const KEEPS: u8 = 16;

impl Data {
    /// What an operation moves.
    #[inline(always)]
    pub(super) fn of(o: &Operation) -> Self {
        let detail = o.detail;
        if detail & SMALL == 0 {
            return Data::Dwords(usize::from(detail & 7));
        }
        let (shift, mask) = match detail & (HALF | HIGH) {
            0 => (0, !0),
            HALF => (0, 0xffff),
            _ => (16, 0xffff),
        };
        let kept = match detail & KEEPS != 0 {
            true => !(mask << shift),
            false => 0,
        };
        Data::Small(Small {
            bytes: 1 + u32::from(detail & TWO_BYTES),
            signed: detail & SIGNED != 0,
            shift,
            mask,
            kept,
        })
    }

    /// Bytes in memory.
    #[inline(always)]
    pub(super) fn bytes(self) -> u32 {
        match self {
            Data::Dwords(count) => 4 * count as u32,
            Data::Small(small) => small.bytes,
        }
    }

    /// Registers.
    #[inline(always)]
    pub(super) fn registers(self) -> u16 {
        match self {
            Data::Dwords(count) => count as u16,
            Data::Small(_) => 1,
        }
    }
}

impl Small {
    /// A byte at a bit of a register whose other bits stay.
    pub(super) fn byte(shift: u32) -> Self {
        Small {
            bytes: 1,
            signed: false,
            shift,
            mask: 0xff,
            kept: !(0xff << shift),
        }
    }

    /// A byte or a half in the upper half of a register, the lower half of which stays.
    #[cfg(test)]
    pub(super) fn high_half(bytes: u32) -> Self {
        Small {
            bytes,
            signed: false,
            shift: 16,
            mask: 0xffff,
            kept: 0xffff,
        }
    }

    /// Writes zero-extended values to the lanes of `mask`.
    #[inline(always)]
    pub(super) fn put<const C: usize>(
        self,
        w: &mut Wave<C>,
        register: u16,
        mask: u64,
        values: &[U; CHUNKS],
    ) {
        let sign = match self.signed {
            true => Simd::splat(32 - 8 * self.bytes as i32),
            false => Simd::splat(0),
        };
        for (chunk, lanes) in w
            .lanes_mut(register)
            .chunks_mut::<C>()
            .iter_mut()
            .enumerate()
        {
            let value = (values[chunk].cast::<i32>() << sign) >> sign;
            let value = (value.cast::<u32>() & U::splat(self.mask)) << U::splat(self.shift);
            let new = value | *lanes & U::splat(self.kept);
            *lanes = chunk_mask(mask, chunk).select(new, *lanes);
        }
    }

    /// What lanes of `mask` get that are out of range of memory.
    #[inline(always)]
    pub(super) fn clear<const C: usize>(self, w: &mut Wave<C>, register: u16, mask: u64) {
        if mask != 0 {
            self.put(w, register, mask, &Lanes::splat(0).0);
        }
    }
}

/// The handler of a load, and its detail. `keeps` says that a D16 load keeps the other half of its register.
pub(super) fn load(load: Load, keeps: bool, t: impl Transfers) -> (Handler, u8) {
    let half = if keeps { HALF | KEEPS } else { HALF };
    let small = match load {
        Load::B32 => return (t.load_dwords::<1>(), 1),
        Load::B64 => return (t.load_dwords::<2>(), 2),
        Load::B96 => return (t.load_dwords::<3>(), 3),
        Load::B128 => return (t.load_dwords::<4>(), 4),
        // Only D16 loads keep a half; of these, U8 and U16 fill the lower one.
        Load::U8 if keeps => half,
        Load::U16 if keeps => half | TWO_BYTES,
        Load::U8 => 0,
        Load::I8 => SIGNED,
        Load::U16 => TWO_BYTES,
        Load::I16 => TWO_BYTES | SIGNED,
        Load::U8High => half | HIGH,
        Load::I8Low => half | SIGNED,
        Load::I8High => half | SIGNED | HIGH,
        Load::U16High => half | TWO_BYTES | HIGH,
    };
    (t.load(), SMALL | small)
}

/// The handler of a store, and its detail.
pub(super) fn store(store: Store, t: impl Transfers) -> (Handler, u8) {
    let small = match store {
        Store::B32 => return (t.store_dwords::<1>(), 1),
        Store::B64 => return (t.store_dwords::<2>(), 2),
        Store::B96 => return (t.store_dwords::<3>(), 3),
        Store::B128 => return (t.store_dwords::<4>(), 4),
        Store::B8 => 0,
        Store::B8High => HALF | HIGH,
        Store::B16 => TWO_BYTES,
        Store::B16High => HALF | HIGH | TWO_BYTES,
    };
    (t.store(), SMALL | small)
}
