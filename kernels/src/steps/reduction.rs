//! Adding up what several workgroups have summed up of one tile.
//!
//! Each leaves its sums in a slot of the workspace and takes a ticket. The one that takes the last ticket
//! finds all slots written, adds them up in the order of k and updates C. No workgroup waits for another, so that it
//! does not matter which workgroups run at the same time, and the order of the additions does not depend
//! on who came last: the same input gives the same bits.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::matrix::BlockGemm;
use crate::{
    arch::{self, Workgroup},
    blocks::Multiply,
    tile::{
        element::Accumulator,
        lds::Barrier as _,
        lds_layout::{Arrangement, UNIT_BYTES, Unit},
    },
};
use core::sync::atomic::{AtomicU32, Ordering, fence};

impl<
    T: Multiply<RUN>,
    R: Arrangement,
    const RUN: usize,
    const M: usize,
    const N: usize,
    const A_VECS: usize,
    const B_VECS: usize,
> BlockGemm<T, R, RUN, M, N, A_VECS, B_VECS>
{
    /// Leaves the sums in slot `own`. Whether all of the `parts` workgroups that share the tile have now left theirs,
    /// in the slots `slot(0)`, `slot(1)`, …, in the order of k: then the sums here are those of all.
    ///
    /// # Safety
    /// All threads of the workgroup call this; each of the parts is left by one workgroup of the launch,
    /// and the tile's counter was 0 before it.
    #[inline(always)]
    pub(super) unsafe fn contribute(
        &mut self,
        tile: u32,
        parts: u32,
        own: u32,
        slot: impl Fn(u32) -> u32,
    ) -> bool {
        let (counter, address) = self.product().shared(tile);
        // SAFETY: the slot is this workgroup's, and of the size of its sums.
        unsafe { self.leave(address(own)) };
        // To all workgroups: the caches of other XCDs don't see this one's.
        fence(Ordering::Release);
        Workgroup.wait();
        let ticket = self.lds().cast::<u32>();
        if self.thread() == 0 {
            // SAFETY: the counter is accessed in this way only while the launch runs, and LDS by this
            // thread only between the barriers.
            unsafe {
                let number = AtomicU32::from_ptr(counter).fetch_add(1, Ordering::Relaxed);
                ticket.write(number);
            }
        }
        Workgroup.wait();
        // SAFETY: it was written before the barrier.
        let number = arch::readfirstlane(unsafe { ticket.read() });
        if number != parts - 1 {
            return false;
        }
        fence(Ordering::Acquire);
        self.clear();
        for part in 0..parts {
            // SAFETY: all parts were left before their tickets were taken.
            unsafe { self.add(address(slot(part))) };
        }
        if self.thread() == 0 {
            // For the next launch; none takes another ticket in this one.
            // SAFETY: as above.
            unsafe { AtomicU32::from_ptr(counter) }.store(0, Ordering::Relaxed);
        }
        true
    }

    /// Units of a lane's sums of a block.
    const UNITS: usize = size_of::<T::Sums>() / UNIT_BYTES;

    /// Writes the sums to a slot: unit after unit, those of neighbouring threads next to each other.
    ///
    /// # Safety
    /// The slot has room for the tile's sums, and no other workgroup accesses it.
    #[inline(always)]
    unsafe fn leave(&self, slot: *mut u8) {
        let (thread, threads) = (self.thread() as usize, self.threads());
        let slot = slot.cast::<Unit>().wrapping_add(thread);
        for i in 0..M {
            for j in 0..N {
                let sums = (&raw const self.sums.blocks[i][j]).cast::<Unit>();
                for unit in 0..Self::UNITS {
                    let number = (i * N + j) * Self::UNITS + unit;
                    // SAFETY: the unit is one of the sums, and its place is in the slot.
                    unsafe {
                        slot.add(number * threads)
                            .write(sums.add(unit).read_unaligned());
                    };
                }
            }
        }
    }

    /// Adds the sums in a slot.
    ///
    /// # Safety
    /// A workgroup has left them there.
    #[inline(always)]
    unsafe fn add(&mut self, slot: *const u8) {
        let (thread, threads) = (self.thread() as usize, self.threads());
        let slot = slot.cast::<Unit>().wrapping_add(thread);
        for i in 0..M {
            for j in 0..N {
                let sums = (&raw mut self.sums.blocks[i][j]).cast::<[T::Sum; RUN]>();
                for unit in 0..Self::UNITS {
                    let number = (i * N + j) * Self::UNITS + unit;
                    // SAFETY: as in `leave`; a unit is RUN sums.
                    unsafe {
                        let left = slot.add(number * threads).cast::<[T::Sum; RUN]>().read();
                        let mut run = sums.add(unit).read();
                        for k in 0..RUN {
                            run[k] = run[k].add(left[k]);
                        }
                        sums.add(unit).write(run);
                    }
                }
            }
        }
    }
}
