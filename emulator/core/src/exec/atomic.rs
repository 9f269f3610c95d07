//! Atomic operations on memory: the new value from the old one, and updates of global memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{
    Context, FaultKind, Wave,
    access::Access,
    operation::{Flow, Operation},
};
use crate::memory::{Reach, View};
use ferrowave_gpu::Gpu;
use ferrowave_isa::{
    Instruction,
    run::{ATOMICS, Atomic, Run},
};

/// The bit of an [`Operation`]'s `detail` for an operation that only the L2 cache has.
const IN_L2_ONLY: u8 = 0x80;

/// The `detail` of an atomic operation on global memory.
pub(crate) fn detail(gpu: Gpu, atomic: Atomic) -> u8 {
    atomic as u8
        | match is_in_l2_only(gpu, atomic) {
            true => IN_L2_ONLY,
            false => 0,
        }
}

/// The operation in an [`Operation`]'s `detail`.
pub(crate) fn from_detail(detail: u8) -> Atomic {
    ATOMICS[usize::from(detail & !IN_L2_ONLY) % ATOMICS.len()]
}

/// Whether the L2 cache has an operation and the fabric has not. Fine-grained memory is not cached for writing; there, such an
/// operation does nothing and returns 0 (ROCm's documentation, «Hardware atomics operation support», which calls it NOP).
const fn is_in_l2_only(gpu: Gpu, atomic: Atomic) -> bool {
    match gpu {
        Gpu::Gfx908 => matches!(atomic, Atomic::AddF32 | Atomic::PackedAddF16),
        Gpu::Gfx90a => matches!(
            atomic,
            Atomic::AddF32
                | Atomic::PackedAddF16
                | Atomic::AddF64
                | Atomic::MinF64
                | Atomic::MaxF64
        ),
        Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1102 | Gpu::Gfx1150 | Gpu::Gfx1151 => {
            matches!(atomic, Atomic::AddF32 | Atomic::MinF32 | Atomic::MaxF32)
        }
        Gpu::Gfx942 | Gpu::Gfx950 | Gpu::Gfx1200 | Gpu::Gfx1201 => false,
    }
}

/// Whether an instruction does nothing on fine-grained memory.
pub fn does_nothing_on_fine_grained(gpu: Gpu, instruction: &Instruction) -> bool {
    match instruction.run() {
        Run::GlobalAtomic(op) | Run::GlobalAtomic64(op) => is_in_l2_only(gpu, op),
        Run::FlatAtomic(op) | Run::FlatAtomic64(op) => is_in_l2_only(gpu, op),
        Run::BufferAtomic(op) | Run::BufferAtomic64(op) => is_in_l2_only(gpu, op),
        _ => false,
    }
}

fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let low = f(a as u16, b as u16);
    let high = f((a >> 16) as u16, (b >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}

fn bf16_add(a: u16, b: u16) -> u16 {
    let wide = |x: u16| f32::from_bits(u32::from(x) << 16);
    let sum = std::simd::Simd::splat(wide(a) + wide(b));
    super::convert::to_bf16(sum)[0] as u16
}

/// The first number or the second; if one is NaN, the other; if both are, a quiet NaN (RDNA 4 ISA, `DS_MIN_NUM_F32`).
fn number32(old: f32, data: f32, first: bool) -> f32 {
    match (old.is_nan(), data.is_nan()) {
        (true, true) => f32::from_bits(data.to_bits() | 1 << 22),
        (true, false) => data,
        (false, true) => old,
        (false, false) if first => old,
        (false, false) => data,
    }
}

/// As [`number32`] of 64 bits.
fn number64(old: f64, data: f64, first: bool) -> f64 {
    match (old.is_nan(), data.is_nan()) {
        (true, true) => f64::from_bits(data.to_bits() | 1 << 51),
        (true, false) => data,
        (false, true) => old,
        (false, false) if first => old,
        (false, false) => data,
    }
}

/// The new 32-bit value.
pub(crate) fn apply32(atomic: Atomic, old: u32, data: u32, compare: u32) -> u32 {
    let float = |f: fn(f32, f32) -> f32| f(f32::from_bits(old), f32::from_bits(data)).to_bits();
    match atomic {
        Atomic::SignedMin => (old as i32).min(data as i32) as u32,
        Atomic::SignedMax => (old as i32).max(data as i32) as u32,
        Atomic::AddF32 => float(|a, b| a + b),
        // The old value stays unless the comparison holds, so NaNs stay and none comes in.
        Atomic::MinF32 => float(|a, b| if b < a { b } else { a }),
        Atomic::MaxF32 => float(|a, b| if b > a { b } else { a }),
        Atomic::MinNumF32 => float(|a, b| number32(a, b, a < b || a == b && a.is_sign_negative())),
        Atomic::MaxNumF32 => float(|a, b| number32(a, b, a > b || a == b && a.is_sign_positive())),
        Atomic::PackedAddF16 => halves(old, data, |a, b| {
            (f16::from_bits(a) + f16::from_bits(b)).to_bits()
        }),
        Atomic::PackedAddBf16 => halves(old, data, bf16_add),
        // Compared as floats: both zeros are equal, and NaN equals nothing.
        Atomic::CompareSwapF32 => {
            if f32::from_bits(old) == f32::from_bits(compare) {
                data
            } else {
                old
            }
        }
        // The low half of the 64-bit result is the 32-bit result.
        _ => apply64(atomic, old.into(), data.into(), compare.into()) as u32,
    }
}

/// The new 64-bit value.
pub(crate) fn apply64(atomic: Atomic, old: u64, data: u64, compare: u64) -> u64 {
    let float = |f: fn(f64, f64) -> f64| f(f64::from_bits(old), f64::from_bits(data)).to_bits();
    match atomic {
        Atomic::Swap => data,
        Atomic::CompareSwap => {
            if old == compare {
                data
            } else {
                old
            }
        }
        // At least 0.
        Atomic::SubClamp => old.saturating_sub(data),
        Atomic::Add => old.wrapping_add(data),
        Atomic::Sub => old.wrapping_sub(data),
        Atomic::ReverseSub => data.wrapping_sub(old),
        Atomic::SignedMin => (old as i64).min(data as i64) as u64,
        Atomic::UnsignedMin => old.min(data),
        Atomic::SignedMax => (old as i64).max(data as i64) as u64,
        Atomic::UnsignedMax => old.max(data),
        Atomic::And => old & data,
        Atomic::Or => old | data,
        Atomic::Xor => old ^ data,
        Atomic::Increment => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        Atomic::Decrement => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        Atomic::AddF64 => float(|a, b| a + b),
        Atomic::MinF64 => float(|a, b| if b < a { b } else { a }),
        Atomic::MaxF64 => float(|a, b| if b > a { b } else { a }),
        Atomic::MinNumF64 => float(|a, b| number64(a, b, a < b || a == b && a.is_sign_negative())),
        Atomic::MaxNumF64 => float(|a, b| number64(a, b, a > b || a == b && a.is_sign_positive())),
        // Subtracts if there is no borrow.
        Atomic::CondSub => old.checked_sub(data).unwrap_or(old),
        Atomic::MaskOr => old & !data | compare,
        // Subtracts if there is no borrow; otherwise adds the second operand.
        Atomic::Wrap => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(compare)
            }
        }
        // Compared as floats.
        Atomic::CompareSwapF64 => {
            if f64::from_bits(old) == f64::from_bits(compare) {
                data
            } else {
                old
            }
        }
        Atomic::CompareSwapF32
        | Atomic::AddF32
        | Atomic::MinF32
        | Atomic::MaxF32
        | Atomic::MinNumF32
        | Atomic::MaxNumF32
        | Atomic::PackedAddF16
        | Atomic::PackedAddBf16 => old,
    }
}

/// Updates memory that other workgroups may also update, and returns the old value.
///
/// # Safety
/// As [`Moves::write`](crate::memory::shared::Moves::write), and the address must be a multiple of 4.
pub(crate) unsafe fn update32(address: u64, atomic: Atomic, data: u32, compare: u32) -> u32 {
    let pointer = std::ptr::with_exposed_provenance_mut::<u32>(address as usize);
    // SAFETY: the caller's promise.
    let cell = unsafe { AtomicU32::from_ptr(pointer) };
    update(
        |order, f| cell.try_update(order, order, f),
        |old| apply32(atomic, old, data, compare),
    )
}

/// As [`update32`] for 64 bits.
///
/// # Safety
/// As [`Moves::write`](crate::memory::shared::Moves::write), and the address must be a multiple of 8.
pub(crate) unsafe fn update64(address: u64, atomic: Atomic, data: u64, compare: u64) -> u64 {
    let pointer = std::ptr::with_exposed_provenance_mut::<u64>(address as usize);
    // SAFETY: the caller's promise.
    let cell = unsafe { AtomicU64::from_ptr(pointer) };
    update(
        |order, f| cell.try_update(order, order, f),
        |old| apply64(atomic, old, data, compare),
    )
}

/// The lanes whose memory is fine-grained.
#[cold]
#[inline(never)]
fn in_fine_grained<const C: usize>(memory: &View, access: &Access<C>) -> u64 {
    let (mut reach, mut lanes) = (Reach::NOTHING, 0);
    access.each(|lane, address| {
        if !reach.covers(address, address + 1, false) {
            reach = memory.reach(address);
        }
        lanes |= u64::from(reach.is_fine_grained()) << lane;
    });
    lanes
}

/// Updates memory at each active lane's address with the data in source 1 (the value to compare follows it). Writes the
/// old value to the result if `control[0]` says so. Skips misaligned lanes, and returns the first of them with its
/// address.
#[inline(always)]
pub(super) fn on_lanes<const WIDE: bool, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    memory: &View,
    access: &Access<C>,
) -> Option<(usize, u64)> {
    let atomic = from_detail(o.detail);
    let nothing_on = match o.detail & IN_L2_ONLY != 0 && memory.has_fine_grained() {
        true => in_fine_grained(memory, access),
        false => 0,
    };
    let bytes = if WIDE { 8 } else { 4 };
    let mut misaligned = None;
    access.each(|lane, address| {
        if address % bytes != 0 {
            misaligned.get_or_insert((lane, address));
            return;
        }
        let register =
            |w: &Wave<C>, index: u16| w.lanes(o.src[1].register + index).as_array()[lane];
        let old = if nothing_on >> lane & 1 != 0 {
            0
        } else if WIDE {
            let data = u64::from(register(w, 0)) | u64::from(register(w, 1)) << 32;
            let compare = u64::from(register(w, 2)) | u64::from(register(w, 3)) << 32;
            // SAFETY: the lane is active, so its bytes were checked, and the address is aligned.
            unsafe { update64(address, atomic, data, compare) }
        } else {
            let (data, compare) = (register(w, 0), register(w, 1));
            // SAFETY: as above.
            u64::from(unsafe { update32(address, atomic, data, compare) })
        };
        if o.control[0] != 0 {
            w.lanes_mut(o.dst).as_mut_array()[lane] = old as u32;
            if WIDE {
                w.lanes_mut(o.dst + 1).as_mut_array()[lane] = (old >> 32) as u32;
            }
        }
    });
    misaligned
}

/// Faults for a misaligned lane that [`on_lanes`] returned.
#[inline(always)]
pub(super) fn finish(c: &mut Context<'_>, misaligned: Option<(usize, u64)>, bytes: u32) -> Flow {
    match misaligned {
        None => Flow::Next,
        Some((lane, address)) => c.fail(FaultKind::Misaligned {
            address,
            bytes,
            lane: lane as u8,
        }),
    }
}

fn update<T, U>(fetch: U, new: impl Fn(T) -> T) -> T
where
    U: FnOnce(Ordering, &dyn Fn(T) -> Option<T>) -> Result<T, T>,
{
    match fetch(Ordering::SeqCst, &|old| Some(new(old))) {
        Ok(old) | Err(old) => old,
    }
}
