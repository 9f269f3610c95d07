//! Elements of a type that is known at run time only.

use super::fp8::Encoding;
use ferrowave_shared::ElementType;
use half::{bf16, f16};

/// Elements in their memory representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    element: ElementType,
    bytes: Vec<u8>,
    length: usize,
}

impl Elements {
    /// No elements, with room for `length`. `None` if this computer does not have the memory.
    pub fn with_capacity(element: ElementType, length: usize) -> Option<Self> {
        let mut bytes = Vec::new();
        let size = usize::try_from(element.bytes(length as u128)).ok()?;
        bytes.try_reserve_exact(size).ok()?;
        Some(Self {
            element,
            bytes,
            length: 0,
        })
    }

    /// The elements with these bytes. Excess bytes at the end are dropped.
    pub fn from_bytes(element: ElementType, mut bytes: Vec<u8>) -> Self {
        // A vector has less than 2⁶³ bytes, and a byte at most two elements.
        let length = (bytes.len() as u128 * 8 / element.bits() as u128) as usize;
        bytes.truncate(element.bytes(length as u128) as usize);
        Self {
            element,
            bytes,
            length,
        }
    }

    /// Their type.
    pub const fn element(&self) -> ElementType {
        self.element
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Their bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bits of an element, in the low bits of the result.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn bits(&self, index: usize) -> u64 {
        let size = self.element.size_bytes();
        if let Some((byte, place)) = self.place(index) {
            let mask = (1 << self.element.bits()) - 1;
            let upper = self.bytes.get(byte + 1).copied().unwrap_or(0);
            return u64::from(u16::from_le_bytes([self.bytes[byte], upper])) >> place & mask;
        }
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(&self.bytes[index * size..][..size]);
        u64::from_le_bytes(bits)
    }

    /// The value of an element, which f64 represents exactly.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn value(&self, index: usize) -> f64 {
        value(self.element, self.bits(index))
    }

    /// Appends an element with these bits.
    pub fn push_bits(&mut self, bits: u64) {
        self.length += 1;
        let size = self.element.bytes(self.length as u128) as usize;
        self.bytes.resize(size, 0);
        self.set_bits(self.length - 1, bits);
    }

    /// Sets the bits of an element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn set_bits(&mut self, index: usize, bits: u64) {
        let size = self.element.size_bytes();
        if let Some((byte, place)) = self.place(index) {
            let mask = ((1_u16 << self.element.bits()) - 1) << place;
            // The cast keeps the element's bits.
            let bits = (bits as u16) << place & mask;
            // An element may be in two bytes.
            let bytes = self.bytes[byte..].iter_mut();
            for ((byte, mask), bits) in bytes.zip(mask.to_le_bytes()).zip(bits.to_le_bytes()) {
                *byte = *byte & !mask | bits;
            }
            return;
        }
        self.bytes[index * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }

    /// The byte in which an element of less than 8 bits begins, and its first bit there; `None` for other types.
    ///
    /// # Panics
    /// If there is no such element.
    fn place(&self, index: usize) -> Option<(usize, usize)> {
        let bits = self.element.bits();
        (bits < 8).then(|| {
            assert!(index < self.length, "there is no element {index}");
            // Packs first: the bits of all elements may not fit.
            let packed = self.element.packed() as usize;
            let (packs, bit) = (index / packed, index % packed * bits);
            (packs * (packed * bits / 8) + bit / 8, bit % 8)
        })
    }
}

/// The value of an element with these bits.
pub(super) fn value(element: ElementType, bits: u64) -> f64 {
    // The casts keep the element's low bits.
    match element {
        ElementType::F32 | ElementType::Xf32 => f32::from_bits(bits as u32).into(),
        ElementType::F16 => f16::from_bits(bits as u16).to_f64(),
        ElementType::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        ElementType::F64 => f64::from_bits(bits),
        ElementType::I8 => (bits as i8).into(),
        ElementType::I32 => (bits as i32).into(),
        ElementType::Fp8 => Encoding::OCP.value(bits as u8),
        ElementType::Fp8Fnuz => Encoding::FNUZ.value(bits as u8),
        ElementType::Bf8 => Encoding::E5M2.value(bits as u8),
        ElementType::Bf8Fnuz => Encoding::E5M2_FNUZ.value(bits as u8),
        ElementType::Mxfp8 => Encoding::OCP.value(bits as u8),
        ElementType::Mxfp4 => Encoding::E2M1.value(bits as u8),
        ElementType::Mxbf8 => Encoding::E5M2.value(bits as u8),
        ElementType::Mxfp6 => Encoding::E2M3.value(bits as u8),
        ElementType::Mxbf6 => Encoding::E3M2.value(bits as u8),
        ElementType::E8m0 if bits == 0xff => f64::NAN,
        ElementType::E8m0 => 2.0_f64.powi(bits as i32 - 127),
        // A type that this crate does not know.
        _ => f64::NAN,
    }
}

/// The bits of the element nearest to `value`, ties to even. Integers and numbers of 8-bit floats saturate. Scales, and elements
/// that have them, are inputs only and not supported.
pub fn nearest(element: ElementType, value: f64) -> u64 {
    match element {
        ElementType::F32 | ElementType::Xf32 => (value as f32).to_bits().into(),
        ElementType::F16 => f16::from_f32(to_odd(value)).to_bits().into(),
        ElementType::Bf16 => bf16::from_f32(to_odd(value)).to_bits().into(),
        ElementType::F64 => value.to_bits(),
        ElementType::I8 => (value as i8 as u8).into(),
        ElementType::I32 => (value as i32 as u32).into(),
        ElementType::Fp8 => Encoding::OCP.nearest(value).into(),
        ElementType::Fp8Fnuz => Encoding::FNUZ.nearest(value).into(),
        ElementType::Bf8 => Encoding::E5M2.nearest(value).into(),
        ElementType::Bf8Fnuz => Encoding::E5M2_FNUZ.nearest(value).into(),
        _ => 0,
    }
}

/// Rounds to f32 by «round to odd»: if `value` is not an f32, the result is its neighbour with an odd last bit.
/// Rounding that again to a shorter float gives the same as rounding once, because it is a tie only if `value` is one.
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let exact = f64::from(nearest);
    if exact == value || !exact.is_finite() || nearest.to_bits() & 1 == 1 {
        nearest
    } else if exact < value {
        nearest.next_up()
    } else {
        nearest.next_down()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_shared::ElementTypes;

    #[test]
    fn values_come_back() {
        let types = ElementTypes::ALL;
        let outputs = types.iter().map(|types| types.output);
        for element in outputs.chain([ElementType::I8, ElementType::Xf32]) {
            let mut elements = Elements::with_capacity(element, 4).expect("small");
            for value in [-3.0, 0.0, 1.0, 100.0] {
                elements.push_bits(nearest(element, value));
            }
            elements.set_bits(1, nearest(element, 7.0));
            assert_eq!(elements.len(), 4);
            let values: Vec<_> = (0..4).map(|index| elements.value(index)).collect();
            assert_eq!(values, [-3.0, 7.0, 1.0, 100.0], "{element}");
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let rounded = |element, x| value(element, nearest(element, x));
        assert_eq!(rounded(ElementType::F16, 2049.0), 2048.0);
        assert_eq!(rounded(ElementType::F16, 2051.0), 2052.0);
        assert_eq!(rounded(ElementType::F16, 65_519.0), 65_504.0);
        assert_eq!(rounded(ElementType::F16, 65_520.0), f64::INFINITY);
        assert_eq!(rounded(ElementType::Bf16, 257.0), 256.0);
        assert_eq!(rounded(ElementType::Bf16, 259.0), 260.0);
        // Not ties, because of a bit that does not fit in an f32.
        let above = 1.0 + 2.0_f64.powi(-40);
        assert_eq!(rounded(ElementType::F16, 2049.0 * above), 2050.0);
        assert_eq!(rounded(ElementType::Bf16, -257.0 * above), -258.0);
        assert_eq!(rounded(ElementType::Bf16, 259.0 / above), 258.0);
        assert!(rounded(ElementType::Bf16, f64::NAN).is_nan());
        assert_eq!(rounded(ElementType::F32, 16_777_217.0), 16_777_216.0);
    }

    /// MXFP4: the first element is in the low half of a byte.
    #[test]
    fn two_elements_of_four_bits_share_a_byte() {
        let mut elements = Elements::with_capacity(ElementType::Mxfp4, 3).expect("small");
        for bits in [1, 15, 7] {
            elements.push_bits(bits);
        }
        assert_eq!((elements.len(), elements.bytes()), (3, &[0xf1, 0x07][..]));
        elements.set_bits(0, 4);
        let values: Vec<_> = (0..3).map(|index| elements.value(index)).collect();
        assert_eq!(values, [2.0, -6.0, 6.0]);
        let same = Elements::from_bytes(ElementType::Mxfp4, vec![0xf4, 0x07]);
        assert_eq!((same.len(), same.value(3)), (4, 0.0));
    }

    /// MXFP6: elements are in the order of the bits of the bytes, from the lowest on.
    #[test]
    fn four_elements_of_six_bits_share_three_bytes() {
        let mut elements = Elements::with_capacity(ElementType::Mxfp6, 5).expect("small");
        for bits in [0b00_0001, 0b10_0000, 0b01_1111, 0b10_1010, 0b11_1111] {
            elements.push_bits(bits);
        }
        let bytes = [0b0000_0001, 0b1111_1000, 0b1010_1001, 0b11_1111];
        assert_eq!((elements.len(), elements.bytes()), (5, &bytes[..]));
        let values: Vec<_> = (0..5).map(|index| elements.value(index)).collect();
        assert_eq!(values, [0.125, -0.0, 7.5, -1.25, -7.5]);
        // Neighbours stay.
        elements.set_bits(1, 0b01_1000);
        elements.set_bits(2, 0);
        let values: Vec<_> = (0..5).map(|index| elements.value(index)).collect();
        assert_eq!(values, [0.125, 4.0, 0.0, -1.25, -7.5]);
        let bytes = elements.bytes().to_vec();
        let same = Elements::from_bytes(ElementType::Mxfp6, bytes);
        assert_eq!(same, elements);
        let whole = Elements::from_bytes(ElementType::Mxfp6, vec![0xff; 6]);
        assert_eq!((whole.len(), whole.bits(7)), (8, 0x3f));
    }

    #[test]
    fn scales_are_powers_of_two_or_nan() {
        let scales = Elements::from_bytes(ElementType::E8m0, vec![0, 127, 128, 254, 255]);
        let values: Vec<_> = (0..4).map(|index| scales.value(index)).collect();
        let powers = [-127, 0, 1, 127].map(|exponent| 2.0_f64.powi(exponent));
        assert_eq!(values, powers);
        assert!(scales.value(4).is_nan());
    }

    #[test]
    fn bytes_left_over_are_dropped() {
        let elements = Elements::from_bytes(ElementType::F32, vec![0; 11]);
        assert_eq!((elements.len(), elements.bytes().len()), (2, 8));
    }
}
