//! LDS bank conflicts: tests of the degrees that the documentation of the steps states.
//!
//! LDS serves an access of a wave in phases: groups of lanes whose bytes are as many as all banks deliver in a
//! cycle. In a cycle, a bank delivers one word; lanes that need the same word share it. gfx908 to gfx942 have
//! 32 banks of 4 bytes, gfx950 has 64.
//!
//! This module has the model and the access patterns of steps 1 to 9. The patterns of later steps are tested in
//! `steps/s12_mfma_swizzled.rs` and [`lane_map`](crate::matrix::lane_map).

extern crate std;
use super::{
    index::Index,
    swizzle::{FourRows, PiecesOfColumns, SixteenRows, Straight, Swizzle},
};
use crate::matrix::F32x16x16x4;
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    vec,
    vec::Vec,
};

/// An access, with the number of bytes per lane.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    Read(usize),
    Write(usize),
}

impl Access {
    fn bytes(self) -> usize {
        let (Self::Read(bytes) | Self::Write(bytes)) = self;
        bytes
    }
}

/// The phases of a wave: the lanes that are served together.
type Phases = Vec<Vec<u32>>;

/// The possible phases of a wave. One possibility is groups of neighbouring lanes. For reads of 16 bytes, another is
/// the groups that AMD's page «LDS bank conflicts» of Composable Kernel gives for 32 banks, and pairs of them on 64.
/// AMD does not say which of the two each GPU has, so a pattern must suit both.
fn orders(access: Access, banks: usize) -> Vec<Phases> {
    let wave: Vec<u32> = (0..64).collect();
    // A lane that needs less than a word still takes a whole one.
    let lanes = 4 * banks / access.bytes().max(4);
    let neighbours = wave.chunks(lanes).map(Vec::from).collect();
    let half: &[&[Range<u32>]] = match (access, banks) {
        (Access::Read(16), 32) => &[
            &[0..4, 20..24],
            &[4..8, 16..20],
            &[8..12, 28..32],
            &[12..16, 24..28],
        ],
        (Access::Read(16), 64) => &[&[0..4, 12..16, 20..28], &[4..12, 16..20, 28..32]],
        _ => return vec![neighbours],
    };
    let of_half = |first: u32| {
        half.iter().map(move |ranges| {
            ranges
                .iter()
                .cloned()
                .flatten()
                .map(|lane| first + lane)
                .collect()
        })
    };
    vec![neighbours, of_half(0).chain(of_half(32)).collect()]
}

/// The cycles of the worst phase when lane `l` accesses the bytes at `address(l)`: 1 without conflicts.
pub(crate) fn degree(banks: usize, access: Access, address: impl Fn(u32) -> usize) -> usize {
    let of_phase = |lanes: Vec<u32>| {
        let mut used = HashMap::<usize, HashSet<usize>>::new();
        for lane in lanes {
            let first = address(lane);
            for word in first / 4..(first + access.bytes()).div_ceil(4) {
                used.entry(word % banks).or_default().insert(word);
            }
        }
        used.values().map(HashSet::len).max().unwrap_or(0)
    };
    let phases = orders(access, banks).into_iter().flatten();
    phases.map(of_phase).max().unwrap_or(0)
}

/// The address of the 4 bytes of `(row, column)` in a tile with this pitch.
fn address<X: Swizzle>(pitch: u32, (row, column): (u32, u32)) -> usize {
    4 * (row * pitch + X::place(row, column)) as usize
}

/// The degrees on 32 and on 64 banks.
fn degrees(access: Access, address: impl Fn(u32) -> usize) -> [usize; 2] {
    [32, 64].map(|banks| degree(banks, access, &address))
}

#[test]
fn every_lane_is_in_one_phase() {
    for banks in [32, 64] {
        for bytes in [1, 2, 4, 8, 16] {
            for access in [Access::Read(bytes), Access::Write(bytes)] {
                for phases in orders(access, banks) {
                    let lanes = 4 * banks / bytes.max(4);
                    assert!(phases.iter().all(|phase| phase.len() == lanes));
                    let mut lanes = phases.concat();
                    lanes.sort_unstable();
                    assert!(lanes.into_iter().eq(0..64));
                }
            }
        }
    }
}

#[test]
fn lds_tiled() {
    // Lane l is thread (l mod 16, ⌊l / 16⌋).
    let a = |lane| address::<Straight>(16, (lane / 16, 0));
    let b = |lane| address::<Straight>(16, (0, lane % 16));
    assert_eq!(degrees(Access::Read(4), a), [1, 1]);
    assert_eq!(degrees(Access::Read(4), b), [1, 1]);
}

#[test]
fn register_tiled() {
    // A thread's first row is 4 ⌊lane / 4⌋, and a read takes four p of it.
    let a = |pitch| move |lane: u32| address::<Straight>(pitch, (lane / 4 * 4, 0));
    assert_eq!(degree(32, Access::Read(16), a(16)), 2, "without padding");
    assert_eq!(degrees(Access::Read(16), a(20)), [1, 1]);
    let b = |lane| address::<Straight>(32, (0, lane % 4 * 4));
    assert_eq!(degrees(Access::Read(16), b), [1, 1]);
    // 8 × 8: its first row is 8 ⌊lane / 8⌋, its first column 8 (lane mod 8).
    let a = |lane| address::<Straight>(12, (lane / 8 * 8, 0));
    assert_eq!(degree(32, Access::Read(16), a), 2);
    let b = |lane| address::<Straight>(128, (0, lane % 8 * 8));
    assert_eq!(degree(32, Access::Read(16), b), 2);
}

#[test]
fn vectorized_and_double_buffered() {
    for p in 0..8 {
        for half in [0, 32] {
            for wave in [0, 64] {
                let a = |lane| address::<PiecesOfColumns>(128, (p, wave + half + lane / 8 * 4));
                let b = |lane| address::<PiecesOfColumns>(128, (p, wave + half + lane % 8 * 4));
                assert_eq!(degrees(Access::Read(16), a), [1, 1]);
                assert_eq!(degrees(Access::Read(16), b), [1, 1]);
            }
        }
    }
    for first in (0..256).step_by(64) {
        // Piece number q, as `VectorLoader` assigns them.
        let along_w = |lane| {
            let q = first + lane;
            address::<PiecesOfColumns>(128, (q / 32, q % 32 * 4))
        };
        assert_eq!(degrees(Access::Write(16), along_w), [1, 1]);
        for down in 0..4 {
            let along_k = |lane| {
                let q = first + lane;
                address::<PiecesOfColumns>(128, (q % 2 * 4 + down, q / 2))
            };
            assert_eq!(degrees(Access::Write(4), along_k), [1, 1]);
        }
    }
    let unswizzled = |lane| address::<Straight>(128, (lane % 2 * 4, lane / 2));
    assert_eq!(degree(32, Access::Write(4), unswizzled), 2);
}

#[test]
fn matrix_cores_on_a_k_tile_of_256() {
    let lane = |number| Index::wrapping(number);
    for step in 0..64 {
        for wave in [0, 16] {
            let a = |number| {
                let (row, k) = F32x16x16x4::a(lane(number));
                (wave + row.get(), 4 * step + k.get())
            };
            let b = |number| {
                let (k, column) = F32x16x16x4::b(lane(number));
                (4 * step + k.get(), wave + column.get())
            };
            let read_a = |number| address::<SixteenRows>(256, a(number));
            let read_b = |number| address::<FourRows>(32, b(number));
            assert_eq!(degrees(Access::Read(4), read_a), [1, 1]);
            assert_eq!(degrees(Access::Read(4), read_b), [1, 1]);
            let unswizzled = |number| address::<Straight>(256, a(number));
            assert_eq!(degree(32, Access::Read(4), unswizzled), 16);
            let unswizzled = |number| address::<Straight>(32, b(number));
            assert_eq!(degree(32, Access::Read(4), unswizzled), 2);
        }
    }
    // A pass writes a row of A, or 8 rows of B; a wave 64 elements of a row, or two rows.
    for pass in 0..32 {
        for wave in (0..256).step_by(64) {
            let write_a = |number| address::<SixteenRows>(256, (pass, wave + number));
            let write_b = |number| {
                let thread = wave + number;
                address::<FourRows>(32, (8 * pass + thread / 32, thread % 32))
            };
            assert_eq!(degrees(Access::Write(4), write_a), [1, 1]);
            assert_eq!(degrees(Access::Write(4), write_b), [1, 1]);
        }
    }
}
