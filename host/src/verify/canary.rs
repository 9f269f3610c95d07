//! Canaries: the elements in padding, which must not be overwritten.

use ferrowave_shared::ElementType;

/// The bits of the canary at `offset` in the padding of C.
///
/// Canaries differ from place to place, as far as the type has enough values, so that a shifted write of canaries is
/// found. Those of floats are so small (for f32 about 1e-13) that adding an element to one is found: the sum of an
/// element and a larger canary could round to the canary.
pub(super) fn canary(element: ElementType, offset: u64) -> u64 {
    // An odd factor permutes the numbers of any count of bits.
    let number = (offset as u32).wrapping_mul(0x9e37_79b1);
    let bits = |count: u32| u64::from(number & ((1 << count) - 1));
    match element {
        ElementType::F32 | ElementType::Xf32 => 0x2a00_0000 | bits(23),
        // The smallest normal numbers, of the order of 1e-4.
        ElementType::F16 => 0x0400 | bits(10),
        // Four exponents around 1e-12.
        ElementType::Bf16 => 0x2a00 | bits(9),
        ElementType::F64 => 0x3d40_0000_0000_0000 | u64::from(number) << 20,
        ElementType::I32 => number.into(),
        // The smallest normal and denormal numbers.
        element if element.is_float8() => 1 + bits(3),
        // Types of inputs only, which have no canaries.
        _ => bits(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::elements::value;
    use std::collections::HashSet;

    #[test]
    fn canaries_differ() {
        for (element, count) in [
            (ElementType::F32, 100_000),
            (ElementType::F64, 100_000),
            (ElementType::I32, 100_000),
            (ElementType::F16, 1024),
            (ElementType::Bf16, 512),
            (ElementType::Fp8, 8),
            (ElementType::Bf8, 8),
        ] {
            let seen: HashSet<_> = (0..count).map(|offset| canary(element, offset)).collect();
            assert_eq!(seen.len() as u64, count, "{element}");
        }
    }

    #[test]
    fn canaries_drown_in_any_sum() {
        for (element, largest) in [
            (ElementType::F32, 1e-12),
            (ElementType::F64, 1e-12),
            (ElementType::F16, 1.3e-4),
            (ElementType::Bf16, 2e-12),
            (ElementType::Fp8, 0.016),
            (ElementType::Fp8Fnuz, 0.008),
            (ElementType::Bf8, 1.3e-4),
            (ElementType::Bf8Fnuz, 6.2e-5),
        ] {
            for offset in 0..10_000 {
                let x = value(element, canary(element, offset));
                assert!(x > 0.0 && x < largest, "{element}: {x:e}");
            }
        }
    }
}
