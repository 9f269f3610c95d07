//! Accesses to private memory that cross a dword boundary. Private memory interleaves lanes by dwords, so such data is
//! not contiguous and moves byte by byte.
//!
//! Compilers emit these accesses since LLVM knows that all of GFX9 supports them (`FeatureUnalignedScratchAccess`, pull
//! request 110219): in scratch and flat instructions and through swizzled buffers.
//!
//! The parameter `byte` gives the access to the lanes' bytes at a distance from their offsets.

use super::{
    Wave,
    access::{Access, clear},
    operation::Flow,
    small::Small,
};

/// Loads `N` dwords per lane. For lanes of `exec` that the access of a byte excludes, that byte is 0.
#[cold]
pub(super) fn load<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    first: u16,
    exec: u64,
    byte: impl FnMut(u64) -> Result<Access<C>, Flow>,
) -> Flow {
    let accesses: Result<Vec<_>, Flow> = (0..4 * N as u64).map(byte).collect();
    let accesses = match accesses {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    clear(w, first, N as u16, exec);
    for (at, access) in (0..).zip(accesses) {
        access.load_small(w, first + at / 4, |byte: u8, old| {
            old | u32::from(byte) << (8 * (at % 4))
        });
    }
    Flow::Next
}

/// Stores `N` dwords per lane.
#[cold]
pub(super) fn store<const N: usize, const C: usize>(
    w: &Wave<C>,
    first: u16,
    mut byte: impl FnMut(u64) -> Result<Access<C>, Flow>,
) -> Flow {
    for at in 0..4 * N as u16 {
        match byte(at.into()) {
            Ok(access) => {
                access.store_small(w, first + at / 4, |x| (x >> (8 * (at % 4))) as u8);
            }
            Err(flow) => return flow,
        }
    }
    Flow::Next
}

/// Loads 16 bits per lane.
#[cold]
pub(super) fn load_small<T: Small, const C: usize>(
    w: &mut Wave<C>,
    register: u16,
    mut byte: impl FnMut(u64) -> Result<Access<C>, Flow>,
    f: impl Fn(T, u32) -> u32,
) -> Flow {
    let (low, high) = match (byte(0), byte(1)) {
        (Ok(low), Ok(high)) => (low, high),
        (Err(flow), _) | (_, Err(flow)) => return flow,
    };
    low.each(|lane, address| {
        // SAFETY: the lane is active, so both bytes were checked.
        let bytes = unsafe { [low.moves.read(address), low.moves.read(high.lane(lane))] };
        let slot = &mut w.lanes_mut(register).as_mut_array()[lane];
        *slot = f(T::from_half(u16::from_le_bytes(bytes)), *slot);
    });
    Flow::Next
}

/// Stores 16 bits per lane.
#[cold]
pub(super) fn store_small<T: Small, const C: usize>(
    w: &Wave<C>,
    register: u16,
    mut byte: impl FnMut(u64) -> Result<Access<C>, Flow>,
    f: impl Fn(u32) -> T,
) -> Flow {
    for at in 0..2 {
        match byte(at) {
            Ok(access) => {
                access.store_small(w, register, |x| (f(x).to_half() >> (8 * at)) as u8);
            }
            Err(flow) => return flow,
        }
    }
    Flow::Next
}
