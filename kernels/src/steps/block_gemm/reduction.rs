//! Adds the sums of several workgroups that share a tile.
//!
//! Each workgroup writes its sums to a slot of the workspace and takes a ticket. The one with the last ticket finds all
//! slots written, adds them in the order of k and updates C. No workgroup waits for another, so they need not run at
//! the same time. The order of the additions does not depend on which workgroup is last: the same input gives the same
//! bits.
//!
//! **Visibility.** The workgroups are of one GPU (LLVM's scope «agent»). Each wave waits until its stores have reached
//! the L2 that its workgroup's waves share. Once all have, one wave writes this L2 back and takes the ticket. In the last
//! workgroup, each wave invalidates its caches before it reads the slots.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{BlockGemm, BlockRow, Config};
use crate::{
    arch::{self, Workgroup},
    matrix::Multiply,
    tile::{
        element::Accumulator,
        lds::Barrier as _,
        length::{Array, Length},
        operand::{UNIT_BYTES, Unit},
    },
};
use core::sync::atomic::{AtomicU32, Ordering};

/// A sum.
type Sum<C> = <<C as Config>::Multiply as Multiply>::Sum;

impl<C: Config> BlockGemm<C> {
    /// Writes the sums to slot `own`. Returns true in the last of the `parts` workgroups that share the tile; its sums
    /// are then the total of the slots `slot(0)`, `slot(1)`, …, which are in the order of k.
    ///
    /// # Safety
    /// All threads of the workgroup call this. Each part is contributed by one workgroup of the launch, and
    /// the tile's counter is 0 before the launch.
    #[inline(always)]
    pub(in super::super) unsafe fn contribute(
        &mut self,
        tile: u32,
        parts: u32,
        own: u32,
        slot: impl Fn(u32) -> u32,
    ) -> bool {
        let (counter, address) = self.product.shared(tile);
        // SAFETY: the slot is this workgroup's, and of the size of its sums.
        unsafe { self.leave(address(own)) };
        // One wave's release does not wait for the stores of the others.
        arch::wait_for_stores();
        Workgroup.wait();
        let ticket = self.lds.cast::<u32>();
        if self.thread == 0 {
            // SAFETY: during the launch the counter is accessed by atomics only, and between the
            // barriers only this thread accesses LDS.
            unsafe { ticket.write(arch::release_and_count(counter)) };
        }
        Workgroup.wait();
        // SAFETY: the ticket was written before the barrier.
        let number = arch::readfirstlane(unsafe { ticket.read() });
        if number != parts - 1 {
            return false;
        }
        arch::acquire();
        self.sums = C::M::splat(C::N::splat(C::Multiply::ZERO));
        let mut part = 0;
        while part < parts {
            // SAFETY: all parts were written before their tickets were taken.
            unsafe { self.add(parts - part, |number| address(slot(part + number))) };
            part += Self::AT_ONCE as u32;
        }
        if self.thread == 0 {
            // For the next launch; all tickets of this one have been taken.
            // SAFETY: as above.
            unsafe { AtomicU32::from_ptr(counter) }.store(0, Ordering::Relaxed);
        }
        true
    }

    /// Units of a lane's sums of a block.
    const UNITS: usize = size_of::<<C::Multiply as Multiply>::Sums>() / UNIT_BYTES;

    /// Writes the sums to a slot: unit after unit, with those of neighbouring threads side by side.
    ///
    /// # Safety
    /// The slot has room for the tile's sums, and no other workgroup accesses it.
    #[inline(always)]
    unsafe fn leave(&self, slot: *mut u8) {
        let (thread, threads) = (self.thread as usize, self.threads());
        let slot = slot.cast::<Unit>().wrapping_add(thread);
        for i in 0..Self::M {
            for j in 0..Self::N {
                let sums = (&raw const self.sums[i][j]).cast::<Unit>();
                for unit in 0..Self::UNITS {
                    let number = (i * Self::N + j) * Self::UNITS + unit;
                    // SAFETY: the unit is one of the sums, and its destination is in the slot.
                    unsafe {
                        slot.add(number * threads)
                            .write(sums.add(unit).read_unaligned());
                    };
                }
            }
        }
    }

    /// Slots that are read before the first is added, so that they take the latency of memory together. Large tiles have many
    /// reads of one slot, and no registers for more.
    const AT_ONCE: usize = match Self::M * Self::N * Self::UNITS {
        1 => MOST_AT_ONCE,
        2..=4 => 4,
        5..=8 => 2,
        _ => 1,
    };

    /// Adds the sums in the first [`AT_ONCE`](Self::AT_ONCE) of the `left` slots `slot(0)`, `slot(1)`, …, not 0.
    ///
    /// # Safety
    /// Workgroups have [written](Self::leave) the slots.
    #[inline(always)]
    unsafe fn add(&mut self, left: u32, slot: impl Fn(u32) -> *mut u8) {
        let mut read = [self.sums; MOST_AT_ONCE];
        for number in 0..Self::AT_ONCE {
            // Without a branch: instead of a slot that does not exist, the last one is read again.
            // SAFETY: as the caller promises.
            read[number] = unsafe { self.read_slot(slot((number as u32).min(left - 1))) };
        }
        for number in 0..Self::AT_ONCE {
            if (number as u32) < left {
                for i in 0..Self::M {
                    for j in 0..Self::N {
                        let sums = (&raw mut self.sums[i][j]).cast::<Unit>();
                        let more = (&raw const read[number][i][j]).cast::<Unit>();
                        for unit in 0..Self::UNITS {
                            // SAFETY: the units are those of the sums.
                            unsafe {
                                match size_of::<Sum<C>>() {
                                    8 => add_run::<Sum<C>, 2>(sums.add(unit), more.add(unit)),
                                    _ => add_run::<Sum<C>, 4>(sums.add(unit), more.add(unit)),
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Reads the thread's sums in a slot.
    ///
    /// # Safety
    /// A workgroup has [written](Self::leave) the slot.
    #[inline(always)]
    unsafe fn read_slot(&self, slot: *const u8) -> Array<BlockRow<C>, C::M> {
        let (thread, threads) = (self.thread as usize, self.threads());
        let slot = slot.cast::<Unit>().wrapping_add(thread);
        let mut read = self.sums;
        for i in 0..Self::M {
            for j in 0..Self::N {
                let sums = (&raw mut read[i][j]).cast::<Unit>();
                for unit in 0..Self::UNITS {
                    let number = (i * Self::N + j) * Self::UNITS + unit;
                    // SAFETY: as in `leave`.
                    unsafe {
                        sums.add(unit)
                            .write_unaligned(slot.add(number * threads).read());
                    };
                }
            }
        }
        read
    }
}

/// The most slots that are read before the first is added.
const MOST_AT_ONCE: usize = 8;

/// Adds the `RUN` sums at `more` to those at `sums`.
///
/// # Safety
/// Both are readable, and those at `sums` are writable.
#[inline(always)]
unsafe fn add_run<S: Accumulator, const RUN: usize>(sums: *mut Unit, more: *const Unit) {
    let sums = sums.cast::<[S; RUN]>();
    // SAFETY: as the caller promises.
    unsafe {
        let more = more.cast::<[S; RUN]>().read();
        let mut run = sums.read();
        for i in 0..RUN {
            run[i] = run[i].add(more[i]);
        }
        sums.write(run);
    }
}
