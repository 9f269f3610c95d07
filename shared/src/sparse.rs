//! Sparse A: of each four elements along k, a row of A has two («2:4»).
//!
//! A is stored as two buffers. Its [`Elements`] are a matrix with k / 2 columns: columns 2g and 2g + 1 are what is left of
//! columns 4g to 4g + 3. Two [`Indices`] for each such group say which: bits 0 and 1 are the place of the first of the two in
//! its group, bits 2 and 3 that of the second, which is larger.

use crate::ElementType;

/// Elements along k of which two are stored.
pub const GROUP: u32 = 4;

/// Rows of A whose indices are together: those of a matrix instruction.
pub const BLOCK_ROWS: u32 = 32;

/// Lanes that take the indices of a block of rows.
const LANES: u32 = 64;

/// Bytes of stored elements of a row that are together: a row of a tile in LDS.
const CHUNK_BYTES: u32 = 64;

/// The elements of a matrix in memory: pairs of rows, of which a cache line of 128 bytes has 64 of each.
///
/// ```text
///                  chunk 0             chunk 1
/// pair of rows   ┌─────────┬─────────┬─────────┬─────────┬──
///                │ row 2p  │ 2p + 1  │ row 2p  │ 2p + 1  │ …
///                └─────────┴─────────┴─────────┴─────────┴──
/// ```
///
/// The last chunk of a row and the last pair are whole. Behind the end of a row there are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    rows: u32,
    /// Elements of a row, with the zeros at its end.
    columns: u32,
    /// Elements of a chunk.
    chunk: u32,
}

impl Elements {
    /// Those of a matrix with this many rows and `k` columns, of elements of 8 or 16 bits.
    pub const fn new(rows: u32, k: u32, element: ElementType) -> Self {
        let chunk = Self::chunk(element);
        Self {
            rows: rows.next_multiple_of(2),
            columns: (k / 2).next_multiple_of(chunk),
            chunk,
        }
    }

    /// Elements of a row that are together.
    pub const fn chunk(element: ElementType) -> u32 {
        CHUNK_BYTES * 8 / element.bits() as u32
    }

    /// Rows, an even number.
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Elements of a row, whole chunks.
    pub const fn columns(&self) -> u32 {
        self.columns
    }

    /// How many there are.
    pub const fn count(&self) -> u64 {
        self.rows as u64 * self.columns as u64
    }

    /// The place of the element in a row and a column of what is stored.
    pub const fn place(&self, row: u32, column: u32) -> u64 {
        let (chunk, in_chunk) = (column / self.chunk, column % self.chunk);
        let chunks = (self.columns / self.chunk) as u64;
        let before = (row / 2) as u64 * chunks + chunk as u64;
        (2 * before + (row % 2) as u64) * self.chunk as u64 + in_chunk as u64
    }
}

/// The indices of a matrix in memory: in the order in which lanes of `v_smfmac_*_32x32x*` take them.
///
/// ```text
/// block of 32 rows      chunk of k                                 lane l                    4 bytes (16-bit elements)
/// ┌─────────────┐       ┌──────────────────────────────┐           row l mod 32 of the       or 8 (8-bit elements):
/// │ chunk 0, 1… │   →   │ lane 0, lane 1, … lane 63    │     →     block, units ⌊l / 32⌋     unit ⌊l / 32⌋ first,
/// └─────────────┘       └──────────────────────────────┘           and ⌊l / 32⌋ + 2          4 bits for each group
/// ```
///
/// A unit is 16 bytes of stored elements, a chunk four units. The last chunk is whole, also if k ends before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indices {
    rows: u32,
    /// Chunks along k.
    chunks: u32,
    /// Groups of a unit.
    groups: u32,
}

impl Indices {
    /// Those of a matrix with this many rows and `k` columns, of elements of 8 or 16 bits.
    pub const fn new(rows: u32, k: u32, element: ElementType) -> Self {
        // A stored element takes as many bits as half a group.
        let groups = 128 / element.bits() as u32 / 2;
        Self {
            rows,
            chunks: k.div_ceil(4 * groups * GROUP),
            groups,
        }
    }

    /// Bytes of all.
    pub const fn size_bytes(&self) -> u64 {
        self.offset_of_rows(self.rows.next_multiple_of(BLOCK_ROWS))
    }

    /// The offset of the indices of row `first`, a multiple of [`BLOCK_ROWS`], in bytes.
    pub const fn offset_of_rows(&self, first: u32) -> u64 {
        let blocks = (first / BLOCK_ROWS) as u64;
        // Two units of 4 bits a group.
        blocks * self.chunks as u64 * (LANES * self.groups) as u64
    }

    /// The byte that has both indices of a group of a row, and their first bit in it.
    pub const fn place(&self, row: u32, group: u32) -> (u64, u32) {
        let (unit, in_unit) = (group / self.groups, group % self.groups);
        let (chunk, unit) = (unit / 4, unit % 4);
        let lane = unit % 2 * BLOCK_ROWS + row % BLOCK_ROWS;
        let nibble = unit / 2 * self.groups + in_unit;
        let before = self.offset_of_rows(row / BLOCK_ROWS * BLOCK_ROWS);
        let lanes = chunk as u64 * LANES as u64 + lane as u64;
        (
            before + lanes * self.groups as u64 + (nibble / 2) as u64,
            nibble % 2 * 4,
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_group_has_a_place_of_its_own() {
        for (element, k) in [(ElementType::F16, 160), (ElementType::I8, 160)] {
            let indices = Indices::new(40, k, element);
            let places: HashSet<_> = (0..40)
                .flat_map(|row| (0..k / GROUP).map(move |group| indices.place(row, group)))
                .collect();
            assert_eq!(places.len() as u32, 40 * k / GROUP);
            let last = places.into_iter().max().expect("not empty");
            assert!(last.0 < indices.size_bytes(), "{element}");
        }
    }

    #[test]
    fn rows_are_stored_in_pairs() {
        let elements = Elements::new(3, 160, ElementType::F16);
        assert_eq!((elements.columns(), elements.count()), (96, 4 * 96));
        assert_eq!(elements.place(0, 31), 31);
        assert_eq!(elements.place(1, 0), 32);
        assert_eq!(elements.place(0, 32), 64);
        assert_eq!(elements.place(1, 79), 2 * 64 + 32 + 15);
        assert_eq!(elements.place(2, 0), 2 * 96);
        let places: HashSet<_> = (0..4)
            .flat_map(|row| (0..96).map(move |column| elements.place(row, column)))
            .collect();
        assert_eq!(places.len() as u64, elements.count());
        assert_eq!(Elements::new(1, 32, ElementType::I8).count(), 2 * 64);
    }

    #[test]
    fn lanes_have_the_indices_of_their_units() {
        // 16 bits: units of 4 groups, of which a byte has two.
        let indices = Indices::new(64, 128, ElementType::F16);
        assert_eq!(indices.size_bytes(), 64 * 128 / 8);
        assert_eq!(indices.place(0, 1), (0, 4));
        assert_eq!(indices.place(0, 4), (32 * 4, 0), "unit 1 is lane 32's");
        assert_eq!(
            indices.place(3, 9),
            (3 * 4 + 2, 4),
            "unit 2 is behind unit 0"
        );
        assert_eq!(indices.place(3, 16), (256 + 3 * 4, 0), "the next chunk");
        assert_eq!(indices.place(32, 0), (512, 0), "the next block");
        // 8 bits: units of 8 groups.
        let indices = Indices::new(32, 128, ElementType::I8);
        assert_eq!(indices.size_bytes(), 32 * 128 / 8);
        assert_eq!(indices.place(1, 17), (8 + 4, 4));
        assert_eq!(indices.place(1, 8), (8 * 33, 0));
    }
}
