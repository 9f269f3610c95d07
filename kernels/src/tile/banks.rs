//! How often the busiest bank of LDS is used by accesses of the kernels' patterns: what the documentation
//! of the steps says of it.
//!
//! An access of a wave is served in phases, groups of lanes that together take what all banks give in a
//! cycle. Within a phase, a bank gives one word; lanes that need the same word share it. On gfx908 to
//! gfx942 there are 32 banks of 4 bytes, on gfx950 64.

extern crate std;
use super::{
    exchange::{Exchange, FourRows, PiecesOfColumns, SixteenRows, Straight},
    index::Index,
};
use crate::mfma::F32x16x16x4;
use std::{
    collections::{HashMap, HashSet},
    vec::Vec,
};

/// Words that a lane accesses at once, and whether it reads.
#[derive(Clone, Copy)]
enum Access {
    Word,
    ReadPiece,
    WritePiece,
}

/// The lanes of a wave in groups that are served together.
fn phases(access: Access, banks: usize) -> Vec<Vec<u32>> {
    let wave: Vec<u32> = (0..64).collect();
    let in_order = |lanes: usize| wave.chunks(lanes).map(Vec::from).collect();
    match (access, banks) {
        (Access::Word, banks) => in_order(banks),
        // Eight lanes at a time: in this order on gfx942, for all that is known.
        (Access::ReadPiece, 32) => [[0, 20], [4, 16], [8, 28], [12, 24]]
            .iter()
            .flat_map(|starts| [0, 32].map(|half| starts.map(|start| half + start)))
            .map(|starts| starts.iter().flat_map(|&start| start..start + 4).collect())
            .collect(),
        (Access::ReadPiece | Access::WritePiece, banks) => in_order(banks / 4),
    }
}

/// The cycles that the worst phase takes when lane `l` accesses the words from `word(l)` on.
fn degree(access: Access, banks: usize, word: impl Fn(u32) -> u32) -> usize {
    let words = match access {
        Access::Word => 1,
        Access::ReadPiece | Access::WritePiece => 4,
    };
    let of_phase = |lanes: Vec<u32>| {
        let mut used = HashMap::<u32, HashSet<u32>>::new();
        for lane in lanes {
            for word in (0..words).map(|i| word(lane) + i) {
                used.entry(word % banks as u32).or_default().insert(word);
            }
        }
        used.values().map(HashSet::len).max().unwrap_or(0)
    };
    let phases = phases(access, banks);
    phases.into_iter().map(of_phase).max().unwrap_or(0)
}

/// The word of `(row, column)` in a tile with this pitch.
fn word<X: Exchange>(pitch: u32, (row, column): (u32, u32)) -> u32 {
    row * pitch + X::place(row, column)
}

/// On 32 and on 64 banks.
fn degrees(access: Access, word: impl Fn(u32) -> u32) -> [usize; 2] {
    [32, 64].map(|banks| degree(access, banks, &word))
}

#[test]
fn every_lane_is_in_one_phase() {
    for banks in [32, 64] {
        for access in [Access::Word, Access::ReadPiece, Access::WritePiece] {
            let mut lanes = phases(access, banks).concat();
            lanes.sort_unstable();
            assert!(lanes.into_iter().eq(0..64));
        }
    }
}

#[test]
fn lds_tiled() {
    // Lane l is thread (l mod 16, ⌊l / 16⌋).
    let a = |lane| word::<Straight>(16, (lane / 16, 0));
    let b = |lane| word::<Straight>(16, (0, lane % 16));
    assert_eq!(degrees(Access::Word, a), [1, 1]);
    assert_eq!(degrees(Access::Word, b), [1, 1]);
}

#[test]
fn register_tiled() {
    // A thread's first row is 4 ⌊lane / 4⌋, and a read takes four p of it.
    let a = |pitch| move |lane: u32| word::<Straight>(pitch, (lane / 4 * 4, 0));
    assert_eq!(degree(Access::ReadPiece, 32, a(16)), 2, "without padding");
    assert_eq!(degrees(Access::ReadPiece, a(20)), [1, 1]);
    let b = |lane| word::<Straight>(32, (0, lane % 4 * 4));
    assert_eq!(degrees(Access::ReadPiece, b), [1, 1]);
    // 8 × 8: its first row is 8 ⌊lane / 8⌋, its first column 8 (lane mod 8).
    let a = |lane| word::<Straight>(12, (lane / 8 * 8, 0));
    assert_eq!(degree(Access::ReadPiece, 32, a), 2);
    let b = |lane| word::<Straight>(128, (0, lane % 8 * 8));
    assert_eq!(degree(Access::ReadPiece, 32, b), 2);
}

#[test]
fn vectorized_and_double_buffered() {
    for p in 0..8 {
        for half in [0, 32] {
            for wave in [0, 64] {
                let a = |lane| word::<PiecesOfColumns>(128, (p, wave + half + lane / 8 * 4));
                let b = |lane| word::<PiecesOfColumns>(128, (p, wave + half + lane % 8 * 4));
                assert_eq!(degrees(Access::ReadPiece, a), [1, 1]);
                assert_eq!(degrees(Access::ReadPiece, b), [1, 1]);
            }
        }
    }
    for first in (0..256).step_by(64) {
        // Piece number q, as `Reader` deals them out.
        let along_w = |lane| {
            let q = first + lane;
            word::<PiecesOfColumns>(128, (q / 32, q % 32 * 4))
        };
        assert_eq!(degrees(Access::WritePiece, along_w), [1, 1]);
        for down in 0..4 {
            let along_k = |lane| {
                let q = first + lane;
                word::<PiecesOfColumns>(128, (q % 2 * 4 + down, q / 2))
            };
            assert_eq!(degrees(Access::Word, along_k), [1, 1]);
        }
    }
    let unexchanged = |lane| word::<Straight>(128, (lane % 2 * 4, lane / 2));
    assert_eq!(degree(Access::Word, 32, unexchanged), 2);
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
            let read_a = |number| word::<SixteenRows>(256, a(number));
            let read_b = |number| word::<FourRows>(32, b(number));
            assert_eq!(degrees(Access::Word, read_a), [1, 1]);
            assert_eq!(degrees(Access::Word, read_b), [1, 1]);
            let unexchanged = |number| word::<Straight>(256, a(number));
            assert_eq!(degree(Access::Word, 32, unexchanged), 16);
            let unexchanged = |number| word::<Straight>(32, b(number));
            assert_eq!(degree(Access::Word, 32, unexchanged), 2);
        }
    }
    // A pass writes a row of A, or 8 rows of B; a wave 64 elements of a row, or two rows.
    for pass in 0..32 {
        for wave in (0..256).step_by(64) {
            let write_a = |number| word::<SixteenRows>(256, (pass, wave + number));
            let write_b = |number| {
                let thread = wave + number;
                word::<FourRows>(32, (8 * pass + thread / 32, thread % 32))
            };
            assert_eq!(degrees(Access::Word, write_a), [1, 1]);
            assert_eq!(degrees(Access::Word, write_b), [1, 1]);
        }
    }
}
