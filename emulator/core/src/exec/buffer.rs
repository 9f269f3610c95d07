//! Untyped buffer operations: MUBUF without its format instructions, which are in [`typed`].

mod format;
mod target;
pub(super) mod typed;

use self::target::{IDXEN, OFFEN, RDNA, TFE, Target};
use super::{
    Context, Wave,
    access::{Access, clear, clear_small},
    atomic,
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    small::Small,
    split,
    transfer::Transfers,
};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::MemoryControl;

/// `control[2]` of a buffer instruction.
pub(crate) fn address_control(gpu: Gpu, memory: &MemoryControl) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    let rdna = gpu.family() == Family::Rdna;
    bit(memory.idxen, IDXEN) | bit(memory.offen, OFFEN) | bit(memory.tfe, TFE) | bit(rdna, RDNA)
}

/// Writes the status word of an access that touched only existing memory.
#[inline(always)]
fn put_status<const C: usize>(w: &mut Wave<C>, o: &Operation, register: u16) {
    if o.control[2] & TFE != 0 {
        let exec = w.active();
        clear(w, register, 1, exec);
    }
}

/// The handler of an atomic operation.
pub(super) fn atomic<const WIDE: bool, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(atomically::<WIDE, C>)
}

/// Makes handlers of buffer operations.
pub(super) struct Buffers<const C: usize>(pub(super) Binder<C>);

impl<const C: usize> Transfers for Buffers<C> {
    fn load<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                if w.active() == 0 {
                    return Flow::Next;
                }
                let target = Target::new(w, o);
                let bytes = 4 * N as u32;
                let Some(inside) = target.in_one_piece(bytes) else {
                    return load_parts::<N, C>(w, c, o, &target);
                };
                match target.access(c, o, inside, 0, bytes, false) {
                    Ok(access) => access.load::<N>(w, o.dst),
                    Err(flow) => return flow,
                }
                clear(w, o.dst, N as u16, target.exec & !inside);
                put_status(w, o, o.dst + N as u16);
                Flow::Next
            },
        )
    }

    fn store<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                if w.active() == 0 {
                    return Flow::Next;
                }
                let target = Target::new(w, o);
                let bytes = 4 * N as u32;
                let Some(inside) = target.in_one_piece(bytes) else {
                    return store_parts::<N, C>(w, c, o, &target);
                };
                match target.access(c, o, inside, 0, bytes, true) {
                    Ok(access) => access.store::<N>(w, o.src[1].register),
                    Err(flow) => return flow,
                }
                Flow::Next
            },
        )
    }

    fn load_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(T, u32) -> u32 + Copy + 'static,
    {
        self.0.bind(
            #[inline(always)]
            move |w, c, o| {
                let target = Target::new(w, o);
                let bytes = size_of::<T>() as u32;
                let inside = target.inside(0, bytes);
                if target.crosses(bytes) {
                    let byte = |at| target.access(c, o, inside, at, 1, false);
                    let flow = split::load_small(w, o.dst, byte, f);
                    if flow != Flow::Next {
                        return flow;
                    }
                } else {
                    match target.access(c, o, inside, 0, bytes, false) {
                        Ok(access) => access.load_small::<T>(w, o.dst, f),
                        Err(flow) => return flow,
                    }
                }
                clear_small::<T, C>(w, o.dst, target.exec & !inside, f);
                put_status(w, o, o.dst + 1);
                Flow::Next
            },
        )
    }

    fn store_small<T, F>(&self, f: F) -> Handler
    where
        T: Small,
        F: Fn(u32) -> T + Copy + 'static,
    {
        self.0.bind(
            #[inline(always)]
            move |w, c, o| {
                let target = Target::new(w, o);
                let bytes = size_of::<T>() as u32;
                let inside = target.inside(0, bytes);
                if target.crosses(bytes) {
                    let byte = |at| target.access(c, o, inside, at, 1, true);
                    return split::store_small(w, o.src[1].register, byte, f);
                }
                match target.access(c, o, inside, 0, bytes, true) {
                    Ok(access) => access.store_small::<T>(w, o.src[1].register, f),
                    Err(flow) => return flow,
                }
                Flow::Next
            },
        )
    }
}

/// The accesses to `N` consecutive dwords, each with the lanes that are in range; all are checked.
fn parts<const N: usize, const C: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target<C>,
    write: bool,
) -> Result<Vec<Access<C>>, Flow> {
    (0..N as u64)
        .map(|part| {
            let inside = target.inside(4 * part, 4);
            target.access(c, o, inside, 4 * part, 4, write)
        })
        .collect()
}

/// Loads dword by dword: each is range-checked on its own.
#[inline(never)]
fn load_parts<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target<C>,
) -> Flow {
    if target.crosses(4) {
        let byte = |at| target.access(c, o, target.inside(at & !3, 4), at, 1, false);
        let flow = split::load::<N, C>(w, o.dst, target.exec, byte);
        if flow == Flow::Next {
            put_status(w, o, o.dst + N as u16);
        }
        return flow;
    }
    let accesses = match parts::<N, C>(c, o, target, false) {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    for (register, access) in (o.dst..).zip(accesses) {
        access.load::<1>(w, register);
        clear(w, register, 1, target.exec & !access.exec);
    }
    put_status(w, o, o.dst + N as u16);
    Flow::Next
}

/// Stores dword by dword: each is range-checked on its own.
#[inline(never)]
fn store_parts<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target<C>,
) -> Flow {
    if target.crosses(4) {
        let byte = |at| target.access(c, o, target.inside(at & !3, 4), at, 1, true);
        return split::store::<N, C>(w, o.src[1].register, byte);
    }
    let accesses = match parts::<N, C>(c, o, target, true) {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    for (register, access) in (o.src[1].register..).zip(accesses) {
        access.store::<1>(w, register);
    }
    Flow::Next
}

/// An atomic operation is in range with all its bytes or not at all; out of range it returns 0.
fn atomically<const WIDE: bool, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let target = Target::new(w, o);
    let bytes = if WIDE { 8 } else { 4 };
    let inside = target.inside(0, bytes);
    let access = match target.access(c, o, inside, 0, bytes, true) {
        Ok(access) => access,
        Err(flow) => return flow,
    };
    let misaligned = atomic::on_lanes::<WIDE, C>(w, o, &access);
    if o.control[0] != 0 {
        clear(w, o.dst, 1 + u16::from(WIDE), target.exec & !inside);
    }
    atomic::finish(c, misaligned, bytes)
}
