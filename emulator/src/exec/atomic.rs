//! Atomic operations on memory, as functions of the old value.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What an atomic operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Atomic {
    Swap,
    CompareSwap,
    Add,
    Sub,
    ReverseSub,
    SignedMin,
    UnsignedMin,
    SignedMax,
    UnsignedMax,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
    AddF32,
    MinF32,
    MaxF32,
    PackedAddF16,
    PackedAddBf16,
    AddF64,
    MinF64,
    MaxF64,
    MaskOr,
}

impl Atomic {
    const ALL: [Atomic; 23] = [
        Atomic::Swap,
        Atomic::CompareSwap,
        Atomic::Add,
        Atomic::Sub,
        Atomic::ReverseSub,
        Atomic::SignedMin,
        Atomic::UnsignedMin,
        Atomic::SignedMax,
        Atomic::UnsignedMax,
        Atomic::And,
        Atomic::Or,
        Atomic::Xor,
        Atomic::Increment,
        Atomic::Decrement,
        Atomic::AddF32,
        Atomic::MinF32,
        Atomic::MaxF32,
        Atomic::PackedAddF16,
        Atomic::PackedAddBf16,
        Atomic::AddF64,
        Atomic::MinF64,
        Atomic::MaxF64,
        Atomic::MaskOr,
    ];

    /// Back from an operation's `detail`.
    pub(crate) fn from_detail(detail: u8) -> Self {
        Self::ALL[usize::from(detail) % Self::ALL.len()]
    }

    /// By the mnemonic's part behind `atomic_`, without `_x2`.
    pub(crate) fn from_name(name: &str, wide: bool) -> Option<Self> {
        Some(match name {
            "swap" => Atomic::Swap,
            "cmpswap" => Atomic::CompareSwap,
            "add" => Atomic::Add,
            "sub" => Atomic::Sub,
            "smin" => Atomic::SignedMin,
            "umin" => Atomic::UnsignedMin,
            "smax" => Atomic::SignedMax,
            "umax" => Atomic::UnsignedMax,
            "and" => Atomic::And,
            "or" => Atomic::Or,
            "xor" => Atomic::Xor,
            "inc" => Atomic::Increment,
            "dec" => Atomic::Decrement,
            "add_f32" if !wide => Atomic::AddF32,
            "pk_add_f16" if !wide => Atomic::PackedAddF16,
            "pk_add_bf16" if !wide => Atomic::PackedAddBf16,
            "add_f64" => Atomic::AddF64,
            "min_f64" => Atomic::MinF64,
            "max_f64" => Atomic::MaxF64,
            _ => return None,
        })
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

/// The new value of 32 bits.
pub(crate) fn apply32(atomic: Atomic, old: u32, data: u32, compare: u32) -> u32 {
    let float = |f: fn(f32, f32) -> f32| f(f32::from_bits(old), f32::from_bits(data)).to_bits();
    match atomic {
        Atomic::Swap => data,
        Atomic::CompareSwap => {
            if old == compare {
                data
            } else {
                old
            }
        }
        Atomic::Add => old.wrapping_add(data),
        Atomic::Sub => old.wrapping_sub(data),
        Atomic::ReverseSub => data.wrapping_sub(old),
        Atomic::SignedMin => (old as i32).min(data as i32) as u32,
        Atomic::UnsignedMin => old.min(data),
        Atomic::SignedMax => (old as i32).max(data as i32) as u32,
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
        Atomic::AddF32 => float(|a, b| a + b),
        Atomic::MinF32 => float(f32::min),
        Atomic::MaxF32 => float(f32::max),
        Atomic::PackedAddF16 => halves(old, data, |a, b| {
            (f16::from_bits(a) + f16::from_bits(b)).to_bits()
        }),
        Atomic::PackedAddBf16 => halves(old, data, bf16_add),
        Atomic::MaskOr => old & !data | compare,
        Atomic::AddF64 | Atomic::MinF64 | Atomic::MaxF64 => old,
    }
}

/// The new value of 64 bits.
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
        Atomic::MinF64 => float(f64::min),
        Atomic::MaxF64 => float(f64::max),
        Atomic::MaskOr => old & !data | compare,
        Atomic::AddF32
        | Atomic::MinF32
        | Atomic::MaxF32
        | Atomic::PackedAddF16
        | Atomic::PackedAddBf16 => old,
    }
}

/// Updates memory that other workgroups may update too, and returns the old value.
///
/// # Safety
/// As [`super::access::write`], and the address is a multiple of 4.
pub(crate) unsafe fn update32(address: u64, atomic: Atomic, data: u32, compare: u32) -> u32 {
    let pointer = std::ptr::with_exposed_provenance_mut::<u32>(address as usize);
    // SAFETY: the caller's promise.
    let cell = unsafe { AtomicU32::from_ptr(pointer) };
    update(
        |order, f| cell.try_update(order, order, f),
        |old| apply32(atomic, old, data, compare),
    )
}

/// As [`update32`], 64 bits.
///
/// # Safety
/// As [`super::access::write`], and the address is a multiple of 8.
pub(crate) unsafe fn update64(address: u64, atomic: Atomic, data: u64, compare: u64) -> u64 {
    let pointer = std::ptr::with_exposed_provenance_mut::<u64>(address as usize);
    // SAFETY: the caller's promise.
    let cell = unsafe { AtomicU64::from_ptr(pointer) };
    update(
        |order, f| cell.try_update(order, order, f),
        |old| apply64(atomic, old, data, compare),
    )
}

fn update<T, U>(fetch: U, new: impl Fn(T) -> T) -> T
where
    U: FnOnce(Ordering, &dyn Fn(T) -> Option<T>) -> Result<T, T>,
{
    match fetch(Ordering::SeqCst, &|old| Some(new(old))) {
        Ok(old) | Err(old) => old,
    }
}
