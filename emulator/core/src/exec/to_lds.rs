//! Loads from memory directly to LDS.
//!
//! The load writes temporary registers; each lane's data then goes to LDS. Its address is the sum of `m0` (a multiple
//! of 4), the instruction's offset, and the lane number times 4. For three or four dwords it is times 16, and three
//! leave a gap (CDNA4 ISA guide, «Memory Buffer Load to LDS», 9.1.9, and flat «Addressing», 10.3; that the offset of
//! buffer instructions also applies to LDS is from LLVM's `llvm.amdgcn.raw.buffer.load.lds`). Bytes and halves take a
//! dword.
//!
//! Lanes whose data would be outside the workgroup's LDS are inactive, also for the load from memory (CDNA4 ISA guide,
//! «Clamping Rules», 9.1.9.1: the active mask is limited to threads with a legal LDS location).

use super::{
    Context, Space, Wave, access,
    array::array,
    lanes::{Binder, chunks},
    operation::{Extended, Flow, Operation},
    sdwa_dpp,
    simd::U,
    wave::{M0, TEMPORARIES},
};

/// First of the temporary registers for the data.
const PASSED: u16 = TEMPORARIES + 32;

/// How many bits of `m0` are an address: as many as the GPU's LDS needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// 64 KiB.
    Narrow,
    /// 160 KiB.
    Wide,
}

/// Turns a load to `registers` registers into a load to LDS.
pub(crate) fn extend<const C: usize>(
    b: Binder<C>,
    mut load: Operation,
    registers: u16,
    base: Base,
) -> Option<Operation> {
    let run = match registers {
        1 => b.bind(run::<1, C>),
        3 => b.bind(run::<3, C>),
        4 => b.bind(run::<4, C>),
        _ => return None,
    };
    load.dst = PASSED;
    let mut outer = sdwa_dpp::around(load, run);
    outer.detail = u8::from(base == Base::Wide);
    Some(outer)
}

#[inline(always)]
fn run<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let Some(Extended { inner, .. }) = o.extension.as_deref() else {
        return Flow::Next;
    };
    let bits = if o.detail == 0 { 0xfffc } else { 0x3_fffc };
    let start = (w.scalar(M0) & bits).wrapping_add(o.imm as u32);
    let apart = if N == 1 { 4 } else { 16 };
    let addresses =
        chunks(|chunk| U::from_array(array(|lane| (apart * (16 * chunk + lane)) as u32)));
    let exec = w.active();
    let near = access::in_lds(c, &addresses, start, exec, 4 * N as u32, true);
    w.set_active(near.exec);
    // SAFETY: bound for the same level as this function.
    let flow = unsafe { (inner.run)(w.any(), c, inner) };
    w.set_active(exec);
    if flow == Flow::Next && exec != 0 {
        access::tell(c, (Space::Lds, true), 4 * N as u32, 0, &near);
        near.store_some(w, PASSED, N);
    }
    flow
}
