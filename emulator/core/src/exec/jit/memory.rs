//! Executable memory for host code.

use memmap2::{Mmap, MmapOptions};

use super::assemble::Assembled;
use crate::exec::{Wave, access::RECENT, simd::U};
use crate::memory::Reach;

/// A region's code. Arguments: VGPRs, SGPRs, LDS, its bytes, constants, recent allocations
/// ([`Context::recent`](crate::exec::Context)). Returns the number of chunks that it has done.
type Function =
    unsafe extern "sysv64" fn(*mut u8, *const u32, *const u8, u32, *const U, *const Reach) -> u32;

/// Host code in executable memory.
#[derive(Debug)]
pub(super) struct Executable {
    memory: Mmap,
    pool: Vec<U>,
}

impl Executable {
    /// `None` where the system does not let programs make code.
    pub(super) fn new(assembled: Assembled) -> Option<Self> {
        let mut memory = MmapOptions::new()
            .len(assembled.code.len())
            .map_anon()
            .ok()?;
        memory.copy_from_slice(&assembled.code);
        Some(Executable {
            memory: memory.make_exec().ok()?,
            pool: assembled.pool,
        })
    }

    /// Runs the code on a wave. Returns the number of chunks that are done; the others are unchanged.
    ///
    /// # Safety
    /// The host must have the instructions of the level that the code was assembled for.
    #[inline]
    pub(super) unsafe fn run(
        &self,
        wave: &mut Wave,
        lds: &[u8],
        recent: &[Reach; RECENT],
    ) -> usize {
        // SAFETY: the memory holds a function of this type that `assemble` wrote.
        let function: Function = unsafe { std::mem::transmute(self.memory.as_ptr()) };
        let file = wave.vgprs.as_mut_ptr().cast();
        let lds_bytes = lds.len() as u32;
        // SAFETY: the code accesses registers of the file, scalar registers, bytes of LDS below `lds_bytes`, bytes of
        // the allocations, and its constants. The caller promises the host instructions.
        let done = unsafe {
            function(
                file,
                wave.sgprs.as_ptr(),
                lds.as_ptr(),
                lds_bytes,
                self.pool.as_ptr(),
                recent.as_ptr(),
            )
        };
        done as usize
    }
}
