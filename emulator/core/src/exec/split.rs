//! Private memory is interleaved between lanes by dwords: data that crosses from one into the next is not in one piece, and
//! goes byte by byte. Compilers access it so since they know that all of GFX9 can (LLVM's `FeatureUnalignedScratchAccess`,
//! pull request 110219), by scratch and flat instructions and through swizzled buffers.
//!
//! `byte` gives the lanes' bytes that many behind their offsets.

use super::{
    Wave,
    access::{Access, clear},
    operation::Flow,
    small::Small,
};

/// Loads `N` dwords a lane; of lanes in `exec` that a byte's access leaves out, that byte is 0.
#[cold]
pub(super) fn load<const N: usize>(
    w: &mut Wave,
    first: u16,
    exec: u64,
    byte: impl FnMut(u64) -> Result<Access, Flow>,
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

/// Stores `N` dwords a lane.
#[cold]
pub(super) fn store<const N: usize>(
    w: &Wave,
    first: u16,
    mut byte: impl FnMut(u64) -> Result<Access, Flow>,
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

/// Loads a half a lane.
#[cold]
pub(super) fn load_small<T: Small>(
    w: &mut Wave,
    register: u16,
    mut byte: impl FnMut(u64) -> Result<Access, Flow>,
    f: impl Fn(T) -> u32,
) -> Flow {
    let (low, high) = match (byte(0), byte(1)) {
        (Ok(low), Ok(high)) => (low, high),
        (Err(flow), _) | (_, Err(flow)) => return flow,
    };
    low.each(|lane, address| {
        // SAFETY: the lane is active, so that both bytes were checked.
        let bytes = unsafe { [low.moves.read(address), low.moves.read(high.lane(lane))] };
        w.lanes_mut(register).as_mut_array()[lane] = f(T::from_half(u16::from_le_bytes(bytes)));
    });
    Flow::Next
}

/// Stores a half a lane.
#[cold]
pub(super) fn store_small<T: Small>(
    w: &Wave,
    register: u16,
    mut byte: impl FnMut(u64) -> Result<Access, Flow>,
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
