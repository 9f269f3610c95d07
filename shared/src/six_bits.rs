//! How the kernels of six-bit elements have them in LDS.
//!
//! The 32 elements that share a scale are 24 bytes. A stage is 128 elements along k, 96 bytes of a row, which is no whole cache
//! line. So kernels load panels of four stages: 384 bytes of a row, three lines of 128 bytes. LDS holds three stages, each with
//! the rows of the tile of A and behind them those of B, and the scales of a panel.
//!
//! Lanes read eight bytes of the same block of 32 rows at a time. With eight bytes of padding behind each eight rows, these are in
//! different banks. Lanes write units of 16 bytes in two halves: the same halves of a line's units in two rows that are eight apart
//! are in different banks, too.

/// Bytes of the elements that share a scale.
pub const BLOCK_BYTES: usize = 24;

/// Bytes of a row in a stage.
pub const STAGE_BYTES: usize = 96;

/// Stages of a panel.
pub const PANEL_STAGES: usize = 4;

/// Bytes of a row in a panel.
pub const PANEL_BYTES: usize = PANEL_STAGES * STAGE_BYTES;

/// Bytes behind each eight rows.
const PADDING: usize = 8;

/// Stages in LDS.
pub const SLOTS: usize = 3;

/// Scales of a row in a panel, a byte each.
pub const PANEL_SCALES: usize = PANEL_BYTES / BLOCK_BYTES;

/// Bytes from a stage's first row to row number `row`.
pub const fn row_start(row: usize) -> usize {
    row * STAGE_BYTES + row / 8 * PADDING
}

/// Bytes from a stage of `rows` rows, a multiple of 64, to the next one: so many that the units of a line of which a part is in
/// the next stage go to banks side by side, as if they followed each other. Where a line goes from the last slot to the first, some
/// banks get two units.
pub const fn slot_bytes(rows: usize) -> usize {
    row_start(rows) + STAGE_BYTES
}

/// LDS of a workgroup whose tiles have `rows` rows together, in bytes.
pub const fn lds_bytes(rows: usize) -> usize {
    SLOTS * slot_bytes(rows) + rows * PANEL_SCALES
}
