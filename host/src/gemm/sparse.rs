//! Makes a sparse A as products of [sparse types](ferrowave_shared::ElementTypes::sparse) take it.
//!
//! Of each four elements along k, a row has at most two that are not 0 («2:4»). [`prune`] makes a matrix such, [`pack`] stores
//! what is left of it and where it was.
//!
//! ```
//! use ferrowave_host::gemm::sparse::{pack, prune};
//!
//! // One row of 32 elements, of which 1, 5, 9, … are the smallest.
//! let mut a: Vec<i8> = (0..32).map(|k| if k % 4 == 1 { 1 } else { 2 + k }).collect();
//! prune(&mut a, 32)?;
//! assert_eq!(a[..8], [0, 0, 4, 5, 0, 0, 8, 9]);
//! let packed = pack(&a, 1, 32)?;
//! assert_eq!(packed.elements[..4], [4, 5, 8, 9]);
//! // 2 is the place of the first of the two, 3 that of the second: 0b1110 for each group.
//! assert_eq!(packed.indices[..4], [0xee; 4]);
//! # Ok::<(), ferrowave_host::gemm::sparse::SparseError>(())
//! ```

use super::element::Element;
use ferrowave_shared::{
    ElementType, ElementTypes, SCALE_BLOCK,
    sparse::{Elements, GROUP, Indices},
};
use thiserror::Error;

/// A sparse matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed<T> {
    /// The elements that are left, in the layout of [`Elements`].
    pub elements: Vec<T>,
    /// Which elements they are, in the layout of [`Indices`].
    pub indices: Vec<u8>,
}

/// Why a matrix can't be pruned or packed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SparseError {
    /// There are no products of such elements with a sparse A.
    #[error(
        "there are no sparse products of {element}; there are for {}",
        sparse_types()
    )]
    Element {
        /// The type of the elements.
        element: ElementType,
    },
    /// k would not be divided into whole blocks.
    #[error("k is {k}, but must be a multiple of {SCALE_BLOCK} for a sparse A")]
    Block {
        /// The number of columns.
        k: u32,
    },
    /// The slice has another number of elements than the matrix.
    #[error("A has {length} elements, but {rows} rows of {k} have {}", u64::from(*.rows) * u64::from(*.k))]
    Length {
        /// Elements of the slice.
        length: usize,
        /// Rows of the matrix.
        rows: u32,
        /// Its columns.
        k: u32,
    },
    /// The slice has no whole rows.
    #[error("A has {length} elements, which are no whole rows of {k}")]
    Rows {
        /// Elements of the slice.
        length: usize,
        /// Columns of the matrix.
        k: u32,
    },
    /// Four elements along k have more than two that are not 0.
    #[error(
        "row {row} of A has {count} elements that are not 0 from column {column} to {}, but a sparse A has at most 2 of each 4", column + GROUP - 1
    )]
    Dense {
        /// The row.
        row: u32,
        /// The first of the four columns.
        column: u32,
        /// How many are not 0.
        count: usize,
    },
}

fn sparse_types() -> String {
    let all = ElementTypes::ALL.iter().filter(|types| types.is_sparse);
    let names: Vec<_> = all.map(|types| types.a.name()).collect();
    names.join(", ")
}

/// The magnitude of an element, as a number that orders elements: 0 for zeros of either sign, and more than that of any number
/// for a NaN.
fn magnitude(element: ElementType, bytes: &[u8]) -> u16 {
    match (element, bytes) {
        (ElementType::I8, &[byte]) => byte.cast_signed().unsigned_abs().into(),
        // The code of -0 is NaN.
        (ElementType::Fp8Fnuz, &[0x80]) => u16::MAX,
        (_, &[byte]) => (byte & 0x7f).into(),
        (_, bytes) => {
            bytes
                .iter()
                .rev()
                .fold(0, |bits, &byte| bits << 8 | u16::from(byte))
                & 0x7fff
        }
    }
}

/// The type of the elements of a sparse A.
fn element<T: Element>(k: u32) -> Result<ElementType, SparseError> {
    let element = const { T::TYPES[0] };
    let mut all = ElementTypes::ALL.iter();
    if !all.any(|types| types.is_sparse && types.a == element) {
        return Err(SparseError::Element { element });
    }
    if !k.is_multiple_of(SCALE_BLOCK) {
        return Err(SparseError::Block { k });
    }
    Ok(element)
}

/// Sets the two smaller of each four elements along k to 0, by magnitude; of equal ones the later. NaNs are kept before numbers.
///
/// `a` is a row-major matrix with `k` columns, or several of them.
///
/// # Errors
/// If there are no sparse products of such elements, k is not a multiple of 32, or rows are not whole.
pub fn prune<T: Element>(a: &mut [T], k: u32) -> Result<(), SparseError> {
    let element = element::<T>(k)?;
    // Only an empty matrix has whole rows of 0 elements.
    if !a.len().is_multiple_of(k as usize) {
        return Err(SparseError::Rows { length: a.len(), k });
    }
    for group in a.as_chunks_mut::<{ GROUP as usize }>().0 {
        let [_, _, third, last] = by_magnitude(element, group);
        (group[third], group[last]) = (T::zeroed(), T::zeroed());
    }
    Ok(())
}

/// The places of a group's elements, the largest one first.
fn by_magnitude<T: Element>(element: ElementType, group: &[T]) -> [usize; 4] {
    let mut places = [0, 1, 2, 3];
    // Stable.
    places.sort_by_key(|&place| {
        std::cmp::Reverse(magnitude(element, bytemuck::bytes_of(&group[place])))
    });
    places
}

/// Stores a matrix of `rows` rows and `k` columns, row-major without padding, as a sparse A. Several matrices of a batch are
/// packed one by one; their elements and indices follow each other.
///
/// # Errors
/// As [`prune`]; if four elements along k have more than two that are not 0, or `a` has another number of elements.
pub fn pack<T: Element>(a: &[T], rows: u32, k: u32) -> Result<Packed<T>, SparseError> {
    let element = element::<T>(k)?;
    if a.len() as u64 != u64::from(rows) * u64::from(k) {
        return Err(SparseError::Length {
            length: a.len(),
            rows,
            k,
        });
    }
    let (stored, layout) = (
        Elements::new(rows, k, element),
        Indices::new(rows, k, element),
    );
    let mut elements = vec![T::zeroed(); stored.count() as usize];
    let mut indices = vec![0; layout.size_bytes() as usize];
    let groups = k / GROUP;
    for (number, group) in a.as_chunks::<{ GROUP as usize }>().0.iter().enumerate() {
        let (row, number) = (number as u32 / groups, number as u32 % groups);
        let [first, second, third, _] = by_magnitude(element, group);
        if magnitude(element, bytemuck::bytes_of(&group[third])) != 0 {
            let count = group
                .iter()
                .filter(|value| magnitude(element, bytemuck::bytes_of(*value)) != 0);
            return Err(SparseError::Dense {
                row,
                column: number * GROUP,
                count: count.count(),
            });
        }
        let (first, second) = (first.min(second), first.max(second));
        for (column, place) in [(2 * number, first), (2 * number + 1, second)] {
            elements[stored.place(row, column) as usize] = group[place];
        }
        let (byte, bit) = layout.place(row, number);
        indices[byte as usize] |= ((first | second << 2) as u8) << bit;
    }
    Ok(Packed { elements, indices })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::element::{Fp8, Fp8Fnuz};
    use half::f16;

    #[test]
    fn the_two_largest_magnitudes_are_kept() {
        let mut floats = [1.0, -3.0, 2.0, -0.5]
            .repeat(8)
            .into_iter()
            .map(f16::from_f32)
            .collect::<Vec<_>>();
        prune(&mut floats, 32).unwrap();
        let expected = [0.0, -3.0, 2.0, 0.0].map(f16::from_f32);
        assert!(floats.chunks(4).all(|group| group == expected));
        let mut integers = [-128_i8, 127, 1, -127].repeat(8);
        prune(&mut integers, 32).unwrap();
        assert_eq!(integers[..4], [-128, 127, 0, 0], "of equal ones the first");
        // 0x80 is NaN in FNUZ, and -0 in the OCP's encoding.
        let codes = [0x80, 0x01, 0x02, 0x03].repeat(8);
        let mut fnuz: Vec<_> = codes.iter().copied().map(Fp8Fnuz).collect();
        prune(&mut fnuz, 32).unwrap();
        assert_eq!(fnuz[..4], [0x80, 0, 0, 0x03].map(Fp8Fnuz));
        let mut ocp: Vec<_> = codes.into_iter().map(Fp8).collect();
        prune(&mut ocp, 32).unwrap();
        assert_eq!(ocp[..4], [0, 0, 0x02, 0x03].map(Fp8));
    }

    /// Unpacked by the documentation of the layout.
    #[test]
    fn what_is_packed_can_be_found() {
        let (rows, k) = (35, 96);
        let mut a: Vec<i8> = (0..rows * k)
            .map(|at| ((at * 37 + at / 7) % 251) as u8 as i8)
            .collect();
        prune(&mut a, k).unwrap();
        let Packed { elements, indices } = pack(&a, rows, k).unwrap();
        let layout = Indices::new(rows, k, ElementType::I8);
        let stored = Elements::new(rows, k, ElementType::I8);
        assert_eq!(elements.len(), 36 * 64, "of 18 pairs of rows, whole chunks");
        let mut unpacked = vec![0; a.len()];
        for row in 0..rows {
            for group in 0..k / 4 {
                let (byte, bit) = layout.place(row, group);
                let bits = indices[byte as usize] >> bit;
                let (first, second) = (bits & 3, bits >> 2 & 3);
                assert!(first < second);
                for (number, place) in [first, second].into_iter().enumerate() {
                    let at = row * k + 4 * group + u32::from(place);
                    let place = stored.place(row, 2 * group + number as u32);
                    unpacked[at as usize] = elements[place as usize];
                }
            }
        }
        assert_eq!(unpacked, a);
    }

    #[test]
    fn what_is_not_sparse_is_refused_with_its_place() {
        let mut a = vec![0_i8; 64];
        a[32 + 4..32 + 7].fill(1);
        assert_eq!(
            pack(&a, 2, 32).unwrap_err().to_string(),
            "row 1 of A has 3 elements that are not 0 from column 4 to 7, but a sparse A has at most 2 of each 4"
        );
        assert_eq!(
            pack(&a, 3, 32).unwrap_err().to_string(),
            "A has 64 elements, but 3 rows of 32 have 96"
        );
        assert_eq!(
            pack(&a, 4, 16).unwrap_err().to_string(),
            "k is 16, but must be a multiple of 32 for a sparse A"
        );
        assert_eq!(
            prune(&mut [0.0_f32; 32], 32).unwrap_err().to_string(),
            "there are no sparse products of f32; there are for f16, bf16, i8, fp8_fnuz, fp8"
        );
        assert_eq!(
            prune(&mut a, 96).unwrap_err().to_string(),
            "A has 64 elements, which are no whole rows of 96"
        );
        assert_eq!(
            prune(&mut a, 0).unwrap_err().to_string(),
            "A has 64 elements, which are no whole rows of 0"
        );
        assert_eq!(prune::<i8>(&mut [], 0), Ok(()));
        assert!(pack::<i8>(&[], 0, 32).unwrap().elements.is_empty());
    }
}
