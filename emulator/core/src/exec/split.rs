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
    transfer::{Data, Small},
    wave::Lanes,
};

/// The access to the lanes' bytes at a distance.
type Bytes<'a, const C: usize> = &'a mut dyn FnMut(u64) -> Result<Access<C>, Flow>;

/// Loads data per lane. For lanes of `exec` that the access of a byte excludes, that byte is 0.
#[cold]
pub(super) fn load<const C: usize>(
    w: &mut Wave<C>,
    first: u16,
    data: Data,
    exec: u64,
    byte: Bytes<'_, C>,
) -> Flow {
    let accesses: Result<Vec<_>, Flow> = (0..data.bytes().into()).map(byte).collect();
    let accesses = match accesses {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    let small = match data {
        Data::Small(small) => small,
        Data::Dwords(count) => {
            clear(w, first, count as u16, exec);
            for (at, access) in (0..).zip(accesses) {
                access.load_small(w, first + at / 4, Small::byte(8 * u32::from(at % 4)));
            }
            return Flow::Next;
        }
    };
    let mut values = Lanes::splat(0);
    for (at, access) in accesses.iter().enumerate() {
        access.each(|lane, address| {
            // SAFETY: the lane is active, so the byte was checked.
            let byte: u8 = unsafe { access.moves.read(address) };
            values.as_mut_array()[lane] |= u32::from(byte) << (8 * at);
        });
    }
    small.put(w, first, exec, &values.0);
    Flow::Next
}

/// Stores data per lane.
#[cold]
pub(super) fn store<const C: usize>(
    w: &Wave<C>,
    first: u16,
    data: Data,
    byte: Bytes<'_, C>,
) -> Flow {
    let start = match data {
        Data::Dwords(_) => 0,
        Data::Small(small) => small.shift,
    };
    for at in 0..data.bytes() {
        match byte(at.into()) {
            Ok(access) => access.store_small(w, first + at as u16 / 4, 1, start + 8 * (at % 4)),
            Err(flow) => return flow,
        }
    }
    Flow::Next
}
