//! Untyped buffer operations: MUBUF without its format instructions, which are in [`typed`].

mod target;
pub(super) mod typed;

use self::target::{GFX12, IDXEN, OFFEN, RDNA, TFE, Target};
use super::{
    Context, Space, Wave,
    access::{self, Access, clear},
    atomic,
    contiguous_access::ContiguousAccess,
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    split,
    transfer::{Data, Transfers},
};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::MemoryControl;

/// `control[2]` of a buffer instruction.
pub(crate) fn address_control(gpu: Gpu, memory: &MemoryControl) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    let rdna = gpu.family() == Family::Rdna;
    bit(memory.idxen, IDXEN)
        | bit(memory.offen, OFFEN)
        | bit(memory.tfe, TFE)
        | bit(rdna, RDNA)
        | bit(gpu.is_rdna4(), GFX12)
}

/// Writes the status word of an access that touched only existing memory.
#[inline(always)]
pub(super) fn put_status<const C: usize>(w: &mut Wave<C>, o: &Operation, register: u16) {
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

#[expect(
    clippy::redundant_closure,
    reason = "closures are inlined where the host's instructions are known; functions are called without them"
)]
impl<const C: usize> Transfers for Buffers<C> {
    fn load(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| load(w, c, o),
        )
    }

    fn store(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| store(w, c, o),
        )
    }

    fn load_dwords<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                let bytes = 4 * N as u32;
                // A local copy: the compiler knows its value now, but not once `c` has been passed on.
                let moves = c.moves;
                match target::near(w, c, o, bytes) {
                    Some(near) if access::is_in_reach(c, o, &near, bytes, false) => {
                        access::tell(c, (Space::Global, false), bytes, near.base, &near);
                        ContiguousAccess { moves, ..near }.load::<N>(w, o.dst);
                        Flow::Next
                    }
                    _ => c.cold_path(
                        w,
                        o,
                        #[inline(always)]
                        |w, c, o| load(w, c, o),
                    ),
                }
            },
        )
    }

    fn store_dwords<const N: usize>(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                let bytes = 4 * N as u32;
                // A local copy: the compiler knows its value now, but not once `c` has been passed on.
                let moves = c.moves;
                match target::near(w, c, o, bytes) {
                    Some(near) if access::is_in_reach(c, o, &near, bytes, true) => {
                        access::tell(c, (Space::Global, true), bytes, near.base, &near);
                        c.stored = true;
                        ContiguousAccess { moves, ..near }.store::<N>(w, o.src[1].register);
                        Flow::Next
                    }
                    _ => c.cold_path(
                        w,
                        o,
                        #[inline(always)]
                        |w, c, o| store(w, c, o),
                    ),
                }
            },
        )
    }
}

/// Loads any data for any lanes of any buffer.
#[inline(always)]
fn load<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    if w.active() == 0 {
        return Flow::Next;
    }
    let (target, data) = (Target::new(w, o), Data::of(o));
    let bytes = data.bytes();
    let inside = match data {
        Data::Dwords(count) => match target.in_one_piece(bytes) {
            Some(inside) => inside,
            None => return load_parts(w, c, o, &target, count),
        },
        Data::Small(_) => target.inside(0, bytes),
    };
    if target.crosses(bytes) {
        // Dwords are in one piece.
        let mut byte = |at| target.access(c, o, inside, at, 1, false);
        let flow = split::load(w, o.dst, data, inside, &mut byte);
        if flow != Flow::Next {
            return flow;
        }
    } else {
        match target.access(c, o, inside, 0, bytes, false) {
            Ok(access) => access.load(w, o.dst, data),
            Err(flow) => return flow,
        }
    }
    let outside = target.exec & !inside;
    match data {
        Data::Dwords(count) => clear(w, o.dst, count as u16, outside),
        Data::Small(small) => small.clear(w, o.dst, outside),
    }
    put_status(w, o, o.dst + data.registers());
    Flow::Next
}

/// Stores any data for any lanes of any buffer.
#[inline(always)]
fn store<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    if w.active() == 0 {
        return Flow::Next;
    }
    let (target, data) = (Target::new(w, o), Data::of(o));
    let (bytes, register) = (data.bytes(), o.src[1].register);
    let inside = match data {
        Data::Dwords(count) => match target.in_one_piece(bytes) {
            Some(inside) => inside,
            None => return store_parts(w, c, o, &target, count),
        },
        Data::Small(_) => target.inside(0, bytes),
    };
    if target.crosses(bytes) {
        let mut byte = |at| target.access(c, o, inside, at, 1, true);
        return split::store(w, register, data, &mut byte);
    }
    match target.access(c, o, inside, 0, bytes, true) {
        Ok(access) => access.store(w, register, data),
        Err(flow) => return flow,
    }
    Flow::Next
}

/// The accesses to consecutive dwords, each with the lanes that are in range; all are checked.
fn parts<const C: usize>(
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target<C>,
    count: usize,
    write: bool,
) -> Result<Vec<Access<C>>, Flow> {
    (0..count as u64)
        .map(|part| {
            let inside = target.inside(4 * part, 4);
            target.access(c, o, inside, 4 * part, 4, write)
        })
        .collect()
}

/// Loads dword by dword: each is range-checked on its own.
#[inline(never)]
fn load_parts<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target<C>,
    count: usize,
) -> Flow {
    if target.crosses(4) {
        let mut byte = |at| target.access(c, o, target.inside(at & !3, 4), at, 1, false);
        let flow = split::load(w, o.dst, Data::Dwords(count), target.exec, &mut byte);
        if flow == Flow::Next {
            put_status(w, o, o.dst + count as u16);
        }
        return flow;
    }
    let accesses = match parts(c, o, target, count, false) {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    for (register, access) in (o.dst..).zip(accesses) {
        access.load_dwords(w, register, 1);
        clear(w, register, 1, target.exec & !access.exec);
    }
    put_status(w, o, o.dst + count as u16);
    Flow::Next
}

/// Stores dword by dword: each is range-checked on its own.
#[inline(never)]
fn store_parts<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    target: &Target<C>,
    count: usize,
) -> Flow {
    let register = o.src[1].register;
    if target.crosses(4) {
        let mut byte = |at| target.access(c, o, target.inside(at & !3, 4), at, 1, true);
        return split::store(w, register, Data::Dwords(count), &mut byte);
    }
    let accesses = match parts(c, o, target, count, true) {
        Ok(accesses) => accesses,
        Err(flow) => return flow,
    };
    for (register, access) in (register..).zip(accesses) {
        access.store_dwords(w, register, 1);
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
    let misaligned = atomic::on_lanes::<WIDE, C>(w, o, c.memory, &access);
    if o.control[0] != 0 {
        clear(w, o.dst, 1 + u16::from(WIDE), target.exec & !inside);
    }
    atomic::finish(c, misaligned, bytes)
}
