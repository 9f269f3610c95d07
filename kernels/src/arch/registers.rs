//! Values that are opaque to the compiler.

use core::arch::asm;
#[cfg(not(ferrowave_family = "cdna"))]
use core::simd::f32x4;

/// An opaque zero: the compiler can neither fold nor hoist an expression that it is added to.
#[cfg(not(ferrowave_family = "rdna4"))]
#[inline(always)]
pub(crate) fn opaque_zero() -> u32 {
    let zero;
    // SAFETY: a scalar move, which changes nothing else.
    unsafe { asm!("s_mov_b32 {0}, 0", out(sgpr32) zero, options(nomem, nostack, preserves_flags)) };
    zero
}

/// The same for RDNA 4, where a vector instruction that reads a scalar register may see its old value if a scalar instruction
/// has just written it and another vector instruction has read the old one (LLVM's `hasVALUReadSGPRHazard`). LLVM waits
/// between its own instructions only, so the zero is one of these.
#[cfg(ferrowave_family = "rdna4")]
#[inline(always)]
pub(crate) fn opaque_zero() -> u32 {
    let mut zero = 0;
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(sgpr32) zero, options(nomem, nostack, preserves_flags)) };
    zero
}

/// The value, of which the compiler knows nothing but its place: a vector register. It then chooses how to use the value
/// where it is used, and not before a loop.
#[inline(always)]
pub(crate) fn opaque(value: u32) -> u32 {
    let mut value = value;
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(vgpr32) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// The value, computed before what follows: the compiler does not delay it.
#[inline(always)]
pub(crate) fn computed(value: f32) -> f32 {
    f32::from_bits(opaque(value.to_bits()))
}

/// The values, in neighbouring registers here, and so also before, where they come from without a copy.
#[cfg(not(ferrowave_family = "cdna"))]
#[inline(always)]
pub(crate) fn in_neighbouring_registers(values: [f32; 4]) -> [f32; 4] {
    let mut values = f32x4::from_array(values);
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(vgpr128) values, options(nomem, nostack, preserves_flags)) };
    values.to_array()
}

/// CDNA's instructions take registers in any order.
#[cfg(ferrowave_family = "cdna")]
#[inline(always)]
pub(crate) const fn in_neighbouring_registers(values: [f32; 4]) -> [f32; 4] {
    values
}

/// Needs all values here. They are arguments of the kernel, of which each group that is used later would be loaded later,
/// and waited for, one after the other.
#[inline(always)]
pub(crate) fn at_once(values: [u32; 12]) {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = values;
    // SAFETY: no instruction.
    unsafe {
        asm!(
            "/* {0} {1} {2} {3} {4} {5} {6} {7} {8} {9} {10} {11} */",
            in(sgpr32) a, in(sgpr32) b, in(sgpr32) c, in(sgpr32) d, in(sgpr32) e, in(sgpr32) f,
            in(sgpr32) g, in(sgpr32) h, in(sgpr32) i, in(sgpr32) j, in(sgpr32) k, in(sgpr32) l,
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// `v_perm_b32`: the word whose byte number `i` is byte number `selector >> 8i & 7` of the eight bytes of `high` and `low`.
#[inline(always)]
pub(crate) fn permuted(high: u32, low: u32, selector: u32) -> u32 {
    // SAFETY: it reads no memory and no other lane.
    unsafe { core::arch::amdgpu::perm(high, low, selector) }
}
