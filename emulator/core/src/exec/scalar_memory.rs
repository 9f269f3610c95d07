//! Scalar memory: SMEM.

use super::{
    Context, FaultKind, Wave,
    access::record_scalar,
    array::array,
    atomic::{self, from_detail},
    lanes::Binder,
    operation::{Flow, Handler, Operation, SourceKind},
};
use ferrowave_gpu::{Gpu, Product, Specifications};
use ferrowave_isa::{Instruction, run::ScalarMemory};

/// The handler of a scalar memory operation.
pub(super) fn handler<const C: usize>(b: Binder<C>, gpu: Gpu, op: ScalarMemory) -> Handler {
    match op {
        ScalarMemory::s_load_dword => b.bind(load::<1, C>),
        ScalarMemory::s_load_dwordx2 => b.bind(load::<2, C>),
        ScalarMemory::s_load_dwordx4 => b.bind(load::<4, C>),
        ScalarMemory::s_load_dwordx8 => b.bind(load::<8, C>),
        ScalarMemory::s_load_dwordx16 => b.bind(load::<16, C>),
        ScalarMemory::s_buffer_load_dword => b.bind(buffer_load::<1, C>),
        ScalarMemory::s_buffer_load_dwordx2 => b.bind(buffer_load::<2, C>),
        ScalarMemory::s_buffer_load_dwordx4 => b.bind(buffer_load::<4, C>),
        ScalarMemory::s_buffer_load_dwordx8 => b.bind(buffer_load::<8, C>),
        ScalarMemory::s_buffer_load_dwordx16 => b.bind(buffer_load::<16, C>),
        ScalarMemory::s_load_b96 => b.bind(load::<3, C>),
        ScalarMemory::s_buffer_load_b96 => b.bind(buffer_load::<3, C>),
        ScalarMemory::s_load_u8 => b.bind(small_load::<false, 1, false, C>),
        ScalarMemory::s_load_i8 => b.bind(small_load::<false, 1, true, C>),
        ScalarMemory::s_load_u16 => b.bind(small_load::<false, 2, false, C>),
        ScalarMemory::s_load_i16 => b.bind(small_load::<false, 2, true, C>),
        ScalarMemory::s_buffer_load_u8 => b.bind(small_load::<true, 1, false, C>),
        ScalarMemory::s_buffer_load_i8 => b.bind(small_load::<true, 1, true, C>),
        ScalarMemory::s_buffer_load_u16 => b.bind(small_load::<true, 2, false, C>),
        ScalarMemory::s_buffer_load_i16 => b.bind(small_load::<true, 2, true, C>),
        ScalarMemory::s_store_dword => b.bind(store::<1, C>),
        ScalarMemory::s_store_dwordx2 => b.bind(store::<2, C>),
        ScalarMemory::s_store_dwordx4 => b.bind(store::<4, C>),
        ScalarMemory::s_buffer_store_dword => b.bind(buffer_store::<1, C>),
        ScalarMemory::s_buffer_store_dwordx2 => b.bind(buffer_store::<2, C>),
        ScalarMemory::s_buffer_store_dwordx4 => b.bind(buffer_store::<4, C>),
        ScalarMemory::s_scratch_load_dword => b.bind(scratch_load::<1, C>),
        ScalarMemory::s_scratch_load_dwordx2 => b.bind(scratch_load::<2, C>),
        ScalarMemory::s_scratch_load_dwordx4 => b.bind(scratch_load::<4, C>),
        ScalarMemory::s_scratch_store_dword => b.bind(scratch_store::<1, C>),
        ScalarMemory::s_scratch_store_dwordx2 => b.bind(scratch_store::<2, C>),
        ScalarMemory::s_scratch_store_dwordx4 => b.bind(scratch_store::<4, C>),
        ScalarMemory::s_memrealtime => b.bind(time::<100, C>),
        // Only CDNA has it. All products of one of its GPUs have the same clock.
        ScalarMemory::s_memtime => match gpu {
            Gpu::Gfx908 => b.bind(time::<{ mhz(Product::Mi100) }, C>),
            Gpu::Gfx90a => b.bind(time::<{ mhz(Product::Mi210) }, C>),
            Gpu::Gfx942 => b.bind(time::<{ mhz(Product::Mi300x) }, C>),
            _ => b.bind(time::<{ mhz(Product::Mi355x) }, C>),
        },
    }
}

/// The engine clock that HIP reports for a product, so that programs can tell time by both.
const fn mhz(product: Product) -> u64 {
    Specifications::of(product).clock_mhz as u64
}

/// The host's clock as a counter at `MHZ`.
fn time<const MHZ: u64, const C: usize>(
    w: &mut Wave<C>,
    _: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let now = nanoseconds();
    w.set_scalar_pair(o.dst, now / 1000 * MHZ + now % 1000 * MHZ / 1000);
    Flow::Next
}

/// The host's clock.
pub(super) fn nanoseconds() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    time.map_or(0, |time| time.as_nanos() as u64)
}

/// The handler of an atomic operation; its first source is a buffer resource or an address.
pub(super) fn atomic<const WIDE: bool, const C: usize>(b: Binder<C>, i: &Instruction) -> Handler {
    match i.src[0].bits == 128 {
        false => b.bind(atomically::<false, WIDE, C>),
        true => b.bind(atomically::<true, WIDE, C>),
    }
}

/// The immediate and the register offset, in bytes.
#[inline(always)]
fn offset<const C: usize>(w: &Wave<C>, o: &Operation) -> u64 {
    (o.imm as u64).wrapping_add(u64::from(w.read32(&o.src[1])))
}

/// Base plus offsets; the lowest two bits of both are ignored.
#[inline(always)]
fn address<const C: usize>(w: &Wave<C>, o: &Operation) -> u64 {
    let base = w.read64(&o.src[0]) & !3;
    base.wrapping_add(offset(w, o) & !3)
}

/// As [`address`], with a register offset in units of 64 bytes (Vega ISA guide, «S_SCRATCH_LOAD»).
fn scratch_address<const C: usize>(w: &Wave<C>, o: &Operation) -> u64 {
    let base = w.read64(&o.src[0]) & !3;
    let units = match o.src[1].kind {
        SourceKind::None => 0,
        _ => u64::from(w.read32(&o.src[1])),
    };
    let offset = (o.imm as u64).wrapping_add(64 * units);
    base.wrapping_add(offset & !3)
}

/// Checks an access of the scalar unit.
#[inline(always)]
fn check(c: &mut Context<'_>, address: u64, bytes: u32, write: bool) -> Flow {
    c.stored |= write;
    let end = address.wrapping_add(u64::from(bytes));
    if c.memory.allows(address, end, write) {
        if c.watched {
            record_scalar(c, write, bytes, address);
        }
        return Flow::Next;
    }
    c.fail(FaultKind::Memory {
        address,
        bytes,
        write,
        lane: None,
        lanes: 0,
    })
}

#[inline(always)]
fn load<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    load_from::<N, C>(w, c, o, address(w, o))
}

fn scratch_load<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    load_from::<N, C>(w, c, o, scratch_address(w, o))
}

#[inline(always)]
fn load_from<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    address: u64,
) -> Flow {
    match check(c, address, 4 * N as u32, false) {
        Flow::Next => {}
        flow => return flow,
    }
    // SAFETY: the range was just checked.
    let data: [u32; N] = unsafe { c.moves.read(address) };
    for (index, value) in data.into_iter().enumerate() {
        w.set_scalar(o.dst + index as u16, value);
    }
    Flow::Next
}

#[inline(always)]
fn store<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    store_to::<N, C>(w, c, o, address(w, o))
}

fn scratch_store<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    store_to::<N, C>(w, c, o, scratch_address(w, o))
}

fn store_to<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    address: u64,
) -> Flow {
    match check(c, address, 4 * N as u32, true) {
        Flow::Next => {}
        flow => return flow,
    }
    let data: [u32; N] = array(|i| w.scalar(o.src[2].register + i as u16));
    // SAFETY: the range was just checked.
    unsafe { c.moves.write(address, data) };
    Flow::Next
}

/// Base and length in bytes of a buffer resource; the scalar unit does not swizzle.
#[inline(always)]
fn buffer<const C: usize>(w: &Wave<C>, o: &Operation) -> (u64, u64) {
    let resource = o.src[0].register;
    let [a, b, records, _] = array(|i| w.scalar(resource + i as u16));
    let base = u64::from(a) | u64::from(b & 0xffff) << 32;
    let stride = b >> 16 & 0x3fff;
    (base, u64::from(records) * u64::from(stride.max(1)))
}

/// Loads through a buffer resource: dwords past its end read as 0.
#[inline(always)]
fn buffer_load<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let (base, limit) = buffer(w, o);
    let offset = offset(w, o) & !3;
    let mut data = [0; N];
    for (index, value) in data.iter_mut().enumerate() {
        let at = offset.wrapping_add(4 * index as u64);
        if at < limit && limit - at >= 4 {
            let address = base.wrapping_add(at);
            match check(c, address, 4, false) {
                Flow::Next => {}
                flow => return flow,
            }
            // SAFETY: the range was just checked.
            *value = unsafe { c.moves.read(address) };
        }
    }
    for (register, value) in (o.dst..).zip(data) {
        w.set_scalar(register, value);
    }
    Flow::Next
}

/// Loads a byte or two; past the end of a buffer, 0. The address is a multiple of the size: the lower bits are ignored.
fn small_load<const BUFFER: bool, const BYTES: u32, const SIGNED: bool, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let mut inside = true;
    let mut address = w.read64(&o.src[0]).wrapping_add(offset(w, o));
    if BUFFER {
        let (base, limit) = buffer(w, o);
        let at = offset(w, o);
        inside = at < limit && limit - at >= u64::from(BYTES);
        address = base.wrapping_add(at);
    }
    let address = address & !(u64::from(BYTES) - 1);
    let mut value = 0;
    if inside {
        match check(c, address, BYTES, false) {
            Flow::Next => {}
            flow => return flow,
        }
        value = match BYTES {
            // SAFETY: the range was just checked.
            1 => u32::from(unsafe { c.moves.read::<u8>(address) }),
            // SAFETY: as above.
            _ => u32::from(unsafe { c.moves.read::<u16>(address) }),
        };
    }
    if SIGNED {
        let unused = 32 - 8 * BYTES;
        value = ((value << unused) as i32 >> unused) as u32;
    }
    w.set_scalar(o.dst, value);
    Flow::Next
}

/// Stores through a buffer resource: dwords past its end are dropped.
fn buffer_store<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let (base, limit) = buffer(w, o);
    let offset = offset(w, o) & !3;
    for index in 0..N as u16 {
        let at = offset.wrapping_add(4 * u64::from(index));
        if at < limit && limit - at >= 4 {
            let address = base.wrapping_add(at);
            match check(c, address, 4, true) {
                Flow::Next => {}
                flow => return flow,
            }
            // SAFETY: the range was just checked.
            unsafe { c.moves.write(address, w.scalar(o.src[2].register + index)) };
        }
    }
    Flow::Next
}

/// An atomic operation of the scalar unit. Past the end of a buffer it does nothing and returns 0.
fn atomically<const BUFFER: bool, const WIDE: bool, const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let bytes = if WIDE { 8 } else { 4 };
    let mut outside = false;
    // Addresses are multiples of the operand's size: the lower bits are ignored.
    let mut address = address(w, o);
    if BUFFER {
        let (base, limit) = buffer(w, o);
        let at = offset(w, o) & !3;
        outside = at >= limit || limit - at < u64::from(bytes);
        address = base.wrapping_add(at);
    }
    let address = address & !(u64::from(bytes) - 1);
    let mut old = 0;
    if !outside {
        match check(c, address, bytes, true) {
            Flow::Next => {}
            flow => return flow,
        }
        let atomic = from_detail(o.detail);
        let data = o.src[2].register;
        old = if WIDE {
            let (new, compare) = (w.scalar_pair(data), w.scalar_pair(data + 2));
            // SAFETY: the range was just checked, and the address is a multiple of 8.
            unsafe { atomic::update64(address, atomic, new, compare) }
        } else {
            let (new, compare) = (w.scalar(data), w.scalar(data + 1));
            // SAFETY: as above, of 4.
            u64::from(unsafe { atomic::update32(address, atomic, new, compare) })
        };
    }
    if o.control[0] != 0 {
        w.set_scalar(o.dst, old as u32);
        if WIDE {
            w.set_scalar(o.dst + 1, (old >> 32) as u32);
        }
    }
    Flow::Next
}
