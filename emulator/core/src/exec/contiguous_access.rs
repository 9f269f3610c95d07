//! Accesses whose lanes are at 32-bit offsets from one base: LDS always, global memory nearly always.
//!
//! Kernels keep lanes contiguous, or at one address, because that is fast on a GPU. Such chunks move as whole host
//! vectors, and chunks with equal addresses are read once.

use std::{
    ops::BitOr,
    simd::{prelude::*, simd_swizzle},
};

use super::{
    Wave,
    array::{Mapped, array},
    lanes::{chunks, joined},
    simd::{M, U, all_lanes, chunk_mask},
    transfer::Small,
    wave::Lanes,
};
use crate::memory::shared::Moves;

/// The checked addresses of a wave's lanes: every active lane's bytes may be accessed. They are at `base` plus
/// `offsets`, which are at most [`ContiguousAccess::FARTHEST`].
pub(super) struct ContiguousAccess<const C: usize> {
    pub(super) base: u64,
    pub(super) offsets: [U; C],
    pub(super) exec: u64,
    pub(super) moves: Moves,
}

const IOTA: U = U::from_array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

impl<const C: usize> ContiguousAccess<C> {
    /// Largest offset. If no lane is above it, sixteen contiguous lanes of 16 bytes do not wrap around in 32 bits.
    pub(super) const FARTHEST: u32 = u32::MAX - 256;

    /// The active lanes of a chunk, one bit each.
    #[inline(always)]
    fn active(&self, chunk: usize) -> u32 {
        (self.exec >> (16 * chunk)) as u32 & 0xffff
    }

    /// The address of a chunk's first lane.
    #[inline(always)]
    fn first(&self, chunk: usize) -> u64 {
        self.base + u64::from(self.offsets[chunk][0])
    }

    /// Nonzero where a chunk's lanes are not all at one address.
    #[inline(always)]
    fn differs_from_first(&self, chunk: usize) -> U {
        self.offsets[chunk] ^ U::splat(self.offsets[chunk][0])
    }

    /// Nonzero where a chunk is not contiguous with a stride of `bytes`.
    #[inline(always)]
    fn differs_from_row(&self, chunk: usize, bytes: u32) -> U {
        let first = U::splat(self.offsets[chunk][0]);
        self.offsets[chunk] ^ (first + IOTA * U::splat(bytes))
    }

    /// Runs `f` for the active lanes of a chunk.
    #[inline(always)]
    fn each(&self, chunk: usize, mut f: impl FnMut(usize, u64)) {
        let offsets = self.offsets[chunk].to_array();
        let mut left = self.active(chunk);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            f(lane, self.base + u64::from(offsets[lane]));
            left &= left - 1;
        }
    }

    /// Loads `N` dwords per lane to consecutive registers. All lanes are active.
    #[inline(always)]
    pub(super) fn load<const N: usize>(&self, w: &mut Wave<C>, register: u16) {
        // A local copy, here and below: the compiler knows its value now, but not once the first access may have
        // changed memory.
        let moves = self.moves;
        // Few tests, because the host predicts them badly: their results change with the instruction.
        if N > 1 && self.chunks_are_alike() {
            // SAFETY: all lanes are active, so their bytes were checked.
            let parts = unsafe { self.chunk::<N>(moves, 0) };
            for chunk in 0..C {
                put(w, register, chunk, parts);
            }
            return;
        }
        if self.is_row(4 * N as u32) {
            for chunk in 0..C {
                // SAFETY: all lanes are active, so their bytes were checked.
                put(w, register, chunk, unsafe { self.row::<N>(moves, chunk) });
            }
            return;
        }
        if is_zero(joined::<C, _>(|c| self.differs_from_first(c), U::bitor)) {
            for chunk in 0..C {
                // SAFETY: all lanes are active, so their bytes were checked.
                put(w, register, chunk, unsafe { self.same::<N>(moves, chunk) });
            }
            return;
        }
        self.in_memory().load_chunks::<N>(w, register);
    }

    /// Copies the offsets to memory: the slow path indexes them in a loop, and host registers cannot be indexed.
    #[inline(always)]
    fn in_memory(&self) -> Self {
        ContiguousAccess {
            offsets: chunks(|c| self.offsets[c]),
            ..*self
        }
    }

    /// Whether all chunks have the same addresses.
    #[inline(always)]
    fn chunks_are_alike(&self) -> bool {
        let first = self.offsets[0];
        is_zero(joined::<C, _>(|c| self.offsets[c] ^ first, U::bitor))
    }

    /// Whether each chunk is contiguous with a stride of `bytes`.
    #[inline(always)]
    fn is_row(&self, bytes: u32) -> bool {
        is_zero(joined::<C, _>(
            |c| self.differs_from_row(c, bytes),
            U::bitor,
        ))
    }

    /// As [`Self::load`] for any active lanes, but slower.
    #[inline(always)]
    pub(super) fn load_some(&self, w: &mut Wave<C>, register: u16, count: usize) {
        match count {
            1 => self.load_chunks::<1>(w, register),
            2 => self.load_chunks::<2>(w, register),
            3 => self.load_chunks::<3>(w, register),
            _ => self.load_chunks::<4>(w, register),
        }
    }

    #[inline(always)]
    fn load_chunks<const N: usize>(&self, w: &mut Wave<C>, register: u16) {
        let moves = self.moves;
        for chunk in 0..C {
            if self.active(chunk) == 0xffff {
                // SAFETY: all sixteen lanes are active, so their bytes were checked.
                let parts: [U; N] = unsafe { self.chunk(moves, chunk) };
                put(w, register, chunk, parts);
                continue;
            }
            self.each(chunk, |lane, address| {
                // SAFETY: the lane is active, so its bytes were checked.
                let data: [u32; N] = unsafe { moves.read(address) };
                for (part, value) in data.into_iter().enumerate() {
                    w.lanes_mut(register + part as u16).as_mut_array()[16 * chunk + lane] = value;
                }
            });
        }
    }

    /// Loads a byte or a half per active lane.
    #[inline(always)]
    pub(super) fn load_small(&self, w: &mut Wave<C>, register: u16, small: Small) {
        let (mut values, moves) = (Lanes::splat(0), self.moves);
        for chunk in 0..C {
            let whole = self.active(chunk) == 0xffff;
            if whole && is_zero(self.differs_from_row(chunk, small.bytes)) {
                let first = self.first(chunk);
                // SAFETY: all sixteen lanes are active, so their bytes were checked.
                values.0[chunk] = unsafe {
                    match small.bytes {
                        1 => Simd::from_array(moves.read::<[u8; 16]>(first)).cast(),
                        _ => Simd::from_array(moves.read::<[u16; 16]>(first)).cast(),
                    }
                };
                continue;
            }
            self.each(chunk, |lane, address| {
                // SAFETY: the lane is active, so its bytes were checked.
                let value = unsafe { moves.read_small(address, small.bytes) };
                values.as_mut_array()[16 * chunk + lane] = value;
            });
        }
        small.put(w, register, self.exec, &values.0);
    }

    /// Reads `N` dwords per lane of a chunk whose lanes are all active.
    ///
    /// # Safety
    /// The bytes of all its lanes were checked.
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, moves: Moves, chunk: usize) -> [U; N] {
        if is_zero(self.differs_from_row(chunk, 4 * N as u32)) {
            // SAFETY: the caller's promise.
            return unsafe { self.row(moves, chunk) };
        }
        if is_zero(self.differs_from_first(chunk)) {
            // SAFETY: the caller's promise.
            return unsafe { self.same(moves, chunk) };
        }
        // SAFETY: the caller's promise.
        let rows: [[u32; 16]; N] = unsafe { moves.read_lanes(self.base, self.offsets[chunk]) };
        turned(rows.mapped(U::from_array))
    }

    /// Reads `N` dwords per lane of a contiguous chunk.
    ///
    /// # Safety
    /// The bytes of all its lanes were checked.
    #[inline(always)]
    unsafe fn row<const N: usize>(&self, moves: Moves, chunk: usize) -> [U; N] {
        // SAFETY: these are the lanes' bytes.
        let rows: [[u32; 16]; N] = unsafe { moves.read(self.first(chunk)) };
        turned(rows.mapped(U::from_array))
    }

    /// Reads `N` dwords per lane of a chunk whose lanes are at one address.
    ///
    /// # Safety
    /// The bytes of one of its lanes were checked.
    #[inline(always)]
    unsafe fn same<const N: usize>(&self, moves: Moves, chunk: usize) -> [U; N] {
        // SAFETY: these are each lane's bytes.
        let data: [u32; N] = unsafe { moves.read(self.first(chunk)) };
        data.mapped(U::splat)
    }

    /// Stores `N` dwords per lane from consecutive registers. All lanes are active; where they overlap, the highest
    /// wins.
    #[inline(always)]
    pub(super) fn store<const N: usize>(&self, w: &Wave<C>, register: u16) {
        let moves = self.moves;
        if self.is_row(4 * N as u32) {
            for chunk in 0..C {
                // SAFETY: all lanes are active, so their bytes were checked.
                unsafe { self.store_row::<N>(moves, w, register, chunk) };
            }
            return;
        }
        self.in_memory().store_chunks::<N>(w, register);
    }

    /// As [`Self::store`] for any active lanes, but slower.
    #[inline(always)]
    pub(super) fn store_some(&self, w: &Wave<C>, register: u16, count: usize) {
        match count {
            1 => self.store_chunks::<1>(w, register),
            2 => self.store_chunks::<2>(w, register),
            3 => self.store_chunks::<3>(w, register),
            _ => self.store_chunks::<4>(w, register),
        }
    }

    #[inline(always)]
    fn store_chunks<const N: usize>(&self, w: &Wave<C>, register: u16) {
        let moves = self.moves;
        for chunk in 0..C {
            if self.active(chunk) == 0xffff && is_zero(self.differs_from_row(chunk, 4 * N as u32)) {
                // SAFETY: all sixteen lanes are active, so their bytes were checked.
                unsafe { self.store_row::<N>(moves, w, register, chunk) };
                continue;
            }
            self.each(chunk, |lane, address| {
                let data: [u32; N] =
                    array(|part| w.lanes(register + part as u16).as_array()[16 * chunk + lane]);
                // SAFETY: the lane is active, so its bytes were checked.
                unsafe { moves.write(address, data) };
            });
        }
    }

    /// Stores a contiguous chunk.
    ///
    /// # Safety
    /// The bytes of all its lanes were checked.
    #[inline(always)]
    unsafe fn store_row<const N: usize>(
        &self,
        moves: Moves,
        w: &Wave<C>,
        register: u16,
        chunk: usize,
    ) {
        let parts: [U; N] = array(|part| w.lanes(register + part as u16).0[chunk]);
        for (place, row) in turned_back(parts).into_iter().enumerate() {
            let address = self.base + u64::from(self.offsets[chunk][0]) + 64 * place as u64;
            // SAFETY: these are the lanes' bytes.
            unsafe { moves.write(address, row.to_array()) };
        }
    }
}

/// Writes the loaded dwords of a chunk to consecutive registers.
#[inline(always)]
fn put<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    register: u16,
    chunk: usize,
    parts: [U; N],
) {
    for (register, lanes) in (register..).zip(parts) {
        w.lanes_mut(register).0[chunk] = lanes;
    }
}

#[inline(always)]
fn is_zero(bits: U) -> bool {
    !bits.simd_ne(U::splat(0)).any()
}

/// Whether all active lanes' offsets are from `low` to `high`, inclusive.
#[inline(always)]
pub(super) fn within<const C: usize>(offsets: &[U; C], exec: u64, low: u32, high: u32) -> bool {
    let span = U::splat(high.wrapping_sub(low));
    let outside = |chunk: usize| {
        let outside = (offsets[chunk] - U::splat(low)).simd_gt(span);
        match exec == all_lanes(C) {
            true => outside,
            false => outside & chunk_mask(exec, chunk),
        }
    };
    low <= high && !joined::<C, _>(outside, M::bitor).any()
}

/// Transposes 16 × `N` dwords: from lane after lane in memory order to one vector per dword of a lane.
#[inline(always)]
fn turned<const N: usize>(rows: [U; N]) -> [U; N] {
    let mut parts = rows;
    match N {
        1 => {}
        2 => {
            let (a, b) = (rows[0], rows[1]);
            parts[0] = simd_swizzle!(
                a,
                b,
                [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
            );
            parts[1] = simd_swizzle!(
                a,
                b,
                [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
            );
        }
        4 => {
            // Dwords 0 and 1 of eight lanes each, and dwords 2 and 3.
            let first = |a: U, b: U| -> U {
                simd_swizzle!(
                    a,
                    b,
                    [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29]
                )
            };
            let last = |a: U, b: U| -> U {
                simd_swizzle!(
                    a,
                    b,
                    [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31]
                )
            };
            let (low, high) = (first(rows[0], rows[1]), first(rows[2], rows[3]));
            (parts[0], parts[1]) = (lower_halves(low, high), upper_halves(low, high));
            let (low, high) = (last(rows[0], rows[1]), last(rows[2], rows[3]));
            (parts[2], parts[3]) = (lower_halves(low, high), upper_halves(low, high));
        }
        _ => {
            let rows = rows.mapped(|row| row.to_array());
            let flat = rows.as_flattened();
            for (part, lanes) in parts.iter_mut().enumerate() {
                *lanes = U::from_array(array(|lane| flat[N * lane + part]));
            }
        }
    }
    parts
}

/// The inverse of [`turned`].
#[inline(always)]
fn turned_back<const N: usize>(parts: [U; N]) -> [U; N] {
    let mut rows = parts;
    match N {
        1 => {}
        2 => {
            let (a, b) = (parts[0], parts[1]);
            rows[0] = simd_swizzle!(
                a,
                b,
                [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
            );
            rows[1] = simd_swizzle!(
                a,
                b,
                [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31]
            );
        }
        4 => {
            let lanes = |first: U, last: U| -> [U; 2] {
                [
                    simd_swizzle!(
                        first,
                        last,
                        [0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27]
                    ),
                    simd_swizzle!(
                        first,
                        last,
                        [4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31]
                    ),
                ]
            };
            let [a, b, c, d] = [parts[0], parts[1], parts[2], parts[3]];
            [rows[0], rows[1]] = lanes(lower_halves(a, b), lower_halves(c, d));
            [rows[2], rows[3]] = lanes(upper_halves(a, b), upper_halves(c, d));
        }
        _ => {
            let parts = parts.mapped(|part| part.to_array());
            let mut flat = [[0; 16]; N];
            for (place, value) in flat.as_flattened_mut().iter_mut().enumerate() {
                *value = parts[place % N][place / N];
            }
            rows = flat.mapped(U::from_array);
        }
    }
    rows
}

#[inline(always)]
fn lower_halves(a: U, b: U) -> U {
    simd_swizzle!(
        a,
        b,
        [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
    )
}

#[inline(always)]
fn upper_halves(a: U, b: U) -> U {
    simd_swizzle!(
        a,
        b,
        [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{SimdLevel, simd::CHUNKS};

    fn turns_back<const N: usize>() {
        let rows: [U; N] = std::array::from_fn(|row| IOTA + U::splat(16 * row as u32));
        let parts = turned(rows);
        for (part, lanes) in parts.iter().enumerate() {
            for lane in 0..16 {
                assert_eq!(
                    lanes[lane] as usize,
                    N * lane + part,
                    "dword {part} of lane {lane}"
                );
            }
        }
        assert_eq!(turned_back(parts), rows);
    }

    #[test]
    fn dwords_are_turned_and_turned_back() {
        turns_back::<1>();
        turns_back::<2>();
        turns_back::<3>();
        turns_back::<4>();
    }

    /// Offsets of all lanes in each pattern that the code tells apart, and near misses of them; all below 4096.
    fn ways(bytes: u32) -> Vec<[U; CHUNKS]> {
        let of = |f: &dyn Fn(u32) -> u32| {
            chunks(|c| U::from_array(std::array::from_fn(|lane| f((16 * c + lane) as u32))))
        };
        let mut ways = vec![
            of(&|lane| 4 + lane * bytes),
            of(&|lane| lane % 16 * bytes),
            of(&|_| 12),
            of(&|lane| lane / 16 * 36),
            of(&|lane| lane % 16 * bytes + lane / 16 * 3),
            of(&|lane| lane * 37 % 1021),
            of(&|lane| lane % 16 * 37),
            of(&|lane| (63 - lane) * bytes),
            of(&|lane| match lane {
                0..32 => lane * bytes,
                32..48 => 5,
                _ => lane * 31 % 977,
            }),
        ];
        // One lane off by 1.
        for lane in [0, 15, 16, 63] {
            for way in 0..4 {
                let mut offsets = ways[way];
                offsets[lane / 16][lane % 16] += 1;
                ways.push(offsets);
            }
        }
        ways
    }

    fn moves_as_lanes_would<const N: usize>() {
        moves_as_lanes_would_by::<N>(Moves::Own);
        moves_as_lanes_would_by::<N>(SimdLevel::detect().moves());
    }

    fn moves_as_lanes_would_by<const N: usize>(moves: Moves) {
        let mut memory: Vec<u8> = (0..8192_u32).map(|i| (i * i / 7 + i) as u8).collect();
        for offsets in ways(4 * N as u32) {
            for exec in [!0, 0, 1, !0 << 16, 0x0fff_ffff_0001_ffff] {
                let near = ContiguousAccess {
                    base: memory.as_mut_ptr().expose_provenance() as u64,
                    offsets,
                    exec,
                    moves,
                };
                let place = |lane: usize| offsets[lane / 16][lane % 16] as usize;
                let (mut wave, before) = (Wave::default(), 0xdead_beef);
                for part in 0..N as u16 {
                    *wave.lanes_mut(8 + part) = Lanes::splat(before);
                }
                match exec {
                    u64::MAX => near.load::<N>(wave.with_chunks(), 8),
                    _ => near.load_some(wave.with_chunks(), 8, N),
                }
                for lane in 0..64 {
                    for part in 0..N {
                        let bytes = &memory[place(lane) + 4 * part..][..4];
                        let expected = match exec >> lane & 1 {
                            1 => u32::from_le_bytes(bytes.try_into().unwrap()),
                            _ => before,
                        };
                        let loaded = wave.lanes(8 + part as u16).as_array()[lane];
                        assert_eq!(loaded, expected, "lane {lane}, {offsets:?}, {exec:#x}");
                    }
                }
                let value = |lane: usize, part: usize| (lane * 0x0101_0101 + part * 77) as u32;
                let mut expected = memory.clone();
                for lane in 0..64 {
                    for part in 0..N {
                        let lanes = wave.lanes_mut(8 + part as u16).as_mut_array();
                        lanes[lane] = value(lane, part);
                        if exec >> lane & 1 == 1 {
                            expected[place(lane) + 4 * part..][..4]
                                .copy_from_slice(&value(lane, part).to_le_bytes());
                        }
                    }
                }
                match exec {
                    u64::MAX => near.store::<N>(wave.with_chunks(), 8),
                    _ => near.store_some(wave.with_chunks(), 8, N),
                }
                assert!(memory == expected, "{offsets:?}, {exec:#x}");
            }
        }
    }

    #[test]
    fn dwords_move_as_they_would_lane_by_lane() {
        moves_as_lanes_would::<1>();
        moves_as_lanes_would::<2>();
        moves_as_lanes_would::<3>();
        moves_as_lanes_would::<4>();
    }

    #[test]
    fn bytes_and_halves_move_as_they_would_lane_by_lane() {
        let mut memory: Vec<u8> = (0..8192_u32).map(|i| (i * i / 7 + i) as u8).collect();
        for (bytes, moves) in [(1, Moves::Own), (2, SimdLevel::detect().moves())] {
            for (offsets, exec) in ways(bytes)
                .into_iter()
                .flat_map(|offsets| [!0, 1, 0xffff_0001_ffff].map(|exec| (offsets, exec)))
            {
                let near = ContiguousAccess {
                    base: memory.as_mut_ptr().expose_provenance() as u64,
                    offsets,
                    exec,
                    moves,
                };
                let mut wave = Wave::default();
                *wave.lanes_mut(8) = Lanes::splat(0xdead_beef);
                let data = Small::high_half(bytes);
                near.load_small(wave.with_chunks(), 8, data);
                for lane in 0..64 {
                    let place = offsets[lane / 16][lane % 16] as usize;
                    let high = match (exec >> lane & 1, bytes) {
                        (0, _) => 0xdead,
                        (_, 1) => u16::from(memory[place]),
                        _ => u16::from_le_bytes([memory[place], memory[place + 1]]),
                    };
                    let expected = u32::from(high) << 16 | 0xbeef;
                    let loaded = wave.lanes(8).as_array()[lane];
                    assert_eq!(loaded, expected, "lane {lane}, {offsets:?}, {exec:#x}");
                }
            }
        }
    }

    #[test]
    fn offsets_outside_are_seen_in_active_lanes_only() {
        let mut offsets = [U::splat(8); CHUNKS];
        offsets[2][5] = 100;
        assert!(within(&offsets, !0, 8, 100));
        assert!(!within(&offsets, !0, 8, 99));
        assert!(!within(&offsets, !0, 9, 100));
        assert!(within(&offsets, !(1 << 37), 8, 8));
        assert!(!within(&offsets, 1 << 37, 8, 8));
        assert!(!within(&offsets, !0, 9, 8), "an empty range");
    }
}
