//! Scalar memory: SMEM.

use super::{
    Context, FaultKind, Wave,
    access::{read, write},
    lanes::Binder,
    operation::{Flow, Handler, Operation},
};
use crate::isa::Op;

/// The handler of a scalar memory operation, if `op` is one.
pub(crate) fn handler(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        Op::s_load_dword => b.bind(load::<1>),
        Op::s_load_dwordx2 => b.bind(load::<2>),
        Op::s_load_dwordx4 => b.bind(load::<4>),
        Op::s_load_dwordx8 => b.bind(load::<8>),
        Op::s_load_dwordx16 => b.bind(load::<16>),
        Op::s_buffer_load_dword => b.bind(buffer_load::<1>),
        Op::s_buffer_load_dwordx2 => b.bind(buffer_load::<2>),
        Op::s_buffer_load_dwordx4 => b.bind(buffer_load::<4>),
        Op::s_buffer_load_dwordx8 => b.bind(buffer_load::<8>),
        Op::s_buffer_load_dwordx16 => b.bind(buffer_load::<16>),
        Op::s_store_dword => b.bind(store::<1>),
        Op::s_store_dwordx2 => b.bind(store::<2>),
        Op::s_store_dwordx4 => b.bind(store::<4>),
        // A counter that only goes up: the host's.
        Op::s_memtime | Op::s_memrealtime => b.bind(
            #[inline(always)]
            |w, _, o| {
                let ticks = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |d| d.as_nanos() as u64);
                // 100 MHz for the real-time counter, nanoseconds for the core's.
                w.set_scalar_pair(o.dst, if o.detail == 1 { ticks / 10 } else { ticks });
                Flow::Next
            },
        ),
        _ => return None,
    })
}

/// Base, immediate and register offset; the lowest two bits are ignored.
#[inline(always)]
fn address(w: &Wave, o: &Operation) -> u64 {
    let base = w.read64(&o.src[0]) & !3;
    let offset = (o.imm as u64).wrapping_add(u64::from(w.read32(&o.src[1])));
    base.wrapping_add(offset & !3)
}

#[inline(always)]
fn load<const N: usize>(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let address = address(w, o);
    let end = address.wrapping_add(4 * N as u64);
    if !c.memory.reach(address).covers(address, end, false) {
        let bytes = 4 * N as u32;
        return c.fail(FaultKind::Memory {
            address,
            bytes,
            write: false,
            lane: None,
        });
    }
    // SAFETY: the range was just checked.
    let data: [u32; N] = unsafe { read(address) };
    for (index, value) in data.into_iter().enumerate() {
        w.set_scalar(o.dst + index as u16, value);
    }
    Flow::Next
}

/// Loads through a buffer resource: dwords past its end read as 0.
#[inline(always)]
fn buffer_load<const N: usize>(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let resource = o.src[0].register;
    let [a, b, records, _] = std::array::from_fn(|i| w.scalar(resource + i as u16));
    let base = u64::from(a) | u64::from(b & 0xffff) << 32;
    let stride = b >> 16 & 0x3fff;
    let limit = u64::from(records) * u64::from(stride.max(1));
    let offset = (o.imm as u64).wrapping_add(u64::from(w.read32(&o.src[1]))) & !3;
    for index in 0..N as u64 {
        let at = offset + 4 * index;
        let mut value = 0;
        if at + 4 <= limit {
            let address = base.wrapping_add(at);
            if !c
                .memory
                .reach(address)
                .covers(address, address.wrapping_add(4), false)
            {
                return c.fail(FaultKind::Memory {
                    address,
                    bytes: 4,
                    write: false,
                    lane: None,
                });
            }
            // SAFETY: the range was just checked.
            value = unsafe { read(address) };
        }
        w.set_scalar(o.dst + index as u16, value);
    }
    Flow::Next
}

#[inline(always)]
fn store<const N: usize>(w: &mut Wave, c: &mut Context<'_>, o: &Operation) -> Flow {
    let address = address(w, o);
    let end = address.wrapping_add(4 * N as u64);
    if !c.memory.reach(address).covers(address, end, true) {
        let bytes = 4 * N as u32;
        return c.fail(FaultKind::Memory {
            address,
            bytes,
            write: true,
            lane: None,
        });
    }
    let data: [u32; N] = std::array::from_fn(|i| w.scalar(o.src[2].register + i as u16));
    // SAFETY: the range was just checked.
    unsafe { write(address, data) };
    Flow::Next
}
