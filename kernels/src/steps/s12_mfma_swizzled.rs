//! Step 12, swizzled LDS: step 11 without bank conflicts.
//!
//! ```text
//!   units of 16 bytes, by the four banks they are in      a phase of a read: one unit of 8 rows
//!
//!   step 11: unit u of row r at 4r + u                    step 12: exchanged by bits of r (f16)
//!        banks 0–3  4–7 …         … 28–31                      banks 0–3  4–7 …         … 28–31
//!   r=0,1   │ 00 │ 01 │ 02 │ 03 │ 10 │ 11 │ 12 │ 13 │     r=0,1   │ 00 │ 01 │ 02 │ 03 │ 10 │ 11 │ 12 │ 13 │
//!   r=2,3   │ 20 │ 21 │ 22 │ 23 │ 30 │ 31 │ 32 │ 33 │     r=2,3   │ 22 │ 23 │ 20 │ 21 │ 32 │ 33 │ 30 │ 31 │
//!   r=4,5   │ 40 │ 41 │ 42 │ 43 │ 50 │ 51 │ 52 │ 53 │     r=4,5   │ 41 │ 40 │ 43 │ 42 │ 51 │ 50 │ 53 │ 52 │
//!   r=6,7   │ 60 │ 61 │ 62 │ 63 │ 70 │ 71 │ 72 │ 73 │     r=6,7   │ 63 │ 62 │ 61 │ 60 │ 73 │ 72 │ 71 │ 70 │
//!             unit 0 of 8 rows: two places, 4 cycles        unit 0 of 8 rows: eight places, 1 cycle
//! ```
//!
//! **What it adds to step 11.** An exclusive or of a few bits of the address, which a lane computes once
//! and which costs no memory, where padding rows would. [`units`](crate::tile::lds_layout) has the rule and the
//! proof: no read of an operand, no write of a row along k and none of one that was turned has a conflict, on
//! 32 banks and, with other bits, on gfx950's 64.
//!
//! **What it should gain.** A step of a wave reads 4 units a lane, 4 KiB, which are 32 cycles of LDS without
//! and 128 with conflicts of degree 4, for 4 waves; the matrix core needs 128 cycles for the step's 8
//! instructions in f16 on gfx942. So LDS is the bound in step 11 and the matrix cores can be here, once they
//! need not wait for the loads, which is what the next steps are for.

pub(super) use super::s11_mfma_wide::run;
