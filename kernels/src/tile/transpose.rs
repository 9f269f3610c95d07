//! Transposes units across rows by byte permutations, `v_perm_b32`: one for each word that has elements of several units.
//! From elements the compiler would put such words together with shifts, ANDs and ORs, three or more for each, on RDNA, and on
//! gfx950, which has `v_bitop3_b32` for them.

use super::{
    length::{Array, Length},
    operand::{Bits, UNIT_BYTES, Unit},
};
use core::mem::transmute_copy;

/// The elements number `row` of all units: `V` elements of one row of a tile.
#[inline(always)]
pub(super) fn elements<T: Bits, V: Length>(units: &Array<Unit, V>, row: usize) -> Array<T, V> {
    let size = size_of::<T>();
    let (word, within) = (row * size / 4, row * size % 4);
    let of = |unit: usize| units[unit].to_array()[word];
    // The words of the result, of which at most `V · size` bytes count.
    let mut words = [0; 2 * UNIT_BYTES / 4];
    for number in 0..(V::LEN * size).div_ceil(4) {
        words[number] = match (size, V::LEN) {
            // One element, in the lower bits.
            (1 | 2, 1) => of(0) >> (8 * within),
            // Two rows at once, in the upper and lower half.
            (1, 2) => {
                let rows = [0x0501_0400, 0x0703_0602][within / 2];
                permuted(of(1), of(0), rows) >> (16 * (within % 2))
            }
            (1, _) => {
                let (first, rows) = (4 * number, [0x0501_0400, 0x0703_0602][within / 2]);
                let low = permuted(of(first + 1), of(first), rows);
                let high = permuted(of(first + 3), of(first + 2), rows);
                permuted(high, low, [0x0504_0100, 0x0706_0302][within % 2])
            }
            (2, _) => {
                let (first, half) = (2 * number, [0x0504_0100, 0x0706_0302][within / 2]);
                permuted(of(first + 1), of(first), half)
            }
            (4, _) => of(number),
            _ => units[number / 2].to_array()[word + number % 2],
        };
    }
    // SAFETY: the words have as many bytes as 32 at most, and any bits are elements.
    unsafe { transmute_copy(&words) }
}

/// The word whose byte number `i` is byte number `selector >> 8i & 7` of the eight bytes of `high` and `low`.
#[cfg(target_arch = "amdgpu")]
#[inline(always)]
fn permuted(high: u32, low: u32, selector: u32) -> u32 {
    crate::arch::permuted(high, low, selector)
}

#[cfg(not(target_arch = "amdgpu"))]
fn permuted(high: u32, low: u32, selector: u32) -> u32 {
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    let selected = selector.to_le_bytes().map(|number| bytes[number as usize]);
    u32::from_le_bytes(selected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::length::Len;

    fn check<T: Bits + PartialEq + core::fmt::Debug, const V: usize, const E: usize>() {
        let mut number = 0_u8;
        let units: [Unit; V] = core::array::from_fn(|_| {
            Unit::from_array(core::array::from_fn(|_| {
                u32::from_le_bytes(core::array::from_fn(|_| {
                    number = number.wrapping_add(1);
                    number
                }))
            }))
        });
        // SAFETY: a unit has as many bytes.
        let columns: [[T; E]; V] = units.map(|unit| unsafe { transmute_copy(&unit) });
        for row in 0..E {
            let expected = columns.map(|column| column[row]);
            assert_eq!(
                elements::<T, Len<V>>(&units, row),
                expected,
                "{V} {E} {row}"
            );
        }
    }

    #[test]
    fn elements_of_a_row_are_those_of_all_units() {
        check::<u8, 1, 16>();
        check::<u8, 2, 16>();
        check::<u8, 4, 16>();
        check::<u16, 1, 8>();
        check::<u16, 2, 8>();
        check::<u16, 4, 8>();
        check::<u32, 1, 4>();
        check::<u32, 2, 4>();
        check::<u32, 4, 4>();
        check::<u64, 1, 2>();
        check::<u64, 2, 2>();
        check::<u64, 4, 2>();
    }
}
