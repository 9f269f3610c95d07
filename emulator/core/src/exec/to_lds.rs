//! Loads from memory straight to LDS.
//!
//! The load puts its data in temporary registers, from where each lane's goes to LDS: to `m0` (a multiple of 4), the
//! instruction's offset and the lane's number times 4, or times 16 for three or four dwords, of which three leave a
//! gap (CDNA4 ISA guide, «Memory Buffer Load to LDS», 9.1.9, and flat «Addressing», 10.3; that buffer instructions'
//! offset counts for LDS too is from LLVM's `llvm.amdgcn.raw.buffer.load.lds`). Bytes and halves take a dword.
//!
//! Lanes whose data would leave the workgroup's LDS take no part, in the load from memory neither (CDNA4 ISA guide,
//! «Clamping Rules», 9.1.9.1: the active mask is limited to threads with a legal LDS location).

use super::{
    Context, Space, Wave, access,
    lanes::{Binder, chunks},
    operation::{Flow, Operation},
    sdwa_dpp::{self, Extended},
    simd::U,
    wave::{M0, TEMPORARIES},
};

/// First of the registers that the data goes through.
const PASSED: u16 = TEMPORARIES + 32;

/// Bits of `m0` that are an address: as many as the LDS of the GPU needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// 64 KiB.
    Narrow,
    /// 160 KiB.
    Wide,
}

/// Makes a load to `registers` registers one to LDS.
pub(crate) fn extend(
    b: Binder,
    mut load: Operation,
    registers: u16,
    base: Base,
) -> Option<Operation> {
    let run = match registers {
        1 => b.bind(run::<1>),
        3 => b.bind(run::<3>),
        4 => b.bind(run::<4>),
        _ => return None,
    };
    load.dst = PASSED;
    let mut outer = sdwa_dpp::around(load, run);
    outer.detail = u8::from(base == Base::Wide);
    Some(outer)
}

#[inline(always)]
fn run<const N: usize>(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let Some(Extended { inner, .. }) = o.extension.as_deref() else {
        return Flow::Next;
    };
    let bits = if o.detail == 0 { 0xfffc } else { 0x3_fffc };
    let start = (w.scalar(M0) & bits).wrapping_add(o.imm as u32);
    let apart = if N == 1 { 4 } else { 16 };
    let addresses = chunks(|chunk| {
        U::from_array(std::array::from_fn(|lane| {
            (apart * (16 * chunk + lane)) as u32
        }))
    });
    let exec = w.exec;
    let near = access::in_lds(c, &addresses, start, exec, 4 * N as u32, true);
    w.exec = near.exec;
    // SAFETY: bound for the same level as this function.
    let flow = unsafe { (inner.run)(w, c, inner) };
    w.exec = exec;
    if flow == Flow::Next && exec != 0 {
        access::tell(c, (Space::Lds, true), 4 * N as u32, 0, &near);
        near.store_some::<N>(w, PASSED);
    }
    flow
}
