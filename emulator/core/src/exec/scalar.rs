//! The scalar unit: SOP1, SOP2, SOPC, SOPK.

use super::{
    Wave,
    lanes::Binder,
    operation::{Flow, Handler},
    wave::M0,
};
use ferrowave_isa::run::{
    ScalarArithmetic, ScalarCompare, ScalarConstant, ScalarLogic, ScalarMoves, ScalarOneSource,
    ScalarSaveExec,
};

impl<const C: usize> Binder<C> {
    /// A 32-bit result from one 32-bit source.
    fn s1<F: Fn(&mut Wave<C>, u32) -> u32 + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.read32(&o.src[0]);
                let result = f(w, a);
                w.set_scalar(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 64-bit result from one 64-bit source.
    fn s1_64<F: Fn(&mut Wave<C>, u64) -> u64 + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.read64(&o.src[0]);
                let result = f(w, a);
                w.set_scalar_pair(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from one 64-bit source.
    fn s1_narrow<F: Fn(&mut Wave<C>, u64) -> u32 + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.read64(&o.src[0]);
                let result = f(w, a);
                w.set_scalar(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from two 32-bit sources.
    fn s2<F: Fn(&mut Wave<C>, u32, u32) -> u32 + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.read32(&o.src[0]), w.read32(&o.src[1]));
                let result = f(w, a, b);
                w.set_scalar(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 64-bit result from two 64-bit sources.
    fn s2_64<F: Fn(&mut Wave<C>, u64, u64) -> u64 + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.read64(&o.src[0]), w.read64(&o.src[1]));
                let result = f(w, a, b);
                w.set_scalar_pair(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 64-bit result from a 64-bit and a 32-bit source.
    fn s2_shift64<F: Fn(&mut Wave<C>, u64, u32) -> u64 + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.read64(&o.src[0]), w.read32(&o.src[1]));
                let result = f(w, a, b);
                w.set_scalar_pair(o.dst, result);
                Flow::Next
            },
        )
    }

    fn s_compare<F: Fn(u32, u32) -> bool + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                w.scc = f(w.read32(&o.src[0]), w.read32(&o.src[1]));
                Flow::Next
            },
        )
    }

    fn s_compare64<F: Fn(u64, u64) -> bool + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                w.scc = f(w.read64(&o.src[0]), w.read64(&o.src[1]));
                Flow::Next
            },
        )
    }

    /// Computes a new EXEC from EXEC and the source; the result is the old one.
    fn save_exec<F: Fn(u64, u64) -> u64 + Copy + 'static>(self, f: F) -> Handler {
        self.exec(f, |old, _| old)
    }

    /// As [`Binder::save_exec`], but the result is the new EXEC.
    fn write_exec<F: Fn(u64, u64) -> u64 + Copy + 'static>(self, f: F) -> Handler {
        self.exec(f, |_, new| new)
    }

    fn exec<F, G>(self, f: F, result: G) -> Handler
    where
        F: Fn(u64, u64) -> u64 + Copy + 'static,
        G: Fn(u64, u64) -> u64 + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (source, old) = (w.read64(&o.src[0]), w.exec);
                w.exec = f(source, old);
                w.scc = w.exec != 0;
                w.set_scalar_pair(o.dst, result(old, w.exec));
                Flow::Next
            },
        )
    }
}

impl<const C: usize> Binder<C> {
    /// As [`Binder::save_exec`] for the lower half of EXEC, which is all of it in waves of 32 lanes.
    fn save_exec_low<F: Fn(u32, u32) -> u32 + Copy + 'static>(self, f: F) -> Handler {
        self.exec_low(f, |old, _| old)
    }

    /// As [`Binder::write_exec`] for the lower half of EXEC.
    fn write_exec_low<F: Fn(u32, u32) -> u32 + Copy + 'static>(self, f: F) -> Handler {
        self.exec_low(f, |_, new| new)
    }

    fn exec_low<F, G>(self, f: F, result: G) -> Handler
    where
        F: Fn(u32, u32) -> u32 + Copy + 'static,
        G: Fn(u32, u32) -> u32 + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (source, old) = (w.read32(&o.src[0]), w.exec as u32);
                let new = f(source, old);
                w.exec = w.exec & !0xffff_ffff | u64::from(new);
                w.scc = new != 0;
                w.set_scalar(o.dst, result(old, new));
                Flow::Next
            },
        )
    }
}

/// Sets SCC to whether the result is nonzero.
fn flag32<const C: usize>(w: &mut Wave<C>, value: u32) -> u32 {
    w.scc = value != 0;
    value
}

fn flag64<const C: usize>(w: &mut Wave<C>, value: u64) -> u64 {
    w.scc = value != 0;
    value
}

pub(super) fn moves<const C: usize>(b: Binder<C>, op: ScalarMoves) -> Handler {
    match op {
        ScalarMoves::s_mov_b32 | ScalarMoves::s_movk_i32 => b.s1(|_, a| a),
        ScalarMoves::s_mov_b64 => b.s1_64(|_, a| a),
        ScalarMoves::s_cmov_b32 | ScalarMoves::s_cmovk_i32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                if w.scc {
                    let value = w.read32(&o.src[0]);
                    w.set_scalar(o.dst, value);
                }
                Flow::Next
            },
        ),
        ScalarMoves::s_cmov_b64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                if w.scc {
                    let value = w.read64(&o.src[0]);
                    w.set_scalar_pair(o.dst, value);
                }
                Flow::Next
            },
        ),
        ScalarMoves::s_cselect_b32 => b.s2(|w, x, y| if w.scc { x } else { y }),
        ScalarMoves::s_cselect_b64 => b.s2_64(|w, x, y| if w.scc { x } else { y }),
        ScalarMoves::s_movrels_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let value = w.scalar(relative(w, o.src[0].register));
                w.set_scalar(o.dst, value);
                Flow::Next
            },
        ),
        ScalarMoves::s_movrels_b64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let value = w.scalar_pair(relative(w, o.src[0].register));
                w.set_scalar_pair(o.dst, value);
                Flow::Next
            },
        ),
        ScalarMoves::s_movreld_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let value = w.read32(&o.src[0]);
                w.set_scalar(relative(w, o.dst), value);
                Flow::Next
            },
        ),
        ScalarMoves::s_movrelsd_2_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let m0 = w.scalar(M0);
                let from = o.src[0].register.wrapping_add(m0 as u16 & 0x3ff);
                let value = w.scalar(from.min(104));
                let to = o.dst.wrapping_add((m0 >> 16) as u16 & 0x3ff);
                w.set_scalar(to.min(104), value);
                Flow::Next
            },
        ),
        ScalarMoves::s_movreld_b64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let value = w.read64(&o.src[0]);
                w.set_scalar_pair(relative(w, o.dst), value);
                Flow::Next
            },
        ),
    }
}

/// A register indexed by `m0`, limited to the SGPRs.
fn relative<const C: usize>(w: &Wave<C>, register: u16) -> u16 {
    (register.wrapping_add(w.scalar(M0) as u16)).min(104)
}

pub(super) fn one_source<const C: usize>(b: Binder<C>, op: ScalarOneSource) -> Handler {
    match op {
        ScalarOneSource::s_not_b32 => b.s1(|w, a| flag32(w, !a)),
        ScalarOneSource::s_not_b64 => b.s1_64(|w, a| flag64(w, !a)),
        ScalarOneSource::s_wqm_b32 => b.s1(|w, a| flag32(w, whole_quads(u64::from(a)) as u32)),
        ScalarOneSource::s_wqm_b64 => b.s1_64(|w, a| flag64(w, whole_quads(a))),
        ScalarOneSource::s_quadmask_b32 => b.s1(|w, a| flag32(w, quad_mask(u64::from(a)) as u32)),
        ScalarOneSource::s_quadmask_b64 => b.s1_64(|w, a| flag64(w, quad_mask(a))),
        ScalarOneSource::s_brev_b32 => b.s1(|_, a| a.reverse_bits()),
        ScalarOneSource::s_brev_b64 => b.s1_64(|_, a| a.reverse_bits()),
        ScalarOneSource::s_bcnt0_i32_b32 => b.s1(|w, a| flag32(w, a.count_zeros())),
        ScalarOneSource::s_bcnt0_i32_b64 => b.s1_narrow(|w, a| flag32(w, a.count_zeros())),
        ScalarOneSource::s_bcnt1_i32_b32 => b.s1(|w, a| flag32(w, a.count_ones())),
        ScalarOneSource::s_bcnt1_i32_b64 => b.s1_narrow(|w, a| flag32(w, a.count_ones())),
        ScalarOneSource::s_ff0_i32_b32 => b.s1(|_, a| first(a.trailing_ones(), 32)),
        ScalarOneSource::s_ff0_i32_b64 => b.s1_narrow(|_, a| first(a.trailing_ones(), 64)),
        ScalarOneSource::s_ff1_i32_b32 => b.s1(|_, a| first(a.trailing_zeros(), 32)),
        ScalarOneSource::s_ff1_i32_b64 => b.s1_narrow(|_, a| first(a.trailing_zeros(), 64)),
        ScalarOneSource::s_flbit_i32_b32 => b.s1(|_, a| first(a.leading_zeros(), 32)),
        ScalarOneSource::s_flbit_i32_b64 => b.s1_narrow(|_, a| first(a.leading_zeros(), 64)),
        ScalarOneSource::s_flbit_i32 => {
            b.s1(|_, a| first((a ^ ((a as i32) >> 31) as u32).leading_zeros(), 32))
        }
        ScalarOneSource::s_flbit_i32_i64 => {
            b.s1_narrow(|_, a| first((a ^ ((a as i64) >> 63) as u64).leading_zeros(), 64))
        }
        ScalarOneSource::s_sext_i32_i8 => b.s1(|_, a| a as i8 as u32),
        ScalarOneSource::s_sext_i32_i16 => b.s1(|_, a| a as i16 as u32),
        ScalarOneSource::s_bitset0_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let bit = w.read32(&o.src[0]) & 31;
                let value = w.scalar(o.dst) & !(1 << bit);
                w.set_scalar(o.dst, value);
                Flow::Next
            },
        ),
        ScalarOneSource::s_bitset1_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let bit = w.read32(&o.src[0]) & 31;
                let value = w.scalar(o.dst) | 1 << bit;
                w.set_scalar(o.dst, value);
                Flow::Next
            },
        ),
        ScalarOneSource::s_bitset0_b64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let bit = w.read32(&o.src[0]) & 63;
                let value = w.scalar_pair(o.dst) & !(1 << bit);
                w.set_scalar_pair(o.dst, value);
                Flow::Next
            },
        ),
        ScalarOneSource::s_bitset1_b64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let bit = w.read32(&o.src[0]) & 63;
                let value = w.scalar_pair(o.dst) | 1 << bit;
                w.set_scalar_pair(o.dst, value);
                Flow::Next
            },
        ),
        ScalarOneSource::s_abs_i32 => b.s1(|w, a| flag32(w, (a as i32).wrapping_abs() as u32)),
        ScalarOneSource::s_bitreplicate_b64_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.read32(&o.src[0]);
                let mut result = 0;
                for bit in 0..32 {
                    result |= (u64::from(a >> bit & 1) * 3) << (2 * bit);
                }
                w.set_scalar_pair(o.dst, result);
                Flow::Next
            },
        ),
    }
}

/// The index of the first bit found; -1 if there is none.
fn first(index: u32, bits: u32) -> u32 {
    if index == bits { !0 } else { index }
}

fn quad_mask(a: u64) -> u64 {
    let mut mask = 0;
    for quad in 0..16 {
        mask |= u64::from(a >> (4 * quad) & 15 != 0) << quad;
    }
    mask
}

fn whole_quads(a: u64) -> u64 {
    let mut mask = 0;
    for quad in 0..16 {
        if a >> (4 * quad) & 15 != 0 {
            mask |= 15 << (4 * quad);
        }
    }
    mask
}

fn signed_overflow(x: u32, y: u32, result: u32) -> bool {
    ((x ^ result) & (y ^ result)) >> 31 != 0
}

pub(super) fn arithmetic<const C: usize>(b: Binder<C>, op: ScalarArithmetic) -> Handler {
    match op {
        ScalarArithmetic::s_add_u32 => b.s2(|w, x, y| {
            let (sum, carry) = x.overflowing_add(y);
            w.scc = carry;
            sum
        }),
        ScalarArithmetic::s_sub_u32 => b.s2(|w, x, y| {
            w.scc = y > x;
            x.wrapping_sub(y)
        }),
        ScalarArithmetic::s_add_i32 => b.s2(|w, x, y| {
            let sum = x.wrapping_add(y);
            w.scc = signed_overflow(x, y, sum);
            sum
        }),
        ScalarArithmetic::s_sub_i32 => b.s2(|w, x, y| {
            let difference = x.wrapping_sub(y);
            w.scc = signed_overflow(x, !y, difference);
            difference
        }),
        ScalarArithmetic::s_add_nc_u64 => b.s2_64(|_, x, y| x.wrapping_add(y)),
        ScalarArithmetic::s_sub_nc_u64 => b.s2_64(|_, x, y| x.wrapping_sub(y)),
        ScalarArithmetic::s_mul_u64 => b.s2_64(|_, x, y| x.wrapping_mul(y)),
        ScalarArithmetic::s_addc_u32 => b.s2(|w, x, y| {
            let sum = u64::from(x) + u64::from(y) + u64::from(w.scc);
            w.scc = sum >> 32 != 0;
            sum as u32
        }),
        ScalarArithmetic::s_subb_u32 => b.s2(|w, x, y| {
            let subtrahend = u64::from(y) + u64::from(w.scc);
            w.scc = subtrahend > u64::from(x);
            u64::from(x).wrapping_sub(subtrahend) as u32
        }),
        ScalarArithmetic::s_min_i32 => b.s2(|w, x, y| {
            w.scc = (x as i32) < y as i32;
            if w.scc { x } else { y }
        }),
        ScalarArithmetic::s_min_u32 => b.s2(|w, x, y| {
            w.scc = x < y;
            if w.scc { x } else { y }
        }),
        ScalarArithmetic::s_max_i32 => b.s2(|w, x, y| {
            w.scc = x as i32 >= y as i32;
            if w.scc { x } else { y }
        }),
        ScalarArithmetic::s_max_u32 => b.s2(|w, x, y| {
            w.scc = x >= y;
            if w.scc { x } else { y }
        }),
        ScalarArithmetic::s_mul_i32 => b.s2(|_, x, y| x.wrapping_mul(y)),
        ScalarArithmetic::s_mul_hi_u32 => {
            b.s2(|_, x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32)
        }
        ScalarArithmetic::s_mul_hi_i32 => {
            b.s2(|_, x, y| ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32)
        }
        ScalarArithmetic::s_absdiff_i32 => {
            b.s2(|w, x, y| flag32(w, (x.wrapping_sub(y) as i32).wrapping_abs() as u32))
        }
        ScalarArithmetic::s_lshl1_add_u32 => b.s2(|w, x, y| shift_add(w, x, y, 1)),
        ScalarArithmetic::s_lshl2_add_u32 => b.s2(|w, x, y| shift_add(w, x, y, 2)),
        ScalarArithmetic::s_lshl3_add_u32 => b.s2(|w, x, y| shift_add(w, x, y, 3)),
        ScalarArithmetic::s_lshl4_add_u32 => b.s2(|w, x, y| shift_add(w, x, y, 4)),
    }
}

fn shift_add<const C: usize>(w: &mut Wave<C>, x: u32, y: u32, shift: u32) -> u32 {
    let sum = (u64::from(x) << shift) + u64::from(y);
    w.scc = sum >> 32 != 0;
    sum as u32
}

pub(super) fn logic<const C: usize>(b: Binder<C>, op: ScalarLogic) -> Handler {
    match op {
        ScalarLogic::s_and_b32 => b.s2(|w, x, y| flag32(w, x & y)),
        ScalarLogic::s_and_b64 => b.s2_64(|w, x, y| flag64(w, x & y)),
        ScalarLogic::s_or_b32 => b.s2(|w, x, y| flag32(w, x | y)),
        ScalarLogic::s_or_b64 => b.s2_64(|w, x, y| flag64(w, x | y)),
        ScalarLogic::s_xor_b32 => b.s2(|w, x, y| flag32(w, x ^ y)),
        ScalarLogic::s_xor_b64 => b.s2_64(|w, x, y| flag64(w, x ^ y)),
        ScalarLogic::s_andn2_b32 => b.s2(|w, x, y| flag32(w, x & !y)),
        ScalarLogic::s_andn2_b64 => b.s2_64(|w, x, y| flag64(w, x & !y)),
        ScalarLogic::s_orn2_b32 => b.s2(|w, x, y| flag32(w, x | !y)),
        ScalarLogic::s_orn2_b64 => b.s2_64(|w, x, y| flag64(w, x | !y)),
        ScalarLogic::s_nand_b32 => b.s2(|w, x, y| flag32(w, !(x & y))),
        ScalarLogic::s_nand_b64 => b.s2_64(|w, x, y| flag64(w, !(x & y))),
        ScalarLogic::s_nor_b32 => b.s2(|w, x, y| flag32(w, !(x | y))),
        ScalarLogic::s_nor_b64 => b.s2_64(|w, x, y| flag64(w, !(x | y))),
        ScalarLogic::s_xnor_b32 => b.s2(|w, x, y| flag32(w, !(x ^ y))),
        ScalarLogic::s_xnor_b64 => b.s2_64(|w, x, y| flag64(w, !(x ^ y))),
        ScalarLogic::s_lshl_b32 => b.s2(|w, x, y| flag32(w, x << (y & 31))),
        ScalarLogic::s_lshl_b64 => b.s2_shift64(|w, x, y| flag64(w, x << (y & 63))),
        ScalarLogic::s_lshr_b32 => b.s2(|w, x, y| flag32(w, x >> (y & 31))),
        ScalarLogic::s_lshr_b64 => b.s2_shift64(|w, x, y| flag64(w, x >> (y & 63))),
        ScalarLogic::s_ashr_i32 => b.s2(|w, x, y| flag32(w, (x as i32 >> (y & 31)) as u32)),
        ScalarLogic::s_ashr_i64 => b.s2_shift64(|w, x, y| flag64(w, (x as i64 >> (y & 63)) as u64)),
        ScalarLogic::s_bfm_b32 => b.s2(|_, x, y| ((1_u32 << (x & 31)) - 1) << (y & 31)),
        ScalarLogic::s_bfm_b64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (x, y) = (w.read32(&o.src[0]), w.read32(&o.src[1]));
                w.set_scalar_pair(o.dst, ((1_u64 << (x & 63)) - 1) << (y & 63));
                Flow::Next
            },
        ),
        ScalarLogic::s_bfe_u32 => b.s2(|w, x, y| {
            let field = field(u64::from(x) >> (y & 31), y) as u32;
            flag32(w, field)
        }),
        ScalarLogic::s_bfe_i32 => b.s2(|w, x, y| {
            let shifted = (i64::from(x as i32) >> (y & 31)) as u64;
            let field = signed_field(shifted, y) as u32;
            flag32(w, field)
        }),
        ScalarLogic::s_bfe_u64 => b.s2_shift64(|w, x, y| flag64(w, field(x >> (y & 63), y))),
        ScalarLogic::s_bfe_i64 => {
            b.s2_shift64(|w, x, y| flag64(w, signed_field((x as i64 >> (y & 63)) as u64, y)))
        }
        ScalarLogic::s_pack_ll_b32_b16 => b.s2(|_, x, y| x & 0xffff | y << 16),
        ScalarLogic::s_pack_lh_b32_b16 => b.s2(|_, x, y| x & 0xffff | y & 0xffff_0000),
        ScalarLogic::s_pack_hl_b32_b16 => b.s2(|_, x, y| x >> 16 | y << 16),
        ScalarLogic::s_pack_hh_b32_b16 => b.s2(|_, x, y| x >> 16 | y & 0xffff_0000),
    }
}

/// The low bits of a value; bits 22:16 of `control` have their number.
fn field(value: u64, control: u32) -> u64 {
    let width = control >> 16 & 0x7f;
    if width >= 64 {
        value
    } else {
        value & ((1 << width) - 1)
    }
}

fn signed_field(value: u64, control: u32) -> u64 {
    let width = control >> 16 & 0x7f;
    if width == 0 {
        0
    } else if width >= 64 {
        value
    } else {
        ((value << (64 - width)) as i64 >> (64 - width)) as u64
    }
}

pub(super) fn compare<const C: usize>(b: Binder<C>, op: ScalarCompare) -> Handler {
    match op {
        ScalarCompare::s_cmp_eq_i32
        | ScalarCompare::s_cmp_eq_u32
        | ScalarCompare::s_cmpk_eq_i32 => b.s_compare(|x, y| x == y),
        ScalarCompare::s_cmp_lg_i32
        | ScalarCompare::s_cmp_lg_u32
        | ScalarCompare::s_cmpk_lg_i32 => b.s_compare(|x, y| x != y),
        ScalarCompare::s_cmp_gt_i32 | ScalarCompare::s_cmpk_gt_i32 => {
            b.s_compare(|x, y| x as i32 > y as i32)
        }
        ScalarCompare::s_cmp_ge_i32 | ScalarCompare::s_cmpk_ge_i32 => {
            b.s_compare(|x, y| x as i32 >= y as i32)
        }
        ScalarCompare::s_cmp_lt_i32 | ScalarCompare::s_cmpk_lt_i32 => {
            b.s_compare(|x, y| (x as i32) < y as i32)
        }
        ScalarCompare::s_cmp_le_i32 | ScalarCompare::s_cmpk_le_i32 => {
            b.s_compare(|x, y| x as i32 <= y as i32)
        }
        ScalarCompare::s_cmp_gt_u32 => b.s_compare(|x, y| x > y),
        ScalarCompare::s_cmp_ge_u32 => b.s_compare(|x, y| x >= y),
        ScalarCompare::s_cmp_lt_u32 => b.s_compare(|x, y| x < y),
        ScalarCompare::s_cmp_le_u32 => b.s_compare(|x, y| x <= y),
        // The unsigned forms take a 16-bit constant without sign; the decoder sign-extends all constants.
        ScalarCompare::s_cmpk_eq_u32 => b.s_compare(|x, y| x == y & 0xffff),
        ScalarCompare::s_cmpk_lg_u32 => b.s_compare(|x, y| x != y & 0xffff),
        ScalarCompare::s_cmpk_gt_u32 => b.s_compare(|x, y| x > y & 0xffff),
        ScalarCompare::s_cmpk_ge_u32 => b.s_compare(|x, y| x >= y & 0xffff),
        ScalarCompare::s_cmpk_lt_u32 => b.s_compare(|x, y| x < y & 0xffff),
        ScalarCompare::s_cmpk_le_u32 => b.s_compare(|x, y| x <= y & 0xffff),
        ScalarCompare::s_bitcmp0_b32 => b.s_compare(|x, y| x >> (y & 31) & 1 == 0),
        ScalarCompare::s_bitcmp1_b32 => b.s_compare(|x, y| x >> (y & 31) & 1 == 1),
        ScalarCompare::s_bitcmp0_b64 => b.s_compare64(|x, y| x >> (y & 63) & 1 == 0),
        ScalarCompare::s_bitcmp1_b64 => b.s_compare64(|x, y| x >> (y & 63) & 1 == 1),
        ScalarCompare::s_cmp_eq_u64 => b.s_compare64(|x, y| x == y),
        ScalarCompare::s_cmp_lg_u64 => b.s_compare64(|x, y| x != y),
    }
}

pub(super) fn save_exec<const C: usize>(b: Binder<C>, op: ScalarSaveExec) -> Handler {
    match op {
        ScalarSaveExec::s_and_saveexec_b64 => b.save_exec(|s, exec| s & exec),
        ScalarSaveExec::s_or_saveexec_b64 => b.save_exec(|s, exec| s | exec),
        ScalarSaveExec::s_xor_saveexec_b64 => b.save_exec(|s, exec| s ^ exec),
        ScalarSaveExec::s_andn2_saveexec_b64 => b.save_exec(|s, exec| s & !exec),
        ScalarSaveExec::s_andn2_wrexec_b64 => b.write_exec(|s, exec| s & !exec),
        ScalarSaveExec::s_orn2_saveexec_b64 => b.save_exec(|s, exec| s | !exec),
        ScalarSaveExec::s_nand_saveexec_b64 => b.save_exec(|s, exec| !(s & exec)),
        ScalarSaveExec::s_nor_saveexec_b64 => b.save_exec(|s, exec| !(s | exec)),
        ScalarSaveExec::s_xnor_saveexec_b64 => b.save_exec(|s, exec| !(s ^ exec)),
        ScalarSaveExec::s_andn1_saveexec_b64 => b.save_exec(|s, exec| !s & exec),
        ScalarSaveExec::s_andn1_wrexec_b64 => b.write_exec(|s, exec| !s & exec),
        ScalarSaveExec::s_orn1_saveexec_b64 => b.save_exec(|s, exec| !s | exec),
        ScalarSaveExec::s_and_saveexec_b32 => b.save_exec_low(|s, exec| s & exec),
        ScalarSaveExec::s_or_saveexec_b32 => b.save_exec_low(|s, exec| s | exec),
        ScalarSaveExec::s_xor_saveexec_b32 => b.save_exec_low(|s, exec| s ^ exec),
        ScalarSaveExec::s_nand_saveexec_b32 => b.save_exec_low(|s, exec| !(s & exec)),
        ScalarSaveExec::s_nor_saveexec_b32 => b.save_exec_low(|s, exec| !(s | exec)),
        ScalarSaveExec::s_xnor_saveexec_b32 => b.save_exec_low(|s, exec| !(s ^ exec)),
        ScalarSaveExec::s_and_not0_saveexec_b32 => b.save_exec_low(|s, exec| !s & exec),
        ScalarSaveExec::s_or_not0_saveexec_b32 => b.save_exec_low(|s, exec| !s | exec),
        ScalarSaveExec::s_and_not1_saveexec_b32 => b.save_exec_low(|s, exec| s & !exec),
        ScalarSaveExec::s_or_not1_saveexec_b32 => b.save_exec_low(|s, exec| s | !exec),
        ScalarSaveExec::s_and_not0_wrexec_b32 => b.write_exec_low(|s, exec| !s & exec),
        ScalarSaveExec::s_and_not1_wrexec_b32 => b.write_exec_low(|s, exec| s & !exec),
    }
}

pub(super) fn constant<const C: usize>(b: Binder<C>, op: ScalarConstant) -> Handler {
    match op {
        ScalarConstant::s_addk_i32 => b.s2(|w, x, k| {
            let sum = x.wrapping_add(k);
            w.scc = signed_overflow(x, k, sum);
            sum
        }),
        ScalarConstant::s_mulk_i32 => b.s2(|_, x, k| x.wrapping_mul(k)),
    }
}
